/* Compares the kernels of libskernels.a that multiply quantized numbers with plain loops: those in integers exactly,
 * those of 4 bits with sums in greater precision; and parts, as cores have them, with the whole. */
#include "operands.h"

#include <stdio.h>

typedef void kernel();
#define KERNEL_LIST "quantized-list.h"
#include "entries.h"

static int64_t between(int64_t low, int64_t high)
{
	return low + (int64_t)(random_bits() % (uint64_t)(high - low + 1));
}

static void wrong(const char *name, const char *shape, int64_t i, double result, double expected)
{
	printf("%s %s: element %ld is %.9g, not %.9g\n", name, shape, (long)i, result, expected);
	failures++;
}

static int64_t zero(enum type type, const void *zeros, int64_t i)
{
	return zeros ? (int64_t)get(type, zeros, i) : 0;
}

/* b [k,n] in panels of 16 columns, with four rows of each side by side. */
static uint8_t *panels_of(const uint8_t *b, int64_t k, int64_t n)
{
	uint8_t *panels = take(k * n), *to = panels;

	for (int64_t first = 0; first < n; first += 16)
		for (int64_t p = 0; p < k; p += 4)
			for (int64_t i = 0; i < 64; i++)
				*to++ = b[(p + i % 4) * n + first + i / 4];
	return panels;
}

static void check_product(const struct entry *entry, enum type left, enum type right, int columns)
{
	static const int64_t extents[] = {1, 2, 7, 16, 50, 63, 65, 140}, depths[] = {0, 1, 2, 65, 130, 1100};
	int64_t m = extents[random_bits() % 8], k = depths[random_bits() % 6], n = extents[random_bits() % 8];
	int is_packed = strstr(entry->name, "packed") != NULL;

	k = is_packed ? k & ~3 : k;
	n = is_packed ? (n + 15) & ~15 : n;
	uint8_t *a = take(m * k), *b = take(k * n), *az = take(1), *bz = take(columns ? n : 1);
	int32_t *y = take(m * n * 4), *parts = take(m * n * 4);
	char shape[80];

	snprintf(shape, sizeof shape, "[%ld,%ld,%ld]", (long)m, (long)k, (long)n);
	fill(left, a, m * k);
	fill(right, b, k * n);
	fill(left, az, 1);
	fill(right, bz, columns ? n : 1);
	void *left_zero = random_bits() % 2 ? az : NULL, *right_zero = columns || random_bits() % 2 ? bz : NULL;
	/* Scratch as signatures give it: rows and panels; rows as they are multiplied, two or four numbers at a time;
	 * sums of columns, of those that multiply four. */
	int quads = strstr(entry->name, "_vnni") != NULL;
	size_t pair_bytes = (size_t)(264 * (quads ? (k + 3) / 4 : (k + 1) / 2)) * 4, sum_bytes = quads ? n * 4 : 0;
	size_t room_bytes = (size_t)114688 * 4;
	void *room = take_scratch(room_bytes), *pairs = take_scratch(pair_bytes), *sums = take_scratch(sum_bytes);
	uint8_t *given = is_packed ? panels_of(b, k, n) : b;
	entry->call(a, given, left_zero, right_zero, y, m, k, n, room, pairs, sums);
	for (int64_t i = 0; i < m * n; i++) {
		int64_t sum = 0;
		for (int64_t p = 0; p < k; p++)
			sum += ((int64_t)get(left, a, i / n * k + p) - zero(left, left_zero, 0)) *
			       ((int64_t)get(right, b, p * n + i % n) - zero(right, right_zero, columns ? i % n : 0));
		if (y[i] != sum) {
			wrong(entry->name, shape, i, y[i], (double)sum);
			break;
		}
	}
	int64_t half = m / 2;
	entry->call(a, given, left_zero, right_zero, parts, half, k, n, room, pairs, sums);
	entry->call(a + half * k, given, left_zero, right_zero, parts + half * n, m - half, k, n, room, pairs, sums);
	if (memcmp(y, parts, m * n * 4))
		wrong(entry->name, shape, half, 0, 0);
	if (!scratch_is_kept(pairs, pair_bytes) || !scratch_is_kept(sums, sum_bytes))
		wrong(entry->name, "behind its scratch", 0, 0, 0);
	drop(room, room_bytes);
	drop(pairs, (pair_bytes + 63) / 64 * 64);
	drop(sums, (sum_bytes + 63) / 64 * 64);
	drop(a, m * k);
	drop(b, k * n);
	if (is_packed)
		drop(given, k * n);
	drop(az, 1);
	drop(bz, columns ? n : 1);
	drop(y, m * n * 4);
	drop(parts, m * n * 4);
}

