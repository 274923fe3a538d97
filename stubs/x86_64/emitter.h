/* Neutral ops to machine code: the state of one emission, and the encodings of instructions. */
#ifndef SK_STUBS_X86_64_EMITTER_H
#define SK_STUBS_X86_64_EMITTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "format/skabi.h"
#include "format/skkernel.h"
#include "format/skplan.h"
#include "format/x86_64/registers.h"
#include "stubs/dispatcher/dispatcher.h"
#include "stubs/dispatcher/ops.h"

struct sk_arena;

/* ==== encode.c ====
 *
 * x86-64 instructions: a row for each form that dispatchers use. In: a form and its operands. Out: the bytes. The
 * purpose of instructions is known in x86_64/emit.c. tests/unit/emit.sh compares every row with the system's
 * assembler. */

/* clang-format off */
/* A branch's rel32 form follows its rel8 form. */
enum sk_x86_form {
	SK_X86_PUSH, SK_X86_POP,
	SK_X86_MOVE64,
	SK_X86_LOAD64, SK_X86_LOAD32, SK_X86_LOAD_U16, SK_X86_LOAD_I16, SK_X86_LOAD_U8, SK_X86_LOAD_I8,
	SK_X86_STORE64, SK_X86_STORE32, SK_X86_STORE16, SK_X86_STORE8,
	SK_X86_STORE64_IMMEDIATE, SK_X86_STORE32_IMMEDIATE,
	SK_X86_ADDRESS, SK_X86_ADDRESS_RELATIVE,
	SK_X86_ZERO32,
	SK_X86_SET32, SK_X86_SET64_SIGNED, SK_X86_SET64,
	SK_X86_ADD64, SK_X86_ADD64_MEMORY, SK_X86_ADD32_MEMORY,
	SK_X86_ADD64_BYTE, SK_X86_ADD64_IMMEDIATE,
	SK_X86_SUBTRACT64, SK_X86_SUBTRACT64_MEMORY, SK_X86_SUBTRACT64_BYTE, SK_X86_SUBTRACT64_IMMEDIATE,
	SK_X86_INCREMENT32, SK_X86_DECREMENT32,
	SK_X86_SHIFT_LEFT64, SK_X86_SHIFT_RIGHT64, SK_X86_SHIFT_RIGHT64_SIGNED,
	SK_X86_AND64_IMMEDIATE,
	SK_X86_DIVIDE32, SK_X86_DIVIDE64,
	SK_X86_MULTIPLY64, SK_X86_MULTIPLY64_MEMORY, SK_X86_MULTIPLY64_BYTE, SK_X86_MULTIPLY64_IMMEDIATE,
	SK_X86_MOVE64_ABOVE,
	SK_X86_COMPARE_MEMORY64, SK_X86_COMPARE_MEMORY32_BYTE, SK_X86_COMPARE32_MEMORY, SK_X86_COMPARE64_MEMORY,
	SK_X86_COMPARE64,
	SK_X86_COMPARE32_BYTE, SK_X86_COMPARE_EAX_IMMEDIATE,
	SK_X86_TEST32, SK_X86_TEST64,
	SK_X86_ZERO_FLOAT, SK_X86_TO_FLOAT32, SK_X86_TO_FLOAT64, SK_X86_FROM_FLOAT32, SK_X86_FROM_FLOAT64,
	SK_X86_JUMP, SK_X86_JUMP_FAR,
	SK_X86_JUMP_BELOW, SK_X86_JUMP_BELOW_FAR,
	SK_X86_JUMP_ABOVE_EQUAL, SK_X86_JUMP_ABOVE_EQUAL_FAR,
	SK_X86_JUMP_EQUAL, SK_X86_JUMP_EQUAL_FAR,
	SK_X86_JUMP_NOT_EQUAL, SK_X86_JUMP_NOT_EQUAL_FAR,
	SK_X86_JUMP_BELOW_EQUAL, SK_X86_JUMP_BELOW_EQUAL_FAR,
	SK_X86_CALL, SK_X86_CALL_MEMORY,
	SK_X86_RETURN,
	SK_X86_STORE_FENCE, SK_X86_LOAD_FENCE,
	SK_X86_READ_TIME,
	SK_X86_FULL_FENCE,
	SK_X86_PREFETCH,
	SK_X86_FORM_COUNT,
};
/* clang-format on */

