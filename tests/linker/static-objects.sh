#!/bin/bash
# Kernels in C++ with static objects: those of files and those of functions are made once and destroyed when the package
# goes, the last one first, by libskrt, by dlclose, and in a program that an object (-r) has become part of. A
# destructor that faults, or does not end, ends the destruction and nothing else; threads that come to a static object
# at the same time wait for one another.
. "$top_srcdir/tests/lib/lib.sh"
for library in libstdc++.a libgcc_eh.a libgcc.a; do
	file=$($KERNEL_CC -print-file-name=$library)
	[ -e "$file" ] || { echo "SKIP: there is no $library"; exit 77; }
	libraries="${libraries:-} $file"
done
echo 'int main() { return 0; }' | $KERNEL_CC -x c++ - -o works || { echo "SKIP: $KERNEL_CC compiles no C++"; exit 77; }

# Each says so when it is destroyed; `last` has been registered by a destructor, as the Itanium ABI allows. The objects
# that end badly come before `first`.
cat >objects.cc <<'C'
#include <vector>
#include <unistd.h>
#include "skkernel.h"
extern "C" void *__dso_handle;
extern "C" int __cxa_atexit(void (*)(void *), void *, void *);
static void say(const char *name) { __builtin_printf("%s\n", name); }
struct Table {
	std::vector<float> values;
	const char *name;
	explicit Table(const char *own) : name(own) { for (int i = 0; i < 10; i++) values.push_back(static_cast<float>(i)); }
	~Table()
	{
		say(name);
		values.clear();
		__cxa_atexit([](void *) { say("registered late"); }, nullptr, &__dso_handle);
	}
};
static Table first("first");
static int ending;
struct End {
	~End()
	{
		if (ending == 1)
			*reinterpret_cast<volatile int *>(16) = 0;
		while (ending == 2)
			asm volatile("pause" ::: "memory");
		if (ending == 3)
			__builtin_abort();
	}
};
static End end;

/* A long way, so that others come by meanwhile. */
static int slow(int kind)
{
	volatile int left = 3000000;
	while (left > 0)
		left = left - 1;
	return kind;
}
extern "C" void total(const int32_t *kind, const float *x, float *y, int64_t n)
{
	static Table second("second");
	static const int once = slow(*kind);
	ending = once;
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] * (first.values.at(2) + second.values.at(7));
}
SK_KERNEL(total, "split=n reentrant; in kind i32[1], in x f32[n], out y f32[n], n i64");
__attribute__((destructor)) static void function() { say("function"); }
C
compile_cc objects
cat >model.yaml <<'M'
sklink: 1
tensors:
  kind: {dtype: i32, shape: [1], role: input}
  x: {dtype: f32, shape: [5000], role: input}
  y: {dtype: f32, shape: [5000], role: output}
tasks:
  - {name: all, kernel: total, args: [kind, x, y], scope: all}
scopes:
  all: {}
M
fails_with 'undefined symbol: syscall; .*--defsym=syscall=sched_yield' "$sklink" model.yaml objects.o $libraries -o \
	objects.sk
[ ! -e objects.sk ] || fail "an output in spite of an error"
"$sklink" --defsym=syscall=sched_yield model.yaml objects.o $libraries -o objects.sk
proved objects.sk
printf '%s\n' second 'registered late' first 'registered late' function >order.txt

# ---- libskrt: modules that come and go, and one that stays ----
cat >program.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "loader/skrt.h"
enum { N = 5000 };
static _Alignas(64) int kind[1];
static _Alignas(64) float x[N], y[N];
static struct skrt_device *device;
static void check(enum skrt_status status)
{
	if (status) {
		printf("%s\n", skrt_error());
		exit(1);
	}
}
static struct skrt_module *run(const char *path)
{
	struct skrt_module *module;
	struct skrt_instance *instance;
	struct skrt_stream *stream;
	void *tensors[] = {kind, x, y};
	uint64_t bytes[] = {sizeof(kind), sizeof(x), sizeof(y)};

