/* See network.h. A kernel of the property test is a row of the table here. The row has a function that computes the
 * kernel's result on 64-bit values; the kernel's code is in property-templates.h. */
#include "tests/property/network.h"

#include <stdlib.h>
#include <string.h>

/* ---- the kernels' results ---- */

static void scale(const struct kernel_call *c)
{
	for (uint64_t i = 0; i < c->n; i++)
		c->tensors[1][i] = c->tensors[0][i] * c->sets[0] + 1;
}

static void add(const struct kernel_call *c)
{
	for (uint64_t i = 0; i < c->n; i++)
		c->tensors[2][i] = c->tensors[0][i] + 3 * c->tensors[1][i];
}

static void accumulate(const struct kernel_call *c)
{
	for (uint64_t i = 0; i < c->n; i++)
		c->tensors[1][i] = 3 * c->tensors[1][i] + c->tensors[0][i];
}

static void fill(const struct kernel_call *c)
{
	for (uint64_t i = 0; i < c->n; i++)
		c->tensors[0][i] = c->sets[0];
}

static void look_up(const struct kernel_call *c)
{
	for (uint64_t i = 0; i < c->n; i++)
		c->tensors[2][i] = c->tensors[0][i] + c->tensors[1][c->tensors[0][i] % c->k] + c->sets[0];
}

static void checked(const struct kernel_call *c)
{
	for (uint64_t i = 0; i < c->n; i++)
		c->tensors[1][i] = c->tensors[0][i] ^ 5;
}

static void triple(const struct kernel_call *c)
{
	for (uint64_t i = 0; i < 3 * c->n; i++)
		c->tensors[1][i] = c->tensors[0][i / 3] * (i % 3 + 1);
}

static void third(const struct kernel_call *c)
{
	for (uint64_t i = 0; i < c->n; i++) {
		const uint64_t *x = c->tensors[0] + 3 * i;

		c->tensors[1][i] = x[0] + x[1] + x[2];
	}
}

static void widen(const struct kernel_call *c)
{
	for (uint64_t i = 0; i < c->n; i++)
		c->tensors[1][i] = c->tensors[0][i] * 0x10001 + 1;
}

static void narrow(const struct kernel_call *c)
{
	for (uint64_t i = 0; i < c->n; i++)
		c->tensors[1][i] = c->tensors[0][i] ^ c->tensors[0][i] >> 16;
}

static void add_row(const struct kernel_call *c)
{
	for (uint64_t i = 0; i < c->n; i++)
		c->tensors[2][i] = c->tensors[0][i] + c->tensors[1][i % c->w] * c->sets[0];
}

static void add_column(const struct kernel_call *c)
{
	for (uint64_t i = 0; i < c->n; i++)
		c->tensors[2][i] = c->tensors[0][i] + c->tensors[1][i / c->w];
}

static void row_sums(const struct kernel_call *c)
{
	for (uint64_t i = 0; i < c->r; i++)
		c->tensors[1][i] = 0;
	for (uint64_t i = 0; i < c->n; i++)
		c->tensors[1][i / c->w] += c->tensors[0][i];
}

static void row_scan(const struct kernel_call *c)
{
	for (uint64_t i = 0; i < c->n; i++)
		if (i % c->w)
			c->tensors[0][i] += c->tensors[0][i - 1];
}

static void multiply(const struct kernel_call *c)
{
	for (uint64_t i = 0; i < c->n; i++)
		c->tensors[2][i] = 0;
	for (uint64_t l = 0; l < c->k; l++)
		for (uint64_t i = 0; i < c->n; i++)
			c->tensors[2][i] += c->tensors[0][i / c->w * c->k + l] * c->tensors[1][l * c->w + i % c->w];
}

static void weave(const struct kernel_call *c)
{
	for (uint64_t i = 0; i < c->n; i++)
		c->tensors[1][i] = c->tensors[0][c->n - 1 - i] + i % c->blocks * 7 + c->blocks;
}

static void stride(const struct kernel_call *c)
{
	for (uint64_t i = 0; i < c->n; i++)
		c->tensors[0][i] += i % c->blocks + 1;
}

/* Return the number of the block that has the row in its range: [b * rows / blocks, (b + 1) * rows / blocks). */
static uint64_t block_of(const struct kernel_call *c, uint64_t row)
{
	uint64_t block = 0;

	while (c->r * (block + 1) / c->blocks <= row)
		block++;
	return block;
}

static void number(const struct kernel_call *c)
{
	for (uint64_t i = 0; i < c->n; i++)
		c->tensors[0][i] += 100 * block_of(c, i / c->w) + c->blocks;
}

static void mark_rows(const struct kernel_call *c)
{
	for (uint64_t i = 0; i < c->n; i++)
		c->tensors[2][i] = 3 * c->tensors[0][i] + c->tensors[1][i % c->w] + block_of(c, i / c->w);
}

static void reverse(const struct kernel_call *c)
{
	for (uint64_t i = 0; i < c->n; i++)
		c->tensors[1][c->n - 1 - i] = c->tensors[0][i];
}

