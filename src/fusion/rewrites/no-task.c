/* FusionVirtualOpSetSwitch: which nodes that split and join may do so without a task, their parts being slices of one
 * buffer. For `ascend` these are the rules of CANN's switch of that name (split_n, split_c_to_n and their counterparts
 * for Concat), which ask what the nodes around one are, in what formats, and what GE has noted about them; what GE has
 * not noted is as sklink has it: every format is ND, and a node with a kernel has the implementation type 1. Elsewhere
 * parts may be slices wherever that is sound, which is known when nodes are calls (src/fusion/passes/slices.c). */
#include <inttypes.h>
#include <string.h>

#include "src/fusion/rewrites/rewrites.h"
#include "src/fusion/uses.h"

struct rules {
	struct sk_op_graph *graph;
	struct sk_uses uses;
};

/* ---- what stands around a node ---- */

/* NULL: it is an input or a constant. */
static const struct sk_graph_node *producer_of(const struct rules *rules, uint32_t value)
{
	uint32_t node = value == SK_NONE ? SK_NONE : rules->graph->values.items[value].node;

	return node == SK_NONE ? NULL : &rules->graph->nodes.items[node];
}

static bool is_constant(const struct rules *rules, uint32_t value)
{
	return rules->graph->values.items[value].contents || rules->graph->values.items[value].fixed;
}

static const char *name_of(const struct rules *rules, const struct sk_graph_node *node)
{
	return sk_node_name(rules->graph, node);
}

/* ---- what GE calls things ---- */

/* "SplitD": as the source has it. */
static const char *type_of(const struct sk_graph_node *node)
{
	const char *colon = node->origin ? strrchr(node->origin, ':') : NULL;

	return colon ? colon + 1 : node->op;
}

static bool is_one_of(const struct sk_graph_node *node, const char *const *types)
{
	const char *type = type_of(node);

	for (; *types; types++)
		if (!strcmp(type, *types))
			return true;
	return false;
}

/* It only gives bytes another shape, and no kernel does that. */
static bool is_shape_of(const struct sk_graph_node *node)
{
	static const char *const ops[] = {"Reshape", "Flatten", "Identity", "Squeeze", "Unsqueeze", NULL};

	return sk_node_is_one_of(node, ops);
}

static bool has_atomic_outputs(const struct sk_graph_node *node)
{
	const struct sk_attribute *note = sk_node_note(node, "atomic_output_index");

	return note && (note->kind != SK_ATTRIBUTE_INTEGERS || note->count);
}

static bool is_without_task(const struct sk_graph_node *node)
{
	return node->slices >= SK_SLICES_ALL || sk_node_note_integer(node, "_no_task", 0);
}

/* ---- memory ---- */

enum { MEMORY_L1 = 65536, MEMORY_L2 = 131072, MEMORY_UB = 262144 };

static bool has_memory(const struct sk_graph_node *node, const char *name, int64_t type)
{
	const struct sk_attribute *note = sk_node_note(node, name);

	for (size_t i = 0; note && note->kind == SK_ATTRIBUTE_INTEGERS && i < note->count; i++)
		if (note->integers[i] == type)
			return true;
	return false;
}

/* Memory that a core has for itself. */
static const char *check_memory(const struct rules *rules, const struct sk_graph_node *node)
{
	static const char *const sides[] = {"_input_memory_type", "_output_memory_type"};
	static const int64_t types[] = {MEMORY_L1, MEMORY_L2};

	for (size_t s = 0; s < 2; s++)
		for (size_t t = 0; t < 2; t++)
			if (has_memory(node, sides[s], types[t]))
				return sk_arena_print(rules->graph->arena,
						      "'%s' of '%s' has %" PRId64 ", which is L%zu", sides[s],
						      name_of(rules, node), types[t], t + 1);
	return NULL;
}

/* ---- formats and shapes ---- */

