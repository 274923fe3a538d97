/* The transport over MPI, one source for each implementation: libskrt-mpich.so and libskrt-openmpi.so. Each exchange is
 * a set of messages between pairs of ranks, without collective calls, so that a missing rank can be named and nothing
 * has to be set up for a group. Messages of an exchange have a tag made of its number and hash: those of another one
 * never match by accident. A second communicator has notices of failures: the text of a rank that ends the run. */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "loader/skrt-transport.h"

#ifndef TRANSPORT_NAME
#error "TRANSPORT_NAME is the name of the MPI"
#endif

enum {
	TEXT = 512,
	LARGEST = 1 << 30, /* bytes of a message: MPI counts them in an int */
	NOTICE_TESTS = 64, /* tests of an exchange for one look for a notice */
	LINGER = 300, /* ms, in which others see the notice and end by themselves */
};

/* A message of the exchange that runs. */
struct message {
	int rank; /* of the other side */
	int bytes; /* to receive; -1: it is sent */
};

static struct {
	MPI_Comm exchanges, notices;
	bool initialised; /* by this file */
	bool closed;
	int rank, ranks, most_tag;
	uint64_t count; /* of exchanges started */
	uint32_t tests; /* of the exchange that runs */
	/* Of the exchange; room for `room` of each. */
	MPI_Request *requests;
	MPI_Status *statuses;
	struct message *messages;
	int *ended;
	int message_count, room, open; /* those that have not ended */
	MPI_Request notice;
	char notice_text[TEXT];
	char failure[2 * TEXT]; /* "": none */
} mpi;

/* ---- errors ---- */

/* Note the failure of a call, if there is none yet. */
static void note(const char *call, int error)
{
	char text[MPI_MAX_ERROR_STRING] = "";
	int length = 0;

	if (*mpi.failure)
		return;
	MPI_Error_string(error, text, &length);
	snprintf(mpi.failure, sizeof(mpi.failure), "%s of " TRANSPORT_NAME " failed: %s", call, text);
}

static bool good(const char *call, int error)
{
	if (error != MPI_SUCCESS)
		note(call, error);
	return error == MPI_SUCCESS;
}

/* ---- the connection ---- */

static bool initialise(void)
{
	int initialised = 0, given = MPI_THREAD_SINGLE;

	MPI_Initialized(&initialised);
	if (!initialised) {
		mpi.initialised = true;
		if (!good("MPI_Init_thread", MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &given)))
			return false;
	} else if (!good("MPI_Query_thread", MPI_Query_thread(&given))) {
		return false;
	}
	if (given >= MPI_THREAD_SERIALIZED)
		return true;
	snprintf(mpi.failure, sizeof(mpi.failure),
		 TRANSPORT_NAME " was initialised for one thread; libskrt calls it from several, one at a time "
				"(MPI_THREAD_SERIALIZED)");
	return false;
}

static bool make_communicator(MPI_Comm *communicator)
{
	return good("MPI_Comm_dup", MPI_Comm_dup(MPI_COMM_WORLD, communicator)) &&
	       good("MPI_Comm_set_errhandler", MPI_Comm_set_errhandler(*communicator, MPI_ERRORS_RETURN));
}

static bool read_most_tag(void)
{
	void *value = NULL;
	int found = 0;

	if (!good("MPI_Comm_get_attr", MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &found)))
		return false;
	mpi.most_tag = found ? *(int *)value : 32767; /* the least that MPI allows */
	return true;
}

static bool await_notice(void)
{
	return good("MPI_Irecv",
		    MPI_Irecv(mpi.notice_text, TEXT - 1, MPI_CHAR, MPI_ANY_SOURCE, 0, mpi.notices, &mpi.notice));
}

