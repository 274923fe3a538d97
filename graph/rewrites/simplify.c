/* arithmetic_simplify, and its rules about arithmetic. Equations are MindSpore's. Most of them hold for integers, which
 * wrap. For floats they must also hold for -0, infinities and NaNs; payload and sign of a NaN are not part of a result.
 * Equations that do not are rules on request. */
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/manager/manager.h"
#include "graph/rewrites/rewrites-parts.h"
#include "graph/rewrites/rewrites.h"

/* The most bytes of a constant that may be copied with the opposite sign. */
enum { MOST_NEGATED = 1 << 16 };

static const struct sk_value *input(const struct sk_rewrite *rewrite, uint32_t index, size_t number)
{
	return sk_node_input(rewrite->graph, sk_rewrite_at(rewrite, index), number);
}

/* Replace the node by the input if that has its shape and type. */
static bool be_input(struct sk_rewrite *rewrite, uint32_t index, size_t number)
{
	const struct sk_value *from = input(rewrite, index, number);
	const struct sk_value *to = sk_node_output(rewrite->graph, sk_rewrite_at(rewrite, index), 0);
	uint32_t value = sk_rewrite_at(rewrite, index)->inputs.items[number];

	if (from->dtype != to->dtype || !sk_value_same_shape(from, to) ||
	    sk_rewrite_is_looked_at(rewrite->graph, value))
		return false;
	sk_rewrite_replace(rewrite, index, value);
	return true;
}

/* Return the node that makes the input, if it is of this operator. */
static const struct sk_graph_node *input_made_by(const struct sk_rewrite *rewrite, uint32_t index, size_t number,
						 const char *op)
{
	const struct sk_graph_node *user = sk_rewrite_at(rewrite, index);
	const struct sk_graph_node *node = sk_rewrite_producer(rewrite, user->inputs.items[number], user);

	return node && sk_node_is(node, op) ? node : NULL;
}

static bool is_exact_float(const struct sk_value *value, bool exact)
{
	return exact && sk_value_is_float(value);
}

/* ---- sums ---- */

/* -0 + 0 is 0. */
static bool add_nothing(struct sk_rewrite *rewrite, uint32_t index, bool exact)
{
	for (size_t i = 0; i < 2; i++) {
		const struct sk_value *zero = input(rewrite, index, i);

		if ((sk_constant_is(zero, -0.0) || (!is_exact_float(zero, exact) && sk_constant_is(zero, 0))) &&
		    be_input(rewrite, index, 1 - i))
			return true;
	}
	return false;
}

static bool subtract_nothing(struct sk_rewrite *rewrite, uint32_t index, bool exact)
{
	const struct sk_value *zero = input(rewrite, index, 1);

	return (sk_constant_is(zero, 0) || (!is_exact_float(zero, exact) && sk_constant_is(zero, -0.0))) &&
	       be_input(rewrite, index, 0);
}

/* x + -x is a NaN for infinities. */
static bool add_negated(struct sk_rewrite *rewrite, uint32_t index, bool exact)
{
	struct sk_op_graph *graph = rewrite->graph;
	const struct sk_value *to = sk_node_output(graph, sk_rewrite_at(rewrite, index), 0);
	int64_t shape[SK_MAX_RANK], zero = 0;

	for (size_t i = 0; i < 2 && !is_exact_float(to, exact); i++) {
		const struct sk_graph_node *negation = input_made_by(rewrite, index, i, "Neg");

		if (!negation || negation->inputs.items[0] != sk_rewrite_at(rewrite, index)->inputs.items[1 - i])
			continue;
		for (uint32_t d = 0; d < to->rank; d++)
			shape[d] = (int64_t)to->shape[d];

		uint64_t rank = to->rank;
		uint32_t number = sk_graph_new_constant(graph, "zero", to->dtype, 0, NULL, &zero);
		uint32_t wanted = sk_graph_new_integers(graph, "shape", rank, shape);

		sk_rewrite_become(rewrite, index, "Expand", (uint32_t[]){number, wanted}, 2);
		return true;
	}
	return false;
}

/* Turn the node into the op of `other` and the negated constant. */
static bool negate_second(struct sk_rewrite *rewrite, uint32_t index, const char *op, uint32_t other, size_t number)
{
	const struct sk_value *constant = input(rewrite, index, number);
	uint32_t negated;

	if (!constant->contents || sk_value_bytes(constant) > MOST_NEGATED)
		return false;
	negated = sk_rewrite_negated(rewrite, sk_rewrite_at(rewrite, index)->inputs.items[number]);
	if (negated == SK_NONE)
		return false;
	sk_rewrite_become(rewrite, index, op, (uint32_t[]){other, negated}, 2);
	return true;
}

static bool subtract_constant(struct sk_rewrite *rewrite, uint32_t index, bool exact)
{
	(void)exact;
	return negate_second(rewrite, index, "Add", sk_rewrite_at(rewrite, index)->inputs.items[0], 1);
}

