# --check-rules computes both sides of each rule: for sklink's own rules both agree, a wrong rule is found, and rules
# that cannot be checked are named.
. "$top_srcdir/tests/lib/lib.sh"
kernels=(-L "$top_builddir/kernels" -lskernels)

# ---- sklink's own; the others have values that cannot be written as an example ----
for file in onnx:312 passes:14 torchair:34 expand:96; do
	"$sklink" --check-rules="$top_srcdir/graph/rules/${file%:*}.yaml" "${kernels[@]}" --error-limit=0 >out.txt \
		2>err.txt || { grep -v warning err.txt >&2; fail "${file%:*}.yaml"; }
	checked=$(sed -n 's/^rules and variants that compute the same as their patterns: \([0-9]*\),.*/\1/p' out.txt)
	[ "${checked:-0}" -ge "${file#*:}" ] || { cat out.txt err.txt >&2;
		fail "${file%:*}.yaml: fewer rules are checked"; }
done

# checks FILE: the result and the messages.
checks() {
	"$sklink" --check-rules="$1" "${kernels[@]}" >out.txt 2>err.txt && echo yes || echo no
	cat out.txt err.txt
}
expect() { # FILE, how many rules and variants are checked and are not, and warnings on standard input
	diff <(checks "$1") <(printf \
		'yes\nrules and variants that compute the same as their patterns: %d, not checked: %d\n' "$2" \
		"$3"; cat) ||
		fail "$1: other messages"
}

# ---- a rule that computes something else, in one of its variants; one that does the same ----
cat >wrong.yaml <<'YAML'
fuse:
- name: swish
  pattern: y = Mul(x, Sigmoid(x))
  replace: y = Swish(x)
- name: gelu
  variants:
  - pattern: y = Mul(Mul(x, Add(Erf(Div(x, 1.4142135623730951)), 1)), 0.5)
    replace: y = Gelu(x)
  - pattern: y = Mul(Mul(x, Add(Erf(Div(x, 1.5)), 1)), 0.5)
    replace: y = Gelu(x)
YAML
checks wrong.yaml | head -n 1 | grep -qx no || fail "a wrong rule is right"
[ "$(wc -l <err.txt)" = 1 ] || { cat err.txt >&2; fail "one variant is wrong"; }
grep -qE "^sklink: error: wrong.yaml:5:9: rule 'gelu': element [0-9]+ of 'gelu/y' is [-0-9.]+, and the pattern makes [-0-9.]+$" err.txt || { cat err.txt >&2; fail "another message"; }
sed -i 's/1\.5)/1.4142135623730951)/' wrong.yaml
expect wrong.yaml 3 0 </dev/null

# ---- examples: types, constants, attributes; a variant's example has precedence over the rule's ----
cat >examples.yaml <<'YAML'
fuse:
- name: sums
  example: {x: 'f16[2, 3, 4]', axes: 'i64([1, 2])', k: 0}
  let: {along: value(axes)}
  pattern: y = ReduceSum(Mul(x, c), axes, keepdims=k)
  replace: y = Mul(ReduceSum(x, i64(along), keepdims=k), c)
  variants:
  - {example: {c: 'f16[]'}}
  - {example: {c: 'f32[]', x: 'f32[5, 1, 7]', k: 1}}
- name: adds
  pattern: y = Sum(x, *rest)
  replace: y = Add(x, *rest)
expand:
- name: chosen
  example: {c: 'bool[4, 6]'}
  pattern: y = Where(c, 0, x)
  replace: y = Mul(x, CastLike(Not(c), x))
YAML
expect examples.yaml 4 0 </dev/null

# ---- rules that cannot be checked ----
cat >open.yaml <<'YAML'
fuse:
- name: products
  pattern: y = MatMul(a, b)
  replace: y = Gemm(a, b)
- name: constants
  pattern: y = Mul(x, c)
  where: value(c) == 2
  replace: y = Add(x, x)
- name: ordered
  pattern: y = CumSum(x, axis)
  example: {x: 'bool[4]', axis: i64(0)}
  replace: y = Cast(CumSum(Cast(x, to='i64'), axis), to='bool')
