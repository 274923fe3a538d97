/* See planning.h. A task joins the preceding run if three conditions hold. Its kernel may be called for any part; it
 * shares bytes with the run that both divide alike; and no part of either waits for other bytes that they share. Then
 * the units of the launch are chosen, and the tiles of each run. A run with tiles that do not fit, or one that keeps
 * cores from work, is taken apart, and all units are chosen anew. Its tasks then join only neighbours, and after a
 * second time no task. So this happens to each task at most twice. */
#include "src/planning/planning.h"

#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/ranges.h"
#include "base/sizes.h"
#include "format/signature/signature.h"
#include "format/skdims.h"
#include "format/skplan.h"
#include "format/skrows.h"
#include "src/model/model.h"
#include "src/planning/planning-parts.h"

enum {
	ALONE = 2, /* after being taken apart as often, a task joins none */
	MOST_TASKS = 200, /* composite_op_limit_size of the reference system */
	MOST_PADDING = 4 << 10, /* of a temporary in the scratch */
	SCRATCH_ALIGNMENT = 64,
	SHARED_BYTES = 16 << 10, /* that each tile reads again: half of a first-level cache */
	TILE_BYTES = 4 << 10, /* in use at once: short loops end as predicted, and data is in the cache before its next
			       * call */
	MOST_TILE_BYTES = 128 << 10, /* if one unit has more than TILE_BYTES: a part of a second-level cache */
	VECTORS = 64, /* elements: like the units of kernels that allow no smaller ones */
	UNITS_PER_CORE = 4, /* the least number, unless the members alone would have fewer */
};

/* The accesses to a tensor in the current run. */
struct use {
	uint32_t run; /* that the other fields belong to, from 1 */
	uint32_t first, last; /* members that access it */
	uint32_t count; /* accesses */
	bool divided; /* all accesses are to the whole tensor, divided and in one piece */
	bool written; /* the first access writes all of it */
	uint64_t bytes; /* of an element of the run's extent, at the usual sizes */
};

/* An access to a tensor by a member of the run that is being formed. */
struct member_access {
	uint32_t tensor, place, argument;
	uint32_t before; /* the preceding access to the same tensor; + 1 */
};

struct builder {
	const struct sk_model *model;
	const struct sk_fusion *fusion;
	struct sk_arena *arena;
	struct sk_tile_groups *groups;
	uint32_t *accesses; /* by tensor: of all tasks */
	struct use *uses; /* by tensor */
	uint32_t runs; /* number of runs with collected uses */
	uint8_t *apart; /* by task: number of times that its run was taken apart; after the first it joins neighbours
			 * only … */
	struct sk_tile_orderer *orderer;
	const struct sk_tile_place *order; /* by place of the launch in network order; NULL: without groups */

	/* The current launch. */
	const struct sk_launch *launch;
	struct sk_launch_runs *target;
	SK_ARRAY(struct member_access) members; /* accesses of the last run so far */
	uint32_t *last_access; /* by tensor: by members, perhaps of an earlier run; + 1 */
};

static const struct sk_task *task_at(const struct builder *builder, uint32_t place)
{
	return &builder->model->tasks.items[builder->launch->tasks[place]];
}

static const struct sk_signature *signature_of(const struct builder *builder, const struct sk_task *task)
{
	return builder->model->kernels.items[task->bound.kernel].signature;
}

/* ---- tasks that may be in a run ---- */

/* Return the number of bytes that each call of the task reads at the usual sizes, whatever the size of its part. */
static uint64_t shared_bytes(const struct sk_model *model, const struct sk_task *task)
{
	uint64_t bytes = 0;

	for (uint32_t a = 0; a < task->bound.argument_count; a++)
		if (task->bound.arguments[a].kind == SK_ARGUMENT_POINTER && !task->bound.arguments[a].element_bytes &&
		    !sk_add(bytes,
			    sk_usual_number(model, SK_ARGUMENT_SIZE(&task->bound.arguments[a], size),
					    task->bound.arguments[a].size),
			    &bytes))
			return UINT64_MAX;
	return bytes;
}

/* Return the first argument of the kind, or NULL. */
static const struct sk_argument *find_argument(const struct sk_task *task, enum sk_argument_kind kind)
{
	for (uint32_t a = 0; a < task->bound.argument_count; a++)
		if (task->bound.arguments[a].kind == kind)
			return &task->bound.arguments[a];
	return NULL;
}

/* Return JOINED if the task by itself can be in a run, or why not. It must be divided and keep no state between calls,
 * and data alone must determine its order in the launch. */
