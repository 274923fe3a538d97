/* The sections of skdump's output; see skdump.h. Everything comes from the plan's tables except the reasons, which the
 * account has from the fusion. */
#include "src/skdump/skdump.h"

#include <elf.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/text.h"
#include "format/plan/isa.h"
#include "format/plan/plan.h"
#include "format/skdims.h"
#include "format/skplan.h"
#include "src/proof/proof.h"
#include "stubs/dispatcher/dispatcher.h"

/* Limits on the temporaries that are named as sharing bytes with another one, and on those that are counted. */
enum { SHOWN_SHARERS = 4, COUNTED_SHARERS = 1000 };

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

/* Return "[64, 1024]". */
static const char *shape_text(const struct sk_show *show, const struct sk_plan_tensor *tensor)
{
	const char *text = "[";
	const struct sk_plan_type *type = sk_plan_type(tensor);

	for (uint32_t i = 0; i < type->rank; i++)
		text = sk_arena_print(show->arena, "%s%s%s", text, i ? ", " : "",
				      SK_SHOW_SIZE(show, SK_DIMS_TYPES, types, type, shape[i]));
	return sk_arena_print(show->arena, "%s]", text);
}

static const char *bytes_text(const struct sk_show *show, const struct sk_plan_tensor *tensor)
{
	const struct sk_plan_type *type = sk_plan_type(tensor);

	return SK_SHOW_SIZE(show, SK_DIMS_TYPES, types, type, bytes);
}

/* ---- summary ---- */

static void summary_line(struct sk_table *table, const char *name, const char *text)
{
	sk_table_cell(table, "%s", name);
	sk_table_cell(table, "%s", text);
}

/* Show the file of the constants, and its hash. */
static void show_weights(const struct sk_show *show, struct sk_table *table)
{
	const struct sk_weights *weights = show->file->weights;
	char hash[2 * sizeof(weights->identity.hash) + 1];

	if (!weights)
		return;
	for (size_t i = 0; i < sizeof(weights->identity.hash); i++)
		snprintf(hash + 2 * i, 3, "%02x", weights->identity.hash[i]);
	summary_line(table, "in the file",
		     sk_arena_print(show->arena, "%s (%s)", sk_show_short(show, weights->name), hash));
}

/* Show the launches and bindings of each network, by number, if there are several networks. */
static void show_networks(const struct sk_show *show, struct sk_table *table)
{
	const struct sk_plan_view *plan = &show->file->plan;
	struct sk_plan_network network = {0};

	while (sk_plan_has_networks(plan) && sk_plan_next_network(plan, &network))
		summary_line(
			table, sk_arena_print(show->arena, "network %s", sk_show_short(show, network.name)),
			sk_arena_print(show->arena,
				       "%u task%s in %u launch%s from number %u on, %u binding%s from number %u on",
				       network.task_count, sk_plural(network.task_count), network.launch_count,
				       sk_ending(network.launch_count, "", "es"), network.first_launch,
				       network.binding_count, sk_plural(network.binding_count), network.first_binding));
}

/* Return "1..512, multiples of 2, usually 128", or the only size. */
static const char *bounds_text(const struct sk_show *show, const struct sk_dims_dimension *dimension)
{
	const char *multiple = "";

	if (dimension->least == dimension->most)
		return sk_arena_print(show->arena, "%" PRIu64, dimension->most);
	if (dimension->multiple > 1)
		multiple = sk_arena_print(show->arena, ", multiples of %" PRIu64, dimension->multiple);
	return sk_arena_print(show->arena, "%" PRIu64 "..%" PRIu64 "%s, usually %" PRIu64, dimension->least,
			      dimension->most, multiple, dimension->usual);
}

/* Show the bounds of each dimension. */
static void show_dimensions(const struct sk_show *show, struct sk_table *table)
{
	for (uint32_t i = 0; i < show->file->dims.dimension_count; i++) {
		const struct sk_dims_dimension *dimension = &show->file->dims.dimensions[i];
		const char *network = sk_plan_string(&dimension->network);

		summary_line(table,
			     sk_arena_print(show->arena, "dimension %s%s%s", sk_show_short(show, network),
					    *network ? ":" : "", sk_show_name(show, &dimension->name)),
			     bounds_text(show, dimension));
	}
}

