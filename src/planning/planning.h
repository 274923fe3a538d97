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
struct sk_size;
struct sk_tile_verdict;

/* ==== schedule.c ====
 *
 * Schedule: when each step may start. The input is the model and its launches. The output is, for each launch, the
 * steps in the launch's order with their lanes, core sets and divisions, and the smallest possible number of awaits.
 *
 * A core set is all cores of a lane, or one home: the core of the lane with the stream's number modulo the number of
 * cores. An await holds for every number of cores, so two homes count as different cores, and a home as different from
 * `all`. A lane of a launch has at most SK_MAX_HOMES homes, for as many streams; further streams share them in turn.
 * This bounds the memory per core set for any number of streams.
 *
 * A step with a kernel that starts early touches its hidden state from the first instruction of its call to the last,
 * independent of its own awaits and publications. So it does not wait by itself if an earlier step of another core set
 * has some of that state, and does not publish by itself if a later one has.
 *
 * A mix task has two steps, one for each side. They run at the same time, so neither awaits the other. Each awaits the
 * steps that the task depends on, and tasks that depend on it await both. */

enum { SK_MAX_HOMES = 128 };

struct sk_step {
	uint32_t task; /* the first of `tasks` */
	const uint32_t *tasks; /* the tasks called, in this order */
	uint32_t task_count;
	const struct sk_run *run; /* that holds them */
	uint32_t side; /* of the task (src/model/model.h) */
	uint32_t lane;
	uint32_t number; /* from 1 in the lane's program */
	uint32_t home; /* of the launch's homes, or SK_ALL_CORES */
	uint32_t partition; /* of the launch's partitions, or SK_NO_INDEX */
	uint16_t flags; /* of its side; without SK_STEP_EARLY_… where hidden state rules it out, and with
			 * SK_STEP_OWN_AWAITS if only cores with a block execute its awaits */
	bool publish; /* another step awaits it */
	uint32_t *awaits; /* steps of the launch, ascending */
	uint32_t await_count;
	const uint32_t *knows[2]; /* clocks by core set: known to the cores that run its calls, and to all cores of its
				   * lane, when it runs */
	const uint32_t *gives[2]; /* the same for steps that await it; either may be NULL */
};

/* The forms of a partition's extent and rows; NULL: they are numbers. */
struct sk_partition_sizes {
	const struct sk_size *extent, *rows;
};

struct sk_launch_schedule {
	struct sk_step *steps; /* of the launch's runs of tasks, in order; the sides of a task are adjacent */
	uint32_t step_count;
	uint32_t *first_steps; /* by place of a task in the launch's runs: the index of its first step */
	struct sk_plan_home *homes;
	uint32_t home_count;
	struct sk_plan_partition *partitions; /* distinct */
	struct sk_partition_sizes *partition_sizes; /* by partition */
	uint32_t partition_count;
	uint32_t lane_count; /* of the device */
	uint32_t lane_steps[SK_MAX_LANES];
	uint64_t scratch_size; /* for each core, the greatest need of a task; a multiple of 64 */
	uint32_t resident_cores[SK_MAX_LANES]; /* cores that blocks which wait for one another need at the same time */
};

struct sk_schedule {
	struct sk_launch_schedule *launches; /* by launch */
	const struct sk_tile_groups *groups;
};

/* Compute the schedule of all launches. Cannot fail. */
struct sk_schedule *sk_schedule_build(const struct sk_model *model, const struct sk_fusion *fusion);

/* The division of an argument's bytes among cores. units 0: not divided, or parts have a halo that overlaps others. */
struct sk_pattern {
	uint64_t offset, units;
	uint64_t unit_bytes; /* from one unit to the next; 0: irregular, units begin at any elements */
	uint64_t element_bytes, extent; /* bytes from one element to the next; number of elements. Blocks: rows in place
					 * of elements */
	uint64_t span; /* from the first byte of a unit to the end of its last one, or of an element if units are
			* irregular */
	uint32_t first_core; /* the core that has the first unit */
	/* With sizes: the forms of the offset, of the units' number and of a unit's bytes; else all NULL. */
	const struct sk_size *offset_size, *units_size, *unit_size;
};

