/* A lane of the host device: its cores, the threads that play them, and what a core does for one launch. In comes what
 * the driver has posted in the mailbox; out go the progress numbers, the status of each core, and the number of the
 * launch that it has left.
 *
 * How the threads wait. Whoever expects an answer soon spins (a few microseconds), then gives the processor to others,
 * then sleeps for bounded times. Giving way is quick among the cores of one launch. Where other processes want the
 * processor, it costs a whole time slice each time, whereas a thread that has slept is let in early: then the cores
 * only sleep. Only threads without a launch sleep on a futex; so publishing progress stays a plain store. */
#include "config.h"

#include "loader/device.h"

#include <inttypes.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* ---- waiting ---- */

enum {
	SPINS = 2000, /* pauses: 20 to 90 µs, by processor */
	CROWDED_SPINS = 50,
	YIELDS = 1000,
	/* Nanoseconds from here on. */
	SHORTEST_SLEEP = 20000,
	LONGEST_SLEEP = 500000,
	COSTLY_YIELD = 1000000, /* behind one that took longer nobody yields for some time */
	YIELD_PAUSE = 100000000,
};

static inline void pause_processor(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#endif
}

static uint32_t spins_of(const struct skrt_device *device)
{
	return atomic_load_explicit(&device->crowded, memory_order_relaxed) ? CROWDED_SPINS : SPINS;
}

static int64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

/* False: others take too long when we give way to them. */
static bool yield(struct skrt_device *device)
{
	int64_t start = now();

	if (start < atomic_load_explicit(&device->next_yield, memory_order_relaxed))
		return false;
	sched_yield();
	int64_t end = now();
	if (end - start > COSTLY_YIELD)
		atomic_store_explicit(&device->next_yield, end + YIELD_PAUSE, memory_order_relaxed);
	return true;
}

void sk_lane_wait(struct skrt_device *device, uint32_t turn)
{
	uint32_t spins = spins_of(device);

	if (turn < spins) {
		pause_processor();
		return;
	}
	uint32_t rest = turn - spins;
	if (rest < YIELDS && yield(device))
		return;
	uint32_t doublings = rest < YIELDS ? rest : rest - YIELDS;
	long time = doublings < 5 ? SHORTEST_SLEEP << doublings : LONGEST_SLEEP;
	nanosleep(&(struct timespec){.tv_nsec = time}, NULL);
}

/* The slow path of a dispatcher's await. */
static int await(struct sk_core *core, const volatile uint64_t *word, uint64_t target)
{
	struct skrt_device *device = ((const struct sk_worker *)core)->device;

	for (uint32_t turn = 0; __atomic_load_n(word, __ATOMIC_ACQUIRE) < target; turn += turn < UINT32_MAX) {
		if (atomic_load_explicit(&device->aborted, memory_order_acquire))
			return 1;
		sk_lane_wait(device, turn);
	}
	return 0;
}

static const struct sk_runtime runtime = {.await = await};

/* ---- one core of a launch ---- */

static int run_entry(void *context)
{
	struct sk_worker *worker = context;

	return worker->entry(&worker->core);
}

void sk_lane_run_core(struct sk_worker *worker, const struct sk_mailbox *mailbox)
{
	const struct skrt_device *device = worker->device;
	const struct skrt_kernel *kernel = mailbox->kernel;
	const struct skrt_instance *instance = mailbox->instance;
	const struct sk_workspace *workspace = &instance->workspaces[kernel->unshared];
	struct sk_core *core = &worker->core;

	core->failed_task = SK_NO_INDEX;
	core->bindings = instance->bindings;
	core->workspace = workspace->memory;
	core->scratch = workspace->memory + workspace->scratch + worker->row * workspace->scratch_stride;
	core->ranges = kernel->ranges + (size_t)worker->row * kernel->partition_count;
	core->homes = kernel->homes + (size_t)worker->row * kernel->home_count;
	for (uint32_t lane = 0; lane < kernel->module->plan.lane_count; lane++)
		core->lanes[lane] = (struct sk_lane){
			.base = mailbox->bases[lane],
			.words = device->lanes[lane].words,
			.count = device->cores,
		};
	worker->entry = kernel->entry;
	worker->status = sk_guard_call(&worker->guard, run_entry, worker);
	if (worker->status || worker->guard.function)
		atomic_store_explicit(&worker->device->aborted, true, memory_order_release);
}

