#!/bin/bash
# Random manifests with sizes with bounds (bounds.c). bounds-long.sh takes more of them.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
cp "$top_srcdir/tests/property/property-kernels.c" "$top_srcdir/tests/property/property-templates.h" .
KERNEL_CFLAGS="$KERNEL_CFLAGS -ffunction-sections -fdata-sections"
compile property-kernels
"$top_builddir/tests/property/bounds" --cases "${BOUNDS_CASES:-100}" --seed "${BOUNDS_SEED:-1}" --missed property-kernels.o \
	>out.txt || { cat out.txt; fail "random manifests with bounds"; }
grep -A99 ' manifests from seed ' out.txt
