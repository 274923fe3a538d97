/* library-normal.c: kernels that normalize rows, channels and neighbours, and the loss of a class. Each is compared
 * with its definition, in parts, as cores compute them, in place where it may be, and with the kernel for every
 * processor, which must give the same bytes. */
#include "tests/kernels/library.h"

#include <stdio.h>
#include <string.h>

extern wide fabsf128(wide x), sqrtf128(wide x), powf128(wide x, wide y);

static const float epsilon = 1e-3f;

/* ---- moments ---- */

struct moments {
	wide mean, magnitude, variance, deviation, root; /* the mean of magnitudes; with epsilon; of the mean square */
};

static struct moments moments_of(const struct type *type, const void *x, int64_t first, int64_t k)
{
	struct moments moments = {0};
	wide square = 0;

	for (int64_t p = 0; p < k; p++) {
		wide value = get_wide(type, x, first + p);

		moments.mean += value / k;
		moments.magnitude += fabsf128(value) / k;
		square += value * value / k;
	}
	for (int64_t p = 0; p < k; p++) {
		wide from = get_wide(type, x, first + p) - moments.mean;

		moments.variance += from * from / k;
	}
	moments.deviation = sqrtf128(moments.variance + epsilon);
	moments.root = sqrtf128(square + epsilon);
	return moments;
}

/* An element that is counted from the mean: as far off as the mean is, and the product that follows. */
static void check_element(const struct kernel *kernel, const void *x, const void *y, int64_t at,
			  const struct moments *moments, int64_t k, wide scale, wide bias)
{
	wide value = get_wide(kernel->in, x, at);
	wide slope = fabsf128(scale / moments->deviation);

	check_near(kernel, kernel->in, y, at, (value - moments->mean) / moments->deviation * scale + bias,
		   (wide)(k + 16) * roundoff(kernel->in) *
			   ((fabsf128(value) + moments->magnitude) * slope + fabsf128(bias)),
		   "a row");
}

/* ---- rows ---- */

static const int64_t row_shapes[][2] = {{0, 3}, {1, 1}, {3, 2}, {2, 63}, {3, 64}, {2, 65}, {2, 300}};
enum { ROW_SHAPES = sizeof row_shapes / sizeof *row_shapes };

/* The type that statistics are stored in: f32 for LayerNormalization's inverse deviation, the type that it computes in
 * for LayerNorm's variance. */
static const struct type *statistic(const struct kernel *kernel)
{
	return find_type(!strcmp(kernel->operator, "LayerNorm") && kernel->in->size == 8 ? "f64" : "f32");
}

/* Magnitudes of the rounds, as powers of two: in one round the squares overflow, in another one the sum of the numbers
 * as well. */
static int magnitude_for(const struct type *type, int round)
{
	return type->greatest < 20 || round < 1 ? 0 : round == 1 ? type->greatest - 60 : type->greatest - 4;
}

static void call_rows(const struct kernel *kernel, const void *x, const void *scale, const void *bias, void *y,
		      void *mean, void *spread, int64_t m, int64_t k)
{
	if (!strcmp(kernel->operator, "RMSNormalization"))
		((void (*)(const void *, const void *, void *, int64_t, int64_t, float))kernel->function)(
			x, scale, y, m, k, epsilon);
	else
		((void (*)(const void *, const void *, const void *, void *, void *, void *, int64_t, int64_t,
			   float))kernel->function)(x, scale, bias, y, mean, spread, m, k, epsilon);
}

