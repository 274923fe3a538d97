/* The maps of planning.h: for each root tensor and each hidden state, the boxes of bytes with the same past. A past is
 * the last writer and the readers since. It never changes, so boxes share it after a cut. A task adds a new past that
 * refers to it.
 *
 * A tensor that is accessed in rows has a map for each of their strides; at most seven, since a tensor has no more
 * dimensions to cut. Accesses to a single row are in all of its maps. So a map is exact: rows of one stride conflict if
 * they share a byte, and a write replaces all pasts of the bytes that it surely writes. Rows of other strides are in a
 * list next to each map, and each access is compared with those that share no map with it. So a few rows of another
 * stride cost little, even with many of the first one.
 *
 * An access that depends on sizes is in the maps with all bytes that it can touch. A write of such bytes replaces only
 * a write of the same bytes at all sizes that no task has read together with others. It otherwise stands beside the
 * past, which then counts as well. */
#include "src/planning/planning-parts.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/ranges.h"
#include "base/sizes.h"
#include "format/skdims.h"
#include "format/skplan.h"
#include "format/skrows.h"
#include "src/model/model.h"
#include "src/planning/planning.h"

/* Limit of compared pairs of accesses to common bytes: about 300 MB of them are kept. */
#define MOST_PAIRS (UINT64_C(1) << 23)

enum { NO_PAST }; /* the first one: the bytes have not been accessed */

struct past {
	uint32_t writer, writer_argument; /* writer SK_NONE: not written yet */
	uint32_t reader, reader_argument; /* reader SK_NONE: not read since */
	uint32_t before; /* with a reader: the past before this read */
	uint32_t beside; /* a past that the writer does not replace at all sizes; NO_PAST: there is none */
	bool sized; /* a reader or a writer depends on sizes */
};

/* An access in rows, kept for comparison with rows of other strides. */
struct strided {
	struct sk_rows rows;
	uint32_t task, argument;
	bool write;
};

/* All single rows, and the rows of one stride. */
struct map {
	struct sk_boxes boxes;
	SK_ARRAY(struct strided) strided; /* with several maps: those since all of them were last overwritten */
	uint64_t low, high; /* the range of all `strided` */
};

/* A tensor or a hidden state. */
struct memory {
	SK_ARRAY(struct map) maps; /* one per stride; a tensor without rows has one without a stride */
};

struct builder {
	struct sk_model *model;
	struct sk_arena *arena;
	SK_ARRAY(struct past) pasts; /* values of the boxes */
	struct memory *tensors;
	SK_ARRAY(struct memory) states; /* hidden states, by number */
	SK_ARRAY(struct sk_conflict) conflicts;
	SK_ARRAY(uint32_t) recorders;
	uint32_t *last_conflict; /* by task: number of the last conflict with it + 1, to skip repetitions */
	uint32_t task; /* that is visited */
	uint64_t pairs;
};

