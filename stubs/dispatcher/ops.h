/* Neutral ops: what a dispatcher does, one after the other, without saying how. dispatcher.c makes them from the plan,
 * the machine's emitter (dispatcher.h) turns them into machine code. They live in the arena, and the records they point
 * to in the plan. */
#ifndef SK_STUBS_DISPATCHER_OPS_H
#define SK_STUBS_DISPATCHER_OPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "format/skplan.h"

struct sk_plan_view;

/* The words in front of a colon say which part of an op's union holds what the kind has. */
enum sk_op_kind {
	SK_OP_FUNCTION, /* function: begins one */
	SK_OP_FRAME, /* part: what follows begins the function, next to the code of the task */
	SK_OP_TASK, /* part: what follows is for the task, up to the next one or the epilogue */
	SK_OP_FORK, /* fork: in the entry, a core of another lane jumps to label */
	SK_OP_SPLIT, /* split: a core whose index modulo `copies` is c > 0 jumps to first_label + c - 1 */
	SK_OP_PROLOGUE, /* prologue: saves registers, makes the frame, loads what the program needs of its core */
	SK_OP_LABEL, /* label: stands here */
	SK_OP_HOME_GUARD, /* home_guard: a core that is not the home jumps to label */
	SK_OP_AWAIT_HOME, /* await: until the home of lane has finished the step */
	SK_OP_AWAIT_ALL, /* await: until every core of lane has finished the step */
	SK_OP_GROUP_BEGIN, /* group: repeats up to GROUP_END for each tile of this core's part; none: jump to label */
	SK_OP_GROUP_END, /* group: as it began */
	SK_OP_SCALE, /* scale: from here on the scaled tile is so many times the tile at hand */
	SK_OP_RANGE, /* range: the kernel computes this part; if it is empty, jump to label */
	SK_OP_BLOCKS_BEGIN, /* blocks: repeats up to BLOCKS_END for this core's, as order says; none: jump to label */
	SK_OP_BLOCKS_END, /* blocks: as they began */
	SK_OP_TILES_BEGIN, /* tiles: repeats up to TILES_END for each; none: jump to label */
	SK_OP_TILES_END, /* tiles: as they began */
	SK_OP_CALL, /* call: the kernel, or if so its vector side, with arguments */
	SK_OP_STATUS, /* status: one that is not zero, of the call in front, ends the program and blames the task */
	SK_OP_FEED, /* feed: takes part in sk_sync_all of the step */
	SK_OP_WAITED, /* waited: a block that has not waited does so now, ends the program and blames the task */
	SK_OP_RESULT, /* result: stores the returned value as the argument says */
	SK_OP_FENCE, /* orders non-temporal stores before whatever follows */
	SK_OP_FLUSH, /* all that this core has written is seen by all, and it sees what all others have written */
	SK_OP_PRELOAD, /* preload: fetches the first lines of the code of the kernel, or of its vector side */
	SK_OP_PUBLISH, /* publish: this core has finished the step */
	SK_OP_TIME, /* time: if the core has a table of times, now it is at the row's moment */
	SK_OP_TIMED_TILE, /* time: if the core has a table of times, the row's moment counts one tile more */
	SK_OP_EPILOGUE, /* leaves with 0; ends the function */
};

enum sk_block_order {
	SK_ORDER_ALL, /* 0, 1, … count - 1 */
	SK_ORDER_OF_CORE, /* the core's index less first_core modulo the core count, then every core count further */
	SK_ORDER_OF_RANGE, /* those in the core's range of the partition */
	SK_ORDER_RESIDENT, /* one at most: the core's index less first_core */
};

enum sk_moment { SK_ARRIVED, SK_BEGAN, SK_ENDED }; /* in the order of the fields of struct sk_times */

