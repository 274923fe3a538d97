# Operators are expanded as flags and lists say, by sklink's rules and by those of --rules and of a manifest: the
# expanded graph computes the same, operators that no rule fits stay whole, and errors in a file of rules have places.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
needs_python
unset SKLINK_GRAPH_KERNEL_FLAGS MS_DEV_GRAPH_KERNEL_FLAGS GLOG_v
kernels=(-L "$top_builddir/kernels" -lskernels)

# ---- every rule for an operator of MindSpore's, on the lists of two targets, which have formulas of their own ----
for target in ascend cpu; do
	rm -rf dumps
	"$python" "$top_srcdir/tests/operators/mindspore.py" --expanded=$target "$sklink" "$skrun" \
		"$top_builddir/kernels" || fail "wrong results: $target"
done
sed -n 's/^- name: //p' "$top_srcdir/graph/rules/expand.yaml" | while read -r name; do
	grep -qE "^\* \`$name\`(:| \()" "$top_srcdir/doc/reference/rules.md" ||
		fail "doc/reference/rules.md has no entry for the rule $name"
done

# ---- those for ONNX's alone ----
array x f32 4x6 0.5 -1 2 0.25 3 -2 1 0.75 -0.5 0.1 1.5 -3 0.3
array g f32 6 1 0.5 2 -1 0.25 3
array b f32 6 0.1 0.2 -0.3
array c f32 4x1 0.5 -2 3 1
run_with() { # PACKAGE OUTPUT
	"$skrun" "$1" --input=x=x.npy --input=g=g.npy --input=b=b.npy --input=c=c.npy --output=y="$2"
}
# operators DUMP: print the operators after the expander.
operators() {
	sed -nE 's/^node [0-9]+ "[^"]*" = "([a-z]+:)?([A-Za-z]+)".*/\2/p' "$1"/hwopt_*graph_kernel_expander_*.ir \
		2>/dev/null | tr '\n' ' '
}
number=0
while read -r op lines; do
	number=$((number + 1))
	printf 'opset 24\ninput x f32 4x6\ninput g f32 6\ninput b f32 6\ninput c f32 4x1\noutput y f32 4x6\n%s\n' \
		"${lines//; /
}" | model net$number
	rm -rf dumps
	"$sklink" net$number.onnx "${kernels[@]}" -o whole.sk
	"$sklink" net$number.onnx "${kernels[@]}" --fusion-flags "--enable_expand_ops_only=$op" --dump-dir dumps -o \
		expanded.sk 2>err.txt ||
		{ cat err.txt >&2; fail "$op"; }
	[ ! -s err.txt ] || fail "$op: $(cat err.txt)"
	[ -n "$(operators dumps)" ] || fail "$op: the expander has changed nothing"
	! operators dumps | grep -qw "$op" || fail "$op is still there: $(operators dumps)"
	run_with whole.sk whole.npy
	run_with expanded.sk expanded.npy
	"$python" "$top_srcdir/tests/lib/models.py" expanded.npy whole.npy || fail "$op: wrong results"
done <<'LINES'
LayerNormalization node LayerNormalization a x g b -> n m d axis=-1; node Add s n m -> t; node Mul u t d -> v; node Mul w v c -> y
LayerNormalization node LayerNormalization a x g -> n axis=1 epsilon=0.5; node Add s n b -> t; node Mul w t c -> y
RMSNormalization node RMSNormalization a x g -> n; node Add s n b -> t; node Mul w t c -> y
MatMul constant r f32 1x6 1 2 3 -1 0.5; node MatMul a c r -> n; node Add s n x -> t; node Add u t g -> v; node Add w v b -> y
Gelu node Gelu a x -> n; node Add s n g -> t; node Mul u t b -> v; node Mul w v c -> y
Relu node Relu a x -> n; node Add s n g -> t; node Mul u t b -> v; node Mul w v c -> y
Identity node Identity a x -> n; node Add s n g -> t; node Mul u t b -> v; node Mul w v c -> y
LINES
[ $number = 7 ] || fail "not all have been tried"

# A bound of Clip without a known value may not be left out.
printf 'opset 24\ninput x f32 4x6\ninput low f32 scalar\nconstant high f32 scalar 1\noutput y f32 4x6\nnode Clip clip x low high -> y\n' | model clip
array low f32 scalar 0.2
rm -rf dumps
"$sklink" clip.onnx "${kernels[@]}" --fusion-flags --enable_expand_ops_only=Clip --dump-dir dumps -o clip.sk
"$skrun" clip.sk --input=x=x.npy --input=low=low.npy --output=y=clip.npy
"$python" - <<'PYTHON' || fail "Clip: wrong results"
import numpy
assert (numpy.load("clip.npy") == numpy.clip(numpy.load("x.npy"), numpy.float32(0.2), 1)).all()
PYTHON

