#!/bin/bash
# Rewrites of graph-kernel fusion: a model in which many nodes change nothing or occur twice has fewer tasks, and the
# same bits as without; rewrites that round differently are done on request; sums of f16 are exact beyond f16's range of
# integers.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
set -- -L "$top_builddir/kernels" -lskernels

model rewrites <<'END'
opset 18
input x f32 4x8
output y f32 4x8
output twin f32 4x8
output turned f32 8x4
output half f32 4x8
constant zero f32 scalar 0
constant one f32 8 1
constant minus f32 scalar -0
constant two f32 scalar 2
constant flat i64 1 32
constant shape i64 2 4 8
node Mul _ x one -> a
node Add _ minus a -> b
node Neg _ b -> c
node Neg _ c -> d
node Reshape _ d flat -> e
node Reshape _ e shape -> f
node Tanh _ f -> g
node Tanh _ x -> h
node Add sum g h -> y
node Tanh _ a -> twin
node Transpose _ x -> t perm=[1,0]
node Exp _ t -> u
node Mul _ u two -> v
node Transpose _ v -> w perm=[1,0]
node Transpose back w -> turned perm=[1,0]
node Add inexact x zero -> z
node Sigmoid _ z -> half
END
for level in 0 1 2 3; do
	"$sklink" rewrites.onnx "$@" --fusion-flags "--opt_level=$level" -o "level$level.sk"
	"$skrun" "level$level.sk" --random 3 \
		$(printf -- ' --output %s' y=y$level.npy twin=twin$level.npy turned=turned$level.npy \
		half=half$level.npy)
	"$skrun" "level$level.sk" --random 3 --verify >out.txt || { cat out.txt;
		fail "level $level: results depend on how it is run"; }
	for output in y twin turned half; do
		cmp $output$level.npy ${output}0.npy || fail "level $level: $output has other bits"
	done
done
# Rules that are exact at every level keep all bits of all numbers of f16 and bf16, and of as many of f32 and f64, from
# the smallest to infinities, with constants that are as various; any NaN is as good as another.
for type in f16 bf16 f32 f64; do
	# Numbers $1, each $2 steps from the one before it.
	numbers() {
		awk -v type=$type -v count="$1" -v step="$2" 'BEGIN {
			for (i = 0; i < count; i++) {
				bits = i * step
				exponent = int(bits / 128) % 256; fraction = 2 * (bits % 128)
				if (type ~ /16/) print bits
				else if (exponent == 255) print (bits < 32768 ? "" : "-") (fraction ? "nan" : "inf")
				else printf("%s0x%d.%02x%sp%d\n", bits < 32768 ? "" : "-", exponent > 0, fraction, exponent ? "3456" : "", exponent ? exponent - 127 : -126)
			}
		}'
	}
	case $type in f16) one=15360 two=16384 minus=32768 ;; bf16) one=16256 two=16384 minus=32768 ;; *) one=1 two=2 \
		minus=-0 ;; esac
	array x $type 256x256 $(numbers 65536 1)
	{
		printf 'opset 18\n'
		printf "input %s $type 256x256\n" x u v
		printf 'constant c %s 256 ' $type
		numbers 256 257 | tr '\n' ' '
		printf '\nconstant %s\n' "zero $type scalar 0" "minus $type scalar $minus" "one $type scalar $one" \
			"ones $type 256x256 $one" "two $type scalar $two" "twos $type 256x256 $two" "axis i64 1 0" \
				"shape i64 3 1 256 256"
		cat <<-'END'
		node Neg _ x -> n
		node Neg _ u -> n2
		node Neg _ v -> n3
		node Reshape _ x shape -> x3
		node Equal _ x c -> same
		node Add 1.1 x minus -> a_
		node Sub 1.7 x zero -> b_
		node Sub 1.8 x c -> d_
		node Pow 1.15 x ones -> e_
		node Pow 1.17 x two -> f_
		node Pow 1.17 x twos -> g_
		node Where 1.23 same x x -> h_
		node Neg 1.24 n -> i_
		node Mul 1.42 n2 c -> j_
		node Div 1.43 x one -> k_
		node Div 1.52 n3 c -> l_
		node Mul 2.1 x ones -> m_
		node Div 2.2 one x -> o_
		node ReduceMin 1.77 x3 axis -> p_ keepdims=0
		node ReduceMax 1.78 x3 axis -> q_ keepdims=0
		node Not 1.70 same -> other
		node Where _ other x c -> r_
		node Mul _ x x -> s_
		END
		for value in a b d e f g h i j k l m o p q r s; do
			printf "output $value $type 256x256\nnode IsNaN _ ${value}_ -> ${value}n\nnode Where _ ${value}n one ${value}_ -> $value\n"
		done
	} | model exact
	for level in 0 1 2 host; do
		flags=--fusion-flags=--opt_level=${level/host/2}
		target=--fusion-target=$([ $level = host ] && echo host || echo gpu)
		"$sklink" exact.onnx "$@" $target $flags -o exact.sk
		mkdir -p $level
		"$skrun" exact.sk $(printf -- ' --input %s=x.npy' x u v) \
			$(for value in a b d e f g h i j k l m o p q r s; do echo --output $value=$level/$value.npy;
			done)
		for value in a b d e f g h i j k l m o p q r s; do
			cmp $level/$value.npy 0/$value.npy || fail "level $level, $type: $value has other bits"
		done
	done
	"$skdump" --steps exact.sk >steps.txt
	! grep -E 'sk_(neg|sub|pow|reduce)| (1.43|2.2) .*sk_div' steps.txt || fail "$type: a rule has not been applied"
	# The square is x x to the last bit, for any shape of the exponent.
	cmp 0/f.npy 0/s.npy && cmp 0/g.npy 0/s.npy || fail "$type: a power of 2 is not the square"
