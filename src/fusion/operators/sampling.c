/* Operators that look up images at places which are known when the network runs. */
#include <string.h>

#include "src/fusion/operators/families.h"

enum { IMAGE, GRID, MOST_SPATIAL = 3 };

/* What a word of an attribute is to the kernel. */
struct word {
	const char *word;
	int64_t number;
};

static const struct word modes[] = {{"linear", 2}, {"bilinear", 2}, {"nearest", 1},
				    {"cubic", 4},  {"bicubic", 4},  {NULL}};
static const struct word paddings[] = {{"zeros", 0}, {"border", 1}, {"reflection", 2}, {NULL}};

/* -1: there is no such word. */
static int64_t number_of(const struct word *words, const char *word)
{
	while (words->word && strcmp(words->word, word) != 0)
		words++;
	return words->word ? words->number : -1;
}

static int64_t mode_of(const struct sk_graph_node *node)
{
	return number_of(modes, sk_node_string(node, "mode", "linear"));
}

static int64_t padding_of(const struct sk_graph_node *node)
{
	return number_of(paddings, sk_node_string(node, "padding_mode", "zeros"));
}

static bool infer_grid_sample(struct sk_inference *inference)
{
	const struct sk_value *image = sk_infer_input(inference, IMAGE), *grid = sk_infer_input(inference, GRID);
	const struct sk_graph_node *node = inference->node;
	uint64_t shape[SK_MAX_RANK];
	uint32_t spatial;

	if (image->rank < 3 || image->rank > 2 + MOST_SPATIAL || grid->rank != image->rank)
		return sk_infer_error(inference, "'%s' has %u dimensions, and '%s' %u, not 3 to 5 each", image->name,
				      image->rank, grid->name, grid->rank);
	spatial = image->rank - 2;
	if (grid->shape[spatial + 1] != spatial || grid->shape[0] != image->shape[0])
		return sk_infer_error(inference, "'%s' is no grid of places in '%s'", grid->name, image->name);
	if (mode_of(node) < 0 || padding_of(node) < 0)
		return sk_infer_error(inference, "there is no mode '%s' with padding '%s'",
				      sk_node_string(node, "mode", "linear"),
				      sk_node_string(node, "padding_mode", "zeros"));
	memcpy(shape, image->shape, 2 * sizeof(*shape));
	memcpy(shape + 2, grid->shape + 1, spatial * sizeof(*shape));
	return sk_infer_output(inference, 0, image->dtype, image->rank, shape);
}

static bool canonical_grid_sample(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_graph_node node = graph->nodes.items[canonical->node];
	const struct sk_value image = graph->values.items[sk_canonical_input(canonical, IMAGE)];
	uint64_t images = image.shape[0] * image.shape[1], spatial = image.rank - 2, places;
	uint32_t grid = sk_canonical_cast(
		canonical, sk_canonical_input(canonical, GRID),
		image.dtype == SK_F64 ? SK_F64 : SK_F32); /* of halves, places would be off by elements */
	uint32_t to = sk_canonical_output(canonical, 0);
	int64_t sizes[MOST_SPATIAL];
	struct sk_graph_call *call;

	if (!sk_value_elements(&image))
		return sk_canonical_error(canonical, "'%s' has no elements", image.name);
	places = sk_value_elements(&graph->values.items[to]) / images;
	for (uint32_t i = 0; i < spatial; i++)
		sizes[i] = (int64_t)image.shape[2 + i];
	call = sk_canonical_call(canonical, "GridSample");
	sk_call_integer(canonical, call, "channels", (int64_t)image.shape[1]);
	sk_call_integers(canonical, call, "dims", sizes, spatial);
	sk_call_integer(canonical, call, "taps", mode_of(&node));
	sk_call_integer(canonical, call, "outside", padding_of(&node));
	sk_call_integer(canonical, call, "align_corners", sk_node_integer(&node, "align_corners", 0) != 0);
	sk_call_input(canonical, call,
		      sk_operand_shaped(graph, sk_canonical_input(canonical, IMAGE), 2,
					(uint64_t[]){images, sk_value_elements(&image) / images}));
	sk_call_input(canonical, call,
		      sk_operand_shaped(graph, grid, 3, (uint64_t[]){image.shape[0], places, spatial}));
	sk_call_output(canonical, call, sk_operand_shaped(graph, to, 2, (uint64_t[]){images, places}));
	return true;
}

/* ---- the table ---- */

static const struct sk_schema_attribute grid_sample[] = {{"align_corners", SK_ATTRIBUTE_INTEGER},
							 {"mode", SK_ATTRIBUTE_STRING, .string = "linear"},
							 {"padding_mode", SK_ATTRIBUTE_STRING, .string = "zeros"},
							 {NULL}};

const struct sk_schema sk_operators_sampling[] = {
	{"GridSample", "", 2, 2, 1, 1, .attributes = grid_sample, .infer = infer_grid_sample,
	 .canonical = canonical_grid_sample},
	{NULL},
};
