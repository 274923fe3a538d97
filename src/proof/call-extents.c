/* Recovers extents from the plan: the extent that a step divides, scalars with an extent's name, and the shapes of
 * views. A call that sees its elements in a different shape records that shape. Other views have as many dimensions as
 * their tensors, so their shape follows from the layout of their bytes. If it does not, the number of elements is a
 * product of extents. Then the recovered extents are checked against the signature. */
#include "src/proof/proof-parts.h"

#include <inttypes.h>
#include <string.h>

#include "base/map.h"
#include "base/ranges.h"
#include "format/plan/plan.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "format/skrows.h"

/* ---- shapes ---- */

/* Take as much of *left as the dimension has; return false if that does not divide it. */
static bool take_extent(uint64_t *left, uint64_t extent, uint64_t *taken)
{
	*taken = *left < extent ? *left : extent;
	if (*left % *taken)
		return false;
	*left /= *taken;
	return true;
}

/* Find the shape of a view. A row is a piece of the last dimensions, all of which but the first are whole; the other
 * dimensions give the number of rows. The last dimension is counted in bytes, since a view may have another type.
 * Return false if the bytes do not form such a view. */
static bool find_shape(const struct sk_calls *calls, const struct sk_plan_argument *argument,
		       uint64_t shape[SK_MAX_RANK])
{
	const struct sk_plan_tensor *tensor = &calls->view->tensors[argument->tensor];
	struct sk_rows rows = sk_plan_rows(calls->view, argument);
	uint64_t apart = 1, size = sk_dtype_size(argument->dtype);

	for (uint32_t d = sk_plan_type(tensor)->rank; d-- > 0;) {
		uint64_t extent =
			sk_plan_type(tensor)->shape[d] *
			(d + 1 == sk_plan_type(tensor)->rank ? sk_dtype_size(sk_plan_type(tensor)->dtype) : 1);
		bool within = rows.width > 1, of_rows = rows.count > 1 && apart >= rows.stride;

		shape[d] = 1;
		if ((within && !take_extent(&rows.width, extent, &shape[d])) ||
		    (!within && of_rows && !take_extent(&rows.count, extent, &shape[d])))
			return false;
		if (within && shape[d] < extent && rows.width > 1)
			return false;
		apart *= extent;
	}
	if (rows.width > 1 || rows.count > 1 || shape[sk_plan_type(tensor)->rank - 1] % size)
		return false;
	shape[sk_plan_type(tensor)->rank - 1] /= size;
	return true;
}

/* The view's leading dimensions form the parameter's first dimension. A view without bytes may have any shape without
 * elements. */
static uint64_t dimension_of_view(const struct sk_calls *calls, uint32_t number, uint32_t dimension)
{
	const struct sk_parameter *parameter = &calls->signature->parameters[number];
	const struct sk_plan_argument *argument = sk_call_argument(calls, number);
	const struct sk_plan_pattern *pattern = sk_plan_pattern(calls->view, argument);
	bool reshaped = pattern && pattern->rank;
	uint32_t rank =
		reshaped ? (uint32_t)pattern->rank : sk_plan_type(&calls->view->tensors[argument->tensor])->rank;
	uint64_t shape[SK_MAX_RANK], product = 1;

	if (parameter->rank == 1)
		return sk_call_elements(calls, argument);
	if (argument->space == SK_SPACE_SIZES) /* they belong to no tensor */
		return SK_EXTENT_UNKNOWN;
	if (reshaped)
		memcpy(shape, pattern->shape, sizeof(shape));
	if (rank < parameter->rank || (!reshaped && (!argument->size || !find_shape(calls, argument, shape))))
		return SK_EXTENT_UNKNOWN;
	if (dimension > 0)
		return shape[rank - parameter->rank + dimension];
	for (uint32_t d = 0; d <= rank - parameter->rank; d++)
		product *= shape[d];
	return product;
}

/* Derive the dimension's only unknown factor, if there is exactly one. Return true if there was one. */
static bool learn_dimension(struct sk_calls *calls, const struct sk_extent *extent, uint64_t has)
{
	uint32_t open = SK_NONE, open_count = 0;
	bool subtracted = false;
	uint64_t rest = 0, factor = 0;

	for (; extent; extent = extent->more) {
		uint64_t product = extent->constant;
		uint32_t before = open_count;

		for (uint32_t i = 0; i < extent->name_count; i++) {
			uint64_t value = calls->extents[extent->names[i]];
			bool known = value != SK_EXTENT_UNKNOWN;

			open = known ? open : extent->names[i];
			open_count += !known;
			if (!sk_mul(product, known ? value : 1, &product))
				return false;
		}
		if (open_count == before) {
			rest += extent->subtracted ? -product : product;
		} else {
			factor = product;
			subtracted = extent->subtracted;
		}
	}
	has = subtracted ? rest - has : has - rest;
	if (open_count != 1 || has > INT64_MAX || factor == 0 || has % factor)
		return false;
	calls->extents[open] = has / factor;
	return true;
}

