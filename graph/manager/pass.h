/* A pass of graph-kernel fusion: a function on the graph, with the name by which flags, dumps and logs speak of it. */
#ifndef SK_PASS_H
#define SK_PASS_H

#include "graph/graph.h"
#include "graph/manager/flags.h"

enum sk_pass_result { SK_PASS_UNCHANGED, SK_PASS_CHANGED, SK_PASS_FAILED };

struct sk_rule_list;

struct sk_fusion_pass {
	const char *stage, *name;
	unsigned level; /* from this optimisation level on; SK_LEVEL_NEVER: only if it is asked for */
	/* NULL: it is the rules, or none. Every value of the graph is of a known type and shape, before and after.
	 * Errors are in the graph's sink. */
	enum sk_pass_result (*run)(struct sk_op_graph *graph, const struct sk_fusion_flags *flags);
	struct sk_rule_list *rules; /* that fuse */
};

/* Whether it can do something; otherwise it only has a place. */
static inline bool sk_pass_does(const struct sk_fusion_pass *pass)
{
	return pass->run || pass->rules;
}

enum { SK_LEVEL_NEVER = 4 };

#endif
