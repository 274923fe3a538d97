/* Compares the kernels of libskernels.a that training needs (optimisers.c, row-gradients.c, entropies.c, along-rows.c,
 * and LayerNorm of normalize.c) with plain loops in long double: whole, and in parts as cores compute them, which must
 * give the same bytes. It is compiled with these macros: TYPE, the suffix of the kernels' names; ELEMENT, the type that
 * they store; NUMBER, the type that they compute with (for halves, sums and losses are floats); and for bf16, which
 * compilers need not know, BF16. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef ELEMENT element;
typedef const element *operand;
typedef NUMBER number;
typedef const number *scalar;
typedef long double wide;

#define JOIN_WORDS(a, b)    a##b
#define JOIN(a, b)	    JOIN_WORDS(a, b)
#define KERNEL(name, shape) JOIN(JOIN(sk_##name##_, TYPE), JOIN(shape, LEVEL))

void KERNEL(applyadam, )(operand, operand, operand, scalar, scalar, scalar, scalar, scalar, scalar, operand, element *,
			 element *, element *, int64_t, int64_t);
void KERNEL(adamapplyonewithdecay, )(operand, operand, operand, operand, scalar, scalar, scalar, scalar, scalar, scalar,
				     scalar, element *, element *, element *, int64_t);
void KERNEL(adamweightdecay, )(operand, operand, operand, scalar, scalar, scalar, scalar, scalar, operand, element *,
			       element *, element *, int64_t);
void KERNEL(lambapplyoptimizerassign, )(operand, operand, operand, operand, scalar, scalar, scalar, scalar, scalar,
					scalar, scalar, scalar, element *, element *, element *, int64_t);
void KERNEL(lambapplyweightassign, )(scalar, scalar, scalar, operand, operand, element *, int64_t);
void KERNEL(applymomentum, )(operand, operand, scalar, operand, scalar, element *, element *, int64_t, int64_t, float);
void KERNEL(softmaxgrad, _rows)(operand, operand, scalar, element *, int64_t, int64_t);
void KERNEL(softmaxgrad, _planes)(operand, operand, scalar, element *, int64_t, int64_t, int64_t);
void KERNEL(logsoftmaxgrad, _rows)(operand, operand, element *, int64_t, int64_t);
void KERNEL(logsoftmaxgrad, _planes)(operand, operand, element *, int64_t, int64_t, int64_t);
void KERNEL(binarycrossentropy, )(operand, operand, operand, number *, int64_t);
void KERNEL(bcewithlogitsloss, )(operand, operand, operand, operand, number *, int64_t);
void KERNEL(softmaxcrossentropywithlogits, )(operand, operand, number *, element *, int64_t, int64_t);
void KERNEL(sumrows, )(operand, number *, int64_t, int64_t, int64_t, int64_t);
void KERNEL(layernormgrad, )(operand, operand, scalar, scalar, operand, element *, number *, number *, int64_t, int64_t,
			     int64_t, int64_t, float);
void KERNEL(layernorm, )(operand, operand, operand, element *, number *, number *, int64_t, int64_t, float);

enum { MOST = 200 * 70, GUARD = 8 };

static element a[MOST], b[MOST], c[MOST], positive[MOST], part[MOST], y[3][MOST + GUARD], z[3][MOST + GUARD];
static number sums[3][MOST + GUARD], sums_of_parts[3][MOST + GUARD];
static int failures;

#ifdef BF16
#define UNIT 0x1p-8L /* the relative error of rounding to the stored type */
static number value(element x)
{
	number y;

	memcpy(&y, &(uint32_t){(uint32_t)x << 16}, sizeof(y));
	return y;
}

static element stored(number x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return isnan(x) ? 0x7fc0 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}
#else
#define UNIT	  0x1p-11L
#define value(x)  (x)
#define stored(x) (x)
#endif

/* So many roundings of the magnitude. */
static void expect_number(const char *name, int64_t at, wide got, wide wanted, wide magnitude, int64_t roundings)
{
	wide allowed = roundings * (sizeof(number) == 8 ? 0x1p-53L : 0x1p-24L) * fmaxl(magnitude, fabsl(wanted));

	if (fabsl(got - wanted) <= allowed || (isnan(got) && isnan(wanted)))
		return;
	if (failures++ < 20)
		printf("%s: element %ld is %.17g, not %.17Lg\n", name, (long)at, (double)got, wanted);
}

