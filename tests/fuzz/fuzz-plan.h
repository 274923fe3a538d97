/* The steps that fuzz targets of bound models share: launches, schedule, memory, plan, dispatchers. Every plan must
 * pass sklink's own checks. */
#ifndef SK_TESTS_FUZZ_PLAN_H
#define SK_TESTS_FUZZ_PLAN_H

#include "base/diag.h"
#include "src/model/model.h"

void fuzz_plan(struct sk_model *model, struct sk_diag *diag);

#endif
