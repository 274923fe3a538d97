/* The sections of skdump's output; see show.h. Everything comes from the plan's tables but the reasons, which the
 * fusion has left in the account. */
#include "src/skdump/show.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "loader/plan/isa.h"
#include "src/base/escape.h"
#include "src/base/table.h"
#include "src/base/text.h"
#include "src/skdump/show-calls.h"
#include "stubs/dispatcher/emit.h"

/* Names that share bytes with a temporary, before the rest is only counted, and how many are counted. */
enum { SHOWN_SHARERS = 4, COUNTED_SHARERS = 1000 };

enum { MOST_NAME = 800 }; /* bytes of a name that are shown; an entry's may have three names of 255 in it */

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static const char *machine_name(uint32_t machine)
{
	const struct sk_emitter *known = sk_emitter_find(machine);

	if (known)
		return known->name;
	switch (machine) {
	case EM_AARCH64:
		return "AArch64";
	case EM_RISCV:
		return "RISC-V";
	default:
		return "an unknown machine";
	}
}

static const char *kind_name(const struct sk_plan_launch *launch)
{
	static const char *const names[SK_LAUNCH_KIND_COUNT] = {"superkernel", "single", "task entry"};

	return names[launch->kind];
}

/* Thousands of rows may have one and the same name, so one of a MB would make GBs: of such there is the beginning. */
static const char *short_text(const struct sk_show *show, const char *name)
{
	int length = (int)strnlen(name, MOST_NAME + 1);

	if (length <= MOST_NAME)
		return name;
	while (length > MOST_NAME || (name[length] & 0xc0) == 0x80)
		length--; /* not within a character */
	return sk_arena_print(show->arena, "%.*s…", length, name);
}

/* A name of the plan. */
static const char *name_text(const struct sk_show *show, const int32_t *reference)
{
	return short_text(show, sk_plan_string(reference));
}

static const char *or_dash(const struct sk_show *show, const int32_t *reference)
{
	return *reference ? name_text(show, reference) : "-";
}

static uint32_t shown_launches(const struct sk_show *show)
{
	return show->task_entries ? show->file->plan.launch_count : show->file->plan.network_launch_count;
}

static uint32_t count_awaits(const struct sk_plan_view *plan, const struct sk_plan_launch *launch)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < launch->step_count; i++)
		count += plan->steps[launch->first_step + i].await_count;
	return count;
}

/* "[64, 1024]" */
static const char *shape_text(const struct sk_show *show, const struct sk_plan_tensor *tensor)
{
	const char *text = "[";

	for (uint32_t i = 0; i < tensor->rank; i++)
		text = sk_arena_print(show->arena, "%s%s%" PRIu64, text, i ? ", " : "", tensor->shape[i]);
	return sk_arena_print(show->arena, "%s]", text);
}

static void headings(struct sk_table *table, const char *const *texts)
{
	for (; *texts; texts++)
		sk_table_cell(table, "%s", *texts);
}

#define HEADINGS(table, ...) headings(table, (const char *const[]){__VA_ARGS__, NULL})

static void print_section(const struct sk_show *show, const char *title, struct sk_table *table)
{
	sk_escape_print(title, show->stream);
	fputc('\n', show->stream);
	sk_table_print(table, "  ", show->stream);
	fputc('\n', show->stream);
}

/* ---- summary ---- */

static void summary_line(struct sk_table *table, const char *name, const char *text)
{
	sk_table_cell(table, "%s", name);
	sk_table_cell(table, "%s", text);
}

