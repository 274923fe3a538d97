/* The independent check of samples/decode_layers.
 *
 *   reference make DIRECTORY LAYERS    writes x_0, position, the weights and cache_1 to cache_LAYERS
 *   reference check DIRECTORY LAYERS   reads them and x_LAYERS, and computes the layers with plain loops in double
 * precision
 *
 * Each element may be off by 1e-4 of the largest: sums of at most a few hundred products in single precision. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "samples/tensor-file.h"

/* The same sizes as in `generate`. */
enum {
	TOKENS = 8,
	WIDTH = 64,
	QUERY_RANK = 32,
	HEADS = 4,
	PLAIN = 16,
	ROTATED = 8,
	RANK = 16,
	VALUE = 16,
	POSITIONS = 24,
	EXPERTS = 4,
	TOP = 2,
	EXPERT = 32,
	LATENT = RANK + ROTATED,
	POSITION = 17,
};
static const double score_scale = 0.2f;

enum weight {
	W_NORM,
	W_QA,
	W_KVA,
	W_QNORM,
	W_KVNORM,
	W_QB,
	W_ABSORB,
	W_VALUES,
	W_OUT,
	W_POST,
	W_ROUTER,
	W_UP,
	W_DOWN,
	W_SHARED_UP,
	W_SHARED_DOWN,
	WEIGHTS,
};

/* Vectors have one dimension; products sum over the last one. */
static const struct {
	const char *name;
	uint32_t rank;
	uint64_t shape[3];
} weights[WEIGHTS] = {
	[W_NORM] = {"w_norm", 1, {WIDTH}},
	[W_QA] = {"w_qa", 2, {QUERY_RANK, WIDTH}},
	[W_KVA] = {"w_kva", 2, {LATENT, WIDTH}},
	[W_QNORM] = {"w_qnorm", 1, {QUERY_RANK}},
	[W_KVNORM] = {"w_kvnorm", 1, {RANK}},
	[W_QB] = {"w_qb", 2, {HEADS * (PLAIN + ROTATED), QUERY_RANK}},
	[W_ABSORB] = {"w_absorb", 3, {HEADS, RANK, PLAIN}},
	[W_VALUES] = {"w_values", 3, {HEADS, VALUE, RANK}},
	[W_OUT] = {"w_out", 2, {WIDTH, HEADS *VALUE}},
	[W_POST] = {"w_post", 1, {WIDTH}},
	[W_ROUTER] = {"w_router", 2, {EXPERTS, WIDTH}},
	[W_UP] = {"w_up", 3, {EXPERTS, 2 * EXPERT, WIDTH}},
	[W_DOWN] = {"w_down", 3, {EXPERTS, WIDTH, EXPERT}},
	[W_SHARED_UP] = {"w_shared_up", 2, {2 * EXPERT, WIDTH}},
	[W_SHARED_DOWN] = {"w_shared_down", 2, {WIDTH, EXPERT}},
};

static const uint64_t x_shape[] = {TOKENS, WIDTH}, cache_shape[] = {TOKENS, POSITIONS, LATENT}, position_shape[] = {1};

/* ---- make ---- */

static void save_random(const char *directory, const char *name, uint32_t rank, const uint64_t *shape, double scale,
			double offset, uint64_t *random)
{
	uint64_t count = 1;

	for (uint32_t i = 0; i < rank; i++)
		count *= shape[i];

	float *values = calloc(count, sizeof(*values));

	if (!values)
		exit(1);
	for (uint64_t i = 0; i < count; i++)
		values[i] = (float)(offset + scale * random_real(random));
	tensor_save(directory, name, SK_F32, rank, shape, values);
	free(values);
}

static void make(const char *directory, int layers)
{
	int64_t position = POSITION;
	uint64_t random = 61;
	char name[32];

	tensor_save(directory, "position", SK_I64, 1, position_shape, &position);
	save_random(directory, "x_0", 2, x_shape, 1, 0, &random);
	for (int i = 0; i < WEIGHTS; i++) {
		bool vector = weights[i].rank == 1;
		double inputs = (double)weights[i].shape[weights[i].rank - 1];

		save_random(directory, weights[i].name, weights[i].rank, weights[i].shape,
			    vector ? 0.5 : 2 / sqrt(inputs), vector, &random);
	}
	for (int layer = 1; layer <= layers; layer++) {
		snprintf(name, sizeof(name), "cache_%d", layer);
		save_random(directory, name, 3, cache_shape, 1, 0, &random);
	}
}

