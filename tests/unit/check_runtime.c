/* libskrt through its public functions, on packages made by hand: the lane, ranges, homes, scratch and workspace that a
 * core is given; order, waiting, failures, streams; and damaged packages. */
#include "config.h"

#include <check.h>
#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "format/skabi.h"
#include "format/skplan.h"
#include "loader/skrt.h"
#include "tests/lib/handmade.h"
#include "tests/lib/scratch.h"
#include "tests/lib/statuses.h"
#include "tests/lib/suite.h"

enum { LOG_WORDS = 4096, ELEMENTS = 100, ROW = 8 };

/* ---- the packages ---- */

static const char preamble[] =
	"#include \"format/skabi.h\"\n"
	"#define LOG(core) ((uint64_t *)(core)->bindings[0])\n"
	"void abort(void);\n"
	"int kernel(void) { return 0; }\n"
	"static void publish(struct sk_core *core, uint64_t step)\n"
	"{ __atomic_store_n(core->progress, core->lanes[core->lane].base + step, __ATOMIC_RELEASE); }\n"
	"static int await(struct sk_core *core, const volatile uint64_t *word, unsigned lane, uint64_t step)\n"
	"{ uint64_t target = core->lanes[lane].base + step;\n"
	"  return __atomic_load_n(word, __ATOMIC_ACQUIRE) >= target ? 0 : core->runtime->await(core, word, target, 1); "
	"}\n"
	"static const volatile uint64_t *word_of(struct sk_core *core, unsigned index)\n"
	"{ return core->progress - 16l * core->index + 16l * index; }\n"
	"static int await_all(struct sk_core *core, uint64_t step)\n"
	"{ uint64_t target = core->lanes[0].base + step, left = core->lanes[0].count;\n"
	"  const volatile uint64_t *word = core->lanes[0].words;\n"
	"  for (; left && __atomic_load_n(word, __ATOMIC_ACQUIRE) >= target; left--) word += 16;\n"
	"  return left ? core->runtime->await(core, word, target, left) : 0; }\n"
	"static void delay(unsigned turns) { for (volatile unsigned i = 0; i < turns; i++); }\n";

/* split: y = 2 x by ranges, and the ranges. homes: the homes that each core is given. relay: a value goes round three
 * homes, so that every step but the first really waits. meet: every core awaits every other one. memory: scratch and
 * workspace. first, second: the order of launches. */
static const char good_source[] =
	"int split(struct sk_core *core)\n"
	"{ const float *x = core->bindings[1]; float *y = core->bindings[2];\n"
	"  struct sk_core_range range = core->ranges[0];\n"
	"  for (uint64_t i = range.low; i < range.high; i++) y[i] = 2 * x[i];\n"
	"  for (int i = 0; i < 4; i++) { LOG(core)[core->index * 8 + 2 * i] = core->ranges[i].low;\n"
	"    LOG(core)[core->index * 8 + 2 * i + 1] = core->ranges[i].high; }\n"
	"  return 0; }\n"
	"int split_serial(void *const *tensors, void *workspace)\n"
	"{ (void)workspace; for (int i = 0; i < 100; i++) ((float *)tensors[2])[i] = 2 * ((const float "
	"*)tensors[1])[i];\n"
	"  return 0; }\n"
	"int homes(struct sk_core *core)\n"
	"{ static const unsigned streams[4] = {0, 1, 5, 13};\n"
	"  for (int i = 0; i < 4; i++)\n"
	"    LOG(core)[core->index * 8 + i] = core->homes[i].mine |\n"
	"      (core->homes[i].word == word_of(core, streams[i] % core->count)) << 1;\n"
	"  LOG(core)[core->index * 8 + 4] = core->progress == word_of(core, core->index);\n"
	"  LOG(core)[core->index * 8 + 5] = core->lanes[0].count; LOG(core)[core->index * 8 + 6] = core->count;\n"
	"  LOG(core)[core->index * 8 + 7] = core->lane;\n"
	"  return 0; }\n"
	"int relay(struct sk_core *core)\n"
	"{ for (uint64_t step = 1; step <= 30; step++) {\n"
	"    if (!core->homes[step % 3].mine) continue;\n"
	"    if (step > 1 && await(core, core->homes[(step - 1) % 3].word, 0, step - 1)) return SK_STATUS_ABORTED;\n"
	"    if (step % 7 == 0) delay(20000);\n"
	"    LOG(core)[0] = LOG(core)[0] * 31 + step;\n"
	"    publish(core, step); }\n"
	"  return 0; }\n"
	"int meet(struct sk_core *core)\n"
	"{ uint64_t sum = 0;\n"
	"  LOG(core)[16 + core->index * 16]++;\n"
	"  publish(core, 1);\n"
	"  for (unsigned i = 0; i < core->count; i++) if (await(core, word_of(core, i), 0, 1)) return "
	"SK_STATUS_ABORTED;\n"
	"  for (unsigned i = 0; i < core->count; i++) sum += LOG(core)[16 + i * 16];\n"
	"  publish(core, 2);\n"
	"  if (await_all(core, 2)) return SK_STATUS_ABORTED;\n"
	"  if (sum != core->count * LOG(core)[16 + core->index * 16]) LOG(core)[0]++;\n"
	"  return 0; }\n"
	"int memory(struct sk_core *core)\n"
	"{ unsigned char *scratch = core->scratch, *workspace = core->workspace; int bad = 0;\n"
	"  if ((uintptr_t)scratch % 64 || (uintptr_t)workspace % 64) bad |= 1;\n"
	"  if (scratch < workspace + 1000) bad |= 2;\n"
	"  for (int i = 0; i < 4096; i++) scratch[i] = core->index + 1;\n"
	"  for (int i = core->index; i < 1000; i += core->count) workspace[i] = 0;\n"
	"  publish(core, 1);\n"
	"  for (unsigned i = 0; i < core->count; i++) if (await(core, word_of(core, i), 0, 1)) return "
	"SK_STATUS_ABORTED;\n"
	"  for (int i = 0; i < 4096; i++) if (scratch[i] != (unsigned char)(core->index + 1)) bad |= 4;\n"
	"  for (int i = 0; i < 1000; i++) if (workspace[i]) bad |= 8;\n"
	"  LOG(core)[core->index] = bad;\n"
	"  LOG(core)[1000] = (uint64_t)(uintptr_t)workspace;\n"
	"  return 0; }\n"
	"int memory_serial(void *const *tensors, void *workspace)\n"
	"{ for (int i = 0; i < 1000 + 4096; i++) ((unsigned char *)workspace)[i] = 1; (void)tensors; return 0; }\n"
	"static int note(struct sk_core *core, uint64_t number)\n"
	"{ if (core->index == 0) { uint64_t *log = LOG(core); log[++log[0]] = number; } return 0; }\n"
	"int first(struct sk_core *core) { return note(core, 1); }\n"
	"int second(struct sk_core *core) { return note(core, 2); }\n"
	"int alone(struct sk_core *core) { LOG(core)[1001] = (uint64_t)(uintptr_t)core->workspace; return note(core, "
	"3); }\n";

