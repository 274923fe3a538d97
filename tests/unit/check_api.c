/* libskrt's streams, used like a driver's: copies, host functions and events between launches; packages from anywhere,
 * with imports of the program's own; arrays bound by name; calls that are refused while work is pending. */
#include "config.h"

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "format/skabi.h"
#include "format/skplan.h"
#include "loader/skrt.h"
#include "tests/lib/handmade.h"
#include "tests/lib/scratch.h"
#include "tests/lib/statuses.h"
#include "tests/lib/suite.h"

enum { WORDS = 64 };

/* add: core 0 adds x[0] to log[0]. random: log[1] gets a number from the import `rand`. bad: a status. */
static const char source[] = "#include \"format/skabi.h\"\n"
			     "int rand(void);\n"
			     "int kernel(void) { return 0; }\n"
			     "int add(struct sk_core *core)\n"
			     "{ uint64_t *log = core->bindings[0]; const uint64_t *x = core->bindings[1];\n"
			     "  if (core->index == 0) log[0] += x[0]; return 0; }\n"
			     "int random(struct sk_core *core)\n"
			     "{ uint64_t *log = core->bindings[0]; if (core->index == 0) log[1] = rand(); return 0; }\n"
			     "int bad(struct sk_core *core) { core->failed_task = 2; return core->index + 1; }\n"
			     "int untimed(struct sk_core *core) { return core->times != 0; }\n"
			     "int liar(struct sk_core *core)\n"
			     "{ struct sk_times *t = core->times; if (!t || core->index) return 0;\n"
			     "  t[0] = (struct sk_times){-1, 0, -1}; t[1] = (struct sk_times){7, -1, 1}; return 0; }\n";

/* untimed: two steps without times; fails if it gets a table. liar: two steps that claim times that cannot be. */
static const struct handmade_step add_steps[] = {{"a", 0}}, random_steps[] = {{"r", 0}}, bad_steps[] = {{"b", 0}},
				  untimed_steps[] = {{"u", 0}, {"v", 0}},
				  liar_steps[] = {{"l", 0, SK_STEP_TIMED}, {"m", 0, SK_STEP_TIMED}};
static const struct handmade_launch launches[] = {
	{"add", SK_LAUNCH_SUPERKERNEL, 0, 0, {{0, 0}}, 1, {{0}}, 0, add_steps, 1},
	{"random", SK_LAUNCH_SUPERKERNEL, 0, 0, {{0, 0}}, 1, {{0}}, 0, random_steps, 1},
	{"bad", SK_LAUNCH_SUPERKERNEL, 0, 0, {{0, 0}}, 1, {{0}}, 0, bad_steps, 1},
	{"untimed", SK_LAUNCH_SUPERKERNEL, 0, 0, {{0, 0}}, 1, {{0}}, 0, untimed_steps, 2},
	{"liar", SK_LAUNCH_SUPERKERNEL, 0, 0, {{0, 0}}, 1, {{0}}, 0, liar_steps, 2},
	{NULL},
};
static const struct handmade_tensor tensors[] = {
	{"log", SK_U64, SK_ROLE_INOUT, WORDS}, {"x", SK_U64, SK_ROLE_INPUT, WORDS}, {NULL}};

static char path[128];
static struct skrt_device *device;
static struct skrt_module *module;
static struct skrt_instance *instance;
static struct skrt_stream *stream;
static const struct skrt_kernel *add, *bad;
static uint64_t *log_words, *x;

static void setup(void)
{
	static const struct handmade_package package = {
		.lane_count = 1, .tensors = tensors, .launches = launches, .source = source};

	snprintf(path, sizeof(path), "%s/a.sk", scratch_folder);
	handmade_make(path, &package);
	ok(skrt_device_open(&OPTIONS(.cores = 2), &device));
	ok(skrt_allocate(device, WORDS * sizeof(*x), (void **)&x));
	ok(skrt_allocate(device, WORDS * sizeof(*x), (void **)&log_words));
	memset(x, 0, WORDS * sizeof(*x));
	memset(log_words, 0, WORDS * sizeof(*x));
}

