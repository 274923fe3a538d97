/* The texts of dump_as_text; see dumps-parts.h. A pass may renumber composites and move nodes, so a node is identified
 * by the value that it makes. */
#include "graph/dumps/dumps-parts.h"

#include <inttypes.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/json.h"
#include "base/map.h"
#include "base/text.h"
#include "graph/graph.h"

static void remember(struct sk_cluster_texts *texts, const struct sk_op_graph *graph)
{
	texts->before.count = 0;
	for (size_t i = 0; i < graph->values.count; i++) {
		uint32_t node = graph->values.items[i].node;

		sk_array_push(graph->arena, &texts->before, node == SK_NONE ? 0 : graph->nodes.items[node].composite);
	}
	texts->names.count = 0;
	for (size_t i = 0; i < graph->composites.count; i++)
		sk_array_push(graph->arena, &texts->names, graph->composites.items[i].name);
}

/* Return the former composite of the node plus 1, in a list by value; 0: it was in none, or is new. */
static uint32_t composite_before(const uint32_t *list, size_t count, const struct sk_graph_node *node)
{
	size_t first = 0;

	while (first < node->outputs.count && node->outputs.items[first] == SK_NONE)
		first++;
	return first < node->outputs.count && node->outputs.items[first] < count ? list[node->outputs.items[first]] : 0;
}

void sk_cluster_texts_begin(struct sk_cluster_texts *texts, const struct sk_op_graph *graph)
{
	*texts = (struct sk_cluster_texts){0};
	remember(texts, graph);
	for (size_t i = 0; i < texts->before.count; i++)
		sk_array_push(graph->arena, &texts->start, texts->before.items[i]);
}

/* ---- composites that grew ---- */

/* Mark by composite plus 1 whether one of its nodes was in no composite, or two were in different ones. */
static const bool *find_grown(const struct sk_cluster_texts *texts, const struct sk_op_graph *graph)
{
	bool *grown = SK_NEW_ARRAY(graph->arena, bool, graph->composites.count + 1);
	uint32_t *first = SK_NEW_ARRAY(graph->arena, uint32_t, graph->composites.count + 1);

	for (size_t i = 0; i < graph->nodes.count; i++) {
		uint32_t composite = graph->nodes.items[i].composite, before;

		if (!sk_node_is_live(graph, &graph->nodes.items[i]))
			continue;
		before = composite_before(texts->start.items, texts->start.count, &graph->nodes.items[i]);
		grown[composite] |= !before || (first[composite] && first[composite] != before);
		first[composite] = before;
	}
	return grown;
}

static void print_member(const struct sk_op_graph *graph, uint32_t node, FILE *stream)
{
	fputs("  ", stream);
	sk_dump_call(graph, node, stream);
	putc('\n', stream);
}

static void print_clusters(const struct sk_cluster_texts *texts, const struct sk_op_graph *graph, FILE *stream)
{
	const bool *grown = find_grown(texts, graph);
	const struct sk_node_lists members = sk_graph_members(graph->arena, graph);

	for (uint32_t i = 1; i <= graph->composites.count; i++) {
		const char *name = sk_json_string(graph->arena, graph->composites.items[i - 1].name);

		if (!grown[i])
			continue;
		fprintf(stream, "Source nodes of %s = composite %" PRIu32 "\n", name, i - 1);
		for (uint32_t m = members.starts[i - 1]; m < members.starts[i]; m++)
			print_member(graph, members.nodes[m], stream);
		fputs("=======================\n", stream);
	}
}

/* ---- composites that were cut ---- */

/* The pieces of former composites. A present composite is a piece, and so is a node in none. */
struct cuts {
	const struct sk_op_graph *graph;
	struct sk_node_lists pieces;
	uint32_t *first; /* by former composite: its first piece; the others follow */
};

static struct cuts find_cuts(const struct sk_cluster_texts *texts, const struct sk_op_graph *graph)
{
	struct cuts cuts = {.graph = graph, .first = SK_NEW_ARRAY(graph->arena, uint32_t, texts->names.count + 1)};
	uint32_t *numbers = SK_NEW_ARRAY(graph->arena, uint32_t, graph->nodes.count + 1), pieces = 0;
	uint32_t *last = SK_NEW_ARRAY(graph->arena, uint32_t,
				      graph->composites.count + 1); /* the piece of each present composite, plus 1 */
	struct sk_node_lists before;