void sk_show_summary(const struct sk_show *show)
{
	const struct sk_plan_view *plan = &show->file->plan;
	uint32_t entries = plan->launch_count - plan->network_launch_count, steps = 0, awaits = 0;
	const char *lanes = name_text(show, &plan->lanes[0]);
	struct sk_arena *arena = show->arena;
	char isa[SK_ISA_TEXT_SIZE];
	struct sk_table table;

	for (uint32_t i = 0; i < plan->network_launch_count; i++) {
		steps += plan->launches[i].step_count;
		awaits += count_awaits(plan, &plan->launches[i]);
	}
	for (uint32_t i = 1; i < plan->lane_count; i++)
		lanes = sk_arena_print(arena, "%s, %s", lanes, name_text(show, &plan->lanes[i]));
	sk_table_init(&table, arena, "ll");
	summary_line(&table, "machine", machine_name(plan->plan->machine));
	summary_line(&table, "device",
		     sk_arena_print(arena, "%s (lane%s %s)", or_dash(show, &plan->plan->device),
				    plural(plan->lane_count), lanes));
	summary_line(&table, "network",
		     sk_arena_print(arena, "%u task%s in %u launch%s, %u step%s, %u await%s", plan->task_count,
				    plural(plan->task_count), plan->network_launch_count,
				    plan->network_launch_count == 1 ? "" : "es", steps, plural(steps), awaits,
				    plural(awaits)));
	summary_line(&table, "task entries",
		     entries ? sk_arena_print(arena, "%u", entries) : "none (linked with --no-task-entries)");
	summary_line(&table, "workspace",
		     sk_arena_print(arena, "%" PRIu64 " bytes%s", plan->plan->workspace_size,
				    entries ? sk_arena_print(arena, " (task entries: %" PRIu64 ")",
							     plan->plan->unshared_workspace_size)
					    : ""));
	summary_line(&table, "constants", sk_arena_print(arena, "%" PRIu64 " bytes", plan->plan->constants_size));
	summary_line(&table, "instruction sets", sk_isa_text(isa, plan->plan->isa));
	for (size_t i = 0; i < show->file->traps.count; i++)
		summary_line(&table, i ? "" : "not linked", short_text(show, show->file->traps.items[i]));
	print_section(show, show->file->path, &table);
}

/* ---- bindings ---- */

void sk_show_bindings(const struct sk_show *show)
{
	static const char *const roles[] = {"", "input", "output", "inout", "constant", "temporary"};
	const struct sk_plan_view *plan = &show->file->plan;
	struct sk_table table;

	sk_table_init(&table, show->arena, "rllllr");
	HEADINGS(&table, "#", "tensor", "role", "type", "shape", "bytes");
	for (uint32_t i = 0; i < plan->binding_count; i++) {
		const struct sk_plan_tensor *tensor = &plan->tensors[plan->bindings[i]];

		sk_table_cell(&table, "%u", i);
		sk_table_cell(&table, "%s", name_text(show, &tensor->name));
		sk_table_cell(&table, "%s", roles[tensor->role]);
		sk_table_cell(&table, "%s", sk_dtype_name(tensor->dtype));
		sk_table_cell(&table, "%s", shape_text(show, tensor));
		sk_table_cell(&table, "%" PRIu64, tensor->bytes);
	}
	print_section(show, "bindings", &table);
}

/* ---- launches ---- */

/* "2, 5" */
static const char *follows_text(const struct sk_show *show, const struct sk_plan_launch *launch)
{
	struct sk_text text;

	if (!launch->follow_count)
		return "-";
	sk_text_open(&text);
	for (uint32_t i = 0; i < launch->follow_count; i++)
		fprintf(text.stream, "%s%u", i ? ", " : "", show->file->plan.follows[launch->first_follow + i]);
	sk_text_close(show->arena, &text);
	return text.bytes;
}

/* What the launch takes of the device it was planned for: "all" (however many there are), "1 core", "4 vector",
 * "24 x 1:2" (groups of a cube core and two vector cores), "15 cube, 24 vector" (which are no groups). */
static const char *device_cores_text(const struct sk_show *show, const struct sk_plan_launch *launch)
{
	const struct sk_plan_view *plan = &show->file->plan;
	const uint32_t *cores = launch->device_cores;

	if (cores[0] && cores[1] && cores[1] % cores[0] == 0)
		return sk_arena_print(show->arena, "%u x 1:%u", cores[0], cores[1] / cores[0]);
	if (cores[0] && cores[1])
		return sk_arena_print(show->arena, "%u %s, %u %s", cores[0], name_text(show, &plan->lanes[0]), cores[1],
				      name_text(show, &plan->lanes[1]));

	uint32_t lane = cores[0] || plan->lane_count == 1 ? 0 : 1;

	if (cores[lane] == SK_ALL_CORES)
		return launch->resident_cores[lane]
			       ? sk_arena_print(show->arena, "all, at least %u", launch->resident_cores[lane])
			       : "all";
	return sk_arena_print(show->arena, "%u %s", cores[lane], name_text(show, &plan->lanes[lane]));
}

