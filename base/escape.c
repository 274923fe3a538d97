/* Printable text; see text.h. */
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { LONGEST_CHARACTER = 4, LONGEST_ESCAPE = 4 * LONGEST_CHARACTER };

size_t sk_character_length(const char *start)
{
	const unsigned char *bytes = (const unsigned char *)start;
	size_t length = bytes[0] < 0x80			       ? 1
			: bytes[0] >= 0xc2 && bytes[0] <= 0xdf ? 2
			: (bytes[0] & 0xf0) == 0xe0	       ? 3
			: bytes[0] >= 0xf0 && bytes[0] <= 0xf4 ? 4
							       : 0;

	for (size_t i = 1; i < length; i++)
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
	if ((bytes[0] == 0xe0 && bytes[1] < 0xa0) || (bytes[0] == 0xf0 && bytes[1] < 0x90))
		return 0; /* not the shortest form */
	if ((bytes[0] == 0xed && bytes[1] > 0x9f) || (bytes[0] == 0xf4 && bytes[1] > 0x8f))
		return 0; /* a surrogate, or beyond Unicode */
	return length;
}

/* All relevant characters have at most three bytes. */
static uint32_t code_point(const char *start, size_t length)
{
	const unsigned char *bytes = (const unsigned char *)start;

	if (length == 2)
		return (uint32_t)(bytes[0] & 0x1f) << 6 | (bytes[1] & 0x3f);
	if (length == 3)
		return (uint32_t)(bytes[0] & 0xf) << 12 | (uint32_t)(bytes[1] & 0x3f) << 6 | (bytes[2] & 0x3f);
	return bytes[0];
}

static bool is_control(uint32_t point)
{
	return point < 0x20 || (point >= 0x7f && point <= 0x9f) || point == 0x061c || point == 0x200e ||
	       point == 0x200f || (point >= 0x2028 && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069);
}

/* Write the character at the start of the text in its printable form. Return its bytes in the text. */
static size_t show_character(const char *text, char shown[LONGEST_ESCAPE + 1])
{
	size_t length = sk_character_length(text);

	if (length && (length == LONGEST_CHARACTER || !is_control(code_point(text, length)))) {
		memcpy(shown, text, length);
		shown[length] = '\0';
		return length;
	}
	length = length ? length : 1;
	for (size_t i = 0; i < length; i++)
		snprintf(shown + 4 * i, 5, "\\x%02x", (unsigned char)text[i]);
	return length;
}

size_t sk_escape(char *escaped, size_t size, const char *text)
{
	char shown[LONGEST_ESCAPE + 1];
	size_t used = 0, whole = 0;
	bool full = false;

	while (*text) {
		text += show_character(text, shown);
		size_t length = strlen(shown);

		whole += length;
		full |= used + length >= size;
		if (full)
			continue;
		memcpy(escaped + used, shown, length);
		used += length;
	}
	if (size)
		escaped[used] = '\0';
	return whole;
}

void sk_escape_print(const char *text, FILE *stream)
{
	char shown[LONGEST_ESCAPE + 1];

	while (*text) {
		const char *plain = text;

		while (*text >= ' ' && *text <= '~') /* in one call: standard error has no buffer */
			text++;
		fwrite(plain, 1, (size_t)(text - plain), stream);
		if (!*text)
			break;
		text += show_character(text, shown);
		fputs(shown, stream);
	}
}

void sk_escape_print_column(const char *text, int width, FILE *stream)
{
	size_t size = sk_escape(NULL, 0, text);

	sk_escape_print(text, stream);
	fprintf(stream, "%*s", size < (size_t)width ? width - (int)size : 0, "");
}

size_t sk_escape_json_character(const char *text, char shown[SK_LONGEST_IN_JSON + 1])
{
	size_t length = sk_character_length(text);

	if (!length)
		strcpy(shown, "\\ufffd");
	else if (*text == '"' || *text == '\\')
		snprintf(shown, SK_LONGEST_IN_JSON + 1, "\\%c", *text);
	else if (length < LONGEST_CHARACTER && is_control(code_point(text, length)))
		snprintf(shown, SK_LONGEST_IN_JSON + 1, "\\u%04x", (unsigned)code_point(text, length));
	else
		snprintf(shown, SK_LONGEST_IN_JSON + 1, "%.*s", (int)length, text);
	return length ? length : 1;
}
