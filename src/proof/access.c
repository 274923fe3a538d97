/* Properties of accesses and words for them; see proof.h. They rely on format/skplan.h alone. */

#include <inttypes.h>

#include "base/arena.h"
#include "format/plan/plan.h"
#include "format/skplan.h"
#include "format/skrows.h"
#include "src/proof/proof.h"

/* ---- facts ---- */

struct sk_rows sk_access_rows(const struct sk_plan_view *view, const struct sk_plan_argument *argument)
{
	if (argument->kind == SK_ARGUMENT_STATE)
		return (struct sk_rows){argument->index, 1, 0, 1};
	return sk_plan_rows(view, argument);
}

uint64_t sk_access_shared_bytes(const struct sk_plan_view *view, const struct sk_plan_argument *argument)
{
	const struct sk_plan_pattern *pattern = sk_plan_pattern(view, argument);
	struct sk_rows rows = sk_plan_rows(view, argument);

	if (sk_plan_is_single_row(pattern))
		return pattern->stride;
	return rows.count == 1 ? rows.width : rows.count * rows.stride;
}

struct sk_task_call *sk_find_calls(struct sk_arena *arena, const struct sk_plan_view *view)
{
	struct sk_task_call *places = SK_NEW_ARRAY(arena, struct sk_task_call, view->task_count);

	for (uint32_t l = 0; l < view->network_launch_count; l++)
		for (uint32_t i = 0; i < sk_plan_form(&view->launches[l])->step_count; i++) {
			uint32_t step = view->launches[l].first_step + i, first = view->steps[step].first_call;

			if (view->steps[step].flags & SK_STEP_VECTOR_SIDE)
				continue;
			for (uint32_t call = first; call < first + view->steps[step].call_count; call++)
				places[view->calls[call].task] = (struct sk_task_call){l, step, call};
		}
	return places;
}

/* The cores share out all of the access's bytes. */
static bool is_divided(const struct sk_plan_view *view, const struct sk_step_access *access)
{
	const struct sk_plan_argument *argument = &view->arguments[access->argument];
	uint64_t extent = sk_plan_extent(&view->steps[access->step], &view->calls[access->call]);
	const struct sk_plan_pattern *pattern = sk_plan_pattern(view, argument);

	return argument->kind == SK_ARGUMENT_POINTER && argument->element_bytes != 0 && !(pattern && pattern->halo) &&
	       argument->element_bytes * extent == sk_access_shared_bytes(view, argument);
}

bool sk_step_on_one_core(const struct sk_plan_step *step)
{
	return step->kind == SK_STEP_PLAIN || (step->blocks == 1 && !(step->flags & SK_STEP_CUBE_SIDE));
}

/* The division of an access's bytes among the cores. */
struct sharing {
	uint64_t units, unit_bytes; /* as in struct sk_units */
	uint64_t count, bytes; /* irregular units: the rows that they consist of, and the distance between rows */
	uint64_t first; /* elements of the call's extent in the first unit, or in the first row */
	uint64_t first_core; /* the core that has the first unit */
};

/* Sharing in blocks: the blocks of the step itself, or those of its partition. */
static struct sharing share_blocks(const struct sk_plan_view *view, const struct sk_step_access *access, uint64_t rows,
				   uint64_t blocks)
{
	const struct sk_plan_argument *argument = &view->arguments[access->argument];
	uint64_t extent = sk_plan_extent(&view->steps[access->step], &view->calls[access->call]);
	uint64_t row = extent / rows, whole = rows % blocks ? 0 : rows / blocks;

	return (struct sharing){.units = blocks,
				.unit_bytes = whole * row * argument->element_bytes,
				.count = rows,
				.bytes = row * argument->element_bytes,
				.first = whole ? whole * row : row};
}

/* Two calls of one step that share out rows alike also have elements equally far apart, so their tiles coincide. */
static struct sharing share_units(const struct sk_plan_view *view, const struct sk_step_access *access)
{
	const struct sk_plan_step *step = &view->steps[access->step];
	const struct sk_plan_call *call = &view->calls[access->call];
	const struct sk_plan_partition *partition = &view->partitions[step->partition];
	struct sk_units units;

	if (step->kind == SK_STEP_BLOCKS_RANGE)
		return share_blocks(view, access, step->extent, step->blocks);
	if (partition->blocks)
		return share_blocks(view, access, partition->rows, partition->blocks);
	units = sk_plan_units(view, step, call, &view->arguments[access->argument]);
	return (struct sharing){
		.units = units.units, .unit_bytes = units.unit_bytes, .first = partition->unit * call->scale};
}

static struct sharing find_sharing(const struct sk_plan_view *view, const struct sk_step_access *access)
{
	struct sharing sharing = share_units(view, access);

	sharing.first_core = view->partitions[view->steps[access->step].partition].first_core;
	return sharing;
}