	check(skrt_module_load(device, path, &module));
	check(skrt_instance_create(module, &instance));
	for (uint32_t i = 0; i < 3; i++)
		check(skrt_instance_bind(instance, i, tensors[i], bytes[i]));
	check(skrt_stream_create(device, &stream));
	for (int round = 0; round < 3; round++) {
		memset(y, 0, sizeof(y));
		check(skrt_run_network(stream, instance));
		for (int i = 0; i < N; i++)
			if (y[i] != 9 * x[i]) {
				printf("element %d is %g\n", i, y[i]);
				exit(1);
			}
	}
	check(skrt_stream_destroy(stream));
	check(skrt_instance_destroy(instance));
	return module;
}
int main(int argc, char **argv)
{
	struct skrt_device_options options = {
		.size = sizeof(options), .cores = (uint32_t)(argc > 2 ? atoi(argv[2]) : 0), .timeout_ms = 1000};
	struct skrt_module *other;

	setvbuf(stdout, NULL, _IONBF, 0);
	for (int i = 0; i < N; i++)
		x[i] = (float)i;
	check(skrt_device_open(&options, &device));
	check(skrt_module_unload(run(argv[1])));
	puts("twice at a time");
	other = run(argv[1]);
	check(skrt_module_unload(run(argv[1])));
	puts("the other");
	check(skrt_module_unload(other));
	check(skrt_device_close(device));
	for (kind[0] = 1; kind[0] <= 3; kind[0]++) { /* it may have held a lock: the device is lost */
		printf("ends badly: %d\n", kind[0]);
		check(skrt_device_open(&options, &device));
		check(skrt_module_unload(run(argv[1])));
		check(skrt_device_close(device));
	}
	kind[0] = 0;
	check(skrt_device_open(&options, &device));
	puts("never run");
	check(skrt_module_load(device, argv[1], &other));
	check(skrt_module_unload(other));
	puts("and again");
	check(skrt_module_unload(run(argv[1])));
	puts("left loaded");
	run(argv[1]);
	return 0;
}
C
{
	cat order.txt
	echo 'twice at a time'
	cat order.txt
	echo 'the other'
	cat order.txt
	for ends in 1 2 3; do printf '%s\n' "ends badly: $ends" second 'registered late'; done
	echo 'never run'
	echo 'and again'
	cat order.txt
	echo 'left loaded'
} >expected.txt
libskrt="$top_builddir/.libs/libskrt.a $(sed -n "s/^Libs.private: //p" "$top_builddir/loader/libskrt.pc")"
sanitize=$(sed -n 's/^SANITIZE_CFLAGS = //p' "$top_builddir/Makefile")
$KERNEL_CC $KERNEL_CFLAGS -I"$top_srcdir" -c program.c
$CC $sanitize -o program program.o $libskrt -ldl -lm
# The last module is left loaded on purpose, and memory of a destructor that ends badly is lost.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
for cores in 1 2 7; do
	./program ./objects.sk $cores >out.txt 2>err.txt || { cat out.txt err.txt >&2; fail "on $cores cores"; }
	diff expected.txt out.txt >&2 || fail "what is destroyed, and when, on $cores cores"
done

# ---- dlopen ----
cat >serial.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#ifdef LINKED
int sk_all_serial(void *const *, void *);
#endif
static _Alignas(64) int kind[1];
static _Alignas(64) float x[5000], y[5000];
static _Alignas(64) char workspace[1 << 16];
int main(int argc, char **argv)
{
	void *package = NULL;
	setvbuf(stdout, NULL, _IONBF, 0);
#ifdef LINKED
	int (*run)(void *const *, void *) = sk_all_serial;
	(void)argc, (void)argv;
#else
	package = dlopen(argv[1], RTLD_NOW);
	int (*run)(void *const *, void *) = package ? (int (*)(void *const *, void *))dlsym(package, "sk_all_serial") : NULL;
	if (!run)
		return puts(dlerror()), 1;
#endif
	for (int i = 0; i < 5000; i++)
		x[i] = (float)i;
	if (run((void *[]){kind, x, y}, workspace) || y[4999] != 9 * 4999.0F)
		return puts("wrong"), 1;
	if (argc > 2 && dlclose(package))
		return puts(dlerror()), 1;
	puts("the end");
	return argc > 2 && dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD) ? puts("it is still there"), 1 : 0;
}
C
$KERNEL_CC -O1 serial.c -o serial -ldl
{ cat order.txt; echo 'the end'; } >closed.txt
{ echo 'the end'; cat order.txt; } >ended.txt
./serial ./objects.sk close >out.txt || { cat out.txt >&2; fail "by dlopen"; }
diff closed.txt out.txt >&2 || fail "what dlclose destroys"
./serial ./objects.sk >out.txt || { cat out.txt >&2; fail "by dlopen"; }
diff ended.txt out.txt >&2 || fail "what the end of the process destroys"

