/* See races.h. Quadratic in events, for plans of a dozen steps. */
#include "tests/lib/races.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_EVENTS = 1024, MAX_TOUCHES = 8192 };

/* Sets of events are bits: each event is a core's part of a step. An event may access hidden state from the first
 * instruction of its call to the last one. */
struct event {
	uint32_t launch, step, lane, core;
	bool idle; /* the core has no block of the step */
	uint64_t before[MAX_EVENTS / 64]; /* have published when this one touches a tensor */
	uint64_t returned[MAX_EVENTS / 64]; /* have returned then … */
	uint64_t called[MAX_EVENTS / 64]; /* … and when it is called */
};

struct touch {
	uint32_t event, call, argument;
	uint32_t tile; /* of the event's part */
	uint32_t space, index, tensor;
	uint64_t low, high; /* of the first row */
	uint64_t stride, rows;
	bool write;
};

struct race {
	const struct sk_plan_view *view;
	const uint32_t *cores;
	uint32_t event_count, touch_count;
	uint32_t tile; /* the current one */
	struct event events[MAX_EVENTS];
	struct touch touches[MAX_TOUCHES];
};

/* ---- order of events ---- */

static void add_all(uint64_t *set, const uint64_t *others)
{
	for (int i = 0; i < MAX_EVENTS / 64; i++)
		set[i] |= others[i];
}

static bool has(const uint64_t *set, uint32_t event)
{
	return set[event / 64] >> event % 64 & 1;
}

/* The earlier event has published, or even returned, when this one touches a tensor. */
static void add_before(struct event *event, const struct race *race, uint32_t earlier, bool returned)
{
	const struct event *other = &race->events[earlier];

	add_all(event->before, other->before);
	add_all(event->returned, other->returned);
	event->before[earlier / 64] |= UINT64_C(1) << (earlier % 64);
	if (returned)
		event->returned[earlier / 64] |= UINT64_C(1) << (earlier % 64);
}

static bool follows(const struct sk_plan_view *view, uint32_t launch, uint32_t earlier)
{
	const struct sk_plan_launch *record = &view->launches[launch];

	for (uint32_t i = 0; i < sk_plan_form(record)->follow_count; i++)
		if (view->follows[record->first_follow + i] == earlier)
			return true;
	return false;
}

static bool awaits(const struct sk_plan_view *view, uint32_t step, uint32_t earlier)
{
	const struct sk_plan_step *record = &view->steps[step];

	for (uint32_t i = 0; i < record->await_count; i++)
		if (view->awaits[record->first_await + i].step == earlier)
			return true;
	return false;
}

/* First come the events that end before the core calls the kernel, then those that the kernel awaits. */
static void add_event(struct race *race, uint32_t launch, uint32_t step, uint32_t lane, uint32_t core, bool idle)
{
	struct event *event = &race->events[race->event_count];
	bool waits = race->view->steps[step].flags & SK_STEP_EARLY_WAIT;
	bool skips = race->view->steps[step].flags & SK_STEP_OWN_AWAITS && idle;

	if (race->event_count == MAX_EVENTS) /* an assertion that holds writes a file: it would take half of the time */
		ck_abort_msg("there are more than %d events", MAX_EVENTS);
	*event = (struct event){.launch = launch, .step = step, .lane = lane, .core = core, .idle = idle};
	for (uint32_t i = 0; i < race->event_count; i++) {
		const struct event *earlier = &race->events[i];

		if ((earlier->launch == launch && earlier->lane == lane && earlier->core == core) ||
		    follows(race->view, launch, earlier->launch))
			add_before(event, race, i, true);
	}
	memcpy(event->called, event->returned, sizeof(event->called));
	for (uint32_t i = 0; i < race->event_count; i++) {
		uint32_t awaited = race->events[i].step;

		if (!skips && awaits(race->view, step, awaited))
			add_before(event, race, i, !(race->view->steps[awaited].flags & SK_STEP_EARLY_SET));
	}
	if (!waits)
		memcpy(event->called, event->returned, sizeof(event->called));
	race->event_count++;
}

