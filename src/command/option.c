/* The table of options; see option.h. A new one has its row here, its line in help.c, and its paragraph in sklink(1).
 */
#include "src/command/option.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "src/command/command.h"

enum { MAXIMUM_THREADS = 256 };

#define FIELD(name) offsetof(struct sk_command_line, name)

static const struct sk_option options[] = {
	{"output", "o", SK_OPTION_SET_OUTPUT, FIELD(output)},
	{"library-path", "L", SK_OPTION_ADD_FOLDER, FIELD(search_paths)},
	{"library", "l", SK_OPTION_ADD_LIBRARY, 0},
	{"whole-archive", NULL, SK_OPTION_BEGIN_WHOLE, 0},
	{"no-whole-archive", NULL, SK_OPTION_END_WHOLE, 0},
	{"undefined", "u", SK_OPTION_ADD_TEXT, FIELD(required)},
	{"require-defined", NULL, SK_OPTION_ADD_TEXT, FIELD(required)},
	{"defsym", NULL, SK_OPTION_ADD_TEXT, FIELD(assignments)},
	{"wrap", NULL, SK_OPTION_ADD_TEXT, FIELD(wrapped)},
	{"allow-multiple-definition", NULL, SK_OPTION_SET_FLAG, FIELD(allow_multiple_definition)},
	{"version-script", NULL, SK_OPTION_SET_INPUT, FIELD(version_script)},
	{"isolate-objects", NULL, SK_OPTION_SET_FLAG, FIELD(isolate_objects)},
	{"icf", NULL, SK_OPTION_SET_ICF, 0},
	{"relocatable", "r", SK_OPTION_SET_FLAG, FIELD(relocatable)},
	{"soname", "h", SK_OPTION_SET_TEXT, FIELD(soname)},
	{NULL, "z", SK_OPTION_SET_KEYWORD, 0},
	{"sign", NULL, SK_OPTION_SET_TEXT, FIELD(private_key)},
	{"no-task-entries", NULL, SK_OPTION_SET_FLAG, FIELD(no_task_entries)},
	{"scope-options", NULL, SK_OPTION_ADD_OVERRIDE, 0},
	{"strip-all", "s", SK_OPTION_SET_FLAG, FIELD(strip_all)},
	{"strip-debug", "S", SK_OPTION_SET_FLAG, FIELD(strip_debug)},
	{"compress-debug-sections", NULL, SK_OPTION_SET_COMPRESSION, 0},
	{"gc-sections", NULL, SK_OPTION_CLEAR_FLAG, FIELD(no_gc_sections)},
	{"no-gc-sections", NULL, SK_OPTION_SET_FLAG, FIELD(no_gc_sections)},
	{"print-gc-sections", NULL, SK_OPTION_SET_FLAG, FIELD(print_gc_sections)},
	{"print-icf-sections", NULL, SK_OPTION_SET_FLAG, FIELD(print_icf_sections)},
	{"trace", "t", SK_OPTION_SET_FLAG, FIELD(trace)},
	{"trace-symbol", "y", SK_OPTION_ADD_TEXT, FIELD(traced_symbols)},
	{"cref", NULL, SK_OPTION_SET_FLAG, FIELD(cross_references)},
	{"header", NULL, SK_OPTION_SET_OUTPUT, FIELD(header)},
	{"embed", NULL, SK_OPTION_SET_FLAG, FIELD(embed)},
	{"Map", NULL, SK_OPTION_SET_OUTPUT, FIELD(map_file)},
	{"dependency-file", NULL, SK_OPTION_SET_OUTPUT, FIELD(dependency_file)},
	{"report", NULL, SK_OPTION_SET_OUTPUT, FIELD(report)},
	{"explain", NULL, SK_OPTION_ADD_TEXT, FIELD(explained)},
	{"repro", NULL, SK_OPTION_SET_REPRODUCTION, FIELD(reproduction)},
	{"chroot", NULL, SK_OPTION_SET_REPRODUCTION, FIELD(root)},
	{"stats", NULL, SK_OPTION_SET_FLAG, FIELD(statistics)},
	{"time-trace", NULL, SK_OPTION_SET_OPTIONAL_OUTPUT, FIELD(time_trace)},
	{"threads", "j", SK_OPTION_SET_NUMBER, FIELD(threads), 1, MAXIMUM_THREADS},
	{"error-limit", NULL, SK_OPTION_SET_NUMBER, FIELD(error_limit), 0, UINT32_MAX},
	{"fatal-warnings", NULL, SK_OPTION_SET_FLAG, FIELD(fatal_warnings)},
	{"no-fatal-warnings", NULL, SK_OPTION_CLEAR_FLAG, FIELD(fatal_warnings)},
	{"no-warnings", "w", SK_OPTION_SET_FLAG, FIELD(no_warnings)},
	{"color-diagnostics", NULL, SK_OPTION_SET_COLOUR, 0},
	{"no-color-diagnostics", NULL, SK_OPTION_CLEAR_COLOUR, 0},
	{"help", NULL, SK_OPTION_SET_FLAG, FIELD(help)},
	{"version", "v", SK_OPTION_SET_FLAG, FIELD(version)},
};

enum { OPTION_COUNT = sizeof(options) / sizeof(options[0]) };

enum sk_option_arity sk_option_arity(const struct sk_option *option)
{
	switch (option->action) {
	case SK_OPTION_SET_FLAG:
	case SK_OPTION_CLEAR_FLAG:
	case SK_OPTION_CLEAR_COLOUR:
	case SK_OPTION_BEGIN_WHOLE:
	case SK_OPTION_END_WHOLE:
		return SK_OPTION_NO_VALUE;
	case SK_OPTION_SET_OPTIONAL_OUTPUT:
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
