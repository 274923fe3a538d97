/* The order in which a launch would have its steps if the planner had left them as the list of tasks has them; see
 * predict-parts.h. */
#include "config.h"

#include "loader/predict/predict-parts.h"

#include <stdlib.h>

#include "format/plan/plan.h"
#include "format/skplan.h"

/* The steps of a launch that are put in order. The sides of a mix task are one, with the number of the cube side. */
struct lister {
	const struct sk_plan_view *plan;
	const struct sk_plan_step *steps; /* of the launch */
	uint32_t count;
	uint32_t *pending; /* by step: awaits of steps that have no place yet */
	uint32_t *followers, *first_follower; /* that await step s: from first_follower[s] to first_follower[s + 1] */
	struct sk_event_heap ready; /* by task */
};

static uint32_t whole_of(const struct lister *lister, uint32_t step)
{
	return lister->steps[step].flags & SK_STEP_VECTOR_SIDE ? step - 1 : step;
}

/* Call `visit` for each await of the launch. */
static void for_each_await(struct lister *lister, void (*visit)(struct lister *lister, uint32_t step, uint32_t awaited))
{
	uint32_t first = (uint32_t)(lister->steps - lister->plan->steps);

	for (uint32_t i = 0; i < lister->count; i++)
		for (uint32_t a = 0; a < lister->steps[i].await_count; a++)
			visit(lister, whole_of(lister, i),
			      whole_of(lister, lister->plan->awaits[lister->steps[i].first_await + a].step - first));
}

static void count_await(struct lister *lister, uint32_t step, uint32_t awaited)
{
	lister->pending[step]++;
	lister->first_follower[awaited + 2]++;
}

static void add_follower(struct lister *lister, uint32_t step, uint32_t awaited)
{
	lister->followers[lister->first_follower[awaited + 1]++] = step;
}

static void become_ready(struct lister *lister, uint32_t step)
{
	sk_event_push(&lister->ready, sk_plan_step_calls(lister->plan, &lister->steps[step]).first->task, step);
}

static void put_in_order(struct lister *lister, uint32_t *order)
{
	uint32_t placed = 0;

	for_each_await(lister, count_await);
	for (uint32_t i = 2; i < lister->count + 2; i++)
		lister->first_follower[i] += lister->first_follower[i - 1];
	for_each_await(lister, add_follower);
	for (uint32_t i = 0; i < lister->count; i++)
		if (!lister->pending[i] && whole_of(lister, i) == i)
			become_ready(lister, i);
	while (lister->ready.count) {
		uint32_t step = sk_event_pop(&lister->ready).id;

		order[placed++] = step;
		if (lister->steps[step].flags & SK_STEP_CUBE_SIDE)
			order[placed++] = step + 1;
		for (uint32_t f = lister->first_follower[step]; f < lister->first_follower[step + 1]; f++)
			if (--lister->pending[lister->followers[f]] == 0)
				become_ready(lister, lister->followers[f]);
	}
}

uint32_t *sk_listed_order(const struct sk_plan_view *plan, const struct sk_plan_launch *launch)
{
	struct lister lister = {
		.plan = plan, .steps = &plan->steps[launch->first_step], .count = sk_plan_form(launch)->step_count};
	uint32_t *order = calloc(lister.count + (size_t)1, sizeof(*order));

	lister.pending = calloc(lister.count + (size_t)1, sizeof(*lister.pending));
	lister.first_follower = calloc(lister.count + (size_t)2, sizeof(*lister.first_follower));
	lister.followers = calloc(plan->await_count + (size_t)1, sizeof(*lister.followers));
	lister.ready.items = calloc(lister.count + (size_t)1, sizeof(*lister.ready.items));
	if (order && lister.pending && lister.first_follower && lister.followers && lister.ready.items) {
		put_in_order(&lister, order);
	} else {
		free(order);
		order = NULL;
	}
	free(lister.pending);
	free(lister.first_follower);
	free(lister.followers);
	free(lister.ready.items);
	return order;
}
