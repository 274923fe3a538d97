/* Kernels of operators by what they ask of their tensors and attributes, so that a request need not be tried with each
 * of them. Two kernels of an op are of one form if their tensor parameters have the same directions, names, element
 * types and numbers of dimensions, the same dimensions are numbers rather than names, and their conditions are about
 * the same attributes; they are of one class if the numbers and what the attributes have to be are the same, too. A
 * request fits one class of a form at most. Of tensors that may be absent, and of conditions with real numbers and
 * lists, nothing counts here but that there are such. */
#ifndef SK_OP_INDEX_H
#define SK_OP_INDEX_H

#include "format/signature/signature.h"
#include "src/bind/request.h"
#include "src/model/model.h"

struct sk_op_form {
	const struct sk_signature *signature; /* of its first kernel */
	uint32_t next; /* of the same op; SK_NONE: the last one */
};

struct sk_op_index {
	const struct sk_model *model;
	struct sk_map names; /* of parameters and attributes, and words that these can be -> number */
	struct sk_map form_numbers; /* words that say op and form -> form */
	struct sk_map class_numbers; /* form, values of attributes and fixed dimensions -> class */
	SK_ARRAY(struct sk_op_form) forms;
	uint32_t class_count;
};

void sk_op_index_init(struct sk_op_index *index, const struct sk_model *model);

/* The form of a kernel of op number `op`. Forms are numbered from 0 on, as they come up; a new one is the first of its
 * op if that had none, and else `next` of *last, which is the op's last one afterwards (SK_NONE: it has none). */
uint32_t sk_op_index_form(struct sk_op_index *index, uint32_t op, const struct sk_signature *signature, uint32_t *last);

/* The class of a kernel of that form. Classes are numbered from 0 on, as they come up. */
uint32_t sk_op_index_class(struct sk_op_index *index, uint32_t form, const struct sk_signature *signature);

/* The class of the form that has all kernels of it that the request may mean; SK_NONE: there is none. */
uint32_t sk_op_index_find(const struct sk_op_index *index, uint32_t form, const struct sk_request *request);

#endif
