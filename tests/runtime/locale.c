/* A program in a locale of its own: `locale LOCALE HALF thread|process TRACE PROFILE`, in the folder of the packages
 * that locale.sh makes. HALF is how the locale writes 0.5; `thread` says that it is the calling thread's (uselocale),
 * and that the process's is C. libskrt must read and write as in the C locale, kernels must see that, callbacks the
 * process's locale, and the thread its own again after each call. */
#include <locale.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loader/skrt.h"

enum { N = 64 };

#define EXPECT(condition)                                                                                              \
	do {                                                                                                           \
		if (!(condition))                                                                                      \
			fail(__LINE__, #condition);                                                                    \
	} while (0)

static _Noreturn void fail(int line, const char *what)
{
	fprintf(stderr, "line %d: %s (%s)\n", line, what, skrt_error());
	exit(1);
}

static void print_half(char text[16])
{
	snprintf(text, 16, "%.1f", 0.5);
}

/* The calling thread is still in its own locale. */
static bool kept(const char *half)
{
	char text[16];

	print_half(text);
	return !strcmp(text, half);
}

static void call_back(void *context, enum skrt_status status)
{
	(void)status;
	print_half(context);
}

static const struct skrt_kernel *find(struct skrt_module *module, const char *name)
{
	const struct skrt_kernel *kernel = NULL;

	EXPECT(!skrt_module_find_kernel(module, name, &kernel));
	return kernel;
}

/* Check the values that kernels have seen; see locale.sh. */
static void check_seen(float seen[N])
{
	for (int i = 0; i < N; i++)
		EXPECT(seen[i] == 1);
	memset(seen, 0, N * sizeof(seen[0]));
}

static void check_package(struct skrt_device *device, const char *package, const char *half, const char *process_half,
			  const char *trace_path)
{
	static _Alignas(64) float seen[N];
	struct skrt_module *module;
	struct skrt_instance *instance;
	struct skrt_stream *stream;
	struct skrt_trace *trace;

	EXPECT(!skrt_module_load(device, package, &module) && kept(half));
	EXPECT(!skrt_instance_create(module, &instance) && !skrt_stream_create(device, &stream));
	EXPECT(!skrt_instance_bind_array(instance, "y", SKRT_F32, 1, (uint64_t[]){N}, seen));
	EXPECT(!skrt_trace_begin(device, 1000, &trace));
	for (int again = 0; again < 20; again++) {
		char called[16] = "";

		EXPECT(!skrt_launch_network(stream, instance) && !skrt_stream_call(stream, call_back, called));
		EXPECT(!skrt_synchronise(stream) && kept(half) && !strcmp(called, process_half));
		check_seen(seen);
	}
	EXPECT(!skrt_trace_end(trace) && !skrt_trace_write(trace, trace_path) && !skrt_trace_destroy(trace));
	EXPECT(!skrt_run_serial(instance, find(module, "sk_all")) && kept(half));
	check_seen(seen);
	EXPECT(!skrt_stream_destroy(stream) && !skrt_instance_destroy(instance));
	EXPECT(!skrt_module_unload(module) && kept(half));
}

/* A kernel that is left in the middle. */
static void check_failures(struct skrt_device *device, const char *half)
{
	static _Alignas(64) float seen[N];
	struct skrt_module *module;
	struct skrt_instance *instance;
	struct skrt_stream *stream;

	EXPECT(!skrt_module_load(device, "hang.sk", &module));
	EXPECT(!skrt_instance_create(module, &instance) && !skrt_stream_create(device, &stream));
	EXPECT(!skrt_instance_bind_array(instance, "y", SKRT_F32, 1, (uint64_t[]){N}, seen));
	EXPECT(skrt_run(stream, instance, find(module, "sk_all")) == SKRT_KERNEL_FAILED && kept(half));
	EXPECT(strstr(skrt_error(), "not ended within 0.25 s: "));
	EXPECT(!skrt_stream_destroy(stream) && !skrt_instance_destroy(instance) && !skrt_module_unload(module));
}

static void check_device(const char *name, const char *half, const char *process_half, const char *trace_path)
{
	struct skrt_device_options options = {.size = sizeof(options), .device = name, .cores = 2, .timeout_ms = 250};
	struct skrt_device *device;

	EXPECT(!skrt_device_open(&options, &device) && kept(half));
	check_package(device, "numbers.sk", half, process_half, trace_path);
	check_package(device, "characters.sk", half, process_half, trace_path);
	check_failures(device, half);
	EXPECT(!skrt_device_close(device) && kept(half));
}

int main(int count, char **arguments)
{
	EXPECT(count == 6);

	const char *half = arguments[2], *process_half = half;

	if (!strcmp(arguments[3], "thread")) {
		locale_t locale = newlocale(LC_ALL_MASK, arguments[1], (locale_t)0);

		EXPECT(locale && uselocale(locale));
		process_half = "0.5";
	} else {
		EXPECT(setlocale(LC_ALL, arguments[1]));
	}
	EXPECT(kept(half));
	check_device("host", half, process_half, arguments[4]);
	check_device(arguments[5], half, process_half, arguments[4]);
	check_device("a3", half, process_half, arguments[4]);
	return 0;
}
