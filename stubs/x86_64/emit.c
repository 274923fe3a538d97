/* From neutral ops to x86-64 machine code, with the calls and waits of doc/internals/package-format.md. In: a program.
 * Out: bytes, relocations, symbols, unwind records.
 *
 * Properties of this machine:
 *
 *   - Stores are not reordered with earlier loads and stores, nor loads with earlier loads (Intel SDM volume 3, 8.2.2):
 * a plain store publishes, a plain load and compare awaits. Only non-temporal stores need a fence.
 *   - The frame is made once, with room for every call's arguments, so rsp is aligned at every call (psABI 3.2.2).
 *   - Rare paths (an await that has to wait, a status that is not 0) are after the function's return, so that the usual
 *     path has no taken jumps.
 *
 * Registers, if a program needs them:
 *
 *   rbx core   rbp own progress word   r12 own lane's base   r13 bindings   r14 workspace   r15 ranges
 *   r10, r11   low and length of the current range or tile, up to the call
 *   rax, and before an argument's turn its own register: scratch */
#include "stubs/x86_64/emitter.h"

#include <elf.h>

#include "base/arena.h"
#include "format/relocation-types.h"
#include "format/skabi.h"
#include "format/skkernel.h"
#include "format/skplan.h"
#include "format/x86_64/registers.h"
#include "stubs/dispatcher/dispatcher.h"
#include "stubs/dispatcher/ops.h"

static const struct sk_eh_machine eh_machine = {
	.code_alignment = 1,
	.data_alignment = -8,
	.return_address = 16,
	.stack_pointer = 7,
	.cfa_offset = 8,
	.return_address_at = -8,
};

/* Prefetch into the second-level cache, which is for code and data; prefetches never fault (Intel SDM volume 2,
 * PREFETCHh). */
static void emit_preload(struct sk_x86_emitter *e, const struct sk_op *op)
{
	uint32_t next = sk_x86_new_label(e);

	/* lea rax, [rip+kernel]; mov ecx, lines;  next: prefetcht1 [rax]; add rax, 64; dec ecx; jne next */
	PUT(e, ADDRESS_RELATIVE, .reg = SK_RAX);
	sk_x86_relocate(e, false, op->preload.vector_side ? SK_CODE_VECTOR_KERNEL : SK_CODE_KERNEL, op->preload.kernel,
			0);
	sk_x86_set_register(e, SK_RCX, op->preload.lines);
	sk_x86_set_label(e, next);
	PUT(e, PREFETCH, .rm = SK_RAX);
	PUT(e, ADD64_BYTE, .rm = SK_RAX, .immediate = SK_PRELOAD_LINE);
	PUT(e, DECREMENT32, .rm = SK_RCX);
	sk_x86_jump(e, SK_X86_JUMP_NOT_EQUAL, next);
}

static int32_t time_offset(uint32_t row, enum sk_moment moment)
{
	return (int32_t)((row - 1) * sizeof(struct sk_times) + 8 * moment);
}

/* rcx = the core's table; jump to the label if it has none. */
static void load_times(struct sk_x86_emitter *e, uint32_t unwanted)
{
	/* mov rcx, [core.times]; test rcx, rcx; je unwanted */
	PUT(e, LOAD64, .reg = SK_RCX, .rm = CORE, .disp = CORE_TIMES);
	PUT(e, TEST64, .rm = SK_RCX, .reg = SK_RCX);
	sk_x86_jump(e, SK_X86_JUMP_EQUAL, unwanted);
}

/* The counter is read after all earlier instructions have been executed (Intel SDM volume 2, RDTSC). The tiles of a
 * step that have been run are counted in the place of its end. */
