#!/bin/bash
# Kernels that no input defines and that packages import: fused, beside kernels of objects, with every option that is
# about code, in an object for the next linker, with the state of the C library; and which imports cannot be kernels.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
cat >draw.c <<'C'
int rand(void);
void draw(int *numbers, long n)
{
	for (long i = 0; i < n; i++)
		numbers[i] = rand();
}
void add(const unsigned char *x, unsigned char *y, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = x[i] + 3;
}
C
$KERNEL_CC -O1 -fPIC -ffunction-sections -c draw.c -o draw.o

model() {
	cat >model.yaml <<-M
	sklink: 1
	tensors:
	  x: {dtype: u8, shape: [5000]}
	  t: {dtype: u8, shape: [5000]}
	  u: {dtype: u8, shape: [5000]}
	  y: {dtype: u8, shape: [5000]}
	  z: {dtype: f64, shape: [1]}
	  r: {dtype: i32, shape: [3]}
	kernels:
	  copy: {symbol: ${symbol:-memcpy}, signature: "split=n; out y u8[n], in x u8[n], n u64"}
	  add: {signature: "split=n; in x u8[n], out y u8[n], n i64"}
	  power: {symbol: pow, signature: "x f64, y f64 -> out z f64"}
	  seed: {symbol: srand, signature: "${seed:-seed u32}"}
	  draw: {signature: "out numbers i32[n], n i64"}
	scopes:
	  all: {options: "${options:-}"}
	tasks:
	  - {name: first, kernel: copy, args: [t, x], scope: all}
	  - {name: sum, kernel: add, args: [t, u], scope: all}
	  - {name: second, kernel: copy, args: [y, u], scope: all}
	  - {name: raise, kernel: power, args: [z], set: {x: 1.7, y: 5.5}, scope: all}
	  - {name: start, kernel: seed, args: [], set: {seed: 5}, stream: 1, scope: all}
	  - {name: numbers, kernel: draw, args: [r], scope: all}
	M
}

cat >main.c <<'C'
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
int sk_all_serial(void *const *, void *);
int main(int argc, char **argv)
{
	static unsigned char x[5000], y[5000];
	static char workspace[1 << 16] __attribute__((aligned(64)));
	double z;
	volatile double base = 1.7;
	int r[3];
	void *tensors[] = {x, y, &z, r};
	int (*serial)(void *const *, void *);
#ifdef LINKED
	serial = sk_all_serial;
#else
	void *package = dlopen(argv[1], RTLD_NOW);
	serial = package ? (int (*)(void *const *, void *))dlsym(package, "sk_all_serial") : NULL;
	if (!serial) {
		puts(dlerror());
		return 1;
	}
#endif
	for (int i = 0; i < 5000; i++)
		x[i] = i * 7 % 251;
	if (serial(tensors, workspace))
		return 2;
	srand(5);
	for (int i = 0; i < 5000; i++)
		if (y[i] != (unsigned char)(x[i] + 3))
			return 3;
	for (int i = 0; i < 3; i++)
		if (r[i] != rand())
			return 4;
	return z == pow(base, 5.5) ? argc > 2 : 5;
}
C
$KERNEL_CC -O1 -fno-builtin main.c -o main -ldl -lm

model
"$sklink" model.yaml draw.o -o model.sk
works model.sk
"$skdump" --verify model.sk >out.txt || fail "skdump --verify"
# srand and the kernel that calls rand share a state: they are in order, though no data says so.
"$skdump" --steps model.sk >out.txt
grep -qE '^ *[0-9]+ +numbers .* awaits start' out.txt || { cat out.txt;
	fail "the C library's state puts nothing in order"; }
strip model.sk -o stripped.sk
works stripped.sk
proved stripped.sk
objcopy --redefine-sym memcpy@plt=memmove@plt model.sk renamed.sk
fails_with "the code of kernel 'copy' does not lead to the import 'memcpy': the symbol table has 'memmove@plt' there" \
	"$skdump" --verify renamed.sk

# Options about code leave an import alone: there is none in the package.
options=split-mode=3:func-align=256:preload-code=max model
"$sklink" model.yaml draw.o -o options.sk
works options.sk
"$skdump" --verify options.sk >out.txt || fail "skdump --verify, with options"
[ "$(nm options.sk | grep -c 'copy\|memcpy')" = 1 ] || { nm options.sk; fail "an import has copies"; }

# For the next linker it is an undefined symbol.
model
"$sklink" -r model.yaml draw.o -o linked.o
for symbol in memcpy pow srand rand; do
	nm -u linked.o | grep -qx " *U $symbol" || fail "-r: $symbol is not undefined"
done
"$skdump" --verify linked.o >out.txt || fail "skdump --verify linked.o"
objcopy --redefine-sym memcpy=memmove linked.o renamed.o
fails_with "does not lead to the import 'memcpy': the symbol table has 'memmove@plt' there" "$skdump" --verify renamed.o
for flags in -pie -no-pie -static; do
	$KERNEL_CC -O1 -fno-builtin $flags -DLINKED main.c linked.o -o linked -lm || fail "gcc $flags"
	./linked || fail "-r, $flags: the results are others"
done

# An input that has the name comes first.
echo 'void *memcpy(char *y, const char *x, unsigned long n) { for (unsigned long i = 0; i < n; i++) y[i] = x[i] + 1; return y; }' >own.c
$KERNEL_CC -O1 -fPIC -fno-builtin -c own.c -o own.o
"$sklink" model.yaml draw.o own.o -o own.sk
./main ./own.sk && fail "the import was taken instead of the object's function"
"$skdump" --verify own.sk >out.txt || fail "skdump --verify own.sk"

# ---- errors ----

symbol=abort model
refused "^sklink: error: libc\.so\.6: 'abort' ends the launch that calls it, and cannot be a kernel$" draw.o
symbol=__tls_get_addr model
refused "'__tls_get_addr' serves code that has been linked, and cannot be a kernel$" draw.o
symbol=errno model
refused "'errno' is data, not a function$" draw.o
symbol=stderr model
refused "^sklink: error: libc\.so\.6: 'stderr' is data, not a function$" draw.o
symbol=memcpi model
refused "kernel 'copy': no function 'memcpi' in any input; did you mean 'memcpy'\?$" draw.o
symbol=fopen model
refused "kernel 'copy': no function 'fopen' in any input" draw.o
symbol="memcpy, object: draw.o" model
refused "no function 'memcpy' in draw\.o" draw.o
seed='split=n; inout x i32[n], n i64' model
sed -i 's/kernel: seed, args: \[\], set: {seed: 5}/kernel: seed, args: [r]/; /numbers/d' model.yaml
refused "kernel 'seed' has hidden state \(the C library's random numbers\) and cannot run on several cores" draw.o
model
sed -i '/kernel: \(add\|draw\)/d; s/args: \[y, u\]/args: [y, t]/; /^  [ru]:/d' model.yaml
refused "^sklink: error: model\.yaml: no object is among the inputs"
