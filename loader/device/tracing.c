/* The begin and the end of tracing a device. Nothing may be pending on it, since commands that were queued before the
 * trace began have not been checked for it. */
#include "config.h"

#include <stdlib.h>

#include "format/skplan.h"
#include "loader/base/status.h"
#include "loader/device/device.h"
#include "loader/skrt.h"
#include "loader/trace/trace.h"

/* Under the device's lock. */
static enum skrt_status check_idle(const struct skrt_device *device)
{
	if (device->pending)
		return sk_fail(SKRT_BUSY, "a trace can begin and end only while nothing is pending on the device");
	return SKRT_OK;
}

enum skrt_status skrt_trace_begin(struct skrt_device *device, uint64_t most_slices, struct skrt_trace **result)
{
	if (!device || !result)
		return sk_fail_null(__func__);
	if (device->checks)
		return sk_fail(SKRT_UNSUPPORTED, "a device with checks goes through the plan step by step; "
						 "its times say nothing about the dispatchers");
	struct skrt_trace *trace = sk_trace_open(device, most_slices);
	if (!trace)
		return sk_fail(SKRT_OUT_OF_MEMORY, "no memory for a trace");
	enum skrt_status status = sk_device_lock(device);
	if (status) {
		free(trace);
		return status;
	}
	status = check_idle(device);
	if (!status && device->trace)
		status = sk_fail(SKRT_BUSY, "the device has a trace already");
	if (!status)
		device->trace = trace;
	sk_device_unlock(device);
	if (status)
		free(trace);
	else
		*result = trace;
	return status;
}

enum skrt_status skrt_trace_end(struct skrt_trace *trace)
{
	uint32_t cores[SK_MAX_LANES];

	if (!trace)
		return sk_fail_null(__func__);
	struct skrt_device *device = trace->device;
	if (!device)
		return sk_fail(SKRT_INVALID_ARGUMENT, "the trace has ended already");
	enum skrt_status status = sk_device_lock(device);
	if (status)
		return status;
	status = check_idle(device);
	if (!status) {
		device->trace = NULL;
		for (uint32_t i = 0; i < SK_MAX_LANES; i++)
			cores[i] = device->lanes[i].count;
		sk_trace_finish(trace, cores);
	}
	sk_device_unlock(device);
	if (!status && trace->no_memory)
		status = sk_fail(SKRT_OUT_OF_MEMORY, "no memory for the whole trace");
	return status;
}
