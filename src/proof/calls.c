/* See proof-parts.h. */
#include "src/proof/proof-parts.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/text.h"
#include "format/plan/plan.h"
#include "format/signature/signature.h"
#include "format/skplan.h"

enum { MOST_ERRORS = 20 };

/* ---- units ---- */

/* Check the units of the network's launches; tasks' own entries have the least ones (check_unit). */
static void check_units(struct sk_calls *calls, const uint64_t *least)
{
	const struct sk_plan_view *view = calls->view;

	for (uint32_t l = 0; l < view->network_launch_count; l++) {
		uint32_t step = sk_unit_check(calls->arena, view, &view->launches[l], least);

		if (step == SK_NO_INDEX)
			continue;
		calls->launch = &view->launches[l];
		calls->step = &view->steps[step];
		calls->call = sk_plan_step_calls(view, calls->step).first;
		calls->signature = calls->signatures[calls->call->kernel];
		sk_call_disagree(calls,
				 "its units of %" PRIu64
				 " elements are not those that it and the steps sharing its tensors require",
				 view->partitions[calls->step->partition].unit);
	}
}

static const char *cores_text(const struct sk_calls *calls, uint32_t cores)
{
	return cores == SK_ALL_CORES ? "all cores" : sk_arena_print(calls->arena, "%u core%s", cores, sk_plural(cores));
}

/* The number of cores is recorded for every device except a host, since only a host's is unknown when linking. */
static bool check_lane_cores(struct sk_calls *calls)
{
	const struct sk_plan_view *view = calls->view;
	const char *device = sk_plan_string(&view->plan->device);

	for (uint32_t lane = 0; lane < view->lane_count; lane++)
		if (!view->plan->device_cores[lane] != !strcmp(device, "host")) {
			sk_error(calls->diag, (struct sk_place){.file = calls->file},
				 "device %s cannot have %u cores in lane '%s'", device, view->plan->device_cores[lane],
				 sk_plan_string(&view->lanes[lane]));
			return false;
		}
	return true;
}

/* A plan made by hand may name no device. */
void sk_calls_check_device_cores(struct sk_calls *calls, const uint64_t *least)
{
	const struct sk_plan_view *view = calls->view;
	struct sk_wrong_cores wrong;

	if (!view->plan->device || !check_lane_cores(calls))
		return;
	wrong = sk_device_cores_check(view, least);
	if (wrong.launch == SK_NO_INDEX)
		return;

	const struct sk_plan_launch *launch = &view->launches[wrong.launch];

	sk_error(calls->diag, (struct sk_place){.file = calls->file},
		 "launch '%s': it takes %s of lane '%s' of device %s, and %s by the rest of the plan",
		 sk_plan_string(&launch->name), cores_text(calls, sk_plan_form(launch)->device_cores[wrong.lane]),
		 sk_plan_string(&view->lanes[wrong.lane]), sk_plan_string(&view->plan->device),
		 cores_text(calls, wrong.follows));
}

/* Checks of the whole plan, made once each call is right on its own. */
static void check_together(struct sk_calls *calls)
{
	const struct sk_plan_view *view = calls->view;
	uint64_t *least = SK_NEW_ARRAY(calls->arena, uint64_t, view->call_count);

	for (uint32_t s = 0; s < view->step_count; s++) {
		const struct sk_plan_step *step = &view->steps[s];
		struct sk_plan_calls all = sk_plan_step_calls(view, step);
		uint64_t extent = step->kind == SK_STEP_SPLIT ? view->partitions[step->partition].extent : 0;

		for (const struct sk_plan_call *call = all.first; call < all.end; call++)
			least[call - view->calls] =
				sk_call_minimum_unit(view, call, extent * call->scale, calls->signatures[call->kernel]);
	}
	check_units(calls, least);
	sk_calls_check_device_cores(calls, least);
}

/* ---- the whole plan ---- */