static const struct handmade_step split_steps[] = {{"a", 0}};
static const struct handmade_step homes_steps[] = {{"b", 0}};
static const struct handmade_step relay_steps[] = {
	{"r1", 0},  {"r2", 0},	{"r3", 0},  {"r4", 0},	{"r5", 0},  {"r6", 0},	{"r7", 0},  {"r8", 0},
	{"r9", 0},  {"r10", 0}, {"r11", 0}, {"r12", 0}, {"r13", 0}, {"r14", 0}, {"r15", 0}, {"r16", 0},
	{"r17", 0}, {"r18", 0}, {"r19", 0}, {"r20", 0}, {"r21", 0}, {"r22", 0}, {"r23", 0}, {"r24", 0},
	{"r25", 0}, {"r26", 0}, {"r27", 0}, {"r28", 0}, {"r29", 0}, {"r30", 0},
};
static const struct handmade_step meet_steps[] = {{"m1", 0}, {"m2", 0}};
static const struct handmade_step memory_steps[] = {{"s", 0}};
static const struct handmade_step first_steps[] = {{"first", 0}};
static const struct handmade_step second_steps[] = {{"second", 0}};

static const struct handmade_tensor tensors[] = {
	{"log", SK_U64, SK_ROLE_INOUT, LOG_WORDS},
	{"x", SK_F32, SK_ROLE_INPUT, ELEMENTS},
	{"y", SK_F32, SK_ROLE_OUTPUT, ELEMENTS},
	{NULL},
};

static const struct handmade_launch good_launches[] = {
	{"first", SK_LAUNCH_SINGLE, 0, 0, {{0, 0}}, 1, {{0}}, 0, first_steps, 1},
	{"split",
	 SK_LAUNCH_SUPERKERNEL,
	 1,
	 0,
	 {{0, 0}},
	 0,
	 {{100, 64}, {7, 1}, {UINT64_MAX, 1}, {1000, 1000}},
	 4,
	 split_steps,
	 1},
	{"homes", SK_LAUNCH_SUPERKERNEL, 0, 0, {{0, 0}, {0, 1}, {0, 5}, {0, 13}}, 4, {{0}}, 0, homes_steps, 1},
	{"relay", SK_LAUNCH_SUPERKERNEL, 0, 0, {{0, 0}, {0, 1}, {0, 2}}, 3, {{0}}, 0, relay_steps, 30},
	{"meet", SK_LAUNCH_SUPERKERNEL, 0, 0, {{0, 0}}, 0, {{1, 1}}, 1, meet_steps, 2},
	{"memory", SK_LAUNCH_SUPERKERNEL, 1, 4096, {{0, 0}}, 1, {{0}}, 0, memory_steps, 1},
	{"second", SK_LAUNCH_SINGLE, 0, 0, {{0, 0}}, 1, {{0}}, 0, second_steps, 1},
	{"alone", SK_LAUNCH_TASK, 0, 0, {{0, 0}}, 1, {{0}}, 0, first_steps, 1},
	{NULL},
};

/* status: the home of stream 1 returns 3, and all others await a step that it never publishes. all_fail: every core
 * does. end: a kernel calls abort. late: the failing core is slow. liar: an entry that returns an invalid status. */
static const char bad_source[] =
	"static int fail(struct sk_core *core, unsigned turns, unsigned task)\n"
	"{ if (core->homes[0].mine) { delay(turns); core->failed_task = task; return 3; }\n"
	"  if (await(core, core->homes[0].word, 0, 1)) return SK_STATUS_ABORTED;\n"
	"  LOG(core)[0]++; return 0; }\n"
	"int status(struct sk_core *core) { return fail(core, 0, 0); }\n"
	"int late(struct sk_core *core) { return fail(core, 3000000, 1); }\n"
	"int all_fail(struct sk_core *core) { core->failed_task = 2; return -7 - (int)core->index; }\n"
	"int end(struct sk_core *core)\n"
	"{ if (core->homes[0].mine) abort();\n"
	"  if (await(core, core->homes[0].word, 0, 1)) return SK_STATUS_ABORTED;\n"
	"  LOG(core)[0]++; return 0; }\n"
	"int two_ends(struct sk_core *core) { return end(core); }\n"
	"int liar(struct sk_core *core) { (void)core; return 5; }\n"
	"int fine(struct sk_core *core) { if (core->index == 0) LOG(core)[1]++; return 0; }\n"
	"int fine_serial(void *const *tensors, void *workspace) { (void)tensors; (void)workspace; return 9; }\n"
	"int end_serial(void *const *tensors, void *workspace) { (void)tensors; (void)workspace; abort(); }\n";

static const struct handmade_step status_steps[] = {{"act", 0}}, late_steps[] = {{"slow", 0}};
static const struct handmade_step all_fail_steps[] = {{"all", 0}}, end_steps[] = {{"die", 0}};
static const struct handmade_step two_ends_steps[] = {{"die1", 0}, {"die2", 0}};
static const struct handmade_step liar_steps[] = {{"lie", 0}}, fine_steps[] = {{"fine", 0}};

