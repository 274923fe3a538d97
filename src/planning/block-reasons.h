/* Reasons of parts that are made of blocks: why a divided task that shares bytes with a task in blocks is computed, on
 * each core, in what the core has of those blocks, or why it is not, so that one awaits the other. A code is stable,
 * for programs; the sentence is for people. */
#ifndef SK_BLOCK_REASONS_H
#define SK_BLOCK_REASONS_H

#include "src/model/model.h"

enum sk_block_reason {
	SK_BLOCKS_NONE, /* nothing to say: it shares no bytes with a task in blocks */
	SK_BLOCKS_FOLLOWED, /* each core computes what it has of the blocks */

	/* So the scope's options say: */
	SK_BLOCKS_SWITCHED_OFF, /* tile-fusion=0 */
	SK_BLOCKS_SYNC_ALL, /* debug-sync-all=1 */

	/* The task in blocks */
	SK_BLOCKS_OTHER_LANE, /* runs on different cores */
	SK_BLOCKS_RESIDENT, /* has blocks that wait for one another */
	SK_BLOCKS_EARLY, /* starts early */
	SK_BLOCKS_NO_ROWS, /* has blocks of which nobody knows what they access */

	/* The two */
	SK_BLOCKS_OTHER_PARTS, /* do not divide alike what they share */
	SK_BLOCKS_OTHER_ROWS, /* have no whole number of elements for each row of the blocks */
	SK_BLOCKS_OFF_UNIT, /* do not fit: a block begins inside a unit of the task */
	SK_BLOCKS_TOO_FEW, /* have work for more cores than there are blocks */
	SK_BLOCKS_REASON_COUNT,
};

struct sk_block_verdict {
	enum sk_block_reason reason;
	uint32_t task; /* the one in blocks, or SK_NONE */
	uint32_t tensor; /* that they share, or SK_NONE */
	/* OTHER_ROWS: rows of the blocks. OFF_UNIT: row where the first such block begins. TOO_FEW: blocks. */
	uint64_t amount;
	uint64_t limit; /* OTHER_ROWS, OFF_UNIT: elements, a unit of the task. TOO_FEW: cores */
};

/* "BLOCKS_OFF_UNIT" */
const char *sk_block_reason_code(enum sk_block_reason reason);

/* A sentence without a full stop, in the model's arena. */
const char *sk_block_reason_text(const struct sk_model *model, const struct sk_block_verdict *verdict);

#endif
