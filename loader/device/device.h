/* A device: lanes of cores, played by threads. What is queued waits in its stream; a launch whose turn it is, and for
 * which there are cores, is in flight: the players have their parts of it. Whoever makes that possible starts it: a
 * thread that queues, or the player that left a launch last. The first player is whoever drives: a thread that waits
 * for a stream, else the device's own.
 *
 *   device.c   opening and closing
 *   flight.c   a launch in flight: its cores, how they are dealt out, and what became of it
 *   lane.c     a lane's cores
 *   worker.c   threads that play cores: one each, or several in turn on fibres
 *   watch.c    the time-out
 *   thread.c   the threads, and memory
 *   construct.c  a package's constructors and destructors
 *   trace.c    what launches did, and when (trace.h)
 *   failure.c  what is said about a launch that failed
 *   locate.c   in which step a call was that was left
 *   checks.h   launches that are checked step by step
 *   block.c    what blocks that run at once ask for: sk_sync_all and flags
 *   queue.c    what is queued, what starts when, and who drives
 *   stream.c   streams, and what can be queued on them */
#ifndef SK_LOADER_DEVICE_H
#define SK_LOADER_DEVICE_H

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "loader/base/status.h"
#include "loader/checks/checks.h"
#include "loader/core/call.h"
#include "loader/device/instance.h"
#include "loader/device/module.h"
#include "loader/profile/profile.h"

enum {
	SK_MAX_CORES = SK_MAX_RESIDENT, /* a lane */
	SK_LINE = 128, /* bytes that one core writes and others read are kept apart by this much */
};

struct sk_launch;
struct sk_work;

/* What must end in time; watch.c. Changes under the lock of the time-out, but for `due`, which others read. */
struct sk_watched {
	struct sk_watched *next;
	struct sk_launch *launch; /* NULL: a call that one thread runs: */
	pthread_t thread;
	int64_t deadline; /* monotonic time in ns */
	_Atomic bool due; /* its calls are to be expelled */
};

/* A core. Its call is what it does for one launch, in which it has whatever number the launch gives it. */
struct sk_worker {
	alignas(SK_LINE) struct sk_core core; /* first: the runtime's functions get its address */
	struct skrt_device *device;
	uint32_t number; /* among the lane's; core.index is that in the launch */
	bool taken; /* by a launch in flight; under the device's lock */
	struct sk_player *player; /* of this launch */
	uint32_t turn; /* its place among the player's */
	uint32_t step; /* of the plan, whose kernel it is in; only devices with checks know, else SK_NO_INDEX */
	struct sk_launch *launch;
	struct sk_call call;
	/* What it waits for, and if it was told to leave, waited for; NULL: nothing. */
	const volatile uint64_t *word;
	uint64_t target;
	uint64_t words; /* that must reach the target: this one and those behind it */
	uint64_t entered, left; /* the launch, by the processor's counter; noted only for a trace */
};

/* What a player has of a launch. */
struct sk_part {
	struct sk_part *next; /* among those that are posted, then those that it plays */
	struct sk_launch *launch;
	uint32_t rank; /* of the player in the launch: which of its cores it plays */
	uint32_t unfinished; /* cores that have not left */
	bool given_up; /* the launch was aborted; cores that have not begun never will */
};

/* What a player is told. Posted under the device's lock; then number grows. */
struct sk_mailbox {
	alignas(SK_LINE) _Atomic uint32_t number; /* of posts so far; a futex */
	_Atomic uint32_t sleeping;
	_Atomic bool stop; /* the thread ends */
	struct sk_part *_Atomic posts; /* the last one first */
};

/* A thread that plays cores. The first of a device is whoever drives. */
struct sk_player {
	struct sk_mailbox mailbox;
	struct skrt_device *device;
	uint32_t number;
	pthread_t thread;
	bool started;
	uint32_t load; /* parts that it has of launches in flight; under the device's lock */
	/* While it plays: */
	struct sk_host *host;
	const _Atomic uint64_t *wanted; /* when it is 0, the first player takes no more launches than it must; NULL:
					   takes them all */
	struct sk_part *parts;
	struct sk_launch *lingering; /* that it has nothing more to do in; NULL: none. See worker.c */
	struct sk_worker **workers; /* in the order of their turns; room for all that a device can have */
	uint32_t worker_count;
	uint64_t random; /* state; only simulated devices draw */
};

