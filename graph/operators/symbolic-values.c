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

/* Return the terms of a constant that holds at all sizes. Of reals only those that are integers count. */
static const struct sk_size *const *constant_terms(const struct sk_symbolic *symbolic, const struct sk_value *value,
						   uint64_t count)
{
	const struct sk_size **terms = SK_NEW_ARRAY(symbolic->graph->arena, const struct sk_size *, count + 1);
	const char *element = value->contents;

	for (uint64_t i = 0; i < count; i++, element += sk_dtype_size(value->dtype)) {
		double number = sk_element_number(value->dtype, element);
		int64_t integer;

		if (number > -0x1p53 && number < 0x1p53)
			integer = (int64_t)number;
		else /* the largest numbers end slices */
			integer = number > 0 ? INT64_C(1) << 53 : -(INT64_C(1) << 53);
		if ((double)integer == number || !sk_value_is_float(value))
			terms[i] = sk_size_number(symbolic->sizes, integer);
	}
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