static void check_row(const struct kernel *kernel, const void *x, const void *scale, const void *bias, const void *y,
		      const void *mean, const void *spread, int64_t row, int64_t k)
{
	const struct type *type = kernel->in, *single = statistic(kernel);
	struct moments moments = moments_of(type, x, row * k, k);
	wide off = (wide)(k + 16) * roundoff(type), invstd = 1 / moments.deviation;

	for (int64_t p = 0; p < k; p++) {
		wide by = get_wide(type, scale, p), value = get_wide(type, x, row * k + p);

		if (!strcmp(kernel->operator, "RMSNormalization"))
			check_near(kernel, type, y, row * k + p, value / moments.root * by,
				   off * fabsf128(value / moments.root * by), "a row");
		else
			check_element(kernel, x, y, row * k + p, &moments, k, by, bias ? get_wide(type, bias, p) : 0);
	}
	if (mean)
		check_near(kernel, single, mean, row, moments.mean,
			   off * moments.magnitude + 0x1p-24 * fabsf128(moments.mean), "a mean");
	if (spread && !strcmp(kernel->operator, "LayerNorm"))
		check_near(kernel, single, spread, row, moments.variance,
			   off * moments.variance + off * off * moments.magnitude * moments.magnitude, "a variance");
	else if (spread)
		check_near(kernel, single, spread, row, invstd,
			   invstd * (off * (1 + moments.magnitude * invstd) + 0x1p-24), "a deviation");
}

static void run_rows(const struct kernel *kernel, const struct row *row)
{
	const struct type *type = kernel->in;

	(void)row;
	for (int round = 0; round < 4 * ROW_SHAPES; round++) {
		int64_t m = row_shapes[round / 4][0], k = row_shapes[round / 4][1];
		size_t bytes = (size_t)(m * k) * type->size;
		void *x = random_reals(type, m * k, round % 3 - 3, 5), *scale = random_reals(type, k, -2, 2),
		     *bias = round % 2 ? random_reals(type, k, -2, 2) : NULL, *y = guarded(bytes),
		     *parts = guarded(bytes);
		int keeps = round % 4 == 1 && strcmp(kernel->operator, "RMSNormalization");
		size_t kept = (size_t)m * statistic(kernel)->size;
		void *mean = keeps ? guarded(kept) : NULL, *spread = keeps ? guarded(kept) : NULL;

		scale_elements(type, x, m * k, magnitude_for(type, round % 4 - 1));

		call_rows(kernel, x, scale, bias, y, mean, spread, m, k);
		check_front(kernel, y);
		for (int64_t r = 0; r < m; r++)
			check_row(kernel, x, scale, bias, y, mean, spread, r, k);
		for (int64_t r = 0; r < m; r++)
			call_rows(kernel, element_at(type, x, r * k), scale, bias, element_at(type, parts, r * k), NULL,
				  NULL, 1, k);
		check_bytes(kernel, "a part", parts, y, bytes);
		if (kernel->base) {
			call_rows(kernel->base, x, scale, bias, parts, NULL, NULL, m, k);
			check_bytes(kernel, "the base", parts, y, bytes);
		}
		call_rows(kernel, x, scale, bias, x, NULL, NULL, m, k);
		check_bytes(kernel, "in place", x, y, bytes);
	}
}

/* ---- channels ---- */

/* n images, in g groups of c channels each. For Batch- and InstanceNormalization each channel is a group. */
struct channels {
	int64_t n, g, c, i;
	const void *scale, *bias, *mean, *variance;
};

static const struct channels channel_shapes[] = {{.n = 0, .g = 2, .c = 1, .i = 5},  {.n = 1, .g = 1, .c = 1, .i = 1},
						 {.n = 2, .g = 3, .c = 2, .i = 5},  {.n = 1, .g = 2, .c = 3, .i = 63},
						 {.n = 2, .g = 2, .c = 1, .i = 64}, {.n = 2, .g = 1, .c = 4, .i = 65}};
enum { CHANNEL_SHAPES = sizeof channel_shapes / sizeof *channel_shapes };

