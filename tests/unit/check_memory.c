/* Tests of src/planning/memory.c: layouts by hand, then random ones against the oracle: no temporary is overwritten
 * while it is alive, and sharing bytes needs no await that is not there. */
#include "base/arena.h"
#include "base/map.h"
#include "format/skplan.h"
#include "src/planning/planning-parts.h"
#include "src/planning/planning.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "src/model/model.h"
#include "tests/lib/happens-before.h"
#include "tests/lib/model-builder.h"
#include "tests/lib/random.h"
#include "tests/lib/suite.h"

enum { N = 4096, F32 = 4 * N, RANDOM_MODELS = 500, MOST_CORES = 7 };

static struct test_model *test;
static struct sk_fusion *fusion;
static struct sk_schedule *schedule;
static struct sk_memory *memory;

static void set_up(void)
{
	test = test_model_create(1);
	add_tensor(test, "x", SK_F32, N);

	uint32_t output = add_tensor(test, "y", SK_F32, N); /* which may move the tensors */

	test->model.tensors.items[output].role = SK_ROLE_OUTPUT;
	for (char name[] = "t1"; name[1] <= '6'; name[1]++)
		add_tensor(test, name, SK_F32, N);
	add_tensor(test, "h1", SK_BF16, N);
	add_tensor(test, "h2", SK_BF16, N);
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
	schedule = sk_schedule_build(&test->model, fusion);
	memory = sk_memory_plan(&test->model, fusion, schedule);
	ck_assert_ptr_nonnull(memory);
}

static uint64_t offset_of(const char *tensor)
{
	return memory->offset[sk_map_find(&test->model.tensor_names, tensor, strlen(tensor))];
}

static uint64_t unshared_offset_of(const char *tensor)
{
	return memory->unshared_offset[sk_map_find(&test->model.tensor_names, tensor, strlen(tensor))];
}

static void expect_no_awaits(void)
{
	for (uint32_t s = 0; s < schedule->launches[0].step_count; s++)
		ck_assert_uint_eq(schedule->launches[0].steps[s].await_count, 0);
}

/* ---- by hand ---- */

START_TEST(test_chain_of_splits)
{
	add_task(test, "a", ELEMENTWISE(N), 0, "s", in("x"), out("t1"));
	add_task(test, "b", ELEMENTWISE(N), 0, "s", in("t1"), out("t2"));
	add_task(test, "c", ELEMENTWISE(N), 0, "s", in("t2"), out("t3"));
	add_task(test, "d", ELEMENTWISE(N), 0, "s", in("t3"), out("t4"));
	add_task(test, "e", ELEMENTWISE(N), 0, "s", in("t4"), out("y"));
	plan();
	expect_no_awaits();
	ck_assert_uint_eq(offset_of("t1"), 0);
	ck_assert_uint_eq(offset_of("t2"), F32);
	ck_assert_uint_eq(offset_of("t3"), 0);
	ck_assert_uint_eq(offset_of("t4"), F32);
	ck_assert_uint_eq(memory->workspace_size, 2 * F32);
	ck_assert_uint_eq(unshared_offset_of("t1"), 0);
	ck_assert_uint_eq(unshared_offset_of("t4"), 3 * F32);
	ck_assert_uint_eq(memory->unshared_workspace_size, 4 * F32);
}
END_TEST

/* Later runs also read it. */
START_TEST(test_results_of_tasks_that_run_once)
{
	run_once(test, add_task(test, "o", ELEMENTWISE(N), 0, "s", in("x"), out("t1")));
	run_once(test, add_task(test, "p", ELEMENTWISE(N), 0, "s", in("t1"), out("t2")));
	add_task(test, "a", ELEMENTWISE(N), 0, "s", in("t2"), out("t3"));
	add_task(test, "b", ELEMENTWISE(N), 0, "s", in("t3"), out("t4"));
	add_task(test, "c", ELEMENTWISE(N), 0, "s", in("t4"), out("t5"));
	add_task(test, "d", ELEMENTWISE(N), 0, "s", in("t5"), out("y"));
	plan();
	ck_assert_uint_eq(offset_of("t1"), 2 * F32);
	ck_assert_uint_eq(offset_of("t2"), 3 * F32);
	ck_assert_uint_eq(offset_of("t3"), 0);
	ck_assert_uint_eq(offset_of("t4"), F32);
	ck_assert_uint_eq(offset_of("t5"), 0);
	ck_assert_uint_eq(memory->workspace_size, 4 * F32);
}
END_TEST