static struct sk_tile_verdict judge_task(const struct builder *builder, uint32_t place)
{
	const struct sk_task *task = task_at(builder, place);
	const struct sk_launch_options *options = &builder->launch->options;
	const struct sk_argument *scalar = find_argument(task, SK_ARGUMENT_LOAD);
	struct sk_tile_verdict verdict = {.cause = builder->launch->tasks[place],
					  .tensor = scalar ? scalar->tensor : SK_NONE,
					  .amount = shared_bytes(builder->model, task),
					  .limit = SHARED_BYTES};

	if (find_argument(task, SK_ARGUMENT_STATE))
		verdict.reason = SK_TILE_HIDDEN_STATE;
	else if (signature_of(builder, task)->spread != SK_STEP_SPLIT || task->bound.extent == 0)
		verdict.reason = SK_TILE_NOT_DIVIDED;
	else if (signature_of(builder, task)->untiled)
		verdict.reason = SK_TILE_UNTILED;
	else if (sk_launch_options_flushes(builder->model, options, verdict.cause))
		verdict.reason = SK_TILE_FLUSHED;
	else if (scalar)
		verdict.reason = SK_TILE_SCALAR;
	else if (verdict.amount > verdict.limit)
		verdict.reason = SK_TILE_LARGE_OPERAND;
	return verdict;
}

/* ---- tasks that may be in the same run ---- */

/* Return the last access to the tensor by a member of the run, + 1. */
static uint32_t last_access(const struct builder *builder, uint32_t tensor)
{
	uint32_t last = builder->last_access[tensor];
	bool good = last && last <= builder->members.count && builder->members.items[last - 1].tensor == tensor;

	return good ? last : 0;
}

static void add_member(struct builder *builder, uint32_t place)
{
	const struct sk_task *task = task_at(builder, place);

	for (uint32_t a = 0; a < task->bound.argument_count; a++) {
		uint32_t tensor = task->bound.arguments[a].tensor;

		if (!sk_argument_access(&task->bound.arguments[a]) ||
		    task->bound.arguments[a].kind == SK_ARGUMENT_STATE)
			continue;
		sk_array_push(builder->arena, &builder->members,
			      (struct member_access){tensor, place, a, last_access(builder, tensor)});
		builder->last_access[tensor] = (uint32_t)builder->members.count;
	}
}

/* An obstacle counts more than a reason to join. Otherwise the last member's access counts, and of its accesses the
 * first. */
static bool counts_more(const struct member_access *access, enum sk_tile_reason found,
			const struct member_access *other, enum sk_tile_reason before)
{
	if (found == SK_TILE_NOTHING_SHARED || !other)
		return found != SK_TILE_NOTHING_SHARED;
	if ((found == SK_TILE_JOINED) != (before == SK_TILE_JOINED))
		return before == SK_TILE_JOINED;
	return access->place != other->place ? access->place > other->place : access->argument < other->argument;
}

static void compare_with_members(const struct builder *builder, const struct sk_task *task,
				 struct sk_tile_verdict *verdict)
{
	const struct member_access *best = NULL;

	for (uint32_t b = 0; b < task->bound.argument_count; b++) {
		const struct sk_argument *argument = &task->bound.arguments[b];

		if (!sk_argument_access(argument) || argument->kind == SK_ARGUMENT_STATE)
			continue;
		for (uint32_t i = last_access(builder, argument->tensor); i; i = builder->members.items[i - 1].before) {
			const struct member_access *access = &builder->members.items[i - 1];
			const struct sk_task *member = task_at(builder, access->place);

			enum sk_tile_reason found = sk_tile_compare(
				builder->model, member, &member->bound.arguments[access->argument], task, argument);

			if (!counts_more(access, found, best, verdict->reason))
				continue;
			best = access;
			verdict->reason = found;
			verdict->cause = builder->launch->tasks[access->place];
			verdict->tensor = access->tensor;
		}
	}
}

/* Return JOINED if the composites of graph-kernel fusion allow it. */
static struct sk_tile_verdict judge_composites(const struct builder *builder, uint32_t place)
{
	bool one = task_at(builder, place - 1)->said.composite == task_at(builder, place)->said.composite;

	return (struct sk_tile_verdict){.reason = one ? SK_TILE_JOINED : SK_TILE_OTHER_COMPOSITE,
					.cause = builder->launch->tasks[place],
					.tensor = SK_NONE};
}

/* Return JOINED if data alone orders the run and the task after it, or the obstacle. */
static struct sk_tile_verdict judge_order(const struct builder *builder, const struct sk_run *run, uint32_t place)
{
	const struct sk_task *task = task_at(builder, place), *last = task_at(builder, place - 1);
	struct sk_tile_verdict verdict = {.cause = SK_NONE, .tensor = SK_NONE, .limit = MOST_TASKS};

