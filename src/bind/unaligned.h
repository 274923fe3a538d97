/* Calls of a model's nodes that no kernel can take where their tensors lie, since it wants addresses that are multiples
 * of more than slices of a buffer are: of these tensors there are copies. */
#ifndef SK_UNALIGNED_H
#define SK_UNALIGNED_H

#include "src/model/model.h"
#include "src/model/task.h"

/* What has become of a task that uses copies. */
struct sk_unaligned {
	SK_ARRAY(struct sk_named_tensor) args; /* as they were */
	size_t tensors; /* so many there were */
	SK_ARRAY(struct sk_task) before, behind; /* tasks that copy */
};

/* Lets the task use tensors of their own in place of views that do not begin where tensors do; false: there is none
 * that a copy could take the place of. */
bool sk_unaligned_copy(struct sk_model *model, struct sk_task *task, struct sk_unaligned *unaligned);

/* The task is as it was. */
void sk_unaligned_undo(struct sk_model *model, struct sk_task *task, const struct sk_unaligned *unaligned);

#endif
