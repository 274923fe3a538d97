# Switch files from the command line and manifests: precedence, their effect beside flags, errors, and their traces in
# reproductions and dependency files.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
unset SKLINK_GRAPH_KERNEL_FLAGS MS_DEV_GRAPH_KERNEL_FLAGS GLOG_v

model net <<'LINES'
input x f32 4x64
output y f32 4x64
node Mul mul x x -> a
node Exp exp a -> b
node Exp twice a -> c
node Add add b c -> y
LINES
link=("$sklink" -L "$top_builddir/kernels" -lskernels)
array x f32 4x64 0.5 -1 2

# passes ARGUMENT…: those that are on, one a line; the link succeeds without a warning.
passes() {
	"${link[@]}" "$@" --verbose -o out.sk 2>told.txt || { cat told.txt >&2; fail "$*"; }
	! grep -v '^\[INFO\]' told.txt >&2 || fail "$* says something else"
	sed -nE 's/.*graph kernel pass ([A-Za-z0-9_]*) (is enabled|has no rule)\.$/\1/p' told.txt
}
passes net.onnx >all.txt
cp out.sk all.sk
[ "$(wc -l <all.txt)" -gt 20 ] || fail "the passes are not understood"

# ---- both forms ----
echo '{"Switch": {"GraphFusion": {"ALL": "off", "graph_kernel_cse": "on", "transpose_matmul_fusion": "on"}, "UBFusion": {"ALL": "off"}}}' >few.json
printf 'ALL:off\ngraph_kernel_cse : on\ntranspose_matmul_fusion:on\n' >few.cfg
printf '%s\n' stage0_preprocess_7_graph_kernel_cse stage1_cluster_0_transpose_matmul_fusion \
	stage2_highlevelopt1_6_graph_kernel_cse \
	stage3_split_7_graph_kernel_cse >few.txt
passes net.onnx --fusion-switch-file=few.json | diff few.txt - >&2 || fail "a file in JSON"
passes net.onnx --fusion-switch-file few.cfg | diff few.txt - >&2 || fail "a file of lines"
printf 'graph_kernel_cse:off\n' >cse.cfg
grep -v graph_kernel_cse all.txt >expected.txt
passes net.onnx --fusion-switch-file cse.cfg | diff expected.txt - >&2 || fail "one pass off"
cmp -s all.sk out.sk && fail "the pass that is off makes no difference"
printf 'ALL:off\n' >none.cfg
passes net.onnx --fusion-switch-file none.cfg >none.txt
[ ! -s none.txt ] || fail "passes run that are off"
# Steps that are not passes stay on: the model becomes tasks, and computes the same.
for package in all out; do
	"$skrun" $package.sk --input x=x.npy --output y=$package.npy
done
cmp all.npy out.npy || fail "switches change results"

# ---- flags that name a pass beat the file, and levels do not ----
echo stage3_split_7_graph_kernel_cse >one.txt
passes net.onnx --fusion-switch-file none.cfg --fusion-flags=--enable_pass=split.graph_kernel_cse |
	diff one.txt - >&2 || fail "enable_pass"
passes net.onnx --fusion-switch-file few.cfg --fusion-flags=--disable_pass=1.0,2.6,split.graph_kernel_cse |
	diff <(head -1 few.txt) - >&2 ||
	fail "disable_pass"
passes net.onnx --fusion-switch-file few.cfg --fusion-flags=--opt_level=0 | diff few.txt - >&2 ||
	fail "a level beats the file"
echo '{"Switch": {"GraphFusion": {"ALL": "off"}, "UBFusion": {"ALL": "off"}}, "ExceptionalPassOfO1Level": ["graph_kernel_cse"]}' >stays.json
passes net.onnx --fusion-switch-file stays.json --fusion-flags=--opt_level=1 | diff <(grep cse few.txt) - >&2 ||
	fail "passes that stay on"

