/* The comparison of the ranks' packages; see transport.h. Transports do not notice exchanges that differ: the ranks
 * would wait for one another, or take the bytes of another exchange. */
#include "config.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/plan/plan.h"
#include "format/plan/ranks.h"
#include "format/skplan.h"
#include "format/skranks.h"
#include "loader/ranks/transport.h"

enum { TITLE = 192 };

/* What a rank says of its package. Fields are compared in their order. */
struct record {
	uint64_t number; /* of packages that this process has compared */
	uint64_t exchanges, hash; /* of all of them */
	uint8_t seal[16];
	uint64_t own; /* the ranks are meant to have packages of their own */
};

/* Return the hash of the first exchanges. */
static uint64_t hash_exchanges(const struct sk_ranks_view *ranks, uint64_t count)
{
	uint64_t hash = ranks->rank_count;

	for (uint64_t i = 0; i < count; i++)
		hash = (hash ^ sk_ranks_hash(ranks, &ranks->exchanges[i])) * UINT64_C(0x9e3779b97f4a7c15);
	return hash;
}

static bool fail(const struct sk_comparison *comparison, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool fail(const struct sk_comparison *comparison, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(comparison->gathering.error, comparison->gathering.error_size, format, arguments);
	va_end(arguments);
	return false;
}

/* Find the first exchange that is not the same on all ranks, of the first `count` ones: all ranks ask the same
 * questions. */
static bool find_first(const struct sk_comparison *comparison, uint64_t count, uint64_t *first)
{
	uint32_t ranks = comparison->gathering.transport->ranks;
	uint64_t *hashes = calloc(ranks, sizeof(*hashes)), low = 0, high = count;
	bool good = hashes;

	while (good && low < high) {
		uint64_t middle = low + (high - low) / 2, own = hash_exchanges(comparison->ranks, middle + 1);
		bool same = true;

		good = sk_gather(&comparison->gathering, "the comparison of packages", &own, hashes, sizeof(own));
		for (uint32_t i = 1; good && i < ranks; i++)
			same &= hashes[i] == hashes[0];
		if (same)
			low = middle + 1;
		else
			high = middle;
	}
	if (!hashes)
		fail(comparison, "no memory for %" PRIu32 " ranks", ranks);
	free(hashes);
	*first = low;
	return good;
}

/* Name the first exchange that differs, on rank 0 and on the first rank that differs from it. */
static bool tell_exchange(const struct sk_comparison *comparison, uint32_t other, uint64_t least)
{
	const struct sk_ranks_view *ranks = comparison->ranks;
	char(*titles)[TITLE] = calloc(comparison->gathering.transport->ranks, TITLE), own[TITLE] = "none";
	uint64_t first;

	if (!titles)
		return fail(comparison, "no memory for the exchanges of all ranks");
	if (!find_first(comparison, least, &first)) {
		free(titles);
		return false;
	}
	if (first < ranks->exchange_count)
		sk_ranks_text(ranks, comparison->plan, &ranks->exchanges[first], own, sizeof(own));
	if (sk_gather(&comparison->gathering, "the comparison of packages", own, titles, TITLE)) {
		uint32_t shown = 1;

		while (shown < other && !strcmp(titles[shown], titles[0]))
			shown++;
		fail(comparison,
		     "rank 0 and rank %" PRIu32 " have packages with different exchanges: number %" PRIu64
		     " is %.150s on rank 0, and %.150s on rank %" PRIu32,
		     shown, first, titles[0], titles[shown], shown);
	}
	free(titles);
	return false;
}

static bool compare(const struct sk_comparison *comparison, const struct record *records)
{
	uint64_t least = records[0].exchanges;
	uint32_t other = 0;
	bool seals = true, own = true;

	for (uint32_t i = 0; i < comparison->gathering.transport->ranks; i++) {
		const struct record *record = &records[i];

		least = record->exchanges < least ? record->exchanges : least;
		own &= record->own != 0;
		if (record->number != records[0].number)
			return fail(comparison,
				    "rank 0 loads its package number %" PRIu64 " for several ranks, and rank %" PRIu32
				    " its package number %" PRIu64,
				    records[0].number, i, record->number);
		if (!other && (record->exchanges != records[0].exchanges || record->hash != records[0].hash))
			other = i;
	}
	if (other)
		return tell_exchange(comparison, other, least);
	while (++other < comparison->gathering.transport->ranks && seals)
		seals = own || !memcmp(records[other].seal, records[0].seal, sizeof(records[0].seal));
	return seals ||
	       fail(comparison,
		    "rank 0 and rank %" PRIu32
		    " have different packages, with the same exchanges; ranks with packages of their own, such "
		    "as one for each part of the weights, have %%r in its name",
		    other - 1);
}

bool sk_ranks_compare(const struct sk_comparison *comparison)
{
	const struct sk_ranks_view *ranks = comparison->ranks;
	struct record own = {.number = comparison->number,
			     .exchanges = ranks->exchange_count,
			     .hash = hash_exchanges(ranks, ranks->exchange_count),
			     .own = comparison->own_packages};
	struct record *records = calloc(comparison->gathering.transport->ranks, sizeof(*records));
	bool good;

	if (!records)
		return fail(comparison, "no memory for %" PRIu32 " ranks", comparison->gathering.transport->ranks);
	memcpy(own.seal, comparison->plan->plan->seal.loaded, sizeof(own.seal));
	good = sk_gather(&comparison->gathering, "the comparison of packages", &own, records, sizeof(own)) &&
	       compare(comparison, records);
	free(records);
	return good;
}
