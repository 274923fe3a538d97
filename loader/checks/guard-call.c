/* The guarded memory that is open to a call: the pages of its arguments, for reading or for writing. Bytes of writable
 * pages that the call must not write are saved, and compared when it is closed.
 *
 * Pages stay open after a call until a call begins that needs other ones. Opening and closing takes longer than a short
 * call, and parts of one task nearly always lie in the same pages. */
#include "config.h"

#include "loader/checks/checks-parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/text.h"
#include "format/skplan.h"
#include "format/skrows.h"
#include "loader/checks/checks.h"

/* ---- windows and borders ---- */

static int compare_windows(const void *a, const void *b)
{
	const struct sk_window *left = a, *right = b;

	if (left->memory != right->memory)
		return left->memory < right->memory ? -1 : 1;
	return (left->start > right->start) - (left->start < right->start);
}

static char *page_of(const struct sk_guard *guard, const struct sk_guarded_memory *memory, const char *address)
{
	return memory->pages + ((size_t)(address - memory->pages) & ~(guard->page - 1));
}

static char *page_end(const struct sk_guard *guard, const struct sk_guarded_memory *memory, const char *address)
{
	return page_of(guard, memory, address + guard->page - 1);
}

enum { MOST_PIECES = 64 };

/* A few read-only rows with whole pages between them are opened one by one; others as one. */
static bool is_in_pieces(const struct sk_guard *guard, const struct sk_window *window)
{
	return window->rows.count > 1 && window->rows.count <= MOST_PIECES && !(window->access & SK_ACCESS_WRITE) &&
	       window->rows.stride - window->rows.width >= 2 * guard->page;
}

static bool add_pages(struct sk_page_list *list, struct sk_open_pages pages)
{
	if (list->count == list->capacity) {
		uint32_t capacity = 2 * list->capacity + 16;
		struct sk_open_pages *items = realloc(list->items, capacity * sizeof(*items));

		if (!items)
			return false;
		list->items = items;
		list->capacity = capacity;
	}
	list->items[list->count++] = pages;
	return true;
}

static bool want_window(struct sk_guard *guard, const struct sk_window *window, int protection)
{
	const struct sk_guarded_memory *memory = &guard->memories[window->memory];
	uint64_t pieces = is_in_pieces(guard, window) ? window->rows.count : 1;
	bool good = true;

	for (uint64_t i = 0; i < pieces && good; i++) {
		char *start = window->start + i * window->rows.stride;
		char *end = pieces > 1 ? start + window->rows.width : window->end,
		     *page = page_of(guard, memory, start);

		good = add_pages(
			&guard->wanted,
			(struct sk_open_pages){page, (size_t)(page_end(guard, memory, end) - page), protection});
	}
	return good;
}

/* If windows share pages, the written one decides, so it comes last. */
static bool want_windows(struct sk_guard *guard)
{
	bool good = true;

	guard->wanted.count = 0;
	for (uint32_t i = 0; i < guard->window_count && good; i++)
		if (!(guard->windows[i].access & SK_ACCESS_WRITE))
			good = want_window(guard, &guard->windows[i], PROT_READ);
	for (uint32_t i = 0; i < guard->window_count && good; i++)
		if (guard->windows[i].access & SK_ACCESS_WRITE)
			good = want_window(guard, &guard->windows[i], PROT_READ | PROT_WRITE);
	return good;
}

static bool is_open(const struct sk_guard *guard)
{
	const struct sk_open_pages *open = guard->open.items, *wanted = guard->wanted.items;
	bool same = guard->open.count == guard->wanted.count;

	for (uint32_t i = 0; i < guard->wanted.count && same; i++)
		same = open[i].start == wanted[i].start && open[i].size == wanted[i].size &&
		       open[i].protection == wanted[i].protection;
	return same;
}

/* This can fail if the process has too many mappings. */
static bool open_wanted(struct sk_guard *guard)
{
	struct sk_page_list closed = guard->open;
	bool good = true;

	if (is_open(guard))
		return true;
	if (!sk_guard_close_pages(guard))
		return false;
	guard->open = guard->wanted;
	guard->wanted = closed;
	for (uint32_t i = 0; i < guard->open.count && good; i++) {
		const struct sk_open_pages *pages = &guard->open.items[i];

		good = mprotect(pages->start, pages->size, pages->protection) == 0;
	}
	return good;
}