	if (last->bound.lane != task->bound.lane) {
		verdict.reason = SK_TILE_OTHER_LANE;
	} else if (last->said.record.count || task->said.wait.count) {
		verdict.reason = SK_TILE_EVENT;
		verdict.cause = builder->launch->tasks[last->said.record.count ? place - 1 : place];
	} else if (run->count == MOST_TASKS) {
		verdict.reason = SK_TILE_TOO_MANY;
	}
	for (size_t i = 0; i < task->said.after.count && verdict.reason == SK_TILE_JOINED; i++)
		for (uint32_t m = run->first; m < place; m++)
			if (builder->launch->tasks[m] == task->said.after.items[i]) {
				verdict.reason = SK_TILE_AFTER;
				verdict.cause = task->said.after.items[i];
			}
	return verdict;
}

/* A task that shares nothing with the run may still be in one group with it, if a later task shares bytes with both. */
static void judge_meeting(const struct builder *builder, uint32_t place, struct sk_tile_verdict *verdict)
{
	const struct sk_task_placement *placements = builder->fusion->tasks;
	const struct sk_tile_place *before = &builder->order[placements[builder->launch->tasks[place - 1]].step];
	const struct sk_tile_place *own = &builder->order[placements[builder->launch->tasks[place]].step];

	if (verdict->reason != SK_TILE_NOTHING_SHARED || before->group != own->group || own->meeting == SK_NONE)
		return;
	verdict->reason = SK_TILE_JOINED;
	verdict->cause = own->meeting;
	verdict->tensor = SK_NONE;
}

/* Return whether the task after the run becomes its last one. */
static struct sk_tile_verdict judge_pair(const struct builder *builder, const struct sk_run *run, uint32_t place)
{
	struct sk_tile_verdict verdict = {.reason = SK_TILE_SYNC_ALL, .cause = SK_NONE, .tensor = SK_NONE};

	if (builder->launch->options.sync_all)
		return verdict;
	verdict.reason = SK_TILE_SWITCHED_OFF;
	if (builder->launch->options.no_tile_fusion)
		return verdict;
	verdict = judge_task(builder, place - 1);
	if (verdict.reason == SK_TILE_JOINED)
		verdict = judge_task(builder, place);
	if (verdict.reason == SK_TILE_JOINED)
		verdict = judge_composites(builder, place);
	if (verdict.reason == SK_TILE_JOINED)
		verdict = judge_order(builder, run, place);
	if (verdict.reason != SK_TILE_JOINED)
		return verdict;
	verdict.reason = SK_TILE_NOTHING_SHARED;
	verdict.amount = verdict.limit = 0;
	compare_with_members(builder, task_at(builder, place), &verdict);
	judge_meeting(builder, place, &verdict);
	if (verdict.reason == SK_TILE_JOINED && builder->launch->tasks[place] < builder->launch->tasks[place - 1])
		verdict.reason = SK_TILE_MOVED;
	return verdict;
}

static bool may_move(const struct builder *builder, uint32_t place)
{
	return !builder->apart[builder->launch->tasks[place]] && judge_task(builder, place).reason == SK_TILE_JOINED;
}

static bool comes_after(const struct sk_task_said *said, uint32_t other)
{
	for (size_t i = 0; i < said->after.count; i++)
		if (said->after.items[i] == other)
			return true;
	return false;
}

static enum sk_tile_fit compare_tasks(const struct sk_model *model, const struct sk_task *one,
				      const struct sk_task *other)
{
	enum sk_tile_fit fit = SK_TILE_FIT_UNRELATED;

	for (uint32_t i = 0; i < one->bound.argument_count * other->bound.argument_count; i++) {
		enum sk_tile_reason found =
			sk_tile_compare(model, one, &one->bound.arguments[i / other->bound.argument_count], other,
					&other->bound.arguments[i % other->bound.argument_count]);

		if (found != SK_TILE_JOINED && found != SK_TILE_NOTHING_SHARED)
			return SK_TILE_FIT_NEVER;
		fit = found == SK_TILE_JOINED ? SK_TILE_FIT_WELL : fit;
	}
	return fit;
}

/* sk_tile_judge: the conditions of judge_pair for a task and a run with members that may come after the task. A task
 * that waits for an event must be the first one of its run, and one that records an event the last. */
static enum sk_tile_fit judge_fit(const void *context, const uint32_t *places, uint32_t count, uint32_t place)
{
	const struct builder *builder = context;
	const struct sk_task *task = task_at(builder, place);
	enum sk_tile_fit fit = SK_TILE_FIT_UNRELATED;

