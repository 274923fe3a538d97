/* The scenarios of the reference system's own tests that are meaningful here, by their numbers: the tasks of each
 * superkernel, and its awaits. Letters: K can be fused, U cannot; s is the stream, W waits, N notifies. Scenarios
 * without a counterpart are left out: dynamic shapes, placeholder slots, streams of events alone, unpaired begins and
 * ends. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "format/skplan.h"
#include "src/model/model.h"
#include "src/planning/planning-parts.h"
#include "src/planning/planning.h"
#include "tests/lib/model-builder.h"
#include "tests/lib/suite.h"

static struct test_model *test;
static struct sk_fusion *fusion;
static struct sk_schedule *schedule;

static void set_up(void)
{
	test = test_model_create(1);
}

static void tear_down(void)
{
	test_model_destroy(test);
}

/* A task that shares no data with any other. */
static uint32_t task(const char *name, struct test_spread spread, uint32_t stream, const char *scope)
{
	const char *tensor = sk_arena_print(test->arena, "of_%s", name);

	add_tensor(test, tensor, SK_F32, 4800);
	return add_task(test, name, spread, stream, scope, out(tensor));
}

static uint32_t K(uint32_t number, uint32_t stream)
{
	return task(sk_arena_print(test->arena, "K%u", number), PLAIN, stream, "s");
}

static uint32_t U(uint32_t number, uint32_t stream)
{
	return task(sk_arena_print(test->arena, "U%u", number), UNFUSIBLE, stream, "s");
}

/* Without the errors that the scenario is not about. */
static void plan(void)
{
	test_model_finish(test);
	fusion = sk_fusion_build(&test->model);
	ck_assert_ptr_nonnull(fusion);
	schedule = sk_schedule_build(&test->model, fusion);
}

static const char *name_of(uint32_t number)
{
	return test->model.tasks.items[number].name;
}

/* The superkernels in order: "{K1,K2} {K3}"; "" for none. */
static const char *superkernels(void)
{
	static char text[4096];
	size_t used = 0;

	text[0] = '\0';
	for (uint32_t l = 0; l < fusion->launch_count; l++) {
		const struct sk_launch *launch = &fusion->launches[l];

		if (launch->kind != SK_LAUNCH_SUPERKERNEL)
			continue;
		for (uint32_t i = 0; i < launch->task_count; i++)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
						 i	? ","
						 : used ? " {"
							: "{",
						 name_of(launch->tasks[i]));
		used += (size_t)snprintf(text + used, sizeof(text) - used, "}");
	}
	return text;
}

/* All awaits: "K2<K1 K3<K1,K2". */
static const char *awaits(void)
{
	static char text[4096];
	size_t used = 0;

	text[0] = '\0';
	for (uint32_t l = 0; l < fusion->launch_count; l++) {
		const struct sk_launch_schedule *launch = &schedule->launches[l];

		for (uint32_t s = 0; s < launch->step_count; s++)
			for (uint32_t i = 0; i < launch->steps[s].await_count; i++) {
				const char *awaited = name_of(launch->steps[launch->steps[s].awaits[i]].task);
				const char *awaiting = name_of(launch->steps[s].task);

				used += i ? (size_t)snprintf(text + used, sizeof(text) - used, ",%s", awaited)
					  : (size_t)snprintf(text + used, sizeof(text) - used, "%s%s<%s",
							     used ? " " : "", awaiting, awaited);
			}
	}
	return text;
}

/* The messages so far. */
static const char *said(void)
{
	static char text[4096];
	FILE *stream = fmemopen(text, sizeof(text), "w");

	text[0] = '\0';
	sk_diag_flush(&test->diag, "t", 0, stream);
	fclose(stream);
	return text;
}

static const char *code_of(uint32_t number)
{
	return sk_reason_code(fusion->tasks[number].reason);
}

/* ---- one stream, two streams ---- */

/* One stream, a cube task of many blocks, then one of one block. */
START_TEST(J1)
{
	tear_down();
	test = test_model_create(2);
	add_tensor(test, "x", SK_F32, 4800);
	add_tensor(test, "y", SK_F32, 4800);
	add_task(test, "A", on_lane(BLOCKS(24), 0), 0, "s", out("x"));
	add_task(test, "B", on_lane(BLOCKS(1), 0), 0, "s", in("x"), out("y"));
	plan();
	ck_assert_str_eq(superkernels(), "{A,B}");
	ck_assert_str_eq(awaits(), "B<A");
	ck_assert_uint_eq(schedule->launches[0].lane_steps[0], 2);
	ck_assert_uint_eq(schedule->launches[0].lane_steps[1], 0);
}
END_TEST

