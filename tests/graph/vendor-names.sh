#!/bin/bash
# Each name of an operator, a pass or a flag in the documents that graph-kernel fusion follows (MindSpore's custom
# fusion and graph kernel fusion, TorchAir's pattern pass, CANN's no-task split) is accepted, or a document of ours says
# why it is not.
. "$top_srcdir/tests/lib/lib.sh"
unset SKLINK_GRAPH_KERNEL_FLAGS MS_DEV_GRAPH_KERNEL_FLAGS GLOG_v

# Operators by domain. First those of the expander's list, of the cluster list, and of the examples and patterns; then
# other operators that formulas and rules mention.
mindspore="Adam AdamApplyOneWithDecayAssign Addcmul AddN BiasAdd BiasAddGrad FillV2 GeLU Gelu FastGelu FastGeluGrad FastGeLU FastGeLUGrad
	SiLU SiLUGrad GeLUGrad RsqrtGrad SqrtGrad Square Tile ClipByNormNoDivSum FusedMulAdd Sigmoid SigmoidGrad
	SigmoidCrossEntropyWithLogits SigmoidCrossEntropyWithLogitsGrad SquaredDifference TanhGrad OnesLike ZerosLike ReduceMean
	LogSoftmaxGrad ReLU ReluGrad AssignAdd LambApplyOptimizerAssign LambApplyWeightAssign AdamApplyOneWithDecay ExpandDims Squeeze
	SoftmaxGradExt ApplyMomentum LeakyReLUExt EluExt SoftplusExt SoftplusGradExt RepeatInterleaveInt HShrink HSigmoid HSwish
	BinaryCrossEntropy Erf Tanh Cosh Sinh ClampScalar DivMod BCEWithLogitsLoss AcoshExt AsinhExt MeanExt Erfc AdamWeightDecay
	BatchMatMul Dropout DropoutGrad MaximumGrad MinimumGrad LayerNorm LayerNormGrad LogSoftmax MatMul ArgMaxWithValue
	ArgMinWithValue Slice Softmax SoftmaxCrossEntropyWithLogits EqualCount SquareSumAll IdentityMath StandardNormal Softplus
	SoftplusGrad
	Abs Add BroadcastTo Cast Exp Log Maximum Minimum Mul Neg Pow Div RealDiv Reciprocal Rsqrt Sqrt Sub Equal NotEqual Greater
	GreaterEqual Less LessEqual LogicalAnd LogicalOr LogicalNot Select Assign ReduceSum IsFinite Reshape Transpose Floor Ceil Trunc
	Round ACos Acosh ArgMax Argmin Asin Asinh Atan Atan2 Cos Expm1 FloorDiv FloorMod IsInf IsNan Mod ReduceMax ReduceMin
	Sign Sin StridedSlice CumSum OneHot
	TensorAdd LayerNormV3 LayerNormExt SplitWithSize Split Concat RmsNorm QuantV2 AddLayerNorm AddRmsNorm AddRmsNormQuantV2
	RmsNormQuant Swiglu QuantBatchMatmul AllReduce SumExt SoftmaxBackward
	MakeTuple RealMakeTuple TupleGetItem ReshapeExt PromptFlashAttention FusedMatMulElemBinary FusedMatMulElemUnary
	MatmulSplitOut2 MatmulSplitOut3 MatmulBiasSplitOut2 MatmulBiasSplitOut3 QuantbatchmatmulSplitOut2 QuantbatchmatmulSplitOut3
	MatmulSplitSiluOut2 MatmulBiasSplitSiluOut2 QuantbatchmatmulSplitSiluOut2 BNTrainingUpdateSum LayerNormForward"
torchair="npu_add_rms_norm npu_dynamic_quant npu_add_rms_norm_dynamic_quant npu_add_rms_norm_cast npu_quantize npu_add_rms_norm_quant
	npu_transpose_batchmatmul npu_quant_matmul npu_dequant_swiglu_quant npu_format_cast"
ge="SplitD SplitVD ConcatD ConcatV2D PhonyConcat PhonySplit Reshape HcomAllReduce HcomAllGather HcomBroadcast HcomReduce HcomReduceScatter
	TransData RefData"
lists="$mindspore $torchair $ge Shape Identity MatMulAllReduce"

