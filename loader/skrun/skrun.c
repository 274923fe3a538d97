/* skrun: runs a package from the command line. Inputs come from .npy files or a seed; outputs go to .npy files, or into
 * a comparison, or into a summary on the terminal. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "format/plan/dims.h"
#include "format/plan/plan.h"
#include "loader/flight/flight.h"
#include "loader/predict/predict.h"
#include "loader/ranks/transport.h"
#include "loader/skrt.h"
#include "loader/skrun/skrun.h"

/* ---- the run ---- */

/* Check that a file can be written there. */
static bool check_folder(const char *path, const char *title)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	bool good = folder && access(folder, W_OK) == 0;

	if (!good)
		sk_skrun_error("%s: %s: %s", path, title, strerror(errno));
	free(folder);
	return good;
}

/* Find misspelt outputs now, and not after a long run. */
static bool check_outputs(const struct sk_session *session, const struct sk_run_options *options)
{
	bool good = (!options->trace || check_folder(options->trace, "the trace")) &&
		    (!options->measure || check_folder(options->measure, "the costs"));

	for (uint32_t i = 0; i < options->output_count; i++) {
		const struct sk_slot *slot = options->outputs[i].slot;
		char title[64];

		if (!slot)
			continue;
		snprintf(title, sizeof(title), "output '%s'", slot->tensor.name);
		good &= check_folder(options->outputs[i].path, title) &&
			sk_keep_inputs(session, options, options->outputs[i].path);
		if (slot->tensor.role == SKRT_INPUT) {
			sk_skrun_error("tensor '%s' is an input, not an output", slot->tensor.name);
			good = false;
		}
	}
	return good;
}

/* Return whether the bytes of each tensor with a file are those of the file at the sizes of all runs, now those of the
 * last one. */
static bool check_growth(const struct sk_session *session, const struct sk_run_options *options, const uint64_t *bytes)
{
	bool good = true;

	for (uint32_t i = 0; i < options->input_count; i++) {
		const struct sk_slot *slot = options->inputs[i].slot;

		if (slot->tensor.bytes == bytes[slot - session->slots])
			continue;
		sk_skrun_error("--input %s: the size of '%s' grows from run to run; only --random fills it",
			       options->inputs[i].text, slot->tensor.name);
		good = false;
	}
	return good;
}

/* Fill the inputs for all runs: memory is that of the largest sizes. */
static bool fill_growing(struct sk_session *session, const struct sk_run_options *options)
{
	uint64_t *bytes = calloc(session->slot_count + 1, sizeof(*bytes));
	int64_t runs = (int64_t)options->repeats - 1;
	bool good = bytes;

	for (uint32_t i = 0; i < session->slot_count && good; i++)
		bytes[i] = session->slots[i].tensor.bytes;
	good = good && sk_session_grow(session, runs) && check_growth(session, options, bytes);
	if (good && options->random)
		sk_session_fill(session, options->seed);
	free(bytes);
	return good && sk_session_grow(session, -runs);
}

/* Print all errors of the inputs and outputs before it ends. */
static bool read_inputs(struct sk_session *session, const struct sk_run_options *options)
{
	bool good = sk_session_assign(session, "input", options->inputs, options->input_count);

	good &= sk_session_assign(session, "output", options->outputs, options->output_count);
	if (good && !sk_session_take_shapes(session, options->inputs, options->input_count))
		return false; /* shapes would be compared with sizes that are in doubt */
	for (uint32_t i = 0; i < options->input_count; i++)
		if (options->inputs[i].slot)
			good &= sk_session_read(options->inputs[i].slot, options->inputs[i].path);
	good &= check_outputs(session, options);
	if (good && session->grows)
		good = fill_growing(session, options);
	else if (good && options->random)
		sk_session_fill(session, options->seed);
	return good && sk_session_check_filled(session) && sk_session_protect_inputs(session);
}

/* Report a pattern that matches no task, which would look like tasks that take no time. */
static bool check_filter(const struct sk_session *session, const struct sk_run_options *options)
{
	const struct skrt_network *network = &session->network;

	if (!sk_task_filter_is_set(&options->tasks))
		return true;
	if (!sk_succeeded(sk_module_check_records(session->module)))
		return false;
	if (sk_task_filter_finds(&options->tasks, &session->module->plan, network->first_task, network->task_count))
		return true;
	sk_skrun_error("%s: no task of the network matches --task, --kernel and --launch", session->path);
	return false;
}

static bool check_sizes(const struct sk_session *session, const struct sk_run_options *options)
{
	bool runs = options->verify || options->measure || options->predict || options->list || options->trace ||
		    options->profile || options->warm_up || options->device.checks & SKRT_CHECK_SPLIT;

	if (session->grows && runs) {
		sk_skrun_error("sizes that grow are those of the runs of --repeat; --verify, --measure, --predict, "
			       "--list, --trace, --profile, --warm-up and --check-split do not go with them");
		return false;
	}
	if (!options->sizes || session->module->dims.dims)
		return true;
	sk_skrun_error("%s: --sizes: the sizes of this package do not vary", session->path);
	return false;
}

