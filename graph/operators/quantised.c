/* Operators on quantised numbers: integers that represent (integer - zero point) * scale. Their products and
 * convolutions are computed in 32 bits; a separate call converts the result to fewer bits. */
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/ranges.h"
#include "base/text.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators-parts.h"
#include "graph/operators/operators.h"

static uint64_t elements_of(const struct sk_value *value)
{
	return sk_value_elements(value);
}

/* ---- QuantizeLinear, DequantizeLinear ---- */

/* x as rows of `inner` elements, where row r has scale r % scales. With blocks of `size` rows out of every `length`,
 * each block has `inner` scales. */
struct layout {
	uint64_t scales, inner, length, size;
};

/* There is one scale for each block of elements along the axis; the last block may be shorter. */
static bool read_blocks(const struct sk_inference *inference, uint32_t axis, int64_t size, struct layout *layout)
{
	const struct sk_value *x = sk_infer_input(inference, 0), *scale = sk_infer_input(inference, 1);
	uint64_t along = x->shape[axis], blocks = scale->shape[axis];

	for (uint32_t i = 0; i < x->rank; i++)
		if (i != axis && x->shape[i] != scale->shape[i])
			return sk_infer_error(inference, "'%s' and its scales '%s' differ in axis %u", x->name,
					      scale->name, i);
	if (!size)
		size = blocks ? (int64_t)((along + blocks - 1) / blocks) : 0;
	if (size < 1 || along / (uint64_t)size + (along % (uint64_t)size != 0) != blocks)
		return sk_infer_error(inference,
				      "'%s' is not %" PRIu64 " block%s of %" PRIi64 " element%s along axis %u", x->name,
				      blocks, sk_plural(blocks), size, sk_plural((uint64_t)size), axis);
	if (axis + 1 == x->rank && along % (uint64_t)size == 0) {
		*layout = (struct layout){elements_of(scale), (uint64_t)size, 0, 0};
		return true;
	}
	*layout = (struct layout){elements_of(scale), 1, along, (uint64_t)size};
	for (uint32_t i = axis + 1; i < x->rank; i++)
		layout->inner *= x->shape[i];
	return true;
}

static bool read_layout(const struct sk_inference *inference, struct layout *layout)
{
	const struct sk_value *x = sk_infer_input(inference, 0), *scale = sk_infer_input(inference, 1);
	const struct sk_value *zero = sk_infer_input(inference, 2);
	int64_t block = sk_node_integer(inference->node, "block_size", 0);
	uint32_t axis;

	if (zero && elements_of(zero) != elements_of(scale))
		return sk_infer_error(inference, "it has %" PRIu64 " scale%s and %" PRIu64 " zero point%s",
				      elements_of(scale), sk_plural(elements_of(scale)), elements_of(zero),
				      sk_plural(elements_of(zero)));
	*layout = (struct layout){1, elements_of(x), 0, 0};
	if (scale->rank <= 1 && elements_of(scale) == 1)
		return true;
	if (!sk_infer_axis(inference, sk_node_integer(inference->node, "axis", 1), x->rank, &axis))
		return false;
	if (scale->rank == x->rank && (block || x->rank > 1))
		return read_blocks(inference, axis, block, layout);
	if (scale->rank != 1 || scale->shape[0] != x->shape[axis])
		return sk_infer_error(inference,
				      "the scales '%s' are not one for each of the %" PRIu64 " elements along axis %u",
				      scale->name, x->shape[axis], axis);
	*layout = (struct layout){scale->shape[0], 1, 0, 0};
	for (uint32_t i = axis + 1; i < x->rank; i++)
		layout->inner *= x->shape[i];
	return true;
}

static enum sk_dtype quantised_dtype(int64_t number)
{
	static const enum sk_dtype dtypes[] = {[0] = SK_U8, [2] = SK_U8, [3] = SK_I8, [4] = SK_U16, [5] = SK_I16};

	return number >= 0 && number < (int64_t)(sizeof(dtypes) / sizeof(dtypes[0])) ? dtypes[number] : SK_DTYPE_NONE;
}

