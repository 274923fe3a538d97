/* Identifiers of names, compared with a reader of the rule: it turns each identifier back into the name, so no two
 * names share one. */
#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "tests/lib/suite.h"

/* Good enough to choose bytes. */
static uint32_t below(uint64_t *state, uint32_t limit)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 33) % limit;
}

static bool is_identifier(const char *text)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz", digits[] = "0123456789";
	size_t length = strlen(text), used = 0;

	while (used < length && (strchr(letters, text[used]) || (used && strchr(digits, text[used]))))
		used++;
	return length && used == length;
}

/* _xHH is that byte. */
static void decode(const char *identifier, char *name)
{
	unsigned byte;

	for (; *identifier; name++) {
		bool escaped = strlen(identifier) >= 4 && identifier[0] == '_' && identifier[1] == 'x' &&
			       strspn(identifier + 2, "0123456789ABCDEF") >= 2 &&
			       sscanf(identifier + 2, "%2X", &byte) == 1;

		*name = escaped ? (char)byte : *identifier;
		identifier += escaped ? 4 : 1;
	}
	*name = '\0';
}

START_TEST(examples)
{
	static const char *const names[][2] = {
		{"a", "a"},
		{"layer_3_x", "layer_3_x"},
		{"_x1_x2f_xAg", "_x1_x2f_xAg"},
		{"/layer.3/MatMul", "_x2Flayer_x2E3_x2FMatMul"},
		{"input:0", "input_x3A0"},
		{"0", "_x30"},
		{"10", "_x310"},
		{"a_x2Fb", "a_x5Fx2Fb"},
		{"a/b", "a_x2Fb"},
		{"_x5Fx2F", "_x5Fx5Fx2F"},
		{"\xc3\xa9", "_xC3_xA9"},
		{" ", "_x20"},
		{"_x2", "_x2"},
		{"_x2/", "_x2_x2F"},
		{"__xFF", "__x5FxFF"},
	};
	struct sk_arena *arena = sk_arena_create();

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		ck_assert_str_eq(sk_identifier(arena, names[i][0]), names[i][1]);
	sk_arena_destroy(arena);
}
END_TEST

START_TEST(one_to_one)
{
	static const char bytes[] = "_xx25FfA0aZ/.:-\xc3\xa9";
	struct sk_arena *arena = sk_arena_create();

	for (uint64_t round = 0, state = 1; round < 100000; round++) {
		char name[12], decoded[64];
		size_t length = 1 + below(&state, sizeof(name) - 1);

		for (size_t i = 0; i < length; i++)
			name[i] = bytes[below(&state, sizeof(bytes) - 1)];
		name[length] = '\0';

		const char *identifier = sk_identifier(arena, name);

		ck_assert_msg(is_identifier(identifier), "'%s' is '%s'", name, identifier);
		decode(identifier, decoded);
		ck_assert_str_eq(decoded, name);
		sk_arena_reset(arena);
	}
	sk_arena_destroy(arena);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("identifier");
	TCase *cases = tcase_create("names");

	tcase_add_test(cases, examples);
	tcase_add_test(cases, one_to_one);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
