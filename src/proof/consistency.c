/* See consistency.h. A check compares what a record says with what follows from others, and says both. */
#include "src/proof/consistency.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/checked.h"
#include "src/proof/access.h"
#include "src/proof/calls.h"

enum {
	ALIGNMENT = 64, /* of temporaries, constants and scratch */
	MOST_HOMES = 128, /* of a lane in a launch */
};

struct consistency {
	struct sk_arena *arena;
	struct sk_diag *diag;
	const struct sk_plan_view *view;
	const char *file;
	const struct sk_task_call *places; /* by task: where the network runs it */
};

/* ---- errors ---- */

/* Returns false, always. */
__attribute__((format(printf, 2, 3))) static bool contradict(const struct consistency *check, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	sk_error(check->diag, (struct sk_place){.file = check->file}, "the plan contradicts itself: %s",
		 sk_arena_print_list(check->arena, format, args));
	va_end(args);
	return false;
}

/* `number` is what a record says, `follows` what follows from others. */
static bool same_number(const struct consistency *check, const char *whose, const char *what, uint64_t number,
			uint64_t follows)
{
	return number == follows || contradict(check, "%s: %s is %" PRIu64 ", and %" PRIu64 " by the rest of the plan",
					       whose, what, number, follows);
}

static bool same_text(const struct consistency *check, const char *whose, const char *what, const char *text,
		      const char *follows)
{
	return !strcmp(text, follows) ||
	       contradict(check, "%s: %s is '%s', and '%s' by the rest of the package", whose, what, text, follows);
}

static void raise(uint64_t *most, uint64_t other)
{
	*most = *most < other ? other : *most;
}

static uint64_t align(uint64_t value)
{
	return sk_align(value, ALIGNMENT, &value) ? value : UINT64_MAX;
}

/* ---- tables ---- */

struct part {
	const char *name;
	const struct sk_plan_table *table; /* NULL: the header */
	uint64_t start, end;
};

static int compare_parts(const void *a, const void *b)
{
	const struct part *one = a, *other = b;

	return (one->start > other->start) - (one->start < other->start);
}

/* What aligns a table is zeros. */
static bool is_padding(const struct sk_plan *plan, uint64_t from, uint64_t to)
{
	bool zero = to - from < 8;

	for (; from < to && zero; from++)
		zero = ((const uint8_t *)plan)[from] == 0;
	return zero;
}

/* Header and tables lie one behind the other, and nothing lies between them but what aligns them. */
static bool check_tables(const struct consistency *check)
{
	const struct sk_plan *plan = check->view->plan;
#define PART(name, type)                                                                                               \
	{                                                                                                              \
#name, &plan->name,                                                                                    \
			(uint64_t)((const char *)&plan->name.offset - (const char *)plan) +                            \
				(uint64_t)(int64_t)plan->name.offset,                                                  \
			plan->name.count *(uint64_t)sizeof(type)                                                       \
	}
	struct part parts[] = {
		{"header", NULL, 0, sizeof(*plan)},
		PART(lanes, int32_t),
		PART(launches, struct sk_plan_launch),
		PART(tasks, struct sk_plan_task),
		PART(costs, struct sk_plan_cost),
		PART(kernels, struct sk_plan_kernel),
		PART(tensors, struct sk_plan_tensor),
		PART(bindings, uint32_t),
		PART(steps, struct sk_plan_step),
		PART(calls, struct sk_plan_call),
		PART(awaits, struct sk_plan_await),
		PART(arguments, struct sk_plan_argument),
		PART(partitions, struct sk_plan_partition),
		PART(homes, struct sk_plan_home),
		PART(follows, uint32_t),
		PART(strings, char),
	};
#undef PART
	uint64_t end = 0;
	size_t count = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (!parts[i].end && parts[i].table->offset)
			return contradict(check, "the table of %s is empty and has a place", parts[i].name);
		parts[i].end += parts[i].start;
		if (parts[i].end != parts[i].start)
			parts[count++] = parts[i];
	}
	qsort(parts, count, sizeof(parts[0]), compare_parts);
	for (size_t i = 0; i < count; end = parts[i++].end)
		if (parts[i].start < end || !is_padding(plan, end, parts[i].start))
			return contradict(check,
					  "the table of %s begins at %" PRIu64 ", the one before it ends at %" PRIu64,
					  parts[i].name, parts[i].start, end);
	return same_number(check, "header", "its size", plan->size, end);
}

