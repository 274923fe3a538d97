#!/bin/bash
# Packages of models with sizes with bounds: at each size the results are those of a package that is linked for that
# size, on several numbers of cores and between guard pages. Models that no such package computes are refused.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
"${python:-false}" -c '' 2>err.txt || { echo "no python3 to compare results"; exit 77; }

# linked MODEL BOUNDS: MODEL.onnx, with a --dim for each word of BOUNDS, becomes dynamic.sk.
linked() {
	# shellcheck disable=SC2046 # words
	"$sklink" "$1.onnx" -L "$top_builddir/kernels" -lskernels $(printf -- '--dim %s ' $2) -o dynamic.sk 2>err.txt ||
		fail "$1 does not link: $(cat err.txt)"
	[ ! -s err.txt ] || fail "$1: $(cat err.txt)"
	"$skdump" --verify dynamic.sk >out.txt || fail "$1 is not proved: $(cat out.txt)"
	model=$1
}

kernels() {
	"$skdump" "$1" | awk '/^launch 0/ { on = 1 } /^memory/ { on = 0 } on && $1 ~ /^[0-9]+$/ { print $2, $3 }'
}

# alike FOLDER FOLDER: the same bits, or about the same numbers where kernels of other sizes add in another order.
alike() {
	local file
	for file in "$1"/*; do
		cmp -s "$file" "$2/${file##*/}" && continue
		! diff kernels.txt static-kernels.txt >/dev/null || return 1
		"$python" -c '
import array, sys
def numbers(path):
    data = open(path, "rb").read()
    start = 10 + int.from_bytes(data[8:10], "little")
    return data[:start], array.array("f", data[start:])
one, other = numbers(sys.argv[1]), numbers(sys.argv[2])
assert one[0] == other[0] and len(one[1]) == len(other[1])
assert all(abs(a - b) <= 1e-5 * max(1, abs(b)) for a, b in zip(one[1], other[1]))
' "$file" "$2/${file##*/}" || return 1
	done
}

