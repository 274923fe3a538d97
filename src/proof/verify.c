/* Proof of a finished plan. Input: the plan's view. Output: errors that name a pair of accesses that nothing orders.
 * This file shares no code with the planning directories. It argues from the tables alone: from steps, core sets,
 * awaits and byte addresses.
 *
 * Property to prove. For every number of cores, two accesses to a common byte by different cores, one of which writes,
 * are ordered. Accesses by one core always are, since a core runs its lane's steps in the order of their numbers.
 *
 * Why neighbours suffice. Consider the accesses to one byte in the plan's order. Every read is checked against the last
 * write before it, every write against the last write and the reads since (proof-parts.h). "a comes before b" here
 * means: every core that may touch the byte in a has finished a before any core that may touch it in b begins b. This
 * relation is transitive, whichever rule establishes each pair, because some core touches the byte in between. For an
 * access that is not divided, all cores of its core set count as touching each byte, whether they do or not. The
 * checked pairs therefore imply all others. Ranges need not coincide for that: the argument is about single bytes, and
 * boxes only bundle them.
 *
 * When a comes before b. Let Y and X be the steps that make the accesses, or the same step in an earlier and a later
 * call, which each core makes in this order (rule 4 then does not apply, since a step awaits only earlier ones):
 *  1. Y and X are in different launches, and X's launch follows Y's, directly or through others.
 *  2. Y and X run on the same home.
 *  3. Y and X run on all cores of one lane, and both accesses are divided into the same number of units, at equal
 *     distances, with the bytes of each unit in one window. Then, whatever the number of cores, the byte lies in the
 *     same core's range in both. If a step's cores have whole blocks, its units here are those blocks; for blocks of
 *     unequal length, their rows. In two calls of one step, rows at equal distances have elements at equal distances,
 *     so tiles are the same in both; each block begins with a whole unit (sk_plan_check_record).
 *  4. X knows that Y has finished, from the awaits that it and the earlier steps of its cores have executed
 *     (proof-parts.h). If X is in blocks, its cores here are those with a block: at least one, and the only ones that
 *     touch anything in X.
 *
 * The two steps of a mix task count as one that makes each access once: both sides know the steps that must come before
 * it, and a step that must come after it knows that both sides have finished. Sharing between its two sides is the
 * kernel's responsibility, as with blocks.
 *
 * Kernels that start early (EARLY_WAIT, EARLY_SET) apply their awaits and publications to tensors only. They use their
 * hidden state from the call's first instruction to its last. For rule 4 between accesses to hidden state, X therefore
 * knows only the steps that its cores knew before its own awaits if X has EARLY_WAIT. Y has finished when it is known
 * to have returned; if Y has EARLY_SET, its own number does not show that.
 *
 * Within one call that several cores make, writes must be divided and overlap nothing else of the call except an
 * identical range (a parameter that the signature allows to be another one). Kernels of kind `blocks` are responsible
 * for the blocks that share one argument.
 *
 * Why no deadlock occurs. An await names an earlier step of its launch, and every core runs its steps in the launch's
 * order (sk_plan_check_launch). The first step in that order that some core never finishes therefore awaits only steps
 * that their cores finish and publish. This makes no assumption about which homes coincide. The sides of a mix task do
 * wait for each other. They count as one step here: neither awaits the other, and no core runs blocks of both
 * (sk_plan_check_launch). So both begin, and all their blocks run at once, like those of every RESIDENT step. Launches
 * follow only earlier launches.
 *
 * In a launch with SK_LAUNCH_SYNC_ALL, each step has one call (sk_plan_check_launch). It must know by rule 2 or 4 that
 * the previous step has finished, and no step starts early.
 *
 * Orders that the network wants besides its data (proof-parts.h) are proved for whole steps. Rule 3 does not apply to
 * them, because an order from `after`, an event or a stream has no byte that would determine the cores concerned.
 *
 * Reads get the intended data. Every byte of a temporary that a task reads has been written before, and last as a byte
 * of that temporary, whatever else is stored there at other times. No byte of an output is read before it is written.
 * Bytes of an output that are never written are not checked: the manifest may intend that.
 *
 * Accesses in rows. For rows of one stride, and for single rows, the argument is about bytes as above. Rows of
 * different strides count as sharing a byte if each has one between the first and the last byte of the other. All pairs
 * of these are compared, unless a single row in between has overwritten all such rows. That row then comes after the
 * earlier access and before the later one, which has a byte in it. A single sheet of a history shows which bytes have
 * certainly been written. A temporary accessed in rows shares bytes only with temporaries of which all rows have the
 * same stride, so one sheet covers all of these. They have a history of their own, in which each has its place in the
 * network.
 *
 * proof-parts.h (once-check.c) proves that launches that run once are valid for later runs; their results have bytes of
 * their own.
 *
 * Plans with sizes: see sized-verify.c, which uses this file's walk through the launches.
 *
 * Finally, the order is the network's: two tasks that conflict run in network order. So do two tasks of one stream in
 * different launches, or in one launch if neither is divided or an event is between them. Each task runs exactly
 * once. */
#include "src/proof/proof.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/diag.h"
#include "format/plan/plan.h"
#include "format/skdims.h"
#include "format/skplan.h"
#include "format/skrows.h"
#include "src/proof/proof-parts.h"

