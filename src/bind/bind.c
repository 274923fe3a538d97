/* Binds one request at a time. Its tensors are matched with the signature's parameters (bind-tensors.c). Extents and
 * scalars follow (bind-extents.c, bind-scalars.c). The arguments are in the order of the C parameters; those that are
 * memory come from bind-memory.c. */
#include "src/bind/bind.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/ranges.h"
#include "format/profile/profile.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "format/skrows.h"
#include "src/bind/bind-parts.h"
#include "src/model/model.h"

/* ---- arguments ---- */

static void bind_arguments(struct sk_binder *binder)
{
	const struct sk_signature *signature = binder->signature;
	const char *missing = "";

	sk_binder_bind_scratch(binder);
	for (uint32_t p = 0; p < signature->parameter_count; p++) {
		const struct sk_parameter *parameter = &signature->parameters[p];
		struct sk_argument *argument = &binder->arguments[binder->argument_count++];

		argument->dtype = parameter->dtype;
		argument->tensor = SK_NONE;
		argument->is_field = parameter->owner != SK_NONE;
		if (argument->is_field)
			argument->field = (uint32_t)(binder->frames[parameter->owner] + parameter->offset);
		switch (parameter->kind) {
		case SK_PARAMETER_TENSOR:
			sk_binder_bind_pointer(binder, p, argument);
			break;
		case SK_PARAMETER_SCALAR:
			if (!sk_binder_bind_scalar(binder, parameter, argument) && !parameter->repeated)
				missing = sk_arena_print(binder->model->arena, "%s%s'%s'", missing,
							 *missing ? ", " : "", parameter->name);
			break;
		case SK_PARAMETER_BLOCK:
			argument->kind = SK_ARGUMENT_BLOCK;
			break;
		case SK_PARAMETER_SCRATCH:
			argument->dtype = SK_DTYPE_NONE;
			break;
		case SK_PARAMETER_STRUCT:
			argument->by_value = parameter->by_value;
			argument->value = parameter->float_parts;
			break;
		}
	}
	if (*missing)
		sk_binder_error(binder, binder->request->place, "no value for %s; give it under 'set'", missing);
	if (!signature->result)
		return;

	struct sk_argument *result = &binder->arguments[binder->argument_count++];

	result->kind = SK_ARGUMENT_RESULT;
	result->dtype = signature->result_dtype;
	result->access = SK_ACCESS_WRITE;
	sk_binder_bind_memory(binder, signature->parameter_count, result);
}

static void check_set_names(struct sk_binder *binder)
{
	const struct sk_signature *signature = binder->signature;
	const char *scalars[SK_MAX_PARAMETERS];
	size_t count = 0;

	for (uint32_t p = 0; p < signature->parameter_count; p++)
		if (signature->parameters[p].kind == SK_PARAMETER_SCALAR)
			scalars[count++] = signature->parameters[p].name;
	for (size_t i = 0; i < binder->request->set_count; i++) {
		const struct sk_set *set = &binder->request->set[i];
		uint32_t p = sk_signature_find_parameter(signature, set->name);

		if (p == SK_NONE)
			sk_binder_error(binder, set->place, "no scalar '%s'%s", set->name,
					sk_did_you_mean(binder->model->arena, set->name, scalars, count));
		else if (signature->parameters[p].kind != SK_PARAMETER_SCALAR)
			sk_binder_error(binder, set->place, "'%s' is not a scalar and cannot be set", set->name);
	}
}

/* ---- overlap ---- */

static bool overlap(const struct sk_argument *a, const struct sk_argument *b)
{
	struct sk_rows one = sk_argument_rows(a), other = sk_argument_rows(b);

	return a->tensor != SK_NONE && a->tensor == b->tensor && a->size && b->size && sk_rows_overlap(&one, &other);
}

/* y@x: y may be x. */
static bool may_alias(const struct sk_signature *signature, uint32_t a, uint32_t b)
{
	return b < signature->parameter_count &&
	       (sk_signature_may_alias(signature, a, b) || sk_signature_may_alias(signature, b, a));
}

