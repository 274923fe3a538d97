/* Operators that sample images at coordinates that are known at run time, and operators that compute such
 * coordinates. */
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators.h"

enum { IMAGE, GRID, MOST_SPATIAL = 3 };

/* A word of an attribute, and its number in the kernel. */
struct word {
	const char *word;
	int64_t number;
};

static const struct word modes[] = {{"linear", 2}, {"bilinear", 2}, {"nearest", 1},
				    {"cubic", 4},  {"bicubic", 4},  {NULL}};
static const struct word paddings[] = {{"zeros", 0}, {"border", 1}, {"reflection", 2}, {NULL}};

/* Return the number; -1: unknown word. */
static int64_t number_of_word(const struct word *words, const char *word)
{
	while (words->word && strcmp(words->word, word) != 0)
		words++;
	return words->word ? words->number : -1;
}

static int64_t mode_of(const struct sk_graph_node *node)
{
	return number_of_word(modes, sk_node_string(node, "mode", "linear"));
}

static int64_t padding_of(const struct sk_graph_node *node)
{
	return number_of_word(paddings, sk_node_string(node, "padding_mode", "zeros"));
}

static bool infer_grid_sample(struct sk_inference *inference)
{
	const struct sk_value *image = sk_infer_input(inference, IMAGE), *grid = sk_infer_input(inference, GRID);
	const struct sk_graph_node *node = inference->node;
	uint64_t shape[SK_MAX_RANK];
	uint32_t spatial;

	if (image->rank < 3 || image->rank > 2 + MOST_SPATIAL || grid->rank != image->rank)
		return sk_infer_error(inference, "'%s' has %u dimension%s, and '%s' %u, not 3 to 5 each", image->name,
				      image->rank, sk_plural(image->rank), grid->name, grid->rank);
	spatial = image->rank - 2;
	if (grid->shape[spatial + 1] != spatial || grid->shape[0] != image->shape[0])
		return sk_infer_error(inference, "'%s' is not a grid of places in '%s'", grid->name, image->name);
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
		image.dtype == SK_F64 ? SK_F64 : SK_F32); /* coordinates in half precision would be off by elements */
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

/* ---- AffineGrid: the coordinates of a grid after an affine map ---- */

/* Return the coordinates of an image's elements, the last dimension first, then a 1: [dimensions + 1, places]. */
static uint32_t make_places(struct sk_op_graph *graph, enum sk_dtype dtype, uint32_t spatial, const int64_t *sizes,
			    bool align)
{
	uint64_t places = 1;

	for (uint32_t d = 0; d < spatial; d++)
		places *= (uint64_t)sizes[d];

	const uint64_t shape[2] = {spatial + 1, places};
	double *numbers = SK_NEW_ARRAY(graph->arena, double, shape[0] * places + 1);

	for (uint64_t place = 0; place < places; place++) {
		uint64_t rest = place;

		for (uint32_t i = 0; i < spatial; i++) {
			uint64_t size = (uint64_t)sizes[spatial - 1 - i], at = rest % size;

			rest /= size;
			numbers[i * places + place] = !align	 ? (double)(2 * at + 1) / (double)size - 1
						      : size > 1 ? (double)(2 * at) / (double)(size - 1) - 1
								 : 0;
		}
		numbers[spatial * places + place] = 1;
	}
	return sk_graph_new_constant(graph, "places", dtype, 2, shape,
				     sk_elements_of_reals(graph->arena, dtype, shape[0] * places, numbers));
}

/* `sizes` are those of the image after batches and channels. */
static bool read_affine(const struct sk_inference *inference, uint32_t *spatial, const int64_t **sizes)
{
	enum { MOST_PLACES = 1 << 24 };
	const struct sk_value *theta = sk_infer_input(inference, 0);
	uint64_t count, places = 1;

	if (!sk_infer_integers(inference, 1, &count, sizes))
		return false;
	*spatial = (uint32_t)count - 2;
	if ((count != 4 && count != 5) || theta->rank != 3 || theta->shape[1] != *spatial ||
	    theta->shape[2] != *spatial + 1 || !sk_value_is_float(theta) || (int64_t)theta->shape[0] != (*sizes)[0])
		return sk_infer_error(inference, "'%s' is not one matrix for each image of '%s'", theta->name,
				      sk_infer_input(inference, 1)->name);
	*sizes += 2;
	for (uint32_t d = 0; d < *spatial; d++) {
		places = (*sizes)[d] < 1 || (*sizes)[d] > MOST_PLACES ? 0 : places * (uint64_t)(*sizes)[d];
		if (!places || places > MOST_PLACES)
			return sk_infer_error(inference, "images have no places, or more than 2^24");
	}
	return true;
}

