/* What of guarded memory is open to a call: the pages that its arguments lie in, for reading or for writing. The bytes
 * of writable pages that the call is not to write are kept, and compared when it is closed. */
#include "config.h"

#include "loader/checks/guard.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

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

/* Can fail if the process has too many mappings. */
static bool permit_window(const struct sk_guard *guard, const struct sk_window *window, int protection)
{
	const struct sk_guarded_memory *memory = &guard->memories[window->memory];
	char *start = page_of(guard, memory, window->start);

	return mprotect(start, (size_t)(page_end(guard, memory, window->end) - start), protection) == 0;
}

/* Where windows share pages, the one that is written decides. */
static bool permit_windows(const struct sk_guard *guard)
{
	bool good = true;

	for (uint32_t i = 0; i < guard->window_count && good; i++)
		good = permit_window(guard, &guard->windows[i], PROT_READ);
	for (uint32_t i = 0; i < guard->window_count && good; i++)
		if (guard->windows[i].access & SK_ACCESS_WRITE)
			good = permit_window(guard, &guard->windows[i], PROT_READ | PROT_WRITE);
	return good;
}

/* Keeps [start, end), which is less than two pages. */
static void keep(struct sk_guard *guard, uint32_t memory, char *start, const char *end)
{
	size_t size = (size_t)(end - start);

	if (end <= start)
		return;
	memcpy(guard->saved + guard->saved_size, start, size);
	guard->borders[guard->border_count++] = (struct sk_border){memory, start, size, guard->saved_size};
	guard->saved_size += size;
}

/* Keeps what lies in the writable pages and in no window that is written. The windows that share pages are taken
 * together. */
static void keep_borders(struct sk_guard *guard)
{
	char *at = NULL, *end = NULL; /* kept up to here; the pages end here */
	uint32_t last = SK_NO_INDEX;

	for (uint32_t i = 0; i < guard->window_count; i++) {
		const struct sk_window *window = &guard->windows[i];
		const struct sk_guarded_memory *memory = &guard->memories[window->memory];

		if (!(window->access & SK_ACCESS_WRITE))
			continue;
		char *page = page_of(guard, memory, window->start);

		if (window->memory != last || page > end) {
			keep(guard, last, at, end);
			at = page;
		}
		keep(guard, window->memory, at, window->start);
		if (window->memory != last || window->end > at)
			at = window->end;
		if (window->memory != last || page_end(guard, memory, window->end) > end)
			end = page_end(guard, memory, window->end);
		last = window->memory;
	}
	keep(guard, last, at, end);
}

/* Room for the borders of so many windows. */
static bool reserve(struct sk_guard *guard, uint32_t windows)
{
	uint32_t borders = 2 * windows + 1;

	if (borders <= guard->border_capacity)
		return true;
	struct sk_border *list = realloc(guard->borders, borders * sizeof(*list));
	if (list)
		guard->borders = list;
	char *saved = realloc(guard->saved, borders * 2 * guard->page);
	if (saved)
		guard->saved = saved;
	if (!list || !saved)
		return false;
	guard->border_capacity = borders;
	return true;
}

static bool is_written(const struct sk_guard *guard, const struct sk_window *window, char *finding)
{
	const struct sk_guarded_memory *memory = &guard->memories[window->memory];
	uint64_t low, high;

	if (!guard->pattern || !memory->name || !(window->access & SK_ACCESS_READ) ||
	    !sk_guarded_memory_find_unwritten(memory, window->start, window->end, &low, &high))
		return true;
	snprintf(finding, SK_FINDING_SIZE,
		 "it reads tensor '%s', of which nobody has written bytes %" PRIu64 " to %" PRIu64, memory->name, low,
		 high - 1);
	return false;
}

static void cannot_protect(char *finding)
{
	snprintf(finding, SK_FINDING_SIZE, "cannot protect its memory: %s", strerror(errno));
}

bool sk_guard_enter(struct sk_guard *guard, const struct sk_plan_launch *launch, uint64_t row,
		    struct sk_window *windows, uint32_t count, const char *closed, char *finding)
{
	if (!reserve(guard, count)) {
		snprintf(finding, SK_FINDING_SIZE, "no memory for its check");
		return false;
	}
	guard->window_count = guard->border_count = 0;
	guard->saved_size = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct sk_window *window = &windows[i];
		char *address = sk_guard_address(guard, launch, window->argument, row);

