/* Which kernel a task means; arguments, roles of tensors, bytes that no call writes. */
#ifndef SK_SRC_BIND_BIND_H
#define SK_SRC_BIND_BIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "linker/linker.h"

struct sk_linker;
struct sk_model;
struct sk_request;
struct sk_signature;
struct sk_task;

/* ==== op-index.c ====
 *
 * Kernels of operators by what they ask of their tensors and attributes, so that a request need not be tried with each
 * of them. Two kernels of an op are of one form if their tensor parameters have the same directions, names, element
 * types and numbers of dimensions, the same dimensions are numbers rather than names, and their conditions are about
 * the same attributes; they are of one class if the numbers and what the attributes have to be are the same, too. A
 * request fits one class of a form at most. Of tensors that may be absent, and of conditions with real numbers and
 * lists, nothing counts here but that there are such. */

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

/* ==== bind.c ====
 *
 * Binding: tasks meet the signatures of their kernels. Comes in: the model with tensors, tasks and kernels. Goes out:
 * every task with its arguments in the terms of the plan, and every tensor with its role. */

/* Fills the bound part of each task, in which the kernel is set before. All errors are collected; false if there was
 * one. */
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

/* ==== idle.c ====
 *
 * Tasks that have nothing to compute, since what they write has no elements: nobody calls their kernels, so they are no
 * part of a plan. */

/* Takes the idle ones out of the bound model's tasks, and lists them in model->idle. The others keep their order, also
 * where it went through an idle one: whoever comes after that, or waits for an event that it records, comes after all
 * that it would have come after, which is the tasks that it names, the events that it or its stream waits for, and what
 * is in front of it in its stream. False after errors. */
bool sk_model_leave_out_idle(struct sk_model *model);

/* ==== kernels.c ====
 *
 * From names in tasks to functions in objects. */

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

/* ==== operators.c ====
 *
 * Operators: which kernels say op= a name, and which of them is what a request wants. In: the manifest's declarations
 * and the signature records of the linker's inputs. Out: a kernel's name and signature, which says all that a call of
 * it needs. Nothing is pulled and the model does not change, so that whoever wants to know may ask. */

/* The signatures of objects' records, by their texts: thousands of kernels share a few. */
struct sk_record_signatures {
	struct sk_model *model;
	struct sk_map texts; /* -> index in parsed */
	SK_ARRAY(const struct sk_signature *) parsed;
};

void sk_record_signatures_init(struct sk_record_signatures *signatures, struct sk_model *model);

/* The signature of an object's record; NULL after an error, which is said once for each text. */
const struct sk_signature *sk_record_signature(struct sk_record_signatures *signatures,
					       const struct sk_kernel_record *record);

/* A kernel that `op:` can pick. */
struct sk_op_kernel {
	const char *name;
	const char *object; /* NULL: declared in the manifest, not looked up yet */
	uint32_t input;
	const struct sk_signature *signature;
	uint32_t declared; /* index, or SK_NONE */
	uint32_t order; /* the number of its library: the manifest is 0, and those in front have smaller ones */
	uint32_t demands; /* how many conditions and dimensions that are numbers it has … */
	uint32_t isa_size; /* … and how many instruction sets it needs */
	uint32_t next, alike; /* the next one of the same op, of the same class (bind-parts.h); SK_NONE: none */
	uint32_t twin; /* another one of the same library with the same signature; SK_NONE: none */
	uint32_t kernel; /* for the caller: in the model, once it has been picked; else SK_NONE */
};

struct sk_operator {
	uint32_t first, last, count; /* kernels, without those that wait */
	uint32_t waiting, last_waiting; /* the first one that says the op, and the last; SK_NONE: none */
	uint32_t first_form, last_form; /* in the index */
};

/* A record of an archive's member, which is read once somebody asks for its operator. */
struct sk_waiting_kernel {
	struct sk_kernel_record record;
	uint32_t order;
	uint32_t next; /* of the same op; SK_NONE: the last one */
};

struct sk_op_class {
	uint32_t first, last; /* kernels */
};

struct sk_ops {
	struct sk_model *model;
	struct sk_linker *linker;
	struct sk_record_signatures *signatures;
	const uint32_t *archives; /* inputs whose members are searched */
	size_t archive_count;
	bool collected; /* what follows */
	bool left_out; /* there are archives with kernels that say op=, but neither under `library:` nor given by -l */
	SK_ARRAY(struct sk_waiting_kernel) waiting;
	SK_ARRAY(struct sk_op_kernel) kernels; /* of each op: declared ones first, then in the order of the inputs */
	const struct sk_op_kernel *tied; /* what sk_ops_find has found last, but another one; NULL: there is none */
	SK_ARRAY(const char *) names;
	SK_ARRAY(struct sk_operator) items;
	struct sk_map numbers; /* name -> op */
	struct sk_map texts; /* library and signature of what is in the index -> the first kernel that has these */
	struct sk_op_index index;
	SK_ARRAY(struct sk_op_class) classes;
	bool advised; /* it has been said which library has kernels for models */
	uint64_t misfits; /* looks at kernels for requests that none fits: whether they fit, and how near they are */
	uint64_t steps; /* forms and kernels that have been looked at: for who counts */
};

/* Nothing is read yet: that happens at the first question, once all inputs are known. Signatures in archives are read
 * at the first question about their operator: a library has thousands, and a model asks for a few. */
void sk_ops_init(struct sk_ops *ops, struct sk_model *model, struct sk_linker *linker,
		 struct sk_record_signatures *signatures, const uint32_t *archives, size_t archive_count);

/* The kernel of the op that is what is requested, or NULL; only damaged signatures, of this op where they are in
 * archives, are errors. Of several it is one of the first library that has any: the one with the most demands, and of
 * these the one that needs the most instruction sets. Where two are equally good, there is `tied`. */
struct sk_op_kernel *sk_ops_find(struct sk_ops *ops, const char *op, const struct sk_request *request);

/* A kernel of an op that is not what is requested, or not as good as the one that is picked, and why. */
struct sk_misfit {
	const struct sk_op_kernel *kernel;
	const char *reason;
};

struct sk_misfits {
	SK_ARRAY(struct sk_misfit) items; /* the first ones: those for which the least is missing */
	uint32_t more; /* behind these */
};

/* Why no kernel of the op but `picked` has been found by sk_ops_find, in the model's arena; NULL: none has been. */
struct sk_misfits sk_ops_explain(struct sk_ops *ops, const char *op, const struct sk_request *request,
				 const struct sk_op_kernel *picked);

/* These in lines, for --explain; NULL: there is no other kernel. */
const char *sk_ops_say_others(struct sk_ops *ops, const char *op, const struct sk_request *request,
			      const struct sk_op_kernel *picked);

/* Puts into the sink that the kernel is not the only one that is picked. */
void sk_ops_report_tie(struct sk_ops *ops, const struct sk_task *task, const struct sk_op_kernel *kernel);

/* Puts that into the sink, about a task. */
void sk_ops_report_none(struct sk_ops *ops, const struct sk_task *task, const struct sk_request *request);

#endif
