/* Serial runs: a launch's serial entry or thunk, on the calling thread, after those of earlier launches that run once
 * and have not yet. */
#include "config.h"

#include "loader/base/status.h"
#include "loader/core/core.h"
#include "loader/device/device.h"
#include "loader/flight/flight.h"
#include "loader/skrt.h"

struct serial_run {
	const struct skrt_kernel *kernel;
	struct skrt_instance *instance;
};

static int run_serial(void *context)
{
	const struct serial_run *run = context;

	return sk_serial_run(run->instance, run->kernel);
}

/* Launches on a device with checks write guarded memory, which serial runs do not use: results of the one do not exist
 * for the other. */
static void forget_guarded(struct skrt_instance *instance)
{
	if (instance->guard)
		sk_once_forget(instance);
}

/* Mark the instance as used by a serial run. */
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
	if (!status)
		forget_guarded(instance);
	sk_device_unlock(device);
	return status;
}

static void end_serial(struct skrt_instance *instance)
{
	pthread_mutex_lock(&instance->module->device->lock);
	instance->pending--;
	instance->serial = false;
	forget_guarded(instance);
	pthread_mutex_unlock(&instance->module->device->lock);
}

/* A launch that runs once does not run again after it has ended well. */
static void note_end(struct skrt_instance *instance, const struct skrt_kernel *kernel)
{
	pthread_mutex_lock(&instance->module->device->lock);
	sk_once_end(instance, kernel->launch);
	pthread_mutex_unlock(&instance->module->device->lock);
}

static enum skrt_status check_entry(const struct skrt_kernel *kernel)
{
	char title[SK_ERROR_SIZE];

	if (kernel->serial)
		return SKRT_OK;
	sk_kernel_title(kernel, title, sizeof(title));
	return sk_fail(SKRT_NOT_FOUND,
		       "%s: %s has no serial entry: it has a task with blocks that wait for one another",
		       kernel->module->path, title);
}

static enum skrt_status run_entry(struct skrt_instance *instance, const struct skrt_kernel *kernel)
{
	struct serial_run run = {kernel, instance};
	struct sk_call *call = &instance->serial_call;
	char text[SK_ERROR_SIZE];
	bool lost = false;

	if (!sk_serial_prepare(instance, kernel))
		return sk_fail(SKRT_OUT_OF_MEMORY, "%s: no memory for the arguments of launch %s", kernel->module->path,
			       kernel->name);
	sk_watch_call(instance->module->device, call, &instance->module->image.package, run_serial, &run);
	if (!call->result && !call->fault.kind) {
		note_end(instance, kernel);
		return SKRT_OK;
	}
	sk_failure_describe_serial(instance, kernel, call, text, sizeof(text), &lost);
	if (lost)
		sk_queue_lose(instance->module->device, text);
	return sk_fail(SKRT_KERNEL_FAILED, "%s", text);
}

/* The instance is idle, and no other thread changes the record of launches that have run. */
static enum skrt_status run_all(struct skrt_instance *instance, const struct skrt_kernel *kernel)
{
	enum skrt_status status = SKRT_OK;

	for (uint32_t i = sk_once_first(instance, kernel->launch); i < kernel->launch && !status; i++) {
		const struct skrt_kernel *once;

		if (!sk_once_is_due(instance, i))
			continue;
		status = sk_module_prepare(instance->module, i, &once);
		if (!status)
			status = check_entry(once);
		if (!status)
			status = run_entry(instance, once);
	}
	if (!status && !sk_once_is_done(instance, kernel->launch))
		status = run_entry(instance, kernel);
	return status;
}

enum skrt_status skrt_run_serial(struct skrt_instance *instance, const struct skrt_kernel *kernel)
{
	SK_UNCANCELLED;

	if (!instance || !kernel)
		return sk_fail_null(__func__);
	if (instance->module != kernel->module)
		return sk_fail(SKRT_INVALID_ARGUMENT, "%s: kernel and instance are not of one module",
			       instance->module->path);
	enum skrt_status status = check_entry(kernel);
	if (!status)
		status = begin_serial(instance, kernel);
	if (status)
		return status;
	status = run_all(instance, kernel);
	end_serial(instance);
	return status;
}
