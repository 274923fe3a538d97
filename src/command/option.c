/* The table of options; see command-parts.h. The rows are in the order of --help. A new option has its row here, and
 * its paragraph in sklink(1). */
#include "config.h"

#include "src/command/command-parts.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/diag.h"
#include "format/skranks.h"
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

/* The text of an option that shares a paragraph of --help with the next one, which has the text for both. */
#define WITH_NEXT ""

static const struct sk_option options[] = {
	{"output", "o", SK_OPTION_SET_OUTPUT, FIELD(output), "FILE", "write the package to FILE"},
	{"library-path", "L", SK_OPTION_ADD_FOLDER, FIELD(search_paths), "DIR",
	 "search DIR for libraries and for objects that the manifest names"},
	{"nostdlib", NULL, SK_OPTION_SET_FLAG, FIELD(no_standard_libraries), NULL,
	 "do not search the directory where libskernels.a is installed"},
	{"sysroot", NULL, SK_OPTION_SET_REPRODUCTION, FIELD(sysroot), "DIR",
	 "directories of -L that begin with = or $SYSROOT are in DIR"},
	{"library", "l", SK_OPTION_ADD_LIBRARY, 0, "NAME",
	 "link with libNAME.a, or with NAME if that begins with a colon"},
	{"whole-archive", NULL, SK_OPTION_BEGIN_WHOLE, 0, NULL, "take every member of the archives that follow"},
	{"no-whole-archive", NULL, SK_OPTION_END_WHOLE, 0, NULL, "take members on demand again"},
	{"undefined", "u", SK_OPTION_ADD_TEXT, FIELD(required), "SYMBOL", WITH_NEXT},
	{"require-defined", NULL, SK_OPTION_ADD_TEXT, FIELD(required), "SYMBOL",
	 "keep SYMBOL, which must be defined, and pull the member that defines it"},
	{"defsym", NULL, SK_OPTION_ADD_TEXT, FIELD(assignments), "SYMBOL=VALUE",
	 "define SYMBOL as another symbol or a number"},
	{"ifunc", NULL, SK_OPTION_ADD_TEXT, FIELD(ifuncs), "SYMBOL=FUNCTION",
	 "SYMBOL, which the processor would choose (an IFUNC), is FUNCTION"},
	{"wrap", NULL, SK_OPTION_ADD_TEXT, FIELD(wrapped), "SYMBOL",
	 "references to SYMBOL mean __wrap_SYMBOL, and __real_SYMBOL means SYMBOL"},
	{"allow-multiple-definition", NULL, SK_OPTION_SET_FLAG, FIELD(allow_multiple_definition), NULL,
	 "of several strong definitions, take the first"},
	{"symbol-ordering-file", NULL, SK_OPTION_SET_INPUT, FIELD(ordering_file), "FILE",
	 "place the definitions of the symbols that FILE lists first, in that order"},
	{"isolate-objects", NULL, SK_OPTION_SET_ISOLATED, 0, "[=PATTERN]",
	 "an object's own definitions are for its own references first, and never collide:\n"
	 "for all objects, or those whose names match; may be repeated"},
	{"unresolved-symbols", NULL, SK_OPTION_SET_UNRESOLVED, 0, "trap[:NAME,NAME]",
	 "let uses of symbols that nothing defines, or of these, end the launch; also\n"
	 "report-all (the default) and ignore-in-shared-libs, which makes no difference"},
	{"warn-unresolved-symbols", NULL, SK_OPTION_SET_FLAG, FIELD(warn_unresolved), NULL, WITH_NEXT},
	{"error-unresolved-symbols", NULL, SK_OPTION_CLEAR_FLAG, FIELD(warn_unresolved), NULL,
	 "the same for all, with a warning for each; or no more of that"},
	{"version-script", NULL, SK_OPTION_SET_INPUT, FIELD(version_script), "FILE",
	 "export the symbols and define the versions that FILE lists"},
	{"icf", NULL, SK_OPTION_SET_ICF, 0, "none|safe|all",
	 "keep sections of the same code once: never, where no address is compared, always"},
	{"isa", NULL, SK_OPTION_SET_ISA, 0, "LEVEL|native",
	 "the instruction set that chosen kernels may need: x86-64-v3 (the default),\n"
	 "x86-64-v4, x86-64-v2+fma, or native: that of this machine"},
	{"relocatable", "r", SK_OPTION_SET_FLAG, FIELD(relocatable), NULL,
	 "write an object for the linker of a program instead of a package"},
	{"shared", NULL, SK_OPTION_SET_FLAG, FIELD(shared), NULL,
	 "make a package, which is a shared object; not with -r"},
	{NULL, "m", SK_OPTION_SET_TEXT, FIELD(emulation), "elf_x86_64", "all objects are for this machine"},
	{"soname", "h", SK_OPTION_SET_TEXT, FIELD(soname), "NAME",
	 "the name by which the dynamic loader knows the package"},
	{NULL, "z", SK_OPTION_SET_KEYWORD, 0, "max-page-size=N",
	 "segments may be loaded on pages of N bytes (default 4096)"},
	{NULL, "z", SK_OPTION_SET_KEYWORD, 0, "norelro",
	 "leave data that only the loader writes writable (default: -z relro)"},
	{NULL, "z", SK_OPTION_SET_KEYWORD, 0, "nodelete", "dlclose(3) leaves the package where it is"},
	{NULL, "z", SK_OPTION_SET_KEYWORD, 0, "muldefs", "like --allow-multiple-definition"},
	{NULL, "z", SK_OPTION_SET_KEYWORD, 0,
	 "noexecstack|text|now|defs|separate-code|combreloc|origin|[no]pack-relative-relocs|common-page-size=N",
	 "accepted: true of every package, or without effect"},
	{"weights", NULL, SK_OPTION_SET_OUTPUT, FIELD(weights), "FILE",
	 "write the constants to FILE, to be kept beside the package"},
	{"sign", NULL, SK_OPTION_SET_TEXT, FIELD(private_key), "FILE",
	 "sign the package with the Ed25519 key in FILE (PEM; openssl genpkey makes one)"},
	{"task-entries", NULL, SK_OPTION_SET_FLAG, FIELD(task_entries), NULL,
	 "functions of its own for each task (else tasks called alike share a thunk)"},
	{"no-task-entries", NULL, SK_OPTION_SET_FLAG, FIELD(no_task_entries), NULL,
	 "neither (no unfused runs, no --verify)"},
	{"scope-options", NULL, SK_OPTION_ADD_OVERRIDE, 0, "SCOPE=OPTIONS",
	 "override options of a scope, or of all (*): name=value:name=value; the\n"
	 "environment's SKLINK_SCOPE_OPTIONS (SCOPE=OPTIONS;...) overrides the manifest's"},
	{"strip-all", "s", SK_OPTION_SET_FLAG, FIELD(strip_all), NULL, "no symbol table and no debug information"},
	{"strip-debug", "S", SK_OPTION_SET_FLAG, FIELD(strip_debug), NULL, "no debug information"},
	{"discard-all", "x", SK_OPTION_SET_FLAG, FIELD(discard_locals), NULL,
	 "no local symbols of objects in the symbol table"},
	{"compress-debug-sections", NULL, SK_OPTION_SET_COMPRESSION, 0, "none|zlib",
	 "how to keep debug information (default none)"},
	{"gc-sections", NULL, SK_OPTION_CLEAR_FLAG, FIELD(no_gc_sections), NULL, WITH_NEXT},
	{"no-gc-sections", NULL, SK_OPTION_SET_FLAG, FIELD(no_gc_sections), NULL,
	 "leave out unreachable sections (the default), or keep all of every object pulled"},
	{"print-gc-sections", NULL, SK_OPTION_SET_FLAG, FIELD(print_gc_sections), NULL, "print unreachable sections"},
	{"print-icf-sections", NULL, SK_OPTION_SET_FLAG, FIELD(print_icf_sections), NULL,
	 "print the sections that others replace"},
	{"trace", "t", SK_OPTION_SET_FLAG, FIELD(trace), NULL, "print the objects that take part"},
	{"trace-symbol", "y", SK_OPTION_ADD_TEXT, FIELD(traced_symbols), "SYMBOL",
	 "print the files that define and use SYMBOL"},
	{"why-live", NULL, SK_OPTION_ADD_TEXT, FIELD(asked_symbols), "SYMBOL",
	 "print why SYMBOL is in the package: the references to it, from the launches on"},
	{"why-extract", NULL, SK_OPTION_SET_OUTPUT, FIELD(extractions_file), "FILE",
	 "write to FILE the archive members that take part, and the symbols that need them"},
	{"cref", NULL, SK_OPTION_SET_FLAG, FIELD(cross_references), NULL,
	 "add to the map, or print, the files that define and use each name"},
	{"header", NULL, SK_OPTION_SET_OUTPUT, FIELD(header), "FILE",
	 "write a C header with the entries, tensors and sizes to FILE"},
	{"embed", NULL, SK_OPTION_SET_FLAG, FIELD(embed), NULL,
	 "with --header: put the package itself into it, as an array"},
	{"Map", NULL, SK_OPTION_SET_OUTPUT, FIELD(map_file), "FILE", "write a map of the package's contents to FILE"},
	{"print-map", "M", SK_OPTION_SET_STANDARD_OUTPUT, FIELD(map_file), NULL, "print the map"},
	{"dependency-file", NULL, SK_OPTION_SET_OUTPUT, FIELD(dependency_file), "FILE",
	 "write the inputs to FILE, as a rule for make"},
	{"repro", NULL, SK_OPTION_SET_REPRODUCTION, FIELD(reproduction), "FILE.tar",
	 "write all inputs to a tar archive, from which the link can be done again"},
	{"chroot", NULL, SK_OPTION_SET_REPRODUCTION, FIELD(root), "DIR",
	 "paths in the manifest and in thin archives that start with a slash start in DIR"},
	{"report", NULL, SK_OPTION_SET_OUTPUT, FIELD(report), "FILE",
	 "write all decisions to FILE, in JSON: tasks, scopes, launches, dependencies, sizes"},
	{"shape", NULL, SK_OPTION_ADD_TEXT, FIELD(shapes), "INPUT=AxBxC",
	 "the shape of a model's input, where the model leaves it open", .about_model = true},
	{"dim", NULL, SK_OPTION_ADD_TEXT, FIELD(dimensions), "NAME=N",
	 "the size of all dimensions that are called NAME; also NAME=PAST+SEQ, NAME=1..512"},
	{"dim", NULL, SK_OPTION_ADD_TEXT, FIELD(dimensions), "NET:NAME=N[,...]",
	 "sizes of one network of several, NET, all of them in one package"},
	{"ranks", NULL, SK_OPTION_SET_NUMBER, FIELD(ranks), "N",
	 "the package is for N processes, the ranks, which exchange data", .minimum = 1, .maximum = SK_MAX_RANKS},
	{"group", NULL, SK_OPTION_ADD_TEXT, FIELD(groups), "NAME=RANKS",
	 "the ranks that exchange data in the group NAME: 0,1/2,3 for two parts of two"},
	{"freeze", NULL, SK_OPTION_ADD_TEXT, FIELD(frozen), "INPUT=FILE.npy", WITH_NEXT, .about_model = true},
	{"freeze", NULL, SK_OPTION_ADD_TEXT, FIELD(frozen), "VALUE=NUMBER",
	 "the model's input, or a value that a node makes, is a constant: 1, true, [1,2,3]", .about_model = true},
	{"scope", NULL, SK_OPTION_ADD_TEXT, FIELD(scopes), "NAME=PATTERN",
	 "the model's nodes with such names (*, ?, [a-z]) are in the scope NAME", .about_model = true},
	{"model-text", NULL, SK_OPTION_SET_OUTPUT, FIELD(model_text), "FILE",
	 "write the model to FILE as text, after applying the four options above", .about_model = true},
	{"keep", NULL, SK_OPTION_ADD_TEXT, FIELD(kept), "VALUE",
	 "the model's values with such names (*, ?, [a-z]) are also outputs", .about_model = true},
	{"inputs", NULL, SK_OPTION_ADD_TEXT, FIELD(cut_inputs), "VALUE[,...]",
	 "the network begins after these values of the model, which are its inputs", .about_model = true},
	{"outputs", NULL, SK_OPTION_ADD_TEXT, FIELD(cut_outputs), "VALUE[,...]",
	 "the network ends with these values of the model, which are its outputs", .about_model = true},
	{"dump-dir", NULL, SK_OPTION_SET_OUTPUT, FIELD(dump_folder), "DIR",
	 "write the model's graph to files in DIR: at first, and after each pass of\n"
	 "graph-kernel fusion that changes it",
	 .about_model = true},
	{"state", NULL, SK_OPTION_ADD_TEXT, FIELD(states), "INPUT=OUTPUT[:ROWS]",
	 "the model's output is the input of the next run: one tensor, with room for ROWS\n"
	 "rows if the output has more of them than the input",
	 .about_model = true},
	{"cache", NULL, SK_OPTION_SET_NUMBER, FIELD(cache), "ROWS",
	 "the same for all caches of the model that grow: room for ROWS rows", .minimum = 1, .maximum = INT32_MAX,
	 .about_model = true},
	{"fusion-flags", NULL, SK_OPTION_SET_ANY_TEXT, FIELD(fusion_flags), "TEXT",
	 "flags for fusing the model's operators, as in MS_DEV_GRAPH_KERNEL_FLAGS:\n"
	 "\"--opt_level=1 --disable_cluster_ops=Pow\" (sk-fusion-flags(5))",
	 .about_model = true},
	{"fusion-target", NULL, SK_OPTION_SET_TEXT, FIELD(fusion_target), "host|ascend|cpu|gpu",
	 "the system whose lists say which operators are expanded and combined (default:\n"
	 "host, or ascend if the device has cube cores)",
	 .about_model = true},
	{"fusion-switch-file", NULL, SK_OPTION_SET_INPUT, FIELD(switches), "FILE",
	 "passes of graph-kernel fusion that are on or off: CANN's JSON, or PASS:on|off\n"
	 "in each line (sk-passes(5))",
	 .about_model = true},
	{"fusion-result", NULL, SK_OPTION_SET_OUTPUT, FIELD(fusion_result), "FILE",
	 "write to FILE how often each pass has found its patterns, and replaced them", .about_model = true},
	{"rules", NULL, SK_OPTION_ADD_INPUT, FIELD(rules), "FILE",
	 "rules of your own that expand and fuse operators of the model (sk-rules(5));\n"
	 "may be repeated",
	 .about_model = true},
	{"check-rules", NULL, SK_OPTION_SET_INPUT, FIELD(checked_rules), "FILE",
	 "link nothing, but compute both sides of each rule in FILE and compare"},
	{"signature-of", NULL, SK_OPTION_SET_INPUT, FIELD(described), "FILE",
	 "link nothing, but print a draft of the signatures of the functions in FILE\n"
	 "(object, archive, shared library), from its debug information"},
	{"allow-external-links", NULL, SK_OPTION_SET_FLAG, FIELD(external_links), NULL,
	 "external data of the model may be links to files outside its directory", .about_model = true},
	{"no-pattern-fusion", NULL, SK_OPTION_SET_FLAG, FIELD(no_pattern_fusion), NULL,
	 "fuse no patterns by TorchAir's rules, nor by your own", .about_model = true},
	{"torchair-mode", NULL, SK_OPTION_SET_TEXT, FIELD(torchair_mode), "max-autotune|reduce-overhead",
	 "apply only the rules that TorchAir has in this mode (default: those of both)", .about_model = true},
	{"fold", NULL, SK_OPTION_SET_TEXT, FIELD(fold), "all",
	 "compute all constants when linking, whatever the size of the package", .about_model = true},
	{"verbose", NULL, SK_OPTION_SET_FLAG, FIELD(verbose), NULL,
	 "print to standard error which passes fuse the model's operators, and their times"},
	{"explain", NULL, SK_OPTION_ADD_TEXT, FIELD(explained), "TASK", "print how TASK is launched, and why"},
	{"check", NULL, SK_OPTION_SET_FLAG, FIELD(check), NULL, "link and prove, but write no file"},
	{"stats", NULL, SK_OPTION_SET_FLAG, FIELD(statistics), NULL,
	 "print counts of the link, the time of each phase, and the memory used"},
	{"time-trace", NULL, SK_OPTION_SET_OPTIONAL_OUTPUT, FIELD(time_trace), "[=FILE]",
	 "write the phases' times to FILE (default PACKAGE.time-trace), for chrome://tracing"},
	{NULL, "j", SK_OPTION_SET_NUMBER, FIELD(threads), "N", WITH_NEXT, .minimum = 1, .maximum = MAXIMUM_THREADS},
	{"threads", NULL, SK_OPTION_SET_THREADS, FIELD(threads), "[=N]",
	 "link with N threads (default: as many as processors, at most 8)", .minimum = 1, .maximum = MAXIMUM_THREADS},
	{"error-limit", NULL, SK_OPTION_SET_NUMBER, FIELD(error_limit), "N",
	 "stop after N errors, and after N warnings of a kind (default 20; 0 shows all)", .minimum = 0,
	 .maximum = UINT32_MAX},
	{"fatal-warnings", NULL, SK_OPTION_SET_FLAG, FIELD(fatal_warnings), NULL, WITH_NEXT},
	{"no-fatal-warnings", NULL, SK_OPTION_CLEAR_FLAG, FIELD(fatal_warnings), NULL,
	 "warnings are errors, or they are not (the default)"},
	{"no-warnings", "w", SK_OPTION_SET_FLAG, FIELD(no_warnings), NULL, "no warnings"},
	{"demangle", NULL, SK_OPTION_CLEAR_FLAG, FIELD(no_demangle), NULL, WITH_NEXT},
	{"no-demangle", NULL, SK_OPTION_SET_FLAG, FIELD(no_demangle), NULL,
	 "demangle names of C++ and Rust (the default), or do not"},
	{"color-diagnostics", NULL, SK_OPTION_SET_COLOUR, 0, "[=auto|always|never]", WITH_NEXT},
	{"no-color-diagnostics", NULL, SK_OPTION_CLEAR_COLOUR, 0, NULL,
	 "whether messages are coloured (default auto: on a terminal, without NO_COLOR)"},
	{NULL, NULL, SK_OPTION_ACCEPT, 0, "@FILE", "read more arguments from FILE"},

	/* Build systems commonly pass these. sklink(1) gives the reason why each changes nothing here. */
	{NULL, "O", SK_OPTION_ACCEPT, 0, "N", WITH_NEXT, .values = levels},
	{"build-id", NULL, SK_OPTION_ACCEPT, 0, "[=STYLE]", WITH_NEXT, .values = build_ids},
	{"hash-style", NULL, SK_OPTION_ACCEPT, 0, "STYLE", WITH_NEXT, .values = hash_styles},
	{"eh-frame-hdr", NULL, SK_OPTION_ACCEPT, 0, NULL, WITH_NEXT},
	{"no-undefined", NULL, SK_OPTION_ACCEPT, 0, NULL, WITH_NEXT},
	{"Bsymbolic", NULL, SK_OPTION_ACCEPT, 0, NULL, WITH_NEXT},
	{"Bsymbolic-functions", NULL, SK_OPTION_ACCEPT, 0, NULL, WITH_NEXT},
	{"start-group", "(", SK_OPTION_ACCEPT, 0, NULL, WITH_NEXT},
	{"end-group", ")", SK_OPTION_ACCEPT, 0, NULL, WITH_NEXT},
	{"Bstatic", NULL, SK_OPTION_ACCEPT, 0, NULL, WITH_NEXT},
	{"Bdynamic", NULL, SK_OPTION_ACCEPT, 0, NULL, WITH_NEXT},
	{"as-needed", NULL, SK_OPTION_ACCEPT, 0, NULL, WITH_NEXT},
	{"no-as-needed", NULL, SK_OPTION_ACCEPT, 0, NULL, WITH_NEXT},
	{"allow-shlib-undefined", NULL, SK_OPTION_ACCEPT, 0, NULL, WITH_NEXT},
	{"no-allow-shlib-undefined", NULL, SK_OPTION_ACCEPT, 0, NULL, WITH_NEXT},
	{"rpath-link", NULL, SK_OPTION_ACCEPT, 0, "DIR", WITH_NEXT},
	{"enable-new-dtags", NULL, SK_OPTION_ACCEPT, 0, NULL, WITH_NEXT},
	{"disable-new-dtags", NULL, SK_OPTION_ACCEPT, 0, NULL, WITH_NEXT},
	{"sort-common", NULL, SK_OPTION_ACCEPT, 0, NULL, WITH_NEXT},
	{"copy-dt-needed-entries", NULL, SK_OPTION_ACCEPT, 0, NULL, WITH_NEXT},
	{"no-copy-dt-needed-entries", NULL, SK_OPTION_ACCEPT, 0, NULL,
	 "accepted: true of every package, or without effect"},

	{"help", NULL, SK_OPTION_SET_FLAG, FIELD(help), NULL, "print this help"},
	{"version", "v", SK_OPTION_SET_FLAG, FIELD(version), NULL, "print the version"},

	/* These would misdescribe a package. */
	{"pie", NULL, SK_OPTION_REFUSE, .refusal = "a package is a shared object, not a program"},
	{"no-pie", NULL, SK_OPTION_REFUSE, .refusal = "a package is a shared object, which has no fixed address"},
	{"static", NULL, SK_OPTION_REFUSE, .refusal = "a package imports functions of the C library"},
	{"entry", "e", SK_OPTION_REFUSE, .refusal = "the entries of a package are those of its launches"},
	{"dynamic-linker", NULL, SK_OPTION_REFUSE, .refusal = "a package is not a program, and names no loader"},
	{"rpath", NULL, SK_OPTION_REFUSE,
	 .refusal = "a package needs no libraries but those of the C library, which every process has"},
	{"script", "T", SK_OPTION_REFUSE, .refusal = "the layout of a package is fixed"},
	{"export-dynamic", "E", SK_OPTION_REFUSE, .refusal = "--version-script names a package's exports"},
	{"dynamic-list", NULL, SK_OPTION_REFUSE, .refusal = "--version-script names a package's exports"},
	{"no-eh-frame-hdr", NULL, SK_OPTION_REFUSE, .refusal = "debuggers and exceptions find unwind tables by it"},
	{"emit-relocs", "q", SK_OPTION_REFUSE, .refusal = "only -r keeps relocations"},
};

