/* Packages that several processes run together; see device.h. */
#include "config.h"

#include "loader/device/device.h"

#include <inttypes.h>

#include "format/plan/plan.h"
#include "format/plan/ranks.h"
#include "format/skplan.h"
#include "loader/base/status.h"
#include "loader/flight/flight.h"
#include "loader/ranks/transport.h"
#include "loader/skrt.h"

void sk_device_join(struct skrt_device *device, const struct sk_transport *transport)
{
	device->transport = transport;
}

static bool has_exchange(const struct sk_plan_view *plan)
{
	for (uint32_t i = 0; i < plan->form_count; i++)
		if (plan->forms[i].kind == SK_LAUNCH_EXCHANGE)
			return true;
	return false;
}

/* All of the plan is checked: the kernels of exchanges get addresses only, and bytes are those of the record. */
static enum skrt_status check_exchanges(struct skrt_module *module)
{
	char error[SK_ERROR_SIZE - 128];

	pthread_mutex_lock(&module->lock);
	bool good = sk_plan_make_room(&module->plan, error, sizeof(error)) &&
		    sk_plan_check_all(&module->plan, error, sizeof(error)) &&
		    sk_ranks_check(&module->ranks, &module->plan, error, sizeof(error));
	pthread_mutex_unlock(&module->lock);
	return good ? SKRT_OK : sk_fail(SKRT_BAD_PACKAGE, "%s: %s", module->path, error);
}

enum skrt_status sk_ranks_ready(struct skrt_module *module)
{
	uint32_t ranks = module->ranks.rank_count;

	if (ranks || has_exchange(&module->plan)) {
		enum skrt_status status = check_exchanges(module);

		if (status)
			return status;
	}
	if (module->transport && !ranks)
		return sk_fail(SKRT_UNSUPPORTED,
			       "%s: the package is for one process, and this is one of %" PRIu32
			       " ranks (sklink --ranks makes packages for several)",
			       module->path, module->transport->ranks);
	if (module->transport && module->transport->ranks != ranks)
		return sk_fail(SKRT_UNSUPPORTED,
			       "%s: the package is for %" PRIu32 " ranks, and this is one of %" PRIu32, module->path,
			       ranks, module->transport->ranks);
	if (!module->transport && ranks > 1)
		return sk_fail(SKRT_UNSUPPORTED,
			       "%s: the package is for %" PRIu32
			       " ranks, and this process is alone (skrun --ranks %" PRIu32 " simulates them)",
			       module->path, ranks, ranks);
	return SKRT_OK;
}
