/* See planning-parts.h. */
#include "src/planning/planning-parts.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "format/skplan.h"
#include "src/model/model.h"

/* ---- names of kernels ---- */

/* "ge:Relu" is also called Relu. */
static bool is_origin(const char *name, const char *origin)
{
	const char *colon = strrchr(origin, ':');

	return !strcmp(name, origin) || (colon && !strcmp(name, colon + 1));
}

/* A list contains names of kernels as in the manifest, of their operators, or of a model's operators. */
static bool names_task(const struct sk_model *model, const char *name, uint32_t task)
{
	const char *origin = model->tasks.items[task].told.origin;
	const struct sk_kernel *kernel = &model->kernels.items[model->tasks.items[task].bound.kernel];

	return !strcmp(name, kernel->name) || (kernel->signature->op && !strcmp(name, kernel->signature->op)) ||
	       (origin && is_origin(name, origin));
}

static bool lists_task(const struct sk_model *model, const sk_names *names, uint32_t task)
{
	for (size_t i = 0; i < names->count; i++)
		if (names_task(model, names->items[i].text, task))
			return true;
	return false;
}

static bool is_in_scope(const struct sk_task_said *said, uint32_t scope)
{
	for (size_t i = 0; i < said->scopes.count; i++)
		if (said->scopes.items[i] == scope)
			return true;
	return false;
}

static bool has_tasks(const struct sk_model *model, uint32_t scope)
{
	for (uint32_t t = 0; t < model->tasks.count; t++)
		if (is_in_scope(&model->tasks.items[t].said, scope))
			return true;
	return false;
}

/* Return a suggestion among the kernels of the scope's tasks. */
static const char *suggest_kernel(const struct sk_model *model, uint32_t scope, const char *name)
{
	enum { MOST = 256 };
	const char *names[MOST];
	size_t count = 0;

	for (uint32_t t = 0; t < model->tasks.count && count < MOST; t++)
		if (is_in_scope(&model->tasks.items[t].said, scope))
			names[count++] = model->kernels.items[model->tasks.items[t].bound.kernel].name;
	return sk_did_you_mean(model->arena, name, names, count);
}

static void check_names(const struct sk_model *model, uint32_t scope, const sk_names *names)
{
	for (size_t i = 0; i < names->count; i++) {
		const struct sk_name *name = &names->items[i];
		bool found = false;

		for (uint32_t t = 0; t < model->tasks.count && !found; t++)
			found = is_in_scope(&model->tasks.items[t].said, scope) && names_task(model, name->text, t);
		if (!found)
			sk_error(model->diag, name->place, "no task of scope '%s' runs a kernel or an operation '%s'%s",
				 model->scopes.items[scope].name, name->text, suggest_kernel(model, scope, name->text));
	}
}

/* ---- cores ---- */

static void check_cores(const struct sk_model *model, const char *option, struct sk_place place, uint32_t lane,
			uint32_t cores)
{
	const struct sk_profile *device = model->device;

	if (!sk_device_counts_cores(device) || cores <= device->lanes[lane].cores)
		return;
	sk_error(model->diag, place, "scope option '%s' asks for %u cores; device %s has %u in lane '%s'", option,
		 cores, device->name, device->lanes[lane].cores, device->lanes[lane].name);
}

static void check_scope(const struct sk_model *model, uint32_t scope)
{
	const struct sk_launch_options *options = &model->scopes.items[scope].launch;
	uint32_t last = model->device->lane_count - 1;

	if (has_tasks(model, scope)) { /* otherwise there has been a warning */
		check_names(model, scope, &options->flush_before);
		check_names(model, scope, &options->flush_after);
		check_names(model, scope, &options->flush_never);
	}
	if (options->cube_cores && last == 0)
		sk_error(
			model->diag, options->cube_place,
			"scope option 'debug-aic-num' counts cube cores, and device %s has none; the cores of its only "
			"lane are counted by debug-aiv-num",
			model->device->name);
	else if (options->cube_cores)
		check_cores(model, "debug-aic-num", options->cube_place, 0, options->cube_cores);
	check_cores(model, "debug-aiv-num", options->vector_place, last, options->vector_cores);
}

