/* From a path, memory or a descriptor to a package with a checked plan. loader/flight/contents.c has the queries of a
 * module's contents. */
#include "config.h"

#include "loader/device/device.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/plan/dims.h"
#include "format/plan/plan.h"
#include "format/plan/ranks.h"
#include "format/skplan.h"
#include "loader/base/status.h"
#include "loader/core/core.h"
#include "loader/flight/flight.h"
#include "loader/image/image.h"
#include "loader/ranks/transport.h"
#include "loader/skrt.h"

static enum skrt_status report_damage(const struct skrt_module *module, const char *reason)
{
	return sk_fail(SKRT_BAD_PACKAGE, "%s: %s", module->path, reason);
}

static enum skrt_status open_plan(struct skrt_module *module, const void *bytes, uint64_t size)
{
	char error[SK_ERROR_SIZE - 128];

	if (!bytes)
		return report_damage(module, "not a package: no symbol sk_plan");
	if ((uintptr_t)bytes % SK_PLAN_ALIGN)
		return report_damage(module, "the plan is not aligned");
	if (sk_image_holds(&module->image, bytes, size, PROT_WRITE))
		return report_damage(module,
				     "the plan is writable, or a writable copy of one in a shared object (compile the "
				     "code that refers to it with -fPIC)");
	if (!sk_image_holds(&module->image, bytes, size, PROT_READ))
		return report_damage(module, "the plan does not lie in a segment");
	if (!sk_plan_open_tables(bytes, size, &module->plan, error, sizeof(error)))
		return report_damage(module, error);
	if (module->plan.plan->machine != SK_MACHINE)
		return report_damage(module, "the plan is for another machine than the file");
	return SKRT_OK;
}

/* Read the sizes of a dynamic package. */
static enum skrt_status open_sizes(struct skrt_module *module)
{
	char error[SK_ERROR_SIZE - 128];
	uint64_t size = 0;
	bool is_linked = !module->image.gnu_hash && !module->image.hash;
	const void *bytes =
		is_linked ? sk_plan_sizes(&module->plan, &size) : sk_image_find(&module->image, "sk_dims", &size);

	if (!bytes)
		return SKRT_OK;
	if (sk_image_holds(&module->image, bytes, size, PROT_WRITE) ||
	    !sk_image_holds(&module->image, bytes, size, PROT_READ))
		return report_damage(module, "the sizes do not lie in a read-only segment");
	return sk_dims_open(bytes, size, &module->plan, &module->dims, error, sizeof(error))
		       ? SKRT_OK
		       : report_damage(module, error);
}

/* Read the ranks of a package for several processes. */
static enum skrt_status open_ranks(struct skrt_module *module)
{
	char error[SK_ERROR_SIZE - 128];
	uint64_t size = 0;
	bool is_linked = !module->image.gnu_hash && !module->image.hash;
	const void *bytes = is_linked ? NULL : sk_image_find(&module->image, "sk_ranks", &size);

	if (!bytes)
		return SKRT_OK;
	if (sk_image_holds(&module->image, bytes, size, PROT_WRITE) ||
	    !sk_image_holds(&module->image, bytes, size, PROT_READ))
		return report_damage(module, "the ranks do not lie in a read-only segment");
	return sk_ranks_open(bytes, size, &module->ranks, error, sizeof(error)) ? SKRT_OK
										: report_damage(module, error);
}

static enum skrt_status find_constants(struct skrt_module *module)
{
	const struct sk_plan *plan = module->plan.plan;

	module->constants = sk_plan_address(&plan->constants);
	if (plan->constants_size && !sk_image_holds(&module->image, module->constants, plan->constants_size, PROT_READ))
		return report_damage(module, "the constants do not lie in a segment");
	return SKRT_OK;
}

/* Return the number of blocks of launches in the plan. */
static uint32_t block_count(const struct skrt_module *module)
{
	return (module->plan.launch_count + SK_KERNEL_BLOCK - 1) / SK_KERNEL_BLOCK;
}

static enum skrt_status make_blocks(struct skrt_module *module)
{
	module->blocks = calloc(block_count(module) + (size_t)1, sizeof(*module->blocks));
	if (!module->blocks)
		return sk_fail(SKRT_OUT_OF_MEMORY, "%s: no memory for %" PRIu32 " launches", module->path,
			       module->plan.launch_count);
	return SKRT_OK;
}

