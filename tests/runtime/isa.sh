#!/bin/bash
# Instruction sets: the plan has a kernel's needs, from its signature or from notes of the objects that it reaches; a
# package that needs more than this processor has is refused when it is loaded, before any of its code runs.
set -eu
. "$top_srcdir/tests/lib/lib.sh"

# note NAME FEATURES: a .note.gnu.property section that needs these levels (bits).
note() {
	cat <<-S
		.section .note.GNU-stack,"",@progbits
		.section .note.gnu.property,"a",@note
		.balign 8
		.long 4, 16, 5
		.asciz "GNU"
		.long 0xc0008002, 4, $1, 0
	S
}
cat >kernels.c <<'C'
#include "skkernel.h"
void copy(const float *x, float *y, long n);
void copy(const float *x, float *y, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = x[i];
}
SK_KERNEL(copy, "split=n; in x f32[n], out y f32[n], n i64");
extern void helper(const float *x, float *y, long n);
__attribute__((section(".text.call"))) void call(const float *x, float *y, long n);
void call(const float *x, float *y, long n)
{
	helper(x, y, n);
}
SK_KERNEL(call, "split=n; in x f32[n], out y f32[n], n i64");
C
compile kernels
cat >helper.c <<'C'
void helper(const float *x, float *y, long n);
void helper(const float *x, float *y, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = x[i];
}
C
compile helper
# helper_needs BITS: helper.o says that it needs them.
cp helper.o plain-helper.o
helper_needs() {
	note "$1" | as -o note.o
	ld -r -o helper.o plain-helper.o note.o
	readelf -n helper.o | grep -q 'ISA needed' || fail "ld -r has lost the note"
}
# model KERNEL: one task.
model() {
	cat <<-M
		sklink: 1
		tensors:
		  x: {dtype: f32, shape: [100]}
		  y: {dtype: f32, shape: [100]}
		tasks:
		  - {name: one, kernel: $1, args: [x, y]}
	M
}
model copy >copy.yaml
model call >call.yaml

# shows PACKAGE TEXT
shows() {
	"$skdump" "$1" | grep -qE "^  instruction sets +$2\$" || { "$skdump" "$1" | head -20 >&2;
		fail "$1 does not show $2"; }
	"$skdump" --verify "$1" >/dev/null
}
has() { # FLAG of /proc/cpuinfo
	grep -qwm1 "$1" /proc/cpuinfo
}

# Nothing known: any processor will do, and the package has no note.
"$sklink" copy.yaml kernels.o -o none.sk
shows none.sk 'none declared'
readelf -n none.sk | grep -q 'ISA needed' && fail "a need from nowhere"

# From notes: of objects that the kernel reaches, and of no others. USED is not a need.
helper_needs 0xf
"$sklink" copy.yaml kernels.o helper.o -o copy.sk
shows copy.sk 'none declared'
"$sklink" call.yaml kernels.o helper.o -o call.sk
shows call.sk x86-64-v4
readelf -n call.sk | grep -q 'x86 ISA needed: x86-64-baseline, x86-64-v2, x86-64-v3, x86-64-v4' ||
	fail "the image's note"
readelf -n copy.sk | grep -q 'ISA needed' && fail "a need of an object that nobody reaches"
$KERNEL_CC $KERNEL_CFLAGS -march=x86-64-v3 -S helper.c -o - | grep -v '\.addrsig' | as -mx86-used-note=yes -o helper.o
if readelf -n helper.o | grep -q 'ISA used'; then
	"$sklink" call.yaml kernels.o helper.o -o used.sk
	shows used.sk 'none declared'
fi
if echo 'void f(void) {}' | $KERNEL_CC -march=x86-64-v3 -mneeded -x c -c - -o needed.o 2>/dev/null; then
	$KERNEL_CC $KERNEL_CFLAGS -march=x86-64-v3 -mneeded -c helper.c -o helper.o
	"$sklink" call.yaml kernels.o helper.o -o needed.sk
	shows needed.sk x86-64-v3
	if has avx2 && has bmi2 && has fma && has movbe && has f16c; then
		"$skrun" needed.sk --random 1 >/dev/null || fail "a processor with x86-64-v3 does not run it"
	fi
fi

# From a constructor of an object that the kernel reaches.
cat >constructor.c <<'C'
extern void initialise(void);
__attribute__((constructor, section(".text.construct"))) static void construct(void)
{
	initialise();
}
void helper(const float *x, float *y, long n);
void helper(const float *x, float *y, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = x[i];
}
C
compile constructor
{
	note 0x80000000 # no processor has that level
	echo '.text; .globl initialise; .type initialise, @function; initialise: ud2'
} | as -o initialise.o
"$sklink" call.yaml kernels.o constructor.o initialise.o -o constructor.sk
shows constructor.sk 'x86-64\+bit-31'
fails_with '^skrun: error: constructor.sk: a constructor needs x86-64\+bit-31; this processor has x86-64.* and lacks bit-31$' \
	"$skrun" constructor.sk --random 1