	if (count >= MOST_TASKS || task->said.composite != task_at(builder, places[0])->said.composite ||
	    !may_move(builder, place) || !may_move(builder, places[0]))
		return SK_TILE_FIT_NEVER;
	for (uint32_t m = 0; m < count; m++) {
		const struct sk_task *member = task_at(builder, places[m]);
		const struct sk_task *first = places[m] < place ? member : task, *last = first == task ? member : task;
		enum sk_tile_fit found = compare_tasks(builder->model, member, task);

		if (found == SK_TILE_FIT_NEVER || member->bound.lane != task->bound.lane || first->said.record.count ||
		    last->said.wait.count || comes_after(&task->said, builder->launch->tasks[places[m]]) ||
		    comes_after(&member->said, builder->launch->tasks[place]))
			return SK_TILE_FIT_NEVER;
		fit = found > fit ? found : fit;
	}
	return fit;
}

/* ---- tensors that live in a run ---- */

/* Return true if the argument is all of the tensor at all sizes, in elements of equally many bytes. */
static bool divides_all(const struct sk_model *model, const struct sk_task *task, const struct sk_argument *argument)
{
	const struct sk_tensor *tensor = &model->tensors.items[argument->tensor];
	const struct sk_size *bytes =
		sk_varying_find(tensor->varying, SK_DIMS_TYPES, offsetof(struct sk_plan_type, bytes));

	return argument->offset == 0 && argument->size == tensor->bytes && !SK_ARGUMENT_SIZE(argument, offset) &&
	       SK_ARGUMENT_SIZE(argument, size) == bytes && !SK_ARGUMENT_SIZE(argument, element_bytes) &&
	       sk_products_equal(model, sk_plain_number(argument->element_bytes), sk_sized_extent_of(task),
				 (struct sk_sized_number){tensor->bytes, bytes}, sk_plain_number(1));
}

static void use_argument(struct builder *builder, const struct sk_run *run, uint32_t member,
			 const struct sk_argument *argument)
{
	const struct sk_task *task = task_at(builder, run->first + member);
	struct use *use = &builder->uses[argument->tensor];
	bool whole = sk_is_divided(argument) && !argument->whole && sk_argument_rows(argument).count == 1 &&
		     divides_all(builder->model, task, argument);

	if (use->run != builder->runs)
		*use = (struct use){.run = builder->runs,
				    .first = member,
				    .divided = true,
				    .written = argument->access == SK_ACCESS_WRITE,
				    .bytes = sk_usual_element_bytes(builder->model, argument) *
					     (task->bound.extent / run->extent)};
	else if (use->last == member && argument->access != SK_ACCESS_WRITE && use->first == member)
		use->written = false; /* the call that writes it first also reads it */
	use->last = member;
	use->count++;
	use->divided &= whole;
}

/* Collect the tensors that members of a run access. */
static void collect_uses(struct builder *builder, const struct sk_run *run)
{
	builder->runs++;
	for (uint32_t m = 0; m < run->count; m++) {
		const struct sk_task *task = task_at(builder, run->first + m);

		for (uint32_t a = 0; a < task->bound.argument_count; a++)
			if (sk_argument_access(&task->bound.arguments[a]))
				use_argument(builder, run, m, &task->bound.arguments[a]);
	}
}

/* Return whether the tensor is a temporary with accesses in this run only, and each tile of it is written before it is
 * read. Bytes read after its end are room after each tile, on each core. */
static bool lives_inside(const struct builder *builder, uint32_t number)
{
	const struct sk_tensor *tensor = &builder->model->tensors.items[number];
	const struct use *use = &builder->uses[number];

	return use->run == builder->runs && tensor->role == SK_ROLE_TEMPORARY && tensor->padding <= MOST_PADDING &&
	       use->count == builder->accesses[number] && use->divided && use->written;
}

/* Return the number of elements after which the temporary's bytes have the same alignment as in memory, modulo
 * SCRATCH_ALIGNMENT. */
static uint64_t scratch_unit(const struct builder *builder, uint32_t tensor)
{
	return SCRATCH_ALIGNMENT / sk_common_divisor(SCRATCH_ALIGNMENT, builder->uses[tensor].bytes);
}

/* ---- units ---- */

/* Return the number of elements of the run's extent at the usual sizes. */
static uint64_t usual_extent(const struct builder *builder, const struct sk_run *run)
{
	uint64_t extent = sk_usual_number(builder->model, run->size, run->extent);

	return extent ? extent : 1;
}

/* Find the greatest extent that divides those of all members at all sizes. Return false if there is none, since members
 * that share nothing have other proportions. */
static bool measure_extent(const struct builder *builder, struct sk_run *run)
{
	const struct sk_task *first = task_at(builder, run->first);
	struct sk_sizes *sizes = builder->model->sizes;

	run->extent = 0;
	run->size = sk_task_extent_size(first);
	for (uint32_t m = run->first; m < run->first + run->count; m++)
		run->extent = sk_common_divisor(run->extent, task_at(builder, m)->bound.extent);
	if (run->size)
		run->size = sk_size_quotient(sizes, run->size,
					     sk_size_number(sizes, (int64_t)(first->bound.extent / run->extent)));
	if (sk_task_extent_size(first) && !run->size)
		return false;
	for (uint32_t m = run->first + 1; m < run->first + run->count; m++)
		if (!sk_extents_are_proportional(builder->model, first, task_at(builder, m)))
			return false;
	return true;
}

