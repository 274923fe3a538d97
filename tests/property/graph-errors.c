/* What errors of a node's inputs do to its outputs, so that a chain of nodes of which only the ends are seen can be
 * held to what all of it means. A function is computed once more at the corners of where its inputs may be; which is
 * enough where it rises or falls in each of them. A NaN as error is one without bounds. */
#include "tests/property/random-graph.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char corners[] = " Abs Neg Relu Ceil Floor Round Sqrt Reciprocal Exp Log Tanh Sigmoid Softplus Erf IsNaN "
			      "Identity Add Sub Mul Div Pow "
			      "Max Min Sum Mean Where Clip Cast QuantizeLinear DequantizeLinear Reshape Flatten "
			      "Squeeze Unsqueeze Transpose Slice "
			      "Concat Split Expand Tile ReduceSum ReduceMean ReduceMax ReduceMin ";

static const char products[] = " MatMul Gemm Conv ";

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

/* Whatever the element of the denominator is divided by may be 0. */
static bool may_vanish(const struct graph_node *node, uint32_t input, const struct graph_value *value, int64_t i)
{
	return !strcmp(node->op, input ? "Div" : "Reciprocal") && value->error[i] >= fabsl(value->elements[i]);
}

/* The values of the inputs at a corner, in a graph of their own. */
static void move_inputs(const struct graph *graph, const struct graph_node *node, uint32_t signs, struct graph *moved)
{
	uint32_t turned = 0;

	for (uint32_t k = 0; k < node->input_count; k++) {
		const struct graph_value *value = &graph->values[node->inputs[k]];
		number *elements = moved->values[node->inputs[k]].elements;
		bool minus = signs >> (turned < MOST_TURNED ? turned : MOST_TURNED - 1) & 1;

		if (elements == value->elements)
			continue;
		turned++;
		for (int64_t i = 0; i < value->count; i++) {
			number error = value->error[i];

			if (value->dtype == SK_BOOL)
				elements[i] = minus && error != 0 ? 1 - value->elements[i] : value->elements[i];
			else if (isinf(error) || isnan(error) || (error != 0 && may_vanish(node, k, value, i)))
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
			number off = found[i] == expected[i] ? 0 : fabsl(found[i] - expected[i]);

			most[i] = isnan(off) || isinf(own[i]) ? HUGE_VALL : fmaxl(most[i], off);
		}
	}
	for (int64_t i = 0; i < count; i++)
		room[i] += most[i];
	free(found);
	free(own);
	free(most);
}

/* Products are farthest from what they are where all signs are the same. */
static void spread_product(const struct graph *graph, const struct graph_node *node, struct graph *moved, number *room)
{
	int64_t count = graph->values[node->outputs[0]].count;
	number *most = calloc((size_t)count + 1, sizeof(number)), *own = calloc((size_t)count + 1, sizeof(number));

	if (!most || !own)
		abort();
	for (uint32_t with = 0; with < 2; with++) {
		for (uint32_t k = 0; k < node->input_count; k++) {
			const struct graph_value *value = &graph->values[node->inputs[k]];
			number *elements = moved->values[node->inputs[k]].elements;

			for (int64_t i = 0; i < value->count; i++)
				elements[i] = fabsl(value->elements[i]) + (with && value->error ? value->error[i] : 0);
		}
		graph_reference(moved, node, 0, most, own);
		for (int64_t i = 0; i < count; i++)
			room[i] = isfinite(most[i]) ? room[i] + (with ? most[i] : -most[i]) : HUGE_VALL;
	}
	free(most);
	free(own);
}

/* A quotient of exponentials: relative, and twice what an element of the row may be off. */
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
			room[k] = isinf(most) ? HUGE_VALL : room[k] + expected[k] * expm1l(2 * most);
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
	bool product = is_in(products, node->op);
	struct graph *moved = malloc(sizeof(*moved));

	if (!moved)
		abort();
	*moved = *graph;
	for (uint32_t k = 0; k < node->input_count; k++) {
		struct graph_value *value = &moved->values[node->inputs[k]];

		if (value->elements == graph->values[node->inputs[k]].elements && (product || !is_certain(value)))
			value->elements = calloc((size_t)value->count + 1, sizeof(number));
	}
	if (product)
		spread_product(graph, node, moved, room);
	else
		spread_corners(graph, node, output, moved, expected, room);
	for (uint32_t k = 0; k < node->input_count; k++) {
		struct graph_value *value = &moved->values[node->inputs[k]];

		if (value->elements != graph->values[node->inputs[k]].elements) {
			free(value->elements);
			value->elements = graph->values[node->inputs[k]].elements;
		}
	}
	free(moved);
}

void graph_spread(const struct graph *graph, const struct graph_node *node, uint32_t output, const number *expected,
		  number *room)
{
	const struct graph_value *x = &graph->values[node->inputs[0]], *y = &graph->values[node->outputs[output]];
	bool is_softmax = !strcmp(node->op, "Softmax") && node->axis == x->rank - 1;
	uint32_t certain = 0;

	/* A bias that is added to it may be rounded to steps of the scale. */
	for (int64_t i = 0; is_in(" sklink:QuantBatchMatmul ", node->op) && i < y->count; i++)
		room[i] += fabsl(graph->values[node->inputs[2]].elements[i % y->shape[1]]) / 2;
	while (certain < node->input_count && is_certain(&graph->values[node->inputs[certain]]))
		certain++;
	if (certain == node->input_count || !y->count)
		return;
	if (is_softmax)
		spread_softmax(graph, node, expected, room);
	else if (is_in(products, node->op) ||
		 (is_in(corners, node->op) && (is_float(y->dtype) || !is_lost(graph, node))))
		spread_moved(graph, node, output, expected, room);
	else
		spread_all(graph, node, output, room);
	/* What is farther away is rounded to coarser units. */
	for (int64_t i = 0; is_float(y->dtype) && i < y->count; i++)
		if (isfinite(expected[i]) && isfinite(room[i]))
			room[i] += 0.501L * (graph_unit(y->dtype, fabsl(expected[i]) + room[i]) -
					     graph_unit(y->dtype, expected[i]));
}
