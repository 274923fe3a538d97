/* See transport.h. Exchange number n of a rank, counted from 1, has four states: it waits for its turn, if there is a
 * seed; it has come, and waits for the others of its group; it has copied its bytes; and it ends when all of the
 * group have copied, so that the shared memory can be used again. All ranks count alike, since each takes part in each
 * exchange. Words of a rank are written by that rank alone, and only grow. */
#include "loader/ranks/transport.h"

#include <inttypes.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "loader/skrt-transport.h"

enum { LINE = 128, TITLE = 256, PAGE = 4096 };

struct place {
	alignas(LINE) _Atomic uint64_t come; /* exchanges to which the rank has come */
	_Atomic uint64_t copied; /* those whose bytes it has received */
	uint64_t hash; /* of the exchange to which it has come */
	char title[TITLE];
};

struct sk_shared_ranks {
	uint32_t ranks;
	uint64_t seed;
	uint64_t room; /* for the bytes that one rank sends */
	size_t memory; /* bytes from the start of this struct to the room of rank 0 */
	/* The first failure; the text is complete when `failed` is 2. */
	alignas(LINE) _Atomic int failed;
	uint32_t failed_rank;
	char failure[2 * TITLE];
	struct place places[];
};

/* A rank's own state, in its own process. */
struct rank {
	struct sk_shared_ranks *simulation;
	uint32_t number;
	uint64_t count; /* of exchanges started */
	bool came, copied;
	struct skrt_transfer transfer;
	char title[TITLE];
	char failure[3 * TITLE]; /* "": it has not failed */
};

static struct rank own;

struct sk_shared_ranks *sk_simulation_open(uint32_t ranks, uint64_t most, uint64_t seed)
{
	size_t head = sizeof(struct sk_shared_ranks) + ranks * sizeof(struct place), size;
	struct sk_shared_ranks *simulation;
	uint64_t room;

	most = most < SK_SIMULATION_LEAST ? SK_SIMULATION_LEAST : most;
	head = (head + PAGE - 1) / PAGE * PAGE;
	if (__builtin_add_overflow(most, PAGE - 1, &room) ||
	    __builtin_mul_overflow(room / PAGE * PAGE, (uint64_t)ranks, &size) ||
	    __builtin_add_overflow(size, head, &size))
		size = SIZE_MAX;
	simulation = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (simulation == MAP_FAILED)
		return NULL;
	simulation->ranks = ranks;
	simulation->seed = seed;
	simulation->room = room / PAGE * PAGE;
	simulation->memory = head;
	return simulation;
}

static char *room_of(struct sk_shared_ranks *simulation, uint32_t rank)
{
	return (char *)simulation + simulation->memory + rank * simulation->room;
}

/* ---- failures ---- */

void sk_simulation_abort(struct sk_shared_ranks *simulation, uint32_t rank, const char *text)
{
	int none = 0;

	if (!atomic_compare_exchange_strong(&simulation->failed, &none, 1))
		return;
	simulation->failed_rank = rank;
	snprintf(simulation->failure, sizeof(simulation->failure), "%s", text);
	atomic_store(&simulation->failed, 2);
}

static enum skrt_transfer_state fail(const char *text)
{
	snprintf(own.failure, sizeof(own.failure), "%s", text);
	return SKRT_TRANSFER_FAILED;
}

static enum skrt_transfer_state fail_as_others(const struct sk_shared_ranks *simulation)
{
	snprintf(own.failure, sizeof(own.failure), "rank %" PRIu32 " has failed%s%s", simulation->failed_rank,
		 *simulation->failure ? ": " : "", simulation->failure);
	return SKRT_TRANSFER_FAILED;
}

/* ---- the order of ranks ---- */

