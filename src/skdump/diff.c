/* See skdump.h. Both plans become items, each with a name and a fixed list of properties as texts, and items of one
 * name are compared. Texts refer to other items by name only, since numbers in one plan mean nothing in another. */
#include "src/skdump/skdump.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/text.h"
#include "format/plan/dims.h"
#include "format/plan/isa.h"
#include "format/plan/plan.h"
#include "format/skdims.h"
#include "format/skplan.h"
#include "src/proof/proof.h"

enum { MOST_PROPERTIES = 11 };

enum kind { PLAN, DIMENSION, BINDING, KERNEL, LAUNCH, TASK, KINDS };

static const char *const kind_names[KINDS] = {"plan", "dimension", "binding", "kernel", "launch", "task"};

static const char *const properties[KINDS][MOST_PROPERTIES] = {
	[PLAN] = {"device", "lanes", "cores", "workspace", "constants", "instruction sets", "task entries"},
	[DIMENSION] = {"bounds", "multiples of", "usually"},
	[BINDING] = {"role", "type", "shape"},
	[KERNEL] = {"symbol", "signature"},
	[LAUNCH] = {"kind", "scope", "stream", "steps", "awaits", "follows", "times"},
	[TASK] = {"kernel", "stream", "scope", "launch", "lane", "step", "runs on", "work", "awaits", "reason",
		  "tile group"},
};

struct item {
	enum kind kind;
	const char *name;
	const char *values[MOST_PROPERTIES];
	bool found; /* the other plan has an item of its name */
	/* Items of one name, of which a plan may have several, in order; SK_NONE: the last one. */
	uint32_t next;
	uint32_t last,
		unpaired; /* in the first item of the name: the last one, and the first that has not been found */
};

struct items {
	struct sk_arena *arena;
	const struct sk_package_file *file;
	const struct sk_plan_view *plan;
	SK_ARRAY(struct item) list;
	struct sk_map numbers[KINDS]; /* of items, by name */
};

static struct item *add_item(struct items *items, enum kind kind, const char *name)
{
	uint32_t number = (uint32_t)items->list.count;

	uint32_t first = sk_map_insert(&items->numbers[kind], name, strlen(name), number);

	sk_array_push(items->arena, &items->list,
		      (struct item){.kind = kind, .name = name, .next = SK_NONE, .last = number, .unpaired = number});
	if (first != number) {
		items->list.items[items->list.items[first].last].next = number;
		items->list.items[first].last = number;
	}
	return &items->list.items[number];
}

static const char *number_text(const struct items *items, uint64_t number)
{
	return sk_arena_print(items->arena, "%" PRIu64, number);
}

/* A list of names: "a, b". */
typedef SK_ARRAY(char) names;

static void add_name(const struct items *items, names *list, const char *name)
{
	for (const char *separator = list->count ? ", " : ""; *separator; separator++)
		sk_array_push(items->arena, list, *separator);
	for (; *name; name++)
		sk_array_push(items->arena, list, *name);
}

/* "-" if the list is empty. */
static const char *names_text(const struct items *items, names *list)
{
	if (!list->count)
		return "-";
	sk_array_push(items->arena, list, '\0');
	return list->items;
}

static const char *or_dash(const char *text)
{
	return *text ? text : "-";
}

static void add_plan(struct items *items)
{
	struct item *item = add_item(items, PLAN, "");
	const struct sk_plan *plan = items->plan->plan;
	names lanes = {0}, cores = {0};
	char isa[SK_ISA_TEXT_SIZE];

	for (uint32_t i = 0; i < items->plan->lane_count; i++) {
		add_name(items, &lanes, sk_plan_string(&items->plan->lanes[i]));
		add_name(items, &cores, plan->device_cores[i] ? number_text(items, plan->device_cores[i]) : "all");
	}
	sk_isa_text(isa, plan->isa);
	item->values[0] = sk_plan_string(&plan->device);
	item->values[1] = names_text(items, &lanes);
	item->values[2] = names_text(items, &cores);
	item->values[3] = number_text(items, plan->workspace_size);
	item->values[4] = number_text(items, plan->constants_size);
	item->values[5] = sk_arena_copy(items->arena, isa, strlen(isa));
	item->values[6] = number_text(items, items->plan->launch_count - items->plan->network_launch_count);
}

