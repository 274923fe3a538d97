/* Vector clocks. For every core, each core knows the last step that is known to be finished: from its own progress, and
 * from awaits, which add the knowledge that the awaited cores had when they finished the awaited step. For every byte
 * with an address in the plan, the last step is kept in which each core read it and wrote it. Two accesses by different
 * cores to the same byte, of which at least one writes, are a race if the earlier one is not known to have ended.
 *
 * The knowledge from an await is derived from the awaited step, not from the other core's actual progress, so findings
 * do not depend on the order in which the cores happen to run. Bytes are those of the plan: temporaries that share
 * bytes of the workspace are one place here. A tensor of which cores have only tiles is treated as a whole tensor of
 * its own.
 *
 * A core's own accesses have the order of its calls, which in tiled steps is tile by tile. For these, bytes show
 * whether that order agrees with the order of the tasks: an access that a later call must not precede is also a
 * race. */
#include "config.h"

#include "loader/checks/checks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/plan/plan.h"
#include "format/skplan.h"
#include "format/skrows.h"
#include "loader/flight/flight.h"
#include "loader/skrt.h"

/* Most bytes of clocks for awaits; a launch that needs more must be run on fewer cores. */
#define MOST_CLOCK_BYTES (UINT64_C(4) << 30)

/* Calls of one core, numbered from 1 through all lanes of the launch; 0: none. `before` is the previous one. */
struct touch {
	uint32_t write, write_before, read, read_before;
};

/* Bytes with the same history. */
struct span {
	uint64_t low, high;
	struct touch *cores; /* by row */
};

/* Bytes in several rows that are accessed together: one history, for any number of rows. */
struct strided {
	struct sk_rows rows;
	struct touch *cores; /* by row of the kernel's tables */
};

/* The history of one binding, of the workspace, of the kernels' hidden states, or of one tensor of which cores have
 * only tiles. Contiguous accesses are in spans, ascending, not overlapping; accesses in rows are in a list of their
 * own. */
struct history {
	struct span *spans;
	uint32_t count, capacity;
	struct strided *strided;
	uint32_t strided_count, strided_capacity;
};

struct sk_clocks {
	const struct sk_plan_view *plan;
	const struct sk_plan_launch *launch;
	const uint32_t *cores; /* by lane, cores that run the launch */
	uint64_t rows; /* of all lanes */
	uint32_t *clocks; /* a row of `rows` numbers for each core */
	/* By step of the launch: a clock for each core of its lane, or for its home; NULL: none. */
	uint32_t **published;
	uint32_t published_count;
	bool incomplete; /* there was no memory for a step's published clocks: an apparent race may not be one */
	struct history *histories; /* of the bindings, the workspace, the states, then by tensor */
	uint32_t history_count;
};

/* ---- a launch ---- */

static void forget(struct sk_clocks *clocks)
{
	for (uint32_t i = 0; i < clocks->published_count; i++)
		free(clocks->published[i]);
	for (uint32_t i = 0; i < clocks->history_count; i++) {
		for (uint32_t j = 0; j < clocks->histories[i].count; j++)
			free(clocks->histories[i].spans[j].cores);
		free(clocks->histories[i].spans);
		for (uint32_t j = 0; j < clocks->histories[i].strided_count; j++)
			free(clocks->histories[i].strided[j].cores);
		free(clocks->histories[i].strided);
	}
	free(clocks->published);
	free(clocks->histories);
	free(clocks->clocks);
	memset(clocks, 0, sizeof(*clocks));
}

struct sk_clocks *sk_clocks_open(void)
{
	return calloc(1, sizeof(struct sk_clocks));
}

void sk_clocks_close(struct sk_clocks *clocks)
{
	if (clocks)
		forget(clocks);
	free(clocks);
}

/* Return a call's number in the launch. */
static uint32_t number_of_call(const struct sk_clocks *clocks, const struct sk_plan_call *call)
{
	return (uint32_t)(call - sk_plan_launch_calls(clocks->plan, clocks->launch).first) + 1;
}

static const struct sk_plan_call *call_of(const struct sk_clocks *clocks, uint32_t number)
{
	return sk_plan_launch_calls(clocks->plan, clocks->launch).first + number - 1;
}

/* Return the number of cores' clocks that a step publishes. */
static uint64_t clock_count(const struct sk_clocks *clocks, const struct sk_plan_step *step)
{
	return step->core_set == SK_ALL_CORES ? clocks->cores[step->lane] : 1;
}