static uint64_t inner_bytes_of(const struct sk_argument *argument)
{
	return argument->pattern ? argument->pattern->inner_bytes : 0;
}

/* Return true if both are the same bytes, and no core reads bytes that another core writes. */
static bool are_alike(const struct sk_argument *a, const struct sk_argument *b)
{
	struct sk_rows one = sk_argument_rows(a), other = sk_argument_rows(b);

	return one.start == other.start && one.width == other.width && one.stride == other.stride &&
	       one.count == other.count && a->element_bytes == b->element_bytes &&
	       inner_bytes_of(a) == inner_bytes_of(b);
}

/* Return the text in a signature that allows the two to be the same: "y@x", with the table's name if x is in a
 * table. */
static const char *alias_text(struct sk_binder *binder, uint32_t a, uint32_t b)
{
	const struct sk_parameter *parameters = binder->signature->parameters;
	uint32_t of = parameters[b].first_operand != SK_NONE ? b : a, alias = of == a ? b : a;
	uint32_t named = parameters[of].first_operand != SK_NONE ? parameters[of].owner : of;

	return sk_arena_print(binder->model->arena, "%s@%s", parameters[alias].name, parameters[named].name);
}

static void report_overlap(struct sk_binder *binder, uint32_t a, uint32_t b)
{
	const struct sk_signature *signature = binder->signature;
	const char *x = sk_binder_parameter_name(signature, a), *y = sk_binder_parameter_name(signature, b);
	struct sk_place place = binder->args[b] ? binder->args[b]->place : binder->request->place;

	if (may_alias(signature, a, b))
		sk_binder_error(binder, place, "'%s' and '%s' overlap, but are not the same bytes divided alike", x, y);
	else if (b < signature->parameter_count && signature->parameters[b].kind == SK_PARAMETER_TENSOR)
		sk_binder_error(binder, place,
				"'%s' overlaps '%s', and one of them is written; a signature that allows this says %s",
				y, x, alias_text(binder, a, b));
	else
		sk_binder_error(binder, place, "'%s' overlaps '%s', and one of them is written", y, x);
}

static void check_overlaps(struct sk_binder *binder)
{
	const struct sk_argument *arguments = binder->arguments;

	for (uint32_t b = 1; b < binder->argument_count; b++)
		for (uint32_t a = 0; a < b; a++)
			if ((arguments[a].access | arguments[b].access) & SK_ACCESS_WRITE &&
			    overlap(&arguments[a], &arguments[b]) &&
			    !(may_alias(binder->signature, a, b) && are_alike(&arguments[a], &arguments[b])))
				report_overlap(binder, a, b);
}

/* ---- the call ---- */

/* A device has one lane, or one for cube kernels and one for all others. A mix kernel begins on the cube lane. */
static uint32_t lane_of(const struct sk_profile *device, enum sk_lane_kind kind)
{
	return kind == SK_LANE_CUBE || kind == SK_LANE_MIX ? 0 : device->lane_count - 1;
}

/* Return the number of blocks of grid=: the product of its numbers. */
static uint64_t grid_count(struct sk_binder *binder)
{
	const struct sk_signature *signature = binder->signature;
	uint64_t blocks = 1;

	for (uint32_t axis = 0; axis < signature->grid_rank; axis++) {
		if (!sk_binder_count(binder, "grid", signature->grid[axis], 1, &binder->grid[axis]))
			return 1;
		if (!sk_mul(blocks, binder->grid[axis], &blocks) || blocks > SK_PROFILE_MAX_BLOCKS) {
			sk_binder_error(binder, binder->request->place, "the grid has more than %d blocks",
					SK_PROFILE_MAX_BLOCKS);
			return 1;
		}
	}
	return blocks;
}

