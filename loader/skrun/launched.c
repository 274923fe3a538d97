/* skrun under a launcher such as mpirun, which starts a process for each rank. That process, the watcher, makes another
 * one, the worker, which is the rank: if a signal ends the worker, the watcher says in which exchange that was. A
 * launcher may end the watchers of all other ranks at once; their workers are told, and say where they were.
 *
 *   launcher -> watcher (no transport; waits) -> worker (opens the transport, runs the network)
 */
#include "config.h"

#include "loader/skrun/skrun.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loader/base/status.h"
#include "loader/ranks/transport.h"
#include "loader/skrt-transport.h"
#include "loader/skrt.h"

enum {
	TITLE = 256,
	LOOK = 100000, /* µs between two looks of the guard */
	GRACE = 2000, /* ms after the time-out, in which an exchange that has timed out ends by itself */
	LAST_SECONDS = 1, /* that a worker has to end when its launcher ends it */
};

/* Memory of watcher and worker. */
struct shared {
	_Atomic int64_t rank; /* -1: not known yet */
	_Atomic int64_t started; /* time of the exchange that runs; 0: none does */
	_Atomic int64_t limit; /* ns that it may take at most */
	char title[TITLE]; /* of the last exchange; "": there was none */
};

static struct shared *shared;
static struct sk_transport inner, outer; /* as it is; and as the run sees it, with notes for watcher and guard */
static volatile sig_atomic_t ended; /* by the launcher */
static int64_t limit; /* ns: the time-out of exchanges */

/* ---- the transport with notes ---- */

/* Only exchanges have a time-out of their own. */
static void note_start(const char *title, bool is_exchange)
{
	atomic_store(&shared->limit, limit + (is_exchange ? GRACE * INT64_C(1000000) : 0));
	snprintf(shared->title, sizeof(shared->title), "%s", title);
	atomic_store(&shared->started, sk_now());
}

static void note_end(void)
{
	atomic_store(&shared->started, 0);
}

static void start(void *context, const struct skrt_transfer *transfer)
{
	note_start(transfer->title, true);
	inner.start(context, transfer);
}

static enum skrt_transfer_state test(void *context)
{
	enum skrt_transfer_state state = inner.test(context);

	if (state == SKRT_TRANSFER_ENDED)
		note_end();
	return state == SKRT_TRANSFER_RUNS && ended ? SKRT_TRANSFER_FAILED : state;
}

static void describe(void *context, char *text, size_t size)
{
	size_t used;

	inner.describe(context, text, size);
	used = strlen(text);
	if (ended && used < size)
		snprintf(text + used, size - used, "; the launcher ends the run");
}

static void abort_run(void *context, const char *text)
{
	fflush(NULL);
	if (!ended)
		inner.abort(context, text);
	_exit(EXIT_FAILURE);
}

/* ---- the worker ---- */

static void end_soon(int number)
{
	(void)number;
	ended = 1;
	alarm(LAST_SECONDS); /* a kernel may run much longer */
}

static void print_text(const char *text)
{
	ssize_t written = write(STDERR_FILENO, text, strlen(text));

	(void)written; /* an error here cannot be reported */
}

static void end_now(int number)
{
	(void)number;
	print_text("skrun: error: the launcher ends the run, ");
	print_text(!*shared->title ? "before its first exchange" : atomic_load(&shared->started) ? "in " : "after ");
	print_text(shared->title);
	print_text("\n");
	_exit(EXIT_FAILURE);
}

/* The watcher's end is the launcher's order to end. The worker is in a process group of its own, so that it lives to
 * say where it is. */
static bool leave_group(pid_t watcher)
{
	struct sigaction action = {.sa_handler = end_soon, .sa_flags = SA_RESTART};

	sigaction(SIGTERM, &action, NULL);
	action.sa_handler = end_now;
	sigaction(SIGALRM, &action, NULL);
	return !setpgid(0, 0) && !prctl(PR_SET_PDEATHSIG, SIGTERM) && getppid() == watcher;
}

/* Find exchanges that neither end nor return to the code that looks at the time. */
static void *guard(void *unused)
{
	(void)unused;
	for (;;) {
		int64_t started = atomic_load(&shared->started);

		if (started && sk_now() - started > atomic_load(&shared->limit)) {
			sk_skrun_error("%s: the transport has not returned for %g s; a rank may be missing",
				       shared->title, (double)(sk_now() - started) * 1e-9);
			_exit(EXIT_FAILURE);
		}
		usleep(LOOK);
	}
	return NULL;
}

static bool start_guard(void)
{
	pthread_t thread;
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&thread, NULL, guard, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error)
		sk_skrun_error("cannot start a thread: %s", strerror(error));
	return !error;
}

static bool open_transport(const char *name, const struct sk_launcher *launcher)
{
	char error[640], title[TITLE];
	bool good;

	snprintf(title, sizeof(title), "the start of transport %s", name);
	note_start(title, false);
	good = sk_plugin_open(name, launcher, &inner, error, sizeof(error));
	note_end();
	*shared->title = '\0';
	if (!good) {
		sk_skrun_error("%s", error);
		return false;
	}
	outer = inner;
	outer.start = start;
	outer.test = test;
	outer.describe = describe;
	outer.abort = abort_run;
	atomic_store(&shared->rank, inner.rank);
	sk_messages_of_rank(inner.rank);
	return true;
}

