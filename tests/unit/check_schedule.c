/* Tests of src/planning/schedule.c and src/model/units.c: small schedules by hand, then random ones against the oracle.
 */
#include "base/map.h"
#include "format/skplan.h"
#include "src/planning/planning-parts.h"
#include "src/planning/planning.h"

#include <check.h>
#include <stdio.h>

#include "tests/lib/happens-before.h"
#include "tests/lib/model-builder.h"
#include "tests/lib/random.h"
#include "tests/lib/suite.h"

enum { ROW = 1024, ALL = 64 * ROW, RANDOM_MODELS = 500, MOST_CORES = 7 };

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

/* Tensors x0, x1 … of 64 rows of 1024 f32. */
static void add_matrices(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		char name[16];

		snprintf(name, sizeof(name), "x%u", i);
		add_tensor(test, name, SK_F32, 64, ROW);
	}
}

static void plan(void)
{
	test_model_finish(test);
	fusion = sk_fusion_build(&test->model);
	ck_assert_ptr_nonnull(fusion);
	schedule = sk_schedule_build(&test->model, fusion);
	ck_assert_ptr_nonnull(schedule);
}

/* "2<0,1 3<2": step 2 of the first launch awaits steps 0 and 1, step 3 awaits step 2. */
static const char *awaits_of(const struct sk_launch_schedule *launch)
{
	static char text[1024];
	size_t used = 0;

	text[0] = '\0';
	for (uint32_t s = 0; s < launch->step_count; s++)
		for (uint32_t i = 0; i < launch->steps[s].await_count; i++)
			used += (size_t)snprintf(text + used, sizeof(text) - used,
						 i	? ",%u"
						 : used ? " %u<%u"
							: "%u<%u",
						 i ? launch->steps[s].awaits[i] : s, launch->steps[s].awaits[i]);
	return text;
}

static const char *awaits(void)
{
	return awaits_of(&schedule->launches[0]);
}

static uint64_t unit_of(uint32_t task)
{
	const struct sk_launch_schedule *launch = &schedule->launches[fusion->tasks[task].launch];

	return launch->partitions[launch->steps[fusion->tasks[task].step].partition].unit;
}

/* ---- by hand ---- */

START_TEST(test_chain_of_splits)
{
	add_matrices(11);
	for (uint32_t i = 0; i < 10; i++) {
		char name[16], from[16], to[16];

		snprintf(name, sizeof(name), "t%u", i);
		snprintf(from, sizeof(from), "x%u", i);
		snprintf(to, sizeof(to), "x%u", i + 1);
		add_task(test, name, ELEMENTWISE(ALL), 0, "s", in(from), out(to));
	}
	plan();
	ck_assert_uint_eq(fusion->launch_count, 1);
	ck_assert_uint_eq(schedule->launches[0].step_count, 10);
	ck_assert_str_eq(awaits(), "");
	ck_assert_uint_eq(schedule->launches[0].partition_count, 1);
	for (uint32_t s = 0; s < 10; s++) {
		ck_assert_uint_eq(schedule->launches[0].steps[s].number, s + 1);
		ck_assert(!schedule->launches[0].steps[s].publish);
	}
}
END_TEST

START_TEST(test_split_blocks_split)
{
	add_matrices(5);
	add_task(test, "a", ELEMENTWISE(ALL), 0, "s", in("x0"), out("x1"));
	add_task(test, "b", BLOCKS(8), 0, "s", in("x1"), out("x2"));
	add_task(test, "c", BLOCKS(8), 0, "s", in("x1"), out("x3"));
	add_task(test, "d", ELEMENTWISE(ALL), 0, "s", in("x2"), in("x3"), out("x4"));
	plan();
	ck_assert_str_eq(awaits(), "1<0 3<2");
	ck_assert(schedule->launches[0].steps[0].publish);
	ck_assert(!schedule->launches[0].steps[1].publish);
	ck_assert(schedule->launches[0].steps[2].publish);
	ck_assert(!schedule->launches[0].steps[3].publish);
}
END_TEST

