/* The command line. One pass over the words, after expanding response files (response.c), interprets each as an operand
 * or an option (option.c). Then options are checked against each other. */
#include "config.h"

#include "src/command/command.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/file.h"
#include "format/plan/isa.h"
#include "linker/linker.h"
#include "src/command/command-parts.h"

enum { DEFAULT_MAXIMUM_THREADS = 8 };

struct words {
	sk_words list;
	struct sk_place place; /* of the current word */
	struct sk_arena *arena;
	struct sk_diag *diag;
	struct sk_command_line *command;
};

static void set_number(struct words *words, const struct sk_option *option, const char *value, unsigned *field)
{
	char *end;

	errno = 0;
	unsigned long number = strtoul(value, &end, 10);

	if (value[0] < '0' || value[0] > '9' || *end || errno || number < option->minimum || number > option->maximum)
		sk_error(words->diag, words->place, "%s wants a number from %u to %u, not '%s'",
			 sk_option_spelling(words->arena, option), option->minimum, option->maximum, value);
	else
		*field = (unsigned)number;
}

/* Return the number of the value among the names, which end with NULL; after an error, the number of that NULL. */
static unsigned choose_name(struct words *words, const char *option, const char *const *names, const char *wanted,
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

	words->command->compress_debug =
		choose_name(words, "compress-debug-sections", names, "none or zlib", value) == 1;
}

static void set_colour(struct words *words, const char *value)
{
	static const char *const names[] = {
		[SK_COLOUR_AUTOMATIC] = "auto", [SK_COLOUR_ALWAYS] = "always", [SK_COLOUR_NEVER] = "never", NULL};

	words->command->colour =
		(enum sk_colour)choose_name(words, "color-diagnostics", names, "auto, always or never", value);
}

static void set_icf(struct words *words, const char *value)
{
	static const char *const names[] = {[SK_ICF_NONE] = "none", [SK_ICF_SAFE] = "safe", [SK_ICF_ALL] = "all", NULL};

	words->command->icf = (enum sk_icf)choose_name(words, "icf", names, "none, safe or all", value);
}

/* Select this machine's instruction sets, or the named ones. */
static void set_isa(struct words *words, const char *value)
{
	const char *unknown, *name;
	size_t length;
	uint64_t set = !strcmp(value, "native") ? sk_isa_of_processor() : sk_isa_find_all(value, &unknown, &length);

	if (set) {
		words->command->isa = sk_isa_expand(set);
		return;
	}
	name = sk_arena_copy(words->arena, unknown, length);
	sk_error(words->diag, words->place, "--isa does not know '%s'%s", name,
		 sk_did_you_mean(words->arena, name, sk_isa_names, sk_isa_name_count));
}

/* Add the names of "trap:NAME,NAME". */
static void add_trapped(struct words *words, const char *names)
{
	for (size_t length;; names += length + 1) {
		length = strcspn(names, ",");
		if (!length) {
			sk_error(words->diag, words->place, "--unresolved-symbols=trap: a name is empty");
			return;
		}
		sk_array_push(words->arena, &words->command->trapped, sk_arena_copy(words->arena, names, length));
		if (!names[length])
			return;
	}
}

/* Accept ld's values, and traps. Names accumulate; otherwise the last value counts. */
static void set_unresolved(struct words *words, const char *value)
{
	static const char with_names[] = "trap:";
	struct sk_command_line *command = words->command;
	bool kept = !strcmp(value, "report-all") || !strcmp(value, "ignore-in-shared-libs");

	if (!strncmp(value, with_names, strlen(with_names))) {
		add_trapped(words, value + strlen(with_names));
	} else if (kept || !strcmp(value, "trap")) {
		command->trap = !kept;
		command->trapped.count = 0;
	} else if (!strcmp(value, "ignore-all") || !strcmp(value, "ignore-in-object-files")) {
		sk_error(words->diag, words->place,
			 "--unresolved-symbols=%s: calls would lead nowhere; --unresolved-symbols=trap lets them end "
			 "the launch and name the missing symbol",
			 value);
	} else {
		sk_error(words->diag, words->place,
			 "--unresolved-symbols wants report-all, ignore-in-shared-libs, trap or trap:NAME,NAME, not "
			 "'%s'",
			 value);
	}
}

