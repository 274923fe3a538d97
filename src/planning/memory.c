/* See planning.h. Temporaries are placed one by one in the order of their first use, each at the lowest permitted
 * offset.
 *
 * Only the last tenant of each byte must be compared. Both kinds of permission are transitive: steps known to have
 * ended before the tenant started are also known after it. So earlier tenants have permitted the last one already.
 *
 * Tenants that are still in use at the temporary's first step need no comparison either: they refuse. Between them are
 * stretches of bytes with past tenants only, and only sufficiently long stretches are searched. If launches and steps
 * are ordered, past tenants permit, and placing n temporaries costs n log n. If nothing orders them, past tenants can
 * refuse as well, and only comparisons tell. So the number of unsuccessful comparisons is limited.
 *
 * Temporaries that are accessed in rows are compared as wholes, like all others, but each distance of rows has a part
 * of the workspace of its own. So the proof, which compares accesses, never compares rows of different distances. A
 * temporary with rows of several distances has bytes of its own. So does a tensor that a task writes once and later
 * runs read. */
#include "src/planning/planning.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/ranges.h"
#include "format/skplan.h"
#include "format/skrows.h"
#include "src/model/model.h"
#include "src/planning/planning-parts.h"

/* All accesses to a temporary by one core set in one launch. A core set's clock only grows, so its first and last step
 * represent those between. */
struct use {
	uint32_t launch, lane, home; /* home: SK_ALL_CORES, or one of the launch's */
	uint32_t first, last; /* steps */
	bool uniform; /* all accesses have this pattern */
	struct sk_pattern pattern;
};

/* The place of a use in the order of launches and of their steps. */
struct moment {
	uint32_t launch, step;
};

struct temporary {
	uint32_t tensor;
	uint64_t size; /* rounded up to the alignment */
	uint64_t offset;
	struct moment first, last;
	uint64_t stride; /* of the rows that tasks access; 0: no access in rows */
	SK_ARRAY(struct use) uses; /* in launch order */
};

/* Limit of unsuccessful comparisons for all temporaries together; networks with 2,048 of them stay below it. After
 * that, only few comparisons are made for each temporary before it gets bytes of its own. */
#define MOST_IN_VAIN (UINT64_C(1) << 22)
enum { FEW_IN_VAIN = 64 };

/* In place of a stride: rows of several strides, or written by a task that runs once. It has bytes of its own. */
#define APART UINT64_MAX

enum permission { REFUSED, SAME_CORES, ORDERED };

struct planner {
	const struct sk_model *model;
	struct sk_arena *arena;
	const struct sk_fusion *fusion;
	const struct sk_schedule *schedule;
	SK_ARRAY(struct temporary) temporaries; /* in order of first use */
	uint32_t *temporary_of; /* by tensor */
	struct sk_ranges tenants; /* of the workspace so far, which has no gaps; the values are indices of
				   * temporaries */
	struct sk_ranges stretches; /* its longest ranges with only past tenants of the current stride */
	size_t placed; /* number of temporaries that need workspace: */
	struct temporary **by_start; /* by stride, within a stride in order of first use */
	struct temporary **by_end; /* by stride, within a stride in order of last use … */
	size_t past; /* … number of these that are past */
	uint64_t unshared_end; /* of the temporaries placed one after the other */
	uint64_t in_vain; /* comparisons with tenants that did not help */
};

/* ---- uses ---- */

static void add_use(struct planner *planner, struct temporary *temporary, uint32_t launch, uint32_t index,
		    struct sk_pattern pattern)
{
	const struct sk_step *step = &planner->schedule->launches[launch].steps[index];

	for (size_t i = temporary->uses.count; i-- > 0;) {
		struct use *use = &temporary->uses.items[i];

		if (use->launch != launch)
			break;
		if (use->lane != step->lane || use->home != step->home)
			continue;
		use->last = index;
		use->uniform = use->uniform && sk_pattern_equal(&use->pattern, &pattern);
		return;
	}
	sk_array_push(planner->arena, &temporary->uses,
		      (struct use){launch, step->lane, step->home, index, index, pattern.units != 0, pattern});
}

/* Return the pattern of an access in rows, widened to the window that contains the bytes of each unit, counted from the
 * tensor's start. It is the same for all columns. Bytes that are not in one window are not divided. */
static struct sk_pattern window_of(struct sk_pattern pattern)
{
	uint64_t distance = pattern.unit_bytes ? pattern.unit_bytes : pattern.element_bytes;

	if (pattern.units == 0 || pattern.span >= distance)
		return pattern;
	if (pattern.offset % distance + pattern.span > distance)
		pattern.units = 0;
	pattern.offset -= pattern.offset % distance;
	pattern.span = distance;
	return pattern;
}

