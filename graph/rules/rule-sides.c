/* The graphs of rules; see rules.h. A pattern becomes nodes in the same way as a replacement: by its lines. */
#include "graph/rules/rules.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/ranges.h"
#include "format/convention.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/manager/manager.h"
#include "graph/rules/rules-parts.h"

enum { MOST_ELEMENTS = 1 << 20 /* of an input */ };

/* ---- the names of the pattern ---- */

static bool fails(struct sk_match *match, const char *reason)
{
	match->reason = reason;
	return false;
}

static const struct sk_rule_example *example_of(const struct sk_rule *rule, const char *name)
{
	for (size_t i = rule->example.count;
	     i--;) /* the examples of a variant follow those of the rule, and override them */
		if (!strcmp(rule->example.items[i].name, name))
			return &rule->example.items[i];
	return NULL;
}

static bool make_tensor(struct sk_match *match, const char *name, enum sk_dtype dtype, const struct sk_datum *shape,
			uint32_t *value)
{
	struct sk_op_graph *graph = match->graph;
	uint64_t sizes[SK_MAX_RANK] = {0}, elements = 1;
	bool fits = shape->count <= SK_MAX_RANK;

	for (size_t i = 0; i < shape->count && fits; i++)
		fits = sk_real_bits(shape->numbers[i], SK_U64, &sizes[i]) &&
		       sk_mul(elements, sizes[i] ? sizes[i] : 1, &elements) && elements <= MOST_ELEMENTS;
	if (!fits)
		return fails(match, sk_arena_print(graph->arena,
						   "the shape of '%s' in its example is not one of %d dimensions and "
						   "%d elements at most",
						   name, SK_MAX_RANK, MOST_ELEMENTS));
	*value = sk_graph_new_value(graph, name, dtype, (uint32_t)shape->count, sizes);
	graph->values.items[*value].input = true;
	sk_array_push(graph->arena, &graph->inputs, *value);
	return true;
}

/* The shape of a value without an example. */
static const double usual_shape[] = {4, 6};
static const struct sk_datum usual = {.list = true, .count = 2, .numbers = usual_shape};

/* A rest of two values, as inputs of a node that is removed. */
static void make_rest(struct sk_match *match, const char *name)
{
	struct sk_op_graph *graph = match->graph;
	uint32_t value;

	match->rest_node = (uint32_t)graph->nodes.count;
	match->rest_first = 0;
	sk_graph_add_node(graph, "Sum")->removed = true;
	for (size_t i = 0; i < 2; i++) {
		make_tensor(match, name, SK_F32, &usual, &value);
		sk_array_push(graph->arena, &graph->nodes.items[match->rest_node].inputs, value);
	}
}

static bool make_attribute(struct sk_match *match, uint32_t name, const struct sk_rule_example *example)
{
	match->set[name] = example && sk_match_evaluate(match, example->value, &match->attributes[name]);
	return !example || match->set[name];
}

static bool make_input(struct sk_match *match, uint32_t name, const struct sk_rule_example *example)
{
	uint32_t *value = &match->values[name];
	struct sk_datum datum;

	if (!example)
		return make_tensor(match, match->rule->names.items[name].text, SK_F32, &usual, value);
	if (!sk_match_evaluate(match, example->value, &datum))
		return false;
	if (datum.text || example->dtype == SK_DTYPE_NONE)
		return fails(match, "its example says no type: f32[4, 6], or i64([-1])");
	return example->tensor ? make_tensor(match, example->name, example->dtype, &datum, value)
			       : sk_match_make_constant(match, example->name, &datum, example->dtype, value);
}

static bool make_name(struct sk_match *match, uint32_t name)
{
	const struct sk_rule_name *known = &match->rule->names.items[name];
	const struct sk_rule_example *example = example_of(match->rule, known->text);

	switch (known->kind) {
	case SK_RULE_REST:
		if (known->made)
			return fails(match, sk_arena_print(match->graph->arena, "the number of values *%s is open",
							   known->text));
		make_rest(match, known->text);
		return true;
	case SK_RULE_ATTRIBUTE:
		return make_attribute(match, name, example);
	case SK_RULE_INPUT:
		return (!example && known->optional) || make_input(match, name, example);
	default:
		return true;
	}
}

/* ---- patterns ---- */

/* A number in a Where has the type of the other choice, not of the condition. */
static void type_choices(struct sk_rule_node *line)
{
	for (size_t i = 1; i < line->inputs.count; i++) {
		struct sk_rule_operand *operand = &line->inputs.items[i];

		if (!strcmp(line->operators.items[0].op, "Where") && operand->constant &&
		    operand->dtype == SK_DTYPE_NONE && i < 3)
			operand->like = line->inputs.items[3 - i].name;
	}
}

/* Turn a node of a pattern into a line of a replacement: named attributes have the match's values, and free ones the
 * example's. */
static struct sk_rule_node as_line(const struct sk_match *match, const struct sk_rule_node *from)
{
	struct sk_arena *arena = match->graph->arena;
	struct sk_rule_node line = *from;

