/* A graph for Graphviz; see dumps-parts.h. A unit is drawn as one box: a node outside of composites, or a composite.
 * The body of a composite is a cluster of its own, with an ellipse for each value that enters or leaves. */
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/text.h"
#include "graph/dumps/dumps-parts.h"
#include "graph/graph.h"

struct drawing {
	struct sk_arena *arena;
	const struct sk_op_graph *graph;
	FILE *stream;
	struct sk_map drawn; /* (value, unit, kind): the ellipses and edges drawn already */
	struct sk_node_lists members; /* of composites */
};

enum kind { KIND_EDGE, KIND_PARAMETER, KIND_RESULT, KIND_CONSTANT };

/* True for the first call with these arguments. */
static bool is_new(struct drawing *drawing, uint32_t value, uint32_t unit, enum kind kind)
{
	uint32_t *key = SK_NEW_ARRAY(drawing->arena, uint32_t, 3);
	uint32_t new = (uint32_t)drawing->drawn.count;

	key[0] = value, key[1] = unit, key[2] = kind;
	return sk_map_insert(&drawing->drawn, (const char *)key, 3 * sizeof(*key), new) == new;
}

static void print(const struct drawing *drawing, const char *text)
{
	sk_dot_print(text, drawing->stream);
}

/* ---- boxes ---- */

static void draw_box(const struct drawing *drawing, uint32_t number)
{
	const struct sk_graph_node *node = &drawing->graph->nodes.items[number];

	fprintf(drawing->stream, "n%" PRIu32 " [shape=box, label=\"", number);
	print(drawing, node->op);
	fputs("\\n", drawing->stream);
	print(drawing, sk_node_name(drawing->graph, node));
	if (node->origin) {
		fputs("\\nfrom ", drawing->stream);
		print(drawing, node->origin);
	}
	if (node->rule) {
		fputs("\\nby rule ", drawing->stream);
		print(drawing, node->rule);
	}
	fputs("\"]\n", drawing->stream);
}

static void draw_composite(const struct drawing *drawing, uint32_t composite)
{
	fprintf(drawing->stream, "c%" PRIu32 " [shape=component, style=bold, label=\"", composite);
	print(drawing, drawing->graph->composites.items[composite].name);
	fputs("\"]\n", drawing->stream);
}

/* Return its name in the main graph. */
static const char *unit_of(const struct drawing *drawing, uint32_t node)
{
	uint32_t composite = sk_dump_composite(&drawing->graph->nodes.items[node]);

	return composite == SK_NONE ? sk_arena_print(drawing->arena, "n%" PRIu32, node)
				    : sk_arena_print(drawing->arena, "c%" PRIu32, composite);
}

static void draw_ellipse(const struct drawing *drawing, const char *name, uint32_t value, const char *style)
{
	const struct sk_value *of = &drawing->graph->values.items[value];
	double number;

	fprintf(drawing->stream, "%s [%s, label=\"", name, style);
	print(drawing, of->name);
	fprintf(drawing->stream, "\\n%s", sk_dump_type(drawing->arena, of));
	if (sk_value_number(of, &number))
		fprintf(drawing->stream, " = %.9g", number);
	fputs("\"]\n", drawing->stream);
}

static void draw_edge(const struct drawing *drawing, const char *from, const char *to, uint32_t value)
{
	fprintf(drawing->stream, "%s -> %s [label=\"%s\", tooltip=\"", from, to,
		sk_dump_type(drawing->arena, &drawing->graph->values.items[value]));
	print(drawing, drawing->graph->values.items[value].name);
	fputs("\"]\n", drawing->stream);
}

/* ---- the main graph ---- */

/* A constant is drawn next to each unit that reads it. Otherwise lines of a widely used one would cross the whole
 * graph. */
static const char *source_of(struct drawing *drawing, uint32_t value, uint32_t reader, const char *unit)
{
	const struct sk_value *of = &drawing->graph->values.items[value];
	const char *name;

	if (of->contents) {
		name = sk_arena_print(drawing->arena, "k%" PRIu32 "_%s", value, unit);
		if (is_new(drawing, value, reader, KIND_CONSTANT))
			draw_ellipse(drawing, name, value, "shape=ellipse, style=dotted");
		return name;
	}
	return of->node == SK_NONE ? sk_arena_print(drawing->arena, "v%" PRIu32, value) : unit_of(drawing, of->node);
}

