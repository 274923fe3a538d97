/* matmul-nbits.c: com.microsoft's MatMulNBits with 4 bits: y = a b. Column j of b is row j of blocks, each of
 * block_size numbers of 4 bits, the even ones in the lower halves of bytes. Each block has a scale and a zero point of
 * 4 bits, whose rows are whole bytes. With zero_points 0 these are 8, and `zeros` is not read.
 *
 * SIDE=left: a [1,k], divided along the columns. Its even and its odd elements are separated, so that they match the
 * lower and the upper halves of bytes. SIDE=both: a [m,k], along the rows; b is unpacked to the panels of product.h.
 *
 * variants: OP=MatMulNBits TYPE=f32 SIDE=left,both ISA=base,v3,v4
 */
#include "kernels/product.h"

struct quantized {
	const uint8_t *numbers, *zeros;
	const number *scales;
	int64_t blocks, half, zeros_row; /* bytes of a block, and of a column's zero points */
};

static ALWAYS_INLINE int zero_of(const struct quantized *b, int64_t column, int64_t block)
{
	return b->zeros ? b->zeros[column * b->zeros_row + block / 2] >> block % 2 * 4 & 15 : 8;
}

/* Unpack `depth` numbers of a column, from the even step `step` on: those of even steps, and those of odd ones. */
static ALWAYS_INLINE void unpack_steps(const struct quantized *b, int64_t column, int64_t step, int64_t depth,
				       number *even, number *odd)
{
	while (depth > 0) {
		int64_t block = step / 2 / b->half, first = step / 2 % b->half, count = b->half - first;
		const uint8_t *from = b->numbers + (column * b->blocks + block) * b->half + first;
		number scale = b->scales[column * b->blocks + block];
		int zero = zero_of(b, column, block);

		count = 2 * count < depth ? count : (depth + 1) / 2;
		for (int64_t i = 0; i < count; i++) {
			even[i] = (number)((from[i] & 15) - zero) * scale;
			odd[i] = (number)((from[i] >> 4) - zero) * scale;
		}
		even += count;
		odd += count;
		step += 2 * count;
		depth -= 2 * count;
	}
}

/* Make the panels of some steps. A panel begins with the even step at or before the first one, and ends with up to 8
 * steps more. */
static ALWAYS_INLINE struct panels panels_of_quantized(const void *context, size_t step, size_t depth, size_t column,
						       size_t columns, number *room)
{
	enum { SPARE = 10 };
	number even[4][DEPTH / 2 + SPARE], odd[4][DEPTH / 2 + SPARE];
	const size_t before = step % 2, panel = (depth + SPARE) * PANEL;

	for (size_t line = 0; line < columns; line += 4) {
		number *to = room + line / PANEL * panel + line % PANEL;
		const number *evens[4], *odds[4];

		for (size_t i = 0; i < 4; i++) {
			unpack_steps(context, column + least(line + i, columns - 1), step - before, depth + before,
				     even[i], odd[i]);
			evens[i] = even[i];
			odds[i] = odd[i];
		}
		for (size_t p = 0; 2 * p < depth + before; p += 4, to += 8 * PANEL) {
			turn(evens, p, to, 2 * PANEL);
			turn(odds, p, to + PANEL, 2 * PANEL);
		}
	}
	for (size_t line = columns; line % PANEL; line++)
		for (size_t p = 0; p < depth + before; p++)
			room[line / PANEL * panel + p * PANEL + line % PANEL] = 0;
	return (struct panels){room + before * PANEL, panel, PANEL, room, 0, 0};
}

/* Separate the elements of a at even and at odd places, as many as blocks have. */
static ALWAYS_INLINE void part(const number *a, int64_t k, number *even, number *odd, int64_t count)
{
	for (int64_t i = 0; i < k / 2; i++) {
		even[i] = a[2 * i];
		odd[i] = a[2 * i + 1];
	}
	for (int64_t i = k / 2; i < count; i++)
		even[i] = odd[i] = 0;
	if (k % 2)
		even[k / 2] = a[k - 1];
}

