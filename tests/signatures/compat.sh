#!/bin/bash
# libskcompat.a: runtime hooks of other compilers. The oracle of OpenMP is the same source without its pragmas.
set -eu
. "$top_srcdir/tests/lib/lib.sh"
compat="-L$top_builddir/compat -lskcompat"

cat >loops.c <<'C'
#include <stdint.h>

static float limit(float x) { return x > 100 ? 100 : x; }

/* Every schedule, up and down, signed and unsigned, empty loops, reductions, sections, single, critical, ordered. */
void NAME(const float *x, float *y, int64_t n)
{
	float sum = 0, least = 1e30f;
	int64_t count = 0, sections = 0, alone = 0, tasks = 0;

#pragma omp parallel for
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i];
#pragma omp parallel for schedule(dynamic, 3)
	for (int64_t i = n - 1; i >= 0; i -= 2)
		y[i] += limit(x[i] * 2);
#pragma omp parallel for schedule(guided) reduction(+ : count)
	for (uint64_t i = 0; i < (uint64_t)n; i += 3)
		count += (int64_t)i;
#pragma omp parallel for schedule(runtime) reduction(min : least)
	for (int i = 0; i < (int)n; i++)
		least = x[i] < least ? x[i] : least;
#pragma omp parallel for schedule(static, 5)
	for (unsigned i = (unsigned)n; i > 0; i--)
		y[i - 1] *= 1.5f;
#pragma omp parallel for schedule(dynamic)
	for (int64_t i = n; i < n; i++)
		y[i] = 0;
#pragma omp parallel
	{
#pragma omp for schedule(dynamic, 2) nowait
		for (int64_t i = 0; i < n / 2; i++)
			y[i] += 1;
#pragma omp for schedule(guided) ordered
		for (int64_t i = 0; i < n; i++) {
#pragma omp ordered
			sum += y[i];
		}
#pragma omp sections
		{
#pragma omp section
			sections += 1;
#pragma omp section
			sections *= 10;
#pragma omp section
			sections += 7;
		}
#pragma omp single
		alone += 3;
#pragma omp barrier
#pragma omp critical
		alone *= 5;
#pragma omp master
		alone += 1;
	}
#pragma omp parallel sections
	{
#pragma omp section
		sections *= 2;
#pragma omp section
		sections += 1;
	}
	/* A region inside a loop that is divided: the outer loop goes on after it. */
#pragma omp parallel for schedule(dynamic) reduction(+ : count)
	for (int64_t i = 0; i < 4; i++) {
		int64_t inner = 0;

#pragma omp parallel for schedule(dynamic) reduction(+ : inner)
		for (int64_t j = 0; j < i; j++)
			inner += j * i;
		count += inner;
	}
#ifdef TASKS
#pragma omp parallel
#pragma omp single
	for (int64_t i = 0; i < 5; i++) {
#pragma omp task shared(tasks) firstprivate(i)
		tasks = tasks * 3 + i;
#pragma omp taskwait
	}
#endif
	y[0] = sum;
	y[1] = least;
	y[2] = (float)count;
	y[3] = (float)(sections * 1000 + alone + tasks);
}
C
# same NAME COMPILER…: the loops compiled by it with and without -fopenmp give the same bits.
same() {
	name=$1
	shift
	"$@" -O2 -fPIC -ffunction-sections -DNAME=serial -w -c loops.c -o serial.o
	"$@" -O2 -fPIC -ffunction-sections -DNAME=team -fopenmp -c loops.c -o team.o
	nm -u team.o | grep -qE 'GOMP_parallel|__kmpc_fork_call' || fail "$name: no parallel regions"
	cat >model.yaml <<-'M'
		sklink: 1
		tensors:
		  x: {dtype: f32, shape: [103]}
		  y: {dtype: f32, shape: [103]}
		  z: {dtype: f32, shape: [103]}
		kernels:
		  serial: {signature: "in x f32[n], out y f32[n], n i64"}
		  team: {signature: "in x f32[n], out y f32[n], n i64"}
		tasks:
		  - {name: one, kernel: serial, args: [x, y], scope: all}
		  - {name: other, kernel: team, args: [x, z], scope: all}
	M
	fails_with 'undefined symbol: (GOMP_|__kmpc_)' "$sklink" model.yaml serial.o team.o -o out.sk
	# shellcheck disable=SC2086 # a list of options
	"$sklink" model.yaml serial.o team.o $compat -o out.sk || fail "$name: cannot link"
	proved out.sk
	"$skrun" out.sk --random 3 --cores 2 --verify --guard --output y=y.npy --output z=z.npy >out.txt || fail "$name: run"
	cmp y.npy z.npy || fail "$name: other results than without OpenMP"
}
same gcc $KERNEL_CC -DTASKS
for clang in clang clang-14 clang-19; do
	! command -v $clang >/dev/null || same $clang $clang
