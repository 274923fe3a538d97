/* Instances: binding memory to tensors, and the workspaces, which are mapped when a launch first needs them. */
#include "config.h"

#include "loader/device/instances.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "loader/checks/checks.h"
#include "loader/device/device.h"
#include "loader/device/failure.h"
#include "loader/device/modules.h"
#include "loader/device/queue.h"
#include "loader/flight/instance.h"
#include "loader/flight/module.h"

enum { BINDING_ALIGN = 64 };

/* ---- workspaces ---- */

/* Offsets and size of a workspace whose tasks need `bytes`, with scratch for every core. */
static bool measure(struct sk_workspace *workspace, uint64_t bytes, uint64_t scratch, uint64_t cores)
{
	uint64_t all;

	if (__builtin_add_overflow(bytes, SK_LINE - 1, &workspace->scratch) ||
	    __builtin_add_overflow(scratch, SK_LINE - 1, &workspace->scratch_stride))
		return false;
	workspace->scratch &= ~(uint64_t)(SK_LINE - 1);
	workspace->scratch_stride &= ~(uint64_t)(SK_LINE - 1);
	/* The serial entries' scratch begins right behind `bytes`; what core 0 has is at least as much. */
	return !__builtin_mul_overflow(workspace->scratch_stride, cores, &all) &&
	       !__builtin_add_overflow(workspace->scratch, all, &workspace->size);
}

/* Bytes of scratch that a core needs: the greatest of the network's launches, or of the task entries. */
static uint64_t scratch_size(const struct sk_plan_view *plan, bool unshared)
{
	uint32_t first = unshared ? plan->network_launch_count : 0;
	uint32_t end = unshared ? plan->launch_count : plan->network_launch_count;
	uint64_t size = 0;

	for (uint32_t i = first; i < end; i++)
		if (plan->launches[i].scratch_size > size)
			size = plan->launches[i].scratch_size;
	return size;
}

static enum skrt_status make_workspace(struct skrt_instance *instance, bool unshared)
{
	const struct skrt_module *module = instance->module;
	const struct sk_plan *plan = module->plan.plan;
	struct sk_workspace workspace = {0};
	uint64_t bytes = unshared ? plan->unshared_workspace_size : plan->workspace_size;
	uint64_t cores = sk_core_row(module->cores, module->plan.lane_count, 0);

	if (!measure(&workspace, bytes, scratch_size(&module->plan, unshared), cores))
		return sk_fail(SKRT_OUT_OF_MEMORY, "%s: a workspace of %" PRIu64 " bytes is too large", module->path,
			       bytes);
	if (workspace.size == 0)
		workspace.size = SK_LINE;
	workspace.memory = mmap(NULL, workspace.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (workspace.memory == MAP_FAILED)
		return sk_fail(SKRT_OUT_OF_MEMORY, "%s: no memory for a workspace of %" PRIu64 " bytes: %s",
			       module->path, workspace.size, strerror(errno));
	instance->workspaces[unshared] = workspace;
	return SKRT_OK;
}

static bool is_code(const struct skrt_module *module, const int32_t *reference)
{
	return sk_image_holds(&module->image, sk_plan_address(reference), 1, PROT_EXEC);
}

/* Checked launches go through all of the plan's tables, and call the kernels themselves. */
static enum skrt_status check_plan(const struct skrt_module *module)
{
	const struct sk_plan_view *plan = &module->plan;
	char error[SK_ERROR_SIZE - 128];

	if (!sk_plan_check_all(plan, error, sizeof(error)))
		return sk_fail(SKRT_BAD_PACKAGE, "%s: %s", module->path, error);
	for (uint32_t i = 0; i < plan->kernel_count; i++)
		if (!is_code(module, &plan->kernels[i].code) ||
		    (plan->kernels[i].vector_code && !is_code(module, &plan->kernels[i].vector_code)))
			return sk_fail(SKRT_BAD_PACKAGE, "%s: kernel %s does not lie in text", module->path,
				       sk_plan_string(&plan->kernels[i].name));
	return SKRT_OK;
}

static enum skrt_status cannot_guard(const struct skrt_module *module)
{
	return sk_fail(SKRT_OUT_OF_MEMORY, "%s: no memory for guarded tensors: %s", module->path, strerror(errno));
}

static enum skrt_status make_guard(struct skrt_instance *instance)
{
	const struct skrt_module *module = instance->module;
	enum skrt_status status = check_plan(module);
	char error[SK_ERROR_SIZE - 128];

