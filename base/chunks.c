/* Chunks; see arena.h. Unused chunks are in a list that all threads share, under a lock that is taken once for some
 * thousand requests. Results do not depend on the source of memory. */
#include "base/arena.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { AREA = 16 * SK_CHUNK }; /* of address space: unused parts are not backed */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sk_chunk *unused; /* with pages; the last released one comes first, since it is in caches */
static struct sk_chunk *empty; /* without pages */
static char *area; /* the source of new chunks */
static size_t area_left;

static struct sk_chunk *pop_chunk(struct sk_chunk **list)
{
	struct sk_chunk *chunk = *list;

	if (chunk)
		*list = chunk->next;
	return chunk;
}

static void push_chunk(struct sk_chunk **list, struct sk_chunk *chunk)
{
	chunk->next = *list;
	*list = chunk;
}

void sk_chunks_empty(size_t size)
{
	struct sk_chunk *chunk;

	pthread_mutex_lock(&lock);
	for (size_t done = 0; done < size && (chunk = pop_chunk(&unused)) != NULL; done += SK_CHUNK) {
		if (madvise(chunk->data, SK_CHUNK, MADV_DONTNEED) == 0)
			chunk->dirty = 0;
		push_chunk(&empty, chunk);
	}
	pthread_mutex_unlock(&lock);
}

void *sk_map_huge(size_t size)
{
	char *data = mmap(NULL, size + SK_HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t before = -(uintptr_t)data % SK_HUGE_PAGE;

	if (data == MAP_FAILED)
		return NULL;
	if (before)
		munmap(data, before);
	munmap(data + before + size, SK_HUGE_PAGE - before);
	madvise(data + before, size, MADV_HUGEPAGE);
	return data + before;
}

/* NULL: no memory for it. */
static struct sk_chunk *new_chunk(char *data, size_t dirty)
{
	struct sk_chunk *chunk = malloc(sizeof(*chunk));

	if (chunk)
		*chunk = (struct sk_chunk){.data = data, .size = SK_CHUNK, .dirty = dirty, .mapped = true};
	return chunk;
}

void sk_unmap_huge(void *data, size_t size)
{
	struct sk_chunk *chunk;
	char *start = data;

	for (; size >= SK_CHUNK && (chunk = new_chunk(start, SK_CHUNK)) != NULL; start += SK_CHUNK, size -= SK_CHUNK)
		sk_chunk_give(chunk);
	if (size)
		munmap(start, size);
}

static char *cut_chunk(void)
{
	if (!area_left) {
		area = sk_map_huge(AREA);
		if (!area)
			return NULL;
		area_left = AREA;
	}
	area_left -= SK_CHUNK;
	area += SK_CHUNK;
	return area - SK_CHUNK;
}

struct sk_chunk *sk_chunk_take(void)
{
	struct sk_chunk *chunk;
	char *fresh = NULL;

	pthread_mutex_lock(&lock);
	chunk = pop_chunk(unused ? &unused : &empty);
	if (!chunk)
		fresh = cut_chunk();
	pthread_mutex_unlock(&lock);
	if (fresh)
		chunk = new_chunk(fresh, 0);
	if (chunk)
		chunk->used = chunk->clean = 0;
	return chunk;
}

void sk_chunk_give(struct sk_chunk *chunk)
{
	if (chunk->used > chunk->dirty)
		chunk->dirty = chunk->used;
	pthread_mutex_lock(&lock);
	push_chunk(&unused, chunk);
	pthread_mutex_unlock(&lock);
}
