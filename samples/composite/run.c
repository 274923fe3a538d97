/* A program that runs the package with libskrt, on all processors: run composite.sk */
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>

#include "skrt.h"

static alignas(64) float x[16], y[16];

static void check(enum skrt_status status)
{
	if (status != SKRT_OK) {
		fprintf(stderr, "run: %s\n", skrt_error());
		exit(1);
	}
}

static void bind(struct skrt_module *module, struct skrt_instance *instance, const char *name, void *data,
		 uint64_t bytes)
{
	uint32_t index;

	check(skrt_module_find_tensor(module, name, &index));
	check(skrt_instance_bind(instance, index, data, bytes));
}

int main(int argc, char **argv)
{
	struct skrt_device *device;
	struct skrt_module *module;
	struct skrt_instance *instance;
	struct skrt_stream *stream;

	if (argc != 2) {
		fprintf(stderr, "usage: run PACKAGE\n");
		return 1;
	}
	check(skrt_device_open(NULL, &device));
	check(skrt_module_load(device, argv[1], &module));
	check(skrt_instance_create(module, &instance));
	check(skrt_stream_create(device, &stream));
	bind(module, instance, "x", x, sizeof(x));
	bind(module, instance, "y", y, sizeof(y));

	for (int i = 0; i < 16; i++)
		x[i] = (float)i;
	check(skrt_run_network(stream, instance));
	for (int i = 0; i < 16; i++)
		printf("%g%c", y[i], i == 15 ? '\n' : ' ');

	check(skrt_stream_destroy(stream));
	check(skrt_instance_destroy(instance));
	check(skrt_module_unload(module));
	check(skrt_device_close(device));
	return 0;
}
