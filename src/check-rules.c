/* --check-rules; see check-rules.h. The graph of a pattern is made twice of what the rule's example says, and the rule
 * applied to one of them; then all of that is one graph whose inputs are constants, and computed as constants are. */
#include "src/check-rules.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/base/escape.h"
#include "src/folding.h"
#include "src/fusion/manager/flags.h"
#include "src/fusion/rules/apply-rules.h"
#include "src/fusion/rules/read-rules.h"
#include "src/fusion/rules/replace.h"
#include "src/have-kernels.h"
#include "src/link-passes.h"
#include "src/model/number.h"

/* Outputs that are to be the same. */
struct pair {
	const struct sk_rule *rule;
	const char *name;
	uint32_t pattern, replacement; /* values of the graph of all */
};

struct checker {
	struct sk_link *link;
	struct sk_arena *arena;
	struct sk_op_graph *all;
	SK_ARRAY(struct pair) pairs;
	sk_indices wanted; /* values: those of the pairs */
	unsigned checked, unchecked; /* variants */
	const char *reason; /* why the one that is looked at cannot be checked */
};

/* One side of a variant. */
struct side {
	struct sk_op_graph *graph;
	struct sk_match match;
};

/* ---- values ---- */

/* The same for each side: it depends on the number alone. */
static double random_number(uint64_t number, enum sk_dtype dtype, bool real)
{
	uint64_t bits = (number + 1) * 0x9e3779b97f4a7c15ULL;

	bits = (bits ^ bits >> 31) * 0xbf58476d1ce4e5b9ULL;
	bits ^= bits >> 29;
	if (real)
		return ldexp((double)(bits >> 11), -51) - 2;
	return dtype == SK_BOOL ? (double)(bits % 2) : (double)(bits % 7) - (sk_dtype_is_signed(dtype) ? 3 : 0);
}

static const void *random_contents(struct sk_arena *arena, const struct sk_value *value, uint64_t seed)
{
	uint64_t count = sk_value_elements(value), size = sk_dtype_size(value->dtype), bits;
	uint8_t *bytes = SK_NEW_ARRAY(arena, uint8_t, count * size + 64);

	for (uint64_t i = 0; i < count; i++)
		if (sk_real_bits(random_number(seed << 32 | i, value->dtype, sk_value_is_float(value)), value->dtype,
				 &bits))
			memcpy(bytes + i * size, &bits, size);
	return bytes;
}

static const struct sk_rule_example *example_of(const struct sk_rule *rule, const char *name)
{
	for (size_t i = rule->example.count; i--;) /* a variant's stand behind the rule's */
		if (!strcmp(rule->example.items[i].name, name))
			return &rule->example.items[i];
	return NULL;
}

static bool fails(struct checker *checker, const char *reason)
{
	checker->reason = reason;
	return false;
}

static bool make_constant(struct checker *checker, struct side *side, const struct sk_rule_example *example,
			  const struct sk_datum *datum, uint32_t *value)
{
	uint8_t *bytes = SK_NEW_ARRAY(checker->arena, uint8_t, datum->count * 8 + 8);
	uint64_t bits, count = datum->count;

	for (size_t i = 0; i < datum->count; i++) {
		if (!sk_real_bits(datum->numbers[i], example->dtype, &bits))
			return fails(checker, "a number of its example is none of that type");
		memcpy(bytes + i * sk_dtype_size(example->dtype), &bits, sk_dtype_size(example->dtype));
	}
	*value = sk_graph_new_constant(side->graph, example->name, example->dtype, datum->list, &count, bytes);
	return true;
}

static bool make_tensor(struct checker *checker, struct side *side, const char *name, enum sk_dtype dtype,
			const struct sk_datum *shape, uint32_t *value)
{
	uint64_t sizes[SK_MAX_RANK] = {0};

	if (shape->count > SK_MAX_RANK)
		return fails(checker, "its example has too many dimensions");
	for (size_t i = 0; i < shape->count; i++)
		sizes[i] = (uint64_t)shape->numbers[i];
	*value = sk_graph_new_value(side->graph, name, dtype, (uint32_t)shape->count, sizes);
	side->graph->values.items[*value].input = true;
	sk_array_push(checker->arena, &side->graph->inputs, *value);
	return true;
}

