# Operators that are several others in one call compute the same bytes as their parts one after the other, with any
# operand absent, also by the names that GE, TorchAir and MindSpore have for them, for which inputs may be in another
# order. Invalid operands are refused.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
set -e

# same NAME TYPE M K: standard input is a model of a, b [m,k] and g, t [k], all of type T, and s (above 0), z [k] of
# f32. Its lines "number NAME TYPE SHAPE" are inputs, brought into [-1, 1]. In its lines "same TYPE VALUE…" each
# VALUE_f, which a fused operator makes, must have the bytes of VALUE_p, which parts make. Nodes sum* are in a scope of
# their own, so that these parts are not fused.
same() {
	local name=$1 value outputs=()
	{
		printf 'opset 23\nopset 1 sklink\nopset 1 ge\nopset 1 torchair\nopset 1 mindspore\n'
		printf "number %s T $3x$4\n" a b
		printf "number %s T $4\n" g t
		printf "input %s f32 $4\n" s_in z
		echo "node Exp scales s_in -> s"
		cat
	} | sed -E "s/\bT\b/$2/" | awk '
		$1 == "number" { print "input", $2 "_in", $3, $4 "\nnode Tanh " $2 "_tanh " $2 "_in -> " $2; next }
		$1 != "same" { print; next }
		{ for (i = 3; i <= NF; i++) print "output " $i "_f " $2 " none\noutput " $i "_p " $2 " none" }' \
			>"$name.txt"
	model "$name" <"$name.txt"
	for value in $(sed -nE 's/^output (.*_[fp]) .*/\1/p' "$name.txt"); do
		outputs+=("--output=$value=$value.npy")
	done
	"$sklink" "$name.onnx" -L "$top_builddir/kernels" -lskernels --scope 'sums=sum*' -o "$name.sk" ||
		fail "$name is not linked for $*"
	"$skrun" "$name.sk" --random 3 --cores 2 "${outputs[@]}"
	for value in $(sed -nE 's/^output (.*)_f .*/\1/p' "$name.txt"); do
		cmp "${value}_f.npy" "${value}_p.npy" || fail "$value of $*"
	done
}

# product TYPE M K N: FusedMatMul of a [m,k], b [k,n], and t [n,k], w [k,n], v [n,k], of which the last two are
# constants; s is one of n.
product() {
	local first=$(($4 / 3)) second=$(($4 / 2)) rest values number
	rest=$(($4 - first - second))
	case $1 in f32) number=1 ;; f16) number=10 ;; *) number=16 ;; esac
	values=$(seq -s ' ' -f '%.0f' 1 $(($3 * $4)) |
		awk '{ for (i = 1; i <= NF; i++) printf "%d ", i * 7919 % 19 - 9 }')
	same product "$@" <<-END
	number b2 T $3x$4
	number t2 T $4x$3
	number s2 T $4
	number e T $2x$4
	constant w32 f32 $3x$4 $values
	constant v32 f32 $4x$3 $values
	node Cast whole1 w32 -> w to=$number
	node Cast whole2 v32 -> v to=$number
	constant sizes i64 3 $first $second $rest
	node MatMul p1 a b2 -> c1
	node Add sum1 c1 s2 -> y1_p
	node sklink:FusedMatMul f1 a b2 s2 -> y1_f
	node Gelu p2 y1_p -> y2_p
	node sklink:FusedMatMul f2 a b2 s2 -> y2_f activation='gelu'
	node MatMul p3 a w -> c3
	node Add sum3 c3 s2 -> d3
	node Gelu p4 d3 -> g3 approximate='tanh'
	node Add sum4 g3 e -> y3_p
	node sklink:FusedMatMul f3 a w s2 e -> y3_f activation='gelu_tanh'
	node Transpose p5 t2 -> turned perm=[1,0]
	node sklink:BatchMatMul p6 a t2 -> c4 transpose_b=1
	node Relu p7 c4 -> y4_p
	node sklink:FusedMatMul f4 a t2 -> y4_f activation='relu' transB=1
	node sklink:BatchMatMul p8 a v -> c5 transpose_b=1
	node Add sum5 c5 e -> y5_p
	node sklink:FusedMatMul f5 a v _ e -> y5_f transB=1
	same T y1 y2 y3 y4 y5
	node sklink:BatchMatMul p9 a v -> c6 transpose_b=1
	node Add sum6 c6 s2 -> d6
	node Split p10 d6 sizes -> y6_p d7 y8_p axis=1
	node Swish p11 d7 -> y7_p
	node sklink:FusedMatMul f6 a v s2 -> y6_f y7_f y8_f transB=1 sizes=[$first,$second,$rest] activation='silu' activated=1
	node MatMul p12 a b2 -> c9
	node Split p13 c9 sizes -> y9_p _ y10_p axis=1
	node sklink:FusedMatMul f7 a b2 -> y9_f _ y10_f sizes=[$first,$second,$rest]
	same T y6 y7 y8 y9 y10
	node Swish p14 b2 -> b_gate
	node Mul p15 b_gate w -> y11_p
	node sklink:SwiGlu f8 b2 w -> y11_f
	node Concat joined b2 w -> two axis=0
	node sklink:SwiGlu f9 two -> y12_f dim=0
	node Identity p16 y11_p -> y12_p
	node Concat joined2 b2 w -> three axis=1
	node torchair:npu_swiglu f10 three -> y13_f
	node Identity p17 y11_p -> y13_p
	same T y11 y12 y13
	END
	[ "$("$skdump" --steps product.sk | grep -Ec ' f[3567](#[23])? .* sk_fusedmatmul_.*packed')" -ge 4 ] ||
		fail "constants are not packed"
}

