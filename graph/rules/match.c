/* The matcher; see rules.h. Nodes are bound in the order that the reader computed. The producer of a bound value is
 * unique, so backtracking is needed only where a node is searched among the users of a value. */
#include "graph/rules/rules.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators.h"
#include "graph/rules/rules-parts.h"

enum { BUDGET = 10000 /* steps per anchor */ };

static void bind_name(struct sk_match *match, uint32_t name)
{
	match->set[name] = true;
	sk_array_push(match->graph->arena, &match->bound, name);
}

/* ---- attributes ---- */

/* Get the default of the attribute; false: there is none. */
static bool attribute_default(struct sk_match *match, const struct sk_rule_attribute *attribute,
			      const struct sk_schema *schema, struct sk_datum *datum)
{
	const struct sk_schema_attribute *known = schema->attributes;
	struct sk_attribute same = {0};

	if (attribute->otherwise)
		return sk_match_evaluate(match, attribute->otherwise, datum);
	while (strcmp(known->name, attribute->name))
		known++;
	same.kind = known->kind;
	same.integer = known->integer;
	same.real = known->real;
	same.string = known->string;
	return (same.kind == SK_ATTRIBUTE_INTEGER || same.kind == SK_ATTRIBUTE_REAL ||
		(same.kind == SK_ATTRIBUTE_STRING && same.string)) &&
	       sk_datum_of_attribute(match->graph->arena, &same, datum);
}

static bool bind_attribute(struct sk_match *match, const struct sk_rule_attribute *attribute,
			   const struct sk_graph_node *node, const struct sk_schema *schema)
{
	const struct sk_attribute *given = sk_node_attribute(node, attribute->name);
	struct sk_datum is, wanted;

	if (!attribute->value && attribute->binds == SK_NONE)
		return true;
	if (given ? !sk_datum_of_attribute(match->graph->arena, given, &is)
		  : !attribute_default(match, attribute, schema, &is))
		return false;
	if (attribute->value)
		return sk_match_evaluate(match, attribute->value, &wanted) && sk_datum_same(&is, &wanted);
	if (match->set[attribute->binds])
		return sk_datum_same(&is, &match->attributes[attribute->binds]);
	match->attributes[attribute->binds] = is;
	bind_name(match, attribute->binds);
	return true;
}

/* An attribute that the pattern does not name must have its default, since the pattern does not cover other
 * computations. */
static bool is_default(const struct sk_attribute *attribute, const struct sk_schema *schema)
{
	for (const struct sk_schema_attribute *known = schema->attributes; known && known->name; known++) {
		if (strcmp(known->name, attribute->name) || known->kind != attribute->kind)
			continue;
		switch (known->kind) {
		case SK_ATTRIBUTE_INTEGER:
			return known->integer == attribute->integer;
		case SK_ATTRIBUTE_REAL:
			return (float)known->real == (float)attribute->real;
		case SK_ATTRIBUTE_STRING:
			return !strcmp(known->string ? known->string : "", attribute->string);
		default:
			return false;
		}
	}
	return false;
}

static bool bind_attributes(struct sk_match *match, const struct sk_rule_node *pattern,
			    const struct sk_graph_node *node, const struct sk_schema *schema)
{
	if (node->tensors.count || node->graphs.count)
		return false;
	for (size_t i = 0; i < pattern->attributes.count; i++)
		if (!bind_attribute(match, &pattern->attributes.items[i], node, schema))
			return false;
	for (size_t i = 0; i < node->attributes.count; i++) {
		bool named = false;

		for (size_t p = 0; p < pattern->attributes.count; p++)
			named |= !strcmp(pattern->attributes.items[p].name, node->attributes.items[i].name);
		if (!named && !is_default(&node->attributes.items[i], schema))
			return false;
	}
	return true;
}

/* ---- values ---- */

/* Small constants of the same bytes are equal: a model may have one for each node that reads it. */
static bool are_equal_constants(const struct sk_op_graph *graph, uint32_t a, uint32_t b)
{
	const struct sk_value *one = a == SK_NONE ? NULL : &graph->values.items[a];
	const struct sk_value *other = b == SK_NONE ? NULL : &graph->values.items[b];

	return one && other && one->contents && other->contents && one->dtype == other->dtype &&
	       one->rank == other->rank && !memcmp(one->shape, other->shape, one->rank * sizeof(*one->shape)) &&
	       sk_value_elements(one) <= SK_DATUM_MAX && !memcmp(one->contents, other->contents, sk_value_bytes(one));
}

