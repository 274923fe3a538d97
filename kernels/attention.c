/* attention.c: y = softmax(scale q k' + mask) v, without a matrix of scores. Rows of q and y are those of all heads of
 * all batches, one behind the other; a head's keys and values are rows of k and v, `k_strides` and `v_strides` elements
 * from one batch, head and row to the next, and `group` heads share them.
 *
 * As many as ROWS queries that share keys go through these at a time, in blocks of KEYS, which are packed for them as
 * products do it; where few queries share keys, each score is a sum along its key. Of each query the kernel keeps the
 * largest score so far, and sums of exponentials and of values relative to it, which a larger one scales down. What a
 * row is computed from, and in which order, depends neither on the rows beside it nor on cores.
 *
 * Keys of batch b from lengths[b] on, those that a causal query is in front of, and those behind the mask's end do not
 * take part: they are not read, or have no effect whatever they are. A row that no key is left for is 0. The mask
 * counts if mask_keys is not 0, lengths if `limited` is not.
 *
 * variants: OP=Attention TYPE=floats ISA=base,v3,v4
 */
#include "kernels/math.h"
#include "kernels/product.h"

enum {
	ROWS = 64,
	TILE = 4, /* of them at a time in registers */
	FEW = 4, /* fewer queries that share keys do not make up for packing these */
	KEYS = 64,
	ABREAST = 8, /* of them at a time where a query has them for itself */
	PARTS = 64 / (int)sizeof(number), /* partial sums along keys */
	ROOM_OF_Q = (ROWS + TILE_ROWS - 1) / TILE_ROWS * ROWS_STRIDE, /* numbers for each of d */
};
_Static_assert(ROOM_OF_Q == 64 && KEYS % TILE_ROWS == 0 && KEYS % PANEL == 0, "the signature");

struct heads {
	const element *k, *v, *mask;
	const int64_t *lengths; /* by batch */
	const int64_t *k_strides, *v_strides, *mask_strides; /* of batch, head and row */
	int64_t heads, group, queries, keys, mask_keys; /* queries: of each head */
	int64_t causal, past; /* keys in front of the first query */
	number softcap;
};

/* Some rows with the same keys, and what is known of them. */
struct block {
	size_t rows, d, e;
	int packs; /* whether keys are packed, and queries in tiles */
	int64_t row; /* the first one, of all */
	int64_t limits[ROWS]; /* keys that take part come before this one */
	number *q, *scores, *sums; /* [ROWS, d], [ROWS, KEYS], [ROWS, e] */
	number *buffer; /* [KEYS, d or e], for panels of keys, and for elements that are no numbers */
	number most[ROWS], scaled[ROWS]; /* the largest score; what sums are to be multiplied by */
	number totals[ROWS][PARTS];
};

static ALWAYS_INLINE number total(const number *parts, int count)
{
	number sums[64];

	for (int i = 0; i < count; i++)
		sums[i] = parts[i];
	for (int half = count / 2; half; half /= 2)
		for (int i = 0; i < half; i++)
			sums[i] += sums[i + half];
	return sums[0];
}

/* ---- scores ---- */

/* `keys` is a constant wherever this is inlined. */
static ALWAYS_INLINE void score_keys(const number *q, size_t d, const number *k, size_t k_row, number *scores,
				     const int keys)
{
	vector sum[ABREAST] = {};
	size_t i = 0;

	for (; i + LANES <= d; i += LANES)
#pragma GCC unroll 8
		for (int j = 0; j < keys; j++)
			sum[j] = FUSED(load(q + i), load(k + j * k_row + i), sum[j]);
#pragma GCC unroll 8
	for (int j = 0; j < keys; j++) {
		number parts[LANES], rest = 0;

		store(parts, sum[j]);
		for (size_t p = i; p < d; p++)
			rest = FUSED_NUMBER(q[p], k[j * k_row + p], rest);
		scores[j] = total(parts, LANES) + rest;
	}
}

static ALWAYS_INLINE void score_row(const struct block *block, size_t r, const number *k, size_t k_row, size_t keys)
{
	const number *q = block->q + r * block->d;
	number *scores = block->scores + r * KEYS;
	size_t j = 0;

	for (; j + ABREAST <= keys; j += ABREAST)
		score_keys(q, block->d, k + j * k_row, k_row, scores + j, ABREAST);
	for (; j < keys; j++)
		score_keys(q, block->d, k + j * k_row, k_row, scores + j, 1);
}

