/* sklink: from kernel objects and a manifest to a package. main is the list of rooms that the data goes through; the
 * comment behind each call says what holds from there on. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "src/base/file.h"
#include "src/base/mapped.h"
#include "src/base/text.h"
#include "src/base/unfinished.h"
#include "src/bind/bind.h"
#include "src/bind/kernels.h"
#include "src/command/command.h"
#include "src/command/configure.h"
#include "src/command/reproduction.h"
#include "src/manifest/manifest.h"
#include "src/manifest/options.h"
#include "src/package/account.h"
#include "src/package/header.h"
#include "src/package/package.h"
#include "src/package/report-file.h"
#include "src/package/shares.h"
#include "src/package/sign.h"
#include "src/package/statistics.h"
#include "src/planning/memory.h"
#include "src/planning/partition.h"
#include "src/planning/plan-writer.h"
#include "src/planning/schedule.h"
#include "src/proof/consistency.h"
#include "src/proof/explain.h"
#include "src/proof/verify.h"

/* One link. */
struct link {
	struct sk_arena *arena;
	struct sk_diag *diag;
	const struct sk_command *command;
	struct sk_timing *timing; /* NULL: nobody wants to know */
	struct sk_linker *linker;
	struct sk_plan_view plan; /* once it is complete */
	const struct sk_profile *device; /* that it is for */
	struct sk_report report; /* what became of each task */
	struct sk_facts facts; /* why tasks are in order; only if somebody wants to know */
	struct sk_package_parts parts; /* once there are dispatchers */
	const char *name; /* of the package in C, once there is a plan */
	struct sk_text explained; /* what --explain asks for */
};

/* What libskrt finds the plan by. One program may hold several packages, so in an object the name is the package's. */
static const char *plan_symbol(const struct link *link)
{
	return link->command->relocatable ? sk_arena_print(link->arena, "sk_plan_%s", link->name) : "sk_plan";
}

static bool write_header(const struct link *link, const struct sk_plan_image *image)
{
	const struct sk_command *command = link->command;
	struct sk_header_contents contents = {
		.name = link->name,
		.image = image,
		.plan = &link->plan,
		.plan_symbol = command->relocatable ? plan_symbol(link) : NULL,
	};

	if (command->embed)
		contents.bytes = sk_linker_bytes(link->linker, &contents.size);
	return sk_header_write(link->arena, link->diag, command->header, &contents);
}

static bool write_report(const struct link *link)
{
	struct sk_linker_statistics counts;

	sk_linker_count(link->linker, &counts);
	return sk_report_file_write(link->arena, link->diag, link->command->report,
				    &(struct sk_report_input){
					    .manifest = link->command->manifest,
					    .device = link->device,
					    .plan = &link->plan,
					    .report = &link->report,
					    .facts = &link->facts,
					    .entries = link->parts.entries,
					    .output_size = counts.output_size,
				    });
}

static bool write_files(const struct link *link, const struct sk_plan_image *image)
{
	const struct sk_command *command = link->command;

	return (!command->header || write_header(link, image)) && (!command->report || write_report(link)) &&
	       sk_linker_write(link->linker, command->output);
}

/* The command line overrides the environment, and that the manifest. */
static bool override_scope_options(struct sk_model *model, const struct sk_command *command)
{
	const char *environment = command->environment_scope_options;
	bool ok = !environment || sk_scope_options_override(model, "SKLINK_SCOPE_OPTIONS", environment);

	for (size_t i = 0; i < command->scope_options.count; i++)
		ok &= sk_scope_options_override(model, "--scope-options", command->scope_options.items[i]);
	return ok;
}

static const char *strip_option(const struct sk_command *command)
{
	return command->strip_all ? "-s" : command->strip_debug ? "-S" : NULL;
}

static bool wants_facts(const struct sk_command *command)
{
	return command->report || command->explained.count;
}