/* An owner's slice of a table begins where the one before it has ended, which is at *end. */
static bool check_slice(const struct consistency *check, const char *what, uint32_t first, uint32_t count,
			uint32_t *end)
{
	if (!same_number(check, what, "where a part begins", first, *end))
		return false;
	*end += count;
	return true;
}

static bool check_slices_of_steps(const struct consistency *check)
{
	const struct sk_plan_view *view = check->view;
	uint32_t arguments = 0, awaits = 0;

	for (uint32_t i = 0; i < view->step_count; i++)
		if (!check_slice(check, "awaits", view->steps[i].first_await, view->steps[i].await_count, &awaits))
			return false;
	for (uint32_t i = 0; i < view->call_count; i++)
		if (!check_slice(check, "arguments", view->calls[i].first_argument, view->calls[i].argument_count,
				 &arguments))
			return false;
	return same_number(check, "header", "the number of arguments", view->argument_count, arguments) &&
	       same_number(check, "header", "the number of awaits", view->await_count, awaits);
}

/* Every record belongs to somebody; that calls do, the plan's reader sees. */
static bool check_slices(const struct consistency *check)
{
	const struct sk_plan_view *view = check->view;
	uint32_t steps = 0, homes = 0, partitions = 0, follows = 0;

	for (uint32_t i = 0; i < view->launch_count; i++) {
		const struct sk_plan_launch *launch = &view->launches[i];

		if (!check_slice(check, "steps", launch->first_step, launch->step_count, &steps) ||
		    !check_slice(check, "homes", launch->first_home, launch->home_count, &homes) ||
		    !check_slice(check, "partitions", launch->first_partition, launch->partition_count, &partitions) ||
		    !check_slice(check, "follows", launch->first_follow, launch->follow_count, &follows))
			return false;
	}
	return same_number(check, "header", "the number of homes", view->home_count, homes) &&
	       same_number(check, "header", "the number of partitions", view->partition_count, partitions) &&
	       same_number(check, "header", "the number of follows", view->follow_count, follows) &&
	       check_slices_of_steps(check);
}

/* ---- launches ---- */

/* What the steps of a launch need. */
struct needs {
	uint64_t scratch, resident_cores[SK_MAX_LANES];
	bool early;
};

static struct needs needs_of(const struct sk_plan_view *view, const struct sk_plan_launch *launch)
{
	struct sk_plan_calls calls = sk_plan_launch_calls(view, launch);
	struct needs needs = {0};

	for (uint32_t i = 0; i < launch->step_count; i++) {
		const struct sk_plan_step *step = &view->steps[launch->first_step + i];

		needs.early |= step->flags & (SK_STEP_EARLY_WAIT | SK_STEP_EARLY_SET);
		if (step->flags & SK_STEP_RESIDENT)
			raise(&needs.resident_cores[step->lane], (uint64_t)step->first_core + step->blocks);
	}
	for (const struct sk_plan_call *call = calls.first; call < calls.end; call++)
		for (uint32_t i = 0; i < call->argument_count; i++) {
			const struct sk_plan_argument *argument = &view->arguments[call->first_argument + i];

			if (argument->kind == SK_ARGUMENT_SCRATCH)
				raise(&needs.scratch, align(argument->offset + argument->size));
		}
	return needs;
}

static bool check_needs(const struct consistency *check, const struct sk_plan_launch *launch)
{
	const char *name = sk_plan_string(&launch->name);
	struct needs needs = needs_of(check->view, launch);

	for (uint32_t lane = 0; lane < SK_MAX_LANES; lane++)
		if (!same_number(check, name, "its number of resident cores", launch->resident_cores[lane],
				 needs.resident_cores[lane]))
			return false;
	return same_number(check, name, "its scratch", launch->scratch_size, needs.scratch) &&
	       same_number(check, name, "its flag of early starts", !!(launch->flags & SK_LAUNCH_EARLY), needs.early);
}

