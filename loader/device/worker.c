/* The threads that play cores. In come the parts of launches that are posted in a player's mailbox; out go the progress
 * numbers, how each core's call ended, and that the player has left a launch.
 *
 * A player with one core waits as threads do: it spins (some microseconds), then gives the processor to others, then
 * sleeps for bounded times. Giving way is quick among the cores of one launch. Where other processes want the
 * processor, it costs a whole time slice each time, whereas a thread that has slept is let in early: then the cores
 * only sleep. Only threads without a launch sleep on a futex; so publishing progress stays a plain store.
 *
 * A player with several cores, of one launch or of several, goes on with another one whenever one has to wait, and
 * waits itself only if none can go on. There are never more players than processors.
 *
 * The last player to leave a launch completes it: the device says how, and starts what has waited for that. The first
 * player is most often a thread that waits for the very launch; so if it has nothing else to do, it lingers until all
 * others have left, and is the last one. Nobody has to be woken then. */
#include "config.h"

#include "loader/device/device.h"

#include <linux/futex.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "loader/arch/machine.h"

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
		sk_pause();
		return;
	}
	uint32_t rest = turn - SPINS;
	if (rest < YIELDS && yield(device))
		return;
	uint32_t doublings = rest < YIELDS ? rest : rest - YIELDS;
	long time = doublings < 5 ? SHORTEST_SLEEP << doublings : LONGEST_SLEEP;
	nanosleep(&(struct timespec){.tv_nsec = time}, NULL);
}

void sk_player_spin(const _Atomic uint64_t *pending)
{
	for (uint32_t turn = 0; turn < SPINS && atomic_load_explicit(pending, memory_order_relaxed); turn++)
		sk_pause();
}

/* ---- which core is next ---- */

static bool is_aborted(const struct sk_launch *launch)
{
	return atomic_load_explicit(&launch->aborted, memory_order_acquire) != SK_ABORT_NONE;
}

/* A core that has begun and is told to leave can go on: to the end. One that has not begun never will. */
static bool is_ready(struct sk_worker *worker)
{
	if (worker->call.over)
		return false;
	if (is_aborted(worker->launch))
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
static struct sk_worker *draw_ready(struct sk_player *player)
{
	struct sk_worker *found = NULL;
	uint32_t count = 0;

	for (uint32_t i = 0; i < player->worker_count; i++)
		if (is_ready(player->workers[i]) && draw(player) % ++count == 0)
			found = player->workers[i];
	return found;
}

#define FRONT UINT32_MAX /* behind it comes number 0 */

/* The next ready core behind number `from`, itself the last one. */
static struct sk_worker *next_ready(const struct sk_player *player, uint32_t from)
{
	uint32_t i = from;

	for (uint32_t left = player->worker_count; left > 0; left--) {
		i = i + 1 < player->worker_count ? i + 1 : 0;
		if (is_ready(player->workers[i]))
			return player->workers[i];
	}
	return NULL;
}

static struct sk_worker *find_ready(struct sk_player *player, uint32_t from)
{
	return player->device->seed ? draw_ready(player) : next_ready(player, from);
}

static void take_posts(struct sk_player *player);

/* The core that goes on; NULL: none can. A driver that has what it waited for begins something new only if it cannot
 * get on with what it has. */
static struct sk_worker *choose(struct sk_player *player, uint32_t from)
{
	bool posts = sk_player_has_posts(player), wanted = !player->wanted || atomic_load(player->wanted);

	if (posts && wanted)
		take_posts(player);
	struct sk_worker *next = find_ready(player, from);

	if (next || !posts || wanted || !player->worker_count)
		return next;
	take_posts(player);
	return find_ready(player, from);
}

/* ---- hangs ---- */

/* Whether what the core waits for is said by the launch's own cores. */
static bool waits_for_its_launch(const struct sk_worker *worker)
{
	const struct sk_launch *launch = worker->launch;
	char unused[1];

	for (uint32_t i = 0; i < SK_MAX_LANES; i++)
		if ((uintptr_t)worker->word - (uintptr_t)launch->lanes[i].words <
		    (uint64_t)SK_MAX_CORES * SK_PROGRESS_STRIDE)
			return true;
	return sk_block_describe(launch->kernel, worker, unused, sizeof(unused));
}

/* None of the player's cores could go on. A launch that is all here, and whose cores wait for each other, never will.
 * Of one that waits for words of somebody else's the same is known if no other launch can write them: if all that are
 * in flight are here. True: something can go on now. */
static bool abort_stuck(struct sk_player *player)
{
	uint32_t here = 0;
	bool found = false;

	for (const struct sk_part *part = player->parts; part; part = part->next)
		here += part->launch->busy == 1;

	bool all = here == atomic_load(&player->device->in_flight);

	/* One that has just ended may have said it before. */
	if (all && next_ready(player, FRONT))
		return true;
	for (const struct sk_part *part = player->parts; part; part = part->next) {
		bool stuck = part->launch->busy == 1;

		for (uint32_t i = 0; i < player->worker_count && stuck && !all; i++)
			if (player->workers[i]->launch == part->launch && !player->workers[i]->call.over)
				stuck = waits_for_its_launch(player->workers[i]);
		if (stuck)
			sk_launch_abort(part->launch, SK_ABORT_STUCK);
		found |= stuck;
	}
	return found;
}

/* For other players, if anything can come from them. */
static void wait_for_others(struct sk_player *player, uint32_t turn)
{
	if (!abort_stuck(player))
		wait_a_turn(player->device, turn);
}

int sk_player_await(struct sk_core *core, const volatile uint64_t *word, uint64_t target, uint64_t count)
{
	struct sk_worker *worker = (struct sk_worker *)core;
	struct sk_player *player = worker->player;
	struct sk_host *host = player->host;

	sk_fibre_tidy();
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
		wait_for_others(player, turn);
	}
	bool aborted = worker->word != NULL;

	host->in_runtime = aborted; /* who is leaving need not be expelled */
	return aborted;
}

