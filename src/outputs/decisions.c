/* See outputs-parts.h. Each list has one item a line, so that reports can be compared line by line. */
#include "src/outputs/outputs-parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/json.h"
#include "base/map.h"
#include "base/text.h"
#include "format/plan/plan.h"
#include "format/profile/profile.h"
#include "format/skplan.h"
#include "src/model/model.h"
#include "src/package/package.h"
#include "src/planning/planning.h"
#include "src/proof/proof.h"

struct writer {
	struct sk_arena *arena;
	const struct sk_decisions *input;
	const struct sk_plan_view *plan;
	struct sk_temporaries temporaries;
	FILE *stream;
};

/* ---- JSON ---- */

static void put_string(const struct writer *writer, const char *text)
{
	fputs(sk_json_string(writer->arena, text), writer->stream);
}

static void put_text(const struct writer *writer, const char *comma, const char *name, const char *text)
{
	sk_json_put_text(writer->arena, writer->stream, comma, name, text);
}

static void put_number(const struct writer *writer, const char *comma, const char *name, uint64_t number)
{
	sk_json_put_number(writer->stream, comma, name, number);
}

/* Begins the next item of a list on a line of its own. */
static void begin_item(const struct writer *writer, bool *first)
{
	fputs(*first ? "\n    " : ",\n    ", writer->stream);
	*first = false;
}

static const char *optional(const int32_t *reference)
{
	return *reference ? sk_plan_string(reference) : NULL;
}

static const char *task_name(const struct writer *writer, uint32_t task)
{
	return sk_plan_string(&writer->plan->tasks[task].name);
}

/* After its first task. */
static const char *step_name(const struct writer *writer, uint32_t step)
{
	return sk_plan_string(&sk_plan_step_task(writer->plan, &writer->plan->steps[step])->name);
}

static const char *last_name(const struct writer *writer, uint32_t step)
{
	return sk_plan_string(&sk_plan_step_last_task(writer->plan, &writer->plan->steps[step])->name);
}

static const char *launch_name(const struct writer *writer, uint32_t launch)
{
	return sk_plan_string(&writer->plan->launches[launch].name);
}

/* ---- sizes ---- */

static void put_sizes(const struct writer *writer)
{
	const struct sk_plan *plan = writer->plan->plan;
	uint64_t kernels = 0;

	for (uint32_t i = 0; i < writer->plan->kernel_count; i++)
		kernels += (uint64_t)writer->plan->kernels[i].code_size + writer->plan->kernels[i].vector_code_size;
	put_number(writer, "  \"sizes\": {", "workspace", plan->workspace_size);
	put_number(writer, ", ", "unshared_workspace", plan->unshared_workspace_size);
	put_number(writer, ", ", "constants", plan->constants_size);
	put_number(writer, ", ", "plan", plan->size);
	put_number(writer, ", ", "dispatchers", sk_entries_size(writer->input->entries));
	put_number(writer, ", ", "kernels", kernels);
	put_number(writer, ", ", "package", writer->input->output_size);
	fputs("},\n", writer->stream);
}

/* ---- scopes: what was asked for, and what came of it ---- */

struct scope {
	const char *name;
	SK_ARRAY(uint32_t) asked; /* tasks */
	SK_ARRAY(uint32_t) launches; /* superkernels */
	SK_ARRAY(uint32_t) singles; /* tasks that are launched by themselves */
};

typedef SK_ARRAY(struct scope) scope_list;

static void add_task(const struct writer *writer, struct scope *scope, uint32_t task)
{
	uint32_t launch = writer->plan->tasks[task].launch;

	sk_array_push(writer->arena, &scope->asked, task);
	if (sk_plan_form(&writer->plan->launches[launch])->kind != SK_LAUNCH_SUPERKERNEL)
		sk_array_push(writer->arena, &scope->singles, task);
	else if (sk_plan_launch_calls(writer->plan, &writer->plan->launches[launch]).first->task == task)
		sk_array_push(writer->arena, &scope->launches, launch);
}