START_TEST(test_types_do_not_mix_without_awaits)
{
	/* A core's range of f32 and of bf16 are different bytes: only like goes where like was. */
	add_task(test, "a", ELEMENTWISE(N), 0, "s", in("x"), out("t1"));
	add_task(test, "b", ELEMENTWISE(N), 0, "s", in("t1"), out("h1"));
	add_task(test, "c", ELEMENTWISE(N), 0, "s", in("h1"), out("t2"));
	add_task(test, "d", ELEMENTWISE(N), 0, "s", in("t2"), out("h2"));
	add_task(test, "e", ELEMENTWISE(N), 0, "s", in("h2"), out("y"));
	plan();
	expect_no_awaits();
	ck_assert_uint_eq(offset_of("t1"), 0);
	ck_assert_uint_eq(offset_of("h1"), F32);
	ck_assert_uint_eq(offset_of("t2"), 0);
	ck_assert_uint_eq(offset_of("h2"), F32);
	ck_assert_uint_eq(memory->workspace_size, F32 + F32 / 2);
}
END_TEST

START_TEST(test_same_cores_same_place)
{
	/* s1 is gone when t3 comes, but t3 can only follow t1 at t1's own offset: elsewhere the cores' ranges would
	 * mix. */
	add_tensor(test, "s1", SK_F32, 16);
	add_task(test, "p", PLAIN, 0, "s", in("x"), out("s1"));
	add_task(test, "a", ELEMENTWISE(N), 0, "s", in("x"), load("s1"), out("t1"));
	add_task(test, "b", ELEMENTWISE(N), 0, "s", in("t1"), out("t2"));
	add_task(test, "c", ELEMENTWISE(N), 0, "s", in("t2"), out("t3"));
	add_task(test, "d", ELEMENTWISE(N), 0, "s", in("t3"), out("y"));
	plan();
	ck_assert_uint_eq(offset_of("s1"), 0);
	ck_assert_uint_eq(offset_of("t1"), 64);
	ck_assert_uint_eq(offset_of("t2"), 64 + F32);
	ck_assert_uint_eq(offset_of("t3"), 64);
}
END_TEST

START_TEST(test_same_cores_same_size)
{
	/* 4096 and 4040 elements are both 64 units, but not the same size. */
	add_tensor(test, "z", SK_F32, 4040);
	add_tensor(test, "t7", SK_F32, 4040);
	add_task(test, "a", ELEMENTWISE(N), 0, "s", in("x"), out("t1"));
	add_task(test, "b", ELEMENTWISE(N), 0, "s", in("t1"), out("y"));
	add_task(test, "c", ELEMENTWISE(4040), 0, "s", part(in("x"), 0, 4040 * 4), out("t7"));
	add_task(test, "d", ELEMENTWISE(4040), 0, "s", in("t7"), out("z"));
	plan();
	expect_no_awaits();
	ck_assert_uint_eq(offset_of("t7"), F32);
}
END_TEST

START_TEST(test_taken_since)
{
	/* Stream 0's home may put h1 where t1 was, since it has awaited b; the others have not, so t3 must go
	 * elsewhere. */
	add_task(test, "a", ELEMENTWISE(N), 0, "s", in("x"), out("t1"));
	add_task(test, "b", ELEMENTWISE(N), 0, "s", in("t1"), out("t2"));
	add_task(test, "p", PLAIN, 0, "s", in("t2"), out("h1"));
	add_task(test, "q", PLAIN, 0, "s", in("h1"), part(out("y"), 0, 4));
	add_task(test, "c", ELEMENTWISE(N), 1, "s", in("x"), out("t3"));
	add_task(test, "d", PLAIN, 0, "s", in("t3"), part(out("y"), 4, 4));
	plan();
	ck_assert_uint_eq(offset_of("t1"), 0);
	ck_assert_uint_eq(offset_of("h1"), 0);
	ck_assert_uint_eq(offset_of("t3"), 2 * F32);
}
END_TEST

