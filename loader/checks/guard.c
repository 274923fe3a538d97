/* Guarded memory: every tensor, and every core's scratch, lies in pages of its own between inaccessible pages. Its end
 * is as close to the end of its pages as the alignment of bindings allows. Code outside calls closes all pages first.
 *
 * Unwritten bytes hold a pattern, a NaN in the types of 16 bits and more that depends on the place, so that results of
 * kernels do not look like it. The search is for words of 8 bytes, of f32 for words of 4. Data shorter than a word are
 * compared as a whole if they have at least 4 bytes: integers of 4 bytes sometimes look like the pattern. */
#include "config.h"

#include "loader/checks/checks-parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/plan/plan.h"
#include "format/skplan.h"
#include "format/skrows.h"
#include "loader/checks/checks.h"
#include "loader/flight/flight.h"

enum {
	TENSOR_ALIGN = 64, /* alignment of bindings, temporaries and scratch (doc/internals/package-format.md) */
	GUARD = 64 << 10, /* bytes before and after the pages, at least a page */
	LEAST_PATTERN = 4,
};

/* ---- the pattern ---- */

/* Return the word at an offset in the pages. */
static uint64_t pattern_at(uint64_t offset)
{
	uint64_t z = (offset / 8 + 1) * UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z ^= z >> 27;
	return UINT64_C(0xffff0000ffff0000) | (z & UINT64_C(0x00007fff00007fff));
}

static bool is_pattern(const struct sk_guarded_memory *memory, const char *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return word == pattern_at((uint64_t)(at - memory->pages));
}

static bool is_pattern_byte(const struct sk_guarded_memory *memory, const char *at)
{
	uint64_t offset = (uint64_t)(at - memory->pages);

	return (uint8_t)*at == (uint8_t)(pattern_at(offset) >> (8 * (offset % 8)));
}

uint64_t sk_guarded_memory_count_first(const struct sk_guarded_memory *memory, const char *start, const char *end)
{
	const char *at = start;

	while (at < end && is_pattern_byte(memory, at))
		at++;
	return (uint64_t)(at - start);
}

uint64_t sk_guarded_memory_count_last(const struct sk_guarded_memory *memory, const char *start, const char *end)
{
	const char *at = end;

	while (at > start && is_pattern_byte(memory, at - 1))
		at--;
	return (uint64_t)(end - at);
}

/* Return whether [start, end), no more than a word, holds the pattern. */
static bool is_short_pattern(const struct sk_guarded_memory *memory, const char *start, const char *end)
{
	return sk_guarded_memory_count_first(memory, start, end) == (uint64_t)(end - start);
}

static bool is_word_pattern(const struct sk_guarded_memory *memory, const char *at)
{
	return memory->word == 8 ? is_pattern(memory, at) : is_short_pattern(memory, at, at + memory->word);
}

bool sk_guarded_memory_find_unwritten(const struct sk_guarded_memory *memory, const char *start, const char *end,
				      uint64_t *low, uint64_t *high)
{
	uint32_t word = memory->word;
	const char *at = start + (-(uintptr_t)start & (word - 1));

	if (end - start < word && end - start >= LEAST_PATTERN && is_short_pattern(memory, start, end)) {
		*low = (uint64_t)(start - memory->data);
		*high = (uint64_t)(end - memory->data);
		return true;
	}
	while (end - at >= word && !is_word_pattern(memory, at))
		at += word;
	if (end - at < word)
		return false;
	*low = (uint64_t)(at - memory->data);
	while (end - at >= word && is_word_pattern(memory, at))
		at += word;
	*high = (uint64_t)(at - memory->data);
	return true;
}

void sk_guarded_memory_spoil(const struct sk_guarded_memory *memory, char *start, const char *end)
{
	while (start < end) {
		uint64_t offset = (uint64_t)(start - memory->pages), word = pattern_at(offset) >> (8 * (offset % 8));
		size_t size = 8 - offset % 8, left = (size_t)(end - start);

		size = left < size ? left : size;
		memcpy(start, &word, size);
		start += size;
	}
}

/* ---- memory ---- */

bool sk_guard_close_pages(struct sk_guard *guard)
{
	bool good = true;

	for (uint32_t i = 0; i < guard->open.count; i++)
		good &= mprotect(guard->open.items[i].start, guard->open.items[i].size, PROT_NONE) == 0;
	guard->open.count = 0;
	return good;
}

/* Protect all pages of a memory. This can fail for lack of memory when they become writable for the first time, and
 * whenever the process would have too many mappings. */
