/* training.c: updates of weights x by gradients g, with the rate r and the number of updates so far, t.
 *
 * variants: OP=Adam TYPE=f32 ISA=base,v3
 * variants: OP=Momentum TYPE=f32,f64 ISA=base,v3
 * variants: OP=Adam TYPE=f64
 * variants: OP=Adagrad TYPE=f32,f64
 */
#include "kernels/family.h"

typedef STORED(TYPE) number;

#define ROOT_f32 __builtin_sqrtf
#define ROOT_f64 __builtin_sqrt
#define ROOT	 JOIN(ROOT_, TYPE)

#define IS_Adagrad  1
#define IS_Adam	    2
#define IS_Momentum 3
#define KIND	    JOIN(IS_, OP)
#define T	    TEXT(TYPE)
#define COMMON	    "in r " T "[1], in t i64[1], in x " T "[n], in g " T "[n], "
#define NORM	    ", norm f32 = attr(norm_coefficient, 0)"

#if KIND == 1
void KERNEL(const number *r, const int64_t *t, const number *x, const number *g, const number *h, number *new_x,
	    number *new_h, int64_t n, float norm, float decay, float epsilon)
{
	number rate = *r / (1 + (number)*t * decay);

	INDEPENDENT
	for (int64_t i = 0; i < n; i++) {
		number gradient = norm * x[i] + g[i], square = h[i] + gradient * gradient;
		new_x[i] = x[i] - rate * gradient / (ROOT(square) + epsilon);
		new_h[i] = square;
	}
}
SIGNATURE("split=n op=Adagrad", COMMON "in h " T "[n], out new_x " T "[n], out new_h " T "[n], n i64" NORM
				       ", decay f32 = attr(decay_factor, 0), epsilon f32 = attr(epsilon, 1e-6)");
#elif KIND == 2
/* Computed in f64: squaring doubles errors, and 1 minus the power has few significant digits. */
static inline double power(double x, int64_t times)
{
	double result = 1;

	for (; times > 0; times >>= 1, x *= x)
		result *= times & 1 ? x : 1;
	return result;
}

void KERNEL(const number *r, const int64_t *t, const number *x, const number *g, const number *v, const number *h,
	    number *new_x, number *new_v, number *new_h, int64_t n, float norm, float post, float alpha, float beta,
	    float epsilon)
{
	number rate = *t > 0 ? (number)(*r * __builtin_sqrt(1 - power(beta, *t)) / (1 - power(alpha, *t))) : *r;

	INDEPENDENT
	for (int64_t i = 0; i < n; i++) {
		number gradient = norm * x[i] + g[i];
		number mean = alpha * v[i] + (1 - (number)alpha) * gradient;
		number square = beta * h[i] + (1 - (number)beta) * (gradient * gradient);
		new_x[i] = (1 - (number)post) * (x[i] - rate * mean / (ROOT(square) + epsilon));
		new_v[i] = mean;
		new_h[i] = square;
	}
}
SIGNATURE("split=n op=Adam", COMMON
	  "in v " T "[n], in h " T "[n], out new_x " T "[n], out new_v " T "[n], out new_h " T "[n], n i64" NORM
	  ", post f32 = attr(norm_coefficient_post, 0), alpha f32 = attr(alpha, 0.9), beta f32 = attr(beta, 0.999)"
	  ", epsilon f32 = attr(epsilon, 1e-6)");
#else
void KERNEL(const number *r, const int64_t *t, const number *x, const number *g, const number *v, number *new_x,
	    number *new_v, int64_t n, float norm, float alpha, float beta, int64_t nesterov)
{
	number part = *t > 0 ? beta : 1, rate = *r;

	INDEPENDENT
	for (int64_t i = 0; i < n; i++) {
		number gradient = norm * x[i] + g[i], moment = alpha * v[i] + part * gradient;
		new_x[i] = x[i] - rate * (nesterov ? gradient + alpha * moment : moment);
		new_v[i] = moment;
	}
}
SIGNATURE("split=n op=Momentum",
	  COMMON "in v " T "[n], out new_x " T "[n], out new_v " T "[n], n i64" NORM
		 ", alpha f32 = attr(alpha), beta f32 = attr(beta), nesterov i64 = attr(nesterov, 0)");
#endif
