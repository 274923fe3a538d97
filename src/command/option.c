/* The table of options; see command-parts.h. A new one has its row here, its line in help.c, and its paragraph in
 * sklink(1).
 */
#include "src/command/command-parts.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/diag.h"
#include "src/command/command.h"

enum { MAXIMUM_THREADS = 256 };

#define FIELD(name) offsetof(struct sk_command_line, name)

static const struct sk_option_value levels[] = {{"0", NULL}, {"1", NULL}, {"2", NULL}, {"3", NULL}, {NULL, NULL}};
static const struct sk_option_value hash_styles[] = {{"sysv", NULL}, {"gnu", NULL}, {"both", NULL}, {NULL, NULL}};
static const struct sk_option_value build_ids[] = {
	{"fast", NULL},
	{"md5", NULL},
	{"sha1", NULL},
	{"sha256", NULL},
	{"tree", NULL},
	{"uuid", "the build-id is a hash of the package, so that equal links make equal packages"},
	{"none", "every package has a build-id, by which perf and debuggers know it"},
	{NULL, NULL},
};

static const struct sk_option options[] = {
	{"output", "o", SK_OPTION_SET_OUTPUT, FIELD(output)},
	{"library-path", "L", SK_OPTION_ADD_FOLDER, FIELD(search_paths)},
	{"nostdlib", NULL, SK_OPTION_SET_FLAG, FIELD(no_standard_libraries)},
	{"sysroot", NULL, SK_OPTION_SET_REPRODUCTION, FIELD(sysroot)},
	{"library", "l", SK_OPTION_ADD_LIBRARY, 0},
	{"whole-archive", NULL, SK_OPTION_BEGIN_WHOLE, 0},
	{"no-whole-archive", NULL, SK_OPTION_END_WHOLE, 0},
	{"undefined", "u", SK_OPTION_ADD_TEXT, FIELD(required)},
	{"require-defined", NULL, SK_OPTION_ADD_TEXT, FIELD(required)},
	{"defsym", NULL, SK_OPTION_ADD_TEXT, FIELD(assignments)},
	{"ifunc", NULL, SK_OPTION_ADD_TEXT, FIELD(ifuncs)},
	{"wrap", NULL, SK_OPTION_ADD_TEXT, FIELD(wrapped)},
	{"allow-multiple-definition", NULL, SK_OPTION_SET_FLAG, FIELD(allow_multiple_definition)},
	{"unresolved-symbols", NULL, SK_OPTION_SET_UNRESOLVED, 0},
	{"warn-unresolved-symbols", NULL, SK_OPTION_SET_FLAG, FIELD(warn_unresolved)},
	{"error-unresolved-symbols", NULL, SK_OPTION_CLEAR_FLAG, FIELD(warn_unresolved)},
	{"version-script", NULL, SK_OPTION_SET_INPUT, FIELD(version_script)},
	{"symbol-ordering-file", NULL, SK_OPTION_SET_INPUT, FIELD(ordering_file)},
	{"isolate-objects", NULL, SK_OPTION_SET_FLAG, FIELD(isolate_objects)},
	{"icf", NULL, SK_OPTION_SET_ICF, 0},
	{"isa", NULL, SK_OPTION_SET_ISA, 0},
	{"relocatable", "r", SK_OPTION_SET_FLAG, FIELD(relocatable)},
	{"shared", NULL, SK_OPTION_SET_FLAG, FIELD(shared)},
	{NULL, "m", SK_OPTION_SET_TEXT, FIELD(emulation)},
	{"soname", "h", SK_OPTION_SET_TEXT, FIELD(soname)},
	{NULL, "z", SK_OPTION_SET_KEYWORD, 0},
	{"sign", NULL, SK_OPTION_SET_TEXT, FIELD(private_key)},
	{"task-entries", NULL, SK_OPTION_SET_FLAG, FIELD(task_entries)},
	{"no-task-entries", NULL, SK_OPTION_SET_FLAG, FIELD(no_task_entries)},
	{"scope-options", NULL, SK_OPTION_ADD_OVERRIDE, 0},
	{"strip-all", "s", SK_OPTION_SET_FLAG, FIELD(strip_all)},
	{"strip-debug", "S", SK_OPTION_SET_FLAG, FIELD(strip_debug)},
	{"discard-all", "x", SK_OPTION_SET_FLAG, FIELD(discard_locals)},
	{"compress-debug-sections", NULL, SK_OPTION_SET_COMPRESSION, 0},
	{"gc-sections", NULL, SK_OPTION_CLEAR_FLAG, FIELD(no_gc_sections)},
	{"no-gc-sections", NULL, SK_OPTION_SET_FLAG, FIELD(no_gc_sections)},
	{"print-gc-sections", NULL, SK_OPTION_SET_FLAG, FIELD(print_gc_sections)},
	{"print-icf-sections", NULL, SK_OPTION_SET_FLAG, FIELD(print_icf_sections)},
	{"trace", "t", SK_OPTION_SET_FLAG, FIELD(trace)},
	{"trace-symbol", "y", SK_OPTION_ADD_TEXT, FIELD(traced_symbols)},
	{"why-live", NULL, SK_OPTION_ADD_TEXT, FIELD(asked_symbols)},
	{"why-extract", NULL, SK_OPTION_SET_OUTPUT, FIELD(extractions_file)},
	{"cref", NULL, SK_OPTION_SET_FLAG, FIELD(cross_references)},
	{"header", NULL, SK_OPTION_SET_OUTPUT, FIELD(header)},
	{"weights", NULL, SK_OPTION_SET_OUTPUT, FIELD(weights)},
	{"embed", NULL, SK_OPTION_SET_FLAG, FIELD(embed)},
	{"Map", NULL, SK_OPTION_SET_OUTPUT, FIELD(map_file)},
	{"print-map", "M", SK_OPTION_SET_STANDARD_OUTPUT, FIELD(map_file)},
	{"dependency-file", NULL, SK_OPTION_SET_OUTPUT, FIELD(dependency_file)},
	{"report", NULL, SK_OPTION_SET_OUTPUT, FIELD(report)},
	{"explain", NULL, SK_OPTION_ADD_TEXT, FIELD(explained)},
	{"shape", NULL, SK_OPTION_ADD_TEXT, FIELD(shapes)},
	{"dim", NULL, SK_OPTION_ADD_TEXT, FIELD(dimensions)},
	{"freeze", NULL, SK_OPTION_ADD_TEXT, FIELD(frozen)},
	{"scope", NULL, SK_OPTION_ADD_TEXT, FIELD(scopes)},
	{"model-text", NULL, SK_OPTION_SET_OUTPUT, FIELD(model_text)},
	{"keep", NULL, SK_OPTION_ADD_TEXT, FIELD(kept)},
	{"dump-dir", NULL, SK_OPTION_SET_OUTPUT, FIELD(dump_folder)},
	{"state", NULL, SK_OPTION_ADD_TEXT, FIELD(states)},
	{"allow-external-links", NULL, SK_OPTION_SET_FLAG, FIELD(external_links)},
	{"fusion-flags", NULL, SK_OPTION_SET_ANY_TEXT, FIELD(fusion_flags)},
	{"fusion-target", NULL, SK_OPTION_SET_TEXT, FIELD(fusion_target)},
	{"fusion-switch-file", NULL, SK_OPTION_SET_INPUT, FIELD(switches)},
	{"fusion-result", NULL, SK_OPTION_SET_OUTPUT, FIELD(fusion_result)},
	{"rules", NULL, SK_OPTION_ADD_INPUT, FIELD(rules)},
	{"check-rules", NULL, SK_OPTION_SET_INPUT, FIELD(checked_rules)},
	{"no-pattern-fusion", NULL, SK_OPTION_SET_FLAG, FIELD(no_pattern_fusion)},
	{"verbose", NULL, SK_OPTION_SET_FLAG, FIELD(verbose)},
	{"repro", NULL, SK_OPTION_SET_REPRODUCTION, FIELD(reproduction)},
	{"chroot", NULL, SK_OPTION_SET_REPRODUCTION, FIELD(root)},
	{"check", NULL, SK_OPTION_SET_FLAG, FIELD(check)},
	{"stats", NULL, SK_OPTION_SET_FLAG, FIELD(statistics)},
	{"time-trace", NULL, SK_OPTION_SET_OPTIONAL_OUTPUT, FIELD(time_trace)},
	{"threads", NULL, SK_OPTION_SET_THREADS, FIELD(threads), 1, MAXIMUM_THREADS},
	{NULL, "j", SK_OPTION_SET_NUMBER, FIELD(threads), 1, MAXIMUM_THREADS},
	{"error-limit", NULL, SK_OPTION_SET_NUMBER, FIELD(error_limit), 0, UINT32_MAX},
	{"fatal-warnings", NULL, SK_OPTION_SET_FLAG, FIELD(fatal_warnings)},
	{"no-fatal-warnings", NULL, SK_OPTION_CLEAR_FLAG, FIELD(fatal_warnings)},
	{"no-warnings", "w", SK_OPTION_SET_FLAG, FIELD(no_warnings)},
	{"demangle", NULL, SK_OPTION_CLEAR_FLAG, FIELD(no_demangle)},
	{"no-demangle", NULL, SK_OPTION_SET_FLAG, FIELD(no_demangle)},
	{"color-diagnostics", NULL, SK_OPTION_SET_COLOUR, 0},
	{"no-color-diagnostics", NULL, SK_OPTION_CLEAR_COLOUR, 0},
	{"help", NULL, SK_OPTION_SET_FLAG, FIELD(help)},
	{"version", "v", SK_OPTION_SET_FLAG, FIELD(version)},

	/* Everybody's builds pass these. sklink(1) says of each why it changes nothing here. */
	{NULL, "O", SK_OPTION_ACCEPT_VALUE, .values = levels},
	{"build-id", NULL, SK_OPTION_ACCEPT_OPTIONAL_VALUE, .values = build_ids},
	{"hash-style", NULL, SK_OPTION_ACCEPT_VALUE, .values = hash_styles},
	{"eh-frame-hdr", NULL, SK_OPTION_ACCEPT, 0},
	{"no-undefined", NULL, SK_OPTION_ACCEPT, 0},
	{"Bsymbolic", NULL, SK_OPTION_ACCEPT, 0},
	{"Bsymbolic-functions", NULL, SK_OPTION_ACCEPT, 0},
	{"start-group", "(", SK_OPTION_ACCEPT, 0},
	{"end-group", ")", SK_OPTION_ACCEPT, 0},
	{"Bstatic", NULL, SK_OPTION_ACCEPT, 0},
	{"Bdynamic", NULL, SK_OPTION_ACCEPT, 0},
	{"as-needed", NULL, SK_OPTION_ACCEPT, 0},
	{"no-as-needed", NULL, SK_OPTION_ACCEPT, 0},
	{"allow-shlib-undefined", NULL, SK_OPTION_ACCEPT, 0},
	{"no-allow-shlib-undefined", NULL, SK_OPTION_ACCEPT, 0},
	{"rpath-link", NULL, SK_OPTION_ACCEPT_VALUE, 0},
	{"enable-new-dtags", NULL, SK_OPTION_ACCEPT, 0},
	{"disable-new-dtags", NULL, SK_OPTION_ACCEPT, 0},
	{"sort-common", NULL, SK_OPTION_ACCEPT, 0},
	{"copy-dt-needed-entries", NULL, SK_OPTION_ACCEPT, 0},
	{"no-copy-dt-needed-entries", NULL, SK_OPTION_ACCEPT, 0},

	/* These would be lies. */
	{"pie", NULL, SK_OPTION_REFUSE, .refusal = "a package is a shared object, and no program"},
	{"no-pie", NULL, SK_OPTION_REFUSE, .refusal = "a package is a shared object, which has no fixed address"},
	{"static", NULL, SK_OPTION_REFUSE, .refusal = "a package imports functions of the C library"},
	{"entry", "e", SK_OPTION_REFUSE, .refusal = "the entries of a package are those of its launches"},
	{"dynamic-linker", NULL, SK_OPTION_REFUSE, .refusal = "a package is no program, and names no loader"},
	{"rpath", NULL, SK_OPTION_REFUSE,
	 .refusal = "a package needs no libraries but those of the C library, which every process has"},
	{"script", "T", SK_OPTION_REFUSE, .refusal = "what lies where in a package is settled"},
	{"export-dynamic", "E", SK_OPTION_REFUSE, .refusal = "--version-script names what a package exports"},
	{"dynamic-list", NULL, SK_OPTION_REFUSE, .refusal = "--version-script names what a package exports"},
	{"no-eh-frame-hdr", NULL, SK_OPTION_REFUSE, .refusal = "debuggers and exceptions find unwind tables by it"},
	{"emit-relocs", "q", SK_OPTION_REFUSE, .refusal = "only -r keeps relocations"},
};