/* Return the pattern of an argument of one of the step's tasks. */
struct sk_pattern sk_schedule_pattern(const struct sk_model *model, const struct sk_launch_schedule *launch,
				      uint32_t step, const struct sk_task *task, uint32_t argument);

/* Return true if, for every number of cores and at all sizes, each byte falls on the same core in both patterns. Both
 * must be divided into the same number of units, with equal distances and the same first core, and unit 0 of each must
 * end before unit 1 of either begins; then this holds for all other units. For irregular units the same must hold for
 * elements. With sizes, the forms of these numbers must be equal, and units must not be irregular. The
 * offsets must have the same base. */
bool sk_pattern_equal(const struct sk_pattern *a, const struct sk_pattern *b);

/* Return the scratch size that a core needs for the task: a multiple of 64. */
uint64_t sk_schedule_scratch(const struct sk_task *task);

/* Return true if the earlier step has ended on all its cores when any core starts calls of the later one. */
bool sk_schedule_known(const struct sk_launch_schedule *launch, uint32_t earlier, uint32_t later);

/* ==== dependency.c ====
 *
 * Dependencies: the tasks that must see each other's effects, independent of the means of synchronisation. One pass
 * over the network in its order; fusion and schedule both read the result.
 *
 * The input is the bound model. The output is, for each task, the conflicts with earlier tasks, the tasks that recorded
 * the events it waits for, and its predecessor in its stream. A map of boxes stores for each byte of a tensor the last
 * writer and the readers since. So the cost depends on the number of conflicts that count. Conflicts that others imply
 * byte by byte, such as a write after a write with a read between them, are left out. */

/* Two accesses to the same bytes, at least one of them a write. */
struct sk_conflict {
	uint32_t task; /* the earlier one */
	uint32_t earlier; /* its argument */
	uint32_t later; /* the later task's argument */
};

struct sk_dependencies {
	struct sk_conflict *conflicts; /* of task t: from first_conflict[t] to first_conflict[t + 1]; nearly always one
					* for each combination of a task and arguments */
	uint32_t *first_conflict;
	uint32_t *recorders; /* tasks that recorded the events of t: from first_recorder[t] to first_recorder[t + 1] */
	uint32_t *first_recorder;
	uint32_t *previous; /* the previous task of the same stream, or SK_NONE */
	uint32_t *stream; /* of each task, numbered from 0 in ascending order of the manifest's numbers */
	uint32_t stream_count;
	uint64_t steps; /* visited nodes of the maps and other accesses, counted for tests */
};

/* Find the dependencies of all tasks. Return NULL, with an error, if a task waits for an event that no earlier task
 * records, or if too many tasks share too many parts of tensors. */
struct sk_dependencies *sk_dependencies_build(struct sk_model *model);

/* Return the argument's access to memory: enum sk_access bits, 0 if it has no address. */
enum sk_access sk_argument_access(const struct sk_argument *argument);

/* ==== block-reasons.c ====
 *
 * Reasons for parts that are made of blocks. A divided task that shares bytes with a task in blocks can be computed, on
 * each core, in the rows of that core's blocks; otherwise one task awaits the other. A code is stable, for programs;
 * the sentence is for people. */

enum sk_block_reason {
	SK_BLOCKS_NONE, /* nothing to report: it shares no bytes with a task in blocks */
	SK_BLOCKS_FOLLOWED, /* each core computes the rows of its blocks */

	/* Because of the scope's options: */
	SK_BLOCKS_SWITCHED_OFF, /* tile-fusion=0 */
	SK_BLOCKS_SYNC_ALL, /* debug-sync-all=1 */

	/* The task in blocks */
	SK_BLOCKS_OTHER_LANE, /* runs on different cores */
	SK_BLOCKS_RESIDENT, /* has blocks that wait for one another */
	SK_BLOCKS_EARLY, /* starts early */
	SK_BLOCKS_NO_ROWS, /* has blocks with unknown accesses */