/* One tensor of a node, as GE tells of it. */
struct description {
	const char *format, *origin_format, *dtype;
	uint64_t origin_shape[SK_MAX_RANK];
	size_t rank; /* of that; more than SK_MAX_RANK: it is none that sklink knows */
};

static const struct sk_attribute *describe_field(const struct rules *rules, const struct sk_graph_node *node,
						 const char *side, const char *field, size_t number)
{
	return sk_node_note(node, sk_arena_print(rules->graph->arena, "%s_desc_%s:%zu", side, field, number));
}

static const char *describe_text(const struct rules *rules, const struct sk_graph_node *node, const char *side,
				 const char *field, size_t number, const char *otherwise)
{
	const struct sk_attribute *note = describe_field(rules, node, side, field, number);

	return note && note->kind == SK_ATTRIBUTE_STRING ? note->string : otherwise;
}

static struct description describe(const struct rules *rules, const struct sk_graph_node *node, bool input,
				   size_t number)
{
	const char *side = input ? "input" : "output";
	const struct sk_value *value =
		input ? sk_node_input(rules->graph, node, number) : sk_node_output(rules->graph, node, number);
	const struct sk_attribute *shape = describe_field(rules, node, side, "origin_shape", number);
	struct description description = {.rank = value->rank};

	description.format = describe_text(rules, node, side, "layout", number, "ND");
	description.origin_format = describe_text(rules, node, side, "origin_layout", number, description.format);
	description.dtype = describe_text(rules, node, side, "dtype", number,
					  value->dtype == SK_F16  ? "DT_FLOAT16"
					  : value->dtype == SK_I8 ? "DT_INT8"
								  : "");
	memcpy(description.origin_shape, value->shape, sizeof(description.origin_shape));
	if (!shape || shape->kind != SK_ATTRIBUTE_INTEGERS)
		return description;
	description.rank = shape->count;
	for (size_t i = 0; i < shape->count && i < SK_MAX_RANK; i++)
		description.origin_shape[i] = (uint64_t)shape->integers[i];
	return description;
}

/* As many elements of the C axis as a block of NC1HWC0 has; 0: the type has no such blocks. */
static uint64_t block_of(const char *dtype)
{
	static const struct {
		const char *dtype;
		uint64_t elements;
	} blocks[] = {{"DT_FLOAT16", 16}, {"DT_INT8", 32}, {"DT_INT4", 64}};

	for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++)
		if (!strcmp(dtype, blocks[i].dtype))
			return blocks[i].elements;
	return 0;
}

/* The C axis of NC1HWC0 is made of blocks, and parts of one lie in the same bytes as others. */
static const char *check_blocks(const struct rules *rules, const struct sk_graph_node *node, bool input, size_t number)
{
	const struct description part = describe(rules, node, input, number);
	uint64_t block = block_of(part.dtype), channels = part.rank > 1 ? part.origin_shape[1] : 0;

	if (block && channels % block == 0)
		return NULL;
	return sk_arena_print(rules->graph->arena,
			      block ? "%s %zu has %" PRIu64 " channels, which is no multiple of %" PRIu64
				    : "%s %zu is of a type that NC1HWC0 has no blocks of",
			      input ? "input" : "output", number, channels, block);
}

/* ---- split ---- */

static const char *check_split_producer(const struct rules *rules, const struct sk_graph_node *node)
{
	uint32_t value = node->inputs.items[0];
	const struct sk_graph_node *producer = producer_of(rules, value), *before;
	struct sk_arena *arena = rules->graph->arena;

	if (is_constant(rules, value))
		return sk_arena_print(arena, "'%s' is a constant", rules->graph->values.items[value].name);
	if (!producer)
		return NULL;
	before = producer->inputs.count ? producer_of(rules, producer->inputs.items[0]) : NULL;
	if ((!strcmp(type_of(producer), "TransData") || !strcmp(type_of(producer), "Reshape")) && !before &&
	    producer->inputs.count && !is_constant(rules, producer->inputs.items[0]))
		return sk_arena_print(arena, "'%s' is a %s of an input of the network", name_of(rules, producer),
				      type_of(producer));
	if (is_without_task(producer))
		return sk_arena_print(arena, "'%s' has no task itself", name_of(rules, producer));
	if (has_atomic_outputs(producer))
		return sk_arena_print(arena, "'%s' has an 'atomic_output_index'", name_of(rules, producer));
	return NULL;
}