/* ---- processors ---- */

/* The processors that a rank may use, and its machine. */
struct place {
	uint8_t machine[40];
	cpu_set_t processors;
};

static void find_place(struct place *place)
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	memset(place, 0, sizeof(*place));
	if (file) {
		if (!fgets((char *)place->machine, sizeof(place->machine), file))
			memset(place->machine, 0, sizeof(place->machine));
		fclose(file);
	}
	sched_getaffinity(0, sizeof(place->processors), &place->processors);
}

static bool share_processors(const struct place *one, const struct place *other)
{
	cpu_set_t both;

	CPU_AND(&both, &one->processors, &other->processors);
	return !memcmp(one->machine, other->machine, sizeof(one->machine)) && CPU_COUNT(&both) > 0;
}

/* If ranks of a machine may use the same processors, each takes a part of them, so that their workers do not wait on
 * one another. */
static bool divide_processors(const struct sk_transport *transport)
{
	struct place own, *all = calloc(transport->ranks, sizeof(*all));
	uint32_t sharing = 0, number = 0;
	bool good, same = true;

	find_place(&own);
	good = all && sk_rank_gather("the start of the run", &own, all, sizeof(own));
	for (uint32_t i = 0; good && i < transport->ranks; i++) {
		if (!share_processors(&own, &all[i]))
			continue;
		number += i < transport->rank;
		same &= CPU_EQUAL(&own.processors, &all[i].processors) != 0;
		sharing++;
	}
	free(all);
	if (!good || sharing < 2)
		return good;
	if (same)
		sk_rank_take_processors(number, sharing);
	if (number == 0)
		sk_skrun_note("%" PRIu32 " ranks of this machine may use the same %d processor%s%s; mpirun --bind-to "
			      "core or the like gives each rank its own",
			      sharing, CPU_COUNT(&own.processors), CPU_COUNT(&own.processors) == 1 ? "" : "s",
			      same ? ", and each takes its share of them" : "");
	return true;
}

/* ---- the processes ---- */

/* Options of which the results are not those of all ranks. */
static bool check_options(const struct sk_run_options *options)
{
	if (options->ranks)
		sk_skrun_error("--ranks simulates ranks, and this process is one of several that a launcher has "
			       "started");
	else if (options->list || options->predict || options->sizes || options->device.checks & SKRT_CHECK_SPLIT)
		sk_skrun_error("several ranks run the network together; --list, --predict, --check-split and --sizes "
			       "do not go with that");
	else
		return true;
	return false;
}

static bool work_as_rank(struct sk_run_options *options, const char *name, const struct sk_launcher *launcher,
			 bool (*work)(struct sk_run_options *options))
{
	const char *error;

	if (!start_guard() || !open_transport(name, launcher))
		return false;
	outer.checked |= options->check_ranks;
	sk_rank_join(&outer, options->device.timeout_ms);
	if ((outer.ranks > 1 && !check_options(options)) || !sk_rank_check_names(options, outer.ranks) ||
	    !divide_processors(&outer))
		outer.abort(outer.context, "see its message");
	if (!sk_rank_run(options, work) || !sk_rank_agree("the end of the run"))
		outer.abort(outer.context, "see its message");
	note_start("the end of the transport", false);
	error = inner.close(inner.context);
	note_end();
	if (error)
		sk_skrun_error("transport %s: %s", inner.name, error);
	return !error;
}

static void tell_signal(int number)
{
	int64_t rank = atomic_load(&shared->rank);

	if (rank >= 0)
		sk_messages_of_rank((uint32_t)rank);
	if (*shared->title)
		sk_skrun_error("it was ended by signal %d (%s) %s %s", number, strsignal(number),
			       atomic_load(&shared->started) ? "in" : "after", shared->title);
	else
		sk_skrun_error("it was ended by signal %d (%s), before its first exchange", number, strsignal(number));
}

static bool watch(pid_t worker)
{
	int status;

	while (waitpid(worker, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	if (WIFSIGNALED(status))
		tell_signal(WTERMSIG(status));
	return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

bool sk_launched_run(struct sk_run_options *options, const char *name, const struct sk_launcher *launcher,
		     bool (*work)(struct sk_run_options *options))
{
	pid_t watcher = getpid(), worker;

	if (!options->device.timeout_ms)
		options->device.timeout_ms = SK_RANKS_TIMEOUT;
	limit = options->device.timeout_ms * INT64_C(1000000);
	if (launcher->transport)
		sk_messages_of_rank(launcher->rank);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED) {
		sk_skrun_error("no memory: %s", strerror(errno));
		return false;
	}
	atomic_store(&shared->rank, -1);
	fflush(NULL);
	worker = fork();
	if (worker < 0) {
		sk_skrun_error("cannot start a process: %s", strerror(errno));
		return false;
	}
	if (worker)
		return watch(worker);

	bool good = leave_group(watcher) && work_as_rank(options, name, launcher, work);

	fflush(NULL);
	_exit(good ? EXIT_SUCCESS : EXIT_FAILURE);
}
