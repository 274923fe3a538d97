/* library-recurrent.c: RNN, GRU and LSTM by ONNX's equations, with all functions and all combinations of optional
 * operands, and the training steps that update weights. Sequences one by one, as cores compute them, must give the same
 * bytes, and so must the kernel for every processor. */
#include "tests/kernels/library.h"

#include <stdio.h>
#include <string.h>

extern wide fabsf128(wide x), expf128(wide x), expm1f128(wide x), log1pf128(wide x), tanhf128(wide x), sqrtf128(wide x),
	powf128(wide x, wide y);

/* ---- functions, by the numbers that kernels know them by ---- */

static wide function(int64_t which, wide x, wide alpha, wide beta)
{
	wide line = alpha * x + beta;

	switch (which) {
	case 0: /* Sigmoid */
		return 1 / (1 + expf128(-x));
	case 1:
		return tanhf128(x);
	case 2: /* Relu */
		return x < 0 ? 0 : x;
	case 3: /* Affine */
		return line;
	case 4: /* LeakyRelu */
		return x < 0 ? alpha * x : x;
	case 5: /* ThresholdedRelu */
		return x > alpha ? x : 0;
	case 6: /* ScaledTanh */
		return alpha * tanhf128(beta * x);
	case 7: /* HardSigmoid */
		return line < 0 ? 0 : line > 1 ? 1 : line;
	case 8: /* Elu */
		return x < 0 ? alpha * expm1f128(x) : x;
	case 9: /* Softsign */
		return x / (1 + fabsf128(x));
	default: /* Softplus */
		return x > 0 ? x + log1pf128(expf128(-x)) : log1pf128(expf128(x));
	}
}

/* ---- networks ---- */

enum { MOST = 65, GATES = 4 };

struct network {
	const struct kernel *kernel;
	int64_t b, s, d, h, gates, functions[6], reverse, option;
	float alphas[6], betas[6], clip;
	const void *inputs, *recurrence, *bias, *initial_h, *initial_c, *peepholes;
	const int32_t *lengths;
};

static wide number_at(const struct network *of, const void *operand, int64_t i)
{
	return operand ? get_wide(of->kernel->in, operand, i) : 0;
}

static wide activated(const struct network *of, int64_t direction, int64_t which, wide x)
{
	int64_t at = direction * (of->gates == 1 ? 1 : of->gates - 1) + which;

	if (of->clip > 0)
		x = x > of->clip ? of->clip : x < -of->clip ? -of->clip : x;
	return function(of->functions[at], x, of->alphas[at], of->betas[at]);
}

/* The input's contribution to element e of a gate, with its bias. */
static wide input_of(const struct network *of, int64_t batch, int64_t step, int64_t direction, int64_t gate, int64_t e)
{
	int64_t at = ((batch * of->s + step) * of->d + direction) * of->gates + gate;

	return number_at(of, of->inputs, at * of->h + e) +
	       number_at(of, of->bias, (direction * 2 * of->gates + gate) * of->h + e);
}

/* The state's contribution to it, with its bias. */
static wide recurrence_of(const struct network *of, int64_t direction, int64_t gate, int64_t e, const wide *state)
{
	wide sum = number_at(of, of->bias, (direction * 2 * of->gates + of->gates + gate) * of->h + e);

	for (int64_t k = 0; k < of->h; k++)
		sum += state[k] *
		       number_at(of, of->recurrence, ((direction * of->h + k) * of->gates + gate) * of->h + e);
	return sum;
}

static wide gate_of(const struct network *of, int64_t batch, int64_t step, int64_t direction, int64_t gate, int64_t e,
		    const wide *state)
{
	return input_of(of, batch, step, direction, gate, e) + recurrence_of(of, direction, gate, e, state);
}

static void step_rnn(const struct network *of, int64_t batch, int64_t step, int64_t direction, wide *state)
{
	wide next[MOST];

	for (int64_t e = 0; e < of->h; e++)
		next[e] = activated(of, direction, 0, gate_of(of, batch, step, direction, 0, e, state));
	memcpy(state, next, sizeof next);
}

