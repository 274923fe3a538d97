/* See bind.h. Tasks are visited in network order. So the tasks before an idle one, and the events that it waits for,
 * are not idle ones any more. The next task of its stream takes over its predecessors. In the orders of its successors,
 * the idle task is replaced by its predecessors and the preceding task of its stream. */
#include "src/bind/bind.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "src/model/model.h"

/* Limit of orders that are handed on, since a chain of idle tasks can have the square of its length. */
#define MOST_HANDED_ON (UINT64_C(1) << 23)

typedef SK_SMALL_ARRAY(uint32_t) numbers;

/* The predecessors that replace an idle task, or the events that replace its event. */
struct past {
	bool left; /* it was left out; otherwise it is not replaced */
	numbers tasks; /* by their new numbers */
	numbers events;
};

struct stream {
	uint32_t last; /* task, by its new number, or SK_NONE */
	numbers afters, waits; /* predecessors and events of the idle tasks after that one */
};

struct passer {
	struct sk_model *model;
	struct sk_arena *arena;
	struct past *tasks; /* by old number */
	struct past *events;
	uint32_t *new_numbers;
	struct sk_map stream_numbers;
	SK_ARRAY(struct stream) streams;
	uint64_t handed_on;
};

static void add_all(struct passer *passer, numbers *list, const numbers *more)
{
	passer->handed_on += list->count + more->count;
	for (size_t i = 0; i < more->count && passer->handed_on <= MOST_HANDED_ON; i++)
		sk_array_push(passer->arena, list, more->items[i]);
}

static int compare_numbers(const void *a, const void *b)
{
	uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;

	return (one > other) - (one < other);
}

/* Sort the numbers and remove repetitions. */
static void sort_and_join(numbers *list)
{
	uint32_t kept = 0;

	if (list->count)
		qsort(list->items, list->count, sizeof(uint32_t), compare_numbers);
	for (size_t i = 0; i < list->count; i++)
		if (!i || list->items[i] != list->items[i - 1])
			list->items[kept++] = list->items[i];
	list->count = kept;
}

static struct stream *stream_of(struct passer *passer, const struct sk_task_said *said)
{
	uint32_t number = sk_map_find(&passer->stream_numbers, (const char *)&said->stream, sizeof(said->stream));

	if (number == SK_NONE) {
		/* The map keeps a pointer to the key, and tasks move. */
		const char *key = sk_arena_copy(passer->arena, (const char *)&said->stream, sizeof(said->stream));

		number = (uint32_t)passer->streams.count;
		sk_map_insert(&passer->stream_numbers, key, sizeof(said->stream), number);
		sk_array_push(passer->arena, &passer->streams, (struct stream){.last = SK_NONE});
	}
	return &passer->streams.items[number];
}

/* Return the predecessors and events of the task, without idle tasks. */
static struct past find_past(struct passer *passer, const struct sk_task *task)
{
	struct past past = {.left = task->bound.idle};

	for (size_t i = 0; i < task->said.after.count; i++) {
		const struct past *of_task = &passer->tasks[task->said.after.items[i]];

		if (!of_task->left) {
			sk_array_push(passer->arena, &past.tasks, passer->new_numbers[task->said.after.items[i]]);
			continue;
		}
		add_all(passer, &past.tasks, &of_task->tasks);
		add_all(passer, &past.events, &of_task->events);
	}
	for (size_t i = 0; i < task->said.wait.count; i++) {
		const struct past *of_event = &passer->events[task->said.wait.items[i]];

		if (of_event->left)
			add_all(passer, &past.events, &of_event->events);
		else
			sk_array_push(passer->arena, &past.events, task->said.wait.items[i]);
	}
	return past;
}

/* Let each of the tasks that replace it record an event of the same name. */
static void hand_on_event(struct passer *passer, uint32_t number, const struct past *past)
{
	struct sk_model *model = passer->model;
	struct past *event = &passer->events[number];

	event->left = true;
	add_all(passer, &event->events, &past->events);
	for (size_t i = 0; i < past->tasks.count; i++) {
		uint32_t new = (uint32_t)model->events.count;

		sk_array_push(passer->arena, &model->tasks.items[past->tasks.items[i]].said.record, new);
		sk_array_push(passer->arena, &event->events, new);
		sk_array_push(passer->arena, &model->events,
			      (struct sk_event){.name = model->events.items[number].name});
	}
	passer->handed_on += past->tasks.count;
}

static void leave_out(struct passer *passer, uint32_t number, struct past *past)
{
	struct sk_task *task = &passer->model->tasks.items[number];
	struct stream *stream = stream_of(passer, &task->said);

	add_all(passer, &stream->afters, &past->tasks);
	add_all(passer, &stream->waits, &past->events);
	sort_and_join(&stream->afters);
	sort_and_join(&stream->waits);
	past->tasks.count = 0;
	add_all(passer, &past->tasks, &stream->afters);
	past->events.count = 0;
	add_all(passer, &past->events, &stream->waits);
	if (stream->last != SK_NONE)
		sk_array_push(passer->arena, &past->tasks, stream->last);
	sort_and_join(&past->tasks);
	for (size_t i = 0; i < task->said.record.count; i++)
		hand_on_event(passer, task->said.record.items[i], past);
	sk_array_push(passer->arena, &passer->model->idle, (struct sk_idle_task){task->name, task->place});
}

static void keep_task(struct passer *passer, uint32_t number, uint32_t new_number, struct past *past)
{
	struct sk_task *task = &passer->model->tasks.items[number];
	struct stream *stream = stream_of(passer, &task->said);

	add_all(passer, &past->tasks, &stream->afters);
	add_all(passer, &past->events, &stream->waits);
	sort_and_join(&past->tasks);
	sort_and_join(&past->events);
	stream->afters.count = stream->waits.count = 0;
	stream->last = new_number;
	task->said.after.items = past->tasks.items;
	task->said.after.count = past->tasks.count;
	task->said.after.capacity = past->tasks.capacity;
	task->said.wait.items = past->events.items;
	task->said.wait.count = past->events.count;
	task->said.wait.capacity = past->events.capacity;
	passer->new_numbers[number] = new_number;
	passer->model->tasks.items[new_number] = *task;
}

static bool has_idle(const struct sk_model *model)
{
	for (size_t t = 0; t < model->tasks.count; t++)
		if (model->tasks.items[t].bound.idle)
			return true;
	return false;
}

bool sk_model_leave_out_idle(struct sk_model *model)
{
	struct passer passer = {.model = model, .arena = model->arena};
	uint32_t count = 0;

	if (!has_idle(model))
		return true;
	passer.tasks = SK_NEW_ARRAY(model->arena, struct past, model->tasks.count);
	passer.events = SK_NEW_ARRAY(model->arena, struct past, model->events.count);
	passer.new_numbers = SK_NEW_ARRAY(model->arena, uint32_t, model->tasks.count);
	sk_map_init(&passer.stream_numbers, model->arena);
	for (uint32_t t = 0; t < model->tasks.count; t++) {
		passer.tasks[t] = find_past(&passer, &model->tasks.items[t]);
		if (model->tasks.items[t].bound.idle)
			leave_out(&passer, t, &passer.tasks[t]);
		else
			keep_task(&passer, t, count++, &passer.tasks[t]);
		if (passer.handed_on <= MOST_HANDED_ON)
			continue;
		sk_error(model->diag, model->tasks.items[t].place,
			 "tasks up to here that have nothing to compute stand between more than %" PRIu64 " pairs",
			 MOST_HANDED_ON);
		return false;
	}
	model->tasks.count = count;
	return true;
}