static const char *task_of(const struct sk_show *show, const struct sk_plan_call *call)
{
	return name_text(show, &show->file->plan.tasks[call->task].name);
}

void sk_show_launches(const struct sk_show *show)
{
	const struct sk_plan_view *plan = &show->file->plan;
	struct sk_table table;

	sk_table_init(&table, show->arena, "rllllrrllrl");
	HEADINGS(&table, "#", "entry", "kind", "cores", "scope", "stream", "steps", "first", "last", "awaits",
		 "follows");
	for (uint32_t i = 0; i < shown_launches(show); i++) {
		const struct sk_plan_launch *launch = &plan->launches[i];
		struct sk_plan_calls calls = sk_plan_launch_calls(plan, launch);

		sk_table_cell(&table, "%u", i);
		sk_table_cell(&table, "%s", name_text(show, &launch->name));
		sk_table_cell(&table, "%s", kind_name(launch));
		sk_table_cell(&table, "%s", device_cores_text(show, launch));
		sk_table_cell(&table, "%s", or_dash(show, &launch->scope));
		sk_table_cell(&table, "%u", launch->stream);
		sk_table_cell(&table, "%u", launch->step_count);
		sk_table_cell(&table, "%s", task_of(show, calls.first));
		sk_table_cell(&table, "%s", task_of(show, calls.end - 1));
		sk_table_cell(&table, "%u", count_awaits(plan, launch));
		sk_table_cell(&table, "%s", follows_text(show, launch));
	}
	print_section(show, "launches", &table);
}

/* ---- steps ---- */

static const char *cores_text(const struct sk_show *show, const struct sk_plan_step *step)
{
	bool fixed = step->flags & SK_STEP_RESIDENT && step->kind == SK_STEP_BLOCKS;
	const char *fed = step->flags & SK_STEP_FEED ? ", others fed" : "";

	if (fixed && step->blocks == 1)
		return sk_arena_print(show->arena, "core %u%s", step->first_core, fed);
	if (fixed)
		return sk_arena_print(show->arena, "cores %u to %u%s", step->first_core,
				      step->first_core + step->blocks - 1, fed);
	if (step->core_set == SK_ALL_CORES)
		return "all cores";
	return sk_arena_print(show->arena, "home of stream %u", show->file->plan.homes[step->core_set].stream);
}

static const char *early_text(const struct sk_plan_step *step)
{
	static const char *const texts[] = {"", ", waits by itself", ", may end early",
					    ", waits by itself, may end early"};

	return texts[(step->flags & SK_STEP_EARLY_WAIT ? 1 : 0) + (step->flags & SK_STEP_EARLY_SET ? 2 : 0)];
}

/* How the step's work is divided. */
static const char *work_text(const struct sk_show *show, const struct sk_plan_step *step)
{
	const char *side = step->flags & SK_STEP_CUBE_SIDE     ? "cube side, "
			   : step->flags & SK_STEP_VECTOR_SIDE ? "vector side, "
							       : "";

	switch (step->kind) {
	case SK_STEP_BLOCKS:
		if (step->flags & SK_STEP_RESIDENT)
			return sk_arena_print(show->arena, "%s%u block%s at once", side, step->blocks,
					      plural(step->blocks));
		return sk_arena_print(show->arena, "%u block%s", step->blocks, plural(step->blocks));
	case SK_STEP_BLOCKS_RANGE:
		return sk_arena_print(show->arena, "%u block%s of %" PRIu64 "%s", step->blocks, plural(step->blocks),
				      step->extent, step->flags & SK_STEP_RESIDENT ? " at once" : "");
	case SK_STEP_SPLIT: {
		uint64_t unit = show->file->plan.partitions[step->partition].unit;
		uint64_t units = (step->extent - 1) / unit + 1;

		return sk_arena_print(show->arena, "split %" PRIu64 " in %" PRIu64 " unit%s of %" PRIu64, step->extent,
				      units, plural(units), unit);
	}
	default:
		return "plain";
	}
}