enum skrt_status sk_clocks_begin(struct sk_clocks *clocks, const struct sk_flight *flight, char *error, size_t size)
{
	const struct skrt_module *module = flight->kernel->module;
	size_t history_count = module->plan.binding_count + (size_t)2 + module->plan.tensor_count;
	uint64_t bytes = 0;

	forget(clocks);
	clocks->incomplete = false;
	clocks->plan = flight->instance->plan;
	clocks->launch = &module->plan.launches[flight->kernel->launch];
	clocks->cores = flight->kernel->cores;
	clocks->rows = sk_core_row(clocks->cores, module->plan.lane_count, 0);
	for (uint32_t i = 0; i < sk_plan_form(clocks->launch)->step_count; i++) {
		const struct sk_plan_step *step = &clocks->plan->steps[clocks->launch->first_step + i];

		if (step->flags & SK_STEP_PUBLISH)
			bytes += clock_count(clocks, step) * clocks->rows * sizeof(uint32_t);
	}
	if (bytes <= MOST_CLOCK_BYTES) {
		clocks->clocks = calloc(clocks->rows * clocks->rows, sizeof(uint32_t));
		clocks->published = calloc(sk_plan_form(clocks->launch)->step_count, sizeof(*clocks->published));
		clocks->histories = calloc(history_count, sizeof(*clocks->histories));
	}
	if (!clocks->clocks || !clocks->published || !clocks->histories) {
		snprintf(error, size,
			 "no memory to check a launch of %" PRIu32 " steps on %" PRIu64
			 " cores for races; fewer cores need less",
			 sk_plan_form(clocks->launch)->step_count, clocks->rows);
		return SKRT_OUT_OF_MEMORY;
	}
	clocks->published_count = sk_plan_form(clocks->launch)->step_count;
	clocks->history_count = (uint32_t)history_count;
	return SKRT_OK;
}

/* ---- knowledge ---- */

static uint32_t *clock_of(const struct sk_clocks *clocks, uint64_t row)
{
	return clocks->clocks + row * clocks->rows;
}

static uint32_t **published_by(const struct sk_clocks *clocks, const struct sk_plan_step *step)
{
	return &clocks->published[step - clocks->plan->steps - clocks->launch->first_step];
}

void sk_clocks_await(struct sk_clocks *clocks, uint64_t row, const struct sk_plan_step *awaited)
{
	const uint32_t *published = *published_by(clocks, awaited);
	uint64_t count = published ? clock_count(clocks, awaited) : 0;
	uint32_t *clock = clock_of(clocks, row);

	for (uint64_t i = 0; i < count; i++)
		for (uint64_t j = 0; j < clocks->rows; j++)
			if (published[i * clocks->rows + j] > clock[j])
				clock[j] = published[i * clocks->rows + j];
}

void sk_clocks_finish(struct sk_clocks *clocks, uint64_t row, const struct sk_plan_step *step)
{
	uint32_t **published = published_by(clocks, step);
	uint32_t *clock = clock_of(clocks, row);
	uint64_t index = step->core_set == SK_ALL_CORES ? row - sk_core_row(clocks->cores, step->lane, 0) : 0;

	clock[row] = number_of_call(clocks, sk_plan_step_calls(clocks->plan, step).end - 1);
	if (!(step->flags & SK_STEP_PUBLISH))
		return;
	if (!*published)
		*published = calloc(clock_count(clocks, step) * clocks->rows, sizeof(uint32_t));
	if (!*published)
		clocks->incomplete = true;
	else
		memcpy(*published + index * clocks->rows, clock, clocks->rows * sizeof(uint32_t));
}

/* ---- histories ---- */

/* Insert a span at the index; its history is a copy of that of the span there, or empty. */
static bool insert_span(const struct sk_clocks *clocks, struct history *history, uint32_t index, uint64_t low,
			uint64_t high, const struct touch *cores)
{
	struct touch *copy = calloc(clocks->rows, sizeof(*copy));

	if (copy && history->count == history->capacity) {
		uint32_t capacity = history->capacity ? 2 * history->capacity : 16;
		struct span *spans = realloc(history->spans, capacity * sizeof(*spans));

		if (spans) {
			history->spans = spans;
			history->capacity = capacity;
		}
	}
	if (!copy || history->count == history->capacity) {
		free(copy);
		return false;
	}
	if (cores)
		memcpy(copy, cores, clocks->rows * sizeof(*copy));
	memmove(history->spans + index + 1, history->spans + index, (history->count - index) * sizeof(struct span));
	history->spans[index] = (struct span){low, high, copy};
	history->count++;
	return true;
}