# By stage; appendix 3 of the former is the stage fusion_group.
passes="FlashAttentionFusionV1 FlashAttentionFusionV2 add_layer_norm_fusion add_layer_norm_v3_fusion add_layer_norm_ext_fusion
	inference_swiglu_fusion inference_matmul_split_fusion shape_reshape shape_reshape_2 add_rms_norm_quant_fusion
	rms_norm_quant_fusion add_rms_norm_fusion add_cast_rms_norm_cast_fusion MatMulAllReduce split_concat_fusion
	matmul_elem_biasadd_fusion matmul_elem_add_fusion matmul_elem_relu_fusion matmul_elem_gelu_fusion inference_qbmm_add_fusion
	inference_qbmm_allreduce_add_fusion
	getitem_tuple convert_input_to_attr depend_elimination save_output_shape split_assign spread_update_state graph_kernel_cse
	transpose_matmul_fusion floatstatus_fusion floatstatus_addn_fusion graph_kernel_expander graph_kernel_op_combiner
	graph_kernel_cluster eliminate_redundant_output fuse_basic
	cast_matmul_fusion reorder_ops axis_normalizer insert_pad_ops arithmetic_simplify convert_bfloat16 raise_reduction_precision
	transform_op_optimizer
	extend_output_for_update_state shape_ops_splitter symbol_engine_builder shrink_only_shape_needed graph_kernel_splitter
	depend_edge_elimination
	graph_kernel_recompute atomic_clean stitch_atomic_clean decrease_transfer_precision decrease_compute_precision tensor_inplace
	optimize_assign parallel_fusion compact_tensor_liveness graph_kernel_build bind_value add_attr convert_call_to_prim
	symbol_engine_extender torchair_generic_pattern_pass FusionVirtualOpSetSwitch"

# With a value that each takes.
flags="opt_level=2 dump_as_text=off enable_stitch_fusion=off enable_recompute_fusion enable_parallel_fusion=off
	enable_horizontal_fusion enable_auto_tensor_inplace enable_dynamic_batch enable_low_precision enable_csr_fusion
	enable_debug_mode=off enable_lite_conv_tuning enable_vectorization enable_dynamic_shape_fusion enable_parallel_op_combine
	disable_matmul_post_fusion enable_cce_lib enable_allreduce_prologue_fusion enable_allreduce_epilogue_fusion exact_precision_mode
	reduce_fuse_depth=-1 online_tuning=0 cpu_refer_thread_num=8 fusion_ops_level=0 parallel_ops_level=0
	recompute_increment_threshold=0 recompute_peak_threshold=0 composite_op_limit_size=200
	repository_path=x target_os=linux cpu_arch=x cpu_feature=x cpu_type=x kernel_generator=DVM
	enable_expand_ops=Square enable_expand_ops_only=Square disable_expand_ops=Square enable_cluster_ops=MatMul,Add
	enable_cluster_ops_only=MatMul disable_cluster_ops=MatMul enable_simplify_exprs_only=1.0 disable_simplify_exprs=1.0
	enable_pass=transpose_matmul_fusion disable_pass=rms_norm_quant_fusion enable_cce_lib_ops=x enable_cce_lib_ops_only=x
	disable_cce_lib_ops=x enable_packet_ops_only=Slice disable_packet_ops=Slice enable_fusion_pattern_only=x disable_fusion_pattern=x"

# The network of MindSpore's tutorial.
cat >net.pbtxt <<'P'
ir_version: 8
opset_import { domain: "" version: 17 }
opset_import { domain: "mindspore" version: 1 }
graph {
  name: "NetCompositeFuse"
  node { name: "mul" op_type: "Mul" domain: "mindspore" input: "x" input: "two" output: "m" }
  node { name: "add" op_type: "TensorAdd" domain: "mindspore" input: "m" input: "one" output: "a" }
  node { name: "pow" op_type: "Pow" domain: "mindspore" input: "a" input: "three" output: "y" }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 4 } dim { dim_value: 4 } } } } }
  initializer { name: "two" data_type: 1 float_data: 2 }
  initializer { name: "one" data_type: 1 float_data: 1 }
  initializer { name: "three" data_type: 1 float_data: 3 }
  output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 4 } dim { dim_value: 4 } } } } }
}
P
# warned FLAGS: link the network with them, and leave the warnings in err.txt.
warned() {
	"$sklink" net.pbtxt --error-limit 0 -L "$top_builddir/kernels" -lskernels -o net.sk --fusion-flags "$1" \
		2>err.txt || { cat err.txt >&2; fail "a link with $1"; }
}
# none WHAT: the names of standard input are wrong, each for that reason.
none() {
	awk -v why="$1" '{ print why ": " $0 }' >>wrong.txt
}

# ---- operators ----

sed -n '/^The names below, /,$p' "$top_srcdir/doc/reference/models.md" | sed -nE 's/^\| (`[^|]*`) \|.*/\1/p' |
	tr -d '`,' | tr ' ' '\n' | sort >documented.txt
