/* The verifier: an independent proof that a finished plan is free of races and cannot wait for itself, whatever the
 * number of cores. It reads the plan and nothing else, so skdump can prove any package, and sklink proves every one it
 * makes. */
#ifndef SK_VERIFY_H
#define SK_VERIFY_H

#include <stdbool.h>

#include "base/diag.h"
#include "src/proof/access.h"
#include "src/proof/demands.h"

enum sk_fact_kind {
	SK_FACT_AWAIT, /* the later step awaits the earlier one */
	SK_FACT_KNOWN, /* another await proves it: one of the later step, or of a step before it on its cores */
	SK_FACT_HOME, /* one core runs both, in this order */
	SK_FACT_SAME_CORE, /* whatever the number of cores is, each byte falls to the same core in both */
	SK_FACT_LAUNCH, /* the later one's launch starts when the earlier one's has ended */
};

/* Why two steps of the network come in order. */
struct sk_fact {
	struct sk_step_access earlier, later; /* the accesses to common bytes; argument SK_NO_INDEX: an order is wanted,
						 perhaps of other tasks of their streams */
	const struct sk_wanted_order *order; /* NULL: their data */
	enum sk_fact_kind kind;
	uint32_t awaiting, awaited; /* KNOWN: the two steps of that await */
};

struct sk_facts {
	SK_ARRAY(struct sk_fact)
	items; /* by later step, in the plan's order; by access, those that the proof rests on */
};

/* Checks every launch of the plan with sk_plan_check_launch and proves it; proves that the wanted orders hold, which
 * stand in the order of their later tasks. Errors go into the sink, with `file` (the package, or the manifest that it
 * is being made from) as their place; false if there were any. Adds the facts that the proof rests on, if facts is not
 * NULL; they point to the orders. */
bool sk_verify(struct sk_arena *arena, struct sk_diag *diag, const struct sk_plan_view *view, const char *file,
	       const struct sk_wanted_order *orders, size_t order_count, struct sk_facts *facts);

/* The same of a plan that has been checked; steps becomes how many boxes, nodes, clocks and demands have been looked
 * at. */
bool sk_verify_counting(struct sk_arena *arena, struct sk_diag *diag, const struct sk_plan_view *view, const char *file,
			const struct sk_wanted_order *orders, size_t order_count, struct sk_facts *facts,
			uint64_t *steps);

#endif
