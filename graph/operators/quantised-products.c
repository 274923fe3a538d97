/* Products of batches with scales and in other orders (domain "sklink"): QuantBatchMatmul and TransposeBatchMatMul, as
 * in GE and MindSpore. */
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/text.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators.h"

/* Return the value with permuted axes: a copy, if bytes must move. */
static uint32_t permuted(struct sk_canonical *canonical, uint32_t value, const uint32_t *order)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_value from = graph->values.items[value];
	const struct sk_arrangement arrangement = sk_arrangement_of_axes(from.rank, from.shape, order);
	bool moves = false;
	uint32_t copy;

	for (uint32_t i = 0; i < from.rank; i++)
		moves |= order[i] != i;
	if (!moves)
		return value;
	copy = sk_graph_new_value(graph, from.name, from.dtype, from.rank, arrangement.shape);
	graph->values.items[copy].fixed = from.contents || from.fixed;
	sk_canonical_arrange(canonical, sk_operand_flat(graph, copy), value, &arrangement);
	return copy;
}

/* ---- QuantBatchMatmul: ((a b) + bias) * scale, plus an offset or a bias of floats ---- */

enum { X1, X2, SCALE, OFFSET, BIAS, TOKEN_SCALE };

static bool find_quantised(const struct sk_inference *inference, struct sk_integer_product *product)
{
	const struct sk_value *a = sk_infer_input(inference, X1), *b = sk_infer_input(inference, X2);
	bool turned_a = sk_node_integer(inference->node, "transpose_x1", 0);
	bool turned_b = sk_node_integer(inference->node, "transpose_x2", 0);

	if (a->dtype != SK_I8 || b->dtype != SK_I8 || a->rank < 2 || b->rank < 2)
		return sk_infer_error(inference, "'%s' and '%s' are not matrices of i8", a->name, b->name);
	*product = (struct sk_integer_product){.rank = a->rank - 2,
					       .batches = 1,
					       .m = a->shape[a->rank - 2 + turned_a],
					       .k = a->shape[a->rank - 1 - turned_a],
					       .n = b->shape[b->rank - 1 - turned_b]};
	if (!product->k || product->k != b->shape[b->rank - 2 + turned_b])
		return sk_infer_error(inference,
				      "rows of '%s' have %" PRIu64 " elements, and columns of '%s' have %" PRIu64,
				      a->name, product->k, b->name, b->shape[b->rank - 2 + turned_b]);
	memcpy(product->shape, a->shape, product->rank * sizeof(*a->shape));
	if (!sk_infer_broadcast(inference, &product->rank, product->shape, b->rank - 2, b->shape))
		return false;
	for (uint32_t i = 0; i < product->rank; i++)
		product->batches *= product->shape[i];
	return true;
}

/* Scales are floats, or constants of 64 bits with a float in the lower half. */
static bool check_scales(const struct sk_inference *inference, const struct sk_integer_product *product)
{
	const struct sk_value *scale = sk_infer_input(inference, SCALE), *bias = sk_infer_input(inference, BIAS);
	const struct sk_value *tokens = sk_infer_input(inference, TOKEN_SCALE);
	uint64_t elements = sk_value_elements(scale);

	if ((elements != 1 && elements != product->n) ||
	    !(sk_value_is_float(scale) || (scale->contents && sk_dtype_size(scale->dtype) == 8)))
		return sk_infer_error(inference, "'%s' is not a scale, nor one for each of %" PRIu64 " column%s",
				      scale->name, product->n, sk_plural(product->n));
	if (bias && ((bias->dtype != SK_I32 && !sk_value_is_float(bias)) || sk_value_elements(bias) != product->n))
		return sk_infer_error(inference,
				      "'%s' is not a number, i32 or a float, for each of %" PRIu64 " column%s",
				      bias->name, product->n, sk_plural(product->n));
	return !tokens || (sk_value_is_float(tokens) && sk_value_elements(tokens) == product->batches * product->m) ||
	       sk_infer_error(inference, "'%s' is not a scale for each row", tokens->name);
}

