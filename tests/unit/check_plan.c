/* The plan's reader: a sound plan passes, every single damage to one of its fields is refused with a message that names
 * it, and no damage makes the reader read outside the section. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "format/plan/plan.h"
#include "format/skabi.h"
#include "format/skplan.h"
#include "tests/lib/plan-builder.h"
#include "tests/lib/suite.h"

static struct sk_arena *arena;
static struct sk_plan_view sound;

/* Steps of the sample, as indices into the plan's steps. */
enum { PLAIN, SPLIT, BLOCKS, RANGE, SECOND, ENTRY, STEPS };

/* A plan with every kind of record: two launches of the network, the second after the first, and a task's entry. */
static void make_sample(void)
{
	struct plan *plan = plan_create(arena, 1);
	uint32_t x = plan_tensor(plan, "x", SK_F32, 100, SK_ROLE_INPUT);
	uint32_t y = plan_tensor(plan, "y", SK_F32, 100, SK_ROLE_OUTPUT);
	uint32_t w = plan_tensor(plan, "w", SK_F32, 100, SK_ROLE_CONSTANT);
	uint32_t t = plan_temporary(plan, "t", SK_F32, 100, 0);
	uint32_t r = plan_temporary(plan, "r", SK_F32, 100, 448);

	plan_launch(plan, "first", SK_LAUNCH_SUPERKERNEL);
	plan_scratch(plan, 128);
	plan_plain(plan, "plain", 3);
	plan_access(plan, x, SK_ACCESS_READ);
	plan_access(plan, w, SK_ACCESS_READ);
	plan_access(plan, r, SK_ACCESS_WRITE);
	plan_argument(plan, (struct sk_plan_argument){.kind = SK_ARGUMENT_VALUE, .dtype = SK_I32, .value = 0xffffffff});
	plan_argument(plan, (struct sk_plan_argument){.kind = SK_ARGUMENT_SCRATCH, .offset = 64, .size = 64});
	plan_state(plan, 7);
	plan_cost(plan, SK_COST_OPERATIONS, 9);
	plan_cost(plan, SK_COST_BEFORE_WAIT, 4);
	plan_cost(plan, SK_COST_AFTER_SET, 5);
	plan_cost(plan, SK_COST_BYTES, 64);
	plan_split(plan, "split", 100, 64);
	plan_cost(plan, SK_COST_CYCLES, 10);
	plan_access(plan, x, SK_ACCESS_READ);
	plan_access(plan, t, SK_ACCESS_WRITE);
	plan_argument(plan, (struct sk_plan_argument){
				    .kind = SK_ARGUMENT_LENGTH, .dtype = SK_I64, .flags = SK_ARGUMENT_BY_REFERENCE});
	plan_load(plan, r, 8);
	plan_await(plan, PLAIN);
	plan_blocks(plan, "blocks", 4);
	plan_access(plan, x, SK_ACCESS_READ);
	plan_argument(plan, (struct sk_plan_argument){.kind = SK_ARGUMENT_BLOCK});
	plan_blocks_range(plan, "range", 100, 3);
	plan_access(plan, t, SK_ACCESS_READ | SK_ACCESS_WRITE);
	plan_argument(plan, (struct sk_plan_argument){.kind = SK_ARGUMENT_BLOCK});
	plan_await(plan, SPLIT);

	plan_launch(plan, "second", SK_LAUNCH_SINGLE);
	plan_follow(plan, 0);
	plan_plain(plan, "second", 0);
	plan_access(plan, t, SK_ACCESS_READ);
	plan_result(plan, y, 4);

	plan_launch(plan, "sk_unfused_split", SK_LAUNCH_TASK);
	plan_entry_step(plan, SPLIT);
	sound = plan_view(plan);
}

/* The calls of the other sample, as indices into the plan's calls: of a divided step, of a plain one, of another
 * launch. */
enum { FIRST_OF_TWO, SECOND_OF_TWO, FIRST_OF_THREE, SECOND_OF_THREE, THIRD_OF_THREE, ALONE, CALLS };

/* A plan with steps of two calls, three and one. */
static void make_sample_of_calls(void)
{
	struct plan *plan = plan_create(arena, 1);
	uint32_t x = plan_tensor(plan, "x", SK_F32, 100, SK_ROLE_INPUT);
	uint32_t y = plan_tensor(plan, "y", SK_F32, 100, SK_ROLE_OUTPUT);
	uint32_t t = plan_temporary(plan, "t", SK_F32, 100, 0);
	uint32_t r = plan_temporary(plan, "r", SK_F32, 100, 448);

	plan_launch(plan, "first", SK_LAUNCH_SUPERKERNEL);
	plan_split(plan, "a", 100, 64);
	plan_access(plan, x, SK_ACCESS_READ);
	plan_access(plan, t, SK_ACCESS_WRITE);
	plan_call(plan, "b");
	plan_access(plan, t, SK_ACCESS_READ);
	plan_access(plan, r, SK_ACCESS_WRITE);
	plan_plain(plan, "c", 0);
	plan_access(plan, r, SK_ACCESS_READ | SK_ACCESS_WRITE);
	plan_await(plan, 0);
	plan_call(plan, "d");
	plan_call(plan, "e");
	plan_access(plan, r, SK_ACCESS_READ);
	plan_result(plan, y, 0);
	plan_launch(plan, "second", SK_LAUNCH_SINGLE);
	plan_follow(plan, 0);
	plan_plain(plan, "f", 0);
	plan_access(plan, t, SK_ACCESS_READ);
	plan_result(plan, y, 4);
	sound = plan_view(plan);
}

static void setup(void)
{
	arena = sk_arena_create();
	make_sample();
}

static void setup_calls(void)
{
	arena = sk_arena_create();
	make_sample_of_calls();
}

static void teardown(void)
{
	sk_arena_destroy(arena);
}

static bool read_all(const void *bytes, size_t size, char *error, size_t error_size)
{
	struct sk_plan_view view;

	return sk_plan_open(bytes, size, &view, error, error_size) && sk_plan_check_all(&view, error, error_size);
}

START_TEST(sound_plan)
{
	char error[256];

	ck_assert_msg(sk_plan_check_all(&sound, error, sizeof(error)), "%s", error);
	ck_assert_uint_eq(sound.launch_count, 3);
	ck_assert_uint_eq(sound.network_launch_count, 2);
	ck_assert_uint_eq(sound.step_count, STEPS);
	ck_assert_uint_eq(sound.binding_count, 2);
	ck_assert_uint_eq(sound.task_count, 5);
	ck_assert_str_eq(sk_plan_string(&sound.lanes[0]), "core");
	ck_assert_str_eq(sk_plan_string(&sound.tasks[RANGE].name), "range");
	ck_assert_str_eq(sk_plan_string(&sk_plan_form(&sound.launches[0])->scope), "");
	ck_assert_ptr_null(sk_plan_address(&sound.launches[0].entry));
	ck_assert_uint_eq(sound.tasks[SPLIT].task_launch, 2);
}
END_TEST

