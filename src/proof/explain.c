/* See proof.h. */
#include "src/proof/proof.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"
#include "format/plan/dims-forms.h"
#include "format/plan/dims.h"
#include "format/plan/plan.h"
#include "format/skdims.h"
#include "format/skplan.h"
#include "src/proof/proof-parts.h"

/* The step's task, which identifies the step in sentences. */
static const char *task_name(const struct sk_plan_view *plan, uint32_t step)
{
	return sk_plan_string(&sk_plan_step_task(plan, &plan->steps[step])->name);
}

static const char *task_of(const struct sk_plan_view *plan, const struct sk_step_access *access)
{
	return sk_plan_string(&sk_access_task(plan, access)->name);
}

static const char *launch_name(const struct sk_plan_view *plan, uint32_t launch)
{
	return sk_plan_string(&plan->launches[launch].name);
}

uint32_t sk_explain_find(struct sk_diag *diag, const struct sk_plan_view *plan, const char *name)
{
	const char **names = SK_NEW_ARRAY(diag->arena, const char *, plan->task_count);

	for (uint32_t i = 0; i < plan->task_count; i++) {
		names[i] = sk_plan_string(&plan->tasks[i].name);
		if (!strcmp(names[i], name))
			return i;
	}
	sk_error(diag, (struct sk_place){0}, "there is no task '%s' to explain%s", name,
		 sk_did_you_mean(diag->arena, name, names, plan->task_count));
	return SK_NO_INDEX;
}

/* ---- facts in sentences ---- */

static void find_usual_sizes(const struct sk_dims_view *dims, uint64_t *sizes)
{
	for (uint32_t i = 0; i < dims->dimension_count; i++)
		sizes[i] = dims->dimensions[i].usual;
}

struct sk_plan_view *sk_usual_plan(const struct sk_plan_view *plan, const struct sk_dims_view *dims,
				   struct sk_plan_view *room)
{
	uint64_t sizes[SK_MAX_DIMENSIONS];

	if (!dims->dims)
		return NULL;
	find_usual_sizes(dims, sizes);
	if (!sk_dims_concretise(dims, plan, sizes, room))
		sk_out_of_memory();
	return room;
}

struct sk_explanation_index sk_explanation_index(struct sk_arena *arena, const struct sk_plan_view *plan,
						 const struct sk_dims_view *dims, const struct sk_plan_view *usual_plan,
						 const struct sk_facts *facts)
{
	struct sk_explanation_index index = {.temporaries = sk_temporaries_sort(arena, plan),
					     .calls = sk_find_calls(arena, plan),
					     .usual_plan = usual_plan};
	uint64_t sizes[SK_MAX_DIMENSIONS], *usual;
	size_t count = facts->items.count;

	if (dims && dims->dims) {
		find_usual_sizes(dims, sizes);
		usual = SK_NEW_ARRAY(arena, uint64_t, dims->value_count + (size_t)1);
		sk_dims_evaluate(dims, sizes, usual);
		index.dims = dims;
		index.forms = sk_forms_make(arena, dims);
		index.usual = usual;
	}
	for (int later = 0; later < 2; later++) {
		index.first[later] = SK_NEW_ARRAY(arena, uint32_t, plan->call_count + 1);
		index.next[later] = SK_NEW_ARRAY(arena, uint32_t, count + 1);
		for (uint32_t i = 0; i < plan->call_count; i++)
			index.first[later][i] = SK_NO_INDEX;
		for (size_t i = count; i-- > 0;) {
			const struct sk_fact *fact = &facts->items.items[i];
			uint32_t call = later ? fact->later.call : fact->earlier.call;

			index.next[later][i] = index.first[later][call];
			index.first[later][call] = (uint32_t)i;
		}
	}
	return index;
}

/* Return true if the fact's order names its two tasks; otherwise it is an event's order of their streams. */
static bool is_of_its_tasks(const struct sk_plan_view *plan, const struct sk_fact *fact)
{
	return plan->calls[fact->earlier.call].task == fact->order->earlier &&
	       plan->calls[fact->later.call].task == fact->order->later;
}

static const char *event_text(const struct sk_explanation *explanation, const struct sk_wanted_order *order)
{
	const struct sk_plan_task *earlier = &explanation->plan->tasks[order->earlier];
	const struct sk_plan_task *later = &explanation->plan->tasks[order->later];

	return sk_arena_print(explanation->arena,
			      "event '%s' puts all of stream %u up to '%s' before all of stream %u from '%s' on",
			      order->event, earlier->stream, sk_plan_string(&earlier->name), later->stream,
			      sk_plan_string(&later->name));
}

