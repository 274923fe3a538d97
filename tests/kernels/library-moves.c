/* library-moves.c: kernels that move elements: copies, Gather and Scatter, Pad, results made of row and column numbers,
 * and packing. Each is compared with plain loops, for the whole result and for parts of it, as cores compute them;
 * numbers that are out of range must be refused. */
#include "tests/kernels/library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t lengths[] = {0, 1, 63, 64, 65};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

static int has(const struct kernel *kernel, const char *word)
{
	return strstr(kernel->operator, word) != NULL;
}

/* Element `from` of x, as element `to` of the expected results. */
static void expect(const struct type *type, void *expected, int64_t to, const void *x, int64_t from)
{
	memcpy(element_at(type, expected, to), element_at(type, x, from), type->size);
}

static void expect_zero(const struct type *type, void *expected, int64_t to)
{
	memset(element_at(type, expected, to), 0, type->size);
}

/* ---- copies ---- */

static void copy_same(const struct kernel *kernel)
{
	for (int i = 0; i < LENGTHS; i++) {
		size_t bytes = (size_t)lengths[i] * kernel->in->size;
		void *x = random_elements(kernel->in, lengths[i]), *y = guarded(bytes);

		((void (*)(const void *, void *, int64_t))kernel->function)(x, y, lengths[i]);
		check_front(kernel, y);
		check_bytes(kernel, "a copy", y, x, bytes);
	}
}

/* Rows of y are followed by a gap, which must not be touched. */
static void copy_rows(const struct kernel *kernel)
{
	const struct type *type = kernel->in;

	for (int i = 0; i < LENGTHS; i++) {
		int64_t k = lengths[i], m = 3, stride = k + i % 3;
		size_t bytes = (size_t)(m * stride) * type->size;
		void *x = random_elements(type, m * k), *y = guarded(bytes), *expected = guarded(bytes);

		for (int64_t e = 0; e < m * k; e++)
			expect(type, expected, e / k * stride + e % k, x, e);
		((void (*)(const void *, void *, int64_t, int64_t, int64_t))kernel->function)(x, y, m, k, stride);
		check_front(kernel, y);
		check_bytes(kernel, "a copy", y, expected, bytes);
	}
}

struct strided {
	int64_t rank, dims[8], strides[8], offset, size; /* of x */
};

static void copy_strided(const struct kernel *kernel)
{
	static const struct strided calls[] = {
		{0, {0}, {0}, 3, 4},
		{1, {65}, {1}, 2, 67},
		{1, {64}, {-1}, 63, 64},
		{1, {63}, {0}, 1, 2},
		{2, {5, 63}, {0, 1}, 0, 63},
		{3, {3, 5, 7}, {1, 3, 15}, 0, 105},
		{3, {3, 5, 7}, {35, -7, 2}, 28, 112},
		{8, {2, 1, 2, 3, 1, 2, 2, 2}, {48, 0, 24, 8, 0, 4, 2, 1}, 0, 96},
		{2, {0, 4}, {4, 1}, 0, 1},
	};
	typedef void copy(const void *, void *, int64_t, int64_t, int64_t, const int64_t *, const int64_t *, int64_t);

	for (size_t c = 0; c < sizeof calls / sizeof *calls; c++) {
		const struct strided *call = &calls[c];
		const struct type *type = kernel->in;
		int64_t n = 1;
		for (int64_t d = 0; d < call->rank; d++)
			n *= call->dims[d];
		size_t bytes = (size_t)n * type->size;
		void *x = random_elements(type, call->size), *y = guarded(bytes), *expected = guarded(bytes);

		for (int64_t e = 0; e < n; e++) {
			int64_t rest = e, from = call->offset;
			for (int64_t d = call->rank - 1; d >= 0; rest /= call->dims[d], d--)
				from += rest % call->dims[d] * call->strides[d];
			expect(type, expected, e, x, from);
		}
		for (int64_t first = 0, count = 1; first < n; first += count, count = n - first < 50 ? n - first : 50)
			((copy *)kernel->function)(x, element_at(type, y, first), count, first, call->rank, call->dims,
						   call->strides, call->offset);
		check_front(kernel, y);
		check_bytes(kernel, "a copy", y, expected, bytes);
	}
}

