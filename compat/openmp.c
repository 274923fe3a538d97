/* OpenMP's runtime for a team of one: the calling core runs every parallel region, loop and section alone, in order.
 * Entry points are those that gcc (libgomp's ABI) and clang (kmp.h of LLVM's openmp) call. Nested regions work.
 *
 * There are no threads, so locks and barriers do nothing, and a region that asks for N threads gets one, as OpenMP
 * allows. Offloading, taskloops, doacross loops, reductions of tasks and tools interfaces are not defined; nor are
 * clang's tasks and teams. */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "compat/compat.h"

/* The loop or the sections of the current region that the team still has to begin. A call sets it before it reads it,
 * so no value lasts from call to call. */
static SK_THREAD_WITHIN_CALL struct work {
	int64_t first, end, step;
	unsigned sections; /* of GOMP_sections: the next one, from 1 */
	unsigned count;
	bool pending;
} work;

/* ---- questions of programs ---- */

SK_COMPAT int omp_get_num_threads(void) { return 1; }
SK_COMPAT int omp_get_max_threads(void) { return 1; }
SK_COMPAT int omp_get_thread_num(void) { return 0; }
SK_COMPAT int omp_get_num_procs(void) { return 1; }
SK_COMPAT int omp_get_thread_limit(void) { return 1; }
SK_COMPAT int omp_get_dynamic(void) { return 0; }
SK_COMPAT int omp_in_parallel(void) { return 0; }
SK_COMPAT int omp_get_level(void) { return 0; }
SK_COMPAT void omp_set_num_threads(int count) { (void)count; }
SK_COMPAT void omp_set_dynamic(int dynamic) { (void)dynamic; }

SK_COMPAT double omp_get_wtime(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- locks and places where threads meet: a team of one passes ---- */

typedef void omp_region(void *data);

/* sklink refuses kernels that reach a barrier of threads, unless it is in a section of this name. */
#define ALONE __attribute__((section(".text.sk_team_of_one")))

#define MEET(name) SK_COMPAT void name(void) {}
SK_COMPAT ALONE void GOMP_barrier(void) {}
MEET(GOMP_critical_start)
MEET(GOMP_critical_end)
MEET(GOMP_atomic_start)
MEET(GOMP_atomic_end)
MEET(GOMP_ordered_start)
MEET(GOMP_ordered_end)
MEET(GOMP_loop_end)
MEET(GOMP_loop_end_nowait)
MEET(GOMP_sections_end)
MEET(GOMP_sections_end_nowait)
MEET(GOMP_taskwait)
MEET(GOMP_taskyield)
MEET(GOMP_taskgroup_start)
MEET(GOMP_taskgroup_end)
#undef MEET

SK_COMPAT void GOMP_critical_name_start(void **lock) { (void)lock; }
SK_COMPAT void GOMP_critical_name_end(void **lock) { (void)lock; }
SK_COMPAT bool GOMP_single_start(void) { return true; }
SK_COMPAT void *GOMP_single_copy_start(void) { return NULL; } /* this thread computes the data to copy */
SK_COMPAT void GOMP_single_copy_end(void *data) { (void)data; }

/* ---- gcc: regions, sections, loops, tasks ---- */

/* Run the region with this work, which ends with it. */
static void run_region(omp_region *region, void *data, struct work begun)
{
	struct work outer = work;

	work = begun;
	region(data);
	work = outer;
}

SK_COMPAT void GOMP_parallel(omp_region *region, void *data, unsigned threads, unsigned flags)
{
	(void)threads, (void)flags;
	run_region(region, data, (struct work){0});
}

SK_COMPAT unsigned GOMP_sections_next(void)
{
	return work.sections <= work.count ? work.sections++ : 0;
}

SK_COMPAT unsigned GOMP_sections_start(unsigned count)
{
	work.sections = 1;
	work.count = count;
	return GOMP_sections_next();
}

SK_COMPAT void GOMP_parallel_sections(omp_region *region, void *data, unsigned threads, unsigned count, unsigned flags)
{
	(void)threads, (void)flags;
	run_region(region, data, (struct work){.sections = 1, .count = count});
}

/* Give the rest of the loop: all of it once, and then nothing. The ends of unsigned loops are the same bits. */
static bool give_loop(long *first, long *end)
{
	bool given = work.pending;

	work.pending = false;
	*first = (long)work.first;
	*end = (long)work.end;
	return given;
}

/* The functions of one schedule. The iterations go from `first` by `step` to before `end`; the loop is empty if they
 * are in the wrong order. Unsigned loops say which way they go. */
#define LOOP(schedule)                                                                                                \
	SK_COMPAT bool GOMP_loop_##schedule##_next(long *first, long *end) { return give_loop(first, end); }          \
	SK_COMPAT bool GOMP_loop_##schedule##_start(long from, long to, long step, long chunk, long *first, long *end) \
	{                                                                                                             \
		(void)chunk;                                                                                          \
		work.first = from, work.end = to, work.pending = step > 0 ? from < to : from > to;                    \
		return give_loop(first, end);                                                                         \
	}                                                                                                             \
	SK_COMPAT bool GOMP_loop_ull_##schedule##_next(unsigned long long *first, unsigned long long *end)             \
	{                                                                                                             \
		return give_loop((long *)first, (long *)end);                                                         \
	}                                                                                                             \
	SK_COMPAT bool GOMP_loop_ull_##schedule##_start(bool up, unsigned long long from, unsigned long long to,       \
							unsigned long long step, unsigned long long chunk,            \
							unsigned long long *first, unsigned long long *end)           \
	{                                                                                                             \
		(void)chunk, (void)step;                                                                              \
		work.first = (int64_t)from, work.end = (int64_t)to, work.pending = up ? from < to : from > to;        \
		return give_loop((long *)first, (long *)end);                                                         \
	}

