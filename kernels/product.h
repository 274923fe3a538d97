/* product.h: the blocked matrix product of MatMul and Conv, for elements of TYPE and the instruction set that the file
 * is compiled for.
 *
 * y[m,n] = a[m,k] b[k,n]. The core reads b in *panels*: PANEL columns wide, k steps deep, step by step, each step 64
 * bytes of numbers. Rows of a are packed as tiles, so that the numbers that a tile needs for one step of k are
 * adjacent. A tile of the result stays in registers while it goes through DEPTH steps.
 *
 * Each element of y is the sum, in order, over blocks of DEPTH steps, of sums that begin with 0 and add their products
 * in order (fused multiply-adds from v3 on). Its bits therefore depend neither on the tile in which it lies nor on the
 * division of rows among cores. */
#ifndef SK_KERNELS_PRODUCT_H
#define SK_KERNELS_PRODUCT_H

#include "kernels/family.h"
#include "kernels/x86_64-vectors.h"

#include <stddef.h>

typedef STORED(TYPE) element;
typedef COMPUTED(TYPE) number;

/* Steps of k that a tile goes through at a time, so that its columns stay in a first-level cache; and rows packed at a
 * time, so that they stay in a second-level cache. */
#define DEPTH	   256
#define BLOCK_ROWS 264

enum {
	LANES = VECTOR_BYTES / (int)sizeof(number),
	PANEL = 64 / (int)sizeof(number),
	TILE_COLUMNS = TILE_VECTORS * LANES,
	GROUP_COLUMNS = 3 * PANEL, /* columns of panels made at a time: whole tiles */
	CONVERTED = sizeof(element) != sizeof(number),
};

/* Numbers of scratch: packed rows, and panels. Signatures have their sum. */
enum { ROOM_ROWS = 176 * 512, ROOM_PANELS = 48 * 512 };
_Static_assert(BLOCK_ROWS % 8 == 0 && BLOCK_ROWS * DEPTH <= ROOM_ROWS, "ROOM_ROWS");
_Static_assert(GROUP_COLUMNS % TILE_COLUMNS == 0 && GROUP_COLUMNS * DEPTH < ROOM_PANELS, "ROOM_PANELS");

/* The same in signatures: of all kernels that multiply, and, for elements of other types than number, of sums for
 * BLOCK_ROWS rows of so many columns. */
#define ROOM_f32  ", scratch room f32[114688]"
#define ROOM_f64  ", scratch room f64[114688]"
#define ROOM_i32  ", scratch room i32[114688]"
#define ROOM_f16  ROOM_f32
#define ROOM_bf16 ROOM_f32
#define ROOM_TEXT JOIN(ROOM_, TYPE)
_Static_assert(ROOM_ROWS + ROOM_PANELS == 114688, "ROOM_TEXT");
#define SUMS_f32(columns)  ", sums ptr = null"
#define SUMS_f64(columns)  ", sums ptr = null"
#define SUMS_f16(columns)  ", scratch sums f32[" TEXT(BLOCK_ROWS) "*" columns "]"
#define SUMS_bf16(columns) SUMS_f16(columns)
#define SUMS_TEXT(columns) JOIN(SUMS_, TYPE)(columns)
#define PANEL_f32	   "16"
#define PANEL_f64	   "8"
#define PANEL_f16	   "16"
#define PANEL_bf16	   "16"
#define PANEL_TEXT	   JOIN(PANEL_, TYPE)

/* The operation on a tile's numbers, which may be pairs of 16 bits. */
#ifdef ADDS_PAIRS
#define MULTIPLY_ADD ADD_PAIRS
#else
#define MULTIPLY_ADD FUSED
#endif

typedef number vector __attribute__((vector_size(VECTOR_BYTES), may_alias, aligned(sizeof(number))));
typedef number four __attribute__((vector_size(4 * sizeof(number)), may_alias, aligned(sizeof(number))));

#define ALWAYS_INLINE inline __attribute__((always_inline, unused))

static ALWAYS_INLINE size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static ALWAYS_INLINE vector load(const number *from)
{
	return *(const vector *)from;
}

