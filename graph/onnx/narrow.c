/* Elements of 2 and 4 bits, packed in bytes with the first one in the lowest bits (onnx.proto, TensorProto.DataType). A
 * constant of them has the contents of a constant of i8 or u8. These types are not types of sklink, so that only nodes
 * that read the numbers may use such a constant. */
#include "graph/onnx/onnx-parts.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/ranges.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"

bool sk_onnx_is_narrow(int64_t element, struct sk_value *value)
{
	enum { UINT4 = 21, INT4 = 22, UINT2 = 25, INT2 = 26 };

	value->bits = element == UINT4 || element == INT4 ? 4 : element == UINT2 || element == INT2 ? 2 : 0;
	if (value->bits)
		value->dtype = element == INT4 || element == INT2 ? SK_I8 : SK_U8;
	return value->bits;
}

uint64_t sk_onnx_narrow_bytes(const struct sk_value *value, uint64_t elements)
{
	uint64_t each = 8 / value->bits;

	return elements / each + (elements % each != 0);
}

void sk_onnx_narrow_unpack(struct sk_arena *arena, struct sk_value *value, const uint8_t *packed, uint64_t elements)
{
	uint8_t *contents = sk_arena_alloc(arena, elements + 1, 1);
	unsigned bits = value->bits, each = 8 / bits, sign = value->dtype == SK_I8 ? 1U << (bits - 1) : 0;

	for (uint64_t i = 0; i < elements; i++) {
		unsigned number = packed[i / each] >> (i % each * bits) & ((1U << bits) - 1);

		contents[i] = (uint8_t)((number ^ sign) - sign);
	}
	value->contents = contents;
}

/* ---- uses ---- */

/* True if the operator reads the numbers of that input, whatever type they are stored in. */
static bool reads_numbers(const struct sk_graph_node *node, size_t input)
{
	if (!strcmp(node->op, "DequantizeLinear"))
		return input == 0 || input == 2;
	if (!strcmp(node->op, "GatherBlockQuantized"))
		return input == 0 || input == 3;
	return input == 0 && (!strcmp(node->op, "Cast") || !strcmp(node->op, "CastLike"));
}

/* Return the value that an input of a node is, in this graph or in one that encloses it. */
static const struct sk_value *find(const struct sk_op_graph *graph, uint32_t index)
{
	const struct sk_value *value = &graph->values.items[index];

	while (value->node == SK_NONE && !value->contents && !value->input && graph->outer) {
		graph = graph->outer;
		index = sk_map_find(&graph->value_names, value->name, strlen(value->name));
		if (index == SK_NONE)
			break;
		value = &graph->values.items[index];
	}
	return value;
}

static void check_node(struct sk_op_graph *graph, const struct sk_graph_node *node)
{
	for (size_t i = 0; i < node->inputs.count; i++) {
		const struct sk_value *value =
			node->inputs.items[i] == SK_NONE ? NULL : find(graph, node->inputs.items[i]);

		if (value && value->bits && !reads_numbers(node, i))
			sk_node_error(graph, node,
				      "'%s' has elements of %u bits, which only DequantizeLinear, Cast and "
				      "GatherBlockQuantized can read",
				      value->name, value->bits);
	}
	for (size_t i = 0; i < node->graphs.count; i++)
		sk_onnx_check_narrow(node->graphs.items[i].graph);
}

void sk_onnx_check_narrow(struct sk_op_graph *graph)
{
	for (size_t i = 0; i < graph->nodes.count; i++)
		check_node(graph, &graph->nodes.items[i]);
	for (size_t i = 0; i < graph->outputs.count; i++) {
		const struct sk_value *value = find(graph, graph->outputs.items[i]);

		if (value->bits)
			sk_error(graph->diag, value->place, "output '%s' has elements of %u bits, which no tensor has",
				 value->name, value->bits);
	}
}