static void draw_inputs(struct drawing *drawing, uint32_t number)
{
	const struct sk_graph_node *node = &drawing->graph->nodes.items[number];
	const char *unit = unit_of(drawing, number);
	uint32_t reader = node->composite ? (uint32_t)drawing->graph->nodes.count + node->composite : number;

	for (size_t i = 0; i < node->inputs.count; i++) {
		uint32_t value = node->inputs.items[i];

		if (value == SK_NONE)
			continue;

		const char *source = source_of(drawing, value, reader, unit);

		if (strcmp(source, unit) != 0 && is_new(drawing, value, reader, KIND_EDGE))
			draw_edge(drawing, source, unit, value);
	}
}

/* Units of one scope and stream may alternate with others. The cluster is then opened again under the same name, and
 * Graphviz merges them. */
static void open_cluster(struct drawing *drawing, struct sk_map *scopes, const struct sk_graph_node *node)
{
	if (node->stream)
		fprintf(drawing->stream, "subgraph cluster_stream%" PRIu32 " { label=\"stream %" PRIu32 "\"\n",
			node->stream, node->stream);
	if (!node->scope || !*node->scope)
		return;

	const char *key = sk_arena_print(drawing->arena, "%" PRIu32 " %s", node->stream, node->scope);

	fprintf(drawing->stream, "subgraph cluster_scope%" PRIu32 " { style=rounded; label=\"scope ",
		sk_map_insert(scopes, key, strlen(key), (uint32_t)scopes->count));
	print(drawing, node->scope);
	fputs("\"\n", drawing->stream);
}

static void close_cluster(const struct drawing *drawing, const struct sk_graph_node *node)
{
	fputs(node->scope ? "}\n" : "", drawing->stream);
	fputs(node->stream ? "}\n" : "", drawing->stream);
}

static void draw_units(struct drawing *drawing)
{
	const struct sk_graph_node *nodes = drawing->graph->nodes.items, *open = NULL;
	struct sk_map scopes;

	sk_map_init(&scopes, drawing->arena);
	for (uint32_t i = 0; i < drawing->graph->nodes.count; i++) {
		uint32_t composite = sk_dump_composite(&nodes[i]);

		if (!sk_node_is_live(drawing->graph, &nodes[i]) ||
		    (composite != SK_NONE && drawing->members.nodes[drawing->members.starts[composite]] != i))
			continue;
		if (open && !sk_node_same_scope(open, &nodes[i]))
			close_cluster(drawing, open);
		if (!open || !sk_node_same_scope(open, &nodes[i]))
			open_cluster(drawing, &scopes, &nodes[i]);
		open = &nodes[i];
		if (composite == SK_NONE)
			draw_box(drawing, i);
		else
			draw_composite(drawing, composite);
	}
	if (open)
		close_cluster(drawing, open);
}

static void draw_ends(const struct drawing *drawing)
{
	const struct sk_op_graph *graph = drawing->graph;

	for (size_t i = 0; i < graph->inputs.count; i++)
		if (!graph->values.items[graph->inputs.items[i]].contents)
			draw_ellipse(drawing, sk_arena_print(drawing->arena, "v%" PRIu32, graph->inputs.items[i]),
				     graph->inputs.items[i], "shape=ellipse");
	for (size_t i = 0; i < graph->outputs.count; i++)
		draw_ellipse(drawing, sk_arena_print(drawing->arena, "o%zu", i), graph->outputs.items[i],
			     "shape=ellipse, style=bold");
}

static void draw_outputs(struct drawing *drawing)
{
	const struct sk_op_graph *graph = drawing->graph;

	for (size_t i = 0; i < graph->outputs.count; i++) {
		const char *name = sk_arena_print(drawing->arena, "o%zu", i);
		uint32_t value = graph->outputs.items[i];

		draw_edge(drawing, source_of(drawing, value, SK_NONE, name), name, value);
	}
}

/* ---- bodies ---- */