static void open_all(void)
{
	ok(skrt_module_load(device, path, &module));
	ok(skrt_instance_create(module, &instance));
	ok(skrt_stream_create(device, &stream));
	ok(skrt_instance_bind_array(instance, "log", SKRT_U64, 1, (uint64_t[]){WORDS}, log_words));
	ok(skrt_instance_bind_array(instance, "x", SKRT_U64, 1, (uint64_t[]){WORDS}, x));
	ok(skrt_module_find_kernel(module, "add", &add));
	ok(skrt_module_find_kernel(module, "bad", &bad));
}

static void close_all(void)
{
	ok(skrt_stream_destroy(stream));
	ok(skrt_instance_destroy(instance));
	ok(skrt_module_unload(module));
}

static void teardown(void)
{
	ok(skrt_free(device, x));
	expect(skrt_device_close(device), SKRT_BUSY, "allocations: 1");
	ok(skrt_free(device, log_words));
	ok(skrt_free(device, NULL));
	ok(skrt_device_close(device));
}

/* ---- copies, calls, events ---- */

static void set_x(void *context, enum skrt_status status)
{
	ck_assert_int_eq(status, SKRT_OK);
	x[0] = *(const uint64_t *)context;
}

/* Copies and host functions run in their order between the launches. */
START_TEST(in_order)
{
	static const uint64_t hundred = 100, thousand = 1000;
	struct skrt_device *checked;
	uint64_t seen[20];

	open_all();
	for (int i = 0; i < 20; i++) {
		ok(skrt_copy(stream, x, &hundred, sizeof(hundred)));
		ok(skrt_launch(stream, instance, add));
		ok(skrt_stream_call(stream, set_x, (void *)(uintptr_t)&thousand));
		ok(skrt_launch(stream, instance, add));
		ok(skrt_copy(stream, &seen[i], log_words, sizeof(seen[i])));
	}
	ok(skrt_synchronise(stream));
	for (uint64_t i = 0; i < 20; i++)
		ck_assert_uint_eq(seen[i], (i + 1) * 1100);
	ok(skrt_copy(stream, NULL, NULL, 0));
	expect(skrt_copy(stream, NULL, x, 8), SKRT_INVALID_ARGUMENT, "null");
	expect(skrt_stream_call(stream, NULL, x), SKRT_INVALID_ARGUMENT, "null");
	expect(skrt_device_open(&OPTIONS(.checks = 1u << 31), &checked), SKRT_INVALID_ARGUMENT,
	       "some of them are unknown");
	ok(skrt_synchronise(stream));
	close_all();
}
END_TEST

static void count(void *context, enum skrt_status status)
{
	((uint64_t *)context)[status == SKRT_OK ? 0 : 1]++;
}

/* After a failure copies are skipped like launches, callbacks get the status, events are reached. */
START_TEST(behind_a_failure)
{
	struct skrt_event *event;
	uint64_t counts[2] = {0, 0}, copied = 7;

	open_all();
	ok(skrt_event_create(device, &event));
	ok(skrt_stream_call(stream, count, counts));
	ok(skrt_launch(stream, instance, bad));
	ok(skrt_stream_call(stream, count, counts));
	ok(skrt_copy(stream, &copied, log_words, sizeof(copied)));
	ok(skrt_event_record(event, stream));
	ok(skrt_event_synchronise(event));
	ck_assert_uint_eq(counts[0], 1);
	ck_assert_uint_eq(counts[1], 1);
	ck_assert_uint_eq(copied, 7);
	ok(skrt_stream_query(stream));
	expect(skrt_synchronise(stream), SKRT_KERNEL_FAILED, "task 'b'");
	ok(skrt_synchronise(stream));
	ok(skrt_event_destroy(event));
	close_all();
}
END_TEST

static _Atomic bool gate_open;

static void pass_gate(void *context, enum skrt_status status)
{
	(void)context;
	(void)status;
	while (!atomic_load(&gate_open))
		usleep(100);
}

