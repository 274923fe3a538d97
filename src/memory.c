/* See memory.h. Temporaries are placed one by one in the order of their first use, each at the lowest offset where it
 * may lie.
 *
 * Only the last tenant of each byte has to be asked: both kinds of permission are transitive (what was known to have
 * ended before the tenant started is known behind it too), so earlier tenants have given theirs to the last one. */
#include "memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

/* All accesses to a temporary by one core set in one launch. A core set's clock only grows, so its first and last step
 * stand for those between. */
struct use {
	uint32_t launch, lane, home; /* home: SK_ALL_CORES, or the launch's */
	uint32_t first, last; /* steps */
	bool uniform; /* all accesses have this pattern */
	struct sk_pattern pattern;
};

struct temporary {
	uint32_t tensor;
	uint64_t size; /* rounded up to the alignment */
	uint64_t offset;
	SK_ARRAY(struct use) uses; /* in launch order */
};

/* A range of the workspace and the last temporary placed there. */
struct piece {
	uint64_t start, end;
	uint32_t tenant; /* index into temporaries */
};

enum permission { REFUSED, SAME_CORES, ORDERED };

struct planner {
	const struct sk_model *model;
	struct sk_arena *arena;
	const struct sk_partition *partition;
	const struct sk_schedule *schedule;
	SK_ARRAY(struct temporary) temporaries; /* in order of first use */
	uint32_t *temporary_of; /* by tensor */
	SK_ARRAY(struct piece) pieces; /* the workspace so far: sorted, disjoint, without gaps */
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

static void visit_step(struct planner *planner, uint32_t launch, uint32_t index)
{
	const struct sk_launch_schedule *steps = &planner->schedule->launches[launch];
	const struct sk_task *task = &planner->model->tasks.items[steps->steps[index].task];

	for (uint32_t a = 0; a < task->argument_count; a++) {
		const struct sk_argument *argument = &task->arguments[a];

		if (!sk_argument_access(argument) || argument->kind == SK_ARGUMENT_STATE)
			continue;
		const struct sk_tensor *tensor = &planner->model->tensors.items[argument->tensor];

		if (tensor->role != SK_ROLE_TEMPORARY)
			continue;
		uint32_t *number = &planner->temporary_of[argument->tensor];

		if (*number == SK_NONE) {
			*number = (uint32_t)planner->temporaries.count;
			sk_array_push(planner->arena, &planner->temporaries,
				      (struct temporary){.tensor = argument->tensor, .size = tensor->bytes});
		}
		add_use(planner, &planner->temporaries.items[*number], launch, index,
			sk_schedule_pattern(planner->model, steps, index, a));
	}
}

static void find_uses(struct planner *planner)
{
	for (size_t i = 0; i < planner->model->tensors.count; i++)
		planner->temporary_of[i] = SK_NONE;
	for (uint32_t l = 0; l < planner->partition->launch_count; l++)
		for (uint32_t s = 0; s < planner->schedule->launches[l].step_count; s++)
			visit_step(planner, l, s);
}

/* ---- permission ---- */

static enum permission compare_uses(const struct planner *planner, const struct use *earlier, const struct use *later)
{
	if (earlier->launch != later->launch)
		return sk_partition_before(planner->partition, earlier->launch, later->launch) ? ORDERED : REFUSED;
	if (sk_schedule_known(&planner->schedule->launches[earlier->launch], earlier->last, later->first))
		return ORDERED;
	if (earlier->last < later->first && earlier->home == SK_ALL_CORES && later->home == SK_ALL_CORES &&
	    earlier->lane == later->lane && earlier->uniform && later->uniform &&
	    sk_pattern_equal(&earlier->pattern, &later->pattern))
		return SAME_CORES;
	return REFUSED;
}

/* May the later temporary, in order of first use, lie where the earlier one lies? */
static enum permission compare(const struct planner *planner, const struct temporary *earlier,
			       const struct temporary *later)
{
	enum permission permission = ORDERED;

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

/* The lowest offset where the temporary may lie: over pieces whose tenants are all gone, or exactly where a tenant of
 * the same size lies that its cores alone touch. */
static uint64_t find_offset(const struct planner *planner, const struct temporary *temporary)
{
	uint64_t start = 0; /* of the run of free pieces so far */

	for (size_t i = 0; i < planner->pieces.count; i++) {
		const struct piece *piece = &planner->pieces.items[i];
		const struct temporary *tenant = &planner->temporaries.items[piece->tenant];
		enum permission permission = compare(planner, tenant, temporary);

		if (permission == ORDERED) {
			if (piece->end - start >= temporary->size)
				return start;
			continue;
		}
		if (permission == SAME_CORES && tenant->size == temporary->size &&
		    piece->end - piece->start == tenant->size)
			return piece->start;
		start = piece->end;
	}
	return start;
}

/* Makes the temporary the tenant of its range: the pieces there give way to what sticks out of them on the left, the
 * temporary, and what sticks out on the right. */
static void occupy(struct planner *planner, uint32_t number)
{
	const struct temporary *temporary = &planner->temporaries.items[number];
	uint64_t start = temporary->offset, end = start + temporary->size;
	size_t first = 0, last, fresh = 0, count = planner->pieces.count;
	struct piece pieces[3];

	while (first < count && planner->pieces.items[first].end <= start)
		first++;
	for (last = first; last < count && planner->pieces.items[last].start < end; last++)
		;
	if (first < last && planner->pieces.items[first].start < start)
		pieces[fresh++] =
			(struct piece){planner->pieces.items[first].start, start, planner->pieces.items[first].tenant};
	pieces[fresh++] = (struct piece){start, end, number};
	if (first < last && planner->pieces.items[last - 1].end > end)
		pieces[fresh++] = (struct piece){end, planner->pieces.items[last - 1].end,
						 planner->pieces.items[last - 1].tenant};

	for (size_t i = 0; i < fresh; i++)
		sk_array_push(planner->arena, &planner->pieces, pieces[i]); /* room */
	struct piece *at = planner->pieces.items + first;

	memmove(at + fresh, at + (last - first), (count - last) * sizeof(*at));
	memcpy(at, pieces, fresh * sizeof(*at));
	planner->pieces.count = count - (last - first) + fresh;
}

/* Lays all temporaries out one behind the other. False if that overflows; if not, no other layout does. */
static bool lay_out_unshared(struct planner *planner, struct sk_memory *memory)
{
	for (size_t i = 0; i < planner->temporaries.count; i++) {
		struct temporary *temporary = &planner->temporaries.items[i];

		memory->unshared_offset[temporary->tensor] = memory->unshared_workspace_size;
		if (!sk_align(temporary->size, SK_WORKSPACE_ALIGNMENT, &temporary->size) ||
		    !sk_add(memory->unshared_workspace_size, temporary->size, &memory->unshared_workspace_size))
			return false;
	}
	return true;
}

struct sk_memory *sk_memory_plan(const struct sk_model *model, const struct sk_partition *partition,
				 const struct sk_schedule *schedule)
{
	struct sk_arena *arena = model->arena;
	struct sk_memory *memory = SK_NEW(arena, struct sk_memory);
	struct planner planner = {
		.model = model,
		.arena = arena,
		.partition = partition,
		.schedule = schedule,
		.temporary_of = SK_NEW_ARRAY(arena, uint32_t, model->tensors.count),
	};

	memory->offset = SK_NEW_ARRAY(arena, uint64_t, model->tensors.count);
	memory->unshared_offset = SK_NEW_ARRAY(arena, uint64_t, model->tensors.count);
	find_uses(&planner);
	if (!lay_out_unshared(&planner, memory)) {
		sk_error(model->diag, (struct sk_place){.file = model->manifest},
			 "the temporaries together are larger than the address space");
		return NULL;
	}
	for (uint32_t i = 0; i < planner.temporaries.count; i++) {
		struct temporary *temporary = &planner.temporaries.items[i];

		temporary->offset = find_offset(&planner, temporary);
		occupy(&planner, i);
		memory->offset[temporary->tensor] = temporary->offset;
		if (memory->workspace_size < temporary->offset + temporary->size)
			memory->workspace_size = temporary->offset + temporary->size;
	}
	return memory;
}
