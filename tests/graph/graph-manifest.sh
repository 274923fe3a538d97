# A manifest that names a model makes the same package as the command line, and can also say things that only a manifest
# can. Errors are reported at their places in it.
. "$top_srcdir/tests/lib/lib.sh"
make_model=$top_builddir/tests/lib/make-model
set -- -L "$top_builddir/kernels" -lskernels

mkdir nets
"$make_model" nets/net.onnx <<'END'
input x f32 batchx2x2
input cache f32 batchx4
input sizes i64 2
constant w f32 4x4 1 2 -3 4 5 -6 7 8 9
node Reshape /flat x sizes -> a
node MatMul /0/product a w -> b
node Relu /0/relu b -> c
node Add /1/sum c cache -> next
node Neg /1/out next -> y
output y f32 none
output next f32 none
END
"$make_model" nets/sizes.npy i64 2 -1 4
cat >all.yaml <<'M'
sklink: 1
graph: nets/net.onnx
dims: {batch: 3}
freeze: {sizes: nets/sizes.npy}
states: {cache: next}
scopes:
  rest: {nodes: "*"}
  first: {nodes: [/0/*, /flat], options: "profiling=1"}
M
"$sklink" all.yaml "$@" -o manifest.sk --dependency-file depends
for file in all.yaml nets/net.onnx nets/sizes.npy; do
	grep -q "$file" depends || fail "the package does not depend on $file"
done
"$sklink" nets/net.onnx "$@" --dim batch=3 --freeze sizes=nets/sizes.npy --state cache=next --scope 'rest=*' --scope \
	'first=/0/*' \
	--scope first=/flat --scope-options first=profiling=1 -o command.sk
for package in manifest command; do
	"$skdump" --all $package.sk | sed 1d >$package.txt
	"$skrun" $package.sk --random 1 --verify >out.txt || fail "$package.sk: $(cat out.txt)"
done
cmp manifest.txt command.txt || fail "a manifest makes another package than the command line"
grep -q sk_first command.txt || fail "there are no scopes"

# Shapes in place of dimensions; the command line counts as well.
sed 's/^dims:.*/shapes: {x: [3, 2, 2]}/' all.yaml >shapes.yaml
"$sklink" shapes.yaml "$@" --shape cache=3x4 -o shapes.sk
"$skdump" --all shapes.sk | sed 1d | cmp - manifest.txt || fail "shapes are not dimensions"
"$sklink" shapes.yaml "$@" --shape cache=3x4 --scope 'mine=*' -o mine.sk 2>err.txt
grep -q "no task is in scope 'first'" err.txt || fail "a scope without tasks is not said"
nm -D mine.sk | grep -q ' sk_mine$' || fail "the command line's scopes do not count"
"$sklink" shapes.yaml "$@" --shape cache=3x4 --scope-options first=profiling=0 -o off.sk
! "$skrun" off.sk --random 1 --profile >out.txt 2>&1 || fail "the command line's options do not count"

# Archives and kernels of the manifest: it has the signature, and constants are computed with the archive's kernels. For
# this device a Relu would become a Max.
cat >mine.c <<'C'
#include <stdint.h>
void my_relu(const float *x, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] + 1000;
}
C
compile mine
"$make_model" cache.npy f32 3x4 0
"$make_model" x.npy f32 3x2x2 0
"$make_model" y.npy f32 3x4 -1000
cp "$top_builddir/kernels/libskernels.a" nets/
{ cat all.yaml; printf 'library: nets/libskernels.a\ndevice: a3\nfusion: --disable_expand_ops=Relu\n'; } >own.yaml
printf 'kernels:\n  my_relu: {signature: "op=Relu split=n; in x f32[n], out y f32[n], n i64"}\n' >>own.yaml
"$sklink" own.yaml mine.o -o own.sk
"$skrun" own.sk --input x=x.npy --input cache=cache.npy --output y=got.npy
cmp got.npy y.npy || fail "the manifest's kernel is not the one"
"$skdump" own.sk | grep -q a3 || fail "the manifest's device is not the one"

# Options of the file give way to the manifest's.
printf 'sklink: 1\ngraph: s.pbtxt\nscopes: {s: {options: profiling=0}}\n' >s.yaml
cat >s.pbtxt <<'MODEL'
ir_version: 8
opset_import { version: 17 }
graph {
  node {
    input: "x" output: "t" op_type: "Relu"
    attribute { name: "_super_kernel_scope" s: "s" type: STRING }
    attribute { name: "_super_kernel_options" s: "profiling=1" type: STRING }
  }
  node { input: "t" output: "y" op_type: "Neg" attribute { name: "_super_kernel_scope" s: "s" type: STRING } }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 8 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 } } }
}
MODEL
"$sklink" s.yaml "$@" -o s.sk
! "$skrun" s.sk --random 1 --profile >out.txt 2>&1 || fail "the file's options count before the manifest's"
"$sklink" s.pbtxt "$@" -o s.sk
"$skrun" s.sk --random 1 --profile >out.txt || fail "the file's options do not count"

