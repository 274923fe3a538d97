#!/bin/bash
# Kernels that are local symbols (static functions), in an object and in members of an archive: fused, copied, folded,
# in an object for the next linker, by their own results and by those of the same functions in the program.
set -eu
. "$top_srcdir/tests/lib/lib.sh"

# The object itself exports a table; the functions are local. Both of the members have a function `step`.
cat >table.c <<'C'
#include "skkernel.h"

static int calls;

static void scale(const double *x, double *y, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = 3 * x[i];
}

static void count(double *y, long n)
{
	calls = 0;
	for (long i = 0; i < n; i++)
		y[i] += ++calls;
}
SK_KERNEL(count, "inout y f64[n], n i64");

static void twice(const double *x, double *y, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = 3 * x[i];
}

typedef void any(void);
any *const table[] = {(any *)scale, (any *)count, (any *)twice};
C
for name in one two; do
	cat >$name.c <<-C
	static void step(const double *x, double *y, long n)
	{
		for (long i = 0; i < n; i++)
			y[i] = x[i] - 10 * (sizeof("$name") + '$name'[0]);
	}
	void (*const ${name}_step)(const double *, double *, long) = step;
	C
	sed -i "s/'$name'/\"$name\"/" $name.c
done
for name in table one two; do
	$KERNEL_CC -O1 -fPIC -ffunction-sections -I"$top_srcdir/format" -c $name.c -o $name.o
done
ar rc steps.a one.o two.o

# model.yaml, with $first, $second, $symbol and $options.
model() {
	cat >model.yaml <<-M
	sklink: 1
	tensors:
	  x: {dtype: f64, shape: [1000], role: input}
	  a: {dtype: f64, shape: [1000]}
	  b: {dtype: f64, shape: [1000]}
	  y: {dtype: f64, shape: [1000]}
	  c: {dtype: f64, shape: [1000], role: inout}
	kernels:
	  scale: {object: table.o, signature: "split=n; in x f64[n], out y f64[n], n i64"}
	  count: {object: table.o}
	  first: {symbol: step, object: ${first:-steps.a(one.o)}, signature: "split=n; in x f64[n], out y f64[n], n i64"}
	  second: {symbol: ${symbol:-step}, object: ${second:-steps.a(two.o)}, signature: "split=n; in x f64[n], out y f64[n], n i64"}
	scopes:
	  all: {options: "${options:-}"}
	tasks:
	  - {name: t1, kernel: scale, args: [x, a], scope: all}
	  - {name: t2, kernel: first, args: [a, b], scope: all}
	  - {name: t3, kernel: second, args: [b, y], scope: all}
	  - {name: t4, kernel: count, args: [c], scope: all}
	M
}

# The program has the same source, and calls the functions in its own tables.
cat >main.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
typedef void step(const double *, double *, long);
extern void (*const table[])(void);
extern step *const one_step, *const two_step;
#ifdef LINKED
extern int sk_all_serial(void *const *, void *);
#endif
int main(int argc, char **argv)
{
	static double x[1000], a[1000], b[1000], y[1000], expected[1000], c[1000];
	static char workspace[1 << 20] __attribute__((aligned(64)));
	void *tensors[] = {x, y, c}; /* in the order of the manifest */
	int (*serial)(void *const *, void *);
#ifdef LINKED
	serial = sk_all_serial;
#else
	void *package = dlopen(argv[1], RTLD_NOW);
	if (!package || !(serial = (int (*)(void *const *, void *))dlsym(package, "sk_all_serial"))) {
		puts(dlerror());
		return 1;
	}
#endif
	for (int i = 0; i < 1000; i++)
		x[i] = i * 0.37 - 100;
	((step *)table[0])(x, a, 1000);
	one_step(a, b, 1000);
	two_step(b, expected, 1000);
	for (int run = 0; run < 2; run++)
		if (serial(tensors, workspace))
			return 2;
	for (int i = 0; i < 1000; i++)
		if (y[i] != expected[i] || c[i] != 2 * (i + 1)) {
			printf("%d: %g, not %g; %g\n", i, y[i], expected[i], c[i]);
			return 3;
		}
	return argc > 2;
}
C
$KERNEL_CC -O1 -I"$top_srcdir/format" main.c table.c one.c two.c -o main -ldl

