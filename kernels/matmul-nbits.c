/* matmul-nbits.c: com.microsoft's MatMulNBits with 4 bits: y = a b. Column j of b is row j of blocks, each of
 * block_size numbers of 4 bits, the even ones in the lower halves of bytes. Each block has a scale and a zero point of
 * 4 bits, or 8 if zero points are absent.
 *
 * SIDE=left: a [1,k], divided along the columns. Its even and its odd elements are separated, so that they match the
 * lower and the upper halves of bytes. SIDE=both: a [m,k], along the rows; each column of b is unpacked once for all
 * rows.
 *
 * variants: OP=MatMulNBits TYPE=f32 SIDE=left,both ZEROS=with,without ISA=base,v3,v4
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

static ALWAYS_INLINE void unpack_column(const struct quantized *b, int64_t column, number *to)
{
	for (int64_t block = 0; block < b->blocks; block++) {
		const uint8_t *from = b->numbers + (column * b->blocks + block) * b->half;
		number scale = b->scales[column * b->blocks + block];
		int zero = zero_of(b, column, block);

		for (int64_t i = 0; i < b->half; i++) {
			to[2 * i] = (number)((from[i] & 15) - zero) * scale;
			to[2 * i + 1] = (number)((from[i] >> 4) - zero) * scale;
		}
		to += 2 * b->half;
	}
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

#define ZEROS_with	   "in zeros u8[n*pairs]"
#define ZEROS_without	   "zeros ptr = null"
#define ZEROS_OF(zeros)	   ZEROS_##zeros
#define ZEROS_NAMED(zeros) ZEROS_OF(zeros)
#define IS_LEFT_left	   1
#define IS_LEFT_both	   0
#define OPERANDS                                                                                                       \
	const number *a, const uint8_t *b, const number *scales, const uint8_t *zeros, number *y, int64_t k,           \
		int64_t n, int64_t blocks, int64_t half
#define OPERANDS_TEXT "in b u8[n,blocks,half], in scales f32[n*blocks], " ZEROS_NAMED(ZEROS) ", out y "
#define SCALARS_TEXT  ", k i64, n i64, blocks i64, half i64"
#define ATTRIBUTES_TEXT                                                                                                \
	", scratch column f32[2*blocks*half], all_k i64 = attr(K), all_n i64 = attr(N), block_size i64 = "             \
	"attr(block_size)"
#define ATTRIBUTES int64_t all_k, int64_t all_n, int64_t block_size

#if JOIN(IS_LEFT_, SIDE)
void KERNEL(OPERANDS, number *column, ATTRIBUTES)
{
#else
void KERNEL(OPERANDS, int64_t m, number *column, ATTRIBUTES)
{
#endif
	struct quantized quantized = {b, zeros, scales, blocks, half, (blocks + 1) / 2};

	(void)all_k, (void)all_n, (void)block_size;
#if JOIN(IS_LEFT_, SIDE)
	part(a, k, column, column + blocks * half, blocks * half);
	for (int64_t j = 0; j < n; j++)
		y[j] = dot_column(&quantized, j, column, column + blocks * half);
#else
	for (int64_t j = 0; j < n; j++) {
		unpack_column(&quantized, j, column);
		for (int64_t i = 0; i < m; i++)
			y[i * n + j] = dot(a + i * k, column, k);
	}
#endif
}
#if JOIN(IS_LEFT_, SIDE)
SIGNATURE("split=n operations=2*n*k op=MatMulNBits(bits=4)",
	  "in a f32[1,k], " OPERANDS_TEXT "f32[n]" SCALARS_TEXT ATTRIBUTES_TEXT);
#else
SIGNATURE("split=m operations=2*m*n*k op=MatMulNBits(bits=4)",
	  "in a f32[m,k], " OPERANDS_TEXT "f32[m,n]" SCALARS_TEXT ", m i64" ATTRIBUTES_TEXT);
#endif
