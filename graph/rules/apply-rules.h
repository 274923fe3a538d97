/* Rules on a whole graph. */
#ifndef SK_APPLY_RULES_H
#define SK_APPLY_RULES_H

#include "graph/manager/results.h"
#include "graph/rules/match.h"

/* A rule for the operator of a node, which has not been applied there. */
struct sk_rule_refusal {
	const char *node; /* the anchor's name, with its place */
	const char *reason;
	const char *text; /* all but the node: "Relu is not expanded by rule …"; one of the anchor's refusals */
};

struct sk_rule_pass {
	struct sk_op_graph *graph;
	const struct sk_rule_list
		*sets[2]; /* tried in this order, each in the order of its rules; NULL: there is one */
	bool (*wants)(const void *context,
		      const struct sk_graph_node *node); /* whether it may be an anchor; NULL: each */
	const void *context;
	const char *target; /* what that name is in expressions */
	struct sk_rule_check check; /* of what would take a pattern's place */
	/* A pattern becomes a composite, under the name of the anchor's operator, and whatever keeps a rule from that
	 * is told; otherwise only what keeps one from a pattern that is there. */
	bool expands;

	/* What has been done: */
	size_t replaced; /* patterns */
	uint64_t steps; /* of matching */
	sk_rule_counts counts; /* by rule, its variants together */
	SK_ARRAY(struct sk_rule_refusal) refusals;
};

/* Looks for patterns from the last node to the first; the first rule that fits a node is applied. What a rule makes is
 * not looked at again, so that a rule whose result it would match itself is applied once. Afterwards producers stand in
 * front of users. */
void sk_rules_apply(struct sk_rule_pass *pass);

/* Behind that: what --verbose says of the rules that have not been applied. */
void sk_rules_tell(const struct sk_rule_pass *pass);

#endif