static const char *check_consumer(const struct rules *rules, const struct sk_graph_node *user)
{
	static const char *const refused[] = {
		"NetOutput",  "HcomBroadcast", "HcomAllGather", "HcomAllReduce", "HcomReduceScatter",
		"HcomReduce", "SplitD",	       "SplitVD",	"Split",	 NULL};
	struct sk_arena *arena = rules->graph->arena;
	int64_t implementation = sk_node_note_integer(user, "imply_type", is_shape_of(user) ? 0 : 1);
	const struct sk_attribute *virtual = sk_node_note(user, "_fusion_virtual_op");
	const char *name = name_of(rules, user);

	if (is_one_of(user, refused))
		return sk_arena_print(arena, "'%s' takes an output and is a %s", name, type_of(user));
	if (is_without_task(user))
		return sk_arena_print(arena, "'%s' takes an output and has no task itself", name);
	if (implementation != 1)
		return sk_arena_print(arena, "'%s' takes an output, and its 'imply_type' is %" PRId64 ", not 1", name,
				      implementation);
	if (virtual && virtual->kind == SK_ATTRIBUTE_STRING && *virtual->string)
		return sk_arena_print(arena, "'%s' takes an output and has a '_fusion_virtual_op'", name);
	if (sk_node_note_integer(user, "continuous_input", 0))
		return sk_arena_print(arena, "'%s' takes an output and wants its inputs one behind the other", name);
	if (has_atomic_outputs(user))
		return sk_arena_print(arena, "'%s' takes an output and has an 'atomic_output_index'", name);
	return NULL;
}

static const char *check_consumers(const struct rules *rules, const struct sk_graph_node *node)
{
	for (size_t i = 0; i < node->outputs.count; i++) {
		uint32_t value = node->outputs.items[i];

		if (value == SK_NONE)
			continue;
		if (rules->graph->values.items[value].output)
			return sk_arena_print(rules->graph->arena, "'%s' is an output of the network",
					      rules->graph->values.items[value].name);
		for (uint32_t u = rules->uses.starts[value]; u < rules->uses.starts[value + 1]; u++) {
			const char *reason =
				check_consumer(rules, &rules->graph->nodes.items[rules->uses.items[u].node]);

			if (reason)
				return reason;
		}
	}
	return NULL;
}

/* Whoever made the graph may have been wrong. */
static const char *check_sizes(const struct rules *rules, const struct sk_graph_node *node)
{
	uint64_t whole = sk_value_elements(sk_node_input(rules->graph, node, 0)), sum = 0;

	for (size_t i = 0; i < node->outputs.count; i++) {
		const struct sk_value *part = sk_node_output(rules->graph, node, i);

		if (!part) /* what inference has seen adds up */
			return NULL;
		sum += sk_value_elements(part);
	}
	return sum == whole
		       ? NULL
		       : sk_arena_print(rules->graph->arena,
					"the outputs have %" PRIu64 " elements together, and the input has %" PRIu64,
					sum, whole);
}

static int64_t split_axis(const struct sk_graph_node *node, const struct description *input)
{
	int64_t axis = sk_node_integer(node, "axis", 0);

	return axis < 0 ? axis + (int64_t)input->rank : axis;
}

static bool is_turned(const struct description *tensor, const char *from, const char *to)
{
	return !strcmp(tensor->origin_format, from) && !strcmp(tensor->format, to);
}

