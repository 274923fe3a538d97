/* If and Loop, which are for those whose conditions and counts are known when linking: the nodes of the branch, or of
 * each iteration, take their place. */
#include <string.h>

#include "src/fusion/operators/families.h"

enum {
	MOST_ITERATIONS = 1024, /* of one loop */
	MOST_COMPUTED = 16, /* of these, whose conditions are computed: that takes a link and a process each */
};

/* A body that becomes nodes of a graph, once. */
struct inlining {
	struct sk_op_graph *graph;
	const struct sk_op_graph *body;
	const struct sk_graph_node *owner;
	const char *prefix; /* of names */
	uint32_t *values; /* of the graph, by value of the body */
	sk_graph_nodes *nodes; /* what it becomes */
};

static bool refuse(struct sk_op_graph *graph, const struct sk_graph_node *node, const char *why)
{
	sk_node_error(graph, node, "%s", why);
	return false;
}

static const struct sk_op_graph *body_of(const struct sk_graph_node *node, const char *name)
{
	for (size_t i = 0; i < node->graphs.count; i++)
		if (!strcmp(node->graphs.items[i].name, name))
			return node->graphs.items[i].graph;
	return NULL;
}

/* ---- copies ---- */

static bool is_captured(const struct sk_value *value)
{
	return value->node == SK_NONE && !value->contents && !value->input;
}

/* A captured value is one of the graph by its name, unless an outer body has been inlined, which has said which it is.
 */
static uint32_t captured(const struct sk_op_graph *graph, const struct sk_value *value)
{
	return value->view_of != SK_NONE ? value->view_of
					 : sk_map_find(&graph->value_names, value->name, strlen(value->name));
}

static void *copy_of(struct sk_arena *arena, const void *items, size_t size)
{
	return sk_arena_copy(arena, size ? items : "", size);
}

/* A body in a body that is inlined has to know which values of that one it means: their names are no longer theirs. */
static struct sk_op_graph *copy_inner(const struct inlining *inlining, const struct sk_op_graph *inner)
{
	struct sk_arena *arena = inlining->graph->arena;
	struct sk_op_graph *copy = copy_of(arena, inner, sizeof(*inner));
	copy->values.items = copy_of(arena, inner->values.items, inner->values.count * sizeof(*inner->values.items));
	for (size_t v = 0; v < copy->values.count; v++) {
		struct sk_value *value = &copy->values.items[v];
		uint32_t outer = sk_map_find(&inlining->body->value_names, value->name, strlen(value->name));

		if (is_captured(value) && value->view_of == SK_NONE && outer != SK_NONE)
			value->view_of = inlining->values[outer];
	}
	copy->values.capacity = copy->values.count;
	copy->nodes.items = copy_of(arena, inner->nodes.items, inner->nodes.count * sizeof(*inner->nodes.items));
	copy->nodes.capacity = copy->nodes.count;
	for (size_t n = 0; n < copy->nodes.count; n++) {
		struct sk_graph_node *node = &copy->nodes.items[n];

		node->graphs.items =
			copy_of(arena, node->graphs.items, node->graphs.count * sizeof(*node->graphs.items));
		for (size_t g = 0; g < node->graphs.count; g++)
			node->graphs.items[g].graph = copy_inner(inlining, node->graphs.items[g].graph);
	}
	return copy;
}

/* The value of the graph that one of the body is; SK_NONE after an error. */
static uint32_t copy_value(const struct inlining *inlining, const struct sk_value *value)
{
	struct sk_op_graph *graph = inlining->graph;
	uint32_t index;

	if (is_captured(value)) {
		index = captured(graph, value);
		if (index == SK_NONE)
			sk_node_error(graph, inlining->owner, "'%s' in its body is made by no node that is computed",
				      value->name);
		return index;
	}
	index = sk_graph_new_value(graph, sk_arena_print(graph->arena, "%s/%s", inlining->prefix, value->name),
				   value->dtype, value->rank, value->shape);
	graph->values.items[index].shaped = value->shaped;
	graph->values.items[index].contents = value->contents;
	graph->values.items[index].place = value->place;
	return index;
}