/* Return true if the shape of a view has determined an extent. */
static bool learn_shape(struct sk_calls *calls)
{
	const struct sk_signature *signature = calls->signature;

	for (uint32_t i = 0; i < signature->parameter_count; i++)
		for (uint32_t d = 0; sk_call_has_tensor(calls, i) && d < signature->parameters[i].rank; d++) {
			uint64_t has = dimension_of_view(calls, i, d);

			if (has != SK_EXTENT_UNKNOWN &&
			    learn_dimension(calls, &signature->parameters[i].extents[d], has))
				return true;
		}
	return false;
}

/* Each dimension equals the product of its extents. */
static bool check_shape(struct sk_calls *calls, uint32_t number)
{
	const struct sk_parameter *parameter = &calls->signature->parameters[number];

	for (uint32_t d = 0; sk_call_has_tensor(calls, number) && d < parameter->rank; d++) {
		uint64_t has = dimension_of_view(calls, number, d);
		uint64_t wanted = sk_call_dimension(calls, &parameter->extents[d]);

		if (has != SK_EXTENT_UNKNOWN && wanted != SK_EXTENT_UNKNOWN && has != wanted)
			return sk_call_disagree(calls, "dimension %u of %s is %" PRIu64 ", not %" PRIu64, d,
						sk_call_parameter_text(calls, number), has, wanted);
	}
	return true;
}

/* ---- bytes ---- */

struct product {
	bool fits; /* the product does not overflow */
	uint64_t known; /* product of the known factors */
	uint32_t open, open_count; /* one of the unknown extents, and the number of unknown factors */
};

/* The product of the dimensions from `first` on. */
static struct product product_of(const struct sk_calls *calls, const struct sk_parameter *parameter, uint32_t first)
{
	struct product product = {.fits = true, .known = 1, .open = SK_NONE};

	for (uint32_t d = first; d < parameter->rank; d++) {
		const struct sk_extent *extent = &parameter->extents[d];
		uint64_t sum = extent->more ? sk_call_dimension(calls, extent) : SK_EXTENT_UNKNOWN;

		if (extent->more) {
			bool known = sum != SK_EXTENT_UNKNOWN;

			product.open_count += known ? 0 : 2; /* such a dimension determines none of its extents */
			if (!sk_mul(product.known, known ? sum : 1, &product.known))
				return (struct product){.open = SK_NONE};
			continue;
		}
		if (!sk_mul(product.known, extent->constant, &product.known))
			return (struct product){.open = SK_NONE};
		for (uint32_t i = 0; i < extent->name_count; i++) {
			uint64_t value = calls->extents[extent->names[i]];
			bool known = value != SK_EXTENT_UNKNOWN;

			product.open = known ? product.open : extent->names[i];
			product.open_count += !known;
			if (!sk_mul(product.known, known ? value : 1, &product.known))
				return (struct product){.open = SK_NONE};
		}
	}
	return product;
}

/* Derive the only unknown extent of the dimensions from `first` on, given their number of elements. Return true if
 * there was one. */
static bool learn_factor(struct sk_calls *calls, const struct sk_parameter *parameter, uint32_t first,
			 uint64_t elements)
{
	struct product product = product_of(calls, parameter, first);

	if (!product.fits || !product.known || product.open_count != 1 || elements % product.known)
		return false;
	calls->extents[product.open] = elements / product.known;
	return true;
}

/* Return the elements of a row; 0: not in rows. */
static uint64_t row_of(const struct sk_calls *calls, const struct sk_plan_argument *argument)
{
	const struct sk_plan_pattern *pattern = sk_plan_pattern(calls->view, argument);

	return pattern && pattern->count ? pattern->width / sk_dtype_size(argument->dtype) : 0;
}

static bool learn_extent(struct sk_calls *calls)
{
	for (uint32_t i = 0; i < calls->signature->parameter_count; i++) {
		const struct sk_parameter *parameter = &calls->signature->parameters[i];

		if (!sk_call_has_tensor(calls, i))
			continue;

		const struct sk_plan_argument *argument = sk_call_argument(calls, i);
		uint64_t row = row_of(calls, argument);

		if (learn_factor(calls, parameter, 0, sk_call_elements(calls, argument)) ||
		    (row && learn_factor(calls, parameter, parameter->row_dimension, row)))
			return true;
	}
	return false;
}

/* The number of elements equals the extents' product; if some extents are unknown, the known product must divide it. */
static bool check_elements(struct sk_calls *calls, uint32_t number, uint32_t first, uint64_t elements)
{
	struct product product = product_of(calls, &calls->signature->parameters[number], first);

	bool multiple = product.known ? elements % product.known == 0 : elements == 0;

	if (product.fits && (product.open_count ? multiple : elements == product.known))
		return true;
	return sk_call_disagree(calls, "%s%s %" PRIu64 " elements, %s%" PRIu64, sk_call_parameter_text(calls, number),
				first ? " has rows of" : " has", elements,
				product.open_count ? "not a multiple of " : "not ", product.known);
}

/* Rows without gaps are one row apart, if the stride is known. Rows without elements, at sizes of 0, are any distance
 * apart. */
