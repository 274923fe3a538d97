/* Compares the convolutions, transposed ones and pools of libskernels.a with plain loops in greater precision, for
 * random shapes and attributes, and in parts as cores have them: parts must be the same bytes. */
#include "operands.h"

#include <stdio.h>

/* Dimensions are [depth, height, width]; with two of them, depth is 1. */
struct problem {
	int64_t spatial, images, channels, outputs, group, option;
	int64_t in[3], window[3], out[3], strides[3], dilations[3], pads[6];
	int has_bias;
};

typedef void kernel();
#define KERNEL_LIST "windows-list.h"
#include "entries.h"

/* Scratch as signatures give it. Convolutions need numbers for all multiplications, a padded image, and sums of halves;
 * transposed ones need a plane of sums. Kernels without scratch in their signature get none. */
enum { ROOM = 114688, SUM_ROWS = 264 };
struct scratch {
	void *room, *laid, *sums;
	size_t room_bytes, laid_bytes, sum_bytes;
};

static struct scratch scratch_of(size_t room_bytes, size_t laid_bytes, size_t sum_bytes)
{
	return (struct scratch){room_bytes ? take_scratch(room_bytes) : NULL,
				laid_bytes ? take_scratch(laid_bytes) : NULL,
				sum_bytes ? take_scratch(sum_bytes) : NULL,
				room_bytes,
				laid_bytes,
				sum_bytes};
}

static void drop_scratch_of(const char *name, void *scratch, size_t bytes)
{
	if (!scratch)
		return;
	if (!scratch_is_kept(scratch, bytes)) {
		printf("%s: writes behind its scratch\n", name);
		failures++;
	}
	drop(scratch, (bytes + 63) / 64 * 64);
}

static void drop_scratch(const char *name, struct scratch *scratch)
{
	drop_scratch_of(name, scratch->room, scratch->room_bytes);
	drop_scratch_of(name, scratch->laid, scratch->laid_bytes);
	drop_scratch_of(name, scratch->sums, scratch->sum_bytes);
}

static int64_t between(int64_t low, int64_t high)
{
	return low + (int64_t)(random_bits() % (uint64_t)(high - low + 1));
}

static int64_t volume(const int64_t *extents)
{
	return extents[0] * extents[1] * extents[2];
}

/* Extents of the output follow; the window fits somewhere. */
static void invent(struct problem *problem, int spatial, int plain)
{
	*problem = (struct problem){.spatial = spatial, .images = between(1, 3), .has_bias = (int)between(0, 1)};
	for (int d = 0; d < 3; d++) {
		int used = d >= 3 - spatial;
		problem->window[d] = used && !plain ? between(1, d == 2 ? 5 : 3) : 1;
		problem->strides[d] = used && !plain ? between(1, 3) : 1;
		problem->dilations[d] = used ? between(1, 3) : 1;
		if (plain || random_bits() % 3 == 0)
			problem->strides[d] = problem->dilations[d] = 1;
		int64_t span = (problem->window[d] - 1) * problem->dilations[d] + 1;
		problem->pads[d] = used && !plain ? between(0, problem->window[d] - 1) : 0;
		problem->pads[3 + d] = used && !plain ? between(0, problem->window[d] - 1) : 0;
		problem->in[d] = used ? span + between(0, d == 2 ? 40 : 6) : 1;
		problem->out[d] =
			(problem->in[d] + problem->pads[d] + problem->pads[3 + d] - span) / problem->strides[d] + 1;
	}
}

/* The element of x that place `at` of the window of result i meets, or -1. */
static int64_t met(const struct problem *problem, int64_t i, int64_t at)
{
	int64_t place[3] = {at / problem->window[2] / problem->window[1], at / problem->window[2] % problem->window[1],
			    at % problem->window[2]};
	int64_t result[3] = {i / problem->out[2] / problem->out[1], i / problem->out[2] % problem->out[1],
			     i % problem->out[2]};
	int64_t element = 0;

	for (int d = 0; d < 3; d++) {
		int64_t x = result[d] * problem->strides[d] + place[d] * problem->dilations[d] - problem->pads[d];
		if (x < 0 || x >= problem->in[d])
			return -1;
		element = element * problem->in[d] + x;
	}
	return element;
}

