/* Shape and type inference; see passes.h. A node that needs the elements of an unknown value waits until all other
 * nodes have been inferred. Then all the values that nodes wait for are folded at once, and another round begins. Each
 * round costs a link and a process. Shapes that are computed from shapes take none: small integers are known at
 * once. */
#include "graph/passes/passes.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/sizes.h"
#include "base/text.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators.h"

enum state {
	STATE_WAITING,
	STATE_DONE,
	STATE_EXPANDED, /* to be replaced by other nodes; its users wait until then */
	STATE_FAILED, /* this node, or one that it depends on */
};

/* A node, and the nodes that replace it. */
struct expansion {
	uint32_t node;
	sk_graph_nodes nodes;
};

struct rounds {
	struct sk_op_graph *graph;
	const struct sk_schema **schemas; /* by node */
	enum state *states; /* by node */
	bool *folds; /* by node: depends on constants only, and is deterministic */
	SK_ARRAY(uint32_t) wanted; /* values to fold before the next round */
	SK_ARRAY(struct expansion) expansions; /* in the order of the nodes */
};

/* Allocate the facts about `count` nodes, none of which is expanded. */
static void rounds_begin(struct rounds *rounds, size_t count)
{
	rounds->schemas = SK_NEW_ARRAY(rounds->graph->arena, const struct sk_schema *, count + 1);
	rounds->states = SK_NEW_ARRAY(rounds->graph->arena, enum state, count + 1);
	rounds->folds = SK_NEW_ARRAY(rounds->graph->arena, bool, count + 1);
	memset(&rounds->expansions, 0, sizeof(rounds->expansions));
}

/* True if the value is static and its elements can be computed when linking. */
static bool is_foldable(const struct rounds *rounds, const struct sk_value *value)
{
	return sk_value_known(value) ||
	       (value->node != SK_NONE && rounds->states[value->node] == STATE_DONE && rounds->folds[value->node]);
}

/* Return the state of the value's producer. Inputs are done, unless their shape is unknown. */
static enum state value_state(const struct rounds *rounds, const struct sk_value *value)
{
	if (sk_value_known(value) || value->sequence)
		return STATE_DONE;
	if (value->node == SK_NONE)
		return sk_value_is_static(value) ? STATE_DONE : STATE_FAILED;
	return rounds->states[value->node] == STATE_EXPANDED ? STATE_WAITING : rounds->states[value->node];
}

static enum state inputs_state(const struct rounds *rounds, const struct sk_graph_node *node)
{
	enum state state = STATE_DONE;

	for (size_t i = 0; i < node->inputs.count && state != STATE_FAILED; i++) {
		const struct sk_value *value = sk_node_input(rounds->graph, node, i);
		enum state one = value ? value_state(rounds, value) : STATE_DONE;

		if (one != STATE_DONE)
			state = one;
	}
	return state;
}

/* List the inputs of the graph, constants excluded, that the value is computed from, in the order of the graph. */
static sk_texts find_origins(const struct sk_op_graph *graph, uint32_t value)
{
	bool *needed = SK_NEW_ARRAY(graph->arena, bool, graph->values.count + 1);
	sk_texts names = {0};

	needed[value] = true;
	for (size_t n = graph->nodes.count; n--;) {
		const struct sk_graph_node *node = &graph->nodes.items[n];
		bool wanted = false;

		for (size_t i = 0; i < node->outputs.count; i++)
			wanted |= node->outputs.items[i] != SK_NONE && needed[node->outputs.items[i]];
		for (size_t i = 0; i < node->inputs.count && wanted; i++)
			if (node->inputs.items[i] != SK_NONE)
				needed[node->inputs.items[i]] = !sk_node_input(graph, node, i)->contents;
	}
	for (size_t i = 0; i < graph->inputs.count; i++)
		if (needed[graph->inputs.items[i]])
			sk_array_push(graph->arena, &names, graph->values.items[graph->inputs.items[i]].name);
	return names;
}

/* Return a word for what to write in the option that freezes the value. */
static const char *frozen_as(const struct sk_op_graph *graph, const char *name)
{
	uint32_t index = sk_map_find(&graph->value_names, name, strlen(name));
	const struct sk_value *value = index == SK_NONE ? NULL : &graph->values.items[index];

	if (!value || !sk_value_is_static(value) || sk_value_elements(value) != 1)
		return "FILE.npy";
	return value->dtype == SK_BOOL ? "true" : "NUMBER";
}

