/* Quantised products; see passes.h. Tools for quantisation write a product of floats between nodes that dequantise and
 * quantise. It becomes a product of integers, which reads a quarter of the bytes. */
#include "graph/passes/passes.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/skplan.h"
#include "graph/graph.h"

enum { MOST_TERMS = INT32_MAX / (255 * 255) /* the most products of bytes that sum up to 32 bits */ };

/* Return the node that makes the value, if it is ONNX's operator of that name. */
static struct sk_graph_node *producer(const struct sk_op_graph *graph, const struct sk_value *value, const char *op)
{
	struct sk_graph_node *node;

	if (!value || value->node == SK_NONE || value->contents)
		return NULL;
	node = &graph->nodes.items[value->node];
	return !node->removed && !strcmp(node->op, op) && !*node->domain ? node : NULL;
}

static bool is_byte(enum sk_dtype dtype)
{
	return dtype == SK_U8 || dtype == SK_I8;
}

/* The node between floats and bytes has one scale and zero point, or `columns` of them along the last axis. */
static bool has_scales(const struct sk_op_graph *graph, const struct sk_graph_node *node, enum sk_dtype bytes,
		       uint64_t columns)
{
	const struct sk_value *x = sk_node_input(graph, node, 0), *scale = sk_node_input(graph, node, 1);
	int64_t axis = sk_node_integer(node, "axis", 1);

	if (!is_byte(bytes) || scale->dtype != SK_F32 || sk_node_integer(node, "block_size", 0))
		return false;
	if (sk_value_elements(scale) == 1)
		return scale->rank <= 1;
	return scale->rank == 1 && sk_value_elements(scale) == columns && (axis == -1 || axis == (int64_t)x->rank - 1);
}

static struct sk_graph_node *find_factor(const struct sk_op_graph *graph, const struct sk_graph_node *product,
					 size_t number, uint64_t columns)
{
	struct sk_graph_node *node = producer(graph, sk_node_input(graph, product, number), "DequantizeLinear");
	const struct sk_value *x = node ? sk_node_input(graph, node, 0) : NULL;

	return x && x->rank >= 2 && has_scales(graph, node, x->dtype, columns) ? node : NULL;
}

static float float_of(const void *elements, uint64_t index)
{
	float number; /* elements of a file are not aligned */

	memcpy(&number, (const uint8_t *)elements + index * sizeof(number), sizeof(number));
	return number;
}

/* The sums are multiplied by a_scale * b_scale / y_scale. If that is infinite where floats would not be, 0 becomes a
 * NaN. Scales that are not constants are assumed to be finite in this sense. */
static bool has_finite_factors(const struct sk_op_graph *graph, const struct sk_graph_node *a,
			       const struct sk_graph_node *b, const struct sk_graph_node *y)
{
	const struct sk_value *scales = sk_node_input(graph, b, 1);
	const void *one = sk_node_input(graph, a, 1)->contents, *many = scales->contents;
	const void *divisor = sk_node_input(graph, y, 1)->contents;

	for (uint64_t i = 0; one && many && divisor && i < sk_value_elements(scales); i++)
		if (!isfinite(float_of(one, 0) * float_of(many, i) / float_of(divisor, 0)))
			return false;
	return true;
}

static void take_inputs(struct sk_op_graph *graph, struct sk_graph_node *node, const struct sk_graph_node *from,
			size_t first)
{
	for (size_t i = first; i < 3; i++)
		sk_array_push(graph->arena, &node->inputs, i < from->inputs.count ? from->inputs.items[i] : SK_NONE);
}

/* Turn the quantising node into the whole product, under the product's name. */
static void join_product(struct sk_op_graph *graph, struct sk_graph_node *node, struct sk_graph_node *product,
			 const struct sk_graph_node *a, const struct sk_graph_node *b)
{
	const struct sk_graph_node quantise = *node;
	const struct sk_value *zero = sk_node_input(graph, node, 2);

	node->name = product->name;
	node->place = product->place;
	node->op = "QLinearMatMul";
	node->origin = product->origin;
	node->rule = product->rule;
	node->composite = node->composite == product->composite ? node->composite : 0;
	node->attributes.count = 0;
	node->inputs.items = NULL;
	node->inputs.count = node->inputs.capacity = 0;
	take_inputs(graph, node, a, 0);
	take_inputs(graph, node, b, 0);
	take_inputs(graph, node, &quantise, 1);
	if (!zero)
		node->inputs.items[7] = sk_graph_new_constant(graph, "zero_point", SK_U8, 0, NULL, &(const uint8_t){0});
	product->removed = true;
}

static void quantise(struct sk_op_graph *graph, struct sk_graph_node *node, const uint32_t *uses)
{
	const struct sk_value *x = sk_node_input(graph, node, 0), *y = sk_node_output(graph, node, 0);
	struct sk_graph_node *product = producer(graph, x, "MatMul");
	const struct sk_graph_node *a, *b;
	const struct sk_value *factor;

	if (!product || !y || x->output || !sk_node_same_scope(product, node) || uses[node->inputs.items[0]] != 1 ||
	    !has_scales(graph, node, y->dtype, 1))
		return;
	if (!sk_node_input(graph, node, 2) && y->dtype != SK_U8)
		return;
	factor = sk_node_input(graph, product, 1);
	a = find_factor(graph, product, 0, 1);
	b = find_factor(graph, product, 1, factor->rank ? factor->shape[factor->rank - 1] : 1);
	/* Several matrices would need a call each. */
	if (a && b && sk_value_elements(factor) == factor->shape[factor->rank - 1] * factor->shape[factor->rank - 2] &&
	    factor->shape[factor->rank - 2] <= MOST_TERMS && has_finite_factors(graph, a, b, node))
		join_product(graph, node, product, a, b);
}

void sk_graph_quantise(struct sk_op_graph *graph)
{
	const uint32_t *uses = sk_graph_count_uses(graph);

	for (size_t i = 0; i < graph->nodes.count; i++) {
		struct sk_graph_node *node = &graph->nodes.items[i];

		if (!node->removed && !strcmp(node->op, "QuantizeLinear") && !*node->domain)
			quantise(graph, node, uses);
	}
}