	/* The two */
	SK_BLOCKS_OTHER_PARTS, /* divide the shared bytes differently */
	SK_BLOCKS_OTHER_ROWS, /* have no whole number of elements for each row of the blocks */
	SK_BLOCKS_OFF_UNIT, /* do not fit: a block begins inside a unit of the task */
	SK_BLOCKS_SIZES, /* do not fit at some sizes: a block begins inside a unit of the task */
	SK_BLOCKS_TOO_FEW, /* have work for more cores than there are blocks */
	SK_BLOCKS_REASON_COUNT,
};

struct sk_block_verdict {
	enum sk_block_reason reason;
	uint32_t task; /* the task in blocks, or SK_NONE */
	uint32_t tensor; /* the shared one, or SK_NONE */
	/* OTHER_ROWS: rows of the blocks. OFF_UNIT: first row of the first such block. TOO_FEW: blocks. */
	uint64_t amount;
	uint64_t limit; /* OTHER_ROWS, OFF_UNIT: elements, a unit of the task. TOO_FEW: cores */
};

/* Return the code's name, such as "BLOCKS_OFF_UNIT". */
const char *sk_block_reason_code(enum sk_block_reason reason);

/* Return a sentence without a full stop, in the model's arena. */
const char *sk_block_reason_text(struct sk_arena *arena, const struct sk_model *model,
				 const struct sk_block_verdict *verdict);

/* ==== tile-reasons.c ====
 *
 * Reasons of tile groups: why a task is, or is not, in one group with the preceding task of its launch. A code is
 * stable, for programs; the sentence is for people. */

/* If several reasons apply, tile-groups.c gives the first one that it finds. */
enum sk_tile_reason {
	SK_TILE_JOINED, /* both divide shared bytes alike */
	SK_TILE_FIRST, /* it is the first one in its launch */

	/* Because of the scope's options: */
	SK_TILE_SWITCHED_OFF, /* tile-fusion=0 */
	SK_TILE_SYNC_ALL, /* debug-sync-all=1 */

	/* One of the two tasks, the cause, cannot be in a group: */
	SK_TILE_HIDDEN_STATE, /* its kernel keeps state between calls */
	SK_TILE_NOT_DIVIDED, /* its kernel may not be called for parts */
	SK_TILE_UNTILED, /* its signature has `untiled` */
	SK_TILE_FLUSHED, /* the data cache is flushed around it */
	SK_TILE_SCALAR, /* one of its scalars is read from a tensor */
	SK_TILE_LARGE_OPERAND, /* each tile would read too many bytes again */

	SK_TILE_OTHER_COMPOSITE, /* graph-kernel fusion has put the two into different composites */

	/* The order of the two, or of the earlier cause and the task, is bound by more than their data: */
	SK_TILE_OTHER_LANE, /* they run on different cores */
	SK_TILE_EVENT, /* the preceding task records one, or the task waits for one */
	SK_TILE_AFTER, /* it has `after` */
	SK_TILE_TOO_MANY, /* the preceding group is full */

	/* The earlier cause and the task share bytes of the tensor that one of them writes: */
	SK_TILE_SHARED, /* and one does not access it by parts */
	SK_TILE_TABLE, /* and one reaches through a table of addresses */
	SK_TILE_HALO, /* and one reads beyond its part */
	SK_TILE_SIZES, /* and parts of it have other numbers of elements in the two at other sizes */
	SK_TILE_OTHER_PARTS, /* and equal parts of the two are different bytes */
	SK_TILE_BETWEEN, /* the cause comes after the preceding task, or its group, and before the task */
	SK_TILE_MOVED, /* it has been moved after the preceding task, and members of a group are in network order */
	SK_TILE_NOTHING_SHARED, /* they divide no bytes alike: a group would save nothing */

	/* They would be in one group, but */
	SK_TILE_FEW_UNITS, /* its units would leave cores without work */
	SK_TILE_NO_TILE, /* even one unit is too large for a tile */
	SK_TILE_REASON_COUNT,
};

