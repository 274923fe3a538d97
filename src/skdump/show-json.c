/* See skdump.h. Each list has one item a line. What refers to an item of a list is its number in it; steps are those
 * of the network's launches, in their order, since the plan has those of task entries behind them. */
#include "src/skdump/skdump.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/map.h"
#include "base/text.h"
#include "format/plan/plan.h"
#include "format/skplan.h"
#include "src/proof/proof.h"

struct writer {
	struct sk_arena *arena; /* of the item that is written */
	FILE *stream;
	const struct sk_package_file *file;
	const struct sk_plan_view *plan;
	const struct sk_facts *facts;
	struct sk_explanation_index index;
	uint32_t *steps; /* by the plan's: numbers here */
	const uint32_t *network_steps; /* by number here: the plan's */
};

static void put_text(const struct writer *writer, const char *comma, const char *name, const char *text)
{
	sk_json_put_text(writer->arena, writer->stream, comma, name, text);
}

static void put_name(const struct writer *writer, const char *comma, const char *name, const int32_t *reference)
{
	put_text(writer, comma, name, *reference ? sk_plan_string(reference) : NULL);
}

static void put_number(const struct writer *writer, const char *comma, const char *name, uint64_t number)
{
	sk_json_put_number(writer->stream, comma, name, number);
}

/* "name": [1, 2, 3] */
static void put_numbers(const struct writer *writer, const char *name, const uint32_t *numbers, size_t count)
{
	fprintf(writer->stream, ", \"%s\": [", name);
	for (size_t i = 0; i < count; i++)
		fprintf(writer->stream, "%s%" PRIu32, i ? ", " : "", numbers[i]);
	fputc(']', writer->stream);
}

static void put_traffic(const struct writer *writer, const struct sk_traffic *traffic)
{
	put_number(writer, ", \"traffic\": {", "before", traffic->apart);
	put_number(writer, ", ", "after", traffic->moved);
	fputc('}', writer->stream);
}

typedef void put_item(const struct writer *writer, uint32_t number);

/* What an item needs of memory is given back behind it: explanations are long, and there may be many. */
static void put_list(const struct writer *writer, const char *name, uint32_t count, put_item *put)
{
	fprintf(writer->stream, ",\n  \"%s\": [", name);
	for (uint32_t i = 0; i < count; i++) {
		struct writer item = *writer;

		item.arena = sk_arena_create();
		fputs(i ? ",\n    {" : "\n    {", writer->stream);
		put(&item, i);
		fputc('}', writer->stream);
		sk_arena_destroy(item.arena);
	}
	fputs("\n  ]", writer->stream);
}

/* ---- the whole ---- */

static void put_sizes(const struct writer *writer)
{
	const struct sk_plan *plan = writer->plan->plan;
	uint64_t kernels = 0;

	for (uint32_t i = 0; i < writer->plan->kernel_count; i++)
		kernels += (uint64_t)writer->plan->kernels[i].code_size + writer->plan->kernels[i].vector_code_size;
	put_number(writer, ",\n  \"sizes\": {", "workspace", plan->workspace_size);
	put_number(writer, ", ", "unshared_workspace", plan->unshared_workspace_size);
	put_number(writer, ", ", "constants", plan->constants_size);
	put_number(writer, ", ", "plan", plan->size);
	put_number(writer, ", ", "kernels", kernels);
	put_number(writer, ", ", "package", writer->file->size);
	fputc('}', writer->stream);
}

/* Bytes of a dispatcher for cores, which the symbol table knows. */
static uint64_t code_of(const struct writer *writer, uint32_t launch)
{
	const int32_t *entry = &writer->plan->launches[launch].entry;

	return *entry ? sk_package_file_code(writer->file, sk_package_file_target(writer->file, entry)) : 0;
}

