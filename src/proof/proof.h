/* Proof of a finished plan, account of its tasks, and explanations made from both. */
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
struct sk_dims_view;
struct sk_ranks_view;
struct sk_forms;
struct sk_json;
struct sk_wanted_order;

/* ==== demands.c ====
 *
 * Demands, for the verifier: orders that shared bytes do not show, from `after`, events and streams. Input: a plan and
 * the orders that its network wants. Output, task by task: the earlier steps that must have ended.
 *
 * An event covers everything that its stream has done up to the task that records it, and everything that the other
 * stream does from the waiting task on. Checking all these pairs would take quadratic time. Four checks are enough:
 *  - A task that records or waits comes, in its launch, after all tasks of its stream that are before it in the
 *    network, and before the others.
 *  - Each task's launch is the launch of the previous task in its stream, or follows it. Tasks of a stream are
 *    therefore in order wherever they are in different launches. An order between two launches holds for all tasks of
 *    the one stream up to that point and all tasks of the other from that point on.
 *  - The waiting task comes after the recording task.
 *  - If both are in one launch, each task of the waiting stream from there on comes after the *gates*: the last calls
 *    on each core set that the recording stream has taken up to the record. Knowing that a step has ended implies
 *    knowing it of all earlier steps of its core set, so the gates stand for the whole stream. A stream has at most one
 *    home per lane, and so four gates for each event. Of two gates on one core set the later one is kept. A stream
 *    therefore has no more gates than the launch has core sets, however many events it waits for. */

/* An order between two tasks: the later one comes after the earlier one, or waits for an event that it records. */
struct sk_wanted_order {
	uint32_t earlier, later; /* tasks */
	const char *event; /* NULL: an `after` order */
};

/* A call that must have ended on all cores of its step. */
struct sk_demand {
	uint32_t launch, step, call; /* indices into the plan's tables */
	const struct sk_wanted_order *order;
	bool is_gate; /* the order concerns other tasks of the two streams */
};

struct sk_demands {
	struct sk_arena *arena;
	const struct sk_plan_view *view;
	const struct sk_wanted_order *orders; /* sorted by their later tasks */
	uint32_t *first_order; /* by task: its orders start here and end at the next task's */
	struct sk_task_call *places; /* by task: the call that runs it in the network */
	uint32_t *previous; /* by task: the previous task in its stream, or SK_NO_INDEX */
	uint32_t *stream_of; /* by task: its stream, numbered from 0 */
	struct sk_demand_stream *streams; /* indexed by that number */
	struct sk_taken **recorded; /* by task: calls its stream had taken at the record; NULL: not needed */
	bool *records; /* by task: it records an event that orders other tasks */
	uint32_t *section; /* by task: event boundaries in its stream before it */
	uint64_t gates_left; /* gates that may still be examined when looking for the gate of a core set */
	bool exhausted; /* the limit was reached: gates are missing */
	SK_ARRAY(struct sk_demand) list; /* the current task's demands */
};

void sk_demands_build(struct sk_demands *demands, struct sk_arena *arena, const struct sk_plan_view *view,
		      const struct sk_wanted_order *orders, size_t order_count);

/* Fill the list with the calls that must end before the call's task, except for the order that its stream requires
 * within its launch. To be called for each task of the network in the plan's order. */
void sk_demands_collect(struct sk_demands *demands, uint32_t launch, uint32_t call);

/* Return a task that has already been passed although it belongs after the call's task, or SK_NO_INDEX. Within a
 * launch, a stream's tasks must be in order if one of them records or waits for an event, or if they are not
 * divided. */
uint32_t sk_demands_overtaker(struct sk_demands *demands, uint32_t launch, uint32_t step, uint32_t call);

/* Record that the stream of the call's task has taken the call, which belongs to the step. Called for each side of a
 * mix task. Return false if the stream already has another home in the lane. */
bool sk_demands_pass(struct sk_demands *demands, uint32_t launch, uint32_t step, uint32_t call);

/* ==== access.c ====
 *
 * Accesses of a plan's steps. An access is one argument of one call that reads or writes memory. Input: the plan's
 * view. Output: properties of one access or a pair of accesses that the verifier needs, and the words for them in its
 * messages. */

