/* The comparison of fused and serial runs with an unfused one, bit for bit. Each run begins with the same bytes, and
 * with poison in the bytes that it has to write. The poison differs from run to run, so bytes that no run has written
 * differ as well. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "format/npy/npy.h"
#include "format/plan/plan.h"
#include "format/skplan.h"
#include "format/skrows.h"
#include "loader/flight/flight.h"
#include "loader/skrt.h"
#include "loader/skrun/skrun.h"

enum {
	KEPT = 0x96, /* in all runs, for bytes of outputs that keep the caller's values */
	MOST_FEWER = 2, /* cores: one computes all, two share all */
};

/* Before successive runs: the unfused one, the serial one, fused ones. The workspace gets large numbers, and, before
 * the first fused run, NaN in every floating-point type, because only a fused run can read too early. */
static const struct poison {
	unsigned char outputs, workspace;
} poisons[] = {{0xa5, 0x7d}, {0x5a, 0xf0}, {0xc3, 0xff}, {0x3c, 0x78}, {0x69, 0xfe}};

enum { UNFUSED, SERIAL, FUSED, FUSED_POISONS = sizeof(poisons) / sizeof(poisons[0]) - FUSED };

/* ---- initial bytes of runs ---- */

static void note_written(const struct sk_session *session, const struct sk_plan_argument *argument)
{
	struct sk_rows rows = sk_plan_rows(session->plan, argument);
	uint32_t number = argument->index - session->network.first_tensor;
	bool binding = argument->space == SK_SPACE_BINDING && number < session->slot_count;

	if (!binding || !session->slots[number].kept || !(sk_plan_access(argument) & SK_ACCESS_WRITE) ||
	    !argument->size)
		return;
	for (uint64_t row = 0; row < rows.count; row++)
		memset(session->slots[number].kept + rows.start + row * rows.stride, 0, rows.width);
}

static bool note_launch(const struct sk_session *session, uint32_t number)
{
	const struct sk_plan_view *plan = session->plan;
	const struct skrt_kernel *kernel;

	if (!sk_succeeded(skrt_module_kernel(session->module, number, &kernel)) ||
	    !sk_succeeded(sk_module_check_steps(kernel)))
		return false;

	struct sk_plan_calls calls = sk_plan_launch_calls(plan, &plan->launches[number]);

	for (const struct sk_plan_call *call = calls.first; call < calls.end; call++)
		for (uint32_t i = 0; i < call->argument_count; i++)
			note_written(session, &sk_plan_arguments(plan, call)[i]);
	return true;
}

/* Find the bytes of outputs that no task writes (`unwritten: keep`). */
static bool find_kept(struct sk_session *session)
{
	bool good = true;

	for (uint32_t i = 0; i < session->slot_count && good; i++) {
		struct sk_slot *slot = &session->slots[i];

		if (slot->tensor.role != SKRT_OUTPUT)
			continue;
		slot->kept = malloc(slot->tensor.bytes + 1);
		good = slot->kept != NULL;
		if (good)
			memset(slot->kept, 1, slot->tensor.bytes);
		else
			sk_skrun_error("no memory to verify tensor '%s'", slot->tensor.name);
	}
	for (uint32_t i = 0; i < session->network.kernel_count && good; i++)
		good = note_launch(session, session->network.first_kernel + i);
	for (uint32_t i = 0; i < session->slot_count && good; i++) {
		struct sk_slot *slot = &session->slots[i];

		if (!slot->kept || memchr(slot->kept, 1, slot->tensor.bytes))
			continue;
		free(slot->kept);
		slot->kept = NULL;
	}
	return good;
}

/* Copy the initial values of the runs, and make room for their results. */
static bool make_copies(struct sk_session *session)
{
	for (uint32_t i = 0; i < session->slot_count; i++) {
		struct sk_slot *slot = &session->slots[i];

		if (!sk_slot_is_output(slot))
			continue;
		slot->reference = sk_session_allocate(&slot->tensor);
		if (sk_slot_is_input(slot))
			slot->start = sk_session_allocate(&slot->tensor);
		if (!slot->reference || (sk_slot_is_input(slot) && !slot->start)) {
			sk_skrun_error("no memory for copies of tensor '%s' (%" PRIu64 " bytes each)",
				       slot->tensor.name, slot->tensor.bytes);
			return false;
		}
		if (slot->start)
			memcpy(slot->start, slot->data, slot->tensor.bytes);
	}
	return find_kept(session);
}

static void reset_tensors(struct sk_session *session, const struct poison *poison)
{
	for (uint32_t i = 0; i < session->slot_count; i++) {
		const struct sk_slot *slot = &session->slots[i];
		unsigned char *data = slot->data;

		if (slot->start)
			memcpy(data, slot->start, slot->tensor.bytes);
		else if (sk_slot_is_output(slot))
			memset(data, poison->outputs, slot->tensor.bytes);
		for (uint64_t byte = 0; slot->kept && byte < slot->tensor.bytes; byte++)
			data[byte] = slot->kept[byte] ? KEPT : data[byte];
	}
}

/* Remove all results of the previous run. Tasks that run once will run again. */
static bool reset(struct sk_session *session, const struct poison *poison)
{
	reset_tensors(session, poison);
	return sk_succeeded(skrt_instance_fill_workspace(session->instance, poison->workspace));
}

/* ---- comparing ---- */

static void print_index(const struct skrt_tensor *tensor, uint64_t flat, char *text, size_t size)
{
	uint64_t index[SKRT_MAX_RANK];

	for (uint32_t i = tensor->rank; i-- > 0;) {
		index[i] = flat % tensor->shape[i];
		flat /= tensor->shape[i];
	}
	sk_print_shape(tensor->rank, index, text, size);
}

