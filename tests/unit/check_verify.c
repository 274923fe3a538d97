/* The verifier, on plans made by hand and at random: sound ones are accepted, each await taken out of them is missed,
 * every kind of race is named, and on random plans the verdict is that of a brute-force search for races. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "format/plan/plan.h"
#include "format/skplan.h"
#include "format/skrows.h"
#include "src/proof/proof-parts.h"
#include "src/proof/proof.h"
#include "tests/lib/plan-builder.h"
#include "tests/lib/races.h"
#include "tests/lib/suite.h"

static struct sk_arena *arena;
static struct sk_diag diag;

enum { READ = SK_ACCESS_READ, WRITE = SK_ACCESS_WRITE, UPDATE = SK_ACCESS_READ | SK_ACCESS_WRITE };

static void setup(void)
{
	arena = sk_arena_create();
	sk_diag_init(&diag, arena);
}

static void teardown(void)
{
	sk_arena_destroy(arena);
}

/* A fresh arena and sink within one test. */
static void again(void)
{
	teardown();
	setup();
}

/* Everything that the sink would print. */
static char *messages(void)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	sk_diag_flush(&diag, "test", 0, stream);
	fclose(stream);

	char *copy = sk_arena_copy(arena, text, size);

	free(text);
	return copy;
}

static void expect_sound(const struct sk_plan_view *view)
{
	bool sound = sk_verify(arena, &diag, view, "p.sk", NULL, 0, NULL);

	ck_assert_msg(sound, "%s", messages());
	ck_assert_uint_eq(diag.errors, 0);
	ck_assert(!races_exist_up_to(view, 5));
}

/* Rejected, with a message that has all the given parts (NULL ends them). */
static void expect_rejected(const struct sk_plan_view *view, const char *const *parts)
{
	ck_assert_msg(!sk_verify(arena, &diag, view, "p.sk", NULL, 0, NULL), "accepted, expected: %s", *parts);

	const char *text = messages();

	for (; *parts; parts++)
		ck_assert_msg(strstr(text, *parts), "'%s' is not in:\n%s", *parts, text);
}

#define REJECTED(plan, ...)                                                                                            \
	do {                                                                                                           \
		struct sk_plan_view rejected_view = plan_view(plan);                                                   \
		expect_rejected(&rejected_view, (const char *const[]){__VA_ARGS__, NULL});                             \
	} while (0)

/* Sound, and unsound without any one of its awaits. */
static void expect_minimal(struct plan *plan, uint32_t awaits)
{
	struct sk_plan_view view = plan_view(plan);

	ck_assert_uint_eq(view.await_count, awaits);
	expect_sound(&view);
	for (uint32_t i = 0; i < view.await_count; i++) {
		struct sk_plan_view without = plan_without_await(arena, &view, i);

		ck_assert(races_exist_up_to(&without, 5));
		expect_rejected(&without, (const char *const[]){"p.sk: launch 'sp'", "nothing orders task", NULL});
	}
}

/* No stream asks for anything, unless a test is about that. */
static struct plan *create(uint32_t lanes)
{
	struct plan *plan = plan_create(arena, lanes);

	plan_streams_apart(plan);
	return plan;
}

static struct plan *begin(uint32_t lanes)
{
	struct plan *plan = create(lanes);

	plan_launch(plan, "sp", SK_LAUNCH_SUPERKERNEL);
	return plan;
}

/* ---- sound schedules, and every await that they need ---- */

START_TEST(elementwise_chain)
{
	struct plan *plan = begin(1);
	uint32_t x = plan_tensor(plan, "x", SK_F32, 1000, SK_ROLE_INPUT);
	uint32_t t = plan_temporary(plan, "t", SK_F32, 1000, 0);
	uint32_t u = plan_temporary(plan, "u", SK_F32, 1000, 4032);

	for (int i = 0; i < 10; i++) {
		plan_split(plan, "step", 1000, 64);
		plan_access(plan, i == 0 ? x : i % 2 ? t : u, READ);
		plan_access(plan, i % 2 ? u : t, WRITE);
	}
	expect_minimal(plan, 0);
}
END_TEST

/* split A, blocks B and C, split D: two awaits, since the one on A's step covers C as well. */
START_TEST(split_blocks_blocks_split)
{
	struct plan *plan = begin(1);
	uint32_t x = plan_tensor(plan, "x", SK_F32, 256, SK_ROLE_INPUT);
	uint32_t t = plan_temporary(plan, "t", SK_F32, 256, 0);
	uint32_t b = plan_temporary(plan, "b", SK_F32, 256, 1024);
	uint32_t c = plan_temporary(plan, "c", SK_F32, 256, 2048);
	uint32_t y = plan_tensor(plan, "y", SK_F32, 256, SK_ROLE_OUTPUT);
	uint32_t step_a, step_c;

	step_a = plan_split(plan, "A", 256, 64);
	plan_access(plan, x, READ);
	plan_access(plan, t, WRITE);
	plan_blocks(plan, "B", 4);
	plan_access(plan, t, READ);
	plan_access(plan, b, WRITE);
	plan_await(plan, step_a);
	step_c = plan_blocks(plan, "C", 4);
	plan_access(plan, t, READ);
	plan_access(plan, c, WRITE);
	plan_split(plan, "D", 256, 64);
	plan_access(plan, b, READ);
	plan_access(plan, c, READ);
	plan_access(plan, y, WRITE);
	plan_await(plan, step_c);
	expect_minimal(plan, 2);
}
END_TEST

/* Two streams run side by side and meet; a third step learns of the first through the second. */
START_TEST(plain_streams)
{
	struct plan *plan = begin(1);
	uint32_t x = plan_tensor(plan, "x", SK_F32, 64, SK_ROLE_INPUT);
	uint32_t a = plan_temporary(plan, "a", SK_F32, 64, 0);
	uint32_t b = plan_temporary(plan, "b", SK_F32, 64, 256);
	uint32_t c = plan_temporary(plan, "c", SK_F32, 64, 512);
	uint32_t y = plan_tensor(plan, "y", SK_F32, 64, SK_ROLE_OUTPUT);
	uint32_t first, second, third;

	first = plan_plain(plan, "first", 0);
	plan_access(plan, x, READ);
	plan_access(plan, a, WRITE);
	plan_plain(plan, "other", 1);
	plan_access(plan, x, READ);
	plan_access(plan, b, WRITE);
	second = plan_plain(plan, "second", 1);
	plan_access(plan, a, READ);
	plan_access(plan, b, READ);
	plan_access(plan, c, WRITE);
	plan_await(plan, first);
	third = plan_plain(plan, "third", 2);
	plan_access(plan, c, READ);
	plan_access(plan, a, UPDATE); /* after first, through second */
	plan_await(plan, second);
	plan_plain(plan, "again", 0);
	plan_access(plan, a, READ);
	plan_access(plan, b, READ); /* other, through second, through third */
	plan_access(plan, y, WRITE);
	plan_await(plan, third);
	expect_minimal(plan, 3);
}
END_TEST

/* If a home alone has awaited a step, an await of a later step of all cores proves it. */
START_TEST(knowledge_of_a_home_through_all)
{
	struct plan *plan = begin(2);
	uint32_t a = plan_temporary(plan, "a", SK_F32, 64, 0);
	uint32_t b = plan_temporary(plan, "b", SK_F32, 64, 256);
	uint32_t c = plan_temporary(plan, "c", SK_F32, 64, 512);
	uint32_t y = plan_tensor(plan, "y", SK_F32, 64, SK_ROLE_OUTPUT);
	uint32_t cube, all;

	cube = plan_plain(plan, "cube", 0);
	plan_access(plan, a, WRITE);
	plan_lane(plan, 1);
	plan_plain(plan, "home", 3);
	plan_access(plan, a, READ);
	plan_access(plan, b, WRITE);
	plan_await(plan, cube);
	all = plan_split(plan, "all", 64, 16);
	plan_access(plan, c, WRITE);
	plan_lane(plan, 0);
	plan_plain(plan, "last", 5);
	plan_access(plan, a, READ); /* cube, as home knew */
	plan_access(plan, b, READ); /* home, by its number */
	plan_access(plan, c, READ);
	plan_access(plan, y, WRITE);
	plan_await(plan, all);
	expect_minimal(plan, 2);
}
END_TEST

/* A home knows the awaits of every core of its lane before it, and passes them on. */
START_TEST(knowledge_of_all_through_a_home)
{
	struct plan *plan = begin(2);
	uint32_t a = plan_temporary(plan, "a", SK_F32, 64, 0);
	uint32_t b = plan_temporary(plan, "b", SK_F32, 64, 256);
	uint32_t c = plan_temporary(plan, "c", SK_F32, 64, 512);
	uint32_t y = plan_tensor(plan, "y", SK_F32, 64, SK_ROLE_OUTPUT);
	uint32_t cube, home;

	cube = plan_plain(plan, "cube", 0);
	plan_access(plan, a, WRITE);
	plan_lane(plan, 1);
	plan_split(plan, "all", 64, 16);
	plan_access(plan, a, READ);
	plan_access(plan, b, WRITE);
	plan_await(plan, cube);
	home = plan_plain(plan, "home", 3);
	plan_access(plan, c, WRITE);
	plan_lane(plan, 0);
	plan_plain(plan, "last", 5);
	plan_access(plan, a, READ); /* cube, as all knew */
	plan_access(plan, c, READ);
	plan_access(plan, y, WRITE);
	plan_await(plan, home);
	expect_minimal(plan, 2);
}
END_TEST

