/* A device: its lanes, workers and streams; launches from the queue to the flight, and the report of a failure. */
#ifndef SK_LOADER_DEVICE_DEVICE_H
#define SK_LOADER_DEVICE_DEVICE_H

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/profile/profile.h"
#include "format/skabi.h"
#include "format/skplan.h"
#include "loader/base/status.h"
#include "loader/core/core.h"
#include "loader/flight/flight.h"
#include "loader/image/image.h"
#include "loader/skrt.h"

struct skrt_trace;

/* ==== lane.c ====
 *
 * A lane of a device: its cores, and what they are told about a flight. */

struct sk_device_lane {
	uint32_t usual; /* cores of a launch that does not need more */
	uint32_t count; /* cores that there are; 0: no package has needed the lane yet */
	struct sk_device_core *cores; /* room for SK_MAX_CORES */
};

/* Which of a lane's cores flights have. */
struct sk_taken_cores {
	uint32_t count; /* of those that are usual */
	bool cores[SK_MAX_CORES]; /* by number */
};

/* Makes a lane's cores up to `cores`. Those that there are stay where they are. */
enum skrt_status sk_lane_open(struct skrt_device *device, uint32_t number, uint32_t cores);
void sk_lane_close(struct sk_device_lane *lane);

/* Readies the core for its part of the flight, which has these bases, as number `index` of its lane. */
void sk_lane_prepare(struct sk_device_core *core, struct sk_flight *flight, const uint64_t bases[SK_MAX_LANES],
		     uint32_t index);

/* ==== stream.c ====
 *
 * Streams and events, and the commands that wait in streams. */

enum sk_command_kind { SK_COMMAND_LAUNCH, SK_COMMAND_COPY, SK_COMMAND_CALL, SK_COMMAND_RECORD, SK_COMMAND_WAIT };

/* What is queued, and waits in its stream. Like a stream it has lines of its own, since it changes with each launch,
 * and what workers read may lie beside it. */
struct sk_command {
	alignas(SK_LINE) enum sk_command_kind kind;
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
	alignas(SK_LINE) struct skrt_device *device;
	_Atomic uint64_t pending; /* queued or running; changes under the device's lock */
	struct sk_commands commands; /* that have not started */
	struct skrt_stream *next; /* of those whose first command could start, if only it were for the stream */
	pthread_cond_t ended; /* pending has become 0 */
	enum skrt_status status; /* of the first failure that nobody has been told yet */
	char error[SK_ERROR_SIZE];
};

/* ==== watch.c ====
 *
 * The time-out of flights, and of other calls of package code. See watch.c. */

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

enum skrt_status sk_watch_open(struct skrt_device *device);
void sk_watch_close(struct skrt_device *device);

/* Around a flight. */
void sk_watch_begin(struct skrt_device *device, struct sk_watched *watched);
void sk_watch_end(struct skrt_device *device, struct sk_watched *watched);

/* A call from beginning to end, on the calling thread. */
void sk_watch_call(struct skrt_device *device, struct sk_call *call, const struct sk_package *package,
		   int (*function)(void *context), void *context);

/* The calling thread becomes the first worker; is so no more. */
void sk_watch_drive(struct skrt_device *device, bool driving);

/* ==== device.c ====
 *
 * A device: lanes of cores, played by threads, the workers. Commands wait in their stream; a launch whose turn it is,
 * and for which there are cores, becomes a flight: the workers have their parts of it. Whoever makes that possible
 * starts it: a thread that queues, or the worker that left a flight last. The first worker is whoever drives: a thread
 * that waits for a stream, else the device's own. Two other rooms look
 * on: loader/checks checks launches step by step, loader/trace records when what ran. */

struct sk_checks;
struct sk_worker;

