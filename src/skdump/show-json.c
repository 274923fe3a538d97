/* See skdump.h. Each item of a list has a line of its own. References to an item are its number in its list. Only steps
 * of the network's launches are listed, in their order; in the plan those of task entries follow them. */
#include "src/skdump/skdump.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/map.h"
#include "base/text.h"
#include "format/plan/dims-forms.h"
#include "format/plan/dims.h"
#include "format/plan/plan.h"
#include "format/skdims.h"
#include "format/skplan.h"
#include "src/proof/proof.h"

struct writer {
	struct sk_arena *arena; /* for the current item */
	struct sk_json *json;
	const struct sk_package_file *file;
	const struct sk_plan_view *plan;
	const struct sk_facts *facts;
	struct sk_explanation_index index;
	uint32_t *steps; /* by the plan's number: the number here */
	const uint32_t *network_steps; /* by number here: the plan's number */
};

static void put_name(const struct writer *writer, const char *key, const int32_t *reference)
{
	sk_json_put_string(writer->json, key, *reference ? sk_plan_string(reference) : NULL);
}

static void put_numbers(const struct writer *writer, const char *key, const uint32_t *numbers, size_t count)
{
	sk_json_begin_list(writer->json, key, SK_JSON_LINE);
	for (size_t i = 0; i < count; i++)
		sk_json_put_number(writer->json, NULL, numbers[i]);
	sk_json_end(writer->json);
}

static void put_traffic(const struct writer *writer, const struct sk_traffic *traffic)
{
	sk_json_begin_object(writer->json, "traffic", SK_JSON_LINE);
	sk_json_put_number(writer->json, "before", traffic->apart);
	sk_json_put_number(writer->json, "after", traffic->moved);
	sk_json_end(writer->json);
}

/* Write the expressions of a step's traffic; null: it has none. */
static void put_traffic_sizes(const struct writer *writer, const struct sk_plan_step *step)
{
	const struct sk_forms *forms = writer->file->forms;
	struct sk_traffic_forms traffic = sk_forms_traffic(writer->arena, forms, writer->plan, step);

	sk_json_begin_object(writer->json, "traffic_size", SK_JSON_LINE);
	sk_json_put_string(writer->json, "before", sk_form_text(writer->arena, traffic.apart));
	sk_json_put_string(writer->json, "after", sk_form_text(writer->arena, traffic.moved));
	sk_json_end(writer->json);
}

typedef void put_item(const struct writer *writer, uint32_t number);

/* The memory that an item needs is given back after it: explanations are long, and there may be many. */
static void put_list(const struct writer *writer, const char *key, uint32_t count, put_item *put)
{
	sk_json_begin_list(writer->json, key, SK_JSON_LINES);
	for (uint32_t i = 0; i < count; i++) {
		struct writer item = *writer;

		item.arena = sk_arena_create();
		sk_json_begin_object(item.json, NULL, SK_JSON_LINE);
		put(&item, i);
		sk_json_end(item.json);
		sk_arena_destroy(item.arena);
	}
	sk_json_end(writer->json);
}

/* ---- the package ---- */

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
	sk_json_put_number(writer->json, "kernels", kernels);
	sk_json_put_number(writer->json, "package", writer->file->file_size);
	sk_json_end(writer->json);
}

/* Return the bytes of a dispatcher for cores, from the symbol table. */
static uint64_t code_of(const struct writer *writer, uint32_t launch)
{
	const int32_t *entry = &writer->plan->launches[launch].entry;

	return *entry ? sk_package_file_code(writer->file, sk_package_file_target(writer->file, entry)) : 0;
}

/* Write the code sizes of task entries, several of which may be the same thunk, and of the network's launches. */
static void put_code(const struct writer *writer)
{
	struct sk_map known;
	uint64_t code[2] = {0};

	sk_map_init(&known, writer->arena);
	for (uint32_t i = 0; i < writer->plan->launch_count; i++) {
		uint64_t address = sk_package_file_target(writer->file, &writer->plan->launches[i].entry);
		const char *key = sk_arena_copy(writer->arena, (const char *)&address, sizeof(address));

		if (sk_map_insert(&known, key, sizeof(address), i) == i)
			code[i < writer->plan->network_launch_count] += code_of(writer, i);
	}
	sk_json_begin_object(writer->json, "code", SK_JSON_LINE);
	sk_json_put_number(writer->json, "before", code[0]);
	sk_json_put_number(writer->json, "after", code[1]);
	sk_json_end(writer->json);
}