/* Limit on the earlier accesses to common bytes that may be examined; half a gigabyte of them is kept. A manifest's
 * tasks need at most a quarter of it (sk_dependencies_build), and their entries as many again. */
#define MAX_LOOKS (UINT64_C(1) << 25)

struct sk_place sk_verifier_place(const struct sk_verifier *verifier)
{
	return (struct sk_place){.file = verifier->file};
}

const char *sk_verifier_launch(const struct sk_verifier *verifier, uint32_t launch)
{
	return sk_plan_string(&verifier->view->launches[launch].name);
}

/* The step's task, which identifies the step in messages. */
static const char *task_name(const struct sk_verifier *verifier, uint32_t step)
{
	const struct sk_plan_view *view = verifier->view;

	return sk_plan_string(&sk_plan_step_task(view, &view->steps[step])->name);
}

/* The task that makes the access. */
const char *sk_verifier_task(const struct sk_verifier *verifier, const struct sk_step_access *access)
{
	return sk_plan_string(&sk_access_task(verifier->view, access)->name);
}

/* ---- conflicts ---- */

static bool is_of_state(const struct sk_plan_view *view, const struct sk_step_access *access)
{
	return access->argument != SK_NO_INDEX && view->arguments[access->argument].kind == SK_ARGUMENT_STATE;
}

/* "reads 't'" */
static const char *deed_text(const struct sk_verifier *verifier, const struct sk_step_access *access)
{
	bool write = sk_access_writes(&verifier->view->arguments[access->argument]);

	return sk_arena_print(verifier->arena, "%s %s", write ? "writes" : "reads",
			      sk_access_tensor_text(verifier->arena, verifier->view, access));
}

static void note_step(struct sk_verifier *verifier, const struct sk_step_access *access)
{
	sk_note(verifier->diag, "'%s' is %s", sk_verifier_task(verifier, access),
		sk_access_step_text(verifier->arena, verifier->view, access));
}

static void note_launches(const struct sk_verifier *verifier, uint32_t earlier, uint32_t later)
{
	sk_note(verifier->diag, "launch '%s' must follow launch '%s', directly or through others",
		sk_verifier_launch(verifier, later), sk_verifier_launch(verifier, earlier));
}

/* The reason why awaits do not establish the order. */
static const char *early_text(const struct sk_verifier *verifier, const struct sk_step_access *earlier,
			      const struct sk_step_access *later)
{
	const struct sk_plan_step *steps = verifier->view->steps;

	if (!is_of_state(verifier->view, later))
		return "";
	if (steps[later->step].flags & SK_STEP_EARLY_WAIT)
		return ", before it is called; it starts early, and has its hidden state from then on";
	if (steps[earlier->step].flags & SK_STEP_EARLY_SET)
		return ", and not just published; that it does early, and has its hidden state until it returns";
	return "";
}

static void report_unordered(struct sk_verifier *verifier, const struct sk_step_access *earlier,
			     const struct sk_step_access *later)
{
	if (verifier->order.exhausted)
		return; /* the answer is unknown */

	const char *earlier_task = sk_verifier_task(verifier, earlier), *later_task = sk_verifier_task(verifier, later);
	const char *earlier_launch = sk_verifier_launch(verifier, earlier->launch);
	const char *later_launch = sk_verifier_launch(verifier, later->launch);
	const char *earlier_deed = deed_text(verifier, earlier), *later_deed = deed_text(verifier, later);
	const char *bytes = sk_access_overlap_text(verifier->arena, verifier->view, earlier, later);
	bool one_launch = earlier->launch == later->launch;

	if (one_launch)
		sk_error(verifier->diag, sk_verifier_place(verifier),
			 "launch '%s': nothing orders task '%s', which %s, and task '%s', which %s, both at %s",
			 earlier_launch, earlier_task, earlier_deed, later_task, later_deed, bytes);
	else
		sk_error(verifier->diag, sk_verifier_place(verifier),
			 "launches '%s' and '%s' are not ordered: task '%s' %s and task '%s' %s, both at %s",
			 earlier_launch, later_launch, earlier_task, earlier_deed, later_task, later_deed, bytes);
	note_step(verifier, earlier);
	note_step(verifier, later);
	if (earlier->step == later->step)
		sk_note(verifier->diag, "they are calls of one step, and no core waits for another between them: only "
					"bytes of the same core in both, whatever the number of cores, are in order");
	else if (one_launch)
		sk_note(verifier->diag, "'%s' must await '%s', or a step that proves that it has finished%s",
			later_task, earlier_task, early_text(verifier, earlier, later));
	else
		note_launches(verifier, earlier->launch, later->launch);
}

static void report_within_call(struct sk_verifier *verifier, const struct sk_step_access *one,
			       const struct sk_step_access *other)
{
	uint32_t first = verifier->view->calls[one->call].first_argument;

	sk_error(verifier->diag, sk_verifier_place(verifier),
		 "launch '%s': the cores of task '%s' conflict: its arguments %u (%s) and %u (%s) share %s, and one of "
		 "them is written",
		 sk_verifier_launch(verifier, one->launch), sk_verifier_task(verifier, one), one->argument - first,
		 sk_access_tensor_text(verifier->arena, verifier->view, one), other->argument - first,
		 sk_access_tensor_text(verifier->arena, verifier->view, other),
		 sk_access_overlap_text(verifier->arena, verifier->view, one, other));
	note_step(verifier, one);
}

