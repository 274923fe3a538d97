#!/bin/bash
# Thread-local storage in every model: the blocks that dlopen gives older and newer threads, from packages by
# themselves, and from programs and shared objects that an object (-r) has become part of; errno, which is the C
# library's; and storage that no package can hold, refused with object, section, kernel and task.
. "$top_srcdir/tests/lib/lib.sh"
driver=$top_builddir/tests/linker/link-driver

# Each thread's view: values from the image, addresses that relocations have put there, alignment, its own counts.
cat >variables.c <<'C'
#ifndef LINKAGE
#define LINKAGE
#endif
extern __thread int elsewhere, zero_elsewhere[50];
int shared = 7;
LINKAGE __thread int one = 1;
LINKAGE __thread char tail[3] = "ab";
LINKAGE __thread int *pointer = &shared;
LINKAGE __thread long counts[40];
LINKAGE __thread char wide[64] __attribute__((aligned(64))) = "wide";
LINKAGE __thread char wide_zero[32] __attribute__((aligned(32)));
/* 0, or the line that saw other values than `calls` earlier calls of this thread have left. */
long look(long calls);
#define CHECK(condition) if (!(condition)) return __LINE__
long look(long calls)
{
	CHECK(one == 1 + calls);
	CHECK(tail[0] == 'a' && tail[1] == 'b' + calls && !tail[2]);
	CHECK(pointer == &shared + calls && shared == 7);
	CHECK((unsigned long)wide % 64 == 0 && wide[3] == 'e' + calls && !wide[63]);
	CHECK((unsigned long)wide_zero % 32 == 0 && wide_zero[31] == calls);
	CHECK(elsewhere == 5 + calls && zero_elsewhere[49] == calls);
	for (int i = 0; i < 40; i++)
		CHECK(counts[i] == calls * i);
	one++;
	tail[1]++;
	pointer++;
	wide[3]++;
	wide_zero[31]++;
	elsewhere++;
	zero_elsewhere[49]++;
	for (int i = 0; i < 40; i++)
		counts[i] += i;
	return 0;
}
C
echo '__thread int elsewhere = 5, zero_elsewhere[50];' >elsewhere.c
$KERNEL_CC -O1 -fPIC -c elsewhere.c -o elsewhere.o

# ./threads IMAGE: threads that are older than the image, and one that comes later, call its look_ three times each.
# With -DLINKED the program holds it itself.
cat >threads.c <<'C'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
static long (*look)(long calls);
static pthread_barrier_t barrier;
static void *work(void *old)
{
	long line = 0;
	if (old)
		pthread_barrier_wait(&barrier);
	for (long calls = 0; calls < 3 && !line; calls++)
		line = look(calls);
	return (void *)line;
}
#ifdef LINKED
long look_(long calls);
#endif
int main(int argc, char **argv)
{
	pthread_t old[2], later;
	long line = 0;
	void *result;
	pthread_barrier_init(&barrier, 0, 3);
	for (int i = 0; i < 2; i++)
		pthread_create(&old[i], 0, work, "");
#ifdef LINKED
	look = look_;
	(void)argc, (void)argv;
#else
	void *image = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : 0;
	if (!image)
		return puts(dlerror()), 1;
	*(void **)&look = dlsym(image, "look_");
#endif
	pthread_barrier_wait(&barrier);
	line = (long)work(0);
	pthread_create(&later, 0, work, 0);
	pthread_join(later, &result);
	line = line ? line : (long)result;
	for (int i = 0; i < 2; i++) {
		pthread_join(old[i], &result);
		line = line ? line : (long)result;
	}
	return line ? printf("variables.c:%ld\n", line), 1 : 0;
}
C
$KERNEL_CC -O1 threads.c -o threads -ldl -pthread

