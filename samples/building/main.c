/* A program that holds the package `network`. It prints the results for x = 0, 1, 2, 3. */
#include <stdio.h>
#include <stdlib.h>

#include "network.h" /* also written by sklink */
#include "skrt.h"

static void check(enum skrt_status status)
{
	if (status != SKRT_OK) {
		fprintf(stderr, "main: %s\n", skrt_error());
		exit(1);
	}
}

int main(void)
{
	_Alignas(64) static float x[SK_network_BYTES_x / sizeof(float)] = {0, 1, 2, 3};
	_Alignas(64) static float y[SK_network_BYTES_y / sizeof(float)];
	struct skrt_device *device;
	struct skrt_module *module;
	struct skrt_instance *instance;
	struct skrt_stream *stream;

	check(skrt_device_open(NULL, &device));
	check(skrt_module_load_linked(device, &sk_plan_network, &module));
	check(skrt_instance_create(module, &instance));
	check(skrt_stream_create(device, &stream));
	check(skrt_instance_bind(instance, SK_network_TENSOR_x, x, sizeof(x)));
	check(skrt_instance_bind(instance, SK_network_TENSOR_y, y, sizeof(y)));
	check(skrt_run_network(stream, instance));
	for (size_t i = 0; i < sizeof(y) / sizeof(*y); i++)
		printf("%g%c", y[i], i + 1 < sizeof(y) / sizeof(*y) ? ' ' : '\n');
	check(skrt_stream_destroy(stream));
	check(skrt_instance_destroy(instance));
	check(skrt_module_unload(module));
	check(skrt_device_close(device));
	return 0;
}