/* ---- accesses ---- */

static void touch(struct race *race, uint32_t call, uint32_t argument, uint64_t low, uint64_t high, bool write)
{
	const struct sk_plan_argument *record = &race->view->arguments[argument];

	if (low == high)
		return;
	if (race->touch_count == MAX_TOUCHES)
		ck_abort_msg("there are more than %d accesses", MAX_TOUCHES);
	race->touches[race->touch_count++] = (struct touch){.event = race->event_count,
							    .call = call,
							    .argument = argument,
							    .tile = race->tile,
							    .space = record->space,
							    .index = record->index,
							    .tensor = record->tensor,
							    .low = record->offset + low,
							    .high = record->offset + high,
							    .rows = 1,
							    .write = write};
}

/* Rows [first, end) of those that the argument has. */
static void touch_rows(struct race *race, uint32_t call, uint32_t argument, const struct sk_plan_pattern *pattern,
		       uint64_t first, uint64_t end, bool write)
{
	if (pattern->width == 0)
		return;
	touch(race, call, argument, first * pattern->stride, first * pattern->stride + pattern->width, write);
	race->touches[race->touch_count - 1].stride = pattern->stride;
	race->touches[race->touch_count - 1].rows = end - first;
}

/* The part of the scratch that is the kernel's own, and not a tensor's. */
static void touch_own(struct race *race, uint32_t call, uint32_t argument)
{
	touch(race, call, argument, 0, race->view->arguments[argument].size, true);
	race->touches[race->touch_count - 1].space = SK_SPACE_SCRATCH;
	race->touches[race->touch_count - 1].tensor = SK_NO_INDEX;
}

/* One call's accesses, for elements [low, high) of the extent. */
static void touch_call(struct race *race, const struct sk_plan_step *step, uint32_t index, uint64_t low, uint64_t high)
{
	const struct sk_plan_call *call = &race->view->calls[index];

	low *= call->scale;
	high *= call->scale;
	for (uint32_t i = 0; i < call->argument_count; i++) {
		const struct sk_plan_argument *argument = &race->view->arguments[call->first_argument + i];
		const struct sk_plan_pattern *pattern = sk_plan_pattern(race->view, argument);
		bool state = argument->kind == SK_ARGUMENT_STATE, result = argument->kind == SK_ARGUMENT_RESULT;
		bool write = state || result ||
			     (argument->kind == SK_ARGUMENT_POINTER && (argument->access & SK_ACCESS_WRITE));
		uint64_t bytes = argument->element_bytes;

		if (argument->kind == SK_ARGUMENT_SCRATCH)
			touch_own(race, index, call->first_argument + i);
		if (argument->kind != SK_ARGUMENT_POINTER && argument->kind != SK_ARGUMENT_LOAD && !state && !result)
			continue;
		if (argument->space == SK_SPACE_SCRATCH) {
			touch(race, index, call->first_argument + i, 0, (high - low) * bytes, write);
			continue;
		}
		if (pattern && pattern->count) {
			uint64_t each = pattern->count / (bytes ? sk_plan_extent(step, call) : 1);

			touch_rows(race, index, call->first_argument + i, pattern, bytes ? low * each : 0,
				   bytes ? high * each : each, write);
			continue;
		}
		if (bytes == 0) {
			touch(race, index, call->first_argument + i, 0, state ? 1 : argument->size, write);
			continue;
		}
		uint64_t halo = pattern ? pattern->halo : 0;

		touch(race, index, call->first_argument + i, low * bytes, high * bytes + halo, write);
		if (halo)
			continue; /* bytes after all parts belong to the last one */
		touch(race, index, call->first_argument + i, sk_plan_extent(step, call) * bytes, argument->size, write);
	}
}