/* "cycles 900, bytes 4096": what the manifest says that the call's task, or its side of it, costs. What the sides have
 * together stands with the cube side. */
static const char *cost_text(const struct sk_show *show, const struct sk_plan_step *step,
			     const struct sk_plan_call *call)
{
	const struct sk_plan_view *plan = &show->file->plan;
	const struct sk_plan_cost *cost = sk_plan_cost(plan, step, call);
	const char *text = "";

	if (!cost || (step->flags & SK_STEP_VECTOR_SIDE && plan->tasks[call->task].vector_cost == SK_NO_INDEX))
		return text;
	for (int i = 0; i < SK_COST_COUNT; i++)
		if (sk_cost_gives(cost, i))
			text = sk_arena_print(show->arena, "%s%s%s %" PRIu64, text, *text ? ", " : "", sk_cost_name(i),
					      cost->values[i]);
	return text;
}

static bool has_costs(const struct sk_plan_view *plan, const struct sk_plan_launch *launch)
{
	struct sk_plan_calls calls = sk_plan_launch_calls(plan, launch);

	/* A vector side has no cost of its own where its task has none. */
	for (const struct sk_plan_call *call = calls.first; call < calls.end; call++)
		if (plan->tasks[call->task].cost != SK_NO_INDEX)
			return true;
	return false;
}

static bool has_values(const struct sk_show *show, const struct sk_plan_launch *launch)
{
	struct sk_plan_calls calls = sk_plan_launch_calls(&show->file->plan, launch);

	for (const struct sk_plan_call *call = calls.first; call < calls.end; call++)
		if (*sk_show_values_text(show, call))
			return true;
	return false;
}

static const char *awaits_text(const struct sk_show *show, const struct sk_plan_step *step)
{
	const struct sk_plan_view *plan = &show->file->plan;
	struct sk_text text;

	if (!step->await_count)
		return "";
	sk_text_open(&text);
	for (uint32_t i = 0; i < step->await_count; i++) {
		const struct sk_plan_step *awaited = &plan->steps[plan->awaits[step->first_await + i].step];

		const char *side = awaited->flags & SK_STEP_CUBE_SIDE	  ? " (cube side)"
				   : awaited->flags & SK_STEP_VECTOR_SIDE ? " (vector side)"
									  : "";

		fprintf(text.stream, "%s%s%s", i ? ", " : "awaits ",
			task_of(show, sk_plan_step_calls(plan, awaited).first), side);
	}
	sk_text_close(show->arena, &text);
	return text.bytes;
}

/* ", func-align=512, debug-sync-all=1": what the scope's options have done to the launch. */
static const char *options_text(const struct sk_show *show, const struct sk_plan_launch *launch)
{
	static const char *const preloads[SK_PRELOAD_COUNT] = {"none", "per-func", "max"};
	const struct sk_plan_view *plan = &show->file->plan;
	struct sk_arena *arena = show->arena;
	const char *text = "";

	if (launch->func_align)
		text = sk_arena_print(arena, "%s, func-align=%u", text, launch->func_align);
	if (launch->preload)
		text = sk_arena_print(arena, "%s, preload-code=%s", text, preloads[launch->preload]);
	if (launch->copies > 1)
		text = sk_arena_print(arena, "%s, split-mode=%u", text, launch->copies);
	if (launch->flags & SK_LAUNCH_SYNC_ALL)
		text = sk_arena_print(arena, "%s, debug-sync-all=1", text);
	if (launch->flags & SK_LAUNCH_DEBUG)
		text = sk_arena_print(arena, "%s, compile-options=-g", text);
	for (uint32_t i = 0; i < plan->lane_count; i++) {
		const char *lane = name_text(show, &plan->lanes[i]);
		uint32_t cores = launch->lane_cores[i];

		if (cores && cores < launch->resident_cores[i])
			cores = launch->resident_cores[i];
		if (cores)
			text = sk_arena_print(arena, "%s, %u %s%score%s", text, cores, plan->lane_count > 1 ? lane : "",
					      plan->lane_count > 1 ? " " : "", plural(cores));
	}
	if (sk_plan_notes_times(plan, launch))
		text = sk_arena_print(arena, "%s, notes times", text);
	return text;
}

