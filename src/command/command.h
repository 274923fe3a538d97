/* The command line, its meaning for the linker, and the archive of a reproduction. */
#ifndef SK_SRC_COMMAND_COMMAND_H
#define SK_SRC_COMMAND_COMMAND_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/diag.h"
#include "linker/linker.h"

struct sk_arena;
struct sk_linker;
struct sk_timing;

/* ==== command.c ====
 *
 * The command line of sklink, with GNU ld's conventions: "-o f", "-of", "--opt v", "--opt=v", single or double dash for
 * long options, response files "@file" in any position. Input: argv. Output: a struct that needs no further
 * interpretation. */

/* One input in command-line order. */
struct sk_command_input {
	const char *name;
	bool is_library; /* -l name; otherwise a path */
	bool whole_archive; /* it follows --whole-archive */
};

enum sk_word_kind {
	SK_WORD_PLAIN,
	SK_WORD_INPUT, /* the value is the path of a file to read */
	SK_WORD_FOLDER, /* the value is the path of a directory to read from */
	SK_WORD_OUTPUT, /* the value is the path of a file to write */
};

/* One argument, as --repro repeats it. */
struct sk_command_word {
	const char *option; /* the text before its value: "--soname=", "-z"; NULL: the value is an input */
	const char *value; /* NULL: none */
	enum sk_word_kind kind;
};

struct sk_command_line {
	const char *manifest;
	const char *output;
	SK_ARRAY(struct sk_command_input) inputs;
	SK_ARRAY(struct sk_command_word) words; /* all of them, in order, except those of --repro and --chroot */
	sk_texts search_paths; /* -L */
	sk_texts required; /* -u, --require-defined */
	sk_texts assignments; /* --defsym */
	sk_texts ifuncs; /* --ifunc */
	sk_texts wrapped; /* --wrap */
	sk_texts traced_symbols; /* --trace-symbol */
	sk_texts asked_symbols; /* --why-live */
	sk_texts response_files;
	SK_ARRAY(struct sk_name) scope_options; /* SCOPE=OPTIONS; later ones override earlier ones */
	sk_texts explained; /* --explain: tasks */
	sk_texts shapes, dimensions, frozen; /* --shape, --dim, --freeze: NAME=VALUE */
	sk_texts scopes; /* --scope: NAME=PATTERN */
	unsigned ranks; /* --ranks; 0: the package is for one process */
	sk_texts groups; /* --group: NAME=RANKS */
	const char *model_option; /* the first option that is about a model, such as "--shape"; NULL: none */
	const char *model_text; /* --model-text; NULL: none */
	const char *dump_folder; /* --dump-dir; NULL: none */
	sk_texts states; /* --state: INPUT=OUTPUT */
	unsigned cache; /* --cache: rows; 0: none */
	sk_texts cut_inputs, cut_outputs; /* --inputs, --outputs: names of values, with commas between them */
	sk_texts kept; /* --keep: names of values, or patterns */
	const char *fusion_flags; /* --fusion-flags; NULL: none */
	const char *environment_flags,
		*environment_name; /* the same from a variable, and its name; NULL: none is set */
	const char *ge_extent, *ge_level, *ge_folder,
		*ge_format; /* DUMP_GE_GRAPH and related variables of the environment; NULL: not set */
	const char *fusion_target; /* --fusion-target; NULL: none */
	const char *switches; /* --fusion-switch-file; NULL: none */
	const char *fusion_result; /* --fusion-result; NULL: none */
	sk_texts rules; /* --rules */
	bool no_pattern_fusion;
	const char *torchair_mode; /* --torchair-mode; NULL: none */
	const char *fold; /* --fold: "all"; NULL: no result makes the package larger than the model */
	bool external_links;
	const char *checked_rules; /* --check-rules, for which all files are inputs; NULL: a package is linked */
	const char *described; /* --signature-of; NULL: none */
	bool verbose; /* --verbose, or GLOG_v of the environment */
	const char *report; /* --report; NULL: none */
	const char *version_script, *ordering_file; /* NULL: none */
	const char *extractions_file; /* --why-extract; NULL: none */
	const char *sysroot; /* NULL: none */
	const char *emulation; /* -m; NULL: the objects' own */
	bool shared; /* -shared, which is true of every package */
	bool discard_locals; /* -x */
	bool no_delete; /* -z nodelete */
	const char *soname, *map_file, *dependency_file, *header; /* NULL: none */
	const char *weights; /* --weights; NULL: constants are in the package */
	bool relocatable; /* -r */
	bool embed; /* also put the package into the header */
	bool check; /* --check: no file is written */
	const char *time_trace; /* --time-trace=FILE; NULL: none */
	const char *reproduction; /* --repro; NULL: none */
	const char *root; /* --chroot: the root for absolute paths in files; NULL: the system's root */
	const char *private_key; /* --sign; NULL: none */
	bool task_entries, no_task_entries;
	bool allow_multiple_definition;
	bool trap; /* --unresolved-symbols=trap */
	sk_texts trapped; /* --unresolved-symbols=trap:NAME,NAME */
	bool warn_unresolved;
	bool isolate_objects; /* all */
	sk_texts isolated; /* --isolate-objects=PATTERN */
	bool no_demangle;
	bool no_standard_libraries; /* --nostdlib */
	bool cross_references; /* --cref */
	bool no_gc_sections; /* keep everything in the objects that take part */
	enum sk_icf icf;
	uint64_t isa; /* --isa: instruction sets that kernels chosen by operators may need */
	bool print_gc_sections, print_icf_sections, trace, statistics;
	bool strip_all, strip_debug;
	uint64_t max_page_size; /* -z max-page-size; 0: the architecture's */
	bool no_relro; /* -z norelro */
	bool compress_debug; /* --compress-debug-sections=zlib */
	bool fatal_warnings, no_warnings;
	enum sk_colour colour; /* --color-diagnostics */
	unsigned error_limit; /* 0: no limit */
	unsigned threads; /* at least 1 */
	bool help, version; /* requested: everything else is ignored */
};

