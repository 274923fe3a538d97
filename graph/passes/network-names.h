/* Names of what is one network's alone, where a package has several. */
#ifndef SK_NETWORK_NAMES_H
#define SK_NETWORK_NAMES_H

#include "graph/graph.h"

/* Puts the network's name and a colon in front of the names of the graph, and of its nodes, their scopes and values,
 * but not of constants, which networks share. NULL: it has no name, and nothing changes. */
void sk_graph_set_network(struct sk_op_graph *graph, const char *network);

#endif
