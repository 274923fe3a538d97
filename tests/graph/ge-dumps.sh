# GE's variables for dumps: the files, their names, their contents, and errors in a variable.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
unset DUMP_GE_GRAPH DUMP_GRAPH_LEVEL DUMP_GRAPH_PATH DUMP_GRAPH_FORMAT

model net <<'LINES'
input x f32 Nx64
output y f32 Nx64
constant w f32 64x64 0.5 -1 2
constant two f32 scalar 2
node MatMul product x w -> a
node Mul mul a two -> b
node Gelu gelu b -> c approximate='tanh'
node Split split c -> d e axis=1 num_outputs=2
node Concat join d e -> f axis=1
node Add nothing f c -> y
LINES
flags=(--fusion-target=ascend)
link() { # PACKAGE ARGUMENT…
	local package=$1
	shift
	"$sklink" "$@" -L"$top_builddir/kernels" -lskernels "${flags[@]}" -o "$package"
}
dumps() { # the files of the folder are these
	local folder=$1
	shift
	ls "$folder" | grep '^ge_onnx_' >files.txt || :
	printf '%s\n' "$@" | grep . | cmp -s - files.txt || { cat files.txt >&2; fail "other dumps in $folder"; }
}
begin=ge_onnx_00000000_graph_0_PreRunBegin.pbtxt
link plain.sk net.onnx --dim N=4
dumps .

# ---- main stages are the default, in the current folder ----
DUMP_GE_GRAPH=1 link full.sk net.onnx --dim N=4
cmp plain.sk full.sk || fail "dumps change the package"
end=ge_onnx_00000002_graph_0_PreRunAfterOptimizeGraphBeforeBuild.pbtxt
dumps . $begin ge_onnx_00000001_graph_0_PreRunAfterOptimize2.pbtxt $end ge_onnx_graph_0_constants.bin
for file in $begin $end; do # all of the graph: each is the same package
	mkdir -p other
	DUMP_GE_GRAPH=1 DUMP_GRAPH_PATH=other link again.sk $file
	"$skdump" --all plain.sk | sed 1d >first.txt
	"$skdump" --all again.sk | sed 1d | diff first.txt - >&2 || fail "$file is another model"
done
# A dump is not replaced by those of its own link.
cp $begin kept.pbtxt
DUMP_GE_GRAPH=1 fails_with \
	"^sklink: error: $begin: could be replaced by a dump; set DUMP_GRAPH_PATH to another directory" link no.sk $begin
cmp $begin kept.pbtxt && [ ! -e no.sk ] || fail "a model is replaced"
grep -B1 '_no_task' $end | grep -q 'i: 0' || fail "_no_task is missing"
rm ge_onnx_*

# ---- less of each graph ----
DUMP_GE_GRAPH=2 DUMP_GRAPH_PATH=two link two.sk net.onnx --dim N=4
dumps two $begin ge_onnx_00000001_graph_0_PreRunAfterOptimize2.pbtxt $end
DUMP_GE_GRAPH=1 DUMP_GRAPH_PATH=one link one.sk net.onnx --dim N=4
for folder in one two; do
	grep -q 'op_type: "Split"' $folder/$begin && grep -q '"_no_task"' $folder/$begin &&
		grep -q '"input_desc_shape:0"' $folder/$begin &&
		grep -q '"w"' $folder/$begin || fail "$folder lacks something"
done
grep -q 'approximate' one/$begin && ! grep -q 'approximate' two/$begin || fail "texts"
grep -q 'raw_data' one/$begin && grep -q 'constants.bin' one/$begin &&
	! grep -qE 'raw_data|constants.bin' two/$begin || fail "weights"
DUMP_GE_GRAPH=3 DUMP_GRAPH_PATH=three link three.sk net.onnx --dim N=4
dumps three $begin ge_onnx_00000001_graph_0_PreRunAfterOptimize2.pbtxt $end
grep -q 'op_type: "Split"' three/$begin && ! grep -qE 'attribute|raw_data' three/$begin || fail "structure"

# ---- levels ----
DUMP_GE_GRAPH=3 DUMP_GRAPH_LEVEL=1 DUMP_GRAPH_PATH=all link all.sk net.onnx --dim N=4 --dump-dir=passes
ls passes/hwopt_stage*.ir | sed -E 's/.*hwopt_(.*)_[0-9]+\.ir/\1/' | cat <(echo PreRunBegin) - | sort >expected.txt
printf '%s\n' PreRunAfterOptimize2 PreRunAfterOptimizeGraphBeforeBuild | sort -o expected.txt expected.txt -
ls all | sed -E 's/^ge_onnx_[0-9]{8}_graph_0_(.*)\.pbtxt$/\1/' | sort | diff expected.txt - >&2 || fail "all graphs"
[ "$(wc -l <expected.txt)" -gt 4 ] || fail "no pass has changed the graph"
ls all | sed -nE 's/^ge_onnx_0*([0-9]+)_graph.*/\1/p' | sort -n | awk '$1 != NR - 1 { exit 1 }' ||
	fail "numbers are missing"
