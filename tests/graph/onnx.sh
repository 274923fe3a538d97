#!/bin/bash
# From a model file to numbers: small models are linked with the kernel library and run fused, task by task, serially,
# on several numbers of cores and on the simulated device. Errors in a model, or in the command line's options for it,
# are reported at their places, all at once, and no file is left.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
set -- -L "$top_builddir/kernels" -lskernels

# runs PACKAGE INPUTS OUTPUTS: with INPUT.npy for each input; each output is as in OUTPUT.want.npy, however it is run.
runs() {
	local package=$1 words=() name way
	for name in $2; do
		words+=(--input "$name=$name.npy")
	done
	for name in $3; do
		words+=(--output "$name=$name.got.npy")
	done
	for way in '' --unfused --serial '--cores 1' '--cores 2' '--cores 7' '--device a3'; do
		rm -f ./*.got.npy
		# shellcheck disable=SC2086 # words
		"$skrun" "$package" "${words[@]}" $way || fail "$package $way"
		for name in $3; do
			cmp "$name.got.npy" "$name.want.npy" || fail "$package $way: $name is wrong"
		done
	done
	"$skrun" "$package" --random 1 --verify >out.txt || { cat out.txt;
		fail "$package: results depend on how it is run"; }
	proved "$package"
}

# says TEXT: the last command's standard error is this.
says() {
	echo "$1" | diff - err.txt || fail "another message"
}

# Names of any text; a shape that is computed from shapes; outputs that are views, constants and inputs again; an unused
# input.
model shapes <<'END'
input x f32 2x3
input spare f32 2
output y f32 2x3
output /view:0 f32 3x2
output c f32 2
output same f32 2x3
constant w f32 3 1 2 3
constant c f32 2 5 6
constant half f32 scalar 0.5
constant 0 i64 1 0
constant 1 i64 1 1
constant 2 i64 1 2
node Add /layer.3/Add x w -> /layer.3/Add_output_0
node Add /layer.3/Add /layer.3/Add_output_0 half -> y
node Shape _ y -> shape
node Slice _ shape 1 2 -> columns
node Slice _ shape 0 1 -> rows
node Concat _ columns rows -> turned axis=0
node Reshape view y turned -> /view:0
node Identity _ x -> same
END
array x f32 2x3 1 2 3 4 5 6
array y.want f32 2x3 2.5 4.5 6.5 5.5 7.5 9.5
array c.want f32 2 5 6
cp x.npy same.want.npy
"$sklink" shapes.onnx "$@" -o shapes.sk 2>err.txt
says "sklink: warning: shapes.onnx: nothing uses input 'spare'; the package does not have it"
runs shapes.sk x 'y c same'
"$skrun" shapes.sk --input x=x.npy --input spare=nowhere.npy --output y=y.got.npy 2>err.txt
says "skrun: note: --input spare=nowhere.npy: nothing in the model uses this input; the file is not read"
cmp y.got.npy y.want.npy || fail "the run with an input that nothing uses"
! "$skrun" shapes.sk --input x=x.npy --input spar=x.npy 2>err.txt || fail "an input that the model does not have"
array view.want f32 3x2 2.5 4.5 6.5 5.5 7.5 9.5
"$skrun" shapes.sk --input x=x.npy --output /view:0=view.got.npy
cmp view.got.npy view.want.npy || fail "the view is wrong"
"$skdump" --steps shapes.sk >steps.txt
grep -q ' /layer.3/Add ' steps.txt && grep -q ' /layer.3/Add#2 ' steps.txt || fail "tasks have other names"

# An output that is an input by name, not by a node.
model both <<'END'
input x f32 2x3
output x f32 2x3
output y f32 2x3
node Add _ x x -> y
END
array y.want f32 2x3 2 4 6 8 10 12
"$sklink" both.onnx "$@" -o both.sk 2>err.txt
says "sklink: warning: both.onnx: output 'x' is also an input; the package has it as input only"
runs both.sk x y

# Numbers: tensors without dimensions.
model scalars <<'END'
input a f32 scalar
input b f32 scalar
output sum f32 scalar
node Add _ a b -> t
node Add _ t a -> sum
END
array a f32 scalar 1.5
array b f32 scalar 4
array sum.want f32 scalar 7
"$sklink" scalars.onnx "$@" -o scalars.sk
runs scalars.sk 'a b' sum

# Values that depend on constants alone are computed when linking.
model constants <<'END'
input x f32 4
output y f32 4
constant two f32 2x2 1 2 3 4
constant flat i64 1 4
node Transpose _ two -> turned perm=[1,0]
node Add _ turned two -> symmetric
node Reshape _ symmetric flat -> row
node Add only x row -> y
END
array x f32 4 100 200 300 400
array y.want f32 4 102 205 305 408
"$sklink" constants.onnx "$@" -o constants.sk
runs constants.sk x y
[ "$("$skdump" --steps constants.sk | grep -c '  split ')" = 1 ] || fail "constants are computed at run time"

# A value computed when linking may be an output that later nodes also read.
model kept <<'END'
input x f32 2x3
input i i64 2
output shape i64 2
output sum i64 2
output both i64 4
node Shape _ x -> shape
node Add _ shape i -> sum
node Concat _ shape i -> both axis=0
END
array i i64 2 10 20
array x f32 2x3 0
array shape.want i64 2 2 3
array sum.want i64 2 12 23
array both.want i64 4 2 3 10 20
"$sklink" kept.onnx "$@" -o kept.sk 2>err.txt
runs kept.sk i 'shape sum both'

# A value that depends on constants alone may also be an output: it is computed once, by the same kernels whether it is
# an output or not.
model square <<'END'
input x f32 2x2
output square f32 2x2
output y f32 2x2
constant w f32 2x2 1 2 3 4
node MatMul product w w -> square
node Add only square x -> y
END
array x f32 2x2 1 1 1 1
array square.want f32 2x2 7 10 15 22
array y.want f32 2x2 8 11 16 23
"$sklink" square.onnx "$@" -o square.sk
runs square.sk x 'square y'
"$skdump" --steps square.sk >steps.txt
! grep matmul steps.txt || fail "a product of constants is computed at run time"

# Constants of the same bytes and other types.
model zeros <<'END'
input x f32 2
input i i32 2
output y f32 2
output z i32 2
constant f f32 2 0 0
constant g i32 2 0 0
node Add _ x f -> y
node Add _ i g -> z
END
array x f32 2 1 2
array i i32 2 3 4
cp x.npy y.want.npy
cp i.npy z.want.npy
"$sklink" zeros.onnx "$@" -o zeros.sk
runs zeros.sk 'x i' 'y z'

# An unused result of a kernel is not an output, at run time and of constants.
model unread <<'END'
input x f32 2x3
output places i64 2x1
output fixed i64 2x1
output shape i64 2
constant one i64 1 1
constant c f32 2x3 1 3 2 6 5 4
node TopK _ x one -> most places
node TopK _ c one -> highest fixed
node Shape _ most -> shape
node Shape _ highest -> spare
END
array x f32 2x3 7 8 9 3 2 1
array places.want i64 2x1 2 0
array fixed.want i64 2x1 1 0
array shape.want i64 2 2 1
"$sklink" unread.onnx "$@" -o unread.sk
runs unread.sk x 'places fixed shape'
"$skdump" --bindings unread.sk >bindings.txt
! grep most bindings.txt || fail "a value that nobody reads became an output"

# A mean of several inputs, and a concatenation in which one input has all elements.
model few <<'END'
input a f32 2x2x1
input none f32 2x0x1
output mean f32 2x2x1
output joined f32 2x2x1
constant b f32 2x2x1 5 5 5 5
node Mean _ a b b -> mean
node Concat _ none a -> joined axis=1
END
array a f32 2x2x1 2 5 8 11
array mean.want f32 2x2x1 4 5 6 7
cp a.npy joined.want.npy
"$sklink" few.onnx "$@" -o few.sk 2>err.txt
runs few.sk a 'mean joined'

# Dimensions that the model leaves open.
model open <<'END'
input x f32 batchx3
input y f32 none
output z f32 none
node Add _ x y -> z
END
array x f32 2x3 1 2 3 4 5 6
array y f32 3 10 20 30
array z.want f32 2x3 11 22 33 14 25 36
"$sklink" open.onnx "$@" --shape x=2x3 --shape y=3 -o open.sk
runs open.sk 'x y' z
"$sklink" open.onnx "$@" --dim batch=2 --freeze y=y.npy -o open.sk
runs open.sk x z
refuses "the sizes of input 'x' and 1 more are not known .*; say them, with a number for each N: --dim 'batch=N' --shape 'y=1x128'$" open
printf '%s\n' ">>> batch: dimension 0 of 'x'; perhaps the batch size" \
	">>> input 'y': the model does not say how many dimensions it has" \
	">>> for any size, give bounds such as --dim NAME=1..64; --shape takes names of dimensions too" |
	diff - <(grep '^>>>' err.txt) >&2 || fail "the notes on open sizes"
# If names have several sizes, or none, --dim is not proposed for each.
cat >unnamed.onnx <<'END'
ir_version: 8
opset_import { version: 17 }
graph {
  name: "g"
  node { op_type: "Neg" input: "x" output: "y" }
  input { name: "x" type { tensor_type { elem_type: 1 shape {
    dim { dim_param: "?" } dim { dim_value: 3 } dim { dim_param: "?" } dim { dim_param: "n" } dim { dim_param: "n" } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 } } }
}
END
refuses "input 'x' are not known when linking; say them, with a number for each N: --dim 'n=N' --shape 'x=Nx3xNxNxN'$" unnamed
grep -q ">>> input 'x': \[?, 3, ?, n, n\]" err.txt || fail "the shape with open sizes"
# Names for sizes that have none, and others for those that have.
"$sklink" unnamed.onnx "$@" --shape x=bx3x4xnxn --dim b=2 --dim n=1 -o open.sk
"$skrun" --list open.sk | grep -q '\[2, 3, 4, 1, 1\]' || fail "sizes by names in --shape"
"$sklink" unnamed.onnx "$@" --shape x=batchx3xwidthxrow_1xrow_1 --dim batch=2 --dim width=5 --dim row_1=1..4 -o open.sk
"$skrun" --list --dim row_1=3 open.sk | grep -q '\[2, 3, 5, 3, 3\]' || fail "bounds of a name in --shape"
refuses "--shape 'x=bxcx1x1x1': the shape of input 'x' is \[\?, 3, \?, \?, \?\]$" unnamed --shape x=bxcx1x1x1
refuses "--shape 'x=b-1x3x1x1x1': 'b-1x3x1x1x1' is not a shape; write at most 8 numbers or names " unnamed --shape x=b-1x3x1x1x1

# Names that are expressions of other names, as exporters write them, and sizes that the command line computes.
model sums <<'END'
input a f32 pastx2
input b f32 seqx2
input c f32 past+seqx2
input d f32 (seq+1)*2//3x2
input e f32 totalx2
input f f32 batch-sizex2
output y f32 none
node Concat _ a b c d e f -> y axis=0
END
sums() {
	"$sklink" sums.onnx "${kernels[@]}" --dim batch-size=1 "$@" -o sums.sk
	"$skdump" sums.sk | awk '$2 ~ /^[a-f]$/ && $3 == "input" { print $5 $6 }' | tr '\n' ' '
}
kernels=("$@")
for options in '--dim past=3 --dim seq=4 --dim total=past+seq' '--dim total=past+seq --dim seq=past+1 --dim past=3' \
	'--shape a=3x2 --dim seq=4 --dim total=7'; do
	shapes=$(sums $options)
	[ "$shapes" = '[3,2] [4,2] [7,2] [3,2] [7,2] [1,2] ' ] || fail "$options: $shapes"
done
refuses "input 'c': dimension 0 is 9, but 'past\+seq' is 7$" sums --dim past=3 --dim seq=4 --dim past+seq=9
refuses "input 'c': dimension 0 is 9, but 'past\+seq' is 7$" sums --dim past=3 --dim seq=4 --shape c=9x2
sed "s/dim_param: \"n\" } dim { dim_param: \"n\"/dim_param: \"n\" } dim { dim_param: \"n + 1\"/; s/\"?\"/\"n\"/g" unnamed.onnx >spaced.onnx
"$sklink" spaced.onnx "$@" --dim n=2 -o spaced.sk
"$skdump" spaced.sk | grep -q 'x .*\[2, 3, 2, 2, 3\]' || fail "a sum with blanks"
refuses "the sizes of input 'a' and 5 more .*: --dim 'past=N' --dim 'seq=N' --dim 'total=N' --dim 'batch-size=N'$" sums
refuses "the sizes of input 'b' and 4 more .*: --dim 'seq=N' --dim 'batch-size=N'$" sums --dim past=3 \
	--dim total=past+seq
# A name that stands for another one, and equal sizes under several names, as exporters number them.
[ "$(sums --dim past=3 --dim seq=past --dim total=6 --dim batch-size=1)" = '[3,2] [3,2] [6,2] [2,2] [6,2] [1,2] ' ] ||
	fail "a name that stands for another one"
[ "$(sums --dim seq=batch-size --dim past=3 --dim total=past)" = '[3,2] [1,2] [4,2] [1,2] [3,2] [1,2] ' ] &&
	[ "$(sums --dim seq=4 --dim past=3 --dim total=batch-size)" = '[3,2] [4,2] [7,2] [3,2] [1,2] [1,2] ' ] ||
	fail "a name that stands for one of other characters"
model numbered <<'END'
input ids i64 s0xs1
input attention_mask i64 s2xs3
input past.key f32 s4x2xpast.key_dim_2x4
input past.value f32 s0x2xunk__7x4
input encoder_mask i64 dim_1xs8
input encoder_states f32 s0xs9x4
input pixel_values f32 s10x3xs11xs12
input sample f32 s13
output y f32 none
node Cast _ ids -> a to=1
node Cast _ attention_mask -> b to=1
node Cast _ encoder_mask -> c to=1
node Sum _ a b c past.key past.value encoder_states pixel_values sample -> y
END
same="--dim 's0=N' --dim 's1=N' --dim 's2=s0' --dim 's3=past.key_dim_2\\+s1' --dim 's4=s0'"
same+=" --dim 'past.key_dim_2=N' --dim 'unk__7=past.key_dim_2' --dim 'dim_1=s0' --dim 's8=N'"
same+=" --dim 's9=s8' --dim 's10=N' --dim 's11=N' --dim 's12=N' --dim 's13=s0'"
refuses "the sizes of input 'ids' and 7 more .*: $same$" numbered
grep -q "^>>> s0: dimension 0 of 'ids', dimension 0 of 'attention_mask', dimension 0 of 'past.key' and 4 more; perhaps the batch size$" \
	err.txt || fail "the note on equal sizes"
grep -q "^>>> s3: dimension 1 of 'attention_mask'; perhaps the length with the past$" err.txt || fail "the note on a sum"
grep -q "^>>> the file numbers its dimensions; which of them are equal, or sums, is a guess " err.txt || fail "a guess"
# An error shows 256 names of 5,000 and notes on 32, and the size of a hostile name limits the work on it.
awk 'BEGIN {
	print "ir_version: 8 opset_import { version: 17 } graph { name: \"g\""
	for (i = 0; i < 5000; i++) {
		print "node { op_type: \"Neg\" input: \"x" i "\" output: \"y" i "\" }"
		print "output { name: \"y" i "\" type { tensor_type { elem_type: 1 } } }"
		print "input { name: \"x" i "\" type { tensor_type { elem_type: 1 shape { dim { dim_param: \"d" i "\" } } } } }"
	}
	print "}"
}' >many.onnx
refuses "the sizes of input 'x0' and 4999 more .*: --dim 'd0=N' .* --dim 'd255=N' and 4744 more$" many
[ "$(grep -c '^>>>' err.txt)" = 33 ] || fail "$(grep -c '^>>>' err.txt) notes on open sizes"
{ printf '(%.0s' $(seq 100); printf n; printf ')%.0s' $(seq 100); } >deep.txt
sed "s/\"n\" } dim { dim_param: \"n\"/\"n\" } dim { dim_param: \"$(cat deep.txt)\"/; s/\"?\"/\"n\"/g" unnamed.onnx >deep.onnx
refuses "the sizes of input 'x' .*: --dim 'n=N' --dim '\(+n\)+=N'$" deep
refuses "--dim 'total=past-5': 'past-5' is not a size: it is negative or too large$" sums --dim past=3 --dim total=past-5
refuses "--dim 'total=past\*\*2' is not NAME=NUMBER, bounds such as 1..512, or an expression of names" sums --dim 'total=past**2'
refuses "--dim 'total=9223372036854775807\*past': .* is not a size" sums --dim past=3 --dim 'total=9223372036854775807*past'
refuses "--dim 'total=seq//\(past-3\)': .* is not a size" sums --dim past=3 --dim seq=3 --dim 'total=seq//(past-3)'
refuses "^sklink: error: open.onnx: --shape 'x=2x4': the shape of input 'x' is \[\?, 3\]$" open --shape x=2x4 --shape \
	y=3
refuses "^sklink: error: open.onnx: --shape 'x=': the shape of input 'x' is \[\?, 3\]$" open --shape x= --shape y=3
refuses "^sklink: error: open.onnx: --shape 'x=2x3x1': the shape of input 'x' is" open --shape x=2x3x1 --shape y=3
for shape in 2x 2xx3 x2 2x-3 +2x3 ' 2x3' 2x3y 9223372036854775808 1x1x1x1x1x1x1x1x1; do
	refuses "--shape 'y=.*': '.*' is not a shape; write at most 8 numbers or names with x between them, such as 1x128x1024 or batchx128$" \
		open --dim batch=2 --shape "y=$shape"
done
refuses "--shape 'y=4294967296x4294967296': input 'y' would be larger than 2\^63 bytes" open --shape \
	y=4294967296x4294967296 --dim batch=2
refuses "--shape 'y=4294967296x0x4294967296': input 'y' would be larger than 2\^63 bytes" open --shape \
	y=4294967296x0x4294967296 --dim batch=2
refuses "--dim 'batch=4611686018427387904': input 'x' would be larger than 2\^63 bytes" open --shape y=3 --dim \
	batch=4611686018427387904
refuses "--dim 'bach=2': no input has a dimension of that name; did you mean 'batch'\?" open --shape y=3 --dim bach=2
refuses "--dim 'batch=2': the shape of input 'x' is \[3, 3\]" open --shape y=3 --dim batch=3 --dim batch=2
refuses "--dim 'batch=2': the shape of input 'x' is \[3, 3\]" open --shape y=3 --shape x=3x3 --dim batch=2
for text in batch batch= batch=a batch=1x2 batch=9223372036854775808; do
	refuses "--dim '$text' is not NAME=NUMBER, bounds such as 1..512, or an expression" open --dim "$text"
done
refuses "--dim 'batch=-1': a size is not negative" open --dim batch=-1
# Sizes with bounds.
bounds_end="; GE's dumps \\(DUMP_GE_GRAPH\\) have no sizes with bounds; give the dimensions numbers, or use --dump-dir=DIR.*$"
# takes TEXT ARGUMENT…: the sizes of sums.onnx are taken, up to an option that refuses them.
takes() {
	DUMP_GE_GRAPH=2 refuses "$1$bounds_end" sums "${@:2}"
}
takes "input 'a': dimension 0 is 'past', from 0 to 8" --dim past=0..8 --dim seq=1..4 --dim \
	total=past+seq --dim batch-size=1
takes "input 'b': dimension 0 is 'seq', from 2 to 16" --dim past=3 --dim seq=2..16:2@8 --dim \
	total=past+seq --dim batch-size=1
takes "input 'f': dimension 0 is '\"batch-size\"', from 1 to 8" --dim batch-size=1..8 --dim seq=2 --dim \
	total=past+seq --dim past=1
takes "input 'b': dimension 0 is 'seq', from 1 to 4" --dim past=1 --dim seq=1..4 --dim total=seq --dim batch-size=1
refuses "--dim 'batch-size=total': beside sizes with bounds, 'total' is to be written as 'seq'$" sums --dim past=1 \
	--dim seq=1..4 --dim total=seq --dim batch-size=total
refuses "--dim 'batch-size=total\+1': beside sizes with bounds, 'total' is to be written as 'past\+seq'$" sums --dim \
	past=0..8 --dim seq=1..4 --dim total=past+seq --dim batch-size=total+1
takes "input 'a': dimension 0 is 'past', from 0 to 8" --dim past=0..8 --dim total=past+2 --dim seq=2 \
	--dim batch-size=1
[ "$(sums --dim past=3..3 --dim seq=4:2 --dim total=past+seq)" = '[3,2] [4,2] [7,2] [3,2] [7,2] [1,2] ' ] ||
	fail "bounds of one number"
sed 's/dim_param: "n" } dim { dim_param: "n"/dim_param: "n" } dim { dim_param: "9-n"/; s/"?"/"n"/g' unnamed.onnx >shrinks.onnx
refuses "input 'x': dimension 4 is '9-n', which shrinks when a dimension grows$" shrinks --dim n=2..4
refuses "input 'x': dimension 4 is '9-n', which is negative or too large$" shrinks --dim n=2..10
sed 's/9-n/8\/\/n/' shrinks.onnx >divides.onnx
refuses "input 'x': dimension 4 is '8//n': a divisor is not always positive$" divides --dim n=0..4
sed 's/"n"/"total"/g; s/9-n/2*total/; s/dim_param: "total"/dim_param: "past"/' shrinks.onnx >computed.onnx
DUMP_GE_GRAPH=2 refuses "output 'y' would be \[past, 3, past\+1, past\+1, 2\*past\+2\]$" computed --dim past=0..8 \
	--dim total=past+1
DUMP_GE_GRAPH=2 refuses "output 'y' would be \[past, 3, past, past, 2\*past\]$" computed --dim past=0..8 --dim total=past
takes "input 'a': dimension 0 is 'past', from 0 to 8" --dim \
	'p:past=0..8,seq=4,total=past+seq,batch-size=1' --dim 'q:past=1,seq=2,total=3,batch-size=total+1'
refuses "--dim 'batch=1..8:3': 3 does not divide both 1 and 8$" open --shape y=3 --dim batch=1..8:3
refuses "--dim 'batch=8..1': the least size 8 is larger than 1$" open --shape y=3 --dim batch=8..1
refuses "--dim 'batch=1..': '1..' is not LO..HI\[:MULTIPLE\]\[@USUAL\], of numbers" open --shape y=3 --dim batch=1..
refuses "--dim 'batch=1..8': the dimension has a size already$" open --shape y=3 --shape x=8x3 --dim batch=1..8
refuses "--dim 'batch=8': the dimension has bounds already$" open --shape y=3 --dim batch=1..8 --dim batch=8
refuses "--dim 'bach=1..8': no input has a dimension of that name; did you mean 'batch'\?" open --shape y=3 --dim bach=1..8
refuses "input 'x' is a constant of one shape, and its dimension 0, 'batch', has bounds$" open --shape y=3 --dim \
	batch=1..2 --freeze x=x.npy
printf 'sklink: 1\ngraph: sums.onnx\ndims: {past: 0..8, seq: 2, total: 3, batch-size: 1}\n' >bounds.yaml
! DUMP_GE_GRAPH=2 "$sklink" bounds.yaml "$@" -o bounds.sk 2>err.txt || fail "bounds in a manifest"
grep -qE "input 'a': dimension 0 is 'past', from 0 to 8$bounds_end" err.txt || fail "$(cat err.txt)"
refuses "--shape 'x' is not INPUT=AxBxC" open --shape x
refuses "--freeze 'y' is not INPUT=FILE.npy" open --freeze y
refuses "--shape 'xx=3': the model has no input 'xx'; did you mean 'x'\?" open --shape xx=3
refuses "--freeze 'y=1.5.2': '1.5.2' is not a number of type f32" open --freeze y=1.5.2
refuses "--freeze 'y=y.npy': input 'y' is frozen already" open --freeze y=y.npy --freeze y=y.npy
refuses "none.npy: No such file" open --freeze y=none.npy
refuses "open.onnx: not a .npy file" open --freeze y=open.onnx
array doubles f64 3 1 2 3
refuses "doubles.npy: the elements are '<f8' \(f64\), wanted is f32" open --freeze y=doubles.npy
refuses "^sklink: error: y.npy: the shape is \[3\], but that of input 'x' is \[\?, 3\]$" open --freeze x=y.npy
"$sklink" open.onnx "$@" --shape y=3 --freeze x=x.npy -o out.sk
refuses "output 'z' is f32 \[2, 3\], but .*|\[2, 3\] and \[4\] cannot be broadcast" open --dim batch=2 --shape y=4

# Shapes that a file declares for outputs of nodes may be stale: the computed shape counts, with a warning for all inner
# values, and one for each output. Another type is an error.
model stale <<'END'
input x f32 batchx3
info e f32 1
info n f32 batchx3
info a f32 2x4
output y f32 1x3
output z f32 none
node Neg _ x -> e
node Neg _ e -> n
node Abs _ n -> a
node Neg _ a -> y
node Relu _ a -> z
END
"$sklink" stale.onnx "$@" --dim batch=2 -o stale.sk 2>err.txt
cat >expected.txt <<'END'
sklink: warning: stale.onnx: value 'e' and 1 more: its shape is [2, 3], and not [1] as the model declares
sklink: warning: stale.onnx: output 'y': its shape is [2, 3], and not [1, 3] as the model declares
END
diff -u expected.txt err.txt || fail "other warnings"
array y.want f32 2x3 -1 -2 -3 -4 -5 -6
array z.want f32 2x3 1 2 3 4 5 6
runs stale.sk x 'y z'
refuses "output 'y': its shape is \[2, 3\]" stale --dim batch=2 --fatal-warnings
model mistyped <<'END'
input x f32 3
info n i64 3
output y f32 3
node Neg minus x -> n
node Abs _ n -> y
END
refuses "node 'minus' \(Neg\): output 'n' is f32, but the model says i64" mistyped

# An auto_pad that is empty is none.
model unset <<'END'
input image f32 1x1x3x3
output c f32 1x1x2x2
output p f32 1x1x2x2
output t f32 1x1x3x3
constant w f32 1x1x2x2 1 2 3 4
node Conv _ image w -> c auto_pad=''
node MaxPool _ image -> p auto_pad='' kernel_shape=[2,2]
node ConvTranspose _ c w -> t auto_pad=''
END
array image f32 1x1x3x3 1
array c.want f32 1x1x2x2 10
array p.want f32 1x1x2x2 1
array t.want f32 1x1x3x3 10 30 20 40 100 60 30 70 40
"$sklink" unset.onnx "$@" -o unset.sk
runs unset.sk image 'c p t'

# Shapes that only inputs tell.
model demands <<'END'
input x f32 2x3
input shape i64 2
output y f32 none
node Reshape turn x shape -> y
END
array shape i64 2 3 -1
array x f32 2x3 1 2 3 4 5 6
array y.want f32 3x2 1 2 3 4 5 6
refuses "^sklink: error: demands.onnx: node 'turn' \(Reshape\): the shape of its outputs depends on the elements of 'shape', .*--freeze 'shape=FILE.npy'$" demands
refuses "--freeze 'shap=shape.npy': the model has no input 'shap'; did you mean 'shape'\?" demands --freeze \
	shap=shape.npy
"$sklink" demands.onnx "$@" --freeze shape=shape.npy -o demands.sk
runs demands.sk x y

# The error for values that data decide names the inputs of the model.
model several <<'END'
input a i64 2
input b i64 2
input c i64 2
input d i64 2
input x f32 4
output y f32 none
output z f32 none
node Add _ a b -> e
node Add _ c d -> f
node Add _ e f -> g
node Reshape first x g -> y
node Reshape second x e -> z
END
refuses "node 'first' .* elements of 'g', computed from inputs 'a', 'b' and 2 more, .*freeze them: --freeze 'a=FILE.npy' --freeze 'b=FILE.npy'$" several
grep -q "node 'second' .* elements of 'e', computed from inputs 'a' and 'b', and has to be known" err.txt ||
	fail "the inputs of the second"
refuses "y.npy: the elements are '<f4' .f32., wanted is i64" \
	several --freeze g=y.npy
cat >branches.onnx <<'END'
ir_version: 8
opset_import { version: 17 }
graph {
  name: "g"
  node { op_type: "ReduceMax" input: "x" output: "most" attribute { name: "keepdims" i: 0 type: INT } }
  node { op_type: "Cast" input: "most" output: "chosen" attribute { name: "to" i: 9 type: INT } }
  node {
    name: "choose" op_type: "If" input: "chosen" output: "y"
    attribute { name: "then_branch" type: GRAPH g { node { op_type: "Neg" input: "x" output: "a" } output { name: "a" } } }
    attribute { name: "else_branch" type: GRAPH g { node { op_type: "Abs" input: "x" output: "b" } output { name: "b" } } }
  }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 4 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 } } }
}
END
refuses "'choose' \(If\): which branch is taken depends on .* 'chosen', computed from input 'x', .*--freeze 'x=FILE.npy', or --freeze 'chosen=true'; otherwise .* with Where$" branches

# A number that is out of range is known when linking if it is a constant.
model range <<'END'
input x f32 4x3
output a f32 none
output b f32 none
output c f32 none
constant numbers i64 2 0 3
constant places i64 2x1 -4 -5
constant tuples i64 2x2 3 2 0 -4
node Gather gather x numbers -> a axis=1
node GatherElements elements x places -> b
node GatherND nd x tuples -> c
END
refuses "'gather' \(Gather\): index 3 of 'numbers' is out of range: axis 1 of 'x' has 3 elements$" range
grep -q "'elements' (GatherElements): index -5 of 'places' is out of range: axis 0 of 'x' has 4 elements" err.txt ||
	fail "GatherElements"
grep -q "'nd' (GatherND): index -4 of 'tuples' is out of range: axis 1 of 'x' has 3 elements" err.txt || fail "GatherND"

# If a dimension is 0, nothing is left.
model empty <<'END'
input x f32 batchx3
output y f32 none
node Neg _ x -> y
END
"$sklink" empty.onnx "$@" --dim batch=0 -o empty.sk 2>err.txt
grep -q "warning: empty.onnx: nothing is left to compute: output 'y' is \[0, 3\]" err.txt || { cat err.txt;
	fail "a batch of 0"; }

# All missing things are reported at once.
model wrong <<'END'
input x f32 2x3
input i i32 2x3
output a f32 none
output b f32 none
output c f32 none
output d f32 none
output e f32 none
output f f32 none
node Nonsense first x -> a
node Ad second x -> b
node org.acme:Add third x -> b2
node org.acme:Gelu seventh x -> f
node Add fourth x b2 x -> c
node Concat fifth x x -> d axis=1.5
node Add sixth x i -> e
END
fails_with . "$sklink" --check wrong.onnx "$@"
sed 's/; the .*//' err.txt >lines.txt
for line in "node 'first' (Nonsense): there is no operator 'Nonsense'" "node 'second' (Ad): there is no operator 'Ad'" \
	"did you mean 'Add'?" "; the domain '' has one of this name" \
		"node 'third' (Add): there is no operator 'Add' in the domain 'org.acme'" \
	"node 'fourth' (Add): it has 3 inputs, and the operator has 2" \
	"node 'fifth' (Concat): attribute 'axis' is an integer, not a number" "node 'sixth' (Add): "; do
	grep -qF "$line" err.txt || { cat err.txt; fail "nothing says: $line"; }
done
if grep -F "did you mean 'Gelu'" err.txt; then fail "a name is proposed in its own place"; fi

# Known operators that the libraries do not have: all in one error, each once, with advice.
model kernels <<'END'
input x f32 2x3
output a f32 2x3
output b f32 3x2
node Add one x x -> t
node Add two t x -> a
node Transpose three t -> u
node Transpose four x -> v perm=[1,0]
node Add five v u -> b
END
fails_with . "$sklink" --check kernels.onnx
cat >expected.txt <<'END'
sklink: error: kernels.onnx: 5 nodes and values cannot be linked, for 2 reasons, the most frequent first
>>> task 'one' (Add) and 2 more: no kernel has op=Add
>>>   no library of kernels is among the inputs: sklink's own is -lskernels (-L gives its folder)
>>> task 'three' (Transpose) and 1 more: no kernel has op=Copy
END
diff expected.txt err.txt || fail "another message"

# Missing things are one error, with a line for all nodes of an operator: operators, attributes, kernels that do not
# depend on these, and the reason why the nearest one does not fit.
model missing <<'END'
opset 17
opset 1 org.acme
input x i16 4x4
input w f32 4x4
node MatMul /0/mm x x -> a
node MatMul /1/mm a x -> b
node org.acme:Fancy /0/fancy b -> c
node org.acme:Fancy /1/fancy w -> d
node Relu /1/relu d -> y
node Selu /0/selu w -> s alpha=[1]
node Selu /1/selu w -> t alpha=[1]
node Exp /0/exp w -> u
output c f32 none
output y f32 none
output s f32 none
output t f32 none
output u f32 none
END
for way in --check '-o out.sk'; do
	# shellcheck disable=SC2086 # words
	fails_with "^>>> node '/0/fancy' .Fancy. and 1 more: there is no operator 'Fancy' in the domain 'org.acme'" \
		"$sklink" missing.onnx "$@" $way
	grep -qx "sklink: error: missing.onnx: 6 nodes and values cannot be linked, for 3 reasons, the most frequent first" \
		err.txt || fail "they are not one error"
	[ "$(grep -c '^sklink: ' err.txt)" = 1 ] && [ "$(grep -c '^>>> [a-z]* .* and 1 more: ' err.txt)" = 3 ] || fail "something is said twice, or not at all: $(cat err.txt)"
	grep -q "^>>> node '/0/selu' (Selu) and 1 more: attribute 'alpha' is" err.txt ||
		fail "an attribute is not said"
	grep -q "^>>> task '/0/mm' (MatMul) and 1 more: no kernel for op 'MatMul' fits" err.txt ||
		fail "a kernel is not said"
	grep -qF '>>>   it is called with i16[4, 4], i16[4, 4] -> i16[4, 4]' err.txt || fail "the types are not said"
	grep -q "^>>>   sk_matmul_.*libskernels.a(.*the nearest one: argument 'a' is [iu]32, but tensor 'x' is i16" \
		err.txt || fail "the nearest one is not said"
	[ ! -e out.sk ] || fail "something was left behind"
done

# Reasons that differ in numbers only are one.
cat >four.c <<'END'
#include "skkernel.h"
void four(const float *x, float *y)
{
	for (int i = 0; i < 4; i++)
		y[i] = x[i] > 0 ? x[i] : 0;
}
SK_KERNEL(four, "op=Relu; in x f32[4], out y f32[4]");
END
compile four
model sizes <<'END'
input x f32 8
input z f32 11
node Relu first x -> y
node Relu second z -> t
output y f32 8
output t f32 11
END
fails_with "^sklink: error: sizes.onnx: task 'first' .Relu. and 1 more: no kernel for op 'Relu' fits" "$sklink" \
	sizes.onnx four.o --check
grep -q '^>>> four (four.o): the nearest one: .* must be 4, but is 8$' err.txt || { cat err.txt;
	fail "the reason is not said"; }

# The package depends on all files that the model's constants are in, and replaces none of them.
printf '%16s' '' >data.bin
array bias f32 4 1 2 3 4
model outside <<'END'
input x f32 4
input bias f32 4
external w f32 4 data.bin 0
node Add sum x w -> t
node Add more t bias -> y
output y f32 none
END
"$sklink" outside.onnx "$@" --freeze bias=bias.npy -o outside.sk --dependency-file depends
for file in outside.onnx data.bin bias.npy; do
	grep -q "[ /]$file" depends || fail "the package does not depend on $file"
done
for file in data.bin bias.npy; do
	cp $file kept
	fails_with "$file" "$sklink" outside.onnx "$@" --freeze bias=bias.npy -o $file
	cmp kept $file || fail "$file is overwritten"
done

# Data that is a link is read where it leads to a file in the folder or below it, or the user says so.
mkdir -p parts/blobs
cp outside.onnx parts/model.onnx
mv data.bin parts/blobs/data
printf 'SECRETSECRET1234' >secret
ln -s blobs/data parts/data.bin
for path in parts/model.onnx ./parts/../parts/model.onnx; do
	"$sklink" $path "$@" -o inside.sk || fail "a link within the folder"
done
(cd parts && "$sklink" model.onnx "$@" -o ../inside.sk) || fail "a link within the folder, from there"
for target in ../secret "$dir/secret"; do
	ln -sf $target parts/data.bin
	rm -f leaks.sk
	fails_with "model.onnx: .*'w'.*'data.bin': it is a link out of the model's folder, to $dir/secret, .* --allow-external-links" \
		"$sklink" parts/model.onnx "$@" -o leaks.sk
	[ ! -e leaks.sk ] || fail "a package in spite of an error"
	"$sklink" parts/model.onnx "$@" --allow-external-links -o leaks.sk && grep -q SECRETSECRET leaks.sk ||
		fail "--allow-external-links"
done
ln -sf nowhere parts/data.bin
fails_with "'data.bin': No such file" "$sklink" parts/model.onnx "$@" -o leaks.sk
rm parts/data.bin && mv parts/blobs/data parts/data.bin && mv parts beside && ln -s beside parts
"$sklink" parts/model.onnx "$@" -o inside.sk || fail "a folder that is a link"

# A future operator set.
printf 'opset 999\ninput x f32 4\nnode Relu first x -> t\nnode Relu second t -> y\noutput y f32 none\n' |
	"$make_model" future.onnx
"$sklink" future.onnx "$@" -o future.sk 2>err.txt || { cat err.txt; fail "operator set 999"; }
grep -q "^sklink: warning: future.onnx: node 'first' (Relu) and 1 more: it is of operator set 999, and the newest known one is 28" err.txt ||
	{ cat err.txt; fail "no warning of operator set 999"; }

# If no folder of kernels is given, the message names the option.
fails_with '^>>> there are none: -L names a folder to search' "$sklink" missing.onnx -lskernels --check

# A library before the others: its kernels win if they fit.
cat >mine.c <<'C'
#include "skkernel.h"

void my_add(const float *a, const float *b, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = a[i] + b[i] + 1000;
}
SK_KERNEL(my_add, "split=n op=Add; in a f32[n], in b f32[n], out y f32[n], n i64");
C
compile mine
ar rc libmine.a mine.o
array a.want f32 2x3 1003 1006 1009 1012 1015 1018
array x f32 2x3 1 2 3 4 5 6
model mine <<'END'
input x f32 2x3
output a f32 2x3
output row f32 2x3
constant w f32 3 1 1 1
node Add one x x -> t
node Add two t x -> a
node Add three x w -> row
END
"$sklink" mine.onnx -L. -lmine "$@" -o mine.sk
array a.want f32 2x3 2003 2006 2009 2012 2015 2018
array row.want f32 2x3 2 3 4 5 6 7
runs mine.sk x 'a row'
"$sklink" mine.onnx "$@" -L. -lmine -o mine.sk
array a.want f32 2x3 3 6 9 12 15 18
runs mine.sk x 'a row'

# Folding has limits: of results, and of time and memory, which may be set lower.
model large <<'END'
input x f32 1
output y f32 none
constant one f32 1 1
constant shape i64 2 70000 70000
constant flat i64 1 -1
constant from i64 1 0
constant to i64 1 1
node Expand _ one shape -> big
node Add _ big big -> sum
node Reshape _ sum flat -> line
node Add _ x line -> y
END
refuses "large.onnx: constants that are computed would have more than 1024 MiB, which is too much for a model with so few bytes of constants" large --fold=all
# Numbers of a file that are too large, and nothing that is gone through backwards.
model blocks <<'END'
input x f32 1x4x2x2
output y f32 none
node DepthToSpace _ x -> y blocksize=4294967296
END
refuses "node 'y' \(DepthToSpace\): 'blocksize' cannot be 4294967296" blocks
model filters <<'END'
input x f32 1x1x8x8
input w f32 1x1x3x3
output y f32 none
output z f32 none
node Conv _ x w -> y kernel_shape=[3,2]
node ConvTranspose _ x w -> z kernel_shape=[3]
END
refuses "node 'y' \(Conv\): 'kernel_shape' says 2, and the filters 'w' have 3 elements along axis 3" filters
grep -q "node 'z' (ConvTranspose): 'kernel_shape' has 1 item, not 2" err.txt || fail "not all filters"
model huge <<'END'
input x f32 4294967296x4294967296
output y f32 none
node Relu _ x -> y
END
refuses "input 'x': it is too large" huge
model backwards <<'END'
input x f32 0
output y f32 0
constant last i64 1 -1
constant first i64 1 -9
constant axis i64 1 0
constant step i64 1 -9223372036854775808
constant back i64 1 -1
node Slice _ x last first axis back -> z
node Slice _ z last first axis step -> y
END
"$sklink" backwards.onnx "$@" -o backwards.sk
proved backwards.sk

model long <<'END'
input x f32 1
output y f32 none
constant one f32 1 1
constant shape i64 2 6000 6000
constant from i64 1 0
constant to i64 1 1
node Expand _ one shape -> big
node MatMul _ big big -> square
node MatMul _ square square -> fourth
node MatMul _ fourth square -> sixth
node Slice _ sixth from to -> row
node Add _ x row -> y
END
(ulimit -t 1 && refuses "computing '.*' from the constants that it depends on takes too long" long --fold=all)
if ! grep -q '^SANITIZE_CFLAGS = .*address' "$top_builddir/Makefile"; then # which takes more address space than that
	(ulimit -v 300000 && refuses "cannot compute|out of memory" long --fold=all)
fi

# Nodes made only for kernels are marked as such, and a node is not said to be in a line of a manifest.
model apart <<'END'
input x f32 2x3x5
output y f32 none
constant axes i64 2 0 2
node ReduceSum sum x axes -> y
END
"$sklink" apart.onnx "$@" -o apart.sk
"$skdump" --explain sum apart.sk >out.txt
head -n 1 out.txt | grep -q "^task 'sum': kernel 'sk_copy" &&
	grep -q 'it copies elements to where .* ReduceSum, has or needs them' out.txt ||
	{ cat out.txt; fail "a copy says nothing"; }
