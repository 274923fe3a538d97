/* Operators known only to kernels, "kernel:NAME", in nodes that rules make. Only the kernel knows the computation:
 * types and shapes come from the replaced pattern, and the call is the node as it is. */
#include "graph/operators/operators.h"

#include "graph/graph.h"

static bool infer_kernel(struct sk_inference *inference)
{
	for (size_t i = 0; i < inference->node->outputs.count; i++) {
		const struct sk_value *value = sk_node_output(inference->graph, inference->node, i);

		if (!value || !sk_value_is_static(value))
			return sk_infer_error(inference,
					      "only the kernel knows its outputs, and the model does not give type and "
					      "shape of output %zu",
					      i);
	}
	return true;
}

static struct sk_operand operand_of(const struct sk_canonical *canonical, uint32_t value)
{
	const struct sk_value *of = &canonical->graph->values.items[value];

	return sk_operand_shaped(canonical->graph, value, of->rank, of->shape);
}

static bool canonical_kernel(struct sk_canonical *canonical)
{
	const struct sk_graph_node node = canonical->graph->nodes.items[canonical->node];
	struct sk_graph_call *call = sk_canonical_call(canonical, node.op);

	for (size_t i = 0; i < node.inputs.count; i++)
		sk_call_input(canonical, call, operand_of(canonical, node.inputs.items[i]));
	for (size_t i = 0; i < node.outputs.count; i++)
		sk_call_output(canonical, call, operand_of(canonical, node.outputs.items[i]));
	return true;
}

const struct sk_schema sk_operators_kernels[] = {
	{"", SK_KERNEL_DOMAIN, 1, SK_VARIADIC, 1, SK_VARIADIC, .infer = infer_kernel, .canonical = canonical_kernel},
	{NULL},
};
