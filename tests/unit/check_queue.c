/* Several launches in flight: launches of different streams overlap if there are cores for them, and keep the order
 * that streams and events want; one that wants many cores gets its turn; one that fails leaves the others alone, and so
 * does a cancelled thread or a fork. */
#include "config.h"

#include <check.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "format/skabi.h"
#include "format/skplan.h"
#include "loader/flight/flight.h"
#include "loader/skrt.h"
#include "tests/lib/handmade.h"
#include "tests/lib/scratch.h"
#include "tests/lib/statuses.h"
#include "tests/lib/suite.h"

enum { WORDS = 1024, PING = 8, PONG = 16, ORDER = 32 };

/* ping and pong each wait for the other one's word. narrow, half, wide: on 1, 2 and all cores, they note their number
 * in `log`, and compute a new log[0] from log[0] and x[0]: every core its own part, which core 0 then combines. crash:
 * writes to an invalid address. endless: never ends. holds awaits that log[1] is set; works runs until then. Those with
 * `own` have hidden state of the package, which count counts; those with `library` have that of the C library. head,
 * middle, tail: as narrow, and each follows the one before. scratchy: two cores at once, each of which checks that its
 * scratch keeps its bytes. */
static const char source[] =
	"#include \"format/skabi.h\"\n"
	"#define LOG(core) ((uint64_t *)(core)->bindings[0])\n"
	"#define X(core) ((const uint64_t *)(core)->bindings[1])\n"
	"int kernel(void) { return 0; }\n"
	"static void say(uint64_t *word, uint64_t value) { __atomic_store_n(word, value, __ATOMIC_RELEASE); }\n"
	"static int hear(struct sk_core *core, const volatile uint64_t *word, uint64_t value)\n"
	"{ return __atomic_load_n(word, __ATOMIC_ACQUIRE) >= value ? 0 : core->runtime->await(core, word, value, 1); "
	"}\n"
	"static void delay(unsigned turns) { for (volatile unsigned i = 0; i < turns; i++); }\n"
	"int ping(struct sk_core *core)\n"
	"{ uint64_t round = LOG(core)[8] + 1; say(&LOG(core)[8], round);\n"
	"  return hear(core, &LOG(core)[16], round) ? SK_STATUS_ABORTED : 0; }\n"
	"int pong(struct sk_core *core)\n"
	"{ uint64_t round = LOG(core)[16] + 1; say(&LOG(core)[16], round);\n"
	"  return hear(core, &LOG(core)[8], round) ? SK_STATUS_ABORTED : 0; }\n"
	"int own_ping(struct sk_core *core) { return ping(core); }\n"
	"int own_pong(struct sk_core *core) { return pong(core); }\n"
	"int library_ping(struct sk_core *core) { return ping(core); }\n"
	"int library_pong(struct sk_core *core) { return pong(core); }\n"
	"static uint64_t calls;\n"
	"int count(struct sk_core *core) { LOG(core)[2] = ++calls; return 0; }\n"
	"static int work(struct sk_core *core, uint64_t number)\n"
	"{ uint64_t *log = LOG(core), place, sum = 0;\n"
	"  log[64 + core->index * 8] = (log[0] ^ X(core)[0]) * (number + core->index);\n"
	"  delay((log[0] + core->index) % 512);\n"
	"  say((uint64_t *)core->progress, core->lanes[0].base + 1);\n"
	"  if (core->index) return 0;\n"
	"  for (unsigned i = 0; i < core->count; i++) {\n"
	"    if (hear(core, core->progress - 16l * core->index + 16l * i, core->lanes[0].base + 1)) return "
	"SK_STATUS_ABORTED;\n"
	"    sum = sum * 31 + log[64 + i * 8]; }\n"
	"  place = __atomic_fetch_add(&log[32], 1, __ATOMIC_RELAXED);\n"
	"  if (place < 24) log[33 + place] = number;\n"
	"  log[0] = log[0] * 31 + sum; return 0; }\n"
	"int narrow(struct sk_core *core) { return work(core, 1); }\n"
	"int half(struct sk_core *core) { return work(core, 2); }\n"
	"int wide(struct sk_core *core) { return work(core, 3); }\n"
	"int head(struct sk_core *core) { return work(core, 4); }\n"
	"int middle(struct sk_core *core) { return work(core, 5); }\n"
	"int tail(struct sk_core *core) { return work(core, 6); }\n"
	"int crash(struct sk_core *core) { *(volatile int *)8 = (int)core->index; return 0; }\n"
	"int endless(struct sk_core *core) { for (;;) delay(core->count + 1000); }\n"
	"int holds(struct sk_core *core)\n"
	"{ return hear(core, &LOG(core)[1], 1) ? SK_STATUS_ABORTED : 0; }\n"
	"int works(struct sk_core *core)\n"
	"{ while (!__atomic_load_n(&LOG(core)[1], __ATOMIC_ACQUIRE)) delay(100); return 0; }\n"
	"int scratchy(struct sk_core *core)\n"
	"{ unsigned char *scratch = core->scratch, mine = (unsigned char)(core->index + 1 + 16 * X(core)[0]);\n"
	"  for (int i = 0; i < 4096; i++) scratch[i] = mine;\n"
	"  say(&LOG(core)[128 + 8 * mine], 1);\n"
	"  for (unsigned i = 1; i < 3; i++) for (unsigned j = 0; j < core->count; j++)\n"
	"    if (hear(core, &LOG(core)[128 + 8 * (j + 1 + 16 * i)], 1)) return SK_STATUS_ABORTED;\n"
	"  for (int i = 0; i < 4096; i++) if (scratch[i] != mine) return 7;\n"
	"  return 0; }\n";