/* Cut the span at the index in two, at a place inside it. */
static bool cut_span(const struct sk_clocks *clocks, struct history *history, uint32_t index, uint64_t at)
{
	const struct span *span = &history->spans[index];

	if (!insert_span(clocks, history, index, span->low, at, span->cores))
		return false;
	history->spans[index + 1].low = at;
	return true;
}

/* Join the span at the index with the previous one, if they are neighbours with the same history. So tiles leave no
 * more spans than parts. False: they stay two. */
static bool join_front(const struct sk_clocks *clocks, struct history *history, uint32_t index)
{
	struct span *span = &history->spans[index];

	if (index == 0 || span[-1].high != span->low ||
	    memcmp(span[-1].cores, span->cores, clocks->rows * sizeof(*span->cores)))
		return false;
	span[-1].high = span->high;
	free(span->cores);
	history->count--;
	memmove(span, span + 1, (history->count - index) * sizeof(*span));
	return true;
}

/* Return the first span that ends after `low`. */
static uint32_t first_behind(const struct history *history, uint64_t low)
{
	uint32_t first = 0, end = history->count;

	while (first < end) {
		uint32_t middle = first + (end - first) / 2;

		if (history->spans[middle].high > low)
			end = middle;
		else
			first = middle + 1;
	}
	return first;
}

/* Return the record of exactly these rows; make it if it is new. NULL: no memory. */
static struct strided *strided_of(const struct sk_clocks *clocks, struct history *history, const struct sk_rows *rows)
{
	for (uint32_t i = 0; i < history->strided_count; i++) {
		const struct sk_rows *other = &history->strided[i].rows;

		if (other->start == rows->start && other->width == rows->width && other->stride == rows->stride &&
		    other->count == rows->count)
			return &history->strided[i];
	}
	if (history->strided_count == history->strided_capacity) {
		uint32_t capacity = history->strided_capacity ? 2 * history->strided_capacity : 16;
		struct strided *list = realloc(history->strided, capacity * sizeof(*list));

		if (!list)
			return NULL;
		history->strided = list;
		history->strided_capacity = capacity;
	}
	struct strided *strided = &history->strided[history->strided_count];

	*strided = (struct strided){*rows, calloc(clocks->rows, sizeof(struct touch))};
	if (!strided->cores)
		return NULL;
	history->strided_count++;
	return strided;
}

/* ---- races ---- */

/* An access that is being checked. */
struct access {
	uint64_t row;
	const struct sk_plan_step *step;
	const struct sk_plan_call *call;
	const struct sk_window *window;
	bool write;
	char *finding;
	struct sk_rows rows; /* of the binding, the workspace or the states */
};

/* Return the step of the call with the number. */
static const struct sk_plan_step *step_of(const struct sk_clocks *clocks, uint32_t number)
{
	const struct sk_plan_step *step = clocks->plan->steps + clocks->launch->first_step;

	while (number_of_call(clocks, sk_plan_step_calls(clocks->plan, step).end - 1) < number)
		step++;
	return step;
}

static uint32_t lane_of(const struct sk_clocks *clocks, uint64_t row, uint64_t *index)
{
	uint32_t lane = 0;

	*index = row;
	while (*index >= clocks->cores[lane])
		*index -= clocks->cores[lane++];
	return lane;
}

/* Write "bytes 0 to 63 of tensor 'x'". */
static void print_bytes(const struct sk_clocks *clocks, const struct sk_plan_argument *argument, uint64_t low,
			uint64_t high, char *text, size_t size)
{
	if (argument->kind == SK_ARGUMENT_STATE) {
		snprintf(text, size,
			 argument->flags & SK_ARGUMENT_OF_LIBRARY ? "the C library's random numbers"
								  : "the kernel's hidden state");
		return;
	}
	const struct sk_plan_tensor *tensor = &clocks->plan->tensors[argument->tensor];
	uint64_t start = sk_plan_tensor_start(clocks->launch, tensor);

	snprintf(text, size, "bytes %" PRIu64 " to %" PRIu64 " of tensor '%s'", low - start, high - start - 1,
		 sk_plan_string(&tensor->name));
}

/* Write the finding. touched: the bytes of the other access, or a part of them. The other core can be the same core: in
 * the network, its access for one tile then comes after the new one for the next tile. */