/* Save [start, end). False: no memory. */
static bool keep_range(struct sk_guard *guard, uint32_t memory, char *start, const char *end)
{
	size_t size = (size_t)(end - start);

	if (end <= start)
		return true;
	if (guard->saved_size + size > guard->saved_capacity) {
		size_t capacity = 2 * guard->saved_capacity + size;
		char *saved = realloc(guard->saved, capacity);

		if (!saved)
			return false;
		guard->saved = saved;
		guard->saved_capacity = capacity;
	}
	memcpy(guard->saved + guard->saved_size, start, size);
	guard->borders[guard->border_count++] = (struct sk_border){memory, start, size, guard->saved_size};
	guard->saved_size += size;
	return true;
}

/* Save the bytes of the writable pages outside all written windows. Windows that share pages are handled together. For
 * a window in rows, all bytes after the first row are saved; the rows among them are skipped when the bytes are
 * compared. */
static bool keep_borders(struct sk_guard *guard)
{
	char *at = NULL, *end = NULL; /* saved up to here; the pages end here */
	uint32_t last = SK_NO_INDEX;
	bool good = true;

	for (uint32_t i = 0; i < guard->window_count && good; i++) {
		const struct sk_window *window = &guard->windows[i];
		const struct sk_guarded_memory *memory = &guard->memories[window->memory];

		if (!(window->access & SK_ACCESS_WRITE))
			continue;
		char *page = page_of(guard, memory, window->start), *row_end = window->start + window->rows.width;

		if (window->memory != last || page > end) {
			good = keep_range(guard, last, at, end);
			at = page;
		}
		good = good && keep_range(guard, window->memory, at, window->start);
		if (window->memory != last || row_end > at)
			at = row_end;
		if (window->memory != last || page_end(guard, memory, window->end) > end)
			end = page_end(guard, memory, window->end);
		last = window->memory;
	}
	return good && keep_range(guard, last, at, end);
}

/* Make room for the borders of so many windows. */
static bool reserve_borders(struct sk_guard *guard, uint32_t windows)
{
	uint32_t borders = 2 * windows + 1;

	if (borders <= guard->border_capacity)
		return true;
	struct sk_border *list = realloc(guard->borders, borders * sizeof(*list));
	if (!list)
		return false;
	guard->borders = list;
	guard->border_capacity = borders;
	return true;
}

/* Find the first bytes of the window that hold the pattern, as sk_guarded_memory_find_unwritten does. */
static bool find_unwritten(const struct sk_guard *guard, const struct sk_window *window, uint64_t *low, uint64_t *high)
{
	const struct sk_guarded_memory *memory = &guard->memories[window->memory];
	bool found = false;

	for (uint64_t i = 0; i < window->rows.count && !found; i++) {
		const char *row = window->start + i * window->rows.stride;

		found = sk_guarded_memory_find_unwritten(memory, row, row + window->rows.width, low, high);
	}
	return found;
}

static bool is_written(const struct sk_guard *guard, const struct sk_window *window, char *finding)
{
	const struct sk_guarded_memory *memory = &guard->memories[window->memory];
	uint64_t low, high;

	if (!guard->pattern || !memory->name || !(window->access & SK_ACCESS_READ) || window->unused ||
	    !find_unwritten(guard, window, &low, &high))
		return true;
	snprintf(finding, SK_FINDING_SIZE,
		 "it reads tensor '%s', of which no call has written bytes %" PRIu64 " to %" PRIu64, memory->name, low,
		 high - 1);
	return false;
}

static void no_memory(char *finding)
{
	snprintf(finding, SK_FINDING_SIZE, "no memory for its check");
}

static void cannot_protect(char *finding)
{
	snprintf(finding, SK_FINDING_SIZE, "cannot protect its memory: %s", strerror(errno));
}

bool sk_guard_enter(struct sk_guard *guard, const struct sk_plan_launch *launch, uint64_t row,
		    struct sk_window *windows, uint32_t count, const char *closed, char *finding)
{
	if (!reserve_borders(guard, count)) {
		no_memory(finding);
		return false;
	}
	guard->window_count = guard->border_count = 0;
	guard->saved_size = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct sk_window *window = &windows[i];
		char *address = sk_guard_address(guard, launch, window->argument, row);

		window->memory = sk_guard_memory_of(guard, window->argument, row);
		window->start = address + window->rows.start;
		window->end = address + sk_rows_end(&window->rows);
		windows[guard->window_count++] = *window;
	}
	guard->windows = windows;
	guard->closed = closed;
	qsort(windows, guard->window_count, sizeof(*windows), compare_windows);
	if (!want_windows(guard)) {
		no_memory(finding);
		return false;
	}
	if (!open_wanted(guard)) {
		cannot_protect(finding);
		return false;
	}
	if (keep_borders(guard))
		return true;
	no_memory(finding);
	return false;
}