static const struct handmade_step ping_steps[] = {{"ping", 0}}, pong_steps[] = {{"pong", 0}};
static const struct handmade_step narrow_steps[] = {{"narrow", 0}}, half_steps[] = {{"half", 0}};
static const struct handmade_step wide_steps[] = {{"wide", 0}}, crash_steps[] = {{"crash", 0}};
static const struct handmade_step endless_steps[] = {{"endless", 0}}, holds_steps[] = {{"holds", 0}};
static const struct handmade_step scratchy_steps[] = {{"scratchy", 0}}, works_steps[] = {{"works", 0}};
static const struct handmade_step own_ping_steps[] = {{"own_ping", 0, .state = HANDMADE_OWN_STATE}};
static const struct handmade_step own_pong_steps[] = {{"own_pong", 0, .state = HANDMADE_OWN_STATE}};
static const struct handmade_step library_ping_steps[] = {{"library_ping", 0, .state = HANDMADE_LIBRARY_STATE}};
static const struct handmade_step library_pong_steps[] = {{"library_pong", 0, .state = HANDMADE_LIBRARY_STATE}};
static const struct handmade_step head_steps[] = {{"head", 0}}, middle_steps[] = {{"middle", 0}};
static const struct handmade_step tail_steps[] = {{"tail", 0}};
static const struct handmade_step count_steps[] = {{"count", 0, .state = HANDMADE_OWN_STATE}};

#define FOLLOWING(name)                                                                                                \
	{                                                                                                              \
#name, .kind = SK_LAUNCH_SUPERKERNEL, .home_count = 1, .steps = name##_steps, .step_count = 1,         \
		       .lane_cores = {1 }, .follows = 1                                                                \
	}
#define LAUNCH(name, cores, scratch)                                                                                   \
	{                                                                                                              \
#name, SK_LAUNCH_SUPERKERNEL, 0, scratch, {{0, 0 } }, 1, {{0 } }, 0, name##_steps, 1,                  \
		{                                                                                                      \
			cores                                                                                          \
		}                                                                                                      \
	}

static const struct handmade_launch launches[] = {
	LAUNCH(ping, 1, 0),
	LAUNCH(pong, 1, 0),
	LAUNCH(narrow, 1, 0),
	LAUNCH(half, 2, 0),
	LAUNCH(wide, 0, 0),
	LAUNCH(crash, 1, 0),
	LAUNCH(endless, 1, 0),
	LAUNCH(holds, 1, 0),
	LAUNCH(scratchy, 2, 4096),
	LAUNCH(works, 1, 0),
	LAUNCH(own_ping, 1, 0),
	LAUNCH(own_pong, 1, 0),
	LAUNCH(library_ping, 1, 0),
	LAUNCH(library_pong, 1, 0),
	LAUNCH(count, 1, 0),
	LAUNCH(head, 1, 0),
	FOLLOWING(middle),
	FOLLOWING(tail),
	{NULL},
};

static const struct handmade_tensor tensors[] = {
	{"log", SK_U64, SK_ROLE_INOUT, WORDS}, {"x", SK_U64, SK_ROLE_INPUT, WORDS}, {NULL}};

/* ---- shared by all tests ---- */

enum { STREAMS = 4, BUFFERS = 4 };

static char path[128], other_path[128];
static struct skrt_device *device;
static struct skrt_module *module;
static struct skrt_stream *streams[STREAMS];
static struct skrt_instance *instances[BUFFERS][BUFFERS]; /* by the buffers of log and of x */
static _Alignas(64) uint64_t buffers[BUFFERS][WORDS];
static sem_t let_in;
static struct skrt_event *open_door;

static void setup(void)
{
	static const struct handmade_package package = {
		.lane_count = 1, .tensors = tensors, .launches = launches, .source = source};

	snprintf(path, sizeof(path), "%s/a.sk", scratch_folder);
	handmade_make(path, &package);
	ck_assert_int_eq(sem_init(&let_in, 0, 0), 0);
}

static void open_all(const struct skrt_device_options *options)
{
	ok(skrt_device_open(options, &device));
	ok(skrt_module_load(device, path, &module));
	ok(skrt_event_create(device, &open_door));
	for (int i = 0; i < STREAMS; i++)
		ok(skrt_stream_create(device, &streams[i]));
	for (uint64_t i = 0; i < BUFFERS; i++) {
		for (uint64_t j = 0; j < WORDS; j++)
			buffers[i][j] = j ? 0 : i;
		for (int j = 0; j < BUFFERS; j++) {
			if ((int)i == j)
				continue;
			ok(skrt_instance_create(module, &instances[i][j]));
			ok(skrt_instance_bind(instances[i][j], 0, buffers[i], sizeof(buffers[i])));
			ok(skrt_instance_bind(instances[i][j], 1, buffers[j], sizeof(buffers[j])));
		}
	}
}

static void close_all(void)
{
	for (int i = 0; i < STREAMS; i++)
		ok(skrt_stream_destroy(streams[i]));
	for (int i = 0; i < BUFFERS; i++)
		for (int j = 0; j < BUFFERS; j++)
			ok(i == j ? SKRT_OK : skrt_instance_destroy(instances[i][j]));
	ok(skrt_event_destroy(open_door));
	ok(skrt_module_unload(module));
	ok(skrt_device_close(device));
}

