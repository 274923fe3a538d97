/* See proof-parts.h. */
#include "src/proof/proof-parts.h"

#include <string.h>

#include "base/arena.h"
#include "format/plan/plan.h"
#include "format/skplan.h"

/* Limit on the ranges of a launch: each question asks all of them. */
enum { MAX_RANGES = 256 };

/* Limit on the numbers in the clocks of one launch (half a gigabyte). */
#define MAX_CLOCK_NUMBERS (UINT64_C(1) << 27)

static uint32_t *new_clock(const struct sk_knowledge *knowledge)
{
	return SK_NEW_ARRAY(knowledge->arena, uint32_t, knowledge->clock_length);
}

static void learn(uint32_t *clock, const uint32_t *news, uint32_t length)
{
	for (uint32_t i = 0; i < length; i++)
		if (news[i] > clock[i])
			clock[i] = news[i];
}

/* For steps on a home: the knowledge from the home's awaits, and its own entry in all clocks. */
static uint32_t *own_clock(const struct sk_knowledge *knowledge, const struct sk_plan_step *step)
{
	return knowledge->homes[step->core_set - knowledge->launch->first_home];
}

static uint32_t home_entry(const struct sk_knowledge *knowledge, const struct sk_plan_step *step)
{
	return knowledge->view->lane_count + step->core_set - knowledge->launch->first_home;
}

/* Return whether, for every number of cores, each core that runs calls of `step` has a block of `range`. */
static bool covers(const struct sk_plan_step *range, const struct sk_plan_step *step)
{
	if (range->lane != step->lane || range->kind != step->kind || step->core_set != SK_ALL_CORES)
		return false;
	if (step->kind == SK_STEP_BLOCKS_RANGE)
		return range->partition == step->partition;
	return range->first_core <= step->first_core &&
	       (uint64_t)step->first_core + step->blocks <= (uint64_t)range->first_core + range->blocks;
}

/* Return the range of the step's cores; NULL: it is not kept. */
static struct sk_knowledge_range *range_of(const struct sk_knowledge *knowledge, const struct sk_plan_step *step)
{
	for (size_t i = 0; i < knowledge->ranges.count; i++)
		if (covers(knowledge->ranges.items[i].step, step) && covers(step, knowledge->ranges.items[i].step))
			return &knowledge->ranges.items[i];
	return NULL;
}

static bool reaches(const uint32_t *clock, uint32_t lane, uint32_t home, uint32_t number)
{
	return clock[lane] >= number || (home != SK_NO_INDEX && clock[home] >= number);
}

/* Return the range of which all cores know that the earlier step's core set has finished the step with the number, and
 * that has all cores of the step; NULL: there is none. */
static const struct sk_knowledge_range *find_range(const struct sk_knowledge *knowledge,
						   const struct sk_plan_step *step, const struct sk_plan_step *earlier,
						   uint32_t number)
{
	uint32_t home = earlier->core_set == SK_ALL_CORES ? SK_NO_INDEX : home_entry(knowledge, earlier);

	for (size_t i = 0; i < knowledge->ranges.count; i++) {
		const struct sk_knowledge_range *range = &knowledge->ranges.items[i];

		if (reaches(range->clock, earlier->lane, home, number) && covers(range->step, step))
			return range;
	}
	return NULL;
}

/* The same, known to all cores of the lane or from the home's own awaits. */
static bool is_known_to_set(const struct sk_knowledge *knowledge, const struct sk_plan_step *step,
			    const struct sk_plan_step *earlier, uint32_t number)
{
	const uint32_t *shared =
		step->flags & SK_STEP_CUBE_SIDE ? knowledge->cube_side : knowledge->everybody[step->lane];
	const uint32_t *own = step->core_set == SK_ALL_CORES ? shared : own_clock(knowledge, step);
	uint32_t home = earlier->core_set == SK_ALL_CORES ? SK_NO_INDEX : home_entry(knowledge, earlier);

	return reaches(shared, earlier->lane, home, number) || reaches(own, earlier->lane, home, number);
}

/* For single steps, without their other sides: the earlier step's core set has finished the step with the number. */
static bool is_known(const struct sk_knowledge *knowledge, const struct sk_plan_step *step,
		     const struct sk_plan_step *earlier, uint32_t number)
{
	return is_known_to_set(knowledge, step, earlier, number) || find_range(knowledge, step, earlier, number);
}

