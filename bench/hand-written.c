/* The baseline for a superkernel on two cores, run by the same two threads: each kernel here is a launch of two blocks
 * that hand a number to and fro. Every word has 128 bytes of its own. */
#include <stdint.h>

#include "skkernel.h"

enum { HAND_OFFS = 1000 /* even */, WORD = 16 /* of u64: 128 bytes */ };

void empty(const float *x, float *y, int64_t n);

static inline uint64_t load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline void store(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* A block's view of the words: both flags, then for each block the count of its earlier launches. */
struct side {
	uint64_t *own, *other, *count;
};

static struct side side_of(const struct sk_block *block, uint64_t *words)
{
	return (struct side){
		.own = words + block->index * WORD,
		.other = words + (1 - block->index) * WORD,
		.count = words + (2 + block->index) * WORD,
	};
}

/* HAND_OFFS / 2 round trips: each block writes a cache line of its own and waits for the other's. */
SK_KERNEL(round_trip, "blocks; block, inout words u64[64]");
void round_trip(const struct sk_block *block, uint64_t *words)
{
	struct side side = side_of(block, words);
	uint64_t end = *side.count + HAND_OFFS;

	for (uint64_t i = *side.count + block->index; i < end; i += 2) {
		while (load(side.other) < i)
			;
		store(side.own, i + 1);
	}
	*side.count = end;
}

/* The same with one line that both write. Some processors detect such a line and hand it over in half the time; but it
 * can have only two sides, and progress words may be read by all cores. */
SK_KERNEL(one_line, "blocks; block, inout words u64[64]");
void one_line(const struct sk_block *block, uint64_t *words)
{
	struct side side = side_of(block, words);
	uint64_t end = *side.count + HAND_OFFS;

	for (uint64_t i = *side.count + block->index; i < end; i += 2) {
		while (load(words) != i)
			;
		store(words, i + 1);
	}
	*side.count = end;
}

/* A chain of HAND_OFFS calls that alternate between the blocks: wait for the other's flag, call, set one's own. With
 * the pause that the processors' manuals recommend in such loops, which makes it faster. */
SK_KERNEL(flag, "blocks; block, inout words u64[64], inout x f32[n], inout y f32[n], n i64");
void flag(const struct sk_block *block, uint64_t *words, float *x, float *y, int64_t n)
{
	struct side side = side_of(block, words);
	uint64_t end = *side.count + HAND_OFFS;
	float *from = block->index == 0 ? x : y, *to = block->index == 0 ? y : x;

	for (uint64_t i = *side.count + block->index; i < end; i += 2) {
		while (load(side.other) < i)
			__builtin_ia32_pause();
		empty(from, to, n);
		store(side.own, i + 1);
	}
	*side.count = end;
}