static const struct handmade_launch bad_launches[] = {
	{"status", SK_LAUNCH_SUPERKERNEL, 0, 0, {{0, 1}}, 1, {{0}}, 0, status_steps, 1},
	{"late", SK_LAUNCH_SUPERKERNEL, 0, 0, {{0, 1}}, 1, {{0}}, 0, late_steps, 1},
	{"all_fail", SK_LAUNCH_SINGLE, 0, 0, {{0, 1}}, 1, {{0}}, 0, all_fail_steps, 1},
	{"end", SK_LAUNCH_SUPERKERNEL, 1, 0, {{0, 1}}, 1, {{0}}, 0, end_steps, 1},
	{"two_ends", SK_LAUNCH_SUPERKERNEL, 0, 0, {{0, 1}}, 1, {{0}}, 0, two_ends_steps, 2},
	{"liar", SK_LAUNCH_SUPERKERNEL, 0, 0, {{0, 1}}, 1, {{0}}, 0, liar_steps, 1},
	{"fine", SK_LAUNCH_SUPERKERNEL, 1, 0, {{0, 1}}, 1, {{0}}, 0, fine_steps, 1},
	{NULL},
};

/* Two lanes. zigzag: cube and vector hand a value to and fro. cube_only, vector_only: a launch that needs one lane. */
static const char lanes_source[] =
	"int zigzag(struct sk_core *core)\n"
	"{ for (uint64_t step = 1; step <= 3; step++) {\n"
	"    if (core->homes[core->lane].mine) {\n"
	"      if (core->lane == 0 && step > 1 && await(core, core->homes[1].word, 1, step - 1)) return "
	"SK_STATUS_ABORTED;\n"
	"      if (core->lane == 1 && await(core, core->homes[0].word, 0, step)) return SK_STATUS_ABORTED;\n"
	"      LOG(core)[0] = LOG(core)[0] * 31 + step * 2 + core->lane;\n"
	"      publish(core, step); } }\n"
	"  return 0; }\n"
	"static int count(struct sk_core *core)\n"
	"{ LOG(core)[1000 + core->lane * 1000 + core->index * 16]++; publish(core, 1); return 0; }\n"
	"int cube_only(struct sk_core *core) { return count(core); }\n"
	"int vector_only(struct sk_core *core) { return count(core); }\n";

static const struct handmade_step zigzag_steps[] = {
	{"c1", 0}, {"v1", 1}, {"c2", 0}, {"v2", 1}, {"c3", 0}, {"v3", 1},
};
static const struct handmade_step cube_steps[] = {{"c", 0}}, vector_steps[] = {{"v", 1}};

static const struct handmade_launch lanes_launches[] = {
	{"zigzag", SK_LAUNCH_SUPERKERNEL, 0, 0, {{0, 0}, {1, 1}}, 2, {{0}}, 0, zigzag_steps, 6},
	{"cube_only", SK_LAUNCH_SINGLE, 0, 0, {{0, 0}}, 1, {{0}}, 0, cube_steps, 1},
	{"vector_only", SK_LAUNCH_SINGLE, 0, 0, {{1, 0}}, 1, {{0}}, 0, vector_steps, 1},
	{NULL},
};

/* ---- shared by all tests ---- */

/* gate: core 0 works until it is let out, all others await it. */
static const char gate_source[] =
	"int gate(struct sk_core *core)\n"
	"{ if (core->index) return await(core, word_of(core, 0), 0, 1) ? SK_STATUS_ABORTED : 0;\n"
	"  while (!__atomic_load_n(&LOG(core)[1], __ATOMIC_ACQUIRE));\n"
	"  publish(core, 1); return 0; }\n";

static const struct handmade_step gate_steps[] = {{"work", 0}};
static const struct handmade_launch gate_launches[] = {
	{"gate", SK_LAUNCH_SUPERKERNEL, 0, 0, {{0, 0}}, 1, {{0}}, 0, gate_steps, 1},
	{NULL},
};

static char path[128];
static struct skrt_device *device;
static struct skrt_module *module;
static struct skrt_instance *instance;
static struct skrt_stream *stream;
static _Alignas(64) uint64_t log_words[LOG_WORDS];
static _Alignas(64) float x[128], y[128];

static void make(const char *source, uint32_t lane_count, const struct handmade_launch *launches)
{
	char *text;
	struct handmade_package package = {
		.lane_count = lane_count,
		.workspace_size = 1000,
		.unshared_workspace_size = 2000,
		.tensors = tensors,
		.launches = launches,
	};

	ck_assert_int_gt(asprintf(&text, "%s%s", preamble, source), 0);
	package.source = text;
	handmade_make(path, &package);
	free(text);
}

static void setup(void)
{
	snprintf(path, sizeof(path), "%s/a.sk", scratch_folder);
}

static void open_all(uint32_t cores)
{
	ok(skrt_device_open(&OPTIONS(.cores = cores), &device));
	ok(skrt_module_load(device, path, &module));
	ok(skrt_instance_create(module, &instance));
	ok(skrt_stream_create(device, &stream));
	ok(skrt_instance_bind(instance, 0, log_words, sizeof(log_words)));
	ok(skrt_instance_bind(instance, 1, x, ELEMENTS * sizeof(x[0])));
	ok(skrt_instance_bind(instance, 2, y, ELEMENTS * sizeof(y[0])));
	memset(log_words, 0, sizeof(log_words));
	for (int i = 0; i < ELEMENTS; i++)
		x[i] = (float)i;
	memset(y, 0, sizeof(y));
}

static void close_all(void)
{
	ok(skrt_stream_destroy(stream));
	ok(skrt_instance_destroy(instance));
	ok(skrt_module_unload(module));
	ok(skrt_device_close(device));
}

static enum skrt_status run(const char *name)
{
	const struct skrt_kernel *kernel;

	ok(skrt_module_find_kernel(module, name, &kernel));
	return skrt_run(stream, instance, kernel);
}

static const uint32_t core_counts[] = {1, 2, 3, 7};
enum { CORE_COUNTS = sizeof(core_counts) / sizeof(core_counts[0]) };

/* ---- the cores' homes and ranges ---- */

/* The formula of struct sk_plan_partition, where nothing overflows. */
static uint64_t boundary(uint64_t extent, uint64_t unit, uint64_t part, uint64_t cores)
{
	uint64_t low = part * ((extent + unit - 1) / unit) / cores * unit;

	return low < extent ? low : extent;
}

