/* See proof.h. Properties to prove:
 *
 * Every rank starts the exchanges in one order, that of the list, whatever its cores and workers do: each exchange's
 * launch follows the launch of the one before it, directly or through others. A launch has ended when one that follows
 * it starts, so exchange n has ended on a rank before it starts exchange n + 1. Launches follow earlier ones only
 * (sk_plan_check_launch), so none waits for a result that only a later exchange gives; ranks run one package, so no
 * rank waits in exchange n for another one that waits in exchange m: the lesser of n and m would be complete.
 *
 * Exchanges are the list's, and nothing else is: sk_ranks_check.
 *
 * An exchange runs in each run of the network: an instance may not skip its launch.
 *
 * What is not shown: that the ranks of a run have the same package. The runtime compares their exchanges. */
#include "src/proof/proof-parts.h"

#include "base/diag.h"
#include "format/plan/plan.h"
#include "format/plan/ranks.h"
#include "format/skplan.h"
#include "format/skranks.h"
#include "src/proof/proof.h"

struct check {
	struct sk_diag *diag;
	struct sk_place place;
	const struct sk_ranks_view *ranks;
	const struct sk_plan_view *plan;
	struct sk_launch_order order;
};

static const char *task_name(const struct check *check, uint32_t exchange)
{
	return sk_plan_string(&check->plan->tasks[check->ranks->exchanges[exchange].task].name);
}

static uint32_t launch_of(const struct check *check, uint32_t exchange)
{
	return check->plan->tasks[check->ranks->exchanges[exchange].task].launch;
}

/* Exchanges of different networks do not run in one run. */
static bool is_of_another_network(const struct check *check, uint32_t exchange)
{
	const struct sk_plan_launch *launches = check->plan->launches;
	const int32_t *one = &sk_plan_form(&launches[launch_of(check, exchange - 1)])->network,
		      *other = &sk_plan_form(&launches[launch_of(check, exchange)])->network;

	return *one && sk_plan_string(one) != sk_plan_string(other);
}

static void check_pair(struct check *check, uint32_t exchange)
{
	uint32_t earlier = launch_of(check, exchange - 1), later = launch_of(check, exchange);

	if (is_of_another_network(check, exchange))
		return;
	if (later <= earlier)
		sk_error(check->diag, check->place,
			 "exchange '%s' is launched after exchange '%s', which it precedes in the order that all ranks "
			 "must keep",
			 task_name(check, exchange - 1), task_name(check, exchange));
	else if (!sk_launch_before(&check->order, earlier, later))
		sk_error(check->diag, check->place,
			 "exchange '%s' does not wait for exchange '%s' before it: ranks could start them in different "
			 "orders",
			 task_name(check, exchange), task_name(check, exchange - 1));
}

bool sk_exchange_check(struct sk_arena *arena, struct sk_diag *diag, const struct sk_plan_view *plan,
		       const struct sk_ranks_view *ranks, const char *file)
{
	struct check check = {.diag = diag, .place = {.file = file}, .ranks = ranks, .plan = plan};
	unsigned errors = diag->errors;
	char error[256];

	if (!sk_ranks_check(ranks, plan, error, sizeof(error))) {
		sk_error(diag, check.place, "%s", error);
		return false;
	}
	if (!ranks->exchange_count)
		return true;
	sk_launch_order_build(&check.order, arena, plan);
	for (uint32_t i = 0; i < ranks->exchange_count; i++) {
		if (i)
			check_pair(&check, i);
		if (sk_plan_form(&plan->launches[launch_of(&check, i)])->flags & SK_LAUNCH_ONCE)
			sk_error(diag, check.place, "exchange '%s' runs once, but all ranks must take part in each run",
				 task_name(&check, i));
	}
	if (check.order.exhausted)
		sk_error(diag, check.place, "the plan has too many unordered launches to be proved");
	return diag->errors == errors;
}
