/* The proof of a finished plan, the account of its tasks, and the sentences that rest on it. */
#ifndef SK_SRC_PROOF_PROOF_H
#define SK_SRC_PROOF_PROOF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/diag.h"
#include "format/plan/plan.h"
#include "format/skplan.h"
#include "format/skrows.h"

struct sk_demand_stream;
struct sk_taken;

struct sk_arena;
struct sk_wanted_order;

/* ==== demands.c ====
 *
 * Demands, for the verifier: the orders that no byte shows, of `after`, events and streams. In come a plan and the
 * orders that its network wants; out come, task by task, the earlier steps that must have ended.
 *
 * An event stands for all that its stream has done up to the task that records it, and holds for all that the other
 * stream does from the task on that waits for it. To ask for all these pairs would take quadratic time. It is enough to
 * ask for four things:
 *  - A task that records or waits comes, in its launch, behind all tasks of its stream that are in front of it in the
 *    network, and in front of the others.
 *  - Each task's launch is the one of the task in front of it in its stream, or follows that one. So tasks of a stream
 *    are in order wherever they are in different launches, and an order between two launches is one for all tasks of
 * the one stream up to there and of the other from there on.
 *  - The task that waits comes behind the one that records.
 *  - Where both are in one launch: each task of the waiting stream from there on comes behind the *gates*, which are
 * the last calls on each core set that the recording stream has taken up to the record. Who knows that a step has ended
 *    knows it of all earlier ones of its core set, so they stand for all of the stream. A stream has one home per lane
 * at most, and so four gates for each event. Gates on one core set are one, the later one, so a stream has no more
 * gates than the launch has core sets, however many events it waits for. */

/* One task comes after another one, or waits for an event that it records. */
struct sk_wanted_order {
	uint32_t earlier, later; /* tasks */
	const char *event; /* NULL: `after` */
};

/* A call that must have ended on all cores of its step. */
struct sk_demand {
	uint32_t launch, step, call; /* indices into the plan's tables */
	const struct sk_wanted_order *order;
	bool is_gate; /* the order is about other tasks of the two streams */
};

struct sk_demands {
	struct sk_arena *arena;
	const struct sk_plan_view *view;
	const struct sk_wanted_order *orders; /* in the order of their later tasks */
	uint32_t *first_order; /* by task: its orders go from here to the next one's */
	struct sk_task_call *places; /* by task: where the network runs it */
	uint32_t *previous; /* by task: the one in front of it in its stream, or SK_NO_INDEX */
	uint32_t *stream_of; /* by task: its stream, numbered from 0 */
	struct sk_demand_stream *streams; /* by that number */
	struct sk_taken **recorded; /* by task: what its stream had taken then; NULL if no event needs it */
	bool *records; /* by task: an event orders others behind it */
	uint32_t *section; /* by task: how many ends of events its stream has had, each in front of it and behind it */
	uint64_t gates_left; /* that may still be looked at to find the one of a core set */
	bool exhausted; /* there were too many: gates are missing */
	SK_ARRAY(struct sk_demand) list; /* of the task at hand */
};

void sk_demands_build(struct sk_demands *demands, struct sk_arena *arena, const struct sk_plan_view *view,
		      const struct sk_wanted_order *orders, size_t order_count);

/* Fills the list with what the call's task has to come behind, but for what its stream asks of its launch. To be called
 * for each task of the network in the plan's order. */
void sk_demands_collect(struct sk_demands *demands, uint32_t launch, uint32_t call);

/* In a launch, a stream's tasks are in order where one of them records or waits for an event, and those that are not
 * divided. Returns one that has been passed already though it comes behind the call's task, or SK_NO_INDEX. */
uint32_t sk_demands_overtaker(struct sk_demands *demands, uint32_t launch, uint32_t step, uint32_t call);

/* Notes that the stream of the call's task has taken the call, which is one of the step; for each side of a mix task.
 * False if the stream has another home in the lane already. */
bool sk_demands_pass(struct sk_demands *demands, uint32_t launch, uint32_t step, uint32_t call);

/* ==== access.c ====
 *
 * What the steps of a plan touch: an access is one argument of one call that reads or writes memory. In comes the
 * plan's view; out come the facts that the verifier needs about one access, or about two, and the words for them in its
 * messages. */

struct sk_step_access {
	uint32_t launch, step, call, argument; /* indices into the plan's tables */
};

/* Where a task of the network runs, of a mix task the cube side: indices into the plan's tables. */
struct sk_task_call {
	uint32_t launch, step, call;
};

