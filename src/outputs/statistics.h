/* --stats: what a link has handled and how long that took, as a table for people. */
#ifndef SK_STATISTICS_H
#define SK_STATISTICS_H

#include "base/timing.h"
#include "format/plan/plan.h"
#include "linker/linker.h"

/* What the table is about: a link that has succeeded. */
struct sk_statistics {
	const struct sk_linker *linker;
	const struct sk_plan_view *plan;
	uint64_t dispatcher_size; /* bytes of code */
	uint64_t fusion_steps, memory_steps, proof_steps; /* what these phases have looked at */
	const struct sk_timing *timing;
};

void sk_statistics_print(const struct sk_statistics *statistics, FILE *stream);

#endif
