/* skrun: runs a package from the command line. Inputs come from .npy files or a seed; outputs go to .npy files, or into
 * a comparison, or into a summary on the terminal. */
#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loader/flight/module.h"
#include "loader/image/seal.h"
#include "loader/predict/predict.h"
#include "loader/skrun/measure.h"
#include "loader/skrun/session.h"
#include "loader/skrun/task-table.h"
#include "src/base/nearest.h"

static const char help[] =
	"Usage: skrun [OPTION]... PACKAGE\n"
	"Load a package made by sklink and run its network.\n"
	"\n"
	"  --input NAME=FILE    read an input or inout tensor from a .npy file; may be repeated\n"
	"  --output NAME=FILE   write an output or inout tensor to a .npy file; may be repeated\n"
	"  --random SEED        fill all inputs that have no file, the same for the same seed\n"
	"  --verify             compare fused, unfused and serial runs bit for bit\n"
	"  --unfused            run each task by itself instead of the superkernels\n"
	"  --serial             run the serial entries on one thread\n"
	"  --repeat N           run N times (with --verify: and compare each time)\n"
	"  --device DEVICE      host (default); a3 or the file of a profile: simulated, all cores in turn on one "
	"thread\n"
	"  --cores N            cores of each lane (default: the device's; host: one for each processor;\n"
	"                       with --predict: the profile's)\n"
	"  --seed N             simulated devices: another order of the cores for each N\n"
	"  --timeout SECONDS    end a launch that takes longer\n"
	"  --guard              find reads and writes out of bounds, and reads of what is not written\n"
	"  --check-races        find accesses that no await orders (on the device a3 unless --device says otherwise)\n"
	"  --check-integrity    refuse a package that is not as sklink wrote it (strip is allowed)\n"
	"  --trust FILE         refuse a package that is not signed with the key whose public part is in FILE (PEM)\n"
	"  --time               print the median time of a run\n"
	"  --trace FILE         write what each core did when to FILE, for ui.perfetto.dev and chrome://tracing\n"
	"  --profile            print how long each task took, and how long cores waited before it\n"
	"  --list               list tensors and launches, and run nothing\n"
	"  --predict            print what the network would take on a device, unfused and fused (default: the one "
	"that\n"
	"                       the package is linked for); run no kernel\n"
	"  --costs FILE         with --predict: what each task takes, as --measure writes it\n"
	"  --measure FILE       run each task alone on one core, and write what each takes\n"
	"  --help, --version    print this, or the version\n"
	"\n"
	"Without --output and --verify a summary of every output is printed. Exit status: 0, or 1 after an error or a\n"
	"difference.\n";

/* NAME=FILE of --input and --output. */
struct assignment {
	char *name;
	const char *path;
};

struct options {
	struct skrt_source package;
	uint8_t public_key[SK_SEAL_KEY]; /* of --trust */
	struct assignment *inputs, *outputs; /* room for one each argument */
	uint32_t input_count, output_count;
	bool random, verify, time, profile, list, predict;
	const char *trace, *costs, *measure; /* paths, or NULL */
	enum sk_run_mode mode;
	bool mode_given, repeats_given;
	uint64_t seed, repeats;
	struct skrt_device_options device;
};

/* ---- the command line ---- */

static bool parse_number(const char *option, const char *text, uint64_t least, uint64_t most, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && *end == '\0' && errno == 0 && *number >= least && *number <= most)
		return true;
	sk_skrun_error("--%s %s: not a number from %" PRIu64 " to %" PRIu64, option, text, least, most);
	return false;
}

static bool parse_u32(const char *option, const char *text, uint32_t least, uint32_t most, uint32_t *number)
{
	uint64_t value;

	if (!parse_number(option, text, least, most, &value))
		return false;
	*number = (uint32_t)value;
	return true;
}

/* Seconds, with a fraction if need be, as milliseconds. */
static bool parse_seconds(const char *option, const char *text, uint32_t *milliseconds)
{
	char *end;
	double seconds = strtod(text, &end);

	if (*text < '0' || *text > '9' || *end != '\0' || !(seconds >= 0.001 && seconds <= 1000000)) {
		sk_skrun_error("--%s %s: not a number of seconds from 0.001 to 1000000", option, text);
		return false;
	}
	*milliseconds = (uint32_t)(seconds * 1000 + 0.5);
	return true;
}