/* Those of all tasks of a plan that has been checked, by task; zeros for one that no launch of the network runs. */
struct sk_task_call *sk_find_calls(struct sk_arena *arena, const struct sk_plan_view *view);

/* The task that makes the access. */
static inline const struct sk_plan_task *sk_access_task(const struct sk_plan_view *view,
							const struct sk_step_access *access)
{
	return &view->tasks[view->calls[access->call].task];
}

static inline bool sk_access_reads(const struct sk_plan_argument *argument)
{
	return sk_plan_access(argument) & SK_ACCESS_READ;
}

static inline bool sk_access_writes(const struct sk_plan_argument *argument)
{
	return sk_plan_access(argument) & SK_ACCESS_WRITE;
}

/* The bytes in the argument's space; of a hidden state, its number. */
struct sk_rows sk_access_rows(const struct sk_plan_view *view, const struct sk_plan_argument *argument);

/* The bytes that the elements of a divided extent share out: of rows, with what lies between them. */
uint64_t sk_access_shared_bytes(const struct sk_plan_view *view, const struct sk_plan_argument *argument);

/* True if for every number of cores each byte is touched by the same core in both, which are accesses by two steps on
 * all cores of one lane, or by two calls of one such step: both divided into as many units, equally far from each
 * other, whose bytes lie in one window that far wide. Where blocks' ranges are irregular, there are no units, and all
 * has to be divided alike row by row. A step whose cores have whole blocks of another one counts by those.
 * One step may also have one block only. */
bool sk_access_same_core(const struct sk_plan_view *view, const struct sk_step_access *one,
			 const struct sk_step_access *other);

/* True if the cores of a step may make both accesses of one call, of which one writes, to common bytes: one core makes
 * them all, or they are identical and each core keeps to its own part. */
bool sk_access_allowed_within_call(const struct sk_plan_view *view, const struct sk_step_access *one,
				   const struct sk_step_access *other);

/* The same for one access that writes. Kernels of the kind `blocks` answer for their blocks themselves. */
bool sk_access_write_allowed(const struct sk_plan_view *view, const struct sk_step_access *access);

/* ---- words, in the arena ---- */

/* "step 3 of lane core, on the home of stream 1" */
const char *sk_access_step_text(struct sk_arena *arena, const struct sk_plan_view *view,
				const struct sk_step_access *access);

/* "'t'", or "'t' or 'u'" where temporaries share the bytes */
const char *sk_access_tensor_text(struct sk_arena *arena, const struct sk_plan_view *view,
				  const struct sk_step_access *access);

/* "bytes [0, 64) of the workspace": what the two have in common */
const char *sk_access_overlap_text(struct sk_arena *arena, const struct sk_plan_view *view,
				   const struct sk_step_access *one, const struct sk_step_access *other);

/* ==== verify.c ====
 *
 * The verifier: an independent proof that a finished plan is free of races and cannot wait for itself, whatever the
 * number of cores. It reads the plan and nothing else, so skdump can prove any package, and sklink proves every one it
 * makes. */

enum sk_fact_kind {
	SK_FACT_AWAIT, /* the later step awaits the earlier one */
	SK_FACT_KNOWN, /* another await proves it: one of the later step, or of a step before it on its cores */
	SK_FACT_HOME, /* one core runs both, in this order */
	SK_FACT_SAME_CORE, /* whatever the number of cores is, each byte falls to the same core in both */
	SK_FACT_LAUNCH, /* the later one's launch starts when the earlier one's has ended */
};

/* Why two steps of the network come in order. */
struct sk_fact {
	struct sk_step_access earlier, later; /* the accesses to common bytes; argument SK_NO_INDEX: an order is wanted,
						 perhaps of other tasks of their streams */
	const struct sk_wanted_order *order; /* NULL: their data */
	enum sk_fact_kind kind;
	uint32_t awaiting, awaited; /* KNOWN: the two steps of that await */
};

struct sk_facts {
	SK_ARRAY(struct sk_fact)
	items; /* by later step, in the plan's order; by access, those that the proof rests on */
};

/* Checks every launch of the plan with sk_plan_check_launch and proves it; proves that the wanted orders hold, which
 * stand in the order of their later tasks. Errors go into the sink, with `file` (the package, or the manifest that it
 * is being made from) as their place; false if there were any. Adds the facts that the proof rests on, if facts is not
 * NULL; they point to the orders. */
