/* Tests of src/planning/fusion.c, src/planning/segments.c, src/planning/dependency.c and src/planning/order.c: launches
 * by hand, then random models against the definition: the dependencies, pair by pair. */
#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "format/skplan.h"
#include "src/planning/planning.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/model/model.h"
#include "src/planning/planning-parts.h"
#include "tests/lib/model-builder.h"
#include "tests/lib/random.h"
#include "tests/lib/suite.h"

enum { RANDOM_MODELS = 500 };

static struct test_model *test;
static struct sk_fusion *fusion;

static void set_up(void)
{
	test = test_model_create(1);
	for (char name[] = "a"; name[0] <= 'j'; name[0]++)
		add_tensor(test, name, SK_F32, 64, 64);
}

static void tear_down(void)
{
	test_model_destroy(test);
}

static void plan(void)
{
	test_model_finish(test);
	fusion = sk_fusion_build(&test->model);
	ck_assert_ptr_nonnull(fusion);
}

/* The launches in order, each with its tasks: "sk_s_start_k1_end_k3(k1,k3) sk_task_u(u)". */
static const char *launches(void)
{
	static char text[1024];
	size_t used = 0;

	for (uint32_t l = 0; l < fusion->launch_count; l++) {
		const struct sk_launch *launch = &fusion->launches[l];

		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", l ? " " : "", launch->name);
		for (uint32_t i = 0; i < launch->task_count; i++)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i ? "," : "(",
						 test->model.tasks.items[launch->tasks[i]].name);
		used += (size_t)snprintf(text + used, sizeof(text) - used, ")");
	}
	return text;
}

/* Follows by launch: "1<0 2<0,1". */
static const char *follows(void)
{
	static char text[1024];
	size_t used = 0;

	text[0] = '\0';
	for (uint32_t l = 0; l < fusion->launch_count; l++)
		for (uint32_t i = 0; i < fusion->launches[l].follow_count; i++)
			used += (size_t)snprintf(text + used, sizeof(text) - used,
						 i	? ",%u"
						 : used ? " %u<%u"
							: "%u<%u",
						 i ? fusion->launches[l].follows[i] : l,
						 fusion->launches[l].follows[i]);
	return text;
}

static const char *code_of(uint32_t task)
{
	return sk_reason_code(fusion->tasks[task].reason);
}

/* The messages so far. */
static const char *said(void)
{
	static char text[4096];
	FILE *stream = fmemopen(text, sizeof(text), "w");

	text[0] = '\0';
	sk_diag_flush(&test->diag, "test", 0, stream);
	fclose(stream);
	return text;
}

/* Planning fails with exactly these messages. */
static void expect_errors(const char *expected)
{
	test_model_finish(test);
	ck_assert_ptr_null(sk_fusion_build(&test->model));
	ck_assert_str_eq(said(), expected);
}

/* ---- scopes ---- */

START_TEST(test_one_scope)
{
	add_task(test, "k1", PLAIN, 0, "s", in("a"), out("b"));
	add_task(test, "k2", PLAIN, 1, "s", in("b"), out("c"));
	plan();
	ck_assert_str_eq(launches(), "sk_s(k1,k2)");
	ck_assert_str_eq(follows(), "");
	ck_assert_int_eq(fusion->launches[0].kind, SK_LAUNCH_SUPERKERNEL);
	ck_assert_str_eq(fusion->launches[0].scope, "s");
	ck_assert_str_eq(code_of(0), "CAN_FUSE");
	ck_assert_str_eq(sk_reason_text(test->model.arena, &test->model, fusion, 1), "fused into sk_s");
	ck_assert_uint_eq(fusion->tasks[1].step, 1);
}
END_TEST

START_TEST(test_no_scope)
{
	add_task(test, "k1", PLAIN, 7, NULL, in("a"), out("b"));
	uint32_t excluded = add_task(test, "k2", PLAIN, 0, "s", in("a"), out("c"));

	never_fuse(test, excluded);
	plan();
	ck_assert_str_eq(launches(), "sk_task_k1(k1) sk_task_k2(k2)");
	ck_assert_int_eq(fusion->launches[0].kind, SK_LAUNCH_SINGLE);
	ck_assert_ptr_null(fusion->launches[0].scope);
	ck_assert_uint_eq(fusion->launches[0].stream, 7);
	ck_assert_str_eq(code_of(0), "NOT_IN_SCOPE");
	ck_assert_str_eq(sk_reason_text(test->model.arena, &test->model, fusion, 0), "is outside every scope");
	ck_assert_str_eq(code_of(1), "IN_UNFUSIBLE_SCOPE");
	ck_assert_str_eq(sk_reason_text(test->model.arena, &test->model, fusion, 1), "excluded by scope: null");
}
END_TEST

START_TEST(test_tag_sets)
{
	add_task(test, "k1", PLAIN, 0, "a b", in("a"), out("b"));
	add_task(test, "k2", PLAIN, 1, "a", in("a"), out("c"));
	add_task(test, "k3", PLAIN, 2, "b a", in("a"), out("d"));
	add_task(test, "k4", PLAIN, 3, "a", in("a"), out("e"));
	plan();
	ck_assert_str_eq(launches(), "sk_a_b(k1,k3) sk_a(k2,k4)");
	ck_assert_str_eq(fusion->launches[0].scope, "a,b");
	ck_assert_str_eq(fusion->tasks[2].scope, "a,b");
}
END_TEST

/* ---- ends of segments ---- */