/* Options are those of a scope that is fused. */
static bool check_options(const struct consistency *check, const struct sk_plan_launch *launch)
{
	const char *name = sk_plan_string(&launch->name);
	bool has_options = launch->func_align || launch->flags & ~SK_LAUNCH_EARLY || launch->preload || launch->copies;

	for (uint32_t lane = 0; lane < SK_MAX_LANES; lane++) {
		has_options |= launch->lane_cores[lane] != 0;
		if (lane >= check->view->lane_count && (launch->lane_cores[lane] || launch->device_cores[lane]))
			return contradict(check, "%s: it has cores in lane %u, which there is not", name, lane);
	}
	if (launch->kind == SK_LAUNCH_SUPERKERNEL)
		return launch->scope || contradict(check, "%s: a superkernel without a scope", name);
	if (launch->kind == SK_LAUNCH_SINGLE && launch->scope)
		return contradict(check, "%s: no superkernel, but a scope", name);
	return same_number(check, name, "its number of tasks", launch->task_count, 1) &&
	       (!has_options || contradict(check, "%s: options of a scope, and no superkernel", name));
}

/* A stream's home has its number. Where there are as many as can be, others share them. */
static bool check_home(const struct consistency *check, const struct sk_plan_launch *launch,
		       const struct sk_plan_step *step, bool seen)
{
	const struct sk_plan_view *view = check->view;
	struct sk_plan_calls calls = sk_plan_step_calls(view, step);

	for (const struct sk_plan_call *call = calls.first; call < calls.end; call++) {
		const struct sk_plan_task *task = &view->tasks[call->task];

		if (!(seen && launch->home_count >= MOST_HOMES) &&
		    !same_number(check, sk_plan_string(&task->name), "the stream of its home",
				 view->homes[step->core_set].stream, task->stream))
			return false;
	}
	return true;
}

static bool check_homes(const struct consistency *check, const struct sk_plan_launch *launch)
{
	const struct sk_plan_view *view = check->view;
	bool *homes = SK_NEW_ARRAY(check->arena, bool, launch->home_count);
	bool *partitions = SK_NEW_ARRAY(check->arena, bool, launch->partition_count);
	uint32_t unused = launch->home_count + launch->partition_count;

	for (uint32_t i = 0; i < launch->step_count; i++) {
		const struct sk_plan_step *step = &view->steps[launch->first_step + i];
		bool *used = step->core_set != SK_ALL_CORES   ? &homes[step->core_set - launch->first_home]
			     : step->partition != SK_NO_INDEX ? &partitions[step->partition - launch->first_partition]
							      : NULL;

		if (step->core_set != SK_ALL_CORES && !check_home(check, launch, step, *used))
			return false;
		unused -= used && !*used;
		if (used)
			*used = true;
	}
	return same_number(check, sk_plan_string(&launch->name), "the number of homes and partitions without a step",
			   unused, 0);
}

/* Progress is published if and only if somebody awaits it, and times are noted of all steps or of none. */
static bool check_flags(const struct consistency *check, const struct sk_plan_launch *launch)
{
	const struct sk_plan_view *view = check->view;
	const struct sk_plan_step *steps = &view->steps[launch->first_step];
	bool *awaited = SK_NEW_ARRAY(check->arena, bool, launch->step_count);

	for (uint32_t i = launch->step_count; i-- > 0;) {
		const char *name = sk_plan_string(&sk_plan_step_task(view, &steps[i])->name);

		for (uint32_t a = 0; a < steps[i].await_count; a++)
			awaited[view->awaits[steps[i].first_await + a].step - launch->first_step] = true;
		if (!same_number(check, name, "whether its end is published", !!(steps[i].flags & SK_STEP_PUBLISH),
				 awaited[i]) ||
		    !same_number(check, name, "whether its times are noted", !!(steps[i].flags & SK_STEP_TIMED),
				 !!(steps[0].flags & SK_STEP_TIMED)))
			return false;
	}
	return true;
}

/* A task that could not be fused is launched by itself, outside of its scope. */
static bool check_tasks_of(const struct consistency *check, const struct sk_plan_launch *launch)
{
	const struct sk_plan_view *view = check->view;
	struct sk_plan_calls calls = sk_plan_launch_calls(view, launch);
	const struct sk_plan_task *first = &view->tasks[calls.first->task];
	const char *name = sk_plan_string(&launch->name);

	for (const struct sk_plan_call *call = calls.first; call < calls.end && launch->kind != SK_LAUNCH_SINGLE;
	     call++) {
		const struct sk_plan_task *task = &view->tasks[call->task];

		if (!same_text(check, sk_plan_string(&task->name), "its scope", sk_plan_string(&task->scope),
			       sk_plan_string(&launch->scope)))
			return false;
	}
	return same_number(check, name, "its stream", launch->stream, first->stream);
}