static void note_stride(struct temporary *temporary, const struct sk_argument *argument, bool once)
{
	struct sk_rows rows = sk_argument_rows(argument);

	if (once)
		temporary->stride = APART;
	else if (rows.count > 1 && temporary->stride != rows.stride)
		temporary->stride = temporary->stride ? APART : rows.stride;
}

static void visit_task(struct planner *planner, uint32_t launch, uint32_t index, const struct sk_task *task)
{
	const struct sk_launch_schedule *steps = &planner->schedule->launches[launch];

	for (uint32_t a = 0; a < task->bound.argument_count; a++) {
		const struct sk_argument *argument = &task->bound.arguments[a];

		if (!sk_argument_access(argument) || argument->kind == SK_ARGUMENT_STATE)
			continue;
		const struct sk_tensor *tensor = &planner->model->tensors.items[argument->tensor];

		if (tensor->role != SK_ROLE_TEMPORARY)
			continue;
		uint32_t *number = &planner->temporary_of[argument->tensor];

		if (*number == SK_NONE) {
			*number = (uint32_t)planner->temporaries.count;
			sk_array_push(planner->arena, &planner->temporaries,
				      (struct temporary){.tensor = argument->tensor,
							 .size = tensor->bytes,
							 .first = {launch, index}});
		}
		struct temporary *temporary = &planner->temporaries.items[*number];

		temporary->last = (struct moment){launch, index};
		note_stride(temporary, argument, task->said.once);
		add_use(planner, temporary, launch, index,
			window_of(sk_schedule_pattern(planner->model, steps, index, task, a)));
	}
}

static void visit_step(struct planner *planner, uint32_t launch, uint32_t index)
{
	const struct sk_step *step = &planner->schedule->launches[launch].steps[index];

	for (uint32_t i = 0; i < step->task_count; i++)
		visit_task(planner, launch, index, &planner->model->tasks.items[step->tasks[i]]);
}

static void find_uses(struct planner *planner)
{
	for (size_t i = 0; i < planner->model->tensors.count; i++)
		planner->temporary_of[i] = SK_NONE;
	for (uint32_t l = 0; l < planner->fusion->launch_count; l++)
		for (uint32_t s = 0; s < planner->schedule->launches[l].step_count; s++)
			visit_step(planner, l, s);
}

/* ---- permission ---- */

static enum permission compare_uses(const struct planner *planner, const struct use *earlier, const struct use *later)
{
	if (earlier->launch != later->launch)
		return sk_fusion_before(planner->fusion, earlier->launch, later->launch) ? ORDERED : REFUSED;
	if (sk_schedule_known(&planner->schedule->launches[earlier->launch], earlier->last, later->first))
		return ORDERED;
	if (earlier->last < later->first && earlier->home == SK_ALL_CORES && later->home == SK_ALL_CORES &&
	    earlier->lane == later->lane && earlier->uniform && later->uniform &&
	    sk_pattern_equal(&earlier->pattern, &later->pattern))
		return SAME_CORES;
	return REFUSED;
}

/* Return whether the later temporary, in order of first use, may have the same place as the earlier one. */
static enum permission compare_temporaries(const struct planner *planner, const struct temporary *earlier,
					   const struct temporary *later)
{
	enum permission permission = ORDERED;

	if (earlier->stride != later->stride || earlier->stride == APART)
		return REFUSED;
	for (size_t i = earlier->uses.count; i-- > 0;) {
		for (size_t k = 0; k < later->uses.count; k++) {
			enum permission one = compare_uses(planner, &earlier->uses.items[i], &later->uses.items[k]);

			if (one == REFUSED)
				return REFUSED;
			if (one < permission)
				permission = one;
		}
	}
	return permission;
}

/* ---- placement ---- */

/* The state of a search through tenants, from a stretch's start on. */
struct search {
	uint64_t start; /* of the run of tenants that permit, so far */
	uint64_t in_vain, most;
	bool found;
};

/* Find the lowest offset in the stretch: over tenants that permit, or exactly at a tenant of the same size with
 * accesses on the same cores. */
static void search_stretch(struct planner *planner, const struct temporary *temporary, const struct sk_range *stretch,
			   struct search *search)
{
	uint64_t run = 0; /* number of tenants from the start on */

