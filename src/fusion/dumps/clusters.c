/* The texts of dump_as_text; see clusters.h. A pass may give composites other numbers: one of before is told by its
 * nodes. */
#include "src/fusion/dumps/clusters.h"

#include <inttypes.h>

#include "src/base/json.h"
#include "src/base/text.h"
#include "src/fusion/dumps/forms.h"

static void remember(struct sk_cluster_texts *texts, const struct sk_op_graph *graph)
{
	texts->before.count = 0;
	for (size_t i = 0; i < graph->nodes.count; i++)
		sk_array_push(graph->arena, &texts->before, graph->nodes.items[i].composite);
	texts->names.count = 0;
	for (size_t i = 0; i < graph->composites.count; i++)
		sk_array_push(graph->arena, &texts->names, graph->composites.items[i].name);
}

/* 0: it was in none, or there was no such node. */
static uint32_t composite_before(const struct sk_cluster_texts *texts, size_t node)
{
	return node < texts->before.count ? texts->before.items[node] : 0;
}

void sk_cluster_texts_begin(struct sk_cluster_texts *texts, const struct sk_op_graph *graph)
{
	*texts = (struct sk_cluster_texts){0};
	remember(texts, graph);
}

/* ---- what is put together ---- */

/* By composite plus 1: whether a node of it was in none, or two were in different ones. */
static const bool *find_grown(const struct sk_cluster_texts *texts, const struct sk_op_graph *graph)
{
	bool *grown = SK_NEW_ARRAY(graph->arena, bool, graph->composites.count + 1);
	uint32_t *first = SK_NEW_ARRAY(graph->arena, uint32_t, graph->composites.count + 1);

	for (size_t i = 0; i < graph->nodes.count; i++) {
		uint32_t composite = graph->nodes.items[i].composite, before = composite_before(texts, i);

		if (!sk_node_is_live(graph, &graph->nodes.items[i]))
			continue;
		grown[composite] |= !before || (first[composite] && first[composite] != before);
		first[composite] = before;
	}
	return grown;
}

static void print_members(const struct sk_op_graph *graph, const char *indent, uint32_t composite, FILE *stream)
{
	for (uint32_t i = 0; i < graph->nodes.count; i++) {
		if (graph->nodes.items[i].composite != composite || !sk_node_is_live(graph, &graph->nodes.items[i]))
			continue;
		fputs(indent, stream);
		sk_dump_call(graph, i, stream);
		putc('\n', stream);
	}
}

static void print_clusters(const struct sk_cluster_texts *texts, const struct sk_op_graph *graph, FILE *stream)
{
	const bool *grown = find_grown(texts, graph);

	for (uint32_t i = 1; i <= graph->composites.count; i++) {
		const char *name = sk_json_string(graph->arena, graph->composites.items[i - 1].name);

		if (!grown[i])
			continue;
		fprintf(stream, "Source nodes of %s = composite %" PRIu32 "\n", name, i - 1);
		print_members(graph, "  ", i, stream);
		fputs("=======================\n", stream);
	}
}

/* ---- what is cut ---- */

/* A piece is what is one composite now, or a node by itself: its first node. */
struct pieces {
	const struct sk_op_graph *graph;
	uint32_t before; /* the composite that it was */
	SK_ARRAY(uint32_t) first;
};

static bool is_of_piece(const struct sk_cluster_texts *texts, const struct pieces *pieces, uint32_t piece,
			uint32_t node)
{
	const struct sk_graph_node *nodes = pieces->graph->nodes.items;
	uint32_t first = pieces->first.items[piece];

	if (composite_before(texts, node) != pieces->before || !sk_node_is_live(pieces->graph, &nodes[node]))
		return false;
	return node == first || (nodes[node].composite && nodes[node].composite == nodes[first].composite);
}

