/* Guarded memory: every tensor, and every core's scratch, lies in pages of its own between pages that nobody may touch,
 * with its end as near to the end of its pages as the alignment of bindings allows. While nothing is called, all pages
 * are closed. For a call those that its arguments lie in are opened, for reading or for writing; the bytes of writable
 * pages that the call is not to write are kept and compared.
 *
 * What nobody has written holds a pattern, a NaN in the types of 16 bits and more that depends on the place, so that
 * nothing that a kernel computes looks like it. It is looked for in words of 8 bytes, and in what is shorter as a whole
 * if it has at least 4 bytes. */
#include "config.h"

#include "loader/checks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "loader/device.h"

enum {
	TENSOR_ALIGN = 64, /* doc/abi.md: what bindings, temporaries and scratch are aligned to */
	GUARD = 64 << 10, /* bytes before and behind the pages, no less than a page */
	LEAST_PATTERN = 4,
};

struct memory {
	const char *name; /* of a tensor; NULL: scratch */
	char *mapping; /* NULL: not there */
	size_t mapping_size;
	char *pages; /* between the guards */
	size_t pages_size;
	char *data;
	uint64_t bytes;
	enum sk_role role; /* NONE: scratch */
	bool copied; /* in the copying at hand */
};

/* Bytes that are writable only because pages are. */
struct border {
	uint32_t memory;
	char *start;
	size_t size;
	size_t saved; /* offset of what they were */
};

struct sk_guard {
	const struct sk_plan_view *plan;
	bool pattern;
	size_t page;
	struct memory *memories; /* the plan's tensors, then the scratch of each core */
	uint32_t memory_count;
	/* Of the call that is open: */
	struct sk_window *windows; /* by memory and address */
	uint32_t window_count;
	const char *closed; /* why all else is not; NULL: it is no argument */
	struct border *borders;
	uint32_t border_count, border_capacity;
	char *saved;
	size_t saved_size;
};

/* ---- the pattern ---- */

/* The word at an offset in the pages. */
static uint64_t pattern_at(uint64_t offset)
{
	uint64_t z = (offset / 8 + 1) * UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z ^= z >> 27;
	return UINT64_C(0xffff0000ffff0000) | (z & UINT64_C(0x00007fff00007fff));
}

static bool is_pattern(const struct memory *memory, const char *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return word == pattern_at((uint64_t)(at - memory->pages));
}

/* Whether [start, end), less than a word, holds the pattern. */
static bool is_short_pattern(const struct memory *memory, const char *start, const char *end)
{
	for (const char *at = start; at < end; at++) {
		uint64_t offset = (uint64_t)(at - memory->pages);

		if ((uint8_t)*at != (uint8_t)(pattern_at(offset) >> (8 * (offset % 8))))
			return false;
	}
	return true;
}

/* The first unwritten bytes in [start, end). */
static bool find_unwritten(const struct memory *memory, const char *start, const char *end, uint64_t *low,
			   uint64_t *high)
{
	const char *at = start + (-(uintptr_t)start & 7);

	if (end - start < 8 && end - start >= LEAST_PATTERN && is_short_pattern(memory, start, end)) {
		*low = (uint64_t)(start - memory->data);
		*high = (uint64_t)(end - memory->data);
		return true;
	}
	while (end - at >= 8 && !is_pattern(memory, at))
		at += 8;
	if (end - at < 8)
		return false;
	*low = (uint64_t)(at - memory->data);
	while (end - at >= 8 && is_pattern(memory, at))
		at += 8;
	*high = (uint64_t)(at - memory->data);
	return true;
}

/* ---- memory ---- */

/* All pages of a memory. Can fail for lack of memory when they become writable for the first time. */
static bool permit_all(const struct memory *memory, int protection)
{
	return memory->pages_size == 0 || mprotect(memory->pages, memory->pages_size, protection) == 0;
}

