/* What nodes of a dump say beside what they compute, in GE's words (ge_onnx_*.pbtxt): for people and for viewers of
 * models. Who reads the dump leaves it out. */
#ifndef SK_DUMP_NOTES_H
#define SK_DUMP_NOTES_H

#include "graph/graph.h"
#include "graph/onnx/onnx-messages.h"
#include "graph/uses.h"

/* What made a model that has such notes. */
#define SK_DUMP_PRODUCER "sklink --dump-dir"

/* Where values come from and go to, by value. */
struct sk_dump_edges {
	int64_t *places; /* which output of its node it is; -1: it is an input or a constant */
	struct sk_uses uses;
};

struct sk_dump_edges *sk_dump_notes_edges(struct sk_arena *arena, const struct sk_op_graph *graph);

/* Adds the notes of the graph's node of that number, and sorts all attributes by their names, as GE does. */
void sk_dump_notes_add(struct sk_arena *arena, const struct sk_op_graph *graph, const struct sk_dump_edges *edges,
		       uint32_t number, struct sk_onnx_node *to);

/* Whether the attribute is one of them. */
bool sk_dump_notes_has(const char *name);

#endif