START_TEST(test_unfusible_in_the_middle)
{
	add_task(test, "k1", PLAIN, 0, "s", in("a"), out("b"));
	add_task(test, "u", UNFUSIBLE, 0, "s", in("b"), out("c"));
	add_task(test, "k2", PLAIN, 0, "s", in("c"), out("d"));
	plan();
	ck_assert_str_eq(launches(), "sk_s_start_k1_end_k1(k1) sk_task_u(u) sk_s_start_k2_end_k2(k2)");
	ck_assert_str_eq(follows(), "1<0 2<1");
	ck_assert_str_eq(code_of(0), "CAN_FUSE");
	ck_assert_str_eq(code_of(1), "OP_UNSUPPORT");
	ck_assert_str_eq(fusion->tasks[1].scope, "s");
	ck_assert_str_eq(sk_reason_text(test->model.arena, &test->model, fusion, 1),
			 "kernel 'plain_unfusible_0' is marked unfusible");
	ck_assert_str_eq(code_of(2), "SCOPE_FUSE_PART");
	ck_assert_uint_eq(fusion->tasks[2].cause, 1);
	ck_assert_str_eq(
		sk_reason_text(test->model.arena, &test->model, fusion, 2),
		"fused into sk_s_start_k2_end_k2 and not into the segment before, since it comes after task 'u', "
		"which is launched in between (OP_UNSUPPORT)");
}
END_TEST

START_TEST(test_other_stream_goes_on)
{
	add_task(test, "k1", PLAIN, 0, "s", in("a"), out("b"));
	add_task(test, "u", UNFUSIBLE, 0, "s", in("b"), out("c"));
	add_task(test, "k2", PLAIN, 0, "s", in("a"), out("d"));
	add_task(test, "k3", PLAIN, 1, "s", in("a"), out("e"));
	plan();
	ck_assert_str_eq(launches(), "sk_s_start_k1_end_k3(k1,k3) sk_task_u(u) sk_s_start_k2_end_k2(k2)");
	ck_assert_str_eq(follows(), "1<0 2<1");
}
END_TEST

START_TEST(test_dependants_in_another_stream)
{
	/* k3 depends on u through x, k4 on nothing. */
	add_task(test, "k1", PLAIN, 0, "s", in("a"), out("b"));
	add_task(test, "u", UNFUSIBLE, 0, "s", in("b"), out("c"));
	add_task(test, "x", PLAIN, 2, NULL, in("c"), out("d"));
	add_task(test, "k3", PLAIN, 1, "s", in("d"), out("e"));
	add_task(test, "k4", PLAIN, 0, "s", in("a"), out("f"));
	add_task(test, "k5", PLAIN, 3, "s", in("a"), out("g"));
	fuse_streams(test, "s");
	plan();
	ck_assert_str_eq(launches(),
			 "sk_s_start_k1_end_k5(k1,k5) sk_task_u(u) sk_task_x(x) sk_s_start_k3_end_k4(k3,k4)");
	ck_assert_uint_eq(fusion->tasks[3].cause, 1);
}
END_TEST

START_TEST(test_consecutive_unfusible)
{
	add_task(test, "k1", PLAIN, 0, "s", in("a"), out("b"));
	add_task(test, "u1", UNFUSIBLE, 0, "s", in("b"), out("c"));
	add_task(test, "u2", UNFUSIBLE, 0, "s", in("c"), out("d"));
	add_task(test, "k2", PLAIN, 0, "s", in("d"), out("e"));
	add_task(test, "k3", PLAIN, 1, "s", in("a"), out("f"));
	add_task(test, "u3", UNFUSIBLE, 1, "s", in("f"), out("g"));
	add_task(test, "k4", PLAIN, 1, "s", in("g"), out("h"));
	plan();
	ck_assert_str_eq(
		launches(),
		"sk_s_start_k1_end_k3(k1,k3) sk_task_u1(u1) sk_task_u2(u2) sk_task_u3(u3) sk_s_start_k2_end_k4(k2,k4)");
	ck_assert_str_eq(follows(), "1<0 2<1 3<0 4<2,3");
}
END_TEST

START_TEST(test_unfusible_first)
{
	add_task(test, "u", UNFUSIBLE, 0, "s", in("a"), out("b"));
	add_task(test, "k1", PLAIN, 0, "s", in("b"), out("c"));
	add_task(test, "k2", PLAIN, 0, "s", in("c"), out("d"));
	plan();
	ck_assert_str_eq(launches(), "sk_task_u(u) sk_s(k1,k2)");
	ck_assert_str_eq(code_of(1), "CAN_FUSE");
}
END_TEST

START_TEST(test_unfusible_first_in_its_stream)
{
	/* k1 need not wait for u, so k2 cannot be launched with it. */
	add_task(test, "k1", PLAIN, 0, "s", in("a"), out("b"));
	add_task(test, "u", UNFUSIBLE, 1, "s", in("a"), out("c"));
	add_task(test, "k2", PLAIN, 1, "s", in("c"), out("d"));
	plan();
	ck_assert_str_eq(launches(), "sk_s_start_k1_end_k1(k1) sk_task_u(u) sk_s_start_k2_end_k2(k2)");
	ck_assert_str_eq(follows(), "2<1");
}
END_TEST

START_TEST(test_all_unfusible)
{
	add_task(test, "u1", UNFUSIBLE, 0, "s", in("a"), out("b"));
	add_task(test, "u2", UNFUSIBLE, 0, "s", in("b"), out("c"));
	plan();
	ck_assert_str_eq(launches(), "sk_task_u1(u1) sk_task_u2(u2)");
}
END_TEST

