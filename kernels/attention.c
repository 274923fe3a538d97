/* attention.c: y = softmax(scale q k' + mask) v, without a matrix of scores. Rows of q and y are those of all heads of
 * all batches, one after the other. A head's keys and values are rows of k and v, `k_strides` and `v_strides` elements
 * from one batch, head and row to the next, and `group` heads share them.
 *
 * Up to ROWS queries that share keys are processed together, in blocks of KEYS keys. They are the columns of all
 * matrices: q' of [d, ROWS], scores of [KEYS, ROWS] and sums of [e, ROWS]. Each step therefore applies to a vector of
 * queries, and keys and values need no packing. A query with its own keys is a row, and each score a sum along its key.
 * For each query the kernel keeps the largest score so far, and sums of exponentials and of values relative to it,
 * which a larger score scales down. The inputs of a row and their order depend neither on the rows beside it nor on
 * cores.
 *
 * Keys that do not take part: those of batch b from lengths[b] on, those after a causal query, and those after the
 * mask's end. They are not read, or have no effect whatever their values are. A row without keys is 0. The mask is used
 * if mask_keys is not 0, lengths if `limited` is not. If `sunk` is not 0, `sinks` has for each head the score of one
 * more key with the value 0.
 *
 * variants: OP=Attention TYPE=floats ISA=base,v3,v4
 */
#include "kernels/attention-columns.h"
#include "kernels/attention-row.h"

/* Scores are limited and masked; those of keys that take no part become the least number. */
static ALWAYS_INLINE void mask_scores(const struct heads *heads, const struct block *block, int64_t first, size_t keys)
{
	size_t count = block->columns == 1 ? keys : keys * ROWS;
	number *scores = block->scores;

	if (heads->softcap != 0) {
		INDEPENDENT
		for (size_t i = 0; i < count; i++)
			scores[i] = heads->softcap * MATH(tanh)(scores[i] / heads->softcap);
	}
	if (heads->mask && block->columns > 1)
		add_masks(heads, block, first, keys);
	else if (heads->mask) {
		const element *mask = mask_of(heads, block, 0, first);

		INDEPENDENT
		for (size_t j = 0; j < keys; j++)
			scores[j] += LOAD(TYPE, mask[j]);
	}
	for (size_t r = 0; own_keys(block->shortest, first, keys) < keys && r < block->columns; r++)
		for (size_t j = own_keys(block->limits[r], first, keys); j < keys; j++)
			scores[j * ROWS + r] = SMALLEST(TYPE);
}

/* Return rows of elements that are `stride` apart, as numbers, `*row` apart. Data that many rows read is made
 * contiguous. */
static ALWAYS_INLINE const number *rows_as_numbers(const struct block *block, const element *from, size_t rows,
						   size_t width, size_t stride, size_t *row)
{
	int apart = CONVERTED || (block->columns > 1 && stride != width);

	*row = apart ? width : stride;
	for (size_t i = 0; apart && i < rows; i++)
		for (size_t p = 0; p < width; p++)
			block->buffer[i * width + p] = LOAD(TYPE, from[i * stride + p]);
	return apart ? block->buffer : (const number *)from;
}

/* Process the keys [first, first + keys). */
static ALWAYS_INLINE void take_keys(const struct heads *heads, struct block *block, const element *k, const element *v,
				    int64_t first, size_t keys)
{
	size_t stride = heads->k_strides[2], row;
	const number *from = rows_as_numbers(block, k + first * stride, keys, block->d, stride, &row);

	if (block->columns > 1)
		multiply_whole(from, row, 1, block->q, block->d, block->scores, 0, keys, block->columns);
	else
		score_row(block, from, row, keys);
	mask_scores(heads, block, first, keys);
	stride = heads->v_strides[2];
	from = rows_as_numbers(block, v + first * stride, keys, block->e, stride, &row);
	if (block->columns > 1) {
		weigh_columns(block, keys);
		add_values(block, from, row, first, keys);
	} else {
		weigh_row(block, keys);
		add_row(block, from, row, keys);
	}
}

/* Return the first key that takes no part in a row any more. */
static ALWAYS_INLINE int64_t limit_of(const struct heads *heads, int64_t batch, int64_t query)
{
	int64_t limit = heads->mask && heads->mask_keys < heads->keys ? heads->mask_keys : heads->keys;
	int64_t past = heads->past;

	if (heads->lengths) {
		int64_t length = heads->lengths[batch];

		past = length - heads->queries;
		limit = length < limit ? length : limit;
	}
	if (heads->causal && past + query + 1 < limit)
		limit = past + query + 1;
	return limit < 0 ? 0 : limit;
}

/* Find the limits of all rows; return the greatest one. */
static ALWAYS_INLINE int64_t find_limits(const struct heads *heads, struct block *block, int64_t batch)
{
	int64_t query = block->row % heads->queries, most = 0;

	block->shortest = heads->keys;
	for (size_t r = 0; r < block->columns; r++) {
		int64_t limit = block->limits[r] = limit_of(heads, batch, query);

		most = limit > most ? limit : most;
		block->shortest = limit < block->shortest ? limit : block->shortest;
		if (r + 1 < block->rows && ++query == heads->queries)
			query = 0;
	}
	return most;
}

