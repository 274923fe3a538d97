/* cse and graph_kernel_cse: merge nodes that compute the same. Two nodes do if they agree in operator and attributes,
 * if their inputs are the same values or constants of the same bytes, and if they are in one scope, stream and
 * composite. Nodes are looked up by a text of all this, so the cost is linear in the size of the graph. */
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/manager/manager.h"
#include "graph/operators/operators.h"
#include "graph/rewrites/rewrites-parts.h"
#include "graph/rewrites/rewrites.h"

/* Larger constants are compared by address. */
enum { MOST_COMPARED = 256 };

struct cse {
	struct sk_map nodes; /* texts to nodes */
	struct sk_map constants; /* bytes to values */
};

struct text {
	struct sk_arena *arena;
	SK_ARRAY(char) bytes;
};

static void add_bytes(struct text *text, const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		sk_array_push(text->arena, &text->bytes, ((const char *)bytes)[i]);
}

static void add_number(struct text *text, uint64_t number)
{
	add_bytes(text, &number, sizeof(number));
}

static void add_word(struct text *text, const char *word)
{
	add_number(text, word ? strlen(word) + 1 : 0); /* an absent word differs from the empty one */
	add_bytes(text, word ? word : "", word ? strlen(word) : 0);
}

/* ---- equality ---- */

/* Return the first small constant of its type, shape and bytes; for other values, the value itself. */
static uint32_t same_value(struct sk_rewrite *rewrite, uint32_t index)
{
	struct cse *cse = rewrite->context;
	const struct sk_value *value = index != SK_NONE ? &rewrite->graph->values.items[index] : NULL;
	struct text text = {.arena = rewrite->graph->arena};

	if (!value || !value->contents || sk_value_bytes(value) > MOST_COMPARED)
		return index;
	add_number(&text, value->dtype);
	add_number(&text, value->rank);
	add_bytes(&text, value->shape, value->rank * sizeof(*value->shape));
	add_bytes(&text, value->contents, sk_value_bytes(value));
	return sk_map_insert(&cse->constants, text.bytes.items, text.bytes.count, index);
}

static void add_attribute(struct text *text, const struct sk_attribute *attribute)
{
	add_word(text, attribute->name);
	add_number(text, attribute->kind);
	add_number(text, attribute->count);
	switch (attribute->kind) {
	case SK_ATTRIBUTE_INTEGER:
		add_bytes(text, &attribute->integer, sizeof(attribute->integer));
		break;
	case SK_ATTRIBUTE_REAL:
		add_bytes(text, &attribute->real, sizeof(attribute->real));
		break;
	case SK_ATTRIBUTE_STRING:
		add_word(text, attribute->string);
		break;
	case SK_ATTRIBUTE_INTEGERS:
		add_bytes(text, attribute->integers, attribute->count * sizeof(*attribute->integers));
		break;
	case SK_ATTRIBUTE_REALS:
		add_bytes(text, attribute->reals, attribute->count * sizeof(*attribute->reals));
		break;
	case SK_ATTRIBUTE_STRINGS:
		for (size_t i = 0; i < attribute->count; i++)
			add_word(text, attribute->strings[i]);
		break;
	}
}

static void add_outputs(struct text *text, const struct sk_op_graph *graph, const struct sk_graph_node *node)
{
	add_number(text, node->outputs.count);
	for (size_t i = 0; i < node->outputs.count; i++) {
		const struct sk_value *value = sk_node_output(graph, node, i);

		add_number(text, value ? value->dtype : SK_DTYPE_NONE);
		add_number(text, value ? value->rank : SK_NONE);
		add_bytes(text, value ? value->shape : NULL, value ? value->rank * sizeof(*value->shape) : 0);
	}
}

static void add_inputs(struct text *text, struct sk_rewrite *rewrite, const struct sk_graph_node *node)
{
	uint32_t first = node->inputs.count ? same_value(rewrite, node->inputs.items[0]) : SK_NONE;
	bool turned = sk_node_is_commutative(node) && same_value(rewrite, node->inputs.items[1]) < first;

	add_number(text, node->inputs.count);
	for (size_t i = 0; i < node->inputs.count; i++)
		add_number(text, same_value(rewrite, node->inputs.items[turned ? 1 - i : i]));
}

/* Nodes that draw random numbers are all different. Convolutions, normalisations and quantised operators take other
 * forms depending on their users, so they are left alone. */
static bool may_be_merged(const struct sk_rewrite *rewrite, const struct sk_graph_node *node)
{
	static const char *const counted[] = {"Conv", "BatchNormalization", "QuantizeLinear", NULL};

	return !sk_node_is_one_of(node, counted) && node->outputs.count && node->outputs.items[0] != SK_NONE &&
	       !node->graphs.count && !sk_rewrite_is_looked_at(rewrite->graph, node->outputs.items[0]) &&
	       !sk_schema_is_random(sk_schema_find(node->domain, node->op));
}

/* ---- merging ---- */

/* A node with several outputs can go only if none of them is an output of the graph. */
static bool may_go(const struct sk_rewrite *rewrite, const struct sk_graph_node *node)
{
	for (size_t i = 0; i < node->outputs.count && node->outputs.count > 1; i++)
		if (node->outputs.items[i] != SK_NONE && rewrite->pinned[node->outputs.items[i]])
			return false;
	return true;
}

/* Redirect the users of the node's outputs to those of `first`. */
static void merge_nodes(struct sk_rewrite *rewrite, uint32_t index, uint32_t first)
{
	const struct sk_graph_node *node = sk_rewrite_at(rewrite, index);
	const struct sk_graph_node *same = &rewrite->graph->nodes.items[first];

	for (size_t i = 1; i < node->outputs.count; i++)
		if (node->outputs.items[i] != SK_NONE)
			sk_rewrite_redirect(rewrite, node->outputs.items[i], same->outputs.items[i]);
	sk_rewrite_replace(rewrite, index, same->outputs.items[0]);
}

static void visit_node(struct sk_rewrite *rewrite, uint32_t index)
{
	struct cse *cse = rewrite->context;
	const struct sk_graph_node *node = sk_rewrite_at(rewrite, index);
	struct text text = {.arena = rewrite->graph->arena};
	uint32_t first;

	if (!may_be_merged(rewrite, node))
		return;
	add_word(&text, node->op);
	add_word(&text, node->domain);
	add_word(&text, node->scope);
	add_number(&text, node->version);
	add_number(&text, node->stream);
	add_number(&text, node->cube_cores);
	add_number(&text, node->vector_cores);
	add_number(&text, node->composite);
	add_number(&text, node->attributes.count);
	for (size_t i = 0; i < node->attributes.count; i++)
		add_attribute(&text, &node->attributes.items[i]);
	for (size_t i = 0; i < node->tensors.count; i++) {
		add_word(&text, node->tensors.items[i].name);
		add_number(&text, same_value(rewrite, node->tensors.items[i].value));
	}
	add_inputs(&text, rewrite, node);
	add_outputs(&text, rewrite->graph, node);
	first = sk_map_insert(&cse->nodes, text.bytes.items, text.bytes.count, index);
	if (first != index && may_go(rewrite, node))
		merge_nodes(rewrite, index, first);
}

enum sk_pass_result sk_pass_cse(struct sk_op_graph *graph, const struct sk_fusion_flags *flags)
{
	struct cse cse;

	sk_map_init(&cse.nodes, graph->arena);
	sk_map_init(&cse.constants, graph->arena);
	return sk_rewrite_graph(graph, flags, &cse, visit_node);
}
