/* See gaps.h. All borders between accesses are known before the first task is looked at. They cut each tensor into
 * pieces, and a piece is written whole or not at all. Written pieces are taken out of the list of those that are not
 * (disjoint sets: Tarjan, 1975), so that nobody steps over one of them twice. */
#include "src/bind/gaps.h"

#include <stdlib.h>

#include "src/model/task.h"

/* The pieces of one tensor: number i reaches from borders[i] to borders[i + 1]. */
struct pieces {
	uint64_t *borders; /* ascending */
	uint32_t *next; /* a piece not in front of this one; its own number if the piece has not been written */
	uint32_t count; /* of pieces, with an empty one behind the end, which is never written */
};

struct finder {
	const struct sk_model *model;
	struct pieces *pieces; /* by tensor; none of views */
	struct sk_gaps gaps;
};

static bool has_address(const struct sk_argument *argument)
{
	return argument->access && argument->tensor != SK_NONE;
}

/* ---- borders ---- */

typedef void (*visit_border)(struct pieces *pieces, uint64_t offset);

static void count_border(struct pieces *pieces, uint64_t offset)
{
	(void)offset;
	pieces->count++;
}

static void add_border(struct pieces *pieces, uint64_t offset)
{
	pieces->borders[pieces->count++] = offset;
}

/* Most arguments are whole tensors and add nothing to the two borders that each tensor has. */
static void visit_borders(const struct finder *finder, visit_border visit)
{
	const struct sk_model *model = finder->model;

	for (size_t t = 0; t < model->tasks.count; t++) {
		const struct sk_task *task = &model->tasks.items[t];

		for (uint32_t a = 0; a < task->argument_count; a++) {
			const struct sk_argument *argument = &task->arguments[a];
			uint64_t end = argument->offset + argument->size;

			if (!has_address(argument))
				continue;
			if (argument->offset)
				visit(&finder->pieces[argument->tensor], argument->offset);
			if (end < model->tensors.items[argument->tensor].bytes)
				visit(&finder->pieces[argument->tensor], end);
		}
	}
}

static int compare_borders(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

static void sort_borders(struct sk_arena *arena, struct pieces *pieces)
{
	uint32_t count = 0;

	qsort(pieces->borders, pieces->count, sizeof(*pieces->borders), compare_borders);
	for (uint32_t i = 0; i < pieces->count; i++)
		if (i == 0 || pieces->borders[i] != pieces->borders[count - 1])
			pieces->borders[count++] = pieces->borders[i];
	pieces->count = count;
	pieces->next = SK_NEW_ARRAY(arena, uint32_t, count);
	for (uint32_t i = 0; i < count; i++)
		pieces->next[i] = i;
}

static void cut_tensors(struct finder *finder)
{
	const struct sk_model *model = finder->model;

	finder->pieces = SK_NEW_ARRAY(model->arena, struct pieces, model->tensors.count);
	visit_borders(finder, count_border);
	for (size_t i = 0; i < model->tensors.count; i++) {
		struct pieces *pieces = &finder->pieces[i];

		if (model->tensors.items[i].view_of != SK_NONE)
			continue;
		pieces->borders = SK_NEW_ARRAY(model->arena, uint64_t, pieces->count + 2);
		pieces->count = 0;
		add_border(pieces, 0);
		add_border(pieces, model->tensors.items[i].bytes);
	}
	visit_borders(finder, add_border);
	for (size_t i = 0; i < model->tensors.count; i++)
		if (model->tensors.items[i].view_of == SK_NONE)
			sort_borders(model->arena, &finder->pieces[i]);
}

/* ---- pieces ---- */

/* The first piece from this one on that has not been written. */
static uint32_t first_unwritten(const struct pieces *pieces, uint32_t piece)
{
	uint32_t *next = pieces->next;

	while (next[piece] != piece)
		piece = next[piece] = next[next[piece]];
	return piece;
}

/* The piece that begins there. */
static uint32_t find_piece(const struct pieces *pieces, uint64_t offset)
{
	const uint64_t *found =
		bsearch(&offset, pieces->borders, pieces->count, sizeof(*pieces->borders), compare_borders);

	return (uint32_t)(found - pieces->borders);
}

static void write_bytes(const struct pieces *pieces, uint64_t low, uint64_t high)
{
	uint32_t end = find_piece(pieces, high);

	for (uint32_t i = first_unwritten(pieces, find_piece(pieces, low)); i < end; i = first_unwritten(pieces, i))
		pieces->next[i] = i + 1;
}

/* Notes what has not been written of these bytes, and counts it as written from here on: it is said once. */
static void read_bytes(struct finder *finder, struct sk_gap bytes)
{
	const struct pieces *pieces = &finder->pieces[bytes.tensor];
	uint32_t end = find_piece(pieces, bytes.high);
	uint32_t i = first_unwritten(pieces, find_piece(pieces, bytes.low));

	while (i < end) {
		struct sk_gap gap = bytes;

		gap.low = pieces->borders[i];
		for (; i < end && pieces->next[i] == i; i++)
			pieces->next[i] = i + 1;
		gap.high = pieces->borders[i];
		if (gap.task != SK_NONE)
			sk_array_push(finder->model->arena, &finder->gaps.reads, gap);
		else
			sk_array_push(finder->model->arena, &finder->gaps.ends, gap);
		i = first_unwritten(pieces, i);
	}
}

/* ---- the network ---- */

/* A task reads all its arguments before it writes one. */
static void run_task(struct finder *finder, uint32_t number)
{
	const struct sk_task *task = &finder->model->tasks.items[number];

	for (uint32_t a = 0; a < task->argument_count; a++) {
		const struct sk_argument *argument = &task->arguments[a];
		uint64_t end = argument->offset + argument->size;

		if (has_address(argument) && argument->access & SK_ACCESS_READ)
			read_bytes(finder, (struct sk_gap){argument->tensor, number, a, argument->offset, end});
	}
	for (uint32_t a = 0; a < task->argument_count; a++) {
		const struct sk_argument *argument = &task->arguments[a];

		if (has_address(argument) && argument->access & SK_ACCESS_WRITE)
			write_bytes(&finder->pieces[argument->tensor], argument->offset,
				    argument->offset + argument->size);
	}
}

struct sk_gaps sk_gaps_find(const struct sk_model *model)
{
	struct finder finder = {.model = model};

	cut_tensors(&finder);
	for (uint32_t t = 0; t < model->tasks.count; t++)
		run_task(&finder, t);
	for (uint32_t i = 0; i < model->tensors.count; i++)
		if (model->tensors.items[i].view_of == SK_NONE)
			read_bytes(&finder, (struct sk_gap){i, SK_NONE, SK_NONE, 0, model->tensors.items[i].bytes});
	return finder.gaps;
}