START_TEST(test_plain_streams)
{
	add_matrices(6);
	add_task(test, "a0", PLAIN, 0, "s", in("x0"), out("x1"));
	add_task(test, "b0", PLAIN, 5, "s", in("x3"), out("x4"));
	add_task(test, "a1", PLAIN, 0, "s", in("x1"), out("x2"));
	add_task(test, "b1", PLAIN, 5, "s", in("x4"), out("x5"));
	plan();
	ck_assert_str_eq(awaits(), "");
	ck_assert_uint_eq(schedule->launches[0].home_count, 2);
	ck_assert_uint_eq(schedule->launches[0].homes[1].stream, 5);
	ck_assert_uint_eq(schedule->launches[0].steps[3].home, 1);
}
END_TEST

START_TEST(test_plain_across_streams)
{
	add_matrices(4);
	add_task(test, "a", PLAIN, 0, "s", in("x0"), out("x1"));
	add_task(test, "b", PLAIN, 1, "s", in("x1"), out("x2"));
	add_task(test, "c", PLAIN, 1, "s", in("x1"), in("x2"), out("x3")); /* knows a through its own core */
	add_task(test, "d", PLAIN, 0, "s", in("x3"), out("x0"));
	add_task(test, "e", PLAIN, 7, "s", in("x1"), inout("x0")); /* a is known through d */
	fuse_streams(test, "s");
	plan();
	ck_assert_str_eq(awaits(), "1<0 3<2 4<3");
}
END_TEST

START_TEST(test_plain_between_splits)
{
	add_matrices(4);
	add_task(test, "a", ELEMENTWISE(ALL), 0, "s", in("x0"), out("x1"));
	add_task(test, "b", PLAIN, 0, "s", inout("x1"));
	add_task(test, "c", ELEMENTWISE(ALL), 0, "s", in("x1"), out("x2"));
	add_task(test, "d", ELEMENTWISE(ALL), 0, "s", in("x2"), out("x3"));
	plan();
	ck_assert_str_eq(awaits(), "1<0 2<1");
}
END_TEST

START_TEST(test_program_order_is_no_knowledge_of_all)
{
	/* b has its own await of a; c does not learn from the order of the steps that a has ended everywhere. */
	add_matrices(4);
	add_task(test, "a", ELEMENTWISE(ALL), 0, "s", in("x0"), out("x1"));
	add_task(test, "b", PLAIN, 0, "s", in("x1"), out("x2"));
	add_task(test, "c", PLAIN, 1, "s", in("x1"), out("x3"));
	plan();
	ck_assert_str_eq(awaits(), "1<0 2<0");
}
END_TEST

START_TEST(test_await_by_all_tells_homes)
{
	add_matrices(5);
	add_task(test, "a", PLAIN, 3, "s", in("x0"), out("x1"));
	add_task(test, "b", ELEMENTWISE(ALL), 0, "s", in("x1"), out("x2"));
	add_task(test, "c", PLAIN, 0, "s", in("x1"), out("x3"));
	plan();
	ck_assert_str_eq(awaits(), "1<0");
}
END_TEST

START_TEST(test_common_unit)
{
	/* 1000 = 8 * 125: 64 / gcd(64, 1000) = 8 rows. */
	add_tensor(test, "x", SK_F32, 64, 1000);
	add_tensor(test, "y", SK_F32, 64, 1000);
	add_tensor(test, "z", SK_BF16, 64, 1000);
	add_tensor(test, "r", SK_F32, 64);
	add_task(test, "flat", ELEMENTWISE(64000), 0, "s", in("x"), out("y"));
	add_task(test, "rows", ROWS(64), 0, "s", in("y"), out("z"), out("r"));
	add_task(test, "back", ELEMENTWISE(64000), 0, "s", in("z"), out("x"));
	add_task(test, "lone", ROWS(64), 0, NULL, in("y"), out("z"));
	plan();
	ck_assert_str_eq(awaits(), "");
	ck_assert_uint_eq(unit_of(0), 8000);
	ck_assert_uint_eq(unit_of(1), 8);
	ck_assert_uint_eq(unit_of(2), 8000);
	ck_assert_uint_eq(unit_of(3), 1);
}
END_TEST

