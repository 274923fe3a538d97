/* The totals of a trace; see skrun.h. */
#include "config.h"

#include "loader/skrun/skrun.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "format/plan/plan.h"
#include "loader/flight/flight.h"
#include "loader/skrt.h"

/* A task that ran, or a kernel with the sums of its tasks. */
struct row {
	const char *name, *kernel;
	uint64_t tasks, calls;
	double run_seconds, wait_seconds;
};

struct table {
	struct skrt_trace_info info;
	struct row *rows;
	size_t count;
	double other_seconds; /* in tasks that are not shown */
};

static int compare_rows(const void *a, const void *b)
{
	const struct row *left = a, *right = b;

	return (left->run_seconds < right->run_seconds) - (left->run_seconds > right->run_seconds);
}

static void add_times(struct row *row, const struct skrt_task_times *times, const char *name)
{
	row->name = name;
	row->kernel = times->kernel;
	row->tasks++;
	row->calls += times->calls;
	row->run_seconds += times->run_seconds;
	row->wait_seconds += times->wait_seconds;
}

/* Read the totals. The trace is of one package, so its task numbers are those of the plan. The caller frees the
 * rows. */
static bool read_table(const struct sk_session *session, const struct sk_run_options *options, struct table *table)
{
	const struct sk_plan_view *plan = &session->module->plan;
	struct skrt_task_times times = {.size = sizeof(times)};
	size_t room, used = 0;

	if (!sk_succeeded(skrt_trace_describe(session->trace, &table->info)))
		return false;
	room = options->by_kernel ? plan->kernel_count : (size_t)table->info.task_count;
	table->rows = calloc(room + 1, sizeof(*table->rows));
	if (!table->rows) {
		sk_skrun_error("no memory for a table of %zu rows", room);
		return false;
	}
	for (uint32_t i = 0; i < table->info.task_count; i++) {
		if (!sk_succeeded(skrt_trace_task(session->trace, i, &times)))
			return false;
		if (!sk_task_is_chosen(&options->tasks, plan, i))
			table->other_seconds += times.run_seconds;
		else if (times.runs)
			add_times(&table->rows[options->by_kernel ? plan->tasks[i].kernel : i], &times,
				  options->by_kernel ? times.kernel : times.task);
	}
	for (size_t i = 0; i < room; i++)
		if (table->rows[i].tasks)
			table->rows[used++] = table->rows[i];
	table->count = used;
	qsort(table->rows, used, sizeof(*table->rows), compare_rows);
	return true;
}

/* ---- for people ---- */

/* Return the width of the column of names. A longer name widens only its own row. */
static int width_of(const struct table *table)
{
	enum { MOST_PADDED = 256 };
	size_t width = strlen("(outside of tasks)");

	for (size_t i = 0; i < table->count; i++) {
		size_t size = sk_escape(NULL, 0, table->rows[i].name);

		width = size > width ? size : width;
	}
	return width < MOST_PADDED ? (int)width : MOST_PADDED;
}

static double percentage(double part, double all)
{
	return all > 0 ? 100 * part / all : 0;
}

static void print_rows(const struct table *table, bool by_kernel, int width)
{
	printf("%-*s", width, by_kernel ? "kernel" : "task");
	if (by_kernel)
		printf(" %8s", "tasks");
	printf(" %10s %12s %12s %8s %12s\n", "calls", "total ms", "mean us", "share %", "wait ms");
	for (size_t i = 0; i < table->count; i++) {
		const struct row *row = &table->rows[i];

		sk_escape_print_column(row->name, width, stdout);
		if (by_kernel)
			printf(" %8" PRIu64, row->tasks);
		printf(" %10" PRIu64 " %12.3f %12.3f %8.1f %12.3f\n", row->calls, row->run_seconds * 1e3,
		       row->run_seconds * 1e6 / (double)(row->calls + !row->calls),
		       percentage(row->run_seconds, table->info.core_seconds), row->wait_seconds * 1e3);
	}
}

static void print_rest(const char *title, bool by_kernel, int width, double seconds, double all)
{
	printf("%-*s %*s %12.3f %12s %8.1f\n", width, title, by_kernel ? 19 : 10, "", seconds * 1e3, "",
	       percentage(seconds, all));
}

bool sk_task_table_print(const struct sk_session *session, const struct sk_run_options *options)
{
	struct table table = {.info.size = sizeof(table.info)};
	const struct skrt_trace_info *info = &table.info;
	bool good = read_table(session, options, &table), by_kernel = options->by_kernel;

	if (good) {
		int width = width_of(&table);

		print_rows(&table, by_kernel, width);
		if (sk_task_filter_is_set(&options->tasks))
			print_rest("(other tasks)", by_kernel, width, table.other_seconds, info->core_seconds);
		print_rest("(waits)", by_kernel, width, info->wait_seconds, info->core_seconds);
		print_rest("(outside of tasks)", by_kernel, width,
			   info->core_seconds - info->run_seconds - info->wait_seconds, info->core_seconds);
		print_rest("all cores", by_kernel, width, info->core_seconds, info->core_seconds);
		printf("%" PRIu64 " launch%s took %.3f ms\n", info->launch_count,
		       sk_ending(info->launch_count, "", "es"), info->seconds * 1e3);
	}
	free(table.rows);
	return good;
}

/* ---- as data ---- */

static void put_seconds(struct sk_json *json, const char *key, double seconds)
{
	fprintf(sk_json_put_value(json, key), "%.9g", seconds);
}

static void put_row(struct sk_json *json, const struct row *row, bool by_kernel)
{
	sk_json_begin_object(json, NULL, SK_JSON_LINE);
	sk_json_put_string(json, "name", row->name);
	if (by_kernel)
		sk_json_put_number(json, "tasks", row->tasks);
	else
		sk_json_put_string(json, "kernel", row->kernel);
	sk_json_put_number(json, "calls", row->calls);
	put_seconds(json, "run_seconds", row->run_seconds);
	put_seconds(json, "wait_seconds", row->wait_seconds);
	sk_json_end(json);
}

bool sk_task_table_put_json(const struct sk_session *session, const struct sk_run_options *options,
			    struct sk_json *json)
{
	struct table table = {.info.size = sizeof(table.info)};
	bool good = read_table(session, options, &table);

	sk_json_begin_object(json, "profile", SK_JSON_LINE);
	sk_json_put_number(json, "launches", table.info.launch_count);
	put_seconds(json, "seconds", table.info.seconds);
	put_seconds(json, "core_seconds", table.info.core_seconds);
	put_seconds(json, "run_seconds", table.info.run_seconds);
	put_seconds(json, "wait_seconds", table.info.wait_seconds);
	sk_json_begin_list(json, options->by_kernel ? "kernels" : "tasks", SK_JSON_LINES);
	for (size_t i = 0; i < table.count && good; i++)
		put_row(json, &table.rows[i], options->by_kernel);
	sk_json_end(json);
	sk_json_end(json);
	free(table.rows);
	return good;
}
