/* The account of a fusion: what became of each task, and the orders that the manifest wants. */
#ifndef SK_ACCOUNT_BUILDER_H
#define SK_ACCOUNT_BUILDER_H

#include "src/model/model.h"
#include "src/planning/fusion.h"
#include "src/proof/account.h"

/* In the model's arena. */
struct sk_account sk_account_build(const struct sk_model *model, const struct sk_fusion *fusion);

#endif
