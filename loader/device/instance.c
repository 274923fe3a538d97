/* Instances: creating and destroying them, and binding memory to their tensors. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/text.h"
#include "format/plan/plan.h"
#include "format/skplan.h"
#include "loader/base/status.h"
#include "loader/checks/checks.h"
#include "loader/core/core.h"
#include "loader/device/device.h"
#include "loader/flight/flight.h"
#include "loader/image/image.h"
#include "loader/skrt.h"

enum { BINDING_ALIGN = 64 };

/* ---- guarded tensors ---- */

static bool is_code(const struct skrt_module *module, const int32_t *reference)
{
	return sk_image_holds(&module->image, sk_plan_address(reference), 1, PROT_EXEC);
}

/* Checked launches read all of the plan's tables, and call the kernels themselves. */
static enum skrt_status check_plan(struct skrt_module *module)
{
	const struct sk_plan_view *plan = &module->plan;
	char error[SK_ERROR_SIZE - 128];

	pthread_mutex_lock(&module->lock);
	bool good =
		sk_plan_make_room(&module->plan, error, sizeof(error)) && sk_plan_check_all(plan, error, sizeof(error));
	pthread_mutex_unlock(&module->lock);
	if (!good)
		return sk_fail(SKRT_BAD_PACKAGE, "%s: %s", module->path, error);
	for (uint32_t i = 0; i < plan->kernel_count; i++)
		if (!is_code(module, &plan->kernels[i].code) ||
		    (plan->kernels[i].vector_code && !is_code(module, &plan->kernels[i].vector_code)))
			return sk_fail(SKRT_BAD_PACKAGE, "%s: kernel %s does not lie in text", module->path,
				       sk_plan_string(&plan->kernels[i].name));
	for (uint32_t i = 0; i < plan->symbol_count; i++)
		if (!sk_image_holds(&module->image, sk_plan_address(&plan->symbols[i].address), 1, PROT_READ))
			return sk_fail(SKRT_BAD_PACKAGE, "%s: symbol %s does not lie in the package", module->path,
				       sk_plan_string(&plan->symbols[i].name));
	return SKRT_OK;
}

static enum skrt_status cannot_guard(const struct skrt_module *module)
{
	return sk_fail(SKRT_OUT_OF_MEMORY, "%s: no memory for guarded tensors: %s", module->path, strerror(errno));
}

static enum skrt_status make_guard(struct skrt_instance *instance)
{
	struct skrt_module *module = instance->module;
	enum skrt_status status = check_plan(module);
	char error[SK_ERROR_SIZE - 128];

	if (status)
		return status;
	instance->guard = sk_guard_open(instance, sk_checks_guard(module->device->checks), error, sizeof(error));
	return instance->guard ? SKRT_OK : sk_fail(SKRT_OUT_OF_MEMORY, "%s: %s", module->path, error);
}

/* ---- creating and destroying ---- */

static void free_instance(struct skrt_instance *instance)
{
	for (int i = 0; i < 2; i++)
		if (instance->workspaces[i].memory)
			munmap(instance->workspaces[i].memory, instance->workspaces[i].size);
	sk_call_close(&instance->serial_call);
	free(instance->lone_core.words.items);
	sk_guard_close(instance->guard);
	free(instance->bindings);
	free(instance->ended);
	free(instance->done);
	free(instance);
}

/* Create an instance of the network; `name` NULL: the only network. */
static enum skrt_status create(struct skrt_module *module, const char *name, struct skrt_instance **result)
{
	struct sk_plan_network network;
	enum skrt_status status = sk_module_find_network(module, name, &network);

	sk_signals_forget();
	if (!status)
		status = sk_module_construct(module);
	if (status)
		return status;
	struct skrt_instance *instance = aligned_alloc(SK_LINE, sizeof(*instance));
	void **bindings = calloc(module->plan.binding_count + (size_t)1, sizeof(*bindings));
	uint64_t *ended = calloc(module->plan.network_launch_count + (size_t)1, sizeof(*ended));
	if (!instance || !bindings || !ended) {
		free(instance);
		free(bindings);
		free(ended);
		return sk_fail(SKRT_OUT_OF_MEMORY, "%s: no memory for an instance", module->path);
	}
	*instance = (struct skrt_instance){.module = module, .network = network, .bindings = bindings, .ended = ended};
	status = sk_instance_make_workspace(instance, false);
	if (!status && module->device->checks)
		status = make_guard(instance);
	if (!status)
		status = sk_device_lock(module->device);
	if (status) {
		free_instance(instance);
		return status;
	}
	module->instances++;
	instance->bound = ++module->device->bound;
	sk_device_unlock(module->device);
	*result = instance;
	return SKRT_OK;
}

enum skrt_status skrt_instance_create(struct skrt_module *module, struct skrt_instance **result)
{
	SK_UNCANCELLED;

	return module && result ? create(module, NULL, result) : sk_fail_null(__func__);
}

enum skrt_status skrt_instance_create_for(struct skrt_module *module, const char *network,
					  struct skrt_instance **result)
{
	SK_UNCANCELLED;

	return module && network && result ? create(module, network, result) : sk_fail_null(__func__);
}

