/* A module: a mapped package with its plan checked, on a device; its kernels, prepared when first asked for. */
#ifndef SK_LOADER_MODULE_H
#define SK_LOADER_MODULE_H

#include <pthread.h>
#include <stdbool.h>

#include "loader/base/process.h"
#include "loader/base/status.h"
#include "loader/image/image.h"
#include "loader/plan/plan.h"
#include "loader/skrt.h"
#include "stubs/skabi.h"

struct skrt_module {
	struct skrt_device *device;
	struct sk_process process; /* the device's; elsewhere nobody may wait for the locks */
	char *path;
	struct sk_image image;
	struct sk_plan_view plan;
	const void *constants;
	uint32_t usual_cores[SK_MAX_LANES]; /* of the device's lanes: of a launch that does not need more */
	uint32_t cores[SK_MAX_LANES]; /* the most that any launch has */
	struct skrt_kernel **kernels; /* by launch number; NULL: not prepared yet */
	struct skrt_kernel *prepared;
	pthread_mutex_t lock; /* preparing kernels, checking records */
	bool records_checked; /* of the plan: see sk_plan_check_records */
	_Atomic bool network_prepared;
	pthread_mutex_t construction; /* held while constructors run, which may take long: */
	bool constructed; /* they have run, or failed: */
	char failure[SK_ERROR_SIZE]; /* in this way; "": they have not */
	uint32_t instances; /* alive; under the device's lock */
	_Atomic uint32_t traces; /* that hold launches of it */
};

#endif