/* Return "'x', 'y' and 3 more", and the options that freeze the first ones. */
static const char *list_origins(const struct sk_op_graph *graph, const sk_texts *names, const char **options)
{
	const size_t shown = names->count > 3 ? 2 : names->count;
	struct sk_arena *arena = graph->arena;
	const char *text = "";

	*options = "";
	for (size_t i = 0; i < shown; i++) {
		text = sk_arena_print(arena, "%s%s'%s'", text,
				      !i		      ? ""
				      : i + 1 == names->count ? " and "
							      : ", ",
				      names->items[i]);
		*options = sk_arena_print(arena, "%s --freeze '%s=%s'", *options, names->items[i],
					  frozen_as(graph, names->items[i]));
	}
	return shown == names->count ? text : sk_arena_print(arena, "%s and %zu more", text, names->count - shown);
}

/* Report that the elements of a value, which only a run knows, decide on the nodes of a graph or on a shape. Name the
 * inputs that could be frozen. */
static void report_demand(struct sk_op_graph *graph, const struct sk_graph_node *node, uint32_t index)
{
	const struct sk_value *value = &graph->values.items[index];
	const bool branches = sk_node_is(node, "If");
	const char *decided = branches			 ? "which branch is taken"
			      : sk_node_is(node, "Loop") ? "how often it is repeated"
							 : "the shape of its outputs";
	const char *options, *origins, *inner = "";
	sk_texts names = {0};

	if (graph->diag->errors < 20)
		names = find_origins(graph, index);
	origins = list_origins(graph, &names, &options);
	if (branches && names.count && !value->input && index < graph->read_values)
		inner = sk_arena_print(graph->arena, ", or --freeze '%s=true'", value->name);
	if (value->input)
		origins = "an input";
	else
		origins = names.count ? sk_arena_print(graph->arena, "computed from input%s %s", sk_plural(names.count),
						       origins)
				      : "computed when it runs";
	sk_node_error(graph, node, "%s depends on the elements of '%s', %s, and has to be known when linking%s%s%s%s",
		      decided, value->name, origins,
		      names.count ? "; where these are always the same, freeze them:" : "", options, inner,
		      branches ? "; otherwise let the model compute both branches and choose with Where" : "");
}

/* Record the values that must be folded before the node can be inferred. */
static enum state demand(struct rounds *rounds, uint32_t index)
{
	const struct sk_graph_node *node = &rounds->graph->nodes.items[index];
	const struct sk_schema *schema = rounds->schemas[index];
	enum state state = STATE_DONE;

	for (size_t i = 0; i < node->inputs.count && i < 32; i++) {
		const struct sk_value *value = sk_node_input(rounds->graph, node, i);

		if (!value || !(schema->demands >> i & 1) || sk_value_known(value))
			continue;
		if (is_foldable(rounds, value)) {
			if (sk_symbolic_constant(rounds->graph, node->inputs.items[i]))
				continue;
			sk_array_push(rounds->graph->arena, &rounds->wanted, node->inputs.items[i]);
			state = STATE_WAITING;
			continue;
		}
		report_demand(rounds->graph, node, node->inputs.items[i]);
		return STATE_FAILED;
	}
	return state;
}

/* True if the value has no elements, so that nothing about it is open until the network runs. */
static bool is_empty(const struct sk_value *value)
{
	return sk_value_is_static(value) && !sk_value_elements(value);
}

static bool folds(const struct rounds *rounds, const struct sk_graph_node *node, const struct sk_schema *schema)
{
	for (size_t i = 0; i < node->inputs.count; i++) {
		const struct sk_value *value = sk_node_input(rounds->graph, node, i);

		if (value && !is_foldable(rounds, value) && !is_empty(value))
			return false;
	}
	return schema->canonical;
}

static bool is_expanded(const struct sk_op_graph *graph, const struct sk_graph_node *node,
			const struct sk_schema *schema)
{
	return schema->expand && (!schema->expands || schema->expands(graph, node));
}

static enum state expand_node(struct rounds *rounds, uint32_t index)
{
	struct expansion expansion = {.node = index};

	if (!rounds->schemas[index]->expand(rounds->graph, &rounds->graph->nodes.items[index], &expansion.nodes))
		return STATE_FAILED;
	sk_array_push(rounds->graph->arena, &rounds->expansions, expansion);
	return STATE_EXPANDED;
}

