# Flags of graph-kernel fusion from the command line, manifests and the environment: precedence, messages, and the flags
# in a reproduction.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
unset SKLINK_GRAPH_KERNEL_FLAGS MS_DEV_GRAPH_KERNEL_FLAGS GLOG_v

model net <<'LINES'
input x f32 Nx64
output y f32 Nx64
constant two f32 scalar 2
node Mul mul x two -> a
node Exp exp a -> b
node Add add a b -> y
LINES
echo 'sklink: 1
device: a3
graph: net.onnx
kernels: {}
dims: {N: 4}' >a3.yaml
kernels=(-L "$top_builddir/kernels" -lskernels)

# told TEXT TARGET-LEVEL ARGUMENT…: the link succeeds and --verbose tells that these flags count, with that
# fusion_ops_level.
told() {
	local text=$1 level=$2
	shift 2
	"$sklink" "$@" "${kernels[@]}" --verbose -o told.sk 2>told.txt || { cat told.txt >&2; fail "$*"; }
	grep -qF "[INFO] GRAPH_KERNEL(sklink): graph_kernel_flags = \"$text\", all flags: {\"opt_level\": " told.txt ||
		{ cat told.txt >&2; fail "not '$text': $*"; }
	grep -qF "\"fusion_ops_level\": $level, " told.txt || fail "not level $level: $*"
}

# ---- precedence ----
net=(net.onnx --dim N=4)
printf 'sklink: 1\ngraph: net.onnx\ndims: {N: 4}\nfusion: "--opt_level=1"\n' >flags.yaml
printf 'sklink: 1\ngraph: net.onnx\ndims: {N: 4}\nfusion: ""\n' >empty.yaml
told "" 1 "${net[@]}"
MS_DEV_GRAPH_KERNEL_FLAGS=--opt_level=3 told --opt_level=3 1 "${net[@]}"
SKLINK_GRAPH_KERNEL_FLAGS=--opt_level=2 MS_DEV_GRAPH_KERNEL_FLAGS=--opt_level=3 told --opt_level=2 1 "${net[@]}"
SKLINK_GRAPH_KERNEL_FLAGS= MS_DEV_GRAPH_KERNEL_FLAGS=--opt_level=3 told "" 1 "${net[@]}" # set, though empty
SKLINK_GRAPH_KERNEL_FLAGS=--opt_level=2 told --opt_level=1 1 flags.yaml
SKLINK_GRAPH_KERNEL_FLAGS=--opt_level=2 told "" 1 empty.yaml
SKLINK_GRAPH_KERNEL_FLAGS=--opt_level=2 told --opt_level=0 1 flags.yaml --fusion-flags --opt_level=0
told --opt_level=3 1 "${net[@]}" --fusion-flags=--opt_level=0 --fusion-flags=--opt_level=3
SKLINK_GRAPH_KERNEL_FLAGS=--opt_level=2 told "" 1 "${net[@]}" --fusion-flags=
SKLINK_GRAPH_KERNEL_FLAGS=--opt_level=2 told "" 1 flags.yaml --fusion-flags ''
printf 'sklink: 1\ngraph: net.onnx\ndims: {N: 4}\nfusion: |\n  --opt_level=1\n  --dump_as_text=off\n' >lines.yaml
told "--opt_level=1 --dump_as_text=off " 1 lines.yaml

# ---- targets ----
told "" 0 "${net[@]}" --fusion-target=ascend
told "" 1 "${net[@]}" --fusion-target=gpu
fails_with "^sklink: error: --fusion-target wants host, ascend, cpu or gpu, not 'tpu'" \
	"$sklink" "${net[@]}" "${kernels[@]}" --fusion-target=tpu -o out.sk
[ ! -e out.sk ] || fail "a package is left"
told "" 0 a3.yaml
told "" 1 a3.yaml --fusion-target=host

# ---- wrong flags give warnings, and nothing more ----
"$sklink" "${net[@]}" "${kernels[@]}" -o net.sk --fusion-flags \
	"--opt_levl=1 --disable_expand_ops=Sqare --enable_pass=nothing opt" 2>err.txt ||
	fail "a warning is an error"
