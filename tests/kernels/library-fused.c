/* library-fused.c: kernels that normalize rows, fused with a sum before and integers after. Each is compared with its
 * definition, in parts, as cores compute them, and with the kernel for every processor, which must give the same bytes.
 * Leaving optional outputs out must not change the others. */
#include "tests/kernels/library.h"

#include <string.h>

extern wide fabsf128(wide x), sqrtf128(wide x);

static const float epsilon = 1e-3f;
static const int64_t shapes[][2] = {{0, 3}, {1, 1}, {3, 2}, {2, 63}, {3, 64}, {2, 65}, {1, 300}};
enum { SHAPES = sizeof shapes / sizeof *shapes, MOST_OUTPUTS = 5, MOST_INPUTS = 7 };

/* One call: m rows of k elements. Operands are in the order of the kernel, and so are results. */
struct call {
	const struct kernel *kernel;
	int64_t m, k, divides;
	void *in[MOST_INPUTS], *out[MOST_OUTPUTS];
	void *room, *numbers;
};

/* Results have the type of the rows (0), f32 (4) or i8 (1); some have one element per row only. */
struct result {
	int size, of_row;
};

static const struct operator
{
	const char *name;
	int inputs, outputs;
	const char *input; /* x: rows; g: factors; s: scales; z: zero points */
	struct result output[MOST_OUTPUTS];
}
operators[] = {
	{"RmsNorm", 2, 2, "xg", {{0, 0}, {4, 1}}},
	{"AddRmsNorm", 3, 3, "xxg", {{0, 0}, {4, 1}, {0, 0}}},
	{"AddRmsNormCast", 3, 4, "xxg", {{4, 0}, {0, 0}, {4, 1}, {0, 0}}},
	{"AddLayerNorm", 4, 4, "xxgg", {{0, 0}, {4, 1}, {4, 1}, {0, 0}}},
	{"QuantV2", 3, 1, "xsz", {{1, 0}}},
	{"RmsNormQuant", 5, 1, "xggsz", {{1, 0}}},
	{"AddRmsNormQuant", 7, 3, "xxgszsz", {{1, 0}, {1, 0}, {0, 0}}},
	{"DynamicQuant", 2, 2, "xg", {{1, 0}, {4, 1}}},
	{"AddRmsNormDynamicQuant", 5, 5, "xxggg", {{1, 0}, {1, 0}, {0, 0}, {4, 1}, {4, 1}}},
};

static const struct operator* operator_of(const struct kernel *kernel)
{
	const struct operator* operator= operators;

	while (strcmp(operator->name, kernel->operator))
		operator++;
	return operator;
}

/* ---- calls: pointers and integers in the order of the signature, and epsilon, which has a register of its own ---- */

typedef void short_call(void *, void *, void *, void *, int64_t, int64_t, float);

static void call(const struct kernel *kernel, const struct call *c)
{
	void *const *i = c->in, *const *o = c->out, *f = kernel->function;
	int64_t m = c->m, k = c->k, d = c->divides;

	if (!strcmp(kernel->operator, "RmsNorm"))
		((short_call *)f)(i[0], i[1], o[0], o[1], m, k, epsilon);
	else if (!strcmp(kernel->operator, "AddRmsNorm"))
		((void (*)(void *, void *, void *, void *, void *, void *, int64_t, int64_t, float, void *))f)(
			i[0], i[1], i[2], o[0], o[1], o[2], m, k, epsilon, c->room);
	else if (!strcmp(kernel->operator, "AddRmsNormCast"))
		((void (*)(void *, void *, void *, void *, void *, void *, void *, int64_t, int64_t, float, void *))f)(
			i[0], i[1], i[2], o[0], o[1], o[2], o[3], m, k, epsilon, c->room);
	else if (!strcmp(kernel->operator, "AddLayerNorm"))
		((void (*)(void *, void *, void *, void *, void *, void *, void *, void *, int64_t, int64_t, float,
			   void *))f)(i[0], i[1], i[2], i[3], o[0], o[1], o[2], o[3], m, k, epsilon, c->room);
	else if (!strcmp(kernel->operator, "QuantV2"))
		((void (*)(void *, void *, void *, void *, int64_t, int64_t, int64_t))f)(i[0], i[1], i[2], o[0], m, k,
											 d);
	else if (!strcmp(kernel->operator, "RmsNormQuant"))
		((void (*)(void *, void *, void *, void *, void *, void *, int64_t, int64_t, float, int64_t, void *))f)(
			i[0], i[1], i[2], i[3], i[4], o[0], m, k, epsilon, d, c->room);
	else if (!strcmp(kernel->operator, "AddRmsNormQuant"))
		((void (*)(void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, int64_t,
			   int64_t, float, int64_t, void *))f)(i[0], i[1], i[2], i[3], i[4], i[5], i[6], o[0], o[1],
							       o[2], m, k, epsilon, d, c->room);
	else if (!strcmp(kernel->operator, "DynamicQuant"))
		((void (*)(void *, void *, void *, void *, int64_t, int64_t, void *))f)(i[0], i[1], o[0], o[1], m, k,
											c->numbers);
	else
		((void (*)(void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, int64_t,
			   int64_t, float, void *, void *))f)(i[0], i[1], i[2], i[3], i[4], o[0], o[1], o[2], o[3],
							      o[4], m, k, epsilon, c->room, c->numbers);
}

