/* An unfused run that watches its tasks: the bytes that a task only reads (`in`) are compared before and after it.
 * Inputs and constants are mapped read-only anyway, so this is about temporaries, and about outputs and inouts that
 * other tasks write. On a device with checks tensors lie elsewhere, and are guarded there. */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/plan/plan.h"
#include "format/skplan.h"
#include "format/skrows.h"
#include "loader/flight/flight.h"
#include "loader/skrun/skrun.h"

/* Bytes that a task only reads. */
struct watched {
	const struct sk_plan_call *call;
	const struct sk_plan_argument *argument;
	const char *base; /* of the argument's space */
	struct sk_rows rows; /* from there */
	size_t copy; /* offset of the bytes before the task */
};

struct watch {
	struct watched *items;
	uint32_t count;
	char *copies;
	size_t size;
};

/* Return the start of the argument's space when tasks run by themselves; NULL: it is read-only. */
static const char *base_of(const struct sk_session *session, const struct sk_plan_argument *argument)
{
	if (argument->space == SK_SPACE_WORKSPACE)
		return session->instance->workspaces[1].memory;
	if (argument->space != SK_SPACE_BINDING)
		return NULL;

	uint32_t slot = argument->index - session->network.first_tensor;
	bool is_output = slot < session->slot_count && sk_slot_is_output(&session->slots[slot]);

	return is_output ? session->slots[slot].data : NULL;
}

/* Return whether the task writes some of the bytes through another argument, in place. */
static bool is_written(const struct sk_plan_view *plan, struct sk_plan_calls calls,
		       const struct sk_plan_argument *argument)
{
	struct sk_rows rows = sk_plan_rows(plan, argument);

	for (const struct sk_plan_call *call = calls.first; call < calls.end; call++)
		for (uint32_t i = 0; i < call->argument_count; i++) {
			const struct sk_plan_argument *other = &sk_plan_arguments(plan, call)[i];

			if (!(sk_plan_access(other) & SK_ACCESS_WRITE) || other->space != argument->space ||
			    other->index != argument->index || !other->size)
				continue;

			struct sk_rows written = sk_plan_rows(plan, other);

			if (sk_rows_overlap(&rows, &written))
				return true;
		}
	return false;
}

static void add_argument(struct watch *watch, const struct sk_session *session, const struct sk_plan_call *call,
			 const struct sk_plan_argument *argument)
{
	struct sk_rows rows = sk_plan_rows(session->plan, argument);

	watch->items[watch->count++] = (struct watched){call, argument, base_of(session, argument), rows, watch->size};
	watch->size += rows.width * rows.count;
}

/* False: no memory. */
static bool choose_arguments(struct watch *watch, const struct sk_session *session, struct sk_plan_calls calls)
{
	const struct sk_plan_view *plan = session->plan;
	size_t arguments = 0;

	for (const struct sk_plan_call *call = calls.first; call < calls.end; call++)
		arguments += call->argument_count;
	watch->items = calloc(arguments + 1, sizeof(*watch->items));
	for (const struct sk_plan_call *call = calls.first; call < calls.end && watch->items; call++)
		for (uint32_t i = 0; i < call->argument_count; i++) {
			const struct sk_plan_argument *argument = &sk_plan_arguments(plan, call)[i];

			if (sk_plan_access(argument) == SK_ACCESS_READ && argument->size &&
			    base_of(session, argument) && !is_written(plan, calls, argument))
				add_argument(watch, session, call, argument);
		}
	watch->copies = malloc(watch->size + 1);
	return watch->items && watch->copies;
}

static void keep_bytes(const struct watch *watch)
{
	for (uint32_t i = 0; i < watch->count; i++) {
		const struct watched *item = &watch->items[i];

		for (uint64_t row = 0; row < item->rows.count; row++)
			memcpy(watch->copies + item->copy + row * item->rows.width,
			       item->base + item->rows.start + row * item->rows.stride, item->rows.width);
	}
}

/* Print an error if the bytes have changed. */
static bool is_same(const struct sk_session *session, const struct watch *watch, const struct watched *item)
{
	const struct sk_plan_view *plan = session->plan;
	const struct sk_plan_tensor *tensor = &plan->tensors[item->argument->tensor];
	const struct sk_plan_launch *launch = &plan->launches[plan->tasks[item->call->task].task_launch];

	for (uint64_t row = 0; row < item->rows.count; row++) {
		uint64_t offset = item->rows.start + row * item->rows.stride, at = 0;
		const char *before = watch->copies + item->copy + row * item->rows.width, *now = item->base + offset;

		if (!memcmp(before, now, item->rows.width))
			continue;
		while (before[at] == now[at])
			at++;
		sk_skrun_error("task '%s': kernel %s has written at byte %" PRIu64
			       " of tensor '%s', which it may only read ('in' in its signature)",
			       sk_plan_string(&plan->tasks[item->call->task].name),
			       sk_plan_string(&plan->kernels[item->call->kernel].name),
			       offset + at - sk_plan_tensor_start(launch, tensor), sk_plan_string(&tensor->name));
		return false;
	}
	return true;
}

static bool run_task(struct sk_session *session, const struct skrt_kernel *kernel, struct watch *watch)
{
	const struct sk_plan_view *plan = session->plan;
	bool good = true;

	if (!sk_succeeded(sk_module_check_steps(kernel)))
		return false;
	if (!session->instance->guard &&
	    !choose_arguments(watch, session, sk_plan_launch_calls(plan, &plan->launches[kernel->launch]))) {
		sk_skrun_error("no memory for copies of the tensors that %s reads", kernel->name);
		return false;
	}
	keep_bytes(watch);
	if (!sk_succeeded(skrt_run(session->streams[0], session->instance, kernel)))
		return false;
	for (uint32_t i = 0; i < watch->count && good; i++)
		good = is_same(session, watch, &watch->items[i]);
	return good;
}

bool sk_session_run_watched(struct sk_session *session)
{
	bool good = true;

	for (uint32_t i = 0; i < session->network.task_count && good; i++) {
		const struct skrt_kernel *kernel;
		struct watch watch = {0};

		good = sk_succeeded(skrt_module_task(session->module, session->network.first_task + i, &kernel)) &&
		       run_task(session, kernel, &watch);
		free(watch.items);
		free(watch.copies);
	}
	return good;
}
