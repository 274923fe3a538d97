/* Tests of src/planning/placement.c: the cores on which steps begin, and the awaits that follow. */
#include "format/skplan.h"
#include "src/planning/planning-parts.h"
#include "src/planning/planning.h"

#include <check.h>
#include <stdio.h>

#include "tests/lib/model-builder.h"
#include "tests/lib/suite.h"

enum { LONG = 65536, SHORT = 64, CHAINS = 8 };

static struct test_model *test;
static struct sk_fusion *fusion;
static struct sk_schedule *schedule;

static void set_up(void)
{
	test = test_model_create(1);
}

static void set_up_two_lanes(void)
{
	test = test_model_create(2);
}

static void tear_down(void)
{
	test_model_destroy(test);
}

/* Tensors x0, x1 … of some rows of floats. */
static void add_rows(uint32_t count, uint64_t height, uint64_t length)
{
	for (uint32_t i = 0; i < count; i++) {
		char name[16];

		snprintf(name, sizeof(name), "x%u", i);
		add_tensor(test, name, SK_F32, height, length);
	}
}

static void add_step(struct test_spread spread, uint32_t from, uint32_t to)
{
	char name[16], input[16], output[16];

	snprintf(name, sizeof(name), "t%u", to);
	snprintf(input, sizeof(input), "x%u", from);
	snprintf(output, sizeof(output), "x%u", to);
	add_task(test, name, spread, 0, "s", in(input), out(output));
}

/* Steps that do not depend on each other, over so many rows each. */
static void add_apart(struct test_spread spread, uint32_t count, uint64_t height)
{
	add_rows(2 * count, height, LONG);
	for (uint32_t i = 0; i < count; i++)
		add_step(spread, 2 * i, 2 * i + 1);
}

/* A step, and two that read its output. */
static void add_fork(uint64_t length)
{
	add_rows(4, 1, length);
	add_step(ROWS(1), 0, 1);
	add_step(ROWS(1), 1, 2);
	add_step(ROWS(1), 1, 3);
}

/* "0 0 1 1, 1 awaits": where the first launch's steps begin. */
static const char *places(void)
{
	static char text[1024];
	const struct sk_launch_schedule *launch;
	size_t used = 0;
	uint32_t awaits = 0;

	test_model_finish(test);
	fusion = sk_fusion_build(&test->model);
	ck_assert_ptr_nonnull(fusion);
	schedule = sk_schedule_build(&test->model, fusion);
	launch = &schedule->launches[0];
	for (uint32_t s = 0; s < launch->step_count; s++) {
		const struct sk_step *step = &launch->steps[s];

		awaits += step->await_count;
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%u", s ? " " : "", step->run->first_core);
		if (step->partition != SK_NO_INDEX)
			ck_assert_uint_eq(launch->partitions[step->partition].first_core, step->run->first_core);
	}
	snprintf(text + used, sizeof(text) - used, ", %u awaits", awaits);
	return text;
}

/* Chains of two, one after the other or interleaved. */
static void add_chains(bool in_turns)
{
	add_rows(3 * CHAINS, 1, LONG);
	for (uint32_t i = 0; i < CHAINS; i++) {
		add_step(ROWS(1), 3 * i, 3 * i + 1);
		if (!in_turns)
			add_step(ROWS(1), 3 * i + 1, 3 * i + 2);
	}
	for (uint32_t i = 0; i < CHAINS && in_turns; i++)
		add_step(ROWS(1), 3 * i + 1, 3 * i + 2);
}

START_TEST(chains)
{
	add_chains(false);
	ck_assert_str_eq(places(), "0 0 1 1 2 2 3 3 4 4 5 5 6 6 7 7, 0 awaits");
}
END_TEST

START_TEST(chains_in_turns)
{
	add_chains(true);
	ck_assert_str_eq(places(), "0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7, 0 awaits");
}
END_TEST

START_TEST(switched_off)
{
	add_chains(false);
	test->model.scopes.items[0].launch.no_parallel_fusion = true;
	ck_assert_str_eq(places(), "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0, 0 awaits");
}
END_TEST

START_TEST(everything_in_turn)
{
	add_chains(true);
	test->model.scopes.items[0].launch.sync_all = true;
	ck_assert_str_eq(places(), "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0, 15 awaits");
}
END_TEST

