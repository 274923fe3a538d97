/* Dependencies: which tasks must see each other's effects, before anybody asks how that is brought about. One pass over
 * the network in its order; fusion and schedule both read the result.
 *
 * In comes the bound model; out come, per task, the conflicts with earlier tasks, the tasks that recorded the events it
 * waits for, and its predecessor in its stream. Each byte of a tensor remembers its last writer and the readers since
 * (a map of boxes), so the cost follows the number of conflicts that count: those that are implied byte by byte, such
 * as a write after a write with a read between them, are left out. */
#ifndef SK_DEPENDENCY_H
#define SK_DEPENDENCY_H

#include "src/model/model.h"
#include "src/model/task.h"

/* Two accesses to the same bytes, at least one of them a write. */
struct sk_conflict {
	uint32_t task; /* the earlier one */
	uint32_t earlier; /* its argument */
	uint32_t later; /* the later task's argument */
};

struct sk_dependencies {
	struct sk_conflict *conflicts; /* of task t: from first_conflict[t] to first_conflict[t + 1]; one for each
					  combination of a task and arguments, nearly always */
	uint32_t *first_conflict;
	uint32_t *recorders; /* tasks that recorded what t waits for: from first_recorder[t] to first_recorder[t + 1] */
	uint32_t *first_recorder;
	uint32_t *previous; /* the previous task of the same stream, or SK_NONE */
	uint32_t *stream; /* of each task, numbered from 0 in the order of the users' numbers */
	uint32_t stream_count;
	uint64_t steps; /* nodes of the maps and other accesses that have been looked at, which tests count */
};

/* NULL if a task waits for an event that no earlier task records, or if too many tasks share too many parts of tensors
 * (said in the sink). */
struct sk_dependencies *sk_dependencies_build(struct sk_model *model);

/* What the argument does to memory: enum sk_access bits, 0 if it has no address. */
enum sk_access sk_argument_access(const struct sk_argument *argument);

#endif