enum sk_access sk_argument_access(const struct sk_argument *argument)
{
	switch (argument->kind) {
	case SK_ARGUMENT_POINTER:
		return argument->size ? argument->access : SK_ACCESS_NONE;
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

/* ---- the maps ---- */

static struct memory *memory_of(struct builder *builder, const struct sk_argument *argument)
{
	if (argument->kind != SK_ARGUMENT_STATE)
		return &builder->tensors[argument->tensor];
	while (builder->states.count <= argument->value)
		sk_array_push(builder->arena, &builder->states, (struct memory){0});
	return &builder->states.items[argument->value];
}

/* Return the form of a field of the argument or of its pattern. */
static const struct sk_size *size_of(const struct sk_model *model, const struct sk_argument *argument,
				     enum sk_dims_table table, size_t offset, uint64_t number)
{
	const struct sk_size *size = sk_varying_find(argument->varying, table, offset);

	return size ? size : sk_size_number(model->sizes, (int64_t)number);
}

static const struct sk_size *start_size(const struct sk_model *model, const struct sk_argument *argument)
{
	return size_of(model, argument, SK_DIMS_LISTS, offsetof(struct sk_plan_argument, offset), argument->offset);
}

static const struct sk_size *end_size(const struct sk_model *model, const struct sk_argument *argument)
{
	return sk_size_add(model->sizes, start_size(model, argument),
			   size_of(model, argument, SK_DIMS_LISTS, offsetof(struct sk_plan_argument, size),
				   argument->size));
}

/* Return all bytes that the argument can touch: rows at a distance that is a number, or else a single row. */
static struct sk_rows rows_of(const struct sk_model *model, const struct sk_argument *argument)
{
	const struct sk_varying *varying = argument->varying;
	uint64_t start;

	if (argument->kind == SK_ARGUMENT_STATE)
		return (struct sk_rows){0, 1, 0, 1};
	if (!sk_varying_find(varying, SK_DIMS_LISTS, offsetof(struct sk_plan_argument, offset)) &&
	    !sk_varying_find(varying, SK_DIMS_PATTERNS, offsetof(struct sk_plan_pattern, stride)))
		return sk_argument_rows(argument);
	start = (uint64_t)sk_size_least(start_size(model, argument));
	return (struct sk_rows){start, argument->offset + argument->size - start, 0, 1};
}

/* True if both touch the same bytes at all sizes. */
static bool is_same(const struct sk_model *model, const struct sk_argument *one, const struct sk_argument *other)
{
	return sk_argument_rows(one).count == 1 && sk_argument_rows(other).count == 1 &&
	       start_size(model, one) == start_size(model, other) && end_size(model, one) == end_size(model, other);
}

/* True if the one, a single row, certainly touches all bytes of the other. */
static bool contains(const struct sk_model *model, const struct sk_argument *one, const struct sk_argument *other)
{
	return sk_size_at_most(sk_size_compare(model->sizes, start_size(model, one), start_size(model, other))) &&
	       sk_size_at_most(sk_size_compare(model->sizes, end_size(model, other), end_size(model, one)));
}

/* True if one certainly ends before the other begins. */
static bool is_apart(const struct sk_model *model, const struct sk_argument *one, const struct sk_argument *other)
{
	return (one->varying || other->varying) &&
	       (sk_size_at_most(sk_size_compare(model->sizes, end_size(model, one), start_size(model, other))) ||
		sk_size_at_most(sk_size_compare(model->sizes, end_size(model, other), start_size(model, one))));
}

static void add_map(struct builder *builder, const struct sk_argument *argument)
{
	struct memory *memory = memory_of(builder, argument);
	struct sk_rows rows = rows_of(builder->model, argument);

	if (memory->maps.count == 0)
		sk_array_push(builder->arena, &memory->maps, (struct map){.boxes.stride = rows.stride});
	if (rows.count == 1)
		return;
	if (!memory->maps.items[0].boxes.stride)
		memory->maps.items[0].boxes.stride = rows.stride;
	for (size_t i = 0; i < memory->maps.count; i++)
		if (memory->maps.items[i].boxes.stride == rows.stride)
			return;
	sk_array_push(builder->arena, &memory->maps, (struct map){.boxes.stride = rows.stride});
}

/* Make the maps before the first task, since a single row is in the maps of all strides, also those of later tasks. */
static void make_maps(struct builder *builder)
{
	for (size_t t = 0; t < builder->model->tasks.count; t++) {
		const struct sk_task *task = &builder->model->tasks.items[t];

		for (uint32_t a = 0; a < task->bound.argument_count; a++)
			if (sk_argument_access(&task->bound.arguments[a]))
				add_map(builder, &task->bound.arguments[a]);
	}
}

static bool is_in(const struct sk_boxes *map, const struct sk_rows *rows)
{
	return rows->count == 1 || rows->stride == map->stride;
}

/* Call visit for each box of the argument's rows, in each map that contains them. */
static void for_each_area(struct builder *builder, const struct sk_argument *argument,
			  void (*visit)(struct builder *builder, struct sk_boxes *map, struct sk_box *area,
					void *context),
			  void *context)
{
	struct memory *memory = memory_of(builder, argument);
	struct sk_rows rows = rows_of(builder->model, argument);
	struct sk_box areas[SK_MAX_AREAS];

	for (size_t i = 0; i < memory->maps.count; i++) {
		struct sk_boxes *map = &memory->maps.items[i].boxes;

		if (!is_in(map, &rows))
			continue;
		uint32_t count = sk_boxes_of_rows(map, rows.start, rows.width, rows.stride, rows.count, areas);

		for (uint32_t area = 0; area < count; area++)
			visit(builder, map, &areas[area], context);
	}
}

static uint32_t add_past(struct builder *builder, struct past past)
{
	sk_array_push(builder->arena, &builder->pasts, past);
	return (uint32_t)builder->pasts.count - 1;
}

/* An access that is being added to the maps. */
struct visitor {
	uint32_t task, argument;
	bool write;
	size_t first; /* the first conflict of the task */
};

static const struct sk_argument *argument_of(const struct builder *builder, uint32_t task, uint32_t argument)
{
	return &builder->model->tasks.items[task].bound.arguments[argument];
}

/* True if the write touches the bytes of the past's writer, and all bytes of its readers, at all sizes. */
static bool replaces(const struct builder *builder, const struct sk_argument *write, const struct past *past)
{
	const struct sk_model *model = builder->model;

	if (past->writer == SK_NONE ||
	    !is_same(model, write, argument_of(builder, past->writer, past->writer_argument)))
		return false;
	for (; past->reader != SK_NONE; past = &builder->pasts.items[past->before])
		if (!contains(model, write, argument_of(builder, past->reader, past->reader_argument)))
			return false;
	return true;
}

static void record_sized_write(struct builder *builder, struct sk_boxes *map, struct sk_box *area,
			       const struct visitor *visitor)
{
	const struct sk_argument *argument = argument_of(builder, visitor->task, visitor->argument);
	size_t count = sk_boxes_cut(builder->arena, map, area);

	for (size_t i = 0; i < count; i++) {
		struct sk_box *box = sk_boxes_at(map, i);
		const struct past *past = &builder->pasts.items[box->value];
		bool replaced = replaces(builder, argument, past);

		box->value = add_past(builder, (struct past){.writer = visitor->task,
							     .writer_argument = visitor->argument,
							     .reader = SK_NONE,
							     .reader_argument = SK_NONE,
							     .beside = replaced ? past->beside : box->value,
							     .sized = true});
	}
	builder->pairs += count;
}

static void record_write(struct builder *builder, struct sk_boxes *map, struct sk_box *area, void *context)
{
	const struct visitor *visitor = context;

	if (argument_of(builder, visitor->task, visitor->argument)->varying) {
		record_sized_write(builder, map, area, visitor);
		return;
	}
	area->value = add_past(builder, (struct past){.writer = visitor->task,
						      .writer_argument = visitor->argument,
						      .reader = SK_NONE,
						      .reader_argument = SK_NONE});
	sk_boxes_fill(builder->arena, map, area);
}

static void record_read(struct builder *builder, struct sk_boxes *map, struct sk_box *area, void *context)
{
	const struct visitor *visitor = context;
	size_t count = sk_boxes_cut(builder->arena, map, area);

	for (size_t i = 0; i < count; i++) {
		struct sk_box *box = sk_boxes_at(map, i);
		struct past past = builder->pasts.items[box->value];

		past.reader = visitor->task;
		past.reader_argument = visitor->argument;
		past.before = box->value;
		past.sized |= argument_of(builder, visitor->task, visitor->argument)->varying != NULL;
		box->value = add_past(builder, past);
	}
	builder->pairs += count;
}

static void note_rows(struct builder *builder, struct map *map, const struct sk_rows *rows,
		      const struct visitor *visitor)
{
	bool first = map->strided.count == 0;

	map->low = first || rows->start < map->low ? rows->start : map->low;
	map->high = first || sk_rows_end(rows) > map->high ? sk_rows_end(rows) : map->high;
	sk_array_push(builder->arena, &map->strided,
		      (struct strided){*rows, visitor->task, visitor->argument, visitor->write});
}

/* Store rows for comparison with rows of other strides. A write that covers all stored rows implies them. */
static void record_rows(struct builder *builder, const struct sk_argument *argument, const struct visitor *visitor)
{
	struct memory *memory = memory_of(builder, argument);
	struct sk_rows rows = rows_of(builder->model, argument);

	for (size_t i = 0; memory->maps.count > 1 && i < memory->maps.count; i++) {
		struct map *map = &memory->maps.items[i];

		if (rows.count > 1 && rows.stride == map->boxes.stride)
			note_rows(builder, map, &rows, visitor);
		if (rows.count == 1 && visitor->write && rows.start <= map->low && sk_rows_end(&rows) >= map->high)
			map->strided.count = 0;
	}
}

/* ---- conflicts ---- */

static void add_conflict(struct builder *builder, uint32_t task, uint32_t earlier, uint32_t later, size_t first)
{
	uint32_t last = builder->last_conflict[task];

	if (is_apart(builder->model, argument_of(builder, task, earlier), argument_of(builder, builder->task, later)))
		return;
	if (last > first) {
		const struct sk_conflict *known = &builder->conflicts.items[last - 1];

		if (known->earlier == earlier && known->later == later)
			return;
	}
	sk_array_push(builder->arena, &builder->conflicts, (struct sk_conflict){task, earlier, later});
	builder->last_conflict[task] = (uint32_t)builder->conflicts.count;
}

/* Readers come between two writes: if there are any, they imply the conflict with the writer before them, unless a
 * reader touches the bytes at some sizes only. Return the past beside this one. */
static uint32_t collect_from(struct builder *builder, uint32_t number, const struct visitor *visitor)
{
	const struct past *past = &builder->pasts.items[number];

	if (past->writer != SK_NONE && (!visitor->write || past->reader == SK_NONE || past->sized))
		add_conflict(builder, past->writer, past->writer_argument, visitor->argument, visitor->first);
	for (; visitor->write && past->reader != SK_NONE; past = &builder->pasts.items[past->before]) {
		add_conflict(builder, past->reader, past->reader_argument, visitor->argument, visitor->first);
		builder->pairs++;
	}
	return past->beside;
}

static void collect_conflicts(struct builder *builder, struct sk_boxes *map, struct sk_box *area, void *context)
{
	size_t count = sk_boxes_find(builder->arena, map, area);

	for (size_t i = 0; i < count; i++) {
		uint32_t past = collect_from(builder, sk_boxes_at(map, i)->value, context);

		for (; past != NO_PAST; builder->pairs++)
			past = collect_from(builder, past, context);
	}
}

static void compare_with_map(struct builder *builder, const struct map *map, const struct sk_rows *rows,
			     const struct visitor *visitor)
{
	if (rows->start >= map->high || sk_rows_end(rows) <= map->low)
		return;
	for (size_t i = 0; i < map->strided.count; i++) {
		const struct strided *strided = &map->strided.items[i];

		builder->pairs++;
		if ((visitor->write || strided->write) && sk_rows_overlap(&strided->rows, rows))
			add_conflict(builder, strided->task, strided->argument, visitor->argument, visitor->first);
	}
}

/* Compare with rows of other strides. They are in none of the maps that contain these rows. */
static void compare_rows(struct builder *builder, const struct sk_argument *argument, const struct visitor *visitor)
{
	const struct memory *memory = memory_of(builder, argument);
	struct sk_rows rows = rows_of(builder->model, argument);

	for (size_t i = 0; rows.count > 1 && i < memory->maps.count; i++)
		if (memory->maps.items[i].boxes.stride != rows.stride)
			compare_with_map(builder, &memory->maps.items[i], &rows, visitor);
}

/* All arguments are compared before any is recorded, and reads are recorded before writes. So a task has no conflict
 * with itself, and counts as the writer of bytes that it both reads and writes. */
static void visit_task(struct builder *builder, uint32_t number)
{
	const struct sk_task *task = &builder->model->tasks.items[number];
	struct visitor visitor = {.task = number, .first = builder->conflicts.count};

	builder->task = number;
	for (visitor.argument = 0; visitor.argument < task->bound.argument_count; visitor.argument++) {
		const struct sk_argument *argument = &task->bound.arguments[visitor.argument];

		visitor.write = sk_argument_access(argument) & SK_ACCESS_WRITE;
		if (!sk_argument_access(argument))
			continue;
		for_each_area(builder, argument, collect_conflicts, &visitor);
		compare_rows(builder, argument, &visitor);
	}
	for (int write = 0; write <= 1; write++)
		for (visitor.argument = 0; visitor.argument < task->bound.argument_count; visitor.argument++) {
			const struct sk_argument *argument = &task->bound.arguments[visitor.argument];
			enum sk_access access = sk_argument_access(argument);

			visitor.write = access & SK_ACCESS_WRITE;
			if (!access || visitor.write != write)
				continue;
			for_each_area(builder, argument, write ? record_write : record_read, &visitor);
			record_rows(builder, argument, &visitor);
		}
}

/* ---- streams and events ---- */

static int compare_numbers(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return (left > right) - (left < right);
}

/* Remove numbers that are equal to the preceding one, and return how many remain. */
static uint32_t drop_repeated(uint32_t *numbers, uint32_t count)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < count; i++)
		if (i == 0 || numbers[i] != numbers[kept - 1])
			numbers[kept++] = numbers[i];
	return kept;
}

