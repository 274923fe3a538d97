/* library-elementwise.c: the elementwise kernels, and the call of each form. Each kernel is compared with its reference
 * on special and random numbers (all of those of 16 bits, and all pairs of special ones). It must then give the same
 * bytes for ranges of 0, 1, 63, 64 and 65 elements, in place, and as the kernel for every processor. */
#include "tests/kernels/library.h"

#include <stdio.h>
#include <string.h>

/* The C library declares these in its headers for some compilers only. */
extern wide expf128(wide x), expm1f128(wide x), logf128(wide x), log1pf128(wide x), sinf128(wide x), cosf128(wide x),
	tanf128(wide x), asinf128(wide x), acosf128(wide x), atanf128(wide x), sinhf128(wide x), coshf128(wide x),
	tanhf128(wide x), asinhf128(wide x), acoshf128(wide x), atanhf128(wide x), erff128(wide x), erfcf128(wide x),
	sqrtf128(wide x), fabsf128(wide x), floorf128(wide x), ceilf128(wide x), rintf128(wide x), truncf128(wide x),
	powf128(wide x, wide y), atan2f128(wide y, wide x), fmodf128(wide x, wide y), copysignf128(wide x, wide y),
	ldexpf128(wide x, int power);

#define INFINITE ((wide)__builtin_inf())

/* ---- one input ---- */

static wide negated(wide x)
{
	return -x;
}

static wide sign(wide x)
{
	return x > 0 ? 1 : x < 0 ? -1 : x;
}

static wide relu(wide x)
{
	return x < 0 ? 0 : x;
}

static wide square(wide x)
{
	return x * x;
}

static wide reciprocal(wide x)
{
	return 1 / x;
}

static wide reciprocal_root(wide x)
{
	return 1 / sqrtf128(x);
}

static wide sigmoid(wide x)
{
	return 1 / (1 + expf128(-x));
}

static wide softplus(wide x)
{
	return x > 0 ? x + log1pf128(expf128(-x)) : log1pf128(expf128(x));
}

static wide softsign(wide x)
{
	return x / (1 + fabsf128(x));
}

static wide hard_gate(wide x)
{
	wide gate = x / 6 + (wide)0.5;

	return gate > 1 ? 1 : gate < 0 ? 0 : gate;
}

static wide hard_swish(wide x)
{
	return x * hard_gate(x);
}

static wide mish(wide x)
{
	return x * tanhf128(softplus(x));
}

static wide gelu(wide x)
{
	return x == -INFINITE ? (wide)__builtin_nan("")
			      : x / 2 * erfcf128(-x * 0.707106781186547524400844362104849039Q);
}

static wide gelu_by_tanh(wide x)
{
	return x * sigmoid(2 * 0.797884560802865355879892119868763737Q * (x + 0.044715Q * x * x * x));
}

static wide is_nan(wide x)
{
	return x != x;
}

static wide is_infinite(wide x)
{
	return x == INFINITE || x == -INFINITE;
}

static wide is_positive_infinity(wide x)
{
	return x == INFINITE;
}

static wide is_negative_infinity(wide x)
{
	return x == -INFINITE;
}

static wide is_finite(wide x)
{
	return x - x == 0;
}

static whole whole_magnitude(whole x)
{
	return x < 0 ? -x : x;
}

static whole whole_negated(whole x)
{
	return -x;
}

static whole whole_sign(whole x)
{
	return (x > 0) - (x < 0);
}

static whole whole_relu(whole x)
{
	return x < 0 ? 0 : x;
}

static whole whole_not(whole x)
{
	return ~x;
}

static whole truth_not(whole x)
{
	return !x;
}

static whole whole_square(whole x)
{
	return (whole)((unsigned __int128)x * (unsigned __int128)x);
}

/* erf in f64, with the result converted to an integer. */
static whole whole_erf(whole x)
{
	return (whole)(double)erff128((double)x);
}

/* Floats to integers: the nearest integer, and 0 for NaN. */
static whole truncated(const struct type *type, wide x)
{
	wide above = (wide)((whole)1 << (8 * type->size - (type->is_signed ? 1 : 0))),
	     low = type->is_signed ? -above : 0;

	return x != x ? 0 : x >= above ? (whole)above - 1 : x <= low ? (whole)low : (whole)x;
}

static wide leaky_relu(wide x, const float *attribute)
{
	return x < 0 ? attribute[0] * x : x;
}

static wide thresholded_relu(wide x, const float *attribute)
{
	return x > attribute[0] ? x : 0; /* of a NaN, too */
}