/* True if constants of 64 bits also have offsets, of 9 bits. */
static bool has_offsets(const struct sk_value *scale)
{
	uint64_t bits;

	for (uint64_t i = 0; !sk_value_is_float(scale) && i < sk_value_elements(scale); i++) {
		memcpy(&bits, (const uint8_t *)scale->contents + 8 * i, sizeof(bits));
		if (bits >> 37 & 0x1ff)
			return true;
	}
	return false;
}

/* Only results of 8 bits have an offset, and then a bias is added to sums. */
static bool check_offset(const struct sk_inference *inference, enum sk_dtype dtype, uint64_t columns)
{
	const struct sk_value *offset = sk_infer_input(inference, OFFSET), *bias = sk_infer_input(inference, BIAS);
	const struct sk_value *scale = sk_infer_input(inference, SCALE);

	if (dtype == SK_I8 && bias && bias->dtype != SK_I32)
		return sk_infer_error(inference, "'%s' is %s, and the bias of results of 8 bits is i32", bias->name,
				      sk_dtype_name(bias->dtype));
	if (dtype == SK_I8 && has_offsets(scale))
		return sk_infer_error(inference, "'%s' has offsets in its 64 bits; give them as an input", scale->name);
	if (!offset)
		return true;
	if (dtype != SK_I8)
		return sk_infer_error(inference, "'%s' would be of results of 8 bits, and these are floats",
				      offset->name);
	return (sk_value_is_float(offset) &&
		(sk_value_elements(offset) == 1 || sk_value_elements(offset) == columns)) ||
	       sk_infer_error(inference, "'%s' is not an offset, nor one for each of %" PRIu64 " column%s",
			      offset->name, columns, sk_plural(columns));
}

/* Pieces are of one factor of all batches, and may be activated by silu. */
static bool check_pieces(const struct sk_inference *inference, enum sk_dtype dtype, uint64_t n,
			 struct sk_column_pieces *pieces)
{
	const char *activation = sk_node_string(inference->node, "activation", "");
	const struct sk_value *b = sk_infer_input(inference, X2);

	if (!sk_infer_pieces(inference, n, pieces))
		return false;
	if (pieces->count > 1 && b->rank != 2)
		return sk_infer_error(inference, "'%s' has %" PRIu32 " dimensions, and pieces need 2", b->name,
				      b->rank);
	return (!*activation || (!strcmp(activation, "silu") && dtype != SK_I8)) ||
	       sk_infer_error(inference, "activation '%s' is not silu of floats", activation);
}

static bool infer_quantised(struct sk_inference *inference)
{
	int64_t number = sk_node_integer(inference->node, "to", 10);
	enum sk_dtype dtype = sk_dtype_of_number(number);
	struct sk_integer_product product;
	struct sk_column_pieces pieces;
	uint64_t shape[SK_MAX_RANK + 2];

	if (dtype != SK_F32 && dtype != SK_F16 && dtype != SK_BF16 && dtype != SK_I8)
		return sk_infer_error(inference, "'to' is %" PRIi64 ", and must be f32, f16, bf16 or i8", number);
	if (!find_quantised(inference, &product) || !check_scales(inference, &product) ||
	    !check_offset(inference, dtype, product.n) || !check_pieces(inference, dtype, product.n, &pieces))
		return false;
	memcpy(shape, product.shape, sizeof(product.shape));
	shape[product.rank] = product.m;
	for (size_t i = 0; i < inference->node->outputs.count; i++) {
		shape[product.rank + 1] = pieces.sizes[i];
		if (!sk_infer_output(inference, i, dtype, product.rank + 2, shape))
			return false;
	}
	return true;
}

/* Return constants of 64 bits as the f32 in their lower halves. */
static uint32_t lower_halves(struct sk_op_graph *graph, const struct sk_value *from)
{
	uint64_t elements = sk_value_elements(from);
	uint32_t *halves = SK_NEW_ARRAY(graph->arena, uint32_t, elements);

	for (uint64_t i = 0; i < elements; i++)
		memcpy(&halves[i], (const uint8_t *)from->contents + 8 * i, sizeof(*halves));
	return sk_graph_new_constant(graph, from->name, SK_F32, 1, &elements, halves);
}

