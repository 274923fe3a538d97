/* The command line of skrun: a table of options, of which --help is the text. */
#include "config.h"

#include "loader/skrun/skrun.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "format/plan/plan.h"
#include "format/seal.h"
#include "format/skranks.h"
#include "loader/skrt.h"

struct row;

/* The action of an option. Its value is NULL if it has none. */
typedef bool apply_function(struct sk_run_options *options, const struct row *row, const char *value);

struct row {
	const char *name;
	const char *value; /* its name in --help; NULL: none */
	const char *text; /* its lines in --help; NULL: not there */
	apply_function *apply;
	size_t field; /* of struct sk_run_options */
	uint64_t least, most; /* of a number */
	uint32_t constant; /* a bit of checks; a mode */
};

/* ---- actions of options ---- */

static bool set_flag(struct sk_run_options *options, const struct row *row, const char *value)
{
	(void)value;
	*(bool *)((char *)options + row->field) = true;
	return true;
}

static bool set_text(struct sk_run_options *options, const struct row *row, const char *value)
{
	*(const char **)((char *)options + row->field) = value;
	return true;
}

static bool read_number(const struct row *row, const char *text, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && *end == '\0' && errno == 0 && *number >= row->least && *number <= row->most)
		return true;
	sk_skrun_error("--%s %s: not a number from %" PRIu64 " to %" PRIu64, row->name, text, row->least, row->most);
	return false;
}

static bool set_number(struct sk_run_options *options, const struct row *row, const char *value)
{
	return read_number(row, value, (uint64_t *)((char *)options + row->field));
}

static bool set_random(struct sk_run_options *options, const struct row *row, const char *value)
{
	options->random = true;
	return read_number(row, value, &options->seed);
}

static bool set_repeats(struct sk_run_options *options, const struct row *row, const char *value)
{
	options->repeats_given = true;
	return read_number(row, value, &options->repeats);
}

static bool set_launch(struct sk_run_options *options, const struct row *row, const char *value)
{
	options->tasks.by_launch = true;
	return read_number(row, value, &options->tasks.launch);
}

static bool set_cores(struct sk_run_options *options, const struct row *row, const char *value)
{
	uint64_t cores;

	if (!read_number(row, value, &cores))
		return false;
	options->device.cores = (uint32_t)cores;
	return true;
}

/* Set a time-out in seconds, possibly with a fraction. */
static bool set_timeout(struct sk_run_options *options, const struct row *row, const char *value)
{
	char *end;
	double seconds = strtod(value, &end);

	if (*value < '0' || *value > '9' || *end != '\0' || !(seconds >= 0.001 && seconds <= 1000000)) {
		sk_skrun_error("--%s %s: not a number of seconds from 0.001 to 1000000", row->name, value);
		return false;
	}
	options->device.timeout_ms = (uint32_t)(seconds * 1000 + 0.5);
	return true;
}

static bool add_assignment(const char *option, const char *text, struct sk_assignment *list, uint32_t *count)
{
	const char *sign = *text ? strchr(text + 1, '=') : NULL;

	if (!sign || sign[1] == '\0') {
		sk_skrun_error("--%s %s: NAME=FILE is expected", option, text);
		return false;
	}
	list[(*count)++] = (struct sk_assignment){.text = text};
	return true;
}

static bool add_input(struct sk_run_options *options, const struct row *row, const char *value)
{
	return add_assignment(row->name, value, options->inputs, &options->input_count);
}

static bool add_output(struct sk_run_options *options, const struct row *row, const char *value)
{
	return add_assignment(row->name, value, options->outputs, &options->output_count);
}

static bool add_dimension(struct sk_run_options *options, const struct row *row, const char *value)
{
	(void)row;
	options->dimensions[options->dimension_count++] = value;
	return true;
}

static bool set_mode(struct sk_run_options *options, const struct row *row, const char *value)
{
	enum sk_run_mode mode = (enum sk_run_mode)row->constant;

	(void)value;
	if (options->mode_given && options->mode != mode) {
		sk_skrun_error("--unfused and --serial exclude each other");
		return false;
	}
	options->mode = mode;
	options->mode_given = true;
	return true;
}

static bool add_check(struct sk_run_options *options, const struct row *row, const char *value)
{
	(void)value;
	options->device.checks |= row->constant;
	return true;
}

static bool check_integrity(struct sk_run_options *options, const struct row *row, const char *value)
{
	(void)row;
	(void)value;
	options->package.check_integrity = 1;
	return true;
}

static bool read_key(struct sk_run_options *options, const struct row *row, const char *value)
{
	const char *error = sk_key_read(value, SK_KEY_PUBLIC, options->public_key);

	(void)row;
	if (error)
		sk_skrun_error("%s: %s", value, error);
	options->package.public_key = options->public_key;
	return !error;
}

