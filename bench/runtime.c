/* `make bench`: the cost of the runtime: a launch; a task on one core and on several, also on more cores than
 * processors, compared with other programs' ways to run the same steps. Times of waiting for another thread are also
 * given in round trips of a cache line, measured in the same rounds: see measure.h. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "bench/measure.h"
#include "bench/peers.h"
#include "bench/rig.h"

enum {
	RUNS = 5, /* of one variant in one round */
	LAUNCHES = 50, /* of short runs */
	ROUNDS = 101,
	QUEUED = 100, /* launches in flight */
	PARTS = 8,
	FEW = 20, /* steps of slow runs */
};

static void run_queued(const void *context)
{
	const struct bench_launch *launch = context;
	const struct bench_rig *rig = launch->rig;

	for (int i = 0; i < QUEUED; i++)
		bench_check(skrt_launch(rig->stream, rig->instance, launch->kernel));
	bench_check(skrt_synchronise(rig->stream));
}

static struct bench_variant row(const char *title, void (*run)(const void *context), const void *context, double steps)
{
	return (struct bench_variant){.title = title, .run = run, .context = context, .steps = steps, .runs = RUNS};
}

/* title: contents of the table's lines; unit: the first line, of which the others are multiples. */
static void print_head(const char *title, const char *unit)
{
	printf("%-64s %10s %12s\n", title, "ns", unit);
}

struct rigs {
	struct bench_rig one, two, eight, simulated;
	struct bench_launch round_trip; /* on two cores */
};

#define ROUND_TRIP(rigs) row("cache-line round trip", bench_launch_run, &(rigs)->round_trip, BENCH_CHAIN / 2.0)

/* A row measured after 10 ms in which nothing runs and all threads sleep. */
static struct bench_variant idle_row(const char *title, void (*run)(const void *context), const void *context,
				     double steps)
{
	struct bench_variant variant = row(title, run, context, steps);

	variant.runs = 1;
	variant.idle = 10;
	return variant;
}

static void bench_launches(const struct rigs *rigs)
{
	const char *kernel = "sk_task_single";
	struct bench_launch one = bench_launch_of(&rigs->one, kernel), two = bench_launch_of(&rigs->two, kernel);
	struct bench_launch eight = bench_launch_of(&rigs->eight, kernel);
	struct bench_launch simulated = bench_launch_of(&rigs->simulated, kernel);
	static struct bench_variant rows[8];

	rows[0] = ROUND_TRIP(rigs);
	rows[1] = row("skrt_run_serial", bench_launch_run_serial, &one, 1);
	rows[2] = row("skrt_run, one core", bench_launch_run, &one, 1);
	rows[3] = row("skrt_run, two cores", bench_launch_run, &two, 1);
	rows[4] = row("skrt_run, 8 cores", bench_launch_run, &eight, 1);
	rows[5] = row("skrt_run, 8 simulated cores", bench_launch_run, &simulated, 1);
	rows[6] = row("skrt_launch, 100 in flight, one core", run_queued, &one, QUEUED);
	rows[7] = row("skrt_launch, 100 in flight, two cores", run_queued, &two, QUEUED);
	for (unsigned i = 1; i < 6; i++)
		rows[i].runs = LAUNCHES;
	print_head("a launch of one empty task", "round trips");
	bench_print(rows, 8, ROUNDS, 0);
	printf("  goals: one core 150 ns, of 100 in flight 200 ns; two cores 2.5 round trips\n");

	rows[1] = idle_row("skrt_run, one core", bench_launch_run, &one, 1);
	rows[2] = idle_row("skrt_run, two cores", bench_launch_run, &two, 1);
	rows[3] = idle_row("skrt_launch, 100 in flight, one core", run_queued, &one, QUEUED);
	rows[4] = idle_row("skrt_launch, 100 in flight, two cores", run_queued, &two, QUEUED);
	print_head("the same after 10 ms of idleness", "round trips");
	rows[5] =
		idle_row("bare futex: waking a thread of another processor, which answers", bench_sleeper_run, NULL, 1);
	bench_print(rows, 6, ROUNDS, 0);
}

