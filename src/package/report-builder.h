/* The report of a fusion: what became of each task, and the orders that the manifest wants. */
#ifndef SK_REPORT_BUILDER_H
#define SK_REPORT_BUILDER_H

#include "src/planning/fusion.h"
#include "src/proof/report.h"

/* In the model's arena. */
struct sk_report sk_report_build(const struct sk_model *model, const struct sk_fusion *fusion);

#endif
