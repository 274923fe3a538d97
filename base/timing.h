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
 * How long the phases of a program's work take. Phases nest; one that names what it works on has a detail. Without a
 * timing (NULL) nothing is measured, which costs one comparison a phase. */

struct sk_phase {
	const char *name, *detail; /* detail NULL: none */
	unsigned depth; /* 0: in no other phase */
	uint64_t start; /* nanoseconds since the timing was created */
	uint64_t duration; /* nanoseconds */
	bool beside; /* another thread had it, during others */
};

struct sk_timing {
	struct sk_arena *arena;
	uint64_t created;
	SK_ARRAY(struct sk_phase) phases; /* in the order of their starts */
	SK_ARRAY(size_t) open; /* phases that have not ended, outermost first */
};

/* Nanoseconds since some moment of the past. */
uint64_t sk_timing_now(void);

struct sk_timing *sk_timing_create(struct sk_arena *arena);

/* Begins a phase in the one that is open. Both texts must live as long as the timing. */
void sk_timing_begin(struct sk_timing *timing, const char *name, const char *detail);

/* Ends the phase begun last. */
void sk_timing_end(struct sk_timing *timing);

/* Ends the phase begun last and begins another one: for lists of phases. */
void sk_timing_next(struct sk_timing *timing, const char *name);

/* What another thread has had for a phase, between two times from sk_timing_now. */
void sk_timing_add_beside(struct sk_timing *timing, const char *name, uint64_t start, uint64_t end);

/* All phases, once they have ended, as a trace in the JSON format that chrome://tracing and Perfetto read ("Trace Event
 * Format", complete events; times in microseconds). In the arena. */
const char *sk_timing_trace(const struct sk_timing *timing, const char *program);

/* ==== parallel.c ====
 *
 * Loops in several threads. */

/* Calls body for parts of 0 to count, in as many threads as are allowed; returns when all are done. */
void sk_parallel(unsigned threads, size_t count, void (*body)(void *context, size_t first, size_t end), void *context);

#endif