static void put_totals(const struct writer *writer)
{
	const struct sk_plan_view *plan = writer->plan;
	struct sk_traffic all = {0};
	uint64_t steps = 0, awaits = 0, groups = 0;

	for (uint32_t l = 0; l < plan->network_launch_count; l++)
		for (uint32_t i = 0; i < sk_plan_form(&plan->launches[l])->step_count; i++, steps++) {
			const struct sk_plan_step *step = &plan->steps[plan->launches[l].first_step + i];
			struct sk_traffic traffic = sk_traffic_of_step(writer->arena, plan, step);

			all.apart += traffic.apart;
			all.moved += traffic.moved;
			awaits += step->await_count;
			groups += step->tile != 0;
		}
	sk_json_begin_object(writer->json, "totals", SK_JSON_LINE);
	sk_json_put_number(writer->json, "tasks", plan->task_count);
	sk_json_put_number(writer->json, "launches", plan->network_launch_count);
	sk_json_put_number(writer->json, "task_entries", plan->launch_count - plan->network_launch_count);
	sk_json_put_number(writer->json, "steps", steps);
	sk_json_put_number(writer->json, "awaits", awaits);
	sk_json_put_number(writer->json, "tile_groups", groups);
	put_traffic(writer, &all);
	if (writer->file->has_symtab)
		put_code(writer);
	sk_json_end(writer->json);
}

static void put_dimension(const struct writer *writer, uint32_t number)
{
	const struct sk_dims_dimension *dimension = &writer->file->dims.dimensions[number];

	put_name(writer, "name", &dimension->name);
	put_name(writer, "network", &dimension->network);
	sk_json_put_number(writer->json, "least", dimension->least);
	sk_json_put_number(writer->json, "most", dimension->most);
	sk_json_put_number(writer->json, "multiple", dimension->multiple);
	sk_json_put_number(writer->json, "usual", dimension->usual);
}

/* Write the expression of a number of the plan; NULL as its name: as an item of a list. */
static void put_size(const struct writer *writer, const char *name, enum sk_dims_table table, uint32_t record,
		     size_t offset, uint64_t number)
{
	const struct sk_show show = {.arena = writer->arena, .file = writer->file};

	sk_json_put_string(writer->json, name, sk_show_size(&show, table, record, offset, number));
}

/* The same for a number that may not vary: then nothing is written. */
static void put_varying(const struct writer *writer, const char *name, enum sk_dims_table table, uint32_t record,
			size_t offset)
{
	if (sk_dims_value_of(&writer->file->dims, table, record, offset) != SK_NO_INDEX)
		put_size(writer, name, table, record, offset, 0);
}

static void put_at(const struct writer *writer, uint32_t number)
{
	const struct sk_chosen_size *chosen = &writer->file->chosen.items[number];

	sk_json_put_string(writer->json, "name", chosen->name);
	sk_json_put_string(writer->json, "network", *chosen->network ? chosen->network : NULL);
	sk_json_put_number(writer->json, "size", chosen->size);
}

static void put_head(const struct writer *writer)
{
	const struct sk_plan_view *plan = writer->plan;

	sk_json_put_number(writer->json, "version", 1);
	sk_json_put_string(writer->json, "package", writer->file->path);
	put_name(writer, "device", &plan->plan->device);
	sk_json_begin_list(writer->json, "lanes", SK_JSON_LINE);
	for (uint32_t i = 0; i < plan->lane_count; i++)
		sk_json_put_string(writer->json, NULL, sk_plan_string(&plan->lanes[i]));
	sk_json_end(writer->json);
	sk_json_begin_list(writer->json, "lane_cores", SK_JSON_LINE);
	for (uint32_t i = 0; i < plan->lane_count; i++)
		if (plan->plan->device_cores[i])
			sk_json_put_number(writer->json, NULL, plan->plan->device_cores[i]);
		else
			sk_json_put_string(writer->json, NULL, NULL);
	sk_json_end(writer->json);
	put_sizes(writer);
	sk_ranks_put_json(&writer->file->ranks, writer->json);
	if (writer->file->dims.dimension_count)
		put_list(writer, "dimensions", writer->file->dims.dimension_count, put_dimension);
	if (writer->file->chosen.count)
		put_list(writer, "at", (uint32_t)writer->file->chosen.count, put_at);
	put_totals(writer);
}