/* Release everything, before MPI is finalised. */
static void release(void)
{
	if (mpi.closed)
		return;
	mpi.closed = true;
	if (mpi.notice != MPI_REQUEST_NULL && good("MPI_Cancel", MPI_Cancel(&mpi.notice)))
		good("MPI_Wait", MPI_Wait(&mpi.notice, MPI_STATUS_IGNORE));
	good("MPI_Comm_free", MPI_Comm_free(&mpi.exchanges));
	good("MPI_Comm_free", MPI_Comm_free(&mpi.notices));
	free(mpi.requests);
	free(mpi.statuses);
	free(mpi.messages);
	free(mpi.ended);
}

/* MPI_Finalize, which the program may call, begins with deleting the attributes of MPI_COMM_SELF. */
static int on_finalize(MPI_Comm communicator, int key, void *value, void *state)
{
	(void)communicator;
	(void)key;
	(void)value;
	(void)state;
	release();
	return MPI_SUCCESS;
}

static bool watch_finalize(void)
{
	int key;

	return good("MPI_Comm_create_keyval", MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_finalize, &key, NULL)) &&
	       good("MPI_Comm_set_attr", MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL));
}

static void *open_mpi(uint32_t *rank, uint32_t *ranks, char *error, size_t error_size)
{
	mpi.notice = MPI_REQUEST_NULL;
	if (initialise() && make_communicator(&mpi.exchanges) && make_communicator(&mpi.notices) && read_most_tag() &&
	    good("MPI_Comm_rank", MPI_Comm_rank(mpi.exchanges, &mpi.rank)) &&
	    good("MPI_Comm_size", MPI_Comm_size(mpi.exchanges, &mpi.ranks)) && watch_finalize() && await_notice()) {
		*rank = (uint32_t)mpi.rank;
		*ranks = (uint32_t)mpi.ranks;
		return &mpi;
	}
	snprintf(error, error_size, "%s", mpi.failure);
	return NULL;
}

static int is_open(void *context)
{
	(void)context;
	return !mpi.closed;
}

static const char *close_mpi(void *context)
{
	(void)context;
	release();
	if (mpi.initialised)
		good("MPI_Finalize", MPI_Finalize());
	return *mpi.failure ? mpi.failure : NULL;
}

/* ---- messages ---- */

/* Return a tag that differs for different exchanges, as far as there are tags. */
static int make_tag(uint64_t hash)
{
	uint64_t number = hash ^ mpi.count * UINT64_C(0x9e3779b97f4a7c15);

	number = (number ^ number >> 32) * UINT64_C(0xd6e8feb86659fd93);
	number ^= number >> 32;
	return (int)(number % ((uint64_t)mpi.most_tag + 1));
}

static bool make_room(void)
{
	int room = mpi.room ? 2 * mpi.room : 16;
	MPI_Request *requests;
	MPI_Status *statuses;
	struct message *messages;
	int *ended;

	if (mpi.message_count < mpi.room)
		return true;
	requests = realloc(mpi.requests, (size_t)room * sizeof(*requests));
	mpi.requests = requests ? requests : mpi.requests;
	statuses = realloc(mpi.statuses, (size_t)room * sizeof(*statuses));
	mpi.statuses = statuses ? statuses : mpi.statuses;
	messages = realloc(mpi.messages, (size_t)room * sizeof(*messages));
	mpi.messages = messages ? messages : mpi.messages;
	ended = realloc(mpi.ended, (size_t)room * sizeof(*ended));
	mpi.ended = ended ? ended : mpi.ended;
	if (requests && statuses && messages && ended)
		mpi.room = room;
	else
		snprintf(mpi.failure, sizeof(mpi.failure), "no memory for %d messages", room);
	return mpi.message_count < mpi.room;
}

