/* One walk over the nodes; see rewrites-parts.h. */
#include "graph/rewrites/rewrites-parts.h"

#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/manager/manager.h"
#include "graph/operators/operators.h"
#include "graph/rewrites/rewrites.h"

/* ---- the walk ---- */

static uint32_t resolved(const struct sk_rewrite *rewrite, uint32_t value)
{
	return value < rewrite->instead.count ? rewrite->instead.items[value] : value;
}

/* Values added during the walk are themselves, and unused so far. */
static void notice_values(struct sk_rewrite *rewrite)
{
	while (rewrite->instead.count < rewrite->graph->values.count) {
		sk_array_push(rewrite->graph->arena, &rewrite->instead, (uint32_t)rewrite->instead.count);
		sk_array_push(rewrite->graph->arena, &rewrite->uses, 0);
	}
}

static void add_use(struct sk_rewrite *rewrite, uint32_t value)
{
	notice_values(rewrite);
	if (value != SK_NONE)
		rewrite->uses.items[value]++;
}

static void drop_use(struct sk_rewrite *rewrite, uint32_t value)
{
	if (value != SK_NONE)
		rewrite->uses.items[value]--;
}

static void begin_rewrite(struct sk_rewrite *rewrite)
{
	const struct sk_op_graph *graph = rewrite->graph;

	notice_values(rewrite);
	rewrite->pinnable = graph->values.count;
	rewrite->pinned = SK_NEW_ARRAY(graph->arena, bool, graph->values.count + 1);
	for (size_t i = 0; i < graph->outputs.count; i++) {
		rewrite->pinned[graph->outputs.items[i]] = true;
		add_use(rewrite, graph->outputs.items[i]);
	}
	for (size_t n = 0; n < graph->nodes.count; n++)
		for (size_t i = 0; i < graph->nodes.items[n].inputs.count && !graph->nodes.items[n].removed; i++)
			add_use(rewrite, graph->nodes.items[n].inputs.items[i]);
}

enum sk_pass_result sk_rewrite_graph(struct sk_op_graph *graph, const struct sk_fusion_flags *flags, void *context,
				     sk_rewrite_node *visit)
{
	struct sk_rewrite rewrite = {.graph = graph, .flags = flags, .context = context};

	begin_rewrite(&rewrite);
	for (uint32_t n = 0; n < graph->nodes.count; n++) {
		const struct sk_graph_node *node = &graph->nodes.items[n];

		for (size_t i = 0; i < node->inputs.count; i++)
			if (node->inputs.items[i] != SK_NONE)
				node->inputs.items[i] = resolved(&rewrite, node->inputs.items[i]);
		if (!node->removed)
			visit(&rewrite, n);
	}
	return (sk_rewrite_sweep(graph) | rewrite.changed) ? SK_PASS_CHANGED : SK_PASS_UNCHANGED;
}

static bool drop_unread(struct sk_op_graph *graph, const struct sk_graph_node *node, const bool *read)
{
	bool dropped = false;

	for (size_t i = 0; i < node->outputs.count; i++) {
		uint32_t value = node->outputs.items[i];

		if (value == SK_NONE || read[value])
			continue;
		dropped |= !graph->values.items[value].contents;
		graph->values.items[value].node = SK_NONE;
		node->outputs.items[i] = SK_NONE;
	}
	return dropped;
}

bool sk_rewrite_sweep(struct sk_op_graph *graph)
{
	bool *needed = SK_NEW_ARRAY(graph->arena, bool, graph->nodes.count + 1), swept = false;
	bool *read = SK_NEW_ARRAY(graph->arena, bool, graph->values.count + 1);

	for (size_t i = 0; i < graph->outputs.count; i++) {
		const struct sk_value *value = &graph->values.items[graph->outputs.items[i]];

		read[graph->outputs.items[i]] = true;
		if (value->node != SK_NONE && !value->contents)
			needed[value->node] = true;
	}
	for (size_t n = graph->nodes.count; n--;) {
		struct sk_graph_node *node = &graph->nodes.items[n];

		swept |= !needed[n] && sk_node_is_live(graph, node);
		node->removed |= !needed[n];
		for (size_t i = 0; i < node->inputs.count && !node->removed; i++) {
			const struct sk_value *value = sk_node_input(graph, node, i);

			if (value)
				read[node->inputs.items[i]] = true;
			if (value && value->node != SK_NONE && !value->contents)
				needed[value->node] = true;
		}
		if (!node->removed)
			swept |= drop_unread(graph, node, read);
	}
	return swept;
}

