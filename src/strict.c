/* See strict.h. */
#include "strict.h"

/* Superkernels that the tag set has become, and its tasks outside of them. */
struct result {
	uint32_t superkernels, singles;
};

static bool is_whole(const struct result *result)
{
	return result->superkernels == 1 && result->singles == 0;
}

/* Results by tag set; a superkernel counts at its first task. */
static struct result *count_results(const struct sk_segments *segments, const struct sk_partition *partition)
{
	struct result *results = SK_NEW_ARRAY(segments->model->arena, struct result, segments->sets.count);

	for (uint32_t t = 0; t < segments->model->tasks.count; t++) {
		uint32_t set = segments->set_of[t];

		if (set == SK_NONE)
			continue;
		if (segments->verdict[t] != SK_REASON_CAN_FUSE)
			results[set].singles++;
		else if (partition->tasks[t].step == 0)
			results[set].superkernels++;
	}
	return results;
}

/* A line for each task that is launched by itself, and for the first one of each superkernel behind the first. */
static void note_places(const struct sk_segments *segments, const struct sk_partition *partition, uint32_t set)
{
	const struct sk_model *model = segments->model;
	const struct sk_tag_set *tags = &segments->sets.items[set];

	for (uint32_t t = tags->first; t <= tags->last; t++) {
		const struct sk_task_placement *placement = &partition->tasks[t];
		const struct sk_task *task = &model->tasks.items[t];
		bool single = segments->verdict[t] != SK_REASON_CAN_FUSE;

		if (segments->set_of[t] != set || (!single && (placement->step || placement->cause == SK_NONE)))
			continue;
		sk_note(model->diag, "%s: task '%s' (%s): %s", sk_place_text(model->arena, task->place), task->name,
			sk_reason_code(placement->reason), sk_reason_text(model, partition, t));
	}
}

static struct sk_place place_of(const struct sk_model *model, const struct sk_tag_set *tags)
{
	return model->scopes.items[tags->scopes[0]].place;
}

static void say(const struct sk_segments *segments, const struct result *result, const struct sk_tag_set *tags)
{
	const struct sk_model *model = segments->model;
	const char *got =
		sk_arena_print(model->arena, "%u superkernel%s and %u single task%s", result->superkernels,
			       result->superkernels == 1 ? "" : "s", result->singles, result->singles == 1 ? "" : "s");

	if (tags->strict == SK_STRICT_ABORT)
		sk_error(model->diag, place_of(model, tags),
			 "scope '%s' cannot be fused whole (strict-scope-check=abort): it would be %s", tags->label,
			 got);
	else
		sk_warning(model->diag, place_of(model, tags),
			   "scope '%s' is not fused (strict-scope-check=bypass): it would be %s", tags->label, got);
}

static void bypass(struct sk_segments *segments, uint32_t set)
{
	for (uint32_t t = segments->sets.items[set].first; t <= segments->sets.items[set].last; t++)
		if (segments->set_of[t] == set && segments->verdict[t] == SK_REASON_CAN_FUSE)
			segments->verdict[t] = SK_REASON_SCOPE_CHECK_BYPASS;
}

bool sk_strict_check(struct sk_segments *segments, const struct sk_partition *partition)
{
	const struct result *results = count_results(segments, partition);
	bool changed = false;

	for (uint32_t s = 0; s < segments->sets.count; s++) {
		struct sk_tag_set *tags = &segments->sets.items[s];

		if (tags->strict == SK_STRICT_NONE || is_whole(&results[s]))
			continue;
		say(segments, &results[s], tags);
		note_places(segments, partition, s);
		if (tags->strict == SK_STRICT_BYPASS) {
			bypass(segments, s);
			changed |= results[s].superkernels > 0;
		}
		tags->strict = SK_STRICT_NONE; /* it has been said */
	}
	return changed;
}
