/* The command line: response files are expanded first, then one pass over the words with a table of options. */
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

const char sk_command_help[] =
	"Usage: sklink [options] MANIFEST [OBJECT...] -o PACKAGE\n"
	"Link precompiled kernels into one superkernel package.\n"
	"\n"
	"MANIFEST is the scope manifest (YAML); each OBJECT is a kernel object (.o) or an archive (.a).\n"
	"\n"
	"  -o FILE, --output=FILE    write the package to FILE\n"
	"  -L DIR, --library-path=DIR\n"
	"                            search DIR for libraries and for objects that the manifest names\n"
	"  -l NAME, --library=NAME   link with libNAME.a, or with NAME if that begins with a colon\n"
	"  --whole-archive           take every member of the archives that follow\n"
	"  --no-whole-archive        take members on demand again\n"
	"  -u SYMBOL, --undefined=SYMBOL, --require-defined=SYMBOL\n"
	"                            keep SYMBOL, which must be defined, and pull the member that defines it\n"
	"  --defsym SYMBOL=VALUE     define SYMBOL as another symbol or a number\n"
	"  --wrap=SYMBOL             references to SYMBOL mean __wrap_SYMBOL, and __real_SYMBOL means SYMBOL\n"
	"  --allow-multiple-definition\n"
	"                            of equally strong definitions take the first\n"
	"  --isolate-objects         an object's own definitions are for its own references first, and never collide\n"
	"  --version-script=FILE     export what FILE says, and define the versions in it\n"
	"  --icf=none|safe|all       keep sections of the same code once: never, where no address is compared, always\n"
	"  -r, --relocatable         write an object for the linker of a program instead of a package\n"
	"  -h NAME, --soname=NAME    the name by which the dynamic loader knows the package\n"
	"  -z max-page-size=N        segments may be loaded on pages of N bytes (default 4096)\n"
	"  -z norelro                leave writable what only the loader writes (default: -z relro)\n"
	"  -z noexecstack|text|now|defs|separate-code\n"
	"                            accepted: so it is in every package\n"
	"  --sign=FILE               sign the package with the Ed25519 key in FILE (PEM; openssl genpkey makes one)\n"
	"  --no-task-entries         leave out the entries of single tasks (no unfused runs, no --verify)\n"
	"  --scope-options SCOPE=OPTIONS\n"
	"                            override options of a scope, or of all (*): name=value:name=value; the\n"
	"                            environment's SKLINK_SCOPE_OPTIONS (SCOPE=OPTIONS;...) overrides the manifest's\n"
	"  -s, --strip-all           no symbol table and no debug information\n"
	"  -S, --strip-debug         no debug information\n"
	"  --compress-debug-sections=none|zlib\n"
	"                            how to keep debug information (default none)\n"
	"  --gc-sections, --no-gc-sections\n"
	"                            leave out what nothing reaches (the default), or keep all of every object pulled\n"
	"  --print-gc-sections       print the sections that nothing reaches\n"
	"  --print-icf-sections      print the sections that others stand for\n"
	"  -t, --trace               print the objects that take part\n"
	"  -y SYMBOL, --trace-symbol=SYMBOL\n"
	"                            print who defines and who uses SYMBOL\n"
	"  --cref                    add to the map, or print, who defines and who uses each name\n"
	"  --header=FILE             write a C header with the entries, tensors and sizes to FILE\n"
	"  --embed                   with --header: put the package itself into it, as an array\n"
	"  -Map=FILE                 write a map of what lies where to FILE\n"
	"  --dependency-file=FILE    write the inputs to FILE, as a rule for make\n"
	"  --repro=FILE.tar          write all inputs to a tar archive, from which the link can be done again\n"
	"  --chroot=DIR              paths in the manifest and in thin archives that start with a slash start in DIR\n"
	"  --report=FILE             write all decisions to FILE, in JSON: tasks, scopes, launches, dependencies, "
	"sizes\n"
	"  --explain TASK            print what became of TASK, and why\n"
	"  --stats                   print what was linked, how long each phase took, and the memory used\n"
	"  --time-trace[=FILE]       write the phases' times to FILE (default PACKAGE.time-trace), for "
	"chrome://tracing\n"
	"  -j N, --threads=N         link with N threads (default: as many as processors, at most 8)\n"
	"  --error-limit=N           stop after N errors, and after N warnings of a kind (default 20; 0 shows all)\n"
	"  --fatal-warnings, --no-fatal-warnings\n"
	"                            warnings are errors, or they are not (the default)\n"
	"  -w, --no-warnings         no warnings\n"
	"  --color-diagnostics[=auto|always|never], --no-color-diagnostics\n"
	"                            whether messages are coloured (default auto: on a terminal, without NO_COLOR)\n"
	"  @FILE                     read more arguments from FILE\n"
	"  --help                    print this help\n"
	"  -v, --version             print the version\n"
	"\n"
	"See sklink(1), sk-manifest(5) for the manifest, skrun(1) to run a package, skdump(1) to look into one.\n";