/* Rows from `first` on; x and y are those of the first one. */
static void call_channels(const struct kernel *kernel, const struct channels *of, const void *x, void *y, int64_t first,
			  int64_t rows)
{
	if (!strcmp(kernel->operator, "GroupNormalization"))
		((void (*)(const void *, const void *, const void *, void *, int64_t, int64_t, int64_t, int64_t,
			   int64_t, float))kernel->function)(x, of->scale, of->bias, y, rows, first, of->g, of->c,
							     of->i, epsilon);
	else if (!strcmp(kernel->operator, "InstanceNormalization"))
		((void (*)(const void *, const void *, const void *, void *, int64_t, int64_t, int64_t, int64_t,
			   float))kernel->function)(x, of->scale, of->bias, y, rows, first, of->g, of->i, epsilon);
	else
		((void (*)(const void *, const void *, const void *, const void *, const void *, void *, int64_t,
			   int64_t, int64_t, int64_t, float))kernel->function)(
			x, of->scale, of->bias, of->mean, of->variance, y, rows, first, of->g, of->i, epsilon);
}

static void check_channels(const struct kernel *kernel, const struct channels *of, const struct type *numbers,
			   const void *x, const void *y)
{
	int64_t row = of->c * of->i;

	for (int64_t r = 0; r < of->n * of->g; r++) {
		struct moments moments = moments_of(kernel->in, x, r * row, row);

		if (of->mean) {
			moments.mean = get_wide(numbers, of->mean, r % of->g);
			moments.magnitude = fabsf128(moments.mean);
			moments.deviation = sqrtf128(get_wide(numbers, of->variance, r % of->g) + epsilon);
		}
		for (int64_t p = 0; p < row; p++) {
			int64_t channel = r % of->g * of->c + p / of->i;

			check_element(kernel, x, y, r * row + p, &moments, of->mean ? 0 : row,
				      get_wide(numbers, of->scale, channel), get_wide(numbers, of->bias, channel));
		}
	}
}

static void run_channels(const struct kernel *kernel, const struct row *row)
{
	const struct type *type = kernel->in;
	int is_batch = !strcmp(kernel->operator, "BatchNormalization");
	const struct type *numbers = is_batch && type->size == 2 ? find_type("f32") : type;

	(void)row;
	for (int round = 0; round < 3 * CHANNEL_SHAPES; round++) {
		struct channels of = channel_shapes[round / 3];

		if (strcmp(kernel->operator, "GroupNormalization")) {
			of.g *= of.c;
			of.c = 1;
		}
		int64_t size = of.c * of.i, rows = of.n * of.g, count = of.g * of.c;
		size_t bytes = (size_t)(rows * size) * type->size;
		void *x = random_reals(type, rows * size, -3, 5), *y = guarded(bytes), *parts = guarded(bytes);

		scale_elements(type, x, rows * size, is_batch ? 0 : magnitude_for(type, round % 3));
		of.scale = random_reals(numbers, count, -2, 2);
		of.bias = random_reals(numbers, count, -2, 2);
		of.mean = is_batch ? random_reals(numbers, count, -2, 2) : NULL;
		of.variance = is_batch ? random_reals(numbers, count, 0, 3) : NULL;
		call_channels(kernel, &of, x, y, 0, rows);
		check_front(kernel, y);
		check_channels(kernel, &of, numbers, x, y);
		for (int64_t r = 0; r < rows; r++)
			call_channels(kernel, &of, element_at(type, x, r * size), element_at(type, parts, r * size), r,
				      1);
		check_bytes(kernel, "a part", parts, y, bytes);
		if (kernel->base) {
			call_channels(kernel->base, &of, x, parts, 0, rows);
			check_bytes(kernel, "the base", parts, y, bytes);
		}
		call_channels(kernel, &of, x, x, 0, rows);
		check_bytes(kernel, "in place", x, y, bytes);
	}
}

/* ---- neighbours ---- */

typedef void respond(const void *x, void *y, int64_t n, int64_t c, int64_t i, int64_t size, float alpha, float beta,
		     float bias);