struct skrt_device {
	struct sk_process process; /* that opened it */
	char name[SK_PROFILE_MAX_NAME + 1];
	bool simulated; /* all cores on one thread, in an order that depends on the seed alone */
	uint64_t seed;
	size_t stack_size; /* of each core */
	struct sk_checks *checks; /* NULL: none. A device with checks has a single worker */
	uint32_t lane_count; /* lanes that exist; more come with packages that have more, up to the limit */
	uint32_t lane_limit;
	struct sk_device_lane lanes[SK_MAX_LANES];
	uint32_t processor_count;
	size_t *processors; /* numbers of those that this process may use */
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

	alignas(SK_LINE) pthread_mutex_t lock; /* all that follows; streams, events, instances' counts */
	pthread_cond_t work; /* for the device's thread: there is something to do that nobody does */
	pthread_cond_t idle; /* flight_count has become 0 */
	pthread_t driver;
	bool driving, stopping;
	uint32_t holding; /* who wants that no launch starts: the cores are about to become more */
	struct skrt_stream *ready; /* those that have nothing running, by the number of their first command */
	struct sk_commands errands; /* copies and calls that can be made now */
	struct sk_command *unused;
	uint64_t unused_count;
	_Atomic uint64_t queued; /* commands so far */
	uint64_t pending; /* commands that have not ended */
	uint32_t flight_count;
	struct sk_taken_cores taken[SK_MAX_LANES];
	struct sk_flight *flights[SK_MOST_FLIGHTS]; /* by place; NULL: not made yet. The first always is */
	uint32_t modules, streams, events; /* alive */
	uint64_t allocations; /* not freed */
	uint64_t bound; /* how often something has been bound, or an instance made */
	struct skrt_trace *trace; /* changes only while nothing is pending; NULL: none */
	bool lost; /* a fault may have left a lock of the C library taken: nothing runs any more */
	char loss[SK_ERROR_SIZE]; /* why */
};

/* Around what a public function does under the device's lock, in this process and without being cancelled. If lock
 * fails, so does the function. */
enum skrt_status sk_device_lock(struct skrt_device *device);
void sk_device_unlock(struct skrt_device *device);

/* Makes the lanes up to lane_count, each with at least so many cores, and workers for them. */
enum skrt_status sk_device_add_cores(struct skrt_device *device, uint32_t lane_count,
				     const uint32_t cores[SK_MAX_LANES]);

/* Changes a number that only the device's lock allows to change, though others read it; returns it. */
static inline uint64_t sk_count(_Atomic uint64_t *number, int change)
{
	uint64_t changed = atomic_load_explicit(number, memory_order_relaxed) + (uint64_t)(int64_t)change;

	atomic_store_explicit(number, changed, memory_order_release);
	return changed;
}

/* ==== construct.c ====
 *
 * A package's constructors and destructors. See construct.c. */

/* Runs the package's constructors, unless that has been done: before anything else of it runs. If they fail, so does
 * every later call. */
enum skrt_status sk_module_construct(struct skrt_module *module);

/* Runs the destructors, if the constructors have run. */
void sk_module_destruct(struct skrt_module *module);

/* ==== drive.c ====
 *
 * The threads that drive a device, and do its errands; all but sk_drive_work and sk_drive_complete under the device's
 * lock. See drive.c. */

/* The device's own thread: does what nobody else does. */
void *sk_drive_work(void *device);

/* Wakes it if there is something to do that nobody does. */
void sk_drive_hand_over(struct skrt_device *device);

/* Drives, or waits for those who do, until *pending is 0, which `ended` tells. A thread that waits for a stream drives
 * when there is a flight of it to play, so that it is not caught in somebody else's. */
void sk_drive_until(struct skrt_device *device, const struct skrt_stream *stream, const _Atomic uint64_t *pending,
		    pthread_cond_t *ended);

/* The last worker has left the flight. */
void sk_drive_complete(struct sk_flight *flight);

/* ==== failure.c ====
 *
 * What is said about a launch, or another call of package code, that failed. */

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
void sk_failure_describe_serial(const struct skrt_instance *instance, const struct skrt_kernel *kernel,
				const struct sk_call *call, char *error, size_t error_size, bool *lost);

