/* What fuzz targets ask of a graph of operators that has been read. */
#ifndef SK_TESTS_FUZZ_GRAPH_H
#define SK_TESTS_FUZZ_GRAPH_H

#include "src/fusion/graph.h"

/* Looks at all of it, at every byte of the constants, too. */
void fuzz_graph(const struct sk_op_graph *graph);

#endif
