/* Matrix products, and determinants. */
#include <math.h>
#include <string.h>

#include "base/map.h"
#include "base/text.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators.h"

/* Shapes of matrices. A vector gets a dimension of one element, as in numpy's matmul. */
struct product {
	uint32_t batch_rank;
	uint64_t batch[SK_MAX_RANK]; /* leading dimensions of the output */
	uint64_t m, k, n;
	bool row, column; /* the first operand is a vector; the second one is */
};

static bool find_product(const struct sk_inference *inference, struct product *product)
{
	const struct sk_value *a = sk_infer_input(inference, 0), *b = sk_infer_input(inference, 1);

	*product = (struct product){.row = a->rank == 1, .column = b->rank == 1};
	if (!a->rank || !b->rank)
		return sk_infer_error(inference, "'%s' has no dimensions", a->rank ? b->name : a->name);
	product->m = product->row ? 1 : a->shape[a->rank - 2];
	product->k = a->shape[a->rank - 1];
	product->n = product->column ? 1 : b->shape[b->rank - 1];

	uint64_t rows = b->shape[product->column ? 0 : b->rank - 2];

	if (product->k != rows)
		return sk_infer_error(inference, "rows of '%s' have %llu element%s, and columns of '%s' have %llu",
				      a->name, (unsigned long long)product->k, sk_plural(product->k), b->name,
				      (unsigned long long)rows);
	product->batch_rank = product->row ? 0 : a->rank - 2;
	memcpy(product->batch, a->shape, product->batch_rank * sizeof(*a->shape));
	return sk_infer_broadcast(inference, &product->batch_rank, product->batch, product->column ? 0 : b->rank - 2,
				  b->shape);
}

static bool infer_matmul(struct sk_inference *inference)
{
	const struct sk_value *a = sk_infer_input(inference, 0), *b = sk_infer_input(inference, 1);
	struct product product;
	uint64_t shape[SK_MAX_RANK + 2];
	uint32_t rank;

	if (a->dtype != b->dtype)
		return sk_infer_error(inference, "'%s' is %s, and '%s' is %s", a->name, sk_dtype_name(a->dtype),
				      b->name, sk_dtype_name(b->dtype));
	if (!find_product(inference, &product))
		return false;
	rank = product.batch_rank;
	memcpy(shape, product.batch, rank * sizeof(*shape));
	if (!product.row)
		shape[rank++] = product.m;
	if (!product.column)
		shape[rank++] = product.n;
	return sk_infer_output(inference, 0, a->dtype, rank, shape);
}

/* Return the operand with all batches of the product, copied if it is broadcast. */
static uint32_t batched(struct sk_canonical *canonical, uint32_t value, const struct product *product, uint64_t rows,
			uint64_t columns)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_value *of = &graph->values.items[value];
	struct sk_arrangement arrangement = {.rank = product->batch_rank + 2};
	uint32_t own = of->rank > 2 ? of->rank - 2 : 0;
	int64_t stride = (int64_t)(rows * columns);
	bool copied = false;

	for (uint32_t i = product->batch_rank; i--;) {
		uint64_t size = i + own < product->batch_rank ? 1 : of->shape[i + own - product->batch_rank];

		arrangement.shape[i] = product->batch[i];
		arrangement.strides[i] = size == 1 ? 0 : stride;
		copied |= size != product->batch[i];
		stride *= (int64_t)size;
	}
	if (!copied)
		return value;
	arrangement.shape[product->batch_rank] = rows;
	arrangement.strides[product->batch_rank] = (int64_t)columns;
	arrangement.shape[product->batch_rank + 1] = columns;
	arrangement.strides[product->batch_rank + 1] = 1;

	uint32_t copy = sk_graph_new_value(graph, of->name, of->dtype, arrangement.rank, arrangement.shape);

	sk_canonical_arrange(canonical, sk_operand_flat(graph, copy), value, &arrangement);
	return copy;
}