/* A home proves only its own core's share of an earlier step of all cores. */
START_TEST(home_does_not_speak_for_all)
{
	struct plan *plan = begin(1);
	uint32_t t = plan_temporary(plan, "t", SK_F32, 256, 0);
	uint32_t u = plan_temporary(plan, "u", SK_F32, 256, 1024);
	uint32_t y = plan_tensor(plan, "y", SK_F32, 256, SK_ROLE_OUTPUT);
	uint32_t home;

	plan_split(plan, "split", 256, 64);
	plan_access(plan, t, WRITE);
	home = plan_plain(plan, "home", 0);
	plan_access(plan, u, WRITE);
	plan_plain(plan, "reader", 1);
	plan_access(plan, u, READ);
	plan_access(plan, t, READ);
	plan_access(plan, y, WRITE);
	plan_await(plan, home);
	REJECTED(plan, "nothing orders task 'split', which writes 't', and task 'reader', which reads 't'",
		 "bytes [0, 1024) of the workspace", "'split' is step 1 of lane core, on all cores",
		 "'reader' is step 3 of lane core, on the home of stream 1", "'reader' must await 'split'");
}
END_TEST

/* A home's own await does not cover the other cores of a later step either. */
START_TEST(all_does_not_know_what_a_home_knows)
{
	struct plan *plan = begin(2);
	uint32_t a = plan_temporary(plan, "a", SK_F32, 64, 0);
	uint32_t y = plan_tensor(plan, "y", SK_F32, 64, SK_ROLE_OUTPUT);
	uint32_t cube;

	cube = plan_plain(plan, "cube", 0);
	plan_access(plan, a, WRITE);
	plan_lane(plan, 1);
	plan_plain(plan, "home", 3);
	plan_access(plan, a, READ);
	plan_await(plan, cube);
	plan_split(plan, "all", 64, 16);
	plan_access(plan, a, READ);
	plan_access(plan, y, WRITE);
	REJECTED(plan, "task 'cube', which writes 'a', and task 'all', which reads 'a'", "lane vector, on all cores");
}
END_TEST

/* Reads of the same bytes need no order; a write must come after all of them. */
START_TEST(write_after_many_reads)
{
	struct plan *plan = begin(1);
	uint32_t x = plan_tensor(plan, "x", SK_F32, 64, SK_ROLE_INOUT);
	uint32_t y = plan_tensor(plan, "y", SK_F32, 64, SK_ROLE_OUTPUT);
	uint32_t z = plan_tensor(plan, "z", SK_F32, 64, SK_ROLE_OUTPUT);
	uint32_t first, second;

	first = plan_plain(plan, "r1", 0);
	plan_access(plan, x, READ);
	plan_access(plan, y, WRITE);
	second = plan_plain(plan, "r2", 1);
	plan_part(plan, x, READ, 64, 64, 0);
	plan_access(plan, z, WRITE);
	plan_plain(plan, "w", 2);
	plan_part(plan, x, WRITE, 0, 128, 0);
	plan_await(plan, first);
	plan_await(plan, second);
	expect_minimal(plan, 2);
}
END_TEST

/* Writes that cover parts: after each part's own last writer. */
START_TEST(partial_writes)
{
	struct plan *plan = begin(1);
	uint32_t t = plan_temporary(plan, "t", SK_U8, 100, 0);
	uint32_t y = plan_tensor(plan, "y", SK_U8, 100, SK_ROLE_OUTPUT);
	uint32_t whole, middle, tail;

	whole = plan_plain(plan, "whole", 0);
	plan_access(plan, t, WRITE);
	middle = plan_plain(plan, "middle", 1);
	plan_part(plan, t, WRITE, 40, 20, 0);
	plan_await(plan, whole);
	tail = plan_plain(plan, "tail", 2);
	plan_part(plan, t, WRITE, 90, 10, 0);
	plan_await(plan, whole);
	plan_plain(plan, "reader", 3);
	plan_access(plan, t, READ);
	plan_access(plan, y, WRITE);
	plan_await(plan, middle);
	plan_await(plan, tail);
	expect_minimal(plan, 4);
}
END_TEST

/* ---- plans that must be rejected ---- */

START_TEST(workspace_shared_by_two_types)
{
	struct plan *plan = begin(1);
	uint32_t x = plan_tensor(plan, "x", SK_F32, 1024, SK_ROLE_INPUT);
	uint32_t h = plan_tensor(plan, "h", SK_U16, 1024, SK_ROLE_OUTPUT);
	uint32_t t = plan_temporary(plan, "t", SK_F32, 1024, 0);
	uint32_t u = plan_temporary(plan, "u", SK_U16, 1024, 0);
	uint32_t v = plan_temporary(plan, "v", SK_U16, 1024, 4096);

	plan_split(plan, "load", 1024, 64);
	plan_access(plan, x, READ);
	plan_access(plan, t, WRITE);
	plan_split(plan, "narrow", 1024, 64);
	plan_access(plan, t, READ);
	plan_access(plan, v, WRITE);
	plan_split(plan, "negate", 1024, 64);
	plan_access(plan, v, READ);
	plan_access(plan, u, WRITE);
	plan_split(plan, "store", 1024, 64);
	plan_access(plan, u, READ);
	plan_access(plan, h, WRITE);
	REJECTED(plan, "task 'narrow', which reads 't', and task 'negate', which writes 'u', both at "
		       "bytes [0, 2048) of the workspace");
}
END_TEST

/* [64, 1000] taken flat in units of 64 elements, and by rows in units of one row. */
static void flat_and_rows(uint64_t row_unit, uint64_t flat_unit)
{
	struct plan *plan = begin(1);
	uint32_t x = plan_tensor(plan, "x", SK_F32, 64000, SK_ROLE_INPUT);
	uint32_t t = plan_temporary(plan, "t", SK_F32, 64000, 0);
	uint32_t y = plan_tensor(plan, "y", SK_F32, 64000, SK_ROLE_OUTPUT);

	plan_split(plan, "flat", 64000, flat_unit);
	plan_access(plan, x, READ);
	plan_access(plan, t, WRITE);
	plan_split(plan, "rows", 64, row_unit);
	plan_access(plan, t, READ);
	plan_access(plan, y, WRITE);
	if (row_unit * 1000 == flat_unit)
		expect_minimal(plan, 0);
	else
		REJECTED(plan, "task 'flat', which writes 't', and task 'rows', which reads 't'",
			 "bytes [0, 256000) of the workspace");
}

START_TEST(rows_and_elements_without_common_unit)
{
	flat_and_rows(1, 64);
	again();
	flat_and_rows(8, 64);
	again();
	flat_and_rows(8, 8000);
}
END_TEST

START_TEST(plain_between_splits)
{
	struct plan *plan = begin(1);
	uint32_t x = plan_tensor(plan, "x", SK_F32, 256, SK_ROLE_INPUT);
	uint32_t t = plan_temporary(plan, "t", SK_F32, 256, 0);
	uint32_t y = plan_tensor(plan, "y", SK_F32, 256, SK_ROLE_OUTPUT);

	plan_split(plan, "before", 256, 64);
	plan_access(plan, x, READ);
	plan_access(plan, t, WRITE);
	plan_plain(plan, "between", 0);
	plan_access(plan, t, UPDATE);
	plan_split(plan, "behind", 256, 64);
	plan_access(plan, t, READ);
	plan_access(plan, y, WRITE);
	REJECTED(plan, "task 'before', which writes 't', and task 'between', which writes 't'",
		 "task 'between', which writes 't', and task 'behind', which reads 't'");
}
END_TEST

START_TEST(same_units_from_another_base)
{
	struct plan *plan = begin(1);
	uint32_t x = plan_tensor(plan, "x", SK_F32, 256, SK_ROLE_INPUT);
	uint32_t t = plan_temporary(plan, "t", SK_F32, 320, 0);

	plan_split(plan, "low", 256, 64);
	plan_access(plan, x, READ);
	plan_part(plan, t, WRITE, 0, 1024, 4);
	plan_split(plan, "high", 256, 64);
	plan_access(plan, x, READ);
	plan_part(plan, t, WRITE, 256, 1024, 4);
	REJECTED(plan, "'low'", "'high'", "bytes [256, 1024) of the workspace");
}
END_TEST

/* As many units, which do not begin at the same core. */
START_TEST(same_units_on_other_cores)
{
	for (uint64_t first = 0; first < 3; first++)
		for (uint64_t other = 0; other < 3; other++) {
			struct plan *plan = begin(1);
			uint32_t x = plan_tensor(plan, "x", SK_F32, 192, SK_ROLE_INPUT);
			uint32_t t = plan_temporary(plan, "t", SK_F32, 192, 0);

			plan_split_by_blocks(plan, "one", (struct sk_plan_partition){192, 64, 0, 0, first});
			plan_access(plan, x, READ);
			plan_access(plan, t, WRITE);
			plan_split_by_blocks(plan, "two", (struct sk_plan_partition){192, 64, 0, 0, other});
			plan_access(plan, t, READ);
			if (first == other)
				expect_minimal(plan, 0);
			else
				REJECTED(plan, "'one'", "'two'", "bytes [0, 768) of the workspace");
			again();
		}
}
END_TEST

static struct plan *blocks_of(uint64_t extent, uint32_t blocks, uint32_t other_blocks)
{
	struct plan *plan = begin(1);
	uint32_t t = plan_temporary(plan, "t", SK_U8, 300, 0);
	uint32_t y = plan_tensor(plan, "y", SK_U8, 300, SK_ROLE_OUTPUT);

	plan_blocks_range(plan, "one", 100, blocks);
	plan_access(plan, t, WRITE);
	plan_blocks_range(plan, "two", extent, other_blocks);
	plan_access(plan, t, READ);
	plan_access(plan, y, WRITE);
	return plan;
}

