/* Collective operators (domain "sklink"), which the ranks of a group compute together, and those of com.microsoft.
 *
 * Ranks only exchange bytes; kernels compute. A large reduction whose elements are a multiple of the ranks is an
 * all-to-all exchange, a fold of the parts in the order of the ranks, and an all-gather; otherwise an all-gather of
 * everything, and a fold. So all ranks have the same bits, whatever moves the bytes. */
#include "graph/operators/operators.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/ranges.h"
#include "base/text.h"
#include "format/exchange.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "format/skranks.h"
#include "graph/graph.h"

#define MICROSOFT "com.microsoft"

enum { AT_ONCE_BYTES = 32768 }; /* of all ranks, for one exchange of everything instead of two of parts */

/* ---- groups ---- */

static const struct sk_rank_groups *groups_of(const struct sk_op_graph *graph)
{
	while (!graph->groups && graph->outer)
		graph = graph->outer;
	return graph->groups;
}

/* Names of the group of all ranks in other systems. */
static bool is_world(const char *name)
{
	return !strcmp(name, "hccl_world_group") || !strcmp(name, "nccl_world_group") || !*name;
}

/* Return the node's group; NULL: *why has the reason. */
static const struct sk_rank_group *find_group(const struct sk_op_graph *graph, const struct sk_graph_node *node,
					      const char **why)
{
	const struct sk_rank_groups *groups = groups_of(graph);
	const char *name = sk_node_string(node, "group", ""), *known = "";

	*why = "it is for several ranks; --ranks N, or 'ranks' of a manifest, says how many run the package";
	if (!groups || !groups->ranks)
		return NULL;
	if (is_world(name))
		return &groups->items[0];
	for (uint32_t i = 0; i < groups->count; i++) {
		if (!strcmp(groups->items[i].name, name))
			return &groups->items[i];
		known = sk_arena_print(graph->arena, "%s%s'%s'", known, i ? ", " : "", groups->items[i].name);
	}
	*why = sk_arena_print(graph->arena,
			      "there is no group '%s', but %s; --group '%s=0,1/2,3', or 'groups' of a manifest, says "
			      "which ranks exchange data with one another",
			      name, known, name);
	return NULL;
}

/* com.microsoft has groups of one rank by default. Elsewhere 0 says that the node leaves the number open. */
static int64_t default_ranks(const char *attribute)
{
	return !strcmp(attribute, "group_size") ? 1 : 0;
}

/* Find the number of ranks that take part. Nodes may say it, also in a link without ranks, which then cannot compute
 * them. */
static bool infer_ranks(const struct sk_inference *inference, const char *attribute, uint64_t *ranks)
{
	int64_t said = sk_node_integer(inference->node, attribute, default_ranks(attribute));
	const char *why;
	const struct sk_rank_group *group = find_group(inference->graph, inference->node, &why);

	if (!group && said > 0) {
		*ranks = (uint64_t)said;
		return true;
	}
	if (!group)
		return sk_infer_error(inference, "%s", why);
	*ranks = group->size;
	return !said || said == (int64_t)group->size ||
	       sk_infer_error(inference, "'%s' is %" PRId64 ", but group '%s' has %" PRIu32 " ranks", attribute, said,
			      group->name, group->size);
}

/* ---- inference ---- */

/* Outputs are the results of the inputs with their numbers. */
static bool has_inputs(const struct sk_inference *inference)
{
	return inference->node->outputs.count <= inference->node->inputs.count ||
	       sk_infer_error(inference, "it has more outputs than inputs");
}

static bool infer_like_inputs(struct sk_inference *inference)
{
	bool inferred = has_inputs(inference);

	for (size_t i = 0; i < inference->node->inputs.count && inferred; i++)
		inferred = i >= inference->node->outputs.count || sk_infer_like(inference, i, i);
	return inferred;
}

