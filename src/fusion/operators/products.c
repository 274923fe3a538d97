/* Matrix products. */
#include <string.h>

#include "src/fusion/operators/families.h"

/* Shapes of matrices: those of vectors get a dimension of one element, as numpy's matmul does it. */
struct product {
	uint32_t batch_rank;
	uint64_t batch[SK_MAX_RANK]; /* of the output, leading dimensions */
	uint64_t m, k, n;
	bool row, column; /* the first one is a vector; the second one is */
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
		return sk_infer_error(inference, "rows of '%s' have %llu elements, and columns of '%s' have %llu",
				      a->name, (unsigned long long)product->k, b->name, (unsigned long long)rows);
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

/* The operand with all of the product's batches, copied if it has not. */
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

static void add_product(struct sk_canonical *canonical, uint32_t a, uint32_t b, uint64_t batches,
			const struct product *product)
{
	const struct sk_op_graph *graph = canonical->graph;
	struct sk_graph_call *call = sk_canonical_call(canonical, "MatMul");
	const uint64_t left[3] = {batches, product->m, product->k}, right[3] = {batches, product->k, product->n};
	const uint64_t result[3] = {batches, product->m, product->n};
	uint32_t flat = batches == 1;

	sk_call_input(canonical, call, sk_operand_shaped(graph, a, 3 - flat, left + flat));
	sk_call_input(canonical, call, sk_operand_shaped(graph, b, 3 - flat, right + flat));
	sk_call_output(canonical, call,
		       sk_operand_shaped(graph, sk_canonical_output(canonical, 0), 3 - flat, result + flat));
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
		batches = 1;
	} else {
		a = batched(canonical, a, &product, product.m, product.k);
		b = batched(canonical, b, &product, product.k, product.n);
	}
	add_product(canonical, a, b, batches, &product);
	return true;
}

const struct sk_schema sk_operators_products[] = {
	{"MatMul", "", 2, 2, 1, 1, .infer = infer_matmul, .canonical = canonical_matmul},
	{NULL},
};