static void report_shared_write(struct sk_verifier *verifier, const struct sk_step_access *access)
{
	sk_error(verifier->diag, sk_verifier_place(verifier),
		 "launch '%s': the cores of task '%s' conflict: all of them write %s (%s), which is not divided",
		 sk_verifier_launch(verifier, access->launch), sk_verifier_task(verifier, access),
		 sk_access_tensor_text(verifier->arena, verifier->view, access),
		 sk_access_overlap_text(verifier->arena, verifier->view, access, access));
	note_step(verifier, access);
}

/* Rule 3. Without accesses no bytes belong to a core. */
static bool same_cores(struct sk_verifier *verifier, const struct sk_step_access *earlier,
		       const struct sk_step_access *later)
{
	const struct sk_plan_view *view = verifier->view;
	const struct sk_plan_step *one = &view->steps[earlier->step], *other = &view->steps[later->step];

	return one->lane == other->lane && one->core_set == other->core_set && earlier->argument != SK_NO_INDEX &&
	       verifier->ways->same_core(verifier, earlier, later);
}

/* Find the rule by which the earlier call comes before the later one, a different call; return false if there is none.
 * The accesses are for rule 3; without them (argument SK_NO_INDEX) the whole calls must be in order. */
static bool find_rule(struct sk_verifier *verifier, const struct sk_step_access *earlier,
		      const struct sk_step_access *later, enum sk_fact_kind *kind)
{
	const struct sk_plan_view *view = verifier->view;
	const struct sk_plan_step *one = &view->steps[earlier->step], *other = &view->steps[later->step];

	*kind = SK_FACT_LAUNCH;
	if (earlier->launch != later->launch)
		return sk_launch_before(&verifier->order, earlier->launch, later->launch);
	*kind = SK_FACT_HOME;
	if (one->core_set == other->core_set && one->core_set != SK_ALL_CORES)
		return true;
	*kind = SK_FACT_SAME_CORE;
	if (one == other)
		return same_cores(verifier, earlier, later);
	*kind = SK_FACT_KNOWN;
	if (is_of_state(view, later) ? sk_knows_returned(&verifier->knowledge, later->step, earlier->step)
				     : sk_knows(&verifier->knowledge, later->step, earlier->step))
		return true;
	*kind = SK_FACT_SAME_CORE;
	return same_cores(verifier, earlier, later);
}

static bool awaits(const struct sk_plan_view *view, uint32_t step, uint32_t awaited)
{
	const struct sk_plan_step *record = &view->steps[step];

	for (uint32_t i = 0; i < record->await_count; i++)
		if (view->awaits[record->first_await + i].step == awaited)
			return true;
	return false;
}

/* Record the reason for the order that find_rule has found. order: the order that requires it; NULL: their data. */
static void add_fact(struct sk_verifier *verifier, const struct sk_step_access *earlier,
		     const struct sk_step_access *later, const struct sk_wanted_order *order, enum sk_fact_kind kind)
{
	const struct sk_plan_view *view = verifier->view;
	struct sk_fact fact = {.earlier = *earlier, .later = *later, .order = order, .kind = kind};

	if (kind == SK_FACT_KNOWN && awaits(view, later->step, earlier->step)) {
		fact.kind = SK_FACT_AWAIT;
	} else if (kind == SK_FACT_KNOWN && same_cores(verifier, earlier, later)) {
		fact.kind = SK_FACT_SAME_CORE; /* the stronger reason */
	} else if (kind == SK_FACT_KNOWN) {
		struct sk_lesson lesson = sk_knowledge_lesson(&verifier->knowledge, later->step, earlier->step);

		fact.awaiting = lesson.awaiting;
		fact.awaited = lesson.awaited;
	}
	sk_array_push(verifier->arena, &verifier->facts->items, fact);
}

/* In the workspace one address may belong to several tensors. */
static bool is_in_workspace(const struct sk_verifier *verifier, const struct sk_step_access *access)
{
	return verifier->view->arguments[access->argument].space == SK_SPACE_WORKSPACE;
}

static bool same_tensor(const struct sk_verifier *verifier, const struct sk_step_access *one,
			const struct sk_step_access *other)
{
	const struct sk_plan_argument *arguments = verifier->view->arguments;

	return arguments[one->argument].tensor == arguments[other->argument].tensor;
}

/* A read finds the intended bytes: bytes that have been written, and last as bytes of the tensor that it names.
 * earlier: an access that last wrote some of them, or NULL if they are unwritten. Bytes from outside the package are
 * not checked. */
