/* Neutral ops: the actions of a dispatcher, in order and independent of the machine. dispatcher.c makes them from the
 * plan, the machine's emitter (dispatcher.h) turns them into machine code. They are in the arena, and the records that
 * they point to in the plan. */
#ifndef SK_STUBS_DISPATCHER_OPS_H
#define SK_STUBS_DISPATCHER_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "format/skdims.h"
#include "format/skplan.h"

struct sk_arena;
struct sk_dims_view;
struct sk_plan_view;

/* ==== slots.c ====
 *
 * The numbers of a plan in code: immediates, or values that code reads from the slots of a dynamic package
 * (format/skdims.h). In: a field of the plan. Out: its number, or its slot. */

struct sk_op_slots {
	struct sk_arena *arena;
	const struct sk_plan_view *plan;
	const struct sk_dims_view *dims;
	uint64_t *least; /* by value: at the least sizes */
	bool *reads; /* by value: set for the ones that code reads, as if each had a slot; NULL: slots are those of
			dims */
	const char *reason; /* why the code cannot be made, in the arena; NULL: it can be made */
};

/* `dims` NULL: return NULL. */
struct sk_op_slots *sk_op_slots_make(struct sk_arena *arena, const struct sk_plan_view *plan,
				     const struct sk_dims_view *dims, bool *reads);

struct sk_op_number {
	uint64_t number;
	uint32_t slot; /* SK_NO_INDEX: the number is the same at all sizes; otherwise it is `number` plus the slot's
			  value */
};

static inline bool sk_op_varies(struct sk_op_number number)
{
	return number.slot != SK_NO_INDEX;
}

/* Return the number of a field, which is `number` at the largest sizes. slots NULL: the package is static. */
struct sk_op_number sk_op_number(struct sk_op_slots *slots, enum sk_dims_table table, uint32_t record, size_t offset,
				 uint64_t number);

/* The same for a field of the argument of a call; call NULL: it does not vary. */
struct sk_op_number sk_op_argument_number(struct sk_op_slots *slots, const struct sk_plan_call *call,
					  const struct sk_plan_argument *argument, size_t offset, uint64_t number);

/* Fields of records in a table of the plan, and of an argument. */
#define SK_OP_NUMBER(program, table, records, record, field)                                                           \
	sk_op_number((program)->slots, (table), (uint32_t)((record) - (program)->plan->records),                       \
		     offsetof(__typeof__(*(record)), field), (uint64_t)(record)->field)
#define SK_OP_ARGUMENT_NUMBER(program, call, argument, field)                                                          \
	sk_op_argument_number((program)->slots, (call), (argument), offsetof(struct sk_plan_argument, field),          \
			      (argument)->field)

/* True if the call has nothing to compute at some sizes. */
bool sk_op_may_be_empty(const struct sk_op_slots *slots, const struct sk_plan_call *call);

/* Get the bytes that a call writes, if they are all 0 at some sizes: then it has nothing to compute. Return the number
 * of these numbers; 0: it always computes something. */
uint32_t sk_op_written(struct sk_op_slots *slots, const struct sk_plan_call *call, const struct sk_op_number **numbers);

/* ==== ops ==== */

/* The word before a colon is the member of an op's union for this kind. */
enum sk_op_kind {
	SK_OP_FUNCTION, /* function: begin one */
	SK_OP_FRAME, /* part: the following code begins the function, next to the code of the task */
	SK_OP_TASK, /* part: the following code belongs to the task, up to the next one or the epilogue */
	SK_OP_FORK, /* fork: in the entry, a core of another lane jumps to label */
	SK_OP_SPLIT, /* split: a core with an index modulo `copies` of c > 0 jumps to first_label + c - 1 */
	SK_OP_PROLOGUE, /* prologue: save registers, make the frame, load the fields of the core that the program needs
			 */
	SK_OP_LABEL, /* label: define it here */
	SK_OP_HOME_GUARD, /* home_guard: a core that is not the home jumps to label */
	SK_OP_AWAIT_HOME, /* await: wait until the home of lane has finished the step */
	SK_OP_AWAIT_ALL, /* await: wait until every core of lane has finished the step */
	SK_OP_EMPTY, /* empty: if all the numbers are 0, jump to label */
	SK_OP_GROUP_BEGIN, /* group: repeat up to GROUP_END for each tile of this core's part; none: jump to label */
	SK_OP_GROUP_END, /* group: the same as at the beginning */
	SK_OP_SCALE, /* scale: from here on the scaled tile is the current tile multiplied by this */
	SK_OP_RANGE, /* range: the kernel computes this part; if it is empty, jump to label */
	SK_OP_BLOCKS_GUARD, /* blocks: a core without a block jumps to label */
	SK_OP_BLOCKS_BEGIN, /* blocks: repeat up to BLOCKS_END for this core's blocks, in that order; none: jump to
			       label */
	SK_OP_BLOCKS_END, /* blocks: the same as at the beginning */
	SK_OP_TILES_BEGIN, /* tiles: repeat up to TILES_END for each; none: jump to label */
	SK_OP_TILES_END, /* tiles: the same as at the beginning */
	SK_OP_CALL, /* call: the kernel, or its vector side, with arguments */
	SK_OP_STATUS, /* status: a non-zero one of the call before ends the program and blames the task */
	SK_OP_FEED, /* feed: take part in sk_sync_all of the step */
	SK_OP_WAITED, /* waited: a block that has not waited does so now, ends the program and blames the task */
	SK_OP_RESULT, /* result: store the returned value at the argument's place */
	SK_OP_FENCE, /* order non-temporal stores before all later accesses */
	SK_OP_FLUSH, /* make all writes of this core visible to others, and theirs to this core */
	SK_OP_PRELOAD, /* preload: fetch the first lines of the code of the kernel, or of its vector side */
	SK_OP_PUBLISH, /* publish: this core has finished the step */
	SK_OP_TIME, /* time: if the core has a table of times, store the time of the row's moment */
	SK_OP_TIMED_TILE, /* time: if the core has a table of times, count one more tile at the row's moment */
	SK_OP_EPILOGUE, /* return 0; end the function */
};

