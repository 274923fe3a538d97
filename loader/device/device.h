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
 * A lane of a device: its cores, and their preparation for a flight. */

struct sk_device_lane {
	uint32_t usual; /* cores of a launch that needs no more */
	uint32_t count; /* cores that exist; 0: no package has needed the lane yet */
	struct sk_device_core *cores; /* room for SK_MAX_CORES */
};

/* The cores of a lane that flights have taken. */
struct sk_taken_cores {
	uint32_t count; /* number of taken cores among the usual ones */
	bool cores[SK_MAX_CORES]; /* by number */
};

/* Make a lane's cores up to `cores`. Existing cores stay in place. */
enum skrt_status sk_lane_open(struct skrt_device *device, uint32_t number, uint32_t cores);
void sk_lane_close(struct sk_device_lane *lane);

/* Prepare the core for its part of the flight, which has these bases, as number `index` of its lane. */
void sk_lane_prepare(struct sk_device_core *core, struct sk_flight *flight, const uint64_t bases[SK_MAX_LANES],
		     uint32_t index);

/* ==== stream.c ====
 *
 * Streams and events, and the commands that wait in streams. */

enum sk_command_kind { SK_COMMAND_LAUNCH, SK_COMMAND_COPY, SK_COMMAND_CALL, SK_COMMAND_RECORD, SK_COMMAND_WAIT };

/* A queued command, which waits in its stream. Commands and streams have cache lines of their own, since they change
 * with each launch and may lie beside memory that workers read. */
struct sk_command {
	alignas(SK_LINE) enum sk_command_kind kind;
	struct skrt_stream *stream;
	struct sk_command *next; /* of the stream, or of the unused commands */
	uint64_t number; /* in the order of the calls */
	union {
		struct {
			struct skrt_instance *instance;
			const struct skrt_kernel *kernel;
			struct sk_command *before,
				*after; /* next unfinished launch of the instance, in the order of the calls */
			uint64_t run; /* through the network: see struct skrt_instance */
			struct sk_command *exchange; /* next unfinished launch with exchanges */
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
			struct skrt_event *event; /* WAIT: NULL once it has been reached */
			struct sk_command *after; /* next one of the event's records, or waits */
			uint64_t record; /* number of the event's record; of the last one to wait for */
		} event;
	};
};

/* A list of commands. */
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
	struct skrt_stream *next; /* next stream with a first command that could start as far as its stream is
				   * concerned */
	pthread_cond_t ended; /* pending has become 0 */
	enum skrt_status status; /* of the first failure that has not been reported yet */
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
	struct sk_watched *first; /* list of the running activities */
	bool driving; /* a thread is the first worker: */
	pthread_t driver;
	bool idle, stop;
};

enum skrt_status sk_watch_open(struct skrt_device *device);
void sk_watch_close(struct skrt_device *device);

/* Begin and end the time-out of a flight. */
void sk_watch_begin(struct skrt_device *device, struct sk_watched *watched);
void sk_watch_end(struct skrt_device *device, struct sk_watched *watched);

/* Make a call from beginning to end, on the calling thread. */
void sk_watch_call(struct skrt_device *device, struct sk_call *call, const struct sk_package *package,
		   int (*function)(void *context), void *context);

/* Note that the calling thread becomes the first worker, or stops being it. */
void sk_watch_drive(struct skrt_device *device, bool driving);

/* ==== device.c ====
 *
 * A device: lanes of cores, run by threads, the workers. Commands wait in their stream. When it is a launch's turn, and
 * there are cores for it, it becomes a flight, and the workers run their parts of it. The thread that makes a start
 * possible also starts the launch: one that queues, or the worker that left a flight last. The first worker is the
 * thread that drives: one that waits for a stream, or else the device's own thread. Two other rooms observe:
 * loader/checks checks launches step by step, loader/trace records the times. */

struct sk_checks;
struct sk_transport;
struct sk_worker;

