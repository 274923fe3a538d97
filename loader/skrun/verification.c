/* The comparison of fused and serial runs with an unfused one, bit for bit: each begins with the same bytes, and with
 * poison where it is to write. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "loader/flight/kernel.h"
#include "loader/flight/module.h"
#include "loader/npy/npy.h"
#include "loader/skrun/messages.h"
#include "loader/skrun/progress.h"
#include "loader/skrun/session.h"

enum {
	POISON = 0xa5, /* in outputs before a run */
	WORKSPACE_POISON = 0xff, /* NaN in every floating-point type: what is read too early shows */
	MOST_FEWER = 2, /* cores: one computes all, two share all */
};

/* Copies of what the runs start from and lead to. */
static bool make_copies(struct sk_session *session)
{
	for (uint32_t i = 0; i < session->slot_count; i++) {
		struct sk_slot *slot = &session->slots[i];

		if (!sk_slot_is_output(slot))
			continue;
		slot->start = sk_session_allocate(&slot->tensor);
		slot->reference = sk_session_allocate(&slot->tensor);
		if (!slot->start || !slot->reference) {
			sk_skrun_error("no memory for copies of tensor '%s' (%" PRIu64 " bytes each)",
				       slot->tensor.name, slot->tensor.bytes);
			return false;
		}
		if (sk_slot_is_input(slot))
			memcpy(slot->start, slot->data, slot->tensor.bytes);
		else
			memset(slot->start, POISON, slot->tensor.bytes);
	}
	return true;
}

static void reset_tensors(struct sk_session *session)
{
	for (uint32_t i = 0; i < session->slot_count; i++)
		if (sk_slot_is_output(&session->slots[i]))
			memcpy(session->slots[i].data, session->slots[i].start, session->slots[i].tensor.bytes);
}

/* Puts everything that a run may write back to where all runs start: nothing of the run before is left to be taken for
 * a result. What runs once will run again. */
static bool reset(struct sk_session *session)
{
	reset_tensors(session);
	return sk_succeeded(skrt_instance_fill_workspace(session->instance, WORKSPACE_POISON));
}

static void print_index(const struct skrt_tensor *tensor, uint64_t flat, char *text, size_t size)
{
	uint64_t index[SKRT_MAX_RANK];

	for (uint32_t i = tensor->rank; i-- > 0;) {
		index[i] = flat % tensor->shape[i];
		flat /= tensor->shape[i];
	}
	sk_print_shape(tensor->rank, index, text, size);
}

/* Says where the data first differs from the reference, and how many elements differ. */
static void print_difference(const struct sk_slot *slot, const char *mode)
{
	enum skrt_dtype dtype = slot->tensor.dtype;
	uint32_t size = sk_element_size(dtype);
	uint64_t count = sk_slot_element_count(slot), differing = 0, first = count;
	char index[SK_SHAPE_SIZE], found[64], wanted[64];

	for (uint64_t i = 0; i < count; i++) {
		if (!memcmp((char *)slot->data + i * size, (char *)slot->reference + i * size, size))
			continue;
		if (differing++ == 0)
			first = i;
	}
	print_index(&slot->tensor, first, index, sizeof(index));
	sk_skrun_error("precision: '%s' differs first at %s: %s run %s, unfused run %s (%" PRIu64 " of %" PRIu64
		       " elements differ)",
		       slot->tensor.name, index, mode, sk_element_print(dtype, slot->data, first, found, sizeof(found)),
		       sk_element_print(dtype, slot->reference, first, wanted, sizeof(wanted)), differing, count);
}

/* The first kernel of the launch that has hidden state, which outlives the run. */
static const char *stateful_kernel(const struct sk_session *session, uint32_t number)
{
	const struct sk_plan_view *plan = &session->module->plan;
	const struct sk_plan_launch *launch = &plan->launches[number];
	const struct skrt_kernel *kernel;

	if (skrt_module_kernel(session->module, number, &kernel) || sk_module_check_steps(kernel))
		return NULL;

	struct sk_plan_calls calls = sk_plan_launch_calls(plan, launch);

	for (const struct sk_plan_call *call = calls.first; call < calls.end; call++)
		if (sk_plan_has_argument(plan, call, SK_ARGUMENT_STATE))
			return sk_plan_string(&plan->kernels[call->kernel].name);
	return NULL;
}

/* Runs start from the same tensors, but not from the same hidden state: that is nothing that a runtime could put back.
 */