/* Start the messages that have these bytes. Either `send` or `receive` is NULL. */
static void add(uint32_t rank, const char *send, char *receive, uint64_t bytes, int tag)
{
	while (bytes && !*mpi.failure && make_room()) {
		int part = bytes < LARGEST ? (int)bytes : LARGEST, at = mpi.message_count++;

		mpi.requests[at] = MPI_REQUEST_NULL;
		mpi.messages[at] = (struct message){.rank = (int)rank, .bytes = receive ? part : -1};
		if (receive) {
			good("MPI_Irecv",
			     MPI_Irecv(receive, part, MPI_BYTE, (int)rank, tag, mpi.exchanges, &mpi.requests[at]));
			receive += part;
		} else {
			good("MPI_Isend",
			     MPI_Isend(send, part, MPI_BYTE, (int)rank, tag, mpi.exchanges, &mpi.requests[at]));
			send += part;
		}
		bytes -= (uint64_t)part;
	}
}

/* ---- exchanges ---- */

/* Exchanges in which each member sends to each: in parts, or everything. The own part is copied. */
static void start_all(const struct skrt_transfer *transfer, int tag)
{
	uint64_t bytes = transfer->bytes, stride = transfer->kind == SKRT_EXCHANGE_ALL_TO_ALL ? bytes : 0;
	const char *send = transfer->send;
	char *receive = transfer->receive;

	for (uint32_t i = 0; i < transfer->size; i++)
		if (i != transfer->place)
			add(transfer->members[i], NULL, receive + i * bytes, bytes, tag);
	for (uint32_t i = 1; i < transfer->size; i++) {
		uint32_t to = (transfer->place + i) % transfer->size; /* not all to member 0 first */

		add(transfer->members[to], send + to * stride, NULL, bytes, tag);
	}
	memcpy(receive + transfer->place * bytes, send + transfer->place * stride, bytes);
}

/* Exchanges with a root. */
static void start_rooted(const struct skrt_transfer *transfer, int tag)
{
	bool all = transfer->kind == SKRT_EXCHANGE_BROADCAST;

	for (uint32_t i = 0; i < transfer->size && transfer->place == transfer->root; i++)
		if (i != transfer->root && (all || i == transfer->peer))
			add(transfer->members[i], transfer->send, NULL, transfer->bytes, tag);
	if (!all && transfer->place != transfer->peer)
		memset(transfer->receive, 0, transfer->bytes);
	else if (transfer->place == transfer->root)
		memcpy(transfer->receive, transfer->send, transfer->bytes);
	else
		add(transfer->members[transfer->root], NULL, transfer->receive, transfer->bytes, tag);
}

static void start(void *context, const struct skrt_transfer *transfer)
{
	int tag;

	(void)context;
	mpi.count++;
	mpi.tests = 0;
	mpi.message_count = 0;
	mpi.open = 0;
	if (mpi.closed) {
		snprintf(mpi.failure, sizeof(mpi.failure), "the program has called MPI_Finalize");
		return;
	}
	tag = make_tag(transfer->hash);
	if (transfer->kind == SKRT_EXCHANGE_ALL_GATHER || transfer->kind == SKRT_EXCHANGE_ALL_TO_ALL)
		start_all(transfer, tag);
	else
		start_rooted(transfer, tag);
	mpi.open = mpi.message_count;
}

/* Fail with the text of another rank, if one has ended the run. */
static void look_for_notice(void)
{
	MPI_Status status;
	int came = 0;

	if (mpi.notice == MPI_REQUEST_NULL || !good("MPI_Test", MPI_Test(&mpi.notice, &came, &status)) || !came)
		return;
	mpi.notice_text[TEXT - 1] = '\0';
	snprintf(mpi.failure, sizeof(mpi.failure), "rank %d has failed: %s", status.MPI_SOURCE, mpi.notice_text);
}

/* Check the messages that have ended: `count` of them. */
static void check_ended(int count, bool failed)
{
	for (int i = 0; i < count; i++) {
		const struct message *message = &mpi.messages[mpi.ended[i]];
		int bytes = 0;

		if (failed && mpi.statuses[i].MPI_ERROR != MPI_SUCCESS)
			note("a message", mpi.statuses[i].MPI_ERROR);
		if (message->bytes < 0 || *mpi.failure)
			continue;
		MPI_Get_count(&mpi.statuses[i], MPI_BYTE, &bytes);
		if (bytes != message->bytes)
			snprintf(mpi.failure, sizeof(mpi.failure), "rank %d sent %d bytes instead of %d", message->rank,
				 bytes, message->bytes);
	}
}

