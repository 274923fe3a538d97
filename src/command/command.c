/* The command line: one pass over the words, whose response files are expanded, with a table of options. */
#include "config.h"

#include "src/command/command.h"

#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/base/file.h"
#include "src/command/keywords.h"
#include "src/command/response.h"

enum { MAXIMUM_THREADS = 256, DEFAULT_MAXIMUM_THREADS = 8 };

struct words {
	sk_words list;
	struct sk_place place; /* of the one that is being read */
	struct sk_arena *arena;
	struct sk_diag *diag;
	struct sk_command_line *command;
};

/* What an option does with the struct sk_command_line field at `field`. */
enum action {
	SET_TEXT,
	SET_INPUT, /* a text, the path of a file to read */
	SET_OUTPUT, /* a text, the path of a file to write */
	SET_OPTIONAL_OUTPUT, /* "" where none follows behind "=" */
	SET_REPRODUCTION, /* a text that a reproduction does not repeat */
	ADD_TEXT,
	ADD_FOLDER, /* a text, the path of a folder to read from */
	SET_FLAG,
	CLEAR_FLAG,
	SET_NUMBER,
	SET_COMPRESSION,
	SET_KEYWORD,
	SET_COLOUR,
	CLEAR_COLOUR,
	SET_ICF,
	ADD_LIBRARY,
	ADD_OVERRIDE, /* of scope options */
	BEGIN_WHOLE,
	END_WHOLE,
};

#define FIELD(name) offsetof(struct sk_command_line, name)

static const struct option {
	const char *name; /* NULL: it has only a letter */
	const char *letter; /* "-o": the value may follow at once; NULL: none */
	enum action action;
	size_t field;
	unsigned minimum, maximum; /* of SET_NUMBER */
} options[] = {
	{"output", "o", SET_OUTPUT, FIELD(output)},
	{"library-path", "L", ADD_FOLDER, FIELD(search_paths)},
	{"library", "l", ADD_LIBRARY, 0},
	{"whole-archive", NULL, BEGIN_WHOLE, 0},
	{"no-whole-archive", NULL, END_WHOLE, 0},
	{"undefined", "u", ADD_TEXT, FIELD(required)},
	{"require-defined", NULL, ADD_TEXT, FIELD(required)},
	{"defsym", NULL, ADD_TEXT, FIELD(assignments)},
	{"wrap", NULL, ADD_TEXT, FIELD(wrapped)},
	{"allow-multiple-definition", NULL, SET_FLAG, FIELD(allow_multiple_definition)},
	{"version-script", NULL, SET_INPUT, FIELD(version_script)},
	{"isolate-objects", NULL, SET_FLAG, FIELD(isolate_objects)},
	{"icf", NULL, SET_ICF, 0},
	{"relocatable", "r", SET_FLAG, FIELD(relocatable)},
	{"soname", "h", SET_TEXT, FIELD(soname)},
	{NULL, "z", SET_KEYWORD, 0},
	{"sign", NULL, SET_TEXT, FIELD(private_key)},
	{"no-task-entries", NULL, SET_FLAG, FIELD(no_task_entries)},
	{"scope-options", NULL, ADD_OVERRIDE, 0},
	{"strip-all", "s", SET_FLAG, FIELD(strip_all)},
	{"strip-debug", "S", SET_FLAG, FIELD(strip_debug)},
	{"compress-debug-sections", NULL, SET_COMPRESSION, 0},
	{"gc-sections", NULL, CLEAR_FLAG, FIELD(no_gc_sections)},
	{"no-gc-sections", NULL, SET_FLAG, FIELD(no_gc_sections)},
	{"print-gc-sections", NULL, SET_FLAG, FIELD(print_gc_sections)},
	{"print-icf-sections", NULL, SET_FLAG, FIELD(print_icf_sections)},
	{"trace", "t", SET_FLAG, FIELD(trace)},
	{"trace-symbol", "y", ADD_TEXT, FIELD(traced_symbols)},
	{"cref", NULL, SET_FLAG, FIELD(cross_references)},
	{"header", NULL, SET_OUTPUT, FIELD(header)},
	{"embed", NULL, SET_FLAG, FIELD(embed)},
	{"Map", NULL, SET_OUTPUT, FIELD(map_file)},
	{"dependency-file", NULL, SET_OUTPUT, FIELD(dependency_file)},
	{"report", NULL, SET_OUTPUT, FIELD(report)},
	{"explain", NULL, ADD_TEXT, FIELD(explained)},
	{"repro", NULL, SET_REPRODUCTION, FIELD(reproduction)},
	{"chroot", NULL, SET_REPRODUCTION, FIELD(root)},
	{"stats", NULL, SET_FLAG, FIELD(statistics)},
	{"time-trace", NULL, SET_OPTIONAL_OUTPUT, FIELD(time_trace)},
	{"threads", "j", SET_NUMBER, FIELD(threads), 1, MAXIMUM_THREADS},
	{"error-limit", NULL, SET_NUMBER, FIELD(error_limit), 0, UINT32_MAX},
	{"fatal-warnings", NULL, SET_FLAG, FIELD(fatal_warnings)},
	{"no-fatal-warnings", NULL, CLEAR_FLAG, FIELD(fatal_warnings)},
	{"no-warnings", "w", SET_FLAG, FIELD(no_warnings)},
	{"color-diagnostics", NULL, SET_COLOUR, 0},
	{"no-color-diagnostics", NULL, CLEAR_COLOUR, 0},
	{"help", NULL, SET_FLAG, FIELD(help)},
	{"version", "v", SET_FLAG, FIELD(version)},
};