/* Each rank has a part, and all get the parts one after the other. */
static bool infer_gathered(struct sk_inference *inference, const char *attribute, int64_t axis)
{
	uint64_t ranks;

	if (!has_inputs(inference) || !infer_ranks(inference, attribute, &ranks))
		return false;
	for (size_t i = 0; i < inference->node->inputs.count && i < inference->node->outputs.count; i++) {
		const struct sk_value *from = sk_infer_input(inference, i);
		uint64_t shape[SK_MAX_RANK];
		uint32_t along;

		memcpy(shape, from->shape, sizeof(shape));
		if (!from->rank)
			return sk_infer_error(inference, "'%s' has no dimensions", from->name);
		if (!sk_infer_axis(inference, axis, from->rank, &along))
			return false;
		if (!sk_mul(shape[along], ranks, &shape[along]))
			return sk_infer_error(inference, "'%s' cannot be gathered from %" PRIu64 " ranks", from->name,
					      ranks);
		if (!sk_infer_output(inference, i, from->dtype, from->rank, shape))
			return false;
	}
	return true;
}

static bool infer_all_gather(struct sk_inference *inference)
{
	return infer_gathered(inference, "rank_size", 0);
}

static bool infer_microsoft_gather(struct sk_inference *inference)
{
	return infer_gathered(inference, "group_size", sk_node_integer(inference->node, "axis", 1));
}

static bool infer_reduce_scatter(struct sk_inference *inference)
{
	const struct sk_value *from = sk_infer_input(inference, 0);
	uint64_t shape[SK_MAX_RANK], ranks;

	if (!infer_ranks(inference, "rank_size", &ranks))
		return false;
	memcpy(shape, from->shape, sizeof(shape));
	if (!from->rank || shape[0] % ranks)
		return sk_infer_error(inference, "'%s' is %s, which cannot be divided among %" PRIu64 " ranks",
				      from->name, sk_value_shape_text(inference->graph->arena, from), ranks);
	shape[0] /= ranks;
	return sk_infer_output(inference, 0, from->dtype, from->rank, shape);
}

/* An exchange of parts along one axis, which are put together along another one. */
struct parts {
	uint64_t ranks;
	uint32_t split, join; /* axes */
};

static bool read_parts(const struct sk_inference *inference, struct parts *parts)
{
	const struct sk_value *from = sk_infer_input(inference, 0);
	bool microsoft = !strcmp(inference->node->domain, MICROSOFT);

	if (!infer_ranks(inference, microsoft ? "group_size" : "split_count", &parts->ranks))
		return false;
	if (!from->rank)
		return sk_infer_error(inference, "'%s' has no dimensions", from->name);
	if (!sk_infer_axis(inference, sk_node_integer(inference->node, "split_dim", 0), from->rank, &parts->split) ||
	    !sk_infer_axis(inference, sk_node_integer(inference->node, "concat_dim", 0), from->rank, &parts->join))
		return false;
	return !(from->shape[parts->split] % parts->ranks) ||
	       sk_infer_error(inference,
			      "dimension %" PRIu32 " of '%s', %" PRIu64 ", cannot be divided among %" PRIu64 " ranks",
			      parts->split, from->name, from->shape[parts->split], parts->ranks);
}

static bool infer_all_to_all(struct sk_inference *inference)
{
	const struct sk_value *from = sk_infer_input(inference, 0);
	uint64_t shape[SK_MAX_RANK];
	struct parts parts;

	if (!read_parts(inference, &parts))
		return false;
	memcpy(shape, from->shape, sizeof(shape));
	shape[parts.split] /= parts.ranks;
	if (!sk_mul(shape[parts.join], parts.ranks, &shape[parts.join]))
		return sk_infer_error(inference, "'%s' cannot be gathered from %" PRIu64 " ranks", from->name,
				      parts.ranks);
	return sk_infer_output(inference, 0, from->dtype, from->rank, shape);
}

/* Counts and places of parts are lists of as many equal numbers, and of their multiples. */
static bool has_equal_parts(const struct sk_inference *inference, const char *counts, const char *places,
			    uint64_t elements)
{
	size_t count, placed;
	const int64_t *sizes = sk_node_integers(inference->node, counts, &count),
		      *starts = sk_node_integers(inference->node, places, &placed);
	bool equal = count && count == placed && elements % count == 0;

	for (size_t i = 0; i < count && equal; i++)
		equal = sizes[i] == (int64_t)(elements / count) && starts[i] == (int64_t)(i * (elements / count));
	return equal || sk_infer_error(inference,
				       "'%s' and '%s' are not those of equal parts, one after the other, which alone "
				       "are supported",
				       counts, places);
}