	for (size_t n = 0; n < graph->nodes.count; n++)
		numbers[n] = composite_before(texts->before.items, texts->before.count, &graph->nodes.items[n]) -
			     1; /* SK_NONE: none */
	before = sk_graph_sort_nodes(graph->arena, graph, numbers, texts->names.count);
	for (size_t i = 0; i < texts->names.count; i++) {
		cuts.first[i] = pieces;
		for (uint32_t b = before.starts[i]; b < before.starts[i + 1]; b++) {
			uint32_t composite = graph->nodes.items[before.nodes[b]].composite;

			if (!composite || last[composite] <= cuts.first[i])
				last[composite] = ++pieces;
			numbers[before.nodes[b]] = last[composite] - 1;
		}
	}
	cuts.first[texts->names.count] = pieces;
	cuts.pieces = sk_graph_sort_nodes(graph->arena, graph, numbers, pieces);
	return cuts;
}

static void put_names(const struct sk_op_graph *graph, const char *key, const uint32_t *values, size_t count,
		      struct sk_json *json)
{
	sk_json_begin_list(json, key, SK_JSON_LINE);
	for (size_t i = 0; i < count; i++)
		sk_json_put_string(json, NULL, values[i] == SK_NONE ? "" : graph->values.items[values[i]].name);
	sk_json_end(json);
}

static void put_json(const struct sk_op_graph *graph, uint32_t number, struct sk_json *json)
{
	const struct sk_graph_node *node = &graph->nodes.items[number];

	sk_json_begin_object(json, NULL, SK_JSON_LINE);
	sk_json_put_string(json, "name", sk_node_name(graph, node));
	sk_json_put_string(json, "op", node->op);
	put_names(graph, "inputs", node->inputs.items, node->inputs.count, json);
	put_names(graph, "outputs", node->outputs.items, node->outputs.count, json);
	sk_json_end(json);
}

/* Print the piece as lines, then as JSON. */
static void print_piece(const struct cuts *cuts, uint32_t piece, FILE *stream)
{
	const uint32_t *nodes = &cuts->pieces.nodes[cuts->pieces.starts[piece]];
	uint32_t count = cuts->pieces.starts[piece + 1] - cuts->pieces.starts[piece];
	struct sk_json json = {.stream = stream};

	for (uint32_t i = 0; i < count; i++)
		print_member(cuts->graph, nodes[i], stream);
	fputs("json: ", stream);
	sk_json_begin_list(&json, NULL, SK_JSON_LINE);
	for (uint32_t i = 0; i < count; i++)
		put_json(cuts->graph, nodes[i], &json);
	sk_json_end(&json);
	putc('\n', stream);
}

static void print_split(const struct cuts *cuts, uint32_t before, const char *name, FILE *stream)
{
	uint32_t first = cuts->first[before], end = cuts->first[before + 1];

	if (first == end)
		return;
	fprintf(stream, "********** main graph: %s **********\n", sk_json_string(cuts->graph->arena, name));
	if (end - first == 1) {
		fputs("Graph unchanged.\n", stream);
		return;
	}
	for (uint32_t i = first; i < end; i++) {
		uint32_t node = cuts->pieces.nodes[cuts->pieces.starts[i]];

		fprintf(stream, "-------- subgraph %" PRIu32 ", mode: %s --------\n", i - first,
			cuts->graph->nodes.items[node].composite ? "composite" : "basic");
		print_piece(cuts, i, stream);
	}
}

static void print_splits(const struct sk_cluster_texts *texts, const struct sk_op_graph *graph, FILE *stream)
{
	const struct cuts cuts = find_cuts(texts, graph);

	for (uint32_t i = 0; i < texts->names.count; i++)
		print_split(&cuts, i, texts->names.items[i], stream);
}

void sk_cluster_texts_add(struct sk_cluster_texts *texts, const struct sk_op_graph *graph, enum sk_cluster_pass pass)
{
	struct sk_cluster_text *file = pass == SK_CUTS ? &texts->splits : &texts->clusters;
	struct sk_text text;

	if (pass == SK_OTHER_PASS) {
		remember(texts, graph);
		return;
	}
	sk_text_open(&text);
	if (pass == SK_CUTS)
		print_splits(texts, graph, text.stream);
	else
		print_clusters(texts, graph, text.stream);
	sk_text_close(graph->arena, &text);
	if (pass == SK_CLUSTERS)
		file->parts.count = file->size = 0;
	sk_array_push(graph->arena, &file->parts, (struct sk_file_part){file->size, text.bytes, text.size});
	file->size += text.size;
	remember(texts, graph);
}
