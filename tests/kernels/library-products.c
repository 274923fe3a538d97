/* library-products.c: gates, sums of products of integers with their scales, and products of batches in another order
 * of rows. Each is compared with its definition, in parts, as cores compute them. All but products, which have sums
 * that depend on the order, are also compared with the kernel for every processor, which must give the same bytes. */
#include "tests/kernels/library.h"

#include <string.h>

extern wide expf128(wide x), fabsf128(wide x);

static const int64_t shapes[][2] = {{0, 3}, {1, 1}, {3, 2}, {2, 63}, {3, 64}, {2, 65}, {1, 300}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* ---- gates ---- */

/* o rows of two halves, or two tensors, which are one row of each. */
static void call_gate(const struct kernel *kernel, const void *x, const void *gated, void *y, int64_t o, int64_t h)
{
	if (strstr(kernel->name, "_joined"))
		((void (*)(const void *, void *, int64_t, int64_t))kernel->function)(x, y, o, h);
	else
		((void (*)(const void *, const void *, void *, int64_t))kernel->function)(x, gated, y, h);
}

static void check_gate(const struct kernel *kernel, const void *x, const void *gated, const void *y, int64_t row,
		       int64_t h)
{
	const struct type *type = kernel->in;

	for (int64_t at = row * h; at < (row + 1) * h; at++) {
		wide from = get_wide(type, x, at + row * h), by = get_wide(type, gated, at + row * h);
		wide exact = from / (1 + expf128(-from)) * by;
		wide off = type->size == 2 ? rounding(type, from) * (1 + fabsf128(by)) : 0;

		check_near(kernel, type, y, at, exact, off + 8 * roundoff(type) * fabsf128(from * by), "a gate");
	}
}

static void run_gate(const struct kernel *kernel, const struct row *row)
{
	const struct type *type = kernel->in;
	int joined = strstr(kernel->name, "_joined") != NULL;

	(void)row;
	for (int round = 0; round < SHAPES; round++) {
		int64_t o = joined ? shapes[round][0] : 1, h = shapes[round][1];
		size_t bytes = (size_t)(o * h) * type->size;
		void *x = random_reals(type, 2 * o * h, -20, 8), *gated = element_at(type, x, h), *y = guarded(bytes),
		     *parts = guarded(bytes);

		call_gate(kernel, x, gated, y, o, h);
		check_front(kernel, y);
		for (int64_t r = 0; r < o; r++) {
			check_gate(kernel, x, gated, y, r, h);
			call_gate(kernel, element_at(type, x, 2 * r * h), gated, element_at(type, parts, r * h), 1, h);
		}
		check_bytes(kernel, "a part", parts, y, bytes);
		if (kernel->base) {
			call_gate(kernel->base, x, gated, parts, o, h);
			check_bytes(kernel, "the base", parts, y, bytes);
		}
	}
}

/* ---- gates between quantised tensors ---- */

enum { OPTIONS = 7 };

/* One call: m rows of two halves of h elements. Options are the inputs after x, in their order. */
struct gate {
	const struct kernel *kernel;
	int64_t m, h, left, dynamic;
	void *x, *options[OPTIONS], *y, *scale, *room;
};

static void call_quantised(const struct kernel *kernel, const struct gate *g)
{
	void *const *o = g->options;

	((void (*)(void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, int64_t, int64_t,
		   int64_t, int64_t, void *))kernel->function)(g->x, o[0], o[1], o[2], o[3], o[4], o[5], o[6], g->y,
							       g->scale, g->m, g->h, g->left, g->dynamic, g->room);
}

/* Element `at` of x dequantised, and how far it may be off where it is computed. */
static wide dequantised(const struct gate *g, int64_t at, wide *off)
{
	const struct type *single = find_type("f32"), *type = g->kernel->in;
	int64_t row = at / (2 * g->h), column = at % (2 * g->h), places[] = {column, at, row};
	wide number = get_wide(type, g->x, at), after = 0;

	if (g->options[3])
		number += get_wide(find_type("i32"), g->options[3], column);
	for (int i = 0; i < 3; i++)
		number *= g->options[i] ? get_wide(single, g->options[i], places[i]) : (wide)1;
	if (g->options[4])
		after = get_wide(single, g->options[4], column);
	*off = 0x1p-24L * (4 * fabsf128(number) + fabsf128(after) + fabsf128(number + after));
	return number + after;
}

/* Element `at` of the gate's result, of rows of h elements. */
static wide gated(const struct gate *g, int64_t at, wide *off)
{
	int64_t first = at / g->h * 2 * g->h + at % g->h;
	wide gate_off, by_off, gate = dequantised(g, first + (g->left ? 0 : g->h), &gate_off);
	wide by = dequantised(g, first + (g->left ? g->h : 0), &by_off), swish = gate / (1 + expf128(-gate));

	*off = (gate_off * (wide)1.1 + 8 * 0x1p-24L * fabsf128(gate)) * (fabsf128(by) + by_off) +
	       fabsf128(swish) * by_off;
	return swish * by;
}

static wide within_bytes(wide number)
{
	return number < -128 ? -128 : number > 127 ? 127 : number;
}

static void check_quantised(const struct gate *g)
{
	const struct type *single = find_type("f32"), *byte = find_type("i8");

	for (int64_t row = 0; row < g->m; row++) {
		wide most = 0, most_off = 0, off, step = 1, offset;

		for (int64_t p = 0; p < g->h; p++) {
			wide by = g->options[5] ? get_wide(single, g->options[5], p) : (wide)1;
			wide z = gated(g, row * g->h + p, &off) * by;

			most = fabsf128(z) > most ? fabsf128(z) : most;
			most_off = fabsf128(by) * off > most_off ? fabsf128(by) * off : most_off;
		}
		if (g->scale)
			check_near(g->kernel, single, g->scale, row, g->dynamic ? most / 127 : (wide)0,
				   g->dynamic ? most_off / 127 + 4 * most * 0x1p-24L : (wide)0, "a scale");
		for (int64_t p = 0; g->y && p < g->h; p++) {
			wide by = g->options[5] ? get_wide(single, g->options[5], p) : (wide)1;
			wide z = gated(g, row * g->h + p, &off);

			offset = g->options[6] ? get_wide(single, g->options[6], p) : (wide)0;
			step = g->dynamic ? most / 127 / by : by;
			if (g->dynamic && most == 0)
				z = 0, step = 1, most_off = 0;
			off = (g->dynamic ? 2 * most_off / (step * by) : off / fabsf128(step)) +
			      8 * 0x1p-24L * (fabsf128(z / step) + fabsf128(offset));
			check_near(g->kernel, byte, g->y, row * g->h + p, within_bytes(z / step + offset), off + 0.5,
				   "a gate of integers");
		}
	}
}

static struct gate random_gate(const struct kernel *kernel, int round)
{
	const struct type *single = find_type("f32"), *type = kernel->in;
	struct gate g = {.kernel = kernel,
			 .m = shapes[round / 4][0],
			 .h = shapes[round / 4][1],
			 .left = round % 2,
			 .dynamic = round / 2 % 2};
	int64_t n = 2 * g.h, counts[OPTIONS] = {n, g.m * n, g.m, n, n, g.h, g.h};
	uint64_t present = random_bits();

	g.x = type->is_float ? random_reals(type, g.m * n, -6, 6) : random_elements(type, g.m * n);
	for (int64_t at = 0; !type->is_float && at < g.m * n; at++)
		put_whole(type, g.x, at, round % 5 ? between(-50, 50) : 0);
	for (int i = 0; i < OPTIONS; i++)
		if (present >> i & 1 && (i != 3 || !type->is_float) && (i != 6 || !g.dynamic))
			g.options[i] = random_reals(single, counts[i], i < 4 ? -1 : i == 5 ? 0.02 : -4, i < 4 ? 1 : 4);
	for (int64_t at = 0; g.options[3] && at < n; at++)
		put_whole(find_type("i32"), g.options[3], at, between(-50, 50));
	g.y = guarded((size_t)(g.m * g.h));
	g.scale = guarded((size_t)g.m * 4);
	g.room = guarded((size_t)n * 4);
	return g;
}

static void run_quantised(const struct kernel *kernel, const struct row *row)
{
	const struct type *single = find_type("f32");

	(void)row;
	for (int round = 0; round < 4 * SHAPES; round++) {
		struct gate g = random_gate(kernel, round), other = g;

		call_quantised(kernel, &g);
		check_front(kernel, g.y);
		check_front(kernel, g.scale);
		check_front(kernel, g.room);
		check_quantised(&g);
		other.y = guarded((size_t)(g.m * g.h));
		other.scale = guarded((size_t)g.m * 4);
		for (int64_t r = 0; r < g.m; r++) {
			struct gate part = other;

			part.m = 1;
			part.x = element_at(kernel->in, g.x, 2 * r * g.h);
			part.options[1] = g.options[1] ? element_at(single, g.options[1], 2 * r * g.h) : NULL;
			part.options[2] = g.options[2] ? element_at(single, g.options[2], r) : NULL;
			part.y = (int8_t *)other.y + r * g.h;
			part.scale = r % 2 ? element_at(single, other.scale, r) : NULL;
			call_quantised(kernel, &part);
			part.y = NULL;
			part.scale = element_at(single, other.scale, r);
			call_quantised(kernel, &part);
		}
		check_bytes(kernel, "a part", other.y, g.y, (size_t)(g.m * g.h));
		check_bytes(kernel, "a part", other.scale, g.scale, (size_t)g.m * 4);
		if (kernel->base) {
			call_quantised(kernel->base, &other);
			check_bytes(kernel, "the base", other.y, g.y, (size_t)(g.m * g.h));
			check_bytes(kernel, "the base", other.scale, g.scale, (size_t)g.m * 4);
		}
	}
}

/* ---- products ---- */

static void run_sums(const struct kernel *kernel, const struct row *row)
{
	const struct type *single = find_type("f32"), *integer = find_type("i32");

	(void)row;
	for (int round = 0; round < 2 * SHAPES; round++) {
		int64_t m = shapes[round / 2][0], n = shapes[round / 2][1];
		size_t bytes = (size_t)(m * n) * kernel->out->size;
		void *sums = random_elements(integer, m * n), *scale = random_reals(single, n, -3, 3),
		     *bias = round % 2 ? random_elements(integer, n) : NULL,
		     *rows = round % 3 ? random_reals(single, m, 0, 2) : NULL,
		     *plus = round % 4 / 2 ? random_reals(single, n, -9, 9) : NULL, *y = guarded(bytes),
		     *other = guarded(bytes);
		void (*f)(void *, void *, void *, void *, void *, void *, int64_t, int64_t) = (void *)kernel->function;
		int most = kernel->out->is_float ? 3000 : 60;

		for (int64_t at = 0; kernel->out->greatest < 20 && at < m * n; at++) /* which f16 has */
			put_whole(integer, sums, at, between(-most, most));
		for (int64_t at = 0; kernel->out->greatest < 20 && bias && at < n; at++)
			put_whole(integer, bias, at, between(-most, most));
		f(sums, scale, bias, rows, plus, y, m, n);
		check_front(kernel, y);
		for (int64_t at = 0; at < m * n; at++) {
			int32_t sum = (int32_t)(uint32_t)(get_whole(integer, sums, at) +
							  (bias ? get_whole(integer, bias, at % n) : 0));
			wide exact = (wide)sum * get_wide(single, scale, at % n) *
				     (rows ? get_wide(single, rows, at / n) : (wide)1);

			wide off = 3 * 0x1p-24L * fabsf128(exact);

			if (plus) {
				exact += get_wide(single, plus, at % n);
				off += 0x1p-24L * fabsf128(exact);
			}
			if (kernel->out->is_float)
				check_near(kernel, kernel->out, y, at, exact, off, "a sum");
			else
				check_near(kernel, kernel->out, y, at, within_bytes(exact), off + 0.5, "a sum");
		}
		for (int64_t r = 0; r < m; r++)
			f(element_at(integer, sums, r * n), scale, bias, rows ? element_at(single, rows, r) : NULL,
			  plus, element_at(kernel->out, other, r * n), 1, n);
		check_bytes(kernel, "a part", other, y, bytes);
		if (kernel->base) {
			f = (void *)kernel->base->function;
			f(sums, scale, bias, rows, plus, other, m, n);
			check_bytes(kernel, "the base", other, y, bytes);
		}
	}
}

/* a [batches,rows,k] or [rows,batches,k], b [batches,k,n] -> y [rows,batches,n]. Levels differ in rounding. */
static void run_transposed(const struct kernel *kernel, const struct row *row)
{
	static const int64_t sizes[][4] = {
		{1, 1, 1, 1}, {3, 5, 7, 9}, {2, 63, 65, 17}, {5, 64, 16, 48}, {2, 266, 300, 33}};
	const struct type *type = kernel->in;
	void (*f)(void *, void *, void *, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, void *, void *) =
		(void *)kernel->function;
	int turned = strstr(kernel->operator, "turned") != NULL;

	(void)row;
	for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
		int64_t batches = sizes[s][0], m = sizes[s][1], k = sizes[s][2], n = sizes[s][3], part = 1 + m / 3;
		size_t bytes = (size_t)(m * batches * n) * type->size;
		void *a = random_reals(type, batches * m * k, -1, 1), *b = random_reals(type, batches * k * n, -1, 1),
		     *y = guarded(bytes), *parts = guarded(bytes), *room = guarded(114688 * 4),
		     *sums = guarded(264 * (size_t)n * 4);

		f(a, b, y, m, batches, k, n, 0, m, room, sums);
		check_front(kernel, y);
		for (int64_t first = 0; first < m; first += part)
			f(turned ? element_at(type, a, first * batches * k) : a, b,
			  element_at(type, parts, first * batches * n), m - first < part ? m - first : part, batches, k,
			  n, first, m, room, sums);
		check_bytes(kernel, "a part", parts, y, bytes);
		for (int64_t at = 0; at < m * batches * n; at += 1 + m * n / 500) {
			int64_t r = at / n / batches, batch = at / n % batches;
			wide exact = 0, magnitude = 0;

			for (int64_t p = 0; p < k; p++) {
				wide step = get_wide(type, a, (turned ? r * batches + batch : batch * m + r) * k + p) *
					    get_wide(type, b, (batch * k + p) * n + at % n);

				exact += step;
				magnitude += fabsf128(step);
			}
			check_near(kernel, type, y, at, exact, (k + 2) * roundoff(type) * magnitude, "a product");
		}
	}
}

const struct row product_rows[] = {
	{"DequantSwigluQuant", run_quantised},
	{"DequantizeSums", run_sums},
	{"SwiGlu", run_gate},
	{"TransposeBatchMatMul", run_transposed},
	{"TransposeBatchMatMul(turned=1)", run_transposed},
	{NULL},
};
