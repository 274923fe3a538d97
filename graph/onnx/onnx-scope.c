/* Names, and the order of nodes; see onnx-parts.h. */
#include "graph/onnx/onnx-parts.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/text.h"

/* The most names that suggestions are searched in, since comparing takes time; the most nodes of a cycle that are
 * shown. */
enum { MAX_CANDIDATES = 1000, MAX_CIRCLE_SHOWN = 8 };

static struct sk_place place_of_message(const struct sk_onnx_scope *scope, const struct sk_onnx_message *message)
{
	return (struct sk_place){.file = scope->path, .line = message->line, .column = message->column};
}

const char *sk_onnx_node_label(struct sk_arena *arena, const struct sk_onnx_node *node)
{
	const char *name = node->name && *node->name ? node->name : node->outputs.count ? node->outputs.items[0] : "";

	return sk_arena_print(arena, "node '%s' (%s)", name, node->origin ? node->origin : node->op ? node->op : "");
}

struct sk_onnx_definition *sk_onnx_scope_find(const struct sk_onnx_scope *scope, const char *name)
{
	uint32_t index = sk_map_find(&scope->names, name, strlen(name));

	return index == SK_NONE ? NULL : &scope->definitions.items[index];
}

/* ---- definitions ---- */

static const char *origin_text(const struct sk_onnx_scope *scope, const struct sk_onnx_definition *definition)
{
	switch (definition->origin) {
	case SK_ONNX_INPUT:
		return "an input of the graph";
	case SK_ONNX_CONSTANT:
	case SK_ONNX_SPARSE_CONSTANT:
		return "an initializer";
	case SK_ONNX_PRODUCED:
		break;
	}
	return sk_arena_print(scope->diag->arena, "an output of %s",
			      sk_onnx_node_label(scope->diag->arena, &scope->source->nodes.items[definition->index]));
}

static void define(struct sk_onnx_scope *scope, struct sk_onnx_definition definition,
		   const struct sk_onnx_message *message)
{
	uint32_t new = (uint32_t)scope->definitions.count;
	uint32_t index;

	if (!definition.name || !*definition.name) {
		sk_error(scope->diag, place_of_message(scope, message), "%s has no name",
			 origin_text(scope, &definition));
		return;
	}
	index = sk_map_insert(&scope->names, definition.name, strlen(definition.name), new);
	if (index == new) {
		sk_array_push(scope->diag->arena, &scope->definitions, definition);
		return;
	}

	struct sk_onnx_definition *other = &scope->definitions.items[index];

	/* Until version 4 every initializer also had to be an input; since then that makes it a default. */
	if (other->origin == SK_ONNX_INPUT && definition.origin == SK_ONNX_CONSTANT) {
		other->origin = definition.origin;
		other->index = definition.index;
		return;
	}
	sk_error(scope->diag, place_of_message(scope, message), "value '%s' is made twice: it is %s and %s",
		 definition.name, origin_text(scope, other), origin_text(scope, &definition));
}

static void define_all(struct sk_onnx_scope *scope)
{
	const struct sk_onnx_graph *graph = scope->source;

	for (uint32_t i = 0; i < graph->inputs.count && !sk_diag_is_hopeless(scope->diag); i++)
		define(scope,
		       (struct sk_onnx_definition){graph->inputs.items[i].name, SK_ONNX_INPUT, i,
						   &graph->inputs.items[i], false},
		       &graph->inputs.items[i].message);
	for (uint32_t i = 0; i < graph->initializers.count && !sk_diag_is_hopeless(scope->diag); i++)
		define(scope,
		       (struct sk_onnx_definition){graph->initializers.items[i].name, SK_ONNX_CONSTANT, i, NULL, false},
		       &graph->initializers.items[i].message);
	for (uint32_t i = 0; i < graph->sparse.count && !sk_diag_is_hopeless(scope->diag); i++)
		if (graph->sparse.items[i].values)
			define(scope,
			       (struct sk_onnx_definition){graph->sparse.items[i].values->name, SK_ONNX_SPARSE_CONSTANT,
							   i, NULL, false},
			       &graph->sparse.items[i].message);
	for (uint32_t i = 0; i < graph->nodes.count && !sk_diag_is_hopeless(scope->diag); i++)
		for (size_t j = 0; j < graph->nodes.items[i].outputs.count; j++)
			if (*graph->nodes.items[i].outputs.items[j])
				define(scope,
				       (struct sk_onnx_definition){graph->nodes.items[i].outputs.items[j],
								   SK_ONNX_PRODUCED, i, NULL, false},
				       &graph->nodes.items[i].message);
}

/* Declared types. The declaration of an output is mandatory. */
static void add_infos(struct sk_onnx_scope *scope)
{
	const struct sk_onnx_graph *graph = scope->source;

	for (size_t i = 0; i < graph->infos.count + graph->outputs.count; i++) {
		const struct sk_onnx_value_info *info =
			i < graph->infos.count ? &graph->infos.items[i] : &graph->outputs.items[i - graph->infos.count];
		struct sk_onnx_definition *definition = info->name ? sk_onnx_scope_find(scope, info->name) : NULL;

		if (definition && definition->origin == SK_ONNX_PRODUCED && info->type)
			definition->info = info;
	}
}