static bool parse_assignment(const char *option, const char *text, struct assignment *list, uint32_t *count)
{
	const char *sign = strchr(text, '=');

	if (!sign || sign == text || sign[1] == '\0') {
		sk_skrun_error("--%s %s: NAME=FILE is expected", option, text);
		return false;
	}
	char *name = strndup(text, (size_t)(sign - text));
	if (!name) {
		sk_skrun_error("no memory");
		return false;
	}
	for (uint32_t i = 0; i < *count; i++) {
		if (strcmp(list[i].name, name))
			continue;
		sk_skrun_error("--%s %s: tensor '%s' is given twice", option, text, name);
		free(name);
		return false;
	}
	list[(*count)++] = (struct assignment){.name = name, .path = sign + 1};
	return true;
}

static bool set_mode(struct options *options, enum sk_run_mode mode)
{
	if (options->mode_given && options->mode != mode) {
		sk_skrun_error("--unfused and --serial exclude each other");
		return false;
	}
	options->mode = mode;
	options->mode_given = true;
	return true;
}

enum option_number {
	OPTION_INPUT = 256,
	OPTION_OUTPUT,
	OPTION_RANDOM,
	OPTION_VERIFY,
	OPTION_UNFUSED,
	OPTION_SERIAL,
	OPTION_REPEAT,
	OPTION_DEVICE,
	OPTION_CORES,
	OPTION_SEED,
	OPTION_TIMEOUT,
	OPTION_GUARD,
	OPTION_CHECK_RACES,
	OPTION_CHECK_INTEGRITY,
	OPTION_TRUST,
	OPTION_TIME,
	OPTION_TRACE,
	OPTION_PROFILE,
	OPTION_LIST,
	OPTION_PREDICT,
	OPTION_COSTS,
	OPTION_MEASURE,
	OPTION_HELP,
	OPTION_VERSION,
};

static const struct option long_options[] = {
	{"input", required_argument, NULL, OPTION_INPUT},
	{"output", required_argument, NULL, OPTION_OUTPUT},
	{"random", required_argument, NULL, OPTION_RANDOM},
	{"verify", no_argument, NULL, OPTION_VERIFY},
	{"unfused", no_argument, NULL, OPTION_UNFUSED},
	{"serial", no_argument, NULL, OPTION_SERIAL},
	{"repeat", required_argument, NULL, OPTION_REPEAT},
	{"device", required_argument, NULL, OPTION_DEVICE},
	{"cores", required_argument, NULL, OPTION_CORES},
	{"seed", required_argument, NULL, OPTION_SEED},
	{"timeout", required_argument, NULL, OPTION_TIMEOUT},
	{"guard", no_argument, NULL, OPTION_GUARD},
	{"check-races", no_argument, NULL, OPTION_CHECK_RACES},
	{"check-integrity", no_argument, NULL, OPTION_CHECK_INTEGRITY},
	{"trust", required_argument, NULL, OPTION_TRUST},
	{"time", no_argument, NULL, OPTION_TIME},
	{"trace", required_argument, NULL, OPTION_TRACE},
	{"profile", no_argument, NULL, OPTION_PROFILE},
	{"list", no_argument, NULL, OPTION_LIST},
	{"predict", no_argument, NULL, OPTION_PREDICT},
	{"costs", required_argument, NULL, OPTION_COSTS},
	{"measure", required_argument, NULL, OPTION_MEASURE},
	{"help", no_argument, NULL, OPTION_HELP},
	{"version", no_argument, NULL, OPTION_VERSION},
	{NULL, 0, NULL, 0},
};

static bool read_key(struct options *options, const char *path)
{
	const char *error = sk_key_read(path, SK_KEY_PUBLIC, options->public_key);

	if (error)
		sk_skrun_error("%s: %s", path, error);
	options->package.public_key = options->public_key;
	return !error;
}

