/* quantise.c: QuantizeLinear, y = x / scale + zero, with one scale and zero point for all (FORM=tensor), or one for
 * each row (FORM=rows), of which the first k rows have the k that there are, and the next ones have them again.
 * FORM=blocks has a row of them for each `size` rows of every `length` ones, of which the last may have fewer.
 * Integers of 32 bits are quantised as f64, which has all of them.
 *
 * variants: OP=QuantizeLinear FROM=f32 TO=u8,i8 FORM=tensor,rows ISA=base,v3
 * variants: OP=QuantizeLinear FROM=f32 TO=u16,i16 FORM=tensor,rows
 * variants: OP=QuantizeLinear FROM=f64 TO=u8,i8,u16,i16 FORM=tensor,rows
 * variants: OP=QuantizeLinear FROM=halves TO=u8,i8,u16,i16 FORM=tensor,rows
 * variants: OP=QuantizeLinear FROM=f32,f64,halves TO=u8,i8,u16,i16 FORM=blocks
 */
#include "kernels/quantise.h"

typedef STORED(FROM) from;
typedef STORED(TO) to;

#if SIZE(FROM) == 8
#define QUANTISE quantise_f64
#else
#define QUANTISE quantise
#endif

static inline to quantised(from x, COMPUTED(FROM) scale, int32_t zero)
{
	return (to)QUANTISE(LOAD(FROM, x) / scale, zero, LEAST_OF(TO), MOST_OF(TO));
}

static inline void quantise_row(const from *x, COMPUTED(FROM) scale, int32_t zero, to *y, int64_t n)
{
	INDEPENDENT
	for (int64_t i = 0; i < n; i++)
		y[i] = quantised(x[i], scale, zero);
}

#define F	  TEXT(FROM)
#define T	  TEXT(TO)
#define IS_tensor 1
#define IS_rows	  2
#define IS_blocks 3
#if JOIN(IS_, FORM) == 1
void KERNEL(const from *x, const from *scale, const to *zero, to *y, int64_t n)
{
	quantise_row(x, LOAD(FROM, *scale), zero ? *zero : 0, y, n);
}
SIGNATURE("split=n op=QuantizeLinear", "in x " F "[n], in scale " F "[1], in? zero " T "[1], out y " T "[n], n i64");
#elif JOIN(IS_, FORM) == 2
void KERNEL(const from *x, const from *scales, const to *zeros, to *y, int64_t rows, int64_t n, int64_t k,
	    int64_t first)
{
	for (int64_t row = 0; row < rows; row++) {
		int64_t at = (first + row) % k;
		quantise_row(x + row * n, LOAD(FROM, scales[at]), zeros ? zeros[at] : 0, y + row * n, n);
	}
}
SIGNATURE("split=rows op=QuantizeLinear", "in x " F "[rows,n], in scales " F "[k], in? zeros " T "[k], out y " T
					  "[rows,n], rows i64, n i64, k i64, first i64 = begin(rows)");
#else
void KERNEL(const from *x, const from *scales, const to *zeros, to *y, int64_t rows, int64_t n, int64_t length,
	    int64_t size, int64_t first)
{
	const int64_t blocks = (length + size - 1) / size;

	for (int64_t row = 0; row < rows; row++, x += n, y += n) {
		int64_t at = ((first + row) / length * blocks + (first + row) % length / size) * n;
		INDEPENDENT
		for (int64_t i = 0; i < n; i++)
			y[i] = quantised(x[i], LOAD(FROM, scales[at + i]), zeros ? zeros[at + i] : 0);
	}
}
SIGNATURE("split=rows op=QuantizeLinear", "in x " F "[rows,n], in scales " F "[k,n], in? zeros " T "[k,n], out y " T
					  "[rows,n], rows i64, n i64, length i64 = attr(length), size i64 = "
					  "attr(block_size), first i64 = begin(rows)");
#endif
