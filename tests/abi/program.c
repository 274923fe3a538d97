/* Calls every function of libskrt that takes or fills a struct, with the structs of the header that it was compiled
 * with. SIZED sets the sizes of structs, which skrt-0.h lacks. The memory after each struct must keep its contents. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "skrt.h"

#ifdef HAS_SIZES
#define SIZED(type) .size = sizeof(struct type),
#else
#define SIZED(type)
#endif

#define GUARDED(type, name)                                                                                            \
	struct {                                                                                                       \
		struct type fields;                                                                                    \
		unsigned char behind[64];                                                                              \
	} name = {.fields = {SIZED(type) 0}};                                                                          \
	memset(name.behind, 0xa5, sizeof(name.behind))

#define CHECK(condition)                                                                                               \
	do                                                                                                             \
		if (!(condition)) {                                                                                    \
			printf("line %d: %s: %s\n", __LINE__, #condition, skrt_error());                               \
			exit(1);                                                                                       \
		}                                                                                                      \
	while (0)

enum { N = 6 };
static _Alignas(64) int32_t x[N] = {1, 2, 3, 4, 5, 6}, y[N];
static struct skrt_device *device;
static struct skrt_module *module;
static const struct skrt_kernel *kernel;

static int is_intact(const unsigned char behind[64])
{
	for (int i = 0; i < 64; i++)
		if (behind[i] != 0xa5)
			return 0;
	return 1;
}

static int forty_two(void)
{
	return 42;
}

/* Bytes between fields hold anything. */
static void open_device(void)
{
	struct skrt_device_options options;
	const struct skrt_device_options none = {SIZED(skrt_device_options) 0};

	CHECK(skrt_device_open(NULL, &device) == SKRT_OK && skrt_device_close(device) == SKRT_OK);
	memset(&options, 0xff, sizeof(options));
#ifdef HAS_SIZES
	options.size = none.size;
#endif
	options.device = "a3";
	options.cores = 3;
	options.timeout_ms = 20000;
	options.seed = 5;
	options.stack_size = 1;
	options.checks = 0;
	CHECK(skrt_device_open(&options, &device) == SKRT_INVALID_ARGUMENT && strstr(skrt_error(), "stacks of 1 "));
	options.stack_size = 1 << 16;
	options.checks = 1u << 31;
	CHECK(skrt_device_open(&options, &device) == SKRT_INVALID_ARGUMENT && strstr(skrt_error(), "0x80000000;"));
	options.checks = 0;
	CHECK(skrt_device_open(&options, &device) == SKRT_OK);
	CHECK(skrt_device_cores(device, 0) == 3 && !strcmp(skrt_device_name(device), "a3"));
	CHECK(skrt_device_open(&none, NULL) == SKRT_INVALID_ARGUMENT);
}

static void load(const char *path)
{
	const struct skrt_import imports[] = {
		{SIZED(skrt_import).name = "abs", .function = (void (*)(void))exit},
		{SIZED(skrt_import).name = "rand", .function = (void (*)(void))forty_two},
	};
	struct skrt_source source = {SIZED(skrt_source).path = path, .weights = "none", .use_weights_descriptor = 1};

	CHECK(skrt_module_load_from(device, NULL, &module) == SKRT_INVALID_ARGUMENT);
	CHECK(skrt_module_load_from(device, &source, &module) == SKRT_INVALID_ARGUMENT);
	source.weights = NULL;
	source.weights_descriptor = -1;
	CHECK(skrt_module_load_from(device, &source, &module) == SKRT_CANNOT_READ);
	source.use_weights_descriptor = 0;
	source.check_integrity = 1;
	CHECK(skrt_module_load_from(device, &source, &module) == SKRT_OK && skrt_module_unload(module) == SKRT_OK);
	source.imports = imports;
	source.import_count = 2;
	CHECK(skrt_module_load_from(device, &source, &module) == SKRT_OK);
}

