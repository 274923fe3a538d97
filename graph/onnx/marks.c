/* Marks of nodes; see onnx.h. */
#include "graph/onnx/onnx.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "format/signature/signature.h"
#include "graph/graph.h"
#include "graph/onnx/onnx-parts.h"

/* Return a number of cores, which TorchAir writes as a text; 0: it is none. */
static uint32_t cores_of(const struct sk_attribute *attribute)
{
	int64_t number = attribute->kind == SK_ATTRIBUTE_INTEGER ? attribute->integer : 0;

	if (attribute->kind == SK_ATTRIBUTE_STRING && strspn(attribute->string, "0123456789") <= 9 &&
	    !attribute->string[strspn(attribute->string, "0123456789")])
		number = strtoll(attribute->string, NULL, 10);
	return number > 0 && number <= INT32_MAX ? (uint32_t)number : 0;
}

/* Labels of streams are compared one by one. */
enum { MOST_STREAMS = 256 };

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
	if (!strcmp(attribute->name, SK_ONNX_CUBE_CORES) && cores_of(attribute)) {
		node->cube_cores = cores_of(attribute);
		return true;
	}
	if (!strcmp(attribute->name, SK_ONNX_VECTOR_CORES) && cores_of(attribute)) {
		node->vector_cores = cores_of(attribute);
		return true;
	}
	if (attribute->kind != SK_ATTRIBUTE_STRING)
		return false;

	const char *text = *attribute->string ? attribute->string : NULL;

	if (!strcmp(attribute->name, SK_ONNX_SCOPE))
		node->scope = attribute->string; /* "" is a scope of single launches */
	else if (!strcmp(attribute->name, SK_ONNX_SCOPE_OPTIONS))
		node->scope_options = text && text[strspn(text, " \t")] ? text : NULL;
	else if (!strcmp(attribute->name, SK_ONNX_RULE))
		node->rule = text;
	else
		return !strcmp(attribute->name, SK_ONNX_ORIGIN);
	return true;
}

/* True for the notes of GE's nodes that nodes inherit which passes make in their place. No operator has attributes of
 * these names. Further notes of GE's nodes are found by the operator (sk_schema_note). */
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
	if (*name == '_')
		return true;
	return (sk_node_is_of_ge(node) || !strchr(node->origin ? node->origin : "", ':')) && is_inherited(name);
}

/* ---- marks of the user ---- */

/* A stream of the user. */
struct stream {
	struct sk_onnx_bytes label;
	int64_t priority;
	size_t first; /* its first node */
};

typedef SK_ARRAY(struct stream) streams;

static const struct sk_onnx_attribute *find_mark(const struct sk_onnx_node *node, const char *name)
{
	for (size_t i = 0; i < node->attributes.count; i++)
		if (node->attributes.items[i].name && !strcmp(node->attributes.items[i].name, name))
			return &node->attributes.items[i];
	return NULL;
}

static bool is_label(const struct stream *stream, const struct sk_onnx_attribute *label)
{
	return stream->label.size == label->s.size && !memcmp(stream->label.bytes, label->s.bytes, label->s.size);
}

/* The smaller number comes first, as for the streams of a device. */
static int compare_streams(const void *first, const void *second)
{
	const struct stream *a = first, *b = second;

	return a->priority != b->priority ? (a->priority > b->priority) - (a->priority < b->priority)
					  : (a->first > b->first) - (a->first < b->first);
}

static int64_t priority_of(struct sk_arena *arena, const struct sk_onnx_node *node)
{
	const struct sk_onnx_attribute *priority = find_mark(node, SK_ONNX_PRIORITY);

	if (!priority)
		return 0;
	return priority->s.size
		       ? strtoll(sk_arena_copy(arena, (const char *)priority->s.bytes, priority->s.size), NULL, 10)
		       : priority->i;
}

/* Return the label of a node without a number of its stream; NULL: it has none. */
static const struct sk_onnx_attribute *label_of(const struct sk_onnx_node *node)
{
	const struct sk_onnx_attribute *number = find_mark(node, SK_ONNX_STREAM);
	const struct sk_onnx_attribute *label = find_mark(node, SK_ONNX_STREAM_LABEL);

	return label && label->s.size && (!number || number->i < 0) ? label : NULL;
}

static size_t find_stream(const streams *found, const struct sk_onnx_attribute *label)
{
	size_t i = 0;

	while (i < found->count && !is_label(&found->items[i], label))
		i++;
	return i;
}

void sk_onnx_number_streams(struct sk_arena *arena, struct sk_onnx_graph *graph)
{
	streams found = {0};
	int64_t last = 0;

	for (size_t n = 0; n < graph->nodes.count; n++) {
		const struct sk_onnx_node *node = &graph->nodes.items[n];
		const struct sk_onnx_attribute *label = label_of(node), *number = find_mark(node, SK_ONNX_STREAM);

		last = number && number->i > last && number->i < MOST_STREAMS ? number->i : last;
		if (label && found.count < MOST_STREAMS && find_stream(&found, label) == found.count)
			sk_array_push(arena, &found, ((struct stream){label->s, priority_of(arena, node), n}));
	}
	if (!found.count)
		return;
	qsort(found.items, found.count, sizeof(*found.items), compare_streams);
	for (size_t n = 0; n < graph->nodes.count; n++) {
		struct sk_onnx_node *node = &graph->nodes.items[n];
		const struct sk_onnx_attribute *label = label_of(node);
		struct sk_onnx_attribute *number =
			(struct sk_onnx_attribute *)(uintptr_t)find_mark(node, SK_ONNX_STREAM);

		if (!label)
			continue;
		if (!number) {
			struct sk_onnx_attribute none = {
				.name = SK_ONNX_STREAM, .type = SK_ONNX_ATTRIBUTE_INT, .i = -1};

			sk_array_push(arena, &node->attributes, none);
			number = &node->attributes.items[node->attributes.count - 1];
			label = label_of(node);
		}
		number->i = last + 1 + (int64_t)find_stream(&found, label);
	}
}

void sk_onnx_tell_marks(struct sk_diag *diag, const char *path, const struct sk_onnx_graph *graph)
{
	static const struct {
		const char *name, *reason;
	} idle[] = {
		{"_deterministic", "results of a package never depend on the number of cores"},
		{"_enable_inner_parallel", "tasks run side by side wherever data allow it"},
		{"_op_exec_never_timeout", "tasks have no time limit"},
	};

	for (size_t i = 0; i < sizeof(idle) / sizeof(idle[0]); i++)
		for (size_t n = 0; n < graph->nodes.count; n++) {
			const struct sk_onnx_node *node = &graph->nodes.items[n];

			if (!find_mark(node, idle[i].name))
				continue;
			sk_warning(diag,
				   (struct sk_place){
					   .file = path, .line = node->message.line, .column = node->message.column},
				   "%s: the mark '%s' has no effect: %s", sk_onnx_node_label(diag->arena, node),
				   idle[i].name, idle[i].reason);
			break;
		}
}

/* ---- attributes ---- */

void sk_onnx_add_attribute(struct sk_arena *arena, struct sk_graph_node *node, const struct sk_attribute *attribute)
{
	if (take_mark(node, attribute))
		return;
	if (is_note(node, attribute->name))
		sk_array_push(arena, &node->notes, *attribute);
	else
		sk_array_push(arena, &node->attributes, *attribute);
}