static void launch(int stream, struct skrt_instance *instance, const char *name)
{
	const struct skrt_kernel *kernel;

	ok(skrt_module_find_kernel(module, name, &kernel));
	ok(skrt_launch(streams[stream], instance, kernel));
}

static void wait_outside(void *context, enum skrt_status status)
{
	(void)context;
	(void)status;
	while (sem_wait(&let_in))
		;
}

/* From now on work queued on the first streams starts at once when the door opens. */
static void close_door(void)
{
	ok(skrt_stream_call(streams[STREAMS - 1], wait_outside, NULL));
	ok(skrt_event_record(open_door, streams[STREAMS - 1]));
	for (int i = 0; i < STREAMS - 1; i++)
		ok(skrt_stream_wait(streams[i], open_door));
}

static void synchronise_all(void)
{
	for (int i = 0; i < STREAMS; i++)
		ok(skrt_synchronise(streams[i]));
}

/* More cores than processors among them; and one core for each of two launches. */
static const struct skrt_device_options places[] = {
	OPTIONS(.device = "host", .cores = 2),
	OPTIONS(.device = "host", .cores = 7),
	OPTIONS(.device = "a3"),
	OPTIONS(.device = "a3", .cores = 2, .seed = 1),
	OPTIONS(.device = "a3", .cores = 5, .seed = 2),
};
enum { PLACES = sizeof(places) / sizeof(places[0]) };

/* ---- at the same time ---- */

START_TEST(overlap)
{
	open_all(&places[_i]);
	for (int i = 0; i < 100; i++) {
		close_door();
		launch(i % 2, instances[0][1], "ping");
		launch(!(i % 2), instances[0][2], "pong");
		sem_post(&let_in);
		synchronise_all();
	}
	ck_assert_uint_eq(buffers[0][PING], 100);
	ck_assert_uint_eq(buffers[0][PONG], 100);
	close_all();
}
END_TEST

/* With only one core they cannot overlap, which is noticed: no launch in flight could write the word. */
START_TEST(no_overlap)
{
	static const struct skrt_device_options one[] = {OPTIONS(.cores = 1), OPTIONS(.device = "a3", .cores = 1)};

	open_all(&one[_i]);
	close_door();
	launch(0, instances[0][1], "ping");
	launch(1, instances[0][2], "pong");
	sem_post(&let_in);
	expect(skrt_synchronise(streams[0]), SKRT_KERNEL_FAILED, "superkernel ping: hangs: core 0 awaits");
	ok(skrt_synchronise(streams[1])); /* the other one has said it by now */
	synchronise_all();
	close_all();
}
END_TEST

/* On one stream they do not overlap, with any number of cores. */
START_TEST(one_stream)
{
	open_all(&OPTIONS(.device = "a3"));
	launch(0, instances[0][1], "ping");
	launch(0, instances[0][2], "pong");
	expect(skrt_synchronise(streams[0]), SKRT_KERNEL_FAILED, "superkernel ping: hangs");
	close_all();
}
END_TEST

/* Launches of one instance that are at work at the same time have scratch of their own. */
START_TEST(scratch)
{
	static const struct skrt_device_options wide[] = {OPTIONS(.cores = 4), OPTIONS(.cores = 7),
							  OPTIONS(.device = "a3"),
							  OPTIONS(.device = "a3", .cores = 4, .seed = 7)};

	open_all(&wide[_i]);
	for (int i = 0; i < 20; i++) {
		memset(buffers[0], 0, sizeof(buffers[0]));
		buffers[1][0] = 1;
		buffers[2][0] = 2;
		close_door();
		launch(0, instances[0][1], "scratchy");
		launch(1, instances[0][2], "scratchy");
		sem_post(&let_in);
		synchronise_all();
	}
	close_all();
}
END_TEST

/* A wide launch does not wait for narrow ones that were queued after it, though there would be room for them first. */
START_TEST(fair)
{
	uint64_t place = 0;

	open_all(&places[_i]);
	for (int round = 0; round < 10; round++) {
		memset(buffers[0] + ORDER, 0, 32 * sizeof(uint64_t));
		close_door();
		for (int i = 0; i < 6; i++)
			launch(0, instances[0][1], "narrow");
		launch(1, instances[0][2], "wide");
		for (int i = 0; i < 12; i++)
			launch(2, instances[0][3], "half");
		sem_post(&let_in);
		synchronise_all();
		ck_assert_uint_eq(buffers[0][ORDER], 19);
		for (place = 1; buffers[0][ORDER + place] != 3; place++)
			ck_assert_uint_eq(buffers[0][ORDER + place], 1);
		/* One of the launches before it may have been running, and the others were called earlier. */
		ck_assert_uint_le(place, 7);
	}
	close_all();
}
END_TEST

/* ---- order ---- */

static uint64_t random_state;

static uint64_t draw(uint64_t count)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (random_state >> 33) % count;
}

/* Compute the launch's result from the values, on so many cores. */
static uint64_t result(uint64_t log, uint64_t x, uint64_t number, uint64_t cores)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < cores; i++)
		sum = sum * 31 + (log ^ x) * (number + i);
	return log * 31 + sum;
}

/* Random launches on random streams, each after events for those that it must not overlap, and for no others: the
 * values are those of one launch after the other. */