struct skrt_device {
	struct sk_process process; /* that opened it */
	char name[SK_PROFILE_MAX_NAME + 1];
	bool simulated; /* all cores on one thread, in an order that depends only on the seed */
	uint64_t seed;
	size_t stack_size; /* of each core */
	struct sk_checks *checks; /* NULL: none. A device with checks has a single worker */
	const struct sk_transport *transport; /* to other ranks, from sk_device_join; else NULL */
	bool own_packages; /* of each rank */
	uint32_t lane_count; /* lanes that exist; packages with more lanes add more, up to the limit */
	uint32_t lane_limit;
	struct sk_device_lane lanes[SK_MAX_LANES];
	uint32_t processor_count;
	size_t *processors; /* numbers of those that this process may use */
	struct sk_worker *workers; /* room for one each processor; simulated: for one */
	uint32_t worker_limit;
	_Atomic uint32_t worker_count; /* that exist; the first has no thread */
	const struct sk_runtime *runtime; /* functions that package code on the cores calls */
	void (*complete)(struct sk_flight *flight); /* called without the lock when the last worker has left the
						     * flight */
	/* Read by all waiting threads: */
	alignas(SK_LINE) _Atomic int64_t
		next_yield; /* monotonic time in ns; before it, waiting cores sleep rather than give way */
	_Atomic uint64_t in_flight; /* flights, and dispatches in progress, which may start more; changes under the
				     * lock */
	alignas(SK_LINE) struct sk_watch watch;

	alignas(SK_LINE) pthread_mutex_t lock; /* for all fields below, and for streams, events, instances' counts */
	pthread_cond_t work; /* wakes the device's thread for work that no other thread does */
	pthread_cond_t idle; /* flight_count has become 0 */
	pthread_t driver;
	bool driving, stopping;
	uint32_t holding; /* number of threads that prevent launches from starting, to add cores */
	struct skrt_stream *ready; /* streams of which nothing runs, by the number of their first command */
	struct sk_commands errands; /* copies and calls that can be made now */
	struct sk_commands exchanges; /* launches with exchanges that have not ended, in the order of the calls */
	struct sk_command *unused;
	uint64_t unused_count;
	_Atomic uint64_t queued; /* commands so far */
	uint64_t pending; /* commands that have not ended */
	uint32_t flight_count;
	struct sk_taken_cores taken[SK_MAX_LANES];
	struct sk_flight *flights[SK_MOST_FLIGHTS]; /* by place; NULL: not made yet. The first always is */
	uint32_t modules, streams, events; /* alive */
	uint64_t allocations; /* not freed */
	uint64_t bound; /* number of times that memory was bound, or an instance made */
	struct skrt_trace *trace; /* changes only while nothing is pending; NULL: none */
	bool lost; /* a fault may have left a lock of the C library taken: nothing is run any more */
	char loss[SK_ERROR_SIZE]; /* the reason */
};

/* Lock and unlock the device for a public function, in this process and without cancellation. If lock fails, the
 * function fails with its status. */
enum skrt_status sk_device_lock(struct skrt_device *device);
void sk_device_unlock(struct skrt_device *device);

/* Make the lanes up to lane_count, each with at least so many cores, and workers for them. */
enum skrt_status sk_device_add_cores(struct skrt_device *device, uint32_t lane_count,
				     const uint32_t cores[SK_MAX_LANES]);

/* Change a number that is changed only under the device's lock but read by others; return it. */
static inline uint64_t sk_count(_Atomic uint64_t *number, int change)
{
	uint64_t changed = atomic_load_explicit(number, memory_order_relaxed) + (uint64_t)(int64_t)change;

	atomic_store_explicit(number, changed, memory_order_release);
	return changed;
}

/* ==== construct.c ====
 *
 * A package's constructors and destructors. See construct.c. */

/* Run the package's constructors, unless they have run: before any other code of the package. If they fail, every later
 * call fails. */
enum skrt_status sk_module_construct(struct skrt_module *module);