/* Show the sizes of --dim, or the costs at the usual sizes and at the largest ones. */
static void show_sizes(const struct sk_show *show, struct sk_table *table)
{
	const struct sk_package_file *file = show->file;
	struct sk_plan_view room, *usual = sk_usual_plan(&file->plan, &file->dims, &room);

	if (file->chosen.count)
		summary_line(table, "sizes", sk_show_chosen(show));
	if (file->chosen.count)
		summary_line(table, "at these", sk_show_costs(show->arena, &file->plan));
	if (!usual)
		return;
	summary_line(table, "at usual sizes", sk_show_costs(show->arena, usual));
	summary_line(table, "at largest sizes", sk_show_costs(show->arena, &file->plan));
	sk_plan_close(usual);
}

/* Return "core", or "cube with 24 cores" if the device's number of cores is known. */
static const char *lane_text(const struct sk_show *show, uint32_t lane)
{
	const struct sk_plan_view *plan = &show->file->plan;
	const char *name = sk_show_name(show, &plan->lanes[lane]);
	uint32_t cores = plan->plan->device_cores[lane];

	return cores ? sk_arena_print(show->arena, "%s with %u core%s", name, cores, sk_plural(cores)) : name;
}

void sk_show_summary(const struct sk_show *show)
{
	const struct sk_plan_view *plan = &show->file->plan;
	uint32_t entries = plan->launch_count - plan->network_launch_count, steps = 0, awaits = 0;
	const char *lanes = "";
	struct sk_arena *arena = show->arena;
	char isa[SK_ISA_TEXT_SIZE];
	struct sk_table table;

	for (uint32_t i = 0; i < plan->network_launch_count; i++) {
		steps += sk_plan_form(&plan->launches[i])->step_count;
		awaits += sk_show_count_awaits(plan, &plan->launches[i]);
	}
	for (uint32_t i = 0; i < plan->lane_count; i++)
		lanes = sk_arena_print(arena, "%s%s%s", lanes, i ? ", " : "", lane_text(show, i));
	sk_table_init(&table, arena, "ll");
	summary_line(&table, "machine", machine_name(plan->plan->machine));
	summary_line(&table, "device",
		     sk_arena_print(arena, "%s (lane%s %s)", sk_show_name_or_dash(show, &plan->plan->device),
				    sk_plural(plan->lane_count), lanes));
	summary_line(&table, "network",
		     sk_arena_print(arena, "%u task%s in %u launch%s, %u step%s, %u await%s", plan->task_count,
				    sk_plural(plan->task_count), plan->network_launch_count,
				    sk_ending(plan->network_launch_count, "", "es"), steps, sk_plural(steps), awaits,
				    sk_plural(awaits)));
	if (sk_show_ranks(show))
		summary_line(&table, "ranks", sk_show_ranks(show));
	show_networks(show, &table);
	show_dimensions(show, &table);
	show_sizes(show, &table);
	summary_line(&table, "task entries",
		     entries ? sk_arena_print(arena, "%u", entries) : "none (linked with --no-task-entries)");
	summary_line(&table, "workspace",
		     sk_arena_print(arena, "%" PRIu64 " byte%s%s", plan->plan->workspace_size,
				    sk_plural(plan->plan->workspace_size),
				    entries ? sk_arena_print(arena, " (task entries: %" PRIu64 ")",
							     plan->plan->unshared_workspace_size)
					    : ""));
	summary_line(&table, "constants",
		     sk_arena_print(arena, "%" PRIu64 " byte%s", plan->plan->constants_size,
				    sk_plural(plan->plan->constants_size)));
	show_weights(show, &table);
	summary_line(&table, "instruction sets", sk_isa_text(isa, plan->plan->isa));
	for (size_t i = 0; i < show->file->traps.count; i++)
		summary_line(&table, i ? "" : "not linked", sk_show_short(show, show->file->traps.items[i]));
	sk_show_table(show, show->file->path, &table);
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
		sk_table_cell(&table, "%s", sk_show_name(show, &tensor->name));
		sk_table_cell(&table, "%s", roles[tensor->role]);
		sk_table_cell(&table, "%s", sk_dtype_name(sk_plan_type(tensor)->dtype));
		sk_table_cell(&table, "%s", shape_text(show, tensor));
		sk_table_cell(&table, "%s", bytes_text(show, tensor));
	}
	sk_show_table(show, "bindings", &table);
}

/* ---- launches ---- */

/* Return "2, 5". */
static const char *follows_text(const struct sk_show *show, const struct sk_plan_launch *launch)
{
	struct sk_text text;

	if (!sk_plan_form(launch)->follow_count)
		return "-";
	sk_text_open(&text);
	for (uint32_t i = 0; i < sk_plan_form(launch)->follow_count; i++)
		fprintf(text.stream, "%s%u", i ? ", " : "", show->file->plan.follows[launch->first_follow + i]);
	sk_text_close(show->arena, &text);
	return text.bytes;
}

