/* Shared by the files of this room: the steps from tasks to launches, and the reasons for each decision. */
#ifndef SK_SRC_PLANNING_PLANNING_PARTS_H
#define SK_SRC_PLANNING_PLANNING_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/skdims.h"
#include "format/skplan.h"
#include "src/model/model.h"
#include "src/planning/planning.h"

struct sk_arena;
struct sk_level;
struct sk_step_maker;

/* ==== order.c ====
 *
 * An acyclic graph that grows by nodes and edges. An edge that would close a cycle is refused, unless the caller knows
 * that none does. The input is edges. The output is whether an edge would close a cycle, and at the end an order.
 *
 * If edges can be refused, the nodes are always kept in a topological order. A search for a cycle then visits only the
 * nodes between the two ends of the new edge (Marchetti-Spaccamela, Nanni, Rohnert: Maintaining a topological order
 * under edge insertions, 1996). */

struct sk_order_node {
	uint32_t position; /* in order */
	uint32_t edges; /* newest edge, or SK_NONE */
	uint32_t degree; /* edges that end here */
	uint32_t reached; /* number of the last search that reached it */
	uint32_t wanted; /* number of the last search that must not reach it */
};

struct sk_order_edge {
	uint32_t to;
	uint32_t next; /* of the same node, or SK_NONE */
};

struct sk_order {
	struct sk_arena *arena;
	SK_ARRAY(struct sk_order_node) nodes;
	SK_ARRAY(struct sk_order_edge) edges;
	SK_ARRAY(uint32_t) order; /* nodes in a topological order */
	SK_ARRAY(uint32_t) stack; /* scratch */
	uint32_t search; /* number of the last search */
	uint64_t steps; /* visited nodes and edges, counted for tests */
};

void sk_order_init(struct sk_order *order, struct sk_arena *arena);

/* Add a node without edges and return its number, counted from 0. */
uint32_t sk_order_add(struct sk_order *order);

/* Add edges from all the given nodes to one (a node itself is skipped), unless one of them closes a cycle. Return
 * SK_NONE, or one of the given nodes that can be reached from `to`; then nothing has been added. */
uint32_t sk_order_connect(struct sk_order *order, const uint32_t *from, size_t count, uint32_t to);

/* Add the same edges without a check. The caller guarantees that none closes a cycle, and adds all edges of the graph
 * in this way. */
void sk_order_add_edges(struct sk_order *order, const uint32_t *from, size_t count, uint32_t to);

/* Return the nodes in topological order; among nodes that could come next, the smallest key comes first. */
uint32_t *sk_order_sort(const struct sk_order *order, const uint32_t *keys);

/* ==== ancestry.c ====
 *
 * Ancestry: the segments that lead to each launch, while tasks are placed one by one. The input is edges between
 * groups. The output is, for a task and a set of scope tags, the lowest segment of the set that does not lead to any of
 * the task's predecessors. The task may join that segment without closing a cycle.
 *
 * A task that comes after level n of its set never comes before it: the cause that kept it out of a level leads to it.
 * So for each set a group needs only two marks: whether level 0 leads to it, and the highest other level that does. All
 * levels between lead to it as well. (Level 0 is separate because parts of a set may begin at level 1, after its first
 * task that cannot be fused, which need not come after any other task.) The marks are updated with each edge, and only
 * ever grow. Sets that do not overlap share a column of marks, one after the other.
 *
 * This holds if dependencies alone decide on levels, so not on a device with sync-all-split (segments.c). */

struct sk_segments;

struct sk_ancestry {
	uint32_t columns; /* 0: no set */
	uint32_t *column_of; /* by set */
	uint32_t *base; /* by set: its marks are base for level 0, base + n for level n; greater than those of earlier
			 * sets */
	SK_ARRAY(uint32_t *) marks; /* by group: two for each column */
	SK_ARRAY(uint32_t) stack; /* scratch */
	uint64_t steps; /* visited marks and edges, counted for tests */
};