static bool bind_value(struct sk_match *match, uint32_t name, uint32_t value)
{
	if (match->set[name])
		return match->values[name] == value || are_equal_constants(match->graph, match->values[name], value);
	match->values[name] = value;
	bind_name(match, name);
	return true;
}

/* Return the number as it would be stored in the model, before it is compared as f32. */
static double as_stored(double number, enum sk_dtype dtype)
{
	uint64_t bits;

	return (dtype == SK_F16 || dtype == SK_BF16) && sk_real_bits(number, dtype, &bits)
		       ? sk_element_number(dtype, &bits)
		       : number;
}

/* True if all elements are the number, or each is that of the list. Most constants differ in their first element. */
static bool is_constant(struct sk_match *match, uint32_t index, const struct sk_rule_expression *expression)
{
	const struct sk_value *value = &match->graph->values.items[index];
	uint64_t count = value->contents ? sk_value_elements(value) : 0;
	struct sk_datum wanted;

	if (!count || count > SK_DATUM_MAX || !sk_match_evaluate(match, expression, &wanted) || wanted.text ||
	    (wanted.list && wanted.count != count))
		return false;
	for (uint64_t i = 0; i < count; i++) {
		const uint8_t *element = (const uint8_t *)value->contents + i * sk_dtype_size(value->dtype);

		if (!sk_numbers_same(sk_element_number(value->dtype, element),
				     as_stored(wanted.numbers[wanted.list ? i : 0], value->dtype),
				     sk_value_is_float(value)))
			return false;
	}
	return true;
}

/* `turned`: the two operands are swapped. */
static bool bind_inputs(struct sk_match *match, const struct sk_rule_node *pattern, uint32_t n, bool turned)
{
	const struct sk_graph_node *node = &match->graph->nodes.items[n];

	for (size_t i = 0; i < pattern->inputs.count; i++) {
		const struct sk_rule_operand *operand = &pattern->inputs.items[i];
		uint32_t value = i < node->inputs.count ? node->inputs.items[turned ? 1 - i : i] : SK_NONE;

		if (operand->constant) {
			if (value == SK_NONE || !is_constant(match, value, operand->constant))
				return false;
			continue;
		}
		if (operand->name == SK_NONE)
			continue;
		if (match->rule->names.items[operand->name].kind == SK_RULE_REST) {
			match->rest_node = n;
			match->rest_first = (uint32_t)i;
			return true;
		}
		if ((value == SK_NONE && !match->rule->names.items[operand->name].optional) ||
		    !bind_value(match, operand->name, value))
			return false;
	}
	for (size_t i = pattern->inputs.count; i < node->inputs.count; i++)
		if (node->inputs.items[i] != SK_NONE)
			return false;
	return true;
}

static bool is_wanted(const struct sk_match *match, uint32_t value)
{
	return value != SK_NONE && (match->users->counts.items[value] || match->graph->values.items[value].output);
}

/* True if the outputs of the node are the values of the rest, in their order. */
static bool makes_rest(const struct sk_match *match, const struct sk_graph_node *node)
{
	const struct sk_graph_node *reader =
		match->rest_node == SK_NONE ? NULL : &match->graph->nodes.items[match->rest_node];

	if (!reader || node->outputs.count != reader->inputs.count - match->rest_first)
		return false;
	for (size_t i = 0; i < node->outputs.count; i++)
		if (node->outputs.items[i] == SK_NONE ||
		    node->outputs.items[i] != reader->inputs.items[match->rest_first + i])
			return false;
	return true;
}

static bool bind_outputs(struct sk_match *match, const struct sk_rule_node *pattern, const struct sk_graph_node *node)
{
	uint32_t first = pattern->outputs.count ? pattern->outputs.items[0] : SK_NONE;

	if (first != SK_NONE && match->rule->names.items[first].kind == SK_RULE_REST)
		return makes_rest(match, node);
	for (size_t i = 0; i < node->outputs.count || i < pattern->outputs.count; i++) {
		uint32_t value = i < node->outputs.count ? node->outputs.items[i] : SK_NONE;
		uint32_t name = i < pattern->outputs.count ? pattern->outputs.items[i] : SK_NONE;

		if (name == SK_NONE ? is_wanted(match, value) : !bind_value(match, name, value))
			return false;
	}
	return true;
}

/* ---- nodes ---- */

