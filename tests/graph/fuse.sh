# Patterns of operators become one operator: by sklink's rules in the order of their passes, and by the user's. The
# fused graph computes the same, and graphs similar to a pattern stay as they are.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
needs_python
unset SKLINK_GRAPH_KERNEL_FLAGS MS_DEV_GRAPH_KERNEL_FLAGS GLOG_v
kernels=(-L "$top_builddir/kernels" -lskernels)

# operators PASS: print the operators after that pass; "none" if it has changed nothing.
operators() {
	local dump
	dump=$(echo dumps/hwopt_*_"$1"_*.ir)
	[ -e "$dump" ] || { echo none; return; }
	sed -nE 's/^node [0-9]+ "[^"]*" = "([a-z]+:)?([A-Za-z]+)".*/\2/p' "$dump" | tr '\n' ' '
}
# fuses NAME PASS OPERATORS ARGUMENT…: these are the operators after the pass in NAME.onnx.
fuses() {
	local name=$1 pass=$2 expected=$3 got
	shift 3
	rm -rf dumps
	"$sklink" "$name.onnx" "${kernels[@]}" --dump-dir dumps -o "$name.sk" "$@" 2>err.txt || { cat err.txt >&2;
		fail "$name $*"; }
	[ ! -s err.txt ] || fail "$name $*: $(cat err.txt)"
	got=$(operators "$pass")
	[ "$got" = "$expected" ] || fail "$name $*: behind $pass there is $got, not $expected"
}

# ---- recomposed ----
array x f32 4x6 0.5 -1 2 0.25 3 -2 1 0.75 -0.5 0.1 1.5 -3 0.3
array g f32 6 1 0.5 2 -1 0.25 3
array b f32 6 0.1 0.2 -0.3
# case NAME FORMULA FUSED LINES: the formula's y as it is, and as one operator, are the same up to rounding.
case_of() {
	local name=$1 fused=$2
	printf 'opset 17\ninput x f32 4x6\ninput g f32 6\ninput b f32 6\nconstant a i64 1 -1\nconstant two f32 scalar 2\nconstant one f32 scalar 1\nconstant half f32 scalar 0.5\nconstant root f32 scalar 1.4142135\nconstant e f32 scalar 0.00001\noutput y f32 4x6\n%s\n' "${3//; /
}" | model "$name"
	fuses "$name" onnx_fusion "$fused"
	"$skrun" "$name.sk" --input=x=x.npy --input=g=g.npy --input=b=b.npy --output=y=fused.npy
	fuses "$name" onnx_fusion none --fusion-flags=--disable_pass=recompose.onnx_fusion
	"$skrun" "$name.sk" --input=x=x.npy --input=g=g.npy --input=b=b.npy --output=y=whole.npy
	"$python" "$top_srcdir/tests/lib/models.py" fused.npy whole.npy || fail "$name: wrong results"
}
mean="node ReduceMean n0 x -> m axes=[-1]; node Sub n1 x m -> d"
ends="node ReduceMean n3 s -> v axes=[-1]; node Add n4 v e -> w; node Sqrt n5 w -> r; node Div n6 d r -> n; node Mul n7 n g -> t; node Add n8"
used="node Add u0 g b -> ub; node Add u1 x ub -> z"
case_of pow "LayerNormalization " "$mean; node Pow n2 d two -> s; $ends t b -> y"
case_of square "LayerNormalization " "$mean; node Mul n2 d d -> s; $ends b t -> y"
case_of third none "$mean; node Mul n2 d x -> s; $ends b t -> y"
case_of gelu "Add Add Gelu " \
	"$used; node Div n0 z root -> a0; node Erf n1 a0 -> a1; node Add n2 a1 one -> a2; node Mul n3 z a2 -> a3; node Mul n4 a3 half -> y"
case_of turned "Add Add Gelu " \
	"$used; node Div n0 z root -> a0; node Erf n1 a0 -> a1; node Add n2 one a1 -> a2; node Mul n3 half a2 -> a3; node Mul n4 a3 z -> y"