/* Two streams of a task each, of every two kinds: they overlap. */
START_TEST(J2)
{
	const struct test_spread kinds[] = {on_lane(BLOCKS(8), 0), on_lane(BLOCKS(8), 1), MIX(4, 1), MIX(4, 2)};
	enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

	for (uint32_t pair = 0; pair < KINDS * KINDS; pair++) {
		tear_down();
		test = test_model_create(2);
		task("A", kinds[pair / KINDS], 0, "s");
		task("B", kinds[pair % KINDS], 1, "s");
		fuse_streams(test, "s");
		plan();
		ck_assert_str_eq(superkernels(), "{A,B}");
		ck_assert_str_eq(awaits(), "");
	}
}
END_TEST

/* Events from outside and to outside are orders of launches. */
START_TEST(J3)
{
	uint32_t before = task("before", PLAIN, 8, NULL), first = K(1, 0), last = K(2, 0);
	uint32_t after = task("after", PLAIN, 9, NULL);

	add_event(test, before, first);
	add_event(test, last, after);
	plan();
	ck_assert_str_eq(superkernels(), "{K1,K2}");
	ck_assert_str_eq(awaits(), "");
	ck_assert(sk_fusion_before(fusion, 0, 1) && sk_fusion_before(fusion, 1, 2));
	ck_assert_uint_eq(fusion->launches[1].follow_count, 1);
	ck_assert_uint_eq(fusion->launches[2].follow_count, 1);
}
END_TEST

/* Pairs that intersect become awaits inside. */
START_TEST(J3_intersecting)
{
	uint32_t a1 = K(1, 0), b1 = K(2, 1), a2 = K(3, 0), b2 = K(4, 1);

	add_event(test, a1, b2);
	add_event(test, b1, a2);
	plan();
	ck_assert_str_eq(superkernels(), "{K1,K2,K3,K4}");
	ck_assert_str_eq(awaits(), "K3<K2 K4<K1");
}
END_TEST

/* ---- streams and events ---- */

START_TEST(S1)
{
	for (uint32_t i = 1; i <= 6; i++)
		K(i, i > 3);
	plan();
	ck_assert_str_eq(superkernels(), "{K1,K2,K3,K4,K5,K6}");
	ck_assert_str_eq(awaits(), "");
}
END_TEST

START_TEST(S2)
{
	/* s0: K1 W K2; s1: K3 N K4 */
	K(1, 0);
	uint32_t k3 = K(3, 1), k2 = K(2, 0);

	K(4, 1);
	add_event(test, k3, k2);
	plan();
	ck_assert_str_eq(superkernels(), "{K1,K3,K2,K4}");
	ck_assert_str_eq(awaits(), "K2<K3");
}
END_TEST

/* One notify, two waits. */
START_TEST(S3)
{
	uint32_t k1 = K(1, 0), k2 = K(2, 1), k3 = K(3, 2);

	add_event(test, k1, k2);
	add_event(test, k1, k3);
	fuse_streams(test, "s");
	plan();
	ck_assert_str_eq(superkernels(), "{K1,K2,K3}");
	ck_assert_str_eq(awaits(), "K2<K1 K3<K1");
}
END_TEST

/* A chain over three streams, and an event that it implies. */
START_TEST(S3_chain)
{
	uint32_t k1 = K(1, 0), k2 = K(2, 1), k3 = K(3, 2);

	add_event(test, k1, k2);
	add_event(test, k2, k3);
	add_event(test, k1, k3);
	fuse_streams(test, "s");
	plan();
	ck_assert_str_eq(superkernels(), "{K1,K2,K3}");
	ck_assert_str_eq(awaits(), "K2<K1 K3<K2");
}
END_TEST

/* Nested waits and notifies over three streams. */
START_TEST(S3_nested)
{
	uint32_t k1 = K(1, 0), k2 = K(2, 1), k3 = K(3, 2), k4 = K(4, 2), k5 = K(5, 1), k6 = K(6, 0);

	K(7, 0);
	K(8, 1);
	K(9, 2);
	K(10, 0);
	add_event(test, k1, k2);
	add_event(test, k2, k3);
	add_event(test, k4, k5);
	add_event(test, k5, k6);
	fuse_streams(test, "s");
	plan();
	ck_assert_str_eq(superkernels(), "{K1,K2,K3,K4,K5,K6,K7,K8,K9,K10}");
	ck_assert_str_eq(awaits(), "K2<K1 K3<K2 K5<K4 K6<K5");
}
END_TEST

