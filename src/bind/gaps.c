/* See bind-parts.h. For each tensor a map stores the bytes that have been written, with the argument that wrote them
 * until they are read. Bytes that have been read only count as written, so that they are one box that is not visited
 * again in parts. A tensor that is accessed in rows has a map for each of their strides: single rows are in all of
 * them, others in that of their stride. So the bytes in each map have surely been written, and a read has no gap if one
 * of the maps contains all of its bytes. */
#include "src/bind/bind-parts.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/ranges.h"
#include "format/skplan.h"
#include "format/skrows.h"
#include "src/model/model.h"

/* From FIRST_STORE on, the value is the number of the store that wrote the bytes, which have not been read. */
enum { UNWRITTEN, WRITTEN, FIRST_STORE };

struct store {
	uint32_t task, argument;
	uint64_t left; /* bytes that have not been overwritten unread */
};

typedef SK_ARRAY(struct sk_boxes) maps_of_tensor; /* one per stride; a tensor without rows has one without a stride */

struct finder {
	const struct sk_model *model;
	struct sk_arena *arena;
	maps_of_tensor *maps; /* by tensor; none for views and for tensors with given contents */
	SK_ARRAY(struct store) stores;
	struct sk_gaps gaps;
};

/* Contents from outside have no gaps. A role that is not declared follows from the tasks, and is not known yet. */
static bool is_given(const struct sk_tensor *tensor)
{
	return tensor->role == SK_ROLE_INPUT || tensor->role == SK_ROLE_INOUT || tensor->role == SK_ROLE_CONSTANT;
}

/* Return whether the argument has bytes that may have gaps. */
static bool is_followed(const struct finder *finder, const struct sk_argument *argument)
{
	return argument->access && argument->tensor != SK_NONE && argument->size &&
	       !is_given(&finder->model->tensors.items[argument->tensor]);
}

static bool is_in(const struct sk_boxes *map, const struct sk_rows *rows)
{
	return rows->count == 1 || rows->stride == map->stride;
}

/* ---- maps ---- */

static void add_map(struct finder *finder, const struct sk_argument *argument)
{
	maps_of_tensor *maps = &finder->maps[argument->tensor];
	struct sk_rows rows = sk_argument_rows(argument);

	if (rows.count > 1 && !maps->items[0].stride)
		maps->items[0].stride = rows.stride;
	for (size_t i = 0; i < maps->count; i++)
		if (is_in(&maps->items[i], &rows))
			return;
	sk_array_push(finder->arena, maps, (struct sk_boxes){.stride = rows.stride});
}

static void make_maps(struct finder *finder)
{
	const struct sk_model *model = finder->model;

	finder->maps = SK_NEW_ARRAY(finder->arena, maps_of_tensor, model->tensors.count);
	for (size_t i = 0; i < model->tensors.count; i++)
		if (model->tensors.items[i].view_of == SK_NONE && !is_given(&model->tensors.items[i]))
			sk_array_push(finder->arena, &finder->maps[i], (struct sk_boxes){.stride = 0});
	for (size_t t = 0; t < model->tasks.count; t++) {
		const struct sk_task *task = &model->tasks.items[t];

		for (uint32_t a = 0; a < task->bound.argument_count; a++)
			if (is_followed(finder, &task->bound.arguments[a]))
				add_map(finder, &task->bound.arguments[a]);
	}
}

static struct store *store_of(const struct finder *finder, const struct sk_box *box)
{
	return box->value < FIRST_STORE ? NULL : &finder->stores.items[box->value - FIRST_STORE];
}

static struct sk_box common_of(const struct sk_box *box, const struct sk_box *area)
{
	return (struct sk_box){.left = box->left > area->left ? box->left : area->left,
			       .right = box->right < area->right ? box->right : area->right,
			       .top = box->top > area->top ? box->top : area->top,
			       .bottom = box->bottom < area->bottom ? box->bottom : area->bottom};
}

/* Account for a task that will write an area of the tensor's only map. */
static void overwrite(struct finder *finder, struct sk_boxes *map, const struct sk_box *area, uint32_t task)
{
	size_t found = sk_boxes_find(finder->arena, map, area);

	for (size_t i = 0; i < found; i++) {
		const struct sk_box *box = sk_boxes_at(map, i), common = common_of(box, area);
		struct store *store = store_of(finder, box);

		if (!store)
			continue;
		store->left -= (common.right - common.left) * (common.bottom - common.top);
		if (!store->left)
			sk_array_push(finder->arena, &finder->gaps.stores,
				      (struct sk_dead_store){store->task, store->argument, task});
	}
}

/* Write the rows; task: the writer, or SK_NONE. */
static void write_bytes(struct finder *finder, uint32_t tensor, const struct sk_rows *rows, uint32_t value,
			uint32_t task)
{
	maps_of_tensor *maps = &finder->maps[tensor];
	struct sk_box areas[SK_MAX_AREAS];

	for (size_t i = 0; i < maps->count; i++) {
		struct sk_boxes *map = &maps->items[i];

		if (!is_in(map, rows))
			continue;
		uint32_t count = sk_boxes_of_rows(map, rows->start, rows->width, rows->stride, rows->count, areas);

		for (uint32_t a = 0; a < count; a++) {
			if (value >= FIRST_STORE)
				overwrite(finder, map, &areas[a], task);
			areas[a].value = value;
			sk_boxes_fill(finder->arena, map, &areas[a]);
		}
	}
}

