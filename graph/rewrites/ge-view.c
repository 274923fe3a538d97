/* Nodes as GE sees them; see rewrites-parts.h. */
#include "graph/rewrites/rewrites-parts.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/onnx/onnx.h"

bool sk_ge_is_conversion(const struct sk_graph_node *node)
{
	static const char *const ops[] = {"sklink:Int4ToInt8", "sklink:Int8ToInt4", "sklink:TransData", NULL};

	return !node->origin && sk_node_is_one_of(node, ops) && sk_node_note_integer(node, SK_ONNX_CONVERTS, 0);
}

const struct sk_graph_node *sk_ge_producer(const struct sk_ge_view *view, uint32_t value)
{
	uint32_t node = value == SK_NONE ? SK_NONE : view->graph->values.items[value].node;

	if (node == SK_NONE)
		return NULL;
	return sk_ge_is_conversion(&view->graph->nodes.items[node])
		       ? sk_ge_producer(view, view->graph->nodes.items[node].inputs.items[0])
		       : &view->graph->nodes.items[node];
}

bool sk_ge_is_constant(const struct sk_ge_view *view, uint32_t value)
{
	return view->graph->values.items[value].contents || view->graph->values.items[value].fixed;
}

/* ---- names in GE ---- */

const char *sk_ge_type(const struct sk_graph_node *node)
{
	const char *colon = node->origin ? strrchr(node->origin, ':') : NULL;

	return colon ? colon + 1 : node->op;
}

bool sk_ge_is_shape(const struct sk_graph_node *node)
{
	static const char *const ops[] = {"Reshape", "Flatten", "Identity", "Squeeze", "Unsqueeze", NULL};

	return sk_node_is_one_of(node, ops);
}

bool sk_ge_has_atomic_outputs(const struct sk_graph_node *node)
{
	const struct sk_attribute *note = sk_node_note(node, "atomic_output_index");

	return note && (note->kind != SK_ATTRIBUTE_INTEGERS || note->count);
}

bool sk_ge_is_without_task(const struct sk_graph_node *node)
{
	return node->slices >= SK_SLICES_ALL || sk_node_note_integer(node, "_no_task", 0);
}

/* ---- memory ---- */

static bool has_memory(const struct sk_graph_node *node, const char *name, int64_t type)
{
	const struct sk_attribute *note = sk_node_note(node, name);

	for (size_t i = 0; note && note->kind == SK_ATTRIBUTE_INTEGERS && i < note->count; i++)
		if (note->integers[i] == type)
			return true;
	return false;
}

const char *sk_ge_check_memory(const struct sk_ge_view *view, const struct sk_graph_node *node)
{
	static const char *const sides[] = {"_input_memory_type", "_output_memory_type"};
	static const int64_t types[] = {SK_GE_MEMORY_L1, SK_GE_MEMORY_L2};

	for (size_t s = 0; s < 2; s++)
		for (size_t t = 0; t < 2; t++)
			if (has_memory(node, sides[s], types[t]))
				return sk_arena_print(view->graph->arena, "'%s' of '%s' has %" PRId64 ", which is L%zu",
						      sides[s], sk_node_name(view->graph, node), types[t], t + 1);
	return NULL;
}

/* ---- formats and shapes ---- */

static const struct sk_attribute *describe_field(const struct sk_ge_view *view, const struct sk_graph_node *node,
						 const char *side, const char *field, size_t number)
{
	return sk_node_note(node, sk_arena_print(view->graph->arena, "%s_desc_%s:%zu", side, field, number));
}

static const char *describe_text(const struct sk_ge_view *view, const struct sk_graph_node *node, const char *side,
				 const char *field, size_t number, const char *otherwise)
{
	const struct sk_attribute *note = describe_field(view, node, side, field, number);

	return note && note->kind == SK_ATTRIBUTE_STRING ? note->string : otherwise;
}

struct sk_ge_tensor sk_ge_describe(const struct sk_ge_view *view, const struct sk_graph_node *node, bool input,
				   size_t number)
{
	const char *side = input ? "input" : "output";
	const struct sk_value *value =
		input ? sk_node_input(view->graph, node, number) : sk_node_output(view->graph, node, number);
	const struct sk_attribute *shape = describe_field(view, node, side, "origin_shape", number);
	struct sk_ge_tensor description = {.rank = value->rank};

	description.format = describe_text(view, node, side, "layout", number, "ND");
	description.origin_format = describe_text(view, node, side, "origin_layout", number, description.format);
	description.dtype = describe_text(view, node, side, "dtype", number,
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

/* Return the length of a block of the C axis in NC1HWC0; 0: the type has no such blocks. */
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

const char *sk_ge_check_blocks(const struct sk_ge_view *view, const struct sk_graph_node *node, bool input,
			       size_t number)
{
	const struct sk_ge_tensor part = sk_ge_describe(view, node, input, number);
	uint64_t block = block_of(part.dtype), channels = part.rank > 1 ? part.origin_shape[1] : 0;

	if (block && channels % block == 0)
		return NULL;
	return sk_arena_print(view->graph->arena,
			      block ? "%s %zu has %" PRIu64 " channels, which is not a multiple of %" PRIu64
				    : "%s %zu is of a type that NC1HWC0 has no blocks of",
			      input ? "input" : "output", number, channels, block);
}

bool sk_ge_is_turned(const struct sk_ge_tensor *tensor, const char *from, const char *to)
{
	return !strcmp(tensor->origin_format, from) && !strcmp(tensor->format, to);
}
