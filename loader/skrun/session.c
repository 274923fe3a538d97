/* The use of a package in skrun: memory for its tensors, values in and out, runs, and traces of them. */
#include "config.h"

#include "loader/skrun/skrun.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/file.h"
#include "base/text.h"
#include "format/npy/npy.h"
#include "format/plan/plan.h"
#include "format/skplan.h"
#include "loader/device/device.h"
#include "loader/flight/flight.h"
#include "loader/image/image.h"
#include "loader/skrt.h"
#include "loader/trace/trace.h"

enum {
	DATA_ALIGN = 4096,
	MOST_STREAMS = 128, /* if the manifest has more, some share a stream */
	MOST_SLICES = 1 << 20, /* of a trace: some hundred megabytes of JSON */
};

/* ---- opening and closing ---- */

/* Find the size of the tensor in pages of its own, with padding. False: it overflows. */
static bool measure_tensor(const struct skrt_tensor *tensor, uint64_t *size)
{
	if (__builtin_add_overflow(tensor->bytes, DATA_ALIGN, size) ||
	    __builtin_add_overflow(tensor->padding, *size, size))
		return false;
	*size &= ~(uint64_t)(DATA_ALIGN - 1);
	return true;
}

void *sk_session_allocate(const struct skrt_tensor *tensor)
{
	uint64_t size;
	void *data = measure_tensor(tensor, &size) ? aligned_alloc(DATA_ALIGN, size) : NULL;

	if (data)
		memset(data, 0, size);
	return data;
}

/* Return the length of the network's name with its colon, which begins names in a package of several networks and may
 * be left out. */
static size_t prefix_of(const struct sk_session *session)
{
	return *session->network.name ? strlen(session->network.name) + 1 : 0;
}

static bool make_slots(struct sk_session *session)
{
	uint32_t count = session->network.tensor_count;

	session->slots = calloc(count + (size_t)1, sizeof(*session->slots));
	if (!session->slots) {
		sk_skrun_error("no memory for %" PRIu32 " tensors", count);
		return false;
	}
	session->slot_count = count;
	for (uint32_t i = 0; i < count; i++) {
		struct skrt_tensor *tensor = &session->slots[i].tensor;

		tensor->size = sizeof(*tensor);
		if (!sk_succeeded(skrt_module_tensor(session->module, session->network.first_tensor + i, tensor)))
			return false;
		tensor->name += prefix_of(session);
		session->slots[i].most_bytes = tensor->bytes;
	}
	return true;
}

static bool load_module(struct sk_session *session, const struct skrt_source *source,
			const struct skrt_device_options *device)
{
	const struct sk_transport *transport = sk_rank_transport();

	session->network.size = sizeof(session->network);
	if (!sk_succeeded(skrt_device_open(device, &session->device)))
		return false;
	if (transport)
		sk_device_join(session->device, transport, sk_rank_has_package());
	return sk_succeeded(skrt_module_load_from(session->device, source, &session->module)) &&
	       sk_succeeded(skrt_module_find_network(session->module, session->chosen, &session->network));
}

bool sk_session_open(struct sk_session *session, const struct skrt_source *source, const char *network,
		     const struct skrt_device_options *device)
{
	memset(session, 0, sizeof(*session));
	session->path = source->path;
	session->chosen = network;
	return load_module(session, source, device) && make_slots(session);
}

/* Make one for each stream of the manifest. */
static bool make_streams(struct sk_session *session)
{
	const struct sk_plan_view *plan = &session->module->plan;
	uint32_t count = 1;

	for (uint32_t i = 0; i < session->network.kernel_count; i++) {
		const struct sk_plan_launch *launch = &plan->launches[session->network.first_kernel + i];
		uint32_t stream;

		if (!sk_plan_has_form(plan, launch)) /* running it reports the error */
			continue;
		stream = sk_plan_form(launch)->stream;
		if (stream >= count)
			count = stream < MOST_STREAMS ? stream + 1 : MOST_STREAMS;
	}
	session->streams = calloc(count, sizeof(struct skrt_stream *));
	if (!session->streams) {
		sk_skrun_error("no memory for %" PRIu32 " streams", count);
		return false;
	}
	for (; session->stream_count < count; session->stream_count++)
		if (!sk_succeeded(skrt_stream_create(session->device, &session->streams[session->stream_count])))
			return false;
	return true;
}

