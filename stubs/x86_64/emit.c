/* From neutral ops to x86-64 machine code, as doc/abi.md describes it. In: a program. Out: bytes, relocations, symbols,
 * unwind records.
 *
 * What is peculiar here:
 *   - Stores are not reordered with earlier loads and stores, nor loads with earlier loads (Intel SDM volume 3, 8.2.2):
 * a plain store publishes, a plain load and compare awaits. Only non-temporal stores need a fence.
 *   - The frame is made once, with room for every call's arguments, so rsp is aligned at every call (psABI 3.2.2).
 *   - What rarely happens (an await that has to wait, a status that is not 0) stands behind the function's return, so
 * the usual path runs straight on.
 *
 * Registers, if a program needs them:
 *   rbx core   rbp own progress word   r12 own lane's base   r13 bindings   r14 workspace   r15 ranges
 *   r10, r11   low and length of the current range or tile, up to the call
 *   rax, and before an argument's turn its own register: scratch */
#include "stubs/x86_64/emitter.h"

#include <elf.h>

static const struct sk_eh_machine eh_machine = {
	.code_alignment = 1,
	.data_alignment = -8,
	.return_address = 16,
	.stack_pointer = 7,
	.cfa_offset = 8,
	.return_address_at = -8,
};

static void begin_part(struct sk_x86_emitter *e, uint32_t task, bool frame)
{
	e->part = (struct sk_code_part){.offset = sk_x86_here(e), .task = task, .frame = frame};
	sk_array_push(e->code->arena, &e->code->parts, e->part);
}

/* ---- awaits, statuses, publishing, times ---- */

/* eax = what stands in the copy: of 64 bits the lower ones, or 1 if only those above them say something. */
static void load_status(struct sk_x86_emitter *e, const struct sk_plan_argument *argument)
{
	int32_t copy = (int32_t)e->status;

	/* mov eax, [copy] */
	PUT(e, LOAD32, .reg = SK_RAX, .rm = SK_RSP, .disp = copy);
	if (sk_dtype_size(argument->dtype) != 8)
		return;
	/* test eax, eax; jne known; cmp [copy + 4], eax; je known; inc eax;  known: */
	uint32_t known = sk_x86_new_label(e);

	PUT(e, TEST32, .rm = SK_RAX, .reg = SK_RAX);
	sk_x86_jump(e, SK_X86_JUMP_NOT_EQUAL, known);
	PUT(e, COMPARE32_MEMORY, .reg = SK_RAX, .rm = SK_RSP, .disp = copy + 4);
	sk_x86_jump(e, SK_X86_JUMP_EQUAL, known);
	PUT(e, INCREMENT32, .rm = SK_RAX);
	sk_x86_set_label(e, known);
}

static void emit_status(struct sk_x86_emitter *e, const struct sk_op *op)
{
	uint32_t failed = e->leave;

	if (!e->program->serial) {
		failed = sk_x86_new_label(e);
		sk_array_push(e->arena, &e->tails,
			      (struct sk_x86_tail){.label = failed, .reached = SK_NO_INDEX, .task = op->status.task});
	}
	if (op->status.argument)
		load_status(e, op->status.argument);
	PUT(e, TEST32, .rm = SK_RAX, .reg = SK_RAX);
	sk_x86_jump(e, SK_X86_JUMP_NOT_EQUAL, failed);
}

static void emit_feed(struct sk_x86_emitter *e, const struct sk_op *op)
{
	/* mov rdi, core; mov esi, step; mov rax, [core.runtime]; call [rax + feed] */
	PUT(e, MOVE64, .rm = SK_RDI, .reg = CORE);
	sk_x86_set_register(e, SK_RSI, op->feed.step);
	PUT(e, LOAD64, .reg = SK_RAX, .rm = CORE, .disp = CORE_RUNTIME);
	PUT(e, CALL_MEMORY, .rm = SK_RAX, .disp = RUNTIME_FEED);
}

static void emit_waited(struct sk_x86_emitter *e, const struct sk_op *op)
{
	uint32_t forgotten = sk_x86_new_label(e);

	sk_array_push(e->arena, &e->tails,
		      (struct sk_x86_tail){
			      .label = forgotten, .reached = SK_NO_INDEX, .task = op->waited.task, .forgotten = true});
	/* cmp dword ptr [block.waited], 0; je forgotten */
	PUT(e, COMPARE_MEMORY32_BYTE, .rm = SK_RSP, .disp = (int32_t)e->frame.block + BLOCK_WAITED);
	sk_x86_jump(e, SK_X86_JUMP_EQUAL, forgotten);
}

