/* See proof.h. Each check compares a record with the value that follows from others, and reports both. */
#include "src/proof/proof.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"
#include "format/plan/plan.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "src/proof/proof-parts.h"

/* ---- tables ---- */

struct part {
	const char *name;
	const struct sk_plan_table *table; /* NULL: the header */
	uint64_t start, end;
};

static int compare_parts(const void *a, const void *b)
{
	const struct part *one = a, *other = b;

	return (one->start > other->start) - (one->start < other->start);
}

/* The padding that aligns a table is zeros. */
static bool is_filling(const struct sk_plan *plan, uint64_t from, uint64_t to)
{
	bool zero = to - from < 8;

	for (; from < to && zero; from++)
		zero = ((const uint8_t *)plan)[from] == 0;
	return zero;
}

/* The arguments are expanded from lists, if the plan has lists. */
static bool is_made(const struct sk_plan *plan, const struct sk_plan_table *table)
{
	return table == &plan->arguments && plan->lists.count;
}

/* No name is empty, so the string table does not end in zeros that would align the next table. */
static bool check_last_string(const struct sk_consistency *check)
{
	const struct sk_plan_table *strings = &check->view->plan->strings;
	const char *end = (const char *)&strings->offset + strings->offset + strings->count;

	return strings->count < 2 || end[-2] != '\0' || sk_contradict(check, "the last string is empty");
}

/* Header and tables are contiguous except for zeros that align them. */
static bool check_tables(const struct sk_consistency *check)
{
	const struct sk_plan *plan = check->view->plan;
#define PART(name, type)                                                                                               \
	{                                                                                                              \
#name, &plan->name,                                                                                    \
			(uint64_t)((const char *)&plan->name.offset - (const char *)plan) +                            \
				(uint64_t)(int64_t)plan->name.offset,                                                  \
			is_made(plan, &plan->name) ? 0 : plan->name.count *(uint64_t)sizeof(type)                      \
	}
	struct part parts[] = {
		{"header", NULL, 0, sizeof(*plan)},
		PART(lanes, int32_t),
		PART(forms, struct sk_plan_form),
		PART(launches, struct sk_plan_launch),
		PART(tasks, struct sk_plan_task),
		PART(costs, struct sk_plan_cost),
		PART(kernels, struct sk_plan_kernel),
		PART(types, struct sk_plan_type),
		PART(tensors, struct sk_plan_tensor),
		PART(bindings, uint32_t),
		PART(steps, struct sk_plan_step),
		PART(calls, struct sk_plan_call),
		PART(awaits, struct sk_plan_await),
		PART(arguments, struct sk_plan_argument),
		PART(lists, struct sk_plan_argument),
		PART(operands, uint32_t),
		PART(loops, struct sk_plan_loop),
		PART(terms, struct sk_plan_term),
		PART(patterns, struct sk_plan_pattern),
		PART(symbols, struct sk_plan_symbol),
		PART(partitions, struct sk_plan_partition),
		PART(homes, struct sk_plan_home),
		PART(follows, uint32_t),
		PART(strings, char),
	};
#undef PART
	uint64_t end = 0, sizes;
	size_t count = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (!parts[i].end && parts[i].table->offset)
			return sk_contradict(check, "the table of %s is empty but has an offset", parts[i].name);
		parts[i].end += parts[i].start;
		if (parts[i].end != parts[i].start)
			parts[count++] = parts[i];
	}
	qsort(parts, count, sizeof(parts[0]), compare_parts);
	for (size_t i = 0; i < count; end = parts[i++].end)
		if (parts[i].start < end || !is_filling(plan, end, parts[i].start))
			return sk_contradict(
				check, "the table of %s begins at %" PRIu64 ", the one before it ends at %" PRIu64,
				parts[i].name, parts[i].start, end);
	if (sk_plan_sizes(check->view, &sizes))
		end = (end + 7) / 8 * 8 + sizes;
	return sk_same_number(check, "header", "its size", plan->size, end);
}

