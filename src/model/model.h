/* The model of a link: tensors, tasks, scopes, networks; the sides of a task, and the units of a division. */
#ifndef SK_SRC_MODEL_MODEL_H
#define SK_SRC_MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/map.h"
#include "format/profile/profile.h"
#include "format/signature/signature.h"
#include "format/skdims.h"
#include "format/skplan.h"
#include "format/skrows.h"
#include "linker/linker.h"

struct sk_arena;
struct sk_exchange;
struct sk_kernel_finder;
struct sk_rank_groups;
struct sk_size;
struct sk_samples;
struct sk_sizes;
struct sk_task_names;

/* ==== sizes ====
 *
 * Numbers that depend on sizes with bounds. All numbers of the model are those of the largest sizes. */

/* A field of the plan's records for a tensor, an argument, or a task, which has a form. */
struct sk_varying_field {
	enum sk_dims_table table; /* LISTS: of the argument; TERMS, LOOPS: of its or the task's record number … */
	uint32_t record; /* … this one; else 0 */
	uint32_t offset; /* of the field in its record */
	const struct sk_size *size;
};

struct sk_varying {
	uint32_t count;
	struct sk_varying_field fields[];
};

/* Return the form of a field; NULL: the number holds at all sizes. varying may be NULL. */
static inline const struct sk_size *sk_varying_find(const struct sk_varying *varying, enum sk_dims_table table,
						    size_t offset)
{
	for (uint32_t i = 0; varying && i < varying->count; i++)
		if (varying->fields[i].table == table && varying->fields[i].offset == offset)
			return varying->fields[i].size;
	return NULL;
}

/* ==== scope ====
 *
 * Scopes: the tasks that one superkernel is to run, and its options. Each task lists its scopes. */

/* strict-scope-check: the reaction if a scope cannot be fused whole. If several apply, the greatest wins. */
enum sk_strict_check {
	SK_STRICT_NONE, /* the scope is split */
	SK_STRICT_BYPASS, /* none of its tasks is fused */
	SK_STRICT_ABORT, /* the link fails */
};

typedef SK_ARRAY(struct sk_name) sk_names;

/* The options of a scope about its superkernels; a field is 0 if its option is not given. */
struct sk_launch_options {
	uint32_t func_align;
	uint32_t preload; /* enum sk_preload */
	uint32_t split_mode;
	uint32_t cube_cores, vector_cores; /* debug-aic-num, debug-aiv-num */
	bool sync_all, flush_all; /* debug-sync-all, debug-dcci-all */
	bool profiling;
	bool no_tile_fusion; /* tile-fusion=0 */
	bool no_parallel_fusion; /* parallel-fusion=0 */
	bool stream_order; /* stream-order=1: the list's order is kept */
	uint32_t tile_bytes; /* tile-bytes: of all memory that a tile's calls touch; 0: sklink chooses */
	bool debug; /* compile-options=-g */
	struct sk_place cube_place, vector_place, split_place, debug_place; /* of these options */
	/* The dcci lists: names of kernels, or of their operators (op=). */
	sk_names flush_before, flush_after, flush_never;
};

struct sk_scope {
	const char *name;
	const char *base; /* if there are several networks: the scope's name within its network; NULL: there is one
			   * network */
	const char *symbol; /* replaces the name in symbols of its launches; NULL: the name is used */
	struct sk_place place;
	bool declared; /* it is listed under `scopes` */
	bool has_options; /* `options:` */
	bool stream_fusion; /* stream-fusion=1 */
	enum sk_strict_check strict;
	struct sk_launch_options launch;
	bool starts_late; /* early-start=0 or 2 */
	bool feeds_sync_all; /* feed-sync-all=1 */
	bool no_exchange_fusion; /* exchange-fusion=0 */
};

/* ==== model file ====
 *
 * The model file that a manifest names, and the manifest's settings for it. Texts are as on the command line. */

/* A size for dimensions that the model calls by a name. */
struct sk_dimension {
	const char *network; /* the set that gives it; NULL: it holds for all networks */
	struct sk_name size; /* NAME=N */
};