# ---- errors ----
# refuses PATTERN LINE…: a manifest of these lines.
refuses() {
	local pattern=$1
	shift
	printf '%s\n' 'sklink: 1' "$@" >bad.yaml
	fails_with "$pattern" "$sklink" bad.yaml -L "$top_builddir/kernels" -lskernels -o bad.sk
	[ ! -e bad.sk ] || fail "something was left behind"
}
refuses "error: bad.yaml:3:8: dims 'batc=3': no input has a dimension of that name; did you mean 'batch'." \
	'graph: nets/net.onnx' 'dims: {batc: 3}'
refuses "error: bad.yaml:3:10: shapes 'z=3x4': the model has no input 'z'" 'graph: nets/net.onnx' 'shapes: {z: [3, 4]}'
refuses "error: bad.yaml:3:10: shapes 'x=3x4': the shape of input 'x' is .., 2, 2." 'graph: nets/net.onnx' \
	'shapes: {x: [3, 4]}'
refuses "error: bad.yaml:3:14: .*the shape of input" 'graph: nets/net.onnx' 'shapes: {x: [-3, 4]}'
refuses "error: bad.yaml:3:38: the shape of input 'x' has more than 8 dimensions" 'graph: nets/net.onnx' \
	'shapes: {x: [1, 2, 3, 4, 5, 6, 7, 8, 9]}'
refuses "error: bad.yaml:3:10: states 'cache=last': the model has no output 'last'" 'graph: nets/net.onnx' \
	'states: {cache: last}'
refuses "error: nets/none.npy: " 'graph: nets/net.onnx' 'freeze: {sizes: nets/none.npy}'
refuses "error: bad.yaml:3:22: no node is called '/2/.', as those of scope 's' are to be" 'graph: nets/net.onnx' \
	"scopes: {s: {nodes: [/2/*]}}"
refuses "error: bad.yaml:3:10: tensors and tasks are those of the model" 'graph: nets/net.onnx' \
	'tensors: {x: {dtype: f32, shape: [4]}}'
refuses "error: nets/none.onnx: cannot read the model" 'graph: nets/none.onnx'
refuses "error: bad.yaml:2:9: this applies to a model, but no 'graph' names one" 'states: {batch: y}'
refuses "error: bad.yaml:1:1: the manifest has no 'tasks'" 'dims: {batch: 3}'
refuses "error: bad.yaml:4:21: these are nodes of a model, but no 'graph' names one" \
	'tensors: {x: {dtype: f32, shape: [4]}}' 'tasks: []' 'scopes: {s: {nodes: "*"}}'
printf 'sklink: 1\ntensors: {x: {dtype: f32, shape: [4]}}\ntasks: [{name: t, op: Relu, inputs: x, outputs: x}]\n' \
	>plain.yaml
fails_with "plain.yaml: --dim 'batch=1': the manifest has no dimension 'batch' under 'dims'" "$sklink" plain.yaml "$@" \
	--dim batch=1 -o bad.sk