# model MODEL LINKAGE FLAGS TYPE DYNAMIC: with such a relocation in the object, and with only these in the package.
model() {
	$KERNEL_CC -O1 -g -Wno-unused "-ftls-model=$1" "-DLINKAGE=$2" $3 -c variables.c -o variables.o
	readelf -rW variables.o | grep -q "$4" || { readelf -rW variables.o >&2;
		fail "$1 $2 $3: the compiler makes no $4"; }
	rm -f out.so
	"$driver" -o out.so --export look_=look variables.o elsewhere.o
	readelf -rW out.so | grep -oE 'R_X86_64_[A-Z0-9_]*(TLS|TPOFF|DTP)[A-Z0-9_]*' | sort -u >types.txt
	[ "$(echo $(cat types.txt))" = "$5" ] || { cat types.txt >&2; fail "$1 $2 $3: the package has these, not $5"; }
	readelf -aW out.so >readelf.txt 2>warnings.txt && [ ! -s warnings.txt ] || { cat warnings.txt >&2;
		fail "readelf"; }
	grep -qE '^ +TLS .* R +0x40$' readelf.txt || fail "$1 $2 $3: no PT_TLS with the alignment of its variables"
	case $5 in
	*TPOFF64*) grep -q 'BIND_NOW STATIC_TLS' readelf.txt || fail "$1 $2 $3: no DF_STATIC_TLS" ;;
	*) ! grep -q 'STATIC_TLS' readelf.txt || fail "$1 $2 $3: DF_STATIC_TLS" ;;
	esac
	./threads ./out.so || fail "$1 $2 $3: a thread saw something else"
	strip -g out.so -o stripped.so
	./threads ./stripped.so || fail "$1 $2 $3, stripped: a thread saw something else"
	relocatable "$1 $2 $3"
}
# relocatable FLAGS [WAY…]: with -r, in a program, in one that lies anywhere, in a shared object.
relocatable() {
	local flags=$1
	shift
	rm -f out.o
	"$driver" --relocatable -o out.o --export look_=look variables.o elsewhere.o
	[ $# -gt 0 ] || set -- -no-pie -pie
	for way; do
		$KERNEL_CC -O1 -DLINKED $way threads.c out.o -o program -pthread && ./program ||
			fail "$flags: in a program, $way"
	done
	case $flags in
	local-exec*) ;;
	*) $KERNEL_CC -shared out.o -o linked.so && ./threads ./linked.so || fail "$flags: in a shared object" ;;
	esac
}
model global-dynamic '' -fPIC R_X86_64_TLSGD R_X86_64_DTPMOD64
model global-dynamic '' '-fPIC -fno-plt' R_X86_64_TLSGD R_X86_64_DTPMOD64
model local-dynamic static -fPIC R_X86_64_TLSLD R_X86_64_DTPMOD64
model local-dynamic static '-fPIC -O0' R_X86_64_DTPOFF32 R_X86_64_DTPMOD64
model initial-exec '' -fPIC R_X86_64_GOTTPOFF R_X86_64_TPOFF64
model initial-exec '' '-fPIC -O0' R_X86_64_GOTTPOFF R_X86_64_TPOFF64
if echo 'int f;' | $KERNEL_CC -mtls-dialect=gnu2 -x c -c - -o dialect.o 2>/dev/null; then
	model global-dynamic '' '-fPIC -mtls-dialect=gnu2' R_X86_64_TLSDESC_CALL R_X86_64_TPOFF64
	model local-dynamic static '-fPIC -mtls-dialect=gnu2' R_X86_64_GOTPC32_TLSDESC R_X86_64_TPOFF64
fi

# Both ways to one variable, in one package.
sed 's/^long look.*;$/&\nint *other(void);/; s/^	return 0;/	return other() != \&elsewhere;/' variables.c \
	>mixed.c
echo 'extern __thread int elsewhere; int *other(void); int *other(void) { return &elsewhere; }' >other.c
$KERNEL_CC -O1 -fPIC -c mixed.c -o mixed.o
$KERNEL_CC -O1 -fPIC -ftls-model=initial-exec -c other.c -o other.o
"$driver" -o out.so --export look_=look mixed.o other.o elsewhere.o
./threads ./out.so || fail "two models, one variable"

# Non-PIC objects and objects for programs hold distances in instructions. They fit into programs only.
for flags in -fno-pic -fpie; do
	for linkage in '' static; do
		$KERNEL_CC -O1 -Wno-unused "-DLINKAGE=$linkage" $flags -c variables.c -o variables.o
		rm -f out.so
		fails_with "variables.o:\(\.text\+0x[0-9a-f]+\): relocation R_X86_64_TPOFF32 against '[a-z_]*' is of the local-exec model: .*; recompile with -fPIC, or make an object for a program of it \(-r\)" \
			"$driver" -o out.so --export look_=look variables.o elsewhere.o
		[ ! -e out.so ] || fail "an output in spite of an error"
		if [ $flags = -fpie ]; then relocatable "local-exec $flags"; else
			relocatable "local-exec $flags" -no-pie; fi
	done
done

# errno is the C library's own variable, in each thread.
cat >errno.c <<'C'
extern __thread int errno __attribute__((tls_model("initial-exec")));
long look(long calls);
long look(long calls)
{
	int before = errno;
	errno = (int)calls + 1;
	return calls && before != calls;
}
C
$KERNEL_CC -O1 -fPIC -c errno.c -o errno.o
"$driver" -o out.so --export look_=look errno.o
readelf -rW out.so | grep -qE 'R_X86_64_TPOFF64 .* errno@GLIBC_PRIVATE \+ 0' || fail "errno is not imported"
! readelf -lW out.so | grep -q TLS || fail "a package without variables has PT_TLS"
./threads ./out.so || fail "errno"
cat >reads.c <<'C'
#include <dlfcn.h>
#include <errno.h>
int main(void)
{
	void *image = dlopen("./out.so", RTLD_NOW);
	long (*look)(long) = (long (*)(long))dlsym(image, "look_");
	errno = 5;
	return look(5) || errno != 6;
}
C
$KERNEL_CC reads.c -o reads -ldl && ./reads || fail "it is not the program's errno"
$KERNEL_CC -O1 -fPIC -ftls-model=global-dynamic -x c -c - -o errno.o \
	<<<'extern __thread int errno; int *look(void); int *look(void) { return &errno; }'