/* Lines of any length, as tiles and panels have them. */
static ALWAYS_INLINE void pack_whole(struct matrix from, size_t lines, size_t depth, number *to, const unsigned width)
{
	for (size_t step = 0; step < depth; step += DEPTH, from.at += DEPTH)
		pack_lines(from, lines, least(DEPTH, depth - step), to + step * width, width);
}

/* Scores of all rows, with keys that are `k_row` elements apart. */
static ALWAYS_INLINE void score_block(const struct block *block, const element *k, size_t k_row, size_t keys)
{
	size_t d = block->d, columns = (keys + LANES - 1) / LANES * LANES;

	for (size_t first = 0; first < keys; first += PANEL)
		pack_whole((struct matrix){k + first * k_row, k_row, 1}, least(PANEL, keys - first), d,
			   block->buffer + first * d, PANEL);
	for (size_t column = 0; column < columns; column += TILE_COLUMNS) {
		struct tile tile = {.a = block->q,
				    .a_step = ROWS_STRIDE,
				    .b = block->buffer + column / PANEL * PANEL * d,
				    .lead = column % PANEL,
				    .b_panel = d * PANEL,
				    .b_step = PANEL,
				    .ahead = (const char *)block->scores,
				    .depth = d,
				    .c = block->scores + column,
				    .c_row = KEYS};

		for (size_t row = 0; row < block->rows; row += TILE_ROWS) {
			multiply_columns(&tile, least(TILE_ROWS, block->rows - row),
					 least(TILE_COLUMNS, columns - column));
			tile.a += d * ROWS_STRIDE;
			tile.c += TILE_ROWS * KEYS;
		}
	}
}

/* Rows of elements that lie `stride` apart, as numbers, `*row` apart. */
static ALWAYS_INLINE const number *rows_as_numbers(const element *from, size_t rows, size_t width, size_t stride,
						   number *buffer, size_t *row)
{
	*row = CONVERTED ? width : stride;
	for (size_t i = 0; CONVERTED && i < rows; i++)
		as_numbers(from + i * stride, width, buffer + i * width);
	return CONVERTED ? buffer : (const number *)from;
}

/* ---- from scores to exponentials ---- */

/* Scores of a row's `own` first keys, limited and masked; the others take no part. */
static ALWAYS_INLINE void mask_row(const struct heads *heads, int64_t row, int64_t first, int64_t own, int64_t width,
				   number *scores)
{
	int64_t query = row % heads->queries, head = row / heads->queries;
	const element *mask = heads->mask;

	if (heads->softcap != 0) {
		INDEPENDENT
		for (int64_t j = 0; j < own; j++)
			scores[j] = heads->softcap * MATH(tanh)(scores[j] / heads->softcap);
	}
	if (mask) {
		mask += head / heads->heads * heads->mask_strides[0] + head % heads->heads * heads->mask_strides[1] +
			query * heads->mask_strides[2] + first;
		INDEPENDENT
		for (int64_t j = 0; j < own; j++)
			scores[j] += LOAD(TYPE, mask[j]);
	}
	for (int64_t j = own; j < width; j++)
		scores[j] = SMALLEST(TYPE);
}

static ALWAYS_INLINE number largest(const number *scores, size_t width, number most)
{
	number parts[PARTS];

	for (int i = 0; i < PARTS; i++)
		parts[i] = most;
	for (size_t j = 0; j < width; j += PARTS)
		for (int i = 0; i < PARTS; i++)
			parts[i] = scores[j + i] > parts[i] ? scores[j + i] : parts[i];
	for (int half = PARTS / 2; half; half /= 2)
		for (int i = 0; i < half; i++)
			parts[i] = parts[half + i] > parts[i] ? parts[half + i] : parts[i];
	return parts[0];
}

/* Scores of so many keys, whole PARTS, become what values are weighed with. */
static ALWAYS_INLINE void weigh_rows(struct block *block, size_t width)
{
	number most[ROWS], base[ROWS];

	for (size_t r = 0; r < block->rows; r++)
		most[r] = largest(block->scores + r * KEYS, width, block->most[r]);
	INDEPENDENT
	for (size_t r = 0; r < block->rows; r++) {
		/* As long as no key takes part, nothing has to be relative to anything. */
		base[r] = most[r] == SMALLEST(TYPE) ? 0 : most[r];
		block->scaled[r] = MATH(exp)(block->most[r] - base[r]);
		block->most[r] = most[r];
	}
	for (size_t r = 0; r < block->rows; r++) {
		number *scores = block->scores + r * KEYS, *totals = block->totals[r];

		for (int i = 0; i < PARTS; i++)
			totals[i] *= block->scaled[r];
		for (size_t j = 0; j < width; j += PARTS) {
			INDEPENDENT
			for (int i = 0; i < PARTS; i++) {
				scores[j + i] = MATH(exp)(scores[j + i] - base[r]);
				totals[i] += scores[j + i];
			}
		}
	}
}

