/* The nodes of a replacement, line by line; see rules-parts.h. */
#include "graph/rules/rules-parts.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/text.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators.h"
#include "graph/rules/rules.h"

bool sk_replacing_refuse(struct sk_replacing *replacing, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	replacing->match->reason = sk_arena_print_list(replacing->graph->arena, format, args);
	va_end(args);
	return false;
}

/* ---- values ---- */

/* Add a value without type and shape. */
static uint32_t new_value(struct sk_replacing *replacing, const char *text)
{
	struct sk_op_graph *graph = replacing->graph;
	const char *base = sk_arena_print(graph->arena, "%s/%s", sk_node_name(graph, replacing->anchor), text);
	uint32_t value = sk_graph_new_value(graph, base, SK_DTYPE_NONE, 0, NULL);

	graph->values.items[value].shaped = false;
	graph->values.items[value].place = replacing->anchor->place;
	return value;
}

bool sk_match_make_constant(struct sk_match *match, const char *name, const struct sk_datum *datum, enum sk_dtype dtype,
			    uint32_t *value)
{
	uint8_t *bytes = SK_NEW_ARRAY(match->graph->arena, uint8_t, datum->count * 8 + 8);
	uint64_t bits, count = datum->count;

	for (size_t i = 0; i < datum->count; i++) {
		if (!sk_real_bits(datum->numbers[i], dtype, &bits)) {
			match->reason = sk_arena_print(match->graph->arena, "%g is not a number of type %s",
						       datum->numbers[i], sk_dtype_name(dtype));
			return false;
		}
		memcpy(bytes + i * sk_dtype_size(dtype), &bits, sk_dtype_size(dtype));
	}
	*value = sk_graph_new_constant(match->graph, name, dtype, datum->list, &count, bytes);
	return true;
}

static bool make_constant(struct sk_replacing *replacing, const struct sk_rule_expression *expression,
			  enum sk_dtype dtype, uint32_t *value)
{
	struct sk_datum datum;

	if (!sk_match_evaluate(replacing->match, expression, &datum))
		return false;
	return datum.text ? sk_replacing_refuse(replacing, "'%s' is not a number", datum.text)
			  : sk_match_make_constant(replacing->match, "number", &datum, dtype, value);
}

/* ---- nodes ---- */

static bool is_known(const struct sk_value *value)
{
	return !value || (!value->varies && (value->contents || value->fixed));
}

/* Infer the node by its schema. Errors do not become errors of the graph. */
static bool infer(struct sk_replacing *replacing, struct sk_graph_node *node)
{
	struct sk_op_graph *graph = replacing->graph;
	const struct sk_schema *schema = sk_schema_find(node->domain, node->op);
	bool fixed = schema->canonical;

	if (schema->upgrade && !schema->upgrade(graph, node))
		return false;
	schema = sk_schema_find(node->domain, node->op); /* an upgrade may rename it */
	if (!sk_schema_check(graph, node, schema, node->inputs.count))
		return false;
	for (size_t i = 0; i < node->inputs.count; i++) {
		const struct sk_value *value = sk_node_input(graph, node, i);

		fixed &= is_known(value);
		if (i < 32 && schema->demands >> i & 1 && value && !sk_value_known(value)) {
			sk_node_error(graph, node, "'%s' is not a constant", value->name);
			return false;
		}
	}
	if (!schema->infer(&(struct sk_inference){graph, node}))
		return false;
	for (size_t i = 0; i < node->outputs.count; i++)
		if (sk_node_output(graph, node, i))
			sk_node_output(graph, node, i)->fixed = fixed;
	return true;
}

