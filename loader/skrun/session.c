/* The package in skrun's hands: memory for its tensors, values in and out, runs, and the comparison of fused with
 * unfused. Runs by libskrt's public functions alone; what these do not tell is read in the plan. */
#include "config.h"

#include "loader/skrun/session.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "loader/flight/kernel.h"
#include "loader/flight/module.h"
#include "loader/npy/npy.h"
#include "loader/skrun/elements.h"
#include "loader/trace/trace.h"
#include "src/base/escape.h"
#include "src/base/unfinished.h"

enum {
	DATA_ALIGN = 4096,
	POISON = 0xa5, /* in outputs before a run */
	WORKSPACE_POISON = 0xff, /* NaN in every floating-point type: what is read too early shows */
	TEXT_SIZE = 256,
	SHOWN = 6, /* elements of a summary */
	MOST_STREAMS = 128, /* the manifest may have more; then some share one */
	MOST_SLICES = 1 << 20, /* of a trace: some hundred megabytes of JSON */
};

void sk_skrun_error(const char *format, ...)
{
	va_list arguments;

	char *text = NULL;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	fputs("skrun: error: ", stderr);
	sk_escape_print(text ? text : "no memory", stderr);
	fputc('\n', stderr);
	free(text);
}

/* A name, which is the package's, on standard output. */
static void print_named(const char *before, const char *name, const char *behind)
{
	fputs(before, stdout);
	sk_escape_print(name, stdout);
	fputs(behind, stdout);
}

/* Prints the library's text if the status is not SKRT_OK. */
static bool good(enum skrt_status status)
{
	if (status)
		sk_skrun_error("%s", skrt_error());
	return status == SKRT_OK;
}

static bool is_input(const struct sk_slot *slot)
{
	return slot->tensor.role != SKRT_OUTPUT;
}

static bool is_output(const struct sk_slot *slot)
{
	return slot->tensor.role != SKRT_INPUT;
}

static uint64_t element_count(const struct sk_slot *slot)
{
	return slot->tensor.bytes / sk_element_size(slot->tensor.dtype);
}

