/* Chunks: the large pieces of memory that arenas are made of, on huge pages where the system has some. A chunk that one
 * arena gives back is the next one's, whichever thread it is in: its pages need not be zeroed by the system again, and
 * what a phase of a link needs for itself alone is not added to what the next one needs. So none goes back to the
 * system before the process ends. */
#ifndef SK_CHUNKS_H
#define SK_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>

enum { SK_HUGE_PAGE = 2 << 20, SK_CHUNK = SK_HUGE_PAGE };

struct sk_chunk {
	struct sk_chunk *next;
	char *data;
	size_t size;
	size_t used; /* bytes handed out */
	size_t clean; /* from `used` to here it holds zeros */
	size_t dirty; /* from here on it does, too; what is between has been handed out before */
	bool mapped; /* it is SK_CHUNK bytes large, and goes back to where it is from */
};

/* Zeroed address space of that size, a multiple of the largest page but huge ones, aligned to huge pages. Where it has
 * room for a whole one there is one, if the system has some. NULL: there is no memory. */
void *sk_map_huge(size_t size);

/* The same, unless it is much less than a huge page: what is between its beginning and its end is for chunks. */
void sk_unmap_huge(void *data, size_t size);

/* Pages of that size go back to the system, if nobody uses them: those that are about to be mapped take their place. */
void sk_chunks_empty(size_t size);

/* One that has been used before, if there is one. Nothing of it is handed out. NULL: there is no memory. */
struct sk_chunk *sk_chunk_take(void);
void sk_chunk_give(struct sk_chunk *chunk);

#endif
