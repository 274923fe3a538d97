# FX texts among the dumps: the function and the list of nodes agree with the model's dumps, after the passes of
# patterns; the graph of TorchAir's document is printed as it is there; and the log lists the patterns' changes.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
needs_python
unset SKLINK_GRAPH_KERNEL_FLAGS MS_DEV_GRAPH_KERNEL_FLAGS GLOG_v
link() { # MODEL ARGUMENT…
	local model=$1
	shift
	rm -rf dumps
	"$sklink" "$model.onnx" -L "$top_builddir/kernels" -lskernels --dump-dir dumps --verbose -o "$model.sk" "$@" \
		2>told.txt || { cat told.txt >&2; fail "$model"; }
}
same() { # WHICH MODEL: the texts are those of the model
	"$python" "$top_srcdir/tests/lib/read-fx.py" "dumps/dynamo_$1_graph_0.py" "dumps/dynamo_$1_graph_0.txt" "$2" \
		|| fail "$1: the texts are of another graph"
}

# ---- the graph of TorchAir's document: 2x3x4 in f16, with a flattened norm and a scale as a column ----
model seed <<'LINES'
opset 17
opset 1 torchair
input arg0 f16 4
input arg1 f16 2x3x4
input arg2 f16 2x3x4
output q i8 6x4
output scale f32 6x1
output x f16 2x3x4
constant flat i64 2 6 4
constant column i64 2 -1 1
node torchair:npu_add_rms_norm norm arg2 arg1 arg0 -> y rstd x
node Reshape flatten y flat -> f
node torchair:npu_dynamic_quant quant f -> q s
node Reshape view s column -> scale
LINES
link seed
same original dumps/hwopt_patterns_0_torchair_generic_pattern_pass_0000.pbtxt
same optimized dumps/hwopt_patterns_0_torchair_generic_pattern_pass_0000.pbtxt
cat >document.txt <<'TEXT'
# No stacktrace found for following nodes
npu_add_rms_norm_dynamic_quant_default = torch.ops.npu.npu_add_rms_norm_dynamic_quant.default(arg2_1, arg1_1, arg0_1, output_mask = [True, True]);  arg2_1 = arg1_1 = arg0_1 = None
getitem_5: "i8[2, 3, 4]" = npu_add_rms_norm_dynamic_quant_default[0]
getitem_6: "f16[2, 3, 4]" = npu_add_rms_norm_dynamic_quant_default[2]
getitem_7: "f32[2, 3]" = npu_add_rms_norm_dynamic_quant_default[3];  npu_add_rms_norm_dynamic_quant_default = None
view_default: "i8[6, 4]" = torch.ops.aten.reshape.default(getitem_5, [6, 4]);  getitem_5 = None
view_default_1: "f32[6, 1]" = torch.ops.aten.reshape.default(getitem_7, [-1, 1]);  getitem_7 = None
return (view_default, view_default_1, getitem_6)
TEXT
sed '1,2d; s/^        //' dumps/dynamo_optimized_graph_0.py | diff document.txt - >&2 || fail "the document has another text"
grep -qx "\[INFO\] FX(sklink): After fx graph pass(apply_pattern_passes) optimization: before 4 nodes, after 3 nodes, removed nodes: \['norm' (AddRmsNorm), 'flatten' (Reshape), 'quant' (DynamicQuant), 'view' (Reshape)\], added nodes: \[.*(AddRmsNormDynamicQuant), .*(Reshape), .*(Reshape)\]" told.txt ||
	{ grep FX told.txt >&2; fail "the log"; }
# With the pass off the graph is the one of the model.
echo torchair_generic_pattern_pass:off >off.cfg
for off in --no-pattern-fusion --fusion-flags=--disable_pass=torchair_generic_pattern_pass \
	--fusion-switch-file=off.cfg; do
	link seed $off
	same optimized dumps/6_validate.pbtxt
	for ending in py txt; do
		cmp dumps/dynamo_original_graph_0.$ending dumps/dynamo_optimized_graph_0.$ending ||
			fail "the graph is another one with the pass off"
	done
	grep -qx "\[INFO\] FX(sklink): After fx graph pass(apply_pattern_passes) optimization: before 4 nodes, after 4 nodes, removed nodes: \[\], added nodes: \[\]" told.txt ||
		fail "the log with the pass off"
done

# ---- operands that TorchAir's functions take by their names ----
model named <<'LINES'
opset 17
opset 1 torchair
input x1 f16 2x3x4
input x2 f16 2x3x4
input g f16 4
input s f16 4
output q i8 2x3x4
output scale f32 2x3
output x f16 2x3x4
node torchair:npu_add_rms_norm norm x1 x2 g -> y rstd x
node torchair:npu_dynamic_quant quant y s -> q scale
LINES
link named --no-pattern-fusion
same original dumps/6_validate.pbtxt
cp dumps/dynamo_original_graph_0.py before.py
cp dumps/dynamo_original_graph_0.txt before.txt
link named
same original dumps/hwopt_patterns_0_torchair_generic_pattern_pass_0000.pbtxt
same optimized dumps/hwopt_patterns_0_torchair_generic_pattern_pass_0000.pbtxt
grep -q 'npu_dynamic_quant.default([a-z0-9_]*, smooth_scales = arg3_1)' before.py &&
	grep -q 'npu_add_rms_norm_dynamic_quant.default(arg0_1, arg1_1, arg2_1, smooth_scale1 = arg3_1, output_mask = \[True, [TF][a-z]*\])' \
		dumps/dynamo_optimized_graph_0.py &&
	grep -q 'args = (%[a-z0-9_]*,), kwargs = {smooth_scales: %arg3_1}' before.txt ||
	{ cat dumps/dynamo_*_graph_0.* >&2; fail "operands by names"; }

