/* The threads that run cores. Input: the parts of flights that are posted in a worker's mailbox. Output: the progress
 * numbers, the result of each core's call, and the fact that the worker has left a flight.
 *
 * A worker with one core waits in three stages: it spins (some microseconds), then yields the processor, then sleeps
 * for bounded times. Yielding is quick among the cores of one flight. If other processes want the processor, it costs a
 * whole time slice each time, whereas a thread that has slept is scheduled early: then the cores only sleep. Only
 * threads without a flight sleep on a futex; so publishing progress stays a plain store.
 *
 * A worker with several cores, of one flight or of several, continues with another core whenever one has to wait, and
 * waits itself only if none can go on. There are never more workers than processors.
 *
 * The last worker to leave a flight completes it: the device defines how, and starts the commands that waited for that.
 * The first worker is usually a thread that waits for this very flight. So if it has nothing else to do, it lingers
 * until all others have left, and is the last one; then no thread has to be woken. */
#include "config.h"

#include "loader/device/device.h"

#include <linux/futex.h>
#include <sched.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "format/skabi.h"
#include "format/skplan.h"
#include "loader/arch/machine.h"
#include "loader/base/status.h"
#include "loader/core/core.h"
#include "loader/flight/flight.h"

/* ---- waiting ---- */

enum {
	EAGER = 500, /* turns without a pause: 1 µs at least */
	SPINS = 2000, /* pauses: 20 to 90 µs, by processor */
	RANK_SPINS = 500, /* of them, while a core waits for other ranks, which may need this processor */
	YIELDS = 1000,
	/* In nanoseconds from here on. */
	SHORTEST_SLEEP = 20000,
	LONGEST_SLEEP = 500000,
	COSTLY_YIELD = 1000000, /* after a longer one no thread yields for some time */
	YIELD_PAUSE = 100000000,
};

/* Yield the processor. False: yielding takes too long here. */
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

/* Poll without a pause while a cache line may just be on its way: a pause can take a third of that time. */
static inline void spin(uint32_t turn)
{
	if (turn >= EAGER)
		sk_pause();
}

/* Wait for the turn-th time for the same condition. */
static void wait_a_turn(struct skrt_device *device, uint32_t turn)
{
	if (turn < SPINS) {
		spin(turn);
		return;
	}
	uint32_t rest = turn - SPINS;
	if (rest < YIELDS && yield(device))
		return;
	uint32_t doublings = rest < YIELDS ? rest : rest - YIELDS;
	long time = doublings < 5 ? SHORTEST_SLEEP << doublings : LONGEST_SLEEP;
	sk_cancellation_hold();
	nanosleep(&(struct timespec){.tv_nsec = time}, NULL);
}

void sk_worker_spin(const _Atomic uint64_t *pending)
{
	for (uint32_t turn = 0; turn < SPINS && atomic_load_explicit(pending, memory_order_relaxed); turn++)
		spin(turn);
}

/* ---- the next core ---- */

static bool is_aborted(const struct sk_flight *flight)
{
	return atomic_load_explicit(&flight->aborted, memory_order_acquire) != SK_ABORT_NONE;
}

/* False: the cores' own words may have more. */
static bool is_known(struct sk_own_cores *own, uint64_t target)
{
	return own->known >= target || (own->told >= target && sk_told_ask(own, target));
}

/* Go on with the exchange that the core waits for. On a simulated device the core waits when its turn has come. */
static void exchange(struct sk_device_core *core)
{
	if (core->worker->device->simulated)
		core->exchanged = 1;
	else
		sk_exchange_go_on(core);
}

/* Return whether the core can go on. A core that has begun and is told to leave can, to its end; one that has not begun
 * never will. If the core waits for totals of workers, the words themselves are read only `closely`, or if no other
 * worker writes them: then the core goes on as soon as it may, even before the totals are published. */
static bool is_ready(struct sk_device_core *core, bool closely)
{
	if (core->call.over)
		return false;
	if (is_aborted(core->flight))
		return core->call.begun;
	if (core->word && core->transport)
		exchange(core);
	if (core->word && core->told) {
		if (is_known(core->told, core->target))
			core->word = NULL;
		else if (!closely && core->flight->busy > 1)
			return false;
	}
	while (core->word && __atomic_load_n(core->word, __ATOMIC_ACQUIRE) >= core->target)
		core->word = --core->words ? core->word + SK_PROGRESS_STRIDE / sizeof(*core->word) : NULL;
	return !core->word;
}