struct sk_tile_verdict {
	enum sk_tile_reason reason;
	uint32_t before; /* the preceding task; SK_NONE: none; BETWEEN: the last one of the group */
	uint32_t cause; /* the task that is the reason, or SK_NONE */
	uint32_t tensor; /* the tensor of the reason, or SK_NONE */
	/* JOINED: bytes that a core needs for its part, if they stay in its cache and tiles are therefore long.
	 * LARGE_OPERAND: bytes that each call reads. FEW_UNITS: resulting units. NO_TILE: bytes of one unit in use at
	 * once; UINT64_MAX: too many to count. */
	uint64_t amount;
	uint64_t limit; /* that the amount violates */
};

/* Return the code's name, such as "TILE_NOTHING_SHARED". */
const char *sk_tile_reason_code(enum sk_tile_reason reason);

/* Return a sentence without a full stop, in the model's arena. */
const char *sk_tile_reason_text(struct sk_arena *arena, const struct sk_model *model,
				const struct sk_tile_verdict *verdict);

/* ==== reasons.c ====
 *
 * Reasons: why a task was fused, or was not. A code is stable, for programs; the sentence is for people. */

/* The names are those of the reference system (FusionFailReason, ScopeBreakReason) if it has the same reason. */
enum sk_reason {
	SK_REASON_CAN_FUSE, /* in the first segment of its scope */

	/* In a later segment. The cause is the task that ended the previous segment for it: */
	SK_REASON_SCOPE_FUSE_PART, /* a task of the scope that is launched by itself */
	SK_REASON_EXTERNAL_DEPEND, /* a task of another scope, or outside of scopes, comes in between */
	SK_REASON_ISOLATED_EVENT, /* it waits for an event of a task of the scope that is launched by itself */
	SK_REASON_EXIST_DEADLOCK, /* it waits for an event that is recorded after the previous segment: one launch would
				   * occupy the cores and wait for a task that needs them */
	SK_REASON_SYNCALL_OP_DROP, /* it calls sk_sync_all on fewer cores than a task there needs (planning-parts.h) */
	SK_REASON_SYNCALL_OP_RISE, /* it needs more cores than a task there that calls sk_sync_all */

	/* Launched by itself: */
	SK_REASON_OP_UNSUPPORT, /* its kernel is marked unfusible, or it is an exchange with exchange-fusion=0 */
	SK_REASON_EXCEED_CORE_MAX, /* it has more blocks than its lane has cores */
	SK_REASON_EXCEED_STREAM_MAX, /* it is in the third stream of a scope that takes two */
	SK_REASON_SCOPE_CHECK_BYPASS, /* its scope cannot be fused whole and has strict-scope-check=bypass */
	SK_REASON_NOT_IN_SCOPE, /* it is outside of all scopes */
	SK_REASON_IN_UNFUSIBLE_SCOPE, /* `scope: null` */
	SK_REASON_RUNS_ONCE, /* `once: true` */
	SK_REASON_COUNT,
};

/* Return the code's name, such as "OP_UNSUPPORT". */
const char *sk_reason_code(enum sk_reason reason);

/* Return a sentence about the task without a full stop. It names the cause, and is in the model's arena. */
const char *sk_reason_text(struct sk_arena *arena, const struct sk_model *model, const struct sk_fusion *fusion,
			   uint32_t task);

/* ==== fusion.c ====
 *
 * Fusion: from scopes to launches. The input is the bound model. The output is the launches in a valid order, the
 * launch of every task, and for every task the reason why it was or was not fused.
 *
 * Tasks are grouped only if their sets of scope tags are equal. A task that cannot be fused is a launch by itself. It
 * ends the segment for the tasks after it in its stream and for all tasks that depend on it; the next task of the scope
 * that can be fused opens the next segment. No path over data, events, `after` or stream order leaves a launch and
 * comes back, even through other segments: the launches form a directed acyclic graph. */