/* Halves are rounded once more; the magnitude of those that are denormal is such that 2^-24 of it is their last place.
 */
static void expect(const char *name, int64_t at, element got, wide wanted, wide magnitude, int64_t roundings)
{
	if (sizeof(element) < sizeof(number))
		magnitude = fmaxl(fmaxl(magnitude, fabsl(wanted) * UNIT * 0x1p24L / roundings), 1.0L / roundings);
	expect_number(name, at, value(got), wanted, magnitude, roundings);
}

static void expect_bytes(const char *name, int output, const void *whole, const void *parts, int64_t n, size_t size)
{
	const unsigned char *behind = (const unsigned char *)whole + n * size;

	if (n && memcmp(whole, parts, n * size) && failures++ < 20)
		printf("%s: parts of output %d of %ld are other bytes\n", name, output, (long)n);
	for (size_t j = 0; j < GUARD * size; j++)
		if (behind[j] != 0x5a && failures++ < 20)
			printf("%s: output %d goes on behind element %ld\n", name, output, (long)n);
}

static void expect_parts(const char *name, int outputs, int64_t n)
{
	for (int i = 0; i < outputs; i++)
		expect_bytes(name, i, y[i], z[i], n, sizeof(element));
}

static void expect_parts_of_sums(const char *name, int outputs, int64_t n)
{
	for (int i = 0; i < outputs; i++)
		expect_bytes(name, i, sums[i], sums_of_parts[i], n, sizeof(number));
}

static void begin(int64_t n)
{
	for (int i = 0; i < 3; i++) {
		memset(&y[i][n], 0x5a, GUARD * sizeof(element));
		memset(&sums[i][n], 0x5a, GUARD * sizeof(number));
	}
}

/* ---- optimisers ---- */

static const number rate = 0.25, one_of = 0.729, two_of = 0.997, beta1 = 0.9, beta2 = 0.99, decay = 0.125, step = 3;
static const number epsilon = 1e-3, rest1 = 0.1, rest2 = 0.01, yes = 1;

static void call_optimiser(int which, int nesterov, int64_t from, int64_t n, element to[3][MOST + GUARD])
{
	operand g = a + from, m = b + from, var = c + from, v = positive + from;
	element *o0 = to[0] + from, *o1 = to[1] + from, *o2 = to[2] + from;

	switch (which) {
	case 0:
		KERNEL(applyadam, )
		(var, m, v, &one_of, &two_of, &rate, &beta1, &beta2, &epsilon, g, o0, o1, o2, n, nesterov);
		break;
	case 1:
		KERNEL(adamapplyonewithdecay, )
		(g, v, m, var, &rate, &beta1, &rest1, &beta2, &rest2, &decay, &epsilon, o0, o1, o2, n);
		break;
	case 2:
		KERNEL(adamweightdecay, )(var, m, v, &rate, &beta1, &beta2, &epsilon, &decay, g, o0, o1, o2, n);
		break;
	case 3:
		KERNEL(lambapplyoptimizerassign, )
		(g, v, m, var, &beta1, &rest1, &beta2, &rest2, &epsilon, &step, &yes, &decay, o0, o1, o2, n);
		break;
	case 4:
		KERNEL(lambapplyweightassign, )(&step, &rate, &rate, g, var, o0, n);
		break;
	default:
		KERNEL(applymomentum, )(var, m, &rate, g, &beta1, o0, o1, n, nesterov, 0.5f);
	}
}

/* Compute the optimiser's outputs for element i, in their order. */
static void optimise(int which, int nesterov, int64_t i, wide out[3])
{
	wide g = value(a[i]), m = value(b[i]), var = value(c[i]), v = value(positive[i]),
	     new1 = which == 1 || which == 3 ? rest1 : 1 - (wide)beta1;
	wide new2 = which == 1 || which == 3 ? rest2 : 1 - (wide)beta2, mean = beta1 * m + new1 * g;
	wide square = beta2 * v + new2 * g * g;
	wide weight = var - rate * (mean / (sqrtl(square) + epsilon) + decay * var);

	if (which == 0) {
		wide ahead = nesterov ? mean * beta1 + new1 * g : mean;

		out[0] = var - rate * sqrtl(1 - (wide)two_of) / (1 - (wide)one_of) * ahead / (sqrtl(square) + epsilon);
		out[1] = mean;
		out[2] = square;
	} else if (which == 1) {
		out[0] = square;
		out[1] = mean;
		out[2] = weight;
	} else if (which == 2) {
		out[0] = weight;
		out[1] = mean;
		out[2] = square;
	} else if (which == 3) {
		out[0] = var * decay +
			 mean / (1 - powl(beta1, step)) / (sqrtl(square / (1 - powl(beta2, step))) + epsilon);
		out[1] = square;
		out[2] = mean;
	} else if (which == 4) {
		out[0] = var - step / (wide)rate * rate * g;
	} else {
		wide gradient = g / 2, next = m * beta1 + gradient;

		out[0] = var - (nesterov ? gradient + next * beta1 : next) * rate;
		out[1] = next;
	}
}

