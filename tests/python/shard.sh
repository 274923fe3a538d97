# sklink.shard: random models of blocks that transformers have, divided among 2 and 4 ranks, compute the same as the
# whole model (shard_models.py); models that cannot be divided are refused where that is so, and leave nothing behind.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
needs_python
. "$top_srcdir/tests/lib/shard.sh"
PYTHONPATH=$modules "$python" -W ignore "$top_srcdir/tests/python/shard_models.py" "$sklink" "$skrun" "$top_builddir/kernels" \
	"${MODELS:-3}" "${SEED:-1}"

# refused TEXT OPTION…: the model of standard input cannot be divided among two ranks.
refused() {
	text=$1
	shift
	model no
	! shard no.onnx --ranks 2 -o none "$@" >out.txt 2>err.txt || fail "not refused: $text"
	grep -q '^sklink.shard: error: no.onnx: ' err.txt && grep -qF -- "$text" err.txt || { cat err.txt >&2; fail "no error '$text'"; }
	[ ! -e none ] || fail "$text: something was left behind"
}
head='opset 21
input x f32 3x8
output y f32 none
constant w f32 8x6 0.5
constant v f32 6x8 0.25'
refused "node 'odd' (Det): its input 'b' is divided among the ranks along axis -1, and sklink.shard does not know how Det" <<LINES
$head
node MatMul product x w -> a
node Relu act a -> b
node Det odd b -> y
LINES
refused "it has nothing to divide among 2 ranks: no product with a constant" <<LINES
opset 21
input x f32 3x8
output y f32 none
node Relu act x -> y
LINES
refused "it has nothing to divide among 2 ranks: no product with a constant; 'product' stays whole: its 5 columns cannot" <<LINES
opset 21
input x f32 3x8
output y f32 none
constant w f32 8x5 0.5
node MatMul product x w -> y
LINES
refused "; 'product' stays whole: --whole says so" --whole 'prod*' <<LINES
$head
node MatMul product x w -> y
LINES
refused "--whole 'none*': no node has such a name" --whole 'none*' <<LINES
$head
node MatMul product x w -> y
LINES
refused "node 'noise' (RandomNormalLike): it draws random numbers" <<LINES
$head
node RandomNormalLike noise x -> r
node MatMul product r w -> y
LINES
refused "node 'sum' (com.microsoft:AllReduce): the model is for several ranks already" <<LINES
$head
opset 1 com.microsoft
node MatMul product x w -> a
node com.microsoft:AllReduce sum a -> y
LINES
printf '%s\n' "$head" 'node MatMul one x w -> a' 'node MatMul two a v -> y' | model two
shard two.onnx --ranks 2 -o two >out.txt
grep -q '^1 AllReduce and 0 AllGather$' out.txt && [ "$(ls two)" = "$(printf '%s\n' two.0.onnx two.1.onnx)" ] ||
	{ cat out.txt; fail "columns, then rows: $(ls two)"; }
echo nonsense >no.onnx
! shard no.onnx --ranks 2 -o none 2>err.txt && grep -q '^sklink.shard: error: no.onnx: it is not an ONNX file$' err.txt ||
	{ cat err.txt >&2; fail "a file that is none"; }
! shard absent.onnx --ranks 2 -o none 2>err.txt && grep -q '^sklink.shard: error: absent.onnx: No such file' err.txt ||
	{ cat err.txt >&2; fail "a file that is not there"; }
! shard two.onnx --ranks 1 -o none 2>err.txt && grep -q '1 ranks are not from 2 to 1024$' err.txt || fail "one rank"
! shard two.onnx --ranks 2 -o out.txt/sub 2>err.txt && grep -q '^sklink.shard: error: out.txt' err.txt ||
	{ cat err.txt >&2; fail "a folder that cannot be made"; }
