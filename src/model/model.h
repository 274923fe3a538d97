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
#include "format/skplan.h"
#include "format/skrows.h"
#include "linker/linker.h"

struct sk_arena;
struct sk_kernel_finder;
struct sk_task_names;

/* ==== scope ====
 *
 * Scopes: the tasks that one superkernel shall run, and how. A task says which ones it is in. */

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
	bool no_tile_fusion; /* tile-fusion=0 */
	bool no_parallel_fusion; /* parallel-fusion=0 */
	uint32_t tile_bytes; /* tile-bytes: of all that a tile's calls touch; 0: sklink chooses */
	bool debug; /* compile-options=-g */
	struct sk_place cube_place, vector_place, split_place, debug_place; /* of these options */
	/* The dcci lists: names of kernels, or of what they compute (op=). */
	sk_names flush_before, flush_after, flush_never;
};

struct sk_scope {
	const char *name;
	const char *base; /* of one of several networks: what the scope is called in each; NULL: there is one network */
	const char *symbol; /* takes the place of the name in symbols of its launches; NULL: the name does */
	struct sk_place place;
	bool declared; /* it stands under `scopes` */
	bool has_options; /* `options:` */
	bool stream_fusion; /* stream-fusion=1 */
	enum sk_strict_check strict;
	struct sk_launch_options launch;
	bool starts_late; /* early-start=0 or 2 */
	bool feeds_sync_all; /* feed-sync-all=1 */
};

/* ==== model file ====
 *
 * The model file that a manifest names, and what it says of it. Texts are as on the command line. */

/* What dimensions that the model calls by a name are. */
struct sk_dimension {
	const char *network; /* the set that says so; NULL: it holds for all networks */
	struct sk_name size; /* NAME=N */
};

typedef SK_ARRAY(struct sk_dimension) sk_dimensions;

struct sk_graph_file {
	struct sk_name path; /* resolved; NULL: it names none */
	sk_names shapes, frozen, states; /* NAME=VALUE */
	sk_dimensions dimensions; /* those of a set one behind the other */
	sk_names scopes; /* NAME=PATTERN */
	struct sk_name fusion; /* flags of graph-kernel fusion; NULL: it has none */
	struct sk_name switches; /* path of a file of switches, resolved; NULL: none */
	sk_names rules; /* paths of files of rules, resolved */
	bool no_patterns; /* "pattern_fusion_pass: false" */
	bool fusion_in_line; /* their characters stand in the manifest from that place on */
};

/* ==== task ====
 *
 * Tasks: what the manifest says of each, and what binding makes of that; and the kernels that they call. */

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

/* What the manifest says of a task, or the reader of a model in its place. Only the reader and binding change it: what
 * is said of tasks that binding leaves out goes to others (src/bind/idle.c), and so do tensors that it has copied
 * (src/bind/unaligned.c). Later passes read it. */
struct sk_task_said {
	bool never_fuse; /* scope: null */
	bool once; /* run for an instance once, and launched by itself */
	bool directed; /* not by position: the first `input_count` args are what it reads, the others what it writes */
	uint32_t stream;
	SK_SMALL_ARRAY(uint32_t) scopes; /* scope indices, sorted, unique: the tag set */
	SK_SMALL_ARRAY(uint32_t) after; /* task indices, all smaller than its own */
	SK_SMALL_ARRAY(uint32_t) record, wait; /* event indices */
	uint32_t composite; /* of `composites` in the model, plus 1: tile groups have tasks of one; 0: of none that
			       holds */
	uint32_t input_count;
	const struct sk_task_cost *cost; /* NULL: there is none */
	struct sk_named kernel_name; /* `kernel:`; text NULL with op */
	struct sk_named op; /* `op:` */
	const char *network; /* of a model's node: the one of several networks that it is in; NULL: there is one */
	SK_SMALL_ARRAY(struct sk_named_tensor) args; /* by position, or with arg_names by name */
	SK_SMALL_ARRAY(struct sk_name) arg_names; /* empty: by position */
	SK_SMALL_ARRAY(struct sk_attribute) attributes;
	SK_SMALL_ARRAY(struct sk_set) set;
	struct sk_task_names
		*names; /* of tasks and events, for the manifest's reader to resolve; NULL: there are none */
	uint64_t blocks; /* `blocks:`, or 0 */
};

/* What binding finds out about a task: its kernel, and how that is called. */
struct sk_task_bound {
	struct sk_argument *arguments; /* parameters in C order, then RESULT, then STATE */
	uint32_t argument_count;
	uint32_t kernel; /* index into kernels */
	uint32_t lane; /* index into the device's lanes; mix: the cube side's, the vector side has the last one */
	uint32_t block_count; /* BLOCKS, BLOCKS_RANGE; mix: of the cube side */
	uint64_t extent; /* SPLIT, BLOCKS_RANGE: elements of the divided extent */
	uint32_t loop_count;
	bool idle; /* it has nothing to compute: its arguments are what it would access, and it is left out
		      (src/bind/bind.h) */
	struct sk_plan_loop loops[SK_MAX_LOOPS];
	uint64_t scratch_size; /* bytes, each piece 64-byte aligned */
	uint64_t operations; /* that the kernel's signature says; 0: it says none */
};

