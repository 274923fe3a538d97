/* Common to the parts of the plan's reader, plan.c (header, tables, records outside launches), plan-launch.c (one
 * launch), plan-call.c (one call) and plan-networks.c (several networks): the current place, failures, and shared
 * checks. */
#ifndef SK_LOADER_PLAN_CHECKER_H
#define SK_LOADER_PLAN_CHECKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/plan/plan.h"
#include "format/skplan.h"

/* The current place, for messages, and their buffer. */
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

/* Write "plan: launch 3: step 2: …" to the caller's buffer; always return false. */
bool sk_plan_fail(const struct sk_plan_checker *checker, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* True if [offset, offset + size) is within [0, limit). */
bool sk_plan_within(uint64_t offset, uint64_t size, uint64_t limit);

/* Check an owner's slice of a shared table: it must start at or after *end, the end of earlier slices, and be inside
 * the table. Advance *end. */
bool sk_plan_check_slice(const struct sk_plan_checker *checker, const char *name, uint32_t first, uint32_t count,
			 uint64_t *end, uint32_t limit);

/* The ends of the slices of the calls so far. The records of a call follow those of the call before. */
struct sk_plan_ends {
	uint64_t arguments, loops, terms, patterns; /* with lists, calls share terms and patterns */
};

/* If the plan has lists, make the arguments of a call. Its place among all arguments has been checked. `unshared`: for
 * a task entry. */
bool sk_plan_make_arguments(struct sk_plan_checker *checker, const struct sk_plan_call *call, bool unshared);

/* Check the places of a call's records, make its arguments, and advance the ends. */
bool sk_plan_check_call_slices(struct sk_plan_checker *checker, const struct sk_plan_call *call, bool unshared,
			       struct sk_plan_ends *ends);

/* Check a call and its arguments. The step has been checked except for its calls. */
bool sk_plan_check_call(struct sk_plan_checker *checker, const struct sk_plan_launch *launch,
			const struct sk_plan_step *step, const struct sk_plan_call *call);

/* Check that a launch accesses nothing of other networks. All other checks of it have passed. */
bool sk_plan_check_launch_network(struct sk_plan_checker *checker, const struct sk_plan_launch *launch);

static inline bool sk_plan_is_task_launch(const struct sk_plan_launch *launch)
{
	return sk_plan_form(launch)->kind == SK_LAUNCH_TASK;
}

#endif
