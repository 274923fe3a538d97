/* dequantise.c: DequantizeLinear, y = (x - zero) * scale, with one scale and zero point for all (FORM=tensor), or one
 * for each row (FORM=rows), of which the first k rows have the k that there are, and the next ones have them again.
 * FORM=blocks has a row of them for each `size` rows of every `length` ones, of which the last may have fewer.
 *
 * variants: OP=DequantizeLinear FROM=u8,i8 TO=f32 FORM=tensor,rows ISA=base,v3
 * variants: OP=DequantizeLinear FROM=u16,i16,i32 TO=f32 FORM=tensor,rows
 * variants: OP=DequantizeLinear FROM=u8,i8,u16,i16,i32 TO=halves FORM=tensor,rows
 * variants: OP=DequantizeLinear FROM=u8,i8,u16,i16,i32 TO=f32,halves FORM=blocks
 */
#include "kernels/family.h"

typedef STORED(FROM) from;
typedef STORED(TO) to;

static inline to dequantised(from x, float scale, from zero)
{
	return STORE(TO, (float)(int32_t)((uint32_t)x - (uint32_t)zero) * scale);
}

static inline void dequantise_row(const from *x, float scale, from zero, to *y, int64_t n)
{
	INDEPENDENT
	for (int64_t i = 0; i < n; i++)
		y[i] = dequantised(x[i], scale, zero);
}

#define F	  TEXT(FROM)
#define T	  TEXT(TO)
#define IS_tensor 1
#define IS_rows	  2
#define IS_blocks 3
#if JOIN(IS_, FORM) == 1
void KERNEL(const from *x, const to *scale, const from *zero, to *y, int64_t n)
{
	dequantise_row(x, LOAD(TO, *scale), zero ? *zero : 0, y, n);
}
SIGNATURE("split=n op=DequantizeLinear", "in x " F "[n], in scale " T "[1], in? zero " F "[1], out y " T "[n], n i64");
#elif JOIN(IS_, FORM) == 2
void KERNEL(const from *x, const to *scales, const from *zeros, to *y, int64_t rows, int64_t n, int64_t k,
	    int64_t first)
{
	for (int64_t row = 0; row < rows; row++) {
		int64_t at = (first + row) % k;
		dequantise_row(x + row * n, LOAD(TO, scales[at]), zeros ? zeros[at] : 0, y + row * n, n);
	}
}
SIGNATURE("split=rows op=DequantizeLinear", "in x " F "[rows,n], in scales " T "[k], in? zeros " F "[k], out y " T
					    "[rows,n], rows i64, n i64, k i64, first i64 = begin(rows)");
#else
void KERNEL(const from *x, const to *scales, const from *zeros, to *y, int64_t rows, int64_t n, int64_t length,
	    int64_t size, int64_t first)
{
	const int64_t blocks = (length + size - 1) / size;

	for (int64_t row = 0; row < rows; row++, x += n, y += n) {
		int64_t at = ((first + row) / length * blocks + (first + row) % length / size) * n;
		INDEPENDENT
		for (int64_t i = 0; i < n; i++)
			y[i] = dequantised(x[i], LOAD(TO, scales[at + i]), zeros ? zeros[at + i] : 0);
	}
}
SIGNATURE("split=rows op=DequantizeLinear", "in x " F "[rows,n], in scales " T "[k,n], in? zeros " F "[k,n], out y " T
					    "[rows,n], rows i64, n i64, length i64 = attr(length), size i64 = "
					    "attr(block_size), first i64 = begin(rows)");
#endif