static bool name_race(const struct sk_clocks *clocks, const struct access *access, const struct sk_rows *touched,
		      uint64_t other, uint32_t number, bool other_writes)
{
	uint64_t low = touched->start > access->rows.start ? touched->start : access->rows.start;
	uint64_t high =
		sk_rows_end(touched) < sk_rows_end(&access->rows) ? sk_rows_end(touched) : sk_rows_end(&access->rows);
	uint64_t index;
	uint32_t lane = lane_of(clocks, other, &index);
	const struct sk_plan_task *task = &clocks->plan->tasks[call_of(clocks, number)->task];
	bool several = clocks->plan->lane_count > 1;
	char bytes[160];

	print_bytes(clocks, access->window->argument, low, high, bytes, sizeof(bytes));
	snprintf(access->finding, SK_FINDING_SIZE, "race: it %s %s, which task '%s' on %s%score %" PRIu64 " %s%s",
		 access->write ? "writes" : "reads", bytes, sk_plan_string(&task->name),
		 several ? sk_plan_string(&clocks->plan->lanes[lane]) : "", several ? " " : "", index,
		 other_writes ? "writes" : "reads",
		 other == access->row ? " for an earlier tile, although its turn comes later"
				      : "; no await orders the two");
	return false;
}

/* Return whether the core in the row is known to have ended its access in the call with that number. A call has hidden
 * state until it returns; if it publishes its own progress, only a later step of the core proves that. */
static bool has_ended(const struct sk_clocks *clocks, const struct access *access, uint64_t row, uint32_t number)
{
	uint32_t known = clock_of(clocks, access->row)[row];

	if (number != known || !number || access->window->argument->kind != SK_ARGUMENT_STATE)
		return number <= known;
	return !(step_of(clocks, number)->flags & SK_STEP_EARLY_SET);
}

/* Return the call that runs at once with the access's call: that of the other side of a mix task, or itself. Sides have
 * one call each. */
static const struct sk_plan_call *partner_of(const struct access *access)
{
	uint16_t flags = access->step->flags;

	return access->call + (flags & SK_STEP_CUBE_SIDE ? 1 : flags & SK_STEP_VECTOR_SIDE ? -1 : 0);
}

/* Return the last call that the access must know to have ended. The blocks of one SPMD call, and the sides of a mix
 * task, are responsible for the order among themselves. */
static uint32_t last_call(const struct sk_clocks *clocks, const struct access *access, uint32_t last, uint32_t before)
{
	bool same = last == number_of_call(clocks, access->call) || last == number_of_call(clocks, partner_of(access));

	return same && access->step->kind == SK_STEP_BLOCKS ? before : last;
}

/* An earlier call's next tile adds nothing after a later call. */
static void note(uint32_t *last, uint32_t *before, uint32_t number)
{
	if (*last >= number)
		return;
	*before = *last;
	*last = number;
}

/* A core makes its calls in order, except in a tiled step: there a later call for one tile comes before an earlier call
 * for the next. */
static bool check_own(const struct sk_clocks *clocks, const struct access *access, const struct touch *touch,
		      const struct sk_rows *touched)
{
	uint32_t number = number_of_call(clocks, access->call);

	if (touch->write > number)
		return name_race(clocks, access, touched, access->row, touch->write, true);
	if (access->write && touch->read > number)
		return name_race(clocks, access, touched, access->row, touch->read, false);
	return true;
}

/* Check the access against all cores' accesses to some of the same bytes. */
static bool check_touches(const struct sk_clocks *clocks, const struct access *access, const struct touch *cores,
			  const struct sk_rows *touched)
{
	for (uint64_t row = 0; row < clocks->rows; row++) {
		const struct touch *touch = &cores[row];
		uint32_t write = last_call(clocks, access, touch->write, touch->write_before);
		uint32_t read = last_call(clocks, access, touch->read, touch->read_before);

		if (row == access->row) {
			if (!check_own(clocks, access, touch, touched))
				return false;
			continue;
		}
		if (!has_ended(clocks, access, row, write))
			return name_race(clocks, access, touched, row, write, true);
		if (access->write && !has_ended(clocks, access, row, read))
			return name_race(clocks, access, touched, row, read, false);
	}
	return true;
}

static void note_access(const struct sk_clocks *clocks, const struct access *access, struct touch *cores)
{
	uint32_t number = number_of_call(clocks, access->call);
	struct touch *own = &cores[access->row];

	if (access->write)
		note(&own->write, &own->write_before, number);
	else
		note(&own->read, &own->read_before, number);
}