/* 100 rows in 3 blocks: 33, 33 and 34. */
START_TEST(irregular_blocks)
{
	expect_minimal(blocks_of(100, 3, 3), 0);
	again();
	REJECTED(blocks_of(50, 3, 3), "'one'", "'two'");
	again();
	REJECTED(blocks_of(100, 3, 6), "'one'", "'two'");
}
END_TEST

START_TEST(blocks_and_split)
{
	struct plan *plan = begin(1);
	uint32_t t = plan_temporary(plan, "t", SK_U8, 100, 0);
	uint32_t y = plan_tensor(plan, "y", SK_U8, 100, SK_ROLE_OUTPUT);

	plan_blocks_range(plan, "one", 100, 4);
	plan_access(plan, t, WRITE);
	plan_split(plan, "two", 100, 25);
	plan_access(plan, t, READ);
	plan_access(plan, y, WRITE);
	expect_minimal(plan, 0);
}
END_TEST

/* ---- the cores of one step ---- */

START_TEST(undivided_write)
{
	struct plan *plan = begin(1);
	uint32_t t = plan_temporary(plan, "t", SK_F32, 256, 0);

	plan_split(plan, "split", 256, 64);
	plan_shared(plan, t, WRITE);
	REJECTED(plan, "the cores of task 'split' conflict: all of them write 't' (bytes [0, 1024) of the workspace), "
		       "which is not divided");
}
END_TEST

START_TEST(write_behind_the_extent)
{
	struct plan *plan = begin(1);
	uint32_t t = plan_temporary(plan, "t", SK_F32, 257, 0);

	plan_split(plan, "split", 256, 64);
	plan_part(plan, t, WRITE, 0, 1028, 4);
	REJECTED(plan, "all of them write 't'");
}
END_TEST

START_TEST(arguments_of_one_call)
{
	struct plan *plan = begin(1);
	uint32_t t = plan_temporary(plan, "t", SK_F32, 320, 0);
	uint32_t u = plan_temporary(plan, "u", SK_F32, 256, 1280);

	/* y@x: in place. */
	plan_split(plan, "in place", 256, 64);
	plan_access(plan, u, READ);
	plan_access(plan, u, WRITE);
	plan_split(plan, "shifted", 256, 64);
	plan_part(plan, t, READ, 0, 1024, 4);
	plan_part(plan, t, WRITE, 256, 1024, 4);
	REJECTED(plan,
		 "the cores of task 'shifted' conflict: its arguments 0 ('t') and 1 ('t') share bytes [256, 1024)",
		 "'shifted' is step 2 of lane core");
}
END_TEST

START_TEST(shared_read_of_a_divided_write)
{
	struct plan *plan = begin(1);
	uint32_t t = plan_temporary(plan, "t", SK_F32, 256, 0);

	plan_split(plan, "split", 256, 64);
	plan_access(plan, t, WRITE);
	plan_load(plan, t, 1020);
	REJECTED(plan, "its arguments 1 ('t') and 0 ('t') share bytes [1020, 1024) of the workspace");
}
END_TEST

START_TEST(blocks_answer_for_themselves)
{
	struct plan *plan = begin(1);
	uint32_t t = plan_tensor(plan, "t", SK_F32, 256, SK_ROLE_INOUT);
	uint32_t u = plan_tensor(plan, "u", SK_F32, 256, SK_ROLE_INOUT);

	plan_blocks(plan, "fine", 4);
	plan_access(plan, t, UPDATE);
	plan_access(plan, u, READ);
	plan_access(plan, u, WRITE);
	struct sk_plan_view view = plan_view(plan);

	expect_sound(&view);
	plan_part(plan, t, READ, 0, 512, 0);
	REJECTED(plan, "its arguments 3 ('t') and 0 ('t') share bytes [0, 512)");
}
END_TEST

START_TEST(results_and_states)
{
	struct plan *plan = begin(1);
	uint32_t t = plan_temporary(plan, "t", SK_F32, 4, 0);

	plan_plain(plan, "plain", 0);
	plan_result(plan, t, 0);
	plan_state(plan, 3);
	plan_plain(plan, "same home", 0);
	plan_state(plan, 3);
	struct sk_plan_view view = plan_view(plan);

	expect_sound(&view);
	plan_plain(plan, "other state", 1);
	plan_state(plan, 4);
	view = plan_view(plan);
	expect_sound(&view);
	plan_plain(plan, "other home", 2);
	plan_state(plan, 3);
	plan_split(plan, "split state", 64, 1);
	plan_state(plan, 5);
	plan_blocks(plan, "blocks result", 2);
	plan_result(plan, t, 4);
	REJECTED(plan,
		 "task 'same home', which writes hidden state 3, and task 'other home', which writes hidden state 3",
		 "the cores of task 'split state' conflict: all of them write hidden state 5",
		 "the cores of task 'blocks result' conflict: all of them write 't' (bytes [4, 8) of the workspace)");
}
END_TEST

static void start_early(struct plan *plan, unsigned flags)
{
	plan_flags(plan, flags);
	plan_argument(plan, (struct sk_plan_argument){.kind = SK_ARGUMENT_BLOCK});
}

/* A state on two homes. Its later holder awaits the earlier one or a step after it on its home. */
static struct plan *early_plan(unsigned earlier_flags, unsigned later_flags, bool behind)
{
	struct plan *plan = begin(1);
	uint32_t awaited = plan_plain(plan, "earlier", 0);

	start_early(plan, earlier_flags);
	plan_state(plan, 3);
	if (behind) {
		awaited = plan_plain(plan, "behind", 0);
		start_early(plan, SK_STEP_EARLY_WAIT | SK_STEP_EARLY_SET);
	}
	plan_plain(plan, "later", 1);
	plan_await(plan, awaited);
	start_early(plan, later_flags);
	plan_state(plan, 3);
	return plan;
}

/* Hidden state is accessed by the whole call. */
START_TEST(states_and_early_starts)
{
	struct sk_plan_view view = plan_view(early_plan(SK_STEP_EARLY_WAIT, SK_STEP_EARLY_SET, false));

	expect_sound(&view);
	view = plan_view(early_plan(SK_STEP_EARLY_SET, 0, true));
	expect_sound(&view);
	REJECTED(early_plan(SK_STEP_EARLY_SET, 0, false),
		 "nothing orders task 'earlier', which writes hidden state 3, and task 'later', which writes hidden "
		 "state 3",
		 "finished, and not just published; that it does early, and has its hidden state until it returns");
	again();
	REJECTED(early_plan(0, SK_STEP_EARLY_WAIT, true),
		 "nothing orders task 'earlier', which writes hidden state 3, and task 'later', which writes hidden "
		 "state 3",
		 "finished, before it is called; it starts early, and has its hidden state from then on");
}
END_TEST

/* Awaits of the home before it calls the kernel count. */
START_TEST(state_known_before_an_early_start)
{
	struct plan *plan = begin(1);
	uint32_t first = plan_plain(plan, "first", 0);

	plan_state(plan, 3);
	plan_plain(plan, "knows", 1);
	plan_await(plan, first);
	plan_plain(plan, "later", 1);
	start_early(plan, SK_STEP_EARLY_WAIT | SK_STEP_EARLY_SET);
	plan_state(plan, 3);

	struct sk_plan_view view = plan_view(plan);

	expect_sound(&view);
}
END_TEST

/* ---- launches ---- */

static struct plan *two_launches(bool follow, uint32_t *t)
{
	struct plan *plan = create(1);
	uint32_t x = plan_tensor(plan, "x", SK_F32, 64, SK_ROLE_INOUT);
	uint32_t first;

	*t = plan_temporary(plan, "t", SK_F32, 64, 0);
	first = plan_launch(plan, "first", SK_LAUNCH_SINGLE);
	plan_plain(plan, "writer", 0);
	plan_access(plan, x, READ);
	plan_access(plan, *t, WRITE);
	plan_launch(plan, "middle", SK_LAUNCH_SINGLE);
	plan_plain(plan, "bystander", 0);
	plan_access(plan, x, READ);
	if (follow)
		plan_follow(plan, first);
	plan_launch(plan, "last", SK_LAUNCH_SINGLE);
	plan_plain(plan, "reader", 0);
	plan_access(plan, *t, READ);
	if (follow)
		plan_follow(plan, 1);
	return plan;
}

START_TEST(launches_that_follow)
{
	uint32_t t;
	struct sk_plan_view view = plan_view(two_launches(true, &t));

	expect_sound(&view);
	REJECTED(two_launches(false, &t),
		 "launches 'first' and 'last' are not ordered: task 'writer' writes 't' and task 'reader' reads 't', "
		 "both at bytes [0, 256) of the workspace",
		 "launch 'last' must follow launch 'first'");
}
END_TEST

/* The order of launches with several chains, one of them joined later. */
START_TEST(diamond_of_launches)
{
	struct plan *plan = create(1);
	uint32_t t[6], launches[6];
	static const char *const names[] = {"a", "b", "c", "d", "e", "f"};

	for (uint32_t i = 0; i < 6; i++)
		t[i] = plan_temporary(plan, names[i], SK_F32, 16, 64 * i);
	for (uint32_t i = 0; i < 6; i++) {
		launches[i] = plan_launch(plan, names[i], SK_LAUNCH_SINGLE);
		plan_plain(plan, names[i], i);
		plan_access(plan, t[i], WRITE);
		if (i == 1 || i == 2) {
			plan_follow(plan, launches[0]);
			plan_access(plan, t[0], READ);
		}
		if (i == 3) {
			plan_follow(plan, launches[1]);
			plan_follow(plan, launches[2]);
			plan_access(plan, t[0], READ);
			plan_access(plan, t[1], READ);
			plan_access(plan, t[2], READ);
		}
		if (i == 4) {
			plan_follow(plan, launches[3]);
			plan_access(plan, t[2], UPDATE); /* after c, through d */
		}
		if (i == 5) {
			plan_follow(plan, launches[2]);
			plan_access(plan, t[0], READ); /* after a, through c */
		}
	}
	struct sk_plan_view view = plan_view(plan);

	expect_sound(&view);
	plan_access(plan, t[1], READ); /* f does not follow b */
	REJECTED(plan, "launches 'b' and 'f' are not ordered");
}
END_TEST