typedef SK_ARRAY(struct sk_dimension) sk_dimensions;

struct sk_graph_file {
	struct sk_name path; /* resolved; NULL: the manifest names no model */
	sk_names shapes, frozen, states; /* NAME=VALUE */
	sk_dimensions dimensions; /* those of one set are adjacent */
	sk_names scopes; /* NAME=PATTERN */
	struct sk_name fusion; /* flags of graph-kernel fusion; NULL: none are given */
	struct sk_name switches; /* path of a file of switches, resolved; NULL: none */
	sk_names rules; /* paths of files of rules, resolved */
	bool no_patterns; /* "pattern_fusion_pass: false" */
	bool fusion_in_line; /* the flags are in the manifest itself, from that place on */
};

/* ==== task ====
 *
 * Tasks: the manifest's description of each, the results of binding it, and the kernels that tasks call. */

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
	sk_symbol code; /* the linker's handle of the function; mix: of the cube side's function */
	sk_symbol vector_code; /* mix: of the vector side's function; else SK_NONE */
	bool imported; /* the function is in the C library, or in another library that packages import from */
	uint64_t code_size, vector_code_size; /* bytes of the functions, as given by their symbols */
	const uint32_t *symbols; /* by symbol of the signature: its index among the model's symbols */
	const uint32_t *state; /* hidden state: the linker's numbers of the sections that are reached and kept, empty if
				* reentrant */
	size_t state_count;
	uint32_t library_state; /* the number among them of the C library's state, or SK_NONE */
	uint64_t isa; /* instruction sets needed by its signature or by the code that it reaches */
};

/* A symbol of which signatures take the address. */
struct sk_handed_symbol {
	const char *name;
	sk_symbol symbol; /* the linker's handle */
};

/* ---- tasks ---- */

/* The place of a task's detail, in the same file as the task. sk_task_place makes a struct sk_place of it. */
struct sk_spot {
	uint32_t line, column;
};

/* A tensor, and the place where a task names it. */
struct sk_named_tensor {
	uint32_t tensor; /* index into tensors; SK_NONE if none is passed, and after an error */
	struct sk_spot spot;
};

/* A name, and the place where a task gives it. */
struct sk_named {
	const char *text; /* NULL: it is not given */
	struct sk_spot spot;
};

/* One bound argument, in the terms of the plan (format/skplan.h), but with a tensor instead of an address. */
struct sk_argument {
	enum sk_argument_kind kind : 8;
	enum sk_dtype dtype : 8;
	enum sk_access access : 8;
	bool by_reference : 1;
	bool by_value : 1; /* SCRATCH: the bytes themselves are passed, as a struct */
	bool of_library : 1; /* STATE: of the C library */
	bool is_field : 1; /* stored in the task's scratch before each call, at `field` */
	bool is_status : 1; /* VALUE by reference: the value that the kernel leaves there is a status */
	bool whole : 1; /* POINTER: the task is divided, but the pointer is passed unchanged */
	int32_t displacement; /* POINTER: bytes that are added to the address that is passed; accesses do not count
			       * them */
	uint32_t tensor; /* POINTER, LOAD, RESULT: the root tensor (views are resolved) */
	uint64_t offset; /* bytes from the root tensor's start; SCRATCH: in the task's scratch */
	uint64_t size; /* bytes accessed */
	uint64_t element_bytes; /* per element of the task's extent; 0: shared */
	uint64_t value; /* VALUE, EXPRESSION: the bits; STATE: the state's number; SYMBOL: the model's number; by value:
			 * the parts that hold floats alone */
	const struct sk_plan_term *terms; /* EXPRESSION */
	uint32_t term_count;
	uint32_t field;
	const struct sk_attribute *list; /* POINTER: the list of numbers that it points to, as a constant; else NULL */
	bool of_sizes; /* the list depends on sizes: the call gets the model's `size_lists` from `slot` on; the constant
			* is that of the largest sizes */
	uint32_t slot;
	const struct sk_plan_pattern *pattern; /* POINTER; NULL: there is none */
	const struct sk_varying *varying; /* NULL: nothing depends on sizes */
};

