/* A task's `cost:` against its kernel: values that are about what this kind of kernel does not do are errors. */
#include "src/bind/binder.h"
#include "src/model/signature.h"
#include "src/model/task.h"

static bool gives(const struct sk_task_cost *cost, enum sk_cost value)
{
	for (uint32_t i = 0; i < cost->count; i++)
		if (sk_cost_gives(&cost->of[i], value))
			return true;
	return false;
}

void sk_binder_check_cost(struct sk_binder *binder, const struct sk_task_cost *cost)
{
	const struct sk_signature *signature = binder->signature;
	const struct {
		enum sk_cost value;
		bool allowed;
		const char *kind;
	} rules[] = {
		{SK_COST_BEFORE_WAIT, signature->early_wait, "early-start=wait or both"},
		{SK_COST_AFTER_SET, signature->early_set, "early-start=set or both"},
		{SK_COST_WAITS, signature->sync_all || signature->lane == SK_LANE_MIX, "sync-all or mix"},
	};

	if (!cost)
		return;
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (!rules[i].allowed && gives(cost, rules[i].value))
			sk_binder_error(binder, cost->place, "'%s' in the cost is about kernels with %s",
					sk_cost_name(rules[i].value), rules[i].kind);
	if (cost->count == 2 && signature->lane != SK_LANE_MIX)
		sk_binder_error(binder, cost->place, "'cube' and 'vector' in the cost are about kernels with mix");
}