static void look(void)
{
	GUARDED(skrt_tensor, tensor);
	GUARDED(skrt_kernel_info, info);
	GUARDED(skrt_network, network);
	uint32_t index = 7;

	CHECK(skrt_module_find_tensor(module, "y", &index) == SKRT_OK && index == 1);
	CHECK(skrt_module_tensor(module, 1, &tensor.fields) == SKRT_OK && is_intact(tensor.behind));
	CHECK(!strcmp(tensor.fields.name, "y") && tensor.fields.dtype == SKRT_I32 && tensor.fields.role == SKRT_OUTPUT);
	CHECK(tensor.fields.rank == 2 && tensor.fields.shape[0] == 2 && tensor.fields.shape[1] == 3);
	CHECK(tensor.fields.shape[2] == 0 && tensor.fields.bytes == sizeof(y) && tensor.fields.padding == 0);
	CHECK(skrt_module_tensor(module, 2, &tensor.fields) == SKRT_INVALID_ARGUMENT);
	CHECK(skrt_module_tensor(module, 0, NULL) == SKRT_INVALID_ARGUMENT);

	CHECK(skrt_module_kernel(module, 0, &kernel) == SKRT_OK);
	skrt_kernel_describe(kernel, &info.fields);
	CHECK(is_intact(info.behind) && !strcmp(info.fields.name, "sk_task_only") && !*info.fields.scope);
	CHECK(info.fields.kind == SKRT_SINGLE && info.fields.task_count == 1 && info.fields.stream == 2);
	CHECK(info.fields.has_serial_entry == 1);

	CHECK(skrt_module_network(module, 1, &network.fields) == SKRT_NOT_FOUND);
	CHECK(skrt_module_network(module, 0, &network.fields) == SKRT_OK && is_intact(network.behind));
	CHECK(!*network.fields.name && network.fields.tensor_count == 2 && network.fields.kernel_count == 1);
	network.fields.task_count = 0;
	CHECK(skrt_module_find_network(module, NULL, &network.fields) == SKRT_OK && is_intact(network.behind));
	CHECK(network.fields.first_task == 0 && network.fields.task_count == 1);
}

static void run(void)
{
	GUARDED(skrt_trace_info, info);
	GUARDED(skrt_task_times, times);
	struct skrt_instance *instance;
	struct skrt_stream *stream;
	struct skrt_trace *trace;

	CHECK(skrt_instance_create(module, &instance) == SKRT_OK && skrt_stream_create(device, &stream) == SKRT_OK);
	CHECK(skrt_instance_bind(instance, 0, x, sizeof(x)) == SKRT_OK);
	CHECK(skrt_instance_bind(instance, 1, y, sizeof(y)) == SKRT_OK);
	CHECK(skrt_trace_begin(device, 100, &trace) == SKRT_OK);
	CHECK(skrt_run_network(stream, instance) == SKRT_OK && skrt_trace_end(trace) == SKRT_OK);
	for (int i = 0; i < N; i++)
		CHECK(y[i] == x[i] + 42);
	skrt_trace_describe(trace, &info.fields);
	CHECK(is_intact(info.behind) && info.fields.launch_count == 1 && info.fields.kept_launches == 1);
	CHECK(info.fields.task_count == 1 && info.fields.seconds > 0 && info.fields.run_seconds > 0);
	CHECK(info.fields.wait_seconds == 0 && info.fields.core_seconds >= info.fields.run_seconds);
	CHECK(skrt_trace_task(trace, 0, &times.fields) == SKRT_OK && is_intact(times.behind));
	CHECK(!strcmp(times.fields.task, "only") && !strcmp(times.fields.kernel, "draw"));
	CHECK(times.fields.runs == 1 && times.fields.calls == 1 && times.fields.wait_seconds == 0);
	CHECK(times.fields.run_seconds == info.fields.run_seconds);
	CHECK(skrt_trace_destroy(trace) == SKRT_OK && skrt_stream_destroy(stream) == SKRT_OK);
	CHECK(skrt_instance_destroy(instance) == SKRT_OK);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	open_device();
	load(argv[1]);
	look();
	run();
	CHECK(skrt_module_unload(module) == SKRT_OK && skrt_device_close(device) == SKRT_OK);
	puts("right");
	return 0;
}
