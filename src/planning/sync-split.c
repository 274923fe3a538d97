/* See planning-parts.h. */
#include "src/planning/planning-parts.h"

#include "format/skplan.h"
#include "src/model/model.h"
#include "src/planning/planning.h"

/* With feed-sync-all=1 idle cores take part, so no core waits in vain. An exchange waits for no other core. */
static bool synchronises(const struct sk_model *model, uint32_t number)
{
	const struct sk_task *task = &model->tasks.items[number];

	for (size_t i = 0; i < task->said.scopes.count; i++)
		if (model->scopes.items[task->said.scopes.items[i]].feeds_sync_all)
			return false;
	return model->kernels.items[task->bound.kernel].signature->sync_all && !task->said.exchange;
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

void sk_sync_cores(const struct sk_model *model, uint32_t task, uint32_t cores[SK_MAX_LANES])
{
	const struct sk_profile_lane *lanes = model->device->lanes;

	sk_task_cores(model, task, cores);
	if (model->device->lane_count == 1 || !synchronises(model, task))
		return;
	if (!cores[0])
		cores[0] = least(cores[1] / 2 + cores[1] % 2, lanes[0].cores);
	if (!cores[1])
		cores[1] = least(2 * cores[0], lanes[1].cores);
}

enum sk_reason sk_sync_split(const struct sk_model *model, const struct sk_sync_load *load, uint32_t task,
			     uint32_t *cause)
{
	uint32_t cores[SK_MAX_LANES];

	sk_sync_cores(model, task, cores);
	for (uint32_t lane = 0; lane < SK_MAX_LANES; lane++) {
		if (cores[lane] >= load->cores[lane] || !synchronises(model, task))
			continue;
		*cause = load->greediest[lane];
		return SK_REASON_SYNCALL_OP_DROP;
	}
	for (uint32_t lane = 0; lane < SK_MAX_LANES; lane++) {
		if (cores[lane] <= load->cores[lane] || !load->synchronises)
			continue;
		*cause = load->caller;
		return SK_REASON_SYNCALL_OP_RISE;
	}
	return SK_REASON_CAN_FUSE;
}

void sk_sync_add(const struct sk_model *model, struct sk_sync_load *load, uint32_t task)
{
	uint32_t cores[SK_MAX_LANES];

	sk_sync_cores(model, task, cores);
	for (uint32_t lane = 0; lane < SK_MAX_LANES; lane++) {
		if (cores[lane] <= load->cores[lane])
			continue;
		load->cores[lane] = cores[lane];
		load->greediest[lane] = task;
	}
	if (load->synchronises || !synchronises(model, task))
		return;
	load->synchronises = true;
	load->caller = task;
}
