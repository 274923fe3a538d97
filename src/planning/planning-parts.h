/* Shared by the files of this room: the steps from tasks to launches, and the reasons for each decision. */
#ifndef SK_SRC_PLANNING_PLANNING_PARTS_H
#define SK_SRC_PLANNING_PLANNING_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/skplan.h"
#include "src/model/model.h"
#include "src/planning/planning.h"

struct sk_arena;
struct sk_level;
struct sk_step_maker;

/* ==== order.c ====
 *
 * An acyclic graph that grows: nodes and edges are added, and an edge that would close a cycle is refused, unless
 * whoever adds it knows that it does not. In come edges; out comes, at any time, the knowledge that there is no cycle,
 * and at the end an order.
 *
 * Where edges are refused, the nodes are kept in a topological order all the time, so that a search for a cycle only
 * has to look at the nodes between the two ends of the new edge (Marchetti-Spaccamela, Nanni, Rohnert: Maintaining a
 * topological order under edge insertions, 1996). */

struct sk_order_node {
	uint32_t position; /* in order */
	uint32_t edges; /* newest edge, or SK_NONE */
	uint32_t degree; /* edges that end here */
	uint32_t reached; /* number of the last search that came here */
	uint32_t wanted; /* number of the last search that must not come here */
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
	uint64_t steps; /* nodes and edges that have been looked at, which tests count */
};

void sk_order_init(struct sk_order *order, struct sk_arena *arena);

/* A new node without edges; nodes are numbered from 0. */
uint32_t sk_order_add(struct sk_order *order);

/* Adds edges from all the given nodes to one (those from itself are ignored), unless one of them closes a cycle.
 * Returns SK_NONE, or one of the given nodes that can be reached from `to`; then nothing has been added. */
uint32_t sk_order_connect(struct sk_order *order, const uint32_t *from, size_t count, uint32_t to);

/* The same edges, of which the caller knows that none closes a cycle; then all edges of the graph are added so. */
void sk_order_add_edges(struct sk_order *order, const uint32_t *from, size_t count, uint32_t to);

/* The nodes in the topological order that takes, of all nodes that could come next, the one with the smallest key. */
uint32_t *sk_order_sort(const struct sk_order *order, const uint32_t *keys);

/* ==== ancestry.c ====
 *
 * Ancestry: which segments lead to which launches, while tasks are placed one by one. In come edges between groups; out
 * comes, for a task and a set of scope tags, the lowest segment of the set that does not lead to any of the task's
 * predecessors: the task may join that one without closing a cycle.
 *
 * A task that comes behind level n of its set is never in front of it: what kept it out of a level leads to it. So of
 * each set a group needs to know two things only, whether level 0 leads to it, and which is the highest of the other
 * levels that does; all levels between do so as well. (Level 0 is apart since a set may begin at level 1 in places:
 * behind its first task that cannot be fused, which need not be behind anything.) These marks are kept up to date as
 * edges come: they only ever grow. Sets that do not reach over each other have the same column of marks, one after the
 * other.
 *
 * This holds where dependencies alone decide on levels, so not on a device with sync-all-split (segments.c). */

struct sk_segments;

struct sk_ancestry {
	uint32_t columns; /* 0: no set */
	uint32_t *column_of; /* by set */
	uint32_t *base; /* by set: its marks are base for level 0, base + n for level n; above those of earlier sets */
	SK_ARRAY(uint32_t *) marks; /* by group: two for each column */
	SK_ARRAY(uint32_t) stack; /* scratch */
	uint64_t steps; /* marks and edges that have been looked at, which tests count */
};

/* Finds the columns. The sets must be known. */
void sk_ancestry_init(struct sk_ancestry *ancestry, const struct sk_segments *segments);

/* Forgets the groups. */
void sk_ancestry_reset(struct sk_ancestry *ancestry);