/* The layout of operands in the instruction (Intel SDM volume 2, chapter 2). */
enum sk_x86_layout {
	SK_X86_BARE, /* opcode, immediate */
	SK_X86_IN_OPCODE, /* the register `rm` in the opcode's low bits */
	SK_X86_REGISTERS, /* ModRM with two registers */
	SK_X86_WITH_MEMORY, /* ModRM, SIB, displacement */
	SK_X86_RIP, /* ModRM with a displacement from the next instruction */
};

enum { SK_X86_WIDE = 1 /* REX.W */, SK_X86_ESCAPE = 2 /* opcode after 0f */, SK_X86_BYTE_REGISTER = 4 };

struct sk_x86_instruction {
	/* Intel syntax. Operands: r64 r32 r16 r8 x the ModRM register, s64 s32 y the one in r/m or in the opcode, [m]
	 * memory, i8 i32 i64 immediates, rel8 rel32 displacements from the next instruction. */
	const char *assembly;
	uint8_t layout; /* enum sk_x86_layout */
	uint8_t flags;
	uint8_t prefix; /* 0: none */
	uint8_t opcode;
	uint8_t extension; /* ModRM register field if it is part of the opcode */
	uint8_t immediate; /* bytes of the immediate or branch displacement */
};

extern const struct sk_x86_instruction sk_x86_instructions[SK_X86_FORM_COUNT];

/* Fields that the form lacks are ignored, except reg, which must be 0 then. */
struct sk_x86_operands {
	uint8_t reg; /* r64 …, x */
	uint8_t rm; /* s64 …, y; with memory: the base */
	uint8_t index; /* with memory, if scale is not 0; never SK_RSP */
	uint8_t scale; /* 1, 2, 4, 8; 0: no index */
	int32_t disp; /* with memory; RIP: the displacement */
	uint64_t immediate; /* and branch displacements; truncated to the form's size */
};

enum { SK_X86_LONGEST = 24 }; /* bytes that may be written; those after the length have no meaning */

/* Return the length. Displacements of memory operands have the shortest form. */
size_t sk_x86_encode(uint8_t bytes[SK_X86_LONGEST], enum sk_x86_form form, struct sk_x86_operands operands);

/* ==== emitter ====
 *
 * Shared only by the files that emit x86-64 code: x86_64/emit.c (functions and ops), x86_64/waits.c (ops that wait,
 * publish or end), x86_64/loops.c (the part of a core), x86_64/call.c (calls and the passing of arguments),
 * x86_64/values.c (the values of arguments), x86_64/assemble.c (labels, jumps, relocations). Registers and offsets are
 * those of doc/internals/package-format.md. */

/* A program loads the needed ones in its prologue. */
enum {
	CORE = SK_RBX,
	PROGRESS = SK_RBP,
	BASE = SK_R12,
	BINDINGS = SK_R13,
	WORKSPACE = SK_R14,
	RANGES = SK_R15,
	LOW = SK_R10,
	LENGTH = SK_R11,
};