/* met() for all results of a plane, with all places. */
static int64_t *all_met(const struct problem *problem)
{
	int64_t out = volume(problem->out), window = volume(problem->window);
	int64_t *places = malloc(out * window * sizeof *places);

	for (int64_t i = 0; i < out * window; i++)
		places[i] = met(problem, i / window, i % window);
	return places;
}

static void wrong(const char *name, const struct problem *problem, const char *what, int64_t i, double result,
		  double expected)
{
	printf("%s: n %ld c %ld o %ld group %ld", name, (long)problem->images, (long)problem->channels,
	       (long)problem->outputs, (long)problem->group);
	for (int d = 0; d < 3; d++)
		printf(", %ld (window %ld, stride %ld, dilation %ld, pads %ld %ld)", (long)problem->in[d],
		       (long)problem->window[d], (long)problem->strides[d], (long)problem->dilations[d],
		       (long)problem->pads[d], (long)problem->pads[3 + d]);
	printf(": %s %ld is %.17g, not %.17g\n", what, (long)i, result, expected);
	failures++;
}

/* The lists of attributes, as kernels get them. */
struct lists {
	int64_t window[3], strides[3], dilations[3], pads[6];
};

static struct lists lists_of(const struct problem *problem)
{
	struct lists lists;
	int64_t unused = 3 - problem->spatial;

	for (int64_t d = 0; d < problem->spatial; d++) {
		lists.window[d] = problem->window[unused + d];
		lists.strides[d] = problem->strides[unused + d];
		lists.dilations[d] = problem->dilations[unused + d];
		lists.pads[d] = problem->pads[unused + d];
		lists.pads[problem->spatial + d] = problem->pads[3 + unused + d];
	}
	return lists;
}

/* ---- convolutions ---- */

/* Windows that convolutions of single channels have a way of their own for. */
static void make_usual(struct problem *problem)
{
	int64_t stride = between(1, 2);

	for (int d = 1; d < 3; d++) {
		problem->window[d] = 3;
		problem->strides[d] = stride;
		problem->dilations[d] = 1;
		problem->pads[d] = between(0, 2);
		problem->pads[3 + d] = between(0, 2);
		problem->in[d] = between(d == 2 && random_bits() % 2 ? 16 : 3, d == 2 ? 70 : 24);
		problem->out[d] = (problem->in[d] + problem->pads[d] + problem->pads[3 + d] - 3) / stride + 1;
	}
}

static void call_convolution(const struct entry *entry, const struct problem *problem, int by_channels, size_t size,
			     const char *x, const void *filters, const void *bias, char *y, int64_t first,
			     int64_t count, const struct scratch *scratch)
{
	struct lists lists = lists_of(problem);
	const int64_t *in = problem->in, *window = problem->window, *out = problem->out;
	int64_t d = problem->channels / problem->group;

	y += first * volume(out) * size;
	if (by_channels)
		x += first * volume(in) * size;
	if (problem->spatial == 2)
		entry->call(x, filters, bias, y, problem->channels, d, problem->outputs, in[1], in[2], window[1],
			    window[2], out[1], out[2], lists.strides, lists.pads, lists.dilations, problem->group,
			    first, count, scratch->room, scratch->laid, scratch->sums);
	else
		entry->call(x, filters, bias, y, problem->channels, d, problem->outputs, in[0], in[1], in[2], window[0],
			    window[1], window[2], out[0], out[1], out[2], lists.strides, lists.pads, lists.dilations,
			    problem->group, first, count, scratch->room, scratch->laid, scratch->sums);
}