/* ---- definitions ---- */

/* Values computed for one row before it is converted to integers. */
struct row_values {
	wide mean, factor, magnitude; /* the mean of magnitudes */
	wide allowed; /* of an element of 1 times its factor */
};

/* The sum, rounded as it would be in memory; the only operand if there is nothing to add. */
static void *sum_of(const struct call *c, const struct operator* operator)
{
	const struct type *type = c->kernel->in;
	int64_t n = c->m * c->k;
	void *sum = guarded((size_t)n * type->size);

	for (int64_t p = 0; p < n; p++)
		put_wide(type, sum, p,
			 get_wide(type, c->in[0], p) +
				 (operator->input[1] == 'x' ? get_wide(type, c->in[1], p) : (wide)0));
	return sum;
}

static struct row_values values_of(const struct call *c, const void *sum, int64_t row)
{
	const struct type *type = c->kernel->in;
	struct row_values values = {.factor = 1};
	wide square = 0;
	int centred = !strcmp(c->kernel->operator, "AddLayerNorm");

	if (!strstr(c->kernel->operator, "Norm"))
		return values;
	for (int64_t p = 0; p < c->k; p++) {
		values.mean += centred ? get_wide(type, sum, row * c->k + p) / c->k : 0;
		values.magnitude += fabsf128(get_wide(type, sum, row * c->k + p)) / c->k;
	}
	for (int64_t p = 0; p < c->k; p++) {
		wide from = get_wide(type, sum, row * c->k + p) - values.mean;

		square += from * from / c->k;
	}
	values.factor = 1 / sqrtf128(square + epsilon);
	values.allowed = (wide)(c->k + 16) * roundoff(type);
	return values;
}

/* Element `at` of the normalized rows, and how far it may be off where it is computed. */
static wide normal_of(const struct call *c, const void *sum, const struct row_values *values, int64_t at, wide *allowed)
{
	const struct type *type = c->kernel->in;
	const struct operator* operator= operator_of(c->kernel);
	int factors = operator->input[1] == 'x' ? 2 : 1;
	wide x = get_wide(type, sum, at), by, bias = 0;

	*allowed = 0;
	if (!strstr(c->kernel->operator, "Norm"))
		return x;
	by = get_wide(type, c->in[factors], at % c->k) * values->factor;
	if (!strcmp(c->kernel->operator, "AddLayerNorm") || !strcmp(c->kernel->operator, "RmsNormQuant"))
		bias = c->in[factors + 1] ? get_wide(type, c->in[factors + 1], at % c->k) : 0;
	*allowed = values->allowed *
		   ((fabsf128(x) + fabsf128(values->mean) + (values->mean != 0) * values->magnitude) * fabsf128(by) +
		    fabsf128(bias));
	return (x - values->mean) * by + bias;
}

/* The integer is the number, to the nearest, as far as that is known. */
static void check_integer(const struct call *c, const void *y, int64_t at, wide number, wide allowed)
{
	wide bounded = number < -128 ? -128 : number > 127 ? 127 : number;

	check_near(c->kernel, find_type("i8"), y, at, bounded, allowed + 0.5, "a row of integers");
}

/* Integers by a scale and a zero point for each element of a row. */
static void check_steps(const struct call *c, const void *sum, int scales, const void *y)
{
	const struct type *single = find_type("f32");

	for (int64_t at = 0; y && at < c->m * c->k; at++) {
		struct row_values values = values_of(c, sum, at / c->k);
		wide allowed, normal = normal_of(c, sum, &values, at, &allowed);
		wide scale = get_wide(single, c->in[scales], at % c->k), by = c->divides ? 1 / scale : scale;
		wide zero = c->in[scales + 1] ? get_wide(single, c->in[scales + 1], at % c->k) : 0;

		allowed += strstr(c->kernel->operator, "Norm") ? rounding(c->kernel->in, normal) : 0;
		check_integer(c, y, at, normal * by + zero,
			      allowed * fabsf128(by) + 4 * (fabsf128(normal * by) + fabsf128(zero)) * 0x1p-24L);
	}
}