/* While work is pending nothing that it needs can be taken away. */
START_TEST(pending)
{
	struct skrt_event *event;
	double seconds;

	open_all();
	ok(skrt_event_create(device, &event));
	ok(skrt_event_query(event));
	expect(skrt_event_elapsed(event, event, &seconds), SKRT_NOT_READY, "never recorded");
	atomic_store(&gate_open, false);
	ok(skrt_stream_call(stream, pass_gate, NULL));
	ok(skrt_launch(stream, instance, add));
	ok(skrt_event_record(event, stream));
	expect(skrt_stream_query(stream), SKRT_NOT_READY, "pending on the stream: ");
	expect(skrt_event_query(event), SKRT_NOT_READY, "not been reached");
	expect(skrt_event_elapsed(event, event, &seconds), SKRT_NOT_READY, "not been reached");
	expect(skrt_event_destroy(event), SKRT_BUSY, "in use");
	expect(skrt_stream_destroy(stream), SKRT_BUSY, "in use");
	expect(skrt_instance_destroy(instance), SKRT_BUSY, "launches pending: 1");
	expect(skrt_module_unload(module), SKRT_BUSY, "instances: 1");
	expect(skrt_device_close(device), SKRT_BUSY, "modules: 1, streams: 1, events: 1, allocations: 2");
	expect(skrt_instance_bind(instance, 1, x, WORDS * 8), SKRT_BUSY, "launches pending: 1");
	atomic_store(&gate_open, true);
	ok(skrt_event_synchronise(event));
	ok(skrt_event_query(event));
	ok(skrt_synchronise(stream));
	ok(skrt_event_elapsed(event, event, &seconds));
	ck_assert(seconds == 0);
	ok(skrt_event_destroy(event));
	close_all();
}
END_TEST

static void sleep_a_little(void *context, enum skrt_status status)
{
	(void)context;
	(void)status;
	usleep(20000);
}

START_TEST(events)
{
	struct skrt_event *start, *end;
	struct skrt_stream *other;
	struct skrt_device *foreign_device;
	struct skrt_event *foreign;
	uint64_t seen = 0;
	double seconds;

	open_all();
	x[0] = 5;
	ok(skrt_stream_create(device, &other));
	ok(skrt_event_create(device, &start));
	ok(skrt_event_create(device, &end));
	ok(skrt_event_record(start, stream));
	ok(skrt_stream_call(stream, sleep_a_little, NULL));
	ok(skrt_launch(stream, instance, add));
	ok(skrt_event_record(end, stream));
	ok(skrt_stream_wait(other, end));
	ok(skrt_copy(other, &seen, log_words, sizeof(seen)));
	ok(skrt_synchronise(other));
	ck_assert_uint_eq(seen, 5);
	ok(skrt_event_elapsed(start, end, &seconds));
	ck_assert_msg(seconds >= 0.02 && seconds < 20, "%g s", seconds);
	ok(skrt_device_open(NULL, &foreign_device));
	ok(skrt_event_create(foreign_device, &foreign));
	expect(skrt_stream_wait(stream, foreign), SKRT_INVALID_ARGUMENT, "not of one device");
	expect(skrt_event_record(foreign, stream), SKRT_INVALID_ARGUMENT, "not of one device");
	expect(skrt_event_elapsed(foreign, end, &seconds), SKRT_INVALID_ARGUMENT, "not of one device");
	expect(skrt_device_close(foreign_device), SKRT_BUSY, "events: 1");
	ok(skrt_event_destroy(foreign));
	ok(skrt_device_close(foreign_device));
	ok(skrt_event_destroy(start));
	ok(skrt_event_destroy(end));
	ok(skrt_event_destroy(NULL));
	ok(skrt_stream_destroy(other));
	close_all();
}
END_TEST

/* A host function that queues more: the chain goes on by itself. */
struct chain {
	int left;
};

static void queue_more(void *context, enum skrt_status status)
{
	struct chain *chain = context;

	ck_assert_int_eq(status, SKRT_OK);
	if (chain->left-- == 0)
		return;
	ok(skrt_launch(stream, instance, add));
	ok(skrt_stream_call(stream, queue_more, chain));
}

START_TEST(chains)
{
	struct chain chain = {.left = 10};

	open_all();
	x[0] = 3;
	ok(skrt_stream_call(stream, queue_more, &chain));
	ok(skrt_synchronise(stream));
	ck_assert_uint_eq(log_words[0], 30);
	close_all();
}
END_TEST

static void *wait_for(void *event)
{
	ok(skrt_event_synchronise(event));
	return NULL;
}