static bool infer_equal_parts(struct sk_inference *inference)
{
	uint64_t elements = sk_value_elements(sk_infer_input(inference, 0));

	return has_equal_parts(inference, "send_counts", "send_displacements", elements) &&
	       has_equal_parts(inference, "recv_counts", "recv_displacements", elements) &&
	       sk_infer_like(inference, 0, 0);
}

/* Rows of any number of dimensions times a matrix. */
static bool infer_product(struct sk_inference *inference)
{
	const struct sk_value *a = sk_infer_input(inference, 0), *b = sk_infer_input(inference, 1);
	uint64_t shape[SK_MAX_RANK];

	if (a->rank < 2 || b->rank != 2 || a->shape[a->rank - 1] != b->shape[0])
		return sk_infer_error(inference, "'%s' and '%s' are not rows and a matrix that can be multiplied",
				      a->name, b->name);
	memcpy(shape, a->shape, sizeof(shape));
	shape[a->rank - 1] = b->shape[1];
	return sk_infer_same_types(inference, 0, 1) && sk_infer_output(inference, 0, a->dtype, a->rank, shape);
}

/* ---- calls ---- */

/* A node with its group, as it becomes calls. */
struct collective {
	struct sk_canonical *canonical;
	const struct sk_rank_group *group;
	uint64_t ranks; /* of the group */
	const char *op; /* its name in the model */
};

static const struct sk_graph_node *node_of(const struct sk_canonical *canonical)
{
	return &canonical->graph->nodes.items[canonical->node];
}

static bool begin(struct sk_canonical *canonical, const char *attribute, struct collective *collective)
{
	const struct sk_op_graph *graph = canonical->graph;
	const struct sk_graph_node *node = node_of(canonical);
	const char *why;
	int64_t said = attribute ? sk_node_integer(node, attribute, default_ranks(attribute)) : 0;

	*collective = (struct collective){.canonical = canonical,
					  .group = find_group(graph, node, &why),
					  .op = node->origin ? node->origin : node->op};
	if (!collective->group)
		return sk_canonical_error(canonical, "%s", why);
	if (graph->sizes)
		return sk_canonical_error(canonical, "sizes with bounds are not supported for the exchange of data "
						     "between ranks yet; give the dimensions numbers");
	if (said && said != (int64_t)collective->group->size)
		return sk_canonical_error(canonical, "'%s' is %" PRId64 ", but group '%s' has %" PRIu32 " ranks",
					  attribute, said, collective->group->name, collective->group->size);
	collective->ranks = collective->group->size;
	return true;
}

static const struct sk_value *value_at(const struct collective *collective, uint32_t value)
{
	return &collective->canonical->graph->values.items[value];
}

static uint64_t elements_of(const struct collective *collective, uint32_t value)
{
	return sk_value_elements(value_at(collective, value));
}

/* Return a new value for the parts of the ranks, of so many elements each. */
static uint32_t new_parts(const struct collective *collective, uint32_t like, uint64_t elements)
{
	struct sk_op_graph *graph = collective->canonical->graph;
	const struct sk_value from = graph->values.items[like];

	return sk_graph_new_value(graph, from.name, from.dtype, 2, (uint64_t[]){collective->ranks, elements});
}

static void add_exchange(const struct collective *collective, enum sk_exchange_kind kind, uint32_t root, uint32_t peer,
			 uint32_t from, uint32_t to)
{
	struct sk_canonical *canonical = collective->canonical;
	const struct sk_op_graph *graph = canonical->graph;
	struct sk_exchange *exchange = SK_NEW(graph->arena, struct sk_exchange);
	struct sk_graph_call *call = sk_canonical_call(canonical, "Exchange");

	*exchange = (struct sk_exchange){.kind = kind,
					 .group = (uint32_t)(collective->group - groups_of(graph)->items),
					 .root = root,
					 .peer = peer,
					 .op = collective->op};
	call->exchange = exchange;
	sk_call_input(canonical, call, sk_operand_flat(graph, from));
	sk_call_output(canonical, call, sk_operand_flat(graph, to));
}