static ALWAYS_INLINE void store(number *to, vector value)
{
	*(vector *)to = value;
}

/* Return the elements as numbers: in place, or in the buffer. */
static ALWAYS_INLINE const number *as_numbers(const element *from, size_t count, number *buffer)
{
	if (!CONVERTED)
		return (const number *)from;
	for (size_t i = 0; i < count; i++)
		buffer[i] = LOAD(TYPE, from[i]);
	return buffer;
}

/* ---- one tile ---- */

/* Inputs and result of a tile. */
struct tile {
	const number *a;
	size_t a_step; /* numbers from one step to the next */
	const number *b; /* the panel with the first column */
	size_t lead; /* columns before that one in the panel */
	size_t b_panel, b_step; /* numbers from a panel, a step to the next */
	const char *ahead; /* data needed later: 64 bytes are fetched for each step */
	size_t ahead_step; /* bytes from one step to the next */
	size_t depth;
	number *c;
	size_t c_row;
	const number *start; /* initial sums of each row; NULL: 0 */
	int add; /* add to c */
};

/* Store each vector with its new value for c. */
#define PUT_SUMS(value)                                                                                                \
	_Pragma("GCC unroll 8") for (int r = 0; r < rows; r++)                                                         \
		_Pragma("GCC unroll 4") for (int v = 0; v < vectors; v++)                                              \
	{                                                                                                              \
		number *to = c + r * c_row + v * LANES;                                                                \
		store(to, value);                                                                                      \
	}

/* rows and vectors are constants wherever this is inlined. */
static ALWAYS_INLINE void multiply_tile(const struct tile *tile, const int rows, const int vectors)
{
	vector sums[TILE_ROWS][TILE_VECTORS] = {};
	const number *a = tile->a, *b = tile->b, *start = tile->start;
	const char *ahead = tile->ahead;
	const size_t a_step = tile->a_step, b_step = tile->b_step, c_row = tile->c_row, ahead_step = tile->ahead_step;
	size_t places[TILE_VECTORS], left = tile->depth;
	number *c = tile->c;

#pragma GCC unroll 4
	for (int v = 0; v < vectors; v++)
		places[v] = (tile->lead + v * LANES) / PANEL * tile->b_panel + (tile->lead + v * LANES) % PANEL;
		/* The numbers of c are fetched meanwhile, some rows at a time: all at once would delay the current
		 * reads. */
#pragma GCC unroll 1
	for (int first = 0; first < rows; first += FETCHED_ROWS) {
		size_t steps = first + FETCHED_ROWS < rows ? tile->depth / 8 : left;

#pragma GCC unroll 4
		for (int r = 0; r < FETCHED_ROWS; r++)
#pragma GCC unroll 4
			for (int v = 0; v < vectors; v += 64 / VECTOR_BYTES)
				__builtin_prefetch(c + (first + r) * c_row + v * LANES, 1, 3);
		left -= steps;
		for (; steps; steps--) {
			vector right[TILE_VECTORS];
#pragma GCC unroll 4
			for (int v = 0; v < vectors; v++)
				right[v] = load(b + places[v]);
#pragma GCC unroll 8
			for (int r = 0; r < rows; r++) {
				vector factor = a[r] - (vector){};
#pragma GCC unroll 4
				for (int v = 0; v < vectors; v++)
					sums[r][v] = MULTIPLY_ADD(factor, right[v], sums[r][v]);
			}
			__builtin_prefetch(ahead, 0, 2);
			ahead += ahead_step;
			a += a_step;
			b += b_step;
		}
	}
	if (tile->add)
		PUT_SUMS(load(to) + sums[r][v])
	else if (start)
		PUT_SUMS(sums[r][v] + start[r])
	else
		PUT_SUMS(sums[r][v])
}

#define TILE_OF(rows)                                                                                                  \
	case rows:                                                                                                     \
		multiply_tile(tile, rows, vectors);                                                                    \
		break;

