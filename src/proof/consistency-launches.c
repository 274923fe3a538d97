/* Checks the records of launches that follow from their steps: cores and scratch, options, homes, flags, scope and
 * stream. */
#include <inttypes.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/plan/plan.h"
#include "format/skplan.h"
#include "src/proof/proof-parts.h"

enum { MOST_HOMES = 128 /* of one lane in a launch */ };

/* Return the bytes that a tile of an argument in the scratch takes, including its padding. */
static uint64_t tile_bytes(const struct sk_plan_view *view, const struct sk_plan_step *step,
			   const struct sk_plan_call *call, const struct sk_plan_argument *argument)
{
	return step->tile * call->scale * argument->element_bytes +
	       sk_plan_type(&view->tensors[argument->tensor])->padding;
}

/* The resources that the steps of a launch need. */
struct needs {
	uint64_t scratch, resident_cores[SK_MAX_LANES];
	bool early;
};

static void add_scratch(const struct sk_plan_view *view, const struct sk_plan_step *step, struct needs *needs)
{
	struct sk_plan_calls calls = sk_plan_step_calls(view, step);

	for (const struct sk_plan_call *call = calls.first; call < calls.end; call++)
		for (uint32_t i = 0; i < call->argument_count; i++) {
			const struct sk_plan_argument *argument = &view->arguments[call->first_argument + i];

			if (argument->kind == SK_ARGUMENT_SCRATCH)
				sk_raise(&needs->scratch, sk_align_plan(argument->offset + argument->size));
			if (argument->space == SK_SPACE_SCRATCH)
				sk_raise(&needs->scratch,
					 sk_align_plan(argument->offset + tile_bytes(view, step, call, argument)));
		}
}

static struct needs needs_of(const struct sk_plan_view *view, const struct sk_plan_launch *launch)
{
	struct needs needs = {0};

	for (uint32_t i = 0; i < sk_plan_form(launch)->step_count; i++) {
		const struct sk_plan_step *step = &view->steps[launch->first_step + i];

		needs.early |= step->flags & (SK_STEP_EARLY_WAIT | SK_STEP_EARLY_SET);
		if (step->flags & SK_STEP_RESIDENT)
			sk_raise(&needs.resident_cores[step->lane], (uint64_t)step->first_core + step->blocks);
		add_scratch(view, step, &needs);
	}
	return needs;
}

static bool check_needs(const struct sk_consistency *check, const struct sk_plan_launch *launch)
{
	const char *name = sk_plan_string(&launch->name);
	struct needs needs = needs_of(check->view, launch);

	for (uint32_t lane = 0; lane < SK_MAX_LANES; lane++)
		if (!sk_same_number(check, name, "its number of resident cores",
				    sk_plan_form(launch)->resident_cores[lane], needs.resident_cores[lane]))
			return false;
	return sk_same_number(check, name, "its scratch", sk_plan_form(launch)->scratch_size, needs.scratch) &&
	       sk_same_number(check, name, "its flag of early starts",
			      !!(sk_plan_form(launch)->flags & SK_LAUNCH_EARLY), needs.early);
}

/* Only a fused scope has options. */
static bool check_options(const struct sk_consistency *check, const struct sk_plan_launch *launch)
{
	const char *name = sk_plan_string(&launch->name);
	bool has_options = sk_plan_form(launch)->func_align ||
			   sk_plan_form(launch)->flags & ~(SK_LAUNCH_EARLY | SK_LAUNCH_ONCE | SK_LAUNCH_THUNK) ||
			   sk_plan_form(launch)->preload || sk_plan_form(launch)->copies;

	for (uint32_t lane = 0; lane < SK_MAX_LANES; lane++) {
		has_options |= sk_plan_form(launch)->lane_cores[lane] != 0;
		if (lane >= check->view->lane_count &&
		    (sk_plan_form(launch)->lane_cores[lane] || sk_plan_form(launch)->device_cores[lane]))
			return sk_contradict(check, "%s: it has cores in lane %u, which does not exist", name, lane);
	}
	if (sk_plan_form(launch)->kind == SK_LAUNCH_SUPERKERNEL)
		return sk_plan_form(launch)->scope || sk_contradict(check, "%s: a superkernel without a scope", name);
	if (sk_plan_form(launch)->kind != SK_LAUNCH_TASK && sk_plan_form(launch)->scope)
		return sk_contradict(check, "%s: not a superkernel, but with a scope", name);
	return sk_same_number(check, name, "its number of tasks", sk_plan_form(launch)->task_count, 1) &&
	       (!has_options || sk_contradict(check, "%s: options of a scope, but not a superkernel", name));
}

/* A stream's home has the stream's number. Once the maximum number of homes is reached, streams share them. */
static bool check_home(const struct sk_consistency *check, const struct sk_plan_launch *launch,
		       const struct sk_plan_step *step, bool seen)
{
	const struct sk_plan_view *view = check->view;
	struct sk_plan_calls calls = sk_plan_step_calls(view, step);

	for (const struct sk_plan_call *call = calls.first; call < calls.end; call++) {
		const struct sk_plan_task *task = &view->tasks[call->task];

		if (!(seen && sk_plan_form(launch)->home_count >= MOST_HOMES) &&
		    !sk_same_number(check, sk_plan_string(&task->name), "the stream of its home",
				    view->homes[step->core_set].stream, task->stream))
			return false;
	}
	return true;
}

/* The division of a step: so many rows in so many blocks. */
struct cut {
	uint64_t rows, blocks;
};

