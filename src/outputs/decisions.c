/* See outputs-parts.h. Each item of a list has a line of its own, so that reports can be compared line by line. */
#include "src/outputs/outputs-parts.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/json.h"
#include "base/map.h"
#include "base/text.h"
#include "format/plan/dims-forms.h"
#include "format/plan/dims.h"
#include "format/plan/plan.h"
#include "format/profile/profile.h"
#include "format/skdims.h"
#include "format/skplan.h"
#include "src/model/model.h"
#include "src/package/package.h"
#include "src/planning/planning.h"
#include "src/proof/proof.h"

struct writer {
	struct sk_arena *arena;
	const struct sk_decisions *input;
	const struct sk_plan_view *plan;
	const struct sk_forms *forms; /* of the package's sizes */
	struct sk_temporaries temporaries;
	struct sk_json *json;
};

/* ---- names ---- */

static const char *optional(const int32_t *reference)
{
	return *reference ? sk_plan_string(reference) : NULL;
}

static const char *task_name(const struct writer *writer, uint32_t task)
{
	return sk_plan_string(&writer->plan->tasks[task].name);
}

/* The step's first task, which identifies it. */
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

/* Write the expression of a number that depends on sizes with bounds. */
static void put_size(const struct writer *writer, const char *key, enum sk_dims_table table, size_t record,
		     size_t offset)
{
	uint32_t value = sk_dims_value_of(writer->input->dims, table, (uint32_t)record, offset);

	if (value != SK_NO_INDEX)
		sk_json_put_string(writer->json, key, sk_forms_text(writer->arena, writer->forms, value));
}

static void put_extent(const struct writer *writer, const struct sk_plan_step *step)
{
	sk_json_put_number(writer->json, "extent", step->extent);
	put_size(writer, "extent_size", SK_DIMS_STEPS, (size_t)(step - writer->plan->steps),
		 offsetof(struct sk_plan_step, extent));
}

static void put_dimensions(const struct writer *writer)
{
	const struct sk_dims_view *dims = writer->input->dims;

	if (!dims->dimension_count)
		return;
	sk_json_begin_list(writer->json, "dimensions", SK_JSON_LINES);
	for (uint32_t i = 0; i < dims->dimension_count; i++) {
		const struct sk_dims_dimension *dimension = &dims->dimensions[i];

		sk_json_begin_object(writer->json, NULL, SK_JSON_LINE);
		sk_json_put_string(writer->json, "name", sk_plan_string(&dimension->name));
		sk_json_put_string(writer->json, "network", optional(&dimension->network));
		sk_json_put_number(writer->json, "least", dimension->least);
		sk_json_put_number(writer->json, "most", dimension->most);
		sk_json_put_number(writer->json, "multiple", dimension->multiple);
		sk_json_put_number(writer->json, "usual", dimension->usual);
		sk_json_end(writer->json);
	}
	sk_json_end(writer->json);
}

static void put_sizes(const struct writer *writer)
{
	const struct sk_plan *plan = writer->plan->plan;
	uint64_t kernels = 0;

	for (uint32_t i = 0; i < writer->plan->kernel_count; i++)
		kernels += (uint64_t)writer->plan->kernels[i].code_size + writer->plan->kernels[i].vector_code_size;
	sk_json_begin_object(writer->json, "sizes", SK_JSON_LINE);
	sk_json_put_number(writer->json, "workspace", plan->workspace_size);
	sk_json_put_number(writer->json, "unshared_workspace", plan->unshared_workspace_size);
	sk_json_put_number(writer->json, "constants", plan->constants_size);
	sk_json_put_number(writer->json, "plan", plan->size);
	sk_json_put_number(writer->json, "dispatchers", sk_entries_size(writer->input->entries));
	sk_json_put_number(writer->json, "kernels", kernels);
	sk_json_put_number(writer->json, "package", writer->input->output_size);
	sk_json_end(writer->json);
}

/* ---- scopes: requests and results ---- */

