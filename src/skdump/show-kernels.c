/* Sums of the steps' values by kernel: a row for each kernel that a chosen task calls. */
#include <inttypes.h>

#include "base/arena.h"
#include "base/ranges.h"
#include "base/text.h"
#include "format/plan/plan.h"
#include "format/skplan.h"
#include "src/skdump/skdump.h"

struct sums {
	uint32_t tasks, calls;
	uint64_t costs[SK_COST_COUNT];
	uint32_t given; /* a bit for each value that some task gives */
};

static void add_cost(const struct sk_plan_view *plan, uint32_t number, struct sums *sums)
{
	for (enum sk_cost i = 0; number != SK_NO_INDEX && i < SK_COST_COUNT; i++)
		if (sk_cost_gives(&plan->costs[number], i)) {
			if (!sk_add(sums->costs[i], plan->costs[number].values[i], &sums->costs[i]))
				sums->costs[i] = UINT64_MAX;
			sums->given |= UINT32_C(1) << i;
		}
}

static struct sums *sum_up(const struct sk_show *show, struct sums *all)
{
	const struct sk_plan_view *plan = &show->file->plan;
	struct sums *kernels = SK_NEW_ARRAY(show->arena, struct sums, plan->kernel_count + 1);

	for (uint32_t i = 0; i < plan->task_count; i++) {
		struct sums *const rows[] = {&kernels[plan->tasks[i].kernel], all};

		for (int row = 0; row < 2 && sk_task_is_chosen(&show->tasks, plan, i); row++) {
			rows[row]->tasks++;
			add_cost(plan, plan->tasks[i].cost, rows[row]);
			add_cost(plan, plan->tasks[i].vector_cost, rows[row]);
		}
	}
	for (uint32_t l = 0; l < sk_show_launch_count(show); l++) {
		struct sk_plan_calls calls = sk_plan_launch_calls(plan, &plan->launches[l]);

		for (const struct sk_plan_call *call = calls.first; call < calls.end; call++)
			if (sk_task_is_chosen(&show->tasks, plan, call->task)) {
				kernels[call->kernel].calls++;
				all->calls++;
			}
	}
	return kernels;
}

/* Code is shared by all tasks of a kernel; its size is the kernel's. */
static void show_sums(const struct sk_show *show, struct sk_table *table, const char *name, const struct sums *sums,
		      uint64_t code)
{
	sk_table_cell(table, "%s", name);
	sk_table_cell(table, "%" PRIu32, sums->tasks);
	sk_table_cell(table, "%" PRIu32, sums->calls);
	sk_table_cell(table, "%" PRIu64, code);
	for (enum sk_cost i = 0; i < SK_COST_COUNT; i++) {
		if (i == SK_COST_CODE)
			continue;
		sk_table_cell(table, "%s",
			      sums->given >> i & 1 ? sk_arena_print(show->arena, "%" PRIu64, sums->costs[i]) : "");
	}
}

void sk_show_kernels(const struct sk_show *show)
{
	const struct sk_plan_view *plan = &show->file->plan;
	struct sums all = {0}, *kernels = sum_up(show, &all);
	struct sk_table table;
	uint64_t code = 0;

	sk_table_init(&table, show->arena, "lrrrrrrrrr");
	HEADINGS(&table, "kernel", "tasks", "calls", "code");
	for (enum sk_cost i = 0; i < SK_COST_COUNT; i++)
		if (i != SK_COST_CODE)
			sk_table_cell(&table, "%s", all.given >> i & 1 ? sk_cost_name(i) : "");
	for (uint32_t i = 0; i < plan->kernel_count; i++) {
		uint64_t size = (uint64_t)plan->kernels[i].code_size + plan->kernels[i].vector_code_size;

		if (!kernels[i].calls)
			continue;
		show_sums(show, &table, sk_show_name(show, &plan->kernels[i].name), &kernels[i], size);
		code += size;
	}
	show_sums(show, &table, "all", &all, code);
	sk_show_table(show, "steps, by kernel", &table);
}