enum { OPTION_COUNT = sizeof(options) / sizeof(options[0]) };

enum sk_option_arity sk_option_arity(const struct sk_option *option)
{
	switch (option->action) {
	case SK_OPTION_SET_STANDARD_OUTPUT:
	case SK_OPTION_SET_FLAG:
	case SK_OPTION_CLEAR_FLAG:
	case SK_OPTION_CLEAR_COLOUR:
	case SK_OPTION_BEGIN_WHOLE:
	case SK_OPTION_END_WHOLE:
	case SK_OPTION_ACCEPT:
		return SK_OPTION_NO_VALUE;
	case SK_OPTION_SET_OPTIONAL_OUTPUT:
	case SK_OPTION_SET_THREADS:
	case SK_OPTION_ACCEPT_OPTIONAL_VALUE:
	case SK_OPTION_REFUSE:
	case SK_OPTION_SET_COLOUR:
		return SK_OPTION_OPTIONAL_VALUE;
	default:
		return SK_OPTION_VALUE;
	}
}

const struct sk_option *sk_option_find(const char *word, const char **value)
{
	const char *name = word + 1 + (word[1] == '-');
	size_t length = strcspn(name, "=");

	*value = NULL;
	for (unsigned i = 0; i < OPTION_COUNT; i++) {
		if (options[i].name && strlen(options[i].name) == length && !strncmp(options[i].name, name, length)) {
			*value = name[length] ? name + length + 1 : NULL;
			return &options[i];
		}
	}
	for (unsigned i = 0; i < OPTION_COUNT; i++) {
		if (word[1] == '-' || !options[i].letter || word[1] != *options[i].letter)
			continue;
		if (!word[2] || sk_option_arity(&options[i]) == SK_OPTION_VALUE) {
			*value = word[2] ? word + 2 : NULL;
			return &options[i];
		}
	}
	return NULL;
}

