/* The interval map behind dependency.h: per root tensor (and per hidden state) a sorted array of disjoint pieces. A
 * piece knows its last writer and the readers since; readers are a list whose tail pieces share after a split. */
#include "dependency.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* So many pairs of accesses to common bytes may be looked at: some 300 MB of them are kept. */
#define MOST_PAIRS (UINT64_C(1) << 23)

struct reader {
	uint32_t task, argument;
	const struct reader *next;
};

struct piece {
	uint64_t start, end;
	uint32_t writer, writer_argument; /* writer SK_NONE: not written so far */
	const struct reader *readers; /* since the last write */
};

struct region {
	SK_ARRAY(struct piece) pieces; /* sorted, disjoint */
};

struct builder {
	struct sk_model *model;
	struct sk_arena *arena;
	struct region *tensors;
	SK_ARRAY(struct region) states; /* hidden states, by number */
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

/* The first piece that ends behind the offset. */
static size_t find_piece(const struct region *region, uint64_t offset)
{
	size_t low = 0, high = region->pieces.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (region->pieces.items[middle].end <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Replaces `removed` pieces at the index by one new piece. */
static void replace_pieces(struct builder *builder, struct region *region, size_t index, size_t removed,
			   struct piece piece)
{
	size_t tail = region->pieces.count - index - removed;

	if (removed == 0)
		sk_array_push(builder->arena, &region->pieces, piece);
	struct piece *at = region->pieces.items + index;

	memmove(at + 1, at + removed, tail * sizeof(*at));
	*at = piece;
	region->pieces.count = index + 1 + tail;
}

/* Makes the offset a border between pieces, if it lies inside one. */
static void split_piece(struct builder *builder, struct region *region, uint64_t offset)
{
	size_t index = find_piece(region, offset);

	if (index == region->pieces.count || region->pieces.items[index].start >= offset)
		return;
	struct piece left = region->pieces.items[index];

	region->pieces.items[index].start = offset;
	left.end = offset;
	replace_pieces(builder, region, index, 0, left);
}

static void record_write(struct builder *builder, struct region *region, struct piece written)
{
	split_piece(builder, region, written.start);
	split_piece(builder, region, written.end);
	size_t first = find_piece(region, written.start), last = first;

	while (last < region->pieces.count && region->pieces.items[last].start < written.end)
		last++;
	replace_pieces(builder, region, first, last - first, written);
}

static void record_read(struct builder *builder, struct region *region, uint64_t start, uint64_t end, uint32_t task,
			uint32_t argument)
{
	split_piece(builder, region, start);
	split_piece(builder, region, end);
	for (size_t i = find_piece(region, start); start < end; i++) {
		bool gap = i == region->pieces.count || region->pieces.items[i].start > start;

		if (gap) {
			struct piece fresh = {.start = start, .end = end, .writer = SK_NONE};

			if (i < region->pieces.count && region->pieces.items[i].start < end)
				fresh.end = region->pieces.items[i].start;
			replace_pieces(builder, region, i, 0, fresh);
		}
		struct reader *reader = SK_NEW(builder->arena, struct reader);

		*reader = (struct reader){task, argument, region->pieces.items[i].readers};
		region->pieces.items[i].readers = reader;
		builder->pairs++;
		start = region->pieces.items[i].end;
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

static struct region *region_of(struct builder *builder, const struct sk_argument *argument)
{
	if (argument->kind != SK_ARGUMENT_STATE)
		return &builder->tensors[argument->tensor];
	while (builder->states.count <= argument->value)
		sk_array_push(builder->arena, &builder->states, (struct region){0});
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
	const struct region *region = region_of(builder, argument);
	bool write = sk_argument_access(argument) & SK_ACCESS_WRITE;

	for (size_t i = find_piece(region, start_of(argument)); i < region->pieces.count; i++) {
		const struct piece *piece = &region->pieces.items[i];

		if (piece->start >= end_of(argument))
			break;
		if (write && piece->readers) {
			for (const struct reader *reader = piece->readers; reader; reader = reader->next) {
				add_conflict(builder, reader->task, reader->argument, number, first);
				builder->pairs++;
			}
		} else if (piece->writer != SK_NONE) {
			add_conflict(builder, piece->writer, piece->writer_argument, number, first);
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
			record_read(builder, region_of(builder, argument), start_of(argument), end_of(argument), number,
				    a);
	}
	for (uint32_t a = 0; a < task->argument_count; a++) {
		const struct sk_argument *argument = &task->arguments[a];
		struct piece written = {start_of(argument), end_of(argument), number, a, NULL};

		if (sk_argument_access(argument) & SK_ACCESS_WRITE && written.start < written.end)
			record_write(builder, region_of(builder, argument), written);
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
		.tensors = SK_NEW_ARRAY(arena, struct region, model->tensors.count),
		.last_conflict = SK_NEW_ARRAY(arena, uint32_t, count),
	};

	dependencies->first_conflict = SK_NEW_ARRAY(arena, uint32_t, count + 1);
	dependencies->first_recorder = SK_NEW_ARRAY(arena, uint32_t, count + 1);
	dependencies->previous = SK_NEW_ARRAY(arena, uint32_t, count);
	dependencies->stream = SK_NEW_ARRAY(arena, uint32_t, count);
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
	number_streams(&builder, dependencies);
	return resolve_events(&builder, dependencies) ? dependencies : NULL;
}