/* Return the greatest number of bytes, per element of the run's extent, of all divided tensors that are in use at once.
 * A tensor is in use from the first call that accesses it to the last. of_part: for a whole part in place of a tile,
 * tensors that do not live inside the run are in use from the first call of all to the last. 0: too many to count. */
static uint64_t element_bytes(struct builder *builder, const struct sk_run *run, bool of_part)
{
	uint64_t changes[MOST_TASKS + 1] = {0}, all = 0, live = 0, most = 0;

	collect_uses(builder, run);
	for (uint32_t m = run->first; m < run->first + run->count; m++) {
		const struct sk_task *task = task_at(builder, m);

		for (uint32_t a = 0; a < task->bound.argument_count; a++) {
			struct use *use = &builder->uses[task->bound.arguments[a].tensor];
			bool stays;

			if (task->bound.arguments[a].kind != SK_ARGUMENT_POINTER ||
			    !task->bound.arguments[a].element_bytes || use->count == 0)
				continue;
			stays = of_part && !lives_inside(builder, task->bound.arguments[a].tensor);
			use->count = 0; /* once for each tensor */
			if (!sk_add(all, use->bytes, &all))
				return 0;
			changes[stays ? 0 : use->first] += use->bytes;
			changes[stays ? run->count : use->last + 1] -= use->bytes;
		}
	}
	for (uint32_t m = 0; m < run->count; m++) {
		live += changes[m];
		most = live > most ? live : most;
	}
	return most;
}

static uint64_t wanted_bytes(const struct builder *builder)
{
	return builder->launch->options.tile_bytes ? builder->launch->options.tile_bytes : TILE_BYTES;
}

/* Raise the unit so that the temporaries that live inside can be in the scratch. A temporary that would need larger
 * tiles than wanted, such as a sum for each row of a matrix, stays in the workspace. */
static uint64_t raise_to_scratch(struct builder *builder, const struct sk_run *run, uint64_t unit)
{
	uint64_t bytes, most;

	bytes = element_bytes(builder, run, false);
	most = bytes ? wanted_bytes(builder) / bytes : 0;
	collect_uses(builder, run);
	for (uint32_t m = run->first; m < run->first + run->count; m++) {
		const struct sk_task *task = task_at(builder, m);

		for (uint32_t a = 0; a < task->bound.argument_count; a++) {
			uint32_t tensor = task->bound.arguments[a].tensor;
			uint64_t raised;

			if (sk_argument_access(&task->bound.arguments[a]) && lives_inside(builder, tensor) &&
			    sk_common_multiple(unit, scratch_unit(builder, tensor), &raised) && raised <= most)
				unit = raised;
		}
	}
	return unit;
}

/* Return the least number of elements that is whole units of all members; 0 on overflow. */
static uint64_t least_unit(struct builder *builder, const struct sk_run *run)
{
	uint64_t unit = 1;

	for (uint32_t m = run->first; m < run->first + run->count; m++) {
		uint64_t own = sk_minimum_unit(builder->model, builder->launch->tasks[m]);

		if (!sk_common_multiple(
			    unit, own / sk_common_divisor(own, task_at(builder, m)->bound.extent / run->extent), &unit))
			return 0;
	}
	return run->count == 1 ? unit : raise_to_scratch(builder, run, unit);
}

/* ---- tiles ---- */

/* Return whether the bytes that a core needs of all tensors for its part stay in its cache, from task to task. Tiles
 * then save no traffic, and fewer calls are better. The verdict gets the figures. */
static bool part_stays_in_cache(struct builder *builder, const struct sk_run *run, struct sk_tile_verdict *verdict)
{
	const struct sk_profile_lane *lane = &builder->model->device->lanes[task_at(builder, run->first)->bound.lane];
	uint64_t bytes = element_bytes(builder, run, true);

	if (builder->launch->options.tile_bytes || !bytes ||
	    !sk_mul(bytes, usual_extent(builder, run), &verdict->amount))
		return false;
	verdict->amount = (verdict->amount - 1) / lane->cores + 1;
	verdict->limit = (uint64_t)lane->data_cache;
	return verdict->amount <= verdict->limit;
}

/* Return the number of units, reduced so that elementwise kernels with smaller units still work on whole vectors. */
static uint64_t whole_vectors(const struct builder *builder, const struct sk_run *run, uint64_t units)
{
	for (uint32_t m = run->first; m < run->first + run->count; m++)
		if (!signature_of(builder, task_at(builder, m))->elementwise)
			return units;
	return run->unit == 1 && units > VECTORS ? units - units % VECTORS : units;
}

