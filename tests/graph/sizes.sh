#!/bin/bash
# Sizes with bounds: the shapes of a model's outputs are expressions of its dimensions, and equal those of packages that
# are linked for numbers. Sizes that would have to be equal, and can differ, are refused with an example and a remedy.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
"${python:-false}" -c '' 2>err.txt || { echo "no python3 to evaluate expressions"; exit 77; }

# gives MODEL OUTPUTS BOUNDS: linking MODEL with a --dim for each word of BOUNDS infers these OUTPUTS, "NAME [SHAPE]" in
# lines, before it is refused.
gives() {
	local dims
	dims=$(printf -- '--dim %s ' $3)
	DUMP_GE_GRAPH=2 refuses "GE's dumps \\(DUMP_GE_GRAPH\\) have no sizes with bounds; give the dimensions numbers, or use --dump-dir=DIR.*$" "$1" $dims
	sed -n "s/^>>> output '\(.*\)' would be /\1 /p" err.txt >found.txt
	echo "$2" | diff - found.txt || fail "$1: other shapes"
}

# equals MODEL DIMS...: at each of these sizes, "NAME=NUMBER...", a static package has the shapes of found.txt.
equals() {
	local model=$1 dims
	shift
	for dims in "$@"; do
		"$sklink" "$model.onnx" -L "$top_builddir/kernels" -lskernels $(printf -- '--dim %s ' $dims) -o static.sk
		"$skdump" static.sk | awk '$3 == "output" { print $2, $0 }' |
			sed 's/^\([^ ]*\) .*\(\[.*\]\).*/\1 \2/' >static.txt
		"$python" -c '
import math, sys
names = dict(word.split("=") for word in sys.argv[1:])
names = {name: int(number) for name, number in names.items()}
names["floor"] = math.floor
for line in sys.stdin:
    name, shape = line.split(" ", 1)
    print(name, [int(size) for size in eval(shape, names)])
' $dims <found.txt >expected.txt
		diff expected.txt static.txt || fail "$model at $dims: the static package has other shapes"
	done
}

model_with_attention bert <<'END'
output pooled f32 none
node Gather first y zero -> pooled axis=1
END
gives bert "y [B, S, 16]
pooled [B, 16]" 'B=1..8 S=1..64'
equals bert 'B=1 S=1' 'B=8 S=64' 'B=1 S=64' 'B=8 S=1' 'B=3 S=17' 'B=2 S=5' 'B=7 S=31' 'B=5 S=2'
gives bert "y [3, S, 16]
pooled [3, 16]" 'B=3 S=8..64:8@16'

# A decoder with past keys: the mask is cut from a constant; the new shape is chosen where one is -1.
model gpt <<'END'
input x f32 BxSx8
input past f32 Bx2xPx4
output y f32 none
output present f32 none
constant bias f32 1x1x64x64 0
constant rows i64 1 2
constant columns i64 1 3
constant axis i64 1 0
constant zero i64 scalar 0
constant one i64 scalar 1
constant minus i64 1 -1
constant ones i64 4 1
constant split i64 4 0 0 2 4
constant joined i64 3 0 0 8
node Reshape _ x split -> x1
node Transpose _ x1 -> q perm=[0,2,1,3]
node Concat keys past q -> present axis=2
node Shape _ present -> shape
node Slice _ shape rows columns axis -> total
node Shape _ q -> qshape
node Slice _ qshape rows columns axis -> length
node Sub _ total length -> start
node Slice _ bias start total rows -> cut
node Slice _ cut axis total columns -> mask
node Transpose _ present -> turned perm=[0,1,3,2]
node MatMul _ q turned -> scored
node Shape _ scored -> wide
node Equal _ wide minus -> unknown
node Where _ unknown ones wide -> wanted
node Expand _ mask wanted -> masked
node Add _ scored masked -> sum
node Softmax _ sum -> soft axis=-1
node MatMul _ soft present -> mixed
node Transpose _ mixed -> back perm=[0,2,1,3]
node Reshape _ back joined -> y
END
gives gpt "y [B, S, 8]
present [B, 2, S+P, 4]" 'B=1..4 S=1..8 P=0..40'
equals gpt 'B=1 S=1 P=1' 'B=4 S=8 P=40' 'B=2 S=3 P=5' 'B=3 S=1 P=17' 'B=1 S=8 P=2' 'B=4 S=2 P=31' 'B=2 S=7 P=40' \
	'B=3 S=5 P=9'

