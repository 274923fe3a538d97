/* Totals of workers. If workers run several cores of a lane, a step for which all cores wait for all others would move
 * a cache line of each core to all other workers. So a worker publishes, in one line, the progress that all of its
 * cores have reached: when the last of them begins to wait for the lane, and whenever none of its cores can go on. A
 * low total proves nothing, since one of the cores may be in a kernel. The cores' own words then have more; others read
 * them only after they have waited for some time.
 *
 * A worker keeps its knowledge of the lane in a word of its own. Its cores use that as the lane's only word, so their
 * programs read nothing that other workers write. A worker does not read its own published line either: that line may
 * have to be fetched back from others' caches.
 *
 * Numbers only grow, as those in the words do. The total of a worker in one launch is at most the base of the next
 * launch in the place, independent of the cores that the worker has there: so nothing is reset. */
#include "config.h"

#include "loader/device/device.h"

#include "format/skabi.h"

static uint64_t reached_by(const struct sk_own_cores *own, uint32_t core)
{
	const uint64_t *words = own->flight->lanes[own->lane].words;

	return __atomic_load_n(&words[core * (SK_PROGRESS_STRIDE / sizeof(*words))], __ATOMIC_ACQUIRE);
}

/* Read from both ends: a processor that sees a stride prefetches the lines after it, which others write. */
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
