/* Shared by the files of this room: the binder, requests, and the index of operators. */
#ifndef SK_SRC_BIND_BIND_PARTS_H
#define SK_SRC_BIND_BIND_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "src/model/model.h"

struct sk_map;
struct sk_size;
struct sk_sizes;

/* ==== request.c ====
 *
 * A call that is wanted, before its kernel is chosen: its tensors, attributes and scalars. A task is one such request.
 * A request can also be made for a call of no task, with tensors that are in no model. */

/* A tensor that is passed. */
struct sk_request_argument {
	const struct sk_tensor *tensor; /* only its type and shape matter; NULL: none is passed */
	uint32_t index; /* in the model, or another number that no other tensor of the request has */
	struct sk_place place;
};

struct sk_request {
	struct sk_place place; /* of the call; its parts have places of their own */
	SK_ARRAY(struct sk_request_argument) arguments;
	const struct sk_name *parameters; /* by argument: its parameter; NULL: arguments are in the order of
					   * parameters */
	bool directed; /* the first `input_count` arguments are read, in the order of the parameters that are read; the
			* others are written */
	uint32_t input_count;
	const struct sk_attribute *attributes;
	size_t attribute_count;
	const struct sk_set *set; /* scalars */
	size_t set_count;
	uint64_t blocks; /* 0: the kernel's default */
};

/* Return the number of tensors for the signature's open table: those that no other parameter takes. */
size_t sk_request_operands(const struct sk_request *request, const struct sk_signature *signature);

/* Turn a task into a request. The memory of an earlier request's arguments is reused. */
void sk_request_of_task(struct sk_model *model, const struct sk_task *task, struct sk_request *request);

/* ==== binder.c ====
 *
 * The binding of one request to one signature: the state that files of this room share. */

/* An extent that is not bound. */
#define SK_EXTENT_OPEN UINT64_MAX

struct sk_binder {
	struct sk_model *model;
	const struct sk_request *request;
	const struct sk_signature *signature;
	const char *kernel; /* its name, for errors; NULL: only look for a reason, report nothing */
	const char *reason; /* the first mismatch */
	bool quiet; /* the reason is not needed: no text is made */
	bool stateful; /* the kernel has hidden state */
	bool idle; /* there is nothing to compute (bind-idle.c) */
	unsigned failures; /* number of mismatches */
	bool matched; /* the types of the tensors, and the attributes, fit the signature */

	uint64_t blocks; /* of a kernel with blocks; mix: of the cube side */
	uint64_t grid[SK_MAX_AXES]; /* of grid=: the numbers by axis */
	uint64_t operations; /* of operations= */
	uint32_t argument_count;
	uint64_t scratch_size;

	/* From here on, the entries for the signature's parameters or extents, and only these, are valid once the
	 * tensors are being matched. By parameter, the result last. NULL for parameters that are not tensors. */
	const struct sk_request_argument *args[SK_MAX_PARAMETERS + 1];
	const struct sk_tensor *tensors[SK_MAX_PARAMETERS + 1];
	struct sk_argument arguments[SK_MAX_PARAMETERS + 1];
	uint64_t frames[SK_MAX_PARAMETERS + 1]; /* by STRUCT: its offset in the scratch */

	uint64_t extents[SK_MAX_PARAMETERS]; /* or SK_EXTENT_OPEN */
	struct {
		uint32_t parameter, dimension;
	} bound_by[SK_MAX_PARAMETERS]; /* the first dimension that gave the value; of extents that are not open */
};

