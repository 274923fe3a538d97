/* A call that somebody wants, before there is a kernel for it: what its tensors are like, and what is set. A task is
 * one such request; whoever thinks about a call that no task makes can make one of tensors that no model has. */
#ifndef SK_REQUEST_H
#define SK_REQUEST_H

#include "format/signature/signature.h"
#include "src/model/model.h"
#include "src/model/task.h"
#include "src/model/tensor.h"

/* A tensor that is passed. */
struct sk_request_argument {
	const struct sk_tensor *tensor; /* its type and shape count; NULL: none is passed */
	uint32_t index; /* in the model, or another number that no other tensor has */
	struct sk_place place;
};

struct sk_request {
	struct sk_place place; /* of the call; each part has one of its own */
	SK_ARRAY(struct sk_request_argument) arguments;
	const struct sk_name *parameters; /* by argument: the parameter it is for; NULL: arguments are in their order */
	bool directed; /* the first `input_count` arguments are those that are read, in the order of the parameters that
			  are read, and the others those that are written */
	uint32_t input_count;
	const struct sk_attribute *attributes;
	size_t attribute_count;
	const struct sk_set *set; /* scalars */
	size_t set_count;
	uint64_t blocks; /* 0: as the kernel says */
};

/* How many tensors the request has for the signature's open table: those that no other parameter takes. */
size_t sk_request_operands(const struct sk_request *request, const struct sk_signature *signature);

/* Makes the request that the task is. The memory of the arguments of an earlier one is used again. */
void sk_request_of_task(struct sk_model *model, const struct sk_task *task, struct sk_request *request);

#endif