/* Task entries are run alone: only the cores of their own step can conflict. */
START_TEST(task_entries)
{
	struct plan *plan = begin(1);
	uint32_t t = plan_temporary(plan, "t", SK_F32, 256, 0);
	uint32_t u = plan_temporary(plan, "u", SK_F32, 256, 1024);
	uint32_t split, plain;

	split = plan_split(plan, "split", 256, 64);
	plan_access(plan, t, WRITE);
	plain = plan_plain(plan, "plain", 0);
	plan_access(plan, t, READ);
	plan_access(plan, u, WRITE);
	plan_await(plan, split);
	plan_launch(plan, "sk_unfused_split", SK_LAUNCH_TASK);
	plan_entry_step(plan, split);
	plan_launch(plan, "sk_unfused_plain", SK_LAUNCH_TASK);
	plan_entry_step(plan, plain);

	struct sk_plan_view view = plan_view(plan);

	expect_sound(&view);

	/* The entry's own argument, undivided. */
	struct sk_plan_view copy = plan_copy(arena, &view);
	uint32_t entry = sk_plan_launch_calls(&copy, &copy.launches[1]).first->first_argument;

	((struct sk_plan_argument *)copy.arguments)[entry].element_bytes = 0;
	expect_rejected(&copy, (const char *const[]){"launch 'sk_unfused_split': the cores of task 'split'", NULL});
}
END_TEST

/* ---- the rest of the proof ---- */

START_TEST(unpublished_step)
{
	struct plan *plan = begin(1);
	uint32_t t = plan_temporary(plan, "t", SK_F32, 256, 0);
	uint32_t split;

	split = plan_split(plan, "split", 256, 64);
	plan_access(plan, t, WRITE);
	plan_plain(plan, "plain", 0);
	plan_access(plan, t, READ);
	plan_await(plan, split);

	struct sk_plan_view view = plan_view(plan);

	((struct sk_plan_step *)view.steps)[split].flags = 0;
	expect_rejected(&view, (const char *const[]){"task 'plain' awaits task 'split', which does not publish", NULL});
}
END_TEST

/* debug-sync-all: each await is needed, also where no data asks for it. */
START_TEST(everything_in_turn)
{
	struct plan *plan = begin(1);
	uint32_t x = plan_tensor(plan, "x", SK_F32, 256, SK_ROLE_INPUT);
	uint32_t steps[5];

	for (int i = 0; i < 5; i++) {
		static const char *const names[] = {"s0", "s1", "s2", "s3", "s4"};

		steps[i] = i < 3 ? plan_split(plan, names[i], 256, 64) : plan_plain(plan, names[i], 0);
		plan_access(plan, x, READ);
		if (i > 0 && i < 4) /* s3 and s4 have the same home */
			plan_await(plan, steps[i - 1]);
	}

	struct sk_plan_view view = plan_view(plan);

	expect_sound(&view);
	plan_form(&view.launches[0])->flags = SK_LAUNCH_SYNC_ALL;
	expect_sound(&view);
	ck_assert_uint_eq(view.await_count, 3);
	for (uint32_t i = 0; i < view.await_count; i++) {
		struct sk_plan_view without = plan_without_await(arena, &view, i);

		expect_rejected(&without, (const char *const[]){"p.sk: launch 'sp' has debug-sync-all, but task 's",
								"may begin before task", NULL});
	}
}
END_TEST

START_TEST(nothing_in_turn_starts_early)
{
	for (unsigned flag = SK_STEP_EARLY_WAIT; flag <= SK_STEP_EARLY_SET; flag *= 2) {
		struct plan *plan = begin(1);

		plan_plain(plan, "only", 0);
		start_early(plan, flag);

		struct sk_plan_view view = plan_view(plan);

		expect_sound(&view);
		plan_form(&view.launches[0])->flags |= SK_LAUNCH_SYNC_ALL;
		expect_rejected(&view, (const char *const[]){"p.sk: launch 'sp' has debug-sync-all, but task 'only' "
							     "starts early",
							     NULL});
		again();
	}
}
END_TEST

START_TEST(await_on_a_later_step)
{
	struct plan *plan = begin(1);
	uint32_t split = plan_split(plan, "split", 256, 64);

	plan_plain(plan, "plain", 0);
	plan_await(plan, split);

	struct sk_plan_view view = plan_view(plan);

	((struct sk_plan_await *)view.awaits)[0].step = 1;
	expect_rejected(&view, (const char *const[]){"not an earlier step of its launch", NULL});
}
END_TEST

START_TEST(order_of_the_network)
{
	struct plan *plan = begin(1);
	uint32_t t = plan_tensor(plan, "t", SK_F32, 256, SK_ROLE_INOUT);

	plan_plain(plan, "first", 0);
	plan_access(plan, t, WRITE);
	plan_plain(plan, "second", 0);
	plan_access(plan, t, READ);

	struct sk_plan_view view = plan_view(plan);

	expect_sound(&view);
	((struct sk_plan_call *)view.calls)[0].task = 1;
	((struct sk_plan_call *)view.calls)[1].task = 0;
	expect_rejected(&view, (const char *const[]){"task 'second' runs before task 'first', which is before it in "
						     "the network and shares 't' with it",
						     NULL});
	((struct sk_plan_call *)view.calls)[1].task = 1;
	expect_rejected(&view, (const char *const[]){"task 'first' runs 0 times instead of once",
						     "task 'second' runs 2 times", NULL});
}
END_TEST

/* ---- values that reads find ---- */

START_TEST(bytes_without_a_writer)
{
	struct plan *plan = begin(1);
	uint32_t t = plan_temporary(plan, "t", SK_F32, 256, 0);
	uint32_t y = plan_tensor(plan, "y", SK_F32, 256, SK_ROLE_OUTPUT);

	plan_plain(plan, "half", 0);
	plan_part(plan, t, WRITE, 0, 512, 0);
	plan_plain(plan, "reader", 0);
	plan_part(plan, t, READ, 256, 256, 0);
	plan_part(plan, y, WRITE, 0, 256, 0);

	plan_plain(plan, "update", 0);
	plan_part(plan, t, UPDATE, 0, 512, 0);
	plan_load(plan, y, 252);

	struct sk_plan_view view = plan_view(plan);
	struct sk_plan_argument *update = (struct sk_plan_argument *)&view.arguments[3], *load = update + 1;

	expect_sound(&view);
	update->offset = 256;
	expect_rejected(&view, (const char *const[]){"launch 'sp': task 'update' reads 't' (bytes [256, 768) of the "
						     "workspace), but no task before it has written all of that",
						     NULL});
	update->offset = 0;
	load->offset = 256;
	expect_rejected(&view, (const char *const[]){"task 'update' reads 'y' (bytes [256, 260) of binding 0), but no "
						     "task before it has written",
						     NULL});
}
END_TEST

/* In order, but the later temporary is written too early. Entries of single tasks find values that others have left. */
START_TEST(bytes_of_another_temporary)
{
	struct plan *plan = begin(1);
	uint32_t t = plan_temporary(plan, "t", SK_F32, 256, 0);
	uint32_t u = plan_temporary(plan, "u", SK_F32, 256, 512);

	plan_plain(plan, "first", 0);
	plan_access(plan, t, WRITE);
	plan_plain(plan, "second", 0);
	plan_access(plan, u, WRITE);
	uint32_t third = plan_plain(plan, "third", 0);

	plan_part(plan, t, READ, 0, 512, 0);
	plan_access(plan, u, READ);
	plan_launch(plan, "sk_unfused_third", SK_LAUNCH_TASK);
	plan_entry_step(plan, third);

	struct sk_plan_view view = plan_view(plan);

	expect_sound(&view);
	((struct sk_plan_argument *)view.arguments)[2].size = 516;
	expect_rejected(&view, (const char *const[]){"launch 'sp': task 'third' reads 't', but task 'second' has last "
						     "written 'u' there (bytes [512, 516) of the workspace)",
						     NULL});
}
END_TEST

/* Tasks that share a temporary run in the network's order, as with all other tensors. */
START_TEST(order_of_a_temporary)
{
	struct plan *plan = begin(1);
	uint32_t t = plan_temporary(plan, "t", SK_F32, 256, 0);

	plan_plain(plan, "first", 0);
	plan_access(plan, t, WRITE);
	plan_plain(plan, "second", 0);
	plan_access(plan, t, WRITE);

	struct sk_plan_view view = plan_view(plan);

	expect_sound(&view);
	((struct sk_plan_call *)view.calls)[0].task = 1;
	((struct sk_plan_call *)view.calls)[1].task = 0;
	expect_rejected(&view, (const char *const[]){"task 'second' runs before task 'first', which is before it in "
						     "the network and shares 't' with it",
						     NULL});
}
END_TEST

/* ---- orders that the network wants beside its data ---- */

