/* Elementwise operators of the domain "sklink", which ONNX would compose of several: each has a kernel of its own. */
#include <string.h>

#include "src/fusion/operators/families.h"

static bool check_types(const struct sk_inference *inference)
{
	const struct sk_value *first = sk_infer_input(inference, 0);

	for (size_t i = 1; i < inference->node->inputs.count; i++) {
		const struct sk_value *value = sk_infer_input(inference, i);

		if (value && value->dtype != first->dtype)
			return sk_infer_error(inference, "'%s' is %s, and '%s' is %s", first->name,
					      sk_dtype_name(first->dtype), value->name, sk_dtype_name(value->dtype));
	}
	return true;
}

/* The output has the common shape of the inputs. */
static bool infer_composite(struct sk_inference *inference)
{
	const struct sk_value *first = sk_infer_input(inference, 0);
	uint64_t shape[SK_MAX_RANK];
	uint32_t rank = first->rank;

	memcpy(shape, first->shape, sizeof(shape));
	for (size_t i = 1; i < inference->node->inputs.count; i++) {
		const struct sk_value *value = sk_infer_input(inference, i);

		if (!sk_infer_broadcast(inference, &rank, shape, value->rank, value->shape))
			return false;
	}
	return check_types(inference) && sk_infer_output(inference, 0, first->dtype, rank, shape);
}

static bool canonical_composite(struct sk_canonical *canonical)
{
	const struct sk_graph_node *node = &canonical->graph->nodes.items[canonical->node];

	if (!sk_canonical_broadcast(canonical, node->op, node->inputs.items, node->inputs.count,
				    sk_canonical_output(canonical, 0)))
		return false;
	sk_call_attributes(canonical, &canonical->calls->items[canonical->calls->count - 1]);
	return true;
}

/* ---- the table ---- */

#define COMPOSITE(NAME, INPUTS, ATTRIBUTES)                                                                            \
	{                                                                                                              \
		NAME, SK_OWN_DOMAIN, INPUTS, INPUTS, 1, 1, .attributes = ATTRIBUTES, .infer = infer_composite,         \
							   .canonical = canonical_composite                            \
	}

const struct sk_schema sk_operators_composites[] = {
	COMPOSITE("SqrtGrad", 2, NULL),
	{NULL},
};
