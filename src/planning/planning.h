/* Dependencies, launches, schedule and memory, and the writer of the plan. */
#ifndef SK_SRC_PLANNING_PLANNING_H
#define SK_SRC_PLANNING_PLANNING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "format/skplan.h"
#include "src/model/model.h"

struct sk_block_verdict;
struct sk_dependencies;
struct sk_launch_runs;
struct sk_schedule;
struct sk_tile_verdict;

/* ==== reasons.c ====
 *
 * Reasons: why a task was fused, or was not. A code is stable, for programs; the sentence is for people. */

struct sk_fusion;

/* The names are the reference system's (FusionFailReason, ScopeBreakReason) where it has one for the same thing. */
enum sk_reason {
	SK_REASON_CAN_FUSE, /* in the first segment of its scope */

	/* In a later segment; the cause is the task that ended the one before for it: */
	SK_REASON_SCOPE_FUSE_PART, /* a task of the scope that is launched by itself */
	SK_REASON_EXTERNAL_DEPEND, /* a task of another scope, or of none, comes in between */
	SK_REASON_ISOLATED_EVENT, /* it waits for an event of a task of the scope that is launched by itself */
	SK_REASON_EXIST_DEADLOCK, /* it waits for an event that is recorded behind the segment before: one launch
				     would hold the cores and wait for what needs them */
	SK_REASON_SYNCALL_OP_DROP, /* it calls sk_sync_all, on fewer cores than a task there needs (planning-parts.h) */
	SK_REASON_SYNCALL_OP_RISE, /* it needs more cores than a task there that calls sk_sync_all */

	/* Launched by itself: */
	SK_REASON_OP_UNSUPPORT, /* its kernel is marked unfusible */
	SK_REASON_EXCEED_CORE_MAX, /* it has more blocks than the device has cores */
	SK_REASON_EXCEED_STREAM_MAX, /* it is in a third stream of a scope that takes two */
	SK_REASON_SCOPE_CHECK_BYPASS, /* its scope cannot be fused whole, and wants strict-scope-check=bypass */
	SK_REASON_NOT_IN_SCOPE, /* stands outside every scope */
	SK_REASON_IN_UNFUSIBLE_SCOPE, /* `scope: null` */
	SK_REASON_RUNS_ONCE, /* `once: true` */
	SK_REASON_COUNT,
};

/* "OP_UNSUPPORT" */
const char *sk_reason_code(enum sk_reason reason);

/* A sentence without a full stop about the task, which names the cause, in the model's arena. */
const char *sk_reason_text(const struct sk_model *model, const struct sk_fusion *fusion, uint32_t task);

/* ==== fusion.c ====
 *
 * Fusion: scopes to launches. In comes the bound model; out come the launches in the order in which they may be
 * started, the launch of every task, and for every task the reason why it was or was not fused.
 *
 * Tasks group only if their sets of scope tags are equal. A task that cannot be fused is a launch by itself and ends
 * the segment for what follows it in its stream and for everything that depends on it; the next task of the scope that
 * can be fused opens the next segment. No path over data, events, `after` or stream order leaves a launch and comes
 * back, also not through other segments: the launches form a directed acyclic graph. */

struct sk_launch {
	const char *name; /* the entry's symbol: sk_<scope>, where the scope may have another name for symbols; of a
			     scope that was split, sk_<scope>_start_<first task>_end_<last task>; of a task by itself,
			     sk_task_<task>, and of a model's node where the package's name is in
			     symbols, sk_<package>_task_<task>; tasks as their identifiers (base/text.h) */
	const char *scope; /* the scope's name (a tag set's names with commas), or NULL */
	enum sk_launch_kind kind; /* SUPERKERNEL or SINGLE */
	struct sk_launch_options options; /* SUPERKERNEL: its scopes'; else nothing */
	uint32_t stream; /* the first task's */
	uint32_t *tasks; /* in network order */
	uint32_t task_count;
	uint32_t *follows; /* launches that must have ended before, ascending; transitively reduced, unless there are
			      more chains than are kept */
	uint32_t follow_count;
	uint32_t chain; /* launches of one stream are a chain: its number, long chains first … */
	uint32_t position; /* … and this launch's place in it, from 1 */
	const uint32_t *before; /* by chain that is kept: how many launches of it end before this one starts */
};

struct sk_task_placement {
	const char *scope; /* as in its launch, if it is fused; else its own, or NULL */
	uint32_t launch;
	uint32_t step; /* its place in the launch */
	enum sk_reason reason;
	uint32_t cause; /* a task, or SK_NONE */
};

struct sk_fusion {
	struct sk_launch *launches; /* in a valid order, which is network order where that is free */
	uint32_t launch_count;
	struct sk_task_placement *tasks; /* by task */
	const struct sk_dependencies *dependencies;
	uint32_t kept_chains;
	uint64_t steps; /* nodes, edges and lines of `before` that have been looked at, which tests count */
};

/* So many numbers of `before` are kept, of all launches together (64 MiB): of thousands of launches in thousands of
 * streams, those about the longest chains. */
enum { SK_MAX_BEFORE = 1 << 24 };

/* NULL if a scope with strict-scope-check=abort is not fused whole, options do not fit tasks or device, scopes reach
 * over each other in too great numbers, or two symbols have the same name (said in the sink). */
struct sk_fusion *sk_fusion_build(struct sk_model *model);

/* True if it is known that every task of the earlier launch has ended when the later one starts. */
bool sk_fusion_before(const struct sk_fusion *fusion, uint32_t earlier, uint32_t later);