/* Several threads wait for one event, while others queue and synchronise. */
START_TEST(waiting_threads)
{
	struct skrt_event *event;
	pthread_t threads[4];

	open_all();
	x[0] = 1;
	ok(skrt_event_create(device, &event));
	for (uint64_t round = 1; round <= 50; round++) {
		ok(skrt_launch(stream, instance, add));
		ok(skrt_event_record(event, stream));
		for (int i = 0; i < 4; i++)
			ck_assert_int_eq(pthread_create(&threads[i], NULL, wait_for, event), 0);
		ok(skrt_launch(stream, instance, add));
		ok(skrt_synchronise(stream));
		for (int i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
		ck_assert_uint_eq(log_words[0], round * 2);
	}
	ok(skrt_event_destroy(event));
	close_all();
}
END_TEST

/* ---- packages from anywhere ---- */

static int forty_two(void)
{
	return 42;
}

static uint64_t run_random(const struct skrt_source *from)
{
	const struct skrt_kernel *kernel;

	ok(skrt_module_load_from(device, from, &module));
	ok(skrt_instance_create(module, &instance));
	ok(skrt_stream_create(device, &stream));
	ok(skrt_instance_bind_array(instance, "log", SKRT_U64, 1, (uint64_t[]){WORDS}, log_words));
	ok(skrt_instance_bind_array(instance, "x", SKRT_U64, 1, (uint64_t[]){WORDS}, x));
	ok(skrt_module_find_kernel(module, "random", &kernel));
	log_words[1] = UINT64_MAX;
	ok(skrt_run(stream, instance, kernel));
	close_all();
	return log_words[1];
}

START_TEST(sources)
{
	const struct skrt_import imports[] = {{sizeof(struct skrt_import), "rand", (void (*)(void))forty_two}};
	struct skrt_source from = {.size = sizeof(from), .path = path};
	static char bytes[1 << 20];
	int file = open(path, O_RDONLY);
	ssize_t size = read(file, bytes, sizeof(bytes));

	ck_assert_int_gt(size, 0);
	ck_assert_uint_le(run_random(&from), INT32_MAX);
	from = SOURCE(.path = path, .imports = imports, .import_count = 1);
	ck_assert_uint_eq(run_random(&from), 42);
	from = SOURCE(.use_descriptor = 1, .descriptor = file, .imports = imports, .import_count = 1);
	ck_assert_uint_eq(run_random(&from), 42);
	ck_assert_uint_eq(run_random(&from), 42); /* the descriptor is as before */
	from = SOURCE(.memory = bytes, .bytes = (uint64_t)size, .imports = imports, .import_count = 1);
	ck_assert_uint_eq(run_random(&from), 42);
	close(file);
}
END_TEST

START_TEST(no_sources)
{
	const struct skrt_import nameless = {sizeof(nameless), NULL, (void (*)(void))forty_two};
	struct skrt_source from = {.size = sizeof(from), .name = "nothing"};
	int pipes[2];

	expect(skrt_module_load_from(device, &from, &module), SKRT_INVALID_ARGUMENT, "nothing: a source is one of");
	from = SOURCE(.path = path, .memory = path, .bytes = 1);
	expect(skrt_module_load_from(device, &from, &module), SKRT_INVALID_ARGUMENT, "a source is one of");
	from = SOURCE(.memory = path, .bytes = 0);
	expect(skrt_module_load_from(device, &from, &module), SKRT_BAD_PACKAGE, "package in memory: not a package");
	from = SOURCE(.memory = source, .bytes = sizeof(source), .name = "text");
	expect(skrt_module_load_from(device, &from, &module), SKRT_BAD_PACKAGE, "text: not a package");
	from = SOURCE(.use_descriptor = 1, .descriptor = -1);
	expect(skrt_module_load_from(device, &from, &module), SKRT_CANNOT_READ, "Bad file descriptor");
	ck_assert_int_eq(pipe(pipes), 0);
	from = SOURCE(.use_descriptor = 1, .descriptor = pipes[0], .name = "pipe");
	expect(skrt_module_load_from(device, &from, &module), SKRT_CANNOT_READ, "pipe: not a regular file");
	close(pipes[0]);
	close(pipes[1]);
	from = SOURCE(.path = path, .imports = &nameless, .import_count = 1);
	expect(skrt_module_load_from(device, &from, &module), SKRT_INVALID_ARGUMENT, "import number 0 has no name");
	expect(skrt_module_load_from(device, NULL, &module), SKRT_INVALID_ARGUMENT, "null");
}
END_TEST

/* ---- structs of older and newer programs ---- */

/* A struct of a newer program, with a field after those of today. */
#define NEWER(type, name)                                                                                              \
	struct {                                                                                                       \
		struct type known;                                                                                     \
		uint64_t newer[2];                                                                                     \
	} name

START_TEST(read_sizes)
{
	NEWER(skrt_device_options, newer) = {.known = {.size = sizeof(newer), .cores = 3}};
	struct skrt_device_options older = {.size = offsetof(struct skrt_device_options, seed), .cores = 3, .seed = 7};
	struct skrt_device *other;
	char offset[64];

	ok(skrt_device_open(&older, &other)); /* though a seed is not for the host */
	ck_assert_uint_eq(skrt_device_cores(other, 0), 3);
	ok(skrt_device_close(other));
	ok(skrt_device_open((const struct skrt_device_options *)&newer, &other));
	ck_assert_uint_eq(skrt_device_cores(other, 0), 3);
	ok(skrt_device_close(other));
	newer.newer[1] = UINT64_C(1) << 56;
	snprintf(offset, sizeof(offset), "the byte at offset %zu is not 0", sizeof(newer) - 1);
	expect(skrt_device_open((const struct skrt_device_options *)&newer, &other), SKRT_INVALID_ARGUMENT, offset);
	for (size_t size = 0; size < sizeof(size); size++) {
		older.size = size;
		expect(skrt_device_open(&older, &other), SKRT_INVALID_ARGUMENT, "sizeof(struct skrt_device_options)");
	}
	older.size = SIZE_MAX;
	expect(skrt_device_open(&older, &other), SKRT_INVALID_ARGUMENT, "its size is 18446744073709551615");
}
END_TEST

START_TEST(source_sizes)
{
	NEWER(skrt_import, imports[]) = {{.known = {sizeof(imports[0]), "none", (void (*)(void))close_all}},
					 {.known = {sizeof(imports[0]), "rand", (void (*)(void))forty_two}}};
	NEWER(skrt_source, newer) = {
		.known = {.size = sizeof(newer), .path = path, .imports = &imports[0].known, .import_count = 2}};
	struct skrt_source older = newer.known;

	ck_assert_uint_eq(run_random(&newer.known), 42);
	older.size = offsetof(struct skrt_source, check_integrity);
	older.weights_descriptor = older.use_weights_descriptor = -1;
	ck_assert_uint_eq(run_random(&older), 42);
	imports[1].newer[0] = 1;
	expect(skrt_module_load_from(device, &older, &module), SKRT_INVALID_ARGUMENT, "struct skrt_import: the byte");
	imports[1].known.size = sizeof(struct skrt_import);
	expect(skrt_module_load_from(device, &older, &module), SKRT_INVALID_ARGUMENT, "import number 1 has another");
	imports[0].known.size = 0;
	expect(skrt_module_load_from(device, &older, &module), SKRT_INVALID_ARGUMENT, "sizeof(struct skrt_import)");
	newer.newer[0] = 1;
	expect(skrt_module_load_from(device, &newer.known, &module), SKRT_INVALID_ARGUMENT, "struct skrt_source");
}
END_TEST

static struct skrt_trace *sized_trace;

static enum skrt_status fill_tensor(void *tensor)
{
	return skrt_module_tensor(module, 0, tensor);
}

static enum skrt_status fill_kernel_info(void *info)
{
	return skrt_kernel_describe(add, info);
}

static enum skrt_status fill_network(void *network)
{
	return skrt_module_network(module, 0, network);
}

static enum skrt_status find_network(void *network)
{
	return skrt_module_find_network(module, NULL, network);
}

static enum skrt_status fill_trace_info(void *info)
{
	return skrt_trace_describe(sized_trace, info);
}

static enum skrt_status fill_task_times(void *times)
{
	return skrt_trace_task(sized_trace, 0, times);
}

static const struct filled {
	enum skrt_status (*fill)(void *memory);
	size_t size;
	const char *name;
} filled[] = {
	{fill_tensor, sizeof(struct skrt_tensor), "struct skrt_tensor"},
	{fill_kernel_info, sizeof(struct skrt_kernel_info), "struct skrt_kernel_info"},
	{fill_network, sizeof(struct skrt_network), "struct skrt_network"},
	{find_network, sizeof(struct skrt_network), "struct skrt_network"},
	{fill_trace_info, sizeof(struct skrt_trace_info), "struct skrt_trace_info"},
	{fill_task_times, sizeof(struct skrt_task_times), "struct skrt_task_times"},
};

/* Fill a struct with `size` in its size field, in memory filled with one byte value. */
static enum skrt_status fill_sized(const struct filled *row, size_t size, unsigned char *memory, size_t room, int byte)
{
	memset(memory, byte, room);
	memcpy(memory, &size, sizeof(size));
	return row->fill(memory);
}

/* Return whether the memory is full of the byte from there on. */
static bool is_left(const unsigned char *memory, size_t from, size_t room, unsigned char byte)
{
	while (from < room && memory[from] == byte)
		from++;
	return from == room;
}

START_TEST(filled_sizes)
{
	enum { ROOM = 256 };
	const struct filled *row = &filled[_i];
	_Alignas(8) unsigned char whole[ROOM], memory[ROOM];
	size_t size, newer = row->size + 24;
	const size_t impossible[] = {0, 1, 7, 4097, SIZE_MAX};

	open_all();
	ok(skrt_trace_begin(device, 1000, &sized_trace));
	ok(skrt_run(stream, instance, add));
	ok(skrt_trace_end(sized_trace));
	ok(fill_sized(row, row->size, whole, ROOM, 0xa5));
	ck_assert(is_left(whole, row->size, ROOM, 0xa5));

	for (size = 8; size < row->size; size += 4) {
		ok(fill_sized(row, size, memory, ROOM, 0x5a));
		ck_assert(!memcmp(memory + 8, whole + 8, size - 8) && is_left(memory, size, ROOM, 0x5a));
		ck_assert(!memcmp(memory, &size, sizeof(size)));
	}
	ok(fill_sized(row, newer, memory, ROOM, 0)); /* and is told which fields there are */
	ck_assert(!memcmp(memory, whole, row->size) && is_left(memory, row->size, ROOM, 0));
	expect(fill_sized(row, newer, memory, ROOM, 0x5a), SKRT_INVALID_ARGUMENT, row->name);
	ck_assert(is_left(memory, 8, ROOM, 0x5a));
	for (size_t i = 0; i < sizeof(impossible) / sizeof(impossible[0]); i++) {
		expect(fill_sized(row, impossible[i], memory, ROOM, 0x5a), SKRT_INVALID_ARGUMENT, row->name);
		ck_assert(is_left(memory, 8, ROOM, 0x5a));
	}
	expect(row->fill(NULL), SKRT_INVALID_ARGUMENT, "null");
	ok(skrt_trace_destroy(sized_trace));
	close_all();
}
END_TEST

/* ---- arrays and memory ---- */

START_TEST(arrays)
{
	open_all();
	expect(skrt_instance_bind_array(instance, "lag", SKRT_U64, 1, (uint64_t[]){WORDS}, x), SKRT_NOT_FOUND,
	       "did you mean 'log'?");
	expect(skrt_instance_bind_array(instance, "x", SKRT_F32, 1, (uint64_t[]){WORDS}, x), SKRT_INVALID_ARGUMENT,
	       "tensor 'x' has elements of type u64, bound are f32");
	expect(skrt_instance_bind_array(instance, "x", SKRT_U64, 2, (uint64_t[]){8, 8}, x), SKRT_INVALID_ARGUMENT,
	       "tensor 'x' has the shape [64], bound is [8, 8]");
	expect(skrt_instance_bind_array(instance, "x", SKRT_U64, 1, (uint64_t[]){65}, x), SKRT_INVALID_ARGUMENT,
	       "bound is [65]");
	expect(skrt_instance_bind_array(instance, "x", SKRT_U64, 0, NULL, x), SKRT_INVALID_ARGUMENT, "bound is []");
	expect(skrt_instance_bind_array(instance, "x", SKRT_U64, 9, (uint64_t[9]){0}, x), SKRT_INVALID_ARGUMENT,
	       "9 dimensions");
	expect(skrt_instance_bind_array(instance, "x", SKRT_U64, 1, (uint64_t[]){WORDS}, x + 1), SKRT_INVALID_ARGUMENT,
	       "not aligned to 64");
	close_all();
}
END_TEST

/* ---- traces ---- */

static struct skrt_task_times times_of(const struct skrt_trace *trace, const char *task)
{
	struct skrt_task_times times = {.size = sizeof(times)};
	struct skrt_trace_info info = {.size = sizeof(info)};

	skrt_trace_describe(trace, &info);
	for (uint64_t i = 0; i < info.task_count; i++) {
		ok(skrt_trace_task(trace, i, &times));
		if (!strcmp(times.task, task))
			return times;
	}
	ck_abort_msg("no task %s in the trace", task);
}

static void read_start(int file, char text[32])
{
	memset(text, 0, 32);
	ck_assert_int_ge(pread(file, text, 31, 0), 0);
}

static int count_files(void)
{
	DIR *folder = opendir(scratch_folder);
	int count = 0;

	ck_assert_ptr_nonnull(folder);
	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

/* A process that has the old file open keeps it; a failed write leaves the file as it was, and no other file; the
 * program keeps its signal handlers. */
static void write_trace_over_another(const struct skrt_trace *trace)
{
	struct rlimit before, none;
	struct sigaction interrupt, later;
	char file[256], text[32];

	snprintf(file, sizeof(file), "%s/t.json", scratch_folder);
	ck_assert_int_eq(sigaction(SIGINT, NULL, &interrupt), 0);
	int old = open(file, O_RDWR | O_CREAT | O_TRUNC, 0666);
	ck_assert_int_eq(write(old, "old", 3), 3);
	int files = count_files();

	ck_assert_ptr_ne(signal(SIGXFSZ, SIG_IGN), SIG_ERR);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
	none = (struct rlimit){.rlim_cur = 16, .rlim_max = before.rlim_max};
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &none), 0);
	expect(skrt_trace_write(trace, file), SKRT_CANNOT_WRITE, "t.json: File too large");
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
	ck_assert_ptr_eq(signal(SIGXFSZ, SIG_DFL), SIG_IGN);
	int same = open(file, O_RDONLY);
	read_start(same, text);
	ck_assert_str_eq(text, "old");
	close(same);
	ck_assert_int_eq(count_files(), files);

	ok(skrt_trace_write(trace, file));
	read_start(old, text);
	ck_assert_str_eq(text, "old");
	close(old);
	int new = open(file, O_RDONLY);
	read_start(new, text);
	ck_assert_msg(!strncmp(text, "{\"traceEvents\"", 14), "%s", text);
	close(new);
	ck_assert_int_eq(count_files(), files);
	ck_assert_int_eq(sigaction(SIGINT, NULL, &later), 0);
	ck_assert_ptr_eq(later.sa_handler, interrupt.sa_handler);
}