# From signatures.
declared() { # ISA
	cat <<-M
		sklink: 1
		tensors:
		  x: {dtype: f32, shape: [100]}
		  y: {dtype: f32, shape: [100]}
		kernels:
		  easy: {symbol: copy, signature: "split=n; in x f32[n], out y f32[n], n i64"}
		  hard: {symbol: copy, signature: "split=n isa=$1; in x f32[n], out y f32[n], n i64"}
		tasks:
		  - {name: one, kernel: easy, args: [x, y]}
		  - {name: two, kernel: hard, args: [x, z]}
	M
}
declare_isa() {
	declared "$1" | sed 's/^  y: .*/&\n  z: {dtype: f32, shape: [100]}/' >isa.yaml
	"$sklink" isa.yaml kernels.o -o isa.sk
}
declare_isa x86-64-v2 && shows isa.sk x86-64-v2
declare_isa avx2+fma && shows isa.sk 'x86-64\+avx2\+fma'
declare_isa x86-64-v3+avx512f+avx && shows isa.sk 'x86-64-v3\+avx512f'
declare_isa x86-64 && shows isa.sk x86-64 && "$skrun" isa.sk --random 1 >/dev/null
declared x86-64-v5 >wrong.yaml
fails_with "wrong.yaml:7:[0-9]+: .*'isa' does not know 'x86-64-v5'; did you mean 'x86-64" "$sklink" wrong.yaml \
	kernels.o -o wrong.sk
declared avx2+ >wrong.yaml
fails_with "'isa' does not know ''" "$sklink" wrong.yaml kernels.o -o wrong.sk
declare_isa amx-tile+avx512fp16
if ! has amx_tile; then
	fails_with "^skrun: error: isa.sk: kernel 'hard' needs x86-64\+.*amx-tile; this processor has x86-64.* and lacks .*amx-tile\$" \
		"$skrun" isa.sk --random 1
	fails_with "kernel 'hard' needs" "$skrun" --list isa.sk
fi

# A forged plan: levels that no processor has. The header's set, and the second kernel's, get bit 63.
declare_isa x86-64-v2
plan=$((0x$(nm -D isa.sk | awk '$3 == "sk_plan" { print $1 }')))
kernels=$((plan + 120 + $(od -An -td4 -j $((plan + 120)) -N 4 isa.sk)))
forge() { # OFFSET
	printf '\200' | dd of=isa.sk bs=1 seek=$(($1 + 7)) conv=notrunc status=none
}
forge $((kernels + 48 + 16))
fails_with 'plan: kernel 1: it needs more instruction sets than the package' "$skdump" isa.sk
forge $((plan + 48))
fails_with "^skrun: error: isa.sk: kernel 'hard' needs x86-64-v2\+bit-63; this processor has x86-64.* and lacks .*bit-63\$" \
	"$skrun" isa.sk --random 1
shows isa.sk 'x86-64-v2\+bit-63'

# A package that is refused leaves nothing: a thousand refusals take no more memory than some before them.
cat >refused.c <<'C'
#include <stdio.h>
#include "skrt.h"
static long pages(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long size = -1;

	if (!file || fscanf(file, "%ld", &size) != 1)
		return -1;
	fclose(file);
	return size;
}
int main(void)
{
	struct skrt_device *device;
	struct skrt_module *module;
	long before = 0;

	if (skrt_device_open(NULL, &device))
		return 1;
	for (int i = 0; i < 1100; i++) {
		if (skrt_module_load(device, "isa.sk", &module) != SKRT_UNSUPPORTED)
			return 2;
		if (i == 100)
			before = pages();
	}
	if (pages() >= before + 500) {
		fprintf(stderr, "%ld pages, %ld in the end\n", before, pages());
		return 3;
	}
	return skrt_device_close(device) ? 4 : 0;
}
C
libskrt="$top_builddir/.libs/libskrt.a $(sed -n "s/^Libs.private: //p" "$top_builddir/loader/libskrt.pc")"
sanitize=$(sed -n 's/^SANITIZE_CFLAGS = //p' "$top_builddir/Makefile")
$CC $sanitize -I"$top_srcdir/loader" refused.c $libskrt -ldl -lm -pthread -o refused
./refused || fail "a thousand packages that are refused leave memory behind"

# dlopen reads the note.
cat >open.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	if (argc == 2 && dlopen(argv[1], RTLD_NOW))
		return 0;
	fprintf(stderr, "%s\n", dlerror());
	return 1;
}
C
$KERNEL_CC -O1 open.c -o open -ldl
./open ./copy.sk || fail "dlopen refuses a package that needs nothing"
if ! ./open ./constructor.sk 2>err.txt; then # the constructor would end the program by a signal
	grep -q 'ISA level' err.txt || { cat err.txt >&2; fail "dlopen"; }
fi