static bool parse_option(struct options *options, int option)
{
	switch (option) {
	case OPTION_INPUT:
		return parse_assignment("input", optarg, options->inputs, &options->input_count);
	case OPTION_OUTPUT:
		return parse_assignment("output", optarg, options->outputs, &options->output_count);
	case OPTION_RANDOM:
		options->random = true;
		return parse_number("random", optarg, 0, UINT64_MAX, &options->seed);
	case OPTION_VERIFY:
		options->verify = true;
		return true;
	case OPTION_UNFUSED:
		return set_mode(options, SK_RUN_UNFUSED);
	case OPTION_SERIAL:
		return set_mode(options, SK_RUN_SERIAL);
	case OPTION_REPEAT:
		options->repeats_given = true;
		return parse_number("repeat", optarg, 1, 1000000000, &options->repeats);
	case OPTION_DEVICE:
		options->device.device = optarg;
		return true;
	case OPTION_CORES:
		return parse_u32("cores", optarg, 1, 4096, &options->device.cores);
	case OPTION_SEED:
		return parse_number("seed", optarg, 0, UINT64_MAX, &options->device.seed);
	case OPTION_TIMEOUT:
		return parse_seconds("timeout", optarg, &options->device.timeout_ms);
	case OPTION_GUARD:
		options->device.checks |= SKRT_GUARD;
		return true;
	case OPTION_CHECK_RACES:
		options->device.checks |= SKRT_CHECK_RACES;
		return true;
	case OPTION_CHECK_INTEGRITY:
		options->package.check_integrity = 1;
		return true;
	case OPTION_TRUST:
		return read_key(options, optarg);
	case OPTION_TIME:
		options->time = true;
		return true;
	case OPTION_TRACE:
		options->trace = optarg;
		return true;
	case OPTION_PROFILE:
		options->profile = true;
		return true;
	case OPTION_LIST:
		options->list = true;
		return true;
	case OPTION_PREDICT:
		options->predict = true;
		return true;
	case OPTION_COSTS:
		options->costs = optarg;
		return true;
	case OPTION_MEASURE:
		options->measure = optarg;
		return true;
	default:
		return false;
	}
}

/* Options that say what a run does, and what is done with its values. */
static bool is_run(const struct options *options)
{
	return options->input_count || options->output_count || options->random || options->verify || options->time ||
	       options->trace || options->profile || options->mode_given || options->repeats_given ||
	       options->device.seed || options->device.timeout_ms || options->device.checks;
}

static bool check_options(struct options *options)
{
	/* Races need many cores to show. */
	if ((options->device.checks & SKRT_CHECK_RACES) && !options->device.device)
		options->device.device = "a3";
	if (!options->package.path)
		sk_skrun_error("no package given; skrun --help tells more");
	else if (options->verify && options->mode_given)
		sk_skrun_error("--verify runs all ways; --unfused and --serial do not go with it");
	else if (!options->predict && options->costs)
		sk_skrun_error("--costs goes with --predict");
	else if (options->predict && options->measure)
		sk_skrun_error("--predict runs no kernel; measure first, then predict with --costs %s",
			       options->measure);
	else if (options->predict && (options->list || is_run(options)))
		sk_skrun_error("--predict runs no kernel; of the other options only --device, --costs and --cores go "
			       "with it");
	else if (options->measure && (options->output_count || options->verify || options->time || options->trace ||
				      options->profile || options->mode_given))
		sk_skrun_error(
			"--measure runs each task alone; --output, --verify, --time, --trace, --profile, --unfused "
			"and --serial do not go with it");
	else if (options->device.checks && options->mode == SK_RUN_SERIAL)
		sk_skrun_error("serial entries run unchecked: --serial goes with neither --guard nor --check-races");
	else if ((options->trace || options->profile) &&
		 (options->verify || options->mode == SK_RUN_SERIAL || options->device.checks))
		sk_skrun_error(
			"--trace and --profile tell about fused or unfused runs; --verify, --serial, --guard and "
			"--check-races do not go with them");
	else
		return true;
	return false;
}

