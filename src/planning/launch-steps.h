/* The steps of a launch, before anybody knows their awaits: in comes a launch of the fusion; out come its steps with
 * lanes, numbers, core sets and divisions, and its homes and partitions. */
#ifndef SK_LAUNCH_STEPS_H
#define SK_LAUNCH_STEPS_H

#include "src/planning/schedule.h"

/* What is kept from launch to launch, in the model's arena. */
struct sk_step_maker *sk_step_maker_new(const struct sk_model *model, const struct sk_fusion *fusion,
					const struct sk_tile_groups *groups);

/* Makes the steps of the launch of this number. */
void sk_launch_steps_make(struct sk_step_maker *maker, struct sk_launch_schedule *launch, uint32_t number);

#endif
