/* Tests of base/sizes.h: random expressions agree with plain arithmetic at every point of a small box, and so do their
 * bounds, orders, steps and texts; laws of the normal form; limits on hostile texts. */
#include "base/sizes.h"

#include <check.h>
#include <stdbool.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "tests/lib/random.h"
#include "tests/lib/suite.h"

/* For millions of conditions: Check reports each that it passes. */
#define CHECK(condition)                                                                                               \
	do {                                                                                                           \
		if (!(condition))                                                                                      \
			ck_abort_msg("%s", #condition);                                                                \
	} while (0)

enum { DIMENSIONS = 4, POINTS = 4 * 4 * 3 * 5, POOL = 60, SEEDS = 60 };

static const struct sk_size_dimension BOX[DIMENSIONS] = {
	{"a", NULL, 1, 4, 1, 4},
	{"b", NULL, 0, 3, 1, 2},
	{"h", NULL, 8, 24, 8, 16},
	{"odd-name", NULL, 1, 5, 1, 3},
};

/* A size, and its values by plain arithmetic. */
struct sample {
	const struct sk_size *size;
	int64_t values[POINTS];
};

static void point(size_t number, uint64_t *values)
{
	for (size_t i = 0; i < DIMENSIONS; i++) {
		size_t count = (BOX[i].most - BOX[i].least) / BOX[i].multiple + 1;

		values[i] = BOX[i].least + number % count * BOX[i].multiple;
		number /= count;
	}
}

static struct sk_sizes *box(struct sk_arena *arena)
{
	struct sk_sizes *sizes = sk_sizes_create(arena);

	for (size_t i = 0; i < DIMENSIONS; i++)
		sk_sizes_add_dimension(sizes, &BOX[i]);
	return sizes;
}

static int64_t plain_floor(int64_t a, int64_t b)
{
	int64_t quotient = a / b;

	return quotient * b > a ? quotient - 1 : quotient;
}

static int64_t plain(uint32_t op, int64_t a, int64_t b)
{
	switch (op) {
	case 0:
		return a + b;
	case 1:
		return a - b;
	case 2:
		return a * b;
	case 3:
		return a < b ? a : b;
	case 4:
		return a > b ? a : b;
	case 5:
		return plain_floor(a, b);
	case 6:
		return plain_floor(a + b - 1, b);
	default:
		return a - b * plain_floor(a, b);
	}
}

static const struct sk_size *compute(struct sk_sizes *sizes, uint32_t op, const struct sk_size *a,
				     const struct sk_size *b)
{
	static const struct sk_size *(*const functions[])(struct sk_sizes *, const struct sk_size *,
							  const struct sk_size *) = {
		sk_size_add, sk_size_subtract, sk_size_multiply, sk_size_min,
		sk_size_max, sk_size_floor,    sk_size_ceil,	 sk_size_modulo};

	return functions[op](sizes, a, b);
}

/* Compute one more sample from those before, or from a small number. False if it cannot be represented. */
static bool draw(struct sk_sizes *sizes, uint64_t *state, struct sample *pool, uint32_t count)
{
	const struct sample *a = &pool[random_below(state, count)], *b = &pool[random_below(state, count)];
	uint32_t op = random_below(state, 8);
	struct sample *to = &pool[count], number;

	if (random_below(state, 3) == 0) {
		int64_t n = (int64_t)random_below(state, 12) - (op < 5 ? 5 : 0);

		number.size = sk_size_number(sizes, n);
		for (size_t i = 0; i < POINTS; i++)
			number.values[i] = n;
		b = &number;
	}
	to->size = compute(sizes, op, a->size, b->size);
	for (size_t i = 0; op >= 5 && i < POINTS; i++)
		if (b->values[i] <= 0) {
			ck_assert_ptr_null(to->size);
			return false;
		}
	for (size_t i = 0; i < POINTS; i++)
		to->values[i] = plain(op, a->values[i], b->values[i]);
	return to->size;
}

/* ---- steps ---- */

struct evaluation {
	struct sk_arena *arena;
	const uint64_t *values;
	SK_ARRAY(int64_t) results;
};

static uint32_t put(void *context, const struct sk_size_step *step)
{
	struct evaluation *evaluation = context;
	static const uint32_t ops[] = {
		[SK_SIZE_SUM] = 0, [SK_SIZE_PRODUCT] = 2, [SK_SIZE_MIN] = 3, [SK_SIZE_MAX] = 4, [SK_SIZE_FLOOR] = 5};
	int64_t result;

	if (step->kind == SK_SIZE_NUMBER) {
		result = step->number;
	} else if (step->kind == SK_SIZE_DIMENSION) {
		result = (int64_t)evaluation->values[step->a];
	} else {
		CHECK(step->a < evaluation->results.count);
		CHECK(step->b < evaluation->results.count);
		result = plain(ops[step->kind], evaluation->results.items[step->a], evaluation->results.items[step->b]);
	}
	sk_array_push(evaluation->arena, &evaluation->results, result);
	return (uint32_t)evaluation->results.count - 1;
}

/* ---- properties of one sample ---- */

static void check_values(struct sk_arena *arena, const struct sample *sample)
{
	int64_t least = INT64_MAX, most = INT64_MIN, number;
	uint64_t values[DIMENSIONS];

	for (size_t i = 0; i < POINTS; i++) {
		point(i, values);
		CHECK(sk_size_at(sample->size, values) == sample->values[i]);
		least = sample->values[i] < least ? sample->values[i] : least;
		most = sample->values[i] > most ? sample->values[i] : most;

		if (i % 7 != 0)
			continue;

		struct evaluation evaluation = {.arena = arena, .values = values};
		uint32_t last = sk_size_walk(sample->size, put, &evaluation);

		CHECK(evaluation.results.items[last] == sample->values[i]);
	}
	CHECK(sk_size_least(sample->size) <= least);
	CHECK(sk_size_most(sample->size) >= most);
	if (sk_size_grows(sample->size)) {
		CHECK(sk_size_least(sample->size) == least);
		CHECK(sk_size_most(sample->size) == most);
	}
	if (sk_size_is_number(sample->size, &number))
		CHECK(least == number && most == number);
}

static void check_growth(const struct sample *sample)
{
	size_t step = 1;

	for (size_t d = 0; d < DIMENSIONS; d++) {
		size_t count = (BOX[d].most - BOX[d].least) / BOX[d].multiple + 1;

		for (size_t i = 0; i < POINTS; i++) {
			if (i / step % count + 1 == count)
				continue;
			if (sk_size_grows(sample->size))
				CHECK(sample->values[i] <= sample->values[i + step]);
			if (!sk_size_has(sample->size, d))
				CHECK(sample->values[i] == sample->values[i + step]);
		}
		step *= count;
	}
}

/* Return whether the text is read as the same size, not only as an equal one. */
static bool check_text(struct sk_sizes *sizes, struct sk_arena *arena, const struct sample *sample)
{
	const char *error, *text = sk_size_text(arena, sample->size);
	const struct sk_size *again;

	if (strlen(text) > 1000)
		return false;
	again = sk_size_parse(sizes, NULL, text, &error);
	ck_assert_msg(again || strstr(error, "nested") || strstr(error, "too large"), "%s: %s", text, error);
	for (size_t i = 0; again && i < POINTS; i++) {
		uint64_t values[DIMENSIONS];

		point(i, values);
		CHECK(sk_size_at(again, values) == sample->values[i]);
	}
	return again == sample->size;
}

static void check_order(struct sk_sizes *sizes, const struct sample *a, const struct sample *b, uint32_t *decided)
{
	enum sk_size_order order = sk_size_compare(sizes, a->size, b->size);
	bool less = true, equal = true, greater = true, different = true;
	uint64_t values[DIMENSIONS];

	for (size_t i = 0; i < POINTS; i++) {
		less &= a->values[i] < b->values[i];
		equal &= a->values[i] == b->values[i];
		greater &= a->values[i] > b->values[i];
		different &= a->values[i] != b->values[i];
	}
	decided[0] += order != SK_SIZE_UNKNOWN;
	decided[1]++;
	CHECK(order != SK_SIZE_EQUAL || equal);
	CHECK(order != SK_SIZE_LESS || less);
	CHECK(order != SK_SIZE_GREATER || greater);
	CHECK(order != SK_SIZE_DIFFERENT || different);
	for (size_t i = 0; i < POINTS; i++) {
		CHECK(order != SK_SIZE_LESS_OR_EQUAL || a->values[i] <= b->values[i]);
		CHECK(order != SK_SIZE_GREATER_OR_EQUAL || a->values[i] >= b->values[i]);
	}
	if (sk_size_differ(sizes, a->size, b->size, values))
		CHECK(!equal && sk_size_at(a->size, values) != sk_size_at(b->size, values));
	if (a->size == b->size)
		CHECK(equal);
}

static void check_laws(struct sk_sizes *sizes, const struct sk_size *a, const struct sk_size *b,
		       const struct sk_size *c)
{
	const struct sk_size *sum = sk_size_add(sizes, a, b), *product = sk_size_multiply(sizes, a, b);

	CHECK(sum == sk_size_add(sizes, b, a));
	CHECK(product == sk_size_multiply(sizes, b, a));
	if (sum)
		CHECK(sk_size_subtract(sizes, sum, b) == a);

	const struct sk_size *left = sk_size_multiply(sizes, sum, c);
	const struct sk_size *right = sk_size_add(sizes, sk_size_multiply(sizes, a, c), sk_size_multiply(sizes, b, c));

	if (left && right)
		CHECK(left == right);
	if (product && (sk_size_least(b) > 0 || sk_size_most(b) < 0))
		CHECK(sk_size_quotient(sizes, product, b) == a);
	if (product && sk_size_least(b) > 0)
		CHECK(sk_size_floor(sizes, product, b) == a);
}

START_TEST(expressions_at_random)
{
	static struct sample pool[POOL];
	uint32_t decided[2] = {0, 0}, refused = 0, same = 0;

	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct sk_arena *arena = sk_arena_create();
		struct sk_sizes *sizes = box(arena);
		uint64_t state = 1000 * (uint64_t)_i + seed;

		for (uint32_t i = 0; i < DIMENSIONS; i++) {
			pool[i].size = sk_sizes_variable(sizes, i);
			for (size_t j = 0; j < POINTS; j++) {
				uint64_t values[DIMENSIONS];

				point(j, values);
				pool[i].values[j] = (int64_t)values[i];
			}
		}
		for (uint32_t count = DIMENSIONS; count < POOL;) {
			if (!draw(sizes, &state, pool, count)) {
				refused++;
				if (refused > SEEDS * POOL * 20)
					break;
				continue;
			}
			check_values(arena, &pool[count]);
			check_growth(&pool[count]);
			same += check_text(sizes, arena, &pool[count]);

			const struct sample *a = &pool[random_below(&state, count)];
			const struct sample *b = &pool[random_below(&state, count)];

			check_order(sizes, &pool[count], a, decided);
			check_laws(sizes, pool[count].size, a->size, b->size);
			count++;
		}
		sk_arena_destroy(arena);
	}
	ck_assert_uint_lt(refused, SEEDS * POOL * 20);
	ck_assert_uint_gt(3 * decided[0], decided[1]);
	/* A choice of two products can be read as another sum. */
	ck_assert_uint_gt(same, SEEDS * (POOL - DIMENSIONS) * 98 / 100);
}
END_TEST

