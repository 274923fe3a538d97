/* What a superkernel on two cores is measured against, run by the same two threads: each of these is a launch of two
 * blocks that hand a number to and fro. Each word has 128 bytes of its own. */
#include <stdint.h>

#include "skkernel.h"

enum { HAND_OFFS = 1000, WORD = 16 /* of u64: 128 bytes */ };

void empty(const float *x, float *y, int64_t n);

static inline uint64_t load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline void store(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* HAND_OFFS / 2 round trips of one cache line that both blocks write. Words: the line, each block's count so far. */
SK_KERNEL(round_trip, "blocks; block, inout words u64[48]");
void round_trip(const struct sk_block *block, uint64_t *words)
{
	uint64_t *line = words, *count = words + (1 + block->index) * WORD;
	uint64_t end = *count + HAND_OFFS;

	for (uint64_t i = *count; i < end; i++) {
		if (i % 2 != block->index)
			continue;
		while (load(line) != i)
			;
		store(line, i + 1);
	}
	*count = end;
}

/* A chain of HAND_OFFS calls that alternate between the blocks: wait for the other's flag, call, set one's own. Words:
 * the two flags, each block's count so far. */
SK_KERNEL(flag, "blocks; block, inout words u64[64], inout x f32[n], inout y f32[n], n i64");
void flag(const struct sk_block *block, uint64_t *words, float *x, float *y, int64_t n)
{
	uint64_t *own = words + block->index * WORD, *other = words + (1 - block->index) * WORD;
	uint64_t *count = words + (2 + block->index) * WORD;
	uint64_t end = *count + HAND_OFFS;

	for (uint64_t i = *count + block->index; i < end; i += 2) {
		while (load(other) < i)
			;
		if (block->index == 0)
			empty(x, y, n);
		else
			empty(y, x, n);
		store(own, i + 1);
	}
	*count = end;
}
