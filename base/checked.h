/* Overflow-checked arithmetic for every number that came from a file. Each helper returns false on overflow and then
 * leaves *result unspecified. */
#ifndef SK_CHECKED_H
#define SK_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

static inline bool sk_add(uint64_t a, uint64_t b, uint64_t *result)
{
	return !__builtin_add_overflow(a, b, result);
}

static inline bool sk_mul(uint64_t a, uint64_t b, uint64_t *result)
{
	return !__builtin_mul_overflow(a, b, result);
}

/* Rounds value up to a multiple of alignment, a power of two. */
static inline bool sk_align(uint64_t value, uint64_t alignment, uint64_t *result)
{
	if (!sk_add(value, alignment - 1, result))
		return false;
	*result &= ~(alignment - 1);
	return true;
}

/* True if [offset, offset + size) lies within [0, limit). */
static inline bool sk_within(uint64_t offset, uint64_t size, uint64_t limit)
{
	return offset <= limit && size <= limit - offset;
}

/* The greatest number that divides both; of 0 and another number it is that one. */
static inline uint64_t sk_common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static inline bool sk_is_power_of_two(uint64_t value)
{
	return value != 0 && (value & (value - 1)) == 0;
}

#endif
