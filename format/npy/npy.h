/* .npy files (NumPy format 1.0 and 2.0), little-endian, in C order or an equivalent one. bool is |b1; bf16, which NumPy
 * lacks, is written as <V2 and read from <V2, |V2 or <u2. sklink reads constants, skrun reads inputs and writes
 * outputs. */
#ifndef SK_LOADER_NPY_H
#define SK_LOADER_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/skplan.h"

struct sk_npy {
	uint32_t rank;
	uint64_t shape[SK_MAX_RANK];
	const void *data; /* `bytes` bytes; aligned to 64 in files written by NumPy, otherwise at any alignment */
	uint64_t bytes;
	const void *mapping; /* of the whole file */
	size_t mapping_size;
};

/* Map the file read-only, and check that its elements have the wanted dtype. The caller compares the shape. On failure
 * nothing stays open, and `error` gets the reason, without the path. */
bool sk_npy_open(const char *path, enum sk_dtype dtype, struct sk_npy *npy, char *error, size_t error_size);
void sk_npy_close(struct sk_npy *npy);

/* Write to a temporary file beside path, and rename it. */
bool sk_npy_write(const char *path, enum sk_dtype dtype, uint32_t rank, const uint64_t *shape, const void *data,
		  char *error, size_t error_size);

#endif
