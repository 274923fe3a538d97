/* quantise.h: conversion of numbers to integers of few bits. */
#ifndef SK_KERNELS_QUANTISE_H
#define SK_KERNELS_QUANTISE_H

#include "kernels/family.h"

#include <stddef.h>

#define LEAST_u8       0
#define LEAST_i8       -128
#define LEAST_u16      0
#define LEAST_i16      -32768
#define MOST_u8	       255
#define MOST_i8	       127
#define MOST_u16       65535
#define MOST_i16       32767
#define LEAST_OF(type) JOIN(LEAST_, type)
#define MOST_OF(type)  JOIN(MOST_, type)

/* Return x + zero, to the nearest integer, ties to even, limited to the least and the greatest one; a NaN becomes the
 * least. The first bounds lose nothing: they are outside of all types whatever the zero point is. */
static inline int32_t quantise(float x, int32_t zero, int32_t least, int32_t most)
{
	float bounded = x > -200000.0f ? x : -200000.0f;
	bounded = bounded < 200000.0f ? bounded : 200000.0f;
	/* Adding 1.5 * 2^23 leaves no room for a fraction. */
	int32_t integer = (int32_t)((bounded + 0x1.8p23f) - 0x1.8p23f) + zero;

	integer = integer < least ? least : integer;
	return integer > most ? most : integer;
}

/* The same of a number of f64. */
static inline int32_t quantise_f64(double x, int32_t zero, int32_t least, int32_t most)
{
	double bounded = x > -200000.0 ? x : -200000.0;
	bounded = bounded < 200000.0 ? bounded : 200000.0;
	int32_t integer = (int32_t)((bounded + 0x1.8p52) - 0x1.8p52) + zero;

	integer = integer < least ? least : integer;
	return integer > most ? most : integer;
}

/* Quantise a row of k numbers to integers from -127 to 127 times a scale of its own. A row of zeros has scale 0. Either
 * result may be NULL. */
static inline void quantise_numbers(const float *numbers, int8_t *y, float *scale, int64_t k)
{
	int32_t most = 0; /* magnitudes are in the order of their bits */
	float step;

	for (int64_t p = 0; p < k; p++) {
		int32_t magnitude = (int32_t)(bits_f32(numbers[p]) & 0x7fffffffu);
		most = magnitude > most ? magnitude : most;
	}
	step = from_bits_f32((uint32_t)most) / 127;
	if (scale)
		*scale = step;
	if (!y)
		return;
	if (step == 0)
		step = __builtin_inff();
	INDEPENDENT
	for (int64_t p = 0; p < k; p++)
		y[p] = (int8_t)quantise(numbers[p] / step, 0, -128, 127);
}

#endif