static const struct sk_schema *find_operator(const struct sk_rule_node *pattern, const struct sk_graph_node *node)
{
	for (size_t i = 0; i < pattern->operators.count; i++)
		if (!strcmp(pattern->operators.items[i].op, node->op) &&
		    !strcmp(pattern->operators.items[i].domain, node->domain) &&
		    node->version >= pattern->operators.items[i].schema->means_since)
			return pattern->operators.items[i].schema;
	return NULL;
}

static bool bind_node(struct sk_match *match, uint32_t number, uint32_t n, bool turned)
{
	const struct sk_rule_node *pattern = &match->rule->pattern.items[number];
	const struct sk_graph_node *node = &match->graph->nodes.items[n];
	const struct sk_schema *schema = n < match->limit ? find_operator(pattern, node) : NULL;
	uint32_t anchor = match->nodes[match->rule->steps.items[0].node];

	match->steps++;
	if (!schema || node->removed ||
	    (anchor != SK_NONE && (!sk_node_same_scope(node, &match->graph->nodes.items[anchor]) ||
				   node->composite != match->graph->nodes.items[anchor].composite)))
		return false;
	for (size_t i = 0; i < match->rule->pattern.count; i++)
		if (match->nodes[i] == n)
			return false;
	match->nodes[number] = n;
	return bind_outputs(match, pattern, node) && bind_inputs(match, pattern, n, turned) &&
	       bind_attributes(match, pattern, node, schema);
}

/* ---- whole patterns ---- */

static bool conditions_hold(struct sk_match *match)
{
	for (size_t i = 0; i < match->rule->where.count; i++) {
		struct sk_datum datum;

		match->steps++;
		if (!sk_match_evaluate(match, match->rule->where.items[i], &datum) || !sk_datum_is_true(&datum)) {
			match->reason =
				sk_arena_print(match->graph->arena, "the condition at %s does not hold",
					       sk_place_text(match->graph->arena, match->rule->where.items[i]->place));
			return false;
		}
	}
	return true;
}

static bool is_made(struct sk_match *match, uint32_t value)
{
	for (size_t n = 0; n < match->rule->pattern.count; n++)
		if (value != SK_NONE && match->graph->values.items[value].node == match->nodes[n]) {
			match->reason = sk_arena_print(match->graph->arena, "the pattern makes '%s' itself",
						       match->graph->values.items[value].name);
			return true;
		}
	return false;
}

static bool has_made_rest(const struct sk_rule *rule)
{
	for (size_t name = 0; name < rule->names.count; name++)
		if (rule->names.items[name].made)
			return true;
	return false;
}

/* True if an input of the replacement is computed in the pattern. */
static bool takes_own_output(struct sk_match *match)
{
	const struct sk_graph_node *rest =
		match->rest_node == SK_NONE ? NULL : &match->graph->nodes.items[match->rest_node];

	for (uint32_t name = 0; name < match->rule->names.count; name++)
		if (match->rule->names.items[name].kind == SK_RULE_INPUT && is_made(match, match->values[name]))
			return true;
	for (size_t i = match->rest_first; rest && i < rest->inputs.count && !has_made_rest(match->rule); i++)
		if (is_made(match, rest->inputs.items[i]))
			return true;
	return false;
}

static bool is_used_outside(struct sk_match *match, uint32_t value, uint32_t inside)
{
	if (!match->graph->values.items[value].output && match->users->counts.items[value] == inside)
		return false;
	match->reason = sk_arena_print(match->graph->arena, "others use '%s'", match->graph->values.items[value].name);
	return true;
}

/* The same for values of a rest that the pattern makes. */
static bool is_rest_closed(struct sk_match *match)
{
	const struct sk_graph_node *reader = &match->graph->nodes.items[match->rest_node];

	for (size_t i = match->rest_first; i < reader->inputs.count; i++)
		if (is_used_outside(match, reader->inputs.items[i], 1))
			return false;
	return true;
}

/* True if no other node uses a value that is removed with the pattern. */
static bool is_closed(struct sk_match *match)
{
	if (has_made_rest(match->rule) && !is_rest_closed(match))
		return false;
	for (uint32_t name = 0; name < match->rule->names.count; name++) {
		const struct sk_rule_name *known = &match->rule->names.items[name];
		uint32_t value = match->values[name], inside = 0;

		if (known->kind != SK_RULE_MADE || known->replaced || value == SK_NONE)
			continue;
		for (size_t n = 0; n < match->rule->pattern.count; n++)
			for (size_t i = 0; i < match->graph->nodes.items[match->nodes[n]].inputs.count; i++)
				inside += match->graph->nodes.items[match->nodes[n]].inputs.items[i] == value;
		if (is_used_outside(match, value, inside))
			return false;
	}
	return true;
}