struct sk_step_access {
	uint32_t launch, step, call, argument; /* indices into the plan's tables */
};

/* The call that runs a task of the network, the cube side's for a mix task. Indices into the plan's tables. */
struct sk_task_call {
	uint32_t launch, step, call;
};

/* Return the calls of all tasks of a checked plan, by task; zeros for a task that no launch of the network runs. */
struct sk_task_call *sk_find_calls(struct sk_arena *arena, const struct sk_plan_view *view);

/* Return the task that makes the access. */
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

/* Return the argument's bytes in its space; for a hidden state, its number. */
struct sk_rows sk_access_rows(const struct sk_plan_view *view, const struct sk_plan_argument *argument);

/* Return the number of bytes that the elements of a divided extent share out; for rows, including the gaps between
 * them. */
uint64_t sk_access_shared_bytes(const struct sk_plan_view *view, const struct sk_plan_argument *argument);

/* True if at most one core runs the step's calls. */
bool sk_step_on_one_core(const struct sk_plan_step *step);

/* Return true if for every number of cores the same core touches each byte in both accesses. The accesses belong to two
 * steps on all cores of one lane, or to two calls of one such step. Both are divided into the same number of units, at
 * equal distances, and the bytes of corresponding units lie in one window as wide as that distance. Irregular ranges of
 * blocks have no units; then both must be divided alike row by row. A step whose cores have whole blocks of another
 * step counts by those blocks. One of the steps may also have a single block. */
bool sk_access_same_core(const struct sk_plan_view *view, const struct sk_step_access *one,
			 const struct sk_step_access *other);

/* Return true if the cores of a step may make both accesses of one call, one of which writes, to common bytes: a single
 * core makes them all, or they are identical and each core keeps to its own part. */
bool sk_access_allowed_within_call(const struct sk_plan_view *view, const struct sk_step_access *one,
				   const struct sk_step_access *other);

/* Return true if the cores of a step may make the access, which writes. Kernels of kind `blocks` are responsible for
 * their own blocks. */
bool sk_access_write_allowed(const struct sk_plan_view *view, const struct sk_step_access *access);

/* ---- words, allocated in the arena ---- */

/* Return "step 3 of lane core, on the home of stream 1". */
const char *sk_access_step_text(struct sk_arena *arena, const struct sk_plan_view *view,
				const struct sk_step_access *access);

/* Return "'t'", "hidden state 3" or "the C library's random numbers". */
const char *sk_access_tensor_text(struct sk_arena *arena, const struct sk_plan_view *view,
				  const struct sk_step_access *access);

/* Return the bytes that both accesses share: "bytes [0, 64) of the workspace". */
const char *sk_access_overlap_text(struct sk_arena *arena, const struct sk_plan_view *view,
				   const struct sk_step_access *one, const struct sk_step_access *other);

/* ==== verify.c ====
 *
 * The verifier: an independent proof that a finished plan is free of races and deadlocks, whatever the number of cores.
 * It reads only the plan, so skdump can prove any package. sklink proves every package that it makes. */

enum sk_fact_kind {
	SK_FACT_AWAIT, /* the later step awaits the earlier one */
	SK_FACT_KNOWN, /* another await implies it: an await of the later step, or of a step before it on its cores */
	SK_FACT_HOME, /* one core runs both, in this order */
	SK_FACT_SAME_CORE, /* whatever the number of cores, each byte belongs to the same core in both */
	SK_FACT_LAUNCH, /* the later step's launch starts after the earlier step's launch has ended */
};

/* The reason why two steps of the network are ordered. */
struct sk_fact {
	struct sk_step_access earlier, later; /* the accesses to common bytes; argument SK_NO_INDEX: a wanted order,
						 perhaps of other tasks of their streams */
	const struct sk_wanted_order *order; /* NULL: required by their data */
	enum sk_fact_kind kind;
	uint32_t awaiting, awaited; /* KNOWN: the two steps of the other await */
};

struct sk_facts {
	SK_ARRAY(struct sk_fact)
	items; /* by later step, in the plan's order; by access, those that the proof rests on */
};