/* Of task entries, of which several may be the same thunk, and of the network's launches. */
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
	put_number(writer, ", \"code\": {", "before", code[0]);
	put_number(writer, ", ", "after", code[1]);
	fputc('}', writer->stream);
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
	put_number(writer, ",\n  \"totals\": {", "tasks", plan->task_count);
	put_number(writer, ", ", "launches", plan->network_launch_count);
	put_number(writer, ", ", "task_entries", plan->launch_count - plan->network_launch_count);
	put_number(writer, ", ", "steps", steps);
	put_number(writer, ", ", "awaits", awaits);
	put_number(writer, ", ", "tile_groups", groups);
	put_traffic(writer, &all);
	if (writer->file->has_symtab)
		put_code(writer);
	fputc('}', writer->stream);
}

static void put_head(const struct writer *writer)
{
	const struct sk_plan_view *plan = writer->plan;

	fputs("{\n  \"version\": 1", writer->stream);
	put_text(writer, ",\n  ", "package", writer->file->path);
	put_name(writer, ",\n  ", "device", &plan->plan->device);
	fputs(",\n  \"lanes\": [", writer->stream);
	for (uint32_t i = 0; i < plan->lane_count; i++)
		fprintf(writer->stream, "%s%s", i ? ", " : "",
			sk_json_string(writer->arena, sk_plan_string(&plan->lanes[i])));
	fputs("],\n  \"lane_cores\": [", writer->stream);
	for (uint32_t i = 0; i < plan->lane_count; i++) {
		fputs(i ? ", " : "", writer->stream);
		if (plan->plan->device_cores[i])
			fprintf(writer->stream, "%u", plan->plan->device_cores[i]);
		else
			fputs("null", writer->stream);
	}
	fputc(']', writer->stream);
	put_sizes(writer);
	put_totals(writer);
}

/* ---- items ---- */

static void put_launch(const struct writer *writer, uint32_t number)
{
	const struct sk_plan_view *plan = writer->plan;
	const struct sk_plan_launch *launch = &plan->launches[number];
	struct sk_plan_calls calls = sk_plan_launch_calls(plan, launch);

	put_name(writer, "", "name", &launch->name);
	put_text(writer, ", ", "kind", sk_show_kind(launch));
	put_name(writer, ", ", "scope", &sk_plan_form(launch)->scope);
	put_name(writer, ", ", "network", &sk_plan_form(launch)->network);
	put_number(writer, ", ", "stream", sk_plan_form(launch)->stream);
	put_number(writer, ", ", "first", calls.first->task);
	put_number(writer, ", ", "last", calls.end[-1].task);
	put_number(writer, ", ", "first_step", writer->steps[launch->first_step]);
	put_number(writer, ", ", "steps", sk_plan_form(launch)->step_count);
	put_number(writer, ", ", "awaits", sk_show_count_awaits(plan, launch));
	put_number(writer, ", ", "scratch", sk_plan_form(launch)->scratch_size);
	if (writer->file->has_symtab)
		put_number(writer, ", ", "code", code_of(writer, number));
	put_numbers(writer, "follows", &plan->follows[launch->first_follow], sk_plan_form(launch)->follow_count);
}

static void put_division(const struct writer *writer, const struct sk_plan_step *step)
{
	const struct sk_plan_partition *partition = &writer->plan->partitions[step->partition];

	put_number(writer, ", ", "unit", partition->unit);
	if (partition->blocks) {
		put_number(writer, ", ", "rows", partition->rows);
		put_number(writer, ", ", "by_blocks", partition->blocks);
	}
	if (step->tile)
		put_number(writer, ", ", "tile", step->tile);
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
	put_number(writer, "", "launch", plan->tasks[tasks[0]].launch);
	put_number(writer, ", ", "number", step->number);
	put_name(writer, ", ", "lane", &plan->lanes[step->lane]);
	if (step->core_set != SK_ALL_CORES)
		put_number(writer, ", ", "home", plan->homes[step->core_set].stream);
	put_text(writer, ", ", "work", kinds[step->kind]);
	if (step->flags & (SK_STEP_CUBE_SIDE | SK_STEP_VECTOR_SIDE))
		put_text(writer, ", ", "side", step->flags & SK_STEP_CUBE_SIDE ? "cube" : "vector");
	if (step->extent)
		put_number(writer, ", ", "extent", step->extent);
	if (step->kind == SK_STEP_SPLIT)
		put_division(writer, step);
	if (step->blocks)
		put_number(writer, ", ", "blocks", step->blocks);
	if (sk_plan_first_core(plan, step))
		put_number(writer, ", ", "first_core", sk_plan_first_core(plan, step));
	put_traffic(writer, &traffic);
	put_numbers(writer, "tasks", tasks, step->call_count);
	put_numbers(writer, "awaits", awaits, step->await_count);
}

