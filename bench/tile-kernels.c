/* The kernels for measuring tile groups, and the same work as loops by hand: one over the elements or rows, with
 * intermediate values in registers or in a few rows. Both have the same compiler, options and order of additions, so
 * their results are equal to the bit. */
#include <math.h>
#include <stdint.h>

#include "skkernel.h"

enum { LANES = 16 }; /* sums that can be added up at once */

/* ---- elementwise ---- */

static inline float scaled(float x)
{
	return x * 0.75f;
}

static inline float shifted(float x)
{
	return x + 0.125f;
}

static inline float squared(float x)
{
	return x * x;
}

static inline float halved(float x)
{
	return 1 - x * 0.5f;
}

/* The limit that defines e^x, with 256 for infinity: compilers vectorize it. */
static inline float exponential(float x)
{
	float y = 1 + x * (1.0f / 256);

	for (int i = 0; i < 8; i++)
		y *= y;
	return y;
}

static inline float gelu_of(float x)
{
	return x / (1 + exponential(-1.702f * x));
}

#define ELEMENTWISE(name, function)                                                                                    \
	SK_KERNEL(name, "split=n; in x f32[n], out y f32[n], n i64");                                                  \
	void name(const float *restrict x, float *restrict y, int64_t n)                                               \
	{                                                                                                              \
		for (int64_t i = 0; i < n; i++)                                                                        \
			y[i] = function(x[i]);                                                                         \
	}
ELEMENTWISE(scale, scaled)
ELEMENTWISE(shift, shifted)
ELEMENTWISE(square, squared)
ELEMENTWISE(halve, halved)
ELEMENTWISE(gelu, gelu_of)

SK_KERNEL(add, "split=n; in a f32[n], in b f32[n], out y f32[n], n i64");
void add(const float *restrict a, const float *restrict b, float *restrict y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = a[i] + b[i];
}

SK_KERNEL(hand_five, "split=n; in x f32[n], out y f32[n], n i64");
void hand_five(const float *restrict x, float *restrict y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = scaled(halved(squared(shifted(scaled(x[i])))));
}

/* Ten times a fork of two that join, and a fourth kernel after them. */
SK_KERNEL(hand_forks, "split=n; in x f32[n], out y f32[n], n i64");
void hand_forks(const float *restrict x, float *restrict y, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		float value = x[i];

		for (int fork = 0; fork < 10; fork++)
			value = halved(scaled(value) + squared(value));
		y[i] = value;
	}
}

/* ---- rows ---- */

static inline float greatest(const float *x, int64_t k)
{
	float lanes[LANES], most;

	for (int j = 0; j < LANES; j++)
		lanes[j] = x[j];
	for (int64_t i = LANES; i < k; i += LANES)
		for (int j = 0; j < LANES; j++)
			lanes[j] = x[i + j] > lanes[j] ? x[i + j] : lanes[j];
	most = lanes[0];
	for (int j = 1; j < LANES; j++)
		most = lanes[j] > most ? lanes[j] : most;
	return most;
}

static inline float total(const float *x, int64_t k)
{
	float lanes[LANES] = {0}, sum = 0;

	for (int64_t i = 0; i < k; i += LANES)
		for (int j = 0; j < LANES; j++)
			lanes[j] += x[i + j];
	for (int j = 0; j < LANES; j++)
		sum += lanes[j];
	return sum;
}

static inline float total_of_squares(const float *x, int64_t k)
{
	float lanes[LANES] = {0}, sum = 0;

	for (int64_t i = 0; i < k; i += LANES)
		for (int j = 0; j < LANES; j++)
			lanes[j] += x[i + j] * x[i + j];
	for (int j = 0; j < LANES; j++)
		sum += lanes[j];
	return sum;
}

static inline void subtract_row(const float *restrict x, float most, float *restrict y, int64_t k)
{
	for (int64_t i = 0; i < k; i++)
		y[i] = exponential(x[i] - most);
}

static inline void divide_row(const float *x, float sum, float *y, int64_t k)
{
	float factor = 1 / sum;

	for (int64_t i = 0; i < k; i++)
		y[i] = x[i] * factor;
}

