/* The forms that a dump has beside the one of model files (onnx/onnx.h): one for people, one for Graphviz. */
#ifndef SK_DUMP_FORMS_H
#define SK_DUMP_FORMS_H

#include <stdio.h>

#include "graph/graph.h"

/* The number of the node's composite, from 0 on; SK_NONE: it is in none. */
static inline uint32_t sk_dump_composite(const struct sk_graph_node *node)
{
	return node->composite - 1;
}

/* "f32[3, 4]", in the arena. */
const char *sk_dump_type(struct sk_arena *arena, const struct sk_value *value);

/* A line for each input, constant, node and output; doc/fusion.md says how they read. */
void sk_dump_text(const struct sk_op_graph *graph, const char *title, FILE *stream);

/* What a line of the text says of what a node computes: "mul" = "Mul"("x": f32[4], …) -> ("y": f32[4]). */
void sk_dump_call(const struct sk_op_graph *graph, uint32_t node, FILE *stream);

/* The main graph, in which a composite is one node, and the composites' bodies beside it. Scopes and streams are
 * clusters. */
void sk_dump_dot(const struct sk_op_graph *graph, const char *title, FILE *stream);

#endif