static bool infer_quantize(struct sk_inference *inference)
{
	const struct sk_value *x = sk_infer_input(inference, 0), *scale = sk_infer_input(inference, 1);
	const struct sk_value *zero = sk_infer_input(inference, 2);
	int64_t number = sk_node_integer(inference->node, "output_dtype", 0);
	enum sk_dtype dtype = zero ? zero->dtype : quantised_dtype(number);
	struct layout layout;

	if (dtype == SK_DTYPE_NONE || (zero && number && quantised_dtype(number) != dtype))
		return sk_infer_error(inference, "'output_dtype' cannot be %" PRIi64, number);
	if (x->dtype != scale->dtype && !(x->dtype == SK_I32 && scale->dtype == SK_F32))
		return sk_infer_error(inference, "'%s' is %s, and its scale '%s' is %s", x->name,
				      sk_dtype_name(x->dtype), scale->name, sk_dtype_name(scale->dtype));
	return read_layout(inference, &layout) && sk_infer_output(inference, 0, dtype, x->rank, x->shape);
}

static bool infer_dequantize(struct sk_inference *inference)
{
	const struct sk_value *x = sk_infer_input(inference, 0), *scale = sk_infer_input(inference, 1);
	const struct sk_value *zero = sk_infer_input(inference, 2);
	struct layout layout;

	if (zero && zero->dtype != x->dtype)
		return sk_infer_error(inference, "'%s' is %s, and its zero point '%s' is %s", x->name,
				      sk_dtype_name(x->dtype), zero->name, sk_dtype_name(zero->dtype));
	return read_layout(inference, &layout) && sk_infer_output(inference, 0, scale->dtype, x->rank, x->shape);
}

/* Return scales or zero points. */
static struct sk_operand scales_operand(const struct sk_op_graph *graph, uint32_t value, const struct layout *layout)
{
	const uint64_t blocks[2] = {layout->scales / layout->inner, layout->inner};

	return layout->size && value != SK_NONE ? sk_operand_shaped(graph, value, 2, blocks)
						: sk_operand_flat(graph, value);
}

/* x and y are [n], or [rows, inner] if there are several scales. Scales of blocks are [blocks, inner]. */
static bool add_linear(struct sk_canonical *canonical, const char *op, uint32_t x, uint32_t scale, uint32_t zero,
		       uint32_t y, const struct layout *layout)
{
	const struct sk_op_graph *graph = canonical->graph;
	uint64_t elements = elements_of(&graph->values.items[x]);
	const uint64_t rows[2] = {elements / layout->inner, layout->inner};
	struct sk_graph_call *call = sk_canonical_call(canonical, op);
	bool one = layout->scales == 1 && !layout->size;

	if (layout->size) {
		sk_call_integer(canonical, call, "length", (int64_t)layout->length);
		sk_call_integer(canonical, call, "block_size", (int64_t)layout->size);
	}
	sk_call_input(canonical, call, one ? sk_operand_flat(graph, x) : sk_operand_shaped(graph, x, 2, rows));
	sk_call_input(canonical, call, scales_operand(graph, scale, layout));
	sk_call_input(canonical, call, scales_operand(graph, zero, layout));
	sk_call_output(canonical, call, one ? sk_operand_flat(graph, y) : sk_operand_shaped(graph, y, 2, rows));
	return true;
}

static bool canonical_linear(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = {graph, &graph->nodes.items[canonical->node]};
	const char *op = inference.node->op;
	uint32_t x = sk_canonical_input(canonical, 0), scale = sk_canonical_input(canonical, 1);
	struct layout layout;

	if (!read_layout(&inference, &layout))
		return false;
	if (*op == 'Q' && graph->values.items[x].dtype == SK_I32) { /* f64 represents both operands exactly */
		x = sk_canonical_cast(canonical, x, SK_F64);
		scale = sk_canonical_cast(canonical, scale, SK_F64);
	}
	return add_linear(canonical, op, x, scale, sk_canonical_input(canonical, 2), sk_canonical_output(canonical, 0),
			  &layout);
}

/* ---- DequantizeLinear of floats, or in another type than that of its scales ---- */

static bool is_plain(const struct sk_op_graph *graph, const struct sk_graph_node *node)
{
	const struct sk_value *x = sk_node_input(graph, node, 0), *scale = sk_node_input(graph, node, 1);
	enum sk_dtype to = sk_dtype_of_number(sk_node_integer(node, "output_dtype", 0));

	return !sk_value_is_float(x) && (!to || to == scale->dtype);
}

static bool is_not_plain(const struct sk_op_graph *graph, const struct sk_graph_node *node)
{
	return !is_plain(graph, node);
}

