/* The nodes that a rule makes: beside the graph, with values of their own, so that nothing has happened if one of them
 * is refused. */
#ifndef SK_REPLACING_H
#define SK_REPLACING_H

#include "graph/rules/replace.h"

struct sk_replacing {
	struct sk_match *match;
	struct sk_op_graph *graph;
	const struct sk_rule *rule;
	const struct sk_graph_node *anchor; /* valid while no node is added to the graph */
	sk_graph_nodes nodes; /* the new ones */
	uint32_t *values; /* by name: what the operand is */
	uint32_t *wide; /* by name: the same as f32; SK_NONE: not yet */
	enum sk_dtype first; /* type of the first operand of the node that is a value */
};

static inline bool sk_replacing_is_half(enum sk_dtype dtype)
{
	return dtype == SK_F16 || dtype == SK_BF16;
}

/* The reason in the match; returns false. */
bool sk_replacing_refuse(struct sk_replacing *replacing, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The value in another type. */
bool sk_replacing_cast(struct sk_replacing *replacing, uint32_t from, enum sk_dtype dtype, const char *text,
		       uint32_t *to);

/* The nodes of all lines of the replacement, inferred. */
bool sk_replacing_add_lines(struct sk_replacing *replacing);

#endif