/* Gates are update, reset, hidden. */
static void step_gru(const struct network *of, int64_t batch, int64_t step, int64_t direction, wide *state)
{
	wide update[MOST], reset[MOST], kept[MOST], hidden;

	for (int64_t e = 0; e < of->h; e++) {
		update[e] = activated(of, direction, 0, gate_of(of, batch, step, direction, 0, e, state));
		reset[e] = activated(of, direction, 0, gate_of(of, batch, step, direction, 1, e, state));
		kept[e] = reset[e] * state[e];
	}
	wide next[MOST];
	for (int64_t e = 0; e < of->h; e++) {
		hidden = of->option ? reset[e] * recurrence_of(of, direction, 2, e, state)
				    : recurrence_of(of, direction, 2, e, kept);
		hidden = activated(of, direction, 1, hidden + input_of(of, batch, step, direction, 2, e));
		next[e] = (1 - update[e]) * hidden + update[e] * state[e];
	}
	memcpy(state, next, sizeof next);
}

/* Gates are input, output, forget, cell; peepholes input, output, forget. */
static void step_lstm(const struct network *of, int64_t batch, int64_t step, int64_t direction, wide *state,
		      wide *memory)
{
	wide next[MOST];

	for (int64_t e = 0; e < of->h; e++) {
		int64_t peephole = direction * 3 * of->h + e;
		wide before = memory[e];
		wide input = activated(of, direction, 0,
				       gate_of(of, batch, step, direction, 0, e, state) +
					       number_at(of, of->peepholes, peephole) * before);
		wide forget = activated(of, direction, 0,
					gate_of(of, batch, step, direction, 2, e, state) +
						number_at(of, of->peepholes, peephole + 2 * of->h) * before);
		wide cell = activated(of, direction, 1, gate_of(of, batch, step, direction, 3, e, state));

		memory[e] = (of->option ? 1 - input : forget) * before + input * cell;
		wide output = activated(of, direction, 0,
					gate_of(of, batch, step, direction, 1, e, state) +
						number_at(of, of->peepholes, peephole + of->h) * memory[e]);
		next[e] = output * activated(of, direction, 2, memory[e]);
	}
	memcpy(state, next, sizeof next);
}

struct results {
	void *y, *y_h, *y_c;
};

static void check_result(const struct network *of, const void *results, int64_t at, wide exact)
{
	wide scale = fabsf128(exact) > 1 ? fabsf128(exact) : 1;

	if (results)
		check_near(of->kernel, of->kernel->in, results, at, exact,
			   (wide)(16 * (of->h + 8)) * roundoff(of->kernel->in) * scale, "a sequence");
}

static void check_sequence(const struct network *of, const struct results *results, int64_t batch, int64_t direction)
{
	wide state[MOST] = {0}, memory[MOST] = {0};
	int64_t length = of->lengths ? of->lengths[batch] : of->s, last = (batch * of->d + direction) * of->h;

	for (int64_t e = 0; e < of->h; e++) {
		state[e] = number_at(of, of->initial_h, last + e);
		memory[e] = number_at(of, of->initial_c, last + e);
	}
	length = length < 0 ? 0 : length > of->s ? of->s : length;
	for (int64_t i = 0; i < of->s; i++) {
		int64_t step = i < length && (direction || of->reverse) ? length - 1 - i : i;

		if (i < length && of->gates == 1)
			step_rnn(of, batch, step, direction, state);
		else if (i < length && of->gates == 3)
			step_gru(of, batch, step, direction, state);
		else if (i < length)
			step_lstm(of, batch, step, direction, state, memory);
		for (int64_t e = 0; e < of->h; e++)
			check_result(of, results->y, ((batch * of->s + step) * of->d + direction) * of->h + e,
				     i < length ? state[e] : 0);
	}
	for (int64_t e = 0; e < of->h; e++) {
		check_result(of, results->y_h, last + e, state[e]);
		check_result(of, results->y_c, last + e, memory[e]);
	}
}

/* Compute the sequences from `first` on. The scratch has the size that the signature says, and ends before a page
 * without access. */