/* Assign the columns. The sets must be known. */
void sk_ancestry_init(struct sk_ancestry *ancestry, const struct sk_segments *segments);

/* Forget the groups. */
void sk_ancestry_reset(struct sk_ancestry *ancestry);

/* Return the lowest level of the set, from `floor` on, that leads to none of the groups, except the level's own
 * group. */
uint32_t sk_ancestry_level(struct sk_ancestry *ancestry, const struct sk_segments *segments, uint32_t set,
			   uint32_t floor, const uint32_t *from, size_t count);

/* Return true if the level of the set leads to the group, and is not the group itself. */
bool sk_ancestry_leads(const struct sk_ancestry *ancestry, const struct sk_segments *segments, uint32_t set,
		       uint32_t level, uint32_t group);

/* Add edges from all the given groups to one. None may close a cycle. A new group has the next number. */
void sk_ancestry_connect(struct sk_ancestry *ancestry, struct sk_segments *segments, const uint32_t *from, size_t count,
			 uint32_t to);

/* ==== runs ====
 *
 * Runs: the tasks of a launch, divided into those that are one step each, with the results of tile-groups.c and
 * block-parts.c. */

/* The parts of a task that is cut into blocks along rows. */
struct sk_block_parts {
	uint32_t task; /* the task in blocks */
	uint32_t blocks; /* 0: there are none */
	uint64_t rows;
	const struct sk_size *size; /* the form of the rows; NULL: they are a number */
};

struct sk_run {
	uint32_t first, count; /* places in the launch's tasks, in the order of sk_launch_runs */
	uint64_t extent; /* elements that the run counts in; 0: its task is not SPLIT */
	const struct sk_size *size; /* the form of its extent; NULL: it is a number */
	uint64_t unit; /* of them; 0: its task is not SPLIT */
	struct sk_block_parts parts; /* SPLIT: used in place of units */
	uint64_t tile; /* in elements, whole units; 0: it is not in tiles */
	uint32_t first_core; /* the core of the first part, modulo the number of cores */
	uint64_t scratch_size; /* needed by a core; a multiple of 64 */
};

struct sk_launch_runs {
	const uint32_t *tasks; /* of the launch, in the order of their calls */
	struct sk_run *runs; /* all of them, in this order */
	uint32_t count;
	bool ordered; /* they have another order than the list's */
};

/* Return the number of elements of the task's extent for each element of the run's; 1 for a run that is not in
 * tiles. */
static inline uint64_t sk_run_scale(const struct sk_run *run, const struct sk_task *task)
{
	return run->tile ? task->bound.extent / run->extent : 1;
}

/* ==== block-parts.c ====
 *
 * Parts made of blocks: the divided tasks of a launch that each core computes in the rows of its blocks of another
 * task, so that neither awaits the other. The input is the launch and its tasks as runs with their units. The output is
 * the runs' parts, and a reason for each task. */

/* Return true if each part of the task accesses one part of the argument, and nothing around it. */
bool sk_is_divided(const struct sk_argument *argument);

/* Return true if equal parts of the two tasks' extents are the same bytes in both arguments, with nothing around them,
 * at all sizes. */
bool sk_divides_alike(const struct sk_model *model, const struct sk_task *one, const struct sk_argument *a,
		      const struct sk_task *other, const struct sk_argument *b);

/* Choose the parts of all runs of the launch with this number. places (in the runs) and verdicts are by task. */
void sk_block_parts_choose(const struct sk_model *model, const struct sk_fusion *fusion, uint32_t launch,
			   const uint32_t *places, struct sk_launch_runs *runs, struct sk_block_verdict *verdicts);

/* ==== launch-options.c ====
 *
 * The options of a superkernel: joined if its tasks are in several scopes, and checked against the device and the
 * tasks. */

/* Check the options that depend on kernels and device: lists must name kernels of their scope, and there must be as
 * many cores as options ask for. Return false after an error. */