enum { OPTION_COUNT = sizeof(options) / sizeof(options[0]) };

enum arity { NO_VALUE, OPTIONAL_VALUE, VALUE };

static enum arity arity_of(const struct option *option)
{
	switch (option->action) {
	case SET_FLAG:
	case CLEAR_FLAG:
	case CLEAR_COLOUR:
	case BEGIN_WHOLE:
	case END_WHOLE:
		return NO_VALUE;
	case SET_OPTIONAL_OUTPUT:
	case SET_COLOUR:
		return OPTIONAL_VALUE;
	default:
		return VALUE;
	}
}

/* Finds the option of a word that starts with a dash, or NULL. *value is what stands in the word itself, or NULL. */
static const struct option *find_option(const char *word, const char **value)
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
		if (!word[2] || arity_of(&options[i]) == VALUE) {
			*value = word[2] ? word + 2 : NULL;
			return &options[i];
		}
	}
	return NULL;
}

/* As users write it. */
static const char *spelling(struct sk_arena *arena, const struct option *option)
{
	return option->name ? sk_arena_print(arena, "--%s", option->name)
			    : sk_arena_print(arena, "-%s", option->letter);
}

/* "; did you mean" the option whose letter is this one in the other case, or "". Any two letters are one edit apart, so
 * a wrong one says nothing else about what was meant. */
static const char *letter_in_other_case(const struct words *words, const char *word)
{
	for (unsigned i = 0; i < OPTION_COUNT; i++)
		if (options[i].letter && !strcasecmp(options[i].letter, word + 1))
			return sk_arena_print(words->arena, "; did you mean '-%s'?", options[i].letter);
	return "";
}

static const char *suggest_option(const struct words *words, const char *word)
{
	const char *names[OPTION_COUNT];
	size_t length = strcspn(word, "="), count = 0;
	const char *name = sk_arena_print(words->arena, "%s%.*s", word[1] == '-' ? "" : "-", (int)length, word);

	if (!word[2])
		return letter_in_other_case(words, word);
	for (unsigned i = 0; i < OPTION_COUNT; i++)
		if (options[i].name)
			names[count++] = spelling(words->arena, &options[i]);
	return sk_did_you_mean(words->arena, name, names, count);
}

static void unknown_option(struct words *words, const char *word)
{
	sk_error(words->diag, words->place, "unknown option '%s'%s", word, suggest_option(words, word));
}

static void set_number(struct words *words, const struct option *option, const char *value, unsigned *field)
{
	char *end;

	errno = 0;
	unsigned long number = strtoul(value, &end, 10);

	if (value[0] < '0' || value[0] > '9' || *end || errno || number < option->minimum || number > option->maximum)
		sk_error(words->diag, words->place, "--%s wants a number from %u to %u, not '%s'", option->name,
			 option->minimum, option->maximum, value);
	else
		*field = (unsigned)number;
}

/* The number of the value among the names, which end with NULL; that of NULL after an error. */
static unsigned choose(struct words *words, const char *option, const char *const *names, const char *wanted,
		       const char *value)
{
	unsigned i = 0;

	while (names[i] && strcmp(names[i], value))
		i++;
	if (!names[i])
		sk_error(words->diag, words->place, "--%s wants %s, not '%s'", option, wanted, value);
	return i;
}

static void set_compression(struct words *words, const char *value)
{
	static const char *const names[] = {"none", "zlib", NULL};

	words->command->compress_debug = choose(words, "compress-debug-sections", names, "none or zlib", value) == 1;
}

static void set_colour(struct words *words, const char *value)
{
	static const char *const names[] = {
		[SK_COLOUR_AUTOMATIC] = "auto", [SK_COLOUR_ALWAYS] = "always", [SK_COLOUR_NEVER] = "never", NULL};

	words->command->colour =
		(enum sk_colour)choose(words, "color-diagnostics", names, "auto, always or never", value);
}

