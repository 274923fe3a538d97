/* skkernel.h: for authors of kernels. Freestanding C and C++, without any other header.
 *
 * A kernel is an ordinary C function. SK_KERNEL describes how sklink must call it:
 *
 *     void scale(const float *x, float *y, long n, float factor);
 *     SK_KERNEL(scale, "split=n; in x f32[n], out y f32[n], n i64, factor f32");
 *
 * sk-signatures(5) describes the grammar of signatures and the effects of the functions below. The note costs nothing
 * at run time: it is in a section that is not loaded. */
#ifndef SK_KERNEL_H
#define SK_KERNEL_H

#include <stdint.h>

/* Put "symbol NUL signature NUL" into the non-allocated section .sk.kernels. Use it at file scope, once for each
 * kernel. `symbol` is the name in the object file (in C++ declare the kernel extern "C"). */
#define SK_KERNEL(symbol, signature)                                                                                   \
	__asm__(".pushsection .sk.kernels,\"\",%progbits\n\t"                                                          \
		".asciz \"" #symbol "\"\n\t"                                                                           \
		".asciz \"" signature "\"\n\t"                                                                         \
		".popsection")

struct sk_block;

/* Services of the runtime for blocks. Kernels use the functions below. */
struct sk_block_functions {
	void (*sync_all)(const struct sk_block *block);
	void (*set_flag)(const struct sk_block *block, uint32_t flag);
	void (*wait_flag)(const struct sk_block *block, uint32_t flag);
	void (*wait_pre_task_end)(const struct sk_block *block);
	void (*set_next_task_start)(const struct sk_block *block);
	void (*exchange)(const struct sk_block *block, const void *from, void *to);
};

/* The argument of a kernel's `block` parameter. */
struct sk_block {
	uint32_t index; /* of this call, from 0 */
	uint32_t count; /* of blocks (of this side, in a `mix` kernel): fixed when linking, independent of the number of
			   cores */
	/* Not for kernels: */
	const struct sk_block_functions *functions; /* NULL: no services are needed */
	void *core;
	uint32_t step; /* within its launch */
	uint32_t waited; /* sk_wait_pre_task_end has been called */
};

/* Compute the range of [0, extent) of a `blocks=` kernel. The kernel must compute exactly this range: sklink relies on
 * it. */
static inline void sk_block_range(const struct sk_block *block, uint64_t extent, uint64_t *low, uint64_t *high)
{
	*low = extent * block->index / block->count;
	*high = extent * (block->index + (uint64_t)1) / block->count;
}

/* ==== kernels with concurrent blocks: sync-all, mix ====
 *
 * Bytes that a block has written before one of these calls are visible to the blocks that continue because of it. A
 * call from a kernel without the attribute in its signature is an illegal instruction, which ends the launch and names
 * the kernel. */

static inline const struct sk_block_functions *sk_block_calls(const struct sk_block *block)
{
	if (!block->functions)
		__builtin_trap();
	return block->functions;
}

/* Signature: sync-all, or mix. Wait until all blocks of the task, on both sides of a `mix` task, have called it equally
 * often. */
static inline void sk_sync_all(const struct sk_block *block)
{
	sk_block_calls(block)->sync_all(block);
}

/* Signature: mix. Flags connect the two sides of a group: block b of the cube side, and block b (mix=1:1) or blocks 2b
 * and 2b + 1 (mix=1:2) of the vector side. Flags count: a wait consumes one set, which may be much earlier. Each vector
 * block waits by itself for a flag of the cube side; the cube side waits until all of its vector blocks have set the
 * flag. */
enum { SK_FLAGS = 15 }; /* flags are numbered from 0 to SK_FLAGS - 1 */

static inline void sk_set_flag(const struct sk_block *block, uint32_t flag)
{
	sk_block_calls(block)->set_flag(block, flag);
}

static inline void sk_wait_flag(const struct sk_block *block, uint32_t flag)
{
	sk_block_calls(block)->wait_flag(block, flag);
}

/* For the kernels of exchanges between ranks only (sklink's own, `op=Exchange`). Send `from`, and return when `to` has
 * been received. The package's record of the task says how many bytes they are, and with which ranks. */
static inline void sk_exchange(const struct sk_block *block, const void *from, void *to)
{
	sk_block_calls(block)->exchange(block, from, to);
}

/* ==== kernels that start early: early-start ====
 *
 * These functions have no effect in a superkernel without early-start=1, in a serial run, or if the kernel keeps state
 * in static memory that other tasks of the superkernel have on other cores. The first one has no effect in tasks that
 * get a scalar from a tensor, the second one in tasks with a result: the dispatcher waits and publishes in these
 * cases. */

/* Signature: early-start=wait or both. Return when the tasks that this one depends on have ended. The kernel starts
 * earlier, and must not touch a tensor before this call. Every block makes the call; further calls have no effect. If a
 * kernel returns without the call, the core still waits, and then ends the launch with an error. */
static inline void sk_wait_pre_task_end(const struct sk_block *block)
{
	if (block->functions)
		block->functions->wait_pre_task_end(block);
}

/* Signature: early-start=set or both. The block must not touch a tensor after this call, not even to read it: tasks
 * that depend on this one may start. The call takes effect in a core's last block. Without a call, the return of the
 * kernel has the effect. */
static inline void sk_set_next_task_start(const struct sk_block *block)
{
	if (block->functions)
		block->functions->set_next_task_start(block);
}

#endif
