/* Shared by the files of this directory: accesses, histories, knowledge, and the checks of calls. */
#ifndef SK_SRC_PROOF_PROOF_PARTS_H
#define SK_SRC_PROOF_PROOF_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/ranges.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "format/skrows.h"
#include "src/proof/proof.h"

struct sk_arena;
struct sk_plan_view;
struct sk_task_call;
struct sk_verifier;

/* ==== call-values.c ====
 *
 * Check that the value a plan passes for a parameter equals the signature's expression. Input: the call and its known
 * extents. Output: whether the two are equal for every call that the step makes. The expression is evaluated as
 * written, without the terms that sklink makes of it. */

/* The value of an extent that is not known yet, or of anything computed from one. */
#define SK_EXTENT_UNKNOWN UINT64_MAX

struct sk_call_values {
	const struct sk_plan_view *view;
	const struct sk_plan_step *step;
	const struct sk_plan_call *call;
	const struct sk_signature *signature;
	const uint64_t *extents; /* or SK_EXTENT_UNKNOWN */
};

/* Return true if the argument, a VALUE or an EXPRESSION, equals the expression. Return true also if the expression
 * names unknown extents. */
bool sk_call_value_agrees(const struct sk_call_values *values, const struct sk_value_expression *value,
			  const struct sk_plan_argument *argument);

/* Find the expression's value if it is the same in every call; return false if that is not known. */
bool sk_call_constant(const struct sk_call_values *values, const struct sk_value_expression *value, uint64_t *constant);

/* ==== call-check.c ====
 *
 * Shared by the files that compare calls with signatures: the current call with its known extents, and the report of a
 * disagreement. A function that returns false has reported why. */

struct sk_calls {
	struct sk_arena *arena;
	struct sk_diag *diag;
	const struct sk_plan_view *view;
	const char *file;
	const struct sk_signature **signatures; /* by kernel */
	const struct sk_plan_call **states_of; /* by kernel: the first call of the kernel */

	/* The current call. */
	const struct sk_plan_launch *launch;
	const struct sk_plan_step *step;
	const struct sk_plan_call *call;
	const struct sk_signature *signature;
	uint64_t extents[SK_MAX_PARAMETERS]; /* or SK_EXTENT_UNKNOWN */
	uint64_t frames[SK_MAX_PARAMETERS]; /* by STRUCT: its offset in the scratch */
};

/* ---- call-check.c: shared by the others ---- */

/* Report the disagreement. Always return false. */
bool sk_call_disagree(struct sk_calls *calls, const char *format, ...) __attribute__((format(printf, 2, 3)));

const struct sk_plan_argument *sk_call_argument(const struct sk_calls *calls, uint32_t number);

/* Return the parameter's name, "'x'". The result's number is one past the last parameter's. */
const char *sk_call_parameter_text(const struct sk_calls *calls, uint32_t number);

/* Return true if a tensor is passed for the parameter: the parameter takes a tensor, and is not an optional one that is
 * absent. */
bool sk_call_has_tensor(const struct sk_calls *calls, uint32_t number);

uint64_t sk_call_elements(const struct sk_calls *calls, const struct sk_plan_argument *argument);

/* Record a value of the named extent. Return false after a report if it differs from a value recorded before. */
bool sk_call_learn(struct sk_calls *calls, uint32_t extent, uint64_t value);

/* Return the dimension's size if it is known, else SK_EXTENT_UNKNOWN. */
uint64_t sk_call_dimension(const struct sk_calls *calls, const struct sk_extent *extent);

struct sk_call_values sk_call_known_values(const struct sk_calls *calls);

bool sk_call_names_extent(const struct sk_value_expression *value, uint32_t extent);

/* Check that the argument equals the expression. */
bool sk_call_check_value(struct sk_calls *calls, uint32_t number, const struct sk_value_expression *value);

/* ---- call-spread.c: units, blocks, sides and loops ---- */

/* Return the smallest unit that the call alone allows if the divided extent has this many elements. Units are whole
 * tiles. */
uint64_t sk_call_minimum_unit(const struct sk_plan_view *view, const struct sk_plan_call *call, uint64_t extent,
			      const struct sk_signature *signature);
bool sk_call_check_spread(struct sk_calls *calls);

/* Return the number of elements that units are multiples of, if alignment does not matter; few: the extent counts as
 * one for which kernels' own units are right. */