/* ---- the passes of the reference system over its lines, which are pairs of a sender and a receiver ----
 *
 * It drops a line if a later sender has an earlier receiver in the same direction (its flags are counters, one per
 * direction), keeps the earliest receiver of a sender, and the latest sender to a receiver. That is right for it
 * because the tasks of a type run one after the other there. Here an await is dropped exactly if another one implies
 * it. */

static uint32_t on_all(const char *name, uint32_t lane, uint32_t stream)
{
	return task(name, on_lane(BLOCKS(8), lane), stream, "s");
}

static uint32_t on_home(const char *name, uint32_t lane, uint32_t stream)
{
	return task(name, on_lane(PLAIN, lane), stream, "s");
}

static void use_two_lanes(void)
{
	tear_down();
	test = test_model_create(2);
}

static void expect_awaits(const char *expected)
{
	fuse_streams(test, "s");
	plan();
	ck_assert_str_eq(awaits(), expected);
}

/* K4 runs after K3 on the same home, and K2 after K1. */
START_TEST(crossed_lines)
{
	uint32_t a1 = K(1, 0), a2 = K(2, 0), b1 = K(3, 1), b2 = K(4, 1);

	add_event(test, a2, b1);
	add_event(test, a1, b2);
	expect_awaits("K3<K2");
}
END_TEST

/* From cube to vector and back, on all cores: each core of the vector lane has awaited C2, and with it C1. */
START_TEST(crossed_lines_between_lanes)
{
	for (uint32_t lane = 0; lane < 2; lane++) {
		use_two_lanes();
		uint32_t a1 = on_all("A1", lane, 0), a2 = on_all("A2", lane, 0);
		uint32_t b1 = on_all("B1", 1 - lane, 1), b2 = on_all("B2", 1 - lane, 1);

		add_event(test, a2, b1);
		add_event(test, a1, b2);
		expect_awaits("B1<A2");
	}
}
END_TEST

/* Lines that cross and are of different streams imply nothing: the reference system drops A1 to B2, and is right only
 * because it lets A2 wait for A1. */
START_TEST(crossed_lines_of_more_streams)
{
	use_two_lanes();
	uint32_t a1 = on_home("A1", 0, 0), a2 = on_home("A2", 0, 1);
	uint32_t b1 = on_home("B1", 1, 2), b2 = on_home("B2", 1, 2);

	add_event(test, a2, b1);
	add_event(test, a1, b2);
	expect_awaits("B1<A2 B2<A1");
}
END_TEST

/* Lines that do not cross: neither implies the other. */
START_TEST(parallel_lines)
{
	use_two_lanes();
	uint32_t a1 = on_all("A1", 0, 0), a2 = on_all("A2", 0, 0);
	uint32_t b1 = on_all("B1", 1, 1), b2 = on_all("B2", 1, 1);

	add_event(test, a1, b1);
	add_event(test, a2, b2);
	expect_awaits("B1<A1 B2<A2");
}
END_TEST

/* Mix tasks have a line in both directions, one for each side. */
START_TEST(crossed_lines_of_mix_tasks)
{
	use_two_lanes();
	uint32_t a1 = on_all("A1", 0, 0), a2 = task("A2", MIX(4, 2), 0, "s");
	uint32_t b1 = task("B1", MIX(4, 1), 1, "s"), b2 = on_all("B2", 1, 1);

	add_event(test, a2, b1);
	add_event(test, a1, b2);
	expect_awaits("B1<A2,A2 B1<A2,A2"); /* each side awaits both sides; A1 is before A2 on the cube lane */
}
END_TEST

/* One sender. B2 is on B1's home and C1 on another one; B3 is on all cores, which do not know a home's awaits. */
START_TEST(multi_send)
{
	uint32_t a1 = K(1, 0), b1 = K(2, 1), b2 = K(3, 1), c1 = K(4, 2), b3 = on_all("B3", 0, 1);
	uint32_t b4 = on_all("B4", 0, 1);

	add_event(test, a1, b1);
	add_event(test, a1, b2);
	add_event(test, a1, c1);
	add_event(test, a1, b3);
	add_event(test, a1, b4);
	expect_awaits("K2<K1 K4<K1 B3<K1");
}
END_TEST

/* From its wait on the whole stream is after the sender: the same awaits with one line to B1. */
START_TEST(multi_send_by_stream)
{
	uint32_t a1 = K(1, 0), b1 = K(2, 1);

	K(3, 1);
	K(4, 2);
	on_all("B3", 0, 1);
	on_all("B4", 0, 1);
	add_event(test, a1, b1);
	expect_awaits("K2<K1 B3<K1");
}
END_TEST

