/* Fuzz target: a file of rules, read and applied to a graph with operators of several families. The result must be a
 * graph again: producers come before users, the types and shapes of the outputs have not changed, and inference from
 * the start finds the same types and shapes. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/passes/passes.h"
#include "graph/rules/rules-parts.h"
#include "graph/rules/rules.h"

/* The operator, its inputs and, after '>', its outputs. */
static const char *const lines[] = {
	"Relu x > a",	       "Add a w > b",	       "Mul b b > c",
	"Sigmoid c > d",       "Sum a b c d > e",      "Reshape e shape > f",
	"Softmax f > g",       "ReduceSum g axes > h", "Expand h full > i",
	"Greater i g > j",     "Where j i g > k",      "Clip k number > l",
	"Tanh l > m",	       "Gelu m > n",	       "LayerNormalization n row row > o p q",
	"MatMul o square > r", "Identity r > y",
};

static uint32_t add_value(struct sk_op_graph *graph, const char *name)
{
	return sk_graph_value(graph, sk_arena_copy(graph->arena, name, strlen(name)));
}

static void add_node(struct sk_op_graph *graph, const char *line)
{
	char text[64], *word;
	uint32_t index = (uint32_t)graph->nodes.count;
	bool makes = false;

	strcpy(text, line);
	word = strtok(text, " ");
	sk_graph_add_node(graph, sk_arena_copy(graph->arena, word, strlen(word)))->version = 24;
	while ((word = strtok(NULL, " "))) {
		uint32_t value = add_value(graph, word);

		if (!strcmp(word, ">")) {
			makes = true;
		} else if (makes) {
			graph->values.items[value].node = index;
			sk_array_push(graph->arena, &graph->nodes.items[index].outputs, value);
		} else {
			sk_array_push(graph->arena, &graph->nodes.items[index].inputs, value);
		}
	}
}

static struct sk_op_graph *make_graph(struct sk_arena *arena, struct sk_diag *diag)
{
	struct sk_op_graph *graph = sk_graph_create(arena, diag, "fuzz.onnx");
	static const float numbers[16] = {0.5F, -1, 2};
	uint64_t size[] = {4, 4};
	uint32_t value = sk_graph_new_value(graph, "x", SK_F32, 2, size);

	graph->values.items[value].input = true;
	sk_array_push(arena, &graph->inputs, value);
	sk_graph_new_constant(graph, "w", SK_F32, 2, size, numbers);
	sk_graph_new_constant(graph, "square", SK_F32, 2, size, numbers);
	sk_graph_new_constant(graph, "row", SK_F32, 1, size, numbers);
	sk_graph_new_constant(graph, "number", SK_F32, 0, NULL, numbers);
	sk_graph_new_integers(graph, "shape", 2, (int64_t[]){4, -1});
	sk_graph_new_integers(graph, "axes", 1, (int64_t[]){1});
	sk_graph_new_integers(graph, "full", 2, (int64_t[]){4, 4});
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		add_node(graph, lines[i]);
	for (const char *name = "jpy"; *name; name++) {
		value = add_value(graph, (char[]){*name, 0});
		graph->values.items[value].output = true;
		sk_array_push(arena, &graph->outputs, value);
	}
	return graph;
}

/* Check the properties of a graph that inference needs to run again. */
static void check_graph(struct sk_op_graph *graph)
{
	for (size_t n = 0; n < graph->nodes.count; n++) {
		const struct sk_graph_node *node = &graph->nodes.items[n];

		fuzz_promise(!node->removed, "nodes that are gone are not in the graph");
		for (size_t i = 0; i < node->inputs.count; i++) {
			const struct sk_value *value = sk_node_input(graph, node, i);

			fuzz_promise(!value || value->contents || value->node == SK_NONE || value->node < n,
				     "producers stand in front of users");
			fuzz_promise(!value || value->contents || value->node != SK_NONE || value->input,
				     "somebody makes what a node takes");
		}
		for (size_t i = 0; i < node->outputs.count; i++)
			fuzz_promise(node->outputs.items[i] == SK_NONE ||
					     graph->values.items[node->outputs.items[i]].node == n,
				     "values know who makes them");
	}
	for (size_t i = 0; i < graph->outputs.count; i++)
		fuzz_promise(graph->values.items[graph->outputs.items[i]].node != SK_NONE,
			     "somebody makes the outputs");
	fuzz_promise(sk_graph_infer(graph, NULL, NULL), "what rules make is inferred as it was");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct sk_arena *arena = sk_arena_create();
	struct sk_rules rules = {0};
	struct sk_diag diag;

	sk_diag_init(&diag, arena);
	if (sk_rules_parse(arena, &diag, "fuzz.yaml", bytes, size, &rules)) {
		struct sk_op_graph *graph = make_graph(arena, &diag);
		struct sk_rule_pass pass = {.graph = graph, .sets = {&rules.expand, &rules.fuse}, .target = "host"};

		fuzz_promise(sk_graph_infer(graph, NULL, NULL), "the graph is one");
		sk_rules_apply(&pass);
		check_graph(graph);
		fuzz_promise(!diag.errors, "rules that do not fit are no errors");
		if (pass.replaced)
			fuzz_accept();
	} else {
		fuzz_promise(diag.errors, "rules that are refused give an error");
	}
	sk_arena_destroy(arena);
	return 0;
}
