/* What fuzz targets do with a model that has been bound: launches, schedule, memory, plan, dispatchers. What sklink has
 * planned must pass its own checks, whatever it was made of. */
#ifndef SK_TESTS_FUZZ_PLAN_H
#define SK_TESTS_FUZZ_PLAN_H

#include "base/diag.h"
#include "src/model/model.h"

void fuzz_plan(struct sk_model *model, struct sk_diag *diag);

#endif
