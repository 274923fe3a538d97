# Rules that fuse find their patterns in all ways in which these are written, compute the same, and leave similar graphs
# alone. In whole networks that exporters have taken apart every attention, normalisation, activation and rotary
# embedding is one node again.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
needs_python
"$python" -W ignore -c 'import yaml' 2>/dev/null || { echo "needs python3-yaml"; exit 77; }
unset SKLINK_GRAPH_KERNEL_FLAGS MS_DEV_GRAPH_KERNEL_FLAGS GLOG_v
kernels=(-L "$top_builddir/kernels" -lskernels)

# patterns RULES PASS: of that file, by that pass; doc/reference/rules.md has an entry for each rule.
patterns() {
	"$python" "$top_srcdir/tests/operators/patterns.py" "$top_srcdir/graph/rules/$1" "$2" "$sklink" "$skrun" \
		"$top_builddir/kernels" ||
		fail "$1: patterns are not what its rules say"
	sed -n 's/^- name: //p' "$top_srcdir/graph/rules/$1" | while read -r name; do
		grep -qE "^\* \`$name\`(:| \()" "$top_srcdir/doc/reference/rules.md" ||
			fail "doc/reference/rules.md has no entry for the rule $name"
	done
}
patterns onnx.yaml recompose.onnx_fusion
patterns passes.yaml -
patterns torchair.yaml patterns.torchair_generic_pattern_pass

# counts DUMPS OPERATOR=COUNT…: the nodes after the pass.
counts() {
	local dumps=$1 pair found
	shift
	for pair; do
		found=$(sed -nE 's/^node [0-9]+ "[^"]*" = "([a-z]+:)?([A-Za-z]+)".*/\2/p' \
			"$dumps"/hwopt_*onnx_fusion_*.ir | grep -cx "${pair%=*}") || true
		[ "$found" = "${pair#*=}" ] || fail "$dumps: $found of ${pair%=*}, not ${pair#*=}"
	done
}

# ---- a product and its sum over ranks ----
# sum_model OPERATOR TYPE LINE…: y, of two products x w, their sum over ranks, and the lines.
sum_model() {
	local reduced=$1 type=$2
	shift 2
	{
		printf '%s\n' 'opset 17' 'opset 1 sklink' "input x $type 4x6" "input w $type 6x5" 'output y none none' \
			'node MatMul product x w -> p' "node sklink:AllReduce sum p -> $reduced" "$@"
	} | sed "s/none none/$type none/" | model collective
}
# sums WANTED OPTION…: the model on two ranks has so many nodes MatMulAllReduce, and computes what it does without them.
sums() {
	local wanted=$1 found
	shift
	rm -rf sums
	"$sklink" collective.onnx "${kernels[@]}" --ranks 2 --dump-dir sums "$@" -o collective.sk
	found=$(sed -n '/"sklink:MatMulAllReduce"/p' sums/hwopt_d_end_graph_0.ir | wc -l)
	[ "$found" = "$wanted" ] || fail "$found of MatMulAllReduce, not $wanted: $*"
	"$skrun" collective.sk --ranks 2 --random 1 --output y=fused.%r.npy --verify >out.txt || { cat out.txt; fail "it does not run"; }
	"$sklink" collective.onnx "${kernels[@]}" --ranks 2 --no-pattern-fusion -o apart.sk
	"$skrun" apart.sk --ranks 2 --random 1 --output y=apart.%r.npy >/dev/null
	cmp fused.0.npy apart.0.npy && cmp fused.1.npy apart.1.npy || fail "other bits: $*"
}
sum_model y f16
sums 1
cmp fused.0.npy fused.1.npy || fail "the ranks have different sums"
sums 0 --fusion-flags=--disable_pass=MatMulAllReduce
! "$sklink" collective.onnx "${kernels[@]}" --verbose -o no.sk 2>err.txt ||
	fail "a collective operator is linked for one process"