/* to = the parts as one, in the order of the ranks. */
static void add_fold(const struct collective *collective, const char *reduction, uint32_t parts, uint32_t to)
{
	struct sk_canonical *canonical = collective->canonical;
	const struct sk_op_graph *graph = canonical->graph;
	bool sum = !strcmp(reduction, "sum");
	struct sk_graph_call *call = sk_canonical_call(canonical, sum ? "Sum" : "Fold");
	uint64_t elements = elements_of(collective, to);

	if (!sum)
		sk_call_word(canonical, call, "op", reduction);
	for (uint64_t i = 0; i < collective->ranks; i++) {
		struct sk_operand part = sk_operand_flat(graph, parts);

		part.shape[0] = elements;
		part.offset = i * elements;
		sk_call_input(canonical, call, part);
	}
	sk_call_output(canonical, call, sk_operand_flat(graph, to));
}

/* Return the node's reduction; NULL after an error. */
static const char *read_reduction(const struct sk_canonical *canonical, const struct sk_value *value)
{
	static const char *const known[] = {"sum", "max", "min", "prod"};
	const char *reduction = sk_node_string(node_of(canonical), "op", "sum");

	if (value->dtype == SK_BOOL) {
		sk_canonical_error(canonical, "'%s' is of type bool, which cannot be reduced", value->name);
		return NULL;
	}
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(reduction, known[i]))
			return known[i];
	sk_canonical_error(canonical, "the reduction '%s' is none of sum, max, min and prod", reduction);
	return NULL;
}

/* The parts of all ranks for this rank become one. */
static void add_scattered(const struct collective *collective, const char *reduction, uint32_t from, uint32_t to)
{
	uint32_t parts = new_parts(collective, from, elements_of(collective, to));

	add_exchange(collective, SK_EXCHANGE_ALL_TO_ALL, 0, 0, from, parts);
	add_fold(collective, reduction, parts, to);
}

static void add_reduced(const struct collective *collective, const char *reduction, uint32_t from, uint32_t to)
{
	uint64_t elements = elements_of(collective, from), ranks = collective->ranks;
	struct sk_op_graph *graph = collective->canonical->graph;
	const struct sk_value like = graph->values.items[from];
	uint32_t own, parts;

	if (elements % ranks || elements * ranks * sk_dtype_size(like.dtype) <= AT_ONCE_BYTES) {
		parts = new_parts(collective, from, elements);
		add_exchange(collective, SK_EXCHANGE_ALL_GATHER, 0, 0, from, parts);
		add_fold(collective, reduction, parts, to);
		return;
	}
	own = sk_graph_new_value(graph, like.name, like.dtype, 1, (uint64_t[]){elements / ranks});
	add_scattered(collective, reduction, from, own);
	add_exchange(collective, SK_EXCHANGE_ALL_GATHER, 0, 0, own, to);
}

/* Reduce all inputs to the same on all ranks: Reduce promises that only for its root. */
static bool canonical_all_reduce(struct sk_canonical *canonical)
{
	struct collective collective;

	if (!begin(canonical, NULL, &collective))
		return false;
	for (size_t i = 0; i < node_of(canonical)->outputs.count; i++) {
		uint32_t from = sk_canonical_input(canonical, i), to = sk_canonical_output(canonical, i);
		const char *reduction = read_reduction(canonical, value_at(&collective, from));

		if (!reduction)
			return false;
		if (to != SK_NONE && elements_of(&collective, from))
			add_reduced(&collective, reduction, from, to);
	}
	return true;
}

static bool canonical_reduce_scatter(struct sk_canonical *canonical)
{
	uint32_t from = sk_canonical_input(canonical, 0), to = sk_canonical_output(canonical, 0);
	struct collective collective;
	const char *reduction;

	if (!begin(canonical, "rank_size", &collective) ||
	    !(reduction = read_reduction(canonical, value_at(&collective, from))))
		return false;
	if (elements_of(&collective, from))
		add_scattered(&collective, reduction, from, to);
	return true;
}

