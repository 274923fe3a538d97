/* Launches with exchanges of several instances on several streams: `rank-streams PACKAGE RUNS`. The package has two
 * ranks, inputs x and z of N floats each, and the output y of 2 * N floats: the sum of what is gathered of both. Each
 * process queues the same launches in the same order, and works at its own speed. An exchange that met one of another
 * instance would give wrong sums. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loader/device/device.h"
#include "loader/ranks/transport.h"
#include "loader/skrt.h"

enum { N = 24, RANKS = 2, INSTANCES = 4, STREAMS = 3 };

#define EXPECT(condition)                                                                                              \
	do {                                                                                                           \
		if (!(condition))                                                                                      \
			fail(__LINE__, #condition);                                                                    \
	} while (0)

static void fail(int line, const char *what)
{
	fprintf(stderr, "line %d: %s (%s)\n", line, what, skrt_error());
	_exit(1);
}

struct run {
	struct skrt_instance *instance;
	_Alignas(64) float x[N];
	_Alignas(64) float z[N];
	_Alignas(64) float y[RANKS * N];
};

static float value(uint32_t rank, uint32_t instance, uint32_t turn, int i)
{
	return (float)(rank * 10000 + instance * 1000 + turn % 7 * 100 + (uint32_t)i);
}

static void create(struct run *run, struct skrt_module *module)
{
	const uint64_t in[] = {4, 6}, out[] = {8, 6};

	EXPECT(!skrt_instance_create(module, &run->instance));
	EXPECT(!skrt_instance_bind_array(run->instance, "x", SKRT_F32, 2, in, run->x));
	EXPECT(!skrt_instance_bind_array(run->instance, "z", SKRT_F32, 2, in, run->z));
	EXPECT(!skrt_instance_bind_array(run->instance, "y", SKRT_F32, 2, out, run->y));
}

static void check(const struct run *run, uint32_t instance, uint32_t turn)
{
	for (uint32_t rank = 0; rank < RANKS; rank++)
		for (int i = 0; i < N; i++)
			EXPECT(run->y[rank * N + (uint32_t)i] == 3 * value(rank, instance, turn, i));
}

static void work(const char *path, uint32_t runs, uint32_t rank, struct sk_shared_ranks *simulation)
{
	static struct run all[INSTANCES];
	struct skrt_stream *streams[STREAMS];
	struct sk_transport transport;
	struct skrt_device *device;
	struct skrt_module *module;
	unsigned seed = rank + 1;

	sk_simulation_join(simulation, rank, &transport);
	EXPECT(!skrt_device_open(&(struct skrt_device_options){.size = sizeof(struct skrt_device_options),
							       .cores = 3,
							       .timeout_ms = 20000},
				 &device));
	sk_device_join(device, &transport, false);
	EXPECT(!skrt_module_load(device, path, &module));
	for (int i = 0; i < STREAMS; i++)
		EXPECT(!skrt_stream_create(device, &streams[i]));
	for (int i = 0; i < INSTANCES; i++)
		create(&all[i], module);
	for (uint32_t turn = 0; turn < runs; turn++) {
		for (uint32_t i = 0; i < INSTANCES; i++) {
			for (int k = 0; k < N; k++) {
				all[i].x[k] = value(rank, i, turn, k);
				all[i].z[k] = 2 * value(rank, i, turn, k);
			}
			memset(all[i].y, 0, sizeof(all[i].y));
		}
		for (uint32_t i = 0; i < INSTANCES; i++) {
			EXPECT(!skrt_launch_network(streams[(i + turn) % STREAMS], all[i].instance));
			for (int pause = rand_r(&seed) % 4; pause > 0; pause--)
				sched_yield();
		}
		for (int i = 0; i < STREAMS; i++)
			EXPECT(!skrt_synchronise(streams[(i + (int)rank) % STREAMS]));
		for (uint32_t i = 0; i < INSTANCES; i++)
			check(&all[i], i, turn);
	}
}

int main(int argc, char **argv)
{
	struct sk_shared_ranks *simulation = sk_simulation_open(RANKS, N * sizeof(float), 0);
	int status, failures = 0;

	if (argc != 3 || !simulation)
		return 2;
	for (uint32_t rank = 0; rank < RANKS; rank++) {
		if (fork())
			continue;
		work(argv[1], (uint32_t)atoi(argv[2]), rank, simulation);
		_exit(0);
	}
	for (int i = 0; i < RANKS; i++)
		failures += wait(&status) < 0 || status;
	return failures != 0;
}