static void add_isolated(struct words *words, const char *pattern)
{
	if (!pattern)
		words->command->isolate_objects = true;
	else if (*pattern)
		sk_array_push(words->arena, &words->command->isolated, pattern);
	else
		sk_error(words->diag, words->place, "--isolate-objects=: the pattern is empty");
}

/* Return "fast, md5 or tree": the accepted values. */
static const char *list_values(struct sk_arena *arena, const struct sk_option_value *values)
{
	const char *list = "", *last = NULL;

	for (; values->text; values++) {
		if (values->refusal)
			continue;
		if (last)
			list = sk_arena_print(arena, "%s%s%s", list, *list ? ", " : "", last);
		last = values->text;
	}
	return sk_arena_print(arena, "%s or %s", list, last);
}

/* A value that changes nothing must still be one that ld knows. */
static void accept_value(struct words *words, const struct sk_option *option, const char *value)
{
	const struct sk_option_value *known = option->values;
	const char *name = sk_option_spelling(words->arena, option);

	if (!value || !known)
		return;
	while (known->text && strcmp(known->text, value))
		known++;
	if (!known->text)
		sk_error(words->diag, words->place, "%s wants %s, not '%s'", name,
			 list_values(words->arena, option->values), value);
	else if (known->refusal)
		sk_error(words->diag, words->place, "%s=%s: %s", name, value, known->refusal);
}

/* Messages give `source` in place of a file. */
static void add_override(struct words *words, const char *source, const char *text)
{
	const struct sk_place *origin = sk_place_keep(words->arena, words->place);
	struct sk_place place = {.file = source, .line = 1, .column = 1, .origin = origin};

	sk_array_push(words->arena, &words->command->scope_options, (struct sk_name){text, place});
}

/* The number of processors that this process may use, limited because more threads would only wait for memory. */
static unsigned default_threads(void)
{
	cpu_set_t processors;

	if (sched_getaffinity(0, sizeof(processors), &processors) < 0) /* more than the set can hold */
		return DEFAULT_MAXIMUM_THREADS;
	int count = CPU_COUNT(&processors);
	return count > DEFAULT_MAXIMUM_THREADS ? DEFAULT_MAXIMUM_THREADS : (unsigned)count;
}

/* Set a field, as most options do. */
static void set_field(struct words *words, const struct sk_option *option, const char *value)
{
	char *field = (char *)words->command + option->field;

	switch (option->action) {
	case SK_OPTION_SET_STANDARD_OUTPUT:
		*(const char **)field = "-";
		break;
	case SK_OPTION_SET_OPTIONAL_OUTPUT:
		*(const char **)field = value ? value : "";
		break;
	case SK_OPTION_ADD_TEXT:
	case SK_OPTION_ADD_INPUT:
	case SK_OPTION_ADD_FOLDER:
		sk_array_push(words->arena, (sk_texts *)field, value);
		break;
	case SK_OPTION_SET_FLAG:
	case SK_OPTION_CLEAR_FLAG:
		*(bool *)field = option->action == SK_OPTION_SET_FLAG;
		break;
	case SK_OPTION_SET_THREADS:
		*(unsigned *)field = default_threads();
		if (!value)
			break;
		/* fall through */
	case SK_OPTION_SET_NUMBER:
		set_number(words, option, value, (unsigned *)field);
		break;
	default:
		*(const char **)field = value;
		break;
	}
}

static void apply_option(struct words *words, const struct sk_option *option, const char *value, bool *whole)
{
	struct sk_command_line *command = words->command;

	switch (option->action) {
	case SK_OPTION_SET_COMPRESSION:
		set_compression(words, value);
		break;
	case SK_OPTION_SET_KEYWORD:
		sk_keyword_apply(words->diag, words->place, value, command);
		break;
	case SK_OPTION_SET_COLOUR:
		set_colour(words, value ? value : "always");
		break;
	case SK_OPTION_CLEAR_COLOUR:
		command->colour = SK_COLOUR_NEVER;
		break;
	case SK_OPTION_SET_ICF:
		set_icf(words, value);
		break;
	case SK_OPTION_SET_ISA:
		set_isa(words, value);
		break;
	case SK_OPTION_SET_UNRESOLVED:
		set_unresolved(words, value);
		break;
	case SK_OPTION_SET_ISOLATED:
		add_isolated(words, value);
		break;
	case SK_OPTION_ADD_LIBRARY:
		sk_array_push(words->arena, &command->inputs, (struct sk_command_input){value, true, *whole});
		break;
	case SK_OPTION_ADD_OVERRIDE:
		add_override(words, "--scope-options", value);
		break;
	case SK_OPTION_BEGIN_WHOLE:
	case SK_OPTION_END_WHOLE:
		*whole = option->action == SK_OPTION_BEGIN_WHOLE;
		break;
	case SK_OPTION_ACCEPT:
		accept_value(words, option, value);
		break;
	case SK_OPTION_REFUSE:
		sk_error(words->diag, words->place, "%s: %s", sk_option_spelling(words->arena, option),
			 option->refusal);
		break;
	default:
		set_field(words, option, value);
		break;
	}
}