static void transpose(const struct kernel_call *c)
{
	for (uint64_t i = 0; i < c->n; i++)
		c->tensors[1][i % c->w * c->r + i / c->w] = c->tensors[0][i];
}

static void sum(const struct kernel_call *c)
{
	c->tensors[1][0] = 0;
	for (uint64_t i = 0; i < c->n; i++)
		c->tensors[1][0] += c->tensors[0][i];
}

static void through_scratch(const struct kernel_call *c)
{
	for (uint64_t i = 0; i < c->n; i++)
		c->tensors[1][i] = c->tensors[0][i] + (uint8_t)(i + 9);
}

static void counted(const struct kernel_call *c)
{
	++*c->state;
	for (uint64_t i = 0; i < c->n; i++)
		c->tensors[1][i] = c->tensors[0][i] + *c->state;
}

static uint64_t advance(const struct kernel_call *c, uint64_t by)
{
	return *c->state = (3 * *c->state + by) & c->mask;
}

static void tally(const struct kernel_call *c)
{
	advance(c, 1);
	for (uint64_t i = 0; i < c->n; i++)
		c->tensors[1][i] = c->tensors[0][i] + *c->state;
}

static void retell(const struct kernel_call *c)
{
	for (uint64_t i = 0; i < c->n; i++)
		c->tensors[0][i] = c->tensors[0][i] * 5 + advance(c, i % 7);
}

static void early_tally(const struct kernel_call *c)
{
	uint64_t first = advance(c, 4);

	for (uint64_t i = 0; i < c->n; i++)
		c->tensors[1][i] = c->tensors[0][i] + first + i % 3 * advance(c, 5);
	advance(c, c->n);
}

/* The C library's generator, with a state that kernels do not reach. */
struct generator {
	struct random_data data;
	char state[128]; /* as much as random() has */
};

static void seed_generator(struct generator *generator, uint64_t seed)
{
	memset(generator, 0, sizeof(*generator));
	initstate_r((unsigned)seed, generator->state, sizeof(generator->state), &generator->data);
}

static uint64_t next_number(struct generator *generator)
{
	int32_t number;

	random_r(&generator->data, &number);
	return (uint64_t)number;
}

static void draw(const struct kernel_call *c)
{
	struct generator generator;

	seed_generator(&generator, c->sets[0]);
	for (uint64_t i = 0; i < c->n; i++)
		c->tensors[0][i] = next_number(&generator);
}

static void early_draw(const struct kernel_call *c)
{
	struct generator generator;

	seed_generator(&generator, c->n);
	for (uint64_t i = 0; i < c->n; i++)
		c->tensors[1][i] = c->tensors[0][i] ^ next_number(&generator);
}

static uint64_t piece_of(const struct kernel_call *c, uint64_t element)
{
	uint64_t block = 0;

	while (c->n * (block + 1) / c->blocks <= element)
		block++;
	return block;
}

static void rotate(const struct kernel_call *c)
{
	for (uint64_t i = 0; i < c->n; i++)
		c->tensors[1][i] = c->tensors[0][i] + 2 * piece_of(c, i);
	for (uint64_t i = 0; i < c->n; i++)
		c->tensors[2][i] = c->tensors[1][i] + c->tensors[1][c->n - 1 - i];
}

static void trade(const struct kernel_call *c)
{
	for (uint64_t i = 0; i < c->n; i++) {
		c->tensors[1][i] = 6 * c->tensors[1][i] + 3 * c->tensors[0][i];
		c->tensors[2][i] = c->tensors[1][i] + piece_of(c, i);
	}
}

/* The second half of each piece, the greater one, gets 1 more each time. */
static void share(const struct kernel_call *c)
{
	for (uint64_t i = 0; i < c->n; i++) {
		uint64_t piece = piece_of(c, i), low = c->n * piece / c->blocks, high = c->n * (piece + 1) / c->blocks;
		uint64_t more = i >= low + (high - low) / 2;

		for (int turn = 0; turn < 2; turn++)
			c->tensors[1][i] = 6 * c->tensors[1][i] + 3 * c->tensors[0][i] + more;
		c->tensors[2][i] = c->tensors[1][i] + c->blocks;
	}
}

static void meet(const struct kernel_call *c)
{
	for (uint64_t i = 0; i < c->n; i++) {
		c->tensors[1][i] = c->tensors[0][i] + 1;
		c->tensors[2][c->n - 1 - i] = c->tensors[1][i];
	}
}

static void early_weave(const struct kernel_call *c)
{
	for (uint64_t i = 0; i < c->n; i++)
		c->tensors[1][i] = c->tensors[0][i] + 3 * (i % c->blocks) + 1;
}

static void stripe(const struct kernel_call *c)
{
	for (uint64_t i = 0; i < c->n; i++)
		c->tensors[1][i] = 2 * c->tensors[0][i] + block_of(c, i / c->w);
}

static void early_rows(const struct kernel_call *c)
{
	for (uint64_t i = 0; i < c->n; i++)
		c->tensors[0][i] = 2 * c->tensors[0][i] + block_of(c, i / c->w);
}