static void expect_units(uint32_t step, uint32_t argument, uint64_t units, uint64_t unit_bytes)
{
	const struct sk_plan_step *record = &sound.steps[step];
	struct sk_units found = sk_plan_units(&sound, record, &sound.calls[step],
					      &sound.arguments[sound.calls[step].first_argument + argument]);

	ck_assert_uint_eq(found.units, units);
	ck_assert_uint_eq(found.unit_bytes, unit_bytes);
}

START_TEST(units)
{
	expect_units(PLAIN, 0, 0, 0);
	expect_units(SPLIT, 0, 2, 256);
	expect_units(BLOCKS, 0, 0, 0);
	expect_units(RANGE, 0, 3, 0); /* 3 does not divide 100 */

	struct sk_plan_step step = sound.steps[RANGE];
	struct sk_plan_argument argument = sound.arguments[sound.calls[RANGE].first_argument];

	step.blocks = 4;
	ck_assert_uint_eq(sk_plan_units(&sound, &step, &sound.calls[RANGE], &argument).units, 4);
	ck_assert_uint_eq(sk_plan_units(&sound, &step, &sound.calls[RANGE], &argument).unit_bytes, 100);
	argument.element_bytes = 0;
	ck_assert_uint_eq(sk_plan_units(&sound, &step, &sound.calls[RANGE], &argument).units, 0);
}
END_TEST

/* ---- one damage at a time ---- */

/* The tables of a copy, to write to. */
struct damaged {
	struct sk_plan *plan;
	int32_t *lanes;
	struct sk_plan_launch *launches;
	struct sk_plan_task *tasks;
	struct sk_plan_cost *costs;
	struct sk_plan_kernel *kernels;
	struct sk_plan_tensor *tensors;
	uint32_t *bindings;
	struct sk_plan_step *steps;
	struct sk_plan_call *calls; /* one a step */
	struct sk_plan_await *awaits;
	struct sk_plan_partition *partitions;
	struct sk_plan_home *homes;
	uint32_t *follows;
	struct sk_plan_argument *arguments[STEPS]; /* by step */
};

static struct damaged copy_sample(void)
{
	struct sk_plan_view view = plan_copy(arena, &sound);
	struct damaged copy = {
		.plan = (struct sk_plan *)view.plan,
		.lanes = (int32_t *)view.lanes,
		.launches = (struct sk_plan_launch *)view.launches,
		.tasks = (struct sk_plan_task *)view.tasks,
		.costs = (struct sk_plan_cost *)view.costs,
		.kernels = (struct sk_plan_kernel *)view.kernels,
		.tensors = (struct sk_plan_tensor *)view.tensors,
		.bindings = (uint32_t *)view.bindings,
		.steps = (struct sk_plan_step *)view.steps,
		.calls = (struct sk_plan_call *)view.calls,
		.awaits = (struct sk_plan_await *)view.awaits,
		.partitions = (struct sk_plan_partition *)view.partitions,
		.homes = (struct sk_plan_home *)view.homes,
		.follows = (uint32_t *)view.follows,
	};

	for (int i = 0; i < STEPS; i++)
		copy.arguments[i] = (struct sk_plan_argument *)view.arguments + view.calls[i].first_argument;
	return copy;
}

static void expect_refusal(const struct damaged *copy, const char *part, const char *damage)
{
	char error[256] = "";

	ck_assert_msg(!read_all(copy->plan, sound.plan->size, error, sizeof(error)), "accepted: %s", damage);
	ck_assert_msg(strncmp(error, "plan: ", 6) == 0 && strstr(error, part), "%s: '%s' does not say '%s'", damage,
		      error, part);
}