static void copy_turned(const struct kernel *kernel)
{
	static const int64_t extents[] = {1, 15, 16, 17, 63, 64, 65};

	for (int i = 0; i < 49; i++) {
		const struct type *type = kernel->in;
		int64_t m = extents[i / 7], n = extents[i % 7], rows = 2 * n, part = 1 + rows / 3;
		size_t bytes = (size_t)(2 * m * n) * type->size;
		void *x = random_elements(type, 2 * m * n), *y = guarded(bytes), *expected = guarded(bytes);

		for (int64_t e = 0; e < 2 * m * n; e++)
			expect(type, expected, e / (m * n) * m * n + e % n * m + e / n % m, x, e);
		for (int64_t first = 0; first < rows; first += part)
			((void (*)(const void *, void *, int64_t, int64_t, int64_t, int64_t))kernel->function)(
				x, element_at(type, y, first * m), rows - first < part ? rows - first : part, m, first,
				n);
		check_front(kernel, y);
		check_bytes(kernel, "a copy", y, expected, bytes);
	}
}

static void run_copy(const struct kernel *kernel, const struct row *row)
{
	(void)row;
	if (!strcmp(kernel->form, "rows"))
		copy_rows(kernel);
	else if (!strcmp(kernel->form, "strided"))
		copy_strided(kernel);
	else if (!strcmp(kernel->form, "transpose"))
		copy_turned(kernel);
	else
		copy_same(kernel);
}

/* ---- rows by number ---- */

static void run_gather(const struct kernel *kernel, const struct row *row)
{
	typedef int gather(const void *, const void *, void *, int64_t, int64_t, int64_t, int64_t, int64_t);
	const struct type *type = kernel->in, *number = find_type(strstr(kernel->name, "_i32") ? "i32" : "i64");

	(void)row;
	for (int round = 0; round < 4 * LENGTHS; round++) {
		int64_t i = lengths[round % LENGTHS], outer = between(1, 3), k = between(1, 66), j = between(1, 66);
		int64_t rows = outer * j, part = 1 + rows / 3;
		size_t bytes = (size_t)(rows * i) * type->size;
		void *x = random_elements(type, outer * k * i), *indices = guarded((size_t)j * number->size),
		     *y = guarded(bytes), *expected = guarded(bytes);

		for (int64_t n = 0; n < j; n++)
			put_whole(number, indices, n, n < 2 ? (n ? -k : k - 1) : between(-k, k - 1));
		for (int64_t e = 0; e < rows * i; e++) {
			int64_t index = (int64_t)get_whole(number, indices, e / i % j);
			expect(type, expected, e, x, (e / i / j * k + (index < 0 ? index + k : index)) * i + e % i);
		}
		for (int64_t first = 0; first < rows; first += part)
			check_status(kernel, "a number in range",
				     ((gather *)kernel->function)(x, indices, element_at(type, y, first * i),
								  rows - first < part ? rows - first : part, first, i,
								  j, k),
				     0);
		check_front(kernel, y);
		check_bytes(kernel, "a row", y, expected, bytes);
		put_whole(number, indices, j - 1,
			  round % 4 == 0   ? k
			  : round % 4 == 1 ? -k - 1
			  : round % 4 == 2 ? ((whole)1 << (8 * number->size - 1)) - 1
					   : -((whole)1 << (8 * number->size - 1)));
		check_status(kernel, "a number out of range",
			     ((gather *)kernel->function)(x, indices, y, rows, 0, i, j, k), 1);
	}
}

/* Numbers that no tensor has a row for. */
static const int64_t far_away[] = {INT64_MAX, INT64_MIN, 1 << 20, -(1 << 20)};