/* Return the bytes of the root tensor that an argument with an address accesses. */
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

/* `cost:` of a task, with the plan's terms. */
struct sk_task_cost {
	struct sk_place place;
	uint32_t count; /* 1: for the whole task; 2: for the cube side and for the vector side of a mix task */
	bool computed; /* from the kernel's signature and the arguments */
	struct sk_plan_cost of[2];
	const struct sk_varying *varying[2]; /* of each; NULL: nothing depends on sizes */
};

/* The description of a task from the manifest or from the reader of a model. Only the reader and binding change it:
 * binding moves entries of tasks that it leaves out to other tasks (src/bind/idle.c), and replaces tensors that it has
 * copied (src/bind/unaligned.c). Later passes only read it. */
struct sk_task_said {
	bool never_fuse; /* scope: null */
	bool once; /* run once for an instance, and launched by itself */
	bool directed; /* not by position: the task reads its first `input_count` args and writes the others */
	uint32_t stream;
	SK_SMALL_ARRAY(uint32_t) scopes; /* scope indices, sorted, unique: the tag set */
	SK_SMALL_ARRAY(uint32_t) after; /* task indices, all smaller than its own */
	SK_SMALL_ARRAY(uint32_t) record, wait; /* event indices */
	uint32_t composite; /* index into the model's `composites`, plus 1: a tile group has tasks of one composite; 0:
			     * in none */
	uint32_t input_count;
	const struct sk_task_cost *cost; /* NULL: not given */
	struct sk_named kernel_name; /* `kernel:`; text NULL with op */
	struct sk_named op; /* `op:` */
	const char *network; /* of a model's node: the network that it is in, if there are several; NULL: there is
			      * one */
	SK_SMALL_ARRAY(struct sk_named_tensor) args; /* by position, or with arg_names by name */
	SK_SMALL_ARRAY(struct sk_name) arg_names; /* empty: by position */
	SK_SMALL_ARRAY(struct sk_attribute) attributes;
	SK_SMALL_ARRAY(struct sk_set) set;
	struct sk_task_names *names; /* of tasks and events, for the manifest's reader to resolve; NULL: none */
	uint64_t blocks; /* `blocks:`, or 0 */
	const struct sk_exchange *exchange; /* between ranks, that the task stands for; NULL: it computes */
};

/* The results of binding: the task's kernel, and how it is called. */
struct sk_task_bound {
	struct sk_argument *arguments; /* parameters in C order, then RESULT, then STATE */
	uint32_t argument_count;
	uint32_t kernel; /* index into kernels */
	uint32_t lane; /* index into the device's lanes; mix: the cube side's lane, the vector side has the device's
			* last lane */
	uint32_t block_count; /* BLOCKS, BLOCKS_RANGE; mix: of the cube side */
	uint64_t extent; /* SPLIT, BLOCKS_RANGE: elements of the divided extent */
	uint32_t loop_count;
	bool idle; /* it has nothing to compute: its arguments describe the accesses it would make, and binding leaves
		    * it out (src/bind/bind.h) */
	struct sk_plan_loop loops[SK_MAX_LOOPS];
	uint64_t scratch_size; /* bytes, each piece 64-byte aligned */
	uint64_t operations; /* number of operations by the kernel's signature; 0: not given */
	const struct sk_varying *varying; /* its extent (STEPS) and those of its loops; NULL: they do not depend on
					   * sizes */
	bool sized; /* a number of its own or of its arguments depends on sizes */
};

/* Facts about a task for reports and messages. A package contains them only in its account. */
struct sk_task_told {
	bool explained; /* --explain asks for it */
	const char *origin; /* of a model's node: the operator's name in the model; NULL: it is a manifest's task */
	const char *rule; /* of a model's node: the rule that has made it; NULL: none */
	sk_texts refusals; /* of a model's node: the rules that have not expanded it, and why */
	const char *others; /* of its op: lines on the kernels that were not picked; NULL: not asked for, or none */
};

