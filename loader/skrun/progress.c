/* The progress of skrun; see skrun.h. A thread writes the line, so that it also appears during one long run; the runs
 * only count. */
#include "config.h"

#include "loader/skrun/skrun.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ERASE "\r\033[K"

static struct {
	const char *kind; /* NULL: nothing runs, and the thread does not exist */
	uint64_t count, done;
	struct timespec start;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t ended;
	volatile sig_atomic_t shown;
} progress = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Print "1:02:03", or "2:03". */
static void print_time(const char *before, double time, const char *after)
{
	uint64_t seconds = (uint64_t)time, hours = seconds / 3600;

	fputs(before, stderr);
	if (hours)
		fprintf(stderr, "%" PRIu64 ":%02" PRIu64, hours, seconds / 60 % 60);
	else
		fprintf(stderr, "%" PRIu64, seconds / 60);
	fprintf(stderr, ":%02" PRIu64 "%s", seconds % 60, after);
}

static void show(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	double time =
		(double)(now.tv_sec - progress.start.tv_sec) + (double)(now.tv_nsec - progress.start.tv_nsec) * 1e-9;

	progress.shown = true;
	fprintf(stderr, ERASE "skrun: %s %" PRIu64 " of %" PRIu64, progress.kind, progress.done + 1, progress.count);
	print_time(", ", time, " passed");
	if (progress.done)
		print_time(", about ", time / (double)progress.done * (double)(progress.count - progress.done),
			   " left");
	fflush(stderr);
}

static void *show_each_second(void *unused)
{
	struct timespec next = progress.start;

	next.tv_sec++;
	pthread_mutex_lock(&progress.lock);
	while (progress.kind) {
		if (pthread_cond_timedwait(&progress.ended, &progress.lock, &next) != ETIMEDOUT)
			continue;
		next.tv_sec++;
		if (progress.kind && progress.done < progress.count)
			show();
	}
	pthread_mutex_unlock(&progress.lock);
	return unused;
}

/* Block all signals: those from outside belong to the main thread. Without a thread only the line is missing. */
static bool start_thread(void)
{
	pthread_condattr_t attributes;
	sigset_t all, old;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&progress.ended, &attributes);
	pthread_condattr_destroy(&attributes);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	bool started = !pthread_create(&progress.thread, NULL, show_each_second, NULL);

	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return started;
}

void sk_progress_begin(const char *kind, uint64_t count)
{
	const char *terminal = getenv("TERM");

	sk_progress_end();
	if (!isatty(STDERR_FILENO) || !terminal || !strcmp(terminal, "dumb"))
		return;
	progress.done = 0;
	progress.count = count;
	clock_gettime(CLOCK_MONOTONIC, &progress.start);
	progress.kind = kind;
	if (!start_thread())
		progress.kind = NULL;
}

void sk_progress_step(void)
{
	if (!progress.kind)
		return;
	pthread_mutex_lock(&progress.lock);
	progress.done++;
	pthread_mutex_unlock(&progress.lock);
}

void sk_progress_end(void)
{
	if (!progress.kind)
		return;
	pthread_mutex_lock(&progress.lock);
	progress.kind = NULL;
	pthread_cond_signal(&progress.ended);
	pthread_mutex_unlock(&progress.lock);
	pthread_join(progress.thread, NULL);
	pthread_cond_destroy(&progress.ended);
	if (progress.shown)
		fputs(ERASE, stderr);
	progress.shown = false;
}

bool sk_progress_is_shown(void)
{
	return progress.shown;
}