static void call_network(const struct kernel *kernel, const struct network *of, const struct results *results,
			 int64_t first, int64_t count)
{
	const struct type *type = kernel->in;
	int64_t last = first * of->d * of->h, inputs = first * of->s * of->d * of->gates * of->h;
	void *room = guarded((size_t)(7 * of->h) * (type->size == 8 ? 8 : 4));
	const void *gates = element_at(type, of->inputs, inputs),
		   *initial_h = of->initial_h ? element_at(type, of->initial_h, last) : NULL,
		   *initial_c = of->initial_c ? element_at(type, of->initial_c, last) : NULL;
	void *y = results->y ? element_at(type, results->y, last * of->s) : NULL,
	     *y_h = results->y_h ? element_at(type, results->y_h, last) : NULL,
	     *y_c = results->y_c ? element_at(type, results->y_c, last) : NULL;
	const int32_t *lengths = of->lengths ? of->lengths + first : NULL;
	typedef void run(const void *, const void *, const void *, const int32_t *, const void *, void *, void *,
			 int64_t, int64_t, int64_t, int64_t, const int64_t *, const float *, const float *, float,
			 int64_t, int64_t, void *);
	typedef void run_lstm(const void *, const void *, const void *, const int32_t *, const void *, const void *,
			      const void *, void *, void *, void *, int64_t, int64_t, int64_t, int64_t, const int64_t *,
			      const float *, const float *, float, int64_t, int64_t, void *);

	if (of->gates == 4)
		((run_lstm *)kernel->function)(gates, of->recurrence, of->bias, lengths, initial_h, initial_c,
					       of->peepholes, y, y_h, y_c, count, of->s, of->d, of->h, of->functions,
					       of->alphas, of->betas, of->clip, of->reverse, of->option, room);
	else
		((run *)kernel->function)(gates, of->recurrence, of->bias, lengths, initial_h, y, y_h, count, of->s,
					  of->d, of->h, of->functions, of->alphas, of->betas, of->clip, of->reverse,
					  of->option, room);
	check_front(kernel, room);
}

/* Every function once for each place of one; every operand there and absent. */
static void invent(struct network *of, const struct kernel *kernel, int round)
{
	static const int64_t widths[] = {1, 2, 5, 63, 64, 65};
	const struct type *type = kernel->in;
	int64_t gates = !strcmp(kernel->operator, "RNN") ? 1 : !strcmp(kernel->operator, "GRU") ? 3 : 4;

	*of = (struct network){.kernel = kernel,
			       .b = between(1, 3),
			       .s = between(1, 4),
			       .d = between(1, 2),
			       .h = widths[round % 12 < 6 ? round % 6 : between(0, 2)],
			       .gates = gates,
			       .reverse = round & 1,
			       .option = round >> 1 & 1,
			       .clip = round % 3 ? 0 : 0.7f};
	of->reverse = of->d == 2 ? 0 : of->reverse;
	for (int i = 0; i < 6; i++) {
		of->functions[i] = round < 11 ? (round + 3 * i) % 11 : i % 3 ? 1 : 0;
		of->alphas[i] = 0.5f + 0.125f * (float)i;
		of->betas[i] = 0.25f + 0.125f * (float)i;
	}
	int64_t states = of->b * of->d * of->h;
	of->inputs = random_reals(type, states * of->s * gates, -2, 2);
	of->recurrence = random_reals(type, of->d * of->h * gates * of->h, -0.2, 0.2);
	of->bias = round & 4 ? random_reals(type, of->d * 2 * gates * of->h, -1, 1) : NULL;
	of->initial_h = round & 8 ? random_reals(type, states, -1, 1) : NULL;
	of->initial_c = gates == 4 && round & 1 ? random_reals(type, states, -1, 1) : NULL;
	of->peepholes = gates == 4 && round & 2 ? random_reals(type, of->d * 3 * of->h, -1, 1) : NULL;
	if (round % 5 == 0) {
		static const int32_t lengths[] = {2, -1, 9, 0, 1, INT32_MIN, INT32_MAX};
		int32_t *own = guarded((size_t)of->b * 4);
		for (int64_t b = 0; b < of->b; b++)
			own[b] = lengths[(b + round / 5) % 7];
		of->lengths = own;
	}
}

