/* A package's constructors and destructors. They run like kernels: on a stack of their own, so that a fault is an error
 * and not the end of the process, and within the device's time-out. They run when the first instance is made, because
 * no other code of the package can run before. A program that only inspects a package runs none of its code. */
#include "config.h"

#include "loader/device/device.h"

#include <string.h>

#include "loader/base/status.h"
#include "loader/core/core.h"
#include "loader/flight/flight.h"
#include "loader/image/image.h"
#include "loader/skrt.h"

#define STACK ((size_t)1 << 20) /* enough for constructors and destructors */

/* Constructors get argc, argv and envp, as the C library passes them; a package has no arguments. */
static int run_constructors(void *context)
{
	const struct sk_functions *functions = context;
	char *arguments[1] = {NULL};

	for (uint64_t i = 0; i < functions->count; i++) {
		((void (*)(int, char **, char **))(uintptr_t)functions->addresses[i])(0, arguments, environ);
		sk_fibre_tidy(); /* the next one must not see changed control state */
	}
	return 0;
}

static int run_destructors(void *context)
{
	const struct sk_functions *functions = context;

	for (uint64_t i = functions->count; i-- > 0;) {
		((void (*)(void))(uintptr_t)functions->addresses[i])();
		sk_fibre_tidy();
	}
	return 0;
}

static enum skrt_status run_functions(struct skrt_module *module, struct sk_functions functions,
				      int (*run_all)(void *context), const char *function)
{
	enum skrt_status status = SKRT_OK;
	char text[SK_ERROR_SIZE];
	struct sk_call call;
	bool lost = false;

	if (!functions.count)
		return SKRT_OK;
	if (!sk_call_open(&call, STACK))
		return sk_fail(SKRT_OUT_OF_MEMORY, "%s: no memory for a stack", module->path);
	sk_watch_call(module->device, &call, &module->image.package, run_all, &functions);
	if (call.fault.kind) {
		sk_failure_describe_function(module, function, &call, text, sizeof(text), &lost);
		status = sk_fail(SKRT_KERNEL_FAILED, "%s", text);
		if (lost)
			sk_queue_lose(module->device, text);
	}
	sk_call_close(&call);
	return status;
}

enum skrt_status sk_module_construct(struct skrt_module *module)
{
	enum skrt_status status = SKRT_OK;

	pthread_mutex_lock(&module->construction);
	if (*module->failure)
		status = sk_fail(SKRT_KERNEL_FAILED, "%s", module->failure);
	else if (!module->constructed)
		status = run_functions(module, module->image.constructors, run_constructors, "a constructor");
	module->constructed |= !status;
	/* Constructors that have begun cannot be begun again. */
	if (status == SKRT_KERNEL_FAILED)
		memmove(module->failure, skrt_error(), strlen(skrt_error()) + 1);
	pthread_mutex_unlock(&module->construction);
	return status;
}

void sk_module_destruct(struct skrt_module *module)
{
	/* A failing destructor, or a lack of memory, ends the destruction; unloading goes on. */
	if (module->constructed)
		run_functions(module, module->image.destructors, run_destructors, "a destructor");
}