static enum skrt_transfer_state test(void *context)
{
	int count = 0, error;

	(void)context;
	if (*mpi.failure)
		return SKRT_TRANSFER_FAILED;
	if (!mpi.open)
		return SKRT_TRANSFER_ENDED;
	error = MPI_Testsome(mpi.message_count, mpi.requests, &count, mpi.ended, mpi.statuses);
	if (error != MPI_SUCCESS && error != MPI_ERR_IN_STATUS)
		note("MPI_Testsome", error);
	if (count == MPI_UNDEFINED)
		count = 0;
	check_ended(count, error == MPI_ERR_IN_STATUS);
	mpi.open -= count;
	if (mpi.open && ++mpi.tests % NOTICE_TESTS == 0)
		look_for_notice();
	return *mpi.failure ? SKRT_TRANSFER_FAILED : mpi.open ? SKRT_TRANSFER_RUNS : SKRT_TRANSFER_ENDED;
}

/* Return whether a message of that direction to or from the rank has not ended. */
static bool is_waiting(int rank, bool received)
{
	for (int i = 0; i < mpi.message_count; i++)
		if (mpi.messages[i].rank == rank && received == (mpi.messages[i].bytes >= 0) &&
		    mpi.requests[i] != MPI_REQUEST_NULL)
			return true;
	return false;
}

/* Name the ranks with messages of that direction that have not ended; false: there are none. */
static bool name_open(bool received, char *text, size_t size)
{
	size_t used = 0;

	for (int rank = 0; rank < mpi.ranks && used < size; rank++)
		if (is_waiting(rank, received))
			used += (size_t)snprintf(text + used, size - used, "%s %d", used ? "," : "rank", rank);
	if (used && used < size)
		snprintf(text + used, size - used, received ? " did not come" : " did not receive");
	return used > 0;
}

static void describe(void *context, char *text, size_t size)
{
	(void)context;
	if (*mpi.failure)
		snprintf(text, size, "%s", mpi.failure);
	else if (!name_open(true, text, size) && !name_open(false, text, size))
		snprintf(text, size, "it did not end");
}

/* ---- the end of a run that has failed ---- */

static int64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * INT64_C(1000) + time.tv_nsec / 1000000;
}

/* Tell all other ranks, and give them time to say why they end. */
static void tell(const char *text)
{
	MPI_Request *requests = calloc((size_t)mpi.ranks, sizeof(*requests));
	int64_t end = now() + LINGER;
	int length = (int)strnlen(text, TEXT - 1), done;

	for (int rank = 0; requests && rank < mpi.ranks; rank++) {
		requests[rank] = MPI_REQUEST_NULL;
		if (rank != mpi.rank)
			MPI_Isend(text, length, MPI_CHAR, rank, 0, mpi.notices, &requests[rank]);
	}
	while (now() < end) {
		for (int rank = 0; requests && rank < mpi.ranks; rank++)
			MPI_Test(&requests[rank], &done, MPI_STATUS_IGNORE);
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
}

static void abort_mpi(void *context, const char *text)
{
	(void)context;
	fflush(NULL);
	if (mpi.closed)
		_Exit(EXIT_FAILURE);
	tell(text);
	MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
	_Exit(EXIT_FAILURE);
}

__attribute__((visibility("default"))) const struct skrt_transport_table skrt_transport_table = {
	.version = SKRT_TRANSPORT_VERSION,
	.name = TRANSPORT_NAME,
	.open = open_mpi,
	.start = start,
	.test = test,
	.describe = describe,
	.abort = abort_mpi,
	.is_open = is_open,
	.close = close_mpi,
};