const char *sk_option_spelling(struct sk_arena *arena, const struct sk_option *option)
{
	return option->name ? sk_arena_print(arena, "--%s", option->name)
			    : sk_arena_print(arena, "-%s", option->letter);
}

/* "; did you mean" the option whose letter is this one in the other case, or "". Any two letters are one edit apart, so
 * a wrong one says nothing else about what was meant. */
static const char *letter_in_other_case(struct sk_arena *arena, const char *word)
{
	for (unsigned i = 0; i < OPTION_COUNT; i++)
		if (options[i].letter && !strcasecmp(options[i].letter, word + 1))
			return sk_arena_print(arena, "; did you mean '-%s'?", options[i].letter);
	return "";
}

const char *sk_option_suggest(struct sk_arena *arena, const char *word)
{
	const char *names[OPTION_COUNT];
	size_t length = strcspn(word, "="), count = 0;
	const char *name = sk_arena_print(arena, "%s%.*s", word[1] == '-' ? "" : "-", (int)length, word);

	if (!word[2])
		return letter_in_other_case(arena, word);
	for (unsigned i = 0; i < OPTION_COUNT; i++)
		if (options[i].name)
			names[count++] = sk_option_spelling(arena, &options[i]);
	return sk_did_you_mean(arena, name, names, count);
}