/* Check every launch of the plan with sk_plan_check_launch and prove it. Prove also that the wanted orders hold; they
 * are sorted by their later tasks. Report errors to the sink, with `file` (the package, or the manifest that it is made
 * from) as their place. Return false if there were any. If facts is not NULL, add the facts that the proof rests on;
 * they point to the orders. */
bool sk_verify(struct sk_arena *arena, struct sk_diag *diag, const struct sk_plan_view *view, const char *file,
	       const struct sk_wanted_order *orders, size_t order_count, struct sk_facts *facts);

/* Prove that all ranks start the exchanges of a checked plan in one order, and that these are the plan's (exchange.c).
 * A view without ranks: the plan has none. Report errors as sk_verify does. */
bool sk_exchange_check(struct sk_arena *arena, struct sk_diag *diag, const struct sk_plan_view *plan,
		       const struct sk_ranks_view *ranks, const char *file);

/* Prove a plan with numbers that depend on sizes (.sk.dims) for all of them, after sk_verify has proved it for the
 * largest ones. Report errors as sk_verify does. */
bool sk_verify_sizes(struct sk_arena *arena, struct sk_diag *diag, const struct sk_plan_view *view,
		     const struct sk_dims_view *dims, const char *file);

/* The same without comparing calls with the signatures of kernels. */
bool sk_verify_accesses_of_sizes(struct sk_arena *arena, struct sk_diag *diag, const struct sk_plan_view *view,
				 const struct sk_dims_view *dims, const char *file);

/* Prove a plan that has already been checked, like sk_verify. Set *steps to the number of boxes, nodes, clocks and
 * demands that were examined. */
bool sk_verify_counting(struct sk_arena *arena, struct sk_diag *diag, const struct sk_plan_view *view, const char *file,
			const struct sk_wanted_order *orders, size_t order_count, struct sk_facts *facts,
			uint64_t *steps);

/* ==== account.c ====
 *
 * The account records, for people and for the proof, the treatment of each task and its reason, the orders that the
 * manifest wants besides the data's, the origin of kernels, and the nodes of a model that have no task. The package
 * stores it in the section .sk.report, which is not loaded and which only skdump reads: an 8-byte little-endian size,
 * then a zlib stream of that many bytes of text. The text has a line per task, then a line per order, then a line per
 * kernel, then for each node without a task a line for the node and a line per slice. Fields are separated by tabs:
 *
 *   task  name  scope or -  launch  CODE  sentence  TILE_CODE  sentence  BLOCKS_CODE or -  sentence  rule or -
 *           file or -
 *   later task  earlier task  event or -
 *   kernel  object
 *   node  operator  splits or joins  number of slices
 *   part  tensor  offset  bytes
 *
 * Tasks and launches are numbers in the plan. CODE and its sentence give the reason for the fusion decision. TILE_CODE
 * says whether the task is in one tile group with the previous task of its launch. BLOCKS_CODE says whether it keeps
 * to the blocks of another task; it is "-" where this does not arise. The rule is the one that made the model's node,
 * if any. The file is the manifest or model that has the task, without directories. An event's order names the tasks
 * that wait for it and record it; the consequences for their streams are in the plan. Orders are sorted by their later
 * tasks. Then come the plan's kernels, with the object or "archive(member)" of each, without directories, so that
 * links in different directories make the same package. A slice has the tensor's number in the plan and its place in
 * that tensor. */

#define SK_ACCOUNT_SECTION ".sk.report"

/* The only code that puts a task into one step with the previous task. */
#define SK_ACCOUNT_JOINED "TILE_JOINED"

/* The only code that gives cores the blocks of another task, as recorded in its step's partition. */
#define SK_ACCOUNT_FOLLOWED "BLOCKS_FOLLOWED"