static void early_meeting(const struct kernel_call *c)
{
	for (uint64_t i = 0; i < c->n; i++) {
		c->tensors[1][i] = c->tensors[0][i] + 5;
		c->tensors[2][c->n - 1 - i] = c->tensors[1][i];
	}
}

static void add_index(const struct kernel_call *c)
{
	for (uint64_t i = 0; i < c->n; i++)
		c->tensors[1][i] = c->tensors[0][i] + i;
}

static void add_square(const struct kernel_call *c)
{
	for (uint64_t i = 0; i < c->n; i++)
		c->tensors[1][i] = c->tensors[0][i] + (c->tensors[0][i] % 4) * (c->tensors[0][i] % 4);
}

static void add_odd(const struct kernel_call *c)
{
	for (uint64_t i = 0; i < c->n; i++)
		c->tensors[1][i] = c->tensors[0][i] + 2 * (c->tensors[0][i] % 4) + 1;
}

static void number_rows(const struct kernel_call *c)
{
	for (uint64_t i = 0; i < c->n; i++)
		c->tensors[1][i] = c->tensors[0][i] * 2 + i / c->w * c->w + i % c->w;
}

static void add_rows(const struct kernel_call *c)
{
	for (uint64_t i = 0; i < c->n; i++)
		c->tensors[1][i] = c->tensors[0][i] * 2 + i % c->w;
}

static void three_rows(const struct kernel_call *c)
{
	for (uint64_t i = 0; i < c->n; i++)
		c->tensors[1][i] = c->tensors[0][i] + 2 * c->tensors[0][i + c->w] + 5 * c->tensors[0][i + 2 * c->w];
}

static void window(const struct kernel_call *c)
{
	for (uint64_t i = 0; i < c->n; i++) {
		c->tensors[2][i] = 1;
		for (uint64_t j = 0; j < c->k; j++)
			c->tensors[2][i] += c->tensors[0][i + j] * c->tensors[1][j];
	}
}

static void program(const struct kernel_call *c)
{
	for (uint64_t i = 0; i < c->n; i++)
		c->tensors[1][i] = c->tensors[0][i] + i / 7 + 5 * (i % 3) + (c->n + 6) / 7 + 3;
}

/* ---- the table ---- */

#define SCALE	    "in x T[n], out y@x T[n], n i64, factor u64"
#define BOXED	    "p {in a T[n], q {in b T[n], n i64}*, out y@a T[n]}*"
#define ROWS	    "rows ptr[r] of in x T[r,w], out y T[r,w], r i64, w i64"
#define ADD	    "in a T[n], in b T[n], out y@a T[n], n i64"
#define ACCUMULATE  "in x T[n], inout y T[n], n i64"
#define FILL	    "out y T[n], n i64, value u64"
#define ADD_ROW	    "in x T[r,w], in row T[w], out y@x T[r,w], r i64, w i64, factor u64"
#define ROW_SUMS    "in x T[r,w], out y T[r], r i64, w i64"
#define ROW_SCAN    "inout y T[r,w], r i64, w i64"
#define MULTIPLY    "in a T[r,k], in b T[k,w], out y T[r,w], r i64, k i64, w i64"
#define NUMBER_ROWS "block, in x T[r,w], in row T[w], out y T[r,w], r i64, w i64"

#define FAR	   "in x T[n] at -72, out y@x T[n] at 2147483584, n i64, factor u64"
#define ROWS_FAR   "in x T[r,w:ldx] at -20480, out y@x T[r,w:ldy] at 8, r i64, w i64, ldx i64, ldy i64, factor u64"
#define SCALE_ROWS "in x T[r,w:ldx], out y@x T[r,w:ldy], r i64, w i64, ldx i64, ldy i64, factor u64"
#define ADD_APART  "in x T[r,w:ldx], inout y T[r,w:ldy], r i64, w i64, ldx i64, ldy i64"
#define THREE_ROWS "in x T[r+2,w], out y T[r,w], r i64, w i64"
#define WINDOW	   "in x T[n+k-1], in h T[k], out y T[n], n i64, k i64"
#define PEEK	   "in x T[n]+64, out y@x T[n], n i64"
#define ALIGNED	   "in x T[n], out y@x T[n], n i64, alignment i64 = "

#define REVERSE	      "in x T[n], out y T[n], n i64"
#define LOOK_UP	      "in x T[n], in table T[k], out y T[n], ref n i64, k i64, ref more u64"
#define TRIPLE	      "in x T[n], out y T[n*3], n i64"
#define THIRD	      "in x T[n*3], out y T[n], n i64"
#define WIDEN	      "in x T[n], out y u64[n], n i64"
#define WEAVE	      "block, in x T[n], out y T[n], n i64, scratch note[8]"
#define ROTATE	      "block, in x T[n], out t T[n], out y T[n], n i64"
#define STRIPE	      "block, in x T[r,w:ldx], out y T[r,w:ldy], r i64, w i64, ldx i64, ldy i64"
#define SUM	      "in x T[n], n i64 -> out total T"
#define MULTIPLY_TILE "in a T[r,k], in b T[k,w], out y T[r,w], r i64, k i64, w i64, bytes u64 = sizeof(T)*w"
#define EARLY_WEAVE   "block, in x T[n], out y T[n], n i64"