bool sk_verify(struct sk_arena *arena, struct sk_diag *diag, const struct sk_plan_view *view, const char *file,
	       const struct sk_wanted_order *orders, size_t order_count, struct sk_facts *facts);

/* The same of a plan that has been checked; steps becomes how many boxes, nodes, clocks and demands have been looked
 * at. */
bool sk_verify_counting(struct sk_arena *arena, struct sk_diag *diag, const struct sk_plan_view *view, const char *file,
			const struct sk_wanted_order *orders, size_t order_count, struct sk_facts *facts,
			uint64_t *steps);

/* ==== account.c ====
 *
 * The account: what became of each task and why, which orders the manifest wants beside those of the data, where
 * kernels are from, and which nodes of a model have no task: for people, and for the proof. It travels in the package
 * as the section .sk.report, which is not loaded and which only skdump reads: an 8-byte little-endian size, then a zlib
 * stream of that many bytes of text. The text has a line per task, behind these a line per order and one per kernel,
 * and then for each node without a task a line and one per slice, their fields separated by tabs:
 *
 *   task  name  scope or -  launch  CODE  sentence  TILE_CODE  sentence  BLOCKS_CODE or -  sentence  rule or -
 *   later task  earlier task  event or -
 *   kernel  object
 *   node  operator  splits or joins  number of slices
 *   part  tensor  offset  bytes
 *
 * with the tasks' and the launch's numbers in the plan, the reason code of the fusion and the reason in words, and the
 * same of whether the task is in one tile group with the one in front of it in its launch, and of whether it keeps to
 * the blocks of another one, if that is a question; and the rule that has made the model's node, if one has. Of an
 * event, the tasks that wait for it and record it: what follows for their streams is in the plan. Orders stand in the
 * order of their later tasks. Behind them stand the plan's kernels, with the object or "archive(member)" of each,
 * without folders: so links in other folders make the same package. Of a slice, the tensor's number in the plan, and
 * where in that tensor it is. */

#define SK_ACCOUNT_SECTION ".sk.report"

/* The only code with which a task is in one step with the one in front of it. */
#define SK_ACCOUNT_JOINED "TILE_JOINED"

/* The only code with which cores have blocks of another task, as its step's partition says. */
#define SK_ACCOUNT_FOLLOWED "BLOCKS_FOLLOWED"

struct sk_account_entry {
	uint32_t task; /* index into the plan's tasks */
	uint32_t launch; /* index into the plan's launches: the one that runs it */
	const char *name; /* of the task */
	const char *scope; /* NULL: none */
	const char *code; /* reason code: why the task was fused, or why not */
	const char *sentence; /* the reason, for people */
	const char *tile_code; /* reason code: why the task is in one tile group with the one in front of it, or not */
	const char *tile_sentence;
	const char *
		block_code; /* why each core computes what it has of another task's blocks, or not; NULL: no question */
	const char *block_sentence; /* NULL: no question */
	const char *rule; /* that has made the model's node; NULL: none */
};

/* A part of what a node splits or joins that is bytes of the other side, so that nothing moves them. */
struct sk_account_slice {
	const char *name; /* of the part */
	uint32_t tensor; /* index into the plan's tensors */
	uint64_t offset, bytes;
};

/* A node of a model for which nothing is launched. */
struct sk_account_node {
	const char *name;
	const char *op; /* as the model calls it */
	bool joins; /* or it splits */
	uint32_t slice_count; /* as many as it has parts with elements */
	const struct sk_account_slice *slices;
};

struct sk_account {
	const struct sk_account_entry *entries;
	size_t count;
	const struct sk_wanted_order *orders;
	size_t order_count;
	const char **objects; /* by kernel of the plan, without the copies behind them */
	size_t object_count;
	const struct sk_account_node *nodes; /* without a task */
	size_t node_count;
};

/* Packs the account into the section's contents, in the arena. Tabs and line ends inside a field become spaces. */
void sk_account_pack(struct sk_arena *arena, const struct sk_account *account, const void **bytes, uint64_t *size);

/* Unpacks a section's contents into the arena. Returns NULL, or what is wrong with them; then the account is empty.
 * Trusts nothing: sizes, the stream and every line are checked; what the numbers mean is for the caller to check. */
const char *sk_account_unpack(struct sk_arena *arena, const void *bytes, uint64_t size, struct sk_account *account);

/* Whether a node without a task has the name. */
bool sk_account_has_node(const struct sk_account *account, const char *name);