/* Return the scale of each column in f32. */
static uint32_t column_scales(struct sk_canonical *canonical, uint64_t n)
{
	struct sk_op_graph *graph = canonical->graph;
	uint32_t value = sk_canonical_input(canonical, SCALE);
	const struct sk_value from = graph->values.items[value];

	value = sk_value_is_float(&from) ? sk_canonical_cast(canonical, value, SK_F32) : lower_halves(graph, &from);
	return sk_canonical_spread(canonical, value, 1, &n);
}

/* Return the floats that are added to a row of results, as f32: an offset, or a bias. SK_NONE: none. */
static uint32_t row_addend(struct sk_canonical *canonical, uint64_t n)
{
	const struct sk_op_graph *graph = canonical->graph;
	uint32_t value = sk_canonical_input(canonical, OFFSET), bias = sk_canonical_input(canonical, BIAS);

	if (value == SK_NONE && bias != SK_NONE && graph->values.items[bias].dtype != SK_I32)
		value = bias;
	if (value == SK_NONE)
		return SK_NONE;
	return sk_canonical_spread(canonical, sk_canonical_cast(canonical, value, SK_F32), 1, &n);
}

/* Return a factor that is not transposed. */
static uint32_t straight(struct sk_canonical *canonical, size_t number, const char *attribute)
{
	const struct sk_op_graph *graph = canonical->graph;
	uint32_t value = sk_canonical_input(canonical, number), rank = graph->values.items[value].rank,
		 order[SK_MAX_RANK];

	for (uint32_t i = 0; i < rank; i++)
		order[i] = i;
	if (sk_node_integer(&graph->nodes.items[canonical->node], attribute, 0)) {
		order[rank - 2] = rank - 1;
		order[rank - 1] = rank - 2;
	}
	return permuted(canonical, value, order);
}

/* The operands that all pieces share; SK_NONE: absent. */
struct scaled {
	struct sk_integer_product product;
	uint32_t factors[2]; /* not transposed */
	uint32_t scales, bias, tokens, addend;
};

/* The numbers of some columns. */
static struct sk_operand numbers_of(const struct sk_op_graph *graph, uint32_t value, uint64_t first, uint64_t count)
{
	struct sk_operand operand = sk_operand_shaped(graph, value, 1, &count);

	operand.offset = value == SK_NONE ? 0 : first;
	return operand;
}

static bool add_columns(struct sk_canonical *canonical, struct scaled scaled, uint32_t to, uint64_t first,
			uint64_t count)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_value output = graph->values.items[to];
	uint32_t sums = sk_graph_new_value(graph, output.name, SK_I32, output.rank, output.shape);
	const uint64_t rows[2] = {sk_value_elements(&output) / count, count};
	struct sk_graph_call *call;

	if (count != scaled.product.n)
		scaled.factors[1] = sk_canonical_columns(canonical, scaled.factors[1], false, first, count);
	scaled.product.n = count;
	if (!sk_canonical_integer_product(canonical, &scaled.product, scaled.factors, (uint32_t[]){SK_NONE, SK_NONE},
					  sums))
		return false;
	call = sk_canonical_call(canonical, "DequantizeSums");
	sk_call_input(canonical, call, sk_operand_shaped(graph, sums, 2, rows));
	sk_call_input(canonical, call, numbers_of(graph, scaled.scales, first, count));
	sk_call_input(canonical, call, numbers_of(graph, scaled.bias, first, count));
	sk_call_input(canonical, call, sk_operand_flat(graph, scaled.tokens));
	if (scaled.addend != SK_NONE)
		sk_call_input(canonical, call, numbers_of(graph, scaled.addend, first, count));
	sk_call_output(canonical, call, sk_operand_shaped(graph, to, 2, rows));
	return true;
}

static void add_silu(struct sk_canonical *canonical, uint32_t from, uint32_t to)
{
	struct sk_graph_call *call = sk_canonical_call(canonical, "Swish");

	sk_call_real(canonical, call, "alpha", 1);
	sk_call_input(canonical, call, sk_operand_flat(canonical->graph, from));
	sk_call_output(canonical, call, sk_operand_flat(canonical->graph, to));
}

