/* Binding: tasks meet the signatures of their kernels. Comes in: the model with tensors, tasks and kernels. Goes out:
 * every task with its arguments in the terms of the plan, and every tensor with its role. */
#ifndef SK_BIND_H
#define SK_BIND_H

#include "format/signature/signature.h"
#include "src/bind/request.h"
#include "src/model/model.h"

/* Fills what struct sk_task says that this fills (task->kernel is set before). All errors are collected; false if there
 * was one. */
bool sk_model_bind(struct sk_model *model);

/* True if a kernel with this signature is what is requested. Nothing is changed, and next to no memory taken. */
bool sk_bind_fits(struct sk_model *model, const struct sk_request *request, const struct sk_signature *signature);

/* How little a kernel with this signature is what is requested: 0 if it is that. Sizes that do not fit are less than
 * types and attributes. Nothing is changed. */
unsigned sk_bind_distance(struct sk_model *model, const struct sk_request *request,
			  const struct sk_signature *signature);

/* Why a kernel with this signature is not what is requested, in the arena; NULL if it is. Nothing is changed. */
const char *sk_bind_reason(struct sk_model *model, const struct sk_request *request,
			   const struct sk_signature *signature);

/* Gives every tensor that has memory of its own a role, from what the bound tasks do with it and what the manifest
 * says, numbers the bindings in manifest order, and opens the files of constants. Views and unused tensors keep
 * SK_ROLE_NONE. All errors are collected; false if there was one. */
bool sk_model_assign_roles(struct sk_model *model);

/* The files that the manifest names and that are no inputs of the linker: the package depends on them, too. */
void sk_model_add_dependencies(const struct sk_model *model, struct sk_linker *linker);

#endif
