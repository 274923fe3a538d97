#!/bin/bash
# --ifunc: the choice of an IFUNC's function. The function may be local in the object, or any other one; an IFUNC
# without a choice is refused, and the functions that the resolver knows are named.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
cat >choice.c <<'C'
static __attribute__((noinline)) double slow(double x) { return 2 * x; }
static __attribute__((noinline)) double fast(double x) { return 3 * x; }
double far(double);
static double (*pick(void))(double)
{
	__builtin_cpu_init();
	return __builtin_cpu_supports("avx512f") ? fast : __builtin_cpu_supports("avx2") ? far : slow;
}
double chosen(double) __attribute__((ifunc("pick")));
void each(const double *x, double *y, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = chosen(x[i]);
}
C
echo 'double far(double x) { return 5 * x; }' >far.c
echo 'double chosen(double); double (*volatile pointer)(double) = chosen; double through(double x) { return pointer(x); }' >pointer.c
$KERNEL_CC -O1 -fPIC -fno-inline -ffunction-sections -c choice.c -o choice.o
$KERNEL_CC -O1 -fPIC -fno-inline -ffunction-sections -fno-plt -c choice.c -o slots.o
$KERNEL_CC -O1 -fPIC -c far.c -o far.o
$KERNEL_CC -O1 -fPIC -c pointer.c -o pointer.o
ar rc far.a far.o

cat >model.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f64, shape: [100]}
  y: {dtype: f64, shape: [100]}
  z: {dtype: f64, shape: [1]}
  w: {dtype: f64, shape: [1]}
kernels:
  each: {signature: "split=n; in x f64[n], out y f64[n], n i64"}
  one: {symbol: chosen, signature: "x f64 -> out z f64"}
  through: {signature: "reentrant; x f64 -> out z f64"}
tasks:
  - {name: first, kernel: each, args: [x, y], scope: all}
  - {name: second, kernel: one, args: [z], set: {x: 7}, scope: all}
  - {name: third, kernel: through, args: [w], set: {x: 11}, scope: all}
M
cat >main.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	static double x[100], y[100], z, w;
	void *tensors[] = {x, y, &z, &w}, *package = dlopen(argv[1], RTLD_NOW);
	int (*serial)(void *const *, void *);
	double factor = atof(argv[argc - 1]);
	if (!package || !(serial = (int (*)(void *const *, void *))dlsym(package, "sk_all_serial"))) {
		puts(dlerror());
		return 1;
	}
	for (int i = 0; i < 100; i++)
		x[i] = i;
	if (serial(tensors, NULL))
		return 2;
	for (int i = 0; i < 100; i++)
		if (y[i] != factor * i)
			return 3;
	return z != factor * 7 || w != factor * 11;
}
C
$KERNEL_CC -O1 main.c -o main -ldl

# gives FACTOR FUNCTION INPUT…
gives() {
	factor=$1 function=$2
	shift 2
	"$sklink" model.yaml "$@" pointer.o --ifunc=chosen=$function -o out.sk
	./main ./out.sk $factor || fail "$*: chosen is not $function"
	"$skrun" out.sk --random 1 --verify --cores 3 >out.txt || fail "$*: skrun --verify"
	"$skdump" --verify out.sk >out.txt || fail "$*: skdump --verify"
	! nm out.sk | grep -E ' pick$|cpu' || fail "$*: the resolver is in the package"
}
for object in choice.o slots.o; do
	gives 2 slow $object
	gives 3 fast $object
	gives 5 far $object far.o
	gives 5 far $object far.a
	gives 3 fast $object far.a --isolate-objects
	gives 3 fast $object --icf=all
done
"$sklink" -r model.yaml choice.o pointer.o --ifunc chosen=fast -o linked.o
"$skdump" --verify linked.o >out.txt || fail "skdump --verify linked.o"

# ---- errors ----
refused() {
	pattern=$1
	shift
	fails_with "$pattern" "$sklink" "$@" -o no.sk
	[ ! -e no.sk ] || fail "there is an output"
}
refused "^sklink: error: choice\.o:.*: 'chosen' is an IFUNC, which chooses its function at run time; name the function: --ifunc=SYMBOL=FUNCTION$" \
	model.yaml choice.o far.o pointer.o