/* Sound with the orders; without any one of its awaits they are not kept. */
static void expect_minimal_for(struct plan *plan, const struct sk_wanted_order *orders, size_t order_count,
			       uint32_t awaits)
{
	struct sk_plan_view view = plan_view(plan);
	bool sound = sk_verify(arena, &diag, &view, "p.sk", orders, order_count, NULL);

	ck_assert_msg(sound, "%s", messages());
	ck_assert_uint_eq(view.await_count, awaits);
	for (uint32_t i = 0; i < awaits; i++) {
		struct sk_plan_view without = plan_without_await(arena, &view, i);

		ck_assert(sk_verify(arena, &diag, &without, "p.sk", NULL, 0, NULL));
		ck_assert_msg(!sk_verify(arena, &diag, &without, "p.sk", orders, order_count, NULL), "await %u", i);
		ck_assert_ptr_nonnull(strstr(messages(), "nothing orders task"));
	}
}

static void expect_rejected_for(struct plan *plan, const struct sk_wanted_order *orders, size_t order_count,
				const char *const *parts)
{
	struct sk_plan_view view = plan_view(plan);

	ck_assert_msg(!sk_verify(arena, &diag, &view, "p.sk", orders, order_count, NULL), "accepted, expected: %s",
		      *parts);

	const char *text = messages();

	for (; *parts; parts++)
		ck_assert_msg(strstr(text, *parts), "'%s' is not in:\n%s", *parts, text);
}

enum { SPLIT, HOME_0, HOME_1, HOME_2 };

/* A step that touches nothing, of a task in the stream. */
static uint32_t add_to_stream(struct plan *plan, const char *name, uint32_t stream, int where)
{
	uint32_t step =
		where == SPLIT ? plan_split(plan, name, 256, 64) : plan_plain(plan, name, (uint32_t)(where - HOME_0));

	plan_stream(plan, stream);
	return step;
}

/* Stream 7 has run on all cores and on its home when it records; from its wait on, stream 9 runs on its home and on all
 * cores. Each comes after both: the home's await tells the other cores nothing. */
START_TEST(event_between_streams)
{
	struct plan *plan = begin(1);
	const struct sk_wanted_order order = {2, 4, "e"};
	uint32_t all, record, wait;

	add_to_stream(plan, "first", 7, HOME_0);
	all = add_to_stream(plan, "all", 7, SPLIT);
	record = add_to_stream(plan, "record", 7, HOME_0);
	add_to_stream(plan, "before", 9, HOME_2); /* before the wait */
	wait = add_to_stream(plan, "wait", 9, HOME_2);
	plan_await(plan, all);
	plan_await(plan, record);
	add_to_stream(plan, "behind", 9, HOME_2);
	add_to_stream(plan, "last", 9, SPLIT);
	plan_await(plan, wait);
	add_to_stream(plan, "other", 5, HOME_1); /* of another stream */
	expect_minimal_for(plan, &order, 1, 3);
}
END_TEST

/* The event is between the streams, so the error says so. */
START_TEST(event_without_its_stream)
{
	struct plan *plan = begin(1);
	const struct sk_wanted_order order = {1, 2, "e"};
	uint32_t record;

	add_to_stream(plan, "all", 7, SPLIT);
	record = add_to_stream(plan, "record", 7, HOME_0);
	add_to_stream(plan, "wait", 9, HOME_2);
	plan_await(plan, record);
	expect_rejected_for(plan, &order, 1,
			    (const char *const[]){"p.sk: nothing orders task 'all' and task 'wait', which comes after "
						  "it (event 'e')",
						  "all of stream 7 up to 'record' before all of stream 9 from 'wait' "
						  "on",
						  NULL});

	/* For `after` it would be enough. */
	struct sk_plan_view view = plan_view(plan);

	ck_assert(sk_verify(arena, &diag, &view, "p.sk", &(struct sk_wanted_order){1, 2, NULL}, 1, NULL));
}
END_TEST

/* Elision is about bytes: an order is between all cores of both. */
START_TEST(event_between_equal_units)
{
	struct plan *plan = begin(1);
	const struct sk_wanted_order order = {0, 2, "e"};
	uint32_t first;

	first = add_to_stream(plan, "first", 0, SPLIT);
	add_to_stream(plan, "second", 0, SPLIT); /* after the record */
	add_to_stream(plan, "third", 1, SPLIT);
	plan_await(plan, first);
	expect_minimal_for(plan, &order, 1, 1);
}
END_TEST

/* Tasks between two events of one stream are not ordered by the first one. */
START_TEST(two_events_of_a_stream)
{
	struct plan *plan = begin(1);
	const struct sk_wanted_order orders[] = {{0, 2, "early"}, {1, 3, "late"}};
	uint32_t early, late;

	early = add_to_stream(plan, "early", 0, SPLIT);
	late = add_to_stream(plan, "late", 0, SPLIT);
	add_to_stream(plan, "one", 1, HOME_1);
	plan_await(plan, early);
	add_to_stream(plan, "other", 1, HOME_1);
	plan_await(plan, late);
	expect_minimal_for(plan, orders, 2, 2);
}
END_TEST

/* Streams are in order between launches, so an event between two launches needs only their order. */
START_TEST(events_and_launches)
{
	for (int missing = -1; missing < 3; missing++) {
		struct plan *plan = create(1);
		const struct sk_wanted_order order = {1, 2, "e"};
		static const char *const parts[][3] = {
			{"launches 'l0' and 'l1' are not ordered: task 'first' and task 'record' are of one stream",
			 "launch 'l1' must follow launch 'l0'"},
			{"nothing orders task 'record' and task 'wait', which comes after it (event 'e')"},
			{"launches 'l2' and 'l3' are not ordered: task 'wait' and task 'behind' are of one stream"},
		};
		static const char *const names[] = {"first", "record", "wait", "behind"};
		static const char *const launches[] = {"l0", "l1", "l2", "l3"};

		for (int i = 0; i < 4; i++) {
			plan_launch(plan, launches[i], SK_LAUNCH_SINGLE);
			if (i > 0 && missing != i - 1)
				plan_follow(plan, (uint32_t)i - 1);
			add_to_stream(plan, names[i], i < 2 ? 0 : 1, HOME_0);
		}
		if (missing < 0)
			expect_minimal_for(plan, &order, 1, 0);
		else
			expect_rejected_for(plan, &order, 1, parts[missing]);
		again();
	}
}
END_TEST

/* A plan with two tasks of one stream, run in the order of the network or not, and one of another stream that waits for
 * them. True if it is proved; event: 0 is recorded by the first one, 1 by the second one, 2 there is none. */
static bool proves_stream(int where, uint32_t event, bool exchanged)
{
	struct plan *plan = begin(1);
	const struct sk_wanted_order order = {event, 2, "e"};
	uint32_t first = add_to_stream(plan, "first", 4, where), second = add_to_stream(plan, "second", 4, where);

	add_to_stream(plan, "other", 5, HOME_1);
	plan_await(plan, first);
	plan_await(plan, second);

	struct sk_plan_view view = plan_view(plan);

	((struct sk_plan_call *)view.calls)[0].task = exchanged;
	((struct sk_plan_call *)view.calls)[1].task = !exchanged;
	return sk_verify(arena, &diag, &view, "p.sk", &order, event < 2, NULL);
}

/* Within a launch a stream orders its tasks that are not divided, and all of them where an event is. */
START_TEST(streams_in_order)
{
	struct plan *plan;

	for (uint32_t event = 0; event < 3; event++)
		for (int where = SPLIT; where <= HOME_0; where++) {
			ck_assert_msg(proves_stream(where, event, false), "%s", messages());
			again();
			ck_assert_int_eq(proves_stream(where, event, true), where == SPLIT && event == 2);
			if (diag.errors)
				ck_assert_ptr_nonnull(strstr(messages(),
							     "task 'second' runs before task 'first', which is "
							     "before it in the network and in its stream"));
			again();
		}
	plan = begin(1);
	add_to_stream(plan, "first", 4, HOME_0);
	add_to_stream(plan, "second", 4, HOME_1);
	REJECTED(plan, "launch 'sp': task 'second' has another home in lane core than its stream's tasks before it");
}
END_TEST

/* Facts tell the awaits that an event needs for its streams, and nothing of tasks that know without one. */
START_TEST(facts_of_an_event)
{
	struct plan *plan = begin(1);
	const struct sk_wanted_order order = {1, 2, "e"};
	struct sk_facts facts = {0};
	uint32_t all, record;

	all = add_to_stream(plan, "all", 7, SPLIT);
	record = add_to_stream(plan, "record", 7, HOME_0);
	add_to_stream(plan, "wait", 9, HOME_2);
	plan_await(plan, all);
	plan_await(plan, record);
	add_to_stream(plan, "behind", 9, HOME_2);

	struct sk_plan_view view = plan_view(plan);

	ck_assert(sk_verify(arena, &diag, &view, "p.sk", &order, 1, &facts));
	ck_assert_uint_eq(facts.items.count, 2);
	for (uint32_t i = 0; i < 2; i++) {
		const struct sk_fact *fact = &facts.items.items[i];

		ck_assert_uint_eq(fact->earlier.step, i == 0 ? record : all);
		ck_assert_uint_eq(fact->later.step, 2);
		ck_assert_int_eq(fact->kind, SK_FACT_AWAIT);
		ck_assert_ptr_eq(fact->order, &order);
	}
}
END_TEST

/* ---- awaits of the cores with a block ---- */