START_TEST(test_only_the_last_access_counts)
{
	/* t1 is read by rows of other length at the end: h1 may not have its bytes, and t3 may not either. */
	add_task(test, "a", ELEMENTWISE(N), 0, "s", in("x"), out("t1"));
	add_task(test, "b", BLOCKS(8), 0, "s", in("t1"), out("t2"));
	add_task(test, "c", ELEMENTWISE(N), 0, "s", in("x"), out("t3"));
	add_task(test, "d", ELEMENTWISE(N), 0, "s", in("t3"), out("y"));
	add_task(test, "e", ELEMENTWISE(N), 0, "s", in("t2"), inout("y"));
	plan();
	ck_assert_uint_eq(offset_of("t1"), 0);
	ck_assert_uint_eq(offset_of("t2"), F32);
	ck_assert_uint_eq(offset_of("t3"), 2 * F32);
}
END_TEST

START_TEST(test_awaits_allow_reuse)
{
	/* c awaits b everywhere: the bf16 tensor may lie where t1 was. */
	add_task(test, "a", ELEMENTWISE(N), 0, "s", in("x"), out("t1"));
	add_task(test, "b", BLOCKS(8), 0, "s", in("t1"), out("t2"));
	add_task(test, "c", ELEMENTWISE(N), 0, "s", in("t2"), out("h1"));
	add_task(test, "d", ELEMENTWISE(N), 0, "s", in("h1"), out("y"));
	plan();
	ck_assert_uint_eq(offset_of("h1"), 0);
	ck_assert_uint_eq(memory->workspace_size, 2 * F32);
}
END_TEST

START_TEST(test_pieces_join)
{
	/* t1 and t2 are gone when the big tensor comes, which takes the bytes of both. */
	add_tensor(test, "big", SK_F32, 2 * N);
	add_task(test, "a", PLAIN, 0, "s", in("x"), out("t1"), out("t2"));
	add_task(test, "b", PLAIN, 0, "s", in("t1"), in("t2"), out("t3"));
	add_task(test, "c", PLAIN, 0, "s", in("t3"), out("big"));
	add_task(test, "d", PLAIN, 0, "s", in("big"), out("y"));
	plan();
	ck_assert_uint_eq(offset_of("t3"), 2 * F32);
	ck_assert_uint_eq(offset_of("big"), 0);
	ck_assert_uint_eq(memory->workspace_size, 3 * F32);
}
END_TEST

START_TEST(test_split_tenant)
{
	/* h1 and h2 take a half of t1's bytes each; t4 may only lie there when both are gone. */
	add_task(test, "a", PLAIN, 0, "s", in("x"), out("t1"));
	add_task(test, "b", PLAIN, 0, "s", in("t1"), out("t2"));
	add_task(test, "c", PLAIN, 0, "s", in("t2"), out("h1"), out("h2"));
	add_task(test, "d", PLAIN, 0, "s", in("h1"), out("t3"));
	add_task(test, "e", PLAIN, 0, "s", in("t3"), in("h2"), out("t4"));
	add_task(test, "f", PLAIN, 0, "s", in("t4"), in("h2"), out("t5"));
	add_task(test, "g", PLAIN, 0, "s", in("t5"), out("t6"));
	add_task(test, "h", PLAIN, 0, "s", in("t6"), out("y"));
	plan();
	ck_assert_uint_eq(offset_of("h1"), 0);
	ck_assert_uint_eq(offset_of("h2"), F32 / 2);
	ck_assert_uint_eq(offset_of("t3"), F32);
	ck_assert_uint_eq(offset_of("t4"), 2 * F32);
	ck_assert_uint_eq(offset_of("t5"), F32);
	ck_assert_uint_eq(offset_of("t6"), 0);
}
END_TEST