/* Record the word for --repro. */
static void record(struct words *words, const struct sk_option *option, const char *value)
{
	const char *head = sk_arena_print(words->arena, "%s%s", sk_option_spelling(words->arena, option),
					  value && option->name ? "=" : "");
	struct sk_command_word word = {head, value, SK_WORD_PLAIN};
	char isa[SK_ISA_TEXT_SIZE];

	if (option->action == SK_OPTION_SET_ISA) /* native differs on another machine */
		word.value = sk_arena_print(words->arena, "%s", sk_isa_text(isa, words->command->isa));
	if (option->action == SK_OPTION_SET_REPRODUCTION)
		return;
	if (option->action == SK_OPTION_SET_INPUT || option->action == SK_OPTION_ADD_INPUT)
		word.kind = SK_WORD_INPUT;
	else if (option->action == SK_OPTION_ADD_FOLDER)
		word.kind = SK_WORD_FOLDER;
	else if (option->action == SK_OPTION_SET_OUTPUT || option->action == SK_OPTION_SET_OPTIONAL_OUTPUT)
		word.kind = SK_WORD_OUTPUT;
	sk_array_push(words->arena, &words->command->words, word);
}

static void add_operand(struct words *words, const char *word, bool whole)
{
	struct sk_command_line *command = words->command;

	sk_array_push(words->arena, &command->words, (struct sk_command_word){NULL, word, SK_WORD_INPUT});
	if (!*word)
		sk_error(words->diag, words->place, "an argument is empty; it should be the path of a file");
	else
		sk_array_push(words->arena, &command->inputs, (struct sk_command_input){word, false, whole});
}

/* The first file is the manifest or the model, if something is linked. */
static void take_manifest(struct sk_command_line *command)
{
	size_t first = 0;

	while (first < command->inputs.count && command->inputs.items[first].is_library)
		first++;
	if (command->checked_rules || first == command->inputs.count)
		return;
	command->manifest = command->inputs.items[first].name;
	command->inputs.count--;
	memmove(&command->inputs.items[first], &command->inputs.items[first + 1],
		(command->inputs.count - first) * sizeof(*command->inputs.items));
}

/* For a letter, also give the option's long name, since -h means help elsewhere. */
static void refuse_missing_value(struct words *words, const struct sk_option *option, const char *word)
{
	bool letter = word[1] != '-' && !word[2] && option->name;

	sk_error(words->diag, words->place, "option '%s' wants a value%s%s%s", word, letter ? " (--" : "",
		 letter ? option->name : "", letter ? "); try 'sklink --help'" : "");
}

/* Return true if the option takes the next word as its value. */
static bool takes_next(const struct words *words, size_t i, const struct sk_option *option)
{
	const char *next = i + 1 < words->list.count ? words->list.items[i + 1].text : NULL;

	if (!next)
		return false;
	if (option->action == SK_OPTION_SET_THREADS)
		return *next >= '0' && *next <= '9';
	return sk_option_arity(option) == SK_OPTION_VALUE;
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

		const struct sk_option *option = sk_option_find(word, &value);
		enum sk_option_arity arity = option ? sk_option_arity(option) : SK_OPTION_NO_VALUE;

		if (option && !value && takes_next(words, i, option))
			value = words->list.items[++i].text;
		if (!option)
			sk_error(words->diag, words->place, "unknown option '%s'%s", word,
				 sk_option_suggest(words->arena, word));
		else if (value && arity == SK_OPTION_NO_VALUE)
			sk_error(words->diag, words->place, "option '--%s' takes no value", option->name);
		else if (value ? !*value && option->action != SK_OPTION_SET_ANY_TEXT : arity == SK_OPTION_VALUE)
			refuse_missing_value(words, option, word);
		else {
			apply_option(words, option, value, &whole);
			if (option->about_model && !words->command->model_option)
				words->command->model_option = sk_option_spelling(words->arena, option);
			record(words, option, value);
		}
	}
}

