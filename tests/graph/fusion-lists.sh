# The operators that are expanded and fused, from flags to results: by target, and by each of the flags on lists.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
needs_python
unset SKLINK_GRAPH_KERNEL_FLAGS MS_DEV_GRAPH_KERNEL_FLAGS GLOG_v
kernels=(-L "$top_builddir/kernels" -lskernels)

model net <<'LINES'
opset 17
opset 1 mindspore
input x f32 Nx64
constant w f32 64x64 0.5 -0.25 0.125
constant two f32 scalar 2
output y f32 none
output s f32 none
output d f32 none
node mindspore:Square square x -> a
node Mul mul a two -> b
node Add add b x -> c
node MatMul product c w -> d
node Relu relu d -> y
node Softmax soft c -> s axis=-1
LINES
array x f32 4x64 0.5 -1 2 0.25
net=(net.onnx --dim N=4)
"$sklink" "${net[@]}" "${kernels[@]}" -o whole.sk --fusion-flags=--opt_level=0
"$skrun" whole.sk --input x=x.npy --output y=y.npy --output s=s.npy

# operators EXPECTED TEXT ARGUMENT…: with the flags, these operators are computed, and the results stay.
operators() {
	local expected=$1 text=$2
	shift 2
	rm -rf dumps
	"$sklink" "${net[@]}" "${kernels[@]}" -o out.sk --dump-dir dumps --fusion-flags "$text" "$@" \
		--scope-options "*=stream-order=1" 2>err.txt || {
		cat err.txt >&2; fail "$*"; }
	"$skrun" out.sk --input x=x.npy --output y=got.npy --output s=sgot.npy
	cmp y.npy got.npy || fail "y: $text $*"
	"$python" "$top_srcdir/tests/lib/models.py" sgot.npy s.npy || fail "s: $text $*"
	"$skdump" --steps out.sk | sed -nE 's/.* sk_([a-z]+)_.*/\1/p' | tr '\n' ' ' >operators.txt
	[ "$(cat operators.txt)" = "$expected " ] || fail "$text $*: not '$expected' but '$(cat operators.txt)'"
}

# together EXPECTED TEXT ARGUMENT…: with the flags, these nodes are in composites when all passes have run, sorted.
together() {
	local expected=$1 text=$2 last
	shift 2
	rm -rf dumps
	"$sklink" "${net[@]}" "${kernels[@]}" -o out.sk --dump-dir dumps --fusion-flags "$text" "$@" \
		--scope-options "*=stream-order=1" 2>err.txt || {
		cat err.txt >&2; fail "$*"; }
	last=$(ls dumps/hwopt_*cluster*.ir | sed 's/.*_\([0-9]*\)\.ir$/\1 &/' | sort -n | tail -n 1 | sed 's/^[0-9]* //')
	sed -nE 's/^node [0-9]+ "([^"]*)".* composite=.*/\1/p' "$last" | sort | tr '\n' ' ' >members.txt
	[ "$(cat members.txt)" = "$expected " ] || fail "$text $*: not '$expected' but '$(cat members.txt)' in $last"
}

# ---- expanded ----
operators "square mul add matmul relu softmax" "--opt_level=1"
operators "mul mul add matmul max softmax" "--opt_level=1" --fusion-target=cpu
operators "mul mul add matmul max reducemax sub exp reducesum div" "--opt_level=1 --enable_expand_ops=Softmax" \
	--fusion-target=cpu
operators "mul mul add matmul max reducemax sub exp reducesum div" "--opt_level=1" --fusion-target=gpu
operators "square mul add matmul max softmax" "--opt_level=1 --disable_expand_ops=Square" --fusion-target=cpu
# An operator that is both enabled and disabled is disabled.
operators "mul mul add matmul max softmax" "--opt_level=1 --enable_expand_ops=Softmax --disable_expand_ops=Softmax" \
	--fusion-target=cpu
operators "square mul add matmul max softmax" "--opt_level=1 --disable_expand_ops=Square --enable_expand_ops=Square" \
	--fusion-target=cpu
# Beside an _only list the other two are nothing.
operators "mul mul add matmul relu softmax" \
	"--opt_level=1 --enable_expand_ops_only=Square --enable_expand_ops=Softmax --disable_expand_ops=Square" \
	--fusion-target=cpu
operators "square mul add matmul max softmax" "--opt_level=1 --enable_expand_ops_only=Relu" --fusion-target=ascend
# Without the pass, or below its level, nothing is.
operators "square mul add matmul relu softmax" "--opt_level=1 --disable_pass=graph_kernel_expander" --fusion-target=cpu
operators "square mul add matmul relu softmax" "--opt_level=0" --fusion-target=cpu
# An operator without a rule, and an unknown one.
operators "square mul add matmul relu softmax" "--opt_level=1 --enable_expand_ops=Conv,Sofmax"
grep -q "^sklink: warning: --fusion-flags:1:1: operator 'Conv' stays whole: no rule says how to expand it$" err.txt ||
	fail "an operator without a rule"
grep -q "^sklink: warning: --fusion-flags:1:1: unknown operator 'Sofmax' in the flag enable_expand_ops; did you mean 'Softmax'?$" err.txt || fail "an unknown operator"
[ "$(wc -l <err.txt)" = 2 ] || { cat err.txt >&2; fail "more is said"; }

# ---- together ----
cpu="--opt_level=1 --disable_pass=graph_kernel_expander"
together "add mul" "$cpu" --fusion-target=cpu
together "add mul product" "$cpu --enable_cluster_ops=MatMul" --fusion-target=cpu
together "add mul" "$cpu --enable_cluster_ops=MatMul --disable_cluster_ops=MatMul" --fusion-target=cpu
together "add mul square" "$cpu --enable_cluster_ops=Square" --fusion-target=cpu
together "add mul square" \
	"$cpu --enable_cluster_ops_only=Square,Mul,Add --enable_cluster_ops=MatMul --disable_cluster_ops=Add" \
	--fusion-target=cpu