enum skrt_status skrt_instance_destroy(struct skrt_instance *instance)
{
	if (!instance)
		return SKRT_OK;
	struct skrt_module *module = instance->module;
	enum skrt_status status = sk_device_lock(module->device);
	if (status)
		return status;
	status = sk_instance_check_idle(instance);
	module->instances -= !status;
	sk_device_unlock(module->device);
	if (!status)
		free_instance(instance);
	return status;
}

/* ---- memory ---- */

enum skrt_status skrt_instance_bind(struct skrt_instance *instance, uint32_t index, void *data, uint64_t bytes)
{
	struct skrt_tensor tensor;

	if (!instance)
		return sk_fail_null(__func__);
	const struct skrt_module *module = instance->module;
	enum skrt_status status = sk_module_tensor(module, index, &tensor);
	if (status)
		return status;
	if (index - instance->network.first_binding >= instance->network.binding_count)
		return sk_fail(SKRT_INVALID_ARGUMENT, "%s: tensor '%s' is not of network '%s'", module->path,
			       tensor.name, instance->network.name);
	if (!data && (tensor.bytes || tensor.padding))
		return sk_fail_null(__func__);
	if (tensor.padding && (bytes < tensor.bytes || bytes - tensor.bytes < tensor.padding))
		return sk_fail(SKRT_INVALID_ARGUMENT,
			       "%s: tensor '%s' has %" PRIu64 " bytes, and kernels may read %" PRIu64
			       " after them; bound are %" PRIu64 ", all together",
			       module->path, tensor.name, tensor.bytes, tensor.padding, bytes);
	if (!tensor.padding && bytes != tensor.bytes)
		return sk_fail(SKRT_INVALID_ARGUMENT, "%s: tensor '%s' has %" PRIu64 " bytes, bound are %" PRIu64,
			       module->path, tensor.name, tensor.bytes, bytes);
	if ((uintptr_t)data % BINDING_ALIGN)
		return sk_fail(SKRT_INVALID_ARGUMENT, "%s: the memory bound to tensor '%s' is not aligned to %d bytes",
			       module->path, tensor.name, BINDING_ALIGN);
	status = sk_device_lock(module->device);
	if (status)
		return status;
	status = sk_instance_check_idle(instance);
	if (!status) {
		instance->bindings[index] = data;
		instance->bound = ++module->device->bound;
		if (instance->guard && !sk_guard_forget_binding(instance->guard, index))
			status = cannot_guard(module);
		instance->checked = false;
	}
	sk_device_unlock(module->device);
	return status;
}

/* In a package with several networks, tensors are called "short:x"; an instance also accepts "x". */
static enum skrt_status find_tensor(const struct skrt_instance *instance, const char *name, uint32_t *index)
{
	const char *network = instance->network.name;
	size_t length = strlen(network);
	enum skrt_status status;
	char *full = NULL;

	if (!length || (!strncmp(name, network, length) && name[length] == ':'))
		return skrt_module_find_tensor(instance->module, name, index);
	if (asprintf(&full, "%s:%s", network, name) < 0)
		return sk_fail(SKRT_OUT_OF_MEMORY, "%s: no memory", instance->module->path);
	status = skrt_module_find_tensor(instance->module, full, index);
	free(full);
	return status;
}

enum skrt_status skrt_instance_bind_array(struct skrt_instance *instance, const char *name, enum skrt_dtype dtype,
					  uint32_t rank, const uint64_t *shape, void *data)
{
	struct skrt_tensor tensor;
	char wanted[SK_SHAPE_SIZE], found[SK_SHAPE_SIZE];
	uint32_t index;

	if (!instance || !name || (rank && !shape))
		return sk_fail_null(__func__);
	if (rank > SKRT_MAX_RANK)
		return sk_fail(SKRT_INVALID_ARGUMENT, "%" PRIu32 " dimensions; at most %d are possible", rank,
			       SKRT_MAX_RANK);
	const struct skrt_module *module = instance->module;
	enum skrt_status status = find_tensor(instance, name, &index);
	if (!status)
		status = sk_module_tensor(module, index, &tensor);
	if (status)
		return status;
	if (dtype != tensor.dtype)
		return sk_fail(SKRT_INVALID_ARGUMENT, "%s: tensor '%s' has elements of type %s, bound are %s",
			       module->path, name, sk_dtype_name((enum sk_dtype)tensor.dtype),
			       sk_dtype_name((enum sk_dtype)dtype));
	if (rank != tensor.rank || (rank && memcmp(shape, tensor.shape, rank * sizeof(*shape)) != 0))
		return sk_fail(SKRT_INVALID_ARGUMENT, "%s: tensor '%s' has the shape %s, bound is %s", module->path,
			       name, sk_print_shape(tensor.rank, tensor.shape, wanted, sizeof(wanted)),
			       sk_print_shape(rank, shape, found, sizeof(found)));
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
	status = sk_instance_check_idle(instance);
	if (!status)
		instance->fill = byte & 0xff;
	for (int i = 0; i < 2 && !status; i++)
		if (instance->workspaces[i].memory)
			memset(instance->workspaces[i].memory, byte, instance->workspaces[i].size);
	if (!status)
		sk_once_forget(instance);
	if (!status && instance->guard)
		status = sk_guard_forget(instance->guard, byte) ? SKRT_OK : cannot_guard(instance->module);
	sk_device_unlock(device);
	return status;
}
