/* The manifest's keys about the model file that it names. Input: nodes. Output: model->graph, in the notation of the
 * command line. */
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/document.h"
#include "format/npy/npy.h"
#include "format/skplan.h"
#include "src/manifest/manifest.h"
#include "src/model/model.h"

static void add_assignment(const struct sk_document *document, sk_names *list, const struct sk_node *key,
			   const char *value)
{
	const char *text = sk_arena_print(document->arena, "%s=%s", key->text, value);

	sk_array_push(document->arena, list, (struct sk_name){text, sk_node_place(document, key)});
}

/* Return [1, 128] as "1x128"; a single number is a list of one. Return NULL after an error. */
static const char *read_shape(const struct sk_document *document, const struct sk_node *key)
{
	const char *text = "";
	uint32_t rank = 0;
	uint64_t size;

	for (const struct sk_node *item = sk_node_items(sk_node_value(key), NULL); item; item = sk_node_next(item)) {
		if (!sk_read_integer(document, item, "the shape of input", key->text, 0, INT64_MAX, &size))
			return NULL;
		if (++rank > SK_MAX_RANK) {
			sk_error(document->diag, sk_node_place(document, item),
				 "the shape of input '%s' has more than %d dimensions", key->text, SK_MAX_RANK);
			return NULL;
		}
		text = sk_arena_print(document->arena, "%s%s%" PRIu64, text, *text ? "x" : "", size);
	}
	return text;
}

/* Read a number, or bounds, which the command line's reader checks. */
static const char *read_dimension(const struct sk_document *document, const struct sk_node *key)
{
	const struct sk_node *value = sk_node_value(key);
	struct sk_name bounds;
	uint64_t size;

	if (value->kind == SK_NODE_SCALAR && strstr(value->text, ".."))
		return sk_read_text(document, value, "the bounds of dimension", key->text, &bounds) ? bounds.text
												    : NULL;
	return sk_read_integer(document, sk_node_value(key), "dimension", key->text, 0, INT64_MAX, &size)
		       ? sk_arena_print(document->arena, "%" PRIu64, size)
		       : NULL;
}

/* Return a list of numbers, or of lists, as a text such as "[1,2]"; NULL: something else is in it. Nodes of a document
 * have a limited depth. */
static const char *list_text(const struct sk_document *document, const struct sk_node *list)
{
	const char *text = "[";

	for (const struct sk_node *item = sk_node_first(list); item; item = sk_node_next(item)) {
		const char *one = item->kind == SK_NODE_LIST ? list_text(document, item) : item->text;

		if (!one || item->kind == SK_NODE_MAP)
			return NULL;
		text = sk_arena_join_all(document->arena, text, item == sk_node_first(list) ? "" : ",", one, NULL);
	}
	return sk_arena_join(document->arena, text, "]");
}

/* Read the path of a file, or elements. */
static const char *read_constant(const struct sk_document *document, const struct sk_node *key)
{
	const struct sk_node *value = sk_node_value(key);
	const char *elements = value->kind == SK_NODE_LIST ? list_text(document, value) : value->text;
	struct sk_name path;

	if (value->kind != SK_NODE_MAP && elements && sk_is_literal(elements))
		return elements;
	return sk_read_text(document, sk_node_value(key), "the file of input", key->text, &path)
		       ? sk_model_path(document->owner, path.text)
		       : NULL;
}

static const char *read_output(const struct sk_document *document, const struct sk_node *key)
{
	struct sk_name output;

	return sk_read_text(document, sk_node_value(key), "the state of input", key->text, &output) ? output.text
												    : NULL;
}

static void add_dimension(const struct sk_document *document, const struct sk_node *key, const char *network)
{
	struct sk_graph_file *graph = &((struct sk_model *)document->owner)->graph;
	const char *size = read_dimension(document, key);
	const char *text = size ? sk_arena_print(document->arena, "%s=%s", key->text, size) : NULL;

	if (text)
		sk_array_push(document->arena, &graph->dimensions,
			      (struct sk_dimension){network, {text, sk_node_place(document, key)}});
}

static void add_network(const struct sk_document *document, const struct sk_node *key)
{
	const struct sk_node *own = sk_node_first(sk_node_value(key));
	const char *name = sk_arena_copy(document->arena, key->text, key->length);

	if (!own)
		sk_error(document->diag, sk_node_place(document, key), "network '%s' has no dimensions", name);
	for (; own && !sk_diag_is_hopeless(document->diag); own = sk_node_next(own))
		add_dimension(document, own, name);
}