static bool check_launches(const struct consistency *check)
{
	const struct sk_plan_view *view = check->view;
	uint64_t resident_cores[SK_MAX_LANES] = {0};
	bool sound = true;

	for (uint32_t l = 0; l < view->launch_count; l++) {
		const struct sk_plan_launch *launch = &view->launches[l];

		sound &= check_needs(check, launch) && check_options(check, launch) && check_homes(check, launch) &&
			 check_flags(check, launch) && check_tasks_of(check, launch);
		for (uint32_t lane = 0; lane < SK_MAX_LANES; lane++)
			raise(&resident_cores[lane], launch->resident_cores[lane]);
	}
	for (uint32_t lane = 0; lane < SK_MAX_LANES; lane++)
		sound &= same_number(check, "header", "the number of resident cores", view->plan->resident_cores[lane],
				     resident_cores[lane]);
	return sound;
}

/* ---- tasks and their own entries ---- */

/* The argument, with an offset from the start of its tensor. */
static struct sk_plan_argument without_place(const struct sk_plan_view *view, const struct sk_plan_launch *launch,
					     const struct sk_plan_argument *argument)
{
	struct sk_plan_argument copy = *argument;

	if (sk_access_reads(argument) || sk_access_writes(argument))
		if (argument->kind != SK_ARGUMENT_STATE)
			copy.offset -= sk_plan_tensor_start(launch, &view->tensors[argument->tensor]);
	return copy;
}

/* What has nothing to do with the launch is the same in both. */
static bool same_call(const struct consistency *check, const struct sk_plan_call *call, const struct sk_plan_call *own)
{
	const struct sk_plan_view *view = check->view;
	const struct sk_plan_task *task = &view->tasks[call->task];

	if (call->task != own->task || call->flags != own->flags || call->argument_count != own->argument_count)
		return false;
	for (uint32_t i = 0; i < call->argument_count; i++) {
		struct sk_plan_argument one =
			without_place(view, &view->launches[task->launch], &view->arguments[call->first_argument + i]);
		struct sk_plan_argument other = without_place(view, &view->launches[task->task_launch],
							      &view->arguments[own->first_argument + i]);

		if (memcmp(&one, &other, sizeof(one)) != 0)
			return false;
	}
	return true;
}

/* The same of the steps; what a step with several calls does for the sake of another one of them is not asked. */
static bool same_step(const struct sk_plan_step *step, const struct sk_plan_step *own)
{
	uint32_t launchs = SK_STEP_PUBLISH | SK_STEP_TIMED | SK_STEP_FLUSH_BEFORE | SK_STEP_FLUSH_AFTER |
			   SK_STEP_EARLY_WAIT | SK_STEP_EARLY_SET | (step->call_count > 1 ? SK_STEP_NONTEMPORAL : 0);

	return step->lane == own->lane && step->kind == own->kind &&
	       (step->flags & ~launchs) == (own->flags & ~launchs) && step->blocks == own->blocks &&
	       step->first_core == own->first_core && step->extent == own->extent;
}

static bool check_entry(const struct consistency *check, uint32_t number)
{
	const struct sk_plan_view *view = check->view;
	const struct sk_plan_task *task = &view->tasks[number];
	const struct sk_plan_launch *entry = &view->launches[task->task_launch];
	const struct sk_plan_step *step = &view->steps[check->places[number].step];
	const struct sk_plan_step *own = &view->steps[entry->first_step];
	const struct sk_plan_call *call = &view->calls[check->places[number].call];
	const struct sk_plan_call *own_call = sk_plan_launch_calls(view, entry).first;
	const char *name = sk_plan_string(&task->name);

	for (uint32_t i = 0; i < entry->step_count; i++)
		if (!same_step(&step[i], &own[i]) || !same_call(check, &call[i], &own_call[i]))
			return contradict(check, "%s: its own entry calls the kernel in another way than its launch",
					  name);
	return same_text(check, name, "its entry", sk_plan_string(&entry->name),
			 sk_arena_print(check->arena, "sk_unfused_%s", name));
}

