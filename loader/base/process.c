/* Forks are counted, because asking the system for the process number takes longer than most functions that need it. */
#include "config.h"

#include "loader/base/status.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "loader/skrt.h"

static _Atomic uint32_t forks; /* generations of forks between the first process that asked and this one */

static void note_fork(void)
{
	atomic_fetch_add(&forks, 1);
}

static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, note_fork);
}

struct sk_process sk_process_current(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, watch_forks);
	return (struct sk_process){.id = getpid(), .forks = atomic_load(&forks)};
}

enum skrt_status sk_process_check(const struct sk_process *process)
{
	if (process->forks == atomic_load_explicit(&forks, memory_order_relaxed))
		return SKRT_OK;
	return sk_fail(SKRT_DEVICE_LOST,
		       "the device and its threads belong to process %ld: a fork must open a device of its own",
		       (long)process->id);
}
