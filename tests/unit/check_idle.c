/* Tasks that have nothing to compute are left out, and the orders that passed through them stay. Random streams, events
 * and `after` are compared with the definition: an event orders all tasks of a stream up to the record before all tasks
 * of another one from the wait on. Orders that are not needed must lie within the order of streams. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "format/skplan.h"
#include "src/bind/bind.h"
#include "tests/lib/model-builder.h"
#include "tests/lib/random.h"
#include "tests/lib/suite.h"

enum { MOST = 12 };

typedef bool order[MOST][MOST];

/* Find the tasks that must end before others, by the numbers in their names, also through tasks between them. With
 * `streams`, tasks of one stream are in order as well. */
static void find_order(const struct sk_model *model, bool streams, order before)
{
	const struct sk_task *tasks = model->tasks.items;
	uint32_t count = (uint32_t)model->tasks.count;
	uint32_t numbers[MOST];

	memset(before, 0, sizeof(order));
	for (uint32_t t = 0; t < count; t++)
		sscanf(tasks[t].name, "t%u", &numbers[t]);
	for (uint32_t t = 0; t < count; t++) {
		for (size_t i = 0; i < tasks[t].said.after.count; i++)
			before[numbers[tasks[t].said.after.items[i]]][numbers[t]] = true;
		for (uint32_t earlier = 0; earlier < t; earlier++)
			before[numbers[earlier]][numbers[t]] |=
				streams && tasks[earlier].said.stream == tasks[t].said.stream;
		for (size_t i = 0; i < tasks[t].said.wait.count; i++)
			for (uint32_t r = 0; r < t; r++)
				for (size_t k = 0; k < tasks[r].said.record.count; k++) {
					if (tasks[r].said.record.items[k] != tasks[t].said.wait.items[i])
						continue;
					for (uint32_t x = 0; x <= r; x++)
						for (uint32_t y = t; y < count; y++)
							if (tasks[x].said.stream == tasks[r].said.stream &&
							    tasks[y].said.stream == tasks[t].said.stream)
								before[numbers[x]][numbers[y]] = true;
				}
	}
	for (uint32_t k = 0; k < MOST; k++)
		for (uint32_t i = 0; i < MOST; i++)
			for (uint32_t j = 0; j < MOST; j++)
				before[i][j] |= before[i][k] && before[k][j];
}

static struct test_model *make(uint64_t seed, bool idle[MOST])
{
	struct test_model *test = test_model_create(1);
	uint64_t state = seed;
	uint32_t count = 2 + random_below(&state, MOST - 1);

	add_tensor(test, "x", SK_F32, 4);
	for (uint32_t t = 0; t < count; t++) {
		char *name = sk_arena_print(test->arena, "t%u", t);

		add_task(test, name, PLAIN, random_below(&state, 3), NULL, in("x"));
		idle[t] = random_below(&state, 3) == 0;
		test->model.tasks.items[t].bound.idle = idle[t];
	}
	for (uint32_t t = 1; t < count; t++) {
		if (random_below(&state, 3) == 0)
			add_after(test, t, random_below(&state, t));
		if (random_below(&state, 3) == 0)
			add_event(test, random_below(&state, t), t);
	}
	return test;
}

START_TEST(orders_stay)
{
	for (uint64_t seed = 0; seed < 20000; seed++) {
		bool idle[MOST] = {false};
		order wanted, most, found;
		struct test_model *test = make(seed, idle);
		size_t count = test->model.tasks.count, left = 0;

		find_order(&test->model, false, wanted);
		find_order(&test->model, true, most);
		ck_assert(sk_model_leave_out_idle(&test->model));
		find_order(&test->model, false, found);
		for (size_t i = 0; i < count; i++)
			left += idle[i];
		ck_assert_uint_eq(test->model.tasks.count + left, count);
		ck_assert_uint_eq(test->model.idle.count, left);
		for (size_t i = 0; i < count; i++)
			for (size_t j = 0; j < count; j++) {
				if (idle[i] || idle[j])
					continue;
				ck_assert_msg(!wanted[i][j] || found[i][j], "seed %lu: t%zu before t%zu is lost", seed,
					      i, j);
				ck_assert_msg(!found[i][j] || most[i][j], "seed %lu: t%zu before t%zu is new", seed, i,
					      j);
			}
		test_model_destroy(test);
	}
}
END_TEST

START_TEST(names_and_limit)
{
	struct test_model *test = test_model_create(1);

	add_tensor(test, "x", SK_F32, 4);
	add_task(test, "a", PLAIN, 0, NULL, in("x"));
	add_task(test, "b", PLAIN, 0, NULL, in("x"));
	test->model.tasks.items[0].bound.idle = true;
	ck_assert(sk_model_leave_out_idle(&test->model));
	ck_assert_str_eq(test->model.idle.items[0].name, "a");
	ck_assert_str_eq(test->model.tasks.items[0].name, "b");
	test_model_destroy(test);

	/* Each task comes after those of thousands of streams, by way of the task before it. */
	test = test_model_create(1);
	add_tensor(test, "x", SK_F32, 4);
	for (uint32_t t = 0; t < 12000; t++) {
		add_task(test, sk_arena_print(test->arena, "t%u", t), PLAIN, t, NULL, in("x"));
		test->model.tasks.items[t].bound.idle = t >= 6000;
		if (t > 6000) {
			add_after(test, t, t - 1);
			add_after(test, t, t - 6000);
		}
	}
	ck_assert(!sk_model_leave_out_idle(&test->model));
	test_model_destroy(test);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("idle");
	TCase *cases = tcase_create("tasks");

	tcase_add_test(cases, orders_stay);
	tcase_add_test(cases, names_and_limit);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