/* Misspelt tasks are found before anything is written. */
static bool check_explained(struct sk_diag *diag, const struct sk_command *command, const struct sk_plan_view *plan)
{
	bool ok = true;

	for (size_t i = 0; i < command->explained.count; i++)
		ok &= sk_explain_find(diag, plan, command->explained.items[i]) != SK_NO_INDEX;
	return ok;
}

/* The text is complete before there is a package, since there may be no memory for it. */
static void explain_tasks(struct link *link)
{
	sk_text_open(&link->explained);

	const struct sk_explanation explanation = {link->arena, &link->plan, &link->report, &link->facts,
						   link->explained.stream};

	sk_explain_tasks(&explanation, link->diag, link->command->explained.items, link->command->explained.count);
	sk_text_close(link->arena, &link->explained);
}

/* Each room collects all its errors; the first room with one is the last to run. */
static bool link_package(struct link *link)
{
	const struct sk_command *command = link->command;
	struct sk_timing *timing = link->timing;
	struct sk_diag *diag = link->diag;
	struct sk_linker *linker = link->linker;
	struct sk_model *model = sk_model_create(link->arena, diag);

	if (command->root)
		model->root = command->root;
	sk_timing_begin(timing, "manifest", NULL);
	sk_command_add_dependencies(command, linker);
	sk_command_read_ahead(command, link->arena, linker);

	bool read = sk_manifest_read(model, command->manifest) && override_scope_options(model, command);

	sk_model_add_dependencies(model, linker);
	read &= sk_scope_options_check(model, strip_option(command), command->relocatable);
	/* Tensors, tasks and scopes are named, typed and shaped; nothing is known of kernels yet. */

	sk_timing_next(timing, "inputs");
	sk_command_add_inputs(command, linker, timing);
	if (!read || diag->errors)
		return false;
	/* Every input is known and checked. */

	sk_timing_next(timing, "kernels");
	if (!sk_kernels_find(model, linker))
		return false;
	/* Every task has a kernel with a signature and an address to call. Beyond this point no input is added. */

	if (!sk_command_check_outputs(command, diag, linker))
		return false;
	/* The output replaces nothing that was read. */

	sk_timing_next(timing, "bind");
	if (!sk_model_bind(model) || !sk_model_assign_roles(model))
		return false;
	/* Every argument is a tensor's bytes or a scalar, checked against the signature. Beyond this point the model
	 * does not change. */

	sk_timing_next(timing, "partition");

	struct sk_partition *partition = sk_partition_build(model);

	if (!partition)
		return false;
	/* Every task belongs to one launch, for a reason. */

	sk_timing_next(timing, "schedule");

	struct sk_schedule *schedule = sk_schedule_build(model, partition);

	if (!schedule)
		return false;
	/* Every step has its core set and exactly the awaits it needs. */

	sk_timing_next(timing, "memory");

	struct sk_memory *memory = sk_memory_plan(model, partition, schedule);

	if (!memory)
		return false;
	/* Every temporary has bytes in the workspace. */

	sk_timing_next(timing, "plan");

	struct sk_plan_image image;
	char error[256];

	if (!sk_plan_write(model, partition, schedule, memory, sk_linker_machine(linker), !command->no_task_entries,
			   &image))
		return false;
	if (!sk_plan_open(image.bytes, image.size, &link->plan, error, sizeof(error))) {
		sk_error(diag, (struct sk_place){.file = command->manifest}, "internal error: %s", error);
		return false;
	}
	if (!check_explained(diag, command, &link->plan))
		return false;
	/* The plan is complete. From here on only the plan counts, not what it was made from. */

	sk_timing_next(timing, "verify");
	link->device = model->device;
	link->report = sk_account_build(model, partition);
	if (!sk_verify(link->arena, diag, &link->plan, command->manifest, link->report.orders, link->report.order_count,
		       wants_facts(command) ? &link->facts : NULL) ||
	    !sk_consistency_check(link->arena, diag, &link->plan, command->manifest, &link->report))
		return false;
	/* Every conflicting pair of accesses is ordered, for every number of cores, and so is what the manifest wants.
	 */

	sk_timing_next(timing, "dispatchers");
	link->name = sk_package_name(link->arena, command->soname, &link->plan);

	const struct sk_package_input input = {.model = model,
					       .report = &link->report,
					       .image = &image,
					       .plan = &link->plan,
					       .plan_symbol = plan_symbol(link),
					       .debug = !strip_option(command),
					       .threads = command->threads};

	if (!sk_package_build(&input, linker, &link->parts))
		return false;
	/* Dispatchers, plan and constants are sections of the link. */

	sk_timing_next(timing, "link");
	if (!sk_linker_link(linker) || diag->errors) /* warnings that are errors do not stop a room */
		return false;
	/* The file's parts are complete. */

	if (!command->relocatable && !sk_seal_write(link->arena, diag, linker, link->parts.plan, command->private_key))
		return false;
	/* A package is sealed. */

	if (command->map_file)
		sk_linker_end_map(linker, sk_shares_text(model, &link->plan, link->parts.entries, linker));
	explain_tasks(link);
	sk_timing_next(timing, "write");
	bool written = write_files(link, &image);

	sk_timing_end(timing);
	return written;
}

