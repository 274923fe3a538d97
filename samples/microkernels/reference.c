/* The independent check of samples/microkernels.
 *
 *   reference make DIRECTORY    writes x.npy, and of both layers the weights, w1.npy and w2.npy, and biases, b1.npy and
 *                               b2.npy
 *   reference check DIRECTORY   reads these and y.npy, and compares y with plain loops in double precision
 *
 * Products of single precision that are added up, 256 at a time, are off by less than 256 * 2^-24 of the sum of their
 * magnitudes: about 1e-5 of the exponential's argument, and thus of its result. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "samples/tensor-file.h"

enum { ROWS = 250, IN = 256, HIDDEN = 256, OUT = 64 };

static const uint64_t x_shape[] = {ROWS, IN}, w1_shape[] = {HIDDEN, IN}, b1_shape[] = {HIDDEN},
		      w2_shape[] = {OUT, HIDDEN}, b2_shape[] = {OUT}, y_shape[] = {ROWS, OUT};

static void make_random(const char *directory, const char *name, uint32_t rank, const uint64_t *shape, double most,
			uint64_t seed)
{
	uint64_t count = shape[0] * (rank > 1 ? shape[1] : 1);
	float *values = malloc(count * sizeof(*values));

	for (uint64_t i = 0; values && i < count; i++)
		values[i] = (float)(most * random_real(&seed));
	tensor_save(directory, name, SK_F32, rank, shape, values);
	free(values);
}

static int make(const char *directory)
{
	make_random(directory, "x", 2, x_shape, 1, 1);
	make_random(directory, "w1", 2, w1_shape, 0.125, 2);
	make_random(directory, "b1", 1, b1_shape, 0.125, 3);
	make_random(directory, "w2", 2, w2_shape, 0.125, 4);
	make_random(directory, "b2", 1, b2_shape, 0.125, 5);
	return 0;
}

struct layer {
	const float *weights, *biases; /* the weights of each column are contiguous */
};

static double dot(const double *x, const struct layer *layer, uint64_t count, uint64_t column)
{
	double sum = layer->biases[column];

	for (uint64_t k = 0; k < count; k++)
		sum += x[k] * layer->weights[column * count + k];
	return sum;
}

static void compute(const float *x, const struct layer layers[2], double y[OUT])
{
	double in[IN], hidden[HIDDEN], max = -INFINITY, sum = 0;

	for (int i = 0; i < IN; i++)
		in[i] = x[i];
	for (uint64_t i = 0; i < HIDDEN; i++)
		hidden[i] = fmin(fmax(dot(in, &layers[0], IN, i), 0), 6);
	for (uint64_t i = 0; i < OUT; i++)
		max = fmax(max, y[i] = dot(hidden, &layers[1], HIDDEN, i));
	for (int i = 0; i < OUT; i++)
		sum += y[i] = exp(y[i] - max);
	for (int i = 0; i < OUT; i++)
		y[i] /= sum;
}

static int check(const char *directory)
{
	struct sk_npy x = tensor_load(directory, "x", SK_F32, 2, x_shape);
	struct sk_npy w1 = tensor_load(directory, "w1", SK_F32, 2, w1_shape);
	struct sk_npy w2 = tensor_load(directory, "w2", SK_F32, 2, w2_shape);
	struct sk_npy b1 = tensor_load(directory, "b1", SK_F32, 1, b1_shape);
	struct sk_npy b2 = tensor_load(directory, "b2", SK_F32, 1, b2_shape);
	struct sk_npy y = tensor_load(directory, "y", SK_F32, 2, y_shape);
	const struct layer layers[] = {{w1.data, b1.data}, {w2.data, b2.data}};
	const float *rows = x.data, *got = y.data;
	int wrong = 0;

	for (int row = 0; row < ROWS; row++) {
		double expected[OUT];

		compute(rows + row * IN, layers, expected);
		for (int i = 0; i < OUT; i++)
			if (!(fabs(got[row * OUT + i] - expected[i]) <= 1e-4 * expected[i]) && wrong++ < 10)
				fprintf(stderr, "y[%d][%d] is %.9g, expected %.9g\n", row, i, got[row * OUT + i],
					expected[i]);
	}
	if (!wrong)
		printf("y is the softmax of the second layer\n");
	tensor_free(&x);
	tensor_free(&w1);
	tensor_free(&w2);
	tensor_free(&b1);
	tensor_free(&b2);
	tensor_free(&y);
	return wrong != 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "make"))
		return make(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "check"))
		return check(argv[2]);
	fprintf(stderr, "usage: reference make|check DIRECTORY\n");
	return 1;
}