struct sk_task {
	struct sk_task_bound bound; /* first, since planning reads it most often */
	const char *name;
	struct sk_place place;
	struct sk_task_said said;
	struct sk_task_told told;
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

/* Return the form of the task's extent; NULL: it is a number. */
static inline const struct sk_size *sk_task_extent_size(const struct sk_task *task)
{
	return sk_varying_find(task->bound.varying, SK_DIMS_STEPS, offsetof(struct sk_plan_step, extent));
}

/* A task that has been left out because it has nothing to compute. */
struct sk_idle_task {
	const char *name;
	struct sk_place place;
};

/* ---- nodes of a model that split or join ---- */

/* A part of the value that such a node splits or joins, stored in the same bytes. */
struct sk_node_part {
	const char *name; /* of its value */
	uint32_t tensor; /* the root tensor, */
	uint64_t offset, bytes; /* and its bytes there */
	uint32_t outer; /* the slice that it is a part of, or SK_NONE */
};

struct sk_virtual_node {
	const char *name;
	struct sk_place place;
	const char *op; /* its name in the model */
	bool joins;
	bool no_task; /* no kernel is called for it */
	sk_texts refusals; /* if one is: the reasons */
	uint32_t first_slice, slice_count; /* the parts that are slices */
};

struct sk_event {
	const char *name;
};

/* ==== tensor ====
 *
 * A tensor of the model: its description in the manifest, and facts derived from that. */

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
	bool keeps_unwritten; /* `unwritten: keep`: bytes of this output that no task writes keep the caller's
			       * contents */
	const char *range; /* "LOW HIGH" of random values; NULL: not given */
	struct sk_place range_place;
	uint32_t view_of; /* views: the root tensor (never itself a view); else SK_NONE */
	uint64_t view_offset; /* views: bytes from the root's start */
	uint32_t slice; /* views: the innermost slice that contains it, plus 1; 0: none */
	bool reshaped; /* views: the dimensions are not ranges of the root's */
	struct sk_rows rows; /* views with gaps: several rows, in bytes of the root; count 0: without gaps */
	uint64_t padding; /* bytes of room after it: the most that a task over-reads */
	const char *data; /* constants: path of the .npy file, resolved; NULL: the manifest has the contents */
	bool filled; /* constants: every element has these bits */
	uint64_t fill;
	const void *contents; /* constants: the bytes, once read; owned by the model (mapped or arena) */
	uint32_t binding; /* number among inputs, outputs and inouts, in manifest order; else SK_NONE */
	const struct sk_size *const *sizes; /* of a value of a graph with bounds, by dimension: its size, or NULL;
					     * NULL: no size is known */
	const struct sk_varying *varying; /* its type's fields; NULL: they do not depend on sizes */
};

/* Return the distance from the first byte to the end of the last one. */
static inline uint64_t sk_tensor_span(const struct sk_tensor *tensor)
{
	return tensor->rows.count ? sk_rows_end(&tensor->rows) - tensor->rows.start : tensor->bytes;
}

/* ==== model.c ====
 *
 * The model: the contents of the manifest and of the kernel objects, joined and checked. Every planning room reads it,
 * fills in its own part, and changes nothing else. All of it is in the link's arena. The parts refer to each other by
 * index (SK_NONE: none), since arrays grow while the model is built. */

/* Dimensions of a network with bounds: more have too many products to look for (src/bind/fit.c). */
enum { SK_MOST_BOUNDED = 8 };

struct sk_model {
	struct sk_arena *arena;
	struct sk_diag *diag;
	const char *manifest; /* path, as given */
	const char *directory; /* the manifest's folder: paths in it are relative to this */
	const char *root; /* paths in it that begin with a slash are relative to this; "" if none is given */
	const struct sk_profile *device;
	const char *package; /* the package's name, as a part of a C identifier; NULL: it is called after its first
			      * launch */
	bool names_launches; /* launches of a model that have no name of their own are called after the package */
	const char *device_file; /* its path, resolved; NULL: it is built in */

