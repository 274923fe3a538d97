/* Between the parts of the plan's reader, plan.c (header, tables, records outside launches), plan-launch.c (one
 * launch), plan-call.c (one call) and plan-networks.c (several networks): where a check stands, how it fails, and what
 * all of them check. */
#ifndef SK_LOADER_PLAN_CHECKER_H
#define SK_LOADER_PLAN_CHECKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/plan/plan.h"
#include "format/skplan.h"

/* Where we are, for messages; and where they go. */
struct sk_plan_checker {
	const struct sk_plan_view *view;
	const char *record; /* "launch", "tensor" …; NULL: the header */
	uint32_t index; /* of the record */
	uint32_t step; /* within the launch; SK_NO_INDEX: none */
	uint32_t call; /* within the step; SK_NO_INDEX: none, or the only one */
	uint32_t argument; /* within the call; SK_NO_INDEX: none */
	char *error;
	size_t error_size;
};

struct sk_plan_checker sk_plan_checker_at(const struct sk_plan_view *view, char *error, size_t error_size);

/* Puts "plan: launch 3: step 2: …" into the caller's buffer. Returns false, always. */
bool sk_plan_fail(const struct sk_plan_checker *checker, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* True if [offset, offset + size) lies within [0, limit). */
bool sk_plan_within(uint64_t offset, uint64_t size, uint64_t limit);

/* One owner's slice of a shared table: behind those before it, which end at *end, and inside the table. Moves *end on.
 */
bool sk_plan_check_slice(const struct sk_plan_checker *checker, const char *name, uint32_t first, uint32_t count,
			 uint64_t *end, uint32_t limit);

/* What the calls so far have of the tables, in which each call's records stand behind those of the call before. */
struct sk_plan_ends {
	uint64_t arguments, loops, terms, patterns; /* with lists, calls share terms and patterns */
};

/* Where the plan has lists: makes the arguments of a call, whose place among all arguments has been checked;
 * `unshared`: for a task entry. */
bool sk_plan_make_arguments(struct sk_plan_checker *checker, const struct sk_plan_call *call, bool unshared);

/* Checks where a call's records are, makes its arguments, and moves the ends on. */
bool sk_plan_check_call_slices(struct sk_plan_checker *checker, const struct sk_plan_call *call, bool unshared,
			       struct sk_plan_ends *ends);

/* Checks a call of a step that has been checked but for its calls, and its arguments. */
bool sk_plan_check_call(struct sk_plan_checker *checker, const struct sk_plan_launch *launch,
			const struct sk_plan_step *step, const struct sk_plan_call *call);

/* Checks that a launch which has been checked else accesses nothing of other networks. */
bool sk_plan_check_launch_network(struct sk_plan_checker *checker, const struct sk_plan_launch *launch);

static inline bool sk_plan_is_task_launch(const struct sk_plan_launch *launch)
{
	return sk_plan_form(launch)->kind == SK_LAUNCH_TASK;
}

#endif