/* ==== flights.c ====
 *
 * Flights, from the start to the end; all but sk_flight_result under the device's lock. See flights.c. */

/* Makes the place if it is not there. False: no memory. */
bool sk_flight_open(struct skrt_device *device, uint32_t place);
void sk_flight_close(struct skrt_device *device, uint32_t place);

/* A place for the kernel, if there are cores for it, too; else NULL. Lanes that are reserved count as taken; what the
 * kernel would need and does not get becomes reserved. */
struct sk_flight *sk_flight_find(struct skrt_device *device, const struct skrt_kernel *kernel,
				 bool reserved[SK_MAX_LANES]);

/* Starts the launch in the place, for which there is room: posts it to the workers. If the status is not SKRT_OK, error
 * is filled, and nothing was started. */
enum skrt_status sk_flight_start(struct sk_flight *flight, struct sk_command *command, char *error, size_t error_size);

/* What became of the flight, which all cores have left. If it is not SKRT_OK, error is filled, and *lost set if the
 * device is not to be used any more. Without the lock. */
enum skrt_status sk_flight_result(struct sk_flight *flight, char *error, size_t error_size, bool *lost);

/* Frees its place and cores. */
void sk_flight_end(struct sk_flight *flight, bool good);

/* ==== loading.c ====
 *
 * From a mapped package to a module on a device. */

/* Makes a module of an image and its plan of `size` bytes at `plan` (NULL: not found), which is checked. Path, a copy
 * that free() can take, and image become the module's, also on failure: then both are freed. */
enum skrt_status sk_module_make(struct skrt_device *device, char *path, const struct sk_image *image, const void *plan,
				uint64_t size, struct skrt_module **result);

/* ==== locate.c ====
 *
 * Which call of the plan was left, and in which tile. See locate.c. */

struct sk_located {
	uint32_t call; /* of the plan; SK_NO_INDEX: not known */
	struct sk_core_range tile; /* in elements of the call's extent; empty: not known, or its step is not in tiles */
};

/* Where a core's part of the launch, or its serial entry, was left; of a launch with one call, or with a thunk, the
 * call is the first one. The plan's steps have been checked. */
struct sk_located sk_locate(const struct skrt_kernel *kernel, bool serial, const struct sk_call *call);

/* ==== once.c ====
 *
 * Launches that run once for an instance (SK_LAUNCH_ONCE): which of them have run. Their results stay in the instance's
 * workspace, of the network's launches in the shared one, of the tasks' entries in the unshared one. All but
 * sk_once_open under the device's lock. */

/* Counts those whose results lie in the workspace, which has just been made. False: no memory. */
bool sk_once_open(struct skrt_instance *instance, bool unshared);

/* Whether launch number `launch` of the plan runs once, and has. */
static inline bool sk_once_is_done(const struct skrt_instance *instance, uint32_t launch)
{
	return instance->done && instance->done[launch];
}

/* Where a search for what still has to run in front of a launch begins: launches from here on to `launch` with
 * sk_once_is_due, in this order. */
uint32_t sk_once_first(const struct skrt_instance *instance, uint32_t launch);

/* Whether launch number `launch` runs once, and still has to. */
bool sk_once_is_due(const struct skrt_instance *instance, uint32_t launch);

/* The launch has ended well. */
void sk_once_end(struct skrt_instance *instance, uint32_t launch);

/* The workspaces have been overwritten. */
void sk_once_forget(struct skrt_instance *instance);

/* ==== queue.c ====
 *
 * What is queued on a device, and what starts when; all but sk_queue_lose under the device's lock. See queue.c. */

/* Room for `count` more. False: no memory. */
bool sk_queue_reserve(struct skrt_device *device, uint64_t count);

/* A command to fill in, which has to be appended next: its kind, its stream, and what is of the kind. There must be
 * room. */
struct sk_command *sk_queue_take(struct skrt_device *device);

/* Queues the command on its stream. */
void sk_queue_append(struct skrt_device *device, struct sk_command *command);

