/* Readable dumps; see dumps-parts.h. Each input, constant and node of the graph has a line, and so has each output of a
 * node with several. The format is that of GE's document on readable dumps. ONNX's operators do not name their
 * operands, so operands are numbered. */
#include "graph/dumps/dumps-parts.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/map.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"

enum { SHOWN_ELEMENTS = 6 }; /* of a constant */

struct readable {
	struct sk_arena *arena;
	const struct sk_op_graph *graph;
	FILE *stream;
	bool whole; /* print the contents of constants */
	const char **names; /* by value: the name of its producer */
	uint32_t *users; /* by value: its edges */
	uint32_t parts; /* outputs of nodes with several outputs so far */
};

/* ---- facts about values ---- */

static void count_users(struct readable *readable)
{
	const struct sk_op_graph *graph = readable->graph;

	for (size_t n = 0; n < graph->nodes.count; n++) {
		const struct sk_graph_node *node = &graph->nodes.items[n];

		for (size_t i = 0; i < node->inputs.count && sk_node_is_live(graph, node); i++)
			if (node->inputs.items[i] != SK_NONE)
				readable->users[node->inputs.items[i]]++;
	}
	for (size_t i = 0; i < graph->outputs.count; i++)
		readable->users[graph->outputs.items[i]]++;
}

/* A name must be one word, since a line has several. */
static const char *word(const struct readable *readable, const char *name)
{
	char *copy = sk_arena_print(readable->arena, "%s", name);

	for (char *at = copy; *at; at++)
		if ((unsigned char)*at <= ' ' || strchr("%=,()[]{}", *at))
			*at = '_';
	return copy;
}

static const char *name_of(const struct readable *readable, uint32_t value)
{
	const char *name = readable->names[value];

	return name ? name : word(readable, readable->graph->values.items[value].name);
}

/* ---- lines ---- */

static void begin_line(const struct readable *readable, const char *name, uint64_t users, const char *type)
{
	fprintf(readable->stream, "  %%%s : [#users=%" PRIu64 "] = Node[type=%s] (", name, users, word(readable, type));
}

static void print_elements(const struct readable *readable, const struct sk_value *value)
{
	uint64_t count = sk_value_elements(value), size = sk_dtype_size(value->dtype);
	const char *separator = "";

	for (uint64_t i = 0; i < count; i++, separator = " ") {
		if (count > SHOWN_ELEMENTS && i == SHOWN_ELEMENTS / 2) {
			fprintf(readable->stream, "%s...", separator);
			i = count - SHOWN_ELEMENTS / 2 - 1;
			continue;
		}
		fprintf(readable->stream, "%s%.9g", separator,
			sk_element_number(value->dtype, (const char *)value->contents + i * size));
	}
}

static void print_constant(struct readable *readable, uint32_t value)
{
	const struct sk_value *constant = &readable->graph->values.items[value];

	readable->names[value] = word(readable, constant->name);
	begin_line(readable, readable->names[value], readable->users[value], "Const");
	fputs("attrs = {value: ", readable->stream);
	if (readable->whole) {
		fputc('[', readable->stream);
		print_elements(readable, constant);
		fputc(']', readable->stream);
	} else {
		fputs("<empty>", readable->stream);
	}
	fputs("})\n", readable->stream);
}

static void print_item(const struct readable *readable, const struct sk_attribute *attribute, size_t item)
{
	switch (attribute->kind) {
	case SK_ATTRIBUTE_INTEGER:
		fprintf(readable->stream, "%" PRId64, attribute->integer);
		break;
	case SK_ATTRIBUTE_REAL:
		fprintf(readable->stream, "%f", attribute->real);
		break;
	case SK_ATTRIBUTE_STRING:
		fputs(sk_json_string(readable->arena, attribute->string), readable->stream);
		break;
	case SK_ATTRIBUTE_INTEGERS:
		fprintf(readable->stream, "%" PRId64, attribute->integers[item]);
		break;
	case SK_ATTRIBUTE_REALS:
		fprintf(readable->stream, "%f", attribute->reals[item]);
		break;
	case SK_ATTRIBUTE_STRINGS:
		fputs(sk_json_string(readable->arena, attribute->strings[item]), readable->stream);
		break;
	}
}

