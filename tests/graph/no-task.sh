# Split and Concat without a task: the launches, the inputs of consumers, and the contents of reports, explanations and
# dumps, on each target, with the switch on and off. Results are compared with those of every value computed apart.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
unset SKLINK_GRAPH_KERNEL_FLAGS MS_DEV_GRAPH_KERNEL_FLAGS GLOG_v

link() { # MODEL PACKAGE ARGUMENT…
	local model=$1 package=$2
	shift 2
	"$sklink" "$model" -L"$top_builddir/kernels" -lskernels -o "$package" "$@"
}
tasks() { # PACKAGE: names of the tasks that are launched
	"$skdump" --steps "$1" | sed -nE 's/^ +([0-9]+ )? *([^ ]+) +sk_.*/\2/p' | sort | paste -sd' '
}
expect_tasks() { # PACKAGE TASKS
	[ "$(tasks "$1")" = "$2" ] || fail "$1 launches '$(tasks "$1")', not '$2'"
}
run() { # PACKAGE: out of x.npy, y.npy under its name; on guarded memory, and watched
	"$skrun" "$1" --input x=x.npy --output y="$1.npy" --guard >run.txt || fail "$1: $(cat run.txt)"
	"$skrun" "$1" --input x=x.npy --check-races >run.txt || fail "$1: $(cat run.txt)"
	"$skdump" --verify "$1" >run.txt || fail "$1: $(cat run.txt)"
}

# ---- a split and a join ----
model net <<'M'
opset 18
input x f32 64x16
output y f32 64x16
node Relu r x -> a
node Split split a -> b c axis=0 num_outputs=2
node Neg n b -> d
node Exp e c -> f
node Concat cat d f -> g axis=0
node Abs last g -> y
M
array x f32 64x16 0.5 -1 2 -0.25 3
link net.onnx on.sk
expect_tasks on.sk 'e last n r'
link net.onnx off.sk --fusion-flags=--disable_pass=FusionVirtualOpSetSwitch --explain split >explained.txt
expect_tasks off.sk 'cat cat#2 e last n r split split#2'
grep -qF 'Split has a task: FusionVirtualOpSetSwitch is off.' explained.txt ||
	fail "nothing says why: $(cat explained.txt)"
echo '{"Switch": {"UBFusion": {"FusionVirtualOpSetSwitch": "off"}}}' >off.json
link net.onnx file.sk --fusion-switch-file=off.json
"$skdump" --all file.sk | sed 1d >file.txt
"$skdump" --all off.sk | sed 1d | diff - file.txt >&2 || fail "a switch file does something else"
echo '{"Switch": {"UBFusion": {"ALL": "off", "FusionVirtualOpSetSwitch": "on"}}}' >on.json
link net.onnx file.sk --fusion-switch-file=on.json
cmp on.sk file.sk || fail "ALL beats the switch"
link net.onnx ascend.sk --fusion-target=ascend --fusion-flags=--opt_level=0
expect_tasks ascend.sk 'e last n r'
for package in on off ascend; do
	run $package.sk
	cmp on.sk.npy $package.sk.npy || fail "$package computes something else"
done

# ---- obstacles on one target that are none on another ----
# A part that is an output, a constant, an input that is joined as it is, one that is joined twice, rows of columns.
model mixed <<'M'
opset 18
input x f32 8x16
output y f32 32x16
output z f32 4x16
constant k f32 8x16 1.5
node Relu r x -> a
node Split split a -> z0 c axis=0 num_outputs=2
node Identity out z0 -> z
node Exp e c -> f
node Concat cat x f k f -> g axis=0
node Split sides g -> h i axis=1 num_outputs=2
node Add add h i -> j
node Concat wide j j -> l axis=1
node Slice some l starts ends -> m
node Concat tall m x -> y axis=0
constant starts i64 1 0
constant ends i64 1 24
M
array x f32 8x16 0.5 -1 2 -0.25 3
link mixed.onnx mixed.sk --explain cat --explain sides >explained.txt
link mixed.onnx mixed-off.sk --fusion-flags=--disable_pass=FusionVirtualOpSetSwitch
link mixed.onnx mixed-ascend.sk --fusion-target=ascend --explain split --explain cat --explain tall >ascend.txt
for package in mixed mixed-off mixed-ascend; do
	run $package.sk
	cmp mixed.sk.npy $package.sk.npy || fail "$package computes something else"
