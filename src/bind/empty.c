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

/* Sizes of 0 of some dimensions, and the largest or the least sizes of the others. */
struct corner {
	const struct sk_model *model;
	uint64_t *sizes; /* by dimension */
	const char *name; /* of a dimension of 0 */
	uint64_t most; /* of that one */
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

static bool report(const struct corner *corner, const struct sk_task *task, const char *reason)
{
	sk_error(corner->model->diag, task->place,
		 "task '%s': at %s %s; give '%s' bounds from 1 on: --dim '%s=1..%" PRIu64 "'", task->name,
		 sk_sizes_values_text(corner->model->arena, corner->model->sizes, task->said.network, corner->sizes),
		 reason, corner->name, corner->name, corner->most);
	return false;
}

/* Moving no elements is nothing, whatever part of them a call moves. */
static bool only_moves(const struct sk_task *task)
{
	return task->said.op.text && !strcmp(task->said.op.text, "Copy");
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
	if (writes)
		return report(corner, task,
			      sk_arena_print(corner->model->arena,
					     "it would compute results from '%s', which has no elements",
					     corner->model->tensors.items[empty->tensor].name));
	return only_moves(task) || !extent_at(corner, task) ||
	       report(corner, task, "it has nothing to compute, and would be called");
}

/* Set the size of a dimension to 0. False: it cannot be 0. */
static bool set_corner(struct corner *corner, const struct sk_sizes *sizes, size_t zero, bool most)
{
	const struct sk_size_dimension *dimension = sk_sizes_dimension(sizes, zero);

	if (dimension->least || !dimension->most)
		return false;
	for (size_t d = 0; d < sk_sizes_count(sizes); d++)
		corner->sizes[d] = most ? sk_sizes_dimension(sizes, d)->most : sk_sizes_dimension(sizes, d)->least;
	corner->sizes[zero] = 0;
	corner->name = dimension->name;
	corner->most = dimension->most;
	return true;
}

bool sk_bind_check_empty(const struct sk_model *model, const struct sk_task *task)
{
	size_t count = sk_sizes_count(model->sizes);
	struct corner corner = {.model = model, .sizes = SK_NEW_ARRAY(model->arena, uint64_t, count + 1)};

	for (size_t d = 0; d < count; d++)
		for (int most = 1; most >= 0; most--)
			if (sk_size_dimension_is_of(sk_sizes_dimension(model->sizes, d), task->said.network) &&
			    set_corner(&corner, model->sizes, d, most) && !check_corner(&corner, task))
				return false;
	return true;
}