static void check_contents(struct sk_verifier *verifier, const struct sk_step_access *earlier,
			   const struct sk_step_access *later)
{
	const struct sk_plan_view *view = verifier->view;
	const struct sk_plan_argument *argument = &view->arguments[later->argument];
	bool output = argument->space == SK_SPACE_BINDING && view->tensors[argument->tensor].role == SK_ROLE_OUTPUT;

	if (verifier->stale || !sk_access_reads(argument) || (!output && !is_in_workspace(verifier, later)))
		return;
	if (earlier &&
	    (!sk_access_writes(&view->arguments[earlier->argument]) || same_tensor(verifier, earlier, later)))
		return;

	const char *reads = sk_arena_print(
		verifier->arena, "launch '%s': task '%s' reads %s", sk_verifier_launch(verifier, later->launch),
		sk_verifier_task(verifier, later), sk_access_tensor_text(verifier->arena, view, later));

	if (!earlier)
		sk_error(verifier->diag, sk_verifier_place(verifier),
			 "%s (%s), but no task before it has written all of that", reads,
			 sk_access_overlap_text(verifier->arena, view, later, later));
	else
		sk_error(verifier->diag, sk_verifier_place(verifier),
			 "%s, but task '%s' has last written %s there (%s)", reads, sk_verifier_task(verifier, earlier),
			 sk_access_tensor_text(verifier->arena, view, earlier),
			 sk_access_overlap_text(verifier->arena, view, earlier, later));
	verifier->stale = true;
}

/* Return true if the two run in network order. Temporaries that share bytes have no order of their own. */
static bool in_network_order(const struct sk_verifier *verifier, const struct sk_step_access *earlier,
			     const struct sk_step_access *later)
{
	const struct sk_plan_call *calls = verifier->view->calls;

	return calls[earlier->call].task <= calls[later->call].task ||
	       (is_in_workspace(verifier, later) && !same_tensor(verifier, earlier, later));
}

bool sk_verifier_orders(struct sk_verifier *verifier, const struct sk_step_access *earlier,
			const struct sk_step_access *later)
{
	enum sk_fact_kind kind;

	return earlier->call != later->call && find_rule(verifier, earlier, later, &kind) &&
	       in_network_order(verifier, earlier, later);
}

/* Called for each earlier access that must come before the current one; reports at most one error for the current
 * one. */
void sk_verifier_check_order(struct sk_verifier *verifier, const struct sk_step_access *earlier,
			     const struct sk_step_access *later)
{
	const struct sk_plan_view *view = verifier->view;
	enum sk_fact_kind kind;

	if (verifier->reported)
		return;
	if (earlier->call == later->call) {
		if (verifier->ways->allowed_within_call(verifier, earlier, later))
			return;
		report_within_call(verifier, earlier, later);
	} else if (!find_rule(verifier, earlier, later, &kind)) {
		report_unordered(verifier, earlier, later);
	} else if (!in_network_order(verifier, earlier, later)) {
		sk_error(verifier->diag, sk_verifier_place(verifier),
			 "task '%s' runs before task '%s', which is before it in the network and shares %s with it",
			 sk_verifier_task(verifier, earlier), sk_verifier_task(verifier, later),
			 sk_access_tensor_text(verifier->arena, view, later));
	} else {
		if (verifier->facts && later->launch < view->network_launch_count)
			add_fact(verifier, earlier, later, NULL, kind);
		return;
	}
	verifier->reported = true;
}

/* Task entries are run one by one, so each is proved on its own. SK_NO_INDEX: some bytes that the current access reads
 * have not been written. */
static void check_conflict(void *context, uint32_t earlier_index)
{
	struct sk_verifier *verifier = context;
	const struct sk_step_access *later = &verifier->accesses.items[verifier->current];
	const struct sk_step_access *earlier =
		earlier_index == SK_NO_INDEX ? NULL : &verifier->accesses.items[earlier_index];
	bool of_network = later->launch < verifier->view->network_launch_count;

	if (of_network)
		check_contents(verifier, earlier, later);
	if (earlier && (of_network || earlier->launch == later->launch))
		sk_verifier_check_order(verifier, earlier, later);
}

static void check_access(struct sk_verifier *verifier, const struct sk_step_access *access)
{
	const struct sk_plan_view *view = verifier->view;
	const struct sk_plan_argument *argument = &view->arguments[access->argument];
	struct sk_history *history = &verifier->workspace;
	struct sk_rows rows = sk_access_rows(view, argument);

	verifier->stale = false;
	verifier->reported = sk_access_writes(argument) && !sk_access_write_allowed(view, access);
	if (verifier->reported)
		report_shared_write(verifier, access);
	if (argument->space == SK_SPACE_CONSTANT || argument->space == SK_SPACE_SIZES ||
	    argument->space == SK_SPACE_SCRATCH)
		return; /* constants and sizes are never written (sk_plan_check_launch); the scratch belongs to this
			   core (scratch-check.c) */
	if (argument->space == SK_SPACE_BINDING)
		history = &verifier->bindings[argument->index];
	else if (argument->space == SK_SPACE_STATE)
		history = &verifier->states;
	else if (verifier->in_rows[argument->tensor].stride) {
		const struct sk_plan_tensor *tensor = &view->tensors[argument->tensor];

		history = verifier->in_rows[argument->tensor].history;
		rows.start += tensor->offset - sk_plan_tensor_start(&view->launches[access->launch], tensor);
	}
	verifier->current = (uint32_t)verifier->accesses.count;
	sk_array_push(verifier->arena, &verifier->accesses, *access);
	sk_history_access(history, &rows, verifier->current, sk_plan_access(argument), check_conflict, verifier);
}

static void report_overtaken(struct sk_verifier *verifier, uint32_t overtaker, uint32_t task)
{
	const struct sk_plan_task *tasks = verifier->view->tasks;

	sk_error(verifier->diag, sk_verifier_place(verifier),
		 "task '%s' runs before task '%s', which is before it in the network and in its stream",
		 sk_plan_string(&tasks[overtaker].name), sk_plan_string(&tasks[task].name));
}