/* Starts all that can start. */
void sk_queue_dispatch(struct skrt_device *device);

/* The command has ended: its stream's next one may start, and all that can then, starts. */
void sk_queue_end(struct skrt_device *device, struct sk_command *command);

/* The same of a launch that was in flight. If the status is an error, so are its stream and its run through the
 * network; lost: the device is, too. */
void sk_queue_end_launch(struct skrt_device *device, struct sk_command *command, enum skrt_status status,
			 const char *error, bool lost);

/* Nothing runs on the device any more. */
void sk_queue_lose(struct skrt_device *device, const char *why);

/* If the device is lost, an error that says so. */
enum skrt_status sk_queue_check_lost(const struct skrt_device *device);

/* ==== readiness.c ====
 *
 * What an instance must have, and must not do, before it is launched. */

/* Maps one of the instance's workspaces, which is not there yet. */
enum skrt_status sk_instance_make_workspace(struct skrt_instance *instance, bool unshared);

/* Checks that nothing of it is queued or runs. Under the device's lock. */
enum skrt_status sk_instance_check_idle(const struct skrt_instance *instance);

/* Checks that the kernel can be launched: all bound, nothing overlaps, its workspace is there. Under the device's lock.
 */
enum skrt_status sk_instance_ready(struct skrt_instance *instance, const struct skrt_kernel *kernel);

/* ==== thread.c ====
 *
 * A device's threads, and memory that is taken as far as it is used. */

/* Zero-filled pages that take memory as far as they are used. NULL: there is no room. */
void *sk_device_reserve(size_t size);

/* Starts a thread of the device. It blocks the signals that come from outside, so that the program's own threads get
 * them, and the number-th of the device's processors is its own, if there are so many. */
enum skrt_status sk_device_start_thread(struct skrt_device *device, pthread_t *thread, void *(*run)(void *context),
					void *context, uint32_t number);

/* ==== told.c ====
 *
 * What workers tell each other about their cores of a lane: see told.c. */

/* The cores [first, end) of a lane that the worker of that rank plays in a flight, and what it knows of the lane. */
struct sk_own_cores {
	struct sk_flight *flight;
	uint32_t lane, rank;
	uint32_t first, end;
	uint32_t arrived; /* of the cores, so many wait for the lane to reach: */
	uint64_t target;
	uint64_t told; /* that all of the cores have reached; kept here, since to read what others read may take long */
	uint64_t known; /* all cores of the lane have reached it: what the worker's cores have as the lane's word */
};

/* Whether workers tell each other about the lane, so that cores wait for what they tell and not for one another. */
static inline bool sk_lane_is_told(const struct sk_flight *flight, uint32_t lane)
{
	return flight->kernel->cores[lane] > flight->workers;
}

/* One of the cores, which is of the lane itself, begins to wait for the lane to reach the target. If it is the last
 * one, the others are told. */
void sk_told_arrive(struct sk_own_cores *own, uint64_t target);

/* Tells the others how far all of the cores are. */
void sk_told_tell(struct sk_own_cores *own);

/* Asks the others whether the lane has reached the target, and notes that it is known. */
bool sk_told_ask(struct sk_own_cores *own, uint64_t target);

/* ==== turns.c ====
 *
 * What a command waits for beside those in front of it in its stream: launches of its instance, launches that share
 * something with it, the record of an event. All under the device's lock. */

/* A launch has been queued; it has ended. */
void sk_turn_enter_instance(struct sk_command *command);
void sk_turn_leave_instance(struct sk_command *command);

/* Whether all that the launch follows in its instance has ended. Where a launch that the plan says is not there, as in
 * a run that leaves it out, nothing says which of those before it that one follows: so all must have ended. */
bool sk_turn_has_come(const struct sk_command *command);

/* Whether no flight has anything in common with the launch that only one of them may have. */
bool sk_turn_shares_nothing(const struct skrt_device *device, const struct sk_command *command);