/* ---- the threads ---- */

static void futex_wait(_Atomic uint32_t *word, uint32_t value)
{
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void futex_wake_all(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

/* Waits until the mailbox's number is no longer `seen`; returns the new one. */
static uint32_t wait_for_post(const struct skrt_device *device, struct sk_mailbox *mailbox, uint32_t seen)
{
	uint32_t number, spins = spins_of(device);

	for (uint32_t turn = 0; turn < spins; turn++) {
		number = atomic_load_explicit(&mailbox->number, memory_order_acquire);
		if (number != seen)
			return number;
		pause_processor();
	}
	/* The driver writes number, then reads sleepers; we write sleepers, then read number (in the kernel): one of us
	 * sees the other, since both orders are sequentially consistent. */
	atomic_fetch_add(&mailbox->sleepers, 1);
	while ((number = atomic_load(&mailbox->number)) == seen)
		futex_wait(&mailbox->number, seen);
	atomic_fetch_sub(&mailbox->sleepers, 1);
	return number;
}

void sk_lane_post(struct sk_mailbox *mailbox)
{
	atomic_fetch_add(&mailbox->number, 1);
	if (atomic_load(&mailbox->sleepers))
		futex_wake_all(&mailbox->number);
}

static void *work(void *context)
{
	struct sk_worker *worker = context;
	struct sk_mailbox *mailbox = &worker->device->lanes[worker->core.lane].mailbox;
	uint32_t number = atomic_load_explicit(&worker->left, memory_order_relaxed);

	for (;;) {
		number = wait_for_post(worker->device, mailbox, number);
		if (mailbox->stop)
			return NULL;
		sk_lane_run_core(worker, mailbox);
		atomic_store_explicit(&worker->left, number, memory_order_release);
	}
}

void sk_lane_stop(struct sk_device_lane *lane, uint32_t cores)
{
	lane->mailbox.stop = true;
	sk_lane_post(&lane->mailbox);
	for (uint32_t i = 0; i < cores && lane->workers; i++)
		if (lane->workers[i].started)
			pthread_join(lane->workers[i].thread, NULL);
	free(lane->workers);
	free(lane->words);
	lane->workers = NULL;
	lane->words = NULL;
}

enum skrt_status sk_lane_start(struct skrt_device *device, uint32_t number)
{
	struct sk_device_lane *lane = &device->lanes[number];
	uint32_t cores = device->cores;
	size_t words_size = (size_t)cores * SK_PROGRESS_STRIDE;

	memset(lane, 0, sizeof(*lane));
	lane->workers = aligned_alloc(SK_LINE, cores * sizeof(*lane->workers));
	lane->words = aligned_alloc(SK_PROGRESS_STRIDE, words_size);
	if (!lane->workers || !lane->words) {
		sk_lane_stop(lane, 0);
		return sk_report(SKRT_OUT_OF_MEMORY, "no memory for %" PRIu32 " cores", cores);
	}
	memset(lane->workers, 0, cores * sizeof(*lane->workers));
	memset(lane->words, 0, words_size);
	for (uint32_t i = 0; i < cores; i++) {
		struct sk_worker *worker = &lane->workers[i];

		worker->device = device;
		worker->row = number * cores + i;
		worker->core.lane = number;
		worker->core.index = i;
		worker->core.count = cores;
		worker->core.progress = (uint64_t *)((char *)lane->words + (size_t)i * SK_PROGRESS_STRIDE);
		worker->core.runtime = &runtime;
		if (worker->row == 0)
			continue;
		enum skrt_status status = sk_device_start_thread(device, &worker->thread, work, worker, worker->row);
		if (status) {
			sk_lane_stop(lane, cores);
			return status;
		}
		worker->started = true;
	}
	return SKRT_OK;
}
