#!/bin/bash
# Kernels with thread-local variables: each of libskrt's threads and of the program's has its own, even threads older
# than libskrt's first call, at one place or wherever there is room; a call that fails leaves nothing in them; and
# kernels that may not reach them are refused. The same holds for errno and Debian's libm.a, which sets it.
. "$top_srcdir/tests/lib/lib.sh"
cp "$top_srcdir/tests/runtime/thread-kernels.c" kernels.c
cat >model.yaml <<'M'
sklink: 1
tensors:
  kind: {dtype: i32, shape: [1], role: input}
  x: {dtype: i32, shape: [5000], role: input}
  a: {dtype: i32, shape: [5000]}
  b: {dtype: i32, shape: [5000]}
  y: {dtype: i32, shape: [5000], role: output}
tasks:
  - {name: first, kernel: spoil, args: [kind, x, a], scope: all}
  - {name: second, kernel: weigh, args: [a, b], scope: all}
  - {name: third, kernel: remember, args: [b, y], scope: all}
scopes:
  all: {}
M
# variables NAME FLAGS…: NAME.sk with kernels that have been compiled so.
variables() {
	local name=$1
	shift
	$KERNEL_CC $KERNEL_CFLAGS -O1 -Wno-unused -ffunction-sections "$@" -I"$top_srcdir/format" -c kernels.c -o \
		"$name.o"
	"$sklink" model.yaml "$name.o" -o "$name.sk"
	$KERNEL_CC $KERNEL_CFLAGS -O1 -Wno-unused -ffunction-sections "$@" -DFIRST=12 -I"$top_srcdir/format" -c \
		kernels.c -o other.o
	"$sklink" model.yaml other.o -o "$name-other.sk"
}
variables dynamic -fPIC -DBYTES=16384 -DALIGN=32
variables static -fPIC -ftls-model=initial-exec -DBYTES=8 -DALIGN=8
variables both -fPIC -DLINKAGE= -DBYTES=4096 -DALIGN=4096
readelf -rW static.sk | grep -q TPOFF64 || fail "initial-exec is none"
readelf -rW dynamic.sk | grep -q DTPMOD64 || fail "local-dynamic is none"
{
	printf '\223NUMPY\001\000v\000%-117s\n' "{'descr': '<i4', 'fortran_order': False, 'shape': (1,), }"
	printf '\0\0\0\0'
} >kind.npy
for name in dynamic static both; do
	for cores in 1 2 3 7; do
		"$skrun" $name.sk --input kind=kind.npy --random 1 --cores $cores --verify >out.txt ||
			fail "$name on $cores cores"
	done
	"$skrun" $name.sk --input kind=kind.npy --random 1 --cores 3 --guard >out.txt || fail "$name, guarded"
	"$skrun" $name.sk --input kind=kind.npy --random 1 --device a3 --verify >out.txt || fail "$name on a3"
	"$skrun" $name.sk --input kind=kind.npy --random 1 --serial >out.txt || fail "$name, serially"
	strip $name.sk -o stripped.sk
	"$skrun" stripped.sk --input kind=kind.npy --random 1 >out.txt || fail "$name, stripped"
done
# ThreadSanitizer holds back the signal that expels a kernel. Kernels of one package run at once: they wait for
# time-outs mostly.
if ! nm "$skrun" | grep -q '__tsan_init'; then
	for name in dynamic static both; do
		processes=()
		for cores in 1 2 7 a3; do
			"$top_builddir/tests/runtime/thread-storage" $name.sk $name-other.sk $cores &
			processes+=($!)
		done
		for process in "${processes[@]}"; do
			wait "$process" || fail "$name: what is said above"
		done
	done
fi

# A block that is too large for one distance is refused when it is loaded, with the number of available bytes.
variables large -fPIC -ftls-model=initial-exec -DBYTES=4096 -DALIGN=8
fails_with 'large.sk: needs 41[0-9]* bytes of thread-local storage, aligned to [0-9]*, at one distance from the thread pointer in all threads .initial-exec.; libskrt has 256 left of 256' \
	"$skrun" large.sk --input kind=kind.npy --random 1

# Serial entries, by dlopen, on threads that were there before and on later ones.
cat >serial.c <<'C'
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
static int (*run)(void *const *tensors, void *workspace);
static pthread_barrier_t loaded;
static void *work(void *old)
{
	static __attribute__((aligned(64))) int32_t x[5000];
	__attribute__((aligned(64))) int32_t kind = 0, y[5000];
	static __thread char workspace[1 << 17] __attribute__((aligned(4096)));
	void *tensors[] = {&kind, x, y};
	if (old)
		pthread_barrier_wait(&loaded);
	for (int i = 0; i < 5000; i++)
		x[i] = i;
	if (run(tensors, workspace))
		return "status";
	for (int i = 0; i < 5000; i++)
		if (y[i] != 289 * x[i] + 1)
			return "wrong";
	return NULL;
}
int main(int argc, char **argv)
{
	void *package, *result, *early;
	pthread_t thread, old;
	pthread_barrier_init(&loaded, 0, 2);
	pthread_create(&old, 0, work, "old");
	package = dlopen(argv[1], RTLD_NOW);
	if (argc < 3 || !package)
		return puts(dlerror()), 1;
	*(void **)&run = dlsym(package, argv[2]);
	pthread_barrier_wait(&loaded);
	pthread_join(old, &early);
	pthread_create(&thread, 0, work, 0);
	pthread_join(thread, &result);
	result = early ? early : result ? result : work(0);
	if (result)
		puts(result);
	return !!result;
}
C
$KERNEL_CC -O1 serial.c -o serial -ldl -pthread
for name in dynamic static both; do
	./serial ./$name.sk sk_all_serial || fail "$name, by dlopen"
