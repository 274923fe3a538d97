/* Collective operators (domain "sklink"), which several devices compute together. Models with them can be read, and
 * rules find their patterns. Communication is not implemented, so none of them becomes a call. */
#include "graph/operators/operators.h"

#include "format/signature/signature.h"
#include "graph/graph.h"

static bool infer_all_reduce(struct sk_inference *inference)
{
	return sk_infer_like(inference, 0, 0);
}

static bool infer_product(struct sk_inference *inference)
{
	const struct sk_value *a = sk_infer_input(inference, 0), *b = sk_infer_input(inference, 1);
	const uint64_t shape[2] = {a->shape[0], b->rank == 2 ? b->shape[1] : 0};

	if (a->rank != 2 || b->rank != 2 || a->shape[1] != b->shape[0])
		return sk_infer_error(inference, "'%s' and '%s' are not matrices that can be multiplied", a->name,
				      b->name);
	return sk_infer_same_types(inference, 0, 1) && sk_infer_output(inference, 0, a->dtype, 2, shape);
}

static bool canonical_collective(struct sk_canonical *canonical)
{
	return sk_canonical_error(canonical, "collective operators are not there yet");
}

static const struct sk_schema_attribute collective[] = {{"group", SK_ATTRIBUTE_STRING, .string = "hccl_world_group"},
							{"op", SK_ATTRIBUTE_STRING, .string = "sum"},
							{NULL}};

const struct sk_schema sk_operators_collectives[] = {
	{"AllReduce", SK_OWN_DOMAIN, 1, 1, 1, 1, .attributes = collective, .infer = infer_all_reduce,
	 .canonical = canonical_collective},
	{"MatMulAllReduce", SK_OWN_DOMAIN, 2, 2, 1, 1, .attributes = collective, .infer = infer_product,
	 .canonical = canonical_collective},
	{NULL},
};