uint32_t sk_canonical_pack(struct sk_canonical *canonical, uint32_t b, uint64_t k, uint64_t n, bool turned)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_value from = graph->values.items[b];
	uint64_t width = sk_dtype_size(from.dtype) == 8 ? 8 : 16;
	const uint64_t panels[3] = {(n + width - 1) / width, k, width}, shape[2] = {turned ? n : k, turned ? k : n};
	struct sk_graph_call *call;
	uint32_t to;

	to = sk_graph_new_value(graph, from.name, from.dtype, 3, panels);
	call = sk_canonical_call(canonical, "PackMatMulB");
	if (turned)
		sk_call_integer(canonical, call, "transB", 1);
	sk_call_input(canonical, call, sk_operand_moved(sk_operand_shaped(graph, b, 2, shape)));
	sk_call_output(canonical, call, sk_operand_moved(sk_operand_shaped(graph, to, 3, panels)));
	return to;
}

/* to = a b, of [m, k], or [k, m] if a is turned, and [k, n], or [n, k]. */
static void add_product(struct sk_canonical *canonical, uint32_t a, uint32_t b, uint32_t to,
			const struct product *product, bool turned_a, bool turned_b)
{
	const struct sk_op_graph *graph = canonical->graph;
	const struct sk_value *right = &graph->values.items[b];
	uint64_t m = product->m, k = product->k, n = product->n;
	bool pack = (right->contents || right->fixed) && !turned_a && sk_value_is_float(right);
	const uint64_t left[2] = {turned_a ? k : m, turned_a ? m : k}, matrix[2] = {turned_b ? n : k, turned_b ? k : n};
	uint32_t factor = pack ? sk_canonical_pack(canonical, b, k, n, turned_b) : b;
	const struct sk_value *panels = &graph->values.items[factor];
	struct sk_graph_call *call = sk_canonical_call(canonical, "MatMul");

	if (pack)
		sk_call_integer(canonical, call, "packed", 1);
	if (turned_a)
		sk_call_integer(canonical, call, "transA", 1);
	if (turned_b && !pack)
		sk_call_integer(canonical, call, "transB", 1);
	sk_call_input(canonical, call, sk_operand_shaped(graph, a, 2, left));
	sk_call_input(canonical, call,
		      pack ? sk_operand_shaped(graph, factor, 3, panels->shape)
			   : sk_operand_shaped(graph, b, 2, matrix));
	sk_call_output(canonical, call, sk_operand_shaped(graph, to, 2, (uint64_t[]){m, n}));
}

/* Add batches of products; b is [n, k] if it is turned. */
static void add_products(struct sk_canonical *canonical, uint32_t a, uint32_t b, uint32_t to, uint64_t batches,
			 const struct product *product, bool turned_b)
{
	const struct sk_op_graph *graph = canonical->graph;
	struct sk_graph_call *call = sk_canonical_call(canonical, "MatMul");
	uint64_t m = product->m, k = product->k, n = product->n;
	const uint64_t left[3] = {batches, m, k}, right[3] = {batches, turned_b ? n : k, turned_b ? k : n};
	const uint64_t result[3] = {batches, m, n};

	if (turned_b)
		sk_call_integer(canonical, call, "transB", 1);
	sk_call_input(canonical, call, sk_operand_shaped(graph, a, 3, left));
	sk_call_input(canonical, call, sk_operand_shaped(graph, b, 3, right));
	sk_call_output(canonical, call, sk_operand_shaped(graph, to, 3, result));
}

void sk_canonical_product(struct sk_canonical *canonical, uint32_t a, uint32_t b, uint32_t to, uint64_t batches,
			  uint64_t m, uint64_t k, uint64_t n)
{
	const struct product product = {.m = m, .k = k, .n = n};

	if (batches == 1)
		add_product(canonical, a, b, to, &product, false, false);
	else
		add_products(canonical, a, b, to, batches, &product, false);
}

static bool canonical_matmul(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = {graph, &graph->nodes.items[canonical->node]};
	uint32_t a = sk_canonical_input(canonical, 0), b = sk_canonical_input(canonical, 1);
	struct product product;
	uint64_t batches = 1;

	if (!find_product(&inference, &product))
		return false;
	if (!product.k)
		return sk_canonical_fill(canonical, sk_canonical_output(canonical, 0), 0);
	for (uint32_t i = 0; i < product.batch_rank; i++)
		batches *= product.batch[i];
	if (sk_value_elements(&graph->values.items[b]) == product.k * product.n) {
		product.m *= batches; /* all batches are rows of one product */
		add_product(canonical, a, b, sk_canonical_output(canonical, 0), &product, false, false);
		return true;
	}
	a = batched(canonical, a, &product, product.m, product.k);
	b = batched(canonical, b, &product, product.k, product.n);
	add_products(canonical, a, b, sk_canonical_output(canonical, 0), batches, &product, false);
	return true;
}