static bool infer_affine(struct sk_inference *inference)
{
	const struct sk_value *theta = sk_infer_input(inference, 0);
	uint64_t shape[SK_MAX_RANK] = {theta->shape[0]};
	const int64_t *sizes;
	uint32_t spatial;

	if (!read_affine(inference, &spatial, &sizes))
		return false;
	for (uint32_t d = 0; d < spatial; d++)
		shape[1 + d] = (uint64_t)sizes[d];
	shape[1 + spatial] = spatial;
	return sk_infer_output(inference, 0, theta->dtype, spatial + 2, shape);
}

/* Multiply matrices [n * dimensions, dimensions + 1] with the coordinates; then move the numbers of each coordinate
 * together. */
static bool canonical_affine(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = {graph, &graph->nodes.items[canonical->node]};
	bool align = sk_node_integer(inference.node, "align_corners", 0) != 0;
	uint32_t theta = sk_canonical_input(canonical, 0), to = sk_canonical_output(canonical, 0), turned = to, spatial;
	const struct sk_value output = graph->values.items[to];
	enum sk_dtype dtype = sk_computed_dtype(output.dtype);
	const int64_t *sizes;

	if (!read_affine(&inference, &spatial, &sizes))
		return false;

	uint64_t images = output.shape[0], places = images ? sk_value_elements(&output) / images / spatial : 0;
	const struct sk_arrangement arrangement = {.rank = 3,
						   .shape = {images, places, spatial},
						   .strides = {(int64_t)(spatial * places), 1, (int64_t)places}};
	uint32_t product = sk_graph_new_value(graph, output.name, dtype, 2, (uint64_t[]){images * spatial, places});

	sk_canonical_product(canonical, sk_canonical_cast(canonical, theta, dtype),
			     make_places(graph, dtype, spatial, sizes, align), product, 1, images * spatial,
			     spatial + 1, places);
	if (dtype != output.dtype)
		turned = sk_graph_new_value(graph, output.name, dtype, output.rank, output.shape);
	if (!sk_canonical_arrange(canonical, sk_operand_flat(graph, turned), product, &arrangement))
		return false;
	if (turned != to)
		sk_canonical_store(canonical, to, turned);
	return true;
}

/* ---- RoiAlign ---- */

static const struct word pools[] = {{"avg", 0}, {"max", 1}, {NULL}};
static const struct word corners[] = {{"output_half_pixel", 0}, {"half_pixel", 1}, {NULL}};

static bool infer_roi_align(struct sk_inference *inference)
{
	const struct sk_value *image = sk_infer_input(inference, 0), *regions = sk_infer_input(inference, 1);
	const struct sk_value *batches = sk_infer_input(inference, 2);
	const struct sk_graph_node *node = inference->node;
	int64_t height = sk_node_integer(node, "output_height", 1), width = sk_node_integer(node, "output_width", 1);

	if (image->rank != 4 || regions->rank != 2 || regions->shape[1] != 4 || batches->rank != 1 ||
	    batches->shape[0] != regions->shape[0])
		return sk_infer_error(inference, "'%s', '%s' and '%s' are not images, regions [n,4] and numbers [n]",
				      image->name, regions->name, batches->name);
	if (number_of_word(pools, sk_node_string(node, "mode", "avg")) < 0 ||
	    number_of_word(corners, sk_node_string(node, "coordinate_transformation_mode", "half_pixel")) < 0)
		return sk_infer_error(inference, "there is no mode '%s' with coordinates '%s'",
				      sk_node_string(node, "mode", "avg"),
				      sk_node_string(node, "coordinate_transformation_mode", "half_pixel"));
	if (height < 1 || width < 1 || sk_node_integer(node, "sampling_ratio", 0) < 0 || !image->shape[2] ||
	    !image->shape[3])
		return sk_infer_error(inference, "images or bins have no elements, or a negative sampling_ratio");
	return sk_infer_same_types(inference, 0, 1) &&
	       sk_infer_output(inference, 0, image->dtype, 4,
			       (uint64_t[]){regions->shape[0], image->shape[1], (uint64_t)height, (uint64_t)width});
}