case_of other none "$used; node Div n0 z two -> a0; node Erf n1 a0 -> a1; node Add n2 a1 one -> a2; node Mul n3 z a2 -> a3; node Mul n4 a3 half -> y"
# An operand of a pattern is nothing that the pattern makes.
case_of itself "Add Add Swish Mul " "$used; node Sigmoid n0 z -> s; node Mul n1 z s -> h; node Mul n2 h h -> y"
case_of twice none "$used; node Sigmoid n0 z -> s; node Mul n1 z s -> h; node Mul n2 h s -> y"

# An attribute is f32, so numbers of f64 that are written in full stay.
stays_f64() { # NAME LINES
	printf 'opset 18\ninput x f64 4x6\nconstant a i64 1 -1\nconstant e f64 scalar 0.00001\nconstant c f64 scalar 1.702\noutput y f64 4x6\n%s\n' "${2//; /
}" | model "$1"
	fuses "$1" onnx_fusion none
}
stays_f64 doubles "node ReduceMean n0 x a -> m; node Sub n1 x m -> d; node Mul n2 d d -> s; node ReduceMean n3 s a -> v; node Add n4 v e -> w; node Sqrt n5 w -> r; node Div n6 d r -> y"
stays_f64 squares "node Mul n2 x x -> s; node ReduceMean n3 s a -> v; node Add n4 v e -> w; node Sqrt n5 w -> r; node Div n6 x r -> y"
stays_f64 quick "node Mul n0 x c -> t; node Sigmoid n1 t -> s; node Mul n2 x s -> y"

# ---- only with a kernel for the replacement: of its type and shape, in the libraries of the link ----
members=$(ar t "$top_builddir/kernels/libskernels.a" | grep -E '^sk_(div|erf|add|mul)_f32')
ar x "$top_builddir/kernels/libskernels.a" $members
ar rcs libfew.a $members
why() { # MODEL ARGUMENT…
	"$sklink" "$@" --check --verbose 2>err.txt || { cat err.txt >&2; fail "$*"; }
	sed -n "s/.* is not fused by rule '\([^']*\)' at [^:]*:[0-9]*:[0-9]*: /\1: /p" err.txt
}
[ "$(why gelu.onnx -L. -lfew)" = "GeluErf: no kernel has op=Gelu" ] ||
	fail "a library without Gelu: $(why gelu.onnx -L. -lfew)"
"$sklink" gelu.onnx -L. -lfew --check --explain n4 |
	grep -q "^  Mul is not fused by rule 'GeluErf' at onnx.yaml:.*: no kernel has op=Gelu\.$" ||
	fail "--explain does not say why"
"$sklink" gelu.onnx -L. -lfew -o few.sk
"$skrun" few.sk --input=x=x.npy --input=g=g.npy --input=b=b.npy --output=y=few.npy
"$skrun" gelu.sk --input=x=x.npy --input=g=g.npy --input=b=b.npy --output=y=whole.npy
"$python" "$top_srcdir/tests/lib/models.py" few.npy whole.npy || fail "wrong results of the graph as it was"
fails_with "no library of kernels is among the inputs" "$sklink" gelu.onnx --check
printf 'opset 17\ninput x f32 4x6\noutput y f32 4x6\nnode Relu relu x -> y\n' | model relu
printf 'fuse:\n- {name: wide, pattern: y = Relu(x), replace: "y = Cast(CumSum(Cast(x, to=%s), i64(0)), to=%s)"}\n' \
	"'i64'" "'f32'" >wide.yaml
[ -z "$(why relu.onnx "${kernels[@]}" --rules=wide.yaml)" ] ||
	fail "there is such a kernel: $(why relu.onnx "${kernels[@]}" --rules=wide.yaml)"
sed -i "s/'i64'/'bool'/" wide.yaml
why relu.onnx "${kernels[@]}" --rules=wide.yaml | grep -q "^wide: " || fail "a kernel of another type is none"

# ---- a pass of MindSpore's list ----
model bias <<'LINES'
opset 17
opset 1 sklink
input x f32 2x3
input w f32 3x4
input b f32 4
output y f32 2x4
node MatMul product x w -> p
node sklink:BiasAdd bias p b -> y
LINES
fuses bias matmul_elem_biasadd_fusion "Gemm "
fuses bias matmul_elem_biasadd_fusion none --fusion-flags=--disable_pass=matmul_elem_biasadd_fusion
"$sklink" bias.onnx "${kernels[@]}" --check --verbose 2>&1 |
	grep -q 'graph kernel pass fusion_group_15_matmul_elem_biasadd_fusion changed\.$' ||
	fail "the log has no pass of that place"