static void compare_convolution(const char *name, const struct problem *problem, enum type type, const void *x,
				const void *filters, const void *bias, const void *y)
{
	int64_t in = volume(problem->in), out = volume(problem->out), window = volume(problem->window);
	int64_t d = problem->channels / problem->group, own = problem->outputs / problem->group;
	int64_t *places = all_met(problem);
	double *inputs = numbers_of(type, x, problem->images * problem->channels * in);
	double *weights = numbers_of(type, filters, problem->outputs * d * window);
	int64_t count = problem->images * problem->outputs * out;

	for (int64_t i = 0; i < count; i += step_of(type, count * d * window)) {
		int64_t image = i / out / problem->outputs, o = i / out % problem->outputs;
		struct sum sum = {0};
		double result = get(type, y, i);

		if (bias)
			add_product(type, &sum, get(type, bias, o), 1);
		for (int64_t p = 0; p < window; p++) {
			int64_t at = places[i % out * window + p], plane = image * problem->channels + o / own * d;
			for (int64_t c = 0; c < d && at >= 0; c++)
				add_product(type, &sum, weights[(o * d + c) * window + p],
					    inputs[(plane + c) * in + at]);
		}
		double allowed = (d * window + 3) * types[type].of_sums * sum.magnitude +
				 types[type].epsilon * fabs(total(type, &sum));
		if (!(distance(type, &sum, 1, result) <= allowed)) {
			wrong(name, problem, "element", i, result, total(type, &sum));
			break;
		}
	}
	free(places);
	free(inputs);
	free(weights);
}

/* As PackMatMulB does it: panels of 16 filters, step by step. */
static void pack_filters(const float *filters, int64_t count, int64_t steps, float *panels)
{
	for (int64_t filter = 0; filter < (count + 15) / 16 * 16; filter++)
		for (int64_t step = 0; step < steps; step++)
			panels[(filter / 16 * steps + step) * 16 + filter % 16] =
				filter < count ? filters[filter * steps + step] : 0;
}

static void check_convolution(const struct entry *entry, enum type type, int spatial, int by_channels, int plain)
{
	struct problem problem;

	invent(&problem, spatial, plain);
	if (by_channels && spatial == 2 && !plain && random_bits() % 3)
		make_usual(&problem);
	problem.group = by_channels ? between(1, 5) : between(1, 3);
	problem.channels = problem.group * (by_channels ? 1 : between(1, 40));
	if (!by_channels && random_bits() % 3 == 0) {
		/* More steps than are gone through at a time. */
		problem.channels = problem.group * (300 / volume(problem.window) + 1);
		problem.has_bias = 1;
	}
	problem.outputs = problem.group * (by_channels ? 1 : between(1, 30));
	int panels = strstr(entry->name, "_panels") != NULL;
	problem.has_bias |= panels; /* their signatures ask for one */
	if (panels && problem.group == 1 && problem.channels < 8 && volume(problem.out) < 64)
		problem.outputs = between(1500, 1700); /* more than are turned at a time */
	if (!by_channels && types[type].size == 2 && problem.group == 1 && problem.channels < 20 &&
	    volume(problem.out) < 64)
		problem.outputs = between(264, 300); /* more than sums are kept of */
	size_t size = types[type].size, number = type == f64 ? 8 : 4;
	int64_t d = problem.channels / problem.group, planes = problem.images * problem.outputs;
	size_t x_bytes = problem.images * problem.channels * volume(problem.in) * size,
	       filter_bytes = problem.outputs * d * volume(problem.window) * size, bias_bytes = problem.outputs * size,
	       y_bytes = planes * volume(problem.out) * size,
	       laid_bytes = (spatial == 3 ? problem.in[0] + 2 * problem.window[0] : 1);
	laid_bytes *= d * (problem.in[1] + 2 * problem.window[1]) * (problem.in[2] + 2 * problem.window[2]);
	laid_bytes = (laid_bytes + 16) * number;
	void *x = take(x_bytes), *filters = take(filter_bytes), *bias = take(bias_bytes), *y = take(y_bytes),
	     *parts = take(y_bytes);
	struct scratch scratch = scratch_of(by_channels ? 0 : ROOM * number, laid_bytes,
					    by_channels || size > 2 ? 0 : SUM_ROWS * volume(problem.out) * 4);
	size_t panel_bytes = panels ? (problem.outputs + 15) / 16 * 16 * (filter_bytes / problem.outputs) : 1;
	void *packed = take(panel_bytes), *read = panels ? packed : filters;

	fill(type, x, x_bytes / size);
	fill(type, filters, filter_bytes / size);
	fill(type, bias, problem.outputs);
	if (panels)
		pack_filters(filters, problem.outputs, d * volume(problem.window), packed);
	void *given = problem.has_bias ? bias : NULL;
	call_convolution(entry, &problem, by_channels, size, x, read, given, y, 0, planes, &scratch);
	compare_convolution(entry->name, &problem, type, x, filters, given, y);
	int64_t part = 1 + planes / 3;
	for (int64_t first = 0; first < planes; first += part)
		call_convolution(entry, &problem, by_channels, size, x, read, given, parts, first,
				 first + part < planes ? part : planes - first, &scratch);
	if (memcmp(y, parts, y_bytes))
		wrong(entry->name, &problem, "parts are other bytes:", part, 0, 0);
	drop(x, x_bytes);
	drop(filters, filter_bytes);
	drop(packed, panel_bytes);
	drop(bias, bias_bytes);
	drop(y, y_bytes);
	drop(parts, y_bytes);
	drop_scratch(entry->name, &scratch);
}

