/* Numba's runtime, numba/core/runtime/nrt.h and numba/np/ufunc of 0.50 to 0.68: memory with a count of references, and
 * parallel loops by the calling core alone. Lists, dictionaries and other allocators are not defined; objects of Python
 * are in python.c. */
#include <stdbool.h>
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

/* ---- reshaped arrays ---- */

enum { NUMBA_DIMENSIONS = 64 };

/* Return whether each of the axes continues where the next one ends (the one before in Fortran's order): their elements
 * are at equal distances. */
static bool are_one(const int64_t *extents, const int64_t *strides, int64_t first, int64_t end, bool fortran)
{
	for (int64_t i = first; i + 1 < end; i++)
		if (fortran ? strides[i + 1] != extents[i] * strides[i] : strides[i] != extents[i + 1] * strides[i + 1])
			return false;
	return true;
}

/* Give the axes from `first` on strides, so that they continue each other; `stride` is that of the fastest one. */
static void set_strides(const int64_t *extents, int64_t *strides, int64_t first, int64_t end, int64_t stride,
			bool fortran)
{
	for (int64_t i = 0; i < end - first; i++) {
		int64_t axis = fortran ? first + i : end - 1 - i;

		strides[axis] = stride;
		stride *= extents[axis];
	}
}

/* Find strides for which an array has other extents without a copy, as numpy's reshape does; return 0 if there are
 * none. Extents are positive, and their products equal. Strides are in bytes. */
SK_COMPAT int numba_attempt_nocopy_reshape(int64_t rank, const int64_t *extents, const int64_t *strides,
					   int64_t new_rank, const int64_t *new_extents, int64_t *new_strides,
					   int64_t item, int fortran)
{
	int64_t kept_extents[NUMBA_DIMENSIONS], kept_strides[NUMBA_DIMENSIONS], kept = 0, begin = 0, new_begin = 0;

	if (rank > NUMBA_DIMENSIONS)
		return 0;
	for (int64_t i = 0; i < rank; i++)
		if (extents[i] != 1) {
			kept_extents[kept] = extents[i];
			kept_strides[kept++] = strides[i];
		}
	while (begin < kept && new_begin < new_rank) {
		int64_t end = begin + 1, new_end = new_begin + 1;
		int64_t size = kept_extents[begin], new_size = new_extents[new_begin];

		while (size != new_size) {
			if (size < new_size ? end == kept : new_end == new_rank)
				return 0;
			if (size < new_size)
				size *= kept_extents[end++];
			else
				new_size *= new_extents[new_end++];
		}
		if (!are_one(kept_extents, kept_strides, begin, end, fortran))
			return 0;
		set_strides(new_extents, new_strides, new_begin, new_end, kept_strides[fortran ? begin : end - 1],
			    fortran);
		begin = end;
		new_begin = new_end;
	}
	for (; new_begin < new_rank; new_begin++) /* of one element each */
		new_strides[new_begin] = item;
	return 1;
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
