/* The guarded tensors of instances, on devices with checks: they are those of the instance's plan, which must have been
 * checked as a whole. */
#include "config.h"

#include "loader/device/device.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "format/plan/plan.h"
#include "format/skplan.h"
#include "loader/base/status.h"
#include "loader/checks/checks.h"
#include "loader/flight/flight.h"
#include "loader/image/image.h"
#include "loader/skrt.h"

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

enum skrt_status sk_instance_cannot_guard(const struct skrt_module *module)
{
	return sk_fail(SKRT_OUT_OF_MEMORY, "%s: no memory for guarded tensors: %s", module->path, strerror(errno));
}

enum skrt_status sk_instance_make_guard(struct skrt_instance *instance)
{
	struct skrt_module *module = instance->module;
	enum skrt_status status = check_plan(module);
	char error[SK_ERROR_SIZE - 128];

	if (status)
		return status;
	if (instance->sizes && !sk_chosen_make_plan(instance))
		return sk_fail(SKRT_OUT_OF_MEMORY, "%s: no memory for a plan of the sizes", module->path);
	sk_guard_close(instance->guard);
	instance->guard = sk_guard_open(instance, sk_checks_guard(module->device->checks), error, sizeof(error));
	if (!instance->guard)
		return sk_fail(SKRT_OUT_OF_MEMORY, "%s: %s", module->path, error);
	if (instance->sizes)
		instance->sizes->guarded = instance->sizes->number;
	return SKRT_OK;
}