bool sk_launch_options_check(const struct sk_model *model);

/* Return the options of tasks that are in all of these scopes: the greatest alignment, preload and number of copies,
 * the smallest number of cores, each switch that is on in any scope, and all names of all lists. */
struct sk_launch_options sk_launch_options_join(const struct sk_model *model, const uint32_t *scopes, size_t count);

/* Return the SK_STEP_FLUSH_… flags of the task's step. */
uint32_t sk_launch_options_flushes(const struct sk_model *model, const struct sk_launch_options *options,
				   uint32_t task);

/* Fill in, by lane of the device, the number of cores that the superkernel runs on; 0: all. */
void sk_launch_options_cores(const struct sk_model *model, const struct sk_launch_options *options,
			     uint32_t cores[SK_MAX_LANES]);

/* ==== launch-steps.c ====
 *
 * The steps of a launch, without their awaits. The input is a launch of the fusion. The output is its steps with lanes,
 * numbers, core sets and divisions, and its homes and partitions. */

/* Create the state that is kept between launches, in the model's arena. */
struct sk_step_maker *sk_step_maker_new(const struct sk_model *model, const struct sk_fusion *fusion,
					const struct sk_tile_groups *groups);

/* Make the steps of the launch with this number. */
void sk_launch_steps_make(struct sk_step_maker *maker, struct sk_launch_schedule *launch, uint32_t number);

/* ==== placement.c ====
 *
 * Placement: the first core of steps that have work for fewer cores than there are. The input is a launch's runs with
 * their units. The output is the first core of each, so that independent runs are side by side, and dependent runs are
 * on the same cores. */

/* Set first_core of all runs of the groups' launch with that number. */
void sk_placement_choose(const struct sk_model *model, const struct sk_fusion *fusion, uint32_t launch,
			 struct sk_tile_groups *groups);

/* Return the number of the run's parts at the usual sizes; blocks: if its task is not divided. */
uint64_t sk_run_parts(const struct sk_model *model, const struct sk_run *run, uint64_t blocks);

/* ==== run-times.c ====
 *
 * An estimate of the time of a launch in an order of its runs. The input is the runs with their units, and the edges
 * between them. The output is the work of each, and a time in ns at the usual sizes on the model's device. */

enum sk_run_edge_kind {
	SK_EDGE_ORDER, /* comes before it in the launch, and is not awaited */
	SK_EDGE_SAME_CORES, /* each core needs only what it has done itself */
	SK_EDGE_AWAIT,
};

/* A run that comes before another one. */
struct sk_run_edge {
	uint32_t run;
	enum sk_run_edge_kind kind;
};

/* The work of a run, or of a side of a mix task, in its lane. */
struct sk_run_work {
	uint32_t lane, cores; /* of the lane that the launch may use */
	uint32_t parts; /* cores that have a part of it */
	uint32_t first; /* the core of the first part, if that cannot be chosen (`fixed`); modulo the cores */
	bool fixed;
	bool apart; /* parts are on cores as far apart as possible; else on adjacent ones */
	bool home; /* a plain task: only its core comes to it */
	bool alone; /* cores without a part do not await (SK_STEP_OWN_AWAITS) */
	double time; /* ns, of the longest part */
	double bytes; /* of all parts */
};

struct sk_run_graph {
	const struct sk_model *model;
	const struct sk_fusion *fusion;
	struct sk_arena *arena;
	uint32_t launch; /* its number */
	struct sk_launch_runs *runs;
	uint32_t cores[SK_MAX_LANES]; /* of the device that the launch may use */
	struct sk_run_work *works; /* by run and side */
	uint8_t *sides; /* by run: their number */
	struct sk_run_edge *edges; /* to run r: from first_edge[r] to first_edge[r + 1] */
	const uint32_t *first_edge;
};

/* Fill in cores, works and sides. */
void sk_run_times_measure(struct sk_run_graph *graph);

