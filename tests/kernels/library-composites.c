/* library-composites.c: the kernels of composites, for finite numbers and NaN. Their inputs have the same shape, in
 * ranges of 0, 1, 63, 64 and 65 elements and in place, or lie strided, from any element on. */
#include "tests/kernels/library.h"

#include <string.h>

enum { MAXIMUM = 4, DIMENSIONS = 3, BOX = 3 * 5 * 130 };

extern wide expf128(wide x), log1pf128(wide x), sqrtf128(wide x), coshf128(wide x), fabsf128(wide x);

/* ---- definitions, and the term that bounds are relative to: the largest number added or subtracted on the way, or dy
 * ---- */

#define UNUSED ((void)attribute, (void)term)

static wide larger(wide a, wide b)
{
	return fabsf128(a) > fabsf128(b) ? fabsf128(a) : fabsf128(b);
}

static wide sigmoid(wide x)
{
	return 1 / (1 + expf128(-x));
}

static wide sqrt_grad(const wide *x, const float *attribute, wide *term)
{
	UNUSED;
	return x[1] / (2 * x[0]);
}

static wide rsqrt_grad(const wide *x, const float *attribute, wide *term)
{
	UNUSED;
	return -x[0] * x[0] * x[0] * x[1] / 2;
}

static wide sigmoid_grad(const wide *x, const float *attribute, wide *term)
{
	UNUSED;
	return x[1] * x[0] * (1 - x[0]);
}

static wide tanh_grad(const wide *x, const float *attribute, wide *term)
{
	UNUSED;
	return x[1] * (1 - x[0] * x[0]);
}

static wide relu_grad(const wide *x, const float *attribute, wide *term)
{
	UNUSED;
	return x[1] > 0 ? x[0] : 0;
}

static wide softplus_grad(const wide *x, const float *attribute, wide *term)
{
	(void)attribute;
	*term = x[0];
	return x[0] * sigmoid(x[1]);
}

static wide softplus_grad_of(const wide *x, const float *attribute, wide *term)
{
	*term = x[0];
	return x[1] * attribute[0] > attribute[1] ? x[0] : x[0] * sigmoid(x[1] * attribute[0]);
}

static wide swish_grad(const wide *x, const float *attribute, wide *term)
{
	wide scaled = x[1] * attribute[0], gate = sigmoid(scaled);

	*term = x[0];
	return x[0] * gate * (1 + scaled * sigmoid(-scaled));
}

/* As it is written: 0.5 x (1 + tanh t). */
static wide gelu_grad(const wide *x, const float *attribute, wide *term)
{
	wide root = 0.797884560802865355879892119868763737Q, z = x[1];
	wide t = root * (z + 0.044715Q * z * z * z), slope = root * (1 + 3 * 0.044715Q * z * z);
	wide gate = sigmoid(2 * t), steep = z / 2 * slope / (coshf128(t) * coshf128(t));

	(void)attribute;
	*term = x[0];
	return x[0] * (gate + steep);
}

static wide cross_entropy(const wide *x, const float *attribute, wide *term)
{
	wide loss = (x[0] > 0 ? x[0] : x[0] != x[0] ? x[0] : 0) + log1pf128(expf128(-fabsf128(x[0])));

	(void)attribute;
	*term = larger(loss, x[0] * x[1]);
	return loss - x[0] * x[1];
}

static wide cross_entropy_grad(const wide *x, const float *attribute, wide *term)
{
	(void)attribute;
	*term = larger(larger(sigmoid(x[0]) * x[2], x[1] * x[2]),
		       0x1p-126Q * x[2]); /* below, s(x) is denormal in f32 */
	return (sigmoid(x[0]) - x[1]) * x[2];
}

static wide multiply_add(const wide *x, const float *attribute, wide *term)
{
	(void)attribute;
	*term = larger(x[0] * x[1], x[2]);
	return x[0] * x[1] + x[2];
}

static wide add_product(const wide *x, const float *attribute, wide *term)
{
	(void)attribute;
	*term = larger(x[0], x[1] * x[2] * x[3]);
	return x[0] + x[1] * x[2] * x[3];
}

static wide clip_by_norm(const wide *x, const float *attribute, wide *term)
{
	wide norm = x[0] > x[1] ? sqrtf128(x[0]) : x[0];

	UNUSED;
	return norm != norm || norm > x[3] ? norm : x[3];
}

/* ---- calls ---- */

