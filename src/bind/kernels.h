/* From names in tasks to functions in objects. */
#ifndef SK_KERNELS_H
#define SK_KERNELS_H

#include "src/model/model.h"

/* Decides the kernel of every task: fills model->kernels and task->kernel. Adds the inputs that the manifest names and
 * pulls the members that the kernels are in. All errors are collected; false if there was one. */
bool sk_kernels_find(struct sk_model *model, struct sk_linker *linker);

/* Behind that, and called by it: what the kernels reach (kernel-reach.c). */
bool sk_kernels_reach(struct sk_model *model, struct sk_linker *linker);

#endif
