/* The part of a step that this core computes: its range, and the loops of tiles and of blocks around a call. */
#include "stubs/x86_64/emitter.h"

#include "format/skplan.h"
#include "format/x86_64/registers.h"
#include "stubs/dispatcher/ops.h"

/* Return the place of a part's first element, and that after its last one. */
static struct sk_x86_memory bound_of(const struct sk_x86_emitter *e, enum sk_op_part part, uint32_t partition,
				     int32_t bound)
{
	if (part == SK_PART_OF_CORE)
		return (struct sk_x86_memory){RANGES, 16 * (int32_t)partition + bound};
	return (struct sk_x86_memory){SK_RSP, sk_x86_part(e, part) + bound};
}

void sk_x86_emit_range(struct sk_x86_emitter *e, const struct sk_op *op)
{
	struct sk_x86_memory low = bound_of(e, op->range.part, op->range.partition, RANGE_LOW);
	struct sk_x86_memory high = bound_of(e, op->range.part, op->range.partition, RANGE_HIGH);

	/* mov r10, [low]; mov r11, [high]; sub r11, r10; jbe label */
	PUT(e, LOAD64, .reg = LOW, .rm = low.base, .disp = low.disp);
	PUT(e, LOAD64, .reg = LENGTH, .rm = high.base, .disp = high.disp);
	PUT(e, SUBTRACT64, .rm = LENGTH, .reg = LOW);
	if (op->range.part == SK_PART_OF_CORE)
		sk_x86_jump(e, SK_X86_JUMP_BELOW_EQUAL, op->range.label);
}

/* Jump to the label if all the numbers are 0. They are bytes of tensors, which together are less than 2^64, or one
 * number. */
static void jump_if_empty(struct sk_x86_emitter *e, const struct sk_op_number *numbers, uint32_t count, uint32_t label)
{
	/* mov rax, [slot]; add rax, [slot] …; test rax, rax; je label */
	PUT(e, LOAD64, .reg = SK_RAX, .rm = BINDINGS, .disp = sk_x86_slot(e, numbers[0]));
	for (uint32_t i = 1; i < count; i++)
		PUT(e, ADD64_MEMORY, .reg = SK_RAX, .rm = BINDINGS, .disp = sk_x86_slot(e, numbers[i]));
	PUT(e, TEST64, .rm = SK_RAX, .reg = SK_RAX);
	sk_x86_jump(e, SK_X86_JUMP_EQUAL, label);
}

void sk_x86_emit_empty(struct sk_x86_emitter *e, const struct sk_op *op)
{
	jump_if_empty(e, op->empty.numbers, op->empty.count, op->empty.label);
}

/* ---- the tiles of a step ---- */

/* rcx = the end of the part that is divided into tiles */
static void load_end(struct sk_x86_emitter *e, const struct sk_op_group *group)
{
	if (e->program->serial)
		sk_x86_set_number(e, SK_RCX, group->extent);
	else
		PUT(e, LOAD64, .reg = SK_RCX, .rm = RANGES, .disp = 16 * (int32_t)group->partition + RANGE_HIGH);
}

/* At the loop's head rax has the start of the tile; while kernels run, the frame has it. */
void sk_x86_emit_group_begin(struct sk_x86_emitter *e, const struct sk_op *op)
{
	const struct sk_op_group *group = &op->group;
	int32_t tile = sk_x86_part(e, SK_PART_TILE);

	/* mov rax, [ranges + low] or 0; mov rcx, end; cmp rax, rcx; jae label */
	if (e->program->serial)
		PUT(e, ZERO32, .reg = SK_RAX, .rm = SK_RAX);
	else
		PUT(e, LOAD64, .reg = SK_RAX, .rm = RANGES, .disp = 16 * (int32_t)group->partition + RANGE_LOW);
	load_end(e, group);
	PUT(e, COMPARE64, .rm = SK_RAX, .reg = SK_RCX);
	sk_x86_jump(e, SK_X86_JUMP_ABOVE_EQUAL, group->label);
	/* next: mov [low], rax; mov rdx, tile; add rax, rdx; cmp rax, rcx; cmova rax, rcx; mov [high], rax */
	e->group = sk_x86_new_label(e);
	sk_x86_set_label(e, e->group);
	PUT(e, STORE64, .reg = SK_RAX, .rm = SK_RSP, .disp = tile + RANGE_LOW);
	sk_x86_set_register(e, SK_RDX, group->tile);
	PUT(e, ADD64, .rm = SK_RAX, .reg = SK_RDX);
	PUT(e, COMPARE64, .rm = SK_RAX, .reg = SK_RCX);
	PUT(e, MOVE64_ABOVE, .reg = SK_RAX, .rm = SK_RCX);
	PUT(e, STORE64, .reg = SK_RAX, .rm = SK_RSP, .disp = tile + RANGE_HIGH);
}

