/* See proof-parts.h. The calls of a step are processed in order. A list of tiles describes the scratch as it was last
 * written. It contains neither the kernels' own scratch nor the fields that are stored there. */
#include "src/proof/proof-parts.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/diag.h"
#include "format/convention.h"
#include "format/plan/plan.h"
#include "format/skplan.h"
#include "src/proof/proof.h"

enum { CONGRUENCE = 64 };

/* A whole tile in the scratch. */
struct tile {
	uint64_t start, end;
	uint32_t tensor;
	struct sk_step_access access; /* the access that last wrote it */
};

struct sk_scratch_check {
	struct sk_arena *arena;
	struct sk_diag *diag;
	const struct sk_plan_view *view;
	const char *file;
	uint32_t *step_of; /* by tensor: step + 1; 0: no step so far */
	SK_ARRAY(struct tile) tiles; /* of the current step */

	struct sk_facts *facts;

	uint32_t launch;
	const struct sk_plan_step *step;
	const struct sk_plan_call *call;
};

__attribute__((format(printf, 3, 4))) static void
report(struct sk_scratch_check *check, const struct sk_plan_argument *argument, const char *format, ...)
{
	va_list args;
	char text[256];

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	sk_error(check->diag, (struct sk_place){.file = check->file}, "task '%s' has '%s' in the scratch, %s",
		 sk_plan_string(&check->view->tasks[check->call->task].name),
		 sk_plan_string(&check->view->tensors[argument->tensor].name), text);
}

static struct tile tile_of(const struct sk_scratch_check *check, const struct sk_plan_argument *argument)
{
	uint64_t bytes = check->step->tile * check->call->scale * argument->element_bytes;

	return (struct tile){
		.start = argument->offset,
		.end = argument->offset + bytes,
		.tensor = argument->tensor,
		.access = {.launch = check->launch,
			   .step = (uint32_t)(check->step - check->view->steps),
			   .call = (uint32_t)(check->call - check->view->calls),
			   .argument = (uint32_t)(argument - check->view->arguments)},
	};
}

static bool overlap(const struct tile *one, const struct tile *other)
{
	return one->start < other->end && other->start < one->end;
}

/* Check the argument on its own. */
static void check_argument(struct sk_scratch_check *check, const struct sk_plan_argument *argument)
{
	const struct sk_plan_tensor *tensor = &check->view->tensors[argument->tensor];
	uint64_t unit = check->view->partitions[check->step->partition].unit;
	uint32_t step = (uint32_t)(check->step - check->view->steps);
	uint32_t *only = &check->step_of[argument->tensor];

	if (*only && *only != step + 1)
		report(check, argument, "which a call of another step also accesses");
	*only = step + 1;
	if (argument->kind != SK_ARGUMENT_POINTER || argument->offset != tensor->offset ||
	    argument->size != sk_plan_type(tensor)->bytes ||
	    argument->element_bytes * sk_plan_extent(check->step, check->call) != sk_plan_type(tensor)->bytes)
		report(check, argument, "but does not divide all of it");
	if (argument->offset % CONGRUENCE || unit * check->call->scale * argument->element_bytes % CONGRUENCE)
		report(check, argument, "where its tiles do not begin at multiples of %d bytes", CONGRUENCE);
}

/* The whole tile that it reads is in the scratch. */
static void check_read(struct sk_scratch_check *check, const struct sk_plan_argument *argument)
{
	struct tile wanted = tile_of(check, argument);

	for (size_t i = 0; i < check->tiles.count; i++) {
		const struct tile *tile = &check->tiles.items[i];

		if (tile->tensor != wanted.tensor || tile->start != wanted.start || tile->end != wanted.end)
			continue;
		if (check->facts)
			sk_array_push(check->arena, &check->facts->items,
				      (struct sk_fact){.earlier = tile->access,
						       .later = wanted.access,
						       .kind = SK_FACT_SAME_CORE});
		return;
	}
	report(check, argument,
	       "and reads it, but no call before it has written all of the tile, or another one has "
	       "written over it");
}

/* Remove the tiles that the written bytes overlap. */
static void overwrite(struct sk_scratch_check *check, struct tile bytes)
{
	size_t kept = 0;

	for (size_t i = 0; i < check->tiles.count; i++)
		if (!overlap(&check->tiles.items[i], &bytes))
			check->tiles.items[kept++] = check->tiles.items[i];
	check->tiles.count = kept;
}

static bool is_in_scratch(const struct sk_plan_argument *argument)
{
	return argument->space == SK_SPACE_SCRATCH;
}