bool sk_guard_check_written(const struct sk_guard *guard, char *finding)
{
	for (uint32_t i = 0; i < guard->window_count; i++)
		if (!is_written(guard, &guard->windows[i], finding))
			return false;
	return true;
}

/* ---- owed bytes ---- */

/* Return whether the call reads bytes of the window through another argument. */
static bool is_read(const struct sk_guard *guard, const struct sk_window *window)
{
	const char *origin = guard->memories[window->memory].data;
	struct sk_rows rows = window->rows;

	rows.start = (uint64_t)(window->start - origin);
	for (uint32_t i = 0; i < guard->window_count; i++) {
		const struct sk_window *other = &guard->windows[i];
		struct sk_rows read = other->rows;

		read.start = (uint64_t)(other->start - origin);
		if (other->memory == window->memory && other->access & SK_ACCESS_READ && !other->unused &&
		    sk_rows_overlap(&rows, &read))
			return true;
	}
	return false;
}

static bool is_owed(const struct sk_guard *guard, const struct sk_window *window, enum sk_owed most)
{
	return guard->pattern && window->owed && window->owed <= most && !is_read(guard, window);
}

void sk_guard_spoil(const struct sk_guard *guard, enum sk_owed most)
{
	for (uint32_t i = 0; i < guard->window_count; i++) {
		const struct sk_window *window = &guard->windows[i];

		if (!is_owed(guard, window, most))
			continue;
		for (uint64_t row = 0; row < window->rows.count; row++) {
			char *start = window->start + row * window->rows.stride;

			sk_guarded_memory_spoil(&guard->memories[window->memory], start, start + window->rows.width);
		}
	}
}

/* Calls of a few bytes each, as tiles can be, leave too few bytes to tell one by one. Find a word of the pattern that
 * the calls for this argument have left together: [*low, *high) of the data. Remember the last bytes for the next call.
 */
static bool find_left_together(struct sk_guard *guard, const struct sk_window *window, uint64_t *low, uint64_t *high)
{
	const struct sk_guarded_memory *memory = &guard->memories[window->memory];
	struct sk_doubt *doubt = &guard->doubts[(uintptr_t)window->argument / sizeof(*window->argument) % SK_DOUBTS];
	uint64_t start = (uint64_t)(window->start - memory->data), end = (uint64_t)(window->end - memory->data);
	uint64_t first = start + sk_guarded_memory_count_first(memory, window->start, window->end);
	uint64_t last = end - sk_guarded_memory_count_last(memory, window->start, window->end);
	bool goes_on = doubt->argument == window->argument && doubt->memory == window->memory && doubt->high == start;

	*low = goes_on ? doubt->low : start;
	*high = first;
	*doubt = (struct sk_doubt){window->argument, window->memory, last == start ? *low : last, end};
	return *high - *low >= sizeof(uint64_t);
}

static bool is_paid(struct sk_guard *guard, enum sk_owed most, char *finding)
{
	uint64_t low, high;

	for (uint32_t i = 0; i < guard->window_count; i++) {
		const struct sk_window *window = &guard->windows[i];

		if (!is_owed(guard, window, most) ||
		    (!find_unwritten(guard, window, &low, &high) &&
		     (window->rows.count != 1 || !find_left_together(guard, window, &low, &high))))
			continue;
		snprintf(finding, SK_FINDING_SIZE,
			 "it has not written bytes %" PRIu64 " to %" PRIu64
			 " of tensor '%s', which it must write whole ('out' in its signature)",
			 low, high - 1, guard->memories[window->memory].name);
		return false;
	}
	return true;
}

bool sk_guard_reset(struct sk_guard *guard)
{
	guard->window_count = guard->border_count = 0;
	return sk_guard_close_pages(guard);
}

/* ---- texts of findings ---- */

enum { PERMISSION_SIZE = 144 };

/* Write "tensor 'y'" or "the core's scratch". */
static const char *print_name(const struct sk_guarded_memory *memory, char *text, size_t size)
{
	snprintf(text, size, memory->name ? "tensor '%s'" : "the core's scratch", memory->name);
	return text;
}