static uint64_t at_most(uint64_t value, uint64_t limit)
{
	return value < limit ? value : limit;
}

/* A core makes a step's calls one after the other, for each tile of its part. */
static void touch_all(struct race *race, const struct sk_plan_step *step, uint64_t low, uint64_t high)
{
	race->tile = 0;
	do {
		uint64_t end = step->tile ? at_most(low + step->tile, high) : high;

		for (uint32_t i = 0; i < step->call_count; i++)
			touch_call(race, step, step->first_call + i, low, end);
		low = end;
		race->tile++;
	} while (low < high);
}

static void touch_step(struct race *race, const struct sk_plan_step *step, uint64_t core, uint64_t cores)
{
	uint64_t blocks = step->blocks, low, high;

	/* From here on the number of the core's part. */
	if (step->partition != SK_NO_INDEX)
		for (uint64_t i = race->view->partitions[step->partition].first_core % cores; i > 0; i--)
			core = core ? core - 1 : cores - 1;

	switch (step->kind) {
	case SK_STEP_PLAIN:
		touch_all(race, step, 0, 0);
		break;
	case SK_STEP_BLOCKS:
		/* Any core that has a block may have any: no code may rely on which. As the earlier one of two steps,
		 * all cores count, since others await all of them; as the later one, those that have a block. */
		touch_all(race, step, 0, 0);
		break;
	case SK_STEP_BLOCKS_RANGE:
		for (uint64_t b = core * blocks / cores; b < (core + 1) * blocks / cores; b++)
			touch_all(race, step, b * step->extent / blocks, (b + 1) * step->extent / blocks);
		break;
	case SK_STEP_SPLIT: {
		const struct sk_plan_partition *partition = &race->view->partitions[step->partition];
		uint64_t unit = partition->unit, units = (step->extent + unit - 1) / unit;

		low = at_most(core * units / cores * unit, step->extent);
		high = at_most((core + 1) * units / cores * unit, step->extent);
		if (partition->blocks) {
			unit = step->extent / partition->rows;
			low = core * partition->blocks / cores * partition->rows / partition->blocks * unit;
			high = (core + 1) * partition->blocks / cores * partition->rows / partition->blocks * unit;
		}
		if (low < high)
			touch_all(race, step, low, high);
		break;
	}
	}
}

static bool is_idle(const struct race *race, const struct sk_plan_step *step, uint64_t core, uint64_t cores)
{
	uint64_t first = step->kind == SK_STEP_BLOCKS	  ? step->first_core
			 : step->partition != SK_NO_INDEX ? race->view->partitions[step->partition].first_core
							  : 0;

	core = (core + cores - first % cores) % cores;
	return (step->kind == SK_STEP_BLOCKS && core >= step->blocks) ||
	       (step->kind == SK_STEP_BLOCKS_RANGE && core * step->blocks / cores == (core + 1) * step->blocks / cores);
}

static void add_step(struct race *race, uint32_t launch, uint32_t index)
{
	const struct sk_plan_step *step = &race->view->steps[index];
	uint32_t resident = sk_plan_form(&race->view->launches[launch])->resident_cores[step->lane];
	uint32_t cores = race->cores[step->lane] < resident ? resident : race->cores[step->lane], first = 0,
		 end = cores;

	if (step->core_set != SK_ALL_CORES) {
		first = race->view->homes[step->core_set].stream % cores;
		end = first + 1;
	}
	for (uint32_t core = first; core < end; core++) {
		touch_step(race, step, core, cores);
		add_event(race, launch, index, step->lane, core, is_idle(race, step, core, cores));
	}
}

/* ---- conflicts ---- */

/* The same call, or that of the other side of a mix task. */
static bool same_task(const struct race *race, const struct touch *a, const struct touch *b)
{
	uint32_t one = race->events[a->event].step, other = race->events[b->event].step;

	return a->call == b->call || (other == one + 1 && race->view->steps[other].flags & SK_STEP_VECTOR_SIDE) ||
	       (one == other + 1 && race->view->steps[one].flags & SK_STEP_VECTOR_SIDE);
}