	/* Sizes with bounds. All numbers are those at the sizes `sizes_at`: the largest ones, except in samples
	 * (src/bind/bind.h). */
	struct sk_sizes *sizes; /* its dimensions; NULL: it has none */
	const uint64_t *sizes_at; /* by dimension */
	bool has_bounds; /* a dimension has several sizes */
	bool is_sample; /* it is such a model at other sizes */
	SK_ARRAY(const struct sk_size *) size_expressions; /* those in its texts, or of the values of its graph */
	SK_ARRAY(const struct sk_size *) size_lists; /* elements of lists that calls read */
	SK_ARRAY(struct sk_samples *) samples; /* of each network with bounds */
	sk_texts given_sizes; /* of the command line: NAME=BOUNDS */

	struct sk_rank_groups *ranks; /* that run the package together; NULL: it is for one process */

	struct sk_graph_file graph; /* the source of its tensors and tasks, if the manifest names a model */
	sk_texts grown; /* sentences on constants of model files that are larger than what they are computed from */
	sk_texts unused; /* names of inputs of model files that nothing uses, which are not tensors */
	SK_ARRAY(struct sk_tensor) tensors;
	SK_ARRAY(struct sk_declared_kernel) declared;
	SK_ARRAY(struct sk_kernel) kernels; /* those that tasks use, in order of first use */
	SK_ARRAY(struct sk_handed_symbol) symbols; /* in order of first use */
	SK_ARRAY(struct sk_task) tasks; /* in network order */
	SK_ARRAY(struct sk_idle_task) idle; /* tasks that have been left out of `tasks` */
	SK_ARRAY(struct sk_virtual_node) virtual_nodes; /* of models, in their order */
	SK_ARRAY(struct sk_node_part) slices;
	sk_texts composites; /* names of the composites of graph-kernel fusion; NULL: a node that is in none */
	SK_ARRAY(struct sk_scope) scopes;
	SK_ARRAY(struct sk_event) events;
	SK_ARRAY(struct sk_name) libraries; /* `library:`: archives that `op:` searches */
	struct sk_map tensor_names, declared_names, kernel_names, task_names, scope_names, event_names;
	struct sk_map idle_scopes; /* of scopes that contain nodes of the model file, but no task */
	uint32_t binding_count;
	struct sk_file_draft draft; /* constants that have been computed, at their offset in the output if at most
				     * `start` bytes precede them */
	struct sk_kernel_finder
		*finder; /* facts about kernels that are needed before there are tasks (src/bind/bind.h) */
	uint64_t isa; /* instruction sets needed by the kernels or by the constructors of their objects */
	uint64_t allowed_isa; /* that kernels picked by `op:` may need */
};

/* Create an empty model in the arena. */
struct sk_model *sk_model_create(struct sk_arena *arena, struct sk_diag *diag);

/* Record the file that the model is made from, for messages and as the base of relative paths. */
void sk_model_set_file(struct sk_model *model, const char *path);

/* Return a path from the manifest, resolved against the manifest's folder. It is in the arena. */
const char *sk_model_path(const struct sk_model *model, const char *path);

/* Return a function of the kernel or a symbol of which it gets the address, by number; SK_NONE after the last one. */
sk_symbol sk_kernel_root(const struct sk_model *model, const struct sk_kernel *kernel, uint32_t number);

/* Return a text such as "[64, 1024]" in the arena, for messages. */
const char *sk_shape_text(struct sk_arena *arena, uint32_t rank, const uint64_t *shape);

/* Comparing each of very many names with very many others would let a hostile manifest hang the link. So only the first
 * errors get a suggestion, and only the first names are compared. */
enum { SK_MAX_SUGGESTIONS = 20, SK_MAX_CANDIDATES = 20000 };

/* Return "; did you mean 'x'?" or "", for the name of one of `count` items. `first` is the address of the first item's
 * name; `stride` is the distance in bytes to the name of the next item. */