/* One receiver. For senders on one home the last one is enough … */
START_TEST(multi_receive)
{
	uint32_t a1 = K(1, 0), a2 = K(2, 0), b1 = K(3, 1), c1 = K(4, 2);

	add_event(test, a1, c1);
	add_event(test, a2, c1);
	add_event(test, b1, c1);
	expect_awaits("K4<K2,K3");
}
END_TEST

/* … and so it is for a home followed by all cores, but not for all cores followed by a home. */
START_TEST(multi_receive_of_core_sets)
{
	uint32_t a1 = on_home("A1", 0, 0), a2 = on_all("A2", 0, 0), b1 = K(1, 1);

	add_event(test, a1, b1);
	add_event(test, a2, b1);
	expect_awaits("K1<A2");
	tear_down();
	set_up();
	a1 = on_all("A1", 0, 0);
	a2 = on_home("A2", 0, 0);
	b1 = K(1, 1);
	add_event(test, a1, b1);
	add_event(test, a2, b1);
	expect_awaits("K1<A1,A2");
}
END_TEST

/* An event covers the sender's whole stream: the same awaits with one line from A2. */
START_TEST(multi_receive_by_stream)
{
	on_all("A1", 0, 0);
	uint32_t a2 = on_home("A2", 0, 0), b1 = K(1, 1);

	add_event(test, a2, b1);
	expect_awaits("K1<A1,A2");
}
END_TEST

/* Several receivers of one sender, several senders to one receiver. */
START_TEST(multi_send_and_receive)
{
	uint32_t a1 = K(1, 0), a2 = K(2, 0), b1 = K(3, 1), b2 = K(4, 1), c1 = K(5, 2);

	add_event(test, a1, b1);
	add_event(test, a1, b2);
	add_event(test, a1, c1);
	add_event(test, a2, c1);
	add_event(test, b2, c1);
	expect_awaits("K3<K1 K5<K2,K4");
}
END_TEST

/* ---- tasks that cannot be fused ---- */

START_TEST(S4)
{
	K(1, 0);
	U(1, 0);
	K(2, 0);
	plan();
	ck_assert_str_eq(superkernels(), "{K1} {K2}");
}
END_TEST

START_TEST(S4_another_stream)
{
	K(1, 0);
	U(1, 0);
	K(2, 0);
	K(3, 1);
	plan();
	ck_assert_str_eq(superkernels(), "{K1,K3} {K2}");
}
END_TEST

START_TEST(S4_two_in_a_row)
{
	K(1, 0);
	U(1, 0);
	U(2, 0);
	K(2, 0);
	K(3, 1);
	plan();
	ck_assert_str_eq(superkernels(), "{K1,K3} {K2}");
}
END_TEST

START_TEST(S4_nothing_left)
{
	U(1, 0);
	U(2, 0);
	plan();
	ck_assert_str_eq(superkernels(), "");
	ck_assert_uint_eq(fusion->launch_count, 2);
}
END_TEST

/* The example of the graph engine: it cuts all streams at every task that cannot be fused, and gets {1,2,3} {6,7}
 * {9,10}. Here a task cuts its own stream, and the tasks that depend on it. */
START_TEST(two_streams_with_cuts)
{
	K(1, 0);
	K(2, 1);
	K(3, 1);
	U(4, 1);
	U(5, 0);
	K(6, 0);
	K(7, 1);
	U(8, 0);
	K(9, 1);
	K(10, 0);
	plan();
	ck_assert_str_eq(superkernels(), "{K1,K2,K3} {K6,K7,K9} {K10}");
}
END_TEST

/* ---- tasks that call sk_sync_all ---- */

/* A device with two lanes and a profile that asks for the reference system's split. */
static void set_up_split(void)
{
	test = test_model_create(2);
	split_at_sync_all(test);
}

enum { CUBE, VECTOR };

static uint32_t blocks(const char *name, uint32_t count, uint32_t lane, uint32_t stream)
{
	return task(name, on_lane(BLOCKS(count), lane), stream, "s");
}

static uint32_t syncs(const char *name, uint32_t count, uint32_t lane, uint32_t stream)
{
	return task(name, on_lane(SYNC_ALL(count), lane), stream, "s");
}

static void expect_reason(uint32_t number, const char *code, const char *sentence)
{
	ck_assert_str_eq(code_of(number), code);
	ck_assert_str_eq(sk_reason_text(test->model.arena, &test->model, fusion, number), sentence);
}

