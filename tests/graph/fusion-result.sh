# fusion_result.json: the patterns that passes have found and replaced, in CANN's layout, and the same in the log.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
unset SKLINK_GRAPH_KERNEL_FLAGS MS_DEV_GRAPH_KERNEL_FLAGS GLOG_v

# Two sums of products that a rule of the user's fuses, one with a product that is also an output, and one of another
# shape; a biased product, for which sklink has a rule.
model net <<'LINES'
opset 17
opset 1 sklink
input x f32 Nx8
input b f32 8
input w f32 8x8
output y1 f32 Nx8
output y2 f32 Nx8
output y3 f32 Nx8
output y4 f32 1x8
output p3 f32 Nx8
output z f32 Nx8
constant s f32 1x8 1 2
node Exp e1 x -> a
node Sin s1 a -> y1
node Exp e2 y1 -> c
node Sin s2 c -> y2
node Exp e3 y2 -> p3
node Sin s3 p3 -> y3
node Exp e4 b -> d
node Mul m4 d s -> d2
node Exp e5 d2 -> d3
node Sin s4 d3 -> y4
node MatMul product x w -> m
node sklink:BiasAdd bias m b -> z
LINES
cat >rules.yaml <<'YAML'
fuse:
- name: ring
  pattern: y = Sin(Exp(x))
  variants:
  - {where: rank(x) == 3, replace: y = Cos(x)}
  - {where: 'shape(x)[0] > 1', replace: y = Cos(x)}
YAML
link() {
	"$sklink" net.onnx -L "$top_builddir/kernels" -lskernels --rules=rules.yaml "$@" -o out.sk
}
link --dim N=4 --fusion-result=result.json --verbose 2>told.txt
cat >expected.json <<'JSON'
{
    "session_and_graph_id_0_0": {
        "graph_fusion": {
            "matmul_elem_biasadd_fusion": {
                "effect_times": "1",
                "match_times": "1"
            },
            "user_rules": {
                "effect_times": "2",
                "match_times": "4"
            }
        },
        "ub_fusion": {}
    }
}
JSON
diff expected.json result.json >&2 || fail "the result"
grep 'GraphFusionPass' told.txt >lines.txt
diff - lines.txt <<'TEXT' >&2 || fail "the log"
[INFO] FE(sklink): GraphId[0], GraphFusionPass[matmul_elem_biasadd_fusion]: pattern=matmul_elem_biasadd_fusion, matched_times=1, effected_times=1.
[INFO] FE(sklink): GraphId[0], GraphFusionPass[user_rules]: pattern=ring, matched_times=4, effected_times=2.
TEXT
GLOG_v=1 link --dim N=4 2>told.txt
grep 'GraphFusionPass' told.txt | cmp - lines.txt || fail "GLOG_v"
link --dim N=4 2>told.txt
[ ! -s told.txt ] || fail "told without being asked"

# Passes that are off have no part in it, and each network has its own.
echo 'user_rules:off' >off.cfg
link --dim a:N=4 --dim b:N=1 --fusion-switch-file=off.cfg --fusion-result=- >result.json
grep -c effect_times result.json | grep -qx 2 || fail "two networks"
! grep -q user_rules result.json || fail "a pass that is off is in the result"
grep -qx '    "session_and_graph_id_0_1": {' result.json || fail "the second network"
link --dim a:N=4 --dim b:N=1 --fusion-result=result.json
[ "$(grep -A3 '"user_rules"' result.json | grep -oE '[a-z_]+": "[0-9]+"' | tr -d '": ' | paste -sd' ')" = \
	"effect_times2 match_times4 effect_times0 match_times4" ] ||
	{ cat result.json >&2; fail "counts of networks"; }

# Also among dumps; not with --check; and the other outputs differ.
link --dim N=4 --dump-dir=dumps
cmp dumps/fusion_result.json expected.json || fail "the result among dumps"
"$sklink" net.onnx -L "$top_builddir/kernels" -lskernels --dim N=4 --check --fusion-result=no.json
[ ! -e no.json ] || fail "--check writes a result"
"$sklink" net.onnx -L "$top_builddir/kernels" -lskernels --dim N=4 \
	--fusion-flags=--disable_pass=matmul_elem_biasadd_fusion,onnx_fusion -o out.sk --fusion-result=none.json
printf '{\n    "session_and_graph_id_0_0": {\n        "graph_fusion": {},\n        "ub_fusion": {}\n    }\n}\n' |
	cmp - none.json || fail "nothing found"
fails_with "same.json: would be written by both --report and --fusion-result" link --dim N=4 --report=same.json \
	--fusion-result=same.json
printf 'sklink: 1\ntensors: {x: {dtype: f32, shape: [4]}}\ntasks: [{name: t, op: Relu, inputs: x, outputs: x}]\n' \
	>m.yaml
fails_with "m.yaml: --fusion-result is about a model" "$sklink" m.yaml -o no.sk --fusion-result=no.json

# Nodes without a task are not a pattern, and are not in it.
model_with_split parts
DUMP_GE_GRAPH=2 DUMP_GRAPH_LEVEL=3 "$sklink" parts.onnx -L "$top_builddir/kernels" -lskernels --fusion-target=ascend \
	--fusion-result=result.json -o out.sk
grep -B1 '"_no_task"' ge_onnx_*.pbtxt | grep -q 'i: 1' || fail "no node is without a task"
cmp result.json none.json || fail "nodes without a task are in the result"
