# archives.sh for OpenBLAS, which takes as long as all others.
ARCHIVES=openblas
. "$top_srcdir/tests/linker/archives.sh"