/* The launch of the previous task in the stream is this launch or precedes it. Within the launch the stream requires an
 * order of some tasks only. */
static void check_stream(struct sk_verifier *verifier, uint32_t launch, uint32_t step, uint32_t call)
{
	struct sk_demands *demands = &verifier->demands;
	uint32_t task = verifier->view->calls[call].task, previous = demands->previous[task];
	uint32_t overtaker = sk_demands_overtaker(demands, launch, step, call), earlier;

	if (overtaker != SK_NO_INDEX)
		report_overtaken(verifier, overtaker, task);
	if (previous == SK_NO_INDEX)
		return;
	earlier = demands->places[previous].launch;
	if (earlier != launch && demands->places[previous].call > call) {
		report_overtaken(verifier, task, previous);
	} else if (earlier != launch && !sk_launch_before(&verifier->order, earlier, launch) &&
		   !verifier->order.exhausted) {
		const char *earlier_launch = sk_verifier_launch(verifier, earlier),
			   *later_launch = sk_verifier_launch(verifier, launch);

		sk_error(verifier->diag, sk_verifier_place(verifier),
			 "launches '%s' and '%s' are not ordered: task '%s' and task '%s' are of one stream",
			 earlier_launch, later_launch, sk_plan_string(&verifier->view->tasks[previous].name),
			 sk_plan_string(&verifier->view->tasks[task].name));
		note_launches(verifier, earlier, launch);
	}
}

/* A gate holds for all further tasks of a stream; record it only for tasks that have awaits for it. */
static bool is_worth_a_fact(const struct sk_plan_view *view, const struct sk_demand *demand, uint32_t step)
{
	if (!demand->is_gate)
		return true;
	if (view->steps[demand->step].flags & SK_STEP_VECTOR_SIDE && awaits(view, step, demand->step - 1))
		return false; /* the fact is recorded for the cube side */
	return awaits(view, step, demand->step);
}

static void check_demand(struct sk_verifier *verifier, const struct sk_demand *demand,
			 const struct sk_step_access *later)
{
	const struct sk_plan_view *view = verifier->view;
	const struct sk_wanted_order *order = demand->order;
	const struct sk_step_access earlier = {demand->launch, demand->step, demand->call, SK_NO_INDEX};
	enum sk_fact_kind kind;

	if (earlier.call < later->call && find_rule(verifier, &earlier, later, &kind)) {
		if (verifier->facts && is_worth_a_fact(view, demand, later->step))
			add_fact(verifier, &earlier, later, order, kind);
		return;
	}
	if (verifier->order.exhausted)
		return; /* the answer is unknown */

	const char *event = order->event ? sk_arena_print(verifier->arena, " (event '%s')", order->event) : "";

	sk_error(verifier->diag, sk_verifier_place(verifier),
		 "nothing orders task '%s' and task '%s', which comes after it%s", sk_verifier_task(verifier, &earlier),
		 sk_verifier_task(verifier, later), event);
	if (demand->is_gate)
		sk_note(verifier->diag,
			"the event orders all of stream %u up to '%s' before all of stream %u from '%s' on",
			view->tasks[order->earlier].stream, sk_plan_string(&view->tasks[order->earlier].name),
			view->tasks[order->later].stream, sk_plan_string(&view->tasks[order->later].name));
}

/* The call comes after its stream's earlier tasks; in each lane the stream has one home. */
static void pass_call(struct sk_verifier *verifier, uint32_t launch, uint32_t step, uint32_t call)
{
	const struct sk_step_access place = {launch, step, call, SK_NO_INDEX};
	const struct sk_plan_view *view = verifier->view;

	if (!sk_demands_pass(&verifier->demands, launch, step, call))
		sk_error(verifier->diag, (struct sk_place){.file = verifier->file},
			 "launch '%s': task '%s' has another home in lane %s than its stream's tasks before it",
			 sk_verifier_launch(verifier, launch), sk_verifier_task(verifier, &place),
			 sk_plan_string(&view->lanes[view->steps[step].lane]));
}

/* Check the orders that bytes do not show and that have a task of the step as their later one. */
static void check_demands(struct sk_verifier *verifier, uint32_t launch, uint32_t index)
{
	const struct sk_plan_step *step = &verifier->view->steps[index];

	for (uint32_t call = step->first_call; call < step->first_call + step->call_count; call++) {
		const struct sk_step_access later = {launch, index, call, SK_NO_INDEX};

		check_stream(verifier, launch, index, call);
		sk_demands_collect(&verifier->demands, launch, call);
		verifier->steps += verifier->demands.list.count;
		for (size_t i = 0; i < verifier->demands.list.count; i++)
			check_demand(verifier, &verifier->demands.list.items[i], &later);
		pass_call(verifier, launch, index, call);
	}
	if (sk_side_count(step) > 1)
		pass_call(verifier, launch, index + 1, step[1].first_call);
}

/* debug-sync-all: a step begins when the previous step has ended on all its cores. The previous step began when its own
 * predecessor had ended, so all earlier steps have ended on all cores of all lanes. The sides of a mix task are one
 * step here. */