/* Check two dimensions, or three of which the first ones are 1. */
static void check_convolution(const struct entry *entry, enum type left, enum type right, int spatial, int filters)
{
	int64_t n = between(1, 2), group = between(1, 2), d = between(1, 5), o = group * between(1, 4),
		kh = between(1, 3), kw = between(1, 4), c = group * d;
	int64_t strides[3] = {1, between(1, 2), between(1, 3)}, dilations[3] = {1, between(1, 2), between(1, 2)};
	int64_t pads[6] = {0, between(0, kh - 1), between(0, kw - 1), 0, 0, between(0, kw - 1)};
	int64_t h = (kh - 1) * dilations[1] + 1 + between(0, 5), w = (kw - 1) * dilations[2] + 1 + between(0, 300);
	int64_t oh = (h + pads[1] + pads[4] - (kh - 1) * dilations[1] - 1) / strides[1] + 1;
	int64_t ow = (w + pads[2] + pads[5] - (kw - 1) * dilations[2] - 1) / strides[2] + 1, planes = n * o,
		out = oh * ow;
	int64_t flat_pads[4] = {pads[1], pads[2], pads[4], pads[5]};
	size_t x_bytes = n * c * h * w, w_bytes = o * d * kh * kw, z_bytes = filters ? o : 1,
	       y_bytes = planes * out * 4;
	uint8_t *x = take(x_bytes), *weights = take(w_bytes), *xz = take(1), *wz = take(z_bytes);
	int32_t *y = take(y_bytes), *parts = take(y_bytes);

	fill(left, x, x_bytes);
	fill(right, weights, w_bytes);
	fill(left, xz, 1);
	fill(right, wz, z_bytes);
	void *left_zero = random_bits() % 2 ? xz : NULL, *right_zero = filters || random_bits() % 2 ? wz : NULL;
	{
		for (int pass = 0; pass < 2; pass++) {
			int64_t begin = pass ? planes / 2 : 0, count = pass ? planes - planes / 2 : planes / 2;
			if (spatial == 2)
				entry->call(x, weights, left_zero, right_zero, parts + begin * out, c, d, o, h, w, kh,
					    kw, oh, ow, strides + 1, flat_pads, dilations + 1, group, begin, count);
			else
				entry->call(x, weights, left_zero, right_zero, parts + begin * out, c, d, o, (int64_t)1,
					    h, w, (int64_t)1, kh, kw, (int64_t)1, oh, ow, strides, pads, dilations,
					    group, begin, count);
		}
		if (spatial == 2)
			entry->call(x, weights, left_zero, right_zero, y, c, d, o, h, w, kh, kw, oh, ow, strides + 1,
				    flat_pads, dilations + 1, group, (int64_t)0, planes);
		else
			entry->call(x, weights, left_zero, right_zero, y, c, d, o, (int64_t)1, h, w, (int64_t)1, kh, kw,
				    (int64_t)1, oh, ow, strides, pads, dilations, group, (int64_t)0, planes);
	}
	if (memcmp(y, parts, y_bytes))
		wrong(entry->name, "in parts", 0, 0, 0);
	for (int64_t i = 0; i < planes * out; i++) {
		int64_t sum = 0, image = i / out / o, result = i / out % o, row = i / ow % oh, column = i % ow;
		for (int64_t p = 0; p < d * kh * kw; p++) {
			int64_t iy = row * strides[1] + p / kw % kh * dilations[1] - pads[1];
			int64_t ix = column * strides[2] + p % kw * dilations[2] - pads[2];
			int64_t plane = image * c + result / (o / group) * d + p / kw / kh;
			if (iy >= 0 && iy < h && ix >= 0 && ix < w)
				sum += ((int64_t)get(left, x, (plane * h + iy) * w + ix) - zero(left, left_zero, 0)) *
				       ((int64_t)get(right, weights, result * d * kh * kw + p) -
					zero(right, right_zero, filters ? result : 0));
		}
		if (y[i] != sum) {
			wrong(entry->name, "whole", i, y[i], (double)sum);
			break;
		}
	}
	drop(x, x_bytes);
	drop(weights, w_bytes);
	drop(xz, 1);
	drop(wz, z_bytes);
	drop(y, y_bytes);
	drop(parts, y_bytes);
}