struct sk_device_lane {
	uint32_t cores; /* of a launch that does not need more */
	uint32_t open; /* cores that there are; 0: no package has needed the lane yet */
	uint32_t taken; /* by launches in flight; under the device's lock */
	struct sk_worker *workers; /* room for SK_MAX_CORES */
};

/* A place for a launch in flight. The device keeps some of them, for one launch after another: progress numbers only
 * grow, and a launch's steps are numbered from the base that the launches before it in its place have moved on. */
struct sk_launch {
	/* Read by all that wait: */
	alignas(SK_LINE) _Atomic int aborted; /* enum sk_abort */
	alignas(SK_LINE) _Atomic uint32_t inside; /* players that have not left it */

	alignas(SK_LINE) struct skrt_device *device;
	uint32_t place; /* its number */
	struct {
		struct sk_worker **workers; /* by number in the launch; room for SK_MAX_CORES */
		uint64_t *words; /* progress, SK_PROGRESS_STRIDE bytes apart; room for as many */
		uint64_t base; /* number before the first step */
	} lanes[SK_MAX_LANES];
	struct sk_part *parts; /* by player */
	uint32_t *order; /* the players' numbers, by rank */
	char *tables; /* of times, for a trace: one for each core that has one */
	size_t tables_size;

	/* Of the launch that is in flight: */
	struct sk_work *work; /* NULL: none */
	struct skrt_instance *instance;
	const struct skrt_kernel *kernel;
	const struct sk_home *homes; /* the kernel's, for this place */
	uint32_t players; /* of the device, when it began */
	uint32_t busy; /* of them, those that have cores in it: the first ranks */
	struct skrt_trace *trace; /* that records it; NULL: none */
	uint64_t started; /* by the processor's counter, for the trace */
	struct sk_watched watched;
};

/* Why cores are to leave a launch before its end. */
enum sk_abort {
	SK_ABORT_NONE,
	SK_ABORT_FAILED, /* one has failed, and says why */
	SK_ABORT_STUCK, /* each waits for another */
	SK_ABORT_TIMEOUT,
};

enum sk_work_kind { SK_WORK_LAUNCH, SK_WORK_COPY, SK_WORK_CALL, SK_WORK_RECORD, SK_WORK_WAIT };

/* What can be queued. */
struct sk_work {
	enum sk_work_kind kind;
	struct skrt_stream *stream;
	struct sk_work *next; /* of the stream; or of those that are not used */
	uint64_t number; /* in the order of the calls */
	union {
		struct {
			struct skrt_instance *instance;
			const struct skrt_kernel *kernel;
			struct sk_work *before,
				*behind; /* unfinished launches of the instance, in the order of the calls */
			uint64_t run; /* through the network: see struct skrt_instance */
			bool alone; /* it starts when all launches of the instance before it have ended */
		} launch;
		struct {
			void *to;
			const void *from;
			uint64_t bytes;
		} copy;
		struct {
			void (*function)(void *context, enum skrt_status status);
			void *context;
		} call;
		struct {
			struct skrt_event *event; /* WAIT: NULL when it has been reached */
			struct sk_work *behind; /* of the event's records, or waits */
			uint64_t record; /* number of the event's record; of the last one that is waited for */
		} event;
	};
};

/* Works in a row. */
struct sk_works {
	struct sk_work *first, *last;
};

struct skrt_event {
	struct skrt_device *device;
	_Atomic uint64_t pending; /* records that have not been reached; changes under the device's lock */
	uint64_t recorded; /* records so far */
	struct sk_works records; /* pending ones, in the order of the calls */
	struct sk_work *waits; /* for records that are pending */
	int64_t time; /* of the last one that has; monotonic, in ns; 0: none */
	pthread_cond_t reached; /* pending has become 0 */
};

