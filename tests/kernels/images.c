/* Compares the kernels of libskernels.a that sample images with plain loops in greater precision, for random shapes and
 * places, and in parts as cores have them: parts must be the same bytes. */
#include "operands.h"

#include <stdio.h>

/* The C library declares these in its headers for some compilers only. */
extern wide fabsf128(wide x), floorf128(wide x), rintf128(wide x);

typedef int kernel();
#define KERNEL_LIST "images-list.h"
#include "entries.h"

static void expect(const struct entry *entry, const char *what, int64_t i, double result, double expected,
		   double allowed)
{
	if (fabs(result - expected) <= allowed)
		return;
	printf("%s: %s %ld is %.17g, not %.17g\n", entry->name, what, (long)i, result, expected);
	failures++;
}

static int64_t between(int64_t low, int64_t high)
{
	return low + (int64_t)(random_bits() % (uint64_t)(high - low + 1));
}

static double real_between(double low, double high)
{
	return low + (high - low) * (double)random_bits() * 0x1p-31;
}

/* Rows of x, `outer` times k of i elements, become outer times j, which are sums of t. */
struct interpolation {
	int64_t outer, k, i, j, t;
	int64_t *indices;
	double *weights, *numbers;
};

static void compare_interpolation(const struct entry *entry, enum type type, const struct interpolation *of,
				  const void *x, const void *y)
{
	for (int64_t e = 0; e < of->outer * of->j * of->i; e++) {
		int64_t row = e / of->i, at = row % of->j;
		struct sum sum = {0};

		add_product(type, &sum, of->numbers[at], 1);

		for (int64_t tap = 0; tap < of->t; tap++) {
			int64_t from = row / of->j * of->k + of->indices[at * of->t + tap];

			add_product(type, &sum, of->weights[at * of->t + tap],
				    get(type, x, (size_t)(from * of->i + e % of->i)));
		}
		double allowed = (double)(of->t + 3) * types[type].of_sums * sum.magnitude +
				 types[type].epsilon * fabs(total(type, &sum)) * 1.001;
		double result = get(type, y, (size_t)e);
		if (!(distance(type, &sum, 1, result) <= allowed))
			expect(entry, "element", e, result, total(type, &sum), 0);
	}
}

static void call_interpolation(const struct entry *entry, const struct interpolation *of, size_t size, const char *x,
			       char *y, int64_t first, int64_t count)
{
	int status = entry->call(x, of->indices, of->weights, of->numbers, y + (size_t)(first * of->i) * size, count,
				 of->i, first, of->k, of->j, of->t);

	if (status)
		expect(entry, "status", 0, status, 0, 0);
}

static void check_interpolation(const struct entry *entry, enum type type, int64_t i, int64_t t)
{
	struct interpolation of = {between(1, 3), between(1, 9), i, between(1, 9), t};
	int64_t indices[9 * 5], rows = of.outer * of.j;
	double weights[9 * 5], numbers[9];
	size_t size = types[type].size, x_bytes = (size_t)(of.outer * of.k * i) * size,
	       y_bytes = (size_t)(rows * i) * size;
	void *x = take(x_bytes), *y = take(y_bytes), *parts = take(y_bytes);

	of.indices = indices;
	of.weights = weights;
	of.numbers = numbers;
	fill(type, x, x_bytes / size);
	for (int64_t n = 0; n < of.j * t; n++) {
		indices[n] = between(0, of.k - 1);
		weights[n] = real_between(-2, 2);
	}
	for (int64_t n = 0; n < of.j; n++)
		numbers[n] = real_between(-1, 1);
	call_interpolation(entry, &of, size, x, y, 0, rows);
	compare_interpolation(entry, type, &of, x, y);
	for (int64_t first = 0; first < rows; first += 2)
		call_interpolation(entry, &of, size, x, parts, first, first + 2 < rows ? 2 : rows - first);
	expect(entry, "parts are other bytes:", 0, memcmp(y, parts, y_bytes), 0, 0);
	indices[of.j * t - 1] = of.k;
	expect(entry, "status of a row out of range", 0,
	       entry->call(x, indices, weights, numbers, y, rows, i, (int64_t)0, of.k, of.j, t), 1, 0);
	drop(x, x_bytes);
	drop(y, y_bytes);
	drop(parts, y_bytes);
}

static void check_interpolations(const struct entry *entry, enum type type)
{
	static const int64_t widths[] = {1, 7, 63, 64, 65};

	for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
		for (int64_t t = 1; t <= 5; t++)
			check_interpolation(entry, type, widths[w], t);
}

/* ---- GridSample ---- */

struct grid {
	int64_t images, channels, parts, places, spatial, sizes[3], taps, outside, align;
};

