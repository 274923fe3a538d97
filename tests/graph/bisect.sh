# sklink-bisect finds the node with a wrong kernel, with each kind of reference, and no node if all are right.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
type python3 >/dev/null 2>&1 || { echo "sklink-bisect needs python3"; exit 77; }
PATH=$top_builddir:$PATH
unset SKLINK_GRAPH_KERNEL_FLAGS MS_DEV_GRAPH_KERNEL_FLAGS
libraries="-L$top_builddir/kernels -lskernels"

bisect() { # STATUS ARGUMENT…: it ends with that status; its output is in said.txt
	local wanted=$1 status=0
	shift
	python3 "$top_srcdir/src/bisect/sklink-bisect" "$@" >said.txt 2>&1 || status=$?
	[ $status = "$wanted" ] || { cat said.txt >&2; fail "exit status $status, not $wanted: sklink-bisect $*"; }
}
says() {
	grep -qE -- "$1" said.txt || { cat said.txt >&2; fail "sklink-bisect does not say '$1'"; }
}

# The wrong kernel is right for numbers from 0 on, so the first of the two nodes that it computes is right.
cat >wrong.c <<'C'
#include "skkernel.h"
#include <math.h>
void wrong_gelu(const float *x, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = 0.5f * x[i] * (1 + (x[i] < 0 ? -1 : 1) * erff(fabsf(x[i]) * 0.70710678f)) + (x[i] < -0.25f ? 0.5f : 0);
}
SK_KERNEL(wrong_gelu, "split=n:1 op=Gelu; in x f32[n], out y@x f32[n], n i64");
C
compile wrong
ar rcs libwrong.a wrong.o
model model <<'M'
opset 20
input x f32 8x8
output y f32 none
output z f32 none
constant two f32 scalar 2.0
constant w f32 8x8 0.25 -0.5 0.125 -1.0 0.5 -0.125 0.25
node Abs positive x -> /layer/a
node Gelu harmless /layer/a -> /layer/b
node MatMul product x w -> c
node Gelu /layer.1/gelu c -> d
node Mul double d two -> e
node Add sum /layer/b e -> y
node Neg other /layer/b -> z
M

bisect 1 --reference-link "model.onnx $libraries" -- model.onnx -L. -lwrong $libraries
says "^output 'y' differs: element [0-9]+ is "
says "^node: '/layer.1/gelu' \(Gelu\) makes 'd': element [0-9]+ is "
says "^pass: none"
! grep -q "output 'z'" said.txt || fail "an output differs that is right"
bisect 0 --reference-link "model.onnx $libraries" -- model.onnx $libraries
says '^nothing differs: y, z$'

# The pass that computes something in another way, and the first node of which it does; flags that were given hold.
model passes <<'M'
opset 20
input x f32 8x8
output y f32 none
output z f32 none
constant two f32 scalar 2.0
node Mul mul x two -> a
node Tanh tanh a -> b
node Sigmoid sigmoid b -> c
node Add add c x -> y
node Neg neg a -> z
M
bits="--relative 0 --absolute 0"
bisect 1 $bits -- passes.onnx $libraries --fusion-target=ascend
says '^pass: stage1_cluster_3_graph_kernel_expander$'
says "^node: 'tanh' \(Tanh\) makes 'b'"
bisect 1 $bits -- passes.onnx $libraries --fusion-target=ascend --fusion-flags \
	"--disable_expand_ops=Tanh --disable_pass=cluster.graph_kernel_cluster"
says "^node: 'sigmoid' \(Sigmoid\) makes 'c'"
bisect 0 $bits -- passes.onnx $libraries --fusion-target=ascend --fusion-flags=--disable_pass=1.3
SKLINK_GRAPH_KERNEL_FLAGS=--disable_expand_ops=Tanh,Sigmoid bisect 0 $bits -- passes.onnx $libraries \
	--fusion-target=ascend
bisect 0 -- passes.onnx $libraries --fusion-target=ascend
bisect 1 $bits --reference-link "passes.onnx $libraries --fusion-flags=--opt_level=0" -- passes.onnx $libraries \
	--fusion-target=ascend
