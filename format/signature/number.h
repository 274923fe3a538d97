/* Numbers, and their bits in an element type. */
#ifndef SK_NUMBER_H
#define SK_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "format/convention.h"
#include "format/skplan.h"

/* A number as it is written. */
struct sk_number {
	enum { SK_NUMBER_INTEGER, SK_NUMBER_REAL } kind;
	bool negative; /* INTEGER: `integer` is below 0 */
	int64_t integer; /* INTEGER: also up to 2^64-1, as bits */
	double real; /* REAL */
	const char *text; /* REAL: as written, for types that round otherwise than f64; NULL: `real` is the number */
};

/* The bits of an integer in an integer type (bool: 0 or 1), zero-extended. `negative`: the value is that of two's
 * complement. False if the type does not have it. */
bool sk_integer_bits(uint64_t value, bool negative, enum sk_dtype type, uint64_t *bits);

/* The bits of a number, zero-extended. Floating-point types get the nearest value that they have;
 * false if that is infinite or 0 though the number is neither, and if an integer type does not have the number. */
bool sk_number_bits(const struct sk_number *number, enum sk_dtype type, uint64_t *bits);

/* The same of a number that nobody wrote. Of an integer type only numbers below 2^53 are: larger ones stand
 * for others, too. */
bool sk_real_bits(double number, enum sk_dtype type, uint64_t *bits);

#endif
