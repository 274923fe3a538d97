/* The part of a step that this core computes: its range, and the loops of tiles and of blocks around a call. */
#include "stubs/x86_64/emitter.h"

void sk_x86_emit_range(struct sk_x86_emitter *e, const struct sk_op *op)
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
void sk_x86_emit_tiles_begin(struct sk_x86_emitter *e, const struct sk_op *op)
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

void sk_x86_emit_tiles_end(struct sk_x86_emitter *e, const struct sk_op *op)
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
void sk_x86_emit_blocks_begin(struct sk_x86_emitter *e, const struct sk_op *op)
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

void sk_x86_emit_blocks_end(struct sk_x86_emitter *e, const struct sk_op *op)
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