/* Blocks of one SPMD call answer for their accesses to one argument, or to two that may be the same. One block is on
 * one core, whichever that is. */
static bool spmd_may(const struct race *race, const struct touch *a, const struct touch *b)
{
	const struct sk_plan_argument *one = &race->view->arguments[a->argument];
	const struct sk_plan_argument *other = &race->view->arguments[b->argument];
	const struct sk_plan_step *step = &race->view->steps[race->events[a->event].step];

	if (!same_task(race, a, b) || step->kind != SK_STEP_BLOCKS)
		return false;
	if (step->blocks == 1 && race->events[a->event].step == race->events[b->event].step)
		return true;
	return one->kind == SK_ARGUMENT_POINTER && other->kind == SK_ARGUMENT_POINTER && a->low == b->low &&
	       a->high == b->high && a->rows == b->rows && a->stride == b->stride;
}

/* Row by row. */
static bool have_common_bytes(const struct touch *a, const struct touch *b)
{
	for (uint64_t i = 0; i < a->rows; i++)
		for (uint64_t k = 0; k < b->rows; k++)
			if (a->low + i * a->stride < b->high + k * b->stride &&
			    b->low + k * b->stride < a->high + i * a->stride)
				return true;
	return false;
}

/* Two of one core, in one step. */
static bool is_out_of_order(const struct touch *a, const struct touch *b)
{
	bool other_order = (a->call < b->call && a->tile > b->tile) || (a->call > b->call && a->tile < b->tile);

	if ((!a->write && !b->write) || a->space != b->space ||
	    (a->space != SK_SPACE_WORKSPACE && a->index != b->index) || !have_common_bytes(a, b))
		return false;
	if (a->space == SK_SPACE_SCRATCH)
		return a->call == b->call && a->tile == b->tile && a->tensor != b->tensor;
	return other_order;
}

static bool is_race(const struct race *race, const struct touch *a, const struct touch *b)
{
	if (a->event == b->event)
		return is_out_of_order(a, b);
	if (a->space == SK_SPACE_SCRATCH)
		return false; /* each core has its own */
	if (a->space != b->space || (a->space != SK_SPACE_WORKSPACE && a->index != b->index))
		return false;
	/* States have numbers, not addresses. */
	if (!a->write && !b->write)
		return false;

	const struct event *later = &race->events[b->event];

	/* No code may rely on a home that is the core of the only block. */
	if (later->idle && (race->view->steps[later->step].blocks > 1 ||
			    race->view->steps[race->events[a->event].step].core_set == SK_ALL_CORES))
		return false;
	return !has(a->space == SK_SPACE_STATE ? later->called : later->before, a->event) && !spmd_may(race, a, b) &&
	       (a->space == SK_SPACE_STATE || have_common_bytes(a, b));
}

bool races_exist(const struct sk_plan_view *view, const uint32_t cores[SK_MAX_LANES])
{
	struct race *race = calloc(1, sizeof(*race));
	bool found = false;

	race->view = view;
	race->cores = cores;
	for (uint32_t launch = 0; launch < view->network_launch_count; launch++)
		for (uint32_t i = 0; i < sk_plan_form(&view->launches[launch])->step_count; i++)
			add_step(race, launch, view->launches[launch].first_step + i);
	/* Touches are in the order of their events. */
	for (uint32_t i = 0; i < race->touch_count && !found; i++)
		for (uint32_t j = i + 1; j < race->touch_count && !found; j++)
			found = is_race(race, &race->touches[i], &race->touches[j]);
	free(race);
	return found;
}

bool races_exist_up_to(const struct sk_plan_view *view, uint32_t limit)
{
	for (uint32_t first = 1; first <= limit; first++)
		for (uint32_t second = 1; second <= (view->lane_count > 1 ? limit : 1); second++)
			if (races_exist(view, (uint32_t[]){first, second}))
				return true;
	return false;
}