/* ---- the table ---- */

#define FIELD(name) .field = offsetof(struct sk_run_options, name)

static const struct row rows[] = {
	{"input", "NAME=FILE", "read an input or inout tensor from a .npy file; may be repeated", add_input},
	{"output", "NAME=FILE", "write an output or inout tensor to a .npy file; may be repeated", add_output},
	{"dim", "NAME=SIZE[+STEP]",
	 "the size of a dimension that no input file has, in a package with bounds\n"
	 "(default: the usual size), and STEP more in each further run of --repeat;\n"
	 "may be repeated",
	 add_dimension},
	{"network", "NAME", "the network to run, in a package of several", set_text, FIELD(network)},
	{"random", "SEED", "fill all inputs that have no file, the same for the same seed", set_random,
	 .most = UINT64_MAX},
	{"verify", NULL,
	 "compare fused, unfused and serial runs bit for bit; without --cores also fused ones\n"
	 "on 1 and on 2 cores",
	 set_flag, FIELD(verify)},
	{"sizes", "N",
	 "with --verify and --random: first do that at N sizes, corners of the bounds and\n"
	 "random ones",
	 set_number, FIELD(sizes), .least = 1, .most = 1000000},
	{"unfused", NULL, "run each task by itself instead of the superkernels", set_mode, .constant = SK_RUN_UNFUSED},
	{"serial", NULL, "run the serial entries on one thread", set_mode, .constant = SK_RUN_SERIAL},
	{"repeat", "N", "run N times (with --verify: and compare each time)", set_repeats, .least = 1,
	 .most = 1000000000},
	{"ranks", "N",
	 "simulate a package of N ranks on this machine, a process for each; %r in names of\n"
	 "files is a rank's number",
	 set_number, FIELD(ranks), .least = 1, .most = SK_MAX_RANKS},
	{"check-ranks", NULL, "before each exchange compare the places of all ranks in their order of exchanges",
	 set_flag, FIELD(check_ranks)},
	{"device", "DEVICE", "host (default); a3 or the file of a profile: simulated, all cores in turn on one thread",
	 set_text, FIELD(device.device)},
	{"cores", "N",
	 "cores of each lane (default: the device's; host: one for each processor;\n"
	 "with --predict: the profile's)",
	 set_cores, .least = 1, .most = 4096},
	{"seed", "N",
	 "simulated devices: another order of the cores for each N; --ranks: also an order in\n"
	 "which ranks come to each exchange",
	 set_number, FIELD(device.seed), .most = UINT64_MAX},
	{"timeout", "SECONDS", "end a launch that takes longer", set_timeout},
	{"guard", NULL,
	 "find reads and writes out of bounds, reads of unwritten bytes, and outputs that\n"
	 "a kernel does not write whole",
	 add_check, .constant = SKRT_GUARD},
	{"check-races", NULL, "find accesses that no await orders (on the device a3 unless --device says otherwise)",
	 add_check, .constant = SKRT_CHECK_RACES},
	{"check-split", NULL, "run each task by itself, and find kernels that compute other bits in parts than at once",
	 add_check, .constant = SKRT_CHECK_SPLIT},
	{"check-integrity", NULL, "refuse a package that is not as sklink wrote it (strip is allowed)",
	 check_integrity},
	{"trust", "FILE", "refuse a package without a signature by the owner of the public key in FILE (PEM)",
	 read_key},
	{"weights", "FILE", "the constants of the package are in FILE (default: the file that it names, beside it)",
	 set_text, FIELD(package.weights)},
	{"time", NULL,
	 "print the median time of a run, and that within which 90 % and 99 % of them stay\n"
	 "(alone: of one, the first; better with --warm-up 10 --repeat 100)",
	 set_flag, FIELD(time)},
	{"warm-up", "N", "run N times before --time, --trace and --profile begin", set_number, FIELD(warm_up),
	 .most = 1000000000},
	{"json", NULL, "print only the results of --time and --profile, as JSON", set_flag, FIELD(json)},
	{"trace", "FILE",
	 "write the activities of each core to FILE, for ui.perfetto.dev, chrome://tracing and\n"
	 "skdump --html; with --predict, the predicted ones, unfused and fused",
	 set_text, FIELD(trace)},
	{"html", "FILE", "with --trace: write the page of skdump --html with that trace, for a browser", set_text,
	 FIELD(page)},
	{"profile", NULL, "print how long each task took, and how long cores waited before it", set_flag,
	 FIELD(profile)},
	{"task", "GLOB", "of --profile and --predict: only tasks of such a name", set_text, FIELD(tasks.task)},
	{"kernel", "GLOB", "the same: only tasks with a kernel of such a name", set_text, FIELD(tasks.kernel)},
	{"launch", "N", "the same: only tasks of that launch, by its number in skdump --launches", set_launch,
	 .most = UINT32_MAX},
	{"by-kernel", NULL, "of --profile and --predict: sums by kernel", set_flag, FIELD(by_kernel)},
	{"verbose", NULL, "sum up all outputs, not the first 20 alone", set_flag, FIELD(verbose)},
	{"list", NULL, "list tensors and launches, and run nothing", set_flag, FIELD(list)},
	{"predict", NULL,
	 "print the predicted time of the network on a device, unfused and fused (default: the\n"
	 "one that the package is linked for); run no kernel",
	 set_flag, FIELD(predict)},
	{"costs", "FILE", "with --predict: the time of each task, as --measure writes it", set_text, FIELD(costs)},
	{"measure", "FILE", "run each task alone on one core, and write its time", set_text, FIELD(measure)},
	{"help", NULL, NULL, set_flag, FIELD(help)},
	{"version", NULL, NULL, set_flag, FIELD(version)},
};

