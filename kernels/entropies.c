/* entropies.c: losses of each element or row, before reduction; results that are reduced later have the computation
 * type.
 *
 *	BinaryCrossEntropy	probabilities x [n], labels [n], weights? [n] -> [n]
 *	BCEWithLogitsLoss	logits x [n], labels [n], weights? [n], weights of labels? [n] -> [n]
 *	SoftmaxCrossEntropyWithLogits	logits x [m,k], labels [m,k] -> losses [m], gradients of x [m,k]
 *
 * variants: OP=BinaryCrossEntropy,SoftmaxCrossEntropyWithLogits TYPE=floats ISA=base,v3
 * variants: OP=BCEWithLogitsLoss TYPE=f32,f64 ISA=base,v3
 * variants: OP=BCEWithLogitsLoss TYPE=halves
 */
#include "kernels/family.h"
#include "kernels/math.h"

typedef STORED(TYPE) element;
typedef COMPUTED(TYPE) number;

#include "kernels/along.h"

#define WORD_BinaryCrossEntropy		   1
#define WORD_BCEWithLogitsLoss		   2
#define WORD_SoftmaxCrossEntropyWithLogits 3
#define WORD				   JOIN(WORD_, OP)
#define T				   TEXT(TYPE)
#define N				   TEXT(COMPUTED_TYPE(TYPE))

#if WORD == 1
/* The logarithm is limited to -100, so that an event of probability 0 that happens does not make all weights infinite.
 * A NaN stays a NaN. */
static ALWAYS_INLINE number logarithm(number x)
{
	number result = MATH(log)(x);

	return result < -100 ? -100 : result;
}

/* Logarithms of x and of 1 - x; log1p would be more exact near 1, but other implementations compute it in this way. */
static ALWAYS_INLINE number loss_of(number x, number label)
{
	return -(label * logarithm(x) + (1 - label) * logarithm(1 - x));
}

void KERNEL(const element *x, const element *label, const element *weight, number *loss, int64_t n)
{
	if (weight) {
		INDEPENDENT
		for (int64_t i = 0; i < n; i++)
			loss[i] = loss_of(LOAD(TYPE, x[i]), LOAD(TYPE, label[i])) * LOAD(TYPE, weight[i]);
	} else {
		INDEPENDENT
		for (int64_t i = 0; i < n; i++)
			loss[i] = loss_of(LOAD(TYPE, x[i]), LOAD(TYPE, label[i]));
	}
}
SIGNATURE("split=n op=" TEXT(OP), "in x " T "[n], in label " T "[n], in? weight " T "[n], out loss " N "[n], n i64");

#elif WORD == 2
void KERNEL(const element *x, const element *label, const element *weight, const element *positive, number *loss,
	    int64_t n)
{
	INDEPENDENT
	for (int64_t i = 0; i < n; i++) {
		number logit = LOAD(TYPE, x[i]), wanted = LOAD(TYPE, label[i]);

		number factor = positive ? (LOAD(TYPE, positive[i]) - 1) * wanted + 1 : 1;

		/* -log(sigmoid(x)) times the factor, and -log(1 - sigmoid(x)), which is x more. The linear parts come
		 * first, since they cancel out with little loss. */
		loss[i] = ((1 - wanted) * logit + (logit < 0 ? factor * -logit : 0)) +
			  factor * MATH(softplus)(-MATH(abs)(logit));
		loss[i] *= weight ? LOAD(TYPE, weight[i]) : 1;
	}
}
SIGNATURE("split=n op=" TEXT(OP),
	  "in x " T "[n], in label " T "[n], in? weight " T "[n], in? positive " T "[n], out loss " N "[n], n i64");

#else
static ALWAYS_INLINE number add_exponential(number sum, number x, number with)
{
	return sum + MATH(exp)(x - with);
}

void KERNEL(const element *x, const element *label, number *loss, element *dx, int64_t m, int64_t k)
{
	for (int64_t row = 0; row < m; row++, x += k, label += k, dx += k) {
		number most = fold_row(x, k, -__builtin_inf(), larger, larger, 0), sums[LANES];
		number sum = fold_row(x, k, 0, add_exponential, add, most), log_sum = MATH(log)(sum);
		int64_t p = 0;

		for (int j = 0; j < LANES; j++)
			sums[j] = 0;
		/* A label of 0 adds no loss, however unlikely it is. */
		for (; k - p >= LANES; p += LANES)
			for (int j = 0; j < LANES; j++) {
				number wanted = LOAD(TYPE, label[p + j]);
				number term = wanted * (LOAD(TYPE, x[p + j]) - most - log_sum);
				sums[j] -= wanted == 0 ? 0 : term;
			}
		for (int j = 0; p + j < k; j++) {
			number wanted = LOAD(TYPE, label[p + j]);
			number term = wanted * (LOAD(TYPE, x[p + j]) - most - log_sum);
			sums[j] -= wanted == 0 ? 0 : term;
		}
		for (int half = LANES / 2; half; half /= 2)
			for (int j = 0; j < half; j++)
				sums[j] += sums[half + j];
		loss[row] = sums[0];
		INDEPENDENT
		for (p = 0; p < k; p++)
			dx[p] = STORE(TYPE, MATH(exp)(LOAD(TYPE, x[p]) - most) / sum - LOAD(TYPE, label[p]));
	}
}
SIGNATURE("split=m op=" TEXT(OP),
	  "in x " T "[m,k], in label " T "[m,k], out loss " N "[m], out dx@x " T "[m,k], m i64, k i64");
#endif
