/* Shared by the files of this room: the forms of dumps: texts, drawings, models. */
#ifndef SK_GRAPH_DUMPS_DUMPS_PARTS_H
#define SK_GRAPH_DUMPS_DUMPS_PARTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/file.h"
#include "graph/graph.h"

struct sk_arena;

/* ==== clusters.c ====
 *
 * The texts of the flag dump_as_text: which nodes have become a composite, and into what composites have been cut.
 * Their layout is that of MindSpore's graph_kernel_cluster_<pid>.txt and graph_kernel_split_mode.<pid>.txt. */

/* A file that grows. */
struct sk_cluster_text {
	SK_ARRAY(struct sk_file_part) parts;
	uint64_t size;
};

struct sk_cluster_texts {
	struct sk_cluster_text clusters, splits;
	/* As the last pass has left it: */
	SK_ARRAY(uint32_t) before; /* by value: the composite plus 1 of the node that makes it */
	sk_texts names; /* of the composites */
};

/* Nothing has been put together yet but what the graph has. */
void sk_cluster_texts_begin(struct sk_cluster_texts *texts, const struct sk_op_graph *graph);

/* Adds what a pass has put together, or what it has cut, if it is one that cuts. */
void sk_cluster_texts_add(struct sk_cluster_texts *texts, const struct sk_op_graph *graph, bool cuts);

/* ==== forms ====
 *
 * The forms that a dump has beside the one of model files (onnx/onnx.h): one for people, one for Graphviz. */

/* The number of the node's composite, from 0 on; SK_NONE: it is in none. */
static inline uint32_t sk_dump_composite(const struct sk_graph_node *node)
{
	return node->composite - 1;
}

/* "f32[3, 4]", in the arena. */
const char *sk_dump_type(struct sk_arena *arena, const struct sk_value *value);

/* A line for each input, constant, node and output; doc/reference/dumps.md says how they read. */
void sk_dump_text(const struct sk_op_graph *graph, const char *title, FILE *stream);

/* What a line of the text says of what a node computes: "mul" = "Mul"("x": f32[4], …) -> ("y": f32[4]). */
void sk_dump_call(const struct sk_op_graph *graph, uint32_t node, FILE *stream);

/* The main graph, in which a composite is one node, and the composites' bodies beside it. Scopes and streams are
 * clusters. */
void sk_dump_dot(const struct sk_op_graph *graph, const char *title, FILE *stream);

/* ==== fx-items.c ====
 *
 * What FX graphs are made of: an item for each input, constant, call and output of a call that makes several things.
 * In: a graph. Out: its items, with names. Small constants, such as shapes, are no items, but written where they are
 * used. */

enum sk_fx_kind { SK_FX_PLACEHOLDER, SK_FX_CONSTANT, SK_FX_CALL, SK_FX_GETITEM };

struct sk_fx_item {
	enum sk_fx_kind kind;
	const char *name;
	uint32_t node, value; /* CALL: its node, and its value if it makes one thing; otherwise the value */
	const char *target; /* CALL: torch.ops.aten.add.Tensor */
	const char *order; /* CALL: the operands' places among the arguments, a digit each; NULL: as they are */
	uint32_t from, number; /* GETITEM: the item of the call, and which output it is */
	uint32_t users, last; /* items; the last one, SK_NONE: nobody, or what is returned needs it */
};

struct sk_fx_items {
	SK_ARRAY(struct sk_fx_item) list;
	uint32_t *made; /* by value: its item; SK_NONE: none */
};

struct sk_fx_items *sk_fx_items_make(struct sk_arena *arena, const struct sk_op_graph *graph);

/* A number, or a short list of integers, in the arena; NULL: it is something else. */
const char *sk_fx_literal(struct sk_arena *arena, const struct sk_value *value);

/* With a point, or an exponent, by which it is no integer. */
const char *sk_fx_real(struct sk_arena *arena, double real, int digits);

/* Letters, digits and underscores of the text; of others there are underscores. */
char *sk_fx_identifier(struct sk_arena *arena, const char *text);

/* The type that it casts to is one of its arguments. */
bool sk_fx_is_cast(const struct sk_graph_node *node);

/* ==== fx.c ====
 *
 * A graph as TorchAir's texts of FX graphs have it: a function in Python, and a list of nodes. */

/* class GraphModule(torch.nn.Module), as print_readable of FX has it. */
void sk_dump_fx_python(const struct sk_op_graph *graph, FILE *stream);

/* graph(): … return (%x,) */
void sk_dump_fx_graph(const struct sk_op_graph *graph, FILE *stream);

/* ==== readable.c ====
 *
 * A graph as GE's readable dumps have it: "%add : [#users=1] = Node[type=Add] (inputs = (input_0=%a, input_1=%b))". */

/* `whole`: with what constants hold. */
void sk_dump_readable(const struct sk_op_graph *graph, bool whole, FILE *stream);

#endif
