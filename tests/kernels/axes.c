/* Compares the kernels of libskernels.a that look along an axis with plain loops in long double, for shapes around the
 * widths in which they work, whole and in parts as cores have them: parts must be the same bytes. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define f32 float
#define f64 double
typedef ELEMENT element;
typedef long double wide;

#define KERNEL_NAME(name) void name();
#include "axes-list.h"
#undef KERNEL_NAME

static const struct entry {
	const char *name;
	void (*call)();
} entries[] = {
#define KERNEL_NAME(name) {#name, name},
#include "axes-list.h"
};

struct shape {
	int64_t o, k, i;
};

static wide element_of(const element *x, const struct shape *shape, int64_t o, int64_t p, int64_t i)
{
	return x[(o * shape->k + p) * shape->i + i];
}

/* What is known of column i of row o. */
struct column {
	wide sum, square, magnitude, product, most, least, exponentials;
	int64_t at; /* of the first largest one */
};

static struct column look(const element *x, const struct shape *shape, int64_t o, int64_t i)
{
	struct column column = {.product = 1, .most = -INFINITY, .least = INFINITY};

	for (int64_t p = 0; p < shape->k; p++) {
		wide value = element_of(x, shape, o, p, i);

		column.sum += value;
		column.square += value * value;
		column.magnitude += fabsl(value);
		column.product *= value;
		column.at = value > column.most ? p : column.at;
		column.most = fmaxl(column.most, value);
		column.least = fminl(column.least, value);
	}
	for (int64_t p = 0; p < shape->k; p++)
		column.exponentials += expl(element_of(x, shape, o, p, i) - column.most);
	return column;
}

/* The reduction that the kernel is named after. */
static wide reduced(const char *name, const struct column *column, int64_t k)
{
	if (!strncmp(name, "sk_reducesum_", 13))
		return column->sum;
	if (!strncmp(name, "sk_reducemean_", 14))
		return column->sum / k;
	if (!strncmp(name, "sk_reducemax_", 13))
		return column->most;
	if (!strncmp(name, "sk_reducemin_", 13))
		return column->least;
	if (!strncmp(name, "sk_reduceprod_", 14))
		return column->product;
	if (!strncmp(name, "sk_reducel1_", 12))
		return column->magnitude;
	if (!strncmp(name, "sk_reducel2_", 12))
		return sqrtl(column->square);
	if (!strncmp(name, "sk_reducesumsquare_", 19))
		return column->square;
	if (!strncmp(name, "sk_reducelogsumexp_", 19))
		return column->most + logl(column->exponentials);
	return logl(column->sum); /* ReduceLogSum */
}

/* Element p of what the kernel computes of rows. */
static wide mapped(const char *name, const struct column *column, wide value, int64_t p)
{
	if (!strncmp(name, "sk_softmax_", 11))
		return expl(value - column->most) / column->exponentials;
	if (!strncmp(name, "sk_logsoftmax_", 14))
		return value - column->most - logl(column->exponentials);
	if (!strncmp(name, "sk_hardmax_", 11))
		return p == column->at;
	if (column->magnitude == 0) /* LpNormalization from here on */
		return 0;
	return value / (strstr(name, "_1_") ? column->magnitude : sqrtl(column->square));
}

static int failures;

static void compare(const struct entry *entry, const struct shape *shape, int64_t at, wide result, wide expected,
		    wide magnitude)
{
	wide allowed =
		(shape->k + 8) * (sizeof(element) == 4 ? 0x1p-24L : 0x1p-52L) * fmaxl(fabsl(expected), magnitude);

	if (fabsl(result - expected) <= allowed || result == expected || (isnan(result) && isnan(expected)))
		return;
	if (!failures++)
		printf("%s of [%ld,%ld,%ld]: element %ld is %.17Lg, not %.17Lg\n", entry->name, (long)shape->o,
		       (long)shape->k, (long)shape->i, (long)at, result, expected);
}

/* Rows from `first` on. */
static void call(const struct entry *entry, const struct shape *shape, int reduces, const element *x, element *y,
		 int64_t first, int64_t count)
{
	int64_t row = shape->k * shape->i;

	entry->call(x + first * row, y + first * (reduces ? shape->i : row), count, shape->k, shape->i);
}

static void check(const struct entry *entry, const struct shape *shape)
{
	int reduces = !strncmp(entry->name, "sk_reduce", 9);
	int64_t count = shape->o * shape->k * shape->i, results = reduces ? shape->o * shape->i : count;
	element *x = malloc(count * sizeof *x), *y = malloc(results * sizeof *y), *parts = malloc(results * sizeof *y);

	for (int64_t i = 0; i < count; i++) /* sums are not near 0, whose logarithms no bound could be told for */
		x[i] = (element)(random() % 4096) / 1024 - (element)(strstr(entry->name, "reducelogsum_") ? 0 : 2);
	call(entry, shape, reduces, x, y, 0, shape->o);
	for (int64_t o = 0; o < shape->o; o++)
		for (int64_t i = 0; i < shape->i; i++) {
			const struct column column = look(x, shape, o, i);

			if (reduces)
				compare(entry, shape, o * shape->i + i, y[o * shape->i + i],
					reduced(entry->name, &column, shape->k),
					strstr(entry->name, "log") ? 1 : column.magnitude);
			for (int64_t p = 0; !reduces && p < shape->k; p++)
				compare(entry, shape, p, element_of(y, shape, o, p, i),
					mapped(entry->name, &column, element_of(x, shape, o, p, i), p), 1);
		}
	for (int64_t first = 0; first < shape->o; first++)
		call(entry, shape, reduces, x, parts, first, 1);
	if (memcmp(y, parts, results * sizeof *y)) {
		failures++;
		printf("%s: parts are other bytes\n", entry->name);
	}
	free(x);
	free(y);
	free(parts);
}

int main(void)
{
	static const int64_t depths[] = {1, 2, 7, 15, 16, 31, 32, 33, 95, 300};

	for (size_t e = 0; e < sizeof entries / sizeof *entries; e++) {
		if (strstr(entries[e].name, "_v3") &&
		    !(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")))
			continue;
		if (strstr(entries[e].name, "_v4") &&
		    !(__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")))
			continue;
		for (size_t d = 0; d < sizeof depths / sizeof *depths; d++)
			for (int64_t i = 1; i < 400; i = i * 5 + 2)
				check(&entries[e],
				      &(struct shape){3, depths[d], strstr(entries[e].name, "_rows") ? 1 : i});
	}
	printf("%zu kernels, %d failures\n", sizeof entries / sizeof *entries, failures);
	return failures != 0;
}