model whisper <<'END'
input x f32 Bx4xF
output y f32 none
constant w f32 8x4x3 0.1
constant w2 f32 8x8x3 0.1
node Conv one x w -> a pads=[1,1]
node Conv two a w2 -> b pads=[1,1] strides=[2]
node Transpose _ b -> y perm=[0,2,1]
END
gives whisper "y [B, floor((F+1)/2), 8]" 'B=1..4 F=1..300'
equals whisper 'B=1 F=1' 'B=4 F=300' 'B=2 F=2' 'B=3 F=17' 'B=1 F=299' 'B=4 F=3' 'B=2 F=128' 'B=3 F=77'

model ocr <<'END'
input x f32 Bx1x8xW
output y f32 none
constant w f32 4x1x3x3 0.1
constant head f32 16x10 0.1
constant shape i64 3 0 -1 16
node Conv _ x w -> a pads=[1,1,1,1]
node MaxPool _ a -> b kernel_shape=[2,2] strides=[2,2]
node AveragePool _ b -> c kernel_shape=[1,3] strides=[1,2] pads=[0,1,0,1] ceil_mode=1
node Transpose _ c -> d perm=[0,3,1,2]
node Reshape _ d shape -> e
node MatMul _ e head -> y
END
DUMP_GE_GRAPH=2 refuses "GE's dumps \\(DUMP_GE_GRAPH\\) have no sizes with bounds; give the dimensions numbers, or use --dump-dir=DIR.*$" ocr --dim B=1..4 --dim W=8..100
sed -n "s/^>>> output '\(.*\)' would be /\1 /p" err.txt >found.txt
equals ocr 'B=1 W=8' 'B=4 W=100' 'B=2 W=9' 'B=3 W=10' 'B=1 W=11' 'B=4 W=12' 'B=2 W=77' 'B=3 W=99'

model unet <<'END'
input x f32 1x2xHxW
output y f32 none
constant w f32 4x2x3x3 0.1
constant up f32 4 1 1 2 2
node Conv _ x w -> a pads=[1,1,1,1]
node MaxPool _ a -> b kernel_shape=[2,2] strides=[2,2]
node MaxPool _ b -> c kernel_shape=[2,2] strides=[2,2]
node Resize _ c _ up -> d mode='nearest'
node Concat inner b d -> e axis=1
node Resize _ e _ up -> f mode='nearest'
node Concat outer a f -> y axis=1
END
gives unet "y [1, 12, H, W]" 'H=4..64:4 W=8..32:8'
equals unet 'H=4 W=8' 'H=64 W=32' 'H=8 W=16' 'H=12 W=24' 'H=4 W=32' 'H=64 W=8' 'H=20 W=16' 'H=36 W=24'
refuses "node 'inner' \(Concat\): dimensions 'floor\(H/2\)' and '2\*floor\(H/4\)' are those of joined tensors, and can differ \(.* at H=.*\); say that H is a multiple: --dim 'H=4..64:4'$" \
	unet --dim H=4..64 --dim W=8

# Integers that are computed from shapes.
model integers <<'END'
input x f32 AxB
output y f32 none
output z f32 none
output cut f32 none
constant zero i64 1 0
constant one i64 1 1
constant two i64 1 2
constant three i64 1 3
constant forty i64 1 40
constant last i64 1 -1
constant first i64 scalar 0
constant half f32 1 2.0
constant pair i64 2 1 1
node Shape _ x -> shape
node Gather _ shape first -> a axis=0
node Unsqueeze _ a zero -> a1
node Slice _ shape last three -> b1
node ReduceProd _ shape -> p keepdims=1
node Size _ x -> size
node Reshape _ size last -> size1
node Equal _ p size1 -> same
node Where _ same p zero -> product
node Div _ product three -> third
node Mod _ b1 three -> over
node Sub _ b1 over -> whole
node Min _ a1 forty -> least
node Max _ a1 b1 two -> most
node Cast _ b1 -> real to=1
node Mul _ real half -> doubled
node Floor _ doubled -> down
node Cast _ down -> twice to=7
node Greater _ b1 zero -> is
node Not _ is -> isnt
node Or _ is isnt -> all
node Cast _ all -> truth to=7
node Concat _ third whole least -> r axis=0
node ConstantOfShape _ r -> y
node CumSum _ shape first -> sums
node Slice _ sums last last zero last -> none
node Split _ sums pair -> s0 s1 axis=0
node Neg _ s1 -> minus
node Neg _ minus -> plus
node Expand _ most one -> wide
node Tile _ truth one -> tiled
node Identity _ tiled -> told
node Concat _ plus wide twice told -> q axis=0
node Squeeze _ q -> q1
node ConstantOfShape _ q1 -> z
node Slice backwards x last zero one last -> cut
END
gives integers "y [floor(A*B/3), 3*floor(B/3), min(A,40)]
z [A+B, max(B,A), 2*B, 1]
cut [A, B-1]" 'A=1..50 B=3..20'
equals integers 'A=1 B=3' 'A=50 B=20' 'A=41 B=4' 'A=40 B=5' 'A=7 B=19' 'A=2 B=17' 'A=19 B=19' 'A=50 B=3'