/* ---- check ---- */

static const float *w[WEIGHTS];

static void normalise(const double *x, const float *weight, double *y, int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += x[i] * x[i];
	for (int i = 0; i < n; i++)
		y[i] = x[i] / sqrt(sum / n + 1e-6) * weight[i];
}

static void rotate(double *x, int n)
{
	for (int i = 0; i < n; i += 2) {
		double angle = POSITION * pow(10000, -(double)i / n), a = x[i], b = x[i + 1];

		x[i] = a * cos(angle) - b * sin(angle);
		x[i + 1] = a * sin(angle) + b * cos(angle);
	}
}

/* y[rows] = matrix[rows][columns] x */
static void multiply(const float *matrix, const double *x, double *y, int rows, int columns)
{
	for (int i = 0; i < rows; i++) {
		y[i] = 0;
		for (int j = 0; j < columns; j++)
			y[i] += matrix[i * columns + j] * x[j];
	}
}

/* One head's query, already rotated, against one sequence's cache. */
static void attend(const double *query, const double *cache, int head, double *value)
{
	double wide[LATENT], weight[POSITION + 1], sum = 0, context[RANK] = {0};

	multiply(w[W_ABSORB] + head * RANK * PLAIN, query, wide, RANK, PLAIN);
	memcpy(wide + RANK, query + PLAIN, ROTATED * sizeof(*wide));
	for (int i = 0; i <= POSITION; i++) {
		double score = 0;

		for (int j = 0; j < LATENT; j++)
			score += wide[j] * cache[i * LATENT + j];
		sum += weight[i] = exp(score_scale * score);
	}
	for (int i = 0; i <= POSITION; i++)
		for (int j = 0; j < RANK; j++)
			context[j] += weight[i] / sum * cache[i * LATENT + j];
	multiply(w[W_VALUES] + head * VALUE * RANK, context, value, VALUE, RANK);
}

/* Writes the row of this position into the sequence's cache, and computes the attention that is added to x. */
static void attention(const double *normed, double *cache, double *attended)
{
	double low[QUERY_RANK], low_norm[QUERY_RANK], query[HEADS * (PLAIN + ROTATED)], latent[LATENT],
		values[HEADS * VALUE];
	double *row = cache + POSITION * LATENT;

	multiply(w[W_KVA], normed, latent, LATENT, WIDTH);
	normalise(latent, w[W_KVNORM], row, RANK);
	memcpy(row + RANK, latent + RANK, ROTATED * sizeof(*row));
	rotate(row + RANK, ROTATED);
	multiply(w[W_QA], normed, low, QUERY_RANK, WIDTH);
	normalise(low, w[W_QNORM], low_norm, QUERY_RANK);
	multiply(w[W_QB], low_norm, query, HEADS * (PLAIN + ROTATED), QUERY_RANK);
	for (int head = 0; head < HEADS; head++) {
		double *own = query + head * (PLAIN + ROTATED);

		rotate(own + PLAIN, ROTATED);
		attend(own, cache, head, values + head * VALUE);
	}
	multiply(w[W_OUT], values, attended, WIDTH, HEADS * VALUE);
}

/* y += factor * down(silu(gate) * up) */
static void expert(const float *up_weights, const float *down_weights, const double *x, double factor, double *y)
{
	double up[2 * EXPERT], act[EXPERT], down[WIDTH];

	multiply(up_weights, x, up, 2 * EXPERT, WIDTH);
	for (int i = 0; i < EXPERT; i++)
		act[i] = up[i] / (1 + exp(-up[i])) * up[EXPERT + i];
	multiply(down_weights, act, down, WIDTH, EXPERT);
	for (int i = 0; i < WIDTH; i++)
		y[i] += factor * down[i];
}

