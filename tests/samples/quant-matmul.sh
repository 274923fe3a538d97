#!/bin/sh
# samples/quant_matmul at its small size: right by an independent computation, bit-identical however it is run.
. "$top_srcdir/tests/lib/lib.sh"
sample=$top_builddir/samples/quant_matmul

"$sklink" "$top_srcdir/samples/quant_matmul/small.yaml" "$sample/quant_matmul.o" "$sample/dequant_swiglu_quant.o" -o \
	small.sk
"$sample/reference" make . 24 64 32
"$skrun" small.sk --input x1=x1.npy --input x2=x2.npy --input channel_scale=channel_scale.npy \
	--input token_scale=token_scale.npy --input weight_scale=weight_scale.npy \
	--output product=product.npy --output y=y.npy --output scale=scale.npy
"$sample/reference" check .
for cores in 1 2 3 7; do
	"$skrun" small.sk --random 1 --verify --cores $cores --repeat 200
done

# The same network as a graph, by the names of torch_npu, from the transpose of x2: the same product. Its integers have
# no scale for each row.
sed -E 's/\b864\b/24/g; /"x2"/s/7168(.*)4096/32\164/; s/\b7168\b/64/; s/\b4096\b/32/
	/"output_dtype"/a attribute { name: "transpose_x2" type: INT i: 1 }' \
	"$top_srcdir/samples/quant_matmul/model.pbtxt" >model.pbtxt
"$sklink" model.pbtxt -L "$top_builddir/kernels" -lskernels -o model.sk
"$skdump" --steps model.sk | grep -q '^launch 0: sk_sp1, superkernel, ' || fail "no superkernel of the model"
"$skrun" model.sk --input x1=x1.npy --input x2=x2.npy --input scale=channel_scale.npy \
	--input pertoken_scale=token_scale.npy --input weight_scale=weight_scale.npy --output product=product2.npy
cmp product.npy product2.npy || fail "the model has another product"
for cores in 1 2 3 7; do
	"$skrun" model.sk --random 1 --verify --cores $cores --repeat 20
done

# The same rows with other inputs: the check must notice.
"$sample/reference" make . 24 65 32
fails_with 'product\[0\]\[0\] is .*, expected' "$sample/reference" check .

# An n other than twice h is an error not of the signature but of the kernel: it ends the launch and names the task.
sed 's/y: .*/y: {dtype: i8, shape: [24, 15]}/' "$top_srcdir/samples/quant_matmul/small.yaml" >odd.yaml
"$sklink" odd.yaml "$sample/quant_matmul.o" "$sample/dequant_swiglu_quant.o" -o odd.sk
fails_with dequant_swiglu_quant "$skrun" odd.sk --random 1