static bool make_instance(struct sk_session *session)
{
	const char *name = session->network.name;

	if (!sk_succeeded(*name ? skrt_instance_create_for(session->module, name, &session->instance)
				: skrt_instance_create(session->module, &session->instance)) ||
	    !make_streams(session))
		return false;
	for (uint32_t i = 0; i < session->slot_count; i++)
		if (!sk_succeeded(skrt_instance_bind(session->instance, session->network.first_tensor + i,
						     session->slots[i].data,
						     session->slots[i].most_bytes + session->slots[i].tensor.padding)))
			return false;
	return sk_session_resize(session);
}

static bool no_memory(const struct skrt_tensor *tensor)
{
	sk_skrun_error("no memory for tensor '%s' (%" PRIu64 " bytes)", tensor->name, tensor->bytes);
	return false;
}

/* Make one mapping for all inputs, so that protecting them does not split it. */
static bool allocate_inputs(struct sk_session *session)
{
	const struct skrt_tensor *largest = NULL;
	uint64_t size, all = 0;

	for (uint32_t i = 0; i < session->slot_count; i++) {
		const struct skrt_tensor *tensor = &session->slots[i].tensor;

		if (sk_slot_is_output(&session->slots[i]))
			continue;
		if (!measure_tensor(tensor, &size) || __builtin_add_overflow(all, size, &all))
			return no_memory(tensor);
		largest = !largest || tensor->bytes > largest->bytes ? tensor : largest;
	}
	if (!largest)
		return true;
	session->inputs = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (session->inputs == MAP_FAILED) {
		session->inputs = NULL;
		return no_memory(largest);
	}
	session->inputs_size = all;
	return true;
}

/* Allocate tensors before the instance: a device with checks needs as much memory again, and checks how much there is
 * left. */
bool sk_session_prepare(struct sk_session *session)
{
	char *input;
	uint64_t size;

	if (!allocate_inputs(session))
		return false;
	input = session->inputs;
	for (uint32_t i = 0; i < session->slot_count; i++) {
		struct sk_slot *slot = &session->slots[i];

		if (sk_slot_is_output(slot)) {
			slot->data = sk_session_allocate(&slot->tensor);
			if (!slot->data)
				return no_memory(&slot->tensor);
		} else if (measure_tensor(&slot->tensor, &size)) {
			slot->data = input;
			input += size;
		}
	}
	return make_instance(session);
}

/* Release all objects of the device. */
static void unload(struct sk_session *session)
{
	for (uint32_t i = 0; i < session->stream_count; i++)
		skrt_stream_destroy(session->streams[i]);
	free(session->streams);
	skrt_instance_destroy(session->instance);
	skrt_module_unload(session->module);
	skrt_device_close(session->device);
	sk_plan_close(&session->sized_plan);
	session->sized_plan = (struct sk_plan_view){0};
	session->plan = NULL;
	session->streams = NULL;
	session->stream_count = 0;
	session->instance = NULL;
	session->module = NULL;
	session->device = NULL;
}

/* Renew the slots' names, which belong to the module. False if the package has been replaced. */
static bool describe_slots(struct sk_session *session)
{
	bool same = session->network.tensor_count == session->slot_count;

	for (uint32_t i = 0; i < session->slot_count && same; i++) {
		struct skrt_tensor *tensor = &session->slots[i].tensor, found = {.size = sizeof(found)};

		same = !skrt_module_tensor(session->module, session->network.first_tensor + i, &found) &&
		       found.bytes == session->slots[i].most_bytes && found.padding == tensor->padding &&
		       found.role == tensor->role && found.dtype == tensor->dtype;
		if (!same)
			break;
		*tensor = found;
		tensor->name += prefix_of(session);
	}
	if (!same)
		sk_skrun_error("%s: the package has changed since it was loaded first", session->path);
	return same;
}