/* ---- transposed ones ---- */

static void call_transposed(const struct entry *entry, const struct problem *problem, size_t size, const void *x,
			    const void *filters, const void *bias, char *y, int64_t first, int64_t count, void *sums)
{
	struct lists lists = lists_of(problem);
	const int64_t *in = problem->in, *window = problem->window, *out = problem->out;
	int64_t d = problem->outputs / problem->group;

	y += first * volume(out) * size;
	if (problem->spatial == 2)
		entry->call(x, filters, bias, y, problem->channels, d, in[1], in[2], window[1], window[2], out[1],
			    out[2], lists.strides, lists.pads, lists.dilations, problem->group, first, count, sums);
	else
		entry->call(x, filters, bias, y, problem->channels, d, in[0], in[1], in[2], window[0], window[1],
			    window[2], out[0], out[1], out[2], lists.strides, lists.pads, lists.dilations,
			    problem->group, first, count, sums);
}

/* The result that place `at` of the window of element i adds to, or -1. */
static int64_t added_to(const struct problem *problem, int64_t i, int64_t at)
{
	struct problem turned = *problem;

	memcpy(turned.in, problem->out, sizeof turned.in);
	memcpy(turned.out, problem->in, sizeof turned.out);
	return met(&turned, i, at);
}

static void compare_transposed(const char *name, const struct problem *problem, enum type type, const void *x,
			       const void *filters, const void *bias, const void *y)
{
	int64_t in = volume(problem->in), out = volume(problem->out), window = volume(problem->window);
	int64_t d = problem->outputs / problem->group, own = problem->channels / problem->group;
	int64_t count = problem->images * problem->outputs * out;
	struct sum *sums = calloc(count, sizeof *sums);

	for (int64_t i = 0; bias && i < count; i++)
		add_product(type, &sums[i], get(type, bias, i / out % problem->outputs), 1);
	for (int64_t i = 0; i < problem->images * problem->channels * in; i++) {
		int64_t image = i / in / problem->channels, channel = i / in % problem->channels;
		for (int64_t p = 0; p < window; p++) {
			int64_t to = added_to(problem, i % in, p);
			for (int64_t f = 0; f < d && to >= 0; f++) {
				int64_t at = to + (image * problem->outputs + channel / own * d + f) * out;
				add_product(type, &sums[at], get(type, x, i),
					    get(type, filters, (channel * d + f) * window + p));
			}
		}
	}
	for (int64_t i = 0; i < count; i++) {
		double result = get(type, y, i);
		double allowed = (own * window + 3) * types[type].of_sums * sums[i].magnitude +
				 types[type].epsilon * fabs(total(type, &sums[i]));
		if (!(distance(type, &sums[i], 1, result) <= allowed)) {
			wrong(name, problem, "element", i, result, total(type, &sums[i]));
			break;
		}
	}
	free(sums);
}