/* Write the place of an address relative to the memory: "4 bytes after the end of tensor 'y'". */
static void print_place(const struct sk_guarded_memory *memory, const char *address, char *text, size_t size)
{
	char name[160], distance[48] = "right ";
	bool before = address < memory->data;
	uint64_t at = before ? (uint64_t)(memory->data - address) : (uint64_t)(address - memory->data);
	uint64_t between = before ? at : at - memory->bytes;

	print_name(memory, name, sizeof(name));
	if (between)
		snprintf(distance, sizeof(distance), "%" PRIu64 " byte%s ", between, sk_plural(between));
	if (before)
		snprintf(text, size, "%sbefore %s", distance, name);
	else if (at >= memory->bytes)
		snprintf(text, size, "%safter the end of %s", distance, name);
	else
		snprintf(text, size, "at byte %" PRIu64 " of %s", at, name);
}

/* Write the access that the call has there: by the window that may be written, else by the first one. */
static void print_permission(const struct sk_guard *guard, uint32_t memory, char *text, size_t size)
{
	const struct sk_window *best = NULL;

	for (uint32_t i = 0; i < guard->window_count; i++) {
		const struct sk_window *window = &guard->windows[i];

		if (window->memory == memory && (!best || (window->access & ~best->access & SK_ACCESS_WRITE)))
			best = window;
	}
	if (!best) {
		snprintf(text, size, "%s", guard->closed ? guard->closed : "which is not an argument of the call");
		return;
	}
	int length = snprintf(text, size, "of which the call %s bytes %" PRIu64 " to %" PRIu64,
			      best->access & SK_ACCESS_WRITE ? "may write" : "may only read",
			      (uint64_t)(best->start - guard->memories[memory].data),
			      (uint64_t)(best->end - guard->memories[memory].data) - 1);
	if (best->rows.count > 1)
		snprintf(text + length, size - (size_t)length, ", %" PRIu64 " of every %" PRIu64, best->rows.width,
			 best->rows.stride);
}

/* Return the number of bytes from the address on that a window in rows lets the call write: 0, or up to the end of the
 * row. */
static size_t writable_from(const struct sk_guard *guard, uint32_t memory, const char *address)
{
	for (uint32_t i = 0; i < guard->window_count; i++) {
		const struct sk_window *window = &guard->windows[i];
		uint64_t offset = (uint64_t)(address - window->start);

		if (window->memory != memory || !(window->access & SK_ACCESS_WRITE) || window->rows.count == 1 ||
		    address < window->start || address >= window->end)
			continue;
		if (offset % window->rows.stride < window->rows.width)
			return (size_t)(window->rows.width - offset % window->rows.stride);
	}
	return 0;
}

static bool is_intact(const struct sk_guard *guard, const struct sk_border *border, char *finding)
{
	const struct sk_guarded_memory *memory = &guard->memories[border->memory];
	const char *saved = guard->saved + border->saved;
	char place[224], permission[PERMISSION_SIZE];
	size_t first = 0;

	if (!memcmp(border->start, saved, border->size))
		return true;
	while (first < border->size) {
		size_t written;

		if (border->start[first] == saved[first])
			first++;
		else if ((written = writable_from(guard, border->memory, border->start + first)) != 0)
			first += written;
		else
			break;
	}
	if (first >= border->size)
		return true;
	print_place(memory, border->start + first, place, sizeof(place));
	print_permission(guard, border->memory, permission, sizeof(permission));
	snprintf(finding, SK_FINDING_SIZE, "it has written %s, %s", place, permission);
	return false;
}

bool sk_guard_leave(struct sk_guard *guard, enum sk_owed most, char *finding)
{
	bool intact = true;

	for (uint32_t i = 0; i < guard->border_count && intact; i++)
		intact = is_intact(guard, &guard->borders[i], finding);
	intact = intact && is_paid(guard, most, finding);
	guard->window_count = guard->border_count = 0;
	return intact;
}

bool sk_guard_describe(const struct sk_guard *guard, const void *address, char *text, size_t size)
{
	char place[224], permission[PERMISSION_SIZE];

	for (uint32_t i = 0; i < guard->memory_count; i++) {
		const struct sk_guarded_memory *memory = &guard->memories[i];

		if (!memory->mapping || (uintptr_t)address - (uintptr_t)memory->mapping >= memory->mapping_size)
			continue;
		print_place(memory, address, place, sizeof(place));
		print_permission(guard, i, permission, sizeof(permission));
		snprintf(text, size, "%s, %s", place, permission);
		return true;
	}
	return false;
}
