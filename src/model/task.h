/* Tasks: what the manifest says of each, and what binding makes of that; and the kernels that they call. */
#ifndef SK_TASK_H
#define SK_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "format/signature/attribute.h"
#include "format/signature/number.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "format/skrows.h"
#include "linker/linker.h"

/* ---- kernels ---- */

/* A kernel that the manifest declares for an object without signature. */
struct sk_declared_kernel {
	const char *name;
	struct sk_place place;
	struct sk_name symbol; /* text NULL: same as name */
	struct sk_name object; /* as written; text NULL: any input */
	const struct sk_signature *parsed; /* its signature; NULL: it must be in the object */
};

struct sk_kernel {
	const char *name; /* in the manifest */
	const char *symbol;
	struct sk_place place; /* of its entry under `kernels:`, or of the first task that uses it */
	const char *object_name; /* for messages: "lib.a(member.o)" */
	const struct sk_signature *signature;
	sk_symbol code; /* the linker's handle of the function; mix: of the cube side's */
	sk_symbol vector_code; /* mix: of the vector side's; else SK_NONE */
	bool imported; /* the function is the C library's, or another one's that packages import from */
	uint64_t code_size, vector_code_size; /* bytes of the functions, as their symbols say */
	const uint32_t *symbols; /* by symbol of the signature: its index in the model's */
	const uint32_t *state; /* hidden state: numbers of what is reached and kept (linker), empty if reentrant */
	size_t state_count;
	uint32_t library_state; /* the one among them that is the C library's, or SK_NONE */
	uint64_t isa; /* instruction sets that its signature and what it reaches need */
};

/* What signatures take the address of. */
struct sk_handed_symbol {
	const char *name;
	sk_symbol symbol; /* the linker's handle */
};

/* ---- tasks ---- */

/* Where something of a task stands, in the file in which the task does: sk_task_place makes a place of it. */
struct sk_spot {
	uint32_t line, column;
};

/* A tensor where a task names it. */
struct sk_named_tensor {
	uint32_t tensor; /* index into tensors; SK_NONE where none is passed, and after an error */
	struct sk_spot spot;
};

/* A name where a task has it. */
struct sk_named {
	const char *text; /* NULL: it has none */
	struct sk_spot spot;
};

/* One bound argument, in the terms of the plan (format/skplan.h), but with a tensor instead of an address. */
struct sk_argument {
	enum sk_argument_kind kind : 8;
	enum sk_dtype dtype : 8;
	enum sk_access access : 8;
	bool by_reference : 1;
	bool by_value : 1; /* SCRATCH: the bytes themselves are passed, a struct */
	bool of_library : 1; /* STATE: the C library's */
	bool is_field : 1; /* stored in the task's scratch in front of each call, at `field` */
	bool is_status : 1; /* VALUE by reference: what the kernel leaves there is a status */
	bool whole : 1; /* POINTER: divided, but passed as it is */
	uint32_t tensor; /* POINTER, LOAD, RESULT: the root tensor (views are resolved) */
	uint64_t offset; /* bytes from the root tensor's start; SCRATCH: in the task's scratch */
	uint64_t size; /* bytes accessed */
	uint64_t element_bytes; /* per element of the task's extent; 0: shared */
	uint64_t value; /* VALUE, EXPRESSION: the bits; STATE: the state's number; SYMBOL: the model's; by value: the
			   parts that hold floats alone */
	const struct sk_plan_term *terms; /* EXPRESSION */
	uint32_t term_count;
	uint32_t field;
	const struct sk_attribute *list; /* POINTER: to the numbers of this list, which are a constant's; else NULL */
	const struct sk_plan_pattern *pattern; /* POINTER: NULL: there is none */
};

/* The bytes of the root tensor that an argument with an address accesses. */
static inline struct sk_rows sk_argument_rows(const struct sk_argument *argument)
{
	const struct sk_plan_pattern *pattern = argument->pattern;

	if (pattern && pattern->count > 1)
		return (struct sk_rows){argument->offset, pattern->width, pattern->stride, pattern->count};
	return (struct sk_rows){argument->offset, argument->size, 0, 1};
}

struct sk_set {
	const char *name; /* the scalar parameter */
	struct sk_place place;
	enum { SK_SET_NUMBER, SK_SET_EXTENT, SK_SET_TENSOR } kind;
	struct sk_number number; /* NUMBER */
	const char *text; /* NUMBER: as written; EXTENT: an extent's name */
	uint32_t tensor; /* TENSOR: index into tensors; SK_NONE after an error */
};

