/* What the thunk of a task reads of it, for who makes thunks and who makes that.
 *
 * A thunk is the code by which tasks run alone that are called in one way: as many arguments, each of its kind. What
 * differs among those tasks stands in words of 8 bytes, which libskrt makes of the plan for a launch: for each call of
 * the task's own launch, one behind the other, the address of the kernel's function, the task's number, and a word for
 * each argument, or for none (0) that is not known before the call. */
#ifndef SK_LOADER_WORDS_H
#define SK_LOADER_WORDS_H

#include "format/plan/plan.h"

/* A call's words begin with these. */
enum { SK_THUNK_KERNEL, SK_THUNK_TASK, SK_THUNK_ARGUMENTS };

/* The launch's entry is a thunk. */
static inline bool sk_plan_has_thunk(const struct sk_plan_launch *launch)
{
	return sk_plan_form(launch)->flags & SK_LAUNCH_THUNK;
}

/* How many words the calls take, up to the end. */
static inline uint32_t sk_thunk_words(struct sk_plan_calls calls)
{
	uint32_t words = 0;

	for (const struct sk_plan_call *call = calls.first; call < calls.end; call++)
		words += SK_THUNK_ARGUMENTS + call->argument_count;
	return words;
}

/* Whether a word says what the argument is: an address, or a scalar that is the same in every call. Else it follows
 * from the core, its part and the block, or is not passed. */
bool sk_thunk_has_word(const struct sk_plan_step *step, const struct sk_plan_argument *argument);

/* That word, of a scalar that is not loaded. */
uint64_t sk_thunk_scalar(const struct sk_plan_step *step, const struct sk_plan_call *call,
			 const struct sk_plan_argument *argument);

#endif