/* The lowest level of the set, from `floor` on, that leads to none of the groups, the level's own group apart. */
uint32_t sk_ancestry_level(struct sk_ancestry *ancestry, const struct sk_segments *segments, uint32_t set,
			   uint32_t floor, const uint32_t *from, size_t count);

/* True if the level of the set leads to the group, and is not the group itself. */
bool sk_ancestry_leads(const struct sk_ancestry *ancestry, const struct sk_segments *segments, uint32_t set,
		       uint32_t level, uint32_t group);

/* The edges from all the given groups to one, of which none may close a cycle. A group that is new has the next number.
 */
void sk_ancestry_connect(struct sk_ancestry *ancestry, struct sk_segments *segments, const uint32_t *from, size_t count,
			 uint32_t to);

/* ==== runs ====
 *
 * Runs: the tasks of a launch, cut into those that are one step each; what tile-groups.c and block-parts.c find out
 * about them together. */

/* What cores have of the blocks of a task that is cut along rows. */
struct sk_block_parts {
	uint32_t task; /* whose blocks they are */
	uint32_t blocks; /* 0: there are none */
	uint64_t rows;
};

struct sk_run {
	uint32_t first, count; /* places in the launch's tasks, as they are here */
	uint64_t extent; /* elements that the run counts in; 0: its task is not SPLIT */
	uint64_t unit; /* of them; 0: its task is not SPLIT */
	struct sk_block_parts parts; /* SPLIT: that are shared out instead of units */
	uint64_t tile; /* of them, whole units; 0: it is not in tiles */
	uint32_t first_core; /* where the first part is, of whatever number of cores modulo that (planning-parts.h) */
	uint64_t scratch_size; /* that a core needs for it; a multiple of 64 */
};

struct sk_launch_runs {
	const uint32_t *tasks; /* of the launch, in the order in which its steps make their calls */
	struct sk_run *runs; /* all of them, in this order */
	uint32_t count;
};

/* Elements of the task's extent for each one of the run's; 1 of a run that is not in tiles. */
static inline uint64_t sk_run_scale(const struct sk_run *run, const struct sk_task *task)
{
	return run->tile ? task->bound.extent / run->extent : 1;
}

/* ==== block-parts.c ====
 *
 * Parts made of blocks: which divided tasks of a launch each core computes in what it has of a task in blocks, so that
 * neither awaits the other. In come the launch and its tasks as runs with their units; out come the runs' parts, and
 * for each task why, or why not. */

/* Each part of the task accesses a part of it, and nothing around that. */
bool sk_is_divided(const struct sk_argument *argument);

/* True if equal parts of the two tasks' extents are the same bytes in both arguments: those of the same elements, with
 * nothing around them. */
bool sk_divides_alike(const struct sk_task *one, const struct sk_argument *a, const struct sk_task *other,
		      const struct sk_argument *b);

/* Chooses the parts of all runs of the launch of this number. By task: places in the runs, and the verdicts. */
void sk_block_parts_choose(const struct sk_model *model, const struct sk_fusion *fusion, uint32_t launch,
			   const uint32_t *places, struct sk_launch_runs *runs, struct sk_block_verdict *verdicts);

/* ==== launch-options.c ====
 *
 * What the options of scopes say about one superkernel: joined where its tasks are in several scopes, and checked
 * against the device and the tasks. */

/* Checks what can only be checked once kernels and device are known: that lists name kernels of their scope, and that
 * there are as many cores as options ask for. False after an error. */
bool sk_launch_options_check(const struct sk_model *model);

/* The options of tasks that are in all of these scopes: the greater alignment, preload and number of copies, the
 * smaller number of cores, whatever is 1 anywhere, all names of all lists. */
struct sk_launch_options sk_launch_options_join(const struct sk_model *model, const uint32_t *scopes, size_t count);

/* SK_STEP_FLUSH_… of the task's step. */
uint32_t sk_launch_options_flushes(const struct sk_model *model, const struct sk_launch_options *options,
				   uint32_t task);

