/* The contract between a dispatcher and the runtime: the runtime fills struct sk_core, and the dispatcher reads it at
 * fixed offsets. doc/internals/package-format.md has the same as a table. Any change here increments SK_ABI_VERSION.
 *
 * Entry: int NAME(struct sk_core *core), called once on every core of every lane that has steps in the launch. It
 * returns 0, SK_STATUS_ABORTED, or the non-zero status of the kernel that failed; core->failed_task is then its
 * task. */
#ifndef SK_ABI_H
#define SK_ABI_H

#include <stdint.h>

#include "format/skplan.h"
#include "skkernel.h"

/* The structs read as tables: */
/* clang-format off */

#define SK_ABI_VERSION 4u

enum {
	SK_TIMED_TILES = 8, /* a power of two */
	SK_PROGRESS_STRIDE = 128, /* bytes between the progress words of two cores: two cache lines, since processors
				     fetch them in pairs */
};

/* The result of an entry if await returned that the launch has been aborted elsewhere. Statuses of kernels are passed
 * through unchanged, so the runtime tells the two apart by failed_task. */
#define SK_STATUS_ABORTED INT32_MIN

/* The result of an entry if the kernel of failed_task has returned without a call of sk_wait_pre_task_end. */
#define SK_STATUS_NOT_AWAITED (INT32_MIN + 1)

struct sk_core;

/* Runtime functions that a dispatcher may call. */
struct sk_runtime {
	/* Wait until `count` words, SK_PROGRESS_STRIDE bytes apart, are >= target; `word` is the first. Return 0 then;
	 * any other result means that the launch has been aborted, and the core must leave. */
	int (*await)(struct sk_core *core, const volatile uint64_t *word, uint64_t target, uint64_t count);
	/* Called after the blocks of a step with FEED, number `step` of the launch, on every core: a core without a
	 * block takes part in sk_sync_all until the blocks have ended. */
	void (*feed)(struct sk_core *core, uint32_t step);
	const struct sk_block_functions *block_functions; /* for blocks of RESIDENT and EARLY steps */
};

/* The range of a partition that this core computes. */
struct sk_core_range {
	uint64_t low, high;
};

/* An entry of a launch's homes table, for this core. */
struct sk_home {
	const volatile uint64_t *word; /* the home's progress word */
	uint64_t mine;		       /* 1: this core is the home (and in its lane), else 0 */
};

/* A lane in this launch. */
struct sk_lane {
	uint64_t base;			/* the number before the launch's first step: step s is published as base + s */
	const volatile uint64_t *words; /* SK_PROGRESS_STRIDE bytes apart: their minimum is the progress of all cores */
	uint64_t count;			/* of words: the lane's cores, or fewer, each for several cores */
};

/* Times of a call of a step with SK_STEP_TIMED, by the processor's clock (x86-64: the time-stamp counter). Calls that
 * are not reached leave their row unchanged. A step in tiles has a row of its own, with an `ended` of 0 before,
 * followed by one row for each call. These accumulate `began` and `ended` over one tile in SK_TIMED_TILES, including
 * the first one. */
struct sk_times {
	uint64_t arrived; /* before the step's awaits, if it has any */
	uint64_t began;	  /* after them */
	uint64_t ended;	  /* after the last call, before publishing */
};

struct sk_core {
	uint32_t lane;				/* 0   */
	uint32_t index;				/* 4   within the lane */
	uint32_t count;				/* 8   cores of the lane */
	uint32_t failed_task;			/* 12  SK_NO_INDEX until a kernel's status ends the launch */
	volatile uint64_t *progress;		/* 16  this core's own word */
	void *const *bindings;			/* 24  base address by binding number; thunks: words */
	void *workspace;			/* 32  for task entries: the unshared workspace; thunks: words */
	void *scratch;				/* 40  of this core */
	const struct sk_core_range *ranges;		/* 48  by (partition - launch.first_partition) */
	const struct sk_home *homes;		/* 56  by (home - launch.first_home) */
	const struct sk_runtime *runtime;	/* 64 */
	struct sk_times *times;			/* 72  by call of its lane's program; NULL: not wanted */
	struct sk_lane lanes[SK_MAX_LANES];	/* 80  24 bytes each */
};

_Static_assert(sizeof(void *) != 8 || sizeof(struct sk_core) == 128, "struct sk_core is part of the ABI");

#endif