static void emit_time(struct sk_x86_emitter *e, const struct sk_op *op)
{
	uint32_t unwanted = sk_x86_new_label(e);
	int32_t offset = time_offset(op->time.row, op->time.moment);

	load_times(e, unwanted);
	if (op->time.tiled_row) {
		/* mov rax, [rcx + ended]; and rax, SK_TIMED_TILES - 1; jne unwanted */
		PUT(e, LOAD64, .reg = SK_RAX, .rm = SK_RCX, .disp = time_offset(op->time.tiled_row, SK_ENDED));
		PUT(e, AND64_IMMEDIATE, .rm = SK_RAX, .immediate = SK_TIMED_TILES - 1);
		sk_x86_jump(e, SK_X86_JUMP_NOT_EQUAL, unwanted);
	}
	/* lfence; rdtsc; shl rdx, 32; add rax, rdx; mov [rcx + offset], rax */
	PUT(e, LOAD_FENCE, 0);
	PUT(e, READ_TIME, 0);
	PUT(e, SHIFT_LEFT64, .rm = SK_RDX, .immediate = 32);
	PUT(e, ADD64, .rm = SK_RAX, .reg = SK_RDX);
	/* add rax, [rcx + offset] */
	if (op->time.tiled_row)
		PUT(e, ADD64_MEMORY, .reg = SK_RAX, .rm = SK_RCX, .disp = offset);
	PUT(e, STORE64, .reg = SK_RAX, .rm = SK_RCX, .disp = offset);
	sk_x86_set_label(e, unwanted);
}

static void emit_timed_tile(struct sk_x86_emitter *e, const struct sk_op *op)
{
	uint32_t unwanted = sk_x86_new_label(e);
	int32_t offset = time_offset(op->time.row, op->time.moment);

	load_times(e, unwanted);
	/* mov rax, [rcx + offset]; add rax, 1; mov [rcx + offset], rax */
	PUT(e, LOAD64, .reg = SK_RAX, .rm = SK_RCX, .disp = offset);
	PUT(e, ADD64_BYTE, .rm = SK_RAX, .immediate = 1);
	PUT(e, STORE64, .reg = SK_RAX, .rm = SK_RCX, .disp = offset);
	sk_x86_set_label(e, unwanted);
}

static void emit_home_guard(struct sk_x86_emitter *e, const struct sk_op *op)
{
	/* mov rax, [core.homes]; cmp dword ptr [rax + home.mine], 0; je label */
	PUT(e, LOAD64, .reg = SK_RAX, .rm = CORE, .disp = CORE_HOMES);
	PUT(e, COMPARE_MEMORY32_BYTE, .rm = SK_RAX, .disp = 16 * (int32_t)op->home_guard.home + HOME_MINE);
	sk_x86_jump(e, SK_X86_JUMP_EQUAL, op->home_guard.label);
}

/* ---- functions ---- */

static uint32_t blocks_registers(const struct sk_op_blocks *blocks)
{
	bool by_core = blocks->order == SK_ORDER_OF_CORE || blocks->order == SK_ORDER_RESIDENT;

	return (by_core || blocks->calls_runtime ? 1u << CORE : 0) |
	       (blocks->order == SK_ORDER_OF_RANGE ? 1u << RANGES : 0);
}

/* Return the registers of the contract that an op reads, apart from those of its arguments, and of slots. */
static uint32_t op_registers(const struct sk_x86_emitter *e, const struct sk_op *op)
{
	switch (op->kind) {
	case SK_OP_HOME_GUARD:
		return 1u << CORE;
	case SK_OP_AWAIT_HOME:
	case SK_OP_AWAIT_ALL:
		return 1u << CORE | (op->await.lane == e->lane ? 1u << BASE : 0);
	case SK_OP_TIME:
	case SK_OP_TIMED_TILE:
		return 1u << CORE;
	case SK_OP_STATUS:
		return e->program->serial ? 0 : 1u << CORE;
	case SK_OP_WAITED:
	case SK_OP_FEED:
		return 1u << CORE;
	case SK_OP_PUBLISH:
		return 1u << BASE | 1u << PROGRESS;
	case SK_OP_RANGE:
		return op->range.part == SK_PART_OF_CORE ? 1u << RANGES : 0;
	case SK_OP_GROUP_BEGIN:
		return e->program->serial ? 0 : 1u << RANGES;
	case SK_OP_BLOCKS_GUARD:
	case SK_OP_BLOCKS_BEGIN:
		return blocks_registers(&op->blocks);
	case SK_OP_TILES_BEGIN:
		return op->tiles.part == SK_PART_OF_CORE ? 1u << RANGES : 0;
	default:
		return 0;
	}
}

/* Return the needs of the program from its prologue to its epilogue. */
static struct sk_x86_frame survey(const struct sk_x86_emitter *e, const struct sk_op *op)
{
	struct sk_x86_frame frame = {.registers = e->program->slots ? 1u << BINDINGS : 0};
	uint32_t arguments = 0, copies = 0, parts = 0, tiles = 0, blocks = 0;

