/* Propagates errors of a node's inputs to its outputs, so that a chain of nodes of which only the ends are known can be
 * compared with its definition. A function is computed once more at the corners of the ranges of its inputs, which
 * suffices if it is monotonic in each of them. A NaN as error means an error without bounds. Each bound is tested with
 * inputs that are drawn from within their errors. */
#include "tests/property/random-graph.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/random.h"

/* Operators that rise or fall in each input, for all types. */
static const char orders[] = " Relu IsNaN Identity Max Min Where Clip QuantizeLinear Reshape Flatten Squeeze Unsqueeze "
			     "Transpose Slice Concat Split Expand Tile ReduceMax ReduceMin ";

/* Operators that do so for floats only: whole numbers wrap around. */
static const char functions[] =
	" Abs Neg Ceil Floor Round Sqrt Reciprocal Exp Log Tanh Sigmoid Softplus Erf Add Sub Mul "
	"Div Pow Cast DequantizeLinear ";

/* Operators that add floats or products of floats. */
static const char sums[] = " Sum Mean ReduceSum ReduceMean MatMul Gemm Conv ";

enum { MOST_TURNED = 3 /* inputs with a sign each; more have the same one */ };

static bool is_in(const char *words, const char *op)
{
	char word[64];

	snprintf(word, sizeof(word), " %s ", op);
	return strstr(words, word);
}

static bool is_float(enum sk_dtype dtype)
{
	return dtype == SK_F16 || dtype == SK_BF16 || dtype == SK_F32 || dtype == SK_F64;
}

static bool is_certain(const struct graph_value *value)
{
	for (int64_t i = 0; value->error && i < value->count; i++)
		if (value->error[i] != 0)
			return false;
	return true;
}

static bool has_certain_inputs(const struct graph *graph, const struct graph_node *node)
{
	for (uint32_t k = 0; k < node->input_count; k++)
		if (!is_certain(&graph->values[node->inputs[k]]))
			return false;
	return true;
}

static bool may_be_negative(const struct graph_value *value)
{
	for (int64_t i = 0; i < value->count; i++)
		if (value->elements[i] < (value->error ? value->error[i] : 0))
			return true;
	return false;
}

/* Return whether the element is a denominator, or the base of a negative power, that may be 0. */
static bool may_vanish(const struct graph *graph, const struct graph_node *node, uint32_t input, int64_t i)
{
	const struct graph_value *value = &graph->values[node->inputs[input]];

	return value->error[i] >= fabsl(value->elements[i]) &&
	       (!strcmp(node->op, input ? "Div" : "Reciprocal") ||
		(!strcmp(node->op, "Pow") && !input && may_be_negative(&graph->values[node->inputs[1]])));
}

/* Return a graph with copies of the node's inputs, which may be moved. */
static struct graph *copy_inputs(const struct graph *graph, const struct graph_node *node)
{
	struct graph *moved = malloc(sizeof(*moved));

	if (!moved)
		abort();
	*moved = *graph;
	for (uint32_t k = 0; k < node->input_count; k++) {
		const struct graph_value *value = &graph->values[node->inputs[k]];
		number **elements = &moved->values[node->inputs[k]].elements;

		if (*elements != value->elements)
			continue; /* an input that occurs twice */
		*elements = calloc((size_t)value->count + 1, sizeof(number));
		if (!*elements)
			abort();
		memcpy(*elements, value->elements, (size_t)value->count * sizeof(number));
	}
	return moved;
}

static void free_inputs(const struct graph *graph, const struct graph_node *node, struct graph *moved)
{
	for (uint32_t k = 0; k < node->input_count; k++) {
		number **elements = &moved->values[node->inputs[k]].elements;

		if (*elements != graph->values[node->inputs[k]].elements)
			free(*elements);
		*elements = graph->values[node->inputs[k]].elements;
	}
	free(moved);
}

/* The values of the inputs at a corner. */
static void move_inputs(const struct graph *graph, const struct graph_node *node, uint32_t signs, struct graph *moved)
{
	uint32_t turned = 0;

	for (uint32_t k = 0; k < node->input_count; k++) {
		const struct graph_value *value = &graph->values[node->inputs[k]];
		number *elements = moved->values[node->inputs[k]].elements;
		bool minus = signs >> (turned < MOST_TURNED ? turned : MOST_TURNED - 1) & 1;

		if (is_certain(value))
			continue;
		turned++;
		for (int64_t i = 0; i < value->count; i++) {
			number error = value->error[i];

			if (value->dtype == SK_BOOL)
				elements[i] = minus && error != 0 ? 1 - value->elements[i] : value->elements[i];
			else if (isinf(error) || isnan(error) || (error != 0 && may_vanish(graph, node, k, i)))
				elements[i] = (number)NAN;
			else
				elements[i] = value->elements[i] + (minus ? -error : error);
		}
	}
}