	type_choices(&line);
	memset(&line.attributes, 0, sizeof(line.attributes));
	for (size_t i = 0; i < from->attributes.count; i++) {
		struct sk_rule_attribute attribute = from->attributes.items[i];
		const struct sk_rule_example *example = example_of(match->rule, attribute.name);

		if (attribute.binds != SK_NONE && match->set[attribute.binds]) {
			struct sk_rule_expression *name = SK_NEW(arena, struct sk_rule_expression);

			name->kind = SK_RULE_EXPRESSION_NAME;
			name->text = match->rule->names.items[attribute.binds].text;
			attribute.value = name;
		} else if (attribute.binds == SK_NONE && !attribute.value && example &&
			   example->dtype == SK_DTYPE_NONE) {
			attribute.value = example->value;
		}
		if (attribute.value)
			sk_array_push(arena, &line.attributes, attribute);
	}
	return line;
}

static bool make_nodes(struct sk_match *match)
{
	struct sk_rule lines = *match->rule;

	lines.single = false;
	memset(&lines.replacement, 0, sizeof(lines.replacement));
	for (size_t i = 0; i < lines.pattern.count; i++)
		sk_array_push(match->graph->arena, &lines.replacement, as_line(match, &lines.pattern.items[i]));
	return sk_match_append_lines(match, &lines);
}

/* Return the reason why there is no such graph; NULL: there is. */
static const char *make_pattern(struct sk_arena *arena, const struct sk_rule *rule, struct sk_op_graph **graph)
{
	struct sk_diag *diag = SK_NEW(arena, struct sk_diag);
	size_t names = rule->names.count + 1;
	struct sk_match match = {.rule = rule,
				 .target = sk_fusion_targets[SK_TARGET_HOST],
				 .values = SK_NEW_ARRAY(arena, uint32_t, names),
				 .attributes = SK_NEW_ARRAY(arena, struct sk_datum, names),
				 .set = SK_NEW_ARRAY(arena, bool, names),
				 .rest_node = SK_NONE};

	sk_diag_init(diag, arena);
	*graph = match.graph = sk_graph_create(arena, diag, rule->place.file);
	memset(match.values, 0xff, names * sizeof(*match.values));
	for (uint32_t n = 0; n < rule->names.count; n++)
		if (!make_name(&match, n))
			return match.reason;
	if (!make_nodes(&match))
		return match.reason;
	for (size_t i = 0; i < rule->outputs.count; i++) {
		uint32_t value = match.values[rule->outputs.items[i]];

		match.graph->values.items[value].output = true;
		sk_array_push(arena, &match.graph->outputs, value);
	}
	return NULL;
}

/* ---- both sides ---- */

/* Return the reason why the rule applies for no target; NULL: it does. */
static const char *apply_to_graph(const struct sk_rule *rule, struct sk_op_graph *graph)
{
	struct sk_rule one = *rule;
	const struct sk_rule_list list = {&one, 1, 1};
	const char *reason = NULL;

	for (size_t t = 0; t < SK_FUSION_TARGETS; t++) {
		struct sk_rule_pass pass = {
			.graph = graph, .sets = {&list}, .target = sk_fusion_targets[t], .expands = true};

		sk_rules_apply(&pass);
		if (pass.replaced)
			return NULL;
		reason = pass.refusals.count ? pass.refusals.items[0].reason : "the rule does not find its own pattern";
	}
	return reason;
}

const char *sk_rule_make_sides(struct sk_arena *arena, const struct sk_rule *rule, struct sk_rule_sides *sides)
{
	const char *reason = make_pattern(arena, rule, &sides->pattern);

	reason = reason ? reason : make_pattern(arena, rule, &sides->replacement);
	return reason ? reason : apply_to_graph(rule, sides->replacement);
}

/* ---- as parts of another graph ---- */

/* The result depends on `number` alone. */
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

static uint32_t moved(uint32_t index, size_t by)
{
	return index == SK_NONE ? SK_NONE : index + (uint32_t)by;
}

static void append_values(struct sk_op_graph *graph, const struct sk_op_graph *side)
{
	size_t values = graph->values.count, nodes = graph->nodes.count;

	for (size_t v = 0; v < side->values.count; v++) {
		struct sk_value value = side->values.items[v];

		value.name = sk_arena_print(graph->arena, "%zu/%s", values + v, value.name);
		value.node = value.contents ? SK_NONE : moved(value.node, nodes);
		value.input = value.output = false;
		sk_map_insert(&graph->value_names, value.name, strlen(value.name), (uint32_t)(values + v));
		sk_array_push(graph->arena, &graph->values, value);
	}
	for (size_t i = 0; i < side->inputs.count; i++) {
		struct sk_value *value = &graph->values.items[moved(side->inputs.items[i], values)];

		value->contents = random_contents(graph->arena, value, i);
	}
}

uint32_t sk_rule_append_side(struct sk_op_graph *graph, const struct sk_op_graph *side)
{
	size_t values = graph->values.count;

	append_values(graph, side);
	for (size_t n = 0; n < side->nodes.count; n++) {
		const struct sk_graph_node *from = &side->nodes.items[n];
		struct sk_graph_node node = *from;

		memset(&node.inputs, 0, sizeof(node.inputs));
		memset(&node.outputs, 0, sizeof(node.outputs));
		node.composite = 0;
		for (size_t i = 0; i < from->inputs.count; i++)
			sk_array_push(graph->arena, &node.inputs, moved(from->inputs.items[i], values));
		for (size_t i = 0; i < from->outputs.count; i++)
			sk_array_push(graph->arena, &node.outputs, moved(from->outputs.items[i], values));
		sk_array_push(graph->arena, &graph->nodes, node);
	}
	return (uint32_t)values;
}
