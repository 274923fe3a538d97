/* Memory: where temporaries lie in the workspace. In come the model, its launches and their schedule; out come offsets.
 *
 * Two temporaries share bytes only if nothing has to wait for it: every access to one is known to have ended, by the
 * awaits that are there anyway or because its launch has, before any access to the other; or, in one launch, their
 * accesses fall on the same cores byte by byte, and then they lie at the same offset and have the same size. What tasks
 * write that run once has bytes of its own. */
#ifndef SK_MEMORY_H
#define SK_MEMORY_H

#include "src/model/model.h"
#include "src/planning/schedule.h"

enum { SK_WORKSPACE_ALIGNMENT = 64 };

struct sk_memory {
	uint64_t *offset; /* by tensor; temporaries only */
	uint64_t *unshared_offset; /* the same, where every temporary has its own bytes: for task entries */
	uint64_t workspace_size;
	uint64_t unshared_workspace_size;
	uint64_t steps; /* ranges of the workspace that have been looked at, which tests count */
};

/* NULL if the temporaries exceed 64 bits together (said in the sink). */
struct sk_memory *sk_memory_plan(const struct sk_model *model, const struct sk_fusion *fusion,
				 const struct sk_schedule *schedule);

#endif