/* Return the elements of the first `count` dimensions. */
static uint64_t outer_elements(const struct sk_value *value, uint32_t count)
{
	uint64_t elements = 1;

	for (uint32_t i = 0; i < count; i++)
		elements *= value->shape[i];
	return elements;
}

/* Put parts, which the ranks have sent, together along an axis of the result. */
static bool join_parts(const struct collective *collective, uint32_t parts, uint32_t to, uint32_t axis)
{
	const struct sk_op_graph *graph = collective->canonical->graph;
	uint64_t outer = outer_elements(value_at(collective, to), axis), ranks = collective->ranks;
	uint64_t part = elements_of(collective, to) / ranks;
	const struct sk_arrangement arrangement = {.rank = 3,
						   .shape = {outer, ranks, part / outer},
						   .strides = {(int64_t)(part / outer), (int64_t)part, 1}};

	return sk_canonical_arrange(collective->canonical, sk_operand_flat(graph, to), parts, &arrangement);
}

static bool add_gathered(const struct collective *collective, uint32_t from, uint32_t to, uint32_t axis)
{
	uint32_t parts = to;

	if (outer_elements(value_at(collective, from), axis) > 1)
		parts = new_parts(collective, from, elements_of(collective, from));
	add_exchange(collective, SK_EXCHANGE_ALL_GATHER, 0, 0, from, parts);
	return parts == to || join_parts(collective, parts, to, axis);
}

static bool canonical_gather(struct sk_canonical *canonical, const char *attribute, int64_t axis)
{
	struct collective collective;
	bool added = begin(canonical, attribute, &collective);

	for (size_t i = 0; i < node_of(canonical)->outputs.count && added; i++) {
		uint32_t from = sk_canonical_input(canonical, i), to = sk_canonical_output(canonical, i);
		int64_t rank = value_at(&collective, from)->rank;

		if (to != SK_NONE && elements_of(&collective, from))
			added = add_gathered(&collective, from, to, (uint32_t)(axis < 0 ? axis + rank : axis));
	}
	return added;
}

static bool canonical_all_gather(struct sk_canonical *canonical)
{
	return canonical_gather(canonical, "rank_size", 0);
}

static bool canonical_microsoft_gather(struct sk_canonical *canonical)
{
	return canonical_gather(canonical, "group_size", sk_node_integer(node_of(canonical), "axis", 1));
}

/* Return the value with the parts for the ranks one after the other: itself, or a copy. SK_NONE after an error. */
static uint32_t split_parts(const struct collective *collective, uint32_t from, uint32_t axis)
{
	const struct sk_value *value = value_at(collective, from);
	uint64_t outer = outer_elements(value, axis), all = elements_of(collective, from);
	uint64_t ranks = collective->ranks, row;
	uint32_t parts;

	if (outer == 1)
		return from;
	row = all / outer / ranks;
	parts = new_parts(collective, from, all / ranks);
	const struct sk_arrangement arrangement = {
		.rank = 3, .shape = {ranks, outer, row}, .strides = {(int64_t)row, (int64_t)(row * ranks), 1}};

	return sk_canonical_arrange(collective->canonical, sk_operand_flat(collective->canonical->graph, parts), from,
				    &arrangement)
		       ? parts
		       : SK_NONE;
}

static bool canonical_all_to_all(struct sk_canonical *canonical)
{
	const struct sk_inference inference = {canonical->graph, &canonical->graph->nodes.items[canonical->node]};
	uint32_t from = sk_canonical_input(canonical, 0), to = sk_canonical_output(canonical, 0), sent, received;
	struct collective collective;
	struct parts parts;

	if (!begin(canonical, NULL, &collective) || !read_parts(&inference, &parts))
		return false;
	if (!elements_of(&collective, from))
		return true;
	sent = split_parts(&collective, from, parts.split);
	if (sent == SK_NONE)
		return false;
	received = outer_elements(value_at(&collective, to), parts.join) == 1
			   ? to
			   : new_parts(&collective, from, elements_of(&collective, from) / collective.ranks);
	add_exchange(&collective, SK_EXCHANGE_ALL_TO_ALL, 0, 0, sent, received);
	return received == to || join_parts(&collective, received, to, parts.join);
}