static bool add_piece(struct sk_canonical *canonical, const struct scaled *scaled,
		      const struct sk_column_pieces *pieces, size_t number, uint64_t first)
{
	struct sk_op_graph *graph = canonical->graph;
	uint32_t to = sk_canonical_output(canonical, number), made = to;
	bool activated = *sk_node_string(&graph->nodes.items[canonical->node], "activation", "") &&
			 (pieces->activated == -1 || pieces->activated == (int64_t)number);

	if (to == SK_NONE || !sk_value_elements(&graph->values.items[to]))
		return true;
	if (activated) {
		const struct sk_value output = graph->values.items[to];

		made = sk_graph_new_value(graph, output.name, output.dtype, output.rank, output.shape);
	}
	if (!add_columns(canonical, *scaled, made, first, pieces->sizes[number]))
		return false;
	if (activated)
		add_silu(canonical, made, to);
	return true;
}

static bool canonical_quantised(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = {graph, &graph->nodes.items[canonical->node]};
	struct scaled scaled = {.bias = sk_canonical_input(canonical, BIAS),
				.tokens = sk_canonical_input(canonical, TOKEN_SCALE)};
	struct sk_column_pieces pieces;
	uint64_t first = 0;

	if (!find_quantised(&inference, &scaled.product) || !sk_infer_pieces(&inference, scaled.product.n, &pieces))
		return false;
	if (!scaled.product.batches || !scaled.product.m || !scaled.product.n)
		return true;
	scaled.factors[0] = straight(canonical, X1, "transpose_x1");
	scaled.factors[1] = straight(canonical, X2, "transpose_x2");
	scaled.scales = column_scales(canonical, scaled.product.n);
	if (scaled.tokens != SK_NONE)
		scaled.tokens = sk_canonical_cast(canonical, scaled.tokens, SK_F32);
	scaled.addend = row_addend(canonical, scaled.product.n);
	if (scaled.bias != SK_NONE && graph->values.items[scaled.bias].dtype != SK_I32)
		scaled.bias = SK_NONE;
	for (size_t i = 0; i < pieces.count; i++) {
		if (!add_piece(canonical, &scaled, &pieces, i, first))
			return false;
		first += pieces.sizes[i];
	}
	return true;
}

/* ---- TransposeBatchMatMul: a, b and the result have permuted axes ---- */

struct orders {
	uint32_t a[3], b[3], y[3];
};

static bool read_orders(const struct sk_inference *inference, struct orders *orders)
{
	*orders = (struct orders){{0, 1, 2}, {0, 1, 2}, {1, 0, 2}};
	return sk_infer_order(inference, "perm_x1", 3, orders->a) &&
	       sk_infer_order(inference, "perm_x2", 3, orders->b) && sk_infer_order(inference, "perm_y", 3, orders->y);
}

/* Read the sizes: batches, m, k and n. */
static bool find_transposed(const struct sk_inference *inference, struct orders *orders, uint64_t extents[4])
{
	const struct sk_value *a = sk_infer_input(inference, 0), *b = sk_infer_input(inference, 1);

	if (a->rank != 3 || b->rank != 3 || !sk_value_is_float(a))
		return sk_infer_error(inference, "'%s' and '%s' are not floats of 3 dimensions", a->name, b->name);
	if (!sk_infer_one_type(inference) || !read_orders(inference, orders))
		return false;
	for (size_t i = 0; i < 3; i++)
		extents[i] = a->shape[orders->a[i]];
	extents[3] = b->shape[orders->b[2]];
	return (extents[0] == b->shape[orders->b[0]] && extents[2] && extents[2] == b->shape[orders->b[1]]) ||
	       sk_infer_error(inference, "'%s' and '%s' are not factors of products, in that order of their axes",
			      a->name, b->name);
}

