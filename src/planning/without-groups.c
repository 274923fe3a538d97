/* See planning.h. */
#include "src/planning/planning.h"

#include "base/arena.h"
#include "base/diag.h"
#include "src/model/model.h"
#include "src/planning/planning-parts.h"

static uint64_t count_awaits(const struct sk_launch_schedule *launch)
{
	uint64_t awaits = 0;

	for (uint32_t i = 0; i < launch->step_count; i++)
		awaits += launch->steps[i].await_count;
	return awaits;
}

/* Return the same launches, all with tile-fusion=0. */
static struct sk_fusion switch_off(struct sk_arena *arena, const struct sk_fusion *fusion)
{
	struct sk_fusion copy = *fusion;

	copy.launches = SK_NEW_ARRAY(arena, struct sk_launch, fusion->launch_count);
	for (uint32_t l = 0; l < fusion->launch_count; l++) {
		copy.launches[l] = fusion->launches[l];
		copy.launches[l].options.no_tile_fusion = true;
	}
	return copy;
}

struct sk_without_groups sk_plan_without_groups(const struct sk_model *model, const struct sk_fusion *fusion)
{
	const struct sk_diag before = *model->diag;
	const struct sk_fusion without = switch_off(model->arena, fusion);
	struct sk_without_groups counts = {0, UINT64_MAX};
	const struct sk_schedule *schedule;
	const struct sk_memory *memory;

	schedule = sk_schedule_build(model, &without);
	memory = sk_memory_plan(model, &without, schedule);
	if (memory)
		counts.workspace = memory->workspace_size;
	else
		sk_diag_take_back(model->diag, &before); /* the missing room is not reported */
	for (uint32_t l = 0; l < without.launch_count; l++)
		counts.awaits += count_awaits(&schedule->launches[l]);
	return counts;
}