/* The axis as the bytes have it is the first one. */
static const char *check_split_n(const struct rules *rules, const struct sk_graph_node *node)
{
	const struct description input = describe(rules, node, true, 0);
	int64_t axis = split_axis(node, &input);

	if (is_turned(&input, "ND", "FRACTAL_NZ") && input.rank == 2)
		axis = axis == 0 ? 1 : axis == 1 ? 0 : axis;
	if (is_turned(&input, "NCHW", "HWCN"))
		axis = 3;
	return axis ? sk_arena_print(rules->graph->arena, "the axis is %" PRId64 ", not 0", axis) : NULL;
}

/* Channels of the only image. */
static const char *check_split_c_to_n(const struct rules *rules, const struct sk_graph_node *node)
{
	const struct description input = describe(rules, node, true, 0);
	struct sk_arena *arena = rules->graph->arena;
	int64_t axis = split_axis(node, &input);

	if (axis != 1)
		return sk_arena_print(arena, "the axis is %" PRId64 ", neither 0 nor 1", axis);
	for (size_t i = 0; i < node->outputs.count; i++) {
		const struct description part =
			node->outputs.items[i] == SK_NONE ? input : describe(rules, node, false, i);

		if (part.rank < 2 || part.origin_shape[0] != 1)
			return sk_arena_print(arena, "the axis is 1, and axis 0 of output %zu has not one element", i);
	}
	if (!strcmp(input.format, input.origin_format) || (is_turned(&input, "ND", "FRACTAL_NZ") && input.rank >= 4))
		return NULL;
	if (!is_turned(&input, "NCHW", "NC1HWC0"))
		return sk_arena_print(arena, "the axis is 1, and %s of rank %zu is stored as %s", input.origin_format,
				      input.rank, input.format);
	for (size_t i = 0; i < node->outputs.count; i++) {
		const char *reason = node->outputs.items[i] == SK_NONE ? NULL : check_blocks(rules, node, false, i);

		if (reason)
			return reason;
	}
	return NULL;
}

static const char *check_split(const struct rules *rules, const struct sk_graph_node *node)
{
	static const char *const types[] = {"Split", "SplitD", "SplitVD", NULL};
	const char *reason = check_memory(rules, node);

	if (!is_one_of(node, types))
		return sk_arena_print(rules->graph->arena, "it is a %s", type_of(node));
	reason = reason ? reason : check_split_producer(rules, node);
	reason = reason ? reason : check_consumers(rules, node);
	return reason ? reason : check_sizes(rules, node);
}

/* ---- concat ---- */

/* The value that has the bytes, which shapes alone are different of. */
static uint32_t anchor_of(const struct rules *rules, uint32_t value)
{
	const struct sk_graph_node *producer = producer_of(rules, value);

	for (; producer && is_shape_of(producer); producer = producer_of(rules, value))
		value = producer->inputs.items[0];
	return value;
}

static const char *check_concat_producer(const struct rules *rules, uint32_t value)
{
	static const char *const flags[] = {"continuous_input",
					    "continuous_output",
					    "_no_padding_continuous_input",
					    "_no_padding_continuous_output",
					    "reference",
					    "_output_reuse_input",
					    "_reuse_input",
					    NULL};
	struct sk_arena *arena = rules->graph->arena;
	const char *text = rules->graph->values.items[value].name;
	const struct sk_graph_node *producer = producer_of(rules, value);

	if (is_constant(rules, value))
		return sk_arena_print(arena, "'%s' is a constant", text);
	if (!producer)
		return sk_arena_print(arena, "'%s' is an input of the network", text);
	if (rules->graph->values.items[value].output)
		return sk_arena_print(arena, "'%s' is an output of the network, too", text);
	if (producer->graphs.count)
		return sk_arena_print(arena, "'%s' is what a graph in '%s' makes", text, name_of(rules, producer));
	for (const char *const *flag = flags; *flag; flag++)
		if (sk_node_note_integer(producer, *flag, 0))
			return sk_arena_print(arena, "'%s' has '%s'", name_of(rules, producer), *flag);
	if (is_without_task(producer))
		return sk_arena_print(arena, "'%s' has no task itself", name_of(rules, producer));
	if (has_atomic_outputs(producer))
		return sk_arena_print(arena, "'%s' has an 'atomic_output_index'", name_of(rules, producer));
	if (!sk_node_note_integer(producer, "can_reused_for_concat_optimize", 1))
		return sk_arena_print(arena, "the outputs of '%s' are part of something else already",
				      name_of(rules, producer));
	return NULL;
}