static void copy_node(const struct inlining *inlining, const struct sk_graph_node *from)
{
	struct sk_arena *arena = inlining->graph->arena;
	struct sk_graph_node node = *from;

	if (*from->name)
		node.name = sk_arena_print(arena, "%s/%s", inlining->prefix, from->name);
	if (!node.scope) {
		node.scope = inlining->owner->scope;
		node.scope_options = inlining->owner->scope_options;
	}
	if (!node.stream)
		node.stream = inlining->owner->stream;
	memset(&node.attributes, 0, sizeof(node.attributes));
	memset(&node.tensors, 0, sizeof(node.tensors));
	memset(&node.graphs, 0, sizeof(node.graphs));
	memset(&node.inputs, 0, sizeof(node.inputs));
	memset(&node.outputs, 0, sizeof(node.outputs));
	for (size_t i = 0; i < from->attributes.count; i++)
		sk_array_push(arena, &node.attributes, from->attributes.items[i]);
	for (size_t i = 0; i < from->tensors.count; i++)
		sk_array_push(arena, &node.tensors,
			      ((struct sk_attribute_tensor){from->tensors.items[i].name,
							    inlining->values[from->tensors.items[i].value]}));
	for (size_t i = 0; i < from->graphs.count; i++)
		sk_array_push(arena, &node.graphs,
			      ((struct sk_attribute_graph){from->graphs.items[i].name,
							   copy_inner(inlining, from->graphs.items[i].graph)}));
	for (size_t i = 0; i < from->inputs.count; i++)
		sk_array_push(arena, &node.inputs,
			      from->inputs.items[i] == SK_NONE ? SK_NONE : inlining->values[from->inputs.items[i]]);
	for (size_t i = 0; i < from->outputs.count; i++)
		sk_array_push(arena, &node.outputs,
			      from->outputs.items[i] == SK_NONE ? SK_NONE : inlining->values[from->outputs.items[i]]);
	sk_array_push(arena, inlining->nodes, node);
}

/* An Identity, as exporters write one for a condition that a loop passes on: what it makes is what it is given. */
static bool passes_on(const struct sk_graph_node *node)
{
	return !strcmp(node->op, "Identity") && !*node->domain && node->inputs.count == 1 && node->outputs.count == 1 &&
	       node->inputs.items[0] != SK_NONE && node->outputs.items[0] != SK_NONE;
}

/* Values, nodes and what nodes name, those of inner bodies, too. */
static uint64_t size_of(const struct sk_op_graph *body)
{
	uint64_t size = body->values.count + body->nodes.count + body->outputs.count;

	for (size_t n = 0; n < body->nodes.count; n++) {
		const struct sk_graph_node *node = &body->nodes.items[n];

		size += node->inputs.count + node->outputs.count + node->attributes.count + node->tensors.count;
		for (size_t g = 0; g < node->graphs.count; g++)
			size += size_of(node->graphs.items[g].graph);
	}
	return size;
}

/* The body with these values as its inputs; its outputs are values of the graph then. NULL after an error. */
static const uint32_t *inline_body(struct inlining *inlining, const uint32_t *inputs)
{
	const struct sk_op_graph *body = inlining->body;
	struct sk_arena *arena = inlining->graph->arena;
	uint32_t *outputs = SK_NEW_ARRAY(arena, uint32_t, body->outputs.count + 1);

	inlining->graph->copied += size_of(body);
	if (inlining->graph->copied > SK_MOST_COPIED) {
		refuse(inlining->graph, inlining->owner,
		       "its bodies become more than a million values, nodes and operands");
		return NULL;
	}
	inlining->values = SK_NEW_ARRAY(arena, uint32_t, body->values.count + 1);
	for (size_t v = 0; v < body->values.count; v++)
		inlining->values[v] = SK_NONE;
	for (size_t i = 0; i < body->inputs.count; i++)
		inlining->values[body->inputs.items[i]] = inputs[i];
	for (size_t v = 0; v < body->values.count; v++) {
		const struct sk_value *value = &body->values.items[v];

		if (value->input)
			continue;
		inlining->values[v] = copy_value(inlining, value);
		if (inlining->values[v] == SK_NONE)
			return NULL;
	}
	for (size_t n = 0; n < body->nodes.count; n++) {
		const struct sk_graph_node *node = &body->nodes.items[n];

		if (passes_on(node))
			inlining->values[node->outputs.items[0]] = inlining->values[node->inputs.items[0]];
		else
			copy_node(inlining, node);
	}
	for (size_t i = 0; i < body->outputs.count; i++)
		outputs[i] = inlining->values[body->outputs.items[i]];
	return outputs;
}

/* ---- nodes that are made ---- */