static void run_element_places(const struct kernel *kernel, const struct row *row)
{
	typedef int find(const int64_t *, int64_t *, int64_t, int64_t, int64_t, const int64_t *, const int64_t *,
			 int64_t, int64_t);
	find *call = (find *)kernel->function;

	(void)row;
	for (int round = 0; round < 40; round++) {
		int64_t rank = between(0, 4), n = 1, dims[4], strides[4], k = between(1, 65), step = between(1, 9);
		for (int64_t d = 0; d < rank; d++) {
			n *= dims[d] = between(1, d == 3 ? 65 : 4);
			strides[d] = between(0, 50);
		}
		int64_t *indices = guarded((size_t)n * 8), *places = guarded((size_t)n * 8);
		int64_t half = n / 2;

		for (int64_t e = 0; e < n; e++)
			indices[e] = between(-k, k - 1);
		check_status(kernel, "a number in range", call(indices, places, half, 0, rank, dims, strides, k, step),
			     0);
		check_status(kernel, "a number in range",
			     call(indices + half, places + half, n - half, half, rank, dims, strides, k, step), 0);
		check_front(kernel, places);
		for (int64_t e = 0; e < n; e++) {
			int64_t rest = e, place = (indices[e] < 0 ? indices[e] + k : indices[e]) * step;
			for (int64_t d = rank - 1; d >= 0; rest /= dims[d], d--)
				place += rest % dims[d] * strides[d];
			check_whole(kernel, places, e, place, "indices");
		}
		indices[n - 1] = round % 3 ? far_away[round % 4] : round % 2 ? k : -k - 1;
		check_status(kernel, "a number out of range", call(indices, places, n, 0, rank, dims, strides, k, step),
			     1);
	}
}

static void run_tuple_places(const struct kernel *kernel, const struct row *row)
{
	typedef int find(const int64_t *, int64_t *, int64_t, int64_t, int64_t, int64_t, const int64_t *);
	find *call = (find *)kernel->function;

	(void)row;
	for (int round = 0; round < 40; round++) {
		int64_t q = between(1, 4), dims[4], per = between(1, 9), m = per * between(1, 9), half = m / 2;
		int64_t *indices = guarded((size_t)(m * q) * 8), *places = guarded((size_t)m * 8);

		for (int64_t d = 0; d < q; d++)
			dims[d] = between(1, 65);
		for (int64_t e = 0; e < m * q; e++)
			indices[e] = between(-dims[e % q], dims[e % q] - 1);
		check_status(kernel, "a number in range", call(indices, places, half, q, 0, per, dims), 0);
		check_status(kernel, "a number in range",
			     call(indices + half * q, places + half, m - half, q, half, per, dims), 0);
		check_front(kernel, places);
		for (int64_t e = 0; e < m; e++) {
			int64_t place = e / per;
			for (int64_t d = 0; d < q; d++)
				place = place * dims[d] + indices[e * q + d] + (indices[e * q + d] < 0 ? dims[d] : 0);
			check_whole(kernel, places, e, place, "tuples");
		}
		indices[m * q - 1] = round % 3 ? far_away[round % 4] : round % 2 ? dims[q - 1] : -dims[q - 1] - 1;
		check_status(kernel, "a number out of range", call(indices, places, m, q, 0, per, dims), 1);
	}
}

/* ---- Scatter ---- */

/* Combine an update into the row of x; floats are rounded once for each update. */
static void combine(const struct kernel *kernel, void *to, int64_t at, const void *updates, int64_t from)
{
	const struct type *type = kernel->in;

	if (!has(kernel, "reduction")) {
		expect(type, to, at, updates, from);
		return;
	}
	if (!type->is_float) {
		whole a = get_whole(type, to, at), b = get_whole(type, updates, from);
		put_whole(type, to, at,
			  has(kernel, "=add")	? a + b
			  : has(kernel, "=mul") ? (whole)((uint64_t)a * (uint64_t)b)
			  : has(kernel, "=max") ? a > b ? a : b
			  : a < b		? a
						: b);
		return;
	}
	wide a = get_wide(type, to, at), b = get_wide(type, updates, from);
	wide most = a > b || a != a ? a : b, least = a < b || a != a ? a : b;
	put_wide(type, to, at,
		 has(kernel, "=add")   ? a + b
		 : has(kernel, "=mul") ? a * b
		 : has(kernel, "=max") ? most
				       : least);
}