enum { LOOKS = 16 };

/* Return whether a look is close: reading the words takes their cache lines from the cores that write them. */
static bool is_close_look(uint32_t looks, uint32_t turn)
{
	return looks % LOOKS == LOOKS - 1 || turn >= SPINS;
}

/* Return the worker's next random number (splitmix64). */
static uint64_t draw(struct sk_worker *worker)
{
	uint64_t z = worker->random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* Return one of the ready cores, with equal probability; NULL: none is ready. */
static struct sk_device_core *draw_ready(struct sk_worker *worker, bool closely)
{
	struct sk_device_core *found = NULL;
	uint32_t count = 0;

	for (uint32_t i = 0; i < worker->core_count; i++)
		if (is_ready(worker->cores[i], closely) && draw(worker) % ++count == 0)
			found = worker->cores[i];
	return found;
}

#define FRONT UINT32_MAX /* the next one is number 0 */

/* Return the next ready core after number `from`, which itself comes last. */
static struct sk_device_core *next_ready(const struct sk_worker *worker, uint32_t from, bool closely)
{
	uint32_t i = from;

	for (uint32_t left = worker->core_count; left > 0; left--) {
		i = i + 1 < worker->core_count ? i + 1 : 0;
		if (is_ready(worker->cores[i], closely))
			return worker->cores[i];
	}
	return NULL;
}

static struct sk_device_core *find_ready(struct sk_worker *worker, uint32_t from, bool closely)
{
	return worker->device->seed ? draw_ready(worker, closely) : next_ready(worker, from, closely);
}

static void take_posts(struct sk_worker *worker);

/* Return the core that goes on; NULL: none can. A driver with nothing more to wait for begins new parts only if none of
 * its present cores can go on. */
static struct sk_device_core *choose_core(struct sk_worker *worker, uint32_t from, bool closely)
{
	bool posts = sk_worker_has_posts(worker), wanted = !worker->wanted || atomic_load(worker->wanted);

	if (posts && wanted)
		take_posts(worker);
	struct sk_device_core *next = find_ready(worker, from, closely);

	if (next || !posts || wanted || !worker->core_count)
		return next;
	take_posts(worker);
	return find_ready(worker, from, closely);
}

/* ---- hangs ---- */

/* Return whether the core waits for a word that only the flight's own cores write. */
static bool waits_for_its_flight(const struct sk_device_core *core)
{
	const struct sk_flight *flight = core->flight;
	char unused[1];

	for (uint32_t i = 0; i < SK_MAX_LANES; i++)
		if ((uintptr_t)core->word - (uintptr_t)flight->lanes[i].words <
		    (uint64_t)SK_MAX_CORES * SK_PROGRESS_STRIDE)
			return true;
	return sk_block_describe(flight->kernel, core, unused, sizeof(unused));
}

/* Return whether a core of the worker waits for other ranks; flight: NULL: in any flight. */
static bool waits_for_ranks(const struct sk_worker *worker, const struct sk_flight *flight)
{
	for (uint32_t i = 0; i < worker->core_count; i++)
		if (worker->cores[i]->word && worker->cores[i]->transport &&
		    (!flight || worker->cores[i]->flight == flight))
			return true;
	return false;
}

/* None of the worker's cores can go on. A flight that runs only here, with cores that wait for each other, is stuck. A
 * flight that waits for words of others is stuck if no other flight can write them, that is, if all flights run only
 * here. One that waits for other ranks is not stuck, and may write such words. Return true if a core can go on now. */
static bool abort_stuck(struct sk_worker *worker)
{
	uint32_t here = 0;
	bool found = false;

	for (const struct sk_part *part = worker->parts; part; part = part->next)
		here += part->flight->busy == 1;

	bool all = here == atomic_load(&worker->device->in_flight) && !waits_for_ranks(worker, NULL);

	/* A flight that has just ended may have written the word before. */
	if (all && next_ready(worker, FRONT, true))
		return true;
	for (const struct sk_part *part = worker->parts; part; part = part->next) {
		bool stuck = part->flight->busy == 1 && !waits_for_ranks(worker, part->flight);

		for (uint32_t i = 0; i < worker->core_count && stuck && !all; i++)
			if (worker->cores[i]->flight == part->flight && !worker->cores[i]->call.over)
				stuck = waits_for_its_flight(worker->cores[i]);
		if (stuck)
			sk_flight_abort(part->flight, SK_ABORT_STUCK);
		found |= stuck;
	}
	return found;
}

/* Other workers may wait for totals that none of the cores here waits for. */
static void tell_others(struct sk_worker *worker)
{
	for (struct sk_part *part = worker->parts; part; part = part->next)
		for (uint32_t lane = 0; lane < part->flight->kernel->module->plan.lane_count; lane++)
			if (part->own[lane].end && sk_lane_is_told(part->flight, lane))
				sk_told_tell(&part->own[lane]);
}

/* Wait for other workers, unless nothing can come from them. */
static void wait_for_others(struct sk_worker *worker, uint32_t turn)
{
	if (turn == 0)
		tell_others(worker);
	if (!abort_stuck(worker))
		wait_a_turn(worker->device, turn);
}

/* A word that stands for a whole lane is read together with the cores' own words. */
static void wait_for_words(struct sk_device_core *core, const volatile uint64_t *word, uint64_t count)
{
	const struct sk_flight *flight = core->flight;

	core->told = NULL;
	core->word = word;
	core->words = count;
	for (uint32_t lane = 0; lane < SK_MAX_LANES; lane++) {
		if (word != &core->own[lane].known)
			continue;
		core->told = &core->own[lane];
		core->word = flight->lanes[lane].words;
		core->words = flight->kernel->cores[lane];
	}
}

enum { GLANCES = 64 }; /* turns in which a core polls only its own condition */

/* Return whether no other core of the worker is likely to go on sooner. */
static bool is_last(const struct sk_device_core *core)
{
	const struct sk_worker *worker = core->worker;

	return (worker->core_count == 1 || (core->told && core->told->told >= core->target)) &&
	       !sk_worker_has_posts(worker);
}

/* The awaited word may just be on its way. A worker's total for several cores takes as long as the slowest of them:
 * pauses leave the cache line to that worker meanwhile, and the change is still found here. */
static bool comes_soon(struct sk_device_core *core)
{
	for (uint32_t glance = 0; glance < GLANCES; glance++) {
		if (is_ready(core, false))
			return true;
		if (core->told)
			sk_pause();
	}
	return false;
}

int sk_worker_await(struct sk_core *abi, const volatile uint64_t *word, uint64_t target, uint64_t count)
{
	struct sk_device_core *core = (struct sk_device_core *)abi;
	struct sk_worker *worker = core->worker;
	struct sk_host *host = worker->host;
	uint32_t skipped = core->transport ? SPINS - RANK_SPINS : 0; /* turns, after the first one */

	sk_fibre_tidy();
	host->in_runtime = true;
	core->target = target;
	wait_for_words(core, word, count);
	if (core->told && core->told->lane == abi->lane)
		sk_told_arrive(core->told, target);
	/* The other ranks get the bytes at once, whatever this worker has to do next. */
	if ((core->told || (core->transport && !worker->device->simulated)) && is_ready(core, false)) {
		host->in_runtime = core->word != NULL;
		return core->word != NULL;
	}
	for (uint32_t turn = 0, looks = 0;; looks++) {
		bool glances = turn < EAGER && is_last(core);

		if (glances && comes_soon(core))
			break;
		struct sk_device_core *next = choose_core(worker, core->turn, is_close_look(looks, turn));

		if (next && next != core)
			sk_call_give_way(host, &next->call);
		if (next)
			break; /* the core is ready: that is why it is its turn */
		wait_for_others(worker, turn ? turn + skipped : 0);
		turn += glances ? GLANCES : turn < UINT32_MAX;
	}
	bool aborted = core->word != NULL;

	host->in_runtime = aborted; /* a leaving core need not be expelled */
	return aborted;
}

/* ---- parts of flights ---- */

/* Set [*first, *end) to the cores of a lane of the flight that belong to the worker with the rank; empty if the lane
 * has no steps in it. */
static void range_of(const struct sk_flight *flight, uint32_t rank, uint32_t lane, uint32_t *first, uint32_t *end)
{
	const struct skrt_kernel *kernel = flight->kernel;
	uint64_t workers = flight->workers, cores = kernel->cores[lane], row = 0;

	*first = *end = 0;
	if (kernel->lane_steps[lane] == 0)
		return;
	if (workers == 1) {
		*end = kernel->cores[lane];
		return;
	}
	if (cores >= workers) {
		/* Consecutive cores, in parts as equal as possible: core c belongs to floor(c * workers / cores). */
		*first = (uint32_t)((rank * cores + workers - 1) / workers);
		*end = (uint32_t)(((rank + UINT64_C(1)) * cores + workers - 1) / workers);
		return;
	}
	/* One core or none: the cores of all lanes in a row, distributed among the workers. */
	for (uint32_t i = 0; i < lane; i++)
		row += kernel->lane_steps[i] ? kernel->cores[i] : 0;
	uint64_t core = (rank + workers - row % workers) % workers;
	if (core < cores) {
		*first = (uint32_t)core;
		*end = (uint32_t)core + 1;
	}
}

static void take_part(struct sk_worker *worker, const struct sk_post *post)
{
	struct sk_flight *flight = post->flight;
	struct sk_part *part = &worker->by_place[flight->place];
	uint32_t lanes = flight->kernel->module->plan.lane_count, count = worker->core_count, first, end;

	if (!worker->parts)
		worker->random = worker->device->seed;
	part->flight = flight;
	part->rank = post->rank;
	part->last = post->last;
	part->given_up = false;
	part->next = worker->parts;
	worker->parts = part;
	for (uint32_t lane = 0; lane < lanes; lane++) {
		range_of(flight, post->rank, lane, &first, &end);
		part->own[lane] = (struct sk_own_cores){.flight = flight,
							.lane = lane,
							.rank = part->rank,
							.first = first,
							.end = end,
							.told = post->bases[lane],
							.known = post->bases[lane]};
		for (uint32_t i = first; i < end; i++) {
			struct sk_device_core *core = flight->lanes[lane].cores[i];

			core->worker = worker;
			core->turn = count;
			core->own = part->own;
			sk_lane_prepare(core, flight, post->bases, i);
			worker->cores[count++] = core;
		}
	}
	part->unfinished = count - worker->core_count;
	worker->core_count = count;
}

/* Take posts in their order. The post that ends the thread may arrive while the thread still looks for work, after a
 * flight that others have completed; it is left to sk_worker_run. */
static void take_posts(struct sk_worker *worker)
{
	while (sk_worker_has_posts(worker) && sk_worker_next_post(worker)->flight) {
		const struct sk_post *post = sk_worker_next_post(worker);

		worker->taken++;
		take_part(worker, post);
	}
}

/* Return whether the worker is the first one, and all others have left. Others do not read the line: reading and then
 * writing it would fetch it twice. */
static bool is_alone(const struct sk_worker *worker, const struct sk_flight *flight)
{
	return flight->busy == 1 || (worker->number == 0 && atomic_load_explicit(&flight->left, memory_order_acquire) ==
								    worker->by_place[flight->place].last);
}

/* Return true if the worker is the last one. If it is alone, it does not write the line. */
static bool leave(const struct sk_worker *worker, struct sk_flight *flight)
{
	uint32_t last = worker->by_place[flight->place].last;

	return is_alone(worker, flight) || atomic_fetch_add_explicit(&flight->left, 1, memory_order_acq_rel) == last;
}

/* End a part: all its cores have left, or will never begin. If it was the worker's last part, the worker lingers in the
 * flight: see sk_worker_play. */
static void end_part(struct sk_worker *worker, struct sk_part *part)
{
	struct sk_flight *flight = part->flight;
	struct sk_part **link = &worker->parts;
	uint32_t kept = 0;

	while (*link != part)
		link = &(*link)->next;
	*link = part->next;
	for (uint32_t i = 0; i < worker->core_count && worker->parts; i++) {
		struct sk_device_core *core = worker->cores[i];

		if (core->flight == flight)
			continue;
		core->turn = kept;
		worker->cores[kept++] = core;
	}
	worker->core_count = kept;
	if (!worker->parts)
		worker->lingering = flight;
	else if (leave(worker, flight))
		worker->device->complete(flight);
}

/* Note the end of a call: one that did not end well aborts the flight. */
static void note_end(struct sk_worker *worker, const struct sk_device_core *core)
{
	struct sk_part *part = &worker->by_place[core->flight->place];

	if (core->call.result || core->call.fault.kind)
		sk_flight_abort(core->flight, SK_ABORT_FAILED);
	if (--part->unfinished == 0)
		end_part(worker, part);
}

/* Drop cores that had not begun when their flight was aborted. */
static void give_up(struct sk_worker *worker)
{
	struct sk_part *part = worker->parts;

	while (part) {
		struct sk_part *next = part->next;

		if (!part->given_up && is_aborted(part->flight)) {
			part->given_up = true;
			for (uint32_t i = 0; i < worker->core_count; i++)
				part->unfinished -=
					worker->cores[i]->flight == part->flight && !worker->cores[i]->call.begun;
			if (!part->unfinished)
				end_part(worker, part);
		}
		part = next;
	}
}

/* After its last part, the first worker waits for the others to leave the flight, unless there is other work to do or
 * to return to. */
static bool may_linger(const struct sk_worker *worker)
{
	if (worker->number || is_alone(worker, worker->lingering))
		return false;
	return !sk_worker_has_posts(worker) && (!worker->wanted || atomic_load(worker->wanted));
}

/* A core that has to wait finds the next one by itself; this loop finds the next one when a core has left. */
struct sk_flight *sk_worker_play(struct sk_worker *worker)
{
	uint32_t last = FRONT, turn = 0;

	worker->host = sk_host_of_thread();
	for (;;) {
		struct sk_device_core *next = choose_core(worker, last, is_close_look(turn, turn));

		if (next) {
			struct sk_call *ended = sk_call_resume(worker->host, &next->call);
			struct sk_device_core *left = (void *)((char *)ended - offsetof(struct sk_device_core, call));
			uint32_t before = worker->core_count;

			last = left->turn;
			turn = 0;
			note_end(worker, left);
			if (worker->core_count != before)
				last = FRONT; /* the others have new places */
		} else if (worker->parts) {
			wait_for_others(worker, turn++);
		} else {
			return NULL;
		}
		give_up(worker);
		if (!worker->lingering)
			continue;
		for (turn = 0; may_linger(worker); turn += turn < UINT32_MAX)
			wait_a_turn(worker->device, turn);

		struct sk_flight *flight = worker->lingering;

		worker->lingering = NULL;
		if (leave(worker, flight))
			return flight;
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

static void wait_for_post(struct sk_worker *worker)
{
	uint32_t next = worker->taken + 1, seen;
	_Atomic uint32_t *number = &worker->mailbox.posts[next % SK_MOST_FLIGHTS].number;

	for (uint32_t turn = 0; turn < SPINS; turn++) {
		if (sk_worker_has_posts(worker))
			return;
		spin(turn);
	}
	/* The posting thread writes number, then reads sleeping; we write sleeping, then read number (in the kernel):
	 * one of us sees the other, since both orders are sequentially consistent. */
	atomic_store(&worker->sleeping, 1);
	while ((seen = atomic_load(number)) != next)
		futex_wait(number, seen);
	atomic_store(&worker->sleeping, 0);
}

void sk_worker_post(struct sk_worker *worker, struct sk_flight *flight, uint32_t rank)
{
	struct sk_mailbox *mailbox = &worker->mailbox;
	struct sk_post *post = &mailbox->posts[++mailbox->posted % SK_MOST_FLIGHTS];

	post->flight = flight;
	post->rank = rank;
	for (uint32_t i = 0; i < SK_MAX_LANES && flight; i++)
		post->bases[i] = flight->bases[i];
	post->last = flight ? flight->last : 0;
	if (!worker->started) { /* the driving thread polls, and does not sleep */
		atomic_store_explicit(&post->number, mailbox->posted, memory_order_release);
		return;
	}
	atomic_store(&post->number, mailbox->posted);
	if (atomic_load(&worker->sleeping))
		futex_wake(&post->number);
}

void *sk_worker_run(void *context)
{
	struct sk_worker *worker = context;

	for (;;) {
		wait_for_post(worker);
		if (!sk_worker_next_post(worker)->flight)
			return NULL;
		for (struct sk_flight *flight; (flight = sk_worker_play(worker));)
			worker->device->complete(flight);
	}
}

void sk_worker_stop(struct sk_worker *worker)
{
	if (!worker->started)
		return;
	sk_worker_post(worker, NULL, 0);
	pthread_join(worker->thread, NULL);
}
