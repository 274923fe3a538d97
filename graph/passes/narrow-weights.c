/* Weights of 2 and 4 bits; see passes.h. The numbers of the kernel have 4 bits and are at least 0: those of int4 are 8
 * more than in the file. */
#include "graph/passes/passes.h"

#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"

#define MICROSOFT "com.microsoft"

/* The right factor of a product, [k, n]. */
struct weights {
	struct sk_value numbers, scales, zeros;
	bool has_zeros;
	uint64_t k, n;
	bool turned; /* the numbers are [n, k] */
	uint64_t size, blocks; /* numbers of a block, an even number, and the blocks of a column */
	uint64_t block_step, column_step; /* elements from the scale of a block, of a column, to the next; 0: shared */
};

/* ---- constants ---- */

/* Return the value, if it is a constant, also as the result of a Constant; NULL: it is none. */
static const struct sk_value *constant_of(const struct sk_op_graph *graph, uint32_t index)
{
	const struct sk_value *value = index == SK_NONE ? NULL : &graph->values.items[index];
	const struct sk_graph_node *node = value && value->node != SK_NONE ? &graph->nodes.items[value->node] : NULL;

	if (node && sk_node_is(node, "Constant") && node->tensors.count == 1)
		value = &graph->values.items[node->tensors.items[0].value];
	return value && value->contents ? value : NULL;
}

static const struct sk_value *constant_input(const struct sk_op_graph *graph, const struct sk_graph_node *node,
					     size_t number)
{
	return constant_of(graph, number < node->inputs.count ? node->inputs.items[number] : SK_NONE);
}

static struct sk_graph_node *producer(const struct sk_op_graph *graph, uint32_t value, const char *op)
{
	uint32_t node = value == SK_NONE ? SK_NONE : graph->values.items[value].node;

	return node != SK_NONE && sk_node_is(&graph->nodes.items[node], op) ? &graph->nodes.items[node] : NULL;
}

static bool is_signed(const struct sk_value *value)
{
	return value->dtype == SK_I8;
}

static bool is_integer(const struct sk_value *value)
{
	return value && value->packed && (value->dtype == SK_I8 || value->dtype == SK_U8);
}

/* Return an element as a number of 4 bits, which is 8 more than that of a signed type. */
static unsigned raised(const struct sk_value *value, uint64_t index)
{
	unsigned bits = sk_narrow_bits(value), code = sk_narrow_code(value->contents, bits, index);
	unsigned sign = 1U << (bits - 1);

	return is_signed(value) ? ((code ^ sign) - sign + 8) & 15 : code;
}

static uint32_t add_constant(struct sk_op_graph *graph, const char *base, enum sk_dtype dtype, uint32_t rank,
			     const uint64_t *shape, const void *contents)
{
	uint32_t value = sk_graph_new_value(graph, base, dtype, rank, shape);

	graph->values.items[value].contents = contents;
	return value;
}

/* ---- products ---- */

/* Scales are one number, one for each column, or one for each block of a column. */
static bool find_scales(const struct sk_graph_node *node, struct weights *weights)
{
	const struct sk_value *scales = &weights->scales;
	int64_t axis = sk_node_integer(node, "axis", 1), size = sk_node_integer(node, "block_size", 0);
	int64_t along = weights->turned; /* the axis of k */

	axis += axis < 0 ? 2 : 0;
	weights->size = weights->k + weights->k % 2;
	weights->blocks = 1;
	if (scales->rank <= 1 && sk_value_elements(scales) == 1)
		return true;
	if (scales->rank == 1) {
		weights->column_step = 1;
		return !size && axis == 1 - along && scales->shape[0] == weights->n;
	}
	if (scales->rank != 2 || size < 2 || size % 2 || axis != along)
		return false;
	if ((uint64_t)size < weights->size) {
		weights->size = (uint64_t)size;
		weights->blocks = (weights->k - 1) / weights->size + 1;
	}
	weights->column_step = weights->turned ? weights->blocks : 1;
	weights->block_step = weights->turned ? 1 : weights->n;
	return scales->shape[along] == weights->blocks && scales->shape[1 - along] == weights->n;
}