static void run_network(const struct kernel *kernel, const struct row *row)
{
	(void)row;
	for (int round = 0; round < 24; round++) {
		struct network of;

		invent(&of, kernel, round);
		size_t last = (size_t)(of.b * of.d * of.h) * kernel->in->size, all = last * (size_t)of.s;
		struct results results = {round % 6 != 1 ? guarded(all) : NULL, round % 6 != 2 ? guarded(last) : NULL,
					  of.gates == 4 && round % 6 != 3 ? guarded(last) : NULL};
		struct results parts = {guarded(all), guarded(last), of.gates == 4 ? guarded(last) : NULL};

		call_network(kernel, &of, &results, 0, of.b);
		for (int64_t direction = 0; direction < of.d; direction++)
			for (int64_t batch = 0; batch < of.b; batch++)
				check_sequence(&of, &results, batch, direction);
		for (int64_t batch = 0; batch < of.b; batch++)
			call_network(kernel, &of, &parts, batch, 1);
		if (results.y)
			check_bytes(kernel, "a part", parts.y, results.y, all);
		if (results.y_h)
			check_bytes(kernel, "a part", parts.y_h, results.y_h, last);
		if (kernel->base) {
			call_network(kernel->base, &of, &parts, 0, of.b);
			if (results.y)
				check_bytes(kernel, "the base", parts.y, results.y, all);
		}
	}
}

/* ---- steps of training ---- */

struct training {
	float norm, decay, post, alpha, beta, epsilon;
	int64_t nesterov;
	const void *rate, *x, *gradient, *v, *h;
	const int64_t *times;
	void *new_x, *new_v, *new_h;
};

static void call_training(const struct kernel *kernel, const struct training *of, int64_t n)
{
	if (!strcmp(kernel->operator, "Adagrad"))
		((void (*)(const void *, const int64_t *, const void *, const void *, const void *, void *, void *,
			   int64_t, float, float, float))kernel->function)(of->rate, of->times, of->x, of->gradient,
									   of->h, of->new_x, of->new_h, n, of->norm,
									   of->decay, of->epsilon);
	else if (!strcmp(kernel->operator, "Adam"))
		((void (*)(const void *, const int64_t *, const void *, const void *, const void *, const void *,
			   void *, void *, void *, int64_t, float, float, float, float, float))kernel->function)(
			of->rate, of->times, of->x, of->gradient, of->v, of->h, of->new_x, of->new_v, of->new_h, n,
			of->norm, of->post, of->alpha, of->beta, of->epsilon);
	else
		((void (*)(const void *, const int64_t *, const void *, const void *, const void *, void *, void *,
			   int64_t, float, float, float, int64_t))kernel->function)(
			of->rate, of->times, of->x, of->gradient, of->v, of->new_x, of->new_v, n, of->norm, of->alpha,
			of->beta, of->nesterov);
}

/* By ONNX's equations; each value may be off by some roundings of the values that it is made of. */
static void check_training(const struct kernel *kernel, const struct training *of, int64_t i)
{
	const struct type *type = kernel->in;
	wide rate = get_wide(type, of->rate, 0), x = get_wide(type, of->x, i), times = *of->times,
	     off = 16 * roundoff(type);
	wide g = get_wide(type, of->gradient, i), gradient = of->norm * x + g,
	     sizes = fabsf128(of->norm * x) + fabsf128(g);
	wide v = of->v ? get_wide(type, of->v, i) : 0, h = of->h ? get_wide(type, of->h, i) : 0, step, step_off;

	if (!strcmp(kernel->operator, "Momentum")) {
		wide part = times > 0 ? of->beta : 1, moment = of->alpha * v + part * gradient;
		wide moment_size = fabsf128(of->alpha * v) + part * sizes;

		check_near(kernel, type, of->new_v, i, moment, off * moment_size, "a gradient");
		step = rate * (of->nesterov ? gradient + of->alpha * moment : moment);
		step_off = off * rate * (sizes + moment_size);
		check_near(kernel, type, of->new_x, i, x - step, off * fabsf128(x) + step_off, "a gradient");
		return;
	}
	if (!strcmp(kernel->operator, "Adagrad")) {
		wide square = h + gradient * gradient;

		rate /= 1 + times * of->decay;
		check_near(kernel, type, of->new_h, i, square, off * (h + sizes * sizes), "a gradient");
		step = rate * gradient / (sqrtf128(square) + of->epsilon);
		step_off = off * rate * sizes / (sqrtf128(square) + of->epsilon);
		check_near(kernel, type, of->new_x, i, x - step, off * fabsf128(x) + step_off, "a gradient");
		return;
	}
	wide mean = of->alpha * v + (1 - (wide)of->alpha) * gradient;
	wide mean_size = fabsf128(of->alpha * v) + (1 - (wide)of->alpha) * sizes;
	wide square = of->beta * h + (1 - (wide)of->beta) * gradient * gradient, rate_off = 0;

	check_near(kernel, type, of->new_v, i, mean, off * mean_size, "a gradient");
	check_near(kernel, type, of->new_h, i, square, off * (of->beta * h + (1 - (wide)of->beta) * sizes * sizes),
		   "a gradient");
	if (times > 0) { /* powers, with errors that grow with squares, are taken from 1 in f64 */
		wide less = 1 - powf128(of->beta, times), mean_less = 1 - powf128(of->alpha, times);

		rate *= sqrtf128(less) / mean_less;
		rate_off = (times + 4) * 0x1p-53 * (1 / less + 1 / mean_less);
	}
	step = rate * mean / (sqrtf128(square) + of->epsilon);
	step_off = (off + rate_off) * rate * mean_size / (sqrtf128(square) + of->epsilon);
	check_near(kernel, type, of->new_x, i, (1 - (wide)of->post) * (x - step), off * fabsf128(x) + step_off,
		   "a gradient");
}

