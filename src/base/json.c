/* See json.h. */
#include "json.h"

#include <stdio.h>
#include <string.h>

enum { MOST_PER_BYTE = 6 }; /* "\\u001f" */

/* Bytes of the UTF-8 character at the start of the text; 0: it is none (RFC 3629, section 4). */
static size_t character_length(const char *start)
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
		return 0; /* longer than need be */
	if ((bytes[0] == 0xed && bytes[1] > 0x9f) || (bytes[0] == 0xf4 && bytes[1] > 0x8f))
		return 0; /* a surrogate, or none of Unicode's */
	return length;
}

const char *sk_json_string(struct sk_arena *arena, const char *text)
{
	char *string = sk_arena_alloc(arena, strlen(text) + 1, MOST_PER_BYTE), *end = string;

	*end++ = '"';
	while (*text) {
		size_t length = character_length(text);

		if (!length) {
			end += sprintf(end, "\\ufffd");
		} else if (length == 1 && ((unsigned char)*text < 0x20 || *text == 0x7f)) {
			end += sprintf(end, "\\u%04x", (unsigned)*text);
		} else {
			if (*text == '"' || *text == '\\')
				*end++ = '\\';
			memcpy(end, text, length);
			end += length;
		}
		text += length ? length : 1;
	}
	*end++ = '"';
	*end = '\0';
	return string;
}