enum sk_block_order {
	SK_ORDER_ALL, /* 0, 1, … count - 1 */
	SK_ORDER_OF_CORE, /* the core's index minus first_core modulo the core count, then in steps of the core count */
	SK_ORDER_OF_RANGE, /* those in the core's range of the partition */
	SK_ORDER_RESIDENT, /* at most one: the core's index minus first_core */
};

enum sk_moment { SK_ARRIVED, SK_BEGAN, SK_ENDED }; /* in the order of the fields of struct sk_times */

/* The part that a call, or a loop of calls, computes. */
enum sk_op_part {
	SK_PART_OF_CORE, /* this core's range of the partition */
	SK_PART_TILE, /* the current tile of a step in tiles, which is never empty … */
	SK_PART_SCALED, /* … in elements of the call's extent, if these are not the step's */
	SK_PART_ALL, /* in serial entries, of a loop: the whole extent */
};

struct sk_op_await {
	uint32_t lane;
	uint32_t number; /* of the step */
	uint32_t home; /* AWAIT_HOME: within the launch */
};

struct sk_op_blocks {
	enum sk_block_order order;
	uint32_t count;
	uint32_t first_core; /* SK_ORDER_RESIDENT, SK_ORDER_OF_CORE: the core with block 0 */
	uint32_t partition; /* SK_ORDER_OF_RANGE: within the launch */
	uint32_t label;
	uint32_t step; /* its index in the launch */
	bool calls_runtime; /* the blocks may call the runtime */
};

/* The tiles of a loop. */
struct sk_op_tiles {
	const struct sk_plan_loop *loop;
	uint32_t level; /* 0; 1: the inner loop, which covers ALL */
	enum sk_op_part part;
	uint32_t partition; /* OF_CORE: within the launch */
	uint32_t label; /* OF_CORE, or ALL with an extent that varies: where an empty loop continues */
};

/* The tiles of a step. */
struct sk_op_group {
	struct sk_op_number extent;
	uint64_t tile;
	uint32_t partition; /* within the launch; a serial entry covers the whole extent */
	uint32_t label;
};

struct sk_op_call {
	const struct sk_plan_call *record;
	uint32_t kernel; /* of the plan */
	uint32_t argument_count, loop_count;
	const struct sk_plan_argument *arguments;
	const struct sk_plan_loop *loops; /* the loops around it */
	uint64_t extent; /* of the step multiplied by the call's scale, at the largest sizes */
	struct sk_op_number step_extent;
	bool vector_side; /* the vector side of a mix kernel */
	enum sk_op_part part; /* that the call, or a loop of it, computes */
	bool divided; /* pointers with element_bytes are at the start of the range or tile, with its length as LENGTH;
			 otherwise LENGTH is extent */
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
		struct {
			const struct sk_op_number *numbers; /* each has a slot */
			uint32_t count;
			uint32_t label;
		} empty;
		struct sk_op_group group;
		uint64_t scale;
		struct sk_op_blocks blocks;
		struct sk_op_tiles tiles;
		struct sk_op_call call;
		struct {
			uint32_t step; /* its index in the launch */
		} feed;
		struct {
			const struct sk_plan_call *call;
			const struct sk_plan_argument *argument;
		} result;
		struct {
			uint32_t kernel; /* of the plan */
			uint32_t lines;
			bool vector_side; /* the vector side of a mix kernel */
		} preload;
		struct {
			uint32_t number; /* of the step */
		} publish;
		struct {
			uint32_t row; /* of the core's table, from 1 */
			enum sk_moment moment;
			uint32_t tiled_row; /* of a step with counted tiles, of which some are timed and added up; 0:
					       none */
		} time;
	};
};

/* The ops of one entry. */
struct sk_entry_ops {
	const struct sk_plan_view *plan;
	struct sk_op_slots *slots; /* NULL: all numbers are the same at all sizes */
	SK_ARRAY(struct sk_op) ops;
	uint32_t label_count;
	uint32_t alignment; /* of the entry, at least the architecture's */
	bool thunk; /* calls refer to words (stubs/dispatcher/dispatcher.h) instead of kernels and tasks */
	bool serial; /* the entry's parameters are tensors and workspace, not a core */
	uint64_t serial_scratch; /* offset of a serial entry's scratch in the workspace */
};

#endif