/* The slow path's arguments: rsi is the word, rdx the number to wait for, rcx the words that are left. */
static void emit_await(struct sk_x86_emitter *e, const struct sk_op *op)
{
	uint32_t waits = sk_x86_new_label(e), reached = sk_x86_new_label(e);

	if (op->await.lane == e->lane) {
		/* lea rdx, [base + number] */
		PUT(e, ADDRESS, .reg = SK_RDX, .rm = BASE, .disp = (int32_t)op->await.number);
	} else {
		/* mov edx, number; add rdx, [core.lanes[lane].base] */
		sk_x86_set_register(e, SK_RDX, op->await.number);
		PUT(e, ADD64_MEMORY, .reg = SK_RDX, .rm = CORE, .disp = LANE(op->await.lane) + LANE_BASE);
	}
	if (op->kind == SK_OP_AWAIT_HOME) {
		/* mov rsi, [core.homes]; mov rsi, [rsi + home.word]; cmp [rsi], rdx; jb waits */
		PUT(e, LOAD64, .reg = SK_RSI, .rm = CORE, .disp = CORE_HOMES);
		PUT(e, LOAD64, .reg = SK_RSI, .rm = SK_RSI, .disp = 16 * (int32_t)op->await.home + HOME_WORD);
		PUT(e, COMPARE_MEMORY64, .rm = SK_RSI, .reg = SK_RDX);
		sk_x86_jump(e, SK_X86_JUMP_BELOW, waits);
	} else {
		/*       mov rsi, [core.lanes[lane].words]; mov ecx, [core.lanes[lane].count]
		 * next: cmp [rsi], rdx; jb waits; sub rsi, -stride; dec ecx; jne next
		 * -128 fits into a byte, 128 does not. */
		uint32_t next = sk_x86_new_label(e);

		PUT(e, LOAD64, .reg = SK_RSI, .rm = CORE, .disp = LANE(op->await.lane) + LANE_WORDS);
		PUT(e, LOAD32, .reg = SK_RCX, .rm = CORE, .disp = LANE(op->await.lane) + LANE_COUNT);
		sk_x86_set_label(e, next);
		PUT(e, COMPARE_MEMORY64, .rm = SK_RSI, .reg = SK_RDX);
		sk_x86_jump(e, SK_X86_JUMP_BELOW, waits);
		PUT(e, SUBTRACT64_BYTE, .rm = SK_RSI, .immediate = (uint64_t)-SK_PROGRESS_STRIDE);
		PUT(e, DECREMENT32, .rm = SK_RCX);
		sk_x86_jump(e, SK_X86_JUMP_NOT_EQUAL, next);
	}
	sk_x86_set_label(e, reached);
	sk_array_push(e->arena, &e->tails,
		      (struct sk_x86_tail){.label = waits,
					   .reached = reached,
					   .one_word = op->kind == SK_OP_AWAIT_HOME,
					   .task = e->part.task});
}

/* Into the second-level cache, which is for code and data; prefetches never fault (Intel SDM volume 2, PREFETCHh). */
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

/* What the kernel has not called is called for it, so that nobody behind is told sooner than that. */
static void emit_forgotten(struct sk_x86_emitter *e)
{
	int32_t block = (int32_t)e->frame.block;

	/* lea rdi, [block]; mov rax, [block.functions]; call [rax + wait_pre_task_end]; mov eax, SK_STATUS_NOT_AWAITED
	 */
	PUT(e, ADDRESS, .reg = SK_RDI, .rm = SK_RSP, .disp = block);
	PUT(e, LOAD64, .reg = SK_RAX, .rm = SK_RSP, .disp = block + BLOCK_FUNCTIONS);
	PUT(e, CALL_MEMORY, .rm = SK_RAX, .disp = FUNCTIONS_WAIT_PRE_TASK_END);
	PUT(e, SET32, .rm = SK_RAX, .immediate = (uint32_t)SK_STATUS_NOT_AWAITED);
}

