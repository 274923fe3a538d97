/* Recurrent networks: RNN, GRU, LSTM. The terms that depend only on the input are one product for all steps. The steps
 * are one call on one sequence after the other, [batch, step, direction, ...], for either layout of the node. */
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/map.h"
#include "base/text.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators.h"

/* The sizes of a node, and the numbers of its inputs and outputs. */
struct cell {
	uint64_t steps, batches, inputs, directions, gates, size;
	bool batch_first, reverse;
	uint32_t functions; /* by direction */
};

enum { X, W, R, BIAS, LENGTHS, INITIAL_H, INITIAL_C, PEEPHOLES, INPUTS };

static uint64_t gates_of(const char *op)
{
	return *op == 'R' ? 1 : *op == 'G' ? 3 : 4;
}

static bool read_direction(const struct sk_inference *inference, struct cell *cell)
{
	const char *direction = sk_node_string(inference->node, "direction", "forward");

	cell->reverse = !strcmp(direction, "reverse");
	cell->directions = 1 + !strcmp(direction, "bidirectional");
	return cell->reverse || cell->directions == 2 || !strcmp(direction, "forward") ||
	       sk_infer_error(inference, "direction '%s' is none of forward, reverse and bidirectional", direction);
}

/* Check that an input, if present, has that shape. */
static bool check_shape(const struct sk_inference *inference, size_t number, enum sk_dtype dtype, uint32_t rank,
			const uint64_t *shape)
{
	const struct sk_value *value = sk_infer_input(inference, number);

	if (!value)
		return true;
	if (value->dtype != dtype)
		return sk_infer_error(inference, "'%s' is %s, not %s", value->name, sk_dtype_name(value->dtype),
				      sk_dtype_name(dtype));
	if (value->rank != rank)
		return sk_infer_error(inference, "'%s' has %u dimension%s, not %u", value->name, value->rank,
				      sk_plural(value->rank), rank);
	for (uint32_t i = 0; i < rank; i++)
		if (value->shape[i] != shape[i])
			return sk_infer_error(inference, "dimension %u of '%s' is %" PRIu64 ", not %" PRIu64, i,
					      value->name, value->shape[i], shape[i]);
	return true;
}

static bool check_shapes(const struct sk_inference *inference, const struct cell *cell)
{
	enum sk_dtype dtype = sk_infer_input(inference, X)->dtype;
	uint64_t d = cell->directions, b = cell->batches, h = cell->size, gates = cell->gates * h;
	const uint64_t initial[3] = {cell->batch_first ? b : d, cell->batch_first ? d : b, h};

	return check_shape(inference, W, dtype, 3, (uint64_t[]){d, gates, cell->inputs}) &&
	       check_shape(inference, R, dtype, 3, (uint64_t[]){d, gates, h}) &&
	       check_shape(inference, BIAS, dtype, 2, (uint64_t[]){d, 2 * gates}) &&
	       check_shape(inference, LENGTHS, SK_I32, 1, &b) && check_shape(inference, INITIAL_H, dtype, 3, initial) &&
	       check_shape(inference, INITIAL_C, dtype, 3, initial) &&
	       check_shape(inference, PEEPHOLES, dtype, 2, (uint64_t[]){d, 3 * h});
}

static bool read_cell(const struct sk_inference *inference, struct cell *cell)
{
	const struct sk_value *x = sk_infer_input(inference, X), *r = sk_infer_input(inference, R);
	int64_t layout = sk_node_integer(inference->node, "layout", 0), size;

	*cell = (struct cell){.gates = gates_of(inference->node->op), .batch_first = layout == 1};
	cell->functions = cell->gates == 1 ? 1 : (uint32_t)cell->gates - 1;
	if (x->rank != 3 || r->rank != 3)
		return sk_infer_error(inference, "'%s' has %u dimension%s, and '%s' %u, not 3", x->name, x->rank,
				      sk_plural(x->rank), r->name, r->rank);
	if (layout != 0 && layout != 1)
		return sk_infer_error(inference, "'layout' is 0 or 1, not %" PRIi64, layout);
	cell->steps = x->shape[cell->batch_first];
	cell->batches = x->shape[!cell->batch_first];
	cell->inputs = x->shape[2];
	cell->size = r->shape[2];
	size = sk_node_integer(inference->node, "hidden_size", (int64_t)cell->size);
	if (size < 1 || (uint64_t)size != cell->size || size > 1 << 28)
		return sk_infer_error(inference, "'hidden_size' is %" PRIi64 ", and '%s' is for %" PRIu64, size,
				      r->name, cell->size);
	return read_direction(inference, cell) && check_shapes(inference, cell);
}

