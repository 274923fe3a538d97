/* A graph as text for people and scripts: names are JSON strings; see dumps-parts.h. */
#include "base/json.h"
#include "graph/dumps/dumps-parts.h"
#include "graph/graph.h"

#include <inttypes.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/text.h"
#include "format/signature/signature.h"
#include "format/skplan.h"

struct printing {
	struct sk_arena *arena; /* for the texts of one line */
	const struct sk_op_graph *graph;
	FILE *stream;
};

const char *sk_dump_type(struct sk_arena *arena, const struct sk_value *value)
{
	return sk_arena_print(arena, "%s%s", value->dtype ? sk_dtype_name(value->dtype) : "?",
			      value->shaped ? sk_value_shape_text(arena, value) : "[…]");
}

static void print_name(const struct printing *printing, const char *name)
{
	fputs(sk_json_string(printing->arena, name), printing->stream);
}

static void print_value(const struct printing *printing, uint32_t index)
{
	const struct sk_value *value;

	if (index == SK_NONE) {
		putc('_', printing->stream);
		return;
	}
	value = &printing->graph->values.items[index];
	print_name(printing, value->name);
	fprintf(printing->stream, ": %s", sk_dump_type(printing->arena, value));
}

static void print_values(const struct printing *printing, const uint32_t *values, size_t count)
{
	putc('(', printing->stream);
	for (size_t i = 0; i < count; i++) {
		fputs(i ? ", " : "", printing->stream);
		print_value(printing, values[i]);
	}
	putc(')', printing->stream);
}

static void print_attributes(const struct printing *printing, const struct sk_graph_node *node)
{
	const char *separator = " {";

	for (size_t i = 0; i < node->attributes.count; i++) {
		const struct sk_attribute *attribute = &node->attributes.items[i];

		fputs(separator, printing->stream);
		print_name(printing, attribute->name);
		fputs(": ", printing->stream);
		print_name(printing, attribute->kind == SK_ATTRIBUTE_STRING
					     ? attribute->string
					     : sk_attribute_text(printing->arena, attribute));
		separator = ", ";
	}
	fputs(node->attributes.count ? "}" : "", printing->stream);
}

static void print_word(const struct printing *printing, const char *key, const char *word)
{
	if (!word)
		return;
	fprintf(printing->stream, " %s=", key);
	print_name(printing, word);
}

/* Print the part of the line that describes the node's computation. */
static void print_call(const struct printing *printing, const struct sk_graph_node *node)
{
	const char *op = *node->domain ? sk_arena_print(printing->arena, "%s:%s", node->domain, node->op) : node->op;

	print_name(printing, sk_node_name(printing->graph, node));
	fputs(" = ", printing->stream);
	print_name(printing, op);
	print_values(printing, node->inputs.items, node->inputs.count);
	fputs(" -> ", printing->stream);
	print_values(printing, node->outputs.items, node->outputs.count);
	print_attributes(printing, node);
}

static void print_node(const struct printing *printing, uint32_t number)
{
	const struct sk_graph_node *node = &printing->graph->nodes.items[number];

	fprintf(printing->stream, "node %" PRIu32 " ", number);
	print_call(printing, node);
	if (node->stream)
		fprintf(printing->stream, " stream=%" PRIu32, node->stream);
	if (node->cube_cores)
		fprintf(printing->stream, " cube_cores=%" PRIu32, node->cube_cores);
	if (node->vector_cores)
		fprintf(printing->stream, " vector_cores=%" PRIu32, node->vector_cores);
	if (node->composite)
		fprintf(printing->stream, " composite=%" PRIu32, sk_dump_composite(node));
	print_word(printing, "scope", node->scope);
	print_word(printing, "origin", node->origin);
	print_word(printing, "rule", node->rule);
	putc('\n', printing->stream);
}

static void print_line(const struct printing *printing, const char *kind, uint32_t value)
{
	double number;

	fprintf(printing->stream, "%s ", kind);
	print_value(printing, value);
	if (sk_value_number(&printing->graph->values.items[value], &number))
		fprintf(printing->stream, " = %.9g", number);
	putc('\n', printing->stream);
}

static void print_composites(const struct printing *printing)
{
	const struct sk_op_graph *graph = printing->graph;
	const uint32_t *starts = sk_graph_members(printing->arena, graph).starts;

	for (size_t i = 0; i < graph->composites.count; i++) {
		uint32_t members = starts[i + 1] - starts[i];

		if (!members)
			continue;
		fprintf(printing->stream, "composite %zu ", i);
		print_name(printing, graph->composites.items[i].name);
		fprintf(printing->stream, ": %" PRIu32 " node%s\n", members, sk_plural(members));
	}
}

void sk_dump_call(const struct sk_op_graph *graph, uint32_t node, FILE *stream)
{
	const struct printing printing = {sk_arena_create(), graph, stream};

	print_call(&printing, &graph->nodes.items[node]);
	sk_arena_destroy(printing.arena);
}

void sk_dump_text(const struct sk_op_graph *graph, const char *title, FILE *stream)
{
	const struct printing printing = {sk_arena_create(), graph, stream};

	fputs("graph ", stream);
	print_name(&printing, graph->name);
	fprintf(stream, " # %s\n", title);
	for (size_t i = 0; i < graph->inputs.count; i++)
		if (!graph->values.items[graph->inputs.items[i]].contents)
			print_line(&printing, "input", graph->inputs.items[i]);
	for (uint32_t i = 0; i < graph->values.count; i++)
		if (graph->values.items[i].contents)
			print_line(&printing, "constant", i);
	print_composites(&printing);
	for (uint32_t i = 0; i < graph->nodes.count; i++)
		if (sk_node_is_live(graph, &graph->nodes.items[i]))
			print_node(&printing, i);
	for (size_t i = 0; i < graph->outputs.count; i++)
		print_line(&printing, "output", graph->outputs.items[i]);
	sk_arena_destroy(printing.arena);
}