START_TEST(test_path_through_the_outside)
{
	add_task(test, "k1", PLAIN, 0, "s", in("a"), out("b"));
	add_task(test, "x", PLAIN, 1, NULL, in("b"), out("c"));
	add_task(test, "k2", PLAIN, 0, "s", in("b"), out("d"));
	add_task(test, "k3", PLAIN, 0, "s", in("c"), out("e"));
	plan();
	ck_assert_str_eq(launches(), "sk_s_start_k1_end_k2(k1,k2) sk_task_x(x) sk_s_start_k3_end_k3(k3)");
	ck_assert_uint_eq(fusion->tasks[3].cause, 1);
}
END_TEST

START_TEST(test_outside_before)
{
	/* x does not depend on the segment: it is launched before it. */
	add_task(test, "k1", PLAIN, 0, "s", in("a"), out("b"));
	add_task(test, "x", PLAIN, 1, NULL, in("a"), out("c"));
	add_task(test, "k2", PLAIN, 0, "s", in("c"), out("d"));
	plan();
	ck_assert_str_eq(launches(), "sk_task_x(x) sk_s(k1,k2)");
	ck_assert_str_eq(follows(), "1<0");
}
END_TEST

START_TEST(test_cycle_between_scopes)
{
	/* Each scope alone is convex, but with both whole each would have to be first. */
	add_task(test, "a1", PLAIN, 0, "p", in("a"), out("b"));
	add_task(test, "b1", PLAIN, 1, "q", in("b"), out("c"));
	add_task(test, "b2", PLAIN, 2, "q", in("a"), out("d"));
	add_task(test, "a2", PLAIN, 3, "p", in("d"), out("e"));
	plan();
	ck_assert_str_eq(launches(), "sk_p_start_a1_end_a1(a1) sk_q(b1,b2) sk_p_start_a2_end_a2(a2)");
	ck_assert_str_eq(code_of(3), "EXTERNAL_DEPEND");
	ck_assert_uint_eq(fusion->tasks[3].cause, 2);
}
END_TEST

START_TEST(test_events_and_after)
{
	add_task(test, "k1", PLAIN, 0, "s", in("a"), out("b"));
	uint32_t u = add_task(test, "u", UNFUSIBLE, 0, "s", in("a"), out("c"));

	add_task(test, "k2", PLAIN, 1, "s", in("a"), out("d"));
	uint32_t k3 = add_task(test, "k3", PLAIN, 1, "s", in("a"), out("e"));

	add_task(test, "k4", PLAIN, 1, "s", in("a"), out("f"));
	uint32_t x = add_task(test, "x", PLAIN, 2, NULL, in("a"), out("g"));

	add_event(test, u, k3);
	add_after(test, x, k3);
	plan();
	ck_assert_str_eq(launches(),
			 "sk_s_start_k1_end_k2(k1,k2) sk_task_u(u) sk_s_start_k3_end_k4(k3,k4) sk_task_x(x)");
	ck_assert_str_eq(follows(), "1<0 2<1 3<2");
}
END_TEST

/* ---- reasons ---- */

/* The reason's code and sentence. */
static void expect_reason(uint32_t task, const char *code, const char *sentence)
{
	ck_assert_str_eq(code_of(task), code);
	ck_assert_str_eq(sk_reason_text(test->model.arena, &test->model, fusion, task), sentence);
}

START_TEST(test_foreign_scope_in_between)
{
	add_task(test, "k1", PLAIN, 0, "s", in("a"), out("b"));
	add_task(test, "f", PLAIN, 0, "t", in("b"), out("c"));
	add_task(test, "k2", PLAIN, 0, "s", in("c"), out("d"));
	add_task(test, "x", PLAIN, 1, NULL, in("d"), out("e"));
	add_task(test, "k3", PLAIN, 0, "s", in("e"), out("f"));
	plan();
	ck_assert_str_eq(launches(), "sk_s_start_k1_end_k1(k1) sk_t(f) sk_s_start_k2_end_k2(k2) sk_task_x(x) "
				     "sk_s_start_k3_end_k3(k3)");
	expect_reason(2, "EXTERNAL_DEPEND",
		      "fused into sk_s_start_k2_end_k2 and not into the segment before, since it comes after task 'f' "
		      "of scope 't', which is launched in between");
	expect_reason(4, "EXTERNAL_DEPEND",
		      "fused into sk_s_start_k3_end_k3 and not into the segment before, since it comes after task 'x' "
		      "outside of the scope, which is launched in between");
}
END_TEST

START_TEST(test_event_of_a_lone_task)
{
	/* Nothing in the first segment comes before u, but the pair cannot be inside. */
	add_task(test, "k1", PLAIN, 0, "s", in("a"), out("b"));
	uint32_t u = add_task(test, "u", UNFUSIBLE, 1, "s", in("a"), out("c"));
	uint32_t k2 = add_task(test, "k2", PLAIN, 0, "s", in("a"), out("d"));

	add_task(test, "k3", PLAIN, 0, "s", in("a"), out("e"));
	add_event(test, u, k2);
	plan();
	ck_assert_str_eq(launches(), "sk_s_start_k1_end_k1(k1) sk_task_u(u) sk_s_start_k2_end_k3(k2,k3)");
	ck_assert_str_eq(follows(), "2<0,1");
	expect_reason(k2, "ISOLATED_EVENT",
		      "fused into sk_s_start_k2_end_k3 and not into the segment before, since it waits for event "
		      "'event0' of task 'u', which is launched by itself (OP_UNSUPPORT)");
	expect_reason(3, "SCOPE_FUSE_PART",
		      "fused into sk_s_start_k2_end_k3 and not into the segment before, since it comes after task 'u', "
		      "which is launched in between (OP_UNSUPPORT)");
}
END_TEST