enum { RESPONSE_DEPTH = 16, RESPONSE_SIZE = 64 << 20 };
enum { MAXIMUM_THREADS = 256, DEFAULT_MAXIMUM_THREADS = 8 };

struct words {
	SK_ARRAY(char *) list;
	struct sk_arena *arena;
	struct sk_diag *diag;
	struct sk_command *command;
};

static void expand(struct words *words, char *word, unsigned depth);

/* The whole file as text, or NULL after an error. */
static char *read_text(struct words *words, const char *path)
{
	struct sk_place place = {.file = path};
	FILE *file = fopen(path, "r");
	SK_ARRAY(char) text = {0};
	size_t got;
	char buffer[4096];

	if (!file) {
		sk_error(words->diag, place, "cannot open response file: %s", strerror(errno));
		return NULL;
	}
	while ((got = fread(buffer, 1, sizeof(buffer), file)) > 0 && text.count < RESPONSE_SIZE)
		for (size_t i = 0; i < got; i++)
			sk_array_push(words->arena, &text, buffer[i]);

	bool failed = ferror(file);

	fclose(file);
	if (failed || text.count >= RESPONSE_SIZE || memchr(text.items ? text.items : "", 0, text.count)) {
		sk_error(words->diag, place, "cannot read response file: %s",
			 failed ? strerror(errno) : "it is too large or not a text");
		return NULL;
	}
	sk_array_push(words->arena, &text, '\0');
	return text.items;
}

/* Cuts one word off the text, in place, as ld reads response files: white space separates, quotes keep it, a backslash
 * takes the next character as it is. Returns NULL at the end; *text moves on. */
static char *next_word(char **text, bool *unterminated)
{
	char *from = *text + strspn(*text, " \t\r\n\f\v"), *word = from, *to = from, quote = 0;

	if (!*from)
		return NULL;
	for (; *from && (quote || !strchr(" \t\r\n\f\v", *from)); from++) {
		if (*from == '\\' && from[1])
			*to++ = *++from;
		else if (quote && *from == quote)
			quote = 0;
		else if (!quote && (*from == '"' || *from == '\''))
			quote = *from;
		else
			*to++ = *from;
	}
	*text = from + (*from != '\0');
	*to = '\0';
	*unterminated = quote != 0;
	return word;
}

static void expand_response(struct words *words, const char *path, unsigned depth)
{
	struct sk_place place = {.file = path};
	bool unterminated = false;
	char *text, *word;

	if (depth == RESPONSE_DEPTH) {
		sk_error(words->diag, place, "response files are nested more than %d deep", RESPONSE_DEPTH);
		return;
	}
	sk_array_push(words->arena, &words->command->response_files, path);
	text = read_text(words, path);
	while (text && (word = next_word(&text, &unterminated)))
		expand(words, word, depth + 1);
	if (unterminated)
		sk_error(words->diag, place, "a quote is not closed");
}