static bool infer_recurrent(struct sk_inference *inference)
{
	enum sk_dtype dtype = sk_infer_input(inference, X)->dtype;
	struct cell cell;

	if (!read_cell(inference, &cell))
		return false;

	uint64_t s = cell.steps, b = cell.batches, d = cell.directions, h = cell.size;
	const uint64_t all[4] = {cell.batch_first ? b : s, cell.batch_first ? s : d, cell.batch_first ? d : b, h};
	const uint64_t last[3] = {cell.batch_first ? b : d, cell.batch_first ? d : b, h};

	return sk_infer_output(inference, 0, dtype, 4, all) && sk_infer_output(inference, 1, dtype, 3, last) &&
	       sk_infer_output(inference, 2, dtype, 3, last);
}

/* ---- activation functions ---- */

struct function {
	const char *name; /* in the numbering of kernels/recurrent.c */
	bool has_alpha, has_beta;
	double alpha, beta;
};

static const struct function functions[] = {
	{"Sigmoid"},
	{"Tanh"},
	{"Relu"},
	{"Affine", true, true, 1, 0},
	{"LeakyRelu", true, .alpha = 0.01},
	{"ThresholdedRelu", true, .alpha = 1},
	{"ScaledTanh", true, true, 1, 1},
	{"HardSigmoid", true, true, 0.2, 0.5},
	{"Elu", true, .alpha = 1},
	{"Softsign"},
	{"Softplus"},
};

enum { FUNCTIONS = sizeof(functions) / sizeof(functions[0]), MAX_FUNCTIONS = 6 };

static int64_t function_number(const char *name)
{
	for (int64_t i = 0; i < FUNCTIONS; i++)
		if (!strcasecmp(functions[i].name, name))
			return i;
	return -1;
}

/* Return the next number of a list, if the function takes one. */
static double next_number(const struct sk_attribute *list, size_t *next, bool takes, double otherwise)
{
	return takes && list && *next < list->count ? list->reals[(*next)++] : otherwise;
}

/* Add the functions and their numbers to the call. */
static bool add_functions(struct sk_canonical *canonical, struct sk_graph_call *call, const struct cell *cell)
{
	static const char *const defaults[] = {"Sigmoid", "Tanh", "Tanh"};
	const struct sk_graph_node *node = &canonical->graph->nodes.items[canonical->node];
	const struct sk_attribute *names = sk_node_attribute(node, "activations");
	const struct sk_attribute *alphas = sk_node_attribute(node, "activation_alpha");
	const struct sk_attribute *betas = sk_node_attribute(node, "activation_beta");
	size_t count = cell->functions * cell->directions, next_alpha = 0, next_beta = 0;
	double alpha[MAX_FUNCTIONS], beta[MAX_FUNCTIONS];
	int64_t numbers[MAX_FUNCTIONS];

	if (names && names->count != count)
		return sk_canonical_error(canonical, "it has %zu activation%s, not %zu", names->count,
					  sk_plural(names->count), count);
	for (size_t i = 0; i < count; i++) {
		const char *name = names	      ? names->strings[i]
				   : cell->gates == 1 ? "Tanh"
						      : defaults[i % cell->functions];

		numbers[i] = function_number(name);
		if (numbers[i] < 0)
			return sk_canonical_error(canonical, "there is no activation '%s'", name);

		const struct function *function = &functions[numbers[i]];

		alpha[i] = next_number(alphas, &next_alpha, function->has_alpha, function->alpha);
		beta[i] = next_number(betas, &next_beta, function->has_beta, function->beta);
	}
	sk_call_integers(canonical, call, "activations", numbers, count);
	sk_call_reals(canonical, call, "activation_alpha", alpha, count);
	sk_call_reals(canonical, call, "activation_beta", beta, count);
	return true;
}

/* ---- rearranged values ---- */

/* Return a value with the elements of another one, rearranged. */
static uint32_t arranged(struct sk_canonical *canonical, uint32_t from, const struct sk_arrangement *arrangement)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_value of = graph->values.items[from];
	uint32_t to = sk_graph_new_value(graph, of.name, of.dtype, arrangement->rank, arrangement->shape);

	sk_canonical_arrange(canonical, sk_operand_flat(graph, to), from, arrangement);
	return to;
}