/* Thousands of tasks that write a row each, then thousands that read all rows. */
START_TEST(test_too_many_shared_parts)
{
	enum { ROWS = 2400, READERS = 3600, ROW = 64 };

	add_tensor(test, "rows", SK_F32, ROWS, ROW / 4);
	for (uint32_t i = 0; i < ROWS + READERS; i++) {
		const char *name = sk_arena_print(test->arena, "t%u", i);

		if (i < ROWS)
			add_task(test, name, PLAIN, 0, "s", part(out("rows"), (uint64_t)i * ROW, ROW));
		else
			add_task(test, name, PLAIN, 0, "s", in("rows"), out("a"));
	}
	test_model_finish(test);
	ck_assert_ptr_null(sk_fusion_build(&test->model));
	ck_assert_ptr_nonnull(strstr(said(), "the tasks up to 't5895' share parts of tensors in more than 8388608 "
					     "pairs"));
}
END_TEST

START_TEST(test_deadlock)
{
	/* x cannot start before k1 has ended: a superkernel of k1 to k3 would hold the cores and wait for x. */
	uint32_t k1 = add_task(test, "k1", PLAIN, 0, "s", in("a"), out("b"));
	uint32_t x = add_task(test, "x", PLAIN, 7, NULL, in("a"), out("c"));

	add_task(test, "k2", PLAIN, 0, "s", in("b"), out("d"));
	uint32_t k3 = add_task(test, "k3", PLAIN, 0, "s", in("d"), out("e"));

	add_event(test, k1, x);
	add_event(test, x, k3);
	plan();
	ck_assert_str_eq(launches(), "sk_s_start_k1_end_k2(k1,k2) sk_task_x(x) sk_s_start_k3_end_k3(k3)");
	expect_reason(
		k3, "EXIST_DEADLOCK",
		"fused into sk_s_start_k3_end_k3 and not into the segment before: it waits for event 'event1' of "
		"task 'x', which cannot start before that segment has ended, so one launch would wait for itself");
}
END_TEST

START_TEST(test_deadlock_between_scopes)
{
	/* By events alone, and only since both scopes are fused. */
	uint32_t a1 = add_task(test, "a1", PLAIN, 0, "p", in("a"), out("b"));
	uint32_t b1 = add_task(test, "b1", PLAIN, 1, "q", in("a"), out("c"));
	uint32_t b2 = add_task(test, "b2", PLAIN, 2, "q", in("a"), out("d"));
	uint32_t a2 = add_task(test, "a2", PLAIN, 3, "p", in("a"), out("e"));

	add_event(test, a1, b1);
	add_event(test, b2, a2);
	plan();
	ck_assert_str_eq(launches(), "sk_p_start_a1_end_a1(a1) sk_q(b1,b2) sk_p_start_a2_end_a2(a2)");
	ck_assert_str_eq(follows(), "1<0 2<1");
	ck_assert_str_eq(code_of(a2), "EXIST_DEADLOCK");
	ck_assert_uint_eq(fusion->tasks[a2].cause, b2);
}
END_TEST

START_TEST(test_wait_in_front)
{
	/* An event from outside costs a segment nothing: its launch follows. */
	uint32_t x = add_task(test, "x", PLAIN, 7, NULL, in("a"), out("b"));

	add_task(test, "k1", PLAIN, 0, "s", in("a"), out("c"));
	uint32_t k2 = add_task(test, "k2", PLAIN, 0, "s", in("a"), out("d"));

	add_event(test, x, k2);
	plan();
	ck_assert_str_eq(launches(), "sk_task_x(x) sk_s(k1,k2)");
	ck_assert_str_eq(follows(), "1<0");
}
END_TEST

START_TEST(test_more_blocks_than_cores)
{
	struct test_model *one = test;

	test = test_model_create(2);
	for (char name[] = "a"; name[0] <= 'd'; name[0]++)
		add_tensor(test, name, SK_F32, 64, 64);
	add_task(test, "k1", on_lane(BLOCKS(24), 0), 0, "s", in("a"), out("b"));
	add_task(test, "k2", on_lane(BLOCKS(25), 0), 0, "s", in("b"), out("c"));
	add_task(test, "k3", on_lane(BLOCKS(48), 1), 0, "s", in("c"), out("d"));
	plan();
	ck_assert_str_eq(launches(), "sk_s_start_k1_end_k1(k1) sk_task_k2(k2) sk_s_start_k3_end_k3(k3)");
	expect_reason(1, "EXCEED_CORE_MAX", "it has 25 blocks, and device 'a3' has 24 cube cores");
	tear_down();
	test = one;
	add_task(test, "k1", BLOCKS(1000), 0, "s", in("a"), out("b"));
	plan();
	ck_assert_str_eq(launches(), "sk_s(k1)");
}
END_TEST

/* doc/reference/reason-codes.md has a row for each code. */
START_TEST(test_codes_are_documented)
{
	FILE *stream = fopen(TOP_SRCDIR "/doc/reference/reason-codes.md", "r");
	static char text[1 << 20];

	ck_assert_ptr_nonnull(stream);
	ck_assert_uint_lt(fread(text, 1, sizeof(text), stream), sizeof(text) - 1);
	fclose(stream);
	for (enum sk_reason reason = 0; reason < SK_REASON_COUNT; reason++) {
		const char *row = sk_arena_print(test->arena, "\n| `%s` | is ", sk_reason_code(reason));

		ck_assert_msg(strstr(text, row), "%s", sk_reason_code(reason));
	}
}
END_TEST

/* ---- strict-scope-check ---- */

static void add_split_scope(void)
{
	add_task(test, "k1", PLAIN, 0, "s", in("a"), out("b"));
	add_task(test, "u", UNFUSIBLE, 0, "s", in("b"), out("c"));
	add_task(test, "k2", PLAIN, 0, "s", in("c"), out("d"));
	add_task(test, "k3", PLAIN, 0, "s", in("d"), out("e"));
	add_task(test, "w", PLAIN, 0, "whole", in("e"), out("f"));
	check_strictly(test, "whole", SK_STRICT_ABORT);
}

