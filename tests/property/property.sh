#!/bin/bash
# Two hundred random networks (property.c): for make check-quick. property-long.sh takes two thousand.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
cp "$top_srcdir/tests/property/property-kernels.c" "$top_srcdir/tests/property/property-templates.h" .
KERNEL_CFLAGS="$KERNEL_CFLAGS -ffunction-sections -fdata-sections" # only those that have hidden state shall
compile property-kernels

# They stay, for people who repeat a case.
kernels=$top_builddir/tests/property/property-kernels.o
cp property-kernels.o "$kernels.$$"
mv "$kernels.$$" "$kernels"
property() { # MORE-OPTIONS…
	"$top_builddir/tests/property/property" --keep "$top_builddir/tests/property-failures" "$@" "$kernels"
}
# of calls in different launches, one has the other's arguments
property --cases 1 --seed 4001056 --tasks 0,12 >arguments.txt || { cat arguments.txt;
	fail "calls with the same arguments"; }
property --cases 1 --seed 6577 --tasks 1,2,5 >mix.txt || { cat mix.txt;
	fail "a mix task beside one that begins elsewhere"; }
property --cases 1 --seed 1050 --tasks 13,15,18 >rests.txt || { cat rests.txt;
	fail "a task that rests on the awaits of another one with other cores, without awaiting it"; }
property --cases "${PROPERTY_CASES:-200}" --seed "${PROPERTY_SEED:-1}"