/* Return the core of a part, if the first one is on this core. */
uint32_t sk_run_work_core(const struct sk_run_work *work, uint32_t first, uint32_t part);

/* The time in ns, if no core awaits in a step in blocks of which it has none, and if all do. Which do is known when the
 * awaits are (schedule.c). */
struct sk_run_times {
	double skipping, awaiting;
};

/* Estimate the time in an order of the graph's runs. placed: the same runs in that order, with their first cores. */
struct sk_run_times sk_run_times_estimate(const struct sk_run_graph *graph, const uint32_t *order,
					  const struct sk_run *placed);

/* ==== run-order.c ====
 *
 * The order of a launch's runs. The input is the runs in the list's order (that of the network, but for tile groups).
 * The output is the runs in the order that is kept, with their first cores: that of a list schedule if it takes less
 * time by the estimate, else the list's. Either keeps each task after the tasks that it must follow: tasks that share
 * bytes with it which one of them writes, `after`, events, and the demands of its stream (tile-order.c). */

/* Choose the order and the first cores of the groups' launch with that number. */
void sk_run_order_choose(const struct sk_model *model, const struct sk_fusion *fusion, uint32_t launch,
			 struct sk_tile_groups *groups);

/* ==== plan-tables.c ====
 *
 * Parts of the plan's writer: the tables with their places in the image, and the strings and relocations of records. */

struct sk_plan_list_of_task {
	uint32_t list, first_operand;
};

/* The arguments of all calls; a task's own entry shares the task's list. */
struct sk_plan_lists {
	SK_ARRAY(struct sk_plan_argument) records;
	SK_ARRAY(struct sk_plan_term) terms;
	SK_ARRAY(struct sk_plan_pattern) patterns;
	SK_ARRAY(uint32_t) operands;
	struct sk_plan_list_of_task *of_tasks; /* by task */
};

/* Bytes that describe records, to find equal ones. */
struct sk_plan_key {
	struct sk_arena *arena;
	SK_ARRAY(char) bytes;
};

/* A table of shared records: equal records are stored once. */
struct sk_plan_shared {
	SK_ARRAY(char) bytes;
	size_t record_size;
	struct sk_map numbers; /* the bytes of adjacent records -> the number of the first one */
};

/* Offsets of a kernel's names in the strings. */
struct sk_plan_kernel_strings {
	uint32_t name, symbol, signature;
};

struct sk_plan_writer {
	const struct sk_model *model;
	const struct sk_fusion *fusion;
	const struct sk_schedule *schedule;
	const struct sk_memory *memory;
	struct sk_arena *arena; /* of data that the image does not hold */
	enum sk_task_entries task_entries;
	struct sk_plan_image *image;
	uint64_t *constant_offsets; /* by tensor */
	const char **entry_names; /* by task; NULL: they have none */
	uint32_t *numbers; /* by tensor that is not a view: its number in the plan */

	/* The tables in the image, and the number of records written to each. */
	struct sk_plan *plan;
	int32_t *lanes;
	struct sk_plan_launch *launches;
	struct sk_plan_task *tasks;
	struct sk_plan_cost *costs;
	struct sk_plan_kernel *kernels;
	struct sk_plan_tensor *tensors;
	uint32_t *bindings;
	struct sk_plan_step *steps;
	struct sk_plan_call *calls;
	struct sk_plan_await *awaits;
	struct sk_plan_loop *loops;
	struct sk_plan_symbol *symbols;
	uint32_t *follows;
	uint32_t step_count, call_count, await_count, argument_count, loop_count, follow_count;

	struct sk_plan_lists lists;
	struct sk_map cost_numbers; /* costs of tasks -> index in costs */
	uint32_t *copies; /* by kernel: number of copies, without itself */
	uint32_t copy_count;
	uint32_t tensor_count; /* without views */