/* What is only told of a task, in reports and messages: no package depends on it but for its account. */
struct sk_task_told {
	bool explained; /* --explain asks for it */
	const char *origin; /* of a model's node: the operator as the model calls it; NULL: it is a manifest's task */
	const char *rule; /* of a model's node: the rule that has made it; NULL: none has */
	sk_texts refusals; /* of a model's node: which rules have not expanded it, and why */
	const char *others; /* of its op: lines on the kernels that were not picked; NULL: nobody asks, or none */
};

struct sk_task {
	struct sk_task_bound bound; /* first, since planning reads it again and again */
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

/* ==== tensor ====
 *
 * A tensor of the model: what the manifest says of it, and what follows from that. */

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
	uint64_t view_offset; /* views: bytes from the root's start */
	uint32_t slice; /* views: the innermost slice that it is seen through, plus 1; 0: none */
	bool reshaped; /* views: their dimensions are not pieces of the root's */
	struct sk_rows rows; /* views with gaps: several rows, in bytes of the root; count 0: there are no gaps */
	uint64_t padding; /* bytes of room behind it: the most that a task over-reads */
	const char *data; /* constants: path of the .npy file, resolved; NULL: the manifest has the contents */
	bool filled; /* constants: every element is that of these bits */
	uint64_t fill;
	const void *contents; /* constants: the bytes, once read; owned by the model (mapped or arena) */
	uint32_t binding; /* number among inputs, outputs and inouts, in manifest order; else SK_NONE */
};

/* From the first byte to the last. */
static inline uint64_t sk_tensor_span(const struct sk_tensor *tensor)
{
	return tensor->rows.count ? sk_rows_end(&tensor->rows) - tensor->rows.start : tensor->bytes;
}

/* ==== model.c ====
 *
 * The model: what the manifest and the kernel objects say, joined and checked. model.h, signature.h, model.h and
 * model.h say what it is made of. Every planning room reads it; each adds the part that is named after it and changes
 * nothing else. All of it lives in the link's arena. References between the parts are indices (SK_NONE: none), since
 * arrays grow while the model is built. */

struct sk_model {
	struct sk_arena *arena;
	struct sk_diag *diag;
	const char *manifest; /* path, as given */
	const char *directory; /* the manifest's folder: paths in it are relative to this */
	const char *root; /* paths in it that start with a slash are relative to this; "" if nobody says otherwise */
	const struct sk_profile *device;
	const char *package; /* the package's name, as a part of a C identifier; NULL: it is called after its first
				launch */
	bool names_launches; /* launches of a model that nobody has named are called after the package */
	const char *device_file; /* its path, resolved; NULL: it is built in */

	struct sk_graph_file graph; /* where its tensors and tasks come from, if the manifest names a model */
	SK_ARRAY(struct sk_tensor) tensors;
	SK_ARRAY(struct sk_declared_kernel) declared;
	SK_ARRAY(struct sk_kernel) kernels; /* those that tasks use, in order of first use */
	SK_ARRAY(struct sk_handed_symbol) symbols; /* in order of first use */
	SK_ARRAY(struct sk_task) tasks; /* in network order */
	SK_ARRAY(struct sk_idle_task) idle; /* tasks that were among them until they were left out */
	SK_ARRAY(struct sk_virtual_node) virtual_nodes; /* of models, in their order */
	SK_ARRAY(struct sk_node_part) slices;
	sk_texts composites; /* names of what graph-kernel fusion has put together; NULL: a node that is in none */
	SK_ARRAY(struct sk_scope) scopes;
	SK_ARRAY(struct sk_event) events;
	SK_ARRAY(struct sk_name) libraries; /* `library:`: archives that `op:` searches */
	struct sk_map tensor_names, declared_names, kernel_names, task_names, scope_names, event_names;
	struct sk_map idle_scopes; /* that nodes of the model file are in, and no task */
	uint32_t binding_count;
	struct sk_file_draft draft; /* constants that have been computed, where they will be if no more than `start` is
				       in front of them */
	struct sk_kernel_finder
		*finder; /* what has been found out of kernels before there are tasks (src/bind/bind.h) */
	uint64_t isa; /* instruction sets that the kernels and the constructors of their objects need */
	uint64_t allowed_isa; /* that kernels may need which `op:` picks */
};

/* An empty model in the arena. */
struct sk_model *sk_model_create(struct sk_arena *arena, struct sk_diag *diag);

/* Remembers which file it is made from, for messages, and for the folder that paths in it are relative to. */
void sk_model_set_file(struct sk_model *model, const char *path);