/* Infer the node, and append it. */
static bool add_node(struct sk_replacing *replacing, struct sk_graph_node node)
{
	struct sk_op_graph *graph = replacing->graph;
	struct sk_diag *const diag = graph->diag;
	struct sk_diag own;
	struct sk_text text;
	bool inferred;

	sk_diag_init(&own, graph->arena);
	graph->diag = &own;
	inferred = infer(replacing, &node);
	graph->diag = diag;
	if (inferred) {
		sk_array_push(graph->arena, &replacing->nodes, node);
		return true;
	}
	sk_text_open(&text);
	sk_diag_flush(&own, "rule", 1, text.stream);
	sk_text_close(graph->arena, &text);
	text.bytes += strlen("rule: error: ");
	return sk_replacing_refuse(replacing, "%.*s", (int)strcspn(text.bytes, "\n"), text.bytes);
}

static struct sk_graph_node begin_node(const struct sk_replacing *replacing, const char *op, const char *domain,
				       const char *text)
{
	const struct sk_graph_node *anchor = replacing->anchor;
	const char *origin =
		anchor->origin ? strrchr(anchor->origin, ':') : NULL; /* "mindspore:GeLU" is a different operator */

	return (struct sk_graph_node){
		.name = sk_arena_print(replacing->graph->arena, "%s/%s", sk_node_name(replacing->graph, anchor), text),
		.place = anchor->place,
		.op = op,
		.domain = domain,
		.origin = origin	   ? origin + 1
			  : anchor->origin ? anchor->origin
					   : anchor->op,
		.version = SK_NEWEST,
		.stream = anchor->stream,
		.cube_cores = anchor->cube_cores,
		.vector_cores = anchor->vector_cores,
		.scope = anchor->scope,
		.scope_options = anchor->scope_options,
	};
}

/* Return the number of the type in files. */
static int64_t number_of_dtype(enum sk_dtype dtype)
{
	int64_t number = 1;

	while (sk_dtype_of_number(number) != dtype)
		number++;
	return number;
}

bool sk_replacing_cast(struct sk_replacing *replacing, uint32_t from, enum sk_dtype dtype, const char *text,
		       uint32_t *to)
{
	struct sk_graph_node node = begin_node(replacing, "Cast", "", text);

	*to = new_value(replacing, text);
	sk_node_set_integer(replacing->graph, &node, "to", number_of_dtype(dtype));
	sk_array_push(replacing->graph->arena, &node.inputs, from);
	sk_array_push(replacing->graph->arena, &node.outputs, *to);
	return add_node(replacing, node);
}

/* Return the value in the type that the replacement computes in. */
static bool widen(struct sk_replacing *replacing, uint32_t from, uint32_t *to)
{
	*to = from;
	return !replacing->rule->single || from == SK_NONE ||
	       !sk_replacing_is_half(replacing->graph->values.items[from].dtype) ||
	       sk_replacing_cast(replacing, from, SK_F32, "cast", to);
}

static void add_input(struct sk_replacing *replacing, struct sk_graph_node *node, uint32_t value)
{
	if (value != SK_NONE && replacing->first == SK_DTYPE_NONE)
		replacing->first = replacing->graph->values.items[value].dtype;
	sk_array_push(replacing->graph->arena, &node->inputs, value);
}

static bool add_rest(struct sk_replacing *replacing, struct sk_graph_node *node)
{
	const struct sk_match *match = replacing->match;
	uint32_t value;

	for (size_t i = match->rest_first;
	     match->rest_node != SK_NONE && i < replacing->graph->nodes.items[match->rest_node].inputs.count; i++) {
		if (!widen(replacing, replacing->graph->nodes.items[match->rest_node].inputs.items[i], &value))
			return false;
		add_input(replacing, node, value);
	}
	return true;
}