# ---- a package gives back all its memory: also libstdc++.a's reserve for exceptions, 73 KB for each load ----
cat >often.c <<'C'
#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include "loader/skrt.h"
int main(int argc, char **argv)
{
	size_t before = 0, taken;
	struct skrt_device *device;
	if (skrt_device_open(NULL, &device))
		return 1;
	for (int i = 0; i < 40; i++) {
		struct skrt_module *module;
		struct skrt_instance *instance;
		void *package;
		if (i == 10)
			before = mallinfo2().uordblks + mallinfo2().hblkhd;
		if (skrt_module_load(device, argv[1], &module) || skrt_instance_create(module, &instance) ||
		    skrt_instance_destroy(instance) || skrt_module_unload(module))
			return puts(skrt_error()), 1;
		if (!(package = dlopen(argv[1], RTLD_NOW)) || dlclose(package))
			return puts(dlerror()), 1;
	}
	taken = mallinfo2().uordblks + mallinfo2().hblkhd - before;
	return (int)taken > 20000 ? printf("%zu bytes are gone\n", taken), 1 : argc - 2;
}
C
if [ -z "$sanitize" ]; then # which allocates itself
	$KERNEL_CC $KERNEL_CFLAGS -I"$top_srcdir" -c often.c
	$CC -o often often.o $libskrt -ldl -lm
	./often ./objects.sk >out.txt || { tail -n 1 out.txt >&2; fail "loaded and unloaded"; }
fi

# ---- as an object, with the __dso_handle of the program or the shared object ----
"$sklink" -r model.yaml objects.o -o model.o
! nm model.o | grep -q 'sk_finalize' || fail "the object destroys what is not its own"
for way in -no-pie -pie; do
	$KERNEL_CC -O1 -DLINKED $way serial.c model.o -o linked -lstdc++ && ./linked >out.txt ||
		fail "in a program, $way"
	sort out.txt >sorted.txt
	sort ended.txt | diff - sorted.txt >&2 && [ "$(head -n 3 out.txt | tail -n 2)" = "$(head -n 2 order.txt)" ] ||
		fail "in a program, $way: $(cat out.txt)"
done
$KERNEL_CC -shared model.o -o linked.so -lstdc++ && ./serial ./linked.so close >out.txt || fail "in a shared object"
sort out.txt >sorted.txt # its functions go first there
sort closed.txt | diff - sorted.txt >&2 && [ "$(tail -n 1 out.txt)" = 'the end' ] ||
	fail "in a shared object: $(cat out.txt)"

# ---- atexit, which is the linking file's own; clang destroys objects by it if it is told to ----
cat >leaves.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include "skkernel.h"
static int32_t ready;
static void leave(void) { puts("left"); }
void total(const int32_t *kind, const float *x, float *y, int64_t n)
{
	if (!ready++ && atexit(leave))
		return;
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] * (float)(9 + *kind);
}
SK_KERNEL(total, "in kind i32[1], in x f32[n], out y f32[n], n i64");
C
compile leaves
fails_with 'undefined symbol: atexit; it comes with each program and library: add libc_nonshared.a' "$sklink" \
	model.yaml leaves.o -o leaves.sk
archive=$($KERNEL_CC -print-file-name=libc_nonshared.a)
if [ -e "$archive" ]; then
	"$sklink" model.yaml leaves.o "$archive" -o leaves.sk
	./serial ./leaves.sk close >out.txt && [ "$(cat out.txt)" = "$(printf 'left\nthe end')" ] ||
		fail "atexit: $(cat out.txt)"
else
	echo "there is no libc_nonshared.a"
fi
# Without static objects there is nothing to do.
sed 's/if (.*/if (!ready++)/; s/atexit(leave)/0/' leaves.c >plain.c && compile plain
"$sklink" model.yaml plain.o -o plain.sk
! readelf -dW plain.sk | grep -q FINI_ARRAY || fail "a destructor for nothing"