/* Other programs run on threads that were made before this one was bound to a processor. */
struct peers {
	struct bench_chain serial, parallel, few;
	struct bench_graph *serial_graph, *parallel_graph; /* NULL: without oneTBB */
};

static struct peers open_peers(void)
{
	struct peers peers = {
		.serial = {.steps = BENCH_CHAIN, .parts = 1, .threads = 1},
		.parallel = {.steps = BENCH_WIDE, .parts = PARTS, .threads = 2},
		.few = {.steps = FEW, .parts = PARTS, .threads = 2},
	};

	bench_spinners_open(PARTS);
	bench_pool_open();
	bench_sleeper_open();
#ifdef BENCH_OPENMP
	bench_openmp_run(&peers.parallel);
#endif
#ifdef BENCH_TBB
	peers.serial_graph = bench_tbb_open(&peers.serial);
	peers.parallel_graph = bench_tbb_open(&peers.parallel);
	bench_tbb_run(peers.parallel_graph);
#endif
	return peers;
}

static void close_peers(const struct peers *peers)
{
	bench_spinners_close();
	bench_pool_close();
	bench_sleeper_close();
#ifdef BENCH_TBB
	bench_tbb_close(peers->serial_graph);
	bench_tbb_close(peers->parallel_graph);
#else
	(void)peers;
#endif
}

static void bench_one_thread(const struct rigs *rigs, const struct peers *peers)
{
	struct bench_launch chain = bench_launch_of(&rigs->one, "sk_empty_chain");
	static struct bench_variant rows[4];
	unsigned count = 0;

	rows[count++] = ROUND_TRIP(rigs);
	rows[count++] = row("superkernel", bench_launch_run, &chain, BENCH_CHAIN);
#ifdef BENCH_OPENMP
	rows[count++] = row("OpenMP parallel-for", bench_openmp_run, &peers->serial, BENCH_CHAIN);
#endif
#ifdef BENCH_TBB
	rows[count++] = row("oneTBB flow graph", bench_tbb_run, peers->serial_graph, BENCH_CHAIN);
#endif
	(void)peers;
	print_head("one thread, per empty task that depends on the one before", "round trips");
	bench_print(rows, count, ROUNDS, 0);
}

static void bench_steps(const struct rigs *rigs, const struct peers *peers)
{
	struct bench_launch two = bench_launch_of(&rigs->two, "sk_wide");
	struct bench_launch eight = bench_launch_of(&rigs->eight, "sk_wide");
	struct bench_launch homes = bench_launch_of(&rigs->eight, "sk_eight_homes");
	struct bench_launch simulated = bench_launch_of(&rigs->simulated, "sk_wide");
	static struct bench_variant rows[9];
	unsigned count = 0;

	rows[count++] = ROUND_TRIP(rigs);
	rows[count++] = row("superkernel on 2 cores", bench_launch_run, &two, BENCH_WIDE);
	rows[count++] = row("superkernel on 8 cores", bench_launch_run, &eight, BENCH_WIDE);
	rows[count++] = row("superkernel on 8 simulated cores, one thread", bench_launch_run, &simulated, BENCH_WIDE);
	rows[count++] = row("superkernel on 8 cores, one of them each step", bench_launch_run, &homes, BENCH_CHAIN);
	rows[count++] = row("8 threads that spin and yield", bench_spinners_run, &peers->parallel, BENCH_WIDE);
	rows[count++] = row("pool of 2 threads, condition variables", bench_pool_run, &peers->few, FEW);
#ifdef BENCH_OPENMP
	rows[count++] = row("OpenMP parallel-for, 2 threads", bench_openmp_run, &peers->parallel, BENCH_WIDE);
#endif
#ifdef BENCH_TBB
	rows[count++] = row("oneTBB flow graph, 2 threads", bench_tbb_run, peers->parallel_graph, BENCH_WIDE);
#endif
	print_head("8 parts a step, all of which need all of the step before", "round trips");
	bench_print(rows, count, ROUNDS, 0);
	printf("  goals: 8 cores at most 1.2 round trips a step, 30 times less than 8 threads\n");
}