	for (; op->kind != SK_OP_EPILOGUE; op++) {
		struct sk_x86_call_needs needs = {0};

		if (op->kind == SK_OP_CALL)
			needs = sk_x86_call_needs(e, &op->call);
		frame.registers |= op_registers(e, op) | needs.registers;
		if (op->kind == SK_OP_BLOCKS_BEGIN)
			blocks = sizeof(struct sk_block);
		if (op->kind == SK_OP_GROUP_BEGIN)
			parts = 2 * sizeof(struct sk_core_range);
		if (op->kind == SK_OP_TILES_BEGIN)
			tiles = 8 * SK_VARIABLE_BLOCK;
		arguments = needs.arguments > arguments ? needs.arguments : arguments;
		copies = needs.copies > copies ? needs.copies : copies;
	}
	frame.copies = arguments;
	frame.parts = arguments + copies;
	frame.tile = frame.parts + parts;
	frame.block = frame.tile + tiles;
	frame.size = frame.block + blocks;
	/* At entry rsp + 8 is a multiple of 16; at a call rsp is (psABI 3.2.2). */
	if ((8 + 8 * (uint32_t)__builtin_popcount(frame.registers) + frame.size) % sk_x86_convention.stack_alignment !=
	    0)
		frame.size += 8;
	return frame;
}

static void load_from_core(struct sk_x86_emitter *e, uint8_t reg, int32_t disp)
{
	if (e->frame.registers & 1u << reg)
		PUT(e, LOAD64, .reg = reg, .rm = SK_RDI, .disp = disp);
}

static void keep_parameter(struct sk_x86_emitter *e, uint8_t reg, uint8_t parameter)
{
	if (e->frame.registers & 1u << reg)
		PUT(e, MOVE64, .rm = reg, .reg = parameter);
}

static void emit_prologue(struct sk_x86_emitter *e, const struct sk_op *op)
{
	uint32_t cfa = 8;

	e->lane = op->prologue.lane;
	e->leave = sk_x86_new_label(e);
	e->aborted = sk_x86_new_label(e);
	e->frame = survey(e, op);
	for (size_t i = 0; i < sk_x86_convention.preserved_count; i++) {
		const struct sk_preserved_register *preserved = &sk_x86_convention.preserved[i];

		if (!(e->frame.registers & 1u << preserved->number))
			continue;
		/* push reg */
		PUT(e, PUSH, .rm = preserved->number);
		cfa += 8;
		sk_eh_cfa_offset(&e->eh, sk_x86_here(e), cfa);
		sk_eh_saved(&e->eh, sk_x86_here(e), preserved->dwarf, cfa);
	}
	if (e->frame.size != 0) {
		/* sub rsp, size */
		sk_x86_put(e, e->frame.size <= INT8_MAX ? SK_X86_SUBTRACT64_BYTE : SK_X86_SUBTRACT64_IMMEDIATE,
			   (struct sk_x86_operands){.rm = SK_RSP, .immediate = e->frame.size});
		sk_eh_cfa_offset(&e->eh, sk_x86_here(e), cfa + e->frame.size);
	}
	if (e->program->serial) {
		/* mov r13, rdi; mov r14, rsi */
		keep_parameter(e, BINDINGS, SK_RDI);
		keep_parameter(e, WORKSPACE, SK_RSI);
		return;
	}
	/* mov rbx, rdi; mov reg, [rdi + field] */
	keep_parameter(e, CORE, SK_RDI);
	load_from_core(e, PROGRESS, CORE_PROGRESS);
	load_from_core(e, BASE, LANE(e->lane) + LANE_BASE);
	load_from_core(e, BINDINGS, CORE_BINDINGS);
	load_from_core(e, WORKSPACE, CORE_WORKSPACE);
	load_from_core(e, RANGES, CORE_RANGES);
}

