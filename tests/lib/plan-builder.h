/* Builds plans for tests, a line per tensor, step, argument and await, without a planner: also wrong ones. Functions
 * add to the launch begun last, to the step and to the call added last. Names must outlive the plan. */
#ifndef SK_TESTS_PLAN_H
#define SK_TESTS_PLAN_H

#include "base/arena.h"
#include "format/plan/plan.h"
#include "format/skplan.h"
#include "tests/lib/own-records.h"

struct plan;

/* A plan for a device with the lanes "core" or "cube" and "vector". */
struct plan *plan_create(struct sk_arena *arena, uint32_t lanes);

/* The signature of the kernel that all tasks call; the verifier does not look at it. */
void plan_signature(struct plan *plan, const char *signature);

/* The plan gets lists of arguments, one for each call. */
void plan_lists(struct plan *plan);

/* The device that it is for, and the cores of its lanes, all 0 of a host; else none. */
void plan_device(struct plan *plan, const char *name, uint32_t first, uint32_t second);

/* A tensor of one dimension. Inputs, outputs and inouts are bound in the order of the calls. Returns its number. */
uint32_t plan_tensor(struct plan *plan, const char *name, enum sk_dtype dtype, uint64_t elements, enum sk_role role);

/* A temporary at an offset in the workspace, which grows to hold it. */
uint32_t plan_temporary(struct plan *plan, const char *name, enum sk_dtype dtype, uint64_t elements, uint64_t offset);

/* A temporary of which cores have a tile at an offset in their scratch (plan_scratch says how large that is). */
uint32_t plan_tile_tensor(struct plan *plan, const char *name, enum sk_dtype dtype, uint64_t elements, uint64_t offset);

/* Begin a launch. Task entries (kind SK_LAUNCH_TASK) come last and take plan_entry_step. */
uint32_t plan_launch(struct plan *plan, const char *name, enum sk_launch_kind kind);
void plan_follow(struct plan *plan, uint32_t launch);
void plan_once(struct plan *plan);
void plan_scratch(struct plan *plan, uint64_t size);
void plan_device_cores(struct plan *plan, uint32_t first, uint32_t second); /* that the launch takes there */

/* Add a step with a task of its own, on lane 0 unless plan_lane has set another one for the steps that follow. Return
 * its index in the plan's steps. The stream of plan_plain is the step's home; all tasks are in stream 0. */
void plan_lane(struct plan *plan, uint32_t lane);
uint32_t plan_plain(struct plan *plan, const char *task, uint32_t stream);
uint32_t plan_split(struct plan *plan, const char *task, uint64_t extent, uint64_t unit);
uint32_t plan_split_by_blocks(struct plan *plan, const char *task, struct sk_plan_partition partition);
uint32_t plan_blocks(struct plan *plan, const char *task, uint32_t blocks);
uint32_t plan_blocks_range(struct plan *plan, const char *task, uint64_t extent, uint32_t blocks);

/* Leave the awaits of the last step, which is in blocks, to the cores that have one; block 0 is on this core. */
void plan_own_awaits(struct plan *plan, uint32_t first_core);

/* The step added last calls the kernel once more, for a task of its own: arguments go there from now on. */
void plan_call(struct plan *plan, const char *task);

/* The step added last goes through its part in tiles. */
void plan_tile(struct plan *plan, uint64_t tile);

/* The call added last has so many elements for each one of its step. Call this before adding its arguments. */
void plan_scale(struct plan *plan, uint64_t scale);

/* From here on each task is in a stream of its own, which has the task's number. */
void plan_streams_apart(struct plan *plan);

/* Put the task added last into another stream. */
void plan_stream(struct plan *plan, uint32_t stream);

/* Add the step of a task's own entry: a copy of the task's step, which has one call, with its arguments. Its
 * temporaries move to the unshared workspace, where they have the same offsets. */
void plan_entry_step(struct plan *plan, uint32_t step);

/* The call added last gets a loop, or a second one. */
void plan_loop(struct plan *plan, uint64_t extent, uint64_t tile);

/* Arguments. plan_access takes the whole tensor; it is divided if the step has an extent that divides the tensor's
 * elements. */
void plan_access(struct plan *plan, uint32_t tensor, unsigned access);
void plan_shared(struct plan *plan, uint32_t tensor, unsigned access);
void plan_part(struct plan *plan, uint32_t tensor, unsigned access, uint64_t offset, uint64_t size,
	       uint64_t element_bytes);
void plan_load(struct plan *plan, uint32_t tensor, uint64_t offset);
void plan_result(struct plan *plan, uint32_t tensor, uint64_t offset);
void plan_state(struct plan *plan, uint32_t state);
void plan_argument(struct plan *plan, struct sk_plan_argument argument);
void plan_pattern(struct plan *plan, struct sk_plan_pattern pattern); /* of the argument added last */

/* The step added last awaits an earlier one, which publishes from then on. */
void plan_await(struct plan *plan, uint32_t step);

/* A value of the cost of the task of the step added last, or of the vector side of that mix task. */
void plan_cost(struct plan *plan, enum sk_cost cost, uint64_t value);
void plan_vector_cost(struct plan *plan, enum sk_cost cost, uint64_t value);

/* The kind of the step added last. */
enum sk_step_kind plan_step_kind(const struct plan *plan);

/* The step added last gets more flags. */
void plan_flags(struct plan *plan, unsigned flags);

/* The blocks of the step added last run at once. */
void plan_resident(struct plan *plan);

/* A mix task with so many blocks on its sides: two steps, the second one on the last lane, after the cores of the first
 * one if there is only one lane. Return the first step's index. */
uint32_t plan_mix(struct plan *plan, const char *task, uint32_t cube_blocks, uint32_t vector_blocks);

/* Copy the arguments that the vector side of the mix task added last has got, for its cube side. */
void plan_mix_arguments(struct plan *plan);

/* The finished section, in the arena, aligned to 64. */
void *plan_finish(struct plan *plan, size_t *size);

/* The same, opened. Ends the test if the reader refuses it. */
struct sk_plan_view plan_view(struct plan *plan);

/* A copy of the plan without one of its awaits (an index into its awaits). */
struct sk_plan_view plan_without_await(struct sk_arena *arena, const struct sk_plan_view *view, uint32_t await);

/* A copy of the section; tests may cast const away and write to it. */
struct sk_plan_view plan_copy(struct sk_arena *arena, const struct sk_plan_view *view);

#endif