grep -q "'sum': AllReduce is not fused by rule 'MatMulAllReduce' at passes.yaml:.*it is for several ranks" err.txt &&
	grep -q "^sklink: error: collective.onnx: node 'sum' (AllReduce): it is for several ranks; --ranks N" \
		err.txt || { cat err.txt >&2; fail "nothing is said of collective operators"; }
[ ! -e no.sk ] || fail "a package is left"
sum_model y f32
sums 0
sum_model "y op='max'" f16
sums 0
sum_model s f16 'node Add both s p -> y'
sums 0
sum_model s f16 'node Relu act s -> y'
sums 1
sum_model s f16 'node com.microsoft:AllReduce again p -> t' 'node Add both s t -> y' 'opset 1 com.microsoft'
sums 0
sum_model s f16 'constant v f16 5x4 14336' 'node MatMul second s v -> q' 'node com.microsoft:AllReduce again q -> y' \
	'opset 1 com.microsoft'
sums 2
sums 0 --fusion-flags=--disable_pass=MatMulAllReduce

# The same of bytes, with a bias that one rank adds.
"$python" - <<'PYTHON'
import numpy
random = numpy.random.default_rng(3)
for rank in range(2):
    numpy.save(f"x1.{rank}.npy", random.integers(-9, 9, (4, 6), numpy.int8))
    numpy.save(f"x2.{rank}.npy", random.integers(-9, 9, (6, 5), numpy.int8))
PYTHON
# byte_model LINE…: the lines are those of the sum and of the bias. b is 1, 2.1, -3, 4, 5, as bits.
byte_model() {
	{
		cat <<'LINES'
opset 17
opset 1 sklink
input x1 i8 4x6
input x2 i8 6x5
output y f16 none
constant scale f32 5 0.5 0.25 1 2 0.125
constant b f16 5 15360 16435 49664 17408 17664
node sklink:QuantBatchMatmul product x1 x2 scale -> p to=10
LINES
		printf '%s\n' "$@"
	} | model bytes
}
# biased WANTED OPTION…: on two ranks there are so many Send, which give the bias to one rank; y is right.
biased() {
	local wanted=$1 found
	shift
	rm -rf sums
	"$sklink" bytes.onnx "${kernels[@]}" --ranks 2 --dump-dir sums "$@" -o bytes.sk
	found=$(sed -n '/"sklink:Send"/p' sums/hwopt_d_end_graph_0.ir | wc -l)
	[ "$found" = "$wanted" ] || fail "$found of Send, not $wanted: $*"
	"$skrun" bytes.sk --ranks 2 --input x1=x1.%r.npy --input x2=x2.%r.npy --output y=y.%r.npy
	"$python" - "$wanted" <<'PYTHON' || fail "bytes: wrong results: $*"
import sys
import numpy
scale, b = numpy.array([0.5, 0.25, 1, 2, 0.125], numpy.float32), numpy.array([1, 2.1, -3, 4, 5], numpy.float16)
sums = [numpy.load(f"x1.{rank}.npy").astype(numpy.int32) @ numpy.load(f"x2.{rank}.npy").astype(numpy.int32) for rank in range(2)]
fused = int(sys.argv[1])
if fused:
    sums[0] += numpy.round(b.astype(numpy.float32) / scale).astype(numpy.int32)
parts = [(part.astype(numpy.float32) * scale).astype(numpy.float16) for part in sums]
y = (parts[0].astype(numpy.float32) + parts[1].astype(numpy.float32)).astype(numpy.float16)
y = y if fused else y + b
sys.exit(any(numpy.load(f"y.{rank}.npy").tobytes() != y.tobytes() for rank in range(2)))
PYTHON
}
byte_model 'node sklink:AllReduce sum p -> s' 'node Add add s b -> y'
biased 1 --fusion-target ascend
biased 0
biased 0 --fusion-target ascend --fusion-flags=--disable_pass=inference_qbmm_allreduce_add_fusion
byte_model "node sklink:AllReduce sum p -> s op='max'" 'node Add add s b -> m' 'node Sub neg m m -> z' 'node Add end z z -> y'
rm -rf sums
"$sklink" bytes.onnx "${kernels[@]}" --ranks 2 --fusion-target ascend --dump-dir sums -o bytes.sk
! grep -q '"sklink:Send"' sums/hwopt_d_end_graph_0.ir || fail "the greatest of the ranks is taken for a sum"
byte_model 'node sklink:AllReduce sum p -> s' 'constant c f16 4x5 15872' 'node Add add s c -> y'
rm -rf sums
"$sklink" bytes.onnx "${kernels[@]}" --ranks 2 --fusion-target ascend --dump-dir sums -o bytes.sk
! grep -q '"sklink:Send"' sums/hwopt_d_end_graph_0.ir || fail "a bias of other dimensions"