static void emit_tails(struct sk_x86_emitter *e)
{
	bool awaits = false;

	for (size_t i = 0; i < e->tails.count; i++) {
		const struct sk_x86_tail *tail = &e->tails.items[i];

		if (e->part.frame || e->part.task != tail->task)
			begin_part(e, tail->task, false);
		sk_x86_set_label(e, tail->label);
		if (tail->reached == SK_NO_INDEX) {
			/* mov dword ptr [core.failed_task], task; jmp leave */
			if (tail->forgotten)
				emit_forgotten(e);
			PUT(e, STORE32_IMMEDIATE, .rm = CORE, .disp = CORE_FAILED_TASK, .immediate = tail->task);
			sk_x86_jump(e, SK_X86_JUMP, e->leave);
			continue;
		}
		/* mov ecx, 1, of a home; mov rdi, core; mov rax, [core.runtime]; call [rax + await]; test eax, eax;
		 * je reached; jmp aborted */
		if (tail->one_word)
			PUT(e, SET32, .rm = SK_RCX, .immediate = 1);
		PUT(e, MOVE64, .rm = SK_RDI, .reg = CORE);
		PUT(e, LOAD64, .reg = SK_RAX, .rm = CORE, .disp = CORE_RUNTIME);
		PUT(e, CALL_MEMORY, .rm = SK_RAX, .disp = RUNTIME_AWAIT);
		PUT(e, TEST32, .rm = SK_RAX, .reg = SK_RAX);
		sk_x86_jump(e, SK_X86_JUMP_EQUAL, tail->reached);
		sk_x86_jump(e, SK_X86_JUMP, e->aborted);
		awaits = true;
	}
	e->tails.count = 0;
	if (!awaits)
		return;
	sk_x86_set_label(e, e->aborted);
	/* mov eax, SK_STATUS_ABORTED; jmp leave */
	PUT(e, SET32, .rm = SK_RAX, .immediate = (uint32_t)SK_STATUS_ABORTED);
	sk_x86_jump(e, SK_X86_JUMP, e->leave);
}

static void emit_publish(struct sk_x86_emitter *e, const struct sk_op *op)
{
	/* lea rax, [base + number]; mov [progress], rax */
	PUT(e, ADDRESS, .reg = SK_RAX, .rm = BASE, .disp = (int32_t)op->publish.number);
	PUT(e, STORE64, .reg = SK_RAX, .rm = PROGRESS);
}

/* The counter is read when everything before has been executed (Intel SDM volume 2, RDTSC). */
static void emit_time(struct sk_x86_emitter *e, const struct sk_op *op)
{
	uint32_t unwanted = sk_x86_new_label(e);
	uint32_t offset = (op->time.call - 1) * (uint32_t)sizeof(struct sk_times) + 8 * op->time.moment;

	/* mov rcx, [core.times]; test rcx, rcx; je unwanted */
	PUT(e, LOAD64, .reg = SK_RCX, .rm = CORE, .disp = CORE_TIMES);
	PUT(e, TEST64, .rm = SK_RCX, .reg = SK_RCX);
	sk_x86_jump(e, SK_X86_JUMP_EQUAL, unwanted);
	/* lfence; rdtsc; shl rdx, 32; add rax, rdx; mov [rcx + offset], rax */
	PUT(e, LOAD_FENCE, 0);
	PUT(e, READ_TIME, 0);
	PUT(e, SHIFT_LEFT64, .rm = SK_RDX, .immediate = 32);
	PUT(e, ADD64, .rm = SK_RAX, .reg = SK_RDX);
	PUT(e, STORE64, .reg = SK_RAX, .rm = SK_RCX, .disp = (int32_t)offset);
	sk_x86_set_label(e, unwanted);
}

/* ---- what a core computes ---- */

static void emit_home_guard(struct sk_x86_emitter *e, const struct sk_op *op)
{
	/* mov rax, [core.homes]; cmp dword ptr [rax + home.mine], 0; je label */
	PUT(e, LOAD64, .reg = SK_RAX, .rm = CORE, .disp = CORE_HOMES);
	PUT(e, COMPARE_MEMORY32_BYTE, .rm = SK_RAX, .disp = 16 * (int32_t)op->home_guard.home + HOME_MINE);
	sk_x86_jump(e, SK_X86_JUMP_EQUAL, op->home_guard.label);
}

static void emit_range(struct sk_x86_emitter *e, const struct sk_op *op)
{
	int32_t range = 16 * (int32_t)op->range.partition;

	/* mov r10, [ranges + low]; mov r11, [ranges + high]; sub r11, r10; jbe label */
	PUT(e, LOAD64, .reg = LOW, .rm = RANGES, .disp = range + RANGE_LOW);
	PUT(e, LOAD64, .reg = LENGTH, .rm = RANGES, .disp = range + RANGE_HIGH);
	PUT(e, SUBTRACT64, .rm = LENGTH, .reg = LOW);
	sk_x86_jump(e, SK_X86_JUMP_BELOW_EQUAL, op->range.label);
}

