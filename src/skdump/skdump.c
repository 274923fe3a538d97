/* skdump: shows the contents of a package, and proves it with --verify. Input: a package. Output: tables for people. */
#include "config.h"

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
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

struct command {
	bool chosen[32]; /* by row of the table of options: a section to show */
	bool any_chosen, all, verify, dot, json, diff, imports, help, version;
	bool by_kernel;
	struct sk_task_filter tasks;
	sk_texts explained; /* tasks */
	const char *page; /* file, or NULL */
	sk_texts traces; /* files for the page */
	const char *packages[2];
	sk_texts sizes; /* of dimensions */
};

/* ---- the options ---- */

/* Take the value of an option, NULL if it has none, into the field of the command. */
typedef void take_value(struct sk_diag *diag, const char *value, void *field);

static void set_flag(struct sk_diag *diag, const char *value, void *field)
{
	(void)diag;
	(void)value;
	*(bool *)field = true;
}

static void set_text(struct sk_diag *diag, const char *value, void *field)
{
	(void)diag;
	*(const char **)field = value;
}

static void add_text(struct sk_diag *diag, const char *value, void *field)
{
	sk_array_push(diag->arena, (sk_texts *)field, value);
}

static void read_launch(struct sk_diag *diag, const char *text, void *field)
{
	struct sk_task_filter *tasks = field;
	char *end;

	tasks->by_launch = true;
	tasks->launch = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || tasks->launch >= UINT32_MAX)
		sk_error(diag, (struct sk_place){0}, "--launch %s: not the number of a launch; --launches has them",
			 text);
}

struct row {
	const char *name;
	const char *value; /* its name in --help; NULL: the option takes none */
	const char *text; /* for --help, line by line */
	take_value *take;
	size_t field; /* of struct command */
	void (*show)(const struct sk_show *show); /* for an option that selects a section; it has no field */
};

/* The text of an option that shares a paragraph of --help with the next one, which has the text for both. */
#define WITH_NEXT   ""
#define FIELD(name) offsetof(struct command, name)

/* In the order of --help; sections in the order in which they are shown. */
static const struct row rows[] = {
	{"bindings", NULL, "the tensors that a run binds", .show = sk_show_bindings},
	{"launches", NULL, "the launches that the device receives, in order", .show = sk_show_launches},
	{"steps", NULL, "the steps of each launch: their cores, their division, their awaits", .show = sk_show_steps},
	{"memory", NULL, "the temporaries in the workspace, and which share bytes", .show = sk_show_memory},
	{"reasons", NULL, "why each task was fused, or was not", .show = sk_show_reasons},
	{"task", "GLOB", WITH_NEXT, set_text, FIELD(tasks.task)},
	{"kernel", "GLOB", WITH_NEXT, set_text, FIELD(tasks.kernel)},
	{"launch", "N", "of steps and reasons, only those of tasks of such a name, with such a kernel, of that launch",
	 read_launch, FIELD(tasks)},
	{"by-kernel", NULL, "of steps, sums by kernel", set_flag, FIELD(by_kernel)},
	{"all", NULL, "all of these, with the entries of single tasks", set_flag, FIELD(all)},
	{"dim", "NAME=SIZE", "show a package with bounds at this size, and at the usual ones of other dimensions",
	 add_text, FIELD(sizes)},
	{"json", NULL, "everything as data in JSON, with the explanations of all tasks", set_flag, FIELD(json)},
	{"html", "FILE", "the same as a page for a browser: graph, schedule, memory, unfused tasks", set_text,
	 FIELD(page)},
	{"trace", "FILE", "for the page: the schedule of a run, by skrun --trace; of several, one above the other",
	 add_text, FIELD(traces)},
	{"verify", NULL,
	 "prove the package: every conflicting pair of accesses is ordered for every number of cores, no\n"
	 "await can wait for itself, calls match signatures, the code matches the plan, and libskrt would\n"
	 "load it; of a stripped package, name the facts that cannot be proved",
	 set_flag, FIELD(verify)},
	{"explain", "TASK", "the task's launch and steps, the reasons, and its order with other tasks", add_text,
	 FIELD(explained)},
	{"dot", NULL, "nothing but a drawing of tasks, tensors, launches, tile groups and awaits, for dot(1)", set_flag,
	 FIELD(dot)},
	{"diff", NULL, "the differences between the plans of two packages; the exit status is 1 if there are any",
	 set_flag, FIELD(diff)},
	{"imports", NULL, "the imports that any package may have: name, kind, class, library, version, machine",
	 set_flag, FIELD(imports)},
	{"help", NULL, "print this help", set_flag, FIELD(help)},
	{"version", NULL, "print the version", set_flag, FIELD(version)},
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

_Static_assert(ROWS <= sizeof(((struct command *)0)->chosen), "a bool of struct command for each row");

/* Print the text in its column. column: the width of the spellings already printed. */
static void print_text(const char *text, int column)
{
	enum { INDENT = 15 };

	if (column > INDENT - 2) {
		putchar('\n');
		column = 0;
	}
	for (const char *end; text; text = *end ? end + 1 : NULL, column = 0) {
		end = strchrnul(text, '\n');
		printf("%*s%.*s\n", INDENT - column, "", (int)(end - text), text);
	}
}

static void print_help(void)
{
	int column = 0;

	puts("Usage: skdump [options] PACKAGE\n"
	     "       skdump --diff PACKAGE PACKAGE\n"
	     "       skdump --imports\n"
	     "Show the contents of a superkernel package: all but its task entries, or the selected sections.\n");
	for (int i = 0; i < ROWS; i++) {
		column += printf("%s--%s%s%s", column ? ", " : "  ", rows[i].name, rows[i].value ? " " : "",
				 rows[i].value ? rows[i].value : "");
		if (!*rows[i].text)
			continue;
		print_text(rows[i].text, column);
		column = 0;
	}
	puts("\n"
	     "Exit status: 0; 1 after an error; 2 if --verify has found no error, but not everything could be proved. "
	     "See\n"
	     "skdump(1).");
}

/* ---- checks across options ---- */

/* Only the sections of steps and reasons are about tasks. */
static void check_filter(struct sk_diag *diag, const struct command *command)
{
	bool filtered = sk_task_filter_is_set(&command->tasks), steps = command->all, reasons = command->all;

	for (int i = 0; i < ROWS; i++) {
		steps |= command->chosen[i] && rows[i].show == sk_show_steps;
		reasons |= command->chosen[i] && rows[i].show == sk_show_reasons;
	}
	if (command->by_kernel && !steps)
		sk_error(diag, (struct sk_place){0}, "--by-kernel sums up --steps, and goes with it");
	else if (filtered && !steps && !reasons)
		sk_error(diag, (struct sk_place){0},
			 "--task, --kernel and --launch choose of --steps and --reasons, and go with these");
}

static void read_packages(struct sk_diag *diag, int count, char **words, struct command *command)
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
	if (command->sizes.count && (command->verify || command->diff || command->imports))
		sk_error(diag, nowhere, "--dim chooses the sizes that are shown; --%s is about all sizes",
			 command->verify ? "verify"
			 : command->diff ? "diff"
					 : "imports");
	if (command->traces.count && !command->page)
		sk_error(diag, nowhere, "--trace is for the page of --html");
	check_filter(diag, command);
}

