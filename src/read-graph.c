/* From a model file to tasks; see read-graph.h. */
#include "src/read-graph.h"

#include "src/folding.h"
#include "src/fusion/onnx/onnx.h"
#include "src/fusion/passes/canonical-graph.h"
#include "src/fusion/passes/infer-graph.h"
#include "src/fusion/passes/lower.h"
#include "src/given.h"

bool sk_network_read(const struct sk_link *link)
{
	struct sk_op_graph *graph = sk_onnx_read(link->arena, link->diag, link->command->manifest);
	sk_graph_calls calls = {NULL, 0, 0};

	if (!graph)
		return false;
	/* Nodes stand behind what they need; types and shapes are what the file says. */

	if (!sk_given_apply(link->command, graph))
		return false;
	/* Inputs are what the command line says, too. */

	if (!sk_graph_infer(graph, sk_fold_values, (void *)link))
		return false;
	/* Every value is of a known type and shape. */

	sk_graph_keep_outputs(graph);
	if (!sk_graph_canonical(graph, graph->outputs.items, graph->outputs.count, &calls))
		return false;
	/* Every node is calls in forms that kernels have. */

	if (!sk_fold_calls(link, graph, &calls))
		return false;
	/* What depends on constants only is a constant. */

	sk_model_set_file(link->model, graph->file);
	sk_graph_lower(graph, &calls, *graph->name ? graph->name : "model", link->model);
	return true;
}
