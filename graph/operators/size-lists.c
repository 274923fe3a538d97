/* Sizes, an operator of the domain "sklink": a list of expressions of dimensions with bounds, such as the shape that a
 * Reshape reads. Passes put it in place of the nodes that computed the list, and dumps have it. */
#include <stddef.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/sizes.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators-parts.h"
#include "graph/operators/operators.h"

static const char expressions[] = "expressions", scalar[] = "scalar";

/* ---- making one ---- */

static bool is_list(const struct sk_op_graph *graph, uint32_t value)
{
	const struct sk_value *of = &graph->values.items[value];

	return of->varies && !of->contents && of->dtype == SK_I64 && of->rank < 2 && sk_value_elements(of) &&
	       sk_symbolic_is_known(of);
}

bool sk_size_list_make(struct sk_op_graph *graph, uint32_t value)
{
	const struct sk_value *of = &graph->values.items[value];
	struct sk_graph_node *node = of->node == SK_NONE ? NULL : &graph->nodes.items[of->node];
	const char **texts;

	if (!graph->sizes || !node || node->outputs.count != 1 || !is_list(graph, value) ||
	    sk_node_is(node, "sklink:Sizes"))
		return false;
	texts = SK_NEW_ARRAY(graph->arena, const char *, sk_value_elements(of));
	for (uint64_t i = 0; i < sk_value_elements(of); i++)
		texts[i] = sk_size_text(graph->arena, of->terms[i]);
	node->inputs.count = node->tensors.count = node->graphs.count = node->attributes.count = 0;
	node->attributes.items = NULL; /* copies of the node may share the list */
	node->attributes.capacity = 0;
	sk_array_push(graph->arena, &node->attributes,
		      ((struct sk_attribute){.name = expressions,
					     .place = node->place,
					     .kind = SK_ATTRIBUTE_STRINGS,
					     .strings = texts,
					     .count = sk_value_elements(of)}));
	if (!of->rank)
		sk_array_push(
			graph->arena, &node->attributes,
			((struct sk_attribute){
				.name = scalar, .place = node->place, .kind = SK_ATTRIBUTE_INTEGER, .integer = 1}));
	node->op = "Sizes";
	node->domain = SK_OWN_DOMAIN;
	node->version = 1;
	node->origin = NULL;
	return true;
}

/* ---- the schema ---- */

/* Read the expressions of a dump. */
static bool infer_sizes(struct sk_inference *inference)
{
	struct sk_op_graph *graph = inference->graph;
	const struct sk_attribute *texts = sk_node_attribute(inference->node, expressions);
	bool single = sk_node_integer(inference->node, scalar, 0) != 0;
	const struct sk_size **terms = SK_NEW_ARRAY(graph->arena, const struct sk_size *, texts->count + 1);
	const char *error = "its dimensions have no bounds; give them with --dim NAME=LO..HI";
	struct sk_value *value;

	if (!texts->count || texts->count > SK_MOST_TERMS || (single && texts->count > 1))
		return sk_infer_error(inference, "%zu expressions are not the elements of a list of sizes",
				      texts->count);
	for (size_t i = 0; i < texts->count; i++) {
		if (graph->sizes)
			terms[i] = sk_size_parse(graph->sizes, graph->dimensions_of, texts->strings[i], &error);
		if (!terms[i])
			return sk_infer_error(inference, "expression '%s': %s", texts->strings[i], error);
	}
	if (!sk_infer_output(inference, 0, SK_I64, !single, &(uint64_t){texts->count}))
		return false;
	value = sk_node_output(graph, inference->node, 0);
	if (!value)
		return true;
	value->varies = true;
	value->terms = terms;
	value->known = sk_symbolic_contents(graph, value);
	return true;
}

/* Calls that read the list as data get its numbers from slots (symbolic-calls.c). */
static bool canonical_sizes(struct sk_canonical *canonical)
{
	return sk_canonical_error(canonical, "a number of its list can be negative, or shrinks when a dimension grows");
}

static const struct sk_schema_attribute attributes[] = {
	{expressions, SK_ATTRIBUTE_STRINGS, true}, {scalar, SK_ATTRIBUTE_INTEGER, .integer = 0}, {NULL}};

const struct sk_schema sk_operators_size_lists[] = {
	{"Sizes", SK_OWN_DOMAIN, 0, 0, 1, 1, .attributes = attributes, .infer = infer_sizes,
	 .canonical = canonical_sizes},
	{NULL},
};
