/* skdump: shows what is in a package, and with --verify proves it. In comes a package, out come tables for people. */
#include "config.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/text.h"
#include "format/import-row.h"
#include "format/plan/plan.h"
#include "loader/image/image.h"
#include "src/proof/proof.h"
#include "src/skdump/skdump.h"

static const char help[] =
	"Usage: skdump [options] PACKAGE\n"
	"       skdump --diff PACKAGE PACKAGE\n"
	"       skdump --imports\n"
	"Show what is in a superkernel package: everything but its task entries, or what the options ask for.\n"
	"\n"
	"  --bindings   the tensors that a run binds\n"
	"  --launches   what the device is handed, in order\n"
	"  --steps      the steps of each launch: where they run, how they are divided, what they await\n"
	"  --memory     the temporaries in the workspace, and which share bytes\n"
	"  --reasons    why each task was fused, or was not\n"
	"  --task GLOB, --kernel GLOB, --launch N\n"
	"               of steps and reasons, only those of tasks of such a name, with such a kernel, of that launch\n"
	"  --by-kernel  of steps, sums by kernel\n"
	"  --all        all of these, with the entries of single tasks\n"
	"  --json       everything as data in JSON, with the explanations of all tasks\n"
	"  --html FILE  the same as a page for a browser: graph, schedule, memory, what was not fused\n"
	"  --trace FILE for the page: the schedule of a run, by skrun --trace; of several, one above the other\n"
	"  --verify     prove the package: every conflicting pair of accesses is ordered for every number of cores, "
	"no\n"
	"               await can wait for itself, calls are what signatures say, the code is what the plan says, and\n"
	"               libskrt would load it; names what cannot be proved of a package that was stripped\n"
	"  --explain TASK\n"
	"               what became of the task, why, and what puts it in order with others\n"
	"  --dot        nothing but a drawing of tasks, tensors, launches, tile groups and awaits, for dot(1)\n"
	"  --diff       what is different in the plans of two packages; the exit status is 1 if anything is\n"
	"  --imports    what any package may import: name, kind, class, library, version, machine\n"
	"  --help       print this help\n"
	"  --version    print the version\n"
	"\n"
	"Exit status: 0; 1 after an error; 2 if --verify has found no error, but not everything could be proved. See\n"
	"skdump(1).\n";

struct section {
	const char *option;
	void (*show)(const struct sk_show *show);
};

/* In the order in which they are shown. */
static const struct section sections[] = {
	{"bindings", sk_show_bindings}, {"launches", sk_show_launches}, {"steps", sk_show_steps},
	{"memory", sk_show_memory},	{"reasons", sk_show_reasons},
};
enum { SECTIONS = sizeof(sections) / sizeof(sections[0]) };

struct command {
	bool chosen[SECTIONS];
	bool any_chosen, all, verify, dot, json, diff, imports, help, version;
	bool by_kernel;
	struct sk_task_filter tasks;
	SK_ARRAY(const char *) explained; /* tasks */
	const char *page; /* file, or NULL */
	SK_ARRAY(const char *) traces; /* files for the page */
	const char *packages[2];
};

/* Values of the long options behind the sections' indices. */
enum {
	OPTION_ALL = SECTIONS,
	OPTION_TASK,
	OPTION_KERNEL,
	OPTION_LAUNCH,
	OPTION_BY_KERNEL,
	OPTION_JSON,
	OPTION_HTML,
	OPTION_TRACE,
	OPTION_VERIFY,
	OPTION_EXPLAIN,
	OPTION_DOT,
	OPTION_DIFF,
	OPTION_IMPORTS,
	OPTION_HELP,
	OPTION_VERSION,
	OPTIONS
};

static void read_launch(struct sk_diag *diag, const char *text, struct sk_task_filter *tasks)
{
	char *end;

	tasks->by_launch = true;
	tasks->launch = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || tasks->launch >= UINT32_MAX)
		sk_error(diag, (struct sk_place){0}, "--launch %s: not the number of a launch; --launches has them",
			 text);
}

static void apply(struct sk_diag *diag, struct command *command, int option)
{
	command->all |= option == OPTION_ALL;
	command->json |= option == OPTION_JSON;
	command->verify |= option == OPTION_VERIFY;
	command->dot |= option == OPTION_DOT;
	command->diff |= option == OPTION_DIFF;
	command->imports |= option == OPTION_IMPORTS;
	command->help |= option == OPTION_HELP;
	command->version |= option == OPTION_VERSION;
	command->by_kernel |= option == OPTION_BY_KERNEL;
	if (option == OPTION_TASK)
		command->tasks.task = optarg;
	if (option == OPTION_KERNEL)
		command->tasks.kernel = optarg;
	if (option == OPTION_LAUNCH)
		read_launch(diag, optarg, &command->tasks);
	if (option == OPTION_EXPLAIN)
		sk_array_push(diag->arena, &command->explained, optarg);
	if (option == OPTION_HTML)
		command->page = optarg;
	if (option == OPTION_TRACE)
		sk_array_push(diag->arena, &command->traces, optarg);
	if (option < SECTIONS)
		command->chosen[option] = command->any_chosen = true;
}

