/* The list of passes that a model goes through; the comment behind each says what holds from there on. */
#include "config.h"

#include "src/link-passes.h"

#include <string.h>

#include "src/bind/bind.h"
#include "src/bind/idle.h"
#include "src/bind/kernels.h"
#include "src/command/configure.h"
#include "src/package/account-builder.h"
#include "src/package/sign.h"
#include "src/planning/memory.h"
#include "src/proof/consistency.h"

bool sk_link_inputs(struct sk_link *link)
{
	unsigned errors = link->diag->errors;

	if (!link->has_inputs) {
		sk_command_add_inputs(link->command, link->linker, link->timing);
		link->has_inputs = true;
		link->inputs_failed = link->diag->errors != errors;
	}
	return !link->inputs_failed;
}

bool sk_pass_inputs(struct sk_link *link)
{
	sk_timing_next(link->timing, "inputs");
	return sk_link_inputs(link);
	/* Every input is known and checked. */
}

/* Of names that no task has, sk_outputs_check says so. */
static void mark_explained(const struct sk_link *link)
{
	struct sk_model *model = link->model;

	for (size_t i = 0; i < link->command->explained.count; i++) {
		const char *name = link->command->explained.items[i];
		uint32_t task = sk_map_find(&model->task_names, name, strlen(name));

		if (task != SK_NONE)
			model->tasks.items[task].explained = true;
	}
}

bool sk_pass_bind(struct sk_link *link)
{
	struct sk_linker *linker = link->linker;
	struct sk_model *model = link->model;

	mark_explained(link);

	sk_timing_next(link->timing, "kernels");
	if (!sk_kernels_find(model, linker))
		return false;
	/* Every task has a kernel with a signature and an address to call. Beyond this point no input is added. */

	if (!sk_command_check_outputs(link->command, link->diag, linker))
		return false;
	/* The output replaces nothing that was read. */

	sk_timing_next(link->timing, "bind");
	if (!sk_model_bind(model) || !sk_model_assign_roles(model))
		return false;
	/* Every tensor is an input, an output, a constant or a temporary. */

	return sk_model_leave_out_idle(model);
	/* Every task has something to compute. Every argument is a tensor's bytes or a scalar, checked against the
	 * signature. Beyond this point the model does not change. */
}

static enum sk_task_entries task_entries(const struct sk_command_line *command)
{
	if (command->no_task_entries)
		return SK_TASKS_WITHOUT;
	return command->task_entries ? SK_TASKS_BY_ENTRIES : SK_TASKS_BY_THUNKS;
}

static bool make_plan(struct sk_link *link)
{
	struct sk_model *model = link->model;
	struct sk_fusion *fusion;
	struct sk_schedule *schedule;
	struct sk_memory *memory;
	char error[256];

	sk_timing_next(link->timing, "fusion");
	if (!(fusion = sk_fusion_build(model)))
		return false;
	/* Every task belongs to one launch, for a reason. */

	sk_timing_next(link->timing, "schedule");
	if (!(schedule = sk_schedule_build(model, fusion)))
		return false;
	/* Every step has its core set and exactly the awaits it needs. */

	sk_timing_next(link->timing, "memory");
	if (!(memory = sk_memory_plan(model, fusion, schedule)))
		return false;
	/* Every temporary has bytes in the workspace. */

	sk_timing_next(link->timing, "plan");
	if (!sk_plan_write(model, fusion, schedule, memory, sk_linker_machine(link->linker),
			   task_entries(link->command), &link->image))
		return false;
	if (!sk_plan_open(link->image.bytes, link->image.size, &link->plan, error, sizeof(error))) {
		sk_error(link->diag, (struct sk_place){.file = link->command->manifest}, "internal error: %s", error);
		return false;
	}
	link->account = sk_account_build(model, fusion, schedule->groups);
	if (link->command->report)
		link->without_groups = sk_plan_without_groups(model, fusion);
	return true;
}

static bool prove_plan(struct sk_link *link)
{
	const char *manifest = link->command->manifest;
	struct sk_facts *facts = sk_outputs_want_facts(link->command) ? &link->facts : NULL;

	sk_timing_next(link->timing, "verify");
	return sk_verify(link->arena, link->diag, &link->plan, manifest, link->account.orders,
			 link->account.order_count, facts) &&
	       sk_consistency_check(link->arena, link->diag, &link->plan, manifest, &link->account);
}

static bool make_sections(struct sk_link *link)
{
	const struct sk_package_input input = {.model = link->model,
					       .account = &link->account,
					       .image = &link->image,
					       .plan = &link->plan,
					       .soname = link->command->soname,
					       .relocatable = link->command->relocatable,
					       .debug = !sk_command_strip_option(link->command),
					       .threads = link->command->threads,
					       .weights = link->command->weights};

	sk_timing_next(link->timing, "dispatchers");
	return sk_package_build(&input, link->linker, &link->parts);
}

bool sk_pass_link(struct sk_link *link)
{
	const struct sk_command_line *command = link->command;

	if (!make_plan(link) || !sk_outputs_check(link))
		return false;
	/* The plan is complete. From here on only the plan counts, not what it was made from. */

	if (!prove_plan(link))
		return false;
	/* Every conflicting pair of accesses is ordered, for every number of cores, and so is what the manifest wants.
	 */

	if (!make_sections(link))
		return false;
	/* Dispatchers, plan and constants are sections of the link. */

	sk_timing_next(link->timing, "link");
	if (!sk_linker_link(link->linker) || link->diag->errors) /* warnings that are errors do not stop a room */
		return false;
	/* The file's parts are complete. */

	return command->relocatable ||
	       sk_seal_write(link->arena, link->diag, link->linker, &link->parts, command->private_key);
	/* A package is sealed. */
}
