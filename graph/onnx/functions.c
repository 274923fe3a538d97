/* Calls become copies of the function's nodes, with new names; see onnx-parts.h. */
#include "graph/onnx/onnx-parts.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/text.h"
#include "graph/onnx/onnx.h"

/* Limits of nested calls, and of the memory of all copies: a file of a kilobyte could ask for a terabyte. */
enum { MAX_CALLS = 100, FREE_BYTES = 16 << 20, BYTES_PER_BYTE = 256, BYTES_PER_OUTPUT = 400, MAX_IMPORTS = 1000 };

struct expander {
	struct sk_arena *arena;
	struct sk_diag *diag;
	const char *path;
	struct sk_onnx_model *model;
	struct sk_map functions; /* by the text of function_key */
	struct sk_map names; /* all names of values in the file, and of copies */
	size_t made; /* names made so far */
	uint64_t budget; /* bytes that copies may still take */
};

/* The names of a function in one copy. */
struct copy {
	struct expander *expander;
	const struct sk_onnx_function *function;
	const struct sk_onnx_node *call;
	const char *prefix;
	struct sk_map formals; /* to actuals */
	SK_ARRAY(const char *) actuals;
};

static bool expand_nodes(struct expander *expander, sk_onnx_nodes *nodes, unsigned depth);

static struct sk_place place_of_message(const struct expander *expander, const struct sk_onnx_message *message)
{
	return (struct sk_place){.file = expander->path, .line = message->line, .column = message->column};
}

static bool charge(struct expander *expander, const struct sk_onnx_node *call, uint64_t bytes)
{
	if (bytes <= expander->budget) {
		expander->budget -= bytes;
		return true;
	}
	sk_error(expander->diag, place_of_message(expander, &call->message),
		 "%s: the model's functions become far larger than the file is",
		 sk_onnx_node_label(expander->arena, call));
	return false;
}

/* ---- names ---- */

static void know_name(struct expander *expander, const char *name)
{
	if (name)
		sk_map_insert(&expander->names, name, strlen(name), 0);
}

static void know_nodes(struct expander *expander, const sk_onnx_nodes *nodes);

static void know_graph(struct expander *expander, const struct sk_onnx_graph *graph)
{
	for (size_t i = 0; i < graph->inputs.count; i++)
		know_name(expander, graph->inputs.items[i].name);
	for (size_t i = 0; i < graph->initializers.count; i++)
		know_name(expander, graph->initializers.items[i].name);
	know_nodes(expander, &graph->nodes);
}

static void know_nodes(struct expander *expander, const sk_onnx_nodes *nodes)
{
	for (size_t i = 0; i < nodes->count; i++) {
		const struct sk_onnx_node *node = &nodes->items[i];

		for (size_t j = 0; j < node->inputs.count; j++)
			know_name(expander, node->inputs.items[j]);
		for (size_t j = 0; j < node->outputs.count; j++)
			know_name(expander, node->outputs.items[j]);
		for (size_t j = 0; j < node->attributes.count; j++)
			if (node->attributes.items[j].g)
				know_graph(expander, node->attributes.items[j].g);
	}
}

/* Return a name that is not used in the file. */
static const char *make_name(struct copy *copy, const char *base)
{
	struct expander *expander = copy->expander;
	const char *name = sk_arena_print(expander->arena, "%s/%s", copy->prefix, base);

	while (sk_map_find(&expander->names, name, strlen(name)) != SK_NONE)
		name = sk_arena_print(expander->arena, "%s/%s#%zu", copy->prefix, base, ++expander->made);
	know_name(expander, name);
	return name;
}

/* Return the name in the copy. A name that is undefined in the function stays undefined in the copy, even if the caller
 * defines it. */
static const char *actual_of(struct copy *copy, const char *formal)
{
	uint32_t index = sk_map_find(&copy->formals, formal, strlen(formal));

	if (!*formal)
		return formal;
	if (index == SK_NONE) {
		index = (uint32_t)copy->actuals.count;
		sk_array_push(copy->expander->arena, &copy->actuals, make_name(copy, formal));
		sk_map_insert(&copy->formals, formal, strlen(formal), index);
	}
	return copy->actuals.items[index];
}

static void bind_name(struct copy *copy, const char *formal, const char *actual)
{
	uint32_t index = (uint32_t)copy->actuals.count;

	if (sk_map_insert(&copy->formals, formal, strlen(formal), index) == index)
		sk_array_push(copy->expander->arena, &copy->actuals, actual);
}

/* ---- copies of nodes ---- */

/* Names that bodies define, from the innermost body outwards. They stay as they are. */
struct locals {
	struct sk_map names;
	const struct locals *outer;
};

