/* sklink: from kernel objects and a manifest to a package. This is the list of passes that the data goes through; the
 * comment behind each says what holds from there on. Each room collects all its errors; the first room with one is the
 * last to run. */
#include "config.h"

#include <stdio.h>

#include "src/bind/bind.h"
#include "src/bind/kernels.h"
#include "src/command/configure.h"
#include "src/command/reproduction.h"
#include "src/manifest/manifest.h"
#include "src/manifest/options.h"
#include "src/model/model.h"
#include "src/outputs/outputs.h"
#include "src/package/account-builder.h"
#include "src/package/sign.h"
#include "src/planning/memory.h"
#include "src/proof/consistency.h"

static bool read_manifest(const struct sk_link *link)
{
	const struct sk_command_line *command = link->command;
	struct sk_model *model = link->model;
	bool read = sk_manifest_read(model, command->manifest);
	size_t count = read ? command->scope_options.count : 0;

	for (size_t i = 0; i < count; i++)
		read &= sk_scope_options_override(model, command->scope_options.items[i].place,
						  command->scope_options.items[i].text);
	sk_model_add_dependencies(model, link->linker);
	return sk_scope_options_check(model, sk_command_strip_option(command), command->relocatable) && read;
}

static bool read_model(struct sk_link *link)
{
	const struct sk_command_line *command = link->command;
	struct sk_linker *linker = link->linker;
	struct sk_model *model = link->model;

	sk_timing_begin(link->timing, "manifest", NULL);
	sk_command_add_dependencies(command, linker);
	sk_command_read_ahead(command, link->arena, linker);
	bool read = read_manifest(link);
	/* Tensors, tasks and scopes are named, typed and shaped; nothing is known of kernels yet. */

	sk_timing_next(link->timing, "inputs");
	sk_command_add_inputs(command, linker, link->timing);
	if (!read || link->diag->errors)
		return false;
	/* Every input is known and checked. */

	sk_timing_next(link->timing, "kernels");
	if (!sk_kernels_find(model, linker))
		return false;
	/* Every task has a kernel with a signature and an address to call. Beyond this point no input is added. */

	if (!sk_command_check_outputs(command, link->diag, linker))
		return false;
	/* The output replaces nothing that was read. */

	sk_timing_next(link->timing, "bind");
	return sk_model_bind(model) && sk_model_assign_roles(model);
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
			   !link->command->no_task_entries, &link->image))
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
					       .threads = link->command->threads};

	sk_timing_next(link->timing, "dispatchers");
	return sk_package_build(&input, link->linker, &link->parts);
}

static bool link_package(struct sk_link *link)
{
	const struct sk_command_line *command = link->command;

	if (!read_model(link))
		return false;
	/* Every argument is a tensor's bytes or a scalar, checked against the signature. Beyond this point the model
	 * does not change. */

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

	if (!command->relocatable &&
	    !sk_seal_write(link->arena, link->diag, link->linker, link->parts.plan, command->private_key))
		return false;
	/* A package is sealed. */

	sk_outputs_prepare(link);
	sk_timing_next(link->timing, "write");
	bool written = sk_outputs_write(link);

	sk_timing_end(link->timing);
	return written;
}

static void run(struct sk_link *link)
{
	const struct sk_command_line *command = link->command;

	if (command->statistics || command->time_trace)
		link->timing = sk_timing_create(link->arena);
	link->linker = sk_command_create_linker(command, link->arena, link->diag, link->timing);
	link->model = sk_model_create(link->arena, link->diag);
	if (command->root)
		link->model->root = command->root;
	link->model->allowed_isa = command->isa;

	bool linked = link_package(link);

	/* Above all of links that fail. If it is an input, there has been an error. */
	if (command->reproduction && !command->check && !sk_linker_has_input(link->linker, command->reproduction))
		sk_reproduction_write(link->diag, command, link->linker);
	if (linked)
		sk_outputs_print(link);
}

int main(int argc, char **argv)
{
	struct sk_arena *arena = sk_arena_create();
	struct sk_command_line command;
	struct sk_diag diag;
	struct sk_link link = {.arena = arena, .diag = &diag, .command = &command};

	sk_diag_init(&diag, arena);

	bool understood = sk_command_parse(arena, &diag, argc, argv, &command);

	if (command.help)
		fputs(sk_command_help, stdout);
	else if (command.version)
		puts("sklink " PACKAGE_VERSION);
	else if (understood)
		run(&link);
	sk_outputs_finish(&diag);
	sk_diag_flush(&diag, "sklink", command.error_limit, stderr);
	sk_linker_destroy(link.linker);

	bool failed = diag.errors;

	sk_arena_destroy(arena);
	return failed ? 1 : 0;
}