# ---- rules of the user's ----
cat >mine.yaml <<'YAML'
fuse:
- name: mine
  pattern: y = BiasAdd(MatMul(a, b), c, data_format=*)
  replace: y = Add(MatMul(a, b), c)
- name: nearer
  before: matmul_elem_biasadd_fusion
  pattern: y = BiasAdd(MatMul(a, b), c, data_format=*)
  where: rank(a) == 2
  replace: y = Add(c, MatMul(a, b))
YAML
fuses bias matmul_elem_biasadd_fusion "MatMul Add " --rules=mine.yaml
sed -i 's/rank(a) == 2/rank(a) == 3/' mine.yaml
fuses bias matmul_elem_biasadd_fusion "Gemm " --rules=mine.yaml
fuses bias user_rules "MatMul Add " --rules=mine.yaml --fusion-flags=--disable_pass=matmul_elem_biasadd_fusion
"$sklink" bias.onnx "${kernels[@]}" --rules=mine.yaml --check --verbose 2>err.txt
grep -qF "bias.onnx: node 'bias': BiasAdd is not fused by rule 'nearer' at mine.yaml:5:9: the condition at mine.yaml:8:21 does not hold" err.txt ||
	{ cat err.txt >&2; fail "--verbose does not say why a rule is not applied"; }

# A node records the rule that made it, with its set and its place; dumps keep the record, and so do models read from
# dumps.
sed -i 's/rank(a) == 3/rank(a) == 2/' mine.yaml
made="Its node was made by rule 'nearer' of set 'user' at mine.yaml:5:9."
fuses bias matmul_elem_biasadd_fusion "MatMul Add " --rules=mine.yaml --explain bias/y >explained.txt
grep -qxF "  $made" explained.txt || fail "who made it: $(cat explained.txt)"
dump=$(echo dumps/hwopt_*_matmul_elem_biasadd_fusion_*.ir)
[ "$(grep -cF " rule=\"'nearer' of set 'user' at mine.yaml:5:9\"" "$dump")" = 2 ] || fail "a dump: $(cat "$dump")"
grep -qF "'nearer' of set 'user'" "${dump%.ir}.dot" || fail "a drawing has no rule"
"$sklink" "${dump%.ir}.pbtxt" "${kernels[@]}" -o again.sk --explain bias/y | grep -qxF "  $made" ||
	fail "a model that is a dump has lost the rule"
fuses bias matmul_elem_biasadd_fusion "Gemm " --explain bias/y >explained.txt
grep -qE "^  Its node was made by rule 'matmul_elem_biasadd_fusion' of set 'passes' at passes.yaml:[0-9]+:9\.$" \
	explained.txt || fail "who made it: $(cat explained.txt)"
"$sklink" relu.onnx "${kernels[@]}" --fusion-flags=--enable_expand_ops_only=Relu -o out.sk --explain relu/y |
	grep -qE "^  Its node was made by rule 'Relu' of set 'expand' at expand.yaml:[0-9]+:9\.$" ||
		fail "who expanded it"
"$sklink" relu.onnx "${kernels[@]}" -o out.sk --explain relu >explained.txt
! grep -q "made by" explained.txt || fail "no rule has made it"

# ---- precedence over another rule, wherever that is; all variants of a rule stay together ----
printf 'opset 17\ninput x f32 4x6\noutput y f32 4x6\nnode Relu relu x -> y\n' | model relu
taken() { # RULES ARGUMENT…: the rule that makes 'y' of relu.onnx
	"$sklink" relu.onnx "${kernels[@]}" --rules="$1" -o out.sk --explain relu/y |
		sed -n "s/.*made by rule '\([^']*\)'.*/\1/p"
}
cat >order.yaml <<'YAML'
fuse:
- {name: first, before: second, pattern: y = Relu(x), where: WHERE_FIRST, replace: y = Neg(x)}
- name: second
  before: third
  pattern: y = Relu(x)
  variants:
  - {where: rank(x) == 7, replace: y = Abs(x)}
  - {where: WHERE_SECOND, replace: y = Neg(x)}