static bool is_filled(const void *data, uint32_t size, unsigned char byte)
{
	const unsigned char *bytes = data;
	uint32_t at = 0;

	while (at < size && bytes[at] == byte)
		at++;
	return at == size;
}

/* Print the first difference of the data from the reference, and the number of different elements. */
static void print_difference(const struct sk_slot *slot, const char *mode, const struct poison *poison)
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
	if (slot->tensor.role == SKRT_OUTPUT && is_filled((char *)slot->data + first * size, size, poison->outputs) &&
	    is_filled((char *)slot->reference + first * size, size, poisons[UNFUSED].outputs)) {
		sk_skrun_error(
			"precision: neither the unfused nor the %s run has written '%s' at %s (%" PRIu64 " of %" PRIu64
			" element%s differ): a kernel leaves part of an output as it is, and --guard says which one",
			mode, slot->tensor.name, index, differing, count, sk_plural(count));
		return;
	}
	sk_skrun_error("precision: '%s' differs first at %s: %s run %s, unfused run %s (%" PRIu64 " of %" PRIu64
		       " element%s differ)",
		       slot->tensor.name, index, mode, sk_element_print(dtype, slot->data, first, found, sizeof(found)),
		       sk_element_print(dtype, slot->reference, first, wanted, sizeof(wanted)), differing, count,
		       sk_plural(count));
}

/* Return the first kernel of the launch that has hidden state, which outlives the run. */
static const char *stateful_kernel(const struct sk_session *session, uint32_t number)
{
	const struct sk_plan_view *plan = session->plan;
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

/* Explain that runs start from the same tensors, but not from the same hidden state, which a runtime cannot restore. */
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

static bool compare_outputs(const struct sk_session *session, const char *mode, const struct poison *poison)
{
	for (uint32_t i = 0; i < session->slot_count; i++) {
		const struct sk_slot *slot = &session->slots[i];

		if (!sk_slot_is_output(slot) || !memcmp(slot->data, slot->reference, slot->tensor.bytes))
			continue;
		print_difference(slot, mode, poison);
		print_state(session);
		return false;
	}
	return true;
}

/* Set *all if all launches have serial entries; else print the first that has none. */
static bool find_serial_entries(struct sk_session *session, bool *all)
{
	*all = true;
	for (uint32_t i = 0; i < session->network.kernel_count; i++) {
		const struct skrt_kernel *kernel;
		struct skrt_kernel_info info = {.size = sizeof(info)};

		if (!sk_succeeded(skrt_module_kernel(session->module, session->network.first_kernel + i, &kernel)) ||
		    !sk_succeeded(skrt_kernel_describe(kernel, &info)))
			return false;
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
	const struct sk_plan_view *plan = session->plan;

	for (uint32_t i = 0; i < session->network.kernel_count; i++)
		if (sk_plan_form(&plan->launches[session->network.first_kernel + i])->flags & SK_LAUNCH_ONCE)
			return true;
	return false;
}

/* If a task runs once, make a second run: it differs from the first, because it finds the task's results. */
static bool verify_fused(struct sk_session *session, uint32_t number, double *seconds)
{
	const struct poison *poison = &poisons[FUSED + number % FUSED_POISONS],
			    *next = &poisons[FUSED + (number + 1) % FUSED_POISONS];

	if (!reset(session, poison) || !sk_session_run(session, SK_RUN_FUSED, seconds) ||
	    !compare_outputs(session, "fused", poison))
		return false;
	if (!has_once(session))
		return true;
	reset_tensors(session, next);
	return sk_session_run(session, SK_RUN_FUSED, seconds) && compare_outputs(session, "second fused", next);
}

/* Make the run with which all others are compared. */
static bool run_unfused(struct sk_session *session)
{
	if (!reset(session, &poisons[UNFUSED]) || !sk_session_run_watched(session))
		return false;
	for (uint32_t i = 0; i < session->slot_count; i++) {
		struct sk_slot *slot = &session->slots[i];

		if (!sk_slot_is_output(slot))
			continue;
		memcpy(slot->reference, slot->data, slot->tensor.bytes);
		for (uint64_t byte = 0; slot->kept && byte < slot->tensor.bytes; byte++) {
			if (!slot->kept[byte] || ((unsigned char *)slot->data)[byte] == KEPT)
				continue;
			sk_skrun_error("a kernel has written byte %" PRIu64
				       " of tensor '%s', which no task writes; --guard says which one",
				       byte, slot->tensor.name);
			return false;
		}
	}
	return true;
}

/* Print the runs and tensors that have been compared. */
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
	printf("Precision: bit-identical (%" PRIu32 " output%s, %" PRIu64 " byte%s, ", outputs, sk_plural(outputs),
	       bytes, sk_plural(bytes));
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
	if (!run_unfused(session))
		return false;
	sk_progress_begin("serial run", 1);
	if (serial && (!reset(session, &poisons[SERIAL]) || !sk_session_run(session, SK_RUN_SERIAL, &unused) ||
		       !compare_outputs(session, "serial", &poisons[SERIAL])))
		return false;
	sk_progress_begin("fused run", repeats);
	for (uint32_t i = 0; i < repeats; i++) {
		if (!verify_fused(session, i, &seconds[i]))
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
		if (!verify_fused(session, fewer.cores, &unused)) {
			sk_skrun_error("the fused run was on fewer cores than before: --cores %" PRIu32, fewer.cores);
			return false;
		}
		sk_progress_end();
		print_success(session, 1);
	}
	return true;
}
