/* Whether the libraries hold kernels for what a rule would make, and for what it replaces no better ones, as binding
 * finds them: nodes become canonical calls and tasks of a model that nobody else sees. */
#ifndef SK_HAVE_KERNELS_H
#define SK_HAVE_KERNELS_H

#include "graph/graph.h"
#include "src/outputs/outputs.h"

/* As an sk_rule_check, of a struct sk_link, whose inputs are read at the first question: why one of the nodes has no
 * kernel, or that one of those that they would replace has a kernel of a library in front of all of theirs, which
 * somebody has put there so that it is used; NULL: neither. */
const char *sk_have_kernels(void *link, const struct sk_op_graph *graph, const sk_graph_nodes *replaced,
			    const sk_graph_nodes *nodes);

#endif
