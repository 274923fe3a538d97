/* A module: a mapped package with its plan checked, on a device; its kernels, prepared when first asked for. */
#ifndef SK_LOADER_MODULE_H
#define SK_LOADER_MODULE_H

#include <pthread.h>
#include <stdbool.h>

#include "format/plan/plan.h"
#include "format/skabi.h"
#include "loader/base/process.h"
#include "loader/base/status.h"
#include "loader/image/image.h"
#include "loader/skrt.h"

enum { SK_KERNEL_BLOCK = 256 };

/* Of so many launches, one behind the other. */
struct sk_kernel_block {
	struct skrt_kernel *kernels[SK_KERNEL_BLOCK]; /* NULL: not prepared yet */
};

struct skrt_module {
	struct skrt_device *device;
	struct sk_process process; /* the device's; elsewhere nobody may wait for the locks */
	char *path;
	struct sk_image image;
	struct sk_plan_view plan;
	const void *constants;
	uint32_t usual_cores[SK_MAX_LANES]; /* of the device's lanes: of a launch that does not need more */
	uint32_t cores[SK_MAX_LANES]; /* the most that any launch has */
	struct sk_kernel_block **blocks; /* of all launches; NULL: none of the block is prepared yet */
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

/* The launch, if it has been prepared; else NULL. */
static inline struct skrt_kernel *sk_module_prepared(const struct skrt_module *module, uint32_t launch)
{
	const struct sk_kernel_block *block = module->blocks[launch / SK_KERNEL_BLOCK];

	return block ? block->kernels[launch % SK_KERNEL_BLOCK] : NULL;
}

#endif