static wide elu(wide x, const float *attribute)
{
	return x < 0 ? attribute[0] * expm1f128(x) : x;
}

static wide celu(wide x, const float *attribute)
{
	return x < 0 ? attribute[0] * expm1f128(x / attribute[0]) : x;
}

static wide swish(wide x, const float *attribute)
{
	return x * sigmoid(attribute[0] * x);
}

static wide selu(wide x, const float *attribute)
{
	return attribute[1] * (x < 0 ? attribute[0] * expm1f128(x) : x);
}

static wide hard_sigmoid(wide x, const float *attribute)
{
	wide line = attribute[0] * x + attribute[1];

	return line > 1 ? 1 : line < 0 ? 0 : line;
}

static wide shrink(wide x, const float *attribute)
{
	return x < -attribute[1] ? x + attribute[0] : x > attribute[1] ? x - attribute[0] : 0; /* of a NaN, too */
}

static whole whole_shrink(whole x, const float *attribute, const struct type *type)
{
	return truncated(type, (double)shrink((double)x, attribute));
}

static wide softplus_of(wide x, const float *attribute)
{
	return attribute[0] * x > attribute[1] ? x : softplus(attribute[0] * x) / attribute[0];
}

/* ---- two inputs ---- */

static wide sum(wide a, wide b)
{
	return a + b;
}

static wide difference(wide a, wide b)
{
	return a - b;
}

static wide product(wide a, wide b)
{
	return a * b;
}

static wide quotient(wide a, wide b)
{
	return a / b;
}

/* The type that quotients are computed in, and rounded to. */
static const struct type *computed;

static wide rounded_quotient(wide a, wide b)
{
	double element;

	put_wide(computed, &element, 0, a / b);
	return get_wide(computed, &element, 0);
}

static wide floored_quotient(wide a, wide b)
{
	return floorf128(rounded_quotient(a, b));
}

static wide truncated_quotient(wide a, wide b)
{
	return truncf128(rounded_quotient(a, b));
}

static wide larger(wide a, wide b)
{
	return a != a ? a : a > b ? a : b;
}

static wide smaller(wide a, wide b)
{
	return a != a ? a : a < b ? a : b;
}

static wide slope(wide a, wide b)
{
	return a < 0 ? a * b : a;
}

static wide floored_rest(wide a, wide b)
{
	wide rest = fmodf128(a, b);

	return rest != 0 ? (rest < 0) != (b < 0) ? rest + b : rest : copysignf128(rest, b);
}

static wide squared_difference(wide a, wide b)
{
	return (a - b) * (a - b);
}

static wide not_equal(wide a, wide b)
{
	return a != b;
}

static wide equal(wide a, wide b)
{
	return a == b;
}

static wide greater(wide a, wide b)
{
	return a > b;
}

static wide greater_or_equal(wide a, wide b)
{
	return a >= b;
}

static wide less(wide a, wide b)
{
	return a < b;
}

static wide less_or_equal(wide a, wide b)
{
	return a <= b;
}

#define UNUSED (void)type

static whole whole_sum(whole a, whole b, const struct type *type)
{
	UNUSED;
	return a + b;
}

static whole whole_difference(whole a, whole b, const struct type *type)
{
	UNUSED;
	return a - b;
}

static whole whole_product(whole a, whole b, const struct type *type)
{
	UNUSED;
	return (whole)((unsigned __int128)a * (unsigned __int128)b);
}

static whole whole_quotient(whole a, whole b, const struct type *type)
{
	UNUSED;
	return b ? a / b : 0;
}

static whole whole_floor_quotient(whole a, whole b, const struct type *type)
{
	UNUSED;
	return b ? (a - (((a % b) + b) % b)) / b : 0;
}

static whole whole_squared_difference(whole a, whole b, const struct type *type)
{
	UNUSED;
	return (whole)((unsigned __int128)(a - b) * (unsigned __int128)(a - b));
}

static whole whole_not_equal(whole a, whole b, const struct type *type)
{
	UNUSED;
	return a != b;
}

static whole whole_larger(whole a, whole b, const struct type *type)
{
	UNUSED;
	return a > b ? a : b;
}

static whole whole_smaller(whole a, whole b, const struct type *type)
{
	UNUSED;
	return a < b ? a : b;
}

static whole whole_slope(whole a, whole b, const struct type *type)
{
	UNUSED;
	return a < 0 ? a * b : a;
}

static whole whole_rest(whole a, whole b, const struct type *type)
{
	UNUSED;
	return b ? a % b : 0;
}

