/* Patterns; see text.h. */
#include "base/text.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* True if the character is in the set that begins with '['. Set *length to that of the set with its brackets; 0: it has
 * no end, so the bracket stands for itself. */
static bool in_set(const char *set, char character, size_t *length)
{
	bool inverted = *set == '!' || *set == '^', found = false;
	const char *at = set + inverted;

	do {
		if (*at == '\\' && at[1])
			at++;

		char low = *at, high = low;

		if (!low) {
			*length = 0;
			return false;
		}
		if (at[1] == '-' && at[2] && at[2] != ']') {
			at += at[2] == '\\' && at[3] ? 3 : 2;
			high = *at;
		}
		found |= (uint8_t)character >= (uint8_t)low && (uint8_t)character <= (uint8_t)high;
		at++;
	} while (*at != ']');
	*length = (size_t)(at + 1 - set) + 1;
	return found != inverted;
}

/* Return the length of the pattern's first element, without stars, if it matches the character; otherwise 0. After the
 * last ']' of the pattern no set ends, so none is searched for. */
static size_t fit(const char *pattern, const char *last_bracket, char character)
{
	size_t length;

	if (*pattern == '?')
		return 1;
	if (*pattern == '\\' && pattern[1])
		return pattern[1] == character ? 2 : 0;
	if (*pattern == '[' && pattern < last_bracket) {
		bool found = in_set(pattern + 1, character, &length);

		if (length)
			return found ? length : 0;
	}
	return *pattern == character;
}

bool sk_pattern_matches(const char *pattern, const char *name)
{
	const char *after_star = NULL, *from = NULL; /* the last star matches the characters before `from` */
	const char *closing = strrchr(pattern, ']'), *last_bracket = closing ? closing : pattern;

	while (*name) {
		size_t length = *pattern == '*' ? 0 : fit(pattern, last_bracket, *name);

		if (*pattern == '*') {
			after_star = ++pattern;
			from = name;
		} else if (length) {
			pattern += length;
			name++;
		} else if (after_star) {
			pattern = after_star;
			name = ++from;
		} else {
			return false;
		}
	}
	return !pattern[strspn(pattern, "*")];
}