/* ---- queries ---- */

struct sk_graph_node *sk_rewrite_producer(const struct sk_rewrite *rewrite, uint32_t value,
					  const struct sk_graph_node *user)
{
	const struct sk_value *made = &rewrite->graph->values.items[value];
	struct sk_graph_node *node;

	if (made->node == SK_NONE || made->contents)
		return NULL;
	node = &rewrite->graph->nodes.items[made->node];
	return !node->removed && sk_node_same_scope(node, user) ? node : NULL;
}

bool sk_rewrite_is_private(const struct sk_rewrite *rewrite, uint32_t value)
{
	return rewrite->uses.items[value] == 1 && value < rewrite->pinnable && !rewrite->pinned[value];
}

static const struct sk_graph_node *maker(const struct sk_op_graph *graph, const struct sk_value *value)
{
	return value && value->node != SK_NONE && !value->contents ? &graph->nodes.items[value->node] : NULL;
}

bool sk_rewrite_is_looked_at(const struct sk_op_graph *graph, uint32_t value)
{
	const struct sk_graph_node *node = maker(graph, &graph->values.items[value]), *factor;

	if (!node || !sk_node_is(node, "MatMul"))
		return node && (sk_node_is(node, "Conv") || sk_node_is(node, "DequantizeLinear"));
	factor = maker(graph, sk_node_input(graph, node, 1));
	return factor && sk_node_is(factor, "DequantizeLinear");
}

bool sk_value_same_shape(const struct sk_value *a, const struct sk_value *b)
{
	bool same = a->rank == b->rank;

	for (uint32_t d = 0; same && d < a->rank; d++)
		same = sk_value_same_extent(a, b, d);
	return same;
}

bool sk_node_permutation(const struct sk_op_graph *graph, const struct sk_graph_node *node, uint32_t *permutation)
{
	const int64_t *given = NULL;
	uint64_t listed;
	size_t count = 0;
	uint32_t rank;

	if (!sk_node_is(node, "Transpose") && !sk_node_is(node, "sklink:Transpose"))
		return false;
	rank = sk_node_input(graph, node, 0)->rank;
	given = sk_node_integers(node, "perm", &count);
	if (sk_node_input(graph, node, 1) &&
	    !sk_value_integers(graph->arena, sk_node_input(graph, node, 1), &listed, &given))
		return false;
	for (uint32_t i = 0; i < rank; i++)
		permutation[i] = given ? (uint32_t)(given[i] + (given[i] < 0 ? rank : 0)) : rank - 1 - i;
	return true;
}

/* ---- changes ---- */

void sk_rewrite_become(struct sk_rewrite *rewrite, uint32_t index, const char *op, const uint32_t *inputs, size_t count)
{
	struct sk_graph_node *node = sk_rewrite_at(rewrite, index);
	const char *colon = strchr(op, ':');
	const struct sk_graph_node before = *node;

	memset(&node->inputs, 0, sizeof(node->inputs)); /* copies of the node may share the lists */
	memset(&node->attributes, 0, sizeof(node->attributes));
	memset(&node->tensors, 0, sizeof(node->tensors));
	for (size_t i = 0; i < count; i++) {
		sk_array_push(rewrite->graph->arena, &node->inputs, inputs[i]);
		add_use(rewrite, inputs[i]);
	}
	for (size_t i = 0; i < before.inputs.count; i++)
		drop_use(rewrite, before.inputs.items[i]);
	node->op = colon ? colon + 1 : op;
	node->domain = colon ? SK_OWN_DOMAIN : "";
	node->version = colon ? 1 : SK_NEWEST;
	node->origin = NULL;
	rewrite->changed = true;
}

void sk_rewrite_redirect(struct sk_rewrite *rewrite, uint32_t value, uint32_t to)
{
	notice_values(rewrite);
	sk_graph_redirect(rewrite->graph, value, to);
	rewrite->uses.items[to] += rewrite->uses.items[value];
	rewrite->uses.items[value] = 0;
	rewrite->instead.items[value] = to;
	rewrite->changed = true;
}