diff - err.txt <<'TEXT' || fail "other warnings"
sklink: warning: --fusion-flags:1:63: the flag 'opt' is invalid. Valid flag format is "--key=value", flags are separated by spaces(e.g. "--key1=value1 --key2=value2"). bool flag's value can be implicit, the "--key" means "--key=true"
sklink: warning: --fusion-flags:1:1: unknown flag: opt_levl; did you mean 'opt_level'?
>>> the flags listed above are invalid; for valid flags, see sk-fusion-flags(5)
sklink: warning: --fusion-flags:1:1: unknown operator 'Sqare' in the flag disable_expand_ops; did you mean 'Square'?
sklink: warning: --fusion-flags:1:1: graph kernel pass enable flag "nothing" is not valid!
TEXT
rm net.sk
fails_with "^sklink: error: MS_DEV_GRAPH_KERNEL_FLAGS:1:1: unknown flag: x" \
	env MS_DEV_GRAPH_KERNEL_FLAGS=--x "$sklink" "${net[@]}" "${kernels[@]}" -o net.sk --fatal-warnings
[ ! -e net.sk ] || fail "a package is left"
printf 'sklink: 1\ngraph: net.onnx\ndims: {N: 4}\nfusion: "--dump_as_text=off --x"\n' >bad.yaml
"$sklink" bad.yaml "${kernels[@]}" -o net.sk 2>err.txt
grep -q '^sklink: warning: bad.yaml:4:29: unknown flag: x$' err.txt || fail "the column in a manifest"
printf 'sklink: 1\ngraph: net.onnx\ndims: {N: 4}\nfusion: [a]\n' >bad.yaml
fails_with "^sklink: error: bad.yaml:4:9: 'fusion' " "$sklink" bad.yaml "${kernels[@]}" -o out.sk
# Once, for any number of networks.
"$sklink" net.onnx --dim a:N=2 --dim b:N=4 "${kernels[@]}" -o net.sk --fusion-flags "--x --enable_pass=user_rules" \
	2>err.txt
[ "$(grep -c 'warning: ' err.txt)" = 2 ] || { cat err.txt >&2; fail "warnings of several networks"; }
grep -q 'pass patterns_1_user_rules has no rule here' err.txt || fail "a pass without a rule"

# Without a model they are about nothing.
printf 'sklink: 1\ntensors: {x: {dtype: f32, shape: [4]}}\ntasks: [{name: t, kernel: k, args: [x]}]\n' >plain.yaml
fails_with "^sklink: error: plain.yaml: --fusion-flags is about a model" "$sklink" plain.yaml -o out.sk \
	--fusion-flags=--opt_level=1
fails_with "^sklink: error: plain.yaml: --fusion-target is about a model" "$sklink" plain.yaml -o out.sk \
	--fusion-target=cpu
printf 'fusion: --opt_level=1\n' >>plain.yaml
fails_with "^sklink: error: plain.yaml:4:9: this applies to a model" "$sklink" plain.yaml -o out.sk

# ---- messages ----
GLOG_v=1 "$sklink" "${net[@]}" "${kernels[@]}" -o net.sk --fusion-flags "--disable_pass=MatMulAllReduce" 2>err.txt
grep -q '^\[INFO\] PRE_ACT(sklink): graph kernel passes: FlashAttentionFusionV1,FlashAttentionFusionV2,add_layer_norm_fusion,add_layer_norm_v3_fusion,add_layer_norm_ext_fusion,inference_swiglu_fusion,inference_matmul_split_fusion,shape_reshape,shape_reshape_2,add_rms_norm_quant_fusion,rms_norm_quant_fusion,add_rms_norm_fusion,add_cast_rms_norm_cast_fusion,MatMulAllReduce,split_concat_fusion,matmul_elem_biasadd_fusion,matmul_elem_add_fusion,matmul_elem_relu_fusion,matmul_elem_gelu_fusion,inference_qbmm_add_fusion,inference_qbmm_allreduce_add_fusion\.$' err.txt ||
	fail "the list of fusion passes"
grep -q '^\[INFO\] GRAPH_KERNEL(sklink): graph kernel pass fusion_group_13_MatMulAllReduce is disabled\.$' err.txt ||
	fail "a disabled pass"