void sk_x86_emit_group_end(struct sk_x86_emitter *e, const struct sk_op *op)
{
	/* mov rax, [high]; mov rcx, end; cmp rax, rcx; jb next */
	PUT(e, LOAD64, .reg = SK_RAX, .rm = SK_RSP, .disp = sk_x86_part(e, SK_PART_TILE) + RANGE_HIGH);
	load_end(e, &op->group);
	PUT(e, COMPARE64, .rm = SK_RAX, .reg = SK_RCX);
	sk_x86_jump(e, SK_X86_JUMP_BELOW, e->group);
}

void sk_x86_emit_scale(struct sk_x86_emitter *e, const struct sk_op *op)
{
	static const int32_t bounds[] = {RANGE_LOW, RANGE_HIGH};

	/* mov rcx, scale; mov rax, [tile]; imul rax, rcx; mov [scaled], rax, for both bounds */
	sk_x86_set_register(e, SK_RCX, op->scale);
	for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
		PUT(e, LOAD64, .reg = SK_RAX, .rm = SK_RSP, .disp = sk_x86_part(e, SK_PART_TILE) + bounds[i]);
		PUT(e, MULTIPLY64, .reg = SK_RAX, .rm = SK_RCX);
		PUT(e, STORE64, .reg = SK_RAX, .rm = SK_RSP, .disp = sk_x86_part(e, SK_PART_SCALED) + bounds[i]);
	}
}

/* ---- the tiles that a call computes ---- */

static int32_t tile_variable(const struct sk_x86_emitter *e, const struct sk_op_tiles *tiles, enum sk_variable outer)
{
	return sk_x86_tile_variable(e, outer + 2 * tiles->level);
}

/* At the loop's head rax has the start of the tile; while the kernel runs, the frame has it. */
void sk_x86_emit_tiles_begin(struct sk_x86_emitter *e, const struct sk_op *op)
{
	const struct sk_op_tiles *tiles = &op->tiles;

	struct sk_op_number extent = sk_x86_extent(e, tiles->loop);

	if (tiles->part == SK_PART_ALL && sk_op_varies(extent))
		jump_if_empty(e, &extent, 1, tiles->label);
	if (tiles->part == SK_PART_ALL) {
		/* xor eax, eax */
		PUT(e, ZERO32, .reg = SK_RAX, .rm = SK_RAX);
	} else {
		struct sk_x86_memory low = bound_of(e, tiles->part, tiles->partition, RANGE_LOW);
		struct sk_x86_memory high = bound_of(e, tiles->part, tiles->partition, RANGE_HIGH);

		/* mov rax, [low]; cmp rax, [high]; jae label */
		PUT(e, LOAD64, .reg = SK_RAX, .rm = low.base, .disp = low.disp);
		if (tiles->part == SK_PART_OF_CORE) {
			PUT(e, COMPARE64_MEMORY, .reg = SK_RAX, .rm = high.base, .disp = high.disp);
			sk_x86_jump(e, SK_X86_JUMP_ABOVE_EQUAL, tiles->label);
		}
	}
	/* next: mov [begin], rax */
	e->tiles[tiles->level] = sk_x86_new_label(e);
	sk_x86_set_label(e, e->tiles[tiles->level]);
	PUT(e, STORE64, .reg = SK_RAX, .rm = SK_RSP, .disp = tile_variable(e, tiles, SK_VARIABLE_BEGIN));
	if (sk_x86_tiles_are_full(e, tiles->loop))
		return;
	/* mov ecx, extent; sub rcx, rax; mov edx, tile; cmp rcx, rdx; cmova rcx, rdx; mov [size], rcx */
	sk_x86_set_number(e, SK_RCX, extent);
	PUT(e, SUBTRACT64, .rm = SK_RCX, .reg = SK_RAX);
	sk_x86_set_register(e, SK_RDX, tiles->loop->tile);
	PUT(e, COMPARE64, .rm = SK_RCX, .reg = SK_RDX);
	PUT(e, MOVE64_ABOVE, .reg = SK_RCX, .rm = SK_RDX);
	PUT(e, STORE64, .reg = SK_RCX, .rm = SK_RSP, .disp = tile_variable(e, tiles, SK_VARIABLE_SIZE));
}