- {name: third, pattern: y = Relu(x), where: WHERE_THIRD, replace: y = Neg(x)}
- {name: fourth, pattern: y = Relu(x), replace: y = Neg(x)}
YAML
for holds in 'FIRST first' 'SECOND second' 'THIRD third' 'NONE fourth'; do
	sed -E "s/WHERE_${holds% *}/rank(x) == 2/; s/WHERE_[A-Z]+/rank(x) == 3/" order.yaml >ordered.yaml
	[ "$(taken ordered.yaml)" = "${holds#* }" ] || fail "of $holds: $(taken ordered.yaml)"
done
sed -E "s/WHERE_[A-Z]+/rank(x) == 2/" order.yaml >ordered.yaml
[ "$(taken ordered.yaml)" = first ] || fail "of all: $(taken ordered.yaml)"
# Rules of the user that match nothing are also reported.
printf 'fuse: [{name: absent, pattern: "y = Erf(x)", replace: "y = Neg(x)"}]\n' >absent.yaml
"$sklink" relu.onnx "${kernels[@]}" --rules=absent.yaml --check --verbose 2>&1 | grep 'GraphFusionPass' >told.txt
[ "$(cat told.txt)" = \
	'[INFO] FE(sklink): GraphId[0], GraphFusionPass[user_rules]: pattern=absent, matched_times=0, effected_times=0.' ] || fail "what is told: $(cat told.txt)"

# Another name of an operator is also valid in rules.
printf 'fuse: [{name: filled, pattern: y = Relu(x), replace: "y = Add(x, FillV2(i64(shape(x)), f32(2)))"}]\n' \
	>filled.yaml
fuses relu user_rules "Expand Add " --rules=filled.yaml

# ---- operators that only a kernel knows ----
cat >gate.c <<'C'
#include "skkernel.h"

SK_KERNEL(gate, "op=Gate; in a f32[m, n], in b f32[m, n], out y f32[m, n], out s f32[m, n], m i64, n i64");
void gate(const float *a, const float *b, float *y, float *s, int64_t m, int64_t n)
{
	for (int64_t i = 0; i < m * n; i++) {
		s[i] = b[i] > 0 ? b[i] : 0;
		y[i] = a[i] * s[i];
	}
}
C
compile gate
model gated <<'LINES'
opset 17
input a f32 4x6
input b f32 4x6
output y f32 4x6
output z f32 4x6
node Relu r b -> s
node Mul m a s -> p
node Neg n p -> y
node Exp e s -> z
LINES
cat >gate.yaml <<'YAML'
fuse:
- name: gate
  pattern: ['s = Relu(b)', 'p = Mul(a, s)']
  replace: 'p, s = kernel:Gate(a, b)'
YAML
"$sklink" --check-rules=gate.yaml gate.o "${kernels[@]}" >told.txt || fail "the rule is not checked"
grep -q 'compute the same as their patterns: 1, not checked: 0' told.txt || fail "what is checked: $(cat told.txt)"
array a f32 4x6 0.5 -1 2 0.25 3 -2
array b f32 4x6 1 -2 3 -0.5 0.25
for rules in --rules=gate.yaml --no-pattern-fusion; do
	"$sklink" gated.onnx gate.o "${kernels[@]}" $rules --dump-dir gates -o gated.sk
	"$skrun" gated.sk --input=a=a.npy --input=b=b.npy --output=y=y$rules.npy --output=z=z$rules.npy --guard \
		>guarded.txt
	"$skdump" --steps gated.sk | grep -cw gate
done >found.txt || :
[ "$(paste -sd' ' found.txt)" = "1 0" ] || fail "the kernel is called so often: $(cat found.txt)"
cmp y--rules=gate.yaml.npy y--no-pattern-fusion.npy && cmp z--rules=gate.yaml.npy z--no-pattern-fusion.npy ||
	fail "the kernel computes something else"