/* Find out if the value is a matrix of weights, perhaps behind a Transpose. */
static bool find_weights(const struct sk_op_graph *graph, uint32_t value, struct weights *weights)
{
	const struct sk_graph_node *turn = producer(graph, value, "Transpose"), *node;
	const struct sk_value *numbers, *scales, *zeros;
	const int64_t *order;
	size_t count;

	if (turn && turn->inputs.count == 1) {
		order = sk_node_integers(turn, "perm", &count);
		if (order && (count != 2 || order[0] != 1 || order[1] != 0))
			return false;
		weights->turned = !weights->turned;
		value = turn->inputs.items[0];
	}
	node = producer(graph, value, "DequantizeLinear");
	if (!node || sk_node_integer(node, "output_dtype", 0))
		return false;
	numbers = constant_input(graph, node, 0);
	scales = constant_input(graph, node, 1);
	zeros = constant_input(graph, node, 2);
	if (!is_integer(numbers) || numbers->rank != 2 || !scales || scales->element || !sk_value_is_float(scales) ||
	    scales->dtype == SK_F64 || !sk_value_elements(numbers) || !sk_value_elements(scales))
		return false;
	weights->has_zeros = node->inputs.count > 2 && node->inputs.items[2] != SK_NONE;
	if (weights->has_zeros && (!is_integer(zeros) || zeros->element != numbers->element ||
				   sk_value_elements(zeros) != sk_value_elements(scales)))
		return false;
	weights->numbers = *numbers;
	weights->scales = *scales;
	weights->zeros = weights->has_zeros ? *zeros : *numbers;
	weights->k = weights->numbers.shape[weights->turned];
	weights->n = weights->numbers.shape[!weights->turned];
	return find_scales(node, weights);
}

/* Return the numbers as [n, blocks, size / 2], two in a byte. Rows of some columns at a time stay in a cache. */
static uint32_t pack_numbers(struct sk_op_graph *graph, const struct weights *weights)
{
	enum { COLUMNS = 64 };
	const struct sk_value *from = &weights->numbers;
	const uint64_t shape[3] = {weights->n, weights->blocks, weights->size / 2};
	uint64_t row = shape[1] * shape[2], k = weights->k, n = weights->n;
	uint8_t *to = sk_arena_alloc(graph->arena, n, row);

	if (weights->turned && sk_narrow_bits(from) == 4 && k % 2 == 0) {
		for (uint64_t j = 0; j < n; j++)
			for (uint64_t i = 0; i < k / 2; i++)
				to[j * row + i] = ((const uint8_t *)from->contents)[j * (k / 2) + i] ^
						  (is_signed(from) ? 0x88 : 0);
		return add_constant(graph, from->name, SK_U8, 3, shape, to);
	}
	for (uint64_t first = 0; first < n; first += COLUMNS)
		for (uint64_t p = 0; p < k; p++)
			for (uint64_t j = first; j < n && j < first + COLUMNS; j++)
				to[j * row + p / 2] |=
					(uint8_t)(raised(from, weights->turned ? j * k + p : p * n + j) << p % 2 * 4);
	return add_constant(graph, from->name, SK_U8, 3, shape, to);
}

/* Return the scales as [n * blocks]. */
static uint32_t pack_scales(struct sk_op_graph *graph, const struct weights *weights)
{
	const struct sk_value *from = &weights->scales;
	uint64_t count = weights->n * weights->blocks, size = sk_dtype_size(from->dtype);
	uint8_t *to = sk_arena_alloc(graph->arena, count, size);

	for (uint64_t i = 0; i < count; i++) {
		uint64_t at = i / weights->blocks * weights->column_step + i % weights->blocks * weights->block_step;

		memcpy(to + i * size, (const uint8_t *)from->contents + at * size, size);
	}
	return add_constant(graph, from->name, from->dtype, 1, &count, to);
}

/* Return the zero points as [n, bytes of a column]. NONE: they are 8, as the kernel assumes. */
static uint32_t pack_zeros(struct sk_op_graph *graph, const struct weights *weights)
{
	const struct sk_value *from = &weights->zeros;
	uint64_t row = (weights->blocks + 1) / 2, count = weights->n * row;
	uint8_t *to;

	if (!weights->has_zeros && is_signed(&weights->numbers))
		return SK_NONE;
	to = sk_arena_alloc(graph->arena, count, 1);
	for (uint64_t j = 0; j < weights->n && weights->has_zeros; j++)
		for (uint64_t b = 0; b < weights->blocks; b++)
			to[j * row + b / 2] |=
				(uint8_t)(raised(from, j * weights->column_step + b * weights->block_step)
					  << b % 2 * 4);
	return add_constant(graph, "zeros", SK_U8, 1, &count, to);
}