done
for reason in "Concat copies 'x': it is an input of the network" "Concat copies 'k': it is a constant" \
	"Concat copies 'f': it is another part of the same bytes already" \
		"Split copies 'h': its elements are not contiguous"; do
	grep -qF "$reason" explained.txt || fail "no '$reason' in: $(cat explained.txt)"
done
for reason in "Concat has a task under FusionVirtualOpSetSwitch: 'x' is an input of the network" \
	"Split has a task under FusionVirtualOpSetSwitch: 'out' takes an output, and its 'imply_type' is 0, not 1"; do
	grep -qF "$reason" ascend.txt || fail "no '$reason' in: $(cat ascend.txt)"
done

# ---- reports and explanations ----
link net.onnx report.sk --report=report.json --explain split --explain cat >explained.txt
cmp on.sk report.sk || fail "a report changes the package"
cat >expected.txt <<'TEXT'
  "no_task": [
    {"name": "split", "operator": "Split", "_no_task": 1, "slices": [{"name": "b", "of": "a", "offset": 0, "bytes": 2048}, {"name": "c", "of": "a", "offset": 2048, "bytes": 2048}], "because": []},
    {"name": "cat", "operator": "Concat", "_no_task": 1, "slices": [{"name": "d", "of": "g", "offset": 0, "bytes": 2048}, {"name": "f", "of": "g", "offset": 2048, "bytes": 2048}], "because": []}
  ],
  "peak": {"with_slices": 8192, "with_copies": 8192},
TEXT
sed -n '/"no_task"/,/"peak"/p' report.json | diff expected.txt - >&2 || fail "the report"
grep -qF "node 'split' (Split): it has no task: the data that it splits is already in place" explained.txt &&
	grep -qF "'f' is 2048 bytes of 'g', from byte 2048 on." explained.txt || fail "explained: $(cat explained.txt)"
link net.onnx report.sk --report=report.json --fusion-flags=--disable_pass=FusionVirtualOpSetSwitch
grep -qF '{"name": "cat", "operator": "Concat", "_no_task": 0, "slices": [], "because": ["Concat has a task: FusionVirtualOpSetSwitch is off"]}' report.json &&
	grep -qF '"peak": {"with_slices": 8192, "with_copies": 8192}' report.json || fail "the report of what is off"
# The package itself lists the nodes without a launch, and the bytes of their parts in other tensors.
"$skdump" on.sk --explain split --explain cat >said.txt
link net.onnx report.sk --explain split --explain cat | grep -v '^  With all slices' | diff said.txt - >&2 ||
	fail "sklink and skdump say different things"
grep -qxF "node 'cat' (Concat): it has no task: the data that it joins is already in place, and nothing is launched for it" said.txt &&
	grep -qxF "  'c' is 2048 bytes of 'a', from byte 2048 on." said.txt || fail "the package says: $(cat said.txt)"
"$skdump" --reasons on.sk >said.txt
grep -qE '^ +split +- +- +NO_TASK +the data that this Split splits is already in place, and nothing is launched for it *$' said.txt || fail "no reason: $(cat said.txt)"
"$skdump" --reasons --task 'r*' on.sk >said.txt
! grep -q NO_TASK said.txt || fail "a filter of tasks finds nodes"
"$skdump" --reasons off.sk >said.txt
! grep -q NO_TASK said.txt || fail "nodes that have tasks have none"
"$skdump" --json on.sk >on.json
link net.onnx report.sk --report=on.report
/usr/bin/python3 "$top_srcdir/tests/lib/skdump-json.py" on.report on.json "$top_srcdir/doc/reference/skdump-json.md" \
	>/dev/null || fail "--json says something else than the report"
