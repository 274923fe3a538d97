/* Marks of nodes; see onnx.h. */
#include "graph/onnx/onnx.h"

#include <string.h>

#include "base/arena.h"
#include "format/signature/signature.h"
#include "graph/onnx/onnx-parts.h"

static bool take_mark(struct sk_graph_node *node, const struct sk_attribute *attribute)
{
	if (!strcmp(attribute->name, SK_ONNX_STREAM) && attribute->kind == SK_ATTRIBUTE_INTEGER) {
		/* GE writes -1 before streams are assigned. */
		bool valid = attribute->integer >= 0 && attribute->integer < UINT32_MAX;

		node->stream = valid ? (uint32_t)attribute->integer : 0;
		return true;
	}
	if (!strcmp(attribute->name, SK_ONNX_VERSION) && attribute->kind == SK_ATTRIBUTE_INTEGER &&
	    attribute->integer > 0 && attribute->integer <= INT32_MAX) {
		node->version = (uint32_t)attribute->integer;
		return true;
	}
	if (attribute->kind != SK_ATTRIBUTE_STRING)
		return false;

	const char *text = *attribute->string ? attribute->string : NULL;

	if (!strcmp(attribute->name, SK_ONNX_SCOPE))
		node->scope = text;
	else if (!strcmp(attribute->name, SK_ONNX_SCOPE_OPTIONS))
		node->scope_options = text && text[strspn(text, " \t")] ? text : NULL;
	else if (!strcmp(attribute->name, SK_ONNX_RULE))
		node->rule = text;
	else
		return !strcmp(attribute->name, SK_ONNX_ORIGIN);
	return true;
}

/* True for the notes of GE's nodes that nodes inherit which passes make in their place. No operator has attributes of
 * these names. */
static bool is_inherited(const char *name)
{
	static const char *const names[] = {"atomic_output_index", "can_reused_for_concat_optimize",
					    "continuous_input",	   "continuous_output",
					    "imply_type",	   "reference"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i], name))
			return true;
	return !strncmp(name, "input_desc_", 11) || !strncmp(name, "output_desc_", 12);
}

/* Names of operators' attributes never begin with "_". Nodes that passes have made have no domain in their origin. */
static bool is_note(const struct sk_graph_node *node, const char *name)
{
	const char *origin = node->origin ? node->origin : "";

	if (*name == '_')
		return true;
	return strncmp(origin, "ge:", 3) ? !strchr(origin, ':') && is_inherited(name) : sk_onnx_is_ge_note(name);
}

void sk_onnx_add_attribute(struct sk_arena *arena, struct sk_graph_node *node, const struct sk_attribute *attribute)
{
	if (take_mark(node, attribute))
		return;
	if (is_note(node, attribute->name))
		sk_array_push(arena, &node->notes, *attribute);
	else
		sk_array_push(arena, &node->attributes, *attribute);
}