/* Costs stand in the order of their tasks; only mix tasks have one for each side. */
static bool check_costs(const struct consistency *check)
{
	const struct sk_plan_view *view = check->view;
	uint32_t next = 0;

	for (uint32_t i = 0; i < view->task_count; i++) {
		const struct sk_plan_task *task = &view->tasks[i];
		bool mix = view->steps[check->places[i].step].flags & SK_STEP_CUBE_SIDE;

		if ((task->cost != SK_NO_INDEX && task->cost != next++) ||
		    (task->vector_cost != SK_NO_INDEX && (!mix || task->vector_cost != next++)))
			return contradict(check, "the cost of task '%s' is another one's", sk_plan_string(&task->name));
	}
	return same_number(check, "header", "the number of costs", view->cost_count, next);
}

static bool check_tasks(const struct consistency *check)
{
	const struct sk_plan_view *view = check->view;
	uint32_t entries = view->launch_count - view->network_launch_count;
	bool sound = check_costs(check);

	for (uint32_t i = 0; i < view->task_count; i++)
		if (entries && view->tasks[i].task_launch == SK_NO_INDEX)
			sound = contradict(check, "%s: it has no entry, but other tasks have",
					   sk_plan_string(&view->tasks[i].name));
		else if (entries)
			sound &= check_entry(check, i);
	return sound;
}

/* ---- tensors ---- */

static enum sk_space space_of(enum sk_role role)
{
	switch (role) {
	case SK_ROLE_INPUT:
	case SK_ROLE_OUTPUT:
	case SK_ROLE_INOUT:
		return SK_SPACE_BINDING;
	case SK_ROLE_CONSTANT:
		return SK_SPACE_CONSTANT;
	case SK_ROLE_TEMPORARY:
		return SK_SPACE_WORKSPACE;
	default:
		return SK_SPACE_NONE;
	}
}

/* Only what is read from outside has one, and it is two numbers, the greater one last. */
static bool check_range(const struct consistency *check, const struct sk_plan_tensor *tensor)
{
	const char *name = sk_plan_string(&tensor->name);
	double low, high;
	int end = -1;

	if (!tensor->range)
		return true;
	if (tensor->role != SK_ROLE_INPUT && tensor->role != SK_ROLE_INOUT)
		return contradict(check, "%s: only inputs and inouts have a range of random values", name);
	if (sscanf(sk_plan_string(&tensor->range), "%lf %lf%n", &low, &high, &end) != 2 ||
	    sk_plan_string(&tensor->range)[end] || !(low <= high))
		return contradict(check, "%s: its range of random values is not two numbers in order", name);
	return true;
}

static bool check_tensor(const struct consistency *check, const struct sk_plan_tensor *tensor)
{
	const char *name = sk_plan_string(&tensor->name);
	bool bound = tensor->space == SK_SPACE_BINDING;
	uint64_t rest = 0;

	for (uint32_t d = tensor->rank; d < SK_MAX_RANK; d++)
		rest |= tensor->shape[d];
	if (rest)
		return contradict(check, "%s: it has more dimensions than %u", name, tensor->rank);
	if (!bound && tensor->index)
		return contradict(check, "%s: only what is bound has a number", name);
	if (tensor->space != SK_SPACE_WORKSPACE && tensor->unshared_offset)
		return contradict(check, "%s: only temporaries lie in the unshared workspace", name);
	if ((bound || tensor->space == SK_SPACE_NONE) && tensor->offset)
		return contradict(check, "%s: it has an offset of its own", name);
	if (tensor->offset % ALIGNMENT || tensor->unshared_offset % ALIGNMENT)
		return contradict(check, "%s: it is not aligned to %d bytes", name, ALIGNMENT);
	return same_number(check, name, "where it lies", tensor->space, space_of(tensor->role)) &&
	       (!bound || same_number(check, name, "what is bound as its number", check->view->bindings[tensor->index],
				      (uint64_t)(tensor - check->view->tensors)));
}

struct use {
	bool read, written, read_first; /* in the network's order; a task reads before it writes */
};

static void note_access(const struct sk_plan_argument *argument, bool write, struct use *uses)
{
	struct use *use = &uses[argument->tensor];

	if (argument->kind == SK_ARGUMENT_STATE || !(write ? sk_access_writes(argument) : sk_access_reads(argument)))
		return;
	use->read_first |= !write && !use->written;
	*(write ? &use->written : &use->read) = true;
}

