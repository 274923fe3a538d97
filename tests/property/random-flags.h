/* Random flags of graph-kernel fusion for the property test of models (graphs.c): any that choose the nodes that are
 * fused, and their code. Either none of them computes an operator by the arithmetic of others, or some may. */
#ifndef SK_TESTS_RANDOM_FLAGS_H
#define SK_TESTS_RANDOM_FLAGS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tests/property/random-graph.h"

/* The values of --fusion-target and --fusion-flags, the same for the same seed; with passes that put another operator
 * in the place of several, or without them. */
void flags_draw(uint64_t seed, bool fuses, const char **target, char *text, size_t size);

/* Write the flags that turn off all of these passes, and nothing else. */
void flags_without_fusion(char *text, size_t size);

/* A switch file; flags take precedence over it. */
void flags_write_switches(uint64_t seed, FILE *file);

/* The same for flags that expand operators of the graph, and that simplify it, exactly or not. */
void flags_draw_expansion(const struct graph *graph, const char **target, char *text, size_t size);

#endif