static whole whole_floored_rest(whole a, whole b, const struct type *type)
{
	whole rest = whole_rest(a, b, type);

	return rest && (rest < 0) != (b < 0) ? rest + b : rest;
}

/* One factor after the other, as far as that takes; then by squares. */
static whole whole_power(whole a, whole b, const struct type *type)
{
	uint64_t power = 1, base = (uint64_t)a;

	UNUSED;
	if (b < 0)
		return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
	for (whole bit = (whole)1 << 63; bit; bit >>= 1) {
		power *= power;
		power *= b & bit ? base : 1;
	}
	return (whole)power;
}

static whole whole_and(whole a, whole b, const struct type *type)
{
	UNUSED;
	return a & b;
}

static whole whole_or(whole a, whole b, const struct type *type)
{
	UNUSED;
	return a | b;
}

static whole whole_xor(whole a, whole b, const struct type *type)
{
	UNUSED;
	return a ^ b;
}

static whole shifted_left(whole a, whole b, const struct type *type)
{
	return b < 8 * (whole)type->size ? (whole)((unsigned __int128)a << b) : 0;
}

static whole shifted_right(whole a, whole b, const struct type *type)
{
	return b < 8 * (whole)type->size ? a >> b : 0;
}

static whole whole_equal(whole a, whole b, const struct type *type)
{
	UNUSED;
	return a == b;
}

static whole whole_greater(whole a, whole b, const struct type *type)
{
	UNUSED;
	return a > b;
}

static whole whole_greater_or_equal(whole a, whole b, const struct type *type)
{
	UNUSED;
	return a >= b;
}

static whole whole_less(whole a, whole b, const struct type *type)
{
	UNUSED;
	return a < b;
}

static whole whole_less_or_equal(whole a, whole b, const struct type *type)
{
	UNUSED;
	return a <= b;
}

/* ---- kernels of one input ---- */

static const int64_t lengths[] = {0, 1, 63, 64, 65};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

static void call_unary(const struct kernel *kernel, const struct row *row, const void *x, void *y, int64_t n)
{
	const float *attribute = row->attribute;

	if (row->attributes == 0)
		((void (*)(const void *, void *, int64_t))kernel->function)(x, y, n);
	else if (row->attributes == 1)
		((void (*)(const void *, void *, int64_t, float))kernel->function)(x, y, n, attribute[0]);
	else
		((void (*)(const void *, void *, int64_t, float, float))kernel->function)(x, y, n, attribute[0],
											  attribute[1]);
}

/* A copy in guarded memory. */
static void *copied(const struct type *type, const void *elements, int64_t n)
{
	return memcpy(guarded((size_t)n * type->size), elements, (size_t)n * type->size);
}

static void check_unary(const struct kernel *kernel, const struct row *row, const void *x, const void *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		const char *inputs = two_inputs(kernel->in, x, i, NULL, 0);

		if (!kernel->in->is_float) {
			whole value = get_whole(kernel->in, x, i);
			check_whole(kernel, y, i,
				    row->whole_with_attributes
					    ? row->whole_with_attributes(value, row->attribute, kernel->in)
					    : row->whole_unary(value),
				    inputs);
			continue;
		}
		wide value = get_wide(kernel->in, x, i);
		check_wide(kernel, y, i,
			   row->with_attributes ? row->with_attributes(value, row->attribute) : row->unary(value),
			   value, inputs);
	}
}

static void try_unary(const struct kernel *kernel, const struct row *row)
{
	int64_t n = kernel->in->size == 2 ? 65536 : usual_count;
	char *x = kernel->in->size == 2 ? guarded((size_t)n * 2) : random_elements(kernel->in, n);
	char *y = guarded((size_t)n * kernel->out->size), *again;

	for (int64_t i = 0; kernel->in->size == 2 && i < n; i++)
		memcpy(x + 2 * i, &(uint16_t){(uint16_t)i}, 2);
	call_unary(kernel, row, x, y, n);
	check_front(kernel, y);
	check_unary(kernel, row, x, y, n);
	for (int i = 0; i < 2 * LENGTHS; i++) {
		int64_t length = lengths[i / 2], first = i % 2 ? n - length : special_count(kernel->in) / 2;
		char *part = copied(kernel->in, element_at(kernel->in, x, first), length);

		again = guarded((size_t)length * kernel->out->size);
		call_unary(kernel, row, part, again, length);
		check_front(kernel, again);
		check_same(kernel, "a range", again, element_at(kernel->out, y, first),
			   (size_t)length * kernel->out->size);
	}
	if (kernel->in == kernel->out) {
		again = copied(kernel->in, x, n);
		call_unary(kernel, row, again, again, n);
		check_same(kernel, "in place", again, y, (size_t)n * kernel->out->size);
	}
	if (kernel->base) {
		again = guarded((size_t)n * kernel->out->size);
		call_unary(kernel->base, row, x, again, n);
		check_same(kernel, "the base", y, again, (size_t)n * kernel->out->size);
	}
}