done

# tasks PACKAGE NAME…: these are its tasks, and no others.
tasks() {
	local package=$1
	shift
	"$skdump" --steps "$package" | grep -o '^ *[0-9]* *[a-z]* *sk_' | grep -o '[a-z]* *sk_' |
		sed 's/ .*//' | sort >found.txt
	printf '%s\n' "$@" | sort >expected.txt
	diff -u expected.txt found.txt || fail "$package: other tasks"
}
tasks level0.sk a b c d g h sum twin t u v w back inexact half
tasks level2.sk g sum t u v inexact half

# By name, or as a whole.
for flags in '--enable_simplify_exprs_only=1.1' '--exact_precision_mode=off'; do
	"$sklink" rewrites.onnx "$@" --fusion-flags "$flags" -o request.sk
	"$skdump" --steps request.sk >steps.txt
	! grep -q inexact steps.txt || { cat steps.txt; fail "$flags: nothing has been left out"; }
done
"$sklink" rewrites.onnx "$@" --fusion-flags \
	'--disable_pass=arithmetic_simplify,transform_op_optimizer --disable_simplify_exprs=1.24,3.3' \
	-o disabled.sk 2>err.txt
grep -q "there is no expression '3.3', which disable_simplify_exprs names" err.txt ||
	fail "nobody says that there is no 3.3: $(cat err.txt)"
"$skdump" --steps disabled.sk | grep -q ' back ' || fail "transpositions went without the pass"

# 4096 halves of 1 are more than f16 counts one by one: kernels sum in f32, so no pass has to raise the precision.
array x f16 1x4096 0x3c00
array y.want f16 1 0x6c00
model sum <<'END'
opset 13
input x f16 1x4096
output y f16 1
constant axes i64 1 1
node ReduceSum _ x axes -> y keepdims=0
END
"$sklink" sum.onnx "$@" -o sum.sk
"$skrun" sum.sk --input x=x.npy --output y=y.npy
cmp y.npy y.want.npy || fail "a sum of f16 stops where f16 cannot count any more"

# States that are made alike, or do not change, are the same as without rewrites: each has its own bytes.
model states <<'END'
opset 18
input a f32 4
input b f32 4
input c f32 4
input x f32 4
output an f32 4
output bn f32 4
output cn f32 4
output y f32 4
constant one f32 scalar 1
node Add _ x x -> an
node Add _ x x -> bn
node Mul _ c one -> cn
node Add _ a b -> t
node Add _ t cn -> y
END
for name in a b c x; do
	array "$name" f32 4 1 2 3 4
done
for level in 0 2; do
	"$sklink" states.onnx "$@" --state a=an --state b=bn --state c=cn --fusion-flags "--opt_level=$level" -o \
		states.sk
	proved states.sk
	"$skrun" states.sk $(printf -- ' --input %s' a=a.npy b=b.npy c=c.npy x=x.npy) --repeat 2 \
		$(printf -- ' --output %s' a=a$level.npy b=b$level.npy c=c$level.npy y=y$level.npy) >/dev/null
