/* Selections of tasks; see plan.h. */
#include "format/plan/plan.h"

#include "base/text.h"

bool sk_task_is_chosen(const struct sk_task_filter *filter, const struct sk_plan_view *plan, uint32_t task)
{
	const struct sk_plan_task *record = &plan->tasks[task];

	return (!filter->by_launch || record->launch == filter->launch) &&
	       (!filter->task || sk_pattern_matches(filter->task, sk_plan_string(&record->name))) &&
	       (!filter->kernel ||
		sk_pattern_matches(filter->kernel, sk_plan_string(&plan->kernels[record->kernel].name)));
}

bool sk_task_filter_finds(const struct sk_task_filter *filter, const struct sk_plan_view *plan, uint32_t first,
			  uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (sk_task_is_chosen(filter, plan, first + i))
			return true;
	return false;
}
