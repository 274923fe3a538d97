/* Compares the kernels of libskernels.a that quantise and dequantise with their definition in double precision. Scales
 * are powers of two, so that there is one right result, ties included. Infinities, NaNs and the ends of i32 are among
 * the numbers. */
#include "operands.h"

#include <stdio.h>

typedef void kernel();
#define KERNEL_LIST "quantise-list.h"
#include "entries.h"

/* In every group of LENGTH rows, SIZE share a row of scales, and the rest have another one. */
enum {
	SCALES = 3,
	ROWS = 7,
	FIRST = 2,
	LONGEST = 70,
	LENGTH = 5,
	SIZE = 3,
	BLOCKS = 2,
	MOST_SCALES = 2 * BLOCKS * LONGEST
};

static const struct range {
	const char *name;
	int size, low, high;
} integers[] = {{"_u8", 1, 0, 255},
		{"_i8", 1, -128, 127},
		{"_u16", 2, 0, 65535},
		{"_i16", 2, -32768, 32767},
		{"_i32", 4, -1 << 30, 1 << 30}};

/* The integer type that the name has. */
static const struct range *range_of(const char *name)
{
	for (size_t i = 0; i < sizeof integers / sizeof *integers; i++)
		if (strstr(name, integers[i].name))
			return &integers[i];
	return &integers[4];
}

static enum type float_of(const char *name)
{
	return strstr(name, "bf16") ? bf16 : strstr(name, "_f16") ? f16 : strstr(name, "_f64") ? f64 : f32;
}

static double get_integer(const struct range *range, const void *from, size_t i)
{
	if (range->size == 1)
		return range->low ? ((const int8_t *)from)[i] : ((const uint8_t *)from)[i];
	if (range->size == 2)
		return range->low ? ((const int16_t *)from)[i] : ((const uint16_t *)from)[i];
	return ((const int32_t *)from)[i];
}

/* A number that each type holds. */
static void put(enum type type, void *to, size_t i, float number)
{
	_Float16 half = (_Float16)number;

	if (type == f32)
		((float *)to)[i] = number;
	else if (type == f64)
		((double *)to)[i] = number;
	else if (type == f16)
		memcpy((uint16_t *)to + i, &half, 2);
	else
		((uint16_t *)to)[i] = (uint16_t)((uint32_t)(union {
							 float f;
							 uint32_t u;
						 }){number}
							 .u >>
						 16);
}

static double bounded(const struct range *range, double x)
{
	return x < range->low ? range->low : x > range->high ? range->high : x;
}

static void expect(const char *name, size_t n, size_t i, double result, double expected)
{
	if (result == expected)
		return;
	if (failures++ < 20)
		printf("%s [%zu]: element %zu is %.9g, not %.9g\n", name, n, i, result, expected);
}

struct operands {
	const struct range *range;
	enum type type;
	int64_t rows, n;
	void *x, *y; /* memory that is followed by a page without access */
	char floats[ROWS * LONGEST * 8], integers[ROWS * LONGEST * 4], scales[MOST_SCALES * 8], zeros[MOST_SCALES * 4];
	int32_t sums[ROWS * LONGEST], biases[SCALES];
	float a_scale, b_scales[LONGEST], y_scale;
};

/* Put some NaN and infinities, and numbers beyond all integers. */
static void put_special(struct operands *operands)
{
	static const float numbers[] = {NAN, INFINITY, -INFINITY, 3e38f, -3e38f, -0.0f, 1e-40f, -NAN};
	static const int32_t wholes[] = {INT32_MAX, INT32_MIN, INT32_MAX - 1, INT32_MIN + 1};

	for (size_t i = 0; i < ROWS * LONGEST; i += 5) {
		put(operands->type, operands->floats, i, numbers[random_bits() % 8]);
		operands->sums[i] = wholes[random_bits() % 4];
		if (operands->range->size == 4)
			((int32_t *)operands->integers)[i] = wholes[random_bits() % 4];
	}
}