static void choose(const double *logits, double *gates)
{
	double sum = 0;

	for (int i = 0; i < EXPERTS; i++) {
		int better = 0;

		for (int j = 0; j < EXPERTS; j++)
			better += logits[j] > logits[i];
		gates[i] = better < TOP ? 1 / (1 + exp(-logits[i])) : 0;
		sum += gates[i];
	}
	for (int i = 0; i < EXPERTS; i++)
		gates[i] /= sum;
}

static void run_layer(double *x, double *cache)
{
	double normed[WIDTH], attended[WIDTH], posted[WIDTH], logits[EXPERTS], gates[EXPERTS];

	normalise(x, w[W_NORM], normed, WIDTH);
	attention(normed, cache, attended);
	for (int i = 0; i < WIDTH; i++)
		x[i] += attended[i];
	normalise(x, w[W_POST], posted, WIDTH);
	multiply(w[W_ROUTER], posted, logits, EXPERTS, WIDTH);
	choose(logits, gates);
	for (int i = 0; i < EXPERTS; i++)
		if (gates[i] > 0)
			expert(w[W_UP] + i * 2 * EXPERT * WIDTH, w[W_DOWN] + i * WIDTH * EXPERT, posted, gates[i], x);
	expert(w[W_SHARED_UP], w[W_SHARED_DOWN], posted, 1, x);
}

static int compare(const char *directory, const char *name, const double *expected)
{
	struct sk_npy file = tensor_load(directory, name, SK_F32, 2, x_shape);
	const float *found = file.data;
	double largest = 0;
	int wrong = 0;

	for (int i = 0; i < TOKENS * WIDTH; i++)
		largest = fmax(largest, fabs(expected[i]));
	for (int i = 0; i < TOKENS * WIDTH; i++)
		if (!(fabs(found[i] - expected[i]) <= 1e-4 * largest) && wrong++ < 5)
			fprintf(stderr, "%s[%d][%d] is %.9g, expected %.9g\n", name, i / WIDTH, i % WIDTH,
				(double)found[i], expected[i]);
	if (!wrong)
		printf("%s agrees to 1e-4 of %.3g\n", name, largest);
	tensor_free(&file);
	return wrong != 0;
}

static int check(const char *directory, int layers)
{
	struct sk_npy files[WEIGHTS], x_file = tensor_load(directory, "x_0", SK_F32, 2, x_shape);
	double x[TOKENS * WIDTH], cache[TOKENS * POSITIONS * LATENT];
	char name[32];

	for (int i = 0; i < WEIGHTS; i++) {
		files[i] = tensor_load(directory, weights[i].name, SK_F32, weights[i].rank, weights[i].shape);
		w[i] = files[i].data;
	}
	for (int i = 0; i < TOKENS * WIDTH; i++)
		x[i] = ((const float *)x_file.data)[i];
	tensor_free(&x_file);
	for (int layer = 1; layer <= layers; layer++) {
		snprintf(name, sizeof(name), "cache_%d", layer);

		struct sk_npy cache_file = tensor_load(directory, name, SK_F32, 3, cache_shape);

		for (int i = 0; i < TOKENS * POSITIONS * LATENT; i++)
			cache[i] = ((const float *)cache_file.data)[i];
		tensor_free(&cache_file);
		for (int token = 0; token < TOKENS; token++)
			run_layer(x + token * WIDTH, cache + token * POSITIONS * LATENT);
	}
	for (int i = 0; i < WEIGHTS; i++)
		tensor_free(&files[i]);
	snprintf(name, sizeof(name), "x_%d", layers);
	return compare(directory, name, x);
}

int main(int argc, char **argv)
{
	int layers = argc == 4 ? atoi(argv[3]) : 0;

	if (layers > 0 && !strcmp(argv[1], "make"))
		return make(argv[2], layers), 0;
	if (layers > 0 && !strcmp(argv[1], "check"))
		return check(argv[2], layers);
	fprintf(stderr, "usage: reference make|check DIRECTORY LAYERS\n");
	return 1;
}