/* ==== memory.c ====
 *
 * Memory: where temporaries lie in the workspace. In come the model, its launches and their schedule; out come offsets.
 *
 * Two temporaries share bytes only if nothing has to wait for it: every access to one is known to have ended, by the
 * awaits that are there anyway or because its launch has, before any access to the other; or, in one launch, their
 * accesses fall on the same cores byte by byte, and then they lie at the same offset and have the same size. What tasks
 * write that run once has bytes of its own. */

enum { SK_WORKSPACE_ALIGNMENT = 64 };

struct sk_memory {
	uint64_t *offset; /* by tensor; temporaries only */
	uint64_t *unshared_offset; /* the same, where every temporary has its own bytes: for task entries */
	uint64_t workspace_size;
	uint64_t unshared_workspace_size;
	uint64_t steps; /* ranges of the workspace that have been looked at, which tests count */
};

/* NULL if the temporaries exceed 64 bits together (said in the sink). */
struct sk_memory *sk_memory_plan(const struct sk_model *model, const struct sk_fusion *fusion,
				 const struct sk_schedule *schedule);

/* ==== peak.c ====
 *
 * How much memory slices save, for people: bytes of temporaries that are alive at once when tasks run in network order.
 */

struct sk_peak {
	uint64_t with; /* bytes, as it is */
	uint64_t without; /* if each slice had bytes of its own, and copies moved them */
};

struct sk_peak sk_peak_of_slices(const struct sk_model *model);

/* ==== plan-writer.c ====
 *
 * The plan's writer: what has been planned, as the tables of format/skplan.h. In come the model, its launches, their
 * schedule and the memory; out come the bytes of .sk.plan, what in them the linker has to relocate, and where each
 * constant lies.
 *
 * The launches of the network stand first, in the order of the fusion; then, unless they are not wanted, the task
 * entries sk_unfused_<task>, one per task in network order: one step, the smallest unit, the unshared workspace.
 * Records of each launch, and of each step, stand together and in order in every table. Tensors are those with memory
 * of their own: no views. */

enum sk_plan_target {
	SK_PLAN_ENTRY, /* the entry of plan launch `index`; its name is sk_plan_string(&launch->name) */
	SK_PLAN_SERIAL_ENTRY, /* its serial entry, <name>_serial */
	SK_PLAN_KERNEL, /* the function of kernel `index`, of the model and of the plan */
	SK_PLAN_VECTOR_KERNEL, /* the function of its vector side */
	SK_PLAN_SYMBOL, /* symbol `index`, of the model and of the plan */
	SK_PLAN_CONSTANTS, /* the start of the constants */
};

/* The 32-bit field at the offset holds 0 and is to hold the target's address minus its own. */
struct sk_plan_relocation {
	uint64_t offset;
	enum sk_plan_target target;
	uint32_t index;
};

struct sk_plan_constant {
	uint32_t tensor; /* of the model */
	uint64_t offset; /* from the start of the constants, a multiple of SK_CONSTANT_ALIGNMENT */
	uint64_t size;
};

enum { SK_CONSTANT_ALIGNMENT = 64 };

struct sk_plan_image {
	uint8_t *bytes; /* aligned to SK_PLAN_ALIGN; all of it is in the model's arena */
	uint64_t size;
	SK_ARRAY(struct sk_plan_relocation) relocations; /* by offset */
	SK_ARRAY(struct sk_plan_constant) constants; /* by offset */
	uint64_t constants_size;
};

/* How tasks run by themselves. */
enum sk_task_entries {
	SK_TASKS_WITHOUT, /* not at all */
	SK_TASKS_BY_THUNKS, /* those that are called in one way share a thunk */
	SK_TASKS_BY_ENTRIES, /* each has entries of its own, a serial one, too */
};

/* machine: EM_… False if the plan exceeds 2 GiB or the constants 64 bits (said in the sink). */
bool sk_plan_write(const struct sk_model *model, const struct sk_fusion *fusion, const struct sk_schedule *schedule,
		   const struct sk_memory *memory, uint32_t machine, enum sk_task_entries task_entries,
		   struct sk_plan_image *image);

/* ==== tile-groups.c ====
 *
 * Tile groups: which tasks of a launch are one step, whose calls each core makes tile by tile. In come the model, its
 * launches and dependencies; out come, per launch, its tasks as runs, most of them of one task, each with its unit; of
 * a run in tiles also the tile's length, and where in the scratch the temporaries lie that live inside of it; and for
 * each task why it does, or does not, join the one in front of it.
 *
 * Tasks of a run are all divided, and hang together by bytes that they share. They stand next to each other: tasks of a
 * launch have been put in order for that (planning-parts.h).
 * Their extents may differ: a run counts in elements of the greatest extent that divides all of them, of which each
 * task's has so many times as many. */

/* No temporary of the network's lies in the scratch there. */
#define SK_NOT_IN_SCRATCH UINT64_MAX

struct sk_tile_groups {
	struct sk_launch_runs *launches;
	uint32_t *places; /* by task: in its launch's `tasks` */
	uint64_t *scratch_offset; /* by tensor: in the scratch of its step, or SK_NOT_IN_SCRATCH */
	struct sk_tile_verdict *verdicts; /* by task: whether it joins the one in front of it */
	struct sk_block_verdict
		*block_verdicts; /* by task: whether each core computes what it has of a task's blocks */
};

/* Cannot fail. */
struct sk_tile_groups *sk_tile_groups_build(const struct sk_model *model, const struct sk_fusion *fusion);

/* ==== without-groups.c ====
 *
 * What there would be without tile groups, for the report. In come the model and its launches; out come counts of a
 * schedule and a memory plan of which nothing else is used. */

struct sk_without_groups {
	uint64_t awaits; /* of all launches */
	uint64_t workspace; /* bytes; UINT64_MAX: more than 64 bits can count */
};

struct sk_without_groups sk_plan_without_groups(const struct sk_model *model, const struct sk_fusion *fusion);

#endif
