/* Passes the command line on to the linker; see command.h. */
#include "src/command/command.h"

#include <stdio.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"
#include "base/timing.h"
#include "linker/linker.h"

static void print_line(void *context, const char *line)
{
	FILE *const *stream = context;

	sk_escape_print(line, *stream);
	putc('\n', *stream);
}

struct sk_linker *sk_command_create_linker(const struct sk_command_line *command, struct sk_arena *arena,
					   struct sk_diag *diag, struct sk_timing *timing, FILE **lines)
{
	return sk_linker_create(arena, diag,
				&(struct sk_linker_options){
					.search_paths = command->search_paths.items,
					.search_path_count = command->search_paths.count,
					.root = command->root,
					.emulation = command->emulation,
					.soname = command->soname,
					.relocatable = command->relocatable,
					.max_page_size = command->max_page_size,
					.no_relro = command->no_relro,
					.no_delete = command->no_delete,
					.strip_debug = command->strip_debug,
					.strip_all = command->strip_all,
					.discard_locals = command->discard_locals,
					.compress_debug = command->compress_debug,
					.threads = command->threads,
					.timing = timing,
					.assignments = command->assignments.items,
					.assignment_count = command->assignments.count,
					.ifuncs = command->ifuncs.items,
					.ifunc_count = command->ifuncs.count,
					.wrapped = command->wrapped.items,
					.wrapped_count = command->wrapped.count,
					.trap = command->trap,
					.trapped = command->trapped.items,
					.trapped_count = command->trapped.count,
					.warn_unresolved = command->warn_unresolved,
					.version_script = command->version_script,
					.ordering_file = command->ordering_file,
					.isolate_objects = command->isolate_objects,
					.isolated = command->isolated.items,
					.isolated_count = command->isolated.count,
					.allow_multiple_definition = command->allow_multiple_definition,
					.icf = command->icf,
					.no_demangle = command->no_demangle,
					.print = print_line,
					.print_context = lines,
					.no_gc_sections = command->no_gc_sections,
					.print_gc_sections = command->print_gc_sections,
					.print_icf_sections = command->print_icf_sections,
					.trace = command->trace,
					.traced_symbols = command->traced_symbols.items,
					.traced_symbol_count = command->traced_symbols.count,
					.asked_symbols = command->asked_symbols.items,
					.asked_symbol_count = command->asked_symbols.count,
					.cross_references = command->cross_references,
					.map_file = sk_command_destination(command, command->map_file),
					.dependency_file = sk_command_destination(command, command->dependency_file),
					.extractions_file = sk_command_destination(command, command->extractions_file),
					.check = command->check,
				});
}

void sk_command_add_dependencies(const struct sk_command_line *command, struct sk_linker *linker)
{
	sk_linker_add_dependency(linker, command->manifest, true);
	if (command->private_key)
		sk_linker_add_dependency(linker, command->private_key, true);
	for (size_t i = 0; i < command->response_files.count; i++)
		sk_linker_add_dependency(linker, command->response_files.items[i], false); /* Ninja deletes them */
}

void sk_command_read_ahead(const struct sk_command_line *command, struct sk_arena *arena, struct sk_linker *linker)
{
	struct sk_ahead_path *paths = SK_NEW_ARRAY(arena, struct sk_ahead_path, command->inputs.count);
	size_t count = 0;

	for (size_t i = 0; i < command->inputs.count; i++) {
		const struct sk_command_input *input = &command->inputs.items[i];

		paths[count].path = input->is_library ? sk_linker_find_library(linker, input->name) : input->name;
		paths[count].whole = input->whole_archive;
		count += paths[count].path != NULL;
	}
	sk_linker_read_ahead(linker, paths, count);
}

void sk_command_add_inputs(const struct sk_command_line *command, struct sk_linker *linker, struct sk_timing *timing)
{
	for (size_t i = 0; i < command->inputs.count; i++) {
		const struct sk_command_input *input = &command->inputs.items[i];

		sk_timing_begin(timing, "input", input->name);
		if (input->is_library)
			sk_linker_add_library(linker, input->name, input->whole_archive);
		else
			sk_linker_add_file(linker, input->name, input->whole_archive);
		sk_timing_end(timing);
	}
	for (size_t i = 0; i < command->required.count; i++)
		sk_linker_require(linker, command->required.items[i]);
}

bool sk_command_check_outputs(const struct sk_command_line *command, struct sk_diag *diag, struct sk_linker *linker)
{
	struct sk_command_output outputs[SK_COMMAND_OUTPUTS];
	bool ok = true;

	sk_command_list_outputs(command, outputs);
	for (int i = 0; i < SK_COMMAND_OUTPUTS; i++) {
		if (!outputs[i].path || !sk_linker_has_input(linker, outputs[i].path))
			continue;
		sk_error(diag, (struct sk_place){.file = outputs[i].path},
			 "is also an input; give the output a name of its own");
		ok = false;
	}
	return ok;
}