/* It needs fewer cores than the greediest task before it; tasks that follow it come after the cut. */
START_TEST(sync_all_drop)
{
	blocks("k1", 24, CUBE, 0);
	blocks("k2", 8, CUBE, 0);
	uint32_t c = syncs("c", 8, CUBE, 0), k3 = blocks("k3", 8, CUBE, 0);

	plan();
	ck_assert_str_eq(superkernels(), "{k1,k2} {c,k3}");
	expect_reason(c, "SYNCALL_OP_DROP",
		      "fused into sk_s_start_c_end_k3 and not into sk_s_start_k1_end_k2: on device 'a3' sk_sync_all "
		      "waits for all cores of a superkernel; with this task, which calls it, there may be 8 of lane "
		      "'cube', and task 'k1' takes 24");
	expect_reason(k3, "SCOPE_FUSE_PART",
		      "fused into sk_s_start_c_end_k3 and not into the segment before, since it comes after task 'c', "
		      "which is in a later one (SYNCALL_OP_DROP)");
}
END_TEST

/* A task after it needs more. */
START_TEST(sync_all_rise)
{
	blocks("k1", 4, VECTOR, 0);
	syncs("c", 8, VECTOR, 0);
	blocks("k2", 8, VECTOR, 0);
	uint32_t k3 = blocks("k3", 9, VECTOR, 0);

	blocks("k4", 48, VECTOR, 0);
	plan();
	ck_assert_str_eq(superkernels(), "{k1,c,k2} {k3,k4}");
	expect_reason(k3, "SYNCALL_OP_RISE",
		      "fused into sk_s_start_k3_end_k4 and not into sk_s_start_k1_end_k2: on device 'a3' sk_sync_all "
		      "waits for all cores of a superkernel; with task 'c', which calls it, there may be 8 of lane "
		      "'vector', and this one takes 9");
}
END_TEST

/* One on all cores, and several with as many cores each, cost nothing. */
START_TEST(sync_all_on_all_cores)
{
	blocks("k1", 24, CUBE, 0);
	syncs("c1", 24, CUBE, 0);
	syncs("c2", 48, VECTOR, 0);
	task("c3", MIX(24, 2), 0, "s");
	blocks("k2", 3, VECTOR, 0);
	plan();
	ck_assert_str_eq(superkernels(), "{k1,c1,c2,c3,k2}");
}
END_TEST

/* Drop and rise in turns: a segment for each of them. */
START_TEST(sync_all_turns)
{
	for (uint32_t i = 0; i < 6; i++) {
		const char *name = sk_arena_print(test->arena, "k%u", i);

		syncs(name, i % 2 ? 24 : 4, CUBE, 0);
	}
	plan();
	ck_assert_str_eq(superkernels(), "{k0} {k1} {k2} {k3} {k4} {k5}");
}
END_TEST

/* A task cuts the segment for tasks that follow it; other streams go on in the segments that take them. */
START_TEST(sync_all_streams)
{
	blocks("k1", 24, CUBE, 0);
	syncs("c", 4, CUBE, 1);
	blocks("k2", 24, CUBE, 0);
	uint32_t k3 = blocks("k3", 4, CUBE, 1), k4 = blocks("k4", 4, CUBE, 2), k5 = blocks("k5", 24, CUBE, 1);

	add_event(test, k3, k4);
	fuse_streams(test, "s");
	blocks("k6", 24, CUBE, 3);
	syncs("k7", 4, CUBE, 4);
	plan();
	ck_assert_str_eq(superkernels(), "{k1,k2,k6} {c,k3,k4,k7} {k5}");
	ck_assert_str_eq(code_of(k4), "SCOPE_FUSE_PART");
	ck_assert_str_eq(code_of(k5), "SYNCALL_OP_RISE");
}
END_TEST

/* Cores come in groups: with a cube core there are two vector cores, also where a task has cores of one lane only. */
START_TEST(sync_all_lanes)
{
	syncs("c", 4, CUBE, 0);
	blocks("v1", 8, VECTOR, 1);
	uint32_t v2 = blocks("v2", 9, VECTOR, 1), v3 = syncs("v3", 7, VECTOR, 1);

	plan();
	ck_assert_str_eq(superkernels(), "{c,v1} {v2} {v3}");
	expect_reason(v2, "SYNCALL_OP_RISE",
		      "fused into sk_s_start_v2_end_v2 and not into sk_s_start_c_end_v1: on device 'a3' sk_sync_all "
		      "waits for all cores of a superkernel; with task 'c', which calls it, there may be 8 of lane "
		      "'vector', and this one takes 9");
	ck_assert_str_eq(code_of(v3), "SYNCALL_OP_DROP");
}
END_TEST

