/* The independent check of samples/composite.
 *
 *   reference make DIRECTORY    writes x.npy
 *   reference check DIRECTORY   reads x.npy and y.npy, prints both, and compares y with (2 * x + 1) ^ 3
 *
 * Doubling and adding 1 round in single precision, as the kernels do; the power is computed in double precision, and y
 * may be off by 2^-23 of it: powf is good to less than one unit in the last place. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "samples/tensor-file.h"

static const uint64_t shape[] = {4, 4};

static void make(const char *directory)
{
	uint64_t random = 1;
	float x[16];

	for (int i = 0; i < 16; i++)
		x[i] = (float)(2 * random_real(&random));
	tensor_save(directory, "x", SK_F32, 2, shape, x);
}

static void print(const char *name, const float *values)
{
	printf("%s:\n", name);
	for (int i = 0; i < 16; i++)
		printf("%12.6f%s", values[i], i % 4 == 3 ? "\n" : "");
}

static int check(const char *directory)
{
	struct sk_npy x_file = tensor_load(directory, "x", SK_F32, 2, shape);
	struct sk_npy y_file = tensor_load(directory, "y", SK_F32, 2, shape);
	const float *x = x_file.data, *y = y_file.data;
	int wrong = 0;

	print("x", x);
	print("y", y);
	for (int i = 0; i < 16; i++) {
		float sum = x[i] * 2.0f + 1.0f;
		double expected = (double)sum * sum * sum;

		if (!(fabs(y[i] - expected) <= 0x1p-23 * fabs(expected))) {
			fprintf(stderr, "y[%d][%d] is %.9g, expected %.9g\n", i / 4, i % 4, y[i], expected);
			wrong++;
		}
	}
	if (!wrong)
		printf("y is (2 * x + 1) ^ 3\n");
	tensor_free(&x_file);
	tensor_free(&y_file);
	return wrong != 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "make"))
		return make(argv[2]), 0;
	if (argc == 3 && !strcmp(argv[1], "check"))
		return check(argv[2]);
	fprintf(stderr, "usage: reference make|check DIRECTORY\n");
	return 1;
}