static void invent(struct operands *operands, const char *name)
{
	static const int64_t lengths[] = {0, 1, 63, 64, 65};
	const float scales[SCALES] = {0.5f, 0.125f, 2};

	operands->range = range_of(name);
	operands->type = float_of(name);
	operands->rows = strstr(name, "tensor") || strstr(name, "range") ? 1 : ROWS;
	operands->n = random_bits() % 2 ? lengths[random_bits() % 5] : (int64_t)(random_bits() % (LONGEST + 1));
	operands->a_scale = 0.25f;
	operands->y_scale = 0.5f;
	for (size_t i = 0; i < sizeof operands->zeros; i++)
		operands->zeros[i] = (char)random_bits();
	for (size_t i = 0; i < sizeof operands->integers; i++)
		operands->integers[i] = (char)random_bits();
	for (size_t i = 0; i < ROWS * LONGEST; i++) { /* quarters, so that there are ties; some far away */
		float number = (float)((int)(random_bits() % 256) - 128) / 4;
		put(operands->type, operands->floats, i, random_bits() % 16 ? number : number * 1024);
		operands->sums[i] = (int32_t)(random_bits() % 4001) - 2000;
	}
	for (size_t i = 0; i < LONGEST; i++)
		operands->b_scales[i] = scales[i % SCALES];
	for (size_t i = 0; i < SCALES; i++)
		operands->biases[i] = (int32_t)(random_bits() % 100) - 50;
	for (size_t i = 0; i < MOST_SCALES; i++) {
		put(operands->type, operands->scales, i, scales[i < SCALES ? i : random_bits() % SCALES]);
		if (operands->range->size == 4)
			((int32_t *)operands->zeros)[i] = (int32_t)(random_bits() % 100);
	}
	for (size_t i = 0; i < ROWS * LONGEST && operands->range->size == 4; i++)
		((int32_t *)operands->integers)[i] = (int32_t)(random_bits() % 20001) - 10000;
	if (!strstr(name, "range") && random_bits() % 2)
		put_special(operands);
}

static void call_linear(const struct entry *entry, struct operands *of, void *zeros)
{
	if (of->rows == 1)
		entry->call(of->x, of->scales, zeros, of->y, of->n);
	else if (strstr(entry->name, "blocks"))
		entry->call(of->x, of->scales, zeros, of->y, of->rows, of->n, (int64_t)LENGTH, (int64_t)SIZE,
			    (int64_t)FIRST);
	else
		entry->call(of->x, of->scales, zeros, of->y, of->rows, of->n, (int64_t)SCALES, (int64_t)FIRST);
}

/* Return the number of element i's scale. */
static size_t scale_of(const struct entry *entry, const struct operands *of, int64_t i)
{
	size_t row = (size_t)(FIRST + i / of->n), column = (size_t)(i % of->n);

	if (of->rows == 1)
		return 0;
	if (!strstr(entry->name, "blocks"))
		return row % SCALES;
	return (row / LENGTH * BLOCKS + (row % LENGTH >= SIZE)) * (size_t)of->n + column;
}

static void check_quantise(const struct entry *entry, struct operands *of)
{
	void *y = of->y, *zeros = random_bits() % 4 ? of->zeros : NULL;

	call_linear(entry, of, zeros);
	for (int64_t i = 0; i < of->rows * of->n; i++) {
		size_t scale = scale_of(entry, of, i);
		double x = nearbyint(get(of->type, of->floats, i) / get(of->type, of->scales, scale));
		x += zeros ? get_integer(of->range, zeros, scale) : 0;
		expect(entry->name, of->n, i, get_integer(of->range, y, i),
		       isnan(x) ? of->range->low : bounded(of->range, x));
	}
}