struct sk_graph_node *sk_expansion_node(struct sk_op_graph *graph, const struct sk_graph_node *owner,
					sk_graph_nodes *nodes, const char *op, uint32_t output)
{
	struct sk_graph_node node = {.name = "",
				     .place = owner->place,
				     .op = op,
				     .domain = "",
				     .origin = owner->op,
				     .version = 24,
				     .stream = owner->stream,
				     .scope = owner->scope,
				     .scope_options = owner->scope_options};

	sk_array_push(graph->arena, &node.outputs, output);
	sk_array_push(graph->arena, nodes, node);
	return &nodes->items[nodes->count - 1];
}

static struct sk_graph_node *make_node(const struct inlining *inlining, const char *op, uint32_t output)
{
	return sk_expansion_node(inlining->graph, inlining->owner, inlining->nodes, op, output);
}

static void make_identity(const struct inlining *inlining, uint32_t from, uint32_t to)
{
	struct sk_graph_node *node;

	if (to == SK_NONE)
		return;
	node = make_node(inlining, "Identity", to);
	sk_array_push(inlining->graph->arena, &node->inputs, from);
}

/* ---- If ---- */

static bool expand_if(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	const struct sk_value *condition = sk_node_input(graph, node, 0);
	struct inlining inlining = {.graph = graph, .owner = node, .nodes = nodes, .prefix = sk_node_name(graph, node)};
	const int64_t *chosen;
	const uint32_t *results;
	uint64_t count;

	if (!sk_value_integers(graph->arena, condition, &count, &chosen) || count != 1)
		return refuse(graph, node, "its condition is not one bool");
	inlining.body = body_of(node, *chosen ? "then_branch" : "else_branch");
	if (!inlining.body || inlining.body->inputs.count || inlining.body->outputs.count != node->outputs.count)
		return refuse(graph, node, "its branch has not as many outputs as it has, or has inputs");
	results = inline_body(&inlining, NULL);
	for (size_t i = 0; i < node->outputs.count && results; i++)
		make_identity(&inlining, results[i], node->outputs.items[i]);
	return results;
}

/* ---- Loop ---- */

/* A loop before an iteration: behind its count, its condition and what it carries stand the values that it has
 * collected so far. */
struct loop {
	struct inlining inlining;
	size_t carried, collected; /* by an iteration */
	int64_t iteration, most;
	SK_ARRAY(uint32_t) values; /* the condition, what is carried, what has been collected */
};

static bool read_loop(struct loop *loop)
{
	struct sk_op_graph *graph = loop->inlining.graph;
	const struct sk_graph_node *node = loop->inlining.owner;
	const struct sk_op_graph *body = body_of(node, "body");
	const struct sk_value *most = sk_node_input(graph, node, 0);
	const int64_t *counts;
	uint64_t count;

	loop->inlining.body = body;
	loop->iteration = node->iterations;
	loop->most = INT64_MAX;
	if (most && (!sk_value_integers(graph->arena, most, &count, &counts) || count != 1))
		return refuse(graph, node, "how many iterations it has is not one number");
	if (most)
		loop->most = counts[0];
	if (!body || body->inputs.count < 2 || body->outputs.count < body->inputs.count - 1)
		return refuse(
			graph, node,
			"its body has not a number, a condition and what it carries as inputs, and all but the number "
			"as outputs");
	loop->carried = body->inputs.count - 2;
	loop->collected = body->outputs.count - 1 - loop->carried;
	if (node->inputs.count != 2 + loop->carried + loop->collected * node->iterations ||
	    node->outputs.count > loop->carried + loop->collected)
		return refuse(graph, node, "its body carries another number of values than it has");
	for (size_t i = 1; i < node->inputs.count; i++)
		sk_array_push(graph->arena, &loop->values, node->inputs.items[i]);
	return true;
}

/* Whether there is another iteration: 1, 0, or -1 if that is not known yet. */
static int goes_on(const struct loop *loop)
{
	const struct sk_op_graph *graph = loop->inlining.graph;
	const struct sk_value *condition =
		loop->values.items[0] == SK_NONE ? NULL : &graph->values.items[loop->values.items[0]];
	const int64_t *conditions;
	uint64_t count;

	if (loop->iteration >= loop->most)
		return 0;
	if (!condition)
		return 1;
	if (!condition->contents || !sk_value_integers(graph->arena, condition, &count, &conditions) || count != 1)
		return -1;
	return conditions[0] != 0;
}

