/* Equal constants become one. Behind folding, so that what has been packed twice counts, too. */
#ifndef SK_UNIFY_CONSTANTS_H
#define SK_UNIFY_CONSTANTS_H

#include "graph/canonical.h"

/* Of constants of the same bytes that the calls read only the first one keeps its own; others become views of it. */
void sk_graph_unify_constants(struct sk_op_graph *graph, const sk_graph_calls *calls);

/* Constants of several graphs, by their bytes. */
struct sk_constants *sk_constants_create(struct sk_arena *arena);

/* The number of the first constant that was added with the same type and bytes: this one, if there is none. One without
 * bytes is like no other. */
uint32_t sk_constants_add(struct sk_constants *constants, const struct sk_value *value, uint32_t number);

#endif