static bool bind_step(struct sk_match *match, size_t step);

/* Undo the bindings of the steps from this one on. */
static void unbind(struct sk_match *match, size_t step, size_t bound)
{
	for (size_t i = step; i < match->rule->steps.count; i++) {
		uint32_t *node = &match->nodes[match->rule->steps.items[i].node];

		if (match->rest_node == *node)
			match->rest_node = SK_NONE;
		*node = SK_NONE;
	}
	while (match->bound.count > bound) {
		uint32_t name = match->bound.items[--match->bound.count];

		match->set[name] = false;
		match->values[name] = SK_NONE;
	}
	for (size_t name = 0; name < match->rule->names.count; name++)
		match->set[name] &= match->rule->names.items[name].kind != SK_RULE_LET;
}

/* Bind the node of the step and all later steps; try both orders of two operands that may be swapped. */
static bool bind_from(struct sk_match *match, size_t step, uint32_t n)
{
	const struct sk_graph_node *node = &match->graph->nodes.items[n];
	uint32_t number = match->rule->steps.items[step].node;
	bool either = match->rule->pattern.items[number].inputs.count == 2 && sk_node_is_commutative(node) &&
		      node->inputs.items[0] != node->inputs.items[1];
	size_t bound = match->bound.count;

	for (int turned = 0; turned <= either; turned++) {
		if (match->steps >= match->budget) {
			match->reason = "there are too many ways to find it";
			return false;
		}
		if (bind_node(match, number, n, turned) && bind_step(match, step + 1))
			return true;
		unbind(match, step, bound);
	}
	return false;
}

/* Bind one of the users of the value. */
static bool bind_user(struct sk_match *match, size_t step, uint32_t value)
{
	uint32_t user;

	for (user = match->users->first.items[value]; user != SK_NONE; user = match->users->users.items[user].next) {
		uint32_t n = match->users->users.items[user].node;

		if (match->steps++ >= match->budget) {
			match->reason = "too many nodes use a value";
			return false;
		}
		if (bind_from(match, step, n))
			return true;
	}
	return false;
}

/* Return the value of the name, the first one of a rest. */
static uint32_t step_value(const struct sk_match *match, uint32_t name)
{
	const struct sk_graph_node *reader;

	if (match->rule->names.items[name].kind != SK_RULE_REST || match->rest_node == SK_NONE)
		return match->values[name];
	reader = &match->graph->nodes.items[match->rest_node];
	return match->rest_first < reader->inputs.count ? reader->inputs.items[match->rest_first] : SK_NONE;
}

static bool bind_step(struct sk_match *match, size_t step)
{
	const struct sk_rule_step *next = &match->rule->steps.items[step];
	uint32_t value;

	if (step == match->rule->steps.count) {
		match->whole = true;
		return !takes_own_output(match) && is_closed(match) && conditions_hold(match);
	}
	value = step_value(match, next->name);
	if (value == SK_NONE)
		return false;
	if (next->user)
		return bind_user(match, step, value);
	value = match->graph->values.items[value].node;
	return value != SK_NONE && bind_from(match, step, value);
}

/* Clear the bindings, which the next rule reuses. */
static void clear(struct sk_match *match)
{
	struct sk_arena *arena = match->graph->arena;
	size_t names = match->rule->names.count, nodes = match->rule->pattern.count;

	if (match->room < names || !match->values) {
		match->room = names;
		match->values = SK_NEW_ARRAY(arena, uint32_t, names + 1);
		match->attributes = SK_NEW_ARRAY(arena, struct sk_datum, names + 1);
		match->set = SK_NEW_ARRAY(arena, bool, names + 1);
	}
	if (!match->nodes)
		match->nodes = SK_NEW_ARRAY(arena, uint32_t, SK_RULE_MAX_NODES);
	memset(match->values, 0xff, names * sizeof(*match->values));
	memset(match->set, 0, names * sizeof(*match->set));
	memset(match->nodes, 0xff, nodes * sizeof(*match->nodes));
	match->bound.count = 0;
	match->rest_node = SK_NONE;
}

bool sk_match_find(struct sk_match *match, const struct sk_rule *rule, uint32_t anchor)
{
	match->rule = rule;
	match->reason = NULL;
	match->whole = false;
	match->budget = match->steps + BUDGET;
	clear(match);
	return bind_from(match, 0, anchor);
}
