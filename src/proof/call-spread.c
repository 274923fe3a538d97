/* Checks that the distribution of a call over cores, in units, blocks, sides and loops, matches its signature. */
#include "src/proof/proof-parts.h"

#include <inttypes.h>

#include "format/plan/plan.h"
#include "format/signature/signature.h"
#include "format/skplan.h"

enum {
	ELEMENTWISE_UNIT = 64, /* elements, so that vector bodies and scalar tails always cover the same elements */
	FEW_ELEMENTS = 16384, /* calls up to this size use their kernel's own unit, unless a single elementwise unit
				 covers them */
};

uint64_t sk_call_whole_elements(const struct sk_signature *signature, bool few, uint64_t extent)
{
	bool said = signature->unit && (few || (extent > ELEMENTWISE_UNIT && extent <= FEW_ELEMENTS));
	uint64_t unit = signature->elementwise && !said ? ELEMENTWISE_UNIT : 1, tile = 1, least;

	if (signature->loop_count)
		tile = signature->loops[0].tile;
	else if (signature->unit)
		tile = signature->unit;
	for (least = tile; least % unit;)
		least += tile;
	return least;
}

uint64_t sk_call_minimum_unit(const struct sk_plan_view *view, const struct sk_plan_call *call, uint64_t extent,
			      const struct sk_signature *signature)
{
	uint64_t least = sk_call_whole_elements(signature, false, extent);

	/* Doubling is enough to align parts, because alignments are powers of two. */
	for (uint32_t i = 0; i < call->argument_count && signature->align; i++) {
		const struct sk_plan_argument *argument = &view->arguments[call->first_argument + i];

		while (argument->kind == SK_ARGUMENT_POINTER && argument->element_bytes * least % signature->align)
			least *= 2;
	}
	return least;
}

/* Return the step's flags as far as they follow from the signatures of its calls. The flags of early starts are
 * optional. */
static uint32_t flags_of(const struct sk_calls *calls)
{
	struct sk_plan_calls all = sk_plan_step_calls(calls->view, calls->step);
	uint32_t flags = 0;

	for (const struct sk_plan_call *call = all.first; call < all.end; call++) {
		const struct sk_signature *signature = calls->signatures[call->kernel];

		if (signature)
			flags |= (signature->nontemporal ? SK_STEP_NONTEMPORAL : 0) |
				 (signature->sync_all || signature->lane == SK_LANE_MIX ? SK_STEP_RESIDENT : 0);
	}
	return flags;
}

/* A device has one lane, or one for cube kernels and one for all others. */
static uint32_t lane_of(const struct sk_calls *calls)
{
	bool cube = calls->signature->lane == SK_LANE_CUBE ||
		    (calls->signature->lane == SK_LANE_MIX && !(calls->step->flags & SK_STEP_VECTOR_SIDE));

	return cube ? 0 : calls->view->lane_count - 1;
}

static bool check_unit(struct sk_calls *calls)
{
	const struct sk_plan_step *step = calls->step;
	if (step->kind != SK_STEP_SPLIT || calls->view->has_sizes) /* see sized-calls.c */
		return true;

	const struct sk_plan_partition *partition = &calls->view->partitions[step->partition];
	uint64_t unit = partition->unit * calls->call->scale;
	uint64_t least = sk_call_minimum_unit(calls->view, calls->call, partition->extent * calls->call->scale,
					      calls->signature);
	bool own_entry = sk_plan_form(calls->launch)->kind == SK_LAUNCH_TASK;

	if (own_entry ? unit == least : unit % least == 0)
		return true;
	return sk_call_disagree(calls, "its units have %" PRIu64 " elements, not %s%" PRIu64, unit,
				own_entry ? "" : "a multiple of ", least);
}

/* Loops turn one call into several. The order of calls from different loops is not defined, so only tiled steps combine
 * them. */
static bool check_loops(struct sk_calls *calls)
{
	const struct sk_signature *signature = calls->signature;
	const struct sk_plan_call *call = calls->call;
	const struct sk_plan_loop *loops = sk_plan_loops(calls->view, call);

	if (call->loop_count != signature->loop_count)
		return sk_call_disagree(calls, "it has %u loops instead of %u", call->loop_count,
					signature->loop_count);
	if (call->loop_count && calls->step->call_count != 1 && !calls->step->tile)
		return sk_call_disagree(calls, "it has loops in a step of %u calls", calls->step->call_count);
	for (uint32_t i = 0; i < call->loop_count; i++) {
		if (loops[i].tile != signature->loops[i].tile)
			return sk_call_disagree(calls, "tiles of '%s' have %" PRIu64 " elements",
						signature->extents[signature->loops[i].extent], loops[i].tile);
		calls->extents[signature->loops[i].extent] = loops[i].extent;
	}
	return true;
}

/* The vector side directly follows the cube side (sk_plan_check_launch). */
static bool check_sides(struct sk_calls *calls)
{
	const struct sk_plan_step *step = calls->step;
	bool side = step->flags & (SK_STEP_CUBE_SIDE | SK_STEP_VECTOR_SIDE);

	if (side != (calls->signature->lane == SK_LANE_MIX))
		return sk_call_disagree(calls, side ? "it has two sides" : "it has one side");
	if (step->flags & SK_STEP_VECTOR_SIDE &&
	    step->blocks != step[-1].blocks * (uint64_t)calls->signature->mix_ratio)
		return sk_call_disagree(calls, "its sides have %u and %u blocks", step[-1].blocks, step->blocks);
	return true;
}

bool sk_call_check_spread(struct sk_calls *calls)
{
	const struct sk_plan_step *step = calls->step;
	const struct sk_signature *signature = calls->signature;
	uint32_t follow = SK_STEP_NONTEMPORAL | SK_STEP_RESIDENT;
	uint32_t early =
		(signature->early_wait ? SK_STEP_EARLY_WAIT : 0) | (signature->early_set ? SK_STEP_EARLY_SET : 0);

	if (step->kind != signature->spread)
		return sk_call_disagree(calls, "the step is distributed over the cores differently (kind %u, not %u)",
					step->kind, signature->spread);
	if ((step->flags & follow) != flags_of(calls))
		return sk_call_disagree(calls, "flags 0x%x of the step are 0x%x", follow, step->flags & follow);
	if ((calls->call->flags & SK_CALL_STATUS) != (signature->returns_status ? SK_CALL_STATUS : 0))
		return sk_call_disagree(calls, "its return value is %s status",
					signature->returns_status ? "not a" : "a");
	if (step->flags & (SK_STEP_EARLY_WAIT | SK_STEP_EARLY_SET) & ~early)
		return sk_call_disagree(calls, "the kernel does not start early by itself");
	if (signature->unfusible && sk_plan_form(calls->launch)->kind == SK_LAUNCH_SUPERKERNEL)
		return sk_call_disagree(calls, "an unfusible kernel is part of a superkernel");
	if (signature->untiled && step->tile)
		return sk_call_disagree(calls, "an untiled kernel is part of a tile group");
	if (step->lane != lane_of(calls))
		return sk_call_disagree(calls, "it is not a kernel for lane %s",
					sk_plan_string(&calls->view->lanes[step->lane]));
	return check_sides(calls) && check_unit(calls) && check_loops(calls);
}