static void spread_corners(const struct graph *graph, const struct graph_node *node, uint32_t output,
			   struct graph *moved, const number *expected, number *room)
{
	int64_t count = graph->values[node->outputs[output]].count;
	number *found = calloc((size_t)count + 1, sizeof(number)), *own = calloc((size_t)count + 1, sizeof(number));
	number *most = calloc((size_t)count + 1, sizeof(number));

	if (!found || !own || !most)
		abort();
	for (uint32_t signs = 0; signs < 1 << MOST_TURNED; signs++) {
		move_inputs(graph, node, signs, moved);
		graph_reference(moved, node, output, found, own);
		for (int64_t i = 0; i < count; i++) {
			number off = found[i] == expected[i] ? own[i] : fabsl(found[i] - expected[i]) + own[i];

			most[i] = isnan(off) ? HUGE_VALL : fmaxl(most[i], off);
		}
	}
	for (int64_t i = 0; i < count; i++)
		room[i] = fmaxl(room[i], most[i]);
	free(found);
	free(own);
	free(most);
}

/* Errors and roundings of a sum of products are largest where all terms have the same sign. This includes the signs of
 * Gemm's factors. */
static void spread_sum(const struct graph *graph, const struct graph_node *node, struct graph *moved, number *room)
{
	int64_t count = graph->values[node->outputs[0]].count;
	number *most = calloc((size_t)count + 1, sizeof(number)), *own = calloc((size_t)count + 1, sizeof(number));
	struct graph_node positive = *node;

	if (!most || !own)
		abort();
	positive.alpha = fabs(node->alpha);
	positive.beta = fabs(node->beta);
	for (int sign = -1; sign <= 1; sign += 2) {
		for (uint32_t k = 0; k < node->input_count; k++) {
			const struct graph_value *value = &graph->values[node->inputs[k]];
			number *elements = moved->values[node->inputs[k]].elements;

			for (int64_t i = 0; i < value->count; i++)
				elements[i] =
					fabsl(value->elements[i]) + (sign > 0 && value->error ? value->error[i] : 0);
		}
		graph_reference(moved, &positive, 0, most, own);
		for (int64_t i = 0; i < count; i++)
			room[i] = isfinite(most[i] + own[i]) ? room[i] + sign * (most[i] + own[i]) : HUGE_VALL;
	}
	free(most);
	free(own);
}

/* A quotient of exponentials: the error is relative, and twice the largest error of an element of the row. */
static void spread_softmax(const struct graph *graph, const struct graph_node *node, const number *expected,
			   number *room)
{
	const struct graph_value *x = &graph->values[node->inputs[0]];
	int64_t row = x->shape[x->rank - 1];

	for (int64_t at = 0; at < x->count; at += row) {
		number most = 0;

		for (int64_t k = at; k < at + row; k++)
			most = isnan(x->error[k]) ? HUGE_VALL : fmaxl(most, x->error[k]);
		for (int64_t k = at; k < at + row; k++)
			room[k] = isinf(most) ? HUGE_VALL : room[k] + (room[k] + expected[k]) * expm1l(2 * most);
	}
}

static void spread_all(const struct graph *graph, const struct graph_node *node, uint32_t output, number *room)
{
	for (int64_t i = 0; i < graph->values[node->outputs[output]].count; i++)
		room[i] = HUGE_VALL;
}

/* Whole numbers that come of errors without bounds are any. */
static bool is_lost(const struct graph *graph, const struct graph_node *node)
{
	for (uint32_t k = 0; k < node->input_count; k++) {
		const struct graph_value *value = &graph->values[node->inputs[k]];

		for (int64_t i = 0; value->error && i < value->count; i++)
			if (!isfinite(value->error[i]))
				return true;
	}
	return false;
}

static void spread_moved(const struct graph *graph, const struct graph_node *node, uint32_t output,
			 const number *expected, number *room)
{
	struct graph *moved = copy_inputs(graph, node);

	if (is_in(sums, node->op))
		spread_sum(graph, node, moved, room);
	else
		spread_corners(graph, node, output, moved, expected, room);
	free_inputs(graph, node, moved);
}