/* Lengthen the tile to half of the cache; the other half is for data that the calls stream through. The verdicts of all
 * members get the figures. */
static void lengthen_tile(struct builder *builder, struct sk_run *run)
{
	uint64_t number = (run->extent - 1) / run->unit + 1, units;
	struct sk_tile_verdict found = {0};

	if (!part_stays_in_cache(builder, run, &found))
		return;
	units = whole_vectors(builder, run, found.limit / 2 / (element_bytes(builder, run, false) * run->unit));
	units = units < number ? units : number;
	if (run->tile >= units * run->unit)
		return;
	run->tile = units * run->unit;
	for (uint32_t m = run->first; m < run->first + run->count; m++) {
		struct sk_tile_verdict *verdict = &builder->groups->verdicts[builder->launch->tasks[m]];

		if (verdict->reason != SK_TILE_JOINED)
			continue;
		verdict->amount = found.amount;
		verdict->limit = found.limit;
	}
}

/* Return the tile's length in whole units; 0, with the reason, if not even one unit fits. */
static uint64_t choose_tile(struct builder *builder, const struct sk_run *run, struct sk_tile_verdict *verdict)
{
	uint64_t bytes, units, number = (run->extent - 1) / run->unit + 1;
	uint64_t wanted = wanted_bytes(builder);

	bytes = element_bytes(builder, run, false);
	verdict->limit = wanted > MOST_TILE_BYTES ? wanted : MOST_TILE_BYTES;
	if (!bytes || !sk_mul(bytes, run->unit, &verdict->amount))
		verdict->amount = UINT64_MAX;
	if (verdict->amount > verdict->limit) {
		verdict->reason = SK_TILE_NO_TILE;
		return 0;
	}
	units = wanted / verdict->amount ? whole_vectors(builder, run, wanted / verdict->amount) : 1;
	return run->unit * (units < number ? units : number);
}

/* Return whether the members by themselves would have work for more cores, with the reason. For parts made of blocks
 * the units make no difference. */
static bool wastes_cores(const struct builder *builder, const struct sk_run *run, struct sk_tile_verdict *verdict)
{
	uint64_t cores = builder->model->device->lanes[task_at(builder, run->first)->bound.lane].cores;
	uint64_t units = (usual_extent(builder, run) - 1) / run->unit + 1;

	verdict->amount = units;
	verdict->limit = UNITS_PER_CORE * cores;
	if (units >= verdict->limit || run->parts.blocks)
		return false;
	for (uint32_t m = run->first; m < run->first + run->count; m++) {
		uint64_t own = sk_minimum_unit(builder->model, builder->launch->tasks[m]);
		uint64_t extent = sk_usual_extent(builder->model, task_at(builder, m));

		if ((extent + own - 1) / own > units) {
			verdict->reason = SK_TILE_FEW_UNITS;
			return true;
		}
	}
	return false;
}

/* ---- scratch ---- */

/* A range of the scratch that is in use up to a member. */
struct tenant {
	uint64_t start, end;
	uint32_t last;
};

/* Return the lowest offset with room between all tenants that are in use at the member. They are sorted by their
 * starts. */
static uint64_t find_room(const struct tenant *tenants, uint32_t count, uint32_t member, uint64_t from, uint64_t size)
{
	uint64_t start = from;

	for (uint32_t i = 0; i < count; i++) {
		if (tenants[i].last < member || tenants[i].end <= start)
			continue;
		if (tenants[i].start >= start + size)
			break;
		start = tenants[i].end;
	}
	return start;
}

static void insert_tenant(struct tenant *tenants, uint32_t count, struct tenant tenant)
{
	for (; count > 0 && tenants[count - 1].start > tenant.start; count--)
		tenants[count] = tenants[count - 1];
	tenants[count] = tenant;
}

