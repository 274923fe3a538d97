/* skrt.h without its comments, as programs were built with it since SKRT_1.1. It does not change any more. */
#ifndef SKRT_H
#define SKRT_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
#if defined(__cplusplus) && __cplusplus >= 201402L
#define SKRT_SIZE_OF(type) = sizeof(type)
#else
#define SKRT_SIZE_OF(type)
#endif
enum skrt_status {
	SKRT_OK,
	SKRT_INVALID_ARGUMENT,
	SKRT_OUT_OF_MEMORY,
	SKRT_CANNOT_READ,
	SKRT_BAD_PACKAGE,
	SKRT_UNSUPPORTED,
	SKRT_NOT_FOUND,
	SKRT_NOT_BOUND,
	SKRT_BUSY,
	SKRT_KERNEL_FAILED,
	SKRT_NOT_READY,
	SKRT_DEVICE_LOST,
	SKRT_CANNOT_WRITE
};
const char *skrt_status_name(enum skrt_status status);
const char *skrt_error(void);
const char *skrt_version(void);
struct skrt_device;
struct skrt_device_options {
	size_t size SKRT_SIZE_OF(struct skrt_device_options);
	const char *device;
	uint32_t cores;
	uint32_t timeout_ms;
	uint64_t seed;
	uint64_t stack_size;
	uint64_t checks;
};
enum {
	SKRT_GUARD = 1,
	SKRT_CHECK_RACES = 2,
	SKRT_CHECK_SPLIT = 4
};
enum { SKRT_SPLIT_UNITS = 16384 };
enum skrt_status skrt_device_open(const struct skrt_device_options *options, struct skrt_device **device);
enum skrt_status skrt_device_close(struct skrt_device *device);
uint32_t skrt_device_cores(const struct skrt_device *device, uint32_t lane);
const char *skrt_device_name(const struct skrt_device *device);
enum skrt_status skrt_allocate(struct skrt_device *device, uint64_t bytes, void **memory);
enum skrt_status skrt_free(struct skrt_device *device, void *memory);
struct skrt_module;
struct skrt_kernel;
struct sk_plan;
enum skrt_dtype {
	SKRT_I8 = 1,
	SKRT_U8,
	SKRT_I16,
	SKRT_U16,
	SKRT_I32,
	SKRT_U32,
	SKRT_I64,
	SKRT_U64,
	SKRT_F16,
	SKRT_BF16,
	SKRT_F32,
	SKRT_F64,
	SKRT_BOOL
};
enum skrt_role {
	SKRT_INPUT = 1,
	SKRT_OUTPUT,
	SKRT_INOUT
};
enum { SKRT_MAX_RANK = 8 };
struct skrt_tensor {
	size_t size SKRT_SIZE_OF(struct skrt_tensor);
	const char *name;
	enum skrt_dtype dtype;
	enum skrt_role role;
	uint32_t rank;
	uint64_t shape[SKRT_MAX_RANK];
	uint64_t bytes;
	uint64_t padding;
};
enum skrt_status skrt_module_load(struct skrt_device *device, const char *path, struct skrt_module **module);
struct skrt_import {
	size_t size SKRT_SIZE_OF(struct skrt_import);
	const char *name;
	void (*function)(void);
};
struct skrt_source {
	size_t size SKRT_SIZE_OF(struct skrt_source);
	const char *path;
	const void *memory;
	uint64_t bytes;
	int use_descriptor;
	int descriptor;
	const char *name;
	const struct skrt_import *imports;
	uint32_t import_count;
	int check_integrity;
	const unsigned char *public_key;
	const char *weights;
	int use_weights_descriptor;
	int weights_descriptor;
};
enum skrt_status skrt_module_load_from(struct skrt_device *device, const struct skrt_source *source,
				       struct skrt_module **module);
enum skrt_status skrt_module_load_linked(struct skrt_device *device, const struct sk_plan *plan,
					 struct skrt_module **module);
enum skrt_status skrt_module_unload(struct skrt_module *module);
uint32_t skrt_module_tensor_count(const struct skrt_module *module);
enum skrt_status skrt_module_tensor(const struct skrt_module *module, uint32_t index, struct skrt_tensor *tensor);
enum skrt_status skrt_module_find_tensor(const struct skrt_module *module, const char *name, uint32_t *index);
enum skrt_kernel_kind {
	SKRT_SUPERKERNEL,
	SKRT_SINGLE,
	SKRT_TASK
};
struct skrt_kernel_info {
	size_t size SKRT_SIZE_OF(struct skrt_kernel_info);
	const char *name;
	const char *scope;
	enum skrt_kernel_kind kind;
	uint32_t task_count;
	uint32_t stream;
	int has_serial_entry;
};
uint32_t skrt_module_kernel_count(const struct skrt_module *module);
enum skrt_status skrt_module_kernel(struct skrt_module *module, uint32_t index, const struct skrt_kernel **kernel);
enum skrt_status skrt_module_find_kernel(struct skrt_module *module, const char *name,
					 const struct skrt_kernel **kernel);