	if (status)
		return status;
	instance->guard = sk_guard_open(instance, sk_checks_guard(module->device->checks), error, sizeof(error));
	return instance->guard ? SKRT_OK : sk_fail(SKRT_OUT_OF_MEMORY, "%s: %s", module->path, error);
}

/* ---- instances ---- */

static void free_instance(struct skrt_instance *instance)
{
	for (int i = 0; i < 2; i++)
		if (instance->workspaces[i].memory)
			munmap(instance->workspaces[i].memory, instance->workspaces[i].size);
	sk_call_close(&instance->serial_call);
	sk_guard_close(instance->guard);
	free(instance->bindings);
	free(instance->queued);
	free(instance);
}

enum skrt_status skrt_instance_create(struct skrt_module *module, struct skrt_instance **result)
{
	SK_UNCANCELLED;

	if (!module || !result)
		return sk_fail_null(__func__);
	enum skrt_status status = sk_process_check(&module->process);
	if (!status)
		status = sk_module_construct(module);
	if (status)
		return status;
	struct skrt_instance *instance = calloc(1, sizeof(*instance));
	void **bindings = calloc(module->plan.binding_count + (size_t)1, sizeof(*bindings));
	uint64_t *runs = calloc(module->plan.network_launch_count + (size_t)1, 2 * sizeof(*runs));
	if (!instance || !bindings || !runs) {
		free(instance);
		free(bindings);
		free(runs);
		return sk_fail(SKRT_OUT_OF_MEMORY, "%s: no memory for an instance", module->path);
	}
	instance->module = module;
	instance->bindings = bindings;
	instance->queued = runs;
	instance->ended = runs + module->plan.network_launch_count;
	status = make_workspace(instance, false);
	if (!status && module->device->checks)
		status = make_guard(instance);
	if (!status)
		status = sk_device_lock(module->device);
	if (status) {
		free_instance(instance);
		return status;
	}
	module->instances++;
	sk_device_unlock(module->device);
	*result = instance;
	return SKRT_OK;
}

/* Under the device's lock. */
static enum skrt_status check_idle(const struct skrt_instance *instance)
{
	if (!instance->pending)
		return SKRT_OK;
	return sk_fail(SKRT_BUSY, "%s: the instance is in use; launches pending: %" PRIu32, instance->module->path,
		       instance->pending);
}

enum skrt_status skrt_instance_destroy(struct skrt_instance *instance)
{
	if (!instance)
		return SKRT_OK;
	struct skrt_module *module = instance->module;
	enum skrt_status status = sk_device_lock(module->device);
	if (status)
		return status;
	status = check_idle(instance);
	module->instances -= !status;
	sk_device_unlock(module->device);
	if (!status)
		free_instance(instance);
	return status;
}

enum skrt_status skrt_instance_bind(struct skrt_instance *instance, uint32_t index, void *data, uint64_t bytes)
{
	struct skrt_tensor tensor;