/* Take the sizes of input files for a prediction, which reads nothing else from them. */
static bool take_sizes(struct sk_session *session, const struct sk_run_options *options)
{
	bool good = true;

	if (!options->input_count)
		return true;
	if (!session->module->dims.dims) {
		sk_skrun_error("%s: --input says the sizes of a prediction, and those of this package do not vary",
			       session->path);
		return false;
	}
	if (!sk_session_prepare(session) ||
	    !sk_session_assign(session, "input", options->inputs, options->input_count) ||
	    !sk_session_take_shapes(session, options->inputs, options->input_count))
		return false;
	for (uint32_t i = 0; i < options->input_count; i++)
		good &= sk_session_read(options->inputs[i].slot, options->inputs[i].path);
	return good;
}

static bool predict(struct sk_session *session, const struct sk_run_options *options)
{
	char sizes[SK_DIMS_TEXT_SIZE];
	struct sk_predict_options wanted = {.device = options->device.device,
					    .costs = options->costs,
					    .trace = options->trace,
					    .tasks = options->tasks,
					    .by_kernel = options->by_kernel,
					    .cores = options->device.cores};
	struct sk_plan_network network;
	char error[512];

	if (!sk_succeeded(sk_module_find_network(session->module, options->network, &network)) ||
	    !take_sizes(session, options))
		return false;
	sk_session_sizes_text(session, sizes, sizeof(sizes));
	wanted.network = &network;
	wanted.ranks = &session->module->ranks;
	wanted.sizes = session->module->dims.dims ? sizes : NULL;
	if (sk_plan_make_room(&session->module->plan, error, sizeof(error)) &&
	    sk_predict(session->plan, &wanted, stdout, error, sizeof(error)))
		return true;
	sk_skrun_error("%s: %s", session->path, error);
	return false;
}

/* Verify corners of the bounds, and random sizes, with random inputs. */
static bool verify_sizes(struct sk_session *session, const struct sk_run_options *options, double *seconds)
{
	for (uint64_t i = 0; i < options->sizes; i++) {
		if (!sk_session_sample_sizes(session, i, options->seed) || !sk_session_refill(session, options->seed) ||
		    !sk_session_verify(session, (uint32_t)options->repeats, seconds))
			return false;
	}
	return true;
}

/* With a number of cores in the options, verify only that number. */
static bool verify(struct sk_session *session, const struct sk_run_options *options, double *seconds)
{
	if (options->sizes)
		return verify_sizes(session, options, seconds);
	if (!sk_session_verify(session, (uint32_t)options->repeats, seconds))
		return false;
	if (options->time)
		sk_results_print_time(session, options, seconds);
	return options->device.cores || sk_session_verify_fewer(session, &options->package, &options->device);
}

/* seconds gets the time of each run, or is NULL. */
static bool run_often(struct sk_session *session, enum sk_run_mode mode, const char *kind, uint64_t count,
		      double *seconds)
{
	double unused;

	sk_progress_begin(kind, count);
	for (uint64_t i = 0; i < count; i++) {
		if (!sk_session_run(session, mode, seconds ? &seconds[i] : &unused) ||
		    (session->grows && i + 1 < count && !sk_session_grow(session, 1)))
			return false;
		sk_progress_step();
	}
	sk_progress_end();
	return true;
}

/* Return whether the run prints results for people. --sizes prints its sizes by itself. */
static bool is_told(const struct sk_run_options *options)
{
	bool results = options->verify || options->time || options->profile || options->device.checks;

	return !options->json && !options->sizes && !options->measure && (results || !options->output_count);
}

/* Return whether neither results for people nor files with sizes tell the sizes of the run. */
static bool is_silent(const struct sk_run_options *options)
{
	return !is_told(options) && !options->json && !options->sizes && !options->measure;
}

