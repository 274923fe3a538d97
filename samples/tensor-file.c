/* Tensors in .npy files, and random numbers, for the samples' reference programs; see tensor-file.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "samples/tensor-file.h"

static void fail(const char *directory, const char *name, const char *reason)
{
	fprintf(stderr, "reference: error: %s/%s.npy: %s\n", directory, name, reason);
	exit(1);
}

static void make_path(char *path, size_t size, const char *directory, const char *name)
{
	if (snprintf(path, size, "%s/%s.npy", directory, name) >= (int)size)
		fail(directory, name, "the path is too long");
}

void tensor_save(const char *directory, const char *name, enum sk_dtype dtype, uint32_t rank, const uint64_t *shape,
		 const void *data)
{
	char path[4096], error[256];

	make_path(path, sizeof(path), directory, name);
	if (!sk_npy_write(path, dtype, rank, shape, data, error, sizeof(error)))
		fail(directory, name, error);
}

struct sk_npy tensor_load(const char *directory, const char *name, enum sk_dtype dtype, uint32_t rank,
			  const uint64_t *shape)
{
	char path[4096], error[256];
	struct sk_npy tensor;

	make_path(path, sizeof(path), directory, name);
	if (!sk_npy_open(path, dtype, &tensor, error, sizeof(error)))
		fail(directory, name, error);
	if (tensor.rank != rank || (shape && memcmp(tensor.shape, shape, rank * sizeof(*shape))))
		fail(directory, name, "the shape is not the expected one");
	return tensor;
}

void tensor_free(struct sk_npy *tensor)
{
	sk_npy_close(tensor);
}

uint64_t random_bits(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

double random_real(uint64_t *state)
{
	return (double)(random_bits(state) >> 11) * 0x1p-52 - 1;
}