START_TEST(test_strict_abort)
{
	add_split_scope();
	check_strictly(test, "s", SK_STRICT_ABORT);
	expect_errors(
		"test: error: test.yaml:11:3: scope 's' cannot be fused whole (strict-scope-check=abort): it "
		"would be 2 superkernels and 1 single task\n"
		">>> test.yaml:12:3: task 'u' (OP_UNSUPPORT): kernel 'plain_unfusible_0' is marked unfusible\n"
		">>> test.yaml:13:3: task 'k2' (SCOPE_FUSE_PART): fused into sk_s_start_k2_end_k3 and not into the "
		"segment before, since it comes after task 'u', which is launched in between (OP_UNSUPPORT)\n");
}
END_TEST

START_TEST(test_strict_bypass)
{
	add_split_scope();
	check_strictly(test, "s", SK_STRICT_BYPASS);
	plan();
	ck_assert_str_eq(launches(), "sk_task_k1(k1) sk_task_u(u) sk_task_k2(k2) sk_task_k3(k3) sk_whole(w)");
	expect_reason(
		0, "SCOPE_CHECK_BYPASS",
		"scope 's' cannot be fused whole and has strict-scope-check=bypass, so none of its tasks is fused");
	ck_assert_str_eq(code_of(1), "OP_UNSUPPORT");
	ck_assert_ptr_nonnull(strstr(said(), "test: warning: test.yaml:11:3: scope 's' is not fused "
					     "(strict-scope-check=bypass): it would be 2 superkernels and 1 single "
					     "task\n>>> test.yaml:12:3: task 'u' (OP_UNSUPPORT): "));
}
END_TEST

START_TEST(test_strict_scope_that_is_whole)
{
	/* A task excluded by null does not belong to the scope. */
	add_task(test, "k1", PLAIN, 0, "s", in("a"), out("b"));
	add_task(test, "k2", PLAIN, 0, "s", in("b"), out("c"));
	never_fuse(test, add_task(test, "n", PLAIN, 0, "s", in("c"), out("d")));
	check_strictly(test, "s", SK_STRICT_ABORT);
	plan();
	ck_assert_str_eq(launches(), "sk_s(k1,k2) sk_task_n(n)");
	ck_assert_str_eq(said(), "");
}
END_TEST

/* Tasks that run once are launched by themselves, and no part of their scope is missing. */
START_TEST(test_tasks_that_run_once)
{
	run_once(test, add_task(test, "p", PLAIN, 0, "s", in("a"), out("b")));
	add_task(test, "k1", PLAIN, 0, "s", in("g"), out("c"));
	run_once(test, add_task(test, "q", PLAIN, 1, NULL, in("b"), out("d")));
	add_task(test, "k2", PLAIN, 0, "s", in("c"), in("b"), in("d"), out("e"));
	check_strictly(test, "s", SK_STRICT_ABORT);
	plan();
	ck_assert_str_eq(launches(), "sk_task_p(p) sk_task_q(q) sk_s(k1,k2)");
	expect_reason(0, "RUNS_ONCE", "runs once, before all tasks that run every time");
	ck_assert_str_eq(code_of(2), "RUNS_ONCE");
	ck_assert_str_eq(said(), "");
}
END_TEST

/* Each set of scopes is a superkernel of its own, but s is not one. */
static void add_nested_scope(enum sk_strict_check strict)
{
	add_task(test, "k1", PLAIN, 0, "s", in("a"), out("b"));
	add_task(test, "k2", PLAIN, 0, "s inner", in("b"), out("c"));
	add_task(test, "k3", PLAIN, 0, "s", in("c"), out("d"));
	never_fuse(test, add_task(test, "n", PLAIN, 0, "s inner", in("d"), out("e")));
	check_strictly(test, "s", strict);
}

START_TEST(test_strict_nested_abort)
{
	add_nested_scope(SK_STRICT_ABORT);
	expect_errors(
		"test: error: test.yaml:11:3: scope 's' cannot be fused whole (strict-scope-check=abort): it "
		"would be 3 superkernels and 0 single tasks\n"
		">>> test.yaml:12:3: task 'k2' is in 's,inner', and tasks before it are in 's': only those that are in "
		"exactly the same scopes are fused\n"
		">>> test.yaml:13:3: task 'k3' (EXTERNAL_DEPEND): fused into sk_s_start_k3_end_k3 and not into the "
		"segment before, since it comes after task 'k2' of scope 's,inner', which is launched in between\n");
}
END_TEST

/* The check of the outer scope does not concern the inner one, which is whole; once the outer scope is bypassed, it
 * does. */
START_TEST(test_strict_nested_bypass)
{
	add_nested_scope(SK_STRICT_BYPASS);
	check_strictly(test, "inner", SK_STRICT_BYPASS);
	plan();
	ck_assert_str_eq(launches(), "sk_task_k1(k1) sk_task_k2(k2) sk_task_k3(k3) sk_task_n(n)");
	ck_assert_str_eq(code_of(1), "SCOPE_CHECK_BYPASS");

	const char *text = said();

	ck_assert_ptr_nonnull(strstr(text, "scope 's' is not fused (strict-scope-check=bypass): it would be 3 "
					   "superkernels and 0 single tasks"));
	ck_assert_ptr_nonnull(strstr(text, "scope 'inner' is not fused (strict-scope-check=bypass): it would be 0 "
					   "superkernels and 1 single task"));
}
END_TEST