struct skrt_stream {
	struct skrt_device *device;
	_Atomic uint64_t pending; /* queued or running; changes under the device's lock */
	struct sk_works works; /* that have not started */
	struct skrt_stream *next; /* of those whose first work could start, if only it were for the stream */
	pthread_cond_t ended; /* pending has become 0 */
	enum skrt_status status; /* of the first failure that nobody has been told yet */
	char error[SK_REPORT_SIZE];
};

/* The time-out of launches; watch.c. */
struct sk_watch {
	uint64_t timeout; /* ns; 0: none, and no thread */
	pthread_t thread;
	pthread_mutex_t lock; /* all that follows */
	pthread_cond_t changed;
	struct sk_watched *first; /* of what is under way */
	bool driving; /* somebody is the first player: */
	pthread_t driver;
	bool idle, stop;
};

struct skrt_device {
	pid_t process; /* that opened it */
	uint32_t forks; /* between the first device and this one; see device.c */
	char name[SK_PROFILE_MAX_NAME + 1];
	bool simulated; /* all cores on one thread, in an order that depends on the seed alone */
	uint64_t seed;
	size_t stack_size; /* of each core */
	struct sk_checks *checks; /* NULL: none. A device with checks has a single player */
	uint32_t lane_count; /* lanes that exist; more come with packages that have more, up to the limit */
	uint32_t lane_limit;
	struct sk_device_lane lanes[SK_MAX_LANES];
	uint32_t processor_count;
	int *processors; /* numbers of those that this process may use */
	struct sk_player *players; /* room for one each processor; simulated: for one */
	uint32_t player_limit;
	_Atomic uint32_t player_count; /* that exist; the first has no thread */
	const struct sk_runtime *runtime; /* what package code on the cores calls */
	void (*complete)(struct sk_launch *launch); /* the last player has left the launch; without the lock */
	/* Read by all that wait: */
	alignas(SK_LINE) _Atomic int64_t
		next_yield; /* monotonic time in ns; before it, waiting cores sleep rather than give way */
	_Atomic uint64_t in_flight; /* launches, and who is just about to start more; changes under the lock */
	alignas(SK_LINE) struct sk_watch watch;

	pthread_mutex_t lock; /* all that follows; streams, events, instances' counts */
	pthread_cond_t work; /* for the device's thread: there is something to do that nobody does */
	pthread_cond_t idle; /* launch_count has become 0 */
	pthread_t driver;
	bool driving, stopping;
	uint32_t holding; /* who wants that no launch starts: the cores are about to become more */
	struct skrt_stream *ready; /* those that have nothing running, by the number of their first work */
	struct sk_works errands; /* copies and calls that can be made now */
	struct sk_work *unused;
	uint64_t unused_count;
	uint64_t queued; /* works so far */
	uint64_t pending; /* works that have not ended */
	uint32_t launch_count; /* in flight */
	struct sk_launch *launches[SK_MOST_LAUNCHES]; /* by place; NULL: not made yet. The first always is */
	uint32_t modules, streams, events; /* alive */
	uint64_t allocations; /* not freed */
	struct skrt_trace *trace; /* changes only while nothing is pending; NULL: none */
	bool lost; /* a fault may have left a lock of the C library taken: nothing runs any more */
	char loss[SK_REPORT_SIZE]; /* why */
};

/* Whether this is the process that opened the device: a fork has none of its threads. */
enum skrt_status sk_device_check_process(const struct skrt_device *device);

/* Around what a public function does under the device's lock, in this process and without being cancelled. If lock
 * fails, so does the function. */
enum skrt_status sk_device_lock(struct skrt_device *device);
void sk_device_unlock(struct skrt_device *device);

/* Makes the lanes up to lane_count, each with at least so many cores, and players for them. */
enum skrt_status sk_device_add_cores(struct skrt_device *device, uint32_t lane_count,
				     const uint32_t cores[SK_MAX_LANES]);