typedef int32_t whole __attribute__((vector_size(VECTOR_BYTES)));

static ALWAYS_INLINE number dot_column(const struct quantized *b, int64_t column, const number *even, const number *odd)
{
	vector low = {}, high = {};
	number rest = 0, total = 0;

	for (int64_t block = 0; block < b->blocks; block++, even += b->half, odd += b->half) {
		const uint8_t *from = b->numbers + (column * b->blocks + block) * b->half;
		number scale = b->scales[column * b->blocks + block], last = 0;
		vector own_low = {}, own_high = {};
		int zero = zero_of(b, column, block);
		int64_t i = 0;

		for (; i + LANES <= b->half; i += LANES) {
			whole bytes = (whole)WIDENED_BYTES(from + i);
			whole lower = (bytes & 15) - zero, upper = (bytes >> 4) - zero;

			own_low = FUSED(__builtin_convertvector(lower, vector), load(even + i), own_low);
			own_high = FUSED(__builtin_convertvector(upper, vector), load(odd + i), own_high);
		}
		for (; i < b->half; i++)
			last += (number)((from[i] & 15) - zero) * even[i] + (number)((from[i] >> 4) - zero) * odd[i];
		low = FUSED(own_low, scale - (vector){}, low);
		high = FUSED(own_high, scale - (vector){}, high);
		rest += last * scale;
	}
	low += high;
	for (int i = 0; i < LANES; i++)
		total += low[i];
	return total + rest;
}

#define IS_LEFT_left 1
#define IS_LEFT_both 0
#define OPERANDS                                                                                                       \
	const number *a, const uint8_t *b, const number *scales, const uint8_t *zeros, number *y, int64_t k,           \
		int64_t n, int64_t blocks, int64_t half
#define OPERANDS_TEXT "in b u8[n,blocks,half], in scales f32[n*blocks], in zeros u8[pairs], out y "
#define SCALARS_TEXT  ", k i64, n i64, blocks i64, half i64"
#define ATTRIBUTES_TEXT                                                                                                \
	", all_k i64 = attr(K), all_n i64 = attr(N), block_size i64 = "                                                \
	"attr(block_size), zero_points i64 = attr(zero_points)"
#define ATTRIBUTES int64_t all_k, int64_t all_n, int64_t block_size, int64_t zero_points

#if JOIN(IS_LEFT_, SIDE)
void KERNEL(OPERANDS, number *room, int64_t first, ATTRIBUTES)
{
#else
void KERNEL(OPERANDS, int64_t m, number *room, ATTRIBUTES)
{
#endif
#if !JOIN(IS_LEFT_, SIDE)
	const int64_t first = 0;
#endif
	const int64_t pairs = (blocks + 1) / 2;
	struct quantized quantized = {b, zero_points ? zeros + first * pairs : 0, scales, blocks, half, pairs};

	(void)all_k, (void)all_n, (void)block_size;
#if JOIN(IS_LEFT_, SIDE)
	part(a, k, room, room + blocks * half, blocks * half);
	for (int64_t j = 0; j < n; j++)
		y[j] = dot_column(&quantized, j, room, room + blocks * half);
#else
	struct product product = {.m = m,
				  .n = n,
				  .k = k,
				  .a = {a, k, 1},
				  .b = &quantized,
				  .panels = panels_of_quantized,
				  .c = y,
				  .c_row = n,
				  .room = room};

	multiply(&product);
#endif
}
#if JOIN(IS_LEFT_, SIDE)
SIGNATURE("split=n operations=2*n*k op=MatMulNBits(bits=4)",
	  "in a f32[1,k], " OPERANDS_TEXT "f32[n]" SCALARS_TEXT
	  ", scratch room f32[2*blocks*half], first i64 = begin(n)" ATTRIBUTES_TEXT);
#else
SIGNATURE("split=m operations=2*m*n*k op=MatMulNBits(bits=4)",
	  "in a f32[m,k], " OPERANDS_TEXT "f32[m,n]" SCALARS_TEXT ", m i64" ROOM_TEXT ATTRIBUTES_TEXT);
#endif