/* An owner's slice of a table begins at *end, the end of the previous owner's slice. */
static bool check_slice(const struct sk_consistency *check, const char *what, uint32_t first, uint32_t count,
			uint32_t *end)
{
	if (!sk_same_number(check, what, "the start of a slice", first, *end))
		return false;
	*end += count;
	return true;
}

/* A shared slice begins at the end of everything so far, or lies within it. */
static bool check_shared(const struct sk_consistency *check, const char *what, uint32_t first, uint32_t count,
			 uint32_t *end)
{
	if (!count)
		return sk_same_number(check, what, "the start of an empty slice", first, 0);
	if (first == *end || count > *end || first > *end - count)
		return check_slice(check, what, first, count, end);
	return true;
}

static bool check_lists(const struct sk_consistency *check)
{
	const struct sk_plan_view *view = check->view;
	uint32_t lists = 0, operands = 0;

	for (uint32_t i = 0; view->made && i < view->call_count; i++) {
		const struct sk_plan_call *call = &view->calls[i];
		uint32_t count = 0;

		for (uint32_t a = 0; a < call->argument_count; a++)
			count += (view->lists[call->list + a].flags & SK_ARGUMENT_OPERAND) != 0;
		if (!check_shared(check, "lists", call->list, call->argument_count, &lists) ||
		    !check_shared(check, "operands", call->first_operand, count, &operands))
			return false;
	}
	return sk_same_number(check, "header", "the number of records of lists", view->list_count, lists) &&
	       sk_same_number(check, "header", "the number of operands", view->operand_count, operands);
}

/* Check the slices of calls: arguments with their terms and patterns, and loops. */
static bool check_slices_of_calls(const struct sk_consistency *check)
{
	const struct sk_plan_view *view = check->view;
	const struct sk_plan_argument *records = view->made ? view->lists : view->arguments;
	uint32_t arguments = 0, loops = 0, terms = 0, patterns = 0;

	for (uint32_t i = 0; i < view->call_count; i++)
		if (!check_slice(check, "arguments", view->calls[i].first_argument, view->calls[i].argument_count,
				 &arguments) ||
		    !check_slice(check, "loops", view->calls[i].first_loop, view->calls[i].loop_count, &loops))
			return false;
	if (!sk_same_number(check, "header", "the number of arguments", view->argument_count, arguments))
		return false;
	for (uint32_t i = 0; i < (view->made ? view->list_count : arguments); i++) {
		const struct sk_plan_argument *argument = &records[i];

		if (argument->kind == SK_ARGUMENT_EXPRESSION &&
		    !check_slice(check, "terms", argument->index, (uint32_t)argument->size, &terms))
			return false;
		if (sk_plan_pattern(view, argument) &&
		    !check_slice(check, "patterns", (uint32_t)argument->value - 1, 1, &patterns))
			return false;
	}
	return check_lists(check) && sk_same_number(check, "header", "the number of loops", view->loop_count, loops) &&
	       sk_same_number(check, "header", "the number of terms", view->term_count, terms) &&
	       sk_same_number(check, "header", "the number of patterns", view->pattern_count, patterns);
}

static bool check_slices_of_steps(const struct sk_consistency *check)
{
	const struct sk_plan_view *view = check->view;
	uint32_t awaits = 0;

	for (uint32_t i = 0; i < view->step_count; i++)
		if (!check_slice(check, "awaits", view->steps[i].first_await, view->steps[i].await_count, &awaits))
			return false;
	return sk_same_number(check, "header", "the number of awaits", view->await_count, awaits) &&
	       check_slices_of_calls(check);
}

/* Check the slices that launches share. */
static bool check_shared_by_launches(const struct sk_consistency *check)
{
	const struct sk_plan_view *view = check->view;
	uint32_t forms = 0, homes = 0, partitions = 0;

	for (uint32_t i = 0; i < view->launch_count; i++) {
		const struct sk_plan_launch *launch = &view->launches[i];
		const struct sk_plan_form *form = sk_plan_form(launch);

		if (!check_shared(check, "forms", (uint32_t)(form - view->forms), 1, &forms) ||
		    !check_shared(check, "homes", launch->first_home, form->home_count, &homes) ||
		    !check_shared(check, "partitions", launch->first_partition, form->partition_count, &partitions))
			return false;
	}
	return sk_same_number(check, "header", "the number of forms", view->form_count, forms) &&
	       sk_same_number(check, "header", "the number of homes", view->home_count, homes) &&
	       sk_same_number(check, "header", "the number of partitions", view->partition_count, partitions);
}