struct sk_launch {
	const char *name; /* the entry's symbol: sk_<scope>, with the scope's name for symbols; of a scope that was
			   * split, sk_<scope>_start_<first task>_end_<last task>; of a single task, sk_task_<task>; of
			   * a model's node if the package's name is in symbols, sk_<package>_task_<task>. Tasks as
			   * identifiers (base/text.h) */
	const char *scope; /* the scope's name (a tag set's names with commas), or NULL */
	enum sk_launch_kind kind; /* SUPERKERNEL, SINGLE or EXCHANGE */
	struct sk_launch_options options; /* SUPERKERNEL: of its scopes; else all 0 */
	uint32_t stream; /* the first task's */
	uint32_t *tasks; /* in network order */
	uint32_t task_count;
	uint32_t *follows; /* launches that must have ended before, ascending; transitively reduced, except across
			    * chains that are not kept */
	uint32_t follow_count;
	uint32_t chain; /* launches of one stream form a chain: the chain's number, long chains first … */
	uint32_t position; /* … and this launch's place in it, from 1 */
	const uint32_t *before; /* by kept chain: the number of its launches that end before this one starts */
};

struct sk_task_placement {
	const char *scope; /* the scope of its launch, if it is fused; else its own, or NULL */
	uint32_t launch;
	uint32_t step; /* its place in the launch */
	enum sk_reason reason;
	uint32_t cause; /* a task, or SK_NONE */
};

struct sk_fusion {
	struct sk_launch *launches; /* in a valid order, as close to network order as possible */
	uint32_t launch_count;
	struct sk_task_placement *tasks; /* by task */
	const struct sk_dependencies *dependencies;
	uint32_t kept_chains;
	uint64_t steps; /* visited nodes, edges and lines of `before`, counted for tests */
};

/* Number of entries of `before` that are kept, of all launches together (64 MiB). If thousands of launches are in
 * thousands of streams, only the longest chains are kept. */
enum { SK_MAX_BEFORE = 1 << 24 };

/* Divide the tasks into launches. Return NULL, with an error, if a scope with strict-scope-check=abort is not fused
 * whole, options do not fit tasks or device, too many scopes overlap, or two symbols have the same name. */
struct sk_fusion *sk_fusion_build(struct sk_model *model);

/* Return true if every task of the earlier launch is known to have ended when the later one starts. */
bool sk_fusion_before(const struct sk_fusion *fusion, uint32_t earlier, uint32_t later);

/* ==== memory.c ====
 *
 * Memory: places of temporaries in the workspace. The input is the model, its launches and their schedule; the output
 * is offsets.
 *
 * Two temporaries share bytes only if no additional wait is needed. Either every access to one is known to have ended,
 * by existing awaits or the order of launches, before any access to the other. Or, in one launch, their accesses fall
 * on the same cores byte by byte; then both have the same offset and the same size. Tensors written by tasks that run
 * once have bytes of their own. */

enum { SK_WORKSPACE_ALIGNMENT = 64 };

struct sk_memory {
	uint64_t *offset; /* by tensor; temporaries only */
	uint64_t *unshared_offset; /* the same with separate bytes for every temporary, for task entries */
	uint64_t workspace_size;
	uint64_t unshared_workspace_size;
	uint64_t steps; /* visited ranges of the workspace, counted for tests */
};

/* Place all temporaries. Return NULL, with an error, if their sizes together exceed 64 bits. */
struct sk_memory *sk_memory_plan(const struct sk_model *model, const struct sk_fusion *fusion,
				 const struct sk_schedule *schedule);

/* ==== peak.c ====
 *
 * Memory saved by slices, for reports: bytes of temporaries that are alive at once when tasks run in network order. */

struct sk_peak {
	uint64_t with; /* bytes with slices */
	uint64_t without; /* bytes if each slice had memory of its own, filled by copies */
};

struct sk_peak sk_peak_of_slices(const struct sk_model *model);

/* ==== plan-writer.c ====
 *
 * The writer of the plan, that is, of the tables of format/skplan.h. The input is the model, its launches, their
 * schedule and the memory. The output is the bytes of .sk.plan, the relocations for the linker, and the place of each
 * constant.
 *
 * The launches of the network come first, in the order of the fusion. Then, if they are wanted, come the task entries
 * sk_unfused_<task>, one per task in network order: one step, the smallest unit, the unshared workspace. Records of
 * each launch, and of each step, are adjacent and in order in every table. The plan's tensors are those with memory of
 * their own, not views. */