/* What a call computes, or a loop of calls. */
enum sk_op_part {
	SK_PART_OF_CORE, /* this core's range of the partition */
	SK_PART_TILE, /* the tile at hand of a step in tiles, which is never empty … */
	SK_PART_SCALED, /* … in elements of the call's extent, if these are not the step's */
	SK_PART_ALL, /* in serial entries, of a loop: all of the extent */
};

struct sk_op_await {
	uint32_t lane;
	uint32_t number; /* of the step */
	uint32_t home; /* AWAIT_HOME: within the launch */
};

struct sk_op_blocks {
	enum sk_block_order order;
	uint32_t count;
	uint32_t first_core; /* SK_ORDER_RESIDENT, SK_ORDER_OF_CORE: it has block 0 */
	uint32_t partition; /* SK_ORDER_OF_RANGE: within the launch */
	uint32_t label;
	uint32_t step; /* its place in the launch */
	bool calls_runtime; /* the blocks can */
};

/* The tiles of a loop. */
struct sk_op_tiles {
	struct sk_plan_loop loop;
	uint32_t level; /* 0; 1: inside of it, which goes through ALL */
	enum sk_op_part part;
	uint32_t partition; /* OF_CORE: within the launch */
	uint32_t label; /* OF_CORE */
};

/* The tiles of a step. */
struct sk_op_group {
	uint64_t extent, tile;
	uint32_t partition; /* within the launch; a serial entry goes through all of the extent */
	uint32_t label;
};

struct sk_op_call {
	uint32_t kernel; /* of the plan */
	uint32_t argument_count, loop_count;
	const struct sk_plan_argument *arguments;
	const struct sk_plan_loop *loops; /* that it stands in */
	uint64_t extent;
	bool vector_side; /* it is that of a mix kernel */
	enum sk_op_part part; /* that it computes, or a loop of it */
	bool divided; /* pointers with element_bytes lie at the start of the range or tile, whose length is LENGTH; else
			 that is extent */
};

struct sk_op {
	enum sk_op_kind kind;
	union {
		struct {
			const char *name;
		} function;
		struct {
			uint32_t task;
		} part, waited;
		struct {
			uint32_t task;
			const struct sk_plan_argument *argument; /* its copy is the status; NULL: the returned value */
		} status;
		struct {
			uint32_t lane;
			uint32_t label;
		} fork;
		struct {
			uint32_t copies;
			uint32_t first_label;
		} split;
		struct {
			uint32_t lane;
		} prologue;
		uint32_t label;
		struct {
			uint32_t home; /* within the launch */
			uint32_t label;
		} home_guard;
		struct sk_op_await await;
		struct {
			enum sk_op_part part; /* not ALL */
			uint32_t partition; /* OF_CORE: within the launch */
			uint32_t label; /* OF_CORE */
		} range;
		struct sk_op_group group;
		uint64_t scale;
		struct sk_op_blocks blocks;
		struct sk_op_tiles tiles;
		struct sk_op_call call;
		struct {
			uint32_t step; /* its place in the launch */
		} feed;
		struct {
			const struct sk_plan_argument *argument;
		} result;
		struct {
			uint32_t kernel; /* of the plan */
			uint32_t lines;
			bool vector_side; /* it is that of a mix kernel */
		} preload;
		struct {
			uint32_t number; /* of the step */
		} publish;
		struct {
			uint32_t row; /* of the core's table, from 1 */
			enum sk_moment moment;
			uint32_t tiled_row; /* of the step whose tiles are counted, of which some are timed, and times
					       are added up; 0: it is in none */
		} time;
	};
};

/* What one entry does. */
struct sk_entry_ops {
	const struct sk_plan_view *plan;
	SK_ARRAY(struct sk_op) ops;
	uint32_t label_count;
	uint32_t alignment; /* of the entry, at least the architecture's */
	bool thunk; /* calls name words (stubs/dispatcher/dispatcher.h) instead of kernels and tasks */
	bool serial; /* the entry's parameters are tensors and workspace, not a core */
	uint64_t serial_scratch; /* where the scratch of a serial entry begins in the workspace */
};

#endif
