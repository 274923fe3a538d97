/* Guarded memory, as the two files of it see it: guard.c has the memories, guard-call.c what is open to a call. */
#ifndef SK_LOADER_GUARD_H
#define SK_LOADER_GUARD_H

#include "loader/checks/checks.h"

/* A tensor, or a core's scratch, in pages of its own. */
struct sk_guarded_memory {
	const char *name; /* of a tensor; NULL: scratch */
	char *mapping; /* NULL: not there */
	size_t mapping_size;
	char *pages; /* between the guards */
	size_t pages_size;
	char *data;
	uint64_t bytes, padding; /* behind the bytes, which may be read, too */
	uint32_t word; /* bytes in which what is not written is looked for */
	enum sk_role role; /* NONE: scratch */
	bool copied; /* in the copying at hand */
};

/* Bytes that are writable only because pages are. */
struct sk_border {
	uint32_t memory;
	char *start;
	size_t size;
	size_t saved; /* offset of what they were */
};

struct sk_open_pages {
	char *start;
	size_t size;
	int protection;
};

struct sk_page_list {
	struct sk_open_pages *items;
	uint32_t count, capacity;
};

struct sk_guard {
	const struct sk_plan_view *plan;
	bool pattern;
	size_t page;
	struct sk_guarded_memory *memories; /* the plan's tensors, then the scratch of each core */
	uint32_t memory_count;
	/* Of the call that is open: */
	struct sk_window *windows; /* by memory and address */
	uint32_t window_count;
	const char *closed; /* why all else is not; NULL: it is no argument */
	struct sk_border *borders;
	uint32_t border_count, border_capacity;
	char *saved;
	size_t saved_size, saved_capacity;
	/* The pages that are open, and those of the call that begins; where they overlap, the last ones decide. */
	struct sk_page_list open, wanted;
};

/* Number of the memory that an argument lies in, for the core in the row of the module's tables. */
uint32_t sk_guard_memory_of(const struct sk_guard *guard, const struct sk_plan_argument *argument, uint64_t row);

/* Closes what calls have left open. */
bool sk_guard_close_pages(struct sk_guard *guard);

/* [start, end), which may be written, holds the pattern. */
void sk_guarded_memory_spoil(const struct sk_guarded_memory *memory, char *start, const char *end);

/* The first bytes in [start, end), which may be read, that hold the pattern: [*low, *high) of the data. False: none. */
bool sk_guarded_memory_find_unwritten(const struct sk_guarded_memory *memory, const char *start, const char *end,
				      uint64_t *low, uint64_t *high);

#endif
