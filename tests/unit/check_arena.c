/* Arenas: allocated memory is zeroed and belongs to one owner only, whether it is small, a block of its own, or was
 * given back or part of another arena before, in arenas small and large; arrays keep their items when they grow. */
#include <check.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/arena.h"
#include "tests/lib/suite.h"

enum { MOST = 2000, SEED = 1 };

struct piece {
	uint8_t *bytes;
	size_t size;
	uint8_t value; /* of each byte */
};

static struct piece pieces[MOST];
static size_t piece_count;

static uint32_t state;

/* Park and Miller's generator. */
static uint32_t next_random(void)
{
	return state = (uint32_t)((uint64_t)state * 48271 % 2147483647);
}

static void start(void)
{
	state = SEED;
	piece_count = 0;
}

static bool holds(const uint8_t *bytes, size_t size, uint8_t value)
{
	for (size_t i = 0; i < size; i++)
		if (bytes[i] != value)
			return false;
	return true;
}

static void add(struct sk_arena *arena, size_t size)
{
	struct piece *piece = &pieces[piece_count++];

	*piece = (struct piece){sk_arena_alloc(arena, size, 1), size, (uint8_t)(1 + next_random() % 255)};
	ck_assert_uint_eq((uintptr_t)piece->bytes % 8, 0);
	ck_assert(holds(piece->bytes, size, 0));
	for (size_t i = 0; i < size; i++)
		piece->bytes[i] = piece->value;
}

/* Sizes of every order up to that of blocks that are mapped. */
static size_t random_size(void)
{
	return 1 + next_random() % (1U << (3 + next_random() % 20));
}

static void release(struct sk_arena *arena, size_t number)
{
	sk_arena_release(arena, pieces[number].bytes, pieces[number].size);
	pieces[number] = pieces[--piece_count];
}

static void check_all(void)
{
	for (size_t i = 0; i < piece_count; i++)
		ck_assert(holds(pieces[i].bytes, pieces[i].size, pieces[i].value));
}

/* For every third one, one is given back: the arena's are those from `first` on. */
static void use(struct sk_arena *arena, size_t first, int steps)
{
	for (int i = 0; i < steps; i++) {
		add(arena, random_size());
		if (i % 3 == 2)
			release(arena, first + next_random() % (piece_count - first));
	}
	check_all();
}

START_TEST(pieces_are_apart)
{
	struct sk_arena *arena = sk_arena_create();

	start();
	use(arena, 0, 200);
	sk_arena_destroy(arena);
}
END_TEST

START_TEST(adopted)
{
	struct sk_arena *arena = sk_arena_create();

	start();
	for (int i = 0; i < 4; i++) {
		struct sk_arena *other = sk_arena_create();

		use(other, piece_count, 4 << 2 * i);
		sk_arena_adopt(arena, other);
		use(arena, 0, 30);
	}
	sk_arena_destroy(arena);
}
END_TEST

START_TEST(reset)
{
	struct sk_arena *arena = sk_arena_create();

	for (int i = 0; i < 4; i++) {
		start();
		use(arena, 0, 3 << 2 * i);
		sk_arena_reset(arena);
	}
	sk_arena_destroy(arena);
}
END_TEST

/* Only the memory that another arena held may be overwritten. */
START_TEST(used_again)
{
	struct sk_arena *arena = sk_arena_create();

	start();
	for (int i = 0; i < 4; i++) {
		struct sk_arena *other = sk_arena_create();
		size_t kept = piece_count;

		use(other, kept, 4 << 2 * i);
		piece_count = kept;
		sk_arena_destroy(other);
		use(arena, 0, 100);
	}
	sk_arena_destroy(arena);
}
END_TEST

START_TEST(arrays_grow)
{
	struct sk_arena *arena = sk_arena_create();
	SK_ARRAY(uint32_t) arrays[3] = {0};

	for (uint32_t i = 0; i < 600000; i++)
		for (uint32_t a = 0; a < 3; a++)
			if (i % (a + 1) == 0)
				sk_array_push(arena, &arrays[a], i * (a + 1));
	for (uint32_t a = 0; a < 3; a++)
		for (uint32_t i = 0; i < arrays[a].count; i++)
			ck_assert_uint_eq(arrays[a].items[i], i * (a + 1) * (a + 1));
	sk_arena_destroy(arena);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("arena");
	TCase *test = tcase_create("arena");

	tcase_set_timeout(test, 300);
	tcase_add_test(test, pieces_are_apart);
	tcase_add_test(test, adopted);
	tcase_add_test(test, reset);
	tcase_add_test(test, used_again);
	tcase_add_test(test, arrays_grow);
	suite_add_tcase(suite, test);

	return run_suite(suite);
}