/* Also runs attributes of 0, which give NaN with infinities. */
static void run_unary(const struct kernel *kernel, const struct row *row)
{
	struct row zeros = *row;

	try_unary(kernel, row);
	if (!row->attributes)
		return;
	memset(zeros.attribute, 0, sizeof(zeros.attribute));
	try_unary(kernel, &zeros);
}

/* ---- kernels of two inputs ---- */

/* The arguments of a call, and where operands of output element i, or i / n and i % n, lie. */
struct binary {
	const struct kernel *kernel;
	int64_t m, n; /* m is 1 but for rows and columns */
	int64_t p; /* rows of b in a cycle */
	const void *a, *b;
	/* Strided: the steps in dimensions dims. */
	int64_t rank, dims[4], strides[2][4];
};

/* Return the element of an operand for output element i. `scalar`, `row` ... describe b's layout; a has the same layout
 * with l before it. */
static int64_t place(const struct binary *call, int operand, int64_t i)
{
	const char *form = call->kernel->form;
	int64_t element = 0;

	if (!strcmp(form, "strided")) {
		for (int64_t d = call->rank - 1; d >= 0; d--) {
			element += i % call->dims[d] * call->strides[operand][d];
			i /= call->dims[d];
		}
		return element;
	}
	if (!strcmp(form, "same") || (form[0] == 'l') != (operand == 0))
		return i;
	if (!strcmp(form, "cycle"))
		return i % (call->p * call->n);
	form += form[0] == 'l';
	return !strcmp(form, "scalar") ? 0 : !strcmp(form, "row") ? i % call->n : i / call->n;
}

static void call_binary(const struct kernel *kernel, const struct binary *call, const void *a, const void *b, void *y,
			int64_t n)
{
	if (!strcmp(kernel->form, "strided"))
		((void (*)(const void *, const void *, void *, int64_t, int64_t, int64_t, const int64_t *,
			   const int64_t *, const int64_t *))kernel->function)(a, b, y, n, 0, call->rank, call->dims,
									       call->strides[0], call->strides[1]);
	else if (!strcmp(kernel->form, "cycle"))
		((void (*)(const void *, const void *, void *, int64_t, int64_t, int64_t, int64_t))kernel->function)(
			a, b, y, call->m, call->n, call->p, 0);
	else if (strstr(kernel->form, "row") || strstr(kernel->form, "column"))
		((void (*)(const void *, const void *, void *, int64_t, int64_t))kernel->function)(a, b, y, call->m,
												   call->n);
	else
		((void (*)(const void *, const void *, void *, int64_t))kernel->function)(a, b, y, n);
}

static void check_binary(const struct binary *call, const struct row *row, const void *y, int64_t n)
{
	const struct type *type = call->kernel->in;

	for (int64_t i = 0; i < n; i++) {
		int64_t p = place(call, 0, i), q = place(call, 1, i);
		const char *inputs = two_inputs(type, call->a, p, call->b, q);

		if (!type->is_float)
			check_whole(call->kernel, y, i,
				    row->whole_binary(get_whole(type, call->a, p), get_whole(type, call->b, q), type),
				    inputs);
		else
			check_wide(call->kernel, y, i,
				   row->binary(get_wide(type, call->a, p), get_wide(type, call->b, q)),
				   get_wide(type, call->a, p), inputs);
	}
}

/* Call it, compare, and call it in place and for other processors. */
static void try_binary(struct binary *call, const struct row *row)
{
	const struct kernel *kernel = call->kernel;
	int64_t n = call->m * call->n;
	size_t bytes = (size_t)n * kernel->out->size;
	char *y = guarded(bytes), *again;
	int left = kernel->form[0] == 'l';

	call_binary(kernel, call, call->a, call->b, y, n);
	check_front(kernel, y);
	check_binary(call, row, y, n);
	if (kernel->in == kernel->out && strcmp(kernel->form, "strided")) {
		again = copied(kernel->in, left ? call->b : call->a, n);
		call_binary(kernel, call, left ? call->a : again, left ? again : call->b, again, n);
		check_same(kernel, "in place", again, y, bytes);
	}
	if (kernel->base) {
		again = guarded(bytes);
		call_binary(kernel->base, call, call->a, call->b, again, n);
		check_same(kernel, "the base", y, again, bytes);
	}
}