YAML
expect open.yaml 0 3 <<'TEXT'
sklink: warning: open.yaml:2:9: rule 'products', variant 1, is not checked: open.yaml:2:9: node 'products/y' (products): rows of 'a' have 6 elements, and columns of 'b' have 4
sklink: warning: open.yaml:5:9: rule 'constants', variant 1, is not checked: the condition at open.yaml:7:22 does not hold
sklink: warning: open.yaml:9:9: rule 'ordered', variant 1, is not checked: no kernel for op 'CumSum' fits, not even sk_cumsum_f32, the nearest one: argument 'x' is f32, but tensor 'x' is bool
TEXT
fails_with "open.yaml:2:9: rule 'products'" "$sklink" --check-rules=open.yaml "${kernels[@]}" --fatal-warnings
"$sklink" --check-rules=wrong.yaml >out.txt 2>err.txt || fail "without a library"
grep -q "is not checked: no kernel has op=" err.txt || fail "without a library: $(cat err.txt)"

# Shapes that are none, or too large; numbers that are none of the type.
while IFS='|' read -r example reason; do
	printf 'fuse:\n- {name: a, pattern: "y = Add(x, w)", replace: "y = Sum(x, w)", example: {x: "%s", w: "f32[1]"}}\n' "$example" >shapes.yaml
	"$sklink" --check-rules=shapes.yaml "${kernels[@]}" >out.txt 2>err.txt || { cat err.txt >&2; fail "$example"; }
	printf "sklink: warning: shapes.yaml:2:10: rule 'a', variant 1, is not checked: %s\n" "$reason" |
		diff - err.txt >&2 || fail "$example"
done <<'END'
f32[-1]|the shape of 'x' in its example is not one of 8 dimensions and 1048576 elements at most
f32[0.5]|the shape of 'x' in its example is not one of 8 dimensions and 1048576 elements at most
f32[1e300]|the shape of 'x' in its example is not one of 8 dimensions and 1048576 elements at most
f32[0, 4294967296, 4294967296]|the shape of 'x' in its example is not one of 8 dimensions and 1048576 elements at most
f32[1024, 1025]|the shape of 'x' in its example is not one of 8 dimensions and 1048576 elements at most
f32[1, 1, 1, 1, 1, 1, 1, 1, 1]|the shape of 'x' in its example is not one of 8 dimensions and 1048576 elements at most
u8([1, -1])|-1 is not a number of type u8
END

# ---- errors ----
printf 'fuse:\n- {name: a, pattern: y = Relu(x), replace: y = Neg(x), example: {x: "f32[4, n]"}}\n' >bad.yaml
fails_with "^sklink: error: bad.yaml:2:[0-9]*: there is no 'n' in the rule" "$sklink" --check-rules=bad.yaml \
	"${kernels[@]}"
sed -i 's/n\]/6] 3/' bad.yaml
fails_with "^sklink: error: bad.yaml:2:[0-9]*: nothing may follow the example" "$sklink" --check-rules=bad.yaml \
	"${kernels[@]}"
printf 'fuse:\n- {name: a, pattern: y = Relu(x), replace: y = Neg(x), example: 3}\n' >bad.yaml
fails_with "^sklink: error: bad.yaml:2:[0-9]*: 'example' must be a map" "$sklink" --check-rules=bad.yaml "${kernels[@]}"
fails_with "^sklink: error: missing.yaml: " "$sklink" --check-rules=missing.yaml "${kernels[@]}"
# Files are objects, wherever they are given; no file is a manifest. A missing library is reported once.
members=$(ar t "$top_builddir/kernels/libskernels.a" | grep -E '^sk_(neg|copy|cast)_')
mkdir objects
(cd objects && ar x "$top_builddir/kernels/libskernels.a" $members)
printf 'fuse:\n- {name: a, pattern: y = Neg(Neg(Neg(x))), replace: y = Neg(x)}\n' >neg.yaml
one="rules and variants that compute the same as their patterns: 1, not checked: 0"
"$sklink" objects/*.o --check-rules=neg.yaml | grep -qx "$one" || fail "objects in front of the option"
"$sklink" --check-rules=neg.yaml objects/*.o | grep -qx "$one" || fail "objects behind the option"
fails_with "^sklink: error: neg.yaml: is neither an object nor an archive" "$sklink" neg.yaml --check-rules=neg.yaml \
	"${kernels[@]}"
fails_with "missing" "$sklink" --check-rules=neg.yaml -lmissing
[ "$(grep -c missing err.txt)" = 1 ] || fail "a library is missing twice"