static const char *print_shape(uint32_t rank, const uint64_t *shape, char *text, size_t size)
{
	size_t used = (size_t)snprintf(text, size, "[");

	for (uint32_t i = 0; i < rank && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%" PRIu64, i ? ", " : "", shape[i]);
	if (used < size)
		snprintf(text + used, size - used, "]");
	return text;
}

/* ---- opening and closing ---- */

/* Memory as bindings want it, zeroed. */
static void *allocate(const struct skrt_tensor *tensor)
{
	uint64_t size;

	if (__builtin_add_overflow(tensor->bytes, DATA_ALIGN, &size))
		return NULL;
	size &= ~(uint64_t)(DATA_ALIGN - 1);
	void *data = aligned_alloc(DATA_ALIGN, size);
	if (data)
		memset(data, 0, size);
	return data;
}

static bool make_slots(struct sk_session *session)
{
	uint32_t count = skrt_module_tensor_count(session->module);

	session->slots = calloc(count + (size_t)1, sizeof(*session->slots));
	if (!session->slots) {
		sk_skrun_error("no memory for %" PRIu32 " tensors", count);
		return false;
	}
	session->slot_count = count;
	for (uint32_t i = 0; i < count; i++)
		if (!good(skrt_module_tensor(session->module, i, &session->slots[i].tensor)))
			return false;
	return true;
}

bool sk_session_open(struct sk_session *session, const struct skrt_source *source,
		     const struct skrt_device_options *device)
{
	memset(session, 0, sizeof(*session));
	session->path = source->path;
	return good(skrt_device_open(device, &session->device)) &&
	       good(skrt_module_load_from(session->device, source, &session->module)) && make_slots(session);
}

/* One for each stream of the manifest. */
static bool make_streams(struct sk_session *session)
{
	const struct sk_plan_view *plan = &session->module->plan;
	uint32_t count = 1;

	for (uint32_t i = 0; i < plan->network_launch_count; i++) {
		uint32_t stream = plan->launches[i].stream;

		if (stream >= count)
			count = stream < MOST_STREAMS ? stream + 1 : MOST_STREAMS;
	}
	session->streams = calloc(count, sizeof(struct skrt_stream *));
	if (!session->streams) {
		sk_skrun_error("no memory for %" PRIu32 " streams", count);
		return false;
	}
	for (; session->stream_count < count; session->stream_count++)
		if (!good(skrt_stream_create(session->device, &session->streams[session->stream_count])))
			return false;
	return true;
}

/* Memory first: a device with checks needs as much again, and looks how much there is left. */
bool sk_session_prepare(struct sk_session *session)
{
	for (uint32_t i = 0; i < session->slot_count; i++) {
		struct sk_slot *slot = &session->slots[i];

		slot->data = allocate(&slot->tensor);
		if (!slot->data) {
			sk_skrun_error("no memory for tensor '%s' (%" PRIu64 " bytes)", slot->tensor.name,
				       slot->tensor.bytes);
			return false;
		}
	}
	if (!good(skrt_instance_create(session->module, &session->instance)) || !make_streams(session))
		return false;
	for (uint32_t i = 0; i < session->slot_count; i++)
		if (!good(skrt_instance_bind(session->instance, i, session->slots[i].data,
					     session->slots[i].tensor.bytes)))
			return false;
	return true;
}

void sk_session_close(struct sk_session *session)
{
	if (session->trace)
		skrt_trace_end(session->trace); /* it may have ended */
	skrt_trace_destroy(session->trace);
	for (uint32_t i = 0; i < session->stream_count; i++)
		skrt_stream_destroy(session->streams[i]);
	free(session->streams);
	skrt_instance_destroy(session->instance);
	for (uint32_t i = 0; i < session->slot_count; i++) {
		free(session->slots[i].data);
		free(session->slots[i].start);
		free(session->slots[i].reference);
	}
	free(session->slots);
	skrt_module_unload(session->module);
	skrt_device_close(session->device);
	memset(session, 0, sizeof(*session));
}

/* ---- values in and out ---- */

struct sk_slot *sk_session_find(struct sk_session *session, const char *name)
{
	uint32_t index;

	return good(skrt_module_find_tensor(session->module, name, &index)) ? &session->slots[index] : NULL;
}

bool sk_session_read(struct sk_session *session, const char *name, const char *path)
{
	struct sk_slot *slot = sk_session_find(session, name);
	struct sk_npy npy;
	char error[TEXT_SIZE], found[TEXT_SIZE], wanted[TEXT_SIZE];

	if (!slot)
		return false;
	const struct skrt_tensor *tensor = &slot->tensor;
	if (!is_input(slot)) {
		sk_skrun_error("tensor '%s' is an output, not an input", name);
		return false;
	}
	if (!sk_npy_open(path, (enum sk_dtype)tensor->dtype, &npy, error, sizeof(error))) {
		sk_skrun_error("%s: input '%s': %s", path, name, error);
		return false;
	}
	bool fits = npy.rank == tensor->rank && !memcmp(npy.shape, tensor->shape, npy.rank * sizeof(npy.shape[0])) &&
		    npy.bytes == tensor->bytes;
	if (fits)
		memcpy(slot->data, npy.data, npy.bytes);
	else
		sk_skrun_error("%s: input '%s': the shape is %s, wanted is %s", path, name,
			       print_shape(npy.rank, npy.shape, found, sizeof(found)),
			       print_shape(tensor->rank, tensor->shape, wanted, sizeof(wanted)));
	slot->filled = fits;
	sk_npy_close(&npy);
	return fits;
}

/* What the manifest says of random values of the tensor with that binding number; false: nothing, or nothing that makes
 * sense. */
static bool range_of(const struct sk_session *session, uint32_t binding, double range[2])
{
	const struct sk_plan_view *plan = &session->module->plan;
	const struct sk_plan_tensor *tensor = &plan->tensors[plan->bindings[binding]];

	return tensor->range && sscanf(sk_plan_string(&tensor->range), "%lf %lf", &range[0], &range[1]) == 2 &&
	       range[0] <= range[1] && fabs(range[0]) <= 1e38 && fabs(range[1]) <= 1e38;
}

void sk_session_fill(struct sk_session *session, uint64_t seed)
{
	for (uint32_t i = 0; i < session->slot_count; i++) {
		struct sk_slot *slot = &session->slots[i];
		double range[2];

		if (!is_input(slot) || slot->filled)
			continue;
		sk_elements_fill(slot->tensor.dtype, slot->data, element_count(slot), seed, slot->tensor.name,
				 range_of(session, i, range) ? range : NULL);
		slot->filled = true;
	}
}

bool sk_session_check_filled(const struct sk_session *session)
{
	char names[TEXT_SIZE] = "";
	size_t used = 0;

	for (uint32_t i = 0; i < session->slot_count; i++) {
		const struct sk_slot *slot = &session->slots[i];

		if (is_input(slot) && !slot->filled && used < sizeof(names))
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s'%s'", used ? ", " : "",
						 slot->tensor.name);
	}
	if (used)
		sk_skrun_error("no value for %s%s; give --input NAME=FILE.npy or --random SEED", names,
			       used >= sizeof(names) ? " and others" : "");
	return used == 0;
}

