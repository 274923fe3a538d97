/* The host device: lanes of cores, each core played by a thread, one launch at a time. What waits is in a queue, in the
 * order of the calls. Whoever takes the next launch from it (the device's own thread, or one that waits for a stream)
 * drives: posts the launch to the lanes, is core 0 of the first lane, and collects the others. */
#ifndef SK_LOADER_DEVICE_H
#define SK_LOADER_DEVICE_H

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "loader/imports.h"
#include "loader/instance.h"
#include "loader/module.h"
#include "loader/report.h"

enum {
	SK_MAX_CORES = 4096, /* a lane */
	SK_LINE = 128, /* bytes that one core writes and others read are kept apart by this much */
};

/* A core and the thread that plays it. */
struct sk_worker {
	alignas(SK_LINE) struct sk_core core; /* first: the runtime's functions get its address */
	struct skrt_device *device;
	uint32_t row; /* in the tables of a kernel */
	int (*entry)(struct sk_core *core);
	int status; /* of the last entry that this core ran */
	struct sk_guard guard;
	pthread_t thread;
	bool started;
	alignas(SK_LINE) _Atomic uint32_t left; /* number of the last launch that this core has left */
};

/* What a lane is told. Written by the driver while all its cores have left, then number grows. */
struct sk_mailbox {
	alignas(SK_LINE) _Atomic uint32_t number; /* of launches posted so far; a futex */
	_Atomic uint32_t sleepers;
	bool stop; /* not a launch: the threads end */
	const struct skrt_kernel *kernel;
	const struct skrt_instance *instance;
	uint64_t bases[SK_MAX_LANES];
};

struct sk_device_lane {
	struct sk_mailbox mailbox;
	struct sk_worker *workers; /* cores of them */
	uint64_t *words; /* progress, SK_PROGRESS_STRIDE bytes apart */
	uint64_t base; /* number before the next launch's first step */
};

struct sk_launch {
	struct skrt_stream *stream;
	struct skrt_instance *instance;
	const struct skrt_kernel *kernel;
};

struct skrt_stream {
	struct skrt_device *device;
	uint64_t pending; /* launches queued or running */
	uint32_t waiting; /* threads in skrt_synchronise that sleep */
	pthread_cond_t ended; /* pending has become 0 */
	enum skrt_status status; /* of the first failure that nobody has been told yet */
	char error[SK_REPORT_SIZE];
};

struct skrt_device {
	uint32_t cores; /* of each lane */
	uint32_t lane_count; /* lanes that exist; more come with packages that have more */
	uint32_t processor_count;
	int *processors; /* numbers of those that this process may use */
	_Atomic bool crowded; /* more cores than processors: waiting cores soon give way */
	_Atomic int64_t next_yield; /* monotonic time in ns; before it, waiting cores sleep rather than give way */
	_Atomic bool aborted; /* the running launch */
	struct sk_device_lane lanes[SK_MAX_LANES];

	pthread_mutex_t lock; /* all that follows; streams, instances' counts */
	pthread_cond_t work; /* for the device's thread: launches queued, and nobody drives */
	pthread_t driver;
	bool driving, stopping;
	struct sk_launch *queue; /* a ring */
	size_t queue_capacity, queue_head, queue_count;
	uint32_t modules, streams; /* alive */
};

/* Makes the lanes up to lane_count, with their threads. */
enum skrt_status sk_device_add_lanes(struct skrt_device *device, uint32_t lane_count);

/* Runs one launch, as core 0 of lane 0. error is filled if the status is not SKRT_OK. Only one thread at a time. */
enum skrt_status sk_device_run(struct skrt_device *device, const struct sk_launch *launch, char *error,
			       size_t error_size);

/* Starts a thread of the device. It blocks the signals that come from outside, so that the program's own threads get
 * them, and the number-th of the device's processors is its own, if there are so many. */
enum skrt_status sk_device_start_thread(struct skrt_device *device, pthread_t *thread, void *(*run)(void *context),
					void *context, uint32_t number);

/* ---- lane.c ---- */

/* Makes a lane's cores; all but the device's first get a thread. */
enum skrt_status sk_lane_start(struct skrt_device *device, uint32_t number);

/* Ends the threads and frees the cores. */
void sk_lane_stop(struct sk_device_lane *lane, uint32_t cores);

/* Tells the lane's threads that there is something new in the mailbox. */
void sk_lane_post(struct sk_mailbox *mailbox);

/* Runs the posted launch's entry as this core; an error ends the launch for all cores. */
void sk_lane_run_core(struct sk_worker *worker, const struct sk_mailbox *mailbox);

/* The turn-th wait for the same thing. */
void sk_lane_wait(struct skrt_device *device, uint32_t turn);

/* ---- stream.c ---- */

/* The device's own thread: drives what nobody else does. */
void *sk_stream_drive(void *device);

#endif