/* Values come first, since constants get their types. */
static bool add_values(struct sk_replacing *replacing, const struct sk_rule_node *from, struct sk_graph_node *node)
{
	for (size_t i = 0; i < from->inputs.count; i++) {
		uint32_t name = from->inputs.items[i].name;

		if (name == SK_NONE) {
			sk_array_push(replacing->graph->arena, &node->inputs, SK_NONE);
			continue;
		}
		if (replacing->rule->names.items[name].kind == SK_RULE_REST) {
			if (!add_rest(replacing, node))
				return false;
			continue;
		}
		if (replacing->wide[name] == SK_NONE &&
		    !widen(replacing, replacing->values[name], &replacing->wide[name]))
			return false;
		add_input(replacing, node, replacing->wide[name]);
	}
	return true;
}

static bool add_constants(struct sk_replacing *replacing, const struct sk_rule_node *from, struct sk_graph_node *node)
{
	for (size_t i = 0; i < from->inputs.count; i++) {
		const struct sk_rule_operand *operand = &from->inputs.items[i];
		enum sk_dtype dtype = operand->dtype;

		if (!operand->constant || (operand->name != SK_NONE && replacing->values[operand->name] != SK_NONE))
			continue;
		if (operand->like != SK_NONE) {
			if (replacing->match->values[operand->like] == SK_NONE)
				return sk_replacing_refuse(replacing, "'%s' is absent",
							   replacing->rule->names.items[operand->like].text);
			dtype = replacing->graph->values.items[replacing->match->values[operand->like]].dtype;
			dtype = replacing->rule->single && sk_replacing_is_half(dtype) ? SK_F32 : dtype;
		} else if (dtype == SK_DTYPE_NONE) {
			dtype = replacing->first;
		}
		if (!make_constant(replacing, operand->constant, dtype, &node->inputs.items[i]))
			return false;
	}
	return true;
}

/* ---- attributes ---- */

static bool integers_of(struct sk_replacing *replacing, const struct sk_datum *datum, int64_t **integers)
{
	uint64_t bits;

	*integers = SK_NEW_ARRAY(replacing->graph->arena, int64_t, datum->count + 1);
	for (size_t i = 0; i < datum->count; i++) {
		if (!sk_real_bits(datum->numbers[i], SK_I64, &bits))
			return sk_replacing_refuse(replacing, "%g is not an integer", datum->numbers[i]);
		(*integers)[i] = (int64_t)bits;
	}
	return true;
}

static bool add_attribute(struct sk_replacing *replacing, const struct sk_rule_attribute *from,
			  struct sk_graph_node *node)
{
	const struct sk_schema_attribute *known = sk_schema_find(node->domain, node->op)->attributes;
	struct sk_attribute attribute = {.name = from->name, .place = node->place};
	struct sk_datum datum;
	int64_t *integers;

	while (strcmp(known->name, from->name))
		known++;
	attribute.kind = known->kind;
	if (!sk_match_evaluate(replacing->match, from->value, &datum))
		return false;
	attribute.string = datum.text;
	attribute.count = datum.count;
	attribute.reals = datum.numbers;
	if (known->kind == SK_ATTRIBUTE_INTEGER && datum.text) {
		enum sk_dtype dtype = sk_rule_find_dtype(datum.text);

		if (dtype == SK_DTYPE_NONE)
			return sk_replacing_refuse(replacing, "'%s' is not a number", datum.text);
		attribute.integer = number_of_dtype(dtype); /* the name of a type where its number is expected */
	} else if (known->kind == SK_ATTRIBUTE_INTEGER || known->kind == SK_ATTRIBUTE_INTEGERS) {
		if (datum.text || !integers_of(replacing, &datum, &integers))
			return sk_replacing_refuse(replacing, "attribute '%s' is not an integer", from->name);
		attribute.integers = integers;
		attribute.integer = integers[0];
	}
	if ((known->kind == SK_ATTRIBUTE_STRING) != (datum.text && known->kind != SK_ATTRIBUTE_INTEGER) ||
	    known->kind == SK_ATTRIBUTE_STRINGS)
		return sk_replacing_refuse(replacing, "attribute '%s' is of another kind", from->name);
	if ((known->kind == SK_ATTRIBUTE_INTEGER || known->kind == SK_ATTRIBUTE_REAL) && !datum.text &&
	    datum.count != 1)
		return sk_replacing_refuse(replacing, "attribute '%s' is one number", from->name);
	if (known->kind == SK_ATTRIBUTE_REAL)
		attribute.real = datum.numbers[0];
	sk_array_push(replacing->graph->arena, &node->attributes, attribute);
	return true;
}