static void run_training(const struct kernel *kernel, const struct row *row)
{
	static const int64_t lengths[] = {0, 1, 63, 64, 65, 300}, counts[] = {0, 1, 5, 1000};
	const struct type *type = kernel->in;
	int has_v = strcmp(kernel->operator, "Adagrad") != 0, has_h = strcmp(kernel->operator, "Momentum") != 0;

	(void)row;
	for (int round = 0; round < 24; round++) {
		int64_t n = lengths[round % 6], *times = guarded(8);
		size_t bytes = (size_t)n * type->size;
		struct training of = {.norm = round % 3 ? 0.01f : 0,
				      .decay = 0.1f,
				      .post = round % 2 ? 0.001f : 0,
				      .alpha = 0.9f,
				      .beta = has_h ? 0.999f : 0.95f,
				      .epsilon = 1e-3f,
				      .nesterov = round % 2,
				      .rate = random_reals(type, 1, 0.01, 0.5),
				      .times = times,
				      .x = random_reals(type, n, -3, 3),
				      .gradient = random_reals(type, n, -2, 2),
				      .v = has_v ? random_reals(type, n, -2, 2) : NULL,
				      .h = has_h ? random_reals(type, n, 0, 2) : NULL};
		of.new_x = guarded(bytes);
		of.new_v = has_v ? guarded(bytes) : NULL;
		of.new_h = has_h ? guarded(bytes) : NULL;
		*times = counts[round % 4];
		call_training(kernel, &of, n);
		check_front(kernel, of.new_x);
		for (int64_t i = 0; i < n; i++)
			check_training(kernel, &of, i);
		if (kernel->base) {
			void *again = memcpy(guarded(bytes), of.new_x, bytes);

			call_training(kernel->base, &of, n);
			check_bytes(kernel, "the base", again, of.new_x, bytes);
		}
	}
}

/* ---- linear attention ---- */

struct layer {
	const struct kernel *kernel;
	int64_t batches, heads, group, steps, dk, dv, decays, betas, delta;
	const void *q, *k, *v, *decay, *beta, *past;
};

/* One step of a head's state, in wider numbers. */
static void expect_step(const struct layer *layer, int64_t row, int64_t step, wide *state, wide *y)
{
	const struct type *type = layer->kernel->in;
	int64_t at = row / layer->heads * layer->steps + step, head = at * layer->heads + row % layer->heads;
	wide values[8], rate = layer->betas ? get_wide(type, layer->beta, layer->betas == 1 ? at : head) : 1;

	for (int64_t i = 0; i < layer->dk * layer->dv && layer->decays; i++)
		state[i] *= expf128(
			get_wide(type, layer->decay, head * layer->decays + (layer->decays == 1 ? 0 : i / layer->dv)));
	for (int64_t m = 0; m < layer->dv; m++) {
		values[m] = get_wide(type, layer->v, head * layer->dv + m);
		for (int64_t i = 0; i < layer->dk && layer->delta; i++)
			values[m] -= state[i * layer->dv + m] * get_wide(type, layer->k, head * layer->dk + i);
		values[m] *= layer->delta ? rate : 1;
	}
	for (int64_t i = 0; i < layer->dk * layer->dv; i++)
		state[i] += get_wide(type, layer->k, head * layer->dk + i / layer->dv) * values[i % layer->dv];
	for (int64_t g = 0; g < layer->group; g++)
		for (int64_t m = 0; m < layer->dv; m++) {
			wide sum = 0;

			for (int64_t i = 0; i < layer->dk; i++)
				sum += get_wide(type, layer->q, (head * layer->group + g) * layer->dk + i) *
				       state[i * layer->dv + m];
			y[g * layer->dv + m] = sum / 4;
		}
}

