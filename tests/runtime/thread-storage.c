/* thread-storage PACKAGE OTHER CORES|DEVICE: run the packages of tests/runtime/thread-storage.sh on threads of the
 * device and of the program, some of which are older than libskrt's first call: fused, serially, twice at a time, after
 * and beside faults and time-outs, and after other packages have had the same place. With -DLINKED the package is a
 * part of the program; then threads keep the variables that a failing call has left. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/skplan.h"
#include "loader/skrt.h"

enum { ELEMENTS = 5000, CALLERS = 4, ROUNDS = 20, WEIGHT = 17, OTHER_WEIGHT = 27 };

/* As bindings want it. */
#define TENSOR static __attribute__((aligned(64))) int32_t

TENSOR kind, none, x[ELEMENTS];
static pthread_barrier_t loaded;
static struct skrt_device *device;
static struct skrt_module *module;
#ifdef LINKED
extern const struct sk_plan sk_plan_linked;
#endif

static void check(enum skrt_status status)
{
	if (!status)
		return;
	fprintf(stderr, "thread-storage: %s: %s\n", skrt_status_name(status), skrt_error());
	exit(1);
}

static struct skrt_instance *make(struct skrt_module *from, int32_t *bad, int32_t *y)
{
	struct skrt_instance *instance;
	uint64_t shape[] = {ELEMENTS}, one[] = {1};

	check(skrt_instance_create(from, &instance));
	check(skrt_instance_bind_array(instance, "kind", SKRT_I32, 1, one, bad));
	check(skrt_instance_bind_array(instance, "x", SKRT_I32, 1, shape, x));
	check(skrt_instance_bind_array(instance, "y", SKRT_I32, 1, shape, y));
	return instance;
}

/* Two weights, and 1. */
static void expect(const int32_t *y, int32_t weight, const char *what)
{
	for (int i = 0; i < ELEMENTS; i++) {
		if (y[i] == weight * weight * x[i] + 1)
			continue;
		fprintf(stderr, "thread-storage: %s: element %d is %d\n", what, i, y[i]);
		exit(1);
	}
}

static const struct skrt_kernel *kernel_of(struct skrt_module *from)
{
	const struct skrt_kernel *kernel;

	check(skrt_module_kernel(from, 0, &kernel));
	return kernel;
}

/* As the first worker, and serially. */
static void *call(void *old)
{
	TENSOR results[CALLERS + 1][(ELEMENTS + 15) / 16 * 16];
	static _Atomic int taken;
	int32_t *y = results[taken++];
	struct skrt_stream *stream;

	if (old)
		pthread_barrier_wait(&loaded);
	struct skrt_instance *instance = make(module, &none, y);
	check(skrt_stream_create(device, &stream));
	for (int i = 0; i < ROUNDS; i++) {
		memset(y, 0, sizeof(results[0]));
		check(skrt_run(stream, instance, kernel_of(module)));
		expect(y, WEIGHT, "on a thread of the program's");
		memset(y, 0, sizeof(results[0]));
		check(skrt_run_serial(instance, kernel_of(module)));
		expect(y, WEIGHT, "serially, on a thread of the program's");
	}
	check(skrt_instance_destroy(instance));
	check(skrt_stream_destroy(stream));
	return NULL;
}

/* Every kind of end, of all cores and of one, while another package runs beside it; after each the right result, on all
 * threads and on this one. */
static void fail(const char *path, struct skrt_stream *stream)
{
	TENSOR y[ELEMENTS], beside[ELEMENTS];
	struct skrt_module *other;
	struct skrt_stream *second;

	check(skrt_module_load(device, path, &other));
	check(skrt_stream_create(device, &second));

	struct skrt_instance *instance = make(module, &kind, y), *bystander = make(other, &none, beside);

	for (kind = 1; kind <= 6;) {
		int32_t end = kind;

		memset(beside, 0, sizeof(beside));
		for (int i = 0; i < ROUNDS; i++)
			check(skrt_launch_network(second, bystander));
		if (skrt_run(stream, instance, kernel_of(module)) != SKRT_KERNEL_FAILED ||
		    skrt_run_serial(instance, kernel_of(module)) != SKRT_KERNEL_FAILED) {
			fprintf(stderr, "thread-storage: kind %d does not fail\n", kind);
			exit(1);
		}
		check(skrt_synchronise(second));
		expect(beside, OTHER_WEIGHT, "beside a failed launch");
		kind = 0;
		memset(y, 0, sizeof(y));
		check(skrt_run(stream, instance, kernel_of(module)));
		expect(y, WEIGHT, "behind a failed launch");
		check(skrt_run_serial(instance, kernel_of(module)));
		expect(y, WEIGHT, "behind a failed serial run");
		kind = end + 1;
	}
	kind = 0;
	check(skrt_instance_destroy(instance));
	check(skrt_instance_destroy(bystander));
	check(skrt_stream_destroy(second));
	check(skrt_module_unload(other));
}

/* Modules come and go, several at a time, and one takes the place of another. */
static void reload(char **paths, struct skrt_stream *stream)
{
	TENSOR y[2][(ELEMENTS + 15) / 16 * 16];
	struct skrt_module *modules[2];

	for (int i = 0; i < 10; i++) {
		for (int m = 0; m < 2; m++)
			check(skrt_module_load(device, paths[(i + m) % 2], &modules[m]));
		for (int m = 0; m < 2; m++) {
			struct skrt_instance *instance = make(modules[m], &kind, y[m]);

			memset(y[m], 0, sizeof(y[m]));
			check(skrt_run(stream, instance, kernel_of(modules[m])));
			expect(y[m], (i + m) % 2 ? OTHER_WEIGHT : WEIGHT, "of several modules");
			check(skrt_instance_destroy(instance));
		}
		check(skrt_module_unload(modules[i & 1]));
		check(skrt_module_unload(modules[!(i & 1)]));
	}
}

int main(int argc, char **argv)
{
	struct skrt_device_options options = {
		.size = sizeof(options), .cores = (uint32_t)(argc > 3 ? atoi(argv[3]) : 0), .timeout_ms = 300};
	pthread_t callers[CALLERS];
	struct skrt_stream *stream;

	if (argc < 4)
		return 2;
	if (!options.cores)
		options.device = argv[3];
	for (int i = 0; i < ELEMENTS; i++)
		x[i] = i - 17;
	pthread_barrier_init(&loaded, NULL, CALLERS + 1);
	for (int i = 0; i < CALLERS; i++)
		pthread_create(&callers[i], NULL, call, "old");
	check(skrt_device_open(&options, &device));
#ifdef LINKED
	check(skrt_module_load_linked(device, &sk_plan_linked, &module));
#else
	check(skrt_module_load(device, argv[1], &module));
#endif
	pthread_barrier_wait(&loaded);
	for (int i = 0; i < CALLERS; i++)
		pthread_join(callers[i], NULL);
	pthread_create(&callers[0], NULL, call, NULL);
	pthread_join(callers[0], NULL);
	check(skrt_stream_create(device, &stream));
#ifndef LINKED
	fail(argv[2], stream);
	reload(argv + 1, stream);
#endif
	check(skrt_module_unload(module));
	check(skrt_stream_destroy(stream));
	check(skrt_device_close(device));
	return 0;
}
