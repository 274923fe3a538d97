/* sklink: from kernel objects and a manifest to a package. main is the list of rooms that the data goes through; the
 * comment behind each call says what holds from there on. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "src/base/escape.h"
#include "src/base/file.h"
#include "src/base/mapped.h"
#include "src/base/text.h"
#include "src/base/unfinished.h"
#include "src/bind/bind.h"
#include "src/bind/kernels.h"
#include "src/command/command.h"
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
	struct sk_entries entries[SK_ENTRIES]; /* once there are dispatchers */
	const char *name; /* of the package in C, once there is a plan */
	sk_section plan_section;
	struct sk_text explained; /* what --explain asks for */
};

static void print_line(void *context, const char *line)
{
	(void)context;
	sk_escape_print(line, stdout);
	putchar('\n');
}

static struct sk_linker *create_linker(const struct link *link)
{
	const struct sk_command *command = link->command;

	return sk_linker_create(link->arena, link->diag,
				&(struct sk_linker_options){
					.search_paths = command->search_paths.items,
					.search_path_count = command->search_paths.count,
					.root = command->root,
					.soname = command->soname,
					.relocatable = command->relocatable,
					.max_page_size = command->max_page_size,
					.no_relro = command->no_relro,
					.strip_debug = command->strip_debug,
					.strip_all = command->strip_all,
					.compress_debug = command->compress_debug,
					.threads = command->threads,
					.timing = link->timing,
					.assignments = command->assignments.items,
					.assignment_count = command->assignments.count,
					.wrapped = command->wrapped.items,
					.wrapped_count = command->wrapped.count,
					.version_script = command->version_script,
					.isolate_objects = command->isolate_objects,
					.allow_multiple_definition = command->allow_multiple_definition,
					.icf = command->icf,
					.print = print_line,
					.no_gc_sections = command->no_gc_sections,
					.print_gc_sections = command->print_gc_sections,
					.print_icf_sections = command->print_icf_sections,
					.trace = command->trace,
					.traced_symbols = command->traced_symbols.items,
					.traced_symbol_count = command->traced_symbols.count,
					.cross_references = command->cross_references,
					.map_file = command->map_file,
					.dependency_file = command->dependency_file,
				});
}

/* What scopes ask for and the command line rules out: compile-options=-g holds the package to its debug information,
 * and copies of code are made where text gets its place, which is not yet so with -r. */
static bool check_scopes(const struct link *link, const struct sk_model *model)
{
	const struct sk_command *command = link->command;
	bool strip = command->strip_all || command->strip_debug;
	unsigned errors = link->diag->errors;

	for (size_t i = 0; i < model->scopes.count; i++) {
		const struct sk_launch_options *options = &model->scopes.items[i].launch;

		if (options->debug && strip)
			sk_error(link->diag, options->debug_place,
				 "scope option 'compile-options=-g' keeps the debug information, which %s removes",
				 command->strip_all ? "-s" : "-S");
		if (options->split_mode > 1 && command->relocatable)
			sk_error(link->diag, options->split_place,
				 "scope option 'split-mode' makes copies of code, which an object (-r) cannot have");
	}
	return link->diag->errors == errors;
}

/* Threads read the inputs while this one reads the manifest. */
static void read_ahead(const struct link *link)
{
	const struct sk_command *command = link->command;
	const char **paths = SK_NEW_ARRAY(link->arena, const char *, command->inputs.count);
	size_t count = 0;

	for (size_t i = 0; i < command->inputs.count; i++) {
		const struct sk_command_input *input = &command->inputs.items[i];

		paths[count] = input->library ? sk_linker_find_library(link->linker, input->name) : input->name;
		count += paths[count] != NULL;
	}
	sk_linker_read_ahead(link->linker, paths, count);
}

