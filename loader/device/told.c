/* Where workers play several cores of a lane, a step for which all cores wait for all others would move a line of each
 * core to all other workers. So a worker tells in one line how far all of its cores are: when the last of them begins
 * to wait for the lane, and whenever none of its cores can go on. That it does not tell means nothing: one of its cores
 * may be in a kernel. Then the cores' own words say more, which others look at only when they have waited for some
 * time.
 *
 * What a worker knows of the lane it keeps in a word of its own, which its cores have as the lane's only one; so their
 * programs read nothing that other workers write. Nor does a worker read what it tells: a line that others look at may
 * have to be fetched back.
 *
 * Numbers only grow, as those in the words do, and what all cores of a worker have reached in one launch is no more
 * than where the next one in the place begins, whichever cores the worker has there: so nothing is reset. */
#include "config.h"

#include "loader/device/device.h"

#include "format/skabi.h"

static uint64_t reached_by(const struct sk_own_cores *own, uint32_t core)
{
	const uint64_t *words = own->flight->lanes[own->lane].words;

	return __atomic_load_n(&words[core * (SK_PROGRESS_STRIDE / sizeof(*words))], __ATOMIC_ACQUIRE);
}

/* From both ends: a processor that sees a stride fetches what lies ahead of it, which others write. */
static uint64_t reached_by_all(const struct sk_own_cores *own)
{
	uint64_t least = UINT64_MAX;

	for (uint32_t first = own->first, end = own->end; first < end; first++) {
		uint64_t low = reached_by(own, first), high = reached_by(own, --end);

		least = low < least ? low : least;
		least = high < least ? high : least;
	}
	return least;
}

void sk_told_tell(struct sk_own_cores *own)
{
	uint64_t reached = reached_by_all(own);

	if (reached <= own->told)
		return;
	own->told = reached;
	atomic_store_explicit(&own->flight->told[own->rank].lanes[own->lane], reached, memory_order_release);
}

void sk_told_arrive(struct sk_own_cores *own, uint64_t target)
{
	if (own->target != target) {
		own->target = target;
		own->arrived = 0;
	}
	if (++own->arrived == own->end - own->first)
		sk_told_tell(own);
}

bool sk_told_ask(struct sk_own_cores *own, uint64_t target)
{
	const struct sk_flight *flight = own->flight;

	for (uint32_t rank = 0; rank < flight->busy; rank++)
		if (rank != own->rank &&
		    atomic_load_explicit(&flight->told[rank].lanes[own->lane], memory_order_acquire) < target)
			return false;
	own->known = target;
	return true;
}