# runs SIZES INPUTS…: at these sizes, "NAME=NUMBER" in words. Each input is NAME, and a shape of names of dimensions, of
# integers below 64; other inputs are random.
runs() {
	local dims input outputs=() inputs=() ways name shape count words
	# shellcheck disable=SC2046 # words
	dims=$(printf -- '--dim %s ' $1)
	words=$1
	shift
	for input; do
		name=${input%%:*} shape=${input#*:}
		for size in $words; do shape=${shape//${size%=*}/${size#*=}}; done
		count=$((${shape//x/*}))
		# shellcheck disable=SC2046 # words
		array "$name" i64 "$shape" $(seq "$count" | awk '{ print $1 * 37 % 64 }')
		inputs+=(--input "$name=$name.npy")
	done
	# shellcheck disable=SC2086 # words
	"$sklink" "$model.onnx" -L "$top_builddir/kernels" -lskernels $dims -o static.sk 2>err.txt || fail "$(cat err.txt)"
	kernels dynamic.sk >kernels.txt
	kernels static.sk >static-kernels.txt
	for output in $("$skrun" --list static.sk | awk '$1 == "output" { print $2 }'); do
		outputs+=(--output "$output=FOLDER/$output.npy")
	done
	rm -rf static dynamic
	mkdir static dynamic
	"$skrun" static.sk --random 1 "${inputs[@]}" "${outputs[@]/FOLDER/static}" >out.txt
	for ways in '--cores 1' '--cores 2' '--cores 3' '--cores 2 --guard'; do
		# shellcheck disable=SC2086 # words
		"$skrun" dynamic.sk --random 1 $ways $dims "${inputs[@]}" "${outputs[@]/FOLDER/dynamic}" >out.txt ||
			fail "$model does not run at $words: $ways"
		alike dynamic static || fail "$model: other results at $words: $ways"
	done
}

# At one row the reduction is of the same shape as at many.
model sums <<'END'
input x f32 Sx4
output y f32 none
constant axis i64 1 0
node ReduceSum _ x axis -> y keepdims=0
END
linked sums S=1..40
for size in 1 2 7 40; do runs "S=$size"; done

model rows <<'END'
input x f32 Sx16
output y f32 none
constant w f32 16x16 0.1
constant b f32 16 0.5
node MatMul _ x w -> a
node Add _ a b -> c
node Relu _ c -> d
node Softmax _ d -> y axis=-1
END
linked rows S=1..512
for size in 1 2 3 511 512 7 16 33 64 100 129 200 256 300 471; do runs S=$size; done

# Packed weights of more than 32 MiB precede other constants.
model large <<'END'
input ids i64 Sx1
output y f32 none
constant table f32 64x2900 0.5
constant w f32 2900x2900 0.25
node Gather _ table ids -> x axis=0
node MatMul _ x w -> y
END
linked large S=2..8
runs S=3 ids:Sx1

# Positions and masks are computed when the package runs.
model bert <<'END'
input ids i64 BxS
input mask f32 BxS
output y f32 none
output pooled f32 none
constant table f32 64x16 0.5
constant places f32 64x16 0.25
constant w f32 16x16 0.1
constant scale f32 16 1.5
constant bias f32 16 0.5
constant zero i64 scalar 0
constant one i64 scalar 1
constant axis i64 1 0
constant four i64 1 4
constant rest i64 1 -1
constant inner i64 2 1 2
constant low f32 scalar -10
node Shape _ ids -> shape
node Gather _ shape zero -> b axis=0
node Gather _ shape one -> l axis=0
node Unsqueeze _ b axis -> b1
node Unsqueeze _ l axis -> l1
node Range _ zero l one -> range
node Gather position places range -> positions axis=0
node Gather word table ids -> embedded axis=0
node Add sum embedded positions -> x
node LayerNormalization norm x scale bias -> n
node MatMul q n w -> q0
node MatMul k n w -> k0
node Concat _ b1 l1 four four -> split axis=0
node Reshape _ q0 split -> q1
node Reshape _ k0 split -> k1
node Transpose _ q1 -> q2 perm=[0,2,1,3]
node Transpose _ k1 -> k2 perm=[0,2,3,1]
node Transpose _ k1 -> v2 perm=[0,2,1,3]
node MatMul scores q2 k2 -> scored
node Unsqueeze _ mask inner -> wide
node Mul _ wide low -> masked
node Add _ scored masked -> whole
node Softmax _ whole -> soft axis=-1
node MatMul mix soft v2 -> mixed
node Transpose _ mixed -> back perm=[0,2,1,3]
node Concat _ b1 l1 rest -> joined axis=0
node Reshape _ back joined -> joint
node Add _ joint x -> again
node Gelu _ again -> y
node Gather first y zero -> pooled axis=1
END
linked bert 'B=1..8 S=1..64'
for size in '1 1' '1 64' '8 1' '8 64' '2 2' '1 2' '7 63' '3 17' '2 33' '5 9' '4 48' '6 31' '8 63' '3 5'; do
	runs "B=${size% *} S=${size#* }" ids:BxS
done
# Positions, which are added to each of the batch, are divided by rows, as are all tasks that share rows with them.
by_rows() { # PACKAGE PATTERN
	"$skdump" "$1" >out.txt
	grep -qE ' sum +sk_add_f32_cycle' out.txt || fail "no cycle of positions: $(cat out.txt)"
	grep -qE " word .* split $2, group tiles of " out.txt || fail "batches are not divided: $(cat out.txt)"
}
by_rows dynamic.sk 'B\*S in units of [124]'
"$sklink" bert.onnx -L "$top_builddir/kernels" -lskernels --dim B=2 --dim S=37 -o static.sk
by_rows static.sk '74 in [0-9]{2} units of [124]'

# Numbers that depend on sizes are written when the package runs: integers, booleans and reals; also where they are an
# output.
model scaled <<'END'
input x f32 Sx2
output y f32 none
output sum i64 none
output many bool none
constant one i64 scalar 1
constant four i64 scalar 4
node Shape _ x -> shape
node Cast factor shape -> real to=1
node Mul times x real -> scaled
node Gather rows shape one -> width axis=0
node ReduceSum _ shape -> sum keepdims=0
node Range places width sum one -> range
node Less few range four -> small
node ReduceMax any shape -> most keepdims=0
node Greater many most four -> many
node Cast _ small -> ones to=1
node ReduceSum _ ones -> count keepdims=0
node Add _ scaled count -> y
END
linked scaled S=2..8
for size in 2 3 4 5 8; do runs S=$size; done

# A part of a table, which is the whole table at the largest size, in one dimension and in two.
model table <<'END'
input x f32 1xS
output y f32 none
output z f32 none
constant row f32 1x16 0.5
constant square f32 1x1x16x16 0.25
constant zero i64 1 0
constant one i64 1 1
constant two i64 1 2
constant three i64 1 3
node Shape _ x -> shape
node Slice _ shape one two zero -> length
node Slice first row zero length one -> part
node Add _ x part -> y
node Slice _ square zero length two -> rows
node Slice second rows zero length three -> corner
node Mul _ corner part -> z
END
linked table S=2..16
for size in 2 3 15 16; do runs S=$size; done

model cut <<'END'
input x f32 Sx4
output y f32 none
constant zero i64 1 0
constant four i64 1 4
node Slice _ x zero four zero -> a
node Relu _ a -> y
END
linked cut S=1..8
for size in 1 3 4 5 8; do runs S=$size; done

# The last three rows, or all if there are fewer.
model last <<'END'
input x f32 BxSx4
output y f32 none
constant begin i64 1 -3
constant end i64 1 1000000
constant axis i64 1 1
node Slice _ x begin end axis -> a
node Relu _ a -> y
END
linked last 'B=1..3 S=1..8'
for size in '1 1' '3 2' '2 3' '3 4' '1 8'; do runs "B=${size% *} S=${size#* }"; done

# Sizes of 0: rows that are not there, and a past that is empty.
linked rows S=0..8
for size in 1 8; do runs S=$size; done
"$skrun" dynamic.sk --random 1 --dim S=0 --cores 2 --guard --output y=y.npy >out.txt || fail "nothing is not computed"
model past <<'END'
input x f32 BxSx8
input past f32 Bx2xPx4
output y f32 none
output present f32 none
constant split i64 4 0 0 2 4
constant joined i64 3 0 0 8
constant zero i64 1 0
constant far i64 1 100
constant two i64 1 2
node Reshape _ x split -> x1
node Transpose _ x1 -> q perm=[0,2,1,3]
node Concat keys past q -> present axis=2
node Slice _ present zero far two -> all
node Transpose _ all -> turned perm=[0,1,3,2]
node MatMul _ q turned -> scored
node Softmax _ scored -> soft axis=-1
node MatMul _ soft present -> mixed
node Transpose _ mixed -> back perm=[0,2,1,3]
node Reshape _ back joined -> y
END
linked past 'B=1..3 S=1..6 P=0..9'
for size in '1 1 0' '3 6 0' '2 3 0' '3 1 9' '2 5 4' '1 6 1'; do
	read -r b s p <<<"$size"
	runs "B=$b S=$s P=$p"
done

# Rows that are empty at one of three sizes: the proof looks at all three.
model append <<'END'
input past f32 BxPx6
input x f32 BxSx6
output y f32 none
node Concat _ past x -> all axis=1
node Neg _ all -> y
END
linked append 'B=2..3 S=3..40 P=0..2'
for size in '2 3 0' '3 40 0' '3 7 2' '2 40 1'; do
	read -r b s p <<<"$size"
	runs "B=$b S=$s P=$p"
done

# Which of a Cast and a Gather comes first is decided for the largest sizes: at some it would be otherwise.
model casts <<'END'
input x f32 BxSx6
output y f32 none
constant twice i64 2 0 0
node ArgMax _ x -> best axis=2 keepdims=1
node Cast _ best -> number to=1
node Gather _ number twice -> rows axis=0
node Neg _ rows -> y
END
linked casts 'B=1..4 S=1..12'
for size in '2 2' '4 12' '3 5'; do runs "B=${size% *} S=${size#* }"; done

# A scale is one fraction at all sizes.
for scale in 1.7 0.3 2.0; do
	for words in "mode='linear' coordinate_transformation_mode='align_corners'" "mode='nearest'" "mode='cubic'"; do
		model scaled <<-END
		opset 19
		input x f32 1x2xn
		output y f32 none
		constant scales f32 3 1 1 $scale
		node Resize _ x _ scales -> y $words
		END
		linked scaled n=4..60
		for n in 4 10 59; do
			runs n=$n
		done
	done
done

# ---- refusals ----

model scaled <<'END'
opset 19
input x f32 1x2xn
output y f32 none
constant scales f32 3 1 1 1.7
node Resize _ x _ scales -> y mode='linear'
END
refuses "an axis with bounds, of up to 300000 elements, cannot be scaled by 1.7: a fraction of smaller numbers is" \
	scaled --dim n=4..300000

model nothing <<'END'
input x f32 SxC
input w f32 Cx3
output y f32 none
node MatMul _ x w -> y
END
refuses "task 'y': at S=8, C=0 it would compute results from 'x', which has no elements; give 'C' bounds from 1 on: --dim 'C=1..8'$" \
	nothing --dim S=1..8 --dim C=0..8
for op in ReduceMax ReduceSum ReduceMean; do
	sed "s/OP/$op/" <<-'END' | model largest
	input x f32 SxC
	output y f32 none
	constant axis i64 1 1
	node OP _ x axis -> y keepdims=0
	END
	refuses "task 'y': at S=8, C=0 it would compute results from 'x', which has no elements; give 'C' bounds from 1 on: --dim 'C=1..8'$" \
		largest --dim S=1..8 --dim C=0..8
done
model soft <<'END'
input x f32 SxC
output y f32 none
node Softmax _ x -> y axis=1
END
refuses "task 'y': at S=8, C=0 it has nothing to compute, and would be called; give 'C' bounds from 1 on: --dim 'C=1..8'$" \
	soft --dim S=1..8 --dim C=0..8
model reversed <<'END'
input x f32 4xnx5
output y f32 none
constant begin i64 2 0 -1
constant end i64 2 2 -100
constant axes i64 2 1 2
constant steps i64 2 1 -1
node Slice _ x begin end axes steps -> y
END
refuses "task 'y': an element of its list is -1, which is negative; lists with other elements that depend on sizes must not have such ones$" \
	reversed --dim n=2..8
# Zeros in place of a bias are a constant, as in a package of one size.
model convolution <<'END'
input x f32 nx3x8x8
output y f32 none
constant w f32 16x3x3x3 1
node Conv _ x w -> y pads=[1,1,1,1]
END
"$sklink" convolution.onnx -L "$top_builddir/kernels" -lskernels --dim n=1..8 -o convolution.sk
[ "$("$skdump" --steps convolution.sk | grep -c '  sk_')" = 1 ] || fail "the bias is copied: $("$skdump" --steps convolution.sk)"
model half <<'END'
input x f32 nx4
output y f32 none
constant zero i64 scalar 0
constant two i64 scalar 2
constant axis i64 1 0
node Shape _ x -> shape
node Gather _ shape zero -> n axis=0
node Div _ n two -> k
node Unsqueeze _ k axis -> k1
node Slice _ x axis k1 axis -> v
node ReduceMax _ v axis -> y keepdims=0
END
refuses "task 'y': at n=1 it would compute results from 'x', which has no elements; give bounds without these sizes$" \
	half --dim n=1..8
linked half n=4..9

# Sizes of which a part is subtracted: the rest of a length after its half, in a slice and in unequal parts, and rows
# behind the first two, of which there are none at small lengths.
model rest <<'END'
input x f32 bxsx8
output y f32 none
output z f32 none
output w f32 none
constant first i64 1 1
constant second i64 1 2
constant one i64 1 1
constant two i64 1 2
constant end i64 1 1000000
constant flat i64 2 -1 8
node Shape _ x -> shape
node Slice _ shape first second -> size
node Add _ size one -> more
node Div _ more two -> half
node Slice _ x half end first -> part
node Neg rest part -> y
node Sub _ size half -> other
node Concat _ half other -> halves axis=0
node Split parts x halves -> p q axis=1
node Exp _ q -> e
node Concat swapped e p -> z axis=1
node Slice _ x two end first -> behind
node Reshape _ behind flat -> rows
node Relu positive rows -> w
END
linked rest 'b=1..4 s=1..40'
for sizes in 'b=4 s=40' 'b=3 s=17' 'b=2 s=6' 'b=1 s=5' 'b=3 s=4' 'b=4 s=3'; do
	runs "$sizes"
done
