/* The account of a fusion: the report that says what became of each task, and the orders that the manifest wants. */
#ifndef SK_ACCOUNT_H
#define SK_ACCOUNT_H

#include "src/planning/fusion.h"
#include "src/proof/report.h"

/* In the model's arena. */
struct sk_report sk_account_build(const struct sk_model *model, const struct sk_fusion *fusion);

#endif
