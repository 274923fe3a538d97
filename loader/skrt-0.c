/* Functions of libskrt for programs that were built before its symbols had versions. Their structs are those of
 * SKRT_1.0 without the leading size, and with 32 bits of checks; fields that have been added since do not exist. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "loader/skrt.h"

/* Only for the shared library: an old program is never linked with the static one. */
#ifdef PIC

/* Define a function of this file, which loader/libskrt.map does not export, as the old version of the one in skrt.h. */
#define IS_BEFORE(name) __asm__(".symver sk_" #name "_0, skrt_" #name "@SKRT_0")

/* Bytes of a struct up to the last field of its old version. */
#define OLD_BYTES(type, last) (offsetof(struct type, last) + sizeof(((struct type *)0)->last) - sizeof(size_t))

/* Return the place in today's struct from which its fields are laid out like the old struct. */
static char *fields_of(void *today)
{
	return (char *)today + sizeof(size_t);
}

static enum skrt_status hand_out(enum skrt_status status, void *today, void *old, size_t bytes)
{
	if (status == SKRT_OK)
		memcpy(old, fields_of(today), bytes);
	return status;
}

enum skrt_status sk_device_open_0(const void *old, struct skrt_device **device);
IS_BEFORE(device_open);
enum skrt_status sk_device_open_0(const void *old, struct skrt_device **device)
{
	struct skrt_device_options options = {.size = sizeof(options)};
	size_t before = OLD_BYTES(skrt_device_options, stack_size);
	uint32_t checks;

	if (!old)
		return skrt_device_open(NULL, device);
	memcpy(fields_of(&options), old, before);
	memcpy(&checks, (const char *)old + before, sizeof(checks));
	options.checks = checks;
	return skrt_device_open(&options, device);
}

struct old_import {
	const char *name;
	void (*function)(void);
};

enum skrt_status sk_module_load_from_0(struct skrt_device *device, const void *old, struct skrt_module **module);
IS_BEFORE(module_load_from);
enum skrt_status sk_module_load_from_0(struct skrt_device *device, const void *old, struct skrt_module **module)
{
	struct skrt_source source = {.size = sizeof(source)};

	if (!old)
		return skrt_module_load_from(device, NULL, module);
	memcpy(fields_of(&source), old, OLD_BYTES(skrt_source, weights_descriptor));
	if (!source.import_count || !source.imports)
		return skrt_module_load_from(device, &source, module);

	const struct old_import *imports = (const struct old_import *)(const void *)source.imports;
	struct skrt_import *today = calloc(source.import_count, sizeof(*today));

	if (!today) /* no function of libskrt reported this failure */
		return SKRT_OUT_OF_MEMORY;
	for (uint32_t i = 0; i < source.import_count; i++)
		today[i] = (struct skrt_import){sizeof(*today), imports[i].name, imports[i].function};
	source.imports = today;
	enum skrt_status status = skrt_module_load_from(device, &source, module);
	free(today);
	return status;
}

enum skrt_status sk_module_tensor_0(const struct skrt_module *module, uint32_t index, void *old);
IS_BEFORE(module_tensor);
enum skrt_status sk_module_tensor_0(const struct skrt_module *module, uint32_t index, void *old)
{
	struct skrt_tensor tensor = {.size = sizeof(tensor)};
	enum skrt_status status = skrt_module_tensor(module, index, old ? &tensor : NULL);

	return hand_out(status, &tensor, old, OLD_BYTES(skrt_tensor, padding));
}

enum skrt_status sk_kernel_describe_0(const struct skrt_kernel *kernel, void *old);
IS_BEFORE(kernel_describe);
enum skrt_status sk_kernel_describe_0(const struct skrt_kernel *kernel, void *old)
{
	struct skrt_kernel_info info = {.size = sizeof(info)};
	enum skrt_status status = skrt_kernel_describe(kernel, old ? &info : NULL);

	return hand_out(status, &info, old, OLD_BYTES(skrt_kernel_info, has_serial_entry));
}

enum skrt_status sk_module_network_0(struct skrt_module *module, uint32_t index, void *old);
IS_BEFORE(module_network);
enum skrt_status sk_module_network_0(struct skrt_module *module, uint32_t index, void *old)
{
	struct skrt_network network = {.size = sizeof(network)};
	enum skrt_status status = skrt_module_network(module, index, old ? &network : NULL);

	return hand_out(status, &network, old, OLD_BYTES(skrt_network, task_count));
}

enum skrt_status sk_module_find_network_0(struct skrt_module *module, const char *name, void *old);
IS_BEFORE(module_find_network);
enum skrt_status sk_module_find_network_0(struct skrt_module *module, const char *name, void *old)
{
	struct skrt_network network = {.size = sizeof(network)};
	enum skrt_status status = skrt_module_find_network(module, name, old ? &network : NULL);

	return hand_out(status, &network, old, OLD_BYTES(skrt_network, task_count));
}

enum skrt_status sk_trace_describe_0(const struct skrt_trace *trace, void *old);
IS_BEFORE(trace_describe);
enum skrt_status sk_trace_describe_0(const struct skrt_trace *trace, void *old)
{
	struct skrt_trace_info info = {.size = sizeof(info)};
	enum skrt_status status = skrt_trace_describe(trace, old ? &info : NULL);

	return hand_out(status, &info, old, OLD_BYTES(skrt_trace_info, wait_seconds));
}

enum skrt_status sk_trace_task_0(const struct skrt_trace *trace, uint64_t index, void *old);
IS_BEFORE(trace_task);
enum skrt_status sk_trace_task_0(const struct skrt_trace *trace, uint64_t index, void *old)
{
	struct skrt_task_times times = {.size = sizeof(times)};
	enum skrt_status status = skrt_trace_task(trace, index, old ? &times : NULL);

	return hand_out(status, &times, old, OLD_BYTES(skrt_task_times, wait_seconds));
}

#endif
