/* Where workers play several cores of a lane, a step for which all cores wait for all others would move a line of each
 * core to all other workers. So a worker tells in one line how far all of its cores are, when one of them waits and it
 * sees that they have reached what that one waits for; and what cores know as the lane's words are these. That a worker
 * does not tell means nothing: its cores may not wait, or for something else. Then the cores' own words say more, which
 * are looked at less often.
 *
 * Numbers only grow, as those in the words do, and what all cores of a worker have reached in one launch is no more
 * than where the next one in the place begins, whichever cores the worker has there: so nothing is reset. */
#include "config.h"

#include "loader/device/told.h"

_Static_assert(sizeof(struct sk_told) == SK_PROGRESS_STRIDE, "dispatchers read them as words of a lane");

uint32_t sk_told_lane(const struct sk_flight *flight, const volatile uint64_t *word)
{
	uint64_t offset = (uintptr_t)word - (uintptr_t)flight->told;

	if (offset >= flight->workers * sizeof(*flight->told))
		return SK_NO_INDEX;
	return (uint32_t)(offset % sizeof(*flight->told) / sizeof(uint64_t));
}

/* What the worker has told holds for less, too. */
static bool have_own_reached(const struct sk_flight *flight, uint32_t lane, uint64_t target, struct sk_own_cores *own,
			     _Atomic uint64_t *told)
{
	const uint64_t *words = flight->lanes[lane].words;

	if (atomic_load_explicit(told, memory_order_relaxed) >= target)
		return true;
	if (own->target != target) {
		own->target = target;
		own->next = own->first;
	}
	while (own->next < own->end &&
	       __atomic_load_n(&words[own->next * (SK_PROGRESS_STRIDE / sizeof(*words))], __ATOMIC_ACQUIRE) >= target)
		own->next++;
	if (own->next < own->end)
		return false;
	atomic_store_explicit(told, target, memory_order_release);
	return true;
}

bool sk_told_is_known(struct sk_flight *flight, uint32_t lane, uint64_t target, struct sk_own_cores *own,
		      uint32_t own_rank, uint32_t *rank)
{
	if (!have_own_reached(flight, lane, target, own, &flight->told[own_rank].lanes[lane]))
		return false;
	for (; *rank < flight->busy; ++*rank)
		if (*rank != own_rank &&
		    atomic_load_explicit(&flight->told[*rank].lanes[lane], memory_order_acquire) < target)
			return false;
	return true;
}