START_TEST(test_minimum_units)
{
	/* Nothing that is shared is written: no reason for a common unit. */
	add_tensor(test, "x", SK_F32, 64, 1000);
	add_tensor(test, "y", SK_F32, 64, 1000);
	add_tensor(test, "z", SK_F32, 64, 1000);
	add_task(test, "flat", ELEMENTWISE(64000), 0, "s", in("x"), out("y"));
	add_task(test, "rows", ROWS(64), 0, "s", in("x"), out("z"));
	plan();
	ck_assert_uint_eq(unit_of(0), 64);
	ck_assert_uint_eq(unit_of(1), 1);
}
END_TEST

START_TEST(test_units_of_different_rows)
{
	/* The same bytes as 64 rows of 48 and 48 rows of 64: rows of 192 and 256 bytes, in common 768. */
	add_tensor(test, "x", SK_F32, 3072);
	add_tensor(test, "y", SK_F32, 3072);
	add_tensor(test, "z", SK_F32, 3072);
	add_task(test, "a", ROWS(64), 0, "s", in("x"), out("y"));
	add_task(test, "b", ROWS(48), 0, "s", in("y"), out("z"));
	plan();
	ck_assert_str_eq(awaits(), "");
	ck_assert_uint_eq(unit_of(0), 4);
	ck_assert_uint_eq(unit_of(1), 3);
}
END_TEST

START_TEST(test_units_diverge)
{
	/* y ties a's row to b's row at 1:1, z ties them at 1:2: no unit fits both. */
	add_tensor(test, "x", SK_F32, 8192);
	add_tensor(test, "y", SK_F32, 4096);
	add_tensor(test, "z", SK_F32, 8192);
	add_tensor(test, "v", SK_F32, 4096);
	add_task(test, "a", ROWS(64), 0, "s", in("x"), out("y"), out("z"));
	add_task(test, "b", ROWS(64), 0, "s", in("y"), out("v"));
	add_task(test, "c", ROWS(128), 0, "s", in("z"), inout("v"));
	test->model.tasks.items[2].bound.arguments[1].element_bytes = 64; /* v: a half row for each of c's rows */
	test->model.tasks.items[2].bound.arguments[1].size = 128 * 64;
	plan();
	ck_assert_uint_eq(unit_of(0), 1);
	ck_assert_uint_eq(unit_of(1), 1);
	ck_assert_uint_eq(unit_of(2), 2);
}
END_TEST

START_TEST(test_parts)
{
	/* The halves of x1 have other bases than the whole: no core has the same bytes in both. */
	add_matrices(4);
	add_task(test, "a", ELEMENTWISE(ALL), 0, "s", in("x0"), out("x1"));
	add_task(test, "b", ELEMENTWISE(ALL / 2), 0, "s", part(in("x1"), 0, ALL * 2), part(out("x2"), 0, ALL * 2));
	add_task(test, "c", ELEMENTWISE(ALL / 2), 0, "s", part(in("x2"), ALL * 2, ALL * 2),
		 part(out("x3"), 0, ALL * 2));
	plan();
	ck_assert_str_eq(awaits(), "1<0");
}
END_TEST

START_TEST(test_block_ranges)
{
	/* 64 rows in 8 blocks are 8 units of 8 rows; 64 rows in 7 blocks are irregular. */
	add_matrices(6);
	add_tensor(test, "h", SK_BF16, 64, ROW);
	add_task(test, "a", BLOCKS_RANGE(8, 64), 0, "s", in("x0"), out("x1"));
	add_task(test, "b", BLOCKS_RANGE(8, ALL), 0, "s", in("x1"), out("x2"));
	add_task(test, "c", BLOCKS_RANGE(7, 64), 0, "s", in("x2"), out("x3"));
	add_task(test, "d", BLOCKS_RANGE(7, 64), 0, "s", in("x3"), out("x4"));
	add_task(test, "e", BLOCKS_RANGE(7, ALL), 0, "s", in("x4"), out("x5"));
	plan();
	ck_assert_str_eq(awaits(), "2<1 4<3");
}
END_TEST