/* ---- values ---- */

static ALWAYS_INLINE void add_columns(const struct block *block, size_t r, size_t column, const number *v, size_t v_row,
				      size_t keys, const int rows, const int vectors)
{
	number *to = block->sums + r * block->e + column;
	const number *weights = block->scores + r * KEYS;
	vector sums[TILE][8];

#pragma GCC unroll 4
	for (int i = 0; i < rows; i++)
#pragma GCC unroll 8
		for (int c = 0; c < vectors; c++)
			sums[i][c] = load(to + i * block->e + c * LANES) * block->scaled[r + i];
	for (size_t j = 0; j < keys; j++) {
		vector value[8];
#pragma GCC unroll 8
		for (int c = 0; c < vectors; c++)
			value[c] = load(v + j * v_row + column + c * LANES);
#pragma GCC unroll 4
		for (int i = 0; i < rows; i++) {
			vector weight = weights[i * KEYS + j] - (vector){};
#pragma GCC unroll 8
			for (int c = 0; c < vectors; c++)
				sums[i][c] = FUSED(weight, value[c], sums[i][c]);
		}
	}
#pragma GCC unroll 4
	for (int i = 0; i < rows; i++)
#pragma GCC unroll 8
		for (int c = 0; c < vectors; c++)
			store(to + i * block->e + c * LANES, sums[i][c]);
}

static ALWAYS_INLINE void add_rows(const struct block *block, size_t r, const number *v, size_t v_row, size_t keys,
				   const int rows, const int vectors)
{
	size_t column = 0;

	for (; column + vectors * LANES <= block->e; column += vectors * LANES)
		add_columns(block, r, column, v, v_row, keys, rows, vectors);
	for (; column + LANES <= block->e; column += LANES)
		add_columns(block, r, column, v, v_row, keys, rows, 1);
	for (; column < block->e; column++)
		for (int i = 0; i < rows; i++) {
			number *to = block->sums + (r + i) * block->e + column, sum = *to * block->scaled[r + i];
			for (size_t j = 0; j < keys; j++)
				sum = FUSED_NUMBER(block->scores[(r + i) * KEYS + j], v[j * v_row + column], sum);
			*to = sum;
		}
}

/* ---- blocks ---- */

/* How many of the keys from `first` on take part in row r. */
static ALWAYS_INLINE int64_t own_keys(const struct block *block, size_t r, int64_t first)
{
	int64_t own = block->limits[r] - first;

	return own < 0 ? 0 : own < KEYS ? own : KEYS;
}

/* Takes the keys [first, first + keys) in. */
static ALWAYS_INLINE void take_keys(const struct heads *heads, struct block *block, const element *k, const element *v,
				    int64_t first, size_t keys)
{
	size_t k_row, v_row, r = 0, width = (keys + PARTS - 1) / PARTS * PARTS;
	const number *from;

	if (block->packs) {
		score_block(block, k + first * heads->k_strides[2], heads->k_strides[2], keys);
	} else {
		from = rows_as_numbers(k + first * heads->k_strides[2], keys, block->d, heads->k_strides[2],
				       block->buffer, &k_row);
		for (; r < block->rows; r++)
			score_row(block, r, from, k_row, keys);
	}
	for (r = 0; r < block->rows; r++)
		mask_row(heads, block->row + r, first, own_keys(block, r, first), width, block->scores + r * KEYS);
	weigh_rows(block, width);
	from = rows_as_numbers(v + first * heads->v_strides[2], keys, block->e, heads->v_strides[2], block->buffer,
			       &v_row);
	for (r = 0; r + TILE <= block->rows; r += TILE) {
		size_t whole = 0;

		while (whole < TILE && own_keys(block, r + whole, first) == (int64_t)keys)
			whole++;
		if (whole == TILE)
			add_rows(block, r, from, v_row, keys, TILE, 2);
		for (size_t i = 0; i < TILE && whole < TILE; i++)
			add_rows(block, r + i, from, v_row, own_keys(block, r + i, first), 1, 8);
	}
	for (; r < block->rows; r++)
		add_rows(block, r, from, v_row, own_keys(block, r, first), 1, 8);
}