START_TEST(ranges)
{
	uint32_t cores = core_counts[_i];

	make(good_source, 1, good_launches);
	open_all(cores);
	ok(run("split"));
	for (int i = 0; i < ELEMENTS; i++)
		ck_assert(y[i] == 2 * (float)i);
	for (uint64_t core = 0; core < cores; core++) {
		const uint64_t *row = log_words + core * ROW;

		ck_assert_uint_eq(row[0], boundary(100, 64, core, cores));
		ck_assert_uint_eq(row[1], boundary(100, 64, core + 1, cores));
		ck_assert_uint_eq(row[2], boundary(7, 1, core, cores));
		ck_assert_uint_eq(row[3], boundary(7, 1, core + 1, cores));
		/* 2^64 - 1 elements: consecutive, though the product has more than 64 bits. */
		ck_assert_uint_eq(row[4], core ? row[4 - ROW + 1] : 0);
		ck_assert_uint_eq(row[4], (uint64_t)(((unsigned __int128)UINT64_MAX * core) / cores));
		ck_assert_uint_eq(row[6], 0); /* one unit of 1000: the last core's */
		ck_assert_uint_eq(row[7], core + 1 < cores ? 0 : 1000);
	}
	ck_assert_uint_eq(log_words[(cores - 1) * ROW + 5], UINT64_MAX);
	if (cores == 2) {
		ck_assert_uint_eq(log_words[0], 0);
		ck_assert_uint_eq(log_words[1], 64);
		ck_assert_uint_eq(log_words[ROW], 64);
		ck_assert_uint_eq(log_words[ROW + 1], 100);
	}
	close_all();
}
END_TEST

static size_t allocated(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* Tables take cores times partitions, and a package may come from anywhere: only running it may allocate them. */
START_TEST(looking)
{
	enum { CORES = 500, TABLE = CORES * 4 * sizeof(struct sk_core_range) };
	const struct skrt_kernel *kernel;

	make(good_source, 1, good_launches);
	open_all(CORES);
	ok(skrt_module_find_kernel(module, "first", &kernel));
	size_t before = allocated();
	ok(skrt_module_find_kernel(module, "split", &kernel));
	ck_assert_uint_lt(allocated() - before, TABLE / 4);
	ok(skrt_run(stream, instance, kernel));
	if (before) /* sanitizers do not count */
		ck_assert_uint_ge(allocated() - before, TABLE);
	close_all();
}
END_TEST

/* A package of a megabyte could have tables of 4 GiB. */
START_TEST(looking_at_much)
{
	static const struct handmade_launch launches[] = {
		{"first",
		 SK_LAUNCH_SUPERKERNEL,
		 0,
		 0,
		 {{0, 0}},
		 1,
		 {{SK_MAX_RESIDENT, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
		 1 << 16,
		 first_steps,
		 1,
		 {0},
		 SK_MAX_RESIDENT},
		{NULL},
	};
	const struct skrt_kernel *kernel;

	make("int first(struct sk_core *core) { (void)core; return 0; }\n", 1, launches);
	ok(skrt_device_open(NULL, &device));
	size_t before = allocated();
	ok(skrt_module_load(device, path, &module));
	ck_assert_uint_eq(skrt_module_kernel_count(module), 1);
	ok(skrt_module_kernel(module, 0, &kernel));
	ck_assert_uint_lt(allocated() - before, 16 << 20);
	ok(skrt_module_unload(module));
	ok(skrt_device_close(device));
}
END_TEST

START_TEST(homes)
{
	static const uint32_t streams[4] = {0, 1, 5, 13};
	uint32_t cores = core_counts[_i];

	make(good_source, 1, good_launches);
	open_all(cores);
	ok(run("homes"));
	for (uint32_t core = 0; core < cores; core++) {
		const uint64_t *row = log_words + core * ROW;

		for (int i = 0; i < 4; i++)
			ck_assert_uint_eq(row[i], 2 + (streams[i] % cores == core));
		ck_assert_uint_eq(row[4], 1);
		ck_assert(row[5] > 0 && row[5] <= cores);
		ck_assert_uint_eq(row[6], cores);
		ck_assert_uint_eq(row[7], 0);
	}
	close_all();
}
END_TEST

START_TEST(memory)
{
	uint32_t cores = core_counts[_i];
	const struct skrt_kernel *kernel;

	make(good_source, 1, good_launches);
	open_all(cores);
	for (int i = 0; i < 3; i++) {
		ok(skrt_instance_fill_workspace(instance, 0xff));
		ok(run("memory"));
		for (uint32_t core = 0; core < cores; core++)
			ck_assert_uint_eq(log_words[core], 0);
	}
	/* The serial entry has its scratch after the workspace's 1000 bytes; a task entry has a workspace of its own.
	 * */
	ok(skrt_module_find_kernel(module, "memory", &kernel));
	ok(skrt_run_serial(instance, kernel));
	ok(skrt_module_find_task(module, "first", &kernel));
	ok(skrt_run(stream, instance, kernel));
	ck_assert_uint_ne(log_words[1000], log_words[1001]);
	memset((void *)(uintptr_t)log_words[1001], 1, 2000);
	close_all();
}
END_TEST

/* ---- waiting and order ---- */

static uint64_t relay_value(uint64_t value)
{
	for (uint64_t step = 1; step <= 30; step++)
		value = value * 31 + step;
	return value;
}

START_TEST(relay)
{
	uint64_t wanted = 0;

	make(good_source, 1, good_launches);
	open_all(core_counts[_i]);
	for (int i = 0; i < 50; i++) {
		ok(run("relay"));
		wanted = relay_value(wanted);
		ck_assert_uint_eq(log_words[0], wanted);
	}
	close_all();
}
END_TEST

START_TEST(thousand_repeats)
{
	const struct skrt_kernel *kernel;

	make(good_source, 1, good_launches);
	open_all(7);
	ok(skrt_module_find_kernel(module, "meet", &kernel));
	for (int i = 0; i < 1000; i++)
		ok(skrt_run(stream, instance, kernel));
	ck_assert_uint_eq(log_words[0], 0);
	for (int i = 0; i < 7; i++)
		ck_assert_uint_eq(log_words[16 + i * 16], 1000);
	close_all();
}
END_TEST

static double seconds(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void *let_out(void *context)
{
	usleep(400000);
	__atomic_store_n(&log_words[1], 1, __ATOMIC_RELEASE);
	return context;
}

/* Long waits sleep: beside the working core no thread uses a processor, and between launches none does. The test
 * compares processor time, which a busy machine does not change. */
START_TEST(waiting)
{
	pthread_t thread;

	make(gate_source, 1, gate_launches);
	open_all(core_counts[_i]);
	ck_assert_int_eq(pthread_create(&thread, NULL, let_out, NULL), 0);
	double wall = seconds(CLOCK_MONOTONIC), used = seconds(CLOCK_PROCESS_CPUTIME_ID);
	ok(run("gate"));
	wall = seconds(CLOCK_MONOTONIC) - wall;
	used = seconds(CLOCK_PROCESS_CPUTIME_ID) - used;
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_msg(used < wall * 1.4, "one core worked for %g s, and all used %g s", wall, used);
	used = seconds(CLOCK_PROCESS_CPUTIME_ID);
	usleep(200000);
	used = seconds(CLOCK_PROCESS_CPUTIME_ID) - used;
	ck_assert_msg(used < 0.02, "an idle device used %g s in 0.2 s", used);
	close_all();
}
END_TEST

/* A launch restores the affinity of the calling thread, whether it was bound or not. */
START_TEST(affinity)
{
	const struct skrt_kernel *kernel;
	cpu_set_t all, one, after;
	int first = -1;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(all), &all), 0);
	make(good_source, 1, good_launches);
	open_all(2);
	ok(skrt_module_find_kernel(module, "meet", &kernel));
	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET(i, &all))
			continue;
		first = first < 0 ? i : first;
		CPU_ZERO(&one);
		CPU_SET(i, &one);
		ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
		ok(skrt_run(stream, instance, kernel));
		ck_assert_int_eq(sched_getaffinity(0, sizeof(after), &after), 0);
		ck_assert(CPU_EQUAL(&after, &one));
		ck_assert_int_eq(sched_getcpu(), i);
		CPU_SET(first, &one);
		ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
		ok(skrt_run(stream, instance, kernel));
		ck_assert_int_eq(sched_getaffinity(0, sizeof(after), &after), 0);
		ck_assert(CPU_EQUAL(&after, &one));
	}
	close_all();
}
END_TEST