/* Return the bytes of the first unit, from its first to its last byte; for irregular units, those of the first row. */
static struct sk_rows first_part(const struct sk_plan_view *view, const struct sk_step_access *access, uint64_t first)
{
	struct sk_rows part = sk_plan_part_rows(view, &view->steps[access->step], &view->calls[access->call],
						&view->arguments[access->argument], 0, first);

	return sk_rows_extent(&part);
}

bool sk_access_same_core(const struct sk_plan_view *view, const struct sk_step_access *one,
			 const struct sk_step_access *other)
{
	const struct sk_plan_argument *argument = &view->arguments[one->argument];
	const struct sk_plan_argument *other_argument = &view->arguments[other->argument];

	if (one->step == other->step && sk_step_on_one_core(&view->steps[one->step]))
		return true;
	if (!is_divided(view, one) || !is_divided(view, other) || argument->space != other_argument->space ||
	    argument->index != other_argument->index)
		return false;

	struct sharing sharing = find_sharing(view, one), other_sharing = find_sharing(view, other);
	struct sk_rows part = first_part(view, one, sharing.first);
	struct sk_rows other_part = first_part(view, other, other_sharing.first);
	uint64_t window = sharing.unit_bytes ? sharing.unit_bytes : sharing.bytes;
	uint64_t start = part.start < other_part.start ? part.start : other_part.start;

	if (sharing.units != other_sharing.units || sharing.unit_bytes != other_sharing.unit_bytes ||
	    sharing.first_core != other_sharing.first_core)
		return false;
	if (sharing.unit_bytes == 0 && (sharing.count != other_sharing.count || sharing.bytes != other_sharing.bytes))
		return false;
	return part.start - start + part.width <= window && other_part.start - start + other_part.width <= window;
}

static bool same_rows(const struct sk_plan_view *view, const struct sk_plan_argument *one,
		      const struct sk_plan_argument *other)
{
	struct sk_rows a = sk_plan_rows(view, one), b = sk_plan_rows(view, other);

	return one->space == other->space && one->index == other->index && a.start == b.start && a.width == b.width &&
	       a.stride == b.stride && a.count == b.count;
}

bool sk_access_allowed_within_call(const struct sk_plan_view *view, const struct sk_step_access *one,
				   const struct sk_step_access *other)
{
	const struct sk_plan_step *step = &view->steps[one->step];
	const struct sk_plan_argument *a = &view->arguments[one->argument], *b = &view->arguments[other->argument];
	bool identical = a->kind == SK_ARGUMENT_POINTER && b->kind == SK_ARGUMENT_POINTER && same_rows(view, a, b) &&
			 a->element_bytes == b->element_bytes;

	return sk_step_on_one_core(step) || (identical && (step->kind == SK_STEP_BLOCKS || is_divided(view, one)));
}

bool sk_access_write_allowed(const struct sk_plan_view *view, const struct sk_step_access *access)
{
	const struct sk_plan_step *step = &view->steps[access->step];
	const struct sk_plan_argument *argument = &view->arguments[access->argument];

	if (sk_step_on_one_core(step))
		return true;
	if (argument->kind != SK_ARGUMENT_POINTER)
		return false; /* each core would store its own result, or share the kernel's hidden state */
	return step->kind == SK_STEP_BLOCKS || is_divided(view, access);
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
	if (argument->space == SK_SPACE_SIZES)
		return "a list of sizes";
	return sk_arena_print(arena, "'%s'", sk_plan_string(&view->tensors[argument->tensor].name));
}

const char *sk_access_overlap_text(struct sk_arena *arena, const struct sk_plan_view *view,
				   const struct sk_step_access *one, const struct sk_step_access *other)
{
	const struct sk_plan_argument *argument = &view->arguments[one->argument];
	struct sk_rows rows = sk_access_rows(view, argument);
	struct sk_rows other_rows = sk_access_rows(view, &view->arguments[other->argument]);
	uint64_t low = rows.start > other_rows.start ? rows.start : other_rows.start;
	uint64_t high = sk_rows_end(&rows) < sk_rows_end(&other_rows) ? sk_rows_end(&rows) : sk_rows_end(&other_rows);

	switch (argument->space) {
	case SK_SPACE_BINDING:
		if (low >= high)
			return sk_arena_print(arena, "bytes of binding %u at some sizes", argument->index);
		return sk_arena_print(arena, "bytes [%" PRIu64 ", %" PRIu64 ") of binding %u", low, high,
				      argument->index);
	case SK_SPACE_WORKSPACE:
		if (low >= high)
			return "bytes of the workspace at some sizes";
		return sk_arena_print(arena, "bytes [%" PRIu64 ", %" PRIu64 ") of the workspace", low, high);
	default:
		return "the kernels' own memory";
	}
}