static void check_transposed(const struct entry *entry, enum type type, int spatial, int has_bias)
{
	struct problem problem;

	invent(&problem, spatial, 0);
	problem.group = between(1, 3);
	problem.channels = problem.group * between(1, 4);
	problem.outputs = problem.group * between(1, 3);
	for (int d = 0; d < 3; d++) {
		int64_t most =
			(problem.in[d] - 1) * problem.strides[d] + (problem.window[d] - 1) * problem.dilations[d] + 1;
		problem.out[d] = most - problem.pads[d] - problem.pads[3 + d];
		if (problem.out[d] < 1)
			problem.out[d] = 1;
		problem.out[d] += d >= 3 - spatial ? between(0, problem.strides[d] - 1) : 0;
	}
	size_t size = types[type].size;
	int64_t planes = problem.images * problem.outputs, part = 1 + planes / 3;
	size_t x_bytes = problem.images * problem.channels * volume(problem.in) * size,
	       filter_bytes = problem.channels * problem.outputs / problem.group * volume(problem.window) * size,
	       bias_bytes = problem.outputs * size, y_bytes = planes * volume(problem.out) * size;
	void *x = take(x_bytes), *filters = take(filter_bytes), *bias = take(bias_bytes), *y = take(y_bytes),
	     *parts = take(y_bytes);

	fill(type, x, x_bytes / size);
	fill(type, filters, filter_bytes / size);
	fill(type, bias, problem.outputs);
	void *given = has_bias ? bias : NULL;
	struct scratch scratch = scratch_of(0, 0, volume(problem.out) * (type == f64 ? 8 : 4));
	call_transposed(entry, &problem, size, x, filters, given, y, 0, planes, scratch.sums);
	compare_transposed(entry->name, &problem, type, x, filters, given, y);
	for (int64_t first = 0; first < planes; first += part)
		call_transposed(entry, &problem, size, x, filters, given, parts, first,
				first + part < planes ? part : planes - first, scratch.sums);
	if (memcmp(y, parts, y_bytes))
		wrong(entry->name, &problem, "parts are other bytes:", part, 0, 0);
	drop_scratch(entry->name, &scratch);
	drop(x, x_bytes);
	drop(filters, filter_bytes);
	drop(bias, bias_bytes);
	drop(y, y_bytes);
	drop(parts, y_bytes);
}

/* ---- pools ---- */

/* MaxPool's indices lead back to where its maxima were; one that leads nowhere is left out. */
static void check_unpool(const struct entry *entry, int spatial)
{
	int64_t extents[] = {2, 3, 4}, window[] = {2, 2, 2}, strides[] = {2, 2, 2}, pads[6] = {0}, planes = 2;
	int64_t in = spatial == 2 ? 3 * 4 : 2 * 3 * 4, out = in << spatial;
	int64_t indices[2 * 24];
	uint64_t x[2 * 24], y[2 * 24 * 8 + 1], expected[2 * 24 * 8 + 1];
	size_t size = strstr(entry->name, "u16") ? 2 : strstr(entry->name, "u32") ? 4 : 8;

	memset(y, 0xff, sizeof y);
	memset(expected, 0xff, sizeof expected);
	memset(expected, 0, planes * out * size);
	fill(u8, x, sizeof x);
	for (int64_t i = 0; i < planes * in; i++) {
		indices[i] = i == 5 ? planes * out : (i << spatial) + (i % 2);
		if (i != 5)
			memcpy((char *)expected + indices[i] * size, (char *)x + i * size, size);
	}
	if (spatial == 2)
		entry->call(x, indices, y, planes, extents[1], extents[2], 2 * extents[1], 2 * extents[2], window,
			    strides, pads);
	else
		entry->call(x, indices, y, planes, extents[0], extents[1], extents[2], 2 * extents[0], 2 * extents[1],
			    2 * extents[2], window, strides, pads);
	if (memcmp(y, expected, sizeof y)) {
		printf("%s: wrong bytes\n", entry->name);
		failures++;
	}
}

static void call_pool(const struct entry *entry, const struct problem *problem, const char *x, char *y,
		      int64_t *indices, size_t size, int is_max, int64_t first, int64_t count)
{
	struct lists lists = lists_of(problem);
	const int64_t *in = problem->in, *out = problem->out;

	x += first * volume(in) * size;
	y += first * volume(out) * size;
	if (indices)
		indices += first * volume(out);
#define EXTENTS_2 in[1], in[2], out[1], out[2]
#define EXTENTS_3 in[0], in[1], in[2], out[0], out[1], out[2]
#define OTHERS	  lists.window, lists.strides, lists.pads, lists.dilations, problem->option, count, first
	if (is_max && problem->spatial == 2)
		entry->call(x, y, indices, EXTENTS_2, OTHERS);
	else if (is_max)
		entry->call(x, y, indices, EXTENTS_3, OTHERS);
	else if (problem->spatial == 2)
		entry->call(x, y, EXTENTS_2, OTHERS);
	else
		entry->call(x, y, EXTENTS_3, OTHERS);
}