enum { ROW_COUNT = sizeof(rows) / sizeof(rows[0]), FIRST_NUMBER = 256 /* after all letters */ };

static void print_row(const struct row *row)
{
	enum { INDENT = 23 };
	int written = printf("  --%s%s%s", row->name, row->value ? " " : "", row->value ? row->value : "");

	for (const char *line = row->text; line;) {
		const char *end = strchrnul(line, '\n');

		printf("%*s%.*s\n", INDENT - written, "", (int)(end - line), line);
		line = *end ? end + 1 : NULL;
		written = 0;
	}
}

void sk_run_options_help(void)
{
	puts("Usage: skrun [OPTION]... PACKAGE\n"
	     "Load a package made by sklink and run its network.\n");
	for (int i = 0; i < ROW_COUNT; i++)
		if (rows[i].text)
			print_row(&rows[i]);
	puts("  --help, --version    print this, or the version\n"
	     "\n"
	     "Without --output and --verify a summary of every output is printed. Exit status: 0, or 1 after an error "
	     "or "
	     "a\n"
	     "difference.");
}

/* ---- conditions among options ---- */

/* Return whether there are options of runs or of their values. --trace also goes with predictions, and --input says
 * their sizes. */
static bool is_run(const struct sk_run_options *options)
{
	return options->output_count || options->random || options->verify || options->time || options->profile ||
	       options->mode_given || options->repeats_given || options->device.seed || options->device.timeout_ms ||
	       options->device.checks || options->warm_up;
}

/* Check the options for printing times and choosing tasks. */
static bool check_telling(const struct sk_run_options *options)
{
	bool chosen = sk_task_filter_is_set(&options->tasks) || options->by_kernel;

	if (options->json && !options->time && !options->profile)
		sk_skrun_error("--json prints measured values; it goes with --time or --profile");
	else if (options->json && options->verify)
		sk_skrun_error("--json prints only times; --verify does not go with it");
	else if (chosen && !options->profile && !options->predict)
		sk_skrun_error("--task, --kernel, --launch and --by-kernel go with --profile or --predict");
	else
		return true;
	return false;
}