[ "$(wc -l <documented.txt)" -gt 10 ] || fail "the table in doc/reference/models.md is not understood"

# A node of each; its inputs, outputs and attributes are hardly right, but its operator is known.
for domain in mindspore torchair ge; do
	{
		sed '/ node /d; /initializer/d; /output {/,$d' net.pbtxt
		for op in ${!domain}; do
			echo "  node { op_type: \"$op\" domain: \"$domain\" input: \"x\" output: \"$op\" }"
			echo "  output { name: \"$op\" type { tensor_type { elem_type: 1 } } }"
		done
		echo "}"
	} | sed "s/\"mindspore\" version/\"$domain\" version/" >$domain.pbtxt
	"$sklink" --check $domain.pbtxt --error-limit 0 -L "$top_builddir/kernels" -lskernels 2>err.txt &&
		fail "$domain.pbtxt is right"
	grep -q "there is no operator\|it has 1 input" err.txt || { cat err.txt >&2;
		fail "$domain.pbtxt is wrong in another way"; }
	sed -nE "s/.*there is no operator '([^']*)'.*/\1/p" err.txt | sort -u >$domain.unknown
	comm -13 documented.txt $domain.unknown | none "operator that is neither read nor in doc/reference/models.md"
done
sort -u ./*.unknown | comm -23 documented.txt - |
	none "doc/reference/models.md says that it is no operator, and it is read"

warned "--disable_cluster_ops=$(echo $lists | tr ' ' ',')"
sed -nE "s/.*unknown operator '([^']*)' in the flag.*/\1/p" err.txt | sort -u | comm -23 - documented.txt |
	none "operator that lists do not know"

# ---- the table of MindSpore's names ----

page=$top_srcdir/doc/reference/mindspore.md
{
	echo "$passes" | tr -s ' \t' '\n' | grep -v '^torchair\|^FusionVirtualOp'
	sed -nE 's/^ABSENT\(.*, "([a-z_A-Z0-9]*)"\)$/\1/p' "$top_srcdir/graph/manager/absent.def"
	sed -nE 's/^(BOOL|INTEGER|STRING|LIST)\(([a-z_]*).*/\2/p' "$top_srcdir/graph/manager/flags.def"
	echo opt_level
} | grep . | sort -u >names.txt
[ "$(wc -l <names.txt)" -gt 120 ] || fail "the tables of flags and passes are not understood"
while read -r name; do
	grep -q "^| .*\`$name\`" "$page" || echo "$name"
done <names.txt | none "name that doc/reference/mindspore.md lacks"

# ---- passes ----

# "is not valid" alone, or with a suggestion, says that the pass does not exist.
warned "--opt_level=3 --disable_pass=$(echo $passes | tr ' ' ',')"
for pass in $(sed -nE \
	'/the pass is off without it|stages have a pass of that name/d; s/.*graph kernel pass disable flag "([^"]*)" is not valid.*/\1/p' err.txt); do
	grep -E "^\|.*\`$pass\`.*\| *not built: " "$top_srcdir/doc/reference/passes.md" >/dev/null || echo "$pass"
done | none "pass that is neither there nor in doc/reference/passes.md"

# Under their full names, as log lines have them.
"$sklink" net.pbtxt -L "$top_builddir/kernels" -lskernels -o net.sk --verbose --fusion-flags=--opt_level=3 2>log.txt
sed -nE 's/.*graph kernel pass ([^ ]*) is (enabled|disabled)\.$/\1 \2/p' log.txt >names.txt
[ "$(wc -l <names.txt)" -gt 30 ] || fail "log lines are not understood"
warned "--opt_level=3 --disable_pass=$(sed -n 's/ enabled//p' names.txt | paste -sd,) --enable_pass=$(sed -n 's/ disabled//p' names.txt | paste -sd,)"
grep 'is not valid' err.txt | none "full name of a pass"

# ---- flags ----

warned "$(printf -- '--%s ' $flags)"
sed -nE 's/.*(unknown flag: .*|the flag .* is invalid.*)/\1/p' err.txt | none "flag"
# ---- tests that the tables of features name ----

grep -o '`tests/[^`]*`' "$top_srcdir/doc/reference/superkernel-features.md" | tr -d '`' | sort -u | while read -r test; do
	[ -e "$top_srcdir/$test" ] || echo "$test"
done | none "test in doc/reference/superkernel-features.md that does not exist"
[ ! -s wrong.txt ] || { cat wrong.txt >&2; fail "names that are neither accepted nor explained"; }
