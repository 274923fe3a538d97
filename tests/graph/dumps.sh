# --dump-dir writes the graph in three forms, which agree; their contents are drawn by Graphviz, read by onnx, and
# linked to the same package.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
needs_python
type dot >/dev/null 2>&1 || { echo "nothing draws the dumps: graphviz is not installed"; exit 77; }
read_dumps=$top_srcdir/tests/lib/read-dumps.py

link() { # MODEL PACKAGE ARGUMENT…
	local model=$1 package=$2
	shift 2
	"$sklink" "$model" -L"$top_builddir/kernels" -lskernels --fusion-flags=--opt_level=0 -o "$package" "$@"
}
same_packages() { # PACKAGE PACKAGE
	"$skdump" --all "$1" | sed 1d >first.txt
	"$skdump" --all "$2" | sed 1d >second.txt
	diff first.txt second.txt >&2 || fail "$2 is another package than $1"
}

# Names that would steer Graphviz or a terminal, scopes, streams, an input that is left out, constants of all sizes, a
# shape that is computed.
printf '%s' 'ir_version: 8
opset_import { version: 18 }
graph {
  name: "a \"network\" of\nlines"
  node { input: ["x", "two"] output: "a" op_type: "Mul" name: "/mul \"quoted\"" attribute { name: "_super_kernel_scope" s: "part \"1\"" type: STRING } }
  node { input: ["a", "one"] output: "b\\N{<&amp;" op_type: "Add" attribute { name: "_super_kernel_scope" s: "part \"1\"" type: STRING } }
  node { input: ["b\\N{<&amp;", "", "two"] output: "c" op_type: "Clip" name: "clip\nend" attribute { name: "stream_id" i: 1 type: INT } }
  node { input: "x" output: "shape" op_type: "Shape" name: "shape" }
  node { input: ["c", "shape"] output: "d" op_type: "Reshape" name: "again" }
  node { input: ["d", "w"] output: "y" op_type: "MatMul" name: "last" }
  node { input: "d" output: ["e", "f"] op_type: "Split" name: "split" attribute { name: "num_outputs" i: 2 type: INT } }
  initializer { name: "two" data_type: 1 float_data: 2 }
  initializer { name: "one" dims: [4] data_type: 1 float_data: [1, 2, 3, 4] }
  initializer { name: "w" dims: [4, 128] data_type: 1 float_data: ['"$(seq -s, 512)"'] }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "n" } dim { dim_value: 4 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 } } }
  output { name: "e" type { tensor_type { elem_type: 1 } } }
}
' >model.pbtxt
link model.pbtxt plain.sk --dim n=8
link model.pbtxt model.sk --dim n=8 --dump-dir=deep/dumps --model-text said.pbtxt
cmp plain.sk model.sk || fail "dumps change the package"
ls deep/dumps >files.txt
printf '%s\n' 6_validate.dot 6_validate.ir 6_validate.pbtxt constants.bin dynamo_optimized_graph_0.py \
	dynamo_optimized_graph_0.txt dynamo_original_graph_0.py dynamo_original_graph_0.txt fusion_result.json \
	hwopt_d_end_graph_0.dot hwopt_d_end_graph_0.ir hwopt_d_end_graph_0.pbtxt | cmp - files.txt ||
	fail "other files: $(cat files.txt)"
cd deep/dumps
dot -Tsvg 6_validate.dot >drawing.svg 2>err.txt && [ ! -s err.txt ] ||
	fail "Graphviz does not draw the dump: $(cat err.txt)"
"$python" "$read_dumps" 6_validate.pbtxt 6_validate.ir 6_validate.pbtxt || fail "the forms are of different graphs"
cd ../..
link deep/dumps/6_validate.pbtxt again.sk --dump-dir again --model-text once-more.pbtxt
same_packages model.sk again.sk
"$python" "$read_dumps" deep/dumps/6_validate.pbtxt again/6_validate.ir again/6_validate.pbtxt ||
	fail "a dump of a dump is another one"