static void become_product(struct sk_op_graph *graph, struct sk_graph_node *node, const struct weights *weights,
			   uint32_t bias)
{
	const uint32_t numbers = pack_numbers(graph, weights), scales = pack_scales(graph, weights);
	const uint32_t inputs[] = {node->inputs.items[0], numbers, scales, pack_zeros(graph, weights), SK_NONE, bias};
	size_t count = bias != SK_NONE ? 6 : inputs[3] != SK_NONE ? 4 : 3;

	node->origin = node->origin ? node->origin : node->op;
	node->op = "MatMulNBits";
	node->domain = MICROSOFT;
	node->version = 1;
	node->attributes.count = 0;
	sk_node_set_integer(graph, node, "K", (int64_t)weights->k);
	sk_node_set_integer(graph, node, "N", (int64_t)weights->n);
	sk_node_set_integer(graph, node, "bits", 4);
	sk_node_set_integer(graph, node, "block_size", (int64_t)weights->size);
	node->inputs.items = NULL;
	node->inputs.count = node->inputs.capacity = 0;
	for (size_t i = 0; i < count; i++)
		sk_array_push(graph->arena, &node->inputs, inputs[i]);
}

/* True if the Gemm is a product and, perhaps, a constant that is added to its rows. */
static bool is_plain_gemm(const struct sk_op_graph *graph, const struct sk_graph_node *node, uint64_t n)
{
	const struct sk_value *bias = constant_input(graph, node, 2);

	if (sk_node_integer(node, "transA", 0) || sk_node_real(node, "alpha", 1) != 1 || node->version < 7)
		return false;
	if (node->inputs.count < 3 || node->inputs.items[2] == SK_NONE)
		return true;
	return bias && sk_node_real(node, "beta", 1) == 1 && sk_value_elements(bias) == n && bias->rank &&
	       bias->rank <= 2 && bias->shape[bias->rank - 1] == n;
}

static void take_product(struct sk_op_graph *graph, struct sk_graph_node *node)
{
	bool gemm = sk_node_is(node, "Gemm");
	struct weights weights = {.turned = gemm && sk_node_integer(node, "transB", 0)};

	if (!(gemm || sk_node_is(node, "MatMul")) || node->inputs.count < 2 || node->inputs.items[0] == SK_NONE ||
	    !find_weights(graph, node->inputs.items[1], &weights))
		return;
	if (!gemm)
		become_product(graph, node, &weights, SK_NONE);
	else if (is_plain_gemm(graph, node, weights.n))
		become_product(graph, node, &weights, node->inputs.count > 2 ? node->inputs.items[2] : SK_NONE);
}

/* ---- tables ---- */

/* Return rows of 4 bits as rows of bytes, two numbers in each. */
static uint32_t pack_rows(struct sk_op_graph *graph, const struct sk_value *given)
{
	const struct sk_value from = *given;
	uint64_t width = from.shape[from.rank - 1], bytes = (width + 1) / 2, rows = sk_value_elements(&from) / width;
	uint8_t *to = sk_arena_alloc(graph->arena, rows, bytes);
	uint64_t shape[SK_MAX_RANK];

	for (uint64_t i = 0; i < rows; i++)
		for (uint64_t j = 0; j < width; j++)
			to[i * bytes + j / 2] |= (uint8_t)(raised(&from, i * width + j) << j % 2 * 4);
	memcpy(shape, from.shape, sizeof(shape));
	shape[from.rank - 1] = bytes;
	return add_constant(graph, from.name, SK_U8, from.rank, shape, to);
}

/* Zero points that are absent are 8 in the form of bytes, and 0 in that of types of 4 bits. */
static uint32_t no_zeros(struct sk_op_graph *graph, const struct sk_value *scales)
{
	uint64_t shape[SK_MAX_RANK];
	uint8_t *to = sk_arena_alloc(graph->arena, sk_value_elements(scales), 1);

	memcpy(shape, scales->shape, sizeof(shape));
	shape[scales->rank - 1] = (shape[scales->rank - 1] + 1) / 2;
	return add_constant(graph, "zeros", SK_U8, scales->rank, shape, to);
}