START_TEST(test_block_ranges_and_split)
{
	/* 64 rows in 64 blocks are 64 units of a row, like the split's. */
	add_matrices(3);
	add_task(test, "a", BLOCKS_RANGE(64, 64), 0, "s", in("x0"), out("x1"));
	add_task(test, "b", ROWS(64), 0, "s", in("x1"), out("x2"));
	plan();
	ck_assert_str_eq(awaits(), "");
}
END_TEST

START_TEST(test_shared_argument)
{
	add_matrices(3);
	add_task(test, "a", ROWS(64), 0, "s", in("x0"), out("x1"));
	add_task(test, "b", ROWS(64), 0, "s", in("x0"), shared("x1"), out("x2"));
	plan();
	ck_assert_str_eq(awaits(), "1<0");
}
END_TEST

START_TEST(test_scalar_from_tensor)
{
	add_matrices(2);
	add_tensor(test, "n", SK_I64, 1);
	add_task(test, "a", PLAIN, 0, "s", out("n"));
	add_task(test, "b", ELEMENTWISE(ALL), 0, "s", in("x0"), out("x1"), load("n"));
	plan();
	ck_assert_str_eq(awaits(), "1<0");
}
END_TEST

START_TEST(test_write_after_read)
{
	add_matrices(4);
	add_task(test, "a", PLAIN, 0, "s", in("x0"), out("x1"));
	add_task(test, "b", PLAIN, 1, "s", in("x0"), out("x2"));
	add_task(test, "c", PLAIN, 2, "s", out("x0"));
	add_task(test, "d", PLAIN, 0, "s", out("x0"));
	fuse_streams(test, "s");
	plan();
	ck_assert_str_eq(awaits(), "2<0,1 3<2");
}
END_TEST

START_TEST(test_hidden_state)
{
	add_matrices(4);
	add_task(test, "a", PLAIN, 0, "s", in("x0"), out("x1"), hidden(3));
	add_task(test, "b", PLAIN, 1, "s", in("x0"), out("x2"), hidden(2));
	add_task(test, "c", PLAIN, 1, "s", in("x0"), out("x3"), hidden(3));
	plan();
	ck_assert_str_eq(awaits(), "2<0");
}
END_TEST

/* A kernel that starts early has its hidden state for the whole call: it does not, where another home has some of it.
 */
START_TEST(test_hidden_state_starts_late)
{
	const uint32_t both = SK_STEP_EARLY_WAIT | SK_STEP_EARLY_SET;
	struct test_spread early = PLAIN;
	const uint32_t expected[] = {both, SK_STEP_EARLY_WAIT, 0, SK_STEP_EARLY_SET, both, both, both};

	early.early = both;
	add_matrices(8);
	add_task(test, "a", early, 0, "s", in("x0"), out("x1"), block(), hidden(1)); /* alone on its home */
	add_task(test, "b", early, 0, "s", in("x0"), out("x2"), block(), hidden(3)); /* c comes after it … */
	add_task(test, "c", early, 1, "s", in("x0"), out("x3"), block(), hidden(3)); /* … and d after that */
	add_task(test, "d", early, 2, "s", in("x0"), out("x4"), block(), hidden(3));
	add_task(test, "e", early, 0, "s", in("x0"), out("x5"), block(), hidden(1));
	add_task(test, "f", early, 1, "s", in("x0"), out("x6"), block());
	add_task(test, "g", early, 2, NULL, in("x0"), out("x7"), block(), hidden(3)); /* a launch of its own */
	fuse_streams(test, "s");
	plan();
	for (uint32_t i = 0; i < 6; i++)
		ck_assert_uint_eq(schedule->launches[0].steps[i].flags, expected[i]);
	ck_assert_uint_eq(schedule->launches[1].steps[0].flags, expected[6]);
	ck_assert_str_eq(awaits(), "2<1 3<2");
}
END_TEST

