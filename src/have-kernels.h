/* Whether the libraries hold kernels for what a rule would make, as binding finds them: its nodes become canonical
 * calls and tasks of a model that nobody else sees. */
#ifndef SK_HAVE_KERNELS_H
#define SK_HAVE_KERNELS_H

#include "src/fusion/graph.h"
#include "src/outputs/outputs.h"

/* As an sk_rule_check, of a struct sk_link, whose inputs are read at the first question: why one of the nodes has no
 * kernel; NULL: each has. */
const char *sk_have_kernels(void *link, const struct sk_op_graph *graph, const sk_graph_nodes *nodes);

#endif