static void check_layer(const struct layer *layer, const void *y, const void *present)
{
	const struct type *type = layer->kernel->in;
	int64_t u = layer->dk * layer->dv, width = layer->group * layer->dv;
	wide state[64], wanted[32], bound = 1e-5;

	for (int64_t row = 0; row < layer->batches * layer->heads; row++) {
		for (int64_t i = 0; i < u; i++)
			state[i] = layer->past ? get_wide(type, layer->past, row * u + i) : 0;
		for (int64_t step = 0; step < layer->steps; step++) {
			expect_step(layer, row, step, state, wanted);
			for (int64_t i = 0; i < width; i++)
				check_near(layer->kernel, type, y, (row * layer->steps + step) * width + i, wanted[i],
					   bound, "a step");
		}
		for (int64_t i = 0; i < u; i++)
			check_near(layer->kernel, type, present, row * u + i, state[i], bound, "a state");
	}
}

static void run_layer(const struct kernel *kernel, const struct row *row)
{
	typedef void attend(const void *, const void *, const void *, const void *, const void *, const void *, void *,
			    void *, void *, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t,
			    int64_t, int64_t, int64_t, int64_t, float);
	attend *call = (attend *)kernel->function;
	const struct type *type = kernel->in;

	(void)row;
	for (int round = 0; round < 64; round++) {
		struct layer l = {kernel,
				  between(1, 2),
				  between(1, 3),
				  between(1, 3),
				  between(1, 7),
				  between(1, 8),
				  between(1, 8),
				  0,
				  0,
				  round >> 1 & 1};
		int64_t rows = l.batches * l.heads, u = l.dk * l.dv, w = l.steps * l.group * l.dv, half = rows / 2;
		int64_t heads = rows * l.steps;

		l.decays = round & 1 ? (round & 16 ? 1 : l.dk) : 0;
		l.betas = l.delta ? (round & 8 ? 1 : l.heads) : 0;
		l.q = random_reals(type, heads * l.group * l.dk, -1, 1);
		l.k = random_reals(type, heads * l.dk, -0.5, 0.5);
		l.v = random_reals(type, heads * l.dv, -1, 1);
		l.decay = random_reals(type, heads * l.dk, -2, 0);
		l.beta = random_reals(type, heads, 0, 1);
		l.past = round & 4 ? random_reals(type, rows * u, -1, 1) : NULL;
		void *y = guarded((size_t)(rows * w) * type->size), *parts = guarded((size_t)(rows * w) * type->size);
		void *present = guarded((size_t)(rows * u) * type->size),
		     *others = guarded((size_t)(rows * u) * type->size), *room = guarded((size_t)u * type->size);

		call(l.q, l.k, l.v, l.decay, l.beta, l.past, y, present, room, rows, w, u, 0, l.heads, l.group, l.steps,
		     l.dk, l.dv, l.decays, l.betas, l.delta, 0.25f);
		for (int64_t first = 0, count = half; first < rows; first += count, count = rows - first)
			call(l.q, l.k, l.v, l.decay, l.beta, l.past ? element_at(type, l.past, first * u) : NULL,
			     element_at(type, parts, first * w), element_at(type, others, first * u), room, count, w, u,
			     first, l.heads, l.group, l.steps, l.dk, l.dv, l.decays, l.betas, l.delta, 0.25f);
		check_front(kernel, y);
		check_front(kernel, present);
		check_front(kernel, room);
		check_bytes(kernel, "a result of a part", parts, y, (size_t)(rows * w) * type->size);
		check_bytes(kernel, "a state of a part", others, present, (size_t)(rows * u) * type->size);
		check_layer(&l, y, present);
	}
}

const struct row recurrent_rows[] = {
	{"LinearAttention", run_layer}, {"RNN", run_network},	{"GRU", run_network},	    {"LSTM", run_network},
	{"Adagrad", run_training},	{"Adam", run_training}, {"Momentum", run_training}, {NULL},
};