/* Which memory the value is in; 0: nothing special. */
static int64_t memory_of(const struct rules *rules, uint32_t value)
{
	const struct sk_graph_node *producer = producer_of(rules, value);
	const struct sk_attribute *note = producer ? sk_node_note(producer, "_output_memory_type") : NULL;

	for (size_t i = 0; note && note->kind == SK_ATTRIBUTE_INTEGERS && i < note->count; i++)
		if (i < producer->outputs.count && producer->outputs.items[i] == value)
			return note->integers[i];
	return 0;
}

static const char *check_concat_input(const struct rules *rules, const struct sk_graph_node *node, size_t number)
{
	enum { MULTIPLE = 32 }; /* bytes */
	struct sk_arena *arena = rules->graph->arena;
	uint32_t value = node->inputs.items[number], anchor = anchor_of(rules, value);
	const struct sk_value *part = &rules->graph->values.items[value];
	const struct description input = describe(rules, node, true, number);
	int64_t memory = memory_of(rules, anchor);
	const char *reason = check_concat_producer(rules, anchor);

	if (!reason && !input.rank)
		return sk_arena_print(arena, "'%s' is one element without dimensions", part->name);
	if (!reason && node->inputs.count > 1 && sk_value_bytes(part) % MULTIPLE)
		return sk_arena_print(arena, "'%s' has %" PRIu64 " bytes, which is no multiple of %d", part->name,
				      sk_value_bytes(part), MULTIPLE);
	if (!reason && (memory == MEMORY_L1 || memory == MEMORY_L2 || memory == MEMORY_UB))
		return sk_arena_print(arena, "'%s' is in memory of type %" PRId64 ", which is a core's", part->name,
				      memory);
	if (!reason && memory != memory_of(rules, anchor_of(rules, node->inputs.items[0])))
		return sk_arena_print(arena, "'%s' is in another memory than the first input", part->name);
	if (!reason && strcmp(input.format, input.origin_format) && is_turned(&input, "NCHW", "NC1HWC0"))
		return check_blocks(rules, node, true, number);
	if (!reason && strcmp(input.format, input.origin_format) &&
	    (!is_turned(&input, "ND", "FRACTAL_NZ") || input.rank < 4))
		return sk_arena_print(arena, "'%s' is %s of rank %zu and stored as %s", part->name, input.origin_format,
				      input.rank, input.format);
	return reason;
}

/* No two of them are one. */
static const char *check_twice(const struct rules *rules, const struct sk_graph_node *node)
{
	struct sk_arena *arena = rules->graph->arena;
	struct sk_map anchors;

	sk_map_init(&anchors, arena);
	for (uint32_t i = 0; i < node->inputs.count; i++) {
		uint32_t *anchor = SK_NEW(arena, uint32_t);

		*anchor = anchor_of(rules, node->inputs.items[i]);
		if (sk_map_insert(&anchors, (const char *)anchor, sizeof(*anchor), i) != i)
			return sk_arena_print(arena, "'%s' is two of its inputs",
					      rules->graph->values.items[*anchor].name);
	}
	return NULL;
}

