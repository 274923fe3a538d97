/* See model.h. */
#include "src/model/model.h"

#include <inttypes.h>
#include <string.h>

#include "base/diag.h"
#include "format/signature/signature.h"
#include "format/skplan.h"

uint32_t sk_mix_default_blocks(const struct sk_profile *device, uint32_t ratio)
{
	uint32_t cube = device->lanes[0].blocks, vector = device->lanes[device->lane_count - 1].blocks / ratio;

	if (device->lane_count == 1)
		return cube;
	if (vector < cube)
		cube = vector;
	return cube ? cube : 1;
}

static uint16_t feed_flag(const struct sk_model *model, const struct sk_task_said *said)
{
	for (size_t i = 0; i < said->scopes.count; i++)
		if (model->scopes.items[said->scopes.items[i]].feeds_sync_all)
			return SK_STEP_FEED;
	return 0;
}

uint16_t sk_signature_early(const struct sk_signature *signature)
{
	return (uint16_t)((signature->early_wait ? SK_STEP_EARLY_WAIT : 0) |
			  (signature->early_set ? SK_STEP_EARLY_SET : 0));
}

static bool has_argument(const struct sk_task *task, enum sk_argument_kind kind)
{
	for (uint32_t i = 0; i < task->bound.argument_count; i++)
		if (task->bound.arguments[i].kind == kind)
			return true;
	return false;
}

/* Return the flags of a kernel that starts early, unless one of the task's scopes forbids it. Scalars in tensors are
 * read before the call, and the result is stored after it, so the dispatcher then waits or publishes in the kernel's
 * place. */
static uint16_t early_flags(const struct sk_model *model, const struct sk_task *task)
{
	uint16_t flags = sk_signature_early(model->kernels.items[task->bound.kernel].signature);

	if (!flags)
		return 0;
	for (size_t i = 0; i < task->said.scopes.count; i++) {
		const struct sk_scope *scope = &model->scopes.items[task->said.scopes.items[i]];

		if (scope->starts_late || scope->launch.sync_all)
			return 0;
	}
	if (has_argument(task, SK_ARGUMENT_LOAD))
		flags &= (uint16_t)~SK_STEP_EARLY_WAIT;
	if (has_argument(task, SK_ARGUMENT_RESULT))
		flags &= (uint16_t)~SK_STEP_EARLY_SET;
	return flags;
}

uint32_t sk_task_sides(const struct sk_model *model, uint32_t number, struct sk_side sides[SK_MAX_SIDES])
{
	const struct sk_task *task = &model->tasks.items[number];
	const struct sk_signature *signature = model->kernels.items[task->bound.kernel].signature;

	uint16_t flags = early_flags(model, task);

	if (signature->sync_all || signature->lane == SK_LANE_MIX)
		flags |= SK_STEP_RESIDENT | feed_flag(model, &task->said);
	sides[0] = (struct sk_side){.lane = task->bound.lane, .blocks = task->bound.block_count, .flags = flags};
	if (signature->lane != SK_LANE_MIX)
		return 1;
	sides[0].flags |= SK_STEP_CUBE_SIDE;
	sides[1] = (struct sk_side){.lane = model->device->lane_count - 1,
				    .blocks = task->bound.block_count * signature->mix_ratio,
				    .flags = flags | SK_STEP_VECTOR_SIDE};
	if (sides[1].lane == sides[0].lane)
		sides[1].first_core = sides[0].blocks;
	return 2;
}

bool sk_sides_check(const struct sk_model *model, uint32_t number)
{
	const struct sk_task *task = &model->tasks.items[number];
	const struct sk_profile *device = model->device;
	struct sk_side sides[SK_MAX_SIDES];
	uint32_t count = sk_task_sides(model, number, sides);

	for (uint32_t i = 0; i < count; i++) {
		const struct sk_side *side = &sides[i];
		const struct sk_profile_lane *lane = &device->lanes[side->lane];
		uint64_t wanted = (uint64_t)side->first_core + side->blocks;
		/* A device with one lane has as many cores as a launch wants; the profile gives the number for a device
		 * with two. */
		uint32_t most = device->lane_count == 1 ? SK_MAX_RESIDENT : lane->cores;

		if (!(side->flags & SK_STEP_RESIDENT) || wanted <= most)
			continue;
		sk_error(model->diag, task->place,
			 "task '%s' has blocks that wait for one another and needs %" PRIu64
			 " cores of lane '%s' at once; device %s has %u",
			 task->name, wanted, lane->name, device->name, most);
		return false;
	}
	return true;
}

/* ---- number of cores of a launch ---- */

