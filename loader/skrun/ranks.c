/* skrun --ranks: the processes of simulated ranks. The parent looks at the package, makes the shared memory, and waits;
 * each child is a skrun of its own for one rank, with names of files for that rank. Only rank 0 prints results. */
#include "config.h"

#include "loader/skrun/skrun.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "format/plan/plan.h"
#include "format/plan/ranks.h"
#include "loader/image/image.h"
#include "loader/ranks/transport.h"
#include "loader/skrt.h"

enum {
	TIMEOUT = 60000, /* ms, if --timeout does not say another one */
	GRACE = 2000000, /* µs, in which ranks end after one has failed; */
	PAUSE = 5000, /* µs between two looks at them */
};

static struct sk_transport transport;
static bool joined;

const struct sk_transport *sk_ranks_transport(void)
{
	return joined ? &transport : NULL;
}

/* ---- names of files ---- */

/* Return the text with "%r" replaced by the number, to be freed; NULL for NULL. */
static char *for_rank(const char *text, uint32_t rank)
{
	char *result = NULL;
	size_t size;

	if (!text)
		return NULL;
	FILE *stream = open_memstream(&result, &size);

	if (!stream)
		return NULL;
	for (; *text; text++)
		if (text[0] == '%' && text[1] == 'r') {
			fprintf(stream, "%" PRIu32, rank);
			text++;
		} else {
			putc(*text, stream);
		}
	return fclose(stream) ? NULL : result;
}

static bool names_ranks(const char *text)
{
	return strstr(text, "%r") != NULL;
}

static bool check_output(const char *option, const char *text)
{
	if (!text || names_ranks(text))
		return true;
	sk_skrun_error("--%s %s: each rank writes a file of its own; write %%r where its number is to be in the name",
		       option, text);
	return false;
}

static bool check_names(const struct sk_run_options *options)
{
	bool good =
		options->ranks < 2 || (check_output("trace", options->trace) && check_output("html", options->page) &&
				       check_output("measure", options->measure));

	for (uint32_t i = 0; i < options->output_count && options->ranks > 1; i++)
		good &= check_output("output", options->outputs[i].text);
	return good;
}

/* Give the options the names of the rank. */
static void set_names(struct sk_run_options *options, uint32_t rank)
{
	options->package.path = for_rank(options->package.path, rank);
	options->package.weights = for_rank(options->package.weights, rank);
	options->trace = for_rank(options->trace, rank);
	options->page = for_rank(options->page, rank);
	options->measure = for_rank(options->measure, rank);
	for (uint32_t i = 0; i < options->input_count; i++)
		options->inputs[i].text = for_rank(options->inputs[i].text, rank);
	for (uint32_t i = 0; i < options->output_count; i++)
		options->outputs[i].text = for_rank(options->outputs[i].text, rank);
}

/* ---- the packages ---- */

/* Raise *most to the bytes that a rank sends at once. False: it is not a package for so many ranks. */
static bool measure_package(const char *path, uint64_t wanted, uint64_t *most)
{
	struct sk_ranks_view ranks = {NULL};
	struct sk_image image;
	char error[256] = "";
	uint64_t size = 0;

	if (!sk_succeeded(sk_image_open(&(struct sk_source){.name = path, .file = -1, .only_looked_at = true}, &image)))
		return false;
	const void *bytes = sk_image_find(&image, "sk_ranks", &size);

	if (!bytes)
		snprintf(error, sizeof(error),
			 "the package is for one process, not for ranks (sklink --ranks makes "
			 "packages for several)");
	else if (sk_ranks_open(bytes, size, &ranks, error, sizeof(error)) && ranks.rank_count != wanted)
		snprintf(error, sizeof(error), "the package is for %" PRIu32 " ranks, and --ranks says %" PRIu64,
			 ranks.rank_count, wanted);
	for (uint32_t i = 0; i < ranks.exchange_count; i++) {
		uint64_t sent = sk_ranks_sent(&ranks, &ranks.exchanges[i]);

		*most = sent > *most ? sent : *most;
	}
	sk_image_close(&image);
	if (*error)
		sk_skrun_error("%s: %s", path, error);
	return !*error;
}

static bool measure_packages(const struct sk_run_options *options, uint64_t *most)
{
	bool each = names_ranks(options->package.path), good = true;

	for (uint32_t rank = 0; rank < (each ? options->ranks : 1) && good; rank++) {
		char *path = for_rank(options->package.path, rank);

		good = measure_package(path, options->ranks, most);
		free(path);
	}
	return good;
}

/* ---- processes ---- */