static void check_optimisers(int64_t n)
{
	static const char *const names[] = {"ApplyAdam",
					    "AdamApplyOneWithDecay",
					    "AdamWeightDecay",
					    "LambApplyOptimizerAssign",
					    "LambApplyWeightAssign",
					    "ApplyMomentum"};
	static const int outputs[] = {3, 3, 3, 3, 1, 2};

	for (int which = 0; which < 6; which++)
		for (int nesterov = 0; nesterov < 2; nesterov++) {
			begin(n);
			call_optimiser(which, nesterov, 0, n, y);
			for (int64_t from = 0; from < n; from += 64)
				call_optimiser(which, nesterov, from, n - from < 64 ? n - from : 64, z);
			expect_parts(names[which], outputs[which], n);
			for (int64_t i = 0; i < n; i++) {
				wide wanted[3];

				optimise(which, nesterov, i, wanted);
				for (int o = 0; o < outputs[which]; o++) /* 1 - beta loses up to 2^7 of its bits */
					expect(names[which], i, y[o][i], wanted[o], 8, which == 3 ? 512 : 16);
			}
		}
}

/* ---- losses ---- */

static void check_losses(int64_t n)
{
	for (int weighs = 0; weighs < 2; weighs++) {
		begin(n);
		KERNEL(binarycrossentropy, )(part, positive, weighs ? b : NULL, sums[0], n);
		KERNEL(bcewithlogitsloss, )(a, part, weighs ? b : NULL, weighs ? positive : NULL, sums[1], n);
		for (int64_t at = 0, k; at < n; at += k) {
			k = n - at < 64 ? n - at : 64;
			KERNEL(binarycrossentropy, )
			(part + at, positive + at, weighs ? b + at : NULL, sums_of_parts[0] + at, k);
			KERNEL(bcewithlogitsloss, )
			(a + at, part + at, weighs ? b + at : NULL, weighs ? positive + at : NULL,
			 sums_of_parts[1] + at, k);
		}
		expect_parts_of_sums("losses", 2, n);
		for (int64_t i = 0; i < n; i++) {
			wide weight = weighs ? value(b[i]) : 1, label = value(part[i]),
			     times = weighs ? value(positive[i]) : 1;
			wide soft = log1pl(expl(-fabsl(value(a[i])))), up = fmaxl(-(wide)value(a[i]), 0) + soft;
			wide logs[2] = {logl(value(part[i])), log1pl(-(wide)value(part[i]))};

			expect_number("BinaryCrossEntropy", i, sums[0][i],
				      -weight *
					      (value(positive[i]) * logs[0] + (1 - (wide)value(positive[i])) * logs[1]),
				      fabsl(weight) * value(positive[i]) * 8, 16);
			expect_number("BCEWithLogitsLoss", i, sums[1][i],
				      weight * ((1 - label) * value(a[i]) + (1 + (times - 1) * label) * up),
				      fabsl(weight) * (fabsl(value(a[i])) + (1 + times) * up), 16);
		}
	}
}

/* An impossible event that happens has a loss of 100; a NaN stays a NaN. */
static void check_limits(void)
{
	const number tiny = sizeof(element) == 2 ? 0 : sizeof(element) == 4 ? 1e-44 : 1e-300;
	const element x[] = {0, 0, stored(1), stored(1), stored(NAN), stored(tiny)};
	const element label[] = {0, stored(1), stored(1), 0, 0, stored(1)};
	const number wanted[] = {0, 100, 0, 100, NAN, 100};
	number loss[6];

	KERNEL(binarycrossentropy, )(x, label, NULL, loss, 6);
	for (int i = 0; i < 6; i++)
		expect_number("BinaryCrossEntropy of limits", i, loss[i], wanted[i], 0, 0);
	const element far[] = {0, stored(sizeof(element) == 2 ? -6e4 : -1e30), stored(-INFINITY)},
		      class[] = {stored(1), 0, 0};

	KERNEL(softmaxcrossentropywithlogits, )(far, class, loss, y[0], 1, 3);
	expect_number("SoftmaxCrossEntropyWithLogits of limits", 0, loss[0], 0, 0, 0);
}