! grep -v '^\[INFO\]' err.txt | grep . >&2 || fail "something else is told"
GLOG_v=2 "$sklink" "${net[@]}" "${kernels[@]}" -o net.sk 2>err.txt
[ ! -s err.txt ] || fail "told without being asked"

# ---- a reproduction has the flags that count ----
# repeats TEXT ARGUMENT…: --repro's copy of the link has these flags, also in another environment.
repeats() {
	local text=$1
	shift
	"$sklink" "$@" "${kernels[@]}" -o first.sk --repro=repro.tar
	rm -rf repro
	tar xf repro.tar
	(cd repro && MS_DEV_GRAPH_KERNEL_FLAGS=--composite_op_limit_size=7 "$sklink" @response.txt --verbose \
		2>../again.txt) || fail "the link is not repeated"
	grep -qF "graph_kernel_flags = \"$text\"," again.txt || { cat again.txt >&2; fail "not '$text'"; }
}
MS_DEV_GRAPH_KERNEL_FLAGS="--disable_cluster_ops=Exp --opt_level=1" repeats "--disable_cluster_ops=Exp --opt_level=1" \
	"${net[@]}"
SKLINK_GRAPH_KERNEL_FLAGS= repeats "" "${net[@]}"
SKLINK_GRAPH_KERNEL_FLAGS=--opt_level=3 repeats --opt_level=1 flags.yaml
SKLINK_GRAPH_KERNEL_FLAGS=--opt_level=3 repeats "" "${net[@]}" --fusion-flags=
SKLINK_GRAPH_KERNEL_FLAGS=--opt_level=3 repeats --opt_level=0 "${net[@]}" --fusion-flags=--opt_level=0
# Flags of the environment do not belong to a link without a model.
printf 'sklink: 1\ntensors: {x: {dtype: f32, shape: [4], role: inout}}\ntasks: [{name: t, kernel: k, args: [x]}]\n' \
	>tasks.yaml
printf '#include "skkernel.h"\nvoid k(float *x) { x[0]++; }\nSK_KERNEL(k, "inout x f32[4]");\n' >k.c
compile k
MS_DEV_GRAPH_KERNEL_FLAGS=--opt_level=1 "$sklink" tasks.yaml k.o -o tasks.sk --repro=repro.tar
rm -rf repro
tar xf repro.tar
(cd repro && "$sklink" @response.txt) || fail "a link without a model is not repeated"

# ---- flags that do not say how to fuse leave fusion on the host unchanged ----
"$sklink" "${net[@]}" "${kernels[@]}" -o plain.sk
for text in "" --target_os=linux --nonsense --opt_level=x --dump_as_text=off; do
	# composites that hold, and are not there, would be no group
	"$sklink" "${net[@]}" "${kernels[@]}" -o other.sk --fusion-flags "--disable_pass=graph_kernel_cluster $text" \
		2>err.txt
	cmp plain.sk other.sk || fail "$text changes what is fused"
done

# ---- enable_debug_mode ----
for scope in "" "--scope layer=*"; do
	"$sklink" "${net[@]}" $scope "${kernels[@]}" -o plain.sk
	"$sklink" "${net[@]}" $scope "${kernels[@]}" -o debug.sk --fusion-flags=--enable_debug_mode
	"$skdump" debug.sk >debug.txt
	"$skdump" plain.sk >plain.txt
	! grep -q 'debug-sync-all=1' plain.txt || fail "without being asked"
	grep -q 'debug-sync-all=1' debug.txt || { cat debug.txt >&2;
		fail "enable_debug_mode is nothing${scope:+, $scope}"; }
	array x f32 4x64 0.5 -1 2
	"$skrun" plain.sk --input x=x.npy --output y=plain.npy
	"$skrun" debug.sk --input x=x.npy --output y=debug.npy
	cmp plain.npy debug.npy || fail "enable_debug_mode changes results"
done
"$sklink" "${net[@]}" --scope 'layer=*' "${kernels[@]}" -o debug.sk --fusion-flags=--enable_debug_mode --scope-options \
	'layer=debug-sync-all=0'
"$skdump" debug.sk >debug.txt
! grep -q 'debug-sync-all=1' debug.txt || fail "the command line's scope options do not count"