/* Offsets; the headers must agree with them. */
#define LANE(lane) (80 + 24 * (int32_t)(lane))
enum {
	CORE_LANE = 0,
	CORE_INDEX = 4,
	CORE_COUNT = 8,
	CORE_FAILED_TASK = 12,
	CORE_PROGRESS = 16,
	CORE_BINDINGS = 24,
	CORE_WORKSPACE = 32,
	CORE_SCRATCH = 40,
	CORE_RANGES = 48,
	CORE_HOMES = 56,
	CORE_RUNTIME = 64,
	CORE_TIMES = 72,
	LANE_BASE = 0,
	LANE_WORDS = 8,
	LANE_COUNT = 16,
	RUNTIME_AWAIT = 0,
	RUNTIME_FEED = 8,
	RUNTIME_BLOCK_FUNCTIONS = 16,
	HOME_WORD = 0,
	HOME_MINE = 8,
	RANGE_LOW = 0,
	RANGE_HIGH = 8,
	BLOCK_INDEX = 0,
	BLOCK_COUNT = 4,
	BLOCK_FUNCTIONS = 8,
	BLOCK_CORE = 16,
	BLOCK_STEP = 24,
	BLOCK_WAITED = 28,
	FUNCTIONS_WAIT_PRE_TASK_END = 24,
};
#define AGREES(type, field, value) _Static_assert(offsetof(struct type, field) == (value), "see package-format.md")
AGREES(sk_core, lane, CORE_LANE);
AGREES(sk_core, index, CORE_INDEX);
AGREES(sk_core, count, CORE_COUNT);
AGREES(sk_core, failed_task, CORE_FAILED_TASK);
AGREES(sk_core, progress, CORE_PROGRESS);
AGREES(sk_core, bindings, CORE_BINDINGS);
AGREES(sk_core, workspace, CORE_WORKSPACE);
AGREES(sk_core, scratch, CORE_SCRATCH);
AGREES(sk_core, ranges, CORE_RANGES);
AGREES(sk_core, homes, CORE_HOMES);
AGREES(sk_core, runtime, CORE_RUNTIME);
AGREES(sk_core, times, CORE_TIMES);
AGREES(sk_core, lanes[1], LANE(1));
AGREES(sk_lane, base, LANE_BASE);
AGREES(sk_lane, words, LANE_WORDS);
AGREES(sk_lane, count, LANE_COUNT);
AGREES(sk_runtime, await, RUNTIME_AWAIT);
AGREES(sk_runtime, feed, RUNTIME_FEED);
AGREES(sk_runtime, block_functions, RUNTIME_BLOCK_FUNCTIONS);
AGREES(sk_home, word, HOME_WORD);
AGREES(sk_home, mine, HOME_MINE);
AGREES(sk_core_range, low, RANGE_LOW);
AGREES(sk_core_range, high, RANGE_HIGH);
AGREES(sk_times, arrived, 8 * SK_ARRIVED);
AGREES(sk_times, began, 8 * SK_BEGAN);
AGREES(sk_times, ended, 8 * SK_ENDED);
AGREES(sk_block, index, BLOCK_INDEX);
AGREES(sk_block, count, BLOCK_COUNT);
AGREES(sk_block, functions, BLOCK_FUNCTIONS);
AGREES(sk_block, core, BLOCK_CORE);
AGREES(sk_block, step, BLOCK_STEP);
AGREES(sk_block, waited, BLOCK_WAITED);
AGREES(sk_block_functions, wait_pre_task_end, FUNCTIONS_WAIT_PRE_TASK_END);

/* From rsp: arguments of calls, copies of arguments by reference, the tile of a step and the scaled one (each a struct
 * sk_core_range), a word for each of the first SK_VARIABLE_BLOCK variables of the tile of a loop, the block. */
struct sk_x86_frame {
	uint32_t registers; /* a bit for each used register that the function must preserve */
	uint32_t copies, parts, tile, block, size;
};

/* Code after the return. */
struct sk_x86_tail {
	uint32_t label;
	uint32_t reached; /* await: the label to continue at after waiting; else SK_NO_INDEX */
	bool one_word; /* await: of a home, not of all cores of a lane */
	uint32_t task; /* that it belongs to */
	bool forgotten; /* SK_OP_WAITED: wait for the kernel; the status is SK_STATUS_NOT_AWAITED */
};

struct sk_x86_jump {
	uint64_t end; /* the displacement ends here */
	uint32_t label;
	bool near; /* 1-byte displacement */
};

