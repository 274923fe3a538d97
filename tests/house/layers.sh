# Layers and rooms use each other as doc/design.md says, and includes are as names are used (tests/lib/layers.py).
. "$top_srcdir/tests/lib/lib.sh"
. "$top_srcdir/tests/lib/models.sh"
needs_python
"$python" "$top_srcdir/tests/lib/layers.py" "$top_srcdir" "$top_builddir" >breaches.txt || { cat breaches.txt >&2;
	fail "layers and rooms"; }