/* Stream numbers are the user's own and may be far apart: sort them, then number them by rank. Adjacent tasks are often
 * of one stream. */
static void number_streams(struct builder *builder, struct sk_dependencies *dependencies)
{
	const struct sk_model *model = builder->model;
	uint32_t *streams = SK_NEW_ARRAY(builder->arena, uint32_t, model->tasks.count);
	uint32_t count;

	for (size_t t = 0; t < model->tasks.count; t++)
		streams[t] = model->tasks.items[t].said.stream;
	count = drop_repeated(streams, (uint32_t)model->tasks.count);
	qsort(streams, count, sizeof(*streams), compare_numbers);
	count = drop_repeated(streams, count);

	uint32_t *last = SK_NEW_ARRAY(builder->arena, uint32_t, count);

	for (uint32_t i = 0; i < count; i++)
		last[i] = SK_NONE;
	dependencies->stream_count = count;
	for (size_t t = 0; t < model->tasks.count; t++) {
		const uint32_t *found =
			bsearch(&model->tasks.items[t].said.stream, streams, count, sizeof(*streams), compare_numbers);
		uint32_t stream = (uint32_t)(found - streams);

		dependencies->stream[t] = stream;
		dependencies->previous[t] = last[stream];
		last[stream] = (uint32_t)t;
	}
}

