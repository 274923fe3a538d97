/* Shared by the files of this room: accesses, histories, knowledge, and the checks of calls. */
#ifndef SK_SRC_PROOF_PROOF_PARTS_H
#define SK_SRC_PROOF_PROOF_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/ranges.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "format/skrows.h"

struct sk_arena;
struct sk_diag;
struct sk_facts;
struct sk_plan_view;
struct sk_task_call;

/* ==== call-values.c ====
 *
 * Whether what a plan passes for a parameter is what the signature's expression says. In come the call, and what is
 * known of its extents; out comes whether the two are the same for every call that the step makes. The expression is
 * computed as it stands, without the terms that sklink makes of it. */

/* An extent that nothing has told so far, or what is computed from one. */
#define SK_EXTENT_UNKNOWN UINT64_MAX

struct sk_call_values {
	const struct sk_plan_view *view;
	const struct sk_plan_step *step;
	const struct sk_plan_call *call;
	const struct sk_signature *signature;
	const uint64_t *extents; /* or SK_EXTENT_UNKNOWN */
};

/* True, too, if extents that it names are not known. The argument is a VALUE or an EXPRESSION. */
bool sk_call_value_agrees(const struct sk_call_values *values, const struct sk_value_expression *value,
			  const struct sk_plan_argument *argument);

/* What the expression is that no call has another value of; false if that is not known. */
bool sk_call_constant(const struct sk_call_values *values, const struct sk_value_expression *value, uint64_t *constant);

/* ==== call-check.c ====
 *
 * What the files share that compare calls with signatures (proof-parts.h): the call at hand, with what is known of its
 * extents, and how they say that the two do not agree. What returns false has said why. */

struct sk_calls {
	struct sk_arena *arena;
	struct sk_diag *diag;
	const struct sk_plan_view *view;
	const char *file;
	const struct sk_signature **signatures; /* by kernel */
	const struct sk_plan_call **states_of; /* by kernel: the first call of it */

	/* The call at hand. */
	const struct sk_plan_launch *launch;
	const struct sk_plan_step *step;
	const struct sk_plan_call *call;
	const struct sk_signature *signature;
	uint64_t extents[SK_MAX_PARAMETERS]; /* or SK_EXTENT_UNKNOWN */
	uint64_t frames[SK_MAX_PARAMETERS]; /* by STRUCT: where it stands in the scratch */
};

/* ---- call-check.c: what the others ask ---- */

/* Returns false, always. */
bool sk_call_disagree(struct sk_calls *calls, const char *format, ...) __attribute__((format(printf, 2, 3)));

const struct sk_plan_argument *sk_call_argument(const struct sk_calls *calls, uint32_t number);

/* "'x'"; the result's number is the one behind the parameters'. */
const char *sk_call_parameter_text(const struct sk_calls *calls, uint32_t number);

/* A tensor is passed for the parameter: it takes one, and is not one of those that may be absent and are. */
bool sk_call_has_tensor(const struct sk_calls *calls, uint32_t number);

uint64_t sk_call_elements(const struct sk_calls *calls, const struct sk_plan_argument *argument);

/* A value of an extent's name; two of them must agree. */
bool sk_call_learn(struct sk_calls *calls, uint32_t extent, uint64_t value);

/* What a dimension is, where that is known; else SK_EXTENT_UNKNOWN. */
uint64_t sk_call_dimension(const struct sk_calls *calls, const struct sk_extent *extent);

struct sk_call_values sk_call_known_values(const struct sk_calls *calls);

bool sk_call_names_extent(const struct sk_value_expression *value, uint32_t extent);

/* The argument is what the expression says. */
bool sk_call_check_value(struct sk_calls *calls, uint32_t number, const struct sk_value_expression *value);

/* ---- call-spread.c: units, blocks, sides and loops ---- */

/* The unit of a call that has so many elements of the divided extent, by itself. Units are whole tiles. */
uint64_t sk_call_minimum_unit(const struct sk_plan_view *view, const struct sk_plan_call *call, uint64_t extent,
			      const struct sk_signature *signature);
bool sk_call_check_spread(struct sk_calls *calls);

/* ---- call-memory.c: tensors ---- */