/* Two chains side by side; a third step of the first chain knows of its first step through the second one. */
START_TEST(own_awaits_of_chains)
{
	struct plan *plan = begin(1);
	uint32_t x = plan_tensor(plan, "x", SK_F32, 64, SK_ROLE_INPUT), t[2], u[2], y[2], first[2], second[2];

	for (uint32_t i = 0; i < 2; i++) {
		t[i] = plan_temporary(plan, "t", SK_F32, 64, 512 * i);
		u[i] = plan_temporary(plan, "u", SK_F32, 64, 512 * i + 256);
		y[i] = plan_tensor(plan, i ? "z" : "y", SK_F32, 64, SK_ROLE_OUTPUT);
	}
	for (uint32_t i = 0; i < 2; i++) {
		first[i] = plan_blocks(plan, "first", 2);
		plan_access(plan, x, READ);
		plan_access(plan, t[i], WRITE);
		plan_own_awaits(plan, 2 * i);
	}
	for (uint32_t i = 0; i < 2; i++) {
		second[i] = plan_blocks(plan, "second", 2);
		plan_access(plan, t[i], READ);
		plan_access(plan, u[i], WRITE);
		plan_own_awaits(plan, 2 * i);
		plan_await(plan, first[i]);
	}
	for (uint32_t i = 0; i < 2; i++) {
		plan_blocks(plan, "third", 2 - i);
		plan_access(plan, t[i], READ);
		plan_access(plan, u[i], READ);
		plan_access(plan, y[i], WRITE);
		plan_own_awaits(plan, 2 * i);
		plan_await(plan, second[i]);
	}
	expect_minimal(plan, 4);
}
END_TEST

/* A producer, a step in blocks that awaits it, and a step that rests on this await. */
static void add_resting(struct plan *plan, bool own, uint32_t first_core, uint32_t blocks)
{
	uint32_t x = plan_tensor(plan, "x", SK_F32, 64, SK_ROLE_INPUT), t, u, y, made;

	t = plan_temporary(plan, "t", SK_F32, 64, 0);
	u = plan_temporary(plan, "u", SK_F32, 64, 256);
	y = plan_tensor(plan, "y", SK_F32, 64, SK_ROLE_OUTPUT);
	made = plan_split(plan, "made", 64, 16);
	plan_access(plan, x, READ);
	plan_access(plan, t, WRITE);
	plan_blocks(plan, "used", 3);
	plan_access(plan, t, READ);
	plan_access(plan, u, WRITE);
	if (own)
		plan_own_awaits(plan, 1);
	plan_await(plan, made);
	if (blocks)
		plan_blocks(plan, "rests", blocks);
	else
		plan_plain(plan, "rests", 0);
	plan_access(plan, t, READ);
	plan_access(plan, y, WRITE);
	if (blocks)
		plan_own_awaits(plan, first_core);
}

/* The awaits of cores 1 to 3 tell nothing to others: neither to a home, nor to a step with a block on core 0 or 4. */
START_TEST(own_awaits_are_not_others)
{
	static const struct {
		uint32_t first_core, blocks;
		bool sound;
	} cases[] = {{1, 3, true},  {2, 2, true},  {3, 1, true}, {0, 2, false},
		     {2, 3, false}, {0, 5, false}, {0, 0, false}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		for (int own = 0; own < 2; own++) {
			struct plan *plan = begin(1);
			struct sk_plan_view view;

			add_resting(plan, own, cases[i].first_core, cases[i].blocks);
			view = plan_view(plan);
			if (!own || cases[i].sound) {
				expect_sound(&view);
			} else {
				ck_assert(races_exist_up_to(&view, 6));
				expect_rejected(&view, (const char *const[]){"nothing orders task 'made'",
									     "task 'rests'", NULL});
			}
			again();
		}
	}
}
END_TEST

/* Who awaits a step knows what the cores with its blocks had awaited before they published it. */
START_TEST(own_awaits_are_told)
{
	struct plan *plan = begin(2);
	uint32_t x = plan_tensor(plan, "x", SK_F32, 64, SK_ROLE_INPUT), t, u, y, made, used;

	t = plan_temporary(plan, "t", SK_F32, 64, 0);
	u = plan_temporary(plan, "u", SK_F32, 64, 256);
	y = plan_tensor(plan, "y", SK_F32, 64, SK_ROLE_OUTPUT);
	made = plan_split(plan, "made", 64, 16);
	plan_access(plan, x, READ);
	plan_access(plan, t, WRITE);
	plan_lane(plan, 1);
	used = plan_blocks(plan, "used", 3);
	plan_access(plan, t, READ);
	plan_access(plan, u, WRITE);
	plan_own_awaits(plan, 1);
	plan_await(plan, made);
	plan_plain(plan, "told", 0);
	plan_access(plan, t, READ);
	plan_access(plan, u, READ);
	plan_access(plan, y, WRITE);
	plan_await(plan, used);
	expect_minimal(plan, 2);
}
END_TEST

/* ---- random plans against the brute-force search ---- */

struct random_plan {
	bool waits; /* the current step, by itself */
	uint64_t state;
	struct plan *plan;
	uint32_t tensors[8]; /* all of 16 bytes or more, in few places, so that they overlap */
	uint32_t steps[16];
	bool owns; /* steps in blocks leave awaits to the cores with a block */
};

static uint32_t below(struct random_plan *random, uint32_t limit)
{
	random->state = random->state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(random->state >> 33) % limit;
}

static void random_tensors(struct random_plan *random, bool apart)
{
	struct plan *plan = random->plan;

	random->tensors[0] = plan_tensor(plan, "x", SK_U8, 48, SK_ROLE_INOUT);
	random->tensors[1] = plan_tensor(plan, "y", SK_U8, 48, SK_ROLE_INOUT);
	for (int i = 2; i < 8; i++)
		random->tensors[i] =
			plan_temporary(plan, "t", SK_U8, 48, apart ? 48 * (uint32_t)(i - 2) : 8 * below(random, 24));
}

/* Some plans begin with a step that writes nearly all: otherwise hardly any read would find the right bytes. */
static void random_filling(struct random_plan *random)
{
	plan_launch(random->plan, "fill", SK_LAUNCH_SUPERKERNEL);
	plan_lane(random->plan, 0);
	plan_plain(random->plan, "fill", 0);
	for (int i = 0; i < 8; i++)
		if (below(random, 16))
			plan_access(random->plan, random->tensors[i], WRITE);
}

/* An argument that fits the step: whole, a part, divided or not. */
static void random_argument(struct random_plan *random, uint64_t extent)
{
	uint32_t tensor = random->tensors[below(random, 8)];
	unsigned access = below(random, 8) < 5 ? READ : below(random, 2) ? WRITE : UPDATE;
	uint64_t divided = extent && (below(random, 16) || access != READ);

	if (below(random, 12) == 0 && !random->waits) {
		plan_load(random->plan, tensor, below(random, 48));
		return;
	}

	/* Drawn one by one, so that every compiler makes the same plans. */
	uint64_t more = below(random, 2), place = below(random, divided ? 8 : 2);

	if (divided)
		plan_part(random->plan, tensor, access, place ? 0 : 8, extent * (1 + more), 1 + more);
	else
		plan_part(random->plan, tensor, access, 16 * place, 16 + 16 * more, 0);
}

/* Any kernel but a split one may start early. */
static void random_start(struct random_plan *random)
{
	unsigned flags = below(random, 2) ? below(random, 4) * SK_STEP_EARLY_WAIT : 0;

	random->waits = flags & SK_STEP_EARLY_WAIT;
	if (flags)
		start_early(random->plan, flags);
}

static uint32_t random_plain(struct random_plan *random)
{
	uint32_t step = plan_plain(random->plan, "plain", below(random, 3));

	if (below(random, 2))
		plan_state(random->plan, below(random, 2));
	return step;
}

static uint32_t random_step(struct random_plan *random, uint64_t *extent)
{
	static const uint64_t extents[] = {8, 8, 12, 20};
	static const uint64_t units[] = {2, 2, 4, 5};
	uint32_t step;

	*extent = extents[below(random, 4)];
	switch (random->owns && below(random, 4) ? 3 + below(random, 2) : below(random, 8)) {
	case 0:
	case 1:
	case 2:
		*extent = 0;
		return random_plain(random);
	case 3:
		*extent = 0;
		step = plan_blocks(random->plan, "blocks", 2 + below(random, 3));
		break;
	case 4:
		step = plan_blocks_range(random->plan, "range", *extent, 3 + below(random, 3));
		break;
	default:
		return plan_split_by_blocks(random->plan, "split",
					    (struct sk_plan_partition){.extent = *extent,
								       .unit = units[below(random, 4)],
								       .first_core = below(random, 8) ? 0 : 7});
	}
	if (random->owns && below(random, 3))
		plan_own_awaits(random->plan, below(random, 4));
	return step;
}

static void random_call(struct random_plan *random, uint64_t extent)
{
	for (uint32_t i = 0, arguments = 1 + below(random, 2); i < arguments; i++)
		random_argument(random, extent);
}

/* most: calls of a step; 0: one, and steps in blocks leave awaits to the cores with a block. */
static struct sk_plan_view random_view(uint64_t seed, uint32_t lanes, uint32_t most)
{
	struct random_plan random = {
		.state = seed * 0x9e3779b97f4a7c15u + lanes, .plan = create(lanes), .owns = most == 0};
	uint32_t launches = 1 + below(&random, 4), count = 0;
	uint32_t density = 1 + below(&random, 4);
	bool filled = below(&random, 3) == 0;
	bool rests = random.owns && below(&random, 2); /* a launch's last step rests on the awaits of all others */