static bool canonical_equal_parts(struct sk_canonical *canonical)
{
	uint32_t from = sk_canonical_input(canonical, 0), to = sk_canonical_output(canonical, 0);
	struct collective collective;
	size_t count;

	if (!begin(canonical, NULL, &collective))
		return false;
	sk_node_integers(node_of(canonical), "send_counts", &count);
	if (count != collective.ranks)
		return sk_canonical_error(canonical, "it has %zu parts, but group '%s' has %" PRIu64 " ranks", count,
					  collective.group->name, collective.ranks);
	if (elements_of(&collective, from))
		add_exchange(&collective, SK_EXCHANGE_ALL_TO_ALL, 0, 0, from, to);
	return true;
}

/* Return whether the attribute is the place of a rank in the group; false after an error. */
static bool read_member(const struct collective *collective, const char *attribute, uint32_t *member)
{
	int64_t said = sk_node_integer(node_of(collective->canonical), attribute, 0);

	*member = (uint32_t)said;
	return (said >= 0 && said < (int64_t)collective->ranks) ||
	       sk_canonical_error(collective->canonical, "'%s' is %" PRId64 ", but group '%s' has %" PRIu64 " ranks",
				  attribute, said, collective->group->name, collective->ranks);
}

static bool canonical_broadcast(struct sk_canonical *canonical)
{
	struct collective collective;
	uint32_t root;

	if (!begin(canonical, NULL, &collective) || !read_member(&collective, "root_rank", &root))
		return false;
	for (size_t i = 0; i < node_of(canonical)->outputs.count; i++) {
		uint32_t from = sk_canonical_input(canonical, i), to = sk_canonical_output(canonical, i);

		if (to != SK_NONE && elements_of(&collective, from))
			add_exchange(&collective, SK_EXCHANGE_BROADCAST, root, 0, from, to);
	}
	return true;
}

static bool canonical_send(struct sk_canonical *canonical)
{
	uint32_t from = sk_canonical_input(canonical, 0), to = sk_canonical_output(canonical, 0), root, peer;
	struct collective collective;

	if (!begin(canonical, NULL, &collective) || !read_member(&collective, "root_rank", &root) ||
	    !read_member(&collective, "dest_rank", &peer))
		return false;
	if (elements_of(&collective, from))
		add_exchange(&collective, SK_EXCHANGE_SEND, root, peer, from, to);
	return true;
}

/* A product, and its sum over the ranks. */
static bool canonical_product(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	uint32_t a = sk_canonical_input(canonical, 0), b = sk_canonical_input(canonical, 1);
	uint32_t to = sk_canonical_output(canonical, 0), product;
	const struct sk_value output = graph->values.items[to];
	uint64_t k = graph->values.items[b].shape[0], n = graph->values.items[b].shape[1];
	const char *reduction = read_reduction(canonical, &output);
	struct collective collective;

	if (!reduction || !begin(canonical, NULL, &collective))
		return false;
	if (!sk_value_elements(&output))
		return true;
	if (!k)
		return sk_canonical_fill(canonical, to, 0);
	product = sk_graph_new_value(graph, output.name, output.dtype, output.rank, output.shape);
	sk_canonical_product(canonical, a, b, product, 1, sk_value_elements(&output) / n, k, n);
	add_reduced(&collective, reduction, product, to);
	return true;
}

/* ---- the table ---- */

static const struct sk_schema_attribute collective[] = {{"group", SK_ATTRIBUTE_STRING, .string = "hccl_world_group"},
							{"op", SK_ATTRIBUTE_STRING, .string = "sum"},
							{NULL}};
static const struct sk_schema_attribute parted[] = {{"group", SK_ATTRIBUTE_STRING, .string = "hccl_world_group"},
						    {"op", SK_ATTRIBUTE_STRING, .string = "sum"},
						    {"rank_size", SK_ATTRIBUTE_INTEGER},
						    {NULL}};