static uint64_t block_count(struct sk_binder *binder)
{
	const struct sk_profile *device = binder->model->device;
	const struct sk_signature *signature = binder->signature;

	if (!sk_signature_has_blocks(signature))
		return 0;
	if (signature->grid_rank)
		return grid_count(binder);
	if (binder->request->blocks)
		return binder->request->blocks;
	if (signature->lane == SK_LANE_MIX)
		return sk_mix_default_blocks(device, signature->mix_ratio);
	return device->lanes[lane_of(device, signature->lane)].blocks;
}

/* Replace a signature with an open table by the one for the request's number of operands. */
static void count_operands(struct sk_binder *binder)
{
	const struct sk_signature *open = binder->signature, *counted;
	size_t operands, most;

	if (open->open_table == SK_NONE)
		return;
	operands = sk_request_operands(binder->request, open);
	most = sk_signature_most_operands(open);
	if (!operands || operands > most) {
		sk_binder_error(binder, binder->request->place, "'%s' is 1 to %zu tensors, but %zu are left for it",
				open->parameters[open->open_table].name, most, operands);
		return;
	}
	counted = sk_signature_of_operands(binder->model->arena, binder->model->diag, binder->request->place, open,
					   (uint32_t)operands);
	binder->failures += !counted;
	binder->signature = counted ? counted : open;
}

/* The tables have room for the longest signature, but most are short: clear only the entries of this one. */
static void clear_tables(struct sk_binder *binder)
{
	size_t count = binder->signature->parameter_count + 1;

	memset(binder->args, 0, count * sizeof(*binder->args));
	memset(binder->tensors, 0, count * sizeof(*binder->tensors));
	memset(binder->arguments, 0, count * sizeof(*binder->arguments));
	memset(binder->frames, 0, count * sizeof(*binder->frames));
}

static void begin_task(struct sk_binder *binder, struct sk_model *model, const struct sk_request *request,
		       const struct sk_signature *signature)
{
	memset(binder, 0, offsetof(struct sk_binder, args));
	binder->model = model;
	binder->request = request;
	binder->signature = signature;
}

/* Extents, scalars and overlaps of a call are checked only if all tensors fit. */
static void bind(struct sk_binder *binder)
{
	count_operands(binder);
	if (binder->failures)
		return;
	clear_tables(binder);
	if (binder->request->blocks && (!sk_signature_has_blocks(binder->signature) || binder->signature->grid_rank))
		sk_binder_error(binder, binder->request->place, "the task has 'blocks', but the signature has %s",
				binder->signature->grid_rank ? "a grid, which gives their number"
							     : "neither 'blocks' nor 'blocks=NAME'");
	sk_binder_match_tensors(binder);
	check_set_names(binder);
	sk_binder_check_attributes(binder);
	if (binder->failures)
		return;
	binder->matched = true;
	sk_binder_bind_extents(binder);
	if (binder->failures)
		return;
	sk_binder_find_idle(binder);
	if (binder->failures)
		return;
	if (binder->idle) {
		sk_binder_bind_idle(binder);
		return;
	}
	binder->blocks = block_count(binder);
	if (binder->signature->operations)
		sk_binder_count(binder, "operations", binder->signature->operations, 0, &binder->operations);
	bind_arguments(binder);
	check_overlaps(binder);
}

bool sk_bind_fits(struct sk_model *model, const struct sk_request *request, const struct sk_signature *signature)
{
	struct sk_binder binder;

	begin_task(&binder, model, request, signature);
	binder.quiet = true;
	bind(&binder);
	return !binder.failures;
}

unsigned sk_bind_distance(struct sk_model *model, const struct sk_request *request,
			  const struct sk_signature *signature)
{
	enum { MOST_FAILURES = 1000 }; /* more than a call's sizes can have */
	struct sk_binder binder;

	begin_task(&binder, model, request, signature);
	binder.quiet = true;
	bind(&binder);
	return binder.failures + (binder.matched ? 0 : MOST_FAILURES);
}

