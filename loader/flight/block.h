/* What blocks ask of the runtime (skkernel.h): see block.c. */
#ifndef SK_LOADER_BLOCK_H
#define SK_LOADER_BLOCK_H

#include <stdbool.h>
#include <stddef.h>

#include "format/plan/plan.h"
#include "format/skkernel.h"
#include "loader/flight/core.h"
#include "loader/flight/kernel.h"

/* What the functions of skkernel.h call. */
extern const struct sk_block_functions sk_block_functions;

/* A kernel that uses flags wrongly, at an address of its own, ends its call here. */
void sk_block_check_flag(const struct sk_block *block, uint32_t flag, const void *at);

/* An await on a step of the launch, as the dispatcher would execute it. False: the core must leave. */
bool sk_block_await(struct sk_core *core, const struct sk_plan_launch *launch, const struct sk_plan_step *awaited);

/* Whether sk_set_next_task_start of the block tells others that the core has finished the step. */
bool sk_block_publishes(const struct sk_block *block);

/* What a dispatcher calls behind the blocks of a step with FEED. */
void sk_block_feed(struct sk_core *core, uint32_t step);

/* Room for what the blocks of the kernel's launch say, unless there is. False: no memory. */
bool sk_block_prepare(struct skrt_kernel *kernel);

/* Forgets what the blocks of the launch before have said, if the kernel has any. */
void sk_block_reset(const struct skrt_kernel *kernel);

/* "waits for flag 2 of block 5 of the vector side": what the word is that a core waits for. False if it is none of a
 * block's. */
bool sk_block_describe(const struct skrt_kernel *kernel, const struct sk_device_core *waiting, char *text, size_t size);

#endif