static bool check_stride(struct sk_calls *calls, uint32_t number)
{
	const struct sk_parameter *parameter = &calls->signature->parameters[number];
	const struct sk_plan_argument *argument = sk_call_argument(calls, number);
	const struct sk_plan_pattern *pattern = sk_plan_pattern(calls->view, argument);
	struct product product;

	if (parameter->stride == SK_NONE)
		return true;
	if (pattern && pattern->count)
		return check_elements(calls, number, parameter->row_dimension, row_of(calls, argument));
	product = product_of(calls, parameter, parameter->row_dimension);
	return product.open_count || sk_call_learn(calls, parameter->stride, product.known);
}

static bool has_unknown(const struct sk_calls *calls)
{
	for (uint32_t e = 0; e < calls->signature->extent_count; e++)
		if (calls->extents[e] == SK_EXTENT_UNKNOWN)
			return true;
	return false;
}

bool sk_call_check_extents(struct sk_calls *calls)
{
	while (has_unknown(calls) && (learn_shape(calls) || learn_extent(calls)))
		;
	for (uint32_t i = 0; i < calls->signature->parameter_count; i++)
		if (sk_call_has_tensor(calls, i) &&
		    (!check_elements(calls, i, 0, sk_call_elements(calls, sk_call_argument(calls, i))) ||
		     !check_stride(calls, i)))
			return false;
	for (uint32_t i = 0; i < calls->signature->parameter_count; i++)
		if (!check_shape(calls, i))
			return false;
	return true;
}

/* ---- values ---- */

static bool check_scratch_count(struct sk_calls *calls, const struct sk_call_values *values, uint32_t number)
{
	const struct sk_parameter *parameter = &calls->signature->parameters[number];
	uint64_t size = parameter->dtype ? sk_dtype_size(parameter->dtype) : 1, count, bytes;

	if (sk_call_constant(values, parameter->scratch_count, &count) && sk_mul(count, size, &bytes) &&
	    (bytes == sk_call_argument(calls, number)->size ||
	     (calls->view->copy && bytes < sk_call_argument(calls, number)->size)))
		return true;
	return sk_call_disagree(calls, "%s is %" PRIu64 " bytes of scratch, but %s elements of %" PRIu64,
				sk_call_parameter_text(calls, number), sk_call_argument(calls, number)->size,
				parameter->scratch_count->text, size);
}

/* See call-arguments.c. */
static bool is_address(const struct sk_parameter *parameter)
{
	return parameter->value->kind == SK_VALUE_SYMBOL ||
	       (parameter->pointer && parameter->value->kind == SK_VALUE_ATTRIBUTE);
}

/* A value that names an unknown extent has not been compared; only tensors without elements may leave an extent
 * unknown. */
static bool needs_extent(const struct sk_calls *calls, uint32_t extent)
{
	const struct sk_signature *signature = calls->signature;
	bool needed = false;

	for (uint32_t axis = 0; axis < signature->grid_rank; axis++)
		needed |= sk_call_names_extent(signature->grid[axis], extent);
	for (uint32_t p = 0; p < signature->parameter_count; p++) {
		const struct sk_parameter *parameter = &signature->parameters[p];
		const struct sk_value_expression *const values[] = {parameter->value, parameter->scratch_count,
								    parameter->table_count, parameter->table_stride};

		for (size_t v = 0; v < sizeof(values) / sizeof(values[0]); v++)
			needed |= values[v] && sk_call_names_extent(values[v], extent);
		needed |= sk_call_has_tensor(calls, p) && sk_call_argument(calls, p)->size &&
			  sk_parameter_has_extent(parameter, extent);
	}
	return needed;
}

bool sk_call_check_values(struct sk_calls *calls)
{
	const struct sk_signature *signature = calls->signature;
	const struct sk_call_values values = sk_call_known_values(calls);
	uint64_t blocks = 1, count = 0;

	for (uint32_t axis = 0; axis < signature->grid_rank; axis++)
		if (!sk_call_constant(&values, signature->grid[axis], &count) || !sk_mul(blocks, count, &blocks))
			return sk_call_disagree(calls, "it has no grid of that many blocks");
	if (signature->grid_rank && calls->step->blocks != blocks)
		return sk_call_disagree(calls, "it has %u blocks, but a grid of %" PRIu64, calls->step->blocks, blocks);
	for (uint32_t i = 0; i < signature->parameter_count; i++)
		if (signature->parameters[i].value && !is_address(&signature->parameters[i]) &&
		    !sk_call_check_value(calls, i, signature->parameters[i].value))
			return false;
	for (uint32_t i = 0; i < signature->parameter_count; i++)
		if (sk_call_has_tensor(calls, i) && !sk_call_check_pattern(calls, i))
			return false;
	for (uint32_t i = 0; i < signature->parameter_count; i++)
		if (signature->parameters[i].scratch_count && !check_scratch_count(calls, &values, i))
			return false;
	for (uint32_t e = 0; e < signature->extent_count; e++)
		if (calls->extents[e] == SK_EXTENT_UNKNOWN && needs_extent(calls, e))
			return sk_call_disagree(calls, "nothing tells extent '%s'", signature->extents[e]);
	return true;
}