static void add_inputs(const struct link *link)
{
	const struct sk_command *command = link->command;
	struct sk_linker *linker = link->linker;

	for (size_t i = 0; i < command->inputs.count; i++) {
		const struct sk_command_input *input = &command->inputs.items[i];

		sk_timing_begin(link->timing, "input", input->name);
		if (input->library)
			sk_linker_add_library(linker, input->name, input->whole_archive);
		else
			sk_linker_add_file(linker, input->name, input->whole_archive);
		sk_timing_end(link->timing);
	}
	for (size_t i = 0; i < command->required.count; i++)
		sk_linker_require(linker, command->required.items[i]);
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

/* A file that replaces one of those it is made from would be a loss that nobody wants. */
static bool check_outputs(struct sk_diag *diag, struct sk_linker *linker, const struct sk_command *command)
{
	struct sk_command_output outputs[SK_COMMAND_OUTPUTS];
	bool ok = true;

	sk_command_list_outputs(command, outputs);
	for (int i = 0; i < SK_COMMAND_OUTPUTS; i++) {
		if (!outputs[i].path || !sk_linker_has_input(linker, outputs[i].path))
			continue;
		sk_error(diag, (struct sk_place){.file = outputs[i].path},
			 "is an input, too; give the output a name of its own");
		ok = false;
	}
	return ok;
}

/* What the linker does not read itself. */
static void add_dependencies(struct sk_linker *linker, const struct sk_command *command)
{
	sk_linker_add_dependency(linker, command->manifest, true);
	if (command->private_key)
		sk_linker_add_dependency(linker, command->private_key, true);
	for (size_t i = 0; i < command->response_files.count; i++)
		sk_linker_add_dependency(linker, command->response_files.items[i], false); /* Ninja deletes them */
}

static void add_files_of_model(struct sk_linker *linker, const struct sk_model *model)
{
	for (size_t i = 0; i < model->tensors.count; i++)
		if (model->tensors.items[i].data)
			sk_linker_add_dependency(linker, model->tensors.items[i].data, true);
	if (model->device_file)
		sk_linker_add_dependency(linker, model->device_file, true);
}

/* What libskrt finds the plan by. One program may hold several packages, so in an object the name is the package's. */
static const char *plan_symbol(const struct link *link)
{
	return link->command->relocatable ? sk_arena_print(link->arena, "sk_plan_%s", link->name) : "sk_plan";
}

static bool write_text(const struct link *link, const char *path, const char *text)
{
	return sk_file_write_text(link->diag, path, text, strlen(text));
}

static bool write_header(const struct link *link, const struct sk_plan_image *image)
{
	enum { EMBEDDED_LIMIT = 256 << 20 }; /* no compiler would read more */
	const struct sk_command *command = link->command;
	struct sk_header_contents contents = {
		.name = link->name,
		.image = image,
		.plan = &link->plan,
		.plan_symbol = command->relocatable ? plan_symbol(link) : NULL,
	};

	if (!command->header)
		return true;
	if (command->embed)
		contents.bytes = sk_linker_bytes(link->linker, &contents.size);
	if (contents.size > EMBEDDED_LIMIT) {
		sk_error(link->diag, (struct sk_place){.file = command->header},
			 "a package of more than %d MiB cannot be embedded; load it from its file",
			 EMBEDDED_LIMIT >> 20);
		return false;
	}

	return write_text(link, command->header, sk_header_write(link->arena, &contents));
}

static bool write_report(const struct link *link)
{
	struct sk_linker_statistics counts;

	if (!link->command->report)
		return true;
	sk_linker_count(link->linker, &counts);

	const struct sk_report_input input = {
		.manifest = link->command->manifest,
		.device = link->device,
		.plan = &link->plan,
		.report = &link->report,
		.facts = &link->facts,
		.entries = link->entries,
		.output_size = counts.output_size,
	};

	return write_text(link, link->command->report, sk_report_file_text(link->arena, &input));
}

static bool write_files(const struct link *link, const struct sk_plan_image *image)
{
	return write_header(link, image) && write_report(link) && sk_linker_write(link->linker, link->command->output);
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

	for (size_t i = 0; i < link->command->explained.count; i++)
		sk_explain(&explanation, sk_explain_find(link->diag, &link->plan, link->command->explained.items[i]));
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
	add_dependencies(linker, command);
	read_ahead(link);

	bool read = sk_manifest_read(model, command->manifest) && override_scope_options(model, command);

	add_files_of_model(linker, model);
	read &= check_scopes(link, model);
	/* Tensors, tasks and scopes are named, typed and shaped; nothing is known of kernels yet. */

	sk_timing_next(timing, "inputs");
	add_inputs(link);
	if (!read || diag->errors)
		return false;
	/* Every input is known and checked. */

	sk_timing_next(timing, "kernels");
	if (!sk_kernels_find(model, linker))
		return false;
	/* Every task has a kernel with a signature and an address to call. Beyond this point no input is added. */

	if (!check_outputs(diag, linker, command))
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

	const struct sk_package_options options = {.debug = !command->strip_debug && !command->strip_all,
						   .threads = command->threads};

	sk_timing_next(timing, "dispatchers");
	link->name = sk_package_name(link->arena, command->soname, &link->plan);
	if (!sk_package_build(model, &link->report, &image, &link->plan, plan_symbol(link), linker, &options,
			      link->entries, &link->plan_section))
		return false;
	/* Dispatchers, plan and constants are sections of the link. */

	sk_timing_next(timing, "link");
	if (!sk_linker_link(linker) || diag->errors) /* warnings that are errors do not stop a room */
		return false;
	/* The file's parts are complete. */

	if (!command->relocatable &&
	    !sk_seal_write(link->arena, diag, linker, link->plan_section, command->private_key))
		return false;
	/* A package is sealed. */

	if (command->map_file)
		sk_linker_end_map(linker, sk_shares_text(model, &link->plan, link->entries, linker));
	explain_tasks(link);
	sk_timing_next(timing, "write");
	bool written = write_files(link, &image);

	sk_timing_end(timing);
	return written;
}

/* What was asked for about a link that has succeeded. */
static void report(const struct link *link)
{
	const struct sk_command *command = link->command;

	fputs(link->explained.bytes, stdout);
	if (command->statistics)
		sk_statistics_print(&(struct sk_statistics){.linker = link->linker,
							    .plan = &link->plan,
							    .dispatcher_size = sk_entries_size(link->entries),
							    .timing = link->timing},
				    stdout);
	if (command->time_trace)
		write_text(link, command->time_trace, sk_timing_trace(link->timing, "sklink"));
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
		link.linker = create_linker(&link);
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
