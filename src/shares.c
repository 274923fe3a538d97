/* The tables of kernels and tasks in the map; see shares.h. */
#include "shares.h"

#include <inttypes.h>
#include <string.h>

struct shares {
	struct sk_arena *arena;
	SK_ARRAY(char) text;
};

static void add(struct shares *shares, const char *line)
{
	for (; *line; line++)
		sk_array_push(shares->arena, &shares->text, *line);
}

static void add_kernel(struct shares *shares, const struct sk_reach *reach, uint32_t tasks, const char *name)
{
	for (int kind = 0; kind < SK_REACH_KINDS; kind++)
		add(shares, sk_arena_print(shares->arena, "%10" PRIu64 " %10" PRIu64 " ", reach->own[kind],
					   reach->shared[kind]));
	add(shares, sk_arena_print(shares->arena, "%8u %s\n", tasks, name));
}

static void add_kernels(struct shares *shares, const struct sk_model *model, const struct sk_plan_view *plan,
			struct sk_linker *linker)
{
	size_t count = model->kernels.count;
	sk_symbol *codes = SK_NEW_ARRAY(shares->arena, sk_symbol, count);
	uint32_t *tasks = SK_NEW_ARRAY(shares->arena, uint32_t, count);
	struct sk_reach *reaches = SK_NEW_ARRAY(shares->arena, struct sk_reach, count), total;

	for (size_t i = 0; i < count; i++)
		codes[i] = model->kernels.items[i].code;
	for (uint32_t i = 0; i < plan->task_count; i++)
		tasks[plan->tasks[i].kernel]++;
	sk_linker_measure(linker, codes, count, reaches, &total);
	add(shares, "\n      Text     shared  Read-only     shared   Writable     shared    Tasks Kernel\n");
	for (size_t i = 0; i < count; i++)
		add_kernel(shares, &reaches[i], tasks[i], sk_plan_string(&plan->kernels[i].name));
	add_kernel(shares, &total, plan->task_count, "<total>");
}

static void add_task(struct shares *shares, const struct sk_task_code *code, const char *name, const char *launch,
		     const char *kernel)
{
	add(shares,
	    sk_arena_print(shares->arena, "%10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %s%s%s%s%s\n", code->dispatcher,
			   code->serial, code->entries, name, *launch ? " " : "", launch, *kernel ? " " : "", kernel));
}

static void add_tasks(struct shares *shares, const struct sk_plan_view *plan, const struct sk_package_code *code)
{
	struct sk_task_code total = {0};

	add(shares, "\nDispatcher     Serial    Entries Task Launch Kernel\n");
	for (uint32_t i = 0; i < plan->task_count; i++) {
		const struct sk_plan_task *task = &plan->tasks[i];

		add_task(shares, &code->tasks[i], sk_plan_string(&task->name),
			 sk_plan_string(&plan->launches[task->launch].name),
			 sk_plan_string(&plan->kernels[task->kernel].name));
		total.dispatcher += code->tasks[i].dispatcher;
		total.serial += code->tasks[i].serial;
		total.entries += code->tasks[i].entries;
	}
	add_task(shares, &total, "<total>", "", "");
	add(shares, sk_arena_print(shares->arena, "%10" PRIu64 " %10s %10s <beginnings and ends of functions>\n",
				   code->size - total.dispatcher - total.serial - total.entries, "", ""));
}

const char *sk_shares_text(const struct sk_model *model, const struct sk_plan_view *plan,
			   const struct sk_package_code *code, struct sk_linker *linker)
{
	struct shares shares = {.arena = model->arena};

	add_kernels(&shares, model, plan, linker);
	add_tasks(&shares, plan, code);
	sk_array_push(shares.arena, &shares.text, '\0');
	return shares.text.items;
}
