/* Building blocks of the operators' inference; see graph.h. */
#include "graph/graph.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"
#include "format/skplan.h"

bool sk_infer_error(const struct sk_inference *inference, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	sk_node_error(inference->graph, inference->node, "%s",
		      sk_arena_print_list(inference->graph->arena, format, args));
	va_end(args);
	return false;
}

const struct sk_value *sk_infer_input(const struct sk_inference *inference, size_t number)
{
	return sk_node_input(inference->graph, inference->node, number);
}

/* Shapes that a file declares may be stale: tools that change a model do not update them. */
static void warn_of_declaration(const struct sk_inference *inference, const struct sk_value *value, const char *shape)
{
	struct sk_arena *arena = inference->graph->arena;

	sk_warning_alike(inference->graph->diag, value->place,
			 value->output ? sk_arena_print(arena, "shape of output %s", value->name) : "shapes of values",
			 sk_arena_print(arena, "%s '%s'", value->output ? "output" : "value", value->name),
			 "its shape is %s, and not %s as the model declares", shape,
			 sk_partial_shape_text(arena, value->rank, value->shape));
}

bool sk_infer_output(const struct sk_inference *inference, size_t number, enum sk_dtype dtype, uint32_t rank,
		     const uint64_t *shape)
{
	struct sk_value *value = sk_node_output(inference->graph, inference->node, number);
	struct sk_arena *arena = inference->graph->arena;

	if (!value)
		return true;
	if (rank > SK_MAX_RANK)
		return sk_infer_error(inference, "output '%s' has %" PRIu32 " dimensions, and a tensor has %d at most",
				      value->name, rank, SK_MAX_RANK);
	if (!sk_shape_is_countable(dtype, rank, shape))
		return sk_infer_error(inference, "output '%s' is %s, which is larger than 2^63 bytes", value->name,
				      sk_partial_shape_text(arena, rank, shape));
	if (value->dtype != SK_DTYPE_NONE && value->dtype != dtype)
		return sk_infer_error(inference, "output '%s' is %s, but the model says %s", value->name,
				      sk_dtype_name(dtype), sk_dtype_name(value->dtype));
	if (!sk_value_admits(value, rank, shape))
		warn_of_declaration(inference, value, sk_partial_shape_text(arena, rank, shape));
	value->dtype = dtype;
	value->shaped = true;
	value->rank = rank;
	if (rank)
		memcpy(value->shape, shape, rank * sizeof(*shape));
	return true;
}

bool sk_infer_same_types(const struct sk_inference *inference, size_t a, size_t b)
{
	const struct sk_value *one = sk_infer_input(inference, a), *other = sk_infer_input(inference, b);

	return !other || one->dtype == other->dtype ||
	       sk_infer_error(inference, "'%s' is %s, and '%s' is %s", one->name, sk_dtype_name(one->dtype),
			      other->name, sk_dtype_name(other->dtype));
}

bool sk_infer_one_type(const struct sk_inference *inference)
{
	for (size_t i = 1; i < inference->node->inputs.count; i++)
		if (!sk_infer_same_types(inference, 0, i))
			return false;
	return true;
}

bool sk_infer_like(const struct sk_inference *inference, size_t output, size_t input)
{
	const struct sk_value *value = sk_infer_input(inference, input);

	return sk_infer_output(inference, output, value->dtype, value->rank, value->shape);
}

bool sk_infer_broadcast(const struct sk_inference *inference, uint32_t *rank, uint64_t *shape, uint32_t other_rank,
			const uint64_t *other)
{
	uint64_t both[SK_MAX_RANK];
	uint32_t both_rank = *rank > other_rank ? *rank : other_rank;

	for (uint32_t i = 0; i < both_rank; i++) {
		uint64_t a = i + *rank < both_rank ? 1 : shape[i + *rank - both_rank];
		uint64_t b = i + other_rank < both_rank ? 1 : other[i + other_rank - both_rank];

		if (a != b && a != 1 && b != 1)
			return sk_infer_error(inference, "%s and %s cannot be broadcast to one shape",
					      sk_partial_shape_text(inference->graph->arena, *rank, shape),
					      sk_partial_shape_text(inference->graph->arena, other_rank, other));
		both[i] = a == 1 ? b : a;
	}
	*rank = both_rank;
	memcpy(shape, both, both_rank * sizeof(*both));
	return true;
}

bool sk_infer_common_shape(const struct sk_inference *inference, enum sk_dtype dtype)
{
	uint64_t shape[SK_MAX_RANK];
	uint32_t rank = 0;

	for (size_t i = 0; i < inference->node->inputs.count; i++) {
		const struct sk_value *value = sk_infer_input(inference, i);

		if (value && !sk_infer_broadcast(inference, &rank, shape, value->rank, value->shape))
			return false;
	}
	return sk_infer_output(inference, 0, dtype, rank, shape);
}

bool sk_infer_axis(const struct sk_inference *inference, int64_t axis, uint32_t rank, uint32_t *counted)
{
	if (axis < -(int64_t)rank || axis >= (int64_t)rank)
		return sk_infer_error(inference, "there is no axis %" PRIi64 " in a tensor of %" PRIu32 " dimension%s",
				      axis, rank, sk_plural(rank));
	*counted = (uint32_t)(axis < 0 ? axis + rank : axis);
	return true;
}

bool sk_infer_order(const struct sk_inference *inference, const char *name, uint32_t rank, uint32_t *order)
{
	size_t count;
	const int64_t *given = sk_node_integers(inference->node, name, &count);
	uint32_t seen = 0;

	if (!given)
		return true;
	for (size_t i = 0; i < count && count == rank; i++) {
		order[i] = (uint32_t)given[i];
		seen |= given[i] >= 0 && given[i] < (int64_t)rank ? 1U << given[i] : 0;
	}
	return (count == rank && seen == (1U << rank) - 1) ||
	       sk_infer_error(inference, "'%s' is not an order of %u axes", name, rank);
}

bool sk_infer_integers(const struct sk_inference *inference, size_t number, uint64_t *count, const int64_t **integers)
{
	const struct sk_value *value = sk_infer_input(inference, number);

	*count = 0;
	*integers = NULL;
	if (value && !sk_value_known(value))
		return sk_infer_error(inference, "the elements of input '%s' are not known when linking", value->name);
	return !value || sk_value_integers(inference->graph->arena, value, count, integers) ||
	       sk_infer_error(inference, "input '%s' is %s, and integers are wanted", value->name,
			      sk_dtype_name(value->dtype));
}

bool sk_infer_integer(const struct sk_inference *inference, size_t number, int64_t otherwise, int64_t *integer)
{
	const int64_t *integers;
	uint64_t count;

	if (!sk_infer_integers(inference, number, &count, &integers))
		return false;
	if (integers && count != 1)
		return sk_infer_error(inference, "'%s' is not one number", sk_infer_input(inference, number)->name);
	*integer = integers ? integers[0] : otherwise;
	return true;
}

bool sk_infer_constant(const struct sk_inference *inference, size_t number, enum sk_dtype dtype, uint32_t rank,
		       const uint64_t *shape, const void *elements)
{
	struct sk_value *value = sk_node_output(inference->graph, inference->node, number);

	if (!sk_infer_output(inference, number, dtype, rank, shape))
		return false;
	if (value)
		value->contents = sk_arena_copy(inference->graph->arena, elements,
						sk_value_elements(value) * sk_dtype_size(dtype));
	return true;
}