START_TEST(traces)
{
	struct skrt_trace_info info = {.size = sizeof(info)};
	struct skrt_task_times times = {.size = sizeof(times)};
	struct skrt_trace *trace, *second;
	char file[256];

	open_all();
	ok(skrt_trace_begin(device, 1000, &trace));
	expect(skrt_trace_begin(device, 1000, &second), SKRT_BUSY, "has a trace already");
	expect(skrt_trace_destroy(trace), SKRT_BUSY, "has not ended");
	expect(skrt_trace_write(trace, "/dev/null"), SKRT_NOT_READY, "has not ended");
	for (int i = 0; i < 10; i++)
		ok(skrt_run(stream, instance, add));
	expect(skrt_run(stream, instance, bad), SKRT_KERNEL_FAILED, "'b'");
	ok(skrt_launch(stream, instance, add));
	ok(skrt_synchronise(stream));
	ok(skrt_trace_end(trace));
	expect(skrt_trace_end(trace), SKRT_INVALID_ARGUMENT, "has ended already");
	ok(skrt_run(stream, instance, add)); /* not in it */

	skrt_trace_describe(trace, &info);
	ck_assert_uint_eq(info.launch_count, 11);
	ck_assert_uint_eq(info.kept_launches, 11);
	ck_assert(info.seconds > 0 && info.core_seconds >= 1.99 * info.seconds && info.wait_seconds == 0);
	ck_assert(info.run_seconds > 0 && info.run_seconds < info.core_seconds);
	times = times_of(trace, "a");
	ck_assert(times.runs == 11 && times.calls == 22 && times.run_seconds == info.run_seconds);
	ck_assert_str_eq(times.kernel, "kernel");
	ck_assert_uint_eq(times_of(trace, "b").runs, 0);
	expect(skrt_trace_task(trace, info.task_count, &times), SKRT_INVALID_ARGUMENT, "no task number");

	snprintf(file, sizeof(file), "%s/none/t.json", scratch_folder);
	expect(skrt_trace_write(trace, file), SKRT_CANNOT_WRITE, "No such file");
	expect(skrt_trace_write(trace, "/dev/full"), SKRT_CANNOT_WRITE, "No space left");
	write_trace_over_another(trace);
	ok(skrt_stream_destroy(stream));
	ok(skrt_instance_destroy(instance));
	expect(skrt_module_unload(module), SKRT_BUSY, "traces: 1");
	ok(skrt_trace_destroy(trace));
	ok(skrt_trace_destroy(NULL));
	ok(skrt_module_unload(module));
}
END_TEST