! grep -q _desc_ once-more.pbtxt || fail "notes of dumps are part of the model"

# If nothing is computed when linking, a dump equals the output of --model-text.
sed '/"Shape"/d; s/\["c", "shape"\]/"c"/; s/"Reshape" name: "again"/"Neg" name: "again"/' model.pbtxt >simple.pbtxt
link simple.pbtxt simple.sk --dim n=8 --dump-dir simple --model-text said.pbtxt
dot -Tsvg simple/6_validate.dot >simple.svg
"$python" "$read_dumps" said.pbtxt simple/6_validate.ir simple/6_validate.pbtxt simple.svg ||
	fail "the dump is of another graph than the text"
link simple/6_validate.pbtxt simple-again.sk --dump-dir simple-again
diff -r simple simple-again || fail "what is read of a dump is dumped otherwise"
grep -q 'stream 1' simple.svg && grep -q 'scope part &quot;1&quot;' simple.svg ||
	fail "scopes and streams are not drawn"
grep -qF 'clip\x0aend' simple.svg && grep -qF 'b\N{&lt;&amp;amp;' simple.svg || fail "names are drawn otherwise"

# Composites are read, written again, and drawn as a body beside one box of the main graph.
awk '{ print }
	/op_type: "(Mul|Add)"/ { print "attribute { name: \"_composite\" i: 7 type: INT }\nattribute { name: \"_composite_name\" s: \"Mul_Add_fusion\" type: STRING }" }' \
	simple/6_validate.pbtxt >composites.pbtxt
cp simple/constants.bin .
link composites.pbtxt composites.sk --dump-dir composites
grep -q '^composite 0 "Mul_Add_fusion": 2 nodes' composites/6_validate.ir || fail "composites are not read"
dot -Tsvg composites/6_validate.dot >composites.svg
"$python" "$read_dumps" said.pbtxt composites/6_validate.ir composites/6_validate.pbtxt composites.svg ||
	fail "composites change the graph"
for title in c0 b0 b1 'p0_[0-9]*' 'r[0-9]*' n2 cluster_composite0; do
	grep -q "<title>$title</title>" composites.svg || fail "$title is not drawn"
done
! grep -q '<title>n[01]</title>' composites.svg || fail "members of a composite are drawn in the main graph"
link composites/6_validate.pbtxt composites-again.sk --dump-dir composites-again
cmp composites/6_validate.pbtxt composites-again/6_validate.pbtxt || fail "composites are read otherwise than written"

# Several networks have a folder each.
link model.pbtxt several.sk --dim short:n=2 --dim long:n=8 --dump-dir several
for network in short long; do
	[ -s several/$network/6_validate.pbtxt ] || fail "network $network is not dumped"
done
grep -q '"x": f32\[2, 4\]' several/short/6_validate.ir && grep -q '"x": f32\[8, 4\]' several/long/6_validate.ir ||
	fail "networks are mixed up"

