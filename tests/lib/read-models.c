/* Reads and prints models, so that scripts can compare them with another reader's result:
 *
 *   read-models [--again] FILE…
 *
 * Prints a line with each file's name and then the graph, or the errors. With --again each graph is written as text,
 * and the graph that is read from the text is printed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/onnx/onnx.h"

static void print_attribute(const struct sk_attribute *attribute)
{
	printf("  %s =", attribute->name);
	switch (attribute->kind) {
	case SK_ATTRIBUTE_INTEGER:
		printf(" %" PRId64, attribute->integer);
		break;
	case SK_ATTRIBUTE_REAL:
		printf(" %.9g", attribute->real);
		break;
	case SK_ATTRIBUTE_STRING:
		printf(" '%s'", attribute->string);
		break;
	case SK_ATTRIBUTE_INTEGERS:
		for (size_t i = 0; i < attribute->count; i++)
			printf(" %" PRId64 ",", attribute->integers[i]);
		break;
	case SK_ATTRIBUTE_REALS:
		for (size_t i = 0; i < attribute->count; i++)
			printf(" %.9g,", attribute->reals[i]);
		break;
	case SK_ATTRIBUTE_STRINGS:
		for (size_t i = 0; i < attribute->count; i++)
			printf(" '%s',", attribute->strings[i]);
		break;
	}
	putchar('\n');
}

static void print_value(const char *kind, const char *name, const struct sk_value *value)
{
	printf("%s %s %s", kind, name, sk_dtype_name(value->dtype));
	for (uint32_t i = 0; i < value->rank; i++)
		if (value->shape[i] == SK_UNKNOWN)
			printf(" ?%s", value->symbols[i] ? value->symbols[i] : "");
		else
			printf(" %" PRIu64, value->shape[i]);
	if (value->contents)
		printf(" crc %08lx",
		       crc32_z(0, value->contents, sk_value_elements(value) * sk_dtype_size(value->dtype)));
	printf(value->shaped ? "\n" : " unshaped\n");
}

static void print_operands(const struct sk_op_graph *graph, const uint32_t *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		printf(" %s", values[i] == SK_NONE ? "-" : graph->values.items[values[i]].name);
}

static void print_graph(const struct sk_op_graph *graph)
{
	for (size_t i = 0; i < graph->inputs.count; i++)
		print_value("input", graph->values.items[graph->inputs.items[i]].name,
			    &graph->values.items[graph->inputs.items[i]]);
	for (size_t i = 0; i < graph->nodes.count; i++) {
		const struct sk_graph_node *node = &graph->nodes.items[i];

		printf("node %s %s %s %" PRIu32 ":", node->name, node->op, node->domain, node->version);
		print_operands(graph, node->inputs.items, node->inputs.count);
		printf(" ->");
		print_operands(graph, node->outputs.items, node->outputs.count);
		putchar('\n');
		for (size_t j = 0; j < node->attributes.count; j++)
			print_attribute(&node->attributes.items[j]);
		for (size_t j = 0; j < node->tensors.count; j++)
			print_value("  tensor", node->tensors.items[j].name,
				    &graph->values.items[node->tensors.items[j].value]);
		for (size_t j = 0; j < node->graphs.count; j++) {
			printf("  graph %s {\n", node->graphs.items[j].name);
			print_graph(node->graphs.items[j].graph);
			printf("}\n");
		}
		for (size_t j = 0; j < node->inputs.count; j++) {
			const struct sk_value *value = sk_node_input(graph, node, j);

			if (value && value->contents)
				print_value("  constant", value->name, value);
		}
	}
	for (size_t i = 0; i < graph->outputs.count; i++)
		print_value("output", graph->values.items[graph->outputs.items[i]].name,
			    &graph->values.items[graph->outputs.items[i]]);
}

/* The graph once more, by way of a text in the working directory. */
static struct sk_op_graph *read_again(struct sk_arena *arena, struct sk_diag *diag, const struct sk_op_graph *graph)
{
	FILE *stream = fopen("again.pbtxt", "w");

	if (!stream) {
		perror("again.pbtxt");
		exit(1);
	}
	sk_onnx_write_text(graph, stream);
	if (fclose(stream)) {
		perror("again.pbtxt");
		exit(1);
	}
	return sk_onnx_read(arena, diag, "again.pbtxt", false);
}

int main(int argc, char **argv)
{
	bool again = argc > 1 && !strcmp(argv[1], "--again");

	for (int i = 1 + again; i < argc; i++) {
		struct sk_arena *arena = sk_arena_create();
		struct sk_diag diag;
		struct sk_op_graph *graph;

		sk_diag_init(&diag, arena);
		graph = sk_onnx_read(arena, &diag, argv[i], false);
		if (graph && again)
			graph = read_again(arena, &diag, graph);
		printf("file %s\n", argv[i]);
		if (graph)
			print_graph(graph);
		sk_diag_flush(&diag, "read-models", 0, stdout);
		sk_arena_destroy(arena);
	}
	return 0;
}