/* ---- parts of launches ---- */

/* The cores [*first, *end) of a lane of the launch are those of the player with the rank; empty if the lane has no
 * steps in it. */
static void range_of(const struct sk_launch *launch, uint32_t rank, uint32_t lane, uint32_t *first, uint32_t *end)
{
	const struct skrt_kernel *kernel = launch->kernel;
	uint64_t players = launch->players, cores = kernel->cores[lane], row = 0;

	*first = *end = 0;
	if (kernel->lane_steps[lane] == 0)
		return;
	if (players == 1) {
		*end = kernel->cores[lane];
		return;
	}
	if (cores >= players) {
		/* Consecutive cores, as equally many as possible: core c is floor(c * players / cores)'s. */
		*first = (uint32_t)((rank * cores + players - 1) / players);
		*end = (uint32_t)(((rank + UINT64_C(1)) * cores + players - 1) / players);
		return;
	}
	/* One core or none: the lanes' cores in a row, dealt out among the players. */
	for (uint32_t i = 0; i < lane; i++)
		row += kernel->lane_steps[i] ? kernel->cores[i] : 0;
	uint64_t core = (rank + players - row % players) % players;
	if (core < cores) {
		*first = (uint32_t)core;
		*end = (uint32_t)core + 1;
	}
}

static void take_part(struct sk_player *player, struct sk_part *part)
{
	struct sk_launch *launch = part->launch;
	uint32_t first, end;

	if (!player->parts)
		player->random = player->device->seed;
	part->next = player->parts;
	player->parts = part;
	for (uint32_t lane = 0; lane < launch->kernel->module->plan.lane_count; lane++) {
		range_of(launch, part->rank, lane, &first, &end);
		for (uint32_t i = first; i < end; i++) {
			struct sk_worker *worker = launch->lanes[lane].workers[i];

			worker->player = player;
			worker->turn = player->worker_count;
			sk_lane_prepare(worker, launch, i);
			player->workers[player->worker_count++] = worker;
		}
		part->unfinished += end - first;
	}
}

bool sk_player_has_posts(const struct sk_player *player)
{
	return atomic_load_explicit(&player->mailbox.posts, memory_order_relaxed) != NULL;
}

/* In the order in which they were posted. */
static void take_posts(struct sk_player *player)
{
	struct sk_part *last = atomic_exchange_explicit(&player->mailbox.posts, NULL, memory_order_acquire);
	struct sk_part *first = NULL;

	while (last) {
		struct sk_part *before = last->next;

		last->next = first;
		first = last;
		last = before;
	}
	while (first) {
		struct sk_part *part = first;

		first = part->next;
		take_part(player, part);
	}
}

/* True: as the last one. */
static bool leave(struct sk_launch *launch)
{
	return launch->busy == 1 || atomic_fetch_sub(&launch->inside, 1) == 1;
}

