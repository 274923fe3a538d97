/* The table of --profile: a line for each task that ran, then what cores did besides, so that the shares add up to the
 * time that all cores had. Uses nothing of libskrt but its public functions. */
#include "config.h"

#include "loader/skrun/task-table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loader/skrun/messages.h"
#include "loader/skrun/session.h"
#include "src/base/escape.h"

static int compare_tasks(const void *a, const void *b)
{
	const struct skrt_task_times *left = a, *right = b;

	return (left->run_seconds < right->run_seconds) - (left->run_seconds > right->run_seconds);
}

/* Those that ran, in *tasks, which the caller frees. */
static bool read_tasks(const struct skrt_trace *trace, uint64_t count, struct skrt_task_times **tasks, size_t *found)
{
	*found = 0;
	*tasks = calloc(count + 1, sizeof(**tasks));
	if (!*tasks) {
		sk_skrun_error("no memory for the times of %" PRIu64 " tasks", count);
		return false;
	}
	for (uint64_t i = 0; i < count; i++) {
		if (skrt_trace_task(trace, i, &(*tasks)[*found])) {
			sk_skrun_error("%s", skrt_error());
			return false;
		}
		*found += (*tasks)[*found].runs != 0;
	}
	qsort(*tasks, *found, sizeof(**tasks), compare_tasks);
	return true;
}

/* Of the column of names, which a longer one leaves for its row alone: else every row would be as long as the longest.
 */
static int width_of(const struct skrt_task_times *tasks, size_t count)
{
	enum { MOST_PADDED = 256 };
	size_t width = strlen("(outside of tasks)");

	for (size_t i = 0; i < count; i++) {
		size_t size = sk_escape(NULL, 0, tasks[i].task);

		width = size > width ? size : width;
	}
	return width < MOST_PADDED ? (int)width : MOST_PADDED;
}

static double share(double part, double all)
{
	return all > 0 ? 100 * part / all : 0;
}

static void print_rest(const char *what, int width, double seconds, double all)
{
	printf("%-*s %10s %12.3f %12s %8.1f\n", width, what, "", seconds * 1e3, "", share(seconds, all));
}

bool sk_task_table_print(const struct skrt_trace *trace)
{
	struct skrt_trace_info info;
	struct skrt_task_times *tasks;
	size_t count;

	skrt_trace_describe(trace, &info);
	bool good = read_tasks(trace, info.task_count, &tasks, &count);
	int width = good ? width_of(tasks, count) : 0;
	if (good)
		printf("%-*s %10s %12s %12s %8s %12s\n", width, "task", "calls", "total ms", "mean us", "share %",
		       "wait ms");
	for (size_t i = 0; i < count && good; i++) {
		sk_escape_print_column(tasks[i].task, width, stdout);
		printf(" %10" PRIu64 " %12.3f %12.3f %8.1f %12.3f\n", tasks[i].calls, tasks[i].run_seconds * 1e3,
		       tasks[i].run_seconds * 1e6 / (double)(tasks[i].calls + !tasks[i].calls),
		       share(tasks[i].run_seconds, info.core_seconds), tasks[i].wait_seconds * 1e3);
	}
	if (good) {
		print_rest("(waits)", width, info.wait_seconds, info.core_seconds);
		print_rest("(outside of tasks)", width, info.core_seconds - info.run_seconds - info.wait_seconds,
			   info.core_seconds);
		print_rest("all cores", width, info.core_seconds, info.core_seconds);
		printf("%" PRIu64 " launches took %.3f ms\n", info.launch_count, info.seconds * 1e3);
	}
	free(tasks);
	return good;
}
