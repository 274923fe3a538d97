/* The threads that play cores. In comes what the driver has posted in a player's mailbox; out go the progress numbers,
 * how each core's call ended, and the number of the launch that the player has left.
 *
 * A player with one core waits as threads do: it spins (some microseconds), then gives the processor to others, then
 * sleeps for bounded times. Giving way is quick among the cores of one launch. Where other processes want the
 * processor, it costs a whole time slice each time, whereas a thread that has slept is let in early: then the cores
 * only sleep. Only threads without a launch sleep on a futex; so publishing progress stays a plain store.
 *
 * A player with several cores goes on with another one whenever one has to wait, and waits itself only if none can go
 * on. There are never more players than processors. */
#include "config.h"

#include "loader/device.h"

#include <linux/futex.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* ---- waiting ---- */

enum {
	SPINS = 2000, /* pauses: 20 to 90 µs, by processor */
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

/* False: others take too long when we give way to them. */
static bool yield(struct skrt_device *device)
{
	int64_t start = sk_now();

	if (start < atomic_load_explicit(&device->next_yield, memory_order_relaxed))
		return false;
	sched_yield();
	int64_t end = sk_now();
	if (end - start > COSTLY_YIELD)
		atomic_store_explicit(&device->next_yield, end + YIELD_PAUSE, memory_order_relaxed);
	return true;
}

/* The turn-th wait for the same thing. */
static void wait_a_turn(struct skrt_device *device, uint32_t turn)
{
	if (turn < SPINS) {
		pause_processor();
		return;
	}
	uint32_t rest = turn - SPINS;
	if (rest < YIELDS && yield(device))
		return;
	uint32_t doublings = rest < YIELDS ? rest : rest - YIELDS;
	long time = doublings < 5 ? SHORTEST_SLEEP << doublings : LONGEST_SLEEP;
	nanosleep(&(struct timespec){.tv_nsec = time}, NULL);
}

/* ---- which core is next ---- */

static bool is_aborted(const struct skrt_device *device)
{
	return atomic_load_explicit(&device->aborted, memory_order_acquire) != SK_ABORT_NONE;
}

/* A core that has begun and is told to leave can go on: to the end. One that has not begun never will. */
static bool is_ready(struct sk_worker *worker, bool aborted)
{
	if (worker->call.over)
		return false;
	if (aborted)
		return worker->call.begun;
	while (worker->word && __atomic_load_n(worker->word, __ATOMIC_ACQUIRE) >= worker->target)
		worker->word = --worker->words ? worker->word + SK_PROGRESS_STRIDE / sizeof(*worker->word) : NULL;
	return !worker->word;
}

/* splitmix64: the player's next random number. */
static uint64_t draw(struct sk_player *player)
{
	uint64_t z = player->random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* One of the ready cores, each as likely; NULL: none is. */
static struct sk_worker *draw_ready(struct sk_player *player, bool aborted)
{
	struct sk_worker *found = NULL;
	uint32_t count = 0;

	for (uint32_t i = 0; i < player->worker_count; i++)
		if (is_ready(player->workers[i], aborted) && draw(player) % ++count == 0)
			found = player->workers[i];
	return found;
}

/* The next ready core behind number `from`, itself the last one. */
static struct sk_worker *next_ready(const struct sk_player *player, uint32_t from, bool aborted)
{
	uint32_t i = from;

	do {
		i = i + 1 < player->worker_count ? i + 1 : 0;
		if (is_ready(player->workers[i], aborted))
			return player->workers[i];
	} while (i != from);
	return NULL;
}

static struct sk_worker *choose(struct sk_player *player, uint32_t from)
{
	bool aborted = is_aborted(player->device);

	return player->device->seed ? draw_ready(player, aborted) : next_ready(player, from, aborted);
}

/* None of the player's cores can go on: waits for other players, if there are any in the launch. */
static void wait_for_others(struct sk_player *player, const struct sk_launch *launch, uint32_t turn)
{
	if (launch->busy == 1)
		sk_device_abort(player->device, SK_ABORT_STUCK);
	else
		wait_a_turn(player->device, turn);
}

int sk_player_await(struct sk_core *core, const volatile uint64_t *word, uint64_t target, uint64_t count)
{
	struct sk_worker *worker = (struct sk_worker *)core;
	struct sk_player *player = worker->player;
	struct sk_host *host = player->host;

	host->in_runtime = true;
	worker->word = word;
	worker->target = target;
	worker->words = count;
	for (uint32_t turn = 0;; turn += turn < UINT32_MAX) {
		struct sk_worker *next = choose(player, worker->turn);

		if (next && next != worker)
			sk_call_give_way(host, &next->call);
		if (next)
			break; /* it is our turn because we are ready */
		wait_for_others(player, worker->launch, turn);
	}
	host->in_runtime = false;
	return worker->word != NULL;
}

/* ---- a player's part of a launch ---- */

void sk_player_range(const struct sk_launch *launch, uint32_t player, uint32_t lane, uint32_t *first, uint32_t *end)
{
	const struct skrt_kernel *kernel = launch->kernel;
	uint64_t players = launch->players, cores = kernel->cores[lane], row = 0;

	*first = *end = 0;
	if (kernel->lane_steps[lane] == 0)
		return;
	if (cores >= players) {
		/* Consecutive cores, as equally many as possible: core c is player floor(c * players / cores)'s. */
		*first = (uint32_t)((player * cores + players - 1) / players);
		*end = (uint32_t)(((player + UINT64_C(1)) * cores + players - 1) / players);
		return;
	}
	/* One core or none: the lanes' cores in a row, dealt out among the players. */
	for (uint32_t i = 0; i < lane; i++)
		row += kernel->lane_steps[i] ? kernel->cores[i] : 0;
	uint64_t core = (player + players - row % players) % players;
	if (core < cores) {
		*first = (uint32_t)core;
		*end = (uint32_t)core + 1;
	}
}

bool sk_player_make_room(struct sk_player *player, uint64_t cores)
{
	struct sk_worker **workers = calloc(cores, sizeof(struct sk_worker *));

	if (!workers)
		return false;
	free(player->workers);
	player->workers = workers;
	return true;
}

static void take_cores(struct sk_player *player, struct sk_launch *launch)
{
	uint32_t first, end;

	player->worker_count = 0;
	for (uint32_t lane = 0; lane < launch->kernel->module->plan.lane_count; lane++) {
		sk_player_range(launch, player->number, lane, &first, &end);
		for (uint32_t i = first; i < end; i++) {
			struct sk_worker *worker = &player->device->lanes[lane].workers[i];

			worker->player = player;
			worker->turn = player->worker_count;
			sk_lane_prepare(worker, launch);
			player->workers[player->worker_count++] = worker;
		}
	}
}

/* A call has ended: one that did not end well ends the launch. */
static void note_end(const struct sk_worker *worker)
{
	if (worker->call.result || worker->call.fault.kind)
		sk_device_abort(worker->device, SK_ABORT_FAILED);
}

/* Whether a core has begun and not ended. */
static bool any_inside(const struct sk_player *player)
{
	for (uint32_t i = 0; i < player->worker_count; i++)
		if (player->workers[i]->call.begun && !player->workers[i]->call.over)
			return true;
	return false;
}

/* A core that has to wait finds the next one by itself; here it is found when one has left. */
void sk_player_play(struct sk_player *player, struct sk_launch *launch)
{
	uint32_t unfinished, last, turn = 0;

	player->host = sk_host_of_thread();
	player->random = player->device->seed;
	take_cores(player, launch);
	unfinished = player->worker_count;
	last = unfinished - 1;
	player->host->token = launch->token;
	while (unfinished) {
		struct sk_worker *next = choose(player, last);

		if (next) {
			struct sk_call *ended = sk_call_resume(player->host, &next->call);
			struct sk_worker *left = (void *)((char *)ended - offsetof(struct sk_worker, call));

			note_end(left);
			last = left->turn;
			unfinished--;
			turn = 0;
		} else if (is_aborted(player->device) && !any_inside(player)) {
			break; /* those that are left have not begun */
		} else {
			wait_for_others(player, launch, turn++);
		}
	}
	player->host->token = 0;
}

/* ---- the threads ---- */

static void futex_wait(_Atomic uint32_t *word, uint32_t value)
{
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* Waits until the mailbox's number is no longer `seen`; returns the new one. */
static uint32_t wait_for_post(struct sk_mailbox *mailbox, uint32_t seen)
{
	uint32_t number;

	for (uint32_t turn = 0; turn < SPINS; turn++) {
		number = atomic_load_explicit(&mailbox->number, memory_order_acquire);
		if (number != seen)
			return number;
		pause_processor();
	}
	/* The driver writes number, then reads sleeping; we write sleeping, then read number (in the kernel): one of us
	 * sees the other, since both orders are sequentially consistent. */
	atomic_store(&mailbox->sleeping, 1);
	while ((number = atomic_load(&mailbox->number)) == seen)
		futex_wait(&mailbox->number, seen);
	atomic_store(&mailbox->sleeping, 0);
	return number;
}

static void post(struct sk_mailbox *mailbox)
{
	atomic_fetch_add(&mailbox->number, 1);
	if (atomic_load(&mailbox->sleeping))
		futex_wake(&mailbox->number);
}

void sk_player_post(struct sk_player *player, struct sk_launch *launch)
{
	player->mailbox.launch = launch;
	post(&player->mailbox);
}

void *sk_player_work(void *context)
{
	struct sk_player *player = context;
	uint32_t number = 0;

	for (;;) {
		number = wait_for_post(&player->mailbox, number);
		if (player->mailbox.stop)
			return NULL;
		sk_player_play(player, player->mailbox.launch);
		atomic_store_explicit(&player->left, number, memory_order_release);
	}
}

void sk_player_stop(struct sk_player *player)
{
	if (player->started) {
		player->mailbox.stop = true;
		post(&player->mailbox);
		pthread_join(player->thread, NULL);
	}
	free(player->workers);
}

void sk_player_collect(struct sk_player *player)
{
	uint32_t number = atomic_load_explicit(&player->mailbox.number, memory_order_relaxed);

	for (uint32_t turn = 0; atomic_load_explicit(&player->left, memory_order_acquire) != number;
	     turn += turn < UINT32_MAX)
		wait_a_turn(player->device, turn);
}