	search->start = stretch->start;
	for (uint64_t at = stretch->start; at < stretch->end && search->in_vain + run <= search->most;) {
		const struct sk_range *range = sk_ranges_find(&planner->tenants, at);
		const struct temporary *tenant = &planner->temporaries.items[range->value];
		enum permission permission = compare_temporaries(planner, tenant, temporary);

		at = range->end;
		run++;
		if (permission == ORDERED && at - search->start < temporary->size)
			continue;
		search->found = permission == ORDERED;
		if (permission == SAME_CORES && tenant->size == temporary->size && at - range->start == tenant->size) {
			search->start = range->start;
			search->found = true;
		}
		if (search->found)
			return;
		search->start = at;
		search->in_vain += run;
		run = 0;
	}
	search->in_vain += run;
}

/* Return the offset after all tenants, except those at the end that permit. */
static uint64_t find_end(struct planner *planner, const struct temporary *temporary)
{
	const struct sk_range *range = sk_ranges_before(&planner->tenants, UINT64_MAX);
	uint64_t end = range ? range->end : 0, start = end;

	while (range && end - start < temporary->size &&
	       compare_temporaries(planner, &planner->temporaries.items[range->value], temporary) == ORDERED) {
		start = range->start;
		range = sk_ranges_before(&planner->tenants, start);
	}
	return start;
}

/* Return the lowest permitted offset of the temporary. */
static uint64_t find_offset(struct planner *planner, const struct temporary *temporary)
{
	const struct sk_range *stretch = sk_ranges_find_long(&planner->stretches, 0, temporary->size);
	struct search search = {
		.most = planner->in_vain < MOST_IN_VAIN ? MOST_IN_VAIN - planner->in_vain : FEW_IN_VAIN,
	};

	while (stretch && search.in_vain <= search.most) {
		search_stretch(planner, temporary, stretch, &search);
		if (search.found)
			break;
		stretch = sk_ranges_find_long(&planner->stretches, stretch->end, temporary->size);
	}
	planner->in_vain += search.in_vain;
	return search.found ? search.start : find_end(planner, temporary);
}

static bool is_before(struct moment one, struct moment other)
{
	return one.launch < other.launch || (one.launch == other.launch && one.step < other.step);
}

static int compare_ends(const void *a, const void *b)
{
	const struct temporary *left = *(struct temporary *const *)a, *right = *(struct temporary *const *)b;

	if (left->stride != right->stride)
		return left->stride < right->stride ? -1 : 1;
	return is_before(right->last, left->last) - is_before(left->last, right->last);
}

/* The temporaries are in one array, in order of first use. */
static int compare_starts(const void *a, const void *b)
{
	const struct temporary *left = *(struct temporary *const *)a, *right = *(struct temporary *const *)b;

	if (left->stride != right->stride)
		return left->stride < right->stride ? -1 : 1;
	return (left > right) - (left < right);
}

/* Return the temporaries that need workspace. One that lives in one step alone may be in the scratch. */
static struct temporary **sort_temporaries(struct planner *planner, int (*compare_two)(const void *a, const void *b))
{
	const uint64_t *scratch_offset = planner->schedule->groups->scratch_offset;
	struct temporary **sorted = SK_NEW_ARRAY(planner->arena, struct temporary *, planner->temporaries.count);

	planner->placed = 0;
	for (size_t i = 0; i < planner->temporaries.count; i++)
		if (scratch_offset[planner->temporaries.items[i].tensor] == SK_NOT_IN_SCRATCH)
			sorted[planner->placed++] = &planner->temporaries.items[i];
	if (planner->placed)
		qsort(sorted, planner->placed, sizeof(struct temporary *), compare_two);
	return sorted;
}

/* Merge its bytes with the adjacent stretches. */
static void make_past(struct planner *planner, const struct temporary *temporary)
{
	struct sk_range joined = {temporary->offset, temporary->offset + temporary->size, SK_NONE};
	const struct sk_range *before = sk_ranges_before(&planner->stretches, joined.start);

	if (before && before->end == joined.start) {
		joined.start = before->start;
		sk_ranges_remove(&planner->stretches, joined.start);
	}
	const struct sk_range *behind = sk_ranges_find(&planner->stretches, joined.end);

	if (behind && behind->start == joined.end) {
		joined.end = behind->end;
		sk_ranges_remove(&planner->stretches, behind->start);
	}
	sk_ranges_insert(planner->arena, &planner->stretches, joined);
}

/* Temporaries of the same stride are past if their last use is before this one's first use. Each then has all its
 * bytes, since bytes in use are not reassigned. */
static void release_past(struct planner *planner, const struct temporary *next)
{
	for (; planner->past < planner->placed; planner->past++) {
		const struct temporary *temporary = planner->by_end[planner->past];

		if (temporary->stride != next->stride || next->stride == APART ||
		    !is_before(temporary->last, next->first))
			return;
		make_past(planner, temporary);
	}
}