/* A record, or a wait, has been queued; a wait for which nothing is pending has no event any more. */
void sk_turn_enter_event(struct sk_command *command);

/* The record has been reached; and with it whatever waited for no later one that is pending. */
void sk_turn_reach(struct sk_command *record);

/* ==== worker.c ====
 *
 * Workers: the threads that play cores, one each, or several in turn on fibres. See worker.c. */

/* What a worker has of a flight that it plays. */
struct sk_part {
	struct sk_part *next;
	struct sk_flight *flight;
	uint32_t rank, last; /* as in the post */
	struct sk_own_cores own[SK_MAX_LANES];
	uint32_t unfinished; /* cores that have not left */
	bool given_up; /* the flight was aborted; cores that have not begun never will */
};

/* What a worker is told of a flight: all that is new in it, in the one line that the worker looks at while it waits. */
struct sk_post {
	alignas(SK_LINE) _Atomic uint32_t number; /* from 1; written last; a futex */
	uint32_t rank; /* of the worker in the flight: which of its cores it plays */
	struct sk_flight *flight; /* NULL: the thread ends */
	uint64_t bases[SK_MAX_LANES];
	uint32_t last; /* the flight's */
};

/* A worker has at most one part of each flight, so none is posted where one has not been taken. */
struct sk_mailbox {
	struct sk_post posts[SK_MOST_FLIGHTS]; /* in turn */
	alignas(SK_LINE) uint32_t posted; /* so many so far; under the device's lock, as is: */
	uint32_t load; /* parts that the worker has of flights */
};

/* A thread that plays cores. The first of a device is whoever drives. */
struct sk_worker {
	struct sk_mailbox mailbox;
	/* Read by who posts, so in a line of its own that the worker writes only around sleeping: */
	alignas(SK_LINE) struct skrt_device *device;
	uint32_t number;
	pthread_t thread;
	bool started;
	_Atomic uint32_t sleeping;
	/* The worker's own, or of who makes itself the first one: */
	alignas(SK_LINE) uint32_t taken; /* posts */
	/* While it plays: */
	struct sk_host *host;
	const _Atomic uint64_t *wanted; /* when it is 0, the first worker takes no more parts than it must; NULL:
					   takes them all */
	struct sk_part by_place[SK_MOST_FLIGHTS];
	struct sk_part *parts;
	struct sk_flight *lingering; /* that it has nothing more to do in; NULL: none. See worker.c */
	struct sk_device_core **cores; /* in the order of their turns; room for all that a device can have */
	uint32_t core_count;
	uint64_t random; /* state; only simulated devices draw */
};

/* Plays the worker's parts of flights, those that are posted meanwhile among them, until all cores have left. Returns
 * a flight that the caller has to complete, since the worker was the last one to leave it; NULL: none. */
struct sk_flight *sk_worker_play(struct sk_worker *worker);

/* What a waiting core does: the slow path of a dispatcher's await. */
int sk_worker_await(struct sk_core *core, const volatile uint64_t *word, uint64_t target, uint64_t count);

/* The thread of a worker: plays what is posted. */
void *sk_worker_run(void *worker);
/* Waits until the count is 0, but no longer than it makes sense to wait without sleeping. */
void sk_worker_spin(const _Atomic uint64_t *pending);
void sk_worker_stop(struct sk_worker *worker);

/* Posts the part of that rank of the flight. Under the device's lock. */
void sk_worker_post(struct sk_worker *worker, struct sk_flight *flight, uint32_t rank);

/* The post in front of which the worker has taken all that there are. */
static inline const struct sk_post *sk_worker_next_post(const struct sk_worker *worker)
{
	return &worker->mailbox.posts[(worker->taken + 1) % SK_MOST_FLIGHTS];
}

/* Whether something is posted that it has not taken. */
static inline bool sk_worker_has_posts(const struct sk_worker *worker)
{
	return atomic_load_explicit(&sk_worker_next_post(worker)->number, memory_order_acquire) == worker->taken + 1;
}

#endif
