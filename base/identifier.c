/* Identifiers; see text.h. */
#include "base/text.h"

#include <stdbool.h>
#include <string.h>

#include "base/arena.h"

enum { ESCAPED = 4 /* bytes of _xHH */ };

static const char digits[] = "0123456789ABCDEF";

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* A letter of C's own alphabet, regardless of the locale. */
static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_hexadecimal(char c)
{
	return c && strchr(digits, c);
}

static bool is_escaped(const char *name, size_t at)
{
	const char *c = name + at;

	if (*c == '_')
		return c[1] == 'x' && is_hexadecimal(c[2]) && is_hexadecimal(c[3]);
	return !is_letter(*c) && !(is_digit(*c) && at > 0);
}

const char *sk_identifier(struct sk_arena *arena, const char *name)
{
	size_t length = strlen(name), escaped = 0;

	for (size_t i = 0; i < length; i++)
		escaped += is_escaped(name, i);
	if (!escaped)
		return name;

	char *identifier = sk_arena_alloc(arena, length + (ESCAPED - 1) * escaped + 1, 1), *end = identifier;

	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)name[i];

		if (!is_escaped(name, i)) {
			*end++ = name[i];
			continue;
		}
		*end++ = '_';
		*end++ = 'x';
		*end++ = digits[byte >> 4];
		*end++ = digits[byte & 15];
	}
	*end = '\0';
	return identifier;
}
