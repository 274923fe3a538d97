# libskernels.a: an object for each kernel that the sources list, with one exported function of its name and that function's
# signature. Kernels need nothing: no C library, no writable data.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
library=$top_builddir/kernels/libskernels.a

awk -f "$top_srcdir/kernels/variants.awk" "$top_srcdir"/kernels/*.c >variants
cut -d' ' -f1 variants | sort >listed
[ -s listed ] || fail "no kernel is listed"
ar t "$library" | sed 's/\.o$//' | sort >members
diff listed members >diff.txt || { cat diff.txt; fail "what is listed is not what is in the archive"; }

# "member symbol type" of everything that others see, or that is open.
nm -A --format=posix "$library" | sed -E 's/^.*\[(.*)\.o\]: /\1 /' >symbols
awk '$3 == "U"' symbols >open.txt
[ ! -s open.txt ] || { cat open.txt; fail "kernels import something"; }
awk '$3 ~ /[A-Z]/ && ($1 != $2 || $3 != "T")' symbols >others.txt
[ ! -s others.txt ] || { cat others.txt; fail "something but the kernel is exported"; }
awk '$3 ~ /[bBdDC]/' symbols >data.txt
[ ! -s data.txt ] || { cat data.txt; fail "kernels have writable data"; }

# Each note names its own kernel.
readelf -p .sk.kernels "$library" | sed -nE 's/^File: .*\((.*)\.o\)$/\1/p; s/^ *\[ *0\] *(.*)$/\1/p' | awk 'NR % 2 { file = $0; next } file != $0' >notes.txt
[ ! -s notes.txt ] || { cat notes.txt; fail "notes name other kernels"; }
