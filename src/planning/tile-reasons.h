/* Reasons of tile groups: why a task is, or is not, in one group with the task in front of it in its launch. A code is
 * stable, for programs; the sentence is for people. */
#ifndef SK_TILE_REASONS_H
#define SK_TILE_REASONS_H

#include "src/model/model.h"

/* Of several reasons the first one that tile-groups.c finds. */
enum sk_tile_reason {
	SK_TILE_JOINED, /* both are divided alike on bytes that they share */
	SK_TILE_FIRST, /* it stands first in its launch */

	/* So the scope's options say: */
	SK_TILE_SWITCHED_OFF, /* tile-fusion=0 */
	SK_TILE_SYNC_ALL, /* debug-sync-all=1 */

	/* One of the two, the cause, is in no group: */
	SK_TILE_HIDDEN_STATE, /* its kernel keeps something from call to call */
	SK_TILE_NOT_DIVIDED, /* its kernel may not be called for parts */
	SK_TILE_UNTILED, /* its signature says so */
	SK_TILE_FLUSHED, /* the data cache is flushed around it */
	SK_TILE_SCALAR, /* a scalar of it is read from a tensor */
	SK_TILE_LARGE_OPERAND, /* each tile would read too many bytes again */

	SK_TILE_OTHER_COMPOSITE, /* graph-kernel fusion has put the two into different composites */

	/* The order of the two, or of the cause in front and the task, is not that of their data alone: */
	SK_TILE_OTHER_LANE, /* they run on different cores */
	SK_TILE_EVENT, /* one is recorded behind the one in front, or the task waits for one */
	SK_TILE_AFTER, /* it says so */
	SK_TILE_TOO_MANY, /* the group in front is full */

	/* The cause in front and the task have bytes of the tensor in common that one of them writes: */
	SK_TILE_SHARED, /* and one does not access by parts */
	SK_TILE_TABLE, /* and one reaches through a table of addresses */
	SK_TILE_HALO, /* and one reads beyond its part */
	SK_TILE_OTHER_PARTS, /* of which equal parts are not the same bytes */
	SK_TILE_BETWEEN, /* the cause comes behind the one in front, or its group, and in front of the task */
	SK_TILE_MOVED, /* it has been moved behind the one in front, whose group has members in network order */
	SK_TILE_NOTHING_SHARED, /* they divide no bytes alike: there is nothing to save */

	/* They would have been in a group, but */
	SK_TILE_FEW_UNITS, /* its units would have left cores without work */
	SK_TILE_NO_TILE, /* not one of its units is small enough for a tile */
	SK_TILE_REASON_COUNT,
};

struct sk_tile_verdict {
	enum sk_tile_reason reason;
	uint32_t before; /* the task in front of it; SK_NONE: there is none; BETWEEN: the last one of the group */
	uint32_t cause; /* the task that the reason is about, or SK_NONE */
	uint32_t tensor; /* that the reason is about, or SK_NONE */
	/* JOINED: bytes that a core needs for its part, if they stay in its cache and tiles are therefore long.
	 * LARGE_OPERAND: bytes that each call reads. FEW_UNITS: units that there would be. NO_TILE: bytes of one
	 * in use at once; UINT64_MAX: too many to count. */
	uint64_t amount;
	uint64_t limit; /* that the amount does not keep to */
};

/* "TILE_NOTHING_SHARED" */
const char *sk_tile_reason_code(enum sk_tile_reason reason);

/* A sentence without a full stop, in the model's arena. */
const char *sk_tile_reason_text(const struct sk_model *model, const struct sk_tile_verdict *verdict);

#endif