START_TEST(random_orders)
{
	enum { LAUNCHES = 60 };
	static const char *const names[] = {"narrow", "half", "wide"};
	struct skrt_event *events[LAUNCHES];
	struct {
		int stream, log, x;
	} done[LAUNCHES];
	uint64_t values[BUFFERS];

	open_all(&places[_i]);
	random_state = (uint64_t)_i;
	for (int i = 0; i < LAUNCHES; i++)
		ok(skrt_event_create(device, &events[i]));
	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < BUFFERS; i++)
			values[i] = buffers[i][0];
		for (int i = 0; i < LAUNCHES; i++) {
			int stream = (int)draw(STREAMS), log = (int)draw(BUFFERS);
			int x = (log + 1 + (int)draw(BUFFERS - 1)) % BUFFERS, kind = (int)draw(3);
			uint32_t all = skrt_device_cores(device, 0), cores[] = {1, all < 2 ? all : 2, all};

			for (int j = 0; j < i; j++)
				if (done[j].stream != stream &&
				    (done[j].log == log || done[j].log == x || done[j].x == log))
					ok(skrt_stream_wait(streams[stream], events[j]));
			launch(stream, instances[log][x], names[kind]);
			ok(skrt_event_record(events[i], streams[stream]));
			values[log] = result(values[log], values[x], (uint64_t)kind + 1, cores[kind]);
			done[i].stream = stream;
			done[i].log = log;
			done[i].x = x;
			if (draw(20) == 0)
				ok(skrt_synchronise(streams[draw(STREAMS)]));
			if (draw(20) == 0)
				ok(skrt_event_synchronise(events[draw((uint64_t)i + 1)]));
		}
		synchronise_all();
		for (int i = 0; i < BUFFERS; i++)
			ck_assert_uint_eq(buffers[i][0], values[i]);
	}
	for (int i = 0; i < LAUNCHES; i++)
		ok(skrt_event_destroy(events[i]));
	close_all();
}
END_TEST

/* ---- hidden state ---- */

static void launch_of(struct skrt_module *of, int stream, struct skrt_instance *instance, const char *name)
{
	const struct skrt_kernel *kernel;

	ok(skrt_module_find_kernel(of, name, &kernel));
	ok(skrt_launch(streams[stream], instance, kernel));
}

/* Launches of two instances with such state do not overlap. The package's state belongs to one loaded module: another
 * one has variables of its own. The C library's is shared by all. */
START_TEST(states_apart)
{
	static const struct {
		const char *ping, *pong;
		bool two_modules, overlap;
	} pairs[] = {{"own_ping", "own_pong", false, false},	     {"own_ping", "own_pong", true, true},
		     {"library_ping", "library_pong", false, false}, {"library_ping", "library_pong", true, false},
		     {"own_ping", "library_pong", false, true},	     {"own_ping", "pong", false, true}};
	struct skrt_module *other;
	struct skrt_instance *elsewhere;

	open_all(&places[_i]);
	ok(skrt_module_load(device, path, &other));
	ok(skrt_instance_create(other, &elsewhere));
	ok(skrt_instance_bind(elsewhere, 0, buffers[0], sizeof(buffers[0])));
	ok(skrt_instance_bind(elsewhere, 1, buffers[2], sizeof(buffers[2])));
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		close_door();
		launch(0, instances[0][1], pairs[i].ping);
		if (pairs[i].two_modules)
			launch_of(other, 1, elsewhere, pairs[i].pong);
		else
			launch(1, instances[0][2], pairs[i].pong);
		sem_post(&let_in);
		if (pairs[i].overlap) {
			synchronise_all();
			continue;
		}
		expect(skrt_synchronise(streams[0]), SKRT_KERNEL_FAILED, "ping: hangs: core 0 awaits");
		synchronise_all(); /* the other one has said it by now */
	}
	ok(skrt_instance_destroy(elsewhere));
	ok(skrt_module_unload(other));
	close_all();
}
END_TEST

/* Of two instances, the one that can start first does, unless events say otherwise; launches of one instance keep the
 * order of the calls. */
START_TEST(states_in_order)
{
	struct skrt_event *counted;

	open_all(&places[_i]);
	ok(skrt_event_create(device, &counted));
	for (uint64_t i = 0; i < 20; i++) {
		bool told = i % 2;

		ok(skrt_stream_call(streams[2], wait_outside, NULL));
		ok(skrt_event_record(open_door, streams[2]));
		ok(skrt_stream_wait(streams[0], open_door)); /* so it cannot start, though it is called first */
		launch(0, instances[0][1], "count");
		ok(skrt_event_record(counted, streams[0]));
		if (told)
			ok(skrt_stream_wait(streams[1], counted));
		launch(1, instances[1][2], "count");
		if (!told)
			ok(skrt_synchronise(streams[1]));
		else
			usleep(2000); /* it would have begun */
		sem_post(&let_in);
		synchronise_all();
		ck_assert_uint_eq(buffers[0][2], 2 * i + (told ? 1 : 2));
		ck_assert_uint_eq(buffers[1][2], 2 * i + (told ? 2 : 1));
	}
	ok(skrt_event_destroy(counted));
	close_all();
}
END_TEST

/* On any streams: calls against the plan's order begin another run through the network. */
START_TEST(one_instance)
{
	open_all(&places[_i]);
	ok(skrt_stream_call(streams[2], wait_outside, NULL));
	ok(skrt_event_record(open_door, streams[2]));
	ok(skrt_stream_wait(streams[0], open_door));
	launch(0, instances[0][1], "half");
	launch(1, instances[0][1], "narrow");
	usleep(2000); /* it would have begun */
	expect(skrt_stream_query(streams[1]), SKRT_NOT_READY, "pending");
	sem_post(&let_in);
	synchronise_all();
	ck_assert_uint_eq(buffers[0][ORDER + 1], 2);
	ck_assert_uint_eq(buffers[0][ORDER + 2], 1);

	close_door(); /* in the plan's order, which says that neither waits for the other */
	launch(0, instances[0][1], "own_ping");
	launch(1, instances[0][1], "own_pong");
	sem_post(&let_in);
	synchronise_all();
	close_all();
}
END_TEST