struct sk_account_entry {
	uint32_t task; /* index into the plan's tasks */
	uint32_t launch; /* index into the plan's launches: the launch that runs it */
	const char *name; /* of the task */
	const char *scope; /* NULL: none */
	const char *code; /* reason code: why the task was or was not fused */
	const char *sentence; /* the reason, for people */
	const char *tile_code; /* reason code: why the task is or is not in one tile group with the previous task */
	const char *tile_sentence;
	const char *block_code; /* why cores keep to the blocks of another task, or not; NULL: does not arise */
	const char *block_sentence; /* NULL: does not arise */
	const char *rule; /* the rule that made the model's node; NULL: none */
	const char *file; /* the manifest or model that has the task, without directories; NULL: none */
};

/* A part of a node's split or joined tensor that is a view of the other side, so that no bytes are moved. */
struct sk_account_slice {
	const char *name; /* of the part */
	uint32_t tensor; /* index into the plan's tensors */
	uint64_t offset, bytes;
	bool unknown; /* at chosen sizes: no call says the two numbers */
};

/* A node of a model that launches nothing. */
struct sk_account_node {
	const char *name;
	const char *op; /* as the model calls it */
	bool joins; /* false: it splits */
	uint32_t slice_count; /* parts of it that have elements */
	const struct sk_account_slice *slices;
};

struct sk_account {
	const struct sk_account_entry *entries;
	size_t count;
	const struct sk_wanted_order *orders;
	size_t order_count;
	const char **objects; /* by kernel of the plan, without the copies after them */
	size_t object_count;
	const struct sk_account_node *nodes; /* nodes without a task */
	size_t node_count;
};

/* Pack the account into the section's contents, in the arena. Tabs and line ends inside a field become spaces. */
void sk_account_pack(struct sk_arena *arena, const struct sk_account *account, const void **bytes, uint64_t *size);

/* Unpack a section's contents into the arena. Return NULL, or a description of the first error; then the account is
 * empty. The contents are not trusted: sizes, the stream and every line are checked. Checking the meaning of the
 * numbers is left to the caller. */
const char *sk_account_unpack(struct sk_arena *arena, const void *bytes, uint64_t size, struct sk_account *account);

/* Return true if a node without a task has the name. */
bool sk_account_has_node(const struct sk_account *account, const char *name);

/* Return the account's entry for the task, or NULL. */
const struct sk_account_entry *sk_account_find(const struct sk_account *account, uint32_t task);

/* ==== consistency.c ====
 *
 * Check that a finished plan does not contradict itself. Much of a plan follows from other parts of it, or from data
 * stored with it: sums and maxima, the roles of tensors, the tasks' own entries, and the account. Input: a plan that
 * has been proved (sk_verify). Output: an error wherever two places disagree; proof-parts.h adds those where a call and
 * its kernel's signature disagree.
 *
 * Data that follows from nothing in the package cannot be compared: the values of scalars, costs, names of tensors, and
 * which kernels share hidden state. The seal (format/seal.h) shows that these are unchanged since linking. */

/* account: NULL if there is none. */
bool sk_consistency_check(struct sk_arena *arena, struct sk_diag *diag, const struct sk_plan_view *view,
			  const char *file, const struct sk_account *account);

/* ==== fact-words.c ====
 *
 * Words for the facts that a proof rests on, used in explanations and in reports that programs read. */

/* The temporaries, sorted by their places in the unshared workspace. */
struct sk_temporaries {
	uint32_t *tensors; /* indices into the plan's tensors */
	uint32_t count;
};

struct sk_temporaries sk_temporaries_sort(struct sk_arena *arena, const struct sk_plan_view *plan);

/* Return the tensor that an access names, in quotes; a longer text if it can be one of several. In the arena. */
const char *sk_fact_tensor_text(struct sk_arena *arena, const struct sk_plan_view *plan,
				const struct sk_temporaries *temporaries, const struct sk_step_access *access);

/* Members of an object in JSON: why one comes before the other ("read after write"), for which
 * tensor or event, and what holds that ("other await"). */
void sk_fact_put_json(struct sk_arena *arena, struct sk_json *json, const struct sk_plan_view *plan,
		      const struct sk_temporaries *temporaries, const struct sk_fact *fact);

/* ==== explain.c ====
 *
 * Explanations of single tasks, in sentences. Input: a package's plan, its account and the facts that its proof rests
 * on. sklink and skdump both print them from here and so agree. */