static inline int64_t sk_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

/* Changes a number that only the device's lock allows to change, though others read it; returns it. */
static inline uint64_t sk_count(_Atomic uint64_t *number, int change)
{
	uint64_t changed = atomic_load_explicit(number, memory_order_relaxed) + (uint64_t)(int64_t)change;

	atomic_store_explicit(number, changed, memory_order_release);
	return changed;
}

/* Tells all cores of the launch to leave; the first reason is kept. */
static inline void sk_launch_abort(struct sk_launch *launch, enum sk_abort reason)
{
	int none = SK_ABORT_NONE;

	atomic_compare_exchange_strong(&launch->aborted, &none, (int)reason);
}

/* ---- thread.c ---- */

/* Zero-filled pages that take memory as far as they are used. NULL: there is no room. */
void *sk_device_reserve(size_t size);

/* Starts a thread of the device. It blocks the signals that come from outside, so that the program's own threads get
 * them, and the number-th of the device's processors is its own, if there are so many. */
enum skrt_status sk_device_start_thread(struct skrt_device *device, pthread_t *thread, void *(*run)(void *context),
					void *context, uint32_t number);

/* ---- flight.c; all but result under the device's lock ---- */

/* Makes the place if it is not there. False: no memory. */
bool sk_launch_open(struct skrt_device *device, uint32_t place);
void sk_launch_close(struct skrt_device *device, uint32_t place);

/* Whether there are cores and a place for the kernel. Lanes that are reserved count as taken; what the kernel would
 * need and does not get becomes reserved. */
bool sk_launch_has_room(struct skrt_device *device, const struct skrt_kernel *kernel, bool reserved[SK_MAX_LANES]);

/* Starts the work, for which there is room: posts it to the players. If the status is not SKRT_OK, error is filled, and
 * nothing was started. */
enum skrt_status sk_launch_start(struct skrt_device *device, struct sk_work *work, char *error, size_t error_size);

/* What became of the launch, which all cores have left. If it is not SKRT_OK, error is filled, and *lost set if the
 * device is not to be used any more. Without the lock. */
enum skrt_status sk_launch_result(struct sk_launch *launch, char *error, size_t error_size, bool *lost);

/* Frees its place and cores. */
void sk_launch_end(struct sk_launch *launch, bool good);

/* ---- lane.c ---- */

/* Makes a lane's cores up to `cores`. Those that there are stay where they are. */
enum skrt_status sk_lane_open(struct skrt_device *device, uint32_t number, uint32_t cores);
void sk_lane_close(struct sk_device_lane *lane);

/* Readies the core for its part of the launch, as number `index` of its lane. */
void sk_lane_prepare(struct sk_worker *worker, struct sk_launch *launch, uint32_t index);

/* ---- block.c ---- */

/* What the functions of skkernel.h call. */
extern const struct sk_block_functions sk_block_functions;

/* A kernel that uses flags wrongly, at an address of its own, ends its call here. */
void sk_block_check_flag(const struct sk_block *block, uint32_t flag, const void *at);

/* An await on a step of the launch, as the dispatcher would execute it. False: the core must leave. */
bool sk_block_await(struct sk_core *core, const struct sk_plan_launch *launch, const struct sk_plan_step *awaited);

/* Whether sk_set_next_task_start of the block tells others that the core has finished the step. */
bool sk_block_publishes(const struct sk_block *block);

/* What a dispatcher calls behind the blocks of a step with FEED. */
void sk_block_feed(struct sk_core *core, uint32_t step);

/* Room for what the blocks of the kernel's launch say, unless there is. False: no memory. */
bool sk_block_prepare(struct skrt_kernel *kernel);

/* Forgets what the blocks of the launch before have said. */
void sk_block_reset(const struct skrt_kernel *kernel);

/* "waits for flag 2 of block 5 of the vector side": what the word is that a core waits for. False if it is none of a
 * block's. */
bool sk_block_describe(const struct skrt_kernel *kernel, const struct sk_worker *waiting, char *text, size_t size);