static struct kernel kernels[] = {
	{"scale", "split=n", SCALE, scale},
	{"scale", "", SCALE, scale},
	{"add", "split=n", ADD, add},
	{"add", "", ADD, add},
	{"accumulate", "split=n", ACCUMULATE, accumulate},
	{"accumulate", "", ACCUMULATE, accumulate},
	{"fill", "split=n", FILL, fill},
	{"fill", "", FILL, fill},
	{"look_up", "split=n", LOOK_UP, look_up},
	{"checked", "split=n", "in x T[n], out y T[n], n i64 -> status", checked},
	{"triple", "split=n", TRIPLE, triple},
	{"third", "split=n", THIRD, third},
	{"widen", "split=n", WIDEN, widen},
	{"widen", "each=n", WIDEN, widen},
	{"narrow", "split=n", "in x u64[n], out y T[n], n i64", narrow},
	{"narrow", "tile=n:64", "in x u64[n], out y T[n], n i64", narrow},
	{"add_row", "split=r", ADD_ROW, add_row},
	{"add_row", "", ADD_ROW, add_row},
	{"add_column", "split=r", "in x T[r,w], in column T[r], out y@x T[r,w], r i64, w i64", add_column},
	{"row_sums", "split=r", ROW_SUMS, row_sums},
	{"row_scan", "split=r", ROW_SCAN, row_scan},
	{"multiply", "split=r", MULTIPLY, multiply},
	{"multiply", "", MULTIPLY, multiply},
	/* Loops around the same functions, and around some that take numbers from expressions. */
	{"add", "tile=n:100", ADD, add},
	{"accumulate", "tile=n:64", ACCUMULATE, accumulate},
	{"scale", "each=n", SCALE, scale},
	{"triple", "tile=n:7", TRIPLE, triple},
	{"third", "tile=n:5", THIRD, third},
	{"add_row", "each=r", ADD_ROW, add_row},
	{"add_column", "tile=r:2", "in x T[r,w], in column T[r], out y@x T[r,w], r i64, w i64", add_column},
	{"row_sums", "tile=r:4", ROW_SUMS, row_sums},
	{"row_scan", "tile=r:3", ROW_SCAN, row_scan},
	{"multiply", "tile=r:6", MULTIPLY, multiply},
	{"multiply_tile", "tile=r:6,w:5", MULTIPLY_TILE, multiply},
	{"scale_bytes", "split=n",
	 "bytes u64 = sizeof(T)*size(n), in x T[n], out y@x T[n], factor u64, none ptr = null", scale},
	{"scale_bytes", "tile=n:17",
	 "bytes u64 = size(n)*sizeof(T), in x T[n], out y@x T[n], factor u64, none ptr = null", scale},
	{"add_index", "split=n", "in x T[n] whole, out y@x T[n] whole, b i64 = begin(n), ref e i64 = end(n)",
	 add_index},
	{"add_index", "each=n", "in x T[n] whole, out y@x T[n] whole, b i64 = begin(n), ref e i64 = begin(n)+1",
	 add_index},
	{"add_index", "tile=r:3",
	 "in x T[r,w] whole, out y T[r,w] whole, b i64 = w*begin(r), ref e i64 = w*begin(r)+w*size(r)", add_index},
	{"number_rows", "each=r,w",
	 "in x T[r,w], out y@x T[r,w], first i64 = w*begin(r)+begin(w), rows i64 = size(r), columns i64 = size(w), "
	 "stride i64 = w",
	 number_rows},
	{"number_rows", "tile=r:4,w:3",
	 "in x T[r,w], out y@x T[r,w], first i64 = w*begin(r)+begin(w), r i64, columns i64 = end(w)-begin(w), stride "
	 "i64 = w",
	 number_rows},
	{"look_at", "split=n", "table ptr = &property_squares, in x T[n], out y@x T[n], n i64", add_square},
	{"look_at", "tile=n:33", "table ptr = &property_odds, in x T[n], out y@x T[n], n i64", add_odd},
	{"look_at", "each=n", "table ptr = &property_odds, in x T[n], out y@x T[n], n i64", add_odd},
	{"look_at", "", "table ptr = &property_squares, in x T[n], out y@x T[n], n i64", add_square},
	{"look_at", "align=4", "table ptr = &property_odds, in x T[n]+16, out y@x T[n], n i64", add_odd},
	{"program", "grid=(n+6)/7,3",
	 "in x T[n], out y T[n], n i64, p i64 = block.index.x, q u8 = block.index.y, ps u64 = "
	 "block.count/block.count.y, qs i16 = block.count.y",
	 program},
	{"stride_number", "blocks", "i u32 = block.index, inout y T[n], n i64, count i64 = block.count", stride},
	/* Rows apart, reads around a part and after a tensor, and aligned addresses. */
	{"scale_rows", "split=r", SCALE_ROWS, scale},
	{"scale_rows", "each=r", SCALE_ROWS, scale},
	{"scale_rows", "tile=r:3", SCALE_ROWS, scale},
	{"scale_rows", "tile=r:4,w:3", SCALE_ROWS, scale},
	{"scale_rows", "", SCALE_ROWS, scale},
	{"add_apart", "split=r", ADD_APART, accumulate},
	{"add_apart", "tile=r:2,w:7", ADD_APART, accumulate},
	{"add_apart", "", ADD_APART, accumulate},
	{"stripe", "blocks=r", STRIPE, stripe},
	{"stripe", "blocks=r early-start=both", STRIPE, stripe},
	{"rows_apart", "split=r",
	 "p {in x T[r,w:ldx]+40, ldx i64, out y T[r,w:ldy], ldy i64}*, r i64, w i64, factor u64", scale},
	{"table_apart", "each=r", "rows ptr[r] of in x T[r,w:ldx]+24 by sizeof(T)*ldx, out y T[r,w], w i64", add_rows},
	/* Addresses at a distance from the tensors. */
	{"scale_far", "split=n", FAR, scale},
	{"scale_far", "tile=n:64", FAR, scale},
	{"scale_far", "align=8", FAR, scale},
	{"scale_far", "split=n", "in x T[n] at -72, out y T[n] at 2147483584, n i64, factor u64", scale},
	{"scale_rows_far", "split=r", ROWS_FAR, scale},
	{"scale_rows_far", "tile=r:4,w:3", ROWS_FAR, scale},
	{"rows_far", "each=r",
	 "p {in x T[r,w:ldx]+40 at -200, ldx i64, out y T[r,w:ldy] at -2147483640, ldy i64}*, r i64, w i64, factor u64",
	 scale},
	{"table_far", "split=r", "rows ptr[r] of in x T[r,w] at 136, out y T[r,w], r i64, w i64", add_rows},
	{"three_rows", "split=r", THREE_ROWS, three_rows},
	{"three_rows", "each=r", THREE_ROWS, three_rows},
	{"three_rows", "tile=r:3", THREE_ROWS, three_rows},
	{"three_rows", "", THREE_ROWS, three_rows},
	{"three_rows", "split=r align=16", "in x T[r+2,w]+64, out y T[r,w], r i64, w i64", three_rows},
	{"three_in_blocks", "blocks=r", "block, in x T[r+2,w], out y T[r,w], r i64, w i64", three_rows},
	{"three_in_blocks", "blocks=r early-start=both", "block, in x T[r+2,w], out y T[r,w], r i64, w i64",
	 three_rows},
	{"three_memref", "split=r frame=mlir", "in x T[r+2,w]+64, out y T[r,w:ldy]", three_rows},
	{"three_memref", "tile=r:3 frame=mlir", "in x T[r+2,w], out y T[r,w:ldy]", three_rows},
	{"scale_memref", "tile=r:4 frame=mlir", "in x T[r,w:ldx], out y@x T[r,w:ldy], factor u64", scale},
	{"number_apart", "split=r",
	 "in x T[r,w:ldx] whole, out y@x T[r,w:ldy] whole, b i64 = begin(r), r i64, c i64 = 0, columns i64 = w, w i64, "
	 "ldx i64, ldy i64",
	 number_rows},
	{"number_apart", "tile=r:4,w:3",
	 "in x T[r,w:ldx] whole, out y T[r,w:ldy] whole, b i64 = begin(r), rows i64 = size(r), c i64 = begin(w), "
	 "columns i64 = size(w), stride i64 = w, ldx i64, ldy i64",
	 number_rows},
	{"three_at", "each=r", "p ptr[3] of in x T[r+2,w] by sizeof(T)*w, out y T[r,w], w i64", three_rows},
	{"window", "split=n", WINDOW, window},
	{"window", "tile=n:13", WINDOW, window},
	{"window", "", WINDOW, window},
	{"peek", "split=n", PEEK, checked},
	{"peek", "tile=n:9", PEEK, checked},
	{"peek", "", PEEK, checked},
	{"peek_rows", "split=r", "in x T[r,w:ldx]+100, out y T[r,w], r i64, w i64, ldx i64", checked},
	{"peek_apart", "tile=r:3,w:4", "in x T[r,w:ldx]+100, out y T[r,w:ldy], r i64, w i64, ldx i64, ldy i64",
	 checked},
	{"aligned", "split=n align=32", ALIGNED "32 -> status", checked},
	{"aligned", "tile=n:64 align=64", ALIGNED "64 -> status", checked},
	{"aligned", "align=8", ALIGNED "8 -> status", checked},
	{"aligned_rows", "split=r align=32", "in x T[r,w:ldx], out y T[r,w], r i64, w i64, ldx i64 -> status", checked},
	{"reported", "split=n", "in x T[n], out y@x T[n], n i64, ref info i32 -> status info", checked},
	{"reported", "each=n", "in x T[n], out y@x T[n], n i64, ref info i32 -> status info", checked},
	/* Their structs are in memory that is made for each call, and the kernels overwrite them. */
	{"add_boxed", "split=n", BOXED, add},
	{"add_boxed", "tile=n:100", BOXED, add},
	{"add_boxed", "", BOXED, add},
	{"add_rows", "split=r", ROWS, add_rows},
	{"add_rows", "each=r", ROWS, add_rows},
	{"scale_memref", "split=r frame=mlir", "in x T[r,w], out y@x T[r,w], factor u64", scale},
	{"scale_memref", "tile=r:3 frame=mlir", "in x T[r,w], out y@x T[r,w], factor u64", scale},
	{"scale_halide", "split=r frame=halide", "in x T[r,w], out y@x T[r,w], factor u64", scale},
	{"scale_halide", "tile=r:4 frame=halide", "in x T[r,w:ldx], out y T[r,w:ldy], factor u64", scale},
	{"scale_fortran", "split=r frame=gfortran", "in x T[r,w], out y@x T[r,w], ref factor u64", scale},
	{"toggle_packed", "split=r frame=tvm-packed", "in x T[r,w], out y T[r,w]", checked},
	{"weave", "blocks", WEAVE, weave},
	{"stride", "blocks", "block, inout y T[n], n i64", stride},
	{"number", "blocks=r", "block, inout y T[r,w], r i64, w i64", number},
	{"mark_rows", "blocks=r", NUMBER_ROWS, mark_rows},
	{"rotate", "sync-all", ROTATE, rotate},
	{"trade", "mix", "block, in x T[n], inout t T[n], out y T[n], n i64", trade},
	{"share", "mix=1:2", "block, in x T[n], inout t T[n], out y T[n], n i64", share},
	{"meet", "mix=1:1", ROTATE, meet},
	{"early_weave", "blocks early-start=wait", EARLY_WEAVE, early_weave},
	{"early_weave", "blocks early-start=set", EARLY_WEAVE, early_weave},
	{"early_weave", "blocks early-start=both", EARLY_WEAVE, early_weave},
	{"early_weave", "early-start=both", EARLY_WEAVE, early_weave},
	{"early_rows", "blocks=r early-start=both", "block, inout y T[r,w], r i64, w i64", early_rows},
	{"early_meeting", "sync-all early-start=both", ROTATE, early_meeting},
	{"reverse", "", REVERSE, reverse},
	{"transpose", "", "in x T[r,w], out y T[w,r], r i64, w i64", transpose},
	{"sum", "", SUM, sum},
	{"through_scratch", "", "in x T[n], out y T[n], n i64, scratch one[65], scratch two[1] -> status",
	 through_scratch},
	{"counted", "", "in x T[n], out y T[n], n i64", counted, STATE_OWN},
	{"tally", "", "in x T[n], out y T[n], n i64", tally, STATE_COMMON},
	{"retell", "", "inout y T[n], n i64", retell, STATE_COMMON},
	{"early_tally", "early-start=wait", EARLY_WEAVE, early_tally, STATE_COMMON},
	{"early_tally", "early-start=set", EARLY_WEAVE, early_tally, STATE_COMMON},
	{"early_tally", "early-start=both", EARLY_WEAVE, early_tally, STATE_COMMON},
	{"draw", "", FILL, draw, STATE_LIBRARY},
	{"early_draw", "early-start=both", EARLY_WEAVE, early_draw, STATE_LIBRARY},
	{NULL},
};
_Static_assert(sizeof(kernels) <= NETWORK_KERNELS * sizeof(kernels[0]), "counts of kernels have a place for each row");