/* ---- lines ---- */

/* An operator of two operands with more becomes several nodes: ((a, b), c), d. `node` is the last one. */
static bool fold_inputs(struct sk_replacing *replacing, struct sk_graph_node *node)
{
	const uint32_t *inputs = node->inputs.items;
	size_t count = node->inputs.count;
	uint32_t made = inputs[0];

	for (size_t i = 1; i + 1 < count; i++) {
		struct sk_graph_node one = *node;

		memset(&one.inputs, 0, sizeof(one.inputs));
		memset(&one.outputs, 0, sizeof(one.outputs));
		sk_array_push(replacing->graph->arena, &one.inputs, made);
		sk_array_push(replacing->graph->arena, &one.inputs, inputs[i]);
		made = new_value(replacing, "fold");
		sk_array_push(replacing->graph->arena, &one.outputs, made);
		if (!add_node(replacing, one))
			return false;
	}
	node->inputs.items[0] = made;
	node->inputs.items[1] = inputs[count - 1];
	node->inputs.count = 2;
	return true;
}

/* The result of a kernel's operator has its type and shape only from the pattern. */
static bool take_type(struct sk_replacing *replacing, uint32_t name, uint32_t value)
{
	struct sk_value *values = replacing->graph->values.items;
	uint32_t old = replacing->match->values[name];

	if (old == SK_NONE)
		return sk_replacing_refuse(replacing, "'%s' is unused, so its type is not known",
					   replacing->rule->names.items[name].text);
	values[value].dtype = values[old].dtype;
	values[value].rank = values[old].rank;
	memcpy(values[value].shape, values[old].shape, sizeof(values[old].shape));
	values[value].shaped = true;
	return true;
}

static bool add_line(struct sk_replacing *replacing, const struct sk_rule_node *from)
{
	const struct sk_rule_operator *form = &from->operators.items[0];
	uint32_t named = from->outputs.items[0];
	struct sk_graph_node node = begin_node(replacing, form->op, form->domain,
					       named == SK_NONE ? form->op : replacing->rule->names.items[named].text);

	replacing->first = SK_DTYPE_NONE;
	if (!add_values(replacing, from, &node) || !add_constants(replacing, from, &node))
		return false;
	for (size_t i = 0; i < from->attributes.count; i++)
		if (!add_attribute(replacing, &from->attributes.items[i], &node))
			return false;
	if (form->schema->max_inputs == 2 && node.inputs.count > 2 && !fold_inputs(replacing, &node))
		return false;
	for (size_t i = 0; i < from->outputs.count; i++) {
		uint32_t name = from->outputs.items[i], value = SK_NONE;

		if (name != SK_NONE) {
			value = new_value(replacing, replacing->rule->names.items[name].text);
			replacing->values[name] = replacing->wide[name] = value;
			if (!*form->schema->op && !take_type(replacing, name, value))
				return false;
		}
		sk_array_push(replacing->graph->arena, &node.outputs, value);
	}
	return add_node(replacing, node);
}

bool sk_replacing_add_lines(struct sk_replacing *replacing)
{
	size_t names = replacing->rule->names.count;

	replacing->wide = SK_NEW_ARRAY(replacing->graph->arena, uint32_t, names + 1);
	memset(replacing->wide, 0xff, names * sizeof(uint32_t));
	for (size_t i = 0; i < replacing->rule->replacement.count; i++)
		if (!add_line(replacing, &replacing->rule->replacement.items[i]))
			return false;
	return true;
}
