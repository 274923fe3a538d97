/* Check suite for the writer of JSON: the bytes that each layout has, and names that try to end their string. */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/text.h"
#include "tests/lib/suite.h"

static struct sk_arena *arena;

static void setup(void)
{
	arena = sk_arena_create();
}

static void teardown(void)
{
	sk_arena_destroy(arena);
}

static const char *close_text(struct sk_text *text)
{
	sk_text_close(arena, text);
	ck_assert_ptr_null(sk_json_find_error(text->bytes));
	return text->bytes;
}

/* Objects and lists without an item, with one and with three, in each other in each layout. */
static const char *write_nested(struct sk_json json, enum sk_json_layout outer, enum sk_json_layout inner)
{
	struct sk_text text;

	sk_text_open(&text);
	json.stream = text.stream;
	sk_json_begin_object(&json, NULL, outer);
	sk_json_begin_object(&json, "none", inner);
	sk_json_end(&json);
	sk_json_begin_list(&json, "one", inner);
	sk_json_put_bool(&json, NULL, true);
	sk_json_end(&json);
	sk_json_begin_object(&json, "three", inner);
	sk_json_put_number(&json, "a", UINT64_MAX);
	sk_json_put_string(&json, "b", NULL);
	fprintf(sk_json_put_value(&json, "c"), "%d.5", -1);
	sk_json_end(&json);
	sk_json_begin_list(&json, "deep", inner);
	sk_json_begin_list(&json, NULL, outer);
	sk_json_put_string(&json, NULL, "x");
	sk_json_put_bool(&json, NULL, false);
	sk_json_end(&json);
	sk_json_end(&json);
	sk_json_end(&json);
	return close_text(&text);
}

START_TEST(layouts)
{
	ck_assert_str_eq(write_nested((struct sk_json){.indent = 2}, SK_JSON_LINE, SK_JSON_LINE),
			 "{\"none\": {}, \"one\": [true], \"three\": {\"a\": 18446744073709551615, \"b\": null, "
			 "\"c\": -1.5}, \"deep\": [[\"x\", false]]}");
	ck_assert_str_eq(write_nested((struct sk_json){.compact = true}, SK_JSON_LINE, SK_JSON_LINE),
			 "{\"none\":{},\"one\":[true],\"three\":{\"a\":18446744073709551615,\"b\":null,\"c\":-1.5},"
			 "\"deep\":[[\"x\",false]]}");
	ck_assert_str_eq(write_nested((struct sk_json){.indent = 2}, SK_JSON_LINES, SK_JSON_LINE),
			 "{\n  \"none\": {},\n  \"one\": [true],\n  \"three\": {\"a\": 18446744073709551615, "
			 "\"b\": null, \"c\": -1.5},\n  \"deep\": [[\n    \"x\",\n    false\n  ]]\n}");
	ck_assert_str_eq(write_nested((struct sk_json){.indent = 4}, SK_JSON_LINE, SK_JSON_LINES),
			 "{\"none\": {\n}, \"one\": [\n    true\n], \"three\": {\n    \"a\": 18446744073709551615,\n"
			 "    \"b\": null,\n    \"c\": -1.5\n}, \"deep\": [\n    [\"x\", false]\n]}");
	ck_assert_str_eq(write_nested((struct sk_json){.compact = true}, SK_JSON_LINES_BETWEEN, SK_JSON_LINES),
			 "{\"none\":{\n},\n\"one\":[\ntrue\n],\n\"three\":{\n\"a\":18446744073709551615,\n\"b\":null,\n"
			 "\"c\":-1.5\n},\n\"deep\":[\n[\"x\",\nfalse]\n]}");
}
END_TEST