/* A launch of several tasks must note times; times that cannot be true are not used. */
START_TEST(traced_liars)
{
	const struct skrt_kernel *untimed, *liar;
	struct skrt_trace_info info = {.size = sizeof(info)};
	struct skrt_trace *trace;

	open_all();
	ok(skrt_module_find_kernel(module, "untimed", &untimed));
	ok(skrt_module_find_kernel(module, "liar", &liar));
	ok(skrt_run(stream, instance, untimed));
	ok(skrt_trace_begin(device, 7, &trace));
	expect(skrt_run(stream, instance, untimed), SKRT_UNSUPPORTED, "sklink --scope-options '*=profiling=1'");
	expect(skrt_launch_network(stream, instance), SKRT_UNSUPPORTED, "untimed");
	for (int i = 0; i < 3; i++)
		ok(skrt_run(stream, instance, liar));
	ok(skrt_trace_end(trace));
	ok(skrt_run(stream, instance, untimed));
	skrt_trace_describe(trace, &info);
	ck_assert_uint_eq(info.launch_count, 3);
	ck_assert_uint_eq(info.kept_launches, 1); /* each has six slices: four of tasks, two of cores */
	ck_assert(info.run_seconds <= info.core_seconds && info.wait_seconds <= info.core_seconds);
	ck_assert(times_of(trace, "l").run_seconds <= info.seconds);
	ck_assert(times_of(trace, "m").run_seconds == 0);
	ok(skrt_trace_write(trace, "/dev/null"));
	ok(skrt_trace_destroy(trace));
	close_all();
}
END_TEST