void sk_command_list_outputs(const struct sk_command_line *command,
			     struct sk_command_output outputs[SK_COMMAND_OUTPUTS])
{
	const struct sk_command_output all[SK_COMMAND_OUTPUTS] = {
		{"-o", command->output},
		{"-Map", command->map_file},
		{"--dependency-file", command->dependency_file},
		{"--why-extract", command->extractions_file},
		{"--header", command->header},
		{"--weights", command->weights},
		{"--report", command->report},
		{"--model-text", command->model_text},
		{"--fusion-result", command->fusion_result},
		{"--repro", command->reproduction},
		{"--time-trace", command->time_trace},
	};

	memcpy(outputs, all, sizeof(all));
}

const char *sk_command_destination(const struct sk_command_line *command, const char *path)
{
	return path && command->check && strcmp(path, "-") != 0 ? NULL : path;
}

/* Each output replaces its file as a whole, so of two with one path only the last would remain. */
static void check_outputs(struct sk_diag *diag, const struct sk_command_line *command)
{
	struct sk_command_output outputs[SK_COMMAND_OUTPUTS];

	sk_command_list_outputs(command, outputs);
	for (int i = 0; i < SK_COMMAND_OUTPUTS; i++)
		for (int j = 0; j < i; j++)
			if (outputs[i].path && outputs[j].path && sk_file_same(outputs[i].path, outputs[j].path))
				sk_error(diag, (struct sk_place){.file = outputs[i].path},
					 "would be written by both %s and %s; give each a file of its own",
					 outputs[j].option, outputs[i].option);
}

/* Check options against each other. */
static void check(struct sk_diag *diag, const struct sk_command_line *command)
{
	struct sk_place nowhere = {0};

	if (command->described) {
		if (command->manifest)
			sk_error(diag, (struct sk_place){.file = command->manifest},
				 "--signature-of describes the functions of one file and links nothing; omit this one");
		return;
	}
	if (!command->checked_rules && !command->manifest)
		sk_error(diag, nowhere, "no manifest or model given; try 'sklink --help'");
	else if (!command->checked_rules && !command->output && (!command->check || command->dependency_file))
		sk_error(diag, nowhere, "no output given; say -o PACKAGE");
	if (command->embed && !command->header)
		sk_error(diag, nowhere, "--embed puts the package into a header; say --header=FILE");
	if (command->shared && command->relocatable)
		sk_error(diag, nowhere,
			 "-shared wants a package that is loaded, and -r one that is linked; say one of them");
	if (command->embed && command->relocatable)
		sk_error(diag, nowhere,
			 "--embed wants a package that can be loaded, and -r makes one that is linked into the "
			 "program");
	if (command->weights && command->relocatable)
		sk_error(diag, nowhere,
			 "--weights is for packages that are loaded; an object of -r has its constants in the program");
	if (command->private_key && command->relocatable)
		sk_error(diag, nowhere,
			 "--sign is for packages that are loaded; an object of -r is signed with the program");
	if (command->private_key && command->reproduction)
		sk_error(diag, nowhere,
			 "--repro would put the key of --sign into the archive; reproduce the link without it");
	if (command->version_script && command->relocatable)
		sk_error(diag, nowhere,
			 "--version-script selects a package's exports; with -r, give it to the program's linker");
	check_outputs(diag, command);
}

const char *sk_command_strip_option(const struct sk_command_line *command)
{
	return command->strip_all ? "-s" : command->strip_debug ? "-S" : NULL;
}

/* Expand -L=DIR and -L$SYSROOT/DIR, wherever --sysroot is given. A reproduction has no sysroot, so its words also
 * change. */