bool sk_call_check(struct sk_calls *calls)
{
	for (uint32_t e = 0; e < calls->signature->extent_count; e++)
		calls->extents[e] = SK_EXTENT_UNKNOWN;
	if (calls->signature->spread_extent != SK_NONE)
		calls->extents[calls->signature->spread_extent] = sk_plan_extent(calls->step, calls->call);
	return sk_call_check_spread(calls) && sk_call_check_arguments(calls) && sk_call_check_extents(calls) &&
	       sk_call_check_values(calls) && sk_call_check_overlaps(calls);
}

static void check_step(struct sk_calls *calls, const struct sk_plan_step *step)
{
	struct sk_plan_calls all = sk_plan_step_calls(calls->view, step);

	for (const struct sk_plan_call *call = all.first; call < all.end; call++) {
		calls->step = step;
		calls->call = call;
		calls->signature = calls->signatures[call->kernel];
		if (calls->signature) /* else its error has been reported */
			sk_call_check(calls);
	}
}

/* Compare the kernel's record with the parts of the signature that it repeats. */
static bool check_kernel(struct sk_calls *calls, const struct sk_plan_kernel *kernel,
			 const struct sk_signature *signature)
{
	uint32_t early =
		(signature->early_wait ? SK_STEP_EARLY_WAIT : 0) | (signature->early_set ? SK_STEP_EARLY_SET : 0);
	const char *what = strcmp(signature->text, sk_plan_string(&kernel->signature))	? "is not as sklink writes it"
			   : kernel->early != early					? "starts early in another way"
			   : signature->isa & ~kernel->isa				? "needs other instruction sets"
			   : signature->lane != SK_LANE_MIX && kernel->vector_code_size ? "has no vector side"
											: NULL;

	if (what)
		sk_error(calls->diag, (struct sk_place){.file = calls->file},
			 "the record of kernel '%s' contradicts its signature, which %s: %s",
			 sk_plan_string(&kernel->name), what, signature->text);
	return !what;
}

static const struct sk_signature *read_signature(struct sk_calls *calls, const char *text)
{
	struct sk_place place = {.file = calls->file};

	return sk_signature_parse_folded(calls->arena, calls->diag, place, text);
}

/* Kernels with equal signatures share the parsed one, so that a small plan cannot demand much work. */
void sk_calls_read_signatures(struct sk_calls *calls)
{
	const struct sk_plan_view *view = calls->view;
	struct sk_map texts;

	sk_map_init(&texts, calls->arena);
	calls->signatures = SK_NEW_ARRAY(calls->arena, const struct sk_signature *, view->kernel_count);
	calls->states_of = SK_NEW_ARRAY(calls->arena, const struct sk_plan_call *, view->kernel_count);
	for (uint32_t i = 0; i < view->kernel_count && calls->diag->errors <= MOST_ERRORS; i++) {
		const char *text = sk_plan_string(&view->kernels[i].signature);
		uint32_t first = sk_map_insert(&texts, text, strlen(text), i);

		calls->signatures[i] = first == i ? read_signature(calls, text) : calls->signatures[first];
		if (calls->signatures[i] && !check_kernel(calls, &view->kernels[i], calls->signatures[i]))
			calls->signatures[i] = NULL;
	}
}

bool sk_calls_check(struct sk_arena *arena, struct sk_diag *diag, const struct sk_plan_view *view, const char *file)
{
	struct sk_calls calls = {.arena = arena, .diag = diag, .view = view, .file = file};
	unsigned errors = diag->errors;

	sk_calls_read_signatures(&calls);
	for (uint32_t l = 0; l < view->launch_count; l++) {
		calls.launch = &view->launches[l];
		for (uint32_t i = 0; i < sk_plan_form(calls.launch)->step_count; i++)
			check_step(&calls, &view->steps[calls.launch->first_step + i]);
	}
	if (diag->errors == errors && !view->has_sizes) /* else see sized-calls.c */
		check_together(&calls);
	return diag->errors == errors;
}