/* "'scale' writes 't', which it reads": "it" is the fact's later task, or the earlier one. */
static const char *deeds_text(const struct sk_explanation *explanation, const struct sk_temporaries *temporaries,
			      const struct sk_fact *fact, bool later)
{
	const struct sk_plan_view *plan = explanation->plan;
	const char *first = later ? sk_arena_print(explanation->arena, "'%s'", task_of(plan, &fact->earlier)) : "it";
	const char *second = later ? "it" : sk_arena_print(explanation->arena, "'%s'", task_of(plan, &fact->later));

	if (fact->order && !is_of_its_tasks(plan, fact))
		return event_text(explanation, fact->order);
	if (fact->order && fact->order->event)
		return sk_arena_print(explanation->arena, "%s records event '%s', which %s waits for", first,
				      fact->order->event, second);
	if (fact->order)
		return sk_arena_print(explanation->arena, "%s comes after %s, as the manifest says", second, first);

	const char *earlier_tensor = sk_fact_tensor_text(explanation->arena, plan, temporaries, &fact->earlier);
	const char *later_tensor = sk_fact_tensor_text(explanation->arena, plan, temporaries, &fact->later);
	const char *earlier_deed = sk_access_writes(&plan->arguments[fact->earlier.argument]) ? "writes" : "reads";
	const char *later_deed = sk_access_writes(&plan->arguments[fact->later.argument]) ? "writes" : "reads";

	if (strcmp(earlier_tensor, later_tensor) != 0)
		return sk_arena_print(explanation->arena, "%s %s %s, and %s %s %s in the same bytes", first,
				      earlier_deed, earlier_tensor, second, later_deed, later_tensor);
	return sk_arena_print(explanation->arena, "%s %s %s, which %s %s%s", first, earlier_deed, earlier_tensor,
			      second, later_deed, earlier_deed == later_deed ? " as well" : "");
}

static bool follows_directly(const struct sk_plan_view *plan, uint32_t later, uint32_t earlier)
{
	const struct sk_plan_launch *launch = &plan->launches[later];

	for (uint32_t i = 0; i < sk_plan_form(launch)->follow_count; i++)
		if (plan->follows[launch->first_follow + i] == earlier)
			return true;
	return false;
}

/* The mechanism that orders the two. */
static const char *cover_text(const struct sk_explanation *explanation, const struct sk_fact *fact)
{
	const struct sk_plan_view *plan = explanation->plan;
	struct sk_arena *arena = explanation->arena;
	const char *earlier = task_of(plan, &fact->earlier), *later = task_of(plan, &fact->later);

	switch (fact->kind) {
	case SK_FACT_AWAIT:
		return sk_arena_print(arena, "'%s' awaits '%s'", later, earlier);
	case SK_FACT_KNOWN:
		return sk_arena_print(
			arena, "no await of its own: '%s' awaits '%s', and with that knows that '%s' has ended",
			task_name(plan, fact->awaiting),
			sk_plan_string(&sk_plan_step_last_task(plan, &plan->steps[fact->awaited])->name), earlier);
	case SK_FACT_HOME:
		return sk_arena_print(arena,
				      "no await: one core, the home of stream %u, runs both, one after the other",
				      plan->homes[plan->steps[fact->later.step].core_set].stream);
	case SK_FACT_SAME_CORE:
		return "no await: however many cores there are, each byte falls to the same core in both";
	case SK_FACT_LAUNCH:
		break;
	}
	return sk_arena_print(arena, "launch %s starts when %s has ended%s", launch_name(plan, fact->later.launch),
			      launch_name(plan, fact->earlier.launch),
			      follows_directly(plan, fact->later.launch, fact->earlier.launch) ? ""
											       : ", by way of others");
}

/* ---- one task ---- */