static void apply_sysroot(const struct words *words)
{
	struct sk_command_line *command = words->command;
	const char *root = command->sysroot ? command->sysroot : "";

	for (size_t i = 0, folder = 0; i < command->words.count; i++) {
		struct sk_command_word *word = &command->words.items[i];
		const char *path = word->value;

		if (word->kind != SK_WORD_FOLDER)
			continue;
		if (*path == '=')
			word->value = sk_arena_join(words->arena, root, path + 1);
		else if (!strncmp(path, "$SYSROOT", strlen("$SYSROOT")))
			word->value = sk_arena_join(words->arena, root, path + strlen("$SYSROOT"));
		command->search_paths.items[folder++] = word->value;
	}
}

/* Return the directory where libskernels.a is installed, at configure's path relative to the directory of this program.
 * NULL: this program is not in its installed place. */
static const char *installed_libraries(struct sk_arena *arena)
{
	char *program = realpath("/proc/self/exe", NULL), *slash = program ? strrchr(program, '/') : NULL;
	const char *folder = SK_BINDIR, *libraries = SK_LIBDIR, *from = NULL;
	size_t common = 0, length;

	for (size_t i = 0; folder[i] && folder[i] == libraries[i]; i++)
		if (folder[i] == '/')
			common = i;
	length = strlen(folder + common);
	if (slash && (size_t)(slash - program) >= length && !memcmp(slash - length, folder + common, length))
		from = sk_arena_join(arena, sk_arena_copy(arena, program, (size_t)(slash - program) - length),
				     libraries + common);
	free(program);
	return from && access(from, X_OK) == 0 ? from : NULL;
}

/* Searched after all others, as if the command line ended with it, so that a reproduction also has it. */
static void add_installed_libraries(struct words *words)
{
	const char *folder = words->command->no_standard_libraries ? NULL : installed_libraries(words->arena);

	if (!folder)
		return;
	sk_array_push(words->arena, &words->command->search_paths, folder);
	sk_array_push(words->arena, &words->command->words, (struct sk_command_word){"-L", folder, SK_WORD_FOLDER});
}

/* The first variable that is set counts, even if it is empty. */
static void add_flags(struct sk_command_line *command, const char *name)
{
	const char *flags = getenv(name);

	if (!flags || command->environment_flags)
		return;
	command->environment_flags = flags;
	command->environment_name = name;
}

/* The command line, which comes later, overrides the environment. */
static void add_environment(struct words *words)
{
	const char *text = getenv("SKLINK_SCOPE_OPTIONS"), *verbosity = getenv("GLOG_v");

	add_flags(words->command, "SKLINK_GRAPH_KERNEL_FLAGS");
	add_flags(words->command, "MS_DEV_GRAPH_KERNEL_FLAGS");
	words->command->ge_extent = getenv("DUMP_GE_GRAPH");
	words->command->ge_level = getenv("DUMP_GRAPH_LEVEL");
	words->command->ge_folder = getenv("DUMP_GRAPH_PATH");
	words->command->ge_format = getenv("DUMP_GRAPH_FORMAT");
	words->command->verbose = verbosity && (!strcmp(verbosity, "0") || !strcmp(verbosity, "1"));
	if (!text)
		return;
	add_override(words, "SKLINK_SCOPE_OPTIONS", text);
	/* A reproduced link does not have the environment. */
	sk_array_push(words->arena, &words->command->words, (struct sk_command_word){"--scope-options=", text});
}

bool sk_command_parse(struct sk_arena *arena, struct sk_diag *diag, int argc, char **argv,
		      struct sk_command_line *command)
{
	struct words words = {.arena = arena, .diag = diag, .command = command};
	unsigned errors = diag->errors;

	*command = (struct sk_command_line){
		.error_limit = 20, .threads = default_threads(), .isa = sk_isa_expand(sk_isa_default())};
	add_environment(&words);
	words.list = sk_response_expand(arena, diag, argc, argv, &command->response_files);
	interpret(&words);
	take_manifest(command);
	add_installed_libraries(&words);
	apply_sysroot(&words);
	diag->fatal_warnings = command->fatal_warnings;
	diag->no_warnings = command->no_warnings;
	diag->colour = command->colour;
	if (command->time_trace && !*command->time_trace && command->output)
		command->time_trace = sk_arena_print(arena, "%s.time-trace", command->output);
	if (diag->errors == errors && !command->help && !command->version)
		check(diag, command);
	return diag->errors == errors;
}
