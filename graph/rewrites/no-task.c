/* FusionVirtualOpSetSwitch: the nodes that split and join without a task, because their parts are slices of one buffer.
 * For `ascend` the rules are those of CANN's switch of that name (split_n, split_c_to_n and their counterparts for
 * Concat). They depend on the neighbours of a node, on formats, and on GE's notes (rewrites-parts.h); a node with a
 * kernel has the implementation type 1 unless GE's notes differ. For other targets parts may be slices wherever that is
 * sound, which is known once nodes are calls (graph/passes/slices.c). */
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/text.h"
#include "format/signature/signature.h"
#include "graph/graph.h"
#include "graph/manager/manager.h"
#include "graph/onnx/onnx.h"
#include "graph/rewrites/rewrites-parts.h"
#include "graph/rewrites/rewrites.h"

static const char *name_of(const struct sk_ge_view *view, const struct sk_graph_node *node)
{
	return sk_node_name(view->graph, node);
}

static bool is_one_of(const struct sk_graph_node *node, const char *const *types)
{
	const char *type = sk_ge_type(node);

	for (; *types; types++)
		if (!strcmp(type, *types))
			return true;
	return false;
}

/* Parts of blocks are no slices of the stored bytes. */
static const char *check_whole_blocks(const struct sk_ge_view *view, const struct sk_graph_node *node)
{
	return sk_node_note_integer(node, SK_ONNX_CONVERTS, 0)
		       ? sk_arena_print(view->graph->arena, "its parts have no whole blocks of the format")
		       : NULL;
}

/* ---- split ---- */

static const char *check_split_producer(const struct sk_ge_view *view, const struct sk_graph_node *node)
{
	uint32_t value = node->inputs.items[0];
	const struct sk_graph_node *producer = sk_ge_producer(view, value), *before;
	struct sk_arena *arena = view->graph->arena;

	if (sk_ge_is_constant(view, value))
		return sk_arena_print(arena, "'%s' is a constant", view->graph->values.items[value].name);
	if (!producer)
		return NULL;
	before = producer->inputs.count ? sk_ge_producer(view, producer->inputs.items[0]) : NULL;
	if ((!strcmp(sk_ge_type(producer), "TransData") || !strcmp(sk_ge_type(producer), "Reshape")) && !before &&
	    producer->inputs.count && !sk_ge_is_constant(view, producer->inputs.items[0]))
		return sk_arena_print(arena, "'%s' is a %s of an input of the network", name_of(view, producer),
				      sk_ge_type(producer));
	if (sk_ge_is_without_task(producer))
		return sk_arena_print(arena, "'%s' has no task itself", name_of(view, producer));
	if (sk_ge_has_atomic_outputs(producer))
		return sk_arena_print(arena, "'%s' has an 'atomic_output_index'", name_of(view, producer));
	return NULL;
}

static const char *check_consumer(const struct sk_ge_view *view, const struct sk_graph_node *user)
{
	static const char *const refused[] = {
		"NetOutput",  "HcomBroadcast", "HcomAllGather", "HcomAllReduce", "HcomReduceScatter",
		"HcomReduce", "SplitD",	       "SplitVD",	"Split",	 NULL};
	struct sk_arena *arena = view->graph->arena;
	int64_t implementation = sk_node_note_integer(user, "imply_type", sk_ge_is_shape(user) ? 0 : 1);
	const struct sk_attribute *virtual = sk_node_note(user, "_fusion_virtual_op");
	const char *name = name_of(view, user);

	if (is_one_of(user, refused))
		return sk_arena_print(arena, "'%s' takes an output and is a %s", name, sk_ge_type(user));
	if (sk_ge_is_without_task(user))
		return sk_arena_print(arena, "'%s' takes an output and has no task itself", name);
	if (implementation != 1)
		return sk_arena_print(arena, "'%s' takes an output, and its 'imply_type' is %" PRId64 ", not 1", name,
				      implementation);
	if (virtual && virtual->kind == SK_ATTRIBUTE_STRING && *virtual->string)
		return sk_arena_print(arena, "'%s' takes an output and has a '_fusion_virtual_op'", name);
	if (sk_node_note_integer(user, "continuous_input", 0))
		return sk_arena_print(arena, "'%s' takes an output and wants its inputs adjacent in memory", name);
	if (sk_ge_has_atomic_outputs(user))
		return sk_arena_print(arena, "'%s' takes an output and has an 'atomic_output_index'", name);
	return NULL;
}