START_TEST(memory)
{
	void *some;

	ok(skrt_allocate(device, 0, &some));
	ok(skrt_free(device, some));
	ok(skrt_allocate(device, 1000, &some));
	ck_assert_uint_eq((uintptr_t)some % 64, 0);
	memset(some, 1, 1000);
	ok(skrt_free(device, some));
#ifndef SANITIZED /* they end the program instead */
	expect(skrt_allocate(device, UINT64_MAX, &some), SKRT_OUT_OF_MEMORY, "18446744073709551615 bytes");
	expect(skrt_allocate(device, UINT64_MAX / 4, &some), SKRT_OUT_OF_MEMORY, "bytes");
#endif
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("api");
	TCase *tests = tcase_create("api");

	scratch_add(tests);
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, in_order);
	tcase_add_test(tests, behind_a_failure);
	tcase_add_test(tests, pending);
	tcase_add_test(tests, events);
	tcase_add_test(tests, chains);
	tcase_add_test(tests, waiting_threads);
	tcase_add_test(tests, sources);
	tcase_add_test(tests, no_sources);
	tcase_add_test(tests, read_sizes);
	tcase_add_test(tests, source_sizes);
	tcase_add_loop_test(tests, filled_sizes, 0, sizeof(filled) / sizeof(filled[0]));
	tcase_add_test(tests, arrays);
	tcase_add_test(tests, memory);
	tcase_add_test(tests, traces);
	tcase_add_test(tests, traced_liars);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