/* ---- MindSpore's BatchMatMul: factors may be transposed ---- */

static bool is_turned(const struct sk_graph_node *node, size_t factor)
{
	return sk_node_integer(node, factor ? "transpose_b" : "transpose_a", 0);
}

static bool find_batches(const struct sk_inference *inference, struct product *product)
{
	const struct sk_value *a = sk_infer_input(inference, 0), *b = sk_infer_input(inference, 1);
	bool turned_a = is_turned(inference->node, 0), turned_b = is_turned(inference->node, 1);
	uint64_t rows;

	if (a->rank < 2 || b->rank < 2 || a->dtype != b->dtype)
		return sk_infer_error(inference, "'%s' and '%s' are not of one type and of at least 2 dimensions",
				      a->name, b->name);
	*product = (struct product){.batch_rank = a->rank - 2};
	product->m = a->shape[a->rank - 2 + turned_a];
	product->k = a->shape[a->rank - 1 - turned_a];
	rows = b->shape[b->rank - 2 + turned_b];
	product->n = b->shape[b->rank - 1 - turned_b];
	if (product->k != rows)
		return sk_infer_error(inference, "rows of '%s' have %llu element%s, and columns of '%s' have %llu",
				      a->name, (unsigned long long)product->k, sk_plural(product->k), b->name,
				      (unsigned long long)rows);
	memcpy(product->batch, a->shape, product->batch_rank * sizeof(*a->shape));
	return sk_infer_broadcast(inference, &product->batch_rank, product->batch, b->rank - 2, b->shape);
}

static bool infer_batches(struct sk_inference *inference)
{
	struct product product;
	uint64_t shape[SK_MAX_RANK + 2];

	if (!find_batches(inference, &product))
		return false;
	memcpy(shape, product.batch, product.batch_rank * sizeof(*shape));
	shape[product.batch_rank] = product.m;
	shape[product.batch_rank + 1] = product.n;
	return sk_infer_output(inference, 0, sk_infer_input(inference, 0)->dtype, product.batch_rank + 2, shape);
}

/* Return a copy with the last two dimensions swapped. */
static uint32_t turned(struct sk_canonical *canonical, uint32_t value)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_value from = graph->values.items[value];
	struct sk_arrangement arrangement = {.rank = from.rank};
	uint32_t copy;

	sk_dense_strides(from.rank, from.shape, arrangement.strides);
	memcpy(arrangement.shape, from.shape, from.rank * sizeof(*from.shape));
	for (uint32_t i = 0; i < 2; i++) {
		arrangement.shape[from.rank - 2 + i] = from.shape[from.rank - 1 - i];
		arrangement.strides[from.rank - 2 + i] = i ? (int64_t)from.shape[from.rank - 1] : 1;
	}
	copy = sk_graph_new_value(graph, from.name, from.dtype, from.rank, arrangement.shape);
	sk_canonical_arrange(canonical, sk_operand_flat(graph, copy), value, &arrangement);
	return copy;
}

static bool canonical_batches(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = {graph, &graph->nodes.items[canonical->node]};
	uint32_t a = sk_canonical_input(canonical, 0), b = sk_canonical_input(canonical, 1);
	uint32_t to = sk_canonical_output(canonical, 0);
	bool turned_a = is_turned(inference.node, 0), turned_b = is_turned(inference.node, 1);
	struct product product;
	uint64_t batches = 1;

	if (!find_batches(&inference, &product))
		return false;
	if (!product.k)
		return sk_canonical_fill(canonical, to, 0);
	for (uint32_t i = 0; i < product.batch_rank; i++)
		batches *= product.batch[i];
	if (turned_a && batches > 1) { /* there is no kernel for batches of such products */
		a = turned(canonical, a);
		turned_a = false;
	}
	if (sk_value_elements(&graph->values.items[b]) == product.k * product.n) {
		product.m *= batches; /* all batches are rows of one product */
		add_product(canonical, a, b, to, &product, turned_a, turned_b);
		return true;
	}
	a = batched(canonical, a, &product, product.m, product.k);
	b = batched(canonical, b, &product, turned_b ? product.n : product.k, turned_b ? product.k : product.n);
	add_products(canonical, a, b, to, batches, &product, turned_b);
	return true;
}

