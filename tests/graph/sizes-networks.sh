#!/bin/bash
# Several networks with bounds of one model: dimensions of each, or of all; one copy of the weights; each computes the
# same as the package of its size alone.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"

# A cache that the caller keeps: `past` rows before, `seq` new ones.
model net <<'END'
input x f32 batchxseqx16
input past f32 batchxpastx16
output y f32 none
output present f32 none
constant w f32 16x16 1 2 -3 4 5 -6 7 8 9 -1 2 3
constant v f32 16x16 0.5 0.25 -1 3 0.125
constant scale f32 16 1.5
constant bias f32 16 0.5
constant shared f32 64x64 3 1 4 1 5 9 2 6
constant corner i64 1 0
constant sixteen i64 1 16
constant axis i64 1 1
node LayerNormalization norm x scale bias -> n
node MatMul query n w -> q
node MatMul key n v -> k
node Concat grow past k -> present axis=1
node Transpose _ present -> t perm=[0,2,1]
node MatMul scores q t -> s
node Softmax _ s -> p axis=-1
node MatMul mix p present -> m
node Slice _ shared corner sixteen axis -> part
node Slice _ part corner sixteen corner -> square
node MatMul out m square -> o
node Relu last o -> y
END
link() {
	local name=$1
	shift
	"$sklink" net.onnx -L "$top_builddir/kernels" -lskernels "$@" -o "$name.sk" 2>err.txt ||
		fail "$name does not link: $(cat err.txt)"
	[ ! -s err.txt ] || fail "$name: $(cat err.txt)"
}
link all --dim 'step:batch=1..4,seq=1,past=1..95' --dim 'prompt:batch=1..4,seq=2..64:2@32,past=1' \
	--dim one:batch=2,seq=3,past=5
proved all.sk
"$skdump" all.sk >all.txt
for line in 'step:batch +1\.\.4' 'step:past +1\.\.95' 'prompt:batch +1\.\.4' \
	'prompt:seq +2\.\.64, multiples of 2, usually 32'; do
	grep -qE "^  dimension $line" all.txt || fail "no '$line': $(cat all.txt)"
done
grep -q 'dimension one' all.txt && fail "a network of one size has dimensions"

# runs NETWORK SIZE…: the same bits as the package of these sizes, on 1 to 3 cores and between guard pages.
runs() {
	local network=$1 dims=() given=() way package
	shift
	for size; do
		dims+=(--dim "$size")
		grep -q "dimension $network:${size%=*} " all.txt && given+=(--dim "$size")
	done
	link static "${dims[@]}"
	"$skrun" static.sk --random 1 --output y=one.y.npy --output present=one.present.npy
	for way in '--cores 1' '--cores 2' '--cores 3' '--cores 2 --guard'; do
		"$skrun" all.sk --network "$network" ${given[@]+"${given[@]}"} --random 1 $way \
			--output y=y.npy --output present=present.npy || fail "$network $*: $way"
		cmp y.npy one.y.npy && cmp present.npy one.present.npy || fail "$network $*: $way: other results"
	done
}
runs step batch=4 seq=1 past=95
runs step batch=3 seq=1 past=17
runs step batch=2 seq=1 past=1
runs prompt batch=4 seq=64 past=1
runs prompt batch=3 seq=14 past=1
runs prompt batch=2 seq=2 past=1
runs one batch=2 seq=3 past=5
for network in step prompt; do
	"$skrun" all.sk --network $network --random 1 --verify --sizes 6 --cores 2 >out.txt || fail "$(cat out.txt)"
	[ "$(grep -c '^sizes ' out.txt)" = 6 ] || fail "not 6 sizes: $(cat out.txt)"
done