model
"$sklink" model.yaml -o model.sk
works model.sk
"$skdump" --verify model.sk >out.txt || fail "skdump --verify"
"$skdump" --steps model.sk >out.txt
grep -qE "^ *t3 +second$" out.txt || { cat out.txt; fail "skdump does not show the kernel"; }
[ "$(nm model.sk | grep -cE ' t (scale|count|step)$')" = 4 ] || { nm model.sk;
	fail "local symbols stand there not once"; }
options=split-mode=3:func-align=256:preload-code=max model
"$sklink" model.yaml -o split.sk
works split.sk
"$skdump" --verify split.sk >out.txt || fail "skdump --verify, with copies"
[ "$(nm split.sk | grep -c ' t step\.split[12]$')" = 4 ] || { nm split.sk; fail "there are no copies"; }
model
"$sklink" model.yaml -x -o discarded.sk
works discarded.sk
"$skdump" --verify discarded.sk >out.txt || { cat out.txt; fail "skdump --verify, with -x"; }
[ "$(nm discarded.sk | grep -cE ' t (scale|count|step)$')" = 4 ] || { nm discarded.sk; fail "-x drops kernels"; }
! nm discarded.sk | grep -q ' calls$' || fail "-x keeps a local symbol that is no kernel"
"$sklink" model.yaml --isolate-objects --icf=all -o folded.sk
works folded.sk
"$sklink" model.yaml table.o steps.a --cref -Map=map.txt --no-gc-sections -o whole.sk
works whole.sk
sed -i 's/steps.a(one.o)/one.o/; s/steps.a(two.o)/two.o/' model.yaml
"$sklink" model.yaml -o objects.sk
works objects.sk

# skdump gets the functions' names from the symbol table.
strip model.sk -o stripped.sk
works stripped.sk
proved stripped.sk
grep -q '^not proved: ' out.txt || fail "a stripped package is proved as a whole"
objcopy --redefine-sym scale=other model.sk renamed.sk
fails_with "the code of kernel 'scale' is not the function 'scale'" "$skdump" --verify renamed.sk

# Two functions have one name and one size: labels say which is which kernel, here the wrong ones, and then none.
[ "$(nm -S model.sk | awk '$4 == "step" { print $2 }' | sort -u | wc -l)" = 1 ] ||
	fail "the functions are not of one size"
for kernel in first second; do
	[ "$(nm model.sk | grep -c " t step\.$kernel\$")" = 1 ] || { nm model.sk; fail "no label of $kernel"; }
	[ "$(nm split.sk | grep -c " t step\.split[12]\.$kernel\$")" = 2 ] || { nm split.sk;
		fail "no labels of the copies of $kernel"; }
done
! nm model.sk | grep -q ' scale\.' || fail "a label that nobody needs"
objcopy --redefine-sym step.first=step.second --redefine-sym step.second=step.first model.sk swapped.sk
fails_with "the code of kernel 'first' is a different function 'step' from the one that the symbol table has as 'step\.first'" \
	"$skdump" --verify swapped.sk
objcopy --strip-symbol step.first --strip-symbol step.second model.sk unlabelled.sk
status=0
"$skdump" --verify unlabelled.sk >out.txt || status=$?
{ [ $status = 2 ] && grep -q '^not proved: the code of 2 kernels and 0 task entries' out.txt; } ||
	{ cat out.txt; fail "which function is which kernel is proved without labels"; }

