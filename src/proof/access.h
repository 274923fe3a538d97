/* What the steps of a plan touch: an access is one argument of one call that reads or writes memory. In comes the
 * plan's view; out come the facts that the verifier needs about one access, or about two, and the words for them in its
 * messages. */
#ifndef SK_ACCESS_H
#define SK_ACCESS_H

#include "base/arena.h"
#include "format/plan/plan.h"

struct sk_step_access {
	uint32_t launch, step, call, argument; /* indices into the plan's tables */
};

/* Where a task of the network runs, of a mix task the cube side: indices into the plan's tables. */
struct sk_task_call {
	uint32_t launch, step, call;
};

/* Those of all tasks of a plan that has been checked, by task; zeros for one that no launch of the network runs. */
struct sk_task_call *sk_find_calls(struct sk_arena *arena, const struct sk_plan_view *view);

/* The task that makes the access. */
static inline const struct sk_plan_task *sk_access_task(const struct sk_plan_view *view,
							const struct sk_step_access *access)
{
	return &view->tasks[view->calls[access->call].task];
}

static inline bool sk_access_reads(const struct sk_plan_argument *argument)
{
	return sk_plan_access(argument) & SK_ACCESS_READ;
}

static inline bool sk_access_writes(const struct sk_plan_argument *argument)
{
	return sk_plan_access(argument) & SK_ACCESS_WRITE;
}

/* The bytes in the argument's space; of a hidden state, its number. */
struct sk_rows sk_access_rows(const struct sk_plan_view *view, const struct sk_plan_argument *argument);

/* The bytes that the elements of a divided extent share out: of rows, with what lies between them. */
uint64_t sk_access_shared_bytes(const struct sk_plan_view *view, const struct sk_plan_argument *argument);

/* True if for every number of cores each byte is touched by the same core in both, which are accesses by two steps on
 * all cores of one lane, or by two calls of one such step: both divided into as many units, equally far from each
 * other, whose bytes lie in one window that far wide. Where blocks' ranges are irregular, there are no units, and all
 * has to be divided alike row by row. A step whose cores have whole blocks of another one counts by those.
 * One step may also have one block only. */
bool sk_access_same_core(const struct sk_plan_view *view, const struct sk_step_access *one,
			 const struct sk_step_access *other);

/* True if the cores of a step may make both accesses of one call, of which one writes, to common bytes: one core makes
 * them all, or they are identical and each core keeps to its own part. */
bool sk_access_allowed_within_call(const struct sk_plan_view *view, const struct sk_step_access *one,
				   const struct sk_step_access *other);

/* The same for one access that writes. Kernels of the kind `blocks` answer for their blocks themselves. */
bool sk_access_write_allowed(const struct sk_plan_view *view, const struct sk_step_access *access);

/* ---- words, in the arena ---- */

/* "step 3 of lane core, on the home of stream 1" */
const char *sk_access_step_text(struct sk_arena *arena, const struct sk_plan_view *view,
				const struct sk_step_access *access);

/* "'t'", or "'t' or 'u'" where temporaries share the bytes */
const char *sk_access_tensor_text(struct sk_arena *arena, const struct sk_plan_view *view,
				  const struct sk_step_access *access);

/* "bytes [0, 64) of the workspace": what the two have in common */
const char *sk_access_overlap_text(struct sk_arena *arena, const struct sk_plan_view *view,
				   const struct sk_step_access *one, const struct sk_step_access *other);

#endif
