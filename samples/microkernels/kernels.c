/* Microkernels in the style of libraries: each computes one tile of registers, or one row, without a loop around it.
 * Their parameters are those of XNNPACK's of the same names (xnnpack/microfnptr.h): sizes in bytes, row strides in
 * bytes, limits in a struct passed by pointer, weights packed for the tile.
 *
 * Compiled with -mavx2 -mfma the tile has 6 rows of 2 registers of 8 floats, else 2 rows of 4 of 4 floats; both have 16
 * columns, so they take the same packed weights. */
#include <math.h>
#include <stddef.h>

#include "skkernel.h"

#if defined(__AVX2__) && defined(__FMA__)
#define NAME(name) name##__avx2
#define ISA	   " isa=avx2+fma"
#define ROWS	   6
#define ROWS_TEXT  "6"
#define WIDTH	   8
#else
#define NAME(name) name##__baseline
#define ISA	   ""
#define ROWS	   2
#define ROWS_TEXT  "2"
#define WIDTH	   4
#endif
#define COLUMNS	  16
#define REGISTERS (COLUMNS / WIDTH)

typedef float vec __attribute__((vector_size(4 * WIDTH)));
typedef float unaligned_vec __attribute__((vector_size(4 * WIDTH), aligned(4)));
typedef int mask __attribute__((vector_size(4 * WIDTH)));

struct minmax {
	float min, max;
};

static inline vec select(mask which, vec a, vec b)
{
	return (vec)(((mask)a & which) | ((mask)b & ~which));
}

static inline vec clamp(vec x, const struct minmax *limits)
{
	vec zero = {0}, min = zero + limits->min, max = zero + limits->max;

	x = select(x < min, min, x);
	return select(x > max, max, x);
}

/* c = min(max(a * b + bias, limits)): up to ROWS rows and COLUMNS columns. w holds COLUMNS biases, then COLUMNS weights
 * for each element of k. Rows that do not exist are computed as copies of the last one. */
void NAME(f32_gemm_minmax)(size_t mr, size_t nc, size_t kc, const float *a, size_t a_stride, const float *w, float *c,
			   size_t cm_stride, size_t cn_stride, const struct minmax *limits)
{
	const float *in[ROWS];
	float *out[ROWS];
	vec sums[ROWS][REGISTERS];

	(void)cn_stride; /* from one tile to the next, if there is one */
	for (size_t i = 0; i < ROWS; i++) {
		size_t row = i < mr ? i : mr - 1;

		in[i] = (const float *)((const char *)a + row * a_stride);
		out[i] = (float *)((char *)c + row * cm_stride);
		for (size_t j = 0; j < REGISTERS; j++)
			sums[i][j] = ((const unaligned_vec *)w)[j];
	}
	for (size_t k = 0; k < kc / sizeof(float); k++) {
		w += COLUMNS;
		for (size_t i = 0; i < ROWS; i++)
			for (size_t j = 0; j < REGISTERS; j++)
				sums[i][j] += in[i][k] * ((const unaligned_vec *)w)[j];
	}
	for (size_t i = 0; i < ROWS; i++)
		for (size_t j = 0; j < REGISTERS; j++) {
			vec sum = clamp(sums[i][j], limits);

			if (nc == COLUMNS)
				((unaligned_vec *)out[i])[j] = sum;
			for (size_t lane = 0; nc < COLUMNS && lane < WIDTH && j * WIDTH + lane < nc; lane++)
				out[i][j * WIDTH + lane] = sum[lane];
		}
}

/* *max = the greatest element of a row */
void NAME(f32_rmax)(size_t batch, const float *input, float *max)
{
	float greatest = input[0];

	for (size_t i = 1; i < batch / sizeof(float); i++)
		greatest = input[i] > greatest ? input[i] : greatest;
	*max = greatest;
}

/* output = e^(input - *max) of a row, *sum = their sum */
void NAME(f32_raddstoreexpminusmax)(size_t batch, const float *input, const float *max, float *output, float *sum)
{
	float all = 0;

	for (size_t i = 0; i < batch / sizeof(float); i++)
		all += output[i] = expf(input[i] - *max);
	*sum = all;
}

/* output = input / *divisor, within the limits */
void NAME(f32_vdivc_minmax)(size_t batch, const float *input, const float *divisor, float *output,
			    const struct minmax *limits)
{
	for (size_t i = 0; i < batch / sizeof(float); i++) {
		float value = input[i] / *divisor;

		value = value < limits->min ? limits->min : value;
		output[i] = value > limits->max ? limits->max : value;
	}
}

/* Packs weights for f32_gemm_minmax, for up to nr columns: the biases, then one row of weights for each of kc elements.
 * In `weights` a column is contiguous. */
void NAME(x32_packw_gemm_goi)(size_t g, size_t nc, size_t kc, size_t nr, size_t kr, size_t sr, const float *weights,
			      const float *bias, const void *scale, float *packed, size_t extra_bytes,
			      const void *params)
{
	(void)g, (void)kr, (void)sr, (void)scale, (void)extra_bytes, (void)params; /* 1, 1, 1, none, 0, none */
	for (size_t column = 0; column < nc; column++) {
		packed[column] = bias[column];
		for (size_t k = 0; k < kc; k++)
			packed[(k + 1) * nr + column] = weights[column * kc + k];
	}
}

/* SK_KERNEL takes the name as it stands; this one expands it first. */
#define KERNEL(name, signature) SK_KERNEL(name, signature)
KERNEL(NAME(f32_gemm_minmax),
       "tile=m:" ROWS_TEXT ",n:16 op=Gemm" ISA "; mr u64 = size(m), nc u64 = size(n), kc u64 = 4*k, in a f32[m,k], "
       "a_stride u64 = 4*k, in w f32[n,p], out c f32[m,n], cm_stride u64 = 4*n, cn_stride u64 = 64, "
       "limits {min f32, max f32}*");
KERNEL(NAME(x32_packw_gemm_goi),
       "tile=n:16 op=PackWeights" ISA "; g u64 = 1, nc u64 = size(n), kc u64 = k, nr u64 = 16, kr u64 = 1, sr u64 = 1, "
       "in weights f32[n,k], in bias f32[n], scale ptr = null, out packed f32[n,p], extra_bytes u64 = 0, "
       "params ptr = null");
KERNEL(NAME(f32_rmax), "each=m op=ReduceMax" ISA "; batch u64 = 4*n, in input f32[m,n], out max f32[m]");
KERNEL(NAME(f32_raddstoreexpminusmax),
       "each=m op=ExpMinusMax" ISA "; batch u64 = 4*n, in input f32[m,n], in max f32[m], out output f32[m,n], "
       "out sum f32[m]");
KERNEL(NAME(f32_vdivc_minmax),
       "each=m op=Div" ISA "; batch u64 = 4*n, in input f32[m,n], in divisor f32[m], out output f32[m,n], "
       "limits {min f32, max f32}*");
