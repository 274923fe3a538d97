/* Sizes and elements of values as expressions of dimensions; see operators-parts.h. */
#include <inttypes.h>

#include "base/arena.h"
#include "base/sizes.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators-parts.h"
#include "graph/operators/operators.h"

const struct sk_size *sk_symbolic_size(const struct sk_symbolic *symbolic, const struct sk_value *value, uint32_t d)
{
	return value->sizes[d] ? value->sizes[d] : sk_size_number(symbolic->sizes, (int64_t)value->shape[d]);
}

bool sk_symbolic_has_sizes(const struct sk_value *value)
{
	for (uint32_t d = 0; value->shaped && d < value->rank; d++)
		if (value->sizes[d])
			return true;
	return false;
}

const struct sk_value *sk_symbolic_demanded(const struct sk_symbolic *symbolic, size_t number)
{
	bool demanded = number < 32 && symbolic->schema->demands >> number & 1;

	return demanded ? sk_node_input(symbolic->graph, symbolic->node, number) : NULL;
}

/* The largest numbers end slices, and are never the smaller operand of Min. */
static bool takes_largest(const struct sk_graph_node *node)
{
	static const char *const operators[] = {"Max", "Min", "Slice", NULL};

	return sk_node_is_one_of(node, operators);
}

/* True if the element of a constant is an integer that sizes hold. Larger ones are as good as the limit to operators
 * that only compare them with sizes. */
static bool is_integer(const struct sk_symbolic *symbolic, const struct sk_value *value, const int64_t *integers,
		       uint64_t number, int64_t *integer)
{
	const int64_t limit = INT64_C(1) << 53;
	const char *elements = value->contents;
	double real;

	if (integers) {
		bool held = integers[number] > -limit && integers[number] < limit;

		*integer = held ? integers[number] : integers[number] < 0 ? -limit : limit;
		return held || (value->dtype != SK_U64 && takes_largest(symbolic->node));
	}
	real = sk_element_number(value->dtype, elements + number * sk_dtype_size(value->dtype));
	if (!(real > -0x1p53 && real < 0x1p53))
		return false;
	*integer = (int64_t)real;
	return (double)*integer == real;
}

/* Return the terms of a constant that holds at all sizes. Of reals only those that are integers count. */
static const struct sk_size *const *constant_terms(const struct sk_symbolic *symbolic, const struct sk_value *value,
						   uint64_t count)
{
	const struct sk_size **terms = SK_NEW_ARRAY(symbolic->graph->arena, const struct sk_size *, count + 1);
	const int64_t *integers = NULL;
	int64_t integer;

	if (!sk_value_is_float(value) && !sk_value_integers(symbolic->graph->arena, value, &count, &integers))
		return NULL;
	for (uint64_t i = 0; i < count; i++)
		if (is_integer(symbolic, value, integers, i, &integer))
			terms[i] = sk_size_number(symbolic->sizes, integer);
	return terms;
}

const struct sk_size *const *sk_symbolic_terms(const struct sk_symbolic *symbolic, const struct sk_value *value,
					       uint64_t *count)
{
	*count = sk_value_elements(value);
	if (value->terms || value->varies)
		return value->terms;
	if (!value->contents || sk_symbolic_has_sizes(value) || *count > SK_MOST_TERMS)
		return NULL;
	return constant_terms(symbolic, value, *count);
}

bool sk_symbolic_put(const struct sk_symbolic *symbolic, size_t output, uint32_t d, const struct sk_size *size)
{
	struct sk_value *value = sk_node_output(symbolic->graph, symbolic->node, output);
	struct sk_arena *arena = symbolic->graph->arena;

	if (!size)
		return sk_symbolic_error(symbolic,
					 "dimension %" PRIu32
					 " of its output has no one expression for all sizes; give a number, or say "
					 "that its dimensions are multiples",
					 d);
	if (!value)
		return true;
	if (sk_size_least(size) < 0)
		return sk_symbolic_error(symbolic, "dimension %" PRIu32 " of '%s' is '%s', which can be negative", d,
					 value->name, sk_size_text(arena, size));
	if (!sk_size_grows(size))
		return sk_symbolic_error(symbolic,
					 "dimension %" PRIu32
					 " of '%s' is '%s', which may shrink when a dimension grows; give a number",
					 d, value->name, sk_size_text(arena, size));
	value->sizes[d] = sk_size_is_number(size, NULL) ? NULL : size;
	return true;
}

bool sk_symbolic_is_known(const struct sk_value *value)
{
	if (value->dtype == SK_F16 || value->dtype == SK_BF16)
		return false;
	for (uint64_t i = 0; value->terms && i < sk_value_elements(value); i++)
		if (!value->terms[i])
			return false;
	return value->terms;
}