	uint64_t strings_offset; /* in the image */
	SK_ARRAY(char) strings;
	struct sk_map string_offsets;
	const char *last_text; /* the last text that was interned, and its offset */
	uint32_t last_offset;
	/* Offsets of the names that come first: by task, by task if it has an entry, by kernel. */
	uint32_t *task_offsets, *entry_offsets;
	struct sk_plan_kernel_strings *kernel_strings;

	SK_ARRAY(struct sk_varying_field) sizes; /* forms of records' fields, by the records' numbers */

	/* Tables after the strings: their sizes are known when all others have been written. */
	struct sk_plan_shared forms, types, partitions, homes;
};

/* Make the lists of arguments. The tensors must be numbered. */
void sk_plan_make_lists(struct sk_plan_writer *writer);

/* Count the records, place each table, and allocate the image. Return false if the plan is too large. */
bool sk_plan_lay_out(struct sk_plan_writer *writer);

/* Intern the names that only messages and tools read. They come first, so that the strings that loading reads are
 * adjacent at the end, next to other data that it reads. */
void sk_plan_intern_other_names(struct sk_plan_writer *writer);

/* Return the number of the first of `count` adjacent records that are equal to these; 0 if count is 0. */
uint32_t sk_plan_share(struct sk_plan_writer *writer, struct sk_plan_shared *table, const void *records,
		       uint32_t count);

/* The same for records with forms, which `key` describes together with the records. */
uint32_t sk_plan_share_by(struct sk_plan_writer *writer, struct sk_plan_shared *table, const void *records,
			  uint32_t count, const char *key, size_t key_size);

/* Return the value for a field of a shared record that refers to a string. sk_plan_join replaces it by a reference.
 * text NULL: the field stays 0. */
int32_t sk_plan_later_string(struct sk_plan_writer *writer, const char *text);

/* Set a field of the tables to refer to a string; text NULL: it stays 0. */
void sk_plan_set_string(struct sk_plan_writer *writer, int32_t *field, const char *text);

/* Set a field of the tables to refer to the string at this offset. */
void sk_plan_set_interned(struct sk_plan_writer *writer, int32_t *field, uint32_t offset);

/* Record a field of the tables that the linker fills in. Fields must be added in ascending order of their places. */
void sk_plan_add_relocation(struct sk_plan_writer *writer, const int32_t *field, enum sk_plan_target target,
			    uint32_t index);

/* Join tables, strings and shared records in the image. This turns the numbers of forms and types into references.
 * Return false if the plan is too large. */
bool sk_plan_join(struct sk_plan_writer *writer);

/* ==== plan-ranks.c ====
 *
 * The section .sk.ranks of a plan with ranks. */

/* Write the model's ranks, groups and exchanges into the image. */
void sk_plan_write_ranks(const struct sk_model *model, struct sk_plan_image *image);

/* ==== plan-sizes.c ====
 *
 * Parts of the plan's writer: the forms of records' fields, and the section .sk.dims that has them. */

/* Append to a description of records, the latter with forms; NULL: there are none. */
void sk_plan_key_append(struct sk_plan_key *key, const void *bytes, size_t size);
void sk_plan_key_append_sizes(struct sk_plan_key *key, const struct sk_varying *varying);

/* Note the forms of a record's field, or of all fields of records from this number on; NULL: there are none. */
void sk_plan_note_size(struct sk_plan_writer *writer, enum sk_dims_table table, uint32_t record, size_t offset,
		       const struct sk_size *size);
void sk_plan_note_sizes(struct sk_plan_writer *writer, const struct sk_varying *varying, enum sk_dims_table table,
			uint32_t record);

/* Return the key of a cost, or of one side's: equal costs have one record. */
struct sk_plan_key sk_plan_cost_key(const struct sk_plan_writer *writer, const struct sk_task_cost *cost,
				    uint32_t side);

/* Write the section, if the model has sizes with bounds. Return false after an error. */
bool sk_plan_write_sizes(struct sk_plan_writer *writer);