/* The page must not replace a file that it shows. */
static void keep_inputs(struct sk_diag *diag, const struct command *command)
{
	bool same = sk_is_same(command->page, command->packages[0]);

	for (size_t i = 0; i < command->traces.count; i++)
		same |= sk_is_same(command->page, command->traces.items[i]);
	if (same)
		sk_error(diag, (struct sk_place){.file = command->page},
			 "is also an input; give the page a name of its own");
}

static bool parse(struct sk_diag *diag, int argc, char **argv, struct command *command)
{
	struct option options[ROWS + 1] = {0};
	const char *names[ROWS];
	struct sk_place nowhere = {0};
	int option;

	for (int i = 0; i < ROWS; i++) {
		options[i] = (struct option){rows[i].name, rows[i].value ? required_argument : no_argument, NULL, i};
		names[i] = sk_arena_print(diag->arena, "--%s", rows[i].name);
	}
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":", options, NULL)) != -1) {
		/* skdump has no one-letter options; for such a word optind still points at the word. Long options have
		 * values below all letters. */
		const char *word = optopt > ' ' ? sk_arena_print(diag->arena, "-%c", optopt) : argv[optind - 1];

		if (option == ':')
			sk_error(diag, nowhere, "option '%s' wants a value", word);
		else if (option == '?')
			sk_error(diag, nowhere, "unknown option '%s'%s", word,
				 sk_did_you_mean(diag->arena, word, names, ROWS));
		if (diag->errors)
			return false;
		if (rows[option].show)
			command->chosen[option] = command->any_chosen = true;
		else
			rows[option].take(diag, optarg, (char *)command + rows[option].field);
	}
	if (!command->help && !command->version)
		read_packages(diag, argc - optind, argv + optind, command);
	if (!diag->errors && command->page && command->packages[0])
		keep_inputs(diag, command);
	return !diag->errors;
}

/* Without a summary, a line says the sizes of --dim. */
static void print_sizes(const struct sk_show *show)
{
	fputs("sizes ", show->stream);
	sk_escape_print(sk_show_chosen(show), show->stream);
	fputs("\n\n", show->stream);
}

static void show(struct sk_arena *arena, const struct sk_package_file *file, const struct command *command)
{
	struct sk_show show = {.arena = arena,
			       .file = file,
			       .task_entries = command->all,
			       .tasks = command->tasks,
			       .by_kernel = command->by_kernel,
			       .stream = stdout};
	bool data = command->json || command->page, others = command->verify || command->explained.count || data;
	bool everything = command->all || (!command->any_chosen && !others);

	if (command->dot) {
		sk_show_dot(&show);
		return;
	}
	if (everything)
		sk_show_summary(&show);
	else if (file->chosen.count && !data)
		print_sizes(&show);
	for (int i = 0; i < ROWS; i++)
		if (rows[i].show && (everything || command->chosen[i]))
			rows[i].show(&show);
}

