/* See device.h. A launch that has failed is still due, and so are those that were skipped for it. Before any launch,
 * the due launches before it in the plan run first, whether the launch reads their results or not. So these launches
 * run in the plan's order, in whatever order a program starts launches. */
#include "config.h"

#include "loader/device/device.h"

#include <stdlib.h>
#include <string.h>

#include "format/plan/plan.h"
#include "format/skplan.h"
#include "loader/flight/flight.h"

static bool runs_once(const struct skrt_instance *instance, uint32_t launch)
{
	const struct sk_plan_view *plan = &instance->module->plan;
	const struct sk_plan_launch *record = &plan->launches[launch];

	return sk_plan_has_form(plan, record) && sk_plan_form(record)->flags & SK_LAUNCH_ONCE;
}

static bool is_unshared(const struct skrt_instance *instance, uint32_t launch)
{
	return launch >= instance->module->plan.network_launch_count;
}

/* Test the forms: they are fewer than the launches, and most packages have no such form. */
static bool some_run_once(const struct sk_plan_view *plan)
{
	for (uint32_t i = 0; i < plan->form_count; i++)
		if (plan->forms[i].flags & SK_LAUNCH_ONCE)
			return true;
	return false;
}

bool sk_once_open(struct skrt_instance *instance, bool unshared)
{
	const struct sk_plan_view *plan = &instance->module->plan;
	uint32_t first = unshared ? plan->network_launch_count : 0;
	uint32_t end = unshared ? plan->launch_count : plan->network_launch_count;

	instance->due[unshared] = 0;
	if (!some_run_once(plan))
		return true;
	for (uint32_t i = first; i < end; i++)
		instance->due[unshared] += runs_once(instance, i);
	if (instance->due[unshared] && !instance->done)
		instance->done = calloc(plan->launch_count, sizeof(*instance->done));
	return !instance->due[unshared] || instance->done;
}

bool sk_once_is_due(const struct skrt_instance *instance, uint32_t launch)
{
	return runs_once(instance, launch) && !sk_once_is_done(instance, launch);
}

uint32_t sk_once_first(const struct skrt_instance *instance, uint32_t launch)
{
	bool unshared = is_unshared(instance, launch);

	if (!instance->due[unshared])
		return launch;
	return unshared ? instance->module->plan.network_launch_count : 0;
}

void sk_once_end(struct skrt_instance *instance, uint32_t launch)
{
	if (!instance->done || !sk_once_is_due(instance, launch))
		return;
	instance->done[launch] = true;
	instance->due[is_unshared(instance, launch)]--;
}

void sk_once_forget(struct skrt_instance *instance)
{
	if (!instance->done)
		return;
	memset(instance->done, 0, instance->module->plan.launch_count * sizeof(*instance->done));
	for (int i = 0; i < 2; i++)
		if (instance->workspaces[i].memory)
			sk_once_open(instance, i);
}
