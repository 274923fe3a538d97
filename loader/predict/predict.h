/* Predicted time: what a package's network would take on a device that a profile describes, unfused, fused, and fused
 * in other ways; the critical path, and where the time on it goes. No kernel runs. */
#ifndef SK_LOADER_PREDICT_H
#define SK_LOADER_PREDICT_H

#include <stdio.h>

#include "format/plan/plan.h"
#include "format/plan/task-filter.h"

struct sk_predict_options {
	const struct sk_plan_network *network; /* of the plan */
	const char *device; /* a profile's name or path; NULL: the one that the package was linked for */
	const char *costs; /* path of a cost file (costs.h), or NULL */
	const char *trace; /* path of a file for what the cores do in the unfused and the fused run, or NULL */
	uint32_t cores; /* of each lane; 0: as many as the profile says */
	struct sk_task_filter tasks; /* of the critical path: only these are shown */
	bool by_kernel; /* of the critical path: only the kernels, and all of them */
};

/* Prints the prediction. False, and nothing printed, with the reason in `error`. */
bool sk_predict(const struct sk_plan_view *plan, const struct sk_predict_options *options, FILE *stream, char *error,
		size_t error_size);

#endif
