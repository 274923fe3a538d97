/* The model: what the manifest and the kernel objects say, joined and checked. Every planning room reads it; each adds
 * the part that is named after it and changes nothing else. All of it lives in the link's arena. References between the
 * parts are indices (SK_NONE: none), since arrays grow while the model is built. */
#ifndef SK_MODEL_H
#define SK_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "linker/linker.h"
#include "loader/profile/profile.h"
#include "src/base/arena.h"
#include "src/base/diag.h"
#include "src/base/map.h"
#include "stubs/skplan.h"

/* ---- tensors ---- */

struct sk_tensor {
	const char *name;
	struct sk_place place; /* of its key in the manifest */
	enum sk_dtype dtype;
	uint32_t rank;
	uint64_t shape[SK_MAX_RANK];
	uint64_t elements;
	uint64_t bytes;
	enum sk_role role; /* as declared, or SK_ROLE_NONE until sk_model_assign_roles */
	bool role_declared; /* the manifest has `role:` */
	bool keeps_unwritten; /* `unwritten: keep`: what no task writes of this output stays as the caller has it */
	const char *range; /* "LOW HIGH" of random values; NULL: not given */
	struct sk_place range_place;
	uint32_t view_of; /* views: the root tensor (never itself a view); else SK_NONE */
	uint64_t view_offset; /* views: bytes from the root's start. Views are contiguous */
	const char *data; /* constants: path of the .npy file, resolved; else NULL */
	const void *contents; /* constants: the bytes, once read; owned by the model (mapped or arena) */
	uint32_t binding; /* number among inputs, outputs and inouts, in manifest order; else SK_NONE */
};

/* ---- signatures and kernels ---- */

enum { SK_MAX_FACTORS = 4, SK_MAX_PARAMETERS = 64 };

/* One dimension of a parameter: a product of names, or an integer. */
struct sk_extent {
	uint64_t constant; /* the integer; 1 where there are only names */
	uint32_t names[SK_MAX_FACTORS]; /* indices into the signature's extents */
	uint32_t name_count;
};

enum sk_parameter_kind {
	SK_PARAMETER_TENSOR, /* pointer */
	SK_PARAMETER_SCALAR, /* by value, or by reference */
	SK_PARAMETER_BLOCK,
	SK_PARAMETER_SCRATCH,
};

struct sk_parameter {
	enum sk_parameter_kind kind;
	const char *name; /* NULL for BLOCK */
	enum sk_dtype dtype;
	enum sk_access access; /* TENSOR */
	uint32_t alias_of; /* TENSOR y@x: the parameter x that y may be; else SK_NONE */
	uint32_t rank; /* TENSOR */
	struct sk_extent extents[SK_MAX_RANK];
	bool by_reference; /* SCALAR: "ref" */
	uint64_t scratch_bytes; /* SCRATCH */
};

enum sk_lane_kind { SK_LANE_ANY, SK_LANE_CUBE, SK_LANE_VECTOR, SK_LANE_MIX };

struct sk_signature {
	const char *text; /* normalised: one space where the grammar has space, no others */
	enum sk_lane_kind lane;
	enum sk_step_kind spread; /* PLAIN, BLOCKS, BLOCKS_RANGE, SPLIT */
	uint32_t spread_extent; /* SPLIT, BLOCKS_RANGE: index into extents; else SK_NONE */
	bool elementwise; /* SPLIT: every parameter that has the extent has only it */
	bool unfusible, reentrant, nontemporal, sync_all;
	bool early_wait, early_set; /* early-start=wait, set, both */
	uint32_t mix_ratio; /* MIX: vector blocks for each cube block */
	const char *aic, *aiv; /* MIX: symbols of the sides; NULL: NAME_mix_aic, NAME_mix_aiv */
	const char *op; /* op=NAME, or NULL */
	uint64_t isa; /* isa=: instruction sets, as loader/plan/isa.h has them */
	const char **extents; /* names */
	uint32_t extent_count;
	struct sk_parameter *parameters; /* in C order */
	uint32_t parameter_count;
	bool returns_status; /* -> status */
	const char *result; /* -> out NAME DTYPE; else NULL */
	enum sk_dtype result_dtype;
};

