/* Numba's runtime, numba/core/runtime/nrt.h and numba/np/ufunc of 0.50 to 0.68: memory with a count of references, and
 * parallel loops by the calling core alone. Lists, dictionaries and other allocators are not defined; objects of Python
 * are in python.c. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "compat/compat.h"

typedef void numba_destructor(void *data, size_t size, void *info);

/* The layout is struct MemInfo of nrt.cpp: compiled code changes the count itself, and reads `data`. */
struct numba_memory {
	size_t references;
	numba_destructor *destructor;
	void *info;
	void *data;
	size_t size;
	void *external_allocator;
};

SK_COMPAT void *NRT_Allocate(size_t size) { return malloc(size); }
SK_COMPAT void *NRT_Reallocate(void *memory, size_t size) { return realloc(memory, size); }
SK_COMPAT void NRT_Free(void *memory) { free(memory); }

SK_COMPAT struct numba_memory *NRT_MemInfo_alloc_aligned(size_t size, unsigned alignment)
{
	struct numba_memory *memory = malloc(sizeof(*memory) + size + alignment);

	if (!memory)
		return NULL;

	uintptr_t data = (uintptr_t)(memory + 1), rest = alignment ? data % alignment : 0;

	*memory = (struct numba_memory){.references = 1, .size = size};
	memory->data = (char *)(memory + 1) + (rest ? alignment - rest : 0);
	return memory;
}

SK_COMPAT struct numba_memory *NRT_MemInfo_alloc_safe_aligned(size_t size, unsigned alignment)
{
	return NRT_MemInfo_alloc_aligned(size, alignment);
}

SK_COMPAT struct numba_memory *NRT_MemInfo_alloc(size_t size)
{
	return NRT_MemInfo_alloc_aligned(size, 0);
}

SK_COMPAT struct numba_memory *NRT_MemInfo_alloc_safe(size_t size)
{
	return NRT_MemInfo_alloc_aligned(size, 0);
}

SK_COMPAT struct numba_memory *NRT_MemInfo_alloc_dtor(size_t size, numba_destructor *destructor)
{
	struct numba_memory *memory = NRT_MemInfo_alloc_aligned(size, 0);

	if (memory)
		memory->destructor = destructor;
	return memory;
}

/* End the life of memory to which nothing refers. */
SK_COMPAT void NRT_MemInfo_call_dtor(struct numba_memory *memory)
{
	if (memory->destructor)
		memory->destructor(memory->data, memory->size, memory->info);
	free(memory);
}

/* ---- parallel loops ---- */

SK_COMPAT int64_t get_num_threads(void) { return 1; }
SK_COMPAT int64_t get_parallel_chunksize(void) { return 0; }

SK_COMPAT int64_t set_parallel_chunksize(int64_t size)
{
	(void)size;
	return 0;
}

/* A schedule: for each thread the first and the last index of each dimension. */
SK_COMPAT int64_t get_sched_size(uint64_t threads, uint64_t dimensions, int64_t *starts, int64_t *ends)
{
	(void)threads, (void)dimensions, (void)starts, (void)ends;
	return 1;
}

SK_COMPAT int64_t *allocate_sched(int64_t size) { return malloc((size_t)size * sizeof(int64_t)); }
SK_COMPAT void deallocate_sched(int64_t *schedule) { free(schedule); }

SK_COMPAT void do_scheduling_signed(int64_t dimensions, int64_t *starts, int64_t *ends, uint64_t threads,
				    int64_t *schedule, int64_t debug)
{
	(void)debug;
	if (threads != 1)
		sk_compat_fail("Numba", __func__, "a schedule for several threads, where one core runs the loop");
	for (int64_t i = 0; i < dimensions; i++) {
		schedule[i] = starts[i];
		schedule[dimensions + i] = ends[i];
	}
}

SK_COMPAT void do_scheduling_unsigned(int64_t dimensions, int64_t *starts, int64_t *ends, uint64_t threads,
				      int64_t *schedule, int64_t debug)
{
	do_scheduling_signed(dimensions, starts, ends, threads, schedule, debug);
}

typedef void numba_loop(char **arguments, size_t *extents, size_t *strides, void *data);

SK_COMPAT void numba_parallel_for(numba_loop *loop, char **arguments, size_t *extents, size_t *strides, void *data,
				  size_t inner_dimensions, size_t arrays, int threads)
{
	(void)inner_dimensions, (void)arrays, (void)threads;
	loop(arguments, extents, strides, data);
}