static bool infer_transposed(struct sk_inference *inference)
{
	uint64_t extents[4], made[3], shape[3];
	struct orders orders;

	if (!find_transposed(inference, &orders, extents))
		return false;
	made[0] = extents[0];
	made[1] = extents[1];
	made[2] = extents[3];
	for (size_t i = 0; i < 3; i++)
		shape[i] = made[orders.y[i]];
	return sk_infer_output(inference, 0, sk_infer_input(inference, 0)->dtype, 3, shape);
}

static bool is_order(const uint32_t order[3], uint32_t a, uint32_t b, uint32_t c)
{
	return order[0] == a && order[1] == b && order[2] == c;
}

/* Add the order that the kernel supports: rows of a batch are written to their places in the result. */
static bool add_transposed(struct sk_canonical *canonical, const struct orders *orders, uint32_t b,
			   const uint64_t extents[4])
{
	const struct sk_op_graph *graph = canonical->graph;
	uint32_t a = sk_canonical_input(canonical, 0), to = sk_canonical_output(canonical, 0);
	bool turned = is_order(orders->a, 1, 0, 2);
	struct sk_graph_call *call = sk_canonical_call(canonical, "TransposeBatchMatMul");

	if (turned)
		sk_call_integer(canonical, call, "turned", 1);
	sk_call_input(canonical, call, sk_operand_shaped(graph, a, 3, graph->values.items[a].shape));
	sk_call_input(canonical, call,
		      sk_operand_shaped(graph, b, 3, (uint64_t[]){extents[0], extents[2], extents[3]}));
	sk_call_output(canonical, call, sk_operand_shaped(graph, to, 3, graph->values.items[to].shape));
	return true;
}

static bool canonical_transposed(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = {graph, &graph->nodes.items[canonical->node]};
	uint32_t a = sk_canonical_input(canonical, 0), to = sk_canonical_output(canonical, 0), b, made;
	const struct sk_value output = graph->values.items[to];
	struct sk_arrangement arrangement;
	uint64_t extents[4];
	struct orders orders;

	if (!find_transposed(&inference, &orders, extents))
		return false;
	if (!sk_value_elements(&output))
		return true;
	b = permuted(canonical, sk_canonical_input(canonical, 1), orders.b);
	if (is_order(orders.y, 1, 0, 2) && output.dtype != SK_F64 &&
	    (is_order(orders.a, 0, 1, 2) || is_order(orders.a, 1, 0, 2)))
		return add_transposed(canonical, &orders, b, extents);
	a = permuted(canonical, a, orders.a);

	const uint64_t shape[3] = {extents[0], extents[1], extents[3]};

	made = sk_graph_new_value(graph, output.name, output.dtype, 3, shape);
	sk_canonical_product(canonical, a, b, made, extents[0], extents[1], extents[2], extents[3]);
	arrangement = sk_arrangement_of_axes(3, shape, orders.y);
	return sk_canonical_arrange(canonical, sk_operand_flat(graph, to), made, &arrangement);
}

/* ---- the table ---- */

static const struct sk_schema_attribute quantised[] = {{"activated", SK_ATTRIBUTE_INTEGER, .integer = -1},
						       {"activation", SK_ATTRIBUTE_STRING},
						       {"sizes", SK_ATTRIBUTE_INTEGERS},
						       {"to", SK_ATTRIBUTE_INTEGER, .integer = 10},
						       {"transpose_x1", SK_ATTRIBUTE_INTEGER},
						       {"transpose_x2", SK_ATTRIBUTE_INTEGER},
						       {NULL}};
static const struct sk_schema_attribute transposed[] = {{"perm_x1", SK_ATTRIBUTE_INTEGERS},
							{"perm_x2", SK_ATTRIBUTE_INTEGERS},
							{"perm_y", SK_ATTRIBUTE_INTEGERS},
							{NULL}};

const struct sk_schema sk_operators_quantised_products[] = {
	{"QuantBatchMatmul", SK_OWN_DOMAIN, 3, 6, 1, 3, .attributes = quantised, .infer = infer_quantised,
	 .canonical = canonical_quantised},
	{"TransposeBatchMatMul", SK_OWN_DOMAIN, 2, 2, 1, 1, .attributes = transposed, .infer = infer_transposed,
	 .canonical = canonical_transposed},
	{NULL},
};