/* Escape names; end a line only where the format does. */
static void print_escaped(const struct sk_explanation *explanation, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void print_escaped(const struct sk_explanation *explanation, const char *format, ...)
{
	bool line_ends = format[strlen(format) - 1] == '\n';
	va_list arguments;

	va_start(arguments, format);
	char *text = sk_arena_print_list(explanation->arena, format, arguments);
	va_end(arguments);
	if (line_ends)
		text[strlen(text) - 1] = '\0';
	sk_escape_print(text, explanation->stream);
	if (line_ends)
		fputc('\n', explanation->stream);
}

/* Return "16384 elements", or "32*batch*seq elements (4096 at the usual sizes)" for a number that depends on sizes.
 * noun: " elements", or "". */
static const char *size_text(const struct sk_explanation *explanation, enum sk_dims_table table, size_t record,
			     size_t offset, uint64_t number, const char *noun)
{
	const struct sk_explanation_index *index = explanation->index;
	uint32_t value = SK_NO_INDEX;

	if (index->dims)
		value = sk_dims_value_of(index->dims, table, (uint32_t)record, offset);
	if (value == SK_NO_INDEX)
		return sk_arena_print(explanation->arena, "%" PRIu64 "%s", number, noun);
	return sk_arena_print(explanation->arena, "%s%s (%" PRIu64 " at the usual sizes)",
			      sk_forms_text(explanation->arena, index->forms, value), noun, index->usual[value]);
}

static const char *extent_text(const struct sk_explanation *explanation, const struct sk_plan_step *step,
			       const char *noun)
{
	return size_text(explanation, SK_DIMS_STEPS, (size_t)(step - explanation->plan->steps),
			 offsetof(struct sk_plan_step, extent), step->extent, noun);
}

/* Say the sizes that choices of speed are made for. */
static void explain_sizes(const struct sk_explanation *explanation, const struct sk_plan_step *step)
{
	const struct sk_dims_view *dims = explanation->index->dims;
	const struct sk_plan_view *plan = explanation->plan;
	const struct sk_plan_launch *launch = &plan->launches[sk_plan_step_task(plan, step)->launch];
	uint64_t sizes[SK_MAX_DIMENSIONS];
	char text[SK_DIMS_TEXT_SIZE];

	if (!dims)
		return;
	find_usual_sizes(dims, sizes);
	sk_dims_sizes_text(dims, sk_plan_string(&sk_plan_form(launch)->network), sizes, text, sizeof(text));
	if (*text)
		print_escaped(explanation, "  Units and tiles are chosen for the usual sizes, %s, and right for all.\n",
			      text);
}

/* Say what the planner's order has changed for the step: the first step that comes after it, and is before it in the
 * list. */
static void explain_order(const struct sk_explanation *explanation, const struct sk_plan_launch *launch,
			  const struct sk_plan_step *step)
{
	const struct sk_plan_view *plan = explanation->plan;
	uint32_t task = sk_plan_step_calls(plan, step).first->task;
	const struct sk_plan_step *end = &plan->steps[launch->first_step + sk_plan_form(launch)->step_count];

	if (!(sk_plan_form(launch)->flags & SK_LAUNCH_ORDERED))
		return;
	fputs("  The steps of the launch are in an order that takes less time than the list's, by the planner's "
	      "estimate (stream-order=1 keeps the list's)",
	      explanation->stream);
	for (const struct sk_plan_step *other = step + 1; other < end; other++) {
		if (sk_plan_step_calls(plan, other).first->task >= task)
			continue;
		print_escaped(explanation, ": it runs before task '%s', which the list has before it",
			      task_name(plan, (uint32_t)(other - plan->steps)));
		break;
	}
	fputs(".\n", explanation->stream);
}

static void explain_place(const struct sk_explanation *explanation, const struct sk_plan_task *task,
			  const struct sk_plan_step *step, uint32_t call)
{
	const struct sk_plan_view *plan = explanation->plan;
	const struct sk_plan_launch *launch = &plan->launches[task->launch];
	FILE *stream = explanation->stream;

	fputs("  It is ", stream);
	if (step->call_count > 1)
		print_escaped(explanation, "call %u of %u in ", call - step->first_call + 1, step->call_count);
	print_escaped(explanation, "step %u of %u of lane %s in launch %s (%u of %u), which ", step->number,
		      sk_plan_form(launch)->lane_steps[step->lane], sk_plan_string(&plan->lanes[step->lane]),
		      sk_plan_string(&launch->name), task->launch + 1, plan->network_launch_count);
	if (!sk_plan_form(launch)->follow_count)
		fputs("follows no other", stream);
	for (uint32_t i = 0; i < sk_plan_form(launch)->follow_count; i++)
		print_escaped(explanation, "%s%s", i ? ", " : "follows ",
			      launch_name(plan, plan->follows[launch->first_follow + i]));
	fputs(".\n", stream);
	explain_order(explanation, launch, step);
}

static void explain_first_core(const struct sk_explanation *explanation, const struct sk_plan_step *step)
{
	uint64_t first_core = sk_plan_first_core(explanation->plan, step);

	if (first_core && !(step->flags & SK_STEP_RESIDENT))
		print_escaped(explanation,
			      "  Only a few cores have work: the first is core %" PRIu64
			      " modulo their number, so that unrelated work can run on others.\n",
			      first_core);
	if (step->flags & SK_STEP_OWN_AWAITS)
		fputs("  Cores without a block do not await: nothing that they do later rests on it.\n",
		      explanation->stream);
}

static void explain_work(const struct sk_explanation *explanation, const struct sk_plan_step *step)
{
	const struct sk_plan_view *plan = explanation->plan;

	switch (step->kind) {
	case SK_STEP_SPLIT: {
		const struct sk_plan_partition *partition = &plan->partitions[step->partition];

		if (partition->blocks)
			print_escaped(explanation,
				      "  All cores share its %s, as they share %" PRIu64 " blocks of %s.\n",
				      extent_text(explanation, step, " elements"), partition->blocks,
				      size_text(explanation, SK_DIMS_PARTITIONS, step->partition,
						offsetof(struct sk_plan_partition, rows), partition->rows, " rows"));
		else
			print_escaped(explanation, "  All cores share its %s, in whole units of %s.\n",
				      extent_text(explanation, step, " elements"),
				      size_text(explanation, SK_DIMS_PARTITIONS, step->partition,
						offsetof(struct sk_plan_partition, unit), partition->unit, ""));
		if (step->tile)
			print_escaped(explanation,
				      "  It is in a tile group: each core makes the step's calls in turn for %" PRIu64
				      " of them, then for the next.\n",
				      step->tile);
		break;
	}
	case SK_STEP_BLOCKS:
		if (step->flags & SK_STEP_CUBE_SIDE)
			print_escaped(
				explanation,
				"  The %u blocks of its cube side and the %u of its vector side run at once, each on a "
				"core of its own.\n",
				step->blocks, step[1].blocks);
		else if (step->flags & SK_STEP_RESIDENT)
			print_escaped(explanation, "  Its %u blocks run at once, each on a core of its own.\n",
				      step->blocks);
		else
			print_escaped(explanation,
				      "  Its %u blocks run on all cores, block b on core b modulo their number.\n",
				      step->blocks);
		break;
	case SK_STEP_BLOCKS_RANGE:
		print_escaped(explanation, "  Its %u blocks run on all cores, each computes its range of %s.\n",
			      step->blocks, extent_text(explanation, step, ""));
		break;
	default:
		print_escaped(
			explanation,
			"  One core runs it: the home of stream %u, which is core %u modulo the number of cores.\n",
			plan->homes[step->core_set].stream, plan->homes[step->core_set].stream);
	}
}

/* Print the traffic that a tile group saves, and the call's tensors that never leave the core. */
static void explain_savings(const struct sk_explanation *explanation, const struct sk_task_call *place)
{
	const struct sk_plan_view *plan = explanation->plan;
	const struct sk_plan_step *step = &plan->steps[place->step];
	const struct sk_plan_call *call = &plan->calls[place->call];
	struct sk_traffic traffic;
	const char *scratch = "";

	if (!step->tile)
		return;
	if (explanation->index->usual_plan)
		traffic = sk_traffic_of_step(explanation->arena, explanation->index->usual_plan,
					     &explanation->index->usual_plan->steps[place->step]);
	else
		traffic = sk_traffic_of_step(explanation->arena, plan, step);
	for (uint32_t i = call->first_argument; i < call->first_argument + call->argument_count; i++) {
		const struct sk_step_access access = {place->launch, place->step, place->call, i};
		const char *name;

		if (plan->arguments[i].space != SK_SPACE_SCRATCH || !sk_plan_access(&plan->arguments[i]))
			continue;
		name = sk_fact_tensor_text(explanation->arena, plan, &explanation->index->temporaries, &access);
		if (strstr(scratch, name))
			continue;
		scratch = sk_arena_print(explanation->arena, "%s%s%s", scratch,
					 *scratch ? ", " : ". In the scratch: ", name);
	}
	print_escaped(
		explanation,
		"  The group moves %" PRIu64 " bytes of memory a run%s; task by task it would be %" PRIu64 "%s.\n",
		traffic.moved, explanation->index->usual_plan ? " at the usual sizes" : "", traffic.apart, scratch);
}

static void explain_awaits(const struct sk_explanation *explanation, const struct sk_plan_step *step)
{
	const struct sk_plan_view *plan = explanation->plan;

	fputs(step->await_count ? "  It awaits" : "  It awaits nothing", explanation->stream);
	for (uint32_t i = 0; i < step->await_count; i++) {
		const struct sk_plan_step *awaited = &plan->steps[plan->awaits[step->first_await + i].step];

		print_escaped(explanation, "%s '%s'", i ? "," : "",
			      sk_plan_string(&sk_plan_step_last_task(plan, awaited)->name));
	}
	fputs(".\n", explanation->stream);
}

static bool has_state(const struct sk_plan_view *plan, const struct sk_plan_step *step, uint32_t state)
{
	struct sk_plan_calls calls = sk_plan_step_calls(plan, step);

	for (const struct sk_plan_call *call = calls.first; call < calls.end; call++)
		for (uint32_t i = 0; i < call->argument_count; i++) {
			const struct sk_plan_argument *argument = &plan->arguments[call->first_argument + i];

			if (argument->kind == SK_ARGUMENT_STATE && argument->index == state)
				return true;
		}
	return false;
}

/* Return the nearest step on another core set that uses some hidden state of this step, which has one call: the first
 * such step after it, or the last one before it. NULL: none. */
static const struct sk_plan_step *find_rival(const struct sk_plan_view *plan, const struct sk_plan_step *step,
					     bool behind)
{
	const struct sk_plan_call *call = sk_plan_step_calls(plan, step).first;
	const struct sk_plan_launch *launch = &plan->launches[plan->tasks[call->task].launch];
	const struct sk_plan_step *first = &plan->steps[launch->first_step],
				  *end = first + sk_plan_form(launch)->step_count;

	for (const struct sk_plan_step *other = behind ? step + 1 : step - 1; first <= other && other < end;
	     other += behind ? 1 : -1)
		for (uint32_t i = 0; i < call->argument_count && other->core_set != step->core_set; i++) {
			const struct sk_plan_argument *argument = &plan->arguments[call->first_argument + i];

			if (argument->kind == SK_ARGUMENT_STATE && has_state(plan, other, argument->index))
				return other;
		}
	return NULL;
}

/* The reason why the step does not start or publish early although its kernel can. flag: SK_STEP_EARLY_WAIT or
 * SK_STEP_EARLY_SET. */
static const char *late_text(const struct sk_explanation *explanation, const struct sk_plan_step *step, uint32_t flag)
{
	const struct sk_plan_view *plan = explanation->plan;
	bool set = flag == SK_STEP_EARLY_SET;
	const struct sk_plan_step *rival = find_rival(plan, step, set);

	if (sk_plan_form(&plan->launches[sk_plan_step_task(plan, step)->launch])->flags & SK_LAUNCH_SYNC_ALL)
		return "its scope has debug-sync-all=1";
	if (step->call_count > 1)
		return "its step has several calls";
	if (sk_plan_has_argument(plan, sk_plan_step_calls(plan, step).first,
				 set ? SK_ARGUMENT_RESULT : SK_ARGUMENT_LOAD))
		return set ? "its result is stored after the call" : "a scalar is read from a tensor before the call";
	if (!rival)
		return "its scope says early-start=0 or 2";
	return sk_arena_print(explanation->arena, "'%s', which runs %s it, has hidden state in common with it",
			      task_name(plan, (uint32_t)(rival - plan->steps)), set ? "after" : "before");
}

static void explain_start(const struct sk_explanation *explanation, const struct sk_plan_step *step, uint32_t kernel,
			  uint32_t flag)
{
	const char *what = flag == SK_STEP_EARLY_WAIT ? "wait by itself" : "let later tasks start before it returns";

	if (!(explanation->plan->kernels[kernel].early & flag))
		return;
	if (step->flags & flag)
		print_escaped(explanation, "  Its kernel may %s.\n", what);
	else
		print_escaped(explanation, "  Its kernel may not %s: %s.\n", what, late_text(explanation, step, flag));
}

/* Print the facts in which the call is the later one, or the earlier one. */
static void explain_facts(const struct sk_explanation *explanation, uint32_t call, bool later)
{
	const struct sk_explanation_index *index = explanation->index;
	uint32_t first = index->first[later][call];

	if (first != SK_NO_INDEX)
		fputs(later ? "  Before it:\n" : "  After it:\n", explanation->stream);
	for (uint32_t i = first; i != SK_NO_INDEX; i = index->next[later][i]) {
		const struct sk_fact *fact = &explanation->facts->items.items[i];

		print_escaped(explanation, "    %s: %s.\n", deeds_text(explanation, &index->temporaries, fact, later),
			      cover_text(explanation, fact));
	}
	if (first == SK_NO_INDEX)
		fputs(later ? "  Nothing has to come before it.\n" : "  Nothing has to wait for it.\n",
		      explanation->stream);
}

void sk_explain(const struct sk_explanation *explanation, uint32_t index)
{
	const struct sk_plan_view *plan = explanation->plan;
	const struct sk_plan_task *task = &plan->tasks[index];
	const struct sk_account_entry *entry =
		explanation->account ? sk_account_find(explanation->account, index) : NULL;
	const char *scope = task->scope ? sk_plan_string(&task->scope) : NULL, *file = entry ? entry->file : NULL;
	const struct sk_task_call *place = &explanation->index->calls[index];
	const struct sk_plan_step *step = &plan->steps[place->step];
	FILE *stream = explanation->stream;

	print_escaped(explanation, "task '%s'", sk_plan_string(&task->name));
	if (task->line) /* nodes of a binary model have no line */
		print_escaped(explanation, ", line %u%s%s", task->line, file ? " of " : "", file ? file : "");
	print_escaped(explanation, ": kernel '%s', stream %u, %s%s%s\n",
		      sk_plan_string(&plan->kernels[task->kernel].name), task->stream, scope ? "scope '" : "no scope",
		      scope ? scope : "", scope ? "'" : "");
	if (entry) {
		print_escaped(explanation, "  %s: %s.\n", entry->code, entry->sentence);
		print_escaped(explanation, "  %s: %s.\n", entry->tile_code, entry->tile_sentence);
		if (entry->block_code)
			print_escaped(explanation, "  %s: %s.\n", entry->block_code, entry->block_sentence);
	} else {
		fputs("  The reason for its launch is not known: the account has been stripped.\n", stream);
	}
	if (plan->calls[place->call].task != index) {
		fputs("  Its launch does not run it: the plan is damaged.\n", stream);
		return;
	}
	explain_place(explanation, task, step, place->call);
	explain_work(explanation, step);
	explain_sizes(explanation, step);
	explain_first_core(explanation, step);
	explain_savings(explanation, place);
	explain_awaits(explanation, step);
	explain_start(explanation, step, task->kernel, SK_STEP_EARLY_WAIT);
	explain_start(explanation, step, task->kernel, SK_STEP_EARLY_SET);
	explain_facts(explanation, place->call, true);
	explain_facts(explanation, place->call, false);
}

static void explain_node(const struct sk_explanation *explanation, const struct sk_account_node *node)
{
	print_escaped(
		explanation,
		"node '%s' (%s): it has no task: the data that it %s is already in place, and nothing is launched for "
		"it\n",
		node->name, node->op, node->joins ? "joins" : "splits");
	for (uint32_t i = 0; i < node->slice_count; i++) {
		const struct sk_account_slice *slice = &node->slices[i];
		const struct sk_plan_tensor *tensor = &explanation->plan->tensors[slice->tensor];

		if (slice->unknown) {
			print_escaped(explanation, "  '%s' is a part of '%s'.\n", slice->name,
				      sk_plan_string(&tensor->name));
			continue;
		}
		print_escaped(explanation, "  '%s' is %" PRIu64 " bytes of '%s', from byte %" PRIu64 " on.\n",
			      slice->name, slice->bytes, sk_plan_string(&tensor->name), slice->offset);
	}
}

static void explain_nodes(const struct sk_explanation *explanation, const char *name)
{
	for (size_t i = 0; i < explanation->account->node_count; i++)
		if (!strcmp(explanation->account->nodes[i].name, name))
			explain_node(explanation, &explanation->account->nodes[i]);
}

void sk_explain_tasks(const struct sk_explanation *explanation, struct sk_diag *diag, const char *const *names,
		      size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t task;

		if (explanation->account && sk_account_has_node(explanation->account, names[i])) {
			explain_nodes(explanation, names[i]);
			continue;
		}
		task = sk_explain_find(diag, explanation->plan, names[i]);
		if (task != SK_NO_INDEX)
			sk_explain(explanation, task);
	}
}
