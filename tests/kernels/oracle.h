/* The results that a run of real kernels must have, by plain loops or by the library's public functions. A test's
 * oracle.c includes this and defines network(), which names the inputs and outputs and fills the outputs with the
 * expected values:
 *
 *   INPUT(double, x, 300, 200);      double *x, which holds random numbers; x.npy is the package's input
 *   OUTPUT(double, y, 1e-12, 300);   double *y, to be filled; the package's y must not be further off than this,
 *                                    relative to the expected value or 1, whichever is greater
 *   UPDATED(double, z, 1e-12, 300);  for an inout tensor: z is the input, z_new is to be filled
 *
 *   oracle make SEED    writes the inputs, and the arguments for skrun
 *   oracle check        checks that all outputs are as expected, for the inputs with seed 1
 *   oracle differ       checks that each output differs from that
 *
 * It reads .npy files without sklink's code, so the files that skrun writes are also checked. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DTYPE(type)                                                                                                    \
	_Generic((type){0}, int8_t                                                                                     \
		 : "|i1", uint8_t                                                                                      \
		 : "|u1", int16_t                                                                                      \
		 : "<i2", uint16_t                                                                                     \
		 : "<u2", int32_t                                                                                      \
		 : "<i4", uint32_t                                                                                     \
		 : "<u4", int64_t                                                                                      \
		 : "<i8", uint64_t                                                                                     \
		 : "<u8", float                                                                                        \
		 : "<f4", double                                                                                       \
		 : "<f8")
#define SHAPE(...) ((const long[]){__VA_ARGS__, 0})

#define INPUT(type, name, ...) INPUT_WITHIN(type, name, -1, 1, __VA_ARGS__)
/* Integers lie within both ends; the default is any. */
#define INPUT_WITHIN(type, name, low, high, ...)                                                                       \
	type *name = oracle_input(#name, DTYPE(type), sizeof(type), low, high, SHAPE(__VA_ARGS__))
#define OUTPUT(type, name, tolerance, ...)                                                                             \
	type *name = oracle_output(#name, DTYPE(type), sizeof(type), tolerance, SHAPE(__VA_ARGS__))
#define UPDATED(type, name, tolerance, ...)                                                                            \
	INPUT(type, name, __VA_ARGS__);                                                                                \
	type *name##_new = oracle_output(#name, DTYPE(type), sizeof(type), tolerance, SHAPE(__VA_ARGS__))

static void network(void);

static struct oracle_tensor {
	const char *name, *dtype;
	size_t width, count;
	double tolerance;
	void *data;
} oracle_outputs[64];
static int oracle_output_count;
static bool oracle_makes;
static uint64_t oracle_seed = 1;

static void oracle_fail(const char *name, const char *what)
{
	fprintf(stderr, "oracle: %s: %s\n", name, what);
	exit(2);
}

/* SplitMix64. */
static uint64_t oracle_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static size_t oracle_elements(const long *shape)
{
	size_t count = 1;

	for (; *shape; shape++)
		count *= *shape;
	return count;
}

static void oracle_write(const char *name, const char *dtype, size_t width, const long *shape, const void *data)
{
	char path[256], header[119];
	int length = snprintf(header, sizeof(header), "{'descr': '%s', 'fortran_order': False, 'shape': (", dtype);

	for (const long *extent = shape; *extent; extent++)
		length += snprintf(header + length, sizeof(header) - length, "%ld,", *extent);
	length += snprintf(header + length, sizeof(header) - length, "), }");
	memset(header + length, ' ', sizeof(header) - length);
	header[117] = '\n';
	snprintf(path, sizeof(path), "%s.npy", name);

	FILE *file = fopen(path, "wb");

	/* Magic, version 1.0, and the length of the header: 118. */
	if (!file || fwrite("\x93NUMPY\1\0\x76\0", 1, 10, file) != 10 || fwrite(header, 1, 118, file) != 118 ||
	    fwrite(data, width, oracle_elements(shape), file) != oracle_elements(shape) || fclose(file))
		oracle_fail(path, "cannot be written");
}

static void *oracle_input(const char *name, const char *dtype, size_t width, double low, double high, const long *shape)
{
	size_t count = oracle_elements(shape);
	unsigned char *data = calloc(count, width);
	uint64_t state = oracle_seed;
	bool any = low == -1 && high == 1;

	for (const char *letter = name; *letter; letter++)
		state = state * 31 + *letter;
	for (size_t i = 0; i < count; i++) {
		uint64_t bits = oracle_random(&state);
		double real = low + (high - low) * ((double)(bits >> 11) * 0x1p-53);
		uint64_t integer = any ? bits : (uint64_t)(int64_t)low + bits % (uint64_t)(high - low + 1);

		if (dtype[1] != 'f')
			memcpy(data + i * width, &integer, width);
		else if (width == sizeof(float))
			((float *)data)[i] = (float)real;
		else
			((double *)data)[i] = real;
	}
	if (oracle_makes) {
		oracle_write(name, dtype, width, shape, data);
		printf("--input %s=%s.npy ", name, name);
	}
	return data;
}

static void *oracle_output(const char *name, const char *dtype, size_t width, double tolerance, const long *shape)
{
	size_t count = oracle_elements(shape);
	void *data = calloc(count, width);

	if (oracle_makes)
		printf("--output %s=%s-out.npy ", name, name);
	oracle_outputs[oracle_output_count++] = (struct oracle_tensor){name, dtype, width, count, tolerance, data};
	return data;
}

static double oracle_real(const struct oracle_tensor *tensor, const void *data, size_t i)
{
	return tensor->width == sizeof(float) ? ((const float *)data)[i] : ((const double *)data)[i];
}

static bool oracle_same(const struct oracle_tensor *tensor, const char *got, size_t i)
{
	const char *expected = tensor->data;

	if (!memcmp(got + i * tensor->width, expected + i * tensor->width, tensor->width))
		return true;
	if (tensor->dtype[1] != 'f')
		return false;

	double a = oracle_real(tensor, got, i), b = oracle_real(tensor, expected, i);

	return fabs(a - b) <= tensor->tolerance * fmax(1, fabs(b));
}

static bool oracle_right(const struct oracle_tensor *tensor, bool quiet)
{
	char path[256], header[10];
	char *got = malloc(tensor->count * tensor->width);

	snprintf(path, sizeof(path), "%s-out.npy", tensor->name);

	FILE *file = fopen(path, "rb");

	if (!file || fread(header, 1, 10, file) != 10 ||
	    fseek(file, 10 + (unsigned char)header[8] + 256 * (unsigned char)header[9], SEEK_SET) ||
	    fread(got, tensor->width, tensor->count, file) != tensor->count)
		oracle_fail(path, "cannot be read");
	fclose(file);
	for (size_t i = 0; i < tensor->count; i++) {
		if (oracle_same(tensor, got, i))
			continue;
		if (!quiet && tensor->dtype[1] == 'f')
			fprintf(stderr, "oracle: %s[%zu] is %.17g, not %.17g\n", tensor->name, i,
				oracle_real(tensor, got, i), oracle_real(tensor, tensor->data, i));
		else if (!quiet)
			fprintf(stderr, "oracle: %s[%zu] is wrong\n", tensor->name, i);
		free(got);
		return false;
	}
	free(got);
	return true;
}

int main(int argc, char **argv)
{
	bool differ = argc > 1 && !strcmp(argv[1], "differ");
	int unexpected = 0;

	oracle_makes = argc > 2 && !strcmp(argv[1], "make");
	if (oracle_makes)
		oracle_seed = strtoul(argv[2], NULL, 10);
	network();
	if (oracle_makes)
		return printf("\n") < 0;
	for (int i = 0; i < oracle_output_count; i++) {
		bool right = oracle_right(&oracle_outputs[i], differ);

		if (differ && right)
			fprintf(stderr, "oracle: %s is the same of other inputs\n", oracle_outputs[i].name);
		unexpected += right == differ;
		free(oracle_outputs[i].data);
	}
	return unexpected > 0;
}