/* The network runs in the plan's order, however it is started; asynchronous launches keep the order of the calls. */
START_TEST(order)
{
	const struct skrt_kernel *first, *second, *task;

	make(good_source, 1, good_launches);
	open_all(core_counts[_i]);
	ok(skrt_module_find_kernel(module, "first", &first));
	ok(skrt_module_find_kernel(module, "second", &second));
	ok(skrt_module_find_task(module, "first", &task));
	for (int i = 0; i < 200; i++) {
		ok(skrt_launch(stream, instance, first));
		ok(skrt_launch(stream, instance, second));
		ok(skrt_launch(stream, instance, second));
		ok(skrt_launch(stream, instance, task));
	}
	ok(skrt_synchronise(stream));
	ck_assert_uint_eq(log_words[0], 800);
	for (int i = 0; i < 200; i++) {
		static const uint64_t wanted[4] = {1, 2, 2, 3};

		ck_assert_mem_eq(log_words + 1 + i * 4, wanted, sizeof(wanted));
	}
	ok(skrt_synchronise(stream)); /* nothing to wait for */
	close_all();
}
END_TEST

/* Without skrt_synchronise the device's own thread runs the launches. */
START_TEST(asynchronous)
{
	const struct skrt_kernel *kernel;
	enum skrt_status status;

	make(good_source, 1, good_launches);
	open_all(core_counts[_i]);
	ok(skrt_module_find_kernel(module, "first", &kernel));
	ok(skrt_launch(stream, instance, kernel));
	while ((status = skrt_instance_bind(instance, 1, x, ELEMENTS * sizeof(x[0]))) == SKRT_BUSY)
		usleep(100);
	ok(status);
	ck_assert_uint_eq(log_words[0], 1);
	close_all();
}
END_TEST

/* Two streams, each with an instance of its own, fed and awaited alternately. */
START_TEST(two_streams)
{
	struct skrt_instance *other;
	struct skrt_stream *other_stream;
	const struct skrt_kernel *kernel;
	static _Alignas(64) uint64_t other_log[LOG_WORDS];
	static _Alignas(64) float other_y[128];
	uint64_t wanted = 0;

	make(good_source, 1, good_launches);
	open_all(core_counts[_i]);
	memset(other_log, 0, sizeof(other_log));
	ok(skrt_instance_create(module, &other));
	ok(skrt_stream_create(device, &other_stream));
	ok(skrt_instance_bind(other, 0, other_log, sizeof(other_log)));
	ok(skrt_instance_bind(other, 1, x, ELEMENTS * sizeof(x[0])));
	ok(skrt_instance_bind(other, 2, other_y, ELEMENTS * sizeof(y[0])));
	ok(skrt_module_find_kernel(module, "relay", &kernel));
	for (int i = 0; i < 20; i++) {
		wanted = relay_value(wanted);
		ok(skrt_launch(stream, instance, kernel));
		ok(skrt_launch(other_stream, other, kernel));
		ok(skrt_synchronise(i % 2 ? stream : other_stream));
	}
	ok(skrt_synchronise(stream));
	ok(skrt_synchronise(other_stream));
	ck_assert_uint_eq(log_words[0], wanted);
	ck_assert_uint_eq(other_log[0], wanted);
	expect(skrt_module_unload(module), SKRT_BUSY, "instances: 2");
	ok(skrt_stream_destroy(other_stream));
	ok(skrt_instance_destroy(other));
	close_all();
}
END_TEST

static void *feed(void *context)
{
	struct skrt_stream *own;
	struct skrt_instance *own_instance;
	const struct skrt_kernel *kernel;
	uint64_t *own_log = aligned_alloc(64, sizeof(log_words));
	float *own_y = aligned_alloc(64, sizeof(y));
	uint64_t wanted = 0;

	(void)context;
	memset(own_log, 0, sizeof(log_words));
	ok(skrt_stream_create(device, &own));
	ok(skrt_instance_create(module, &own_instance));
	ok(skrt_instance_bind(own_instance, 0, own_log, sizeof(log_words)));
	ok(skrt_instance_bind(own_instance, 1, x, ELEMENTS * sizeof(x[0])));
	ok(skrt_instance_bind(own_instance, 2, own_y, ELEMENTS * sizeof(y[0])));
	ok(skrt_module_find_kernel(module, "relay", &kernel));
	for (int i = 0; i < 40; i++) {
		wanted = relay_value(wanted);
		ok(i % 3 ? skrt_run(own, own_instance, kernel) : skrt_launch(own, own_instance, kernel));
	}
	ok(skrt_synchronise(own));
	ck_assert_uint_eq(own_log[0], wanted);
	ok(skrt_instance_destroy(own_instance));
	ok(skrt_stream_destroy(own));
	free(own_y);
	free(own_log);
	return NULL;
}