/* The inputs of a call, and where they lie, if it is strided. */
struct call {
	const struct kernel *kernel;
	const struct row *row;
	void *x[MAXIMUM];
	int64_t dims[DIMENSIONS], strides[MAXIMUM][DIMENSIONS];
};

static int is_strided(const struct kernel *kernel)
{
	return !strcmp(kernel->form, "strided");
}

#define POINTERS_2 const void *, const void *
#define POINTERS_3 POINTERS_2, const void *
#define POINTERS_4 POINTERS_3, const void *
#define SAME	   void *, int64_t
#define WALK	   void *, int64_t, int64_t, int64_t, const int64_t *
#define STRIDES_2  const int64_t *, const int64_t *
#define STRIDES_3  STRIDES_2, const int64_t *
#define STRIDES_4  STRIDES_3, const int64_t *
#define FIRST_2	   x[0], x[1]
#define FIRST_3	   FIRST_2, x[2]
#define FIRST_4	   FIRST_3, x[3]
#define STEPS_2	   call->strides[0], call->strides[1]
#define STEPS_3	   STEPS_2, call->strides[2]
#define STEPS_4	   STEPS_3, call->strides[3]

/* The attributes come last; a function takes no notice of those that it does not have. */
#define CALL(COUNT)                                                                                                    \
	if (is_strided(kernel))                                                                                        \
		((void (*)(POINTERS_##COUNT, WALK, STRIDES_##COUNT, float, float))kernel->function)(                   \
			FIRST_##COUNT, y, n, first, DIMENSIONS, call->dims, STEPS_##COUNT, a[0], a[1]);                \
	else                                                                                                           \
		((void (*)(POINTERS_##COUNT, SAME, float, float))kernel->function)(FIRST_##COUNT, y, n, a[0], a[1])

static void call_composite(const struct kernel *kernel, const struct call *call, void *const *x, void *y, int64_t n,
			   int64_t first)
{
	const float *a = call->row->attribute;

	if (call->row->inputs == 2) {
		CALL(2);
	} else if (call->row->inputs == 3) {
		CALL(3);
	} else {
		CALL(4);
	}
}

/* The element of an input for element i of the output. */
static int64_t place(const struct call *call, int input, int64_t i)
{
	int64_t element = 0;

	if (!is_strided(call->kernel))
		return i;
	for (int d = DIMENSIONS; d--; i /= call->dims[d])
		element += i % call->dims[d] * call->strides[input][d];
	return element;
}

static void check(const struct call *call, const void *y, int64_t n, int64_t first)
{
	const struct type *type = call->kernel->in;

	for (int64_t i = 0; i < n; i++) {
		wide x[MAXIMUM], term = 0, expected;

		for (int k = 0; k < call->row->inputs; k++)
			x[k] = get_wide(type, call->x[k], place(call, k, first + i));
		expected = call->row->composite(x, call->row->attribute, &term);
		check_wide(
			call->kernel, y, i, expected, term,
			two_inputs(type, call->x[0], place(call, 0, first + i), call->x[1], place(call, 1, first + i)));
	}
}

/* Call it, compare, and call it in place and for other processors. */
static void try(const struct call *call, int64_t n, int64_t first)
{
	const struct kernel *kernel = call->kernel;
	size_t bytes = (size_t)n * kernel->out->size;
	void *y = guarded(bytes), *again = guarded(bytes), *x[MAXIMUM];

	call_composite(kernel, call, call->x, y, n, first);
	check_front(kernel, y);
	check(call, y, n, first);
	if (kernel->base) {
		call_composite(kernel->base, call, call->x, again, n, first);
		check_same(kernel, "the base", y, again, bytes);
	}
	if (is_strided(kernel))
		return;
	memcpy(x, call->x, sizeof(x));
	x[0] = memcpy(again, call->x[0], bytes);
	call_composite(kernel, call, x, again, n, first);
	check_same(kernel, "in place", again, y, bytes);
}

/* Numbers of several sizes, small whole ones, and a NaN. */
static void *numbers(const struct type *type, int64_t n)
{
	static const double sizes[] = {0.01, 1, 4, 30, 100};
	void *elements = guarded((size_t)n * type->size);

	for (int64_t i = 0; i < n; i++) {
		uint64_t bits = random_bits();
		double uniform = (double)(int64_t)random_bits() * 0x1p-63;

		if (bits % 8 == 0)
			put_wide(type, elements, i, (wide)((int64_t)(bits >> 32) % 9 - 4) / 2);
		else
			put_wide(type, elements, i, bits % 99 ? uniform * sizes[bits % 5] : (wide)__builtin_nan(""));
	}
	return elements;
}

static const int64_t lengths[] = {0, 1, 63, 64, 65, BOX};

static struct call box(const struct kernel *kernel, const struct row *row)
{
	return (struct call){kernel, row, .dims = {3, 5, 130},
			     .strides = {{650, 130, 1}, {1, 0, 5}, {0, 1, 0}, {0, 0, 0}}};
}

static void run_composite(const struct kernel *kernel, const struct row *row)
{
	struct call call = box(kernel, row);

	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		int64_t n = lengths[i];

		for (int k = 0; k < row->inputs; k++)
			call.x[k] = numbers(kernel->in, is_strided(kernel) ? BOX : n);
		try(&call, n, 0);
		if (is_strided(kernel) && n < 1000)
			try(&call, n, 777);
	}
}

/* ---- operators with two outputs ---- */

static void call_extreme(const struct call *call, void *dx, void *dy, int64_t n, int64_t first)
{
	void *const *x = call->x;

	if (is_strided(call->kernel))
		((void (*)(POINTERS_3, void *, WALK, STRIDES_3))call->kernel->function)(
			FIRST_3, dx, dy, n, first, DIMENSIONS, call->dims, STEPS_3);
	else
		((void (*)(POINTERS_3, void *, SAME))call->kernel->function)(FIRST_3, dx, dy, n);
}

static void try_extreme(const struct call *call, int64_t n, int64_t first)
{
	const struct type *type = call->kernel->in;
	size_t bytes = (size_t)n * type->size;
	int is_maximum = !strcmp(call->kernel->operator, "MaximumGrad");
	void *dx = guarded(bytes), *dy = guarded(bytes);

	call_extreme(call, dx, dy, n, first);
	check_front(call->kernel, dx);
	check_front(call->kernel, dy);
	for (int64_t i = 0; i < n; i++) {
		int64_t p = place(call, 0, first + i), q = place(call, 1, first + i), r = place(call, 2, first + i);
		wide x = get_wide(type, call->x[0], p), y = get_wide(type, call->x[1], q);
		wide gradient = get_wide(type, call->x[2], r), share = (is_maximum ? x >= y : x <= y) ? gradient : 0;
		const char *inputs = two_inputs(type, call->x[0], p, call->x[1], q);

		check_wide(call->kernel, dx, i, share, 0, inputs);
		check_wide(call->kernel, dy, i, (is_maximum ? x >= y : x <= y) ? 0 : gradient, 0, inputs);
	}
}

static void run_extreme(const struct kernel *kernel, const struct row *row)
{
	struct call call = box(kernel, row);

	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		int64_t n = lengths[i];

		for (int k = 0; k < 3; k++)
			call.x[k] = kernel->in->is_float ? numbers(kernel->in, BOX) : random_elements(kernel->in, BOX);
		try_extreme(&call, n, 0);
		if (is_strided(kernel) && n < 1000)
			try_extreme(&call, n, 777);
	}
}

/* ---- the table ---- */

#define COMPOSITE(NAME, INPUTS, MEANING)                                                                               \
	{                                                                                                              \
		NAME, run_composite, .inputs = INPUTS, .composite = MEANING                                            \
	}

const struct row composite_rows[] = {
	COMPOSITE("SqrtGrad", 2, sqrt_grad),
	{"MaximumGrad", run_extreme},
	{"MinimumGrad", run_extreme},
	COMPOSITE("RsqrtGrad", 2, rsqrt_grad),
	COMPOSITE("SigmoidGrad", 2, sigmoid_grad),
	COMPOSITE("TanhGrad", 2, tanh_grad),
	COMPOSITE("ReluGrad", 2, relu_grad),
	COMPOSITE("SoftplusGrad", 2, softplus_grad),
	{"SoftplusGradExt", run_composite, .inputs = 2, .composite = softplus_grad_of, .attribute = {1.3f, 7}},
	{"SwishGrad", run_composite, .inputs = 2, .composite = swish_grad, .attribute = {1.702f}},
	COMPOSITE("GeLUGrad", 2, gelu_grad),
	COMPOSITE("SigmoidCrossEntropyWithLogits", 2, cross_entropy),
	COMPOSITE("SigmoidCrossEntropyWithLogitsGrad", 3, cross_entropy_grad),
	COMPOSITE("FusedMulAdd", 3, multiply_add),
	COMPOSITE("Addcmul", 4, add_product),
	COMPOSITE("ClipByNormNoDivSum", 4, clip_by_norm),
	{NULL},
};