void sk_rewrite_replace(struct sk_rewrite *rewrite, uint32_t index, uint32_t by)
{
	struct sk_graph_node *node = sk_rewrite_at(rewrite, index);
	uint32_t value = node->outputs.items[0];

	if (value >= rewrite->pinnable || rewrite->pinned[value]) {
		sk_rewrite_become(rewrite, index, "Identity", &by, 1);
		return;
	}
	sk_rewrite_redirect(rewrite, value, by);
	for (size_t i = 0; i < node->inputs.count; i++)
		drop_use(rewrite, node->inputs.items[i]);
	node->removed = true;
}

void sk_rewrite_set_input(struct sk_rewrite *rewrite, struct sk_graph_node *node, size_t number, uint32_t value)
{
	add_use(rewrite, value);
	drop_use(rewrite, node->inputs.items[number]);
	node->inputs.items[number] = value;
	rewrite->changed = true;
}

/* Copy all attributes except the one of that name to a list of the node's own. */
static void own_attributes(const struct sk_rewrite *rewrite, struct sk_graph_node *node, const char *but)
{
	const struct sk_graph_node before = *node;

	memset(&node->attributes, 0, sizeof(node->attributes));
	for (size_t i = 0; i < before.attributes.count; i++)
		if (strcmp(before.attributes.items[i].name, but))
			sk_array_push(rewrite->graph->arena, &node->attributes, before.attributes.items[i]);
}

void sk_rewrite_set_integer(struct sk_rewrite *rewrite, struct sk_graph_node *node, const char *name, int64_t integer)
{
	own_attributes(rewrite, node, name);
	sk_node_set_integer(rewrite->graph, node, name, integer);
	rewrite->changed = true;
}

void sk_rewrite_set_integers(struct sk_rewrite *rewrite, struct sk_graph_node *node, const char *name,
			     const int64_t *integers, size_t count)
{
	int64_t *copy = SK_NEW_ARRAY(rewrite->graph->arena, int64_t, count + 1);

	memcpy(copy, integers, count * sizeof(*integers));
	own_attributes(rewrite, node, name);
	sk_array_push(rewrite->graph->arena, &node->attributes,
		      (struct sk_attribute){
			      .name = name,
			      .place = node->place,
			      .kind = SK_ATTRIBUTE_INTEGERS,
			      .integers = copy,
			      .count = count,
		      });
	rewrite->changed = true;
}

void sk_rewrite_reshape(struct sk_rewrite *rewrite, uint32_t index, uint32_t from)
{
	struct sk_op_graph *graph = rewrite->graph;
	const struct sk_value *to = sk_node_output(graph, &graph->nodes.items[index], 0);
	int64_t shape[SK_MAX_RANK];
	uint32_t wanted;

	for (uint32_t i = 0; i < to->rank; i++)
		shape[i] = (int64_t)to->shape[i];
	wanted = sk_graph_new_integers(graph, "shape", to->rank, shape);
	sk_rewrite_become(rewrite, index, "Reshape", (uint32_t[]){from, wanted}, 2);
	sk_rewrite_set_integer(rewrite, &graph->nodes.items[index], "allowzero", 1);
}

/* Negate in place an element of `size` bytes. */
static void negate(bool is_float, uint32_t size, uint8_t *element)
{
	int64_t integer = 0;

	if (is_float) {
		element[size - 1] ^= 0x80;
		return;
	}
	memcpy(&integer, element, size); /* higher bits are cut off again */
	integer = (int64_t) - (uint64_t)integer;
	memcpy(element, &integer, size);
}

uint32_t sk_rewrite_negated(struct sk_rewrite *rewrite, uint32_t constant)
{
	struct sk_op_graph *graph = rewrite->graph;
	const struct sk_value value = graph->values.items[constant];
	bool is_float = sk_value_is_float(&value);
	bool is_signed = is_float || value.dtype == SK_I8 || value.dtype == SK_I16 || value.dtype == SK_I32 ||
			 value.dtype == SK_I64;
	uint64_t elements = sk_value_elements(&value);
	uint32_t size = sk_dtype_size(value.dtype);
	uint8_t *contents;

	if (!is_signed || !value.contents)
		return SK_NONE;
	contents = SK_NEW_ARRAY(graph->arena, uint8_t, sk_value_bytes(&value) + 1);
	memcpy(contents, value.contents, sk_value_bytes(&value));
	for (uint64_t i = 0; i < elements; i++)
		negate(is_float, size, contents + i * size);
	return sk_graph_new_constant(graph, value.name, value.dtype, value.rank, value.shape, contents);
}