static scope_list list_scopes(const struct writer *writer)
{
	scope_list scopes = {0};
	struct sk_map names;

	sk_map_init(&names, writer->arena);
	for (uint32_t i = 0; i < writer->plan->task_count; i++) {
		const char *name = optional(&writer->plan->tasks[i].scope);
		uint32_t fresh = (uint32_t)scopes.count;
		uint32_t scope = name ? sk_map_insert(&names, name, strlen(name), fresh) : SK_NONE;

		if (scope == SK_NONE)
			continue;
		if (scope == fresh)
			sk_array_push(writer->arena, &scopes, (struct scope){.name = name});
		add_task(writer, &scopes.items[scope], i);
	}
	return scopes;
}

static void put_tasks(const struct writer *writer, const char *name, const uint32_t *tasks, size_t count)
{
	fprintf(writer->stream, ", \"%s\": [", name);
	for (size_t i = 0; i < count; i++) {
		fputs(i ? ", " : "", writer->stream);
		put_string(writer, task_name(writer, tasks[i]));
	}
	fputc(']', writer->stream);
}

static void put_scopes(const struct writer *writer)
{
	scope_list scopes = list_scopes(writer);
	bool first = true;

	fputs("  \"scopes\": [", writer->stream);
	for (size_t i = 0; i < scopes.count; i++) {
		const struct scope *scope = &scopes.items[i];
		bool whole = scope->launches.count == 1 && scope->singles.count == 0;

		begin_item(writer, &first);
		put_text(writer, "{", "name", scope->name);
		fprintf(writer->stream, ", \"whole\": %s", whole ? "true" : "false");
		put_tasks(writer, "asked", scope->asked.items, scope->asked.count);
		fputs(", \"superkernels\": [", writer->stream);
		for (size_t l = 0; l < scope->launches.count; l++) {
			fputs(l ? ", " : "", writer->stream);
			put_string(writer, launch_name(writer, scope->launches.items[l]));
		}
		fputc(']', writer->stream);
		put_tasks(writer, "single", scope->singles.items, scope->singles.count);
		fputc('}', writer->stream);
	}
	fputs("\n  ],\n", writer->stream);
}

/* ---- launches ---- */

struct code {
	uint64_t parallel, serial; /* bytes of the launch's entries */
};

/* An entry's symbol is followed by those of the lanes' programs that it branches to, if there are several, and of
 * copies. */
static uint64_t sum_symbols(const struct sk_code *code, size_t first, size_t end)
{
	uint64_t sum = 0;

	for (size_t i = first; i < end; i++)
		sum += code->symbols.items[i].size;
	return sum;
}

static struct code *measure_entries(const struct writer *writer)
{
	struct code *codes = SK_NEW_ARRAY(writer->arena, struct code, writer->plan->launch_count);

	for (int piece = 0; piece < SK_ENTRIES; piece++) {
		const struct sk_entries *made = &writer->input->entries[piece];

		for (size_t i = 0; i < made->entries.count; i++) {
			const struct sk_entry *entry = &made->entries.items[i];
			size_t end = i + 1 < made->entries.count ? entry[1].parallel : made->code.symbols.count;
			size_t serial = entry->serial == SK_NO_INDEX ? end : entry->serial;

			codes[entry->launch] = (struct code){sum_symbols(&made->code, entry->parallel, serial),
							     sum_symbols(&made->code, serial, end)};
		}
	}
	return codes;
}

/* That are shared out among the cores. */
static uint64_t parts_of(const struct sk_plan_partition *partition)
{
	return partition->blocks ? partition->blocks : (partition->extent - 1) / partition->unit + 1;
}

/* How many cores of the lane have work, at most: as many as the greatest number of blocks, units or homes; more would
 * stand idle. */
static uint64_t useful_cores(const struct writer *writer, const struct sk_plan_launch *launch, uint32_t lane)
{
	const struct sk_plan_view *plan = writer->plan;
	uint64_t cores = 0;

	for (uint32_t i = 0; i < sk_plan_form(launch)->home_count; i++)
		cores += plan->homes[launch->first_home + i].lane == lane;
	for (uint32_t i = 0; i < sk_plan_form(launch)->step_count; i++) {
		const struct sk_plan_step *step = &plan->steps[launch->first_step + i];
		uint64_t parts =
			step->kind == SK_STEP_SPLIT ? parts_of(&plan->partitions[step->partition]) : step->blocks;

		if (!(step->flags & SK_STEP_RESIDENT))
			parts += sk_plan_first_core(plan, step);
		if (step->lane == lane && parts > cores)
			cores = parts;
	}
	if (sk_plan_form(launch)->lane_cores[lane] && cores > sk_plan_form(launch)->lane_cores[lane])
		cores = sk_plan_form(launch)->lane_cores[lane];
	return cores > sk_plan_form(launch)->resident_cores[lane] ? cores : sk_plan_form(launch)->resident_cores[lane];
}

