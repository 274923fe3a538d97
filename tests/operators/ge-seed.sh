# Dumps as GE writes them: attributes of its passes, constants, storage formats, and each condition of
# FusionVirtualOpSetSwitch with a graph that meets all others.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
needs_python
unset SKLINK_GRAPH_KERNEL_FLAGS MS_DEV_GRAPH_KERNEL_FLAGS GLOG_v DUMP_GE_GRAPH
PYTHONPATH=$top_srcdir/tests/lib "$python" "$top_srcdir/tests/operators/ge_seed.py" "$sklink" "$skrun" "$skdump" \
	"-L$top_builddir/kernels" -lskernels