# A prompt, and steps behind it with its cache, as one network of each length does it.
"$make_model" x.npy f32 2x6x16 1 -2 3 0.5 -0.25 7 2
"$make_model" new.npy f32 2x1x16 2 -9 4 3
"$make_model" past.npy f32 2x1x16 0.5 3 1
"$skrun" all.sk --network prompt --input x=x.npy --input past=past.npy --output present=cache.npy >/dev/null
link prompt --dim batch=2 --dim seq=6 --dim past=1
"$skrun" prompt.sk --input x=x.npy --input past=past.npy --output present=want.npy >/dev/null
cmp cache.npy want.npy || fail "the prompt leaves another cache"
for past in 7 8 9; do
	link step --dim batch=2 --dim seq=1 --dim past=$past
	"$skrun" step.sk --input x=new.npy --input past=cache.npy --output y=want.y.npy --output present=want.npy >/dev/null
	"$skrun" all.sk --network step --input x=new.npy --input past=cache.npy --output y=y.npy \
		--output present=next.npy >/dev/null
	cmp y.npy want.y.npy && cmp next.npy want.npy || fail "another step after $past rows"
	mv next.npy cache.npy
done

# A cache that is a state: both networks have the memory of one capacity, and a run appends its rows in place. The steps
# of the one see the rows of the other, as a package of that size alone sees them in its input.
model state <<'END'
input x f32 1xseqx16
input past f32 1xpastx16
output y f32 none
output present f32 none
constant w f32 16x16 1 2 -3 4 5 -6 7 8 9 -1 2 3
constant v f32 16x16 0.5 0.25 -1 3 0.125
node MatMul query x w -> q
node MatMul key x v -> k
node Concat grow past k -> present axis=1
node Transpose _ present -> t perm=[0,2,1]
node MatMul scores q t -> s
node Softmax _ s -> p axis=-1
node MatMul mix p present -> m
node Relu last m -> y
END
"$sklink" state.onnx -L "$top_builddir/kernels" -lskernels --dim prompt:seq=2..16,past=0 --dim step:seq=2,past=1..30 \
	--state past=present:64 -o state.sk
proved state.sk
rows() { # FILE COUNT: the first rows of a cache
	"${python:-false}" -c 'import sys
data = open(sys.argv[1], "rb").read()
start = 10 + int.from_bytes(data[8:10], "little")
header = data[10:start].replace(b"(1, 64, 16)", b"(1, %d, 16)" % int(sys.argv[2])).rstrip().ljust(start - 11) + b"\n"
sys.stdout.buffer.write(data[:10] + header + data[start:start + int(sys.argv[2]) * 64])' "$1" "$2"
}
"$make_model" empty.npy f32 1x64x16 0
"$make_model" x.npy f32 1x5x16 1 -2 3 0.5 -0.25 7 2
"$make_model" new.npy f32 1x2x16 2 -9 4 3
"$skrun" state.sk --network prompt --dim seq=5 --input x=x.npy --input past=empty.npy --output past=cache.npy \
	--output y=y.npy >out.txt
for past in 5 7 9 11; do
	rows cache.npy $past >past.npy
	"$sklink" state.onnx -L "$top_builddir/kernels" -lskernels --dim seq=2 --dim past=$past -o alone.sk
	"$skrun" alone.sk --input x=new.npy --input past=past.npy --output y=want.y.npy --output present=want.npy >out.txt
	"$skrun" state.sk --network step --cores 2 --dim past=$past --input x=new.npy --input past=cache.npy \
		--output y=y.npy --output past=next.npy >out.txt || fail "no step after $past rows"
	rows next.npy $((past + 2)) >present.npy
	cmp y.npy want.y.npy && cmp present.npy want.npy || fail "another step after $past rows of the cache"
	mv next.npy cache.npy
done

# Constants are stored once.
constants() {
	"$skdump" "$1" | sed -nE 's/^  constants +([0-9]+) bytes.*/\1/p'
}
link one --dim batch=4 --dim seq=64 --dim past=1
[ "$(constants all.sk)" -gt 0 ] && [ "$(constants all.sk)" -le "$(($(constants one.sk) * 3 / 2))" ] ||
	fail "constants: $(constants all.sk) bytes, of one network $(constants one.sk)"

# Each network has its dumps, with the names of its dimensions. The one before all passes links with bounds again.
link dumped --dim 'step:batch=1..4,seq=1,past=1..95' --dim 'prompt:batch=1..4,seq=2..64:2@32,past=1' \
	--dim one:batch=2,seq=3,past=5 --dump-dir dumps
