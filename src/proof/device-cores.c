/* See proof-parts.h. Recomputes the cores that a launch takes from its steps. On a host a launch takes all cores,
 * unless it needs fewer because it has only blocks, or only one home. On other devices it takes as many cores as its
 * most demanding task, in groups of a cube core and one or two vector cores if both lanes are needed. */
#include "src/proof/proof-parts.h"

#include <string.h>

#include "base/arena.h"
#include "format/plan/plan.h"
#include "format/skplan.h"

/* The cores that a launch would take on a device with unlimited cores. */
struct wants {
	uint64_t cores[SK_MAX_LANES]; /* without those of resident steps */
	bool splits; /* it has a step that any number of cores can divide */
	bool one_to_two; /* it has a mix task with two vector blocks for each cube block */
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

/* most: the number of cores in each lane. */
static void cores_on_device(const struct sk_plan_launch *launch, const struct wants *wants,
			    const uint32_t most[SK_MAX_LANES], uint64_t cores[SK_MAX_LANES])
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

struct sk_wrong_cores sk_device_cores_check(const struct sk_plan_view *view, const uint64_t *least)
{
	bool host = !strcmp(sk_plan_string(&view->plan->device), "host");

	for (uint32_t l = 0; l < view->launch_count; l++) {
		const struct sk_plan_launch *launch = &view->launches[l];
		struct wants wants = wants_of(view, launch, least);
		uint64_t cores[SK_MAX_LANES] = {0};

		if (host)
			cores[0] = cores_on_host(launch, &wants);
		else
			cores_on_device(launch, &wants, view->plan->device_cores, cores);
		apply_limits(launch, cores);
		for (uint32_t lane = 0; lane < SK_MAX_LANES; lane++)
			if (sk_plan_form(launch)->device_cores[lane] != cores[lane])
				return (struct sk_wrong_cores){l, lane, (uint32_t)cores[lane]};
	}
	return (struct sk_wrong_cores){.launch = SK_NO_INDEX};
}