# A function that is not a kernel may have the same name and size: the kernel has a label then.
cat >three.c <<'C'
static __attribute__((noinline)) void step(const double *x, double *y, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = x[i] - 10 * (sizeof("six") + "six"[0]);
}
void around(const double *x, double *y, long n)
{
	step(x, y, n - 1);
	y[n - 1] = 0;
}
C
$KERNEL_CC -O1 -fPIC -ffunction-sections -c three.c -o three.o
second=three.o symbol=around model
for how in "" -r; do
	"$sklink" $how model.yaml -o helped.sk
	[ "$(nm -S helped.sk | awk '$4 == "step" { print $2 }' | sort -u | wc -l)" = 1 ] || { nm -S helped.sk;
		fail "the functions are not of one size"; }
	[ "$(nm helped.sk | grep -cE ' t (step|around|scale)\.')" = 1 ] || { nm helped.sk; fail "not one label"; }
	"$skdump" --verify helped.sk >out.txt || { cat out.txt;
		fail "skdump --verify, with a helper of the kernel's name"; }
	objcopy --redefine-sym step.first=other helped.sk other.sk
	status=0
	"$skdump" --verify other.sk >out.txt || status=$?
	{ [ $status = 2 ] && grep -q '^not proved: the code of 1 kernel' out.txt; } ||
		{ cat out.txt; fail "which function is the kernel is proved without a label"; }
done

# An object for the next linker has them as local symbols, beside those of the program.
model
"$sklink" -r model.yaml -o linked.o
nm linked.o >out.txt
[ "$(grep -cE ' t (scale|count|step)$' out.txt)" = 4 ] || { cat out.txt;
	fail "-r: local symbols stand there not once"; }
$KERNEL_CC -O1 -DLINKED -I"$top_srcdir/format" main.c table.c one.c two.c linked.o -o linked
./linked || fail "-r: the results are others"

# The sides of a mix kernel.
cat >sides.c <<'C'
#include "skkernel.h"

static void add_mix_aic(const struct sk_block *block, const float *x, float *t, float *y, int64_t n)
{
	for (int64_t i = block->index; i < n; i += block->count)
		t[i] = x[i] + 1;
	sk_set_flag(block, 0);
	sk_wait_flag(block, 1);
	for (int64_t i = block->index; i < n; i += block->count)
		y[i] = t[i];
}

static void add_mix_aiv(const struct sk_block *block, const float *x, float *t, float *y, int64_t n)
{
	(void)x, (void)y;
	sk_wait_flag(block, 0);
	for (int64_t i = block->index; i < n; i += block->count)
		t[i] = 2 * t[i];
	sk_set_flag(block, 1);
}
SK_KERNEL(add, "mix; block, in x f32[n], inout t f32[n], out y f32[n], n i64");

void *const sides[] = {(void *)add_mix_aic, (void *)add_mix_aiv};
C
compile sides
cat >sides.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f32, shape: [100]}
  t: {dtype: f32, shape: [100], role: inout}
  y: {dtype: f32, shape: [100]}
kernels:
  add: {object: sides.o}
tasks:
  - {name: both, kernel: add, args: [x, t, y], blocks: 4, scope: all}
M
"$sklink" sides.yaml -o sides.sk
"$skdump" --verify sides.sk >out.txt || fail "skdump --verify sides.sk"
"$skrun" sides.sk --random 1 --verify --cores 3 >out.txt || { cat out.txt; fail "local sides do not run"; }
sed '/^kernels:/d; /^  add:/d' sides.yaml >anywhere.yaml
fails_with "^sklink: error: sides\.o: 'add_mix_aic' is a local symbol here" "$sklink" anywhere.yaml sides.o -o out.sk

# ---- errors ----

first=steps.a model
refused "^sklink: error: steps\.a: 'step' is a local symbol of several members; name one of these, such as 'object: steps\.a\(one\.o\)'$"
grep -qx '>>> steps.a(two.o)' err.txt || fail "not all members are listed"
second='steps.a(thre.o)' model
refused "^sklink: error: steps\.a: there is no member 'thre\.o'"
second='steps.b(two.o)' model
refused "cannot find '.*steps\.b'"
symbol=stop model
refused "^sklink: error: model\.yaml:12:20: kernel 'second': no function 'stop' in steps\.a\(two\.o\); did you mean 'step'\?$"
symbol=calls second=table.o model
refused "no function 'calls' in table\.o"
model
sed -i '/^  first:/s/object: [^,]*, //' model.yaml
refused "^sklink: error: one\.o: 'step' is a local symbol here .*'object: one\.o'$" one.o
refused "^sklink: error: steps\.a\(one\.o\): 'step' is a local symbol here .*'object: steps\.a\(one\.o\)'$" steps.a
ld -r one.o two.o -o both.o
first=both.o model
refused "^sklink: error: both\.o: several local symbols are called 'step', and nothing tells them apart$"
mkdir other
cp two.o other/one.o
cp steps.a twice.a
ar q twice.a other/one.o
first='twice.a(one.o)' model
refused "^sklink: error: twice\.a\(one\.o\): several local symbols are called 'step'; if .* 'ar xN COUNT'"