/* Compare two arguments of one call. */
static void check_pair(struct sk_scratch_check *check, const struct sk_plan_argument *one,
		       const struct sk_plan_argument *other)
{
	struct tile tile = tile_of(check, one), other_tile = tile_of(check, other);

	if (one->tensor != other->tensor && overlap(&tile, &other_tile) &&
	    (sk_access_writes(one) || sk_access_writes(other)))
		report(check, one, "where the same call has '%s'",
		       sk_plan_string(&check->view->tensors[other->tensor].name));
}

/* Return the call's own scratch, which belongs to no tensor: the kernel's piece, or a field that is stored before the
 * call. Empty if there is none. */
static struct tile own_piece(const struct sk_plan_argument *argument)
{
	if (argument->kind != SK_ARGUMENT_SCRATCH)
		return (struct tile){0};
	return (struct tile){argument->offset, argument->offset + argument->size, SK_NO_INDEX, {0}};
}

static struct tile own_field(const struct sk_scratch_check *check, const struct sk_plan_argument *argument)
{
	const struct sk_plan_pattern *pattern = sk_plan_pattern(check->view, argument);
	uint64_t size = sk_argument_is_scalar(argument) ? sk_dtype_size(argument->dtype) : sizeof(uint64_t);

	if (!(argument->flags & SK_ARGUMENT_FIELD))
		return (struct tile){0};
	if (pattern && pattern->table_count)
		size *= pattern->table_count;
	return (struct tile){argument->field, argument->field + size, SK_NO_INDEX, {0}};
}

/* The call's own pieces overlap none of its tiles. */
static void check_own(struct sk_scratch_check *check, const struct sk_plan_argument *argument,
		      const struct sk_plan_argument *own)
{
	struct tile tile = tile_of(check, argument), piece = own_piece(own), field = own_field(check, own);

	if (overlap(&tile, &piece) || overlap(&tile, &field))
		report(check, argument, "where its kernel has scratch of its own");
}

static void check_call(struct sk_scratch_check *check)
{
	const struct sk_plan_argument *arguments = sk_plan_arguments(check->view, check->call);
	uint32_t count = check->call->argument_count;

	for (uint32_t i = 0; i < count; i++) {
		overwrite(check, own_piece(&arguments[i]));
		overwrite(check, own_field(check, &arguments[i]));
	}
	for (uint32_t i = 0; i < count; i++) {
		if (!is_in_scratch(&arguments[i]))
			continue;
		check_argument(check, &arguments[i]);
		if (sk_access_reads(&arguments[i]))
			check_read(check, &arguments[i]);
		for (uint32_t k = 0; k < i; k++)
			if (is_in_scratch(&arguments[k]))
				check_pair(check, &arguments[k], &arguments[i]);
		for (uint32_t k = 0; k < count; k++)
			check_own(check, &arguments[i], &arguments[k]);
	}
	for (uint32_t i = 0; i < count; i++)
		if (is_in_scratch(&arguments[i]) && sk_access_writes(&arguments[i])) {
			overwrite(check, tile_of(check, &arguments[i]));
			sk_array_push(check->arena, &check->tiles, tile_of(check, &arguments[i]));
		}
}

/* Calls run in the network's order. The tiles do not show a wrong order if two calls write the same tile, or one reads
 * it between two writes. */
static void check_order(struct sk_scratch_check *check, const struct sk_plan_call *first)
{
	const struct sk_plan_task *tasks = check->view->tasks;

	if (check->call > first && check->call[-1].task >= check->call->task)
		sk_error(check->diag, (struct sk_place){.file = check->file},
			 "task '%s' runs before task '%s' in the tiles of one step, but comes after it in the network",
			 sk_plan_string(&tasks[check->call[-1].task].name),
			 sk_plan_string(&tasks[check->call->task].name));
}

struct sk_scratch_check *sk_scratch_check_new(struct sk_arena *arena, struct sk_diag *diag,
					      const struct sk_plan_view *view, const char *file, struct sk_facts *facts)
{
	struct sk_scratch_check *check = SK_NEW(arena, struct sk_scratch_check);

	check->arena = arena;
	check->diag = diag;
	check->view = view;
	check->file = file;
	check->facts = facts;
	check->step_of = SK_NEW_ARRAY(arena, uint32_t, view->tensor_count);
	return check;
}

void sk_scratch_check_step(struct sk_scratch_check *check, uint32_t launch, uint32_t step)
{
	struct sk_plan_calls calls = sk_plan_step_calls(check->view, &check->view->steps[step]);

	check->launch = launch;
	check->step = &check->view->steps[step];
	check->tiles.count = 0;
	for (check->call = calls.first; check->call < calls.end && check->step->tile; check->call++) {
		check_order(check, calls.first);
		check_call(check);
	}
}