/* Behind a step's awaits: flushes of the data cache. */
static const char *flushes_text(const struct sk_plan_step *step, bool awaits)
{
	static const char *const texts[2][4] = {
		{"", "flushes before", "flushes after", "flushes before and after"},
		{"", "; flushes before", "; flushes after", "; flushes before and after"},
	};

	return texts[awaits]
		    [(step->flags & SK_STEP_FLUSH_BEFORE ? 1 : 0) + (step->flags & SK_STEP_FLUSH_AFTER ? 2 : 0)];
}

/* A step's first call has what is said of the step beside it, any other call only what is said of itself. */
static void show_call(const struct sk_show *show, struct sk_table *table, const struct sk_plan_step *step,
		      const struct sk_plan_call *call, bool values, bool costs)
{
	const struct sk_plan_view *plan = &show->file->plan;
	bool first = call == sk_plan_step_calls(plan, step).first;

	sk_table_cell(table, "%s", first ? sk_arena_print(show->arena, "%u", step->number) : "");
	sk_table_cell(table, "%s", task_of(show, call));
	sk_table_cell(table, "%s", name_text(show, &plan->kernels[call->kernel].name));
	sk_table_cell(table, "%s", first ? name_text(show, &plan->lanes[step->lane]) : "");
	sk_table_cell(table, "%s", first ? cores_text(show, step) : "");
	sk_table_cell(table, "%s%s%s", first ? work_text(show, step) : "", sk_show_loops_text(show, call),
		      first ? early_text(step) : "");
	if (values)
		sk_table_cell(table, "%s", sk_show_values_text(show, call));
	if (costs)
		sk_table_cell(table, "%s", cost_text(show, step, call));
	sk_table_cell(table, "%s%s", first ? awaits_text(show, step) : "",
		      first ? flushes_text(step, step->await_count) : "");
}

static void show_launch_steps(const struct sk_show *show, uint32_t index)
{
	const struct sk_plan_view *plan = &show->file->plan;
	const struct sk_plan_launch *launch = &plan->launches[index];
	uint32_t awaits = count_awaits(plan, launch);
	bool costs = has_costs(plan, launch), values = has_values(show, launch);
	struct sk_table table;

	static const char *const columns[] = {"rllllll", "rlllllll", "rllllllll"};

	sk_table_init(&table, show->arena, columns[values + costs]);
	HEADINGS(&table, "step", "task", "kernel", "lane", "runs on", "work");
	if (values)
		HEADINGS(&table, "computes");
	HEADINGS(&table, costs ? "cost" : "", costs ? "" : NULL);
	for (uint32_t i = 0; i < launch->step_count; i++) {
		const struct sk_plan_step *step = &plan->steps[launch->first_step + i];
		struct sk_plan_calls calls = sk_plan_step_calls(plan, step);

		for (const struct sk_plan_call *call = calls.first; call < calls.end; call++)
			show_call(show, &table, step, call, values, costs);
	}
	print_section(show,
		      sk_arena_print(show->arena, "launch %u: %s, %s, %u step%s, %u await%s%s", index,
				     name_text(show, &launch->name), kind_name(launch), launch->step_count,
				     plural(launch->step_count), awaits, plural(awaits), options_text(show, launch)),
		      &table);
}

void sk_show_steps(const struct sk_show *show)
{
	for (uint32_t i = 0; i < shown_launches(show); i++)
		show_launch_steps(show, i);
}

/* ---- memory ---- */

/* A temporary in the workspace, and those that share bytes with it. */
struct temporary {
	const struct sk_plan_tensor *tensor;
	const char *sharers;
	uint32_t sharer_count;
};

static int compare_temporaries(const void *one, const void *other)
{
	const struct sk_plan_tensor *a = ((const struct temporary *)one)->tensor;
	const struct sk_plan_tensor *b = ((const struct temporary *)other)->tensor;

	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return (a > b) - (a < b);
}