static ALWAYS_INLINE void multiply_rows(const struct tile *tile, unsigned rows, const int vectors)
{
	switch (rows) {
		TILE_OF(1)
		TILE_OF(2)
		TILE_OF(3)
		TILE_OF(4)
#if TILE_ROWS > 4
		TILE_OF(5)
		TILE_OF(6)
#endif
#if TILE_ROWS > 6
		TILE_OF(7)
		TILE_OF(8)
#endif
	}
}

/* Use only as many vectors as the columns need: there may be no panel after theirs. The loops take 5 % longer with AVX2
 * if they begin in the middle of a cache line, and in a package the function begins right after the one before it. */
static __attribute__((noinline, aligned(64))) void multiply_columns(const struct tile *tile, unsigned rows,
								    unsigned columns)
{
	if (columns <= LANES)
		multiply_rows(tile, rows, 1);
#if TILE_VECTORS > 2
	else if (columns <= 2 * LANES)
		multiply_rows(tile, rows, 2);
#endif
	else
		multiply_rows(tile, rows, TILE_VECTORS);
}

/* Columns that are not whole vectors go through a buffer. */
static __attribute__((noinline)) void multiply_edge(const struct tile *tile, unsigned rows, unsigned columns)
{
	number buffer[TILE_ROWS * TILE_COLUMNS] __attribute__((aligned(64)));
	struct tile inner = *tile;

	inner.c = buffer;
	inner.c_row = TILE_COLUMNS;
	inner.add = 0;
	if (tile->add)
		inner.start = 0;
	multiply_columns(&inner, rows, columns);
	for (unsigned r = 0; r < rows; r++)
		for (unsigned c = 0; c < columns; c++) {
			number *to = tile->c + r * tile->c_row + c, sum = buffer[r * TILE_COLUMNS + c];
			*to = tile->add ? *to + sum : sum;
		}
}

/* ---- packing ---- */

#define PICK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)

/* Four steps of four lines, from `step` on, lines side by side. */
static ALWAYS_INLINE void turn(const number *const *lines, size_t step, number *to, size_t width)
{
	four a = *(const four *)(lines[0] + step), b = *(const four *)(lines[1] + step);
	four c = *(const four *)(lines[2] + step), d = *(const four *)(lines[3] + step);
	four ab = PICK(a, b, 0, 4, 1, 5), ab_high = PICK(a, b, 2, 6, 3, 7);
	four cd = PICK(c, d, 0, 4, 1, 5), cd_high = PICK(c, d, 2, 6, 3, 7);

	*(four *)(to + 0 * width) = PICK(ab, cd, 0, 1, 4, 5);
	*(four *)(to + 1 * width) = PICK(ab, cd, 2, 3, 6, 7);
	*(four *)(to + 2 * width) = PICK(ab_high, cd_high, 0, 1, 4, 5);
	*(four *)(to + 3 * width) = PICK(ab_high, cd_high, 2, 3, 6, 7);
}

/* The places of a matrix's elements: `line` elements from one line to the next, `step` from one step of k to the next.
 * Lines are the rows of a, and the columns of b. */
struct matrix {
	const element *at;
	size_t line, step;
};

/* Copy the numbers of so many lines, side by side in steps of `width` numbers. Numbers of a step beyond the lines
 * repeat one. */
static ALWAYS_INLINE void pack_lines(struct matrix from, size_t lines, size_t depth, number *to, const unsigned width)
{
	number buffer[CONVERTED ? 4 * DEPTH : 1];

	for (size_t line = 0; line < width; line += 4) {
		const number *at[4];
		size_t p = 0;

		for (size_t i = 0; from.step == 1 && i < 4; i++)
			at[i] = as_numbers(from.at + least(line + i, lines - 1) * from.line, depth,
					   buffer + (CONVERTED ? i * DEPTH : 0));
		for (; from.step == 1 && p + 4 <= depth; p += 4)
			turn(at, p, to + p * width + line, width);
		for (; p < depth; p++)
			for (size_t i = 0; i < 4; i++)
				to[p * width + line + i] =
					LOAD(TYPE, from.at[least(line + i, lines - 1) * from.line + p * from.step]);
	}
}

