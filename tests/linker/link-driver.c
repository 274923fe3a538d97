/* A small linker around linker/linker.h, so that the linker can be tested without manifests and dispatchers.
 *
 *   link-driver -o FILE [options] INPUT…
 *     --export NAME=SYMBOL   an exported function NAME that jumps to the kernel SYMBOL
 *     --constants TEXT       an exported object `driver_constants` with that text, in the constants' segment
 *     --gap BYTES            zeros before the text
 *     --state SYMBOL         prints the hidden state of the kernel
 *     --join-states          the hidden states of these kernels and constructors are one
 *     --kernels              prints the signature records
 *     --find SYMBOL          prints the kernel's address
 *     --all                  requires every function that the inputs define
 *     --defsym, --wrap, --allow-multiple-definition, --no-gc-sections, --print-gc-sections,
 *     --version-script FILE, --isolate-objects, --isolate PATTERN, --cref, --icf none|safe|all, --print-icf-sections,
 *     --trace, --trace-symbol, --map FILE, --dependency-file FILE
 *     --no-demangle, --symbol-ordering-file FILE, --why-live SYMBOL, --why-extract FILE
 *     --compress-debug-sections, --strip-debug, --strip-all, --relocatable
 *     --soname -u -L -l --whole-archive --no-whole-archive   as usual
 *
 * All exports' targets are also in an exported table `driver_table`, 32-bit and relative to the entry, in the order of
 * the options; kernels are laid out in that order as well. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/map.h"
#include "linker/linker.h"
#include "tests/lib/whole-link.h"

enum { MAXIMUM = 256, THUNK_SIZE = 16 };

struct arguments {
	const char *output, *soname, *constants;
	unsigned long long gap;
	const char *exports[MAXIMUM], *states[MAXIMUM], *finds[MAXIMUM], *required[MAXIMUM], *search_paths[MAXIMUM];
	const char *assignments[MAXIMUM], *wrapped[MAXIMUM], *traced[MAXIMUM], *asked[MAXIMUM];
	size_t assignment_count, wrapped_count, traced_count, asked_count;
	const char *map_file, *dependency_file, *version_script, *ordering_file, *extractions_file;
	bool multiple, no_gc, print_gc, print_icf, trace;
	enum sk_icf icf;
	bool join, isolate, cross_references, no_demangle;
	const char *isolated[MAXIMUM];
	size_t isolated_count;
	size_t export_count, state_count, find_count, required_count, search_path_count;
	bool kernels, all, compress_debug, strip_debug, strip_all, relocatable;
};

/* The value of an option that takes one. */
static const char *value_of(char **arguments, int count, int *i)
{
	if (*i + 1 >= count) {
		fprintf(stderr, "link-driver: %s needs a value\n", arguments[*i]);
		exit(2);
	}
	return arguments[++*i];
}

static void push(const char **list, size_t *count, const char *value)
{
	if (*count == MAXIMUM)
		abort();
	list[(*count)++] = value;
}

static enum sk_icf icf_of(const char *name)
{
	return !strcmp(name, "all") ? SK_ICF_ALL : !strcmp(name, "safe") ? SK_ICF_SAFE : SK_ICF_NONE;
}

