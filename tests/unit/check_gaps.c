/* Tests of src/bind/gaps.c: unwritten bytes, compared with a naive oracle that keeps a flag for every byte; and large
 * numbers of gaps, in an order that leaves as many as possible. */
#include "base/map.h"
#include "format/skplan.h"
#include "src/bind/bind-parts.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/model/model.h"
#include "tests/lib/model-builder.h"
#include "tests/lib/random.h"
#include "tests/lib/suite.h"

enum { ROUNDS = 3000, BYTES = 48, ROOTS = 3, MOST_TASKS = 12, MOST_ACCESSES = 4, MANY = 100000 };

static struct test_model *test;
static uint64_t stores; /* that were overwritten unread, in all rounds */

static void set_up(void)
{
	test = test_model_create(1);
}

static void tear_down(void)
{
	test_model_destroy(test);
}

/* ---- the oracle ---- */

static const char *const names[ROOTS] = {"t", "u", "v"};

/* Take the gaps of one reader out of the list; the bytes that it has found count as written from then on. */
static size_t expect(const struct sk_gap *gaps, size_t count, size_t next, struct sk_gap reader, bool *written)
{
	for (uint64_t low = reader.low; low < reader.high; low++) {
		uint64_t high = low;

		while (high < reader.high && !written[high])
			written[high++] = true;
		if (high == low)
			continue;
		ck_assert_uint_lt(next, count);
		ck_assert_uint_eq(gaps[next].tensor, reader.tensor);
		ck_assert_uint_eq(gaps[next].task, reader.task);
		ck_assert_uint_eq(gaps[next].argument, reader.argument);
		ck_assert_uint_eq(gaps[next].low, low);
		ck_assert_uint_eq(gaps[next].high, high);
		next++;
		low = high;
	}
	return next;
}

static void compare(const struct sk_gaps *gaps)
{
	bool written[ROOTS][BYTES] = {{false}};
	size_t next = 0;

	for (uint32_t t = 0; t < test->model.tasks.count; t++) {
		const struct sk_task *task = &test->model.tasks.items[t];

		for (uint32_t a = 0; a < task->bound.argument_count; a++) {
			const struct sk_argument *argument = &task->bound.arguments[a];
			const struct sk_gap reader = {argument->tensor, t, a, argument->offset,
						      argument->offset + argument->size};

			if (argument->access & SK_ACCESS_READ)
				next = expect(gaps->reads.items, gaps->reads.count, next, reader,
					      written[reader.tensor]);
		}
		for (uint32_t a = 0; a < task->bound.argument_count; a++)
			if (task->bound.arguments[a].access & SK_ACCESS_WRITE)
				memset(written[task->bound.arguments[a].tensor] + task->bound.arguments[a].offset, true,
				       task->bound.arguments[a].size);
	}
	ck_assert_uint_eq(next, gaps->reads.count);
	next = 0;
	for (uint32_t i = 0; i < ROOTS; i++)
		next = expect(gaps->ends.items, gaps->ends.count, next, (struct sk_gap){i, SK_NONE, SK_NONE, 0, BYTES},
			      written[i]);
	ck_assert_uint_eq(next, gaps->ends.count);
}

/* Compare the writer of each unread byte, the number of such bytes of each writer, and whether any byte of it was read.
 * */
