/* The cost of binding, planning and the proof as networks grow: for networks of one shape with n and with 4n tasks the
 * steps of each stage are counted (not timed), and four times the tasks may take no more than five times the steps. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "format/plan/plan.h"
#include "format/skplan.h"
#include "format/skrows.h"
#include "src/bind/bind-parts.h"
#include "src/bind/bind.h"
#include "src/manifest/manifest.h"
#include "src/model/model.h"
#include "src/planning/planning-parts.h"
#include "src/planning/planning.h"
#include "src/proof/proof-parts.h"
#include "src/proof/proof.h"
#include "tests/lib/fake-linker.h"
#include "tests/lib/model-builder.h"
#include "tests/lib/random.h"
#include "tests/lib/suite.h"

enum { TASKS = 2000, FACTOR = 4, MOST_GROWTH = 5, BYTES = 64 };

static const char *name_of(char letter, uint32_t number)
{
	static char names[8][16];
	static unsigned turn;
	char *name = names[turn++ % 8];

	snprintf(name, sizeof(names[0]), "%c%u", letter, number);
	return name;
}

/* The numbers below the count, in random order. */
static uint32_t *shuffle(struct sk_arena *arena, uint32_t count)
{
	uint32_t *order = SK_NEW_ARRAY(arena, uint32_t, count);
	uint64_t state = count;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t other = random_below(&state, i + 1);

		order[i] = order[other];
		order[other] = i;
	}
	return order;
}

/* ---- dependencies ---- */

static uint64_t dependency_steps(uint32_t count)
{
	struct test_model *test = test_model_create(1);
	const uint32_t *order = shuffle(test->arena, count);

	add_tensor(test, "x", SK_F32, BYTES / 4);
	add_tensor(test, "y", SK_F32, (uint64_t)count * BYTES / 4);
	for (uint32_t i = 0; i < count; i++)
		add_task(test, name_of('t', i), PLAIN, 0, "s", in("x"), part(out("y"), order[i] * BYTES, BYTES));
	test_model_finish(test);

	const struct sk_dependencies *dependencies = sk_dependencies_build(&test->model);

	ck_assert_ptr_nonnull(dependencies);
	ck_assert_uint_eq(dependencies->first_conflict[count], 0);

	uint64_t steps = dependencies->steps;

	test_model_destroy(test);
	return steps;
}

START_TEST(slices_in_random_order)
{
	ck_assert_uint_le(dependency_steps(FACTOR * TASKS), MOST_GROWTH * dependency_steps(TASKS));
}
END_TEST

enum { ROWS_OF_MATRIX = 1000, OTHERS = 4 };

/* Columns of a matrix of 1,000 rows, written in random order and then read and written. others: tasks in between read
 * of every second row. */
static struct test_model *columns(uint32_t count, bool others)
{
	struct test_model *test = test_model_create(1);
	uint64_t stride = (uint64_t)count * 4;
	const uint32_t *order = shuffle(test->arena, count);

	add_tensor(test, "y", SK_F32, ROWS_OF_MATRIX, count);
	add_tensor(test, "z", SK_F32, 1);
	for (uint32_t i = 0; i < count; i++)
		add_task(test, name_of('t', i), PLAIN, 0, "s", rows(out("y"), order[i] * 4, 4, stride, ROWS_OF_MATRIX));
	for (uint32_t i = 0; i < OTHERS && others; i++)
		add_task(test, name_of('v', i), PLAIN, 0, "s",
			 rows(in("y"), i * 4, stride - 16, 2 * stride, ROWS_OF_MATRIX / 2), out("z"));
	for (uint32_t i = 0; i < count; i++)
		add_task(test, name_of('u', i), PLAIN, 0, "s",
			 rows(inout("y"), order[i] * 4, 4, stride, ROWS_OF_MATRIX));
	test_model_finish(test);
	return test;
}

static uint64_t column_steps(uint32_t count, bool others)
{
	struct test_model *test = columns(count, others);
	const struct sk_dependencies *dependencies = sk_dependencies_build(&test->model);

	ck_assert_ptr_nonnull(dependencies);
	if (!others)
		ck_assert_uint_eq(dependencies->first_conflict[2 * count], count);
	else
		ck_assert_uint_gt(dependencies->first_conflict[2 * count + OTHERS], count * OTHERS);

	uint64_t steps = dependencies->steps;

	test_model_destroy(test);
	return steps;
}