/* Report a mismatch. Callers that make texts for it call sk_binder_fails first. */
void sk_binder_error(struct sk_binder *binder, struct sk_place place, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Record a mismatch and return true if its text is not needed; else return false. */
bool sk_binder_fails(struct sk_binder *binder);

/* Return the tensor's size in the parameter's dimension: all elements for one-dimensional parameters, otherwise leading
 * dimensions are folded into the first one. */
uint64_t sk_folded_dimension(const struct sk_tensor *tensor, const struct sk_parameter *parameter, uint32_t dimension);

/* Return the name of a parameter. The number after the last parameter is the result, if there is one. */
static inline const char *sk_binder_parameter_name(const struct sk_signature *signature, uint32_t parameter)
{
	return parameter == signature->parameter_count ? signature->result : signature->parameters[parameter].name;
}

/* Find the tensor of each parameter that takes one, and check its type and its rows. */
void sk_binder_match_tensors(struct sk_binder *binder);

/* Bind the extents by the shapes of the tensors, and check that all uses agree. An extent that stays open is a factor
 * of dimensions without elements. */
void sk_binder_bind_extents(struct sk_binder *binder);

/* Find out whether the call has something to compute. If it has, all extents are bound afterwards, and those that cores
 * and loops divide are not 0. */
void sk_binder_find_idle(struct sk_binder *binder);

/* Fill in the arguments of a call that is not made, that is, the tensors that it would access. The roles of tensors
 * depend on them. */
void sk_binder_bind_idle(struct sk_binder *binder);

/* Fill in the argument of a scalar that the request takes from a tensor of one element. */
void sk_binder_bind_element(struct sk_binder *binder, const struct sk_parameter *parameter, const struct sk_set *set,
			    struct sk_argument *argument);

/* Fill in the argument of a scalar parameter: from an extent, from `set`, or from a tensor. Return false if the request
 * gives no value; the caller reports that. */
bool sk_binder_bind_scalar(struct sk_binder *binder, const struct sk_parameter *parameter,
			   struct sk_argument *argument);

/* Report conditions that do not hold, and attributes that the signature does not name. */
void sk_binder_check_attributes(struct sk_binder *binder);

const struct sk_attribute *sk_binder_attribute(const struct sk_binder *binder, const char *name);

/* Fill in the argument of a parameter with an attribute as its value: a real number or the address of a list. */
void sk_binder_bind_attribute(struct sk_binder *binder, const struct sk_parameter *parameter,
			      struct sk_argument *argument);

/* Get the integer value of the attribute that the expression names; return false, with an error, if it is not one. */
bool sk_binder_bind_integer(struct sk_binder *binder, const char *of, const struct sk_value_expression *value,
			    int64_t *integer);

/* Make constants of the lists that the arguments of a task point to. `lists` contains the existing ones. */
void sk_bind_lists(struct sk_model *model, struct sk_map *lists, struct sk_argument *arguments, uint32_t count);

/* Fill in the argument of a tensor parameter, once the extents are bound. sk_binder_bind_memory only sets the bytes. */
void sk_binder_bind_pointer(struct sk_binder *binder, uint32_t parameter, struct sk_argument *argument);
void sk_binder_bind_memory(struct sk_binder *binder, uint32_t parameter, struct sk_argument *argument);

/* Fill in the arguments that are scratch, before values may refer to their size. Structs come first, so that their
 * fields are near the beginning. */
void sk_binder_bind_scratch(struct sk_binder *binder);

/* Turn the argument into a VALUE, an EXPRESSION or a SYMBOL, by the expression. Its dtype must be set. `name` is for
 * errors. */
void sk_binder_bind_value(struct sk_binder *binder, const char *name, const struct sk_value_expression *value,
			  struct sk_argument *argument);

/* Compute a number that is fixed when linking and at least `least`, 0 or 1; `of` names it in errors. */
bool sk_binder_count(struct sk_binder *binder, const char *of, const struct sk_value_expression *value, uint64_t least,
		     uint64_t *count);

/* Report entries of a cost that do not apply to this kind of kernel. cost NULL: there are none. */
void sk_binder_check_cost(struct sk_binder *binder, const struct sk_task_cost *cost);

/* Return the cost of the bound task, from the manifest or else from the signature. NULL: neither gives one. */
const struct sk_task_cost *sk_binder_cost(const struct sk_binder *binder, const struct sk_task *task);

/* ==== empty.c ====
 *
 * Sizes of 0. */

struct sk_fit; /* of fit.c */

/* Check, at sizes of 0 of each dimension that has them and at the points of the forms, that a task with its forms does
 * nothing for no elements. False with an error if its results have elements though an operand has none (the largest of
 * nothing), or if its kernel would be called for no elements at all. */
bool sk_bind_check_empty(const struct sk_model *model, const struct sk_task *task, const struct sk_fit *fit);

/* ==== fit.c ====
 *
 * Forms of numbers that depend on sizes. Input: the dimensions, and numbers at certain points, that is, at certain
 * sizes of all dimensions. Output: an expression that has these numbers. */

/* Choose the points: the largest sizes first. Only dimensions of the network differ. Forms may contain the expressions.
 * Where an expression differs at some sizes from the form that its numbers have, these sizes are among the points. */
struct sk_fit *sk_fit_new(struct sk_arena *arena, struct sk_sizes *sizes, const char *network,
			  const struct sk_size *const *expressions, size_t count);

/* Return an expression of which no form is certain to have its numbers at all sizes, because these are too many; NULL:
 * there is none. */
const struct sk_size *sk_fit_unclear(const struct sk_fit *fit);

/* Let forms of numbers be the size, or a multiple of it, before others are looked for. NULL: do nothing. The
 * expressions are the first suggestions. */
void sk_fit_suggest(struct sk_fit *fit, const struct sk_size *size);

/* Also suggest products of two of the first suggestions, such as offsets times distances of rows. */
void sk_fit_suggest_products(struct sk_fit *fit);
size_t sk_fit_count(const struct sk_fit *fit);
const uint64_t *sk_fit_point(const struct sk_fit *fit, size_t point);

/* Return the form of the numbers by point, of those that are known (NULL: all): a sum of products of dimensions, if
 * need be with quotients by constants. NULL: none is found. */
const struct sk_size *sk_fit_find(struct sk_fit *fit, const uint64_t *numbers, const bool *known);

/* ==== gaps.c ====
 *
 * Gaps: bytes that are never written, and results that are never read. The input is the bound tasks in network order.
 * The output is, for every argument that reads, the bytes that no earlier task has written; for every tensor, the bytes
 * that no task writes at all; and the arguments with bytes that later tasks all overwrite before any task reads one of
 * them. The meaning of a gap depends on the tensor's role (roles.c). Tensors with declared contents from outside have
 * no gaps. */

struct sk_gap {
	uint32_t tensor; /* a root */
	uint32_t task, argument; /* the reader of the bytes; SK_NONE: they are not written until the end */
	uint64_t low, high; /* range of bytes of the tensor */
};

/* An argument with bytes that are all overwritten before one of them is read. */
struct sk_dead_store {
	uint32_t task, argument;
	uint32_t by; /* the task that overwrites the last of them */
};

struct sk_gaps {
	SK_ARRAY(struct sk_gap) reads; /* by task, argument and address; each byte once, at its first read */
	SK_ARRAY(struct sk_gap) ends; /* by tensor and address */
	SK_ARRAY(struct sk_dead_store)
	stores; /* by the tasks that overwrite; not for tensors with rows of two strides */
	uint64_t steps; /* visited nodes of the maps, counted for tests */
};

/* Find the gaps. A parameter that is written counts as written whole: a kernel that writes only a part of it must
 * declare it as read and written (inout). The time is n log n in the number of arguments, for every order of
 * addresses. */
struct sk_gaps sk_gaps_find(const struct sk_model *model);

/* ==== samples.c ====
 *
 * The numbers of samples. */

struct sk_sampled_tensor {
	uint64_t bytes, shape[SK_MAX_RANK];
};

struct sk_sampled_task {
	struct sk_task_bound bound;
	const struct sk_task_cost *cost; /* NULL: it has none */
};

/* The bound numbers of a network at some sizes. */
struct sk_sample {
	struct sk_sampled_tensor *tensors; /* from the network's first one on */
	struct sk_sampled_task *tasks; /* the same */
};

/* Read and bind the samples of a network of a bound model, by point; the first one is the model itself. They have its
 * tasks and tensors, with other numbers. Only where a dimension or a size is 1 or 0 may a sample have others, because
 * nothing is to be moved there: it is NULL. The numbers are in the arena. Set the place of the network's first task.
 * Return NULL after an error, also if the samples that are left do not show for a dimension which numbers depend on
 * it. */
struct sk_sample **sk_samples_take(struct sk_model *model, const struct sk_samples *samples, struct sk_arena *arena,
				   size_t *first_task);

/* Return the sizes at the point for a message, "batch=3, seq=17". */
const char *sk_samples_sizes_text(const struct sk_model *model, const struct sk_samples *samples, size_t point);

/* ==== unaligned.c ====
 *
 * Copies for calls of a model's nodes, with kernels that need greater alignment than slices of a buffer have. */

/* The changes to a task that uses copies. */
struct sk_unaligned {
	SK_ARRAY(struct sk_named_tensor) args; /* its original arguments */
	size_t tensors; /* the original number of tensors */
	SK_ARRAY(struct sk_task) before, behind; /* tasks that copy */
};

/* Let the task use tensors of its own in place of views that do not begin at a tensor's alignment. Return false if
 * there are none that a copy could replace. */
bool sk_unaligned_copy(struct sk_model *model, struct sk_task *task, struct sk_unaligned *unaligned);

/* Restore the task. */
void sk_unaligned_undo(struct sk_model *model, struct sk_task *task, const struct sk_unaligned *unaligned);

#endif
