/* Placement: at which core the steps begin that have work for fewer cores than there are. In come a launch's runs with
 * their units; out comes the first core of each, so that what does not depend on each other is side by side, and what
 * does is on the same cores. */
#ifndef SK_PLACEMENT_H
#define SK_PLACEMENT_H

#include "src/planning/tile-groups.h"

/* Fills the runs' first_core, of the groups' launch of that number. */
void sk_placement_choose(const struct sk_model *model, const struct sk_fusion *fusion, uint32_t launch,
			 struct sk_tile_groups *groups);

#endif