# The networks of MindSpore's tutorial: the first stage puts Mul and Add together, and the second one Pow with them.
tutorial() { # MODEL ARGUMENT…
	local model=$1
	shift
	"$sklink" "$model" -L"$top_builddir/kernels" -lskernels --fusion-target=ascend "$@"
}
members() { # DUMP: "operator=composite" of each node
	sed -nE 's/^node [0-9]+ "[^"]*" = "([A-Za-z]+)".*( composite=([0-9]+)).*/\1=\3/p; s/^node [0-9]+ "[^"]*" = "([A-Za-z]+)".*\)$/\1/p' "$1" | paste -sd' '
}
expect() { # DUMP MEMBERS
	[ "$(members "$1.ir")" = "$2" ] || fail "$1: $(members "$1.ir"), not $2"
	dot -Tsvg "$1.dot" >/dev/null || fail "$1 is not drawn"
}
model basic <<'M'
input x f32 4x4
output result f32 none
constant two f32 scalar 2.0
constant one f32 scalar 1.0
node Mul mul x two -> mul_res
node Add add mul_res one -> result
M
model composite <<'M'
input x f32 4x4
output result f32 none
constant two f32 scalar 2.0
constant one f32 scalar 1.0
constant three f32 scalar 3.0
node Mul mul x two -> mul_res
node Add add mul_res one -> add_res
node Pow pow add_res three -> result
M
tutorial basic.onnx --dump-dir basic -o basic.sk
expect basic/6_validate 'Mul Add'
expect basic/hwopt_d_fuse_basic_opt_end_graph_0 'Mul=0 Add=0'
tutorial composite.onnx --dump-dir tutorial --fusion-flags=--dump_as_text -o composite.sk
expect tutorial/6_validate 'Mul Add Pow'
expect tutorial/hwopt_d_fuse_basic_opt_end_graph_0 'Mul=0 Add=0 Pow'
expect tutorial/hwopt_d_composite_opt_end_graph_0 'Mul=0 Add=0 Pow=0'
grep -hE '^(Source|  "|=)' tutorial/graph_kernel_dump/graph_kernel_cluster_*.txt | sed 's/ = .*//' |
	paste -sd' ' >clusters.txt
echo 'Source nodes of "Mul_Add_Pow_fusion"   "mul"   "add"   "pow" =======================' |
	diff - clusters.txt >&2 || fail "dump_as_text tells something else"
tutorial composite.onnx --fusion-flags=--opt_level=0 --dump-dir off -o off.sk
[ "$(ls off)" = "$(printf '%s\n' 6_validate.dot 6_validate.ir 6_validate.pbtxt dynamo_optimized_graph_0.py dynamo_optimized_graph_0.txt dynamo_original_graph_0.py dynamo_original_graph_0.txt fusion_result.json hwopt_d_end_graph_0.dot hwopt_d_end_graph_0.ir hwopt_d_end_graph_0.pbtxt)" ] || fail "passes are dumped that do not run"
for package in composite off; do
	"$skrun" $package.sk --random 1 --output result=$package.npy
done
cmp composite.npy off.npy || fail "fusion changes the result"
tutorial composite.onnx --fusion-flags=--dump_as_text -o composite.sk
ls graph_kernel_dump/graph_kernel_cluster_*.txt >/dev/null || fail "no text in the current folder"
rm -r graph_kernel_dump
tutorial composite.onnx --fusion-flags=--dump_as_text --check
[ ! -e graph_kernel_dump ] || fail "--check writes texts"