/* A dimension of one of several networks is called "network:seq". */
static void add_dimension(struct items *items, const struct sk_dims_dimension *dimension)
{
	const char *network = sk_plan_string(&dimension->network), *name = sk_plan_string(&dimension->name);
	struct item *item =
		add_item(items, DIMENSION, *network ? sk_arena_print(items->arena, "%s:%s", network, name) : name);

	item->values[0] = sk_arena_print(items->arena, "%" PRIu64 "..%" PRIu64, dimension->least, dimension->most);
	item->values[1] = number_text(items, dimension->multiple);
	item->values[2] = number_text(items, dimension->usual);
}

static void add_binding(struct items *items, const struct sk_plan_tensor *tensor)
{
	static const char *const roles[] = {"", "input", "output", "inout", "constant", "temporary"};
	struct item *item = add_item(items, BINDING, sk_plan_string(&tensor->name));
	names shape = {0};

	for (uint32_t i = 0; i < sk_plan_type(tensor)->rank; i++)
		add_name(items, &shape, number_text(items, sk_plan_type(tensor)->shape[i]));
	item->values[0] = roles[tensor->role];
	item->values[1] = sk_dtype_name(sk_plan_type(tensor)->dtype);
	item->values[2] = names_text(items, &shape);
}

static void add_launch(struct items *items, const struct sk_plan_launch *launch)
{
	static const char *const kinds[SK_LAUNCH_KIND_COUNT] = {"superkernel", "single", "task entry", "exchange"};
	struct item *item = add_item(items, LAUNCH, sk_plan_string(&launch->name));
	names follows = {0};
	uint64_t awaits = 0;

	for (uint32_t i = 0; i < sk_plan_form(launch)->follow_count; i++)
		add_name(items, &follows,
			 sk_plan_string(&items->plan->launches[items->plan->follows[launch->first_follow + i]].name));
	for (uint32_t i = 0; i < sk_plan_form(launch)->step_count; i++)
		awaits += items->plan->steps[launch->first_step + i].await_count;
	item->values[0] = sk_plan_form(launch)->flags & SK_LAUNCH_ONCE ? "once" : kinds[sk_plan_form(launch)->kind];
	item->values[1] = or_dash(sk_plan_string(&sk_plan_form(launch)->scope));
	item->values[2] = number_text(items, sk_plan_form(launch)->stream);
	item->values[3] = number_text(items, sk_plan_form(launch)->step_count);
	item->values[4] = number_text(items, awaits);
	item->values[5] = names_text(items, &follows);
	item->values[6] = sk_plan_notes_times(items->plan, launch) ? "noted" : "-";
}

static const char *split_text(const struct items *items, const struct sk_plan_step *step)
{
	const struct sk_plan_partition *partition = &items->plan->partitions[step->partition];
	const char *blocks = "", *tiles = "";

	if (partition->blocks)
		blocks = sk_arena_print(items->arena, " by %" PRIu64 " blocks of %" PRIu64, partition->blocks,
					partition->rows);
	if (step->tile)
		tiles = sk_arena_print(items->arena, " in tiles of %" PRIu64, step->tile);
	return sk_arena_print(items->arena, "split %" PRIu64 " in units of %" PRIu64 "%s%s", step->extent,
			      partition->unit, blocks, tiles);
}

/* Describe the division of the step. */
static const char *work_text(const struct items *items, const struct sk_plan_step *step)
{
	uint64_t first_core = sk_plan_first_core(items->plan, step);
	const char *from = first_core ? sk_arena_print(items->arena, " from core %" PRIu64 " on", first_core) : "";

	if (step->kind == SK_STEP_PLAIN)
		return "plain";
	if (step->kind == SK_STEP_SPLIT)
		return sk_arena_join(items->arena, split_text(items, step), from);
	return sk_arena_print(items->arena, "%u block%s%s%s", step->blocks, sk_plural(step->blocks),
			      step->extent ? sk_arena_print(items->arena, " of %" PRIu64, step->extent) : "", from);
}

static void add_task(struct items *items, const struct sk_plan_step *step, uint32_t number)
{
	const struct sk_plan_view *plan = items->plan;
	const struct sk_plan_task *task = &plan->tasks[number];
	const struct sk_account_entry *entry = sk_account_find(&items->file->account, number);
	struct item *item = add_item(items, TASK, sk_plan_string(&task->name));
	names awaits = {0};

	for (uint32_t i = 0; i < step->await_count; i++) {
		const struct sk_plan_step *awaited = &plan->steps[plan->awaits[step->first_await + i].step];

		add_name(items, &awaits, sk_plan_string(&sk_plan_step_last_task(plan, awaited)->name));
	}
	item->values[0] = sk_plan_string(&plan->kernels[task->kernel].name);
	item->values[1] = number_text(items, task->stream);
	item->values[2] = or_dash(sk_plan_string(&task->scope));
	item->values[3] = sk_plan_string(&plan->launches[task->launch].name);
	item->values[4] = sk_plan_string(&plan->lanes[step->lane]);
	item->values[5] = number_text(items, step->number);
	item->values[6] = step->core_set == SK_ALL_CORES ? "all cores"
							 : sk_arena_print(items->arena, "home of stream %u",
									  plan->homes[step->core_set].stream);
	item->values[7] = work_text(items, step);
	item->values[8] = names_text(items, &awaits);
	item->values[9] = entry ? entry->code : "-";
	item->values[10] = entry ? entry->tile_code : "-";
}