static bool permit_all(struct sk_guard *guard, const struct sk_guarded_memory *memory, int protection)
{
	return sk_guard_close_pages(guard) &&
	       (memory->pages_size == 0 || mprotect(memory->pages, memory->pages_size, protection) == 0);
}

/* Fill all of its pages with the pattern; or only the bytes outside the tensor, and the tensor with the byte. */
static bool fill(struct sk_guard *guard, const struct sk_guarded_memory *memory, int byte)
{
	if (!permit_all(guard, memory, PROT_READ | PROT_WRITE))
		return false;
	sk_guarded_memory_spoil(memory, memory->pages, memory->pages + memory->pages_size);
	if (!guard->pattern && memory->bytes)
		memset(memory->data, byte, memory->bytes);
	return permit_all(guard, memory, PROT_NONE);
}

/* Return the number of bytes from its start to the end of its pages. */
static uint64_t aligned_size(const struct sk_guarded_memory *memory)
{
	return (memory->bytes + memory->padding + TENSOR_ALIGN - 1) & ~(uint64_t)(TENSOR_ALIGN - 1);
}

/* Find the number of pages that it needs, before there are any. */
static void count_pages(const struct sk_guard *guard, struct sk_guarded_memory *memory)
{
	uint64_t limit = SIZE_MAX - 2 * GUARD - guard->page - TENSOR_ALIGN, bytes;
	bool fits = !__builtin_add_overflow(memory->bytes, memory->padding, &bytes) && bytes < limit;
	uint64_t aligned = aligned_size(memory);

	memory->mapping_size = fits ? ((aligned + guard->page - 1) & ~(guard->page - 1)) + 2 * GUARD : SIZE_MAX;
	memory->pages_size = memory->mapping_size - 2 * GUARD;
}

static bool map(struct sk_guarded_memory *memory)
{
	char *mapping = mmap(NULL, memory->mapping_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (mapping == MAP_FAILED)
		return false;
	memory->mapping = mapping;
	memory->pages = mapping + GUARD;
	memory->data = memory->pages + memory->pages_size - aligned_size(memory);
	return true;
}

/* Fill it with the pattern, or with the constant's bytes. */
static bool fill_first(struct sk_guard *guard, const struct skrt_instance *instance,
		       const struct sk_guarded_memory *memory)
{
	if (!fill(guard, memory, 0))
		return false;
	if (memory->role != SK_ROLE_CONSTANT || !memory->bytes)
		return true;
	if (!permit_all(guard, memory, PROT_READ | PROT_WRITE))
		return false;

	const struct sk_plan_tensor *tensor = &guard->plan->tensors[memory - guard->memories];

	memcpy(memory->data, (const char *)instance->module->constants + tensor->offset, sk_plan_type(tensor)->bytes);
	return permit_all(guard, memory, PROT_NONE);
}

/* Return the bytes of scratch that a core needs for any launch. */
static uint64_t scratch_size(const struct sk_plan_view *plan)
{
	uint64_t size = 0;

	for (uint32_t i = 0; i < plan->launch_count; i++)
		if (sk_plan_form(&plan->launches[i])->scratch_size > size)
			size = sk_plan_form(&plan->launches[i])->scratch_size;
	return size;
}

/* Tensors without a place in memory, such as a part of another tensor, have none here either. */
static void describe_memories(struct sk_guard *guard)
{
	const struct sk_plan_view *plan = guard->plan;
	uint64_t scratch = scratch_size(plan);

	for (uint32_t i = 0; i < guard->memory_count; i++) {
		const struct sk_plan_tensor *tensor = i < plan->tensor_count ? &plan->tensors[i] : NULL;
		struct sk_guarded_memory *memory = &guard->memories[i];

		if (tensor)
			*memory =
				(struct sk_guarded_memory){.name = sk_plan_string(&tensor->name), .role = tensor->role};
		memory->bytes = tensor ? sk_plan_type(tensor)->bytes : scratch;
		memory->padding = tensor ? sk_plan_type(tensor)->padding : 0;
		memory->word = tensor && sk_plan_type(tensor)->dtype == SK_F32 ? 4 : 8;
		if (tensor ? tensor->space != SK_SPACE_NONE : scratch != 0)
			count_pages(guard, memory);
	}
}

/* ---- available memory ---- */

/* Read a number in a file: the one after the name, or, without a name, the first. False: it is missing. */
static bool read_number(const char *path, const char *name, uint64_t *number)
{
	FILE *stream = fopen(path, "re");
	char line[256];
	bool found = false;

	while (stream && !found && fgets(line, sizeof(line), stream))
		found = strncmp(line, name, strlen(name)) == 0 && sscanf(line + strlen(name), "%" SCNu64, number) == 1;
	if (stream)
		fclose(stream);
	return found;
}

/* Return the bytes that the process can still fill, according to the system: proc(5), and the limits of the
 * container. */
static uint64_t available_memory(void)
{
	static const char *const limits[] = {"/sys/fs/cgroup/memory.max",
					     "/sys/fs/cgroup/memory/memory.limit_in_bytes"};
	uint64_t available = UINT64_MAX, number, used = 0;

	if (read_number("/proc/meminfo", "MemAvailable:", &number)) {
		available = number << 10;
		if (read_number("/proc/meminfo", "SwapFree:", &number))
			available += number << 10;
	}
	if (read_number("/proc/self/status", "VmRSS:", &number))
		used = number << 10;
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		if (!read_number(limits[i], "", &number))
			continue;
		number = number > used ? number - used : 0;
		available = number < available ? number : available;
	}
	return available;
}

