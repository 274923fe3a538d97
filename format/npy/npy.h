/* .npy files (NumPy format 1.0 and 2.0), little-endian, in C order or in one that is the same. bool is |b1; bf16, which
 * NumPy does not have, is written as <V2 and read from <V2, |V2 or <u2. Shared by sklink (constants) and skrun (inputs,
 * outputs). */
#ifndef SK_LOADER_NPY_H
#define SK_LOADER_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/skplan.h"

struct sk_npy {
	uint32_t rank;
	uint64_t shape[SK_MAX_RANK];
	const void *data; /* bytes bytes, 64-byte aligned as the format has it in files written by NumPy; else any
			     alignment */
	uint64_t bytes;
	const void *mapping; /* of the whole file */
	size_t mapping_size;
};

/* Maps the file read-only and checks that its elements are of the wanted dtype. The shape is left to the caller to
 * compare. On failure nothing stays open and error holds the reason, without the path. */
bool sk_npy_open(const char *path, enum sk_dtype dtype, struct sk_npy *npy, char *error, size_t error_size);
void sk_npy_close(struct sk_npy *npy);

/* Writes to a temporary file beside path and renames it. */
bool sk_npy_write(const char *path, enum sk_dtype dtype, uint32_t rank, const uint64_t *shape, const void *data,
		  char *error, size_t error_size);

enum { SK_SHAPE_SIZE = 256 /* of a shape as text */ };

/* "[64, 1024]". Returns text. */
const char *sk_print_shape(uint32_t rank, const uint64_t *shape, char *text, size_t size);

#endif
