/* What the cores of a launch know, for the verifier: which steps have finished when another one begins, from nothing
 * but the awaits. In come a launch's steps, in their order; out come answers.
 *
 * What is known is a clock: per lane the number up to which all cores have finished, per home the number up to which
 * that core has. There is a clock for what every core of a lane knows, and one for what each home knows besides. An
 * await on a home's step proves what that home knew then. An await on a step of all cores proves every earlier step of
 * the lane on whatever core, and so all that any of its cores knew then: the union of the lane's clocks, which is kept
 * as one more clock. Homes of different streams count as different cores in all of this; where they coincide, more is
 * ordered, not less.
 *
 * The two steps of a mix task count as one: each side knows only what was known when it began, whichever comes first.
 */
#ifndef SK_KNOWLEDGE_H
#define SK_KNOWLEDGE_H

#include <stdbool.h>

#include "base/arena.h"
#include "format/plan/plan.h"

/* An await: the step that executes it, and the step that it names. */
struct sk_lesson {
	uint32_t awaiting, awaited;
};

struct sk_knowledge {
	struct sk_arena *arena;
	const struct sk_plan_view *view;
	bool with_lessons; /* somebody will ask which await has taught something */

	/* The launch at hand. A clock has a number per lane, then one per home. */
	const struct sk_plan_launch *launch;
	uint32_t clock_length;
	uint32_t *everybody[SK_MAX_LANES]; /* what every core of the lane knows */
	uint32_t *anybody[SK_MAX_LANES]; /* what at least one core of the lane knows */
	uint32_t **homes; /* what a home's own awaits have taught it */
	struct sk_lesson *everybody_lessons[SK_MAX_LANES]; /* by number of those clocks: which await has taught it */
	struct sk_lesson **home_lessons;
	uint32_t *cube_side; /* what every core of the lane knew when the cube side of the task at hand began */
	uint32_t **proofs; /* by step of the launch: what an await on it proves; NULL if nobody awaits it */
};

/* Begins with a launch that sk_plan_check_launch has accepted. False if its clocks would take too much memory. */
bool sk_knowledge_begin(struct sk_knowledge *knowledge, const struct sk_plan_launch *launch);

/* Goes on to the next step, whose awaits count from here on; with the cube side of a mix task comes its vector side. */
void sk_knowledge_pass(struct sk_knowledge *knowledge, uint32_t step);

/* How many steps there are from this one on that the task has. */
uint32_t sk_side_count(const struct sk_plan_step *step);

/* True if every core that runs the step, which was passed last, knows that the earlier one has finished on all of its
 * cores; of mix tasks, all sides of both. */
bool sk_knows(const struct sk_knowledge *knowledge, uint32_t step, uint32_t earlier);

/* The same of calls that have returned. A step with EARLY_SET publishes before it returns; that it has returned is
 * known where its core set is known to have finished a later one. */
bool sk_knows_returned(const struct sk_knowledge *knowledge, uint32_t step, uint32_t earlier);

/* The await that has taught it that. */
struct sk_lesson sk_knowledge_lesson(const struct sk_knowledge *knowledge, uint32_t step, uint32_t earlier);

#endif