static bool check_types(const struct sk_consistency *check)
{
	const struct sk_plan_view *view = check->view;
	uint32_t types = 0;

	for (uint32_t i = 0; i < view->tensor_count; i++)
		if (!check_shared(check, "types", (uint32_t)(sk_plan_type(&view->tensors[i]) - view->types), 1, &types))
			return false;
	return sk_same_number(check, "header", "the number of types", view->type_count, types);
}

/* Every record belongs to an owner; the plan's reader checks this for calls. */
static bool check_slices(const struct sk_consistency *check)
{
	const struct sk_plan_view *view = check->view;
	uint32_t steps = 0, follows = 0;

	for (uint32_t i = 0; i < view->launch_count; i++) {
		const struct sk_plan_launch *launch = &view->launches[i];

		if (!check_slice(check, "steps", launch->first_step, sk_plan_form(launch)->step_count, &steps) ||
		    !check_slice(check, "follows", launch->first_follow, sk_plan_form(launch)->follow_count, &follows))
			return false;
	}
	return sk_same_number(check, "header", "the number of follows", view->follow_count, follows) &&
	       check_shared_by_launches(check) && check_types(check) && check_slices_of_steps(check);
}

/* ---- tasks and their own entries ---- */

/* Return the argument with its offset relative to the start of its tensor, and without the places of its other
 * records. */
static struct sk_plan_argument without_place(const struct sk_plan_view *view, const struct sk_plan_launch *launch,
					     const struct sk_plan_argument *argument)
{
	struct sk_plan_argument copy = *argument;

	if ((argument->kind == SK_ARGUMENT_POINTER || argument->kind == SK_ARGUMENT_LOAD ||
	     argument->kind == SK_ARGUMENT_RESULT) &&
	    argument->space != SK_SPACE_SIZES)
		copy.offset -= sk_plan_tensor_start(launch, &view->tensors[argument->tensor]);
	if (argument->space == SK_SPACE_SCRATCH)
		copy.space = SK_SPACE_WORKSPACE;
	if (argument->kind == SK_ARGUMENT_EXPRESSION)
		copy.index = 0;
	if (argument->kind == SK_ARGUMENT_POINTER)
		copy.value = argument->value >> 32 << 32 | (sk_plan_pattern(view, argument) != NULL);
	return copy;
}

/* Compare the further records of two equal arguments. */
static bool same_records(const struct sk_plan_view *view, const struct sk_plan_argument *one,
			 const struct sk_plan_argument *other)
{
	if (one->kind == SK_ARGUMENT_EXPRESSION)
		return !memcmp(&view->terms[one->index], &view->terms[other->index],
			       one->size * sizeof(struct sk_plan_term));
	return !sk_plan_pattern(view, one) ||
	       !memcmp(sk_plan_pattern(view, one), sk_plan_pattern(view, other), sizeof(struct sk_plan_pattern));
}

static bool same_loops(const struct sk_plan_view *view, const struct sk_plan_call *one,
		       const struct sk_plan_call *other)
{
	return one->loop_count == other->loop_count &&
	       (!one->loop_count || !memcmp(sk_plan_loops(view, one), sk_plan_loops(view, other),
					    one->loop_count * sizeof(struct sk_plan_loop)));
}

