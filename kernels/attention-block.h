/* attention-block.h: the state of attention for a block of rows that share keys, the weights of scores, and the
 * masks. */
#ifndef SK_KERNELS_ATTENTION_BLOCK_H
#define SK_KERNELS_ATTENTION_BLOCK_H

#include "kernels/math.h"
#include "kernels/product.h"

enum {
	ROWS = 64,
	KEYS = 64,
	ABREAST = 8, /* keys at a time if a query has its own keys */
	PARTS = 64 / (int)sizeof(number), /* partial sums along keys */
};
_Static_assert(ROWS == 64 && KEYS == 64 && ROWS % LANES == 0 && PARTS <= ROWS, "the signature");

struct heads {
	const element *k, *v, *mask;
	const int64_t *lengths; /* by batch */
	const element *sinks; /* by head; NULL: none */
	const int64_t *k_strides, *v_strides, *mask_strides; /* of batch, head and row */
	int64_t heads, group, queries, keys, mask_keys; /* queries: of each head */
	int64_t causal, past; /* keys before the first query */
	number softcap;
};

/* Some rows with the same keys, and their state. */
struct block {
	size_t rows, d, e;
	size_t columns; /* rows, up to whole vectors: the last ones repeat a row; 1: a row by itself */
	int64_t row; /* the first one, of all */
	int64_t limits[ROWS], shortest; /* exclusive ends of the keys that take part; the least of them */
	number *q, *scores, *sums; /* [d, ROWS], [KEYS, ROWS], [e, ROWS], or of a row by itself [d], [KEYS], [e] */
	number *buffer; /* [KEYS, d or e], for elements of another type than number or with gaps, and for results */
	number most[ROWS], scaled[ROWS]; /* the largest score; the factor for sums */
	number totals[ROWS]; /* or partial ones */
};

/* Return exp(x) for x <= 0, and 0 for results below the normal numbers, so that the exponent is set in one step. */
static ALWAYS_INLINE float weight_f32(float x)
{
	/* The last bits of `shifted` are the exponent's field. */
	float shifted = FUSED_NUMBER(x, 0x1.715476p+0f, 0x1.8p23f + 127), whole = shifted - (0x1.8p23f + 127);
	float rest = FUSED_NUMBER(whole, -0x1.7f7d1cp-20f, FUSED_NUMBER(whole, -0x1.62e4p-1f, x)),
	      sum = 0x1.6d9adcp-10f;

	sum = FUSED_NUMBER(sum, rest, 0x1.12297ep-7f);
	sum = FUSED_NUMBER(sum, rest, 0x1.555484p-5f);
	sum = FUSED_NUMBER(sum, rest, 0x1.5554aep-3f);
	sum = FUSED_NUMBER(sum, rest, 0x1.0p-1f);
	sum = FUSED_NUMBER(sum, rest, 1);
	sum = FUSED_NUMBER(sum, rest, 1);
	return x < -87 ? 0 : sum * from_bits_f32(bits_f32(shifted) << 23);
}

static ALWAYS_INLINE double weight_f64(double x)
{
	return exp_f64(x);
}

/* As long as no key takes part, scores need no base. */
static ALWAYS_INLINE number base_of(number most)
{
	return most == SMALLEST(TYPE) ? 0 : most;
}

/* Return how many of the keys from `first` on come before a limit. */
static ALWAYS_INLINE size_t own_keys(int64_t limit, int64_t first, size_t keys)
{
	return limit < first ? 0 : least(limit - first, keys);
}

/* Return the mask of row r for the keys from `first` on. */
static ALWAYS_INLINE const element *mask_of(const struct heads *heads, const struct block *block, size_t r,
					    int64_t first)
{
	int64_t row = block->row + least(r, block->rows - 1), query = row % heads->queries, head = row / heads->queries;

	return heads->mask + head / heads->heads * heads->mask_strides[0] +
	       head % heads->heads * heads->mask_strides[1] + query * heads->mask_strides[2] + first;
}

#endif