/* What the account says about the task, or NULL. */
const struct sk_account_entry *sk_account_find(const struct sk_account *account, uint32_t task);

/* ==== consistency.c ====
 *
 * Whether a finished plan says one thing only. Much in it follows from other parts of it, or from what travels with it:
 * sums and greatest values, what a tensor is to whoever runs the package, what tasks' own entries repeat, and what the
 * account says of the tasks. In comes a plan that has been proved (sk_verify); out come errors where two places do not
 * agree, with proof-parts.h those where a call and its kernel's signature do not.
 *
 * What follows from nothing in the package cannot be compared: the values of scalars, costs, names of tensors, which
 * kernels share hidden state. That these are as they were linked is what the seal is for (format/seal.h). */

/* account: NULL if there is none. */
bool sk_consistency_check(struct sk_arena *arena, struct sk_diag *diag, const struct sk_plan_view *view,
			  const char *file, const struct sk_account *account);

/* ==== fact-words.c ====
 *
 * The facts that a proof rests on, in words: for explanations, and for programs that read reports. */

/* The temporaries in the order of their places in the unshared workspace. */
struct sk_temporaries {
	uint32_t *tensors; /* of the plan */
	uint32_t count;
};

struct sk_temporaries sk_temporaries_sort(struct sk_arena *arena, const struct sk_plan_view *plan);

/* The tensor that an access names, in quotes; words for several where it can be any of them. In the arena. */
const char *sk_fact_tensor_text(struct sk_arena *arena, const struct sk_plan_view *plan,
				const struct sk_temporaries *temporaries, const struct sk_step_access *access);

/* Members of an object in JSON, behind others of it: why one comes before the other ("read after write"), for which
 * tensor or event, and what holds that ("other await"). */
void sk_fact_put_json(struct sk_arena *arena, FILE *stream, const struct sk_plan_view *plan,
		      const struct sk_temporaries *temporaries, const struct sk_fact *fact);

/* ==== explain.c ====
 *
 * Explanations: what became of one task, in sentences. In come a package's plan, its account and the facts that its
 * proof rests on; so sklink and skdump say the same. */

/* Where tasks run, and whose facts are whose, so that explaining all tasks takes no longer than reading the plan and
 * the facts. */
struct sk_explanation_index {
	struct sk_temporaries temporaries;
	const struct sk_task_call *calls; /* by task */
	uint32_t *first[2]; /* by call: the first fact of which it is the earlier [0] or the later [1] one; SK_NO_INDEX:
			       none */
	uint32_t *next[2]; /* by fact: the next one */
};

struct sk_explanation_index sk_explanation_index(struct sk_arena *arena, const struct sk_plan_view *plan,
						 const struct sk_facts *facts);

struct sk_explanation {
	struct sk_arena *arena;
	const struct sk_plan_view *plan;
	const struct sk_account *account; /* NULL: it has been stripped */
	const struct sk_facts *facts;
	const struct sk_explanation_index *index; /* of these facts */
	FILE *stream;
};

/* The task of that name, or SK_NO_INDEX after an error with a suggestion in the sink. */
uint32_t sk_explain_find(struct sk_diag *diag, const struct sk_plan_view *plan, const char *name);

void sk_explain(const struct sk_explanation *explanation, uint32_t task);

/* Those of these names that the plan has, or the account; the others are errors in the sink, as sk_explain_find says.
 */
void sk_explain_tasks(const struct sk_explanation *explanation, struct sk_diag *diag, const char *const *names,
		      size_t count);

/* ==== plan-check.c ====
 *
 * The check of every record of a plan, before it is proved. */

/* Does what sk_plan_check_all does, launches in several threads. The first thing that is wrong goes into the sink, with
 * `file` as its place. */
bool sk_plan_check_in_threads(struct sk_diag *diag, const struct sk_plan_view *view, const char *file,
			      unsigned threads);

/* ==== traffic.c ====
 *
 * An estimate of what steps move between caches and memory in a run, in bytes. In comes a plan; out comes what each
 * call accesses, once for each thing that it reads and for each that it writes; and, of a tile group, what enters its
 * tiles and what leaves them: what one call of the group has read or written the others find in the cache, and what
 * lies in the scratch stays there. */

struct sk_traffic {
	uint64_t apart; /* if each call were made for all of its part before the next one */
	uint64_t moved; /* as the step makes its calls; not more than that */
};

struct sk_traffic sk_traffic_of_step(struct sk_arena *arena, const struct sk_plan_view *view,
				     const struct sk_plan_step *step);

#endif
