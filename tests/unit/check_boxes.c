/* Tests of base/boxes.c and format/skrows.h: after random operations they give the same answers as an array with a
 * number for each byte, and they look at few boxes for an answer. */
#include "base/arena.h"
#include "base/ranges.h"

#include <check.h>
#include <stdbool.h>
#include <string.h>

#include "format/skrows.h"
#include "tests/lib/random.h"
#include "tests/lib/suite.h"

enum { SEEDS = 300, OPERATIONS = 100, BYTES = 256 };

/* At random: one row, or several with or without gaps, that end within BYTES. */
static struct sk_rows random_rows(uint64_t *state, uint64_t stride)
{
	struct sk_rows rows = {.start = random_below(state, BYTES - 1), .count = 1};
	uint64_t rest = BYTES - rows.start;

	if (stride && random_below(state, 3)) {
		rows.stride = random_below(state, 4) ? stride : 1 + random_below(state, 20);
		rows.width = 1 + random_below(state, (uint32_t)rows.stride);
		if (rows.width <= rest)
			rows.count = 1 + random_below(state, (uint32_t)(1 + (rest - rows.width) / rows.stride));
	}
	if (rows.count == 1) {
		rows.width = 1 + random_below(state, (uint32_t)rest);
		rows.stride = 0;
	}
	return rows;
}

static bool has_byte(const struct sk_rows *rows, uint64_t at)
{
	for (uint64_t row = 0; row < rows->count; row++)
		if (at >= rows->start + row * rows->stride && at < rows->start + row * rows->stride + rows->width)
			return true;
	return false;
}

static bool has_byte_between(const struct sk_rows *rows, const struct sk_rows *ends)
{
	for (uint64_t at = ends->start; at < sk_rows_end(ends); at++)
		if (has_byte(rows, at))
			return true;
	return false;
}

START_TEST(rows_at_random)
{
	uint64_t state = 7;

	for (uint32_t i = 0; i < SEEDS * OPERATIONS; i++) {
		uint64_t stride = 2 + random_below(&state, 30);
		struct sk_rows one = random_rows(&state, stride), other = random_rows(&state, stride);
		bool alike = one.count == 1 || other.count == 1 || one.stride == other.stride, common = false;

		for (uint64_t at = 0; at < BYTES; at++)
			common |= has_byte(&one, at) && has_byte(&other, at);
		if (!alike)
			common = has_byte_between(&one, &other) && has_byte_between(&other, &one);
		ck_assert(sk_rows_overlap(&one, &other) == common);
		ck_assert(sk_rows_overlap(&other, &one) == common);
	}
}
END_TEST

/* Fill or cut at the rows; the map sees all bytes up to the last one if it has another stride. */
static void change(struct sk_arena *arena, struct sk_boxes *boxes, const struct sk_rows *rows, bool fill,
		   uint32_t value, uint32_t *oracle)
{
	struct sk_box areas[SK_MAX_AREAS];
	uint32_t count = sk_boxes_of_rows(boxes, rows->start, rows->width, rows->stride, rows->count, areas);
	bool exact = rows->count == 1 || rows->stride == boxes->stride;

	for (uint32_t i = 0; i < count; i++) {
		areas[i].value = value;
		if (fill) {
			sk_boxes_fill(arena, boxes, &areas[i]);
			continue;
		}
		size_t inside = sk_boxes_cut(arena, boxes, &areas[i]);

		for (size_t k = 0; k < inside; k++)
			sk_boxes_at(boxes, k)->value += value;
	}
	for (uint64_t at = rows->start; at < sk_rows_end(rows); at++)
		if (!exact || has_byte(rows, at))
			oracle[at] = fill ? value : oracle[at] + value;
}

/* The first byte at which the map says something else than the oracle; BYTES: there is none. An assertion for each byte
 * would take most of the test's time. */
static uint64_t find_difference(struct sk_arena *arena, struct sk_boxes *boxes, const uint32_t *oracle)
{
	struct sk_box areas[SK_MAX_AREAS];
	uint64_t at = 0;

	while (at < BYTES && sk_boxes_of_rows(boxes, at, 1, 0, 1, areas) == 1 &&
	       sk_boxes_find(arena, boxes, &areas[0]) == 1 && sk_boxes_at(boxes, 0)->value == oracle[at])
		at++;
	return at;
}

START_TEST(boxes_at_random)
{
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct sk_arena *arena = sk_arena_create();
		uint64_t state = seed;
		struct sk_boxes boxes = {.stride = random_below(&state, 4) ? 1 + random_below(&state, 40) : 0};
		uint32_t oracle[BYTES] = {0};

		for (uint32_t i = 0; i < OPERATIONS; i++) {
			struct sk_rows rows = random_rows(&state, boxes.stride);

			change(arena, &boxes, &rows, random_below(&state, 2), random_below(&state, 5), oracle);
			ck_assert_uint_eq(find_difference(arena, &boxes, oracle), BYTES);
		}
		sk_arena_destroy(arena);
	}
}
END_TEST

/* Columns, rows and tiles of a matrix: from left to right, from right to left, and at random. */
START_TEST(few_looks)
{
	enum { SIDE = 64, COUNT = SIDE * SIDE, MOST_LOOKS = 400 };
	struct sk_arena *arena = sk_arena_create();
	struct sk_boxes boxes = {.stride = COUNT};
	uint64_t state = 1;

	for (uint32_t i = 0; i < COUNT; i++) {
		uint32_t at = _i % 3 == 0 ? i : _i % 3 == 1 ? COUNT - 1 - i : random_below(&state, COUNT);
		uint32_t x = at % SIDE * SIDE, y = at / SIDE * SIDE;
		const struct sk_box areas[] = {
			{at, at + 1, 0, 1000, 1}, {0, COUNT, at, at + 1, 1}, {x, x + SIDE, y, y + SIDE, 1}};

		sk_boxes_fill(arena, &boxes, &areas[_i / 3]);
	}
	ck_assert_uint_le(boxes.steps, (uint64_t)COUNT * MOST_LOOKS);
	sk_arena_destroy(arena);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("boxes");
	TCase *cases = tcase_create("boxes");

	tcase_set_timeout(cases, 120);
	tcase_add_test(cases, rows_at_random);
	tcase_add_test(cases, boxes_at_random);
	tcase_add_loop_test(cases, few_looks, 0, 9);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