static void read_options(struct arguments *options, char **arguments, int count)
{
	for (int i = 1; i < count; i++) {
		const char *name = arguments[i];

		if (!strcmp(name, "-o"))
			options->output = value_of(arguments, count, &i);
		else if (!strcmp(name, "--soname"))
			options->soname = value_of(arguments, count, &i);
		else if (!strcmp(name, "--constants"))
			options->constants = value_of(arguments, count, &i);
		else if (!strcmp(name, "--gap"))
			options->gap = strtoull(value_of(arguments, count, &i), NULL, 0);
		else if (!strcmp(name, "--export"))
			push(options->exports, &options->export_count, value_of(arguments, count, &i));
		else if (!strcmp(name, "--state"))
			push(options->states, &options->state_count, value_of(arguments, count, &i));
		else if (!strcmp(name, "--find"))
			push(options->finds, &options->find_count, value_of(arguments, count, &i));
		else if (!strcmp(name, "-u"))
			push(options->required, &options->required_count, value_of(arguments, count, &i));
		else if (!strcmp(name, "-L"))
			push(options->search_paths, &options->search_path_count, value_of(arguments, count, &i));
		else if (!strcmp(name, "-l"))
			i++;
		else if (!strcmp(name, "--join-states"))
			options->join = true;
		else if (!strcmp(name, "--kernels"))
			options->kernels = true;
		else if (!strcmp(name, "--all"))
			options->all = true;
		else if (!strcmp(name, "--defsym"))
			push(options->assignments, &options->assignment_count, value_of(arguments, count, &i));
		else if (!strcmp(name, "--wrap"))
			push(options->wrapped, &options->wrapped_count, value_of(arguments, count, &i));
		else if (!strcmp(name, "--trace-symbol"))
			push(options->traced, &options->traced_count, value_of(arguments, count, &i));
		else if (!strcmp(name, "--why-live"))
			push(options->asked, &options->asked_count, value_of(arguments, count, &i));
		else if (!strcmp(name, "--why-extract"))
			options->extractions_file = value_of(arguments, count, &i);
		else if (!strcmp(name, "--symbol-ordering-file"))
			options->ordering_file = value_of(arguments, count, &i);
		else if (!strcmp(name, "--map"))
			options->map_file = value_of(arguments, count, &i);
		else if (!strcmp(name, "--dependency-file"))
			options->dependency_file = value_of(arguments, count, &i);
		else if (!strcmp(name, "--allow-multiple-definition"))
			options->multiple = true;
		else if (!strcmp(name, "--no-gc-sections"))
			options->no_gc = true;
		else if (!strcmp(name, "--print-gc-sections"))
			options->print_gc = true;
		else if (!strcmp(name, "--version-script"))
			options->version_script = value_of(arguments, count, &i);
		else if (!strcmp(name, "--no-demangle"))
			options->no_demangle = true;
		else if (!strcmp(name, "--cref"))
			options->cross_references = true;
		else if (!strcmp(name, "--isolate-objects"))
			options->isolate = true;
		else if (!strcmp(name, "--isolate"))
			push(options->isolated, &options->isolated_count, value_of(arguments, count, &i));
		else if (!strcmp(name, "--icf"))
			options->icf = icf_of(value_of(arguments, count, &i));
		else if (!strcmp(name, "--print-icf-sections"))
			options->print_icf = true;
		else if (!strcmp(name, "--trace"))
			options->trace = true;
		else if (!strcmp(name, "--compress-debug-sections"))
			options->compress_debug = true;
		else if (!strcmp(name, "--strip-debug"))
			options->strip_debug = true;
		else if (!strcmp(name, "--strip-all"))
			options->strip_all = true;
		else if (!strcmp(name, "--relocatable"))
			options->relocatable = true;
	}
}

