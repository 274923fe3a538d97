/* Extents: from the shapes of a task's tensors to the values of the names in a signature. A dimension binds the one
 * factor of its product that the others leave open; afterwards every dimension must agree. */
#include <inttypes.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/ranges.h"
#include "base/text.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "src/bind/bind-parts.h"
#include "src/model/model.h"

uint64_t sk_folded_dimension(const struct sk_tensor *tensor, const struct sk_parameter *parameter, uint32_t dimension)
{
	uint32_t leading = tensor->rank - parameter->rank;
	uint64_t product = 1;

	if (parameter->rank == 1)
		return tensor->elements;
	if (dimension > 0)
		return tensor->shape[leading + dimension];
	for (uint32_t i = 0; i <= leading; i++)
		product *= tensor->shape[i];
	return product;
}

/* The value of a dimension while one extent can be open: rest + factor * open. */
struct sum {
	__int128 rest;
	__int128 factor; /* negative: it is subtracted */
	uint32_t open, open_count; /* the extent that is not bound (SK_NONE: none), and the number of such extents */
};

/* Return the product of the constant and of the factors that are bound. Return false on overflow. */
static bool multiply(const struct sk_binder *binder, const struct sk_extent *extent, uint64_t *product, struct sum *sum)
{
	*product = extent->constant;
	for (uint32_t i = 0; i < extent->name_count; i++) {
		uint64_t value = binder->extents[extent->names[i]];

		if (value == SK_EXTENT_OPEN) {
			sum->open = extent->names[i];
			++sum->open_count;
		} else if (!sk_mul(*product, value, product)) {
			return false;
		}
	}
	return true;
}

static bool evaluate(const struct sk_binder *binder, const struct sk_extent *extent, struct sum *sum)
{
	*sum = (struct sum){.open = SK_NONE};
	for (; extent; extent = extent->more) {
		uint32_t open = sum->open_count;
		uint64_t product;

		if (!multiply(binder, extent, &product, sum))
			return false;
		__int128 value = extent->subtracted ? -(__int128)product : (__int128)product;

		if (sum->open_count > open)
			sum->factor = value;
		else
			sum->rest += value;
	}
	return true;
}

/* Return the value of the open factor for which the dimension has this size; SK_EXTENT_OPEN: no value is possible, or
 * any value is, since the other factors are 0. */
static uint64_t solve(const struct sum *sum, uint64_t has)
{
	__int128 product = (__int128)has - sum->rest;
	bool possible = sum->open_count == 1 && sum->factor != 0 && product % sum->factor == 0 &&
			product / sum->factor >= 0 && product / sum->factor <= INT64_MAX;

	return possible ? (uint64_t)(product / sum->factor) : SK_EXTENT_OPEN;
}

/* Return a text such as "n*m*4". */
static const char *product_text(const struct sk_binder *binder, const struct sk_extent *extent)
{
	struct sk_arena *arena = binder->model->arena;
	const char *text = "";

	for (uint32_t i = 0; i < extent->name_count; i++)
		text = sk_arena_print(arena, "%s%s%s", text, i ? "*" : "",
				      binder->signature->extents[extent->names[i]]);
	if (!extent->name_count || extent->constant != 1)
		text = sk_arena_print(arena, "%s%s%" PRIu64, text, extent->name_count ? "*" : "", extent->constant);
	return text;
}

/* Return a text such as "n*2+k". */
static const char *extent_text(const struct sk_binder *binder, const struct sk_extent *extent)
{
	const char *text = product_text(binder, extent);

	while ((extent = extent->more))
		text = sk_arena_print(binder->model->arena, "%s%s%s", text, extent->subtracted ? "-" : "+",
				      product_text(binder, extent));
	return text;
}

/* Return a text such as "argument 'x' (tensor 'a' [64, 1024], dimension 1)". */
static const char *use_text(const struct sk_binder *binder, uint32_t parameter, uint32_t dimension)
{
	struct sk_arena *arena = binder->model->arena;
	const struct sk_tensor *tensor = binder->tensors[parameter];
	const struct sk_parameter *description = &binder->signature->parameters[parameter];
	bool flat = description->rank == 1 && tensor->rank != 1;
	const char *part = flat ? "all elements" : sk_arena_print(arena, "dimension %u", dimension);

	return sk_arena_print(arena, "argument '%s' (tensor '%s' %s, %s)", description->name, tensor->name,
			      sk_shape_text(arena, tensor->rank, tensor->shape), part);
}

/* Return a text such as ", with n = 64 by argument 'x' (…)", for all names of a product. */
static const char *factors_text(const struct sk_binder *binder, const struct sk_extent *extent)
{
	struct sk_arena *arena = binder->model->arena;
	const char *text = "";

	for (; extent; extent = extent->more)
		for (uint32_t i = 0; i < extent->name_count; i++) {
			uint32_t name = extent->names[i];

			if (binder->extents[name] != SK_EXTENT_OPEN)
				text = sk_arena_print(arena, "%s, %s%s = %" PRIu64 " by %s", text, *text ? "" : "with ",
						      binder->signature->extents[name], binder->extents[name],
						      use_text(binder, binder->bound_by[name].parameter,
							       binder->bound_by[name].dimension));
		}
	return text;
}