/* Return how many places of result i's window lie in x and its pads. */
static int64_t places_with_pads(const struct problem *problem, int64_t i)
{
	int64_t result[3] = {i / problem->out[2] / problem->out[1], i / problem->out[2] % problem->out[1],
			     i % problem->out[2]};
	int64_t count = 1;

	for (int d = 0; d < 3; d++) {
		int64_t own = 0;
		for (int64_t p = 0; p < problem->window[d]; p++)
			own += result[d] * problem->strides[d] + p * problem->dilations[d] <
			       problem->pads[d] + problem->in[d] + problem->pads[3 + d];
		count *= own;
	}
	return count;
}

static wide squared_distance(enum type type, const struct sum *sum, double root)
{
	wide off = (wide)root * root - (type == f64 ? sum->exact : (wide)sum->near);

	return off < 0 ? -off : off;
}

static void compare_pool(const char *name, const struct problem *problem, enum type type, const void *x, const void *y,
			 const int64_t *indices)
{
	int is_max = strstr(name, "maxpool") != NULL, is_norm = strstr(name, "lppool") != NULL;
	int64_t in = volume(problem->in), out = volume(problem->out), window = volume(problem->window);

	for (int64_t i = 0; i < problem->images * problem->channels * out; i++) {
		struct sum sum = {0}; /* of p = 2, squares; of 1, magnitudes */
		double greatest = -INFINITY, result = get(type, y, i), away;
		int64_t count = 0, found = -1;

		for (int64_t p = 0; p < window; p++) {
			int64_t at = met(problem, i % out, p);
			if (at < 0)
				continue;
			double here = get(type, x, i / out * in + at);
			add_product(type, &sum, is_norm ? fabs(here) : here,
				    is_norm && problem->option == 2 ? fabs(here) : 1);
			count++;
			if (found < 0 || here > greatest) {
				found = at;
				greatest = here;
			}
		}
		if (!count && (type == i8 || type == u8))
			greatest = type == i8 ? -128 : 0;
		double divisor = is_norm	   ? 1
				 : problem->option ? (double)places_with_pads(problem, i % out)
				 : count	   ? (double)count
						   : 1;
		double expected = is_max ? greatest : total(type, &sum) / divisor;
		double size = sum.magnitude / divisor;
		away = is_max ? fabs(result - expected) : distance(type, &sum, divisor, result);
		if (is_norm && problem->option == 2) { /* r * r - s is (r + root of s) times as far as r */
			expected = sqrt(expected);
			size = expected;
			away = expected + result > 0
				       ? (double)squared_distance(type, &sum, result) / (expected + result)
				       : 0;
		}
		double allowed = is_max ? 0
					: (window + 3) * types[type].of_sums * size +
						  types[type].epsilon * fabs(expected) * 1.001;
		if (!(away <= allowed) && result != expected) {
			wrong(name, problem, "element", i, result, expected);
			return;
		}
		if (!indices)
			continue;
		const int64_t *extents = problem->in;
		if (problem->option && found > 0)
			found = found / extents[2] / extents[1] +
				extents[0] * (found / extents[2] % extents[1] + extents[1] * (found % extents[2]));
		found = found < 0 ? -1 : i / out * in + found;
		if (indices[i] != found) {
			wrong(name, problem, "index", i, (double)indices[i], (double)found);
			return;
		}
	}
}

