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
struct sk_fusion;
struct sk_launch_runs;
struct sk_run;
struct sk_schedule;
struct sk_tile_verdict;

/* ==== schedule.c ====
 *
 * Schedule: when each step may start. In come the model and its launches; out come, per launch, the steps in network
 * order with their lanes, core sets and divisions, and the awaits: as few as there can be.
 *
 * A core set is all cores of a lane, or one home: the core of the lane that has the stream's number modulo the lane's
 * cores. An await holds for every core count, so two homes count as different cores, and a home as different from
 * `all`. A lane of a launch has SK_MAX_HOMES homes at most, for as many streams; further streams share them, in turn.
 * So what is known per core set stays small, however many streams there are.
 *
 * A step whose kernel starts early still touches its hidden state from its call's first instruction to the last,
 * outside of what it awaits and publishes by itself. So it does not wait by itself where an earlier step of another
 * core set has some of that state, and does not publish by itself where a later one has.
 *
 * A mix task has two steps, one for each side. They run at once, so neither awaits the other; each awaits what the task
 * depends on, and who depends on the task awaits both. */

enum { SK_MAX_HOMES = 128 };

struct sk_step {
	uint32_t task; /* the first one */
	const uint32_t *tasks; /* whose calls it makes, in this order */
	uint32_t task_count;
	const struct sk_run *run; /* of them */
	uint32_t side; /* of the task (src/model/model.h) */
	uint32_t lane;
	uint32_t number; /* from 1 in the lane's program */
	uint32_t home; /* of the launch's homes, or SK_ALL_CORES */
	uint32_t partition; /* of the launch's partitions, or SK_NO_INDEX */
	uint16_t flags; /* of its side; without SK_STEP_EARLY_… where hidden state rules it out */
	bool publish; /* somebody awaits it */
	uint32_t *awaits; /* steps of the launch, ascending */
	uint32_t await_count;
	const uint32_t
		*knows[2]; /* clocks by core set: what its set, and what all cores of its lane, know when it runs */
	const uint32_t *gives[2]; /* the same for whoever awaits it; either may be NULL */
};

struct sk_launch_schedule {
	struct sk_step *steps; /* of the launch's runs of tasks, in order; the sides of a task stand together */
	uint32_t step_count;
	uint32_t *first_steps; /* by place of a task in the launch's runs: where its steps begin */
	struct sk_plan_home *homes;
	uint32_t home_count;
	struct sk_plan_partition *partitions; /* distinct */
	uint32_t partition_count;
	uint32_t lane_count; /* of the device */
	uint32_t lane_steps[SK_MAX_LANES];
	uint64_t scratch_size; /* what a core needs for the greediest task; a multiple of 64 */
	uint32_t resident_cores[SK_MAX_LANES]; /* that blocks which wait for one another need at once */
};

struct sk_schedule {
	struct sk_launch_schedule *launches; /* by launch */
	const struct sk_tile_groups *groups;
};

/* Cannot fail. */
struct sk_schedule *sk_schedule_build(const struct sk_model *model, const struct sk_fusion *fusion);

/* How the cores share out an argument's bytes. units 0: not divided, or each part has a halo, which is others'. */
struct sk_pattern {
	uint64_t offset, units;
	uint64_t unit_bytes; /* from one unit to the next; 0: irregular, units begin at any elements */
	uint64_t element_bytes, extent; /* from one element to the next; how many they are. Of blocks: rows */
	uint64_t span; /* from the first to the last byte of a unit, or of an element if they are irregular */
	uint32_t first_core; /* that has the first unit */
};

/* Of an argument of one of the step's tasks. */
struct sk_pattern sk_schedule_pattern(const struct sk_model *model, const struct sk_launch_schedule *launch,
				      uint32_t step, const struct sk_task *task, uint32_t argument);

/* True if, for every core count, each byte falls on the same core in both patterns: both divided into as many units,
 * which are equally far from each other and begin at the same core, and unit 0 of either lies in front of both units 1;
 * so do all others. Of irregular ones that has to hold for elements. The offsets must count from the same base. */
bool sk_pattern_equal(const struct sk_pattern *a, const struct sk_pattern *b);