/* In one run through the network a launch waits for those that it follows; if one of them has been left out, it waits
 * for all that were called before. */
START_TEST(follows)
{
	static const char *const runs[][3] = {{"head", "middle", "tail"}, {"head", "tail", NULL}};
	static const uint64_t orders[][3] = {{4, 5, 6}, {4, 6, 0}};

	open_all(&places[_i]);
	for (int i = 0; i < 20; i++) {
		memset(buffers[0] + ORDER, 0, 32 * sizeof(uint64_t));
		ok(skrt_stream_call(streams[STREAMS - 1], wait_outside, NULL));
		ok(skrt_event_record(open_door, streams[STREAMS - 1]));
		ok(skrt_stream_wait(streams[0], open_door)); /* only the first of them waits at the door */
		for (int j = 0; j < 3 && runs[i % 2][j]; j++)
			launch(j, instances[0][1], runs[i % 2][j]);
		usleep(2000); /* the others would have begun */
		expect(skrt_stream_query(streams[1]), SKRT_NOT_READY, "pending");
		sem_post(&let_in);
		synchronise_all();
		ck_assert_mem_eq(buffers[0] + ORDER + 1, orders[i % 2], sizeof(orders[0]));
	}
	close_all();
}
END_TEST

/* ---- failures ---- */

/* One fails while another is at work, which it does not notice. */
START_TEST(fault_beside)
{
	struct skrt_event *failed;

	open_all(&places[_i]);
	ok(skrt_event_create(device, &failed));
	for (uint64_t i = 1; i <= 20; i++) {
		close_door();
		launch(0, instances[0][1], "ping");
		launch(1, instances[1][2], "crash");
		launch(1, instances[1][2], "narrow");
		ok(skrt_event_record(failed, streams[1]));
		ok(skrt_stream_wait(streams[2], failed));
		launch(2, instances[0][2], "pong");
		sem_post(&let_in);
		expect(skrt_synchronise(streams[1]), SKRT_KERNEL_FAILED,
		       "superkernel crash: task 'crash': kernel kernel on core 0: segmentation fault (SIGSEGV): write "
		       "at "
		       "address 0x8");
		synchronise_all();
		ck_assert_uint_eq(buffers[0][PING], i);
		ck_assert_uint_eq(buffers[1][ORDER], 0); /* after the failure */
	}
	ok(skrt_event_destroy(failed));
	close_all();
}
END_TEST

/* The launch beside one that takes too long begins later, and has all its time. */
START_TEST(timeout_beside)
{
	static const uint32_t cores[] = {2, 7};

	open_all(&OPTIONS(.cores = cores[_i], .timeout_ms = 600));
	launch(0, instances[0][1], "endless");
	usleep(480000);
	launch(1, instances[1][2], "works");
	expect(skrt_synchronise(streams[0]), SKRT_KERNEL_FAILED,
	       "superkernel endless: not ended within 0.6 s: task 'endless': kernel kernel on core 0: it was at "
	       "endless");
	__atomic_store_n(&buffers[1][1], 1, __ATOMIC_RELEASE);
	ok(skrt_synchronise(streams[1]));
	for (int i = 0; i < 3; i++) {
		launch(0, instances[0][1], "endless");
		launch(1, instances[1][2], "narrow");
		ok(skrt_synchronise(streams[1]));
		expect(skrt_synchronise(streams[0]), SKRT_KERNEL_FAILED, "superkernel endless: not ended within");
	}
	ck_assert_uint_eq(buffers[1][ORDER], 3);
	close_all();
}
END_TEST

/* A launch that waits for a word that no launch writes is found on every thread, also without a time-out; unless
 * another one in flight could still write it. */
START_TEST(hang_beside)
{
	open_all(&OPTIONS(.device = "a3", .cores = 4));
	close_door();
	launch(0, instances[0][1], "ping");
	launch(1, instances[1][2], "holds");
	launch(2, instances[2][1], "narrow");
	sem_post(&let_in);
	expect(skrt_synchronise(streams[0]), SKRT_KERNEL_FAILED, "superkernel ping: hangs");
	expect(skrt_synchronise(streams[1]), SKRT_KERNEL_FAILED, "superkernel holds: hangs");
	ok(skrt_synchronise(streams[2]));
	synchronise_all();
	close_all();
}
END_TEST

START_TEST(busy)
{
	struct skrt_module *other;

	open_all(&OPTIONS(.cores = 2));
	launch(0, instances[0][1], "works");
	expect(skrt_module_unload(module), SKRT_BUSY, "instances: ");
	expect(skrt_instance_destroy(instances[0][1]), SKRT_BUSY, "launches pending: 1");
	expect(skrt_instance_bind(instances[0][1], 1, buffers[2], sizeof(buffers[2])), SKRT_BUSY, "launches pending");
	expect(skrt_stream_destroy(streams[0]), SKRT_BUSY, "pending: 1");
	expect(skrt_device_close(device), SKRT_BUSY, "streams: 4");
	/* Meanwhile others work, and a package that needs only these cores is loaded. */
	for (int i = 0; i < 20; i++)
		launch(1, instances[1][2], "narrow");
	ok(skrt_module_load(device, path, &other));
	ok(skrt_synchronise(streams[1]));
	ck_assert_uint_eq(buffers[1][ORDER], 20);
	ok(skrt_module_unload(other));
	expect(skrt_stream_query(streams[0]), SKRT_NOT_READY, "pending");
	__atomic_store_n(&buffers[0][1], 1, __ATOMIC_RELEASE);
	synchronise_all();
	ok(skrt_instance_bind(instances[0][1], 1, buffers[2], sizeof(buffers[2])));
	close_all();
}
END_TEST