static struct liar liars[] = {
	{{"scale_from", "split=n", SCALE, scale}, 200, 0, LIE_SPLIT},
	{{"scale_in_place", "split=n", SCALE, scale}, 0, 0, LIE_SPLIT},
	{{"add_end", "split=n", ADD, add}, 0, 0, LIE_SPLIT},
	{{"accumulate_before", "split=n", ACCUMULATE, accumulate}, 0, 0, LIE_SPLIT},
	{{"count_rows", "split=r", ROW_SUMS, row_sums}, 0, 0, LIE_SPLIT},
	{{"scan_rows", "split=r", ROW_SCAN, row_scan}, 0, 0, LIE_SPLIT},
	{{"reverse_changing", "", REVERSE, reverse}, 1, 0, LIE_INPUT},
	{{"third_changing", "split=n", THIRD, third}, 1, 0, LIE_INPUT},
	{{"look_up_changing", "split=n", LOOK_UP, look_up}, 1, 0, LIE_INPUT},
	{{"accumulate_changing", "split=n", ACCUMULATE, accumulate}, 1, 0, LIE_INPUT},
	{{"window_changing", "tile=n:13", WINDOW, window}, 1, 0, LIE_INPUT},
	{{"weave_changing", "blocks", WEAVE, weave}, 1, 0, LIE_INPUT},
	{{"early_weave_changing", "blocks early-start=both", EARLY_WEAVE, early_weave}, 1, 0, LIE_INPUT},
	{{"stripe_changing", "blocks=r", STRIPE, stripe}, 1, 0, LIE_INPUT},
	{{"sum_changing", "", SUM, sum}, 1, 0, LIE_INPUT},
	{{"reverse_leaving", "", REVERSE, reverse}, 64, 0, LIE_UNWRITTEN},
	{{"third_leaving", "split=n", THIRD, third}, 64, 0, LIE_UNWRITTEN},
	{{"fill_leaving", "", FILL, fill}, 64, 0, LIE_UNWRITTEN},
	{{"triple_leaving", "tile=n:7", TRIPLE, triple}, 64, 0, LIE_UNWRITTEN},
	{{"widen_leaving", "each=n", WIDEN, widen}, 64, 0, LIE_UNWRITTEN},
	{{"multiply_tile_leaving", "tile=r:6,w:5", MULTIPLY_TILE, multiply}, 64, 0, LIE_UNWRITTEN},
	{{"weave_leaving", "blocks", WEAVE, weave}, 64, 0, LIE_UNWRITTEN},
	{{"early_weave_leaving", "blocks early-start=both", EARLY_WEAVE, early_weave}, 64, 0, LIE_UNWRITTEN},
	{{"early_weave_leaving", "blocks early-start=wait", EARLY_WEAVE, early_weave}, 64, 0, LIE_UNWRITTEN},
	{{"early_weave_leaving", "blocks early-start=set", EARLY_WEAVE, early_weave}, 64, 0, LIE_UNWRITTEN},
	{{"early_weave_leaving", "early-start=both", EARLY_WEAVE, early_weave}, 64, 0, LIE_UNWRITTEN},
	{{"stripe_leaving", "blocks=r", STRIPE, stripe}, 1, 16, LIE_UNWRITTEN},
	{{"rotate_leaving", "sync-all", ROTATE, rotate}, 64, 0, LIE_UNWRITTEN},
	{{NULL}, 0, 0, LIE_SPLIT},
};