uint64_t sk_call_whole_elements(const struct sk_signature *signature, bool few, uint64_t extent);

/* ---- call-memory.c: tensors ---- */

bool sk_call_check_memory(struct sk_calls *calls, uint32_t number, enum sk_dtype dtype, unsigned access);
bool sk_call_check_tensor(struct sk_calls *calls, uint32_t number);

/* Check the layout of the tensor's bytes, once the extents are known. */
bool sk_call_check_pattern(struct sk_calls *calls, uint32_t number);

/* Check that arguments share bytes only where the signature allows it. */
bool sk_call_check_overlaps(struct sk_calls *calls);

/* ---- call-arguments.c: each argument by itself ---- */

bool sk_call_check_arguments(struct sk_calls *calls);

/* ---- call-extents.c: checks that need all arguments' extents ---- */

bool sk_call_check_extents(struct sk_calls *calls);

/* Check the scalars and the number of blocks against the signature. */
bool sk_call_check_values(struct sk_calls *calls);

/* ==== calls.c ====
 *
 * Check that a finished plan calls its kernels as their signatures say: number, kinds, types, modes and sizes of the
 * arguments, the distribution over cores, and arguments that may share bytes. Input: a plan after sk_plan_check_all.
 * Output: errors, at most one per step.
 *
 * The proof of proof.h relies on the reads and writes that a step declares. This check compares these declarations with
 * the kernel's signature, so that a plan cannot pass the proof by declaring less. */

/* Read the signatures of the plan's kernels, as sk_calls_check does first. */
void sk_calls_read_signatures(struct sk_calls *calls);

/* Check the current call. In a plan of one size of several (sk_dims_concretise), do not check what sized-calls.c proves
 * for all of them: units, tables of addresses within parts, and bytes that arguments share. Scratch may then be larger
 * than it must be. */
bool sk_call_check(struct sk_calls *calls);

bool sk_calls_check(struct sk_arena *arena, struct sk_diag *diag, const struct sk_plan_view *view, const char *file);

/* ==== contradiction.c ====
 *
 * Shared by the checks of proof.h: reports that two places of a plan disagree. */

enum { SK_PLAN_ALIGNMENT = 64 /* of temporaries, constants and scratch */ };

struct sk_consistency {
	struct sk_arena *arena;
	struct sk_diag *diag;
	const struct sk_plan_view *view;
	const char *file;
	const struct sk_task_call *places; /* by task: the call that runs it in the network */
};