static bool takes_value(const char *name)
{
	static const char *const names[] = {"-o",
					    "--soname",
					    "--constants",
					    "--gap",
					    "--export",
					    "--state",
					    "--find",
					    "-u",
					    "-L",
					    "--icf",
					    "--version-script",
					    "--defsym",
					    "--isolate",
					    "--wrap",
					    "--trace-symbol",
					    "--why-live",
					    "--why-extract",
					    "--symbol-ordering-file",
					    "--map",
					    "--dependency-file"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

static void add_inputs(struct sk_linker *linker, char **arguments, int count)
{
	bool whole = false;

	for (int i = 1; i < count; i++) {
		const char *name = arguments[i];

		if (takes_value(name))
			i++;
		else if (!strcmp(name, "-l"))
			sk_linker_add_library(linker, arguments[++i], whole);
		else if (!strcmp(name, "--whole-archive"))
			whole = true;
		else if (!strcmp(name, "--no-whole-archive"))
			whole = false;
		else if (name[0] != '-')
			sk_linker_add_file(linker, name, whole);
	}
}

static void print_record(void *context, const struct sk_kernel_record *record)
{
	struct sk_arena *arena = context;

	printf("kernel %s \"%s\" at %s in %s\n", record->symbol, record->signature ? record->signature : "",
	       sk_place_text(arena, record->place), record->object);
}

static bool find(struct sk_linker *linker, struct sk_diag *diag, const char *symbol, struct sk_kernel_record *record)
{
	unsigned errors = diag->errors;
	size_t count;
	const char *const *names;

	if (sk_linker_find_kernel(linker, SK_ANYWHERE, symbol, record))
		return true;
	names = sk_linker_function_names(linker, SK_ANYWHERE, &count);
	if (diag->errors == errors)
		sk_error(diag, (struct sk_place){0}, "there is no kernel %s%s", symbol,
			 sk_did_you_mean(diag->arena, symbol, names, count));
	return false;
}

static void join_states(struct sk_linker *linker, struct sk_diag *diag, const struct arguments *options)
{
	struct sk_kernel_record record;
	sk_symbol codes[MAXIMUM];
	uint32_t owners[MAXIMUM];
	uint32_t count = 0;

	for (size_t i = 0; i < options->state_count; i++)
		if (find(linker, diag, options->states[i], &record)) {
			owners[count] = count;
			codes[count++] = record.code;
		}
	sk_linker_join_states(linker, codes, owners, count);
}

static void answer(struct sk_linker *linker, struct sk_diag *diag, const struct arguments *options)
{
	struct sk_kernel_record record;

	if (options->kernels)
		sk_linker_visit_kernels(linker, SK_NONE, print_record, diag->arena);
	for (size_t i = 0; i < options->find_count; i++)
		if (find(linker, diag, options->finds[i], &record))
			print_record(diag->arena, &record);
	if (options->join)
		join_states(linker, diag, options);
	for (size_t i = 0; i < options->state_count; i++) {
		const uint32_t *states;
		size_t count;

		if (!find(linker, diag, options->states[i], &record) ||
		    !sk_linker_find_state(linker, record.code, &states, &count))
			continue;
		printf("%s has %zu\n", options->states[i], count);
		for (size_t j = 0; j < count; j++)
			printf("%s: %u: %s\n", options->states[i], states[j], sk_linker_state_name(linker, states[j]));
	}
}

/* A CIE, and an FDE for each thunk: the return address is at the stack pointer all the time. */
static const uint8_t cie[24] = {
	20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0,
};
static const uint8_t fde[20] = {16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, THUNK_SIZE, 0, 0, 0, 0, 0, 0, 0};

/* The exports' bytes, until the file has been written. */
struct synthesis {
	uint8_t text[MAXIMUM * THUNK_SIZE], frames[sizeof(cie) + MAXIMUM * sizeof(fde)];
	struct sk_piece pieces[3];
};

static void add_exports(struct sk_linker *linker, struct sk_diag *diag, const struct arguments *options,
			struct synthesis *synthesis)
{
	size_t count = options->export_count, frames_size = sizeof(cie) + count * sizeof(fde);

	synthesis->pieces[0] = (struct sk_piece){0, synthesis->text, count * THUNK_SIZE};
	synthesis->pieces[1] = (struct sk_piece){0, synthesis->frames, frames_size};

	sk_section text =
		sk_linker_add_section(linker, &(struct sk_section_spec){".text.thunks", SK_SECTION_TEXT, 64,
									count * THUNK_SIZE, &synthesis->pieces[0], 1});
	sk_section frames =
		sk_linker_add_section(linker, &(struct sk_section_spec){".eh_frame", SK_SECTION_EH_FRAME, 8,
									frames_size, &synthesis->pieces[1], 1});
	sk_section table = sk_linker_add_section(
		linker, &(struct sk_section_spec){".table", SK_SECTION_READ_ONLY, 64, count * 4, NULL, 0});

	memset(synthesis->text, 0xcc, sizeof(synthesis->text));
	memcpy(synthesis->frames, cie, sizeof(cie));
	sk_linker_define(linker, table, "driver_table", 0, count * 4, SK_SYMBOL_OBJECT, true);
	for (size_t i = 0; i < count; i++) {
		const char *export = options->exports[i], *equals = strchr(export, '=');
		const char *name = sk_arena_copy(diag->arena, export, (size_t)(equals - export));
		size_t frame = sizeof(cie) + i * sizeof(fde);
		uint32_t distance = (uint32_t)frame + 4;
		struct sk_kernel_record record;

		if (!find(linker, diag, equals + 1, &record))
			continue;
		synthesis->text[i * THUNK_SIZE] = 0xe9; /* jmp */
		memcpy(synthesis->frames + frame, fde, sizeof(fde));
		memcpy(synthesis->frames + frame + 4, &distance, 4);

		sk_symbol thunk =
			sk_linker_define(linker, text, name, i * THUNK_SIZE, THUNK_SIZE, SK_SYMBOL_FUNCTION, true);

		sk_linker_relocate(linker, text, i * THUNK_SIZE + 1, SK_RELOCATION_CALL, record.code, -4);
		sk_linker_relocate(linker, frames, frame + 8, SK_RELOCATION_RELATIVE32, thunk, 0);
		sk_linker_relocate(linker, table, i * 4, SK_RELOCATION_RELATIVE32, record.code, 0);
		sk_linker_order(linker, record.code, NULL);
	}
}

static void add_constants(struct sk_linker *linker, const struct arguments *options, struct synthesis *synthesis)
{
	size_t length = strlen(options->constants) + 1;

	synthesis->pieces[2] = (struct sk_piece){options->gap, options->constants, length};

	sk_section section = sk_linker_add_section(linker, &(struct sk_section_spec){".constants", SK_SECTION_CONSTANTS,
										     64, options->gap + length,
										     &synthesis->pieces[2], 1});

	sk_linker_define(linker, section, "driver_constants", options->gap, length, SK_SYMBOL_OBJECT, true);
}

static void require_all(struct sk_linker *linker)
{
	size_t count;
	const char *const *names = sk_linker_function_names(linker, SK_ANYWHERE, &count);

	for (size_t i = 0; i < count; i++)
		sk_linker_require(linker, names[i]);
}

static bool link_all(struct sk_linker *linker, struct sk_diag *diag, const struct arguments *options,
		     struct synthesis *synthesis)
{
	for (size_t i = 0; i < options->required_count; i++)
		sk_linker_require(linker, options->required[i]);
	if (options->all)
		require_all(linker);
	answer(linker, diag, options);
	if (!options->output)
		return diag->errors == 0;
	if (options->export_count)
		add_exports(linker, diag, options, synthesis);
	if (options->constants)
		add_constants(linker, options, synthesis);
	return link_whole(linker) && sk_linker_write(linker, options->output, NULL) && sk_files_finish(diag);
}

static void print_line(void *context, const char *line)
{
	(void)context;
	puts(line);
}

int main(int count, char **arguments)
{
	struct arguments *options = calloc(1, sizeof(*options));
	struct synthesis *synthesis = calloc(1, sizeof(*synthesis));
	struct sk_arena *arena = sk_arena_create();
	struct sk_diag diag;

	read_options(options, arguments, count);
	sk_diag_init(&diag, arena);

	struct sk_linker *linker =
		sk_linker_create(arena, &diag,
				 &(struct sk_linker_options){.search_paths = options->search_paths,
							     .search_path_count = options->search_path_count,
							     .soname = options->soname,
							     .relocatable = options->relocatable,
							     .strip_debug = options->strip_debug,
							     .strip_all = options->strip_all,
							     .compress_debug = options->compress_debug,
							     .assignments = options->assignments,
							     .assignment_count = options->assignment_count,
							     .wrapped = options->wrapped,
							     .wrapped_count = options->wrapped_count,
							     .allow_multiple_definition = options->multiple,
							     .no_gc_sections = options->no_gc,
							     .no_demangle = options->no_demangle,
							     .print = print_line,
							     .print_gc_sections = options->print_gc,
							     .version_script = options->version_script,
							     .cross_references = options->cross_references,
							     .isolate_objects = options->isolate,
							     .isolated = options->isolated,
							     .isolated_count = options->isolated_count,
							     .icf = options->icf,
							     .print_icf_sections = options->print_icf,
							     .trace = options->trace,
							     .traced_symbols = options->traced,
							     .traced_symbol_count = options->traced_count,
							     .asked_symbols = options->asked,
							     .asked_symbol_count = options->asked_count,
							     .extractions_file = options->extractions_file,
							     .ordering_file = options->ordering_file,
							     .map_file = options->map_file,
							     .dependency_file = options->dependency_file});

	add_inputs(linker, arguments, count);

	bool ok = link_all(linker, &diag, options, synthesis);

	if (!ok && !diag.errors)
		abort(); /* a failure always says why */
	sk_diag_flush(&diag, "link-driver", 0, stderr);
	sk_linker_destroy(linker);
	sk_arena_destroy(arena);
	free(synthesis);
	free(options);
	return ok && !diag.errors ? 0 : 1;
}
