/* Shapes of views are not in the plan, so extents are found again from what is there: the extent that a step divides,
 * scalars that have an extent's name, and the bytes of tensors, each of which is a product of extents. Then, what the
 * signature makes of them. */
#include "src/proof/call-check.h"

#include <inttypes.h>

#include "src/base/checked.h"

struct product {
	uint64_t known; /* of the factors that are known; 0: it is too large */
	uint32_t open, open_count; /* one of the extents that are not known, and how many factors they are */
};

/* Of the dimensions from `first` on. */
static struct product product_of(const struct sk_calls *calls, const struct sk_parameter *parameter, uint32_t first)
{
	struct product product = {.known = 1, .open = SK_NONE};

	for (uint32_t d = first; d < parameter->rank; d++) {
		const struct sk_extent *extent = &parameter->extents[d];
		uint64_t sum = extent->more ? sk_call_dimension(calls, extent) : 0;

		if (extent->more) {
			product.open_count += sum ? 0 : 2; /* it tells none of its extents */
			if (!sk_mul(product.known, sum ? sum : 1, &product.known))
				return (struct product){.open = SK_NONE};
			continue;
		}
		if (!sk_mul(product.known, extent->constant, &product.known))
			return (struct product){.open = SK_NONE};
		for (uint32_t i = 0; i < extent->name_count; i++) {
			uint64_t value = calls->extents[extent->names[i]];

			product.open = value ? product.open : extent->names[i];
			product.open_count += !value;
			if (!sk_mul(product.known, value ? value : 1, &product.known))
				return (struct product){.open = SK_NONE};
		}
	}
	return product;
}

/* What is known of so many elements in the dimensions from `first` on: they leave one extent open, which they tell.
 * True if one did. */
static bool learn_factor(struct sk_calls *calls, const struct sk_parameter *parameter, uint32_t first,
			 uint64_t elements)
{
	struct product product = product_of(calls, parameter, first);

	if (!product.known || product.open_count != 1 || elements % product.known || elements == 0)
		return false;
	calls->extents[product.open] = elements / product.known;
	return true;
}

/* The elements of a row; 0: it is not in rows. */
static uint64_t row_of(const struct sk_calls *calls, const struct sk_plan_argument *argument)
{
	struct sk_rows rows = sk_plan_rows(calls->view, argument);

	return rows.count > 1 ? rows.width / sk_dtype_size(argument->dtype) : 0;
}

static bool learn_extent(struct sk_calls *calls)
{
	for (uint32_t i = 0; i < calls->signature->parameter_count; i++) {
		const struct sk_parameter *parameter = &calls->signature->parameters[i];

		if (parameter->kind != SK_PARAMETER_TENSOR)
			continue;

		const struct sk_plan_argument *argument = sk_call_argument(calls, i);
		uint64_t row = row_of(calls, argument);

		if (learn_factor(calls, parameter, 0, sk_call_elements(calls, argument)) ||
		    (row && learn_factor(calls, parameter, parameter->row_dimension, row)))
			return true;
	}
	return false;
}

/* As many elements as the extents say; where some are not known, their number is a factor. */
static bool check_elements(struct sk_calls *calls, uint32_t number, uint32_t first, uint64_t elements)
{
	struct product product = product_of(calls, &calls->signature->parameters[number], first);

	if (product.known && (product.open_count ? elements % product.known == 0 : elements == product.known))
		return true;
	return sk_call_disagree(calls, "%s%s %" PRIu64 " elements, %s%" PRIu64, sk_call_parameter_text(calls, number),
				first ? " has rows of" : " has", elements,
				product.open_count ? "no multiple of " : "not ", product.known);
}

/* Rows without gaps lie one row apart, where that is known. */
static bool check_stride(struct sk_calls *calls, uint32_t number)
{
	const struct sk_parameter *parameter = &calls->signature->parameters[number];
	const struct sk_plan_argument *argument = sk_call_argument(calls, number);
	struct product product;

	if (parameter->stride == SK_NONE)
		return true;
	if (row_of(calls, argument))
		return check_elements(calls, number, parameter->row_dimension, row_of(calls, argument));
	product = product_of(calls, parameter, parameter->row_dimension);
	return product.open_count || sk_call_learn(calls, parameter->stride, product.known);
}

bool sk_call_check_extents(struct sk_calls *calls)
{
	while (learn_extent(calls))
		;
	for (uint32_t i = 0; i < calls->signature->parameter_count; i++)
		if (calls->signature->parameters[i].kind == SK_PARAMETER_TENSOR &&
		    (!check_elements(calls, i, 0, sk_call_elements(calls, sk_call_argument(calls, i))) ||
		     !check_stride(calls, i)))
			return false;
	return true;
}

/* ---- values ---- */

static bool check_scratch_count(struct sk_calls *calls, const struct sk_call_values *values, uint32_t number)
{
	const struct sk_parameter *parameter = &calls->signature->parameters[number];
	uint64_t size = parameter->dtype ? sk_dtype_size(parameter->dtype) : 1, count, bytes;

	if (!sk_call_constant(values, parameter->scratch_count, &count))
		return true; /* an extent of it is not known */
	if (sk_mul(count, size, &bytes) && bytes == sk_call_argument(calls, number)->size)
		return true;
	return sk_call_disagree(calls, "%s is %" PRIu64 " bytes of scratch, but %" PRIu64 " elements of %" PRIu64,
				sk_call_parameter_text(calls, number), sk_call_argument(calls, number)->size, count,
				size);
}

bool sk_call_check_values(struct sk_calls *calls)
{
	const struct sk_signature *signature = calls->signature;
	const struct sk_call_values values = sk_call_known_values(calls);
	uint64_t blocks = 1, count = 0;

	for (uint32_t axis = 0; axis < signature->grid_rank; axis++)
		if (!sk_call_constant(&values, signature->grid[axis], &count) || !sk_mul(blocks, count, &blocks))
			return true; /* an extent of it is not known */
	if (signature->grid_rank && calls->step->blocks != blocks)
		return sk_call_disagree(calls, "it has %u blocks, but a grid of %" PRIu64, calls->step->blocks, blocks);
	for (uint32_t i = 0; i < signature->parameter_count; i++)
		if (signature->parameters[i].value && signature->parameters[i].value->kind != SK_VALUE_SYMBOL &&
		    !sk_call_check_value(calls, i, signature->parameters[i].value))
			return false;
	for (uint32_t i = 0; i < signature->parameter_count; i++)
		if (signature->parameters[i].kind == SK_PARAMETER_TENSOR && !sk_call_check_pattern(calls, i))
			return false;
	for (uint32_t i = 0; i < signature->parameter_count; i++)
		if (signature->parameters[i].scratch_count && !check_scratch_count(calls, &values, i))
			return false;
	return true;
}