/* All pairs of special numbers, and random ones; then all lengths. */
static void run_same(const struct kernel *kernel, const struct row *row)
{
	const struct type *type = kernel->in;
	int64_t special = special_count(type), n = special * special + 2000;
	struct binary call = {.kernel = kernel, .m = 1, .n = n};
	char *a = random_elements(type, n), *b = random_elements(type, n), *numbers = random_elements(type, special);

	for (int64_t i = 0; i < n; i++) {
		if (i < special * special)
			memcpy(element_at(type, a, i), element_at(type, numbers, i / special), type->size);
		if (i < special * special)
			memcpy(element_at(type, b, i), element_at(type, numbers, i % special), type->size);
		else if (type->is_float && i % 7 == 0) /* quotients that are whole, powers of whole numbers */
			put_wide(type, b, i, (wide)(int64_t)(random_bits() % 32));
	}
	call.a = a, call.b = b;
	try_binary(&call, row);
	for (int i = 0; i < LENGTHS; i++) {
		call.n = lengths[i];
		call.a = copied(type, element_at(type, a, n - call.n), call.n);
		call.b = copied(type, element_at(type, b, n - call.n), call.n);
		try_binary(&call, row);
	}
}

static void run_shapes(const struct kernel *kernel, const struct row *row)
{
	static const int64_t shapes[][2] = {{0, 5}, {5, 0}, {1, 1}, {3, 64}, {2, 65}, {63, 3}, {4, 300}};
	int is_scalar = strstr(kernel->form, "scalar") != NULL, left = kernel->form[0] == 'l';

	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		int64_t m = is_scalar ? 1 : shapes[i][0], n = is_scalar && i < LENGTHS ? lengths[i] : shapes[i][1];
		int64_t small = is_scalar ? 1 : strstr(kernel->form, "row") ? n : m;
		struct binary call = {.kernel = kernel, .m = m, .n = n};
		const void *first = random_elements(kernel->in, m * n);
		const void *numbers = random_elements(kernel->in, small + 40);
		const void *second = copied(kernel->in, element_at(kernel->in, numbers, 40 - 5 * (int64_t)i), small);

		call.a = left ? second : first, call.b = left ? first : second;
		try_binary(&call, row);
	}
}

static void run_strided(const struct kernel *kernel, const struct row *row)
{
	static const struct binary calls[] = {
		{.rank = 0},
		{.rank = 1, .dims = {65}, .strides = {{1}, {0}}},
		{.rank = 2, .dims = {5, 300}, .strides = {{0, 1}, {300, 1}}},
		{.rank = 3, .dims = {3, 5, 7}, .strides = {{35, 7, 1}, {7, 0, 1}}},
		{.rank = 3, .dims = {3, 5, 7}, .strides = {{1, 3, 15}, {0, 1, 0}}},
		{.rank = 4, .dims = {2, 3, 4, 5}, .strides = {{0, 20, 0, 1}, {15, 0, 5, 1}}},
		{.rank = 2, .dims = {4, 0}, .strides = {{0, 1}, {1, 0}}},
	};

	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		struct binary call = calls[i];
		int64_t last[2] = {0, 0};
		char *y, *whole_y;

		call.kernel = kernel;
		call.m = call.n = 1;
		for (int64_t d = 0; d < call.rank; d++) {
			call.n *= call.dims[d];
			last[0] += (call.dims[d] - 1) * call.strides[0][d];
			last[1] += (call.dims[d] - 1) * call.strides[1][d];
		}
		call.a = random_elements(kernel->in, last[0] + 1);
		call.b = random_elements(kernel->in, last[1] + 1);
		try_binary(&call, row);
		/* From an element in the middle on. */
		int64_t first = call.n / 3;
		size_t bytes = (size_t)(call.n - first) * kernel->out->size;
		whole_y = guarded((size_t)call.n * kernel->out->size);
		call_binary(kernel, &call, call.a, call.b, whole_y, call.n);
		y = guarded(bytes);
		((void (*)(const void *, const void *, void *, int64_t, int64_t, int64_t, const int64_t *,
			   const int64_t *, const int64_t *))kernel->function)(call.a, call.b, y, call.n - first, first,
									       call.rank, call.dims, call.strides[0],
									       call.strides[1]);
		check_same(kernel, "a part", y, element_at(kernel->out, whole_y, first), bytes);
	}
}

