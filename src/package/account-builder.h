/* The account of a fusion: what became of each task, in launches and in tile groups, the orders that the manifest
 * wants, and nodes without a task. */
#ifndef SK_ACCOUNT_BUILDER_H
#define SK_ACCOUNT_BUILDER_H

#include "src/model/model.h"
#include "src/planning/fusion.h"
#include "src/planning/tile-groups.h"
#include "src/proof/account.h"

/* In the model's arena. */
struct sk_account sk_account_build(const struct sk_model *model, const struct sk_fusion *fusion,
				   const struct sk_tile_groups *groups);

#endif
