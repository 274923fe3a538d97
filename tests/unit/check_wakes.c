/* Threads of a device that wait: for a while they poll, then they sleep. Work that arrives meanwhile always wakes them,
 * and sleeping threads use no processor. */
#include "config.h"

#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "format/skabi.h"
#include "format/skplan.h"
#include "loader/skrt.h"
#include "tests/lib/handmade.h"
#include "tests/lib/scratch.h"
#include "tests/lib/statuses.h"
#include "tests/lib/suite.h"

enum { WORDS = 1024, ROW = 16 /* words that a core has */, THREADS = 3, RUNS = 200, STEPS = 3 };

/* meet: each core counts, then waits for all others as dispatchers do, some times, and looks whether they have counted.
 * one: counts on one core. */
static const char source[] =
	"#include \"format/skabi.h\"\n"
	"int kernel(void) { return 0; }\n"
	"static int await_all(struct sk_core *core, uint64_t target)\n"
	"{ const volatile uint64_t *word = core->lanes[0].words; uint64_t left = core->lanes[0].count;\n"
	"  for (; left && __atomic_load_n(word, __ATOMIC_ACQUIRE) >= target; left--) word += 16;\n"
	"  return left ? core->runtime->await(core, word, target, left) : 0; }\n"
	"int one(struct sk_core *core) { ((uint64_t *)core->bindings[0])[1023]++; return 0; }\n"
	"int meet(struct sk_core *core)\n"
	"{ uint64_t *log = core->bindings[0], base = core->lanes[0].base, own = log[core->index * 16];\n"
	"  for (uint64_t step = 1; step <= 3; step++) {\n"
	"    log[core->index * 16] = own + step;\n"
	"    __atomic_store_n(core->progress, base + 2 * step - 1, __ATOMIC_RELEASE);\n"
	"    if (await_all(core, base + 2 * step - 1)) return SK_STATUS_ABORTED;\n"
	"    for (unsigned i = 0; i < core->count; i++) if (log[i * 16] != own + step) return 1;\n"
	"    __atomic_store_n(core->progress, base + 2 * step, __ATOMIC_RELEASE);\n"
	"    if (await_all(core, base + 2 * step)) return SK_STATUS_ABORTED; }\n"
	"  return 0; }\n";

static const struct handmade_step one_steps[] = {{"one", 0}};
static const struct handmade_step meet_steps[2 * STEPS] = {{"meet", 0}, {"meet", 0}, {"meet", 0},
							   {"meet", 0}, {"meet", 0}, {"meet", 0}};
static const struct handmade_launch launches[] = {
	{.name = "one",
	 .kind = SK_LAUNCH_SUPERKERNEL,
	 .home_count = 1,
	 .steps = one_steps,
	 .step_count = 1,
	 .lane_cores = {1}},
	{.name = "meet", .kind = SK_LAUNCH_SUPERKERNEL, .steps = meet_steps, .step_count = 2 * STEPS},
	{NULL},
};
static const struct handmade_tensor tensors[] = {{"log", SK_U64, SK_ROLE_INOUT, WORDS}, {NULL}};

static char path[128];

static void setup(void)
{
	static const struct handmade_package package = {
		.lane_count = 1, .tensors = tensors, .launches = launches, .source = source};

	snprintf(path, sizeof(path), "%s/a.sk", scratch_folder);
	handmade_make(path, &package);
}

/* A thread with a stream and an instance of its own. */
struct user {
	pthread_t thread;
	struct skrt_device *device;
	struct skrt_module *module;
	uint64_t seed, cores;
	_Alignas(64) uint64_t log[WORDS];
};

/* xorshift64: from 0 to limit - 1. */
static uint64_t draw(struct user *user, uint64_t limit)
{
	user->seed ^= user->seed << 13;
	user->seed ^= user->seed >> 7;
	user->seed ^= user->seed << 17;
	return user->seed % limit;
}

static void pause_for(uint64_t ns)
{
	nanosleep(&(struct timespec){.tv_nsec = (long)ns}, NULL);
}

/* Gaps of all sizes, up to some times as long as a thread polls before it sleeps. */
static void *use(void *context)
{
	struct user *user = context;
	const struct skrt_kernel *kernels[2];
	struct skrt_instance *instance;
	struct skrt_stream *stream;
	uint64_t counts[2] = {0};

	ok(skrt_module_find_kernel(user->module, "one", &kernels[0]));
	ok(skrt_module_find_kernel(user->module, "meet", &kernels[1]));
	ok(skrt_instance_create(user->module, &instance));
	ok(skrt_instance_bind(instance, 0, user->log, sizeof(user->log)));
	ok(skrt_stream_create(user->device, &stream));
	for (int i = 0; i < RUNS; i++) {
		uint64_t which = draw(user, 2), most = draw(user, 2) ? 300000 : 3000;

		ok((draw(user, 2) ? skrt_run : skrt_launch)(stream, instance, kernels[which]));
		pause_for(draw(user, most));
		if (draw(user, 2))
			ok(skrt_synchronise(stream));
		counts[which]++;
	}
	ok(skrt_synchronise(stream));
	ck_assert_uint_eq(user->log[WORDS - 1], counts[0]);
	for (uint64_t i = 0; i < user->cores; i++)
		ck_assert_uint_eq(user->log[i * ROW], STEPS * counts[1]);
	ok(skrt_stream_destroy(stream));
	ok(skrt_instance_destroy(instance));
	return NULL;
}

static const uint32_t core_counts[] = {1, 2, 3, 8};
enum { CORE_COUNTS = sizeof(core_counts) / sizeof(core_counts[0]) };

static void open_all(uint32_t cores, struct skrt_device **device, struct skrt_module **module)
{
	ok(skrt_device_open(&OPTIONS(.cores = cores), device));
	ok(skrt_module_load(*device, path, module));
}

static void close_all(struct skrt_device *device, struct skrt_module *module)
{
	ok(skrt_module_unload(module));
	ok(skrt_device_close(device));
}

START_TEST(gaps)
{
	static struct user users[THREADS];
	struct skrt_device *device;
	struct skrt_module *module;

	open_all(core_counts[_i], &device, &module);
	for (uint64_t i = 0; i < THREADS; i++) {
		users[i] = (struct user){.device = device,
					 .module = module,
					 .seed = 100 * (uint64_t)_i + i + 1,
					 .cores = core_counts[_i]};
		ck_assert_int_eq(pthread_create(&users[i].thread, NULL, use, &users[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(users[i].thread, NULL);
	close_all(device, module);
}
END_TEST

static int64_t processor_time(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

/* The processor time that the process has used in 100 ms without work, some time after the last work. A thread that
 * went on polling would use all the time of a processor. */
START_TEST(idle)
{
	static struct user user;
	struct skrt_device *device;
	struct skrt_module *module;
	int64_t used;

	open_all(core_counts[_i], &device, &module);
	user = (struct user){.device = device, .module = module, .seed = 7, .cores = core_counts[_i]};
	use(&user);
	pause_for(20000000);
	used = processor_time();
	for (int i = 0; i < 10; i++)
		pause_for(10000000);
	used = processor_time() - used;
	ck_assert_msg(used < 3000000, "the idle process has used %ld us", (long)(used / 1000));
	close_all(device, module);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("wakes");
	TCase *tests = tcase_create("wakes");

	scratch_add(tests);
	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_set_timeout(tests, 120);
	tcase_add_loop_test(tests, gaps, 0, CORE_COUNTS);
	tcase_add_loop_test(tests, idle, 0, CORE_COUNTS);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