static void check_synchronised(struct sk_verifier *verifier, uint32_t launch, uint32_t index)
{
	const struct sk_plan_step *step = &verifier->view->steps[index], *before;
	bool same_home;

	if (step->flags & (SK_STEP_EARLY_WAIT | SK_STEP_EARLY_SET))
		sk_error(verifier->diag, sk_verifier_place(verifier),
			 "launch '%s' has debug-sync-all, but task '%s' starts early",
			 sk_verifier_launch(verifier, launch), task_name(verifier, index));
	if (index == verifier->view->launches[launch].first_step)
		return;
	before = step - (step[-1].flags & SK_STEP_VECTOR_SIDE ? 2 : 1);
	same_home = step->core_set != SK_ALL_CORES && step->core_set == before->core_set;
	if (same_home || sk_knows(&verifier->knowledge, index, (uint32_t)(before - verifier->view->steps)))
		return;
	sk_error(verifier->diag, sk_verifier_place(verifier),
		 "launch '%s' has debug-sync-all, but task '%s' may begin before task '%s' has ended on all cores",
		 sk_verifier_launch(verifier, launch), task_name(verifier, index),
		 task_name(verifier, (uint32_t)(before - verifier->view->steps)));
}

/* Check the call's accesses to hidden state, or all its other accesses. */
static void check_call(struct sk_verifier *verifier, uint32_t launch, uint32_t step, uint32_t call, bool states)
{
	static const unsigned passes[] = {SK_ACCESS_READ, SK_ACCESS_READ | SK_ACCESS_WRITE, SK_ACCESS_WRITE};
	const struct sk_plan_view *view = verifier->view;
	const struct sk_plan_call *record = &view->calls[call];

	/* Reads before writes, so that the call's writes meet its own reads, and none of its reads finds its own
	 * writes. */
	for (size_t pass = 0; pass < sizeof(passes) / sizeof(passes[0]); pass++)
		for (uint32_t i = 0; i < record->argument_count; i++) {
			const struct sk_step_access access = {launch, step, call, record->first_argument + i};
			const struct sk_plan_argument *argument = &view->arguments[access.argument];

			if (is_of_state(view, &access) != states || sk_plan_access(argument) != passes[pass])
				continue;
			verifier->ways->check_access(verifier, &access);
		}
}

static void check_accesses(struct sk_verifier *verifier, uint32_t launch, uint32_t index, bool states)
{
	const struct sk_plan_step *step = &verifier->view->steps[index];

	for (uint32_t i = 0; i < step->call_count; i++)
		check_call(verifier, launch, index, step->first_call + i, states);
}

/* Check the orders of the step that are not its data's. */
static void check_other_orders(struct sk_verifier *verifier, uint32_t launch, uint32_t index)
{
	const struct sk_plan_view *view = verifier->view;

	if (launch < view->network_launch_count)
		check_demands(verifier, launch, index);
	if (sk_plan_form(&view->launches[launch])->flags & SK_LAUNCH_SYNC_ALL)
		check_synchronised(verifier, launch, index);
}

/* For a mix task, check the cube side; its accesses are those of both sides. A kernel that waits by itself begins its
 * call before its awaits. */
static void check_step(struct sk_verifier *verifier, uint32_t launch, uint32_t index)
{
	const struct sk_plan_view *view = verifier->view;
	bool waits = view->steps[index].flags & SK_STEP_EARLY_WAIT;

	if (waits)
		check_accesses(verifier, launch, index, true);
	sk_knowledge_pass(&verifier->knowledge, index);
	verifier->ways->check_step(verifier, launch, index);
	if (!waits)
		check_accesses(verifier, launch, index, true);
	check_accesses(verifier, launch, index, false);
	if (verifier->scratch)
		sk_scratch_check_step(verifier->scratch, launch, index);
}

/* Every awaited step publishes. */
static bool check_awaits(struct sk_verifier *verifier, uint32_t launch, uint32_t index)
{
	const struct sk_plan_step *step = &verifier->view->steps[index];
	bool sound = true;

	for (uint32_t i = 0; i < step->await_count; i++) {
		uint32_t awaited = verifier->view->awaits[step->first_await + i].step;

		if (verifier->view->steps[awaited].flags & SK_STEP_PUBLISH)
			continue;
		sk_error(verifier->diag, sk_verifier_place(verifier),
			 "launch '%s': task '%s' awaits task '%s', which does not publish its progress, so the "
			 "await never ends",
			 sk_verifier_launch(verifier, launch), task_name(verifier, index),
			 task_name(verifier, awaited));
		sound = false;
	}
	return sound;
}

static void check_launch(struct sk_verifier *verifier, uint32_t launch)
{
	const struct sk_plan_launch *record = &verifier->view->launches[launch];

	bool sound = true;

	for (uint32_t i = 0; i < sk_plan_form(record)->step_count; i++)
		sound &= check_awaits(verifier, launch, record->first_step + i);
	if (!sound)
		return;
	if (!sk_knowledge_begin(&verifier->knowledge, record)) {
		sk_error(verifier->diag, sk_verifier_place(verifier),
			 "launch '%s' has too many steps on too many homes to be proved",
			 sk_verifier_launch(verifier, launch));
		return;
	}
	for (uint32_t i = 0; i < sk_plan_form(record)->step_count;
	     i += sk_side_count(&verifier->view->steps[record->first_step + i]))
		check_step(verifier, launch, record->first_step + i);
}