/* Return [a, b, c] as [b, a, c], unless the node already has its batches first. */
static uint32_t batch_first(struct sk_canonical *canonical, const struct cell *cell, uint32_t from)
{
	const struct sk_value *of = from == SK_NONE ? NULL : &canonical->graph->values.items[from];

	if (!of || cell->batch_first)
		return from;
	return arranged(canonical, from,
			&(struct sk_arrangement){
				.rank = 3,
				.shape = {of->shape[1], of->shape[0], of->shape[2]},
				.strides = {(int64_t)of->shape[2], (int64_t)(of->shape[1] * of->shape[2]), 1}});
}

/* Return the value that the call writes for an output: the output itself, if the node has its batches first, or a value
 * to be rearranged afterwards. */
static uint32_t written(struct sk_canonical *canonical, const struct cell *cell, size_t output)
{
	struct sk_op_graph *graph = canonical->graph;
	uint32_t value = sk_canonical_output(canonical, output);
	const uint64_t all[4] = {cell->batches, cell->steps, cell->directions, cell->size};
	const uint64_t last[3] = {cell->batches, cell->directions, cell->size};

	if (value == SK_NONE || cell->batch_first)
		return value;
	return sk_graph_new_value(graph, graph->values.items[value].name, graph->values.items[value].dtype,
				  output ? 3 : 4, output ? last : all);
}

static void bring_back(struct sk_canonical *canonical, const struct cell *cell, size_t output, uint32_t from)
{
	uint32_t to = sk_canonical_output(canonical, output);
	int64_t h = (int64_t)cell->size, d = (int64_t)cell->directions, s = (int64_t)cell->steps;
	const struct sk_arrangement all = {.rank = 4,
					   .shape = {cell->steps, cell->directions, cell->batches, cell->size},
					   .strides = {d * h, h, s * d * h, 1}};
	const struct sk_arrangement last = {
		.rank = 3, .shape = {cell->directions, cell->batches, cell->size}, .strides = {h, d * h, 1}};

	if (to != from)
		sk_canonical_arrange(canonical, sk_operand_flat(canonical->graph, to), from, output ? &last : &all);
}

/* ---- the calls ---- */

/* Return the terms of the input for all gates of all steps: [batches * steps, directions * gates * size]. */
static uint32_t multiply_inputs(struct sk_canonical *canonical, const struct cell *cell)
{
	struct sk_op_graph *graph = canonical->graph;
	uint32_t x = batch_first(canonical, cell, sk_canonical_input(canonical, X));
	uint64_t rows = cell->batches * cell->steps, columns = cell->directions * cell->gates * cell->size;
	uint32_t to = sk_graph_new_value(graph, "gates", graph->values.items[x].dtype, 2, (uint64_t[]){rows, columns});
	struct sk_graph_call *call = sk_canonical_call(canonical, "MatMul");

	sk_call_integer(canonical, call, "transB", 1);
	sk_call_input(canonical, call, sk_operand_shaped(graph, x, 2, (uint64_t[]){rows, cell->inputs}));
	sk_call_input(
		canonical, call,
		sk_operand_shaped(graph, sk_canonical_input(canonical, W), 2, (uint64_t[]){columns, cell->inputs}));
	sk_call_output(canonical, call, sk_operand_shaped(graph, to, 2, (uint64_t[]){rows, columns}));
	return to;
}

/* Return R [d, gates * h, h] as [d, h, gates * h], so that kernels add rows. */
static uint32_t turned_recurrence(struct sk_canonical *canonical, const struct cell *cell)
{
	uint64_t gates = cell->gates * cell->size;

	return arranged(canonical, sk_canonical_input(canonical, R),
			&(struct sk_arrangement){.rank = 3,
						 .shape = {cell->directions, cell->size, gates},
						 .strides = {(int64_t)(gates * cell->size), 1, (int64_t)cell->size}});
}

static struct sk_operand operand(const struct sk_canonical *canonical, uint32_t value, uint32_t rank,
				 const uint64_t *shape)
{
	return sk_operand_shaped(canonical->graph, value, rank, shape);
}

