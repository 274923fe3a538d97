/* Elements of tensors as numbers: what skrun fills, prints and compares. */
#ifndef SK_LOADER_ELEMENTS_H
#define SK_LOADER_ELEMENTS_H

#include <stddef.h>

#include "loader/skrt.h"

uint32_t sk_element_size(enum skrt_dtype dtype);
const char *sk_element_type_name(enum skrt_dtype dtype);

/* The i-th element, for floating-point types and, rounded beyond 2^53, for integers. */
double sk_element_value(enum skrt_dtype dtype, const void *data, uint64_t i);

/* Writes the i-th element as text: all digits that tell it from its neighbours. Returns text. */
const char *sk_element_print(enum skrt_dtype dtype, const void *data, uint64_t i, char *text, size_t size);

/* Fills all elements: integers in [-8, 8) or [0, 16), bool 0 and 1, floating-point numbers in [-1, 1), each exactly
 * representable; with a range instead from range[0] to range[1]. The same seed and name give the same elements
 * everywhere, whatever else is filled. */
void sk_elements_fill(enum skrt_dtype dtype, void *data, uint64_t count, uint64_t seed, const char *name,
		      const double *range);

#endif