	random_tensors(&random, filled);
	if (filled)
		random_filling(&random);
	for (uint32_t launch = 0; launch < launches; launch++) {
		uint32_t first = count, end = count + 1 + below(&random, launches > 1 ? 3 : 6);

		plan_launch(random.plan, "sp", SK_LAUNCH_SUPERKERNEL);
		for (uint32_t i = 0; i < launch; i++)
			if (below(&random, 3))
				plan_follow(random.plan, i + filled);
		if (filled)
			plan_follow(random.plan, 0);
		for (; count < end; count++) {
			uint64_t extent;

			plan_lane(random.plan, below(&random, lanes));
			random.steps[count] = random_step(&random, &extent);
			random.waits = false;
			if (plan_step_kind(random.plan) != SK_STEP_SPLIT && most == 1)
				random_start(&random);
			random_call(&random, extent);
			for (uint32_t calls = 1; calls < most && below(&random, 2); calls++) {
				plan_call(random.plan, "more");
				random_call(&random, extent);
			}
			for (uint32_t i = first; i < count; i++)
				if (rests ? count + 1 < end : below(&random, 4) < density)
					plan_await(random.plan, random.steps[i]);
		}
	}

	return plan_view(random.plan);
}

/* The verdict is exact on these plans, not only safe. Divided steps have at least two units, and the search goes to
 * more cores than there are homes, and then to more than a step has units, so every missing order is a race for some
 * number of cores. (Up to as many cores as units, the first unit is the first home's.) There would be one exception:
 * two arguments in two units each can meet in one place although they begin in two. Then there may be no race, and the
 * verifier still refuses, since it wants one base of both; no linked plan has such pairs without an order. Here they do
 * not occur: elements have one or two bytes, and bases are multiples of eight. The other verdict, on the values that
 * reads find, is also exact: steps are checked in the plan's order, even if nothing keeps it. */
static void compare_with_search(uint32_t lanes, uint32_t most, uint64_t plans, uint32_t cores)
{
	static const uint32_t more_than_units[] = {11, 11};
	uint64_t sound = 0, straight = 0;

	for (uint64_t seed = 0; seed < plans; seed++) {
		struct sk_plan_view view = random_view(seed, lanes, most);
		bool accepted = sk_verify(arena, &diag, &view, "random", NULL, 0, NULL);
		bool races = races_exist_up_to(&view, cores) || races_exist(&view, more_than_units);
		bool astray = reads_astray(&view);
		const char *text = messages();

		ck_assert_msg(says_more(text) == races, "seed %llu, %u lanes: there are %s\n%s",
			      (unsigned long long)seed, lanes, races ? "races" : "none", text);
		ck_assert_msg(says_astray(text) == astray, "seed %llu, %u lanes: reads %s what they should\n%s",
			      (unsigned long long)seed, lanes, astray ? "do not find" : "find", text);
		ck_assert(accepted != (races || astray));
		sound += !races;
		straight += !astray;
		again();
	}
	/* No verdict is rare. */
	ck_assert_uint_gt(sound, plans / 10);
	ck_assert_uint_lt(sound, plans - plans / 10);
	ck_assert_uint_gt(straight, plans / 10);
	ck_assert_uint_lt(straight, plans - plans / 10);
}

/* Here the verdict is safe, and exact but for steps of which the cores know an order in several ways. */
static void compare_own_awaits(uint32_t lanes, uint64_t plans, uint32_t cores)
{
	static const uint32_t more_than_blocks[] = {11, 11};
	uint64_t sound = 0, missed = 0;

	for (uint64_t seed = 0; seed < plans; seed++) {
		struct sk_plan_view view = random_view(seed, lanes, 0);
		bool races, refused;

		sk_verify(arena, &diag, &view, "random", NULL, 0, NULL);
		races = races_exist_up_to(&view, cores) || races_exist(&view, more_than_blocks);
		refused = says_more(messages());
		ck_assert_msg(refused || !races, "seed %llu, %u lanes: there are races", (unsigned long long)seed,
			      lanes);
		sound += !races;
		missed += refused && !races;
		again();
	}
	ck_assert_uint_gt(sound, plans / 10);
	ck_assert_uint_lt(sound, plans - plans / 10);
	ck_assert_uint_lt(missed, sound / 50);
}

START_TEST(random_plans_with_own_awaits)
{
	compare_own_awaits(1, 6000, 6);
	compare_own_awaits(2, 1000, 5);
}
END_TEST

START_TEST(random_plans_on_one_lane)
{
	compare_with_search(1, 1, 8000, 6);
}
END_TEST

START_TEST(random_plans_on_two_lanes)
{
	compare_with_search(2, 1, 1000, 5);
}
END_TEST

START_TEST(random_plans_of_several_calls)
{
	compare_with_search(1, 3, 4000, 6);
	compare_with_search(2, 3, 1000, 5);
}
END_TEST

/* Time is near-linear: quadratic would take minutes. Reads of everything between writes of small parts. */
START_TEST(many_steps)
{
	struct plan *plan = begin(1);
	uint32_t t = plan_tensor(plan, "t", SK_F32, 1 << 20, SK_ROLE_INOUT);
	uint32_t last = 0;

	for (uint32_t i = 0; i < 100000; i++) {
		uint32_t step = plan_plain(plan, "task", i % 4);

		plan_part(plan, t, i % 16 ? READ : WRITE, i % 1024 * 4096, 4096, 0);
		if (i)
			plan_await(plan, last);
		last = step;
	}
	struct sk_plan_view view = plan_view(plan);

	ck_assert(sk_verify(arena, &diag, &view, "many", NULL, 0, NULL));
}
END_TEST

static int compare_pairs(const void *a, const void *b)
{
	const uint32_t *left = a, *right = b;

	return (left[0] > right[0]) - (left[0] < right[0]);
}

static void expect_no_conflict(void *context, uint32_t earlier)
{
	ck_abort_msg("access %u conflicts with another one (%p)", earlier, context);
}

/* Accesses in the order that would make a list of the tree of a history, if its priorities were those of a generator
 * that begins where this one does. */
START_TEST(order_of_the_priorities)
{
	enum { ACCESSES = 200000 };
	uint32_t(*pairs)[2] = (uint32_t(*)[2])SK_NEW_ARRAY(arena, uint32_t, 2 * ACCESSES);
	uint64_t *places = SK_NEW_ARRAY(arena, uint64_t, ACCESSES);
	uint32_t random = 2463534242u;
	struct sk_history_pool pool;
	struct sk_history history;

	for (uint32_t i = 0; i < ACCESSES; i++) {
		random ^= random << 13;
		random ^= random >> 17;
		random ^= random << 5;
		pairs[i][0] = random;
		pairs[i][1] = i;
	}
	qsort(pairs, ACCESSES, sizeof(*pairs), compare_pairs);
	for (uint32_t i = 0; i < ACCESSES; i++)
		places[pairs[i][1]] = 2 * (uint64_t)i;
	sk_history_pool_init(&pool, arena, UINT64_MAX);
	sk_history_init(&history, &pool);
	for (uint32_t i = 0; i < ACCESSES; i++)
		sk_history_access(&history, &(struct sk_rows){places[i], 1, 0, 1}, i, SK_ACCESS_WRITE,
				  expect_no_conflict, NULL);
}
END_TEST

/* Parts of a tensor, and readers of all of them: their product is refused before it takes all memory. */
START_TEST(many_shared_parts)
{
	enum { PARTS = 5000, READERS = 10000 };
	struct plan *plan = begin(1);
	uint32_t t = plan_temporary(plan, "t", SK_F32, PARTS, 0);

	for (uint32_t i = 0; i < PARTS + READERS; i++) {
		plan_plain(plan, "task", 0);
		plan_part(plan, t, i < PARTS ? WRITE : READ, i < PARTS ? 4 * (uint64_t)i : 0, i < PARTS ? 4 : 4 * PARTS,
			  0);
	}
	REJECTED(plan, "the plan has too many accesses to common bytes to be proved");
}
END_TEST

/* The same for events: each stream waits for the one before it, and the last one for all. */
START_TEST(many_streams)
{
	enum { STREAMS = 30000, HOMES = 128 };
	struct plan *plan = begin(1);
	struct sk_wanted_order *orders = SK_NEW_ARRAY(arena, struct sk_wanted_order, 2 * STREAMS);
	uint32_t last = 0, count = 0;

	for (uint32_t i = 0; i < STREAMS; i++) {
		uint32_t step = plan_plain(plan, "task", i % HOMES);

		plan_stream(plan, i);
		if (i) {
			plan_await(plan, last);
			orders[count++] = (struct sk_wanted_order){i - 1, i, "e"};
		}
		last = step;
	}
	for (uint32_t i = 0; i < STREAMS; i++) {
		plan_plain(plan, "task", (STREAMS - 1) % HOMES);
		plan_stream(plan, STREAMS - 1);
		orders[count++] = (struct sk_wanted_order){i, STREAMS + i, "e"};
	}

	struct sk_plan_view view = plan_view(plan);

	ck_assert_msg(sk_verify(arena, &diag, &view, "many", orders, count, NULL), "%s", messages());
}
END_TEST

/* ---- launches that run once ---- */

/* With several bad launches the first one is named, on any number of threads. */
START_TEST(launches_checked_in_threads)
{
	enum { LAUNCHES = 5000, FIRST_BAD = 1100 };
	struct plan *plan = create(1);
	uint32_t t = plan_tensor(plan, "t", SK_F32, 16, SK_ROLE_INPUT);

	for (uint32_t i = 0; i < LAUNCHES; i++) {
		plan_launch(plan, "launch", SK_LAUNCH_SINGLE);
		plan_plain(plan, "task", 0);
		plan_access(plan, t, READ);
	}

	struct sk_plan_view view = plan_view(plan);
	struct sk_plan_step *steps = (struct sk_plan_step *)view.steps;

	ck_assert(sk_plan_check_in_threads(&diag, &view, "p.sk", 4));
	for (uint32_t i = FIRST_BAD; i < LAUNCHES; i += 700)
		steps[i].lane = 9;
	for (unsigned threads = 1; threads < 5; threads++) {
		sk_diag_init(&diag, arena);
		ck_assert(!sk_plan_check_in_threads(&diag, &view, "p.sk", threads));
		ck_assert_str_eq(messages(),
				 "test: error: p.sk: plan: launch 1100: step 0: lane 9 is out of range (1 lanes)\n");
	}
}
END_TEST

