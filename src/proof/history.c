/* See proof-parts.h. */
#include "src/proof/proof-parts.h"

#include "base/arena.h"
#include "base/ranges.h"
#include "format/skplan.h"
#include "format/skrows.h"

enum { UNTOUCHED }; /* index of the past of untouched bytes */

/* Lists of readers grow only at the head, so later pasts share the tails of earlier ones. */
struct reader {
	const struct reader *next;
	uint32_t access;
};

struct sk_history_past {
	uint32_t writer; /* SK_NO_INDEX: no writer so far */
	const struct reader *readers; /* since the writer */
	const struct reader *beside; /* since the writer: writes that touch the byte at some sizes only */
};

static uint32_t add_past(struct sk_history_pool *pool, struct sk_history_past past)
{
	sk_array_push(pool->arena, &pool->pasts, past);
	return (uint32_t)pool->pasts.count - 1;
}

void sk_history_pool_init(struct sk_history_pool *pool, struct sk_arena *arena, uint64_t looks)
{
	*pool = (struct sk_history_pool){.arena = arena, .looks_left = looks};
	add_past(pool, (struct sk_history_past){.writer = SK_NO_INDEX});
}

void sk_history_init(struct sk_history *history, struct sk_history_pool *pool)
{
	*history = (struct sk_history){.pool = pool};
	sk_array_push(pool->arena, &history->sheets, (struct sk_history_sheet){.boxes.stride = 0});
}

void sk_history_add_stride(struct sk_history *history, uint64_t stride)
{
	if (history->sheets.items[0].boxes.stride == 0)
		history->sheets.items[0].boxes.stride = stride;
	for (size_t i = 0; i < history->sheets.count; i++)
		if (history->sheets.items[i].boxes.stride == stride)
			return;
	sk_array_push(history->pool->arena, &history->sheets, (struct sk_history_sheet){.boxes.stride = stride});
}

/* The access being recorded. */
struct visit {
	struct sk_history *history;
	const struct sk_rows *rows;
	const struct sk_rows
		*core; /* bytes touched at every size; the rows themselves, or those within a core of them */
	uint32_t access;
	bool read, write;
	void (*conflict)(void *context, uint32_t earlier);
	void *context;
};

/* Count one examination; return false if none are left. */
static bool look(const struct visit *visit)
{
	uint64_t *left = &visit->history->pool->looks_left;

	*left -= *left != 0;
	return *left != 0;
}

static bool is_on(const struct visit *visit, const struct sk_boxes *sheet)
{
	return visit->rows->count == 1 || visit->rows->stride == sheet->stride;
}

static uint32_t areas_of(const struct sk_rows *rows, const struct sk_boxes *sheet, struct sk_box areas[SK_MAX_AREAS])
{
	return sk_boxes_of_rows(sheet, rows->start, rows->width, rows->stride, rows->count, areas);
}

/* ---- finding conflicts ---- */

static void meet_box(const struct visit *visit, const struct sk_box *box)
{
	const struct sk_history_past *past = &visit->history->pool->pasts.items[box->value];

	if (visit->write)
		for (const struct reader *reader = past->readers; reader && look(visit); reader = reader->next)
			visit->conflict(visit->context, reader->access);
	for (const struct reader *beside = past->beside; beside && look(visit); beside = beside->next)
		visit->conflict(visit->context, beside->access);
	if (past->writer != SK_NO_INDEX)
		visit->conflict(visit->context, past->writer);
}

/* Return true if all of its bytes on this sheet have been written. Report conflicts if the access belongs to the
 * sheet. */
static bool meet_sheet(const struct visit *visit, struct sk_boxes *sheet, bool conflicts)
{
	struct sk_history_pool *pool = visit->history->pool;
	struct sk_box areas[SK_MAX_AREAS];
	uint32_t count = areas_of(visit->rows, sheet, areas);
	bool written = true;

	for (uint32_t a = 0; a < count; a++) {
		size_t found = sk_boxes_find(pool->arena, sheet, &areas[a]);

		for (size_t i = 0; i < found && look(visit); i++) {
			const struct sk_box *box = sk_boxes_at(sheet, i);

			written &= pool->pasts.items[box->value].writer != SK_NO_INDEX;
			if (conflicts)
				meet_box(visit, box);
		}
	}
	return written;
}

/* Compare with rows of another stride. */
static void meet_rows(const struct visit *visit, const struct sk_history_sheet *sheet)
{
	if (sheet->rows.count == 0 || !sk_rows_overlap(&sheet->extent, visit->rows))
		return;
	for (size_t i = 0; i < sheet->rows.count && look(visit); i++) {
		const struct sk_history_rows *other = &sheet->rows.items[i];

		if ((visit->write || other->write) && sk_rows_overlap(&other->rows, visit->rows))
			visit->conflict(visit->context, other->access);
	}
}

