/* See device-cores.h. What a launch takes is said again as doc/design.md has it, from its steps: on a host all cores,
 * unless nothing but blocks or one home needs fewer; elsewhere as many as its greediest task needs, in groups of a cube
 * core and one or two vector cores as soon as both lanes are needed.
 *
 * How many cores a lane of an unknown device has matters only where a launch would take more. Such a launch has all of
 * them, and so more than any other one. Hence a lane is as long as the greatest number says (with, or without, launches
 * whose resident steps have cores made for them), or so long that nobody notices its end. */
#include "src/proof/device-cores.h"

#include <string.h>

/* What a launch would take if there were no end of cores. */
struct wants {
	uint64_t cores[SK_MAX_LANES]; /* resident steps apart */
	bool splits; /* has a step whose extent any number of cores can divide */
	bool one_to_two; /* has a mix task with two vector blocks for each cube block */
};

struct checker {
	const struct sk_plan_view *view;
	const struct wants *wants; /* by launch */
	struct sk_wrong_cores wrong;
};

static uint64_t least_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t greatest_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t cores_of_call(const struct sk_plan_step *step, const struct sk_plan_call *call, uint64_t unit)
{
	if (step->flags & SK_STEP_RESIDENT)
		return 0;
	if (step->kind == SK_STEP_PLAIN)
		return 1;
	return step->kind == SK_STEP_SPLIT ? (sk_plan_extent(step, call) - 1) / unit + 1 : step->blocks;
}

static struct wants wants_of(const struct sk_plan_view *view, const struct sk_plan_launch *launch,
			     const uint64_t *least)
{
	struct wants wants = {0};

	for (uint32_t i = 0; i < sk_plan_form(launch)->step_count; i++) {
		const struct sk_plan_step *step = &view->steps[launch->first_step + i];
		struct sk_plan_calls calls = sk_plan_step_calls(view, step);
		uint64_t *cores = &wants.cores[step->lane];

		for (const struct sk_plan_call *call = calls.first; call < calls.end; call++)
			*cores = greatest_of(*cores, cores_of_call(step, call, least[call - view->calls]));
		if (!(step->flags & SK_STEP_RESIDENT) && sk_plan_first_core(view, step))
			*cores = SK_ALL_CORES;
		wants.splits |= step->kind == SK_STEP_SPLIT;
		wants.one_to_two |= step->flags & SK_STEP_VECTOR_SIDE && step->blocks > step[-1].blocks;
	}
	return wants;
}

static uint64_t limit_of(const struct sk_plan_launch *launch, uint32_t lane)
{
	return sk_plan_form(launch)->lane_cores[lane] ? sk_plan_form(launch)->lane_cores[lane] : SK_ALL_CORES;
}

static uint64_t cores_on_host(const struct sk_plan_launch *launch, const struct wants *wants)
{
	bool takes_all =
		wants->splits || sk_plan_form(launch)->home_count > 1 || sk_plan_form(launch)->resident_cores[0];

	return takes_all ? SK_ALL_CORES : wants->cores[0];
}

/* most: how many cores the lanes have. */
static void cores_on_device(const struct sk_plan_launch *launch, const struct wants *wants,
			    const uint64_t most[SK_MAX_LANES], uint64_t cores[SK_MAX_LANES])
{
	for (uint32_t lane = 0; lane < SK_MAX_LANES; lane++)
		cores[lane] = greatest_of(least_of(wants->cores[lane], most[lane]),
					  sk_plan_form(launch)->resident_cores[lane]);
	if (!cores[0] || !cores[1])
		return;

	bool pairs = cores[1] <= cores[0] && !wants->one_to_two;
	uint64_t groups = greatest_of(cores[0], pairs ? 0 : cores[1] / 2 + cores[1] % 2);

	cores[0] = least_of(groups, most[0]);
	cores[1] = least_of(pairs ? groups : 2 * groups, most[1]);
}