/* Values other than tensors may only be inputs of nodes that accept them, and must not determine shapes. */
static bool check_sequences(const struct rounds *rounds, const struct sk_graph_node *node,
			    const struct sk_schema *schema)
{
	for (size_t i = 0; i < node->inputs.count; i++) {
		const struct sk_value *value = sk_node_input(rounds->graph, node, i);

		if (!value || !value->sequence || (schema->sequences && (i >= 32 || !(schema->demands >> i & 1))))
			continue;
		sk_node_error(rounds->graph, node, "'%s' is a sequence of tensors, and it wants a tensor", value->name);
		return false;
	}
	return true;
}

/* An Identity of a sequence becomes that sequence, without a node. */
static bool shares_sequence(struct rounds *rounds, uint32_t index)
{
	const struct sk_graph_node *node = &rounds->graph->nodes.items[index];
	const struct sk_value *value = node->inputs.count == 1 ? sk_node_input(rounds->graph, node, 0) : NULL;

	if (rounds->schemas[index]->expand || !value || !value->sequence)
		return false;
	sk_graph_make_sequence(rounds->graph, node->outputs.items[0], value->sequence);
	sk_array_push(rounds->graph->arena, &rounds->expansions, (struct expansion){.node = index});
	return true;
}

/* Infer numbers, and then sizes. Where numbers fit at some sizes only, sizes say for which dimensions that is so. */
static bool infer_outputs(struct sk_inference *inference, const struct sk_schema *schema)
{
	struct sk_op_graph *graph = inference->graph;
	const struct sk_diag before = *graph->diag;

	if (schema->infer(inference))
		return sk_symbolic_infer(graph, inference->node, schema);
	return sk_symbolic_explain(graph, inference->node, schema, &before) && schema->infer(inference);
}

/* Values that vary with sizes are computed when the network runs. */
static void set_fixed(struct sk_value *value)
{
	value->fixed = !value->varies;
}

static enum state infer_node(struct rounds *rounds, uint32_t index)
{
	struct sk_op_graph *graph = rounds->graph;
	struct sk_inference inference = {graph, &graph->nodes.items[index]};
	enum state state = inputs_state(rounds, inference.node);

	if (state != STATE_DONE)
		return state;
	if (!check_sequences(rounds, inference.node, rounds->schemas[index]))
		return STATE_FAILED;
	state = demand(rounds, index);
	if (state != STATE_DONE)
		return state;
	if (shares_sequence(rounds, index))
		return STATE_EXPANDED;
	if (!sk_symbolic_check(graph, inference.node, rounds->schemas[index]))
		return STATE_FAILED;
	if (is_expanded(graph, inference.node, rounds->schemas[index]))
		return expand_node(rounds, index);
	if (!infer_outputs(&inference, rounds->schemas[index]))
		return STATE_FAILED;
	rounds->folds[index] = folds(rounds, inference.node, rounds->schemas[index]);
	for (size_t i = 0; i < inference.node->outputs.count && rounds->folds[index]; i++)
		if (inference.node->outputs.items[i] != SK_NONE)
			set_fixed(&graph->values.items[inference.node->outputs.items[i]]);
	return STATE_DONE;
}

static void report_unknown(struct sk_op_graph *graph, const struct sk_graph_node *node)
{
	const char *absence = sk_operator_absence(node->domain, node->op);
	const char **names, *hint = "";
	size_t count = 0;

	if (absence) {
		sk_node_error(graph, node, "operator '%s' %s", node->op, absence);
		return;
	}
	if (!sk_node_error(graph, node, "there is no operator '%s'%s%s%s", node->op,
			   *node->domain ? " in the domain '" : "", node->domain, *node->domain ? "'" : "") ||
	    graph->diag->errors >= 20)
		return;
	names = SK_NEW_ARRAY(graph->arena, const char *, 1024);
	for (const struct sk_schema *schema; count < 1024 && (schema = sk_schema_at(count)); count++) {
		names[count] = schema->op;
		if (!strcmp(schema->op, node->op))
			hint = sk_arena_print(graph->arena, "; the domain '%s' has one of this name", schema->domain);
	}
	if (!*hint)
		hint = sk_did_you_mean(graph->arena, node->op, names, count);
	sk_note(graph->diag, "sk-operators(5) lists the operators%s", hint);
}