for sizes in '1 64' '3 63' '65 65' '7 1' '2 130' '0 5'; do
	for type in f32 f16 bf16; do
		same normal $type $sizes <<-'END'
		node Add sum1 a b -> x1_p
		node RMSNormalization p1 x1_p g -> y1_p epsilon=0.001
		node sklink:RmsNorm p2 x1_p g -> w1_p r1_p epsilon=0.001
		node Identity p3 y1_p -> w1_f
		node sklink:AddRmsNorm f1 a b g -> y1_f r1_f x1_f epsilon=0.001
		same T y1 x1 w1
		same f32 r1
		node RMSNormalization p4 x1_p g -> y2_p epsilon=0.000001
		node sklink:AddRmsNorm f2 a b g -> y2_f
		node sklink:AddRmsNorm f3 a b g -> _ _ x3_f
		node Add sum3 b a -> x3_p
		same T y2 x3
		node sklink:RmsNorm p5 x1_p g -> w4_p r4_p
		node Cast p6 w4_p -> c4_p to=1
		node Identity p7 w4_p -> y4_p
		node Add sum4 a b -> x4_p
		node sklink:AddRmsNormCast f4 a b g -> c4_f y4_f r4_f x4_f
		node sklink:AddRmsNormCast f5 a b g -> c5_f
		node Identity p8 c4_p -> c5_p
		same T y4 x4
		same f32 c4 c5 r4
		node LayerNormalization p9 x1_p g t -> y6_p m6_p r6_p epsilon=0.01
		node Add sum6 a b -> x6_p
		node sklink:AddLayerNorm f6 a b g t -> y6_f m6_f r6_f x6_f epsilon=0.01
		node LayerNormalization p10 x1_p g t -> y7_p epsilon=0.00001
		node sklink:AddLayerNorm f7 a b g t -> y7_f
		same T y6 y7 x6
		same f32 m6 r6
		END
		same quantised $type $sizes <<-'END'
		node Add sum1 a b -> x_p
		node RMSNormalization p1 x_p g -> y_p epsilon=0.000001
		node sklink:AddRmsNormQuant f1 a b g s z t z -> q1_f q2_f x_f div_mode=1
		node sklink:QuantV2 p2 y_p s z -> q1_p div_mode=1
		node sklink:QuantV2 p3 y_p t z -> q2_p div_mode=1
		same T x
		node sklink:AddRmsNormQuant f2 a b g s -> q3_f
		node sklink:QuantV2 p4 y_p s -> q3_p
		node ge:AddRmsNormQuant f3 a b g s t z z -> q4_f q5_f
		node Identity p5 q1_p -> q4_p
		node Identity p6 q2_p -> q5_p
		node torchair:npu_add_rms_norm_quant f4 a b g s z _ t -> q6_f q7_f
		node Identity p7 q1_p -> q6_p
		node sklink:QuantV2 p8 y_p t -> q7_p div_mode=1
		node mindspore:AddRmsNormQuantV2 f5 a b g s z -> q8_f
		node sklink:QuantV2 p9 y_p s z -> q8_p
		same i8 q1 q2 q3 q4 q5 q6 q7 q8
		node RMSNormalization p10 a g -> n_p epsilon=0.01
		node sklink:RmsNormQuant f6 a g _ s z -> q9_f epsilon=0.01
		node sklink:QuantV2 p11 n_p s z -> q9_p
		same i8 q9
		node sklink:DynamicQuant p12 y_p t -> q10_p c10_p
		node sklink:DynamicQuant p13 y_p -> q11_p c11_p
		node sklink:AddRmsNormDynamicQuant f7 a b g t -> q10_f q11_f x12_f c10_f c11_f
		node Add sum12 a b -> x12_p
		node torchair:npu_add_rms_norm_dynamic_quant f8 a b g -> q13_f _ _ c13_f output_mask=[1,0]
		node Identity p14 q11_p -> q13_p
		node Identity p15 c11_p -> c13_p
		same i8 q10 q11 q13
		same f32 c10 c11 c13
		same T x12
		END
	done