/* Place the run's temporaries after the kernels' own scratch. Tensors share bytes only if no call accesses both. */
static void lay_out(struct builder *builder, struct sk_run *run)
{
	struct tenant *tenants;
	uint64_t *offsets = builder->groups->scratch_offset, own = 0;
	uint32_t count = 0;

	for (uint32_t m = run->first; m < run->first + run->count; m++)
		own = task_at(builder, m)->bound.scratch_size > own ? task_at(builder, m)->bound.scratch_size : own;
	own = (own + SCRATCH_ALIGNMENT - 1) / SCRATCH_ALIGNMENT * SCRATCH_ALIGNMENT;
	run->scratch_size = own;
	if (!run->tile)
		return;
	tenants = SK_NEW_ARRAY(builder->arena, struct tenant, run->count * (size_t)SK_MAX_PARAMETERS);
	collect_uses(builder, run);
	for (uint32_t m = 0; m < run->count; m++) {
		const struct sk_task *task = task_at(builder, run->first + m);

		for (uint32_t a = 0; a < task->bound.argument_count; a++) {
			uint32_t number = task->bound.arguments[a].tensor;
			const struct use *use = &builder->uses[number];

			if (!sk_argument_access(&task->bound.arguments[a]) || !lives_inside(builder, number) ||
			    run->unit % scratch_unit(builder, number) || use->first != m ||
			    offsets[number] != SK_NOT_IN_SCRATCH)
				continue;
			uint64_t size = use->bytes * run->tile + builder->model->tensors.items[number].padding;

			size = (size + SCRATCH_ALIGNMENT - 1) / SCRATCH_ALIGNMENT * SCRATCH_ALIGNMENT;
			offsets[number] = find_room(tenants, count, m, own, size);
			insert_tenant(tenants, count++,
				      (struct tenant){offsets[number], offsets[number] + size, use->last});
			if (offsets[number] + size > run->scratch_size)
				run->scratch_size = offsets[number] + size;
		}
	}
}

/* ---- the launches ---- */

/* After a run has been taken apart, its verdict stays, unless the task joins its neighbour. */
static void judge_again(const struct builder *builder, const struct sk_run *run, uint32_t place,
			struct sk_tile_verdict *verdict)
{
	struct sk_tile_verdict found = judge_pair(builder, run, place);
	bool fell_apart = verdict->reason == SK_TILE_FEW_UNITS || verdict->reason == SK_TILE_NO_TILE;

	if (fell_apart && found.reason != SK_TILE_JOINED)
		return;
	*verdict = found;
	verdict->before = builder->launch->tasks[place - 1];
}

static void form_runs(struct builder *builder)
{
	struct sk_launch_runs *target = builder->target;
	const uint32_t *tasks = builder->launch->tasks;

	target->count = 0;
	for (uint32_t place = 0; place < builder->launch->task_count; place++) {
		struct sk_run *run = target->count ? &target->runs[target->count - 1] : NULL;
		struct sk_tile_verdict *verdict = &builder->groups->verdicts[tasks[place]];

		if (run && builder->apart[tasks[place - 1]] < ALONE && builder->apart[tasks[place]] < ALONE)
			judge_again(builder, run, place, verdict);
		if (verdict->reason == SK_TILE_JOINED) {
			run->count++;
		} else {
			target->runs[target->count++] = (struct sk_run){.first = place, .count = 1};
			builder->members.count = 0;
		}
		add_member(builder, place);
	}
}

static void choose_units(struct builder *builder)
{
	struct sk_launch_runs *target = builder->target;
	struct sk_unit_item *items = SK_NEW_ARRAY(builder->arena, struct sk_unit_item, target->count);
	const uint64_t *units;

	for (uint32_t i = 0; i < target->count; i++) {
		struct sk_run *run = &target->runs[i];

		items[i] = (struct sk_unit_item){&builder->launch->tasks[run->first], run->count, 1, 1, 0};
		if (signature_of(builder, task_at(builder, run->first))->spread != SK_STEP_SPLIT ||
		    !measure_extent(builder, run))
			continue;
		items[i].extent = run->extent;
		items[i].usual = usual_extent(builder, run);
		items[i].least = least_unit(builder, run);
	}
	units = sk_units_choose(builder->model, items, target->count);
	for (uint32_t i = 0; i < target->count; i++)
		target->runs[i].unit = units[i];
}

/* The verdict gives the reason. */
static void take_apart(struct builder *builder, const struct sk_run *run, struct sk_tile_verdict verdict)
{
	for (uint32_t m = run->first; m < run->first + run->count; m++) {
		builder->apart[builder->launch->tasks[m]]++;
		if (m == run->first)
			continue; /* it never joined the task before the run */
		verdict.before = builder->launch->tasks[m - 1];
		builder->groups->verdicts[builder->launch->tasks[m]] = verdict;
	}
}

/* Return false if some runs have been taken apart. */
static bool choose_tiles(struct builder *builder)
{
	bool good = true;

	for (uint32_t i = 0; i < builder->target->count; i++) {
		struct sk_run *run = &builder->target->runs[i];
		struct sk_tile_verdict verdict = {.reason = SK_TILE_NO_TILE,
						  .cause = builder->launch->tasks[run->first],
						  .tensor = SK_NONE,
						  .amount = UINT64_MAX};

		if (run->count == 1)
			continue;
		run->tile =
			run->unit && !wastes_cores(builder, run, &verdict) ? choose_tile(builder, run, &verdict) : 0;
		if (run->tile) {
			lengthen_tile(builder, run);
			continue;
		}
		take_apart(builder, run, verdict);
		good = false;
	}
	return good;
}