/* ---- worker.c ---- */

/* Plays the player's parts of launches, those that are posted meanwhile among them, until all cores have left. Returns
 * a launch that the caller has to complete, since the player was the last one to leave it; NULL: none. */
struct sk_launch *sk_player_play(struct sk_player *player);

/* What a waiting core does: the slow path of a dispatcher's await. */
int sk_player_await(struct sk_core *core, const volatile uint64_t *word, uint64_t target, uint64_t count);

/* The thread of a player: plays what is posted. */
void *sk_player_work(void *player);
void sk_player_post(struct sk_player *player, struct sk_part *part);

/* Waits until the count is 0, but no longer than it makes sense to wait without sleeping. */
void sk_player_spin(const _Atomic uint64_t *pending);
void sk_player_stop(struct sk_player *player);

/* Whether something is posted that it has not taken. */
bool sk_player_has_posts(const struct sk_player *player);

/* ---- watch.c ---- */

enum skrt_status sk_watch_open(struct skrt_device *device);
void sk_watch_close(struct skrt_device *device);

/* Around a launch. */
void sk_watch_begin(struct skrt_device *device, struct sk_watched *watched);
void sk_watch_end(struct skrt_device *device, struct sk_watched *watched);

/* A call from beginning to end, on the calling thread. */
void sk_watch_call(struct skrt_device *device, struct sk_call *call, int (*function)(void *context), void *context);

/* The calling thread becomes the first player; is so no more. */
void sk_watch_drive(struct skrt_device *device, bool driving);

/* ---- locate.c ---- */

/* The step of the plan that a call of the launch, or of its serial entry, was left in; of a launch with one step it is
 * that one. SK_NO_INDEX: none. The plan's steps have been checked. */
uint32_t sk_locate_step(const struct skrt_kernel *kernel, bool serial, const struct sk_call *call);

/* ---- failure.c ---- */

/* Whether any core has not done all of its part of the launch, which all have left. One that was told to leave when all
 * were through has not failed. */
bool sk_failure_is_one(const struct sk_launch *launch);

/* Says why the launch that all cores have left has failed. A fault of a package that may have held a lock loses the
 * device: *lost. */
void sk_failure_describe(const struct sk_launch *launch, char *error, size_t error_size, bool *lost);

/* Says what became of the call of a constructor or destructor that failed. */
void sk_failure_describe_function(const struct skrt_module *module, const char *what, const struct sk_call *call,
				  char *error, size_t error_size, bool *lost);

/* The same for a call of the launch's serial entry that failed. */
void sk_failure_describe_serial(const struct skrt_kernel *kernel, const struct sk_call *call, char *error,
				size_t error_size, bool *lost);

/* ---- queue.c; all but sk_queue_work, sk_queue_complete and sk_queue_lose under the device's lock ---- */

/* Room for `count` more. False: no memory. */
bool sk_queue_reserve(struct skrt_device *device, uint64_t count);

/* Queues a copy of the work on its stream; there must be room. */
void sk_queue_append(struct skrt_device *device, const struct sk_work *work);

/* Starts all that can start. */
void sk_queue_dispatch(struct skrt_device *device);

/* The device's own thread: does what nobody else does. */
void *sk_queue_work(void *device);

/* Wakes it if there is something to do that nobody does. */
void sk_queue_hand_over(struct skrt_device *device);

/* Drives, or waits for those who do, until *pending is 0, which `ended` tells. A thread that waits for a stream drives
 * when there is a launch of it to play, so that it is not caught in somebody else's. */
void sk_queue_finish(struct skrt_device *device, const struct skrt_stream *stream, const _Atomic uint64_t *pending,
		     pthread_cond_t *ended);

/* The last player has left the launch. */
void sk_queue_complete(struct sk_launch *launch);

/* Nothing runs on the device any more. */
void sk_queue_lose(struct skrt_device *device, const char *why);

/* If the device is lost, an error that says so. */
enum skrt_status sk_queue_check_lost(const struct skrt_device *device);

#endif
