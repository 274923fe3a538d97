/* --scope, `nodes:` of a manifest's scopes, and options of scopes in a model file; see link.h. */
#include "src/link/link.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/text.h"
#include "format/profile/profile.h"
#include "graph/graph.h"
#include "src/command/command.h"
#include "src/manifest/manifest.h"
#include "src/model/model.h"

/* ---- --scope ---- */

static void report_no_node(struct sk_op_graph *graph, struct sk_place place, const char *scope, const char *pattern)
{
	const char **names = SK_NEW_ARRAY(graph->arena, const char *, graph->nodes.count + 1);

	for (size_t i = 0; i < graph->nodes.count; i++)
		names[i] = sk_node_name(graph, &graph->nodes.items[i]);
	sk_error(graph->diag, place, "no node is called '%s', as those of scope '%s' are to be%s", pattern, scope,
		 sk_did_you_mean(graph->arena, pattern, names, graph->nodes.count));
}

static bool assign(struct sk_op_graph *graph, const char *text, struct sk_place place)
{
	const char *equals = strchr(text, '='), *scope;
	bool found = false;

	if (!equals || equals == text || !equals[1]) {
		sk_error(graph->diag, place, "--scope '%s' is not NAME=PATTERN, such as layer=/encoder/layer.3/*",
			 text);
		return false;
	}
	scope = sk_arena_copy(graph->arena, text, (size_t)(equals - text));
	for (size_t i = 0; i < graph->nodes.count; i++) {
		struct sk_graph_node *node = &graph->nodes.items[i];

		if (!sk_pattern_matches(equals + 1, sk_node_name(graph, node)))
			continue;
		found = true;
		node->scope = scope;
		node->scope_options = NULL; /* they were for the previous scope */
	}
	if (!found)
		report_no_node(graph, place, scope, equals + 1);
	return found;
}

bool sk_scopes_assign(const struct sk_command_line *command, const struct sk_graph_file *file,
		      struct sk_op_graph *graph)
{
	bool assigned = true;

	for (size_t i = 0; i < file->scopes.count && !sk_diag_is_hopeless(graph->diag); i++)
		assigned &= assign(graph, file->scopes.items[i].text, file->scopes.items[i].place);
	for (size_t i = 0; i < command->scopes.count && !sk_diag_is_hopeless(graph->diag); i++)
		assigned &= assign(graph, command->scopes.items[i], (struct sk_place){.file = graph->file});
	sk_scopes_collect(graph);
	return assigned;
}

void sk_scopes_collect(struct sk_op_graph *graph)
{
	for (size_t i = 0; i < graph->nodes.count; i++) {
		const char *scope = graph->nodes.items[i].scope;

		if (scope && *scope && (!i || graph->nodes.items[i - 1].scope != scope))
			sk_array_push(graph->arena, &graph->scopes, scope);
	}
}

const char *sk_scopes_default(const struct sk_op_graph *graph)
{
	if (graph->scopes.count)
		return NULL;
	return *graph->name ? graph->name : "model";
}

void sk_scopes_set_symbol(const struct sk_op_graph *graph, struct sk_model *model, const char *scope)
{
	const char *symbol =
		graph->network ? sk_arena_print(model->arena, "%s:%s", graph->network, model->package) : model->package;

	model->scopes.items[sk_map_find(&model->scope_names, scope, strlen(scope))].symbol = symbol;
}

/* ---- options ---- */

/* Return the model's scope of a node with options. Return SK_NONE if it does not exist, since all of its nodes are
 * constants, or after an error. */
static uint32_t scope_of(struct sk_op_graph *graph, const struct sk_model *model, const struct sk_graph_node *node)
{
	if (node->scope && *node->scope)
		return sk_map_find(&model->scope_names, node->scope, strlen(node->scope));
	sk_node_error(graph, node, "it has options of a scope, '%s', but is in no scope", node->scope_options);
	return SK_NONE;
}