static void run_cycle(const struct kernel *kernel, const struct row *row)
{
	static const int64_t shapes[][3] = {{0, 5, 1},	{5, 0, 2}, {1, 1, 1},  {6, 64, 3},
					    {7, 65, 3}, {5, 9, 5}, {4, 300, 9}};

	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		int64_t m = shapes[i][0], n = shapes[i][1], p = shapes[i][2], first = m / 2;
		struct binary call = {.kernel = kernel, .m = m, .n = n, .p = p};
		size_t bytes = (size_t)((m - first) * n) * kernel->out->size;
		char *all = guarded((size_t)(m * n) * kernel->out->size), *y = guarded(bytes);

		call.a = random_elements(kernel->in, m * n);
		call.b = random_elements(kernel->in, p * n);
		try_binary(&call, row);
		/* From a row in the middle on. */
		call_binary(kernel, &call, call.a, call.b, all, m * n);
		((void (*)(const void *, const void *, void *, int64_t, int64_t, int64_t, int64_t))kernel->function)(
			element_at(kernel->in, call.a, first * n), call.b, y, m - first, n, p, first);
		check_same(kernel, "a part", y, element_at(kernel->out, all, first * n), bytes);
	}
}

static void run_binary(const struct kernel *kernel, const struct row *row)
{
	if (!strcmp(kernel->form, "same"))
		run_same(kernel, row);
	else if (!strcmp(kernel->form, "strided"))
		run_strided(kernel, row);
	else if (!strcmp(kernel->form, "cycle"))
		run_cycle(kernel, row);
	else
		run_shapes(kernel, row);
}

static void run_quotient(const struct kernel *kernel, const struct row *row)
{
	computed = find_type(kernel->in->size == 8 ? "f64" : "f32");
	run_binary(kernel, row);
}

/* ---- others ---- */

static void run_cast(const struct kernel *kernel, const struct row *row)
{
	const struct type *in = kernel->in, *out = kernel->out;
	int64_t n = in->size == 2 ? 65536 : usual_count;
	char *x = in->size == 2 ? guarded((size_t)n * 2) : random_elements(in, n), *y = guarded((size_t)n * out->size);

	for (int64_t i = 0; in->size == 2 && i < n; i++)
		memcpy(x + 2 * i, &(uint16_t){(uint16_t)i}, 2);
	/* Numbers around those half way between two that the output has. */
	for (int64_t i = 200; in->size > out->size && out->is_float && i < n; i += 3) {
		wide middle = ldexpf128((wide)(random_bits() % (1u << out->digits) | 1u << out->digits | 1),
					(int)(random_bits() % 55)) /
			      (in->is_float ? 1 << 20 : 1);
		put_wide(in, x, i,
			 in->is_float || middle < (wide)INT32_MAX * (in->size == 8 ? INT32_MAX : 1) ? middle : 1);
		if (i % 2)
			memcpy(element_at(in, x, i),
			       &(uint64_t){(uint64_t)get_whole(find_type(in->size == 8 ? "u64" : "u32"), x, i) +
					   (uint64_t)(i % 5) - 2},
			       in->size);
	}
	for (int i = 0; i <= LENGTHS; i++) {
		int64_t length = i < LENGTHS ? lengths[i] : n;
		char *part = copied(in, element_at(in, x, n - length), length);

		y = guarded((size_t)length * out->size);
		call_unary(kernel, row, part, y, length);
		check_front(kernel, y);
		for (int64_t j = 0; j < length; j++) {
			const char *inputs = two_inputs(in, part, j, NULL, 0);
			wide value = get_wide(in, part, j);

			if (!strcmp(out->name, "bool"))
				check_whole(kernel, y, j, value != 0, inputs);
			else if (out->is_float)
				check_wide(kernel, y, j, value, value, inputs);
			else
				check_whole(kernel, y, j, in->is_float ? truncated(out, value) : get_whole(in, part, j),
					    inputs);
		}
	}
	if (kernel->base) {
		char *again = guarded((size_t)n * out->size);

		call_unary(kernel->base, row, x, again, n);
		check_same(kernel, "the base", y, again, (size_t)n * out->size);
	}
}