	if (!instance || !data)
		return sk_fail_null(__func__);
	const struct skrt_module *module = instance->module;
	enum skrt_status status = skrt_module_tensor(module, index, &tensor);
	if (status)
		return status;
	if (bytes != tensor.bytes)
		return sk_fail(SKRT_INVALID_ARGUMENT, "%s: tensor '%s' has %" PRIu64 " bytes, bound are %" PRIu64,
			       module->path, tensor.name, tensor.bytes, bytes);
	if ((uintptr_t)data % BINDING_ALIGN)
		return sk_fail(SKRT_INVALID_ARGUMENT, "%s: the memory bound to tensor '%s' is not aligned to %d bytes",
			       module->path, tensor.name, BINDING_ALIGN);
	status = sk_device_lock(module->device);
	if (status)
		return status;
	status = check_idle(instance);
	if (!status) {
		instance->bindings[index] = data;
		if (instance->guard && !sk_guard_forget_binding(instance->guard, index))
			status = cannot_guard(module);
		instance->checked = false;
	}
	sk_device_unlock(module->device);
	return status;
}

/* "[64, 1024]" */
static void print_shape(uint32_t rank, const uint64_t *shape, char *text, size_t size)
{
	size_t used = (size_t)snprintf(text, size, "[");

	for (uint32_t i = 0; i < rank && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%" PRIu64, i ? ", " : "", shape[i]);
	if (used < size)
		snprintf(text + used, size - used, "]");
}

enum skrt_status skrt_instance_bind_array(struct skrt_instance *instance, const char *name, enum skrt_dtype dtype,
					  uint32_t rank, const uint64_t *shape, void *data)
{
	struct skrt_tensor tensor;
	char wanted[128], found[128];
	uint32_t index;

	if (!instance || !name || !data || (rank && !shape))
		return sk_fail_null(__func__);
	if (rank > SKRT_MAX_RANK)
		return sk_fail(SKRT_INVALID_ARGUMENT, "%" PRIu32 " dimensions; at most %d are possible", rank,
			       SKRT_MAX_RANK);
	const struct skrt_module *module = instance->module;
	enum skrt_status status = skrt_module_find_tensor(module, name, &index);
	if (!status)
		status = skrt_module_tensor(module, index, &tensor);
	if (status)
		return status;
	if (dtype != tensor.dtype)
		return sk_fail(SKRT_INVALID_ARGUMENT, "%s: tensor '%s' has elements of type %s, bound are %s",
			       module->path, name, sk_dtype_name((enum sk_dtype)tensor.dtype),
			       sk_dtype_name((enum sk_dtype)dtype));
	if (rank != tensor.rank || (rank && memcmp(shape, tensor.shape, rank * sizeof(*shape)) != 0)) {
		print_shape(tensor.rank, tensor.shape, wanted, sizeof(wanted));
		print_shape(rank, shape, found, sizeof(found));
		return sk_fail(SKRT_INVALID_ARGUMENT, "%s: tensor '%s' has the shape %s, bound is %s", module->path,
			       name, wanted, found);
	}
	return skrt_instance_bind(instance, index, data, tensor.bytes);
}

enum skrt_status skrt_instance_fill_workspace(struct skrt_instance *instance, int byte)
{
	if (!instance)
		return sk_fail_null(__func__);
	struct skrt_device *device = instance->module->device;
	enum skrt_status status = sk_device_lock(device);
	if (status)
		return status;
	status = check_idle(instance);
	for (int i = 0; i < 2 && !status; i++)
		if (instance->workspaces[i].memory)
			memset(instance->workspaces[i].memory, byte, instance->workspaces[i].size);
	if (!status && instance->guard)
		status = sk_guard_forget(instance->guard, byte) ? SKRT_OK : cannot_guard(instance->module);
	sk_device_unlock(device);
	return status;
}

/* ---- before a launch ---- */

struct range {
	uintptr_t start, end;
	bool written;
	uint32_t binding;
};

static int compare_ranges(const void *a, const void *b)
{
	const struct range *left = a, *right = b;

	return (left->start > right->start) - (left->start < right->start);
}

/* Goes through the ranges by address, and compares each with the one that reaches farthest among those before it, and
 * with the farthest that is written: two that overlap, one of them written, are found at the latter's start. */
static enum skrt_status check_overlap(const struct skrt_instance *instance, struct range *ranges, uint32_t count)
{
	const struct range *farthest = NULL, *written = NULL;
	struct skrt_tensor one, other;

	qsort(ranges, count, sizeof(*ranges), compare_ranges);
	for (uint32_t i = 0; i < count; i++) {
		const struct range *range = &ranges[i];
		const struct range *before = range->written ? farthest : written;

		if (before && range->start < before->end) {
			skrt_module_tensor(instance->module, before->binding, &one);
			skrt_module_tensor(instance->module, range->binding, &other);
			return sk_fail(
				SKRT_INVALID_ARGUMENT,
				"%s: tensors '%s' and '%s' are bound to overlapping memory, and are not both inputs",
				instance->module->path, one.name, other.name);
		}
		if (!farthest || range->end > farthest->end)
			farthest = range;
		if (range->written && (!written || range->end > written->end))
			written = range;
	}
	return SKRT_OK;
}

static enum skrt_status check_bindings(const struct skrt_instance *instance)
{
	const struct skrt_module *module = instance->module;
	uint32_t count = module->plan.binding_count;
	struct range *ranges = calloc(count + (size_t)1, sizeof(*ranges));
	enum skrt_status status = SKRT_OK;

	if (!ranges)
		return sk_fail(SKRT_OUT_OF_MEMORY, "%s: no memory", module->path);
	for (uint32_t i = 0; i < count && !status; i++) {
		struct skrt_tensor tensor;
		uintptr_t start = (uintptr_t)instance->bindings[i];

		skrt_module_tensor(module, i, &tensor);
		if (!start)
			status = sk_fail(SKRT_NOT_BOUND, "%s: tensor '%s' is not bound", module->path, tensor.name);
		ranges[i] = (struct range){start, start + tensor.bytes, tensor.role != SKRT_INPUT, i};
	}
	if (!status)
		status = check_overlap(instance, ranges, count);
	free(ranges);
	return status;
}

enum skrt_status sk_instance_ready(struct skrt_instance *instance, const struct skrt_kernel *kernel)
{
	enum skrt_status status;

	if (instance->serial)
		return sk_fail(SKRT_BUSY, "%s: a serial run of the instance is going on", instance->module->path);
	if (!instance->checked) {
		status = check_bindings(instance);
		if (status)
			return status;
		instance->checked = true;
	}
	return instance->workspaces[kernel->unshared].memory ? SKRT_OK : make_workspace(instance, kernel->unshared);
}

/* ---- serial runs ---- */

struct serial_run {
	const struct skrt_kernel *kernel;
	const struct skrt_instance *instance;
};

static int run_serial(void *context)
{
	const struct serial_run *run = context;

	return run->kernel->serial_entry(run->instance->bindings,
					 run->instance->workspaces[run->kernel->unshared].memory);
}

/* Marks the instance as used by a serial run. */
static enum skrt_status begin_serial(struct skrt_instance *instance, const struct skrt_kernel *kernel)
{
	struct skrt_device *device = instance->module->device;

	enum skrt_status status = sk_device_lock(device);
	if (status)
		return status;
	status = check_idle(instance);
	if (!status)
		status = sk_queue_check_lost(device);
	if (!status)
		status = sk_instance_ready(instance, kernel);
	if (!status && !instance->serial_call.fibre.stack && !sk_call_open(&instance->serial_call, device->stack_size))
		status = sk_fail(SKRT_OUT_OF_MEMORY, "%s: no memory for a stack of %zu bytes", instance->module->path,
				 device->stack_size);
	instance->pending += !status;
	instance->serial |= !status;
	sk_device_unlock(device);
	return status;
}

static void end_serial(struct skrt_instance *instance)
{
	pthread_mutex_lock(&instance->module->device->lock);
	instance->pending--;
	instance->serial = false;
	pthread_mutex_unlock(&instance->module->device->lock);
}

enum skrt_status skrt_run_serial(struct skrt_instance *instance, const struct skrt_kernel *kernel)
{
	char text[SK_ERROR_SIZE];
	bool lost = false;
	SK_UNCANCELLED;

	if (!instance || !kernel)
		return sk_fail_null(__func__);
	if (instance->module != kernel->module)
		return sk_fail(SKRT_INVALID_ARGUMENT, "%s: kernel and instance are not of one module",
			       instance->module->path);
	if (!kernel->serial_entry) {
		sk_kernel_title(kernel, text, sizeof(text));
		return sk_fail(SKRT_NOT_FOUND,
			       "%s: %s has no serial entry: it has a task whose blocks wait for one another",
			       instance->module->path, text);
	}
	enum skrt_status status = begin_serial(instance, kernel);
	if (status)
		return status;

	struct serial_run run = {kernel, instance};
	struct sk_call *call = &instance->serial_call;
	sk_watch_call(instance->module->device, call, run_serial, &run);
	if (call->result || call->fault.kind) {
		sk_failure_describe_serial(kernel, call, text, sizeof(text), &lost);
		status = sk_fail(SKRT_KERNEL_FAILED, "%s", text);
		if (lost)
			sk_queue_lose(instance->module->device, text);
	}
	end_serial(instance);
	return status;
}
