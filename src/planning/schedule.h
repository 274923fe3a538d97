/* Schedule: when each step may start. In come the model and its launches; out come, per launch, the steps in network
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
#ifndef SK_SCHEDULE_H
#define SK_SCHEDULE_H

#include "src/model/model.h"
#include "src/model/task.h"
#include "src/planning/fusion.h"
#include "src/planning/tile-groups.h"

enum { SK_MAX_HOMES = 128 };

struct sk_step {
	uint32_t task; /* the first one */
	const uint32_t *tasks; /* whose calls it makes, in this order */
	uint32_t task_count;
	const struct sk_run *run; /* of them */
	uint32_t side; /* of the task (sides.h) */
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

#endif