static enum skrt_status add_cores(struct skrt_module *module)
{
	struct skrt_device *device = module->device;

	if (module->plan.lane_count > device->lane_limit)
		return sk_fail(SKRT_UNSUPPORTED, "%s: has steps for %" PRIu32 " lanes; device %s has %" PRIu32,
			       module->path, module->plan.lane_count, device->name, device->lane_limit);
	for (uint32_t lane = 0; lane < SK_MAX_LANES; lane++) {
		module->usual_cores[lane] = device->lanes[lane].usual;
		module->cores[lane] = module->plan.plan->resident_cores[lane];
		if (module->cores[lane] < module->usual_cores[lane])
			module->cores[lane] = module->usual_cores[lane];
	}
	return sk_device_add_cores(device, module->plan.lane_count, module->cores);
}

static void free_module(struct skrt_module *module)
{
	while (module->prepared) {
		struct skrt_kernel *kernel = module->prepared;

		module->prepared = kernel->next;
		sk_kernel_free(kernel);
	}
	for (uint32_t i = 0; module->blocks && i < block_count(module); i++)
		free(module->blocks[i]);
	free(module->blocks);
	sk_module_destruct(module);
	sk_exit_functions_forget(&module->image.package);
	sk_rank_places_close(module->rank_places);
	sk_dims_close(&module->dims);
	sk_plan_close(&module->plan);
	sk_image_close(&module->image);
	pthread_mutex_destroy(&module->lock);
	pthread_mutex_destroy(&module->construction);
	free(module->path);
	free(module);
}

enum skrt_status sk_module_make(struct skrt_device *device, char *path, const struct sk_image *image, const void *plan,
				uint64_t size, struct skrt_module **result)
{
	struct skrt_module *module = malloc(sizeof(*module));
	enum skrt_status status;

	if (!module) {
		struct sk_image unused = *image;

		status = sk_fail(SKRT_OUT_OF_MEMORY, "%s: no memory for a module", path);
		sk_image_close(&unused);
		free(path);
		return status;
	}
	*module = (struct skrt_module){.transport = device->transport,
				       .device = device,
				       .process = device->process,
				       .path = path,
				       .image = *image};
	pthread_mutex_init(&module->lock, NULL);
	pthread_mutex_init(&module->construction, NULL);
	status = open_plan(module, plan, size);
	if (!status)
		status = open_sizes(module);
	if (!status)
		status = open_ranks(module);
	if (!status)
		status = find_constants(module);
	if (!status)
		status = make_blocks(module);
	if (!status)
		status = add_cores(module);
	if (status) {
		free_module(module);
		return status;
	}
	pthread_mutex_lock(&device->lock);
	device->modules++;
	pthread_mutex_unlock(&device->lock);
	*result = module;
	return SKRT_OK;
}

static enum skrt_status load_module(struct skrt_device *device, const struct sk_source *source,
				    struct skrt_module **result)
{
	struct sk_image image;
	uint64_t size = 0;
	char *copy;
	enum skrt_status status = sk_process_check(&device->process);
	SK_UNCANCELLED;

	if (status)
		return status;
	copy = strdup(source->name);
	if (!copy)
		return sk_fail(SKRT_OUT_OF_MEMORY, "%s: no memory for a module", source->name);
	status = sk_image_open(source, &image);
	if (status) {
		free(copy);
		return status;
	}
	const void *plan = sk_image_find(&image, "sk_plan", &size);
	return sk_module_make(device, copy, &image, plan, size, result);
}

enum skrt_status skrt_module_load(struct skrt_device *device, const char *path, struct skrt_module **result)
{
	if (!device || !path || !result)
		return sk_fail_null(__func__);
	return load_module(device, &(struct sk_source){.name = path, .file = -1}, result);
}

/* Make an unnamed file with the bytes, so that they can be mapped like any other package. */
static int copy_to_file(const void *memory, uint64_t bytes)
{
	int file = memfd_create("package", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	uint64_t done = 0;

	while (file >= 0 && done < bytes) {
		ssize_t written = write(file, (const char *)memory + done, bytes - done);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0) {
			close(file);
			return -1;
		}
		done += (uint64_t)written;
	}
	return file;
}

/* Read the caller's array, in which all elements have the size of the first one. The caller frees the copy, also on
 * failure. */
static enum skrt_status read_imports(const struct skrt_source *source, const char *name, struct skrt_import **result)
{
	const char *theirs = (const char *)source->imports;
	enum skrt_status status = SKRT_OK;