static void check_softmax_entropy(int64_t m, int64_t k)
{
	begin(m * k);
	KERNEL(softmaxcrossentropywithlogits, )(a, part, sums[1], y[0], m, k);
	for (int64_t row = 0; row < m; row++)
		KERNEL(softmaxcrossentropywithlogits, )
	(a + row * k, part + row * k, sums_of_parts[1] + row, z[0] + row * k, 1, k);
	expect_parts("SoftmaxCrossEntropyWithLogits", 1, m * k);
	for (int64_t row = 0; row < m; row++) {
		wide sum = 0, loss = 0, most = 0;

		for (int64_t p = 0; p < k; p++)
			sum += expl(value(a[row * k + p]));
		for (int64_t p = 0; p < k; p++) {
			loss -= value(part[row * k + p]) * (value(a[row * k + p]) - logl(sum));
			most += fabsl(value(part[row * k + p])) * 8;
			expect("SoftmaxCrossEntropyWithLogits", row * k + p, y[0][row * k + p],
			       expl(value(a[row * k + p])) / sum - value(part[row * k + p]), 1, k + 8);
		}
		expect_number("losses of rows", row, sums[1][row], loss, most, k + 8);
	}
}

/* ---- gradients along axes ---- */

static void check_row_gradients(int64_t o, int64_t k, int64_t i)
{
	int64_t row = k * i, n = o * row;

	begin(n);
	for (int which = 0; which < 2; which++)
		for (int64_t at = 0; at <= o; at++) {
			/* The last time whole. */
			element *to = at == o ? y[which] : z[which] + at * row;
			operand dy = at == o ? a : a + at * row;
			operand made = at == o ? b : b + at * row;
			int64_t rows = at == o ? o : 1;

			if (which == 0 && i == 1)
				KERNEL(softmaxgrad, _rows)(dy, made, &rate, to, rows, k);
			else if (which == 0)
				KERNEL(softmaxgrad, _planes)(dy, made, NULL, to, rows, k, i);
			else if (i == 1)
				KERNEL(logsoftmaxgrad, _rows)(dy, made, to, rows, k);
			else
				KERNEL(logsoftmaxgrad, _planes)(dy, made, to, rows, k, i);
		}
	expect_parts("gradients of rows", 2, n);
	for (int64_t at = 0; at < n; at++) {
		int64_t first = at / row * row + at % i;
		wide product = 0, sum = 0, magnitude = 0;

		for (int64_t p = 0; p < k; p++) {
			product += (wide)value(a[first + p * i]) * value(b[first + p * i]);
			sum += value(a[first + p * i]);
			magnitude += fabsl(value(a[first + p * i]));
		}
		expect("SoftmaxGrad", at, y[0][at], (value(a[at]) - product) * value(b[at]) * (i == 1 ? (wide)rate : 1),
		       (magnitude * 2 + 2) * 2, k + 8);
		expect("LogSoftmaxGrad", at, y[1][at], value(a[at]) - expl(value(b[at])) * sum, magnitude * 8 + 2,
		       k + 8);
	}
}

/* ---- sums of rows ---- */

static wide add_up(scalar parts, int64_t p, int64_t k, int64_t j)
{
	wide sum = 0;

	for (int64_t i = 0; i < p; i++)
		sum += parts[i * k + j];
	return sum;
}

static void check_sums(int64_t m, int64_t k, int64_t p)
{
	begin(p * k);
	for (int64_t i = 0; i < p; i++)
		KERNEL(sumrows, )(a, sums[0], m, k, p, i);
	for (int64_t i = p; i--;)
		KERNEL(sumrows, )(a, sums_of_parts[0], m, k, p, i);
	expect_parts_of_sums("SumRows", 1, p * k);
	for (int64_t j = 0; j < k; j++) {
		wide sum = 0, magnitude = 0;

		for (int64_t i = 0; i < m; i++) {
			sum += value(a[i * k + j]);
			magnitude += fabsl(value(a[i * k + j]));
		}
		expect_number("SumRows", j, add_up(sums[0], p, k, j), sum, magnitude, m + 2);
	}
}