/* Run the destructors, if the constructors have run. */
void sk_module_destruct(struct skrt_module *module);

/* ==== dimensions.c ====
 *
 * The sizes of instances of dynamic packages. All functions need the device's lock, and an idle instance. */

/* Set the sizes that the shape of a tensor says. Nothing is changed if it does not fit. */
enum skrt_status sk_instance_fit(struct skrt_instance *instance, uint32_t binding, const uint64_t *shape);

/* ==== drive.c ====
 *
 * The threads that drive a device, and run its errands; all except sk_drive_work and sk_drive_complete under the
 * device's lock. See drive.c. */

/* Run the device's own thread, which does the work that no other thread does. */
void *sk_drive_work(void *device);

/* Wake it for work that no other thread does. */
void sk_drive_hand_over(struct skrt_device *device);

/* Drive, or wait for the driving thread, until *pending is 0; `ended` signals that. A thread that waits for a stream
 * drives only while there is a flight of that stream to run, so that it is not held up in another stream's flight. */
void sk_drive_until(struct skrt_device *device, const struct skrt_stream *stream, const _Atomic uint64_t *pending,
		    pthread_cond_t *ended);

/* Complete the flight, which the last worker has left. */
void sk_drive_complete(struct sk_flight *flight);

/* ==== failure.c ====
 *
 * Messages for a launch, or another call of package code, that failed. */

/* Return whether any core has not done all of its part of the flight, which all have left. A core that was told to
 * leave after all had finished has not failed. */
bool sk_failure_is_one(const struct sk_flight *flight);

/* Describe the failure of the flight, which all cores have left. *lost: a fault of a package that may have held a lock
 * loses the device. */
void sk_failure_describe(const struct sk_flight *flight, char *error, size_t error_size, bool *lost);

/* Describe the failure of a call of a constructor or destructor. */
void sk_failure_describe_function(const struct skrt_module *module, const char *function, const struct sk_call *call,
				  char *error, size_t error_size, bool *lost);

/* Do the same for a call of the launch's serial entry. */
void sk_failure_describe_serial(const struct skrt_instance *instance, const struct skrt_kernel *kernel,
				const struct sk_call *call, char *error, size_t error_size, bool *lost);

/* ==== flights.c ====
 *
 * Flights, from the start to the end; all but sk_flight_result under the device's lock. See flights.c. */

/* Make the place if it does not exist. False: no memory. */
bool sk_flight_open(struct skrt_device *device, uint32_t place);
void sk_flight_close(struct skrt_device *device, uint32_t place);

/* Return a place for the kernel, if there are also cores for it; else NULL. Reserved lanes count as taken; the lanes
 * that the kernel needs and does not get become reserved. */
struct sk_flight *sk_flight_find(struct skrt_device *device, const struct skrt_kernel *kernel,
				 bool reserved[SK_MAX_LANES]);

/* Start the launch in the place, which has enough cores: post it to the workers. If the status is not SKRT_OK, error is
 * filled, and nothing was started. */
enum skrt_status sk_flight_start(struct sk_flight *flight, struct sk_command *command, char *error, size_t error_size);

/* Return the result of the flight, which all cores have left. If it is not SKRT_OK, error is filled, and *lost set if
 * the device must not be used any more. Without the lock. */
enum skrt_status sk_flight_result(struct sk_flight *flight, char *error, size_t error_size, bool *lost);

/* Free its place and cores. */
void sk_flight_end(struct sk_flight *flight, bool good);

/* ==== ranks.c ====
 *
 * Packages that several processes run together. */

/* Let the device exchange data with other ranks, by a transport that outlives it. It has no module yet. own_packages:
 * each rank is meant to have a package of its own, with the same exchanges. */
void sk_device_join(struct skrt_device *device, const struct sk_transport *transport, bool own_packages);

/* Note that a launch of a package for several ranks has failed: the other ranks must not wait for this one. */
void sk_ranks_note_failure(void);