void sk_verifier_init(struct sk_verifier *verifier)
{
	uint32_t bindings = verifier->view->binding_count;

	sk_launch_order_build(&verifier->order, verifier->arena, verifier->view);
	sk_history_pool_init(&verifier->pool, verifier->arena, MAX_LOOKS);
	verifier->bindings = SK_NEW_ARRAY(verifier->arena, struct sk_history, bindings);
	for (uint32_t i = 0; i < bindings; i++)
		sk_history_init(&verifier->bindings[i], &verifier->pool);
	sk_history_init(&verifier->workspace, &verifier->pool);
	sk_history_init(&verifier->states, &verifier->pool);
}

/* Call `visit` for all arguments of calls that access rows. Rows of a plan of one size may have no bytes. */
static void for_all_rows(struct sk_verifier *verifier,
			 void (*visit)(struct sk_verifier *verifier, const struct sk_plan_argument *argument,
				       uint64_t stride))
{
	const struct sk_plan_view *view = verifier->view;

	for (uint32_t i = 0; i < view->launch_count; i++) {
		struct sk_plan_calls calls = sk_plan_launch_calls(view, &view->launches[i]);

		for (const struct sk_plan_call *call = calls.first; call < calls.end; call++)
			for (uint32_t a = 0; a < call->argument_count; a++) {
				const struct sk_plan_argument *argument = &view->arguments[call->first_argument + a];
				struct sk_rows rows = sk_access_rows(view, argument);

				if (argument->kind == SK_ARGUMENT_POINTER && rows.count > 1 && rows.width)
					visit(verifier, argument, rows.stride);
			}
	}
}

static void note_stride(struct sk_verifier *verifier, const struct sk_plan_argument *argument, uint64_t stride)
{
	struct sk_verifier_rows *rows = &verifier->in_rows[argument->tensor];

	if (argument->space != SK_SPACE_WORKSPACE)
		return;
	rows->several |= rows->stride && rows->stride != stride;
	rows->stride = stride;
}

static void add_stride(struct sk_verifier *verifier, const struct sk_plan_argument *argument, uint64_t stride)
{
	if (argument->space == SK_SPACE_BINDING)
		sk_history_add_stride(&verifier->bindings[argument->index], stride);
	if (argument->space == SK_SPACE_WORKSPACE)
		sk_history_add_stride(verifier->in_rows[argument->tensor].history, stride);
}

/* A temporary and its bytes in one of the workspaces. */
struct placed {
	uint64_t low, high;
	uint32_t tensor;
};

static int compare_placed(const void *a, const void *b)
{
	const struct placed *one = a, *other = b;

	return (one->low > other->low) - (one->low < other->low);
}

/* Return the temporaries, sorted by their places. */
static struct placed *place_temporaries(struct sk_verifier *verifier, bool unshared, uint32_t *count)
{
	const struct sk_plan_view *view = verifier->view;
	struct placed *placed = SK_NEW_ARRAY(verifier->arena, struct placed, view->tensor_count);

	*count = 0;
	for (uint32_t i = 0; i < view->tensor_count; i++) {
		const struct sk_plan_tensor *tensor = &view->tensors[i];
		uint64_t low = unshared ? tensor->unshared_offset : tensor->offset;

		if (tensor->space == SK_SPACE_WORKSPACE)
			placed[(*count)++] = (struct placed){low, low + sk_plan_type(tensor)->bytes, i};
	}
	if (*count)
		qsort(placed, *count, sizeof(*placed), compare_placed);
	return placed;
}

static bool may_share(const struct sk_verifier *verifier, uint32_t tensor, uint32_t other_tensor, bool unshared)
{
	const struct sk_verifier_rows *one = &verifier->in_rows[tensor], *other = &verifier->in_rows[other_tensor];

	return !verifier->once[tensor] && !verifier->once[other_tensor] && one->stride == other->stride &&
	       (!one->stride || !(unshared || one->several || other->several));
}

static void report_shared(struct sk_verifier *verifier, const struct placed *one, const struct placed *other)
{
	const struct sk_plan_tensor *tensors = verifier->view->tensors;
	bool once = verifier->once[one->tensor] || verifier->once[other->tensor];
	bool first = once ? verifier->once[one->tensor] : verifier->in_rows[one->tensor].stride;

	sk_error(verifier->diag, sk_verifier_place(verifier),
		 "temporary '%s' is %s, but shares bytes of the workspace with '%s'",
		 sk_plan_string(&tensors[first ? one->tensor : other->tensor].name),
		 once ? "written by a launch that runs once" : "accessed in rows",
		 sk_plan_string(&tensors[first ? other->tensor : one->tensor].name));
}

/* Temporaries in rows that share bytes get a common history; empty ones share none. The workspace is cut wherever no
 * temporary has bytes on both sides. Within each piece either no temporary is accessed in rows, or all are, with one
 * stride. In the workspace of tasks' own entries no bytes are shared at all. */