/* All pages will be filled. Without this check a lack of memory would stop the machine in the middle. */
static bool check_needs(const struct sk_guard *guard, char *error, size_t size)
{
	const struct sk_guarded_memory *largest = &guard->memories[0];
	uint64_t available = available_memory(), needed = 0;

	for (uint32_t i = 0; i < guard->memory_count; i++) {
		const struct sk_guarded_memory *memory = &guard->memories[i];

		if (__builtin_add_overflow(needed, memory->pages_size, &needed))
			needed = UINT64_MAX;
		if (memory->pages_size > largest->pages_size)
			largest = memory;
	}
	if (needed < available)
		return true;
	snprintf(error, size,
		 "no memory for guarded tensors: they take %" PRIu64 " bytes, of which there are %" PRIu64
		 "; the largest is %s%s%s (%" PRIu64 " bytes)",
		 needed, available, largest->name ? "tensor '" : "", largest->name ? largest->name : "a core's scratch",
		 largest->name ? "'" : "", largest->bytes);
	return false;
}

/* Map everything before anything is filled: a limit on mappings then shows at once. */
static bool open_memories(struct sk_guard *guard, const struct skrt_instance *instance, char *error, size_t size)
{
	bool good = true;

	describe_memories(guard);
	if (!check_needs(guard, error, size))
		return false;
	for (uint32_t i = 0; i < guard->memory_count && good; i++)
		good = !guard->memories[i].mapping_size || map(&guard->memories[i]);
	for (uint32_t i = 0; i < guard->memory_count && good; i++)
		good = !guard->memories[i].mapping || fill_first(guard, instance, &guard->memories[i]);
	if (!good)
		snprintf(error, size, "no memory for guarded tensors: %s", strerror(errno));
	return good;
}

struct sk_guard *sk_guard_open(const struct skrt_instance *instance, bool pattern, char *error, size_t size)
{
	const struct skrt_module *module = instance->module;
	uint64_t cores = sk_core_row(module->cores, module->plan.lane_count, 0);
	struct sk_guard *guard = calloc(1, sizeof(*guard));

	snprintf(error, size, "no memory for guarded tensors");
	if (!guard)
		return NULL;
	guard->plan = instance->plan;
	guard->pattern = pattern;
	guard->page = (size_t)sysconf(_SC_PAGESIZE);
	guard->memory_count = module->plan.tensor_count + (uint32_t)cores;
	guard->memories = calloc(guard->memory_count, sizeof(*guard->memories));
	if (guard->memories && open_memories(guard, instance, error, size))
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
	free(guard->open.items);
	free(guard->wanted.items);
	free(guard->saved);
	free(guard);
}

bool sk_guard_forget(struct sk_guard *guard, int byte)
{
	bool good = true;

	for (uint32_t i = 0; i < guard->memory_count && good; i++) {
		const struct sk_guarded_memory *memory = &guard->memories[i];
		bool output = guard->pattern && memory->role == SK_ROLE_OUTPUT;

		if (memory->mapping && (memory->role == SK_ROLE_TEMPORARY || memory->role == SK_ROLE_NONE || output))
			good = fill(guard, memory, byte);
	}
	return good;
}

bool sk_guard_forget_binding(struct sk_guard *guard, uint32_t binding)
{
	const struct sk_guarded_memory *memory = &guard->memories[guard->plan->bindings[binding]];

	return !guard->pattern || memory->role != SK_ROLE_OUTPUT || fill(guard, memory, 0);
}

/* ---- bindings ---- */

