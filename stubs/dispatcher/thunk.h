/* The thunk of a task's own launch: the dispatcher of a plan that holds this launch alone, without what differs among
 * the tasks that are called in the same way. In: a launch that sk_plan_check_launch has accepted. Out: that plan, and
 * all that the code depends on as bytes: launches of equal bytes have the same thunk, which is position-independent and
 * refers to nothing. */
#ifndef SK_THUNK_H
#define SK_THUNK_H

#include "base/arena.h"
#include "format/plan/plan.h"

struct sk_thunk {
	/* The launch is its first one. What a word says (format/plan/words.h) is read from it: bindings and workspace
	 * are the words, so an address is a binding, and a number one that is loaded from the workspace. A call's
	 * kernel and task are the numbers of their words. */
	struct sk_plan_view plan;
	const char *key;
	size_t key_size;
};

void sk_thunk_make(struct sk_arena *arena, const struct sk_plan_view *plan, const struct sk_plan_launch *launch,
		   struct sk_thunk *thunk);

#endif