/* Two values, which are what a node takes that has gone. */
static bool make_rest(struct checker *checker, struct side *side, const char *name)
{
	static const double usual[] = {4, 6};
	const struct sk_datum shape = {.list = true, .count = 2, .numbers = usual};
	uint32_t values[2];

	for (size_t i = 0; i < 2; i++)
		make_tensor(checker, side, name, SK_F32, &shape, &values[i]);
	side->match.rest_node = (uint32_t)side->graph->nodes.count;
	side->match.rest_first = 0;
	sk_graph_add_node(side->graph, "Sum")->removed = true;
	for (size_t i = 0; i < 2; i++)
		sk_array_push(checker->arena, &side->graph->nodes.items[side->match.rest_node].inputs, values[i]);
	return true;
}

/* What a name of the pattern is: by its example, or f32[4, 6]. */
static bool make_name(struct checker *checker, struct side *side, uint32_t name)
{
	static const double usual[] = {4, 6};
	const struct sk_rule_name *known = &side->match.rule->names.items[name];
	const struct sk_rule_example *example = example_of(side->match.rule, known->text);
	struct sk_datum datum = {.list = true, .count = 2, .numbers = usual};

	if (known->kind == SK_RULE_REST)
		return make_rest(checker, side, known->text);
	if ((known->kind != SK_RULE_INPUT && known->kind != SK_RULE_ATTRIBUTE) ||
	    (!example && (known->optional || known->kind == SK_RULE_ATTRIBUTE)))
		return true;
	if (example && !sk_match_evaluate(&side->match, example->value, &datum))
		return fails(checker, side->match.reason);
	if (known->kind == SK_RULE_ATTRIBUTE) {
		side->match.attributes[name] = datum;
		side->match.set[name] = true;
		return true;
	}
	if (datum.text || (example && example->dtype == SK_DTYPE_NONE))
		return fails(checker, "its example says no type: f32[4, 6], or i64([-1])");
	return example && !example->tensor ? make_constant(checker, side, example, &datum, &side->match.values[name])
					   : make_tensor(checker, side, known->text, example ? example->dtype : SK_F32,
							 &datum, &side->match.values[name]);
}

/* ---- the two sides ---- */

static bool make_pattern(struct checker *checker, const struct sk_rule *rule, struct side *side)
{
	struct sk_arena *arena = checker->arena;
	struct sk_diag *diag = SK_NEW(arena, struct sk_diag);
	size_t names = rule->names.count + 1;

	sk_diag_init(diag, arena);
	side->graph = sk_graph_create(arena, diag, rule->place.file);
	side->match = (struct sk_match){.rule = rule,
					.graph = side->graph,
					.target = "host",
					.values = SK_NEW_ARRAY(arena, uint32_t, names),
					.attributes = SK_NEW_ARRAY(arena, struct sk_datum, names),
					.set = SK_NEW_ARRAY(arena, bool, names),
					.rest_node = SK_NONE};
	memset(side->match.values, 0xff, names * sizeof(uint32_t));
	for (uint32_t n = 0; n < rule->names.count; n++)
		if (!make_name(checker, side, n))
			return false;
	if (!sk_rule_make_pattern(&side->match))
		return fails(checker, side->match.reason);
	for (size_t i = 0; i < rule->outputs.count; i++) {
		uint32_t value = side->match.values[rule->outputs.items[i]];

		side->graph->values.items[value].output = true;
		sk_array_push(arena, &side->graph->outputs, value);
	}
	return true;
}

/* For the first target for which it is one. */
static bool apply(struct checker *checker, const struct sk_rule *rule, struct side *side)
{
	struct sk_rule one = *rule;
	const struct sk_rule_list list = {&one, 1, 1};

	for (size_t t = 0; t < SK_FUSION_TARGETS; t++) {
		struct sk_rule_pass pass = {
			.graph = side->graph, .sets = {&list}, .target = sk_fusion_targets[t], .expands = true};

		sk_rules_apply(&pass);
		if (pass.replaced)
			return true;
		checker->reason =
			pass.refusals.count ? pass.refusals.items[0].reason : "the rule does not find its own pattern";
	}
	return false;
}

