/* Measures tasks; see skrun.h. The tasks of a round run in the network's order, so that each finds the caches as in the
 * network. A first round, by libskrt's own function, prepares everything and reports errors; then the serial entries or
 * thunks are called directly, with the clock close around them. */
#include "config.h"

#include "loader/skrun/skrun.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "format/plan/dims.h"
#include "format/plan/plan.h"
#include "format/profile/profile.h"
#include "loader/core/core.h"
#include "loader/device/device.h"
#include "loader/flight/flight.h"
#include "loader/predict/predict.h"

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int compare_doubles(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static double median(double *values, uint32_t count)
{
	qsort(values, count, sizeof(*values), compare_doubles);
	return values[count / 2];
}

/* Return the time of two readings of the clock, in ns: the least of many. */
static double clock_time(void)
{
	double least = 1e9;

	for (int i = 0; i < 1000; i++) {
		double start = now(), time = now() - start;

		least = time < least ? time : least;
	}
	return least;
}

/* Make the first round, which is not timed. */
static bool run_first(struct sk_session *session, uint32_t task_count)
{
	for (uint32_t i = 0; i < task_count; i++) {
		const struct skrt_kernel *kernel;

		if (!sk_succeeded(skrt_module_task(session->module, session->network.first_task + i, &kernel)) ||
		    !sk_succeeded(skrt_run_serial(session->instance, kernel)))
			return false;
	}
	return true;
}

struct timed_run {
	const struct skrt_kernel *kernel;
	struct skrt_instance *instance;
	double time;
};

static int run_timed(void *context)
{
	struct timed_run *run = context;
	double start = now();
	int status = sk_serial_run(run->instance, run->kernel);

	run->time = now() - start;
	return status;
}

/* Make one round; the time of task i goes to times[i * rounds + round]. */
static bool run_round(struct sk_session *session, uint32_t task_count, uint32_t rounds, uint32_t round, double *times)
{
	const struct sk_plan_view *plan = session->plan;

	for (uint32_t i = 0; i < task_count; i++) {
		const struct sk_plan_task *task = &plan->tasks[session->network.first_task + i];
		struct timed_run run = {sk_module_prepared(session->module, task->task_launch), session->instance, 0};
		struct sk_call *call = &session->instance->serial_call;

		if (!sk_serial_prepare(session->instance, run.kernel)) {
			sk_skrun_error("no memory for the arguments of task '%s'", sk_plan_string(&task->name));
			return false;
		}
		sk_watch_call(session->device, call, &session->module->image.package, run_timed, &run);
		times[(size_t)i * rounds + round] = run.time;
		if (!call->result && call->fault.kind == SK_FAULT_NONE)
			continue;
		sk_skrun_error("task '%s' fails when it runs again", sk_plan_string(&task->name));
		return false;
	}
	return true;
}

static bool write_times(struct sk_session *session, const char *path, uint32_t task_count, uint32_t rounds,
			double *times)
{
	double clock = clock_time();
	char sizes[SK_DIMS_TEXT_SIZE];
	FILE *file = sk_unfinished_open(path);
	bool good = file != NULL;

	if (good)
		fprintf(file, "# The time of each task on one core of this machine, the median of %" PRIu32 " runs.\n",
			rounds);
	if (good && session->module->dims.dims) {
		sk_session_sizes_text(session, sizes, sizeof(sizes));
		fputs("sizes: ", file);
		sk_lines_print_key(sizes, file);
		putc('\n', file);
	}
	for (uint32_t i = 0; good && i < task_count; i++) {
		const struct sk_plan_task *task = &session->plan->tasks[session->network.first_task + i];
		double time = median(times + (size_t)i * rounds, rounds) - clock;

		sk_costs_print(sk_plan_string(&task->name), time > 0 ? time : 0, file);
	}
	good = good && sk_unfinished_close(file, path);
	if (!good)
		sk_skrun_error("%s: %s", path, strerror(errno));
	return good;
}

bool sk_measure(struct sk_session *session, const char *path, uint32_t rounds)
{
	uint32_t task_count = session->network.task_count;
	double *times = calloc((size_t)task_count * rounds + 1, sizeof(*times));
	bool good = times != NULL;

	if (!good)
		sk_skrun_error("no memory for %" PRIu32 " times of %" PRIu32 " tasks", rounds, task_count);
	sk_progress_begin("round of all tasks", (uint64_t)rounds + 1);
	good = good && run_first(session, task_count);
	for (uint32_t round = 0; good && round < rounds; round++) {
		sk_progress_step();
		good = run_round(session, task_count, rounds, round, times);
	}
	sk_progress_end();
	good = good && write_times(session, path, task_count, rounds, times);
	free(times);
	return good;
}