/usr/bin/python3 - on.json <<'P' || fail "the nodes in --json"
import json, sys
data = json.load(open(sys.argv[1]))
split, cat = data["no_task"]
assert (split["what"], cat["what"], split["launches"], cat["launches"]) == ("splits", "joins", 0, 0)
assert not {split["name"], cat["name"]} & {task["name"] for task in data["tasks"]}
of = data["tensors"][split["slices"][1]["tensor"]] # the buffer: its producer writes all of it
assert [task["name"] for task in data["tasks"] if split["slices"][1]["tensor"] in task["writes"]] == ["r"]
assert split["slices"][1]["offset"] + split["slices"][1]["bytes"] == of["bytes"] and of["space"] in ("workspace", "scratch")
P
strip -R .sk.report -o stripped.sk on.sk
fails_with "there is no task 'split' to explain" "$skdump" stripped.sk --explain split
# A small part of a large value that is needed to the end keeps all of it.
model long <<'M'
opset 18
input x f32 64x16
output y f32 1x16
node Relu r x -> a
node Split split a sizes -> b c axis=0
node Neg n c -> d
node Softmax s d -> e
node ReduceSum sum e axes -> f
node Add last f b -> y
constant sizes i64 2 1 63
constant axes i64 1 0
M
link long.onnx long.sk --report=report.json
# All of 'a' beside 'd' and 'e' (63 rows each); or 'a' beside its copies.
grep -qF '"peak": {"with_slices": 12160, "with_copies": 8192}' report.json ||
	fail "the peak: $(grep '"peak"' report.json)"

# ---- dumps ----
no_task() { # DUMP: "node=_no_task" of each node
	awk '$1 == "node" { number = ""; noted = 0 }
		$1 == "i:" { number = $2 }
		$1 == "attribute" { number = 0 }
		$1 == "name:" && $2 == "\"_no_task\"" { noted = number + 0 }
		$1 == "name:" && !in_attribute { name = $2 }
		$1 == "attribute" { in_attribute = 1 }
		$1 == "}" && in_attribute { in_attribute = 0; next }
		$1 == "}" && name != "" { print name "=" noted; name = "" }' "$1" | tr -d '"' |
			grep -E '^(r|split|n|e|cat|last)=' | paste -sd' '
}
link net.onnx dumps.sk --dump-dir=dumps
cmp on.sk dumps.sk || fail "dumps change the package"
[ "$(no_task dumps/6_validate.pbtxt)" = 'r=0 split=0 n=0 e=0 cat=0 last=0' ] ||
	fail "before: $(no_task dumps/6_validate.pbtxt)"
after=$(echo dumps/hwopt_stage6_build_9_FusionVirtualOpSetSwitch_*.pbtxt)
[ "$(no_task "$after")" = 'r=0 split=1 n=0 e=0 cat=1 last=0' ] || fail "after: $(no_task "$after")"
places() { # NODE KEY: the list of that attribute
	awk -v node="\"$1\"" -v key="\"$2\"" '
		$1 == "node" || $1 == "attribute" { list = "" }
		$1 == "node" { inside = 0 }
		$1 == "name:" && $2 == node { inside = 1 }
		$1 == "ints:" { list = list " " $2 }
		inside && $1 == "name:" && $2 == key { print list }' "$after"
}
[ "$(places split input_i)/$(places split output_i)" = ' 0/ 0 2048' ] ||
	fail "places of split: $(places split input_i)/$(places split output_i)"
[ "$(places cat input_i)/$(places cat output_i)" = ' 0 2048/ 0' ] ||
	fail "places of cat: $(places cat input_i)/$(places cat output_i)"
for name in _no_padding_continuous_output _output_reuse_input _reuse_input_on_dim_index _no_padding_continuous_input; do
	grep -q "\"$name\"" "$after" || fail "the dump has no $name"
	! grep -q "\"$name\"" dumps/6_validate.pbtxt || fail "the dump in front has $name"
