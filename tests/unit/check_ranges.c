/* Tests of base/ranges.c: after random operations it gives the same answers as an array with a number for each byte,
 * and it looks at few ranges for an answer. */
#include "base/arena.h"
#include "base/ranges.h"

#include <check.h>
#include <stdbool.h>

#include "tests/lib/random.h"
#include "tests/lib/suite.h"

enum { SEEDS = 200, OPERATIONS = 400, BYTES = 64 };

/* The state of each byte: 0 if it is in no range; else the range that the byte belongs to, and its value. */
struct oracle {
	uint32_t range[BYTES + 1], value[BYTES + 1]; /* nothing lies at the last one */
	uint32_t ranges;
};

static bool begins_at(const struct oracle *oracle, uint64_t at)
{
	return oracle->range[at] && (at == 0 || oracle->range[at - 1] != oracle->range[at]);
}

static uint64_t end_of(const struct oracle *oracle, uint64_t at)
{
	uint64_t end = at;

	while (oracle->range[end] == oracle->range[at])
		end++;
	return end;
}

/* Check that the range found is the one that begins there, or none if that is past the end. */
static void check_answer(const struct oracle *oracle, const struct sk_range *found, uint64_t start)
{
	if (start >= BYTES) {
		ck_assert_ptr_null(found);
		return;
	}
	ck_assert_ptr_nonnull(found);
	ck_assert_uint_eq(found->start, start);
	ck_assert_uint_eq(found->end, end_of(oracle, start));
	ck_assert_uint_eq(found->value, oracle->value[start]);
}

static void check_questions(const struct oracle *oracle, struct sk_ranges *ranges, uint64_t offset, uint64_t length)
{
	uint64_t at = offset, before = BYTES, begin = offset;

	while (at < BYTES && !oracle->range[at])
		at++;
	while (at > 0 && at < BYTES && !begins_at(oracle, at))
		at--;
	check_answer(oracle, sk_ranges_find(ranges, offset), at);
	for (uint64_t i = 0; i < offset; i++)
		if (begins_at(oracle, i))
			before = i;
	check_answer(oracle, sk_ranges_before(ranges, offset), before);
	while (begin < BYTES && !(begins_at(oracle, begin) && end_of(oracle, begin) - begin >= length))
		begin++;
	check_answer(oracle, sk_ranges_find_long(ranges, offset, length), begin);
}

static void change(struct sk_arena *arena, struct oracle *oracle, struct sk_ranges *ranges, uint64_t start,
		   uint64_t end, uint32_t value)
{
	sk_ranges_clear(arena, ranges, start, end);
	if (value)
		sk_ranges_insert(arena, ranges, (struct sk_range){start, end, value});
	/* A rest on the right becomes a range of its own. */
	if (end < BYTES && oracle->range[end] && !begins_at(oracle, end)) {
		uint64_t last = end_of(oracle, end);

		oracle->ranges++;
		for (uint64_t i = end; i < last; i++)
			oracle->range[i] = oracle->ranges;
	}
	oracle->ranges++;
	for (uint64_t i = start; i < end; i++) {
		oracle->range[i] = value ? oracle->ranges : 0;
		oracle->value[i] = value;
	}
}

START_TEST(at_random)
{
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct sk_arena *arena = sk_arena_create();
		struct oracle oracle = {.ranges = 0};
		struct sk_ranges ranges = {.root = 0};
		uint64_t state = seed;

		for (uint32_t i = 0; i < OPERATIONS; i++) {
			uint64_t start = random_below(&state, BYTES), length = 1 + random_below(&state, 9);
			uint64_t end = start + length < BYTES ? start + length : BYTES;

			change(arena, &oracle, &ranges, start, end, random_below(&state, 5));
			check_questions(&oracle, &ranges, random_below(&state, BYTES), 1 + random_below(&state, 9));
		}
		sk_arena_destroy(arena);
	}
}
END_TEST

/* In rising order, in falling order, and at random. */
START_TEST(heights)
{
	enum { COUNT = 1 << 12, MOST_HEIGHT = 18 /* 1.44 log2(COUNT) */ };
	struct sk_arena *arena = sk_arena_create();
	struct sk_ranges ranges = {.root = 0};
	uint64_t state = 1;

	for (uint32_t i = 0; i < COUNT; i++) {
		uint64_t at = _i == 0 ? i : _i == 1 ? COUNT - i : random_below(&state, UINT32_MAX);
		const struct sk_range *there = sk_ranges_find(&ranges, 2 * at);

		if (!there || there->start > 2 * at)
			sk_ranges_insert(arena, &ranges, (struct sk_range){2 * at, 2 * at + 1, i});
	}
	for (uint32_t i = 0; i < COUNT; i++) {
		ranges.steps = 0;
		sk_ranges_find(&ranges, 2 * random_below(&state, COUNT));
		ck_assert_uint_le(ranges.steps, MOST_HEIGHT);
		ranges.steps = 0;
		sk_ranges_find_long(&ranges, 2 * random_below(&state, COUNT), 1 + random_below(&state, 2));
		ck_assert_uint_le(ranges.steps, 2 * MOST_HEIGHT);
	}
	sk_arena_destroy(arena);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ranges");
	TCase *cases = tcase_create("ranges");

	tcase_add_test(cases, at_random);
	tcase_add_loop_test(cases, heights, 0, 3);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