/* The sides of a mix task count in their lanes, whether its own blocks call sk_sync_all or not. */
START_TEST(sync_all_mix)
{
	struct test_spread both = MIX(8, 1);

	task("m1", MIX(8, 2), 0, "s");
	syncs("c", 16, VECTOR, 0); /* 8 groups */
	uint32_t m2 = task("m2", MIX(9, 1), 0, "s"); /* 9 cube cores */

	both.sync_all = true;
	uint32_t m3 = task("m3", both, 0, "s"), v = blocks("v", 9, VECTOR, 0);

	plan();
	ck_assert_str_eq(superkernels(), "{m1,c} {m2} {m3} {v}");
	ck_assert_str_eq(code_of(m2), "SYNCALL_OP_RISE");
	ck_assert_str_eq(code_of(m3), "SYNCALL_OP_DROP");
	expect_reason(v, "SYNCALL_OP_RISE",
		      "fused into sk_s_start_v_end_v and not into sk_s_start_m3_end_m3: on device 'a3' sk_sync_all "
		      "waits for all cores of a superkernel; with task 'm3', which calls it, there may be 8 of lane "
		      "'vector', and this one takes 9");
}
END_TEST

/* On a device with one lane, the sides of a mix task have cores next to each other. */
START_TEST(sync_all_one_lane)
{
	tear_down();
	test = test_model_create(1);
	split_at_sync_all(test);
	syncs("c1", 6, 0, 0);
	task("m", MIX(2, 2), 0, "s");
	syncs("c2", 5, 0, 0);
	plan();
	ck_assert_str_eq(superkernels(), "{c1,m} {c2}");
}
END_TEST

/* A task that is launched by itself cuts as ever. */
START_TEST(sync_all_and_unfusible)
{
	syncs("c1", 4, CUBE, 0);
	U(1, 0);
	syncs("c2", 8, CUBE, 0);
	syncs("c3", 4, CUBE, 1);
	plan();
	ck_assert_str_eq(superkernels(), "{c1,c3} {c2}");
	ck_assert_str_eq(code_of(2), "SCOPE_FUSE_PART");
}
END_TEST

/* A task that has left its segment, since two scopes would wait for each other, counts in its new one. */
START_TEST(sync_all_between_scopes)
{
	uint32_t a1 = blocks("a1", 24, CUBE, 0), b1 = task("b1", PLAIN, 1, "q"), b2 = task("b2", PLAIN, 2, "q");
	uint32_t a2 = blocks("a2", 24, CUBE, 3), c = syncs("c", 4, CUBE, 4);

	add_after(test, b1, a1);
	add_after(test, a2, b2);
	fuse_streams(test, "s");
	plan();
	ck_assert_str_eq(superkernels(), "{a1} {b1,b2} {a2} {c}");
	ck_assert_str_eq(code_of(c), "SYNCALL_OP_DROP");
	ck_assert_uint_eq(fusion->tasks[c].cause, a2);
}
END_TEST

/* With feed-sync-all=1 idle cores take part, and nothing has to be split. */
START_TEST(sync_all_fed)
{
	blocks("k1", 24, CUBE, 0);
	syncs("c", 4, CUBE, 0);
	feed_sync_all(test, "s");
	plan();
	ck_assert_str_eq(superkernels(), "{k1,c}");
}
END_TEST

/* Devices do not split unless their profiles say so. */
START_TEST(sync_all_unless_asked)
{
	tear_down();
	test = test_model_create(2);
	blocks("k1", 24, CUBE, 0);
	syncs("c", 4, CUBE, 0);
	plan();
	ck_assert_str_eq(superkernels(), "{k1,c}");
}
END_TEST

START_TEST(sync_all_strictly)
{
	blocks("k1", 24, CUBE, 0);
	syncs("c", 4, CUBE, 0);
	check_strictly(test, "s", _i ? SK_STRICT_ABORT : SK_STRICT_BYPASS);
	test_model_finish(test);
	fusion = sk_fusion_build(&test->model);
	ck_assert_ptr_nonnull(strstr(said(), "2 superkernels and 0 single tasks\n>>> test.yaml:4:3: task 'c' "
					     "(SYNCALL_OP_DROP): "));
	ck_assert(_i ? !fusion : !*superkernels());
}
END_TEST

/* Several hundred cuts, and tasks of other streams that fit into none of the segments. */
START_TEST(sync_all_many)
{
	enum { CUTS = 300 };

	for (uint32_t i = 0; i < CUTS; i++)
		syncs(sk_arena_print(test->arena, "k%u", i), i % 2 ? 24 : 4, CUBE, 0);
	for (uint32_t i = 0; i < CUTS; i++)
		syncs(sk_arena_print(test->arena, "x%u", i), 5, CUBE, 1 + i);
	fuse_streams(test, "s");
	plan();
	ck_assert_uint_eq(fusion->launch_count, CUTS + 1);
}
END_TEST

/* ---- scopes ---- */

