/* quantise-forms.h: the forms of QuantizeLinear and DequantizeLinear: with one scale and zero point for all
 * (FORM=tensor), or with one for each row (FORM=rows). With FORM=rows there are k of them; the first k rows have them
 * in order, and so on. FORM=blocks has a row of them for each `size` rows of every `length` ones; the last block may
 * have fewer rows.
 *
 * The includer defines before it: SCALES and ZEROS, their types, which are FROM and TO or the other way round, and
 * converted, which makes one element. */
#ifndef SK_KERNELS_QUANTISE_FORMS_H
#define SK_KERNELS_QUANTISE_FORMS_H

typedef STORED(SCALES) stored_scale;
typedef STORED(ZEROS) stored_zero;

static inline void convert_row(const from *x, COMPUTED(SCALES) scale, stored_zero zero, to *y, int64_t n)
{
	INDEPENDENT
	for (int64_t i = 0; i < n; i++)
		y[i] = converted(x[i], scale, zero);
}

#define F	  TEXT(FROM)
#define T	  TEXT(TO)
#define S	  TEXT(SCALES)
#define Z	  TEXT(ZEROS)
#define IS_tensor 1
#define IS_rows	  2
#define IS_blocks 3
#if JOIN(IS_, FORM) == 1
void KERNEL(const from *x, const stored_scale *scale, const stored_zero *zero, to *y, int64_t n)
{
	convert_row(x, LOAD(SCALES, *scale), zero ? *zero : 0, y, n);
}
SIGNATURE("split=n op=" TEXT(OP), "in x " F "[n], in scale " S "[1], in? zero " Z "[1], out y " T "[n], n i64");
#elif JOIN(IS_, FORM) == 2
void KERNEL(const from *x, const stored_scale *scales, const stored_zero *zeros, to *y, int64_t rows, int64_t n,
	    int64_t k, int64_t first)
{
	for (int64_t row = 0; row < rows; row++) {
		int64_t at = (first + row) % k;
		convert_row(x + row * n, LOAD(SCALES, scales[at]), zeros ? zeros[at] : 0, y + row * n, n);
	}
}
SIGNATURE("split=rows op=" TEXT(OP), "in x " F "[rows,n], in scales " S "[k], in? zeros " Z "[k], out y " T
				     "[rows,n], rows i64, n i64, k i64, first i64 = begin(rows)");
#else
void KERNEL(const from *x, const stored_scale *scales, const stored_zero *zeros, to *y, int64_t rows, int64_t n,
	    int64_t length, int64_t size, int64_t first)
{
	const int64_t blocks = (length + size - 1) / size;

	for (int64_t row = 0; row < rows; row++, x += n, y += n) {
		int64_t at = ((first + row) / length * blocks + (first + row) % length / size) * n;
		INDEPENDENT
		for (int64_t i = 0; i < n; i++)
			y[i] = converted(x[i], LOAD(SCALES, scales[at + i]), zeros ? zeros[at + i] : 0);
	}
}
SIGNATURE("split=rows op=" TEXT(OP), "in x " F "[rows,n], in scales " S "[k,n], in? zeros " Z "[k,n], out y " T
				     "[rows,n], rows i64, n i64, length i64 = attr(length), size i64 = "
				     "attr(block_size), first i64 = begin(rows)");
#endif

#endif