/* An event is waited for as it was recorded so far; it may go when it has been reached, though waits are queued. */
START_TEST(waits)
{
	struct skrt_event *event;
	double elapsed;

	open_all(&places[_i]);
	ok(skrt_event_create(device, &event));
	ok(skrt_stream_wait(streams[0], event)); /* never recorded */
	launch(0, instances[0][1], "narrow");
	ok(skrt_synchronise(streams[0]));
	ok(skrt_event_record(event, streams[1]));
	ok(skrt_event_synchronise(event));
	close_door();
	launch(0, instances[0][1], "ping");
	ok(skrt_event_record(event, streams[1]));
	ok(skrt_stream_wait(streams[2], event));
	ok(skrt_event_record(event, streams[0])); /* later: no stream waits for it */
	expect(skrt_event_query(event), SKRT_NOT_READY, "not been reached");
	expect(skrt_event_destroy(event), SKRT_BUSY, "not been reached");
	launch(2, instances[0][2], "pong");
	sem_post(&let_in);
	synchronise_all();
	ok(skrt_event_elapsed(open_door, event, &elapsed));
	ok(skrt_event_destroy(event));
	close_all();
}
END_TEST

/* ---- threads that are cancelled, processes that fork ---- */

/* The call in which a thread was cancelled. */
struct victim {
	void (*wait)(void);
	atomic_bool returned;
};

static void run_works(void)
{
	const struct skrt_kernel *kernel;

	ok(skrt_module_find_kernel(module, "works", &kernel));
	ok(skrt_run(streams[0], instances[0][1], kernel));
}

static void run_holds(void)
{
	const struct skrt_kernel *kernel;

	ok(skrt_module_find_kernel(module, "holds", &kernel));
	launch(1, instances[0][2], "works"); /* by itself it would be stuck */
	ok(skrt_run(streams[0], instances[0][1], kernel));
}

/* The device's thread may have the launch: then this one sleeps. */
static void launch_and_wait(void)
{
	launch(0, instances[0][1], "works");
	usleep(20000);
	ok(skrt_synchronise(streams[0]));
}

static void wait_for_event(void)
{
	launch(1, instances[0][2], "works");
	launch(0, instances[0][1], "holds");
	ok(skrt_event_record(open_door, streams[0]));
	ok(skrt_event_synchronise(open_door));
}

static void *be_victim(void *context)
{
	struct victim *victim = context;

	victim->wait();
	atomic_store(&victim->returned, true);
	pthread_testcancel();
	return NULL;
}

/* Cancelling waits until the call has returned; Check, which receives it, is cancelled then. */
START_TEST(cancelled)
{
	static void (*const ways[])(void) = {run_works, run_holds, launch_and_wait, wait_for_event};

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct victim victim = {.wait = ways[i]};
		pthread_t thread;
		void *result;

		open_all(&OPTIONS(.cores = (uint32_t)_i));
		ck_assert_int_eq(pthread_create(&thread, NULL, be_victim, &victim), 0);
		usleep(50000);
		ck_assert_int_eq(pthread_cancel(thread), 0);
		usleep(50000);
		ck_assert(!atomic_load(&victim.returned));
		__atomic_store_n(&buffers[0][1], 1, __ATOMIC_RELEASE);
		ck_assert_int_eq(pthread_join(thread, &result), 0);
		ck_assert_ptr_eq(result, PTHREAD_CANCELED);
		synchronise_all();
		launch(0, instances[0][1], "wide");
		synchronise_all();
		ck_assert_uint_eq(buffers[0][ORDER], 1);
		close_all();
	}
}
END_TEST

/* All that it does comes to places where a thread is cancelled. */
static const char consulting_source[] =
	"#include \"format/skabi.h\"\n"
	"void consult(void);\n"
	"int kernel(void) { return 0; }\n"
	"__attribute__((constructor)) static void construct(void) { consult(); }\n"
	"__attribute__((destructor)) static void destruct(void) { consult(); }\n"
	"int fine(struct sk_core *core) { if (core->index == 0) consult(); return 0; }\n"
	"int fine_serial(void *const *tensors, void *workspace)\n"
	"{ (void)tensors; (void)workspace; consult(); return 0; }\n";

static const char fine_source[] = "#include \"format/skabi.h\"\n"
				  "int kernel(void) { return 0; }\n"
				  "int fine(struct sk_core *core) { return (int)(core->index * 0); }\n";

static const struct handmade_step fine_steps[] = {{"fine", 0}};
static const struct handmade_tensor no_tensors[] = {{NULL}};
static unsigned consulted;

static void consult(void)
{
	consulted++;
	pthread_testcancel();
}

static struct skrt_instance *consulting;
static struct skrt_trace *written;
static struct skrt_module *linked;
static const struct skrt_kernel *fine_kernel;

static enum skrt_status open_device(void)
{
	return skrt_device_open(&OPTIONS(.cores = 2), &device);
}