static bool canonical_roi_align(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_graph_node node = graph->nodes.items[canonical->node];
	uint32_t x = sk_canonical_input(canonical, 0), regions = sk_canonical_input(canonical, 1);
	uint32_t batches = sk_canonical_cast(canonical, sk_canonical_input(canonical, 2), SK_I64);
	uint32_t to = sk_canonical_output(canonical, 0);
	const uint64_t *image = graph->values.items[x].shape, *pooled = graph->values.items[to].shape;
	const int64_t dims[2] = {(int64_t)image[2], (int64_t)image[3]};
	const int64_t sizes[2] = {(int64_t)pooled[2], (int64_t)pooled[3]};
	struct sk_graph_call *call = sk_canonical_call(canonical, "RoiAlign");

	sk_call_word(canonical, call, "mode", sk_node_string(&node, "mode", "avg"));
	sk_call_integers(canonical, call, "dims", dims, 2);
	sk_call_integers(canonical, call, "sizes", sizes, 2);
	sk_call_integer(canonical, call, "half_pixel",
			number_of_word(corners, sk_node_string(&node, "coordinate_transformation_mode", "half_pixel")));
	sk_call_integer(canonical, call, "sampling_ratio", sk_node_integer(&node, "sampling_ratio", 0));
	sk_call_real(canonical, call, "spatial_scale", sk_node_real(&node, "spatial_scale", 1));
	sk_call_input(canonical, call,
		      sk_operand_shaped(graph, x, 3, (uint64_t[]){image[0], image[1], image[2] * image[3]}));
	sk_call_input(canonical, call, sk_operand_shaped(graph, regions, 2, (uint64_t[]){pooled[0], 4}));
	sk_call_input(canonical, call, sk_operand_flat(graph, batches));
	sk_call_output(canonical, call,
		       sk_operand_shaped(graph, to, 3, (uint64_t[]){pooled[0], pooled[1], pooled[2] * pooled[3]}));
	return true;
}

/* Before operator set 16 all regions began at whole elements. */
static bool upgrade_roi_align(struct sk_op_graph *graph, struct sk_graph_node *node)
{
	if (node->version >= 16)
		return true;
	sk_array_push(graph->arena, &node->attributes,
		      ((struct sk_attribute){.name = "coordinate_transformation_mode",
					     .kind = SK_ATTRIBUTE_STRING,
					     .string = "output_half_pixel"}));
	node->version = 16;
	return true;
}

/* ---- the table ---- */

static const struct sk_schema_attribute affine[] = {{"align_corners", SK_ATTRIBUTE_INTEGER}, {NULL}};
static const struct sk_schema_attribute roi_align[] = {
	{"coordinate_transformation_mode", SK_ATTRIBUTE_STRING, .string = "half_pixel"},
	{"mode", SK_ATTRIBUTE_STRING, .string = "avg"},
	{"output_height", SK_ATTRIBUTE_INTEGER, .integer = 1},
	{"output_width", SK_ATTRIBUTE_INTEGER, .integer = 1},
	{"sampling_ratio", SK_ATTRIBUTE_INTEGER},
	{"spatial_scale", SK_ATTRIBUTE_REAL, .real = 1},
	{NULL}};

static const struct sk_schema_attribute grid_sample[] = {{"align_corners", SK_ATTRIBUTE_INTEGER},
							 {"mode", SK_ATTRIBUTE_STRING, .string = "linear"},
							 {"padding_mode", SK_ATTRIBUTE_STRING, .string = "zeros"},
							 {NULL}};

const struct sk_schema sk_operators_sampling[] = {
	{"AffineGrid", "", 2, 2, 1, 1, .demands = 1 << 1, .attributes = affine, .infer = infer_affine,
	 .canonical = canonical_affine},
	{"GridSample", "", 2, 2, 1, 1, .attributes = grid_sample, .infer = infer_grid_sample,
	 .canonical = canonical_grid_sample},
	{"RoiAlign", "", 3, 3, 1, 1, .attributes = roi_align, .upgrade = upgrade_roi_align, .infer = infer_roi_align,
	 .canonical = canonical_roi_align},
	{NULL},
};