static void run_scatter(const struct kernel *kernel, const struct row *row)
{
	typedef void scatter(const void *, const int64_t *, const void *, void *, int64_t, int64_t, int64_t, int64_t);
	scatter *call = (scatter *)kernel->function;
	const struct type *type = kernel->in;

	(void)row;
	for (int round = 0; round < 4 * LENGTHS; round++) {
		int64_t i = lengths[round % LENGTHS], n = between(1, 65), m = round == 7 ? 0 : between(1, 65),
			half = n / 2;
		size_t bytes = (size_t)(n * i) * type->size;
		/* Special numbers meet, and random ones. */
		void *x = random_elements(type, n * i), *updates = random_elements(type, m * i), *y = guarded(bytes),
		     *expected = memcpy(guarded(bytes), x, bytes);
		int64_t *places = guarded((size_t)m * 8);

		for (int64_t r = 0; r < m; r++) {
			places[r] = between(0, n - 1);
			for (int64_t e = 0; e < i; e++)
				combine(kernel, expected, places[r] * i + e, updates, r * i + e);
		}
		call(x, places, updates, y, half, i, m, 0);
		call(element_at(type, x, half * i), places, updates, element_at(type, y, half * i), n - half, i, m,
		     half);
		check_front(kernel, y);
		check_same(kernel, "a row", y, expected, bytes);
		call(x, places, updates, x, n, i, m, 0);
		check_same(kernel, "in place", x, y, bytes);
	}
}

/* ---- Pad ---- */

/* Return the source of index i of a dimension, one step at a time; -1 if it has none. */
static int64_t padded_from(const struct kernel *kernel, int64_t i, int64_t size)
{
	if (has(kernel, "constant"))
		return i >= 0 && i < size ? i : -1;
	if (has(kernel, "edge"))
		return i < 0 ? 0 : i >= size ? size - 1 : i;
	while (has(kernel, "wrap") && (i < 0 || i >= size))
		i += i < 0 ? size : -size;
	while (i < 0 || i >= size)
		i = size == 1 ? 0 : i < 0 ? -i : 2 * (size - 1) - i;
	return i;
}

static void run_pad(const struct kernel *kernel, const struct row *row)
{
	typedef void pad(const void *, const void *, void *, int64_t, int64_t, int64_t, const int64_t *,
			 const int64_t *, const int64_t *, const int64_t *, int64_t);
	const struct type *type = kernel->in;

	(void)row;
	for (int round = 0; round < 60; round++) {
		int64_t rank = between(1, 4), n = 1, all = 1, dims[4], sizes[4], pads[4], strides[4];
		for (int64_t d = rank - 1; d >= 0; d--) {
			sizes[d] = d == rank - 1 && round % 3 == 0 ? between(63, 65) : between(1, 4);
			pads[d] = between(-2, 5);
			n *= dims[d] = between(1, 70 / (1 + 8 * (d < rank - 1)));
			strides[d] = all;
			all *= sizes[d] + 1; /* the block is a part of x */
		}
		size_t bytes = (size_t)n * type->size;
		int64_t offset = between(0, 3), half = n / 2;
		void *x = random_elements(type, all + offset), *number = round % 2 ? random_elements(type, 1) : NULL,
		     *y = guarded(bytes), *expected = guarded(bytes);

		if (number)
			put_whole(type, number, 0, 0x1234567890abcdef);
		for (int64_t e = 0; e < n; e++) {
			int64_t rest = e, from = offset, inside = 1;
			for (int64_t d = rank - 1; d >= 0; rest /= dims[d], d--) {
				int64_t place = padded_from(kernel, rest % dims[d] - pads[d], sizes[d]);
				inside &= place >= 0;
				from += place * strides[d];
			}
			if (inside)
				expect(type, expected, e, x, from);
			else if (number)
				expect(type, expected, e, number, 0);
			else
				expect_zero(type, expected, e);
		}
		((pad *)kernel->function)(x, number, y, half, 0, rank, dims, sizes, pads, strides, offset);
		((pad *)kernel->function)(x, number, element_at(type, y, half), n - half, half, rank, dims, sizes, pads,
					  strides, offset);
		check_front(kernel, y);
		check_bytes(kernel, "an element", y, expected, bytes);
	}
}

/* ---- numbers of rows and columns ---- */