bool sk_session_move(struct sk_session *session, const struct skrt_source *source,
		     const struct skrt_device_options *device)
{
	unload(session);
	return load_module(session, source, device) && describe_slots(session) && make_instance(session);
}

void sk_session_close(struct sk_session *session)
{
	if (session->trace)
		skrt_trace_end(session->trace); /* it may have ended */
	skrt_trace_destroy(session->trace);
	unload(session);
	for (uint32_t i = 0; i < session->slot_count; i++) {
		if (sk_slot_is_output(&session->slots[i]))
			free(session->slots[i].data);
		free(session->slots[i].start);
		free(session->slots[i].reference);
		free(session->slots[i].kept);
	}
	if (session->inputs)
		munmap(session->inputs, session->inputs_size);
	free(session->slots);
	memset(session, 0, sizeof(*session));
}

/* ---- values in and out ---- */

/* Skip the network's name: messages and skdump name tensors with it, so it is accepted. */
static const char *without_network(const struct sk_session *session, const char *text)
{
	size_t prefix = prefix_of(session);

	return prefix && !strncmp(text, session->network.name, prefix - 1) && text[prefix - 1] == ':' ? text + prefix
												      : text;
}

/* Find the tensor with the longest name that is followed by "=" and something in the text; NULL: none. */
static struct sk_slot *longest_name(const struct sk_session *session, const char *text)
{
	struct sk_slot *found = NULL;
	size_t longest = 0;

	for (uint32_t i = 0; i < session->slot_count; i++) {
		const char *name = session->slots[i].tensor.name;
		size_t length = strlen(name);

		if (length < longest || strncmp(text, name, length) || text[length] != '=' || !text[length + 1])
			continue;
		longest = length;
		found = &session->slots[i];
	}
	return found;
}

/* True if the text is NAME=FILE of an input of the model that nothing uses: the package has only its name. */
static bool is_unused(const struct sk_session *session, const char *text)
{
	uint64_t size;
	const char *names = sk_image_unused(&session->module->image, &size);

	for (const char *name = names; name && name < names + size; name += strlen(name) + 1) {
		const char *own = without_network(session, name);
		size_t length = strlen(own);

		if (!strncmp(text, own, length) && text[length] == '=')
			return true;
	}
	return false;
}

void sk_session_leave_unused(const struct sk_session *session, struct sk_assignment *inputs, uint32_t *count)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < *count; i++) {
		const char *text = without_network(session, inputs[i].text);

		if (longest_name(session, text) || !is_unused(session, text))
			inputs[used++] = inputs[i];
		else
			sk_skrun_note("--input %s: nothing in the model uses this input; the file is not read",
				      inputs[i].text);
	}
	*count = used;
}

/* The name is misspelt: let the runtime report it, with a suggestion. */
static void report_unknown(const struct sk_session *session, const char *text)
{
	const char *network = session->network.name;
	char *name = NULL;
	uint32_t index;

	if (asprintf(&name, "%s%s%.*s", network, *network ? ":" : "", (int)strcspn(text, "="), text) < 0)
		sk_skrun_error("no memory");
	else
		sk_succeeded(skrt_module_find_tensor(session->module, name, &index));
	free(name);
}

