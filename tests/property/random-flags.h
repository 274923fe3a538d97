/* Random flags of graph-kernel fusion for the property test of models (graphs.c): any that say what is put together,
 * and how it is computed, but none that lets one operator be computed by others' arithmetic. */
#ifndef SK_TESTS_RANDOM_FLAGS_H
#define SK_TESTS_RANDOM_FLAGS_H

#include <stddef.h>
#include <stdint.h>

/* The values of --fusion-target and --fusion-flags, the same for the same seed. */
void flags_draw(uint64_t seed, const char **target, char *text, size_t size);

#endif
