# A model as text is linked like the same model as an ONNX file, and a graph that sklink writes is the same network
# again, with its scopes and streams. A dump of GE is linked by its meaning.
. "$top_srcdir/tests/lib/lib.sh"
link() { # MODEL: MODEL.sk, and skdump's output for it
	"$sklink" "$1" -L"$top_builddir/kernels" -lskernels -o "$1.sk" || fail "$1 is not linked"
	"$skdump" "$1.sk" | sed 1d >"$1.txt"
}
write_again() { # MODEL TEXT
	"$top_builddir/tests/lib/read-models" --again "$1" >out.txt
	! grep '^read-models: ' out.txt || fail "$1 is not read again"
	mv again.pbtxt "$2"
}

cat >first.pbtxt <<'MODEL'
ir_version: 8
opset_import { version: 17 }
graph {
  name: "network"
  node { input: ["x", "w"] output: "t" op_type: "Add" name: "/sum" attribute { name: "_super_kernel_scope" s: "part" type: STRING } }
  node {
    input: "t" output: "y" op_type: "Relu" name: "/end"
    attribute { name: "stream_id" i: 1 type: INT }
    attribute { name: "_super_kernel_scope" s: "part" type: STRING }
  }
  initializer { name: "w" dims: [1, 4] data_type: 1 float_data: [1, -2, 3, -4] }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 3 } dim { dim_value: 4 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 } } }
}
MODEL
link first.pbtxt
"$skdump" --launches first.pbtxt.sk >launches.txt
grep -q sk_part launches.txt || fail "the scope is not fused"
write_again first.pbtxt second.pbtxt
link second.pbtxt
diff first.pbtxt.txt second.pbtxt.txt || fail "a model that has been written is another one"
write_again second.pbtxt third.pbtxt
cmp second.pbtxt third.pbtxt || fail "a text that has been read is written otherwise"

# A file's contents count, not its name.
cp first.pbtxt model
link model
diff first.pbtxt.txt model.txt || fail "the name of the file matters"

cat >ge.pbtxt <<'MODEL'
producer_name: "GE"
graph {
  node {
    output: "data:0" name: "data" op_type: "ge:Data"
    attribute { name: "output_desc_dtype:0" s: "DT_FLOAT" type: STRING }
    attribute { name: "output_desc_shape:0" ints: [3, 4] type: INTS }
  }
  node { input: "data:0" output: "relu:0" name: "relu" op_type: "ge:Relu" attribute { name: "id" i: 1 type: INT } }
  node { input: "relu:0" input: "data:0" input: "relu:-1" output: "add:0" name: "add" op_type: "ge:Add" }
  node { input: "add:0" name: "end" op_type: "ge:NetOutput" }
}
MODEL
link ge.pbtxt
grep -q data ge.pbtxt.txt || fail "the input has another name"

printf '<ir_version: 8>\nagraph (float[N] x) => (float[N] y) { y = Neg(x) }\n' >own.onnxtxt
! "$sklink" own.onnxtxt -o own.sk 2>err.txt || fail "a text in another syntax is linked"
grep -q "own.onnxtxt:1:1: this is ONNX's own syntax" err.txt || { cat err.txt >&2;
	fail "a text in another syntax is refused for another reason"; }

# Options of the command line for a model are in the text that --model-text writes, which is linked to the same package.
cat >open.pbtxt <<'MODEL'
ir_version: 8
opset_import { version: 17 }
graph {
  name: "network"
  node { input: ["x", "sizes"] output: "t" op_type: "Reshape" name: "/flat" }
  node { input: ["t", "w"] output: "u" op_type: "Mul" name: "/first" }
  node { input: "u" output: "y" op_type: "Relu" name: "/second" attribute { name: "stream_id" i: 1 type: INT } }
  initializer { name: "w" dims: [4] data_type: 1 float_data: [1, -2, 3, -4] }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "batch" } dim { dim_value: 2 } dim { dim_value: 2 } } } } }
  input { name: "sizes" type { tensor_type { elem_type: 7 shape { dim { dim_value: 2 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 } } }
}
MODEL
"$top_builddir/tests/lib/make-model" sizes.npy i64 2 -1 4
cp open.pbtxt model.pbtxt
"$sklink" model.pbtxt -L"$top_builddir/kernels" -lskernels --dim batch=3 --freeze sizes=sizes.npy --scope 'a=/f*' \
	--scope 'b=/second' \
	--model-text=said.pbtxt -o first.sk
grep -q '_super_kernel_scope' said.pbtxt || fail "the text has no scopes"
mv said.pbtxt model.pbtxt
"$sklink" model.pbtxt -L"$top_builddir/kernels" -lskernels --model-text=again.pbtxt -o second.sk
for package in first second; do
	"$skdump" --all $package.sk | sed 1d >$package.txt
done
cmp first.txt second.txt || fail "the text makes another package"
cmp model.pbtxt again.pbtxt || fail "a text that has been read is written otherwise"
"$sklink" model.pbtxt -L"$top_builddir/kernels" -lskernels --check --model-text=- -o no.sk | cmp - model.pbtxt ||
	fail "-"
fails_with "no output" "$sklink" open.pbtxt -L"$top_builddir/kernels" -lskernels --model-text=no.pbtxt
fails_with "not known when linking" "$sklink" open.pbtxt -L"$top_builddir/kernels" -lskernels --model-text=no.pbtxt -o \
	no.sk
[ ! -e no.pbtxt ] || fail "something was left behind"
printf 'sklink: 1\ntensors: {x: {dtype: f32, shape: [4]}}\ntasks: [{name: t, op: Relu, inputs: x, outputs: x}]\n' \
	>m.yaml
fails_with "m.yaml: --model-text is about a model, and this manifest names none" "$sklink" m.yaml \
	-L"$top_builddir/kernels" -lskernels --model-text=no.pbtxt -o no.sk