/* Return the cores that the launch takes on its device: "all" (however many there are), "1 core", "4 vector", "24 x
 * 1:2" (groups of a cube core and two vector cores), "15 cube, 24 vector" (no groups). */
static const char *device_cores_text(const struct sk_show *show, const struct sk_plan_launch *launch)
{
	const struct sk_plan_view *plan = &show->file->plan;
	const uint32_t *cores = sk_plan_form(launch)->device_cores;

	if (cores[0] && (cores[1] == cores[0] || cores[1] == 2 * cores[0]))
		return sk_arena_print(show->arena, "%u x 1:%u", cores[0], cores[1] / cores[0]);
	if (cores[0] && cores[1])
		return sk_arena_print(show->arena, "%u %s, %u %s", cores[0], sk_show_name(show, &plan->lanes[0]),
				      cores[1], sk_show_name(show, &plan->lanes[1]));

	uint32_t lane = cores[0] || plan->lane_count == 1 ? 0 : 1;

	if (cores[lane] == SK_ALL_CORES)
		return sk_plan_form(launch)->resident_cores[lane]
			       ? sk_arena_print(show->arena, "all, at least %u",
						sk_plan_form(launch)->resident_cores[lane])
			       : "all";
	return sk_arena_print(show->arena, "%u %s", cores[lane], sk_show_name(show, &plan->lanes[lane]));
}

/* Return the bytes that the serial entry's `workspace` needs; "-": the launch has no serial entry. */
static const char *serial_workspace_text(const struct sk_show *show, const struct sk_plan_launch *launch)
{
	return launch->serial_entry
		       ? sk_arena_print(show->arena, "%" PRIu64, sk_plan_serial_workspace(&show->file->plan, launch))
		       : "-";
}

void sk_show_launches(const struct sk_show *show)
{
	const struct sk_plan_view *plan = &show->file->plan;
	struct sk_table table;

	sk_table_init(&table, show->arena, "rllllrrllrrl");
	HEADINGS(&table, "#", "entry", "kind", "cores", "scope", "stream", "steps", "first", "last", "awaits",
		 "workspace", "follows");
	for (uint32_t i = 0; i < sk_show_launch_count(show); i++) {
		const struct sk_plan_launch *launch = &plan->launches[i];
		struct sk_plan_calls calls = sk_plan_launch_calls(plan, launch);

		sk_table_cell(&table, "%u", i);
		sk_table_cell(&table, "%s", sk_show_name(show, &launch->name));
		sk_table_cell(&table, "%s", sk_show_kind(launch));
		sk_table_cell(&table, "%s", device_cores_text(show, launch));
		sk_table_cell(&table, "%s", sk_show_name_or_dash(show, &sk_plan_form(launch)->scope));
		sk_table_cell(&table, "%u", sk_plan_form(launch)->stream);
		sk_table_cell(&table, "%u", sk_plan_form(launch)->step_count);
		sk_table_cell(&table, "%s", sk_show_task(show, calls.first));
		sk_table_cell(&table, "%s", sk_show_task(show, calls.end - 1));
		sk_table_cell(&table, "%u", sk_show_count_awaits(plan, launch));
		sk_table_cell(&table, "%s", serial_workspace_text(show, launch));
		sk_table_cell(&table, "%s", follows_text(show, launch));
	}
	sk_show_table(show, "launches", &table);
	sk_show_exchanges(show);
}

/* ---- memory ---- */

/* A temporary in the workspace, and the temporaries that share bytes with it. */
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
	const char *name = sk_show_name(show, &other->tensor->name);

	if (temporary->sharer_count == 0)
		temporary->sharers = sk_arena_print(show->arena, "shares bytes with %s", name);
	else if (temporary->sharer_count < SHOWN_SHARERS)
		temporary->sharers = sk_arena_print(show->arena, "%s, %s", temporary->sharers, name);
	temporary->sharer_count++;
}

/* Return the temporaries sorted by offset, each with its sharers. */
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
		uint64_t end = temporaries[i].tensor->offset + sk_plan_type(temporaries[i].tensor)->bytes;
		size_t last = *count - i > COUNTED_SHARERS ? i + COUNTED_SHARERS : *count;

		for (size_t j = i + 1; j < last && temporaries[j].tensor->offset < end; j++) {
			add_sharer(show, &temporaries[i], &temporaries[j]);
			add_sharer(show, &temporaries[j], &temporaries[i]);
		}
	}
	return temporaries;
}