/* All cores of the part have left, or never will begin. What was the player's last part is left behind: see play. */
static void end_part(struct sk_player *player, struct sk_part *part)
{
	struct sk_launch *launch = part->launch;
	struct sk_part **link = &player->parts;
	uint32_t kept = 0;

	while (*link != part)
		link = &(*link)->next;
	*link = part->next;
	for (uint32_t i = 0; i < player->worker_count && player->parts; i++) {
		struct sk_worker *worker = player->workers[i];

		if (worker->launch == launch)
			continue;
		worker->turn = kept;
		player->workers[kept++] = worker;
	}
	player->worker_count = kept;
	if (!player->parts)
		player->lingering = launch;
	else if (leave(launch))
		player->device->complete(launch);
}

/* A call has ended: one that did not end well ends the launch. */
static void note_end(struct sk_player *player, const struct sk_worker *worker)
{
	struct sk_part *part = &worker->launch->parts[player->number];

	if (worker->call.result || worker->call.fault.kind)
		sk_launch_abort(worker->launch, SK_ABORT_FAILED);
	if (--part->unfinished == 0)
		end_part(player, part);
}

/* Cores that have not begun when their launch is aborted have nothing to do any more. */
static void give_up(struct sk_player *player)
{
	struct sk_part *part = player->parts;

	while (part) {
		struct sk_part *next = part->next;

		if (!part->given_up && is_aborted(part->launch)) {
			part->given_up = true;
			for (uint32_t i = 0; i < player->worker_count; i++)
				part->unfinished -=
					player->workers[i]->launch == part->launch && !player->workers[i]->call.begun;
			if (!part->unfinished)
				end_part(player, part);
		}
		part = next;
	}
}

/* Behind its last part: the first player waits for the others to leave the launch, unless there is something to play or
 * to go back to. */
static bool may_linger(const struct sk_player *player)
{
	const struct sk_launch *launch = player->lingering;

	if (player->number || launch->busy == 1 || atomic_load_explicit(&launch->inside, memory_order_acquire) == 1)
		return false;
	return !sk_player_has_posts(player) && (!player->wanted || atomic_load(player->wanted));
}

/* A core that has to wait finds the next one by itself; here it is found when one has left. */
struct sk_launch *sk_player_play(struct sk_player *player)
{
	uint32_t last = FRONT, turn = 0;

	player->host = sk_host_of_thread();
	for (;;) {
		struct sk_worker *next = choose(player, last);

		if (next) {
			struct sk_call *ended = sk_call_resume(player->host, &next->call);
			struct sk_worker *left = (void *)((char *)ended - offsetof(struct sk_worker, call));
			uint32_t before = player->worker_count;

			last = left->turn;
			turn = 0;
			note_end(player, left);
			if (player->worker_count != before)
				last = FRONT; /* the others have new places */
		} else if (player->parts) {
			wait_for_others(player, turn++);
		} else {
			return NULL;
		}
		give_up(player);
		if (!player->lingering)
			continue;
		for (turn = 0; may_linger(player); turn += turn < UINT32_MAX)
			wait_a_turn(player->device, turn);

		struct sk_launch *launch = player->lingering;

		player->lingering = NULL;
		if (leave(launch))
			return launch;
		turn = 0;
	}
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
		sk_pause();
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

void sk_player_post(struct sk_player *player, struct sk_part *part)
{
	struct sk_part *last = atomic_load_explicit(&player->mailbox.posts, memory_order_relaxed);

	/* While nobody is the first player, nobody takes anything. */
	if (player->number == 0 && !player->device->driving) {
		part->next = last;
		atomic_store_explicit(&player->mailbox.posts, part, memory_order_release);
		return;
	}
	do
		part->next = last;
	while (!atomic_compare_exchange_weak_explicit(&player->mailbox.posts, &last, part, memory_order_release,
						      memory_order_relaxed));
	if (player->started)
		post(&player->mailbox);
}

void *sk_player_work(void *context)
{
	struct sk_player *player = context;
	uint32_t number = 0;

	for (;;) {
		number = wait_for_post(&player->mailbox, number);
		if (atomic_load(&player->mailbox.stop))
			return NULL;
		for (struct sk_launch *launch; (launch = sk_player_play(player));)
			player->device->complete(launch);
	}
}

void sk_player_stop(struct sk_player *player)
{
	if (player->started) {
		atomic_store(&player->mailbox.stop, true);
		post(&player->mailbox);
		pthread_join(player->thread, NULL);
	}
}