static void compare_stores(const struct sk_gaps *gaps)
{
	uint32_t writers[ROOTS][BYTES], left[MOST_TASKS * MOST_ACCESSES] = {0}, next = 0;
	bool read[MOST_TASKS * MOST_ACCESSES] = {false};

	memset(writers, 0xff, sizeof(writers));
	for (uint32_t t = 0; t < test->model.tasks.count; t++) {
		const struct sk_task *task = &test->model.tasks.items[t];

		for (uint32_t a = 0; a < task->bound.argument_count; a++) {
			const struct sk_argument *argument = &task->bound.arguments[a];
			uint32_t *bytes = writers[argument->tensor] + argument->offset;

			for (uint64_t i = 0; i < argument->size && argument->access & SK_ACCESS_READ; i++)
				if (bytes[i] != SK_NONE)
					read[bytes[i]] = true;
		}
		for (uint32_t a = 0; a < task->bound.argument_count; a++) {
			const struct sk_argument *argument = &task->bound.arguments[a];
			uint32_t *bytes = writers[argument->tensor] + argument->offset, own = t * MOST_ACCESSES + a;

			if (!(argument->access & SK_ACCESS_WRITE))
				continue;
			for (uint64_t i = 0; i < argument->size; i++)
				left[own] += 1;
			for (uint64_t i = 0; i < argument->size; i++) {
				uint32_t other = bytes[i];

				bytes[i] = own;
				if (other == SK_NONE || --left[other] || read[other])
					continue;
				ck_assert_uint_lt(next, gaps->stores.count);
				ck_assert_uint_eq(gaps->stores.items[next].task, other / MOST_ACCESSES);
				ck_assert_uint_eq(gaps->stores.items[next].argument, other % MOST_ACCESSES);
				ck_assert_uint_eq(gaps->stores.items[next++].by, t);
			}
		}
	}
	ck_assert_uint_eq(next, gaps->stores.count);
	stores += next;
}

/* Parts of every size and place, empty ones too, whole tensors often. */
static struct test_access random_access(uint64_t *random)
{
	const char *name = names[random_below(random, ROOTS)];
	uint32_t kind = random_below(random, 5);
	struct test_access access = kind < 2 ? in(name) : kind < 4 ? out(name) : inout(name);

	access.size = BYTES;
	if (random_below(random, 4)) {
		access.offset = random_below(random, BYTES + 1);
		access.size = random_below(random, BYTES - (uint32_t)access.offset + 1);
	}
	return access;
}

START_TEST(test_random)
{
	uint64_t random = 1;

	for (uint32_t round = 0; round < ROUNDS; round++) {
		uint32_t tasks = 1 + random_below(&random, MOST_TASKS);

		set_up();
		for (uint32_t i = 0; i < ROOTS; i++)
			add_tensor(test, names[i], SK_U8, BYTES);
		for (uint32_t t = 0; t < tasks; t++) {
			struct test_access accesses[MOST_ACCESSES];
			uint32_t count = 1 + random_below(&random, MOST_ACCESSES);
			char name[16];

			snprintf(name, sizeof(name), "n%u", t);
			for (uint32_t i = 0; i < count; i++)
				accesses[i] = random_access(&random);
			test_add_task(test, name, PLAIN, 0, NULL, accesses, count);
			/* The model takes size 0 for the rest of the tensor. */
			for (uint32_t i = 0; i < count; i++)
				test->model.tasks.items[t].bound.arguments[i].size = accesses[i].size;
		}

		const struct sk_gaps gaps = sk_gaps_find(&test->model);

		compare(&gaps);
		compare_stores(&gaps);
		tear_down();
	}
	ck_assert_uint_gt(stores, ROUNDS / 2);
}
END_TEST

/* Every second slice is written, those in the middle first and in both directions from there, and all of it is read;
 * then the others. */
START_TEST(test_many_slices)
{
	struct sk_model *model;

	set_up();
	add_tensor(test, "t", SK_U8, 2 * MANY);
	for (uint32_t i = 0; i < MANY; i++) {
		uint64_t slice = i % 2 ? MANY / 2 + i / 2 : MANY / 2 - 1 - i / 2;
		char name[16];

		snprintf(name, sizeof(name), "n%u", i);
		add_task(test, name, PLAIN, 0, NULL, part(out("t"), 2 * slice, 1));
	}
	add_task(test, "all", PLAIN, 0, NULL, in("t"));
	add_task(test, "again", PLAIN, 0, NULL, in("t"));
	model = &test->model;

	const struct sk_gaps gaps = sk_gaps_find(model);

	ck_assert_uint_eq(gaps.reads.count, MANY);
	for (uint32_t i = 0; i < MANY; i++) {
		ck_assert_uint_eq(gaps.reads.items[i].task, MANY);
		ck_assert_uint_eq(gaps.reads.items[i].low, 2 * i + 1);
		ck_assert_uint_eq(gaps.reads.items[i].high, 2 * i + 2);
	}
	ck_assert_uint_eq(gaps.ends.count, 0);
	tear_down();
}
END_TEST