/* Return the number of cores of the device's lane that the side's calls keep busy. */
static uint32_t cores_of(const struct sk_model *model, uint32_t task, const struct sk_side *side)
{
	const struct sk_task *record = &model->tasks.items[task];
	enum sk_step_kind kind = model->kernels.items[record->bound.kernel].signature->spread;
	uint32_t cores = model->device->lanes[side->lane].cores;

	if (side->flags & SK_STEP_RESIDENT)
		return side->first_core + side->blocks;
	if (kind == SK_STEP_PLAIN)
		return 1;
	if (kind == SK_STEP_SPLIT) {
		uint64_t units = (record->bound.extent - 1) / sk_minimum_unit(model, task) + 1;

		return units < cores ? (uint32_t)units : cores;
	}
	return side->blocks < cores ? side->blocks : cores;
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static uint32_t greatest(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

void sk_task_cores(const struct sk_model *model, uint32_t task, uint32_t cores[SK_MAX_LANES])
{
	struct sk_side sides[SK_MAX_SIDES];
	uint32_t count = sk_task_sides(model, task, sides);

	memset(cores, 0, SK_MAX_LANES * sizeof(*cores));
	for (uint32_t s = 0; s < count; s++)
		cores[sides[s].lane] = greatest(cores[sides[s].lane], cores_of(model, task, &sides[s]));
}

bool sk_device_counts_cores(const struct sk_profile *device)
{
	return strcmp(device->name, "host") != 0;
}

/* On the host: its number of cores is unknown here. */
static uint32_t cores_on_host(const struct sk_model *model, const struct sk_launch_needs *needs)
{
	uint32_t all = needs->limits[0] ? needs->limits[0] : SK_ALL_CORES, cores = needs->homes;

	if (needs->homes > 1 || needs->resident[0] || needs->placed[0])
		return all;
	for (uint32_t i = 0; i < needs->task_count; i++) {
		const struct sk_task *task = &model->tasks.items[needs->tasks[i]];
		enum sk_step_kind kind = model->kernels.items[task->bound.kernel].signature->spread;

		if (kind == SK_STEP_SPLIT)
			return all;
		if (kind != SK_STEP_PLAIN)
			cores = greatest(cores, task->bound.block_count);
	}
	return least(cores, all);
}

/* On a device with a number of cores in its profile: as many as the task with the greatest need requires, or all if
 * tasks run side by side. If both lanes are needed, they come in groups of a cube core with one or two vector cores. */
static void cores_of_device(const struct sk_model *model, const struct sk_launch_needs *needs,
			    uint32_t device_cores[SK_MAX_LANES])
{
	const struct sk_profile *device = model->device;
	bool one_to_two = false;

	for (uint32_t i = 0; i < needs->task_count; i++) {
		const struct sk_task *task = &model->tasks.items[needs->tasks[i]];
		uint32_t cores[SK_MAX_LANES];

		sk_task_cores(model, needs->tasks[i], cores);
		for (uint32_t lane = 0; lane < SK_MAX_LANES; lane++)
			device_cores[lane] = greatest(device_cores[lane], cores[lane]);
		one_to_two |= model->kernels.items[task->bound.kernel].signature->mix_ratio > 1;
	}
	for (uint32_t lane = 0; lane < device->lane_count; lane++)
		if (needs->placed[lane])
			device_cores[lane] = greatest(device_cores[lane], device->lanes[lane].cores);

	uint32_t cube = device_cores[0], vector = device_cores[1];
	bool pairs = vector <= cube && !one_to_two;
	uint32_t groups = pairs ? cube : greatest(cube, vector / 2 + vector % 2);

	if (cube && vector) {
		device_cores[0] = least(groups, device->lanes[0].cores);
		device_cores[1] = least(pairs ? groups : 2 * groups, device->lanes[1].cores);
	}
	for (uint32_t lane = 0; lane < device->lane_count; lane++)
		if (needs->limits[lane])
			device_cores[lane] = least(device_cores[lane], needs->limits[lane]);
}

void sk_launch_device_cores(const struct sk_model *model, const struct sk_launch_needs *needs,
			    uint32_t device_cores[SK_MAX_LANES])
{
	memset(device_cores, 0, SK_MAX_LANES * sizeof(*device_cores));
	if (sk_device_counts_cores(model->device))
		cores_of_device(model, needs, device_cores);
	else
		device_cores[0] = cores_on_host(model, needs);
	for (uint32_t lane = 0; lane < model->device->lane_count; lane++)
		device_cores[lane] = greatest(device_cores[lane], needs->resident[lane]);
}
