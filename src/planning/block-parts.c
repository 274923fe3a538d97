/* See planning-parts.h. In a step of the kind `blocks=` a core has certain blocks, that is, rows. A divided task on the
 * same bytes can be shared out in the same rows if each block begins at a whole unit of the task. All runs that are
 * connected by such bytes follow the same blocks, both after and before the task in blocks. The parts are propagated
 * through the launch from task to task: forwards, backwards for tasks before a task in blocks, and forwards again for
 * tasks that are only then connected. */
#include "src/planning/planning-parts.h"

#include "base/arena.h"
#include "base/map.h"
#include "base/ranges.h"
#include "format/signature/signature.h"
#include "format/skdims.h"
#include "format/skplan.h"
#include "format/skrows.h"
#include "src/model/model.h"
#include "src/planning/planning.h"

struct follower {
	const struct sk_model *model;
	const struct sk_fusion *fusion;
	uint32_t number; /* of the launch */
	const struct sk_launch *launch;
	struct sk_launch_runs *runs;
	const uint32_t *places; /* by task: in its launch's runs */
	uint32_t *run_of; /* by place */
	struct sk_block_verdict *verdicts;
};

/* One end of a conflict. */
struct end {
	const struct sk_task *task;
	const struct sk_argument *argument;
	uint32_t number; /* of the task */
	struct sk_run *run;
};

/* ---- division ---- */

bool sk_is_divided(const struct sk_argument *argument)
{
	return argument->kind == SK_ARGUMENT_POINTER && argument->element_bytes &&
	       !(argument->pattern && (argument->pattern->halo || argument->pattern->table_count));
}

/* Return true if rows that are equal at the largest sizes are equal at all sizes. */
static bool have_same_sizes(const struct sk_argument *a, const struct sk_argument *b)
{
	static const size_t fields[] = {offsetof(struct sk_plan_pattern, width),
					offsetof(struct sk_plan_pattern, stride),
					offsetof(struct sk_plan_pattern, count)};
	bool same = SK_ARGUMENT_SIZE(a, offset) == SK_ARGUMENT_SIZE(b, offset);

	if (!a->varying && !b->varying)
		return true;
	if (sk_argument_rows(a).count == 1)
		return same && SK_ARGUMENT_SIZE(a, size) == SK_ARGUMENT_SIZE(b, size);
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		same &= sk_varying_find(a->varying, SK_DIMS_PATTERNS, fields[i]) ==
			sk_varying_find(b->varying, SK_DIMS_PATTERNS, fields[i]);
	return same;
}

bool sk_divides_alike(const struct sk_model *model, const struct sk_task *one, const struct sk_argument *a,
		      const struct sk_task *other, const struct sk_argument *b)
{
	struct sk_rows rows = sk_argument_rows(a), other_rows = sk_argument_rows(b);

	return sk_is_divided(a) && sk_is_divided(b) && rows.start == other_rows.start &&
	       rows.width == other_rows.width && rows.stride == other_rows.stride && rows.count == other_rows.count &&
	       have_same_sizes(a, b) &&
	       sk_products_equal(model, sk_sized_element_of(a), sk_sized_extent_of(one), sk_sized_element_of(b),
				 sk_sized_extent_of(other));
}

/* ---- conditions for a run ---- */

static enum sk_step_kind kind_of(const struct follower *follower, const struct end *end)
{
	return follower->model->kernels.items[end->task->bound.kernel].signature->spread;
}

static bool has_blocks(const struct follower *follower, const struct end *end)
{
	return sk_signature_has_blocks(follower->model->kernels.items[end->task->bound.kernel].signature);
}

/* Return why no run can follow the task in blocks; NONE: a run may follow. */
static enum sk_block_reason judge_task(const struct follower *follower, const struct end *ahead)
{
	const struct sk_launch_options *options = &follower->launch->options;
	struct sk_side sides[SK_MAX_SIDES];

	if (options->sync_all)
		return SK_BLOCKS_SYNC_ALL;
	if (options->no_tile_fusion)
		return SK_BLOCKS_SWITCHED_OFF;
	sk_task_sides(follower->model, ahead->number, sides);
	if (sides[0].flags & SK_STEP_RESIDENT)
		return SK_BLOCKS_RESIDENT;
	if (sides[0].flags & (SK_STEP_EARLY_WAIT | SK_STEP_EARLY_SET))
		return SK_BLOCKS_EARLY;
	return kind_of(follower, ahead) == SK_STEP_BLOCKS_RANGE ? SK_BLOCKS_NONE : SK_BLOCKS_NO_ROWS;
}

