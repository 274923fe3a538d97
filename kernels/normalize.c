/* normalize.c: normalisations of rows: (x - mean) / sqrt(variance + epsilon) * scale + bias, of
 *
 *	LayerNormalization	x [m,k], scale [k], bias? [k] -> y [m,k], mean? f32 [m], invstd? f32 [m]
 *	LayerNorm		the same, with the mean and the variance of the type that is computed with
 *	RMSNormalization	x [m,k], scale [k] -> y [m,k], without the mean
 *	InstanceNormalization	x [n,c,i], scale [c], bias [c] -> y [n,c,i], rows of i
 *	GroupNormalization	x [n,g,c,i], scale [g,c], bias [g,c] -> y [n,g,c,i], rows of c * i
 *
 * variants: OP=LayerNorm TYPE=floats ISA=base,v3
 * variants: OP=LayerNormalization,RMSNormalization,InstanceNormalization,GroupNormalization TYPE=floats ISA=base,v3
 */
#include "kernels/family.h"

typedef STORED(TYPE) element;
typedef COMPUTED(TYPE) number;

#include "kernels/normal-rows.h"

#define WORD_LayerNormalization	   1
#define WORD_RMSNormalization	   2
#define WORD_InstanceNormalization 3
#define WORD_GroupNormalization	   4
#define WORD_LayerNorm		   5
#define WORD			   JOIN(WORD_, OP)
#define T			   TEXT(TYPE)

#if WORD == 1
void KERNEL(const element *x, const element *scale, const element *bias, element *y, float *mean, float *invstd,
	    int64_t m, int64_t k, float epsilon)
{
	for (int64_t row = 0; row < m; row++, x += k, y += k) {
		const struct moments moments = moments_of(x, k, epsilon);

		if (mean)
			mean[row] = (float)moments.mean;
		if (invstd)
			invstd[row] = (float)moments.factor;
		scale_row(x, scale, bias, y, k, moments);
	}
}
SIGNATURE("split=m op=" TEXT(OP), "in x " T "[m,k], in scale " T "[k], in? bias " T "[k], out y@x " T
				  "[m,k], out? mean f32[m], out? invstd f32[m], m i64, k i64, epsilon f32 = "
				  "attr(epsilon, 1e-5)");

#elif WORD == 5
#define STATISTIC TEXT(COMPUTED_TYPE(TYPE))

void KERNEL(const element *x, const element *scale, const element *bias, element *y, number *mean, number *variance,
	    int64_t m, int64_t k, float epsilon)
{
	for (int64_t row = 0; row < m; row++, x += k, y += k) {
		const struct moments moments = moments_of(x, k, epsilon);

		if (mean)
			mean[row] = moments.mean;
		if (variance)
			variance[row] = moments.variance;
		scale_row(x, scale, bias, y, k, moments);
	}
}
SIGNATURE("split=m op=" TEXT(OP),
	  "in x " T "[m,k], in scale " T "[k], in? bias " T "[k], out y@x " T "[m,k], out? mean " STATISTIC
	  "[m], out? variance " STATISTIC "[m], m i64, k i64, epsilon f32 = attr(epsilon, 1e-7)");

#elif WORD == 2
void KERNEL(const element *x, const element *scale, element *y, int64_t m, int64_t k, float epsilon)
{
	for (int64_t row = 0; row < m; row++, x += k, y += k)
		scale_by_root(x, scale, NULL, y, k, root_factor(x, k, epsilon));
}
SIGNATURE("split=m op=" TEXT(OP),
	  "in x " T "[m,k], in scale " T "[k], out y@x " T "[m,k], m i64, k i64, epsilon f32 = attr(epsilon, 1e-5)");

#else

/* One channel of a row. */
static ALWAYS_INLINE void scale_channel(const element *x, element *y, int64_t i, struct moments moments, number scale,
					number bias)
{
	number factor = moments.factor * scale;

	INDEPENDENT
	for (int64_t p = 0; p < i; p++)
		y[p] = STORE(TYPE, (LOAD(TYPE, x[p]) - moments.mean) * factor + bias);
}

/* Rows `first` to `first` + `rows` - 1, of `channels` channels in each of `groups` groups. */
static ALWAYS_INLINE void normalize(const element *x, const element *scale, const element *bias, element *y,
				    int64_t rows, int64_t first, int64_t groups, int64_t channels, int64_t i,
				    number epsilon)
{
	for (int64_t row = first; row < first + rows; row++) {
		const struct moments moments = moments_of(x, channels * i, epsilon);
		int64_t at = row % groups * channels;

		for (int64_t c = 0; c < channels; c++, x += i, y += i)
			scale_channel(x, y, i, moments, LOAD(TYPE, scale[at + c]), LOAD(TYPE, bias[at + c]));
	}
}

#if WORD == 3
void KERNEL(const element *x, const element *scale, const element *bias, element *y, int64_t r, int64_t first,
	    int64_t c, int64_t i, float epsilon)
{
	normalize(x, scale, bias, y, r, first, c, 1, i, epsilon);
}
SIGNATURE("split=r op=" TEXT(OP), "in x " T "[r,i], in scale " T "[c], in bias " T "[c], out y@x " T
				  "[r,i], r i64, first i64 = begin(r), c i64, i i64, epsilon f32 = "
				  "attr(epsilon, 1e-5)");
#else
void KERNEL(const element *x, const element *scale, const element *bias, element *y, int64_t r, int64_t first,
	    int64_t g, int64_t c, int64_t i, float epsilon)
{
	normalize(x, scale, bias, y, r, first, g, c, i, epsilon);
}
SIGNATURE("split=r op=" TEXT(OP), "in x " T "[r,c,i], in scale " T "[g,c], in bias " T "[g,c], out y@x " T
				  "[r,c,i], r i64, first i64 = begin(r), g i64, c i64, i i64, epsilon f32 = "
				  "attr(epsilon, 1e-5)");
#endif
#endif