static void put_launch(const struct writer *writer, uint32_t index, const struct code *code)
{
	static const char *const kinds[SK_LAUNCH_KIND_COUNT] = {"superkernel", "single", "task entry"};
	const struct sk_plan_view *plan = writer->plan;
	const struct sk_plan_launch *launch = &plan->launches[index];
	uint64_t awaits = 0;

	for (uint32_t i = 0; i < sk_plan_form(launch)->step_count; i++)
		awaits += plan->steps[launch->first_step + i].await_count;
	put_text(writer, "{", "name", sk_plan_string(&launch->name));
	put_text(writer, ", ", "kind", kinds[sk_plan_form(launch)->kind]);
	if (sk_plan_form(launch)->flags & SK_LAUNCH_ONCE)
		fputs(", \"once\": true", writer->stream);
	put_text(writer, ", ", "scope", optional(&sk_plan_form(launch)->scope));
	put_text(writer, ", ", "first", step_name(writer, launch->first_step));
	put_text(writer, ", ", "last", last_name(writer, launch->first_step + sk_plan_form(launch)->step_count - 1));
	put_number(writer, ", ", "stream", sk_plan_form(launch)->stream);
	put_number(writer, ", ", "steps", sk_plan_form(launch)->step_count);
	put_number(writer, ", ", "awaits", awaits);
	fputs(", \"lanes\": {", writer->stream);
	for (uint32_t lane = 0, shown = 0; lane < plan->lane_count; lane++) {
		if (!sk_plan_form(launch)->lane_steps[lane])
			continue;
		fputs(shown++ ? ", " : "", writer->stream);
		put_string(writer, sk_plan_string(&plan->lanes[lane]));
		put_number(writer, ": {", "steps", sk_plan_form(launch)->lane_steps[lane]);
		put_number(writer, ", ", "cores", useful_cores(writer, launch, lane));
		fputc('}', writer->stream);
	}
	put_number(writer, "}, ", "scratch", sk_plan_form(launch)->scratch_size);
	put_number(writer, ", ", "code", code->parallel);
	put_number(writer, ", ", "serial_code", code->serial);
	fputs(", \"follows\": [", writer->stream);
	for (uint32_t i = 0; i < sk_plan_form(launch)->follow_count; i++) {
		fputs(i ? ", " : "", writer->stream);
		put_string(writer, launch_name(writer, plan->follows[launch->first_follow + i]));
	}
	fputs("]}", writer->stream);
}

static void put_launches(const struct writer *writer)
{
	const struct code *codes = measure_entries(writer);
	bool first = true;

	fputs("  \"launches\": [", writer->stream);
	for (uint32_t i = 0; i < writer->plan->network_launch_count; i++) {
		begin_item(writer, &first);
		put_launch(writer, i, &codes[i]);
	}
	fputs("\n  ],\n", writer->stream);
}

/* ---- tile groups ---- */

/* before: task by task; UINT64_MAX: too much to count. */
static void put_change(const struct writer *writer, const char *name, uint64_t before, uint64_t after)
{
	fprintf(writer->stream, ", \"%s\": ", name);
	if (before == UINT64_MAX)
		put_text(writer, "{", "before", NULL);
	else
		put_number(writer, "{", "before", before);
	put_number(writer, ", ", "after", after);
	fputs("}", writer->stream);
}

static void put_traffic(const struct writer *writer, const struct sk_traffic *traffic)
{
	put_change(writer, "traffic", traffic->apart, traffic->moved);
}

static void put_partition(const struct writer *writer, const struct sk_plan_step *step)
{
	const struct sk_plan_partition *partition = &writer->plan->partitions[step->partition];

	put_number(writer, ", ", "unit", partition->unit);
	if (!partition->blocks)
		return;
	put_number(writer, ", ", "rows", partition->rows);
	put_number(writer, ", ", "by_blocks", partition->blocks);
}