/* Return whether the output is farthest from its place at a corner of the inputs. */
static bool has_corners(const struct graph *graph, const struct graph_node *node, const struct graph_value *y)
{
	if (!is_float(y->dtype) && is_lost(graph, node))
		return false;
	if (!strcmp(node->op, "Cast") && is_float(graph->values[node->inputs[0]].dtype) && y->dtype != SK_BOOL)
		return true;
	return is_in(orders, node->op) || (is_float(y->dtype) && (is_in(functions, node->op) || is_in(sums, node->op)));
}

void graph_spread(const struct graph *graph, const struct graph_node *node, uint32_t output, const number *expected,
		  number *room)
{
	const struct graph_value *x = &graph->values[node->inputs[0]], *y = &graph->values[node->outputs[output]];
	bool is_softmax = !strcmp(node->op, "Softmax") && node->axis == x->rank - 1;

	/* A bias that is added to it may be rounded to steps of the scale. */
	for (int64_t i = 0; is_in(" sklink:QuantBatchMatmul ", node->op) && i < y->count; i++)
		room[i] += fabsl(graph->values[node->inputs[2]].elements[i % y->shape[1]]) / 2;
	if (has_certain_inputs(graph, node) || !y->count)
		return;
	if (is_softmax)
		spread_softmax(graph, node, expected, room);
	else if (has_corners(graph, node, y))
		spread_moved(graph, node, output, expected, room);
	else
		spread_all(graph, node, output, room);
	/* A fused kernel may multiply by the reciprocal of a denominator, which it rounds first. */
	if (!strcmp(node->op, "Div") && is_float(y->dtype) && !is_certain(&graph->values[node->inputs[1]]))
		for (int64_t i = 0; i < y->count; i++)
			room[i] += 0.501L * fabsl(expected[i]) * graph_unit(y->dtype, 1);
	/* A value farther away is rounded to coarser units. */
	for (int64_t i = 0; is_float(y->dtype) && i < y->count; i++)
		if (isfinite(expected[i]) && isfinite(room[i]))
			room[i] += 0.501L * (graph_unit(y->dtype, fabsl(expected[i]) + room[i]) -
					     graph_unit(y->dtype, expected[i]));
}

/* Return a number of the type, not farther from the element than its error; NaN or 0 if that has no bounds. */
static number draw_near(const struct graph_value *value, int64_t i, uint64_t *random)
{
	number drawn = value->elements[i], error = value->error[i], held;
	number part = random_below(random, 2) ? 1 : ldexpl(random_below(random, 1 << 20), -20);
	uint64_t bits = 0;

	if (!isfinite(error))
		return is_float(value->dtype) && random_below(random, 2) ? (number)NAN : 0;
	part *= random_below(random, 2) ? error : -error;
	if (is_float(value->dtype))
		return drawn + part;
	if (value->dtype == SK_BOOL)
		return part > 0 ? 1 - drawn : drawn;
	part = drawn + truncl(part);
	graph_encode(value->dtype, &part, 1, &bits);
	graph_decode(value->dtype, &bits, 1, &held);
	return held == part ? part : drawn;
}

int64_t graph_outside(const struct graph *graph, const struct graph_node *node, uint32_t output, const number *expected,
		      const number *room)
{
	int64_t count = graph->values[node->outputs[output]].count, outside = -1;
	uint64_t random = graph->seed * GRAPH_NODES + (uint64_t)(node - graph->nodes);
	number *found, *own;
	struct graph *moved;

	if (has_certain_inputs(graph, node))
		return -1;
	found = calloc((size_t)count + 1, sizeof(number));
	own = calloc((size_t)count + 1, sizeof(number));
	moved = copy_inputs(graph, node);
	if (!found || !own)
		abort();
	for (uint32_t k = 0; k < node->input_count; k++) {
		const struct graph_value *value = &graph->values[node->inputs[k]];

		for (int64_t i = 0; value->error && i < value->count; i++)
			if (value->error[i] != 0)
				moved->values[node->inputs[k]].elements[i] = draw_near(value, i, &random);
	}
	graph_reference(moved, node, output, found, own);
	for (int64_t i = 0; outside < 0 && i < count; i++) {
		bool is_same = found[i] == expected[i] || (isnan(found[i]) && isnan(expected[i]));
		number off = (is_same ? 0 : fabsl(found[i] - expected[i])) + own[i];

		if (room[i] != HUGE_VALL && !isnan(room[i]) && !(off <= room[i] * (1 + 0x1p-8L)))
			outside = i;
	}
	free_inputs(graph, node, moved);
	free(found);
	free(own);
	return outside;
}
