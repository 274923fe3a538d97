/* The interval map behind dependency.h: per root tensor (and per hidden state) the ranges whose bytes have the same
 * past. A past is the last writer and the readers since; it never changes, so ranges share one after a split, and what
 * a task adds is a new one that begins with it. */
#include "src/planning/dependency.h"

#include <inttypes.h>
#include <stdlib.h>

#include "src/base/ranges.h"

/* So many pairs of accesses to common bytes may be looked at: some 300 MB of them are kept. */
#define MOST_PAIRS (UINT64_C(1) << 23)

enum { NO_PAST }; /* the first one: nobody has touched the bytes */

struct past {
	uint32_t writer, writer_argument; /* writer SK_NONE: not written so far */
	uint32_t reader, reader_argument; /* reader SK_NONE: not read since */
	uint32_t before; /* with a reader: the past that it has been added to */
};

struct builder {
	struct sk_model *model;
	struct sk_arena *arena;
	SK_ARRAY(struct past) pasts; /* values of the ranges */
	struct sk_ranges *tensors;
	SK_ARRAY(struct sk_ranges) states; /* hidden states, by number */
	SK_ARRAY(struct sk_conflict) conflicts;
	SK_ARRAY(uint32_t) recorders;
	uint32_t *last_conflict; /* by task: number of the last conflict with it + 1, to drop repetitions */
	uint64_t pairs;
};

enum sk_access sk_argument_access(const struct sk_argument *argument)
{
	switch (argument->kind) {
	case SK_ARGUMENT_POINTER:
		return argument->access;
	case SK_ARGUMENT_LOAD:
		return SK_ACCESS_READ;
	case SK_ARGUMENT_RESULT:
		return SK_ACCESS_WRITE;
	case SK_ARGUMENT_STATE:
		return SK_ACCESS_READ | SK_ACCESS_WRITE;
	default:
		return SK_ACCESS_NONE;
	}
}

/* ---- the interval map ---- */

static uint32_t add_past(struct builder *builder, struct past past)
{
	sk_array_push(builder->arena, &builder->pasts, past);
	return (uint32_t)builder->pasts.count - 1;
}

static void record_write(struct builder *builder, struct sk_ranges *ranges, struct sk_range written, struct past past)
{
	sk_ranges_clear(builder->arena, ranges, written.start, written.end);
	written.value = add_past(builder, past);
	sk_ranges_insert(builder->arena, ranges, written);
}

static void record_read(struct builder *builder, struct sk_ranges *ranges, uint64_t start, uint64_t end, uint32_t task,
			uint32_t argument)
{
	sk_ranges_split(builder->arena, ranges, start);
	sk_ranges_split(builder->arena, ranges, end);
	while (start < end) {
		struct sk_range *found = sk_ranges_find(ranges, start);

		if (!found || found->start > start) {
			uint64_t gap_end = found && found->start < end ? found->start : end;

			sk_ranges_insert(builder->arena, ranges, (struct sk_range){start, gap_end, NO_PAST});
			continue;
		}
		struct past past = builder->pasts.items[found->value];

		past.reader = task;
		past.reader_argument = argument;
		past.before = found->value;
		found->value = add_past(builder, past);
		builder->pairs++;
		start = found->end;
	}
}

/* ---- conflicts ---- */

static void add_conflict(struct builder *builder, uint32_t task, uint32_t earlier, uint32_t later, size_t first)
{
	uint32_t last = builder->last_conflict[task];

	if (last > first) {
		const struct sk_conflict *known = &builder->conflicts.items[last - 1];

		if (known->earlier == earlier && known->later == later)
			return;
	}
	sk_array_push(builder->arena, &builder->conflicts, (struct sk_conflict){task, earlier, later});
	builder->last_conflict[task] = (uint32_t)builder->conflicts.count;
}

static struct sk_ranges *ranges_of(struct builder *builder, const struct sk_argument *argument)
{
	if (argument->kind != SK_ARGUMENT_STATE)
		return &builder->tensors[argument->tensor];
	while (builder->states.count <= argument->value)
		sk_array_push(builder->arena, &builder->states, (struct sk_ranges){0});
	return &builder->states.items[argument->value];
}

static uint64_t start_of(const struct sk_argument *argument)
{
	return argument->kind == SK_ARGUMENT_STATE ? 0 : argument->offset;
}

static uint64_t end_of(const struct sk_argument *argument)
{
	return argument->kind == SK_ARGUMENT_STATE ? 1 : argument->offset + argument->size;
}

/* Readers stand between two writes: where there are any, they imply the conflict with the writer before them. */
static void collect_conflicts(struct builder *builder, const struct sk_argument *argument, uint32_t number,
			      size_t first)
{
	struct sk_ranges *ranges = ranges_of(builder, argument);
	bool write = sk_argument_access(argument) & SK_ACCESS_WRITE;
	uint64_t end = end_of(argument);
	const struct sk_range *range = sk_ranges_find(ranges, start_of(argument));

	for (; range && range->start < end; range = sk_ranges_find(ranges, range->end)) {
		const struct past *past = &builder->pasts.items[range->value];

		if (past->writer != SK_NONE && (!write || past->reader == SK_NONE))
			add_conflict(builder, past->writer, past->writer_argument, number, first);
		for (; write && past->reader != SK_NONE; past = &builder->pasts.items[past->before]) {
			add_conflict(builder, past->reader, past->reader_argument, number, first);
			builder->pairs++;
		}
	}
}

/* All arguments are looked at before any is recorded, and reads are recorded before writes, so that a task has no
 * conflict with itself and counts as a writer of what it reads and writes. */