static void check_4_bits(const struct entry *entry, int is_left, int has_zeros)
{
	int64_t m = is_left ? 1 : between(1, 20), block = 2 * between(1, 80), blocks = between(1, 9),
		n = between(1, 70);
	int64_t k = block * blocks - between(0, block - 1), half = block / 2, pairs = (blocks + 1) / 2;
	size_t b_bytes = n * blocks * half;
	size_t room_bytes = is_left ? blocks * block * 4 : 114688 * 4;
	float *a = take(m * k * 4), *scales = take(n * blocks * 4), *y = take(m * n * 4), *room = take(room_bytes);
	uint8_t *b = take(b_bytes), *zeros = take(n * pairs);

	fill(f32, a, m * k);
	fill(f32, scales, n * blocks);
	fill(u8, b, b_bytes);
	fill(u8, zeros, n * pairs);
	if (is_left)
		for (int64_t first = 0, count = n / 2; first < n; first += count, count = n - first)
			entry->call(a, b + first * blocks * half, scales + first * blocks, zeros, y + first, k, count,
				    blocks, half, room, first, k, n, block, (int64_t)has_zeros);
	else
		entry->call(a, b, scales, zeros, y, k, n, blocks, half, m, room, k, n, block, (int64_t)has_zeros);
	for (int64_t i = 0; i < m * n; i++) {
		double sum = 0, magnitude = 0;
		for (int64_t p = 0; p < k; p++) {
			int64_t at = i % n * blocks + p / block;
			int number = b[at * half + p % block / 2] >> p % 2 * 4 & 15;
			int middle = has_zeros ? zeros[i % n * pairs + p / block / 2] >> p / block % 2 * 4 & 15 : 8;
			double product = (double)a[i / n * k + p] * (number - middle) * scales[at];
			sum += product;
			magnitude += fabs(product);
		}
		if (!(fabs(y[i] - sum) <= (k + 3) * 0x1p-24 * magnitude)) {
			wrong(entry->name, "", i, y[i], sum);
			break;
		}
	}
	drop(a, m * k * 4);
	drop(scales, n * blocks * 4);
	drop(y, m * n * 4);
	drop(room, room_bytes);
	drop(b, b_bytes);
	drop(zeros, n * pairs);
}

static void check_entry(const struct entry *entry)
{
	const char *name = entry->name;
	const char *types =
		strstr(name, "_u8") && (!strstr(name, "_i8") || strstr(name, "_u8") < strstr(name, "_i8")) ? "u" : "i";
	enum type left = *types == 'u' ? u8 : i8;
	enum type right = strstr(name, "_u8_u8") || strstr(name, "_i8_u8") ? u8 : i8;

	for (int i = 0; i < 30; i++)
		if (strstr(name, "nbits"))
			check_4_bits(entry, strstr(name, "left") != NULL, i % 2);
		else if (strstr(name, "convinteger"))
			check_convolution(entry, left, right, strstr(name, "8_2_") ? 2 : 3,
					  strstr(name, "filters") != NULL);
		else
			check_product(entry, left, right, strstr(name, "columns") != NULL);
}

int main(void)
{
	return check_entries(check_entry);
}