bool sk_session_assign(struct sk_session *session, const char *option, struct sk_assignment *assignments,
		       uint32_t count)
{
	bool good = true;

	for (uint32_t i = 0; i < count; i++) {
		struct sk_assignment *assignment = &assignments[i];
		const char *text = without_network(session, assignment->text);
		struct sk_slot *slot = longest_name(session, text);
		uint32_t other = 0;

		while (slot && other < i && assignments[other].slot != slot)
			other++;
		if (!slot)
			report_unknown(session, text);
		else if (other < i)
			sk_skrun_error("--%s %s: tensor '%s' is given twice", option, assignment->text,
				       slot->tensor.name);
		good &= slot && other == i;
		assignment->slot = slot;
		assignment->path = slot ? text + strlen(slot->tensor.name) + 1 : NULL;
	}
	return good;
}

bool sk_session_read(struct sk_slot *slot, const char *path)
{
	const struct skrt_tensor *tensor = &slot->tensor;
	const char *name = tensor->name;
	struct sk_npy npy;
	char error[SK_SHAPE_SIZE], found[SK_SHAPE_SIZE], wanted[SK_SHAPE_SIZE];

	if (!sk_slot_is_input(slot)) {
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
			       sk_print_shape(npy.rank, npy.shape, found, sizeof(found)),
			       sk_print_shape(tensor->rank, tensor->shape, wanted, sizeof(wanted)));
	slot->filled = fits;
	sk_npy_close(&npy);
	return fits;
}

bool sk_session_range(const struct sk_session *session, uint32_t slot, double range[2])
{
	const struct sk_plan_view *plan = &session->module->plan;
	const struct sk_plan_tensor *tensor = &plan->tensors[plan->bindings[session->network.first_tensor + slot]];

	return sk_plan_type(tensor)->range &&
	       sscanf(sk_plan_string(&sk_plan_type(tensor)->range), "%lf %lf", &range[0], &range[1]) == 2 &&
	       range[0] <= range[1] && fabs(range[0]) <= 1e38 && fabs(range[1]) <= 1e38;
}

void sk_session_fill(struct sk_session *session, uint64_t seed)
{
	for (uint32_t i = 0; i < session->slot_count; i++) {
		struct sk_slot *slot = &session->slots[i];
		double range[2];

		if (!sk_slot_is_input(slot) || slot->filled)
			continue;

		bool bounded = sk_session_range(session, i, range);

		sk_elements_fill(slot->tensor.dtype, slot->data, sk_slot_element_count(slot), seed, slot->tensor.name,
				 bounded ? range : NULL);
		slot->filled = true;
		slot->unbounded = !bounded && slot->tensor.dtype <= SKRT_U64;
	}
}

/* Write "'x', 'y'", or "'x', 'y' and others" if not all names fit. Return false if there are none. */
static bool list_slots(const struct sk_session *session, bool (*is_listed)(const struct sk_slot *slot),
		       char names[SK_SHAPE_SIZE])
{
	static const char others[] = " and others";
	const size_t size = SK_SHAPE_SIZE - sizeof(others);
	size_t used = 0;

	for (uint32_t i = 0; i < session->slot_count; i++) {
		const struct sk_slot *slot = &session->slots[i];

		if (is_listed(slot) && used < size)
			used += (size_t)snprintf(names + used, size - used, "%s'%s'", used ? ", " : "",
						 slot->tensor.name);
	}
	if (used >= size)
		strcat(names, others);
	return used != 0;
}

static bool has_no_value(const struct sk_slot *slot)
{
	return sk_slot_is_input(slot) && !slot->filled;
}

bool sk_session_check_filled(const struct sk_session *session)
{
	char names[SK_SHAPE_SIZE];

	if (!list_slots(session, has_no_value, names))
		return true;
	sk_skrun_error("no value for %s; give --input NAME=FILE.npy or --random SEED", names);
	return false;
}

static bool is_unbounded(const struct sk_slot *slot)
{
	return slot->unbounded;
}

void sk_session_suspect_random(const struct sk_session *session)
{
	char names[SK_SHAPE_SIZE];

	if (sk_kernel_has_failed() && list_slots(session, is_unbounded, names))
		sk_skrun_error("the integers of %s are random and have no bounds; if they are indices, positions or "
			       "sizes, give --input NAME=FILE.npy, or bounds with 'range' in the manifest",
			       names);
}