enum { OPTION_COUNT = sizeof(options) / sizeof(options[0]) };

enum sk_option_arity sk_option_arity(const struct sk_option *option)
{
	if (option->action == SK_OPTION_REFUSE)
		return SK_OPTION_OPTIONAL_VALUE;
	if (!option->value)
		return SK_OPTION_NO_VALUE;
	return *option->value == '[' ? SK_OPTION_OPTIONAL_VALUE : SK_OPTION_VALUE;
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

/* Return "; did you mean" with the option that has this letter in the other case, or "". Any two letters are one edit
 * apart, so edit distance gives no useful suggestion. */
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

/* ---- help ---- */

static const char help_start[] =
	"Usage: sklink [options] MANIFEST|MODEL [OBJECT...] -o PACKAGE\n"
	"Link precompiled kernels into one superkernel package.\n"
	"\n"
	"MANIFEST is the scope manifest (YAML), MODEL an ONNX or MINDIR file; each OBJECT is a kernel object (.o)\n"
	"or an archive (.a).\n"
	"\n";

static const char help_end[] =
	"\n"
	"See sklink(1), sk-manifest(5) for the manifest, sk-scope-options(5) for options of scopes, sk-reasons(7) for\n"
	"why a task is not fused, sk-signatures(5) for how to call functions, sk-models(5) and sk-operators(5) for\n"
	"models, sk-fusion-flags(5), sk-passes(5), sk-rules(5) and sk-dumps(5) for the fusion of their operators,\n"
	"skrun(1) to run a package, skdump(1) to look into one, sklink-bisect(1) to find the cause of a wrong\n"
	"result.\n";

/* Return the letter and the name, each with the value. */
static const char *spell_with_value(struct sk_arena *arena, const struct sk_option *option)
{
	const char *value = option->value ? option->value : "", *space = option->value ? " " : "";
	const char *sign = !option->value || *value == '[' ? "" : strchr(value, '=') ? " " : "=";
	const char *name = option->name, *dash;

	if (!name)
		return option->letter ? sk_arena_print(arena, "-%s%s%s", option->letter, space, value) : value;
	dash = isupper((unsigned char)*name) || !strcmp(name, "shared") ? "-" : "--";
	if (!option->letter)
		return sk_arena_print(arena, "%s%s%s%s", dash, name, sign, value);
	return sk_arena_print(arena, "-%s%s%s, %s%s%s%s", option->letter, space, value, dash, name, sign, value);
}

/* Print the text in its column. column: the width of the spellings already printed. */
static void print_text(const char *text, int column, FILE *stream)
{
	enum { INDENT = 28 };

	if (column > INDENT - 2) {
		putc('\n', stream);
		column = 0;
	}
	for (const char *end; text; text = *end ? end + 1 : NULL, column = 0) {
		end = strchrnul(text, '\n');
		fprintf(stream, "%*s%.*s\n", INDENT - column, "", (int)(end - text), text);
	}
}

void sk_command_print_help(struct sk_arena *arena, FILE *stream)
{
	enum { WIDTH = 98 };
	int column = 0;

	fputs(help_start, stream);
	for (unsigned i = 0; i < OPTION_COUNT; i++) {
		if (!options[i].text)
			continue;

		const char *spelling = spell_with_value(arena, &options[i]);

		if (column && column + (int)strlen(spelling) > WIDTH) {
			fputs(",\n", stream);
			column = 0;
		}
		column += fprintf(stream, "%s%s", column ? ", " : "  ", spelling);
		if (!*options[i].text)
			continue;
		print_text(options[i].text, column, stream);
		column = 0;
	}
	fputs(help_end, stream);
}
