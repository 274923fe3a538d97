/* See proof.h. Properties to prove:
 *
 * Every rank starts the exchanges in one order, that of the list, for every number of cores: exchange n has ended on a
 * rank before it starts exchange n + 1. If both are in one launch, the step of n + 1 knows that the step of n has ended
 * (knowledge.c): its core has the knowledge of its awaits and of all awaits before, for every number of cores. If they
 * are in different launches, the launch of n + 1 follows that of n, directly or through others; a launch has ended when
 * one that follows it starts.
 *
 * None waits for what only a later exchange gives. Launches follow earlier ones only, awaits name earlier steps only,
 * and no core's program leads from a later step to an earlier one (sk_plan_check_launch). So what an exchange waits for
 * on its rank comes before it in the order of launches and steps, while a later exchange comes after it. Ranks run one
 * package, so no rank waits in exchange n for another one that waits in exchange m: the lesser of n and m would be
 * complete.
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
	struct sk_knowledge knowledge;
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

static void report_order(const struct check *check, uint32_t earlier, uint32_t later, const char *how)
{
	sk_error(check->diag, check->place,
		 "exchange '%s' %s exchange '%s', which it precedes in the order that all ranks must keep",
		 task_name(check, earlier), how, task_name(check, later));
}

/* within: the launch that has both; NULL: they are in different ones. */
static void report_missing(const struct check *check, uint32_t earlier, uint32_t later, const char *within)
{
	sk_error(check->diag, check->place,
		 "%s%s%sexchange '%s' does not %s exchange '%s' before it: ranks could start them in different orders",
		 within ? "launch '" : "", within ? within : "", within ? "': " : "", task_name(check, later),
		 within ? "await" : "wait for", task_name(check, earlier));
}

static void check_pair(struct check *check, uint32_t exchange)
{
	uint32_t earlier = launch_of(check, exchange - 1), later = launch_of(check, exchange);

	if (earlier == later || is_of_another_network(check, exchange))
		return;
	if (later < earlier)
		report_order(check, exchange - 1, exchange, "is launched after");
	else if (!sk_launch_before(&check->order, earlier, later))
		report_missing(check, exchange - 1, exchange, NULL);
}

/* ---- exchanges of one launch ---- */

/* Return the number of the exchange that the step makes; SK_NO_INDEX: it makes none. */
static uint32_t exchange_of(const struct check *check, uint32_t step)
{
	const struct sk_plan_call *call = sk_plan_step_calls(check->plan, &check->plan->steps[step]).first;
	const struct sk_ranks_exchange *exchange = sk_ranks_find(check->ranks, call->task);

	return exchange ? (uint32_t)(exchange - check->ranks->exchanges) : SK_NO_INDEX;
}

static bool has_several(const struct check *check, const struct sk_plan_launch *launch)
{
	uint32_t count = 0;

	for (uint32_t s = 0; s < sk_plan_form(launch)->step_count && count < 2; s++)
		count += exchange_of(check, launch->first_step + s) != SK_NO_INDEX;
	return count > 1;
}

static void check_launch(struct check *check, const struct sk_plan_launch *launch)
{
	uint32_t last = SK_NO_INDEX, before = SK_NO_INDEX, count = sk_plan_form(launch)->step_count;
	const char *name = sk_plan_string(&launch->name);

	if (!has_several(check, launch))
		return;
	if (!sk_knowledge_begin(&check->knowledge, launch)) {
		sk_error(check->diag, check->place, "launch '%s' has too many steps on too many homes to be proved",
			 name);
		return;
	}
	for (uint32_t s = 0; s < count; s += sk_side_count(&check->plan->steps[launch->first_step + s])) {
		uint32_t step = launch->first_step + s, exchange = exchange_of(check, step);

		sk_knowledge_pass(&check->knowledge, step);
		if (exchange == SK_NO_INDEX)
			continue;
		if (last != SK_NO_INDEX && exchange < last)
			report_order(check, exchange, last, "comes after");
		else if (last != SK_NO_INDEX && !sk_knows_returned(&check->knowledge, step, before))
			report_missing(check, last, exchange, name);
		last = exchange;
		before = step;
	}
}

/* ---- all of them ---- */

bool sk_exchange_check(struct sk_arena *arena, struct sk_diag *diag, const struct sk_plan_view *plan,
		       const struct sk_ranks_view *ranks, const char *file)
{
	struct check check = {.diag = diag,
			      .place = {.file = file},
			      .ranks = ranks,
			      .plan = plan,
			      .knowledge = {.arena = arena, .view = plan}};
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
	for (uint32_t l = 0; l < plan->network_launch_count; l++)
		check_launch(&check, &plan->launches[l]);
	if (check.order.exhausted)
		sk_error(diag, check.place, "the plan has too many unordered launches to be proved");
	return diag->errors == errors;
}