/* Integers by the largest magnitude of each row. */
static void check_dynamic(const struct call *c, const void *sum, int smooth, const void *y, const void *scale)
{
	const struct type *type = c->kernel->in;

	for (int64_t row = 0; row < c->m; row++) {
		struct row_values values = values_of(c, sum, row);
		wide most = 0, off = 0, step;

		for (int64_t p = 0; p < c->k; p++) {
			wide allowed, normal = normal_of(c, sum, &values, row * c->k + p, &allowed);
			wide by = c->in[smooth] ? get_wide(type, c->in[smooth], p) : 1;

			allowed += strstr(c->kernel->operator, "Norm") ? rounding(type, normal) : 0;
			off = fabsf128(by * allowed) > off ? fabsf128(by * allowed) : off;
			most = fabsf128(by * normal) > most ? fabsf128(by * normal) : most;
		}
		step = most / 127;
		if (scale)
			check_near(c->kernel, find_type("f32"), scale, row, step, off / 127 + 4 * step * 0x1p-24L,
				   "a scale");
		for (int64_t p = 0; y && p < c->k; p++) {
			wide allowed, normal = normal_of(c, sum, &values, row * c->k + p, &allowed);
			wide by = c->in[smooth] ? get_wide(type, c->in[smooth], p) : 1;

			check_integer(c, y, row * c->k + p, most == 0 ? 0 : normal * by / step,
				      most == 0 ? -0.5 : 2 * off / step + 127 * 8 * 0x1p-24L);
		}
	}
}

static void check_floats(const struct call *c, const void *sum, const struct type *type, const void *y)
{
	for (int64_t at = 0; y && at < c->m * c->k; at++) {
		struct row_values values = values_of(c, sum, at / c->k);
		wide allowed, normal = normal_of(c, sum, &values, at, &allowed);

		/* A converted result has been rounded to the input's type before. */
		check_near(c->kernel, type, y, at, normal,
			   allowed + (type == c->kernel->in ? 0 : rounding(c->kernel->in, normal)), "a row");
	}
}

static void check_statistic(const struct call *c, const void *sum, const void *kept, int is_mean)
{
	for (int64_t row = 0; kept && row < c->m; row++) {
		struct row_values values = values_of(c, sum, row);
		wide off = values.allowed + 0x1p-23L;

		check_near(c->kernel, find_type("f32"), kept, row, is_mean ? values.mean : values.factor,
			   is_mean ? off * values.magnitude
				   : off * values.factor * (1 + values.magnitude * values.factor),
			   "a number of a row");
	}
}

static void check_results(const struct call *c)
{
	const char *name = c->kernel->operator;
	const struct operator* operator= operator_of(c->kernel);
	void *sum = sum_of(c, operator), *const *out = c->out;
	const struct type *single = find_type("f32"), *type = c->kernel->in;

	for (int i = 2; i < operator->outputs; i++)
		if (!operator->output[i].size)
			check_bytes(c->kernel, "the sum", out[i], sum, (size_t)(c->m * c->k) * type->size);
	if (!strcmp(name, "QuantV2")) {
		check_steps(c, sum, 1, out[0]);
	} else if (!strcmp(name, "RmsNormQuant")) {
		check_steps(c, sum, 3, out[0]);
	} else if (!strcmp(name, "AddRmsNormQuant")) {
		check_steps(c, sum, 3, out[0]);
		check_steps(c, sum, 5, out[1]);
	} else if (!strcmp(name, "DynamicQuant")) {
		check_dynamic(c, sum, 1, out[0], out[1]);
	} else if (!strcmp(name, "AddRmsNormDynamicQuant")) {
		check_dynamic(c, sum, 3, out[0], out[3]);
		check_dynamic(c, sum, 4, out[1], out[4]);
	} else if (!strcmp(name, "AddRmsNormCast")) {
		check_floats(c, sum, single, out[0]);
		check_floats(c, sum, type, out[1]);
		check_statistic(c, sum, out[2], 0);
	} else {
		check_floats(c, sum, type, out[0]);
		check_statistic(c, sum, out[1], !strcmp(name, "AddLayerNorm"));
		if (!strcmp(name, "AddLayerNorm"))
			check_statistic(c, sum, out[2], 0);
	}
}

/* ---- calls of all sorts ---- */

static size_t bytes_of(const struct call *c, int output)
{
	struct result result = operator_of(c->kernel)->output[output];
	size_t size = result.size ? (size_t)result.size : c->kernel->in->size;

	return (size_t)(c->m * (result.of_row ? 1 : c->k)) * size;
}

