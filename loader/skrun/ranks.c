/* skrun --ranks: the processes of simulated ranks. The parent looks at the package, makes the shared memory, and waits;
 * each child is a skrun of its own for one rank, with names of files for that rank. Only rank 0 prints results. */
#include "config.h"

#include "loader/skrun/skrun.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "format/plan/plan.h"
#include "format/plan/ranks.h"
#include "format/skranks.h"
#include "loader/image/image.h"
#include "loader/ranks/transport.h"
#include "loader/skrt.h"

enum {
	GRACE = 2000000, /* µs, in which ranks end after one has failed; */
	PAUSE = 5000, /* µs between two looks at them */
};

static struct sk_transport transport; /* of this rank */

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
	bool each = sk_rank_is_named(options->package.path), good = true;

	for (uint32_t rank = 0; rank < (each ? options->ranks : 1) && good; rank++) {
		char *path = sk_rank_name(options->package.path, rank);

		good = measure_package(path, options->ranks, most);
		free(path);
	}
	return good;
}

/* ---- processes ---- */

static _Noreturn void run_rank(struct sk_run_options *options, uint32_t rank, struct sk_shared_ranks *simulation,
			       bool (*work)(struct sk_run_options *options))
{
	bool good;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sk_messages_of_rank(rank);
	sk_simulation_join(simulation, rank, &transport);
	transport.checked = options->check_ranks;
	sk_rank_join(&transport, options->device.timeout_ms);
	sk_rank_take_processors(rank, (uint32_t)options->ranks);
	good = sk_rank_run(options, work);
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
	bool good = sk_rank_check_names(options, (uint32_t)options->ranks) && measure_packages(options, &most);

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
		options->device.timeout_ms = SK_RANKS_TIMEOUT;
	if (good) {
		start_ranks(options, &ranks, work);
		good = wait_for_ranks(&ranks);
	}
	free(ranks.processes);
	return good;
}