/* ---- reading signatures, as far as the table's go ---- */

static void copy_word(char *to, size_t size, const char *from, size_t length)
{
	if (length >= size)
		abort();
	memcpy(to, from, length);
	to[length] = 0;
}

static unsigned access_of(const char *text)
{
	return !strncmp(text, "inout ", 6) ? SK_ACCESS_READ | SK_ACCESS_WRITE
	       : !strncmp(text, "in ", 3)  ? SK_ACCESS_READ
	       : !strncmp(text, "out ", 4) ? SK_ACCESS_WRITE
					   : SK_ACCESS_NONE;
}

static uint32_t find_parameter(const struct kernel *kernel, const char *name, size_t length)
{
	for (uint32_t i = 0; i < kernel->tensor_count; i++)
		if (strlen(kernel->tensors[i].name) == length && !memcmp(kernel->tensors[i].name, name, length))
			return i;
	abort();
}

static void read_extents(struct kernel_parameter *parameter, const char *text)
{
	while (*text != ']') {
		size_t length = strcspn(text, ",]"), extent = strcspn(text, ":,]");

		copy_word(parameter->extents[parameter->rank++], sizeof(parameter->extents[0]), text, extent);
		parameter->in_rows |= extent < length;
		text += length + (text[length] == ',');
	}
	parameter->reads_behind = text[1] == '+';
}

