/* Some of a plan's tasks, as people ask for them: --task, --kernel and --launch of skrun and skdump. */
#ifndef SK_LOADER_TASK_FILTER_H
#define SK_LOADER_TASK_FILTER_H

#include <stdbool.h>

#include "format/plan/plan.h"

struct sk_task_filter {
	const char *task, *kernel; /* patterns of names; NULL: any */
	bool by_launch;
	uint64_t launch; /* of the network, by number */
};

static inline bool sk_task_filter_is_set(const struct sk_task_filter *filter)
{
	return filter->task || filter->kernel || filter->by_launch;
}

bool sk_task_is_chosen(const struct sk_task_filter *filter, const struct sk_plan_view *plan, uint32_t task);

/* Whether any of these tasks is. Of these two the plan's records must have been checked. */
bool sk_task_filter_finds(const struct sk_task_filter *filter, const struct sk_plan_view *plan, uint32_t first,
			  uint32_t count);

#endif