done

# As an object (-r) in a program, also with the local-exec model, for which only that program's linker knows the
# distances.
sanitize=$(sed -n 's/^SANITIZE_CFLAGS = //p' "$top_builddir/Makefile")
libskrt="$top_builddir/.libs/libskrt.a $(sed -n "s/^Libs.private: //p" "$top_builddir/loader/libskrt.pc") -ldl -lm"
$KERNEL_CC $KERNEL_CFLAGS -DLINKED -I"$top_srcdir" -fPIE -c "$top_srcdir/tests/runtime/thread-storage.c" -o \
	thread-storage.o
# linked MODEL FLAGS LINK…: kernels that have been compiled so, in programs that are linked so.
linked() {
	local model=$1 flags=$2
	shift 2
	$KERNEL_CC $KERNEL_CFLAGS -O1 -Wno-unused -ffunction-sections -DBYTES=4096 -DALIGN=64 -I"$top_srcdir/format" \
		$flags -c kernels.c -o linked-kernels.o
	readelf -rW linked-kernels.o | grep -q "$model" || fail "$flags: no $model"
	"$sklink" -r --soname linked model.yaml linked-kernels.o -o linked.o
	for way; do
		$CC $sanitize "$way" -o program thread-storage.o linked.o $libskrt -pthread
		for cores in 1 2 7; do
			./program none none $cores || fail "$flags, in a program, $way, on $cores cores"
		done
	done
}
linked R_X86_64_TPOFF32 '-fno-pic -mcmodel=small' -no-pie
linked R_X86_64_TPOFF32 -fpie -no-pie -pie
linked R_X86_64_TLSLD -fPIC -no-pie -pie

# From Python: libskrt comes by dlopen, into a process with running threads.
if command -v python3 >/dev/null && [ -e "$top_builddir/.libs/libskrt.so" ] && ! nm "$skrun" |
	grep -qE '__(asan|tsan)_init'; then
	cat >load.py <<'P'
import ctypes, sys, threading
skrt = ctypes.CDLL(sys.argv[1])
skrt.skrt_error.restype = ctypes.c_char_p
def check(status):
    if status:
        raise SystemExit(skrt.skrt_error().decode())
def tensor(count):
    memory = (ctypes.c_char * (4 * count + 64))()
    return (ctypes.c_int32 * count).from_buffer(memory, -ctypes.addressof(memory) % 64)
device, x, kind, wrong = ctypes.c_void_p(), tensor(5000), tensor(1), []
x[:] = range(5000)
check(skrt.skrt_device_open(None, ctypes.byref(device)))
def run(path):
    module, instance, stream, y = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p(), tensor(5000)
    check(skrt.skrt_module_load(device, path.encode(), ctypes.byref(module)))
    check(skrt.skrt_instance_create(module, ctypes.byref(instance)))
    for name, array, count in (b"kind", kind, 1), (b"x", x, 5000), (b"y", y, 5000):
        check(skrt.skrt_instance_bind_array(instance, name, 5, 1, (ctypes.c_uint64 * 1)(count), array))
    check(skrt.skrt_stream_create(device, ctypes.byref(stream)))
    check(skrt.skrt_run_network(stream, instance))
    wrong.extend(i for i in range(5000) if y[i] != 289 * i + 1)
for path in sys.argv[2:]:
    run(path)
    thread = threading.Thread(target=run, args=(path,))
    thread.start()
    thread.join()
sys.exit(bool(wrong) and "wrong: %d" % len(wrong))
P
	python3 load.py "$top_builddir/.libs/libskrt.so" ./dynamic.sk ./static.sk ./both.sk || fail "from Python"
else
	echo "no python3, or a sanitized libskrt: it is not loaded by dlopen"
fi