static void place_rows(struct sk_verifier *verifier, bool unshared)
{
	uint32_t count;
	const struct placed *placed = place_temporaries(verifier, unshared, &count), *last = NULL;

	for (uint32_t i = 0; i < count; i++) {
		struct sk_verifier_rows *rows = &verifier->in_rows[placed[i].tensor];
		const struct sk_verifier_rows *before = last ? &verifier->in_rows[last->tensor] : NULL;
		bool empty = placed[i].low == placed[i].high, shares = last && last->high > placed[i].low && !empty;

		if (shares && !may_share(verifier, last->tensor, placed[i].tensor, unshared))
			report_shared(verifier, last, &placed[i]);
		if (!unshared && rows->stride && shares && before->history) {
			rows->history = before->history;
		} else if (!unshared && rows->stride) {
			rows->history = SK_NEW(verifier->arena, struct sk_history);
			sk_history_init(rows->history, &verifier->pool);
		}
		last = (!shares && !empty) || (shares && placed[i].high > last->high) ? &placed[i] : last;
	}
}

static void count_calls(const struct sk_plan_view *view, const struct sk_plan_step *step, uint32_t *runs)
{
	struct sk_plan_calls calls = sk_plan_step_calls(view, step);

	for (const struct sk_plan_call *call = calls.first; call < calls.end; call++)
		runs[call->task] += !(step->flags & SK_STEP_VECTOR_SIDE);
}

/* Each task runs once in the network; its own entry, if any, runs this task only. */
static void check_runs(struct sk_verifier *verifier)
{
	const struct sk_plan_view *view = verifier->view;
	uint32_t *runs = SK_NEW_ARRAY(verifier->arena, uint32_t, view->task_count);

	for (uint32_t i = 0; i < view->launch_count; i++) {
		const struct sk_plan_launch *launch = &view->launches[i];

		if (sk_plan_form(launch)->kind == SK_LAUNCH_TASK && sk_plan_form(launch)->task_count != 1)
			sk_error(verifier->diag, sk_verifier_place(verifier),
				 "the entry '%s' has %u tasks instead of one", sk_verifier_launch(verifier, i),
				 sk_plan_form(launch)->task_count);
		for (uint32_t j = 0;
		     j < sk_plan_form(launch)->step_count && sk_plan_form(launch)->kind != SK_LAUNCH_TASK; j++)
			count_calls(view, &view->steps[launch->first_step + j], runs);
	}
	for (uint32_t i = 0; i < view->task_count; i++)
		if (runs[i] != 1)
			sk_error(verifier->diag, sk_verifier_place(verifier), "task '%s' runs %u times instead of once",
				 sk_plan_string(&view->tasks[i].name), runs[i]);
}

static uint64_t count_steps(const struct sk_verifier *verifier)
{
	return verifier->steps + MAX_LOOKS - verifier->pool.looks_left + verifier->pool.steps + verifier->order.steps;
}

void sk_verifier_check_launches(struct sk_verifier *verifier)
{
	for (uint32_t launch = 0; launch < verifier->view->launch_count; launch++)
		check_launch(verifier, launch);
	if (verifier->order.exhausted)
		sk_error(verifier->diag, sk_verifier_place(verifier),
			 "the plan has too many unordered launches to be proved");
	if (!verifier->pool.looks_left)
		sk_error(verifier->diag, sk_verifier_place(verifier),
			 "the plan has too many accesses to common bytes to be proved");
	if (verifier->demands.exhausted)
		sk_error(verifier->diag, sk_verifier_place(verifier),
			 "the plan has too many events between too many streams to be proved");
}

static bool same_core(struct sk_verifier *verifier, const struct sk_step_access *one,
		      const struct sk_step_access *other)
{
	return sk_access_same_core(verifier->view, one, other);
}

static bool allowed_within_call(struct sk_verifier *verifier, const struct sk_step_access *one,
				const struct sk_step_access *other)
{
	return sk_access_allowed_within_call(verifier->view, one, other);
}

static const struct sk_verifier_ways ways = {check_access, check_other_orders, same_core, allowed_within_call};

bool sk_verify_counting(struct sk_arena *arena, struct sk_diag *diag, const struct sk_plan_view *view, const char *file,
			const struct sk_wanted_order *orders, size_t order_count, struct sk_facts *facts,
			uint64_t *steps)
{
	struct sk_verifier verifier = {.arena = arena,
				       .diag = diag,
				       .view = view,
				       .file = file,
				       .ways = &ways,
				       .knowledge = {.arena = arena, .view = view, .with_lessons = facts != NULL},
				       .facts = facts};
	unsigned errors = diag->errors;

	check_runs(&verifier);
	verifier.scratch = sk_scratch_check_new(arena, diag, view, file, facts);
	sk_demands_build(&verifier.demands, arena, view, orders, order_count);
	sk_verifier_init(&verifier);
	verifier.in_rows = SK_NEW_ARRAY(arena, struct sk_verifier_rows, view->tensor_count);
	verifier.once = sk_once_check(arena, diag, view, file);
	for_all_rows(&verifier, note_stride);
	place_rows(&verifier, false);
	place_rows(&verifier, true);
	for_all_rows(&verifier, add_stride);
	sk_verifier_check_launches(&verifier);
	*steps = count_steps(&verifier);
	return diag->errors == errors;
}

bool sk_verify(struct sk_arena *arena, struct sk_diag *diag, const struct sk_plan_view *view, const char *file,
	       const struct sk_wanted_order *orders, size_t order_count, struct sk_facts *facts)
{
	uint64_t steps;

	return sk_plan_check_in_threads(diag, view, file, 1) &&
	       sk_verify_counting(arena, diag, view, file, orders, order_count, facts, &steps);
}