bool sk_call_check_memory(struct sk_calls *calls, uint32_t number, enum sk_dtype dtype, unsigned access);
bool sk_call_check_tensor(struct sk_calls *calls, uint32_t number);

/* How the tensor's bytes lie, once the extents are known. */
bool sk_call_check_pattern(struct sk_calls *calls, uint32_t number);

/* Which arguments may be the same bytes. */
bool sk_call_check_overlaps(struct sk_calls *calls);

/* ---- call-arguments.c: each argument by itself ---- */

bool sk_call_check_arguments(struct sk_calls *calls);

/* ---- call-extents.c: what is known once all arguments have been looked at ---- */

bool sk_call_check_extents(struct sk_calls *calls);

/* What the signature says of scalars, and of how many blocks there are. */
bool sk_call_check_values(struct sk_calls *calls);

/* ==== calls.c ====
 *
 * Whether a finished plan calls its kernels as their signatures say: number, kinds, types, modes and sizes of the
 * arguments, how a call spreads over cores, and which of its arguments may be the same bytes. In comes a plan whose
 * launches have been checked (sk_plan_check_all); out come errors, for each step at most one.
 *
 * The proof of proof.h argues from what a step is said to read and write. Here that is compared with what the kernel
 * was declared to do, so that a plan cannot prove itself by saying less. */

bool sk_calls_check(struct sk_arena *arena, struct sk_diag *diag, const struct sk_plan_view *view, const char *file);

/* ==== contradiction.c ====
 *
 * How the checks of proof.h say that two places of a plan do not agree, and what they share. */

enum { SK_PLAN_ALIGNMENT = 64 /* of temporaries, constants and scratch */ };

struct sk_consistency {
	struct sk_arena *arena;
	struct sk_diag *diag;
	const struct sk_plan_view *view;
	const char *file;
	const struct sk_task_call *places; /* by task: where the network runs it */
};

