/* Kernels that keep to their signatures or break them in the way that `what` selects. */
#include "skkernel.h"
#include <stddef.h>

enum {
	HONEST,
	WRITE_BEHIND, /* the word after its part of y */
	WRITE_BEFORE,
	WRITE_FAR, /* a page after it */
	READ_BEHIND, /* a page after x */
	READ_BEFORE,
	WRITE_INPUT,
	LEAVE_OUT, /* some of y is not written */
	WRITE_SAME, /* a word of x, with the value that it has */
	LEAVE_ONE, /* an element of y is not written */
};

void copy(const float *x, float *y, long n, int what)
{
	for (long i = 0; i < n; i++)
		y[i] = x[i];
	switch (what) {
	case WRITE_BEHIND:
		y[n] = 1;
		break;
	case WRITE_BEFORE:
		y[-1] = 1;
		break;
	case WRITE_FAR:
		y[n + 1024] = 1;
		break;
	case READ_BEHIND:
		y[0] = ((volatile const float *)x)[n + 1024];
		break;
	case READ_BEFORE:
		y[0] = ((volatile const float *)x)[-2048];
		break;
	case WRITE_INPUT:
		((float *)x)[0] = 1;
		break;
	case WRITE_SAME:
		((volatile float *)x)[0] = x[0];
		break;
	default:
		break;
	}
}
SK_KERNEL(copy, "split=n; in x f32[n], out y f32[n], n i64, what i32");

/* In a plain kernel the whole tensor is the part. */
void copy_plain(const float *x, float *y, long n, int what)
{
	if (what == LEAVE_OUT || what == LEAVE_ONE)
		for (long i = 0; i < n; i++)
			y[i] = i >= 40 && i < (what == LEAVE_ONE ? 41 : 50) ? y[i] : x[i];
	else
		copy(x, y, n, what);
}
SK_KERNEL(copy_plain, "in x f32[n], out y f32[n], n i64, what i32");

void reverse(const float *x, float *y, long n, const struct sk_block *block)
{
	uint64_t low, high;

	sk_block_range(block, (uint64_t)n, &low, &high);
	for (uint64_t i = low; i < high; i++)
		y[i] = x[n - 1 - (long)i];
}
SK_KERNEL(reverse, "blocks=n; in x f32[all], out y f32[n], n i64, block");

void ones(unsigned char *y, long n)
{
	for (long i = 0; i < n; i++)
		y[i] = 255;
}
SK_KERNEL(ones, "out y u8[n], n i64");

/* Arguments of all types, which are added up. */
float many(const float *x, const double *scale, long n, signed char a, unsigned char b, short c, unsigned short d,
	   int e, unsigned f, long g, unsigned long h, float i, double j, float k, double l, float m, double o, float p,
	   double q, float r, double s, const int *by_reference, char *scratch)
{
	float sum = (float)(a + b + c + d + e + (int)f + (int)g + (int)h + *by_reference) +
		    (float)(i + j + k + l + m + o + p + q + r + s);

	for (long at = 0; at < n; at++)
		scratch[at % 64] = 1;
	for (long at = 0; at < n; at++)
		sum += x[at] * (float)scale[0];
	return sum;
}
SK_KERNEL(many,
	  "in x f32[n], in scale f64[1], n i64, a i8, b u8, c i16, d u16, e i32, f u32, g i64, h u64, i f32, j f64, "
	  "k f32, l f64, m f32, o f64, p f32, q f64, r f32, s f64, ref w i32, scratch z[64] -> out sum f32");

/* Keep the address of x, and read through it later. */
void keep_place(const float *x, float *y, const float **kept)
{
	*kept = x;
	*y = *x;
}
SK_KERNEL(keep_place, "in x f32[1000], out y f32[1], out kept u64[1]");

void read_kept(const float *const *kept, float *y)
{
	*y = **kept;
}
SK_KERNEL(read_kept, "in kept u64[1], out y f32[1]");