START_TEST(test_strict_inner)
{
	add_nested_scope(SK_STRICT_NONE);
	check_strictly(test, "inner", SK_STRICT_ABORT);
	plan();
	ck_assert_str_eq(said(), "");
}
END_TEST

/* p and q can only be fused whole one at a time; both are bypassed, and r is not harmed by it. */
START_TEST(test_strict_scopes_that_depend_on_each_other)
{
	add_task(test, "a1", PLAIN, 0, "p", in("a"), out("b"));
	add_task(test, "b1", PLAIN, 1, "q", in("b"), out("c"));
	add_task(test, "b2", PLAIN, 2, "q", in("a"), out("d"));
	add_task(test, "a2", PLAIN, 3, "p", in("d"), out("e"));
	check_strictly(test, "p", SK_STRICT_BYPASS);
	check_strictly(test, "q", SK_STRICT_ABORT);
	plan();
	ck_assert_str_eq(launches(), "sk_task_a1(a1) sk_q(b1,b2) sk_task_a2(a2)");
}
END_TEST

/* ---- dependencies between launches ---- */

START_TEST(test_follows)
{
	add_task(test, "w", PLAIN, 0, NULL, out("a"));
	add_task(test, "r1", PLAIN, 1, NULL, in("a"), out("b"));
	add_task(test, "r2", PLAIN, 2, NULL, in("a"), out("c"));
	add_task(test, "w2", PLAIN, 3, NULL, out("a"));
	add_task(test, "free", PLAIN, 4, NULL, out("d"));
	add_task(test, "all", PLAIN, 5, NULL, in("a"), in("b"), in("c"), in("d"));
	plan();
	ck_assert_str_eq(follows(), "1<0 2<0 3<1,2 5<3,4");
	ck_assert(sk_fusion_before(fusion, 0, 5));
	ck_assert(!sk_fusion_before(fusion, 0, 4));
	ck_assert(!sk_fusion_before(fusion, 5, 0));
	ck_assert(!sk_fusion_before(fusion, 3, 3));
}
END_TEST

START_TEST(test_ranges)
{
	/* 16 KiB each: halves do not touch each other, and a quarter hits one of them. */
	add_task(test, "low", PLAIN, 0, NULL, part(out("a"), 0, 8192));
	add_task(test, "high", PLAIN, 1, NULL, part(out("a"), 8192, 8192));
	add_task(test, "quarter", PLAIN, 2, NULL, part(in("a"), 12288, 4096), out("b"));
	add_task(test, "middle", PLAIN, 3, NULL, part(in("a"), 4096, 8192), out("c"));
	add_task(test, "whole", PLAIN, 4, NULL, out("a"));
	plan();
	ck_assert_str_eq(follows(), "2<1 3<0,1 4<2,3");
}
END_TEST

START_TEST(test_hidden_state)
{
	add_task(test, "k1", PLAIN, 0, NULL, in("a"), out("b"), hidden(1));
	add_task(test, "k2", PLAIN, 1, NULL, in("a"), out("c"), hidden(0));
	add_task(test, "k3", PLAIN, 2, NULL, in("a"), out("d"), hidden(1));
	plan();
	ck_assert_str_eq(follows(), "2<0");
}
END_TEST

/* ---- errors ---- */

/* Streams of tasks that cannot be fused anyway do not count. */
START_TEST(test_third_stream)
{
	add_task(test, "k1", PLAIN, 4, "s", in("a"), out("b"));
	add_task(test, "k2", PLAIN, 2, "s", in("a"), out("c"));
	add_task(test, "u", UNFUSIBLE, 3, "s", in("a"), out("d"));
	add_task(test, "k3", PLAIN, 9, "s", in("a"), out("e"));
	add_task(test, "k4", PLAIN, 8, "s", in("a"), out("f"));
	plan();
	ck_assert_str_eq(launches(), "sk_s(k1,k2) sk_task_u(u) sk_task_k3(k3) sk_task_k4(k4)");
	ck_assert_str_eq(code_of(3), "EXCEED_STREAM_MAX");
	ck_assert_str_eq(code_of(4), "EXCEED_STREAM_MAX");
	ck_assert_str_eq(sk_reason_text(test->model.arena, &test->model, fusion, 4),
			 "its stream, 8, is not one of the first two of scope 's', and more need stream-fusion=1");
	ck_assert_str_eq(said(), "test: warning: test.yaml:14:3: task 'k3' is not fused: it is in stream 9, the third "
				 "stream of scope 's', which takes two; more need options: \"stream-fusion=1\"\n"
				 ">>> the first two are streams 4 and 2\n");
}
END_TEST

START_TEST(test_stream_fusion)
{
	add_task(test, "k1", PLAIN, 4, "s", in("a"), out("b"));
	add_task(test, "k2", PLAIN, 2, "s", in("a"), out("c"));
	add_task(test, "k3", PLAIN, 9, "s", in("a"), out("e"));
	fuse_streams(test, "s");
	plan();
	ck_assert_str_eq(launches(), "sk_s(k1,k2,k3)");
}
END_TEST

START_TEST(test_same_names)
{
	add_task(test, "k1", PLAIN, 0, "s", in("a"), out("b"));
	add_task(test, "u", UNFUSIBLE, 0, "s", in("b"), out("c"));
	add_task(test, "k2", PLAIN, 0, "s", in("c"), out("d"));
	add_task(test, "k3", PLAIN, 0, "s_start_k2_end_k2", in("d"), out("e"));
	add_task(test, "k4", PLAIN, 0, "task_u", in("d"), out("f"));
	expect_errors("test: error: test.yaml:14:3: two launches have the same name 'sk_s_start_k2_end_k2'\n"
		      ">>> the other one comes from test.yaml:11:3\n"
		      "test: error: test.yaml:15:3: two launches have the same name 'sk_task_u'\n"
		      ">>> the other one comes from test.yaml:12:3\n");
}
END_TEST