done

# integers TYPE M K N: products of bytes, also of a constant, and products with rows in another order.
integers() {
	local number torch # of the type, in ONNX and in PyTorch
	case $1 in f32) number=1 torch=6 ;; f16) number=10 torch=5 ;; *) number=16 torch=15 ;; esac
	same integers "$@" <<-END
	number c T 3x$2x$3
	number d T 3x$3x$4
	number e T $2x3x$3
	input i_in f32 $2x$3
	input j_in f32 $3x$4
	input l_in f32 $4
	input r f32 $2
	constant w i8 $4x$3 $(seq -s ' ' 1 $(($3 * $4)) | awk '{ for (i = 1; i <= NF; i++) printf "%d ", i * 7919 % 255 - 127 }')
	constant scales i64 1 1056964608
	node Cast n1 i_in -> i to=3
	node Cast n2 j_in -> j to=3
	node Cast n3 l_in -> l to=6
	node MatMulInteger p1 i j -> c1
	node Add sum1 c1 l -> d1
	node Cast p2 d1 -> e1 to=1
	node Mul p3 e1 l_in -> m1
	node Cast p4 m1 -> y1_p to=$number
	node ge:QuantBatchMatmulV3 f1 i j l_in _ l -> y1_f dtype=$number
	node Transpose p5 w -> turned perm=[1,0]
	node MatMulInteger p6 i turned -> c2
	node Cast p7 c2 -> e2 to=1
	constant half f32 1 0.5
	node Mul p8 e2 half -> m2
	constant column i64 2 $2 1
	node Reshape p9 r column -> rows
	node Mul p10 m2 rows -> n2
	node Cast p11 n2 -> y2_p to=$number
	node torchair:npu_quant_matmul f2 i w scales _ r -> y2_f output_dtype=$torch transpose_x2=1
	same T y1 y2
	node MatMul p12 c d -> c3
	node Transpose p13 c3 -> y3_p perm=[1,0,2]
	node sklink:TransposeBatchMatMul f3 c d -> y3_f
	node Transpose p14 e -> e4 perm=[1,0,2]
	node MatMul p15 e4 d -> c4
	node Transpose p16 c4 -> y4_p perm=[1,0,2]
	node torchair:npu_transpose_batchmatmul f4 e d -> y4_f perm_x1=[1,0,2] perm_x2=[0,1,2] perm_y=[1,0,2]
	node Transpose p17 d -> d5 perm=[0,2,1]
	node sklink:TransposeBatchMatMul f5 e d5 -> y5_f perm_x1=[1,0,2] perm_x2=[0,2,1] perm_y=[0,1,2]
	node Identity p18 c4 -> y5_p
	same T y3 y4 y5
	END
}

