/* If, Loop and Scan with conditions and counts that are known when linking. The nodes of the branch, or of each
 * iteration, replace them. */
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators-parts.h"
#include "graph/operators/operators.h"

enum {
	MOST_ITERATIONS = 1024, /* of one loop */
	MOST_COMPUTED = 16, /* iterations with conditions that kernels compute; each takes a link and a process */
};

static const struct sk_op_graph *body_of(const struct sk_graph_node *node, const char *name)
{
	for (size_t i = 0; i < node->graphs.count; i++)
		if (!strcmp(node->graphs.items[i].name, name))
			return node->graphs.items[i].graph;
	return NULL;
}

/* ---- results ---- */

static void make_identity(const struct sk_expansion *expansion, uint32_t from, uint32_t to)
{
	if (to != SK_NONE)
		sk_expansion_node(expansion, "Identity", from, to);
}

/* Join the results of the iterations to one value, with a new dimension for the iterations. */
static bool join_iterations(const struct sk_expansion *expansion, const sk_graph_sequence *made, int64_t axis,
			    uint32_t to)
{
	if (to == SK_NONE)
		return true;
	if (!made->count)
		return sk_expansion_refuse(expansion, "it has no iterations, so its collected values have no shape");
	sk_expansion_concat(expansion, made, axis, true, to);
	return true;
}

/* ---- If ---- */

static bool expand_if(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	const struct sk_value *condition = sk_node_input(graph, node, 0);
	const struct sk_expansion expansion = {graph, node, nodes};
	const struct sk_op_graph *body;
	const int64_t *chosen;
	const uint32_t *results;
	uint64_t count;

	if (!sk_value_integers(graph->arena, condition, &count, &chosen) || count != 1)
		return sk_expansion_refuse(&expansion, "its condition is not one bool");
	body = body_of(node, *chosen ? "then_branch" : "else_branch");
	if (!body || body->inputs.count || body->outputs.count != node->outputs.count)
		return sk_expansion_refuse(&expansion,
					   "its branch does not have the same number of outputs, or it has inputs");
	results = sk_inline_body(&expansion, body, sk_node_name(graph, node), NULL);
	for (size_t i = 0; i < node->outputs.count && results; i++)
		make_identity(&expansion, results[i], node->outputs.items[i]);
	return results;
}

/* ---- Loop ---- */

/* A loop before an iteration: its inputs are the count, the condition, the carried values, and then the values
 * collected so far. */
struct loop {
	struct sk_expansion expansion;
	const struct sk_op_graph *body;
	size_t carried, collected; /* `collected`: by an iteration */
	int64_t iteration, most;
	SK_ARRAY(uint32_t) values; /* the condition, the carried values, the collected values */
	struct sk_small_numbers small; /* conditions that need no kernels */
};

static bool read_loop(struct loop *loop)
{
	struct sk_op_graph *graph = loop->expansion.graph;
	const struct sk_graph_node *node = loop->expansion.node;
	const struct sk_value *most = sk_node_input(graph, node, 0);
	const int64_t *counts;
	uint64_t count;

	loop->body = body_of(node, "body");
	loop->iteration = node->iterations;
	loop->most = INT64_MAX;
	if (most && (!sk_value_integers(graph->arena, most, &count, &counts) || count != 1))
		return sk_expansion_refuse(&loop->expansion, "how many iterations it has is not one number");
	if (most)
		loop->most = counts[0];
	if (!loop->body || loop->body->inputs.count < 2 || loop->body->outputs.count < loop->body->inputs.count - 1)
		return sk_expansion_refuse(&loop->expansion,
					   "its body does not have a number, a condition and the carried values as "
					   "inputs, and all but the number as outputs");
	loop->carried = loop->body->inputs.count - 2;
	loop->collected = loop->body->outputs.count - 1 - loop->carried;
	if (node->inputs.count != 2 + loop->carried + loop->collected * node->iterations ||
	    node->outputs.count > loop->carried + loop->collected)
		return sk_expansion_refuse(&loop->expansion, "its body carries another number of values than it has");
	for (size_t i = 1; i < node->inputs.count; i++)
		sk_array_push(graph->arena, &loop->values, node->inputs.items[i]);
	return true;
}

