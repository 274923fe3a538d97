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

enum sk_tile_fit {
	SK_TILE_FIT_NEVER, /* something is against it */
	SK_TILE_FIT_UNRELATED, /* nothing is for it */
	SK_TILE_FIT_WELL,
};

/* How the task at a place of the launch fits into a group with those at other places, ascending. */
typedef enum sk_tile_fit sk_tile_judge(const void *context, const uint32_t *places, uint32_t count, uint32_t place);

/* What becomes of the task at a place of the launch. */
struct sk_tile_place {
	uint32_t group; /* equal numbers stand together */
	uint32_t
		meeting; /* the task in which groups meet that are one since then; SK_NONE: the group is of one piece */
	uint32_t refused; /* the last one of a group that it would be in … */
	uint32_t between; /* … but for this task, which comes behind that group and in front of it; SK_NONE, both */
};

struct sk_tile_orderer;

struct sk_tile_orderer *sk_tile_orderer_new(const struct sk_model *model, const struct sk_fusion *fusion);

/* The launch's tasks in order, and what becomes of each place of the launch as it was. */
uint32_t *sk_tile_order_find(struct sk_tile_orderer *orderer, uint32_t launch, sk_tile_judge *judge,
			     const void *context, struct sk_tile_place **places);

#endif