static char consulting_package[1 << 16];
static size_t consulting_bytes;

/* From memory: so it is also written to a file. */
static enum skrt_status load_consulting(void)
{
	static const struct skrt_import imports[] = {{sizeof(struct skrt_import), "consult", consult}};
	struct skrt_source from = {.size = sizeof(from),
				   .memory = consulting_package,
				   .bytes = consulting_bytes,
				   .imports = imports,
				   .import_count = 1};

	return skrt_module_load_from(device, &from, &module);
}

static enum skrt_status make_consulting(void)
{
	return skrt_instance_create(module, &consulting);
}

static enum skrt_status run_consulting(void)
{
	enum skrt_status status = skrt_module_find_kernel(module, "fine", &fine_kernel);

	return status ? status : skrt_run_serial(consulting, fine_kernel);
}

static enum skrt_status launch_consulting(void)
{
	struct skrt_stream *stream;
	enum skrt_status status = skrt_stream_create(device, &stream);

	if (!status)
		status = skrt_run(stream, consulting, fine_kernel);
	return status ? status : skrt_stream_destroy(stream);
}

static enum skrt_status write_trace(void)
{
	char file[160];
	enum skrt_status status = skrt_trace_begin(device, 8, &written);

	snprintf(file, sizeof(file), "%s/trace.json", scratch_folder);
	if (!status)
		status = skrt_trace_end(written);
	return status ? status : skrt_trace_write(written, file);
}

static enum skrt_status unload_consulting(void)
{
	enum skrt_status status = skrt_trace_destroy(written);

	if (!status)
		status = skrt_instance_destroy(consulting);
	return status ? status : skrt_module_unload(module);
}

static enum skrt_status load_other(void)
{
	return skrt_module_load(device, other_path, &module);
}

static enum skrt_status close_device(void)
{
	enum skrt_status status = skrt_module_unload(module);

	return status ? status : skrt_device_close(device);
}

struct early_victim {
	enum skrt_status (*function)(void);
	int status; /* -1: it has not returned */
	char error[256];
};

static void *be_early_victim(void *context)
{
	struct early_victim *victim = context;

	victim->status = (int)victim->function();
	snprintf(victim->error, sizeof(victim->error), "%s", skrt_error());
	pthread_testcancel();
	return NULL;
}

static void *be_cancelled_before(void *context)
{
	pthread_cancel(pthread_self());
	return be_early_victim(context);
}

/* A thread that was cancelled before calls these functions, and each completes, though kernels and the C library reach
 * cancellation points. */
START_TEST(cancelled_before)
{
	static enum skrt_status (*const functions[])(void) = {open_device,	 load_consulting,   make_consulting,
							      run_consulting,	 launch_consulting, write_trace,
							      unload_consulting, load_other,	    close_device};
	static const struct handmade_launch fine[] = {
		{"fine", SK_LAUNCH_SUPERKERNEL, 1, 0, {{0, 0}}, 1, {{0}}, 0, fine_steps, 1}, {NULL}};

	snprintf(other_path, sizeof(other_path), "%s", path);
	snprintf(path, sizeof(path), "%s/consulting.sk", scratch_folder);
	handmade_make(path,
		      &(struct handmade_package){
			      .lane_count = 1, .tensors = no_tensors, .launches = fine, .source = consulting_source});
	FILE *file = fopen(path, "rb");
	ck_assert_ptr_nonnull(file);
	consulting_bytes = fread(consulting_package, 1, sizeof(consulting_package), file);
	ck_assert(feof(file));
	fclose(file);
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		struct early_victim victim = {functions[i], -1, ""};
		pthread_t thread;
		void *result;

		ck_assert_int_eq(pthread_create(&thread, NULL, be_cancelled_before, &victim), 0);
		ck_assert_int_eq(pthread_join(thread, &result), 0);
		ck_assert_msg(victim.status == SKRT_OK, "function %zu: status %d: %s", i, victim.status, victim.error);
		ck_assert_ptr_eq(result, PTHREAD_CANCELED);
	}
	ck_assert_uint_eq(consulted, 4);
}
END_TEST

static const void *linked_plan;

static enum skrt_status load_linked(void)
{
	return skrt_module_load_linked(device, linked_plan, &linked);
}

/* A package that wants more cores than there are waits until nothing is in flight. */
START_TEST(cancelled_while_cores_are_added)
{
	static const struct handmade_launch many[] = {{"fine", SK_LAUNCH_SUPERKERNEL, .home_count = 1,
						       .steps = fine_steps, .step_count = 1, .resident_cores = 5},
						      {NULL}};
	struct early_victim victim = {load_linked, -1, ""};
	pthread_t thread;
	char file[160];

	snprintf(file, sizeof(file), "%s/many.sk", scratch_folder);
	handmade_make(file, &(struct handmade_package){
				    .lane_count = 1, .tensors = no_tensors, .launches = many, .source = fine_source});
	void *object = dlopen(file, RTLD_NOW);
	ck_assert_msg(object != NULL, "%s", dlerror());
	linked_plan = dlsym(object, "sk_plan");
	open_all(&OPTIONS(.cores = 2));
	launch(0, instances[0][1], "works");
	usleep(20000);
	ck_assert_int_eq(pthread_create(&thread, NULL, be_early_victim, &victim), 0);
	usleep(20000);
	ck_assert_int_eq(pthread_cancel(thread), 0);
	usleep(20000);
	ck_assert_int_eq(victim.status, -1);
	__atomic_store_n(&buffers[0][1], 1, __ATOMIC_RELEASE);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_int_eq(victim.status, SKRT_OK);
	synchronise_all();
	ok(skrt_module_unload(linked));
	close_all();
	dlclose(object);
}
END_TEST

