/* Output of times; see skrun.h. */
#include "config.h"

#include "loader/skrun/skrun.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
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

static void put_seconds(const char *name, const double *seconds)
{
	if (seconds)
		printf(", \"%s\": %.9g", name, *seconds);
	else
		printf(", \"%s\": null", name);
}

static void put_time(const struct sk_run_options *options, double *seconds)
{
	uint64_t count = options->repeats;
	double sum = 0;

	printf(",\n  \"time\": {\"runs\": %" PRIu64 ", \"seconds\": [", count);
	for (uint64_t i = 0; i < count; i++) {
		printf("%s%.9g", i ? ", " : "", seconds[i]);
		sum += seconds[i];
	}
	printf("]");
	qsort(seconds, count, sizeof(*seconds), compare_doubles);
	sum /= (double)count;
	put_seconds("fastest", &seconds[0]);
	put_seconds("median", &seconds[count / 2]);
	put_seconds("mean", &sum);
	put_seconds("percentile_90", percentile(seconds, count, 90));
	put_seconds("percentile_99", percentile(seconds, count, 99));
	put_seconds("slowest", &seconds[count - 1]);
	printf("}");
}

bool sk_results_print_json(const struct sk_session *session, const struct sk_run_options *options, double *seconds)
{
	bool good = true;

	printf("{\n  \"version\": 1,\n  \"package\": ");
	sk_escape_json(session->path, stdout);
	printf(",\n  \"network\": ");
	if (*session->network.name)
		sk_escape_json(session->network.name, stdout);
	else
		printf("null");
	printf(",\n  \"device\": ");
	sk_escape_json(skrt_device_name(session->device), stdout);
	printf(",\n  \"cores\": [");
	for (uint32_t lane = 0; lane < session->module->plan.lane_count; lane++)
		printf("%s%" PRIu32, lane ? ", " : "",
		       options->mode == SK_RUN_SERIAL ? 1 : skrt_device_cores(session->device, lane));
	printf("],\n  \"mode\": \"%s\",\n  \"warm_up\": %" PRIu64, modes[options->mode], options->warm_up);
	if (options->time)
		put_time(options, seconds);
	if (options->profile)
		good = sk_task_table_put_json(session, options);
	printf("\n}\n");
	return good;
}