static const char *check_concat_consumers(const struct rules *rules, uint32_t value)
{
	for (uint32_t u = rules->uses.starts[value]; u < rules->uses.starts[value + 1]; u++) {
		const struct sk_graph_node *user = &rules->graph->nodes.items[rules->uses.items[u].node];
		const char *reason;

		if (is_without_task(user))
			return sk_arena_print(rules->graph->arena, "'%s' takes the output and has no task itself",
					      name_of(rules, user));
		if (!strcmp(user->op, "Reshape") && user->outputs.items[0] != SK_NONE &&
		    strcmp(type_of(producer_of(rules, value)), "Reshape") &&
		    (reason = check_concat_consumers(rules, user->outputs.items[0])))
			return reason;
	}
	return NULL;
}

static const char *check_concat(const struct rules *rules, const struct sk_graph_node *node)
{
	const struct sk_value *to = sk_node_output(rules->graph, node, 0);
	int64_t axis = sk_node_integer(node, "axis", 0);
	const char *reason = check_memory(rules, node);

	axis += axis < 0 ? to->rank : 0;
	for (uint32_t d = 0; d < to->rank && d < axis; d++)
		if (to->shape[d] != 1)
			return sk_arena_print(rules->graph->arena,
					      "the axis is %" PRId64 ", and axis %u in front of it has %" PRIu64
					      " elements",
					      axis, d, to->shape[d]);
	for (size_t i = 0; i < node->notes.count; i++)
		if (strstr(node->notes.items[i].name, "lxslice"))
			return sk_arena_print(rules->graph->arena, "it has '%s'", node->notes.items[i].name);
	for (size_t i = 0; i < node->inputs.count && !reason; i++)
		reason = check_concat_input(rules, node, i);
	reason = reason ? reason : check_twice(rules, node);
	return reason ? reason : check_concat_consumers(rules, node->outputs.items[0]);
}

/* ---- all nodes ---- */

typedef const char *check_node(const struct rules *rules, const struct sk_graph_node *node);

/* One rule is tried with all nodes before the next one is, as CANN does it. */
static void try_rule(struct rules *rules, const char *op, check_node *common, check_node *own, bool last)
{
	for (uint32_t n = 0; n < rules->graph->nodes.count; n++) {
		struct sk_graph_node *node = &rules->graph->nodes.items[n];
		const char *reason;

		if (!sk_node_is(node, op) || !sk_node_is_live(rules->graph, node) || node->slices != SK_SLICES_OFF)
			continue;
		reason = sk_node_note_integer(node, "_no_task", 0) ? NULL : common(rules, node);
		if (!reason && own && !sk_node_note_integer(node, "_no_task", 0))
			reason = own(rules, node);
		if (!reason) {
			node->slices = SK_SLICES_ALL;
		} else if (last) {
			node->slices = SK_SLICES_REFUSED;
			sk_array_push(rules->graph->arena, &node->refusals,
				      sk_arena_print(rules->graph->arena,
						     "%s has a task under FusionVirtualOpSetSwitch: %s", node->op,
						     reason));
		}
	}
}

static void allow_any(struct sk_op_graph *graph)
{
	for (size_t n = 0; n < graph->nodes.count; n++)
		if (sk_node_is(&graph->nodes.items[n], "Split") || sk_node_is(&graph->nodes.items[n], "Concat"))
			graph->nodes.items[n].slices = SK_SLICES_ANY;
}

/* What is changed is seen once nodes are calls. */
enum sk_pass_result sk_pass_no_task(struct sk_op_graph *graph, const struct sk_fusion_flags *flags)
{
	struct rules rules = {.graph = graph};

	if (flags->target != SK_TARGET_ASCEND) {
		allow_any(graph);
		return SK_PASS_UNCHANGED;
	}
	rules.uses = sk_graph_uses(graph->arena, graph);
	try_rule(&rules, "Split", check_split, check_split_n, false);
	try_rule(&rules, "Split", check_split, check_split_c_to_n, true);
	try_rule(&rules, "Concat", check_concat, NULL, true);
	return SK_PASS_UNCHANGED;
}