# ---- precedence ----
mkdir sub
cp few.json sub/switches.json
printf 'sklink: 1\ngraph: ../net.onnx\nswitches: switches.json\n' >sub/net.yaml
passes sub/net.yaml --dependency-file=out.d | diff few.txt - >&2 || fail "a file that the manifest names"
grep -q 'sub/switches.json' out.d || fail "a dependency is missing"
passes sub/net.yaml --fusion-switch-file cse.cfg --dependency-file=out.d | diff expected.txt - >&2 ||
	fail "the option does not count"
grep -q 'cse.cfg' out.d || fail "a dependency is missing"
! grep -q 'switches.json' out.d || fail "a file is read that does not count"

# ---- a reproduction has the file ----
for link_of in "net.onnx --fusion-switch-file=few.json" sub/net.yaml; do
	"${link[@]}" $link_of -o first.sk --repro=repro.tar
	rm -rf repro
	tar xf repro.tar
	(cd repro && "$sklink" @response.txt --verbose 2>../again.txt) || fail "$link_of is not repeated"
	sed -nE 's/.*graph kernel pass ([A-Za-z0-9_]*) is enabled\.$/\1/p' again.txt | diff few.txt - >&2 ||
		fail "$link_of is repeated with other switches"
done

# ---- errors ----
# refused LINE MESSAGE: the file with that text is, and nothing is written.
refused() {
	printf "$1" >bad.cfg
	rm -f out.sk
	fails_with "^sklink: error: bad.cfg$2" "${link[@]}" net.onnx --fusion-switch-file=bad.cfg -o out.sk
	[ ! -e out.sk ] || fail "a package is left"
}
refused 'a:on\na:off\n' ":2:1: pass 'a' has two switches"
refused 'a:on\nb:yes\n' ":2:3: the switch of pass 'b' must be on or off, not 'yes'"
refused 'a on\n' ":1:1: the line 'a on' has no ':'"
refused '' ": the switch file is empty"
refused '{"Switch": {"GraphFusion": {"a": "on", "a": "on"}}}' ":1:40: duplicate key 'a'"
refused '{"Switch": {"GraphFusion": {"a": 1}}}' ":1:34: the switch of pass 'a' must be off or on, not '1'"
refused '{"Switch": {"GraphFusion": {"a"}}}' ":1:"
refused '{"Switch": {"UB": {}}}' ":1:13: unknown key 'UB' in 'Switch'"
fails_with "^sklink: error: missing.cfg: cannot open the switch file: No such file" "${link[@]}" net.onnx \
	--fusion-switch-file=missing.cfg -o out.sk
# A name that is not a pass gives a warning, once for all networks.
echo '{"Switch": {"GraphFusion": {"graph_kernel_cs": "off", "FusionVirtualOpSetSwitch": "off"}, "UBFusion": {"FusionVirtualOpSetSwitch": "on"}}}' >names.json
"${link[@]}" net.onnx --fusion-switch-file=names.json -o out.sk 2>err.txt
diff - err.txt <<'TEXT' >&2 || fail "names"
sklink: warning: names.json:1:29: unknown pass 'graph_kernel_cs' of GraphFusion; its switch changes nothing; did you mean 'graph_kernel_cse'?
sklink: warning: names.json:1:55: unknown pass 'FusionVirtualOpSetSwitch' of GraphFusion; its switch changes nothing; it is one of UBFusion
TEXT
# Without a model it is about nothing.
printf 'sklink: 1\ntensors: {x: {dtype: f32, shape: [4]}}\ntasks: [{name: t, kernel: k, args: [x]}]\n' >plain.yaml
fails_with "^sklink: error: plain.yaml: --fusion-switch-file is about a model" "$sklink" plain.yaml -o out.sk \
	--fusion-switch-file=few.json
printf 'switches: few.json\n' >>plain.yaml
fails_with "^sklink: error: plain.yaml:4:11: this applies to a model" "$sklink" plain.yaml -o out.sk
