/* Numbers that all ranks exchange; see transport.h. */
#include "config.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "loader/base/status.h"
#include "loader/ranks/transport.h"
#include "loader/skrt-transport.h"

enum { SPINS = 1000, YIELDS = 2000, NANOSECONDS = 1000000 /* of a millisecond */, PART = 1 << 20 };

/* FNV-1a of 64 bits. */
static uint64_t hash_text(const char *text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return hash;
}

static void wait_a_turn(uint64_t turn)
{
	if (turn >= YIELDS)
		nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
	else if (turn >= SPINS)
		sched_yield();
}

static void fail(const struct sk_gathering *gathering, const char *title, bool late)
{
	const struct sk_transport *transport = gathering->transport;
	char why[256], within[48] = "";

	transport->describe(transport->context, why, sizeof(why));
	if (late && gathering->timeout % 1000)
		snprintf(within, sizeof(within), " within %" PRIu64 " ms", gathering->timeout);
	else if (late)
		snprintf(within, sizeof(within), " within %" PRIu64 " s", gathering->timeout / 1000);
	snprintf(gathering->error, gathering->error_size, "%s: %s%s", title, why, within);
}

/* ---- places ---- */

struct place {
	uint64_t hash;
	char title[184];
};

struct sk_rank_places {
	const struct sk_transport *transport;
	uint32_t *members;
	struct skrt_transfer transfer;
	struct place own;
	struct place all[]; /* by rank */
};

/* Return the ranks as the members of a group, or NULL. */
static uint32_t *make_members(uint32_t ranks)
{
	uint32_t *members = calloc(ranks, sizeof(*members));

	for (uint32_t i = 0; members && i < ranks; i++)
		members[i] = i;
	return members;
}

struct sk_rank_places *sk_rank_places_open(const struct sk_transport *transport)
{
	struct sk_rank_places *places = calloc(1, sizeof(*places) + transport->ranks * sizeof(places->all[0]));

	if (!places)
		return NULL;
	places->transport = transport;
	places->members = make_members(transport->ranks);
	if (places->members)
		return places;
	free(places);
	return NULL;
}

void sk_rank_places_close(struct sk_rank_places *places)
{
	if (places)
		free(places->members);
	free(places);
}

const struct skrt_transfer *sk_rank_places_begin(struct sk_rank_places *places, const struct skrt_transfer *transfer)
{
	places->own.hash = transfer->hash;
	snprintf(places->own.title, sizeof(places->own.title), "%s", transfer->title);
	places->transfer = (struct skrt_transfer){.kind = SKRT_EXCHANGE_ALL_GATHER,
						  .size = places->transport->ranks,
						  .place = places->transport->rank,
						  .members = places->members,
						  .bytes = sizeof(places->own),
						  .send = &places->own,
						  .receive = places->all,
						  .title = "the comparison of places",
						  .hash = 1};
	return &places->transfer;
}

bool sk_rank_places_agree(const struct sk_rank_places *places, char *text, size_t size)
{
	for (uint32_t i = 1; i < places->transport->ranks; i++) {
		if (places->all[i].hash == places->all[0].hash)
			continue;
		snprintf(text, size,
			 "the ranks are at different exchanges: rank 0 comes to %.100s, rank %" PRIu32 " to %.100s",
			 places->all[0].title, i, places->all[i].title);
		return false;
	}
	return true;
}

/* ---- numbers ---- */

static bool run(const struct sk_gathering *gathering, const struct skrt_transfer *transfer, const char *title)
{
	const struct sk_transport *transport = gathering->transport;
	int64_t end = sk_now() + (int64_t)gathering->timeout * NANOSECONDS;
	enum skrt_transfer_state state;

	transport->start(transport->context, transfer);
	for (uint64_t turn = 0; (state = transport->test(transport->context)) == SKRT_TRANSFER_RUNS; turn++) {
		if (turn >= SPINS && sk_now() > end)
			break;
		wait_a_turn(turn);
	}
	if (state != SKRT_TRANSFER_ENDED)
		fail(gathering, title, state == SKRT_TRANSFER_RUNS);
	return state == SKRT_TRANSFER_ENDED;
}

static bool compare_places(const struct sk_gathering *gathering, const struct skrt_transfer *transfer)
{
	struct sk_rank_places *places = sk_rank_places_open(gathering->transport);
	char why[320] = "no memory";
	bool came = places && run(gathering, sk_rank_places_begin(places, transfer), transfer->title);
	bool good = came && sk_rank_places_agree(places, why, sizeof(why));

	if (!good && (came || !places))
		snprintf(gathering->error, gathering->error_size, "%s: %s", transfer->title, why);
	sk_rank_places_close(places);
	return good;
}

/* Run the exchange of all ranks, of which the other fields are filled in. */
static bool run_of_all(const struct sk_gathering *gathering, const char *title, struct skrt_transfer *transfer)
{
	const struct sk_transport *transport = gathering->transport;
	uint32_t *members = make_members(transport->ranks);
	bool good = members;

	transfer->size = transport->ranks;
	transfer->place = transport->rank;
	transfer->members = members;
	transfer->title = title;
	transfer->hash = hash_text(title);
	if (!members)
		snprintf(gathering->error, gathering->error_size, "%s: no memory", title);
	good = good && (!transport->checked || compare_places(gathering, transfer)) && run(gathering, transfer, title);
	free(members);
	return good;
}

bool sk_gather(const struct sk_gathering *gathering, const char *title, const void *own, void *all, uint64_t bytes)
{
	struct skrt_transfer transfer = {.kind = SKRT_EXCHANGE_ALL_GATHER, .bytes = bytes, .send = own, .receive = all};

	return run_of_all(gathering, title, &transfer);
}

bool sk_bring(const struct sk_gathering *gathering, const char *title, uint32_t from, void *bytes, uint64_t size)
{
	const struct sk_transport *transport = gathering->transport;
	uint64_t part = transport->room && transport->room < PART ? transport->room : PART;
	char *parts = malloc(2 * part), *sent = parts, *received = parts + part;
	bool good = parts;

	if (!parts)
		snprintf(gathering->error, gathering->error_size, "%s: no memory", title);
	for (uint64_t done = 0; good && done < size; done += part) {
		uint64_t count = size - done < part ? size - done : part;
		struct skrt_transfer transfer = {
			.kind = SKRT_EXCHANGE_SEND, .root = from, .bytes = count, .send = sent, .receive = received};

		if (transport->rank == from)
			memcpy(sent, (char *)bytes + done, count);
		good = run_of_all(gathering, title, &transfer);
		if (good && transport->rank == 0)
			memcpy((char *)bytes + done, received, count);
	}
	free(parts);
	return good;
}