/* For an operator set newer than this code, assume that the operator is unchanged. */
static void warn_of_newer(struct sk_op_graph *graph, const struct sk_graph_node *node)
{
	if (*node->domain || node->version <= SK_NEWEST)
		return;
	sk_warning_alike(
		graph->diag, node->place, "newer operator set",
		sk_arena_print(graph->arena, "node '%s' (%s)", sk_node_name(graph, node), node->op),
		"it is of operator set %u, and the newest known one is %d: its meaning is assumed to be the same",
		node->version, SK_NEWEST);
}

/* Find the node's schema and upgrade the node to the newest operator set. */
static enum state prepare_node(struct rounds *rounds, uint32_t index)
{
	struct sk_op_graph *graph = rounds->graph;
	struct sk_graph_node *node = &graph->nodes.items[index];
	const struct sk_schema *schema = sk_schema_find(node->domain, node->op);
	size_t inputs = node->inputs.count;

	if (!schema) {
		report_unknown(graph, node);
		return STATE_FAILED;
	}
	warn_of_newer(graph, node);
	if (schema->upgrade && !schema->upgrade(graph, node))
		return STATE_FAILED;
	node = &graph->nodes.items[index];
	rounds->schemas[index] = sk_schema_find(node->domain, node->op); /* an upgrade may rename it */
	sk_schema_note(graph, node, rounds->schemas[index]);
	return sk_schema_check(graph, node, rounds->schemas[index], inputs) ? STATE_WAITING : STATE_FAILED;
}

/* Nodes that replace others become the producers of their outputs, and wait. */
static void prepare_expanded(struct rounds *rounds)
{
	struct sk_op_graph *graph = rounds->graph;

	for (uint32_t i = 0; i < graph->nodes.count; i++) {
		const struct sk_graph_node *node = &graph->nodes.items[i];

		for (size_t o = 0; o < node->outputs.count && rounds->states[i] == STATE_EXPANDED; o++)
			if (node->outputs.items[o] != SK_NONE)
				graph->values.items[node->outputs.items[o]].node = i;
	}
	for (uint32_t i = 0; i < graph->nodes.count; i++)
		if (rounds->states[i] == STATE_EXPANDED)
			rounds->states[i] = prepare_node(rounds, i);
}

/* True if some node made progress. */
static bool infer_round(struct rounds *rounds)
{
	bool progress = false;

	rounds->wanted.count = 0;
	for (uint32_t i = 0; i < rounds->graph->nodes.count; i++) {
		if (rounds->states[i] != STATE_WAITING)
			continue;
		rounds->states[i] = infer_node(rounds, i);
		progress |= rounds->states[i] != STATE_WAITING;
	}
	return progress;
}

/* Replace each expanded node by its expansion; producers stay before users. */
static void replace_nodes(struct rounds *rounds)
{
	const struct rounds before = *rounds;
	struct sk_op_graph *graph = rounds->graph;
	uint32_t *moved = SK_NEW_ARRAY(graph->arena, uint32_t, graph->nodes.count + 1);
	sk_graph_nodes nodes = {NULL, 0, 0};
	size_t next = 0, total = graph->nodes.count;

	for (size_t e = 0; e < before.expansions.count; e++)
		total += before.expansions.items[e].nodes.count;
	rounds_begin(rounds, total);
	for (uint32_t i = 0; i < graph->nodes.count; i++) {
		const struct expansion *expansion = &before.expansions.items[next];

		moved[i] = (uint32_t)nodes.count;
		if (next < before.expansions.count && expansion->node == i) {
			next++;
			for (size_t n = 0; n < expansion->nodes.count; n++) {
				rounds->states[nodes.count] = STATE_EXPANDED;
				sk_array_push(graph->arena, &nodes, expansion->nodes.items[n]);
			}
			continue;
		}
		rounds->schemas[nodes.count] = before.schemas[i];
		rounds->states[nodes.count] = before.states[i];
		rounds->folds[nodes.count] = before.folds[i];
		sk_array_push(graph->arena, &nodes, graph->nodes.items[i]);
	}
	for (size_t v = 0; v < graph->values.count; v++)
		if (graph->values.items[v].node != SK_NONE)
			graph->values.items[v].node = moved[graph->values.items[v].node];
	graph->nodes = nodes;
	prepare_expanded(rounds);
}

static void check_inputs(struct sk_op_graph *graph)
{
	const bool *used = sk_graph_find_used(graph);

	for (size_t i = 0; i < graph->inputs.count; i++) {
		const struct sk_value *value = &graph->values.items[graph->inputs.items[i]];

		if (!value->contents && value->dtype == SK_DTYPE_NONE && used[graph->inputs.items[i]])
			sk_error(graph->diag, value->place, "the model does not give the type of input '%s'",
				 value->name);
	}
	sk_sizes_report_open(graph);
}

