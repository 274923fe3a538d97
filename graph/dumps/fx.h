/* A graph as TorchAir's texts of FX graphs have it: a function in Python, and a list of nodes. */
#ifndef SK_FX_H
#define SK_FX_H

#include <stdio.h>

#include "graph/graph.h"

/* class GraphModule(torch.nn.Module), as print_readable of FX has it. */
void sk_dump_fx_python(const struct sk_op_graph *graph, FILE *stream);

/* graph(): … return (%x,) */
void sk_dump_fx_graph(const struct sk_op_graph *graph, FILE *stream);

#endif