static int32_t tile_variable(const struct sk_x86_emitter *e, const struct sk_op_tiles *tiles, enum sk_variable outer)
{
	return sk_x86_tile_variable(e, outer + 2 * tiles->level);
}

/* rax holds where the tile begins at the loop's head, the frame while the kernel runs. */
static void emit_tiles_begin(struct sk_x86_emitter *e, const struct sk_op *op)
{
	const struct sk_op_tiles *tiles = &op->tiles;
	int32_t range = 16 * (int32_t)tiles->partition;

	if (tiles->of_range) {
		/* mov rax, [ranges + low]; cmp rax, [ranges + high]; jae label */
		PUT(e, LOAD64, .reg = SK_RAX, .rm = RANGES, .disp = range + RANGE_LOW);
		PUT(e, COMPARE64_MEMORY, .reg = SK_RAX, .rm = RANGES, .disp = range + RANGE_HIGH);
		sk_x86_jump(e, SK_X86_JUMP_ABOVE_EQUAL, tiles->label);
	} else {
		/* xor eax, eax */
		PUT(e, ZERO32, .reg = SK_RAX, .rm = SK_RAX);
	}
	/* next: mov [begin], rax */
	e->tiles[tiles->level] = sk_x86_new_label(e);
	sk_x86_set_label(e, e->tiles[tiles->level]);
	PUT(e, STORE64, .reg = SK_RAX, .rm = SK_RSP, .disp = tile_variable(e, tiles, SK_VARIABLE_BEGIN));
	if (sk_x86_tiles_are_full(&tiles->loop))
		return;
	/* mov ecx, extent; sub rcx, rax; mov edx, tile; cmp rcx, rdx; cmova rcx, rdx; mov [size], rcx */
	sk_x86_set_register(e, SK_RCX, tiles->loop.extent);
	PUT(e, SUBTRACT64, .rm = SK_RCX, .reg = SK_RAX);
	sk_x86_set_register(e, SK_RDX, tiles->loop.tile);
	PUT(e, COMPARE64, .rm = SK_RCX, .reg = SK_RDX);
	PUT(e, MOVE64_ABOVE, .reg = SK_RCX, .rm = SK_RDX);
	PUT(e, STORE64, .reg = SK_RCX, .rm = SK_RSP, .disp = tile_variable(e, tiles, SK_VARIABLE_SIZE));
}

static void emit_tiles_end(struct sk_x86_emitter *e, const struct sk_op *op)
{
	const struct sk_op_tiles *tiles = &op->tiles;

	/* mov rax, [begin]; add rax, tile; cmp rax, [ranges + high] or extent; jb next */
	PUT(e, LOAD64, .reg = SK_RAX, .rm = SK_RSP, .disp = tile_variable(e, tiles, SK_VARIABLE_BEGIN));
	sk_x86_add(e, SK_RAX, tiles->loop.tile);
	if (tiles->of_range) {
		PUT(e, COMPARE64_MEMORY, .reg = SK_RAX, .rm = RANGES,
		    .disp = 16 * (int32_t)tiles->partition + RANGE_HIGH);
	} else {
		sk_x86_set_register(e, SK_RCX, tiles->loop.extent);
		PUT(e, COMPARE64, .rm = SK_RAX, .reg = SK_RCX);
	}
	sk_x86_jump(e, SK_X86_JUMP_BELOW, e->tiles[tiles->level]);
}

/* cmp eax, the number that ends the blocks' loop */
static void emit_blocks_compare(struct sk_x86_emitter *e, const struct sk_op_blocks *blocks)
{
	if (blocks->order == SK_BLOCKS_OF_RANGE)
		PUT(e, COMPARE32_MEMORY, .reg = SK_RAX, .rm = RANGES,
		    .disp = 16 * (int32_t)blocks->partition + RANGE_HIGH);
	else if (blocks->count <= INT8_MAX)
		PUT(e, COMPARE32_BYTE, .rm = SK_RAX, .immediate = blocks->count);
	else
		PUT(e, COMPARE_EAX_IMMEDIATE, .immediate = blocks->count);
}

