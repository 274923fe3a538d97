/* The account of a partition: the report that says what became of each task, and the orders that the manifest wants. */
#ifndef SK_ACCOUNT_H
#define SK_ACCOUNT_H

#include "src/planning/partition.h"
#include "src/proof/report.h"

/* In the model's arena. */
struct sk_report sk_account_build(const struct sk_model *model, const struct sk_partition *partition);

#endif
