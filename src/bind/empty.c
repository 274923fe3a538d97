/* Tasks at sizes of 0; see bind-parts.h. Kernels are called for a part of their divided extent only if it has elements.
 * Where a size of 0 means more than that, the least size has to be 1. */
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/sizes.h"
#include "format/signature/signature.h"
#include "format/skdims.h"
#include "format/skplan.h"
#include "src/bind/bind-parts.h"
#include "src/model/model.h"

/* Sizes at which numbers may be 0. */
struct corner {
	const struct sk_model *model;
	const uint64_t *sizes; /* by dimension */
	const struct sk_size_dimension *zero; /* one with size 0; NULL: there is none */
};

static uint64_t number_at(const struct corner *corner, const struct sk_varying *varying, enum sk_dims_table table,
			  size_t offset, uint64_t number)
{
	const struct sk_size *form = sk_varying_find(varying, table, offset);

	return form ? (uint64_t)sk_size_at(form, corner->sizes) : number;
}

static uint64_t extent_at(const struct corner *corner, const struct sk_task *task)
{
	return number_at(corner, task->bound.varying, SK_DIMS_STEPS, offsetof(struct sk_plan_step, extent),
			 task->bound.extent);
}

/* Return the bytes of a row, and set the number of rows. */
static uint64_t width_at(const struct corner *corner, const struct sk_argument *argument, uint64_t *count)
{
	const struct sk_plan_pattern *pattern = argument->pattern;

	*count = 1;
	if (!pattern || pattern->count <= 1)
		return number_at(corner, argument->varying, SK_DIMS_LISTS, offsetof(struct sk_plan_argument, size),
				 argument->size);
	*count = number_at(corner, argument->varying, SK_DIMS_PATTERNS, offsetof(struct sk_plan_pattern, count),
			   pattern->count);
	return number_at(corner, argument->varying, SK_DIMS_PATTERNS, offsetof(struct sk_plan_pattern, width),
			 pattern->width);
}

/* Return the bounds to give. With several networks, a name alone means the dimensions of all. */
static const char *advice_of(const struct corner *corner)
{
	const struct sk_size_dimension *zero = corner->zero;
	const char *network = zero && zero->network ? zero->network : "";

	if (!zero)
		return "bounds without these sizes";
	return sk_arena_print(corner->model->arena, "'%s' bounds from 1 on: --dim '%s%s%s=1..%" PRIu64 "'", zero->name,
			      network, *network ? ":" : "", zero->name, zero->most);
}

static bool report(const struct corner *corner, const struct sk_task *task, const char *reason)
{
	sk_error(corner->model->diag, task->place, "task '%s': at %s %s; give %s", task->name,
		 sk_sizes_values_text(corner->model->arena, corner->model->sizes, task->said.network, corner->sizes),
		 reason, advice_of(corner));
	return false;
}

/* Moving no elements is nothing, whatever part of them a call moves. Rows without elements are gathered by number. */
static bool only_moves(const struct sk_task *task)
{
	const char *op = task->said.op.text;

	return op && (!strcmp(op, "Copy") || !strcmp(op, "Gather"));
}

/* Padding with a number writes that number where the padded tensor has no elements, and does not read it there. */
static bool pads_with_number(const struct sk_task *task)
{
	bool constant = false;

	for (size_t i = 0; i < task->said.attributes.count; i++) {
		const struct sk_attribute *attribute = &task->said.attributes.items[i];

		constant |= !strcmp(attribute->name, "mode") && attribute->kind == SK_ATTRIBUTE_STRING &&
			    !strcmp(attribute->string, "constant");
	}
	return constant && task->said.op.text && !strcmp(task->said.op.text, "Pad");
}

static bool check_corner(const struct corner *corner, const struct sk_task *task)
{
	const struct sk_argument *empty = NULL;
	bool writes = false;

	for (uint32_t a = 0; a < task->bound.argument_count; a++) {
		const struct sk_argument *argument = &task->bound.arguments[a];
		uint64_t count;

		if (argument->kind != SK_ARGUMENT_POINTER || argument->list || !argument->size)
			continue;
		if (!width_at(corner, argument, &count))
			empty = empty ? empty : argument;
		else if (argument->access & SK_ACCESS_WRITE)
			writes = true;
		if (!count)
			return report(corner, task, "it has no rows");
	}
	if (!empty)
		return true;
	if (writes && pads_with_number(task))
		return true;
	if (writes)
		return report(corner, task,
			      sk_arena_print(corner->model->arena,
					     "it would compute results from '%s', which has no elements",
					     corner->model->tensors.items[empty->tensor].name));
	return only_moves(task) || !extent_at(corner, task) ||
	       report(corner, task, "it has nothing to compute, and would be called");
}

/* Check with a size of 0, and the largest or the least sizes of the other dimensions. */
static bool check_zero(const struct sk_model *model, const struct sk_task *task, size_t zero, bool most)
{
	const struct sk_sizes *all = model->sizes;
	const struct sk_size_dimension *dimension = sk_sizes_dimension(all, zero);
	uint64_t *sizes = SK_NEW_ARRAY(model->arena, uint64_t, sk_sizes_count(all));
	const struct corner corner = {model, sizes, dimension};

	for (size_t d = 0; d < sk_sizes_count(all); d++)
		sizes[d] = most ? sk_sizes_dimension(all, d)->most : sk_sizes_dimension(all, d)->least;
	sizes[zero] = 0;
	return check_corner(&corner, task);
}

/* Return a dimension of the network with size 0; NULL: there is none. */
static const struct sk_size_dimension *find_zero(const struct sk_model *model, const char *network,
						 const uint64_t *sizes)
{
	for (size_t d = 0; d < sk_sizes_count(model->sizes); d++) {
		const struct sk_size_dimension *dimension = sk_sizes_dimension(model->sizes, d);

		/* Points have no sizes of networks that were read later. */
		if (sk_size_dimension_is_of(dimension, network) && !sizes[d])
			return dimension;
	}
	return NULL;
}

bool sk_bind_check_empty(const struct sk_model *model, const struct sk_task *task, const struct sk_fit *fit)
{
	for (size_t d = 0; d < sk_sizes_count(model->sizes); d++) {
		const struct sk_size_dimension *dimension = sk_sizes_dimension(model->sizes, d);

		if (!dimension->least && dimension->most && sk_size_dimension_is_of(dimension, task->said.network) &&
		    (!check_zero(model, task, d, true) || !check_zero(model, task, d, false)))
			return false;
	}
	for (size_t p = 0; p < sk_fit_count(fit); p++) {
		const uint64_t *sizes = sk_fit_point(fit, p);
		const struct corner corner = {model, sizes, find_zero(model, task->said.network, sizes)};

		if (!check_corner(&corner, task))
			return false;
	}
	return true;
}