START_TEST(test_streams_do_not_share)
{
	add_task(test, "a0", PLAIN, 0, "s", in("x"), out("t1"));
	add_task(test, "a1", PLAIN, 0, "s", in("t1"), out("t2"));
	add_task(test, "a2", PLAIN, 0, "s", in("t2"), out("t3"));
	add_task(test, "b0", PLAIN, 1, "s", in("x"), out("t4"));
	add_task(test, "b1", PLAIN, 1, "s", in("t4"), part(out("y"), 0, F32 / 2));
	add_task(test, "a3", PLAIN, 0, "s", in("t3"), part(out("y"), F32 / 2, F32 / 2));
	plan();
	expect_no_awaits();
	ck_assert_uint_eq(offset_of("t3"), 0); /* where t1 was: the same core */
	ck_assert_uint_eq(offset_of("t4"), 2 * F32);
}
END_TEST

START_TEST(test_launches)
{
	/* t1 lives from the first launch to the third; t2 and t3 are in launches that nothing orders; t4 comes after
	 * all. */
	add_task(test, "a", PLAIN, 0, NULL, in("x"), out("t1"));
	add_task(test, "b", PLAIN, 0, NULL, in("x"), out("t2"));
	add_task(test, "c", PLAIN, 0, NULL, in("t1"), in("t2"), part(out("y"), 0, F32 / 2));
	add_task(test, "d", PLAIN, 1, NULL, in("x"), out("t3"));
	add_task(test, "e", PLAIN, 1, NULL, in("t3"), part(out("y"), F32 / 2, F32 / 2));
	add_task(test, "f", PLAIN, 0, NULL, in("x"), out("t4"));
	add_task(test, "g", PLAIN, 0, NULL, in("t4"), part(inout("y"), 0, F32 / 2));
	plan();
	ck_assert_uint_eq(offset_of("t1"), 0);
	ck_assert_uint_eq(offset_of("t2"), F32);
	ck_assert_uint_eq(offset_of("t3"), 2 * F32);
	ck_assert_uint_eq(offset_of("t4"), 0);
}
END_TEST

START_TEST(test_alignment)
{
	add_tensor(test, "s1", SK_I8, 1);
	add_tensor(test, "s2", SK_F32, 100);
	add_tensor(test, "s3", SK_I8, 65);
	add_task(test, "a", PLAIN, 0, "s", out("s1"), out("s2"), out("s3"));
	add_task(test, "b", PLAIN, 0, "s", in("s1"), in("s2"), in("s3"), out("y"));
	plan();
	ck_assert_uint_eq(offset_of("s1"), 0);
	ck_assert_uint_eq(offset_of("s2"), 64);
	ck_assert_uint_eq(offset_of("s3"), 64 + 448);
	ck_assert_uint_eq(memory->workspace_size, 64 + 448 + 128);
}
END_TEST

/* Four heads of each layer read columns of a tensor and write those of the next one, all of which is mixed then: two
 * tensors are in use at any time. */
static void add_layers(uint32_t layers, struct test_spread spread)
{
	enum { HEADS = 4, ROW = 256, HEAD = ROW / HEADS, ROW_COUNT = F32 / ROW };

	for (uint32_t i = 0; i < layers; i++) {
		const char *from = sk_arena_print(test->arena, "a%u", i), *to = sk_arena_print(test->arena, "b%u", i);
		const char *last = i ? sk_arena_print(test->arena, "b%u", i - 1) : "x";

		add_tensor(test, from, SK_F32, N);
		add_tensor(test, to, SK_F32, N);
		add_task(test, from, spread, 0, "s", in(last), out(from));
		for (uint32_t h = 0; h < HEADS; h++)
			add_task(test, sk_arena_print(test->arena, "h%u.%u", i, h), spread, h, "s",
				 rows(in(from), h * HEAD, HEAD, ROW, ROW_COUNT),
				 rows(out(to), h * HEAD, HEAD, ROW, ROW_COUNT));
	}
	add_task(test, "last", spread, 0, "s", in(sk_arena_print(test->arena, "b%u", layers - 1)), out("y"));
}

