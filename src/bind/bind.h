/* The kernels of tasks, their arguments, the roles of tensors, and bytes that no call writes. */
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
 * An index of operators' kernels by their demands on tensors and attributes, so that a request is compared with few of
 * them. Two kernels of an op are of one form if three things are the same: the directions, names, element types and
 * numbers of dimensions of their tensor parameters; the set of dimensions that are fixed numbers; and the attributes in
 * their conditions. They are of one class if these numbers and the required values of attributes are the same as well.
 * A request fits at most one class of a form. For optional tensors, and for conditions with real numbers and lists,
 * only the presence counts here. */

struct sk_op_form {
	const struct sk_signature *signature; /* of its first kernel */
	uint32_t next; /* of the same op; SK_NONE: the last one */
};

struct sk_op_index {
	const struct sk_model *model;
	struct sk_map names; /* of parameters and attributes, and strings that these can be -> number */
	struct sk_map form_numbers; /* words that represent op and form -> form */
	struct sk_map class_numbers; /* form, values of attributes and fixed dimensions -> class */
	SK_ARRAY(struct sk_op_form) forms;
	uint32_t class_count;
};

void sk_op_index_init(struct sk_op_index *index, const struct sk_model *model);

/* Return the form of a kernel of op number `op`. Forms are numbered from 0 on in order of appearance. A new one becomes
 * the first of its op, or `next` of *last. *last is the op's last form (SK_NONE: it has none), and is updated. */
uint32_t sk_op_index_form(struct sk_op_index *index, uint32_t op, const struct sk_signature *signature, uint32_t *last);

/* Return the class of a kernel of that form. Classes are numbered from 0 on in order of appearance. */
uint32_t sk_op_index_class(struct sk_op_index *index, uint32_t form, const struct sk_signature *signature);

/* Return the class of the form that contains all its kernels that can fit the request; SK_NONE: there is none. */
uint32_t sk_op_index_find(const struct sk_op_index *index, uint32_t form, const struct sk_request *request);

/* ==== bind.c ====
 *
 * Binding: tasks meet the signatures of their kernels. The input is the model with tensors, tasks and kernels. The
 * output is every task with its arguments in the terms of the plan, and every tensor with its role. */

/* Fill in the bound part of each task; its kernel must be set. All errors are collected; return false if there were
 * any. */
bool sk_model_bind(struct sk_model *model);

/* Return true if a kernel with this signature fits the request. Nothing is changed, and hardly any memory allocated. */
bool sk_bind_fits(struct sk_model *model, const struct sk_request *request, const struct sk_signature *signature);

/* Return how far a kernel with this signature is from the request: 0 if it fits. Sizes that do not fit count less than
 * types and attributes. Nothing is changed. */
unsigned sk_bind_distance(struct sk_model *model, const struct sk_request *request,
			  const struct sk_signature *signature);

/* Return the reason why a kernel with this signature does not fit the request, in the arena; NULL if it fits. Nothing
 * is changed. */
const char *sk_bind_reason(struct sk_model *model, const struct sk_request *request,
			   const struct sk_signature *signature);

/* Give every tensor with memory of its own a role, from its accesses by bound tasks and from the manifest. Number the
 * bindings in manifest order, and open the files of constants. Views and unused tensors keep SK_ROLE_NONE. All errors
 * are collected; return false if there were any. */
bool sk_model_assign_roles(struct sk_model *model);

/* Add the files that the manifest names and that are not inputs of the linker to the package's dependencies. */
void sk_model_add_dependencies(const struct sk_model *model, struct sk_linker *linker);

/* ==== samples.c ====
 *
 * A network with sizes with bounds, read at other sizes than the largest. */

struct sk_fit;

/* A network of the model. Its parts of the model begin at these numbers, and end where the model ends now. */
struct sk_sample_source {
	const char *network; /* NULL: the only one */
	size_t first_dimension, first_expression, first_tensor, first_task, first_slice;

	/* Return a model with the network, read for the sizes of its dimensions, with nothing bound yet; NULL after an
	 * error in its sink. The model is in the arena. Before the network's tensors it has those that precede them. */
	struct sk_model *(*read)(void *context, struct sk_arena *arena, const uint64_t *sizes);
	void *context;
};

struct sk_samples {
	struct sk_sample_source source;
	struct sk_fit *fit; /* its points are the sizes */
	size_t end_expression, end_tensor, task_count; /* of the network, before it is bound */
};

/* Choose the sizes at which the network is read again, once it is bound. The source's context lives as long as the
 * model. Return false after an error. */
bool sk_model_sample(struct sk_model *model, const struct sk_sample_source *source);

/* ==== bind-lift.c ====
 *
 * Numbers that depend on sizes with bounds. Input: a bound model with the numbers of the largest sizes, and its
 * samples. Output: the forms of the numbers that differ (struct sk_varying). */

/* Take the samples, and fill in the forms. Return false, with an error at the task or tensor, if a number has no form.
 * A model without bounds does not change. */
bool sk_model_lift(struct sk_model *model);

/* ==== idle.c ====
 *
 * Tasks that have nothing to compute because their results have no elements. Their kernels are not called, so plans do
 * not contain them. */

/* Remove the idle tasks from the bound model, and list them in model->idle. The others keep their order, also where it
 * went through an idle one. A task that comes after an idle task, or waits for an event that it records, comes after
 * all tasks that the idle one would have followed: the tasks that it names, the events that it or its stream waits for,
 * and the preceding tasks of its stream. Return false after errors. */
bool sk_model_leave_out_idle(struct sk_model *model);

/* ==== kernels.c ====
 *
 * From names in tasks to functions in objects. */

struct sk_op_kernel;