static void set_icf(struct words *words, const char *value)
{
	static const char *const names[] = {[SK_ICF_NONE] = "none", [SK_ICF_SAFE] = "safe", [SK_ICF_ALL] = "all", NULL};

	words->command->icf = (enum sk_icf)choose(words, "icf", names, "none, safe or all", value);
}

/* `source` stands in messages where a file does. */
static void add_override(struct words *words, const char *source, const char *text)
{
	const struct sk_place *origin = sk_place_keep(words->arena, words->place);
	struct sk_place place = {.file = source, .line = 1, .column = 1, .origin = origin};

	sk_array_push(words->arena, &words->command->scope_options, (struct sk_name){text, place});
}

static void apply(struct words *words, const struct option *option, const char *value, bool *whole)
{
	struct sk_command_line *command = words->command;
	char *field = (char *)command + option->field;

	switch (option->action) {
	case SET_TEXT:
	case SET_INPUT:
	case SET_OUTPUT:
	case SET_REPRODUCTION:
		*(const char **)field = value;
		break;
	case SET_OPTIONAL_OUTPUT:
		*(const char **)field = value ? value : "";
		break;
	case ADD_TEXT:
	case ADD_FOLDER:
		sk_array_push(words->arena, (sk_texts *)field, value);
		break;
	case SET_FLAG:
	case CLEAR_FLAG:
		*(bool *)field = option->action == SET_FLAG;
		break;
	case SET_NUMBER:
		set_number(words, option, value, (unsigned *)field);
		break;
	case SET_COMPRESSION:
		set_compression(words, value);
		break;
	case SET_KEYWORD:
		sk_keyword_apply(words->diag, words->place, value, command);
		break;
	case SET_COLOUR:
		set_colour(words, value ? value : "always");
		break;
	case CLEAR_COLOUR:
		command->colour = SK_COLOUR_NEVER;
		break;
	case SET_ICF:
		set_icf(words, value);
		break;
	case ADD_LIBRARY:
		sk_array_push(words->arena, &command->inputs, (struct sk_command_input){value, true, *whole});
		break;
	case ADD_OVERRIDE:
		add_override(words, "--scope-options", value);
		break;
	case BEGIN_WHOLE:
	case END_WHOLE:
		*whole = option->action == BEGIN_WHOLE;
		break;
	}
}

/* For --repro. */
static void record(struct words *words, const struct option *option, const char *value)
{
	const char *head =
		sk_arena_print(words->arena, "%s%s", spelling(words->arena, option), value && option->name ? "=" : "");
	struct sk_command_word word = {head, value, SK_WORD_PLAIN};

	if (option->action == SET_REPRODUCTION)
		return;
	if (option->action == SET_INPUT || option->action == ADD_FOLDER)
		word.kind = SK_WORD_INPUT;
	else if (option->action == SET_OUTPUT || option->action == SET_OPTIONAL_OUTPUT)
		word.kind = SK_WORD_OUTPUT;
	sk_array_push(words->arena, &words->command->words, word);
}

static void add_operand(struct words *words, const char *word, bool whole)
{
	struct sk_command_line *command = words->command;

	sk_array_push(words->arena, &command->words, (struct sk_command_word){NULL, word, SK_WORD_INPUT});
	if (!*word)
		sk_error(words->diag, words->place, "an argument is empty; it should be the path of a file");
	else if (!command->manifest)
		command->manifest = word;
	else
		sk_array_push(words->arena, &command->inputs, (struct sk_command_input){word, false, whole});
}

/* A letter says little about what it wants: -h is help elsewhere. */
static void refuse_missing_value(struct words *words, const struct option *option, const char *word)
{
	bool letter = word[1] != '-' && !word[2] && option->name;

	sk_error(words->diag, words->place, "option '%s' wants a value%s%s%s", word, letter ? " (--" : "",
		 letter ? option->name : "", letter ? "); try 'sklink --help'" : "");
}

static void interpret(struct words *words)
{
	bool whole = false, operands_only = false;

	for (size_t i = 0; i < words->list.count; i++) {
		const char *word = words->list.items[i].text, *value;

		words->place = words->list.items[i].place;
		if (operands_only || word[0] != '-' || !word[1]) {
			add_operand(words, word, whole);
			continue;
		}
		if (!strcmp(word, "--")) {
			operands_only = true;
			continue;
		}

		const struct option *option = find_option(word, &value);
		enum arity arity = option ? arity_of(option) : NO_VALUE;

		if (arity == VALUE && !value && i + 1 < words->list.count)
			value = words->list.items[++i].text;
		if (!option)
			unknown_option(words, word);
		else if (value && arity == NO_VALUE)
			sk_error(words->diag, words->place, "option '--%s' takes no value", option->name);
		else if (value ? !*value : arity == VALUE)
			refuse_missing_value(words, option, word);
		else {
			apply(words, option, value, &whole);
			record(words, option, value);
		}
	}
}