bool sk_session_protect_inputs(const struct sk_session *session)
{
	if (!session->inputs || !mprotect(session->inputs, session->inputs_size, PROT_READ))
		return true;
	sk_skrun_error("cannot make the inputs read-only: %s", strerror(errno));
	return false;
}

bool sk_session_refill(struct sk_session *session, uint64_t seed)
{
	if (session->inputs && mprotect(session->inputs, session->inputs_size, PROT_READ | PROT_WRITE)) {
		sk_skrun_error("cannot make the inputs writable: %s", strerror(errno));
		return false;
	}
	for (uint32_t i = 0; i < session->slot_count; i++)
		session->slots[i].filled = false;
	sk_session_fill(session, seed);
	return sk_session_protect_inputs(session);
}

bool sk_session_write(const struct sk_slot *slot, const char *path)
{
	char error[SK_SHAPE_SIZE];

	if (!sk_npy_write(path, (enum sk_dtype)slot->tensor.dtype, slot->tensor.rank, slot->tensor.shape, slot->data,
			  error, sizeof(error))) {
		sk_skrun_error("%s: output '%s': %s", path, slot->tensor.name, error);
		return false;
	}
	return true;
}

/* ---- runs ---- */

/* Wait for all streams; all that have failed have the same failure. */
static bool synchronise(struct sk_session *session)
{
	enum skrt_status status = SKRT_OK;

	for (uint32_t i = 0; i < session->stream_count; i++) {
		enum skrt_status one = skrt_synchronise(session->streams[i]);

		if (one && !status)
			sk_succeeded(status = one);
	}
	return status == SKRT_OK;
}

static bool run_network(struct sk_session *session)
{
	if (session->stream_count == 1)
		return sk_succeeded(skrt_run_network(session->streams[0], session->instance));
	return sk_succeeded(skrt_launch_network_on(session->streams, session->stream_count, session->instance)) &&
	       synchronise(session);
}

static bool run_tasks(struct sk_session *session)
{
	for (uint32_t i = 0; i < session->network.task_count; i++) {
		const struct skrt_kernel *kernel;

		if (!sk_succeeded(skrt_module_task(session->module, session->network.first_task + i, &kernel)) ||
		    !sk_succeeded(skrt_launch(session->streams[0], session->instance, kernel))) {
			skrt_synchronise(session->streams[0]);
			return false;
		}
	}
	return sk_succeeded(skrt_synchronise(session->streams[0]));
}

static bool run_serial(struct sk_session *session)
{
	for (uint32_t i = 0; i < session->network.kernel_count; i++) {
		const struct skrt_kernel *kernel;

		if (!sk_succeeded(skrt_module_kernel(session->module, session->network.first_kernel + i, &kernel)) ||
		    !sk_succeeded(skrt_run_serial(session->instance, kernel)))
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

/* ---- traces ---- */

bool sk_session_begin_trace(struct sk_session *session)
{
	return (!sk_rank_merges_traces() || sk_rank_compare_clocks(false)) &&
	       sk_succeeded(skrt_trace_begin(session->device, MOST_SLICES, &session->trace));
}

static bool write_trace(const struct skrt_trace *trace, const char *path)
{
	if (sk_rank_merges_traces())
		return sk_rank_compare_clocks(true) && sk_rank_write_trace(trace, path);

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
	struct skrt_trace_info info = {.size = sizeof(info)};

	if (!sk_succeeded(skrt_trace_end(session->trace)) || (path && !write_trace(session->trace, path)))
		return false;
	if (!sk_succeeded(skrt_trace_describe(session->trace, &info)))
		return false;
	if (path && info.kept_launches < info.launch_count)
		printf("%s holds %" PRIu64 " of %" PRIu64 " launch%s\n", path, info.kept_launches, info.launch_count,
		       sk_ending(info.launch_count, "", "es"));
	return true;
}