/* "in x T[n]", "out y@x T[r,w]", or, of a result, "out total T". */
static void read_tensor(struct kernel *kernel, const char *text)
{
	struct kernel_parameter *parameter = &kernel->tensors[kernel->tensor_count];
	const char *name = strchr(text, ' ') + 1, *type = strchr(name, ' ') + 1, *bracket = strchr(type, '[');
	size_t length = strcspn(name, "@ ");

	if (kernel->tensor_count == KERNEL_PARAMETERS)
		abort();
	parameter->access = access_of(text);
	parameter->of_words = *type != 'T';
	parameter->alias_of = NETWORK_NONE;
	copy_word(parameter->name, sizeof(parameter->name), name, length);
	if (name[length] == '@')
		parameter->alias_of = find_parameter(kernel, name + length + 1, strcspn(name + length + 1, " "));
	read_extents(parameter, bracket ? bracket + 1 : "1]");
	kernel->in_rows |= parameter->in_rows;
	kernel->has_halo |= strchr(parameter->extents[0], '+') != NULL;
	kernel->tensor_count++;
}

static void read_parameter(struct kernel *kernel, const char *text)
{
	const char *name = strncmp(text, "ref ", 4) ? text : text + 4, *type = strchr(name, ' ');

	if (access_of(text))
		read_tensor(kernel, text);
	else if (strcmp(text, "block") && strncmp(text, "scratch ", 8) && !strcmp(type, " u64"))
		copy_word(kernel->sets[kernel->set_count++].name, sizeof(kernel->sets[0].name), name,
			  (size_t)(type - name));
}

/* "p {in x T[n]", "rows ptr[r] of in x T[r,w]": the tensor. */
static const char *behind_opening(const char *text)
{
	const char *brace = strrchr(text, '{'), *of = strstr(text, "] of ");

	return brace ? brace + 1 : of ? of + 5 : text;
}