static void run_clip(const struct kernel *kernel, const struct row *row)
{
	const struct type *type = kernel->in;
	int64_t n = 400;
	char *x = random_elements(type, n), *bounds = random_elements(type, special_count(type) + 8),
	     *y = guarded((size_t)n * type->size);

	(void)row;
	for (int64_t i = 0; i < 16 + LENGTHS; i++) {
		const void *min = i & 1 ? element_at(type, bounds, special_count(type) + i % 7) : NULL;
		const void *max = i & 2 ? element_at(type, bounds, special_count(type) + i % 5) : NULL;
		int64_t length = i < 16 ? n : lengths[i - 16];

		((void (*)(const void *, const void *, const void *, void *, int64_t))kernel->function)(x, min, max, y,
													length);
		for (int64_t j = 0; j < length; j++) {
			wide value = get_wide(type, x, j);

			value = min && value < get_wide(type, min, 0) ? get_wide(type, min, 0) : value;
			value = max && value > get_wide(type, max, 0) ? get_wide(type, max, 0) : value;
			check_wide(kernel, y, j, value, value, two_inputs(type, x, j, NULL, 0));
		}
	}
}

static void run_where(const struct kernel *kernel, const struct row *row)
{
	const struct type *type = kernel->in, *boolean = find_type("bool");
	static const int64_t dims[] = {4, 3, 70}, strides[3][3] = {{0, 70, 1}, {210, 70, 1}, {1, 0, 0}};
	int64_t n = !strcmp(kernel->form, "same") ? 1000 : 4 * 3 * 70;
	unsigned char *condition = random_elements(boolean, n);
	char *a = random_elements(type, n), *b = random_elements(type, n), *y = guarded((size_t)n * type->size);

	(void)row;
	if (!strcmp(kernel->form, "same"))
		for (int i = 0; i <= LENGTHS; i++)
			((void (*)(const void *, const void *, const void *, void *, int64_t))kernel->function)(
				condition, a, b, y, i < LENGTHS ? lengths[i] : n);
	else
		for (int64_t first = 0; first <= 300; first += 300)
			((void (*)(const void *, const void *, const void *, void *, int64_t, int64_t, int64_t,
				   const int64_t *, const int64_t *, const int64_t *,
				   const int64_t *))kernel->function)(condition, a, b, element_at(type, y, first),
								      n - first, first, 3, dims, strides[0], strides[1],
								      strides[2]);
	check_front(kernel, y);
	for (int64_t i = 0; i < n; i++) {
		int strided = strcmp(kernel->form, "same") != 0;
		int64_t c = strided ? i % 210 : i, q = strided ? i / 210 : i;

		check_same(kernel, "an element", element_at(type, y, i),
			   condition[c] ? element_at(type, a, i) : element_at(type, b, q), type->size);
	}
}

/* ---- the table ---- */

