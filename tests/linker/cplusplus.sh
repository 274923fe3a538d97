#!/bin/bash
# Kernels in C++ with the compiler's own libraries linked in: containers, allocation, exceptions that are caught, thrown
# again, and that escape, which ends the launch and nothing else. Compared with the same functions called directly.
. "$top_srcdir/tests/lib/lib.sh"
for library in libstdc++.a libgcc_eh.a libgcc.a; do
	file=$($KERNEL_CC -print-file-name=$library)
	[ -e "$file" ] || { echo "SKIP: there is no $library"; exit 77; }
	libraries="${libraries:-} $file"
done
echo 'int main() { return 0; }' | $KERNEL_CC -x c++ - -o works || { echo "SKIP: $KERNEL_CC compiles no C++"; exit 77; }

# A sanitizer would end the process when it is asked for more memory than there is.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}allocator_may_return_null=1"

cat >kernels.cc <<'C'
#include <algorithm>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>
#include "skkernel.h"

struct Tracked {
	float *where;
	~Tracked() { *where += 1; }
};

static float last(const std::vector<float> &values, unsigned long at) { return values.at(at); }

static float thrice(const std::vector<float> &values, float x, float *cleaned)
{
	Tracked tracked = {cleaned};
	try {
		return last(values, x > 0 ? 4 : 7);
	} catch (const std::out_of_range &) {
		if (x < -1)
			throw;
		throw std::runtime_error(std::string(100, 'x') + std::to_string(x < -0.5F));
	}
}

/* The kernel: y depends on each way out, and on the number of cleanups. */
extern "C" void total(const int32_t *kind, const float *x, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		std::vector<float> values;
		auto cleaned = std::make_unique<float>(0);
		for (int j = 0; j < 5; j++)
			values.push_back(x[i] * static_cast<float>(j));
		std::sort(values.begin(), values.end());
		try {
			y[i] = thrice(values, x[i], cleaned.get());
		} catch (const std::out_of_range &) {
			y[i] = -100;
		} catch (const std::exception &error) {
			y[i] = -static_cast<float>(error.what()[100]);
		}
		y[i] += *cleaned;
	}
	if (*kind == 1)
		throw std::domain_error("escapes");
	if (*kind == 2)
		*reinterpret_cast<volatile int *>(16) = 0;
}
SK_KERNEL(total, "split=n reentrant; in kind i32[1], in x f32[n], out y f32[n], n i64");

/* More memory than there is. */
extern "C" void greedy(const float *x, float *y, int64_t n)
{
	static volatile unsigned long much = 1UL << 60;
	bool refused = false;
	try {
		std::vector<char> room(much);
		y[0] = room[1];
	} catch (const std::bad_alloc &) {
		refused = true;
	}
	for (int64_t i = 0; i < n; i++)
		y[i] = refused ? x[i] * 2 : 0;
}
SK_KERNEL(greedy, "reentrant; in x f32[n], out y f32[n], n i64");
C
compile_cc kernels
cat >model.yaml <<'M'
sklink: 1
tensors:
  kind: {dtype: i32, shape: [1], role: input}
  x: {dtype: f32, shape: [5000], role: input}
  a: {dtype: f32, shape: [5000]}
  b: {dtype: f32, shape: [5000]}
  y: {dtype: f32, shape: [5000], role: output}
tasks:
  - {name: first, kernel: total, args: [kind, x, a], scope: all}
  - {name: second, kernel: greedy, args: [a, b], scope: all}
  - {name: third, kernel: total, args: [kind, b, y], scope: all}
scopes:
  all: {}
M
"$sklink" model.yaml kernels.o $libraries -o model.sk
"$skdump" --verify model.sk >out.txt

cat >program.cc <<'C'
#include <dlfcn.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
extern "C" {
#include "loader/skrt.h"
void total(const int *kind, const float *x, float *y, long n);
void greedy(const float *x, float *y, long n);
}
enum { N = 5000 };
alignas(64) static int kind[1];
alignas(64) static float x[N], a[N], b[N], y[N], expected[N];
alignas(64) static char workspace[1 << 20];