static void take_table(struct sk_op_graph *graph, struct sk_graph_node *node)
{
	enum { DATA, INDICES, SCALES, ZEROS };
	const struct sk_value *data = constant_input(graph, node, DATA), *scales = constant_input(graph, node, SCALES);
	const struct sk_value *zeros = constant_input(graph, node, ZEROS);
	bool has_zeros = node->inputs.count > ZEROS && node->inputs.items[ZEROS] != SK_NONE, is_raised;
	uint32_t last = SK_NONE;

	if (strcmp(node->op, "GatherBlockQuantized") || !is_integer(data) || sk_narrow_bits(data) != 4 || !scales ||
	    !data->rank || scales->rank != data->rank || !sk_value_elements(data) || !sk_value_elements(scales) ||
	    data->shape[data->rank - 1] % 2)
		return;
	if (has_zeros && (!is_integer(zeros) || zeros->element != data->element || zeros->rank != data->rank ||
			  !sk_value_elements(zeros)))
		return;
	is_raised = is_signed(data);
	node->inputs.items[DATA] = pack_rows(graph, data);
	if (has_zeros)
		last = pack_rows(graph, constant_input(graph, node, ZEROS));
	else if (!is_raised)
		last = no_zeros(graph, constant_input(graph, node, SCALES));
	node->inputs.count = last == SK_NONE ? node->inputs.count : ZEROS;
	if (last != SK_NONE)
		sk_array_push(graph->arena, &node->inputs, last);
}

/* ---- the graph ---- */

/* Remove nodes that only products have used. Return the uses of values that are left. */
static const uint32_t *remove_unused(struct sk_op_graph *graph)
{
	static const char *const ops[] = {"Transpose", "DequantizeLinear", "Constant", NULL};
	uint32_t *uses = SK_NEW_ARRAY(graph->arena, uint32_t, graph->values.count + 1);

	memcpy(uses, sk_graph_count_uses(graph), graph->values.count * sizeof(*uses));
	for (size_t i = graph->nodes.count; i--;) {
		struct sk_graph_node *node = &graph->nodes.items[i];
		uint32_t output = node->outputs.count == 1 ? node->outputs.items[0] : SK_NONE;

		if (!sk_node_is_one_of(node, ops) || output == SK_NONE || uses[output] ||
		    graph->values.items[output].output)
			continue;
		node->removed = true;
		for (size_t j = 0; j < node->inputs.count; j++)
			if (node->inputs.items[j] != SK_NONE)
				uses[node->inputs.items[j]]--;
	}
	return uses;
}

/* Turn the constants into their numbers. Those that nothing uses become empty. `uses`: NULL: all are used. */
static void widen_all(struct sk_op_graph *graph, const uint32_t *uses)
{
	for (size_t n = 0; n < graph->nodes.count; n++) {
		const struct sk_graph_node *node = &graph->nodes.items[n];

		for (size_t i = 0; i < node->tensors.count && !node->removed; i++)
			if (graph->values.items[node->tensors.items[i].value].packed)
				sk_narrow_widen(graph->arena, &graph->values.items[node->tensors.items[i].value]);
		for (size_t i = 0; i < node->graphs.count; i++)
			widen_all(node->graphs.items[i].graph, NULL);
	}
	for (size_t v = 0; v < graph->values.count; v++) {
		struct sk_value *value = &graph->values.items[v];

		if (value->packed && uses && !uses[v]) {
			value->rank = 1;
			value->shape[0] = 0;
		}
		if (value->packed)
			sk_narrow_widen(graph->arena, value);
	}
}

void sk_graph_take_narrow(struct sk_op_graph *graph)
{
	bool any = false, bodies = false;

	for (size_t v = 0; v < graph->values.count; v++)
		any |= graph->values.items[v].packed;
	for (size_t n = 0; n < graph->nodes.count; n++)
		bodies |= graph->nodes.items[n].graphs.count > 0;
	for (size_t n = 0; n < graph->nodes.count && any; n++) {
		take_product(graph, &graph->nodes.items[n]);
		take_table(graph, &graph->nodes.items[n]);
	}
	if (any || bodies) /* bodies use constants by name */
		widen_all(graph, bodies ? NULL : remove_unused(graph));
}