/* ==== sync-split.c ====
 *
 * The limits that sk_sync_all sets on segments. On devices with `sync-all-split: true` in their profile, sk_sync_all
 * waits for all cores of a superkernel. So a task that calls it can only be fused with tasks that need no more cores
 * than it has. On other devices it waits for the task's own blocks, and sets no limit.
 *
 * The input is a task that may join a segment; the output is whether it can, by the reference system's rule. The task
 * cannot join if it calls sk_sync_all and needs fewer cores than an earlier task (a drop), or if it needs more cores
 * than a task that calls sk_sync_all (a rise). The rule is about sets: the order in which tasks join makes no
 * difference. */

/* The needs of a segment's tasks; all 0: it has none. */
struct sk_sync_load {
	uint32_t cores[SK_MAX_LANES]; /* the greatest need of a task … */
	uint32_t greediest[SK_MAX_LANES]; /* … and the first task with that need */
	bool synchronises; /* a task calls sk_sync_all … */
	uint32_t caller; /* … and that is the first one */
};

/* Fill in the cores of each lane of a superkernel with the task in it. Devices with two lanes assign cores in groups.
 * So a task that calls sk_sync_all on one lane also limits the cores of the other lane: two vector cores for each cube
 * core. */
void sk_sync_cores(const struct sk_model *model, uint32_t task, uint32_t cores[SK_MAX_LANES]);

/* Return CAN_FUSE, or SYNCALL_OP_DROP or SYNCALL_OP_RISE and in `cause` the task that prevents it. */
enum sk_reason sk_sync_split(const struct sk_model *model, const struct sk_sync_load *load, uint32_t task,
			     uint32_t *cause);

void sk_sync_add(const struct sk_model *model, struct sk_sync_load *load, uint32_t task);

/* ==== segments.c ====
 *
 * Segments: the tasks that are launched together. The input is the model and its dependencies. The output is groups of
 * tasks, each a segment of a scope or a single task, and the acyclic graph between them. */

/* The tasks with equal sets of scope tags. */
struct sk_tag_set {
	const uint32_t *scopes;
	size_t scope_count;
	const char *label; /* the scopes' names with commas */
	uint32_t first, last; /* tasks */
	SK_ARRAY(uint32_t) segments; /* groups by level; SK_NONE: there is none */
};

struct sk_group {
	uint32_t set; /* SK_NONE: a task by itself */
	uint32_t level; /* in the set's segments */
	SK_ARRAY(uint32_t) tasks; /* in network order */
	struct sk_sync_load load; /* sync-all-split: the needs of its tasks */
};

struct sk_segments {
	struct sk_model *model;
	SK_ARRAY(struct sk_tag_set) sets;
	uint32_t *set_of; /* by task; SK_NONE: no scope, or scope: null */
	bool *checked; /* by scope: its strict check has been reported */
	SK_ARRAY(struct sk_group) groups;
	struct sk_order order; /* of the groups: its nodes have their numbers */
	struct sk_ancestry ancestry; /* of the groups … */
	bool searches; /* … unless paths between them are searched for */
	uint32_t *group_of; /* by task */
	enum sk_reason *verdict; /* by task: CAN_FUSE, or why it is launched by itself */
	uint32_t *floor; /* by task that can be fused: the lowest level it may have */
	uint32_t *cause; /* by task: the task that ended the previous segment for it, or SK_NONE … */
	enum sk_reason *split; /* … and the reason */
	uint32_t *predecessors; /* of task t, over every order between launches: from first_predecessor[t] to
				 * first_predecessor[t + 1] */
	uint32_t *first_predecessor;
	uint32_t *first_recorder; /* the index of the first predecessor that recorded an event of t; the rest of t's did
				   * as well */
	struct sk_level *levels; /* by task: scratch of one pass */
	SK_ARRAY(struct sk_sync_load) loads; /* by level: scratch of one pass */
	uint64_t steps; /* visited tasks and edges, counted for tests */
};

