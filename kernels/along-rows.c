/* along-rows.c: sums of rows [m,k], made in p parts of neighbouring rows: sums [p,k] of the computation type, which
 * ReduceSum adds up. Rows are read once, one after the other; the number of parts depends on the shape alone.
 *
 *	SumRows		x [m,k] -> sums [p,k]
 *	LayerNormGrad	x [m,k], dy [m,k], variance [m], mean [m], gamma [k] -> dx [m,k], sums of (x - mean) /
 *			sqrt(variance + epsilon) dy [p,k], sums of dy [p,k]
 *
 * variants: OP=SumRows,LayerNormGrad TYPE=floats ISA=base,v3
 */
#include "kernels/family.h"
#include "kernels/math.h"

typedef STORED(TYPE) element;
typedef COMPUTED(TYPE) number;

#include "kernels/along.h"

#define IS_Sum_SumRows 1
#define IS_SUM	       JOIN(IS_Sum_, OP)
#define T	       TEXT(TYPE)
#define N	       TEXT(COMPUTED_TYPE(TYPE))

/* Return the first row of a part. */
static ALWAYS_INLINE int64_t row_of(int64_t part, int64_t m, int64_t p)
{
	return m / p * part + (part < m % p ? part : m % p);
}

#if IS_SUM
void KERNEL(const element *x, number *sums, int64_t m, int64_t k, int64_t p, int64_t part)
{
	int64_t row = row_of(part, m, p), end = row_of(part + 1, m, p);
	const element *from = x + row * k;

	sums += part * k;
	for (int64_t j = 0; j < k; j++)
		sums[j] = 0;
	/* Four rows at a time, in order: sums are read and written less often. */
	for (; end - row >= 4; row += 4, from += 4 * k) {
		INDEPENDENT
		for (int64_t j = 0; j < k; j++)
			sums[j] = sums[j] + LOAD(TYPE, from[j]) + LOAD(TYPE, from[k + j]) +
				  LOAD(TYPE, from[2 * k + j]) + LOAD(TYPE, from[3 * k + j]);
	}
	for (; row < end; row++, from += k) {
		INDEPENDENT
		for (int64_t j = 0; j < k; j++)
			sums[j] += LOAD(TYPE, from[j]);
	}
}
SIGNATURE("grid=p op=" TEXT(OP), "in x " T "[m,k], out sums " N "[p,k], m i64, k i64, p i64, part i64 = block.index");

#else

struct row {
	const element *x, *dy;
	element *dx;
	number mean, factor; /* one over the deviation */
};

/* dx of one row, in two passes: the means of dy gamma, and of that times x as it was normalized, are taken off. */
static ALWAYS_INLINE void compute_row(struct row row, const element *gamma, number *gammas, number *betas, int64_t k)
{
	number plain[LANES], weighted[LANES];
	int64_t p = 0;

	for (int j = 0; j < LANES; j++)
		plain[j] = weighted[j] = 0;
	for (; k - p >= LANES; p += LANES)
		for (int j = 0; j < LANES; j++) {
			number g = LOAD(TYPE, row.dy[p + j]) * LOAD(TYPE, gamma[p + j]);
			plain[j] += g;
			weighted[j] += g * ((LOAD(TYPE, row.x[p + j]) - row.mean) * row.factor);
		}
	for (int j = 0; p + j < k; j++) {
		number g = LOAD(TYPE, row.dy[p + j]) * LOAD(TYPE, gamma[p + j]);
		plain[j] += g;
		weighted[j] += g * ((LOAD(TYPE, row.x[p + j]) - row.mean) * row.factor);
	}
	for (int half = LANES / 2; half; half /= 2)
		for (int j = 0; j < half; j++) {
			plain[j] += plain[half + j];
			weighted[j] += weighted[half + j];
		}
	const number off = plain[0] / (number)k, tilt = weighted[0] / (number)k;

	INDEPENDENT
	for (p = 0; p < k; p++) {
		number dy = LOAD(TYPE, row.dy[p]), normal = (LOAD(TYPE, row.x[p]) - row.mean) * row.factor;

		gammas[p] += dy * normal;
		betas[p] += dy;
		row.dx[p] = STORE(TYPE, (dy * LOAD(TYPE, gamma[p]) - off - normal * tilt) * row.factor);
	}
}

void KERNEL(const element *x, const element *dy, const number *variance, const number *mean, const element *gamma,
	    element *dx, number *gammas, number *betas, int64_t m, int64_t k, int64_t p, int64_t part, float epsilon)
{
	int64_t end = row_of(part + 1, m, p);

	gammas += part * k;
	betas += part * k;
	for (int64_t j = 0; j < k; j++)
		gammas[j] = betas[j] = 0;
	for (int64_t row = row_of(part, m, p); row < end; row++)
		compute_row((struct row){x + row * k, dy + row * k, dx + row * k, mean[row],
					 1 / MATH(sqrt)(variance[row] + (number)epsilon)},
			    gamma, gammas, betas, k);
}
SIGNATURE("grid=p op=" TEXT(OP), "in x " T "[m,k], in dy " T "[m,k], in variance " N "[m], in mean " N
				 "[m], in gamma " T "[k], out dx " T "[m,k], out gammas " N "[p,k], out betas " N
				 "[p,k], m i64, k i64, p i64, part i64 = block.index, epsilon f32 = "
				 "attr(epsilon, 1e-12)");
#endif
