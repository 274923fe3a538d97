/* Schemas by name, and the checks of nodes against them. */
#include "graph/operators/operators.h"

#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/text.h"
#include "format/signature/signature.h"
#include "graph/graph.h"

static const struct sk_schema *const families[] = {sk_operators_attention,
						   sk_operators_attention_forms,
						   sk_operators_axes,
						   sk_operators_bodies,
						   sk_operators_classical,
						   sk_operators_classical_svm,
						   sk_operators_classical_tables,
						   sk_operators_classical_trees,
						   sk_operators_forest,
						   sk_operators_collectives,
						   sk_operators_columns,
						   sk_operators_composites,
						   sk_operators_einsum,
						   sk_operators_elementwise,
						   sk_operators_formats,
						   sk_operators_fourier,
						   sk_operators_fused_normal,
						   sk_operators_fused_products,
						   sk_operators_gradients,
						   sk_operators_indexing,
						   sk_operators_linear_attention,
						   sk_operators_losses,
						   sk_operators_microsoft,
						   sk_operators_microsoft_attention,
						   sk_operators_microsoft_layers,
						   sk_operators_microsoft_products,
						   sk_operators_microsoft_quantised,
						   sk_operators_moves,
						   sk_operators_normal,
						   sk_operators_optimisers,
						   sk_operators_pads,
						   sk_operators_primitives,
						   sk_operators_products,
						   sk_operators_quantised,
						   sk_operators_quantised_gates,
						   sk_operators_quantised_products,
						   sk_operators_random,
						   sk_operators_recurrent,
						   sk_operators_resize,
						   sk_operators_sampling,
						   sk_operators_sequences,
						   sk_operators_shapes,
						   sk_operators_signals,
						   sk_operators_size_lists,
						   sk_operators_training,
						   sk_operators_transposed,
						   sk_operators_windows};

enum { FAMILIES = sizeof(families) / sizeof(families[0]) };

const struct sk_schema *sk_schema_find(const char *domain, const char *op)
{
	if (!strcmp(domain, SK_KERNEL_DOMAIN))
		return sk_operators_kernels;
	for (size_t f = 0; f < FAMILIES; f++)
		for (const struct sk_schema *schema = families[f]; schema->op; schema++)
			if (!strcmp(schema->op, op) && !strcmp(schema->domain, domain))
				return schema;
	return NULL;
}

const struct sk_schema *sk_schema_at(size_t number)
{
	for (size_t f = 0; f < FAMILIES; f++)
		for (const struct sk_schema *schema = families[f]; schema->op; schema++)
			if (!number--)
				return schema;
	return NULL;
}

bool sk_schema_is_random(const struct sk_schema *schema)
{
	for (const struct sk_schema *random = sk_operators_random; random->op; random++)
		if (random == schema)
			return true;
	return false;
}

/* ---- checks of nodes ---- */

static const struct sk_schema_attribute *find_attribute(const struct sk_schema *schema, const char *name)
{
	const struct sk_schema_attribute *attribute = schema->attributes;

	while (attribute && attribute->name && strcmp(attribute->name, name))
		attribute++;
	return attribute && attribute->name ? attribute : NULL;
}

static bool check_attributes(struct sk_op_graph *graph, const struct sk_graph_node *node,
			     const struct sk_schema *schema)
{
	bool valid = true;

	for (size_t i = 0; i < node->attributes.count; i++) {
		const struct sk_attribute *given = &node->attributes.items[i];
		const struct sk_schema_attribute *known = find_attribute(schema, given->name);

		if (!known)
			sk_node_error(graph, node, "the operator has no attribute '%s'", given->name);
		valid &= known && sk_node_check_kind(graph, node, given, known->kind);
	}
	for (const struct sk_schema_attribute *known = schema->attributes; known && known->name; known++) {
		if (!known->required || sk_node_attribute(node, known->name))
			continue;
		sk_node_error(graph, node, "attribute '%s' is missing", known->name);
		valid = false;
	}
	return valid;
}

void sk_schema_note(struct sk_op_graph *graph, struct sk_graph_node *node, const struct sk_schema *schema)
{
	size_t kept = 0;

	for (size_t i = 0; i < node->attributes.count && sk_node_is_of_ge(node); i++) {
		const struct sk_attribute attribute = node->attributes.items[i];

		if (find_attribute(schema, attribute.name))
			node->attributes.items[kept++] = attribute;
		else
			sk_array_push(graph->arena, &node->notes, attribute);
	}
	node->attributes.count = sk_node_is_of_ge(node) ? kept : node->attributes.count;
}

static bool check_count(struct sk_op_graph *graph, const struct sk_graph_node *node, const char *what, size_t count,
			unsigned least, unsigned most)
{
	if (count >= least && (most == SK_VARIADIC || count <= most))
		return true;
	if (least == most)
		sk_node_error(graph, node, "it has %zu %s%s, and the operator has %u", count, what, sk_plural(count),
			      least);
	else if (most == SK_VARIADIC)
		sk_node_error(graph, node, "it has %zu %s%s, and the operator has at least %u", count, what,
			      sk_plural(count), least);
	else
		sk_node_error(graph, node, "it has %zu %s%s, and the operator has %u to %u", count, what,
			      sk_plural(count), least, most);
	return false;
}

/* Messages count the inputs in the file. */
static bool check_input_count(struct sk_op_graph *graph, const struct sk_graph_node *node,
			      const struct sk_schema *schema, size_t given)
{
	size_t count = node->inputs.count;
	unsigned least = schema->min_inputs, most = schema->max_inputs;

	if (count <= given || (count >= least && (most == SK_VARIADIC || count <= most)))
		return check_count(graph, node, "input", count, least, most);
	sk_node_error(graph, node, "it has %zu input%s, and the operator has %u to %u, %zu of them as attributes",
		      given, sk_plural(given), least, most, count - given);
	return false;
}

static bool check_inputs(struct sk_op_graph *graph, const struct sk_graph_node *node, const struct sk_schema *schema,
			 size_t given)
{
	if (!check_input_count(graph, node, schema, given))
		return false;
	/* Variadic inputs are not optional, except those of Loop, which checks them itself. */
	bool all = schema->max_inputs == SK_VARIADIC && schema->min_inputs;

	for (size_t i = 0; i < (all ? node->inputs.count : schema->min_inputs); i++) {
		if (node->inputs.items[i] != SK_NONE)
			continue;
		sk_node_error(graph, node, "input %zu is absent, and the operator needs it", i);
		return false;
	}
	return true;
}

bool sk_schema_check(struct sk_op_graph *graph, const struct sk_graph_node *node, const struct sk_schema *schema,
		     size_t given)
{
	bool inputs = check_inputs(graph, node, schema, given);
	bool outputs =
		check_count(graph, node, "output", node->outputs.count, schema->min_outputs, schema->max_outputs);

	return check_attributes(graph, node, schema) && inputs && outputs;
}
