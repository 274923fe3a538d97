/* Predicted times as a trace; see predict-parts.h. */
#include "config.h"

#include "loader/predict/predict-parts.h"

#include <inttypes.h>
#include <math.h>

#include "base/file.h"
#include "base/text.h"
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
	if (trace->file)
		fputs("{\"traceEvents\":[", trace->file);
	return trace->file != NULL;
}

/* Begin an event, up to its time. The first one of a file, which names a process, has no comma before it. */
static void begin_event(const struct writer *writer, const char *phase, uint32_t lane, uint32_t core, const char *name)
{
	FILE *file = writer->trace->file;
	bool first = lane == 0 && writer->process == 1 && *phase == 'M' && core == 0;

	fprintf(file, "%s{\"ph\":\"%s\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"name\":", first ? "\n" : ",\n", phase,
		writer->process + lane, core);
	sk_escape_json(name, file);
}

static void put_microseconds(const struct writer *writer, const char *key, double nanoseconds)
{
	fprintf(writer->trace->file, ",\"%s\":%.3f", key, nanoseconds / 1000);
}

static void put_lane(const struct writer *writer, uint32_t lane, const char *run, const char *name)
{
	FILE *file = writer->trace->file;

	begin_event(writer, "M", lane, 0, "process_name");
	fputs(",\"args\":{\"name\":\"", file);
	fprintf(file, "%s, %s\"}}", run, name);
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
	FILE *file = writer->trace->file;

	begin_event(writer, "s", writer->network->steps[cause->step].lane, core_of(writer, cause), "await");
	fprintf(file, ",\"cat\":\"await\",\"id\":%" PRIu32, number);
	put_microseconds(writer, "ts", start);
	fputc('}', file);
	begin_event(writer, "f", writer->network->steps[visit->step].lane, core_of(writer, visit), "await");
	fprintf(file, ",\"cat\":\"await\",\"id\":%" PRIu32 ",\"bp\":\"e\"", number);
	put_microseconds(writer, "ts", visit->at[SK_POINT_RESUMED]);
	fputc('}', file);
}

static void put_visit(const struct writer *writer, const struct sk_visit *visit)
{
	const struct sk_network_step *step = &writer->network->steps[visit->step];
	const char *task = sk_plan_string(&writer->plan->tasks[step->task].name);
	FILE *file = writer->trace->file;

	begin_event(writer, "X", step->lane, core_of(writer, visit), task);
	fputs(",\"cat\":\"task\"", file);
	put_microseconds(writer, "ts", visit->at[SK_POINT_RESUMED]);
	put_microseconds(writer, "dur", visit->at[SK_POINT_ENDED] - visit->at[SK_POINT_RESUMED]);
	fputs(",\"args\":{\"kernel\":", file);
	sk_escape_json(sk_plan_string(&writer->plan->kernels[step->kernel].name), file);
	fputs("}}", file);
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

bool sk_predicted_trace_close(struct sk_predicted_trace *trace, const char *path, bool whole)
{
	if (!trace->file)
		return true;
	fputs("\n],\n\"displayTimeUnit\":\"ns\",\n\"otherData\":{\"predicted\":true}}\n", trace->file);
	if (whole)
		return sk_unfinished_close(trace->file, path);
	fclose(trace->file);
	sk_unfinished_remove(path);
	return true;
}