/* ---- uses ---- */

typedef SK_ARRAY(uint32_t) numbers;

/* A body, and its nodes that are needed. */
struct body {
	const struct sk_onnx_graph *graph;
	struct sk_map names; /* to the nodes that produce them; the number of nodes: not produced */
	bool *known; /* nodes that are needed */
	numbers wanted; /* needed nodes with inputs that are not visited yet */
	struct body *outer; /* the enclosing body; NULL: the scope's graph encloses it */
};

static void collect_name(struct body *body, const char *name, size_t node)
{
	if (name && *name)
		sk_map_insert(&body->names, name, strlen(name), (uint32_t)node);
}

static void collect_names(struct body *body)
{
	const struct sk_onnx_graph *graph = body->graph;

	for (size_t i = 0; i < graph->inputs.count; i++)
		collect_name(body, graph->inputs.items[i].name, graph->nodes.count);
	for (size_t i = 0; i < graph->initializers.count; i++)
		collect_name(body, graph->initializers.items[i].name, graph->nodes.count);
	for (size_t i = 0; i < graph->sparse.count; i++)
		collect_name(body, graph->sparse.items[i].values ? graph->sparse.items[i].values->name : NULL,
			     graph->nodes.count);
	for (size_t i = 0; i < graph->nodes.count; i++)
		for (size_t j = 0; j < graph->nodes.items[i].outputs.count; j++)
			collect_name(body, graph->nodes.items[i].outputs.items[j], i);
}

/* Use a name in the body, or in the scope's graph itself (NULL). Names in a body that are not defined anywhere are
 * reported when its own scope is opened. */
static void use(struct sk_onnx_scope *scope, struct sk_onnx_visit *visit, struct body *body, const char *name)
{
	uint32_t index = SK_NONE;

	for (; body; body = body->outer) {
		index = sk_map_find(&body->names, name, strlen(name));
		if (index == SK_NONE)
			continue;
		if (index < body->graph->nodes.count && !body->known[index]) {
			body->known[index] = true;
			sk_array_push(scope->diag->arena, &body->wanted, index);
		}
		return;
	}
	index = sk_map_find(&scope->names, name, strlen(name));
	if (index != SK_NONE)
		sk_array_push(scope->diag->arena, &visit->uses, index);
}

/* Definitions of this graph that a body needs are needed by its node. */
static void use_in_body(struct sk_onnx_scope *scope, struct sk_onnx_visit *visit, const struct sk_onnx_graph *graph,
			struct body *outer)
{
	struct body body = {.graph = graph, .outer = outer};

	sk_map_init(&body.names, scope->diag->arena);
	body.known = SK_NEW_ARRAY(scope->diag->arena, bool, graph->nodes.count);
	collect_names(&body);
	for (size_t i = 0; i < graph->outputs.count; i++)
		if (graph->outputs.items[i].name)
			use(scope, visit, &body, graph->outputs.items[i].name);
	while (body.wanted.count) {
		const struct sk_onnx_node *node = &graph->nodes.items[body.wanted.items[--body.wanted.count]];

		for (size_t j = 0; j < node->inputs.count; j++)
			use(scope, visit, &body, node->inputs.items[j]);
		for (size_t j = 0; j < node->attributes.count; j++)
			if (node->attributes.items[j].g)
				use_in_body(scope, visit, node->attributes.items[j].g, &body);
	}
	sk_map_release(&body.names);
}

static bool is_defined_outside(const struct sk_onnx_scope *scope, const char *name)
{
	for (scope = scope->outer; scope; scope = scope->outer)
		if (sk_onnx_scope_find(scope, name))
			return true;
	return false;
}

static const char *suggestion(const struct sk_onnx_scope *scope, const char *name)
{
	SK_ARRAY(const char *) names = {0};

	for (size_t i = 0; i < scope->definitions.count && i < MAX_CANDIDATES; i++)
		sk_array_push(scope->diag->arena, &names, scope->definitions.items[i].name);
	return sk_did_you_mean(scope->diag->arena, name, names.items, names.count);
}

static void find_uses(struct sk_onnx_scope *scope, uint32_t number)
{
	const struct sk_onnx_node *node = &scope->source->nodes.items[number];
	struct sk_onnx_visit *visit = &scope->visits[number];

	for (size_t i = 0; i < node->inputs.count && !sk_diag_is_hopeless(scope->diag); i++) {
		const char *name = node->inputs.items[i];

		if (*name && !sk_onnx_scope_find(scope, name) && !is_defined_outside(scope, name))
			sk_error(
				scope->diag, place_of_message(scope, &node->message),
				"%s: input '%s' is not an output of a node, nor an input or initializer of the graph%s",
				sk_onnx_node_label(scope->diag->arena, node), name,
				scope->diag->errors < 10 ? suggestion(scope, name) : "");
		use(scope, visit, NULL, name);
	}
	for (size_t i = 0; i < node->attributes.count; i++)
		if (node->attributes.items[i].g)
			use_in_body(scope, visit, node->attributes.items[i].g, NULL);
}