static const struct sk_schema_attribute rooted[] = {{"group", SK_ATTRIBUTE_STRING, .string = "hccl_world_group"},
						    {"op", SK_ATTRIBUTE_STRING, .string = "sum"},
						    {"root_rank", SK_ATTRIBUTE_INTEGER},
						    {NULL}};
static const struct sk_schema_attribute sent[] = {{"dest_rank", SK_ATTRIBUTE_INTEGER},
						  {"group", SK_ATTRIBUTE_STRING, .string = "hccl_world_group"},
						  {"root_rank", SK_ATTRIBUTE_INTEGER},
						  {NULL}};
static const struct sk_schema_attribute exchanged[] = {{"concat_dim", SK_ATTRIBUTE_INTEGER},
						       {"group", SK_ATTRIBUTE_STRING, .string = "hccl_world_group"},
						       {"split_count", SK_ATTRIBUTE_INTEGER},
						       {"split_dim", SK_ATTRIBUTE_INTEGER},
						       {NULL}};
static const struct sk_schema_attribute counted[] = {
	{"group", SK_ATTRIBUTE_STRING, .string = "hccl_world_group"}, {"recv_counts", SK_ATTRIBUTE_INTEGERS, true},
	{"recv_displacements", SK_ATTRIBUTE_INTEGERS, true},	      {"send_counts", SK_ATTRIBUTE_INTEGERS, true},
	{"send_displacements", SK_ATTRIBUTE_INTEGERS, true},	      {NULL}};
static const struct sk_schema_attribute gathered[] = {
	{"axis", SK_ATTRIBUTE_INTEGER, .integer = 1}, {"group_size", SK_ATTRIBUTE_INTEGER, .integer = 1}, {NULL}};
static const struct sk_schema_attribute sized[] = {{"group_size", SK_ATTRIBUTE_INTEGER, .integer = 1}, {NULL}};

const struct sk_schema sk_operators_collectives[] = {
	{"AllGather", SK_OWN_DOMAIN, 1, 1, 1, 1, .attributes = parted, .infer = infer_all_gather,
	 .canonical = canonical_all_gather},
	{"AllReduce", SK_OWN_DOMAIN, 1, 1, 1, 1, .attributes = collective, .infer = infer_like_inputs,
	 .canonical = canonical_all_reduce},
	{"AllToAll", SK_OWN_DOMAIN, 1, 1, 1, 1, .attributes = exchanged, .infer = infer_all_to_all,
	 .canonical = canonical_all_to_all},
	{"AllToAllV", SK_OWN_DOMAIN, 1, 1, 1, 1, .attributes = counted, .infer = infer_equal_parts,
	 .canonical = canonical_equal_parts},
	{"Broadcast", SK_OWN_DOMAIN, 1, SK_VARIADIC, 1, SK_VARIADIC, .attributes = rooted, .infer = infer_like_inputs,
	 .canonical = canonical_broadcast},
	{"MatMulAllReduce", SK_OWN_DOMAIN, 2, 2, 1, 1, .attributes = collective, .infer = infer_product,
	 .canonical = canonical_product},
	{"Reduce", SK_OWN_DOMAIN, 1, 1, 1, 1, .attributes = rooted, .infer = infer_like_inputs,
	 .canonical = canonical_all_reduce},
	{"ReduceScatter", SK_OWN_DOMAIN, 1, 1, 1, 1, .attributes = parted, .infer = infer_reduce_scatter,
	 .canonical = canonical_reduce_scatter},
	{"Send", SK_OWN_DOMAIN, 1, 1, 1, 1, .attributes = sent, .infer = infer_like_inputs,
	 .canonical = canonical_send},
	{"AllGather", MICROSOFT, 1, SK_VARIADIC, 1, SK_VARIADIC, .attributes = gathered,
	 .infer = infer_microsoft_gather, .canonical = canonical_microsoft_gather},
	{"AllReduce", MICROSOFT, 1, SK_VARIADIC, 1, SK_VARIADIC, .infer = infer_like_inputs,
	 .canonical = canonical_all_reduce},
	{"AllToAll", MICROSOFT, 1, 1, 1, 1, .attributes = sized, .infer = infer_all_to_all,
	 .canonical = canonical_all_to_all},
	{NULL},
};