/* ---- products ---- */

static bool multiply_by_one(struct sk_rewrite *rewrite, uint32_t index, bool exact)
{
	(void)exact;
	return (sk_constant_is(input(rewrite, index, 1), 1) && be_input(rewrite, index, 0)) ||
	       (sk_constant_is(input(rewrite, index, 0), 1) && be_input(rewrite, index, 1));
}

static bool divide_by_one(struct sk_rewrite *rewrite, uint32_t index, bool exact)
{
	(void)exact;
	return sk_constant_is(input(rewrite, index, 1), 1) && be_input(rewrite, index, 0);
}

/* Move the sign from the negated input to the constant. */
static bool move_sign(struct sk_rewrite *rewrite, uint32_t index, const char *op, size_t number)
{
	const struct sk_graph_node *negation = input_made_by(rewrite, index, number, "Neg");

	return negation && sk_rewrite_is_private(rewrite, sk_rewrite_at(rewrite, index)->inputs.items[number]) &&
	       negate_second(rewrite, index, op, negation->inputs.items[0], 1 - number);
}

static bool multiply_negated(struct sk_rewrite *rewrite, uint32_t index, bool exact)
{
	(void)exact;
	return move_sign(rewrite, index, "Mul", 0) || move_sign(rewrite, index, "Mul", 1);
}

/* The smallest integer has no negation, nor have its quotients. */
static bool divide_negated(struct sk_rewrite *rewrite, uint32_t index, bool exact)
{
	(void)exact;
	return sk_value_is_float(input(rewrite, index, 1)) && move_sign(rewrite, index, "Div", 0);
}

static bool divide_one(struct sk_rewrite *rewrite, uint32_t index, bool exact)
{
	const struct sk_value *one = input(rewrite, index, 0), *divisor = input(rewrite, index, 1);

	(void)exact;
	if (!sk_value_is_float(one) || !sk_constant_is(one, 1) ||
	    !sk_value_same_shape(divisor, sk_node_output(rewrite->graph, sk_rewrite_at(rewrite, index), 0)))
		return false;
	sk_rewrite_become(rewrite, index, "Reciprocal", &sk_rewrite_at(rewrite, index)->inputs.items[1], 1);
	return true;
}

/* ---- powers ---- */

static bool power_of_one(struct sk_rewrite *rewrite, uint32_t index, bool exact)
{
	(void)exact;
	return sk_constant_is(input(rewrite, index, 1), 1) && be_input(rewrite, index, 0);
}

/* On the host the kernel that squares reads one operand. */
static bool power_of_two(struct sk_rewrite *rewrite, uint32_t index, bool exact)
{
	uint32_t base = sk_rewrite_at(rewrite, index)->inputs.items[0];

	(void)exact;
	if (rewrite->flags->target == SK_TARGET_HOST || !sk_constant_is(input(rewrite, index, 1), 2) ||
	    !sk_value_is_float(input(rewrite, index, 0)) ||
	    !sk_value_same_shape(input(rewrite, index, 0),
				 sk_node_output(rewrite->graph, sk_rewrite_at(rewrite, index), 0)))
		return false;
	sk_rewrite_become(rewrite, index, "Mul", (uint32_t[]){base, base}, 2);
	return true;
}

/* Kernels of powers round differently. */
static bool power_of_minus_one(struct sk_rewrite *rewrite, uint32_t index, bool exact)
{
	uint32_t base = sk_rewrite_at(rewrite, index)->inputs.items[0];

	if (exact || !sk_constant_is(input(rewrite, index, 1), -1) || !sk_value_is_float(input(rewrite, index, 0)) ||
	    !sk_value_same_shape(input(rewrite, index, 0),
				 sk_node_output(rewrite->graph, sk_rewrite_at(rewrite, index), 0)))
		return false;
	sk_rewrite_become(rewrite, index, "Reciprocal", &base, 1);
	return true;
}

/* ---- signs, choices, comparisons, types ---- */

static bool negate_twice(struct sk_rewrite *rewrite, uint32_t index, bool exact)
{
	const struct sk_graph_node *first = input_made_by(rewrite, index, 0, "Neg");

	(void)exact;
	if (!first || sk_rewrite_is_looked_at(rewrite->graph, first->inputs.items[0]))
		return false;
	sk_rewrite_replace(rewrite, index, first->inputs.items[0]);
	return true;
}

/* A product with the result would become one with a constant, and its kernel for constants rounds otherwise. */
static bool select_same(struct sk_rewrite *rewrite, uint32_t index, bool exact)
{
	const struct sk_graph_node *node = sk_rewrite_at(rewrite, index);
	const struct sk_value *same = input(rewrite, index, 1);

	return node->inputs.items[1] == node->inputs.items[2] && !(exact && (same->contents || same->fixed)) &&
	       be_input(rewrite, index, 1);
}