# ---- LayerNormV3 and LayerNormExt have a pass each ----
model norms <<'LINES'
opset 17
opset 1 mindspore
input a f32 4x6
input b f32 4x6
input g f32 6
input t f32 6
output v3 f32 none
output ext f32 none
output onnx f32 none
node Add s1 a b -> x1
node mindspore:LayerNormV3 third x1 g t -> v3 begin_norm_axis=-1 begin_params_axis=-1 epsilon=0.001
node Add s2 b a -> x2
node mindspore:LayerNormExt extended x2 g t -> ext normalized_shape=[6] eps=0.001
node Sub s3 a b -> d
node Add s4 d b -> x3
node LayerNormalization plain x3 g t -> onnx axis=-1 epsilon=0.001
LINES
norms() { # DISABLED: the nodes that the other passes have fused
	rm -rf norms
	"$sklink" norms.onnx "${kernels[@]}" --fusion-flags=--disable_pass="$1" --dump-dir norms -o norms.sk
	sed -nE 's/^node [0-9]+ "([a-z]*)\/y" = "sklink:AddLayerNorm".*/\1/p' norms/hwopt_d_end_graph_0.ir | paste -sd' '
	"$skrun" norms.sk --random 3 --output v3=v3.npy --output ext=ext.npy --output onnx=onnx.npy >/dev/null
	for value in v3 ext onnx; do
		[ ! -e $value-first.npy ] || "$python" "$top_srcdir/tests/lib/models.py" $value.npy $value-first.npy >&2 ||
			fail "results of $value without $1"
		cp $value.npy $value-first.npy
	done
}
[ "$(norms none 2>/dev/null)" = "third extended plain" ] || fail "normalised sums: $(norms none)"
[ "$(norms fusion_group.add_layer_norm_v3_fusion)" = extended ] || fail "LayerNormExt is fused as LayerNormV3"
[ "$(norms fusion_group.add_layer_norm_ext_fusion)" = "third plain" ] || fail "LayerNormV3 is fused as LayerNormExt"

# ---- angles that are joined with themselves, and others that are not ----
for second in f g; do
	model angles <<LINES
opset 17
input x f32 1x2x3x4
input f f32 1x3x2
input g f32 1x3x2
constant half f32 scalar 0.5
constant heads i64 1 1
constant end i64 1 100
constant zero i64 1 0
constant two i64 1 2
constant last i64 1 -1
output y f32 1x2x3x4
node Concat a0 f $second -> angles axis=-1
node Cos a1 angles -> c0
node Sin a2 angles -> s0
node Mul a3 half c0 -> c1
node Mul a4 s0 half -> s1
node Unsqueeze a5 c1 heads -> c
node Unsqueeze a6 s1 heads -> s
node Slice r0 x zero two last -> p
node Slice r1 x two end last -> q
node Neg r2 q -> n
node Concat r3 n p -> r axis=3
node Mul r4 x c -> xc
node Mul r5 r s -> rs
node Add r6 xc rs -> y
LINES
	"$sklink" angles.onnx "${kernels[@]}" --dump-dir angles.$second -o angles.sk
	"$sklink" angles.onnx "${kernels[@]}" --fusion-flags=--disable_pass=recompose.onnx_fusion -o apart.sk
	for package in angles apart; do
		"$skrun" $package.sk --random 3 --output y=$package.npy >/dev/null
	done
	"$python" "$top_srcdir/tests/lib/models.py" angles.npy apart.npy || fail "angles $second: results differ"