enum sk_plan_target {
	SK_PLAN_ENTRY, /* the entry of plan launch `index`; its name is sk_plan_string(&launch->name) */
	SK_PLAN_SERIAL_ENTRY, /* its serial entry, <name>_serial */
	SK_PLAN_KERNEL, /* the function of kernel `index`, of the model and of the plan */
	SK_PLAN_VECTOR_KERNEL, /* the function of its vector side */
	SK_PLAN_SYMBOL, /* symbol `index`, of the model and of the plan */
	SK_PLAN_CONSTANTS, /* the start of the constants */
};

/* The 32-bit field at the offset holds 0. The linker sets it to the target's address minus the field's address. */
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
	uint8_t *sizes; /* the bytes of .sk.dims, aligned to 8; NULL: there are no sizes with bounds */
	uint64_t sizes_size;
	uint8_t *ranks; /* the bytes of .sk.ranks, aligned to 8; NULL: the package is for one process */
	uint64_t ranks_size;
	SK_ARRAY(struct sk_plan_relocation) relocations; /* by offset */
	SK_ARRAY(struct sk_plan_constant) constants; /* by offset */
	uint64_t constants_size;
};

/* Entries for single tasks. */
enum sk_task_entries {
	SK_TASKS_WITHOUT, /* none */
	SK_TASKS_BY_THUNKS, /* tasks that are called in the same way share a thunk */
	SK_TASKS_BY_ENTRIES, /* each has entries of its own, also a serial one */
};

/* Write the plan into `image`. machine: EM_…. Return false, with an error, if the plan exceeds 2 GiB or the constants
 * 64 bits. */
bool sk_plan_write(const struct sk_model *model, const struct sk_fusion *fusion, const struct sk_schedule *schedule,
		   const struct sk_memory *memory, uint32_t machine, enum sk_task_entries task_entries,
		   struct sk_plan_image *image);

/* ==== plan-sizes.c ====
 *
 * The section .sk.dims of a plan with sizes. */

/* Add slots for the values with reads[value] to the image's section, which has none yet. */
void sk_plan_add_slots(struct sk_arena *arena, const bool *reads, uint32_t value_count, struct sk_plan_image *image);

/* ==== tile-groups.c ====
 *
 * Tile groups: the tasks of a launch that form one step, with calls that each core makes tile by tile. The input is the
 * model, its launches and dependencies. The output is, for each launch, its tasks as runs with their units, most of
 * them of one task. A run in tiles also has the tile's length, and places in the scratch for temporaries that live
 * inside it. Each task has the reason why it does, or does not, join the preceding one.
 *
 * The tasks of a run are all divided, and connected by bytes that they share. They are adjacent: the tasks of a launch
 * have been put in order for that (planning-parts.h). Their extents may differ. A run counts in elements of the
 * greatest extent that divides all of them, and each task's extent is a multiple of it. */

/* The temporary is not in the scratch. */
#define SK_NOT_IN_SCRATCH UINT64_MAX

struct sk_tile_groups {
	struct sk_launch_runs *launches;
	uint32_t *places; /* by task: index in its launch's `tasks` */
	uint64_t *scratch_offset; /* by tensor: in the scratch of its step, or SK_NOT_IN_SCRATCH */
	struct sk_tile_verdict *verdicts; /* by task: whether it joins the preceding one */
	struct sk_block_verdict
		*block_verdicts; /* by task: whether each core computes the rows of its blocks of another task */
};

/* Choose the tile groups, units and parts of all launches. Cannot fail. */
struct sk_tile_groups *sk_tile_groups_build(const struct sk_model *model, const struct sk_fusion *fusion);

/* ==== without-groups.c ====
 *
 * Figures for the report: the awaits and the workspace if there were no tile groups. The input is the model and its
 * launches. The schedule and the memory plan that are made for it are otherwise unused. */

struct sk_without_groups {
	uint64_t awaits; /* of all launches */
	uint64_t workspace; /* bytes; UINT64_MAX: does not fit into 64 bits */
};

struct sk_without_groups sk_plan_without_groups(const struct sk_model *model, const struct sk_fusion *fusion);

#endif
