/* Equal constants become one. Behind folding, so that what has been packed twice counts, too. */
#ifndef SK_UNIFY_CONSTANTS_H
#define SK_UNIFY_CONSTANTS_H

#include "src/fusion/canonical.h"

/* Of constants of the same bytes that the calls read only the first one keeps its own; others become views of it. */
void sk_graph_unify_constants(struct sk_op_graph *graph, const sk_graph_calls *calls);

#endif