static void put_group(const struct writer *writer, uint32_t launch, uint32_t index, const struct sk_traffic *traffic)
{
	const struct sk_plan_view *plan = writer->plan;
	const struct sk_plan_step *step = &plan->steps[index];

	put_text(writer, "{", "launch", launch_name(writer, launch));
	put_text(writer, ", ", "first", step_name(writer, index));
	put_text(writer, ", ", "last", task_name(writer, plan->calls[step->first_call + step->call_count - 1].task));
	put_number(writer, ", ", "tasks", step->call_count);
	put_number(writer, ", ", "extent", step->extent);
	put_partition(writer, step);
	put_number(writer, ", ", "tile", step->tile);
	put_traffic(writer, traffic);
	fputs("}", writer->stream);
}

/* Each group, then what all of them change: without groups, and with them. */
static void put_groups(const struct writer *writer)
{
	const struct sk_plan_view *plan = writer->plan;
	struct sk_traffic all = {0};
	uint64_t scratch = 0, workspace = 0, awaits = 0;
	bool first = true;

	fputs("  \"tile_groups\": [", writer->stream);
	for (uint32_t l = 0; l < plan->network_launch_count; l++)
		for (uint32_t i = 0; i < sk_plan_form(&plan->launches[l])->step_count; i++) {
			uint32_t step = plan->launches[l].first_step + i;
			struct sk_traffic traffic = sk_traffic_of_step(writer->arena, plan, &plan->steps[step]);

			all.apart += traffic.apart;
			all.moved += traffic.moved;
			awaits += plan->steps[step].await_count;
			if (!plan->steps[step].tile)
				continue;
			begin_item(writer, &first);
			put_group(writer, l, step, &traffic);
		}
	for (uint32_t i = 0; i < plan->tensor_count; i++) {
		scratch += plan->tensors[i].space == SK_SPACE_SCRATCH ? sk_plan_type(&plan->tensors[i])->bytes : 0;
		workspace += plan->tensors[i].space == SK_SPACE_WORKSPACE ? sk_plan_type(&plan->tensors[i])->bytes : 0;
	}
	put_number(writer, "\n  ],\n  \"tiles\": {", "temporaries_in_scratch", scratch);
	put_change(writer, "temporaries_in_memory", scratch + workspace, workspace);
	put_change(writer, "workspace", writer->input->without_groups->workspace, plan->plan->workspace_size);
	put_change(writer, "awaits", writer->input->without_groups->awaits, awaits);
	put_traffic(writer, &all);
	fputs("},\n", writer->stream);
}

/* ---- tasks ---- */

static const char *cores_text(const struct writer *writer, const struct sk_plan_step *step)
{
	if (step->core_set == SK_ALL_CORES)
		return "all";
	return sk_arena_print(writer->arena, "home of stream %u", writer->plan->homes[step->core_set].stream);
}

static void put_task(const struct writer *writer, uint32_t number, const struct sk_plan_step *step)
{
	static const char *const kinds[SK_STEP_KIND_COUNT] = {"plain", "blocks", "blocks of a range", "split"};
	const struct sk_plan_task *task = &writer->plan->tasks[number];
	const struct sk_account_entry *entry = sk_account_find(writer->input->account, number);

	put_text(writer, "{", "name", sk_plan_string(&task->name));
	put_number(writer, ", ", "line", task->line);
	put_text(writer, ", ", "kernel", sk_plan_string(&writer->plan->kernels[task->kernel].name));
	put_number(writer, ", ", "stream", task->stream);
	put_text(writer, ", ", "scope", optional(&task->scope));
	put_text(writer, ", ", "launch", launch_name(writer, task->launch));
	put_text(writer, ", ", "lane", sk_plan_string(&writer->plan->lanes[step->lane]));
	put_number(writer, ", ", "step", step->number);
	put_text(writer, ", ", "cores", cores_text(writer, step));
	put_text(writer, ", ", "work", kinds[step->kind]);
	if (step->extent)
		put_number(writer, ", ", "extent", step->extent);
	if (step->kind == SK_STEP_SPLIT)
		put_partition(writer, step);
	if (step->blocks)
		put_number(writer, ", ", "blocks", step->blocks);
	if (sk_plan_first_core(writer->plan, step))
		put_number(writer, ", ", "first_core", sk_plan_first_core(writer->plan, step));
	fputs(", \"awaits\": [", writer->stream);
	for (uint32_t i = 0; i < step->await_count; i++) {
		fputs(i ? ", " : "", writer->stream);
		put_string(writer, last_name(writer, writer->plan->awaits[step->first_await + i].step));
	}
	fputc(']', writer->stream);
	put_text(writer, ", ", "reason", entry ? entry->code : NULL);
	put_text(writer, ", ", "because", entry ? entry->sentence : NULL);
	put_text(writer, ", ", "tile_reason", entry ? entry->tile_code : NULL);
	put_text(writer, ", ", "tile_because", entry ? entry->tile_sentence : NULL);
	if (entry && entry->block_code) {
		put_text(writer, ", ", "blocks_reason", entry->block_code);
		put_text(writer, ", ", "blocks_because", entry->block_sentence);
	}
	if (entry && entry->rule)
		put_text(writer, ", ", "rule", entry->rule);
	fputc('}', writer->stream);
}