# Numbers that a formula has no results for leave the operator as it is: those just beyond, and the last ones that it
# takes.
for line in 'Clip clip x nan one' 'Clip clip x one nan' 'Clip clip x _ nan' \
	'sklink:SoftplusExt softplus x threshold=88.5' \
	'Clip clip x low one' 'Clip clip x _ inf' 'sklink:SoftplusExt softplus x threshold=88.0'; do
	printf 'opset 24\nopset 1 sklink\ninput x f32 4x6\noutput y f32 4x6\nconstant nan f32 scalar nan\nconstant one f32 scalar 1\n' >numbers.txt
	printf 'constant low f32 scalar -inf\nconstant inf f32 scalar inf\nnode %s\n' \
		"$(sed -E 's/^(([^ =]+ )*[^ =]+)( threshold.*)?$/\1 -> y\3/' <<<"$line")" >>numbers.txt
	model numbers <numbers.txt
	rm -rf dumps
	"$sklink" numbers.onnx "${kernels[@]}" --fusion-flags --enable_expand_ops_only=Clip,SoftplusExt --dump-dir \
		dumps -o numbers.sk
	case $line in
	*nan* | *88.5) [ -z "$(operators dumps)" ] || fail "$line is expanded: $(operators dumps)" ;;
	*) [ -n "$(operators dumps)" ] || fail "$line stays whole" ;;
	esac
done