/* In a word of one-letter options, which we do not have, optind still points at the word. */
static void unknown_option(const char *word)
{
	enum { MOST_OPTIONS = sizeof(long_options) / sizeof(long_options[0]) - 1, LENGTH = 32 };
	char letter[] = {'-', (char)optopt, '\0'}, names[MOST_OPTIONS][LENGTH], misspelt[LENGTH];
	const char *candidates[MOST_OPTIONS], *near;
	bool is_letter = optopt != 0 && optopt < OPTION_INPUT;

	for (int i = 0; i < MOST_OPTIONS; i++) {
		snprintf(names[i], LENGTH, "--%s", long_options[i].name);
		candidates[i] = names[i];
	}
	snprintf(misspelt, LENGTH, "%.*s", (int)strcspn(word, "="), word);
	near = is_letter ? NULL : sk_nearest_name(misspelt, candidates, MOST_OPTIONS);
	if (near)
		sk_skrun_error("unknown option or argument: %s; did you mean '%s'?", word, near);
	else
		sk_skrun_error("unknown option or argument: %s; skrun --help lists them", is_letter ? letter : word);
}

/* False with *status set: the program is to end with it. */
static bool parse_command_line(struct options *options, int argc, char **argv, int *status)
{
	int option;

	*status = EXIT_FAILURE;
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":", long_options, NULL)) != -1) {
		if (option == OPTION_HELP || option == OPTION_VERSION) {
			if (option == OPTION_HELP)
				fputs(help, stdout);
			else
				printf("skrun (" PACKAGE_NAME ") %s\n", skrt_version());
			*status = EXIT_SUCCESS;
			return false;
		}
		if (option == ':') {
			sk_skrun_error("%s needs an argument", argv[optind - 1]);
			return false;
		}
		if (option == '?') {
			unknown_option(argv[optind - 1]);
			return false;
		}
		if (!parse_option(options, option))
			return false;
	}
	for (; optind < argc; optind++) {
		if (options->package.path) {
			sk_skrun_error("more than one package given: %s and %s", options->package.path, argv[optind]);
			return false;
		}
		options->package.path = argv[optind];
	}
	return check_options(options);
}

/* ---- the run ---- */

static int compare_doubles(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static void print_time(const struct options *options, const struct sk_session *session, double *seconds)
{
	static const char *const names[] = {"fused", "unfused", "serial"};

	qsort(seconds, options->repeats, sizeof(*seconds), compare_doubles);
	printf("Time: median %.4g ms, fastest %.4g ms of %" PRIu64 " %s runs (", seconds[options->repeats / 2] * 1e3,
	       seconds[0] * 1e3, options->repeats, names[options->mode]);
	sk_session_print_cores(session);
	printf(")\n");
}

/* Whether a file can be written there. */
static bool check_folder(const char *path, const char *what)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	bool good = folder && access(folder, W_OK) == 0;

	if (!good)
		sk_skrun_error("%s: %s: %s", path, what, strerror(errno));
	free(folder);
	return good;
}

/* Misspelt outputs should not be noticed after a long run. */
static bool check_outputs(struct sk_session *session, const struct options *options)
{
	bool good = (!options->trace || check_folder(options->trace, "the trace")) &&
		    (!options->measure || check_folder(options->measure, "the costs"));

	for (uint32_t i = 0; i < options->output_count; i++) {
		const struct sk_slot *slot = sk_session_find(session, options->outputs[i].name);
		char what[64];

		snprintf(what, sizeof(what), "output '%s'", options->outputs[i].name);
		good &= slot && check_folder(options->outputs[i].path, what);
		if (slot && slot->tensor.role == SKRT_INPUT) {
			sk_skrun_error("tensor '%s' is an input, not an output", slot->tensor.name);
			good = false;
		}
	}
	return good;
}

/* All errors of the inputs and outputs are printed before it ends. */
static bool read_inputs(struct sk_session *session, const struct options *options)
{
	bool good = true;

	for (uint32_t i = 0; i < options->input_count; i++)
		good &= sk_session_read(session, options->inputs[i].name, options->inputs[i].path);
	good &= check_outputs(session, options);
	if (good && options->random)
		sk_session_fill(session, options->seed);
	return good && sk_session_check_filled(session);
}