/* ---- texts and their normal forms ---- */

static struct sk_sizes *model_sizes(struct sk_arena *arena)
{
	static const struct sk_size_dimension dimensions[] = {
		{"batch", NULL, 1, 8, 1, 8},	{"seq", NULL, 1, 512, 1, 128}, {"past", NULL, 0, 2047, 1, 100},
		{"h", NULL, 64, 512, 8, 512},	{"w", NULL, 32, 1024, 1, 320}, {"fixed", NULL, 7, 7, 1, 7},
		{"total", NULL, 1, 2559, 1, 9},
	};
	struct sk_sizes *sizes = sk_sizes_create(arena);

	for (size_t i = 0; i < sizeof(dimensions) / sizeof(dimensions[0]); i++)
		sk_sizes_add_dimension(sizes, &dimensions[i]);
	return sizes;
}

START_TEST(normal_forms)
{
	static const struct {
		const char *text, *normal;
	} cases[] = {
		{"seq*512*batch", "512*batch*seq"},
		{"past + seq", "seq+past"},
		{"(batch*seq*768) // (batch*seq)", "768"},
		{"(seq*batch + past) // seq", "batch+floor(past/seq)"},
		{"(2*w + 5) // 2", "w+2"},
		{"floor((w+1)/2)", "floor((w+1)/2)"},
		{"ceil(w/2)", "floor((w+1)/2)"},
		{"-(-w // 4)", "floor((w+3)/4)"},
		{"((w // 2) - 1) // 2", "floor((w+2)/4)-1"},
		{"8 * (h // 8)", "h"},
		{"h / 8 * 8", "h"},
		{"h // 4", "floor(h/4)"},
		{"h % 8", "0"},
		{"(h + 3) % 8", "3"},
		{"min(seq, 1000)", "seq"},
		{"min(seq, 128)", "min(seq,128)"},
		{"max(128, seq)", "max(128,seq)"},
		{"2 * min(64, seq) * batch", "min(2*batch*seq,128*batch)"},
		{"min(4*seq, 64) // 4", "min(seq,16)"},
		{"past + seq - max(past + seq - 256, 0)", "min(seq+past,256)"},
		{"min(min(seq, 64), seq)", "min(seq,64)"},
		{"fixed*seq", "7*seq"},
		{"seq - seq", "0"},
		{"w % 2 + 2*(w // 2)", "w"},
		{"(w % 2) // 2", "0"},
		{"512 - seq", "512-seq"},
		{"floor(w / (h / 16))", "floor(2*w/floor(h/8))"},
		{"ceil(w / (h / 16))", "floor((16*w-1)/h)+1"},
		{"(past + 1) * seq - seq", "seq*past"},
	};
	struct sk_arena *arena = sk_arena_create();
	struct sk_sizes *sizes = model_sizes(arena);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *error;
		const struct sk_size *size = sk_size_parse(sizes, NULL, cases[i].text, &error);

		ck_assert_msg(size, "%s: %s", cases[i].text, error);
		ck_assert_str_eq(sk_size_text(arena, size), cases[i].normal);
		ck_assert_ptr_eq(sk_size_parse(sizes, NULL, cases[i].normal, &error), size);
	}
	sk_arena_destroy(arena);
}
END_TEST