done
grep -q '"RotaryEmbedding"' angles.f/hwopt_*onnx_fusion_*.ir || fail "no rotary embedding"
! grep -qs '"RotaryEmbedding"' angles.g/*.ir || fail "halves that differ are a rotary embedding"

# ---- h = y.shape[-1]; y.view(-1, h).to(float32), as exporters write it and with the last part of a shape alone, at one
# size and at sizes with bounds: nodes that are known in advance use nothing when the network runs ----
for lines in 'node Shape s y -> shape\nnode Gather g shape last -> h0 axis=0\nnode Unsqueeze u h0 zero -> h' \
	'node Shape s y -> h start=-1'; do
	for batch in 2 B; do
		model view <<-LINES
		opset 17
		opset 1 torchair
		input x1 f16 ${batch}x3x16
		input x2 f16 ${batch}x3x16
		input gamma f16 16
		output c f32 none
		output y f16 none
		output x f16 none
		constant last i64 scalar -1
		constant rest i64 1 -1
		constant zero i64 1 0
		node torchair:npu_add_rms_norm norm x1 x2 gamma -> y _ x
		$(printf "$lines")
		node Concat joined rest h -> to axis=0
		node Reshape view y to -> f
		node Cast cast f -> c to=1
		LINES
		options=()
		[ $batch = 2 ] || options=(--dim B=1..2)
		rm -rf view
		"$sklink" view.onnx "${kernels[@]}" "${options[@]}" --dump-dir view -o view.sk
		"$sklink" view.onnx "${kernels[@]}" "${options[@]}" --no-pattern-fusion -o apart.sk
		grep -q '"sklink:AddRmsNormCast"' view/hwopt_patterns_*.ir || fail "the view is not fused: $lines, $batch"
		for package in view apart; do
			"$skrun" $package.sk --random 3 --output c=$package.npy >/dev/null
		done
		cmp view.npy apart.npy || fail "the view has another result"
	done
done

# ---- encoders of primitive operators ----
bert="$python $top_srcdir/samples/bert/bert.py"
for layers in 1 24; do
	sizes="-n $layers --hidden 48 --heads 3 --intermediate 80 --sequence 21"
	$bert make $sizes bert
	"$sklink" bert/model.onnx "${kernels[@]}" --dump-dir bert$layers -o bert.sk
	counts bert$layers Attention=$layers LayerNormalization=$((2 * layers)) Gelu=$layers Softmax=0 ReduceMean=0 \
		Erf=0 Sqrt=0
	"$skrun" bert.sk --input x=bert/x.npy --output y=fused.npy --verify >/dev/null
	$bert check $sizes bert fused.npy
	"$sklink" bert/model.onnx "${kernels[@]}" --fusion-flags=--disable_pass=recompose.onnx_fusion -o apart.sk
	"$skrun" apart.sk --input x=bert/x.npy --output y=apart.npy >/dev/null
	"$python" "$top_srcdir/tests/lib/models.py" fused.npy apart.npy || fail "$layers layers: results differ"
done

# ---- a decoder, token by token ----
decoder="$python $top_srcdir/samples/decoder/decoder.py"
$decoder make -n 2 --hidden 256 --heads 8 --shared 2 --between 384 --words 50 --context 40 --primitives decoder
for flags in --dump-dir=fused --fusion-flags=--disable_pass=recompose.onnx_fusion; do
	"$sklink" decoder/model.onnx @decoder/options "${kernels[@]}" $flags -o decoder.sk
	"$top_builddir/samples/decoder/run" decoder.sk 30 logits.npy >/dev/null
	$decoder check decoder logits.npy
done
counts fused RMSNormalization=5 RotaryEmbedding=4 SwiGlu=2 Sigmoid=0 Mul=0 ReduceMean=0 Neg=0