static void run_one_hot(const struct kernel *kernel, const struct row *row)
{
	typedef void one_hot(const int64_t *, const void *, void *, int64_t, int64_t, int64_t, int64_t);
	const struct type *type = kernel->out;

	(void)row;
	for (int round = 0; round < 2 * LENGTHS; round++) {
		int64_t i = lengths[round % LENGTHS], outer = between(1, 3), depth = between(1, 65);
		int64_t rows = outer * depth, half = rows / 2, *indices = guarded((size_t)(outer * i) * 8);
		size_t bytes = (size_t)(rows * i) * type->size;
		void *values = random_elements(type, 2), *y = guarded(bytes), *expected = guarded(bytes);

		put_whole(type, values, 0, 0x77);
		for (int64_t e = 0; e < outer * i; e++) /* some of them nowhere */
			indices[e] = e % 17 == 3 ? far_away[e % 4] : between(-depth - 1, depth);
		for (int64_t e = 0; e < rows * i; e++) {
			int64_t index = indices[e / i / depth * i + e % i], at = e / i % depth;
			expect(type, expected, e, values, index == at || index == at - depth);
		}
		((one_hot *)kernel->function)(indices, values, y, half, i, 0, depth);
		((one_hot *)kernel->function)(indices, values, element_at(type, y, half * i), rows - half, i, half,
					      depth);
		check_front(kernel, y);
		check_bytes(kernel, "an element", y, expected, bytes);
	}
}

static void run_eye(const struct kernel *kernel, const struct row *row)
{
	typedef void eye(const void *, const void *, void *, int64_t, int64_t, int64_t, int64_t);
	const struct type *type = kernel->out;

	(void)row;
	for (int round = 0; round < 6 * LENGTHS; round++) {
		int64_t c = lengths[round % LENGTHS], rows = between(1, 65), half = rows / 2, k = between(-70, 70);
		size_t bytes = (size_t)(rows * c) * type->size;
		void *zero = random_elements(type, 1), *one = guarded(type->size), *y = guarded(bytes),
		     *expected = guarded(bytes);

		put_whole(type, one, 0, 0x71);
		for (int64_t e = 0; e < rows * c; e++)
			expect(type, expected, e, e % c == e / c + k ? one : zero, 0);
		((eye *)kernel->function)(zero, one, y, half, c, 0, k);
		((eye *)kernel->function)(zero, one, element_at(type, y, half * c), rows - half, c, half, k);
		check_front(kernel, y);
		check_bytes(kernel, "an element", y, expected, bytes);
	}
}

static void run_triangle(const struct kernel *kernel, const struct row *row)
{
	typedef void triangle(const void *, const int64_t *, void *, int64_t, int64_t, int64_t, int64_t, int64_t);
	triangle *call = (triangle *)kernel->function;
	const struct type *type = kernel->in;

	(void)row;
	for (int round = 0; round < 12 * LENGTHS; round++) {
		int64_t c = lengths[round % LENGTHS], m = between(1, 65), rows = 2 * m, half = between(0, rows),
			upper = round % 2;
		int64_t *shift = guarded(8);
		size_t bytes = (size_t)(rows * c) * type->size;
		void *x = random_elements(type, rows * c), *y = guarded(bytes), *expected = guarded(bytes);

		*shift = round % 7 ? between(-70, 70) : far_away[round / 7 % 4];
		shift = round % 5 ? shift : NULL;
		for (int64_t e = 0; e < rows * c; e++) {
			__int128 above = (__int128)(e % c) - e / c % m - (shift ? *shift : 0);
			if (upper ? above >= 0 : above <= 0)
				expect(type, expected, e, x, e);
			else
				expect_zero(type, expected, e);
		}
		call(x, shift, y, half, c, 0, m, upper);
		call(element_at(type, x, half * c), shift, element_at(type, y, half * c), rows - half, c, half, m,
		     upper);
		check_front(kernel, y);
		check_bytes(kernel, "an element", y, expected, bytes);
		call(x, shift, x, rows, c, 0, m, upper);
		check_bytes(kernel, "in place", x, y, bytes);
	}
}