/* What the block's functions need, or that there are none. eax stays. */
static void emit_block_runtime(struct sk_x86_emitter *e, const struct sk_op_blocks *blocks)
{
	int32_t block = (int32_t)e->frame.block;

	if (!blocks->calls_runtime) {
		/* mov qword ptr [block.functions], 0 */
		PUT(e, STORE64_IMMEDIATE, .rm = SK_RSP, .disp = block + BLOCK_FUNCTIONS, .immediate = 0);
		return;
	}
	/* mov rcx, [core.runtime]; mov rcx, [runtime.block_functions]; mov [block.functions], rcx; mov [block.core],
	 * core; mov dword ptr [block.step], step */
	PUT(e, LOAD64, .reg = SK_RCX, .rm = CORE, .disp = CORE_RUNTIME);
	PUT(e, LOAD64, .reg = SK_RCX, .rm = SK_RCX, .disp = RUNTIME_BLOCK_FUNCTIONS);
	PUT(e, STORE64, .reg = SK_RCX, .rm = SK_RSP, .disp = block + BLOCK_FUNCTIONS);
	PUT(e, STORE64, .reg = CORE, .rm = SK_RSP, .disp = block + BLOCK_CORE);
	PUT(e, STORE32_IMMEDIATE, .rm = SK_RSP, .disp = block + BLOCK_STEP, .immediate = blocks->step);
}

/* eax holds the block's index at the loop's head, the frame's struct sk_block while the kernel runs. */
static void emit_blocks_begin(struct sk_x86_emitter *e, const struct sk_op *op)
{
	const struct sk_op_blocks *blocks = &op->blocks;
	int32_t block = (int32_t)e->frame.block;

	if (blocks->order == SK_BLOCKS_ALL) {
		/* xor eax, eax */
		PUT(e, ZERO32, .reg = SK_RAX, .rm = SK_RAX);
	} else {
		/* mov eax, [core.index] or [ranges + low]; sub rax, first; cmp eax, end; jae label
		 * A core in front of the first one has a number that is too great, being unsigned. */
		if (blocks->order == SK_BLOCKS_OF_RANGE)
			PUT(e, LOAD32, .reg = SK_RAX, .rm = RANGES,
			    .disp = 16 * (int32_t)blocks->partition + RANGE_LOW);
		else
			PUT(e, LOAD32, .reg = SK_RAX, .rm = CORE, .disp = CORE_INDEX);
		if (blocks->first_core != 0)
			PUT(e, SUBTRACT64_IMMEDIATE, .rm = SK_RAX, .immediate = blocks->first_core);
		emit_blocks_compare(e, blocks);
		sk_x86_jump(e, SK_X86_JUMP_ABOVE_EQUAL, blocks->label);
	}
	/* mov dword ptr [block.count], blocks;  …;  loop: mov [block.index], eax */
	PUT(e, STORE32_IMMEDIATE, .rm = SK_RSP, .disp = block + BLOCK_COUNT, .immediate = blocks->count);
	emit_block_runtime(e, blocks);
	e->loop = sk_x86_new_label(e);
	sk_x86_set_label(e, e->loop);
	PUT(e, STORE32, .reg = SK_RAX, .rm = SK_RSP, .disp = block + BLOCK_INDEX);
	/* mov dword ptr [block.waited], 0 */
	if (blocks->calls_runtime)
		PUT(e, STORE32_IMMEDIATE, .rm = SK_RSP, .disp = block + BLOCK_WAITED, .immediate = 0);
}

static void emit_blocks_end(struct sk_x86_emitter *e, const struct sk_op *op)
{
	if (op->blocks.order == SK_BLOCKS_RESIDENT)
		return;
	/* mov eax, [block.index]; add eax, [core.count] or inc eax; cmp eax, end; jb loop */
	PUT(e, LOAD32, .reg = SK_RAX, .rm = SK_RSP, .disp = (int32_t)e->frame.block + BLOCK_INDEX);
	if (op->blocks.order == SK_BLOCKS_OF_CORE)
		PUT(e, ADD32_MEMORY, .reg = SK_RAX, .rm = CORE, .disp = CORE_COUNT);
	else
		PUT(e, INCREMENT32, .rm = SK_RAX);
	emit_blocks_compare(e, &op->blocks);
	sk_x86_jump(e, SK_X86_JUMP_BELOW, e->loop);
}

/* ---- functions ---- */

