/* For the samples' reference programs: tensors as .npy files in a directory, and random numbers. A program that cannot
 * read or write its tensors ends with a message. */
#ifndef TENSOR_FILE_H
#define TENSOR_FILE_H

#include "format/npy/npy.h"
#include "format/skplan.h"

/* Writes DIRECTORY/NAME.npy. */
void tensor_save(const char *directory, const char *name, enum sk_dtype dtype, uint32_t rank, const uint64_t *shape,
		 const void *data);

/* Reads DIRECTORY/NAME.npy, which must have this type and, unless shape is NULL, this shape. Free it with tensor_free.
 */
struct sk_npy tensor_load(const char *directory, const char *name, enum sk_dtype dtype, uint32_t rank,
			  const uint64_t *shape);
void tensor_free(struct sk_npy *tensor);

/* The next number of a sequence that is the same everywhere (SplitMix64). */
uint64_t random_bits(uint64_t *state);

/* Uniform in [-1, 1). */
double random_real(uint64_t *state);

#endif