grep -qE '^>>> it chooses among: (slow|fast|far)(, (slow|fast|far)){2}$' err.txt || { cat err.txt;
	fail "not all choices are named"; }
sed '/chosen/d; /second/d; /^  z:/d' model.yaml >calls.yaml
refused "relocation R_X86_64_PLT32 against 'chosen' refers to an IFUNC, which chooses its function at run time" \
	calls.yaml choice.o far.o pointer.o
grep -qE '^>>> it chooses among: (slow|fast|far)(, (slow|fast|far)){2}$' err.txt || { cat err.txt;
	fail "not all choices are named"; }
refused "^sklink: error: undefined symbol: fats; did you mean" model.yaml choice.o far.o pointer.o --ifunc=chosen=fats
refused "^sklink: error: --ifunc chosen: must be symbol=function" model.yaml choice.o --ifunc=chosen
refused "^sklink: error: --ifunc chosen=fast: a function has been chosen already" model.yaml choice.o \
	--ifunc=chosen=slow --ifunc chosen=fast
refused "^sklink: error: choice\.o:.*: --ifunc chosen=chosen: 'chosen' is an IFUNC" model.yaml choice.o pointer.o \
	--ifunc=chosen=chosen
refused "^sklink: error: --ifunc each=slow: no object that takes part has an IFUNC of this name$" \
	model.yaml choice.o far.o pointer.o --ifunc=chosen=fast --ifunc=each=slow --fatal-warnings

# A resolver that refers to all sorts of things.
cat >odd.s <<'S'
	.set	number, 0x1234
	.globl	chosen
	.type	chosen, @gnu_indirect_function
chosen:	lea	nothing(%rip), %rax
	lea	.Llabel+100(%rip), %rax
	lea	data(%rip), %rax
	lea	real(%rip), %rax
	.reloc	., R_X86_64_32, number
	.long	0
	ret
.Llabel: ret
	.size	chosen, . - chosen
	.section .text.real, "ax", @progbits
	.type	real, @function
real:	ret
	.size	real, 1
	.data
	.type	data, @object
data:	.quad	0
	.size	data, 8
S
$KERNEL_CC -c odd.s -o odd.o
refused "'chosen' is an IFUNC" model.yaml odd.o choice.o --allow-multiple-definition pointer.o
grep -qx '>>> it chooses among: real' err.txt || { cat err.txt; fail "other choices than 'real'"; }

# libmvec also chooses by the processor.
mvec=$($KERNEL_CC -print-file-name=libmvec.a)
[ -e "$mvec" ] || exit 0
cat >sines.c <<'C'
typedef double vector __attribute__((vector_size(16)));
vector _ZGVbN2v_sin(vector);
void sines(const double *x, double *y, long n)
{
	for (long i = 0; i < n; i += 2) {
		vector v = {x[i], x[i + 1]};
		v = _ZGVbN2v_sin(v);
		y[i] = v[0], y[i + 1] = v[1];
	}
}
C
$KERNEL_CC -O1 -fPIC -c sines.c -o sines.o
cat >sines.yaml <<M
sklink: 1
tensors:
  x: {dtype: f64, shape: [64]}
  y: {dtype: f64, shape: [64]}
kernels:
  sines: {signature: "in x f64[n], out y f64[n], n i64"}
tasks:
  - {name: all, kernel: sines, args: [x, y]}
M
refused "against '_ZGVbN2v_sin' refers to an IFUNC" sines.yaml sines.o "$mvec"
grep -qE '^>>> it chooses among: .*_ZGVbN2v_sin_sse(2|4)' err.txt || { cat err.txt;
	fail "libmvec's choices are not named"; }
name=$(sed -n 's/^>>> it chooses among: .*\(_ZGVbN2v_sin_sse[24]\).*/\1/p' err.txt)
"$sklink" sines.yaml sines.o "$mvec" --ifunc=_ZGVbN2v_sin=$name -o sines.sk
"$skrun" sines.sk --random 1 --verify >out.txt || fail "a function of libmvec does not run"
