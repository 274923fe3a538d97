/* Serial runs: a launch's serial entry, on the calling thread. */
#include "config.h"

#include "loader/device/device.h"
#include "loader/device/failure.h"
#include "loader/device/queue.h"
#include "loader/device/readiness.h"
#include "loader/flight/instance.h"
#include "loader/flight/module.h"

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
	status = sk_instance_check_idle(instance);
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
	sk_watch_call(instance->module->device, call, &instance->module->image.package, run_serial, &run);
	if (call->result || call->fault.kind) {
		sk_failure_describe_serial(kernel, call, text, sizeof(text), &lost);
		status = sk_fail(SKRT_KERNEL_FAILED, "%s", text);
		if (lost)
			sk_queue_lose(instance->module->device, text);
	}
	end_serial(instance);
	return status;
}