static void apply_limits(const struct sk_plan_launch *launch, uint64_t cores[SK_MAX_LANES])
{
	for (uint32_t lane = 0; lane < SK_MAX_LANES; lane++)
		cores[lane] = greatest_of(least_of(cores[lane], limit_of(launch, lane)),
					  sk_plan_form(launch)->resident_cores[lane]);
}

/* Options of a scope that limit the cores of a launch may hide how long a lane is, unless tasks' own entries show it,
 * which have no options. */
static bool hides_length(const struct sk_plan_view *view, const struct sk_plan_launch *launch)
{
	return view->launch_count == view->network_launch_count &&
	       (sk_plan_form(launch)->lane_cores[0] || sk_plan_form(launch)->lane_cores[1]);
}

/* What is known of such a launch is which lanes it runs on, and the limits. */
static bool is_within_limits(const struct sk_plan_launch *launch, uint32_t lane, uint64_t follows)
{
	uint64_t limit = greatest_of(limit_of(launch, lane), sk_plan_form(launch)->resident_cores[lane]);

	return sk_plan_form(launch)->device_cores[lane] <= limit &&
	       sk_plan_form(launch)->device_cores[lane] >= sk_plan_form(launch)->resident_cores[lane] &&
	       !sk_plan_form(launch)->device_cores[lane] == !follows;
}

static bool agree(struct checker *checker, bool host, const uint64_t most[SK_MAX_LANES])
{
	for (uint32_t l = 0; l < checker->view->launch_count; l++) {
		const struct sk_plan_launch *launch = &checker->view->launches[l];
		uint64_t cores[SK_MAX_LANES] = {0};

		if (host)
			cores[0] = cores_on_host(launch, &checker->wants[l]);
		else
			cores_on_device(launch, &checker->wants[l], most, cores);
		apply_limits(launch, cores);
		for (uint32_t lane = 0; lane < SK_MAX_LANES; lane++) {
			if (!host && hides_length(checker->view, launch)
				    ? is_within_limits(launch, lane, cores[lane])
				    : sk_plan_form(launch)->device_cores[lane] == cores[lane])
				continue;
			checker->wrong = (struct sk_wrong_cores){l, lane, (uint32_t)cores[lane]};
			return false;
		}
	}
	return true;
}

/* The numbers of cores that the lane may have; at least one. */
enum { LENGTHS = 3 };

static void find_lengths(const struct sk_plan_view *view, uint32_t lane, uint64_t lengths[LENGTHS])
{
	lengths[0] = SK_ALL_CORES;
	lengths[1] = lengths[2] = 1;
	for (uint32_t l = 0; l < view->launch_count; l++) {
		const struct sk_plan_launch *launch = &view->launches[l];
		uint64_t cores = sk_plan_form(launch)->device_cores[lane];

		if (cores > sk_plan_form(launch)->resident_cores[lane])
			lengths[1] = greatest_of(lengths[1], cores);
		lengths[2] = greatest_of(lengths[2], cores);
	}
}

struct sk_wrong_cores sk_device_cores_check(struct sk_arena *arena, const struct sk_plan_view *view,
					    const uint64_t *least)
{
	struct wants *wants = SK_NEW_ARRAY(arena, struct wants, view->launch_count);
	struct checker checker = {.view = view, .wants = wants};
	const struct sk_wrong_cores none = {.launch = SK_NO_INDEX};
	uint64_t lengths[SK_MAX_LANES][LENGTHS];

	for (uint32_t l = 0; l < view->launch_count; l++)
		wants[l] = wants_of(view, &view->launches[l], least);
	if (!strcmp(sk_plan_string(&view->plan->device), "host"))
		return agree(&checker, true, NULL) ? none : checker.wrong;
	for (uint32_t lane = 0; lane < SK_MAX_LANES; lane++)
		find_lengths(view, lane, lengths[lane]);
	for (int i = 0; i < LENGTHS * LENGTHS; i++)
		if (agree(&checker, false, (uint64_t[]){lengths[0][i / LENGTHS], lengths[1][i % LENGTHS]}))
			return none;
	return checker.wrong;
}