done
# The dump is processed again when it is read, on each target.
for target in host ascend; do
	link net.onnx plain.sk --fusion-target=$target --fusion-flags=--opt_level=0
	link "$after" again.sk --fusion-target=$target --fusion-flags=--opt_level=0
	[ "$(tasks plain.sk)" = "$(tasks again.sk)" ] || fail "$target: the dump launches $(tasks again.sk)"
done
mkdir ge
DUMP_GE_GRAPH=2 DUMP_GRAPH_LEVEL=2 DUMP_GRAPH_PATH=ge "$sklink" net.onnx -L"$top_builddir/kernels" -lskernels -o ge.sk
last=$(ls ge/*/*/*.pbtxt ge/*.pbtxt 2>/dev/null | tail -2)
[ "$(no_task "$(head -1 <<<"$last")") / $(no_task "$(tail -1 <<<"$last")")" = \
	'r=0 split=0 n=0 e=0 cat=0 last=0 / r=0 split=1 n=0 e=0 cat=1 last=0' ] || fail "GE's dumps: $(ls -R ge)"

# ---- kernels that want more than a slice is aligned to ----
cat >aligned.c <<'C'
#include <stdint.h>
#include "skkernel.h"

void negative(const float *x, float *y, int64_t n)
{
	if ((uintptr_t)x % 64 || (uintptr_t)y % 64)
		__builtin_trap();
	for (int64_t i = 0; i < n; i++)
		y[i] = -x[i];
}
SK_KERNEL(negative, "align=64 op=Neg; in x f32[n], out y f32[n], n i64");

void relu(const float *x, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] > 0 ? x[i] : 0;
}
SK_KERNEL(relu, "op=Relu; in x f32[n], out y f32[n], n i64");

void absolute(const float *x, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = __builtin_fabsf(x[i]);
}
SK_KERNEL(absolute, "op=Abs; in x f32[n], out y f32[n], n i64");

void copy(const uint32_t *x, uint32_t *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i];
}
SK_KERNEL(copy, "op=Copy; in x u32[n], out y u32[n], n i64");
C
compile aligned
model unaligned <<'M'
opset 18
input x f32 7x3
output y f32 7x3
node Relu r x -> a
node Split split a sizes -> b c axis=0
node Neg nb b -> d
node Neg nc c -> e
node Concat cat e d -> g axis=0
node Abs last g -> y
constant sizes i64 2 4 3
M
array x f32 7x3 0.5 -1 2 -0.25 3
link unaligned.onnx unaligned-plain.sk
expect_tasks unaligned-plain.sk 'last nb nc r'
# Another kernel is taken, if there is one; otherwise there are copies.
link unaligned.onnx other.sk aligned.o
expect_tasks other.sk 'nb nc'
"$sklink" unaligned.onnx aligned.o -o unaligned.sk --explain nb:copy >explained.txt
[ "$("$skdump" --steps unaligned.sk | grep -oE ' (nb|nc)(:copy)? ' | paste -sd' ' | tr -s ' ')" = \
	' nb nb:copy nc:copy nc ' ] ||
	fail "other copies: $("$skdump" --steps unaligned.sk)"
grep -qF "No kernel of Neg takes 'd' at byte 36 of 'g', since they need greater alignment." \
	explained.txt ||
	fail "nothing says why there is a copy: $(cat explained.txt)"
for package in unaligned-plain unaligned; do
	run $package.sk
	cmp unaligned-plain.sk.npy $package.sk.npy || fail "$package computes something else"
done

# ---- parts within parts ----
{
	echo 'opset 18
input x f32 1
output y f32 1101
node Neg n0 x -> c0'
	for ((i = 1; i <= 1100; i++)); do
		echo "constant k$i f32 1 $i"
		echo "node Add n$i x k$i -> d$i"
		echo "node Concat c$i c$((i - 1)) d$i -> c$i axis=0"
	done
	echo 'node Abs last c1100 -> y'
} | model nested
link nested.onnx nested.sk
[ "$("$skdump" --steps nested.sk | grep -c ' sk_copy')" = 2 ] ||
	fail "1100 Concats copy $("$skdump" --steps nested.sk | grep -c ' sk_copy') times"

# ---- graphs of GE's ----
described() { # NUMBER SHAPE: of an output
	printf 'attribute { name: "output_desc_dtype:%s" s: "DT_FLOAT" type: STRING } attribute { name: "output_desc_shape:%s" ints: [%s] type: INTS } ' "$1" "$1" "$2"
}
ge_model() { # IMPLY_TYPE: of one consumer
	printf '%s\n' 'ir_version: 6 producer_name: "GE" graph {' \
		"node { name: \"x\" op_type: \"ge:Data\" output: \"x:0\" $(described 0 '4, 8') }" \
		"node { name: \"p\" op_type: \"ge:Relu\" input: \"x:0\" output: \"p:0\" $(described 0 '4, 8') }" \
		"node { name: \"s\" op_type: \"ge:SplitVD\" input: \"p:0\" output: \"s:0\" output: \"s:1\"
			attribute { name: \"size_splits\" ints: [1, 3] type: INTS } attribute { name: \"split_dim\" i: -2 type: INT } attribute { name: \"num_split\" i: 2 type: INT }
			attribute { name: \"_no_task\" type: INT } attribute { name: \"_input_memory_type\" ints: 2 type: INTS } $(described 0 '1, 8') $(described 1 '3, 8') }" \
		"node { name: \"a\" op_type: \"ge:Neg\" input: \"s:0\" output: \"a:0\" attribute { name: \"imply_type\" i: $1 type: INT } attribute { name: \"atomic_output_index\" type: INTS } $(described 0 '1, 8') }" \
		"node { name: \"b\" op_type: \"ge:Exp\" input: \"s:1\" output: \"b:0\" attribute { name: \"imply_type\" i: 1 type: INT } attribute { name: \"continuous_input\" type: INT } $(described 0 '3, 8') }" \
		"node { name: \"c\" op_type: \"ge:ConcatD\" input: \"a:0\" input: \"b:0\" output: \"c:0\"
			attribute { name: \"concat_dim\" i: 0 type: INT } attribute { name: \"N\" i: 2 type: INT } $(described 0 '4, 8') }" \
		"node { name: \"u\" op_type: \"ge:Abs\" input: \"c:0\" output: \"y\" attribute { name: \"imply_type\" i: 1 type: INT } $(described 0 '4, 8') }" \
		'node { name: "out" op_type: "ge:NetOutput" input: "y" } }'
}
array x f32 4x8 0.5 -1 2 -0.25 3
ge_model 1 >ge.pbtxt
link ge.pbtxt ge.sk --fusion-target=ascend --fusion-flags=--opt_level=0 --dump-dir=ge-dumps
expect_tasks ge.sk 'a b p u'
grep -q '_FusionVirtualOpSetSwitch_' <<<"$(ls ge-dumps)" || fail "no dump of GE's graph: $(ls ge-dumps)"
ge_model 3 >ge3.pbtxt
link ge3.pbtxt ge3.sk --fusion-target=ascend --fusion-flags=--opt_level=0 --explain s >explained.txt
expect_tasks ge3.sk 'a b p s s#2 u'
grep -qF "Split has a task under FusionVirtualOpSetSwitch: 'a' takes an output, and its 'imply_type' is 3, not 1." \
	explained.txt ||
	fail "the constraint is not named: $(cat explained.txt)"
link ge3.pbtxt ge-host.sk
expect_tasks ge-host.sk 'a b p u'
# PhonySplit and PhonyConcat have lists of one axis, and never a task where bytes allow that.
sed -E 's/ge:SplitVD/ge:PhonySplit/; s/ge:ConcatD/ge:PhonyConcat/; s/attribute \{ name: "size_splits" [^}]*\}//
	s/name: "split_dim" i: -2 type: INT /name: "split_dim" ints: [-2] type: INTS /; s/name: "num_split" i: 2 type: INT /name: "num_split" ints: [2] type: INTS /
	s/name: "(concat_dim|N)" i: ([0-9]) type: INT /name: "\1" ints: [\2] type: INTS /; s/attribute \{ name: "_no_task"[^}]*\}/attribute { name: "keep_output_offset" i: 1 type: INT }/
	s/ints: \[(1|3), 8\]/ints: [2, 8]/g' ge3.pbtxt >phony.pbtxt
link phony.pbtxt phony.sk --fusion-target=ascend --fusion-flags=--opt_level=0
expect_tasks phony.sk 'a b p u'
link phony.pbtxt phony-off.sk --fusion-target=ascend \
	--fusion-flags='--opt_level=0 --disable_pass=FusionVirtualOpSetSwitch'
expect_tasks phony-off.sk 'a b c c#2 p s s#2 u'
run phony.sk
run phony-off.sk
cmp phony.sk.npy phony-off.sk.npy || fail "PhonySplit computes something else with a task"
for package in ge ge3 ge-host; do
	run $package.sk
	cmp ge.sk.npy $package.sk.npy || fail "$package computes something else"
done

# ---- what the file says of neighbours that passes replace or remove ----
# told NAME REASON: NAME.pbtxt has a split with a task for that reason, with passes and without; "": without a task. So
# does its dump after the last pass that changed it.
told() {
	local level last
	for level in 0 2; do
		rm -rf told
		link "$1.pbtxt" "$1.sk" --fusion-target=ascend --fusion-flags=--opt_level=$level --explain s \
			--dump-dir=told >explained.txt
		if [ -z "$2" ]; then
			! grep -q 'Split has a task' explained.txt || fail "$1, level $level: $(cat explained.txt)"
		else
			grep -q "Split has a task under FusionVirtualOpSetSwitch: .*$2" explained.txt ||
				fail "$1, level $level: no '$2' in: $(cat explained.txt)"
		fi
	done
	last=$(printf '%s\n' told/hwopt_stage*.pbtxt | tail -n 1)
	link "$last" "$1-again.sk" --fusion-target=ascend --explain s >again.txt
	[ "$(grep -c 'Split has a task' again.txt)" = "$(grep -c 'Split has a task' explained.txt)" ] ||
		fail "$1: another decision from $last: $(cat again.txt)"
	run "$1.sk"
	run "$1-again.sk"
	cmp "$1.sk.npy" "$1-again.sk.npy" || fail "$1 computes something else from $last"
}
# Sigmoid is expanded on ascend, and Identity removed.
note() { # NAME VALUE…: an attribute
	echo "attribute { name: \"$1\" ${*:2} } "
}
ge_model 1 | sed -E 's/"ge:(Relu|Neg)"/"ge:Sigmoid"/; /name: "s"/s/attribute \{ name: "_no_task" type: INT \}//' >plain.pbtxt
told plain ''
while IFS='|' read -r name node attribute reason; do
	sed -E "/name: \"$node\"/s/(output: \"$node:0\") /\1 $attribute/" plain.pbtxt >"$name.pbtxt"
	told "$name" "$reason"
done <<END
producer-task|p|$(note _no_task i: 1 type: INT)|has no task itself
producer-atomic|p|$(note atomic_output_index ints: 0 type: INTS)|has an 'atomic_output_index'
consumer-virtual|a|$(note _fusion_virtual_op s: '"x"' type: STRING)|has a '_fusion_virtual_op'
consumer-task|a|$(note _no_task i: 1 type: INT)|takes an output and has no task itself
consumer-continuous|a|$(note continuous_input i: 1 type: INT)|wants its inputs adjacent
END
sed '/name: "a"/s/"imply_type" i: 1/"imply_type" i: 3/' plain.pbtxt >consumer-type.pbtxt
told consumer-type "'imply_type' is 3, not 1"
# A neighbour that is removed is still one of the file.
sed '/name: "p"/{p; s/"p"/"q"/; s/ge:Sigmoid/ge:Identity/; s/"x:0"/"p:0"/; s/output: "p:0"/output: "q:0" '"$(note _no_task i: 1 type: INT)"'/}
	/name: "s"/s/input: "p:0"/input: "q:0"/' plain.pbtxt >removed.pbtxt
told removed "'q' has no task itself"