/* Three threads at once on one device. */
START_TEST(several_threads)
{
	pthread_t threads[3];

	make(good_source, 1, good_launches);
	open_all(core_counts[_i]);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, feed, NULL), 0);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	close_all();
}
END_TEST

START_TEST(network)
{
	make(good_source, 1, good_launches);
	open_all(core_counts[_i]);
	ok(skrt_run_network(stream, instance));
	/* "second" is the last launch; the launches between use the log too, and leave word 0 to the memory test's 0.
	 */
	ck_assert_uint_eq(log_words[1], 2);
	ok(skrt_launch_network(stream, instance));
	ok(skrt_synchronise(stream));
	ck_assert_uint_eq(log_words[0], 1);
	close_all();
}
END_TEST

START_TEST(two_lanes)
{
	uint64_t wanted = 0;

	make(lanes_source, 2, lanes_launches);
	open_all(core_counts[_i]);
	for (int i = 0; i < 100; i++) {
		ok(skrt_run_network(stream, instance));
		for (uint64_t step = 1; step <= 3; step++)
			wanted = (wanted * 31 + step * 2) * 31 + step * 2 + 1;
		ck_assert_uint_eq(log_words[0], wanted);
	}
	for (uint32_t core = 0; core < core_counts[_i]; core++) {
		ck_assert_uint_eq(log_words[1000 + core * 16], 100);
		ck_assert_uint_eq(log_words[2000 + core * 16], 100);
	}
	close_all();
}
END_TEST

/* ---- failures ---- */

START_TEST(failures)
{
	make(bad_source, 1, bad_launches);
	open_all(core_counts[_i]);
	for (int i = 0; i < 20; i++) {
		expect(run("status"), SKRT_KERNEL_FAILED,
		       "superkernel status: task 'act': kernel kernel returned status 3");
		expect(run("all_fail"), SKRT_KERNEL_FAILED,
		       "launch all_fail: task 'all': kernel kernel returned status -");
		expect(run("end"), SKRT_KERNEL_FAILED, "superkernel end: task 'die': kernel kernel called abort");
		expect(run("two_ends"), SKRT_KERNEL_FAILED, "abort was called at ");
		expect(run("liar"), SKRT_KERNEL_FAILED, "the dispatcher returned 5");
		ok(run("fine"));
	}
	expect(run("late"), SKRT_KERNEL_FAILED, "task 'slow'");
	ck_assert_uint_eq(log_words[0], 0);
	ck_assert_uint_eq(log_words[1], 20);
	close_all();
}
END_TEST

/* Launches queued after a failure are skipped until a call has returned it; other streams go on. */
START_TEST(failure_in_a_stream)
{
	struct skrt_stream *other;
	const struct skrt_kernel *fine, *bad;

	make(bad_source, 1, bad_launches);
	open_all(core_counts[_i]);
	ok(skrt_stream_create(device, &other));
	ok(skrt_module_find_kernel(module, "fine", &fine));
	ok(skrt_module_find_kernel(module, "status", &bad));
	ok(skrt_launch(stream, instance, fine));
	ok(skrt_launch(stream, instance, bad));
	for (int i = 0; i < 10; i++) {
		ok(skrt_launch(stream, instance, fine));
		ok(skrt_launch(other, instance, fine));
	}
	ok(skrt_synchronise(other));
	expect(skrt_synchronise(stream), SKRT_KERNEL_FAILED, "task 'act'");
	ck_assert_uint_eq(log_words[1], 11);
	ok(skrt_launch(stream, instance, fine));
	ok(skrt_synchronise(stream));
	ck_assert_uint_eq(log_words[1], 12);
	expect(skrt_launch_network(stream, instance) ? SKRT_OK : skrt_synchronise(stream), SKRT_KERNEL_FAILED,
	       "task 'act'");
	ck_assert_uint_eq(log_words[1], 12);
	ok(skrt_stream_destroy(other));
	close_all();
}
END_TEST

START_TEST(serial)
{
	const struct skrt_kernel *kernel;

	make(good_source, 1, good_launches);
	open_all(2);
	ok(skrt_module_find_kernel(module, "split", &kernel));
	ok(skrt_run_serial(instance, kernel));
	ck_assert(y[99] == 198);
	ok(skrt_module_find_kernel(module, "homes", &kernel));
	expect(skrt_run_serial(instance, kernel), SKRT_NOT_FOUND, "superkernel homes has no serial entry");
	close_all();
	make(bad_source, 1, bad_launches);
	open_all(2);
	ok(skrt_module_find_kernel(module, "fine", &kernel));
	expect(skrt_run_serial(instance, kernel), SKRT_KERNEL_FAILED, "serial run: a kernel returned status 9");
	ok(skrt_module_find_kernel(module, "end", &kernel));
	expect(skrt_run_serial(instance, kernel), SKRT_KERNEL_FAILED,
	       "serial run: task 'die': kernel kernel: abort was called at end_serial");
	ok(skrt_run(stream, instance, kernel) == SKRT_KERNEL_FAILED ? SKRT_OK : SKRT_BUSY);
	close_all();
}
END_TEST

/* ---- queries and misuse ---- */