struct sk_kernel {
	const char *name; /* in the manifest */
	const char *symbol;
	struct sk_place place; /* of its entry under `kernels:`, or of the first task that uses it */
	const char *object_name; /* for messages: "lib.a(member.o)" */
	const struct sk_signature *signature;
	sk_symbol code; /* the linker's handle of the function; mix: of the cube side's */
	sk_symbol vector_code; /* mix: of the vector side's; else SK_NONE */
	uint64_t code_size, vector_code_size; /* bytes of the functions, as their symbols say */
	const uint32_t *state; /* hidden state: numbers of what is reached and kept (linker), empty if reentrant */
	size_t state_count;
	uint32_t library_state; /* the one among them that is the C library's, or SK_NONE */
	uint64_t isa; /* instruction sets that its signature and what it reaches need */
};

/* ---- tasks ---- */

/* A tensor where a task names it. */
struct sk_named_tensor {
	uint32_t tensor; /* index into tensors; SK_NONE after an error */
	struct sk_place place;
};

/* One bound argument, in the terms of the plan (stubs/skplan.h), but with a tensor instead of an address. */
struct sk_argument {
	enum sk_argument_kind kind;
	enum sk_dtype dtype;
	enum sk_access access;
	bool by_reference;
	bool of_library; /* STATE: the C library's */
	uint32_t tensor; /* POINTER, LOAD, RESULT: the root tensor (views are resolved) */
	uint64_t offset; /* bytes from the root tensor's start; SCRATCH: in the task's scratch */
	uint64_t size; /* bytes accessed */
	uint64_t element_bytes; /* per element of the task's extent; 0: shared */
	uint64_t value; /* VALUE: the bits; STATE: the state's number */
};

struct sk_set {
	const char *name; /* the scalar parameter */
	struct sk_place place;
	enum { SK_SET_INTEGER, SK_SET_FLOAT, SK_SET_EXTENT, SK_SET_TENSOR } kind;
	int64_t integer; /* also for integers up to 2^64-1, as bits */
	bool negative;
	double real;
	const char *text; /* INTEGER, FLOAT: as written; EXTENT: an extent's name */
	uint32_t tensor; /* TENSOR: index into tensors; SK_NONE after an error */
};

/* `cost:` of a task, in the terms of the plan. */
struct sk_task_cost {
	struct sk_place place;
	uint32_t count; /* 1: of the whole task; 2: of the cube side and of the vector side of a mix task */
	struct sk_plan_cost of[2];
};

struct sk_task {
	const char *name;
	struct sk_place place;
	struct sk_name kernel_name; /* `kernel:`; text NULL with op */
	struct sk_name op; /* `op:` */
	SK_ARRAY(struct sk_named_tensor) args; /* by position, or with arg_names by name */
	SK_ARRAY(struct sk_name) arg_names; /* empty: by position */
	SK_ARRAY(struct sk_set) set;
	uint32_t stream;
	SK_ARRAY(uint32_t) scopes; /* scope indices, sorted, unique: the tag set */
	bool never_fuse; /* scope: null */
	SK_ARRAY(struct sk_name) after_names, record_names, wait_names;
	uint64_t blocks; /* `blocks:`, or 0 */
	const struct sk_task_cost *cost; /* NULL: there is none */

	/* Filled by sk_model_bind: */
	uint32_t kernel; /* index into kernels */
	SK_ARRAY(uint32_t) after; /* task indices, all smaller than its own */
	SK_ARRAY(uint32_t) record, wait; /* event indices */
	struct sk_argument *arguments; /* parameters in C order, then RESULT, then STATE */
	uint32_t argument_count;
	uint64_t extent; /* SPLIT, BLOCKS_RANGE: elements of the divided extent */
	uint32_t block_count; /* BLOCKS, BLOCKS_RANGE; mix: of the cube side */
	uint64_t scratch_size; /* bytes, each piece 64-byte aligned */
	uint32_t lane; /* index into the device's lanes; mix: the cube side's, the vector side has the last one */
};