START_TEST(test_after_is_never_elided)
{
	add_matrices(4);
	add_task(test, "a", ELEMENTWISE(ALL), 0, "s", in("x0"), out("x1"));
	add_task(test, "b", ELEMENTWISE(ALL), 0, "s", in("x1"), out("x2"));
	add_task(test, "p", PLAIN, 0, "s", in("x0"));
	add_task(test, "q", PLAIN, 0, "s", in("x0"), out("x3"));
	add_after(test, 1, 0);
	add_after(test, 3, 2); /* the same home */
	plan();
	ck_assert_str_eq(awaits(), "1<0");
}
END_TEST

START_TEST(test_event)
{
	/* Covers a0 and a1, though a1 records it, and b1 and b2, though b1 waits for it. */
	add_matrices(9);
	add_task(test, "a0", ELEMENTWISE(ALL), 0, "s", in("x0"), out("x1"));
	add_task(test, "a1", PLAIN, 0, "s", in("x0"), out("x2"));
	add_task(test, "a2", PLAIN, 0, "s", in("x0"), out("x3"));
	add_task(test, "b0", PLAIN, 1, "s", in("x0"), out("x4"));
	add_task(test, "b1", PLAIN, 1, "s", in("x0"), out("x5"));
	add_task(test, "b2", ELEMENTWISE(ALL), 1, "s", in("x0"), out("x6"));
	add_event(test, 1, 4);
	plan();
	ck_assert_str_eq(awaits(), "4<0,1 5<0,1");
}
END_TEST

START_TEST(test_two_lanes)
{
	add_matrices(6);
	add_task(test, "c0", on_lane(ELEMENTWISE(ALL), 0), 0, "s", in("x0"), out("x1"));
	add_task(test, "v0", on_lane(ELEMENTWISE(ALL), 1), 0, "s", in("x1"), out("x2"));
	add_task(test, "v1", on_lane(ELEMENTWISE(ALL), 1), 0, "s", in("x2"), out("x3"));
	add_task(test, "c1", on_lane(ELEMENTWISE(ALL), 0), 0, "s", in("x3"), out("x4"));
	add_task(test, "c2", on_lane(BLOCKS(8), 0), 0, "s", in("x1"), out("x5"));
	plan();
	/* c1 has learnt from v1, which has learnt from v0, that c0 has ended on all cores. */
	ck_assert_str_eq(awaits(), "1<0 3<2");
	ck_assert_uint_eq(schedule->launches[0].lane_steps[0], 3);
	ck_assert_uint_eq(schedule->launches[0].lane_steps[1], 2);
	ck_assert_uint_eq(schedule->launches[0].steps[3].number, 2);
}
END_TEST

START_TEST(test_await_of_all_gives_what_homes_know)
{
	/* All vector cores have come to s: so the home of p has, which had awaited m before. */
	add_matrices(6);
	add_task(test, "m", on_lane(PLAIN, 0), 5, "s", in("x0"), out("x1"));
	add_task(test, "p", on_lane(PLAIN, 1), 1, "s", in("x1"), out("x2"));
	add_task(test, "t", on_lane(ELEMENTWISE(ALL), 1), 2, "s", in("x0"), out("x3"));
	add_task(test, "q", on_lane(PLAIN, 0), 6, "s", in("x3"), in("x1"), out("x4"));
	fuse_streams(test, "s");
	plan();
	ck_assert_str_eq(awaits(), "1<0 3<2");
}
END_TEST

START_TEST(test_scratch)
{
	add_matrices(2);
	uint32_t a = add_task(test, "a", PLAIN, 0, "s", in("x0"));
	uint32_t b = add_task(test, "b", PLAIN, 0, "s", in("x0"));

	test->model.tasks.items[a].bound.scratch_size = 64;
	test->model.tasks.items[b].bound.scratch_size = 130;
	plan();
	ck_assert_uint_eq(schedule->launches[0].scratch_size, 192);
}
END_TEST

/* ---- at random ---- */

/* Calls check for core counts 1 to 7, alike and different on two lanes, until it returns false. */
static bool for_core_counts(struct oracle *oracle, char *text, size_t size)
{
	for (uint32_t cores = 1; cores <= MOST_CORES; cores++) {
		for (uint32_t other = cores; other <= cores + (oracle->launch->lane_count > 1); other++) {
			oracle->cores[0] = cores;
			oracle->cores[1] = other;
			if (!oracle_is_ordered(oracle, text, size))
				return false;
		}
	}
	return true;
}