/* A{ B{ k1 } k2 } */
START_TEST(S6_nested)
{
	task("k1", PLAIN, 0, "A B");
	task("k2", PLAIN, 0, "A");
	plan();
	ck_assert_str_eq(superkernels(), "{k1} {k2}");
	ck_assert_str_eq(fusion->launches[0].scope, "A,B");
}
END_TEST

/* A{ k1 B{ k2 }A k3 }B */
START_TEST(S6_interleaved)
{
	task("k1", PLAIN, 0, "A");
	task("k2", PLAIN, 0, "A B");
	task("k3", PLAIN, 0, "B");
	plan();
	ck_assert_str_eq(superkernels(), "{k1} {k2} {k3}");
}
END_TEST

/* One name in several places and streams is one scope. */
START_TEST(S6_one_name)
{
	task("k1", PLAIN, 0, "A");
	task("x", PLAIN, 3, NULL);
	task("k2", PLAIN, 1, "A");
	task("k3", PLAIN, 0, "A");
	plan();
	ck_assert_str_eq(superkernels(), "{k1,k2,k3}");
}
END_TEST

START_TEST(S6_null_inside)
{
	task("k1", PLAIN, 0, "A");
	never_fuse(test, task("n", PLAIN, 0, "A"));
	task("k2", PLAIN, 1, "A");
	plan();
	ck_assert_str_eq(superkernels(), "{k1,k2}");
	ck_assert_str_eq(code_of(1), "IN_UNFUSIBLE_SCOPE");
}
END_TEST

/* The number of scopes is not limited. */
START_TEST(S6_many)
{
	enum { SCOPES = 3000 };

	for (uint32_t i = 0; i < SCOPES; i++)
		task(sk_arena_print(test->arena, "k%u", i), PLAIN, 0, sk_arena_print(test->arena, "scope%u", i));
	plan();
	ck_assert_uint_eq(fusion->launch_count, SCOPES);
	for (uint32_t i = 0; i < SCOPES; i++)
		ck_assert_int_eq(fusion->launches[i].kind, SK_LAUNCH_SUPERKERNEL);
}
END_TEST

/* A scope of one task is a superkernel; it is launched on the stream of its first task. */
START_TEST(S9)
{
	task("k1", PLAIN, 5, "A");
	task("k2", PLAIN, 7, "B");
	task("k3", PLAIN, 6, "B");
	plan();
	ck_assert_str_eq(superkernels(), "{k1} {k2,k3}");
	ck_assert_uint_eq(fusion->launches[0].stream, 5);
	ck_assert_uint_eq(fusion->launches[1].stream, 7);
}
END_TEST

/* ---- strict-scope-check ---- */

/* K, U, F: the first, middle and last task of the scope; F is one of another scope. */
static void add_three(const char *kinds, enum sk_strict_check strict)
{
	for (uint32_t i = 0; i < 3; i++) {
		const char *name = sk_arena_print(test->arena, "%c%u", kinds[i], i);

		task(name, kinds[i] == 'U' ? UNFUSIBLE : PLAIN, 0, kinds[i] == 'F' ? "other" : "s");
	}
	check_strictly(test, "s", strict);
	test_model_finish(test);
}

static const char *const broken[] = {"UKK", "KUK", "KKU", "KFK"};

START_TEST(S11_abort)
{
	add_three(broken[_i], SK_STRICT_ABORT);
	ck_assert_ptr_null(sk_fusion_build(&test->model));
	ck_assert_ptr_nonnull(strstr(said(), "scope 's' cannot be fused whole (strict-scope-check=abort)"));
}
END_TEST

START_TEST(S11_bypass)
{
	add_three(broken[_i], SK_STRICT_BYPASS);
	plan();
	ck_assert_str_eq(superkernels(), strchr(broken[_i], 'F') ? "{F1}" : "");
	ck_assert_ptr_nonnull(strstr(said(), "scope 's' is not fused (strict-scope-check=bypass)"));
}
END_TEST

/* Two scopes that would have to come before each other. */
START_TEST(S11_ring)
{
	uint32_t a1 = task("a1", PLAIN, 0, "A"), b1 = task("b1", PLAIN, 1, "B"), b2 = task("b2", PLAIN, 2, "B");
	uint32_t a2 = task("a2", PLAIN, 3, "A");

	add_after(test, b1, a1);
	add_after(test, a2, b2);
	plan();
	ck_assert_str_eq(superkernels(), "{a1} {b1,b2} {a2}");
	ck_assert_str_eq(code_of(a2), "EXTERNAL_DEPEND");
}
END_TEST

/* ---- deadlocks ---- */

