/* --check-split: each task by itself on a device that divides its calls (loader/checks/split.c). All tasks with a
 * difference are reported, not only the first one. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "format/skplan.h"
#include "loader/flight/flight.h"
#include "loader/skrt.h"
#include "loader/skrun/skrun.h"

/* Return the number of units of the task; 0: it is not divided. */
static uint64_t unit_count(const struct sk_session *session, uint32_t task)
{
	const struct sk_plan_view *plan = session->plan;
	const struct sk_plan_launch *launch = &plan->launches[plan->tasks[task].task_launch];
	const struct sk_plan_step *step = &plan->steps[launch->first_step];

	return step->kind == SK_STEP_SPLIT ? (step->extent - 1) / plan->partitions[step->partition].unit + 1 : 0;
}

static enum skrt_status run_task(struct sk_session *session, uint32_t task)
{
	const struct skrt_kernel *kernel;
	enum skrt_status status = skrt_module_task(session->module, task, &kernel);

	if (!status)
		status = skrt_launch(session->streams[0], session->instance, kernel);
	if (!status)
		status = skrt_synchronise(session->streams[0]);
	sk_succeeded(status);
	return status;
}

bool sk_session_check_split(struct sk_session *session, uint32_t repeats)
{
	uint32_t first = session->network.first_task, count = session->network.task_count, divided = 0, sampled = 0,
		 single = 0;
	char samples[64] = "";
	bool good = true;

	sk_progress_begin("task in parts", (uint64_t)repeats * count);
	for (uint32_t repeat = 0; repeat < repeats && good; repeat++)
		for (uint32_t i = 0; i < count; i++) {
			enum skrt_status status = run_task(session, first + i);

			if (status && status != SKRT_KERNEL_FAILED)
				return false;
			good = good && !status;
			sk_progress_step();
		}
	sk_progress_end();
	for (uint32_t i = 0; i < count; i++) {
		uint64_t units = unit_count(session, first + i);

		divided += units > 1;
		sampled += units > SKRT_SPLIT_UNITS;
		single += units == 1;
	}
	if (sampled)
		snprintf(samples, sizeof(samples), ", %" PRIu32 " of them at samples of the places", sampled);
	if (good)
		printf("Split: bit-identical (%" PRIu32 " of %" PRIu32 " task%s in calls for parts%s; %" PRIu32
		       " more would be divided if they were larger)\n",
		       divided, count, sk_plural(count), samples, single);
	return good;
}