static bool copy_node(struct copy *copy, const struct sk_onnx_node *node, const struct locals *locals,
		      struct sk_onnx_node *to);

static const char *renamed(struct copy *copy, const struct locals *locals, const char *name)
{
	for (; locals; locals = locals->outer)
		if (sk_map_find(&locals->names, name, strlen(name)) != SK_NONE)
			return name;
	return actual_of(copy, name);
}

static void collect_local(struct locals *locals, const char *name)
{
	if (name && *name)
		sk_map_insert(&locals->names, name, strlen(name), 0);
}

static struct sk_onnx_graph *copy_graph(struct copy *copy, const struct sk_onnx_graph *graph,
					const struct locals *outer)
{
	struct expander *expander = copy->expander;
	struct sk_onnx_graph *to = SK_NEW(expander->arena, struct sk_onnx_graph);
	struct locals locals = {.outer = outer};

	sk_map_init(&locals.names, expander->arena);
	for (size_t i = 0; i < graph->inputs.count; i++)
		collect_local(&locals, graph->inputs.items[i].name);
	for (size_t i = 0; i < graph->initializers.count; i++)
		collect_local(&locals, graph->initializers.items[i].name);
	for (size_t i = 0; i < graph->nodes.count; i++)
		for (size_t j = 0; j < graph->nodes.items[i].outputs.count; j++)
			collect_local(&locals, graph->nodes.items[i].outputs.items[j]);
	*to = *graph;
	memset(&to->nodes, 0, sizeof(to->nodes));
	memset(&to->outputs, 0, sizeof(to->outputs));
	for (size_t i = 0; i < graph->outputs.count; i++) {
		struct sk_onnx_value_info output = graph->outputs.items[i];

		output.name = output.name ? renamed(copy, &locals, output.name) : NULL;
		sk_array_push(expander->arena, &to->outputs, output);
	}
	for (size_t i = 0; i < graph->nodes.count; i++) {
		struct sk_onnx_node node;

		if (!copy_node(copy, &graph->nodes.items[i], &locals, &node))
			return NULL;
		sk_array_push(expander->arena, &to->nodes, node);
	}
	sk_map_release(&locals.names);
	return to;
}

/* Return the cost of a tensor or a graph for each node that shares it. */
static uint64_t weight_of_tensor(const struct sk_onnx_tensor *tensor)
{
	return sizeof(struct sk_onnx_tensor) +
	       sizeof(int64_t) * (tensor->integers32.count + tensor->integers64.count + tensor->unsigned64.count);
}

static uint64_t weight_of(const struct sk_onnx_attribute *attribute);

static uint64_t weight_of_graph(const struct sk_onnx_graph *graph)
{
	uint64_t weight = sizeof(*graph) + BYTES_PER_OUTPUT * graph->inputs.count;

	for (size_t i = 0; i < graph->initializers.count; i++)
		weight += BYTES_PER_OUTPUT + weight_of_tensor(&graph->initializers.items[i]);
	for (size_t i = 0; i < graph->nodes.count; i++) {
		const struct sk_onnx_node *node = &graph->nodes.items[i];

		weight += sizeof(*node) + sizeof(char *) * node->inputs.count + BYTES_PER_OUTPUT * node->outputs.count;
		for (size_t j = 0; j < node->attributes.count; j++)
			weight += sizeof(*node->attributes.items) + weight_of(&node->attributes.items[j]);
	}
	return weight;
}

static uint64_t weight_of(const struct sk_onnx_attribute *attribute)
{
	return (attribute->t ? weight_of_tensor(attribute->t) : 0) +
	       (attribute->g ? weight_of_graph(attribute->g) : 0) +
	       sizeof(double) * (attribute->floats.size / sizeof(float)) + sizeof(char *) * attribute->strings.count;
}

static const struct sk_onnx_attribute *find_attribute(const struct sk_onnx_attribute *attributes, size_t count,
						      const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (attributes[i].name && !strcmp(attributes[i].name, name))
			return &attributes[i];
	return NULL;
}

/* An attribute that refers to one of the function's gets the value in the call, or the function's default. Without
 * either the node lacks it. */
static bool copy_attribute(struct copy *copy, const struct sk_onnx_attribute *source, const struct locals *locals,
			   struct sk_onnx_node *to)
{
	struct sk_onnx_attribute attribute = *source;
	bool refers = source->reference && *source->reference;

	if (refers) {
		const struct sk_onnx_attribute *value =
			find_attribute(copy->call->attributes.items, copy->call->attributes.count, source->reference);

		if (!value)
			value = find_attribute(copy->function->defaults.items, copy->function->defaults.count,
					       source->reference);
		if (!value)
			return true;
		attribute = *value;
		attribute.name = source->name;
	}
	if (!charge(copy->expander, copy->call, weight_of(&attribute)))
		return false;
	if (attribute.g && !refers) {
		attribute.g = copy_graph(copy, source->g, locals);
		if (!attribute.g)
			return false;
	}
	sk_array_push(copy->expander->arena, &to->attributes, attribute);
	return true;
}

