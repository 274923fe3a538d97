# samples/tensor_parallel: the decoder on 2 and 4 ranks is right by numpy, has the same bits on all ranks and in each
# run, and a wrong part of the weights is noticed.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
needs_python
. "$top_srcdir/tests/lib/shard.sh"
decoder="$python $top_srcdir/samples/decoder/decoder.py"
steps="$python $top_srcdir/samples/tensor_parallel/tensor_parallel.py $skrun"

# linked RANKS NAME: packages of the models in the folder NAME.
linked() {
	for rank in $(seq 0 $(($1 - 1))); do
		"$sklink" "$2/model.$rank.onnx" @small/options --ranks "$1" -L "$top_builddir/kernels" -lskernels -o "$2.$rank.sk"
	done
}

$decoder make -n 2 --hidden 256 --heads 8 --shared 4 --between 384 --words 52 --context 24 small
for ranks in 2 4; do
	shard small/model.onnx --ranks $ranks -o on$ranks >out.txt || { cat out.txt; fail "$ranks ranks"; }
	grep -q '^5 AllReduce and 1 AllGather$' out.txt || { cat out.txt; fail "two sums a layer, and the embedding's"; }
	linked $ranks on$ranks
	"$skdump" --verify on$ranks.0.sk >out.txt || fail "not proved"
	$steps on$ranks on$ranks.%r.sk 6 logits.npy >out.txt || { cat out.txt; fail "$ranks ranks: no logits"; }
	$decoder check small logits.npy
	$steps on$ranks on$ranks.%r.sk 6 again.npy >out.txt
	cmp logits.npy again.npy || fail "another run has other bits"
done

# The same by primitive operators. There are fewer heads of keys than ranks: each rank takes the one that it needs.
$decoder make -n 1 --hidden 128 --heads 8 --shared 2 --between 96 --words 50 --context 16 --primitives small
shard small/model.onnx --ranks 4 -o primitives >out.txt
linked 4 primitives
$steps primitives primitives.%r.sk 4 logits.npy >out.txt
$decoder check small logits.npy

# A rank with the weights of another one.
cp primitives.0.sk primitives.3.sk
$steps primitives primitives.%r.sk 2 logits.npy >out.txt
fails_with '^step 0, logit ' $decoder check small logits.npy

# Heads of keys that cannot be divided, and heads of queries, which leave the attention whole.
$decoder make -n 1 --hidden 96 --heads 6 --shared 3 --between 96 --words 50 --context 16 small
fails_with "^sklink.shard: error: small/model.onnx: node 'layer.0/attention' \(Attention\): 3 heads of keys and values cannot be divided among 2 ranks" \
	shard small/model.onnx --ranks 2 -o none
[ ! -e none ] || fail "something was left behind"
shard small/model.onnx --ranks 4 -o four >out.txt
grep -q "^'layer.0/q' stays whole: node 'layer.0/q.heads' (Reshape) " out.txt || { cat out.txt; fail "nothing is said of heads"; }
