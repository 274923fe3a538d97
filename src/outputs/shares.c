/* The tables of kernels and tasks in the map; see outputs-parts.h. */
#include "src/outputs/outputs-parts.h"

#include <inttypes.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/plan/plan.h"
#include "format/skplan.h"
#include "linker/linker.h"
#include "src/model/model.h"
#include "src/package/package.h"

struct shares {
	struct sk_arena *arena;
	SK_ARRAY(char) text;
};

static void add_text(struct shares *shares, const char *line)
{
	for (; *line; line++)
		sk_array_push(shares->arena, &shares->text, *line);
}

static void add_kernel(struct shares *shares, const struct sk_reach *reach, uint32_t tasks, const char *name)
{
	for (int kind = 0; kind < SK_REACH_KINDS; kind++)
		add_text(shares, sk_arena_print(shares->arena, "%10" PRIu64 " %10" PRIu64 " ", reach->own[kind],
						reach->shared[kind]));
	add_text(shares, sk_arena_print(shares->arena, "%8u %s\n", tasks, sk_arena_escape(shares->arena, name)));
}

static struct sk_roots roots_of(struct sk_arena *arena, const struct sk_model *model, const struct sk_kernel *kernel)
{
	SK_ARRAY(sk_symbol) symbols = {0};
	sk_symbol symbol;

	while ((symbol = sk_kernel_root(model, kernel, (uint32_t)symbols.count)) != SK_NONE)
		sk_array_push(arena, &symbols, symbol);
	return (struct sk_roots){symbols.items, symbols.count};
}

static void add_kernels(struct shares *shares, const struct sk_model *model, const struct sk_plan_view *plan,
			struct sk_linker *linker)
{
	size_t count = model->kernels.count;
	struct sk_roots *roots = SK_NEW_ARRAY(shares->arena, struct sk_roots, count);
	uint32_t *tasks = SK_NEW_ARRAY(shares->arena, uint32_t, count);
	struct sk_reach *reaches = SK_NEW_ARRAY(shares->arena, struct sk_reach, count), total;

	for (size_t i = 0; i < count; i++)
		roots[i] = roots_of(shares->arena, model, &model->kernels.items[i]);
	for (uint32_t i = 0; i < plan->task_count; i++)
		tasks[plan->tasks[i].kernel]++;
	sk_linker_measure(linker, roots, count, reaches, &total);
	add_text(shares, "\n      Text     shared  Read-only     shared   Writable     shared    Tasks Kernel\n");
	for (size_t i = 0; i < count; i++)
		add_kernel(shares, &reaches[i], tasks[i], sk_plan_string(&plan->kernels[i].name));
	add_kernel(shares, &total, plan->task_count, "<total>");
}

/* Bytes of code that belong to a task. */
struct task_code {
	uint64_t dispatcher; /* in the launch that runs it, all lanes */
	uint64_t serial; /* in that launch's serial entry */
	uint64_t entries; /* in its own entries, parallel and serial, without the functions' prologues and epilogues */
};

static uint64_t *share_of(struct task_code *code, const struct sk_plan_launch *launch, bool serial)
{
	if (sk_plan_form(launch)->kind == SK_LAUNCH_TASK)
		return &code->entries;
	return serial ? &code->serial : &code->dispatcher;
}

/* Add the bytes of one function to their tasks. *part is the end of the previous function. */
static void measure_function(const struct sk_code *code, const struct sk_code_symbol *function,
			     const struct sk_plan_launch *launch, bool serial, size_t *part, struct task_code *tasks)
{
	uint64_t end = function->offset + function->size;

	for (; *part < code->parts.count && code->parts.items[*part].offset < end; ++*part) {
		const struct sk_code_part *this = &code->parts.items[*part];
		uint64_t next = *part + 1 < code->parts.count ? this[1].offset : end;

		if (!this->frame)
			*share_of(&tasks[this->task], launch, serial) += (next < end ? next : end) - this->offset;
	}
}

static void measure_tasks(const struct sk_plan_view *plan, const struct sk_entries *made, struct task_code *tasks)
{
	size_t part = 0;

	for (size_t i = 0; i < made->entries.count; i++) {
		const struct sk_entry *entry = &made->entries.items[i];
		size_t end = i + 1 < made->entries.count ? entry[1].parallel : made->code.symbols.count;

		for (size_t s = entry->parallel; s < end; s++)
			measure_function(&made->code, &made->code.symbols.items[s], &plan->launches[entry->launch],
					 s >= entry->serial, &part, tasks);
	}
}

static void add_task(struct shares *shares, const struct task_code *code, const char *name, const char *launch,
		     const char *kernel)
{
	add_text(shares, sk_arena_print(shares->arena, "%10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %s%s%s%s%s\n",
					code->dispatcher, code->serial, code->entries,
					sk_arena_escape(shares->arena, name), *launch ? " " : "", launch,
					*kernel ? " " : "", sk_arena_escape(shares->arena, kernel)));
}

static void add_tasks(struct shares *shares, const struct sk_plan_view *plan,
		      const struct sk_entries entries[SK_ENTRIES])
{
	struct task_code *tasks = SK_NEW_ARRAY(shares->arena, struct task_code, plan->task_count), total = {0};

	for (int i = 0; i < SK_ENTRIES; i++)
		measure_tasks(plan, &entries[i], tasks);
	add_text(shares, "\nDispatcher     Serial    Entries Task Launch Kernel\n");
	for (uint32_t i = 0; i < plan->task_count; i++) {
		const struct sk_plan_task *task = &plan->tasks[i];

		add_task(shares, &tasks[i], sk_plan_string(&task->name),
			 sk_plan_string(&plan->launches[task->launch].name),
			 sk_plan_string(&plan->kernels[task->kernel].name));
		total.dispatcher += tasks[i].dispatcher;
		total.serial += tasks[i].serial;
		total.entries += tasks[i].entries;
	}
	add_task(shares, &total, "<total>", "", "");
	add_text(shares,
		 sk_arena_print(shares->arena, "%10" PRIu64 " %10s %10s <beginnings and ends of functions, thunks>\n",
				sk_entries_size(entries) - total.dispatcher - total.serial - total.entries, "", ""));
}

const char *sk_shares_text(const struct sk_model *model, const struct sk_plan_view *plan,
			   const struct sk_entries entries[SK_ENTRIES], struct sk_linker *linker)
{
	struct shares shares = {.arena = model->arena};

	add_kernels(&shares, model, plan, linker);
	add_tasks(&shares, plan, entries);
	sk_array_push(shares.arena, &shares.text, '\0');
	return shares.text.items;
}