/* By lane of the device, cores that the superkernel runs on; 0: all. */
void sk_launch_options_cores(const struct sk_model *model, const struct sk_launch_options *options,
			     uint32_t cores[SK_MAX_LANES]);

/* ==== launch-steps.c ====
 *
 * The steps of a launch, before anybody knows their awaits: in comes a launch of the fusion; out come its steps with
 * lanes, numbers, core sets and divisions, and its homes and partitions. */

/* What is kept from launch to launch, in the model's arena. */
struct sk_step_maker *sk_step_maker_new(const struct sk_model *model, const struct sk_fusion *fusion,
					const struct sk_tile_groups *groups);

/* Makes the steps of the launch of this number. */
void sk_launch_steps_make(struct sk_step_maker *maker, struct sk_launch_schedule *launch, uint32_t number);

/* ==== placement.c ====
 *
 * Placement: at which core the steps begin that have work for fewer cores than there are. In come a launch's runs with
 * their units; out comes the first core of each, so that what does not depend on each other is side by side, and what
 * does is on the same cores. */

/* Fills the runs' first_core, of the groups' launch of that number. */
void sk_placement_choose(const struct sk_model *model, const struct sk_fusion *fusion, uint32_t launch,
			 struct sk_tile_groups *groups);

/* ==== plan-tables.c ====
 *
 * The plan's writer in parts: the tables with their place in the image, and the strings and relocations that their
 * records have. */

struct sk_plan_list_of_task {
	uint32_t list, first_operand;
};

/* What the arguments of all calls are made of; the task's entry shares the task's. */
struct sk_plan_lists {
	SK_ARRAY(struct sk_plan_argument) records;
	SK_ARRAY(struct sk_plan_term) terms;
	SK_ARRAY(struct sk_plan_pattern) patterns;
	SK_ARRAY(uint32_t) operands;
	struct sk_plan_list_of_task *of_tasks; /* by task */
};

/* A table of records that others share: what is equal stands in it once. */
struct sk_plan_shared {
	SK_ARRAY(char) bytes;
	size_t record_size;
	struct sk_map numbers; /* by the bytes of records one behind the other: the first one's */
};

/* Where what a kernel is called stands in the strings. */
struct sk_plan_kernel_strings {
	uint32_t name, symbol, signature;
};

struct sk_plan_writer {
	const struct sk_model *model;
	const struct sk_fusion *fusion;
	const struct sk_schedule *schedule;
	const struct sk_memory *memory;
	struct sk_arena *arena; /* of what the image does not hold */
	enum sk_task_entries task_entries;
	struct sk_plan_image *image;
	uint64_t *constant_offsets; /* by tensor */
	const char **entry_names; /* by task; NULL: they have none */
	uint32_t *numbers; /* by tensor that is no view: its number in the plan */

	/* The tables in the image, and how much of each has been written. */
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
	struct sk_map cost_numbers; /* what tasks cost -> index in costs */
	uint32_t *copies; /* by kernel: beside itself */
	uint32_t copy_count;
	uint32_t tensor_count; /* that are no views */

	uint64_t strings_offset; /* in the image */
	SK_ARRAY(char) strings;
	struct sk_map string_offsets;
	const char *last_text; /* that has been looked for there, and what was found */
	uint32_t last_offset;
	/* Of the names that go first: by task, by task if it has an entry, by kernel. */
	uint32_t *task_offsets, *entry_offsets;
	struct sk_plan_kernel_strings *kernel_strings;

	/* Behind the strings: how many they are is known when all others have been written. */
	struct sk_plan_shared forms, types, partitions, homes;
};

/* Makes the lists of arguments; the tensors are numbered. */
void sk_plan_make_lists(struct sk_plan_writer *writer);

/* Counts the records, finds a place for each table, and makes room. False if the plan is too large. */
bool sk_plan_lay_out(struct sk_plan_writer *writer);