/* Properties of a call that do not depend on the launch are the same in both launches. */
static bool same_call(const struct sk_consistency *check, const struct sk_plan_call *call,
		      const struct sk_plan_call *own)
{
	const struct sk_plan_view *view = check->view;
	const struct sk_plan_task *task = &view->tasks[call->task];

	if (call->task != own->task || call->flags != own->flags || call->argument_count != own->argument_count ||
	    !same_loops(view, call, own))
		return false;
	for (uint32_t i = 0; i < call->argument_count; i++) {
		struct sk_plan_argument one =
			without_place(view, &view->launches[task->launch], &view->arguments[call->first_argument + i]);
		struct sk_plan_argument other = without_place(view, &view->launches[task->task_launch],
							      &view->arguments[own->first_argument + i]);

		if (memcmp(&one, &other, sizeof(one)) != 0 ||
		    !same_records(view, &view->arguments[call->first_argument + i],
				  &view->arguments[own->first_argument + i]))
			return false;
	}
	return true;
}

/* The same for steps. Two differences are allowed: the first core of blocks that any core may run, and flags that a
 * step with several calls has because of another call. */
static bool same_step(const struct sk_plan_step *step, const struct sk_plan_call *call, const struct sk_plan_step *own)
{
	uint32_t launchs = SK_STEP_PUBLISH | SK_STEP_TIMED | SK_STEP_FLUSH_BEFORE | SK_STEP_FLUSH_AFTER |
			   SK_STEP_EARLY_WAIT | SK_STEP_EARLY_SET | SK_STEP_OWN_AWAITS |
			   (step->call_count > 1 ? SK_STEP_NONTEMPORAL : 0);

	return step->lane == own->lane && step->kind == own->kind &&
	       (step->flags & ~launchs) == (own->flags & ~launchs) && step->blocks == own->blocks &&
	       (step->first_core == own->first_core || !(step->flags & SK_STEP_RESIDENT)) &&
	       sk_plan_extent(step, call) == own->extent;
}

static bool check_entry(const struct sk_consistency *check, uint32_t number)
{
	const struct sk_plan_view *view = check->view;
	const struct sk_plan_task *task = &view->tasks[number];
	const struct sk_plan_launch *entry = &view->launches[task->task_launch];
	const struct sk_plan_step *step = &view->steps[check->places[number].step];
	const struct sk_plan_step *own = &view->steps[entry->first_step];
	const struct sk_plan_call *call = &view->calls[check->places[number].call];
	const struct sk_plan_call *own_call = sk_plan_launch_calls(view, entry).first;
	const char *name = sk_plan_string(&task->name);

	for (uint32_t i = 0; i < sk_plan_form(entry)->step_count; i++)
		if (!same_step(&step[i], &call[i], &own[i]) || !same_call(check, &call[i], &own_call[i]))
			return sk_contradict(check, "%s: its own entry and its launch call the kernel differently",
					     name);
	return sk_same_text(check, name, "its entry", sk_plan_string(&entry->name),
			    sk_arena_join(check->arena, "sk_unfused_", sk_identifier(check->arena, name)));
}

/* Return true if the number has occurred before or is the next one. */
static bool is_in_order(uint32_t number, uint32_t *next)
{
	*next += number == *next;
	return number < *next;
}

/* Costs are in the order of the first tasks that have them; only mix tasks have one for each side. */
static bool check_costs(const struct sk_consistency *check)
{
	const struct sk_plan_view *view = check->view;
	uint32_t next = 0;

	for (uint32_t i = 0; i < view->task_count; i++) {
		const struct sk_plan_task *task = &view->tasks[i];
		bool mix = view->steps[check->places[i].step].flags & SK_STEP_CUBE_SIDE;

		if ((task->cost != SK_NO_INDEX && !is_in_order(task->cost, &next)) ||
		    (task->vector_cost != SK_NO_INDEX && (!mix || !is_in_order(task->vector_cost, &next))))
			return sk_contradict(check, "the cost of task '%s' belongs to another task",
					     sk_plan_string(&task->name));
	}
	return sk_same_number(check, "header", "the number of costs", view->cost_count, next);
}

static bool check_tasks(const struct sk_consistency *check)
{
	const struct sk_plan_view *view = check->view;
	uint32_t entries = view->launch_count - view->network_launch_count;
	bool sound = check_costs(check);

	for (uint32_t i = 0; i < view->task_count; i++)
		if (entries && view->tasks[i].task_launch == SK_NO_INDEX)
			sound = sk_contradict(check, "%s: it has no entry, but other tasks have",
					      sk_plan_string(&view->tasks[i].name));
		else if (entries)
			sound &= check_entry(check, i);
	return sound;
}

