/* A naive oracle for schedules: is every conflicting pair of accesses ordered? It knows nothing of clocks, core sets or
 * patterns. It enumerates (step, core), the order of each core's program, and for each await an edge from every core
 * that the awaited step runs on to every core that the awaiting step runs on; then it compares byte ranges core by
 * core. */
#ifndef SK_TESTS_HAPPENS_BEFORE_H
#define SK_TESTS_HAPPENS_BEFORE_H

#include "format/skplan.h"
#include "src/model/model.h"
#include "src/planning/planning.h"

struct oracle {
	const struct sk_model *model;
	const struct sk_launch_schedule *launch;
	const struct sk_memory *memory; /* NULL: every tensor has its own bytes */
	uint32_t cores[SK_MAX_LANES];
	uint32_t skip_step, skip_await; /* leave out this await of this step; SK_NONE: none */
};

/* True if every pair of accesses to the same bytes, at least one a write, and every pair of tasks that `after` or an
 * event orders, is ordered; otherwise writes which pair is not into text. */
bool oracle_is_ordered(const struct oracle *oracle, char *text, size_t size);

#endif