/* Sections in the order of their table: steps and reasons are those that tell of tasks. */
static void check_filter(struct sk_diag *diag, const struct command *command)
{
	bool filtered = sk_task_filter_is_set(&command->tasks), steps = command->all, reasons = command->all;

	for (int i = 0; i < SECTIONS; i++) {
		steps |= command->chosen[i] && sections[i].show == sk_show_steps;
		reasons |= command->chosen[i] && sections[i].show == sk_show_reasons;
	}
	if (command->by_kernel && !steps)
		sk_error(diag, (struct sk_place){0}, "--by-kernel sums up what --steps shows, and goes with it");
	else if (filtered && !steps && !reasons)
		sk_error(diag, (struct sk_place){0},
			 "--task, --kernel and --launch choose of --steps and --reasons, and go with these");
}

static void take_packages(struct sk_diag *diag, int count, char **words, struct command *command)
{
	struct sk_place nowhere = {0};
	int wanted = command->diff ? 2 : command->imports ? 0 : 1;

	if (count > wanted && command->imports)
		sk_error(diag, nowhere, "--imports is about all packages and takes none");
	else if (count < wanted)
		sk_error(diag, nowhere, count ? "--diff wants two packages" : "no package given (see --help)");
	else if (count > wanted)
		sk_error(diag, nowhere, "more than %s given (see --help)", wanted > 1 ? "two packages" : "one package");
	for (int i = 0; i < wanted && i < count; i++)
		command->packages[i] = words[i];
	const struct {
		const char *name;
		bool given;
	} alone[] = {{"dot", command->dot},
		     {"json", command->json},
		     {"html", command->page},
		     {"imports", command->imports},
		     {"diff", command->diff}};
	bool others = command->any_chosen || command->all || command->verify || command->explained.count;
	int modes = command->dot + command->json + (command->page != NULL) + command->imports + command->diff;

	for (size_t i = 0; i < sizeof(alone) / sizeof(alone[0]); i++)
		if (alone[i].given && (others || modes > 1)) {
			sk_error(diag, nowhere, "--%s goes with no other option%s", alone[i].name,
				 !strcmp(alone[i].name, "html") ? " but --trace" : "");
			return;
		}
	if (command->traces.count && !command->page)
		sk_error(diag, nowhere, "--trace is for the page of --html");
	check_filter(diag, command);
}

/* A page would be written over what it shows. */
static void keep_inputs(struct sk_diag *diag, const struct command *command)
{
	bool same = sk_is_same(command->page, command->packages[0]);

	for (size_t i = 0; i < command->traces.count; i++)
		same |= sk_is_same(command->page, command->traces.items[i]);
	if (same)
		sk_error(diag, (struct sk_place){.file = command->page},
			 "is an input, too; give the page a name of its own");
}

static bool parse(struct sk_diag *diag, int argc, char **argv, struct command *command)
{
	struct option options[OPTIONS + 1] = {
		[OPTION_ALL] = {"all", no_argument, NULL, OPTION_ALL},
		[OPTION_TASK] = {"task", required_argument, NULL, OPTION_TASK},
		[OPTION_KERNEL] = {"kernel", required_argument, NULL, OPTION_KERNEL},
		[OPTION_LAUNCH] = {"launch", required_argument, NULL, OPTION_LAUNCH},
		[OPTION_BY_KERNEL] = {"by-kernel", no_argument, NULL, OPTION_BY_KERNEL},
		[OPTION_JSON] = {"json", no_argument, NULL, OPTION_JSON},
		[OPTION_HTML] = {"html", required_argument, NULL, OPTION_HTML},
		[OPTION_TRACE] = {"trace", required_argument, NULL, OPTION_TRACE},
		[OPTION_VERIFY] = {"verify", no_argument, NULL, OPTION_VERIFY},
		[OPTION_EXPLAIN] = {"explain", required_argument, NULL, OPTION_EXPLAIN},
		[OPTION_DOT] = {"dot", no_argument, NULL, OPTION_DOT},
		[OPTION_DIFF] = {"diff", no_argument, NULL, OPTION_DIFF},
		[OPTION_IMPORTS] = {"imports", no_argument, NULL, OPTION_IMPORTS},
		[OPTION_HELP] = {"help", no_argument, NULL, OPTION_HELP},
		[OPTION_VERSION] = {"version", no_argument, NULL, OPTION_VERSION},
	};
	const char *names[OPTIONS];
	struct sk_place nowhere = {0};
	int option;

	for (int i = 0; i < SECTIONS; i++)
		options[i] = (struct option){sections[i].option, no_argument, NULL, i};
	for (int i = 0; i < OPTIONS; i++)
		names[i] = sk_arena_print(diag->arena, "--%s", options[i].name);
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":", options, NULL)) != -1) {
		/* In a word of one-letter options, which we do not have, optind still points at the word. Long
		 * options have values below all letters. */
		const char *word = optopt > ' ' ? sk_arena_print(diag->arena, "-%c", optopt) : argv[optind - 1];

		if (option == ':')
			sk_error(diag, nowhere, "option '%s' wants a value", word);
		else if (option == '?')
			sk_error(diag, nowhere, "unknown option '%s'%s", word,
				 sk_did_you_mean(diag->arena, word, names, OPTIONS));
		if (diag->errors)
			return false;
		apply(diag, command, option);
	}
	if (!command->help && !command->version)
		take_packages(diag, argc - optind, argv + optind, command);
	if (!diag->errors && command->page && command->packages[0])
		keep_inputs(diag, command);
	return !diag->errors;
}

