/* A device: lanes of cores, played by threads, one launch at a time. What waits is in a queue, in the order of the
 * calls. Whoever takes the next launch from it (the device's own thread, or one that waits for a stream) drives: posts
 * the launch to the players, is the first player, and collects the others.
 *
 *   device.c   opening and closing; one launch from the post until the last core has left
 *   lane.c     a lane's cores
 *   player.c   threads that play cores: one each, or several in turn on fibres
 *   watch.c    the time-out
 *   trace.c    what launches did, and when (trace.h)
 *   failure.c  what is said about a launch that failed
 *   locate.c   in which step a call was that was left
 *   checks.h   launches that are checked step by step
 *   block.c    what blocks that run at once ask for: sk_sync_all and flags
 *   queue.c    what is queued, and who drives
 *   stream.c   streams, and what can be queued on them */
#ifndef SK_LOADER_DEVICE_H
#define SK_LOADER_DEVICE_H

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "loader/call.h"
#include "loader/checks.h"
#include "loader/instance.h"
#include "loader/module.h"
#include "loader/profile.h"
#include "loader/report.h"

enum {
	SK_MAX_CORES = SK_MAX_RESIDENT, /* a lane */
	SK_LINE = 128, /* bytes that one core writes and others read are kept apart by this much */
};

struct sk_launch;

/* A core. Its call is what it does for one launch. */
struct sk_worker {
	alignas(SK_LINE) struct sk_core core; /* first: the runtime's functions get its address */
	struct skrt_device *device;
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

/* What a player is told. Written by the driver while the player has left, then number grows. */
struct sk_mailbox {
	alignas(SK_LINE) _Atomic uint32_t number; /* of launches posted so far; a futex */
	_Atomic uint32_t sleeping;
	bool stop; /* not a launch: the thread ends */
	struct sk_launch *launch;
};

/* A thread that plays cores. The first of a device is whoever drives. */
struct sk_player {
	struct sk_mailbox mailbox;
	struct skrt_device *device;
	uint32_t number;
	pthread_t thread;
	bool started;
	/* Of the launch that it plays: */
	struct sk_host *host;
	struct sk_worker **workers; /* in the order of their turns; room for all of the device */
	uint32_t worker_count;
	uint64_t random; /* state; only simulated devices draw */
	alignas(SK_LINE) _Atomic uint32_t left; /* number of the last launch that it has left */
};

struct sk_device_lane {
	uint32_t cores; /* of a launch that does not need more */
	uint32_t open; /* cores that there are; 0: no package has needed the lane yet */
	struct sk_worker *workers; /* room for SK_MAX_CORES */
	uint64_t *words; /* progress, SK_PROGRESS_STRIDE bytes apart; room for as many */
	uint64_t base; /* number before the next launch's first step */
};

struct sk_launch {
	struct skrt_instance *instance;
	const struct skrt_kernel *kernel;
	/* While it runs: */
	uint64_t bases[SK_MAX_LANES];
	uint32_t players; /* of the device, when it began */
	uint32_t busy; /* of them, those that have cores in it */
	uintptr_t token; /* for expelling; 0: nobody will */
	struct skrt_trace *trace; /* that records it; NULL: none */
};

/* Why cores are to leave the running launch before its end. */
enum sk_abort {
	SK_ABORT_NONE,
	SK_ABORT_FAILED, /* one has failed, and says why */
	SK_ABORT_STUCK, /* each waits for another */
	SK_ABORT_TIMEOUT,
};

enum sk_work_kind { SK_WORK_LAUNCH, SK_WORK_COPY, SK_WORK_CALL, SK_WORK_RECORD };

/* What can be queued. */
struct sk_work {
	enum sk_work_kind kind;
	struct skrt_stream *stream;
	union {
		struct sk_launch launch;
		struct {
			void *to;
			const void *from;
			uint64_t bytes;
		} copy;
		struct {
			void (*function)(void *context, enum skrt_status status);
			void *context;
		} call;
		struct skrt_event *event;
	};
};

struct skrt_event {
	struct skrt_device *device;
	uint64_t pending; /* records that have not been reached */
	int64_t time; /* of the last one that has; monotonic, in ns; 0: none */
	pthread_cond_t reached; /* pending has become 0 */
};

struct skrt_stream {
	struct skrt_device *device;
	uint64_t pending; /* queued or running */
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
	const struct sk_launch *launch; /* that runs; NULL: none */
	pthread_t driver; /* who is its first player */
	int64_t deadline; /* of the launch; monotonic time in ns */
	bool idle, stop;
};

struct skrt_device {
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
	/* Read by all that wait: */
	alignas(SK_LINE) _Atomic int64_t
		next_yield; /* monotonic time in ns; before it, waiting cores sleep rather than give way */
	_Atomic int aborted; /* enum sk_abort, of the running launch */
	alignas(SK_LINE) struct sk_watch watch;