#define PARALLEL_LOOP(schedule)                                                                                       \
	SK_COMPAT void GOMP_parallel_loop_##schedule(omp_region *region, void *data, unsigned threads, long from,     \
						     long to, long step, long chunk, unsigned flags)                  \
	{                                                                                                             \
		struct work loop = {.first = from, .end = to, .pending = step > 0 ? from < to : from > to};           \
                                                                                                                      \
		(void)threads, (void)chunk, (void)flags;                                                              \
		run_region(region, data, loop);                                                                       \
	}

/* The same where the environment chooses the schedule: without a chunk. */
#define RUNTIME_LOOP(schedule)                                                                                        \
	SK_COMPAT bool GOMP_loop_##schedule##_next(long *first, long *end) { return give_loop(first, end); }          \
	SK_COMPAT bool GOMP_loop_##schedule##_start(long from, long to, long step, long *first, long *end)            \
	{                                                                                                             \
		work.first = from, work.end = to, work.pending = step > 0 ? from < to : from > to;                    \
		return give_loop(first, end);                                                                         \
	}                                                                                                             \
	SK_COMPAT void GOMP_parallel_loop_##schedule(omp_region *region, void *data, unsigned threads, long from,     \
						     long to, long step, unsigned flags)                              \
	{                                                                                                             \
		struct work loop = {.first = from, .end = to, .pending = step > 0 ? from < to : from > to};           \
                                                                                                                      \
		(void)threads, (void)flags;                                                                           \
		run_region(region, data, loop);                                                                       \
	}

LOOP(static)
LOOP(dynamic)
LOOP(guided)
LOOP(nonmonotonic_dynamic)
LOOP(nonmonotonic_guided)
LOOP(ordered_static)
LOOP(ordered_dynamic)
LOOP(ordered_guided)
PARALLEL_LOOP(static)
PARALLEL_LOOP(dynamic)
PARALLEL_LOOP(guided)
PARALLEL_LOOP(nonmonotonic_dynamic)
PARALLEL_LOOP(nonmonotonic_guided)
RUNTIME_LOOP(runtime)
RUNTIME_LOOP(nonmonotonic_runtime)
RUNTIME_LOOP(maybe_nonmonotonic_runtime)

/* Run the task at once, with a copy of its data where the compiler made a function that copies. All tasks before it
 * have run, so dependences hold. */
SK_COMPAT void GOMP_task(omp_region *task, void *data, void (*copy)(void *to, void *from), long size, long alignment,
			 bool deferred, unsigned flags, void **dependences, int priority)
{
	(void)deferred, (void)flags, (void)dependences, (void)priority;
	if (!copy) {
		task(data);
		return;
	}

	char space[size + alignment];
	char *own = space + (-(uintptr_t)space & (uintptr_t)(alignment - 1));

	copy(own, data);
	task(own);
}

/* ---- clang ---- */

struct ident; /* a place in the source */

enum { MAX_CAPTURED = 32 };

typedef void microtask(int32_t *global_thread, int32_t *bound_thread, ...);

/* A region's captured variables follow, each a pointer or a value of 64 bits. Functions that take fewer do not look at
 * the others (psABI, 3.2.3). */
SK_COMPAT void __kmpc_fork_call(struct ident *place, int32_t count, microtask *task, ...)
{
	int32_t thread = 0, bound = 0;
	struct work outer = work;
	void *c[MAX_CAPTURED] = {0};
	va_list captured;

	(void)place;
	if (count > MAX_CAPTURED)
		sk_compat_fail("OpenMP", "__kmpc_fork_call", "a parallel region captures more than 32 variables");
	va_start(captured, task);
	for (int32_t i = 0; i < count; i++)
		c[i] = va_arg(captured, void *);
	va_end(captured);
	work = (struct work){0};
	task(&thread, &bound, c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8], c[9], c[10], c[11], c[12], c[13],
	     c[14], c[15], c[16], c[17], c[18], c[19], c[20], c[21], c[22], c[23], c[24], c[25], c[26], c[27], c[28],
	     c[29], c[30], c[31]);
	work = outer;
}