static void write_time_trace(const struct link *link)
{
	const char *trace = sk_timing_trace(link->timing, "sklink");

	sk_file_write_text(link->diag, link->command->time_trace, trace, strlen(trace));
}

/* What was asked for about a link that has succeeded. */
static void report(const struct link *link)
{
	const struct sk_command *command = link->command;

	fputs(link->explained.bytes, stdout);
	if (command->statistics)
		sk_statistics_print(&(struct sk_statistics){.linker = link->linker,
							    .plan = &link->plan,
							    .dispatcher_size = sk_entries_size(link->parts.entries),
							    .timing = link->timing},
				    stdout);
	if (command->time_trace)
		write_time_trace(link);
}

/* Whoever gets the exit status 1 finds all files as they were. */
static void finish(struct sk_diag *diag)
{
	const char *changed = sk_mapped_changed();

	if (changed)
		sk_error(diag, (struct sk_place){.file = changed},
			 "the file has changed while it was linked; link again once nobody writes it");
	if (fflush(stdout) || ferror(stdout))
		sk_error(diag, (struct sk_place){0}, "cannot write to standard output");
	if (diag->errors)
		sk_unfinished_remove_all();
	else
		sk_files_finish(diag);
}

int main(int argc, char **argv)
{
	struct sk_arena *arena = sk_arena_create();
	struct sk_command command;
	struct sk_diag diag;
	struct link link = {.arena = arena, .diag = &diag, .command = &command};

	sk_diag_init(&diag, arena);

	bool understood = sk_command_parse(arena, &diag, argc, argv, &command);

	diag.fatal_warnings = command.fatal_warnings;
	diag.no_warnings = command.no_warnings;
	diag.colour = command.colour;
	if (understood && !command.help && !command.version) {
		if (command.statistics || command.time_trace)
			link.timing = sk_timing_create(arena);
		link.linker = sk_command_create_linker(&command, arena, &diag, link.timing);
		bool linked = link_package(&link);

		/* Above all of links that fail. If it is an input, there has been an error. */
		if (command.reproduction && !sk_linker_has_input(link.linker, command.reproduction))
			sk_reproduction_write(&diag, &command, link.linker);
		if (linked)
			report(&link);
	}
	if (command.help)
		fputs(sk_command_help, stdout);
	else if (command.version)
		puts("sklink " PACKAGE_VERSION);

	finish(&diag);
	sk_diag_flush(&diag, "sklink", command.error_limit, stderr);
	sk_linker_destroy(link.linker);

	bool failed = diag.errors;

	sk_arena_destroy(arena);
	return failed ? 1 : 0;
}