/* Check the users of the value, and those of the values that it is converted to. */
static const char *check_users(const struct sk_ge_view *view, uint32_t value)
{
	const char *reason = NULL;

	if (view->graph->values.items[value].output)
		return sk_arena_print(view->graph->arena, "'%s' is an output of the network",
				      view->graph->values.items[value].name);
	for (uint32_t u = view->uses.starts[value]; u < view->uses.starts[value + 1] && !reason; u++) {
		const struct sk_graph_node *user = &view->graph->nodes.items[view->uses.items[u].node];

		reason = sk_ge_is_conversion(user) && user->outputs.items[0] != SK_NONE
				 ? check_users(view, user->outputs.items[0])
				 : check_consumer(view, user);
	}
	return reason;
}

static const char *check_consumers(const struct sk_ge_view *view, const struct sk_graph_node *node)
{
	const char *reason = NULL;

	for (size_t i = 0; i < node->outputs.count && !reason; i++)
		if (node->outputs.items[i] != SK_NONE)
			reason = check_users(view, node->outputs.items[i]);
	return reason;
}

/* The sizes come from the file, and may be wrong. */
static const char *check_sizes(const struct sk_ge_view *view, const struct sk_graph_node *node)
{
	uint64_t whole = sk_value_elements(sk_node_input(view->graph, node, 0)), sum = 0;

	for (size_t i = 0; i < node->outputs.count; i++) {
		const struct sk_value *part = sk_node_output(view->graph, node, i);

		if (!part) /* inference has checked the sum */
			return NULL;
		sum += sk_value_elements(part);
	}
	return sum == whole
		       ? NULL
		       : sk_arena_print(view->graph->arena,
					"the outputs have %" PRIu64 " elements together, and the input has %" PRIu64,
					sum, whole);
}

/* The conditions that both rules share. */
static const char *check_split(const struct sk_ge_view *view, const struct sk_graph_node *node)
{
	static const char *const types[] = {"Split", "SplitD", "SplitVD", NULL};
	const char *reason;

	if (!is_one_of(node, types))
		return sk_arena_print(view->graph->arena, "it is a %s", sk_ge_type(node));
	reason = sk_ge_check_memory(view, node);
	reason = reason ? reason : check_split_producer(view, node);
	reason = reason ? reason : check_consumers(view, node);
	return reason ? reason : check_sizes(view, node);
}

/* Return the axis that CANN's rules see. To them all splits of NCHW as HWCN are along the last one. */
static int64_t split_axis(const struct sk_graph_node *node, const struct sk_ge_tensor *input)
{
	int64_t axis = sk_node_note_integer(node, SK_ONNX_SPLIT_AXIS, sk_node_integer(node, "axis", 0));

	if (sk_ge_is_turned(input, "NCHW", "HWCN"))
		return 3;
	return axis < 0 ? axis + (int64_t)input->rank : axis;
}

/* The axis is the first one of the stored shape. */
static const char *check_split_n(const struct sk_ge_view *view, const struct sk_graph_node *node)
{
	const struct sk_ge_tensor input = sk_ge_describe(view, node, true, 0);
	const char *reason = check_split(view, node);
	int64_t axis = split_axis(node, &input);

	if (reason)
		return reason;
	return axis ? sk_arena_print(view->graph->arena, "the axis is %" PRId64 ", not 0", axis)
		    : check_whole_blocks(view, node);
}