/* Opposites of comparisons. Order comparisons with a NaN are false, and so are their opposites. */
static const struct opposite {
	const char *op, *other;
	bool ordered;
} opposites[] = {
	{"Equal", "sklink:NotEqual", false}, {"sklink:NotEqual", "Equal", false}, {"Greater", "LessOrEqual", true},
	{"LessOrEqual", "Greater", true},    {"Less", "GreaterOrEqual", true},	  {"GreaterOrEqual", "Less", true},
};

static bool negate_comparison(struct sk_rewrite *rewrite, uint32_t index, bool exact)
{
	uint32_t compared = sk_rewrite_at(rewrite, index)->inputs.items[0];

	for (size_t i = 0; i < sizeof(opposites) / sizeof(opposites[0]); i++) {
		const struct opposite *opposite = &opposites[i];
		const struct sk_graph_node *comparison = input_made_by(rewrite, index, 0, opposite->op);

		if (!comparison || !sk_rewrite_is_private(rewrite, compared) ||
		    (opposite->ordered && is_exact_float(sk_node_input(rewrite->graph, comparison, 0), exact)))
			continue;
		sk_rewrite_become(rewrite, index, opposite->other, comparison->inputs.items, 2);
		return true;
	}
	return false;
}

static bool cast_to_same(struct sk_rewrite *rewrite, uint32_t index, bool exact)
{
	(void)exact;
	return be_input(rewrite, index, 0);
}

const struct sk_simplify_rule sk_simplify_arithmetic[] = {
	{"1.1", "Add", add_nothing},
	{"1.4", "Add", add_negated},
	{"1.7", "Sub", subtract_nothing},
	{"1.8", "Sub", subtract_constant},
	{"1.15", "Pow", power_of_one},
	{"1.17", "Pow", power_of_two},
	{"1.18", "Pow", power_of_minus_one},
	{"1.23", "Where", select_same},
	{"1.24", "Neg", negate_twice},
	{"2.1", "Mul", multiply_by_one},
	{"1.42", "Mul", multiply_negated},
	{"1.43", "Div", divide_by_one},
	{"2.2", "Div", divide_one},
	{"1.52", "Div", divide_negated},
	{"1.70", "Not", negate_comparison},
	{"1.79", "Cast", cast_to_same},
	{NULL},
};

/* ---- the choice of rules ---- */

/* "1.24", or "24" for set 1. */
static bool is_listed(const sk_texts *list, const char *id)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->items[i], id) || (!strncmp(id, "1.", 2) && !strcmp(list->items[i], id + 2)))
			return true;
	return false;
}

/* Try the rules about the node until one has changed it. */
static bool simplify(struct sk_rewrite *rewrite, uint32_t index, const struct sk_simplify_rule *rule)
{
	const struct sk_fusion_flags *flags = rewrite->flags;

	for (; rule->id; rule++) {
		bool named = is_listed(&flags->enable_simplify_exprs_only, rule->id);

		if (!sk_node_is(sk_rewrite_at(rewrite, index), rule->op))
			continue;
		if (flags->enable_simplify_exprs_only.count ? !named
							    : is_listed(&flags->disable_simplify_exprs, rule->id))
			continue;
		if (rule->apply(rewrite, index, flags->exact_precision_mode && !named))
			return true;
	}
	return false;
}

/* The result of a rule may be the input of another one. Each makes the graph simpler, so this ends. */
static void simplify_node(struct sk_rewrite *rewrite, uint32_t index)
{
	while (!sk_rewrite_at(rewrite, index)->removed &&
	       (simplify(rewrite, index, sk_simplify_arithmetic) || simplify(rewrite, index, sk_simplify_shapes)))
		;
}

static bool is_rule(const char *id)
{
	const sk_texts one = {.items = &id, .count = 1};

	for (const struct sk_simplify_rule *rule = sk_simplify_arithmetic; rule->id; rule++)
		if (is_listed(&one, rule->id))
			return true;
	for (const struct sk_simplify_rule *rule = sk_simplify_shapes; rule->id; rule++)
		if (is_listed(&one, rule->id))
			return true;
	return false;
}

static void check_list(struct sk_diag *diag, const struct sk_fusion_flags *flags, const char *flag,
		       const sk_texts *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (!is_rule(list->items[i]))
			sk_warning(diag, flags->place, "there is no expression '%s', which %s names", list->items[i],
				   flag);
}

void sk_simplify_check_names(struct sk_diag *diag, const struct sk_fusion_flags *flags)
{
	check_list(diag, flags, "enable_simplify_exprs_only", &flags->enable_simplify_exprs_only);
	check_list(diag, flags, "disable_simplify_exprs", &flags->disable_simplify_exprs);
}

enum sk_pass_result sk_pass_arithmetic_simplify(struct sk_op_graph *graph, const struct sk_fusion_flags *flags)
{
	return sk_rewrite_graph(graph, flags, NULL, simplify_node);
}