static ALWAYS_INLINE void take_queries(struct block *block, const element *q, number scale)
{
	size_t d = block->d, count = block->columns == 1 ? d : d * ROWS;

	if (block->columns == 1)
		for (size_t i = 0; i < d; i++)
			block->q[i] = LOAD(TYPE, q[i]);
	for (size_t step = 0; block->columns > 1 && step < d; step += DEPTH)
		pack_lines((struct matrix){q + step, d, 1}, block->rows, least(DEPTH, d - step), block->q + step * ROWS,
			   ROWS);
	for (size_t i = 0; i < count; i++)
		block->q[i] *= scale;
}

/* A sink is the first key. */
static ALWAYS_INLINE void begin_rows(const struct heads *heads, struct block *block)
{
	for (size_t r = 0; r < ROWS; r++) {
		int64_t head = (block->row + least(r, block->rows - 1)) / heads->queries % heads->heads;

		block->most[r] = heads->sinks ? LOAD(TYPE, heads->sinks[head]) : SMALLEST(TYPE);
		block->totals[r] = heads->sinks && (r == 0 || block->columns > 1);
	}
}

static ALWAYS_INLINE void attend(const struct heads *heads, struct block *block, const element *q, element *y,
				 number scale)
{
	int64_t head = block->row / heads->queries, batch = head / heads->heads, most;
	int64_t shared = head % heads->heads / heads->group;
	const element *k = heads->k + batch * heads->k_strides[0] + shared * heads->k_strides[1];
	const element *v = heads->v + batch * heads->v_strides[0] + shared * heads->v_strides[1];

	take_queries(block, q, scale);
	begin_rows(heads, block);
	most = find_limits(heads, block, batch);
	for (size_t i = 0; i < block->e * (block->columns == 1 ? 1 : most ? 0 : ROWS); i++)
		block->sums[i] = 0;
	for (int64_t first = 0; first < most; first += KEYS)
		take_keys(heads, block, k, v, first, least(KEYS, most - first));
	if (block->columns > 1)
		give_columns(block, y);
	else
		give_row(block, y);
}

#define REAL_f32  "f32"
#define REAL_f64  "f64"
#define REAL_f16  "f32"
#define REAL_bf16 "f32"
#define REAL	  JOIN(REAL_, TYPE)
#define T	  TEXT(TYPE)

void KERNEL(const element *q, const element *k, const element *v, const element *mask, const int64_t *lengths,
	    const element *sinks, element *y, number *room, int64_t r, int64_t d, int64_t e, int64_t first,
	    int64_t all_heads, int64_t group, int64_t queries, int64_t keys, int64_t mask_keys, int64_t limited,
	    const int64_t *k_strides, const int64_t *v_strides, const int64_t *mask_strides, int64_t causal,
	    int64_t past, number scale, number softcap, int64_t sunk)
{
	const struct heads heads = {k,
				    v,
				    mask_keys ? mask : 0,
				    limited ? lengths : 0,
				    sunk ? sinks : 0,
				    k_strides,
				    v_strides,
				    mask_strides,
				    all_heads,
				    group,
				    queries,
				    keys,
				    mask_keys,
				    causal,
				    past,
				    softcap};
	int64_t together = group * queries;
	struct block block = {.d = d, .e = e, .q = room, .sums = room + ROWS * d};

	block.scores = block.sums + ROWS * e;
	block.buffer = block.scores + ROWS * KEYS;
	for (int64_t row = 0; row < r; row += block.rows) {
		block.row = first + row;
		block.rows = least(least(ROWS, r - row), together - block.row % together);
		block.columns = together == 1 ? 1 : (block.rows + LANES - 1) / LANES * LANES;
		attend(&heads, &block, q + row * d, y + row * e, scale);
	}
}
SIGNATURE("split=r operations=2*r*attr(keys)*(d+e) op=Attention",
	  "in q " T "[r,d], in k " T "[p], in v " T "[s], in mask " T "[t], in lengths i64[b], in sinks " T
	  "[c], out y " T "[r,e], scratch room " REAL
	  "[128*d+128*e+4096], r i64, d i64, e i64, first i64 = begin(r), heads i64 = "
	  "attr(heads), group i64 = attr(group), queries i64 = attr(queries), keys i64 = attr(keys), mask_keys i64 = "
	  "attr(mask_keys, 0), limited i64 = attr(limited, 0), k_strides ptr = attr(k_strides), v_strides ptr = "
	  "attr(v_strides), mask_strides ptr = attr(mask_strides, null), causal i64 = attr(causal, 0), past i64 = "
	  "attr(past, 0), scale " REAL " = attr(scale), softcap " REAL " = attr(softcap, 0), sunk i64 = attr(sunk, 0)");