/* The channels of a single image. */
static const char *check_split_c_to_n(const struct sk_ge_view *view, const struct sk_graph_node *node)
{
	const struct sk_ge_tensor input = sk_ge_describe(view, node, true, 0);
	const char *reason = check_split(view, node);
	struct sk_arena *arena = view->graph->arena;
	int64_t axis = split_axis(node, &input);

	if (reason)
		return reason;
	if (axis != 1)
		return sk_arena_print(arena, "the axis is %" PRId64 ", neither 0 nor 1", axis);
	for (size_t i = 0; i < node->outputs.count; i++) {
		const struct sk_ge_tensor part =
			node->outputs.items[i] == SK_NONE ? input : sk_ge_describe(view, node, false, i);

		if (part.rank < 2 || part.origin_shape[0] != 1)
			return sk_arena_print(arena,
					      "the axis is 1, and axis 0 of output %zu does not have one element", i);
	}
	if (!strcmp(input.format, input.origin_format) ||
	    (sk_ge_is_turned(&input, "ND", "FRACTAL_NZ") && input.rank >= 4))
		return check_whole_blocks(view, node);
	if (!sk_ge_is_turned(&input, "NCHW", "NC1HWC0"))
		return sk_arena_print(arena, "the axis is 1, and %s of rank %zu is stored as %s", input.origin_format,
				      input.rank, input.format);
	for (size_t i = 0; i < node->outputs.count; i++) {
		reason = node->outputs.items[i] == SK_NONE ? NULL : sk_ge_check_blocks(view, node, false, i);
		if (reason)
			return reason;
	}
	return check_whole_blocks(view, node);
}

/* ---- concat ---- */

/* Return the value that owns the bytes, of which nodes that only change shapes make others. */
static uint32_t anchor_of(const struct sk_ge_view *view, uint32_t value)
{
	const struct sk_graph_node *producer = sk_ge_producer(view, value);

	for (; producer && sk_ge_is_shape(producer); producer = sk_ge_producer(view, value))
		value = producer->inputs.items[0];
	return value;
}

static const char *check_concat_producer(const struct sk_ge_view *view, uint32_t value)
{
	static const char *const flags[] = {"continuous_input",
					    "continuous_output",
					    "_no_padding_continuous_input",
					    "_no_padding_continuous_output",
					    "reference",
					    "_output_reuse_input",
					    "_reuse_input",
					    NULL};
	struct sk_arena *arena = view->graph->arena;
	const char *text = view->graph->values.items[value].name;
	const struct sk_graph_node *producer = sk_ge_producer(view, value);

	if (sk_ge_is_constant(view, value))
		return sk_arena_print(arena, "'%s' is a constant", text);
	if (!producer)
		return sk_arena_print(arena, "'%s' is an input of the network", text);
	if (view->graph->values.items[value].output)
		return sk_arena_print(arena, "'%s' is also an output of the network", text);
	if (producer->graphs.count)
		return sk_arena_print(arena, "'%s' is the output of a graph in '%s'", text, name_of(view, producer));
	for (const char *const *flag = flags; *flag; flag++)
		if (sk_node_note_integer(producer, *flag, 0))
			return sk_arena_print(arena, "'%s' has '%s'", name_of(view, producer), *flag);
	if (sk_ge_is_without_task(producer))
		return sk_arena_print(arena, "'%s' has no task itself", name_of(view, producer));
	if (sk_ge_has_atomic_outputs(producer))
		return sk_arena_print(arena, "'%s' has an 'atomic_output_index'", name_of(view, producer));
	if (!sk_node_note_integer(producer, "can_reused_for_concat_optimize", 1))
		return sk_arena_print(arena, "the outputs of '%s' are part of something else already",
				      name_of(view, producer));
	return NULL;
}

/* Return the kind of memory that the value is in; 0: normal. */
static int64_t memory_of(const struct sk_ge_view *view, uint32_t value)
{
	const struct sk_graph_node *producer = sk_ge_producer(view, value);
	const struct sk_attribute *note = producer ? sk_node_note(producer, "_output_memory_type") : NULL;

	for (size_t i = 0; note && note->kind == SK_ATTRIBUTE_INTEGERS && i < note->count; i++)
		if (i < producer->outputs.count && producer->outputs.items[i] == value)
			return note->integers[i];
	return 0;
}