const char *sk_suggest_name(const struct sk_model *model, const char *name, const char *const *first, size_t count,
			    size_t stride);

/* The same for an array of structs that have a `name`. */
#define SK_SUGGEST_NAME(model, misspelt, items, count)                                                                 \
	sk_suggest_name((model), (misspelt), (count) ? &(items)->name : NULL, (count), sizeof(*(items)))

/* ==== ranks.c ====
 *
 * Ranks: the processes that run the package together, their groups, and the exchanges of data between them. */

/* Set the number of ranks, with the group "world" of all of them; false after an error. It may be set twice to the same
 * number. */
bool sk_model_set_ranks(struct sk_model *model, uint64_t ranks, struct sk_place place);

/* Add a group. Text: the numbers of all ranks in its parts, such as "0,1/2,3". False after an error. */
bool sk_model_add_group(struct sk_model *model, const char *name, const char *text, struct sk_place place);

/* Return the number of the group of that name; SK_NONE: there is none. */
uint32_t sk_model_find_group(const struct sk_model *model, const char *name);

/* Let each exchange come after the one before it: all ranks must start them in one order. */
void sk_model_order_exchanges(struct sk_model *model);

/* ==== usual.c ====
 *
 * Numbers that depend on sizes with bounds: at the usual sizes, for choices of speed; and products of them, compared
 * for all sizes. */

/* A number at the largest sizes, and its form; NULL: it does not depend on sizes. */
struct sk_sized_number {
	uint64_t number;
	const struct sk_size *size;
};

/* Return the form of a field of an argument in the plan's lists; NULL: it is a number. */
static inline const struct sk_size *sk_argument_size(const struct sk_argument *argument, size_t offset)
{
	return sk_varying_find(argument->varying, SK_DIMS_LISTS, offset);
}

#define SK_ARGUMENT_SIZE(argument, field) sk_argument_size((argument), offsetof(struct sk_plan_argument, field))

/* Return the form, or that of the number if it is NULL. The model has bounds. */
const struct sk_size *sk_number_size(const struct sk_model *model, const struct sk_size *size, uint64_t number);

/* Return the form's number at the usual sizes, or the number if the form is NULL. */
uint64_t sk_usual_number(const struct sk_model *model, const struct sk_size *size, uint64_t number);

/* The same for the extent that the task divides, and for the bytes of one of its elements. */
uint64_t sk_usual_extent(const struct sk_model *model, const struct sk_task *task);
uint64_t sk_usual_element_bytes(const struct sk_model *model, const struct sk_argument *argument);

/* True if a * b and c * d are certainly equal at all sizes. */
bool sk_products_equal(const struct sk_model *model, struct sk_sized_number a, struct sk_sized_number b,
		       struct sk_sized_number c, struct sk_sized_number d);

static inline struct sk_sized_number sk_plain_number(uint64_t value)
{
	return (struct sk_sized_number){value, NULL};
}

static inline struct sk_sized_number sk_sized_extent_of(const struct sk_task *task)
{
	return (struct sk_sized_number){task->bound.extent, sk_task_extent_size(task)};
}

static inline struct sk_sized_number sk_sized_element_of(const struct sk_argument *argument)
{
	return (struct sk_sized_number){argument->element_bytes, SK_ARGUMENT_SIZE(argument, element_bytes)};
}

/* ==== sides.c ====
 *
 * Sides: the calls of a task's kernel that run at the same time, with their lane, number and function. A task has one
 * side. A mix task has two, the cube side and the vector side, which work together and so must run at the same time. */

enum { SK_MAX_SIDES = 2 };

struct sk_side {
	uint32_t lane;
	uint32_t blocks; /* BLOCKS, BLOCKS_RANGE; else 0 */
	uint32_t first_core; /* of the lane: the core that has block 0 */
	uint16_t flags; /* SK_STEP_RESIDENT, …_SIDE, EARLY_… */
};

/* Return the SK_STEP_EARLY_… flags of kernels with this signature, before options change them. */
uint16_t sk_signature_early(const struct sk_signature *signature);