START_TEST(test_reserved_names)
{
	add_task(test, "k1", PLAIN, 0, "plan", in("a"), out("b"));
	add_task(test, "k2", PLAIN, 0, "s", in("b"), out("c"));
	add_task(test, "k3", PLAIN, 0, "s_serial", in("c"), out("d"));
	add_task(test, "k4", PLAIN, 0, "unfused_k1", in("d"), out("e"));
	add_task(test, "k5", PLAIN, 0, "unfused_k2_serial", in("e"), out("f"));
	add_task(test, "k6", PLAIN, 0, "x_serial", in("f"), out("g"));
	add_task(test, "k7", PLAIN, 0, "unfused_serial", in("g"), out("h"));
	add_task(test, "k8", PLAIN, 0, "constants", in("h"), out("i"));
	expect_errors(
		"test: error: test.yaml:11:3: the launch would be named 'sk_plan', a name that sklink itself needs\n"
		"test: error: test.yaml:13:3: the launch would be named 'sk_s_serial', a name that sklink itself "
		"needs\n"
		"test: error: test.yaml:14:3: the launch would be named 'sk_unfused_k1', a name that sklink itself "
		"needs\n"
		"test: error: test.yaml:15:3: the launch would be named 'sk_unfused_k2_serial', a name that sklink "
		"itself needs\n"
		"test: error: test.yaml:18:3: the launch would be named 'sk_constants', a name that sklink itself "
		"needs\n");
}
END_TEST

START_TEST(test_wait_without_record)
{
	uint32_t k1 = add_task(test, "k1", PLAIN, 0, NULL, in("a"), out("b"));
	uint32_t k2 = add_task(test, "k2", PLAIN, 1, NULL, in("a"), out("c"));

	add_event(test, k1, k2);
	test->model.tasks.items[k1].said.record.count = 0;
	expect_errors(
		"test: error: test.yaml:12:3: task 'k2' waits for event 'event0', which no earlier task records\n");
}
END_TEST

START_TEST(test_too_many_scopes_reach_over_each_other)
{
	enum { SCOPES = 24000 };

	for (uint32_t i = 0; i < 2 * SCOPES; i++)
		add_task(test, sk_arena_print(test->arena, "k%u", i), PLAIN, 0,
			 sk_arena_print(test->arena, "s%u", i % SCOPES), in("a"));
	test_model_finish(test);
	ck_assert_ptr_null(sk_fusion_build(&test->model));
	ck_assert_str_eq(said(), "test: error: test.yaml: 24000 scopes overlap: from their first tasks to "
				 "their last ones there are 576024000 tasks in all, more than 536870912\n");
}
END_TEST

/* ---- at random ---- */

enum { MAX_TASKS = 32 };

static void check_grouping(uint64_t seed)
{
	const struct sk_task *tasks = test->model.tasks.items;
	uint32_t seen = 0;

	for (uint32_t l = 0; l < fusion->launch_count; l++) {
		const struct sk_launch *launch = &fusion->launches[l];
		const struct sk_task *first = &tasks[launch->tasks[0]];

		for (uint32_t i = 0; i < launch->task_count; i++, seen++) {
			uint32_t t = launch->tasks[i];

			ck_assert_uint_eq(fusion->tasks[t].launch, l);
			ck_assert_uint_eq(fusion->tasks[t].step, i);
			ck_assert(i == 0 || t > launch->tasks[i - 1]);
			ck_assert_uint_eq(tasks[t].said.scopes.count, first->said.scopes.count);
			for (size_t k = 0; k < first->said.scopes.count; k++)
				ck_assert_msg(tasks[t].said.scopes.items[k] == first->said.scopes.items[k],
					      "seed %llu: task %u is in the wrong launch", (unsigned long long)seed, t);
			bool fusible = tasks[t].said.scopes.count &&
				       !test->model.kernels.items[tasks[t].bound.kernel].signature->unfusible;

			ck_assert_int_eq(launch->kind, fusible ? SK_LAUNCH_SUPERKERNEL : SK_LAUNCH_SINGLE);
			ck_assert(fusible || launch->task_count == 1);
		}
	}
	ck_assert_uint_eq(seen, test->model.tasks.count);
}

/* Launches are ordered as their tasks depend on each other, and not otherwise; no follow is implied by the rest. */
static void check_order(uint64_t seed)
{
	bool path[MAX_TASKS][MAX_TASKS] = {0};
	uint32_t count = fusion->launch_count;

	for (uint32_t a = 0; a < test->model.tasks.count; a++)
		for (uint32_t b = a + 1; b < test->model.tasks.count; b++)
			if (tasks_depend(test->model.tasks.items, a, b))
				path[fusion->tasks[a].launch][fusion->tasks[b].launch] = true;
	for (uint32_t k = 0; k < count; k++) {
		path[k][k] = false;
		for (uint32_t a = 0; a < count; a++)
			for (uint32_t b = 0; b < count; b++)
				path[a][b] |= path[a][k] && path[k][b];
	}
	for (uint32_t a = 0; a < count; a++) {
		for (uint32_t b = 0; b < count; b++) {
			ck_assert_msg(!path[a][b] || a < b, "seed %llu: launch %u depends on launch %u",
				      (unsigned long long)seed, b, a);
			ck_assert_msg(sk_fusion_before(fusion, a, b) == path[a][b],
				      "seed %llu: is launch %u before launch %u?", (unsigned long long)seed, a, b);
		}
	}
	for (uint32_t b = 0; b < count; b++) {
		bool follow[MAX_TASKS] = {0};

		for (uint32_t i = 0; i < fusion->launches[b].follow_count; i++)
			follow[fusion->launches[b].follows[i]] = true;
		for (uint32_t a = 0; a < count; a++) {
			bool implied = false;

			for (uint32_t k = 0; k < count; k++)
				implied |= path[a][k] && path[k][b];
			ck_assert_msg(follow[a] == (path[a][b] && !implied), "seed %llu: does launch %u follow %u?",
				      (unsigned long long)seed, b, a);
		}
	}
}