struct sk_x86_emitter {
	struct sk_arena *arena; /* scratch */
	const struct sk_entry_ops *program;
	struct sk_code *code;
	struct sk_code start; /* the code before the first pass */
	struct sk_eh_frame eh;
	bool try_near; /* all jumps are near, and it is not known yet whether they reach */
	uint32_t label_count; /* the program's, then the emitter's own */
	SK_ARRAY(uint64_t) labels;
	SK_ARRAY(struct sk_x86_jump) jumps; /* in the order of the code, the same in both passes */
	size_t jump_count;
	SK_ARRAY(struct sk_x86_tail) tails;
	struct sk_x86_frame frame;
	uint32_t lane; /* of the current program */
	struct sk_code_part part; /* the last one begun */
	uint32_t loop; /* label: of the current blocks */
	uint32_t group; /* label: of the current step's tiles */
	uint32_t tiles[SK_MAX_LOOPS]; /* labels: of the current loops */
	uint32_t status; /* offset in the frame: the last call's copy of the argument that is its status */
	uint32_t leave; /* label: returns eax */
	uint32_t aborted; /* label: returns SK_STATUS_ABORTED */
};

/* ---- assemble.c ---- */

static inline uint64_t sk_x86_here(const struct sk_x86_emitter *e)
{
	return e->code->bytes.count;
}

void sk_x86_put(struct sk_x86_emitter *e, enum sk_x86_form form, struct sk_x86_operands operands);
#define PUT(e, form, ...) sk_x86_put((e), SK_X86_##form, (struct sk_x86_operands){__VA_ARGS__})

/* mov reg, value in the shortest form. Changes the flags. */
void sk_x86_set_register(struct sk_x86_emitter *e, uint8_t reg, uint64_t value);

uint32_t sk_x86_new_label(struct sk_x86_emitter *e);
void sk_x86_set_label(struct sk_x86_emitter *e, uint32_t label);

/* `form` is the near one of the two. */
void sk_x86_jump(struct sk_x86_emitter *e, enum sk_x86_form form, uint32_t label);

/* To be called after a pass: make each jump near if it reaches. False if nothing changes: the code is final. */
bool sk_x86_choose_near_jumps(struct sk_x86_emitter *e);

/* To be called after the last pass: fill in the displacements. */
void sk_x86_patch_jumps(struct sk_x86_emitter *e);

/* add reg, value in the shortest form; uses rcx if the value is not an i32. */
void sk_x86_add(struct sk_x86_emitter *e, uint8_t reg, uint64_t value);

/* The displacement is the 4 bytes before this place; it is relative to their end. */
void sk_x86_relocate(struct sk_x86_emitter *e, bool call, enum sk_code_target target, uint32_t index, uint64_t offset);

/* From here on the code belongs to a task, or is a frame for it. */
void sk_x86_begin_part(struct sk_x86_emitter *e, uint32_t task, bool frame);

/* ---- waits.c ---- */

void sk_x86_emit_status(struct sk_x86_emitter *e, const struct sk_op *op);
void sk_x86_emit_feed(struct sk_x86_emitter *e, const struct sk_op *op);
void sk_x86_emit_waited(struct sk_x86_emitter *e, const struct sk_op *op);
void sk_x86_emit_await(struct sk_x86_emitter *e, const struct sk_op *op);
void sk_x86_emit_publish(struct sk_x86_emitter *e, const struct sk_op *op);

/* To be called after a function's return. */
void sk_x86_emit_tails(struct sk_x86_emitter *e);

/* ---- loops.c ---- */

void sk_x86_emit_empty(struct sk_x86_emitter *e, const struct sk_op *op);
void sk_x86_emit_group_begin(struct sk_x86_emitter *e, const struct sk_op *op);
void sk_x86_emit_group_end(struct sk_x86_emitter *e, const struct sk_op *op);
void sk_x86_emit_scale(struct sk_x86_emitter *e, const struct sk_op *op);
void sk_x86_emit_range(struct sk_x86_emitter *e, const struct sk_op *op);
void sk_x86_emit_tiles_begin(struct sk_x86_emitter *e, const struct sk_op *op);
void sk_x86_emit_tiles_end(struct sk_x86_emitter *e, const struct sk_op *op);
void sk_x86_emit_blocks_guard(struct sk_x86_emitter *e, const struct sk_op *op);
void sk_x86_emit_blocks_begin(struct sk_x86_emitter *e, const struct sk_op *op);
void sk_x86_emit_blocks_end(struct sk_x86_emitter *e, const struct sk_op *op);