/* A path from the manifest, resolved against its folder. In the arena. */
const char *sk_model_path(const struct sk_model *model, const char *path);

/* The functions of a kernel, and what it is handed the address of, by number; SK_NONE behind the last one. */
sk_symbol sk_kernel_root(const struct sk_model *model, const struct sk_kernel *kernel, uint32_t number);

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

/* ==== sides.c ====
 *
 * Sides: how often, where and with what function a task's kernel is called at once. A task has one side, a mix task
 * two: the cube side and the vector side, which work together and so must run at the same time. */

enum { SK_MAX_SIDES = 2 };

struct sk_side {
	uint32_t lane;
	uint32_t blocks; /* BLOCKS, BLOCKS_RANGE; else 0 */
	uint32_t first_core; /* of the lane, that has block 0 */
	uint16_t flags; /* SK_STEP_RESIDENT, …_SIDE, EARLY_… */
};

/* SK_STEP_EARLY_…: what kernels of this signature do by themselves, where an option does not have it otherwise. */
uint16_t sk_signature_early(const struct sk_signature *signature);

/* The sides of a bound task, the cube side first; returns how many. On a device with one lane the vector blocks have
 * the cores behind the cube blocks'. */
uint32_t sk_task_sides(const struct sk_model *model, uint32_t task, struct sk_side sides[SK_MAX_SIDES]);

/* The number of (cube) blocks of a `mix` task that does not say. */
uint32_t sk_mix_default_blocks(const struct sk_profile *device, uint32_t ratio);

/* How many cores of each lane the calls of the task keep busy on the device; 0: it does not run there. */
void sk_task_cores(const struct sk_model *model, uint32_t task, uint32_t cores[SK_MAX_LANES]);

/* Whether cores can be counted when linking: how many the host has, only the machine knows that it will run on. */
bool sk_device_counts_cores(const struct sk_profile *device);

/* What decides how many cores a launch gets. */
struct sk_launch_needs {
	const uint32_t *tasks;
	uint32_t task_count;
	uint32_t homes; /* how many it has */
	const uint32_t *limits; /* by lane, what its options say; 0: nothing */
	const uint32_t *resident; /* by lane, cores that its resident steps need, whatever the limits */
	bool placed[SK_MAX_LANES]; /* it has steps that do not begin at the first core */
};

/* How many cores of each lane the launch gets. On the host by libskrt's rule (choose_cores in loader/flight/kernel.c):
 * all, that is SK_ALL_CORES, unless nothing but blocks from the first core on, or one home, needs fewer. On other
 * devices by the reference system's: groups of a cube core with one or two vector cores as soon as both lanes are
 * needed, with two if more vector than cube cores are needed or a kernel is mix=1:2; as many groups as the greediest
 * task needs. */
void sk_launch_device_cores(const struct sk_model *model, const struct sk_launch_needs *needs,
			    uint32_t device_cores[SK_MAX_LANES]);

/* False, with an error, if the task wants more cores at once than there are. */
bool sk_sides_check(const struct sk_model *model, uint32_t task);

/* ==== units.c ====
 *
 * Units: the grain in which the cores divide a split task's extent. In come the model and the tasks of one launch; out
 * comes a unit (in elements of the extent) per task, or per several that are divided together.
 *
 * Elementwise tasks have at least 64 elements, so that a kernel's vector body and scalar tail fall on the same elements
 * however the work is cut; row-wise tasks have one row; where a kernel computes tiles, units are whole tiles. A kernel
 * that promises another unit (split=n:1) has it where there are more than 64 elements, but so few that it can matter:
 * 16384, such as the sums of rows. Tasks
 * that share a tensor written in the launch get a common unit in bytes, so that each core reads what it has written
 * itself: the least common multiple, taken to a fixpoint over all tensors and tasks that hang together. For an
 * elementwise and a row-wise task that is 64 / gcd(64, row length) rows. Where there is no fixpoint all of them keep
 * their minimum, and awaits do the work. So they do where a task that makes many operations would be left to one core,
 * such as a product of which somebody normalizes the one row. */

/* The unit of a split task by itself, as in its own entry. */
uint64_t sk_minimum_unit(const struct sk_model *model, uint32_t task);

/* The least common multiple; false on overflow. Both are at least 1. */
bool sk_common_multiple(uint64_t a, uint64_t b, uint64_t *result);

/* Tasks that are divided together, each into as many units: in elements of an extent of which each of theirs is a
 * multiple.
 */
struct sk_unit_item {
	const uint32_t *tasks;
	uint32_t count;
	uint64_t extent;
	uint64_t least; /* the unit that fits all of them; 0: they are not split */
};

/* Units by item; 0 for those that are not split. */
uint64_t *sk_units_choose(const struct sk_model *model, const struct sk_unit_item *items, uint32_t count);

#endif
