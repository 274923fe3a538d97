/* Facts and words about accesses; see access.h. They follow from stubs/skplan.h alone. */
#include "src/proof/access.h"

#include <inttypes.h>

/* ---- facts ---- */

bool sk_access_reads(const struct sk_plan_argument *argument)
{
	switch (argument->kind) {
	case SK_ARGUMENT_POINTER:
		return argument->access & SK_ACCESS_READ;
	case SK_ARGUMENT_LOAD:
	case SK_ARGUMENT_STATE:
		return true;
	default:
		return false;
	}
}

bool sk_access_writes(const struct sk_plan_argument *argument)
{
	switch (argument->kind) {
	case SK_ARGUMENT_POINTER:
		return argument->access & SK_ACCESS_WRITE;
	case SK_ARGUMENT_RESULT:
	case SK_ARGUMENT_STATE:
		return true;
	default:
		return false;
	}
}

void sk_access_range(const struct sk_plan_argument *argument, uint64_t *low, uint64_t *high)
{
	bool state = argument->kind == SK_ARGUMENT_STATE;

	*low = state ? argument->index : argument->offset;
	*high = state ? (uint64_t)argument->index + 1 : argument->offset + argument->size;
}

struct sk_task_call *sk_find_calls(struct sk_arena *arena, const struct sk_plan_view *view)
{
	struct sk_task_call *places = SK_NEW_ARRAY(arena, struct sk_task_call, view->task_count);

	for (uint32_t l = 0; l < view->network_launch_count; l++)
		for (uint32_t i = 0; i < view->launches[l].step_count; i++) {
			uint32_t step = view->launches[l].first_step + i, first = view->steps[step].first_call;

			if (view->steps[step].flags & SK_STEP_VECTOR_SIDE)
				continue;
			for (uint32_t call = first; call < first + view->steps[step].call_count; call++)
				places[view->calls[call].task] = (struct sk_task_call){l, step, call};
		}
	return places;
}

/* The cores share out all of its bytes. */
static bool is_divided(const struct sk_plan_step *step, const struct sk_plan_argument *argument)
{
	return argument->kind == SK_ARGUMENT_POINTER && argument->element_bytes != 0 &&
	       argument->element_bytes * step->extent == argument->size;
}

/* One core at most runs the step's calls. */
static bool on_one_core(const struct sk_plan_step *step)
{
	return step->kind == SK_STEP_PLAIN || (step->blocks == 1 && !(step->flags & SK_STEP_CUBE_SIDE));
}

static bool same_start(const struct sk_plan_argument *one, const struct sk_plan_argument *other)
{
	return one->space == other->space && one->index == other->index && one->offset == other->offset;
}

bool sk_access_same_core(const struct sk_plan_view *view, const struct sk_step_access *one,
			 const struct sk_step_access *other)
{
	const struct sk_plan_step *step = &view->steps[one->step], *other_step = &view->steps[other->step];
	const struct sk_plan_argument *argument = &view->arguments[one->argument];
	const struct sk_plan_argument *other_argument = &view->arguments[other->argument];

	if (one->step == other->step && on_one_core(step))
		return true;
	if (!is_divided(step, argument) || !is_divided(other_step, other_argument) ||
	    !same_start(argument, other_argument))
		return false;

	struct sk_units units = sk_plan_units(view, step, argument);
	struct sk_units other_units = sk_plan_units(view, other_step, other_argument);

	if (units.unit_bytes == 0 && (step->extent != other_step->extent || argument->size != other_argument->size))
		return false;
	return units.units == other_units.units && units.unit_bytes == other_units.unit_bytes;
}

bool sk_access_allowed_within_call(const struct sk_plan_view *view, const struct sk_step_access *one,
				   const struct sk_step_access *other)
{
	const struct sk_plan_step *step = &view->steps[one->step];
	const struct sk_plan_argument *a = &view->arguments[one->argument], *b = &view->arguments[other->argument];
	bool identical = a->kind == SK_ARGUMENT_POINTER && b->kind == SK_ARGUMENT_POINTER && same_start(a, b) &&
			 a->size == b->size && a->element_bytes == b->element_bytes;

	return on_one_core(step) || (identical && (step->kind == SK_STEP_BLOCKS || is_divided(step, a)));
}

bool sk_access_write_allowed(const struct sk_plan_view *view, const struct sk_step_access *access)
{
	const struct sk_plan_step *step = &view->steps[access->step];
	const struct sk_plan_argument *argument = &view->arguments[access->argument];

	if (on_one_core(step))
		return true;
	if (argument->kind != SK_ARGUMENT_POINTER)
		return false; /* each core would store its own result, or share the kernel's hidden state */
	return step->kind == SK_STEP_BLOCKS || is_divided(step, argument);
}

/* ---- words ---- */

const char *sk_access_step_text(struct sk_arena *arena, const struct sk_plan_view *view,
				const struct sk_step_access *access)
{
	const struct sk_plan_step *step = &view->steps[access->step];
	const char *lane = sk_plan_string(&view->lanes[step->lane]);

	if (step->core_set == SK_ALL_CORES)
		return sk_arena_print(arena, "step %u of lane %s, on all cores", step->number, lane);
	return sk_arena_print(arena, "step %u of lane %s, on the home of stream %u", step->number, lane,
			      view->homes[step->core_set].stream);
}

const char *sk_access_tensor_text(struct sk_arena *arena, const struct sk_plan_view *view,
				  const struct sk_step_access *access)
{
	const struct sk_plan_argument *argument = &view->arguments[access->argument];

	if (argument->space == SK_SPACE_STATE)
		return argument->flags & SK_ARGUMENT_OF_LIBRARY
			       ? "the C library's random numbers"
			       : sk_arena_print(arena, "hidden state %u", argument->index);
	return sk_arena_print(arena, "'%s'", sk_plan_string(&view->tensors[argument->tensor].name));
}

const char *sk_access_overlap_text(struct sk_arena *arena, const struct sk_plan_view *view,
				   const struct sk_step_access *one, const struct sk_step_access *other)
{
	const struct sk_plan_argument *argument = &view->arguments[one->argument];
	uint64_t low, high, other_low, other_high;

	sk_access_range(argument, &low, &high);
	sk_access_range(&view->arguments[other->argument], &other_low, &other_high);
	low = low > other_low ? low : other_low;
	high = high < other_high ? high : other_high;
	switch (argument->space) {
	case SK_SPACE_BINDING:
		return sk_arena_print(arena, "bytes [%" PRIu64 ", %" PRIu64 ") of binding %u", low, high,
				      argument->index);
	case SK_SPACE_WORKSPACE:
		return sk_arena_print(arena, "bytes [%" PRIu64 ", %" PRIu64 ") of the workspace", low, high);
	default:
		return "the kernels' own memory";
	}
}
