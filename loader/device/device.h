/* A device: lanes of cores, played by threads, the workers. Commands wait in their stream; a launch whose turn it is,
 * and for which there are cores, becomes a flight: the workers have their parts of it. Whoever makes that possible
 * starts it: a thread that queues, or the worker that left a flight last. The first worker is whoever drives: a thread
 * that waits for a stream, else the device's own.
 *
 *   device.c   opening and closing
 *   flight.c   a flight: its cores, how they are dealt out, and what became of it
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
#include "loader/flight/instance.h"
#include "loader/flight/module.h"
#include "loader/profile/profile.h"

enum {
	SK_MAX_CORES = SK_MAX_RESIDENT, /* a lane */
	SK_LINE = 128, /* bytes that one core writes and others read are kept apart by this much */
};

struct sk_flight;
struct sk_command;

/* What must end in time; watch.c. Changes under the lock of the time-out, but for `due`, which others read. */
struct sk_watched {
	struct sk_watched *next;
	struct sk_flight *flight; /* NULL: a call that one thread runs: */
	pthread_t thread;
	int64_t deadline; /* monotonic time in ns */
	_Atomic bool due; /* its calls are to be expelled */
};

/* A core. Its call is what it does in one flight, in which it has whatever number the flight gives it. */
struct sk_device_core {
	alignas(SK_LINE) struct sk_core
		abi; /* what package code sees; first: the runtime's functions get its address */
	struct skrt_device *device;
	uint32_t number; /* among the lane's; abi.index is that in the flight */
	bool taken; /* by a flight; under the device's lock */
	struct sk_worker *worker; /* that plays it in this flight */
	uint32_t turn; /* its place among the worker's */
	uint32_t step; /* of the plan, whose kernel it is in; only devices with checks know, else SK_NO_INDEX */
	struct sk_flight *flight;
	struct sk_call call;
	/* What it waits for, and if it was told to leave, waited for; NULL: nothing. */
	const volatile uint64_t *word;
	uint64_t target;
	uint64_t words; /* that must reach the target: this one and those behind it */
	uint64_t entered, left; /* the flight, by the processor's counter; noted only for a trace */
};

/* What a worker has of a flight. */
struct sk_part {
	struct sk_part *next; /* among those that are posted, then those that it plays */
	struct sk_flight *flight;
	uint32_t rank; /* of the worker in the flight: which of its cores it plays */
	uint32_t unfinished; /* cores that have not left */
	bool given_up; /* the flight was aborted; cores that have not begun never will */
};

/* What a worker is told. Posted under the device's lock; then number grows. */
struct sk_mailbox {
	alignas(SK_LINE) _Atomic uint32_t number; /* of posts so far; a futex */
	_Atomic uint32_t sleeping;
	_Atomic bool stop; /* the thread ends */
	struct sk_part *_Atomic posts; /* the last one first */
};

/* A thread that plays cores. The first of a device is whoever drives. */
struct sk_worker {
	struct sk_mailbox mailbox;
	struct skrt_device *device;
	uint32_t number;
	pthread_t thread;
	bool started;
	uint32_t load; /* parts that it has of flights; under the device's lock */
	/* While it plays: */
	struct sk_host *host;
	const _Atomic uint64_t *wanted; /* when it is 0, the first worker takes no more parts than it must; NULL:
					   takes them all */
	struct sk_part *parts;
	struct sk_flight *lingering; /* that it has nothing more to do in; NULL: none. See worker.c */
	struct sk_device_core **cores; /* in the order of their turns; room for all that a device can have */
	uint32_t core_count;
	uint64_t random; /* state; only simulated devices draw */
};

struct sk_device_lane {
	uint32_t usual; /* cores of a launch that does not need more */
	uint32_t count; /* cores that there are; 0: no package has needed the lane yet */
	uint32_t taken; /* by flights; under the device's lock */
	struct sk_device_core *cores; /* room for SK_MAX_CORES */
};

/* A launch that is in flight. The device keeps some places for them, for one flight after another: progress numbers
 * only grow, and a flight's steps are numbered from the base that those before it in its place have moved on. */