/* The tensors that a task reads, or that it writes, each once. */
static void put_tensors(const struct writer *writer, const char *name, const struct sk_plan_call *call, bool written)
{
	const struct sk_plan_argument *arguments = sk_plan_arguments(writer->plan, call);
	uint32_t *tensors = SK_NEW_ARRAY(writer->arena, uint32_t, call->argument_count + 1U);
	size_t count = 0;

	for (uint32_t i = 0; i < call->argument_count; i++) {
		size_t known = 0;

		if (arguments[i].kind == SK_ARGUMENT_STATE ||
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
	put_text(writer, ", ", "reason", entry->code);
	put_text(writer, ", ", "because", entry->sentence);
	put_text(writer, ", ", "tile_reason", entry->tile_code);
	put_text(writer, ", ", "tile_because", entry->tile_sentence);
	if (entry->block_code) {
		put_text(writer, ", ", "blocks_reason", entry->block_code);
		put_text(writer, ", ", "blocks_because", entry->block_sentence);
	}
	if (entry->rule)
		put_text(writer, ", ", "rule", entry->rule);
}

static void put_cost(const struct writer *writer, uint32_t number)
{
	const struct sk_plan_cost *cost = &writer->plan->costs[number];
	const char *comma = "";

	fputs(", \"cost\": {", writer->stream);
	for (enum sk_cost i = 0; i < SK_COST_COUNT; i++) {
		if (!sk_cost_gives(cost, i))
			continue;
		put_number(writer, comma, sk_cost_name(i), cost->values[i]);
		comma = ", ";
	}
	fputc('}', writer->stream);
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
	put_text(writer, ", ", "explanation", text.bytes);
}

static void put_task(const struct writer *writer, uint32_t number)
{
	const struct sk_plan_view *plan = writer->plan;
	const struct sk_plan_task *task = &plan->tasks[number];
	const struct sk_account_entry *entry = sk_account_find(&writer->file->account, number);
	const struct sk_task_call *place = &writer->index.calls[number];
	const struct sk_plan_call *call = &plan->calls[place->call];

	put_name(writer, "", "name", &task->name);
	put_number(writer, ", ", "line", task->line);
	put_number(writer, ", ", "kernel", task->kernel);
	put_number(writer, ", ", "stream", task->stream);
	put_name(writer, ", ", "scope", &task->scope);
	put_number(writer, ", ", "launch", task->launch);
	put_number(writer, ", ", "step", writer->steps[place->step]);
	put_tensors(writer, "reads", call, false);
	put_tensors(writer, "writes", call, true);
	if (task->cost != SK_NO_INDEX)
		put_cost(writer, task->cost);
	if (entry)
		put_reasons(writer, entry);
	put_explanation(writer, number);
}

static void put_tensor(const struct writer *writer, uint32_t number)
{
	static const char *const roles[] = {"none", "input", "output", "inout", "constant", "temporary"};
	static const char *const spaces[] = {"none", "binding", "workspace", "constants", "state", "scratch"};
	const struct sk_plan_tensor *tensor = &writer->plan->tensors[number];

	put_name(writer, "", "name", &tensor->name);
	put_text(writer, ", ", "role", roles[tensor->role]);
	put_text(writer, ", ", "dtype", sk_dtype_name(sk_plan_type(tensor)->dtype));
	fputs(", \"shape\": [", writer->stream);
	for (uint32_t i = 0; i < sk_plan_type(tensor)->rank; i++)
		fprintf(writer->stream, "%s%" PRIu64, i ? ", " : "", sk_plan_type(tensor)->shape[i]);
	put_number(writer, "], ", "bytes", sk_plan_type(tensor)->bytes);
	put_text(writer, ", ", "space", spaces[tensor->space]);
	put_number(writer, ", ", "offset", tensor->offset);
	if (tensor->space == SK_SPACE_BINDING)
		put_number(writer, ", ", "binding", tensor->index);
}

static void put_kernel(const struct writer *writer, uint32_t number)
{
	const struct sk_plan_kernel *kernel = &writer->plan->kernels[number];

	put_name(writer, "", "name", &kernel->name);
	put_name(writer, ", ", "symbol", &kernel->symbol);
	put_name(writer, ", ", "signature", &kernel->signature);
	put_number(writer, ", ", "code", (uint64_t)kernel->code_size + kernel->vector_code_size);
	if (number < writer->file->account.object_count)
		put_text(writer, ", ", "object", writer->file->account.objects[number]);
}

static void put_node(const struct writer *writer, uint32_t number)
{
	const struct sk_account_node *node = &writer->file->account.nodes[number];

	put_text(writer, "", "name", node->name);
	put_text(writer, ", ", "operator", node->op);
	put_text(writer, ", ", "what", node->joins ? "joins" : "splits");
	put_number(writer, ", ", "launches", 0);
	fputs(", \"slices\": [", writer->stream);
	for (uint32_t i = 0; i < node->slice_count; i++) {
		const struct sk_account_slice *slice = &node->slices[i];

		put_text(writer, i ? ", {" : "{", "name", slice->name);
		put_number(writer, ", ", "tensor", slice->tensor);
		put_number(writer, ", ", "offset", slice->offset);
		put_number(writer, ", ", "bytes", slice->bytes);
		fputc('}', writer->stream);
	}
	fputc(']', writer->stream);
}

static void put_dependency(const struct writer *writer, uint32_t number)
{
	const struct sk_plan_view *plan = writer->plan;
	const struct sk_fact *fact = &writer->facts->items.items[number];

	put_number(writer, "", "earlier", plan->calls[fact->earlier.call].task);
	put_number(writer, ", ", "later", plan->calls[fact->later.call].task);
	sk_fact_put_json(writer->arena, writer->stream, plan, &writer->index.temporaries, fact);
	if (fact->kind == SK_FACT_KNOWN) {
		put_number(writer, ", \"await\": {", "of", writer->steps[fact->awaiting]);
		put_number(writer, ", ", "on", writer->steps[fact->awaited]);
		fputc('}', writer->stream);
	}
}

/* ---- the document ---- */

/* Numbers the network's steps; returns how many they are. */
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
	struct writer writer = {.arena = show->arena,
				.stream = show->stream,
				.file = show->file,
				.plan = plan,
				.facts = facts,
				.index = sk_explanation_index(show->arena, plan, facts),
				.steps = SK_NEW_ARRAY(show->arena, uint32_t, plan->step_count)};
	uint32_t *network_steps = SK_NEW_ARRAY(show->arena, uint32_t, plan->step_count);
	uint32_t steps = number_steps(plan, writer.steps, network_steps);

	writer.network_steps = network_steps;
	put_head(&writer);
	put_list(&writer, "launches", plan->network_launch_count, put_launch);
	put_list(&writer, "steps", steps, put_step);
	put_list(&writer, "tasks", plan->task_count, put_task);
	put_list(&writer, "tensors", plan->tensor_count, put_tensor);
	put_list(&writer, "no_task", (uint32_t)writer.file->account.node_count, put_node);
	put_list(&writer, "kernels", plan->kernel_count, put_kernel);
	put_list(&writer, "dependencies", (uint32_t)facts->items.count, put_dependency);
	fputs("\n}\n", writer.stream);
}