	if (!source->import_count)
		return SKRT_OK;
	if (!theirs)
		return sk_fail_null("skrt_module_load_from");
	struct skrt_import *imports = *result = calloc(source->import_count, sizeof(*imports));
	if (!imports)
		return sk_fail(SKRT_OUT_OF_MEMORY, "%s: no memory for %" PRIu32 " imports", name, source->import_count);
	for (uint32_t i = 0; i < source->import_count && !status; i++) {
		const char *element = theirs + i * source->imports->size;

		status = sk_struct_read("skrt_import", element, &imports[i], sizeof(*imports));
		if (!status && memcmp(element, theirs, sizeof(size_t)))
			status = sk_fail(SKRT_INVALID_ARGUMENT, "%s: import number %" PRIu32 " has another size", name,
					 i);
		if (!status && (!imports[i].name || !imports[i].function))
			status = sk_fail(SKRT_INVALID_ARGUMENT,
					 "%s: import number %" PRIu32 " has no name or no address", name, i);
	}
	return status;
}

/* Find the one place that a source must have, as a descriptor in own->file, or as the path. */
static enum skrt_status find_package(const struct skrt_source *source, struct sk_source *own)
{
	if (!!source->path + !!source->memory + !!source->use_descriptor != 1)
		return sk_fail(SKRT_INVALID_ARGUMENT, "%s: a source is one of a path, memory and a descriptor",
			       own->name);
	if (source->weights && source->use_weights_descriptor)
		return sk_fail(SKRT_INVALID_ARGUMENT, "%s: weights are a path or a descriptor, not both", own->name);
	if (source->use_weights_descriptor && source->weights_descriptor < 0)
		return sk_fail(SKRT_CANNOT_READ, "%s: its weights: %s", own->name, strerror(EBADF));
	if (source->path)
		own->name = source->path;
	if (source->use_descriptor)
		own->file = source->descriptor;
	if (source->memory)
		own->file = copy_to_file(source->memory, source->bytes);
	if (own->file < 0 && !source->path)
		return sk_fail(SKRT_CANNOT_READ, "%s: %s", own->name, strerror(source->memory ? errno : EBADF));
	return SKRT_OK;
}

static enum skrt_status load_from(struct skrt_device *device, const struct skrt_source *source,
				  struct skrt_module **result)
{
	struct sk_source own = {
		.name = source->name   ? source->name
			: source->path ? source->path
				       : "package in memory",
		.file = -1,
		.import_count = source->import_count,
		/* With a key, the code that runs must be exactly the bytes of which the signature was checked. */
		.copied = source->public_key != NULL,
		.check = source->check_integrity || source->public_key ? sk_integrity_check : NULL,
		.check_integrity = source->check_integrity,
		.public_key = source->public_key,
		.weights = source->weights,
		.weights_file = source->use_weights_descriptor ? &source->weights_descriptor : NULL,
	};
	struct skrt_import *imports = NULL;
	enum skrt_status status = read_imports(source, own.name, &imports);

	own.imports = imports;
	if (!status)
		status = find_package(source, &own);
	if (!status)
		status = load_module(device, &own, result);
	if (source->memory && own.file >= 0)
		close(own.file);
	free(imports);
	return status;
}

enum skrt_status skrt_module_load_from(struct skrt_device *device, const struct skrt_source *source,
				       struct skrt_module **result)
{
	struct skrt_source own;
	SK_UNCANCELLED;

	if (!device || !source || !result)
		return sk_fail_null(__func__);
	enum skrt_status status = sk_struct_read("skrt_source", source, &own, sizeof(own));
	return status ? status : load_from(device, &own, result);
}

enum skrt_status skrt_module_unload(struct skrt_module *module)
{
	if (!module)
		return SKRT_OK;
	struct skrt_device *device = module->device;
	SK_UNCANCELLED;
	enum skrt_status status = sk_device_lock(device);
	if (status)
		return status;
	uint32_t instances = module->instances, traces = atomic_load(&module->traces);
	bool busy = instances || traces;
	device->modules -= !busy;
	sk_device_unlock(device);
	if (busy)
		return sk_fail(SKRT_BUSY, "%s: the module is in use; instances: %" PRIu32 ", traces: %" PRIu32,
			       module->path, instances, traces);
	free_module(module);
	return SKRT_OK;
}