static void run_reverse(const struct kernel *kernel, const struct row *row)
{
	typedef int reverse(const void *, const int64_t *, void *, int64_t, int64_t, int64_t, int64_t, int64_t,
			    int64_t);
	reverse *call = (reverse *)kernel->function;
	const struct type *type = kernel->in;

	(void)row;
	for (int round = 0; round < 4 * LENGTHS; round++) {
		int64_t i = lengths[round % LENGTHS], batch = between(1, 5), time = between(1, 9), rows = batch * time;
		int64_t time_first = round % 2, half = rows / 2, *sequence_lengths = guarded((size_t)batch * 8);
		size_t bytes = (size_t)(rows * i) * type->size;
		void *x = random_elements(type, rows * i), *y = guarded(bytes), *expected = guarded(bytes);

		for (int64_t b = 0; b < batch; b++)
			sequence_lengths[b] = between(0, time);
		for (int64_t e = 0; e < rows * i; e++) {
			int64_t at = e / i, b = time_first ? at % batch : at / time,
				t = time_first ? at / batch : at % time;
			int64_t from = t < sequence_lengths[b] ? sequence_lengths[b] - 1 - t : t;
			expect(type, expected, e, x, (time_first ? from * batch + b : b * time + from) * i + e % i);
		}
		check_status(kernel, "a length in range",
			     call(x, sequence_lengths, y, half, i, 0, batch, time, time_first), 0);
		check_status(kernel, "a length in range",
			     call(x, sequence_lengths, element_at(type, y, half * i), rows - half, i, half, batch, time,
				  time_first),
			     0);
		check_front(kernel, y);
		check_bytes(kernel, "a row", y, expected, bytes);
		sequence_lengths[batch - 1] = round % 3 ? far_away[round % 4] : round % 2 ? time + 1 : -1;
		check_status(kernel, "a length out of range",
			     call(x, sequence_lengths, y, rows, i, 0, batch, time, time_first), 1);
	}
}

static void run_range(const struct kernel *kernel, const struct row *row)
{
	typedef void count(const void *, const void *, void *, int64_t, int64_t);
	const struct type *type = kernel->out;

	(void)row;
	for (int round = 0; round < 4 * LENGTHS; round++) {
		int64_t n = lengths[round % LENGTHS], half = n / 2;
		void *start = type->is_float ? random_reals(type, 1, -100, 100) : random_elements(type, 9),
		     *step = type->is_float ? random_reals(type, 1, -100, 100) : random_elements(type, 10),
		     *y = guarded((size_t)n * type->size);
		/* Integers start at the greatest one and others. */
		start = type->is_float ? start : element_at(type, start, round % 9);
		step = type->is_float ? step : element_at(type, step, round % 10);
		((count *)kernel->function)(start, step, y, half, 0);
		((count *)kernel->function)(start, step, element_at(type, y, half), n - half, half);
		check_front(kernel, y);
		for (int64_t i = 0; i < n; i++) {
			if (type->is_float) {
				wide offset = i * get_wide(type, step, 0), from = get_wide(type, start, 0);
				check_near(kernel, type, y, i, from + offset,
					   roundoff(type) * ((offset < 0 ? -2 * offset : 2 * offset) +
							     (from < 0 ? -from : from)),
					   "a start and a step");
			} else {
				check_whole(kernel, y, i, get_whole(type, start, 0) + i * get_whole(type, step, 0),
					    "a start and a step");
			}
		}
	}
}

static void run_sizes(const struct kernel *kernel, const struct row *row)
{
	typedef void write(void *, int64_t, int64_t, const int64_t *);

	(void)row;
	for (int round = 0; round < LENGTHS; round++) {
		int64_t n = lengths[round], half = n / 2;
		int64_t *numbers = guarded((size_t)n * sizeof(*numbers)), *y = guarded((size_t)n * sizeof(*y));

		for (int64_t i = 0; i < n; i++)
			numbers[i] = between(0, 1 << 30) << round;
		((write *)kernel->function)(y, half, 0, numbers);
		((write *)kernel->function)(y + half, n - half, half, numbers);
		check_front(kernel, y);
		check_bytes(kernel, "numbers", y, numbers, (size_t)n * sizeof(*numbers));
	}
}

/* The coordinate of element i in halves of 1 / above, and its divisor. */
static int64_t coordinate_of(int64_t mode, int64_t i, int64_t from, int64_t to, int64_t *divisor)
{
	*divisor = 2 * to;
	switch (mode) {
	case 1: /* half_pixel_symmetric, where sizes are those of the scale */
	case 0: return (2 * i + 1) * from - to;
	case 2: return to == 1 ? 0 : (2 * i + 1) * from - to;
	case 3:
		*divisor = to == 1 ? 1 : to - 1;
		return to == 1 ? 0 : (from - 1) * i;
	case 4: return 2 * i * from;
	default: return (2 * i + 1) * from;
	}
}