/* Two launches of one core each, of two instances that share nothing; streams: 1, or one for each launch. */
struct pair {
	const struct skrt_kernel *kernel;
	struct skrt_instance *instances[2];
	struct skrt_stream *streams[2];
	unsigned stream_count;
};

static void run_pair(const void *context)
{
	const struct pair *pair = context;

	for (unsigned i = 0; i < 2; i++)
		bench_check(skrt_launch(pair->streams[i % pair->stream_count], pair->instances[i], pair->kernel));
	for (unsigned i = 0; i < pair->stream_count; i++)
		bench_check(skrt_synchronise(pair->streams[i]));
}

static void bench_streams(const struct rigs *rigs)
{
	const struct bench_rig *rig = &rigs->two;
	struct bench_launch chain = bench_launch_of(rig, "sk_tiny_chain");
	struct pair together = {chain.kernel, {rig->instance}, {rig->stream}, 1}, apart;
	struct bench_variant rows[2];
	void *memory[BENCH_TENSORS];

	bench_check(skrt_instance_create(rig->module, &together.instances[1]));
	bench_check(skrt_stream_create(rig->device, &together.streams[1]));
	for (uint32_t i = 0; i < BENCH_TENSORS; i++) {
		struct skrt_tensor tensor = {.size = sizeof(tensor)};

		bench_check(skrt_module_tensor(rig->module, i, &tensor));
		bench_check(skrt_allocate(rig->device, tensor.bytes, &memory[i]));
		memset(memory[i], 0, tensor.bytes);
		bench_check(skrt_instance_bind(together.instances[1], i, memory[i], tensor.bytes));
	}
	apart = together;
	apart.stream_count = 2;
	rows[0] = row("on one stream", run_pair, &together, 2);
	rows[1] = row("on two streams", run_pair, &apart, 2);
	print_head("two launches of 1000 small tasks, one core each: time for one", "times");
	bench_print(rows, 2, ROUNDS, 0);
	bench_check(skrt_stream_destroy(together.streams[1]));
	bench_check(skrt_instance_destroy(together.instances[1]));
	for (uint32_t i = 0; i < BENCH_TENSORS; i++)
		bench_check(skrt_free(rig->device, memory[i]));
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: %s PACKAGE\n", argv[0]);
		return 2;
	}
	struct peers peers = open_peers();
	struct rigs rigs = {
		.one = bench_rig_open(argv[1], "host", 1),
		.two = bench_rig_open(argv[1], "host", 2),
		.eight = bench_rig_open(argv[1], "host", PARTS),
		.simulated = bench_rig_open(argv[1], "a3", PARTS),
	};

	rigs.round_trip = bench_launch_of(&rigs.two, "sk_task_round_trip");
	printf("runtime: medians of %d rounds in turn\n", ROUNDS);
	if (bench_pin() < 2) {
		printf("there is only one processor: waits for another thread are not measured\n");
	} else {
		bench_launches(&rigs);
		bench_streams(&rigs);
		bench_one_thread(&rigs, &peers);
		bench_steps(&rigs, &peers);
	}
#ifndef BENCH_OPENMP
	printf("OpenMP is not measured: the compiler has none\n");
#endif
#ifndef BENCH_TBB
	printf("oneTBB is not measured: configure did not find it (Debian: libtbb-dev)\n");
#endif
	bench_rig_close(&rigs.one);
	bench_rig_close(&rigs.two);
	bench_rig_close(&rigs.eight);
	bench_rig_close(&rigs.simulated);
	bench_rig_free_memory();
	close_peers(&peers);
	return 0;
}
