/* From a model file to tasks; see read-graph.h. */
#include "src/read-graph.h"

#include "src/base/file.h"
#include "src/folding.h"
#include "src/fusion/onnx/onnx.h"
#include "src/fusion/passes/canonical-graph.h"
#include "src/fusion/passes/infer-graph.h"
#include "src/fusion/passes/keep-states.h"
#include "src/fusion/passes/lower.h"
#include "src/fusion/passes/normalised-graph.h"
#include "src/fusion/passes/quantised-graph.h"
#include "src/fusion/passes/unify-constants.h"
#include "src/given.h"
#include "src/scopes.h"

/* --model-text: who reads it needs none of the options that have been applied, but for --state. */
static bool write_text(const struct sk_link *link, const struct sk_op_graph *graph)
{
	const char *path = sk_command_destination(link->command, link->command->model_text);
	struct sk_text text;

	if (!path)
		return true;
	sk_text_open(&text);
	sk_onnx_write_text(graph, text.stream);
	sk_text_close(link->arena, &text);
	return sk_file_write_text(link->diag, path, text.bytes, text.size);
}

/* Of a graph that cannot be linked there are tasks, too, so that what kernels are missing is said at the same time. */
static bool lower_rest(struct sk_op_graph *graph, const sk_graph_calls *calls, struct sk_model *model)
{
	graph->inputs.count = graph->outputs.count = 0;
	sk_graph_lower(graph, calls, NULL, model);
	return false;
}

bool sk_network_read(const struct sk_link *link, const char *path)
{
	const struct sk_graph_file *file = &link->model->graph;
	struct sk_op_graph *graph = sk_onnx_read(link->arena, link->diag, path);
	sk_graph_calls calls = {NULL, 0, 0};
	bool given, complete;

	if (!graph)
		return false;
	/* Nodes stand behind what they need; types and shapes are what the file says. */

	given = sk_given_apply(link->command, file, graph);
	for (size_t i = 0; i < graph->data.count; i++)
		sk_linker_add_dependency(link->linker, graph->data.items[i], true);
	if (!given || !sk_scopes_assign(link->command, file, graph))
		return false;
	/* Inputs and scopes are what the manifest and the command line say, too. */

	if (!write_text(link, graph))
		return false;

	complete = sk_graph_infer(graph, sk_fold_values, (void *)link);
	/* Every value is of a known type and shape. */

	if (complete)
		sk_graph_quantise(graph);
	/* Products between quantised values are products of integers. */

	sk_graph_normalise(graph);
	/* What only scales and shifts the result of a convolution is part of it. */

	sk_graph_keep_outputs(graph);
	complete &= sk_graph_canonical(graph, graph->outputs.items, graph->outputs.count, &calls);
	/* Every node is calls in forms that kernels have. */

	if (!complete)
		return lower_rest(graph, &calls, link->model);

	if (!sk_fold_calls(link, graph, &calls, &link->model->draft))
		return false;
	/* What depends on constants only is a constant. */

	sk_graph_unify_constants(graph, &calls);
	/* Equal constants are one. */

	if (!sk_graph_keep_states(graph, &calls))
		return false;
	/* What the next run reads is where this one reads it. */

	sk_graph_lower(graph, &calls, sk_scopes_default(graph), link->model);
	return sk_scopes_take_options(graph, link->model);
}