static void run_neighbours(const struct kernel *kernel, const struct row *row)
{
	static const int64_t widths[] = {0, 1, 63, 64, 65, 130};
	static const float alpha = 0.3f, beta = 0.75f, bias = 1.5f;
	const struct type *type = kernel->in;

	(void)row;
	for (int round = 0; round < 36; round++) {
		int64_t n = 2, c = between(1, 6), i = widths[round % 6], size = between(1, 7), image = c * i;
		size_t bytes = (size_t)(n * image) * type->size;
		void *x = random_reals(type, n * image, -4, 4), *y = guarded(bytes), *parts = guarded(bytes);

		scale_elements(type, x, n * image, magnitude_for(type, round / 12));
		((respond *)kernel->function)(x, y, n, c, i, size, alpha, beta, bias);
		check_front(kernel, y);
		for (int64_t at = 0; at < n * image; at++) {
			int64_t channel = at / (i ? i : 1) % c;
			wide square = 0, exact;

			for (int64_t k = channel - (size - 1) / 2; k <= channel + size / 2; k++)
				if (k >= 0 && k < c) {
					wide value = get_wide(type, x, at + (k - channel) * i);
					square += value * value;
				}
			exact = get_wide(type, x, at) / powf128(bias + alpha / (wide)size * square, beta);
			check_near(kernel, type, y, at, exact, (wide)(size + 8) * roundoff(type) * fabsf128(exact),
				   "an element");
		}
		for (int64_t part = 0; part < n; part++)
			((respond *)kernel->function)(element_at(type, x, part * image),
						      element_at(type, parts, part * image), 1, c, i, size, alpha, beta,
						      bias);
		check_bytes(kernel, "a part", parts, y, bytes);
		if (kernel->base) {
			((respond *)kernel->base->function)(x, parts, n, c, i, size, alpha, beta, bias);
			check_bytes(kernel, "the base", parts, y, bytes);
		}
	}
}

/* ---- the loss of a class ---- */

typedef void lose(const void *x, const int64_t *target, const void *weight, void *loss, void *applied, int64_t n,
		  int64_t c, int64_t i, int64_t ignored);

static void run_loss(const struct kernel *kernel, const struct row *row)
{
	static const int64_t widths[] = {0, 1, 63, 64, 65}, nowhere[] = {-1, INT64_MIN, INT64_MAX, 1 << 20};
	const struct type *type = kernel->in;

	(void)row;
	for (int round = 0; round < 20; round++) {
		int64_t n = between(1, 3), c = between(1, 9), i = widths[round % 5], ignored = round % 2 ? c - 1 : -100;
		int64_t *target = guarded((size_t)(n * i) * 8);
		void *x = random_reals(type, n * c * i, -20, 20),
		     *weight = round % 3 ? random_reals(type, c, 0, 3) : NULL,
		     *loss = guarded((size_t)(n * i) * type->size),
		     *applied = round % 4 ? guarded((size_t)(n * i) * type->size) : NULL;

		for (int64_t at = 0; at < n * i; at++)
			target[at] = at % 7 == 5 ? nowhere[at / 7 % 4] : at % 7 == 3 ? ignored : between(0, c - 1);
		((lose *)kernel->function)(x, target, weight, loss, applied, n, c, i, ignored);
		check_front(kernel, loss);
		for (int64_t at = 0; at < n * i; at++) {
			int64_t class = target[at];
			int inside = class >= 0 && class < c;
			wide by = class == ignored ? 0
				  : !inside	   ? (wide)__builtin_nan("")
				  : weight	   ? get_wide(type, weight, class)
						   : 1;
			wide exact = inside && class != ignored
					     ? -by * get_wide(type, x, (at / i * c + class) * i + at % i)
					     : by;

			check_near(kernel, type, loss, at, exact, roundoff(type) * fabsf128(exact), "a target");
			if (applied)
				check_near(kernel, type, applied, at, by, 0, "a target");
		}
	}
}

const struct row normal_rows[] = {
	{"LayerNormalization", run_rows},
	{"LayerNorm", run_rows},
	{"RMSNormalization", run_rows},
	{"InstanceNormalization", run_channels},
	{"GroupNormalization", run_channels},
	{"BatchNormalization", run_channels},
	{"LRN", run_neighbours},
	{"NegativeLogLikelihoodLoss", run_loss},
	{NULL},
};
