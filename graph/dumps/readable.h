/* A graph as GE's readable dumps have it: "%add : [#users=1] = Node[type=Add] (inputs = (input_0=%a, input_1=%b))". */
#ifndef SK_DUMP_READABLE_H
#define SK_DUMP_READABLE_H

#include <stdio.h>

#include "graph/graph.h"

/* `whole`: with what constants hold. */
void sk_dump_readable(const struct sk_op_graph *graph, bool whole, FILE *stream);

#endif