START_TEST(test_random)
{
	for (uint64_t seed = 0; seed < RANDOM_MODELS; seed++) {
		test = random_model(seed, &(struct random_options){1, MAX_TASKS, 6, false, 12});
		fusion = sk_fusion_build(&test->model);
		ck_assert_ptr_nonnull(fusion);
		check_grouping(seed);
		check_order(seed);
		tear_down();
	}
}
END_TEST

/* ---- the growing graph ---- */

START_TEST(test_order_refuses_cycles)
{
	enum { NODES = 24 };
	struct sk_arena *arena = sk_arena_create();

	for (uint64_t seed = 0; seed < RANDOM_MODELS; seed++) {
		bool path[NODES][NODES] = {0};
		struct sk_order order;
		uint64_t state = seed;
		uint32_t keys[NODES];

		sk_order_init(&order, arena);
		for (uint32_t i = 0; i < NODES; i++) {
			ck_assert_uint_eq(sk_order_add(&order), i);
			keys[i] = random_below(&state, 1000);
		}
		for (uint32_t i = 0; i < 60; i++) {
			uint32_t from[2] = {random_below(&state, NODES), random_below(&state, NODES)};
			uint32_t to = random_below(&state, NODES), cycle = sk_order_connect(&order, from, 2, to);

			if (cycle != SK_NONE) {
				ck_assert(cycle == from[0] || cycle == from[1]);
				ck_assert(path[to][cycle]);
				continue;
			}
			for (uint32_t k = 0; k < 2; k++) {
				ck_assert(!path[to][from[k]]);
				if (from[k] == to)
					continue;
				for (uint32_t a = 0; a < NODES; a++)
					for (uint32_t b = 0; b < NODES; b++)
						path[a][b] |=
							(a == from[k] || path[a][from[k]]) && (b == to || path[to][b]);
			}
		}
		const uint32_t *sorted = sk_order_sort(&order, keys);

		/* None of the nodes that could be at i has a smaller key. */
		for (uint32_t i = 0; i < NODES; i++) {
			for (uint32_t k = i + 1; k < NODES; k++) {
				bool ready = true;

				ck_assert(!path[sorted[k]][sorted[i]]);
				for (uint32_t j = i; j < NODES; j++)
					ready &= !path[sorted[j]][sorted[k]];
				ck_assert(!ready || keys[sorted[k]] >= keys[sorted[i]]);
			}
		}
	}
	sk_arena_destroy(arena);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("fusion");
	TCase *hand = tcase_create("by hand"), *random = tcase_create("random");

	tcase_add_checked_fixture(hand, set_up, tear_down);
	tcase_set_timeout(hand, 120);
	tcase_add_test(hand, test_one_scope);
	tcase_add_test(hand, test_no_scope);
	tcase_add_test(hand, test_tag_sets);
	tcase_add_test(hand, test_unfusible_in_the_middle);
	tcase_add_test(hand, test_other_stream_goes_on);
	tcase_add_test(hand, test_dependants_in_another_stream);
	tcase_add_test(hand, test_consecutive_unfusible);
	tcase_add_test(hand, test_unfusible_first);
	tcase_add_test(hand, test_unfusible_first_in_its_stream);
	tcase_add_test(hand, test_all_unfusible);
	tcase_add_test(hand, test_path_through_the_outside);
	tcase_add_test(hand, test_outside_before);
	tcase_add_test(hand, test_cycle_between_scopes);
	tcase_add_test(hand, test_events_and_after);
	tcase_add_test(hand, test_foreign_scope_in_between);
	tcase_add_test(hand, test_event_of_a_lone_task);
	tcase_add_test(hand, test_too_many_shared_parts);
	tcase_add_test(hand, test_deadlock);
	tcase_add_test(hand, test_deadlock_between_scopes);
	tcase_add_test(hand, test_wait_in_front);
	tcase_add_test(hand, test_more_blocks_than_cores);
	tcase_add_test(hand, test_codes_are_documented);
	tcase_add_test(hand, test_strict_abort);
	tcase_add_test(hand, test_strict_bypass);
	tcase_add_test(hand, test_strict_scope_that_is_whole);
	tcase_add_test(hand, test_tasks_that_run_once);
	tcase_add_test(hand, test_strict_nested_abort);
	tcase_add_test(hand, test_strict_nested_bypass);
	tcase_add_test(hand, test_strict_inner);
	tcase_add_test(hand, test_strict_scopes_that_depend_on_each_other);
	tcase_add_test(hand, test_follows);
	tcase_add_test(hand, test_ranges);
	tcase_add_test(hand, test_hidden_state);
	tcase_add_test(hand, test_third_stream);
	tcase_add_test(hand, test_stream_fusion);
	tcase_add_test(hand, test_same_names);
	tcase_add_test(hand, test_reserved_names);
	tcase_add_test(hand, test_wait_without_record);
	tcase_add_test(hand, test_too_many_scopes_reach_over_each_other);
	suite_add_tcase(suite, hand);

	tcase_set_timeout(random, 120);
	tcase_add_test(random, test_random);
	tcase_add_test(random, test_order_refuses_cycles);
	suite_add_tcase(suite, random);
	return run_suite(suite);
}