# Each dump, linked like the model, is the same package: passes find the same patterns.
model expanded <<'M'
input x f32 64x64
output y f32 none
output z f32 none
constant w f32 64x64 0.5 -0.25 1.5
constant zero f32 scalar 0.0
node MatMul product x w -> a
node Gelu gelu a -> b
node Add nothing b zero -> c
node Transpose turn1 c -> d perm=[1,0]
node Transpose turn2 d -> e perm=[1,0]
node Tanh tanh e -> y
node Softmax softmax y -> z
M
tutorial expanded.onnx --dump-dir passes -o expanded.sk
for file in passes/*.pbtxt; do
	file=${file%.pbtxt}
	dot -Tsvg "$file.dot" >drawing.svg
	"$python" "$read_dumps" "$file.pbtxt" "$file.ir" "$file.pbtxt" drawing.svg ||
		fail "$file: the forms are of different graphs"
	tutorial "$file.pbtxt" -o again.sk
	same_packages expanded.sk again.sk
	passes=$((${passes:-0} + 1))
done
ls passes >files.txt
grep -q '^hwopt_fusion_group_18_matmul_elem_gelu_fusion_0000.ir' files.txt &&
	grep -q '^hwopt_stage1_cluster_3_graph_kernel_expander_0001.ir' files.txt ||
		fail "other passes: $(cat files.txt)"
sed -nE 's/^hwopt_[sf].*_([0-9]+)\.ir$/\1/p' files.txt | sort | awk '$1 != NR - 1 { exit 1 }' ||
	fail "numbers are missing: $(cat files.txt)"

# The last dump says where values lie in memory.
model places <<'M'
input x f32 4x64
output y f32 none
output z f32 none
constant two f32 scalar 2.0
constant shape i64 3 2 8 8
node Exp exp x -> a
node Split split a -> b c axis=0 num_outputs=2
node Softmax first b -> d
node Softmax second c -> e
node MatMul product d square -> f
node Reshape again f shape -> g
node Softmax third g -> y
node Softmax fourth e -> h
node Mul twice h two -> z
constant square f32 64x64 0.5 -0.25 1.5
M
"$sklink" places.onnx -L"$top_builddir/kernels" -lskernels --dump-dir places -o places.sk
"$skdump" --json places.sk >places.json
"$python" "$top_srcdir/tests/lib/read-places.py" places/hwopt_d_end_graph_0.pbtxt places.json >places.txt ||
	fail "other places than the package's"
echo 'tensors 5 slices 2 shapes 1 elsewhere 2' | diff - places.txt >&2 || fail "other kinds of places"
"$sklink" places/hwopt_d_end_graph_0.pbtxt -L"$top_builddir/kernels" -lskernels -o again.sk
same_packages places.sk again.sk

# The same holds for a dump of a model of an older operator set: attributes that have become inputs stay inputs, and
# operators keep their meaning.
again() { # MODEL ARGUMENT…
	"$sklink" "$1.onnx" -L"$top_builddir/kernels" -lskernels --dump-dir "$1" -o "$1.sk" "${@:2}"
	"$sklink" "$1/hwopt_d_end_graph_0.pbtxt" -L"$top_builddir/kernels" -lskernels -o again.sk "${@:2}"
	same_packages "$1.sk" again.sk
}
model older <<'M'
opset 9
input x f32 4x8
output y f32 none
node Slice slice x -> a starts=[1] ends=[3] axes=[0]
node Pad pad a -> b pads=[0,1,0,1] value=2.0
node Clip clip b -> c min=0.25 max=0.5
node Neg neg c -> y
M
again older
model older-resize <<'M'
opset 10
input x f32 1x1x5x5
constant scales f32 4 1.0 1.0 0.6 0.6
output y f32 none
node Resize resize x scales -> a mode='nearest'
node Neg neg a -> y
M
again older-resize
model older-regions <<'M'
opset 15
input x f32 1x1x5x5
constant regions f32 1x4 0.0 1.0 3.0 4.0
constant batches i64 1 0
output y f32 none
node RoiAlign align x regions batches -> y output_height=2 output_width=2
M
again older-regions
model older-transform <<'M'
opset 17
input x f32 1x8x1
output y f32 none
node DFT transform x -> y axis=1
M
again older-transform
# Results of inputs without elements are constants before any dump, as they are when a dump is read.
model empty <<'M'
input x f32 3x0
input w f32 0
output y f32 3
node MatMul product x w -> a
node LeakyRelu leak a -> y alpha=0.25
M
again empty

# Passes that a dump has had do not run again on their own results: each dump, linked with the same flags, has the same
# steps, and there are no warnings. Without its record they run, and the results are the same.
optimised() { # MODEL PACKAGE ARGUMENT…
	"$sklink" "$1" -L"$top_builddir/kernels" -lskernels --fusion-target=gpu --fusion-flags=--opt_level=3 -o "$2" \
		"${@:3}" 2>err.txt ||
		fail "$1 is refused: $(cat err.txt)"
}
same_steps() { # MODEL ARGUMENT…
	optimised "$1.onnx" "$1.sk" --dump-dir "$1" --fatal-warnings "${@:2}"
	"$skdump" --steps "$1.sk" >steps.txt
	for dump in "$1"/*.pbtxt; do
		optimised "$dump" again.sk --model-text again.pbtxt --fatal-warnings "${@:2}"
		"$skdump" --steps again.sk | diff steps.txt - >&2 || fail "$dump has other steps"
		sed -n '/^metadata_props/,$p' again.pbtxt >record.txt
		sed -n '/^metadata_props/,$p' "$dump" | cmp - record.txt ||
			fail "$dump: --model-text has other metadata"
	done
}
model product <<'M'
input x f32 8x8
constant one f32 scalar 1.0
output y f32 none
node Mul product x one -> y
M
same_steps product
"$skrun" again.sk --random 1 --output y=again.npy
cp product/hwopt_d_end_graph_0.pbtxt last.pbtxt
sed '/^metadata_props/,/^}/d' last.pbtxt >forced.pbtxt
optimised forced.pbtxt forced.sk
"$skrun" forced.sk --random 1 --output y=forced.npy
cmp again.npy forced.npy || fail "passes that run again change the result"
sed 's/ stage1_cluster_3_graph_kernel_expander / no_such_pass /' last.pbtxt >one.pbtxt
optimised one.pbtxt one.sk --verbose
grep -q 'Run graph kernel pass stage1_cluster_3_graph_kernel_expander' err.txt &&
	! grep -q 'Run graph kernel pass stage1_cluster_7' err.txt &&
	grep -q 'graph kernel pass stage1_cluster_7_fuse_basic has run on the model already' err.txt ||
		fail "not only the pass runs that the record lacks"
grep -q "one.pbtxt: 'sklink.passes' in the metadata names no pass 'no_such_pass'" err.txt ||
	fail "no warning of a pass that does not exist"

# A pass named by the user is reported if the dump has had it.
already="last.pbtxt: graph kernel pass stage1_cluster_7_fuse_basic has run on this dump already ('sklink.passes' in the metadata), and"
optimised last.pbtxt again.sk --fusion-flags=--disable_pass=fuse_basic
[ "$(cat err.txt)" = "sklink: warning: $already is not undone" ] || fail "a pass that is turned off: $(cat err.txt)"
optimised last.pbtxt again.sk --fusion-flags='--opt_level=0 --enable_pass=cluster.fuse_basic'
[ "$(cat err.txt)" = "sklink: warning: $already does not run again" ] || fail "a pass that is turned on: $(cat err.txt)"
printf '{"Switch": {"GraphFusion": {"ALL": "off", "fuse_basic": "on"}}}\n' >named.cfg
optimised last.pbtxt again.sk --fusion-switch-file=named.cfg
[ "$(cat err.txt)" = "sklink: warning: $already does not run again" ] ||
	fail "a pass that a switch names: $(cat err.txt)"

# Nodes made by passes from constants only become constants at once, not only when the dump is read; outputs become
# copies of them, in the scopes in which they were made.
model choice <<'M'
input x bool 4
constant k f32 4 1.0 2.0 3.0 4.0
constant two f32 scalar 2.0
output y f32 none
output z f32 none
node Where where x k k -> a
node Mul mul a two -> y _super_kernel_scope='part'
node Identity copy a -> z _super_kernel_scope='part'
node Cast cast x -> w to=1
node Neg neg w -> v
output v f32 none
M
same_steps choice --fusion-flags=--exact_precision_mode=false
grep -q 'sk_part, superkernel, 2 steps' steps.txt || fail "copies of constants are in no scope: $(cat steps.txt)"

# Nodes and outputs that only shapes depend on are left out before the first dump, as when it is read.
model shapes <<'M'
input x f32 4x6
constant sizes i64 2 1 3
output y f32 none
output z i64 none
node Split split x sizes -> y b axis=0
node Exp exp b -> c
node Shape shape c -> z
M
same_steps shapes
! grep -q '"Exp"' shapes/6_validate.ir && grep -q ') -> ("y": f32\[1, 6\], _)' shapes/6_validate.ir ||
	fail "6_validate has what no output needs"

# Scopes without any remaining node are in the metadata: other nodes stay by themselves, and options are reported as in
# the first link.
model idle <<'M'
input x f32 4
constant k f32 4 1.0 2.0 3.0 4.0
output y f32 none
node Neg first k -> a _super_kernel_scope='part"1"'
node Neg unneeded x -> b _super_kernel_scope='unneeded'
node Add add x a -> c
node Sqrt sqrt c -> y
M
same_steps idle
for dump in idle.onnx again.pbtxt idle/*.pbtxt; do
	optimised "$dump" idle-again.sk --scope-options 'part"1"=stream-fusion=0;unneeded=stream-fusion=0'
	grep -q "no task is in scope 'part\"1\"'" err.txt && grep -q "no task is in scope 'unneeded'" err.txt ||
		fail "$dump: $(cat err.txt)"
done

# Dumps of passes from an earlier link are removed after a link that has others, and only if it succeeds.
echo mine >expanded.txt
cp expanded.txt passes/hwopt_notes.txt
fails_with "no kernel" "$sklink" expanded.onnx --dump-dir passes -o no.sk
[ -s passes/hwopt_stage1_cluster_3_graph_kernel_expander_0001.ir ] || fail "a link that fails removes dumps"
tutorial expanded.onnx --dump-dir passes -o expanded.sk --fusion-flags=--opt_level=0
! ls passes/hwopt_stage* 2>err.txt || fail "dumps of another link stay"
[ -s passes/hwopt_d_end_graph_0.ir ] && [ -s passes/hwopt_notes.txt ] || fail "more is removed than dumps of passes"

# Outputs like others.
link model.pbtxt check.sk --dim n=8 --check --dump-dir no
[ ! -e no ] || fail "--check makes a folder"
touch file
fails_with "file/below: cannot make the folder for dumps: Not a directory" link model.pbtxt no.sk --dim n=8 --dump-dir \
	file/below
sed 's/"Neg"/"Nag"/' simple.pbtxt >wrong.pbtxt
fails_with "no operator" link wrong.pbtxt no.sk --dim n=8 --dump-dir none
fails_with "again/6_validate.pbtxt: is in the directory of --dump-dir" link again/6_validate.pbtxt no.sk --dump-dir again/
mkdir there
fails_with "no kernel" "$sklink" model.pbtxt --dim n=8 -o no.sk --dump-dir there/dumps
fails_with "no kernel" "$sklink" model.pbtxt --dim n=8 -o no.sk --dump-dir gone/dumps --fusion-flags=--dump_as_text \
	--fusion-target=ascend
for place in there ./there/../there; do
	fails_with "6_validate.ir: two files would be written under this name" link model.pbtxt $place/6_validate.ir \
		--dim n=8 --dump-dir there
	fails_with "6_validate.pbtxt: two files would be written under this name" link model.pbtxt no.sk --dim n=8 \
		--dump-dir there \
		--model-text $place/6_validate.pbtxt
done
[ ! -e no.sk ] && [ ! -e none ] && [ -z "$(ls there)" ] && [ ! -e gone ] || fail "something was left behind"
link model.pbtxt there/model.sk --dim n=8 --dump-dir there
"$skdump" there/model.sk >said.txt || fail "a package beside dumps is another one"
link model.pbtxt repro.sk --dim n=8 --dump-dir deep/r --repro repro.tar
tar -xf repro.tar && (cd repro && "$sklink" @response.txt) && cmp repro/r/6_validate.ir deep/r/6_validate.ir ||
	fail "--repro"
printf 'sklink: 1\ntensors: {x: {dtype: f32, shape: [4]}}\ntasks: [{name: t, op: Relu, inputs: x, outputs: x}]\n' \
	>m.yaml
fails_with "m.yaml: --dump-dir is about a model, and this manifest names none" "$sklink" m.yaml \
	-L"$top_builddir/kernels" -lskernels -o no.sk --dump-dir no