/* Every conflict is ordered with all awaits, and some conflict is not if any one of them is missing. */
static void check_random(uint64_t seed, const struct random_options *options)
{
	test = random_model(seed, options);
	fusion = sk_fusion_build(&test->model);
	ck_assert_ptr_nonnull(fusion);
	schedule = sk_schedule_build(&test->model, fusion);
	for (uint32_t l = 0; l < fusion->launch_count; l++) {
		struct oracle oracle = {.model = &test->model, .launch = &schedule->launches[l], .skip_step = SK_NONE};
		char text[256] = "";

		ck_assert_msg(for_core_counts(&oracle, text, sizeof(text)), "seed %llu: %s", (unsigned long long)seed,
			      text);
		for (uint32_t s = 0; s < oracle.launch->step_count; s++) {
			for (uint32_t i = 0; i < oracle.launch->steps[s].await_count; i++) {
				oracle.skip_step = s;
				oracle.skip_await = i;
				ck_assert_msg(!for_core_counts(&oracle, text, sizeof(text)),
					      "seed %llu: step %u need not await step %u of launch %u",
					      (unsigned long long)seed, s, oracle.launch->steps[s].awaits[i], l);
			}
		}
	}
	tear_down();
}

START_TEST(test_random_one_lane)
{
	for (uint64_t seed = 0; seed < RANDOM_MODELS; seed++)
		check_random(seed, &(struct random_options){1, 10, 4, true, 5});
}
END_TEST

START_TEST(test_random_two_lanes)
{
	for (uint64_t seed = 0; seed < RANDOM_MODELS; seed++)
		check_random(seed, &(struct random_options){2, 10, 4, true, 6});
}
END_TEST

START_TEST(test_random_partitions)
{
	for (uint64_t seed = 0; seed < RANDOM_MODELS; seed++)
		check_random(seed, &(struct random_options){2, 14, 3, false, 6});
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("schedule");
	TCase *one = tcase_create("one lane"), *two = tcase_create("two lanes"), *random = tcase_create("random");

	tcase_add_checked_fixture(one, set_up, tear_down);
	tcase_add_test(one, test_chain_of_splits);
	tcase_add_test(one, test_split_blocks_split);
	tcase_add_test(one, test_plain_streams);
	tcase_add_test(one, test_plain_across_streams);
	tcase_add_test(one, test_plain_between_splits);
	tcase_add_test(one, test_program_order_is_no_knowledge_of_all);
	tcase_add_test(one, test_await_by_all_tells_homes);
	tcase_add_test(one, test_common_unit);
	tcase_add_test(one, test_minimum_units);
	tcase_add_test(one, test_units_of_different_rows);
	tcase_add_test(one, test_units_diverge);
	tcase_add_test(one, test_parts);
	tcase_add_test(one, test_block_ranges);
	tcase_add_test(one, test_block_ranges_and_split);
	tcase_add_test(one, test_shared_argument);
	tcase_add_test(one, test_scalar_from_tensor);
	tcase_add_test(one, test_write_after_read);
	tcase_add_test(one, test_hidden_state);
	tcase_add_test(one, test_hidden_state_starts_late);
	tcase_add_test(one, test_after_is_never_elided);
	tcase_add_test(one, test_event);
	tcase_add_test(one, test_scratch);
	suite_add_tcase(suite, one);

	tcase_add_checked_fixture(two, set_up_two_lanes, tear_down);
	tcase_add_test(two, test_two_lanes);
	tcase_add_test(two, test_await_of_all_gives_what_homes_know);
	suite_add_tcase(suite, two);

	tcase_set_timeout(random, 120);
	tcase_add_test(random, test_random_one_lane);
	tcase_add_test(random, test_random_two_lanes);
	tcase_add_test(random, test_random_partitions);
	suite_add_tcase(suite, random);
	return run_suite(suite);
}