/* Before there is an instance, check that the module's exchanges are those of its plan, that this process is one of so
 * many ranks, and that these have the same exchanges. */
enum skrt_status sk_ranks_ready(struct skrt_module *module);

/* ==== guarded.c ====
 *
 * The guarded tensors of instances, on devices with checks. */

/* Give the instance guarded tensors for its sizes. */
enum skrt_status sk_instance_make_guard(struct skrt_instance *instance);

/* Return the failure to change their memory. */
enum skrt_status sk_instance_cannot_guard(const struct skrt_module *module);

/* ==== loading.c ====
 *
 * From a mapped package to a module on a device. */

/* Make a module of an image and its plan of `size` bytes at `plan` (NULL: not found), which is checked. The module owns
 * path, a copy for free(), and image, also on failure: then both are freed. */
enum skrt_status sk_module_make(struct skrt_device *device, char *path, const struct sk_image *image, const void *plan,
				uint64_t size, struct skrt_module **result);

/* ==== locate.c ====
 *
 * The call of the plan that was left, and its tile. See locate.c. */

struct sk_located {
	uint32_t call; /* of the plan; SK_NO_INDEX: not known */
	struct sk_core_range tile; /* in elements of the call's extent; empty: not known, or its step is not in tiles */
};

/* Find the place where a core's part of the launch, or its serial entry, was left. In a launch with one call, or with a
 * thunk, it is the first call. The plan's steps have been checked. */
struct sk_located sk_locate(const struct skrt_kernel *kernel, bool serial, const struct sk_call *call);

/* ==== once.c ====
 *
 * Launches that run once for an instance (SK_LAUNCH_ONCE), and a record of those that have run. Their results stay in
 * the instance's workspace: those of the network's launches in the shared one, those of the tasks' entries in the
 * unshared one. All functions except sk_once_open need the device's lock. */

/* Count the launches with results in the workspace, which has just been made. False: no memory. */
bool sk_once_open(struct skrt_instance *instance, bool unshared);

/* Return whether launch number `launch` of the plan runs once, and has run. */
static inline bool sk_once_is_done(const struct skrt_instance *instance, uint32_t launch)
{
	return instance->done && instance->done[launch];
}

/* Return the first launch of a search for launches that must run before a launch: call sk_once_is_due for the launches
 * from here to `launch`, in order. */
uint32_t sk_once_first(const struct skrt_instance *instance, uint32_t launch);

/* Return whether launch number `launch` runs once, and has not yet. */
bool sk_once_is_due(const struct skrt_instance *instance, uint32_t launch);

/* Note that the launch has ended well. */
void sk_once_end(struct skrt_instance *instance, uint32_t launch);

/* Note that the workspaces have been overwritten. */
void sk_once_forget(struct skrt_instance *instance);

/* ==== queue.c ====
 *
 * The queues of a device, and the choice of commands to start; all except sk_queue_lose under the device's lock. See
 * queue.c. */

/* Make room for `count` more commands. False: no memory. */
bool sk_queue_reserve(struct skrt_device *device, uint64_t count);

/* Return a command to be filled in, with its kind, its stream, and the fields of the kind, and then to be appended.
 * There must be room. */
struct sk_command *sk_queue_take(struct skrt_device *device);

/* Queue the command on its stream. */
void sk_queue_append(struct skrt_device *device, struct sk_command *command);

/* Start every command that can start. */
void sk_queue_dispatch(struct skrt_device *device);

/* End the command, and start all commands that can start then. */
void sk_queue_end(struct skrt_device *device, struct sk_command *command);

/* Do the same for a launch that was in flight. If the status is an error, its stream and its run through the network
 * get the error; lost: the device is lost. */
void sk_queue_end_launch(struct skrt_device *device, struct sk_command *command, enum skrt_status status,
			 const char *error, bool lost);

/* Lose the device: nothing runs on it any more. */
void sk_queue_lose(struct skrt_device *device, const char *reason);