DUMP_GE_GRAPH=2 DUMP_GRAPH_LEVEL=2 link out.sk net.onnx --dim N=4 --dump-dir=with
dumps with $begin ge_onnx_00000001_graph_0_PreRunAfterOptimize2.pbtxt $end
DUMP_GE_GRAPH=2 DUMP_GRAPH_LEVEL=3 DUMP_GRAPH_PATH=last link out.sk net.onnx --dim N=4
dumps last ge_onnx_00000000_graph_0_PreRunAfterOptimizeGraphBeforeBuild.pbtxt
DUMP_GE_GRAPH=2 DUMP_GRAPH_LEVEL=4 DUMP_GRAPH_PATH=first link out.sk net.onnx --dim N=4
dumps first $begin
DUMP_GE_GRAPH=2 DUMP_GRAPH_LEVEL='PreRunBegin|stage1_cluster_3_graph_kernel_expander' DUMP_GRAPH_PATH=named link \
	out.sk net.onnx --dim N=4
dumps named $begin ge_onnx_00000001_graph_0_stage1_cluster_3_graph_kernel_expander.pbtxt
DUMP_GE_GRAPH=2 DUMP_GRAPH_LEVEL='PreRunBegan' DUMP_GRAPH_PATH=none link out.sk net.onnx --dim N=4 2>err.txt
grep -q "^sklink: warning: DUMP_GRAPH_LEVEL: no dump of this graph is called 'PreRunBegan'; did you mean 'PreRunBegin'?" err.txt || fail "an unknown name"
dumps none