/* ---- items ---- */

static void put_launch(const struct writer *writer, uint32_t number)
{
	const struct sk_plan_view *plan = writer->plan;
	const struct sk_plan_launch *launch = &plan->launches[number];
	struct sk_plan_calls calls = sk_plan_launch_calls(plan, launch);

	put_name(writer, "name", &launch->name);
	sk_json_put_string(writer->json, "kind", sk_show_kind(launch));
	put_name(writer, "scope", &sk_plan_form(launch)->scope);
	put_name(writer, "network", &sk_plan_form(launch)->network);
	sk_json_put_number(writer->json, "stream", sk_plan_form(launch)->stream);
	sk_json_put_number(writer->json, "first", calls.first->task);
	sk_json_put_number(writer->json, "last", calls.end[-1].task);
	sk_json_put_number(writer->json, "first_step", writer->steps[launch->first_step]);
	sk_json_put_number(writer->json, "steps", sk_plan_form(launch)->step_count);
	sk_json_put_number(writer->json, "awaits", sk_show_count_awaits(plan, launch));
	sk_json_put_number(writer->json, "scratch", sk_plan_form(launch)->scratch_size);
	if (writer->file->has_symtab)
		sk_json_put_number(writer->json, "code", code_of(writer, number));
	put_numbers(writer, "follows", &plan->follows[launch->first_follow], sk_plan_form(launch)->follow_count);
}

static void put_division(const struct writer *writer, const struct sk_plan_step *step)
{
	const struct sk_plan_partition *partition = &writer->plan->partitions[step->partition];

	sk_json_put_number(writer->json, "unit", partition->unit);
	put_varying(writer, "unit_size", SK_DIMS_PARTITIONS, step->partition, offsetof(struct sk_plan_partition, unit));
	if (partition->blocks) {
		sk_json_put_number(writer->json, "rows", partition->rows);
		put_varying(writer, "rows_size", SK_DIMS_PARTITIONS, step->partition,
			    offsetof(struct sk_plan_partition, rows));
		sk_json_put_number(writer->json, "by_blocks", partition->blocks);
	}
	if (step->tile)
		sk_json_put_number(writer->json, "tile", step->tile);
}

static void put_step(const struct writer *writer, uint32_t number)
{
	static const char *const kinds[SK_STEP_KIND_COUNT] = {"plain", "blocks", "blocks of a range", "split"};
	const struct sk_plan_view *plan = writer->plan;
	const struct sk_plan_step *step = &plan->steps[writer->network_steps[number]];
	struct sk_plan_calls calls = sk_plan_step_calls(plan, step);
	struct sk_traffic traffic = sk_traffic_of_step(writer->arena, plan, step);
	uint32_t *tasks = SK_NEW_ARRAY(writer->arena, uint32_t, step->call_count);
	uint32_t *awaits = SK_NEW_ARRAY(writer->arena, uint32_t, step->await_count + 1);

	for (uint32_t i = 0; i < step->call_count; i++)
		tasks[i] = calls.first[i].task;
	for (uint32_t i = 0; i < step->await_count; i++)
		awaits[i] = writer->steps[plan->awaits[step->first_await + i].step];
	sk_json_put_number(writer->json, "launch", plan->tasks[tasks[0]].launch);
	sk_json_put_number(writer->json, "number", step->number);
	put_name(writer, "lane", &plan->lanes[step->lane]);
	if (step->core_set != SK_ALL_CORES)
		sk_json_put_number(writer->json, "home", plan->homes[step->core_set].stream);
	sk_json_put_string(writer->json, "work", kinds[step->kind]);
	if (step->flags & (SK_STEP_CUBE_SIDE | SK_STEP_VECTOR_SIDE))
		sk_json_put_string(writer->json, "side", step->flags & SK_STEP_CUBE_SIDE ? "cube" : "vector");
	if (step->extent)
		sk_json_put_number(writer->json, "extent", step->extent);
	if (step->extent && writer->file->dims.dimension_count)
		put_size(writer, "extent_size", SK_DIMS_STEPS, writer->network_steps[number],
			 offsetof(struct sk_plan_step, extent), step->extent);
	if (step->kind == SK_STEP_SPLIT)
		put_division(writer, step);
	if (step->blocks)
		sk_json_put_number(writer->json, "blocks", step->blocks);
	if (sk_plan_first_core(plan, step))
		sk_json_put_number(writer->json, "first_core", sk_plan_first_core(plan, step));
	put_traffic(writer, &traffic);
	if (writer->file->dims.dimension_count)
		put_traffic_sizes(writer, step);
	put_numbers(writer, "tasks", tasks, step->call_count);
	put_numbers(writer, "awaits", awaits, step->await_count);
}