enum once_fault {
	ONCE_SOUND,
	ONCE_READS_INPUT,
	ONCE_LOADS_INPUT,
	ONCE_READS_OTHER,
	ONCE_WRITES_OUTPUT,
	ONCE_UPDATES,
	ONCE_HAS_STATE,
	ONCE_FOLLOWS,
	ONCE_SHARES,
	ONCE_SHARES_UNSHARED,
	ONCE_IS_SUPERKERNEL,
	ONCE_WRITTEN_AGAIN,
	ONCE_ENTRY,
	ONCE_FAULTS,
};

/* W runs every time; P packs constants once, Q uses that; M multiplies, in two launches. M's temporaries also have
 * bytes of their own: p at 0, q at 1024, t at 2048, u at 3072. */
static struct plan *make_once(enum once_fault fault)
{
	struct plan *plan = create(1);
	uint32_t x = plan_tensor(plan, "x", SK_F32, 256, SK_ROLE_INPUT);
	uint32_t y = plan_tensor(plan, "y", SK_F32, 256, SK_ROLE_OUTPUT);
	uint32_t c = plan_tensor(plan, "c", SK_F32, 256, SK_ROLE_CONSTANT);
	uint32_t p = plan_temporary(plan, "p", SK_F32, 256, 0);
	uint32_t q = plan_temporary(plan, "q", SK_F32, 256, 1024);
	uint32_t t = plan_temporary(plan, "t", SK_F32, 256, 2048);
	uint32_t u = plan_temporary(plan, "u", SK_F32, 256, fault == ONCE_SHARES ? 1024 + 960 : 3072);
	uint32_t first, step_p, step_m;

	first = plan_launch(plan, "W", SK_LAUNCH_SINGLE);
	plan_split(plan, "W", 256, 64);
	plan_access(plan, x, READ);
	plan_access(plan, t, WRITE);

	plan_launch(plan, "P", fault == ONCE_IS_SUPERKERNEL ? SK_LAUNCH_SUPERKERNEL : SK_LAUNCH_SINGLE);
	plan_once(plan);
	if (fault == ONCE_FOLLOWS || fault == ONCE_READS_OTHER)
		plan_follow(plan, first);
	step_p = plan_split(plan, "P", 256, 64);
	plan_access(plan, fault == ONCE_READS_INPUT ? x : fault == ONCE_READS_OTHER ? t : c, READ);
	if (fault == ONCE_LOADS_INPUT)
		plan_load(plan, x, 0);
	if (fault == ONCE_HAS_STATE)
		plan_state(plan, 0);
	plan_access(plan, p, WRITE);
	if (fault == ONCE_WRITES_OUTPUT)
		plan_access(plan, y, WRITE);

	uint32_t pack = plan_launch(plan, "Q", SK_LAUNCH_SINGLE);
	plan_once(plan);
	plan_follow(plan, 1);
	plan_split(plan, "Q", 256, 64);
	plan_access(plan, p, fault == ONCE_UPDATES ? UPDATE : READ);
	plan_access(plan, q, WRITE);

	uint32_t product = plan_launch(plan, "M", SK_LAUNCH_SINGLE);
	plan_follow(plan, first);
	plan_follow(plan, pack);
	step_m = plan_split(plan, "M", 256, 64);
	plan_access(plan, t, READ);
	plan_access(plan, q, READ);
	plan_access(plan, u, WRITE);
	if (fault == ONCE_WRITTEN_AGAIN)
		plan_access(plan, p, WRITE);

	plan_launch(plan, "N", SK_LAUNCH_SINGLE);
	plan_follow(plan, product);
	plan_split(plan, "N", 256, 64);
	plan_access(plan, u, READ);
	plan_access(plan, y, WRITE);

	plan_launch(plan, "unfused_P", SK_LAUNCH_TASK);
	plan_once(plan);
	plan_entry_step(plan, step_p);
	if (fault == ONCE_SHARES_UNSHARED)
		return plan;
	plan_launch(plan, "unfused_M", SK_LAUNCH_TASK);
	if (fault == ONCE_ENTRY)
		plan_once(plan);
	plan_entry_step(plan, step_m);
	return plan;
}

START_TEST(results_of_launches_that_run_once)
{
	static const char *const texts[ONCE_FAULTS] = {
		[ONCE_READS_INPUT] = "launch 'P' runs once, but reads 'x', which is neither a constant nor the result",
		[ONCE_LOADS_INPUT] = "launch 'P' runs once, but reads 'x', which is neither a constant nor the result",
		[ONCE_READS_OTHER] = "launch 'P' runs once, but reads 't', which is neither a constant nor the result",
		[ONCE_WRITES_OUTPUT] = "launch 'P' runs once, but writes 'y', which is not a temporary",
		[ONCE_UPDATES] = "launch 'Q' runs once, but reads and writes 'p'",
		[ONCE_HAS_STATE] = "launch 'P' runs once, but its kernel has hidden state",
		[ONCE_FOLLOWS] = "launch 'P' runs once, but follows a launch that runs every time",
		[ONCE_SHARES] = "temporary 'q' is written by a launch that runs once, but shares bytes of the "
				"workspace with 'u'",
		[ONCE_SHARES_UNSHARED] = "temporary 'q' is written by a launch that runs once, but shares bytes of the "
					 "workspace with 'u'",
		[ONCE_IS_SUPERKERNEL] = "launch 'P' runs once, but is a superkernel",
		[ONCE_WRITTEN_AGAIN] =
			"launch 'M' runs every time, but writes 'p', which a launch that runs once writes",
		[ONCE_ENTRY] = "entry 'unfused_M' and launch 'M' of one task: one of them runs once",
	};

	for (int fault = ONCE_SOUND; fault < ONCE_FAULTS; fault++) {
		struct sk_plan_view view = plan_view(make_once((enum once_fault)fault));

		if (fault == ONCE_SHARES_UNSHARED)
			((struct sk_plan_tensor *)view.tensors)[6].unshared_offset = view.tensors[4].unshared_offset;
		if (fault == ONCE_SOUND)
			expect_sound(&view);
		else
			expect_rejected(&view, (const char *const[]){texts[fault], NULL});
		again();
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("verify");
	TCase *tcase = tcase_create("verify");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, elementwise_chain);
	tcase_add_test(tcase, split_blocks_blocks_split);
	tcase_add_test(tcase, own_awaits_of_chains);
	tcase_add_test(tcase, own_awaits_are_not_others);
	tcase_add_test(tcase, own_awaits_are_told);
	tcase_add_test(tcase, plain_streams);
	tcase_add_test(tcase, knowledge_of_a_home_through_all);
	tcase_add_test(tcase, knowledge_of_all_through_a_home);
	tcase_add_test(tcase, home_does_not_speak_for_all);
	tcase_add_test(tcase, all_does_not_know_what_a_home_knows);
	tcase_add_test(tcase, write_after_many_reads);
	tcase_add_test(tcase, partial_writes);
	tcase_add_test(tcase, workspace_shared_by_two_types);
	tcase_add_test(tcase, rows_and_elements_without_common_unit);
	tcase_add_test(tcase, plain_between_splits);
	tcase_add_test(tcase, same_units_from_another_base);
	tcase_add_test(tcase, same_units_on_other_cores);
	tcase_add_test(tcase, irregular_blocks);
	tcase_add_test(tcase, blocks_and_split);
	tcase_add_test(tcase, undivided_write);
	tcase_add_test(tcase, write_behind_the_extent);
	tcase_add_test(tcase, arguments_of_one_call);
	tcase_add_test(tcase, shared_read_of_a_divided_write);
	tcase_add_test(tcase, blocks_answer_for_themselves);
	tcase_add_test(tcase, results_and_states);
	tcase_add_test(tcase, states_and_early_starts);
	tcase_add_test(tcase, state_known_before_an_early_start);
	tcase_add_test(tcase, launches_that_follow);
	tcase_add_test(tcase, diamond_of_launches);
	tcase_add_test(tcase, task_entries);
	tcase_add_test(tcase, unpublished_step);
	tcase_add_test(tcase, await_on_a_later_step);
	tcase_add_test(tcase, everything_in_turn);
	tcase_add_test(tcase, nothing_in_turn_starts_early);
	tcase_add_test(tcase, order_of_the_network);
	tcase_add_test(tcase, bytes_without_a_writer);
	tcase_add_test(tcase, bytes_of_another_temporary);
	tcase_add_test(tcase, order_of_a_temporary);
	tcase_add_test(tcase, random_plans_on_one_lane);
	tcase_add_test(tcase, random_plans_with_own_awaits);
	tcase_add_test(tcase, random_plans_on_two_lanes);
	tcase_add_test(tcase, random_plans_of_several_calls);
	tcase_add_test(tcase, event_between_streams);
	tcase_add_test(tcase, event_without_its_stream);
	tcase_add_test(tcase, event_between_equal_units);
	tcase_add_test(tcase, two_events_of_a_stream);
	tcase_add_test(tcase, events_and_launches);
	tcase_add_test(tcase, streams_in_order);
	tcase_add_test(tcase, facts_of_an_event);
	tcase_add_test(tcase, many_steps);
	tcase_add_test(tcase, order_of_the_priorities);
	tcase_add_test(tcase, many_shared_parts);
	tcase_add_test(tcase, many_streams);
	tcase_add_test(tcase, launches_checked_in_threads);
	tcase_add_test(tcase, results_of_launches_that_run_once);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