/* first: by scope, the first node with options; all nodes of a scope must give the same options. */
static void take_request(struct sk_op_graph *graph, struct sk_model *model, const struct sk_graph_node *node,
			 const struct sk_graph_node **first)
{
	uint32_t scope = scope_of(graph, model, node);
	unsigned errors = graph->diag->errors;

	if (scope == SK_NONE || model->scopes.items[scope].has_options)
		return;
	if (first[scope] && strcmp(first[scope]->scope_options, node->scope_options)) {
		if (sk_node_error(graph, node, "its scope '%s' has the options '%s', and cannot also have '%s'",
				  node->scope, first[scope]->scope_options, node->scope_options))
			sk_note(graph->diag, "the former are those of node '%s'", sk_node_name(graph, first[scope]));
	}
	if (first[scope])
		return;
	first[scope] = node;
	sk_scope_options_parse(graph->diag, node->place, false, node->scope_options, &model->scopes.items[scope]);
	if (graph->diag->errors > errors)
		sk_note(graph->diag, "node '%s' asks for it, of its scope '%s'", sk_node_name(graph, node),
			node->scope);
}

/* ---- limits of cores ---- */

/* The marks of the nodes of a scope, for the cores of a lane. */
struct core_marks {
	uint32_t nodes, marked; /* their numbers */
	uint32_t least, most;
	const struct sk_graph_node *first; /* the first one with a mark */
};

static void count_mark(struct core_marks *marks, const struct sk_graph_node *node, uint32_t cores)
{
	marks->nodes++;
	if (!cores)
		return;
	if (!marks->marked++)
		marks->first = node;
	marks->least = marks->least && marks->least < cores ? marks->least : cores;
	marks->most = marks->most > cores ? marks->most : cores;
}

/* A superkernel has one number of cores, which suffices for each of its tasks. */
static void apply_marks(struct sk_op_graph *graph, const struct sk_model *model, const struct sk_scope *scope,
			uint32_t lane, const struct core_marks *marks, uint32_t *option)
{
	const struct sk_profile *device = model->device;

	if (!marks->marked || *option)
		return;
	if (marks->marked < marks->nodes || marks->least < marks->most)
		sk_warning(graph->diag, marks->first->place,
			   "nodes of scope '%s' have different limits of cores, and a superkernel has one: it is %s",
			   scope->name, marks->marked < marks->nodes ? "not limited" : "the greatest one");
	if (marks->marked < marks->nodes ||
	    (sk_device_counts_cores(device) && marks->most >= device->lanes[lane].cores))
		return;
	*option = marks->most < SK_PROFILE_MAX_CORES ? marks->most : SK_PROFILE_MAX_CORES;
}

/* Options of a scope take precedence over marks of its nodes. */
static void take_limits(struct sk_op_graph *graph, struct sk_model *model)
{
	const char *other = sk_scopes_default(graph);
	uint32_t last = model->device->lane_count - 1;
	struct core_marks *cube = SK_NEW_ARRAY(graph->arena, struct core_marks, model->scopes.count + 1);
	struct core_marks *vector = SK_NEW_ARRAY(graph->arena, struct core_marks, model->scopes.count + 1);

	for (size_t i = 0; i < graph->nodes.count; i++) {
		const struct sk_graph_node *node = &graph->nodes.items[i];
		const char *name = node->scope ? node->scope : other ? other : "";
		uint32_t scope = *name ? sk_map_find(&model->scope_names, name, strlen(name)) : SK_NONE;

		if (scope == SK_NONE || node->no_task || !sk_node_is_live(graph, node))
			continue;
		count_mark(&cube[scope], node, node->cube_cores);
		count_mark(&vector[scope], node, node->vector_cores);
	}
	for (uint32_t s = 0; s < model->scopes.count; s++) {
		struct sk_scope *scope = &model->scopes.items[s];

		if (last)
			apply_marks(graph, model, scope, 0, &cube[s], &scope->launch.cube_cores);
		apply_marks(graph, model, scope, last, &vector[s], &scope->launch.vector_cores);
	}
}

bool sk_scopes_take_options(struct sk_op_graph *graph, struct sk_model *model)
{
	const struct sk_graph_node **first =
		SK_NEW_ARRAY(graph->arena, const struct sk_graph_node *, model->scopes.count + 1);
	unsigned errors = graph->diag->errors;

	for (size_t i = 0; i < graph->nodes.count && !sk_diag_is_hopeless(graph->diag); i++)
		if (graph->nodes.items[i].scope_options)
			take_request(graph, model, &graph->nodes.items[i], first);
	take_limits(graph, model);
	return graph->diag->errors == errors;
}