static uint32_t blocks_registers(const struct sk_op_blocks *blocks)
{
	bool by_core = blocks->order == SK_BLOCKS_OF_CORE || blocks->order == SK_BLOCKS_RESIDENT;

	return (by_core || blocks->calls_runtime ? 1u << CORE : 0) |
	       (blocks->order == SK_BLOCKS_OF_RANGE ? 1u << RANGES : 0);
}

/* The registers of the contract that an op reads, apart from its arguments'. */
static uint32_t op_registers(const struct sk_x86_emitter *e, const struct sk_op *op)
{
	switch (op->kind) {
	case SK_OP_HOME_GUARD:
		return 1u << CORE;
	case SK_OP_AWAIT_HOME:
	case SK_OP_AWAIT_ALL:
		return 1u << CORE | (op->await.lane == e->lane ? 1u << BASE : 0);
	case SK_OP_TIME:
		return 1u << CORE;
	case SK_OP_STATUS:
		return e->program->serial ? 0 : 1u << CORE;
	case SK_OP_WAITED:
	case SK_OP_FEED:
		return 1u << CORE;
	case SK_OP_PUBLISH:
		return 1u << BASE | 1u << PROGRESS;
	case SK_OP_RANGE:
		return 1u << RANGES;
	case SK_OP_BLOCKS_BEGIN:
		return blocks_registers(&op->blocks);
	case SK_OP_TILES_BEGIN:
		return op->tiles.of_range ? 1u << RANGES : 0;
	default:
		return 0;
	}
}

/* What the program from its prologue to its epilogue needs. */
static struct sk_x86_frame survey(const struct sk_x86_emitter *e, const struct sk_op *op)
{
	struct sk_x86_frame frame = {0};
	uint32_t arguments = 0, copies = 0, tiles = 0, blocks = 0;

	for (; op->kind != SK_OP_EPILOGUE; op++) {
		struct sk_x86_call_needs needs = {0};

		if (op->kind == SK_OP_CALL)
			needs = sk_x86_call_needs(e, &op->call);
		frame.registers |= op_registers(e, op) | needs.registers;
		if (op->kind == SK_OP_BLOCKS_BEGIN)
			blocks = sizeof(struct sk_block);
		if (op->kind == SK_OP_TILES_BEGIN)
			tiles = 8 * SK_VARIABLE_BLOCK;
		arguments = needs.arguments > arguments ? needs.arguments : arguments;
		copies = needs.copies > copies ? needs.copies : copies;
	}
	frame.copies = arguments;
	frame.tile = arguments + copies;
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
	begin_part(e, e->part.task, true);
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
	emit_tails(e);
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
	begin_part(e, op->part.task, op->kind == SK_OP_FRAME);
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
	/* mfence: caches are coherent, only the core's own buffers are to be emptied. */
	PUT(e, FULL_FENCE, 0);
}

static void emit_call(struct sk_x86_emitter *e, const struct sk_op *op)
{
	sk_x86_emit_call(e, &op->call);
}

static void emit_result(struct sk_x86_emitter *e, const struct sk_op *op)
{
	sk_x86_emit_result(e, op->result.argument);
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
	[SK_OP_AWAIT_HOME] = emit_await,
	[SK_OP_AWAIT_ALL] = emit_await,
	[SK_OP_RANGE] = emit_range,
	[SK_OP_BLOCKS_BEGIN] = emit_blocks_begin,
	[SK_OP_BLOCKS_END] = emit_blocks_end,
	[SK_OP_TILES_BEGIN] = emit_tiles_begin,
	[SK_OP_TILES_END] = emit_tiles_end,
	[SK_OP_CALL] = emit_call,
	[SK_OP_STATUS] = emit_status,
	[SK_OP_FEED] = emit_feed,
	[SK_OP_WAITED] = emit_waited,
	[SK_OP_RESULT] = emit_result,
	[SK_OP_FENCE] = emit_fence,
	[SK_OP_FLUSH] = emit_flush,
	[SK_OP_PRELOAD] = emit_preload,
	[SK_OP_PUBLISH] = emit_publish,
	[SK_OP_TIME] = emit_time,
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

static const char *emit(struct sk_arena *scratch, const struct sk_entry_ops *program, struct sk_code *code)
{
	align(code, program->alignment);

	struct sk_x86_emitter e = {.arena = scratch, .program = program, .code = code, .start = *code};

	enum { SHORT = 32 }; /* ops whose jumps mostly reach */

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
	.emit = emit,
};
