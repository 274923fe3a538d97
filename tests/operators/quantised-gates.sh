# Products and gates of quantised tensors, DequantSwigluQuant, QuantBatchMatmul and FormatCast, compute what torch_npu's
# documents say of them, compared with numpy: all operands, absent or present, by the names of sklink, of GE and of
# torch_npu; and a product and a gate in a scope are one superkernel without awaits.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
needs_python
set -e

for seed in 1 2 3 4; do
	"$python" "$top_srcdir/tests/lib/quantised-gates.py" make $seed >lines.txt
	model gates <lines.txt
	"$sklink" gates.onnx -L "$top_builddir/kernels" -lskernels -o gates.sk
	grep '^input' lines.txt | sed -E 's/input ([^ ]*).*/--input=\1=\1.npy/' >arguments.txt
	grep '^output' lines.txt | sed -E 's/output ([^ ]*).*/--output=\1=\1.npy/' >>arguments.txt
	xargs "$skrun" gates.sk --cores $((seed % 3 + 1)) <arguments.txt
	"$python" "$top_srcdir/tests/lib/quantised-gates.py" check || fail "other results than numpy's, with seed $seed"
done

# A product and a gate in one scope: the gate's rows are those that the core has made.
model scope <<'LINES'
opset 17
opset 1 torchair
input x1 i8 24x64
input x2 i8 64x32
input scale f32 32
input pertoken_scale f32 24
input weight_scale f32 24x32
output y i8 none
output y_scale f32 none
output product bf16 none
node torchair:npu_quant_matmul quant_matmul x1 x2 scale _ pertoken_scale -> product output_dtype=15
node torchair:npu_dequant_swiglu_quant swiglu product weight_scale -> y y_scale
LINES
"$sklink" scope.onnx -L "$top_builddir/kernels" -lskernels --scope 'sp1=*' -o scope.sk
"$skdump" --steps scope.sk >steps.txt
grep -qx 'launch 0: sk_sp1, superkernel, [0-9]* steps\?, 0 awaits' steps.txt || { cat steps.txt >&2; fail "awaits"; }
for cores in 1 2 3; do
	"$skrun" scope.sk --random 1 --verify --cores $cores | grep -q '^Precision: bit-identical' || fail "other results"
done