static int64_t nearest_to(int64_t mode, int64_t place, int64_t divisor)
{
	int64_t below = (place + 100 * divisor) / divisor - 100, rest = place - below * divisor;

	switch (mode) {
	case 0: return below + (2 * rest > divisor);
	case 1: return below + (2 * rest >= divisor);
	case 2: return below;
	default: return below + (rest > 0);
	}
}

/* Keys's cubic, and the linear weight, as ONNX defines them. */
static wide weight_of(int cubic, wide x)
{
	const wide a = -0.75;

	x = x < 0 ? -x : x;
	if (!cubic)
		return x < 1 ? 1 - x : 0;
	return x <= 1  ? (a + 2) * x * x * x - (a + 3) * x * x + 1
	       : x < 2 ? a * x * x * x - 5 * a * x * x + 8 * a * x - 4 * a
		       : 0;
}

static int64_t clamped(int64_t row, int64_t from)
{
	return row < 0 ? 0 : row >= from ? from - 1 : row;
}

static void run_resize_rows(const struct kernel *kernel, const struct row *row)
{
	typedef void resize(int64_t *, double *, double *, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t,
			    int64_t, int64_t, int64_t, int64_t, int64_t, double);
	resize *function = (resize *)kernel->function;
	struct kernel rows_kernel = *kernel;

	(void)row;
	rows_kernel.out = find_type("i64");
	for (int round = 0; round < 6 * 4 * 2 * LENGTHS; round++) {
		int cubic = round / 24 % 2;
		int64_t mode = round % 6, nearest = round / 6 % 4, t = cubic ? 4 : 2;
		int64_t from = between(1, 20), to = between(1, 20), half = to / 2, divisor;
		int64_t *near = guarded((size_t)to * 8), *rows = guarded((size_t)(to * t) * 8);
		double *weights = guarded((size_t)(to * t) * 8), *addends = guarded((size_t)to * 8);

		function(near, NULL, NULL, half, 1, 0, from, to, to, from, mode, nearest, 0, 0, 0);
		function(near + half, NULL, NULL, to - half, 1, half, from, to, to, from, mode, nearest, 0, 0, 0);
		function(rows, weights, addends, to, t, 0, from, to, to, from, mode, nearest, cubic, 0, -0.75);
		for (int64_t i = 0; i < to; i++) {
			int64_t place = coordinate_of(mode, i, from, to, &divisor);
			int64_t low = nearest_to(2, place, divisor) - t / 2 + 1;

			check_whole(&rows_kernel, near, i, clamped(nearest_to(nearest, place, divisor), from),
				    "the nearest row");
			for (int64_t tap = 0; tap < t; tap++) {
				wide away = (wide)((low + tap) * divisor - place) / (wide)divisor;

				check_whole(&rows_kernel, rows, i * t + tap, clamped(low + tap, from), "a row");
				check_near(kernel, kernel->out, weights, i * t + tap, weight_of(cubic, away), 1e-14,
					   "a weight");
			}
			check_near(kernel, kernel->out, addends, i, 0, 0, "no addend");
		}
	}
}

/* ---- packing ---- */

static void run_pack(const struct kernel *kernel, const struct row *row)
{
	typedef void pack(const void *, void *, int64_t, int64_t, int64_t, int64_t);
	const struct type *type = kernel->in;
	int64_t width = type->size == 8 ? 8 : 16;

	(void)row;
	for (int round = 0; round < 4 * LENGTHS; round++) {
		int64_t k = lengths[round % LENGTHS],
			n = round < 2 * LENGTHS ? lengths[round / LENGTHS + 2] : between(1, 40);
		int64_t panels = (n + width - 1) / width, half = panels / 2, panel = k * width;
		size_t bytes = (size_t)(panels * panel) * type->size;
		void *b = random_elements(type, k * n), *y = guarded(bytes), *expected = guarded(bytes);

		for (int64_t e = 0; e < panels * panel; e++) {
			int64_t column = e / panel * width + e % width, p = e / width % k;
			if (column >= n)
				expect_zero(type, expected, e);
			else
				expect(type, expected, e, b, has(kernel, "transB") ? column * k + p : p * n + column);
		}
		((pack *)kernel->function)(b, y, k, n, 0, half);
		((pack *)kernel->function)(b, element_at(type, y, half * panel), k, n, half, panels - half);
		check_front(kernel, y);
		check_bytes(kernel, "a panel", y, expected, bytes);
	}
}

