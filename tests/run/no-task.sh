# Split and Concat without a task: what is launched, what consumers read, what reports, explanations and dumps say, on each target, with
# the switch on and off. Results are compared with those of every value computed apart.
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
grep -qF 'Split has a task: FusionVirtualOpSetSwitch is off.' explained.txt || fail "nothing says why: $(cat explained.txt)"
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

# ---- what stands in the way on one target, and not on another one ----
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
	"Concat copies 'f': it is another part of the same bytes already" "Split copies 'h': its elements are no one run of bytes"; do
	grep -qF "$reason" explained.txt || fail "no '$reason' in: $(cat explained.txt)"
done
for reason in "Concat has a task under FusionVirtualOpSetSwitch: 'x' is an input of the network" \
	"Split has a task under FusionVirtualOpSetSwitch: 'out' takes an output, and its 'imply_type' is 0, not 1"; do
	grep -qF "$reason" ascend.txt || fail "no '$reason' in: $(cat ascend.txt)"
done