/* ---- values that reads find ---- */

/* The last writers, as a tensor's number + 1, of the bytes of the workspace and of each binding. */
struct contents {
	const struct sk_plan_view *view;
	uint32_t **owners;
};

static uint32_t *owner_of(const struct contents *contents, const struct sk_plan_argument *argument)
{
	bool bound = argument->space == SK_SPACE_BINDING;

	return contents->owners[bound ? argument->index : contents->view->binding_count] + argument->offset;
}

/* Return whether byte `at` of the argument is in a row. */
static bool is_accessed(const struct contents *contents, const struct sk_plan_argument *argument, uint64_t at)
{
	const struct sk_plan_pattern *pattern = sk_plan_pattern(contents->view, argument);

	return !pattern || !pattern->count || at % pattern->stride < pattern->width;
}

static bool finds_its_own(const struct contents *contents, const struct sk_plan_argument *argument)
{
	enum sk_role role = contents->view->tensors[argument->tensor].role;
	const uint32_t *owners = owner_of(contents, argument);

	for (uint64_t i = 0; i < argument->size && (role == SK_ROLE_TEMPORARY || role == SK_ROLE_OUTPUT); i++)
		if (is_accessed(contents, argument, i) && owners[i] != argument->tensor + 1)
			return false;
	return true;
}

static bool has_bytes(const struct sk_plan_argument *argument)
{
	return argument->space == SK_SPACE_WORKSPACE || argument->space == SK_SPACE_BINDING;
}

/* Reads come before writes. A call for no elements of a divided extent writes nothing, whatever it has been given. */
static bool call_reads_astray(const struct contents *contents, const struct sk_plan_step *step,
			      const struct sk_plan_call *call)
{
	const struct sk_plan_argument *arguments = contents->view->arguments + call->first_argument;
	bool astray = false;

	for (uint32_t a = 0; a < call->argument_count; a++)
		if (has_bytes(&arguments[a]) &&
		    (arguments[a].kind == SK_ARGUMENT_LOAD || arguments[a].access & SK_ACCESS_READ))
			astray |= !finds_its_own(contents, &arguments[a]);
	for (uint32_t a = 0; a < call->argument_count; a++) {
		if (!has_bytes(&arguments[a]) || (sk_plan_divides(step) && step->extent == 0) ||
		    !(arguments[a].kind == SK_ARGUMENT_RESULT || arguments[a].access & SK_ACCESS_WRITE))
			continue;
		for (uint64_t i = 0; i < arguments[a].size; i++)
			if (is_accessed(contents, &arguments[a], i))
				owner_of(contents, &arguments[a])[i] = arguments[a].tensor + 1;
	}
	return astray;
}

/* ---- the scratch ---- */

/* One core's scratch, byte by byte: the owner of the byte, and its place in the tensor. */
struct scratch_byte {
	uint32_t owner; /* a tensor's number + 1 */
	uint64_t place;
};

static void write_scratch(struct scratch_byte *scratch, uint64_t start, uint64_t size, uint32_t owner, uint64_t place)
{
	for (uint64_t i = 0; i < size; i++)
		scratch[start + i] = (struct scratch_byte){owner, place + i};
}

static bool finds_tile(const struct scratch_byte *scratch, const struct sk_plan_argument *argument, uint64_t size,
		       uint64_t place)
{
	for (uint64_t i = 0; i < size; i++)
		if (scratch[argument->offset + i].owner != argument->tensor + 1 ||
		    scratch[argument->offset + i].place != place + i)
			return false;
	return true;
}