/* Write the tensors that a task reads, or those that it writes, each once. Lists of sizes belong to none. */
static void put_tensors(const struct writer *writer, const char *name, const struct sk_plan_call *call, bool written)
{
	const struct sk_plan_argument *arguments = sk_plan_arguments(writer->plan, call);
	uint32_t *tensors = SK_NEW_ARRAY(writer->arena, uint32_t, call->argument_count + 1U);
	size_t count = 0;

	for (uint32_t i = 0; i < call->argument_count; i++) {
		size_t known = 0;

		if (arguments[i].kind == SK_ARGUMENT_STATE || arguments[i].space == SK_SPACE_SIZES ||
		    !(written ? sk_access_writes(&arguments[i]) : sk_access_reads(&arguments[i])))
			continue;
		while (known < count && tensors[known] != arguments[i].tensor)
			known++;
		tensors[known] = arguments[i].tensor;
		count += known == count;
	}
	put_numbers(writer, name, tensors, count);
}

static void put_reasons(const struct writer *writer, const struct sk_account_entry *entry)
{
	sk_json_put_string(writer->json, "reason", entry->code);
	sk_json_put_string(writer->json, "because", entry->sentence);
	sk_json_put_string(writer->json, "tile_reason", entry->tile_code);
	sk_json_put_string(writer->json, "tile_because", entry->tile_sentence);
	if (entry->block_code) {
		sk_json_put_string(writer->json, "blocks_reason", entry->block_code);
		sk_json_put_string(writer->json, "blocks_because", entry->block_sentence);
	}
	if (entry->rule)
		sk_json_put_string(writer->json, "rule", entry->rule);
}

/* Write the expressions of those values of a cost that depend on sizes. */
static void put_cost_sizes(const struct writer *writer, uint32_t number)
{
	const struct sk_plan_cost *cost = &writer->plan->costs[number];
	uint32_t count = 0;

	if (!sk_dims_fields_of(&writer->file->dims, SK_DIMS_COSTS, number, &count))
		return;
	sk_json_begin_object(writer->json, "cost_size", SK_JSON_LINE);
	for (enum sk_cost i = 0; i < SK_COST_COUNT; i++)
		if (sk_cost_gives(cost, i))
			put_varying(writer, sk_cost_name(i), SK_DIMS_COSTS, number,
				    offsetof(struct sk_plan_cost, values) + i * sizeof(*cost->values));
	sk_json_end(writer->json);
}

static void put_cost(const struct writer *writer, uint32_t number)
{
	const struct sk_plan_cost *cost = &writer->plan->costs[number];

	sk_json_begin_object(writer->json, "cost", SK_JSON_LINE);
	for (enum sk_cost i = 0; i < SK_COST_COUNT; i++)
		if (sk_cost_gives(cost, i))
			sk_json_put_number(writer->json, sk_cost_name(i), cost->values[i]);
	sk_json_end(writer->json);
	put_cost_sizes(writer, number);
}

