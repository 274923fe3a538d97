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
 * The texts of the flag dump_as_text: nodes that became a composite, and the pieces that composites were cut into.
 * Their layout is that of MindSpore's graph_kernel_cluster_<pid>.txt and graph_kernel_split_mode.<pid>.txt. */

/* A file that grows. */
struct sk_cluster_text {
	SK_ARRAY(struct sk_file_part) parts;
	uint64_t size;
};

struct sk_cluster_texts {
	struct sk_cluster_text clusters, splits;
	SK_ARRAY(uint32_t) start; /* by value: the composite plus 1 of its producer, before the first pass */
	/* The graph after the last pass: */
	SK_ARRAY(uint32_t) before; /* by value, as `start` */
	sk_texts names; /* of the composites */
};

/* Start from the composites that the graph already has. */
void sk_cluster_texts_begin(struct sk_cluster_texts *texts, const struct sk_op_graph *graph);

/* The kinds of passes: some make or enlarge composites, one cuts them, others may change them. */
enum sk_cluster_pass { SK_CLUSTERS, SK_CUTS, SK_OTHER_PASS };

/* Take in the graph after a pass. The text of composites is that of the last pass that made some; pieces are added. */
void sk_cluster_texts_add(struct sk_cluster_texts *texts, const struct sk_op_graph *graph, enum sk_cluster_pass pass);

/* ==== forms ====
 *
 * Forms of a dump beside the model file (onnx/onnx.h): text, and Graphviz. */

/* Return the index of the node's composite; SK_NONE: none. */
static inline uint32_t sk_dump_composite(const struct sk_graph_node *node)
{
	return node->composite - 1;
}

/* Return a text such as "f32[3, 4]", in the arena. */
const char *sk_dump_type(struct sk_arena *arena, const struct sk_value *value);

/* Print a line for each input, constant, node and output. doc/reference/dumps.md describes them. */
void sk_dump_text(const struct sk_op_graph *graph, const char *title, FILE *stream);

/* Print the part of a node's line that describes its computation: "mul" = "Mul"("x": f32[4], …) -> ("y": f32[4]). */
void sk_dump_call(const struct sk_op_graph *graph, uint32_t node, FILE *stream);

/* Print the main graph, in which a composite is one node, with the bodies of the composites next to it. Scopes and
 * streams are clusters. */
void sk_dump_dot(const struct sk_op_graph *graph, const char *title, FILE *stream);

/* ==== fx-items.c ====
 *
 * The items of FX graphs: one for each input, constant, call, and output of a call with several results. Small
 * constants, such as shapes, are not items, but written where they are used. */

enum sk_fx_kind { SK_FX_PLACEHOLDER, SK_FX_CONSTANT, SK_FX_CALL, SK_FX_GETITEM };

struct sk_fx_item {
	enum sk_fx_kind kind;
	const char *name;
	uint32_t node, value; /* CALL: its node, and its value if it has one result; otherwise the value */
	const char *target; /* CALL: torch.ops.aten.add.Tensor */
	const char *order; /* CALL: the positions of the operands among the arguments, a digit each; NULL: in order */
	const char *rules; /* CALL: those of its name in torch_npu (graph/onnx/aliases.def); "": none */
	uint32_t from, number; /* GETITEM: the item of the call, and the index of the output */
	uint32_t users, last; /* items; the last one, SK_NONE: there is none, or the graph returns it */
};

struct sk_fx_items {
	SK_ARRAY(struct sk_fx_item) list;
	uint32_t *made; /* by value: its item; SK_NONE: none */
};

/* The names of the items of one graph, before and after passes: an item keeps its name, and no name is used again. */
struct sk_fx_names;

/* The names are allocated in the arena. */
struct sk_fx_names *sk_fx_names_create(struct sk_arena *arena);

struct sk_fx_items *sk_fx_items_make(struct sk_arena *arena, const struct sk_op_graph *graph,
				     struct sk_fx_names *names);

/* Return a number, or a short list of integers, as text in the arena; NULL: the value is something else. */
const char *sk_fx_literal(struct sk_arena *arena, const struct sk_value *value);

/* Return the number with a point or an exponent, so that it is not read as an integer. */
const char *sk_fx_real(struct sk_arena *arena, double real, int digits);

/* Return the text with each character other than letters, digits and underscores replaced by an underscore. */
char *sk_fx_identifier(struct sk_arena *arena, const char *text);

/* True if the type of the result is one of the call's arguments. */
bool sk_fx_is_cast(const struct sk_graph_node *node);

/* ==== fx.c ====
 *
 * A graph as in TorchAir's FX texts: a function in Python, and a list of nodes. */

/* Print class GraphModule(torch.nn.Module), as print_readable of FX does. */
void sk_dump_fx_python(const struct sk_op_graph *graph, struct sk_fx_names *names, FILE *stream);

/* Print graph(): … return (%x,) */
void sk_dump_fx_graph(const struct sk_op_graph *graph, struct sk_fx_names *names, FILE *stream);

/* ==== readable.c ====
 *
 * A graph as in GE's readable dumps: "%add : [#users=1] = Node[type=Add] (inputs = (input_0=%a, input_1=%b))". */

/* Print the graph; with `whole`, also the contents of constants. */
void sk_dump_readable(const struct sk_op_graph *graph, bool whole, FILE *stream);

#endif