		window->memory = sk_guard_memory_of(guard, window->argument, row);
		window->start = address + window->low;
		window->end = address + window->high;
		windows[guard->window_count++] = *window;
	}
	guard->windows = windows;
	guard->closed = closed;
	qsort(windows, guard->window_count, sizeof(*windows), compare_windows);
	if (!permit_windows(guard)) {
		cannot_protect(finding);
		return false;
	}
	keep_borders(guard);
	return true;
}

bool sk_guard_check_written(const struct sk_guard *guard, char *finding)
{
	for (uint32_t i = 0; i < guard->window_count; i++)
		if (!is_written(guard, &guard->windows[i], finding))
			return false;
	return true;
}

bool sk_guard_reset(struct sk_guard *guard)
{
	bool good = true;

	for (uint32_t i = 0; i < guard->window_count; i++)
		good &= permit_window(guard, &guard->windows[i], PROT_NONE);
	guard->window_count = guard->border_count = 0;
	return good;
}

/* ---- what is said ---- */

/* "tensor 'y'", "the core's scratch" */
static const char *print_name(const struct sk_guarded_memory *memory, char *text, size_t size)
{
	snprintf(text, size, memory->name ? "tensor '%s'" : "the core's scratch", memory->name);
	return text;
}

/* Where an address lies, as seen from the memory: "4 bytes behind the end of tensor 'y'". */
static void print_place(const struct sk_guarded_memory *memory, const char *address, char *text, size_t size)
{
	char name[160], distance[48] = "right ";
	bool in_front = address < memory->data;
	uint64_t at = in_front ? (uint64_t)(memory->data - address) : (uint64_t)(address - memory->data);
	uint64_t between = in_front ? at : at - memory->bytes;

	print_name(memory, name, sizeof(name));
	if (between)
		snprintf(distance, sizeof(distance), "%" PRIu64 " byte%s ", between, between == 1 ? "" : "s");
	if (in_front)
		snprintf(text, size, "%sin front of %s", distance, name);
	else if (at >= memory->bytes)
		snprintf(text, size, "%sbehind the end of %s", distance, name);
	else
		snprintf(text, size, "at byte %" PRIu64 " of %s", at, name);
}

/* What the call may do there: the window that may be written, else the first. */
static void print_permission(const struct sk_guard *guard, uint32_t memory, char *text, size_t size)
{
	const struct sk_window *best = NULL;

	for (uint32_t i = 0; i < guard->window_count; i++) {
		const struct sk_window *window = &guard->windows[i];

		if (window->memory == memory && (!best || (window->access & ~best->access & SK_ACCESS_WRITE)))
			best = window;
	}
	if (!best)
		snprintf(text, size, "%s", guard->closed ? guard->closed : "which is no argument of the call");
	else
		snprintf(text, size, "of which the call %s bytes %" PRIu64 " to %" PRIu64,
			 best->access & SK_ACCESS_WRITE ? "may write" : "may only read",
			 (uint64_t)(best->start - guard->memories[memory].data),
			 (uint64_t)(best->end - guard->memories[memory].data) - 1);
}

static bool is_intact(const struct sk_guard *guard, const struct sk_border *border, char *finding)
{
	const struct sk_guarded_memory *memory = &guard->memories[border->memory];
	const char *saved = guard->saved + border->saved;
	char place[224], permission[96];
	size_t first = 0;

	if (!memcmp(border->start, saved, border->size))
		return true;
	while (border->start[first] == saved[first])
		first++;
	print_place(memory, border->start + first, place, sizeof(place));
	print_permission(guard, border->memory, permission, sizeof(permission));
	snprintf(finding, SK_FINDING_SIZE, "it has written %s, %s", place, permission);
	return false;
}

bool sk_guard_leave(struct sk_guard *guard, char *finding)
{
	bool intact = true;

	for (uint32_t i = 0; i < guard->border_count && intact; i++)
		intact = is_intact(guard, &guard->borders[i], finding);
	if (sk_guard_reset(guard) || !intact)
		return intact;
	cannot_protect(finding);
	return false;
}

bool sk_guard_describe(const struct sk_guard *guard, const void *address, char *text, size_t size)
{
	char place[224], permission[96];

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