/* True if the node makes the result of a translated operator: it keeps the name. */
static bool is_main(const struct sk_onnx_function *function, const struct sk_onnx_node *node)
{
	return function->translated && function->outputs.count && node->outputs.count &&
	       !strcmp(function->outputs.items[0], node->outputs.items[0]);
}

/* Give the node the marks of the call. */
static void copy_marks(const struct copy *copy, struct sk_onnx_node *to)
{
	static const char *const own[] = {SK_ONNX_ORIGIN, SK_ONNX_RULE, SK_ONNX_COMPOSITE, SK_ONNX_COMPOSITE_NAME,
					  SK_ONNX_VERSION};

	for (size_t i = 0; i < copy->call->attributes.count; i++) {
		const struct sk_onnx_attribute *mark = &copy->call->attributes.items[i];
		bool passed = mark->name && (*mark->name == '_' || !strcmp(mark->name, SK_ONNX_STREAM));

		for (size_t j = 0; j < sizeof(own) / sizeof(own[0]) && passed; j++)
			passed = strcmp(mark->name, own[j]) != 0;
		if (passed && !find_attribute(to->attributes.items, to->attributes.count, mark->name))
			sk_array_push(copy->expander->arena, &to->attributes, *mark);
	}
}

static bool copy_node(struct copy *copy, const struct sk_onnx_node *node, const struct locals *locals,
		      struct sk_onnx_node *to)
{
	struct sk_arena *arena = copy->expander->arena;
	const char *name = node->name && *node->name ? node->name : node->op ? node->op : "";
	uint64_t longest = strlen(copy->prefix) + 16;
	uint64_t bytes =
		sizeof(*node) + longest + strlen(name) + node->attributes.count * sizeof(*node->attributes.items);

	for (size_t i = 0; i < node->inputs.count; i++)
		bytes += longest + strlen(node->inputs.items[i]);
	for (size_t i = 0; i < node->outputs.count; i++)
		bytes += longest + strlen(node->outputs.items[i]) + BYTES_PER_OUTPUT;
	if (!charge(copy->expander, copy->call, bytes))
		return false;
	*to = (struct sk_onnx_node){.message = copy->function->translated ? copy->call->message : node->message,
				    .name = is_main(copy->function, node)
						    ? copy->prefix
						    : sk_arena_print(arena, "%s/%s", copy->prefix, name),
				    .op = node->op,
				    .domain = node->domain,
				    .overload = node->overload,
				    .imports = &copy->function->imports,
				    .origin = copy->call->origin ? copy->call->origin : copy->call->op,
				    .told.items = copy->call->told.items,
				    .told.count = copy->call->told.count};
	for (size_t i = 0; i < node->inputs.count; i++)
		sk_array_push(arena, &to->inputs, renamed(copy, locals, node->inputs.items[i]));
	for (size_t i = 0; i < node->outputs.count; i++)
		sk_array_push(arena, &to->outputs, renamed(copy, locals, node->outputs.items[i]));
	for (size_t i = 0; i < node->attributes.count; i++)
		if (!copy_attribute(copy, &node->attributes.items[i], locals, to))
			return false;
	copy_marks(copy, to);
	return true;
}

/* ---- calls ---- */

static const char *function_key(struct expander *expander, const char *domain, const char *name, const char *overload)
{
	if (!domain || !strcmp(domain, "ai.onnx"))
		domain = "";
	return sk_arena_print(expander->arena, "%s\n%s\n%s", domain, name ? name : "", overload ? overload : "");
}

static const struct sk_onnx_function *find_function(struct expander *expander, const struct sk_onnx_node *node)
{
	const char *key = function_key(expander, node->domain, node->op, node->overload);
	uint32_t index = sk_map_find(&expander->functions, key, strlen(key));

	return index == SK_NONE ? NULL : &expander->model->functions.items[index];
}

/* Copy an output that is an input of the function, or a repeated output, to its name. */
static void add_identity(struct copy *copy, const char *from, const char *to, sk_onnx_nodes *nodes)
{
	struct sk_onnx_node node = {.message = copy->call->message,
				    .name = copy->prefix,
				    .op = "Identity",
				    .imports = &copy->function->imports,
				    .origin = copy->call->origin ? copy->call->origin : copy->call->op,
				    .told.items = copy->call->told.items,
				    .told.count = copy->call->told.count};

	sk_array_push(copy->expander->arena, &node.inputs, from);
	sk_array_push(copy->expander->arena, &node.outputs, to);
	sk_array_push(copy->expander->arena, nodes, node);
}