/* All of its pages hold the pattern; or only what is not the tensor's, and that the byte. */
static bool fill(const struct sk_guard *guard, const struct memory *memory, int byte)
{
	if (!permit_all(memory, PROT_READ | PROT_WRITE))
		return false;
	for (size_t i = 0; i < memory->pages_size; i += 8) {
		uint64_t word = pattern_at(i);

		memcpy(memory->pages + i, &word, sizeof(word));
	}
	if (!guard->pattern && memory->bytes)
		memset(memory->data, byte, memory->bytes);
	return permit_all(memory, PROT_NONE);
}

static bool open_memory(const struct sk_guard *guard, struct memory *memory)
{
	uint64_t aligned, size;

	if (__builtin_add_overflow(memory->bytes, TENSOR_ALIGN - 1, &aligned) ||
	    __builtin_add_overflow(memory->bytes, 2 * GUARD + guard->page + TENSOR_ALIGN, &size))
		return false;
	aligned &= ~(uint64_t)(TENSOR_ALIGN - 1);
	memory->pages_size = (aligned + guard->page - 1) & ~(guard->page - 1);
	memory->mapping_size = memory->pages_size + 2 * GUARD;
	char *mapping = mmap(NULL, memory->mapping_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (mapping == MAP_FAILED)
		return false;
	memory->mapping = mapping;
	memory->pages = mapping + GUARD;
	memory->data = memory->pages + memory->pages_size - aligned;
	return fill(guard, memory, 0);
}

static bool open_tensor(const struct sk_guard *guard, const struct skrt_instance *instance, uint32_t number)
{
	const struct sk_plan_tensor *tensor = &guard->plan->tensors[number];
	struct memory *memory = &guard->memories[number];

	*memory = (struct memory){.name = sk_plan_string(&tensor->name), .bytes = tensor->bytes, .role = tensor->role};
	if (tensor->space == SK_SPACE_NONE)
		return true;
	if (!open_memory(guard, memory))
		return false;
	if (tensor->space == SK_SPACE_CONSTANT && tensor->bytes) {
		permit_all(memory, PROT_READ | PROT_WRITE);
		memcpy(memory->data, (const char *)instance->module->constants + tensor->offset, tensor->bytes);
		permit_all(memory, PROT_NONE);
	}
	return true;
}

/* Bytes of scratch that a core needs for any launch. */
static uint64_t scratch_size(const struct sk_plan_view *plan)
{
	uint64_t size = 0;

	for (uint32_t i = 0; i < plan->launch_count; i++)
		if (plan->launches[i].scratch_size > size)
			size = plan->launches[i].scratch_size;
	return size;
}

struct sk_guard *sk_guard_open(const struct skrt_instance *instance, bool pattern)
{
	const struct skrt_module *module = instance->module;
	uint64_t scratch = scratch_size(&module->plan);
	uint64_t cores = sk_core_row(module->cores, module->plan.lane_count, 0);
	struct sk_guard *guard = calloc(1, sizeof(*guard));
	bool good = guard != NULL;

	if (!good)
		return NULL;
	guard->plan = &module->plan;
	guard->pattern = pattern;
	guard->page = (size_t)sysconf(_SC_PAGESIZE);
	guard->memory_count = module->plan.tensor_count + (uint32_t)cores;
	guard->memories = calloc(guard->memory_count, sizeof(*guard->memories));
	good = guard->memories != NULL;
	for (uint32_t i = 0; i < guard->memory_count && good; i++) {
		if (i < module->plan.tensor_count) {
			good = open_tensor(guard, instance, i);
		} else if (scratch) {
			guard->memories[i].bytes = scratch;
			good = open_memory(guard, &guard->memories[i]);
		}
	}
	if (good)
		return guard;
	sk_guard_close(guard);
	return NULL;
}

void sk_guard_close(struct sk_guard *guard)
{
	if (!guard)
		return;
	for (uint32_t i = 0; i < guard->memory_count && guard->memories; i++)
		if (guard->memories[i].mapping)
			munmap(guard->memories[i].mapping, guard->memories[i].mapping_size);
	free(guard->memories);
	free(guard->borders);
	free(guard->saved);
	free(guard);
}

void sk_guard_forget(struct sk_guard *guard, int byte)
{
	for (uint32_t i = 0; i < guard->memory_count; i++) {
		const struct memory *memory = &guard->memories[i];
		bool output = guard->pattern && memory->role == SK_ROLE_OUTPUT;

		if (memory->mapping && (memory->role == SK_ROLE_TEMPORARY || memory->role == SK_ROLE_NONE || output))
			fill(guard, memory, byte);
	}
}

void sk_guard_forget_binding(struct sk_guard *guard, uint32_t binding)
{
	const struct memory *memory = &guard->memories[guard->plan->bindings[binding]];

	if (guard->pattern && memory->role == SK_ROLE_OUTPUT)
		fill(guard, memory, 0);
}

/* ---- bindings ---- */

static void copy_in(const struct sk_guard *guard, const struct memory *memory, const void *bound)
{
	/* Nothing reads an output's old value; where its own is kept, what is not written is found. */
	if (!memory->bytes || (guard->pattern && memory->role == SK_ROLE_OUTPUT))
		return;
	permit_all(memory, PROT_READ | PROT_WRITE);
	memcpy(memory->data, bound, memory->bytes);
	permit_all(memory, PROT_NONE);
}

/* The bytes of an argument that is written. What nobody has written stays as it was in the bound memory. */
static void copy_out(const struct sk_guard *guard, const struct memory *memory, const struct sk_plan_argument *argument,
		     char *bound)
{
	char *start = memory->data + argument->offset, *end = start + argument->size;
	bool pattern = guard->pattern && memory->role == SK_ROLE_OUTPUT;

	permit_all(memory, PROT_READ);
	if (!pattern)
		memcpy(bound + argument->offset, start, argument->size);
	for (char *word = start - ((uintptr_t)start & 7); pattern && word < end; word += 8) {
		char *low = word < start ? start : word, *high = end - word < 8 ? end : word + 8;

		if (!is_pattern(memory, word))
			memcpy(bound + (low - memory->data), low, (size_t)(high - low));
	}
	permit_all(memory, PROT_NONE);
}

void sk_guard_copy_in(struct sk_guard *guard, const struct sk_plan_launch *launch, void *const *bindings)
{
	const struct sk_plan_view *plan = guard->plan;

	for (uint32_t i = 0; i < plan->binding_count; i++)
		guard->memories[plan->bindings[i]].copied = false;
	for (uint32_t i = launch->first_step; i < launch->first_step + launch->step_count; i++) {
		const struct sk_plan_step *step = &plan->steps[i];

		for (uint32_t j = 0; j < step->argument_count; j++) {
			const struct sk_plan_argument *argument = &plan->arguments[step->first_argument + j];
			struct memory *memory = &guard->memories[argument->tensor];

			if (argument->space != SK_SPACE_BINDING || !argument->size || memory->copied)
				continue;
			memory->copied = true;
			copy_in(guard, memory, bindings[argument->index]);
		}
	}
}

void sk_guard_copy_out(struct sk_guard *guard, const struct sk_plan_launch *launch, void *const *bindings)
{
	const struct sk_plan_view *plan = guard->plan;

	for (uint32_t i = launch->first_step; i < launch->first_step + launch->step_count; i++) {
		const struct sk_plan_step *step = &plan->steps[i];

		for (uint32_t j = 0; j < step->argument_count; j++) {
			const struct sk_plan_argument *argument = &plan->arguments[step->first_argument + j];

			bool writes = argument->access & SK_ACCESS_WRITE || argument->kind == SK_ARGUMENT_RESULT;

			if (argument->space == SK_SPACE_BINDING && argument->size && writes)
				copy_out(guard, &guard->memories[argument->tensor], argument,
					 bindings[argument->index]);
		}
	}
}

/* ---- a call ---- */

static uint32_t memory_of(const struct sk_guard *guard, const struct sk_plan_argument *argument, uint64_t row)
{
	if (argument->kind == SK_ARGUMENT_SCRATCH)
		return guard->plan->tensor_count + (uint32_t)row;
	return argument->tensor;
}

char *sk_guard_address(const struct sk_guard *guard, const struct sk_plan_launch *launch,
		       const struct sk_plan_argument *argument, uint64_t row)
{
	const struct memory *memory = &guard->memories[memory_of(guard, argument, row)];

	if (argument->kind == SK_ARGUMENT_SCRATCH)
		return memory->data + argument->offset;
	return memory->data +
	       (argument->offset - sk_plan_tensor_start(launch, &guard->plan->tensors[argument->tensor]));
}

static int compare_windows(const void *a, const void *b)
{
	const struct sk_window *left = a, *right = b;

	if (left->memory != right->memory)
		return left->memory < right->memory ? -1 : 1;
	return (left->start > right->start) - (left->start < right->start);
}

static char *page_of(const struct sk_guard *guard, const struct memory *memory, const char *address)
{
	return memory->pages + ((size_t)(address - memory->pages) & ~(guard->page - 1));
}

static char *page_end(const struct sk_guard *guard, const struct memory *memory, const char *address)
{
	return page_of(guard, memory, address + guard->page - 1);
}

/* Can fail if the process has too many mappings. */
static bool permit_window(const struct sk_guard *guard, const struct sk_window *window, int protection)
{
	const struct memory *memory = &guard->memories[window->memory];
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
	guard->borders[guard->border_count++] = (struct border){memory, start, size, guard->saved_size};
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
		const struct memory *memory = &guard->memories[window->memory];

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
	struct border *list = realloc(guard->borders, borders * sizeof(*list));
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
	const struct memory *memory = &guard->memories[window->memory];
	uint64_t low, high;

	if (!guard->pattern || !memory->name || !(window->access & SK_ACCESS_READ) ||
	    !find_unwritten(memory, window->start, window->end, &low, &high))
		return true;
	snprintf(finding, SK_FINDING_SIZE,
		 "it reads tensor '%s', of which nobody has written bytes %" PRIu64 " to %" PRIu64, memory->name, low,
		 high - 1);
	return false;
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

		if (window->argument->kind == SK_ARGUMENT_STATE)
			continue;
		char *address = sk_guard_address(guard, launch, window->argument, row);

		window->memory = memory_of(guard, window->argument, row);
		window->start = address + window->low;
		window->end = address + window->high;
		windows[guard->window_count++] = *window;
	}
	guard->windows = windows;
	guard->closed = closed;
	qsort(windows, guard->window_count, sizeof(*windows), compare_windows);
	if (!permit_windows(guard)) {
		snprintf(finding, SK_FINDING_SIZE, "cannot protect its memory: %s", strerror(errno));
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

void sk_guard_reset(struct sk_guard *guard)
{
	for (uint32_t i = 0; i < guard->window_count; i++)
		permit_window(guard, &guard->windows[i], PROT_NONE);
	guard->window_count = guard->border_count = 0;
}

/* "tensor 'y'", "its scratch" */
static const char *print_name(const struct memory *memory, char *text, size_t size)
{
	snprintf(text, size, memory->name ? "tensor '%s'" : "the core's scratch", memory->name);
	return text;
}

/* Where an address lies, as seen from the memory: "4 bytes behind the end of tensor 'y'". */
static void print_place(const struct memory *memory, const char *address, char *text, size_t size)
{
	char name[160], distance[48] = "right ";
	bool in_front = address < memory->data;
	uint64_t at = in_front ? (uint64_t)(memory->data - address) : (uint64_t)(address - memory->data);
	uint64_t between = in_front ? at : at - memory->bytes;

	print_name(memory, name, sizeof(name));
	if (between)
		snprintf(distance, sizeof(distance), "%" PRIu64 " bytes ", between);
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

static bool is_intact(const struct sk_guard *guard, const struct border *border, char *finding)
{
	const struct memory *memory = &guard->memories[border->memory];
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
	sk_guard_reset(guard);
	return intact;
}

bool sk_guard_describe(const struct sk_guard *guard, const void *address, char *text, size_t size)
{
	char place[224], permission[96];

	for (uint32_t i = 0; i < guard->memory_count; i++) {
		const struct memory *memory = &guard->memories[i];

		if (!memory->mapping || (uintptr_t)address - (uintptr_t)memory->mapping >= memory->mapping_size)
			continue;
		print_place(memory, address, place, sizeof(place));
		print_permission(guard, i, permission, sizeof(permission));
		snprintf(text, size, "%s, %s", place, permission);
		return true;
	}
	return false;
}