/* Return whether each block begins at a whole unit of the run. The last unit may be short. */
static bool begins_in_units(const struct sk_run *run, const struct sk_block_parts *parts,
			    struct sk_block_verdict *verdict)
{
	uint64_t elements = run->extent / parts->rows, whole = parts->rows / parts->blocks;
	uint64_t rest = parts->rows % parts->blocks;

	for (uint64_t block = 1; block < parts->blocks; block++) {
		uint64_t row = block * whole + block * rest / parts->blocks;

		if (row * elements % run->unit == 0)
			continue;
		verdict->amount = row;
		verdict->limit = run->unit;
		return false;
	}
	return true;
}

/* Return whether that holds at all sizes: each row has the same number of elements, which are whole units if the number
 * of rows depends on sizes. */
static bool fits_at_all_sizes(const struct follower *follower, const struct sk_run *run,
			      const struct sk_block_parts *parts)
{
	uint64_t elements = run->extent / parts->rows;

	return sk_products_equal(follower->model, (struct sk_sized_number){run->extent, run->size}, sk_plain_number(1),
				 (struct sk_sized_number){parts->rows, parts->size}, sk_plain_number(elements)) &&
	       (!parts->size || elements % run->unit == 0);
}

/* Return the number of cores that have work in the run if its units are shared out, at the usual sizes. */
static uint64_t cores_of(const struct follower *follower, const struct end *end)
{
	uint64_t cores = follower->model->device->lanes[end->task->bound.lane].cores;
	uint64_t extent = sk_usual_number(follower->model, end->run->size, end->run->extent);
	uint64_t units = (extent + end->run->unit - 1) / end->run->unit;

	return units < cores ? units : cores;
}

/* A mix task runs in both lanes. */
static bool runs_in_lane(const struct follower *follower, const struct end *end, uint32_t lane)
{
	struct sk_side sides[SK_MAX_SIDES];
	uint32_t count = sk_task_sides(follower->model, end->number, sides);

	for (uint32_t i = 0; i < count; i++)
		if (sides[i].lane == lane)
			return true;
	return false;
}

/* Return FOLLOWED if the run of one end can have parts like those of the other end, or the obstacle. */
static struct sk_block_verdict judge(const struct follower *follower, const struct end *ahead, const struct end *behind,
				     const struct sk_block_parts *parts)
{
	struct sk_block_verdict verdict = {.task = parts->task, .tensor = behind->argument->tensor};
	uint64_t cores = cores_of(follower, behind);

	if (!runs_in_lane(follower, ahead, behind->task->bound.lane))
		verdict.reason = SK_BLOCKS_OTHER_LANE;
	else if (has_blocks(follower, ahead))
		verdict.reason = judge_task(follower, ahead);
	if (verdict.reason != SK_BLOCKS_NONE)
		return verdict;
	verdict.reason = SK_BLOCKS_FOLLOWED;
	if (!sk_divides_alike(follower->model, ahead->task, ahead->argument, behind->task, behind->argument)) {
		verdict.reason = SK_BLOCKS_OTHER_PARTS;
	} else if (behind->run->extent % parts->rows) {
		verdict.reason = SK_BLOCKS_OTHER_ROWS;
		verdict.amount = parts->rows;
		verdict.limit = behind->run->extent;
	} else if (!begins_in_units(behind->run, parts, &verdict)) {
		verdict.reason = SK_BLOCKS_OFF_UNIT;
	} else if (!fits_at_all_sizes(follower, behind->run, parts)) {
		verdict.reason = SK_BLOCKS_SIZES;
	} else if (parts->blocks < cores) {
		verdict.reason = SK_BLOCKS_TOO_FEW;
		verdict.amount = parts->blocks;
		verdict.limit = cores;
	}
	return verdict;
}

/* ---- from task to task ---- */

/* Return the parts of the end's task. For a task in blocks without known rows, they only show that there are blocks. */
static struct sk_block_parts parts_of(const struct follower *follower, const struct end *end)
{
	if (has_blocks(follower, end))
		return (struct sk_block_parts){end->number, end->task->bound.block_count, end->task->bound.extent,
					       sk_task_extent_size(end->task)};
	return end->run->parts;
}