static uint32_t cast_to(const struct sk_expansion *expansion, uint32_t value, int64_t type)
{
	uint32_t to = SK_EXPANSION(expansion, "Cast", value);

	sk_expansion_set(expansion, "to", type);
	return to;
}

/* Return scales, or zero points, in a shape that is broadcast to that of x. Blocks along an axis are repeated. */
static uint32_t spread_scales(const struct sk_expansion *expansion, uint32_t value, const struct sk_value *x,
			      const struct sk_value *scale, uint32_t axis)
{
	int64_t size = sk_node_integer(expansion->node, "block_size", 0), shape[SK_MAX_RANK], *places;
	uint64_t along = x->rank ? x->shape[axis] : 1;

	if (scale->rank == 1 && (x->rank > 1 || scale->shape[0] != 1) && scale->shape[0] != 1) {
		for (uint32_t i = 0; i < x->rank; i++)
			shape[i] = i == axis ? -1 : 1;
		return SK_EXPANSION(expansion, "Reshape", value, sk_expansion_integers(expansion, x->rank, shape));
	}
	if (scale->rank != x->rank || !x->rank || scale->shape[axis] == along || sk_value_elements(scale) == 1)
		return value;
	if (size < 1)
		size = (int64_t)((along + scale->shape[axis] - 1) / scale->shape[axis]);
	places = SK_NEW_ARRAY(expansion->graph->arena, int64_t, along);
	for (uint64_t i = 0; i < along; i++)
		places[i] = (int64_t)(i / (uint64_t)size);
	value = SK_EXPANSION(expansion, "Gather", value, sk_expansion_integers(expansion, along, places));
	sk_expansion_set(expansion, "axis", axis);
	return value;
}

static bool expand_dequantize(struct sk_op_graph *graph, const struct sk_graph_node *node, sk_graph_nodes *nodes)
{
	const struct sk_expansion expansion = {graph, node, nodes};
	const struct sk_inference inference = {graph, (struct sk_graph_node *)(uintptr_t)node};
	const struct sk_value x = *sk_infer_input(&inference, 0), scale = *sk_infer_input(&inference, 1);
	const struct sk_value *zero = sk_infer_input(&inference, 2);
	int64_t type = sk_node_integer(node, "output_dtype", 0), axis = sk_node_integer(node, "axis", 1);
	uint32_t numbers = sk_expansion_input(&expansion, 0), factors = sk_expansion_input(&expansion, 1);
	uint32_t zeros = sk_expansion_input(&expansion, 2);
	struct layout layout;

	if (!sk_value_is_float(&scale) || (type && type != 1 && type != 10 && type != 16))
		return sk_expansion_refuse(&expansion, "'output_dtype' is %" PRIi64 ", or '%s' is %s, no float", type,
					   scale.name, sk_dtype_name(scale.dtype));
	if ((zero && zero->dtype != x.dtype) || !read_layout(&inference, &layout))
		return zero && zero->dtype != x.dtype
			       ? sk_expansion_refuse(&expansion, "'%s' is %s, and its zero point '%s' is %s", x.name,
						     sk_dtype_name(x.dtype), zero->name, sk_dtype_name(zero->dtype))
			       : false;
	if (type)
		factors = cast_to(&expansion, factors, type);
	if (!sk_value_is_float(&x)) {
		sk_expansion_into(&expansion, "DequantizeLinear", zero ? 3 : 2,
				  (const uint32_t[]){numbers, factors, zeros}, sk_expansion_output(&expansion, 0));
		sk_expansion_keep(&expansion, "axis", "axis");
		sk_expansion_keep(&expansion, "block_size", "block_size");
		return true;
	}
	axis += axis < 0 ? x.rank : 0;
	numbers = sk_expansion_binary(&expansion, "CastLike", numbers, factors);
	if (zero) {
		zeros = sk_expansion_binary(&expansion, "CastLike", zeros, factors);
		numbers = sk_expansion_binary(&expansion, "Sub", numbers,
					      spread_scales(&expansion, zeros, &x, &scale, (uint32_t)axis));
	}
	factors = spread_scales(&expansion, factors, &x, &scale, (uint32_t)axis);
	sk_expansion_into(&expansion, "Mul", 2, (const uint32_t[]){numbers, factors},
			  sk_expansion_output(&expansion, 0));
	return true;
}

/* ---- DynamicQuantizeLinear ---- */