START_TEST(test_layers_in_columns)
{
	fuse_streams(test, "s");
	add_layers(6, _i ? PLAIN : ROWS(64));
	plan();
	if (!_i)
		expect_no_awaits();
	ck_assert_uint_eq(offset_of("a0"), 0);
	ck_assert_uint_eq(offset_of("b0"), F32);
	ck_assert_uint_eq(offset_of("a5"), 0);
	ck_assert_uint_eq(offset_of("b5"), F32);
	ck_assert_uint_eq(memory->workspace_size, 2 * F32);
	ck_assert_uint_eq(memory->unshared_workspace_size, 12 * F32);
}
END_TEST

/* One core does all of it, so that only the rows are in the way: t1 and t4 have none, t2 and t5 have rows of 256 bytes,
 * t3 of 512, and t6 of both. */
START_TEST(test_strides_lie_apart)
{
	static const struct {
		const char *name;
		uint64_t strides[2];
	} temporaries[] = {{"t1", {0}}, {"t2", {256}}, {"t3", {512}}, {"t4", {0}}, {"t5", {256}}, {"t6", {256, 512}}};

	for (size_t i = 0; i < sizeof(temporaries) / sizeof(*temporaries); i++) {
		const char *name = temporaries[i].name;
		uint64_t offset = i * 16;

		add_task(test, sk_arena_print(test->arena, "write %s", name), PLAIN, 0, "s", in("x"), out(name));
		for (size_t s = 0; s < 2; s++) {
			uint64_t stride = temporaries[i].strides[s];
			struct test_access access = stride ? rows(in(name), 32, 64, stride, F32 / stride) : in(name);

			add_task(test, sk_arena_print(test->arena, "read %s %zu", name, s), PLAIN, 0, "s", access,
				 part(out("y"), offset + s * 4, 4));
		}
	}
	plan();
	ck_assert_uint_eq(offset_of("t1"), 0);
	ck_assert_uint_eq(offset_of("t4"), 0);
	ck_assert_uint_eq(offset_of("t2"), F32);
	ck_assert_uint_eq(offset_of("t5"), F32);
	ck_assert_uint_eq(offset_of("t3"), 2 * F32);
	ck_assert_uint_eq(offset_of("t6"), 3 * F32);
}
END_TEST

/* Cores have the same rows of t1 and of t2, but of t2 the columns from the second half on, up to the first half of the
 * next row: another core's, where t1 lies. */
START_TEST(test_rows_across_windows)
{
	struct test_access whole = rows(in("x"), 0, 256, 256, 60);

	add_task(test, "a", ROWS(60), 0, "s", whole, rows(out("t1"), 0, 128, 256, 60));
	add_task(test, "b", ROWS(60), 0, "s", rows(in("t1"), 0, 128, 256, 60), rows(out("y"), 0, 128, 256, 60));
	add_task(test, "c", ROWS(60), 0, "s", whole, rows(out("t2"), _i ? 160 : 64, 128, 256, 60));
	add_task(test, "d", ROWS(60), 0, "s", rows(in("t2"), _i ? 160 : 64, 128, 256, 60),
		 rows(out("y"), 128, 128, 256, 60));
	plan();
	expect_no_awaits();
	ck_assert_uint_eq(offset_of("t1"), 0);
	ck_assert_uint_eq(offset_of("t2"), _i ? F32 : 0);
}
END_TEST

/* Rows of t1 go to the same cores as those of t2, but for those that t1 has one further down. */
START_TEST(test_rows_further_down)
{
	add_task(test, "a", ROWS(60), 0, "s", rows(in("x"), 0, 256, 256, 60), rows(out("t1"), 128, 64, 256, 60));
	if (_i)
		add_task(test, "b", ROWS(60), 0, "s", rows(out("t1"), 256, 64, 256, 60));
	add_task(test, "c", ROWS(60), 0, "s", rows(in("t1"), _i ? 256 : 128, 64, 256, 60),
		 rows(out("y"), 0, 64, 256, 60));
	add_task(test, "d", ROWS(60), 0, "s", rows(in("x"), 0, 128, 256, 60), rows(out("t2"), 0, 128, 256, 60));
	add_task(test, "e", ROWS(60), 0, "s", rows(in("t2"), 0, 128, 256, 60), rows(out("y"), 128, 128, 256, 60));
	plan();
	expect_no_awaits();
	ck_assert_uint_eq(offset_of("t1"), 0);
	ck_assert_uint_eq(offset_of("t2"), _i ? F32 : 0);
}
END_TEST