struct sk_flight {
	/* Read by all that wait: */
	alignas(SK_LINE) _Atomic int aborted; /* enum sk_abort */
	alignas(SK_LINE) _Atomic uint32_t inside; /* workers that have not left it */

	alignas(SK_LINE) struct skrt_device *device;
	uint32_t place; /* its number */
	struct {
		struct sk_device_core **cores; /* by number in the flight; room for SK_MAX_CORES */
		uint64_t *words; /* progress, SK_PROGRESS_STRIDE bytes apart; room for as many */
		uint64_t base; /* number before the first step */
	} lanes[SK_MAX_LANES];
	struct sk_part *parts; /* by worker */
	uint32_t *order; /* the workers' numbers, by rank */
	char *tables; /* of times, for a trace: one for each core that has one */
	size_t tables_size;

	/* Of the launch that is in the place: */
	struct sk_command *command; /* NULL: none */
	struct skrt_instance *instance;
	const struct skrt_kernel *kernel;
	const struct sk_home *homes; /* the kernel's, for this place */
	uint32_t workers; /* of the device, when it began */
	uint32_t busy; /* of them, those that have cores in it: the first ranks */
	struct skrt_trace *trace; /* that records it; NULL: none */
	uint64_t started; /* by the processor's counter, for the trace */
	struct sk_watched watched;
};

/* Why cores are to leave a flight before its end. */
enum sk_abort {
	SK_ABORT_NONE,
	SK_ABORT_FAILED, /* one has failed, and says why */
	SK_ABORT_STUCK, /* each waits for another */
	SK_ABORT_TIMEOUT,
};

enum sk_command_kind { SK_COMMAND_LAUNCH, SK_COMMAND_COPY, SK_COMMAND_CALL, SK_COMMAND_RECORD, SK_COMMAND_WAIT };

/* What is queued, and waits in its stream. */
struct sk_command {
	enum sk_command_kind kind;
	struct skrt_stream *stream;
	struct sk_command *next; /* of the stream; or of those that are not used */
	uint64_t number; /* in the order of the calls */
	union {
		struct {
			struct skrt_instance *instance;
			const struct skrt_kernel *kernel;
			struct sk_command *before,
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
			struct sk_command *behind; /* of the event's records, or waits */
			uint64_t record; /* number of the event's record; of the last one that is waited for */
		} event;
	};
};

/* Commands in a row. */
struct sk_commands {
	struct sk_command *first, *last;
};

struct skrt_event {
	struct skrt_device *device;
	_Atomic uint64_t pending; /* records that have not been reached; changes under the device's lock */
	uint64_t recorded; /* records so far */
	struct sk_commands records; /* pending ones, in the order of the calls */
	struct sk_command *waits; /* for records that are pending */
	int64_t time; /* of the last one that has; monotonic, in ns; 0: none */
	pthread_cond_t reached; /* pending has become 0 */
};

struct skrt_stream {
	struct skrt_device *device;
	_Atomic uint64_t pending; /* queued or running; changes under the device's lock */
	struct sk_commands commands; /* that have not started */
	struct skrt_stream *next; /* of those whose first command could start, if only it were for the stream */
	pthread_cond_t ended; /* pending has become 0 */
	enum skrt_status status; /* of the first failure that nobody has been told yet */
	char error[SK_REPORT_SIZE];
};