static bool infer_dynamic(struct sk_inference *inference)
{
	const struct sk_value *x = sk_infer_input(inference, 0);

	return sk_infer_output(inference, 0, SK_U8, x->rank, x->shape) &&
	       sk_infer_output(inference, 1, SK_F32, 0, NULL) && sk_infer_output(inference, 2, SK_U8, 0, NULL);
}

static uint32_t output_or_new(struct sk_canonical *canonical, size_t number, const char *base, enum sk_dtype dtype)
{
	uint32_t value = sk_canonical_output(canonical, number);

	return value == SK_NONE ? sk_graph_new_value(canonical->graph, base, dtype, 0, NULL) : value;
}

static bool canonical_dynamic(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	uint32_t x = sk_canonical_input(canonical, 0), y = sk_canonical_output(canonical, 0);
	uint32_t scale = output_or_new(canonical, 1, "scale", SK_F32);
	uint32_t zero = output_or_new(canonical, 2, "zero_point", SK_U8);
	struct sk_graph_call *call = sk_canonical_call(canonical, "DynamicQuantizeRange");

	sk_call_input(canonical, call, sk_operand_flat(graph, x));
	sk_call_output(canonical, call, sk_operand_flat(graph, scale));
	sk_call_output(canonical, call, sk_operand_flat(graph, zero));
	if (y == SK_NONE || !elements_of(&graph->values.items[y]))
		return true;
	return add_linear(canonical, "QuantizeLinear", x, scale, zero, y,
			  &(struct layout){1, elements_of(&graph->values.items[x])});
}

/* ---- common to products and convolutions ---- */

/* The numbers of inputs. An operator without one of them has a number beyond its inputs. */
struct inputs {
	size_t a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero, bias;
};

enum { ABSENT = 100 };

static const struct inputs integer_inputs = {0, ABSENT, 2, 1, ABSENT, 3, ABSENT, ABSENT, ABSENT};
static const struct inputs linear_inputs = {0, 1, 2, 3, 4, 5, 6, 7, 8};

static const struct inputs *inputs_of(const struct sk_graph_node *node)
{
	return *node->op == 'Q' ? &linear_inputs : &integer_inputs;
}

/* An input, if present, is one number, or `many`. */
static bool check_numbers(const struct sk_inference *inference, size_t input, uint64_t many, enum sk_dtype dtype)
{
	const struct sk_value *value = sk_infer_input(inference, input);

	if (!value)
		return true;
	if (value->dtype != dtype)
		return sk_infer_error(inference, "'%s' is %s, not %s", value->name, sk_dtype_name(value->dtype),
				      sk_dtype_name(dtype));
	if (elements_of(value) == 1 || elements_of(value) == many)
		return true;
	return sk_infer_error(inference,
			      many == 1 ? "'%s' has %" PRIu64 " elements, and one is possible"
					: "'%s' has %" PRIu64 " elements, and one or %" PRIu64 " are possible",
			      value->name, elements_of(value), many);
}

/* `many` is the number of zero points and scales that the second operand may have. */
static bool check_quantised(const struct sk_inference *inference, uint64_t many)
{
	const struct inputs *inputs = inputs_of(inference->node);
	const struct sk_value *a = sk_infer_input(inference, inputs->a), *b = sk_infer_input(inference, inputs->b);
	const struct sk_value *y = sk_infer_input(inference, inputs->y_zero);

	return check_numbers(inference, inputs->a_scale, 1, SK_F32) &&
	       check_numbers(inference, inputs->a_zero, 1, a->dtype) &&
	       check_numbers(inference, inputs->b_scale, many, SK_F32) &&
	       check_numbers(inference, inputs->b_zero, many, b->dtype) &&
	       check_numbers(inference, inputs->y_scale, 1, SK_F32) &&
	       (!y || check_numbers(inference, inputs->y_zero, 1, y->dtype));
}

static enum sk_dtype result_dtype(const struct sk_inference *inference)
{
	const struct sk_value *zero = sk_infer_input(inference, inputs_of(inference->node)->y_zero);

	return zero ? zero->dtype : SK_I32;
}

/* Return the destination of the 32-bit sums: the output itself, or a value that is requantised. */
static uint32_t sums_of(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	uint32_t to = sk_canonical_output(canonical, 0);
	const struct sk_value output = graph->values.items[to];

	if (inputs_of(&graph->nodes.items[canonical->node]) == &integer_inputs)
		return to;
	return sk_graph_new_value(graph, output.name, SK_I32, output.rank, output.shape);
}

