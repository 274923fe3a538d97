/* forgets PACKAGE DEVICE CORES: run a network in which blocks of task B return without having waited, in every way, and
 * check the error and the results: all tensors that B depends on must have been computed, and none that depends on B.
 * After each such launch the same device computes the right result. tests/signatures/early.sh makes the package. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loader/skrt.h"

enum { ELEMENTS = 1000, BLOCKS = 5, TENSORS = 8 };

static void check(enum skrt_status status)
{
	if (!status)
		return;
	fprintf(stderr, "forgets: %s: %s\n", skrt_status_name(status), skrt_error());
	exit(1);
}

static void *memory[TENSORS]; /* by binding number */

static void bind_all(struct skrt_module *module, struct skrt_instance *instance)
{
	for (uint32_t i = 0; i < skrt_module_tensor_count(module); i++) {
		struct skrt_tensor tensor = {.size = sizeof(tensor)};

		check(skrt_module_tensor(module, i, &tensor));
		memory[i] = aligned_alloc(64, (tensor.bytes + 63) / 64 * 64);
		check(skrt_instance_bind(instance, i, memory[i], tensor.bytes));
	}
}

static void *memory_of(struct skrt_module *module, const char *name)
{
	uint32_t index;

	check(skrt_module_find_tensor(module, name, &index));
	return memory[index];
}

static void compare(const char *name, const float *found, float factor, const float *x)
{
	for (int i = 0; i < ELEMENTS; i++) {
		if (found[i] == factor * x[i])
			continue;
		fprintf(stderr, "forgets: %s[%d] is %g, not %g\n", name, i, (double)found[i], (double)(factor * x[i]));
		exit(1);
	}
}

/* The launch fails if a block forgets to wait. If several do, the error names the first core that fails, or any. */
static void expect(enum skrt_status status, uint32_t forgetful)
{
	static const char text[] = ": task 'B': kernel forgets returned without sk_wait_pre_task_end on core ";

	if (!forgetful) {
		check(status);
		return;
	}
	if (status == SKRT_KERNEL_FAILED && strstr(skrt_error(), text))
		return;
	fprintf(stderr, "forgets: blocks 0x%x: %s\n", forgetful, status ? skrt_error() : "no error");
	exit(1);
}

int main(int argc, char **argv)
{
	struct skrt_device_options options = {.size = sizeof(options), .timeout_ms = 20000};
	struct skrt_device *device;
	struct skrt_module *module;
	struct skrt_instance *instance;
	struct skrt_stream *stream;

	if (argc != 4)
		return 2;
	options.device = argv[2];
	options.cores = (uint32_t)strtoul(argv[3], NULL, 10);
	check(skrt_device_open(&options, &device));
	check(skrt_module_load(device, argv[1], &module));
	check(skrt_instance_create(module, &instance));
	check(skrt_stream_create(device, &stream));
	bind_all(module, instance);
	int32_t *kind = memory_of(module, "kind");
	float *x = memory_of(module, "x"), *a = memory_of(module, "a"), *b = memory_of(module, "b");
	float *y = memory_of(module, "y"), *z = memory_of(module, "z");
	for (int i = 0; i < ELEMENTS; i++)
		x[i] = (float)i + 1;
	for (uint32_t forgetful = 0; forgetful < 1u << BLOCKS; forgetful++) {
		for (int i = 0; i < BLOCKS; i++)
			kind[i] = forgetful >> i & 1;
		for (int i = 0; i < ELEMENTS; i++)
			a[i] = b[i] = y[i] = z[i] = 0;
		expect(skrt_run_network(stream, instance), forgetful);
		compare("a", a, 2, x);
		compare("b", b, 4, x);
		if (!forgetful)
			compare("y", y, 8, x);
		compare("z", z, forgetful ? 0 : 16, x);
		if (!forgetful)
			continue;
		memset(kind, 0, BLOCKS * sizeof(*kind));
		check(skrt_run_network(stream, instance));
		compare("z", z, 16, x);
	}
	check(skrt_stream_destroy(stream));
	check(skrt_instance_destroy(instance));
	check(skrt_module_unload(module));
	check(skrt_device_close(device));
	for (int i = 0; i < TENSORS; i++)
		free(memory[i]);
	return 0;
}
