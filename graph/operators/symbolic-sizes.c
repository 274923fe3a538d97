/* Symbolic inference of one node; see operators.h. */
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/sizes.h"
#include "format/convention.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators-parts.h"
#include "graph/operators/operators.h"

/* True if sizes or elements of an input depend on dimensions with bounds. */
static bool is_symbolic(const struct sk_symbolic *symbolic)
{
	for (size_t i = 0; i < symbolic->node->inputs.count; i++) {
		const struct sk_value *value = sk_node_input(symbolic->graph, symbolic->node, i);

		if (value && (value->varies || sk_symbolic_has_sizes(value)))
			return true;
	}
	return false;
}

/* A node that is expanded becomes the same nodes at all sizes. These operators count elements along an axis. */
static bool check_expansion(const struct sk_symbolic *symbolic)
{
	static const char *const counting[] = {"Scan", "SplitToSequence", NULL};

	return !sk_node_is_one_of(symbolic->node, counting) ||
	       sk_symbolic_error(symbolic, "it becomes nodes for each element of an axis, and its inputs have sizes "
					   "with bounds; give these a number");
}

/* True if the node becomes the same nodes for all values of a demanded input that is an expression: it only compares
 * that with other expressions. */
static bool compares(const struct sk_graph_node *node, const struct sk_value *value)
{
	return !strcmp(node->op, "GroupQueryAttention") && sk_symbolic_is_known(value);
}

/* Return the node that makes the value, also if the value has been computed; NULL: there is none. */
static const struct sk_graph_node *find_maker(const struct sk_op_graph *graph, const struct sk_value *value)
{
	for (size_t n = 0; value && n < graph->nodes.count; n++)
		for (size_t i = 0; i < graph->nodes.items[n].outputs.count; i++)
			if (sk_node_output(graph, &graph->nodes.items[n], i) == value)
				return &graph->nodes.items[n];
	return NULL;
}

/* Return the node that compares, of a condition that may pass through others; NULL: there is none. */
static const struct sk_graph_node *find_comparison(const struct sk_op_graph *graph, const struct sk_value *condition)
{
	static const char *const passing[] = {"Cast", "Identity", "Not", "Squeeze", "Unsqueeze", "Reshape", NULL};
	enum { MOST_DEPTH = 8 };
	const struct sk_graph_node *node = find_maker(graph, condition);

	for (int depth = 0; node && depth < MOST_DEPTH && sk_node_is_one_of(node, passing); depth++)
		node = find_maker(graph, sk_node_input(graph, node, 0));
	return node && sk_node_is(node, "Equal") ? node : NULL;
}

/* Return bounds at which a condition that varies is decided, as an option after a text; "": none are found. Exporters
 * compare a size with 1 before a Squeeze. */
static const char *find_deciding(const struct sk_symbolic *symbolic, const struct sk_value *condition)
{
	const struct sk_graph_node *node = find_comparison(symbolic->graph, condition);

	for (size_t i = 0; i < 2 && node && node->inputs.count == 2; i++) {
		const struct sk_value *value = sk_node_input(symbolic->graph, node, i),
				      *other = sk_node_input(symbolic->graph, node, 1 - i);
		uint64_t count, other_count;
		const struct sk_size *const *terms = value ? sk_symbolic_terms(symbolic, value, &count) : NULL,
					    *const *numbers =
						    other ? sk_symbolic_terms(symbolic, other, &other_count) : NULL;
		int64_t number;
		uint32_t place;
		const struct sk_size_dimension *dimension;

		if (!terms || !numbers || count != 1 || other_count != 1 || !terms[0] || !numbers[0] ||
		    !sk_size_is_number(numbers[0], &number) ||
		    (place = sk_size_lone_dimension(symbolic->sizes, terms[0])) == SK_NONE)
			continue;
		dimension = sk_sizes_dimension(symbolic->sizes, place);
		if ((int64_t)dimension->least != number || dimension->least + 2 * dimension->multiple > dimension->most)
			continue;
		return sk_arena_print(symbolic->graph->arena,
				      ", or bounds that decide it: --dim '%s=%" PRIu64 "..%" PRIu64 "'",
				      dimension->name, dimension->least + dimension->multiple, dimension->most);
	}
	return "";
}

bool sk_symbolic_check(struct sk_op_graph *graph, struct sk_graph_node *node, const struct sk_schema *schema)
{
	const struct sk_symbolic symbolic = {graph, node, schema, graph->sizes};
	bool expands;

	if (!graph->sizes || !is_symbolic(&symbolic))
		return true;
	expands = schema->expand && (!schema->expands || schema->expands(graph, node));
	for (size_t i = 0; i < node->inputs.count; i++) {
		const struct sk_value *value = sk_symbolic_demanded(&symbolic, i);

		if (!value || !value->varies)
			continue;
		if (expands && !compares(node, value))
			return sk_symbolic_error(&symbolic,
						 "%s depends on '%s', which differs from size to size within the "
						 "bounds; give its dimensions numbers%s",
						 sk_node_is(node, "If") ? "which branch is taken" : "its expansion",
						 value->name, find_deciding(&symbolic, value));
		if (!sk_symbolic_is_known(value))
			return sk_symbolic_error(&symbolic,
						 "its shape depends on elements of '%s', which are not one expression "
						 "of dimensions with bounds; give these numbers",
						 value->name);
	}
	return !expands || check_expansion(&symbolic);
}