# ---- all that operands and attributes can be: constants of all kinds, types, lists, texts, absent operands, several
# outputs, unused ones ----
model all <<'LINES'
opset 20
opset 1 sklink
opset 1 torchair
input x f32 4x8
input b f32 8
output y f32 none
output z f32 none
output r f32 none
output k f32 none
output t2 f32 none
constant w f32 8x8 0.5 -1
constant half f32 scalar 0.5
constant two f32 scalar 2
constant ten f32 scalar 10
constant tiny f32 scalar 1e-30
constant large i64 scalar 9007199254740993
input i i64 4
output j i64 4
node MatMul p x w -> m
node Mul h m half -> n
node Mul hh n n -> n2
node Mul more n2 two -> n3
node Add a n3 b -> o
node Cast c o -> o16 to=10
node Cast c2 o16 -> y to=1
node Split sp y -> u v axis=1 num_outputs=2
node Gelu gg u -> z approximate='tanh'
node Transpose t y -> t0 perm=[1,0]
node LeakyRelu l t0 -> t1 alpha=0.25
node Clip clip t1 _ ten -> t2
node torchair:npu_rms_norm rms o b -> rn rstd
node Exp e rn -> r
node MatMul p2 y w -> k0
node Add least k0 tiny -> k
node Add exact i large -> j
LINES
link all
same original dumps/6_validate.pbtxt
for text in ', 9007199254740993)' ', 1e-30)' ', 0.5)' ', 2.0)' 'Clip.default(leakyrelu, None, 10.0)' \
	'alpha = 0.25' 'perm = [1, 0]' 'approximate = "tanh"' 'torch.float16)'; do
	grep -qF -- "$text" dumps/dynamo_original_graph_0.py || fail "no $text"
done
grep -qF 'kwargs = {approximate: tanh})' dumps/dynamo_original_graph_0.txt &&
	tail -n 1 dumps/dynamo_original_graph_0.txt | grep -qE '^    return \([a-z_0-9]+, ' ||
	fail "the list of nodes has a text, or what is returned, otherwise than FX"
[ "$(grep -c '_tensor_constant' dumps/dynamo_original_graph_0.txt)" = 3 ] || fail "a constant of many users"

# ---- marks begin and end as in TorchAir's texts ----
link all --scope 'sp1=h*' --scope 'sp1=m*' --scope 'last=t*'
same original dumps/6_validate.pbtxt
grep -qxF "        scope_enter = torch.ops.air.scope_enter.default(['_super_kernel_scope', '_super_kernel_options'], ['sp1', '']);  scope_enter = None" \
	dumps/dynamo_original_graph_0.py &&
	grep -qxF '        scope_exit = torch.ops.air.scope_exit.default();  scope_exit = None' dumps/dynamo_original_graph_0.py &&
	grep -qxF '    %scope_enter : [num_users=0] = call_function[target=torch.ops.air.scope_enter.default](args = ([_super_kernel_scope, _super_kernel_options], [sp1, ]), kwargs = {})' \
		dumps/dynamo_original_graph_0.txt || fail "the marks of scopes"
[ "$(grep -c scope_enter.default dumps/dynamo_original_graph_0.py)" = \
	"$(grep -c scope_exit.default dumps/dynamo_original_graph_0.py)" ] || fail "marks begin and do not end"
# Streams and limits of cores are marks too, and so is the end of fusion.
cat >streams.pbtxt <<'TEXT'
ir_version: 8
opset_import { version: 17 }
graph {
  name: "streams"
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 4 } } } } }
  output { name: "z" type { tensor_type { elem_type: 1 } } }
  node { op_type: "Exp" name: "a" input: "x" output: "a" attribute { name: "stream_id" type: INT i: 2 } }
  node { op_type: "Neg" name: "b" input: "x" output: "b" attribute { name: "_op_aicore_num" type: INT i: 4 } attribute { name: "_op_vectorcore_num" type: INT i: 3 } }
  node { op_type: "Sin" name: "c" input: "b" output: "c" attribute { name: "_super_kernel_scope" type: STRING s: "" } }
  node { op_type: "Add" name: "z" input: "a" input: "c" output: "z" }
}
TEXT
rm -rf dumps
"$sklink" streams.pbtxt -L "$top_builddir/kernels" -lskernels --dump-dir dumps -o streams.sk 2>told.txt ||
	{ cat told.txt >&2; fail "marks"; }
same original dumps/6_validate.pbtxt
for marks in "['_user_stream_label'], ['2']" "['_op_aicore_num', '_op_vectorcore_num'], ['4', '3']" \
	"['_super_kernel_scope', '_super_kernel_options'], ['', '']"; do
	grep -qF "scope_enter.default($marks)" dumps/dynamo_original_graph_0.py || fail "no marks $marks"
done

# Each of several networks has its own.
model nets <<'LINES'
input x f32 Nx8
output y f32 Nx8
node Exp e x -> y
LINES
link nets --dim a:N=2 --dim b:N=3
grep -q 'f32\[2, 8\]' dumps/a/dynamo_original_graph_0.py &&
	grep -q 'f32\[3, 8\]' dumps/b/dynamo_optimized_graph_0.py || fail "networks are mixed up"