/* A limit is ignored if blocks that wait for one another would not have a core each. */
static void warn_of_greedy_task(const struct sk_model *model, uint32_t number)
{
	const struct sk_task *task = &model->tasks.items[number];
	struct sk_side sides[SK_MAX_SIDES];
	uint32_t count = sk_task_sides(model, number, sides);

	for (size_t i = 0; i < task->said.scopes.count; i++) {
		const struct sk_scope *scope = &model->scopes.items[task->said.scopes.items[i]];
		uint32_t limits[SK_MAX_LANES];

		sk_launch_options_cores(model, &scope->launch, limits);
		for (uint32_t s = 0; s < count; s++) {
			uint32_t lane = sides[s].lane, wanted = sides[s].first_core + sides[s].blocks;
			bool cube = model->device->lane_count > 1 && lane == 0;

			if (!(sides[s].flags & SK_STEP_RESIDENT) || !limits[lane] || wanted <= limits[lane])
				continue;
			sk_warning(model->diag, cube ? scope->launch.cube_place : scope->launch.vector_place,
				   "scope option '%s' asks for %u cores, but blocks of task '%s' wait for one another "
				   "and need %u, so a superkernel with it has that many",
				   cube ? "debug-aic-num" : "debug-aiv-num", limits[lane], task->name, wanted);
		}
	}
}

bool sk_launch_options_check(const struct sk_model *model)
{
	unsigned errors = model->diag->errors;

	for (uint32_t scope = 0; scope < model->scopes.count; scope++)
		check_scope(model, scope);
	for (uint32_t t = 0; t < model->tasks.count; t++)
		if (!model->tasks.items[t].said.never_fuse && !model->tasks.items[t].said.once)
			warn_of_greedy_task(model, t);
	return model->diag->errors == errors;
}

void sk_launch_options_cores(const struct sk_model *model, const struct sk_launch_options *options,
			     uint32_t cores[SK_MAX_LANES])
{
	memset(cores, 0, SK_MAX_LANES * sizeof(*cores));
	if (model->device->lane_count > 1)
		cores[0] = options->cube_cores;
	cores[model->device->lane_count - 1] = options->vector_cores;
}

/* ---- several scopes ---- */

static void raise(uint32_t *number, uint32_t other)
{
	if (other > *number)
		*number = other;
}

/* 0: no limit. */
static void limit(uint32_t *cores, uint32_t other)
{
	if (other && (!*cores || other < *cores))
		*cores = other;
}

static void add_names(const struct sk_model *model, sk_names *names, const sk_names *others)
{
	for (size_t i = 0; i < others->count; i++)
		sk_array_push(model->arena, names, others->items[i]);
}

struct sk_launch_options sk_launch_options_join(const struct sk_model *model, const uint32_t *scopes, size_t count)
{
	struct sk_launch_options joined = {0};

	for (size_t i = 0; i < count; i++) {
		const struct sk_launch_options *other = &model->scopes.items[scopes[i]].launch;

		raise(&joined.func_align, other->func_align);
		raise(&joined.preload, other->preload);
		if (other->split_mode > joined.split_mode) {
			joined.split_mode = other->split_mode;
			joined.split_place = other->split_place;
		}
		limit(&joined.cube_cores, other->cube_cores);
		limit(&joined.vector_cores, other->vector_cores);
		joined.sync_all |= other->sync_all;
		joined.flush_all |= other->flush_all;
		joined.debug |= other->debug;
		joined.profiling |= other->profiling;
		joined.no_tile_fusion |= other->no_tile_fusion;
		joined.no_parallel_fusion |= other->no_parallel_fusion;
		joined.stream_order |= other->stream_order;
		limit(&joined.tile_bytes, other->tile_bytes);
		add_names(model, &joined.flush_before, &other->flush_before);
		add_names(model, &joined.flush_after, &other->flush_after);
		add_names(model, &joined.flush_never, &other->flush_never);
	}
	return joined;
}

uint32_t sk_launch_options_flushes(const struct sk_model *model, const struct sk_launch_options *options, uint32_t task)
{
	uint32_t flushes = 0;

	if (lists_task(model, &options->flush_never, task))
		return 0;
	if (lists_task(model, &options->flush_before, task))
		flushes |= SK_STEP_FLUSH_BEFORE;
	if (options->flush_all || lists_task(model, &options->flush_after, task))
		flushes |= SK_STEP_FLUSH_AFTER;
	return flushes;
}