/* A number that differs for each exchange and rank. */
static uint64_t mix(uint64_t seed, uint64_t exchange, uint64_t rank)
{
	uint64_t number = seed + exchange * UINT64_C(0x9e3779b97f4a7c15) + rank * UINT64_C(0xd1342543de82ef95);

	number = (number ^ number >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	number = (number ^ number >> 27) * UINT64_C(0x94d049bb133111eb);
	return number ^ number >> 31;
}

/* Return whether all ranks of the group that come earlier in this exchange's order have come. */
static bool is_turn(const struct sk_shared_ranks *simulation)
{
	uint64_t mine = mix(simulation->seed, own.count, own.number);

	for (uint32_t i = 0; simulation->seed && i < own.transfer.size; i++) {
		uint32_t other = own.transfer.members[i];
		uint64_t theirs = mix(simulation->seed, own.count, other);

		if ((theirs < mine || (theirs == mine && other < own.number)) &&
		    atomic_load(&simulation->places[other].come) < own.count)
			return false;
	}
	return true;
}

/* ---- exchanges ---- */

static uint64_t sent_bytes(const struct skrt_transfer *transfer)
{
	return transfer->bytes * (transfer->kind == SKRT_EXCHANGE_ALL_TO_ALL ? transfer->size : 1);
}

static void start(void *context, const struct skrt_transfer *transfer)
{
	(void)context;
	own.count++;
	own.came = own.copied = false;
	own.transfer = *transfer;
	snprintf(own.title, sizeof(own.title), "%s", transfer->title);
}

static void come(struct sk_shared_ranks *simulation)
{
	struct place *place = &simulation->places[own.number];

	memcpy(room_of(simulation, own.number), own.transfer.send, sent_bytes(&own.transfer));
	place->hash = own.transfer.hash;
	memcpy(place->title, own.title, sizeof(place->title));
	atomic_store(&place->come, own.count);
	own.came = true;
}

/* Return whether all ranks of the group have come, or have copied. */
static bool have_all(const struct sk_shared_ranks *simulation, bool copied)
{
	for (uint32_t i = 0; i < own.transfer.size; i++) {
		const struct place *place = &simulation->places[own.transfer.members[i]];

		if (atomic_load(copied ? &place->copied : &place->come) < own.count)
			return false;
	}
	return true;
}

/* Return whether all ranks of the group are in the same exchange. */
static bool agree(const struct sk_shared_ranks *simulation)
{
	char text[3 * TITLE];

	for (uint32_t i = 0; i < own.transfer.size; i++) {
		uint32_t other = own.transfer.members[i];

		if (simulation->places[other].hash == own.transfer.hash)
			continue;
		snprintf(text, sizeof(text), "rank %" PRIu32 " is in %s instead: the ranks have different packages",
			 other, simulation->places[other].title);
		fail(text);
		return false;
	}
	return true;
}

static void copy(struct sk_shared_ranks *simulation)
{
	const struct skrt_transfer *transfer = &own.transfer;
	uint64_t bytes = transfer->bytes;
	char *to = transfer->receive;

	switch (transfer->kind) {
	case SKRT_EXCHANGE_ALL_GATHER:
		for (uint32_t i = 0; i < transfer->size; i++)
			memcpy(to + i * bytes, room_of(simulation, transfer->members[i]), bytes);
		break;
	case SKRT_EXCHANGE_ALL_TO_ALL:
		for (uint32_t i = 0; i < transfer->size; i++)
			memcpy(to + i * bytes, room_of(simulation, transfer->members[i]) + transfer->place * bytes,
			       bytes);
		break;
	case SKRT_EXCHANGE_SEND:
		if (transfer->place != transfer->peer) {
			memset(to, 0, bytes);
			break;
		}
		/* fall through */
	default:
		memcpy(to, room_of(simulation, transfer->members[transfer->root]), bytes);
		break;
	}
	atomic_store(&simulation->places[own.number].copied, own.count);
	own.copied = true;
}

static enum skrt_transfer_state test(void *context)
{
	struct sk_shared_ranks *simulation = own.simulation;

	(void)context;
	if (*own.failure)
		return SKRT_TRANSFER_FAILED;
	if (atomic_load(&simulation->failed))
		return atomic_load(&simulation->failed) == 2 ? fail_as_others(simulation) : SKRT_TRANSFER_RUNS;
	if (sent_bytes(&own.transfer) > simulation->room)
		return fail("it sends more bytes than any exchange of the package that was opened first");
	if (!own.came && is_turn(simulation))
		come(simulation);
	if (own.came && !own.copied && have_all(simulation, false)) {
		if (!agree(simulation))
			return SKRT_TRANSFER_FAILED;
		copy(simulation);
	}
	return own.copied && have_all(simulation, true) ? SKRT_TRANSFER_ENDED : SKRT_TRANSFER_RUNS;
}

/* Name the ranks of the group that have not come, or have not copied; false: there are none. */
static bool name_missing(bool copied, char *text, size_t size)
{
	size_t used = 0;
	bool found = false;

	for (uint32_t i = 0; i < own.transfer.size && used < size; i++) {
		uint32_t other = own.transfer.members[i];
		const struct place *place = &own.simulation->places[other];

		if (atomic_load(copied ? &place->copied : &place->come) >= own.count || other == own.number)
			continue;
		used += (size_t)snprintf(text + used, size - used, "%s %" PRIu32, found ? "," : "rank", other);
		found = true;
	}
	if (found && used < size)
		snprintf(text + used, size - used, copied ? " did not go on" : " did not come");
	return found;
}

static void describe(void *context, char *text, size_t size)
{
	(void)context;
	if (*own.failure)
		snprintf(text, size, "%s", own.failure);
	else if (!name_missing(false, text, size) && !name_missing(true, text, size))
		snprintf(text, size, "it did not end");
}

static void abort_ranks(void *context, const char *text)
{
	(void)context;
	sk_simulation_abort(own.simulation, own.number, text);
}

static int are_open(void *context)
{
	(void)context;
	return 1;
}

static const char *close_ranks(void *context)
{
	(void)context;
	return NULL; /* the parent has the shared memory */
}

void sk_simulation_join(struct sk_shared_ranks *simulation, uint32_t rank, struct sk_transport *transport)
{
	own = (struct rank){.simulation = simulation, .number = rank};
	*transport = (struct sk_transport){.name = "simulated",
					   .rank = rank,
					   .ranks = simulation->ranks,
					   .room = simulation->room,
					   .start = start,
					   .test = test,
					   .describe = describe,
					   .abort = abort_ranks,
					   .is_open = are_open,
					   .close = close_ranks};
}