done

# Structures as TVM, Halide and Numba compile them: weak null hooks, closures, counted memory. Each kernel doubles x.
cat >systems.c <<'C'
#include <stdint.h>
#include <stdlib.h>

/* ---- TVM: hooks ---- */
struct group { void *handle; int32_t count; };
__attribute__((weak)) void *(*__TVMBackendAllocWorkspace)(int, int, uint64_t, int, int);
__attribute__((weak)) int (*__TVMBackendFreeWorkspace)(int, int, void *);
__attribute__((weak)) int (*__TVMBackendParallelLaunch)(int (*)(int, struct group *, void *), void *, int);
void TVMFFIErrorSetRaisedFromCStrParts(const char *kind, const char **parts, int32_t count);

struct closure { const float *x; float *y; int64_t n; };

static int part(int number, struct group *group, void *data)
{
	struct closure *c = data;
	int64_t step = (c->n + group->count - 1) / group->count;

	for (int64_t i = number * step; i < (number + 1) * step && i < c->n; i++)
		c->y[i] = c->x[i] * 2;
	return 0;
}

int tvm(const float *x, float *y, int64_t n)
{
	float *t = __TVMBackendAllocWorkspace(1, 0, (uint64_t)n * 4, 2, 32);
	struct closure c = {x, t, n};

	if (!t || (uintptr_t)t % 64 || __TVMBackendParallelLaunch(part, &c, TASKS))
		return -1;
	for (int64_t i = 0; i < n; i++)
		y[i] = t[i];
	return __TVMBackendFreeWorkspace(1, 0, t);
}

int tvm_error(const float *x, float *y, int64_t n)
{
	const char *parts[] = {"wrong rank of ", "x"};

	TVMFFIErrorSetRaisedFromCStrParts("ValueError", parts, 2);
	return -1;
}

/* ---- Halide ---- */
void *halide_malloc(void *, size_t);
void halide_free(void *, void *);
int halide_do_par_for(void *, int (*)(void *, int, uint8_t *), int, int, uint8_t *);
int halide_error_bad_type(void *, const char *, uint32_t, uint32_t);

static int row(void *context, int i, uint8_t *closure)
{
	struct closure *c = (struct closure *)closure;

	c->y[i] = c->x[i] * 2;
	return 0;
}

int halide(const float *x, float *y, int64_t n)
{
	float *t = halide_malloc(NULL, (size_t)n * 4);
	struct closure first = {x, t, n};
	int status = halide_do_par_for(NULL, row, 0, (int)n, (uint8_t *)&first);

	for (int64_t i = 0; i < n; i++)
		y[i] = t[i];
	halide_free(NULL, t);
	return status;
}

int halide_error_kernel(const float *x, float *y, int64_t n)
{
	return halide_error_bad_type(NULL, "x", 1, 2);
}

/* ---- Numba ---- */
struct memory { size_t references; void *destructor, *info; float *data; size_t size; void *allocator; };
struct memory *NRT_MemInfo_alloc_aligned(size_t, unsigned);
void NRT_MemInfo_call_dtor(struct memory *);
int64_t get_num_threads(void), get_sched_size(uint64_t, uint64_t, int64_t *, int64_t *);
int64_t *allocate_sched(int64_t);
void deallocate_sched(int64_t *);
void do_scheduling_unsigned(int64_t, int64_t *, int64_t *, uint64_t, int64_t *, int64_t);
void numba_parallel_for(void (*)(char **, size_t *, size_t *, void *), char **, size_t *, size_t *, void *, size_t,
			size_t, int);

static void chunk(char **arguments, size_t *extents, size_t *strides, void *data)
{
	int64_t *schedule = (int64_t *)arguments[0];
	const float *x = (float *)arguments[1];
	float *y = (float *)arguments[2];

	for (size_t t = 0; t < extents[0]; t++, schedule = (int64_t *)((char *)schedule + strides[0]))
		for (int64_t i = schedule[0]; i <= schedule[1]; i++)
			y[i] = x[i] * 2;
}