	pthread_mutex_t lock; /* all that follows; streams, instances' counts */
	pthread_cond_t work; /* for the device's thread: launches queued, and nobody drives */
	pthread_cond_t idle; /* driving has become false */
	pthread_t driver;
	bool driving, stopping;
	struct sk_work *queue; /* a ring */
	size_t queue_capacity, queue_head, queue_count;
	uint32_t modules, streams, events; /* alive */
	uint64_t allocations; /* not freed */
	struct skrt_trace *trace; /* changes only while nothing is pending; NULL: none */
	bool lost; /* a fault may have left a lock of the C library taken: nothing runs any more */
	char loss[SK_REPORT_SIZE]; /* why */
};

/* Makes the lanes up to lane_count, each with at least so many cores, and players for them. */
enum skrt_status sk_device_add_cores(struct skrt_device *device, uint32_t lane_count,
				     const uint32_t cores[SK_MAX_LANES]);

/* Runs one launch, as the first player. If the status is not SKRT_OK, error is filled, and *lost set if the device is
 * not to be used any more. Only one thread at a time. */
enum skrt_status sk_device_run(struct skrt_device *device, struct sk_launch *launch, char *error, size_t error_size,
			       bool *lost);

/* Tells all cores of the running launch to leave; the first reason is kept. */
void sk_device_abort(struct skrt_device *device, enum sk_abort reason);

/* Starts a thread of the device. It blocks the signals that come from outside, so that the program's own threads get
 * them, and the number-th of the device's processors is its own, if there are so many. */
enum skrt_status sk_device_start_thread(struct skrt_device *device, pthread_t *thread, void *(*run)(void *context),
					void *context, uint32_t number);

static inline int64_t sk_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

/* ---- lane.c ---- */

/* Makes a lane's cores up to `cores`. Those that there are stay where they are. */
enum skrt_status sk_lane_open(struct skrt_device *device, uint32_t number, uint32_t cores);
void sk_lane_close(struct sk_device_lane *lane);

/* Readies the core for its part of the launch. */
void sk_lane_prepare(struct sk_worker *worker, struct sk_launch *launch);

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

/* Room for what the blocks of the kernel's launch say. False: no memory. */
bool sk_block_prepare(struct skrt_kernel *kernel);

/* Forgets what the blocks of the launch before have said. */
void sk_block_reset(const struct skrt_kernel *kernel);

/* "waits for flag 2 of block 5 of the vector side": what the word is that a core waits for. False if it is none of a
 * block's. */
bool sk_block_describe(const struct skrt_kernel *kernel, const struct sk_worker *waiting, char *text, size_t size);

/* ---- player.c ---- */

/* The cores [*first, *end) of a lane are the player's; empty if the lane has no steps in the launch. */
void sk_player_range(const struct sk_launch *launch, uint32_t player, uint32_t lane, uint32_t *first, uint32_t *end);

/* Has the player as many places as the device has cores. False: no memory. */
bool sk_player_make_room(struct sk_player *player, uint64_t cores);

/* Plays the player's cores of the launch until all have left it. */
void sk_player_play(struct sk_player *player, struct sk_launch *launch);

/* What a waiting core does: the slow path of a dispatcher's await. */
int sk_player_await(struct sk_core *core, const volatile uint64_t *word, uint64_t target, uint64_t count);

/* The thread of a player: plays what is posted. */
void *sk_player_work(void *player);
void sk_player_post(struct sk_player *player, struct sk_launch *launch);
void sk_player_stop(struct sk_player *player);

/* Waits until the player has left what was posted last. */
void sk_player_collect(struct sk_player *player);

/* ---- watch.c ---- */

enum skrt_status sk_watch_open(struct skrt_device *device);
void sk_watch_close(struct skrt_device *device);

/* Around a launch, by the driver. */
void sk_watch_begin(struct skrt_device *device, struct sk_launch *launch);
void sk_watch_end(struct skrt_device *device);

/* ---- locate.c ---- */

/* The step of the plan that a call of the launch, or of its serial entry, was left in; of a launch with one step it is
 * that one. SK_NO_INDEX: none. The plan's steps have been checked. */
uint32_t sk_locate_step(const struct skrt_kernel *kernel, bool serial, const struct sk_call *call);

/* ---- failure.c ---- */

/* Whether any core has not done all of its part of the launch, which all have left. One that was told to leave when all
 * were through has not failed. */
bool sk_failure_is_one(const struct skrt_device *device, const struct sk_launch *launch);

/* Says why the launch that all cores have left has failed. A fault of a package that may have held a lock loses the
 * device: *lost. */
void sk_failure_describe(const struct skrt_device *device, const struct sk_launch *launch, char *error,
			 size_t error_size, bool *lost);

/* The same for a call of the launch's serial entry that failed. */
void sk_failure_describe_serial(const struct skrt_kernel *kernel, const struct sk_call *call, char *error,
				size_t error_size, bool *lost);

/* ---- queue.c; all but sk_queue_drive and sk_queue_lose under the device's lock ---- */

/* Room for `count` more. False: no memory. */
bool sk_queue_reserve(struct skrt_device *device, size_t count);

/* Queues a copy of the work; there must be room. */
void sk_queue_append(struct skrt_device *device, const struct sk_work *work);

/* The device's own thread: drives what nobody else does. */
void *sk_queue_drive(void *device);

/* Wakes it if there is work that nobody does. */
void sk_queue_hand_over(struct skrt_device *device);

/* Drives, or waits for those who do, until *pending is 0, which `ended` tells. */
void sk_queue_finish(struct skrt_device *device, const uint64_t *pending, pthread_cond_t *ended);

/* Nothing runs on the device any more. */
void sk_queue_lose(struct skrt_device *device, const char *why);

/* If the device is lost, an error that says so. */
enum skrt_status sk_queue_check_lost(const struct skrt_device *device);

#endif
