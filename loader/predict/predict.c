/* Prints predictions; see predict.h. All ways are simulated first, then the tables are printed. */
#include "config.h"

#include "loader/predict/predict.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "format/plan/plan.h"
#include "format/profile/profile.h"
#include "format/skplan.h"
#include "loader/predict/predict-parts.h"

/* The lines of the first table. For another option of a scope, add a way in predict-parts.h, or a change of the profile
 * here. */
static const struct variant {
	const char *name;
	enum sk_way way;
	bool free; /* with a profile on which launching, waiting and fetching cost nothing */
} variants[] = {
	{"unfused", SK_WAY_UNFUSED, false},
	{"fused", SK_WAY_FUSED, false},
	{"fused, list's order", SK_WAY_LISTED, false},
	{"fused, lane barriers", SK_WAY_LANE_BARRIER, false},
	{"fused, debug-sync-all", SK_WAY_SYNC_ALL, false},
	{"fused, early-start=0/2", SK_WAY_LATE, false},
	{"fused, early-start=1", SK_WAY_EARLY, false},
	{"fused, preload-code", SK_WAY_PRELOAD, false},
	{"fused, debug-dcci-all", SK_WAY_FLUSH, false},
	{"fused, at no cost", SK_WAY_FUSED, true},
};
enum {
	VARIANTS = sizeof(variants) / sizeof(variants[0]),
	UNFUSED = 0,
	FUSED = 1,
	LISTED = 2, /* only if a launch has another order */
	NAME_WIDTH = 24, /* of a kernel's or a task's column */
	SHOWN_KERNELS = 24, /* on the critical path; the others are one line */
	SHOWN_STEPS = 48, /* on the critical path; of more, the first and the last half of these */
};

struct prediction {
	const struct sk_plan_view *plan;
	const struct sk_plan_network *network; /* of the plan */
	struct sk_profile profile;
	uint32_t lanes[SK_MAX_LANES]; /* by lane of the plan, the profile's */
	struct sk_costs costs;
	struct sk_network fused;
	struct sk_simulation results[VARIANTS];
	struct sk_predicted_trace trace;
	const struct sk_task_filter *tasks;
	const char *sizes; /* NULL: the package has one size */
	bool by_kernel;
	bool ordered; /* a launch has another order than the list's */
	FILE *stream;
	char *error;
	size_t error_size;
};

/* ---- the device ---- */

static bool map_lanes(struct prediction *prediction)
{
	const struct sk_plan_view *plan = prediction->plan;

	for (uint32_t i = 0; i < plan->lane_count; i++) {
		const char *name = sk_plan_string(&plan->lanes[i]);

		prediction->lanes[i] = sk_profile_lane(&prediction->profile, name);
		if (prediction->lanes[i] != SK_NO_INDEX)
			continue;
		snprintf(prediction->error, prediction->error_size,
			 "profile %s has no lane '%s', which the package has steps for; link it with device: %s",
			 prediction->profile.name, name, prediction->profile.name);
		return false;
	}
	if (plan->lane_count == 2 && prediction->lanes[0] == prediction->lanes[1]) {
		snprintf(prediction->error, prediction->error_size, "the package has two lanes of the same name");
		return false;
	}
	return true;
}

static bool load_profile(struct prediction *prediction, const struct sk_predict_options *options)
{
	const char *linked = sk_plan_string(&prediction->plan->plan->device), *device = options->device;
	bool builtin = false;

	for (size_t i = 0; i < SK_PROFILE_BUILTINS; i++)
		builtin |= !strcmp(linked, sk_profile_builtins[i]);
	if (!device && !builtin) {
		snprintf(prediction->error, prediction->error_size,
			 "the package is linked for device '%s', which has a profile file: give it with --device",
			 linked);
		return false;
	}
	if (!sk_profile_load(device ? device : linked, &prediction->profile, prediction->error, prediction->error_size))
		return false;
	for (uint32_t i = 0; i < prediction->profile.lane_count && options->cores; i++)
		prediction->profile.lanes[i].cores = options->cores;
	return map_lanes(prediction);
}

/* ---- simulating ---- */