/* A wait refers to the latest earlier record of its event. */
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
		for (size_t i = 0; i < task->said.wait.count; i++) {
			uint32_t event = task->said.wait.items[i];

			if (recorder[event] != SK_NONE) {
				sk_array_push(builder->arena, &builder->recorders, recorder[event]);
				continue;
			}
			sk_error(model->diag, task->place,
				 "task '%s' waits for event '%s', which no earlier task records", task->name,
				 model->events.items[event].name);
			good = false;
		}
		for (size_t i = 0; i < task->said.record.count; i++)
			recorder[task->said.record.items[i]] = (uint32_t)t;
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
		.tensors = SK_NEW_ARRAY(arena, struct memory, model->tensors.count),
		.last_conflict = SK_NEW_ARRAY(arena, uint32_t, count),
	};

	dependencies->first_conflict = SK_NEW_ARRAY(arena, uint32_t, count + 1);
	dependencies->first_recorder = SK_NEW_ARRAY(arena, uint32_t, count + 1);
	dependencies->previous = SK_NEW_ARRAY(arena, uint32_t, count);
	dependencies->stream = SK_NEW_ARRAY(arena, uint32_t, count);
	add_past(&builder, (struct past){SK_NONE, SK_NONE, SK_NONE, SK_NONE, NO_PAST, NO_PAST, false});
	make_maps(&builder);
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
		for (size_t m = 0; m < builder.tensors[i].maps.count; m++)
			dependencies->steps += builder.tensors[i].maps.items[m].boxes.steps;
	dependencies->steps += builder.pairs;
	number_streams(&builder, dependencies);
	return resolve_events(&builder, dependencies) ? dependencies : NULL;
}