uint32_t skrt_module_task_count(const struct skrt_module *module);
enum skrt_status skrt_module_task(struct skrt_module *module, uint32_t index, const struct skrt_kernel **kernel);
enum skrt_status skrt_module_find_task(struct skrt_module *module, const char *name, const struct skrt_kernel **kernel);
enum skrt_status skrt_kernel_describe(const struct skrt_kernel *kernel, struct skrt_kernel_info *info);
struct skrt_network {
	size_t size SKRT_SIZE_OF(struct skrt_network);
	const char *name;
	uint32_t first_tensor, tensor_count;
	uint32_t first_kernel, kernel_count;
	uint32_t first_task, task_count;
};
enum skrt_status skrt_module_network(struct skrt_module *module, uint32_t index, struct skrt_network *network);
enum skrt_status skrt_module_find_network(struct skrt_module *module, const char *name, struct skrt_network *network);
struct skrt_instance;
enum skrt_status skrt_instance_create(struct skrt_module *module, struct skrt_instance **instance);
enum skrt_status skrt_instance_create_for(struct skrt_module *module, const char *network,
					  struct skrt_instance **instance);
enum skrt_status skrt_instance_destroy(struct skrt_instance *instance);
struct skrt_dimension {
	size_t size SKRT_SIZE_OF(struct skrt_dimension);
	const char *name;
	const char *network;
	uint64_t least, most, multiple;
	uint64_t usual;
};
struct skrt_extent {
	size_t size SKRT_SIZE_OF(struct skrt_extent);
	uint64_t present;
	int is_shown;
	uint32_t tensor;
};
uint32_t skrt_module_dimension_count(const struct skrt_module *module);
enum skrt_status skrt_module_dimension(const struct skrt_module *module, uint32_t index,
				       struct skrt_dimension *dimension);
enum skrt_status skrt_instance_set_dimension(struct skrt_instance *instance, const char *name, uint64_t size);
enum skrt_status skrt_instance_dimension(const struct skrt_instance *instance, uint32_t index,
					 struct skrt_extent *extent);
enum skrt_status skrt_instance_tensor(const struct skrt_instance *instance, uint32_t index, struct skrt_tensor *tensor);
enum skrt_status skrt_instance_bind(struct skrt_instance *instance, uint32_t index, void *data, uint64_t bytes);
enum skrt_status skrt_instance_bind_array(struct skrt_instance *instance, const char *name, enum skrt_dtype dtype,
					  uint32_t rank, const uint64_t *shape, void *data);
enum skrt_status skrt_instance_fill_workspace(struct skrt_instance *instance, int byte);
struct skrt_stream;
enum skrt_status skrt_stream_create(struct skrt_device *device, struct skrt_stream **stream);
enum skrt_status skrt_stream_destroy(struct skrt_stream *stream);
enum skrt_status skrt_launch(struct skrt_stream *stream, struct skrt_instance *instance,
			     const struct skrt_kernel *kernel);
enum skrt_status skrt_launch_network(struct skrt_stream *stream, struct skrt_instance *instance);
enum skrt_status skrt_launch_network_on(struct skrt_stream *const *streams, uint32_t count,
					struct skrt_instance *instance);
enum skrt_status skrt_synchronise(struct skrt_stream *stream);
enum skrt_status skrt_run(struct skrt_stream *stream, struct skrt_instance *instance, const struct skrt_kernel *kernel);
enum skrt_status skrt_run_network(struct skrt_stream *stream, struct skrt_instance *instance);
enum skrt_status skrt_stream_query(struct skrt_stream *stream);
enum skrt_status skrt_copy(struct skrt_stream *stream, void *to, const void *from, uint64_t bytes);
enum skrt_status skrt_stream_call(struct skrt_stream *stream, void (*function)(void *context, enum skrt_status status),
				  void *context);
struct skrt_event;
enum skrt_status skrt_event_create(struct skrt_device *device, struct skrt_event **event);
enum skrt_status skrt_event_destroy(struct skrt_event *event);
enum skrt_status skrt_event_record(struct skrt_event *event, struct skrt_stream *stream);
enum skrt_status skrt_stream_wait(struct skrt_stream *stream, struct skrt_event *event);
enum skrt_status skrt_event_query(struct skrt_event *event);
enum skrt_status skrt_event_synchronise(struct skrt_event *event);
enum skrt_status skrt_event_elapsed(struct skrt_event *start, struct skrt_event *end, double *seconds);
enum skrt_status skrt_run_serial(struct skrt_instance *instance, const struct skrt_kernel *kernel);
struct skrt_trace;
enum skrt_status skrt_trace_begin(struct skrt_device *device, uint64_t most_slices, struct skrt_trace **trace);
enum skrt_status skrt_trace_end(struct skrt_trace *trace);
enum skrt_status skrt_trace_destroy(struct skrt_trace *trace);
enum skrt_status skrt_trace_write(const struct skrt_trace *trace, const char *path);
struct skrt_trace_info {
	size_t size SKRT_SIZE_OF(struct skrt_trace_info);
	uint64_t launch_count;
	uint64_t kept_launches;
	uint64_t task_count;
	double seconds;
	double core_seconds;
	double run_seconds;
	double wait_seconds;
};
struct skrt_task_times {
	size_t size SKRT_SIZE_OF(struct skrt_task_times);
	const char *task, *kernel;
	uint64_t runs;
	uint64_t calls;
	double run_seconds;
	double wait_seconds;
};
enum skrt_status skrt_trace_describe(const struct skrt_trace *trace, struct skrt_trace_info *info);
enum skrt_status skrt_trace_task(const struct skrt_trace *trace, uint64_t index, struct skrt_task_times *times);
#ifdef __cplusplus
}
#endif
#endif