/* The blocks of a partition are those of a step of the launch. */
static bool check_blocks(const struct sk_consistency *check, const struct sk_plan_launch *launch)
{
	const struct sk_plan_partition *partitions = &check->view->partitions[launch->first_partition];
	struct sk_map known;

	sk_map_init(&known, check->arena);
	for (uint32_t i = 0; i < sk_plan_form(launch)->step_count; i++) {
		const struct sk_plan_step *step = &check->view->steps[launch->first_step + i];
		struct cut *cut = SK_NEW(check->arena, struct cut);

		*cut = (struct cut){step->extent, step->blocks};
		if (step->kind == SK_STEP_BLOCKS_RANGE)
			sk_map_insert(&known, (const char *)cut, sizeof(*cut), i);
	}
	for (uint32_t i = 0; i < sk_plan_form(launch)->partition_count; i++) {
		struct cut cut = {partitions[i].rows, partitions[i].blocks};

		if (cut.blocks && sk_map_find(&known, (const char *)&cut, sizeof(cut)) == SK_NONE)
			return sk_contradict(check,
					     "%s: its partition %u is made of %" PRIu64 " blocks of %" PRIu64
					     " rows, which no step has",
					     sk_plan_string(&launch->name), i, cut.blocks, cut.rows);
	}
	return true;
}

static bool check_homes(const struct sk_consistency *check, const struct sk_plan_launch *launch)
{
	const struct sk_plan_view *view = check->view;
	bool *homes = SK_NEW_ARRAY(check->arena, bool, sk_plan_form(launch)->home_count);
	bool *partitions = SK_NEW_ARRAY(check->arena, bool, sk_plan_form(launch)->partition_count);
	uint32_t unused = sk_plan_form(launch)->home_count + sk_plan_form(launch)->partition_count;

	for (uint32_t i = 0; i < sk_plan_form(launch)->step_count; i++) {
		const struct sk_plan_step *step = &view->steps[launch->first_step + i];
		bool *used = step->core_set != SK_ALL_CORES   ? &homes[step->core_set - launch->first_home]
			     : step->partition != SK_NO_INDEX ? &partitions[step->partition - launch->first_partition]
							      : NULL;

		if (step->core_set != SK_ALL_CORES && !check_home(check, launch, step, *used))
			return false;
		unused -= used && !*used;
		if (used)
			*used = true;
	}
	return sk_same_number(check, sk_plan_string(&launch->name), "the number of homes and partitions without a step",
			      unused, 0);
}

/* A step publishes its progress if and only if another step awaits it. Either all steps are timed or none. */
static bool check_flags(const struct sk_consistency *check, const struct sk_plan_launch *launch)
{
	const struct sk_plan_view *view = check->view;
	const struct sk_plan_step *steps = &view->steps[launch->first_step];
	bool *awaited = SK_NEW_ARRAY(check->arena, bool, sk_plan_form(launch)->step_count);

	for (uint32_t i = sk_plan_form(launch)->step_count; i-- > 0;) {
		const char *name = sk_plan_string(&sk_plan_step_task(view, &steps[i])->name);

		for (uint32_t a = 0; a < steps[i].await_count; a++)
			awaited[view->awaits[steps[i].first_await + a].step - launch->first_step] = true;
		if (!sk_same_number(check, name, "its flag for publishing its end",
				    !!(steps[i].flags & SK_STEP_PUBLISH), awaited[i]) ||
		    !sk_same_number(check, name, "its flag for taking times", !!(steps[i].flags & SK_STEP_TIMED),
				    !!(steps[0].flags & SK_STEP_TIMED)))
			return false;
	}
	return true;
}

/* A task that could not be fused is launched alone, outside its scope. The launch's stream is that of its first task in
 * the network, which need not be called first. */
static bool check_tasks_of(const struct sk_consistency *check, const struct sk_plan_launch *launch)
{
	const struct sk_plan_view *view = check->view;
	struct sk_plan_calls calls = sk_plan_launch_calls(view, launch);
	const struct sk_plan_task *first = &view->tasks[calls.first->task];
	const char *name = sk_plan_string(&launch->name);

	for (const struct sk_plan_call *call = calls.first;
	     call < calls.end && sk_plan_form(launch)->kind != SK_LAUNCH_SINGLE &&
	     sk_plan_form(launch)->kind != SK_LAUNCH_EXCHANGE;
	     call++) {
		const struct sk_plan_task *task = &view->tasks[call->task];

		first = task < first ? task : first;
		if (!sk_same_text(check, sk_plan_string(&task->name), "its scope", sk_plan_string(&task->scope),
				  sk_plan_string(&sk_plan_form(launch)->scope)))
			return false;
	}
	return sk_same_number(check, name, "its stream", sk_plan_form(launch)->stream, first->stream);
}

bool sk_consistency_check_launches(const struct sk_consistency *check)
{
	const struct sk_plan_view *view = check->view;
	uint64_t resident_cores[SK_MAX_LANES] = {0};
	bool sound = true;

	for (uint32_t l = 0; l < view->launch_count; l++) {
		const struct sk_plan_launch *launch = &view->launches[l];

		sound &= check_needs(check, launch) && check_options(check, launch) && check_homes(check, launch) &&
			 check_blocks(check, launch) && check_flags(check, launch) && check_tasks_of(check, launch);
		for (uint32_t lane = 0; lane < SK_MAX_LANES; lane++)
			sk_raise(&resident_cores[lane], sk_plan_form(launch)->resident_cores[lane]);
	}
	for (uint32_t lane = 0; lane < SK_MAX_LANES; lane++)
		sound &= sk_same_number(check, "header", "the number of resident cores",
					view->plan->resident_cores[lane], resident_cores[lane]);
	return sound;
}