static bool predict(const struct sk_session *session, const struct options *options)
{
	struct sk_predict_options wanted = {
		.device = options->device.device, .costs = options->costs, .cores = options->device.cores};
	char error[512];

	if (sk_predict(&session->module->plan, &wanted, stdout, error, sizeof(error)))
		return true;
	sk_skrun_error("%s: %s", session->path, error);
	return false;
}

static bool run(struct sk_session *session, const struct options *options, double *seconds)
{
	if (!sk_session_prepare(session) || !read_inputs(session, options))
		return false;
	if (options->measure)
		return sk_measure(session, options->measure, (uint32_t)options->repeats);
	if (options->verify && !sk_session_verify(session, (uint32_t)options->repeats, seconds))
		return false;
	bool traced = options->trace || options->profile;

	if (traced && !sk_session_begin_trace(session))
		return false;
	for (uint64_t i = 0; i < options->repeats && !options->verify; i++)
		if (!sk_session_run(session, options->mode, &seconds[i]))
			return false;
	if (traced && !sk_session_end_trace(session, options->trace))
		return false;
	for (uint32_t i = 0; i < options->output_count; i++)
		if (!sk_session_write(session, options->outputs[i].name, options->outputs[i].path))
			return false;
	if (!options->output_count && !options->verify)
		sk_session_summarise(session);
	if (options->time)
		print_time(options, session, seconds);
	return !options->profile || sk_task_table_print(session->trace);
}

/* ---- when skrun itself fails ---- */

static volatile sig_atomic_t checked; /* the kernels are: they have not done it */

static void say(const char *text)
{
	ssize_t written = write(STDERR_FILENO, text, strlen(text));

	(void)written; /* there is nobody else to tell */
}

/* A fault that libskrt has passed on, since no kernel was at work, or the C library's abort: it has found its heap
 * damaged, and said so. */
static void fail(int number)
{
	say("skrun: error: skrun itself has failed (");
	say(number == SIGABRT ? "SIGABRT" : number == SIGBUS ? "SIGBUS" : "SIGSEGV");
	say(checked ? "): a defect of skrun, or of a serial run or constructor, which are not checked\n"
		    : "): most likely a kernel has written where it must not; --guard says which\n");
	_exit(EXIT_FAILURE);
}

/* Sanitizers have handlers that tell more. */
static void expect_failures(void)
{
	static const int numbers[] = {SIGSEGV, SIGBUS, SIGABRT};
	struct sigaction before;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (!sigaction(numbers[i], NULL, &before) && before.sa_handler == SIG_DFL)
			signal(numbers[i], fail);
}

/* ---- the whole ---- */

static bool work(const struct options *options)
{
	struct sk_session session;
	double *seconds = calloc(options->repeats, sizeof(*seconds));
	struct skrt_device_options device = options->device;

	checked = options->device.checks != 0;
	if (options->predict)
		device = (struct skrt_device_options){.cores = 1}; /* that runs nothing */

	bool good = sk_session_open(&session, &options->package, &device);

	if (!seconds) {
		sk_skrun_error("no memory");
		good = false;
	}
	if (good)
		good = options->list	  ? sk_session_list(&session)
		       : options->predict ? predict(&session, options)
					  : run(&session, options, seconds);
	sk_session_close(&session);
	free(seconds);
	/* A full disk behind stdout is an error too. */
	if (fflush(stdout) || ferror(stdout)) {
		sk_skrun_error("cannot write to standard output: %s", strerror(errno));
		good = false;
	}
	return good;
}

int main(int argc, char **argv)
{
	struct options options = {.repeats = 1};
	int status = EXIT_FAILURE;

	expect_failures();
	options.inputs = calloc((size_t)argc, sizeof(*options.inputs));
	options.outputs = calloc((size_t)argc, sizeof(*options.outputs));
	if (!options.inputs || !options.outputs)
		sk_skrun_error("no memory");
	else if (parse_command_line(&options, argc, argv, &status))
		status = work(&options) ? EXIT_SUCCESS : EXIT_FAILURE;
	for (uint32_t i = 0; i < options.input_count; i++)
		free(options.inputs[i].name);
	for (uint32_t i = 0; i < options.output_count; i++)
		free(options.outputs[i].name);
	free(options.inputs);
	free(options.outputs);
	return status;
}