fuses gated user_rules "Gate Neg Exp " --rules=gate.yaml gate.o
"$sklink" dumps/hwopt_*_user_rules_*.pbtxt gate.o "${kernels[@]}" -o again.sk
[ "$("$skdump" --steps again.sk | grep -cw gate)" = 1 ] || fail "a model that is a dump has no such operator"
"$skrun" again.sk --input=a=a.npy --input=b=b.npy --output=y=again.npy
cmp again.npy y--no-pattern-fusion.npy || fail "a model that is a dump computes something else"
[ "$(why gated.onnx "${kernels[@]}" --rules=gate.yaml | grep '^gate')" = "gate: no kernel has op=Gate" ] ||
	fail "there is no kernel: $(why gated.onnx "${kernels[@]}" --rules=gate.yaml)"
sed -i 's/y = a\[i\] \* s\[i\]/y = a[i] + s[i]/; s/y\[i\] = a\[i\] \*/y[i] = a[i] +/' gate.c
compile gate
fails_with "gate.yaml:2:9: rule 'gate': element [0-9]+ of 'gate/p' is" "$sklink" --check-rules=gate.yaml gate.o \
	"${kernels[@]}"
model asks <<'LINES'
opset 17
opset 1 kernel
input a f32 4x6
output y f32 4x6
node kernel:Gate g a -> h
node Neg n h -> y
LINES
fails_with "node 'g' \(Gate\): only the kernel knows its outputs, and the model does not give type and shape of output 0" "$sklink" asks.onnx gate.o "${kernels[@]}" -o out.sk

# A replacement that would use its own output is refused.
printf 'opset 17\ninput a f32 6x6\ninput b f32 6x6\noutput x f32 6x6\noutput y f32 6x6\nnode Add add a b -> x\nnode MatMul product x x -> y\n' | model loop
printf 'fuse:\n- name: loop\n  pattern: ["x = Add(a, b)", "y = MatMul(x, w)"]\n  outputs: [y, x]\n  replace: ["t = Mul(w, 2)", "x = Sub(t, t)", "y = Gemm(x, t)"]\n' >loop.yaml
fuses loop user_rules none --rules=loop.yaml

# Without patterns neither TorchAir's rules nor the user's are applied, wherever these are; their errors are still
# reported.
sed -i 's/rank(a) == 3/rank(a) == 2/' mine.yaml
fuses bias matmul_elem_biasadd_fusion "MatMul Add " --rules=mine.yaml
fuses bias matmul_elem_biasadd_fusion "Gemm " --rules=mine.yaml --no-pattern-fusion
fuses bias user_rules none --rules=mine.yaml --no-pattern-fusion \
	--fusion-flags=--disable_pass=matmul_elem_biasadd_fusion
"$sklink" bias.onnx "${kernels[@]}" --check --verbose --no-pattern-fusion 2>&1 |
	grep -q 'pass patterns_0_torchair_generic_pattern_pass has no rule\.$' || fail "TorchAir's rules are there"
printf 'sklink: 1\ngraph: bias.onnx\nrules: mine.yaml\nfusion: --disable_pass=matmul_elem_biasadd_fusion\npattern_fusion_pass: true\n' >patterns.yaml
for on in true false; do
	sed -i "s/^pattern_fusion_pass: .*/pattern_fusion_pass: $on/" patterns.yaml
	rm -rf dumps
	"$sklink" patterns.yaml "${kernels[@]}" --dump-dir dumps -o patterns.sk
	[ "$(operators user_rules)" = "$([ $on = true ] && echo "MatMul Add " || echo none)" ] ||
		fail "pattern_fusion_pass: $on: $(operators user_rules)"
done
sed -i 's/false/perhaps/' patterns.yaml
fails_with "^sklink: error: patterns.yaml:5:22: 'pattern_fusion_pass' must be false or true, not 'perhaps'" "$sklink" \
	patterns.yaml "${kernels[@]}" -o out.sk
printf 'sklink: 1\ntensors: {x: {dtype: f32, shape: [4]}}\ntasks: [{name: t, kernel: k, args: [x]}]\npattern_fusion_pass: false\n' >none.yaml
fails_with "^sklink: error: none.yaml:4:22: this applies to a model, but no 'graph' names one" "$sklink" none.yaml \
	"${kernels[@]}" -o out.sk