/* Return "[batch, 128]". */
static const char *symbolic_shape(struct sk_arena *arena, const struct sk_value *value)
{
	const char *text = "[";

	for (uint32_t d = 0; d < value->rank; d++)
		text = sk_arena_print(arena, "%s%s%s", text, d ? ", " : "",
				      value->sizes[d] ? sk_size_text(arena, value->sizes[d])
						      : sk_arena_print(arena, "%" PRIu64, value->shape[d]));
	return sk_arena_join(arena, text, "]");
}

void sk_graph_refuse_bounds(struct sk_op_graph *graph, const char *reason)
{
	const struct sk_value *bounded = NULL;
	uint32_t dimension = 0;

	for (size_t i = 0; i < graph->inputs.count && !bounded; i++) {
		const struct sk_value *value = &graph->values.items[graph->inputs.items[i]];

		for (uint32_t d = 0; d < value->rank && !bounded; d++) {
			bounded = value->sizes[d] ? value : NULL;
			dimension = d;
		}
	}
	if (!bounded)
		return;
	sk_error(graph->diag, bounded->place,
		 "input '%s': dimension %" PRIu32 " is '%s', from %" PRId64 " to %" PRId64 "; %s", bounded->name,
		 dimension, sk_size_text(graph->arena, bounded->sizes[dimension]),
		 sk_size_least(bounded->sizes[dimension]), sk_size_most(bounded->sizes[dimension]), reason);
	for (size_t i = 0; i < graph->outputs.count; i++) {
		const struct sk_value *value = &graph->values.items[graph->outputs.items[i]];

		if (value->shaped)
			sk_note(graph->diag, "output '%s' would be %s", value->name,
				symbolic_shape(graph->arena, value));
	}
}

static void check_outputs(struct sk_op_graph *graph)
{
	for (size_t i = 0; i < graph->outputs.count; i++) {
		const struct sk_value *value = &graph->values.items[graph->outputs.items[i]];

		if (value->sequence)
			sk_error(graph->diag, value->place,
				 "output '%s' is a sequence of %zu tensors, and outputs of packages are tensors; let "
				 "the model take them out (SequenceAt), or put them together (ConcatFromSequence)",
				 value->name, value->sequence->count);
	}
}

bool sk_graph_infer(struct sk_op_graph *graph, sk_fold *fold, const void *context)
{
	unsigned errors = graph->diag->errors;
	struct rounds rounds = {.graph = graph};

	rounds_begin(&rounds, graph->nodes.count);
	check_inputs(graph);
	for (uint32_t i = 0; i < graph->nodes.count; i++)
		rounds.states[i] = graph->nodes.items[i].removed ? STATE_FAILED : prepare_node(&rounds, i);
	while (infer_round(&rounds) || rounds.wanted.count) {
		if (rounds.wanted.count && !fold(context, graph, rounds.wanted.items, rounds.wanted.count)) {
			/* too many errors */
			memset(rounds.states, 0, graph->nodes.count * sizeof(*rounds.states));
			break;
		}
		if (rounds.expansions.count)
			replace_nodes(&rounds);
	}
	for (size_t i = 0; i < graph->nodes.count; i++)
		graph->nodes.items[i].removed |= rounds.states[i] != STATE_DONE;
	check_outputs(graph);
	return graph->diag->errors == errors;
}

static bool depends_on_constants(const struct sk_op_graph *graph, const struct sk_graph_node *node)
{
	for (size_t i = 0; i < node->inputs.count; i++) {
		const struct sk_value *value = sk_node_input(graph, node, i);

		if (value && (value->varies || (!value->contents && !value->fixed && !is_empty(value))))
			return false;
	}
	return sk_schema_find(node->domain, node->op)->canonical;
}

void sk_graph_mark_fixed(struct sk_op_graph *graph)
{
	for (size_t n = 0; n < graph->nodes.count; n++) {
		const struct sk_graph_node *node = &graph->nodes.items[n];

		if (node->removed || !depends_on_constants(graph, node))
			continue;
		for (size_t i = 0; i < node->outputs.count; i++)
			if (node->outputs.items[i] != SK_NONE)
				set_fixed(&graph->values.items[node->outputs.items[i]]);
	}
}