/* Report the contradiction. Always return false. */
bool sk_contradict(const struct sk_consistency *check, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Return true if the two are equal, else report. `number` is recorded in the plan, `follows` is computed from other
 * records. */
bool sk_same_number(const struct sk_consistency *check, const char *whose, const char *what, uint64_t number,
		    uint64_t follows);
bool sk_same_text(const struct sk_consistency *check, const char *whose, const char *what, const char *text,
		  const char *follows);

/* Set *most to the greater of the two. */
void sk_raise(uint64_t *most, uint64_t other);

/* Return the value rounded up to the plan's alignment, UINT64_MAX on overflow. */
uint64_t sk_align_plan(uint64_t value);

/* consistency-launches.c: check the records that launches keep about their steps. */
bool sk_consistency_check_launches(const struct sk_consistency *check);

/* consistency-tensors.c: check the roles of tensors and their places. */
bool sk_consistency_check_tensors(const struct sk_consistency *check);

/* ==== device-cores.c ====
 *
 * Check the number of cores that the plan records for each launch on its device. The number follows from the launch
 * and, on a device other than a host, from the cores that its lanes have. Input: the plan and, by call, the least unit.
 * Output: a launch with a wrong number. */

struct sk_wrong_cores {
	uint32_t launch; /* SK_NO_INDEX: the numbers of all launches are right */
	uint32_t lane, follows; /* the number that follows from the rest of the plan */
};

struct sk_wrong_cores sk_device_cores_check(const struct sk_plan_view *view, const uint64_t *least);

/* Report such a launch. All signatures must have been read. */
void sk_calls_check_device_cores(struct sk_calls *calls, const uint64_t *least);

/* ==== history.c ====
 *
 * The history of a memory space: for each byte, its last writer and the readers since. Input: accesses, in their
 * intended order. Output: the earlier accesses that each of them conflicts with. The verifier keeps one history per
 * space, and one for temporaries that are accessed in rows and share bytes with each other.
 *
 * An access is a number chosen by the caller. Bytes with the same history form one box (base/ranges.h), cut where an
 * access begins or ends. An access costs logarithmic time plus the boxes and readers that it meets. A write turns
 * everything it covers into one box, or into two or three if rows begin inside it.
 *
 * There is a sheet of boxes for each stride of accesses in rows. Each sheet records the accesses that have certainly
 * happened: single rows are on all sheets, others on the sheet of their stride. Rows of different strides are compared
 * one by one. */

/* The past accesses to a byte. */
struct sk_history_past;

/* State shared by the histories of one caller. */
struct sk_history_pool {
	struct sk_arena *arena;
	uint64_t looks_left; /* examinations of boxes, readers and rows still allowed; 0: there were too many */
	uint64_t steps; /* map nodes examined */
	/* Values of the boxes; the first is the value of untouched bytes. */
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
	SK_ARRAY(struct sk_history_rows)
	rows; /* with several sheets: accesses since a single row has overwritten all of them */
	struct sk_rows extent; /* their extent */
};

struct sk_history {
	struct sk_history_pool *pool;
	SK_ARRAY(struct sk_history_sheet) sheets; /* by stride; a single one without rows */
};

void sk_history_pool_init(struct sk_history_pool *pool, struct sk_arena *arena, uint64_t looks);
void sk_history_init(struct sk_history *history, struct sk_history_pool *pool);

/* Announce rows of this stride. To be called before the first access. */
void sk_history_add_stride(struct sk_history *history, uint64_t stride);

/* Record the access to the rows, and call `conflict` for each earlier access that must come before it: the last writer
 * of each of its bytes and, for a write, also the readers since. The same access may be reported several times. The
 * reported accesses imply all others if the order is transitive. For a read of bytes that no sheet shows as written,
 * call `conflict` with SK_NO_INDEX. kind: enum sk_access bits. Do nothing once the allowed examinations are used up. */
void sk_history_access(struct sk_history *history, const struct sk_rows *rows, uint32_t access, unsigned kind,
		       void (*conflict)(void *context, uint32_t earlier), void *context);

/* The same for an access to bytes that depend on sizes: at each size they are in the rows, and contain the core (width
 * 0: nothing is certain). A write replaces the earlier accesses to its core only, and stands beside the others. The
 * reported accesses then imply those that touch a byte at the same size: between them only accesses to it at every size
 * are replaced. */
void sk_history_access_sized(struct sk_history *history, const struct sk_rows *rows, const struct sk_rows *core,
			     uint32_t access, unsigned kind, void (*conflict)(void *context, uint32_t earlier),
			     void *context);

/* ==== knowledge.c ====
 *
 * Knowledge of a launch's cores, for the verifier: the steps known to have finished when another one begins, derived
 * from awaits only. Input: a launch's steps, in their order. Output: answers to queries.
 *
 * Knowledge is a clock: per lane the number up to which all cores have finished, per home the number up to which that
 * core has. There is a clock for the knowledge common to every core of a lane, and one for the additional knowledge of
 * each home. An await on a home's step establishes everything that the home knew then. An await on a step of all cores
 * establishes every earlier step of the lane on any core, and so everything that any of its cores knew then: the union
 * of the lane's clocks, which is kept as one more clock. Homes of different streams count as different cores here;
 * where they coincide, more is ordered, not less.
 *
 * A step with OWN_AWAITS adds to the knowledge of the cores that have one of its blocks, and of no others. There is one
 * more clock for each such set of cores, a range: block b is on core first_core + b modulo the cores, for every number
 * of cores, so the cores of a range are among those of another range if its numbers are. A core with a block of the
 * step runs its awaits before it publishes the step, so the union of the lane's clocks has them as well.
 *
 * The two steps of a mix task count as one: each side knows only the steps known when the task began, whichever side
 * comes first. */

/* An await: the step that executes it, and the step that it names. */
struct sk_lesson {
	uint32_t awaiting, awaited;
};

/* The cores with a block of a step. */
struct sk_knowledge_range {
	const struct sk_plan_step *step; /* the first one with these cores */
	uint32_t *clock; /* learned from the awaits that these cores alone execute */
	struct sk_lesson *lessons; /* as below */
};

struct sk_knowledge {
	struct sk_arena *arena;
	const struct sk_plan_view *view;
	bool with_lessons; /* sk_knowledge_lesson will be called */

	/* The current launch. A clock has a number per lane, then one per home. */
	const struct sk_plan_launch *launch;
	uint32_t clock_length;
	uint32_t *everybody[SK_MAX_LANES]; /* known to every core of the lane */
	uint32_t *anybody[SK_MAX_LANES]; /* known to at least one core of the lane */
	uint32_t **homes; /* learned from a home's own awaits */
	struct sk_lesson
		*everybody_lessons[SK_MAX_LANES]; /* by number of those clocks: the await that established it */
	struct sk_lesson **home_lessons;
	SK_ARRAY(struct sk_knowledge_range) ranges;
	uint32_t *cube_side; /* known to every core of the lane when the cube side of the current task began */
	uint32_t **proofs; /* by step of the launch: the clock that an await on it establishes; NULL if no step awaits
			      it */
};

/* Begin a launch that sk_plan_check_launch has accepted. Return false if its clocks would take too much memory, or if
 * there are too many ranges. */
bool sk_knowledge_begin(struct sk_knowledge *knowledge, const struct sk_plan_launch *launch);

/* Advance to the next step; its awaits count from here on. The vector side of a mix task is passed with its cube
 * side. */
void sk_knowledge_pass(struct sk_knowledge *knowledge, uint32_t step);

/* Return the number of steps that the task has, counted from this step. */
uint32_t sk_side_count(const struct sk_plan_step *step);

/* Return true if every core that runs the step, which was passed last, knows that the earlier step has finished on all
 * of its cores. For mix tasks this covers all sides of both. */
bool sk_knows(const struct sk_knowledge *knowledge, uint32_t step, uint32_t earlier);

/* Like sk_knows, but for the return of the earlier step's calls. A step with EARLY_SET publishes before it returns. Its
 * return is known once its core set is known to have finished a later step. */
bool sk_knows_returned(const struct sk_knowledge *knowledge, uint32_t step, uint32_t earlier);

/* Return the await that established it. */
struct sk_lesson sk_knowledge_lesson(const struct sk_knowledge *knowledge, uint32_t step, uint32_t earlier);

/* ==== once-check.c ====
 *
 * Check of launches that run once (SK_LAUNCH_ONCE): an instance must be able to skip them once they have run, and to
 * run them again after a failure, before any other launch. Input: a plan with checked tables. Output:
 * errors. */

/* Return, by tensor, whether a launch that runs once writes it; such a tensor must not share its bytes. In the
 * arena. */
const bool *sk_once_check(struct sk_arena *arena, struct sk_diag *diag, const struct sk_plan_view *view,
			  const char *file);

/* ==== scratch-check.c ====
 *
 * Proof for temporaries in the scratch, of which a core holds one tile at a time. Input: the steps of a plan that
 * sk_plan_check_all has accepted. Output: errors that name task and tensor.
 *
 * Four properties are shown. Such a temporary is accessed only by calls of one step. Each call accesses all of it,
 * divided alike, so that a tile is the same bytes in all of them. Each byte of a tile that a call reads has been
 * written by an earlier call of the same tile, last as a byte of that temporary, whatever else is stored there at other
 * times. Two arguments of one call share no byte unless they are one temporary. Addresses equal, modulo 64, those in
 * the tasks' own entries. */

struct sk_scratch_check;

/* Allocated in the arena. facts: receives reads of tiles; may be NULL. */
struct sk_scratch_check *sk_scratch_check_new(struct sk_arena *arena, struct sk_diag *diag,
					      const struct sk_plan_view *view, const char *file,
					      struct sk_facts *facts);

/* Check one step. Steps come in the plan's order, each with its launch. */
void sk_scratch_check_step(struct sk_scratch_check *check, uint32_t launch, uint32_t step);

/* ==== unit-check.c ====
 *
 * Check the units in which the cores divide the split steps of a launch. Each must be a multiple of its kernel's least
 * unit, equal in bytes wherever steps share a tensor that one of them writes, and as small as that allows. Input: the
 * launch and, by call, the least unit. Output: a step with a different unit. */

/* Return an index into the plan's steps, or SK_NO_INDEX if all units are right. */
uint32_t sk_unit_check(struct sk_arena *arena, const struct sk_plan_view *view, const struct sk_plan_launch *launch,
		       const uint64_t *least);

/* ==== launch-order.c ====
 *
 * The order of a plan's launches, for the verifier: the launches that end before another one starts. Input: the
 * follows. Output: answers to queries. */

/* Each launch belongs to a chain of launches that follow one another. Clocks count, per chain, the launches that have
 * ended when a launch starts. If there are too many chains, the clocks cover the first ones, and the follows are
 * searched for the others. */
struct sk_launch_order {
	const struct sk_plan_view *view;
	uint32_t chain_count, clocked_chains;
	uint32_t *chains, *positions; /* by launch */
	uint32_t **clocks; /* by launch */
	uint32_t search; /* number of the last search, which is … */
	uint32_t later; /* … from this launch backwards */
	uint32_t *reached; /* by launch: the number of the last search that reached it */
	uint32_t *heap; /* of the launches that it has reached and not examined yet, the last one first … */
	uint32_t heap_count; /* … and their number */
	uint64_t follows_left; /* follows that may still be examined */
	uint64_t steps; /* follows and clock entries examined; counted for tests */
	bool exhausted; /* a search was given up: a negative answer may be wrong */
};

/* Build the order of the network's launches; every follow names an earlier one (sk_plan_check_launch). */
void sk_launch_order_build(struct sk_launch_order *order, struct sk_arena *arena, const struct sk_plan_view *view);

/* Return true if the later launch follows the earlier one, directly or through others. */
bool sk_launch_before(struct sk_launch_order *order, uint32_t earlier, uint32_t later);

/* ==== verify.c ====
 *
 * The walk through a plan's launches, shared by the proofs of one size (sk_verify) and of all sizes (sized-verify.c).
 * Input: a checked plan, and the ways in which the proof looks at accesses. Output: errors. */

struct sk_verifier_ways {
	/* Check the access, and record it in its history. */
	void (*check_access)(struct sk_verifier *verifier, const struct sk_step_access *access);
	/* Check the step except for its accesses; its awaits count. */
	void (*check_step)(struct sk_verifier *verifier, uint32_t launch, uint32_t index);
	/* As sk_access_same_core and sk_access_allowed_within_call. */
	bool (*same_core)(struct sk_verifier *verifier, const struct sk_step_access *one,
			  const struct sk_step_access *other);
	bool (*allowed_within_call)(struct sk_verifier *verifier, const struct sk_step_access *one,
				    const struct sk_step_access *other);
};

/* A temporary that calls access in rows. */
struct sk_verifier_rows {
	uint64_t stride; /* of the first accesses; 0: there are none */
	bool several; /* there are other strides */
	struct sk_history *history; /* of its bytes, perhaps shared with other temporaries */
};

struct sk_verifier {
	struct sk_arena *arena;
	struct sk_diag *diag;
	const struct sk_plan_view *view;
	const char *file;
	const struct sk_verifier_ways *ways;
	SK_ARRAY(struct sk_step_access) accesses;
	struct sk_history *bindings; /* by number */
	struct sk_history workspace, states;
	struct sk_history_pool pool;

	struct sk_launch_order order;
	struct sk_knowledge knowledge; /* of the current launch */

	/* The current access. */
	uint32_t current;
	bool reported; /* an error about its order */

	/* The proof of one size. */
	bool stale; /* an error about the bytes that the current access reads */
	struct sk_verifier_rows *in_rows; /* by tensor; unused for tensors that are not temporaries */
	const bool *once; /* by tensor: a launch that runs once writes it */
	struct sk_scratch_check *scratch;
	struct sk_demands demands; /* orders that the network wants besides its data */
	uint64_t steps; /* demands examined */
	struct sk_facts *facts; /* NULL: not wanted */
};

/* Begin the order of launches and the histories. */
void sk_verifier_init(struct sk_verifier *verifier);
void sk_verifier_check_launches(struct sk_verifier *verifier);

/* Return true if the earlier access, of another call, comes before the later one. */
bool sk_verifier_orders(struct sk_verifier *verifier, const struct sk_step_access *earlier,
			const struct sk_step_access *later);

/* Check that the earlier access comes before the later one. Report at most one error for the current access. */
void sk_verifier_check_order(struct sk_verifier *verifier, const struct sk_step_access *earlier,
			     const struct sk_step_access *later);

/* Places and names in messages: the file, the launch, and the task that makes the access. */
struct sk_place sk_verifier_place(const struct sk_verifier *verifier);
const char *sk_verifier_launch(const struct sk_verifier *verifier, uint32_t launch);
const char *sk_verifier_task(const struct sk_verifier *verifier, const struct sk_step_access *access);

#endif