/* Return 1 if there is another iteration, 0 if not, -1 if that is not known yet. */
static int goes_on(struct loop *loop)
{
	bool truth;

	const struct sk_op_graph *graph = loop->expansion.graph;
	const struct sk_value *condition =
		loop->values.items[0] == SK_NONE ? NULL : &graph->values.items[loop->values.items[0]];
	const int64_t *conditions;
	uint64_t count;

	if (loop->iteration >= loop->most)
		return 0;
	if (!condition)
		return 1;
	if (condition->contents && sk_value_integers(graph->arena, condition, &count, &conditions) && count == 1)
		return conditions[0] != 0;
	return sk_small_truth(&loop->small, loop->values.items[0], &truth) ? truth : -1;
}

static bool iterate(struct loop *loop)
{
	struct sk_op_graph *graph = loop->expansion.graph;
	uint32_t *inputs = SK_NEW_ARRAY(graph->arena, uint32_t, loop->carried + 2);
	const char *prefix = sk_arena_print(graph->arena, "%s/%lld", sk_node_name(graph, loop->expansion.node),
					    (long long)loop->iteration);
	const uint32_t *results;

	if (loop->iteration == MOST_ITERATIONS)
		return sk_expansion_refuse(&loop->expansion,
					   "it has more than 1024 iterations, each of which becomes nodes");
	inputs[0] = sk_graph_new_constant(graph, prefix, SK_I64, 0, NULL, &loop->iteration);
	inputs[1] = loop->values.items[0];
	if (inputs[1] == SK_NONE)
		inputs[1] = sk_graph_new_constant(graph, prefix, SK_BOOL, 0, NULL, "\1");
	memcpy(inputs + 2, loop->values.items + 1, loop->carried * sizeof(*inputs));
	results = sk_inline_body(&loop->expansion, loop->body, prefix, inputs);
	if (!results)
		return false;
	loop->values.items[0] = results[0];
	memcpy(loop->values.items + 1, results + 1, loop->carried * sizeof(*results));
	for (size_t i = 0; i < loop->collected; i++)
		sk_array_push(graph->arena, &loop->values, results[1 + loop->carried + i]);
	loop->iteration++;
	return true;
}

static bool finish_loop(struct loop *loop)
{
	struct sk_op_graph *graph = loop->expansion.graph;
	const struct sk_graph_node *owner = loop->expansion.node;

	for (size_t i = 0; i < loop->carried && i < owner->outputs.count; i++)
		make_identity(&loop->expansion, loop->values.items[1 + i], owner->outputs.items[i]);
	for (size_t i = loop->carried; i < owner->outputs.count; i++) {
		sk_graph_sequence pieces = {NULL, 0, 0};

		for (size_t v = 1 + i; v < loop->values.count; v += loop->collected)
			sk_array_push(graph->arena, &pieces, loop->values.items[v]);
		if (!join_iterations(&loop->expansion, &pieces, 0, owner->outputs.items[i]))
			return false;
	}
	return true;
}

/* Leave a loop for the remaining iterations; their condition must be computed first. */
static void suspend(struct loop *loop)
{
	struct sk_op_graph *graph = loop->expansion.graph;
	const struct sk_graph_node *owner = loop->expansion.node;
	struct sk_graph_node rest = *owner;

	memset(&rest.inputs, 0, sizeof(rest.inputs));
	sk_array_push(graph->arena, &rest.inputs, owner->inputs.items[0]);
	for (size_t v = 0; v < loop->values.count; v++)
		sk_array_push(graph->arena, &rest.inputs, loop->values.items[v]);
	rest.iterations = (uint32_t)loop->iteration;
	sk_array_push(graph->arena, loop->expansion.nodes, rest);
}