static struct use *collect_uses(const struct consistency *check)
{
	const struct sk_plan_view *view = check->view;
	struct use *uses = SK_NEW_ARRAY(check->arena, struct use, view->tensor_count);

	for (uint32_t t = 0; t < view->task_count; t++) {
		const struct sk_plan_call *call = &view->calls[check->places[t].call];

		for (uint32_t i = 0; i < 2u * call->argument_count; i++)
			note_access(&view->arguments[call->first_argument + i % call->argument_count],
				    i >= call->argument_count, uses);
	}
	return uses;
}

static bool check_role(const struct consistency *check, const struct sk_plan_tensor *tensor, const struct use *use)
{
	const char *name = sk_plan_string(&tensor->name);
	bool made_inside = tensor->role == SK_ROLE_OUTPUT || tensor->role == SK_ROLE_TEMPORARY;

	if (use->written && (tensor->role == SK_ROLE_INPUT || tensor->role == SK_ROLE_CONSTANT))
		return contradict(check, "%s: it is an input or a constant, and a task writes it", name);
	if (use->read_first && made_inside)
		return contradict(check, "%s: it is an output or a temporary, and a task reads it before one writes it",
				  name);
	return use->written || !made_inside ||
	       contradict(check, "%s: it is an output or a temporary, and no task writes it", name);
}

static int compare_unshared(const void *a, const void *b)
{
	const struct sk_plan_tensor *one = *(const struct sk_plan_tensor *const *)a;
	const struct sk_plan_tensor *other = *(const struct sk_plan_tensor *const *)b;

	return (one->unshared_offset > other->unshared_offset) - (one->unshared_offset < other->unshared_offset);
}

/* Tasks that run one by one come in any order that the caller likes, so no two temporaries share bytes there. */
static bool check_unshared(const struct consistency *check)
{
	const struct sk_plan_view *view = check->view;
	const struct sk_plan_tensor **temporaries =
		SK_NEW_ARRAY(check->arena, const struct sk_plan_tensor *, view->tensor_count);
	uint32_t count = 0;

	for (uint32_t i = 0; i < view->tensor_count; i++)
		if (view->tensors[i].space == SK_SPACE_WORKSPACE)
			temporaries[count++] = &view->tensors[i];
	qsort(temporaries, count, sizeof(*temporaries), compare_unshared);
	for (uint32_t i = 1; i < count; i++)
		if (temporaries[i]->unshared_offset - temporaries[i - 1]->unshared_offset < temporaries[i - 1]->bytes)
			return contradict(check, "'%s' and '%s' share bytes of the unshared workspace",
					  sk_plan_string(&temporaries[i - 1]->name),
					  sk_plan_string(&temporaries[i]->name));
	return true;
}

static bool check_tensors(const struct consistency *check)
{
	const struct sk_plan_view *view = check->view;
	const struct use *uses = collect_uses(check);
	uint64_t workspace = 0, unshared = 0, constants = 0;
	bool sound = true;

	for (uint32_t i = 0; i < view->tensor_count; i++) {
		const struct sk_plan_tensor *tensor = &view->tensors[i];

		sound &= check_tensor(check, tensor) && check_range(check, tensor) &&
			 check_role(check, tensor, &uses[i]);
		if (tensor->space == SK_SPACE_WORKSPACE) {
			raise(&workspace, align(tensor->offset + tensor->bytes));
			raise(&unshared, align(tensor->unshared_offset + tensor->bytes));
		} else if (tensor->space == SK_SPACE_CONSTANT) {
			sound &= same_number(check, sk_plan_string(&tensor->name), "where it begins", tensor->offset,
					     align(constants));
			constants = tensor->offset + tensor->bytes;
		}
	}
	return sound && same_number(check, "header", "the workspace", view->plan->workspace_size, workspace) &&
	       same_number(check, "header", "the unshared workspace", view->plan->unshared_workspace_size, unshared) &&
	       same_number(check, "header", "what constants take", view->plan->constants_size, constants) &&
	       check_unshared(check);
}

/* ---- kernels ---- */

