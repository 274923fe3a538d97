/* skkernel.h: for people who write kernels. Freestanding C and C++; needs nothing but the compiler.
 *
 * A kernel is an ordinary C function. SK_KERNEL says how sklink has to call it:
 *
 *   void scale(const float *x, float *y, long n, float factor);
 *   SK_KERNEL(scale, "split=n; in x f32[n], out y f32[n], n i64, factor f32");
 *
 * sk-signatures(5) has the signature's grammar and the effects of the functions below.
 * The note costs nothing at run time: it goes into a section that is not loaded. */
#ifndef SK_KERNEL_H
#define SK_KERNEL_H

#include <stdint.h>

/* Puts "symbol NUL signature NUL" into the non-allocated section .sk.kernels. Use at file scope, once per kernel;
 * symbol is the name that the linker sees (in C++ declare the kernel extern "C"). */
#define SK_KERNEL(symbol, signature)                                                                                   \
	__asm__(".pushsection .sk.kernels,\"\",%progbits\n\t"                                                          \
		".asciz \"" #symbol "\"\n\t"                                                                           \
		".asciz \"" signature "\"\n\t"                                                                         \
		".popsection")

struct sk_block;

/* What blocks ask of the runtime. Kernels use the functions below. */
struct sk_block_functions {
	void (*sync_all)(const struct sk_block *block);
	void (*set_flag)(const struct sk_block *block, uint32_t flag);
	void (*wait_flag)(const struct sk_block *block, uint32_t flag);
	void (*wait_pre_task_end)(const struct sk_block *block);
	void (*set_next_task_start)(const struct sk_block *block);
};

/* What a kernel gets through its `block` parameter. */
struct sk_block {
	uint32_t index; /* of this call, from 0 */
	uint32_t count; /* of blocks (of this side, in a `mix` kernel): fixed when linking, whatever the number of cores
			 */
	/* Not for kernels: */
	const struct sk_block_functions *functions; /* NULL: there is nothing to ask */
	void *core;
	uint32_t step; /* within its launch */
	uint32_t waited; /* it has called sk_wait_pre_task_end */
};

/* The range of [0, extent) that a `blocks=` kernel must compute: exactly this, since sklink relies on it. */
static inline void sk_block_range(const struct sk_block *block, uint64_t extent, uint64_t *low, uint64_t *high)
{
	*low = extent * block->index / block->count;
	*high = extent * (block->index + (uint64_t)1) / block->count;
}

/* ==== kernels whose blocks run at once: sync-all, mix ====
 *
 * What a block has written before one of these calls is seen by the blocks that go on because of it. Calling them from
 * a kernel whose signature does not say so is an illegal instruction, which ends the launch and names the kernel. */

static inline const struct sk_block_functions *sk_block_calls(const struct sk_block *block)
{
	if (!block->functions)
		__builtin_trap();
	return block->functions;
}

/* Signature: sync-all, or mix. Waits until all blocks of the task, on both sides of a `mix` task, have called it as
 * often. */
static inline void sk_sync_all(const struct sk_block *block)
{
	sk_block_calls(block)->sync_all(block);
}

/* Signature: mix. Flags go between the two sides of a group: block b of the cube side and, of the vector side, block b
 * (mix=1:1) or the blocks 2b and 2b + 1 (mix=1:2). They count: a wait takes one set, which may have come long before.
 * What the cube side sets, each vector block waits for by itself; the cube side waits until all of its vector blocks
 * have set the flag. */
enum { SK_FLAGS = 15 }; /* flags are numbered from 0 to SK_FLAGS - 1 */

static inline void sk_set_flag(const struct sk_block *block, uint32_t flag)
{
	sk_block_calls(block)->set_flag(block, flag);
}

static inline void sk_wait_flag(const struct sk_block *block, uint32_t flag)
{
	sk_block_calls(block)->wait_flag(block, flag);
}

/* ==== kernels that start early: early-start ====
 *
 * In a superkernel without early-start=1 these do nothing, nor in a serial run, nor where the kernel keeps state in
 * static memory that other tasks of the superkernel have on other cores. The first one does nothing in tasks that get a
 * scalar from a tensor, the second one in tasks with a result: the dispatcher waits and publishes there. */

/* Signature: early-start=wait or both. Returns when what the task depends on has ended. The kernel starts before that
 * and must touch no tensor before this call, which every block makes; a second one does nothing. For a kernel that
 * returns without it the core waits all the same, and then ends the launch with an error. */
static inline void sk_wait_pre_task_end(const struct sk_block *block)
{
	if (block->functions)
		block->functions->wait_pre_task_end(block);
}

/* Signature: early-start=set or both. The block touches no tensor behind this call, not even to read it: tasks that
 * depend on this one may start. It takes effect in a core's last block; a kernel that does not call it has the effect
 * when it returns. */
static inline void sk_set_next_task_start(const struct sk_block *block)
{
	if (block->functions)
		block->functions->set_next_task_start(block);
}

#endif
