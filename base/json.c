/* Texts in JSON; see json.h. */
#include "base/json.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"

const char *sk_json_string(struct sk_arena *arena, const char *text)
{
	char *string = sk_arena_alloc(arena, strlen(text) + 1, SK_LONGEST_IN_JSON), *end = string;

	*end++ = '"';
	while (*text) {
		text += sk_escape_json_character(text, end);
		end += strlen(end);
	}
	*end++ = '"';
	*end = '\0';
	return string;
}

/* ---- surrogates ---- */

enum { ESCAPE = 6 /* "\\ud83d" */, PAIR = 2 * ESCAPE, LONG_ESCAPE = 10 /* "\\U0001f600" */ };

/* Return the number after "\u" at the start of the text, or -1. */
static long escaped_unit(const char *text, size_t size)
{
	long unit = 0;

	if (size < ESCAPE || text[0] != '\\' || text[1] != 'u')
		return -1;
	for (int i = 2; i < ESCAPE; i++) {
		if (!isxdigit((unsigned char)text[i]))
			return -1;
		unit = 16 * unit + (text[i] <= '9' ? text[i] - '0' : (text[i] | 0x20) - 'a' + 10);
	}
	return unit;
}

/* Return the character of the pair at the start of the text, or 0. */
static long escaped_pair(const char *text, size_t size)
{
	long high = escaped_unit(text, size);
	long low = high >= 0xd800 && high < 0xdc00 ? escaped_unit(text + ESCAPE, size - ESCAPE) : -1;

	return low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00) : 0;
}

/* Return the position after the string that has begun before the text; the text's size if the string does not end. */
static size_t string_end(const char *text, size_t size)
{
	size_t at = 0;

	while (at < size && text[at] != '"')
		at += text[at] == '\\' ? 2 : 1;
	return at < size ? at + 1 : size;
}

/* True if all text outside of strings is possible in JSON. */
static bool is_json(const char *text, size_t size)
{
	size_t first = 0;

	while (first < size && text[first] && strchr(" \t\r\n", text[first]))
		first++;
	if (first == size || text[first] != '{')
		return false;
	for (size_t at = first; at < size;) {
		if (text[at] == '"')
			at += 1 + string_end(text + at + 1, size - at - 1);
		else if (text[at] && strchr(" \t\r\n{}[]:,+-.0123456789eEtrufalsn", text[at]))
			at++;
		else
			return false;
	}
	return true;
}

static void join_in_string(char *text, size_t size)
{
	size_t to = 0;

	for (size_t from = 0; from < size;) {
		long character = escaped_pair(text + from, size - from);
		size_t length = text[from] == '\\' && size - from > 1 ? 2 : 1;

		if (character) {
			char escape[LONG_ESCAPE + 1];

			snprintf(escape, sizeof(escape), "\\U%08lx", character);
			memcpy(text + to, escape, LONG_ESCAPE);
			to += LONG_ESCAPE;
			from += PAIR;
			continue;
		}
		memmove(text + to, text + from, length);
		to += length;
		from += length;
	}
	memset(text + to, ' ', size - to);
}

void sk_json_join_surrogates(char *text, size_t size)
{
	if (!is_json(text, size))
		return;
	for (size_t at = 0; at < size;) {
		size_t length = text[at] == '"' ? 1 + string_end(text + at + 1, size - at - 1) : 1;

		if (length > PAIR)
			join_in_string(text + at, length);
		at += length;
	}
}