/* Returns false, always. */
bool sk_contradict(const struct sk_consistency *check, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* `number` is what a record says, `follows` what follows from others. */
bool sk_same_number(const struct sk_consistency *check, const char *whose, const char *what, uint64_t number,
		    uint64_t follows);
bool sk_same_text(const struct sk_consistency *check, const char *whose, const char *what, const char *text,
		  const char *follows);

/* For greatest values. */
void sk_raise(uint64_t *most, uint64_t other);

/* What is beyond all numbers becomes the greatest one. */
uint64_t sk_align_plan(uint64_t value);

/* consistency-launches.c: what launches say of their steps. */
bool sk_consistency_check_launches(const struct sk_consistency *check);

/* consistency-tensors.c: what tensors are, and where they lie. */
bool sk_consistency_check_tensors(const struct sk_consistency *check);

/* ==== device-cores.c ====
 *
 * Whether the plan says of each launch how many cores it takes on the device that the plan is for: a number that
 * follows from the launch, and on a device that is not a host from how many cores its lanes have. In come the plan, and
 * by call the least unit; out comes a launch with another number. */

struct sk_wrong_cores {
	uint32_t launch; /* SK_NO_INDEX: the numbers of all launches are right */
	uint32_t lane, follows; /* what its number is by the rest of the plan */
};

struct sk_wrong_cores sk_device_cores_check(const struct sk_plan_view *view, const uint64_t *least);

/* ==== history.c ====
 *
 * The history of a piece of memory: for each byte, who wrote it last and who has read it since. In come accesses, in
 * the order in which they are meant to happen; out come the earlier ones that each of them conflicts with. The verifier
 * keeps one per space, and one for temporaries that are accessed in rows and share bytes with each other.
 *
 * An access is a number of the caller's. Bytes with the same history are one box (base/ranges.h), cut where an
 * access begins or ends: an access costs logarithmic time, plus the boxes and readers it meets; a write makes one box
 * of all that it covers, or two or three where rows begin inside of it.
 *
 * There is a sheet of boxes for each stride that accesses have rows in, and each sheet knows what surely happened:
 * single rows are on all sheets, others on that of their stride. Rows of different strides are compared one with
 * another. */

/* What a byte has seen. */
struct sk_history_past;

/* What the histories of one caller share. */
struct sk_history_pool {
	struct sk_arena *arena;
	uint64_t looks_left; /* at boxes, readers and rows; 0: there were too many */
	uint64_t steps; /* nodes of the maps that have been looked at */
	/* Values of the boxes; the first one is that of bytes nobody has touched. */
	SK_ARRAY(struct sk_history_past) pasts;
};

/* An access in rows of one of several strides. */
struct sk_history_rows {
	struct sk_rows rows;
	uint32_t access;
	bool write;
};

/* All single rows, and the rows of one stride. */
struct sk_history_sheet {
	struct sk_boxes boxes;
	SK_ARRAY(struct sk_history_rows) rows; /* with several sheets: since a single row has overwritten all of them */
	struct sk_rows extent; /* of these */
};

struct sk_history {
	struct sk_history_pool *pool;
	SK_ARRAY(struct sk_history_sheet) sheets; /* by stride; without rows one, without a stride */
};

void sk_history_pool_init(struct sk_history_pool *pool, struct sk_arena *arena, uint64_t looks);
void sk_history_init(struct sk_history *history, struct sk_history_pool *pool);

/* There will be rows of this stride. Before the first access. */
void sk_history_add_stride(struct sk_history *history, uint64_t stride);

/* Notes the access to the rows, and calls `conflict` for each earlier one that it must come behind: the last writer of
 * each of its bytes, and for a write also those who have read the byte since. The same one can be named several times.
 * Those named imply all others, if "comes behind" is transitive. For a read of bytes that no sheet shows as written it
 * calls `conflict` with SK_NO_INDEX. kind: enum sk_access bits. Does nothing when no look is left. */
void sk_history_access(struct sk_history *history, const struct sk_rows *rows, uint32_t access, unsigned kind,
		       void (*conflict)(void *context, uint32_t earlier), void *context);

/* ==== knowledge.c ====
 *
 * What the cores of a launch know, for the verifier: which steps have finished when another one begins, from nothing
 * but the awaits. In come a launch's steps, in their order; out come answers.
 *
 * What is known is a clock: per lane the number up to which all cores have finished, per home the number up to which
 * that core has. There is a clock for what every core of a lane knows, and one for what each home knows besides. An
 * await on a home's step proves what that home knew then. An await on a step of all cores proves every earlier step of
 * the lane on whatever core, and so all that any of its cores knew then: the union of the lane's clocks, which is kept
 * as one more clock. Homes of different streams count as different cores in all of this; where they coincide, more is
 * ordered, not less.
 *
 * The two steps of a mix task count as one: each side knows only what was known when it began, whichever comes first.
 */

/* An await: the step that executes it, and the step that it names. */
struct sk_lesson {
	uint32_t awaiting, awaited;
};

struct sk_knowledge {
	struct sk_arena *arena;
	const struct sk_plan_view *view;
	bool with_lessons; /* somebody will ask which await has taught something */

	/* The launch at hand. A clock has a number per lane, then one per home. */
	const struct sk_plan_launch *launch;
	uint32_t clock_length;
	uint32_t *everybody[SK_MAX_LANES]; /* what every core of the lane knows */
	uint32_t *anybody[SK_MAX_LANES]; /* what at least one core of the lane knows */
	uint32_t **homes; /* what a home's own awaits have taught it */
	struct sk_lesson *everybody_lessons[SK_MAX_LANES]; /* by number of those clocks: which await has taught it */
	struct sk_lesson **home_lessons;
	uint32_t *cube_side; /* what every core of the lane knew when the cube side of the task at hand began */
	uint32_t **proofs; /* by step of the launch: what an await on it proves; NULL if nobody awaits it */
};

/* Begins with a launch that sk_plan_check_launch has accepted. False if its clocks would take too much memory. */
bool sk_knowledge_begin(struct sk_knowledge *knowledge, const struct sk_plan_launch *launch);

/* Goes on to the next step, whose awaits count from here on; with the cube side of a mix task comes its vector side. */
void sk_knowledge_pass(struct sk_knowledge *knowledge, uint32_t step);

/* How many steps there are from this one on that the task has. */
uint32_t sk_side_count(const struct sk_plan_step *step);

/* True if every core that runs the step, which was passed last, knows that the earlier one has finished on all of its
 * cores; of mix tasks, all sides of both. */
bool sk_knows(const struct sk_knowledge *knowledge, uint32_t step, uint32_t earlier);

/* The same of calls that have returned. A step with EARLY_SET publishes before it returns; that it has returned is
 * known where its core set is known to have finished a later one. */
bool sk_knows_returned(const struct sk_knowledge *knowledge, uint32_t step, uint32_t earlier);

/* The await that has taught it that. */
struct sk_lesson sk_knowledge_lesson(const struct sk_knowledge *knowledge, uint32_t step, uint32_t earlier);

/* ==== once-check.c ====
 *
 * Launches that run once (SK_LAUNCH_ONCE): whether an instance may skip them when they have run, and run them again if
 * they have failed, in front of any other launch. In comes a plan whose tables have been checked; out come errors. */

/* By tensor: a launch that runs once writes it, so it must share its bytes with no other one. In the arena. */
const bool *sk_once_check(struct sk_arena *arena, struct sk_diag *diag, const struct sk_plan_view *view,
			  const char *file);

/* ==== scratch-check.c ====
 *
 * The proof of what lies in the scratch: temporaries of which a core has one tile at a time. In come the steps of a
 * plan that sk_plan_check_all has accepted; out comes nothing, or errors that name task and tensor.
 *
 * What has to be shown: such a temporary is accessed by calls of one step only, each of all that it has, divided alike,
 * so that a tile is the same bytes in all of them. Each byte of a tile that a call reads has been written by an earlier
 * call of the same tile, last as a byte of that temporary, whatever else lies there before and behind. Two arguments of
 * one call share no byte unless they are one temporary. And addresses are, modulo 64, those in the tasks' own entries.
 */

struct sk_scratch_check;

/* In the arena. facts: of reads of tiles; NULL: nobody wants to know. */
struct sk_scratch_check *sk_scratch_check_new(struct sk_arena *arena, struct sk_diag *diag,
					      const struct sk_plan_view *view, const char *file,
					      struct sk_facts *facts);

/* Steps come in the order of the plan, with the launches that they are in. */
void sk_scratch_check_step(struct sk_scratch_check *check, uint32_t launch, uint32_t step);

/* ==== unit-check.c ====
 *
 * Whether the units in which the cores divide the split steps of a launch are the ones that follow: each a multiple of
 * what its kernel needs, equal in bytes wherever steps share a tensor that one of them writes, and as small as that
 * allows. In come the launch, and by call the least unit; out comes a step whose unit is another one. */

/* An index into the plan's steps, or SK_NO_INDEX if all units are right. */
uint32_t sk_unit_check(struct sk_arena *arena, const struct sk_plan_view *view, const struct sk_plan_launch *launch,
		       const uint64_t *least);

/* ==== launch-order.c ====
 *
 * The order of a plan's launches, for the verifier: which ones end before which others start. In come the follows, out
 * come answers. */

/* Each launch is in a chain of launches that follow one another. Clocks say per chain how many of its launches have
 * ended when a launch starts. Where there are too many chains for that, the first ones are in the clocks, and for the
 * others the follows are searched. */
struct sk_launch_order {
	const struct sk_plan_view *view;
	uint32_t chain_count, clocked_chains;
	uint32_t *chains, *positions; /* by launch */
	uint32_t **clocks; /* by launch */
	uint32_t search; /* number of the last search, which is … */
	uint32_t later; /* … from this launch back */
	uint32_t *reached; /* by launch: the last search that came here */
	uint32_t *heap; /* of the launches that it has reached and not looked at, the last one first … */
	uint32_t heap_count; /* … and how many they are */
	uint64_t follows_left; /* that may still be looked at */
	uint64_t steps; /* follows and numbers of clocks that have been looked at, which tests count */
	bool exhausted; /* a search had to be given up: "no" may have been wrong */
};

/* Takes the launches of the network; every follow names an earlier one (sk_plan_check_launch). */
void sk_launch_order_build(struct sk_launch_order *order, struct sk_arena *arena, const struct sk_plan_view *view);

/* True if the later launch follows the earlier one, directly or through others. */
bool sk_launch_before(struct sk_launch_order *order, uint32_t earlier, uint32_t later);

#endif