/* Return an error with the reason if the device is lost. */
enum skrt_status sk_queue_check_lost(const struct skrt_device *device);

/* ==== readiness.c ====
 *
 * Conditions for launching an instance. */

/* Map one of the instance's workspaces, which does not exist yet. */
enum skrt_status sk_instance_make_workspace(struct skrt_instance *instance, bool unshared);

/* Check that none of its launches is queued or runs. Under the device's lock. */
enum skrt_status sk_instance_check_idle(const struct skrt_instance *instance);

/* Check that the kernel can be launched: all tensors bound, no overlap, its workspace mapped. Under the device's
 * lock. */
enum skrt_status sk_instance_ready(struct skrt_instance *instance, const struct skrt_kernel *kernel);

/* ==== thread.c ====
 *
 * A device's threads, and memory that is allocated only as it is used. */

/* Reserve zero-filled pages, which take memory only as they are used. NULL: not enough address space. */
void *sk_device_reserve(size_t size);

/* Start a thread of the device. It blocks the signals that come from outside, so that the program's own threads get
 * them. It is bound to the number-th of the device's processors, if there are so many. */
enum skrt_status sk_device_start_thread(struct skrt_device *device, pthread_t *thread, void *(*run)(void *context),
					void *context, uint32_t number);

/* ==== told.c ====
 *
 * Totals by which workers inform each other about their cores of a lane: see told.c. */

/* The cores [first, end) of a lane that the worker of that rank runs in a flight, and its knowledge of the lane. */
struct sk_own_cores {
	struct sk_flight *flight;
	uint32_t lane, rank;
	uint32_t first, end;
	uint32_t arrived; /* number of these cores that wait for the lane to reach: */
	uint64_t target;
	uint64_t told; /* reached by all of these cores; a private copy, since reading a line that others read may be
			* slow */
	uint64_t known; /* reached by all cores of the lane: the worker's cores use this as the lane's word */
};

/* Return whether workers publish totals for the lane, for which cores wait in place of each core's word. */
static inline bool sk_lane_is_told(const struct sk_flight *flight, uint32_t lane)
{
	return flight->kernel->cores[lane] > flight->workers;
}

/* Note that one of the cores, which belongs to the lane itself, begins to wait for the lane to reach the target. After
 * the last one, publish the total. */
void sk_told_arrive(struct sk_own_cores *own, uint64_t target);

/* Publish the progress that all of the cores have reached. */
void sk_told_tell(struct sk_own_cores *own);

/* Ask the other workers whether the lane has reached the target; record it if so. */
bool sk_told_ask(struct sk_own_cores *own, uint64_t target);

/* ==== turns.c ====
 *
 * Conditions for starting a command beside the earlier ones of its stream: launches of its instance, launches that
 * share state with it, the record of an event. All under the device's lock. */

/* Note that a launch has been queued; that it has ended. */
void sk_turn_enter_instance(struct sk_command *command);
void sk_turn_leave_instance(struct sk_command *command);

/* The same for a launch with exchanges between ranks. A rank has one exchange at a time, and all ranks have the same
 * order: that of the calls, for all instances and streams of the device. */
void sk_turn_enter_exchange(struct sk_command *command);
void sk_turn_leave_exchange(struct sk_command *command);

/* Return whether no earlier launch with exchanges is pending, if this one has any. */
bool sk_turn_may_exchange(const struct skrt_device *device, const struct sk_command *command);

/* Return whether all launches that this one must follow in its instance have ended. The plan names a launch to follow.
 * If that one is missing in a run, its own predecessors are not known, so all earlier launches must have ended. */
bool sk_turn_has_come(const struct sk_command *command);

/* Return whether the launch shares no exclusive resource with any flight. */
bool sk_turn_shares_nothing(const struct skrt_device *device, const struct sk_command *command);

/* Note that a record, or a wait, has been queued; a wait without pending records loses its event. */
void sk_turn_enter_event(struct sk_command *command);