/* True if elements of the type hold the term without rounding or overflow. */
static bool holds(enum sk_dtype dtype, const struct sk_size *term)
{
	static const uint8_t mantissas[SK_DTYPE_COUNT] = {[SK_F16] = 11, [SK_BF16] = 8, [SK_F32] = 24, [SK_F64] = 53};
	unsigned bits = mantissas[dtype] ? mantissas[dtype] : 8 * (unsigned)sk_dtype_size(dtype) - 1;
	int64_t limit = INT64_C(1) << (bits < 52 ? bits : 52); /* below that of constants that stand for larger ones */

	if (!term || (sk_size_least(term) < 0 && !sk_dtype_is_float(dtype) && !sk_dtype_is_signed(dtype)))
		return false;
	return sk_size_most(term) < limit && sk_size_least(term) > -limit;
}

/* Set the terms of an output. If no input of the node varies, they are numbers, which later nodes may want. */
static void set_terms(const struct sk_symbolic *symbolic, size_t output, bool varies)
{
	struct sk_value *value = sk_node_output(symbolic->graph, symbolic->node, output);
	uint64_t count = sk_value_elements(value);
	const struct sk_size **terms = NULL;
	bool numbers = true, known = false;

	if (!sk_symbolic_has_sizes(value) && count <= SK_MOST_TERMS)
		terms = sk_symbolic_elements(symbolic, output);
	for (uint64_t i = 0; terms && i < count; i++) {
		terms[i] = holds(value->dtype, terms[i]) ? terms[i] : NULL;
		known |= terms[i] != NULL;
		numbers &= terms[i] && sk_size_is_number(terms[i], NULL);
	}
	value->varies = varies && (sk_symbolic_has_sizes(value) || !terms || !numbers);
	value->terms = known ? terms : NULL;
	if (value->varies) {
		value->known = sk_symbolic_contents(symbolic->graph, value);
		value->contents = NULL;
	} else if (varies && !value->contents) {
		value->contents = sk_symbolic_contents(symbolic->graph, value);
	}
}

/* True if no element of the outputs depends on a run. */
static bool is_fixed(const struct sk_symbolic *symbolic)
{
	static const char *const measures[] = {"Shape", "Size", NULL};

	for (size_t i = 0; i < symbolic->node->inputs.count; i++) {
		const struct sk_value *value = sk_node_input(symbolic->graph, symbolic->node, i);

		if (value && !value->contents && !value->fixed && !value->varies &&
		    !sk_node_is_one_of(symbolic->node, measures))
			return false;
	}
	return true;
}

bool sk_symbolic_explain(struct sk_op_graph *graph, struct sk_graph_node *node, const struct sk_schema *schema,
			 const struct sk_diag *before)
{
	const struct sk_symbolic symbolic = {graph, node, schema, graph->sizes};

	if (!graph->sizes || !is_symbolic(&symbolic) ||
	    (!sk_symbolic_is_broadcast(node) && !sk_symbolic_fits(&symbolic)))
		return false;
	sk_diag_take_back(graph->diag, before);
	return sk_symbolic_shapes(&symbolic) && sk_symbolic_compare(&symbolic);
}

/* Return the sizes of the graph or, where no dimension has bounds, some for numbers alone. */
static struct sk_sizes *sizes_of(struct sk_op_graph *graph)
{
	if (!graph->sizes && !graph->numbers)
		graph->numbers = sk_sizes_create(graph->arena);
	return graph->sizes ? graph->sizes : graph->numbers;
}

bool sk_symbolic_infer(struct sk_op_graph *graph, struct sk_graph_node *node, const struct sk_schema *schema)
{
	const struct sk_symbolic symbolic = {graph, node, schema, sizes_of(graph)};

	if (sk_node_is(node, "sklink:Sizes")) /* it has its terms */
		return true;

	bool varies = graph->sizes && is_symbolic(&symbolic);

	if (varies && !sk_symbolic_shapes(&symbolic))
		return false;
	for (size_t i = 0; i < node->outputs.count && is_fixed(&symbolic); i++)
		if (node->outputs.items[i] != SK_NONE)
			set_terms(&symbolic, i, varies);
	return !varies || sk_symbolic_compare(&symbolic);
}

/* True if all elements are numbers, and their bits are known. */
static bool has_numbers(const struct sk_value *value)
{
	int64_t integer;

	if (value->varies || !sk_symbolic_is_known(value))
		return false;
	for (uint64_t i = 0; i < sk_value_elements(value); i++)
		if (!sk_size_is_number(value->terms[i], &integer) || (!integer && sk_value_is_float(value)))
			return false; /* a zero of reals may be negative */
	return true;
}

bool sk_symbolic_constant(struct sk_op_graph *graph, uint32_t index)
{
	const struct sk_value *value = &graph->values.items[index];
	const bool empty = !value->varies && !sk_value_elements(value);

	if (!empty && !has_numbers(value))
		return false;
	sk_graph_make_constant(graph, index, empty ? "" : sk_symbolic_contents(graph, value));
	return true;
}
