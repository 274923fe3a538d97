/* Shared by the files of this room: how a rewrite replaces nodes, and views of other engines. */
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
 * Nodes as GE sees them: what they are called there, what makes their inputs, and what GE has noted about their memory
 * and about the formats of their tensors. What it has not noted is as sklink has it: every format is ND. */

struct sk_ge_view {
	struct sk_op_graph *graph;
	struct sk_uses uses;
};

/* The node that makes the value; NULL: it is an input or a constant. */
const struct sk_graph_node *sk_ge_producer(const struct sk_ge_view *view, uint32_t value);

bool sk_ge_is_constant(const struct sk_ge_view *view, uint32_t value);

/* "SplitD": as the source has it. */
const char *sk_ge_type(const struct sk_graph_node *node);

/* It only gives bytes another shape, and no kernel does that. */
bool sk_ge_is_shape(const struct sk_graph_node *node);

bool sk_ge_has_atomic_outputs(const struct sk_graph_node *node);
bool sk_ge_is_without_task(const struct sk_graph_node *node);

/* ---- memory ---- */

/* What GE calls memory that a core has for itself. */
enum { SK_GE_MEMORY_L1 = 65536, SK_GE_MEMORY_L2 = 131072, SK_GE_MEMORY_UB = 262144 };

/* Which tensor of the node is in L1 or L2, as a sentence; NULL: none. */
const char *sk_ge_check_memory(const struct sk_ge_view *view, const struct sk_graph_node *node);

/* ---- formats and shapes ---- */

/* One tensor of a node, as GE tells of it. */
struct sk_ge_tensor {
	const char *format, *origin_format, *dtype;
	uint64_t origin_shape[SK_MAX_RANK];
	size_t rank; /* of that; more than SK_MAX_RANK: it is none that sklink knows */
};

/* An input or an output, which is there. */
struct sk_ge_tensor sk_ge_describe(const struct sk_ge_view *view, const struct sk_graph_node *node, bool input,
				   size_t number);

/* Whether the one format is stored as the other one. */
bool sk_ge_is_turned(const struct sk_ge_tensor *tensor, const char *from, const char *to);

/* The C axis of NC1HWC0 is made of blocks, and parts of one lie in the same bytes as others. Why the tensor does not
 * have whole ones; NULL: it has. */
const char *sk_ge_check_blocks(const struct sk_ge_view *view, const struct sk_graph_node *node, bool input,
			       size_t number);

/* ==== rewrite.c ====
 *
 * What rewrites have in common: one walk over the nodes, in which each sees what has become of its inputs, and looks
 * back at what makes them. So a pass costs as much as the graph is long, and whatever a node is replaced by stands in
 * front of it. */

struct sk_rewrite {
	struct sk_op_graph *graph;
	const struct sk_fusion_flags *flags;
	void *context; /* the pass's own */
	SK_ARRAY(uint32_t) instead; /* by value: what its users read; itself, if nothing has taken its place */
	SK_ARRAY(uint32_t) uses; /* by value: inputs that it is, of nodes that are left, and outputs of the graph */
	bool *pinned; /* by value that there was at the start: an output of the graph */
	size_t pinnable; /* values that there were at the start */
	bool changed;
};

typedef void sk_rewrite_node(struct sk_rewrite *rewrite, uint32_t node);

/* Calls `visit` for each node that is left, in order, its inputs being what has taken their place; then takes out what
 * no output needs. */
enum sk_pass_result sk_rewrite_graph(struct sk_op_graph *graph, const struct sk_fusion_flags *flags, void *context,
				     sk_rewrite_node *visit);

/* ---- looking ---- */

/* The node that makes the value, if it is left, and stands in the scope and the stream of `user`; else NULL. */
struct sk_graph_node *sk_rewrite_producer(const struct sk_rewrite *rewrite, uint32_t value,
					  const struct sk_graph_node *user);

/* True if one node alone has the value as an input, once. */
bool sk_rewrite_is_private(const struct sk_rewrite *rewrite, uint32_t value);

/* True if passes behind graph-kernel fusion look at who takes the value, and compute it in another way with that: the
 * result of a Conv, which a BatchNormalization may become part of, and what quantised products are found by. Such a
 * value gets no other users, and none that it would lose. */
bool sk_rewrite_is_looked_at(const struct sk_op_graph *graph, uint32_t value);

bool sk_value_same_shape(const struct sk_value *a, const struct sk_value *b);

/* The order of axes of a Transpose, as numbers from 0 on; false if the node is none. */
bool sk_node_permutation(const struct sk_op_graph *graph, const struct sk_graph_node *node, uint32_t *permutation);

/* ---- changing ---- */

/* The node's only output is `by`: its users read that, and the node goes, or copies it to an output of the graph. */
void sk_rewrite_replace(struct sk_rewrite *rewrite, uint32_t node, uint32_t by);

/* Users of the one value, which is no output of the graph, read the other one. */
void sk_rewrite_redirect(struct sk_rewrite *rewrite, uint32_t value, uint32_t to);

/* The node becomes that operator, without attributes, of these inputs. */
void sk_rewrite_become(struct sk_rewrite *rewrite, uint32_t node, const char *op, const uint32_t *inputs, size_t count);

void sk_rewrite_set_input(struct sk_rewrite *rewrite, struct sk_graph_node *node, size_t number, uint32_t value);

/* Attributes of this node only: copies of a node may share theirs. */
void sk_rewrite_set_integer(struct sk_rewrite *rewrite, struct sk_graph_node *node, const char *name, int64_t integer);
void sk_rewrite_set_integers(struct sk_rewrite *rewrite, struct sk_graph_node *node, const char *name,
			     const int64_t *integers, size_t count);

/* The node gives the elements of `from` the shape of its output. */
void sk_rewrite_reshape(struct sk_rewrite *rewrite, uint32_t node, uint32_t from);

/* A constant like this one with the other sign; SK_NONE if it is none of signed numbers. */
uint32_t sk_rewrite_negated(struct sk_rewrite *rewrite, uint32_t constant);

/* ==== simplify.c ====
 *
 * Rules of arithmetic_simplify. */

/* What may take the place of a node. It looks at the node and at what makes its inputs, changes the node, and says
 * whether it has. `exact`: only where all bits of the result stay the same. */
typedef bool sk_simplify(struct sk_rewrite *rewrite, uint32_t node, bool exact);

struct sk_simplify_rule {
	const char *id; /* "1.24": set 1 has MindSpore's numbers */
	const char *op; /* of the node, as sk_node_is has it */
	sk_simplify *apply;
};

/* Up to one without an id: about arithmetic, and about order, shape and reductions. */
extern const struct sk_simplify_rule sk_simplify_arithmetic[], sk_simplify_shapes[];

#endif
