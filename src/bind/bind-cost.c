/* The cost of a task: its `cost:`, or the figures of the kernel's signature. Entries of `cost:` that do not apply to
 * the kind of kernel are errors. */
#include "base/arena.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "format/skrows.h"
#include "src/bind/bind-parts.h"
#include "src/model/model.h"

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
			sk_binder_error(binder, cost->place, "'%s' in the cost is only for kernels with %s",
					sk_cost_name(rules[i].value), rules[i].kind);
	if (cost->count == 2 && signature->lane != SK_LANE_MIX)
		sk_binder_error(binder, cost->place, "'cube' and 'vector' in the cost are only for kernels with mix");
}

/* Return whether the cost gives the time of the task, not only additional times. */
static bool says_time(const struct sk_task_cost *cost)
{
	return gives(cost, SK_COST_CYCLES) || gives(cost, SK_COST_OPERATIONS) || gives(cost, SK_COST_BYTES);
}

const struct sk_task_cost *sk_binder_cost(const struct sk_binder *binder, const struct sk_task *task)
{
	uint64_t bytes = 0;
	struct sk_task_cost *cost;

	if (!binder->signature->operations ||
	    (task->said.cost && (task->said.cost->count > 1 || says_time(task->said.cost))))
		return task->said.cost;
	for (uint32_t i = 0; i < task->bound.argument_count; i++) {
		const struct sk_argument *argument = &task->bound.arguments[i];
		struct sk_rows rows = sk_argument_rows(argument);
		unsigned times =
			(argument->access & SK_ACCESS_READ ? 1u : 0u) + (argument->access & SK_ACCESS_WRITE ? 1u : 0u);

		if (argument->kind != SK_ARGUMENT_STATE)
			bytes += times * rows.width * rows.count;
	}
	cost = SK_NEW(binder->model->arena, struct sk_task_cost);
	*cost = task->said.cost ? *task->said.cost : (struct sk_task_cost){.place = task->place, .count = 1};
	cost->computed = true;
	cost->of[0].given |= 1u << SK_COST_OPERATIONS | 1u << SK_COST_BYTES;
	cost->of[0].values[SK_COST_OPERATIONS] = task->bound.operations;
	cost->of[0].values[SK_COST_BYTES] = bytes < SK_COST_MAX ? bytes : SK_COST_MAX;
	return cost;
}
