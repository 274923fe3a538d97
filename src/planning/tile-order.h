/* Tile order: in which order a launch's tasks stand, so that those that can be in one tile group stand together. In
 * come a launch, whose tasks are in network order, and a question: whether tasks can be in one group. Out comes an
 * order in which all that a task must come behind still stands in front of it: what it shares bytes with that one of
 * them writes, `after`, events, and of tasks that are not divided those of its stream.
 *
 * Within a launch a stream asks for no other order but where an event is recorded or waited for: all tasks of the
 * stream that are in front of such a task stay there, and those behind it stay behind. */
#ifndef SK_TILE_ORDER_H
#define SK_TILE_ORDER_H

#include "src/model/model.h"
#include "src/planning/fusion.h"

/* Whether the task at a place of the launch can be the last one of a group with those at other places, ascending. */
typedef bool sk_may_join(const void *context, const uint32_t *places, uint32_t count, uint32_t place);

/* A task would have been in a group, but for one that comes behind the group and in front of the task. */
struct sk_tile_refusal {
	uint32_t member; /* the last one of the group; SK_NONE: no group has refused it */
	uint32_t between;
};

struct sk_tile_orderer;

struct sk_tile_orderer *sk_tile_orderer_new(const struct sk_model *model, const struct sk_fusion *fusion);

/* The launch's tasks in order, and for each place of the launch as it was whether a group has refused the task. */
uint32_t *sk_tile_order_find(struct sk_tile_orderer *orderer, uint32_t launch, sk_may_join *may_join,
			     const void *context, struct sk_tile_refusal **refusals);

#endif