const struct row elementwise_rows[] = {
	{"Abs", run_unary, .unary = fabsf128, .whole_unary = whole_magnitude},
	{"Neg", run_unary, .unary = negated, .whole_unary = whole_negated},
	{"Sign", run_unary, .unary = sign, .whole_unary = whole_sign},
	{"Relu", run_unary, .unary = relu, .whole_unary = whole_relu},
	{"BitwiseNot", run_unary, .whole_unary = whole_not},
	{"Not", run_unary, .whole_unary = truth_not},
	{"Ceil", run_unary, .unary = ceilf128},
	{"Floor", run_unary, .unary = floorf128},
	{"Round", run_unary, .unary = rintf128},
	{"Trunc", run_unary, .unary = truncf128},
	{"Sqrt", run_unary, .unary = sqrtf128},
	{"Rsqrt", run_unary, .unary = reciprocal_root},
	{"Reciprocal", run_unary, .unary = reciprocal},
	{"Square", run_unary, .unary = square, .whole_unary = whole_square},
	{"Exp", run_unary, .unary = expf128},
	{"Expm1", run_unary, .unary = expm1f128},
	{"Log", run_unary, .unary = logf128},
	{"Log1p", run_unary, .unary = log1pf128},
	{"Tanh", run_unary, .unary = tanhf128},
	{"Sigmoid", run_unary, .unary = sigmoid},
	{"Softplus", run_unary, .unary = softplus},
	{"Softsign", run_unary, .unary = softsign},
	{"HSigmoid", run_unary, .unary = hard_gate},
	{"HardSwish", run_unary, .unary = hard_swish},
	{"Mish", run_unary, .unary = mish},
	{"Erf", run_unary, .unary = erff128, .whole_unary = whole_erf},
	{"Erfc", run_unary, .unary = erfcf128},
	{"Gelu", run_unary, .unary = gelu},
	{"Gelu(approximate=tanh)", run_unary, .unary = gelu_by_tanh},
	{"Sin", run_unary, .unary = sinf128},
	{"Cos", run_unary, .unary = cosf128},
	{"Tan", run_unary, .unary = tanf128},
	{"Asin", run_unary, .unary = asinf128},
	{"Acos", run_unary, .unary = acosf128},
	{"Atan", run_unary, .unary = atanf128},
	{"Sinh", run_unary, .unary = sinhf128},
	{"Cosh", run_unary, .unary = coshf128},
	{"Asinh", run_unary, .unary = asinhf128},
	{"Acosh", run_unary, .unary = acoshf128},
	{"Atanh", run_unary, .unary = atanhf128},
	{"IsNaN", run_unary, .unary = is_nan},
	{"IsInf", run_unary, .unary = is_infinite},
	{"IsInf(detect_negative=0)", run_unary, .unary = is_positive_infinity},
	{"IsInf(detect_positive=0)", run_unary, .unary = is_negative_infinity},
	{"IsFinite", run_unary, .unary = is_finite},
	{"LeakyRelu", run_unary, .with_attributes = leaky_relu, .attributes = 1, .attribute = {0.01f}},
	{"ThresholdedRelu", run_unary, .with_attributes = thresholded_relu, .attributes = 1, .attribute = {1.5f}},
	{"Elu", run_unary, .with_attributes = elu, .attributes = 1, .attribute = {1.25f}},
	{"Celu", run_unary, .with_attributes = celu, .attributes = 1, .attribute = {1.7f}},
	{"Swish", run_unary, .with_attributes = swish, .attributes = 1, .attribute = {1.3f}},
	{"Selu", run_unary, .with_attributes = selu, .attributes = 2, .attribute = {1.67326319f, 1.05070102f}},
	{"HardSigmoid", run_unary, .with_attributes = hard_sigmoid, .attributes = 2, .attribute = {0.2f, 0.5f}},
	{"Shrink", run_unary, .with_attributes = shrink, .whole_with_attributes = whole_shrink, .attributes = 2,
	 .attribute = {1.25f, 2.5f}},
	{"SoftplusExt", run_unary, .with_attributes = softplus_of, .attributes = 2, .attribute = {1.3f, 7}},
	{"Add", run_binary, .binary = sum, .whole_binary = whole_sum},
	{"Sub", run_binary, .binary = difference, .whole_binary = whole_difference},
	{"Mul", run_binary, .binary = product, .whole_binary = whole_product},
	{"Div", run_binary, .binary = quotient, .whole_binary = whole_quotient},
	{"Max", run_binary, .binary = larger, .whole_binary = whole_larger},
	{"Min", run_binary, .binary = smaller, .whole_binary = whole_smaller},
	{"Pow", run_binary, .binary = powf128, .whole_binary = whole_power},
	{"Mod", run_binary, .binary = floored_rest, .whole_binary = whole_floored_rest},
	{"Mod(fmod=1)", run_binary, .binary = fmodf128, .whole_binary = whole_rest},
	{"Atan2", run_binary, .binary = atan2f128},
	{"FloorDiv", run_quotient, .binary = floored_quotient, .whole_binary = whole_floor_quotient},
	{"TruncDiv", run_quotient, .binary = truncated_quotient},
	{"SquaredDifference", run_binary, .binary = squared_difference, .whole_binary = whole_squared_difference},
	{"NotEqual", run_binary, .binary = not_equal, .whole_binary = whole_not_equal},
	{"PRelu", run_binary, .binary = slope, .whole_binary = whole_slope},
	{"BitwiseAnd", run_binary, .whole_binary = whole_and},
	{"BitwiseOr", run_binary, .whole_binary = whole_or},
	{"BitwiseXor", run_binary, .whole_binary = whole_xor},
	{"BitShift(direction=LEFT)", run_binary, .whole_binary = shifted_left},
	{"BitShift(direction=RIGHT)", run_binary, .whole_binary = shifted_right},
	{"And", run_binary, .whole_binary = whole_and},
	{"Or", run_binary, .whole_binary = whole_or},
	{"Xor", run_binary, .whole_binary = whole_xor},
	{"Equal", run_binary, .binary = equal, .whole_binary = whole_equal},
	{"Greater", run_binary, .binary = greater, .whole_binary = whole_greater},
	{"GreaterOrEqual", run_binary, .binary = greater_or_equal, .whole_binary = whole_greater_or_equal},
	{"Less", run_binary, .binary = less, .whole_binary = whole_less},
	{"LessOrEqual", run_binary, .binary = less_or_equal, .whole_binary = whole_less_or_equal},
	{"Cast", run_cast},
	{"Clip", run_clip},
	{"Where", run_where},
	{NULL},
};
