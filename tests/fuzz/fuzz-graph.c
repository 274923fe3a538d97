/* The promises of a graph; see fuzz-graph.h. */
#include "tests/fuzz/fuzz-graph.h"
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/onnx/onnx.h"

static void check_graph(const struct sk_op_graph *graph);

static void check_value(const struct sk_op_graph *graph, const struct sk_value *value, uint32_t index)
{
	uint64_t bytes = sk_dtype_size(value->dtype);
	volatile uint8_t sum = 0;

	fuzz_promise(sk_map_find(&graph->value_names, value->name, strlen(value->name)) == index,
		     "a value has a name that leads to it");
	fuzz_promise(value->rank <= SK_MAX_RANK && value->dtype < SK_DTYPE_COUNT, "a value has a rank and a type");
	fuzz_promise(value->node == SK_NONE || (value->node < graph->nodes.count && !value->contents && !value->input),
		     "a value is an input, a constant or made by a node");
	if (!value->contents)
		return;
	fuzz_promise(sk_value_is_static(value), "a constant is static");
	for (uint32_t i = 0; i < value->rank; i++)
		fuzz_promise(!value->shape[i] || value->shape[i] <= INT64_MAX, "dimensions are numbers");
	bytes *= sk_value_elements(value);
	for (uint64_t i = 0; i < bytes; i++)
		sum ^= ((const uint8_t *)value->contents)[i];
	(void)sum;
}

/* Producers come before users. */
static void check_operands(const struct sk_op_graph *graph, const struct sk_graph_node *node, uint32_t number)
{
	for (size_t i = 0; i < node->inputs.count; i++) {
		const struct sk_value *value = sk_node_input(graph, node, i);

		fuzz_promise(!value || value->node == SK_NONE || value->node < number,
			     "a node's inputs are made before it");
	}
	for (size_t i = 0; i < node->outputs.count; i++) {
		const struct sk_value *value = sk_node_output(graph, node, i);

		fuzz_promise(!value || value->node == number, "a node's outputs are made by it");
	}
}

static void check_node(const struct sk_op_graph *graph, const struct sk_graph_node *node, uint32_t number)
{
	fuzz_promise(node->op && *node->op && node->domain && node->name && node->version >= 1,
		     "a node has an operator of a version");
	fuzz_promise(node->outputs.count > 0, "a node has outputs");
	fuzz_promise(node->composite <= graph->composites.count, "a node is a member of a composite that there is");
	check_operands(graph, node, number);
	for (size_t i = 0; i < node->attributes.count; i++)
		fuzz_promise(sk_node_attribute(node, node->attributes.items[i].name) == &node->attributes.items[i],
			     "a node has each attribute once");
	for (size_t i = 0; i < node->tensors.count; i++)
		fuzz_promise(graph->values.items[node->tensors.items[i].value].contents != NULL,
			     "an attribute that is a tensor is a constant");
	for (size_t i = 0; i < node->graphs.count; i++) {
		fuzz_promise(node->graphs.items[i].graph->outer == graph, "a body knows the graph around it");
		check_graph(node->graphs.items[i].graph);
	}
}

static void check_graph(const struct sk_op_graph *graph)
{
	for (uint32_t i = 0; i < graph->values.count; i++)
		check_value(graph, &graph->values.items[i], i);
	for (uint32_t i = 0; i < graph->nodes.count; i++)
		check_node(graph, &graph->nodes.items[i], i);
	for (size_t i = 0; i < graph->inputs.count; i++)
		fuzz_promise(graph->values.items[graph->inputs.items[i]].input, "inputs are inputs");
	for (size_t i = 0; i < graph->outputs.count; i++)
		fuzz_promise(graph->values.items[graph->outputs.items[i]].output, "outputs are outputs");
}

/* ---- as text ---- */

static char *write_text(const struct sk_op_graph *graph, size_t *size)
{
	char *text = NULL;
	FILE *stream = open_memstream(&text, size);

	fuzz_promise(stream != NULL, "there is memory");
	sk_onnx_write_text(graph, stream);
	fuzz_promise(fclose(stream) == 0, "a graph can be written");
	return text;
}

/* Written as text and read again it is the same. */
static void check_text(const struct sk_op_graph *graph)
{
	char path[FUZZ_PATH_SIZE], *text, *again;
	size_t size, size_again;
	struct sk_arena *arena = sk_arena_create();
	struct sk_diag diag;

	text = write_text(graph, &size);
	sk_diag_init(&diag, arena);

	int descriptor = fuzz_file((const uint8_t *)text, size, path);
	const struct sk_op_graph *copy = sk_onnx_read(arena, &diag, path, false);

	if (!copy)
		sk_diag_flush(&diag, "the text of a graph", 0, stderr);
	fuzz_promise(copy != NULL, "what has been written can be read");
	check_graph(copy);
	again = write_text(copy, &size_again);
	fuzz_promise(size == size_again && !memcmp(text, again, size), "a graph that has been read again is the same");
	free(text);
	free(again);
	close(descriptor);
	sk_arena_destroy(arena);
}

void fuzz_model(const char *path)
{
	struct sk_arena *arena = sk_arena_create();
	struct sk_diag diag;

	sk_diag_init(&diag, arena);

	const struct sk_op_graph *graph = sk_onnx_read(arena, &diag, path, false);

	fuzz_promise((graph != NULL) == (diag.errors == 0), "a model that is refused gives an error");
	if (graph) {
		check_graph(graph);
		check_text(graph);
		fuzz_accept();
	}
	sk_arena_destroy(arena);
}