/* The places of tasks and the facts of each call, indexed so that explaining all tasks takes no longer than reading the
 * plan and the facts. */
struct sk_explanation_index {
	struct sk_temporaries temporaries;
	const struct sk_task_call *calls; /* by task */
	uint32_t *first[2]; /* by call: the first fact that has it as the earlier [0] or the later [1] call;
			       SK_NO_INDEX: none */
	uint32_t *next[2]; /* by fact: the next fact of the same call */
	const struct sk_dims_view *dims; /* of a package with bounds; NULL: all numbers are constants */
	const struct sk_forms *forms; /* of these */
	const uint64_t *usual; /* by value of these: at the usual sizes */
	const struct sk_plan_view *usual_plan; /* the plan at the usual sizes; NULL: plan */
};

/* dims: of the plan, or NULL. usual_plan: of a package with bounds, the plan at its usual sizes (sk_usual_plan); it
 * must outlive the index. */
struct sk_explanation_index sk_explanation_index(struct sk_arena *arena, const struct sk_plan_view *plan,
						 const struct sk_dims_view *dims, const struct sk_plan_view *usual_plan,
						 const struct sk_facts *facts);

/* Make the plan at the usual sizes of a package with bounds, to be closed with sk_plan_close. Without bounds return
 * NULL, else the room. The whole plan must have been checked (sk_plan_check_all). */
struct sk_plan_view *sk_usual_plan(const struct sk_plan_view *plan, const struct sk_dims_view *dims,
				   struct sk_plan_view *room);

struct sk_explanation {
	struct sk_arena *arena;
	const struct sk_plan_view *plan;
	const struct sk_account *account; /* NULL: it has been stripped */
	const struct sk_facts *facts;
	const struct sk_explanation_index *index; /* of these facts */
	FILE *stream;
};

/* Return the task of that name. If there is none, report an error with a suggestion and return SK_NO_INDEX. */
uint32_t sk_explain_find(struct sk_diag *diag, const struct sk_plan_view *plan, const char *name);

void sk_explain(const struct sk_explanation *explanation, uint32_t task);

/* Explain each task or node that the plan or the account has under one of the names. Report an error for each other
 * name, as sk_explain_find does. */
void sk_explain_tasks(const struct sk_explanation *explanation, struct sk_diag *diag, const char *const *names,
		      size_t count);

/* ==== plan-check.c ====
 *
 * The check of every record of a plan, before it is proved. */

/* Check the plan like sk_plan_check_all, with launches spread over several threads. Report the first error to the sink,
 * with `file` as its place. */
bool sk_plan_check_in_threads(struct sk_diag *diag, const struct sk_plan_view *view, const char *file,
			      unsigned threads);

/* ==== traffic.c ====
 *
 * An estimate of the bytes that steps move between caches and memory in a run. Input: a plan. Output: the bytes that
 * each call accesses; bytes that it both reads and writes count twice. For a tile group, only bytes that enter or leave
 * its tiles count: data that one call of the group has read or written is in the cache for the others, and data in the
 * scratch stays there. */

struct sk_traffic {
	uint64_t apart; /* if each call processed its whole part before the next call began */
	uint64_t moved; /* in the order in which the step makes its calls; never more than apart */
};

struct sk_traffic sk_traffic_of_step(struct sk_arena *arena, const struct sk_plan_view *view,
				     const struct sk_plan_step *step);

enum { SK_TRAFFIC_KEY = 4 };

/* The bytes of an access, in numbers or in expressions. */
struct sk_traffic_meter {
	/* Write the rows of an argument of the call: start, width, stride, count. Equal rows have equal words. */
	void (*rows)(void *context, const struct sk_plan_call *call, uint32_t argument, uint64_t key[SK_TRAFFIC_KEY]);
	/* Count the bytes of such rows. They move unless they are cached. */
	void (*count)(void *context, const uint64_t key[SK_TRAFFIC_KEY], bool cached);
	void *context;
};

/* Call the meter for each access of the step's calls. */
void sk_traffic_measure(struct sk_arena *arena, const struct sk_plan_view *view, const struct sk_plan_step *step,
			const struct sk_traffic_meter *meter);

#endif