/* The place between the mirrors, one step at a time. */
static wide mirrored(wide x, wide low, wide high)
{
	while (high > low && (x < low || x > high))
		x = x < low ? 2 * low - x : 2 * high - x;
	return high > low ? x : low;
}

static wide weight_at(const struct grid *grid, wide away)
{
	wide x = fabsf128(away), a = -0.75;

	if (grid->taps == 1)
		return 1;
	if (grid->taps == 2)
		return x < 1 ? 1 - x : 0;
	return x <= 1 ? ((a + 2) * x - (a + 3)) * x * x + 1 : x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/* Sum the neighbours along the dimensions from d on, in an image whose element is `at` so far. */
static wide sampled(const struct grid *grid, enum type type, const void *x, const double *places, int64_t place,
		    int64_t d, int64_t at, wide *magnitude)
{
	if (d == grid->spatial) {
		*magnitude += fabs(get(type, x, (size_t)at));
		return get(type, x, (size_t)at);
	}
	int64_t size = grid->sizes[d];
	wide v = places[place * grid->spatial + grid->spatial - 1 - d], sum = 0;
	wide low = grid->align ? 0 : -0.5, high = (wide)size - (grid->align ? 1 : 0.5);
	wide where = grid->align ? (v + 1) / 2 * (wide)(size - 1) : ((v + 1) * (wide)size - 1) / 2;

	if (grid->taps == 1)
		where = rintf128(where);
	if (grid->outside == 2)
		where = mirrored(where, low, high);
	wide first = grid->taps == 1 ? rintf128(where) : floorf128(where) - (wide)(grid->taps / 2 - 1);
	for (int64_t t = 0; t < grid->taps; t++) {
		wide from = first + (wide)t, weight = weight_at(grid, where - from), part = 0;

		if (grid->outside == 0 && (from < 0 || from > (wide)(size - 1)))
			continue;
		if (grid->outside == 2 && (from < 0 || from > (wide)(size - 1)))
			from = floorf128(mirrored(from, low, high));
		from = from < 0 ? 0 : from > (wide)(size - 1) ? (wide)(size - 1) : from;
		sum += weight * sampled(grid, type, x, places, place, d + 1, at * size + (int64_t)from, &part);
		*magnitude += fabsf128(weight) * part;
	}
	return sum;
}

static void call_grid(const struct entry *entry, const struct grid *grid, size_t size, const char *x,
		      const void *places, char *y, int64_t first, int64_t count)
{
	int64_t k =
		grid->sizes[0] * (grid->spatial > 1 ? grid->sizes[1] : 1) * (grid->spatial > 2 ? grid->sizes[2] : 1);

	entry->call(x + (size_t)(first * k) * size, places, y + (size_t)(first * grid->places) * size, count, first, k,
		    grid->places, grid->spatial, grid->channels, grid->sizes, grid->taps, grid->outside, grid->align);
}

static void check_grid(const struct entry *entry, enum type type, struct grid grid)
{
	int64_t k = 1, images = grid.channels * grid.parts;
	size_t size = types[type].size;

	for (int64_t d = 0; d < grid.spatial; d++)
		k *= grid.sizes[d] = between(1, 5);
	size_t x_bytes = (size_t)(images * k) * size, y_bytes = (size_t)(images * grid.places) * size,
	       numbers = (size_t)(grid.parts * grid.places * grid.spatial),
	       grid_bytes = numbers * (type == f64 ? sizeof(double) : sizeof(float));
	void *x = take(x_bytes), *y = take(y_bytes), *parts = take(y_bytes), *places = take(grid_bytes);
	double *wanted = take(numbers * sizeof(double));

	fill(type, x, x_bytes / size);
	fill(type == f64 ? f64 : f32, places, numbers);
	for (size_t i = 0; i < numbers; i++) { /* places outside, too */
		if (type == f64)
			wanted[i] = ((double *)places)[i] *= 3;
		else
			wanted[i] = ((float *)places)[i] *= 3;
	}
	call_grid(entry, &grid, size, x, places, y, 0, images);
	for (int64_t i = 0; i < images * grid.places; i++) {
		int64_t image = i / grid.places, place = image / grid.channels * grid.places + i % grid.places;
		wide magnitude = 0, sum = sampled(&grid, type, (char *)x + (size_t)(image * k) * size, wanted, place, 0,
						  0, &magnitude);

		/* A place is as far off as its coordinate is rounded, and near it images are as steep as they are
		 * large. */
		expect(entry, "place", i, get(type, y, (size_t)i), (double)sum,
		       256 * types[type].of_sums * ((double)magnitude + 6) +
			       types[type].epsilon * fabs((double)sum) * 1.001);
	}
	for (int64_t first = 0; first < images; first++)
		call_grid(entry, &grid, size, x, places, parts, first, 1);
	expect(entry, "parts are other bytes:", 0, memcmp(y, parts, y_bytes), 0, 0);
	drop(x, x_bytes);
	drop(y, y_bytes);
	drop(parts, y_bytes);
	drop(places, grid_bytes);
	drop(wanted, numbers * sizeof(double));
}

static void check_grids(const struct entry *entry, enum type type)
{
	static const int64_t taps[] = {1, 2, 4}, places[] = {1, 63, 65};

	for (int64_t i = 0; i < 3 * 3 * 3 * 2 * 3; i++)
		check_grid(entry, type,
			   (struct grid){.channels = between(1, 3),
					 .parts = between(1, 2),
					 .places = places[i / 54],
					 .spatial = 1 + i % 3,
					 .taps = taps[i / 3 % 3],
					 .outside = i / 9 % 3,
					 .align = i / 27 % 2});
}

/* ---- RoiAlign ---- */

struct regions {
	int64_t images, channels, dims[2], count, sizes[2], half, samples;
	double scale;
	int largest;
};

/* Return the share of the element at that place, if it is in the image. */
static double share(double place, int64_t element, int64_t size)
{
	double inside = fmin(fmax(place, 0), (double)(size - 1));

	return place < -1 || place > (double)size ? 0 : fmax(0, 1 - fabs(inside - (double)element));
}

/* A sample is made of all elements of the image; the largest is one of the four around it, times its share. */
static double sample_of(const struct regions *of, enum type type, const char *x, const double *place)
{
	double sum = 0, largest = -INFINITY;
	int64_t around[2];

	for (int64_t d = 0; d < 2; d++)
		around[d] = (int64_t)fmin(fmax(place[d], 0), (double)(of->dims[d] - 1));
	for (int64_t row = 0; row <= of->dims[0]; row++)
		for (int64_t column = 0; column <= of->dims[1]; column++) {
			double weight = share(place[0], row, of->dims[0]) * share(place[1], column, of->dims[1]);
			double value = row < of->dims[0] && column < of->dims[1]
					       ? get(type, x, (size_t)(row * of->dims[1] + column))
					       : 0;

			sum += weight * value;
			if ((row == around[0] || row == around[0] + 1) &&
			    (column == around[1] || column == around[1] + 1))
				largest = fmax(largest, weight * value);
		}
	return of->largest ? largest : sum;
}

/* The place of a sample along a dimension, and how many there are. */
static double place_in(const struct regions *of, int64_t d, double low, double high, int64_t bin, int64_t sample,
		       int64_t *samples)
{
	double offset = of->half ? 0.5 : 0, start = low * of->scale - offset,
	       length = high * of->scale - offset - start;

	if (!of->half)
		length = fmax(length, 1);
	*samples = of->samples ? of->samples : (int64_t)fmax(0, ceil(length / (double)of->sizes[d]));
	return start + length / (double)of->sizes[d] * ((double)bin + ((double)sample + 0.5) / (double)*samples);
}

static double bin_of(const struct regions *of, enum type type, const char *x, const double *ends, const int64_t *bin)
{
	int64_t samples[2];
	double result = 0, place[2];

	for (int64_t d = 0; d < 2; d++)
		place_in(of, d, ends[1 - d], ends[3 - d], 0, 0, &samples[d]);
	for (int64_t i = 0; i < samples[0] * samples[1]; i++) {
		const int64_t at[2] = {i / samples[1], i % samples[1]};

		for (int64_t d = 0; d < 2; d++)
			place[d] = place_in(of, d, ends[1 - d], ends[3 - d], bin[d], at[d], &samples[d]);
		double one = sample_of(of, type, x, place);
		result = !of->largest ? result + one / (double)(samples[0] * samples[1]) : i ? fmax(result, one) : one;
	}
	return result;
}

/* Ends, scales and bins are such that only places within elements are rounded. */
static void check_regions(const struct entry *entry, enum type type, struct regions of)
{
	int64_t plane = of.dims[0] * of.dims[1], bins = of.sizes[0] * of.sizes[1], image = of.channels * plane;
	size_t size = types[type].size, x_bytes = (size_t)(of.images * image) * size,
	       rois_bytes = (size_t)of.count * 4 * size;
	size_t y_bytes = (size_t)(of.count * of.channels * bins) * size, batch_bytes = (size_t)of.count * 8;
	char *x = take(x_bytes), *rois = take(rois_bytes), *y = take(y_bytes), *parts = take(y_bytes);
	int64_t *batches = take(batch_bytes);

	fill(type, x, x_bytes / size);
	for (int64_t i = 0; i < of.count * 4; i++) { /* left and upper ends, then the others; some lie outside */
		float end = (float)between(-8, 24) / 4 + (i % 4 > 1 ? (float)between(0, 40) / 4 : 0);
		uint32_t bits;

		memcpy(&bits, &end, 4);
		if (type == f64)
			((double *)rois)[i] = end;
		else if (type == f32)
			((float *)rois)[i] = end;
		else if (type == bf16)
			((uint16_t *)rois)[i] = (uint16_t)(bits >> 16);
		else
			((uint16_t *)rois)[i] =
				end == 0 ? 0 /* quarters are normal numbers */
					 : (uint16_t)(bits >> 31 << 15 | ((bits >> 13 & 0x3ffff) - (112 << 10)));
	}
	for (int64_t i = 0; i < of.count; i++)
		batches[i] = between(0, of.images - 1);
	int status = entry->call(x, rois, batches, y, of.count, of.images, of.channels, plane, bins, of.dims, of.sizes,
				 of.half, of.samples, of.scale);
	expect(entry, "status", 0, status, 0, 0);
	for (int64_t i = 0; i < of.count * of.channels * bins; i++) {
		int64_t region = i / bins / of.channels, channel = i / bins % of.channels;
		const int64_t bin[2] = {i % bins / of.sizes[1], i % of.sizes[1]};
		double ends[4];

		for (int64_t e = 0; e < 4; e++)
			ends[e] = get(type, rois, (size_t)(region * 4 + e));
		double expected =
			bin_of(&of, type, x + (size_t)(batches[region] * image + channel * plane) * size, ends, bin);
		expect(entry, "bin", i, get(type, y, (size_t)i), expected,
		       256 * types[type].of_sums + types[type].epsilon * fabs(expected) * 1.001);
	}
	for (int64_t i = 0; i < of.count; i++)
		entry->call(x, rois + (size_t)i * 4 * size, batches + i,
			    parts + (size_t)(i * of.channels * bins) * size, (int64_t)1, of.images, of.channels, plane,
			    bins, of.dims, of.sizes, of.half, of.samples, of.scale);
	expect(entry, "parts are other bytes:", 0, memcmp(y, parts, y_bytes), 0, 0);
	batches[of.count - 1] = of.images;
	expect(entry, "status of an image that is not there", 0,
	       entry->call(x, rois, batches, y, of.count, of.images, of.channels, plane, bins, of.dims, of.sizes,
			   of.half, of.samples, of.scale),
	       1, 0);
	batches[of.count - 1] = 0;
	expect(entry, "status of a region without an end", 0,
	       entry->call(x, rois, batches, y, of.count, of.images, of.channels, plane, bins, of.dims, of.sizes,
			   of.half, of.samples, (double)INFINITY),
	       1, 0);
	memset(rois, 0, rois_bytes);
	((char *)rois)[2 * size + size - 1] = 0x40; /* the right end of the first one is 2 */
	expect(entry, "status of a region of a million elements", 0,
	       entry->call(x, rois, batches, y, of.count, of.images, of.channels, plane, bins, of.dims, of.sizes,
			   of.half, of.samples, 0x1p20),
	       !of.samples, 0);
	drop(x, x_bytes);
	drop(rois, rois_bytes);
	drop(y, y_bytes);
	drop(parts, y_bytes);
	drop(batches, batch_bytes);
}

static void check_all_regions(const struct entry *entry, enum type type)
{
	static const double scales[] = {1, 0.5, 0.25, 2};

	for (int64_t i = 0; i < 60; i++)
		check_regions(entry, type,
			      (struct regions){.images = between(1, 3),
					       .channels = between(1, 3),
					       .dims = {between(1, 9), between(1, 9)},
					       .count = between(1, 4),
					       .sizes = {1 << between(0, 2), 1 << between(0, 2)},
					       .half = i % 2,
					       .samples = i / 2 % 3,
					       .scale = scales[random_bits() % 4],
					       .largest = strstr(entry->name, "_max") != NULL});
}

/* sk_OPERATOR_TYPE..., with its level of instructions at the end. */
static void check_entry(const struct entry *entry)
{
	for (enum type type = 0; type < TYPES; type++) {
		const char *word = strchr(strchr(entry->name, '_') + 1, '_') + 1;
		size_t length = strlen(types[type].name);

		if (strncmp(word, types[type].name, length) || (word[length] && word[length] != '_'))
			continue;
		if (strstr(entry->name, "gridsample"))
			check_grids(entry, type);
		else if (strstr(entry->name, "roialign"))
			check_all_regions(entry, type);
		else
			check_interpolations(entry, type);
		return;
	}
	printf("%s: there is no such type\n", entry->name);
	failures++;
}

int main(void)
{
	return check_entries(check_entry);
}
