/* Attributes: what a node of a graph, or a task that names an operator, says besides its operands: `axis`, `pads`. */
#ifndef SK_ATTRIBUTE_H
#define SK_ATTRIBUTE_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/diag.h"

enum sk_attribute_kind {
	SK_ATTRIBUTE_INTEGER,
	SK_ATTRIBUTE_REAL,
	SK_ATTRIBUTE_STRING,
	SK_ATTRIBUTE_INTEGERS, /* lists, which may be empty */
	SK_ATTRIBUTE_REALS,
};

struct sk_attribute {
	const char *name;
	struct sk_place place;
	enum sk_attribute_kind kind;
	int64_t integer;
	double real;
	const char *string; /* NUL-terminated, any bytes in front of that */
	const int64_t *integers;
	const double *reals;
	size_t count; /* of a list */
};

#endif
