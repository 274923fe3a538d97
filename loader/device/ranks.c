/* Packages that several processes run together; see device.h. The process has one transport to the other ranks. skrun
 * gives devices its own; for other programs libskrt opens one when the first package for several ranks gets an
 * instance. */
#include "config.h"

#include "loader/device/device.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "format/plan/plan.h"
#include "format/plan/ranks.h"
#include "format/skplan.h"
#include "loader/base/status.h"
#include "loader/flight/flight.h"
#include "loader/ranks/transport.h"
#include "loader/skrt.h"

/* Of this process. */
static struct {
	pthread_mutex_t lock;
	bool tried, open; /* the transport that libskrt opens by itself */
	struct sk_transport transport;
	char error[SK_ERROR_SIZE - 128]; /* why it is not open; "": the process is alone */
	uint64_t compared; /* packages */
	_Atomic bool failed; /* a launch of a package for several ranks */
} process = {.lock = PTHREAD_MUTEX_INITIALIZER};

void sk_device_join(struct skrt_device *device, const struct sk_transport *transport, bool own_packages)
{
	device->transport = transport;
	device->own_packages = own_packages;
}

void sk_ranks_note_failure(void)
{
	atomic_store(&process.failed, true);
}

/* The others must not wait for a rank that ends, nor be cut off by one that ends earlier. */
static void leave_ranks(void)
{
	struct sk_transport *transport = &process.transport;
	uint64_t own = 0, *all = calloc(transport->ranks, sizeof(*all));
	char error[SK_ERROR_SIZE];
	struct sk_gathering gathering = {transport, SK_RANKS_TIMEOUT, error, sizeof(error)};

	if (!transport->is_open(transport->context)) {
		free(all);
		return;
	}
	if (atomic_load(&process.failed) || !all ||
	    !sk_gather(&gathering, "the end of the program", &own, all, sizeof(own)))
		transport->abort(transport->context, "see its message");
	free(all);
	transport->close(transport->context);
}

/* Return the transport of the process; NULL: it is alone, or there is an error. */
static const struct sk_transport *open_transport(void)
{
	pthread_mutex_lock(&process.lock);
	if (!process.tried) {
		struct sk_launcher launcher = sk_launcher_find();
		const char *name = sk_plugin_choose(&launcher);

		process.tried = true;
		process.open = name && sk_plugin_open(name, &launcher, &process.transport, process.error,
						      sizeof(process.error));
		if (process.open)
			atexit(leave_ranks);
	}
	pthread_mutex_unlock(&process.lock);
	return process.open ? &process.transport : NULL;
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

static enum skrt_status check_number(const struct skrt_module *module)
{
	uint32_t ranks = module->ranks.rank_count;

	if (module->transport && !ranks)
		return sk_fail(SKRT_UNSUPPORTED,
			       "%s: the package is for one process, and this is one of %" PRIu32
			       " ranks (sklink --ranks makes packages for several)",
			       module->path, module->transport->ranks);
	if (module->transport && module->transport->ranks != ranks)
		return sk_fail(SKRT_UNSUPPORTED,
			       "%s: the package is for %" PRIu32 " ranks, and this is one of %" PRIu32, module->path,
			       ranks, module->transport->ranks);
	if (!module->transport && ranks > 1 && *process.error)
		return sk_fail(SKRT_UNSUPPORTED, "%s: %s", module->path, process.error);
	if (!module->transport && ranks > 1)
		return sk_fail(SKRT_UNSUPPORTED,
			       "%s: the package is for %" PRIu32
			       " ranks, and this process is alone (skrun --ranks %" PRIu32
			       " simulates them; mpirun -np %" PRIu32 " starts them)",
			       module->path, ranks, ranks, ranks);
	return SKRT_OK;
}

/* Compare the package with those of the other ranks, once. */
static enum skrt_status compare(struct skrt_module *module)
{
	char error[SK_ERROR_SIZE - 128];
	const char *packages = getenv("SKRT_RANK_PACKAGES");
	uint64_t timeout = module->device->watch.timeout;
	struct sk_comparison comparison = {
		.gathering = {module->transport, timeout ? timeout / 1000000 : SK_RANKS_TIMEOUT, error, sizeof(error)},
		.ranks = &module->ranks,
		.plan = &module->plan,
		.own_packages = module->device->own_packages || (packages && !strcmp(packages, "own"))};
	bool good;

	pthread_mutex_lock(&process.lock);
	comparison.number = ++process.compared;
	good = sk_ranks_compare(&comparison);
	pthread_mutex_unlock(&process.lock);
	if (!good)
		sk_ranks_note_failure();
	module->compared = good;
	module->exchange_timeout = timeout ? 0 : SK_RANKS_TIMEOUT * UINT64_C(1000000);
	return good ? SKRT_OK : sk_fail(SKRT_UNSUPPORTED, "%s: %s", module->path, error);
}

enum skrt_status sk_ranks_ready(struct skrt_module *module)
{
	uint32_t ranks = module->ranks.rank_count;
	enum skrt_status status = SKRT_OK;

	if (ranks || has_exchange(&module->plan))
		status = check_exchanges(module);
	if (!status && !module->transport && ranks > 1)
		module->transport = open_transport();
	if (!status)
		status = check_number(module);
	if (!status && module->transport && !module->compared)
		status = compare(module);
	if (!status && module->transport && module->transport->checked && !module->rank_places) {
		module->rank_places = sk_rank_places_open(module->transport);
		if (!module->rank_places)
			status =
				sk_fail(SKRT_OUT_OF_MEMORY, "%s: no memory for %" PRIu32 " ranks", module->path, ranks);
	}
	return status;
}
