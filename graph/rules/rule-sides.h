/* The two sides of a rule as graphs of their own, for --check-rules. In: a rule, and what its example says of the names
 * in its pattern. Out: graphs that are to compute the same. */
#ifndef SK_RULE_SIDES_H
#define SK_RULE_SIDES_H

#include "graph/rules/rule.h"

/* Their inputs and outputs are the same, in the same order. */
struct sk_rule_sides {
	struct sk_op_graph *pattern, *replacement;
};

/* Makes both: the replacement is what the rule makes of the pattern, for the first target for which it is one. Returns
 * why there are none; NULL: there are. */
const char *sk_rule_make_sides(struct sk_arena *arena, const struct sk_rule *rule, struct sk_rule_sides *sides);

/* Appends a side to a graph, with numbers in place of inputs that look random and are the same for both sides. Returns
 * how much larger the numbers of its values are there. */
uint32_t sk_rule_append_side(struct sk_op_graph *graph, const struct sk_op_graph *side);

#endif