/* Elements [low, high) of the step's. The kernel's own pieces come first: it may write them before it reads. */
static bool tile_reads_astray(const struct sk_plan_view *view, const struct sk_plan_call *call, uint64_t low,
			      uint64_t high, struct scratch_byte *scratch)
{
	const struct sk_plan_argument *arguments = view->arguments + call->first_argument;
	bool astray = false;

	for (uint32_t a = 0; a < call->argument_count; a++) {
		if (arguments[a].kind == SK_ARGUMENT_SCRATCH)
			write_scratch(scratch, arguments[a].offset, arguments[a].size, 0, 0);
		if (arguments[a].flags & SK_ARGUMENT_FIELD)
			write_scratch(scratch, arguments[a].field, sizeof(uint64_t), 0, 0);
	}
	for (uint32_t pass = SK_ACCESS_READ; pass <= SK_ACCESS_WRITE; pass++)
		for (uint32_t a = 0; a < call->argument_count; a++) {
			uint64_t bytes = call->scale * arguments[a].element_bytes, size = (high - low) * bytes;

			if (arguments[a].space != SK_SPACE_SCRATCH || !(arguments[a].access & pass))
				continue;
			if (pass == SK_ACCESS_READ)
				astray |= !finds_tile(scratch, &arguments[a], size, low * bytes);
			else
				write_scratch(scratch, arguments[a].offset, size, arguments[a].tensor + 1, low * bytes);
		}
	return astray;
}

/* One core does it all, tile by tile. */
static bool scratch_reads_astray(const struct sk_plan_view *view, const struct sk_plan_launch *launch)
{
	struct scratch_byte *scratch = calloc(sk_plan_form(launch)->scratch_size + 1, sizeof(*scratch));
	bool astray = false;

	for (uint32_t s = launch->first_step; s < launch->first_step + sk_plan_form(launch)->step_count; s++) {
		const struct sk_plan_step *step = &view->steps[s];

		for (uint64_t low = 0; step->tile && low < step->extent; low += step->tile)
			for (uint32_t i = 0; i < step->call_count; i++)
				astray |= tile_reads_astray(view, &view->calls[step->first_call + i], low,
							    at_most(low + step->tile, step->extent), scratch);
	}
	free(scratch);
	return astray;
}

bool reads_astray(const struct sk_plan_view *view)
{
	struct contents contents = {view, calloc(view->binding_count + 1, sizeof(uint32_t *))};
	bool astray = false;

	for (uint32_t i = 0; i < view->binding_count; i++)
		contents.owners[i] = calloc(sk_plan_type(&view->tensors[view->bindings[i]])->bytes, sizeof(uint32_t));
	contents.owners[view->binding_count] = calloc(view->plan->workspace_size + 1, sizeof(uint32_t));
	for (uint32_t l = 0; l < view->network_launch_count; l++) {
		const struct sk_plan_launch *launch = &view->launches[l];

		for (uint32_t s = launch->first_step; s < launch->first_step + sk_plan_form(launch)->step_count; s++)
			for (struct sk_plan_calls calls = sk_plan_step_calls(view, &view->steps[s]);
			     calls.first < calls.end; calls.first++)
				astray |= call_reads_astray(&contents, &view->steps[s], calls.first);
		astray |= scratch_reads_astray(view, launch);
	}
	for (uint32_t i = 0; i <= view->binding_count; i++)
		free(contents.owners[i]);
	free(contents.owners);
	return astray;
}

static bool holds(const char *line, size_t length, const char *text)
{
	const char *found = strstr(line, text);

	return found && found < line + length;
}

/* An error of the one kind or the other. */
static bool says(const char *messages, bool astray)
{
	for (const char *line = messages; *line;) {
		size_t length = strcspn(line, "\n");
		bool is_astray = holds(line, length, "but no task before it has written") ||
				 holds(line, length, " has last written ") ||
				 holds(line, length, "in the scratch, and reads it");

		if (holds(line, length, ": error: ") && is_astray == astray)
			return true;
		line += length + (line[length] != 0);
	}
	return false;
}

bool says_astray(const char *messages)
{
	return says(messages, true);
}

bool says_more(const char *messages)
{
	return says(messages, false);
}