static bool simulate(struct prediction *prediction, const struct variant *variant)
{
	struct sk_simulation *result = &prediction->results[variant - variants];
	struct sk_profile profile = prediction->profile;
	struct sk_network network;
	bool good = sk_network_build(prediction->plan, prediction->network, prediction->costs.work, prediction->lanes,
				     variant->way, &network);

	if (variant->free) {
		profile.launch = profile.await = profile.check = 0;
		profile.code_fetch = (double)INFINITY;
	}
	if (!good)
		snprintf(prediction->error, prediction->error_size, "no memory for a prediction");
	else
		good = sk_simulate(&network, &profile, result, prediction->error, prediction->error_size);
	if (good && prediction->trace.file && variant <= &variants[FUSED])
		sk_predicted_trace_add(&prediction->trace, variant->name, prediction->plan, &profile, &network, result);
	sk_simulation_free_visits(result);
	if (good && variant == &variants[FUSED])
		prediction->fused = network;
	else
		sk_network_free(&network);
	return good;
}

/* ---- printing ---- */

struct scale {
	double factor;
	const char *unit;
};

/* Return one unit for a whole table, so that its columns can be compared. */
static struct scale scale_of(double time)
{
	if (time < 1e4)
		return (struct scale){1, "ns"};
	return time < 1e7 ? (struct scale){1e-3, "us"} : (struct scale){1e-6, "ms"};
}

static const char *const part_names[SK_PARTS] = {"launch", "await", "call", "fetch", "run"};

static void print_device(const struct prediction *prediction)
{
	const struct sk_plan_view *plan = prediction->plan;
	const struct sk_costs *costs = &prediction->costs;
	uint32_t launches = prediction->network->launch_count, tasks = prediction->network->task_count, once = 0;

	fprintf(prediction->stream, "predicted for %s:", prediction->profile.name);
	for (uint32_t i = 0; i < prediction->profile.lane_count; i++) {
		const struct sk_profile_lane *lane = &prediction->profile.lanes[i];
		bool named = prediction->profile.lane_count > 1;

		fprintf(prediction->stream, "%s %" PRIu32 " %s%score%s", i ? "," : "", lane->cores,
			named ? lane->name : "", named ? " " : "", sk_plural(lane->cores));
	}
	for (uint32_t i = 0; i < launches; i++)
		once += !!(sk_plan_form(&plan->launches[prediction->network->first_launch + i])->flags &
			   SK_LAUNCH_ONCE);
	fprintf(prediction->stream, "; %" PRIu32 " task%s in %" PRIu32 " launch%s", tasks, sk_plural(tasks), launches,
		sk_ending(launches, "", "es"));
	if (once)
		fprintf(prediction->stream, ", as if %" PRIu32 " of them, which run%s once, had run before", once,
			once == 1 ? "s" : "");
	fputc('\n', prediction->stream);
	if (prediction->sizes) {
		fputs("sizes ", prediction->stream);
		sk_escape_print(prediction->sizes, prediction->stream);
		fputc('\n', prediction->stream);
	}
	fprintf(prediction->stream, "costs:");
	if (costs->from_file)
		fprintf(prediction->stream, " %" PRIu32 " from the cost file;", costs->from_file);
	if (costs->from_plan)
		fprintf(prediction->stream, " %" PRIu32 " from manifest and kernels;", costs->from_plan);
	if (costs->from_link)
		fprintf(prediction->stream, " %" PRIu32 " exchange%s between ranks, from the link of the profile;",
			costs->from_link, sk_plural(costs->from_link));
	fprintf(prediction->stream, " %" PRIu32 " of no known cost%s\n\n", costs->from_arguments,
		costs->from_arguments ? ", taken as moving the bytes of their arguments" : "");
}

static void print_ways(const struct prediction *prediction)
{
	FILE *stream = prediction->stream;
	double longest = 0;

	for (int i = 0; i < VARIANTS; i++)
		longest = fmax(longest, prediction->results[i].time);

	struct scale scale = scale_of(longest);

	fprintf(stream, "%-22s %10s %7s |", scale.unit, "time", "saved");
	for (int part = 0; part < SK_PARTS; part++)
		fprintf(stream, " %9s", part_names[part]);
	fprintf(stream, " |");
	for (uint32_t i = 0; i < prediction->profile.lane_count; i++)
		fprintf(stream, " %6.6s", prediction->profile.lanes[i].name);
	fprintf(stream, " busy\n");
	for (int i = 0; i < VARIANTS; i++) {
		const struct sk_simulation *result = &prediction->results[i];

		if (i == LISTED && !prediction->ordered)
			continue;

		double saved = prediction->results[UNFUSED].time - result->time;

		fprintf(stream, "%-22s %10.2f %6.1f%% |", variants[i].name, result->time * scale.factor,
			saved != 0 ? 100 * saved / prediction->results[UNFUSED].time : 0);
		for (int part = 0; part < SK_PARTS; part++)
			fprintf(stream, " %9.2f", result->parts[part] * scale.factor);
		fprintf(stream, " |");
		for (uint32_t lane = 0; lane < prediction->profile.lane_count; lane++)
			fprintf(stream, " %5.1f%%", 100 * result->busy[lane]);
		fprintf(stream, "\n");
	}
}