/* ---- recording the access ---- */

/* Add the access to those that touch the bytes: as a reader, or as a write that replaces none of them. */
static void leave_beside(const struct visit *visit, struct sk_boxes *sheet, const struct sk_box *area)
{
	struct sk_history_pool *pool = visit->history->pool;
	size_t count = sk_boxes_cut(pool->arena, sheet, area);

	for (size_t i = 0; i < count; i++) {
		struct sk_box *box = sk_boxes_at(sheet, i);
		struct sk_history_past past = pool->pasts.items[box->value];
		const struct reader **list = visit->write ? &past.beside : &past.readers;
		struct reader *reader = SK_NEW(pool->arena, struct reader);

		*reader = (struct reader){.next = *list, .access = visit->access};
		*list = reader;
		box->value = add_past(pool, past);
	}
}

/* The write replaces the accesses to its core. */
static void leave_core(const struct visit *visit, struct sk_boxes *sheet)
{
	struct sk_box areas[SK_MAX_AREAS];
	uint32_t count = areas_of(visit->core, sheet, areas);

	for (uint32_t a = 0; a < count; a++) {
		areas[a].value = add_past(visit->history->pool, (struct sk_history_past){.writer = visit->access});
		sk_boxes_fill(visit->history->pool->arena, sheet, &areas[a]);
	}
}

static void leave_on_sheet(const struct visit *visit, struct sk_boxes *sheet)
{
	struct sk_box areas[SK_MAX_AREAS];
	bool core_only = visit->write && visit->core == visit->rows;
	uint32_t count = core_only ? 0 : areas_of(visit->rows, sheet, areas);

	for (uint32_t a = 0; a < count; a++)
		leave_beside(visit, sheet, &areas[a]);
	if (visit->write && visit->core->width)
		leave_core(visit, sheet);
}

static void leave_rows(const struct visit *visit, struct sk_history_sheet *sheet)
{
	const struct sk_rows *rows = visit->rows, *extent = sheet->rows.count ? &sheet->extent : rows;
	uint64_t low = rows->start < extent->start ? rows->start : extent->start;
	uint64_t high = sk_rows_end(rows) > sk_rows_end(extent) ? sk_rows_end(rows) : sk_rows_end(extent);

	sheet->extent = (struct sk_rows){low, high - low, 0, 1};
	sk_array_push(visit->history->pool->arena, &sheet->rows,
		      (struct sk_history_rows){*rows, visit->access, visit->write});
}

/* Record the access for comparison with rows of other strides. A single row that overwrites the whole extent comes
 * after all of it, and before everything that would come after a part of it. */
static void leave_for_others(const struct visit *visit, struct sk_history_sheet *sheet)
{
	if (visit->rows->count > 1)
		leave_rows(visit, sheet);
	else if (visit->write && visit->core->width && visit->core->count == 1 &&
		 visit->core->start <= sheet->extent.start && sk_rows_end(visit->core) >= sk_rows_end(&sheet->extent))
		sheet->rows.count = 0;
}

void sk_history_access_sized(struct sk_history *history, const struct sk_rows *rows, const struct sk_rows *core,
			     uint32_t access, unsigned kind, void (*conflict)(void *context, uint32_t earlier),
			     void *context)
{
	struct visit visit = {.history = history,
			      .rows = rows,
			      .core = core,
			      .access = access,
			      .read = kind & SK_ACCESS_READ,
			      .write = kind & SK_ACCESS_WRITE,
			      .conflict = conflict,
			      .context = context};
	bool written = false;

	if (history->pool->looks_left == 0)
		return;
	for (size_t i = 0; i < history->sheets.count; i++) {
		struct sk_history_sheet *sheet = &history->sheets.items[i];
		bool on = is_on(&visit, &sheet->boxes);

		if (on || (visit.read && !written))
			written |= meet_sheet(&visit, &sheet->boxes, on);
		if (!on)
			meet_rows(&visit, sheet);
	}
	if (visit.read && !written)
		conflict(context, SK_NO_INDEX);
	for (size_t i = 0; i < history->sheets.count; i++) {
		struct sk_history_sheet *sheet = &history->sheets.items[i];

		if (!is_on(&visit, &sheet->boxes))
			continue;
		leave_on_sheet(&visit, &sheet->boxes);
		if (history->sheets.count > 1)
			leave_for_others(&visit, sheet);
		history->pool->steps += sheet->boxes.steps;
		sheet->boxes.steps = 0;
	}
}

void sk_history_access(struct sk_history *history, const struct sk_rows *rows, uint32_t access, unsigned kind,
		       void (*conflict)(void *context, uint32_t earlier), void *context)
{
	sk_history_access_sized(history, rows, rows, access, kind, conflict, context);
}