/* The same call with results in other memory. */
static struct call with_results(const struct call *c)
{
	struct call other = *c;

	for (int i = 0; i < operator_of(c->kernel)->outputs; i++)
		other.out[i] = guarded(bytes_of(c, i));
	other.room = guarded((size_t)(2 * c->k) * c->kernel->in->size);
	other.numbers = guarded((size_t)c->k * 4);
	return other;
}

/* The call, without those results of which bit i is set. */
static struct call call_without(const struct call *c, unsigned without)
{
	struct call other = *c;

	for (int i = 0; i < operator_of(c->kernel)->outputs; i++) {
		memset(c->out[i], 0x5a, bytes_of(c, i));
		if (without >> i & 1)
			other.out[i] = NULL;
	}
	call(c->kernel, &other);
	return other;
}

/* Check that two calls have computed the same bytes. */
static void check_same_results(const char *what, const struct call *c, const struct call *other)
{
	const struct operator* operator= operator_of(c->kernel);

	for (int i = 0; i < operator->outputs; i++)
		if (c->out[i] && other->out[i])
			check_bytes(c->kernel, what, other->out[i], c->out[i], bytes_of(c, i));
}

static void call_parts(const struct call *c)
{
	const struct operator* operator= operator_of(c->kernel);

	for (int64_t row = 0; row < c->m; row++) {
		struct call part = *c;

		part.m = 1;
		for (int i = 0; i < operator->inputs; i++)
			if (operator->input[i] == 'x')
				part.in[i] = (char *)c->in[i] + (size_t)(row * c->k) * c->kernel->in->size;
		for (int i = 0; i < operator->outputs; i++)
			part.out[i] = (char *)c->out[i] + (size_t)row * bytes_of(&part, i);
		call(c->kernel, &part);
	}
}

/* Inputs that may be absent are so in every second round. */
static struct call random_call(const struct kernel *kernel, int round)
{
	const struct operator* operator= operator_of(kernel);
	struct call c = {
		.kernel = kernel, .m = shapes[round / 2][0], .k = shapes[round / 2][1], .divides = round / 2 % 2};
	int factors = 0;

	for (int i = 0; i < operator->inputs; i++) {
		char letter = operator->input[i];
		int optional =
			letter == 'z' || (letter == 'g' && (factors || !strcmp(operator->name, "DynamicQuant")) &&
					  strcmp(operator->name, "AddLayerNorm"));

		if (letter == 'x') /* some rows are of zeros */
			c.in[i] = random_reals(kernel->in, c.m * c.k, round % 5 == 4 ? 0 : round % 3 - 3,
					       round % 5 == 4 ? 0 : 5);
		else if (optional && round % 2)
			c.in[i] = NULL;
		else if (letter == 'g')
			c.in[i] = random_reals(kernel->in, c.k, -2, 2);
		else
			c.in[i] =
				random_reals(find_type("f32"), c.k, letter == 's' ? 0.02 : -30, letter == 's' ? 4 : 30);
		factors += letter == 'g';
	}
	return c;
}

static void run_fused(const struct kernel *kernel, const struct row *row)
{
	const struct operator* operator= operator_of(kernel);

	(void)row;
	for (int round = 0; round < 2 * SHAPES; round++) {
		struct call given = random_call(kernel, round), all = with_results(&given),
			    other = with_results(&given);

		call(kernel, &all);
		for (int i = 0; i < operator->outputs; i++)
			check_front(kernel, all.out[i]);
		check_front(kernel, all.room);
		check_front(kernel, all.numbers);
		check_results(&all);
		call_parts(&other);
		check_same_results("a part", &all, &other);
		for (unsigned without = 1; without + 1 < 1u << operator->outputs; without++) {
			struct call rest;

			if (!strcmp(kernel->operator, "RmsNorm") && without & 1)
				continue;
			rest = call_without(&other, without);
			check_same_results("what is left without others", &all, &rest);
		}
		if (kernel->base) {
			call(kernel->base, &other);
			check_same_results("the base", &all, &other);
		}
	}
}

const struct row fused_rows[] = {
	{"RmsNorm", run_fused},
	{"AddRmsNorm", run_fused},
	{"AddRmsNormCast", run_fused},
	{"AddLayerNorm", run_fused},
	{"QuantV2", run_fused},
	{"RmsNormQuant", run_fused},
	{"AddRmsNormQuant", run_fused},
	{"DynamicQuant", run_fused},
	{"AddRmsNormDynamicQuant", run_fused},
	{NULL},
};
