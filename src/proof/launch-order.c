/* See proof-parts.h. */
#include "src/proof/proof-parts.h"

#include "base/arena.h"
#include "format/plan/plan.h"
#include "src/proof/proof.h"

/* Limit on the numbers in the clocks (64 MiB). */
#define MAX_CLOCK_NUMBERS (UINT64_C(1) << 24)

/* Limit on the follows examined in searches. */
#define MAX_SEARCHED_FOLLOWS (UINT64_C(1) << 28)

/* Append the launch to a chain if it follows the last launch there, else start a new chain. */
static void choose_chain(struct sk_launch_order *order, uint32_t launch, uint32_t *lasts)
{
	const struct sk_plan_view *view = order->view;
	const struct sk_plan_launch *record = &view->launches[launch];

	order->chains[launch] = order->chain_count;
	order->positions[launch] = 1;
	for (uint32_t i = 0; i < sk_plan_form(record)->follow_count; i++) {
		uint32_t follow = view->follows[record->first_follow + i], chain = order->chains[follow];

		if (lasts[chain] != follow)
			continue;
		order->chains[launch] = chain;
		order->positions[launch] = order->positions[follow] + 1;
		break;
	}
	lasts[order->chains[launch]] = launch;
	order->chain_count += order->chains[launch] == order->chain_count;
}

/* Compute the launches known to have ended when the launch starts. */
static uint32_t *make_clock(struct sk_launch_order *order, struct sk_arena *arena, uint32_t launch)
{
	const struct sk_plan_launch *record = &order->view->launches[launch];
	uint32_t *clock = SK_NEW_ARRAY(arena, uint32_t, order->clocked_chains);

	for (uint32_t i = 0; i < sk_plan_form(record)->follow_count; i++) {
		uint32_t follow = order->view->follows[record->first_follow + i], chain = order->chains[follow];

		order->steps += order->clocked_chains + 1;
		for (uint32_t c = 0; c < order->clocked_chains; c++)
			if (order->clocks[follow][c] > clock[c])
				clock[c] = order->clocks[follow][c];
		if (chain < order->clocked_chains && clock[chain] < order->positions[follow])
			clock[chain] = order->positions[follow];
	}
	return clock;
}

void sk_launch_order_build(struct sk_launch_order *order, struct sk_arena *arena, const struct sk_plan_view *view)
{
	uint32_t count = view->network_launch_count;
	uint32_t *lasts = SK_NEW_ARRAY(arena, uint32_t, count);

	*order = (struct sk_launch_order){
		.view = view,
		.chains = SK_NEW_ARRAY(arena, uint32_t, count),
		.positions = SK_NEW_ARRAY(arena, uint32_t, count),
		.clocks = SK_NEW_ARRAY(arena, uint32_t *, count),
		.reached = SK_NEW_ARRAY(arena, uint32_t, count),
		.heap = SK_NEW_ARRAY(arena, uint32_t, count),
		.follows_left = MAX_SEARCHED_FOLLOWS,
	};
	for (uint32_t launch = 0; launch < count; launch++)
		choose_chain(order, launch, lasts);
	order->clocked_chains = order->chain_count;
	if ((uint64_t)count * order->chain_count > MAX_CLOCK_NUMBERS)
		order->clocked_chains = (uint32_t)(MAX_CLOCK_NUMBERS / count);
	for (uint32_t launch = 0; launch < count; launch++)
		order->clocks[launch] = make_clock(order, arena, launch);
}

/* ---- searches ---- */

static void push_launch(struct sk_launch_order *order, uint32_t launch)
{
	uint32_t *heap = order->heap, at = order->heap_count++;

	for (; at > 0 && heap[(at - 1) / 2] < launch; at = (at - 1) / 2)
		heap[at] = heap[(at - 1) / 2];
	heap[at] = launch;
}

static uint32_t pop_launch(struct sk_launch_order *order)
{
	uint32_t *heap = order->heap, top = heap[0], last = heap[--order->heap_count], at = 0, child;

	for (; (child = 2 * at + 1) < order->heap_count; at = child) {
		child += child + 1 < order->heap_count && heap[child + 1] > heap[child];
		if (heap[child] <= last)
			break;
		heap[at] = heap[child];
	}
	heap[at] = last;
	return top;
}

/* Add the launches that this one follows and that the search has not reached yet. */
static void reach_follows(struct sk_launch_order *order, uint32_t launch)
{
	const struct sk_plan_launch *record = &order->view->launches[launch];

	for (uint32_t i = 0; i < sk_plan_form(record)->follow_count; i++) {
		uint32_t follow = order->view->follows[record->first_follow + i];

		order->exhausted |= !order->follows_left;
		if (order->exhausted)
			return;
		order->follows_left--;
		order->steps++;
		if (order->reached[follow] == order->search)
			continue;
		order->reached[follow] = order->search;
		push_launch(order, follow);
	}
}

/* Search a path of follows from the later launch back to the earlier one. A launch follows only earlier ones, so
 * reached launches are examined from the last to the first, down to the earlier one. The next query about the same
 * later launch resumes there: a launch that waits for thousands of others examines its follows once. */
static bool search_earlier(struct sk_launch_order *order, uint32_t earlier, uint32_t later)
{
	if (order->search == 0 || order->later != later) {
		order->search++;
		order->later = later;
		order->heap_count = 0;
		push_launch(order, later);
	}
	while (order->reached[earlier] != order->search && order->heap_count && order->heap[0] > earlier &&
	       !order->exhausted)
		reach_follows(order, pop_launch(order));
	return order->reached[earlier] == order->search;
}

bool sk_launch_before(struct sk_launch_order *order, uint32_t earlier, uint32_t later)
{
	uint32_t chain = order->chains[earlier];

	if (chain >= order->clocked_chains)
		return search_earlier(order, earlier, later);
	return order->clocks[later][chain] >= order->positions[earlier];
}