/* Show temporaries that are scratch of a core, one tile long, and take no workspace. */
static void show_scratch(const struct sk_show *show)
{
	const struct sk_plan_view *plan = &show->file->plan;
	struct sk_table table;
	uint32_t count = 0;

	sk_table_init(&table, show->arena, "rrlll");
	for (uint32_t i = 0; i < plan->tensor_count; i++)
		count += plan->tensors[i].space == SK_SPACE_SCRATCH;
	if (!count)
		return;
	HEADINGS(&table, "offset", "bytes", "tensor", "type", "shape");
	for (uint32_t i = 0; i < plan->tensor_count; i++) {
		const struct sk_plan_tensor *tensor = &plan->tensors[i];

		if (tensor->space != SK_SPACE_SCRATCH)
			continue;
		sk_table_cell(&table, "%" PRIu64, tensor->offset);
		sk_table_cell(&table, "%s", bytes_text(show, tensor));
		sk_table_cell(&table, "%s", sk_show_name(show, &tensor->name));
		sk_table_cell(&table, "%s", sk_dtype_name(sk_plan_type(tensor)->dtype));
		sk_table_cell(&table, "%s", shape_text(show, tensor));
	}
	sk_show_table(show,
		      sk_arena_print(show->arena, "scratch: %u temporar%s of which a core has a tile at a time", count,
				     sk_ending(count, "y", "ies")),
		      &table);
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
		sk_table_cell(&table, "%s", bytes_text(show, temporary->tensor));
		sk_table_cell(&table, "%s", sk_show_name(show, &temporary->tensor->name));
		sk_table_cell(&table, "%s", sk_dtype_name(sk_plan_type(temporary->tensor)->dtype));
		sk_table_cell(&table, "%s", shape_text(show, temporary->tensor));
		sk_table_cell(&table, "%s%s", temporary->sharers,
			      more ? sk_arena_print(show->arena, " and %u more", more) : "");
	}
	sk_show_table(show,
		      sk_arena_print(show->arena, "memory: %zu temporar%s in a workspace of %" PRIu64 " byte%s", count,
				     sk_ending(count, "y", "ies"), plan->workspace_size,
				     sk_plural(plan->workspace_size)),
		      &table);
	show_scratch(show);
}

/* ---- reasons ---- */

/* Return true if any task could have kept to the blocks of another one. */
static bool asks_for_blocks(const struct sk_account *account)
{
	for (size_t i = 0; i < account->count; i++)
		if (account->entries[i].block_code)
			return true;
	return false;
}

/* A filter of tasks never matches nodes without a task. */
static void show_nodes(const struct sk_show *show, struct sk_table *table)
{
	const struct sk_account *account = &show->file->account;

	for (size_t i = 0; i < account->node_count && !sk_task_filter_is_set(&show->tasks); i++) {
		const struct sk_account_node *node = &account->nodes[i];

		sk_table_cell(table, "%s", node->name);
		sk_table_cell(table, "-");
		sk_table_cell(table, "-");
		sk_table_cell(table, "NO_TASK");
		sk_table_cell(table, "the data that this %s %s is already in place, and nothing is launched for it",
			      node->op, node->joins ? "joins" : "splits");
		for (int empty = 0; empty < 4; empty++)
			sk_table_cell(table, "%s", "");
	}
}

void sk_show_reasons(const struct sk_show *show)
{
	const struct sk_package_file *file = show->file;
	struct sk_table table;

	sk_table_init(&table, show->arena, "lllllllll");
	if (file->has_account)
		HEADINGS(&table, "task", "scope", "launch", "reason", "", "tile group", "",
			 asks_for_blocks(&file->account) ? "blocks of another task" : "", "");
	for (size_t i = 0; i < file->account.count; i++) {
		const struct sk_account_entry *reason = &file->account.entries[i];

		if (!sk_task_is_chosen(&show->tasks, &file->plan, reason->task))
			continue;
		sk_table_cell(&table, "%s", reason->name);
		sk_table_cell(&table, "%s", reason->scope ? reason->scope : "-");
		sk_table_cell(&table, "%s", sk_show_name(show, &file->plan.launches[reason->launch].name));
		sk_table_cell(&table, "%s", reason->code);
		sk_table_cell(&table, "%s", reason->sentence);
		sk_table_cell(&table, "%s", reason->tile_code);
		sk_table_cell(&table, "%s", reason->tile_sentence);
		sk_table_cell(&table, "%s", reason->block_code ? reason->block_code : "");
		sk_table_cell(&table, "%s", reason->block_code ? reason->block_sentence : "");
	}
	show_nodes(show, &table);
	sk_show_table(show, file->has_account ? "reasons" : "reasons: the account has been stripped from the package",
		      &table);
}
