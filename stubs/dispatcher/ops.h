/* Neutral ops: what a dispatcher does, one after the other, without saying how. dispatcher.c makes them from the plan,
 * the machine's emitter (emit.h) turns them into machine code. They live in the arena, and the arguments they point to
 * in the plan. */
#ifndef SK_OPS_H
#define SK_OPS_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/arena.h"
#include "stubs/skplan.h"

enum sk_op_kind {
	SK_OP_FUNCTION, /* begins a function: name */
	SK_OP_FRAME, /* what follows begins the function, next to the code of task `number` */
	SK_OP_TASK, /* what follows is for task `number`, up to the next one or the epilogue */
	SK_OP_FORK, /* in the entry: a core of another lane than `lane` jumps to label */
	SK_OP_SPLIT, /* a core whose index modulo `blocks` is c > 0 jumps to label + c - 1 */
	SK_OP_PROLOGUE, /* saves registers, makes the frame, loads what the program needs of the core of `lane` */
	SK_OP_LABEL, /* label */
	SK_OP_HOME_GUARD, /* a core that is not home `index` jumps to label */
	SK_OP_AWAIT_HOME, /* until home `index` of lane has finished step `number` */
	SK_OP_AWAIT_ALL, /* until every core of lane has finished step `number` */
	SK_OP_RANGE, /* the range is this core's of partition `index`; if it is empty, jump to label */
	SK_OP_BLOCKS_BEGIN, /* repeats up to BLOCKS_END for this core's blocks, as order says; none: jump to label */
	SK_OP_BLOCKS_END,
	SK_OP_CALL, /* kernel `index`, or if so its vector side, with arguments */
	SK_OP_STATUS, /* a non-zero status ends the program and blames task `number` */
	SK_OP_FEED, /* takes part in sk_sync_all of the step at place `number` of the launch */
	SK_OP_WAITED, /* a block that has not waited by itself does so now, ends the program and blames task `number` */
	SK_OP_RESULT, /* stores the returned value as arguments[0] says */
	SK_OP_FENCE, /* orders non-temporal stores before whatever follows */
	SK_OP_FLUSH, /* all that this core has written is seen by all, and it sees what all others have written */
	SK_OP_PRELOAD, /* fetches the first `number` lines of the code of kernel `index`, or of its vector side */
	SK_OP_PUBLISH, /* this core has finished step `number` */
	SK_OP_TIME, /* if the core has a table of times: now it is at step `number`'s moment */
	SK_OP_EPILOGUE, /* leaves with 0; ends the function */
};

enum sk_block_order {
	SK_BLOCKS_ALL, /* 0, 1, … blocks - 1 */
	SK_BLOCKS_OF_CORE, /* the core's index, then every core count further */
	SK_BLOCKS_OF_RANGE, /* those in the core's range of partition `index` */
	SK_BLOCKS_RESIDENT, /* one at most: the core's index less first_core */
};

enum sk_moment { SK_ARRIVED, SK_BEGAN, SK_ENDED }; /* in the order of the fields of struct sk_times */

struct sk_op {
	enum sk_op_kind kind;
	uint32_t label;
	uint32_t lane;
	uint32_t index; /* partition and home: within the launch; kernel: of the plan */
	uint32_t number; /* of a step, or of a task */
	enum sk_block_order order;
	enum sk_moment moment;
	uint32_t blocks;
	uint32_t first_core;
	bool calls_runtime; /* the blocks can; `number` is their step's place in the launch */
	bool vector_side; /* CALL, PRELOAD: it is that of a mix kernel */
	bool divided; /* CALL: pointers with element_bytes lie at the range's start, LENGTH is the range's; else LENGTH
			 is extent */
	uint64_t extent;
	const struct sk_plan_argument *arguments;
	uint32_t argument_count;
	const char *name;
};

/* What one entry does. */
struct sk_entry_ops {
	SK_ARRAY(struct sk_op) ops;
	uint32_t label_count;
	uint32_t alignment; /* of the entry, at least the architecture's */
	bool serial; /* the entry's parameters are tensors and workspace, not a core */
	uint64_t serial_scratch; /* where the scratch of a serial entry begins in the workspace */
};

#endif