START_TEST(columns_in_random_order)
{
	ck_assert_uint_le(column_steps(FACTOR * TASKS, _i), MOST_GROWTH * column_steps(TASKS, _i));
}
END_TEST

static uint64_t gap_steps(uint32_t count, bool others)
{
	struct test_model *test = columns(count, others);
	struct sk_gaps gaps = sk_gaps_find(&test->model);

	ck_assert_uint_eq(gaps.reads.count, 0);
	test_model_destroy(test);
	return gaps.steps;
}

START_TEST(gaps_of_columns)
{
	ck_assert_uint_le(gap_steps(FACTOR * TASKS, _i), MOST_GROWTH * gap_steps(TASKS, _i));
}
END_TEST

/* ---- the proof ---- */

static void count_conflict(void *context, uint32_t earlier)
{
	ck_assert_uint_ne(earlier, SK_NO_INDEX);
	++*(uint32_t *)context;
}

/* The same accesses as above, and heads of layers in one place: written whole, then read in columns. */
static uint64_t history_steps(uint32_t count, bool others)
{
	const uint64_t looks = UINT64_C(1) << 40, stride = (uint64_t)count * 4;
	struct sk_arena *arena = sk_arena_create();
	const uint32_t *order = shuffle(arena, count);
	const struct sk_rows whole = {0, ROWS_OF_MATRIX * stride, 0, 1};
	struct sk_history_pool pool;
	struct sk_history history;
	uint32_t access = 0, conflicts = 0;

	sk_history_pool_init(&pool, arena, looks);
	sk_history_init(&history, &pool);
	sk_history_add_stride(&history, stride);
	if (others)
		sk_history_add_stride(&history, 2 * stride);
	for (uint32_t layer = 0; layer < 2; layer++) {
		sk_history_access(&history, &whole, access++, SK_ACCESS_WRITE, count_conflict, &conflicts);
		for (uint32_t pass = 0; pass < 2; pass++) {
			for (uint32_t i = 0; i < count; i++) {
				struct sk_rows column = {(uint64_t)order[i] * 4, 4, stride, ROWS_OF_MATRIX};

				sk_history_access(&history, &column, access++, pass ? SK_ACCESS_READ : SK_ACCESS_WRITE,
						  count_conflict, &conflicts);
			}
			for (uint32_t i = 0; i < OTHERS && others; i++) {
				struct sk_rows second = {i * 4, stride - 16, 2 * stride, ROWS_OF_MATRIX / 2};

				sk_history_access(&history, &second, access++, SK_ACCESS_READ, count_conflict,
						  &conflicts);
			}
		}
	}
	ck_assert_uint_ge(conflicts, 4 * count);

	uint64_t steps = looks - pool.looks_left + pool.steps;

	sk_arena_destroy(arena);
	return steps;
}

START_TEST(history_of_columns)
{
	ck_assert_uint_le(history_steps(FACTOR * TASKS, _i), MOST_GROWTH * history_steps(TASKS, _i));
}
END_TEST

/* Launches that nothing orders, more than clocks are kept of, and one that follows them all. */
static uint64_t order_steps(uint32_t count)
{
	struct sk_arena *arena = sk_arena_create();
	struct sk_plan_form *forms =
		sk_arena_alloc(arena, 1, 2 * sizeof(*forms) + (count + (size_t)1) * sizeof(struct sk_plan_launch));
	struct sk_plan_launch *launches = (void *)(forms + 2); /* near them, as references need */
	uint32_t *follows = SK_NEW_ARRAY(arena, uint32_t, count);
	const struct sk_plan_view view = {
		.launches = launches, .launch_count = count + 1, .network_launch_count = count + 1, .follows = follows};
	struct sk_launch_order order;

	for (uint32_t i = 0; i <= count; i++)
		launches[i].form = (int32_t)((char *)&forms[i == count] - (char *)&launches[i].form);
	forms[1].follow_count = count;
	for (uint32_t i = 0; i < count; i++)
		follows[i] = i;
	sk_launch_order_build(&order, arena, &view);
	ck_assert_uint_lt(order.clocked_chains, count / 2);
	for (uint32_t i = 0; i < count; i++)
		ck_assert(sk_launch_before(&order, i, count));
	ck_assert(!sk_launch_before(&order, count - 2, count - 1) && !order.exhausted);

	uint64_t steps = order.steps;

	sk_arena_destroy(arena);
	return steps;
}