SK_COMPAT int32_t __kmpc_global_thread_num(struct ident *place)
{
	(void)place;
	return 0;
}

#define PLACE(name)                                          \
	SK_COMPAT void name(struct ident *place, int32_t thread) \
	{                                                    \
		(void)place, (void)thread;                   \
	}
#define FIRST(name)                                             \
	SK_COMPAT int32_t name(struct ident *place, int32_t thread) \
	{                                                       \
		(void)place, (void)thread;                      \
		return 1; /* this thread runs it */             \
	}
#define LOCK(name)                                                        \
	SK_COMPAT void name(struct ident *place, int32_t thread, void *lock)  \
	{                                                                 \
		(void)place, (void)thread, (void)lock;                    \
	}
#define REDUCE(name)                                                                                               \
	SK_COMPAT int32_t name(struct ident *place, int32_t thread, int32_t count, size_t size, void *data,        \
			       void (*reduce)(void *, void *), void *lock)                                         \
	{                                                                                                          \
		(void)place, (void)thread, (void)count, (void)size, (void)data, (void)reduce, (void)lock;          \
		return 1; /* add this thread's part to the variables, without atomic operations */                \
	}
ALONE PLACE(__kmpc_barrier)
PLACE(__kmpc_serialized_parallel)
PLACE(__kmpc_end_serialized_parallel)
PLACE(__kmpc_end_single)
PLACE(__kmpc_end_master)
PLACE(__kmpc_end_masked)
PLACE(__kmpc_ordered)
PLACE(__kmpc_end_ordered)
PLACE(__kmpc_for_static_fini)
PLACE(__kmpc_dispatch_fini_4)
PLACE(__kmpc_dispatch_fini_8)
PLACE(__kmpc_dispatch_fini_4u)
PLACE(__kmpc_dispatch_fini_8u)
PLACE(__kmpc_dispatch_deinit)
FIRST(__kmpc_single)
FIRST(__kmpc_master)
LOCK(__kmpc_critical)
LOCK(__kmpc_end_critical)
LOCK(__kmpc_end_reduce)
LOCK(__kmpc_end_reduce_nowait)
REDUCE(__kmpc_reduce)
REDUCE(__kmpc_reduce_nowait)

SK_COMPAT int32_t __kmpc_masked(struct ident *place, int32_t thread, int32_t filter)
{
	(void)place;
	return thread == filter;
}

SK_COMPAT void __kmpc_push_num_threads(struct ident *place, int32_t thread, int32_t count)
{
	(void)place, (void)thread, (void)count;
}

SK_COMPAT void __kmpc_flush(struct ident *place) { (void)place; }

/* Loops: static ones get their whole range, dynamic ones once. Bounds include the last iteration. */
#define KMPC_LOOP(suffix, type, signed_type)                                                                          \
	SK_COMPAT void __kmpc_for_static_init_##suffix(struct ident *place, int32_t thread, int32_t schedule,         \
						       int32_t *last, type *lower, type *upper, signed_type *stride,  \
						       signed_type step, signed_type chunk)                           \
	{                                                                                                             \
		bool empty = step > 0 ? *upper < *lower : *lower < *upper;                                            \
                                                                                                                      \
		(void)place, (void)thread, (void)schedule, (void)chunk;                                               \
		if (last)                                                                                             \
			*last = !empty;                                                                               \
		*stride = empty ? step : step > 0 ? (signed_type)(*upper - *lower + 1)                                \
						  : -(signed_type)(*lower - *upper + 1);                              \
	}                                                                                                             \
	SK_COMPAT void __kmpc_dispatch_init_##suffix(struct ident *place, int32_t thread, int32_t schedule,           \
						     type lower, type upper, signed_type step, signed_type chunk)     \
	{                                                                                                             \
		(void)place, (void)thread, (void)schedule, (void)chunk;                                               \
		work.first = (int64_t)lower, work.end = (int64_t)upper, work.step = step;                             \
		work.pending = step > 0 ? lower <= upper : lower >= upper;                                            \
	}                                                                                                             \
	SK_COMPAT int32_t __kmpc_dispatch_next_##suffix(struct ident *place, int32_t thread, int32_t *last,           \
							type *lower, type *upper, signed_type *step)                  \
	{                                                                                                             \
		(void)place, (void)thread;                                                                            \
		if (!work.pending)                                                                                    \
			return 0;                                                                                     \
		work.pending = false;                                                                                 \
		*lower = (type)work.first, *upper = (type)work.end;                                                   \
		if (step)                                                                                             \
			*step = (signed_type)work.step;                                                               \
		if (last)                                                                                             \
			*last = 1;                                                                                    \
		return 1;                                                                                             \
	}
KMPC_LOOP(4, int32_t, int32_t)
KMPC_LOOP(8, int64_t, int64_t)
KMPC_LOOP(4u, uint32_t, int32_t)
KMPC_LOOP(8u, uint64_t, int64_t)