static bool copy_in(struct sk_guard *guard, const struct sk_guarded_memory *memory, const void *bound)
{
	/* The old value of an output is never read. If its guarded bytes are kept instead, unwritten ones are found. */
	if (!memory->bytes || (guard->pattern && memory->role == SK_ROLE_OUTPUT))
		return true;
	if (!permit_all(guard, memory, PROT_READ | PROT_WRITE))
		return false;
	memcpy(memory->data, bound, memory->bytes);
	return permit_all(guard, memory, PROT_NONE);
}

/* Copy a row of written bytes. Unwritten words keep their value in the bound memory. Less than a word at the ends of
 * the row is always copied, because a kernel may have written values that look like the pattern. */
static void copy_row(const struct sk_guard *guard, const struct sk_guarded_memory *memory, uint64_t offset,
		     uint64_t size, char *bound)
{
	char *start = memory->data + offset, *end = start + size;
	bool pattern = guard->pattern && memory->role == SK_ROLE_OUTPUT;

	if (!pattern)
		memcpy(bound + offset, start, size);
	for (char *word = start - ((uintptr_t)start & 7); pattern && word < end; word += 8) {
		char *low = word < start ? start : word, *high = end - word < 8 ? end : word + 8;

		if (high - low < 8 || !is_pattern(memory, word))
			memcpy(bound + (low - memory->data), low, (size_t)(high - low));
	}
}

/* Copy the bytes of an argument that is written. */
static bool copy_out(struct sk_guard *guard, const struct sk_guarded_memory *memory,
		     const struct sk_plan_argument *argument, char *bound)
{
	struct sk_rows rows = sk_plan_rows(guard->plan, argument);

	if (!permit_all(guard, memory, PROT_READ))
		return false;
	for (uint64_t i = 0; i < rows.count; i++)
		copy_row(guard, memory, rows.start + i * rows.stride, rows.width, bound);
	return permit_all(guard, memory, PROT_NONE);
}

bool sk_guard_copy_in(struct sk_guard *guard, const struct sk_plan_launch *launch, void *const *bindings)
{
	const struct sk_plan_view *plan = guard->plan;
	struct sk_plan_calls calls = sk_plan_launch_calls(plan, launch);

	for (uint32_t i = 0; i < plan->binding_count; i++)
		guard->memories[plan->bindings[i]].copied = false;
	for (const struct sk_plan_call *call = calls.first; call < calls.end; call++)
		for (uint32_t i = 0; i < call->argument_count; i++) {
			const struct sk_plan_argument *argument = &plan->arguments[call->first_argument + i];
			struct sk_guarded_memory *memory = &guard->memories[argument->tensor];

			if (argument->space != SK_SPACE_BINDING || !argument->size || memory->copied)
				continue;
			memory->copied = true;
			if (!copy_in(guard, memory, bindings[argument->index]))
				return false;
		}
	return true;
}

bool sk_guard_copy_out(struct sk_guard *guard, const struct sk_plan_launch *launch, void *const *bindings)
{
	const struct sk_plan_view *plan = guard->plan;
	struct sk_plan_calls calls = sk_plan_launch_calls(plan, launch);

	for (const struct sk_plan_call *call = calls.first; call < calls.end; call++)
		for (uint32_t i = 0; i < call->argument_count; i++) {
			const struct sk_plan_argument *argument = &plan->arguments[call->first_argument + i];

			if (argument->space == SK_SPACE_BINDING && argument->size &&
			    (sk_plan_access(argument) & SK_ACCESS_WRITE) &&
			    !copy_out(guard, &guard->memories[argument->tensor], argument, bindings[argument->index]))
				return false;
		}
	return true;
}

/* ---- addresses ---- */

uint32_t sk_guard_memory_of(const struct sk_guard *guard, const struct sk_plan_argument *argument, uint64_t row)
{
	if (argument->kind == SK_ARGUMENT_SCRATCH)
		return guard->plan->tensor_count + (uint32_t)row;
	return argument->tensor;
}

char *sk_guard_address(const struct sk_guard *guard, const struct sk_plan_launch *launch,
		       const struct sk_plan_argument *argument, uint64_t row)
{
	const struct sk_guarded_memory *memory = &guard->memories[sk_guard_memory_of(guard, argument, row)];

	if (argument->kind == SK_ARGUMENT_SCRATCH)
		return memory->data + argument->offset;
	return memory->data +
	       (argument->offset - sk_plan_tensor_start(launch, &guard->plan->tensors[argument->tensor]));
}

bool sk_guard_permit(struct sk_guard *guard, const struct sk_plan_argument *argument, bool open)
{
	return permit_all(guard, &guard->memories[argument->tensor], open ? PROT_READ | PROT_WRITE : PROT_NONE);
}
