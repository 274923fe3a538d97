/* Predicted times as a trace; see predict-parts.h. */
#include "config.h"

#include "loader/predict/predict-parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/file.h"
#include "base/json.h"
#include "format/plan/plan.h"
#include "format/skplan.h"

/* A run that is being added: the lanes' processes, and the number of the first core of each. */
struct writer {
	struct sk_predicted_trace *trace;
	const struct sk_plan_view *plan;
	const struct sk_network *network;
	const struct sk_visit *visits;
	uint32_t process;
	uint32_t first_core[SK_MAX_LANES + 1];
};

bool sk_predicted_trace_open(const char *path, struct sk_predicted_trace *trace)
{
	*trace = (struct sk_predicted_trace){0};
	if (!path)
		return true;
	trace->file = sk_unfinished_open(path);
	trace->json = (struct sk_json){.stream = trace->file, .compact = true};
	if (!trace->file)
		return false;
	sk_json_begin_object(&trace->json, NULL, SK_JSON_LINES_BETWEEN);
	sk_json_begin_list(&trace->json, "traceEvents", SK_JSON_LINES);
	return true;
}

/* Begin an event, up to its name. Its other members and sk_json_end follow. */
static void begin_event(const struct writer *writer, const char *phase, uint32_t lane, uint32_t core, const char *name)
{
	struct sk_json *json = &writer->trace->json;

	sk_json_begin_object(json, NULL, SK_JSON_LINE);
	sk_json_put_string(json, "ph", phase);
	sk_json_put_number(json, "pid", writer->process + lane);
	sk_json_put_number(json, "tid", core);
	sk_json_put_string(json, "name", name);
}

static void put_microseconds(const struct writer *writer, const char *key, double nanoseconds)
{
	fprintf(sk_json_put_value(&writer->trace->json, key), "%.3f", nanoseconds / 1000);
}

static void put_lane(const struct writer *writer, uint32_t lane, const char *run, const char *name)
{
	struct sk_json *json = &writer->trace->json;
	char both[256];

	snprintf(both, sizeof(both), "%s, %s", run, name);
	begin_event(writer, "M", lane, 0, "process_name");
	sk_json_begin_object(json, "args", SK_JSON_LINE);
	sk_json_put_string(json, "name", both);
	sk_json_end(json);
	sk_json_end(json);
}

static uint32_t core_of(const struct writer *writer, const struct sk_visit *visit)
{
	return visit->core - writer->first_core[writer->network->steps[visit->step].lane];
}

/* Write an arrow from inside the cause to inside the visit that it let go on. */
static void put_arrow(const struct writer *writer, const struct sk_visit *visit)
{
	const struct sk_visit *cause = &writer->visits[visit->cause];
	double start = fmax(fmin(visit->at[SK_POINT_SINCE], cause->at[SK_POINT_ENDED]), cause->at[SK_POINT_RESUMED]);
	uint32_t number = writer->trace->arrows++;
	struct sk_json *json = &writer->trace->json;

	begin_event(writer, "s", writer->network->steps[cause->step].lane, core_of(writer, cause), "await");
	sk_json_put_string(json, "cat", "await");
	sk_json_put_number(json, "id", number);
	put_microseconds(writer, "ts", start);
	sk_json_end(json);
	begin_event(writer, "f", writer->network->steps[visit->step].lane, core_of(writer, visit), "await");
	sk_json_put_string(json, "cat", "await");
	sk_json_put_number(json, "id", number);
	sk_json_put_string(json, "bp", "e");
	put_microseconds(writer, "ts", visit->at[SK_POINT_RESUMED]);
	sk_json_end(json);
}

static void put_visit(const struct writer *writer, const struct sk_visit *visit)
{
	const struct sk_network_step *step = &writer->network->steps[visit->step];
	const char *task = sk_plan_string(&writer->plan->tasks[step->task].name);
	struct sk_json *json = &writer->trace->json;

	begin_event(writer, "X", step->lane, core_of(writer, visit), task);
	sk_json_put_string(json, "cat", "task");
	put_microseconds(writer, "ts", visit->at[SK_POINT_RESUMED]);
	put_microseconds(writer, "dur", visit->at[SK_POINT_ENDED] - visit->at[SK_POINT_RESUMED]);
	sk_json_begin_object(json, "args", SK_JSON_LINE);
	sk_json_put_string(json, "kernel", sk_plan_string(&writer->plan->kernels[step->kernel].name));
	sk_json_end(json);
	sk_json_end(json);
	if (visit->cause != SK_NO_INDEX && writer->visits[visit->cause].core != visit->core)
		put_arrow(writer, visit);
}

void sk_predicted_trace_add(struct sk_predicted_trace *trace, const char *run, const struct sk_plan_view *plan,
			    const struct sk_profile *profile, const struct sk_network *network,
			    const struct sk_simulation *simulation)
{
	struct writer writer = {.trace = trace,
				.plan = plan,
				.network = network,
				.visits = simulation->visits,
				.process = trace->processes + 1};

	for (uint32_t lane = 0; lane < profile->lane_count; lane++) {
		writer.first_core[lane + 1] = writer.first_core[lane] + profile->lanes[lane].cores;
		put_lane(&writer, lane, run, profile->lanes[lane].name);
	}
	trace->processes += profile->lane_count;
	for (uint32_t i = 0; i < simulation->visit_count; i++)
		put_visit(&writer, &simulation->visits[i]);
}

bool sk_predicted_trace_close(struct sk_predicted_trace *trace, const char *path, const char *sizes, bool whole)
{
	if (!trace->file)
		return true;
	sk_json_end(&trace->json);
	sk_json_put_string(&trace->json, "displayTimeUnit", "ns");
	sk_json_begin_object(&trace->json, "otherData", SK_JSON_LINE);
	sk_json_put_bool(&trace->json, "predicted", true);
	if (sizes)
		sk_json_put_string(&trace->json, "sizes", sizes);
	sk_json_end(&trace->json);
	sk_json_end(&trace->json);
	putc('\n', trace->file);
	if (whole)
		return sk_unfinished_close(trace->file, path);
	fclose(trace->file);
	sk_unfinished_remove(path);
	return true;
}