/* The names that only messages and tools read. They go first, so that those that loading reads stand together at the
 * end of the strings, where it looks anyway. */
void sk_plan_intern_other_names(struct sk_plan_writer *writer);

/* The number of the first of so many records in a row, which are equal to these; 0 of none. */
uint32_t sk_plan_share(struct sk_plan_writer *writer, struct sk_plan_shared *table, const void *records,
		       uint32_t count);

/* What a field of a record that is shared holds until the tables are joined, instead of a reference to a string. NULL:
 * it stays 0. */
int32_t sk_plan_later_string(struct sk_plan_writer *writer, const char *text);

/* A field of the tables that refers to a string; NULL: it stays 0. */
void sk_plan_set_string(struct sk_plan_writer *writer, int32_t *field, const char *text);

/* The same, where its place in the strings is known. */
void sk_plan_set_interned(struct sk_plan_writer *writer, int32_t *field, uint32_t offset);

/* A field of the tables that the linker fills in. Fields come in the order of their places. */
void sk_plan_add_relocation(struct sk_plan_writer *writer, const int32_t *field, enum sk_plan_target target,
			    uint32_t index);

/* Joins tables, strings and what is shared in the image; the form of a launch, and the type of a tensor, is a number
 * until now. False if the plan is too large. */
bool sk_plan_join(struct sk_plan_writer *writer);

/* ==== sync-split.c ====
 *
 * Where sk_sync_all waits for all cores that a superkernel holds, a task that calls it can only be fused with tasks
 * that need no more cores than it has. Devices whose profile says `sync-all-split: true` are such; on others it waits
 * for the task's own blocks, and nothing has to be looked at here.
 *
 * In comes a task that may join a segment; out comes whether it can. That is the reference system's rule: a task that
 * calls sk_sync_all needs fewer cores than the greediest task before it (a drop), or any task needs more than one that
 * calls it (a rise). It is a rule about sets: the order in which tasks join makes no difference to what may stand
 * together. */

/* What the tasks of a segment need; zeroed: it has none. */
struct sk_sync_load {
	uint32_t cores[SK_MAX_LANES]; /* the most that a task needs … */
	uint32_t greediest[SK_MAX_LANES]; /* … and the first task that does */
	bool synchronises; /* a task calls sk_sync_all … */
	uint32_t caller; /* … and that is the first one */
};

/* The cores of each lane that a superkernel may have with the task in it. Devices with two lanes give cores in groups:
 * a task that calls sk_sync_all on one of the lanes also says how many of the other one there may be, two vector cores
 * for each cube core. */
void sk_sync_cores(const struct sk_model *model, uint32_t task, uint32_t cores[SK_MAX_LANES]);

/* CAN_FUSE; or SYNCALL_OP_DROP or SYNCALL_OP_RISE, with the task that is in the way. */
enum sk_reason sk_sync_split(const struct sk_model *model, const struct sk_sync_load *load, uint32_t task,
			     uint32_t *cause);

void sk_sync_add(const struct sk_model *model, struct sk_sync_load *load, uint32_t task);

/* ==== segments.c ====
 *
 * Segments: which tasks are launched together. In come the model and its dependencies; out come groups of tasks, each a
 * segment of a scope or a task by itself, and the graph between them, which has no cycle. */

/* The tasks whose sets of scope tags are equal. */
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
	struct sk_sync_load load; /* sync-all-split: what they need */
};

