/* Attributes: what a node of a graph, or a task that names an operator, says besides its operands: `axis`, `pads`. */
#ifndef SK_ATTRIBUTE_H
#define SK_ATTRIBUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

enum sk_attribute_kind {
	SK_ATTRIBUTE_INTEGER,
	SK_ATTRIBUTE_REAL,
	SK_ATTRIBUTE_STRING,
	SK_ATTRIBUTE_INTEGERS, /* lists, which may be empty */
	SK_ATTRIBUTE_REALS,
	SK_ATTRIBUTE_STRINGS,
};

/* The word for what an attribute is that is not given. */
#define SK_ATTRIBUTE_DEFAULT "same"

struct sk_attribute {
	const char *name;
	struct sk_place place;
	enum sk_attribute_kind kind;
	int64_t integer;
	double real;
	const char *string; /* NUL-terminated, any bytes in front of that */
	const int64_t *integers;
	const double *reals;
	const char *const *strings;
	size_t count; /* of a list */
};

/* True if it is a whole number, real or not. */
bool sk_attribute_integer(const struct sk_attribute *attribute, int64_t *integer);

/* True if they have the same value: numbers by what they are, real ones as 32 bits can tell them. */
bool sk_attribute_same(const struct sk_attribute *one, const struct sk_attribute *other);

/* "1", "linear", "[0, 1]", in the arena; long ones end with "…". For messages. */
const char *sk_attribute_text(struct sk_arena *arena, const struct sk_attribute *attribute);

/* The one of that name, or NULL. */
const struct sk_attribute *sk_attribute_find(const struct sk_attribute *attributes, size_t count, const char *name);

#endif