/* Record the await as the source of each number that is new to the clock. */
static void note_lessons(const struct sk_knowledge *knowledge, struct sk_lesson *lessons, const uint32_t *clock,
			 const uint32_t *news, struct sk_lesson lesson)
{
	for (uint32_t i = 0; i < knowledge->clock_length; i++)
		if (news[i] > clock[i])
			lessons[i] = lesson;
}

static struct sk_lesson *own_lessons(const struct sk_knowledge *knowledge, const struct sk_plan_step *step)
{
	return step->core_set == SK_ALL_CORES ? knowledge->everybody_lessons[step->lane]
					      : knowledge->home_lessons[step->core_set - knowledge->launch->first_home];
}

static void execute_awaits(struct sk_knowledge *knowledge, const struct sk_plan_step *step)
{
	const struct sk_plan_view *view = knowledge->view;
	const struct sk_knowledge_range *range = step->flags & SK_STEP_OWN_AWAITS ? range_of(knowledge, step) : NULL;
	uint32_t *knower = range			    ? range->clock
			   : step->core_set == SK_ALL_CORES ? knowledge->everybody[step->lane]
							    : own_clock(knowledge, step);
	uint32_t index = (uint32_t)(step - view->steps);

	for (uint32_t i = 0; i < step->await_count; i++) {
		uint32_t awaited = view->awaits[step->first_await + i].step;
		const uint32_t *proof = knowledge->proofs[awaited - knowledge->launch->first_step];

		if (knowledge->with_lessons)
			note_lessons(knowledge, range ? range->lessons : own_lessons(knowledge, step), knower, proof,
				     (struct sk_lesson){index, awaited});
		learn(knower, proof, knowledge->clock_length);
		learn(knowledge->anybody[step->lane], proof, knowledge->clock_length);
	}
}

/* Record the clock that an await on the step establishes, if any step awaits it. */
static void finish_step(struct sk_knowledge *knowledge, const struct sk_plan_step *step)
{
	uint32_t *proof = knowledge->proofs[step - knowledge->view->steps - knowledge->launch->first_step];

	if (!proof)
		return;
	if (step->core_set == SK_ALL_CORES) {
		learn(proof, knowledge->anybody[step->lane], knowledge->clock_length);
		proof[step->lane] = step->number;
	} else {
		learn(proof, knowledge->everybody[step->lane], knowledge->clock_length);
		learn(proof, own_clock(knowledge, step), knowledge->clock_length);
		proof[home_entry(knowledge, step)] = step->number;
	}
}

/* Allocate the clock of each awaited step of the launch. */
static void begin_proofs(struct sk_knowledge *knowledge)
{
	const struct sk_plan_view *view = knowledge->view;
	const struct sk_plan_launch *launch = knowledge->launch;

	knowledge->proofs = SK_NEW_ARRAY(knowledge->arena, uint32_t *, sk_plan_form(launch)->step_count);
	for (uint32_t i = 0; i < sk_plan_form(launch)->step_count; i++) {
		const struct sk_plan_step *step = &view->steps[launch->first_step + i];

		for (uint32_t j = 0; j < step->await_count; j++) {
			uint32_t **proof =
				&knowledge->proofs[view->awaits[step->first_await + j].step - launch->first_step];

			if (!*proof)
				*proof = new_clock(knowledge);
		}
	}
}

static void begin_lessons(struct sk_knowledge *knowledge)
{
	uint32_t homes = sk_plan_form(knowledge->launch)->home_count;

	for (uint32_t lane = 0; lane < knowledge->view->lane_count; lane++)
		knowledge->everybody_lessons[lane] =
			SK_NEW_ARRAY(knowledge->arena, struct sk_lesson, knowledge->clock_length);
	knowledge->home_lessons = SK_NEW_ARRAY(knowledge->arena, struct sk_lesson *, homes);
	for (uint32_t home = 0; home < homes; home++)
		knowledge->home_lessons[home] =
			SK_NEW_ARRAY(knowledge->arena, struct sk_lesson, knowledge->clock_length);
}

/* Find the ranges of the steps with OWN_AWAITS. Return false if there are too many. */
static bool begin_ranges(struct sk_knowledge *knowledge)
{
	const struct sk_plan_launch *launch = knowledge->launch;

	knowledge->ranges.count = 0;
	for (uint32_t i = 0; i < sk_plan_form(launch)->step_count; i++) {
		const struct sk_plan_step *step = &knowledge->view->steps[launch->first_step + i];
		struct sk_knowledge_range range = {.step = step};

		if (!(step->flags & SK_STEP_OWN_AWAITS) || range_of(knowledge, step))
			continue;
		if (knowledge->ranges.count == MAX_RANGES)
			return false;
		range.clock = new_clock(knowledge);
		if (knowledge->with_lessons)
			range.lessons = SK_NEW_ARRAY(knowledge->arena, struct sk_lesson, knowledge->clock_length);
		sk_array_push(knowledge->arena, &knowledge->ranges, range);
	}
	return true;
}