/* Traces and --json write names the same way: pages join them by these. */
START_TEST(strings)
{
	static const struct {
		const char *name, *string;
	} cases[] = {
		{"", "\"\""},
		{"a\"b\\c", "\"a\\\"b\\\\c\""},
		{"\x01\n\x1f\x7f", "\"\\u0001\\u000a\\u001f\\u007f\""},
		{"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""},
		{"a\xc2\x9b"
		 "31m\xe2\x80\xae"
		 "b\xe2\x81\xa6\xe2\x80\xa8",
		 "\"a\\u009b31m\\u202eb\\u2066\\u2028\""},
		{"\xe9t\xe2\x82", "\"\\ufffdt\\ufffd\\ufffd\""},
		{"\xff\xff\xff\xff", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sk_text text;

		sk_text_open(&text);
		sk_json_put_string(&(struct sk_json){.stream = text.stream}, NULL, cases[i].name);
		ck_assert_str_eq(close_text(&text), cases[i].string);
		ck_assert_str_eq(sk_json_string(arena, cases[i].name), cases[i].string);
	}
}
END_TEST

/* Return the bytes that the string at the text represents, up to the character after its closing quote. The suite's own
 * reader, which knows the writer's escapes alone. */
static const char *decode(const char *text, char *decoded)
{
	ck_assert_int_eq(*text++, '"');
	while (*text != '"') {
		unsigned point = 0;

		ck_assert((unsigned char)*text >= ' ' && *text != '\x7f');
		if (*text != '\\') {
			*decoded++ = *text++;
		} else if (text[1] != 'u') {
			ck_assert(text[1] == '"' || text[1] == '\\');
			*decoded++ = text[1];
			text += 2;
		} else {
			ck_assert_int_eq(sscanf(text + 2, "%4x", &point), 1);
			text += 6;
			if (point >= 0x800)
				*decoded++ = (char)(0xe0 | point >> 12);
			if (point >= 0x80)
				*decoded++ = (char)(point >= 0x800 ? 0x80 | (point >> 6 & 0x3f) : 0xc0 | point >> 6);
			*decoded++ = (char)(point >= 0x80 ? 0x80 | (point & 0x3f) : point);
		}
	}
	*decoded = '\0';
	return text + 1;
}

/* Each byte that is not UTF-8 becomes U+FFFD. */
static void replace_bad_bytes(const char *text, char *replaced)
{
	*replaced = '\0';
	while (*text) {
		size_t length = sk_character_length(text);

		strncat(replaced, length ? text : "\xef\xbf\xbd", length ? length : 3);
		text += length ? length : 1;
	}
}

enum { BATCH = 256, LONGEST = 32 };

/* Each as a key and as a value in an object of its own. */
static void expect_whole(char names[BATCH][LONGEST])
{
	struct sk_text text;
	char wanted[2 * LONGEST], found[2 * LONGEST];

	sk_text_open(&text);

	struct sk_json json = {.stream = text.stream, .compact = true};

	sk_json_begin_list(&json, NULL, SK_JSON_LINE);
	for (int i = 0; i < BATCH; i++) {
		sk_json_begin_object(&json, NULL, SK_JSON_LINE);
		sk_json_put_string(&json, names[i], names[i]);
		sk_json_end(&json);
	}
	sk_json_end(&json);

	const char *at = close_text(&text) + 1;

	for (int i = 0; i < BATCH; i++, at += 2) {
		replace_bad_bytes(names[i], wanted);
		ck_assert_int_eq(*at, '{');
		at = decode(at + 1, found);
		ck_assert_str_eq(found, wanted);
		ck_assert_int_eq(*at, ':');
		at = decode(at + 1, found);
		ck_assert_str_eq(found, wanted);
		ck_assert_int_eq(at[0], '}');
		ck_assert_int_eq(at[1], i + 1 < BATCH ? ',' : ']');
	}
}

/* All pairs of bytes, and texts of the pieces that strings and escapes are made of. */
START_TEST(hostile)
{
	static const char *const pieces[] = {"\"",
					     "\\",
					     "\\u0022",
					     "\n",
					     "\x7f",
					     "\xc2\x9b",
					     "a",
					     "</",
					     ",",
					     "\xe2\x80\xae",
					     "\xef\xbf\xbd",
					     "\xf0\x9f\x98\x80",
					     "}",
					     "\xc2",
					     "\xed\xa0\x80",
					     "'",
					     "\xf4\x8f\xbf\xbf",
					     "\xd8\x9c"};
	static char names[BATCH][LONGEST];
	unsigned count = sizeof(pieces) / sizeof(pieces[0]), state = 1;

	for (unsigned first = 0; first < 256; first++) {
		for (unsigned second = 0; second < BATCH; second++)
			memcpy(names[second], (const char[]){(char)first, (char)second, '\0'}, 3);
		expect_whole(names);
	}
	for (int batch = 0; batch < 20; batch++) {
		for (int i = 0; i < BATCH; i++) {
			names[i][0] = '\0';
			for (int k = 0; k < 5; k++) {
				state = state * 1103515245 + 12345;
				strcat(names[i], pieces[(state >> 16) % count]);
			}
		}
		expect_whole(names);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("json");
	TCase *tcase = tcase_create("json");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, layouts);
	tcase_add_test(tcase, strings);
	tcase_add_test(tcase, hostile);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