/* y = sums * a_scale * b_scale / y_scale + y_zero. Rows of `inner` sums have a bias, and perhaps a scale each; in
 * products, each column has one. */
static void requantise(struct sk_canonical *canonical, uint32_t sums, uint64_t inner, bool columns)
{
	const struct sk_op_graph *graph = canonical->graph;
	const struct inputs *inputs = inputs_of(&graph->nodes.items[canonical->node]);
	uint32_t to = sk_canonical_output(canonical, 0), scales = sk_canonical_input(canonical, inputs->b_scale);
	uint32_t bias = sk_canonical_input(canonical, inputs->bias);
	const uint64_t rows[2] = {elements_of(&graph->values.items[to]) / inner, inner};
	struct sk_graph_call *call;
	bool flat;

	if (sums == to)
		return;
	flat = bias == SK_NONE && elements_of(&graph->values.items[scales]) == 1;
	call = sk_canonical_call(canonical, "Requantize");
	sk_call_input(canonical, call, flat ? sk_operand_flat(graph, sums) : sk_operand_shaped(graph, sums, 2, rows));
	sk_call_input(canonical, call, sk_operand_flat(graph, sk_canonical_input(canonical, inputs->a_scale)));
	sk_call_input(canonical, call, sk_operand_flat(graph, scales));
	sk_call_input(canonical, call, sk_operand_flat(graph, sk_canonical_input(canonical, inputs->y_scale)));
	sk_call_input(canonical, call, sk_operand_flat(graph, sk_canonical_input(canonical, inputs->y_zero)));
	if (!flat && columns)
		sk_call_word(canonical, call, "form", "columns");
	else if (!flat)
		sk_call_input(canonical, call, sk_operand_flat(graph, bias));
	sk_call_output(canonical, call, flat ? sk_operand_flat(graph, to) : sk_operand_shaped(graph, to, 2, rows));
}

/* ---- MatMulInteger, QLinearMatMul ---- */

enum { MAX_BATCHES = 4096 };

static bool find_product(const struct sk_inference *inference, struct sk_integer_product *product)
{
	const struct inputs *inputs = inputs_of(inference->node);
	const struct sk_value *a = sk_infer_input(inference, inputs->a), *b = sk_infer_input(inference, inputs->b);

	if (a->rank < 2 || b->rank < 2)
		return sk_infer_error(inference, "'%s' has %u dimension%s, and '%s' %u, not 2 or more", a->name,
				      a->rank, sk_plural(a->rank), b->name, b->rank);
	*product = (struct sk_integer_product){.rank = a->rank - 2,
					       .batches = 1,
					       .m = a->shape[a->rank - 2],
					       .k = a->shape[a->rank - 1],
					       .n = b->shape[b->rank - 1]};
	if (product->k != b->shape[b->rank - 2])
		return sk_infer_error(inference,
				      "rows of '%s' have %" PRIu64 " elements, and columns of '%s' have %" PRIu64,
				      a->name, product->k, b->name, b->shape[b->rank - 2]);
	memcpy(product->shape, a->shape, product->rank * sizeof(*a->shape));
	if (!sk_infer_broadcast(inference, &product->rank, product->shape, b->rank - 2, b->shape))
		return false;
	for (uint32_t i = 0; i < product->rank; i++)
		if (!sk_mul(product->batches, product->shape[i], &product->batches))
			return sk_infer_error(inference, "there are too many products");
	return true;
}

static bool infer_product(struct sk_inference *inference)
{
	struct sk_integer_product product;

	if (!find_product(inference, &product) || !check_quantised(inference, product.n))
		return false;

	uint64_t shape[SK_MAX_RANK + 2];

	memcpy(shape, product.shape, sizeof(product.shape));
	shape[product.rank] = product.m;
	shape[product.rank + 1] = product.n;
	return sk_infer_output(inference, 0, result_dtype(inference), product.rank + 2, shape);
}

/* Return the matrix of an operand for the given batch. */
static struct sk_operand matrix_of(const struct sk_op_graph *graph, uint32_t value,
				   const struct sk_integer_product *product, uint64_t batch, uint64_t rows,
				   uint64_t columns)
{
	struct sk_operand matrix = sk_operand_shaped(graph, value, 2, (uint64_t[]){rows, columns});
	const struct sk_value *of = &graph->values.items[value];
	uint64_t stride = rows * columns;

	for (uint32_t i = product->rank; i--; batch /= product->shape[i]) {
		uint32_t after = product->rank - i + 2;
		uint64_t size = of->rank < after ? 1 : of->shape[of->rank - after];

		matrix.offset += size == 1 ? 0 : batch % product->shape[i] * stride;
		stride *= size;
	}
	return matrix;
}