/* The time-out of flights; watch.c. */
struct sk_watch {
	uint64_t timeout; /* ns; 0: none, and no thread */
	pthread_t thread;
	pthread_mutex_t lock; /* all that follows */
	pthread_cond_t changed;
	struct sk_watched *first; /* of what is under way */
	bool driving; /* somebody is the first worker: */
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
	struct sk_checks *checks; /* NULL: none. A device with checks has a single worker */
	uint32_t lane_count; /* lanes that exist; more come with packages that have more, up to the limit */
	uint32_t lane_limit;
	struct sk_device_lane lanes[SK_MAX_LANES];
	uint32_t processor_count;
	int *processors; /* numbers of those that this process may use */
	struct sk_worker *workers; /* room for one each processor; simulated: for one */
	uint32_t worker_limit;
	_Atomic uint32_t worker_count; /* that exist; the first has no thread */
	const struct sk_runtime *runtime; /* what package code on the cores calls */
	void (*complete)(struct sk_flight *flight); /* the last worker has left the flight; without the lock */
	/* Read by all that wait: */
	alignas(SK_LINE) _Atomic int64_t
		next_yield; /* monotonic time in ns; before it, waiting cores sleep rather than give way */
	_Atomic uint64_t in_flight; /* flights, and who is just about to start more; changes under the lock */
	alignas(SK_LINE) struct sk_watch watch;