/* From the temporary at that place of by_start on, the stride is a new one with no past temporaries. */
static void begin_stride(struct planner *planner, size_t place)
{
	sk_ranges_clear(planner->arena, &planner->stretches, 0, UINT64_MAX);
	planner->past = place;
}

/* Make the temporary the tenant of its bytes. */
static void occupy(struct planner *planner, const struct temporary *temporary)
{
	uint32_t number = planner->temporary_of[temporary->tensor];
	uint64_t start = temporary->offset, end = start + temporary->size;

	sk_ranges_clear(planner->arena, &planner->tenants, start, end);
	sk_ranges_insert(planner->arena, &planner->tenants, (struct sk_range){start, end, number});
	sk_ranges_clear(planner->arena, &planner->stretches, start, end);
}

/* Extend the workspace to the bytes that tasks read after the end of a temporary, where others may be. Return false on
 * overflow. */
static bool make_room(const struct planner *planner, uint32_t number, uint64_t offset, uint64_t *workspace)
{
	const struct sk_tensor *tensor = &planner->model->tensors.items[number];
	uint64_t end;

	if (!sk_add(offset, tensor->bytes, &end) || !sk_add(end, tensor->padding, &end) ||
	    !sk_align(end, SK_WORKSPACE_ALIGNMENT, &end))
		return false;
	*workspace = end > *workspace ? end : *workspace;
	return true;
}

/* Place all temporaries one after the other. Return false on overflow; otherwise no other layout overflows. */
static bool lay_out_unshared(struct planner *planner, struct sk_memory *memory)
{
	for (size_t i = 0; i < planner->temporaries.count; i++) {
		struct temporary *temporary = &planner->temporaries.items[i];

		memory->unshared_offset[temporary->tensor] = planner->unshared_end;
		if (!sk_align(temporary->size, SK_WORKSPACE_ALIGNMENT, &temporary->size) ||
		    !sk_add(planner->unshared_end, temporary->size, &planner->unshared_end) ||
		    !make_room(planner, temporary->tensor, memory->unshared_offset[temporary->tensor],
			       &memory->unshared_workspace_size))
			return false;
	}
	return true;
}

/* Place temporaries without bytes at the start, which they share with others; bytes read after their end are also
 * there. Return false on overflow. */
static bool place_empty(const struct planner *planner, struct sk_memory *memory)
{
	for (uint32_t i = 0; i < planner->model->tensors.count; i++) {
		const struct sk_tensor *tensor = &planner->model->tensors.items[i];

		if (tensor->role == SK_ROLE_TEMPORARY && tensor->view_of == SK_NONE && !tensor->bytes &&
		    (!make_room(planner, i, 0, &memory->workspace_size) ||
		     !make_room(planner, i, 0, &memory->unshared_workspace_size)))
			return false;
	}
	return true;
}

struct sk_memory *sk_memory_plan(const struct sk_model *model, const struct sk_fusion *fusion,
				 const struct sk_schedule *schedule)
{
	struct sk_arena *arena = model->arena;
	struct sk_memory *memory = SK_NEW(arena, struct sk_memory);
	struct planner planner = {
		.model = model,
		.arena = arena,
		.fusion = fusion,
		.schedule = schedule,
		.temporary_of = SK_NEW_ARRAY(arena, uint32_t, model->tensors.count),
	};

	memory->offset = SK_NEW_ARRAY(arena, uint64_t, model->tensors.count);
	memory->unshared_offset = SK_NEW_ARRAY(arena, uint64_t, model->tensors.count);
	find_uses(&planner);
	if (!lay_out_unshared(&planner, memory) || !place_empty(&planner, memory)) {
		sk_error(model->diag, (struct sk_place){.file = model->manifest},
			 "the temporaries together are larger than the address space");
		return NULL;
	}
	planner.by_start = sort_temporaries(&planner, compare_starts);
	planner.by_end = sort_temporaries(&planner, compare_ends);
	for (size_t i = 0; i < planner.placed; i++) {
		struct temporary *temporary = planner.by_start[i];

		if (i && temporary->stride != planner.by_start[i - 1]->stride)
			begin_stride(&planner, i);
		release_past(&planner, temporary);
		temporary->offset = find_offset(&planner, temporary);
		occupy(&planner, temporary);
		memory->offset[temporary->tensor] = temporary->offset;
		make_room(&planner, temporary->tensor, temporary->offset, &memory->workspace_size);
	}
	memory->steps = planner.tenants.steps + planner.stretches.steps + planner.in_vain;
	return memory;
}
