/* Demands, for the verifier: the orders that no byte shows, of `after`, events and streams. In come a plan and the
 * orders that its network wants; out come, task by task, the earlier steps that must have ended.
 *
 * An event stands for all that its stream has done up to the task that records it, and holds for all that the other
 * stream does from the task on that waits for it. To ask for all these pairs would take quadratic time. It is enough to
 * ask for four things:
 *  - A task that records or waits comes, in its launch, behind all tasks of its stream that are in front of it in the
 *    network, and in front of the others.
 *  - Each task's launch is the one of the task in front of it in its stream, or follows that one. So tasks of a stream
 *    are in order wherever they are in different launches, and an order between two launches is one for all tasks of
 * the one stream up to there and of the other from there on.
 *  - The task that waits comes behind the one that records.
 *  - Where both are in one launch: each task of the waiting stream from there on comes behind the *gates*, which are
 * the last calls on each core set that the recording stream has taken up to the record. Who knows that a step has ended
 *    knows it of all earlier ones of its core set, so they stand for all of the stream. A stream has one home per lane
 * at most, and so four gates for each event. Gates on one core set are one, the later one, so a stream has no more
 * gates than the launch has core sets, however many events it waits for. */
#ifndef SK_DEMANDS_H
#define SK_DEMANDS_H

#include <stdbool.h>
#include <stddef.h>

#include "src/proof/access.h"

/* One task comes after another one, or waits for an event that it records. */
struct sk_wanted_order {
	uint32_t earlier, later; /* tasks */
	const char *event; /* NULL: `after` */
};

/* A call that must have ended on all cores of its step. */
struct sk_demand {
	uint32_t launch, step, call; /* indices into the plan's tables */
	const struct sk_wanted_order *order;
	bool is_gate; /* the order is about other tasks of the two streams */
};

struct sk_demands {
	struct sk_arena *arena;
	const struct sk_plan_view *view;
	const struct sk_wanted_order *orders; /* in the order of their later tasks */
	uint32_t *first_order; /* by task: its orders go from here to the next one's */
	struct sk_task_call *places; /* by task: where the network runs it */
	uint32_t *previous; /* by task: the one in front of it in its stream, or SK_NO_INDEX */
	uint32_t *stream_of; /* by task: its stream, numbered from 0 */
	struct sk_demand_stream *streams; /* by that number */
	struct sk_taken **recorded; /* by task: what its stream had taken then; NULL if no event needs it */
	bool *records; /* by task: an event orders others behind it */
	uint32_t *section; /* by task: how many ends of events its stream has had, each in front of it and behind it */
	uint64_t gates_left; /* that may still be looked at to find the one of a core set */
	bool exhausted; /* there were too many: gates are missing */
	SK_ARRAY(struct sk_demand) list; /* of the task at hand */
};

void sk_demands_build(struct sk_demands *demands, struct sk_arena *arena, const struct sk_plan_view *view,
		      const struct sk_wanted_order *orders, size_t order_count);

/* Fills the list with what the call's task has to come behind, but for what its stream asks of its launch. To be called
 * for each task of the network in the plan's order. */
void sk_demands_collect(struct sk_demands *demands, uint32_t launch, uint32_t call);

/* In a launch, a stream's tasks are in order where one of them records or waits for an event, and those that are not
 * divided. Returns one that has been passed already though it comes behind the call's task, or SK_NO_INDEX. */
uint32_t sk_demands_overtaker(struct sk_demands *demands, uint32_t launch, uint32_t step, uint32_t call);

/* Notes that the stream of the call's task has taken the call, which is one of the step; for each side of a mix task.
 * False if the stream has another home in the lane already. */
bool sk_demands_pass(struct sk_demands *demands, uint32_t launch, uint32_t step, uint32_t call);

#endif
