/* Output of times; see skrun.h. */
#include "config.h"

#include "loader/skrun/skrun.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "format/plan/dims.h"
#include "format/plan/plan.h"
#include "format/skdims.h"
#include "loader/flight/flight.h"

static const char *const modes[] = {"fused", "unfused", "serial"};

static int compare_doubles(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

/* Return the time that so many of a hundred runs did not exceed: the time of one of them. NULL if the runs are too few
 * for it. */
static const double *percentile(const double *sorted, uint64_t count, uint64_t percent)
{
	return count * (100 - percent) >= 100 ? &sorted[(count * percent + 99) / 100 - 1] : NULL;
}

void sk_results_print_time(const struct sk_session *session, const struct sk_run_options *options, double *seconds)
{
	static const uint64_t percents[] = {90, 99};
	uint64_t count = options->repeats;

	qsort(seconds, count, sizeof(*seconds), compare_doubles);
	printf("Time: median %.4g ms, fastest %.4g ms of %" PRIu64 " %s runs (", seconds[count / 2] * 1e3,
	       seconds[0] * 1e3, count, modes[options->mode]);
	if (options->mode == SK_RUN_SERIAL)
		printf("one core");
	else
		sk_session_print_cores(session);
	printf(")");
	for (int i = 0; i < 2; i++) {
		const double *time = percentile(seconds, count, percents[i]);

		if (time)
			printf("%s %" PRIu64 " %% within %.4g ms", i ? "," : ";", percents[i], *time * 1e3);
	}
	printf("\n");
}

/* ---- as data ---- */

static void put_seconds(struct sk_json *json, const char *key, const double *seconds)
{
	if (seconds)
		fprintf(sk_json_put_value(json, key), "%.9g", *seconds);
	else
		sk_json_put_string(json, key, NULL);
}

static void put_time(const struct sk_run_options *options, double *seconds, struct sk_json *json)
{
	uint64_t count = options->repeats;
	double sum = 0;

	sk_json_begin_object(json, "time", SK_JSON_LINE);
	sk_json_put_number(json, "runs", count);
	sk_json_begin_list(json, "seconds", SK_JSON_LINE);
	for (uint64_t i = 0; i < count; i++) {
		put_seconds(json, NULL, &seconds[i]);
		sum += seconds[i];
	}
	sk_json_end(json);
	qsort(seconds, count, sizeof(*seconds), compare_doubles);
	sum /= (double)count;
	put_seconds(json, "fastest", &seconds[0]);
	put_seconds(json, "median", &seconds[count / 2]);
	put_seconds(json, "mean", &sum);
	put_seconds(json, "percentile_90", percentile(seconds, count, 90));
	put_seconds(json, "percentile_99", percentile(seconds, count, 99));
	put_seconds(json, "slowest", &seconds[count - 1]);
	sk_json_end(json);
}

/* Write the sizes of the network's dimensions, by name. */
static void put_sizes(const struct sk_session *session, struct sk_json *json)
{
	const struct sk_dims_view *dims = &session->module->dims;

	sk_json_begin_object(json, "sizes", SK_JSON_LINE);
	for (uint32_t i = 0; i < dims->dimension_count; i++)
		if (!strcmp(sk_plan_string(&dims->dimensions[i].network), session->network.name))
			sk_json_put_number(json, sk_plan_string(&dims->dimensions[i].name), session->sizes[i]);
	sk_json_end(json);
}

bool sk_results_print_json(const struct sk_session *session, const struct sk_run_options *options, double *seconds)
{
	struct sk_json json = {.stream = stdout, .indent = 2};
	bool good = true;

	sk_json_begin_object(&json, NULL, SK_JSON_LINES);
	sk_json_put_number(&json, "version", 1);
	sk_json_put_string(&json, "package", session->path);
	sk_json_put_string(&json, "network", *session->network.name ? session->network.name : NULL);
	sk_json_put_string(&json, "device", skrt_device_name(session->device));
	sk_json_begin_list(&json, "cores", SK_JSON_LINE);
	for (uint32_t lane = 0; lane < session->module->plan.lane_count; lane++)
		sk_json_put_number(&json, NULL,
				   options->mode == SK_RUN_SERIAL ? 1 : skrt_device_cores(session->device, lane));
	sk_json_end(&json);
	sk_json_put_string(&json, "mode", modes[options->mode]);
	if (session->module->dims.dims)
		put_sizes(session, &json);
	sk_json_put_number(&json, "warm_up", options->warm_up);
	if (options->time)
		put_time(options, seconds, &json);
	if (options->profile)
		good = sk_task_table_put_json(session, options, &json);
	sk_json_end(&json);
	printf("\n");
	return good;
}