/* In network order. */
static void put_task_list(const struct writer *writer)
{
	const struct sk_plan_view *plan = writer->plan;
	const struct sk_task_call *places = sk_find_calls(writer->arena, plan);
	bool first = true;

	fputs("  \"tasks\": [", writer->stream);
	for (uint32_t i = 0; i < plan->task_count; i++) {
		begin_item(writer, &first);
		put_task(writer, i, &plan->steps[places[i].step]);
	}
	fputs("\n  ],\n", writer->stream);
}

/* ---- dependencies ---- */

static void put_dependency(const struct writer *writer, const struct sk_fact *fact)
{
	put_text(writer, "{", "earlier", sk_plan_string(&sk_access_task(writer->plan, &fact->earlier)->name));
	put_text(writer, ", ", "later", sk_plan_string(&sk_access_task(writer->plan, &fact->later)->name));
	sk_fact_put_json(writer->arena, writer->stream, writer->plan, &writer->temporaries, fact);
	if (fact->kind == SK_FACT_KNOWN) {
		put_text(writer, ", \"await\": {", "of", step_name(writer, fact->awaiting));
		put_text(writer, ", ", "on", last_name(writer, fact->awaited));
		fputc('}', writer->stream);
	}
	fputc('}', writer->stream);
}

/* They have no launch. */
static void put_idle(const struct writer *writer)
{
	fputs("  \"idle\": [", writer->stream);
	for (size_t i = 0; i < writer->input->model->idle.count; i++) {
		fputs(i ? ", " : "", writer->stream);
		put_string(writer, writer->input->model->idle.items[i].name);
	}
	fputs("],\n", writer->stream);
}

static void put_dependencies(const struct writer *writer)
{
	const struct sk_facts *facts = writer->input->facts;
	bool first = true;

	fputs("  \"dependencies\": [", writer->stream);
	for (size_t i = 0; i < facts->items.count; i++) {
		begin_item(writer, &first);
		put_dependency(writer, &facts->items.items[i]);
	}
	fputs("\n  ]\n", writer->stream);
}

static void put_device(const struct writer *writer)
{
	const struct sk_profile *device = writer->input->device;

	put_text(writer, "  \"device\": {", "name", device->name);
	fputs(", \"lanes\": [", writer->stream);
	for (uint32_t i = 0; i < device->lane_count; i++) {
		put_text(writer, i ? ", {" : "{", "name", device->lanes[i].name);
		put_number(writer, ", ", "cores", device->lanes[i].cores);
		fputc('}', writer->stream);
	}
	fputs("]},\n", writer->stream);
}

bool sk_decisions_write(struct sk_arena *arena, struct sk_diag *diag, const char *path,
			const struct sk_decisions *input)
{
	struct writer writer = {.arena = arena,
				.input = input,
				.plan = input->plan,
				.temporaries = sk_temporaries_sort(arena, input->plan)};
	struct sk_text text;

	sk_text_open(&text);
	writer.stream = text.stream;
	fputs("{\n  \"version\": 1,\n", writer.stream);
	put_text(&writer, "  ", "manifest", input->manifest);
	fputs(",\n", writer.stream);
	put_device(&writer);
	put_sizes(&writer);
	put_scopes(&writer);
	put_launches(&writer);
	put_groups(&writer);
	put_task_list(&writer);
	put_idle(&writer);
	sk_virtual_nodes_report(input->model, writer.stream);
	put_dependencies(&writer);
	fputs("}\n", writer.stream);
	sk_text_close(arena, &text);
	return sk_file_write_text(diag, path, text.bytes, strlen(text.bytes));
}