sed -i '$d' none.yaml
fails_with "^sklink: error: none.yaml: --no-pattern-fusion is about a model" "$sklink" none.yaml "${kernels[@]}" \
	--no-pattern-fusion -o out.sk

# The mode chooses among TorchAir's rules: two are for captured graphs only. The user's may still refer to them.
model turned <<'LINES'
opset 17
input x f32 2x3x128
input w f32 2x128x128
output y f32 3x2x128
node MatMul product x w -> p
node Transpose turn p -> y perm=[1,0,2]
LINES
fuses turned torchair_generic_pattern_pass "TransposeBatchMatMul "
fuses turned torchair_generic_pattern_pass "TransposeBatchMatMul " --torchair-mode=reduce-overhead
fuses turned torchair_generic_pattern_pass none --torchair-mode=max-autotune
printf 'fuse:\n- name: other\n  before: transpose_batchmatmul\n  pattern: y = Tanh(Neg(x))\n  replace: y = Neg(Tanh(x))\n' >other.yaml
fuses turned torchair_generic_pattern_pass none --torchair-mode=max-autotune --rules=other.yaml
fails_with "^sklink: error: --torchair-mode wants max-autotune or reduce-overhead, not 'eager'" "$sklink" turned.onnx \
	"${kernels[@]}" --torchair-mode=eager -o out.sk

# refused TEXT: of rules on standard input.
refused() {
	cat >bad.yaml
	rm -f out.sk
	fails_with "^sklink: error: $1" "$sklink" bias.onnx "${kernels[@]}" --rules=bad.yaml -o out.sk
	[ ! -e out.sk ] || fail "a package is left"
}
rule="pattern: y = Relu(x), replace: y = Neg(x)"
refused "bad.yaml:2:63: there is a rule 'a' already" <<<"fuse: [{name: b, $rule},
  {name: a, ${rule/Relu/Exp}}, {name: a, $rule}]"
refused "bad.yaml:1:15: sklink has a rule 'GeluErf' that fuses" <<<"fuse: [{name: GeluErf, $rule}]"
refused "bad.yaml:1:26: no rule that fuses is called 'GeluEr'; did you mean 'GeluErf'?" \
	<<<"fuse: [{name: a, before: GeluEr, $rule}]"
refused "bad.yaml:1:26: no rule that fuses is called 'Gelu'" <<<"fuse: [{name: a, before: Gelu, $rule}]"
refused "bad.yaml:1:26: rule 'a' would be before itself: 'before' leads from it back to it" \
	<<<"fuse: [{name: a, before: a, $rule}]"
refused "bad.yaml:2:21: rule 'a' would be before itself" \
	<<<"fuse: [{name: c, before: b, $rule}, {name: b, before: a, ${rule/Relu/Exp}},
  {name: a, before: b, $rule}]"
refused "bad.yaml:1:28: 'before' is for rules of 'fuse'" <<<"expand: [{name: a, before: GeluErf, $rule}]"
refused "bad.yaml:2:[0-9]+: only the kernel knows the outputs of kernel:Gate: they must be outputs of the pattern" \
	<<<"fuse: [{name: a, pattern: y = Relu(x), replace: [
  'g = kernel:Gate(x)', y = Neg(g)]}]"
refused "bad.yaml:1:[0-9]+: only the kernel knows the outputs of kernel:Gate" \
	<<<"fuse: [{name: a, pattern: y = Relu(x), replace: y = Neg(kernel:Gate(x))}]"
refused "bad.yaml:1:[0-9]+: Gate has no attribute 'k'" \
	<<<"fuse: [{name: a, pattern: y = Relu(x), replace: 'y = kernel:Gate(x, k=1)'}]"
refused "bad.yaml:1:1: a file of rules has rules under 'expand' or 'fuse'" <<<"{}"
printf 'fuse: [{name: mine, %s}]\n' "$rule" >other.yaml
printf 'sklink: 1\ngraph: bias.onnx\nrules: [mine.yaml, other.yaml]\n' >two.yaml
fails_with "^sklink: error: other.yaml:1:15: there is a rule 'mine' already" "$sklink" two.yaml "${kernels[@]}" -o \
	out.sk
