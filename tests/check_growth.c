/* What planning costs as networks grow: for networks of one shape with n and with 4n tasks the steps of each room are
 * counted (not timed), and four times the tasks may take no more than five times the steps. */
#include <check.h>
#include <stdio.h>

#include "partition.h"
#include "tests/model.h"
#include "tests/random.h"
#include "tests/suite.h"

enum { TASKS = 2000, FACTOR = 4, MOST_GROWTH = 5, BYTES = 64 };

static const char *name_of(char letter, uint32_t number)
{
	static char names[4][16];
	static unsigned turn;
	char *name = names[turn++ % 4];

	snprintf(name, sizeof(names[0]), "%c%u", letter, number);
	return name;
}

/* ---- dependencies ---- */

static uint64_t dependency_steps(uint32_t count)
{
	struct test_model *test = test_model_create(1);
	uint32_t *order = SK_NEW_ARRAY(test->arena, uint32_t, count);
	uint64_t state = count;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t other = random_below(&state, i + 1);

		order[i] = order[other];
		order[other] = i;
	}
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

int main(void)
{
	Suite *suite = suite_create("growth");
	TCase *cases = tcase_create("steps");

	tcase_add_test(cases, slices_in_random_order);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
