/* The cost of each call; see predict.h. */
#include "config.h"

#include "loader/predict/predict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/plan/plan.h"
#include "format/plan/ranks.h"
#include "format/profile/profile.h"
#include "format/skplan.h"
#include "format/skranks.h"
#include "format/skrows.h"
#include "loader/predict/predict-parts.h"

/* A task and its entry in the file. */
struct entry {
	const char *name;
	uint32_t task;
	uint32_t line; /* 0: none */
	double compute;
};

struct collector {
	const struct sk_costs_source *source;
	const struct sk_plan_view *plan; /* of the source */
	struct entry *entries; /* by name */
	struct entry **by_task;
	struct sk_costs *costs;
	struct sk_lines lines;
};

/* ---- the file ---- */

static int compare_entries(const void *a, const void *b)
{
	return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

static bool make_entries(struct collector *collector)
{
	uint32_t count = collector->plan->task_count;

	collector->entries = calloc(count + (size_t)1, sizeof(*collector->entries));
	collector->by_task = calloc(count + (size_t)1, sizeof(struct entry *));
	if (!collector->entries || !collector->by_task)
		return false;
	for (uint32_t i = 0; i < count; i++)
		collector->entries[i] =
			(struct entry){.name = sk_plan_string(&collector->plan->tasks[i].name), .task = i};
	qsort(collector->entries, count, sizeof(*collector->entries), compare_entries);
	for (uint32_t i = 0; i < count; i++)
		collector->by_task[collector->entries[i].task] = &collector->entries[i];
	return true;
}

/* A task may have that name: a time contains no "=". */
static bool is_sizes(const struct collector *collector)
{
	return collector->source->sizes && !strcmp(collector->lines.key, "sizes") &&
	       strchr(collector->lines.value, '=');
}

/* Times of other sizes would be wrong ones. */
static bool check_sizes(const struct collector *collector)
{
	const struct sk_lines *lines = &collector->lines;

	return !strcmp(lines->value, collector->source->sizes) ||
	       sk_lines_fail(lines,
			     "these times are those of %.120s, and the prediction is for %.120s: measure at "
			     "these sizes, or predict for those with --dim",
			     lines->value, collector->source->sizes);
}

static bool read_line(struct collector *collector)
{
	const struct sk_lines *lines = &collector->lines;
	const struct sk_unit units[] = {
		{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"cycles", 1 / collector->source->profile->clock}, {NULL, 0}};
	struct entry key = {.name = lines->key};
	struct entry *entry =
		bsearch(&key, collector->entries, collector->plan->task_count, sizeof(key), compare_entries);

	if (is_sizes(collector))
		return check_sizes(collector);
	if (!entry)
		return sk_lines_fail(lines, "the package has no task '%.60s'", lines->key);
	if (entry->line)
		return sk_lines_fail(lines, "task '%.60s' is given twice; first in line %u", lines->key, entry->line);
	entry->line = lines->number;
	return sk_lines_number(lines, units, &entry->compute);
}

static bool read_file(struct collector *collector, const char *file, char *error, size_t error_size)
{
	bool failed = false;

	if (!sk_lines_open(&collector->lines, file, error, error_size))
		return false;
	while (!failed && sk_lines_next(&collector->lines, &failed))
		failed = !read_line(collector);
	sk_lines_close(&collector->lines);
	return !failed;
}

/* ---- calls ---- */

/* Return the bytes of the call's arguments, each counted once for reading and once for writing. */
static double argument_bytes(const struct sk_plan_view *plan, const struct sk_plan_call *call)
{
	double bytes = 0;

	for (uint32_t i = 0; i < call->argument_count; i++) {
		const struct sk_plan_argument *argument = &plan->arguments[call->first_argument + i];

		struct sk_rows rows = sk_plan_rows(plan, argument);

		if (argument->kind == SK_ARGUMENT_STATE)
			continue;
		if (argument->access & SK_ACCESS_READ)
			bytes += (double)rows.width * (double)rows.count;
		if (argument->access & SK_ACCESS_WRITE)
			bytes += (double)rows.width * (double)rows.count;
	}
	return bytes;
}

/* Return whether an earlier call of the step has accessed these bytes for the same tile. */
static bool is_touched(const struct sk_plan_view *plan, const struct sk_plan_call *first,
		       const struct sk_plan_call *call, const struct sk_plan_argument *argument)
{
	for (; first < call; first++)
		for (uint32_t i = 0; i < first->argument_count; i++) {
			const struct sk_plan_argument *other = &plan->arguments[first->first_argument + i];

			if (other->kind == SK_ARGUMENT_POINTER && other->space == argument->space &&
			    other->index == argument->index && other->offset == argument->offset &&
			    other->size == argument->size)
				return true;
		}
	return false;
}

/* Return, for a call in tiles, the bytes that do not come from memory or go there: those in the scratch, and those that
 * an earlier call of the group has left in the cache. */
static double cached_bytes(const struct sk_plan_view *plan, const struct sk_plan_step *step,
			   const struct sk_plan_call *call)
{
	const struct sk_plan_call *first = sk_plan_step_calls(plan, step).first;
	double bytes = 0;

	for (uint32_t i = 0; step->tile && i < call->argument_count; i++) {
		const struct sk_plan_argument *argument = &plan->arguments[call->first_argument + i];
		struct sk_rows rows = sk_plan_rows(plan, argument);
		bool scratch = argument->space == SK_SPACE_SCRATCH;

		if (argument->kind != SK_ARGUMENT_POINTER)
			continue;
		if (argument->access & SK_ACCESS_READ && (scratch || is_touched(plan, first, call, argument)))
			bytes += (double)rows.width * (double)rows.count;
		if (argument->access & SK_ACCESS_WRITE && scratch)
			bytes += (double)rows.width * (double)rows.count;
	}
	return bytes;
}

/* The sides of a mix task share its cost as they share its blocks. */
static double share_of_side(const struct sk_plan_step *step)
{
	const struct sk_plan_step *cube = step->flags & SK_STEP_VECTOR_SIDE ? step - 1 : step;

	return cube->flags & SK_STEP_CUBE_SIDE ? (double)step->blocks / ((double)cube->blocks + cube[1].blocks) : 1;
}

/* Return the time of the cycles or operations on one core. */
static double compute_time(const struct collector *collector, const struct sk_plan_step *step,
			   const struct sk_plan_cost *cost)
{
	const struct sk_profile *profile = collector->source->profile;
	const struct sk_profile_lane *lane = &profile->lanes[collector->source->lanes[step->lane]];

	return (double)cost->values[SK_COST_CYCLES] / profile->clock +
	       (double)cost->values[SK_COST_OPERATIONS] / (lane->operations * profile->clock);
}

/* Return `part` of the cycles or operations, as a fraction of the time that all of them take. */
static double part_of(const struct sk_plan_cost *cost, enum sk_cost part)
{
	uint64_t whole = cost->values[SK_COST_CYCLES] + cost->values[SK_COST_OPERATIONS];

	return whole ? (double)cost->values[part] / (double)whole : 0;
}

/* Return the time of an exchange: that of the bytes that the rank receives from others, and what it takes for any. */
static double exchange_time(const struct collector *collector, const struct sk_ranks_exchange *exchange)
{
	const struct sk_profile *profile = collector->source->profile;
	uint32_t members = collector->source->ranks->groups[exchange->group].size;
	bool all = exchange->kind == SK_EXCHANGE_ALL_GATHER || exchange->kind == SK_EXCHANGE_ALL_TO_ALL;
	double received = (double)exchange->bytes * (all ? members - 1 : 1);

	return members > 1 ? profile->exchange + profile->link_latency + received / profile->link_rate : 0;
}

static struct sk_work work_of(struct collector *collector, const struct sk_plan_step *step,
			      const struct sk_plan_call *call)
{
	static const struct sk_plan_cost nothing;
	const struct sk_plan_view *plan = collector->plan;
	const struct sk_plan_cost *given = sk_plan_cost(plan, step, call), *cost = given ? given : &nothing;
	const struct entry *entry = collector->by_task[call->task];
	const struct sk_ranks_exchange *exchange =
		collector->source->ranks ? sk_ranks_find(collector->source->ranks, call->task) : NULL;
	bool first_side = !(step->flags & SK_STEP_VECTOR_SIDE);
	struct sk_work work = {.code = sk_plan_code_size(plan, step, call),
			       .waits = (double)cost->values[SK_COST_WAITS]};

	if (sk_cost_gives(cost, SK_COST_CODE))
		work.code = (double)cost->values[SK_COST_CODE];
	if (entry->line) {
		work.compute = entry->compute * share_of_side(step);
		collector->costs->from_file += first_side;
	} else if (exchange) {
		work.compute = exchange_time(collector, exchange);
		collector->costs->from_link += first_side;
	} else if (sk_cost_gives(cost, SK_COST_CYCLES) || sk_cost_gives(cost, SK_COST_OPERATIONS) ||
		   sk_cost_gives(cost, SK_COST_BYTES)) {
		double share = plan->tasks[call->task].vector_cost == SK_NO_INDEX ? share_of_side(step) : 1;

		work.compute = compute_time(collector, step, cost) * share;
		work.bytes = (double)cost->values[SK_COST_BYTES] * share;
		collector->costs->from_plan += first_side;
	} else {
		work.bytes = argument_bytes(plan, call) * share_of_side(step);
		collector->costs->from_arguments += first_side;
	}
	work.cached = fmin(work.bytes, cached_bytes(plan, step, call));
	work.before_wait = work.compute * part_of(cost, SK_COST_BEFORE_WAIT);
	work.after_set = work.compute * part_of(cost, SK_COST_AFTER_SET);
	return work;
}

static bool collect_work(struct collector *collector)
{
	const struct sk_plan_view *plan = collector->plan;
	const struct sk_plan_network *network = collector->source->network;
	struct sk_work *work = calloc(plan->call_count + (size_t)1, sizeof(*work));

	collector->costs->work = work;
	for (uint32_t l = network->first_launch; work && l < network->first_launch + network->launch_count; l++)
		for (uint32_t i = 0; i < sk_plan_form(&plan->launches[l])->step_count; i++) {
			const struct sk_plan_step *step = &plan->steps[plan->launches[l].first_step + i];
			struct sk_plan_calls calls = sk_plan_step_calls(plan, step);

			for (const struct sk_plan_call *call = calls.first; call < calls.end; call++)
				work[call - plan->calls] = work_of(collector, step, call);
		}
	return work != NULL;
}

bool sk_costs_collect(const struct sk_costs_source *source, struct sk_costs *costs, char *error, size_t error_size)
{
	struct collector collector = {.source = source, .plan = source->plan, .costs = costs};
	const struct sk_profile *profile = source->profile;
	bool good = make_entries(&collector);

	if (source->ranks && source->ranks->rank_count > 1 && (profile->link_latency <= 0 || profile->link_rate <= 0)) {
		free(collector.entries);
		free(collector.by_task);
		snprintf(error, error_size,
			 "profile %s does not say how fast ranks exchange data: give a copy of it link.latency, "
			 "link.rate and exchange",
			 profile->name);
		return false;
	}
	*costs = (struct sk_costs){0};
	if (good && source->file && !read_file(&collector, source->file, error, error_size)) {
		free(collector.entries);
		free(collector.by_task);
		return false;
	}
	good = good && collect_work(&collector);
	free(collector.entries);
	free(collector.by_task);
	if (!good)
		snprintf(error, error_size, "no memory for the costs of %u steps", source->plan->call_count);
	return good;
}

void sk_costs_free(struct sk_costs *costs)
{
	free(costs->work);
	*costs = (struct sk_costs){0};
}

void sk_costs_print(const char *task, double nanoseconds, FILE *stream)
{
	sk_lines_print_key(task, stream);
	fprintf(stream, ": %.0f ns\n", nanoseconds);
}