static void print_state(const struct sk_session *session)
{
	const char *name = NULL;

	for (uint32_t i = 0; i < session->network.kernel_count && !name; i++)
		name = stateful_kernel(session, session->network.first_kernel + i);
	if (name)
		sk_skrun_error(
			"kernel '%s' has hidden state, which each run finds as the one before has left it: unless "
			"a task sets it anew in every run, that alone can be the difference",
			name);
}

static bool compare(const struct sk_session *session, const char *mode)
{
	for (uint32_t i = 0; i < session->slot_count; i++) {
		const struct sk_slot *slot = &session->slots[i];

		if (!sk_slot_is_output(slot) || !memcmp(slot->data, slot->reference, slot->tensor.bytes))
			continue;
		print_difference(slot, mode);
		print_state(session);
		return false;
	}
	return true;
}

/* True if all launches have serial entries; else says which has none. */
static bool find_serial_entries(struct sk_session *session, bool *all)
{
	*all = true;
	for (uint32_t i = 0; i < session->network.kernel_count; i++) {
		const struct skrt_kernel *kernel;
		struct skrt_kernel_info info;

		if (!sk_succeeded(skrt_module_kernel(session->module, session->network.first_kernel + i, &kernel)))
			return false;
		skrt_kernel_describe(kernel, &info);
		if (info.has_serial_entry)
			continue;
		sk_print_named("serial run left out: launch ", info.name, " has no serial entry\n");
		*all = false;
		break;
	}
	return true;
}

static bool has_once(const struct sk_session *session)
{
	const struct sk_plan_view *plan = &session->module->plan;

	for (uint32_t i = 0; i < session->network.kernel_count; i++)
		if (sk_plan_form(&plan->launches[session->network.first_kernel + i])->flags & SK_LAUNCH_ONCE)
			return true;
	return false;
}

/* Where something runs once, a second run is another one than the first: it finds those results. */
static bool verify_fused(struct sk_session *session, double *seconds)
{
	if (!reset(session) || !sk_session_run(session, SK_RUN_FUSED, seconds) || !compare(session, "fused"))
		return false;
	if (!has_once(session))
		return true;
	reset_tensors(session);
	return sk_session_run(session, SK_RUN_FUSED, seconds) && compare(session, "second fused");
}

/* Of what has been compared. */
static void print_success(const struct sk_session *session, uint32_t repeats)
{
	uint32_t outputs = 0;
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < session->slot_count; i++) {
		const struct sk_slot *slot = &session->slots[i];

		if (!sk_slot_is_output(slot))
			continue;
		outputs++;
		bytes += slot->tensor.bytes;
	}
	printf("Precision: bit-identical (%" PRIu32 " outputs, %" PRIu64 " bytes, ", outputs, bytes);
	sk_session_print_cores(session);
	if (repeats > 1)
		printf(", repeats %" PRIu32, repeats);
	printf(")\n");
}

bool sk_session_verify(struct sk_session *session, uint32_t repeats, double *seconds)
{
	double unused;
	bool serial;

	if (!find_serial_entries(session, &serial) || !make_copies(session))
		return false;
	sk_progress_begin("unfused run", 1);
	if (!reset(session) || !sk_session_run(session, SK_RUN_UNFUSED, &unused))
		return false;
	for (uint32_t i = 0; i < session->slot_count; i++) {
		struct sk_slot *slot = &session->slots[i];

		if (sk_slot_is_output(slot))
			memcpy(slot->reference, slot->data, slot->tensor.bytes);
	}
	sk_progress_begin("serial run", 1);
	if (serial &&
	    (!reset(session) || !sk_session_run(session, SK_RUN_SERIAL, &unused) || !compare(session, "serial")))
		return false;
	sk_progress_begin("fused run", repeats);
	for (uint32_t i = 0; i < repeats; i++) {
		if (!verify_fused(session, &seconds[i]))
			return false;
		sk_progress_step();
	}
	sk_progress_end();
	print_success(session, repeats);
	return true;
}

bool sk_session_verify_fewer(struct sk_session *session, const struct skrt_source *source,
			     const struct skrt_device_options *device)
{
	uint32_t first = skrt_device_cores(session->device, 0), second = skrt_device_cores(session->device, 1);
	struct skrt_device_options fewer = *device;
	double unused;

	for (fewer.cores = 1; fewer.cores <= MOST_FEWER && (fewer.cores < first || fewer.cores < second);
	     fewer.cores++) {
		if (!sk_session_move(session, source, &fewer))
			return false;
		sk_progress_begin("fused run on fewer cores", 1);
		if (!verify_fused(session, &unused)) {
			sk_skrun_error("the fused run was on fewer cores than before: --cores %" PRIu32, fewer.cores);
			return false;
		}
		sk_progress_end();
		print_success(session, 1);
	}
	return true;
}
