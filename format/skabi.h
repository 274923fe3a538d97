/* The contract between a dispatcher and whoever runs it: the runtime fills struct sk_core, the dispatcher reads it
 * through fixed offsets. doc/internals/package-format.md has the same as a table. Change anything here and
 * SK_ABI_VERSION grows.
 *
 * Entry: int NAME(struct sk_core *core), called once on every core of every lane that has steps in the launch. Returns
 * 0, SK_STATUS_ABORTED, or the non-zero status of the kernel that failed; then core->failed_task is its task. */
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
	SK_PROGRESS_STRIDE = 128, /* bytes from one core's progress word to the next core's: two cache lines, since
				     processors fetch them in pairs */
};

/* What an entry returns when await said that the launch has been aborted elsewhere. Kernels' own statuses are passed
 * through unchanged, so the runtime tells the two apart by failed_task. */
#define SK_STATUS_ABORTED INT32_MIN

/* What an entry returns when the kernel of failed_task has returned without sk_wait_pre_task_end. */
#define SK_STATUS_NOT_AWAITED (INT32_MIN + 1)

struct sk_core;

/* Runtime functions that a dispatcher may call. */
struct sk_runtime {
	/* Waits until `count` words, SK_PROGRESS_STRIDE bytes apart, are >= target; `word` is the first. 0: they are;
	 * otherwise the launch has been aborted and the core must leave. */
	int (*await)(struct sk_core *core, const volatile uint64_t *word, uint64_t target, uint64_t count);
	/* Behind the blocks of a step with FEED, number `step` of the launch, on every core: one that has no block takes
	 * part in sk_sync_all until the blocks have ended. */
	void (*feed)(struct sk_core *core, uint32_t step);
	const struct sk_block_functions *block_functions; /* for blocks of RESIDENT and EARLY steps */
};

/* The range of one partition that this core computes. */
struct sk_core_range {
	uint64_t low, high;
};

/* One entry of a launch's homes table, as this core sees it. */
struct sk_home {
	const volatile uint64_t *word; /* the home's progress word */
	uint64_t mine;		       /* 1: this core is the home (and in its lane), else 0 */
};

/* A lane as this launch sees it. */
struct sk_lane {
	uint64_t base;			/* number before the launch's first step: step s is published as base + s */
	const volatile uint64_t *words; /* SK_PROGRESS_STRIDE bytes apart: all of them have reached what all cores have */
	uint64_t count;			/* of them: the lane's cores, or fewer, each for several cores */
};

/* When a core was at a call of a step with SK_STEP_TIMED, on the processor's clock (x86-64: the time-stamp counter).
 * What it does not come to stays as it was. A step in tiles has a row for itself, whose `ended` is 0 before, and behind
 * it one for each call, to whose `began` and `ended` those of one tile in SK_TIMED_TILES are added, the first one among
 * them. */
struct sk_times {
	uint64_t arrived; /* before the step's awaits, if it has any */
	uint64_t began;	  /* behind them */
	uint64_t ended;	  /* behind the last call, before publishing */
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
	struct sk_times *times;			/* 72  by call of its lane's program, above; NULL: nobody wants to know */
	struct sk_lane lanes[SK_MAX_LANES];	/* 80  24 bytes each */
};

_Static_assert(sizeof(void *) != 8 || sizeof(struct sk_core) == 128, "struct sk_core is part of the ABI");

#endif
