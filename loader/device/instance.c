/* Instances: creating and destroying them, and binding memory to their tensors. */
#include "config.h"

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

/* ---- creating and destroying ---- */

static void free_instance(struct skrt_instance *instance)
{
	for (int i = 0; i < 2; i++)
		if (instance->workspaces[i].memory)
			munmap(instance->workspaces[i].memory, instance->workspaces[i].size);
	sk_call_close(&instance->serial_call);
	free(instance->lone_core.words.items);
	sk_guard_close(instance->guard);
	sk_chosen_close(instance);
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
		status = sk_ranks_ready(module);
	if (!status)
		status = sk_module_construct(module);
	if (status)
		return status;
	struct skrt_instance *instance = aligned_alloc(SK_LINE, sizeof(*instance));
	void **bindings = calloc(module->plan.binding_count + module->dims.slot_count + (size_t)1, sizeof(*bindings));
	uint64_t *ended = calloc(module->plan.network_launch_count + (size_t)1, sizeof(*ended));
	if (!instance || !bindings || !ended) {
		free(instance);
		free(bindings);
		free(ended);
		return sk_fail(SKRT_OUT_OF_MEMORY, "%s: no memory for an instance", module->path);
	}
	*instance = (struct skrt_instance){
		.module = module, .network = network, .plan = &module->plan, .bindings = bindings, .ended = ended};
	if (!sk_chosen_open(instance))
		status = sk_fail(SKRT_OUT_OF_MEMORY, "%s: no memory for an instance", module->path);
	if (!status)
		status = sk_instance_make_workspace(instance, false);
	if (!status && module->device->checks)
		status = sk_instance_make_guard(instance);
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

static enum skrt_status check_alignment(const struct skrt_instance *instance, const struct skrt_tensor *tensor,
					const void *data)
{
	if ((uintptr_t)data % BINDING_ALIGN)
		return sk_fail(SKRT_INVALID_ARGUMENT, "%s: the memory bound to tensor '%s' is not aligned to %d bytes",
			       instance->module->path, tensor->name, BINDING_ALIGN);
	return SKRT_OK;
}

/* Check the bytes and the place of memory for a tensor. In a dynamic package more bytes than the present ones may be
 * bound. */
static enum skrt_status check_memory(const struct skrt_instance *instance, const struct skrt_tensor *tensor,
				     const void *data, uint64_t bytes)
{
	const struct skrt_module *module = instance->module;
	bool more = tensor->padding || instance->sizes;
	bool enough = bytes >= tensor->bytes && bytes - tensor->bytes >= tensor->padding;

	if (!data && (tensor->bytes || tensor->padding))
		return sk_fail_null("skrt_instance_bind");
	if (tensor->padding && !enough)
		return sk_fail(SKRT_INVALID_ARGUMENT,
			       "%s: tensor '%s' has %" PRIu64 " bytes, and kernels may read %" PRIu64
			       " after them; bound are %" PRIu64 ", all together",
			       module->path, tensor->name, tensor->bytes, tensor->padding, bytes);
	if (more ? !enough : bytes != tensor->bytes)
		return sk_fail(SKRT_INVALID_ARGUMENT, "%s: tensor '%s' has %" PRIu64 " bytes, bound are %" PRIu64,
			       module->path, tensor->name, tensor->bytes, bytes);
	return check_alignment(instance, tensor, data);
}

/* Under the device's lock. shape: of an array of a dynamic package, which fits; otherwise NULL. */
static enum skrt_status take_memory(struct skrt_instance *instance, uint32_t index, void *data, uint64_t bytes,
				    const struct skrt_tensor *tensor, const uint64_t *shape)
{
	struct sk_bound *bound = instance->sizes ? &instance->sizes->bound[index] : NULL;

	instance->bindings[index] = data;
	instance->bound = ++instance->module->device->bound;
	instance->checked = false;
	for (uint32_t i = 0; bound && !shape && i < instance->module->dims.dimension_count; i++)
		if (instance->sizes->setters[i] == index)
			instance->sizes->setters[i] = SK_NO_INDEX;
	if (bound)
		*bound = (struct sk_bound){.bytes = bytes, .shaped = shape != NULL};
	if (bound && shape)
		memcpy(bound->shape, shape, tensor->rank * sizeof(*shape));
	return instance->guard && !sk_guard_forget_binding(instance->guard, index)
		       ? sk_instance_cannot_guard(instance->module)
		       : SKRT_OK;
}

/* Under the device's lock. */
static enum skrt_status bind_bytes(struct skrt_instance *instance, uint32_t index, void *data, uint64_t bytes)
{
	struct skrt_tensor tensor;
	enum skrt_status status = sk_instance_tensor(instance, index, &tensor);

	if (status)
		return status;
	if (index - instance->network.first_binding >= instance->network.binding_count)
		return sk_fail(SKRT_INVALID_ARGUMENT, "%s: tensor '%s' is not of network '%s'", instance->module->path,
			       tensor.name, instance->network.name);
	status = check_memory(instance, &tensor, data, bytes);
	if (!status)
		status = sk_instance_check_idle(instance);
	return status ? status : take_memory(instance, index, data, bytes, &tensor, NULL);
}

enum skrt_status skrt_instance_bind(struct skrt_instance *instance, uint32_t index, void *data, uint64_t bytes)
{
	if (!instance)
		return sk_fail_null(__func__);
	enum skrt_status status = sk_device_lock(instance->module->device);
	if (status)
		return status;
	status = bind_bytes(instance, index, data, bytes);
	sk_device_unlock(instance->module->device);
	return status;
}

/* Bind an array of a dynamic package, and set the sizes that its shape says. */
static enum skrt_status bind_sized(struct skrt_instance *instance, uint32_t index, const uint64_t *shape, void *data,
				   struct skrt_tensor *tensor)
{
	uint64_t bytes = sk_dtype_size((uint8_t)tensor->dtype);
	enum skrt_status status = sk_device_lock(instance->module->device);

	if (status)
		return status;
	for (uint32_t i = 0; i < tensor->rank; i++)
		bytes *= shape[i];
	status = sk_instance_check_idle(instance);
	if (!status)
		status = check_alignment(instance, tensor, data);
	if (!status && !data && bytes)
		status = sk_fail_null("skrt_instance_bind_array");
	if (!status)
		status = sk_instance_fit(instance, index, shape);
	if (!status)
		status = take_memory(instance, index, data, bytes, tensor, shape);
	sk_device_unlock(instance->module->device);
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

/* True if the tensor is an input of the model that nothing uses: the package has only its name. */
static bool is_left_out(const struct skrt_instance *instance, const char *name)
{
	const char *network = instance->network.name;
	size_t length = strlen(network);
	bool full = length && !strncmp(name, network, length) && name[length] == ':';
	uint64_t size;
	const char *names = sk_image_unused(&instance->module->image, &size);

	for (const char *at = names; at && at < names + size; at += strlen(at) + 1) {
		const char *own = at;

		if (length && !full && !strncmp(at, network, length) && at[length] == ':')
			own += length + 1;
		if (!strcmp(own, name))
			return true;
	}
	return false;
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
	if (status == SKRT_NOT_FOUND && is_left_out(instance, name))
		return SKRT_OK;
	if (!status)
		status = sk_module_tensor(module, index, &tensor);
	if (status)
		return status;
	if (dtype != tensor.dtype)
		return sk_fail(SKRT_INVALID_ARGUMENT, "%s: tensor '%s' has elements of type %s, bound are %s",
			       module->path, name, sk_dtype_name((enum sk_dtype)tensor.dtype),
			       sk_dtype_name((enum sk_dtype)dtype));
	if (rank == tensor.rank && instance->sizes && !tensor.padding)
		return bind_sized(instance, index, shape, data, &tensor);
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
		status = sk_guard_forget(instance->guard, byte) ? SKRT_OK : sk_instance_cannot_guard(instance->module);
	sk_device_unlock(device);
	return status;
}