/* The same for adjacent lines, without reading past the last one. */
static ALWAYS_INLINE void pack_adjacent(struct matrix from, size_t lines, size_t depth, number *to,
					const unsigned width)
{
	for (size_t p = 0; p < depth; p++, to += width) {
		const element *step = from.at + p * from.step;
		if (lines == width)
			for (size_t i = 0; i < width; i++)
				to[i] = LOAD(TYPE, step[i]);
		else
			for (size_t i = 0; i < width; i++)
				to[i] = i < lines ? LOAD(TYPE, step[i]) : 0;
	}
}

static ALWAYS_INLINE void pack(struct matrix from, size_t lines, size_t depth, number *to, const unsigned width)
{
	if (from.line == 1)
		pack_adjacent(from, lines, depth, to, width);
	else
		pack_lines(from, lines, depth, to, width);
}

/* ---- the product ---- */

/* The result of PackMatMulB: panels of k steps. */
struct packed {
	const element *at;
	size_t k;
};

struct panels {
	const number *at;
	size_t panel, step; /* numbers from a panel, a step to the next */
	/* Data for later panels, and bytes from one step, and from 64 bytes of a step, to the next. */
	const void *ahead;
	size_t ahead_step, ahead_next;
};

/* Panels one after the other, without data to fetch early. */
static ALWAYS_INLINE struct panels panels_in(const number *at, size_t depth)
{
	return (struct panels){at, depth * PANEL, PANEL, at, 0, 0};
}

/* Return panels with steps [step, step + depth) of the columns from `column` on, made in `room` if necessary. */
typedef struct panels panels_of(const void *context, size_t step, size_t depth, size_t column, size_t columns,
				number *room);

/* Pack steps [step, step + depth) of rows [row, row + rows) as a tile, in steps of ROWS_STRIDE numbers. */
typedef void rows_of(const void *context, size_t step, size_t depth, size_t row, size_t rows, number *to);

/* Change so many sums of a row, from that column on, which are in c. */
typedef void finish_of(const void *context, number *c, size_t row, size_t column, size_t count);

struct product {
	size_t m, n, k;
	size_t depth; /* the most steps at a time; 0: DEPTH */
	/* Rows are those of the matrix, or those that `rows` packs, or those of panels (below) from row `first` on. */
	struct matrix a;
	const void *rows_context;
	rows_of *rows;
	const struct packed *row_panels;
	size_t first;
	const void *b;
	panels_of *panels;
	number *c;
	size_t c_row;
	int add; /* add to c */
	const element *start; /* of each row, or NULL */
	number *room; /* ROOM_SIZE */
	/* Applied to complete sums; NULL: nothing. */
	finish_of *finish;
	const void *finish_context;
};

/* Return the greatest equal parts of at most `most`. The parts of k are the same for every division of rows. */
static ALWAYS_INLINE size_t equal_parts(size_t extent, size_t most)
{
	size_t parts = (extent + most - 1) / most;

	return parts ? (extent + parts - 1) / parts : 1;
}

static ALWAYS_INLINE void multiply_next(struct tile *tile, size_t rows, size_t columns)
{
	if (columns % LANES == 0)
		multiply_columns(tile, rows, columns);
	else
		multiply_edge(tile, rows, columns);
	tile->c += rows * tile->c_row;
	tile->start += tile->start ? rows : 0;
}

/* Multiply tiles from top to bottom. The first ones fetch later data, 64 bytes of each step. */
static ALWAYS_INLINE void multiply_tiles(struct tile *tile, size_t rows, size_t height, size_t columns,
					 size_t ahead_next)
{
	for (size_t row = 0, count = 1; row < rows; row += height, count++) {
		multiply_next(tile, least(height, rows - row), columns);
		tile->a += tile->depth * ROWS_STRIDE;
		tile->ahead += count < GROUP_COLUMNS / PANEL ? ahead_next : 0;
	}
}