/* ---- Gemm: alpha a b + beta c ---- */

static bool read_gemm(const struct sk_inference *inference, struct product *product)
{
	const struct sk_value *a = sk_infer_input(inference, 0), *b = sk_infer_input(inference, 1);
	bool turned_a = sk_node_integer(inference->node, "transA", 0),
	     turned_b = sk_node_integer(inference->node, "transB", 0);

	*product = (struct product){.batch_rank = 0};
	if (a->rank != 2 || b->rank != 2)
		return sk_infer_error(inference, "'%s' has %u dimension%s, and '%s' %u, not 2", a->name, a->rank,
				      sk_plural(a->rank), b->name, b->rank);
	product->m = a->shape[turned_a];
	product->k = a->shape[!turned_a];
	product->n = b->shape[!turned_b];
	return product->k == b->shape[turned_b] ||
	       sk_infer_error(inference, "rows of '%s' have %llu element%s, and columns of '%s' have %llu", a->name,
			      (unsigned long long)product->k, sk_plural(product->k), b->name,
			      (unsigned long long)b->shape[turned_b]);
}

/* The product of an integer and a fraction would have to be rounded, and ONNX does not specify how. Nor does it specify
 * numbers that the type cannot represent. */
static bool check_factor(const struct sk_inference *inference, const char *name)
{
	const struct sk_value *a = sk_infer_input(inference, 0);
	double factor = sk_node_real(inference->node, name, 1);
	double least = a->dtype == SK_U32 || a->dtype == SK_U64 ? 0 : INT32_MIN;

	return sk_value_is_float(a) || (factor >= least && factor <= INT32_MAX && factor == (double)(int32_t)factor) ||
	       sk_infer_error(inference,
			      "'%s' is %g, and integers are multiplied by integers of their type, of 32 bits at most",
			      name, factor);
}

static bool infer_gemm(struct sk_inference *inference)
{
	const struct sk_value *c = sk_infer_input(inference, 2);
	struct product product;
	uint32_t rank = 2;

	if (!read_gemm(inference, &product) || !check_factor(inference, "alpha") ||
	    (c && !check_factor(inference, "beta")))
		return false;

	uint64_t shape[SK_MAX_RANK] = {product.m, product.n};

	if (c && (!sk_infer_broadcast(inference, &rank, shape, c->rank, c->shape) || rank != 2 ||
		  shape[0] != product.m || shape[1] != product.n))
		return sk_infer_error(inference, "'%s' cannot be broadcast to the product", c->name);
	return sk_infer_output(inference, 0, sk_infer_input(inference, 0)->dtype, 2, shape);
}

/* True if f16 and bf16 represent the number exactly. */
static bool is_half(double number)
{
	int exponent;
	double fraction = 256 * frexp(number, &exponent);

	return fraction == floor(fraction) && exponent > -14 && exponent <= 16;
}

/* Return the value times a number, which may be 1. A number that halves cannot represent exactly would change or become
 * infinite, so such products are computed in f32. */
static uint32_t scaled(struct sk_canonical *canonical, uint32_t value, double factor, uint32_t to)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_value from = graph->values.items[value];
	enum sk_dtype dtype = is_half(factor) ? from.dtype : sk_computed_dtype(from.dtype);
	uint32_t number, product;

	if (factor == 1)
		return value;
	number = sk_canonical_number(canonical, dtype, factor);
	if (to == SK_NONE)
		to = sk_graph_new_value(graph, from.name, from.dtype, from.rank, from.shape);
	product = dtype == from.dtype ? to : sk_graph_new_value(graph, from.name, dtype, from.rank, from.shape);
	sk_canonical_binary(canonical, "Mul", sk_canonical_cast(canonical, value, dtype), number, product, true);
	if (product != to)
		sk_canonical_store(canonical, to, product);
	return to;
}

