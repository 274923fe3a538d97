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
		     *rows = round % 3 ? random_reals(single, m, 0, 2) : NULL, *y = guarded(bytes),
		     *other = guarded(bytes);
		void (*f)(void *, void *, void *, void *, void *, int64_t, int64_t) = (void *)kernel->function;

		for (int64_t at = 0; kernel->out->greatest < 20 && at < m * n; at++) /* which f16 has */
			put_whole(integer, sums, at, between(-3000, 3000));
		for (int64_t at = 0; kernel->out->greatest < 20 && bias && at < n; at++)
			put_whole(integer, bias, at, between(-3000, 3000));
		f(sums, scale, bias, rows, y, m, n);
		check_front(kernel, y);
		for (int64_t at = 0; at < m * n; at++) {
			int32_t sum = (int32_t)(uint32_t)(get_whole(integer, sums, at) +
							  (bias ? get_whole(integer, bias, at % n) : 0));
			wide exact = (wide)sum * get_wide(single, scale, at % n) *
				     (rows ? get_wide(single, rows, at / n) : (wide)1);

			check_near(kernel, kernel->out, y, at, exact, 3 * 0x1p-24L * fabsf128(exact), "a sum");
		}
		for (int64_t r = 0; r < m; r++)
			f(element_at(integer, sums, r * n), scale, bias, rows ? element_at(single, rows, r) : NULL,
			  element_at(kernel->out, other, r * n), 1, n);
		check_bytes(kernel, "a part", other, y, bytes);
		if (kernel->base) {
			f = (void *)kernel->base->function;
			f(sums, scale, bias, rows, other, m, n);
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
	{"DequantizeSums", run_sums},
	{"SwiGlu", run_gate},
	{"TransposeBatchMatMul", run_transposed},
	{"TransposeBatchMatMul(turned=1)", run_transposed},
	{NULL},
};