/* Columns of a matrix of six rows of eight bytes count as written if they surely are: two halves are all of it, and
 * rows of another stride count only within the bytes that one stride shows as written from the first to the last. */
START_TEST(test_columns)
{
	struct sk_gaps gaps;

	set_up();
	add_tensor(test, "t", SK_U8, BYTES);
	add_task(test, "left", PLAIN, 0, NULL, rows(out("t"), 0, 4, 8, 6));
	add_task(test, "column", PLAIN, 0, NULL, rows(in("t"), 1, 2, 8, 6));
	add_task(test, "part", PLAIN, 0, NULL, rows(in("t"), 2, 4, 8, 3));
	add_task(test, "right", PLAIN, 0, NULL, rows(out("t"), 4, 4, 8, 6));
	add_task(test, "all", PLAIN, 0, NULL, in("t"));
	add_task(test, "other", PLAIN, 0, NULL, rows(in("t"), 0, 8, 16, 3));
	gaps = sk_gaps_find(&test->model);
	ck_assert_uint_eq(gaps.reads.count, 1);
	ck_assert_uint_eq(gaps.reads.items[0].task, 2);
	ck_assert_uint_eq(gaps.reads.items[0].low, 4);
	ck_assert_uint_eq(gaps.reads.items[0].high, 2 * 8 + 6);
	ck_assert_uint_eq(gaps.ends.count, 0);
	tear_down();

	set_up();
	add_tensor(test, "t", SK_U8, BYTES);
	add_task(test, "left", PLAIN, 0, NULL, rows(out("t"), 0, 4, 8, 6));
	add_task(test, "other", PLAIN, 0, NULL, rows(in("t"), 0, 4, 16, 3));
	gaps = sk_gaps_find(&test->model);
	ck_assert_uint_ge(gaps.reads.count, 1);
	ck_assert_uint_eq(gaps.reads.items[0].task, 1);
	ck_assert_uint_ge(gaps.ends.count, 1);
	tear_down();
}
END_TEST

/* Contents from outside have no gaps, where it is declared that they are. */
START_TEST(test_given)
{
	static const enum sk_role roles[] = {SK_ROLE_INPUT, SK_ROLE_INOUT, SK_ROLE_CONSTANT, SK_ROLE_OUTPUT,
					     SK_ROLE_TEMPORARY};
	struct sk_gaps gaps;

	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
		bool given = i < 3;

		set_up();
		add_tensor(test, "t", SK_U8, BYTES);
		add_tensor(test, "u", SK_U8, BYTES);
		add_task(test, "reader", PLAIN, 0, NULL, part(in("t"), 8, 8), part(in("u"), 8, 8));
		test->model.tensors.items[0].role = roles[i];
		gaps = sk_gaps_find(&test->model);
		ck_assert_uint_eq(gaps.reads.count, given ? 1 : 2);
		ck_assert_uint_eq(gaps.reads.items[0].tensor, given);
		ck_assert_uint_eq(gaps.ends.items[0].tensor, given);
		tear_down();
	}
}
END_TEST

/* If the first rows of a tensor have been written in part, its gap is named from its first byte on. */
START_TEST(test_address_order)
{
	struct sk_gaps gaps;

	set_up();
	add_tensor(test, "t", SK_U8, BYTES);
	add_task(test, "corner", PLAIN, 0, NULL, rows(out("t"), 0, 4, 8, 3));
	gaps = sk_gaps_find(&test->model);
	ck_assert_uint_ge(gaps.ends.count, 2);
	for (size_t i = 0; i < gaps.ends.count; i++)
		ck_assert_uint_ge(gaps.ends.items[i].low, i ? gaps.ends.items[i - 1].low : 4);
	ck_assert_uint_eq(gaps.ends.items[0].low, 4);
	tear_down();
}
END_TEST

static Suite *gaps_suite(void)
{
	Suite *suite = suite_create("gaps");
	TCase *tcase = tcase_create("all");

	tcase_add_test(tcase, test_random);
	tcase_add_test(tcase, test_many_slices);
	tcase_add_test(tcase, test_columns);
	tcase_add_test(tcase, test_address_order);
	tcase_add_test(tcase, test_given);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return run_suite(gaps_suite());
}