/* Return a constant factor of signed bytes in panels of 16 columns, with groups of four rows side by side. SK_NONE if
 * there is more than one matrix, or the sizes are not multiples. */
static uint32_t packed(struct sk_canonical *canonical, uint32_t b, const struct sk_integer_product *product)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_value from = graph->values.items[b];
	struct sk_arrangement arrangement = {.rank = 4,
					     .shape = {product->n / 16, product->k / 4, 16, 4},
					     .strides = {16, 4 * (int64_t)product->n, 1, (int64_t)product->n}};
	const uint64_t panels[3] = {product->n / 16, product->k / 4, 64};
	uint32_t to;

	if (product->batches != 1 || from.dtype != SK_I8 || !(from.contents || from.fixed) || product->n % 16 ||
	    product->k % 4)
		return SK_NONE;
	to = sk_graph_new_value(graph, from.name, from.dtype, 3, panels);
	return sk_canonical_arrange(canonical, sk_operand_flat(graph, to), b, &arrangement) ? to : SK_NONE;
}

bool sk_canonical_integer_product(struct sk_canonical *canonical, const struct sk_integer_product *given,
				  const uint32_t factors[2], const uint32_t zeros[2], uint32_t sums)
{
	struct sk_op_graph *graph = canonical->graph;
	struct sk_integer_product product = *given;
	uint32_t panels;

	if (elements_of(&graph->values.items[factors[1]]) == product.k * product.n) {
		product.m *= product.batches; /* all batches are rows of one product */
		product.batches = 1;
	}
	if (product.batches > MAX_BATCHES)
		return sk_canonical_error(canonical,
					  "there are %" PRIu64 " products of matrices, and at most %d are possible",
					  product.batches, MAX_BATCHES);
	if (!product.k)
		sk_canonical_fill(canonical, sums, 0);
	panels = product.k ? packed(canonical, factors[1], &product) : SK_NONE;
	for (uint64_t i = 0; i < product.batches && product.k; i++) {
		struct sk_graph_call *call = sk_canonical_call(canonical, "MatMulInteger");

		if (panels != SK_NONE)
			sk_call_integer(canonical, call, "packed", 1);
		sk_call_input(canonical, call, matrix_of(graph, factors[0], &product, i, product.m, product.k));
		sk_call_input(canonical, call,
			      panels != SK_NONE ? sk_operand_shaped(graph, panels, 3, graph->values.items[panels].shape)
						: matrix_of(graph, factors[1], &product, i, product.k, product.n));
		sk_call_input(canonical, call, sk_operand_flat(graph, zeros[0]));
		sk_call_input(canonical, call, sk_operand_flat(graph, zeros[1]));
		sk_call_output(canonical, call, matrix_of(graph, sums, &product, i, product.m, product.n));
	}
	return true;
}

static bool canonical_product(struct sk_canonical *canonical)
{
	const struct sk_inference inference = {canonical->graph, &canonical->graph->nodes.items[canonical->node]};
	const struct inputs *inputs = inputs_of(inference.node);
	const uint32_t factors[2] = {sk_canonical_input(canonical, inputs->a),
				     sk_canonical_input(canonical, inputs->b)};
	const uint32_t zeros[2] = {sk_canonical_input(canonical, inputs->a_zero),
				   sk_canonical_input(canonical, inputs->b_zero)};
	struct sk_integer_product product;
	uint32_t sums;

	if (!find_product(&inference, &product))
		return false;
	sums = sums_of(canonical);
	if (!sk_canonical_integer_product(canonical, &product, factors, zeros, sums))
		return false;
	requantise(canonical, sums, product.n, true);
	return true;
}

/* ---- ConvInteger, QLinearConv ---- */

static bool read_convolution(const struct sk_inference *inference, struct sk_windows *window, int64_t *group)
{
	const struct inputs *inputs = inputs_of(inference->node);

	return sk_window_convolution(inference, sk_infer_input(inference, inputs->a),
				     sk_infer_input(inference, inputs->b), sk_infer_input(inference, inputs->bias),
				     window, group);
}