# ---- readable ones, beside the others or instead of them ----
model small <<'LINES'
opset 18
input x f32 4x2
output y f32 2x2
output z f32 2x2
constant w f32 4x2 0.5 -1 2
node Add a{b x w -> s
node Split parts s -> p q axis=0 num_outputs=2
node LeakyRelu leaky p -> y alpha=0.25
node Gelu gelu q -> t approximate='tanh'
node Clip clip t _ two -> z
constant two f32 scalar 2
LINES
DUMP_GE_GRAPH=1 DUMP_GRAPH_LEVEL=4 DUMP_GRAPH_PATH=readable DUMP_GRAPH_FORMAT=readable link out.sk small.onnx
[ "$(ls readable)" = ge_readable_00000000_graph_0_PreRunBegin.txt ] || fail "other files: $(ls readable)"
diff - readable/*.txt <<'TEXT' >&2 || fail "a readable dump"
graph("test"):
  %x : [#users=1] = Node[type=Data] (attrs = {index: 0})
  %w : [#users=1] = Node[type=Const] (attrs = {value: [0.5 -1 2 ... 2 2 2]})
  %a_b : [#users=1] = Node[type=Add] (inputs = (input_0=%x, input_1=%w))
  %parts : [#users=2] = Node[type=Split] (inputs = (input_0=%a_b), attrs = {axis: 0, num_outputs: 2})
  %ret : [#users=1] = get_element[node=%parts](0)
  %ret_1 : [#users=1] = get_element[node=%parts](1)
  %leaky : [#users=1] = Node[type=LeakyRelu] (inputs = (input_0=%ret), attrs = {alpha: 0.250000})
  %gelu : [#users=1] = Node[type=Gelu] (inputs = (input_0=%ret_1), attrs = {approximate: "tanh"})
  %two : [#users=1] = Node[type=Const] (attrs = {value: [2]})
  %clip : [#users=1] = Node[type=Clip] (inputs = (input_0=%gelu, input_2=%two))

  return (output_0=%leaky, output_1=%clip)
TEXT
DUMP_GE_GRAPH=2 DUMP_GRAPH_PATH=both DUMP_GRAPH_FORMAT='readable|onnx' link out.sk small.onnx
[ "$(ls both | grep -c '^ge_onnx_.*pbtxt$')/$(ls both | grep -c '^ge_readable_.*txt$')" = 3/3 ] ||
	fail "both forms: $(ls both)"
grep -qF '%w : [#users=1] = Node[type=Const] (attrs = {value: <empty>})' \
	both/ge_readable_00000000_graph_0_PreRunBegin.txt || fail "weights in a readable dump"
! grep -q _no_task both/ge_readable_00000002_graph_0_PreRunAfterOptimizeGraphBeforeBuild.txt ||
	fail "what is no attribute of an operator"
DUMP_GE_GRAPH=2 DUMP_GRAPH_PATH=proto DUMP_GRAPH_FORMAT='ge_proto|onnx' link out.sk small.onnx 2>err.txt
grep -qx "sklink: warning: DUMP_GRAPH_FORMAT: there are no dumps in 'ge_proto': 'onnx' has the same contents" err.txt \
	&& [ "$(ls proto | grep -c pbtxt)" = 3 ] || fail "ge_proto: $(cat err.txt)"
rm out.sk
DUMP_GE_GRAPH=2 DUMP_GRAPH_FORMAT='onnx|text' fails_with \
	"^sklink: error: DUMP_GRAPH_FORMAT: must be 'onnx', 'readable', or both with '|' between them, not 'text'" \
	link out.sk small.onnx
[ ! -e out.sk ] || fail "a package is left"

# ---- a node without a task: _no_task is 0 before the pass that sets it, 1 after it, and 0 with the pass off ----
model_with_split parts
no_task() { # DUMP: of each node
	grep -B1 '"_no_task"' "$1" | sed -n 's/^ *i: //p' | paste -sd' '
}
DUMP_GE_GRAPH=2 DUMP_GRAPH_PATH=parts link out.sk parts.onnx
[ "$(no_task parts/ge_onnx_00000001_graph_0_PreRunAfterOptimize2.pbtxt)" = "0 0 0 0" ] ||
	fail "a node has no task too early"
[ "$(no_task parts/$end)" = "0 1 0 0" ] || fail "the split has a task"
DUMP_GE_GRAPH=2 DUMP_GRAPH_PATH=parts link out.sk parts.onnx \
	--fusion-switch-file=<(echo '{"Switch": {"UBFusion": {"FusionVirtualOpSetSwitch": "off"}}}')
[ "$(no_task parts/$end)" = "0 0 0 0" ] || fail "the switch is off"

# ---- several networks ----
DUMP_GE_GRAPH=2 DUMP_GRAPH_LEVEL=4 DUMP_GRAPH_PATH=several link out.sk net.onnx --dim a:N=2 --dim b:N=4
dumps several $begin ge_onnx_00000001_graph_1_PreRunBegin.pbtxt

# ---- none, or an error ----
for value in 0 ""; do
	DUMP_GE_GRAPH=$value DUMP_GRAPH_PATH=off link out.sk net.onnx --dim N=4
done
DUMP_GE_GRAPH=1 DUMP_GRAPH_PATH=off link out.sk net.onnx --dim N=4 --check
[ ! -e off ] || fail "dumps that nobody wants"
rm out.sk
DUMP_GE_GRAPH=4 fails_with \
	"^sklink: error: DUMP_GE_GRAPH: must be 1 .all of a graph., 2 .without weights. or 3 .nodes and edges., not '4'" link out.sk net.onnx --dim N=4
touch file
DUMP_GE_GRAPH=1 DUMP_GRAPH_PATH=file/below fails_with "file/below: cannot make the folder for dumps: Not a directory" \
	link out.sk net.onnx --dim N=4
[ ! -e out.sk ] || fail "a package is left"

# ---- the graph before FusionVirtualOpSetSwitch and after it differ in _no_task alone ----
model one-split <<'LINES'
input x f32 4x64
output y f32 2x64
output z f32 2x64
node Abs before x -> a
node Split s a -> b c axis=0 num_outputs=2
node Neg n b -> y
node Exp e c -> z
LINES
DUMP_GE_GRAPH=2 DUMP_GRAPH_LEVEL=2 DUMP_GRAPH_PATH=switch link switch.sk one-split.onnx
switched=$(ls switch | sort | tail -2)
diff $(sed 's#^#switch/#' <<<"$switched") >switch.txt && fail "the switch changes nothing"
[ "$(sed -n '/^[<>]/p' switch.txt)" = "$(printf '<       i: 0\n>       i: 1')" ] || fail "$(cat switch.txt)"
grep -A1 '^ *i: 1$' "switch/$(tail -1 <<<"$switched")" >ones.txt
grep -q '"_no_task"' ones.txt || fail "something else has changed"
DUMP_GE_GRAPH=2 DUMP_GRAPH_LEVEL=2 DUMP_GRAPH_PATH=off link switch.sk one-split.onnx \
	--fusion-flags=--disable_pass=FusionVirtualOpSetSwitch
diff $(ls off | sort | tail -2 | sed 's#^#off/#') >&2 || fail "the switch is off, and something changes"