static inline void normalise_row(const float *x, float *y, int64_t k)
{
	float mean = total(x, k) / (float)k, factor;

	factor = 1 / sqrtf(total_of_squares(x, k) / (float)k - mean * mean + 1e-5f);
	for (int64_t i = 0; i < k; i++)
		y[i] = (x[i] - mean) * factor;
}

static inline void multiply_row(const float *restrict x, const float *restrict w, float *restrict y, int64_t k,
				int64_t n)
{
	for (int64_t j = 0; j < n; j++)
		y[j] = 0;
	for (int64_t i = 0; i < k; i++)
		for (int64_t j = 0; j < n; j++)
			y[j] += x[i] * w[i * n + j];
}

SK_KERNEL(row_max, "split=m; in x f32[m,k], out most f32[m], m i64, k i64");
void row_max(const float *x, float *most, int64_t m, int64_t k)
{
	for (int64_t row = 0; row < m; row++)
		most[row] = greatest(x + row * k, k);
}

SK_KERNEL(subtract_exp, "split=m; in x f32[m,k], in most f32[m], out y f32[m,k], m i64, k i64");
void subtract_exp(const float *x, const float *most, float *y, int64_t m, int64_t k)
{
	for (int64_t row = 0; row < m; row++)
		subtract_row(x + row * k, most[row], y + row * k, k);
}

SK_KERNEL(row_sum, "split=m; in x f32[m,k], out sum f32[m], m i64, k i64");
void row_sum(const float *x, float *sum, int64_t m, int64_t k)
{
	for (int64_t row = 0; row < m; row++)
		sum[row] = total(x + row * k, k);
}

SK_KERNEL(divide, "split=m; in x f32[m,k], in sum f32[m], out y f32[m,k], m i64, k i64");
void divide(const float *x, const float *sum, float *y, int64_t m, int64_t k)
{
	for (int64_t row = 0; row < m; row++)
		divide_row(x + row * k, sum[row], y + row * k, k);
}

SK_KERNEL(hand_softmax, "split=m; in x f32[m,k], out y f32[m,k], m i64, k i64");
void hand_softmax(const float *x, float *y, int64_t m, int64_t k)
{
	for (int64_t row = 0; row < m; row++, x += k, y += k) {
		subtract_row(x, greatest(x, k), y, k);
		divide_row(y, total(y, k), y, k);
	}
}

SK_KERNEL(multiply, "split=m; in x f32[m,k], in w f32[k,n], out y f32[m,n], m i64, k i64, n i64");
void multiply(const float *x, const float *w, float *y, int64_t m, int64_t k, int64_t n)
{
	for (int64_t row = 0; row < m; row++)
		multiply_row(x + row * k, w, y + row * n, k, n);
}

SK_KERNEL(bias, "split=m; in x f32[m,k], in b f32[k], out y f32[m,k], m i64, k i64");
void bias(const float *x, const float *b, float *y, int64_t m, int64_t k)
{
	for (int64_t row = 0; row < m; row++)
		add(x + row * k, b, y + row * k, k);
}

SK_KERNEL(normalise, "split=m; in x f32[m,k], out y f32[m,k], m i64, k i64");
void normalise(const float *x, float *y, int64_t m, int64_t k)
{
	for (int64_t row = 0; row < m; row++)
		normalise_row(x + row * k, y + row * k, k);
}

SK_KERNEL(hand_layer,
	  "split=m; in x f32[m,k], in w f32[k,n], in b f32[n], in residual f32[m,n], out y f32[m,n], m i64, "
	  "k i64, n i64");
void hand_layer(const float *x, const float *w, const float *b, const float *residual, float *y, int64_t m, int64_t k,
		int64_t n)
{
	for (int64_t row = 0; row < m; row++, x += k, residual += n, y += n) {
		multiply_row(x, w, y, k, n);
		for (int64_t j = 0; j < n; j++)
			y[j] = gelu_of(y[j] + b[j]) + residual[j];
		normalise_row(y, y, n);
	}
}