static const char *check_concat_input(const struct sk_ge_view *view, const struct sk_graph_node *node, size_t number)
{
	enum { MULTIPLE = 32 }; /* bytes */
	struct sk_arena *arena = view->graph->arena;
	uint32_t value = node->inputs.items[number], anchor = anchor_of(view, value);
	const struct sk_value *part = &view->graph->values.items[value];
	const struct sk_ge_tensor input = sk_ge_describe(view, node, true, number);
	int64_t memory = memory_of(view, anchor);
	const char *reason = check_concat_producer(view, anchor);

	if (reason)
		return reason;
	if (!input.rank)
		return sk_arena_print(arena, "'%s' is one element without dimensions", part->name);
	if (node->inputs.count > 1 && sk_value_bytes(part) % MULTIPLE)
		return sk_arena_print(arena, "'%s' has %" PRIu64 " byte%s, which is not a multiple of %d", part->name,
				      sk_value_bytes(part), sk_plural(sk_value_bytes(part)), MULTIPLE);
	if (memory == SK_GE_MEMORY_L1 || memory == SK_GE_MEMORY_L2 || memory == SK_GE_MEMORY_UB)
		return sk_arena_print(arena, "'%s' is in memory of type %" PRId64 ", which is a core's", part->name,
				      memory);
	if (memory != memory_of(view, anchor_of(view, node->inputs.items[0])))
		return sk_arena_print(arena, "'%s' is in another memory than the first input", part->name);
	if (!strcmp(input.format, input.origin_format))
		return NULL;
	if (sk_ge_is_turned(&input, "NCHW", "NC1HWC0"))
		return sk_ge_check_blocks(view, node, true, number);
	if (!sk_ge_is_turned(&input, "ND", "FRACTAL_NZ") || input.rank < 4)
		return sk_arena_print(arena, "'%s' is %s of rank %zu and stored as %s", part->name, input.origin_format,
				      input.rank, input.format);
	return NULL;
}

/* No two inputs are the same value. */
static const char *check_twice(const struct sk_ge_view *view, const struct sk_graph_node *node)
{
	struct sk_arena *arena = view->graph->arena;
	struct sk_map anchors;

	sk_map_init(&anchors, arena);
	for (uint32_t i = 0; i < node->inputs.count; i++) {
		uint32_t *anchor = SK_NEW(arena, uint32_t);

		*anchor = anchor_of(view, node->inputs.items[i]);
		if (sk_map_insert(&anchors, (const char *)anchor, sizeof(*anchor), i) != i)
			return sk_arena_print(arena, "'%s' is two of its inputs",
					      view->graph->values.items[*anchor].name);
	}
	return NULL;
}

static const char *check_concat_consumers(const struct sk_ge_view *view, uint32_t value)
{
	for (uint32_t u = view->uses.starts[value]; u < view->uses.starts[value + 1]; u++) {
		const struct sk_graph_node *user = &view->graph->nodes.items[view->uses.items[u].node];
		const char *reason;

		if (sk_ge_is_without_task(user))
			return sk_arena_print(view->graph->arena, "'%s' takes the output and has no task itself",
					      name_of(view, user));
		if (!strcmp(user->op, "Reshape") && user->outputs.items[0] != SK_NONE &&
		    strcmp(sk_ge_type(sk_ge_producer(view, value)), "Reshape") &&
		    (reason = check_concat_consumers(view, user->outputs.items[0])))
			return reason;
	}
	return NULL;
}

static const char *check_concat(const struct sk_ge_view *view, const struct sk_graph_node *node)
{
	const struct sk_value *to = sk_node_output(view->graph, node, 0);
	int64_t axis = sk_node_integer(node, "axis", 0);
	const char *reason = sk_ge_check_memory(view, node);

	axis += axis < 0 ? to->rank : 0;
	for (uint32_t d = 0; d < to->rank && d < axis; d++)
		if (to->shape[d] != 1)
			return sk_arena_print(view->graph->arena,
					      "the axis is %" PRId64 ", and axis %u before it has %" PRIu64
					      " element%s",
					      axis, d, to->shape[d], sk_plural(to->shape[d]));
	for (size_t i = 0; i < node->notes.count; i++)
		if (strstr(node->notes.items[i].name, "lxslice"))
			return sk_arena_print(view->graph->arena, "it has '%s'", node->notes.items[i].name);
	for (size_t i = 0; i < node->inputs.count && !reason; i++)
		reason = check_concat_input(view, node, i);
	reason = reason ? reason : check_twice(view, node);
	reason = reason ? reason : check_whole_blocks(view, node);
	return reason ? reason : check_concat_consumers(view, node->outputs.items[0]);
}