/* ---- values.c ---- */

static inline bool sk_x86_is_i32(uint64_t value)
{
	return value == (uint64_t)(int32_t)value;
}

/* Return the extent of a loop of the plan. */
struct sk_op_number sk_x86_extent(const struct sk_x86_emitter *e, const struct sk_plan_loop *loop);

/* True if each tile of the loop has its full size. */
bool sk_x86_tiles_are_full(const struct sk_x86_emitter *e, const struct sk_plan_loop *loop);

/* Return the offset of the slot of a number that varies from BINDINGS. */
int32_t sk_x86_slot(const struct sk_x86_emitter *e, struct sk_op_number number);

/* Return the offset of TILE or SCALED from rsp. */
static inline int32_t sk_x86_part(const struct sk_x86_emitter *e, enum sk_op_part part)
{
	return (int32_t)(e->frame.parts + (part == SK_PART_SCALED ? sizeof(struct sk_core_range) : 0));
}

static inline bool sk_x86_is_in_scratch(const struct sk_plan_argument *argument)
{
	return argument->kind == SK_ARGUMENT_SCRATCH || argument->space == SK_SPACE_SCRATCH;
}

/* Return the offset of a thunk's word from BINDINGS. */
static inline int32_t sk_x86_word(uint32_t word)
{
	return 8 * (int32_t)word;
}

/* Return the offset of a variable of the tile from rsp. */
static inline int32_t sk_x86_tile_variable(const struct sk_x86_emitter *e, enum sk_variable variable)
{
	return (int32_t)(e->frame.tile + 8 * variable);
}

struct sk_x86_memory {
	uint8_t base;
	int32_t disp;
};

/* into = a number of the plan, apart from the offset of an operand. Changes the flags. */
void sk_x86_set_number(struct sk_x86_emitter *e, uint8_t into, struct sk_op_number number);

/* Return the address of an argument of the call without its range's start. May use `into` and `scratch`. Call NULL: the
 * argument does not vary. */
struct sk_x86_memory sk_x86_locate(struct sk_x86_emitter *e, const struct sk_plan_call *call,
				   const struct sk_plan_argument *argument, uint8_t into, uint8_t scratch);

/* into = the number of elements of a call that is not divided, at sizes with which it varies. */
void sk_x86_load_extent(struct sk_x86_emitter *e, const struct sk_op_call *call, uint8_t into);

/* into = an address: of a tensor's part, of scratch, of the block, of a symbol. */
void sk_x86_set_address(struct sk_x86_emitter *e, const struct sk_op_call *call,
			const struct sk_plan_argument *argument, uint8_t into, uint8_t scratch);

/* True if a scalar is the same at every call; get its bits. */
bool sk_x86_is_constant(const struct sk_x86_emitter *e, const struct sk_op_call *call,
			const struct sk_plan_argument *argument, uint64_t *bits);

/* True if the argument is computed before all others: it needs more registers than its own and a scratch register. */
bool sk_x86_is_early(const struct sk_x86_emitter *e, const struct sk_op_call *call,
		     const struct sk_plan_argument *argument);

/* into = the expression, which is not a constant. An early one is computed in rdi and rax, and also uses rcx and
 * rdx. */
void sk_x86_compute_expression(struct sk_x86_emitter *e, const struct sk_op_call *call,
			       const struct sk_plan_argument *argument, uint8_t into, uint8_t scratch);

/* ---- call.c ---- */

/* The needs of a call: its part of the frame, and the registers that a program must load for it. */
struct sk_x86_call_needs {
	uint32_t registers; /* bits */
	uint32_t arguments; /* bytes of arguments on the stack */
	uint32_t copies; /* bytes of copies of arguments, by reference or computed before the others */
};

struct sk_x86_call_needs sk_x86_call_needs(const struct sk_x86_emitter *e, const struct sk_op_call *call);
void sk_x86_emit_call(struct sk_x86_emitter *e, const struct sk_op_call *call);
void sk_x86_emit_result(struct sk_x86_emitter *e, const struct sk_plan_call *call,
			const struct sk_plan_argument *result);

#endif
