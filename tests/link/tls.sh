#!/bin/bash
# What a package cannot have, thread-local storage in every form and IFUNCs, is refused with object, section, kernel and task.
set -eu
. "$top_srcdir/tests/lib/lib.sh"

cat >kernel.c <<'C'
#include "skkernel.h"
int count(int x);
void scale(const float *x, float *y, long n);
void scale(const float *x, float *y, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = x[i] * (float)count((int)i);
}
SK_KERNEL(scale, "in x f32[n], out y f32[n], n i64");
void other(const float *x, float *y, long n);
__attribute__((section(".text.other"))) void other(const float *x, float *y, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = x[i];
}
SK_KERNEL(other, "in x f32[n], out y f32[n], n i64");
C
compile kernel
cat >count.c <<'C'
LINKAGE __thread int here;
int count(int x);
int count(int x)
{
#ifdef EXTERNAL
	return here;
#else
	return here += x;
#endif
}
C
cat >model.yaml <<M
sklink: 1
tensors:
$(tensors '[100]' x a y z)
tasks:
  - {name: harmless, kernel: other, args: [x, a]}
  - {name: guilty, kernel: scale, args: [a, y]}
  - {name: again, kernel: scale, args: [a, z]}
M
notes=">>> reached from kernel 'scale', which 'guilty' calls"
# refused PATTERN: every error is one that the pattern describes or that follows from it, and each relocation's names the kernel.
refused() {
	rm -f out.sk
	fails_with "$1" "$sklink" model.yaml kernel.o count.o -o out.sk
	[ ! -e out.sk ] || fail "an output in spite of an error"
	[ "$(grep -c 'count.o:(.*): relocation' err.txt)" -gt 0 ] || { cat err.txt >&2; fail "object and section are not named"; }
	[ "$(grep -cE 'error: (count.o|undefined symbol):' err.txt)" = "$(grep -cxF "$notes" err.txt)" ] ||
		{ cat err.txt >&2; fail "kernel and task are not named once for each error"; }
	! grep -q "'again'\|'other'" err.txt || { cat err.txt >&2; fail "others are named"; }
}
# model MODEL LINKAGE FLAGS TYPE: the compiler may choose a cheaper model than the one named; TYPE is what it makes of it.
model() {
	$KERNEL_CC -O1 -Wno-unused "-ftls-model=$1" "-DLINKAGE=$2" $3 -c count.c -o count.o
	readelf -rW count.o | grep -qE "$4" || { readelf -rW count.o >&2; fail "$1 $2 $3: the compiler makes no $4"; }
	refused "^sklink: error: count.o:\(\.text.*\+0x[0-9a-f]+\): relocation ($4) against 'here' uses thread-local storage, which a package cannot have; recompile without"
	if grep -q __tls_get_addr err.txt; then
		grep -q 'undefined symbol: __tls_get_addr; it serves thread-local storage' err.txt || fail "no hint"
	fi
}
model global-dynamic '' -fPIC 'R_X86_64_TLSGD'
model global-dynamic extern '-fPIC -DEXTERNAL' 'R_X86_64_TLSGD'
model local-dynamic static -fPIC 'R_X86_64_(TLSLD|DTPOFF32)'
model initial-exec '' -fPIC 'R_X86_64_GOTTPOFF'
model initial-exec extern '-fPIC -DEXTERNAL' 'R_X86_64_GOTTPOFF'
model local-exec '' -fPIC 'R_X86_64_TPOFF32'
for name in global-dynamic local-dynamic initial-exec local-exec; do
	model $name static '-fno-pic' 'R_X86_64_TPOFF32'
	model $name static '-fpie' 'R_X86_64_TPOFF32'
done
model initial-exec extern '-fno-pic -DEXTERNAL' 'R_X86_64_GOTTPOFF'
if echo 'int f;' | $KERNEL_CC -mtls-dialect=gnu2 -x c -c - -o dialect.o 2>/dev/null; then
	model global-dynamic '' '-fPIC -mtls-dialect=gnu2' 'R_X86_64_(GOTPC32_TLSDESC|TLSDESC_CALL)'
fi

# Of a kernel that runs on several cores the state is not merely hidden.
sed 's/SK_KERNEL(scale, "/&split=n; /' kernel.c >split.c
compile split
for option in -j1 -j2 -r; do
	fails_with "^sklink: error: count.o:.*'here' uses thread-local storage" "$sklink" model.yaml split.o count.o -o out.sk $option
	! grep -q 'hidden state' err.txt || { cat err.txt >&2; fail "thread-local storage is taken for hidden state"; }
done

# IFUNCs: called, addressed, and as a kernel.
cat >count.c <<'C'
static int one(int x) { return x; }
static int (*choose(void))(int) { return one; }
int chosen(int x) __attribute__((ifunc("choose")));
int count(int x);
int count(int x)
{
	return chosen(x);
}
C
for flags in -fPIC -fno-pic; do
	$KERNEL_CC -O1 $flags -c count.c -o count.o
	refused "^sklink: error: count.o:\(\.text\+0x[0-9a-f]+\): relocation .* against 'chosen' refers to an IFUNC, which is not supported; name"
done
sed 's/kernel: scale/kernel: chosen/; s/^tasks:/kernels:\n  chosen: {signature: "in x f32[n], out y f32[n]"}\n&/' model.yaml >ifunc.yaml
fails_with "'chosen' is an IFUNC, which cannot be a kernel" "$sklink" ifunc.yaml kernel.o count.o -o out.sk

# What nobody reaches does no harm.
grep -v scale model.yaml | grep -v '^  [yz]:' | sed 's/^  a: .*/  a: {dtype: f32, shape: [100], role: output}/' >harmless.yaml
$KERNEL_CC $KERNEL_CFLAGS -ffunction-sections -I"$top_srcdir/stubs" -c kernel.c -o kernel.o
"$sklink" harmless.yaml kernel.o count.o -o out.sk