/* ---- kernels ---- */

/* Copies have symbols of their own and equal the kernel in everything else. */
static bool check_copy(const struct sk_consistency *check, const struct sk_plan_kernel *kernel, uint32_t number)
{
	const struct sk_plan_kernel *copy = &check->view->kernels[kernel->first_copy + number - 1];
	const char *symbol = sk_plan_string(&kernel->symbol);
	const char *whose = sk_arena_print(check->arena, "copy %u of %s", number, sk_plan_string(&kernel->name));

	return sk_same_text(check, whose, "its name", sk_plan_string(&copy->name), sk_plan_string(&kernel->name)) &&
	       sk_same_text(check, whose, "its signature", sk_plan_string(&copy->signature),
			    sk_plan_string(&kernel->signature)) &&
	       sk_same_text(check, whose, "its symbol", sk_plan_string(&copy->symbol),
			    sk_arena_print(check->arena, "%s.split%u", symbol, number)) &&
	       sk_same_number(check, whose, "its instruction sets", copy->isa, kernel->isa) &&
	       sk_same_number(check, whose, "its size", copy->code_size, kernel->code_size) &&
	       sk_same_number(check, whose, "its flags", copy->flags, kernel->flags) &&
	       sk_same_number(check, whose, "the size of its vector side", copy->vector_code_size,
			      kernel->vector_code_size) &&
	       sk_same_number(check, whose, "the copy of a copy", copy->first_copy, 0);
}

/* There are as many copies as any launch takes at most, in the order of the kernels. */
static bool check_kernels(const struct sk_consistency *check)
{
	const struct sk_plan_view *view = check->view;
	uint32_t *wanted = SK_NEW_ARRAY(check->arena, uint32_t, view->kernel_count);
	uint32_t copies = 0, next;
	bool sound = true;

	for (uint32_t i = 0; i < view->task_count; i++) {
		uint32_t *most = &wanted[view->tasks[i].kernel],
			 taken = sk_plan_form(&view->launches[view->tasks[i].launch])->copies;

		*most = taken > *most + 1 ? taken - 1 : *most;
	}
	for (uint32_t i = 0; i < view->kernel_count; i++)
		copies += wanted[i];
	if (copies > view->kernel_count)
		return sk_contradict(check, "launches take more copies of kernels than there are");
	next = view->kernel_count - copies;
	for (uint32_t i = 0; i < view->kernel_count; i++) {
		const struct sk_plan_kernel *kernel = &view->kernels[i];

		if (!sk_same_number(check, sk_plan_string(&kernel->name), "its first copy", kernel->first_copy,
				    wanted[i] ? next : 0))
			return false;
		for (uint32_t copy = 1; copy <= wanted[i]; copy++)
			sound &= check_copy(check, kernel, copy);
		next += wanted[i];
	}
	return sound;
}

/* ---- the account ---- */

/* Field separators appear as blanks in a field; a missing scope is '-'. */
static bool same_field(const char *field, const char *text)
{
	for (; *field && (*field == *text || (*field == ' ' && strchr("\t\n\r", *text))); field++)
		text++;
	return *field == *text;
}

/* Return true if the task is in one tile group with the previous task. */
static bool joins(const struct sk_consistency *check, uint32_t task)
{
	const struct sk_plan_step *step = &check->view->steps[check->places[task].step];

	return step->tile && check->places[task].call != step->first_call;
}

static bool follows_blocks(const struct sk_consistency *check, uint32_t task)
{
	const struct sk_plan_step *step = &check->view->steps[check->places[task].step];

	return step->kind == SK_STEP_SPLIT && check->view->partitions[step->partition].blocks;
}

