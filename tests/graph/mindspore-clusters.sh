#!/bin/bash
# Composites of networks on the target cpu, beside those that MindSpore 2.10 writes on a CPU for the same networks with
# the same flags: dump_as_text's clusters, and the kernels that it builds of them (names of AKG's files, each once).
#
# These differ on purpose, so that the test turns them off: sklink first restores operators that a framework takes apart
# (recompose.onnx_fusion: GELU, attention), since it has kernels for them, and it has the fusions of MindSpore's Ascend
# library on all targets (add_layer_norm_fusion). A Reshape alone is not a kernel of AKG's, and not a piece here.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
needs_python
unset SKLINK_GRAPH_KERNEL_FLAGS MS_DEV_GRAPH_KERNEL_FLAGS GLOG_v
set -- -L "$top_builddir/kernels" -lskernels
"$python" "$top_srcdir/tests/lib/mindir.py" .

# clusters NET LEVEL CLUSTERS KERNELS: in the order of the graph, and as a sorted set.
clusters() {
	local net=$1 level=$2
	rm -rf dumps
	"$sklink" "$net.mindir" --fusion-target=cpu --dump-dir=dumps -L "$top_builddir/kernels" -lskernels -o net.sk \
		--fusion-flags="--opt_level=$level --dump_as_text --disable_pass=recompose.onnx_fusion,add_layer_norm_fusion"
	sed -nE 's/^Source nodes of "(.*)" = composite.*/\1/p' dumps/graph_kernel_dump/graph_kernel_cluster_*.txt |
		sed -E 's/_fusion(_[0-9]+)?$//' | tr '\n' ' ' >clusters.txt
	echo "$3" | diff - <(sed 's/ $//' clusters.txt; echo) || fail "$net at level $level: other clusters"
	sed -nE 's/^Source nodes of .* = composite (.*)/\1/p' dumps/graph_kernel_dump/graph_kernel_cluster_*.txt |
		sort | uniq -d | grep . && fail "$net: numbers of composites repeat"
	sed -nE 's/^composite [0-9]+ "(.*)": .*/\1/p' dumps/hwopt_d_composite_opt_end_graph_0.ir |
		sed -E 's/_[0-9]+$//' | grep -vx Reshape_fusion | sort -u | tr '\n' ' ' >kernels.txt
	echo "$4" | diff - <(sed 's/ $//' kernels.txt; echo) || fail "$net at level $level: other kernels"
}

layer="Reshape BiasAdd_Reshape_Transpose BiasAdd_Reshape_Transpose_Transpose Mul_Sub_Mul_Add BiasAdd_Reshape_Transpose"
layer="$layer Transpose_Reshape BiasAdd_Reshape_Add Reshape BiasAdd_Reshape Add_Mul_Mul_Reshape BiasAdd_Reshape_Add"
pieces="Add_Mul_Mul_Reshape_fusion Add_Reshape_split BiasAdd_Reshape_Add_fusion BiasAdd_Reshape_fusion"
pieces="$pieces Mul_Sub_Mul_Add_fusion Transpose_Reshape_fusion Transpose_split"
for level in 2 3; do
	clusters basic $level Mul_Add Mul_Add_fusion
	clusters composite $level Mul_Add_Pow Mul_Add_Pow_fusion
	clusters softmaxed $level Mul Mul_fusion
	clusters act $level Tanh_Mul_ReLU_Add_Square_Add Tanh_Mul_ReLU_Add_Square_Add_fusion
	clusters attn $level 'Transpose Mul_Add' 'Mul_Add_fusion Transpose_fusion'
	clusters reduce $level 'Mul_Exp_ReduceSum Add' 'Add_fusion Mul_Exp_ReduceSum_fusion'
	clusters ln $level Mul_Add Mul_Add_fusion
	clusters dense $level 'BiasAdd Add_Mul_Mul' 'Add_Mul_Mul_fusion BiasAdd'
	clusters bert $level "$layer" "$pieces"
done

# passes FLAGS: the numbers of the passes that MindSpore 2.10 and sklink have, and e or d for enabled or disabled. (On a
# CPU MindSpore never runs 5.2, parallel_fusion; here it is a matter of the planner, which has cores on all targets.)
passes() {
	"$sklink" composite.mindir --fusion-target=cpu --verbose --fusion-flags="$1" -L "$top_builddir/kernels" -lskernels \
		-o net.sk 2>err.txt
	sed -nE 's/.*graph kernel pass stage([0-7])_[a-z0-9]+_([0-9]+)_([A-Za-z_]+) is (.)[a-z]*abled.*/\1.\2\4 \3/p' err.txt |
		grep -Ev ' (fuse_basic|parallel_fusion|FusionVirtual.*)$' | sed 's/ .*//' | tr '\n' ' '
	echo
}
all='0.7e 1.0d 1.3e 1.4e 1.6e 2.0e 2.1e 2.3e 2.6e 2.7e 3.4e 3.7e 3.9e 4.0d'

# Texts of flags with mistakes, which MindSpore takes in the same way: the first of repeated flags counts, malformed and
# unknown ones are ignored, a level above 3 is 3, and a pass without its stage is not meant.
is() { # FLAGS PASSES WARNING…
	local flags=$1 warning
	[ "$(passes "$flags")" = "$2 " ] || fail "$flags: other passes"
	shift 2
	for warning; do
		grep -q "warning: .*$warning" err.txt || { cat err.txt >&2;
			fail "$flags: no warning '$warning'"; }
	done
}
is "--opt_level=5 --dump_as_text=maybe --foo=1 --disable_pass=build.graph_kernel_build" "$all" opt_level \
	dump_as_text 'unknown flag: foo' "stage6_build_5_graph_kernel_build is MindSpore's"
is "--opt_level=2 --opt_level=1 --disable_pass=6.5 --enable_stitch_fusion" "$all" "opt_level' is repeated\|opt_level" \
	"stage6_build_5_graph_kernel_build is MindSpore's"
is "opt_level=2 --dump_as_text= --disable_pass=build.graph_kernel_build,nosuch.pass --reduce_fuse_depth=-3" "$all" \
	'"nosuch.pass" is not valid' "stage6_build_5_graph_kernel_build is MindSpore's"
is "--opt_level=3 --disable_pass=1.3,build.graph_kernel_build --enable_cluster_ops=,,Mul,NoSuchOp --Dump_As_Text" \
	"${all/1.3e/1.3d}" 'unknown flag: Dump_As_Text' NoSuchOp
is "--opt_level=1 --disable_pass=graph_kernel_build --enable_pass=stage0_preprocess_7_no_such_pass" \
	'0.7e 1.0d 1.3e 1.4e 1.6e 2.0d 2.1e 2.3d 2.6d 2.7d 3.4e 3.7e 3.9e 4.0d' \
	"stage6_build_5_graph_kernel_build is MindSpore's" 'no_such_pass" is not valid'