/* The processors that this process may use, but not so many that the threads would only wait for memory. */
static unsigned default_threads(void)
{
	cpu_set_t processors;

	if (sched_getaffinity(0, sizeof(processors), &processors) < 0) /* there are more than a set can hold */
		return DEFAULT_MAXIMUM_THREADS;
	int count = CPU_COUNT(&processors);
	return count > DEFAULT_MAXIMUM_THREADS ? DEFAULT_MAXIMUM_THREADS : (unsigned)count;
}

void sk_command_list_outputs(const struct sk_command_line *command,
			     struct sk_command_output outputs[SK_COMMAND_OUTPUTS])
{
	const struct sk_command_output all[SK_COMMAND_OUTPUTS] = {
		{"-o", command->output},
		{"-Map", command->map_file},
		{"--dependency-file", command->dependency_file},
		{"--header", command->header},
		{"--report", command->report},
		{"--repro", command->reproduction},
		{"--time-trace", command->time_trace},
	};

	memcpy(outputs, all, sizeof(all));
}

/* Each file is replaced as a whole: the last one to be written would be what remains. */
static void check_outputs(struct sk_diag *diag, const struct sk_command_line *command)
{
	struct sk_command_output outputs[SK_COMMAND_OUTPUTS];

	sk_command_list_outputs(command, outputs);
	for (int i = 0; i < SK_COMMAND_OUTPUTS; i++)
		for (int j = 0; j < i; j++)
			if (outputs[i].path && outputs[j].path && sk_file_same(outputs[i].path, outputs[j].path))
				sk_error(diag, (struct sk_place){.file = outputs[i].path},
					 "is what both %s and %s would write; give each a file of its own",
					 outputs[j].option, outputs[i].option);
}

/* What options want of one another. */
static void check(struct sk_diag *diag, const struct sk_command_line *command)
{
	struct sk_place nowhere = {0};

	if (!command->manifest)
		sk_error(diag, nowhere, "no manifest given; try 'sklink --help'");
	else if (!command->output)
		sk_error(diag, nowhere, "no output given; say -o PACKAGE");
	if (command->embed && !command->header)
		sk_error(diag, nowhere, "--embed puts the package into a header; say --header=FILE");
	if (command->embed && command->relocatable)
		sk_error(diag, nowhere,
			 "--embed wants a package that can be loaded, and -r makes one that is linked into the "
			 "program");
	if (command->private_key && command->relocatable)
		sk_error(diag, nowhere,
			 "--sign is for packages that are loaded; what -r makes is signed with the program");
	if (command->private_key && command->reproduction)
		sk_error(diag, nowhere,
			 "--repro would put the key of --sign into the archive; reproduce the link without it");
	if (command->version_script && command->relocatable)
		sk_error(diag, nowhere,
			 "--version-script says what a package exports; with -r, tell the linker of the program");
	check_outputs(diag, command);
}

const char *sk_command_strip_option(const struct sk_command_line *command)
{
	return command->strip_all ? "-s" : command->strip_debug ? "-S" : NULL;
}

/* The command line, which comes later, overrides the environment. */
static void add_environment(struct words *words)
{
	const char *text = getenv("SKLINK_SCOPE_OPTIONS");

	if (!text)
		return;
	add_override(words, "SKLINK_SCOPE_OPTIONS", text);
	/* A link that repeats this one has not got the environment. */
	sk_array_push(words->arena, &words->command->words, (struct sk_command_word){"--scope-options=", text});
}

bool sk_command_parse(struct sk_arena *arena, struct sk_diag *diag, int argc, char **argv,
		      struct sk_command_line *command)
{
	struct words words = {.arena = arena, .diag = diag, .command = command};
	unsigned errors = diag->errors;

	*command = (struct sk_command_line){.error_limit = 20, .threads = default_threads()};
	add_environment(&words);
	words.list = sk_response_expand(arena, diag, argc, argv, &command->response_files);
	interpret(&words);
	diag->fatal_warnings = command->fatal_warnings;
	diag->no_warnings = command->no_warnings;
	diag->colour = command->colour;
	if (command->time_trace && !*command->time_trace && command->output)
		command->time_trace = sk_arena_print(arena, "%s.time-trace", command->output);
	if (diag->errors == errors && !command->help && !command->version)
		check(diag, command);
	return diag->errors == errors;
}