static bool expand_loop(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	struct loop loop = {.expansion = {graph, node, nodes}};
	int more;

	loop.small.expansion = &loop.expansion;
	if (!read_loop(&loop))
		return false;
	while ((more = goes_on(&loop)) > 0)
		if (!iterate(&loop))
			return false;
	if (!more)
		return finish_loop(&loop);
	if (loop.iteration > MOST_COMPUTED)
		return sk_expansion_refuse(
			&loop.expansion,
			"its condition would have to be computed for each of more than 16 iterations, and it is more "
			"than a comparison of a counter; say how many there are with a constant count, and pass the "
			"condition on as it is");
	suspend(&loop);
	return true;
}

/* ---- Scan: a loop over slices, with as many iterations as the inputs have slices ---- */

struct scan {
	struct sk_expansion expansion;
	const struct sk_op_graph *body;
	size_t carried, scanned,
		collected; /* carried values; inputs that are scanned; values that an iteration collects */
	uint64_t iterations;
	uint32_t *values; /* the carried values */
	sk_graph_sequence *made; /* by collected value */
};

/* Return the item of an attribute that is a list of numbers; 0 if it is absent. */
static int64_t number_at(const struct sk_graph_node *node, const char *name, size_t place)
{
	size_t count;
	const int64_t *numbers = sk_node_integers(node, name, &count);

	return place < count ? numbers[place] : 0;
}

/* Return the axis along which an input is scanned. */
static bool scan_axis(const struct scan *scan, size_t input, uint32_t *axis)
{
	struct sk_op_graph *graph = scan->expansion.graph;
	const struct sk_graph_node *node = scan->expansion.node;
	const struct sk_inference inference = {graph, (struct sk_graph_node *)(uintptr_t)node};
	const struct sk_value *value = sk_node_input(graph, node, scan->carried + input);

	if (!value)
		return sk_expansion_refuse(&scan->expansion, "one of the inputs that it goes through is absent");
	return sk_infer_axis(&inference, number_at(node, "scan_input_axes", input), value->rank, axis);
}

static bool read_scan(struct scan *scan)
{
	struct sk_op_graph *graph = scan->expansion.graph;
	const struct sk_graph_node *node = scan->expansion.node;
	int64_t scanned = sk_node_integer(node, "num_scan_inputs", 0);
	uint32_t axis;

	scan->body = body_of(node, "body");
	if (!scan->body || scanned < 1 || (uint64_t)scanned > node->inputs.count ||
	    scan->body->inputs.count != node->inputs.count || scan->body->outputs.count != node->outputs.count ||
	    node->outputs.count + (uint64_t)scanned < node->inputs.count)
		return sk_expansion_refuse(&scan->expansion, "its body does not have the same inputs and outputs");
	scan->scanned = (size_t)scanned;
	scan->carried = node->inputs.count - scan->scanned;
	scan->collected = node->outputs.count - scan->carried;
	for (size_t i = 0; i < scan->scanned; i++) {
		if (!scan_axis(scan, i, &axis))
			return false;

		uint64_t slices = sk_node_input(graph, node, scan->carried + i)->shape[axis];

		if (i && slices != scan->iterations)
			return sk_expansion_refuse(&scan->expansion,
						   "its scanned inputs do not have the same number of slices");
		scan->iterations = slices;
	}
	if (scan->iterations > MOST_ITERATIONS)
		return sk_expansion_refuse(&scan->expansion,
					   "it has more than 1024 iterations, each of which becomes nodes");
	return true;
}

static bool take_slice(const struct scan *scan, size_t input, uint64_t iteration, uint32_t *slice)
{
	struct sk_op_graph *graph = scan->expansion.graph;
	const struct sk_graph_node *owner = scan->expansion.node;
	bool backward = number_at(owner, "scan_input_directions", input) != 0;
	int64_t index = (int64_t)(backward ? scan->iterations - 1 - iteration : iteration);
	uint32_t number = sk_graph_new_constant(graph, sk_node_name(graph, owner), SK_I64, 0, NULL, &index), axis;

	if (!scan_axis(scan, input, &axis))
		return false;
	*slice = sk_expansion_binary(&scan->expansion, "Gather", owner->inputs.items[scan->carried + input], number);
	sk_node_set_integer(graph, &scan->expansion.nodes->items[scan->expansion.nodes->count - 1], "axis", axis);
	return true;
}

