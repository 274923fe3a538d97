/* library-axes.c: kernels that work along an axis of x [o,k,i]: reductions, ArgMax, Softmax and similar ones, CumSum
 * and TopK. Each is compared with plain loops for shapes around the widths in which kernels work, in parts, as cores
 * compute them, in place where it may be, and with the kernel for every processor, which must give the same bytes. */
#include "tests/kernels/library.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

extern wide fabsf128(wide x), expf128(wide x), logf128(wide x), sqrtf128(wide x);

#define INFINITE ((wide)__builtin_inf())

struct shape {
	int64_t o, k, i;
};

static const struct shape shapes[] = {{0, 3, 2},   {1, 1, 1},  {2, 63, 1},  {3, 64, 1},	 {2, 65, 1},  {4, 31, 1},
				      {1, 300, 1}, {2, 5, 63}, {2, 33, 64}, {1, 64, 65}, {1, 2, 130}, {2, 65, 3}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* Return the greatest number of roundings in a sum of k elements: one for each, up to the length of a block, and one
 * for each doubling of the number of blocks. */
static int64_t roundings_of(int64_t k)
{
	int64_t roundings = k < 256 ? k : 256;

	for (int64_t blocks = 1; 256 * blocks < k; blocks *= 2)
		roundings++;
	return roundings + 8;
}

static int is(const struct kernel *kernel, const char *operator)
{
	return !strcmp(kernel->operator, operator);
}

/* Return whether the kernel has no parameter i: its x is [o,k,1]. */
static int has_rows(const struct kernel *kernel)
{
	return strstr(kernel->name, "_rows") != NULL;
}

static struct shape shape_for(const struct kernel *kernel, int number)
{
	struct shape shape = shapes[number];

	shape.i = has_rows(kernel) ? 1 : shape.i;
	return shape;
}

/* The numbers of a column. */
struct column {
	int64_t k;
	wide numbers[300];
	whole wholes[300];
};

static void read_column(const struct type *type, const void *x, const struct shape *shape, int64_t o, int64_t i,
			struct column *column)
{
	column->k = shape->k;
	for (int64_t p = 0; p < shape->k; p++) {
		int64_t at = (o * shape->k + p) * shape->i + i;

		column->numbers[p] = get_wide(type, x, at);
		column->wholes[p] = type->is_float ? 0 : get_whole(type, x, at);
	}
}

/* True if a is larger, a NaN being the largest. */
static int larger(wide a, wide b)
{
	return a > b || (a != a && b == b);
}

/* exp in the precision that the type needs: types below f64 need less. */
static wide exponential(const struct type *type, wide x)
{
	return type->size == 8 ? expf128(x) : (wide)expl((long double)x);
}

/* ---- reductions ---- */

static wide sum_of(const struct column *column)
{
	wide sum = 0;

	for (int64_t p = 0; p < column->k; p++)
		sum += column->numbers[p];
	return sum;
}

static wide magnitude_of(const struct column *column)
{
	wide sum = 0;

	for (int64_t p = 0; p < column->k; p++)
		sum += fabsf128(column->numbers[p]);
	return sum;
}

static wide square_of(const struct column *column)
{
	wide sum = 0;

	for (int64_t p = 0; p < column->k; p++)
		sum += column->numbers[p] * column->numbers[p];
	return sum;
}

static wide product_of(const struct column *column)
{
	wide product = 1;

	for (int64_t p = 0; p < column->k; p++)
		product *= column->numbers[p];
	return product;
}

/* The largest number, or the smallest of the type for an empty column. A NaN wins. */
static wide most_of(const struct column *column)
{
	wide most = -INFINITE;

	for (int64_t p = 0; p < column->k; p++)
		most = most != most || column->numbers[p] <= most ? most : column->numbers[p];
	return most;
}

static wide least_of(const struct column *column)
{
	wide least = INFINITE;

	for (int64_t p = 0; p < column->k; p++)
		least = least != least || column->numbers[p] >= least ? least : column->numbers[p];
	return least;
}

static wide exponentials_of(const struct type *type, const struct column *column, wide origin)
{
	wide sum = 0;

	for (int64_t p = 0; p < column->k; p++)
		sum += exponential(type, column->numbers[p] - origin);
	return sum;
}

static wide reduced(const struct kernel *kernel, const struct column *column)
{
	if (is(kernel, "ReduceSum"))
		return sum_of(column);
	if (is(kernel, "ReduceMean"))
		return sum_of(column) / column->k;
	if (is(kernel, "ReduceMax"))
		return most_of(column);
	if (is(kernel, "ReduceMin"))
		return least_of(column);
	if (is(kernel, "ReduceProd"))
		return product_of(column);
	if (is(kernel, "ReduceL1"))
		return magnitude_of(column);
	if (is(kernel, "ReduceL2"))
		return sqrtf128(square_of(column));
	if (is(kernel, "ReduceSumSquare"))
		return square_of(column);
	if (is(kernel, "ReduceLogSum"))
		return logf128(sum_of(column));
	wide most = most_of(column);
	return most + logf128(exponentials_of(kernel->in, column, most));
}

/* The type's result for a root or a logarithm of integers: 0 for NaN, else the nearest number of the type. */
static wide clamped(const struct type *type, wide x)
{
	int bits = strcmp(type->name, "bool") ? 8 * (int)type->size - type->is_signed : 1;
	wide above = (wide)((whole)1 << bits), low = type->is_signed ? -above : 0;

	return x != x ? 0 : x >= above ? above - 1 : x <= low ? low : (wide)(whole)x;
}

/* Reductions of integers, modulo 2^bits. */
static whole reduced_whole(const struct kernel *kernel, const struct column *column)
{
	uint64_t sum = 0, magnitude = 0, square = 0, product = 1, narrow[1] = {0};

	for (int64_t p = 0; p < column->k; p++) {
		uint64_t number = (uint64_t)column->wholes[p];

		sum += number;
		magnitude += column->wholes[p] < 0 ? -number : number;
		square += number * number;
		product *= number;
	}
	put_whole(kernel->out, narrow, 0, (whole)sum);
	if (is(kernel, "ReduceSum"))
		return (whole)sum;
	if (is(kernel, "ReduceMean"))
		return get_whole(kernel->out, narrow, 0) / column->k;
	if (is(kernel, "ReduceL1"))
		return (whole)magnitude;
	if (is(kernel, "ReduceSumSquare"))
		return (whole)square;
	if (is(kernel, "ReduceProd"))
		return (whole)product;
	return (whole)clamped(kernel->out, is(kernel, "ReduceMax") ? most_of(column) : least_of(column));
}

static void check_reduced(const struct kernel *kernel, const struct column *column, const void *y, int64_t at)
{
	int is_log = strstr(kernel->operator, "Log") != NULL;

	if (!kernel->in->is_float && (is_log || is(kernel, "ReduceL2"))) {
		wide exact = reduced(kernel, column), near = fabsf128(exact) * (wide)roundings_of(column->k) * 0x1p-53;
		whole result = get_whole(kernel->out, y, at);

		/* Just below a whole number it may be truncated to the next one. */
		if (!((wide)result >= clamped(kernel->out, exact - near) &&
		      (wide)result <= clamped(kernel->out, exact + near)))
			check_whole(kernel, y, at, (whole)clamped(kernel->out, exact), "a column");
		return;
	}
	if (!kernel->in->is_float) {
		check_whole(kernel, y, at, reduced_whole(kernel, column), "a column");
		return;
	}
	if (is(kernel, "ReduceMax") || is(kernel, "ReduceMin")) {
		check_near(kernel, kernel->out, y, at, reduced(kernel, column), 0, "a column");
		return;
	}
	wide exact = reduced(kernel, column), scale = is_log ? 1 : is(kernel, "ReduceProd") ? 0 : magnitude_of(column);

	scale = is(kernel, "ReduceMean") && column->k ? scale / column->k : scale;
	if (is(kernel, "ReduceL2") || is(kernel, "ReduceSumSquare") || fabsf128(exact) > scale)
		scale = fabsf128(exact);
	check_near(kernel, kernel->out, y, at, exact, (wide)roundings_of(column->k) * roundoff(kernel->in) * scale,
		   "a column");
}

/* Call the kernel for `count` blocks of columns, from block `first` on; each block has `results` results. */
static void call_columns(const struct kernel *kernel, const struct shape *shape, const void *x, void *y,
			 int64_t results, int64_t first, int64_t count)
{
	const void *from = element_at(kernel->in, x, first * shape->k * shape->i);
	void *to = element_at(kernel->out, y, first * results);

	if (has_rows(kernel))
		((void (*)(const void *, void *, int64_t, int64_t))kernel->function)(from, to, count, shape->k);
	else
		((void (*)(const void *, void *, int64_t, int64_t, int64_t))kernel->function)(from, to, count, shape->k,
											      shape->i);
}

/* Block by block, and as the kernel of the base, it gives the same bytes as y has. */
static void check_columns(const struct kernel *kernel, const struct shape *shape, const void *x, const void *y,
			  int64_t results)
{
	size_t bytes = (size_t)(shape->o * results) * kernel->out->size;
	void *parts = guarded(bytes);

	for (int64_t o = 0; o < shape->o; o++)
		call_columns(kernel, shape, x, parts, results, o, 1);
	check_same(kernel, "a part", parts, y, bytes);
	if (kernel->base) {
		call_columns(kernel->base, shape, x, parts, results, 0, shape->o);
		check_same(kernel, "the base", y, parts, bytes);
	}
}

/* Sums and products of numbers of no type's limits, the logarithm of none that is near 0; Max and Min of all. */
static void *inputs_for(const struct kernel *kernel, int64_t n)
{
	if (is(kernel, "ReduceMax") || is(kernel, "ReduceMin"))
		return random_elements(kernel->in, n);
	if (is(kernel, "ReduceLogSum"))
		return random_reals(kernel->in, n, kernel->in->is_float ? 0.01 : 0, 4);
	if (is(kernel, "ReduceLogSumExp"))
		return random_reals(kernel->in, n, kernel->in->is_signed ? -30 : 0, 30);
	if (!kernel->in->is_float)
		return random_elements(kernel->in, n);
	if (is(kernel, "ReduceProd")) /* neither denormal nor infinite */
		return random_reals(kernel->in, n, -1.5, -0.5);
	return random_reals(kernel->in, n, -2, 2);
}

/* The scale of the inputs in a round, as a power of two: sums, or squares, leave the range of the type; results do not.
 * */
static int magnitude_for(const struct kernel *kernel, int round)
{
	int has_squares = is(kernel, "ReduceL2") || is(kernel, "LpNormalization");
	int has_sums = is(kernel, "ReduceMean") || is(kernel, "ReduceLogSum") || is(kernel, "LpNormalization(p=1)");

	if (!kernel->in->is_float || kernel->in->greatest < 20)
		return 0;
	if (round == 1 && (has_squares || has_sums))
		return kernel->in->greatest - (is(kernel, "ReduceL2") ? 10 : has_squares ? 6 : 5);
	return round == 2 && has_squares ? -kernel->in->greatest * 4 / 5 : 0;
}

/* Reduce so many equal elements that a sum in order would be off by thousands of roundings. */
static void check_drift(const struct kernel *kernel)
{
	struct shape shape = has_rows(kernel) ? (struct shape){1, 300000, 1} : (struct shape){1, 30000, 3};
	static double room[300000], results[3];
	wide number, exact;

	for (int64_t at = 0; at < shape.k * shape.i; at++)
		put_wide(kernel->in, room, at, 0.1);
	number = get_wide(kernel->in, room, 0);
	exact = is(kernel, "ReduceMean") ? number
		: is(kernel, "ReduceL2") ? number * sqrtf128(shape.k)
					 : number * shape.k * (is(kernel, "ReduceSumSquare") ? number : 1);
	call_columns(kernel, &shape, room, results, shape.i, 0, 1);
	for (int64_t at = 0; at < shape.i; at++)
		check_near(kernel, kernel->out, results, at, exact,
			   (wide)roundings_of(shape.k) * roundoff(kernel->in) * exact, "a long column");
}

static void run_reduction(const struct kernel *kernel, const struct row *row)
{
	int is_sum = is(kernel, "ReduceSum") || is(kernel, "ReduceMean") || is(kernel, "ReduceL1") ||
		     is(kernel, "ReduceL2") || is(kernel, "ReduceSumSquare");

	(void)row;
	if (is_sum && kernel->in->is_float)
		check_drift(kernel);
	for (int round = 0; round < 3 * (SHAPES + 1); round++) {
		int number = round / 3, magnitude = magnitude_for(kernel, round % 3);
		/* The last shape has no elements to reduce, and a mean of none is not defined. */
		struct shape shape = number < SHAPES ? shape_for(kernel, number) : (struct shape){2, 0, 1};
		int64_t results = shape.o * shape.i;
		size_t bytes = (size_t)results * kernel->out->size;
		void *x = inputs_for(kernel, shape.o * shape.k * shape.i), *y = guarded(bytes);
		struct column column;

		if ((round % 3 && !magnitude) || (!shape.k && is(kernel, "ReduceMean") && !kernel->in->is_float))
			continue;
		scale_elements(kernel->in, x, magnitude ? shape.o * shape.k * shape.i : 0, magnitude);
		call_columns(kernel, &shape, x, y, shape.i, 0, shape.o);
		check_front(kernel, y);
		for (int64_t at = 0; at < results; at++) {
			read_column(kernel->in, x, &shape, at / shape.i, at % shape.i, &column);
			check_reduced(kernel, &column, y, at);
		}
		check_columns(kernel, &shape, x, y, shape.i);
	}
}

/* ---- where the largest and the smallest are ---- */

static int64_t place_of(const struct kernel *kernel, const struct column *column, int last)
{
	wide best = is(kernel, "ArgMax") ? most_of(column) : least_of(column);
	int64_t place = -1;

	for (int64_t p = 0; p < column->k; p++)
		if ((place < 0 || last) &&
		    (column->numbers[p] == best || (best != best && column->numbers[p] != column->numbers[p])))
			place = p;
	return place;
}

static void call_place(const struct kernel *kernel, const struct shape *shape, const void *x, int64_t *y, int64_t first,
		       int64_t count, int64_t last)
{
	x = element_at(kernel->in, x, first * shape->k * shape->i);
	y += first * shape->i;
	if (has_rows(kernel))
		((void (*)(const void *, void *, int64_t, int64_t, int64_t))kernel->function)(x, y, count, shape->k,
											      last);
	else
		((void (*)(const void *, void *, int64_t, int64_t, int64_t, int64_t))kernel->function)(
			x, y, count, shape->k, shape->i, last);
}

static void run_place(const struct kernel *kernel, const struct row *row)
{
	(void)row;
	for (int number = 0; number < 2 * SHAPES; number++) {
		struct shape shape = shape_for(kernel, number / 2);
		int64_t results = shape.o * shape.i, last = number % 2, *y = guarded((size_t)results * 8),
			*parts = guarded((size_t)results * 8);
		/* The values come from few numbers, so that some are equal; the last rounds use special ones. */
		void *x = number < SHAPES ? random_reals(kernel->in, shape.o * shape.k * shape.i, 0, 20)
					  : random_elements(kernel->in, shape.o * shape.k * shape.i);
		struct column column;

		for (int64_t i = 0; number < SHAPES && i < shape.o * shape.k * shape.i; i++)
			put_wide(kernel->in, x, i, (wide)(int)get_wide(kernel->in, x, i));
		call_place(kernel, &shape, x, y, 0, shape.o, last);
		check_front(kernel, y);
		for (int64_t at = 0; at < results; at++) {
			read_column(kernel->in, x, &shape, at / shape.i, at % shape.i, &column);
			check_whole(kernel, y, at, place_of(kernel, &column, (int)last), "a column");
		}
		for (int64_t o = 0; o < shape.o; o++)
			call_place(kernel, &shape, x, parts, o, 1, last);
		check_same(kernel, "a part", parts, y, (size_t)results * 8);
	}
}

/* ---- all elements, from all ---- */

/* Element p, and in *allowed how far the result may be from it. */
static wide mapped(const struct kernel *kernel, const struct column *column, wide most, wide sum, int64_t p,
		   wide *allowed)
{
	wide x = column->numbers[p], result;

	if (is(kernel, "Softmax")) {
		result = exponential(kernel->in, x - most) / sum;
		*allowed *= result * ((wide)roundings_of(column->k) + (most - x));
		return result;
	}
	if (is(kernel, "LogSoftmax")) {
		result = x - most - logf128(sum);
		*allowed *= (wide)roundings_of(column->k) + 3 * fabsf128(result);
		return result;
	}
	result = sum == 0 ? 0 : x / sum;
	*allowed *= fabsf128(result) * (wide)roundings_of(column->k);
	return result;
}

static void check_mapped(const struct kernel *kernel, const struct shape *shape, const struct column *column,
			 const void *y, int64_t first)
{
	wide most = most_of(column), sum;
	int64_t at = -1;

	for (int64_t p = 0; p < column->k && at < 0; p++)
		at = column->numbers[p] == most || column->numbers[p] != column->numbers[p] ? p : -1;
	if (is(kernel, "LpNormalization"))
		sum = sqrtf128(square_of(column));
	else if (is(kernel, "LpNormalization(p=1)"))
		sum = magnitude_of(column);
	else
		sum = is(kernel, "Hardmax") ? 0 : exponentials_of(kernel->in, column, most);
	for (int64_t p = 0; p < column->k; p++) {
		wide allowed = roundoff(kernel->in);
		wide exact = is(kernel, "Hardmax") ? p == at : mapped(kernel, column, most, sum, p, &allowed);

		check_near(kernel, kernel->out, y, first + p * shape->i, exact, is(kernel, "Hardmax") ? 0 : allowed,
			   "a column");
	}
}

static void run_map(const struct kernel *kernel, const struct row *row)
{
	(void)row;
	for (int round = 0; round < 3 * SHAPES; round++) {
		int number = round / 3, magnitude = magnitude_for(kernel, round % 3);
		struct shape shape = shape_for(kernel, number);
		int64_t n = shape.o * shape.k * shape.i;
		size_t bytes = (size_t)n * kernel->in->size;
		void *x = is(kernel, "Hardmax") ? random_elements(kernel->in, n) : random_reals(kernel->in, n, -20, 20),
		     *y = guarded(bytes);
		struct column column;

		if (round % 3 && !magnitude)
			continue;
		scale_elements(kernel->in, x, magnitude ? n : 0, magnitude);
		for (int64_t p = 0; p < shape.k && n && number == 3; p++) /* a column of zeros */
			put_wide(kernel->in, x, p * shape.i, 0);
		call_columns(kernel, &shape, x, y, shape.k * shape.i, 0, shape.o);
		check_front(kernel, y);
		for (int64_t at = 0; at < shape.o * shape.i; at++) {
			read_column(kernel->in, x, &shape, at / shape.i, at % shape.i, &column);
			check_mapped(kernel, &shape, &column, y, at / shape.i * shape.k * shape.i + at % shape.i);
		}
		check_columns(kernel, &shape, x, y, shape.k * shape.i);
		call_columns(kernel, &shape, x, x, shape.k * shape.i, 0, shape.o);
		check_same(kernel, "in place", x, y, bytes);
	}
}

/* ---- sums of all elements up to each one ---- */

typedef void cumulate(const void *x, void *y, int64_t o, int64_t k, int64_t i, int64_t exclusive, int64_t reverse);

/* Sums, or products, of numbers near 1. */
static void check_sums(const struct kernel *kernel, const struct shape *shape, const struct column *column,
		       const void *y, int64_t first, int exclusive, int reverse)
{
	int product = !strcmp(kernel->operator, "CumProd");
	wide all = product, magnitude = 0;
	uint64_t whole_all = (uint64_t)product;

	for (int64_t step = 0; step < column->k; step++) {
		int64_t p = reverse ? column->k - 1 - step : step;
		wide before = all, own = column->numbers[p];
		uint64_t whole_before = whole_all, whole_own = (uint64_t)column->wholes[p];

		all = product ? all * own : all + own;
		magnitude = product ? fabsf128(all) : magnitude + fabsf128(own);
		whole_all = product ? whole_all * whole_own : whole_all + whole_own;
		if (kernel->in->is_float)
			check_near(kernel, kernel->in, y, first + p * shape->i, exclusive ? before : all,
				   (wide)(step + 1 + 2 * product) * roundoff(kernel->in) * magnitude, "a column");
		else
			check_whole(kernel, y, first + p * shape->i, (whole)(exclusive ? whole_before : whole_all),
				    "a column");
	}
}

static void run_cumulate(const struct kernel *kernel, const struct row *row)
{
	cumulate *call = (cumulate *)kernel->function;

	(void)row;
	for (int number = 0; number < 4 * SHAPES; number++) {
		struct shape shape = shapes[number / 4];
		int64_t n = shape.o * shape.k * shape.i;
		size_t bytes = (size_t)n * kernel->in->size;
		double near = strcmp(kernel->operator, "CumProd") ? 20 : 0.02, middle = near < 1;
		void *x = kernel->in->is_float ? random_reals(kernel->in, n, middle - near, middle + near)
					       : random_elements(kernel->in, n),
		     *y = guarded(bytes);
		struct column column;

		call(x, y, shape.o, shape.k, shape.i, number & 1, number >> 1 & 1);
		check_front(kernel, y);
		for (int64_t at = 0; at < shape.o * shape.i; at++) {
			read_column(kernel->in, x, &shape, at / shape.i, at % shape.i, &column);
			check_sums(kernel, &shape, &column, y, at / shape.i * shape.k * shape.i + at % shape.i,
				   number & 1, number >> 1 & 1);
		}
		call(x, x, shape.o, shape.k, shape.i, number & 1, number >> 1 & 1);
		check_same(kernel, "in place", x, y, bytes);
	}
}

/* ---- the largest ones ---- */

typedef void select_top(const void *x, void *v, int64_t *indices, int64_t o, int64_t k, int64_t i, int64_t t,
			int64_t largest);

/* Return how many elements come before element p. */
static int64_t rank_of(const struct column *column, int64_t p, int largest)
{
	int64_t rank = 0;

	for (int64_t q = 0; q < column->k; q++) {
		wide a = column->numbers[largest ? q : p], b = column->numbers[largest ? p : q];

		rank += larger(a, b) || (q < p && !larger(b, a));
	}
	return rank;
}

static void check_top(const struct kernel *kernel, const struct shape *shape, const void *x, const void *v,
		      const int64_t *indices, int64_t t, int largest)
{
	struct column column;

	for (int64_t at = 0; at < shape->o * shape->i; at++) {
		read_column(kernel->in, x, shape, at / shape->i, at % shape->i, &column);
		for (int64_t p = 0; p < shape->k; p++) {
			int64_t rank = rank_of(&column, p, largest),
				to = (at / shape->i * t + rank) * shape->i + at % shape->i;

			if (rank >= t)
				continue;
			check_whole(kernel, indices, to, p, "a column");
			check_bytes(
				kernel, "a value", element_at(kernel->in, v, to),
				element_at(kernel->in, x, (at / shape->i * shape->k + p) * shape->i + at % shape->i),
				kernel->in->size);
		}
	}
}

static void run_top(const struct kernel *kernel, const struct row *row)
{
	(void)row;
	for (int number = 0; number < 4 * SHAPES; number++) {
		struct shape shape = shapes[number / 4];
		int64_t n = shape.o * shape.k * shape.i, largest = number & 1,
			t = number & 2 ? shape.k : (shape.k + 1) / 2;
		int64_t *indices = guarded((size_t)(shape.o * t * shape.i) * 8);
		void *x = random_elements(kernel->in, n),
		     *v = guarded((size_t)(shape.o * t * shape.i) * kernel->in->size);

		for (int64_t i = 0; number % 8 > 3 && i < n; i++) /* equal ones */
			put_wide(kernel->in, x, i, (wide)(random_bits() % 9));
		((select_top *)kernel->function)(x, v, indices, shape.o, shape.k, shape.i, t, largest);
		check_front(kernel, v);
		check_front(kernel, indices);
		check_top(kernel, &shape, x, v, indices, t, (int)largest);
	}
}

const struct row axis_rows[] = {
	{"ReduceSum", run_reduction},
	{"ReduceMean", run_reduction},
	{"ReduceMax", run_reduction},
	{"ReduceMin", run_reduction},
	{"ReduceProd", run_reduction},
	{"ReduceL1", run_reduction},
	{"ReduceL2", run_reduction},
	{"ReduceSumSquare", run_reduction},
	{"ReduceLogSum", run_reduction},
	{"ReduceLogSumExp", run_reduction},
	{"ArgMax", run_place},
	{"ArgMin", run_place},
	{"Softmax", run_map},
	{"LogSoftmax", run_map},
	{"Hardmax", run_map},
	{"LpNormalization", run_map},
	{"LpNormalization(p=1)", run_map},
	{"CumSum", run_cumulate},
	{"CumProd", run_cumulate},
	{"TopK", run_top},
	{NULL},
};
