/* The texts of the reasons; see planning-parts.h. */
#include "src/planning/planning-parts.h"

#include "base/arena.h"
#include "format/skplan.h"
#include "src/model/model.h"
#include "src/planning/planning.h"

const char *sk_reason_code(enum sk_reason reason)
{
	static const char *const codes[SK_REASON_COUNT] = {
		[SK_REASON_CAN_FUSE] = "CAN_FUSE",
		[SK_REASON_SCOPE_FUSE_PART] = "SCOPE_FUSE_PART",
		[SK_REASON_EXTERNAL_DEPEND] = "EXTERNAL_DEPEND",
		[SK_REASON_ISOLATED_EVENT] = "ISOLATED_EVENT",
		[SK_REASON_EXIST_DEADLOCK] = "EXIST_DEADLOCK",
		[SK_REASON_SYNCALL_OP_DROP] = "SYNCALL_OP_DROP",
		[SK_REASON_SYNCALL_OP_RISE] = "SYNCALL_OP_RISE",
		[SK_REASON_OP_UNSUPPORT] = "OP_UNSUPPORT",
		[SK_REASON_EXCEED_CORE_MAX] = "EXCEED_CORE_MAX",
		[SK_REASON_EXCEED_STREAM_MAX] = "EXCEED_STREAM_MAX",
		[SK_REASON_SCOPE_CHECK_BYPASS] = "SCOPE_CHECK_BYPASS",
		[SK_REASON_NOT_IN_SCOPE] = "NOT_IN_SCOPE",
		[SK_REASON_IN_UNFUSIBLE_SCOPE] = "IN_UNFUSIBLE_SCOPE",
		[SK_REASON_RUNS_ONCE] = "RUNS_ONCE",
	};

	return reason < SK_REASON_COUNT ? codes[reason] : "?";
}

/* Return the event of the recorder that the task waits for. A task's recorders are in the order of its waits. */
static const char *event_of(const struct sk_model *model, const struct sk_fusion *fusion, uint32_t task,
			    uint32_t recorder)
{
	const struct sk_dependencies *dependencies = fusion->dependencies;
	uint32_t first = dependencies->first_recorder[task], wait = 0;

	while (dependencies->recorders[first + wait] != recorder)
		wait++;
	return model->events.items[model->tasks.items[task].said.wait.items[wait]].name;
}

/* Return the text for a task that sk_sync_all separates from another one: which of the two calls it, and in which lane
 * their cores differ. */
static const char *sync_text(struct sk_arena *arena, const struct sk_model *model, const struct sk_fusion *fusion,
			     uint32_t number)
{
	const struct sk_task_placement *placement = &fusion->tasks[number];
	uint32_t cause = placement->cause, own[SK_MAX_LANES], other[SK_MAX_LANES];
	const char *name = model->tasks.items[cause].name;
	bool drop = placement->reason == SK_REASON_SYNCALL_OP_DROP;

	sk_sync_cores(model, number, own);
	sk_sync_cores(model, cause, other);

	const uint32_t *caller = drop ? own : other, *greedy = drop ? other : own;
	uint32_t lane = caller[0] < greedy[0] ? 0 : 1;

	return sk_arena_print(arena,
			      "fused into %s and not into %s: on device '%s' sk_sync_all waits for all cores of a "
			      "superkernel; with %s, which calls it, there may be %u of lane '%s', and %s takes %u",
			      fusion->launches[placement->launch].name,
			      fusion->launches[fusion->tasks[cause].launch].name, model->device->name,
			      drop ? "this task" : sk_arena_print(arena, "task '%s'", name), caller[lane],
			      model->device->lanes[lane].name,
			      drop ? sk_arena_print(arena, "task '%s'", name) : "this one", greedy[lane]);
}

/* Return the text for a task in a later segment: the end of the previous one. */
static const char *split_text(struct sk_arena *arena, const struct sk_model *model, const struct sk_fusion *fusion,
			      uint32_t number)
{
	const struct sk_task_placement *placement = &fusion->tasks[number];
	const struct sk_task_placement *between = &fusion->tasks[placement->cause];
	const struct sk_task *cause = &model->tasks.items[placement->cause];
	const char *launch = fusion->launches[placement->launch].name;

	switch (placement->reason) {
	case SK_REASON_ISOLATED_EVENT:
		return sk_arena_print(arena,
				      "fused into %s and not into the segment before, since it waits for event '%s' of "
				      "task '%s', which is launched by itself (%s)",
				      launch, event_of(model, fusion, number, placement->cause), cause->name,
				      sk_reason_code(between->reason));
	case SK_REASON_EXIST_DEADLOCK:
		return sk_arena_print(arena,
				      "fused into %s and not into the segment before: it waits for event '%s' of task "
				      "'%s', which cannot start before that segment has ended, so one launch would "
				      "wait for itself",
				      launch, event_of(model, fusion, number, placement->cause), cause->name);
	case SK_REASON_EXTERNAL_DEPEND:
		return sk_arena_print(
			arena,
			"fused into %s and not into the segment before, since it comes after task '%s' %s, "
			"which is launched in between",
			launch, cause->name,
			between->scope ? sk_arena_print(arena, "of scope '%s'", between->scope)
				       : "outside of the scope");
	case SK_REASON_SYNCALL_OP_DROP:
	case SK_REASON_SYNCALL_OP_RISE:
		return sync_text(arena, model, fusion, number);
	default:
		return sk_arena_print(arena,
				      "fused into %s and not into the segment before, since it comes after task '%s', "
				      "which %s (%s)",
				      launch, cause->name,
				      fusion->launches[between->launch].kind != SK_LAUNCH_SUPERKERNEL
					      ? "is launched in between"
					      : "is in a later one",
				      sk_reason_code(between->reason));
	}
}

const char *sk_reason_text(struct sk_arena *arena, const struct sk_model *model, const struct sk_fusion *fusion,
			   uint32_t number)
{
	const struct sk_task_placement *placement = &fusion->tasks[number];
	const struct sk_task *task = &model->tasks.items[number];

	switch (placement->reason) {
	case SK_REASON_CAN_FUSE:
		return sk_arena_join(arena, "fused into ", fusion->launches[placement->launch].name);
	case SK_REASON_OP_UNSUPPORT:
		if (sk_launches_exchange_alone(model, task))
			return "its scope has exchange-fusion=0";
		return sk_arena_print(arena, "kernel '%s' is marked unfusible",
				      model->kernels.items[task->bound.kernel].name);
	case SK_REASON_EXCEED_CORE_MAX:
		return sk_arena_print(arena, "it has %u blocks, and device '%s' has %u %s cores",
				      task->bound.block_count, model->device->name,
				      model->device->lanes[task->bound.lane].cores,
				      model->device->lanes[task->bound.lane].name);
	case SK_REASON_EXCEED_STREAM_MAX:
		return sk_arena_print(arena,
				      "its stream, %u, is not one of the first two of scope '%s', and more need "
				      "stream-fusion=1",
				      task->said.stream, placement->scope);
	case SK_REASON_SCOPE_CHECK_BYPASS:
		return sk_arena_print(arena,
				      "scope '%s' cannot be fused whole and has strict-scope-check=bypass, so none of "
				      "its tasks is fused",
				      placement->scope);
	case SK_REASON_NOT_IN_SCOPE:
		return "is outside every scope";
	case SK_REASON_IN_UNFUSIBLE_SCOPE:
		return "excluded by scope: null";
	case SK_REASON_RUNS_ONCE:
		return "runs once, before all tasks that run every time";
	case SK_REASON_COUNT:
		return "?";
	default:
		return split_text(arena, model, fusion, number);
	}
}
