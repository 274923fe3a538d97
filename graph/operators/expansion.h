/* What the schema of a node that others take the place of (`expand`) makes these of. */
#ifndef SK_EXPANSION_H
#define SK_EXPANSION_H

#include "graph/operators/families.h"

/* What nodes that are expanded may become, in values and nodes (sk_op_graph's `copied`), so that a small file makes no
 * endless graph. */
enum { SK_MOST_COPIED = 1 << 20 };

struct sk_expansion {
	struct sk_op_graph *graph;
	const struct sk_graph_node *node; /* which others take the place of … */
	sk_graph_nodes *nodes; /* … these */
};

/* An error at the node; returns false. */
bool sk_expansion_refuse(const struct sk_expansion *expansion, const char *why);

/* One of these, with that input and that output. The pointer is valid until the next one is made. */
struct sk_graph_node *sk_expansion_node(const struct sk_expansion *expansion, const char *op, uint32_t input,
					uint32_t output);

/* A value that one of these makes, of which nothing is known yet. */
uint32_t sk_expansion_value(const struct sk_expansion *expansion);

/* What that op makes of two values. */
uint32_t sk_expansion_binary(const struct sk_expansion *expansion, const char *op, uint32_t a, uint32_t b);

/* The output is the tensors, of which there is at least one, along an axis; one that is made for them, if they are
 * stacked. */
void sk_expansion_concat(const struct sk_expansion *expansion, const sk_graph_sequence *tensors, int64_t axis,
			 bool stacked, uint32_t output);

#endif