/* Return whether several tasks of the launch are divided: others never share a run. */
static bool may_have_groups(const struct builder *builder)
{
	uint32_t divided = 0;

	for (uint32_t place = 0; place < builder->launch->task_count && divided < 2; place++)
		divided += signature_of(builder, task_at(builder, place))->spread == SK_STEP_SPLIT;
	return divided > 1;
}

/* Put the launch's tasks in an order in which those that may be in one run are adjacent, and form the runs. */
static void order_and_form_runs(struct builder *builder, uint32_t number, struct sk_launch *launch)
{
	const struct sk_launch *source = &builder->fusion->launches[number];
	struct sk_tile_place *places;

	*launch = *source; /* in network order */
	builder->order = NULL;
	if (source->options.sync_all || source->options.no_tile_fusion || !may_have_groups(builder)) {
		form_runs(builder);
		return;
	}
	launch->tasks = sk_tile_order_find(builder->orderer, number, judge_fit, builder, &places);
	builder->order = places;
	form_runs(builder);
	for (uint32_t i = 0; i < source->task_count; i++) {
		struct sk_tile_verdict *verdict = &builder->groups->verdicts[source->tasks[i]];

		if (places[i].refused != SK_NONE && verdict->reason != SK_TILE_JOINED)
			*verdict = (struct sk_tile_verdict){.reason = SK_TILE_BETWEEN,
							    .before = places[i].refused,
							    .cause = places[i].between,
							    .tensor = SK_NONE};
	}
}

static void build_launch(struct builder *builder, uint32_t number)
{
	struct sk_launch launch;

	builder->launch = &launch;
	builder->target = &builder->groups->launches[number];
	builder->target->runs =
		SK_NEW_ARRAY(builder->arena, struct sk_run, builder->fusion->launches[number].task_count);
	do {
		order_and_form_runs(builder, number, &launch);
		builder->target->tasks = launch.tasks;
		for (uint32_t place = 0; place < launch.task_count; place++)
			builder->groups->places[launch.tasks[place]] = place;
		choose_units(builder);
		sk_block_parts_choose(builder->model, builder->fusion, number, builder->groups->places, builder->target,
				      builder->groups->block_verdicts);
	} while (!choose_tiles(builder));
	for (uint32_t i = 0; i < builder->target->count; i++)
		lay_out(builder, &builder->target->runs[i]);
	sk_run_order_choose(builder->model, builder->fusion, number, builder->groups);
}

static void count_accesses(struct builder *builder)
{
	for (uint32_t t = 0; t < builder->model->tasks.count; t++) {
		const struct sk_task *task = &builder->model->tasks.items[t];

		for (uint32_t a = 0; a < task->bound.argument_count; a++)
			if (sk_argument_access(&task->bound.arguments[a]) &&
			    task->bound.arguments[a].kind != SK_ARGUMENT_STATE)
				builder->accesses[task->bound.arguments[a].tensor]++;
	}
}

struct sk_tile_groups *sk_tile_groups_build(const struct sk_model *model, const struct sk_fusion *fusion)
{
	struct sk_arena *arena = model->arena;
	struct builder builder = {
		.model = model,
		.fusion = fusion,
		.arena = arena,
		.groups = SK_NEW(arena, struct sk_tile_groups),
		.accesses = SK_NEW_ARRAY(arena, uint32_t, model->tensors.count),
		.uses = SK_NEW_ARRAY(arena, struct use, model->tensors.count),
		.apart = SK_NEW_ARRAY(arena, uint8_t, model->tasks.count),
		.last_access = SK_NEW_ARRAY(arena, uint32_t, model->tensors.count),
		.orderer = sk_tile_orderer_new(model, fusion),
	};

	builder.groups->launches = SK_NEW_ARRAY(arena, struct sk_launch_runs, fusion->launch_count);
	builder.groups->places = SK_NEW_ARRAY(arena, uint32_t, model->tasks.count);
	builder.groups->scratch_offset = SK_NEW_ARRAY(arena, uint64_t, model->tensors.count);
	builder.groups->verdicts = SK_NEW_ARRAY(arena, struct sk_tile_verdict, model->tasks.count);
	builder.groups->block_verdicts = SK_NEW_ARRAY(arena, struct sk_block_verdict, model->tasks.count);
	for (uint32_t i = 0; i < model->tasks.count; i++)
		builder.groups->verdicts[i] = (struct sk_tile_verdict){SK_TILE_FIRST, SK_NONE, SK_NONE, SK_NONE, 0, 0};
	memset(builder.groups->scratch_offset, 0xff, model->tensors.count * sizeof(uint64_t));
	count_accesses(&builder);
	for (uint32_t i = 0; i < fusion->launch_count; i++)
		build_launch(&builder, i);
	return builder.groups;
}