static void find_pieces(const struct sk_cluster_texts *texts, struct pieces *pieces)
{
	bool *seen = SK_NEW_ARRAY(pieces->graph->arena, bool, pieces->graph->composites.count + 1);

	for (uint32_t i = 0; i < pieces->graph->nodes.count; i++) {
		uint32_t composite = pieces->graph->nodes.items[i].composite;

		if (composite_before(texts, i) != pieces->before || (composite && seen[composite]) ||
		    !sk_node_is_live(pieces->graph, &pieces->graph->nodes.items[i]))
			continue;
		seen[composite] = true;
		sk_array_push(pieces->graph->arena, &pieces->first, i);
	}
}

static void print_names(const struct sk_op_graph *graph, const char *key, const uint32_t *values, size_t count,
			FILE *stream)
{
	fprintf(stream, ", \"%s\": [", key);
	for (size_t i = 0; i < count; i++)
		fprintf(stream, "%s%s", i ? ", " : "",
			sk_json_string(graph->arena, values[i] == SK_NONE ? "" : graph->values.items[values[i]].name));
	putc(']', stream);
}

static void print_json(const struct sk_op_graph *graph, uint32_t number, FILE *stream)
{
	const struct sk_graph_node *node = &graph->nodes.items[number];

	fprintf(stream, "{\"name\": %s, \"op\": %s", sk_json_string(graph->arena, sk_node_name(graph, node)),
		sk_json_string(graph->arena, node->op));
	print_names(graph, "inputs", node->inputs.items, node->inputs.count, stream);
	print_names(graph, "outputs", node->outputs.items, node->outputs.count, stream);
	putc('}', stream);
}

/* All of the composite, or one of its pieces: as lines, then as JSON. */
static void print_piece(const struct sk_cluster_texts *texts, const struct pieces *pieces, uint32_t piece, FILE *stream)
{
	const char *between = "";

	for (uint32_t i = 0; i < pieces->graph->nodes.count; i++)
		if (is_of_piece(texts, pieces, piece, i)) {
			fputs("  ", stream);
			sk_dump_call(pieces->graph, i, stream);
			putc('\n', stream);
		}
	fputs("json: [", stream);
	for (uint32_t i = 0; i < pieces->graph->nodes.count; i++)
		if (is_of_piece(texts, pieces, piece, i)) {
			fputs(between, stream);
			print_json(pieces->graph, i, stream);
			between = ", ";
		}
	fputs("]\n", stream);
}

static void print_split(const struct sk_cluster_texts *texts, const struct sk_op_graph *graph, uint32_t before,
			FILE *stream)
{
	struct pieces pieces = {.graph = graph, .before = before};

	find_pieces(texts, &pieces);
	if (!pieces.first.count)
		return;
	fprintf(stream, "********** main graph: %s **********\n",
		sk_json_string(graph->arena, texts->names.items[before - 1]));
	if (pieces.first.count == 1) {
		fputs("Graph unchanged.\n", stream);
		return;
	}
	for (uint32_t i = 0; i < pieces.first.count; i++) {
		fprintf(stream, "-------- subgraph %" PRIu32 ", mode: %s --------\n", i,
			graph->nodes.items[pieces.first.items[i]].composite ? "composite" : "basic");
		print_piece(texts, &pieces, i, stream);
	}
}

void sk_cluster_texts_add(struct sk_cluster_texts *texts, const struct sk_op_graph *graph, bool cuts)
{
	struct sk_cluster_text *file = cuts ? &texts->splits : &texts->clusters;
	struct sk_text text;

	sk_text_open(&text);
	if (!cuts)
		print_clusters(texts, graph, text.stream);
	for (uint32_t i = 1; cuts && i <= texts->names.count; i++)
		print_split(texts, graph, i, text.stream);
	sk_text_close(graph->arena, &text);
	sk_array_push(graph->arena, &file->parts, (struct sk_file_part){file->size, text.bytes, text.size});
	file->size += text.size;
	remember(texts, graph);
}