# ---- refusals ----

# example MODEL OPTION…: the sizes of the last error are refused when they are linked as numbers.
example() {
	local name=$1 sizes
	shift
	sizes=$(sed -n 's/.* can differ ([^()]* at \([^()]*\)).*/\1/p' err.txt | head -n 1 | tr -d ' ')
	[ -n "$sizes" ] || fail "no example of sizes: $(cat err.txt)"
	for size in ${sizes//,/ }; do set -- "$@" --dim "$size"; done
	"$sklink" "$name.onnx" -L "$top_builddir/kernels" -lskernels -w "$@" -o out.sk 2>alone.txt &&
		fail "$name links at $sizes, which is an example of sizes that differ"
	rm -f out.sk*
}

model sums <<'END'
input a f32 Px2
input b f32 Sx2
input c f32 Tx2
output y f32 none
node Concat join a b -> both axis=0
node Add sum c both -> y
END
refuses "node 'sum' \(Add\): dimensions 'T' and '(P\+S|S\+P)' are broadcast, and can differ \([0-9]+ and [0-9]+ at P=.*\); if they are equal: --dim 'T=(P\+S|S\+P)'$" \
	sums --dim P=0..8 --dim S=1..4 --dim T=1..12
example sums
gives sums 'y [P+S, 2]' 'P=0..8 S=1..4 T=P+S'
equals sums 'P=1 S=1 T=2' 'P=8 S=4 T=12'

model positions <<'END'
input x f32 Sx2
output y f32 none
constant places f32 16x2 1
constant axis i64 1 0
constant one i64 1 1
node Shape _ x -> shape
node Slice _ shape axis one axis -> length
node Slice _ places axis length axis -> used
node Add sum x used -> y
END
gives positions 'y [S, 2]' 'S=1..16'
refuses "node 'sum' \(Add\): dimensions 'S' and 'min\(S,16\)' are broadcast, and can differ \(40 and 16 at S=40\); they are equal up to 'S' of 16: --dim 'S=1..16'$" \
	positions --dim S=1..40
example positions
equals positions 'S=1' 'S=16' 'S=5'

model chosen <<'END'
input x f32 Nx4
output y f32 none
constant shape i64 2 3 -1
node Reshape cut x shape -> y
END
refuses "node 'cut' \(Reshape\): dimensions '4\*N' and '3\*N\+3\*floor\(N/3\)' are the elements before and after, and can differ \(4 and 3 at N=1\); say that N is a multiple: --dim 'N=3..9:3'$" \
	chosen --dim N=1..9
example chosen
gives chosen 'y [3, 4*floor(N/3)]' 'N=3..9:3'
equals chosen N=3 N=9

model unsupported <<'END'
input x f32 Nx1x4
input places i64 Nx1x4
output y f32 none
node MaxUnpool back x places -> y kernel_shape=[2] strides=[2]
END
refuses "node 'back' \(MaxUnpool\): sizes with bounds are not supported for the operator 'MaxUnpool' yet; give the" \
	unsupported --dim N=1..4

model counted <<'END'
input x f32 N
output y i64 none
node NonZero places x -> y
END
refuses "node 'places' \(NonZero\): the shape of its outputs depends on the elements of 'x'" counted --dim N=1..4

# A size that shrinks, and a size that is negative.
model shrinks <<'END'
input x f32 N
output y f32 none
constant whole i64 1 10
constant axis i64 1 0
node Shape _ x -> length
node Sub _ whole length -> rest
node ConstantOfShape filled rest -> more
node Concat _ x more -> y axis=0
END
refuses "node 'filled' \(ConstantOfShape\): dimension 0 of 'more' is '10-N', which may shrink when a dimension grows" shrinks \
	--dim N=1..9

# Of one row the inner columns are in one piece, and nothing is copied.
model inner <<'END'
input x f32 Bx5x4
output y f32 none
constant first i64 1 1
constant last i64 1 -1
constant axis i64 1 1
node Slice _ x first last axis -> columns
node Relu _ columns -> y
END
refuses "dimension 'B': the model becomes other tasks at B=1, and has those of the largest sizes at one size alone; "`
	`"give it one size, or bounds up to 3, or a network for each size: --dim small:B=1 --dim large:B=2$" inner --dim B=1..2
for bounds in '--dim B=1..3' '--dim small:B=1 --dim large:B=2'; do
	# shellcheck disable=SC2086 # words
	"$sklink" inner.onnx $bounds -L "$top_builddir/kernels" -lskernels -o inner.sk
done

model parts <<'END'
input x f32 Nx1x6x4
output y f32 none
output z f32 none
output w f32 none
node Split parts x -> y z axis=0
node SpaceToDepth blocks x -> w blocksize=2
END
refuses "node 'parts' \(Split\): dimensions 'N' and '2\*floor\(N/2\)' are the whole and the equal parts, and can differ .*; say that N is a multiple: --dim 'N=2..8:2'$" \
	parts --dim N=1..8
gives parts "y [floor(N/2), 1, 6, 4]
z [floor(N/2), 1, 6, 4]
w [N, 4, 3, 2]" 'N=2..8:2'

# Branches and steps that differ from size to size.
model late <<'END'
input x f32 N
input late f32 M
output y f32 none
constant zero i64 1 0
constant ten i64 1 10
node Shape _ x -> length
node Greater _ length ten -> is
node Cast _ is -> chosen to=7
node Slice cut late zero chosen zero -> y
END
refuses "node 'cut' \(Slice\): its shape depends on elements of 'chosen', which are not one expression of dimensions" \
	late --dim N=1..20 --dim M=4
gives late 'y [0]' 'N=1..10 M=4'
gives late 'y [1]' 'N=11..20 M=4'
refuses "the sizes of input 'late' are not known .*: --dim 'M=N'$" late --dim N=1..20

# ---- damaged attributes, lists and ranks ----

# damaged MESSAGE: a model with the lines of standard input before the outputs is refused as it is with numbers.
damaged() {
	{ echo 'input x f32 BxS'; cat; echo 'output y f32 none'; } | model damaged
	refuses "node 'y' \([A-Za-z]*\): $1$" damaged --dim B=1..8 --dim S=2..64
}

damaged "there is no axis 90000 in a tensor of 2 dimensions" <<<'node Split y x -> y z axis=90000'
damaged "there is no axis 70000 in a tensor of 2 dimensions" <<<'node Concat y x x -> y axis=70000'
damaged "'x' has no axis -100000" <<<'node Flatten y x -> y axis=-100000'
damaged "'x' has 2 dimensions, not 4" <<<'node DepthToSpace y x -> y blocksize=4611686018427387904'
damaged "there is no axis 5000 in a tensor of 2 dimensions" <<'END'
constant one i64 1 1
constant axis i64 1 5000
node Slice y x one one axis -> y
END
damaged "the shape has 60 dimensions, and a tensor has 8 at most" <<'END'
constant wanted i64 60 1
node Expand y x wanted -> y
END
damaged "the shape has 40 dimensions, and a tensor has 8 at most" <<'END'
constant wanted i64 40 1
node Reshape y x wanted -> y
END
damaged "it has 60 pads for 2 axes" <<'END'
constant pads i64 60 1
node Pad y x pads -> y
END
damaged "'x' has 2 dimensions, but 1 number of repetitions" <<'END'
constant times i64 1 2
node Tile y x times -> y
END
damaged "there is no axis 7000 in a tensor of 3 dimensions" <<'END'
constant length i64 scalar 8
constant last i64 1 2
node Unsqueeze _ x last -> signal
node DFT y signal length -> y axis=7000
END
damaged "there is no axis 9 in a tensor of 2 dimensions" <<'END'
constant scales f32 1 2
node Resize y x _ scales -> y axes=[9]
END

# A divisor that is 0 at a size outside of the bounds, which sklink tries.
model quotient <<'END'
input x f32 Sx2
output y f32 none
constant axis i64 1 0
constant one i64 1 1
constant less i64 1 211
node Shape _ x -> shape
node Slice _ shape axis one axis -> length
node Sub _ length less -> divisor
node Div _ length divisor -> parts
node TopK best x parts -> y places axis=0
END
refuses "dimension 0 of 'y' is 'floor\(211/\(S-211\)\)\+1', which may shrink when a dimension grows" quotient \
	--dim S=300..1000