says "^node: 'tanh' \(Tanh\) makes 'b'"
bisect 1 --reference-link "model.onnx $libraries" -- model.onnx -L. -lwrong $libraries --fusion-target=ascend \
	--fusion-flags=--disable_expand_ops=Gelu
says "^pass: none; it differs without all of them, too"
says "^node: '/layer.1/gelu' \(Gelu\) makes 'd'"

# A rule that is wrong: where its values are kept all at once it is not applied, so the one is found that it makes.
cat >wrong.yaml <<'R'
expand:
- name: wrong
  pattern: y = Tanh(Neg(x))
  replace: y = Tanh(Mul(x, 2))
R
model ruled <<'M'
input x f32 8x8
output z f32 none
node Abs abs x -> a
node Neg neg a -> b
node Tanh tanh b -> c
node Add sum c x -> d
node Exp exp d -> z
M
bisect 1 -- ruled.onnx $libraries --rules wrong.yaml --fusion-flags=--enable_expand_ops=Tanh
says "^output 'z' differs"
says '^pass: stage1_cluster_3_graph_kernel_expander$'
says "^node: '.*' \(Tanh\) makes 'c'"

# The same holds for a rule that fuses, in a pass without a number; a rule that fuses a single node is applied even if
# values are kept.
printf 'fuse:\n- {name: wrong, pattern: y = Tanh(Neg(x)), replace: "y = Tanh(Mul(x, 2))"}\n' >wrong.yaml
bisect 1 -- ruled.onnx $libraries --rules wrong.yaml
says '^pass: patterns_1_user_rules$'
says "^node: '.*' \(Tanh\) makes 'c'"
printf 'fuse:\n- {name: wrong, pattern: y = Tanh(x), replace: "y = Tanh(Mul(x, 2))"}\n' >wrong.yaml
bisect 1 -- ruled.onnx $libraries --rules wrong.yaml
says '^pass: patterns_1_user_rules$'
says "^node: 'tanh' \(Tanh\) makes 'c'"

# Right files: all values, or some; then the nearest one after the node is found.
mkdir right some
"$sklink" model.onnx $libraries --keep '*' -o right.sk
"$skrun" right.sk --random 7 --output y=right/y.npy --output z=right/z.npy --output c=right/c.npy --output \
	d=right/d.npy --output e=right/e.npy \
	--output /layer/a=right/_layer_a.npy --output /layer/b=right/_layer_b.npy
bisect 1 --random 7 --reference right --keep-files kept -- model.onnx -L. -lwrong $libraries
says "^node: '/layer.1/gelu' \(Gelu\) makes 'd'"
[ -s kept/1.sk ] && [ -s kept/1.sk.dumps/6_validate.ir ] || fail "no files are kept"
cp right/y.npy right/e.npy right/_layer_b.npy some
bisect 1 --random 7 --reference some -- model.onnx -L. -lwrong $libraries
says "^node: 'double' \(Mul\) makes 'e'"

# A difference within the tolerance does not count.
bisect 0 --random 7 --reference right --absolute 10 -- model.onnx -L. -lwrong $libraries
bisect 0 --random 7 --reference right --absolute 0 --relative=0 -- model.onnx $libraries
bisect 1 --random 8 --reference right -- model.onnx $libraries

# Names that would steer a terminal, or that look like more of a line; a node that has been linked once is linked again
# only for its dumps, which few links have.
printf '%s' 'ir_version: 8
opset_import { version: 20 }
graph {
  name: "steer"
  node { input: "x" output: "a) -> (\"b\": " op_type: "Abs" name: "abs" }
  node { input: "a) -> (\"b\": " output: "c\n=\033[31m" op_type: "Gelu" name: "bell\007" }
  node { input: "x" output: "d" op_type: "Gelu" name: "red\033[31m" }
  node { input: "d" output: "y\t=\303\251" op_type: "Neg" name: "neg" }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 8 } dim { dim_value: 8 } } } } }
  output { name: "c\n=\033[31m" type { tensor_type { elem_type: 1 } } }
  output { name: "y\t=\303\251" type { tensor_type { elem_type: 1 } } }
}
' >names.pbtxt
bisect 1 --reference-link "names.pbtxt $libraries" --keep-files steered -- names.pbtxt -L. -lwrong $libraries
says "^output 'y\\\\x09=é' differs: element"
says "^node: 'red\\\\x1b\[31m' \(Gelu\) makes 'd': element"
! grep -q "output 'c" said.txt || fail "an output differs that is right"
[ "$(cd steered && echo *.sk *.dumps)" = "1.sk 3.sk 5.sk 7.sk 8.sk 3.sk.dumps 7.sk.dumps" ] ||
	fail "other links: $(ls -d steered/*.sk*)"