/* Return false if the command line is wrong; the errors are in the sink. Also set the sink's options for messages. */
bool sk_command_parse(struct sk_arena *arena, struct sk_diag *diag, int argc, char **argv,
		      struct sk_command_line *command);

/* Return the option that leaves out debug information, as users write it; NULL: it is kept. */
const char *sk_command_strip_option(const struct sk_command_line *command);

/* A file to write. */
struct sk_command_output {
	const char *option; /* the option that asks for it */
	const char *path; /* NULL: not requested */
};

enum { SK_COMMAND_OUTPUTS = 11 };

void sk_command_list_outputs(const struct sk_command_line *command,
			     struct sk_command_output outputs[SK_COMMAND_OUTPUTS]);

/* Return the path to write the output to: the given path, or NULL if that is NULL or if --check forbids files. */
const char *sk_command_destination(const struct sk_command_line *command, const char *path);

/* ==== option.c ==== */

/* Print the text of --help, which is made of the table of options. */
void sk_command_print_help(struct sk_arena *arena, FILE *stream);

/* ==== configure.c ====
 *
 * Passes the command line on to the linker. Input: a parsed command. Output: a linker that is set up, and knows the
 * inputs and the package's other dependencies. */

/* Create a linker; the caller destroys it. timing may be NULL. lines: the stream that the linker prints to, which may
 * change later. */
struct sk_linker *sk_command_create_linker(const struct sk_command_line *command, struct sk_arena *arena,
					   struct sk_diag *diag, struct sk_timing *timing, FILE **lines);

/* Add the files that the linker does not read itself. */
void sk_command_add_dependencies(const struct sk_command_line *command, struct sk_linker *linker);

/* Let threads read the inputs while this one reads the manifest. */
void sk_command_read_ahead(const struct sk_command_line *command, struct sk_arena *arena, struct sk_linker *linker);

/* Add all inputs, in the order of the command line, and the symbols that it requires. Errors go to the sink. */
void sk_command_add_inputs(const struct sk_command_line *command, struct sk_linker *linker, struct sk_timing *timing);

/* Check that no output would replace a file that the linker has read. Return false after an error. */
bool sk_command_check_outputs(const struct sk_command_line *command, struct sk_diag *diag, struct sk_linker *linker);

/* ==== reproduction.c ====
 *
 * --repro: a tar archive with all files that a link has read, so that it can be repeated elsewhere. `tar xf FILE`, then
 * `sklink @response.txt` in its directory makes the same package or reports the same errors.
 *
 * Files have the same paths in the archive as on this machine, from the root on. Paths within files (of constants, of
 * members of thin archives) therefore still lead to them; --chroot=. handles absolute ones. */

/* Write the archive that the command asks for. flags: fusion flags from the environment, NULL if they are overridden.
 * Return false after an error in the sink. */
bool sk_reproduction_write(struct sk_diag *diag, const struct sk_command_line *command, const char *flags,
			   struct sk_linker *linker);

#endif