static bool infer_convolution(struct sk_inference *inference)
{
	const struct inputs *inputs = inputs_of(inference->node);
	const struct sk_value *x = sk_infer_input(inference, inputs->a), *w = sk_infer_input(inference, inputs->b);
	struct sk_windows window;
	int64_t group;

	return read_convolution(inference, &window, &group) && check_quantised(inference, w->shape[0]) &&
	       check_numbers(inference, inputs->bias, w->shape[0], SK_I32) &&
	       sk_window_infer(inference, 0, result_dtype(inference), x->shape[0], w->shape[0], &window);
}

static bool canonical_convolution(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = {graph, &graph->nodes.items[canonical->node]};
	const struct inputs *inputs = inputs_of(inference.node);
	struct sk_graph_call *call;
	struct sk_windows window;
	uint64_t plane = 1;
	uint32_t sums;
	int64_t group;

	if (!read_convolution(&inference, &window, &group))
		return false;
	if (!sk_infer_input(&inference, inputs->b)->shape[1])
		return sk_canonical_error(canonical, "there are no channels");
	for (uint32_t i = 0; i < window.spatial; i++)
		plane *= (uint64_t)window.out[i];
	sums = sums_of(canonical);
	call = sk_canonical_call(canonical, "ConvInteger");
	sk_call_window(canonical, call, &window);
	sk_call_integer(canonical, call, "group", group);
	sk_call_input(canonical, call, sk_operand_spatial(graph, sk_canonical_input(canonical, inputs->a)));
	sk_call_input(canonical, call, sk_operand_spatial(graph, sk_canonical_input(canonical, inputs->b)));
	sk_call_input(canonical, call, sk_operand_flat(graph, sk_canonical_input(canonical, inputs->a_zero)));
	sk_call_input(canonical, call, sk_operand_flat(graph, sk_canonical_input(canonical, inputs->b_zero)));
	sk_call_output(canonical, call, sk_operand_spatial(graph, sums));
	requantise(canonical, sums, plane, false);
	return true;
}

/* ---- the table ---- */

#define INTEGER(NAME, DEFAULT)                                                                                         \
	{                                                                                                              \
		NAME, SK_ATTRIBUTE_INTEGER, .integer = (DEFAULT)                                                       \
	}

static const struct sk_schema_attribute quantize[] = {INTEGER("axis", 1),	  INTEGER("block_size", 0),
						      INTEGER("output_dtype", 0), INTEGER("precision", 0),
						      INTEGER("saturate", 1),	  {NULL}};
static const struct sk_schema_attribute dequantize[] = {
	INTEGER("axis", 1), INTEGER("block_size", 0), INTEGER("output_dtype", 0), {NULL}};
static const struct sk_schema_attribute conv[] = {{"auto_pad", SK_ATTRIBUTE_STRING, .string = "NOTSET"},
						  {"dilations", SK_ATTRIBUTE_INTEGERS},
						  INTEGER("group", 1),
						  {"kernel_shape", SK_ATTRIBUTE_INTEGERS},
						  {"pads", SK_ATTRIBUTE_INTEGERS},
						  {"strides", SK_ATTRIBUTE_INTEGERS},
						  {NULL}};

const struct sk_schema sk_operators_quantised[] = {
	{"ConvInteger", "", 2, 4, 1, 1, .attributes = conv, .infer = infer_convolution,
	 .canonical = canonical_convolution},
	{"DequantizeLinear", "", 2, 3, 1, 1, .attributes = dequantize, .expands = is_not_plain,
	 .expand = expand_dequantize, .infer = infer_dequantize, .canonical = canonical_linear},
	{"DynamicQuantizeLinear", "", 1, 1, 1, 3, .infer = infer_dynamic, .canonical = canonical_dynamic},
	{"MatMulInteger", "", 2, 4, 1, 1, .expands = sk_quantised_is_other, .expand = sk_quantised_expand_other,
	 .infer = infer_product, .canonical = canonical_product},
	{"QLinearConv", "", 8, 9, 1, 1, .attributes = conv, .infer = infer_convolution,
	 .canonical = canonical_convolution},
	{"QLinearMatMul", "", 8, 8, 1, 1, .expands = sk_quantised_is_other, .expand = sk_quantised_expand_other,
	 .infer = infer_product, .canonical = canonical_product},
	{"QuantizeLinear", "", 2, 3, 1, 1, .attributes = quantize, .infer = infer_quantize,
	 .canonical = canonical_linear},
	{NULL},
};