/* The same, with rows in panels, from row `at` on. The data fetched early, if any, is rows. */
static ALWAYS_INLINE void multiply_panel_rows(struct tile *tile, const struct packed *panels, size_t step, size_t at,
					      size_t rows, size_t columns, size_t ahead_next)
{
	size_t count = 1;

	for (size_t end = at + rows, own; at < end; at += own, count++) {
		own = least(least(TILE_ROWS, PANEL - at % PANEL), end - at);
		tile->a = (const number *)panels->at + (at / PANEL * panels->k + step) * PANEL + at % PANEL;
		if (!ahead_next) {
			tile->ahead = (const char *)(tile->a + panels->k * PANEL);
			tile->ahead_step = PANEL * sizeof(number);
		}
		multiply_next(tile, own, columns);
		tile->ahead += count < GROUP_COLUMNS / PANEL ? ahead_next : 0;
	}
}

static ALWAYS_INLINE void pack_rows(const struct product *product, size_t top, size_t rows, size_t height, size_t step,
				    size_t depth)
{
	struct matrix a = product->a;
	number *to = product->room;

	for (size_t row = 0; row < rows; row += height, to += depth * ROWS_STRIDE) {
		size_t own = least(height, rows - row);
		if (product->rows) {
			product->rows(product->rows_context, step, depth, top + row, own, to);
			continue;
		}
		a.at = product->a.at + (top + row) * a.line + step * a.step;
		pack(a, own, depth, to, ROWS_STRIDE);
	}
}

/* Add the steps [step, step + depth) to the rows [top, top + rows), which go to c. */
static ALWAYS_INLINE void multiply_block(const struct product *product, size_t top, size_t rows, size_t step,
					 size_t depth, const number *start, number *c)
{
	size_t height = equal_parts(rows, TILE_ROWS); /* of tiles */

	if (!product->row_panels)
		pack_rows(product, top, rows, height, step, depth);
	for (size_t column = 0; column < product->n; column += GROUP_COLUMNS) {
		size_t columns = least(GROUP_COLUMNS, product->n - column);
		struct panels panels =
			product->panels(product->b, step, depth, column, columns, product->room + ROOM_ROWS);
		for (size_t first = 0; first < columns; first += TILE_COLUMNS) {
			struct tile tile = {.a = product->room,
					    .a_step = product->row_panels ? PANEL : ROWS_STRIDE,
					    .b = panels.at + first / PANEL * panels.panel,
					    .lead = TILE_COLUMNS % PANEL ? first % PANEL : 0,
					    .b_panel = panels.panel,
					    .b_step = panels.step,
					    .ahead = panels.ahead,
					    .ahead_step = panels.ahead_step,
					    .depth = depth,
					    .c = c + column + first,
					    .c_row = product->c_row,
					    .start = start,
					    .add = product->add || step > 0};
			size_t own = least(TILE_COLUMNS, columns - first);
			if (product->row_panels)
				multiply_panel_rows(&tile, product->row_panels, step, product->first + top, rows, own,
						    panels.ahead_next);
			else
				multiply_tiles(&tile, rows, height, own, panels.ahead_next);
		}
		for (size_t row = 0; product->finish && step + depth == product->k && row < rows; row++)
			product->finish(product->finish_context, c + row * product->c_row + column, top + row, column,
					columns);
	}
}

static ALWAYS_INLINE void multiply_top(const struct product *product, size_t top, size_t rows, number *c)
{
	number buffer[CONVERTED ? BLOCK_ROWS : 1];
	const number *start = product->start ? as_numbers(product->start + top, rows, buffer) : 0;
	size_t depth = equal_parts(product->k, product->depth ? product->depth : DEPTH);

	for (size_t step = 0; step < product->k; step += depth)
		multiply_block(product, top, rows, step, least(depth, product->k - step), start, c);
	for (size_t row = 0; !product->k && !product->add && row < rows; row++)
		for (size_t column = 0; column < product->n; column++)
			c[row * product->c_row + column] = start ? start[row] : 0;
}

static ALWAYS_INLINE void multiply(const struct product *product)
{
	size_t rows = equal_parts(product->m, BLOCK_ROWS);

	for (size_t top = 0; top < product->m; top += rows)
		multiply_top(product, top, least(rows, product->m - top), product->c + top * product->c_row);
}

