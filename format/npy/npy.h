/* .npy files (NumPy format 1.0 and 2.0), little-endian, in C order or an equivalent one. bool is |b1; bf16, which NumPy
 * lacks, is written as <V2 and read from <V2, |V2 or <u2. sklink reads constants, skrun reads inputs and writes
 * outputs. */
#ifndef SK_LOADER_NPY_H
#define SK_LOADER_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/skplan.h"

struct sk_arena;

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

/* ==== literals.c ====
 *
 * Elements written as a text: 1, -2.5, true, [1,2,3], [[1,2],[3,4]]. */

struct sk_literal {
	enum sk_dtype dtype; /* the wanted type; NONE: it becomes the one that the elements look like */
	uint32_t rank; /* 0: a single number */
	uint64_t shape[SK_MAX_RANK];
	uint64_t count;
	const void *contents;
};

/* True if the text is to be read as elements, and not as the name of a file. */
bool sk_is_literal(const char *text);

/* Read the text into the arena. Return false if it is not elements of the type; then *wrong is the reason. */
bool sk_literal_read(struct sk_arena *arena, const char *text, struct sk_literal *literal, const char **wrong);

#endif