static void put_explanation(const struct writer *writer, uint32_t task)
{
	struct sk_text text;

	sk_text_open(&text);

	const struct sk_explanation explanation = {
		writer->arena, writer->plan,   writer->file->has_account ? &writer->file->account : NULL,
		writer->facts, &writer->index, text.stream};

	sk_explain(&explanation, task);
	sk_text_close(writer->arena, &text);
	sk_json_put_string(writer->json, "explanation", text.bytes);
}

static void put_task(const struct writer *writer, uint32_t number)
{
	const struct sk_plan_view *plan = writer->plan;
	const struct sk_plan_task *task = &plan->tasks[number];
	const struct sk_account_entry *entry = sk_account_find(&writer->file->account, number);
	const struct sk_task_call *place = &writer->index.calls[number];
	const struct sk_plan_call *call = &plan->calls[place->call];

	put_name(writer, "name", &task->name);
	sk_json_put_number(writer->json, "line", task->line);
	sk_json_put_number(writer->json, "kernel", task->kernel);
	sk_json_put_number(writer->json, "stream", task->stream);
	put_name(writer, "scope", &task->scope);
	sk_json_put_number(writer->json, "launch", task->launch);
	sk_json_put_number(writer->json, "step", writer->steps[place->step]);
	put_tensors(writer, "reads", call, false);
	put_tensors(writer, "writes", call, true);
	if (task->cost != SK_NO_INDEX)
		put_cost(writer, task->cost);
	if (entry)
		put_reasons(writer, entry);
	put_explanation(writer, number);
}

/* Write the expressions of a tensor's extents and bytes. */
static void put_tensor_sizes(const struct writer *writer, const struct sk_plan_type *type)
{
	uint32_t record = (uint32_t)(type - writer->plan->types);

	sk_json_begin_list(writer->json, "sizes", SK_JSON_LINE);
	for (uint32_t i = 0; i < type->rank; i++)
		put_size(writer, NULL, SK_DIMS_TYPES, record,
			 offsetof(struct sk_plan_type, shape) + i * sizeof(*type->shape), type->shape[i]);
	sk_json_end(writer->json);
	put_size(writer, "bytes_size", SK_DIMS_TYPES, record, offsetof(struct sk_plan_type, bytes), type->bytes);
}

static void put_tensor(const struct writer *writer, uint32_t number)
{
	static const char *const roles[] = {"none", "input", "output", "inout", "constant", "temporary"};
	static const char *const spaces[] = {"none", "binding", "workspace", "constants", "state", "scratch"};
	const struct sk_plan_tensor *tensor = &writer->plan->tensors[number];

	put_name(writer, "name", &tensor->name);
	sk_json_put_string(writer->json, "role", roles[tensor->role]);
	sk_json_put_string(writer->json, "dtype", sk_dtype_name(sk_plan_type(tensor)->dtype));
	sk_json_begin_list(writer->json, "shape", SK_JSON_LINE);
	for (uint32_t i = 0; i < sk_plan_type(tensor)->rank; i++)
		sk_json_put_number(writer->json, NULL, sk_plan_type(tensor)->shape[i]);
	sk_json_end(writer->json);
	sk_json_put_number(writer->json, "bytes", sk_plan_type(tensor)->bytes);
	if (writer->file->dims.dimension_count)
		put_tensor_sizes(writer, sk_plan_type(tensor));
	sk_json_put_string(writer->json, "space", spaces[tensor->space]);
	sk_json_put_number(writer->json, "offset", tensor->offset);
	if (tensor->space == SK_SPACE_BINDING)
		sk_json_put_number(writer->json, "binding", tensor->index);
}

static void put_kernel(const struct writer *writer, uint32_t number)
{
	const struct sk_plan_kernel *kernel = &writer->plan->kernels[number];

	put_name(writer, "name", &kernel->name);
	put_name(writer, "symbol", &kernel->symbol);
	put_name(writer, "signature", &kernel->signature);
	sk_json_put_number(writer->json, "code", (uint64_t)kernel->code_size + kernel->vector_code_size);
	if (number < writer->file->account.object_count)
		sk_json_put_string(writer->json, "object", writer->file->account.objects[number]);
}