/* Nodes in a body are called b and their number. */
static void draw_body_inputs(struct drawing *drawing, uint32_t composite, uint32_t number)
{
	const struct sk_graph_node *node = &drawing->graph->nodes.items[number];
	const char *box = sk_arena_print(drawing->arena, "b%" PRIu32, number);

	for (size_t i = 0; i < node->inputs.count; i++) {
		uint32_t value = node->inputs.items[i];
		const struct sk_value *of = sk_node_input(drawing->graph, node, i);
		const char *from;

		if (!of)
			continue;
		if (!of->contents && of->node != SK_NONE &&
		    sk_dump_composite(&drawing->graph->nodes.items[of->node]) == composite) {
			draw_edge(drawing, sk_arena_print(drawing->arena, "b%" PRIu32, of->node), box, value);
			continue;
		}
		from = sk_arena_print(drawing->arena, "p%" PRIu32 "_%" PRIu32, composite, value);
		if (is_new(drawing, value, composite, KIND_PARAMETER))
			draw_ellipse(drawing, from, value,
				     of->contents ? "shape=ellipse, style=dotted" : "shape=ellipse");
		draw_edge(drawing, from, box, value);
	}
}

static void draw_body_outputs(const struct drawing *drawing, uint32_t number, const bool *results)
{
	const struct sk_graph_node *node = &drawing->graph->nodes.items[number];

	for (size_t i = 0; i < node->outputs.count; i++) {
		uint32_t value = node->outputs.items[i];

		if (value == SK_NONE || !results[value])
			continue;

		const char *name = sk_arena_print(drawing->arena, "r%" PRIu32, value);

		draw_ellipse(drawing, name, value, "shape=ellipse, style=bold");
		draw_edge(drawing, sk_arena_print(drawing->arena, "b%" PRIu32, number), name, value);
	}
}

static void draw_body(struct drawing *drawing, uint32_t composite, const bool *results)
{
	fprintf(drawing->stream, "subgraph cluster_composite%" PRIu32 " { style=filled; color=lightgrey; label=\"",
		composite);
	print(drawing, drawing->graph->composites.items[composite].name);
	fputs("\"\n", drawing->stream);
	for (uint32_t m = drawing->members.starts[composite]; m < drawing->members.starts[composite + 1]; m++) {
		uint32_t i = drawing->members.nodes[m];

		putc('b', drawing->stream);
		fprintf(drawing->stream, "%" PRIu32 " [shape=box, label=\"", i);
		print(drawing, drawing->graph->nodes.items[i].op);
		fputs("\\n", drawing->stream);
		print(drawing, sk_node_name(drawing->graph, &drawing->graph->nodes.items[i]));
		fputs("\"]\n", drawing->stream);
		draw_body_inputs(drawing, composite, i);
		draw_body_outputs(drawing, i, results);
	}
	fputs("}\n", drawing->stream);
}

/* ---- the whole graph ---- */

void sk_dump_dot(const struct sk_op_graph *graph, const char *title, FILE *stream)
{
	struct drawing drawing = {.arena = sk_arena_create(), .graph = graph, .stream = stream};
	const bool *results;

	sk_map_init(&drawing.drawn, drawing.arena);
	drawing.members = sk_graph_members(drawing.arena, graph);
	results = sk_graph_mark_results(drawing.arena, graph);
	fputs("digraph \"", stream);
	print(&drawing, graph->name);
	fputs("\" {\nlabel=\"", stream);
	print(&drawing, title);
	fputs("\"\nfontname=\"sans-serif\"\nnode [fontname=\"sans-serif\"]\nedge [fontname=\"sans-serif\", "
	      "fontsize=10]\n",
	      stream);
	draw_ends(&drawing);
	draw_units(&drawing);
	for (uint32_t i = 0; i < graph->nodes.count; i++)
		if (sk_node_is_live(graph, &graph->nodes.items[i]))
			draw_inputs(&drawing, i);
	draw_outputs(&drawing);
	for (uint32_t i = 0; i < graph->composites.count; i++)
		if (drawing.members.starts[i] < drawing.members.starts[i + 1])
			draw_body(&drawing, i, results);
	fputs("}\n", stream);
	sk_arena_destroy(drawing.arena);
}