/* The same, with a result of elements in rows of length c_row = n; product->c has room for BLOCK_ROWS of them. */
static ALWAYS_INLINE void multiply_converted(const struct product *product, element *c)
{
	size_t block = equal_parts(product->m, BLOCK_ROWS);

	for (size_t top = 0; top < product->m; top += block) {
		size_t rows = least(block, product->m - top);
		multiply_top(product, top, rows, product->c);
		for (size_t i = 0; i < rows * product->n; i++)
			c[top * product->n + i] = STORE(TYPE, product->c[i]);
	}
}

/* ---- sources of b ---- */

/* Adjacent columns, so that a step is one piece. */
static ALWAYS_INLINE void pack_steps(const struct matrix *from, size_t columns, size_t depth, number *to)
{
	for (size_t p = 0; p < depth; p++, to += GROUP_COLUMNS) {
		const element *step = from->at + p * from->step;
		if (columns == GROUP_COLUMNS)
			for (size_t i = 0; i < GROUP_COLUMNS; i++)
				to[i] = LOAD(TYPE, step[i]);
		else
			for (size_t i = 0; i < GROUP_COLUMNS; i++)
				to[i] = i < columns ? LOAD(TYPE, step[i]) : 0;
	}
}

/* A matrix in place. */
static ALWAYS_INLINE struct panels panels_of_matrix(const void *context, size_t step, size_t depth, size_t column,
						    size_t columns, number *room)
{
	struct matrix b = *(const struct matrix *)context;

	b.at += step * b.step + column * b.line;
	if (b.line == 1) {
		pack_steps(&b, columns, depth, room);
		return (struct panels){room, PANEL, GROUP_COLUMNS, b.at + GROUP_COLUMNS, b.step * sizeof(element), 64};
	}
	for (size_t first = 0; first < columns; first += PANEL)
		pack_lines((struct matrix){b.at + first * b.line, b.line, b.step}, least(PANEL, columns - first), depth,
			   room + first * depth, PANEL);
	return (struct panels){room, depth * PANEL, PANEL, b.at + GROUP_COLUMNS * b.line, 64, b.line * sizeof(element)};
}

static ALWAYS_INLINE struct panels panels_of_packed(const void *context, size_t step, size_t depth, size_t column,
						    size_t columns, number *room)
{
	const struct packed *b = context;
	const element *at = b->at + column / PANEL * b->k * PANEL + step * PANEL;
	const element *ahead = at + GROUP_COLUMNS * b->k;
	const size_t ahead_step = PANEL * sizeof(element), ahead_next = b->k * ahead_step;

	if (!CONVERTED)
		return (struct panels){(const number *)at, b->k * PANEL, PANEL, ahead, ahead_step, ahead_next};
	for (size_t first = 0; first < columns; first += PANEL)
		as_numbers(at + first * b->k, depth * PANEL, room + first * depth);
	return (struct panels){room, depth * PANEL, PANEL, ahead, ahead_step, ahead_next};
}

/* ---- vectors ---- */

enum { STRIP = 1024 }; /* numbers at a time, when converting or summing up */

#ifndef ADDS_PAIRS
/* Four vectors of sums of the products, and the rest after them. */
static ALWAYS_INLINE number dot(const element *a, const element *b, size_t k)
{
	vector sum[4] = {};
	number rest = 0, total = 0, left_buffer[CONVERTED ? STRIP : 1], right_buffer[CONVERTED ? STRIP : 1];

	for (size_t p = 0; p < k; p += STRIP) {
		size_t count = least(STRIP, k - p), i = 0;
		const number *left = as_numbers(a + p, count, left_buffer),
			     *right = as_numbers(b + p, count, right_buffer);
		for (; i + 4 * LANES <= count; i += 4 * LANES)
#pragma GCC unroll 4
			for (int v = 0; v < 4; v++)
				sum[v] = FUSED(load(left + i + v * LANES), load(right + i + v * LANES), sum[v]);
		for (; i < count; i++)
			rest = FUSED_NUMBER(left[i], right[i], rest);
	}
	vector all = (sum[0] + sum[1]) + (sum[2] + sum[3]);
	for (int i = 0; i < LANES; i++)
		total += all[i];
	return total + rest;
}

#endif

#endif