/* ---- tables ---- */

/* The bits by which elements are keys: by value, all NaNs are one, and both zeros are. */
static uint64_t key_of(const struct kernel *kernel, const void *x, int64_t i)
{
	uint64_t bits = 0;

	memcpy(&bits, element_at(kernel->in, x, i), kernel->in->size);
	if (!kernel->in->is_float)
		return bits;
	if (get_wide(kernel->in, x, i) != get_wide(kernel->in, x, i))
		return kernel->in->size == 4 ? 0x7fc00000 : 0x7ff8000000000000;
	return get_wide(kernel->in, x, i) == 0 ? 0 : bits;
}

static int compare_keys(const void *a, const void *b)
{
	const uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;

	return one < other ? -1 : one > other;
}

/* The keys are some of the elements, without repetitions. */
static void run_lookup(const struct kernel *kernel, const struct row *row)
{
	typedef void look(const void *, const void *, const void *, void *, int64_t, int64_t);
	const struct type *type = kernel->in;

	(void)row;
	for (int round = 0; round < 4 * LENGTHS; round++) {
		int64_t n = lengths[round % LENGTHS], half = n / 2, k = 0, most = n < 40 ? n : between(1, 40);
		uint64_t sorted[41];
		void *x = random_elements(type, n), *y = guarded((size_t)n * kernel->out->size),
		     *expected = guarded((size_t)n * kernel->out->size), *keys;

		for (int64_t i = 0; i < most; i++)
			sorted[i] = key_of(kernel, x, between(0, n - 1));
		qsort(sorted, (size_t)most, sizeof *sorted, compare_keys);
		for (int64_t i = 0; i < most; i++)
			if (!k || sorted[k - 1] != sorted[i])
				sorted[k++] = sorted[i];
		keys = guarded((size_t)k * type->size);
		for (int64_t i = 0; i < k; i++)
			memcpy((char *)keys + (size_t)i * type->size, &sorted[i], type->size);
		void *values = random_elements(kernel->out, k + 1);
		for (int64_t i = 0; i < n; i++) {
			int64_t at = 0;
			while (at < k && sorted[at] != key_of(kernel, x, i))
				at++;
			expect(kernel->out, expected, i, values, at);
		}
		((look *)kernel->function)(x, keys, values, y, half, k);
		((look *)kernel->function)(element_at(type, x, half), keys, values, element_at(kernel->out, y, half),
					   n - half, k);
		check_front(kernel, y);
		check_bytes(kernel, "an element", y, expected, (size_t)n * kernel->out->size);
	}
}

const struct row move_rows[] = {
	{"Copy", run_copy},
	{"Gather", run_gather},
	{"ElementPlaces", run_element_places},
	{"TuplePlaces", run_tuple_places},
	{"Scatter", run_scatter},
	{"Scatter(reduction=add)", run_scatter},
	{"Scatter(reduction=mul)", run_scatter},
	{"Scatter(reduction=max)", run_scatter},
	{"Scatter(reduction=min)", run_scatter},
	{"Pad(mode=constant)", run_pad},
	{"Pad(mode=reflect)", run_pad},
	{"Pad(mode=edge)", run_pad},
	{"Pad(mode=wrap)", run_pad},
	{"OneHot", run_one_hot},
	{"EyeLike", run_eye},
	{"Trilu", run_triangle},
	{"ReverseSequence", run_reverse},
	{"Range", run_range},
	{"Sizes", run_sizes},
	{"Lookup", run_lookup},
	{"ResizeRows", run_resize_rows},
	{"PackMatMulB", run_pack},
	{"PackMatMulB(transB=1)", run_pack},
	{NULL},
};