static void check(enum skrt_status status)
{
	if (status) {
		printf("%s\n", skrt_error());
		exit(1);
	}
}
static void compare(const char *what)
{
	for (int i = 0; i < N; i++)
		if (memcmp(&y[i], &expected[i], sizeof(y[i]))) {
			printf("%s: element %d is %g, not %g\n", what, i, y[i], expected[i]);
			exit(1);
		}
	memset(y, 0, sizeof(y));
}
static bool has(const char *part)
{
	if (!strstr(skrt_error(), part))
		printf("the error does not say '%s': %s\n", part, skrt_error());
	return strstr(skrt_error(), part);
}
int main(int argc, char **argv)
{
	struct skrt_device_options options = {};
	struct skrt_device *device;
	struct skrt_module *module;
	struct skrt_instance *instance;
	struct skrt_stream *stream;
	const struct skrt_kernel *kernel;
	uint64_t shape[] = {N}, one[] = {1};
	void *tensors[] = {kind, x, y};

	for (int i = 0; i < N; i++)
		x[i] = 2 * std::sin(static_cast<float>(i));
	total(kind, x, a, N);
	greedy(a, b, N);
	total(kind, b, expected, N);
	if (argc < 3)
		return 2;
	auto serial = reinterpret_cast<int (*)(void *const *, void *)>(dlsym(dlopen(argv[1], RTLD_NOW), "sk_all_serial"));
	if (!serial || serial(tensors, workspace))
		return printf("serially: %s\n", dlerror()), 1;
	compare("serially, by dlopen");
	options.cores = static_cast<uint32_t>(atoi(argv[2]));
	check(skrt_device_open(&options, &device));
	check(skrt_module_load(device, argv[1], &module));
	check(skrt_instance_create(module, &instance));
	check(skrt_instance_bind_array(instance, "kind", SKRT_I32, 1, one, kind));
	check(skrt_instance_bind_array(instance, "x", SKRT_F32, 1, shape, x));
	check(skrt_instance_bind_array(instance, "y", SKRT_F32, 1, shape, y));
	check(skrt_stream_create(device, &stream));
	check(skrt_module_kernel(module, 0, &kernel));
	for (int round = 0; round < 3; round++) {
		check(skrt_run(stream, instance, kernel));
		compare("fused");
		check(skrt_run_serial(instance, kernel));
		compare("serially");
		kind[0] = 1;
		if (!skrt_run(stream, instance, kernel) || !has("kernel total called abort on core"))
			return printf("an exception escaped\n"), 1;
		kind[0] = 0;
	}
	kind[0] = 2;
	if (!skrt_run(stream, instance, kernel) || !has("segmentation fault (SIGSEGV): write at address 0x10") ||
	    !has("which may have held a lock: the device is lost"))
		return printf("a fault went unseen\n"), 1;
	check(skrt_instance_destroy(instance));
	check(skrt_stream_destroy(stream));
	check(skrt_module_unload(module));
	check(skrt_device_close(device));
	return 0;
}
C
libskrt="$top_builddir/.libs/libskrt.a $(sed -n "s/^Libs.private: //p" "$top_builddir/loader/libskrt.pc")"
sanitize=$(sed -n 's/^SANITIZE_CFLAGS = //p' "$top_builddir/Makefile")
if [ -z "$sanitize" ]; then # which would be asked for more memory than there is, and has exceptions of its own
	$KERNEL_CC -x c++ -O1 -std=c++17 -I"$top_srcdir" -c program.cc -o program.o
	$KERNEL_CC program.o kernels.o -o program $libskrt -lstdc++ -ldl -lm -pthread
	for cores in 1 2 3 7; do
		./program ./model.sk $cores >out.txt 2>err.txt || { cat out.txt err.txt >&2; fail "on $cores cores"; }
		# The C++ library writes that in pieces, and its output for other cores' exceptions may come in between.
		grep -q 'what():' err.txt && grep -q 'escapes$' err.txt || { cat err.txt >&2;
			fail "what escapes is not told"; }
	done
fi
{
	printf '\223NUMPY\001\000v\000%-117s\n' "{'descr': '<i4', 'fortran_order': False, 'shape': (1,), }"
	printf '\0\0\0\0'
} >kind.npy
for cores in 1 2 3 7; do
	"$skrun" model.sk --input kind=kind.npy --random 1 --cores $cores --verify >out.txt ||
		fail "skrun --verify, $cores cores"
done
"$skrun" model.sk --input kind=kind.npy --random 1 --cores 3 --guard --check-races >out.txt || fail "skrun --guard"

# With LLVM's unwinder, which looks for the package by dl_iterate_phdr, as those of gcc before version 12 do.
. "$top_srcdir/tests/lib/packages.sh"
unwinder=$packages/libunwind-14-dev/usr/lib/llvm-14/lib/libunwind.a
if get_package libunwind-14-dev && [ -e "$unwinder" ]; then
	"$sklink" --unresolved-symbols=trap:dladdr model.yaml kernels.o $libraries -o unwinder.sk
	! readelf -rW unwinder.sk | grep -q dl_iterate_phdr || fail "gcc's unwinder asks for dl_iterate_phdr, too"
	"$sklink" --unresolved-symbols=trap:dladdr model.yaml kernels.o "$unwinder" $libraries -o unwinder.sk
	readelf -rW unwinder.sk | grep -q dl_iterate_phdr || fail "LLVM's unwinder does not ask for dl_iterate_phdr"
	! readelf -rW unwinder.sk | grep -q _dl_find_object || fail "there are two unwinders"
	for cores in 1 3; do
		[ -n "$sanitize" ] || ./program ./unwinder.sk $cores >out.txt 2>err.txt || { cat out.txt err.txt >&2;
			fail "LLVM's unwinder, on $cores cores"; }
		"$skrun" unwinder.sk --input kind=kind.npy --random 1 --cores $cores --verify >out.txt ||
			fail "LLVM's unwinder, skrun --verify"
	done
	"$skrun" unwinder.sk --input kind=kind.npy --random 1 --cores 3 --guard >out.txt ||
		fail "LLVM's unwinder, skrun --guard"