static bool canonical_recurrent(struct sk_canonical *canonical)
{
	struct sk_op_graph *graph = canonical->graph;
	const struct sk_inference inference = {graph, &graph->nodes.items[canonical->node]};
	const struct sk_graph_node node = *inference.node;
	bool is_lstm = !strcmp(node.op, "LSTM");
	struct cell cell;

	if (!read_cell(&inference, &cell))
		return false;
	if (!cell.steps || !cell.inputs)
		return sk_canonical_error(canonical, "the sequences have no elements");

	uint64_t b = cell.batches, s = cell.steps, d = cell.directions, g = cell.gates, h = cell.size;
	const uint64_t last[3] = {b, d, h};
	uint32_t gates = multiply_inputs(canonical, &cell), turned = turned_recurrence(canonical, &cell);
	uint32_t initial_h = batch_first(canonical, &cell, sk_canonical_input(canonical, INITIAL_H));
	uint32_t initial_c = batch_first(canonical, &cell, sk_canonical_input(canonical, INITIAL_C)), outputs[3];
	struct sk_graph_call *call;

	for (size_t i = 0; i < 3; i++)
		outputs[i] = written(canonical, &cell, i);
	call = sk_canonical_call(canonical, node.op);
	sk_call_integer(canonical, call, "reverse", cell.reverse);
	sk_call_real(canonical, call, "clip", sk_node_real(&node, "clip", 0));
	if (g > 1)
		sk_call_integer(canonical, call, is_lstm ? "input_forget" : "linear_before_reset",
				sk_node_integer(&node, is_lstm ? "input_forget" : "linear_before_reset", 0));
	sk_call_input(canonical, call, operand(canonical, gates, 5, (uint64_t[]){b, s, d, g, h}));
	sk_call_input(canonical, call, operand(canonical, turned, 4, (uint64_t[]){d, h, g, h}));
	sk_call_input(canonical, call,
		      operand(canonical, sk_canonical_input(canonical, BIAS), 4, (uint64_t[]){d, 2, g, h}));
	sk_call_input(canonical, call, operand(canonical, sk_canonical_input(canonical, LENGTHS), 1, &b));
	sk_call_input(canonical, call, operand(canonical, initial_h, 3, last));
	if (is_lstm) {
		sk_call_input(canonical, call, operand(canonical, initial_c, 3, last));
		sk_call_input(canonical, call,
			      operand(canonical, sk_canonical_input(canonical, PEEPHOLES), 3, (uint64_t[]){d, 3, h}));
	}
	sk_call_output(canonical, call, operand(canonical, outputs[0], 4, (uint64_t[]){b, s, d, h}));
	for (size_t i = 1; i < (is_lstm ? 3 : 2); i++)
		sk_call_output(canonical, call, operand(canonical, outputs[i], 3, last));
	if (!add_functions(canonical, call, &cell))
		return false;
	for (size_t i = 0; i < 3; i++)
		bring_back(canonical, &cell, i, outputs[i]);
	return true;
}

/* Before operator set 7 an attribute said whether the outputs of all steps are needed. */
static bool upgrade_recurrent(struct sk_op_graph *graph, struct sk_graph_node *node)
{
	(void)graph;
	sk_node_remove_attribute(node, "output_sequence");
	return true;
}

/* ---- the table ---- */

#define COMMON                                                                                                         \
	{"activation_alpha", SK_ATTRIBUTE_REALS}, {"activation_beta", SK_ATTRIBUTE_REALS},                             \
		{"activations", SK_ATTRIBUTE_STRINGS}, {"clip", SK_ATTRIBUTE_REAL},                                    \
		{"direction", SK_ATTRIBUTE_STRING}, {"hidden_size", SK_ATTRIBUTE_INTEGER},                             \
	{                                                                                                              \
		"layout", SK_ATTRIBUTE_INTEGER                                                                         \
	}

static const struct sk_schema_attribute rnn[] = {COMMON, {NULL}};
static const struct sk_schema_attribute gru[] = {COMMON, {"linear_before_reset", SK_ATTRIBUTE_INTEGER}, {NULL}};
static const struct sk_schema_attribute lstm[] = {COMMON, {"input_forget", SK_ATTRIBUTE_INTEGER}, {NULL}};

const struct sk_schema sk_operators_recurrent[] = {
	{"GRU", "", 3, 6, 0, 2, .attributes = gru, .upgrade = upgrade_recurrent, .infer = infer_recurrent,
	 .canonical = canonical_recurrent},
	{"LSTM", "", 3, 8, 0, 3, .attributes = lstm, .upgrade = upgrade_recurrent, .infer = infer_recurrent,
	 .canonical = canonical_recurrent},
	{"RNN", "", 3, 6, 0, 2, .attributes = rnn, .upgrade = upgrade_recurrent, .infer = infer_recurrent,
	 .canonical = canonical_recurrent},
	{NULL},
};