bool sk_session_write(struct sk_session *session, const char *name, const char *path)
{
	struct sk_slot *slot = sk_session_find(session, name);
	char error[TEXT_SIZE];

	if (!slot)
		return false;
	if (!sk_npy_write(path, (enum sk_dtype)slot->tensor.dtype, slot->tensor.rank, slot->tensor.shape, slot->data,
			  error, sizeof(error))) {
		sk_skrun_error("%s: output '%s': %s", path, name, error);
		return false;
	}
	return true;
}

/* ---- runs ---- */

/* Waits for all streams; all that have failed have the same failure. */
static bool synchronise(struct sk_session *session)
{
	enum skrt_status status = SKRT_OK;

	for (uint32_t i = 0; i < session->stream_count; i++) {
		enum skrt_status one = skrt_synchronise(session->streams[i]);

		if (one && !status)
			good(status = one);
	}
	return status == SKRT_OK;
}

static bool run_network(struct sk_session *session)
{
	if (session->stream_count == 1)
		return good(skrt_run_network(session->streams[0], session->instance));
	return good(skrt_launch_network_on(session->streams, session->stream_count, session->instance)) &&
	       synchronise(session);
}

static bool run_tasks(struct sk_session *session)
{
	for (uint32_t i = 0; i < skrt_module_task_count(session->module); i++) {
		const struct skrt_kernel *kernel;

		if (!good(skrt_module_task(session->module, i, &kernel)) ||
		    !good(skrt_launch(session->streams[0], session->instance, kernel))) {
			skrt_synchronise(session->streams[0]);
			return false;
		}
	}
	return good(skrt_synchronise(session->streams[0]));
}

static bool run_serial(struct sk_session *session)
{
	for (uint32_t i = 0; i < skrt_module_kernel_count(session->module); i++) {
		const struct skrt_kernel *kernel;

		if (!good(skrt_module_kernel(session->module, i, &kernel)) ||
		    !good(skrt_run_serial(session->instance, kernel)))
			return false;
	}
	return true;
}