bool sk_knowledge_begin(struct sk_knowledge *knowledge, const struct sk_plan_launch *launch)
{
	uint32_t lanes = knowledge->view->lane_count;
	uint64_t clocks = 2 * SK_MAX_LANES + 1 + (uint64_t)sk_plan_form(launch)->home_count +
			  sk_plan_form(launch)->step_count + MAX_RANGES;

	knowledge->launch = launch;
	knowledge->clock_length = lanes + sk_plan_form(launch)->home_count;
	if (clocks * knowledge->clock_length > MAX_CLOCK_NUMBERS)
		return false;
	if (!begin_ranges(knowledge))
		return false;
	for (uint32_t lane = 0; lane < lanes; lane++) {
		knowledge->everybody[lane] = new_clock(knowledge);
		knowledge->anybody[lane] = new_clock(knowledge);
	}
	knowledge->cube_side = new_clock(knowledge);
	knowledge->homes = SK_NEW_ARRAY(knowledge->arena, uint32_t *, sk_plan_form(launch)->home_count);
	for (uint32_t home = 0; home < sk_plan_form(launch)->home_count; home++)
		knowledge->homes[home] = new_clock(knowledge);
	if (knowledge->with_lessons)
		begin_lessons(knowledge);
	begin_proofs(knowledge);
	return true;
}

void sk_knowledge_pass(struct sk_knowledge *knowledge, uint32_t index)
{
	const struct sk_plan_step *step = &knowledge->view->steps[index];

	execute_awaits(knowledge, step);
	finish_step(knowledge, step);
	if (sk_side_count(step) == 1)
		return;
	memcpy(knowledge->cube_side, knowledge->everybody[step->lane],
	       knowledge->clock_length * sizeof(*knowledge->cube_side));
	execute_awaits(knowledge, &step[1]);
	finish_step(knowledge, &step[1]);
}

uint32_t sk_side_count(const struct sk_plan_step *step)
{
	return step->flags & SK_STEP_CUBE_SIDE ? 2 : 1;
}

/* Covers all sides of both. returned: the earlier step's calls must have returned. */
static bool knows(const struct sk_knowledge *knowledge, uint32_t step, uint32_t earlier, bool returned)
{
	const struct sk_plan_step *steps = knowledge->view->steps;

	for (uint32_t i = 0; i < sk_side_count(&steps[step]); i++)
		for (uint32_t j = 0; j < sk_side_count(&steps[earlier]); j++) {
			const struct sk_plan_step *side = &steps[earlier + j];
			bool behind = returned && side->flags & SK_STEP_EARLY_SET;

			if (!is_known(knowledge, &steps[step + i], side, side->number + behind))
				return false;
		}
	return true;
}

bool sk_knows(const struct sk_knowledge *knowledge, uint32_t step, uint32_t earlier)
{
	return knows(knowledge, step, earlier, false);
}

bool sk_knows_returned(const struct sk_knowledge *knowledge, uint32_t step, uint32_t earlier)
{
	return knows(knowledge, step, earlier, true);
}

struct sk_lesson sk_knowledge_lesson(const struct sk_knowledge *knowledge, uint32_t later, uint32_t before)
{
	const struct sk_plan_step *step = &knowledge->view->steps[later], *earlier = &knowledge->view->steps[before];
	const uint32_t *shared = knowledge->everybody[step->lane];
	const uint32_t *own = step->core_set == SK_ALL_CORES ? shared : own_clock(knowledge, step);
	const struct sk_knowledge_range *range = find_range(knowledge, step, earlier, earlier->number);
	uint32_t entry = earlier->lane;

	if (range && !is_known_to_set(knowledge, step, earlier, earlier->number))
		return range->lessons[range->clock[entry] < earlier->number ? home_entry(knowledge, earlier) : entry];
	if (shared[entry] < earlier->number && own[entry] < earlier->number)
		entry = home_entry(knowledge, earlier);
	return shared[entry] >= earlier->number ? knowledge->everybody_lessons[step->lane][entry]
						: own_lessons(knowledge, step)[entry];
}