static void show(struct sk_arena *arena, const struct sk_package_file *file, const struct command *command)
{
	struct sk_show show = {.arena = arena,
			       .file = file,
			       .task_entries = command->all,
			       .tasks = command->tasks,
			       .by_kernel = command->by_kernel,
			       .stream = stdout};
	bool everything = command->all || !command->any_chosen;

	if (command->dot) {
		sk_show_dot(&show);
		return;
	}
	if (everything && (command->verify || command->explained.count || command->json || command->page) &&
	    !command->all)
		return;
	if (everything)
		sk_show_summary(&show);
	for (int i = 0; i < SECTIONS; i++)
		if (everything || command->chosen[i])
			sections[i].show(&show);
}

static const char *plural(uint32_t count, const char *one, const char *several)
{
	return count == 1 ? one : several;
}

static void print_verdict(const struct sk_plan_view *plan, const char *verdict)
{
	uint32_t entries = plan->launch_count - plan->network_launch_count, steps = 0;

	for (uint32_t i = 0; i < plan->network_launch_count; i++)
		steps += sk_plan_form(&plan->launches[i])->step_count;
	printf("%s: %u launch%s, %u step%s", verdict, plan->network_launch_count,
	       plural(plan->network_launch_count, "", "es"), steps, plural(steps, "", "s"));
	if (entries)
		printf(", %u task entr%s", entries, plural(entries, "y", "ies"));
	putchar('\n');
}

/* False after errors. *partly: all that could be compared agrees, but not all could be. */
static bool verify(struct sk_arena *arena, struct sk_diag *diag, const struct sk_package_file *file, bool *partly)
{
	const struct sk_plan_view *plan = &file->plan;
	const struct sk_account *account = file->has_account ? &file->account : NULL;
	struct sk_unknown_code unknown = {0};
	bool sound = sk_verify(arena, diag, plan, file->path, file->account.orders, file->account.order_count, NULL) &&
		     sk_consistency_check(arena, diag, plan, file->path, account) &&
		     sk_kernel_symbols_check(arena, diag, file, &unknown);

	sound &= sk_reemit_compare(diag, file);
	sound &= sk_loadable_check(diag, file);
	if (!sound)
		return false;
	*partly = !account || unknown.kernels || unknown.entries || unknown.symbols;
	print_verdict(plan, *partly ? "verified in part" : "verified");
	if (!account)
		printf("not proved: what 'after' and events want, since the package has no section .sk.report\n");
	if (unknown.kernels || unknown.entries)
		printf("not proved: which code %u kernel%s and %u task entr%s are, since the package has no %s\n",
		       unknown.kernels, plural(unknown.kernels, "", "s"), unknown.entries,
		       plural(unknown.entries, "y", "ies"), file->has_symtab ? "symbols there" : "section .symtab");
	if (unknown.symbols)
		printf("not proved: what %u symbol%s that kernels get are, since the package has no %s\n",
		       unknown.symbols, plural(unknown.symbols, "", "s"),
		       file->has_symtab ? "symbols there" : "section .symtab");
	return true;
}

/* The facts come from the proof: a package that cannot be proved is not explained. */
static bool prove(struct sk_arena *arena, struct sk_diag *diag, const struct sk_package_file *file,
		  struct sk_facts *facts)
{
	return sk_verify(arena, diag, &file->plan, file->path, file->account.orders, file->account.order_count, facts);
}