/* Return why no kernel fits the op of a task of another model, in that model's arena; NULL: *found fits. The linker
 * must know all inputs, and the model the manifest's entries on kernels. Results are kept for sk_kernels_find. No
 * archive member is pulled. */
const char *sk_kernels_missing(struct sk_model *model, struct sk_linker *linker, struct sk_model *other,
			       const struct sk_task *task, const struct sk_op_kernel **found);

/* Choose the kernel of every task: fill in model->kernels and the kernel of each task. Add the inputs that the manifest
 * names, and pull the archive members that define the kernels. All errors are collected; return false if there were
 * any. */
bool sk_kernels_find(struct sk_model *model, struct sk_linker *linker);

/* Find the code and data that the kernels reach (kernel-reach.c). Called by sk_kernels_find at its end. */
bool sk_kernels_reach(struct sk_model *model, struct sk_linker *linker);

/* ==== operators.c ====
 *
 * Operators: the kernels with op= of a name, and the one among them that fits a request. The input is the manifest's
 * declarations and the signature records of the linker's inputs. The output is a kernel's name and signature, with all
 * that a call of it needs. No archive member is pulled and the model does not change, so any request may be tried. */

/* The signatures of objects' records, by their texts: thousands of kernels share a few. */
struct sk_record_signatures {
	struct sk_model *model;
	struct sk_map texts; /* -> index in parsed */
	SK_ARRAY(const struct sk_signature *) parsed;
};

void sk_record_signatures_init(struct sk_record_signatures *signatures, struct sk_model *model);

/* Return the signature of an object's record; NULL after an error, which is reported once for each text. */
const struct sk_signature *sk_record_signature(struct sk_record_signatures *signatures,
					       const struct sk_kernel_record *record);

/* A kernel that `op:` can pick. */
struct sk_op_kernel {
	const char *name;
	const char *object; /* NULL: declared in the manifest, not looked up yet */
	uint32_t input;
	const struct sk_signature *signature;
	uint32_t declared; /* index, or SK_NONE */
	uint32_t order; /* the number of its library: the manifest is 0, and earlier libraries have smaller numbers */
	uint32_t demands; /* number of its conditions and fixed dimensions … */
	uint32_t isa_size; /* … and of the instruction sets that it needs */
	uint32_t next, alike; /* the next one of the same op, and of the same class (op-index.c); SK_NONE: none */
	uint32_t twin; /* another one of the same library with the same signature; SK_NONE: none */
	uint32_t kernel; /* for the caller: index in the model, once it has been picked; else SK_NONE */
};

struct sk_operator {
	uint32_t first, last, count; /* kernels, without those that wait */
	uint32_t waiting, last_waiting; /* the first and the last waiting record with this op; SK_NONE: none */
	uint32_t first_form, last_form; /* in the index */
};

/* A record of an archive's member. It is read at the first request for its operator. */
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
	const uint32_t *archives; /* inputs with members that are searched */
	size_t archive_count;
	bool collected; /* the fields below are set */
	bool left_out; /* there are archives with kernels that have op=, but are neither under `library:` nor given by
			* -l */
	SK_ARRAY(struct sk_waiting_kernel) waiting;
	SK_ARRAY(struct sk_op_kernel) kernels; /* of each op: declared ones first, then in the order of the inputs */
	const struct sk_op_kernel *tied; /* a kernel that fits as well as the last result of sk_ops_find; NULL: there is
					  * none */
	SK_ARRAY(const char *) names;
	SK_ARRAY(struct sk_operator) items;
	struct sk_map numbers; /* name -> op */
	struct sk_map texts; /* library and signature of kernels in the index -> the first kernel with these */
	struct sk_op_index index;
	SK_ARRAY(struct sk_op_class) classes;
	bool advised; /* the library with kernels for models has been recommended */
	uint64_t misfits; /* comparisons of kernels with requests that none fits: for fit, and for distance */
	uint64_t steps; /* visited forms and kernels, counted for tests */
};

/* Initialise the index. Nothing is read before the first request, when all inputs are known. Signatures in archives are
 * read at the first request for their operator, since a library has thousands and a model uses a few. */
void sk_ops_init(struct sk_ops *ops, struct sk_model *model, struct sk_linker *linker,
		 struct sk_record_signatures *signatures, const uint32_t *archives, size_t archive_count);

/* Return the kernel of the op that fits the request, or NULL. The only errors are damaged signatures, in archives only
 * those of this op. Among several the kernel is of the first library that has any: the one with the most demands, and
 * of these the one that needs the most instruction sets. If two are equally good, `tied` is set. */
struct sk_op_kernel *sk_ops_find(struct sk_ops *ops, const char *op, const struct sk_request *request);

/* A kernel of an op that does not fit the request, or fits less well than the chosen one, and the reason. */
struct sk_misfit {
	const struct sk_op_kernel *kernel;
	const char *reason;
};

struct sk_misfits {
	SK_ARRAY(struct sk_misfit) items; /* the nearest ones */
	uint32_t more; /* number of others */
};

/* Return why sk_ops_find has not chosen the kernels of the op except `picked`, in the model's arena; picked NULL: none
 * was chosen. */
struct sk_misfits sk_ops_explain(struct sk_ops *ops, const char *op, const struct sk_request *request,
				 const struct sk_op_kernel *picked);

/* Return these as lines for --explain; NULL: without other kernels. */
const char *sk_ops_say_others(struct sk_ops *ops, const char *op, const struct sk_request *request,
			      const struct sk_op_kernel *picked);

/* Report that another kernel fits the task equally well. */
void sk_ops_report_tie(struct sk_ops *ops, const struct sk_task *task, const struct sk_op_kernel *kernel);

/* Report that no kernel fits the task. */
void sk_ops_report_none(struct sk_ops *ops, const struct sk_task *task, const struct sk_request *request);

#endif
