/* Where the pattern of a rule stands in a graph, and what its expressions are there. */
#ifndef SK_MATCH_H
#define SK_MATCH_H

#include "graph/rules/rule.h"
#include "graph/rules/users.h"

/* What an expression is. */
struct sk_datum {
	const char *text; /* NULL: numbers */
	bool list;
	bool real; /* it is what the model says as a real number, which has been f32 there */
	size_t count; /* of a number 1 */
	const double *numbers;
};

enum { SK_DATUM_MAX = 4096 /* numbers of a list */, SK_CONSTANT_MAX = 65536 /* of one that a constant holds */ };

/* Whether nodes may take the place of some of the graph. */
struct sk_rule_check {
	/* Why these may not; NULL: they may. NULL itself: all may. Producers stand in front of users. */
	const char *(*ask)(void *context, const struct sk_op_graph *graph, const sk_graph_nodes *replaced,
			   const sk_graph_nodes *nodes);
	void *context;
};

/* A pattern in a graph. What it binds is by name: a value (SK_NONE: absent), an attribute or an expression. */
struct sk_match {
	const struct sk_rule *rule;
	struct sk_op_graph *graph;
	const struct sk_users *users;
	struct sk_rule_check check; /* of replacements */
	const char *target; /* what the name `target` is */
	uint32_t *values;
	struct sk_datum *attributes;
	bool *set; /* it is bound */
	SK_ARRAY(uint32_t) bound; /* the names that are, one after the other */
	size_t room; /* names that there is room for */
	uint32_t *nodes; /* by node of the pattern; SK_NONE: not yet */
	uint32_t rest_node; /* whose last inputs the rest is; SK_NONE: there is none */
	uint32_t rest_first; /* the number of the first of them */
	uint32_t limit; /* nodes from this number on are no part of a match */
	uint64_t steps; /* that all matching has taken so far */
	uint64_t budget; /* `steps` where this one is given up */
	bool whole; /* all nodes of the pattern are there: what was missing is a condition */
	const char *reason; /* why it is none, or why an expression is nothing here */
};

/* Looks for the pattern whose anchor is this node. What it binds holds until the next search. */
bool sk_match_find(struct sk_match *match, const struct sk_rule *rule, uint32_t anchor);

/* False, with a reason, if it is nothing: a value is absent, a constant is none, lists are of different lengths. */
bool sk_match_evaluate(struct sk_match *match, const struct sk_rule_expression *expression, struct sk_datum *datum);

/* The value is a true condition: no number is 0. */
bool sk_datum_is_true(const struct sk_datum *datum);

/* Equal; real numbers as f32 can tell them. */
bool sk_numbers_same(double one, double other, bool real);
bool sk_datum_same(const struct sk_datum *one, const struct sk_datum *other);

/* The attribute as a datum; false if it is a list of texts. */
bool sk_datum_of_attribute(struct sk_arena *arena, const struct sk_attribute *attribute, struct sk_datum *datum);

/* The second half of each row is the first one again, as far as constants and the nodes that have made the value tell.
 */
bool sk_value_repeats(const struct sk_op_graph *graph, uint32_t value);

#endif
