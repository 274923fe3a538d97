/* `make bench-ranks`: an AllReduce of a package over MPI, compared with MPI_Allreduce of the same bytes in the same
 * process: the two take turns in short rounds, so that other work on the machine slows both. Each rank does the same;
 * rank 0 prints medians. Usage, under mpirun: allreduce PACKAGE; its only input x and output are of floats. */
#include "config.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loader/skrt.h"

enum { ROUNDS = 301, MOST_RUNS = 50, ALIGNMENT = 128 };

static void check(enum skrt_status status)
{
	if (!status)
		return;
	fprintf(stderr, "bench: %s\n", skrt_error());
	exit(EXIT_FAILURE);
}

static int compare_times(const void *a, const void *b)
{
	const double *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

static double median(double *times)
{
	qsort(times, ROUNDS, sizeof(*times), compare_times);
	return times[ROUNDS / 2];
}

static void *bind(struct skrt_instance *instance, struct skrt_module *module, uint32_t index, size_t *bytes)
{
	struct skrt_tensor tensor = {.size = sizeof(tensor)};
	float *data;

	check(skrt_module_tensor(module, index, &tensor));
	*bytes = tensor.bytes;
	data = aligned_alloc(ALIGNMENT, (tensor.bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
	if (!data)
		exit(EXIT_FAILURE);
	for (size_t i = 0; i < tensor.bytes / sizeof(*data); i++)
		data[i] = (float)(i * 37 % 64) / 64 - 0.5F;
	check(skrt_instance_bind(instance, index, data, tensor.bytes));
	return data;
}

int main(int argc, char **argv)
{
	static double packages[ROUNDS], calls[ROUNDS], ratios[ROUNDS];
	struct skrt_device_options options = {.size = sizeof(options), .device = "host", .cores = 1};
	struct skrt_device *device;
	struct skrt_module *module;
	struct skrt_instance *instance;
	struct skrt_stream *stream;
	int given, rank, ranks;
	size_t bytes = 0;

	if (argc != 2)
		return EXIT_FAILURE;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &given);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	check(skrt_device_open(&options, &device));
	check(skrt_module_load(device, argv[1], &module));
	check(skrt_instance_create(module, &instance));
	check(skrt_stream_create(device, &stream));

	float *x = bind(instance, module, 0, &bytes), *y = bind(instance, module, 1, &bytes);
	float *sum = malloc(bytes);
	int runs = bytes > 1 << 18 ? 3 : MOST_RUNS;

	for (int round = -10; round < ROUNDS; round++) {
		double start, middle, end;

		MPI_Barrier(MPI_COMM_WORLD);
		start = MPI_Wtime();
		for (int i = 0; i < runs; i++)
			check(skrt_run_network(stream, instance));
		middle = MPI_Wtime();
		for (int i = 0; i < runs && sum; i++)
			MPI_Allreduce(x, sum, (int)(bytes / sizeof(float)), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
		end = MPI_Wtime();
		if (round < 0)
			continue;
		packages[round] = (middle - start) / runs * 1e6;
		calls[round] = (end - middle) / runs * 1e6;
		ratios[round] = packages[round] / calls[round];
	}
	/* Two ranks have the same sum in either order. */
	if (ranks == 2 && sum && memcmp(sum, y, bytes) != 0) {
		fprintf(stderr, "bench: the sums differ\n");
		return EXIT_FAILURE;
	}
	if (rank == 0)
		printf("%9zu bytes: package %9.2f us, MPI_Allreduce %9.2f us, ratio %5.2f\n", bytes, median(packages),
		       median(calls), median(ratios));
	skrt_stream_destroy(stream);
	skrt_instance_destroy(instance);
	skrt_module_unload(module);
	skrt_device_close(device);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return EXIT_SUCCESS;
}
