/* optimisers.c: updates of weights and of their moments by a gradient, all [n]; numbers [1] have the computation type.
 * ApplyAdam is MindSpore's Adam; ONNX has another one.
 *
 *	ApplyAdam: var, m, v, beta1 and beta2 to the power of the step, rate, beta1, beta2, epsilon, gradient
 *		-> var, m, v
 *	AdamApplyOneWithDecay: gradient, v, m, var, rate, beta1, 1 - beta1, beta2, 1 - beta2, decay, epsilon
 *		-> v, m, var
 *	AdamWeightDecay: var, m, v, rate, beta1, beta2, epsilon, decay, gradient -> var, m, v
 *	LambApplyOptimizerAssign: gradient, v, m, var, beta1, 1 - beta1, beta2, 1 - beta2, epsilon, step, whether to
 *		decay, decay -> update, v, m
 *	LambApplyWeightAssign: norm of the weights, norm of the update, rate, update, var -> var
 *	ApplyMomentum: var, accumulation, rate, gradient, momentum -> var, accumulation
 *
 * variants: OP=ApplyAdam,AdamApplyOneWithDecay,AdamWeightDecay,LambApplyOptimizerAssign TYPE=f32,halves ISA=base,v3
 * variants: OP=ApplyAdam,AdamApplyOneWithDecay,AdamWeightDecay,LambApplyOptimizerAssign TYPE=f64
 * variants: OP=LambApplyWeightAssign,ApplyMomentum TYPE=floats ISA=base,v3
 */
#include "kernels/family.h"
#include "kernels/math.h"

typedef STORED(TYPE) element;
typedef COMPUTED(TYPE) number;

#define WORD_ApplyAdam		      1
#define WORD_AdamApplyOneWithDecay    2
#define WORD_AdamWeightDecay	      3
#define WORD_LambApplyOptimizerAssign 4
#define WORD_LambApplyWeightAssign    5
#define WORD_ApplyMomentum	      6
#define WORD			      JOIN(WORD_, OP)
#define IN(name)		      "in " #name " " TEXT(TYPE) "[n], "
#define ONE(name)		      "in " #name " " TEXT(COMPUTED_TYPE(TYPE)) "[1], "
#define OUT(name, from)		      "out new_" #name "@" #from " " TEXT(TYPE) "[n], "
#define ATTRIBUTES		      "split=n op=" TEXT(OP)

#if WORD == 1
void KERNEL(const element *var, const element *m, const element *v, const number *power1, const number *power2,
	    const number *rate, const number *beta1, const number *beta2, const number *epsilon, const element *g,
	    element *new_var, element *new_m, element *new_v, int64_t n, int64_t nesterov)
{
	const number step = *rate * MATH(sqrt)(1 - *power2) / (1 - *power1), decay1 = *beta1, decay2 = *beta2;
	const number least = *epsilon;

	INDEPENDENT
	for (int64_t i = 0; i < n; i++) {
		number gradient = LOAD(TYPE, g[i]), mean = LOAD(TYPE, m[i]), square = LOAD(TYPE, v[i]);
		number next = mean + (1 - decay1) * (gradient - mean);
		number spread = square + (1 - decay2) * (gradient * gradient - square);
		number direction = nesterov ? next * decay1 + (1 - decay1) * gradient : next;

		new_var[i] = STORE(TYPE, LOAD(TYPE, var[i]) - step * direction / (least + MATH(sqrt)(spread)));
		new_m[i] = STORE(TYPE, next);
		new_v[i] = STORE(TYPE, spread);
	}
}
SIGNATURE(ATTRIBUTES, IN(var) IN(m) IN(v) ONE(power1) ONE(power2) ONE(rate) ONE(beta1) ONE(beta2) ONE(epsilon) IN(g)
			      OUT(var, var) OUT(m, m) OUT(v, v) "n i64, nesterov i64 = attr(use_nesterov, 0)");

#elif WORD == 2
void KERNEL(const element *g, const element *v, const element *m, const element *var, const number *rate,
	    const number *beta1, const number *rest1, const number *beta2, const number *rest2, const number *decay,
	    const number *epsilon, element *new_v, element *new_m, element *new_var, int64_t n)
{
	const number step = *rate, old1 = *beta1, new1 = *rest1, old2 = *beta2, new2 = *rest2, less = *decay;
	const number least = *epsilon;

	INDEPENDENT
	for (int64_t i = 0; i < n; i++) {
		number gradient = LOAD(TYPE, g[i]), weight = LOAD(TYPE, var[i]);
		number square = old2 * LOAD(TYPE, v[i]) + new2 * (gradient * gradient);
		number mean = old1 * LOAD(TYPE, m[i]) + new1 * gradient;

		new_v[i] = STORE(TYPE, square);
		new_m[i] = STORE(TYPE, mean);
		new_var[i] = STORE(TYPE, weight - step * (mean / (MATH(sqrt)(square) + least) + less * weight));
	}
}
SIGNATURE(ATTRIBUTES, IN(g) IN(v) IN(m) IN(var) ONE(rate) ONE(beta1) ONE(rest1) ONE(beta2) ONE(rest2) ONE(decay)
			      ONE(epsilon) OUT(v, v) OUT(m, m) OUT(var, var) "n i64");