static void check_layer_norm(int64_t m, int64_t k, int64_t p)
{
	static element normal[MOST];
	static number mean[MOST], variance[MOST];

	KERNEL(layernorm, )(a, b, c, normal, mean, variance, m, k, 1e-3f);
	begin(m * k);
	for (int i = 1; i < 3; i++)
		memset(&sums[i][p * k], 0x5a, GUARD * sizeof(number));
	for (int64_t i = 0; i < p; i++)
		KERNEL(layernormgrad, )(a, c, variance, mean, b, y[0], sums[1], sums[2], m, k, p, i, 1e-3f);
	for (int64_t i = p; i--;)
		KERNEL(layernormgrad, )
	(a, c, variance, mean, b, z[0], sums_of_parts[1], sums_of_parts[2], m, k, p, i, 1e-3f);
	expect_parts("LayerNormGrad", 1, m * k);
	for (int i = 1; i < 3; i++)
		expect_bytes("LayerNormGrad", i, sums[i], sums_of_parts[i], p * k, sizeof(number));
	static wide gammas[MOST], betas[MOST];

	memset(gammas, 0, sizeof gammas);
	memset(betas, 0, sizeof betas);
	for (int64_t row = 0; row < m; row++) {
		operand x = a + row * k;
		operand dy = c + row * k;
		wide sum = 0, square = 0, off = 0, tilt = 0;

		for (int64_t j = 0; j < k; j++)
			sum += value(x[j]);
		for (int64_t j = 0; j < k; j++)
			square += (value(x[j]) - sum / k) * (value(x[j]) - sum / k);
		expect_number("mean", row, mean[row], sum / k, 2, k + 8);
		expect_number("variance", row, variance[row], square / k, 4, k + 8);
		wide factor = 1 / sqrtl(square / k + 1e-3f);

		for (int64_t j = 0; j < k; j++) {
			wide at = (value(x[j]) - sum / k) * factor;

			expect("LayerNorm", row * k + j, normal[row * k + j], at * value(b[j]) + value(c[j]),
			       2 + 2 * factor, 2 * k + 64);
			off += (wide)value(dy[j]) * value(b[j]) / k;
			tilt += value(dy[j]) * value(b[j]) * at / k;
			gammas[j] += value(dy[j]) * at;
			betas[j] += value(dy[j]);
		}
		for (int64_t j = 0; j < k; j++)
			expect("dx", row * k + j, y[0][row * k + j],
			       (value(dy[j]) * value(b[j]) - off - (value(x[j]) - sum / k) * factor * tilt) * factor,
			       4 * factor * factor * factor, 2 * k + 64);
	}
	for (int64_t j = 0; j < k; j++) {
		expect_number("dgamma", j, add_up(sums[1], p, k, j), gammas[j], 40 * m, 2 * k + m + 64);
		expect_number("dbeta", j, add_up(sums[2], p, k, j), betas[j], m, m + 8);
	}
}

static element drawn(int most)
{
	return stored((random() % 2000001 - 1000000) * 1e-6 * most);
}

int main(void)
{
	static const int64_t sizes[] = {0, 1, 2, 5, 63, 64, 65, 200};

	for (int i = 0; i < MOST; i++) {
		a[i] = drawn(2);
		b[i] = drawn(1);
		c[i] = drawn(1);
		positive[i] = stored(fabsl((wide)value(drawn(1))) + 1e-3);
		part[i] = stored(value(positive[i]) / 2 + 1e-3);
	}
	check_limits();
	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		check_optimisers(sizes[s]);
		check_losses(sizes[s]);
		for (int64_t rows = 0; rows < 6; rows += 5) {
			if (!sizes[s])
				continue;
			check_softmax_entropy(rows, sizes[s]);
			check_row_gradients(rows, sizes[s], 1);
			check_row_gradients(rows, 3, sizes[s]);
			check_row_gradients(rows, sizes[s] > 65 ? 65 : sizes[s], 3);
		}
		for (int64_t parts = 1; parts < 8; parts += 3) {
			check_sums(sizes[s], 65, parts);
			check_sums(5, sizes[s], parts);
			if (!sizes[s])
				continue;
			check_layer_norm(sizes[s], 67, parts);
			check_layer_norm(5, sizes[s], parts);
		}
	}
	return failures != 0;
}