/* The first key that takes no part in a row any more. */
static ALWAYS_INLINE int64_t limit_of(const struct heads *heads, int64_t row)
{
	int64_t batch = row / heads->queries / heads->heads, query = row % heads->queries;
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

static ALWAYS_INLINE void take_queries(struct block *block, const element *q, number scale)
{
	size_t d = block->d;

	for (size_t i = 0; !block->packs && i < block->rows * d; i++)
		block->q[i] = LOAD(TYPE, q[i]) * scale;
	for (size_t row = 0; block->packs && row < block->rows; row += TILE_ROWS) {
		number *tile = block->q + row / TILE_ROWS * ROWS_STRIDE * d;

		pack_whole((struct matrix){q + row * d, d, 1}, least(TILE_ROWS, block->rows - row), d, tile,
			   ROWS_STRIDE);
		for (size_t i = 0; i < ROWS_STRIDE * d; i++)
			tile[i] *= scale;
	}
}

static ALWAYS_INLINE void attend(const struct heads *heads, struct block *block, const element *q, element *y,
				 number scale)
{
	int64_t head = block->row / heads->queries, batch = head / heads->heads, most = 0;
	int64_t shared = head % heads->heads / heads->group;
	const element *k = heads->k + batch * heads->k_strides[0] + shared * heads->k_strides[1];
	const element *v = heads->v + batch * heads->v_strides[0] + shared * heads->v_strides[1];

	take_queries(block, q, scale);
	for (size_t i = 0; i < block->rows * block->e; i++)
		block->sums[i] = 0;
	for (size_t r = 0; r < block->rows; r++) {
		block->most[r] = SMALLEST(TYPE);
		for (int i = 0; i < PARTS; i++)
			block->totals[r][i] = 0;
		block->limits[r] = limit_of(heads, block->row + r);
		most = block->limits[r] > most ? block->limits[r] : most;
	}
	for (int64_t first = 0; first < most; first += KEYS)
		take_keys(heads, block, k, v, first, least(KEYS, most - first));
	for (size_t r = 0; r < block->rows; r++) {
		number all = total(block->totals[r], PARTS);

		for (size_t i = r * block->e; i < (r + 1) * block->e; i++)
			y[i] = all == 0 ? 0 : STORE(TYPE, block->sums[i] / all);
	}
}

#define REAL_f32  "f32"
#define REAL_f64  "f64"
#define REAL_f16  "f32"
#define REAL_bf16 "f32"
#define REAL	  JOIN(REAL_, TYPE)
#define T	  TEXT(TYPE)

void KERNEL(const element *q, const element *k, const element *v, const element *mask, const int64_t *lengths,
	    element *y, number *room, int64_t r, int64_t d, int64_t e, int64_t first, int64_t all_heads, int64_t group,
	    int64_t queries, int64_t keys, int64_t mask_keys, int64_t limited, const int64_t *k_strides,
	    const int64_t *v_strides, const int64_t *mask_strides, int64_t causal, int64_t past, number scale,
	    number softcap)
{
	const struct heads heads = {k,
				    v,
				    mask_keys ? mask : 0,
				    limited ? lengths : 0,
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
	struct block block = {.d = d, .e = e, .packs = together >= FEW, .q = room, .sums = room + ROWS * d};

	block.scores = block.sums + ROWS * e;
	block.buffer = block.scores + ROWS * KEYS;
	for (int64_t row = 0; row < r; row += block.rows) {
		block.row = first + row;
		block.rows = least(least(ROWS, r - row), together - block.row % together);
		attend(&heads, &block, q + row * d, y + row * e, scale);
	}
}
SIGNATURE("split=r operations=2*r*attr(keys)*(d+e) op=Attention",
	  "in q " T "[r,d], in k " T "[p], in v " T "[s], in mask " T "[t], in lengths i64[b], out y " T
	  "[r,e], scratch room " REAL "[128*d+128*e+4096], r i64, d i64, e i64, first i64 = begin(r), heads i64 = "
	  "attr(heads), group i64 = attr(group), queries i64 = attr(queries), keys i64 = attr(keys), mask_keys i64 = "
	  "attr(mask_keys, 0), limited i64 = attr(limited, 0), k_strides ptr = attr(k_strides), v_strides ptr = "
	  "attr(v_strides), mask_strides ptr = attr(mask_strides, null), causal i64 = attr(causal, 0), past i64 = "
	  "attr(past, 0), scale " REAL " = attr(scale), softcap " REAL " = attr(softcap, 0)");
