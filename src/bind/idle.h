/* Tasks that have nothing to compute, since what they write has no elements: nobody calls their kernels, so they are no
 * part of a plan. */
#ifndef SK_IDLE_H
#define SK_IDLE_H

#include "src/model/model.h"

/* Takes the idle ones out of the bound model's tasks, and lists them in model->idle. The others keep their order, also
 * where it went through an idle one: whoever comes after that, or waits for an event that it records, comes after all
 * that it would have come after, which is the tasks that it names, the events that it or its stream waits for, and what
 * is in front of it in its stream. False after errors. */
bool sk_model_leave_out_idle(struct sk_model *model);

#endif