START_TEST(test_too_large)
{
	add_task(test, "a", PLAIN, 0, "s", out("t1"), out("t2"));
	add_task(test, "b", PLAIN, 0, "s", in("t1"), in("t2"), out("y"));
	test->model.tensors.items[2].bytes = UINT64_MAX - 100;
	test_model_finish(test);
	fusion = sk_fusion_build(&test->model);
	schedule = sk_schedule_build(&test->model, fusion);
	ck_assert_ptr_null(sk_memory_plan(&test->model, fusion, schedule));
	ck_assert_uint_eq(test->diag.errors, 1);
}
END_TEST

/* ---- at random ---- */

struct life {
	uint32_t first, last; /* launch * 1000 + step */
	bool used;
};

static struct life life_of(uint32_t tensor)
{
	struct life life = {UINT32_MAX, 0, false};

	for (uint32_t t = 0; t < test->model.tasks.count; t++) {
		const struct sk_task *task = &test->model.tasks.items[t];
		uint32_t time = fusion->tasks[t].launch * 1000 + fusion->tasks[t].step;

		for (uint32_t a = 0; a < task->bound.argument_count; a++) {
			if (task->bound.arguments[a].tensor != tensor)
				continue;
			life.first = time < life.first ? time : life.first;
			life.last = time > life.last ? time : life.last;
			life.used = true;
		}
	}
	return life;
}

/* Every launch that uses one is before every launch that uses the other, or is the same one. */
static bool are_launches_ordered(uint32_t first, uint32_t second)
{
	bool good = true;

	for (uint32_t t = 0; t < test->model.tasks.count; t++) {
		for (uint32_t u = 0; u < test->model.tasks.count; u++) {
			const struct sk_task *a = &test->model.tasks.items[t], *b = &test->model.tasks.items[u];
			uint32_t l = fusion->tasks[t].launch, m = fusion->tasks[u].launch;

			for (uint32_t i = 0; i < a->bound.argument_count; i++)
				for (uint32_t k = 0; k < b->bound.argument_count; k++)
					if (a->bound.arguments[i].tensor == first &&
					    b->bound.arguments[k].tensor == second)
						good &= l == m || sk_fusion_before(fusion, l, m);
		}
	}
	return good;
}

static bool is_in_rows(uint32_t tensor)
{
	for (uint32_t t = 0; t < test->model.tasks.count; t++) {
		const struct sk_task *task = &test->model.tasks.items[t];

		for (uint32_t a = 0; a < task->bound.argument_count; a++)
			if (task->bound.arguments[a].tensor == tensor &&
			    sk_argument_rows(&task->bound.arguments[a]).count > 1)
				return true;
	}
	return false;
}

/* Return how many temporaries share bytes with another one. in_rows: those that are accessed in rows. */
static uint32_t check_lives(uint64_t seed, bool in_rows)
{
	uint32_t shared_pairs = 0;

	for (uint32_t a = 0; a < test->model.tensors.count; a++) {
		for (uint32_t b = 0; b < test->model.tensors.count; b++) {
			const struct sk_tensor *one = &test->model.tensors.items[a],
					       *two = &test->model.tensors.items[b];
			struct life first = life_of(a), second = life_of(b);
			uint64_t at = memory->offset[a], other = memory->offset[b];

			if (a == b || one->role != SK_ROLE_TEMPORARY || two->role != SK_ROLE_TEMPORARY)
				continue;
			ck_assert(at % 64 == 0 && at + one->bytes <= memory->workspace_size);
			uint64_t apart = memory->unshared_offset[a] < memory->unshared_offset[b]
						 ? memory->unshared_offset[b] - memory->unshared_offset[a]
						 : memory->unshared_offset[a] - memory->unshared_offset[b];

			ck_assert(apart >= one->bytes || apart >= two->bytes);
			if (at >= other + two->bytes || other >= at + one->bytes || first.first > second.first)
				continue;
			shared_pairs += !in_rows || is_in_rows(a);
			ck_assert_msg(first.last < second.first, "seed %llu: %s is overwritten by %s",
				      (unsigned long long)seed, one->name, two->name);
			ck_assert_msg(are_launches_ordered(a, b), "seed %llu: launches with %s and %s share bytes",
				      (unsigned long long)seed, one->name, two->name);
		}
	}
	return shared_pairs;
}