static void report_mismatch(struct sk_binder *binder, uint32_t parameter, uint32_t dimension, uint64_t has)
{
	if (sk_binder_fails(binder))
		return;

	const struct sk_extent *extent = &binder->signature->parameters[parameter].extents[dimension];
	struct sk_place place = binder->args[parameter]->place;
	const char *use = use_text(binder, parameter, dimension);

	if (!extent->name_count) {
		sk_binder_error(binder, place, "%s must be %" PRIu64 ", but is %" PRIu64, use, extent->constant, has);
	} else if (extent->name_count == 1 && extent->constant == 1 && !extent->more) {
		uint32_t name = extent->names[0];

		sk_binder_error(binder, place, "extent '%s' is %" PRIu64 " in %s, but %" PRIu64 " in %s",
				binder->signature->extents[name], has, use, binder->extents[name],
				use_text(binder, binder->bound_by[name].parameter, binder->bound_by[name].dimension));
	} else {
		sk_binder_error(binder, place, "%s is %" PRIu64 ", which is not %s%s", use, has,
				extent_text(binder, extent), factors_text(binder, extent));
	}
}

/* Bind the extent that the dimension leaves open. Return true if that was progress. */
static bool bind_dimension(struct sk_binder *binder, uint32_t parameter, uint32_t dimension)
{
	const struct sk_parameter *description = &binder->signature->parameters[parameter];
	uint64_t has = sk_folded_dimension(binder->tensors[parameter], description, dimension);
	struct sum sum;

	if (!evaluate(binder, &description->extents[dimension], &sum) || solve(&sum, has) == SK_EXTENT_OPEN)
		return false;
	binder->extents[sum.open] = solve(&sum, has);
	binder->bound_by[sum.open].parameter = parameter;
	binder->bound_by[sum.open].dimension = dimension;
	return true;
}

static void check_dimension(struct sk_binder *binder, uint32_t parameter, uint32_t dimension)
{
	const struct sk_parameter *description = &binder->signature->parameters[parameter];
	uint64_t has = sk_folded_dimension(binder->tensors[parameter], description, dimension);
	struct sum sum;

	bool fits = evaluate(binder, &description->extents[dimension], &sum);

	/* An extent is still open if its dimension could not be divided, which is an error of its own, or if another
	 * factor is 0. */
	bool settled = sum.open_count == 0 || (sum.open_count == 1 && sum.factor == 0);

	if (!fits || (settled && sum.rest != has) ||
	    (!settled && sum.open_count == 1 && solve(&sum, has) == SK_EXTENT_OPEN))
		report_mismatch(binder, parameter, dimension, has);
}

static void for_all_dimensions(struct sk_binder *binder, bool *progress)
{
	for (uint32_t p = 0; p < binder->signature->parameter_count; p++) {
		if (!binder->tensors[p])
			continue;
		for (uint32_t d = 0; d < binder->signature->parameters[p].rank; d++) {
			if (!progress)
				check_dimension(binder, p, d);
			else if (bind_dimension(binder, p, d))
				*progress = true;
		}
	}
}

/* ---- rows ---- */

/* Return the number of elements of the dimensions from this one on. */
static uint64_t elements_from(const struct sk_tensor *tensor, const struct sk_parameter *parameter, uint32_t dimension)
{
	uint64_t elements = 1;

	for (; dimension < parameter->rank; dimension++)
		elements *= sk_folded_dimension(tensor, parameter, dimension);
	return elements;
}

/* Rows of a tensor without gaps are one row apart. */
static void bind_stride(struct sk_binder *binder, uint32_t p)
{
	const struct sk_parameter *parameter = &binder->signature->parameters[p];
	const struct sk_tensor *tensor = binder->tensors[p];
	uint64_t row = elements_from(tensor, parameter, parameter->row_dimension), size = sk_dtype_size(tensor->dtype);
	uint64_t stride = tensor->rows.count ? tensor->rows.stride / size : row;
	uint64_t *bound = &binder->extents[parameter->stride];
	const char *name = binder->signature->extents[parameter->stride];

	if (tensor->rows.count && tensor->rows.width != row * size)
		sk_binder_error(binder, binder->args[p]->place,
				"rows of argument '%s' have %" PRIu64 " element%s, but those of view '%s' have %" PRIu64
				" without a gap",
				parameter->name, row, sk_plural(row), tensor->name, tensor->rows.width / size);
	else if (*bound != SK_EXTENT_OPEN && *bound != stride)
		sk_binder_error(binder, binder->args[p]->place,
				"rows of argument '%s' (tensor '%s') lie %" PRIu64
				" element%s apart, but '%s' is %" PRIu64 " by another argument",
				parameter->name, tensor->name, stride, sk_plural(stride), name, *bound);
	*bound = stride;
	binder->bound_by[parameter->stride].parameter = p;
	binder->bound_by[parameter->stride].dimension = parameter->row_dimension;
}

static void bind_strides(struct sk_binder *binder)
{
	for (uint32_t p = 0; p < binder->signature->parameter_count; p++)
		if (binder->tensors[p] && binder->signature->parameters[p].stride != SK_NONE)
			bind_stride(binder, p);
}

static bool has_open(const struct sk_binder *binder)
{
	for (uint32_t e = 0; e < binder->signature->extent_count; e++)
		if (binder->extents[e] == SK_EXTENT_OPEN)
			return true;
	return false;
}

void sk_binder_bind_extents(struct sk_binder *binder)
{
	bool progress = true;

	for (uint32_t e = 0; e < binder->signature->extent_count; e++)
		binder->extents[e] = SK_EXTENT_OPEN;
	bind_strides(binder);
	while (progress && has_open(binder)) {
		progress = false;
		for_all_dimensions(binder, &progress);
	}
	for_all_dimensions(binder, NULL);
}