#elif WORD == 3
void KERNEL(const element *var, const element *m, const element *v, const number *rate, const number *beta1,
	    const number *beta2, const number *epsilon, const number *decay, const element *g, element *new_var,
	    element *new_m, element *new_v, int64_t n)
{
	const number step = *rate, decay1 = *beta1, decay2 = *beta2, less = *decay, least = *epsilon;

	INDEPENDENT
	for (int64_t i = 0; i < n; i++) {
		number gradient = LOAD(TYPE, g[i]), weight = LOAD(TYPE, var[i]);
		number mean = decay1 * LOAD(TYPE, m[i]) + (1 - decay1) * gradient;
		number square = decay2 * LOAD(TYPE, v[i]) + (1 - decay2) * (gradient * gradient);

		new_var[i] = STORE(TYPE, weight - step * (mean / (MATH(sqrt)(square) + least) + less * weight));
		new_m[i] = STORE(TYPE, mean);
		new_v[i] = STORE(TYPE, square);
	}
}
SIGNATURE(ATTRIBUTES, IN(var) IN(m) IN(v) ONE(rate) ONE(beta1) ONE(beta2) ONE(epsilon) ONE(decay) IN(g) OUT(var, var)
			      OUT(m, m) OUT(v, v) "n i64");

#elif WORD == 4
void KERNEL(const element *g, const element *v, const element *m, const element *var, const number *beta1,
	    const number *rest1, const number *beta2, const number *rest2, const number *epsilon, const number *step,
	    const number *decays, const number *decay, element *update, element *new_v, element *new_m, int64_t n)
{
	const number old1 = *beta1, new1 = *rest1, old2 = *beta2, new2 = *rest2, least = *epsilon;
	const number part1 = 1 - MATH(pow)(old1, *step), part2 = 1 - MATH(pow)(old2, *step);
	const number less = *decay, whether = *decays;

	INDEPENDENT
	for (int64_t i = 0; i < n; i++) {
		number gradient = LOAD(TYPE, g[i]);
		number square = old2 * LOAD(TYPE, v[i]) + new2 * (gradient * gradient);
		number mean = old1 * LOAD(TYPE, m[i]) + new1 * gradient;

		update[i] = STORE(TYPE, LOAD(TYPE, var[i]) * less * whether +
						mean / part1 / (MATH(sqrt)(square / part2) + least));
		new_v[i] = STORE(TYPE, square);
		new_m[i] = STORE(TYPE, mean);
	}
}
SIGNATURE(ATTRIBUTES, IN(g) IN(v) IN(m) IN(var) ONE(beta1) ONE(rest1) ONE(beta2) ONE(rest2) ONE(epsilon) ONE(step)
			      ONE(decays) ONE(decay) "out update " TEXT(TYPE) "[n], " OUT(v, v) OUT(m, m) "n i64");

#elif WORD == 5
void KERNEL(const number *weights, const number *updates, const number *rate, const element *update, const element *var,
	    element *new_var, int64_t n)
{
	const number ratio = *weights > 0 && *updates > 0 ? *weights / *updates : 1, step = *rate;

	INDEPENDENT
	for (int64_t i = 0; i < n; i++)
		new_var[i] = STORE(TYPE, LOAD(TYPE, var[i]) - LOAD(TYPE, update[i]) * step * ratio);
}
SIGNATURE(ATTRIBUTES, ONE(weights) ONE(updates) ONE(rate) IN(update) IN(var) OUT(var, var) "n i64");

#else
void KERNEL(const element *var, const element *a, const number *rate, const element *g, const number *momentum,
	    element *new_var, element *new_a, int64_t n, int64_t nesterov, float scale)
{
	const number step = *rate, stays = *momentum;

	INDEPENDENT
	for (int64_t i = 0; i < n; i++) {
		number gradient = LOAD(TYPE, g[i]) * scale, next = LOAD(TYPE, a[i]) * stays + gradient;

		new_var[i] = STORE(TYPE, LOAD(TYPE, var[i]) - (nesterov ? gradient + next * stays : next) * step);
		new_a[i] = STORE(TYPE, next);
	}
}
SIGNATURE(ATTRIBUTES, IN(var) IN(a) ONE(rate) IN(g) ONE(momentum) OUT(var, var)
			      OUT(a, a) "n i64, nesterov i64 = attr(use_nesterov, 0), "
					"scale f32 = attr(gradient_scale, 1)");
#endif