/* Find tag sets, verdicts and predecessors. Warn of streams beyond the limit of a scope. Return NULL, with an error, if
 * too many scopes overlap. */
struct sk_segments *sk_segments_build(struct sk_model *model, const struct sk_dependencies *dependencies);

/* Group the tasks by their verdicts. May be called again after verdicts have changed. */
void sk_segments_place(struct sk_segments *segments);

/* ==== strict.c ====
 *
 * The strict check of scopes: the requested fusion against the result. */

/* Check each scope that asks for it. A scope passes if all of its tasks (except those with `scope: null`) are in one
 * superkernel, whatever other scopes they are in. If one fails, strict-scope-check=abort reports an error with every
 * place, and bypass a warning. bypass also changes the verdicts of the scope's tasks; then the result is true, and the
 * segments must be placed again. */
bool sk_strict_check(struct sk_segments *segments, const struct sk_fusion *fusion);

/* ==== tile-accesses.c ====
 *
 * The accesses of two tasks that may be in one tile group. The input is the two; the output holds for all sizes. */

/* Compare two accesses. JOINED: equal parts of the two tasks are the same bytes. NOTHING_SHARED: they are
 * independent. */
enum sk_tile_reason sk_tile_compare(const struct sk_model *model, const struct sk_task *one,
				    const struct sk_argument *a, const struct sk_task *other,
				    const struct sk_argument *b);

/* Return true if the extents of the two have the same proportion at all sizes. */
bool sk_extents_are_proportional(const struct sk_model *model, const struct sk_task *one, const struct sk_task *other);

/* ==== tile-order.c ====
 *
 * Tile order: the order of a launch's tasks in which those that can be in one tile group are adjacent. The input is a
 * launch with its tasks in network order, and a callback that tells whether tasks can be in one group. The output is an
 * order that keeps each task after the tasks that it must follow: tasks that share bytes with it which one of them
 * writes, `after`, events, and, for tasks that are not divided, those of its stream.
 *
 * Within a launch a stream otherwise binds order only at events: if a task records one or waits for one, the tasks of
 * its stream before it stay before it, and those after it stay after it. */

enum sk_tile_fit {
	SK_TILE_FIT_NEVER, /* there is an obstacle */
	SK_TILE_FIT_UNRELATED, /* they share nothing */
	SK_TILE_FIT_WELL,
};

/* Return how the task at a place of the launch fits into a group with those at other places, ascending. */
typedef enum sk_tile_fit sk_tile_judge(const void *context, const uint32_t *places, uint32_t count, uint32_t place);

/* The result for the task at a place of the launch. */
struct sk_tile_place {
	uint32_t group; /* tasks with equal numbers are adjacent */
	uint32_t meeting; /* the task that joined two groups into this one; SK_NONE: the group is not joined */
	uint32_t refused; /* the last one of a group that it would join … */
	uint32_t between; /* … but for this task, which comes after that group and before it; both SK_NONE: no such
			   * group */
};

struct sk_tile_orderer;

struct sk_tile_orderer *sk_tile_orderer_new(const struct sk_model *model, const struct sk_fusion *fusion);

/* Return the launch's tasks in order, and in `places` the result for each place of the launch in network order. */
uint32_t *sk_tile_order_find(struct sk_tile_orderer *orderer, uint32_t launch, sk_tile_judge *judge,
			     const void *context, struct sk_tile_place **places);

/* ==== verdicts.c ====
 *
 * Verdicts: the tasks that cannot be fused, independent of the others. The input is the tag sets; the output is a
 * reason per task. */

/* Return whether the task is an exchange between ranks that is not fused, by exchange-fusion=0. */
bool sk_launches_exchange_alone(const struct sk_model *model, const struct sk_task *task);

/* Fill in segments->verdict. Warn of the first task in a stream beyond a scope's limit. */
void sk_verdicts_find(struct sk_segments *segments);

#endif