struct sk_event {
	const char *name;
};

/* strict-scope-check: what is done where a scope cannot be fused whole. The greater one wins. */
enum sk_strict_check {
	SK_STRICT_NONE, /* it is split */
	SK_STRICT_BYPASS, /* it is not fused at all */
	SK_STRICT_ABORT, /* the link fails */
};

typedef SK_ARRAY(struct sk_name) sk_names;

/* What a scope's options say about its superkernels; all 0 where they say nothing. */
struct sk_launch_options {
	uint32_t func_align;
	uint32_t preload; /* enum sk_preload */
	uint32_t split_mode;
	uint32_t cube_cores, vector_cores; /* debug-aic-num, debug-aiv-num */
	bool sync_all, flush_all; /* debug-sync-all, debug-dcci-all */
	bool profiling;
	bool debug; /* compile-options=-g */
	struct sk_place cube_place, vector_place, split_place, debug_place; /* of these options */
	/* The dcci lists: names of kernels, or of what they compute (op=). */
	sk_names flush_before, flush_after, flush_never;
};

struct sk_scope {
	const char *name;
	struct sk_place place;
	bool declared; /* it stands under `scopes` */
	bool stream_fusion; /* stream-fusion=1 */
	enum sk_strict_check strict;
	struct sk_launch_options launch;
	bool starts_late; /* early-start=0 or 2 */
	bool feeds_sync_all; /* feed-sync-all=1 */
};

/* A kernel that the manifest declares for an object without signature. */
struct sk_declared_kernel {
	const char *name;
	struct sk_place place;
	struct sk_name symbol; /* text NULL: same as name */
	struct sk_name object; /* as written; text NULL: any input */
	struct sk_name signature; /* text NULL: it must be in the object */
	const struct sk_signature *parsed; /* of `signature` */
};

struct sk_model {
	struct sk_arena *arena;
	struct sk_diag *diag;
	const char *manifest; /* path, as given */
	const char *directory; /* the manifest's folder: paths in it are relative to this */
	const char *root; /* paths in it that start with a slash are relative to this; "" if nobody says otherwise */
	const struct sk_profile *device;
	const char *device_file; /* its path, resolved; NULL: it is built in */

	SK_ARRAY(struct sk_tensor) tensors;
	SK_ARRAY(struct sk_declared_kernel) declared;
	SK_ARRAY(struct sk_kernel) kernels; /* those that tasks use, in order of first use */
	SK_ARRAY(struct sk_task) tasks; /* in network order */
	SK_ARRAY(struct sk_scope) scopes;
	SK_ARRAY(struct sk_event) events;
	SK_ARRAY(struct sk_name) libraries; /* `library:`: archives that `op:` searches */
	struct sk_map tensor_names, declared_names, kernel_names, task_names, scope_names, event_names;
	uint32_t binding_count;
	uint64_t isa; /* instruction sets that the kernels and the constructors of their objects need */
};

/* An empty model in the arena. */
struct sk_model *sk_model_create(struct sk_arena *arena, struct sk_diag *diag);

/* A path from the manifest, resolved against its folder. In the arena. */
const char *sk_model_path(const struct sk_model *model, const char *path);

/* "[64, 1024]" in the arena, for messages. */
const char *sk_shape_text(struct sk_arena *arena, uint32_t rank, const uint64_t *shape);

/* Looking for a similar name among very many, very often, would let a hostile manifest hang: there are no suggestions
 * for errors behind the first ones, nor among names behind the first ones. */
enum { SK_MAX_SUGGESTIONS = 20, SK_MAX_CANDIDATES = 20000 };

/* "; did you mean 'x'?" or "", for the name of one of `count` items: `first` is the name of the first one, and the
 * others follow at that distance in bytes. */
const char *sk_suggest_name(const struct sk_model *model, const char *name, const char *const *first, size_t count,
			    size_t stride);

/* The same for an array of structs that have a `name`. */
#define SK_SUGGEST_NAME(model, misspelt, items, count)                                                                 \
	sk_suggest_name((model), (misspelt), (count) ? &(items)->name : NULL, (count), sizeof(*(items)))

#endif