# A file may be called like a member.
cp one.o 'steps.a(one.o)'
model
"$sklink" model.yaml -o file.sk
works file.sk

# ---- FFTW's codelets, if Debian's package has been downloaded (tests/linker/archives.sh) ----
fftw=$top_builddir/tests/packages/libfftw3-dev/usr/lib/x86_64-linux-gnu/libfftw3.a
[ -e "$fftw" ] || exit 0
cat >fft.yaml <<M
sklink: 1
tensors:
  re: {dtype: f64, shape: [40, 16]}
  im: {dtype: f64, shape: [40, 16]}
  places: {dtype: i64, shape: [16]}
  out_re: {dtype: f64, shape: [40, 16]}
  out_im: {dtype: f64, shape: [40, 16]}
kernels:
  dft16:
    symbol: n1_16
    object: $fftw
    signature: "split=v; in ri f64[v,16], in ii f64[v,16], out ro f64[v,16], out io f64[v,16], in is i64[16], in os i64[16], v i64, ivs i64, ovs i64"
tasks:
  - {name: all, kernel: dft16, args: [re, im, out_re, out_im, places, places], set: {ivs: 16, ovs: 16}, scope: fft}
M
"$sklink" fft.yaml -o fft.sk
"$skdump" --verify fft.sk >out.txt || fail "skdump --verify fft.sk"
cat >fft.c <<'C'
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
int main(void)
{
	static double in[2][40][16], out[2][40][16];
	long places[16]; /* FFTW's strides are tables of multiples on this machine */
	void *tensors[] = {in[0], in[1], places, out[0], out[1]}, *package = dlopen("./fft.sk", RTLD_NOW);
	int (*serial)(void *const *, void *) = (int (*)(void *const *, void *))dlsym(package, "sk_fft_serial");
	for (int i = 0; i < 2 * 40 * 16; i++)
		in[i / 640][i / 16 % 40][i % 16] = sin(i * 0.7) + i % 7;
	for (int i = 0; i < 16; i++)
		places[i] = i;
	if (serial(tensors, NULL))
		return 2;
	for (int v = 0; v < 40; v++)
		for (int k = 0; k < 16; k++) {
			double re = 0, im = 0;
			for (int j = 0; j < 16; j++) {
				double c = cos(-M_PI * j * k / 8), s = sin(-M_PI * j * k / 8);
				re += in[0][v][j] * c - in[1][v][j] * s, im += in[0][v][j] * s + in[1][v][j] * c;
			}
			if (!(fabs(re - out[0][v][k]) + fabs(im - out[1][v][k]) < 1e-9)) {
				printf("%d, %d: %g %g, not %g %g\n", v, k, out[0][v][k], out[1][v][k], re, im);
				return 1;
			}
		}
	return 0;
}
C
$KERNEL_CC -O1 fft.c -o fft -ldl -lm
./fft || fail "FFTW's codelet gives other results"
printf '\x93NUMPY\x01\x00v\x00%-117s\n' "{'descr': '<i8', 'fortran_order': False, 'shape': (16,), }" >places.npy
for i in 0 1 2 3 4 5 6 7 8 9 a b c d e f; do
	printf "\x0$i\0\0\0\0\0\0\0" >>places.npy
done
for cores in 1 2 3 7; do
	"$skrun" fft.sk --random 1 --input places=places.npy --verify --cores $cores >out.txt ||
		fail "FFTW's codelet on $cores cores"
done
"$skrun" fft.sk --random 1 --input places=places.npy --guard --cores 3 >out.txt || fail "FFTW's codelet with --guard"