fails_with "relocation R_X86_64_TLSGD against 'errno' asks for an imported variable as if it were in the package's block; recompile" \
	"$driver" -o out.so --export look_=look errno.o

# bad SOURCE PATTERN: one that no package can hold.
bad() {
	$KERNEL_CC -O1 -fPIC -x c -c - -o bad.o <<<"$1"
	fails_with "$2" "$driver" -o out.so --export f_=f bad.o
}
bad 'extern __thread int missing; int *f(void) { return &missing; }' '^[a-z-]*: error: undefined symbol: missing'
$KERNEL_CC -fPIC -x c -c - -o plain.o <<<'int plain;'
$KERNEL_CC -fPIC -x c -c - -o bad.o <<<'__asm__("f: mov plain@gottpoff(%rip), %rax; ret; .globl f");'
fails_with "R_X86_64_GOTTPOFF against 'plain' treats a symbol as thread-local that is not" "$driver" -o out.so --export f_=f \
	bad.o plain.o
bad '__thread int own; __asm__("f: mov own@gotpcrel(%rip), %rax; ret; .globl f");' \
	"against 'own' treats a thread-local variable as an ordinary one"
bad '__thread int own; __asm__("f: cmp own@tlsdesc(%rip), %rax; ret; .globl f");' \
	'is not in the instruction that the psABI defines for it'
bad 'int __cxa_thread_atexit_impl(void (*)(void *), void *, void *); int f(void) { return __cxa_thread_atexit_impl(0, 0, 0); }' \
	'undefined symbol: __cxa_thread_atexit_impl; it serves destructors of thread-local objects, which a package cannot have'
bad '__attribute__((weak)) int __cxa_thread_atexit(void (*a)(void *), void *b, void *c) { return a != b && c; } int g(void *x) { return __cxa_thread_atexit(0, x, 0); } int f(void) { return g(0) + g(f); }' \
	"against '__cxa_thread_atexit' asks for the destructor of a thread-local object, which a package cannot have"
$KERNEL_CC -O1 -fPIC -x c -c - -o bad.o <<<'__thread int own; int f(void); int f(void) { return own; }'
echo '{ global: own; };' >own.map
fails_with "own.map:1:11: cannot export 'own': it is thread-local, which a package keeps to itself" \
	"$driver" -o out.so --export f_=f bad.o --version-script own.map

# ---- variables that a manifest's kernels reach ----
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
cat >model.yaml <<M
sklink: 1
tensors:
$(tensors '[100]' x a y z)
tasks:
  - {name: harmless, kernel: other, args: [x, a]}
  - {name: guilty, kernel: scale, args: [a, y]}
  - {name: again, kernel: scale, args: [a, z]}
M
# refused PATTERN: every error is one that the pattern describes, and each relocation's names the kernel and its task.
refused() {
	rm -f out.sk
	fails_with "$1" "$sklink" model.yaml kernel.o count.o -o out.sk
	[ ! -e out.sk ] || fail "an output in spite of an error"
	[ "$(grep -cE 'error: (count.o|undefined symbol):' err.txt)" = \
		"$(grep -cxF ">>> reached from kernel 'scale', which 'guilty' calls" err.txt)" ] ||
		{ cat err.txt >&2; fail "kernel and task are not named once for each error"; }
	! grep -q "'again'\|'other'" err.txt || { cat err.txt >&2; fail "others are named"; }
}
sed 's/SK_KERNEL(scale, "/&reentrant; /' kernel.c >reentrant.c && compile reentrant && cp reentrant.o kernel.o
$KERNEL_CC -O1 -fpie -x c -c - -o count.o \
	<<<'__thread int here; int count(int x); int count(int x) { return here += x; }'
refused "^sklink: error: count.o:\(\.text\+0x[0-9a-f]+\): relocation R_X86_64_TPOFF32 against 'here' is of the local-exec model"
compile kernel

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
	refused "^sklink: error: count.o:\(\.text\+0x[0-9a-f]+\): relocation .* against 'chosen' refers to an IFUNC, which chooses its function at run time"
done
sed 's/kernel: scale/kernel: chosen/; s/^tasks:/kernels:\n  chosen: {signature: "in x f32[n], out y f32[n]"}\n&/' \
	model.yaml >ifunc.yaml
fails_with "'chosen' is an IFUNC, which chooses its function at run time" "$sklink" ifunc.yaml kernel.o count.o -o \
	out.sk

# Variables that are not reached do no harm.
grep -v scale model.yaml | grep -v '^  [yz]:' |
	sed 's/^  a: .*/  a: {dtype: f32, shape: [100], role: output}/' >harmless.yaml
$KERNEL_CC $KERNEL_CFLAGS -ffunction-sections -I"$top_srcdir/format" -c kernel.c -o kernel.o
"$sklink" harmless.yaml kernel.o count.o -o out.sk
! readelf -lW out.sk | grep -q TLS || fail "PT_TLS for a variable that nobody reaches"