/* The scratch that a core needs for the task: a multiple of 64. */
uint64_t sk_schedule_scratch(const struct sk_task *task);

/* True if the earlier step has ended on all its cores when any core starts the later one. */
bool sk_schedule_known(const struct sk_launch_schedule *launch, uint32_t earlier, uint32_t later);

/* ==== dependency.c ====
 *
 * Dependencies: which tasks must see each other's effects, before anybody asks how that is brought about. One pass over
 * the network in its order; fusion and schedule both read the result.
 *
 * In comes the bound model; out come, per task, the conflicts with earlier tasks, the tasks that recorded the events it
 * waits for, and its predecessor in its stream. Each byte of a tensor remembers its last writer and the readers since
 * (a map of boxes), so the cost follows the number of conflicts that count: those that are implied byte by byte, such
 * as a write after a write with a read between them, are left out. */

/* Two accesses to the same bytes, at least one of them a write. */
struct sk_conflict {
	uint32_t task; /* the earlier one */
	uint32_t earlier; /* its argument */
	uint32_t later; /* the later task's argument */
};

struct sk_dependencies {
	struct sk_conflict *conflicts; /* of task t: from first_conflict[t] to first_conflict[t + 1]; one for each
					  combination of a task and arguments, nearly always */
	uint32_t *first_conflict;
	uint32_t *recorders; /* tasks that recorded what t waits for: from first_recorder[t] to first_recorder[t + 1] */
	uint32_t *first_recorder;
	uint32_t *previous; /* the previous task of the same stream, or SK_NONE */
	uint32_t *stream; /* of each task, numbered from 0 in the order of the users' numbers */
	uint32_t stream_count;
	uint64_t steps; /* nodes of the maps and other accesses that have been looked at, which tests count */
};

/* NULL if a task waits for an event that no earlier task records, or if too many tasks share too many parts of tensors
 * (said in the sink). */
struct sk_dependencies *sk_dependencies_build(struct sk_model *model);

/* What the argument does to memory: enum sk_access bits, 0 if it has no address. */
enum sk_access sk_argument_access(const struct sk_argument *argument);

/* ==== block-reasons.c ====
 *
 * Reasons of parts that are made of blocks: why a divided task that shares bytes with a task in blocks is computed, on
 * each core, in what the core has of those blocks, or why it is not, so that one awaits the other. A code is stable,
 * for programs; the sentence is for people. */

enum sk_block_reason {
	SK_BLOCKS_NONE, /* nothing to say: it shares no bytes with a task in blocks */
	SK_BLOCKS_FOLLOWED, /* each core computes what it has of the blocks */

	/* So the scope's options say: */
	SK_BLOCKS_SWITCHED_OFF, /* tile-fusion=0 */
	SK_BLOCKS_SYNC_ALL, /* debug-sync-all=1 */

	/* The task in blocks */
	SK_BLOCKS_OTHER_LANE, /* runs on different cores */
	SK_BLOCKS_RESIDENT, /* has blocks that wait for one another */
	SK_BLOCKS_EARLY, /* starts early */
	SK_BLOCKS_NO_ROWS, /* has blocks of which nobody knows what they access */

	/* The two */
	SK_BLOCKS_OTHER_PARTS, /* do not divide alike what they share */
	SK_BLOCKS_OTHER_ROWS, /* have no whole number of elements for each row of the blocks */
	SK_BLOCKS_OFF_UNIT, /* do not fit: a block begins inside a unit of the task */
	SK_BLOCKS_TOO_FEW, /* have work for more cores than there are blocks */
	SK_BLOCKS_REASON_COUNT,
};

struct sk_block_verdict {
	enum sk_block_reason reason;
	uint32_t task; /* the one in blocks, or SK_NONE */
	uint32_t tensor; /* that they share, or SK_NONE */
	/* OTHER_ROWS: rows of the blocks. OFF_UNIT: row where the first such block begins. TOO_FEW: blocks. */
	uint64_t amount;
	uint64_t limit; /* OTHER_ROWS, OFF_UNIT: elements, a unit of the task. TOO_FEW: cores */
};

