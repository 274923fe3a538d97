/* The resources of a device: its threads, and memory that is allocated as it is used. */
#include "config.h"

#include "loader/device/device.h"

#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "loader/base/status.h"
#include "loader/skrt.h"

enum skrt_status sk_device_start_thread(struct skrt_device *device, pthread_t *thread, void *(*run)(void *context),
					void *context, uint32_t number)
{
	static const int unblocked[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGURG};
	sigset_t blocked, old;
	cpu_set_t processors;
	char name[16];

	sigfillset(&blocked);
	for (size_t i = 0; i < sizeof(unblocked) / sizeof(unblocked[0]); i++)
		sigdelset(&blocked, unblocked[i]);
	pthread_sigmask(SIG_SETMASK, &blocked, &old);
	int reason = pthread_create(thread, NULL, run, context);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (reason)
		return sk_fail(SKRT_OUT_OF_MEMORY, "cannot start a thread of a device: %s", strerror(reason));
	if (number < device->processor_count)
		snprintf(name, sizeof(name), "skrt %" PRIu32, number);
	else
		snprintf(name, sizeof(name), "skrt watch");
	pthread_setname_np(*thread, name);
	if (number < device->processor_count) {
		CPU_ZERO(&processors);
		CPU_SET(device->processors[number], &processors);
		/* If that is forbidden, the thread is only slower. */
		pthread_setaffinity_np(*thread, sizeof(processors), &processors);
	}
	return SKRT_OK;
}

void *sk_device_reserve(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}
