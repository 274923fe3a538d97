/* Shared by the files of this room: replacing nodes in a walk over the graph, and nodes as GE sees them. */
#ifndef SK_GRAPH_REWRITES_REWRITES_PARTS_H
#define SK_GRAPH_REWRITES_REWRITES_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/manager/manager.h"

/* ==== ge-view.c ====
 *
 * Nodes as GE sees them: their type, the producers of their inputs, and GE's notes about memory and tensor formats.
 * Without notes the facts are sklink's: every format is ND. */

struct sk_ge_view {
	struct sk_op_graph *graph;
	struct sk_uses uses;
};

/* True if the reader has added the node, to convert a format for another one. The file does not have it. */
bool sk_ge_is_conversion(const struct sk_graph_node *node);

/* Return the node that makes the value, or of which it is converted; NULL: it is an input or a constant. */
const struct sk_graph_node *sk_ge_producer(const struct sk_ge_view *view, uint32_t value);

bool sk_ge_is_constant(const struct sk_ge_view *view, uint32_t value);

/* Return the type in the source, such as "SplitD". */
const char *sk_ge_type(const struct sk_graph_node *node);

/* True if the node only gives bytes another shape, without a kernel. */
bool sk_ge_is_shape(const struct sk_graph_node *node);

bool sk_ge_has_atomic_outputs(const struct sk_graph_node *node);
bool sk_ge_is_without_task(const struct sk_graph_node *node);

/* ---- memory ---- */

/* GE's numbers of the kinds of memory that belong to a core. */
enum { SK_GE_MEMORY_L1 = 65536, SK_GE_MEMORY_L2 = 131072, SK_GE_MEMORY_UB = 262144 };

/* Return a sentence about a tensor of the node that is in L1 or L2; NULL: none is. */
const char *sk_ge_check_memory(const struct sk_ge_view *view, const struct sk_graph_node *node);

/* ---- formats and shapes ---- */

/* A tensor of a node, by GE's notes. */
struct sk_ge_tensor {
	const char *format, *origin_format, *dtype;
	uint64_t origin_shape[SK_MAX_RANK];
	size_t rank; /* of the shape; more than SK_MAX_RANK: sklink cannot represent it */
};

/* Describe an input or an output, which must be present. */
struct sk_ge_tensor sk_ge_describe(const struct sk_ge_view *view, const struct sk_graph_node *node, bool input,
				   size_t number);

/* True if `from` is stored as the format `to`. */
bool sk_ge_is_turned(const struct sk_ge_tensor *tensor, const char *from, const char *to);

/* The C axis of NC1HWC0 is made of blocks; a partial block shares bytes with another part. Return the reason why the
 * tensor does not have whole blocks; NULL: it has. */
const char *sk_ge_check_blocks(const struct sk_ge_view *view, const struct sk_graph_node *node, bool input,
			       size_t number);

/* ==== rewrite.c ====
 *
 * Common to all rewrites: one walk over the nodes. Each node sees its inputs after earlier replacements, and can look
 * back at their producers. A pass therefore costs linear time, and the replacement of a node stands before it. */

struct sk_rewrite {
	struct sk_op_graph *graph;
	const struct sk_fusion_flags *flags;
	void *context; /* of the pass */
	SK_ARRAY(uint32_t) instead; /* by value: the value that its users read instead; itself, if it is not replaced */
	SK_ARRAY(uint32_t)
	uses; /* by value: its uses as an input of nodes that are left, and as an output of the graph */
	bool *pinned; /* by value known at the start: an output of the graph */
	size_t pinnable; /* the number of values at the start */
	bool changed;
};

static inline struct sk_graph_node *sk_rewrite_at(const struct sk_rewrite *rewrite, uint32_t index)
{
	return &rewrite->graph->nodes.items[index];
}

typedef void sk_rewrite_node(struct sk_rewrite *rewrite, uint32_t node);

/* Call `visit` for each node that is left, in order, with replaced inputs; then remove nodes that no output needs. */
enum sk_pass_result sk_rewrite_graph(struct sk_op_graph *graph, const struct sk_fusion_flags *flags, void *context,
				     sk_rewrite_node *visit);

/* ---- queries ---- */

/* Return the node that makes the value, if it is left and in the scope and stream of `user`; otherwise NULL. */
struct sk_graph_node *sk_rewrite_producer(const struct sk_rewrite *rewrite, uint32_t value,
					  const struct sk_graph_node *user);

/* True if one node alone has the value as an input, once. */
bool sk_rewrite_is_private(const struct sk_rewrite *rewrite, uint32_t value);

/* True if later passes choose a form by the users of the value: the result of a Conv, which a BatchNormalization may be
 * merged into, and values in quantised products. Such a value must not gain or lose users. */
bool sk_rewrite_is_looked_at(const struct sk_op_graph *graph, uint32_t value);

bool sk_value_same_shape(const struct sk_value *a, const struct sk_value *b);

/* Read the order of axes of a Transpose, counted from 0; false if the node is not one. */
bool sk_node_permutation(const struct sk_op_graph *graph, const struct sk_graph_node *node, uint32_t *permutation);

/* ---- changes ---- */

/* Replace the node's only output by the value `by` for its users. The node is removed, or becomes a copy if the output
 * is one of the graph's. */
void sk_rewrite_replace(struct sk_rewrite *rewrite, uint32_t node, uint32_t by);

/* Redirect the users of a value, which must not be an output of the graph. */
void sk_rewrite_redirect(struct sk_rewrite *rewrite, uint32_t value, uint32_t to);

/* Turn the node into that operator, without attributes, with these inputs. */
void sk_rewrite_become(struct sk_rewrite *rewrite, uint32_t node, const char *op, const uint32_t *inputs, size_t count);

void sk_rewrite_set_input(struct sk_rewrite *rewrite, struct sk_graph_node *node, size_t number, uint32_t value);

/* Set an attribute of this node only: copies of a node may share theirs. */
void sk_rewrite_set_integer(struct sk_rewrite *rewrite, struct sk_graph_node *node, const char *name, int64_t integer);
void sk_rewrite_set_integers(struct sk_rewrite *rewrite, struct sk_graph_node *node, const char *name,
			     const int64_t *integers, size_t count);

/* Turn the node into a Reshape of `from` to the shape of its output. */
void sk_rewrite_reshape(struct sk_rewrite *rewrite, uint32_t node, uint32_t from);

/* Return a constant with the opposite sign; SK_NONE if the type is not signed. */
uint32_t sk_rewrite_negated(struct sk_rewrite *rewrite, uint32_t constant);

/* ==== simplify.c ====
 *
 * The rules of arithmetic_simplify. */

/* A rule. It inspects the node and the producers of its inputs, and changes the node; true if it did. `exact`: only if
 * all bits of the result stay the same. */
typedef bool sk_simplify(struct sk_rewrite *rewrite, uint32_t node, bool exact);

struct sk_simplify_rule {
	const char *id; /* "1.24": set 1 has MindSpore's numbers */
	const char *op; /* of the node, as sk_node_is takes it */
	sk_simplify *apply;
};

/* Rules about arithmetic, and about shapes and reductions. Each list ends with a rule without an id. */
extern const struct sk_simplify_rule sk_simplify_arithmetic[], sk_simplify_shapes[];

#endif