/* Does the damage to a fresh copy `d` and expects an error that contains the text. */
#define REFUSED(text, ...)                                                                                             \
	do {                                                                                                           \
		struct damaged d = copy_sample();                                                                      \
		__VA_ARGS__;                                                                                           \
		expect_refusal(&d, text, #__VA_ARGS__);                                                                \
	} while (0)

START_TEST(damaged_header)
{
	REFUSED("magic", d.plan->magic++);
	REFUSED("version 4 is not supported", d.plan->version = 4);
	REFUSED("version 16 is not supported", d.plan->version = SK_PLAN_VERSION + 1);
	REFUSED("ABI version", d.plan->abi_version++);
	REFUSED("it claims", d.plan->size++);
	REFUSED("it claims", d.plan->size = 8);
	REFUSED("it claims", d.plan->size = UINT64_MAX);
	REFUSED("the last string has no end", d.plan->strings.count--);
	REFUSED("the device's name lies outside the strings", d.plan->device = 4);
	REFUSED("0 lanes", d.plan->lanes.count = 0);
	REFUSED("lies outside the plan", d.plan->strings.count = UINT32_MAX);
	REFUSED("lies outside the plan", d.plan->strings.offset = INT32_MIN);
	REFUSED("the table of steps (4294967295 records)", d.plan->steps.count = UINT32_MAX);
	REFUSED("the table of steps", d.plan->steps.offset = INT32_MAX);
	REFUSED("the table of steps", d.plan->steps.offset = INT32_MIN);
	REFUSED("the table of steps", d.plan->steps.offset = 0); /* the header itself */
	REFUSED("the table of steps", d.plan->steps.offset = -(int32_t)offsetof(struct sk_plan, steps));
	REFUSED("not aligned to 8", d.plan->steps.offset += 4, d.plan->steps.count = 1);
	REFUSED("not aligned to 4", d.plan->follows.offset += 2, d.plan->follows.count = 1);
}
END_TEST

START_TEST(small_buffers)
{
	char error[256];
	struct sk_plan_view view;

	ck_assert(!sk_plan_open(sound.plan, 0, &view, error, sizeof(error)));
	ck_assert(!sk_plan_open(sound.plan, sizeof(struct sk_plan) - 1, &view, error, sizeof(error)));
	ck_assert(!sk_plan_open((const char *)sound.plan + 4, sound.plan->size - 4, &view, error, sizeof(error)));
	ck_assert_ptr_nonnull(strstr(error, "aligned to 8"));
	ck_assert(!sk_plan_open(sound.plan, 4, &view, error, 8));
	ck_assert_str_eq(error, "plan: 4");
	ck_assert(!sk_plan_open(sound.plan, 4, &view, NULL, 0));
}
END_TEST

START_TEST(damaged_names)
{
	REFUSED("a lane's name is missing", d.lanes[0] = 0);
	REFUSED("launch 1: the name is missing", d.launches[1].name = 0);
	REFUSED("launch 1: the name lies outside", d.launches[1].name = INT32_MIN);
	REFUSED("launch 0: the scope lies outside", plan_form(&d.launches[0])->scope = 1);
	REFUSED("task 2: the name", d.tasks[2].name = INT32_MAX);
	REFUSED("task 2: the scope", d.tasks[2].scope = -8);
	REFUSED("kernel 0: the symbol", d.kernels[0].symbol = 0);
	REFUSED("kernel 0: the signature", d.kernels[0].signature = 1 << 20);
	REFUSED("kernel 0: it needs more instruction sets than the package", d.kernels[0].isa = 2);
	REFUSED("tensor 4: the name is missing", d.tensors[4].name = 0);
}
END_TEST

START_TEST(damaged_launches)
{
	REFUSED("launch 0: kind 4", plan_form(&d.launches[0])->kind = SK_LAUNCH_KIND_COUNT);
	REFUSED("after a task's entry", plan_form(&d.launches[0])->kind = SK_LAUNCH_TASK);
	REFUSED("launch 0: it has a thunk, but is not the own launch of a task",
		plan_form(&d.launches[0])->flags = SK_LAUNCH_THUNK, d.launches[0].serial_entry = 0);
	REFUSED("launch 2: it has a thunk, but also a serial entry", plan_form(&d.launches[2])->flags = SK_LAUNCH_THUNK,
		d.launches[2].serial_entry = 4);
	REFUSED("launch 1: its steps overlap", d.launches[1].first_step--);
	REFUSED("launch 2: steps 6 to 6 are out of range (6 in all)", d.launches[2].first_step++);
	REFUSED("out of range", d.launches[2].first_step = UINT32_MAX);
	REFUSED("launch 0: it has 5 steps, but its lanes have 4", plan_form(&d.launches[0])->step_count++);
	REFUSED("launch 0: it has 4 steps, but its lanes have 5", plan_form(&d.launches[0])->lane_steps[0]++);
	REFUSED("1 steps belong to no launch", plan_form(&d.launches[0])->step_count--,
		plan_form(&d.launches[0])->task_count--, plan_form(&d.launches[0])->lane_steps[0]--);
	REFUSED("on lane 1, which there is not", plan_form(&d.launches[0])->lane_steps[0] = 3,
		plan_form(&d.launches[0])->lane_steps[1] = 1);
	REFUSED("it has 0 steps", plan_form(&d.launches[0])->step_count = plan_form(&d.launches[0])->lane_steps[0] = 0);
	REFUSED("follows 1 to 1 are out of range", d.launches[1].first_follow++);
	REFUSED("follows 0 to 4294967294 are out", plan_form(&d.launches[1])->follow_count = UINT32_MAX);
	REFUSED("step 0: partition 2 is not one of its launch's", d.launches[2].first_partition = 0);
	REFUSED("partitions 3 to 3 are out of range", d.launches[2].first_partition++);
	REFUSED("launch 2: its partitions overlap", /* more than it has steps */
		plan_form(&d.launches[1])->partition_count = plan_form(&d.launches[2])->partition_count = 2,
		d.launches[1].first_partition = 0, d.launches[2].first_partition = 1);
	REFUSED("the first launch's form is none of 3", d.launches[0].form = 0);
	REFUSED("the first launch's form is none of 3", d.launches[0].form = INT32_MIN);
	REFUSED("launch 1: its form is none of 3", d.launches[1].form += 8); /* between two */
	REFUSED("launch 1: its form is none of 3", d.launches[1].form -= 2 * (int32_t)sizeof(struct sk_plan_form));
	REFUSED("launch 1: its form is none of 3", d.launches[1].form += 2 * (int32_t)sizeof(struct sk_plan_form));
	REFUSED("launch 2: its form is none of 3", d.launches[2].form = INT32_MAX);
	REFUSED("launch 1: a reserved field is not zero", plan_form(&d.launches[1])->reserved = 1);
	REFUSED("homes 2 to 2 are out of range", d.launches[1].first_home++);
	REFUSED("multiple of 64", plan_form(&d.launches[0])->scratch_size = 100);
	REFUSED("it follows launch 1, which is not an earlier one", d.follows[0] = 1);
	REFUSED("it follows launch 4294967295", d.follows[0] = UINT32_MAX);
	REFUSED("launch 0: partition 0 is empty", d.partitions[0].extent = 0);
	REFUSED("launch 0: partition 0 is empty", d.partitions[0].unit = 0);
	REFUSED("home 0 is on lane 1", d.homes[0].lane = 1);
}
END_TEST

/* The elements of cores in blocks, for any numbers: each block begins at a whole unit, or the partition is refused. */
START_TEST(blocks_and_units)
{
	struct sk_plan_view view = plan_copy(arena, &sound);
	struct sk_plan_partition *partition = (struct sk_plan_partition *)view.partitions;
	char text[256];
	uint32_t good = 0, bad = 0;

	for (uint64_t rows = 1; rows <= 40; rows++)
		for (uint64_t blocks = 1; blocks <= 42; blocks++)
			for (uint64_t unit = 1; unit <= 24; unit++) {
				uint64_t row = 1 + (rows * 7 + blocks) % 12;
				bool fits = true;

				for (uint64_t b = 0; b < blocks; b++)
					fits &= b * rows / blocks * row % unit == 0;
				*partition = (struct sk_plan_partition){rows * row, unit, rows, blocks};
				ck_assert_msg(sk_plan_check_record(&view, 0, text, sizeof(text)) == fits,
					      "%u blocks of %u rows of %u, units of %u", (unsigned)blocks,
					      (unsigned)rows, (unsigned)row, (unsigned)unit);
				good += fits;
				bad += !fits;
			}
	ck_assert_uint_gt(good, 1000);
	ck_assert_uint_gt(bad, 1000);
}
END_TEST

/* The cores of a partition that is made of blocks have the elements of their blocks. */
START_TEST(parts_of_blocks)
{
	for (uint64_t rows = 1; rows < 40; rows++)
		for (uint64_t count = 1; count < 14; count++)
			for (uint64_t blocks = 1; blocks < 20; blocks++) {
				const struct sk_plan_partition by_blocks = {3 * rows, 1, rows, blocks};
				const struct sk_plan_partition whole = {.extent = blocks, .unit = 1};

				for (uint64_t part = 0; part <= count; part++)
					ck_assert_uint_eq(sk_plan_part_start(&by_blocks, part, count),
							  sk_plan_part_start(&whole, part, count) * rows / blocks * 3);
			}

	/* After the last core comes the first one again, for any number of cores. */
	for (uint64_t first = 0; first < 20; first++)
		for (uint64_t count = 1; count < 9; count++)
			for (uint64_t part = 0; part < count; part++)
				ck_assert_uint_eq(sk_plan_part_of(first, (first + part) % count, count), part);
	ck_assert_uint_eq(sk_plan_part_of(UINT64_MAX, 1, 2), 0);

	/* The products have more than 64 bits. */
	const struct sk_plan_partition huge = {UINT64_MAX, 1, UINT64_MAX / 3, UINT64_MAX / 5};

	ck_assert_uint_eq(sk_plan_part_start(&huge, 4095, 4095), UINT64_MAX);
	ck_assert_uint_eq(sk_plan_part_start(&huge, 1, 3), UINT64_MAX / 3 / 3 * 3);
}
END_TEST

START_TEST(damaged_blocks)
{
	REFUSED("partition 0 has rows, but no blocks", d.partitions[0].rows = 1);
	REFUSED("partition 0: 100 elements are not a whole number for each of 0 rows", d.partitions[0].blocks = 1);
	REFUSED("partition 0: 100 elements are not a whole number for each of 3 rows", d.partitions[0].blocks = 1,
		d.partitions[0].rows = 3);
	REFUSED("partition 0: not each of 3 blocks of 100 rows begins at a whole unit of 64 elements",
		d.partitions[0].blocks = 3, d.partitions[0].rows = 100);
	REFUSED("does not divide its 3 blocks", d.partitions[1].rows = d.partitions[1].blocks = 1);
}
END_TEST

START_TEST(damaged_tasks_and_tensors)
{
	REFUSED("task 3: kernel 1 is out of range (1 kernels)", d.tasks[3].kernel = 1);
	REFUSED("task 3: launch 2 is out of range", d.tasks[3].launch = 2);
	REFUSED("task 3: launch 0 is not a task's entry", d.tasks[3].task_launch = 0);
	REFUSED("task 3: launch 9 is not a task's entry", d.tasks[3].task_launch = 9);
	REFUSED("task 3: cost 2 is out of range (2 costs)", d.tasks[3].cost = 2);
	REFUSED("task 3: cost 4294967294 is out of range", d.tasks[3].vector_cost = SK_NO_INDEX - 1);
	REFUSED("task 3: its vector side has a cost, but its cube side has none", d.tasks[3].vector_cost = 0);
	REFUSED("cost 1: values 0x81 are unknown", d.costs[1].given |= 1 << SK_COST_COUNT);
	REFUSED("cost 1: values 0x3 are unknown", d.costs[1].given |= 1 << SK_COST_OPERATIONS);
	REFUSED("cost 1: 7 bytes are not possible", d.costs[1].values[SK_COST_BYTES] = 7);
	REFUSED("cost 1: 10 cycles are not possible", d.costs[1].given = 0);
	REFUSED("cost 0: 9007199254740993 bytes are not possible", d.costs[0].values[SK_COST_BYTES] = SK_COST_MAX + 1);
	REFUSED("cost 0: 18446744073709551615 code are not possible", d.costs[0].given |= 1 << SK_COST_CODE,
		d.costs[0].values[SK_COST_CODE] = UINT64_MAX);
	REFUSED("cost 0: a part of it is more than the whole", d.costs[0].values[SK_COST_BEFORE_WAIT]++);
	REFUSED("cost 0: a part of it is more than the whole", d.costs[0].values[SK_COST_AFTER_SET] = SK_COST_MAX);
	REFUSED("tensor 0: the range lies outside the strings", plan_type(&d.tensors[0])->range = 1 << 20);
	REFUSED("cost 0: a reserved field is not zero", d.costs[0].reserved = 1);
	REFUSED("kernel 0: ways 0x80 to start early are unknown", d.kernels[0].early = SK_STEP_VECTOR_SIDE);
	REFUSED("kernel 0: flags 0x2 are unknown", d.kernels[0].flags = 2);
	REFUSED("launch 0: the network lies outside the strings", plan_form(&d.launches[0])->network = 1);
	REFUSED("launch 1: some launches are of networks with names, and others are not",
		plan_form(&d.launches[0])->network =
			d.launches[0].name -
			(int32_t)((char *)&sk_plan_form(&d.launches[0])->network - (char *)&d.launches[0].name));
	REFUSED("kernel 0: its first copy, kernel 99, is out of range", d.kernels[0].first_copy = 99);
	REFUSED("does not have the copies that its launch needs", plan_form(&d.launches[0])->copies = 2);
	REFUSED("launch 0: 65 copies of code are too many", plan_form(&d.launches[0])->copies = 65);
	REFUSED("launch 0: an alignment to 24 bytes", plan_form(&d.launches[0])->func_align = 24);
	REFUSED("launch 0: an alignment to 8192 bytes", plan_form(&d.launches[0])->func_align = 8192);
	REFUSED("launch 0: flags 0x8000 are unknown", plan_form(&d.launches[0])->flags = 0x8000);
	REFUSED("launch 0: preloading of kind 3", plan_form(&d.launches[0])->preload = 3);
	REFUSED("tensor 0: element type 14 is unknown", plan_type(&d.tensors[0])->dtype = SK_DTYPE_COUNT);
	REFUSED("tensor 0: element type 0 is unknown", plan_type(&d.tensors[0])->dtype = 0);
	REFUSED("tensor 0: rank 9", plan_type(&d.tensors[0])->rank = 9);
	REFUSED("tensor 0: its type is none of 5", d.tensors[0].type--);
	REFUSED("tensor 0: its type is none of 5", d.tensors[0].type = INT32_MIN);
	REFUSED("tensor 4: its type is none of 5", d.tensors[4].type += (int32_t)sizeof(struct sk_plan_type));
	REFUSED("tensor 4: its type is none of 5", d.tensors[4].type = INT32_MAX);
	REFUSED("tensor 1: a reserved field is not zero", plan_type(&d.tensors[1])->reserved = 1);
	REFUSED("tensor 1: a reserved field is not zero", d.tensors[1].reserved = 1);
	REFUSED("tensor 0: role 6", d.tensors[0].role = 6);
	REFUSED("tensor 0: space 4 is unknown", d.tensors[0].space = SK_SPACE_STATE);
	REFUSED("its shape contradicts", plan_type(&d.tensors[0])->bytes++);
	REFUSED("its shape contradicts", plan_type(&d.tensors[0])->shape[0] = UINT64_C(1) << 62);
	REFUSED("its shape contradicts", plan_type(&d.tensors[0])->shape[0] = 0);
	REFUSED("its shape contradicts", plan_type(&d.tensors[0])->rank = 0);
	REFUSED("its shape contradicts", plan_type(&d.tensors[0])->bytes = 0, plan_type(&d.tensors[0])->rank = 3,
		plan_type(&d.tensors[0])->shape[0] = 0, plan_type(&d.tensors[0])->shape[1] = UINT64_C(1) << 62,
		plan_type(&d.tensors[0])->shape[2] = 4); /* strides overflow */
	REFUSED("tensor 0: its role does not allow a binding", d.tensors[0].role = SK_ROLE_CONSTANT);
	REFUSED("tensor 0: binding 2 is out of range", d.tensors[0].index = 2);
	REFUSED("tensor 0: it lies outside its binding", d.tensors[0].offset = 4);
	REFUSED("tensor 2: it lies outside the constants", d.tensors[2].offset = 64);
	REFUSED("tensor 2: it lies among the constants", d.tensors[2].role = SK_ROLE_TEMPORARY);
	REFUSED("tensor 4: it lies outside the workspace", d.tensors[4].offset = UINT64_MAX - 3);
	REFUSED("tensor 4: it lies outside the unshared", d.tensors[4].unshared_offset++);
	REFUSED("tensor 4: only temporaries", d.tensors[4].role = SK_ROLE_INPUT);
	REFUSED("binding 1: tensor 5 is out of range", d.bindings[1] = 5);
	REFUSED("binding 1: tensor 0 is not the tensor of that binding", d.bindings[1] = 0);
}
END_TEST

START_TEST(damaged_steps)
{
	REFUSED("launch 0: step 1: task 5 is out of range", d.calls[SPLIT].task = 5);
	REFUSED("step 1: task 4 does not belong", d.calls[SPLIT].task = 4);
	REFUSED("launch 2: step 0: task 0 does not belong", d.calls[ENTRY].task = 0);
	REFUSED("step 1: kernel 1 is out of range", d.calls[SPLIT].kernel = 1);
	REFUSED("step 1: lane 1 is out of range", d.steps[SPLIT].lane = 1);
	REFUSED("step 1: flags 0x1001 are unknown", d.steps[SPLIT].flags |= 0x1000);
	REFUSED("it cannot have 0 tasks", plan_form(&d.launches[0])->task_count = 0);
	REFUSED("it has 4 tasks instead of 3", plan_form(&d.launches[0])->task_count--);
	REFUSED("step 1: its launch does not say", d.steps[SPLIT].flags |= SK_STEP_EARLY_SET);
	REFUSED("step 1: it cannot start early without", plan_form(&d.launches[0])->flags |= SK_LAUNCH_EARLY,
		d.steps[SPLIT].flags |= SK_STEP_EARLY_SET);
	REFUSED("step 0: it cannot start early without", plan_form(&d.launches[0])->flags |= SK_LAUNCH_EARLY,
		d.steps[PLAIN].flags |= SK_STEP_EARLY_WAIT);
	REFUSED("step 2: it cannot wait by itself", plan_form(&d.launches[0])->flags |= SK_LAUNCH_EARLY,
		d.steps[BLOCKS].flags |= SK_STEP_EARLY_WAIT, d.arguments[BLOCKS][0].kind = SK_ARGUMENT_LOAD);
	REFUSED("step 2: it cannot publish its result", plan_form(&d.launches[0])->flags |= SK_LAUNCH_EARLY,
		d.steps[BLOCKS].flags |= SK_STEP_EARLY_SET, d.arguments[BLOCKS][0].kind = SK_ARGUMENT_RESULT);
	REFUSED("step 1: only steps with blocks that run at once", d.steps[SPLIT].first_core = 1);
	REFUSED("step 1: only steps with blocks that run at once", d.steps[SPLIT].flags |= SK_STEP_CUBE_SIDE);
	REFUSED("step 1: it has no blocks that could run at once", d.steps[SPLIT].flags |= SK_STEP_RESIDENT);
	REFUSED("step 1: kind 4", d.steps[SPLIT].kind = 4);
	REFUSED("step 1: its number is 3, but its lane's next one is 2", d.steps[SPLIT].number = 3);
	REFUSED("a plain step runs on a home", d.steps[SPLIT].core_set = 0);
	REFUSED("a plain step runs on a home", d.steps[PLAIN].core_set = SK_ALL_CORES);
	REFUSED("home 1 is not one of", d.steps[PLAIN].core_set = 1);
	REFUSED("4 blocks do not fit", d.steps[SPLIT].blocks = 4);
	REFUSED("0 blocks do not fit", d.steps[BLOCKS].blocks = 0);
	REFUSED("extent 0 does not fit", d.steps[SPLIT].extent = 0);
	REFUSED("extent 1 does not fit", d.steps[PLAIN].extent = 1);
	REFUSED("it has a partition but no extent", d.steps[PLAIN].partition = 0);
	REFUSED("partition 2 is not one of", d.steps[SPLIT].partition = 2);
	REFUSED("launch 2: step 0: partition 0 is not", d.steps[ENTRY].partition = 0);
	REFUSED("divides 101 elements, not its 100", d.partitions[0].extent = 101);
	REFUSED("does not divide its 3 blocks", d.partitions[1].extent = 4);
	REFUSED("does not divide its 3 blocks", d.partitions[1].unit = 2);
	REFUSED("step 2: its arguments overlap", d.calls[BLOCKS].first_argument--);
	REFUSED("step 0: arguments 17 to 20 are out of range (20 in all)", d.calls[ENTRY].first_argument++);
	REFUSED("more than there are", d.calls[SECOND].argument_count = 12, d.calls[SECOND].first_argument = 0);
	REFUSED("launch 2: step 0: a thunk makes one call", plan_form(&d.launches[2])->flags = SK_LAUNCH_THUNK,
		d.launches[2].serial_entry = 0, d.steps[ENTRY].tile = 64);
	REFUSED("awaits step record 1, which is not an earlier step", d.awaits[0].step = SPLIT);
	REFUSED("awaits step record 4, which is not an earlier", d.awaits[1].step = SECOND);
	REFUSED("awaits 2 to 2 are out of range (2 in all)", d.steps[RANGE].first_await++);
}
END_TEST

/* Each call of a divided step has a length of its own. */
START_TEST(words_of_thunks)
{
	struct sk_plan_step step = {.kind = SK_STEP_BLOCKS_RANGE, .extent = 300};
	const struct sk_plan_call call = {.scale = 1, .argument_count = 3};
	const struct sk_plan_argument length = {.kind = SK_ARGUMENT_LENGTH, .dtype = SK_I64};
	const struct sk_plan_argument small = {.kind = SK_ARGUMENT_VALUE, .dtype = SK_I8, .value = 0xfd};
	struct sk_plan_argument sum = {.kind = SK_ARGUMENT_EXPRESSION, .dtype = SK_U8, .value = 0x107};

	ck_assert(sk_thunk_has_word(&step, &length));
	ck_assert_uint_eq(sk_thunk_scalar(&step, &call, &length), 300);
	ck_assert_uint_eq(sk_thunk_scalar(&step, &call, &small), 0xfffffffd);
	ck_assert(sk_thunk_has_word(&step, &sum));
	ck_assert_uint_eq(sk_thunk_scalar(&step, &call, &sum), 7);
	sum.size = 1;
	ck_assert(!sk_thunk_has_word(&step, &sum));
	step.kind = SK_STEP_SPLIT;
	ck_assert(!sk_thunk_has_word(&step, &length) && sk_thunk_has_word(&step, &small));
	ck_assert_uint_eq(sk_thunk_words((struct sk_plan_calls){&call, &call + 1}), 5);
}
END_TEST

START_TEST(sound_calls)
{
	char error[256];

	ck_assert_int_eq(CALLS, STEPS); /* struct damaged has so many arguments */
	ck_assert_msg(sk_plan_check_all(&sound, error, sizeof(error)), "%s", error);
	ck_assert_uint_eq(sound.call_count, CALLS);
	ck_assert_uint_eq(sound.steps[0].call_count, 2);
	ck_assert_uint_eq(sound.steps[1].call_count, 3);
	ck_assert_uint_eq(sk_plan_form(&sound.launches[0])->task_count, 5);

	struct sk_plan_calls calls = sk_plan_step_calls(&sound, &sound.steps[1]);

	ck_assert_str_eq(sk_plan_string(&sk_plan_step_task(&sound, &sound.steps[1])->name), "c");
	ck_assert_ptr_null(sk_plan_arguments(&sound, &calls.first[1]));
	ck_assert_ptr_eq(sk_plan_launch_calls(&sound, &sound.launches[0]).end, calls.end);
	ck_assert_ptr_eq(sk_plan_launch_calls(&sound, &sound.launches[1]).first, calls.end);
}
END_TEST

/* The calls of steps divide the table: no gap, no overlap, none left over, none beyond the end. */
START_TEST(damaged_calls)
{
	REFUSED("launch 0: step 0: it has no call", d.steps[0].call_count = 0, d.steps[2].call_count = 3);
	REFUSED("launch 0: step 0: its calls begin at 1, those of the step before it end at 0",
		d.steps[0].first_call = 1);
	REFUSED("step 1: its calls begin at 1, those of the step before it end at 2", d.steps[1].first_call = 1);
	REFUSED("step 1: its calls begin at 3, those", d.steps[1].first_call = 3);
	REFUSED("step 1: its calls begin at 4294967295", d.steps[1].first_call = UINT32_MAX);
	REFUSED("launch 1: step 0: its calls begin at 4, those", d.steps[2].first_call = 4, d.steps[2].call_count = 1);
	REFUSED("its steps have 7 calls, but there are 6", d.steps[2].call_count = 2);
	REFUSED("its steps have 5 calls, but there are 6", d.steps[1].call_count = 2);
	REFUSED("its steps have 4294967297 calls", d.steps[1].call_count = UINT32_MAX - 1);
	REFUSED("launch 0: it has 5 tasks instead of 4", plan_form(&d.launches[0])->task_count = 4);
	REFUSED("step 0: it has 2 calls, but its flags or its launch's allow one",
		plan_form(&d.launches[0])->flags = SK_LAUNCH_SYNC_ALL);
	REFUSED("step 1: it has 3 calls, but its flags or its launch's allow one",
		plan_form(&d.launches[0])->flags = SK_LAUNCH_EARLY, d.steps[1].flags |= SK_STEP_EARLY_SET);
	REFUSED("step 0: it has 2 calls, but its flags", d.steps[0].flags |= SK_STEP_RESIDENT);
	REFUSED("launch 0: step 0: call 1: task 6 is out of range", d.calls[SECOND_OF_TWO].task = 6);
	REFUSED("step 1: call 2: task 5 does not belong", d.calls[THIRD_OF_THREE].task = ALONE);
	REFUSED("step 1: call 0: kernel 1 is out of range", d.calls[FIRST_OF_THREE].kernel = 1);
	REFUSED("step 0: call 0: flags 0x2 of its call are unknown", d.calls[FIRST_OF_TWO].flags = 2);
	REFUSED("step 0: call 1: its arguments overlap", d.calls[SECOND_OF_TWO].first_argument--);
	REFUSED("launch 1: step 0: arguments 8 to 9 are out of range (9 in all)", d.calls[ALONE].first_argument++);
	REFUSED("step 1: call 2: argument 0: kind 0 is unknown", d.arguments[THIRD_OF_THREE][0].kind = 0);
	REFUSED("step 1: call 2: argument 1: the returned value cannot be both",
		d.calls[THIRD_OF_THREE].flags = SK_CALL_STATUS);
	REFUSED("the table of calls (7 records) lies outside", d.plan->calls.count = 7,
		d.plan->calls.offset = INT32_MAX);
	REFUSED("is not aligned", d.plan->calls.offset++);
}
END_TEST

/* Running one launch checks only that launch. */
START_TEST(calls_of_one_launch)
{
	struct damaged d = copy_sample();
	struct sk_plan_view view;
	char error[256];

	d.steps[2].call_count = 2;
	ck_assert(sk_plan_open(d.plan, d.plan->size, &view, error, sizeof(error)));
	ck_assert(sk_plan_check_launch(&view, 0, error, sizeof(error)));
	ck_assert(!sk_plan_check_launch(&view, 1, error, sizeof(error)));
	ck_assert_str_eq(error, "plan: launch 1: step 0: calls 5 to 6 are out of range (6 in all)");
}
END_TEST

START_TEST(damaged_arguments)
{
	REFUSED("launch 0: step 0: argument 0: kind 0", d.arguments[PLAIN][0].kind = 0);
	/* Code that reads a space would use the number of a binding from there, which is not checked. */
	REFUSED("step 0: argument 3: only tensors lie in space 1", d.arguments[PLAIN][3].space = SK_SPACE_BINDING,
		d.arguments[PLAIN][3].index = UINT32_MAX);
	REFUSED("step 0: argument 4: only tensors lie in space 1", d.arguments[PLAIN][4].space = SK_SPACE_BINDING,
		d.arguments[PLAIN][4].index = UINT32_MAX);
	REFUSED("argument 1: kind 11", d.arguments[PLAIN][1].kind = SK_ARGUMENT_KIND_COUNT);
	REFUSED("element type 14", d.arguments[PLAIN][0].dtype = SK_DTYPE_COUNT);
	REFUSED("accessed in no way", d.arguments[PLAIN][0].access = 0);
	REFUSED("access 4", d.arguments[PLAIN][0].access = 4);
	REFUSED("space 0 has no addresses", d.arguments[PLAIN][0].space = 0);
	REFUSED("only bindings and states", d.arguments[PLAIN][0].space = SK_SPACE_STATE,
		d.arguments[PLAIN][0].index = 1);
	REFUSED("binding 2 is out of range", d.arguments[PLAIN][0].index = 2);
	REFUSED("only bindings", d.arguments[PLAIN][2].index = 1);
	REFUSED("it writes a constant", d.arguments[PLAIN][1].access = SK_ACCESS_WRITE);
	REFUSED("404 bytes at offset 0 lie outside the 400 bytes there", d.arguments[PLAIN][0].size = 404);
	REFUSED("lie outside", d.arguments[PLAIN][0].offset = 4);
	REFUSED("lie outside", d.arguments[PLAIN][0].offset = UINT64_MAX - 3);
	REFUSED("lie outside", d.arguments[PLAIN][1].offset = 64);
	REFUSED("lie outside", d.arguments[PLAIN][2].offset = 452);
	REFUSED("0 bytes are accessed in no way, or none in one", d.arguments[PLAIN][0].size = 0);
	REFUSED("offset 2 is not aligned for f32", d.arguments[PLAIN][0].offset = 2, d.arguments[PLAIN][0].size = 8);
	REFUSED("argument 0: flags 0x40 are unknown", d.arguments[PLAIN][0].flags = 64);
	REFUSED("only divided tensors are passed whole", d.arguments[PLAIN][0].flags = SK_ARGUMENT_WHOLE);
	REFUSED("argument 3: a field that kind 2 does not have is not zero", d.arguments[PLAIN][3].tensor = 1);
	REFUSED("a field that kind 2 does not have", d.arguments[PLAIN][3].index = 1U << 31);
	REFUSED("a field that kind 2 does not have", d.arguments[PLAIN][3].offset = 4);
	REFUSED("a field that kind 2 does not have", d.arguments[PLAIN][3].size = 4);
	REFUSED("a field that kind 2 does not have", d.arguments[PLAIN][3].element_bytes = 4);
	REFUSED("a field that kind 6 does not have", d.arguments[PLAIN][4].dtype = SK_F32);
	REFUSED("a field that kind 8 does not have", d.arguments[PLAIN][5].value = 1);
	REFUSED("a field that kind 3 does not have", d.arguments[SPLIT][2].value = 1);
	REFUSED("argument 3: access 128 is not that of its kind", d.arguments[PLAIN][3].access = 128);
	REFUSED("access 1 is not that of its kind", d.arguments[PLAIN][5].access = SK_ACCESS_READ);
	REFUSED("access 3 is not that of its kind", d.arguments[SPLIT][3].access = SK_ACCESS_READ | SK_ACCESS_WRITE);
	REFUSED("tensor 99 is out of range", d.arguments[PLAIN][0].tensor = 99);
	REFUSED("its bytes are not those of tensor", d.arguments[PLAIN][0].tensor = 1);
	REFUSED("only a state can be the C library's", d.arguments[PLAIN][0].flags = SK_ARGUMENT_OF_LIBRARY);
	REFUSED("only scalars are passed by reference", d.arguments[PLAIN][0].flags = SK_ARGUMENT_BY_REFERENCE);
	REFUSED("it is divided, but its step is not", d.arguments[PLAIN][0].element_bytes = 4);
	REFUSED("does not fit into i32", d.arguments[PLAIN][3].value++);
	REFUSED("outside the launch's scratch of 128 bytes", d.arguments[PLAIN][4].size++);
	REFUSED("outside the launch's scratch", plan_form(&d.launches[0])->scratch_size = 64);
	REFUSED("cannot be passed by value", d.arguments[PLAIN][3].flags = SK_ARGUMENT_BY_VALUE);
	REFUSED("cannot be passed by value", d.arguments[PLAIN][4].flags = SK_ARGUMENT_BY_VALUE,
		d.arguments[PLAIN][4].size = 0);
	REFUSED("cannot be passed by value", d.arguments[PLAIN][4].flags = SK_ARGUMENT_BY_VALUE,
		d.arguments[PLAIN][4].offset = 4);
	REFUSED("cannot be passed by value",
		d.arguments[PLAIN][4].flags = SK_ARGUMENT_BY_VALUE | SK_ARGUMENT_BY_REFERENCE);
	REFUSED("cannot be passed by value", d.arguments[PLAIN][4].flags = SK_ARGUMENT_BY_VALUE,
		d.arguments[PLAIN][4].size = SK_MAX_BY_VALUE + 1);
	REFUSED("floats in part 0x100 of 64 bytes", d.arguments[PLAIN][4].flags = SK_ARGUMENT_BY_VALUE,
		d.arguments[PLAIN][4].value = 0x100);
	REFUSED("outside the launch's scratch", d.arguments[PLAIN][4].flags = SK_ARGUMENT_BY_VALUE,
		d.arguments[PLAIN][4].offset = 120);
	REFUSED("a state in space 2", d.arguments[PLAIN][5].space = SK_SPACE_WORKSPACE);
	REFUSED("100 elements of 8 bytes are more than its 400", d.arguments[SPLIT][0].element_bytes = 8);
	REFUSED("more than its", d.arguments[SPLIT][0].element_bytes = UINT64_MAX / 4);
	REFUSED("not a whole number of elements", d.arguments[SPLIT][0].element_bytes = 3);
	REFUSED("the bytes of a unit overflow", d.partitions[0].unit = UINT64_MAX);
	REFUSED("a length cannot be f32", d.arguments[SPLIT][2].dtype = SK_F32);
	REFUSED("its step has no extent", d.arguments[PLAIN][3].kind = SK_ARGUMENT_LENGTH);
	REFUSED("it is not one f32", d.arguments[SPLIT][3].size = 8);
	REFUSED("it is not one f64", d.arguments[SPLIT][3].dtype = SK_F64);
	REFUSED("lie outside", d.arguments[SPLIT][3].offset = 848);
	REFUSED("its step has no blocks", d.arguments[SPLIT][0].kind = SK_ARGUMENT_BLOCK,
		d.arguments[SPLIT][0].space = SK_SPACE_NONE);
	REFUSED("launch 1: step 0: argument 1: it writes a constant", d.arguments[SECOND][1].space = SK_SPACE_CONSTANT,
		d.arguments[SECOND][1].index = 0);
	REFUSED("a status and a result", d.calls[SECOND].flags |= SK_CALL_STATUS);
	REFUSED("a call has one result", d.arguments[SECOND][0] = d.arguments[SECOND][1]);
	REFUSED("launch 2: step 0: argument 1: 400 bytes at offset 448", d.plan->unshared_workspace_size = 840;
		d.tensors[4].unshared_offset = 0; d.arguments[ENTRY][1].offset = 448);
}
END_TEST

/* ---- any damage ---- */

/* A copy that ends where its memory ends, so that a sanitizer sees every look beyond it. Nothing is expected of the
 * reader but that it looks only inside, and that its result can be walked through. */
static void read_damaged(unsigned char *bytes, size_t size)
{
	struct sk_plan_view view;
	size_t length = 0;
	char error[256];

	if (!sk_plan_open(bytes, size, &view, error, sizeof(error)) || !sk_plan_check_all(&view, error, sizeof(error)))
		return;
	for (uint32_t i = 0; i < view.task_count; i++)
		length += strlen(sk_plan_string(&view.tasks[i].name));
	for (uint32_t i = 0; i < view.step_count; i++)
		for (uint32_t a = 0; a < view.calls[i].argument_count; a++)
			length += sk_plan_units(&view, &view.steps[i], &view.calls[i],
						&view.arguments[view.calls[i].first_argument + a])
					  .units;
	ck_assert_uint_ne(length, SIZE_MAX); /* so that the walk is not optimised away */
}

/* A pointer to nothing. The reader does not compare it with the signature. */
#define EMPTIED d.arguments[PLAIN][0].size = 0, d.arguments[PLAIN][0].access = SK_ACCESS_NONE

START_TEST(sound_without_bytes)
{
	char error[256];
	struct damaged d = copy_sample();

	EMPTIED;
	ck_assert_msg(read_all(d.plan, sound.plan->size, error, sizeof(error)), "%s", error);
	d.arguments[PLAIN][0].offset = 400;
	ck_assert_msg(read_all(d.plan, sound.plan->size, error, sizeof(error)), "%s", error);
}
END_TEST

START_TEST(no_bytes)
{
	REFUSED("lie outside the 400 bytes there", EMPTIED, d.arguments[PLAIN][0].offset = 404);
	REFUSED("its bytes are not those of tensor", EMPTIED, d.arguments[PLAIN][0].tensor = 1);
	REFUSED("space 0 has no addresses", EMPTIED, d.arguments[PLAIN][0].space = 0);
	REFUSED("accessed in no way", EMPTIED, d.arguments[PLAIN][0].access = SK_ACCESS_READ);
	REFUSED("it is divided, but its step is not", EMPTIED, d.arguments[PLAIN][0].element_bytes = 4);
	REFUSED("only divided tensors are passed whole", EMPTIED, d.arguments[PLAIN][0].flags = SK_ARGUMENT_WHOLE);
	REFUSED("more than its 0 bytes", d.arguments[SPLIT][0].size = 0, d.arguments[SPLIT][0].access = 0);
	REFUSED("it is not one", d.arguments[PLAIN][0].kind = SK_ARGUMENT_LOAD, EMPTIED);
}
END_TEST

START_TEST(every_cut)
{
	for (size_t size = 0; size < sound.plan->size; size++) {
		unsigned char *bytes = malloc(size + 1);
		char error[256];

		memcpy(bytes, sound.plan, size);
		ck_assert(!read_all(bytes, size, error, sizeof(error)));
		if (size >= sizeof(struct sk_plan)) {
			((struct sk_plan *)bytes)->size = size;
			read_damaged(bytes, size);
		}
		free(bytes);
	}
}
END_TEST

START_TEST(every_byte)
{
	static const unsigned char values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
	size_t size = sound.plan->size;
	unsigned char *bytes = malloc(size);

	for (size_t i = 0; i < size; i++)
		for (size_t v = 0; v < sizeof(values); v++) {
			memcpy(bytes, sound.plan, size);
			bytes[i] = values[v];
			read_damaged(bytes, size);
			bytes[i] = ((const unsigned char *)sound.plan)[i] + values[v];
			read_damaged(bytes, size);
		}
	free(bytes);
}
END_TEST

START_TEST(every_pair_of_words)
{
	static const uint32_t values[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff};
	size_t size = sound.plan->size, words = size / 4;
	uint32_t *bytes = malloc(size);
	uint32_t random = 1;

	for (int i = 0; i < 50000; i++) {
		memcpy(bytes, sound.plan, size);
		for (int damage = 0; damage < 2; damage++) {
			random = random * 1664525u + 1013904223u;
			bytes[(random >> 8) % words] = values[(random >> 4) % 5];
		}
		read_damaged((unsigned char *)bytes, size);
	}
	free(bytes);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("plan");
	TCase *tcase = tcase_create("reader");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, sound_plan);
	tcase_add_test(tcase, units);
	tcase_add_test(tcase, damaged_header);
	tcase_add_test(tcase, small_buffers);
	tcase_add_test(tcase, damaged_names);
	tcase_add_test(tcase, damaged_launches);
	tcase_add_test(tcase, damaged_blocks);
	tcase_add_test(tcase, parts_of_blocks);
	tcase_add_test(tcase, blocks_and_units);
	tcase_add_test(tcase, damaged_tasks_and_tensors);
	tcase_add_test(tcase, damaged_steps);
	tcase_add_test(tcase, damaged_arguments);
	tcase_add_test(tcase, sound_without_bytes);
	tcase_add_test(tcase, no_bytes);
	tcase_add_test(tcase, every_cut);
	tcase_add_test(tcase, every_byte);
	tcase_add_test(tcase, every_pair_of_words);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("steps of several calls");
	tcase_add_checked_fixture(tcase, setup_calls, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, sound_calls);
	tcase_add_test(tcase, words_of_thunks);
	tcase_add_test(tcase, damaged_calls);
	tcase_add_test(tcase, calls_of_one_launch);
	tcase_add_test(tcase, every_cut);
	tcase_add_test(tcase, every_byte);
	tcase_add_test(tcase, every_pair_of_words);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