/* ---- all nodes ---- */

typedef const char *check_node(const struct sk_ge_view *view, const struct sk_graph_node *node);

/* The reason that the file gives for a task, as a note that dumps have as well. Passes may replace and remove the
 * neighbours that it names. */
#define HAS_TASK "_sklink_has_task"

static const char *check_neighbours(const struct sk_ge_view *view, const struct sk_graph_node *node)
{
	const char *reason = NULL;

	if (sk_node_is(node, "Split")) {
		reason = check_split_producer(view, node);
		return reason ? reason : check_consumers(view, node);
	}
	for (size_t i = 0; i < node->inputs.count && !reason; i++)
		reason = check_concat_producer(view, anchor_of(view, node->inputs.items[i]));
	return reason ? reason : check_concat_consumers(view, node->outputs.items[0]);
}

void sk_no_task_read_file(struct sk_op_graph *graph, const struct sk_fusion_flags *flags)
{
	struct sk_ge_view view = {.graph = graph};

	if (flags->target != SK_TARGET_ASCEND || graph->passes.count) /* a dump after passes has the notes */
		return;
	view.uses = sk_graph_uses(graph->arena, graph);
	for (size_t n = 0; n < graph->nodes.count; n++) {
		struct sk_graph_node *node = &graph->nodes.items[n];
		bool either = sk_node_is(node, "Split") || sk_node_is(node, "Concat");
		struct sk_attribute note = {.name = HAS_TASK, .kind = SK_ATTRIBUTE_STRING, .place = node->place};

		if (!either || !sk_node_is_live(graph, node) || !node->origin || strncmp(node->origin, "ge:", 3) != 0 ||
		    sk_ge_is_without_task(node) || sk_node_note(node, HAS_TASK))
			continue;
		note.string = check_neighbours(&view, node);
		if (note.string)
			sk_array_push(graph->arena, &node->notes, note);
	}
}

/* Return the reason of the file, or else that of the graph as it is. */
static const char *check_both(const struct sk_ge_view *view, const struct sk_graph_node *node, check_node *check)
{
	const struct sk_attribute *said = sk_node_note(node, HAS_TASK);

	return said && said->kind == SK_ATTRIBUTE_STRING ? said->string : check(view, node);
}

/* Try one rule on all nodes before the next rule, as CANN does. */
static void try_rule(const struct sk_ge_view *view, const char *op, check_node *check, bool last)
{
	for (uint32_t n = 0; n < view->graph->nodes.count; n++) {
		struct sk_graph_node *node = &view->graph->nodes.items[n];
		const char *reason;

		if (!sk_node_is(node, op) || !sk_node_is_live(view->graph, node) || node->slices != SK_SLICES_OFF)
			continue;
		reason = sk_node_note_integer(node, "_no_task", 0) ? NULL : check_both(view, node, check);
		if (!reason) {
			node->slices = SK_SLICES_ALL;
		} else if (last) {
			node->slices = SK_SLICES_REFUSED;
			sk_array_push(view->graph->arena, &node->refusals,
				      sk_arena_print(view->graph->arena,
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

/* The effect appears once nodes are calls. */
enum sk_pass_result sk_pass_no_task(struct sk_op_graph *graph, const struct sk_fusion_flags *flags)
{
	struct sk_ge_view view = {.graph = graph};

	if (flags->target != SK_TARGET_ASCEND) {
		allow_any(graph);
		return SK_PASS_UNCHANGED;
	}
	view.uses = sk_graph_uses(graph->arena, graph);
	try_rule(&view, "Split", check_split_n, false);
	try_rule(&view, "Split", check_split_c_to_n, true);
	try_rule(&view, "Concat", check_concat, true);
	return SK_PASS_UNCHANGED;
}
