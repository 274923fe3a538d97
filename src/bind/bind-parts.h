/* Shared by the files of this room: the binder, requests, and the index of operators. */
#ifndef SK_SRC_BIND_BIND_PARTS_H
#define SK_SRC_BIND_BIND_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "format/signature/signature.h"
#include "src/model/model.h"

struct sk_map;

/* ==== request.c ====
 *
 * A call that somebody wants, before there is a kernel for it: what its tensors are like, and what is set. A task is
 * one such request; whoever thinks about a call that no task makes can make one of tensors that no model has. */

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

/* ==== binder.c ====
 *
 * One request being bound to one signature: what the files of this room share. */

/* An extent that is not bound. */
#define SK_EXTENT_OPEN UINT64_MAX

struct sk_binder {
	struct sk_model *model;
	const struct sk_request *request;
	const struct sk_signature *signature;
	const char *kernel; /* its name, for errors; NULL: look for a reason only, put nothing into the sink */
	const char *reason; /* the first thing that does not fit */
	bool quiet; /* nobody wants to know why: no text is made */
	bool stateful; /* the kernel has hidden state */
	bool idle; /* there is nothing to compute (bind-idle.c) */
	unsigned failures; /* things that do not fit */
	bool matched; /* the types of the tensors, and the attributes, are what the signature wants */

	uint64_t blocks; /* of a kernel that has them; mix: of the cube side */
	uint64_t grid[SK_MAX_AXES]; /* of grid=: their product */
	uint64_t operations; /* of operations= */
	uint32_t argument_count;
	uint64_t scratch_size;

	/* From here on what is there for each parameter or extent of the signature, and no more of it, is valid once
	 * the tensors are being matched. By parameter; the result's is the last one. NULL for what is no tensor. */
	const struct sk_request_argument *args[SK_MAX_PARAMETERS + 1];
	const struct sk_tensor *tensors[SK_MAX_PARAMETERS + 1];
	struct sk_argument arguments[SK_MAX_PARAMETERS + 1];
	uint64_t frames[SK_MAX_PARAMETERS + 1]; /* by STRUCT: where it stands in the scratch */

	uint64_t extents[SK_MAX_PARAMETERS]; /* or SK_EXTENT_OPEN */
	struct {
		uint32_t parameter, dimension;
	} bound_by[SK_MAX_PARAMETERS]; /* of those that are not open */
};