int numba(const float *x, float *y, int64_t n)
{
	struct memory *memory = NRT_MemInfo_alloc_aligned((size_t)n * 4, 32);
	int64_t start = 0, end = n - 1, threads = get_num_threads();
	int64_t *schedule = allocate_sched(get_sched_size((uint64_t)threads, 1, &start, &end) * 2);
	char *arguments[] = {(char *)schedule, (char *)x, (char *)memory->data};
	size_t extents[] = {(size_t)threads}, strides[] = {16, 0, 0};

	if ((uintptr_t)memory->data % 32)
		return 1;
	do_scheduling_unsigned(1, &start, &end, (uint64_t)threads, schedule, 0);
	numba_parallel_for(chunk, arguments, extents, strides, NULL, 0, 3, (int)threads);
	for (int64_t i = 0; i < n; i++)
		y[i] = memory->data[i];
	deallocate_sched(schedule);
	if (!--memory->references)
		NRT_MemInfo_call_dtor(memory);
	return 0;
}

/* ---- Python: Cython's division ---- */
struct object { size_t references; };
extern struct object *PyExc_ZeroDivisionError, _Py_NoneStruct;
int PyGILState_Ensure(void);
void PyGILState_Release(int), PyErr_SetString(struct object *, const char *);

int python(const float *x, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		_Py_NoneStruct.references++;
		if (x[i] - x[i] + DIVISOR == 0) {
			int state = PyGILState_Ensure();

			PyErr_SetString(PyExc_ZeroDivisionError, "float division");
			PyGILState_Release(state);
			return -1;
		}
		y[i] = x[i] / (DIVISOR / 2.0f);
	}
	return 0;
}
C
# system KERNEL FLAG…: its package runs, alone and beside another object with the same hooks.
system() {
	kernel=$1
	shift
	$KERNEL_CC $KERNEL_CFLAGS -ffunction-sections -fdata-sections "$@" -w -c systems.c -o systems.o
	cat >model.yaml <<-M
		sklink: 1
		tensors:
		  x: {dtype: f32, shape: [100]}
		  y: {dtype: f32, shape: [100]}
		kernels:
		  $kernel: {signature: "in x f32[n], out y f32[n], n i64 -> status"}
		tasks:
		  - {name: t, kernel: $kernel, args: [x, y], scope: all}
	M
	# shellcheck disable=SC2086 # a list of options
	"$sklink" model.yaml systems.o $compat -o out.sk "${options[@]}" || fail "$kernel: cannot link"
}
for options in '' --isolate-objects; do
	options=(${options:+"$options"})
	for tasks in 0 3; do
		system tvm -DTASKS=$tasks -DDIVISOR=1
		"$skrun" out.sk --random 1 --verify --guard --output y=y.npy >out.txt || { cat out.txt; fail "tvm"; }
	done
	for kernel in halide numba python; do
		system $kernel -DTASKS=0 -DDIVISOR=1
		"$skrun" out.sk --random 1 --verify --guard --output y=$kernel.npy >out.txt || { cat out.txt; fail "$kernel"; }
		cmp y.npy $kernel.npy || fail "$kernel: other results than TVM's"
	done
done
options=()
system tvm_error -DTASKS=0 -DDIVISOR=1
fails_with 'TVM: ValueError: wrong rank of x' "$skrun" out.sk --random 1
system halide_error_kernel -DTASKS=0 -DDIVISOR=1
fails_with 'Halide: error: halide_error_bad_type' "$skrun" out.sk --random 1
system python -DTASKS=0 -DDIVISOR=0
fails_with 'Python: ZeroDivisionError: float division' "$skrun" out.sk --random 1

# Zig's library asks for the size of a page after a check has failed.
cat >zig.c <<'C'
#include <stdint.h>
unsigned long getauxval(unsigned long type);
int zig(const float *x, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] < 2 ? x[i] : (float)getauxval(6);
	return 0;
}
C
compile zig
sed "s/python/zig/" model.yaml >zig.yaml
# shellcheck disable=SC2086 # a list of options
"$sklink" zig.yaml zig.o $compat -o out.sk
"$skrun" out.sk --random 1 >out.txt || { cat out.txt; fail "zig"; }
sed -i 's/x\[i\] < 2/x[i] > 2/' zig.c
compile zig
# shellcheck disable=SC2086 # a list of options
"$sklink" zig.yaml zig.o $compat -o out.sk
fails_with 'Zig: getauxval: a check failed' "$skrun" out.sk --random 1