/* The step's task is its first one. */
static bool is_shown(const struct prediction *prediction, const struct sk_path_item *item)
{
	return sk_task_is_chosen(prediction->tasks, prediction->plan, prediction->fused.steps[item->step].task);
}

/* A kernel on the critical path. */
struct kernel_time {
	uint32_t kernel, steps;
	double time;
};

static int compare_times(const void *a, const void *b)
{
	const struct kernel_time *left = a, *right = b;

	if (left->time != right->time)
		return left->time < right->time ? 1 : -1;
	return left->kernel < right->kernel ? -1 : left->kernel > right->kernel;
}

/* Return whether the path comes to a new step here: blocks that wait for one another can lead it to another core at the
 * same one. */
static bool is_new_step(const struct sk_simulation *result, uint32_t item)
{
	return item == 0 || result->path[item].step != result->path[item - 1].step;
}

static double item_time(const struct sk_path_item *item)
{
	double time = 0;

	for (int part = 0; part < SK_PARTS; part++)
		time += item->parts[part];
	return time;
}

static void print_kernel_line(const struct prediction *prediction, const char *name, uint32_t steps, double time,
			      struct scale scale)
{
	double whole = prediction->results[FUSED].time;

	fputs("  ", prediction->stream);
	sk_escape_print_column(name, NAME_WIDTH, prediction->stream);
	fprintf(prediction->stream, " %8" PRIu32 " %10.2f %6.1f%%\n", steps, time * scale.factor,
		whole > 0 ? 100 * time / whole : 0);
}

static bool print_path_kernels(const struct prediction *prediction)
{
	const struct sk_simulation *result = &prediction->results[FUSED];
	uint32_t count = prediction->plan->kernel_count, shown = 0, other_steps = 0;
	uint32_t most = prediction->by_kernel ? count : SHOWN_KERNELS;
	struct kernel_time *kernels = calloc(count + (size_t)1, sizeof(*kernels));
	struct scale scale = scale_of(result->time);
	double others = 0;

	if (!kernels)
		return false;
	for (uint32_t i = 0; i < count; i++)
		kernels[i].kernel = i;
	for (uint32_t i = 0; i < result->path_count; i++) {
		struct kernel_time *kernel = &kernels[prediction->fused.steps[result->path[i].step].kernel];

		if (!is_shown(prediction, &result->path[i]))
			continue;
		kernel->steps += is_new_step(result, i);
		kernel->time += item_time(&result->path[i]);
	}
	qsort(kernels, count, sizeof(*kernels), compare_times);
	fprintf(prediction->stream, "\ncritical path of the fused run, by kernel\n  %-24s %8s %10s\n", "kernel",
		"steps", scale.unit);
	for (; shown < most && kernels[shown].steps; shown++)
		print_kernel_line(prediction, sk_plan_string(&prediction->plan->kernels[kernels[shown].kernel].name),
				  kernels[shown].steps, kernels[shown].time, scale);
	for (; shown < count && kernels[shown].steps; shown++) {
		other_steps += kernels[shown].steps;
		others += kernels[shown].time;
	}
	if (other_steps)
		print_kernel_line(prediction, "other kernels", other_steps, others, scale);
	free(kernels);
	return true;
}

static void print_item(const struct prediction *prediction, const struct sk_path_item *item, double end,
		       struct scale scale)
{
	const struct sk_network_step *step = &prediction->fused.steps[item->step];
	FILE *stream = prediction->stream;