START_TEST(questions)
{
	static const struct {
		const char *a, *b;
		enum sk_size_order order;
	} cases[] = {
		{"seq", "512", SK_SIZE_LESS_OR_EQUAL},
		{"seq", "513", SK_SIZE_LESS},
		{"past+seq", "past", SK_SIZE_GREATER},
		{"batch*seq", "seq", SK_SIZE_GREATER_OR_EQUAL},
		{"past", "seq", SK_SIZE_UNKNOWN},
		{"2*past", "2*seq+1", SK_SIZE_DIFFERENT},
		{"w % 8", "8", SK_SIZE_LESS},
		{"2*(w//2)", "w", SK_SIZE_LESS_OR_EQUAL},
		{"min(past,seq)", "seq", SK_SIZE_LESS_OR_EQUAL},
		{"max(past,seq)", "past", SK_SIZE_GREATER_OR_EQUAL},
		{"h//8*8", "h", SK_SIZE_EQUAL},
	};
	struct sk_arena *arena = sk_arena_create();
	struct sk_sizes *sizes = model_sizes(arena);
	uint64_t values[7];
	const char *error;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct sk_size *a = sk_size_parse(sizes, NULL, cases[i].a, &error);
		const struct sk_size *b = sk_size_parse(sizes, NULL, cases[i].b, &error);

		ck_assert(a && b);
		ck_assert_msg(sk_size_compare(sizes, a, b) == cases[i].order, "%s and %s", cases[i].a, cases[i].b);
	}

	const struct sk_size *total = sk_sizes_variable(sizes, sk_sizes_find(sizes, NULL, "total", 5));
	const struct sk_size *sum = sk_size_parse(sizes, NULL, "past+seq", &error);

	ck_assert(sk_size_differ(sizes, total, sum, values));
	ck_assert_int_ne(sk_size_at(total, values), sk_size_at(sum, values));
	ck_assert(!sk_size_differ(sizes, sum, sum, values));
	ck_assert_ptr_nonnull(strstr(sk_sizes_values_text(arena, sizes, NULL, values), "batch=8, seq="));
	sk_arena_destroy(arena);
}
END_TEST