static void emit_epilogue(struct sk_x86_emitter *e, const struct sk_op *op)
{
	uint32_t cfa = 8 + 8 * (uint32_t)__builtin_popcount(e->frame.registers);

	(void)op;
	sk_x86_begin_part(e, e->part.task, true);
	/* xor eax, eax;  leave: add rsp, size; pop …; ret */
	PUT(e, ZERO32, .reg = SK_RAX, .rm = SK_RAX);
	sk_x86_set_label(e, e->leave);
	sk_eh_remember(&e->eh, sk_x86_here(e));
	if (e->frame.size != 0) {
		sk_x86_put(e, e->frame.size <= INT8_MAX ? SK_X86_ADD64_BYTE : SK_X86_ADD64_IMMEDIATE,
			   (struct sk_x86_operands){.rm = SK_RSP, .immediate = e->frame.size});
		sk_eh_cfa_offset(&e->eh, sk_x86_here(e), cfa);
	}
	for (size_t i = sk_x86_convention.preserved_count; i-- > 0;) {
		uint8_t reg = sk_x86_convention.preserved[i].number;

		if (!(e->frame.registers & 1u << reg))
			continue;
		PUT(e, POP, .rm = reg);
		cfa -= 8;
		sk_eh_cfa_offset(&e->eh, sk_x86_here(e), cfa);
	}
	PUT(e, RETURN, 0);
	sk_eh_restore(&e->eh, sk_x86_here(e));
	sk_x86_emit_tails(e);
}

static void end_function(struct sk_x86_emitter *e)
{
	size_t count = e->code->symbols.count;

	if (count == e->start.symbols.count)
		return;

	struct sk_code_symbol *symbol = &e->code->symbols.items[count - 1];

	symbol->size = sk_x86_here(e) - symbol->offset;
	sk_eh_function_end(&e->eh, sk_x86_here(e));
}

static void emit_function(struct sk_x86_emitter *e, const struct sk_op *op)
{
	end_function(e);
	sk_array_push(e->code->arena, &e->code->symbols,
		      (struct sk_code_symbol){.name = op->function.name, .offset = sk_x86_here(e)});
	sk_eh_function_begin(&e->eh, sk_x86_here(e));
}

static void emit_fork(struct sk_x86_emitter *e, const struct sk_op *op)
{
	/* cmp dword ptr [rdi + core.lane], lane; jne label */
	PUT(e, COMPARE_MEMORY32_BYTE, .rm = SK_RDI, .disp = CORE_LANE, .immediate = op->fork.lane);
	sk_x86_jump(e, SK_X86_JUMP_NOT_EQUAL, op->fork.label);
}

static void emit_split(struct sk_x86_emitter *e, const struct sk_op *op)
{
	/* mov eax, [rdi + core.index]; xor edx, edx; mov ecx, copies; div ecx; cmp edx, 1; je label … */
	PUT(e, LOAD32, .reg = SK_RAX, .rm = SK_RDI, .disp = CORE_INDEX);
	PUT(e, ZERO32, .reg = SK_RDX, .rm = SK_RDX);
	sk_x86_set_register(e, SK_RCX, op->split.copies);
	PUT(e, DIVIDE32, .rm = SK_RCX);
	for (uint32_t copy = 1; copy < op->split.copies; copy++) {
		PUT(e, COMPARE32_BYTE, .rm = SK_RDX, .immediate = copy);
		sk_x86_jump(e, SK_X86_JUMP_EQUAL, op->split.first_label + copy - 1);
	}
}

static void emit_part(struct sk_x86_emitter *e, const struct sk_op *op)
{
	sk_x86_begin_part(e, op->part.task, op->kind == SK_OP_FRAME);
}

static void emit_label(struct sk_x86_emitter *e, const struct sk_op *op)
{
	sk_x86_set_label(e, op->label);
}

static void emit_fence(struct sk_x86_emitter *e, const struct sk_op *op)
{
	(void)op;
	/* sfence */
	PUT(e, STORE_FENCE, 0);
}

static void emit_flush(struct sk_x86_emitter *e, const struct sk_op *op)
{
	(void)op;
	/* mfence: caches are coherent, so only the core's own buffers must be emptied. */
	PUT(e, FULL_FENCE, 0);
}

static void emit_call(struct sk_x86_emitter *e, const struct sk_op *op)
{
	sk_x86_emit_call(e, &op->call);
}

static void emit_result(struct sk_x86_emitter *e, const struct sk_op *op)
{
	sk_x86_emit_result(e, op->result.call, op->result.argument);
}

