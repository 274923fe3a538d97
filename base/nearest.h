/* The name that a misspelt one was meant to be. Needs nothing but the C library, so that the runtime can use it, too.
 */
#ifndef SK_NEAREST_H
#define SK_NEAREST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The candidate nearest to the name, the first of equally near ones, and never the name itself; NULL if none is near:
 * at most a third of the name's letters differ. */
const char *sk_nearest_name(const char *name, const char *const *candidates, size_t count);

/* The same of names that a function tells: name_of(context, i) is the i-th one. */
const char *sk_nearest_of(const char *name, size_t count, const char *(*name_of)(const void *context, uint32_t index),
			  const void *context);

/* "layer_1" and "layer_12": names that are counted, or "gemm_f16" and "gemm_f32". Nobody has mistaken one for the
 * other.
 */
bool sk_differ_in_digits_only(const char *a, const char *b);

#endif