	pthread_mutex_t lock; /* all that follows; streams, events, instances' counts */
	pthread_cond_t work; /* for the device's thread: there is something to do that nobody does */
	pthread_cond_t idle; /* flight_count has become 0 */
	pthread_t driver;
	bool driving, stopping;
	uint32_t holding; /* who wants that no launch starts: the cores are about to become more */
	struct skrt_stream *ready; /* those that have nothing running, by the number of their first command */
	struct sk_commands errands; /* copies and calls that can be made now */
	struct sk_command *unused;
	uint64_t unused_count;
	uint64_t queued; /* commands so far */
	uint64_t pending; /* commands that have not ended */
	uint32_t flight_count;
	struct sk_flight *flights[SK_MOST_FLIGHTS]; /* by place; NULL: not made yet. The first always is */
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

/* Makes the lanes up to lane_count, each with at least so many cores, and workers for them. */
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

/* Tells all cores of the flight to leave; the first reason is kept. */
static inline void sk_flight_abort(struct sk_flight *flight, enum sk_abort reason)
{
	int none = SK_ABORT_NONE;

	atomic_compare_exchange_strong(&flight->aborted, &none, (int)reason);
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
bool sk_flight_open(struct skrt_device *device, uint32_t place);
void sk_flight_close(struct skrt_device *device, uint32_t place);

/* Whether there are cores and a place for the kernel. Lanes that are reserved count as taken; what the kernel would
 * need and does not get becomes reserved. */
bool sk_flight_has_room(struct skrt_device *device, const struct skrt_kernel *kernel, bool reserved[SK_MAX_LANES]);

/* Starts the launch, for which there is room: posts it to the workers. If the status is not SKRT_OK, error is filled,
 * and nothing was started. */
enum skrt_status sk_flight_start(struct skrt_device *device, struct sk_command *command, char *error,
				 size_t error_size);

/* What became of the flight, which all cores have left. If it is not SKRT_OK, error is filled, and *lost set if the
 * device is not to be used any more. Without the lock. */
enum skrt_status sk_flight_result(struct sk_flight *flight, char *error, size_t error_size, bool *lost);

/* Frees its place and cores. */
void sk_flight_end(struct sk_flight *flight, bool good);

/* ---- lane.c ---- */

/* Makes a lane's cores up to `cores`. Those that there are stay where they are. */
enum skrt_status sk_lane_open(struct skrt_device *device, uint32_t number, uint32_t cores);
void sk_lane_close(struct sk_device_lane *lane);

/* Readies the core for its part of the flight, as number `index` of its lane. */
void sk_lane_prepare(struct sk_device_core *core, struct sk_flight *flight, uint32_t index);

/* ---- block.c ---- */

/* What the functions of skkernel.h call. */
extern const struct sk_block_functions sk_block_functions;

/* A kernel that uses flags wrongly, at an address of its own, ends its call here. */
void sk_block_check_flag(const struct sk_block *block, uint32_t flag, const void *at);

/* An await on a step of the launch, as the dispatcher would execute it. False: the core must leave. */
bool sk_block_await(struct sk_core *core, const struct sk_plan_launch *flight, const struct sk_plan_step *awaited);

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
bool sk_block_describe(const struct skrt_kernel *kernel, const struct sk_device_core *waiting, char *text, size_t size);

/* ---- worker.c ---- */

/* Plays the worker's parts of flights, those that are posted meanwhile among them, until all cores have left. Returns
 * a flight that the caller has to complete, since the worker was the last one to leave it; NULL: none. */
struct sk_flight *sk_worker_play(struct sk_worker *worker);

/* What a waiting core does: the slow path of a dispatcher's await. */
int sk_worker_await(struct sk_core *core, const volatile uint64_t *word, uint64_t target, uint64_t count);

/* The thread of a worker: plays what is posted. */
void *sk_worker_run(void *worker);
void sk_worker_post(struct sk_worker *worker, struct sk_part *part);

/* Waits until the count is 0, but no longer than it makes sense to wait without sleeping. */
void sk_worker_spin(const _Atomic uint64_t *pending);
void sk_worker_stop(struct sk_worker *worker);

/* Whether something is posted that it has not taken. */
bool sk_worker_has_posts(const struct sk_worker *worker);

/* ---- watch.c ---- */

enum skrt_status sk_watch_open(struct skrt_device *device);
void sk_watch_close(struct skrt_device *device);

/* Around a flight. */
void sk_watch_begin(struct skrt_device *device, struct sk_watched *watched);
void sk_watch_end(struct skrt_device *device, struct sk_watched *watched);

/* A call from beginning to end, on the calling thread. */
void sk_watch_call(struct skrt_device *device, struct sk_call *call, int (*function)(void *context), void *context);

/* The calling thread becomes the first worker; is so no more. */
void sk_watch_drive(struct skrt_device *device, bool driving);

/* ---- locate.c ---- */

/* The step of the plan that a call of the launch, or of its serial entry, was left in; of a launch with one step it is
 * that one. SK_NO_INDEX: none. The plan's steps have been checked. */
uint32_t sk_locate_step(const struct skrt_kernel *kernel, bool serial, const struct sk_call *call);

/* ---- failure.c ---- */

/* Whether any core has not done all of its part of the flight, which all have left. One that was told to leave when all
 * were through has not failed. */
bool sk_failure_is_one(const struct sk_flight *flight);

/* Says why the flight, which all cores have left, has failed. A fault of a package that may have held a lock loses the
 * device: *lost. */
void sk_failure_describe(const struct sk_flight *flight, char *error, size_t error_size, bool *lost);

/* Says what became of the call of a constructor or destructor that failed. */
void sk_failure_describe_function(const struct skrt_module *module, const char *what, const struct sk_call *call,
				  char *error, size_t error_size, bool *lost);

/* The same for a call of the launch's serial entry that failed. */
void sk_failure_describe_serial(const struct skrt_kernel *kernel, const struct sk_call *call, char *error,
				size_t error_size, bool *lost);

/* ---- queue.c; all but sk_queue_work, sk_queue_complete and sk_queue_lose under the device's lock ---- */

/* Room for `count` more. False: no memory. */
bool sk_queue_reserve(struct skrt_device *device, uint64_t count);

/* Queues a copy of the command on its stream; there must be room. */
void sk_queue_append(struct skrt_device *device, const struct sk_command *command);

/* Starts all that can start. */
void sk_queue_dispatch(struct skrt_device *device);

/* The device's own thread: does what nobody else does. */
void *sk_queue_work(void *device);

/* Wakes it if there is something to do that nobody does. */
void sk_queue_hand_over(struct skrt_device *device);

/* Drives, or waits for those who do, until *pending is 0, which `ended` tells. A thread that waits for a stream drives
 * when there is a flight of it to play, so that it is not caught in somebody else's. */
void sk_queue_finish(struct skrt_device *device, const struct skrt_stream *stream, const _Atomic uint64_t *pending,
		     pthread_cond_t *ended);

/* The last worker has left the flight. */
void sk_queue_complete(struct sk_flight *flight);

/* Nothing runs on the device any more. */
void sk_queue_lose(struct skrt_device *device, const char *why);

/* If the device is lost, an error that says so. */
enum skrt_status sk_queue_check_lost(const struct skrt_device *device);

#endif