const char *sk_bind_reason(struct sk_model *model, const struct sk_request *request,
			   const struct sk_signature *signature)
{
	struct sk_binder binder;

	begin_task(&binder, model, request, signature);
	bind(&binder);
	return binder.failures ? binder.reason : NULL;
}

/* Give tensors as much room after them as tasks over-read. */
static void make_room(const struct sk_model *model, const struct sk_task *task)
{
	for (uint32_t a = 0; a < task->bound.argument_count; a++) {
		const struct sk_plan_pattern *pattern = task->bound.arguments[a].pattern;

		if (!pattern || task->bound.arguments[a].tensor == SK_NONE)
			continue;
		struct sk_tensor *tensor = &model->tensors.items[task->bound.arguments[a].tensor];

		tensor->padding = pattern->over_read > tensor->padding ? pattern->over_read : tensor->padding;
	}
}

static void commit(const struct sk_binder *binder, struct sk_task *task, const struct sk_kernel *kernel,
		   struct sk_map *lists)
{
	struct sk_arena *arena = binder->model->arena;
	uint32_t count = binder->argument_count;

	task->bound.arguments = SK_NEW_ARRAY(arena, struct sk_argument, count + kernel->state_count);
	memcpy(task->bound.arguments, binder->arguments, count * sizeof(struct sk_argument));
	for (uint32_t i = 0; i < count; i++)
		if (task->bound.arguments[i].kind == SK_ARGUMENT_SYMBOL)
			task->bound.arguments[i].value = kernel->symbols[task->bound.arguments[i].value];
	for (size_t i = 0; i < kernel->state_count; i++)
		task->bound.arguments[count++] =
			(struct sk_argument){.kind = SK_ARGUMENT_STATE,
					     .access = SK_ACCESS_READ | SK_ACCESS_WRITE,
					     .tensor = SK_NONE,
					     .of_library = kernel->state[i] == kernel->library_state,
					     .value = kernel->state[i]};
	task->bound.argument_count = count;
	task->bound.lane = lane_of(binder->model->device, binder->signature->lane);
	task->bound.idle = binder->idle;
	if (task->bound.idle)
		return;
	sk_bind_lists(binder->model, lists, task->bound.arguments, count);
	make_room(binder->model, task);
	task->bound.scratch_size = binder->scratch_size;
	if (binder->signature->spread_extent != SK_NONE)
		task->bound.extent = binder->extents[binder->signature->spread_extent];
	task->bound.loop_count = binder->signature->loop_count;
	for (uint32_t i = 0; i < task->bound.loop_count; i++)
		task->bound.loops[i] = (struct sk_plan_loop){binder->extents[binder->signature->loops[i].extent],
							     binder->signature->loops[i].tile};
	task->bound.block_count = (uint32_t)binder->blocks;
	task->bound.operations = binder->operations < SK_COST_MAX ? binder->operations : SK_COST_MAX;
	task->said.cost = sk_binder_cost(binder, task);
}

bool sk_model_bind(struct sk_model *model)
{
	unsigned errors = model->diag->errors;
	struct sk_request request = {.set = NULL};
	struct sk_binder binder;
	struct sk_map lists;

	sk_map_init(&lists, model->arena);
	for (size_t t = 0; t < model->tasks.count && !sk_diag_is_hopeless(model->diag); t++) {
		struct sk_task *task = &model->tasks.items[t];
		const struct sk_kernel *kernel = &model->kernels.items[task->bound.kernel];

		sk_request_of_task(model, task, &request);
		begin_task(&binder, model, &request, kernel->signature);
		binder.kernel = kernel->name;
		binder.stateful = kernel->state_count != 0;
		bind(&binder);
		sk_binder_check_cost(&binder, task->said.cost);
		if (binder.failures)
			continue;
		commit(&binder, task, kernel, &lists);
		if (!task->bound.idle)
			sk_sides_check(model, (uint32_t)t);
	}
	return model->diag->errors == errors;
}