static bool iterate(struct loop *loop)
{
	struct sk_op_graph *graph = loop->inlining.graph;
	uint32_t *inputs = SK_NEW_ARRAY(graph->arena, uint32_t, loop->carried + 2);
	const uint32_t *results;

	if (loop->iteration == MOST_ITERATIONS)
		return refuse(graph, loop->inlining.owner,
			      "it has more than 1024 iterations, each of which becomes nodes");
	loop->inlining.prefix = sk_arena_print(graph->arena, "%s/%lld", sk_node_name(graph, loop->inlining.owner),
					       (long long)loop->iteration);
	inputs[0] = sk_graph_new_constant(graph, loop->inlining.prefix, SK_I64, 0, NULL, &loop->iteration);
	inputs[1] = loop->values.items[0];
	if (inputs[1] == SK_NONE)
		inputs[1] = sk_graph_new_constant(graph, loop->inlining.prefix, SK_BOOL, 0, NULL, "\1");
	memcpy(inputs + 2, loop->values.items + 1, loop->carried * sizeof(*inputs));
	results = inline_body(&loop->inlining, inputs);
	if (!results)
		return false;
	loop->values.items[0] = results[0];
	memcpy(loop->values.items + 1, results + 1, loop->carried * sizeof(*results));
	for (size_t i = 0; i < loop->collected; i++)
		sk_array_push(graph->arena, &loop->values, results[1 + loop->carried + i]);
	loop->iteration++;
	return true;
}

/* What has been collected becomes one value, with a first dimension for the iterations. */
static bool finish(struct loop *loop)
{
	struct sk_op_graph *graph = loop->inlining.graph;
	const struct sk_graph_node *owner = loop->inlining.owner;
	uint32_t axes = sk_graph_new_integers(graph, sk_node_name(graph, owner), 1, (int64_t[]){0});

	for (size_t i = 0; i < loop->carried && i < owner->outputs.count; i++)
		make_identity(&loop->inlining, loop->values.items[1 + i], owner->outputs.items[i]);
	for (size_t i = loop->carried; i < owner->outputs.count; i++) {
		SK_ARRAY(uint32_t) pieces = {NULL, 0, 0};

		if (owner->outputs.items[i] == SK_NONE)
			continue;
		if (!loop->iteration)
			return refuse(graph, owner, "it has no iterations, so what it collects has no shape");
		for (size_t v = 1 + i; v < loop->values.count; v += loop->collected) {
			uint32_t piece = sk_graph_new_value(graph, sk_node_name(graph, owner), SK_DTYPE_NONE, 0, NULL);
			struct sk_graph_node *node = make_node(&loop->inlining, "Unsqueeze", piece);

			graph->values.items[piece].shaped = false;
			sk_array_push(graph->arena, &node->inputs, loop->values.items[v]);
			sk_array_push(graph->arena, &node->inputs, axes);
			sk_array_push(graph->arena, &pieces, piece);
		}

		struct sk_graph_node *node = make_node(&loop->inlining, "Concat", owner->outputs.items[i]);

		for (size_t p = 0; p < pieces.count; p++)
			sk_array_push(graph->arena, &node->inputs, pieces.items[p]);
		sk_node_set_integer(graph, node, "axis", 0);
	}
	return true;
}

/* The loop from the next iteration on, whose condition has to be computed first. */
static void suspend(struct loop *loop)
{
	struct sk_op_graph *graph = loop->inlining.graph;
	const struct sk_graph_node *owner = loop->inlining.owner;
	struct sk_graph_node rest = *owner;

	memset(&rest.inputs, 0, sizeof(rest.inputs));
	sk_array_push(graph->arena, &rest.inputs, owner->inputs.items[0]);
	for (size_t v = 0; v < loop->values.count; v++)
		sk_array_push(graph->arena, &rest.inputs, loop->values.items[v]);
	rest.iterations = (uint32_t)loop->iteration;
	sk_array_push(graph->arena, loop->inlining.nodes, rest);
}

static bool expand_loop(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	struct loop loop = {.inlining = {.graph = graph, .owner = node, .nodes = nodes}};
	int more;

	if (!read_loop(&loop))
		return false;
	while ((more = goes_on(&loop)) > 0)
		if (!iterate(&loop))
			return false;
	if (!more)
		return finish(&loop);
	if (loop.iteration > MOST_COMPUTED)
		return refuse(
			graph, node,
			"its condition would have to be computed for each of more than 16 iterations; say how many "
			"there are with a constant count, and pass the condition on as it is");
	suspend(&loop);
	return true;
}

/* ---- the table ---- */

const struct sk_schema sk_operators_bodies[] = {
	{"If", "", 1, 1, 1, SK_VARIADIC, .demands = 1, .expand = expand_if},
	{"Loop", "", 0, SK_VARIADIC, 1, SK_VARIADIC, .demands = 3, .sequences = true, .expand = expand_loop},
	{NULL},
};