START_TEST(launch_behind_all)
{
	ck_assert_uint_le(order_steps(FACTOR * 4 * TASKS), MOST_GROWTH * order_steps(4 * TASKS));
}
END_TEST

/* ---- memory ---- */

/* Half of the tasks make a temporary each, the other half read one each, or columns of it: in another order, or the
 * first ones die last. */
static uint64_t memory_steps(uint32_t count, bool in_rows)
{
	struct test_model *test = test_model_create(1);
	uint32_t half = count / 2;
	uint64_t state = count;

	add_tensor(test, "x", SK_F32, BYTES / 4);
	for (uint32_t i = 0; i < half; i++) {
		add_tensor(test, name_of('t', i), SK_F32, (1 + random_below(&state, 9)) * BYTES / 4);
		add_tensor(test, name_of('y', i), SK_F32, BYTES / 4);
	}
	for (uint32_t i = 0; i < half; i++)
		add_task(test, name_of('a', i), PLAIN, 0, "s", in("x"), out(name_of('t', i)));
	for (uint32_t i = 0; i < half; i++)
		add_task(test, name_of('b', i), PLAIN, 0, "s",
			 in_rows ? rows(in(name_of('t', (i * 7919) % half)), 0, 4, 8 + i % 3 * 8, 2)
				 : in(name_of('t', (i * 7919) % half)),
			 out(name_of('y', i)));
	test_model_finish(test);

	const struct sk_fusion *fusion = sk_fusion_build(&test->model);
	const struct sk_schedule *schedule = sk_schedule_build(&test->model, fusion);
	const struct sk_memory *memory = sk_memory_plan(&test->model, fusion, schedule);

	ck_assert_ptr_nonnull(memory);
	ck_assert_uint_eq(memory->workspace_size, memory->unshared_workspace_size);

	uint64_t steps = memory->steps;

	test_model_destroy(test);
	return steps;
}

START_TEST(many_temporaries_alive)
{
	ck_assert_uint_le(memory_steps(FACTOR * TASKS, _i), MOST_GROWTH * memory_steps(TASKS, _i));
}
END_TEST

/* Two streams of equally many temporaries each, one stream after the other, without an order between them: all of the
 * first stream's are past when the second stream's come, and are refused as places. */
START_TEST(temporaries_that_nothing_orders)
{
	enum { COUNT = 8000, MOST_STEPS = (1 << 24) * 16 };
	struct test_model *test = test_model_create(1);

	fuse_streams(test, "s");
	add_tensor(test, "x", SK_F32, BYTES / 4);
	for (uint32_t i = 0; i < 2 * COUNT; i++)
		add_tensor(test, name_of('t', i), SK_F32, BYTES / 4);
	for (uint32_t half = 0; half < 2; half++) {
		for (uint32_t i = 0; i < COUNT; i++)
			add_task(test, name_of('a', half * COUNT + i), PLAIN, half, "s", in("x"),
				 out(name_of('t', half * COUNT + i)));
		for (uint32_t i = 0; i < COUNT; i++)
			add_task(test, name_of('b', half * COUNT + i), PLAIN, half, "s",
				 inout(name_of('t', half * COUNT + i)));
	}
	test_model_finish(test);

	const struct sk_fusion *fusion = sk_fusion_build(&test->model);
	const struct sk_schedule *schedule = sk_schedule_build(&test->model, fusion);
	const struct sk_memory *memory = sk_memory_plan(&test->model, fusion, schedule);

	ck_assert_ptr_nonnull(memory);
	ck_assert_uint_eq(memory->workspace_size, memory->unshared_workspace_size);
	ck_assert_uint_le(memory->steps, MOST_STEPS);
	test_model_destroy(test);
}
END_TEST

/* ---- segments ---- */

/* Tasks in random scopes and streams, each of which reads the outputs of two earlier ones. */
static uint64_t segment_steps(uint32_t count)
{
	enum { SCOPES = 20 };
	struct test_model *test = test_model_create(1);
	uint64_t state = count;
	uint32_t divided = 0;

	add_tensor(test, "t0", SK_F32, BYTES / 4);
	for (uint32_t i = 0; i < SCOPES; i++)
		fuse_streams(test, name_of('s', i));
	for (uint32_t i = 1; i <= count; i++) {
		add_tensor(test, name_of('t', i), SK_F32, BYTES / 4);
		add_task(test, name_of('a', i), PLAIN, random_below(&state, SCOPES),
			 name_of('s', random_below(&state, SCOPES)), in(name_of('t', random_below(&state, i))),
			 in(name_of('t', random_below(&state, i))), out(name_of('t', i)));
	}
	test_model_finish(test);

	struct sk_segments *segments = sk_segments_build(&test->model, sk_dependencies_build(&test->model));

	ck_assert_ptr_nonnull(segments);
	sk_segments_place(segments);
	for (size_t g = 0; g < segments->groups.count; g++)
		divided += segments->groups.items[g].level > 0;
	ck_assert_uint_gt(divided, count / 10);

	uint64_t steps = segments->steps + segments->ancestry.steps;

	test_model_destroy(test);
	return steps;
}