static bool have_kernels(struct checker *checker, const struct side *side)
{
	checker->reason = sk_have_kernels(checker->link, side->graph, NULL, &side->graph->nodes);
	return !checker->reason;
}

static void fill_inputs(struct checker *checker, const struct side *side)
{
	for (size_t i = 0; i < side->graph->inputs.count; i++) {
		struct sk_value *value = &side->graph->values.items[side->graph->inputs.items[i]];

		value->input = false;
		value->contents = random_contents(checker->arena, value, i);
	}
}

/* ---- all of them in one graph ---- */

static uint32_t moved(uint32_t index, size_t by)
{
	return index == SK_NONE ? SK_NONE : index + (uint32_t)by;
}

/* Returns by how much the numbers of values have grown. */
static size_t add_graph(struct checker *checker, const struct sk_op_graph *from)
{
	struct sk_op_graph *all = checker->all;
	size_t values = all->values.count, nodes = all->nodes.count;

	for (size_t v = 0; v < from->values.count; v++) {
		struct sk_value value = from->values.items[v];

		value.name = sk_arena_print(checker->arena, "%zu/%s", values + v, value.name);
		value.node = value.contents ? SK_NONE : moved(value.node, nodes);
		value.output = false;
		sk_map_insert(&all->value_names, value.name, strlen(value.name), (uint32_t)(values + v));
		sk_array_push(checker->arena, &all->values, value);
	}
	for (size_t n = 0; n < from->nodes.count; n++) {
		struct sk_graph_node node = from->nodes.items[n];

		memset(&node.inputs, 0, sizeof(node.inputs));
		memset(&node.outputs, 0, sizeof(node.outputs));
		node.composite = 0;
		for (size_t i = 0; i < from->nodes.items[n].inputs.count; i++)
			sk_array_push(checker->arena, &node.inputs,
				      moved(from->nodes.items[n].inputs.items[i], values));
		for (size_t i = 0; i < from->nodes.items[n].outputs.count; i++)
			sk_array_push(checker->arena, &node.outputs,
				      moved(from->nodes.items[n].outputs.items[i], values));
		sk_array_push(checker->arena, &all->nodes, node);
	}
	return values;
}

static void add_pairs(struct checker *checker, const struct sk_rule *rule, const struct side *pattern,
		      const struct side *replacement)
{
	size_t first = add_graph(checker, pattern->graph), second = add_graph(checker, replacement->graph);

	for (size_t i = 0; i < pattern->graph->outputs.count; i++) {
		uint32_t value = pattern->graph->outputs.items[i];
		const struct pair pair = {rule, pattern->graph->values.items[value].name, moved(value, first),
					  moved(replacement->graph->outputs.items[i], second)};

		sk_array_push(checker->arena, &checker->pairs, pair);
		sk_array_push(checker->arena, &checker->wanted, pair.pattern);
		sk_array_push(checker->arena, &checker->wanted, pair.replacement);
	}
}

static void add_variant(struct checker *checker, const struct sk_rule *rule, unsigned number)
{
	struct side pattern, replacement;

	checker->reason = NULL;
	if (make_pattern(checker, rule, &pattern) && make_pattern(checker, rule, &replacement) &&
	    apply(checker, rule, &replacement) && have_kernels(checker, &pattern) &&
	    have_kernels(checker, &replacement)) {
		fill_inputs(checker, &pattern);
		fill_inputs(checker, &replacement);
		add_pairs(checker, rule, &pattern, &replacement);
		checker->checked++;
		return;
	}
	checker->unchecked++;
	sk_warning(checker->link->diag, rule->place, "rule '%s', variant %u, is not checked: %s", rule->name, number,
		   checker->reason);
}

/* ---- results ---- */

/* How far two elements may lie apart, as a part of the larger of them and 1. What is quantised may be rounded to the
 * next integer. */
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

static void compare(struct checker *checker, const struct pair *pair)
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
		compare(&checker, &checker.pairs.items[i]);
	if (!link->diag->errors)
		printf("rules and variants that compute what their patterns do: %u, that are not checked: %u\n",
		       checker.checked, checker.unchecked);
}
