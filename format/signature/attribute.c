/* Attributes; see signature.h. */
#include "format/signature/signature.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum { MOST_SHOWN = 8 /* the most numbers of a list in a message; words have ten times as many letters */ };

static bool is_list(const struct sk_attribute *attribute)
{
	return attribute->kind == SK_ATTRIBUTE_INTEGERS || attribute->kind == SK_ATTRIBUTE_REALS;
}

static double real_at(const struct sk_attribute *list, size_t index)
{
	return list->kind == SK_ATTRIBUTE_REALS ? list->reals[index] : (double)list->integers[index];
}

/* Graphs have real numbers in 32 bits, people write them in decimal. */
static bool same_real(double one, double other)
{
	return (float)one == (float)other || (isnan(one) && isnan(other));
}

static bool same_list(const struct sk_attribute *one, const struct sk_attribute *other)
{
	bool integers = one->kind == SK_ATTRIBUTE_INTEGERS && other->kind == SK_ATTRIBUTE_INTEGERS;

	if (one->count != other->count)
		return false;
	for (size_t i = 0; i < one->count; i++)
		if (integers ? one->integers[i] != other->integers[i] : !same_real(real_at(one, i), real_at(other, i)))
			return false;
	return true;
}

bool sk_attribute_integer(const struct sk_attribute *attribute, int64_t *integer)
{
	float real = (float)attribute->real;

	*integer = attribute->integer;
	if (attribute->kind != SK_ATTRIBUTE_REAL || !(real > -0x1p63f && real < 0x1p63f))
		return attribute->kind == SK_ATTRIBUTE_INTEGER;
	*integer = (int64_t)real;
	return (float)*integer == real;
}

bool sk_attribute_same(const struct sk_attribute *one, const struct sk_attribute *other)
{
	bool string = one->kind == SK_ATTRIBUTE_STRING;

	if (string || other->kind == SK_ATTRIBUTE_STRING)
		return string && other->kind == SK_ATTRIBUTE_STRING && !strcmp(one->string, other->string);
	if (is_list(one) || is_list(other))
		return is_list(one) && is_list(other) && same_list(one, other);
	if (one->kind == SK_ATTRIBUTE_REAL && other->kind == SK_ATTRIBUTE_REAL)
		return same_real(one->real, other->real);

	int64_t left, right;

	return sk_attribute_integer(one, &left) && sk_attribute_integer(other, &right) && left == right;
}

static const char *element_text(struct sk_arena *arena, const struct sk_attribute *attribute, size_t number)
{
	if (attribute->kind == SK_ATTRIBUTE_INTEGERS)
		return sk_arena_print(arena, "%" PRId64, attribute->integers[number]);
	if (attribute->kind == SK_ATTRIBUTE_REALS)
		return sk_arena_print(arena, "%.9g", attribute->reals[number]);
	return sk_arena_escape(arena, sk_arena_print(arena, "%.*s", 10 * MOST_SHOWN, attribute->strings[number]));
}

const char *sk_attribute_text(struct sk_arena *arena, const struct sk_attribute *attribute)
{
	const char *text = "[";

	switch (attribute->kind) {
	case SK_ATTRIBUTE_INTEGER:
		return sk_arena_print(arena, "%" PRId64, attribute->integer);
	case SK_ATTRIBUTE_REAL:
		return sk_arena_print(arena, "%.9g", attribute->real);
	case SK_ATTRIBUTE_STRING:
		return sk_arena_escape(arena, sk_arena_print(arena, "%.*s", 10 * MOST_SHOWN, attribute->string));
	default:
		break;
	}
	for (size_t i = 0; i < attribute->count && i < MOST_SHOWN; i++)
		text = sk_arena_print(arena, "%s%s%s", text, i ? ", " : "", element_text(arena, attribute, i));
	return sk_arena_join(arena, text, attribute->count > MOST_SHOWN ? ", …]" : "]");
}

const struct sk_attribute *sk_attribute_find(const struct sk_attribute *attributes, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(attributes[i].name, name))
			return &attributes[i];
	return NULL;
}