struct scope {
	const char *name;
	SK_ARRAY(uint32_t) asked; /* tasks */
	SK_ARRAY(uint32_t) launches; /* superkernels */
	SK_ARRAY(uint32_t) singles; /* tasks that are launched alone */
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

static void put_tasks(const struct writer *writer, const char *key, const uint32_t *tasks, size_t count)
{
	sk_json_begin_list(writer->json, key, SK_JSON_LINE);
	for (size_t i = 0; i < count; i++)
		sk_json_put_string(writer->json, NULL, task_name(writer, tasks[i]));
	sk_json_end(writer->json);
}

static void put_launch_names(const struct writer *writer, const char *key, const uint32_t *launches, size_t count)
{
	sk_json_begin_list(writer->json, key, SK_JSON_LINE);
	for (size_t i = 0; i < count; i++)
		sk_json_put_string(writer->json, NULL, launch_name(writer, launches[i]));
	sk_json_end(writer->json);
}

static void put_scopes(const struct writer *writer)
{
	scope_list scopes = list_scopes(writer);

	sk_json_begin_list(writer->json, "scopes", SK_JSON_LINES);
	for (size_t i = 0; i < scopes.count; i++) {
		const struct scope *scope = &scopes.items[i];

		sk_json_begin_object(writer->json, NULL, SK_JSON_LINE);
		sk_json_put_string(writer->json, "name", scope->name);
		sk_json_put_bool(writer->json, "whole", scope->launches.count == 1 && scope->singles.count == 0);
		put_tasks(writer, "asked", scope->asked.items, scope->asked.count);
		put_launch_names(writer, "superkernels", scope->launches.items, scope->launches.count);
		put_tasks(writer, "single", scope->singles.items, scope->singles.count);
		sk_json_end(writer->json);
	}
	sk_json_end(writer->json);
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

/* Return the number of parts that the cores share out. */
static uint64_t parts_of(const struct sk_plan_partition *partition)
{
	return partition->blocks ? partition->blocks : (partition->extent - 1) / partition->unit + 1;
}

/* Return the most cores of the lane that have work: the greatest number of blocks, units or homes. More cores would be
 * idle. */
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

static void put_lanes(const struct writer *writer, const struct sk_plan_launch *launch)
{
	sk_json_begin_object(writer->json, "lanes", SK_JSON_LINE);
	for (uint32_t lane = 0; lane < writer->plan->lane_count; lane++) {
		if (!sk_plan_form(launch)->lane_steps[lane])
			continue;
		sk_json_begin_object(writer->json, sk_plan_string(&writer->plan->lanes[lane]), SK_JSON_LINE);
		sk_json_put_number(writer->json, "steps", sk_plan_form(launch)->lane_steps[lane]);
		sk_json_put_number(writer->json, "cores", useful_cores(writer, launch, lane));
		sk_json_end(writer->json);
	}
	sk_json_end(writer->json);
}

static void put_launch(const struct writer *writer, uint32_t index, const struct code *code)
{
	static const char *const kinds[SK_LAUNCH_KIND_COUNT] = {"superkernel", "single", "task entry", "exchange"};
	const struct sk_plan_view *plan = writer->plan;
	const struct sk_plan_launch *launch = &plan->launches[index];
	const struct sk_plan_form *form = sk_plan_form(launch);
	struct sk_json *json = writer->json;
	uint64_t awaits = 0;

	for (uint32_t i = 0; i < form->step_count; i++)
		awaits += plan->steps[launch->first_step + i].await_count;
	sk_json_begin_object(json, NULL, SK_JSON_LINE);
	sk_json_put_string(json, "name", sk_plan_string(&launch->name));
	sk_json_put_string(json, "kind", kinds[form->kind]);
	if (form->flags & SK_LAUNCH_ONCE)
		sk_json_put_bool(json, "once", true);
	sk_json_put_string(json, "scope", optional(&form->scope));
	sk_json_put_string(json, "first", step_name(writer, launch->first_step));
	sk_json_put_string(json, "last", last_name(writer, launch->first_step + form->step_count - 1));
	sk_json_put_number(json, "stream", form->stream);
	sk_json_put_number(json, "steps", form->step_count);
	sk_json_put_number(json, "awaits", awaits);
	put_lanes(writer, launch);
	sk_json_put_number(json, "scratch", form->scratch_size);
	sk_json_put_number(json, "code", code->parallel);
	sk_json_put_number(json, "serial_code", code->serial);
	put_launch_names(writer, "follows", &plan->follows[launch->first_follow], form->follow_count);
	sk_json_end(json);
}

static void put_launches(const struct writer *writer)
{
	const struct code *codes = measure_entries(writer);

	sk_json_begin_list(writer->json, "launches", SK_JSON_LINES);
	for (uint32_t i = 0; i < writer->plan->network_launch_count; i++)
		put_launch(writer, i, &codes[i]);
	sk_json_end(writer->json);
}

/* ---- tile groups ---- */

/* before: task by task; UINT64_MAX: too much to count. */
static void put_change(const struct writer *writer, const char *key, uint64_t before, uint64_t after)
{
	sk_json_begin_object(writer->json, key, SK_JSON_LINE);
	if (before == UINT64_MAX)
		sk_json_put_string(writer->json, "before", NULL);
	else
		sk_json_put_number(writer->json, "before", before);
	sk_json_put_number(writer->json, "after", after);
	sk_json_end(writer->json);
}

static void put_traffic(const struct writer *writer, const struct sk_traffic *traffic)
{
	put_change(writer, "traffic", traffic->apart, traffic->moved);
}

static void put_partition(const struct writer *writer, const struct sk_plan_step *step)
{
	const struct sk_plan_partition *partition = &writer->plan->partitions[step->partition];

	sk_json_put_number(writer->json, "unit", partition->unit);
	put_size(writer, "unit_size", SK_DIMS_PARTITIONS, step->partition, offsetof(struct sk_plan_partition, unit));
	if (!partition->blocks)
		return;
	sk_json_put_number(writer->json, "rows", partition->rows);
	put_size(writer, "rows_size", SK_DIMS_PARTITIONS, step->partition, offsetof(struct sk_plan_partition, rows));
	sk_json_put_number(writer->json, "by_blocks", partition->blocks);
}

static void put_group(const struct writer *writer, uint32_t launch, uint32_t index, const struct sk_traffic *traffic)
{
	const struct sk_plan_view *plan = writer->plan;
	const struct sk_plan_step *step = &plan->steps[index];
	struct sk_json *json = writer->json;

	sk_json_begin_object(json, NULL, SK_JSON_LINE);
	sk_json_put_string(json, "launch", launch_name(writer, launch));
	sk_json_put_string(json, "first", step_name(writer, index));
	sk_json_put_string(json, "last", last_name(writer, index));
	sk_json_put_number(json, "tasks", step->call_count);
	put_extent(writer, step);
	put_partition(writer, step);
	sk_json_put_number(json, "tile", step->tile);
	put_traffic(writer, traffic);
	sk_json_end(json);
}

/* Write each group, then the totals without groups and with them. */
static void put_groups(const struct writer *writer)
{
	const struct sk_plan_view *plan = writer->plan;
	struct sk_traffic all = {0};
	uint64_t scratch = 0, workspace = 0, awaits = 0;

	sk_json_begin_list(writer->json, "tile_groups", SK_JSON_LINES);
	for (uint32_t l = 0; l < plan->network_launch_count; l++)
		for (uint32_t i = 0; i < sk_plan_form(&plan->launches[l])->step_count; i++) {
			uint32_t step = plan->launches[l].first_step + i;
			struct sk_traffic traffic = sk_traffic_of_step(writer->arena, plan, &plan->steps[step]);

			all.apart += traffic.apart;
			all.moved += traffic.moved;
			awaits += plan->steps[step].await_count;
			if (plan->steps[step].tile)
				put_group(writer, l, step, &traffic);
		}
	sk_json_end(writer->json);
	for (uint32_t i = 0; i < plan->tensor_count; i++) {
		scratch += plan->tensors[i].space == SK_SPACE_SCRATCH ? sk_plan_type(&plan->tensors[i])->bytes : 0;
		workspace += plan->tensors[i].space == SK_SPACE_WORKSPACE ? sk_plan_type(&plan->tensors[i])->bytes : 0;
	}
	sk_json_begin_object(writer->json, "tiles", SK_JSON_LINE);
	sk_json_put_number(writer->json, "temporaries_in_scratch", scratch);
	put_change(writer, "temporaries_in_memory", scratch + workspace, workspace);
	put_change(writer, "workspace", writer->input->without_groups->workspace, plan->plan->workspace_size);
	put_change(writer, "awaits", writer->input->without_groups->awaits, awaits);
	put_traffic(writer, &all);
	sk_json_end(writer->json);
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
	struct sk_json *json = writer->json;

	sk_json_begin_object(json, NULL, SK_JSON_LINE);
	sk_json_put_string(json, "name", sk_plan_string(&task->name));
	sk_json_put_number(json, "line", task->line);
	sk_json_put_string(json, "kernel", sk_plan_string(&writer->plan->kernels[task->kernel].name));
	sk_json_put_number(json, "stream", task->stream);
	sk_json_put_string(json, "scope", optional(&task->scope));
	sk_json_put_string(json, "launch", launch_name(writer, task->launch));
	sk_json_put_string(json, "lane", sk_plan_string(&writer->plan->lanes[step->lane]));
	sk_json_put_number(json, "step", step->number);
	sk_json_put_string(json, "cores", cores_text(writer, step));
	sk_json_put_string(json, "work", kinds[step->kind]);
	if (step->extent)
		put_extent(writer, step);
	if (step->kind == SK_STEP_SPLIT)
		put_partition(writer, step);
	if (step->blocks)
		sk_json_put_number(json, "blocks", step->blocks);
	if (sk_plan_first_core(writer->plan, step))
		sk_json_put_number(json, "first_core", sk_plan_first_core(writer->plan, step));
	sk_json_begin_list(json, "awaits", SK_JSON_LINE);
	for (uint32_t i = 0; i < step->await_count; i++)
		sk_json_put_string(json, NULL, last_name(writer, writer->plan->awaits[step->first_await + i].step));
	sk_json_end(json);
	sk_json_put_string(json, "reason", entry ? entry->code : NULL);
	sk_json_put_string(json, "because", entry ? entry->sentence : NULL);
	sk_json_put_string(json, "tile_reason", entry ? entry->tile_code : NULL);
	sk_json_put_string(json, "tile_because", entry ? entry->tile_sentence : NULL);
	if (entry && entry->block_code) {
		sk_json_put_string(json, "blocks_reason", entry->block_code);
		sk_json_put_string(json, "blocks_because", entry->block_sentence);
	}
	if (entry && entry->rule)
		sk_json_put_string(json, "rule", entry->rule);
	sk_json_end(json);
}

/* In network order. */
static void put_task_list(const struct writer *writer)
{
	const struct sk_plan_view *plan = writer->plan;
	const struct sk_task_call *places = sk_find_calls(writer->arena, plan);

	sk_json_begin_list(writer->json, "tasks", SK_JSON_LINES);
	for (uint32_t i = 0; i < plan->task_count; i++)
		put_task(writer, i, &plan->steps[places[i].step]);
	sk_json_end(writer->json);
}

/* ---- dependencies ---- */

static void put_dependency(const struct writer *writer, const struct sk_fact *fact)
{
	struct sk_json *json = writer->json;

	sk_json_begin_object(json, NULL, SK_JSON_LINE);
	sk_json_put_string(json, "earlier", sk_plan_string(&sk_access_task(writer->plan, &fact->earlier)->name));
	sk_json_put_string(json, "later", sk_plan_string(&sk_access_task(writer->plan, &fact->later)->name));
	sk_fact_put_json(writer->arena, json, writer->plan, &writer->temporaries, fact);
	if (fact->kind == SK_FACT_KNOWN) {
		sk_json_begin_object(json, "await", SK_JSON_LINE);
		sk_json_put_string(json, "of", step_name(writer, fact->awaiting));
		sk_json_put_string(json, "on", last_name(writer, fact->awaited));
		sk_json_end(json);
	}
	sk_json_end(json);
}

/* Idle tasks have no launch. */
static void put_idle(const struct writer *writer)
{
	sk_json_begin_list(writer->json, "idle", SK_JSON_LINE);
	for (size_t i = 0; i < writer->input->model->idle.count; i++)
		sk_json_put_string(writer->json, NULL, writer->input->model->idle.items[i].name);
	sk_json_end(writer->json);
}

static void put_dependencies(const struct writer *writer)
{
	const struct sk_facts *facts = writer->input->facts;

	sk_json_begin_list(writer->json, "dependencies", SK_JSON_LINES);
	for (size_t i = 0; i < facts->items.count; i++)
		put_dependency(writer, &facts->items.items[i]);
	sk_json_end(writer->json);
}

static void put_device(const struct writer *writer)
{
	const struct sk_profile *device = writer->input->device;

	sk_json_begin_object(writer->json, "device", SK_JSON_LINE);
	sk_json_put_string(writer->json, "name", device->name);
	sk_json_begin_list(writer->json, "lanes", SK_JSON_LINE);
	for (uint32_t i = 0; i < device->lane_count; i++) {
		sk_json_begin_object(writer->json, NULL, SK_JSON_LINE);
		sk_json_put_string(writer->json, "name", device->lanes[i].name);
		sk_json_put_number(writer->json, "cores", device->lanes[i].cores);
		sk_json_end(writer->json);
	}
	sk_json_end(writer->json);
	sk_json_end(writer->json);
}

bool sk_decisions_write(struct sk_arena *arena, struct sk_diag *diag, const char *path,
			const struct sk_decisions *input)
{
	struct sk_text text;

	sk_text_open(&text);

	struct sk_json json = {.stream = text.stream, .indent = 2};
	const struct writer writer = {.arena = arena,
				      .input = input,
				      .plan = input->plan,
				      .forms = sk_forms_make(arena, input->dims),
				      .temporaries = sk_temporaries_sort(arena, input->plan),
				      .json = &json};

	sk_json_begin_object(&json, NULL, SK_JSON_LINES);
	sk_json_put_number(&json, "version", 1);
	sk_json_put_string(&json, "manifest", input->manifest);
	put_device(&writer);
	put_sizes(&writer);
	put_dimensions(&writer);
	put_scopes(&writer);
	put_launches(&writer);
	put_groups(&writer);
	put_task_list(&writer);
	put_idle(&writer);
	sk_virtual_nodes_report(input->model, &json);
	put_dependencies(&writer);
	sk_json_end(&json);
	putc('\n', text.stream);
	sk_text_close(arena, &text);
	return sk_file_write_text(diag, path, text.bytes, strlen(text.bytes));
}