# What an object defines itself is not taken from the library.
cat >own.c <<'C'
#include <stdlib.h>
#include <stdint.h>
static void *own(int type, int id, uint64_t size, int code, int bits) { abort(); }
void *(*__TVMBackendAllocWorkspace)(int, int, uint64_t, int, int) = own;
C
compile own
system tvm -DTASKS=0 -DDIVISOR=1
# shellcheck disable=SC2086 # a list of options
"$sklink" model.yaml systems.o own.o $compat -o out.sk
fails_with 'abort' "$skrun" out.sk --random 1

# Halide's runtime in the object: weak variables hold functions that start threads or end the process.
cat >runtime.c <<'C'
#include <stdint.h>
extern void sk_start_threads(void);
typedef int task(void *context, int number, uint8_t *closure);
static int pool(void *context, task *run, int least, int size, uint8_t *closure) { sk_start_threads(); return 1; }
static void end(void *context, const char *text) { sk_start_threads(); }
__attribute__((weak)) int (*custom)(void *, task *, int, int, uint8_t *)
	__asm__("_ZN6Halide7Runtime8Internal17custom_do_par_forE") = pool;
__attribute__((weak)) void (*handler)(void *, const char *) __asm__("_ZN6Halide7Runtime8Internal13error_handlerE") = end;
__attribute__((weak)) int halide_do_par_for(void *context, task *run, int least, int size, uint8_t *closure)
{
	return custom(context, run, least, size, closure);
}
struct closure { const float *x; float *y; };
static int add(void *context, int number, uint8_t *closure)
{
	struct closure *c = (struct closure *)closure;

	c->y[number] = c->x[number] + 1;
	return 0;
}
int runtime(const float *x, float *y, int64_t n)
{
	struct closure closure = {x, y};

	if (n > 1000)
		handler(0, "too large");
	return n > 1000 ? -1 : halide_do_par_for(0, add, 0, (int)n, (uint8_t *)&closure);
}
C
compile runtime
sed 's/tvm/runtime/' model.yaml >runtime.yaml
# shellcheck disable=SC2086 # a list of options
"$sklink" runtime.yaml runtime.o $compat --unresolved-symbols=trap -o out.sk
"$skrun" out.sk --random 1 --verify >out.txt || { cat out.txt; fail "Halide's runtime"; }
"$sklink" runtime.yaml runtime.o --unresolved-symbols=trap -o out.sk
fails_with 'sk_start_threads' "$skrun" out.sk --random 1

# Sleef's names: four floats at a time, within 4 units in the last place of libm's.
cat >sleef.c <<'C'
#include <immintrin.h>
#include <math.h>
#include <stdint.h>
__m128 Sleef_expf4_u10(__m128);
__m128d Sleef_powd2_u10(__m128d, __m128d);
int vectors(const float *x, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i += 4)
		_mm_storeu_ps(y + i, Sleef_expf4_u10(_mm_loadu_ps(x + i)));
	for (int64_t i = 0; i < n; i++)
		if (!(fabsf(y[i] - expf(x[i])) <= 4 * 1.2e-7f * expf(x[i])))
			return 1;
	return _mm_cvtsd_f64(Sleef_powd2_u10(_mm_set1_pd(3), _mm_set1_pd(2))) != 9;
}
C
compile sleef
# All names are there, at all widths. They are linked, and run nowhere: the processor may lack the instructions.
nm "$top_builddir/compat/libskcompat.a" | awk '$2 == "W" && /Sleef_/ { print $3 }' | sort -u >names.txt
[ "$(wc -l <names.txt)" = $((26 * 2 * 3)) ] || fail "$(wc -l <names.txt) names of Sleef"
{
	sed 's/.*/void &(void);/' names.txt
	echo 'void *pick(long i) { void *names[] = {'
	sed 's/$/,/' names.txt
	echo '}; return names[i]; } void vectors(const float *x, float *y, long n) { *y = *x + (pick(n) != 0); }'
} >all.c
compile all
sed 's/tvm/vectors/' model.yaml >vectors.yaml
# shellcheck disable=SC2086 # a list of options
"$sklink" vectors.yaml sleef.o $compat -o out.sk
"$skrun" out.sk --random 1 --verify >out.txt || { cat out.txt; fail "Sleef's functions"; }
# shellcheck disable=SC2086 # a list of options
"$sklink" vectors.yaml all.o $compat -o out.sk || fail "a name of Sleef cannot be linked"