/* Divide the processors among the ranks, so that the workers of two do not wait on one. */
static void take_processors(uint32_t rank, uint32_t ranks)
{
	cpu_set_t all, own;
	uint32_t count, number = 0;

	if (sched_getaffinity(0, sizeof(all), &all))
		return;
	CPU_ZERO(&own);
	count = (uint32_t)CPU_COUNT(&all);
	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET((size_t)i, &all))
			continue;
		if (count >= ranks ? (uint64_t)number * ranks / count == rank : rank % count == number)
			CPU_SET((size_t)i, &own);
		number++;
	}
	sched_setaffinity(0, sizeof(own), &own);
}

/* Only one rank prints results. */
static bool become_silent(void)
{
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

	return nowhere >= 0 && dup2(nowhere, STDOUT_FILENO) >= 0;
}

static _Noreturn void run_rank(struct sk_run_options *options, uint32_t rank, struct sk_shared_ranks *simulation,
			       bool (*work)(struct sk_run_options *options))
{
	bool good;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sk_messages_of_rank(rank);
	sk_simulation_join(simulation, rank, &transport);
	joined = true;
	set_names(options, rank);
	take_processors(rank, (uint32_t)options->ranks);
	if (options->random)
		options->seed += rank; /* other values on each rank */
	good = (rank == 0 || become_silent()) && work(options);
	if (!good)
		transport.abort(transport.context, "see its message");
	fflush(NULL);
	_exit(good ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* The processes of the ranks, as the parent sees them. */
struct ranks {
	struct sk_shared_ranks *simulation;
	pid_t *processes; /* 0: it has ended */
	uint32_t count, left;
	bool failed;
};

static void end_rank(struct ranks *ranks, pid_t process, int status)
{
	uint32_t rank = 0;
	char text[64];

	while (rank < ranks->count && ranks->processes[rank] != process)
		rank++;
	if (rank == ranks->count)
		return;
	ranks->processes[rank] = 0;
	ranks->left--;
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS)
		return;
	ranks->failed = true;
	snprintf(text, sizeof(text), "it was ended by signal %d", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	if (WIFSIGNALED(status))
		sk_skrun_error("rank %" PRIu32 ": %s", rank, text);
	sk_simulation_abort(ranks->simulation, rank, WIFSIGNALED(status) ? text : "see its message");
}

/* Wait for all ranks. A rank that ends without a word lets the others end, too; one that is stopped does not see it. */
static bool wait_for_ranks(struct ranks *ranks)
{
	for (uint32_t waited = 0; ranks->left;) {
		int status;
		pid_t ended = waitpid(-1, &status, ranks->failed ? WNOHANG : 0);

		if (ended > 0)
			end_rank(ranks, ended, status);
		else if (ended < 0 && errno != EINTR)
			return false;
		if (ended || !ranks->failed)
			continue;
		usleep(PAUSE);
		if ((waited += PAUSE) < GRACE)
			continue;
		for (uint32_t rank = 0; rank < ranks->count; rank++)
			if (ranks->processes[rank])
				kill(ranks->processes[rank], SIGKILL);
		waited = 0;
	}
	return !ranks->failed;
}

static void start_ranks(struct sk_run_options *options, struct ranks *ranks,
			bool (*work)(struct sk_run_options *options))
{
	fflush(NULL);
	for (; ranks->count < options->ranks && !ranks->failed; ranks->count++) {
		pid_t process = fork();

		if (!process)
			run_rank(options, ranks->count, ranks->simulation, work);
		ranks->failed = process < 0;
		if (ranks->failed) {
			sk_skrun_error("cannot start rank %" PRIu32 ": %s", ranks->count, strerror(errno));
			sk_simulation_abort(ranks->simulation, ranks->count, "it could not be started");
			break;
		}
		ranks->processes[ranks->count] = process;
		ranks->left++;
	}
}

bool sk_ranks_run(struct sk_run_options *options, bool (*work)(struct sk_run_options *options))
{
	bool simulated = options->device.device && strcmp(options->device.device, "host");
	struct ranks ranks = {.processes = calloc(options->ranks, sizeof(*ranks.processes))};
	uint64_t most = 0;
	bool good = check_names(options) && measure_packages(options, &most);

	if (good)
		ranks.simulation = sk_simulation_open((uint32_t)options->ranks, most, options->device.seed);
	if (good && (!ranks.simulation || !ranks.processes)) {
		sk_skrun_error("no memory for %" PRIu64 " ranks that send %" PRIu64 " bytes each: %s", options->ranks,
			       most, strerror(errno));
		good = false;
	}
	if (!simulated)
		options->device.seed = 0; /* it is the ranks' alone */
	if (!options->device.timeout_ms)
		options->device.timeout_ms = TIMEOUT;
	if (good) {
		start_ranks(options, &ranks, work);
		good = wait_for_ranks(&ranks);
	}
	free(ranks.processes);
	return good;
}