static void list_items(struct items *items, struct sk_arena *arena, const struct sk_package_file *file)
{
	const struct sk_plan_view *plan = &file->plan;

	*items = (struct items){.arena = arena, .file = file, .plan = plan};
	for (int kind = 0; kind < KINDS; kind++)
		sk_map_init(&items->numbers[kind], arena);
	add_plan(items);
	for (uint32_t i = 0; i < file->dims.dimension_count; i++)
		add_dimension(items, &file->dims.dimensions[i]);
	for (uint32_t i = 0; i < plan->binding_count; i++)
		add_binding(items, &plan->tensors[plan->bindings[i]]);
	for (uint32_t i = 0; i < plan->kernel_count; i++) {
		struct item *item = add_item(items, KERNEL, sk_plan_string(&plan->kernels[i].name));

		item->values[0] = sk_plan_string(&plan->kernels[i].symbol);
		item->values[1] = sk_plan_string(&plan->kernels[i].signature);
	}
	for (uint32_t i = 0; i < plan->network_launch_count; i++)
		add_launch(items, &plan->launches[i]);
	for (uint32_t l = 0; l < plan->network_launch_count; l++)
		for (uint32_t i = 0; i < sk_plan_form(&plan->launches[l])->step_count; i++) {
			const struct sk_plan_step *step = &plan->steps[plan->launches[l].first_step + i];
			struct sk_plan_calls calls = sk_plan_step_calls(plan, step);

			for (const struct sk_plan_call *call = calls.first; call < calls.end; call++)
				if (!(step->flags & SK_STEP_VECTOR_SIDE))
					add_task(items, step, call->task);
		}
}

/* ---- the comparison ---- */

static void compare_items(struct sk_table *table, const struct item *first, const struct item *second)
{
	for (int i = 0; i < MOST_PROPERTIES && properties[first->kind][i]; i++) {
		if (strcmp(first->values[i], second->values[i]) == 0)
			continue;
		sk_table_cell(table, "!");
		sk_table_cell(table, "%s", kind_names[first->kind]);
		sk_table_cell(table, "%s", first->name);
		sk_table_cell(table, "%s", properties[first->kind][i]);
		sk_table_cell(table, "%s -> %s", first->values[i], second->values[i]);
	}
}

static void lone_item(struct sk_table *table, const char *sign, const struct item *item)
{
	sk_table_cell(table, "%s", sign);
	sk_table_cell(table, "%s", kind_names[item->kind]);
	sk_table_cell(table, "%s", item->name);
	sk_table_cell(table, "%s", "");
	sk_table_cell(table, "%s", "");
}

/* Return the first item of that name without a partner, or NULL. */
static struct item *find_partner(struct items *items, const struct item *item)
{
	uint32_t first = sk_map_find(&items->numbers[item->kind], item->name, strlen(item->name));
	uint32_t number = first == SK_NONE ? SK_NONE : items->list.items[first].unpaired;

	if (number == SK_NONE)
		return NULL;
	items->list.items[number].found = true;
	items->list.items[first].unpaired = items->list.items[number].next;
	return &items->list.items[number];
}

bool sk_diff_print(struct sk_arena *arena, const struct sk_package_file *first, const struct sk_package_file *second,
		   FILE *stream)
{
	struct items before, after;
	struct sk_table table;

	list_items(&before, arena, first);
	list_items(&after, arena, second);
	sk_table_init(&table, arena, "lllll");
	for (size_t i = 0; i < before.list.count; i++) {
		const struct item *item = &before.list.items[i];
		struct item *other = find_partner(&after, item);

		if (other)
			compare_items(&table, item, other);
		else
			lone_item(&table, "-", item);
	}
	for (size_t i = 0; i < after.list.count; i++)
		if (!after.list.items[i].found)
			lone_item(&table, "+", &after.list.items[i]);

	bool any = table.cells.count > 0;

	sk_table_print(&table, "", stream);
	return any;
}