# ---- which are expanded ----
model two <<'LINES'
opset 24
opset 1 sklink
input x f32 4x6
output y f32 4x6
output z f32 4x6
output r f32 4x6
node sklink:Square square x -> y
node Softmax softmax x -> z
node Relu relu x -> r
LINES
# expands OPERATORS ARGUMENT…: these are the operators after the expander; "none" if it has changed nothing.
expands() {
	local expected=$1 got
	shift
	rm -rf dumps
	"$sklink" two.onnx "${kernels[@]}" --dump-dir dumps -o two.sk "$@" 2>err.txt || { cat err.txt >&2; fail "$*"; }
	[ ! -s err.txt ] || fail "$*: $(cat err.txt)"
	got=none
	! ls dumps/*graph_kernel_expander* >/dev/null 2>&1 || got=$(operators dumps)
	[ "$got" = "$expected" ] || fail "$*: there is $got, not $expected"
}
softmax="ReduceMax Sub Exp ReduceSum Div "
expands none
expands none --fusion-flags=--opt_level=2
expands "Mul Softmax Relu " --fusion-flags=--enable_expand_ops=Square
expands "Mul Softmax Max " --fusion-target=cpu
expands "Square Softmax Max " --fusion-target=cpu --fusion-flags=--disable_expand_ops=Square
expands "Mul ${softmax}Max " --fusion-target=cpu --fusion-flags=--enable_expand_ops=Softmax
expands "Mul Softmax Max " --fusion-target=cpu --fusion-flags="--enable_expand_ops=Softmax --disable_expand_ops=Softmax"
expands "Square ${softmax}Relu " --fusion-target=cpu \
	--fusion-flags="--enable_expand_ops=Square --disable_expand_ops=Softmax --enable_expand_ops_only=Softmax"
expands none --fusion-target=cpu --fusion-flags=--opt_level=0
"$sklink" two.onnx "${kernels[@]}" -o two.sk --fusion-flags=--enable_expand_ops=Dropout,Conv,Square 2>err.txt
diff - err.txt <<'TEXT' || fail "other warnings"
sklink: warning: --fusion-flags:1:1: operator 'Dropout' stays whole: no rule says how to expand it
sklink: warning: --fusion-flags:1:1: operator 'Conv' stays whole: no rule says how to expand it
TEXT

# Before operator set 13 a softmax went over all axes from its own one on, and no rule says that.
model rows <<'LINES'
opset 9
input x f32 2x3x4
input m f32 4x6
output a f32 2x3x4
output b f32 2x3x4
output c f32 4x6
output d f32 2x3x4
node Softmax wide x -> a axis=1
node Softmax last x -> b axis=2
node Softmax plain m -> c
node LogSoftmax all x -> d axis=0
LINES
rm -rf dumps
"$sklink" rows.onnx "${kernels[@]}" --dump-dir dumps -o rows.sk --fusion-flags=--enable_expand_ops=Softmax,LogSoftmax
[ "$(operators dumps)" = "Softmax $softmax${softmax}LogSoftmax " ] || fail "old forms of Softmax: $(operators dumps)"

# ---- rules of the user ----
cat >mine.yaml <<'YAML'
expand:
- name: mine
  pattern: y = Square(x)
  replace: y = Pow(x, 2)
- name: larger
  pattern: y = Relu(x)
  replace: y = Concat(x, x, axis=0)
YAML
printf 'sklink: 1\ngraph: two.onnx\nrules: mine.yaml\nfusion: "--enable_expand_ops=Square,Relu"\n' >two.yaml
expands "Pow Softmax Max " --rules=mine.yaml --fusion-flags=--enable_expand_ops=Square,Relu
# With several files earlier ones are tried first, a manifest's last.
printf 'expand:\n- {name: product, pattern: y = Square(x), replace: "y = Mul(x, x)"}\n' >product.yaml
expands "Mul Softmax Max " --rules=product.yaml --rules=mine.yaml --fusion-flags=--enable_expand_ops=Square,Relu
expands "Pow Softmax Max " --rules=mine.yaml --rules=product.yaml --fusion-flags=--enable_expand_ops=Square,Relu

"$sklink" two.yaml "${kernels[@]}" --rules=product.yaml -o two.sk --dependency-file=two.d
for file in two.yaml two.onnx mine.yaml product.yaml; do
	grep -qE "^  $file( |$)" two.d || { cat two.d; fail "$file is not among the dependencies"; }
done

# A node that is not expanded has a reason: a result of another shape, a condition that fails, a pattern that does not
# occur.
sed 's/y = Square(x)$/&\n  where: rank(x) == 3/; s/^- name: larger$/- {name: sums, pattern: ["s = Add(a, b)", y = Relu(s)], replace: ["s = Add(b, a)", "y = Max(s, 0)"]}\n&/' mine.yaml >whole.yaml
"$sklink" two.onnx "${kernels[@]}" --rules=whole.yaml --fusion-flags=--enable_expand_ops=Square,Relu --verbose --check \
	2>err.txt
sed -n 's/^\[INFO\] GRAPH_KERNEL(sklink): \(two.*\)/\1/p' err.txt | diff - <(cat <<'TEXT'
two.onnx: node 'relu': Relu is not expanded by rule 'sums' at whole.yaml:6:10: its pattern is not there
two.onnx: node 'relu': Relu is not expanded by rule 'larger' at whole.yaml:7:9: 'r' would be f32 [8, 6], and is f32 [4, 6]
two.onnx: node 'square': Square is not expanded by rule 'mine' at whole.yaml:2:9: the condition at whole.yaml:4:21 does not hold
TEXT
) || fail "--verbose does not tell why rules are not applied"
printf 'opset 24\ninput x bool 6\noutput y bool 6\nnode Not not x -> y\n' | model not
printf 'expand:\n- {name: a, pattern: y = Not(x), where: rank(x) == 2, replace: y = Identity(x)}\n- {name: b, pattern: y = Not(x), replace: "y = Cast(x, to=1)"}\n' >not.yaml
"$sklink" not.onnx "${kernels[@]}" --rules=not.yaml --fusion-flags=--enable_expand_ops=Not --check --explain not \
	>out.txt || fail "not"
grep 'not expanded' out.txt | diff - <(cat <<'TEXT'
  Not is not expanded by rule 'a' at not.yaml:2:10: the condition at not.yaml:2:52 does not hold.
  Not is not expanded by rule 'b' at not.yaml:3:10: 'y' would be f32 [6], and is bool [6].
TEXT
) || { cat out.txt >&2; fail "--explain does not tell why the node is whole"; }

rm -rf dumps
"$sklink" two.yaml "${kernels[@]}" --dump-dir dumps -o two.sk
[ "$(operators dumps)" = "Pow Softmax Max " ] || fail "rules of a manifest: $(operators dumps)"
expands none --rules=mine.yaml # the flags say which are expanded
"$sklink" two.yaml "${kernels[@]}" --repro=two.tar -o two.sk
tar tf two.tar | grep -q 'mine\.yaml$' || fail "the rules are not reproduced"
cat >bad.yaml <<'YAML'
expand:
- name: bad
  pattern: y = Relu(x)
  replace: y = Max(x, zero)
YAML
rm -f two.sk
fails_with "^sklink: error: bad.yaml:4:23: there is no 'zero' in the rule" "$sklink" two.onnx "${kernels[@]}" \
	--rules=bad.yaml -o two.sk
fails_with "^sklink: error: missing.yaml: " "$sklink" two.onnx "${kernels[@]}" --rules=missing.yaml -o two.sk
sed 's/mine.yaml/bad.yaml/' two.yaml >bad-rules.yaml
fails_with "^sklink: error: bad.yaml:4:23: there is no 'zero' in the rule" "$sklink" bad-rules.yaml "${kernels[@]}" -o \
	two.sk
[ ! -e two.sk ] || fail "a package is left"