/* Fill in the sides of a bound task, the cube side first, and return their number. On a device with one lane the vector
 * blocks have the cores after those of the cube blocks. */
uint32_t sk_task_sides(const struct sk_model *model, uint32_t task, struct sk_side sides[SK_MAX_SIDES]);

/* Return the number of (cube) blocks of a `mix` task that does not give one. */
uint32_t sk_mix_default_blocks(const struct sk_profile *device, uint32_t ratio);

/* Count the cores of each lane that the calls of the task keep busy on the device; 0: it does not run there. */
void sk_task_cores(const struct sk_model *model, uint32_t task, uint32_t cores[SK_MAX_LANES]);

/* Return whether the number of cores is known when linking. For the host only the machine that runs the package
 * knows. */
bool sk_device_counts_cores(const struct sk_profile *device);

/* The facts that decide the number of cores of a launch. */
struct sk_launch_needs {
	const uint32_t *tasks;
	uint32_t task_count;
	uint32_t homes; /* their number */
	const uint32_t *limits; /* by lane, from its options; 0: no limit */
	const uint32_t *resident; /* by lane, cores that its resident steps need, whatever the limits */
	bool placed[SK_MAX_LANES]; /* it has steps that do not begin at the first core */
};

/* Compute the number of cores of each lane for the launch. On the host this is libskrt's rule (choose_cores in
 * loader/flight/kernel.c): all cores, that is SK_ALL_CORES, unless the launch has only blocks that begin at the first
 * core, or only one home, and these need fewer. On other devices it is the reference system's rule. If both lanes are
 * needed, cores come in groups of a cube core with one vector core, or with two if more vector than cube cores are
 * needed or a kernel is mix=1:2. There are as many groups as the task with the greatest need requires. */
void sk_launch_device_cores(const struct sk_model *model, const struct sk_launch_needs *needs,
			    uint32_t device_cores[SK_MAX_LANES]);

/* Return false, with an error, if the task needs more cores at once than there are. */
bool sk_sides_check(const struct sk_model *model, uint32_t task);

/* ==== units.c ====
 *
 * Units: the granularity with which the cores divide a split task's extent. The input is the model and the tasks of one
 * launch; the output is a unit, in elements of the extent, for each task or for each set of tasks that are divided
 * together.
 *
 * An elementwise task has units of at least 64 elements, so that a kernel's vector body and scalar tail cover the same
 * elements for every number of cores. A row-wise task has units of one row. If a kernel computes tiles, units are whole
 * tiles. A kernel that promises another unit (split=n:1) has that unit if there are more than 64 elements but at most
 * 16384, where it can matter, such as for sums of rows.
 *
 * Tasks that share a tensor written in the launch get a common unit in bytes, so that each core reads the bytes that it
 * has written itself. It is the least common multiple, taken to a fixpoint over all connected tensors and tasks. For an
 * elementwise and a row-wise task that is 64 / gcd(64, row length) rows. Without a fixpoint, all of them keep
 * their minimum, and awaits order them. The same applies if the common unit would leave a task with many operations to
 * one core, such as a matrix product with a single row that is then normalised. */

/* Return the unit of a split task by itself, as in its own entry. */
uint64_t sk_minimum_unit(const struct sk_model *model, uint32_t task);

/* Compute the least common multiple of two numbers that are at least 1; return false on overflow. */
bool sk_common_multiple(uint64_t a, uint64_t b, uint64_t *result);

/* Tasks that are divided together, each into the same number of units. They are counted in elements of a common extent,
 * and each task's extent is a multiple of it. */
struct sk_unit_item {
	const uint32_t *tasks;
	uint32_t count;
	uint64_t extent, usual; /* usual: at the usual sizes */
	uint64_t least; /* the least unit that fits all of them; 0: they are not split */
};

/* Return the units by item; 0 for items that are not split. */
uint64_t *sk_units_choose(const struct sk_model *model, const struct sk_unit_item *items, uint32_t count);

#endif