/* On one core at most there is nothing beside anything. */
START_TEST(one_core)
{
	add_chains(false);
	test->model.scopes.items[0].launch.vector_cores = 1;
	ck_assert_str_eq(places(), "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0, 0 awaits");
}
END_TEST

/* As many as the options leave. */
START_TEST(three_cores)
{
	add_chains(false);
	test->model.scopes.items[0].launch.vector_cores = 3;
	ck_assert_str_eq(places(), "0 0 1 1 2 2 0 0 1 1 2 2 0 0 1 1, 0 awaits");
}
END_TEST

/* Steps with work for all cores do not favour any, and load all of them alike. */
START_TEST(work_for_all)
{
	add_apart(ROWS(2), 2, 2);
	ck_assert_str_eq(places(), "0 0, 0 awaits");
}
END_TEST

/* A reader of a step's output stays on its core, if it can go on at once; other readers do as well elsewhere. */
START_TEST(fork_of_long_rows)
{
	add_fork(LONG);
	ck_assert_str_eq(places(), "0 0 1, 1 awaits");
}
END_TEST

START_TEST(fork_of_short_rows)
{
	add_fork(SHORT);
	ck_assert_str_eq(places(), "0 0 0, 0 awaits");
}
END_TEST

/* On the core of the last step that it depends on. */
START_TEST(join)
{
	add_rows(6, 1, LONG);
	add_step(ROWS(1), 0, 1);
	add_step(ROWS(1), 2, 3);
	add_step(ROWS(1), 3, 4);
	add_task(test, "sum", ROWS(1), 0, "s", in("x1"), in("x4"), out("x5"));
	ck_assert_str_eq(places(), "0 1 1 1, 1 awaits");
}
END_TEST

/* A plain step loads its home. */
START_TEST(beside_a_home)
{
	add_rows(4, 1, LONG);
	add_task(test, "home", PLAIN, 63, "s", in("x0"), out("x1")); /* where the one row of step 0 would be */
	add_step(ROWS(1), 2, 3);
	ck_assert_str_eq(places(), "0 1, 0 awaits");
}
END_TEST

/* 24 cores of the first lane. */
START_TEST(blocks)
{
	add_apart(BLOCKS(8), 4, 1);
	ck_assert_str_eq(places(), "0 8 16 0, 0 awaits");
}
END_TEST

/* Three parts of 24 cores are seven cores apart, so eight such steps have cores of their own. */
START_TEST(ranges_of_blocks)
{
	add_apart(BLOCKS_RANGE(3, 3), 9, 3);
	ck_assert_str_eq(places(), "0 1 2 3 4 5 6 7 0, 0 awaits");
}
END_TEST

/* Blocks that run at once have cores of their own by themselves. */
START_TEST(resident)
{
	add_apart(SYNC_ALL(8), 2, 1);
	ck_assert_str_eq(places(), "0 0, 0 awaits");
}
END_TEST

/* Each lane has cores of its own. */
START_TEST(two_lanes)
{
	add_rows(8, 1, LONG);
	for (uint32_t i = 0; i < 8; i += 2)
		add_step(on_lane(ROWS(1), i / 2 % 2), i, i + 1);
	ck_assert_str_eq(places(), "0 0 1 1, 0 awaits");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("placement");
	TCase *one = tcase_create("one lane"), *two = tcase_create("two lanes");

	tcase_add_checked_fixture(one, set_up, tear_down);
	tcase_add_test(one, chains);
	tcase_add_test(one, chains_in_turns);
	tcase_add_test(one, switched_off);
	tcase_add_test(one, everything_in_turn);
	tcase_add_test(one, one_core);
	tcase_add_test(one, three_cores);
	tcase_add_test(one, work_for_all);
	tcase_add_test(one, fork_of_long_rows);
	tcase_add_test(one, fork_of_short_rows);
	tcase_add_test(one, join);
	tcase_add_test(one, beside_a_home);
	suite_add_tcase(suite, one);
	tcase_add_checked_fixture(two, set_up_two_lanes, tear_down);
	tcase_add_test(two, blocks);
	tcase_add_test(two, ranges_of_blocks);
	tcase_add_test(two, resident);
	tcase_add_test(two, two_lanes);
	suite_add_tcase(suite, two);
	return run_suite(suite);
}