static uint32_t check_random(uint64_t seed, const struct random_options *options)
{
	uint32_t shared_pairs;

	test = random_model(seed, options);
	plan();
	shared_pairs = check_lives(seed, options->rows);
	for (uint32_t l = 0; l < fusion->launch_count; l++) {
		struct oracle oracle = {
			.model = &test->model,
			.launch = &schedule->launches[l],
			.memory = memory,
			.skip_step = SK_NONE,
		};
		char text[256] = "";

		for (uint32_t cores = 1; cores <= MOST_CORES; cores++) {
			oracle.cores[0] = cores;
			oracle.cores[1] = cores + 1;
			ck_assert_msg(oracle_is_ordered(&oracle, text, sizeof(text)), "seed %llu: %s",
				      (unsigned long long)seed, text);
		}
	}
	tear_down();
	return shared_pairs;
}

START_TEST(test_random_one_launch)
{
	uint32_t shared_pairs = 0;

	for (uint64_t seed = 0; seed < RANDOM_MODELS; seed++)
		shared_pairs += check_random(seed, &(struct random_options){2, 24, 2, true, 16});
	ck_assert_uint_ge(shared_pairs, RANDOM_MODELS / 10); /* or nothing has been tested */
}
END_TEST

START_TEST(test_random_launches)
{
	uint32_t shared_pairs = 0;

	for (uint64_t seed = 0; seed < RANDOM_MODELS; seed++)
		shared_pairs += check_random(seed, &(struct random_options){1, 24, 3, false, 16});
	ck_assert_uint_gt(shared_pairs, RANDOM_MODELS / 10);
}
END_TEST

START_TEST(test_random_rows)
{
	uint32_t shared_pairs = 0;

	for (uint64_t seed = 0; seed < RANDOM_MODELS; seed++)
		shared_pairs += check_random(seed, &(struct random_options){.lanes = 2,
									    .tasks = 24,
									    .streams = 2,
									    .one_scope = true,
									    .tensors = 16,
									    .rows = true,
									    .passing = true});
	ck_assert_uint_gt(shared_pairs, RANDOM_MODELS / 10);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("memory");
	TCase *hand = tcase_create("by hand"), *random = tcase_create("random");

	tcase_add_checked_fixture(hand, set_up, tear_down);
	tcase_add_test(hand, test_chain_of_splits);
	tcase_add_test(hand, test_results_of_tasks_that_run_once);
	tcase_add_test(hand, test_types_do_not_mix_without_awaits);
	tcase_add_test(hand, test_same_cores_same_place);
	tcase_add_test(hand, test_same_cores_same_size);
	tcase_add_test(hand, test_taken_since);
	tcase_add_test(hand, test_only_the_last_access_counts);
	tcase_add_test(hand, test_awaits_allow_reuse);
	tcase_add_test(hand, test_pieces_join);
	tcase_add_test(hand, test_split_tenant);
	tcase_add_test(hand, test_streams_do_not_share);
	tcase_add_test(hand, test_launches);
	tcase_add_test(hand, test_alignment);
	tcase_add_loop_test(hand, test_layers_in_columns, 0, 2);
	tcase_add_test(hand, test_strides_lie_apart);
	tcase_add_loop_test(hand, test_rows_across_windows, 0, 2);
	tcase_add_loop_test(hand, test_rows_further_down, 0, 2);
	tcase_add_test(hand, test_too_large);
	suite_add_tcase(suite, hand);

	tcase_set_timeout(random, 120);
	tcase_add_test(random, test_random_one_launch);
	tcase_add_test(random, test_random_launches);
	tcase_add_test(random, test_random_rows);
	suite_add_tcase(suite, random);
	return run_suite(suite);
}
