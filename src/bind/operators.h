/* Operators: which kernels say op= a name, and which of them is what a request wants. In: the manifest's declarations
 * and the signature records of the linker's inputs. Out: a kernel's name and signature, which says all that a call of
 * it needs. Nothing is pulled and the model does not change, so that whoever wants to know may ask. */
#ifndef SK_OPERATORS_H
#define SK_OPERATORS_H

#include "format/signature/signature.h"
#include "src/bind/op-index.h"
#include "src/bind/request.h"
#include "src/model/model.h"
#include "src/model/task.h"

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
	uint32_t next, alike; /* the next one of the same op, of the same class (op-index.h); SK_NONE: none */
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