static void bind_operands(struct copy *copy, sk_onnx_nodes *nodes)
{
	const struct sk_onnx_function *function = copy->function;
	const struct sk_onnx_node *call = copy->call;

	for (size_t i = 0; i < function->inputs.count; i++)
		bind_name(copy, function->inputs.items[i], i < call->inputs.count ? call->inputs.items[i] : "");
	for (size_t i = 0; i < call->outputs.count; i++) {
		const char *formal = function->outputs.items[i], *actual = call->outputs.items[i];

		if (!*actual)
			continue;
		if (sk_map_find(&copy->formals, formal, strlen(formal)) == SK_NONE)
			bind_name(copy, formal, actual);
		else
			add_identity(copy, actual_of(copy, formal), actual, nodes);
	}
}

static bool check_call(struct expander *expander, const struct sk_onnx_node *call,
		       const struct sk_onnx_function *function, unsigned depth)
{
	const char *label = sk_onnx_node_label(expander->arena, call);

	if (depth >= MAX_CALLS)
		sk_error(expander->diag, place_of_message(expander, &call->message),
			 "%s: functions call each other more than %d deep", label, MAX_CALLS);
	else if (call->inputs.count > function->inputs.count || call->outputs.count > function->outputs.count)
		sk_error(expander->diag, place_of_message(expander, &call->message),
			 "%s has %zu input%s and %zu output%s, but the model's function has %zu and %zu", label,
			 call->inputs.count, sk_plural(call->inputs.count), call->outputs.count,
			 sk_plural(call->outputs.count), function->inputs.count, function->outputs.count);
	else
		return true;
	return false;
}

/* Add the node, or the nodes of the function that it calls. */
static bool add_expanded(struct expander *expander, const struct sk_onnx_node *node, sk_onnx_nodes *nodes,
			 unsigned depth)
{
	const struct sk_onnx_function *function = find_function(expander, node);
	struct copy copy = {.expander = expander, .function = function, .call = node};
	bool ok = true;

	if (!function) {
		for (size_t i = 0; i < node->attributes.count && ok; i++)
			if (node->attributes.items[i].g)
				ok = expand_nodes(expander, &node->attributes.items[i].g->nodes, depth + 1);
		sk_array_push(expander->arena, nodes, *node);
		return ok;
	}
	if (!check_call(expander, node, function, depth))
		return false;
	copy.prefix = node->name && *node->name ? node->name : node->outputs.count ? node->outputs.items[0] : node->op;
	sk_map_init(&copy.formals, expander->arena);
	bind_operands(&copy, nodes);
	for (size_t i = 0; i < function->nodes.count && ok; i++) {
		struct sk_onnx_node inner;

		ok = copy_node(&copy, &function->nodes.items[i], NULL, &inner) &&
		     add_expanded(expander, &inner, nodes, depth + 1);
	}
	sk_map_release(&copy.formals);
	return ok;
}

static bool expand_nodes(struct expander *expander, sk_onnx_nodes *nodes, unsigned depth)
{
	sk_onnx_nodes expanded = {0};
	bool ok = true;

	for (size_t i = 0; i < nodes->count && ok; i++)
		ok = add_expanded(expander, &nodes->items[i], &expanded, depth);
	*nodes = expanded;
	return ok;
}

bool sk_onnx_expand_functions(struct sk_diag *diag, const char *path, struct sk_onnx_model *model, size_t file_size)
{
	struct expander expander = {.arena = diag->arena,
				    .diag = diag,
				    .path = path,
				    .model = model,
				    .budget = FREE_BYTES + (uint64_t)BYTES_PER_BYTE * file_size};
	bool ok = true;

	if (!model->functions.count)
		return true;
	sk_map_init(&expander.functions, diag->arena);
	sk_map_init(&expander.names, diag->arena);
	know_graph(&expander, model->graph);
	for (uint32_t i = 0; i < model->functions.count && ok; i++) {
		const struct sk_onnx_function *function = &model->functions.items[i];
		const char *key = function_key(&expander, function->domain, function->name, function->overload);

		know_nodes(&expander, &function->nodes);
		ok = sk_map_insert(&expander.functions, key, strlen(key), i) == i &&
		     function->imports.count <= MAX_IMPORTS;
		if (!ok)
			sk_error(diag, place_of_message(&expander, &function->message),
				 "the function '%s' of the model is there twice, or imports more than %d operator sets",
				 function->name ? function->name : "", MAX_IMPORTS);
	}
	return ok && expand_nodes(&expander, &model->graph->nodes, 0);
}
