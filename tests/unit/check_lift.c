/* Check suite for src/bind/fit: the forms of numbers that are known at some sizes, and numbers without one. */
#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/sizes.h"
#include "src/bind/bind-parts.h"
#include "tests/lib/suite.h"

enum { DIMENSIONS = 3, MOST_POINTS = 256 };

static const struct sk_size_dimension BOX[DIMENSIONS] = {
	{"batch", NULL, 1, 8, 1, 8}, {"seq", NULL, 1, 512, 1, 512}, {"h", NULL, 8, 96, 8, 96}};

static const struct sk_size_dimension GREAT_BOX[DIMENSIONS] = {{"batch", NULL, 1, INT32_MAX, 1, INT32_MAX},
							       {"seq", NULL, 1, INT32_MAX, 1, INT32_MAX},
							       {"h", NULL, 1, 2, 1, 2}};

static struct sk_arena *memory;
static struct sk_sizes *sizes;
static struct sk_fit *fit;

static void start(const struct sk_size_dimension *box, const char *expression)
{
	const char *error;
	const struct sk_size *size = NULL;

	memory = sk_arena_create();
	sizes = sk_sizes_create(memory);
	for (int i = 0; i < DIMENSIONS; i++)
		sk_sizes_add_dimension(sizes, &box[i]);
	if (expression)
		size = sk_size_parse(sizes, NULL, expression, &error);
	fit = sk_fit_new(memory, sizes, NULL, &size, size != NULL);
	ck_assert_uint_le(sk_fit_count(fit), MOST_POINTS);
}

/* The form of the expression's numbers must be the expression; `step`: every such point is not known. */
static void expect_found(const char *text, size_t step)
{
	const char *error;
	const struct sk_size *size = sk_size_parse(sizes, NULL, text, &error), *form;
	uint64_t numbers[MOST_POINTS];
	bool known[MOST_POINTS];

	ck_assert_msg(size != NULL, "%s: %s", text, error);
	for (size_t p = 0; p < sk_fit_count(fit); p++) {
		known[p] = !p || !step || p % step;
		numbers[p] = known[p] ? (uint64_t)sk_size_at(size, sk_fit_point(fit, p)) : 0;
	}
	form = sk_fit_find(fit, numbers, known);
	ck_assert_msg(form != NULL, "no form for %s", text);
	ck_assert_msg(sk_size_compare(sizes, form, size) == SK_SIZE_EQUAL, "%s is taken for %s", text,
		      sk_size_text(memory, form));
}

START_TEST(forms)
{
	static const char *const texts[] = {"12",
					    "seq",
					    "512*batch*seq",
					    "4*batch*seq*h + 3*seq - 3",
					    "seq*seq + h/8",
					    "floor(seq/2)",
					    "batch*ceil(seq/16) + 5",
					    "64*floor(batch*seq/64)",
					    "floor((seq+15)/16)*h"};

	start(BOX, NULL);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		expect_found(texts[i], 0);
		expect_found(texts[i], 7);
	}
	sk_arena_destroy(memory);
}
END_TEST

START_TEST(expressions)
{
	start(BOX, "floor((seq+2*batch+1)/3)");
	expect_found("4*floor((seq+2*batch+1)/3)", 0);
	expect_found("h*floor((seq+2*batch+1)/3) + 7*batch", 0);
	sk_arena_destroy(memory);
}
END_TEST

/* Expressions that differ from a simpler form at few sizes: the points contain some of these. */
START_TEST(exceptions)
{
	static const char *const texts[] = {"min(seq,3)", "seq + seq//400 - seq//401", "seq//400 - seq//401",
					    "seq + (seq%389)//388", "max(0,1-max(seq-400,400-seq))",
					    "batch*seq + (seq//400-seq//401)*(batch//3-batch//4)"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		start(BOX, texts[i]);
		ck_assert_ptr_null(sk_fit_unclear(fit));
		expect_found(texts[i], 0);
		sk_arena_destroy(memory);
	}
}
END_TEST

/* Products with quotients leave 64 bits. */
START_TEST(great_sizes)
{
	start(GREAT_BOX, "floor((batch*seq+2)/3)");
	expect_found("floor((batch*seq+2)/3) + seq", 0);
	expect_found("floor((seq+1)/2) + h", 0);
	sk_arena_destroy(memory);
}
END_TEST

START_TEST(refusals)
{
	uint64_t numbers[MOST_POINTS];
	bool known[MOST_POINTS];

	start(BOX, NULL);
	memset(known, true, sizeof(known));
	for (size_t p = 0; p < sk_fit_count(fit); p++)
		numbers[p] = sk_fit_point(fit, p)[1] > 64 ? 2 : 1; /* a threshold */
	ck_assert_ptr_null(sk_fit_find(fit, numbers, known));
	for (size_t p = 0; p < sk_fit_count(fit); p++)
		numbers[p] = UINT64_C(1) << sk_fit_point(fit, p)[0];
	ck_assert_ptr_null(sk_fit_find(fit, numbers, known));
	for (size_t p = 0; p < sk_fit_count(fit); p++)
		numbers[p] = 4 * sk_fit_point(fit, p)[1] + (p == 5); /* equal but for one point */
	ck_assert_ptr_null(sk_fit_find(fit, numbers, known));
	for (size_t p = 0; p < sk_fit_count(fit); p++)
		numbers[p] = 4 * sk_fit_point(fit, p)[1];
	numbers[5] = UINT64_MAX; /* a negative number, which is known */
	ck_assert_ptr_null(sk_fit_find(fit, numbers, known));
	for (size_t p = 1; p < sk_fit_count(fit); p++)
		known[p] = false; /* hardly any is known */
	ck_assert_ptr_null(sk_fit_find(fit, numbers, known));
	sk_arena_destroy(memory);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lift");
	TCase *cases = tcase_create("lift");

	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, forms);
	tcase_add_test(cases, expressions);
	tcase_add_test(cases, exceptions);
	tcase_add_test(cases, great_sizes);
	tcase_add_test(cases, refusals);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