/* Give the parts to all tasks of a run. Obstacles that were found earlier are overwritten. */
static void take_parts(const struct follower *follower, struct sk_run *run, const struct sk_block_parts *parts,
		       const struct sk_block_verdict *verdict)
{
	run->parts = *parts;
	for (uint32_t m = run->first; m < run->first + run->count; m++)
		follower->verdicts[follower->runs->tasks[m]] = *verdict;
}

/* Copy the parts of one end's run to the other end's run, if that has none. */
static void carry(const struct follower *follower, const struct end *ahead, const struct end *behind)
{
	struct sk_block_parts parts = parts_of(follower, ahead);
	struct sk_block_verdict *kept = &follower->verdicts[behind->number], verdict;

	if (!parts.blocks || ahead->run == behind->run || behind->run->unit == 0 || behind->run->parts.blocks)
		return;
	verdict = judge(follower, ahead, behind, &parts);
	if (verdict.reason == SK_BLOCKS_FOLLOWED)
		take_parts(follower, behind->run, &parts, &verdict);
	else if (kept->reason == SK_BLOCKS_NONE)
		*kept = verdict;
}

static struct end end_of(const struct follower *follower, uint32_t place, uint32_t argument)
{
	uint32_t number = follower->runs->tasks[place];
	const struct sk_task *task = &follower->model->tasks.items[number];

	return (struct end){task, &task->bound.arguments[argument], number,
			    &follower->runs->runs[follower->run_of[place]]};
}

/* Visit the conflicts of the task at the place with earlier ones of the launch. */
static void visit_conflicts(const struct follower *follower, uint32_t place, bool forwards)
{
	const struct sk_dependencies *dependencies = follower->fusion->dependencies;
	uint32_t number = follower->runs->tasks[place];

	for (uint32_t i = dependencies->first_conflict[number]; i < dependencies->first_conflict[number + 1]; i++) {
		const struct sk_conflict *conflict = &dependencies->conflicts[i];

		if (follower->fusion->tasks[conflict->task].launch != follower->number)
			continue;
		struct end earlier = end_of(follower, follower->places[conflict->task], conflict->earlier);
		struct end later = end_of(follower, place, conflict->later);

		if (forwards)
			carry(follower, &earlier, &later);
		else
			carry(follower, &later, &earlier);
	}
}

static void pass_blocks(const struct follower *follower, bool forwards)
{
	uint32_t count = follower->launch->task_count;

	for (uint32_t i = 0; i < count; i++)
		visit_conflicts(follower, forwards ? i : count - 1 - i, forwards);
}

/* Return whether the launch has both divided runs and tasks in blocks. */
static bool may_follow(const struct follower *follower)
{
	const struct sk_launch_runs *runs = follower->runs;
	bool divided = false, blocks = false;

	for (uint32_t i = 0; i < runs->count && !divided; i++)
		divided = runs->runs[i].unit != 0;
	for (uint32_t i = 0; i < runs->count && divided && !blocks; i++) {
		const struct end first = end_of(follower, runs->runs[i].first, 0);

		blocks = has_blocks(follower, &first);
	}
	return blocks;
}

void sk_block_parts_choose(const struct sk_model *model, const struct sk_fusion *fusion, uint32_t launch,
			   const uint32_t *places, struct sk_launch_runs *runs, struct sk_block_verdict *verdicts)
{
	struct follower follower = {.model = model,
				    .fusion = fusion,
				    .number = launch,
				    .launch = &fusion->launches[launch],
				    .runs = runs,
				    .places = places,
				    .run_of = SK_NEW_ARRAY(model->arena, uint32_t, fusion->launches[launch].task_count),
				    .verdicts = verdicts};

	for (uint32_t i = 0; i < runs->count; i++) {
		runs->runs[i].parts = (struct sk_block_parts){.task = SK_NONE};
		for (uint32_t m = runs->runs[i].first; m < runs->runs[i].first + runs->runs[i].count; m++) {
			follower.run_of[m] = i;
			verdicts[runs->tasks[m]] = (struct sk_block_verdict){.task = SK_NONE, .tensor = SK_NONE};
		}
	}
	if (!may_follow(&follower))
		return;
	pass_blocks(&follower, true);
	pass_blocks(&follower, false);
	pass_blocks(&follower, true);
}