static bool run_session(struct sk_session *session, const struct sk_run_options *options, double *seconds)
{
	if (!sk_session_prepare(session) || !read_inputs(session, options))
		return false;
	if (is_told(options) && !session->grows)
		sk_session_print_sizes(session);
	if (is_silent(options))
		sk_session_note_usual(session);
	if (options->measure)
		return sk_measure(session, options->measure, (uint32_t)options->repeats);
	if (options->verify && !verify(session, options, seconds))
		return false;
	bool runs_tasks = options->device.checks & SKRT_CHECK_SPLIT;

	if (runs_tasks && !sk_session_check_split(session, (uint32_t)options->repeats))
		return false;
	static const char *const kinds[] = {"fused run", "unfused run", "serial run"};
	bool traced = options->trace || options->profile;

	if (!run_often(session, options->mode, "warm-up run", options->warm_up, NULL))
		return false;
	if (traced && !sk_session_begin_trace(session))
		return false;
	if (!options->verify && !runs_tasks &&
	    !run_often(session, options->mode, kinds[options->mode], options->repeats, seconds))
		return false;
	if (is_told(options) && session->grows)
		sk_session_print_sizes(session);
	if (traced && !sk_session_end_trace(session, options->trace))
		return false;
	if (!sk_rank_agree("the end of the runs"))
		return false;
	for (uint32_t i = 0; i < options->output_count; i++)
		if (!sk_session_write(options->outputs[i].slot, options->outputs[i].path))
			return false;
	if (options->json)
		return sk_results_print_json(session, options, seconds);
	if (!options->output_count && !options->verify && !runs_tasks)
		sk_session_summarise(session, options->verbose);
	sk_session_print_checks(session, options->device.checks);
	if (options->time && !options->verify)
		sk_results_print_time(session, options, seconds);
	return !options->profile || sk_task_table_print(session, options);
}

/* ---- failures of skrun itself ---- */

static volatile sig_atomic_t checked; /* kernels run with checks, so a failure is not theirs */

static void print_error(const char *text)
{
	ssize_t written = write(STDERR_FILENO, text, strlen(text));

	(void)written; /* an error here cannot be reported */
}

/* Handle a fault that libskrt has passed on, since no kernel was running, or an abort of the C library, which has
 * reported a damaged heap. */
static void report_fault(int number)
{
	print_error(sk_progress_is_shown() ? "\nskrun: error: skrun itself has failed ("
					   : "skrun: error: skrun itself has failed (");
	print_error(number == SIGABRT ? "SIGABRT" : number == SIGBUS ? "SIGBUS" : "SIGSEGV");
	print_error(checked ? "): a defect of skrun, or of a serial run or constructor, which are not checked\n"
			    : "): most likely a kernel has written where it must not; --guard says which\n");
	_exit(EXIT_FAILURE);
}

/* Leave the handlers of sanitizers, which report more. */
static void expect_failures(void)
{
	static const int numbers[] = {SIGSEGV, SIGBUS, SIGABRT};
	struct sigaction before;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (!sigaction(numbers[i], NULL, &before) && before.sa_handler == SIG_DFL)
			signal(numbers[i], report_fault);
	sk_mapped_watch();
}

/* ---- main ---- */

static bool work(struct sk_run_options *options)
{
	struct sk_session session;
	double *seconds = calloc(options->repeats, sizeof(*seconds));
	struct skrt_device_options device = options->device;

	checked = options->device.checks != 0;
	if (options->predict)
		device = (struct skrt_device_options){.size = sizeof(device), .cores = 1}; /* only opened, not run */

	bool good = sk_session_open(&session, &options->package, options->network, &device) &&
		    sk_session_read_dimensions(&session, options->dimensions, options->dimension_count) &&
		    check_sizes(&session, options) && sk_session_plan(&session) && check_filter(&session, options) &&
		    sk_keep_inputs(&session, options, options->trace) &&
		    sk_keep_inputs(&session, options, options->page) &&
		    sk_keep_inputs(&session, options, options->measure);

	if (!seconds) {
		sk_skrun_error("no memory");
		good = false;
	}
	if (good)
		sk_session_leave_unused(&session, options->inputs, &options->input_count);
	if (good)
		good = options->list	  ? sk_session_list(&session)
		       : options->predict ? predict(&session, options)
					  : run_session(&session, options, seconds);
	if (!good)
		sk_session_suspect_random(&session);
	sk_session_close(&session);
	free(seconds);
	if (good && options->page)
		good = sk_page_make(options->page, options->trace, options->package.path);
	/* A full disk under stdout is also an error. */
	if (fflush(stdout) || ferror(stdout)) {
		sk_skrun_error("cannot write to standard output: %s", strerror(errno));
		good = false;
	}
	return good;
}

/* Run as one of the ranks of a launcher, or simulate ranks, or neither. */
static bool run(struct sk_run_options *options)
{
	struct sk_launcher launcher = sk_launcher_find();
	const char *transport = sk_plugin_choose(&launcher);

	if (transport)
		return sk_launched_run(options, transport, &launcher, work);
	return options->ranks ? sk_ranks_run(options, work) : work(options);
}

int main(int argc, char **argv)
{
	struct sk_run_options options;
	int status = EXIT_SUCCESS;

	expect_failures();
	if (!sk_run_options_read(&options, argc, argv))
		status = EXIT_FAILURE;
	else if (options.help)
		sk_run_options_help();
	else if (options.version)
		printf("skrun (" PACKAGE_NAME ") %s\n", skrt_version());
	else if (!run(&options))
		status = EXIT_FAILURE;
	sk_run_options_free(&options);
	return status;
}