static void add_sharer(const struct sk_show *show, struct temporary *temporary, const struct temporary *other)
{
	const char *name = name_text(show, &other->tensor->name);

	if (temporary->sharer_count == 0)
		temporary->sharers = sk_arena_print(show->arena, "shares bytes with %s", name);
	else if (temporary->sharer_count < SHOWN_SHARERS)
		temporary->sharers = sk_arena_print(show->arena, "%s, %s", temporary->sharers, name);
	temporary->sharer_count++;
}

/* The temporaries by offset, each with its sharers. */
static struct temporary *collect_temporaries(const struct sk_show *show, size_t *count)
{
	const struct sk_plan_view *plan = &show->file->plan;
	struct temporary *temporaries = SK_NEW_ARRAY(show->arena, struct temporary, plan->tensor_count);

	*count = 0;
	for (uint32_t i = 0; i < plan->tensor_count; i++)
		if (plan->tensors[i].space == SK_SPACE_WORKSPACE)
			temporaries[(*count)++] = (struct temporary){&plan->tensors[i], "", 0};
	qsort(temporaries, *count, sizeof(*temporaries), compare_temporaries);
	for (size_t i = 0; i < *count; i++) {
		uint64_t end = temporaries[i].tensor->offset + temporaries[i].tensor->bytes;
		size_t last = *count - i > COUNTED_SHARERS ? i + COUNTED_SHARERS : *count;

		for (size_t j = i + 1; j < last && temporaries[j].tensor->offset < end; j++) {
			add_sharer(show, &temporaries[i], &temporaries[j]);
			add_sharer(show, &temporaries[j], &temporaries[i]);
		}
	}
	return temporaries;
}

void sk_show_memory(const struct sk_show *show)
{
	const struct sk_plan *plan = show->file->plan.plan;
	size_t count;
	struct temporary *temporaries = collect_temporaries(show, &count);
	struct sk_table table;

	sk_table_init(&table, show->arena, "rrllll");
	if (count)
		HEADINGS(&table, "offset", "bytes", "tensor", "type", "shape", "");
	for (size_t i = 0; i < count; i++) {
		const struct temporary *temporary = &temporaries[i];
		uint32_t more = temporary->sharer_count > SHOWN_SHARERS ? temporary->sharer_count - SHOWN_SHARERS : 0;

		sk_table_cell(&table, "%" PRIu64, temporary->tensor->offset);
		sk_table_cell(&table, "%" PRIu64, temporary->tensor->bytes);
		sk_table_cell(&table, "%s", name_text(show, &temporary->tensor->name));
		sk_table_cell(&table, "%s", sk_dtype_name(temporary->tensor->dtype));
		sk_table_cell(&table, "%s", shape_text(show, temporary->tensor));
		sk_table_cell(&table, "%s%s", temporary->sharers,
			      more ? sk_arena_print(show->arena, " and %u more", more) : "");
	}
	print_section(show,
		      sk_arena_print(show->arena, "memory: %zu temporar%s in a workspace of %" PRIu64 " bytes", count,
				     count == 1 ? "y" : "ies", plan->workspace_size),
		      &table);
}

/* ---- reasons ---- */

void sk_show_reasons(const struct sk_show *show)
{
	const struct sk_package_file *file = show->file;
	struct sk_table table;

	sk_table_init(&table, show->arena, "lllll");
	if (file->has_account)
		HEADINGS(&table, "task", "scope", "launch", "reason", "");
	for (size_t i = 0; i < file->account.count; i++) {
		const struct sk_account_entry *reason = &file->account.entries[i];

		sk_table_cell(&table, "%s", reason->name);
		sk_table_cell(&table, "%s", reason->scope ? reason->scope : "-");
		sk_table_cell(&table, "%s", name_text(show, &file->plan.launches[reason->launch].name));
		sk_table_cell(&table, "%s", reason->code);
		sk_table_cell(&table, "%s", reason->sentence);
	}
	print_section(show, file->has_account ? "reasons" : "reasons: the account has been stripped from the package",
		      &table);
}
