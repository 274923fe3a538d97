#!/bin/bash
# sklink -r with objects that are not position-independent: absolute addresses of 32 and 64 bits stay for the next
# linker. A program that is not a PIE has the results of the same functions called directly; as a PIE, or as a package,
# they are refused.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
cat >kernels.c <<'C'
#include <string.h>

extern long program_table[4], program_function(long);
static long table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
static long counters[8];
long common[4];
static long one(long x) { return x + 1; }
static long two(long x) { return x * 2; }
static long (*const functions[])(long) = {one, two, program_function};
static const char *const words[] = {"alpha", "beta", "gamma", "the beta"};
static __attribute__((noinline)) long call(long (*function)(long), long x) { return function(x); }

static long choose(long i)
{
	switch (i & 7) {
	case 0: return 17 * common[1];
	case 1: return strlen(words[i & 3]);
	case 2: return program_table[i & 3];
	case 3: return call(one, i) + call(program_function, i);
	case 4: return functions[i % 3](i);
	case 5: return (long)memcmp("beta", words[i & 3], 4) == 0;
	case 6: return *strchr(words[i & 3], 'a');
	default: return i - 5;
	}
}

void mix(const long *x, long *y, long n)
{
	memset(counters, 0, sizeof(counters));
	for (long i = 0; i < n; i++)
		y[i] = table[x[i] & 7] + choose(x[i]) + ++counters[x[i] & 7];
}
C
cat >wide.s <<'S'
	.text
	.globl	wide
	.type	wide, @function
wide:	movabs	$numbers, %rax
	mov	(%rax), %rcx
	movabs	$program_table, %rax
	add	(%rax), %rcx
	movabs	program_table, %rax
	add	%rcx, %rax
	mov	$numbers + 8, %ecx
	add	(%rcx), %rax
	mov	%rax, (%rdi)
	ret
	.size	wide, . - wide
	.data
numbers: .quad 1000, 200
S
cat >model.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: i64, shape: [500]}
  t: {dtype: i64, shape: [500]}
  y: {dtype: i64, shape: [500]}
  w: {dtype: i64, shape: [1]}
kernels:
  mix: {signature: "in x i64[n], out y i64[n], n i64"}
  wide: {signature: "out y i64[1]"}
tasks:
  - {name: first, kernel: mix, args: [x, t], scope: all}
  - {name: second, kernel: mix, args: [t, y], scope: all}
  - {name: third, kernel: wide, args: [w], scope: all}
M
cat >program.c <<'C'
#include <stdio.h>
long program_table[4] = {11, 22, 33, 44};
long program_function(long x) { return 7 * x; }
void mix(const long *x, long *y, long n);
int sk_all_serial(void *const *, void *);
int main(void)
{
	static long x[500], t[500], y[500], expected[500], w;
	static char workspace[1 << 16] __attribute__((aligned(64)));
	void *tensors[] = {x, y, &w};
	for (int i = 0; i < 500; i++)
		x[i] = i * 31 % 97;
	mix(x, t, 500);
	mix(t, expected, 500);
	if (sk_all_serial(tensors, workspace))
		return 1;
	for (int i = 0; i < 500; i++)
		if (y[i] != expected[i]) {
			printf("%d: %ld, not %ld\n", i, y[i], expected[i]);
			return 2;
		}
	return w != 1000 + 11 + 11 + 200;
}
C
$KERNEL_CC -c wide.s -o wide.o
linkers=
for name in ld.bfd ld.gold ld.lld mold; do
	path=$(command -v $name) || continue
	mkdir -p linkers/$name
	ln -s "$path" linkers/$name/ld
	linkers="$linkers $name"
done
for flags in '-O2 -fno-pic -fno-pie' '-O0 -fno-pic -fno-pie' \
	'-O2 -fno-pic -fno-pie -fno-plt -fcommon -ffunction-sections -fdata-sections' \
	'-O2 -fno-pic -fno-pie -mcmodel=large'; do
	$KERNEL_CC $flags -fno-builtin -c kernels.c -o kernels.o
	for icf in none all; do
		"$sklink" -r model.yaml kernels.o wide.o --icf=$icf -o linked.o
		readelf -rW linked.o >relocations.txt
		grep -q 'R_X86_64_64 ' relocations.txt || fail "$flags: no address of 64 bits is left"
		grep -qE 'R_X86_64_32S? ' relocations.txt || fail "$flags: no address of 32 bits is left"
		"$skdump" --verify linked.o >out.txt || fail "$flags: skdump --verify"
		for linker in $linkers; do
			$KERNEL_CC -Blinkers/$linker -O1 -fno-pie -no-pie program.c kernels.o linked.o -o program \
				-Wl,-z,noexecstack ||
				fail "$linker, $flags"
			./program || fail "$linker, $flags: the results are others"
		done
	done
	! $KERNEL_CC -O1 -fPIE -pie program.c kernels.o linked.o -Wl,--fatal-warnings -o program 2>err.txt ||
		fail "$flags: a PIE is made"
	fails_with "relocation R_X86_64_(32|32S|64) against '.*' (needs an absolute address|would have to be written into code)" \
		"$sklink" model.yaml kernels.o wide.o --unresolved-symbols=trap -o out.sk
	[ ! -e out.sk ] || fail "there is a package"
done