static bool check_options(struct sk_run_options *options)
{
	/* Races show only with many cores. */
	if ((options->device.checks & SKRT_CHECK_RACES) && !options->device.device)
		options->device.device = "a3";
	bool split = options->device.checks & SKRT_CHECK_SPLIT;

	if (!options->package.path)
		sk_skrun_error("no package given; skrun --help tells more");
	else if (options->sizes && (!options->verify || !options->random || options->input_count))
		sk_skrun_error("--sizes fills inputs of several sizes; it goes with --verify and --random, and not "
			       "with --input");
	else if (options->verify && options->mode_given)
		sk_skrun_error("--verify runs all ways; --unfused and --serial do not go with it");
	else if (split && (options->verify || options->mode == SK_RUN_SERIAL || options->time || options->measure))
		sk_skrun_error(
			"--check-split runs each task in parts; --verify, --serial, --time and --measure do not go "
			"with it");
	else if (options->ranks && (options->list || options->predict || options->sizes))
		sk_skrun_error("--ranks runs the network on each rank; --list, --predict and --sizes do not go with "
			       "it");
	else if (options->page && !options->trace)
		sk_skrun_error("--html shows a trace; it goes with --trace");
	else if (options->page && sk_is_special(options->trace))
		sk_skrun_error("--html shows the trace that has been written; --trace needs a file for it");
	else if (options->page && !strcmp(options->page, options->trace))
		sk_skrun_error("--html and --trace need a file each");
	else if (options->list && (options->trace || options->page || options->measure || options->output_count))
		sk_skrun_error("--list runs nothing; --output, --trace, --html and --measure do not go with it");
	else if (!options->predict && options->costs)
		sk_skrun_error("--costs goes with --predict");
	else if (options->predict && options->measure)
		sk_skrun_error("--predict runs no kernel; measure first, then predict with --costs %s",
			       options->measure);
	else if (options->predict && (options->list || is_run(options)))
		sk_skrun_error(
			"--predict runs no kernel; of the other options only --device, --costs, --cores, --trace, "
			"--html and, for sizes, --dim and --input go with it");
	else if (options->measure && (options->output_count || options->verify || options->time || options->trace ||
				      options->profile || options->mode_given))
		sk_skrun_error(
			"--measure runs each task alone; --output, --verify, --time, --trace, --profile, --unfused "
			"and --serial do not go with it");
	else if (options->warm_up && (options->list || options->verify || options->measure || split))
		sk_skrun_error("--warm-up is for measured runs; --list, --verify, --measure and --check-split do "
			       "not go with it");
	else if (options->device.checks && options->mode == SK_RUN_SERIAL)
		sk_skrun_error("serial entries run unchecked: --serial goes with neither --guard nor --check-races");
	else if ((options->trace || options->profile) &&
		 (options->verify || options->mode == SK_RUN_SERIAL || options->device.checks))
		sk_skrun_error("--trace and --profile show fused or unfused runs; --verify, --serial, --guard, "
			       "--check-races and --check-split do not go with them");
	else
		return check_telling(options);
	return false;
}

/* ---- the words of the command line ---- */

/* In a word of one-letter options, which skrun does not have, optind would still point at the word. */
static void unknown_option(const char *word)
{
	enum { LENGTH = 32 };
	char letter[] = {'-', (char)optopt, '\0'}, names[ROW_COUNT][LENGTH], misspelt[LENGTH];
	const char *candidates[ROW_COUNT], *near;
	bool is_letter = optopt != 0 && optopt < FIRST_NUMBER;

	for (int i = 0; i < ROW_COUNT; i++) {
		snprintf(names[i], LENGTH, "--%s", rows[i].name);
		candidates[i] = names[i];
	}
	snprintf(misspelt, LENGTH, "%.*s", (int)strcspn(word, "="), word);
	near = is_letter ? NULL : sk_nearest_name(misspelt, candidates, ROW_COUNT);
	if (near)
		sk_skrun_error("unknown option or argument: %s; did you mean '%s'?", word, near);
	else
		sk_skrun_error("unknown option or argument: %s; skrun --help lists them", is_letter ? letter : word);
}

/* Read the options; the remaining words are operands. */
static bool read_options(struct sk_run_options *options, int argc, char **argv)
{
	struct option long_options[ROW_COUNT + 1] = {0};
	int number;

	for (int i = 0; i < ROW_COUNT; i++)
		long_options[i] = (struct option){rows[i].name, rows[i].value ? required_argument : no_argument, NULL,
						  FIRST_NUMBER + i};
	opterr = 0;
	while ((number = getopt_long(argc, argv, ":", long_options, NULL)) != -1) {
		if (number == ':') {
			sk_skrun_error("%s needs an argument", argv[optind - 1]);
			return false;
		}
		if (number == '?') {
			unknown_option(argv[optind - 1]);
			return false;
		}

		const struct row *row = &rows[number - FIRST_NUMBER];

		if (!row->apply(options, row, optarg))
			return false;
		if (options->help || options->version)
			return true;
	}
	return true;
}

bool sk_run_options_read(struct sk_run_options *options, int argc, char **argv)
{
	*options = (struct sk_run_options){
		.package.size = sizeof(options->package),
		.device.size = sizeof(options->device),
		.repeats = 1,
		.inputs = calloc((size_t)argc, sizeof(*options->inputs)),
		.outputs = calloc((size_t)argc, sizeof(*options->outputs)),
		.dimensions = calloc((size_t)argc, sizeof(*options->dimensions)),
	};
	if (!options->inputs || !options->outputs || !options->dimensions) {
		sk_skrun_error("no memory");
		return false;
	}
	if (!read_options(options, argc, argv))
		return false;
	if (options->help || options->version)
		return true;
	for (; optind < argc; optind++) {
		if (options->package.path) {
			sk_skrun_error("more than one package given: %s and %s", options->package.path, argv[optind]);
			return false;
		}
		options->package.path = argv[optind];
	}
	return check_options(options);
}

void sk_run_options_free(struct sk_run_options *options)
{
	free(options->inputs);
	free(options->outputs);
	free(options->dimensions);
}