static void print_verdict(const struct sk_plan_view *plan, const char *verdict)
{
	uint32_t entries = plan->launch_count - plan->network_launch_count, steps = 0;

	for (uint32_t i = 0; i < plan->network_launch_count; i++)
		steps += sk_plan_form(&plan->launches[i])->step_count;
	printf("%s: %u launch%s, %u step%s", verdict, plan->network_launch_count,
	       sk_ending(plan->network_launch_count, "", "es"), steps, sk_plural(steps));
	if (entries)
		printf(", %u task entr%s", entries, sk_ending(entries, "y", "ies"));
	putchar('\n');
}

/* Return false after errors. *partly: everything that could be compared agrees, but not everything could be. */
static bool verify(struct sk_arena *arena, struct sk_diag *diag, const struct sk_package_file *file, bool *partly)
{
	const struct sk_plan_view *plan = &file->plan;
	const struct sk_account *account = file->has_account ? &file->account : NULL;
	struct sk_unknown_code unknown = {0};
	bool sound = sk_verify(arena, diag, plan, file->path, file->account.orders, file->account.order_count, NULL) &&
		     sk_consistency_check(arena, diag, plan, file->path, account) &&
		     sk_kernel_symbols_check(arena, diag, file, &unknown);

	sound &= sk_exchange_check(arena, diag, plan, &file->ranks, file->path);
	if (sound && file->dims.dims)
		sound = sk_verify_sizes(arena, diag, plan, &file->dims, file->path);
	sound &= sk_reemit_compare(diag, file);
	sound &= sk_loadable_check(diag, file);
	if (!sound)
		return false;
	*partly = !account || unknown.kernels || unknown.entries || unknown.symbols;
	print_verdict(plan, *partly ? "verified in part" : "verified");
	if (!account)
		printf("not proved: the orders of 'after' and events, since the package has no section .sk.report\n");
	if (unknown.kernels || unknown.entries)
		printf("not proved: the code of %u kernel%s and %u task entr%s, since the package has no %s\n",
		       unknown.kernels, sk_plural(unknown.kernels), unknown.entries,
		       sk_ending(unknown.entries, "y", "ies"), file->has_symtab ? "symbols there" : "section .symtab");
	if (unknown.symbols)
		printf("not proved: %u symbol%s that kernels get, since the package has no %s\n", unknown.symbols,
		       sk_plural(unknown.symbols), file->has_symtab ? "symbols there" : "section .symtab");
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

	struct sk_plan_view room, *usual = sk_usual_plan(&file->plan, &file->dims, &room);
	const struct sk_explanation_index index = sk_explanation_index(arena, &file->plan, &file->dims, usual, &facts);
	const struct sk_explanation explanation = {arena,  &file->plan, file->has_account ? &file->account : NULL,
						   &facts, &index,	stdout};

	sk_explain_tasks(&explanation, diag, command->explained.items, command->explained.count);
	if (usual)
		sk_plan_close(usual);
}

/* Write data or a page. */
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

/* Return true if the package was verified in part. */
static bool show_package(struct sk_arena *arena, struct sk_diag *diag, const struct command *command)
{
	struct sk_package_file file;
	bool partly = false;

	if (!sk_package_file_open(arena, diag, command->packages[0], &file))
		return false;
	if (command->sizes.count && !sk_package_file_choose(diag, &file, &command->sizes)) {
		sk_package_file_close(&file);
		return false;
	}
	/* A misspelt pattern should not look like a package without such tasks. */
	if (sk_task_filter_is_set(&command->tasks) &&
	    !sk_task_filter_finds(&command->tasks, &file.plan, 0, file.plan.task_count)) {
		sk_error(diag, (struct sk_place){.file = file.path}, "no task matches --task, --kernel and --launch");
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

/* Return true if the plans differ. */
static bool compare_packages(struct sk_arena *arena, struct sk_diag *diag, const struct command *command)
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

/* Show the imports that any package may have. */
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
			print_help();
		else if (command.version)
			puts("skdump " PACKAGE_VERSION);
		else if (command.diff)
			differ = compare_packages(arena, &diag, &command);
		else if (command.imports)
			show_imports(arena);
		else
			partly = show_package(arena, &diag, &command);
	}
	if (fflush(stdout) || ferror(stdout))
		sk_error(&diag, (struct sk_place){0}, "cannot write to standard output");
	sk_diag_flush(&diag, "skdump", 20, stderr);

	bool failed = diag.errors || differ;

	sk_arena_destroy(arena);
	return failed ? 1 : partly ? 2 : 0;
}
