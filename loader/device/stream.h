/* Streams and events, and the commands that wait in streams. */
#ifndef SK_LOADER_STREAM_H
#define SK_LOADER_STREAM_H

#include <pthread.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

#include "loader/base/status.h"
#include "loader/flight/core.h"
#include "loader/skrt.h"

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

#endif