static bool canonical_gemm(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = {graph, &graph->nodes.items[canonical->node]};
	const struct sk_graph_node node = *inference.node;
	uint32_t to = sk_canonical_output(canonical, 0), c = sk_canonical_input(canonical, 2), result = to;
	const struct sk_value output = graph->values.items[to];
	double alpha = sk_node_real(&node, "alpha", 1), beta = sk_node_real(&node, "beta", 1);
	struct product product;

	if (!read_gemm(&inference, &product))
		return false;
	if (c == SK_NONE || beta == 0)
		c = SK_NONE;
	if (!product.k && c == SK_NONE)
		return sk_canonical_fill(canonical, to, 0);
	if (c != SK_NONE || alpha != 1)
		result = sk_graph_new_value(graph, output.name, output.dtype, 2, output.shape);
	if (product.k)
		add_product(canonical, sk_canonical_input(canonical, 0), sk_canonical_input(canonical, 1), result,
			    &product, sk_node_integer(&node, "transA", 0), sk_node_integer(&node, "transB", 0));
	else
		sk_canonical_fill(canonical, result, 0);
	result = scaled(canonical, result, alpha, c == SK_NONE ? to : SK_NONE);
	if (c == SK_NONE)
		return true;
	return sk_canonical_binary(canonical, "Add", result, scaled(canonical, c, beta, SK_NONE), to, true);
}

/* Before operator set 7 an attribute said whether the third factor is broadcast. */
static bool upgrade_gemm(struct sk_op_graph *graph, struct sk_graph_node *node)
{
	(void)graph;
	sk_node_remove_attribute(node, "broadcast");
	return true;
}

/* ---- Det ---- */

static bool infer_det(struct sk_inference *inference)
{
	const struct sk_value *from = sk_infer_input(inference, 0);

	if (from->rank < 2 || from->shape[from->rank - 1] != from->shape[from->rank - 2] || !sk_value_is_float(from))
		return sk_infer_error(inference, "'%s' is not square matrices of floats", from->name);
	return sk_infer_output(inference, 0, from->dtype, from->rank - 2, from->shape);
}

static bool canonical_det(struct sk_canonical *canonical)
{
	const struct sk_op_graph *graph = canonical->graph;
	uint32_t from = sk_canonical_input(canonical, 0), to = sk_canonical_output(canonical, 0);
	uint64_t m = graph->values.items[from].shape[graph->values.items[from].rank - 1];
	struct sk_graph_call *call;

	if (!m) /* an empty product */
		return sk_canonical_fill(canonical, to, 1);
	call = sk_canonical_call(canonical, "Det");
	sk_call_input(
		canonical, call,
		sk_operand_shaped(graph, from, 3, (uint64_t[]){sk_value_elements(&graph->values.items[to]), m, m}));
	sk_call_output(canonical, call, sk_operand_flat(graph, to));
	return true;
}

static const struct sk_schema_attribute gemm[] = {{"alpha", SK_ATTRIBUTE_REAL, .real = 1},
						  {"beta", SK_ATTRIBUTE_REAL, .real = 1},
						  {"transA", SK_ATTRIBUTE_INTEGER},
						  {"transB", SK_ATTRIBUTE_INTEGER},
						  {NULL}};

static const struct sk_schema_attribute turns[] = {
	{"transpose_a", SK_ATTRIBUTE_INTEGER}, {"transpose_b", SK_ATTRIBUTE_INTEGER}, {NULL}};

const struct sk_schema sk_operators_products[] = {
	{"BatchMatMul", SK_OWN_DOMAIN, 2, 2, 1, 1, .attributes = turns, .infer = infer_batches,
	 .canonical = canonical_batches},
	{"Det", "", 1, 1, 1, 1, .infer = infer_det, .canonical = canonical_det},
	{"Gemm", "", 2, 3, 1, 1, .attributes = gemm, .upgrade = upgrade_gemm, .infer = infer_gemm,
	 .canonical = canonical_gemm},
	{"MatMul", "", 2, 2, 1, 1, .infer = infer_matmul, .canonical = canonical_matmul},
	{NULL},
};
