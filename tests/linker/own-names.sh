#!/bin/bash
# Kernels refer to names that the package's own code defines. Their final meaning differs from the one that they had
# while the kernels' sections were collected.
. "$top_srcdir/tests/lib/lib.sh"

cat >kernel.c <<'C'
#include "skkernel.h"

/* The entry of the scope has this name. */
__attribute__((weak)) int sk_all(void)
{
	static const char text[] = "no entry";

	__asm__ volatile("" : : "r"(text));
	return 7;
}
__attribute__((weak)) extern const char sk_plan[], nothing[];

void fill(float *y, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = (float)((y ? 1 : sk_all()) + (sk_plan ? 2 : 0) + (nothing ? 4 : 0));
}
SK_KERNEL(fill, "split=n; out y f32[n], n i64");
C
cat >model.yaml <<'YAML'
sklink: 1
tensors:
  a: {dtype: f32, shape: [2], role: output}
  b: {dtype: f32, shape: [2], role: output}
scopes:
  NAME: {}
tasks:
  - {name: first, kernel: fill, args: [a], scope: NAME}
  - {name: second, kernel: fill, args: [b], scope: NAME}
YAML
KERNEL_CFLAGS="-O1 -fPIC -ffunction-sections -fdata-sections"
compile kernel

# has SCOPE COUNT: the package, for every number of threads, has the text in the kernel's object so many times, and
# computes the same
has() {
	sed "s/NAME/$1/" model.yaml >$1.yaml
	for threads in 1 2; do
		"$sklink" $1.yaml kernel.o -j$threads -o $1-$threads.sk
		[ "$(strings $1-$threads.sk | grep -cx 'no entry')" = $2 ] ||
			fail "the text is there, or not: $1, -j$threads"
		rm -f b.npy
		"$skrun" $1-$threads.sk --output b=b.npy >/dev/null
		[ "$(echo $(od -An -tf4 -j128 b.npy))" = "3 3" ] || { od -tf4 -j128 b.npy;
			fail "results: $1, -j$threads"; }
	done
	cmp $1-1.sk $1-2.sk || fail "$1: packages differ"
}

has other 1
has all 0
"$sklink" all.yaml kernel.o -o why.sk --why-live=sk_all >why.txt
cmp why.sk all-1.sk || fail "the package is another one where somebody asks why"
grep -qx 'dead symbol: kernel.o:(sk_all)' why.txt || { cat why.txt; fail "the reasons"; }