#define FORKED(call) expect((call), SKRT_DEVICE_LOST, "a fork must open a device of its own")

/* The parent's objects cannot be used; a device that the child opens can. */
static void be_child(const struct skrt_kernel *kernel)
{
	struct skrt_module *other;
	struct skrt_instance *instance;
	struct skrt_stream *stream;
	struct skrt_event *event;
	void *memory;

	alarm(30);
	FORKED(skrt_run(streams[0], instances[0][1], kernel));
	FORKED(skrt_launch(streams[1], instances[0][1], kernel));
	FORKED(skrt_launch_network(streams[1], instances[0][1]));
	FORKED(skrt_launch_network_on(streams, 2, instances[0][1]));
	FORKED(skrt_run_serial(instances[0][1], kernel) == SKRT_NOT_FOUND ? skrt_synchronise(streams[0]) : SKRT_OK);
	FORKED(skrt_synchronise(streams[1]));
	FORKED(skrt_stream_query(streams[0]));
	FORKED(skrt_copy(streams[0], buffers[0], buffers[1], 8));
	FORKED(skrt_event_record(open_door, streams[0]));
	FORKED(skrt_event_synchronise(open_door));
	FORKED(skrt_stream_create(device, &stream));
	FORKED(skrt_event_create(device, &event));
	FORKED(skrt_module_load(device, path, &other));
	FORKED(skrt_module_kernel(module, 0, &kernel));
	FORKED(skrt_module_find_kernel(module, "wide", &kernel));
	FORKED(skrt_module_task(module, 0, &kernel));
	FORKED(skrt_module_find_task(module, "wide", &kernel));
	FORKED(skrt_instance_create(module, &instance));
	FORKED(skrt_instance_bind(instances[0][1], 0, buffers[0], sizeof(buffers[0])));
	FORKED(skrt_instance_fill_workspace(instances[0][1], 0));
	FORKED(skrt_allocate(device, 64, &memory));
	FORKED(skrt_stream_destroy(streams[1]));
	FORKED(skrt_event_destroy(open_door));
	FORKED(skrt_instance_destroy(instances[0][1]));
	FORKED(skrt_module_unload(module));
	FORKED(skrt_device_close(device));
	open_all(&OPTIONS(.cores = 2));
	launch(0, instances[0][1], "wide");
	synchronise_all();
	ck_assert_uint_eq(buffers[0][ORDER], 1);
	close_all();
}

/* Alone, with a launch in flight, and while another thread is looking for a kernel. */
START_TEST(forked)
{
	const struct skrt_kernel *kernel;
	int status;

	open_all(&OPTIONS(.cores = 2));
	ok(skrt_module_find_kernel(module, "wide", &kernel));
	if (_i == 1) {
		launch(0, instances[0][1], "works");
		usleep(20000);
	}
	if (_i == 2)
		pthread_mutex_lock(&module->lock);
	pid_t child = check_fork();
	if (child == 0) {
		be_child(kernel);
		_exit(0);
	}
	if (_i == 2)
		pthread_mutex_unlock(&module->lock);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child has ended with 0x%x", (unsigned)status);
	__atomic_store_n(&buffers[0][1], 1, __ATOMIC_RELEASE);
	synchronise_all();
	ok(skrt_run(streams[1], instances[0][1], kernel));
	close_all();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("queue");
	TCase *tests = tcase_create("queue");

	scratch_add(tests);
	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_set_timeout(tests, 120);
	tcase_add_loop_test(tests, overlap, 0, PLACES);
	tcase_add_loop_test(tests, no_overlap, 0, 2);
	tcase_add_test(tests, one_stream);
	tcase_add_loop_test(tests, scratch, 0, 4);
	tcase_add_loop_test(tests, fair, 0, PLACES);
	tcase_add_loop_test(tests, random_orders, 0, PLACES);
	tcase_add_loop_test(tests, states_apart, 0, PLACES);
	tcase_add_loop_test(tests, states_in_order, 0, PLACES);
	tcase_add_loop_test(tests, one_instance, 0, PLACES);
	tcase_add_loop_test(tests, follows, 0, PLACES);
	tcase_add_loop_test(tests, fault_beside, 0, PLACES);
#ifndef SIGNALS_HELD
	tcase_add_loop_test(tests, timeout_beside, 0, 2);
#else
	(void)timeout_beside;
#endif
	tcase_add_test(tests, hang_beside);
	tcase_add_test(tests, busy);
#ifndef __SANITIZE_ADDRESS__ /* it takes the frames that a cancelled thread was in for still in use when that ends */
	tcase_add_loop_test(tests, cancelled, 1, 4);
	tcase_add_test(tests, cancelled_before);
#else
	(void)cancelled_before;
	(void)cancelled;
#endif
#ifndef SANITIZED /* ThreadSanitizer's list of threads stays locked when one that makes others is cancelled */
	tcase_add_test(tests, cancelled_while_cores_are_added);
#else
	(void)cancelled_while_cores_are_added;
#endif
#ifndef SANITIZED /* a fork also lacks the sanitizer's own threads */
	tcase_add_loop_test(tests, forked, 0, 3);
#else
	(void)forked;
#endif
	tcase_add_loop_test(tests, waits, 0, PLACES);
	suite_add_tcase(suite, tests);

	return run_suite(suite);
}