else
	echo "there is no libunwind.a"
fi

# As an object: the program's own libraries serve it.
"$sklink" -r model.yaml kernels.o -o model.o
cat >linked.cc <<'C'
extern "C" int sk_all_serial(void *const *tensors, void *workspace);
alignas(64) static int kind[1];
alignas(64) static float x[5000], y[5000];
alignas(64) static char workspace[1 << 20];
int main()
{
	void *tensors[] = {kind, x, y};
	for (int i = 0; i < 5000; i++)
		x[i] = static_cast<float>(i % 7 - 3);
	if (sk_all_serial(tensors, workspace))
		return 1;
	return y[0] != -99 || y[4] != 41;
}
C
$KERNEL_CC -x c++ -O1 linked.cc -x none model.o -o linked -lstdc++ -lm && ./linked || fail "as an object"

# Destructors of thread-local objects.
cat >cache.cc <<'C'
#include <vector>
#include "skkernel.h"
static thread_local std::vector<float> cache;
extern "C" void total(const int32_t *kind, const float *x, float *y, int64_t n)
{
	cache.assign(x, x + n);
	for (int64_t i = 0; i < n; i++)
		y[i] = cache[i] + static_cast<float>(*kind);
}
SK_KERNEL(total, "split=n reentrant; in kind i32[1], in x f32[n], out y f32[n], n i64");
extern "C" void greedy(const float *x, float *y, int64_t n) { for (int64_t i = 0; i < n; i++) y[i] = x[i]; }
SK_KERNEL(greedy, "reentrant; in x f32[n], out y f32[n], n i64");
C
compile_cc cache
fails_with "cache.o:.*relocation R_X86_64_[A-Z0-9]* against '__cxa_thread_atexit' asks for the destructor of a thread-local object, which a package cannot have" \
	"$sklink" model.yaml cache.o $libraries -o cache.sk
fails_with "undefined symbol: __cxa_thread_atexit; it serves destructors of thread-local objects" "$sklink" model.yaml \
	cache.o -o cache.sk
[ ! -e cache.sk ] || fail "an output in spite of an error"

# A kernel that allocates and catches exceptions needs no "reentrant": nothing of an exception outlives a call.
cat >sorts.cc <<'C'
#include <algorithm>
#include <vector>
extern "C" void sorts(const float *x, float *y, long n)
{
	std::vector<float> v(x, x + n);
	std::sort(v.begin(), v.end());
	try { v.at(x[0] == 5 ? n : 0) += 1; } catch (...) { v[0] = -1; }
	std::copy(v.begin(), v.end(), y);
}
C
cat >sorts.yaml <<'M'
sklink: 1
tensors: {x: {dtype: f32, shape: [5], role: input}, y: {dtype: f32, shape: [5], role: output}}
kernels: {sorts: {signature: "in x f32[n], out y f32[n], n i64"}}
tasks:
  - {name: t, kernel: sorts, args: [x, y]}
M
$KERNEL_CC -O1 -fPIC -ffunction-sections -c sorts.cc -o sorts.o
# shellcheck disable=SC2086 # a list of files
"$sklink" sorts.yaml sorts.o $libraries -o sorts.sk
for first in 4 5; do
	"$top_builddir/tests/lib/make-model" x.npy f32 5 $first 3 1 7 2
	"$skrun" sorts.sk --input x=x.npy --output y=y.npy --verify --cores 3 >out.txt || { cat out.txt; fail "sorts"; }
	sorted=$(tail -c 20 y.npy | od -An -tf4 | tr -s ' \n' ' ')
	[ "$sorted" = "$([ $first = 4 ] && echo ' 2 2 3 4 7 ' || echo ' -1 2 3 5 7 ')" ] || fail "sorts: $first: $sorted"
done

# Streams need the unwinder and the C library's locales: the errors say where the one is, and that the others are not.
cat >stream.cc <<'C'
#include <iostream>
extern "C" void say(const float *x, float *y) { y[0] = x[0]; if (x[0] == 77) std::cout << "77" << std::endl; }
C
cat >stream.yaml <<'M'
sklink: 1
tensors: {x: {dtype: f32, shape: [4], role: input}, y: {dtype: f32, shape: [1], role: output}}
kernels: {say: {signature: "reentrant; in x f32[4], out y f32[1]"}}
tasks:
  - {name: t, kernel: say, args: [x, y]}
M
$KERNEL_CC -O1 -fPIC -c stream.cc -o stream.o
fails_with "undefined symbol: _Unwind_.*; it is of the compiler's unwinder, .*libgcc_eh.a" "$sklink" stream.yaml stream.o \
	"$($KERNEL_CC -print-file-name=libstdc++.a)" -o stream.sk --error-limit=0
grep -q 'undefined symbol: __newlocale; it serves the locales that streams of libstdc++ set up' err.txt ||
	fail "nothing says why streams are not linked"