START_TEST(hostile_texts)
{
	static const char *const bad[] = {
		"",
		"seq+",
		"(seq",
		"seq)",
		"nobody",
		"seq seq",
		"seq//past",
		"seq%0",
		"1/0",
		"floor(",
		"floor()",
		"sqrt(seq)",
		"\"seq",
		"min(seq",
		"min(,)",
		"seq^2",
		"9999999999999999999999",
		"4611686018427387904",
		"*seq",
		"seq*seq*seq*seq*seq*seq*seq*seq*seq",
		"-",
		"floor(seq/past)",
		"ceil(1/(past-5))",
	};
	struct sk_arena *arena = sk_arena_create();
	struct sk_sizes *sizes = model_sizes(arena);
	const char *error;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_msg(!sk_size_parse(sizes, NULL, bad[i], &error), "%s", bad[i]);
		ck_assert_msg(error && *error, "%s", bad[i]);
	}

	static const char *const repeated[] = {"(",
					       "floor(",
					       "-",
					       "seq+",
					       "min(seq,",
					       "((seq)+",
					       "(seq+past)*",
					       "max(min(seq,past)+",
					       "seq//2-floor("};

	for (size_t i = 0; i < sizeof(repeated) / sizeof(repeated[0]); i++)
		for (size_t length = 1; length < 100000; length *= 3) {
			char *text = sk_arena_alloc(arena, length + 10, 1);

			for (size_t j = 0; j < length; j++)
				text[j] = repeated[i][j % strlen(repeated[i])];
			if (!sk_size_parse(sizes, NULL, text, &error))
				ck_assert(error && *error);
		}

	/* Random texts of these signs end in a size or in an error. */
	static const char signs[] = "0123(()),+-*/%minaxflorcelseqpastwh ";
	uint64_t state = 5;

	for (uint32_t i = 0; i < 20000; i++) {
		char text[60];
		uint32_t length = random_below(&state, sizeof(text));

		for (uint32_t j = 0; j < length; j++)
			text[j] = signs[random_below(&state, sizeof(signs) - 1)];
		text[length] = '\0';
		ck_assert((sk_size_parse(sizes, NULL, text, &error) != NULL) == (error == NULL));
	}
	sk_arena_destroy(arena);
}
END_TEST