/* Read sizes by name. A map of sizes in place of a size is the set of a network with that name. */
static void read_dimensions(const struct sk_document *document, const struct sk_node *map)
{
	if (!map || !sk_expect_map(document, map, "'dims'", NULL))
		return;
	for (const struct sk_node *key = sk_node_first(map); key && !sk_diag_is_hopeless(document->diag);
	     key = sk_node_next(key))
		if (sk_node_value(key)->kind == SK_NODE_MAP)
			add_network(document, key);
		else
			add_dimension(document, key, NULL);
}

/* Read a map from names to values, each with the given function. */
static void read_map(const struct sk_document *document, const struct sk_node *map, const char *what,
		     const char *(*read)(const struct sk_document *document, const struct sk_node *key), sk_names *list)
{
	if (!map || !sk_expect_map(document, map, what, NULL))
		return;
	for (const struct sk_node *key = sk_node_first(map); key && !sk_diag_is_hopeless(document->diag);
	     key = sk_node_next(key)) {
		const char *value = read(document, key);

		if (value)
			add_assignment(document, list, key, value);
	}
}

void sk_manifest_read_graph(const struct sk_document *document, const struct sk_node *shapes,
			    const struct sk_node *dimensions, const struct sk_node *frozen,
			    const struct sk_node *states)
{
	struct sk_graph_file *graph = &((struct sk_model *)document->owner)->graph;

	read_map(document, shapes, "'shapes'", read_shape, &graph->shapes);
	read_dimensions(document, dimensions);
	read_map(document, frozen, "'freeze'", read_constant, &graph->frozen);
	read_map(document, states, "'states'", read_output, &graph->states);
}

static void read_path(const struct sk_document *document, const struct sk_node *value, const char *what,
		      struct sk_name *path)
{
	struct sk_name text;

	if (sk_read_text(document, value, what, NULL, &text))
		*path = (struct sk_name){sk_model_path(document->owner, text.text), text.place};
}

void sk_manifest_read_graph_path(const struct sk_document *document, const struct sk_node *value)
{
	read_path(document, value, "'graph'", &((struct sk_model *)document->owner)->graph.path);
}

/* Flags are separated by spaces; line ends in the text become spaces. */
void sk_manifest_read_fusion(const struct sk_document *document, const struct sk_node *value)
{
	struct sk_graph_file *graph = &((struct sk_model *)document->owner)->graph;
	struct sk_name fusion = {"", sk_node_place(document, value)};
	bool empty = value->kind == SK_NODE_SCALAR && !value->length;
	char *text;

	if (!empty && !sk_read_text(document, value, "'fusion'", NULL, &fusion))
		return;
	fusion.text = text = sk_arena_copy(document->arena, fusion.text, strlen(fusion.text));
	while ((text = strchr(text, '\n')))
		*text = ' ';
	fusion.place.column += value->in_line && !value->plain;
	graph->fusion = fusion;
	graph->fusion_in_line = value->in_line;
}

void sk_manifest_read_switches(const struct sk_document *document, const struct sk_node *value)
{
	read_path(document, value, "'switches'", &((struct sk_model *)document->owner)->graph.switches);
}

void sk_manifest_read_rules(const struct sk_document *document, const struct sk_node *value)
{
	struct sk_graph_file *graph = &((struct sk_model *)document->owner)->graph;
	struct sk_name path;

	for (const struct sk_node *item = sk_node_items(value, NULL); item && !sk_diag_is_hopeless(document->diag);
	     item = sk_node_next(item))
		if (sk_read_text(document, item, "a file of rules", NULL, &path)) {
			path.text = sk_model_path(document->owner, path.text);
			sk_array_push(document->arena, &graph->rules, path);
		}
}

void sk_manifest_read_pattern_fusion(const struct sk_document *document, const struct sk_node *value)
{
	static const char *const choices[] = {"false", "true"};
	size_t index;

	if (sk_read_choice(document, value, "'pattern_fusion_pass'", NULL, choices, 2, &index))
		((struct sk_model *)document->owner)->graph.no_patterns = !index;
}

void sk_manifest_read_patterns(const struct sk_document *document, const char *scope, const struct sk_node *value)
{
	struct sk_graph_file *graph = &((struct sk_model *)document->owner)->graph;
	struct sk_name pattern;

	for (const struct sk_node *item = sk_node_items(value, NULL); item && !sk_diag_is_hopeless(document->diag);
	     item = sk_node_next(item))
		if (sk_read_text(document, item, "the nodes of scope", scope, &pattern)) {
			pattern.text = sk_arena_print(document->arena, "%s=%s", scope, pattern.text);
			sk_array_push(document->arena, &graph->scopes, pattern);
		}
}