static void check_pool(const struct entry *entry, enum type type, int spatial)
{
	struct problem problem;
	int is_max = strstr(entry->name, "maxpool") != NULL;

	invent(&problem, spatial, 0);
	problem.channels = between(1, 4);
	problem.option = strstr(entry->name, "lppool") ? between(1, 2) : between(0, 1);
	/* The positions that ceil_mode adds. */
	for (int d = 3 - spatial; d < 3; d++)
		if (random_bits() % 4 == 0 && problem.strides[d] > 1 &&
		    problem.out[d] * problem.strides[d] < problem.in[d] + problem.pads[d])
			problem.out[d]++;
	size_t size = types[type].size;
	int64_t planes = problem.images * problem.channels;
	size_t x_bytes = planes * volume(problem.in) * size, y_bytes = planes * volume(problem.out) * size,
	       index_bytes = planes * volume(problem.out) * 8;
	void *x = take(x_bytes), *y = take(y_bytes), *parts = take(y_bytes), *indices = take(index_bytes),
	     *index_parts = take(index_bytes);
	int64_t *wanted = is_max && random_bits() % 2 ? indices : NULL, part = 1 + planes / 3;

	fill(type, x, x_bytes / size);
	call_pool(entry, &problem, x, y, wanted, size, is_max, 0, planes);
	compare_pool(entry->name, &problem, type, x, y, wanted);
	for (int64_t first = 0; first < planes; first += part)
		call_pool(entry, &problem, x, parts, wanted ? index_parts : NULL, size, is_max, first,
			  first + part < planes ? part : planes - first);
	if (memcmp(y, parts, y_bytes) || (wanted && memcmp(indices, index_parts, index_bytes)))
		wrong(entry->name, &problem, "parts are other bytes:", part, 0, 0);
	drop(x, x_bytes);
	drop(y, y_bytes);
	drop(parts, y_bytes);
	drop(indices, index_bytes);
	drop(index_parts, index_bytes);
}

/* Norms scale with their operands, even if the powers overflow or are denormal. */
static void check_scaled_norms(const struct entry *entry, enum type type, int spatial)
{
	static const int exponents[TYPES] = {[f32] = 120, [bf16] = 120, [f64] = 1000};
	int exponent = random_bits() % 2 ? exponents[type] : -exponents[type];
	struct problem problem;

	invent(&problem, spatial, 0);
	problem.option = between(2, 5);
	size_t size = types[type].size;
	int64_t planes = problem.images * problem.channels, results = planes * volume(problem.out);
	size_t x_bytes = planes * volume(problem.in) * size, y_bytes = results * size;
	char *x = take(x_bytes), *y = take(y_bytes), *scaled = take(y_bytes);

	fill(type, x, x_bytes / size);
	call_pool(entry, &problem, x, y, NULL, size, 0, 0, planes);
	for (size_t i = 0; i < x_bytes / size; i++) {
		double number = ldexp(get(type, x, i), exponent);
		float single = (float)number;
		void *from = type == f64 ? (void *)&number : (char *)&single + sizeof single - size;

		memcpy(x + i * size, from, size);
	}
	call_pool(entry, &problem, x, scaled, NULL, size, 0, 0, planes);
	for (int64_t i = 0; i < results; i++) {
		double expected = ldexp(get(type, y, i), exponent), result = get(type, scaled, i);

		if (!(fabs(result - expected) <=
		      expected * (2 * types[type].epsilon + (volume(problem.window) + 8) * types[type].of_sums)))
			wrong(entry->name, &problem, "scaled element", i, result, expected);
	}
	drop(x, x_bytes);
	drop(y, y_bytes);
	drop(scaled, y_bytes);
}

/* sk_OPERATOR_TYPE_SPATIAL..., with its level of instructions at the end. */
static void check_entry(const struct entry *entry)
{
	const char *name = entry->name;

	if (strstr(name, "unpool")) {
		check_unpool(entry, strstr(name, "_2") ? 2 : 3);
		return;
	}
	for (enum type type = 0; type < TYPES; type++) {
		char middle[16];
		snprintf(middle, sizeof middle, "_%s_", types[type].name);
		if (!strstr(name, middle))
			continue;
		int spatial = strstr(name, middle)[strlen(middle)] - '0';
		for (int i = 0; i < 12; i++)
			if (strstr(name, "lppool") && type != f16 && i % 2)
				check_scaled_norms(entry, type, spatial);
			else if (strstr(name, "pool"))
				check_pool(entry, type, spatial);
			else if (strstr(name, "transpose"))
				check_transposed(entry, type, spatial, !strstr(name, "without"));
			else
				check_convolution(entry, type, spatial, strstr(name, "channels") != NULL, i % 4 == 3);
		return;
	}
	printf("%s: there is no such type\n", name);
	failures++;
}

int main(void)
{
	return check_entries(check_entry);
}