START_TEST(scopes_at_random)
{
	ck_assert_uint_le(segment_steps(FACTOR * TASKS), MOST_GROWTH * segment_steps(TASKS));
}
END_TEST

/* ---- operators ---- */

/* As many kernels of one op as tasks: each for one shape, for several shapes that have an extent in common, or for one
 * attribute. Before them come as many kernels with equal signatures that fit no task. */
static char *operators_text(uint32_t count, const char *signature)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	fputs("sklink: 1\ntensors:\n  y: {dtype: f32, shape: [64]}\n", stream);
	for (uint32_t i = 0; i < count; i++)
		fprintf(stream, "  t%u: {dtype: f32, shape: [2, %u]}\n", i, i + 5);
	fputs("kernels:\n", stream);
	for (uint32_t i = 0; i < count; i++)
		fprintf(stream, "  a%u: {signature: \"op=sum; in x f32[n], out y f32[n*64]\"}\n", i);
	for (uint32_t i = 0; i < count; i++) {
		fprintf(stream, "  b%u: {signature: \"", i);
		fprintf(stream, signature, i + 5);
		fputs("\"}\n", stream);
	}
	fputs("tasks:\n", stream);
	for (uint32_t i = 0; i < count; i++)
		fprintf(stream, "  - {name: c%u, op: sum, args: [t%u, y], attr: {%s%.0u}}\n", i, count - 1 - i,
			strstr(signature, "(k=") ? "k: " : "", strstr(signature, "(k=") ? count + 4 - i : 0);
	fclose(stream);
	return text;
}

static uint64_t operator_steps(uint32_t count, const char *signature)
{
	struct sk_arena *arena = sk_arena_create();
	struct sk_diag diag;
	struct sk_record_signatures signatures;
	struct sk_request request = {0};
	struct sk_ops ops;
	char *text = operators_text(count, signature);

	sk_diag_init(&diag, arena);

	struct sk_model *model = sk_model_create(arena, &diag);

	ck_assert(sk_manifest_parse(model, "m.yaml", text, strlen(text)));
	sk_record_signatures_init(&signatures, model);
	sk_ops_init(&ops, model, fake_linker_create(arena, &diag, NULL, 0), &signatures, NULL, 0);
	for (uint32_t t = 0; t < count; t++) {
		sk_request_of_task(model, &model->tasks.items[t], &request);

		const struct sk_op_kernel *kernel = sk_ops_find(&ops, "sum", &request);

		ck_assert_ptr_nonnull(kernel);
		ck_assert_uint_eq(kernel->declared, 2 * count - 1 - t);
	}
	free(text);
	sk_arena_destroy(arena);
	return ops.steps;
}

START_TEST(kernels_of_an_op)
{
	static const char *const kinds[] = {
		"op=sum; in x f32[2,%u], out y f32[n]", "op=sum; in x f32[m,%u], out y f32[n]",
		"op=sum; in x f32[2,%u], out y f32[64], scratch t[64]", "op=sum(k=%u); in x f32[n], out y f32[m]"};
	const char *kind = kinds[_i];

	ck_assert_uint_le(operator_steps(FACTOR * TASKS, kind), MOST_GROWTH * operator_steps(TASKS, kind));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("growth");
	TCase *cases = tcase_create("steps");

	tcase_add_test(cases, slices_in_random_order);
	tcase_add_loop_test(cases, columns_in_random_order, 0, 2);
	tcase_add_loop_test(cases, gaps_of_columns, 0, 2);
	tcase_add_loop_test(cases, history_of_columns, 0, 2);
	tcase_add_test(cases, launch_behind_all);
	tcase_add_loop_test(cases, many_temporaries_alive, 0, 2);
	tcase_add_test(cases, temporaries_that_nothing_orders);
	tcase_add_test(cases, scopes_at_random);
	tcase_add_loop_test(cases, kernels_of_an_op, 0, 4);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
