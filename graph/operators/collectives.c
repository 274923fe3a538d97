/* Collective operators (domain "sklink"), which several devices compute together. Models with them can be read, and
 * rules find their patterns. Communication is not implemented, so none of them becomes a call. */
#include "graph/operators/operators.h"

#include <string.h>

#include "base/ranges.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"

static bool infer_all_reduce(struct sk_inference *inference)
{
	return sk_infer_like(inference, 0, 0);
}

/* Each device has a part, and all get the parts one after the other. */
static bool infer_all_gather(struct sk_inference *inference)
{
	const struct sk_value *from = sk_infer_input(inference, 0);
	int64_t devices = sk_node_integer(inference->node, "rank_size", 0);
	uint64_t shape[SK_MAX_RANK];

	memcpy(shape, from->shape, sizeof(shape));
	if (devices < 1 || !from->rank || !sk_mul(shape[0], (uint64_t)devices, &shape[0]))
		return sk_infer_error(inference, "'%s' cannot be gathered from %lld devices", from->name,
				      (long long)devices);
	return sk_infer_output(inference, 0, from->dtype, from->rank, shape);
}

static bool infer_reduce_scatter(struct sk_inference *inference)
{
	const struct sk_value *from = sk_infer_input(inference, 0);
	int64_t devices = sk_node_integer(inference->node, "rank_size", 0);
	uint64_t shape[SK_MAX_RANK];

	memcpy(shape, from->shape, sizeof(shape));
	if (devices < 1 || !from->rank || shape[0] % (uint64_t)devices)
		return sk_infer_error(inference, "'%s' cannot be divided among %lld devices", from->name,
				      (long long)devices);
	shape[0] /= (uint64_t)devices;
	return sk_infer_output(inference, 0, from->dtype, from->rank, shape);
}

static bool infer_broadcast(struct sk_inference *inference)
{
	bool inferred = true;

	for (size_t i = 0; i < inference->node->inputs.count && inferred; i++)
		inferred = i >= inference->node->outputs.count || sk_infer_like(inference, i, i);
	return inferred;
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

static const struct sk_schema_attribute parted[] = {{"group", SK_ATTRIBUTE_STRING, .string = "hccl_world_group"},
						    {"op", SK_ATTRIBUTE_STRING, .string = "sum"},
						    {"rank_size", SK_ATTRIBUTE_INTEGER, true},
						    {NULL}};
static const struct sk_schema_attribute rooted[] = {{"group", SK_ATTRIBUTE_STRING, .string = "hccl_world_group"},
						    {"op", SK_ATTRIBUTE_STRING, .string = "sum"},
						    {"root_rank", SK_ATTRIBUTE_INTEGER},
						    {NULL}};

const struct sk_schema sk_operators_collectives[] = {
	{"AllGather", SK_OWN_DOMAIN, 1, 1, 1, 1, .attributes = parted, .infer = infer_all_gather,
	 .canonical = canonical_collective},
	{"AllReduce", SK_OWN_DOMAIN, 1, 1, 1, 1, .attributes = collective, .infer = infer_all_reduce,
	 .canonical = canonical_collective},
	{"Broadcast", SK_OWN_DOMAIN, 1, SK_VARIADIC, 1, SK_VARIADIC, .attributes = rooted, .infer = infer_broadcast,
	 .canonical = canonical_collective},
	{"MatMulAllReduce", SK_OWN_DOMAIN, 2, 2, 1, 1, .attributes = collective, .infer = infer_product,
	 .canonical = canonical_collective},
	{"Reduce", SK_OWN_DOMAIN, 1, 1, 1, 1, .attributes = rooted, .infer = infer_all_reduce,
	 .canonical = canonical_collective},
	{"ReduceScatter", SK_OWN_DOMAIN, 1, 1, 1, 1, .attributes = parted, .infer = infer_reduce_scatter,
	 .canonical = canonical_collective},
	{NULL},
};