/* "BLOCKS_OFF_UNIT" */
const char *sk_block_reason_code(enum sk_block_reason reason);

/* A sentence without a full stop, in the model's arena. */
const char *sk_block_reason_text(struct sk_arena *arena, const struct sk_model *model,
				 const struct sk_block_verdict *verdict);

/* ==== tile-reasons.c ====
 *
 * Reasons of tile groups: why a task is, or is not, in one group with the task in front of it in its launch. A code is
 * stable, for programs; the sentence is for people. */

/* Of several reasons the first one that tile-groups.c finds. */
enum sk_tile_reason {
	SK_TILE_JOINED, /* both are divided alike on bytes that they share */
	SK_TILE_FIRST, /* it stands first in its launch */

	/* So the scope's options say: */
	SK_TILE_SWITCHED_OFF, /* tile-fusion=0 */
	SK_TILE_SYNC_ALL, /* debug-sync-all=1 */

	/* One of the two, the cause, is in no group: */
	SK_TILE_HIDDEN_STATE, /* its kernel keeps something from call to call */
	SK_TILE_NOT_DIVIDED, /* its kernel may not be called for parts */
	SK_TILE_UNTILED, /* its signature says so */
	SK_TILE_FLUSHED, /* the data cache is flushed around it */
	SK_TILE_SCALAR, /* a scalar of it is read from a tensor */
	SK_TILE_LARGE_OPERAND, /* each tile would read too many bytes again */

	SK_TILE_OTHER_COMPOSITE, /* graph-kernel fusion has put the two into different composites */

	/* The order of the two, or of the cause in front and the task, is not that of their data alone: */
	SK_TILE_OTHER_LANE, /* they run on different cores */
	SK_TILE_EVENT, /* one is recorded behind the one in front, or the task waits for one */
	SK_TILE_AFTER, /* it says so */
	SK_TILE_TOO_MANY, /* the group in front is full */

	/* The cause in front and the task have bytes of the tensor in common that one of them writes: */
	SK_TILE_SHARED, /* and one does not access by parts */
	SK_TILE_TABLE, /* and one reaches through a table of addresses */
	SK_TILE_HALO, /* and one reads beyond its part */
	SK_TILE_OTHER_PARTS, /* of which equal parts are not the same bytes */
	SK_TILE_BETWEEN, /* the cause comes behind the one in front, or its group, and in front of the task */
	SK_TILE_MOVED, /* it has been moved behind the one in front, whose group has members in network order */
	SK_TILE_NOTHING_SHARED, /* they divide no bytes alike: there is nothing to save */

	/* They would have been in a group, but */
	SK_TILE_FEW_UNITS, /* its units would have left cores without work */
	SK_TILE_NO_TILE, /* not one of its units is small enough for a tile */
	SK_TILE_REASON_COUNT,
};

struct sk_tile_verdict {
	enum sk_tile_reason reason;
	uint32_t before; /* the task in front of it; SK_NONE: there is none; BETWEEN: the last one of the group */
	uint32_t cause; /* the task that the reason is about, or SK_NONE */
	uint32_t tensor; /* that the reason is about, or SK_NONE */
	/* JOINED: bytes that a core needs for its part, if they stay in its cache and tiles are therefore long.
	 * LARGE_OPERAND: bytes that each call reads. FEW_UNITS: units that there would be. NO_TILE: bytes of one
	 * in use at once; UINT64_MAX: too many to count. */
	uint64_t amount;
	uint64_t limit; /* that the amount does not keep to */
};

/* "TILE_NOTHING_SHARED" */
const char *sk_tile_reason_code(enum sk_tile_reason reason);

/* A sentence without a full stop, in the model's arena. */
const char *sk_tile_reason_text(struct sk_arena *arena, const struct sk_model *model,
				const struct sk_tile_verdict *verdict);

/* ==== reasons.c ====
 *
 * Reasons: why a task was fused, or was not. A code is stable, for programs; the sentence is for people. */

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
const char *sk_reason_text(struct sk_arena *arena, const struct sk_model *model, const struct sk_fusion *fusion,
			   uint32_t task);

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
