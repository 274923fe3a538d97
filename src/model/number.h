/* A number that somebody wrote, in the bits of an element type. */
#ifndef SK_NUMBER_H
#define SK_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "src/model/task.h"
#include "stubs/convention.h"
#include "stubs/skplan.h"

/* The bits of an integer in an integer type (bool: 0 or 1), zero-extended. `negative`: the value is that of two's
 * complement. False if the type does not have it. */
bool sk_integer_bits(uint64_t value, bool negative, enum sk_dtype type, uint64_t *bits);

/* The bits of SK_SET_INTEGER or SK_SET_FLOAT, zero-extended. Floating-point types get the nearest value that they have;
 * false if that is infinite or 0 though the number is neither, and if an integer type does not have the number. */
bool sk_number_bits(const struct sk_set *number, enum sk_dtype type, uint64_t *bits);

/* The same of a number that nobody wrote. Of an integer type only numbers below 2^53 are: larger ones stand
 * for others, too. */
bool sk_real_bits(double number, enum sk_dtype type, uint64_t *bits);

#endif