/* ---- reads ---- */

static void note_gap(struct finder *finder, const struct sk_gap *bytes, const struct sk_boxes *map,
		     const struct sk_box *box, const struct sk_box *area)
{
	struct sk_box common = common_of(box, area);
	struct sk_gap gap = *bytes;

	gap.low = common.top * map->stride + common.left;
	gap.high = (common.bottom - 1) * map->stride + common.right;
	if (gap.task != SK_NONE)
		sk_array_push(finder->arena, &finder->gaps.reads, gap);
	else
		sk_array_push(finder->arena, &finder->gaps.ends, gap);
}

/* Return whether the map contains all of the rows; noted: also record the bytes that it lacks. */
static bool look_at(struct finder *finder, struct sk_boxes *map, const struct sk_rows *rows, const struct sk_gap *noted)
{
	struct sk_box areas[SK_MAX_AREAS];
	uint32_t count = sk_boxes_of_rows(map, rows->start, rows->width, rows->stride, rows->count, areas);
	bool written = true;

	for (uint32_t a = 0; a < count; a++) {
		size_t found = sk_boxes_find(finder->arena, map, &areas[a]);

		for (size_t i = 0; i < found; i++) {
			const struct sk_box *box = sk_boxes_at(map, i);

			if (box->value != UNWRITTEN)
				continue;
			written = false;
			if (noted)
				note_gap(finder, noted, map, box, &areas[a]);
		}
	}
	return written;
}

static int compare_gaps(const void *a, const void *b)
{
	const struct sk_gap *one = a, *other = b;

	return (one->low > other->low) - (one->low < other->low);
}

/* The rows' boxes are not found in the order of their addresses. */
static void sort_gaps(struct sk_gap *gaps, size_t first, size_t end)
{
	if (end - first > 1)
		qsort(&gaps[first], end - first, sizeof(*gaps), compare_gaps);
}

/* Record the unwritten bytes of the rows, and count them as written from here on, so that they are reported once. */
static void read_bytes(struct finder *finder, const struct sk_gap *bytes, const struct sk_rows *rows)
{
	maps_of_tensor *maps = &finder->maps[bytes->tensor];
	size_t reads = finder->gaps.reads.count, ends = finder->gaps.ends.count;
	struct sk_boxes *own = NULL;
	bool written = false;

	for (size_t i = 0; i < maps->count && !written; i++) {
		if (!own && is_in(&maps->items[i], rows))
			own = &maps->items[i];
		written = maps->count > 1 && look_at(finder, &maps->items[i], rows, NULL);
	}
	if (!written)
		look_at(finder, own, rows, bytes);
	sort_gaps(finder->gaps.reads.items, reads, finder->gaps.reads.count);
	sort_gaps(finder->gaps.ends.items, ends, finder->gaps.ends.count);
	write_bytes(finder, bytes->tensor, rows, WRITTEN, SK_NONE);
}

/* If the tensor has several maps, its stores are not followed. */
static void write_argument(struct finder *finder, uint32_t task, uint32_t number)
{
	const struct sk_argument *argument = &finder->model->tasks.items[task].bound.arguments[number];
	struct sk_rows rows = sk_argument_rows(argument);
	bool followed = finder->maps[argument->tensor].count == 1;
	uint32_t value = followed ? FIRST_STORE + (uint32_t)finder->stores.count : WRITTEN;

	if (followed)
		sk_array_push(finder->arena, &finder->stores, (struct store){task, number, rows.width * rows.count});
	write_bytes(finder, argument->tensor, &rows, value, task);
}

/* ---- the network ---- */

/* A task reads all its arguments before it writes one. */
static void run_task(struct finder *finder, uint32_t number)
{
	const struct sk_task *task = &finder->model->tasks.items[number];

	for (uint32_t a = 0; a < task->bound.argument_count; a++) {
		const struct sk_argument *argument = &task->bound.arguments[a];
		struct sk_rows rows;

		if (!(argument->access & SK_ACCESS_READ) || !is_followed(finder, argument))
			continue;
		rows = sk_argument_rows(argument);
		read_bytes(finder, &(struct sk_gap){.tensor = argument->tensor, .task = number, .argument = a}, &rows);
	}
	for (uint32_t a = 0; a < task->bound.argument_count; a++) {
		const struct sk_argument *argument = &task->bound.arguments[a];

		if (argument->access & SK_ACCESS_WRITE && is_followed(finder, argument))
			write_argument(finder, number, a);
	}
}

struct sk_gaps sk_gaps_find(const struct sk_model *model)
{
	struct finder finder = {.model = model, .arena = model->arena};

	make_maps(&finder);
	for (uint32_t t = 0; t < model->tasks.count; t++)
		run_task(&finder, t);
	for (uint32_t i = 0; i < model->tensors.count; i++) {
		const struct sk_tensor *tensor = &model->tensors.items[i];
		struct sk_rows whole = {0, tensor->bytes, 0, 1};

		if (tensor->view_of == SK_NONE && whole.width && !is_given(tensor))
			read_bytes(&finder, &(struct sk_gap){.tensor = i, .task = SK_NONE, .argument = SK_NONE},
				   &whole);
	}
	for (size_t i = 0; i < model->tensors.count; i++)
		for (size_t m = 0; m < finder.maps[i].count; m++)
			finder.gaps.steps += finder.maps[i].items[m].steps;
	return finder.gaps;
}