static void visit_task(struct builder *builder, uint32_t number)
{
	const struct sk_task *task = &builder->model->tasks.items[number];
	size_t first = builder->conflicts.count;

	for (uint32_t a = 0; a < task->argument_count; a++)
		if (sk_argument_access(&task->arguments[a]))
			collect_conflicts(builder, &task->arguments[a], a, first);
	for (uint32_t a = 0; a < task->argument_count; a++) {
		const struct sk_argument *argument = &task->arguments[a];

		if (sk_argument_access(argument) == SK_ACCESS_READ)
			record_read(builder, ranges_of(builder, argument), start_of(argument), end_of(argument), number,
				    a);
	}
	for (uint32_t a = 0; a < task->argument_count; a++) {
		const struct sk_argument *argument = &task->arguments[a];
		struct sk_range written = {start_of(argument), end_of(argument), SK_NONE};

		if (sk_argument_access(argument) & SK_ACCESS_WRITE && written.start < written.end)
			record_write(builder, ranges_of(builder, argument), written,
				     (struct past){number, a, SK_NONE, SK_NONE, NO_PAST});
	}
}

/* ---- streams and events ---- */

static int compare_numbers(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return (left > right) - (left < right);
}

/* Stream numbers are the user's own and may be far apart: sort them, then number them by rank. */
static void number_streams(struct builder *builder, struct sk_dependencies *dependencies)
{
	const struct sk_model *model = builder->model;
	uint32_t *streams = SK_NEW_ARRAY(builder->arena, uint32_t, model->tasks.count);
	uint32_t count = 0;

	for (size_t t = 0; t < model->tasks.count; t++)
		streams[t] = model->tasks.items[t].stream;
	qsort(streams, model->tasks.count, sizeof(*streams), compare_numbers);
	for (size_t i = 0; i < model->tasks.count; i++)
		if (i == 0 || streams[i] != streams[count - 1])
			streams[count++] = streams[i];

	uint32_t *last = SK_NEW_ARRAY(builder->arena, uint32_t, count);

	for (uint32_t i = 0; i < count; i++)
		last[i] = SK_NONE;
	dependencies->stream_count = count;
	for (size_t t = 0; t < model->tasks.count; t++) {
		const uint32_t *found =
			bsearch(&model->tasks.items[t].stream, streams, count, sizeof(*streams), compare_numbers);
		uint32_t stream = (uint32_t)(found - streams);

		dependencies->stream[t] = stream;
		dependencies->previous[t] = last[stream];
		last[stream] = (uint32_t)t;
	}
}

/* A wait means the latest earlier record of its event. */
static bool resolve_events(struct builder *builder, struct sk_dependencies *dependencies)
{
	struct sk_model *model = builder->model;
	uint32_t *recorder = SK_NEW_ARRAY(builder->arena, uint32_t, model->events.count);
	bool good = true;

	for (size_t e = 0; e < model->events.count; e++)
		recorder[e] = SK_NONE;
	for (size_t t = 0; t < model->tasks.count; t++) {
		const struct sk_task *task = &model->tasks.items[t];

		dependencies->first_recorder[t] = (uint32_t)builder->recorders.count;
		for (size_t i = 0; i < task->wait.count; i++) {
			uint32_t event = task->wait.items[i];

			if (recorder[event] != SK_NONE) {
				sk_array_push(builder->arena, &builder->recorders, recorder[event]);
				continue;
			}
			sk_error(model->diag, task->place,
				 "task '%s' waits for event '%s', which no earlier task records", task->name,
				 model->events.items[event].name);
			good = false;
		}
		for (size_t i = 0; i < task->record.count; i++)
			recorder[task->record.items[i]] = (uint32_t)t;
	}
	dependencies->first_recorder[model->tasks.count] = (uint32_t)builder->recorders.count;
	dependencies->recorders = builder->recorders.items;
	return good;
}

struct sk_dependencies *sk_dependencies_build(struct sk_model *model)
{
	struct sk_arena *arena = model->arena;
	struct sk_dependencies *dependencies = SK_NEW(arena, struct sk_dependencies);
	size_t count = model->tasks.count;
	struct builder builder = {
		.model = model,
		.arena = arena,
		.tensors = SK_NEW_ARRAY(arena, struct sk_ranges, model->tensors.count),
		.last_conflict = SK_NEW_ARRAY(arena, uint32_t, count),
	};

	dependencies->first_conflict = SK_NEW_ARRAY(arena, uint32_t, count + 1);
	dependencies->first_recorder = SK_NEW_ARRAY(arena, uint32_t, count + 1);
	dependencies->previous = SK_NEW_ARRAY(arena, uint32_t, count);
	dependencies->stream = SK_NEW_ARRAY(arena, uint32_t, count);
	add_past(&builder, (struct past){SK_NONE, SK_NONE, SK_NONE, SK_NONE, NO_PAST});
	for (uint32_t t = 0; t < count; t++) {
		dependencies->first_conflict[t] = (uint32_t)builder.conflicts.count;
		visit_task(&builder, t);
		if (builder.pairs <= MOST_PAIRS)
			continue;
		sk_error(model->diag, model->tasks.items[t].place,
			 "the tasks up to '%s' share parts of tensors in more than %" PRIu64 " pairs",
			 model->tasks.items[t].name, MOST_PAIRS);
		return NULL;
	}
	dependencies->first_conflict[count] = (uint32_t)builder.conflicts.count;
	dependencies->conflicts = builder.conflicts.items;
	for (size_t i = 0; i < model->tensors.count; i++)
		dependencies->steps += builder.tensors[i].steps;
	number_streams(&builder, dependencies);
	return resolve_events(&builder, dependencies) ? dependencies : NULL;
}