static void check_dequantise(const struct entry *entry, struct operands *of)
{
	/* The zero point of i32 is 0, says ONNX: differences may not fit. */
	void *y = of->y, *zeros = of->range->size < 4 && random_bits() % 4 ? of->zeros : NULL;

	call_linear(entry, of, zeros);
	for (int64_t i = 0; i < of->rows * of->n; i++) {
		size_t scale = scale_of(entry, of, i);
		double x = get_integer(of->range, of->integers, i) - (zeros ? get_integer(of->range, zeros, scale) : 0);
		double result = get(of->type, y, i), expected = x * get(of->type, of->scales, scale);
		if (of->type == f16 && fabs(expected) > 65520)
			expected = copysign(INFINITY, expected);
		/* i32 is rounded to f32 first. */
		int close = fabs(result - expected) <= (types[of->type].epsilon + 0x1p-24) * fabs(expected);
		expect(entry->name, of->n, i, result, close ? result : expected);
	}
}

static void check_requantise(const struct entry *entry, struct operands *of)
{
	void *x_of = of->x, *y = of->y;
	int one = of->rows == 1, shared = one || strstr(entry->name, "bias"), biased = !one && random_bits() % 2;

	int columns = strstr(entry->name, "columns") != NULL;

	biased |= !one && shared;
	biased &= !columns;
	for (int64_t i = 0; i < of->rows * of->n && biased; i++) /* the sum with the bias has 32 bits, too */
		if (abs(of->sums[i] / 2) > 1 << 29)
			((int32_t *)x_of)[i] = of->sums[i] /= 2;
	if (columns)
		entry->call(x_of, &of->a_scale, of->b_scales, &of->y_scale, of->zeros, y, of->rows, of->n);
	else if (one)
		entry->call(x_of, &of->a_scale, of->b_scales, &of->y_scale, of->zeros, y, of->n);
	else
		entry->call(x_of, &of->a_scale, of->b_scales, &of->y_scale, of->zeros, biased ? of->biases : NULL, y,
			    of->rows, of->n, (int64_t)SCALES, (int64_t)FIRST);
	for (int64_t i = 0; i < of->rows * of->n; i++) {
		size_t row = columns ? i % of->n : one ? 0 : (size_t)(FIRST + i / of->n) % SCALES;
		double sum = of->sums[i] + (biased ? of->biases[row] : 0);
		double x = nearbyint(sum * of->a_scale * of->b_scales[shared ? 0 : row] / of->y_scale);
		expect(entry->name, of->n, i, get_integer(of->range, y, i),
		       bounded(of->range, x + get_integer(of->range, of->zeros, 0)));
	}
}

static void check_range(const struct entry *entry, struct operands *of)
{
	float scale, least = 0, most = 0;
	uint8_t zero;

	entry->call(of->x, &scale, &zero, of->n);
	for (int64_t i = 0; i < of->n; i++) {
		least = fminf(least, ((float *)of->floats)[i]);
		most = fmaxf(most, ((float *)of->floats)[i]);
	}
	float expected = least < most ? (most - least) / 255 : 1;
	expect(entry->name, of->n, 0, scale, expected);
	expect(entry->name, of->n, 1, zero, nearbyintf(-least / expected));
}

/* The results are as large as those that the name has: operands end where memory ends. */
static void check_kernel(const struct entry *entry, struct operands *of)
{
	const char *name = entry->name;
	int to_floats = strstr(name, "sk_dequantize") != NULL, from_sums = strstr(name, "sk_requantize") != NULL;
	size_t count = (size_t)(of->rows * of->n), few = of->range->size, many = types[of->type].size;
	size_t x_bytes = count * (to_floats ? few : from_sums ? 4 : many), y_bytes = count * (to_floats ? many : few);

	of->x = take(x_bytes);
	of->y = take(y_bytes);
	memcpy(of->x, to_floats ? of->integers : from_sums ? (char *)of->sums : of->floats, x_bytes);
	if (strstr(name, "sk_quantizelinear"))
		check_quantise(entry, of);
	else if (to_floats)
		check_dequantise(entry, of);
	else if (from_sums)
		check_requantise(entry, of);
	else
		check_range(entry, of);
	drop(of->x, x_bytes);
	drop(of->y, y_bytes);
}

static void check_entry(const struct entry *entry)
{
	static struct operands operands;

	for (int round = 0; round < 200; round++) {
		invent(&operands, entry->name);
		check_kernel(entry, &operands);
	}
}

int main(void)
{
	return check_entries(check_entry);
}