cmp all.sk dumped.sk || fail "dumps change the package"
dump=$(echo dumps/prompt/*_validate.pbtxt)
"$sklink" "$dump" -L "$top_builddir/kernels" -lskernels --dim batch=1..4 --dim seq=2..64:2@32 -o again.sk 2>err.txt ||
	fail "$dump: $(cat err.txt)"
"$skrun" again.sk --dim batch=3 --dim seq=14 --random 1 --output y=y.npy >out.txt
"$skrun" all.sk --network prompt --dim batch=3 --dim seq=14 --random 1 --output y=one.y.npy >out.txt
cmp y.npy one.y.npy || fail "$dump is another model"

# A manifest makes the same package.
cat >net.yaml <<'M'
sklink: 1
graph: net.onnx
dims: {step: {batch: 1..4, seq: 1, past: 1..95}, prompt: {batch: 1..4, seq: "2..64:2@32", past: 1}, one: {batch: 2, seq: 3, past: 5}}
M
"$sklink" net.yaml -L "$top_builddir/kernels" -lskernels -o manifest.sk
for package in all manifest; do
	"$skdump" --all $package.sk | sed 1d >$package.txt
done
cmp all.txt manifest.txt || fail "a manifest makes another package"

# Errors name the network.
refuses '>>> in network .b.' net --dim batch=2 --dim past=1 --dim a:seq=1..8 --dim b:seq=1..8:3
model sum <<'END'
input x f32 3xs
output y f32 none
constant axis i64 1 1
node ReduceSum _ x axis -> y keepdims=0
END
refuses "task 'b:y': at s=0 it would compute .*; give 's' bounds from 1 on: --dim 'b:s=1\.\.33'$" \
	sum --dim a:s=1..4 --dim b:s=0..33
# A dimension of one size keeps its name.
"$skrun" all.sk --network step --dim seq=1 --dim batch=2 --random 1 >out.txt || fail "step does not take its only length"
"$skrun" all.sk --network step --dim seq=2 2>err.txt && fail "step takes seq"
grep -q "seq is 2; package 'all.sk' takes 1 alone$" err.txt || fail "$(cat err.txt)"
grep -q '^  dimension step:seq  *1$' all.txt || fail "$(grep dimension all.txt)"
"$skrun" all.sk --network step --dim size=2 2>err.txt && fail "step takes size"
grep -q "package 'all.sk' has no such dimension; it has batch, past, seq$" err.txt || fail "$(cat err.txt)"
"$skrun" all.sk --network step --dim past=96 2>err.txt && fail "step takes 96 rows"
grep -q "past is 96; package 'all.sk' takes 1..95$" err.txt || fail "$(cat err.txt)"

# Input files that say two sizes of a dimension; --dim beside a file; negative sizes; another package's bounds.
model two <<'END'
input x f32 nx4
input z f32 nx4
output y f32 none
node Add a x z -> y
END
"$sklink" two.onnx -L "$top_builddir/kernels" -lskernels --dim n=1..8 -o two.sk
"$sklink" two.onnx -L "$top_builddir/kernels" -lskernels --dim n=2..12:2@4 -o other.sk
"$make_model" x.npy f32 3x4 1
"$make_model" z.npy f32 5x4 1
says() { # TEXT OPTION...
	local text=$1
	shift
	"$skrun" two.sk "$@" 2>err.txt && fail "no error: $text"
	echo "skrun: error: $text" | cmp - err.txt || fail "$(cat err.txt)"
}
says "n is 3 by the shape of input 'x' (x.npy), and 5 by that of input 'z' (z.npy)" --input x=x.npy --input z=z.npy
says '--dim n=4: by the shape of x.npy it is 3' --input x=x.npy --dim n=4
says '--dim n=-1: a size is not negative' --dim n=-1
refuses "two.onnx: --dim 'n=-1': a size is not negative$" two --dim n=-1
refuses "two.onnx: --dim 'n=-1..4': a size is not negative$" two --dim n=-1..4
refuses "a name with a quotation mark or a control character cannot have bounds$" two --dim $'n\tm=1..4'
"$skdump" --diff two.sk other.sk >diff.txt && fail "packages of other bounds are equal"
for line in 'bounds +1..8 -> 2..12' 'multiples of +1 -> 2' 'usually +8 -> 4'; do
	grep -qE "^! +dimension +n +$line$" diff.txt || fail "no '$line': $(cat diff.txt)"
done