/* Reports something that does not fit. Who makes texts for it asks sk_binder_fails first. */
void sk_binder_error(struct sk_binder *binder, struct sk_place place, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* True if it is enough to fail, which the binder does then. */
bool sk_binder_fails(struct sk_binder *binder);

/* The tensor's size where the parameter has its dimension: all elements for one-dimensional parameters, otherwise
 * leading dimensions are folded into the first. */
uint64_t sk_folded_dimension(const struct sk_tensor *tensor, const struct sk_parameter *parameter, uint32_t dimension);

/* The result, if there is one, comes behind all parameters. */
static inline const char *sk_binder_parameter_name(const struct sk_signature *signature, uint32_t parameter)
{
	return parameter == signature->parameter_count ? signature->result : signature->parameters[parameter].name;
}

/* Finds the tensor of each parameter that takes one, and checks its type and its rows. */
void sk_binder_match_tensors(struct sk_binder *binder);

/* Binds the extents by the shapes of the tensors, and checks that all uses agree. What stays open is a factor of
 * dimensions that have no elements anyway. */
void sk_binder_bind_extents(struct sk_binder *binder);

/* Finds out whether the call has something to compute; afterwards the extents of calls that have are all bound, and
 * those that cores and loops divide are not 0. */
void sk_binder_find_idle(struct sk_binder *binder);

/* The arguments of a call that is not made: what it would access, for who asks after the roles of tensors. */
void sk_binder_bind_idle(struct sk_binder *binder);

/* A scalar that the request takes from a tensor of one element. */
void sk_binder_bind_element(struct sk_binder *binder, const struct sk_parameter *parameter, const struct sk_set *set,
			    struct sk_argument *argument);

/* Fills the argument of a scalar parameter: from an extent, from `set`, or from a tensor. False if the request gives no
 * value, which is for the caller to report. */
bool sk_binder_bind_scalar(struct sk_binder *binder, const struct sk_parameter *parameter,
			   struct sk_argument *argument);

/* Reports conditions that do not hold, and attributes that the signature does not name. */
void sk_binder_check_attributes(struct sk_binder *binder);

const struct sk_attribute *sk_binder_attribute(const struct sk_binder *binder, const char *name);

/* Fills the argument of a parameter that is an attribute by itself, a real number or the address of a list. */
void sk_binder_bind_attribute(struct sk_binder *binder, const struct sk_parameter *parameter,
			      struct sk_argument *argument);

/* The integer that the attribute is which the expression names; false, with an error, if it is none. */
bool sk_binder_bind_integer(struct sk_binder *binder, const char *of, const struct sk_value_expression *value,
			    int64_t *integer);

/* Makes constants of the lists that the arguments of a task lead to. `lists` has those that there are. */
void sk_bind_lists(struct sk_model *model, struct sk_map *lists, struct sk_argument *arguments, uint32_t count);

/* Fills the argument of a parameter that is a tensor, once the extents are bound; sk_binder_bind_memory only says which
 * bytes it is. */
void sk_binder_bind_pointer(struct sk_binder *binder, uint32_t parameter, struct sk_argument *argument);
void sk_binder_bind_memory(struct sk_binder *binder, uint32_t parameter, struct sk_argument *argument);

/* Fills the arguments that are scratch, before values may ask how large they are: structs come first, so that their
 * fields are near the beginning. */
void sk_binder_bind_scratch(struct sk_binder *binder);

/* Makes a VALUE, an EXPRESSION or a SYMBOL of the argument, whose dtype is set, as the expression says. `name` is for
 * errors. */
void sk_binder_bind_value(struct sk_binder *binder, const char *name, const struct sk_value_expression *value,
			  struct sk_argument *argument);

/* A number of something, at least 0 or 1, that is fixed when linking; `of` says for errors what it is. */
bool sk_binder_count(struct sk_binder *binder, const char *of, const struct sk_value_expression *value, uint64_t least,
		     uint64_t *count);

/* Reports what a cost says that is not about this kind of kernel. NULL: there is none. */
void sk_binder_check_cost(struct sk_binder *binder, const struct sk_task_cost *cost);

/* What the task costs that is bound: what the manifest says, or else what the signature does. NULL: nobody says it. */
const struct sk_task_cost *sk_binder_cost(const struct sk_binder *binder, const struct sk_task *task);

/* ==== gaps.c ====
 *
 * Gaps: the bytes that nobody has written, and those that nobody reads. In come the bound tasks, in network order; out
 * come, for every argument that reads, the bytes that no earlier task has written, for every tensor those that no task
 * writes at all, and the arguments whose bytes later tasks all overwrite before any task reads one of them. What a gap
 * means depends on the tensor's role (roles.c). What is declared to have its contents from outside has none. */

struct sk_gap {
	uint32_t tensor; /* a root */
	uint32_t task, argument; /* who reads the bytes; SK_NONE: nobody writes them until the end */
	uint64_t low, high; /* bytes of the tensor */
};

/* An argument whose bytes are all overwritten before one of them is read. */
struct sk_dead_store {
	uint32_t task, argument;
	uint32_t by; /* the task that overwrites the last of them */
};

struct sk_gaps {
	SK_ARRAY(struct sk_gap) reads; /* by task, argument and address; each byte once, where it is read first */
	SK_ARRAY(struct sk_gap) ends; /* by tensor and address */
	SK_ARRAY(struct sk_dead_store)
	stores; /* by the tasks that overwrite; not of tensors with rows of two strides */
	uint64_t steps; /* nodes of the maps that have been looked at, which tests count */
};

/* A parameter that is written counts as written whole: a kernel that writes a part of it reads the rest (inout), as far
 * as its signature says. n log n in the number of arguments, whatever the order of their addresses. */
struct sk_gaps sk_gaps_find(const struct sk_model *model);

/* ==== unaligned.c ====
 *
 * Calls of a model's nodes that no kernel can take where their tensors lie, since it wants addresses that are multiples
 * of more than slices of a buffer are: of these tensors there are copies. */

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