/* Note that the record has been reached, and end the waits that wait for no later pending one. */
void sk_turn_reach(struct sk_command *record);

/* ==== worker.c ====
 *
 * Workers: the threads that run cores, one each, or several in turn on fibres. See worker.c. */

/* A worker's part of a flight that it runs. */
struct sk_part {
	struct sk_part *next;
	struct sk_flight *flight;
	uint32_t rank, last; /* as in the post */
	struct sk_own_cores own[SK_MAX_LANES];
	uint32_t unfinished; /* cores that have not left */
	bool given_up; /* the flight was aborted; cores that have not begun will not begin */
};

/* The message to a worker about a flight: all new data, in the one cache line that the worker reads while it waits. */
struct sk_post {
	alignas(SK_LINE) _Atomic uint32_t number; /* from 1; written last; a futex */
	uint32_t rank; /* of the worker in the flight, which selects its cores */
	struct sk_flight *flight; /* NULL: the thread ends */
	uint64_t bases[SK_MAX_LANES];
	uint32_t last; /* the flight's */
};

/* A worker has at most one part of each flight, so a post never overwrites one that has not been taken. */
struct sk_mailbox {
	struct sk_post posts[SK_MOST_FLIGHTS]; /* in turn */
	alignas(SK_LINE) uint32_t posted; /* number so far; under the device's lock, as is: */
	uint32_t load; /* parts that the worker has of flights */
};

/* A thread that runs cores. The first worker of a device is the thread that drives. */
struct sk_worker {
	struct sk_mailbox mailbox;
	/* Read by posting threads, so on a cache line of its own that the worker writes only around sleeping: */
	alignas(SK_LINE) struct skrt_device *device;
	uint32_t number;
	pthread_t thread;
	bool started;
	_Atomic uint32_t sleeping;
	/* Private to the worker, or to the thread that makes itself the first one: */
	alignas(SK_LINE) uint32_t taken; /* posts */
	/* While it runs cores: */
	struct sk_host *host;
	const _Atomic uint64_t *wanted; /* once it is 0, the first worker takes only the parts that it must; NULL: takes
					 * them all */
	struct sk_part by_place[SK_MOST_FLIGHTS];
	struct sk_part *parts;
	struct sk_flight *lingering; /* that it has finished but not left; NULL: none. See worker.c */
	struct sk_device_core **cores; /* in the order of their turns; room for all that a device can have */
	uint32_t core_count;
	uint64_t random; /* state; only simulated devices draw */
};

/* Run the worker's parts of flights, including those that are posted meanwhile, until all cores have left. Return a
 * flight that the caller has to complete, since the worker was the last one to leave it; NULL: none. */
struct sk_flight *sk_worker_play(struct sk_worker *worker);

/* Wait on a core: the slow path of a dispatcher's await. */
int sk_worker_await(struct sk_core *core, const volatile uint64_t *word, uint64_t target, uint64_t count);

/* Run the thread of a worker: run the posted parts. */
void *sk_worker_run(void *worker);
/* Wait until the count is 0, but only as long as waiting without sleeping pays. */
void sk_worker_spin(const _Atomic uint64_t *pending);
void sk_worker_stop(struct sk_worker *worker);

/* Post the part of that rank of the flight. Under the device's lock. */
void sk_worker_post(struct sk_worker *worker, struct sk_flight *flight, uint32_t rank);

/* Return the first post that the worker has not taken. */
static inline const struct sk_post *sk_worker_next_post(const struct sk_worker *worker)
{
	return &worker->mailbox.posts[(worker->taken + 1) % SK_MOST_FLIGHTS];
}

/* Return whether there is a post that it has not taken. */
static inline bool sk_worker_has_posts(const struct sk_worker *worker)
{
	return atomic_load_explicit(&sk_worker_next_post(worker)->number, memory_order_acquire) == worker->taken + 1;
}

#endif