	fputs("  ", stream);
	sk_escape_print_column(sk_plan_string(&prediction->plan->tasks[step->task].name), NAME_WIDTH, stream);
	fprintf(stream, " %-10s %5" PRIu32 " %9.2f", prediction->profile.lanes[step->lane].name, item->core,
		end * scale.factor);
	for (int part = 0; part < SK_PARTS; part++)
		fprintf(stream, " %9.2f", item->parts[part] * scale.factor);
	fprintf(stream, "\n");
}

static void print_path(const struct prediction *prediction)
{
	const struct sk_simulation *result = &prediction->results[FUSED];
	struct scale scale = scale_of(result->time);
	uint32_t count = 0, hidden, steps = 0, number = 0;
	FILE *stream = prediction->stream;
	double end = 0;

	for (uint32_t i = 0; i < result->path_count; i++) {
		steps += is_new_step(result, i);
		count += is_shown(prediction, &result->path[i]);
	}
	hidden = count > SHOWN_STEPS ? count - SHOWN_STEPS : 0;
	fprintf(stream, "\ncritical path of the fused run, %" PRIu32 " of %" PRIu32 " steps\n", steps,
		prediction->fused.step_count);
	fprintf(stream, "  %-24s %-10s %5s %9s", "task", "lane", "core", "ends");
	for (int part = 0; part < SK_PARTS; part++)
		fprintf(stream, " %9s", part_names[part]);
	fprintf(stream, "  %s\n", scale.unit);
	for (uint32_t i = 0; i < result->path_count; i++) {
		const struct sk_path_item *item = &result->path[i];

		end += item_time(item);
		if (!is_shown(prediction, item))
			continue;
		if (hidden && number == SHOWN_STEPS / 2)
			fprintf(stream, "  … %" PRIu32 " more …\n", hidden);
		if (number < SHOWN_STEPS / 2 || number >= SHOWN_STEPS / 2 + hidden)
			print_item(prediction, item, end, scale);
		number++;
	}
}

/* ---- the whole prediction ---- */

static bool is_ordered(const struct prediction *prediction)
{
	const struct sk_plan_network *network = prediction->network;

	for (uint32_t i = network->first_launch; i < network->first_launch + network->launch_count; i++)
		if (sk_plan_form(&prediction->plan->launches[i])->flags & SK_LAUNCH_ORDERED)
			return true;
	return false;
}

static bool predict(struct prediction *prediction, const struct sk_predict_options *options)
{
	const struct sk_costs_source source = {prediction->plan,  prediction->network, &prediction->profile,
					       prediction->lanes, prediction->sizes,   options->costs,
					       options->ranks};

	/* A plan of one size has been checked before it was made. */
	if ((!options->sizes && !sk_plan_check_all(prediction->plan, prediction->error, prediction->error_size)) ||
	    !load_profile(prediction, options) ||
	    !sk_costs_collect(&source, &prediction->costs, prediction->error, prediction->error_size))
		return false;
	prediction->ordered = is_ordered(prediction);
	for (int i = 0; i < VARIANTS; i++)
		if ((i != LISTED || prediction->ordered) && !simulate(prediction, &variants[i]))
			return false;
	print_device(prediction);
	print_ways(prediction);
	if (!print_path_kernels(prediction)) {
		snprintf(prediction->error, prediction->error_size, "no memory for a table");
		return false;
	}
	if (!prediction->by_kernel)
		print_path(prediction);
	return true;
}

bool sk_predict(const struct sk_plan_view *plan, const struct sk_predict_options *options, FILE *stream, char *error,
		size_t error_size)
{
	struct prediction prediction = {.plan = plan,
					.network = options->network,
					.tasks = &options->tasks,
					.sizes = options->sizes,
					.by_kernel = options->by_kernel,
					.stream = stream,
					.error = error,
					.error_size = error_size};
	bool opened = sk_predicted_trace_open(options->trace, &prediction.trace);
	bool good = opened && predict(&prediction, options);
	bool written = sk_predicted_trace_close(&prediction.trace, options->trace, options->sizes, good);

	if (!opened || (good && !written))
		snprintf(error, error_size, "%s: %s", options->trace, strerror(errno));
	good &= written;
	sk_costs_free(&prediction.costs);
	sk_network_free(&prediction.fused);
	for (int i = 0; i < VARIANTS; i++)
		sk_simulation_free(&prediction.results[i]);
	return good;
}