/* The notifier needs cores that the superkernel would hold: cut at the wait, which stays out. */
START_TEST(deadlock_outside)
{
	uint32_t k1 = K(1, 0), x = task("x", PLAIN, 5, NULL), k2 = K(2, 0);

	K(3, 0);
	add_event(test, k1, x);
	add_event(test, x, k2);
	plan();
	ck_assert_str_eq(superkernels(), "{K1} {K2,K3}");
	ck_assert_str_eq(code_of(k2), "EXIST_DEADLOCK");
}
END_TEST

/* The notify is in a later superkernel of the same scope. */
START_TEST(deadlock_later_superkernel)
{
	uint32_t k1 = K(1, 0);

	U(1, 0);
	uint32_t k2 = K(2, 0), k3 = K(3, 1), k4 = K(4, 1);

	add_event(test, k1, k3);
	add_event(test, k2, k4);
	plan();
	ck_assert_str_eq(superkernels(), "{K1,K3} {K2,K4}");
	ck_assert_str_eq(awaits(), "K3<K1 K4<K2");
}
END_TEST

/* The wait comes first in the scope: nothing of it has to be cut. */
START_TEST(deadlock_first_wait)
{
	uint32_t x = task("x", PLAIN, 5, NULL), k1 = K(1, 0);

	K(2, 0);
	add_event(test, x, k1);
	plan();
	ck_assert_str_eq(superkernels(), "{K1,K2}");
	ck_assert(sk_fusion_before(fusion, fusion->tasks[x].launch, fusion->tasks[k1].launch));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("scenarios");
	TCase *tcase = tcase_create("scenarios");
	int variants = sizeof(broken) / sizeof(broken[0]);

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, J1);
	tcase_add_test(tcase, J2);
	tcase_add_test(tcase, J3);
	tcase_add_test(tcase, J3_intersecting);
	tcase_add_test(tcase, S1);
	tcase_add_test(tcase, S2);
	tcase_add_test(tcase, S3);
	tcase_add_test(tcase, S3_chain);
	tcase_add_test(tcase, S3_nested);
	tcase_add_test(tcase, crossed_lines);
	tcase_add_test(tcase, crossed_lines_between_lanes);
	tcase_add_test(tcase, crossed_lines_of_more_streams);
	tcase_add_test(tcase, parallel_lines);
	tcase_add_test(tcase, crossed_lines_of_mix_tasks);
	tcase_add_test(tcase, multi_send);
	tcase_add_test(tcase, multi_send_by_stream);
	tcase_add_test(tcase, multi_receive);
	tcase_add_test(tcase, multi_receive_of_core_sets);
	tcase_add_test(tcase, multi_receive_by_stream);
	tcase_add_test(tcase, multi_send_and_receive);
	tcase_add_test(tcase, S4);
	tcase_add_test(tcase, S4_another_stream);
	tcase_add_test(tcase, S4_two_in_a_row);
	tcase_add_test(tcase, S4_nothing_left);
	tcase_add_test(tcase, two_streams_with_cuts);
	tcase_add_test(tcase, S6_nested);
	tcase_add_test(tcase, S6_interleaved);
	tcase_add_test(tcase, S6_one_name);
	tcase_add_test(tcase, S6_null_inside);
	tcase_add_test(tcase, S6_many);
	tcase_add_test(tcase, S9);
	tcase_add_loop_test(tcase, S11_abort, 0, variants);
	tcase_add_loop_test(tcase, S11_bypass, 0, variants);
	tcase_add_test(tcase, S11_ring);
	tcase_add_test(tcase, deadlock_outside);
	tcase_add_test(tcase, deadlock_later_superkernel);
	tcase_add_test(tcase, deadlock_first_wait);
	suite_add_tcase(suite, tcase);

	TCase *split = tcase_create("sk_sync_all splits");

	tcase_add_checked_fixture(split, set_up_split, tear_down);
	tcase_add_test(split, sync_all_drop);
	tcase_add_test(split, sync_all_rise);
	tcase_add_test(split, sync_all_on_all_cores);
	tcase_add_test(split, sync_all_turns);
	tcase_add_test(split, sync_all_streams);
	tcase_add_test(split, sync_all_lanes);
	tcase_add_test(split, sync_all_mix);
	tcase_add_test(split, sync_all_one_lane);
	tcase_add_test(split, sync_all_and_unfusible);
	tcase_add_test(split, sync_all_between_scopes);
	tcase_add_test(split, sync_all_fed);
	tcase_add_test(split, sync_all_unless_asked);
	tcase_add_loop_test(split, sync_all_strictly, 0, 2);
	tcase_add_test(split, sync_all_many);
	suite_add_tcase(suite, split);

	return run_suite(suite);
}