START_TEST(queries)
{
	struct skrt_tensor tensor = {.size = sizeof(tensor)};
	struct skrt_kernel_info info = {.size = sizeof(info)};
	const struct skrt_kernel *kernel;
	uint32_t index = 99;

	make(good_source, 1, good_launches);
	open_all(2);
	ck_assert_uint_eq(skrt_device_cores(device, 0), 2);
	ck_assert_uint_eq(skrt_module_tensor_count(module), 3);
	ok(skrt_module_tensor(module, 1, &tensor));
	ck_assert_str_eq(tensor.name, "x");
	ck_assert_int_eq(tensor.dtype, SKRT_F32);
	ck_assert_int_eq(tensor.role, SKRT_INPUT);
	ck_assert_uint_eq(tensor.rank, 1);
	ck_assert_uint_eq(tensor.shape[0], ELEMENTS);
	ck_assert_uint_eq(tensor.bytes, 400);
	expect(skrt_module_tensor(module, 3, &tensor), SKRT_INVALID_ARGUMENT, "no bound tensor number 3");
	ok(skrt_module_find_tensor(module, "y", &index));
	ck_assert_uint_eq(index, 2);
	expect(skrt_module_find_tensor(module, "lag", &index), SKRT_NOT_FOUND, "did you mean 'log'?");
	ck_assert_uint_eq(index, 2);
	ck_assert_uint_eq(skrt_module_kernel_count(module), 7);
	expect(skrt_module_find_kernel(module, "splt", &kernel), SKRT_NOT_FOUND, "did you mean 'split'?");
	expect(skrt_module_find_kernel(module, "alone", &kernel), SKRT_NOT_FOUND, "no launch 'alone'");
	expect(skrt_module_kernel(module, 7, &kernel), SKRT_INVALID_ARGUMENT, "no launch number 7");
	ok(skrt_module_kernel(module, 3, &kernel));
	skrt_kernel_describe(kernel, &info);
	ck_assert_str_eq(info.name, "relay");
	ck_assert_str_eq(info.scope, "");
	ck_assert_int_eq(info.kind, SKRT_SUPERKERNEL);
	ck_assert_uint_eq(info.task_count, 30);
	ck_assert_int_eq(info.has_serial_entry, 0);
	ck_assert_uint_eq(skrt_module_task_count(module), 37);
	ok(skrt_module_task(module, 0, &kernel));
	skrt_kernel_describe(kernel, &info);
	ck_assert_int_eq(info.kind, SKRT_TASK);
	expect(skrt_module_task(module, 1, &kernel), SKRT_NOT_FOUND, "task 'a' has no entry of its own");
	expect(skrt_module_find_task(module, "r31", &kernel), SKRT_NOT_FOUND, "no task 'r31'");
	close_all();
}
END_TEST

START_TEST(bindings)
{
	struct skrt_instance *fresh;
	const struct skrt_kernel *kernel;
	static _Alignas(64) unsigned char arena[8192];

	make(good_source, 1, good_launches);
	open_all(2);
	ok(skrt_module_find_kernel(module, "split", &kernel));
	ok(skrt_instance_create(module, &fresh));
	expect(skrt_launch(stream, fresh, kernel), SKRT_NOT_BOUND, "tensor 'log' is not bound");
	expect(skrt_run_network(stream, fresh), SKRT_NOT_BOUND, "tensor 'log' is not bound");
	expect(skrt_run_serial(fresh, kernel), SKRT_NOT_BOUND, "tensor 'log' is not bound");
	expect(skrt_instance_bind(fresh, 3, x, 400), SKRT_INVALID_ARGUMENT, "no bound tensor number 3");
	expect(skrt_instance_bind(fresh, 1, x, 404), SKRT_INVALID_ARGUMENT, "tensor 'x' has 400 bytes, bound are 404");
	expect(skrt_instance_bind(fresh, 1, arena + 32, 400), SKRT_INVALID_ARGUMENT, "not aligned to 64");
	expect(skrt_instance_bind(fresh, 1, NULL, 400), SKRT_INVALID_ARGUMENT, "null");
	ok(skrt_instance_bind(fresh, 0, log_words, sizeof(log_words)));
	ok(skrt_instance_bind(fresh, 1, arena, 400));
	ok(skrt_instance_bind(fresh, 2, arena + 384, 400));
	expect(skrt_run(stream, fresh, kernel), SKRT_INVALID_ARGUMENT,
	       "tensors 'x' and 'y' are bound to overlapping memory");
	ok(skrt_instance_bind(fresh, 2, arena + 448, 400));
	ok(skrt_run(stream, fresh, kernel));
	ok(skrt_instance_bind(fresh, 1, log_words + 8, 400));
	expect(skrt_run(stream, fresh, kernel), SKRT_INVALID_ARGUMENT, "tensors 'log' and 'x'");
	/* An input may lie beside an output in the same page, and two buffers may be exchanged one by one. */
	ok(skrt_instance_bind(fresh, 1, arena + 448, 400));
	ok(skrt_instance_bind(fresh, 2, arena, 400));
	ok(skrt_run(stream, fresh, kernel));
	ok(skrt_instance_destroy(fresh));
	close_all();
}
END_TEST

START_TEST(misuse)
{
	struct skrt_device *none = NULL;
	struct skrt_module *other_module;
	const struct skrt_kernel *foreign, *own;

	make(good_source, 1, good_launches);
	open_all(2);
	ok(skrt_module_load(device, path, &other_module));
	ok(skrt_module_kernel(other_module, 0, &foreign));
	ok(skrt_module_kernel(module, 0, &own));
	expect(skrt_launch(stream, instance, foreign), SKRT_INVALID_ARGUMENT, "not of one module");
	expect(skrt_launch(stream, instance, NULL), SKRT_INVALID_ARGUMENT, "needs a kernel");
	expect(skrt_module_tensor(module, 0, NULL), SKRT_INVALID_ARGUMENT, "skrt_module_tensor: a null pointer");
	expect(skrt_module_find_kernel(NULL, "first", &own), SKRT_INVALID_ARGUMENT, "a null pointer");
	expect(skrt_module_task(module, 0, NULL), SKRT_INVALID_ARGUMENT, "a null pointer");
	expect(skrt_launch(NULL, instance, own), SKRT_INVALID_ARGUMENT, "needs a stream");
	expect(skrt_module_unload(module), SKRT_BUSY, "instances: 1");
	expect(skrt_device_close(device), SKRT_BUSY, "modules: 2, streams: 1");
	expect(skrt_device_open(&OPTIONS(.cores = 5000), &none), SKRT_INVALID_ARGUMENT, "4096");
	ck_assert_ptr_null(none);
	ok(skrt_module_unload(other_module));
	ok(skrt_module_unload(NULL));
	ok(skrt_device_close(NULL));
	ok(skrt_stream_destroy(NULL));
	ok(skrt_instance_destroy(NULL));
	ok(run("first"));
	close_all();
	ok(skrt_device_open(NULL, &device));
	ck_assert_uint_ge(skrt_device_cores(device, 0), 1);
	expect(skrt_module_load(device, "/nonexistent", &module), SKRT_CANNOT_READ, "/nonexistent: No such file");
	ok(skrt_device_close(device));
	ck_assert_str_eq(skrt_status_name((enum skrt_status)77), "?");
}
END_TEST

