/* From names in tasks to functions in objects. */
#ifndef SK_KERNELS_H
#define SK_KERNELS_H

#include "src/model/model.h"

struct sk_op_kernel;

/* Why no kernel fits the op of a task, which is of another model; NULL: *found does. The text is in that one's arena.
 * The linker knows all inputs, and the model what the manifest says of kernels; what is found out of kernels is kept
 * for sk_kernels_find. Nothing is pulled. */
const char *sk_kernels_missing(struct sk_model *model, struct sk_linker *linker, struct sk_model *other,
			       const struct sk_task *task, const struct sk_op_kernel **found);

/* Decides the kernel of every task: fills model->kernels and task->kernel. Adds the inputs that the manifest names and
 * pulls the members that the kernels are in. All errors are collected; false if there was one. */
bool sk_kernels_find(struct sk_model *model, struct sk_linker *linker);

/* Behind that, and called by it: what the kernels reach (kernel-reach.c). */
bool sk_kernels_reach(struct sk_model *model, struct sk_linker *linker);

#endif
