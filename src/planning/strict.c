/* See planning-parts.h. Tasks are grouped by sets of scopes, but checked by scope. If some tasks of a scope are also in
 * a second one, the scope is several sets. */
#include "src/planning/planning-parts.h"

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/text.h"
#include "src/model/model.h"
#include "src/planning/planning.h"

/* The result of fusion for a scope. */
struct result {
	uint32_t superkernels; /* superkernels with its tasks … */
	uint32_t singles; /* … and its tasks outside of them */
	uint32_t first_set; /* of its first task that is fused */
	SK_ARRAY(uint32_t) tasks;
};

static bool is_whole(const struct result *result)
{
	return result->singles == 0 && result->superkernels <= 1;
}

static bool is_fused(const struct sk_segments *segments, uint32_t task)
{
	return segments->verdict[task] == SK_REASON_CAN_FUSE;
}

static void count_task(const struct sk_segments *segments, const struct sk_fusion *fusion, struct result *result,
		       uint32_t task)
{
	sk_array_push(segments->model->arena, &result->tasks, task);
	if (!is_fused(segments, task)) {
		result->singles++;
		return;
	}
	if (result->superkernels == 0)
		result->first_set = segments->set_of[task];
	/* All tasks of a superkernel are in the same scopes: it counts at its first one. */
	result->superkernels += fusion->tasks[task].step == 0;
}

static bool is_asked(const struct sk_segments *segments, uint32_t scope)
{
	return segments->model->scopes.items[scope].strict != SK_STRICT_NONE && !segments->checked[scope];
}

/* Return the results by scope, for those that have not been checked. */
static struct result *count_results(const struct sk_segments *segments, const struct sk_fusion *fusion)
{
	const struct sk_model *model = segments->model;
	struct result *results = SK_NEW_ARRAY(model->arena, struct result, model->scopes.count);

	for (uint32_t t = 0; t < model->tasks.count; t++) {
		const struct sk_task *task = &model->tasks.items[t];

		for (size_t i = 0; i < task->said.scopes.count && segments->set_of[t] != SK_NONE; i++)
			if (is_asked(segments, task->said.scopes.items[i]))
				count_task(segments, fusion, &results[task->said.scopes.items[i]], t);
	}
	return results;
}

/* Return the reason why the task begins a new part of the scope; NULL: it does not. */
static const char *find_reason(const struct sk_segments *segments, const struct sk_fusion *fusion,
			       const struct result *result, uint32_t task)
{
	const struct sk_model *model = segments->model;
	const struct sk_task_placement *placement = &fusion->tasks[task];

	if (!is_fused(segments, task) || (placement->step == 0 && placement->cause != SK_NONE))
		return sk_arena_print(model->arena, "(%s): %s", sk_reason_code(placement->reason),
				      sk_reason_text(model->arena, model, fusion, task));
	if (placement->step || segments->set_of[task] == result->first_set)
		return NULL;
	return sk_arena_print(
		model->arena,
		"is in '%s', and tasks before it are in '%s': only those that are in exactly the same scopes "
		"are fused",
		segments->sets.items[segments->set_of[task]].label, segments->sets.items[result->first_set].label);
}

/* Add a note for each task that is launched by itself, and for the first task of each superkernel except the first. */
static void note_places(const struct sk_segments *segments, const struct sk_fusion *fusion, const struct result *result)
{
	const struct sk_model *model = segments->model;

	for (size_t i = 0; i < result->tasks.count; i++) {
		const struct sk_task *task = &model->tasks.items[result->tasks.items[i]];
		const char *reason = find_reason(segments, fusion, result, result->tasks.items[i]);

		if (reason)
			sk_note(model->diag, "%s: task '%s' %s", sk_place_text(model->arena, task->place), task->name,
				reason);
	}
}

static void report_scope(const struct sk_model *model, const struct result *result, const struct sk_scope *scope)
{
	const char *got = sk_arena_print(model->arena, "%u superkernel%s and %u single task%s", result->superkernels,
					 sk_plural(result->superkernels), result->singles, sk_plural(result->singles));

	if (scope->strict == SK_STRICT_ABORT)
		sk_error(model->diag, scope->place,
			 "scope '%s' cannot be fused whole (strict-scope-check=abort): it would be %s", scope->name,
			 got);
	else
		sk_warning(model->diag, scope->place,
			   "scope '%s' is not fused (strict-scope-check=bypass): it would be %s", scope->name, got);
}

/* Return true if a task was fused. */
static bool bypass(struct sk_segments *segments, const struct result *result)
{
	bool changed = false;

	for (size_t i = 0; i < result->tasks.count; i++) {
		uint32_t task = result->tasks.items[i];

		if (!is_fused(segments, task))
			continue;
		segments->verdict[task] = SK_REASON_SCOPE_CHECK_BYPASS;
		changed = true;
	}
	return changed;
}

/* All reports come before a verdict changes, since another scope of the task may report it as well. */
bool sk_strict_check(struct sk_segments *segments, const struct sk_fusion *fusion)
{
	const struct sk_model *model = segments->model;
	const struct result *results = count_results(segments, fusion);
	bool changed = false;

	for (uint32_t s = 0; s < model->scopes.count; s++) {
		if (is_whole(&results[s]))
			continue;
		report_scope(model, &results[s], &model->scopes.items[s]);
		note_places(segments, fusion, &results[s]);
		segments->checked[s] = true;
	}
	for (uint32_t s = 0; s < model->scopes.count; s++)
		if (!is_whole(&results[s]) && model->scopes.items[s].strict == SK_STRICT_BYPASS)
			changed |= bypass(segments, &results[s]);
	return changed;
}
