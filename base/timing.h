/* Times of phases, and work on several threads. */
#ifndef SK_BASE_TIMING_H
#define SK_BASE_TIMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct sk_arena;

/* ==== timing.c ====
 *
 * The durations of the phases of a program. Phases nest; a phase may have a detail that names its subject. Without a
 * timing (NULL) nothing is measured, at the cost of one comparison for each phase. */

struct sk_phase {
	const char *name, *detail; /* detail NULL: none */
	unsigned depth; /* 0: an outermost phase */
	uint64_t start; /* nanoseconds since the timing was created */
	uint64_t duration; /* nanoseconds */
	bool beside; /* ran in another thread, during other phases */
};

struct sk_timing {
	struct sk_arena *arena;
	uint64_t created;
	SK_ARRAY(struct sk_phase) phases; /* in the order of their starts */
	SK_ARRAY(size_t) open; /* phases that have not ended, outermost first */
};

/* Return nanoseconds since an arbitrary moment. */
uint64_t sk_timing_now(void);

struct sk_timing *sk_timing_create(struct sk_arena *arena);

/* Begin a phase inside the current one. Both texts must live as long as the timing. */
void sk_timing_begin(struct sk_timing *timing, const char *name, const char *detail);

/* End the phase begun last. */
void sk_timing_end(struct sk_timing *timing);

/* End the phase begun last and begin another one, for lists of phases. */
void sk_timing_next(struct sk_timing *timing, const char *name);

/* Add a phase that another thread ran between two times from sk_timing_now. */
void sk_timing_add_beside(struct sk_timing *timing, const char *name, uint64_t start, uint64_t end);

/* Return all phases, once they have ended, as a trace in the JSON format of chrome://tracing and Perfetto ("Trace Event
 * Format", complete events; times in microseconds), in the arena. */
const char *sk_timing_trace(const struct sk_timing *timing, const char *program);

/* ==== parallel.c ====
 *
 * Loops in several threads. */

/* Call body for parts of 0 to count, in at most `threads` threads; return when all are done. */
void sk_parallel(unsigned threads, size_t count, void (*body)(void *context, size_t first, size_t end), void *context);

#endif