void sk_x86_emit_tiles_end(struct sk_x86_emitter *e, const struct sk_op *op)
{
	const struct sk_op_tiles *tiles = &op->tiles;

	/* mov rax, [begin]; add rax, tile; cmp rax, [high] or extent; jb next */
	PUT(e, LOAD64, .reg = SK_RAX, .rm = SK_RSP, .disp = tile_variable(e, tiles, SK_VARIABLE_BEGIN));
	sk_x86_add(e, SK_RAX, tiles->loop->tile);
	if (tiles->part == SK_PART_ALL) {
		sk_x86_set_number(e, SK_RCX, sk_x86_extent(e, tiles->loop));
		PUT(e, COMPARE64, .rm = SK_RAX, .reg = SK_RCX);
	} else {
		struct sk_x86_memory high = bound_of(e, tiles->part, tiles->partition, RANGE_HIGH);

		PUT(e, COMPARE64_MEMORY, .reg = SK_RAX, .rm = high.base, .disp = high.disp);
	}
	sk_x86_jump(e, SK_X86_JUMP_BELOW, e->tiles[tiles->level]);
}

/* cmp eax, the number that ends the loop of blocks */
static void emit_blocks_compare(struct sk_x86_emitter *e, const struct sk_op_blocks *blocks)
{
	if (blocks->order == SK_ORDER_OF_RANGE)
		PUT(e, COMPARE32_MEMORY, .reg = SK_RAX, .rm = RANGES,
		    .disp = 16 * (int32_t)blocks->partition + RANGE_HIGH);
	else if (blocks->count <= INT8_MAX)
		PUT(e, COMPARE32_BYTE, .rm = SK_RAX, .immediate = blocks->count);
	else
		PUT(e, COMPARE_EAX_IMMEDIATE, .immediate = blocks->count);
}

/* Set the fields for the block's functions, or clear them. Preserves eax. */
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

/* Cores before the first one come after the last one, modulo the cores of the launch. There may be fewer cores than the
 * first one's number. */
static void emit_blocks_wrap(struct sk_x86_emitter *e)
{
	uint32_t again = sk_x86_new_label(e), there = sk_x86_new_label(e);

	/* jae there; again: add eax, [core.count]; jae again; there: */
	sk_x86_jump(e, SK_X86_JUMP_ABOVE_EQUAL, there);
	sk_x86_set_label(e, again);
	PUT(e, ADD32_MEMORY, .reg = SK_RAX, .rm = CORE, .disp = CORE_COUNT);
	sk_x86_jump(e, SK_X86_JUMP_ABOVE_EQUAL, again);
	sk_x86_set_label(e, there);
}

/* Set eax to the core's first block, or jump to the label if it has none. */
static void emit_first_block(struct sk_x86_emitter *e, const struct sk_op_blocks *blocks)
{
	/* mov eax, [core.index] or [ranges + low]; sub rax, first; …; cmp eax, end; jae label
	 * A core before the first one has a number that is too large, being unsigned. */
	if (blocks->order == SK_ORDER_OF_RANGE)
		PUT(e, LOAD32, .reg = SK_RAX, .rm = RANGES, .disp = 16 * (int32_t)blocks->partition + RANGE_LOW);
	else
		PUT(e, LOAD32, .reg = SK_RAX, .rm = CORE, .disp = CORE_INDEX);
	if (blocks->first_core != 0)
		PUT(e, SUBTRACT64_IMMEDIATE, .rm = SK_RAX, .immediate = blocks->first_core);
	if (blocks->first_core != 0 && blocks->order == SK_ORDER_OF_CORE)
		emit_blocks_wrap(e);
	emit_blocks_compare(e, blocks);
	sk_x86_jump(e, SK_X86_JUMP_ABOVE_EQUAL, blocks->label);
}

void sk_x86_emit_blocks_guard(struct sk_x86_emitter *e, const struct sk_op *op)
{
	emit_first_block(e, &op->blocks);
}

/* At the loop's head eax has the block's index; while the kernel runs, the frame's struct sk_block has it. */
void sk_x86_emit_blocks_begin(struct sk_x86_emitter *e, const struct sk_op *op)
{
	const struct sk_op_blocks *blocks = &op->blocks;
	int32_t block = (int32_t)e->frame.block;

	if (blocks->order == SK_ORDER_ALL) {
		/* xor eax, eax */
		PUT(e, ZERO32, .reg = SK_RAX, .rm = SK_RAX);
	} else {
		emit_first_block(e, blocks);
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

void sk_x86_emit_blocks_end(struct sk_x86_emitter *e, const struct sk_op *op)
{
	if (op->blocks.order == SK_ORDER_RESIDENT)
		return;
	/* mov eax, [block.index]; add eax, [core.count] or inc eax; cmp eax, end; jb loop */
	PUT(e, LOAD32, .reg = SK_RAX, .rm = SK_RSP, .disp = (int32_t)e->frame.block + BLOCK_INDEX);
	if (op->blocks.order == SK_ORDER_OF_CORE)
		PUT(e, ADD32_MEMORY, .reg = SK_RAX, .rm = CORE, .disp = CORE_COUNT);
	else
		PUT(e, INCREMENT32, .rm = SK_RAX);
	emit_blocks_compare(e, &op->blocks);
	sk_x86_jump(e, SK_X86_JUMP_BELOW, e->loop);
}
