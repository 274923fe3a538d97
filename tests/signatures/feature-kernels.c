/* Kernels for features.sh: every kind of kernel, scalar, parameter and result that a signature can name. Almost all is
 * in integers, so that the oracle needs no tolerance. */
#include "skkernel.h"

#include <string.h>

/* Every scalar type by value (the last ones lie on the stack) and by address, as bits. */
void scalars(int8_t a, uint8_t b, int16_t c, uint16_t d, int32_t e, uint32_t f, int64_t g, uint64_t h, float i,
	     double j, const int8_t *ra, const uint8_t *rb, const int16_t *rc, const uint16_t *rd, const int32_t *re,
	     const uint32_t *rf, const int64_t *rg, const uint64_t *rh, const float *ri, const double *rj, double k,
	     double l, double m, double n, double o, double p, float q, float r, uint64_t *out)
{
	const int64_t integers[] = {a, b, c, d, e, f, g, (int64_t)h, *ra, *rb, *rc, *rd, *re, *rf, *rg, (int64_t)*rh};
	const double reals[] = {(double)i, j, (double)*ri, *rj, k, l, m, n, o, p, (double)q, (double)r};

	memcpy(out, integers, sizeof(integers));
	memcpy(out + 16, reals, sizeof(reals));
}
SK_KERNEL(scalars, "a i8, b u8, c i16, d u16, e i32, f u32, g i64, h u64, i f32, j f64, "
		   "ref ra i8, ref rb u8, ref rc i16, ref rd u16, ref re i32, ref rf u32, ref rg i64, ref rh u64, "
		   "ref ri f32, ref rj f64, k f64, l f64, m f64, n f64, o f64, p f64, q f32, r f32, out bits u64[28]");

/* Elementwise, in place or not; the factor may come from a tensor. */
void scale(const int32_t *x, int32_t *y, int64_t n, int32_t factor)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] * factor;
}
SK_KERNEL(scale, "split=n op=Scale; in x i32[n], out y@x i32[n], n i64, factor i32");

void add_all(const int32_t *a, const int32_t *b, int32_t *y, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		y[i] = a[i] + b[i];
}
SK_KERNEL(add_all, "split=n op=Add; in a i32[n], in b i32[n], out y@a i32[n], n u32");

/* Row-wise with a shared parameter: the whole number of rows by `set`, the number of this range by name. */
void add_row(const int32_t *x, const int32_t *row, int32_t *y, int32_t rows, int32_t width, int32_t all_rows)
{
	for (int32_t r = 0; r < rows; r++)
		for (int32_t i = 0; i < width; i++)
			y[r * width + i] = x[r * width + i] + row[i] * all_rows;
}
SK_KERNEL(add_row, "split=rows op=Add; in x i32[rows,width], in row i32[width], out y i32[rows,width], rows i32, "
		   "width i32, all_rows i32");

/* A product of extents that is divided along its first factor: 3 elements of y for each of x. */
void triple(const int32_t *x, int32_t *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		for (int j = 0; j < 3; j++)
			y[3 * i + j] = x[i] + j;
}
SK_KERNEL(triple, "split=n; in x i32[n], out y i32[n*3], n i64");

/* SPMD: each block notes its index and the count in scratch of its own and then writes its share, which it finds
 * itself. */
void spmd(const struct sk_block *block, const int32_t *x, int32_t *y, int64_t n, uint32_t *first, uint64_t *second)
{
	*first = block->index;
	*second = block->count;
	for (uint64_t i = block->index; i < (uint64_t)n; i += block->count)
		y[i] = (int32_t)(x[n - 1 - (int64_t)i] + (int32_t)(*first * 1000 + *second));
}
SK_KERNEL(spmd, "blocks; block, in x i32[n], out y i32[n], n i64, scratch first[4], scratch second[100]");

/* SPMD by ranges, with a result in place. */
void number_blocks(const struct sk_block *block, int32_t *y, int64_t m, int64_t width)
{
	uint64_t low, high;

	sk_block_range(block, (uint64_t)m, &low, &high);
	for (uint64_t i = low * (uint64_t)width; i < high * (uint64_t)width; i++)
		y[i] += (int32_t)(100 * block->index + block->count);
}
SK_KERNEL(number_blocks, "blocks=m; block, inout y i32[m,width], m i64, width i64");

/* Results: of every class of register. */
int64_t sum(const int32_t *x, int64_t n)
{
	int64_t total = 0;

	for (int64_t i = 0; i < n; i++)
		total += x[i];
	return total;
}
SK_KERNEL(sum, "in x i32[n], n i64 -> out total i64");

float half(const int32_t *x)
{
	return (float)*x / 2;
}
SK_KERNEL(half, "in x i32[1] -> out y f32");

double quarter(const int32_t *x)
{
	return (double)*x / 4;
}
SK_KERNEL(quarter, "in x i32[1] -> out y f64");

int8_t low_byte(const int32_t *x)
{
	return (int8_t)*x;
}
SK_KERNEL(low_byte, "in x i32[1] -> out y i8");

/* A status, and a scratch aligned as promised. */
int checked(const int32_t *x, int32_t *y, int64_t n, void *one, void *two)
{
	if (((uintptr_t)one | (uintptr_t)two) % 64 || (char *)two < (char *)one + 65)
		return 2;
	memset(one, 0x55, 65);
	memset(two, 0x66, 1);
	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] + 1;
	return 0;
}
SK_KERNEL(checked, "in x i32[n], out y i32[n], n i64, scratch one[65], scratch two[1] -> status");

/* Scalars that are known when the task runs, by value and by address; status and attributes of a split kernel. */
int add_late(const int32_t *x, int32_t *y, int64_t n, int64_t value, const int64_t *address)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = (int32_t)(x[i] + value + 2 * *address);
	return 0;
}
SK_KERNEL(add_late,
	  "vector split=n nontemporal isa=x86-64-v2; in x i32[n], out y i32[n], n i64, value i64, ref address i64 "
	  "-> status");

/* State that the caller keeps. */
void count(uint64_t *state, const int32_t *x, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		*state += (uint64_t)(x[i] & 1);
	++*state;
}
SK_KERNEL(count, "unfusible; inout state u64[1], in x i32[n], n i64");

/* The types that C has no scalar for. */
void pack(const uint16_t *bf16, const uint16_t *f16, const _Bool *keep, uint32_t *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = keep[i] ? (uint32_t)bf16[i] << 16 | f16[i] : 0;
}
SK_KERNEL(pack, "split=n; in high bf16[n], in low f16[n], in keep bool[n], out y u32[n], n i64");