static void (*const emit_op[])(struct sk_x86_emitter *e, const struct sk_op *op) = {
	[SK_OP_FUNCTION] = emit_function,
	[SK_OP_FRAME] = emit_part,
	[SK_OP_TASK] = emit_part,
	[SK_OP_FORK] = emit_fork,
	[SK_OP_SPLIT] = emit_split,
	[SK_OP_PROLOGUE] = emit_prologue,
	[SK_OP_LABEL] = emit_label,
	[SK_OP_HOME_GUARD] = emit_home_guard,
	[SK_OP_AWAIT_HOME] = sk_x86_emit_await,
	[SK_OP_AWAIT_ALL] = sk_x86_emit_await,
	[SK_OP_EMPTY] = sk_x86_emit_empty,
	[SK_OP_GROUP_BEGIN] = sk_x86_emit_group_begin,
	[SK_OP_GROUP_END] = sk_x86_emit_group_end,
	[SK_OP_SCALE] = sk_x86_emit_scale,
	[SK_OP_RANGE] = sk_x86_emit_range,
	[SK_OP_BLOCKS_GUARD] = sk_x86_emit_blocks_guard,
	[SK_OP_BLOCKS_BEGIN] = sk_x86_emit_blocks_begin,
	[SK_OP_BLOCKS_END] = sk_x86_emit_blocks_end,
	[SK_OP_TILES_BEGIN] = sk_x86_emit_tiles_begin,
	[SK_OP_TILES_END] = sk_x86_emit_tiles_end,
	[SK_OP_CALL] = emit_call,
	[SK_OP_STATUS] = sk_x86_emit_status,
	[SK_OP_FEED] = sk_x86_emit_feed,
	[SK_OP_WAITED] = sk_x86_emit_waited,
	[SK_OP_RESULT] = emit_result,
	[SK_OP_FENCE] = emit_fence,
	[SK_OP_FLUSH] = emit_flush,
	[SK_OP_PRELOAD] = emit_preload,
	[SK_OP_PUBLISH] = sk_x86_emit_publish,
	[SK_OP_TIME] = emit_time,
	[SK_OP_TIMED_TILE] = emit_timed_tile,
	[SK_OP_EPILOGUE] = emit_epilogue,
};

static void emit_pass(struct sk_x86_emitter *e)
{
	e->code->bytes.count = e->start.bytes.count;
	e->code->relocations.count = e->start.relocations.count;
	e->code->symbols.count = e->start.symbols.count;
	e->code->parts.count = e->start.parts.count;
	e->code->eh_frame.count = e->start.eh_frame.count;
	e->code->eh_frame_starts.count = e->start.eh_frame_starts.count;
	e->label_count = e->program->label_count;
	e->jump_count = 0;
	sk_eh_open(&e->eh, e->code, &eh_machine);
	for (size_t i = 0; i < e->program->ops.count; i++)
		emit_op[e->program->ops.items[i].kind](e, &e->program->ops.items[i]);
	end_function(e);
}

/* Entries begin at multiples of SK_CODE_ALIGNMENT, or of more; int3 between them. */
static void align(struct sk_code *code, uint32_t wanted)
{
	uint32_t alignment = wanted > SK_CODE_ALIGNMENT ? wanted : SK_CODE_ALIGNMENT;

	while (code->bytes.count % alignment)
		sk_array_push(code->arena, &code->bytes, 0xcc);
	if (alignment > code->alignment)
		code->alignment = alignment;
}

static const char *emit_entry(struct sk_arena *scratch, const struct sk_entry_ops *program, struct sk_code *code)
{
	align(code, program->alignment);

	struct sk_x86_emitter e = {.arena = scratch, .program = program, .code = code, .start = *code};

	enum { SHORT = 32 }; /* the most ops with jumps that usually reach */

	e.try_near = program->ops.count <= SHORT;
	emit_pass(&e);
	if (e.try_near && sk_x86_choose_near_jumps(&e)) {
		e.try_near = false;
		e.jumps.count = 0;
		emit_pass(&e);
	}
	if (code->bytes.count > INT32_MAX)
		return "the dispatcher exceeds 2 GiB";
	if (!e.try_near && sk_x86_choose_near_jumps(&e))
		emit_pass(&e);
	sk_x86_patch_jumps(&e);
	return NULL;
}

const struct sk_emitter sk_emitter_x86_64 = {
	.machine = EM_X86_64,
	.name = "x86-64",
	.relocations = &sk_relocations_x86_64,
	.emit = emit_entry,
};
