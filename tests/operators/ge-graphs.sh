# Random graphs as GE dumps them compute the same as numpy: unused outputs are not listed, and tensors are stored in
# formats.
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
needs_python
"$python" "$top_srcdir/tests/operators/ge_graphs.py" "$sklink" "$skrun" "${GE_CASES:-60}" "${GE_SEED:-1}" \
	-L"$top_builddir/kernels" -lskernels