static void expand(struct words *words, char *word, unsigned depth)
{
	if (word[0] == '@' && word[1])
		expand_response(words, word + 1, depth);
	else
		sk_array_push(words->arena, &words->list, word);
}

/* What an option does with the struct sk_command field at `field`. */
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
	BEGIN_WHOLE,
	END_WHOLE,
};

#define FIELD(name) offsetof(struct sk_command, name)

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
	{"scope-options", NULL, ADD_TEXT, FIELD(scope_options)},
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
	sk_error(words->diag, (struct sk_place){0}, "unknown option '%s'%s", word, suggest_option(words, word));
}

static void set_number(struct words *words, const struct option *option, const char *value, unsigned *field)
{
	char *end;

	errno = 0;
	unsigned long number = strtoul(value, &end, 10);

	if (value[0] < '0' || value[0] > '9' || *end || errno || number < option->minimum || number > option->maximum)
		sk_error(words->diag, (struct sk_place){0}, "--%s wants a number from %u to %u, not '%s'", option->name,
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
		sk_error(words->diag, (struct sk_place){0}, "--%s wants %s, not '%s'", option, wanted, value);
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

static void apply(struct words *words, const struct option *option, const char *value, bool *whole)
{
	struct sk_command *command = words->command;
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
		sk_keyword_apply(words->diag, value, command);
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
	struct sk_command *command = words->command;

	sk_array_push(words->arena, &command->words, (struct sk_command_word){NULL, word, SK_WORD_INPUT});
	if (!*word)
		sk_error(words->diag, (struct sk_place){0}, "an argument is empty; it should be the path of a file");
	else if (!command->manifest)
		command->manifest = word;
	else
		sk_array_push(words->arena, &command->inputs, (struct sk_command_input){word, false, whole});
}

/* A letter says little about what it wants: -h is help elsewhere. */
static void refuse_missing_value(struct words *words, const struct option *option, const char *word)
{
	bool letter = word[1] != '-' && !word[2] && option->name;

	sk_error(words->diag, (struct sk_place){0}, "option '%s' wants a value%s%s%s", word, letter ? " (--" : "",
		 letter ? option->name : "", letter ? "); try 'sklink --help'" : "");
}

static void interpret(struct words *words)
{
	bool whole = false, operands_only = false;

	for (size_t i = 0; i < words->list.count; i++) {
		const char *word = words->list.items[i], *value;

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
			value = words->list.items[++i];
		if (!option)
			unknown_option(words, word);
		else if (value && arity == NO_VALUE)
			sk_error(words->diag, (struct sk_place){0}, "option '--%s' takes no value", option->name);
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

void sk_command_list_outputs(const struct sk_command *command, struct sk_command_output outputs[SK_COMMAND_OUTPUTS])
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
static void check_outputs(struct sk_diag *diag, const struct sk_command *command)
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
static void check(struct sk_diag *diag, const struct sk_command *command)
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

bool sk_command_parse(struct sk_arena *arena, struct sk_diag *diag, int argc, char **argv, struct sk_command *command)
{
	struct words words = {.arena = arena, .diag = diag, .command = command};
	unsigned errors = diag->errors;

	*command = (struct sk_command){.error_limit = 20, .threads = default_threads()};
	command->environment_scope_options = getenv("SKLINK_SCOPE_OPTIONS");
	if (command->environment_scope_options) /* a link that repeats this one has not got the environment */
		sk_array_push(arena, &command->words,
			      (struct sk_command_word){"--scope-options=", command->environment_scope_options});
	for (int i = 1; i < argc; i++)
		expand(&words, argv[i], 0);
	interpret(&words);
	if (command->time_trace && !*command->time_trace && command->output)
		command->time_trace = sk_arena_print(arena, "%s.time-trace", command->output);
	if (diag->errors == errors && !command->help && !command->version)
		check(diag, command);
	return diag->errors == errors;
}