START_TEST(overflow)
{
	struct sk_arena *arena = sk_arena_create();
	struct sk_sizes *sizes = sk_sizes_create(arena);
	struct sk_size_dimension large = {"n", NULL, 0, (UINT64_C(1) << 31) - 1, 1, 1};
	const struct sk_size *n = sk_sizes_add_dimension(sizes, &large), *square = sk_size_multiply(sizes, n, n);

	ck_assert_ptr_nonnull(square);
	ck_assert_int_eq(sk_size_most(square), (int64_t)(large.most * large.most));
	ck_assert_ptr_null(sk_size_multiply(sizes, square, n));
	ck_assert_ptr_null(sk_size_add(sizes, square, square));
	ck_assert_ptr_null(sk_size_number(sizes, INT64_MAX));
	ck_assert_ptr_null(sk_size_number(sizes, INT64_MIN));
	ck_assert_ptr_null(sk_size_add(sizes, NULL, n));
	ck_assert_ptr_null(sk_size_floor(sizes, n, NULL));
	ck_assert_ptr_null(sk_size_min(sizes, NULL, NULL));
	ck_assert_ptr_null(sk_size_floor(sizes, square, n)); /* n can be 0 */
	sk_arena_destroy(arena);
}
END_TEST

/* Sums of minima, floors and products take little work, up to the limits. */
START_TEST(heavy_sizes)
{
	struct sk_arena *arena = sk_arena_create();
	struct sk_sizes *sizes = sk_sizes_create(arena);
	const struct sk_size *variables[20], *sum = sk_size_number(sizes, 0), *chain = NULL;
	unsigned sums = 0, chains = 0;

	for (uint32_t i = 0; i < 20; i++) {
		struct sk_size_dimension dimension = {sk_arena_print(arena, "d%u", i), NULL, 0, 9, 1, 9};

		variables[i] = sk_sizes_add_dimension(sizes, &dimension);
	}
	chain = variables[0];
	for (uint32_t i = 0; i < 19; i++) {
		const struct sk_size *both = sk_size_min(sizes, variables[i], variables[i + 1]);

		sum = sk_size_add(sizes, sum, both);
		chain = sk_size_subtract(sizes, sk_size_max(sizes, chain, variables[i]), both);
		chain = sk_size_floor(sizes, chain, sk_size_number(sizes, 2));
		sums += sum != NULL;
		chains += chain != NULL;
	}
	ck_assert_uint_gt(sums, 3);
	ck_assert_uint_gt(chains, 1);
	for (uint32_t i = 0; i < 20000; i++) {
		const struct sk_size *more = sk_size_number(sizes, i);

		ck_assert_ptr_nonnull(sk_size_add(sizes, variables[i % 20], more));
		ck_assert_ptr_nonnull(
			sk_size_multiply(sizes, sk_size_add(sizes, variables[i % 19 + 1], more), variables[i % 20]));
	}
	sk_arena_destroy(arena);
}
END_TEST

