# Random graphs as GE dumps them compute the same as numpy, with FusionVirtualOpSetSwitch on and off: unused outputs are
# not listed, and tensors of all types are stored in all formats.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
needs_python
PYTHONPATH=$top_srcdir/tests/lib "$python" "$top_srcdir/tests/operators/ge_graphs.py" "$sklink" "$skrun" "${GE_CASES:-60}" \
	"${GE_SEED:-1}" \
	-L"$top_builddir/kernels" -lskernels
