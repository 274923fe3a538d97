/* --check-rules; see link.h. Both sides of each variant become parts of one graph without inputs, which is computed
 * like constants. */
#include "src/link/link.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/rules/rules.h"
#include "src/model/model.h"

/* Outputs that must be equal. */
struct pair {
	const struct sk_rule *rule;
	const char *name;
	uint32_t pattern, replacement; /* values of the common graph */
};

struct checker {
	struct sk_link *link;
	struct sk_arena *arena;
	struct sk_op_graph *all;
	SK_ARRAY(struct pair) pairs;
	SK_ARRAY(uint32_t) wanted; /* values of the pairs */
	unsigned checked, unchecked; /* variants */
};

/* ---- all sides in one graph ---- */

static void add_pairs(struct checker *checker, const struct sk_rule *rule, const struct sk_rule_sides *sides)
{
	uint32_t first = sk_rule_append_side(checker->all, sides->pattern);
	uint32_t second = sk_rule_append_side(checker->all, sides->replacement);

	for (size_t i = 0; i < sides->pattern->outputs.count; i++) {
		uint32_t value = sides->pattern->outputs.items[i];
		const struct pair pair = {rule, sides->pattern->values.items[value].name, first + value,
					  second + sides->replacement->outputs.items[i]};

		sk_array_push(checker->arena, &checker->pairs, pair);
		sk_array_push(checker->arena, &checker->wanted, pair.pattern);
		sk_array_push(checker->arena, &checker->wanted, pair.replacement);
	}
}

static void add_variant(struct checker *checker, const struct sk_rule *rule, unsigned number)
{
	struct sk_rule_sides sides;
	const char *reason = sk_rule_make_sides(checker->arena, rule, &sides);

	if (!reason)
		reason = sk_have_kernels(checker->link, sides.pattern, NULL, &sides.pattern->nodes);
	if (!reason)
		reason = sk_have_kernels(checker->link, sides.replacement, NULL, &sides.replacement->nodes);
	if (!reason) {
		add_pairs(checker, rule, &sides);
		checker->checked++;
		return;
	}
	checker->unchecked++;
	sk_warning(checker->link->diag, rule->place, "rule '%s', variant %u, is not checked: %s", rule->name, number,
		   reason);
}

/* ---- results ---- */

/* Return the permitted difference of two elements, relative to the larger of them and 1. A quantised value may be
 * rounded to the adjacent integer. */
static double bound_of(enum sk_dtype dtype)
{
	switch (dtype) {
	case SK_F64:
		return 1e-9;
	case SK_F32:
		return 1e-4;
	case SK_F16:
		return 1e-2;
	case SK_BF16:
		return 5e-2;
	default:
		return 0;
	}
}

static bool are_near(double a, double b, enum sk_dtype dtype)
{
	if (isnan(a) || isnan(b))
		return isnan(a) && isnan(b);
	if (dtype == SK_I8 || dtype == SK_U8)
		return fabs(a - b) <= 1;
	return a == b || fabs(a - b) <= bound_of(dtype) * fmax(1, fmax(fabs(a), fabs(b)));
}

static void compare_pair(struct checker *checker, const struct pair *pair)
{
	const struct sk_value *pattern = &checker->all->values.items[pair->pattern];
	const struct sk_value *replacement = &checker->all->values.items[pair->replacement];
	size_t size = sk_dtype_size(pattern->dtype);

	for (uint64_t i = 0; i < sk_value_elements(pattern); i++) {
		double a = sk_element_number(pattern->dtype, (const uint8_t *)pattern->contents + i * size);
		double b = sk_element_number(pattern->dtype, (const uint8_t *)replacement->contents + i * size);

		if (are_near(a, b, pattern->dtype))
			continue;
		sk_error(checker->link->diag, pair->rule->place,
			 "rule '%s': element %" PRIu64 " of '%s' is %.9g, and the pattern makes %.9g", pair->rule->name,
			 i, pair->name, b, a);
		return;
	}
}

void sk_check_rules(struct sk_link *link, const char *file)
{
	struct checker checker = {.link = link, .arena = link->arena};
	struct sk_rules rules = {0};
	const struct sk_rule_list *const lists[] = {&rules.expand, &rules.fuse};

	sk_model_set_file(link->model, file);
	if (!sk_rules_read(link->arena, link->diag, file, &rules) || !sk_link_inputs(link))
		return;
	checker.all = sk_graph_create(link->arena, link->diag, file);
	for (size_t l = 0; l < 2; l++) {
		unsigned number = 0;

		for (size_t r = 0; r < lists[l]->count; r++) {
			number = r && !strcmp(lists[l]->items[r].name, lists[l]->items[r - 1].name) ? number + 1 : 1;
			add_variant(&checker, &lists[l]->items[r], number);
		}
	}
	if (checker.wanted.count && !sk_fold_values(link, checker.all, checker.wanted.items, checker.wanted.count))
		return;
	for (size_t i = 0; i < checker.pairs.count; i++)
		compare_pair(&checker, &checker.pairs.items[i]);
	if (!link->diag->errors)
		printf("rules and variants that compute the same as their patterns: %u, not checked: %u\n",
		       checker.checked, checker.unchecked);
}