/* `cost:` of a task, in the terms of the plan. */
struct sk_task_cost {
	struct sk_place place;
	uint32_t count; /* 1: of the whole task; 2: of the cube side and of the vector side of a mix task */
	struct sk_plan_cost of[2];
};

struct sk_task {
	/* What planning reads again and again is side by side. Filled by sk_model_bind: */
	struct sk_argument *arguments; /* parameters in C order, then RESULT, then STATE */
	uint32_t argument_count;
	uint32_t kernel; /* index into kernels */
	uint32_t lane; /* index into the device's lanes; mix: the cube side's, the vector side has the last one */
	uint32_t block_count; /* BLOCKS, BLOCKS_RANGE; mix: of the cube side */
	uint64_t extent; /* SPLIT, BLOCKS_RANGE: elements of the divided extent */
	uint32_t loop_count;
	bool idle; /* it has nothing to compute: its arguments are what it would access, and it is left out (idle.h) */

	/* Of the manifest: */
	bool never_fuse; /* scope: null */
	bool once; /* run for an instance once, and launched by itself */
	bool explained; /* --explain asks for it */
	bool directed; /* not by position: the first `input_count` args are what it reads, the others what it writes */
	uint32_t stream;
	SK_SMALL_ARRAY(uint32_t) scopes; /* scope indices, sorted, unique: the tag set */

	const char *name;
	SK_SMALL_ARRAY(uint32_t) after; /* task indices, all smaller than its own */
	SK_SMALL_ARRAY(uint32_t) record, wait; /* event indices */
	uint32_t composite; /* of `composites` in the model, plus 1: tile groups have tasks of one; 0: of none that
			       holds */
	uint32_t input_count;
	struct sk_plan_loop loops[SK_MAX_LOOPS];
	uint64_t scratch_size; /* bytes, each piece 64-byte aligned */
	uint64_t operations; /* that the kernel's signature says; 0: it says none */
	const struct sk_task_cost *cost; /* NULL: there is none */

	struct sk_place place;
	struct sk_named kernel_name; /* `kernel:`; text NULL with op */
	struct sk_named op; /* `op:` */
	const char *network; /* of a model's node: the one of several networks that it is in; NULL: there is one */
	const char *origin; /* of a model's node: the operator as the model calls it; NULL: it is a manifest's task */
	const char *rule; /* of a model's node: the rule that has made it; NULL: none has */
	SK_SMALL_ARRAY(struct sk_named_tensor) args; /* by position, or with arg_names by name */
	SK_SMALL_ARRAY(struct sk_name) arg_names; /* empty: by position */
	SK_SMALL_ARRAY(struct sk_attribute) attributes;
	SK_SMALL_ARRAY(struct sk_set) set;
	struct sk_task_names
		*names; /* of tasks and events, for the manifest's reader to resolve; NULL: there are none */
	uint64_t blocks; /* `blocks:`, or 0 */
	sk_texts refusals; /* of a model's node: which rules have not expanded it, and why */
	const char *others; /* of its op: lines on the kernels that were not picked; NULL: nobody asks, or none */
};

static inline struct sk_spot sk_spot_of(struct sk_place place)
{
	return (struct sk_spot){place.line, place.column};
}

static inline struct sk_place sk_task_place(const struct sk_task *task, struct sk_spot spot)
{
	struct sk_place place = task->place;

	place.line = spot.line;
	place.column = spot.column;
	return place;
}

/* A task that has been left out, since it has nothing to compute. */
struct sk_idle_task {
	const char *name;
	struct sk_place place;
};

/* ---- nodes of a model that split or join ---- */

/* A part of what such a node splits or joins, which is bytes of the other one. */
struct sk_node_part {
	const char *name; /* of its value */
	uint32_t tensor; /* the root tensor, */
	uint64_t offset, bytes; /* and where in it */
	uint32_t outer; /* the slice that it is a part of, or SK_NONE */
};

struct sk_virtual_node {
	const char *name;
	struct sk_place place;
	const char *op; /* as the model calls it */
	bool joins;
	bool no_task; /* nothing is called for it */
	sk_texts refusals; /* why something is */
	uint32_t first_slice, slice_count; /* those of its parts that are slices */
};

struct sk_event {
	const char *name;
};

#endif