/* Attributes of the operator, without marks and notes. */
static void print_attributes(const struct readable *readable, const struct sk_graph_node *node)
{
	const char *separator = "attrs = {";

	for (size_t i = 0; i < node->attributes.count; i++, separator = ", ") {
		const struct sk_attribute *attribute = &node->attributes.items[i];
		bool list = attribute->kind >= SK_ATTRIBUTE_INTEGERS;

		fprintf(readable->stream, "%s%s: %s", separator, word(readable, attribute->name), list ? "{" : "");
		for (size_t item = 0; item < (list ? attribute->count : 1); item++) {
			fputs(item ? ", " : "", readable->stream);
			print_item(readable, attribute, item);
		}
		fputs(list ? "}" : "", readable->stream);
	}
	fputs(node->attributes.count ? "}" : "", readable->stream);
}

static void print_inputs(const struct readable *readable, const struct sk_graph_node *node)
{
	const char *separator = "inputs = (";
	bool any = false;

	for (size_t i = 0; i < node->inputs.count; i++)
		if (node->inputs.items[i] != SK_NONE) {
			fprintf(readable->stream, "%sinput_%zu=%%%s", separator, i,
				name_of(readable, node->inputs.items[i]));
			separator = ", ";
			any = true;
		}
	fputs(!any ? "" : node->attributes.count ? "), " : ")", readable->stream);
}

/* Each output of a node with several has a line of its own. */
static void print_parts(struct readable *readable, const struct sk_graph_node *node, const char *name)
{
	for (size_t i = 0; i < node->outputs.count; i++) {
		uint32_t value = node->outputs.items[i];
		const char *part =
			readable->parts ? sk_arena_print(readable->arena, "ret_%" PRIu32, readable->parts) : "ret";

		readable->parts++;
		if (value != SK_NONE)
			readable->names[value] = part;
		fprintf(readable->stream, "  %%%s : [#users=%" PRIu32 "] = get_element[node=%%%s](%zu)\n", part,
			value == SK_NONE ? 0 : readable->users[value], name, i);
	}
}

static void print_node(struct readable *readable, const struct sk_graph_node *node)
{
	const char *name = word(readable, sk_node_name(readable->graph, node));
	uint32_t first = node->outputs.count ? node->outputs.items[0] : SK_NONE;
	bool several = node->outputs.count > 1;

	for (size_t i = 0; i < node->inputs.count; i++) {
		const struct sk_value *value = sk_node_input(readable->graph, node, i);

		if (value && value->contents && !readable->names[node->inputs.items[i]])
			print_constant(readable, node->inputs.items[i]);
	}
	begin_line(readable, name,
		   several	      ? node->outputs.count
		   : first == SK_NONE ? 0
				      : readable->users[first],
		   node->op);
	print_inputs(readable, node);
	print_attributes(readable, node);
	fputs(")\n", readable->stream);
	if (several)
		print_parts(readable, node, name);
	else if (first != SK_NONE)
		readable->names[first] = name;
}

static void print_return(const struct readable *readable)
{
	const struct sk_op_graph *graph = readable->graph;

	fputs("\n  return (", readable->stream);
	for (size_t i = 0; i < graph->outputs.count; i++) {
		fputs(i ? ", " : "", readable->stream);
		if (graph->outputs.count > 1)
			fprintf(readable->stream, "output_%zu=", i);
		fprintf(readable->stream, "%%%s", name_of(readable, graph->outputs.items[i]));
	}
	fputs(")\n", readable->stream);
}

void sk_dump_readable(const struct sk_op_graph *graph, bool whole, FILE *stream)
{
	struct sk_arena *arena = sk_arena_create();
	struct readable readable = {.arena = arena,
				    .graph = graph,
				    .stream = stream,
				    .whole = whole,
				    .names = SK_NEW_ARRAY(arena, const char *, graph->values.count + 1),
				    .users = SK_NEW_ARRAY(arena, uint32_t, graph->values.count + 1)};

	count_users(&readable);
	fprintf(stream, "graph(%s):\n", sk_json_string(arena, graph->name ? graph->name : ""));
	for (size_t i = 0; i < graph->inputs.count; i++) {
		uint32_t value = graph->inputs.items[i];

		if (graph->values.items[value].contents)
			continue;
		readable.names[value] = word(&readable, graph->values.items[value].name);
		begin_line(&readable, readable.names[value], readable.users[value], "Data");
		fprintf(stream, "attrs = {index: %zu})\n", i);
	}
	for (size_t n = 0; n < graph->nodes.count; n++)
		if (sk_node_is_live(graph, &graph->nodes.items[n]))
			print_node(&readable, &graph->nodes.items[n]);
	for (size_t i = 0; i < graph->outputs.count; i++)
		if (graph->values.items[graph->outputs.items[i]].contents && !readable.names[graph->outputs.items[i]])
			print_constant(&readable, graph->outputs.items[i]);
	print_return(&readable);
	sk_arena_destroy(arena);
}
