/* Fusion: scopes to launches. In comes the bound model; out come the launches in the order in which they may be
 * started, the launch of every task, and for every task the reason why it was or was not fused.
 *
 * Tasks group only if their sets of scope tags are equal. A task that cannot be fused is a launch by itself and ends
 * the segment for what follows it in its stream and for everything that depends on it; the next task of the scope that
 * can be fused opens the next segment. No path over data, events, `after` or stream order leaves a launch and comes
 * back, also not through other segments: the launches form a directed acyclic graph. */
#ifndef SK_FUSION_H
#define SK_FUSION_H

#include "src/model/model.h"
#include "src/model/scope.h"
#include "src/planning/dependency.h"
#include "src/planning/reasons.h"

struct sk_launch {
	const char *name; /* the entry's symbol: sk_<scope>, where the scope may have another name for symbols; of a
			     scope that was split, sk_<scope>_start_<first task>_end_<last task>; of a task by itself,
			     sk_task_<task>, and of a model's node where the package's name is in
			     symbols, sk_<package>_task_<task>; tasks as their identifiers (base/identifier.h) */
	const char *scope; /* the scope's name (a tag set's names with commas), or NULL */
	enum sk_launch_kind kind; /* SUPERKERNEL or SINGLE */
	struct sk_launch_options options; /* SUPERKERNEL: its scopes'; else nothing */
	uint32_t stream; /* the first task's */
	uint32_t *tasks; /* in network order */
	uint32_t task_count;
	uint32_t *follows; /* launches that must have ended before, ascending; transitively reduced, unless there are
			      more chains than are kept */
	uint32_t follow_count;
	uint32_t chain; /* launches of one stream are a chain: its number, long chains first … */
	uint32_t position; /* … and this launch's place in it, from 1 */
	const uint32_t *before; /* by chain that is kept: how many launches of it end before this one starts */
};

struct sk_task_placement {
	const char *scope; /* as in its launch, if it is fused; else its own, or NULL */
	uint32_t launch;
	uint32_t step; /* its place in the launch */
	enum sk_reason reason;
	uint32_t cause; /* a task, or SK_NONE */
};

struct sk_fusion {
	struct sk_launch *launches; /* in a valid order, which is network order where that is free */
	uint32_t launch_count;
	struct sk_task_placement *tasks; /* by task */
	const struct sk_dependencies *dependencies;
	uint32_t kept_chains;
	uint64_t steps; /* nodes, edges and lines of `before` that have been looked at, which tests count */
};

/* So many numbers of `before` are kept, of all launches together (64 MiB): of thousands of launches in thousands of
 * streams, those about the longest chains. */
enum { SK_MAX_BEFORE = 1 << 24 };

/* NULL if a scope with strict-scope-check=abort is not fused whole, options do not fit tasks or device, scopes reach
 * over each other in too great numbers, or two symbols have the same name (said in the sink). */
struct sk_fusion *sk_fusion_build(struct sk_model *model);

/* True if it is known that every task of the earlier launch has ended when the later one starts. */
bool sk_fusion_before(const struct sk_fusion *fusion, uint32_t earlier, uint32_t later);

#endif