static bool check_entry_of_account(const struct sk_consistency *check, const struct sk_account_entry *entry,
				   uint32_t number)
{
	const struct sk_plan_task *task = &check->view->tasks[number];
	const char *name = sk_plan_string(&task->name), *scope = sk_plan_string(&task->scope);

	if (!sk_same_number(check, "the account", "the number of a task", entry->task, number))
		return false;
	if (!same_field(entry->name, name))
		return sk_contradict(check, "task '%s' is '%s' in the account", name, entry->name);
	if (entry->scope ? !same_field(entry->scope, scope) : *scope && strcmp(scope, "-") != 0)
		return sk_contradict(check, "the scope of task '%s' is '%s', and '%s' in the account", name, scope,
				     entry->scope ? entry->scope : "");
	if (joins(check, number) != (strcmp(entry->tile_code, SK_ACCOUNT_JOINED) == 0))
		return sk_contradict(check,
				     "task '%s' is %s one tile group with the previous task, and %s in the account",
				     name, joins(check, number) ? "in" : "not in", entry->tile_code);
	if (follows_blocks(check, number) != (entry->block_code && strcmp(entry->block_code, SK_ACCOUNT_FOLLOWED) == 0))
		return sk_contradict(check, "task '%s' is %s out in blocks, and %s in the account", name,
				     follows_blocks(check, number) ? "shared" : "not shared",
				     entry->block_code ? entry->block_code : "nothing");
	return sk_same_number(check, name, "its launch in the account", entry->launch, task->launch);
}

/* ---- symbols ---- */

/* Mark the symbols that the kernel's signature names. */
static void mark_symbols(const struct sk_consistency *check, const struct sk_plan_kernel *kernel, bool *used)
{
	const struct sk_plan_view *view = check->view;
	const struct sk_signature *signature = sk_signature_parse_folded(
		check->arena, check->diag, (struct sk_place){.file = check->file}, sk_plan_string(&kernel->signature));

	for (uint32_t s = 0; signature && s < signature->symbol_count; s++)
		for (uint32_t i = 0; i < view->symbol_count; i++)
			used[i] |= !strcmp(signature->symbols[s], sk_plan_string(&view->symbols[i].name));
}

/* Each symbol is passed to a kernel. Kernels of tasks that had nothing to compute are in the plan, without calls. */
static bool check_symbols(const struct sk_consistency *check)
{
	const struct sk_plan_view *view = check->view;
	bool *used = SK_NEW_ARRAY(check->arena, bool, view->symbol_count);

	bool *called = SK_NEW_ARRAY(check->arena, bool, view->kernel_count);

	for (uint32_t i = 0; i < view->argument_count; i++)
		if (view->arguments[i].kind == SK_ARGUMENT_SYMBOL)
			used[view->arguments[i].index] = true;
	for (uint32_t i = 0; i < view->call_count; i++)
		called[view->calls[i].kernel] = true;
	for (uint32_t i = 0; i < view->kernel_count && view->symbol_count; i++)
		if (!called[i])
			mark_symbols(check, &view->kernels[i], used);
	for (uint32_t i = 0; i < view->symbol_count; i++)
		if (!used[i])
			return sk_contradict(check, "no kernel gets the symbol '%s'",
					     sk_plan_string(&view->symbols[i].name));
	return true;
}

static bool check_account(const struct sk_consistency *check, const struct sk_account *account)
{
	const struct sk_plan_view *view = check->view;

	if (!sk_same_number(check, "the account", "its number of tasks", account->count, view->task_count))
		return false;
	for (uint32_t i = 0; i < view->task_count; i++)
		if (!check_entry_of_account(check, &account->entries[i], i))
			return false;
	return true;
}

bool sk_consistency_check(struct sk_arena *arena, struct sk_diag *diag, const struct sk_plan_view *view,
			  const char *file, const struct sk_account *account)
{
	struct sk_consistency check = {.arena = arena, .diag = diag, .view = view, .file = file};
	bool sound = sk_calls_check(arena, diag, view, file);

	check.places = sk_find_calls(arena, view);
	sound &= check_tables(&check) && check_last_string(&check) && check_slices(&check);
	sound &= sk_consistency_check_launches(&check);
	sound &= check_tasks(&check);
	sound &= sk_consistency_check_tensors(&check);
	sound &= check_kernels(&check) && check_symbols(&check);
	return sound && (!account || check_account(&check, account));
}