static bool scan_once(struct scan *scan, uint64_t iteration)
{
	struct sk_op_graph *graph = scan->expansion.graph;
	uint32_t *inputs = SK_NEW_ARRAY(graph->arena, uint32_t, scan->carried + scan->scanned);
	const uint32_t *results;

	memcpy(inputs, scan->values, scan->carried * sizeof(*inputs));
	for (size_t i = 0; i < scan->scanned; i++)
		if (!take_slice(scan, i, iteration, &inputs[scan->carried + i]))
			return false;
	results = sk_inline_body(&scan->expansion, scan->body,
				 sk_arena_print(graph->arena, "%s/%llu", sk_node_name(graph, scan->expansion.node),
						(unsigned long long)iteration),
				 inputs);
	if (!results)
		return false;
	memcpy(scan->values, results, scan->carried * sizeof(*results));
	for (size_t i = 0; i < scan->collected; i++)
		sk_array_push(graph->arena, &scan->made[i], results[scan->carried + i]);
	return true;
}

static void reverse(sk_graph_sequence *sequence)
{
	for (size_t i = 0; i < sequence->count / 2; i++) {
		uint32_t *other = &sequence->items[sequence->count - 1 - i], value = *other;

		*other = sequence->items[i];
		sequence->items[i] = value;
	}
}

static bool expand_scan(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	struct scan scan = {.expansion = {graph, node, nodes}};

	if (!read_scan(&scan))
		return false;
	scan.values = SK_NEW_ARRAY(graph->arena, uint32_t, scan.carried + 1);
	scan.made = SK_NEW_ARRAY(graph->arena, sk_graph_sequence, scan.collected + 1);
	for (size_t i = 0; i < scan.carried; i++)
		scan.values[i] = node->inputs.items[i];
	for (uint64_t i = 0; i < scan.iterations; i++)
		if (!scan_once(&scan, i))
			return false;
	for (size_t i = 0; i < scan.carried; i++)
		make_identity(&scan.expansion, scan.values[i], node->outputs.items[i]);
	for (size_t i = 0; i < scan.collected; i++) {
		if (number_at(node, "scan_output_directions", i))
			reverse(&scan.made[i]);
		if (!join_iterations(&scan.expansion, &scan.made[i], number_at(node, "scan_output_axes", i),
				     node->outputs.items[scan.carried + i]))
			return false;
	}
	return true;
}

/* Before operator set 9 each batch of the inputs was scanned by itself, and inputs had lengths. */
static bool upgrade_scan(struct sk_op_graph *graph, struct sk_graph_node *node)
{
	if (node->version < 9)
		sk_node_error(graph, node,
			      "it is one of operator set 8, with batches; convert the model to operator set 9");
	return node->version >= 9;
}

/* ---- the table ---- */

static const struct sk_schema_attribute scan[] = {
	{"num_scan_inputs", SK_ATTRIBUTE_INTEGER, true},   {"scan_input_axes", SK_ATTRIBUTE_INTEGERS},
	{"scan_input_directions", SK_ATTRIBUTE_INTEGERS},  {"scan_output_axes", SK_ATTRIBUTE_INTEGERS},
	{"scan_output_directions", SK_ATTRIBUTE_INTEGERS}, {NULL}};

const struct sk_schema sk_operators_bodies[] = {
	{"If", "", 1, 1, 1, SK_VARIADIC, .demands = 1, .expand = expand_if},
	{"Loop", "", 0, SK_VARIADIC, 1, SK_VARIADIC, .demands = 3, .sequences = true, .expand = expand_loop},
	{"Scan", "", 1, SK_VARIADIC, 1, SK_VARIADIC, .attributes = scan, .upgrade = upgrade_scan,
	 .expand = expand_scan},
	{NULL},
};