PYTHONIOENCODING=ascii bisect 0 -- names.pbtxt $libraries
says 'nothing differs: c\\x0a=\\x1b\[31m, y\\x09=\\xe9$'

# The first one of two flags of a name counts.
bisect 1 $bits -- passes.onnx $libraries --fusion-target=ascend --fusion-flags="--disable_pass=9.9 --disable_pass=1.3"
says '^pass: stage1_cluster_3_graph_kernel_expander$'

# Errors.
bisect 2 model.onnx
says "unknown option 'model.onnx'; the arguments of sklink stand behind '--'"
bisect 2 --random 1
says 'no model given'
bisect 2 --random
says "option '--random' wants a value"
bisect 2 --relative much -- model.onnx
says "--relative wants a number from 0 on, not 'much'"
bisect 2 --absolute inf -- model.onnx
says "--absolute wants a number from 0 on, not 'inf'"
bisect 2 --absolute=-1 -- model.onnx
says "--absolute wants a number from 0 on, not '-1'"
bisect 2 --reference-link "it's" -- model.onnx
says "--reference-link: No closing quotation in 'it's'"
bisect 2 --reference-link= -- model.onnx
says '--reference-link wants the arguments of a link'
bisect 2 --reference= -- model.onnx $libraries
says 'there is no such folder'
bisect 2 --reference nowhere -- model.onnx $libraries
says 'there is no such folder'
mkdir empty
bisect 2 --reference empty -- model.onnx $libraries
says "the reference has none of the model's outputs"
echo nonsense >empty/y.npy
bisect 2 --reference empty -- model.onnx $libraries
says 'empty/y.npy: it is no .npy file'
npy() { # HEADER BYTES
	printf '\x93NUMPY\1\0%b%s' "$(printf '\\x%x' $((${#1} % 256)) $((${#1} / 256)))" "$1" >empty/y.npy
	head -c "$2" /dev/zero >>empty/y.npy
	bisect 2 --reference empty -- model.onnx $libraries
}
npy "{'descr': '<f4', 'fortran_order': True, 'shape': (8, 8), }" 256
says 'empty/y.npy: the array is in Fortran order, wanted is C order'
npy "{'descr': '<f4', 'fortran_order': False, 'shape': (8, 8), }" 252
says 'empty/y.npy: 252 bytes of elements follow the header, whose shape \[8, 8\] needs 256'
npy "{'descr': '<f4', 'fortran_order': False, 'shape': ('8', 8), }" 256
says 'empty/y.npy: it is no .npy file'
npy "{'descr': '<f4', 'fortran_order': " 256
says 'empty/y.npy: it is no .npy file'
npy "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (8, 8), }" 256
says 'empty/y.npy: it is no .npy file'
npy "$(printf '%060000d' 0 | tr 0 -)1" 256 # nested too deeply for Python
says 'empty/y.npy: it is no .npy file'
bisect 2 --reference right -- nothing.onnx $libraries
says 'nothing.onnx: cannot read the model'
bisect 2 --reference right --reference-link x -- model.onnx
says 'say one of them'

# The help and the manual page have the same options.
bisect 0 --help
sed -nE 's/^ {2}(--.*)/\1/p' said.txt | sed 's/  .*//' | grep -oE -- '--[a-z-]+' | sort -u >options.txt
grep '^\.It.* Fl -' "$top_srcdir/doc/reference/sklink-bisect.1" | sed -nE 's/^\.It Fl (-[a-z-]+).*/-\1/p' | sort -u |
	diff options.txt - >&2 || fail "other options"