static struct sk_rows rows_of_span(const struct span *span)
{
	return (struct sk_rows){.start = span->low, .width = span->high - span->low, .count = 1};
}

/* Check the access against accesses in rows that share a byte with it. */
static bool check_strided(const struct sk_clocks *clocks, const struct history *history, const struct access *access)
{
	for (uint32_t i = 0; i < history->strided_count; i++) {
		const struct strided *strided = &history->strided[i];

		if (sk_rows_overlap(&strided->rows, &access->rows) &&
		    !check_touches(clocks, access, strided->cores, &strided->rows))
			return false;
	}
	return true;
}

static void no_memory(const struct access *access)
{
	snprintf(access->finding, SK_FINDING_SIZE, "no memory for its check");
}

/* An access in rows is one record, and its bytes are in no span. */
static bool check_rows(const struct sk_clocks *clocks, struct history *history, const struct access *access)
{
	for (uint32_t i = first_behind(history, access->rows.start);
	     i < history->count && history->spans[i].low < sk_rows_end(&access->rows); i++) {
		struct sk_rows touched = rows_of_span(&history->spans[i]);

		if (sk_rows_overlap(&touched, &access->rows) &&
		    !check_touches(clocks, access, history->spans[i].cores, &touched))
			return false;
	}
	struct strided *own = clocks->incomplete ? NULL : strided_of(clocks, history, &access->rows);

	if (!own) {
		no_memory(access);
		return false;
	}
	note_access(clocks, access, own->cores);
	return true;
}

/* A contiguous access cuts the spans at its ends. */
static bool check_piece(const struct sk_clocks *clocks, struct history *history, const struct access *access)
{
	uint64_t low = access->rows.start, high = sk_rows_end(&access->rows);
	uint32_t i = first_behind(history, low);
	bool good = !clocks->incomplete;

	while (low < high && good) {
		if (i == history->count || history->spans[i].low > low) {
			uint64_t next = i == history->count ? high : history->spans[i].low;

			good = insert_span(clocks, history, i, low, next < high ? next : high, NULL);
		} else if (history->spans[i].low < low) {
			good = cut_span(clocks, history, i++, low);
		} else if (history->spans[i].high > high) {
			good = cut_span(clocks, history, i, high);
		} else {
			struct sk_rows touched = rows_of_span(&history->spans[i]);

			if (!check_touches(clocks, access, history->spans[i].cores, &touched))
				return false;
			note_access(clocks, access, history->spans[i].cores);
			low = history->spans[i].high;
			i += !join_front(clocks, history, i);
		}
	}
	if (!good)
		no_memory(access);
	return good;
}

static bool check_access(const struct sk_clocks *clocks, struct history *history, const struct access *access)
{
	return check_strided(clocks, history, access) &&
	       (access->rows.count > 1 ? check_rows(clocks, history, access) : check_piece(clocks, history, access));
}

static bool check_window(const struct sk_clocks *clocks, struct access *access)
{
	const struct sk_plan_argument *argument = access->window->argument;
	uint32_t bindings = clocks->plan->binding_count;

	access->rows = access->window->rows;
	access->rows.start += argument->offset;
	if (argument->kind == SK_ARGUMENT_SCRATCH)
		return true;
	switch (argument->space) {
	case SK_SPACE_BINDING:
		return check_access(clocks, &clocks->histories[argument->index], access);
	case SK_SPACE_WORKSPACE:
		return check_access(clocks, &clocks->histories[bindings], access);
	case SK_SPACE_STATE:
		access->rows.start = argument->index;
		return check_access(clocks, &clocks->histories[bindings + 1], access);
	case SK_SPACE_SCRATCH:
		return check_access(clocks, &clocks->histories[bindings + 2 + argument->tensor], access);
	default: /* constants, which are never written */
		return true;
	}
}

bool sk_clocks_access(struct sk_clocks *clocks, uint64_t row, const struct sk_plan_step *step,
		      const struct sk_plan_call *call, const struct sk_window *windows, uint32_t count, char *finding)
{
	for (uint32_t i = 0; i < count; i++) {
		struct access access = {row, step, call, &windows[i], false, finding, {0}};

		if (windows[i].unused)
			continue;
		if ((windows[i].access & SK_ACCESS_READ) && !check_window(clocks, &access))
			return false;
		access.write = true;
		if ((windows[i].access & SK_ACCESS_WRITE) && !check_window(clocks, &access))
			return false;
	}
	return true;
}