static void put_node(const struct writer *writer, uint32_t number)
{
	const struct sk_account_node *node = &writer->file->account.nodes[number];

	sk_json_put_string(writer->json, "name", node->name);
	sk_json_put_string(writer->json, "operator", node->op);
	sk_json_put_string(writer->json, "what", node->joins ? "joins" : "splits");
	sk_json_put_number(writer->json, "launches", 0);
	sk_json_begin_list(writer->json, "slices", SK_JSON_LINE);
	for (uint32_t i = 0; i < node->slice_count; i++) {
		const struct sk_account_slice *slice = &node->slices[i];

		sk_json_begin_object(writer->json, NULL, SK_JSON_LINE);
		sk_json_put_string(writer->json, "name", slice->name);
		sk_json_put_number(writer->json, "tensor", slice->tensor);
		if (slice->unknown) {
			sk_json_put_string(writer->json, "offset", NULL);
			sk_json_put_string(writer->json, "bytes", NULL);
		} else {
			sk_json_put_number(writer->json, "offset", slice->offset);
			sk_json_put_number(writer->json, "bytes", slice->bytes);
		}
		sk_json_end(writer->json);
	}
	sk_json_end(writer->json);
}

static void put_dependency(const struct writer *writer, uint32_t number)
{
	const struct sk_plan_view *plan = writer->plan;
	const struct sk_fact *fact = &writer->facts->items.items[number];

	sk_json_put_number(writer->json, "earlier", plan->calls[fact->earlier.call].task);
	sk_json_put_number(writer->json, "later", plan->calls[fact->later.call].task);
	sk_fact_put_json(writer->arena, writer->json, plan, &writer->index.temporaries, fact);
	if (fact->kind == SK_FACT_KNOWN) {
		sk_json_begin_object(writer->json, "await", SK_JSON_LINE);
		sk_json_put_number(writer->json, "of", writer->steps[fact->awaiting]);
		sk_json_put_number(writer->json, "on", writer->steps[fact->awaited]);
		sk_json_end(writer->json);
	}
}

/* ---- the document ---- */

/* Number the network's steps; return their count. */
static uint32_t number_steps(const struct sk_plan_view *plan, uint32_t *numbers, uint32_t *network_steps)
{
	uint32_t count = 0;

	for (uint32_t l = 0; l < plan->network_launch_count; l++)
		for (uint32_t i = 0; i < sk_plan_form(&plan->launches[l])->step_count; i++, count++) {
			network_steps[count] = plan->launches[l].first_step + i;
			numbers[network_steps[count]] = count;
		}
	return count;
}

void sk_show_json(const struct sk_show *show, const struct sk_facts *facts)
{
	const struct sk_plan_view *plan = &show->file->plan;
	struct sk_plan_view room, *usual = sk_usual_plan(plan, &show->file->dims, &room);
	struct sk_json json = {.stream = show->stream, .indent = 2};
	struct writer writer = {.arena = show->arena,
				.json = &json,
				.file = show->file,
				.plan = plan,
				.facts = facts,
				.index = sk_explanation_index(show->arena, plan, &show->file->dims, usual, facts),
				.steps = SK_NEW_ARRAY(show->arena, uint32_t, plan->step_count)};
	uint32_t *network_steps = SK_NEW_ARRAY(show->arena, uint32_t, plan->step_count);
	uint32_t steps = number_steps(plan, writer.steps, network_steps);

	writer.network_steps = network_steps;
	sk_json_begin_object(&json, NULL, SK_JSON_LINES);
	put_head(&writer);
	put_list(&writer, "launches", plan->network_launch_count, put_launch);
	put_list(&writer, "steps", steps, put_step);
	put_list(&writer, "tasks", plan->task_count, put_task);
	put_list(&writer, "tensors", plan->tensor_count, put_tensor);
	put_list(&writer, "no_task", (uint32_t)writer.file->account.node_count, put_node);
	put_list(&writer, "kernels", plan->kernel_count, put_kernel);
	put_list(&writer, "dependencies", (uint32_t)facts->items.count, put_dependency);
	sk_json_end(&json);
	putc('\n', show->stream);
	if (usual)
		sk_plan_close(usual);
}