static void explain(struct sk_arena *arena, struct sk_diag *diag, const struct sk_package_file *file,
		    const struct command *command)
{
	struct sk_facts facts = {0};

	if (!prove(arena, diag, file, &facts))
		return;

	const struct sk_explanation_index index = sk_explanation_index(arena, &file->plan, &facts);
	const struct sk_explanation explanation = {arena,  &file->plan, file->has_account ? &file->account : NULL,
						   &facts, &index,	stdout};

	sk_explain_tasks(&explanation, diag, command->explained.items, command->explained.count);
}

/* As data, or as a page. */
static void write_all(struct sk_arena *arena, struct sk_diag *diag, const struct sk_package_file *file,
		      const struct command *command)
{
	const struct sk_show show = {.arena = arena, .file = file, .stream = stdout};
	struct sk_facts facts = {0};

	if (!prove(arena, diag, file, &facts))
		return;
	if (command->json)
		sk_show_json(&show, &facts);
	else
		sk_page_write(&show, diag, &facts, command->page, command->traces.items, command->traces.count);
}

/* True if the package was verified in part. */
static bool run(struct sk_arena *arena, struct sk_diag *diag, const struct command *command)
{
	struct sk_package_file file;
	bool partly = false;

	if (!sk_package_file_open(arena, diag, command->packages[0], &file))
		return false;
	/* A misspelt pattern should not look like a package without such tasks. */
	if (sk_task_filter_is_set(&command->tasks) &&
	    !sk_task_filter_finds(&command->tasks, &file.plan, 0, file.plan.task_count)) {
		sk_error(diag, (struct sk_place){.file = file.path},
			 "no task is what --task, --kernel and --launch ask for");
		sk_package_file_close(&file);
		return false;
	}
	show(arena, &file, command);
	if (command->json || command->page)
		write_all(arena, diag, &file, command);
	if (command->explained.count)
		explain(arena, diag, &file, command);
	if (command->verify)
		verify(arena, diag, &file, &partly);
	sk_package_file_close(&file);
	return partly;
}

/* True if the plans differ. */
static bool compare(struct sk_arena *arena, struct sk_diag *diag, const struct command *command)
{
	struct sk_package_file first, second;
	bool differ = false;

	if (!sk_package_file_open(arena, diag, command->packages[0], &first))
		return false;
	if (sk_package_file_open(arena, diag, command->packages[1], &second)) {
		differ = sk_diff_print(arena, &first, &second, stdout);
		sk_package_file_close(&second);
	}
	sk_package_file_close(&first);
	return differ;
}

/* What any package may import. */
static void show_imports(struct sk_arena *arena)
{
	static const char *const headings[] = {"name", "kind", "class", "library", "version", "machine"};
	static const char *const classes[] = {
		[SK_IMPORT_PURE] = "PURE",   [SK_IMPORT_LOCALE] = "LOCALE", [SK_IMPORT_LOCKING] = "LOCKING",
		[SK_IMPORT_STATE] = "STATE", [SK_IMPORT_ENDS] = "ENDS",	    [SK_IMPORT_SERVED] = "SERVED",
	};
	const struct sk_import *row;
	const char *machine;
	struct sk_table table;

	sk_table_init(&table, arena, "llllll");
	for (size_t i = 0; i < sizeof(headings) / sizeof(headings[0]); i++)
		sk_table_cell(&table, "%s", headings[i]);
	for (size_t i = 0; (row = sk_import_row(i, &machine)); i++) {
		sk_table_cell(&table, "%s", row->name);
		sk_table_cell(&table, "%s", row->thread_local ? "thread-local" : row->data ? "data" : "function");
		sk_table_cell(&table, "%s", classes[row->class]);
		sk_table_cell(&table, "%s", row->library);
		sk_table_cell(&table, "%s", row->version);
		sk_table_cell(&table, "%s", machine ? machine : "any");
	}
	sk_table_print(&table, "", stdout);
}

int main(int argc, char **argv)
{
	struct sk_arena *arena = sk_arena_create();
	struct command command = {0};
	struct sk_diag diag;
	bool differ = false, partly = false;

	sk_diag_init(&diag, arena);
	if (parse(&diag, argc, argv, &command)) {
		if (command.help)
			fputs(help, stdout);
		else if (command.version)
			puts("skdump " PACKAGE_VERSION);
		else if (command.diff)
			differ = compare(arena, &diag, &command);
		else if (command.imports)
			show_imports(arena);
		else
			partly = run(arena, &diag, &command);
	}
	if (fflush(stdout) || ferror(stdout))
		sk_error(&diag, (struct sk_place){0}, "cannot write to standard output");
	sk_diag_flush(&diag, "skdump", 20, stderr);

	bool failed = diag.errors || differ;

	sk_arena_destroy(arena);
	return failed ? 1 : partly ? 2 : 0;
}