done
array ab.want f32 4 2 4 6 8
array y.want f32 4 5 10 15 20
for pair in a2:ab.want b2:ab.want c2:c y2:y.want a0:a2 b0:b2 c0:c2 y0:y2; do
	cmp "${pair%:*}.npy" "${pair#*:}.npy" || fail "states: $pair"
done

# A length is computed several times from a shape, for a Reshape, for the ends of slices, and for another shape:
# whichever of the computations is left, all of them are known.
model lengths <<'END'
opset 17
input x f32 2x5x3
output y f32 2x5x3
output rows f32 5x1
output first f32 2
constant table f32 8x1 1 2 3 4 5 6 7 8
constant one i64 scalar 1
constant from i64 1 0
constant axis i64 1 0
constant nothing i64 1 0
constant rest i64 1 -1
node Shape _ x -> s
node Gather _ s one -> g
node Unsqueeze _ g axis -> u
node Concat _ rest u -> shape axis=0
node Reshape _ x shape -> turned
node Shape _ x -> s2
node Gather _ s2 one -> g2
node Unsqueeze _ g2 axis -> u2
node Slice cut table from u2 axis -> part
node Add _ u nothing -> u3
node Slice again table from u3 axis -> kept
node Exp rows kept -> rows
constant three i64 3 2 5 3
node Reshape _ turned three -> back
node Mul y back part -> y
constant two i64 2 1 2
node Split _ s two -> a b axis=0
node ConstantOfShape _ a -> zeros
node Cast _ b -> bf to=1
node Gather _ bf from -> bg
node Add first zeros bg -> first
END
for level in 0 1 2 3; do
	"$sklink" lengths.onnx "$@" --fusion-flags "--opt_level=$level" -o lengths.sk
	"$skrun" lengths.sk --random 1 $(printf -- ' --output %s' y=y$level.npy rows=rows$level.npy first=first.npy) \
		>/dev/null
	cmp y$level.npy y0.npy && cmp rows$level.npy rows0.npy || fail "level $level: other bits"
	array first.want f32 2 5 5
	cmp first.npy first.want.npy || fail "level $level: a length is another one"
done

# A value that a composite before a product and one after it both use is computed in both, if it is large enough to be
# worth while.
model residual <<'END'
opset 18
input x f32 64x64
input w f32 64x64
output y f32 64x64
node Neg residual x -> a
node Exp _ a -> b
node MatMul _ b w -> c
node Add _ a c -> d
node Exp _ d -> y
END
for flags in --opt_level=0 --opt_level=2 --enable_recompute_fusion=off --recompute_increment_threshold=16385 \
	--recompute_peak_threshold=100000; do
	"$sklink" residual.onnx "$@" --fusion-target=gpu --fusion-flags "$flags" -o residual.sk
	"$skrun" residual.sk --random 1 --output y=y.npy
	[ -e residual.npy ] || cp y.npy residual.npy
	cmp y.npy residual.npy || fail "$flags: other bits"
	twice=$("$skdump" --steps residual.sk | grep -c sk_neg_f32)
	case $flags in --opt_level=2) wanted=2 ;; *) wanted=1 ;; esac
	[ "$twice" = $wanted ] || fail "$flags: computed $twice times, not $wanted"
done

# Before operator set 7 operands were aligned from an axis on: moving, expanding and recomputing nodes around one
# changes no bits.
model aligned <<'END'
opset 6
input x f32 64x64
input w f32 64x64
input z f32 64
output y f32 64x64
node LeakyRelu _ z -> b
node Neg residual x -> a
node Exp _ a -> e
node MatMul _ e w -> c
node Add _ c b -> d axis=0 broadcast=1
node Mul _ a d -> f
node Mul _ f b -> y axis=-2 broadcast=1
END
for target in host cpu ascend; do
	for level in 0 1 2 3; do
		rm -rf dumps
		"$sklink" aligned.onnx "$@" --fusion-target=$target --fusion-flags "--opt_level=$level" --dump-dir \
			dumps -o aligned.sk
		"$skrun" aligned.sk --random 1 --output y=y.npy
		[ -e aligned.npy ] || cp y.npy aligned.npy
		cmp y.npy aligned.npy || fail "$target at level $level: other bits"
		for dump in dumps/*.pbtxt; do
			"$sklink" "$dump" "$@" --fusion-flags --opt_level=0 -o dumped.sk
			"$skrun" dumped.sk --random 1 --output y=y.npy
			cmp y.npy aligned.npy || fail "$target at level $level: $dump computes something else"
		done
	done
done