/* ---- damaged packages ---- */

/* Load and read everything, but run nothing. */
static void look_at(const char *file)
{
	struct skrt_module *damaged;
	struct skrt_instance *damaged_instance;
	const struct skrt_kernel *kernel;
	struct skrt_tensor tensor = {.size = sizeof(tensor)};

	if (skrt_module_load(device, file, &damaged))
		return;
	for (uint32_t i = 0; i < skrt_module_tensor_count(damaged); i++)
		ok(skrt_module_tensor(damaged, i, &tensor));
	for (uint32_t i = 0; i < skrt_module_kernel_count(damaged); i++)
		skrt_module_kernel(damaged, i, &kernel);
	for (uint32_t i = 0; i < skrt_module_task_count(damaged); i++)
		skrt_module_task(damaged, i, &kernel);
	if (!skrt_instance_create(damaged, &damaged_instance))
		ok(skrt_instance_destroy(damaged_instance));
	ok(skrt_module_unload(damaged));
}

/* Bytes of the file's pages that are not all zero are changed one by one to several values. */
START_TEST(damage)
{
	static const unsigned char changes[] = {0x01, 0x80, 0xff};
	size_t size;

	make(good_source, 1, good_launches);
	ok(skrt_device_open(&OPTIONS(.cores = 1), &device));
	unsigned char *bytes = read_file(path, &size);
	FILE *file = fopen(path, "r+b");
	ck_assert_ptr_nonnull(file);
	setvbuf(file, NULL, _IONBF, 0);
	for (size_t at = 0; at < size; at++) {
		/* Headers and tables byte by byte, the rest (padding, names of sections) by samples. */
		if (bytes[at] == 0 && at % 3 && at > 1024)
			continue;
		unsigned char changed = bytes[at] ^ changes[at % 3];
		fseek(file, (long)at, SEEK_SET);
		fwrite(&changed, 1, 1, file);
		look_at(path);
		fseek(file, (long)at, SEEK_SET);
		fwrite(&bytes[at], 1, 1, file);
	}
	fclose(file);
	struct skrt_module *whole;
	ok(skrt_module_load(device, path, &whole));
	ok(skrt_module_unload(whole));
	for (off_t cut = (off_t)(size / 64 * 64); cut >= 0; cut -= 64) {
		ck_assert_int_eq(truncate(path, cut), 0);
		look_at(path);
	}
	free(bytes);
	ok(skrt_device_close(device));
}
END_TEST

/* A shared object without a plan, and one with an invalid plan. */
START_TEST(no_plan)
{
	ok(skrt_device_open(NULL, &device));
	handmade_compile(path, "__attribute__((visibility(\"default\"))) int f(void) { return 1; }\n", NULL, "");
	expect(skrt_module_load(device, path, &module), SKRT_BAD_PACKAGE, "no symbol sk_plan");
	handmade_compile(path, "__attribute__((visibility(\"default\"), aligned(64))) const int sk_plan[64] = {1};\n",
			 NULL, "");
	expect(skrt_module_load(device, path, &module), SKRT_BAD_PACKAGE, "plan: ");
	handmade_compile(path, "__attribute__((visibility(\"default\"), aligned(64))) int sk_plan[64] = {1};\n", NULL,
			 "");
	expect(skrt_module_load(device, path, &module), SKRT_BAD_PACKAGE, "writable");
	ok(skrt_device_close(device));
}
END_TEST

/* The plan of an otherwise good package points to data where code should be. */
START_TEST(entry_in_data)
{
	static const struct handmade_launch launches[] = {
		{"fine", SK_LAUNCH_SUPERKERNEL, 1, 0, {{0, 1}}, 1, {{0}}, 0, fine_steps, 1},
		{NULL},
	};
	static const char *const sources[] = {
		"const int fine[4] = {1}; int fine_serial(void) { return 0; }\n",
		"int fine(void) { return 0; } int fine_serial[4] = {1};\n",
	};
	const struct skrt_kernel *kernel;

	ok(skrt_device_open(NULL, &device));
	for (int i = 0; i < 2; i++) {
		make(sources[i], 1, launches);
		ok(skrt_module_load(device, path, &module));
		expect(skrt_module_kernel(module, 0, &kernel), SKRT_BAD_PACKAGE,
		       "launch 0 (fine): its entry does not lie in text");
		ok(skrt_module_unload(module));
	}
	ok(skrt_device_close(device));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("runtime");
	TCase *tests = tcase_create("runtime");

	scratch_add(tests);
	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_set_timeout(tests, 300);
	tcase_add_loop_test(tests, ranges, 0, CORE_COUNTS);
	tcase_add_test(tests, looking);
	tcase_add_test(tests, looking_at_much);
	tcase_add_loop_test(tests, homes, 0, CORE_COUNTS);
	tcase_add_loop_test(tests, memory, 0, CORE_COUNTS);
	tcase_add_loop_test(tests, relay, 0, CORE_COUNTS);
	tcase_add_test(tests, thousand_repeats);
	tcase_add_loop_test(tests, waiting, 0, CORE_COUNTS);
	tcase_add_test(tests, affinity);
	tcase_add_loop_test(tests, order, 0, CORE_COUNTS);
	tcase_add_loop_test(tests, asynchronous, 0, CORE_COUNTS);
	tcase_add_loop_test(tests, two_streams, 0, CORE_COUNTS);
	tcase_add_loop_test(tests, several_threads, 0, CORE_COUNTS);
	tcase_add_loop_test(tests, network, 0, CORE_COUNTS);
	tcase_add_loop_test(tests, two_lanes, 0, CORE_COUNTS);
	tcase_add_loop_test(tests, failures, 0, CORE_COUNTS);
	tcase_add_loop_test(tests, failure_in_a_stream, 0, CORE_COUNTS);
	tcase_add_test(tests, serial);
	tcase_add_test(tests, queries);
	tcase_add_test(tests, bindings);
	tcase_add_test(tests, misuse);
	tcase_add_test(tests, damage);
	tcase_add_test(tests, no_plan);
	tcase_add_test(tests, entry_in_data);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