/* Copies are functions of their own and equal the kernel in all else. */
static bool check_copy(const struct consistency *check, const struct sk_plan_kernel *kernel, uint32_t number)
{
	const struct sk_plan_kernel *copy = &check->view->kernels[kernel->first_copy + number - 1];
	const char *symbol = sk_plan_string(&kernel->symbol);
	const char *whose = sk_arena_print(check->arena, "copy %u of %s", number, sk_plan_string(&kernel->name));

	return same_text(check, whose, "its name", sk_plan_string(&copy->name), sk_plan_string(&kernel->name)) &&
	       same_text(check, whose, "its signature", sk_plan_string(&copy->signature),
			 sk_plan_string(&kernel->signature)) &&
	       same_text(check, whose, "its symbol", sk_plan_string(&copy->symbol),
			 sk_arena_print(check->arena, "%s.split%u", symbol, number)) &&
	       same_number(check, whose, "its instruction sets", copy->isa, kernel->isa) &&
	       same_number(check, whose, "its size", copy->code_size, kernel->code_size) &&
	       same_number(check, whose, "the size of its vector side", copy->vector_code_size,
			   kernel->vector_code_size) &&
	       same_number(check, whose, "the copy of a copy", copy->first_copy, 0);
}

/* As many copies as the greediest launch takes, in the order of the kernels. */
static bool check_kernels(const struct consistency *check)
{
	const struct sk_plan_view *view = check->view;
	uint32_t *wanted = SK_NEW_ARRAY(check->arena, uint32_t, view->kernel_count);
	uint32_t copies = 0, next;
	bool sound = true;

	for (uint32_t i = 0; i < view->task_count; i++) {
		uint32_t *most = &wanted[view->tasks[i].kernel], taken = view->launches[view->tasks[i].launch].copies;

		*most = taken > *most + 1 ? taken - 1 : *most;
	}
	for (uint32_t i = 0; i < view->kernel_count; i++)
		copies += wanted[i];
	if (copies > view->kernel_count)
		return contradict(check, "launches take more copies of kernels than there are");
	next = view->kernel_count - copies;
	for (uint32_t i = 0; i < view->kernel_count; i++) {
		const struct sk_plan_kernel *kernel = &view->kernels[i];

		if (!same_number(check, sk_plan_string(&kernel->name), "its first copy", kernel->first_copy,
				 wanted[i] ? next : 0))
			return false;
		for (uint32_t copy = 1; copy <= wanted[i]; copy++)
			sound &= check_copy(check, kernel, copy);
		next += wanted[i];
	}
	return sound;
}

/* ---- the account ---- */

/* What ends a field there is a blank in it; a scope that there is not is '-'. */
static bool same_field(const char *field, const char *text)
{
	for (; *field && (*field == *text || (*field == ' ' && strchr("\t\n\r", *text))); field++)
		text++;
	return *field == *text;
}

static bool check_entry_of_account(const struct consistency *check, const struct sk_account_entry *entry,
				   uint32_t number)
{
	const struct sk_plan_task *task = &check->view->tasks[number];
	const char *name = sk_plan_string(&task->name), *scope = sk_plan_string(&task->scope);

	if (!same_number(check, "the account", "the number of a task", entry->task, number))
		return false;
	if (!same_field(entry->name, name))
		return contradict(check, "task '%s' is '%s' in the account", name, entry->name);
	if (entry->scope ? !same_field(entry->scope, scope) : *scope && strcmp(scope, "-") != 0)
		return contradict(check, "the scope of task '%s' is '%s', and '%s' in the account", name, scope,
				  entry->scope ? entry->scope : "");
	return same_number(check, name, "its launch in the account", entry->launch, task->launch);
}

static bool check_account(const struct consistency *check, const struct sk_account *account)
{
	const struct sk_plan_view *view = check->view;

	if (!same_number(check, "the account", "its number of tasks", account->count, view->task_count))
		return false;
	for (uint32_t i = 0; i < view->task_count; i++)
		if (!check_entry_of_account(check, &account->entries[i], i))
			return false;
	return true;
}

bool sk_consistency_check(struct sk_arena *arena, struct sk_diag *diag, const struct sk_plan_view *view,
			  const char *file, const struct sk_account *account)
{
	struct consistency check = {.arena = arena, .diag = diag, .view = view, .file = file};
	bool sound = sk_calls_check(arena, diag, view, file);

	check.places = sk_find_calls(arena, view);
	sound &= check_tables(&check) && check_slices(&check);
	sound &= check_launches(&check);
	sound &= check_tasks(&check);
	sound &= check_tensors(&check);
	sound &= check_kernels(&check);
	return sound && (!account || check_account(&check, account));
}