# Products, of matrices that are known when linking and of others, and gates.
for sizes in '1 64 48' '3 63 65' '66 300 33' '1 7 2' '2 130 70'; do
	for type in f32 f16 bf16; do
		product $type $sizes
		integers $type $sizes
	done
done

# Invalid operands are refused, at the node.
while IFS='|' read -r node pattern; do
	model bad <<-END
	opset 23
	opset 1 sklink
	opset 1 ge
	opset 1 torchair
	input x f32 2x3x4
	input w f32 2x3x5
	input g f32 4
	input h f32 5x4
	input b i8 4x5
	input d f64 4x4
	input e f32 0
	input i i32 4
	input n f32 2x0
	input r f32 1x1x1x4
	node $node
	output y f32 none
	END
	refuses "error: bad.onnx: node 'the_node' .*: $pattern" bad
done <<'END'
sklink:AddRmsNorm the_node x w g -> y|'w' does not have the shape of 'x'
sklink:AddRmsNorm the_node x x w -> y|'w' is not a number for each element of a row of 'x'
sklink:AddRmsNorm the_node x x i -> y|'x' is f32, and 'i' is i32
sklink:AddRmsNorm the_node g g x -> y|'g' does not have rows of the shape of 'x'
sklink:RmsNorm the_node d d -> y|'d' is f64, and must be f32, f16 or bf16
sklink:RmsNorm the_node n e -> y|'n' has rows without elements
sklink:RmsNorm the_node x g -> y axis=1|the operator has no attribute 'axis'
sklink:AddRmsNormQuant the_node x x g w -> y|'w' is not one number, nor one for each of the 4 elements of a row of 'x'
sklink:AddRmsNormQuant the_node x x g r -> y|'r' is not one number, nor one for each of the 4 elements of a row of 'x'
sklink:AddRmsNormQuant the_node x x g i -> y|'i' is i32, and scales are floats
sklink:RmsNormQuant the_node x g g -> y|it has no scale
sklink:QuantV2 the_node x g -> y axis=1|it quantises along axis 1, which is not the last one
sklink:QuantV2 the_node x g -> y round_mode='floor'|round_mode 'floor' is not possible, only 'round'
sklink:SwiGlu the_node w -> y|'w' has 5 elements along axis 2, which are not halves
sklink:SwiGlu the_node x w -> y|'w' does not have the shape of 'x'
sklink:FusedMatMul the_node d d -> y|'d' is f64, and must be f32, f16 or bf16
sklink:FusedMatMul the_node x x -> y|'x' has 3 dimensions, and 'x' 3, not 2
sklink:FusedMatMul the_node x h -> y|rows of 'x' have 4 elements, and columns of 'h' have 5
sklink:FusedMatMul the_node x h g -> y transB=1|'g' is not a number for each of 5 columns
sklink:FusedMatMul the_node x h _ x -> y transB=1|'x' does not have the shape of the product
sklink:FusedMatMul the_node x h -> y transB=1 activation='tanh'|activation 'tanh' is not relu, gelu, gelu_tanh or silu
sklink:FusedMatMul the_node x h -> y transB=1 sizes=[2,2]|the sizes of its pieces do not add up to 5
sklink:FusedMatMul the_node x h -> y z transB=1|it has 2 outputs, and its columns are divided into 1
sklink:FusedMatMul the_node x h -> y transB=1 sizes=[2,3] activated=2|there is no piece 2
sklink:QuantBatchMatmul the_node h h g -> y|'h' and 'h' are not matrices of i8
sklink:QuantBatchMatmul the_node b b g -> y|rows of 'b' have 5 elements, and columns of 'b' have 4
sklink:QuantBatchMatmul the_node b b g -> y transpose_x2=1 to=6|'to' is 6, and must be f32, f16, bf16 or i8
sklink:QuantBatchMatmul the_node b b i -> y transpose_x2=1|'i' is not a scale, nor one for each of 4 columns
sklink:QuantBatchMatmul the_node b b g g -> y transpose_x2=1|'g' would be of results of 8 bits, and these are floats
sklink:QuantBatchMatmul the_node b b g _ x -> y transpose_x2=1|'x' is not a number, i32 or a float, for each of 4 columns
sklink:QuantBatchMatmul the_node b b g _ g -> y transpose_x2=1 to=3|'g' is f32, and the bias of results of 8 bits is i32
sklink:QuantBatchMatmul the_node b b g x -> y transpose_x2=1 to=3|'x' is not an offset, nor one for each of 4 columns
torchair:npu_quant_matmul the_node b b g -> y output_dtype=16|the operator has no attribute 'output_dtype'
sklink:DequantSwigluQuant the_node b -> y|'b' is i8, and must be f32, f16, bf16 or i32
sklink:DequantSwigluQuant the_node w -> y|'w' has 5 elements along axis 2, which are not halves
sklink:DequantSwigluQuant the_node x -> y activate_dim=1|it divides axis 1 into halves, which is not the last one
sklink:DequantSwigluQuant the_node x -> y quant_mode='best'|quant_mode 'best' is not static or dynamic
sklink:DequantSwigluQuant the_node x -> y round_mode='floor'|round_mode 'floor' is not possible, only 'rint'
sklink:DequantSwigluQuant the_node x -> y swiglu_mode=1|swiglu_mode 1 is not possible, only 0
sklink:DequantSwigluQuant the_node x w -> y|'w' is not a number for each column, nor for each element
sklink:DequantSwigluQuant the_node x i -> y|'i' is i32, and scales are floats
sklink:DequantSwigluQuant the_node x _ g -> y|'g' is not a number for each row
sklink:DequantSwigluQuant the_node x _ _ i -> y|'i' is i32, and must be floats, or i32 as 'x'
sklink:DequantSwigluQuant the_node x _ _ h -> y|'h' is not a number for each column
sklink:DequantSwigluQuant the_node x _ _ _ g -> y|'g' is not a number for each column of a half
sklink:DequantSwigluQuant the_node x _ _ _ _ r -> y quant_mode='dynamic'|'r' is an offset, and integers with quant_mode 'dynamic' have none
sklink:DequantSwigluQuant the_node x _ _ _ _ _ i -> y|'i' divides rows into groups, which is not possible; give each group a node
torchair:npu_dequant_swiglu_quant the_node x -> y quant_mode=2|attribute 'quant_mode' .*
sklink:FormatCast the_node x -> y acl_format=5|acl_format 5 is not a format, such as 2 \(ND\) or 29 \(FRACTAL_NZ\)
sklink:FormatCast the_node x -> y|attribute 'acl_format' is missing
sklink:QuantBatchMatmul the_node b b g _ i x -> y transpose_x2=1|'x' is not a scale for each row
sklink:TransposeBatchMatMul the_node x g -> y|'x' and 'g' are not floats of 3 dimensions
sklink:TransposeBatchMatMul the_node x w -> y|'x' and 'w' are not factors of products, in that order of their axes
sklink:TransposeBatchMatMul the_node x x -> y perm_y=[0,0,1]|'perm_y' is not an order of 3 axes
torchair:npu_add_rms_norm_quant the_node x x g g g g -> y|its input 5 is none of those of AddRmsNormQuant
ge:AscendQuantV2 the_node x g -> y sqrt_mode=1|attribute 'sqrt_mode' must be 0
END