bool sk_session_run(struct sk_session *session, enum sk_run_mode mode, double *seconds)
{
	struct timespec start, end;
	bool result;

	clock_gettime(CLOCK_MONOTONIC, &start);
	switch (mode) {
	case SK_RUN_UNFUSED:
		result = run_tasks(session);
		break;
	case SK_RUN_SERIAL:
		result = run_serial(session);
		break;
	default:
		result = run_network(session);
		break;
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	*seconds = (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) * 1e-9;
	return result;
}

/* "cores 2", on other devices than the host "device a3, cores 24 and 48". */
void sk_session_print_cores(const struct sk_session *session)
{
	const char *device = skrt_device_name(session->device);
	uint32_t first = skrt_device_cores(session->device, 0), second = skrt_device_cores(session->device, 1);

	if (strcmp(device, "host"))
		print_named("device ", device, ", ");
	printf("cores %" PRIu32, first);
	if (second && second != first)
		printf(" and %" PRIu32, second);
}

/* ---- traces ---- */

bool sk_session_begin_trace(struct sk_session *session)
{
	return good(skrt_trace_begin(session->device, MOST_SLICES, &session->trace));
}

static bool write_trace(const struct skrt_trace *trace, const char *path)
{
	FILE *file = sk_unfinished_open(path);

	if (file)
		sk_trace_print(trace, file);
	if (file && sk_unfinished_close(file, path))
		return true;
	sk_skrun_error("%s: %s", path, strerror(errno));
	return false;
}

bool sk_session_end_trace(struct sk_session *session, const char *path)
{
	struct skrt_trace_info info;

	if (!good(skrt_trace_end(session->trace)) || (path && !write_trace(session->trace, path)))
		return false;
	skrt_trace_describe(session->trace, &info);
	if (path && info.kept_launches < info.launch_count)
		printf("%s holds %" PRIu64 " of %" PRIu64 " launches\n", path, info.kept_launches, info.launch_count);
	return true;
}

/* ---- verification ---- */

/* Copies of what the runs start from and lead to. */
static bool make_copies(struct sk_session *session)
{
	for (uint32_t i = 0; i < session->slot_count; i++) {
		struct sk_slot *slot = &session->slots[i];

		if (!is_output(slot))
			continue;
		slot->start = allocate(&slot->tensor);
		slot->reference = allocate(&slot->tensor);
		if (!slot->start || !slot->reference) {
			sk_skrun_error("no memory for copies of tensor '%s' (%" PRIu64 " bytes each)",
				       slot->tensor.name, slot->tensor.bytes);
			return false;
		}
		if (is_input(slot))
			memcpy(slot->start, slot->data, slot->tensor.bytes);
		else
			memset(slot->start, POISON, slot->tensor.bytes);
	}
	return true;
}

/* Puts everything that a run may write back to where all runs start: nothing of the run before is left to be taken for
 * a result. */
static bool reset(struct sk_session *session)
{
	for (uint32_t i = 0; i < session->slot_count; i++)
		if (is_output(&session->slots[i]))
			memcpy(session->slots[i].data, session->slots[i].start, session->slots[i].tensor.bytes);
	return good(skrt_instance_fill_workspace(session->instance, WORKSPACE_POISON));
}

static void print_index(const struct skrt_tensor *tensor, uint64_t flat, char *text, size_t size)
{
	uint64_t index[SKRT_MAX_RANK];

	for (uint32_t i = tensor->rank; i-- > 0;) {
		index[i] = flat % tensor->shape[i];
		flat /= tensor->shape[i];
	}
	print_shape(tensor->rank, index, text, size);
}

/* Says where the data first differs from the reference, and how many elements differ. */
static void print_difference(const struct sk_slot *slot, const char *mode)
{
	enum skrt_dtype dtype = slot->tensor.dtype;
	uint32_t size = sk_element_size(dtype);
	uint64_t count = element_count(slot), differing = 0, first = count;
	char index[TEXT_SIZE], found[64], wanted[64];

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

	for (uint32_t i = 0; i < skrt_module_kernel_count(session->module) && !name; i++)
		name = stateful_kernel(session, i);
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

		if (!is_output(slot) || !memcmp(slot->data, slot->reference, slot->tensor.bytes))
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
	for (uint32_t i = 0; i < skrt_module_kernel_count(session->module); i++) {
		const struct skrt_kernel *kernel;
		struct skrt_kernel_info info;

		if (!good(skrt_module_kernel(session->module, i, &kernel)))
			return false;
		skrt_kernel_describe(kernel, &info);
		if (info.has_serial_entry)
			continue;
		print_named("serial run left out: launch ", info.name, " has no serial entry\n");
		*all = false;
		break;
	}
	return true;
}

bool sk_session_verify(struct sk_session *session, uint32_t repeats, double *seconds)
{
	double unused;
	bool serial;
	uint32_t outputs = 0;
	uint64_t bytes = 0;

	if (!find_serial_entries(session, &serial) || !make_copies(session) || !reset(session) ||
	    !sk_session_run(session, SK_RUN_UNFUSED, &unused))
		return false;
	for (uint32_t i = 0; i < session->slot_count; i++) {
		struct sk_slot *slot = &session->slots[i];

		if (!is_output(slot))
			continue;
		memcpy(slot->reference, slot->data, slot->tensor.bytes);
		outputs++;
		bytes += slot->tensor.bytes;
	}
	if (serial &&
	    (!reset(session) || !sk_session_run(session, SK_RUN_SERIAL, &unused) || !compare(session, "serial")))
		return false;
	for (uint32_t i = 0; i < repeats; i++)
		if (!reset(session) || !sk_session_run(session, SK_RUN_FUSED, &seconds[i]) ||
		    !compare(session, "fused"))
			return false;
	printf("Precision: bit-identical (%" PRIu32 " outputs, %" PRIu64 " bytes, ", outputs, bytes);
	sk_session_print_cores(session);
	if (repeats > 1)
		printf(", repeats %" PRIu32, repeats);
	printf(")\n");
	return true;
}

/* ---- for people ---- */

static const char *role_name(enum skrt_role role)
{
	static const char *const names[] = {[SKRT_INPUT] = "input", [SKRT_OUTPUT] = "output", [SKRT_INOUT] = "inout"};

	return names[role];
}

static void print_tensor(const struct skrt_tensor *tensor)
{
	char shape[TEXT_SIZE];

	printf("%-6s", role_name(tensor->role));
	print_named("  ", tensor->name, "  ");
	printf("%s %s", sk_element_type_name(tensor->dtype),
	       print_shape(tensor->rank, tensor->shape, shape, sizeof(shape)));
}

bool sk_session_list(struct sk_session *session)
{
	for (uint32_t i = 0; i < session->slot_count; i++) {
		double range[2];

		print_tensor(&session->slots[i].tensor);
		if (range_of(session, i, range))
			printf(", random values from %.9g to %.9g", range[0], range[1]);
		printf("\n");
	}
	for (uint32_t i = 0; i < skrt_module_kernel_count(session->module); i++) {
		const struct skrt_kernel *kernel;
		struct skrt_kernel_info info;

		if (!good(skrt_module_kernel(session->module, i, &kernel)))
			return false;
		skrt_kernel_describe(kernel, &info);
		print_named("launch  ", info.name, "  ");
		if (info.kind == SKRT_SUPERKERNEL) {
			print_named("superkernel of scope ", info.scope, ", ");
			printf("%" PRIu32 " task%s", info.task_count, info.task_count == 1 ? "" : "s");
		} else {
			printf("a task by itself");
		}
		printf(", stream %" PRIu32 "%s\n", info.stream, info.has_serial_entry ? "" : ", no serial entry");
	}
	return true;
}

/* FNV-1a over the bytes: the same on every machine that computed the same. */
static uint64_t hash_bytes(const unsigned char *bytes, uint64_t size)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (uint64_t i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
	return hash;
}

void sk_session_summarise(const struct sk_session *session)
{
	for (uint32_t i = 0; i < session->slot_count; i++) {
		const struct sk_slot *slot = &session->slots[i];
		uint64_t count = element_count(slot);
		char text[64];
		double sum = 0;

		if (!is_output(slot))
			continue;
		print_tensor(&slot->tensor);
		printf(":");
		for (uint64_t j = 0; j < count && j < SHOWN; j++)
			printf(" %s", sk_element_print(slot->tensor.dtype, slot->data, j, text, sizeof(text)));
		for (uint64_t j = 0; j < count; j++)
			sum += sk_element_value(slot->tensor.dtype, slot->data, j);
		printf("%s (sum %.9g, hash %016" PRIx64 ")\n", count > SHOWN ? " …" : "", sum,
		       hash_bytes(slot->data, slot->tensor.bytes));
	}
}