static void read_signature(struct kernel *kernel)
{
	char text[256];
	char *result, *next;

	kernel->has_blocks = strncmp(kernel->attributes, "early-start", 11) &&
			     (strstr(kernel->parameters, "block, ") || !strncmp(kernel->attributes, "blocks", 6));
	kernel->align =
		strstr(kernel->attributes, "align=") ? (uint32_t)atoi(strstr(kernel->attributes, "align=") + 6) : 1;
	kernel->is_mix = !strncmp(kernel->attributes, "mix", 3);
	kernel->is_resident = kernel->is_mix || !strncmp(kernel->attributes, "sync-all", 8);
	copy_word(text, sizeof(text), kernel->parameters, strlen(kernel->parameters));
	result = strstr(text, " -> ");
	if (result)
		*result = 0;
	for (char *parameter = text; parameter; parameter = next) {
		next = strstr(parameter, ", ");
		if (next) {
			*next = 0;
			next += 2;
		}
		read_parameter(kernel, behind_opening(parameter));
	}
	if (result && strncmp(result + 4, "status", 6))
		read_tensor(kernel, result + 4);
}

const struct kernel *network_kernels(void)
{
	if (!kernels[0].tensor_count)
		for (struct kernel *kernel = kernels; kernel->function; kernel++)
			read_signature(kernel);
	return kernels;
}

const struct liar *network_liars(void)
{
	if (!liars[0].kernel.tensor_count)
		for (struct liar *liar = liars; liar->kernel.function; liar++)
			read_signature(&liar->kernel);
	return liars;
}

/* ---- the interpreter ---- */

static uint64_t mask_of(enum sk_dtype dtype)
{
	return dtype == SK_U64 ? UINT64_MAX : (UINT64_C(1) << 8 * sk_dtype_size(dtype)) - 1;
}

struct network_state *network_begin(const struct network *network)
{
	struct network_state *state = calloc(1, sizeof(*state));

	for (uint32_t i = 0; state && i < network->tensor_count; i++) {
		size_t size = network->tensors[i].elements * sizeof(uint64_t);

		if (network->tensors[i].root != i)
			continue;
		state->values[i] = malloc(size);
		if (!state->values[i])
			abort();
		memcpy(state->values[i], network->contents[i], size);
	}
	return state;
}

void network_end(const struct network *network, struct network_state *state)
{
	for (uint32_t i = 0; i < network->tensor_count; i++)
		free(state->values[i]);
	free(state);
}

/* Copy the tensor's elements, one after the other; give_back() copies them back. */
static uint64_t *take_values(const struct network *network, const struct network_state *state, uint32_t tensor)
{
	const struct network_tensor *view = &network->tensors[tensor];
	uint64_t *values = malloc(view->elements * sizeof(uint64_t));

	if (!values)
		abort();
	for (uint64_t i = 0; i < view->elements; i++)
		values[i] = state->values[view->root][network_element(view, i)];
	return values;
}

static void give_back(const struct network *network, struct network_state *state, uint32_t tensor, uint64_t *values,
		      bool written)
{
	const struct network_tensor *view = &network->tensors[tensor];

	for (uint64_t i = 0; i < view->elements && written; i++)
		state->values[view->root][network_element(view, i)] = values[i] & mask_of(view->dtype);
	free(values);
}

static uint64_t value_of_set(const struct network *network, struct network_state *state,
			     const struct network_task *task, const struct network_set *set)
{
	switch (set->kind) {
	case SET_EXTENT:
		return set->extent == 'n'   ? task->n
		       : set->extent == 'r' ? task->r
		       : set->extent == 'w' ? task->w
					    : task->k;
	case SET_TENSOR:
		return state->values[network->tensors[set->tensor].root][network->tensors[set->tensor].start];
	case SET_NUMBER:
		break;
	}
	return set->number;
}

static void run_task(const struct network *network, struct network_state *state, const struct network_task *task,
		     uint32_t default_blocks)
{
	const struct kernel *kernel = task->kernel;
	struct kernel_call call = {.n = task->n, .r = task->r, .w = task->w, .k = task->k};

	call.blocks = !kernel->has_blocks ? 1 : task->blocks ? task->blocks : default_blocks;
	call.state = &state->hidden[kernel->state][task->dtype];
	call.mask = mask_of(task->dtype);
	for (uint32_t i = 0; i < kernel->tensor_count; i++)
		call.tensors[i] = take_values(network, state, task->tensors[i]);
	for (uint32_t i = 0; i < kernel->set_count; i++)
		call.sets[i] = value_of_set(network, state, task, &task->sets[i]);
	kernel->compute(&call);
	*call.state &= mask_of(task->dtype);
	for (uint32_t i = 0; i < kernel->tensor_count; i++)
		give_back(network, state, task->tensors[i], call.tensors[i],
			  kernel->tensors[i].access & SK_ACCESS_WRITE);
}

void network_run(const struct network *network, struct network_state *state, const uint32_t default_blocks[2])
{
	for (uint32_t i = 0; i < network->task_count; i++) {
		const struct network_task *task = &network->tasks[i];

		if (!task->dropped)
			run_task(network, state, task, default_blocks[network_lane(task)]);
	}
}