/* ---- needed nodes and their order ---- */

static void want(struct sk_onnx_scope *scope, uint32_t index, numbers *wanted)
{
	struct sk_onnx_definition *definition = &scope->definitions.items[index];

	definition->used = true;
	if (definition->origin != SK_ONNX_PRODUCED || scope->visits[definition->index].wanted)
		return;
	scope->visits[definition->index].wanted = true;
	sk_array_push(scope->diag->arena, wanted, definition->index);
}

static void mark_wanted(struct sk_onnx_scope *scope)
{
	numbers wanted = {0};

	for (size_t i = 0; i < scope->source->outputs.count && !sk_diag_is_hopeless(scope->diag); i++) {
		const struct sk_onnx_value_info *output = &scope->source->outputs.items[i];
		uint32_t index =
			output->name ? sk_map_find(&scope->names, output->name, strlen(output->name)) : SK_NONE;

		if (index != SK_NONE)
			want(scope, index, &wanted);
		else if (!output->name || !is_defined_outside(scope, output->name))
			sk_error(scope->diag, place_of_message(scope, &output->message),
				 "output '%s' is made by no node%s", output->name ? output->name : "",
				 output->name && scope->diag->errors < 10 ? suggestion(scope, output->name) : "");
	}
	while (wanted.count) {
		uint32_t node = wanted.items[--wanted.count];

		find_uses(scope, node);
		for (size_t i = 0; i < scope->visits[node].uses.count; i++)
			want(scope, scope->visits[node].uses.items[i], &wanted);
	}
}

struct step {
	uint32_t node;
	size_t next; /* of its uses */
};

typedef SK_ARRAY(struct step) path;

/* Report a cycle: the last step needs a node that waits for it. The steps from that node on are the cycle. */
static void report_circle(struct sk_onnx_scope *scope, const path *steps, uint32_t first)
{
	size_t begin = steps->count;
	struct sk_text text;

	do
		begin--;
	while (steps->items[begin].node != first);
	sk_text_open(&text);
	for (size_t i = begin; i < steps->count && i < begin + MAX_CIRCLE_SHOWN; i++) {
		const struct step *step = &steps->items[i];
		uint32_t use = scope->visits[step->node].uses.items[step->next - 1];

		fprintf(text.stream, "%s'%s'", i > begin ? ", " : "", scope->definitions.items[use].name);
	}
	if (steps->count - begin > MAX_CIRCLE_SHOWN)
		fputs(" …", text.stream);
	sk_text_close(scope->diag->arena, &text);
	sk_error(scope->diag, place_of_message(scope, &scope->source->nodes.items[first].message),
		 "%s waits for itself: each of these values is made of the next one, and the last of the first: %s",
		 sk_onnx_node_label(scope->diag->arena, &scope->source->nodes.items[first]), text.bytes);
}

/* Return the next node that the last step needs and that has no place yet; SK_NONE: none. */
static uint32_t next_node(struct sk_onnx_scope *scope, path *steps)
{
	struct step *step = &steps->items[steps->count - 1];
	const struct sk_onnx_visit *visit = &scope->visits[step->node];

	while (step->next < visit->uses.count) {
		const struct sk_onnx_definition *use = &scope->definitions.items[visit->uses.items[step->next++]];

		if (use->origin != SK_ONNX_PRODUCED || scope->visits[use->index].done)
			continue;
		if (!scope->visits[use->index].open)
			return use->index;
		report_circle(scope, steps, use->index);
	}
	return SK_NONE;
}

/* Nodes that are already in order keep it. */
static void place_node(struct sk_onnx_scope *scope, uint32_t node, path *steps)
{
	while (node != SK_NONE && !sk_diag_is_hopeless(scope->diag)) {
		scope->visits[node].open = true;
		sk_array_push(scope->diag->arena, steps, (struct step){node, 0});
		while (steps->count && (node = next_node(scope, steps)) == SK_NONE) {
			uint32_t done = steps->items[--steps->count].node;

			scope->visits[done].done = true;
			sk_array_push(scope->diag->arena, &scope->order, done);
		}
	}
}

bool sk_onnx_scope_open(struct sk_onnx_scope *scope, struct sk_diag *diag, const char *path_name,
			const struct sk_onnx_graph *source, const struct sk_onnx_scope *outer)
{
	unsigned errors = diag->errors;
	path steps = {0};

	*scope = (struct sk_onnx_scope){.diag = diag, .path = path_name, .source = source, .outer = outer};
	sk_map_init(&scope->names, diag->arena);
	scope->visits = SK_NEW_ARRAY(diag->arena, struct sk_onnx_visit, source->nodes.count);
	define_all(scope);
	add_infos(scope);
	mark_wanted(scope);
	for (uint32_t i = 0; i < source->nodes.count; i++)
		if (scope->visits[i].wanted && !scope->visits[i].done)
			place_node(scope, i, &steps);
	return diag->errors == errors;
}