START_TEST(bounds)
{
	static const struct {
		const char *text;
		uint64_t least, most, multiple, usual;
	} good[] = {{"1..8", 1, 8, 1, 8},
		    {"5", 5, 5, 1, 5},
		    {"0..2047@100", 0, 2047, 1, 100},
		    {"64..512:8", 64, 512, 8, 512},
		    {"64..512:8@128", 64, 512, 8, 128},
		    {"2147483647", 2147483647, 2147483647, 1, 2147483647}};
	static const char *const bad[] = {
		"",	    "..",	 "1..",	  "..8",   "8..1",  "1..8:2", "2..8:0",	    "1..8@9",
		"2..8:2@3", "1..8@",	 "1..8:", "-1..8", "1...8", "1..8 ",  "2147483648", "1..99999999999999999999",
		"a",	    "1..8:2@2@2"};
	struct sk_arena *arena = sk_arena_create();
	struct sk_size_dimension dimension = {.name = "n"};
	const char *error;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		ck_assert(sk_size_parse_bounds(arena, good[i].text, &dimension, &error) && !error);
		ck_assert_uint_eq(dimension.least, good[i].least);
		ck_assert_uint_eq(dimension.most, good[i].most);
		ck_assert_uint_eq(dimension.multiple, good[i].multiple);
		ck_assert_uint_eq(dimension.usual, good[i].usual);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(!sk_size_parse_bounds(arena, bad[i], &dimension, &error) && error, "%s", bad[i]);
	sk_arena_destroy(arena);
}
END_TEST

START_TEST(networks)
{
	struct sk_arena *arena = sk_arena_create();
	struct sk_sizes *sizes = sk_sizes_create(arena);
	const char *error;

	sk_sizes_add_dimension(sizes, &(struct sk_size_dimension){"seq", "step", 1, 4, 1, 4});
	sk_sizes_add_dimension(sizes, &(struct sk_size_dimension){"seq", "prompt", 1, 512, 1, 4});
	ck_assert_uint_eq(sk_sizes_find(sizes, "step", "seq", 3), 0);
	ck_assert_uint_eq(sk_sizes_find(sizes, "prompt", "seq", 3), 1);
	ck_assert_uint_eq(sk_sizes_find(sizes, NULL, "seq", 3), SK_NONE);
	ck_assert_uint_eq(sk_sizes_find(sizes, "prompt", "se", 2), SK_NONE);
	ck_assert_int_eq(sk_size_most(sk_size_parse(sizes, "prompt", "2*seq", &error)), 1024);
	ck_assert_uint_eq(sk_sizes_count(sizes), 2);
	ck_assert_str_eq(sk_sizes_dimension(sizes, 1)->network, "prompt");
	sk_arena_destroy(arena);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sizes");
	TCase *cases = tcase_create("sizes");

	tcase_set_timeout(cases, 120);
	tcase_add_loop_test(cases, expressions_at_random, 0, 4);
	tcase_add_test(cases, normal_forms);
	tcase_add_test(cases, questions);
	tcase_add_test(cases, hostile_texts);
	tcase_add_test(cases, overflow);
	tcase_add_test(cases, heavy_sizes);
	tcase_add_test(cases, bounds);
	tcase_add_test(cases, networks);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