# ---- the rules ----
# rule ATTRIBUTES PATTERN: a kernel that says so and reaches a thread-local variable; "": it may.
rule() {
	local parameters=${3:-'in x i32[n], out y i32[n], n i64'}
	sed "s/^SK_KERNEL(weigh.*/SK_KERNEL(weigh, \"$1; $parameters\");/" kernels.c >rule.c
	$KERNEL_CC $KERNEL_CFLAGS -ffunction-sections -fPIC -DBYTES=64 -DALIGN=8 -I"$top_srcdir/format" -c rule.c -o \
		rule.o
	rm -f rule.sk
	if [ -n "$2" ]; then
		fails_with "^sklink: error: model.yaml:10:28: kernel 'weigh' reaches thread-local storage \(\.t(bss|data)\.?[a-z]* in rule.o\): $2" \
			"$sklink" model.yaml rule.o -o rule.sk
		[ ! -e rule.sk ] || fail "an output in spite of an error"
		fails_with "kernel 'weigh' reaches thread-local storage" "$sklink" -r model.yaml rule.o -o rule.o2
	else
		"$sklink" model.yaml rule.o -o rule.sk
	fi
}
rule 'split=n reentrant' ''
rule 'reentrant' ''
rule 'split=n' 'calls run on any thread; if no call .* mark it reentrant$'
rule 'isa=x86-64-v2' 'calls run on any thread'
rule 'blocks reentrant' '' 'in x i32[n], out y i32[n], block'
rule 'blocks sync-all reentrant' 'its blocks wait for one another' 'in x i32[n], out y i32[n], block'
rule 'mix aic=weigh aiv=weigh reentrant' 'its blocks wait for one another' 'in x i32[n], out y i32[n], block'
rule 'blocks early-start=set reentrant' '' 'in x i32[n], out y i32[n], block'
rule 'blocks early-start=wait reentrant' 'it waits inside its call .early-start.' 'in x i32[n], out y i32[n], block'

# ---- the C library's own libm.a, which sets errno ----
archive=$($KERNEL_CC -print-file-name=libm.a)
[ ! -e "$archive" ] || ! grep -aq '^GROUP' "$archive" || archive=$(grep -ao '/[^ ]*/libm-[^ ]*\.a' "$archive")
if [ -e "$archive" ]; then
	cat >functions.h <<'C'
#include <errno.h>
#include <math.h>
/* Each sets errno for some x. */
static inline double value(double x, int i)
{
	errno = 0;
	double y = i == 0 ? fmod(x, i) : i == 1 ? hypot(x, 1e308 * 1.7) : i == 2 ? acosf((float)x) : i == 3 ? nextafter(x * 1e308, INFINITY)
		: i == 4 ? remainder(x, i - 4) : i == 5 ? atanhf((float)x) : i == 6 ? scalbln(x, -5000) : i == 7 ? sqrt(x)
		: i == 8 ? log1pf((float)x) : i == 9 ? scalbln(x, 5000) : fdim(x * 1e308, -1e308);
	return errno ? errno : y;
}
C
	cat >math.c <<'C'
#include "skkernel.h"
#include "functions.h"
void compute(const double *x, double *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = value(x[i], (int)(x[i] * 100) % 11);
}
SK_KERNEL(compute, "split=n; in x f64[n], out y f64[n], n i64");
C
	cat >math.yaml <<'M'
sklink: 1
tensors:
  x: {dtype: f64, shape: [1100], role: input}
  y: {dtype: f64, shape: [1100], role: output}
tasks:
  - {name: all, kernel: compute, args: [x, y], scope: all}
scopes: {all: {}}
M
	$KERNEL_CC $KERNEL_CFLAGS -O1 -fno-builtin -fPIC -I"$top_srcdir/format" -c math.c -o math.o
	"$sklink" math.yaml math.o "$archive" -o math.sk
	readelf -rW math.sk | grep -q 'R_X86_64_TPOFF64 .* errno@GLIBC_PRIVATE' || fail "libm.a does not set errno"
	! readelf -W --dyn-syms math.sk | grep -q 'fmod@' || fail "fmod is not the archive's"
	cat >compare.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include "functions.h"
int main(void)
{
	static __attribute__((aligned(64))) double x[1100], y[1100];
	static __attribute__((aligned(64))) char workspace[1 << 16];
	void *tensors[] = {x, y};
	int (*run)(void *const *, void *) = (int (*)(void *const *, void *))dlsym(dlopen("./math.sk", RTLD_NOW), "sk_all_serial");
	int set = 0;
	for (int i = 0; i < 1100; i++)
		x[i] = (i - 300) / 100.0 + 0.0001;
	if (run(tensors, workspace))
		return puts("a status"), 1;
	for (int i = 0; i < 1100; i++) {
		double right = value(x[i], (int)(x[i] * 100) % 11);
		set += right == EDOM || right == ERANGE;
		if (y[i] != right && (y[i] == y[i] || right == right))
			return printf("%g: %g, not %g\n", x[i], y[i], right), 1;
	}
	return set < 100 ? printf("errno is set %d times\n", set), 1 : 0;
}
C
	$KERNEL_CC -O1 -fno-builtin compare.c -o compare -ldl -lm && ./compare || fail "libm.a, by dlopen"
	"$skrun" math.sk --random 1 --cores 3 --verify >out.txt || fail "libm.a, with libskrt"
else
	echo "there is no libm.a"
fi
