/* Suggestions for misspelt names; see text.h. */
#include "base/text.h"

#include <string.h>

/* Edit distance with swaps of neighbours (Damerau, restricted). Names are cut at 63 letters. */
static size_t distance(const char *a, const char *b)
{
	enum { MAX = 64 };
	size_t rows[3][MAX + 1];
	size_t length_a = strnlen(a, MAX - 1), length_b = strnlen(b, MAX - 1);
	size_t *before = rows[0], *last = rows[1], *row = rows[2];

	for (size_t j = 0; j <= length_b; j++)
		last[j] = j;
	for (size_t i = 1; i <= length_a; i++) {
		row[0] = i;
		for (size_t j = 1; j <= length_b; j++) {
			size_t best = last[j - 1] + (a[i - 1] != b[j - 1]);

			if (last[j] + 1 < best)
				best = last[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			row[j] = best;
		}
		size_t *spare = before;

		before = last;
		last = row;
		row = spare;
	}
	return last[length_b];
}

const char *sk_nearest_of(const char *name, size_t count, const char *(*name_of)(const void *context, uint32_t index),
			  const void *context)
{
	size_t length = strlen(name), allowed = length / 3 ? length / 3 : 1;
	const char *best = NULL;

	for (size_t i = 0; i < count; i++) {
		const char *candidate = name_of(context, (uint32_t)i);
		size_t d = distance(name, candidate);

		if (d <= allowed && d < length && strcmp(name, candidate)) {
			best = candidate;
			allowed = d - (d > 0); /* only a nearer one replaces it */
			if (d <= 1)
				break;
		}
	}
	return best;
}

static const char *name_in_array(const void *context, uint32_t index)
{
	return ((const char *const *)context)[index];
}

const char *sk_nearest_name(const char *name, const char *const *candidates, size_t count)
{
	return sk_nearest_of(name, count, name_in_array, candidates);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool sk_differ_in_digits_only(const char *a, const char *b)
{
	for (;; a++, b++) {
		while (is_digit(*a))
			a++;
		while (is_digit(*b))
			b++;
		if (*a != *b || !*a)
			return *a == *b;
	}
}