struct sk_segments {
	struct sk_model *model;
	SK_ARRAY(struct sk_tag_set) sets;
	uint32_t *set_of; /* by task; SK_NONE: no scope, or scope: null */
	bool *checked; /* by scope: its strict check has been answered */
	SK_ARRAY(struct sk_group) groups;
	struct sk_order order; /* of the groups: its nodes have their numbers */
	struct sk_ancestry ancestry; /* of the groups … */
	bool searches; /* … unless paths between them are searched for */
	uint32_t *group_of; /* by task */
	enum sk_reason *verdict; /* by task: CAN_FUSE, or why it is launched by itself */
	uint32_t *floor; /* by task that can be fused: the lowest level it may be in */
	uint32_t *cause; /* by task: who ended the segment before for it, or SK_NONE … */
	enum sk_reason *split; /* … and why that one did */
	uint32_t *predecessors; /* of task t, over everything that binds between launches: from first_predecessor[t] to
				   first_predecessor[t + 1] */
	uint32_t *first_predecessor;
	uint32_t *first_recorder; /* from here on they are those that recorded events that t waits for */
	struct sk_level *levels; /* by task: scratch of one pass */
	SK_ARRAY(struct sk_sync_load) loads; /* by level: scratch of one pass */
	uint64_t steps; /* tasks and edges that have been looked at, which tests count */
};

/* Tag sets, verdicts and predecessors. The streams that a scope has too many of are warned of. NULL if too many scopes
 * reach over each other (said in the sink). */
struct sk_segments *sk_segments_build(struct sk_model *model, const struct sk_dependencies *dependencies);

/* Groups the tasks as the verdicts say; again, after they have changed. */
void sk_segments_place(struct sk_segments *segments);

/* ==== strict.c ====
 *
 * The strict check of scopes: what each scope asked for against what it got. */

/* A scope has got what it asked for if all of its tasks (but those with `scope: null`) are one superkernel, whatever
 * other scopes they are in. Where it has not, strict-scope-check=abort is an error that names every place, and bypass a
 * warning that does; then the verdict on its tasks changes, and the result is true: the segments have to be placed
 * again. */
bool sk_strict_check(struct sk_segments *segments, const struct sk_fusion *fusion);

/* ==== tile-order.c ====
 *
 * Tile order: in which order a launch's tasks stand, so that those that can be in one tile group stand together. In
 * come a launch, whose tasks are in network order, and a question: whether tasks can be in one group. Out comes an
 * order in which all that a task must come behind still stands in front of it: what it shares bytes with that one of
 * them writes, `after`, events, and of tasks that are not divided those of its stream.
 *
 * Within a launch a stream asks for no other order but where an event is recorded or waited for: all tasks of the
 * stream that are in front of such a task stay there, and those behind it stay behind. */

enum sk_tile_fit {
	SK_TILE_FIT_NEVER, /* something is against it */
	SK_TILE_FIT_UNRELATED, /* nothing is for it */
	SK_TILE_FIT_WELL,
};

/* How the task at a place of the launch fits into a group with those at other places, ascending. */
typedef enum sk_tile_fit sk_tile_judge(const void *context, const uint32_t *places, uint32_t count, uint32_t place);

/* What becomes of the task at a place of the launch. */
struct sk_tile_place {
	uint32_t group; /* equal numbers stand together */
	uint32_t
		meeting; /* the task in which groups meet that are one since then; SK_NONE: the group is of one piece */
	uint32_t refused; /* the last one of a group that it would be in … */
	uint32_t between; /* … but for this task, which comes behind that group and in front of it; SK_NONE, both */
};

struct sk_tile_orderer;

struct sk_tile_orderer *sk_tile_orderer_new(const struct sk_model *model, const struct sk_fusion *fusion);

/* The launch's tasks in order, and what becomes of each place of the launch as it was. */
uint32_t *sk_tile_order_find(struct sk_tile_orderer *orderer, uint32_t launch, sk_tile_judge *judge,
			     const void *context, struct sk_tile_place **places);

/* ==== verdicts.c ====
 *
 * Verdicts: which tasks cannot be fused whatever the others are. In come the tag sets; out comes a reason per task. */

/* Fills segments->verdict. The first task that a scope has one stream too many for is warned of. */
void sk_verdicts_find(struct sk_segments *segments);

#endif
