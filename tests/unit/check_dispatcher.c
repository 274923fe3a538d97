/* Dispatchers made from plans built by hand, run for real: the arguments of their kernels, the order, and the cores. */
#include "config.h" /* memmem is an extension */

#include <check.h>
#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "format/skplan.h"
#include "stubs/dispatcher/dispatcher.h"
#include "format/skabi.h"
#include "tests/lib/dispatcher-rig.h"
#include "tests/lib/suite.h"

#define STEP(plan, kind, function) rig_step((plan), (kind), RIG_FUNCTION(function))
#define ARGUMENT(plan, ...)	   rig_argument((plan), (struct sk_plan_argument){__VA_ARGS__})
#define POINTER(plan, where, number, at, ...)                                                                          \
	ARGUMENT(plan, .kind = SK_ARGUMENT_POINTER, .dtype = SK_F32, .space = (where), .index = (number),              \
		 .offset = (at), __VA_ARGS__)
#define VALUE(plan, type, bits, ...)                                                                                   \
	ARGUMENT(plan, .kind = SK_ARGUMENT_VALUE, .dtype = (type), .value = (bits), __VA_ARGS__)
#define LENGTH(plan, type, ...) ARGUMENT(plan, .kind = SK_ARGUMENT_LENGTH, .dtype = (type), __VA_ARGS__)
#define BY_REFERENCE		.flags = SK_ARGUMENT_BY_REFERENCE

static struct rig_plan *plan;
static uint8_t workspace[4096] __attribute__((aligned(64)));

static void setup(void)
{
	plan = rig_plan_new();
	plan->header.workspace_size = 1024;
	plan->header.unshared_workspace_size = 2048;
	rig_log.count = 0;
}

static void teardown(void)
{
	rig_plan_free(plan);
}

static uint64_t bits32(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static uint64_t bits64(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

#define ADDRESS(pointer) ((uint64_t)(uintptr_t)(pointer))

/* Run the parallel entry on this thread as the given core of a device without a second lane. */
static int run_core(struct rig_device *device, uint32_t core)
{
	struct rig_code loaded = rig_load(plan, SK_ENTRY_PARALLEL);
	int status = rig_call(rig_entry(&loaded), &device->cores[0][core], NULL);

	rig_unload(&loaded);
	return status;
}

static int run_serial(void *const *bindings)
{
	struct rig_code loaded = rig_load(plan, SK_ENTRY_SERIAL);
	int status = rig_call(rig_entry(&loaded), (void *)(uintptr_t)bindings, workspace);

	rig_unload(&loaded);
	return status;
}

static void take_number(int64_t number)
{
	RIG_LOG((uint64_t)number);
}

static int give_status(int64_t status)
{
	RIG_LOG((uint64_t)status);
	return (int)status;
}

static void add_status(int64_t status)
{
	STEP(plan, SK_STEP_PLAIN, give_status);
	rig_last_call(plan)->flags = SK_CALL_STATUS;
	VALUE(plan, SK_I64, (uint64_t)status);
}

/* ---- scalars ---- */

static void take_scalars(int8_t a, uint8_t b, float c, int16_t d, uint16_t e, double f, int32_t g, uint32_t h,
			 int64_t i, uint64_t j, bool k, int64_t l, int64_t m, int32_t n, float o, float p, float q,
			 double r, float s, float t, float u, double v, double w)
{
	/* The psABI wants 16 bytes of alignment at every call; rbp was pushed below the return address. */
	ck_assert_uint_eq(ADDRESS(__builtin_frame_address(0)) % 16, 0);
	RIG_LOG((uint64_t)a, b, bits32(c), (uint64_t)d, e, bits64(f), (uint64_t)g, h, (uint64_t)i, j, k, (uint64_t)l,
		(uint64_t)m, (uint64_t)n, bits32(o), bits32(p), bits32(q), bits64(r), bits32(s), bits32(t), bits32(u),
		bits64(v), bits64(w));
}

/* Fourteen integers and nine floats: eight integers and one float lie on the stack. */
static void add_scalars(void)
{
	STEP(plan, SK_STEP_PLAIN, take_scalars);
	VALUE(plan, SK_I8, 0x80);
	VALUE(plan, SK_U8, 0x80);
	VALUE(plan, SK_F32, bits32(1.5f));
	VALUE(plan, SK_I16, 0xfffe);
	VALUE(plan, SK_U16, 0xfffe);
	VALUE(plan, SK_F64, bits64(-2.25));
	VALUE(plan, SK_I32, 0xfffffffd);
	VALUE(plan, SK_U32, 0xfffffffd);
	VALUE(plan, SK_I64, (uint64_t)-3);
	VALUE(plan, SK_U64, 0x123456789abcdef0);
	VALUE(plan, SK_BOOL, 1);
	VALUE(plan, SK_I64, (uint64_t)INT64_MIN);
	VALUE(plan, SK_I64, 0x80000000);
	VALUE(plan, SK_I32, 7);
	VALUE(plan, SK_F32, 0);
	VALUE(plan, SK_F32, bits32(-0.0f));
	VALUE(plan, SK_F32, bits32(3));
	VALUE(plan, SK_F64, 0);
	VALUE(plan, SK_F32, bits32(4));
	VALUE(plan, SK_F32, bits32(5));
	VALUE(plan, SK_F32, bits32(6));
	VALUE(plan, SK_F64, bits64(1e300));
	VALUE(plan, SK_F64, 0);
}

static void expect_scalars(unsigned *at)
{
	RIG_EXPECT(at, (uint64_t)-128, 0x80, bits32(1.5f), (uint64_t)-2, 0xfffe, bits64(-2.25), (uint64_t)-3,
		   0xfffffffd, (uint64_t)-3, 0x123456789abcdef0, 1, (uint64_t)INT64_MIN, 0x80000000, 7, 0,
		   bits32(-0.0f), bits32(3), 0, bits32(4), bits32(5), bits32(6), bits64(1e300), 0);
}

START_TEST(scalars)
{
	unsigned at = 0;
	struct rig_device *device;

	add_scalars();
	device = rig_device_new(plan, 1, 0, workspace);
	ck_assert_int_eq(run_core(device, 0), 0);
	ck_assert_int_eq(run_serial(NULL), 0);
	expect_scalars(&at);
	expect_scalars(&at);
	ck_assert_uint_eq(rig_log.count, at);
	rig_device_free(device);
}
END_TEST

/* Small integers are extended to 32 bits, which the psABI leaves open and compilers rely on. */
static void take_extended(int32_t a, uint32_t b, int32_t c, uint32_t d, uint32_t e, int32_t f, int32_t g, uint32_t h,
			  int32_t i)
{
	RIG_LOG((uint64_t)a, b, (uint64_t)c, d, e, (uint64_t)f, (uint64_t)g, h, (uint64_t)i);
}

START_TEST(small_integers)
{
	static const enum sk_dtype types[] = {SK_I8, SK_U8, SK_I16, SK_U16, SK_BOOL, SK_I8, SK_I8, SK_U16, SK_I16};
	uint64_t memory[] = {0xfffffffffffffff0, 0xfffffffffffffff0, 0xfffffffffffffff0,
			     0xfffffffffffffff0, 0xffffffffffffff01, 0xfffffffffffffff0,
			     0xfffffffffffffff0, 0xfffffffffffffff0, 0xfffffffffffffff0};
	void *bindings[] = {memory};
	unsigned at = 0;

	STEP(plan, SK_STEP_PLAIN, take_extended);
	for (unsigned i = 0; i < 9; i++)
		VALUE(plan, types[i], memory[i] & (sk_dtype_size(types[i]) == 1 ? 0xff : 0xffff));
	STEP(plan, SK_STEP_PLAIN, take_extended);
	for (unsigned i = 0; i < 9; i++)
		ARGUMENT(plan, .kind = SK_ARGUMENT_LOAD, .dtype = types[i], .space = SK_SPACE_BINDING, .offset = 8 * i);
	ck_assert_int_eq(run_serial(bindings), 0);
	for (unsigned i = 0; i < 2; i++)
		RIG_EXPECT(&at, (uint64_t)-16, 0xf0, (uint64_t)-16, 0xfff0, 1, (uint64_t)-16, (uint64_t)-16, 0xfff0,
			   (uint64_t)-16);
}
END_TEST

/* _Float16 and bf16 are in the low half of an xmm register. */
static void take_halves(float a, float b)
{
	RIG_LOG(bits32(a), bits32(b));
}

START_TEST(half_floats)
{
	unsigned at = 0;

	STEP(plan, SK_STEP_PLAIN, take_halves);
	VALUE(plan, SK_F16, 0xbc00);
	VALUE(plan, SK_BF16, 0x3f80);
	ck_assert_int_eq(run_serial(NULL), 0);
	RIG_EXPECT(&at, 0xbc00, 0x3f80);
}
END_TEST

/* As Fortran does: every parameter by address, and the kernel changes them. */
static void take_references(int32_t *a, double *b, int64_t *c, float *d, int8_t *e, int32_t *f, int64_t *g, double *h)
{
	RIG_LOG((uint64_t)*a, bits64(*b), (uint64_t)*c, bits32(*d), (uint64_t)*e, (uint64_t)*f, (uint64_t)*g,
		bits64(*h));
	*a = *e = *f = 99;
	*c = *g = 99;
	*b = *d = *h = NAN;
}

/* A run-time scalar by reference is a copy too: the tensor must not change. This one is so far away that it takes a
 * scratch register, which must not be one that already holds an argument. */
static void add_far_load(void)
{
	ARGUMENT(plan, .kind = SK_ARGUMENT_LOAD, .dtype = SK_F64, .access = SK_ACCESS_READ, .space = SK_SPACE_BINDING,
		 .index = 0, .offset = (uint64_t)1 << 40, BY_REFERENCE);
}

static void take_two_references(int32_t *a, double *b)
{
	RIG_LOG((uint64_t)*a, bits64(*b));
	*b = 0;
}

static void add_references(void)
{
	STEP(plan, SK_STEP_PLAIN, take_references);
	VALUE(plan, SK_I32, 0xfffffff0, BY_REFERENCE);
	VALUE(plan, SK_F64, bits64(0.1), BY_REFERENCE);
	VALUE(plan, SK_I64, (uint64_t)-5, BY_REFERENCE);
	VALUE(plan, SK_F32, bits32(0.5f), BY_REFERENCE);
	VALUE(plan, SK_I8, 0xff, BY_REFERENCE);
	VALUE(plan, SK_I32, 6, BY_REFERENCE);
	VALUE(plan, SK_I64, 0x1234567890, BY_REFERENCE);
	add_far_load();
}

START_TEST(references)
{
	unsigned at = 0;
	double scalar = 2.5;
	void *bindings[] = {(void *)(ADDRESS(&scalar) - ((uint64_t)1 << 40))};

	add_references();
	add_references();
	STEP(plan, SK_STEP_PLAIN, take_two_references);
	VALUE(plan, SK_I32, 17, BY_REFERENCE);
	add_far_load();
	ck_assert_int_eq(run_serial(bindings), 0);
	for (int i = 0; i < 2; i++)
		RIG_EXPECT(&at, (uint64_t)-16, bits64(0.1), (uint64_t)-5, bits32(0.5f), (uint64_t)-1, 6, 0x1234567890,
			   bits64(2.5));
	RIG_EXPECT(&at, 17, bits64(2.5));
	ck_assert_uint_eq(bits64(scalar), bits64(2.5));
}
END_TEST

static void take_loads(int8_t a, uint8_t b, int16_t c, uint16_t d, int32_t e, uint32_t f, int64_t g, uint64_t h, bool i,
		       float j, double k, int32_t *l)
{
	RIG_LOG((uint64_t)a, b, (uint64_t)c, d, (uint64_t)e, f, (uint64_t)g, h, i, bits32(j), bits64(k), (uint64_t)*l);
}

START_TEST(loads)
{
	static const enum sk_dtype types[] = {SK_I8,  SK_U8,  SK_I16,  SK_U16, SK_I32, SK_U32,
					      SK_I64, SK_U64, SK_BOOL, SK_F32, SK_F64};
	uint64_t memory[12];
	void *bindings[] = {NULL, memory};
	unsigned at = 0;

	memset(memory, 0xff, sizeof(memory));
	memory[8] = 1;
	memory[9] = bits32(1.25f);
	memory[10] = bits64(-8);
	memcpy(workspace + 128, &(int32_t){-77}, 4);
	STEP(plan, SK_STEP_PLAIN, take_loads);
	for (unsigned i = 0; i < 11; i++)
		ARGUMENT(plan, .kind = SK_ARGUMENT_LOAD, .dtype = types[i], .space = SK_SPACE_BINDING, .index = 1,
			 .offset = 8 * i);
	ARGUMENT(plan, .kind = SK_ARGUMENT_LOAD, .dtype = SK_I32, .space = SK_SPACE_WORKSPACE, .offset = 128,
		 BY_REFERENCE);
	ck_assert_int_eq(run_serial(bindings), 0);
	RIG_EXPECT(&at, (uint64_t)-1, 0xff, (uint64_t)-1, 0xffff, (uint64_t)-1, 0xffffffff, (uint64_t)-1, (uint64_t)-1,
		   1, bits32(1.25f), bits64(-8), (uint64_t)-77);
}
END_TEST

/* ---- addresses ---- */

static void take_pointers(void *a, void *b, void *c, void *d, void *e, void *f, void *g, void *h, void *i)
{
	RIG_LOG(ADDRESS(a), ADDRESS(b), ADDRESS(c), ADDRESS(d), ADDRESS(e), ADDRESS(f), ADDRESS(g), ADDRESS(h),
		ADDRESS(i));
}

static void take_two(void *a, void *b)
{
	RIG_LOG(ADDRESS(a), ADDRESS(b));
}

/* Offsets that fit into no byte, a byte, 31 bits and more, in every space, in registers and on the stack. */
START_TEST(addresses)
{
	static const uint64_t offsets[] = {
		0, 127, 128, INT32_MAX, (uint64_t)INT32_MAX + 1, UINT32_MAX, (uint64_t)5 << 40, 4096, 0};
	static const enum sk_space spaces[] = {SK_SPACE_BINDING, SK_SPACE_WORKSPACE, SK_SPACE_CONSTANT};
	struct rig_code loaded;
	struct rig_device *device;
	unsigned at = 0;

	for (unsigned space = 0; space < 3; space++) {
		STEP(plan, SK_STEP_PLAIN, take_pointers);
		for (unsigned i = 0; i < 9; i++)
			POINTER(plan, spaces[space], space == 0 ? 5 : 0, offsets[i], .size = 1);
	}
	STEP(plan, SK_STEP_PLAIN, take_two);
	ARGUMENT(plan, .kind = SK_ARGUMENT_SCRATCH);
	ARGUMENT(plan, .kind = SK_ARGUMENT_SCRATCH, .offset = 192);
	device = rig_device_new(plan, 1, 0, workspace);
	device->bindings[5] = device;
	loaded = rig_load(plan, SK_ENTRY_PARALLEL);
	ck_assert_int_eq(rig_call(rig_entry(&loaded), &device->cores[0][0], NULL), 0);

	uint64_t bases[] = {ADDRESS(device), ADDRESS(workspace), ADDRESS(RIG_CONSTANTS(&loaded))};

	for (unsigned space = 0; space < 3; space++) {
		uint64_t b = bases[space];

		RIG_EXPECT(&at, b + offsets[0], b + offsets[1], b + offsets[2], b + offsets[3], b + offsets[4],
			   b + offsets[5], b + offsets[6], b + offsets[7], b + offsets[8]);
	}
	RIG_EXPECT(&at, ADDRESS(device->scratch[0][0]), ADDRESS(device->scratch[0][0] + 192));
	rig_unload(&loaded);
	rig_device_free(device);
}
END_TEST

/* Serial entries keep the scratch after the workspace; those of tasks, after the unshared one. */
START_TEST(serial_scratch)
{
	unsigned at = 0;

	STEP(plan, SK_STEP_PLAIN, take_two);
	ARGUMENT(plan, .kind = SK_ARGUMENT_SCRATCH, .offset = 64);
	POINTER(plan, SK_SPACE_WORKSPACE, 0, 64);
	ck_assert_int_eq(run_serial(NULL), 0);
	plan->form.kind = SK_LAUNCH_TASK;
	ck_assert_int_eq(run_serial(NULL), 0);
	RIG_EXPECT(&at, ADDRESS(workspace + 1024 + 64), ADDRESS(workspace + 64));
	RIG_EXPECT(&at, ADDRESS(workspace + 2048 + 64), ADDRESS(workspace + 64));
}
END_TEST

/* ---- split ---- */

static void take_split(void *a, void *b, void *c, int64_t n, void *d, int32_t m, int32_t *l, void *e, void *f,
		       int64_t o)
{
	RIG_LOG(ADDRESS(a), ADDRESS(b), ADDRESS(c), (uint64_t)n, ADDRESS(d), (uint64_t)m, (uint64_t)*l, ADDRESS(e),
		ADDRESS(f), (uint64_t)o);
}

static void expect_split(unsigned *at, uint64_t low, uint64_t length, uint64_t bytes, uint64_t bound,
			 uint64_t constants)
{
	uint64_t far = (uint64_t)3 << 31;

	RIG_EXPECT(at, bound + low * bytes, ADDRESS(workspace) + 64 + low * bytes, constants + 8 + low * bytes, length,
		   bound + 4096, length, length, constants + far + low * bytes, bound + far + low * bytes, length);
}

/* Every way to multiply: scaled address, shift, byte, 31 bits, more. */
START_TEST(split)
{
	static const uint64_t element_bytes[] = {1, 2, 4, 8, 16, 4096, 12, 1000, INT32_MAX, (uint64_t)3 << 32};
	uint64_t far = (uint64_t)3 << 31;

	for (uint32_t cores = 1; cores <= 5; cores++) {
		teardown();
		setup();
		uint32_t partition = rig_partition(plan, 100, 64);

		for (unsigned i = 0; i < 10; i++) {
			struct sk_plan_step *step = STEP(plan, SK_STEP_SPLIT, take_split);
			uint64_t bytes = element_bytes[i];

			step->partition = partition;
			step->extent = 100;
			POINTER(plan, SK_SPACE_BINDING, 1, 0, .element_bytes = bytes);
			POINTER(plan, SK_SPACE_WORKSPACE, 0, 64, .element_bytes = bytes);
			POINTER(plan, SK_SPACE_CONSTANT, 0, 8, .element_bytes = bytes);
			LENGTH(plan, SK_I64);
			POINTER(plan, SK_SPACE_BINDING, 1, 4096);
			LENGTH(plan, SK_I32);
			LENGTH(plan, SK_I32, BY_REFERENCE);
			POINTER(plan, SK_SPACE_CONSTANT, 0, far, .element_bytes = bytes);
			POINTER(plan, SK_SPACE_BINDING, 1, far, .element_bytes = bytes);
			LENGTH(plan, SK_I64);
		}

		struct rig_device *device = rig_device_new(plan, cores, 0, workspace);
		struct rig_code loaded = rig_load(plan, SK_ENTRY_PARALLEL);
		uint64_t covered = 0;

		device->bindings[1] = device;
		for (uint32_t core = 0; core < cores; core++) {
			struct sk_core_range range = device->ranges[0][core][0];
			unsigned at = 0;

			rig_log.count = 0;
			ck_assert_int_eq(rig_call(rig_entry(&loaded), &device->cores[0][core], NULL), 0);
			ck_assert_uint_eq(rig_log.count, range.low == range.high ? 0 : 10);
			for (unsigned i = 0; i < rig_log.count; i++)
				expect_split(&at, range.low, range.high - range.low, element_bytes[i], ADDRESS(device),
					     ADDRESS(RIG_CONSTANTS(&loaded)));
			covered += range.high - range.low;
		}
		ck_assert_uint_eq(covered, 100);
		rig_unload(&loaded);

		unsigned at = 0;

		rig_log.count = 0;
		loaded = rig_load(plan, SK_ENTRY_SERIAL);
		ck_assert_int_eq(rig_call(rig_entry(&loaded), device->bindings, workspace), 0);
		for (unsigned i = 0; i < 10; i++)
			expect_split(&at, 0, 100, element_bytes[i], ADDRESS(device), ADDRESS(RIG_CONSTANTS(&loaded)));
		ck_assert_uint_eq(rig_log.count, 10);
		rig_unload(&loaded);
		rig_device_free(device);
	}
}
END_TEST

/* ---- expressions ---- */

/* The variables of a step's call. */
struct variables {
	uint64_t values[SK_VARIABLE_COUNT];
};

/* Each way to compute a term: only a factor, shifts, divisions, numbers that fit into no instruction. */
static const struct sk_plan_term term_shapes[] = {
	{.factor = 1, .divisor = 1},
	{.factor = -3, .divisor = 1, .addend = 5},
	{.factor = 64, .divisor = 1},
	{.factor = 1, .divisor = 8},
	{.factor = 12, .divisor = 4, .addend = 3, .modulus = 8},
	{.factor = 1, .divisor = 6},
	{.factor = 4, .divisor = 7, .modulus = 3},
	{.factor = 1, .divisor = 1, .modulus = 5},
	{.factor = 1, .divisor = 1, .modulus = 1},
	{.factor = 0, .divisor = 3},
	{.factor = 1, .divisor = 1, .modulus = (uint64_t)1 << 40, .addend = (uint64_t)-1},
	{.factor = (int64_t)1 << 40, .divisor = 3},
	{.factor = 0x123456789a, .divisor = 1},
	{.factor = 5, .divisor = (uint64_t)3 << 33, .addend = (uint64_t)7 << 40},
	{.factor = 1, .divisor = 9, .addend = (uint64_t)-2},
	{.factor = 2, .divisor = 4, .addend = 0x123456789abc},
	{.factor = 3, .divisor = 2, .modulus = 10, .addend = 0x123456789},
};
enum { TERM_SHAPES = sizeof(term_shapes) / sizeof(term_shapes[0]) };

/* In the words of skplan.h. */
static uint64_t expected_term(const struct sk_plan_term *term, const struct variables *variables)
{
	uint64_t value = variables->values[term->variable] + term->addend;

	value = (value - value % term->divisor) / term->divisor;
	while (term->modulus && value >= term->modulus)
		value -= value / term->modulus * term->modulus;
	return (uint64_t)term->factor * value;
}

static const enum sk_dtype integer_types[] = {SK_I8, SK_U8, SK_I16, SK_U16, SK_I32, SK_U32, SK_I64, SK_U64};

/* As a kernel sees an integer of that type. */
static uint64_t narrowed(uint64_t value, enum sk_dtype dtype)
{
	switch (dtype) {
	case SK_I8:
		return (uint64_t)(int8_t)value;
	case SK_U8:
		return (uint8_t)value;
	case SK_I16:
		return (uint64_t)(int16_t)value;
	case SK_U16:
		return (uint16_t)value;
	case SK_I32:
		return (uint64_t)(int32_t)value;
	case SK_U32:
		return (uint32_t)value;
	default:
		return value;
	}
}

/* Six arguments in registers, with one by reference, and two on the stack, with one by reference. */
static void take_expressions(int8_t a, uint8_t b, int16_t c, const uint16_t *d, int32_t e, uint32_t f, int64_t g,
			     const uint64_t *h, const void *i)
{
	RIG_LOG((uint64_t)a, b, (uint64_t)c, *d, (uint64_t)e, f, (uint64_t)g, *h, ADDRESS(i));
}

/* Add expressions of one to three terms, in turn; the last argument shows which registers the others have changed. */
static void add_expressions(const uint8_t *known, unsigned known_count, unsigned *shape)
{
	for (unsigned i = 0; i < 8; i++) {
		ARGUMENT(plan, .kind = SK_ARGUMENT_EXPRESSION, .dtype = integer_types[i],
			 .flags = i == 3 || i == 7 ? SK_ARGUMENT_BY_REFERENCE : 0,
			 .value = *shape % 5 ? *shape * 0x1234567 : 0);
		for (unsigned count = *shape % 3 + 1; count > 0; count--) {
			struct sk_plan_term term = term_shapes[*shape % TERM_SHAPES];

			term.variable = known[*shape / TERM_SHAPES % known_count];
			rig_term(plan, term);
			++*shape;
		}
	}
	POINTER(plan, SK_SPACE_WORKSPACE, 0, 64);
}

static void expect_expressions(unsigned *at, unsigned step, const struct variables *variables)
{
	const struct sk_plan_call *call = &plan->calls[plan->steps[step].first_call];
	uint64_t expected[9];

	for (unsigned i = 0; i < 8; i++) {
		const struct sk_plan_argument *argument = &plan->arguments[call->first_argument + i];
		uint64_t sum = argument->value;

		for (uint64_t k = 0; k < argument->size; k++)
			sum += expected_term(&plan->terms[argument->index + k], variables);
		expected[i] = narrowed(sum, argument->dtype);
	}
	expected[8] = ADDRESS(workspace + 64);
	rig_expect(at, 9, expected);
}

enum { EXPRESSION_STEPS = 14 };

/* Expressions of ranges: each core has its own range, a serial entry the whole one. */
START_TEST(expressions_of_ranges)
{
	static const uint8_t known[] = {SK_VARIABLE_BEGIN, SK_VARIABLE_SIZE};
	uint32_t partition = rig_partition(plan, 1000, 8);
	unsigned shape = 0;

	for (unsigned i = 0; i < EXPRESSION_STEPS; i++) {
		struct sk_plan_step *step = STEP(plan, SK_STEP_SPLIT, take_expressions);

		step->partition = partition;
		step->extent = 1000;
		add_expressions(known, 2, &shape);
	}

	struct rig_device *device = rig_device_new(plan, 3, 0, workspace);

	for (uint32_t core = 0; core <= 3; core++) {
		struct sk_core_range range = core < 3 ? device->ranges[0][core][0] : (struct sk_core_range){0, 1000};
		struct variables variables = {{range.low, range.high - range.low}};
		unsigned at = 0;

		rig_log.count = 0;
		ck_assert_int_eq(core < 3 ? run_core(device, core) : run_serial(NULL), 0);
		for (unsigned i = 0; i < EXPRESSION_STEPS; i++)
			expect_expressions(&at, i, &variables);
	}
	rig_device_free(device);
}
END_TEST

START_TEST(expressions_of_blocks)
{
	static const uint8_t known[] = {SK_VARIABLE_BLOCK};
	struct rig_device *device;
	unsigned shape = 0, at = 0;

	for (unsigned i = 0; i < EXPRESSION_STEPS; i++) {
		STEP(plan, SK_STEP_BLOCKS, take_expressions)->blocks = 20;
		add_expressions(known, 1, &shape);
	}
	device = rig_device_new(plan, 1, 0, workspace);
	for (unsigned serial = 0; serial < 2; serial++) {
		at = rig_log.count = 0;
		ck_assert_int_eq(serial ? run_serial(NULL) : run_core(device, 0), 0);
		for (unsigned i = 0; i < EXPRESSION_STEPS; i++)
			for (uint64_t block = 0; block < 20; block++)
				expect_expressions(&at, i, &(struct variables){{[SK_VARIABLE_BLOCK] = block}});
		ck_assert_uint_eq(rig_log.count, at);
	}
	rig_device_free(device);
}
END_TEST

/* ---- loops ---- */

/* The tiles of a part, as a C programmer would write the loop. */
#define FOR_TILES(begin, size, low, high, extent, tile)                                                                \
	for (uint64_t begin = (low), size;                                                                             \
	     begin < (high) && (size = (extent)-begin < (tile) ? (extent)-begin : (tile)); begin += (tile))

static const struct sk_plan_loop outer_loops[] = {{100, 1}, {100, 6}, {96, 6}, {7, 7}, {100, 64}, {5, 2}, {5, 8}},
				 inner_loops[] = {{50, 16}, {48, 16}, {3, 3}, {1, 1}, {300, 128}, {9, 2}, {3, 16}};
enum { LOOPS = sizeof(outer_loops) / sizeof(outer_loops[0]) };

/* The status by reference, 0 before each call, is set to make a chosen call fail. */
static struct {
	unsigned fail_at; /* the call, from 1; 0: none */
	int64_t status;
} failing;

static void take_tile(void *a, void *b, int32_t size, void *c, int64_t *status, int64_t begin, void *d, int16_t inner,
		      const int32_t *inner_begin)
{
	RIG_LOG(ADDRESS(a), ADDRESS(b), (uint64_t)size, ADDRESS(c), (uint64_t)*status, (uint64_t)begin, ADDRESS(d),
		(uint64_t)inner, (uint64_t)*inner_begin);
	if (rig_log.count == failing.fail_at)
		*status = failing.status;
	/* Change every register that a function may change. */
	__asm__ volatile("" ::: "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11");
}

enum { ROW = 4096, FAR_ROW = 3000 };

#define DISPLACED(bytes) .value = (uint64_t)(bytes) << 32

static void add_tiled_step(uint32_t partition, const struct sk_plan_loop *outer, const struct sk_plan_loop *inner)
{
	struct sk_plan_step *step = STEP(plan, SK_STEP_SPLIT, take_tile);

	step->partition = partition;
	step->extent = outer->extent;
	rig_loop(plan, outer->extent, outer->tile);
	if (inner)
		rig_loop(plan, inner->extent, inner->tile);
	POINTER(plan, SK_SPACE_BINDING, 1, 8, .element_bytes = ROW, DISPLACED(-20480));
	if (inner)
		rig_pattern(plan, (struct sk_plan_pattern){.inner_bytes = 4});
	POINTER(plan, SK_SPACE_WORKSPACE, 0, 64, .element_bytes = inner ? 0 : 8, DISPLACED(INT32_MAX));
	if (inner)
		rig_pattern(plan, (struct sk_plan_pattern){.inner_bytes = FAR_ROW});
	LENGTH(plan, SK_I32);
	POINTER(plan, SK_SPACE_CONSTANT, 0, 16, .element_bytes = ROW, .flags = SK_ARGUMENT_WHOLE, DISPLACED(-24));
	VALUE(plan, SK_I64, 0, .flags = SK_ARGUMENT_BY_REFERENCE | SK_ARGUMENT_STATUS);
	ARGUMENT(plan, .kind = SK_ARGUMENT_EXPRESSION, .dtype = SK_I64);
	rig_term(plan, (struct sk_plan_term){.variable = SK_VARIABLE_BEGIN, .factor = 1, .divisor = 1});
	/* On the stack. */
	POINTER(plan, SK_SPACE_BINDING, 1, 0, .element_bytes = FAR_ROW, DISPLACED(INT32_MIN));
	if (inner)
		rig_pattern(plan, (struct sk_plan_pattern){.inner_bytes = 12});
	ARGUMENT(plan, .kind = SK_ARGUMENT_EXPRESSION, .dtype = SK_I16, .value = 1);
	if (inner)
		rig_term(plan, (struct sk_plan_term){.variable = SK_VARIABLE_INNER_SIZE, .factor = 1, .divisor = 1});
	ARGUMENT(plan, .kind = SK_ARGUMENT_EXPRESSION, .dtype = SK_I32, .flags = SK_ARGUMENT_BY_REFERENCE);
	if (inner)
		rig_term(plan, (struct sk_plan_term){.variable = SK_VARIABLE_INNER_BEGIN, .factor = 10, .divisor = 3});
}

static void expect_tile(unsigned *at, uint64_t begin, uint64_t size, const struct sk_plan_loop *inner, uint64_t column,
			uint64_t columns, uint64_t bound, uint64_t constants)
{
	RIG_EXPECT(at, bound + 8 - 20480 + begin * ROW + column * 4,
		   ADDRESS(workspace) + 64 + INT32_MAX + (inner ? column * FAR_ROW : begin * 8), size,
		   constants + 16 - 24, 0, begin, bound + (uint64_t)INT32_MIN + begin * FAR_ROW + column * 12,
		   inner ? 1 + columns : 1, column / 3 * 10);
}

static void expect_tiles(struct sk_core_range range, const struct sk_plan_loop *outer, const struct sk_plan_loop *inner,
			 uint64_t bound, uint64_t constants)
{
	static const struct sk_plan_loop once = {1, 1};
	const struct sk_plan_loop *columns = inner ? inner : &once;
	unsigned at = 0;

	FOR_TILES(begin, size, range.low, range.high, outer->extent, outer->tile)
	FOR_TILES(column, count, 0, columns->extent, columns->extent, columns->tile)
	expect_tile(&at, begin, size, inner, column, count, bound, constants);
	ck_assert_uint_eq(rig_log.count, at);
	rig_log.count = 0;
}

/* Each core's tiles, and in a serial entry all, of each size, in their order. */
START_TEST(loops)
{
	const struct sk_plan_loop *outer = &outer_loops[_i % LOOPS];
	const struct sk_plan_loop *inner = _i < LOOPS ? NULL : &inner_loops[(_i * 5 + 1) % LOOPS];
	uint32_t partition = rig_partition(plan, outer->extent, outer->tile);

	failing.fail_at = 0;
	add_tiled_step(partition, outer, inner);
	for (uint32_t cores = 1; cores <= 5; cores++) {
		struct rig_device *device = rig_device_new(plan, cores, 0, workspace);

		device->bindings[1] = device;
		for (uint32_t core = 0; core <= cores; core++) {
			bool serial = core == cores;
			struct rig_code loaded = rig_load(plan, serial ? SK_ENTRY_SERIAL : SK_ENTRY_PARALLEL);
			struct sk_core_range all = {0, outer->extent};

			ck_assert_int_eq(rig_call(rig_entry(&loaded),
						  serial ? (void *)device->bindings : &device->cores[0][core],
						  workspace),
					 0);
			expect_tiles(serial ? all : device->ranges[0][core][0], outer, inner, ADDRESS(device),
				     ADDRESS(RIG_CONSTANTS(&loaded)));
			rig_unload(&loaded);
		}
		rig_device_free(device);
	}
}
END_TEST

/* A status that is not 0 ends the loops, and the calls after them; of an i64 the lower half is returned. */
START_TEST(loops_that_fail)
{
	static const struct {
		int64_t left;
		int returned;
	} statuses[] = {{-5, -5}, {7, 7}, {(int64_t)3 << 32, 1}, {((int64_t)3 << 32) + 9, 9}};
	struct rig_device *device;

	add_tiled_step(rig_partition(plan, 100, 6), &outer_loops[1], &inner_loops[0]);
	add_status(3);
	device = rig_device_new(plan, 1, 0, workspace);
	failing.fail_at = 6;
	for (unsigned i = 0; i < 8; i++) {
		bool serial = i % 2;

		failing.status = statuses[i / 2].left;
		rig_log.count = 0;
		ck_assert_int_eq(serial ? run_serial(device->bindings) : run_core(device, 0), statuses[i / 2].returned);
		ck_assert_uint_eq(rig_log.count, 6);
		ck_assert_uint_eq(device->cores[0][0].failed_task, 0);
	}
	rig_device_free(device);
}
END_TEST

/* ---- memory behind pointers ---- */

/* A struct that a call's arguments fill in the scratch, before each call. */
struct frame {
	int8_t small;
	uint8_t begin;
	uint16_t half;
	float low;
	double high;
	int64_t wide;
	void *tensor, *symbol, *nested;
	uint64_t quotient;
	int32_t loaded;
	void *few[3], *many[9];
};

static void take_frame(struct frame *frame, void *tensor)
{
	RIG_LOG((uint64_t)frame->small, frame->begin, frame->half, bits32(frame->low), bits64(frame->high),
		(uint64_t)frame->wide, ADDRESS(frame->tensor), ADDRESS(frame->symbol), ADDRESS(frame->nested),
		frame->quotient, (uint64_t)frame->loaded, ADDRESS(tensor));
	RIG_LOG(ADDRESS(frame->few[0]), ADDRESS(frame->few[1]), ADDRESS(frame->few[2]), ADDRESS(frame->many[0]),
		ADDRESS(frame->many[1]), ADDRESS(frame->many[7]), ADDRESS(frame->many[8]));
	memset(frame, 0xaa, sizeof(*frame));
	__asm__ volatile("" ::: "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11");
}

#define FRAME		      64 /* where the frame begins in the scratch */
#define FIELD_IN_FRAME(place) .flags = SK_ARGUMENT_FIELD, .field = FRAME + offsetof(struct frame, place)

static void add_frame_arguments(void)
{
	VALUE(plan, SK_I8, 0xf0, FIELD_IN_FRAME(small));
	ARGUMENT(plan, .kind = SK_ARGUMENT_EXPRESSION, .dtype = SK_U8, FIELD_IN_FRAME(begin));
	rig_term(plan, (struct sk_plan_term){.variable = SK_VARIABLE_BEGIN, .factor = 1, .divisor = 1});
	VALUE(plan, SK_F16, 0xbc00, FIELD_IN_FRAME(half));
	VALUE(plan, SK_F32, bits32(-1.5f), FIELD_IN_FRAME(low));
	VALUE(plan, SK_F64, bits64(0.1), FIELD_IN_FRAME(high));
	VALUE(plan, SK_I64, (uint64_t)-3, FIELD_IN_FRAME(wide));
	POINTER(plan, SK_SPACE_BINDING, 1, 8, .element_bytes = 12, FIELD_IN_FRAME(tensor));
	ARGUMENT(plan, .kind = SK_ARGUMENT_SYMBOL, .index = 3, FIELD_IN_FRAME(symbol));
	ARGUMENT(plan, .kind = SK_ARGUMENT_SCRATCH, .offset = 8, FIELD_IN_FRAME(nested));
	ARGUMENT(plan, .kind = SK_ARGUMENT_EXPRESSION, .dtype = SK_U64, .value = 2, FIELD_IN_FRAME(quotient));
	rig_term(plan, (struct sk_plan_term){.variable = SK_VARIABLE_BEGIN, .factor = 5, .divisor = 3});
	ARGUMENT(plan, .kind = SK_ARGUMENT_LOAD, .dtype = SK_I32, .space = SK_SPACE_WORKSPACE, .offset = 128,
		 FIELD_IN_FRAME(loaded));
	ARGUMENT(plan, .kind = SK_ARGUMENT_SCRATCH, .offset = FRAME, .size = sizeof(struct frame));
	POINTER(plan, SK_SPACE_BINDING, 1, 0, .element_bytes = 4, DISPLACED(-80), FIELD_IN_FRAME(few));
	rig_pattern(plan, (struct sk_plan_pattern){.table_count = 3, .table_stride = 40});
	POINTER(plan, SK_SPACE_BINDING, 1, 0, FIELD_IN_FRAME(many));
	rig_pattern(plan, (struct sk_plan_pattern){.table_count = 9, .table_stride = (uint64_t)3 << 31});
	POINTER(plan, SK_SPACE_WORKSPACE, 0, 64, .element_bytes = 2);
}

static void expect_frame(unsigned *at, uint64_t begin, uint64_t scratch, uint64_t bound, uint64_t symbol)
{
	uint64_t few = bound - 80 + 4 * begin, stride = (uint64_t)3 << 31;

	RIG_EXPECT(at, (uint64_t)-16, begin, 0xbc00, bits32(-1.5f), bits64(0.1), (uint64_t)-3, bound + 8 + 12 * begin,
		   symbol, scratch + 8, 2 + begin / 3 * 5, (uint64_t)-77, ADDRESS(workspace) + 64 + 2 * begin);
	RIG_EXPECT(at, few, few + 40, few + 80, bound, bound + stride, bound + 7 * stride, bound + 8 * stride);
}

/* Frames are made for each call: of a range, or of each tile. */
START_TEST(fields)
{
	bool loop = _i;
	struct sk_plan_step *step = STEP(plan, SK_STEP_SPLIT, take_frame);
	struct rig_device *device;

	step->partition = rig_partition(plan, 20, 4);
	step->extent = 20;
	if (loop)
		rig_loop(plan, 20, 4);
	add_frame_arguments();
	memcpy(workspace + 128, &(int32_t){-77}, 4);
	device = rig_device_new(plan, 2, 0, workspace);
	device->bindings[1] = device;
	for (uint32_t core = 0; core < 3; core++) {
		bool serial = core == 2;
		struct sk_core_range range = serial ? (struct sk_core_range){0, 20} : device->ranges[0][core][0];
		struct rig_code loaded = rig_load(plan, serial ? SK_ENTRY_SERIAL : SK_ENTRY_PARALLEL);
		uint64_t scratch = serial ? ADDRESS(workspace + 1024) : ADDRESS(device->scratch[0][core]);
		unsigned at = 0;

		rig_log.count = 0;
		ck_assert_int_eq(rig_call(rig_entry(&loaded),
					  serial ? (void *)device->bindings : &device->cores[0][core], workspace),
				 0);
		FOR_TILES(begin, size, range.low, range.high, 20, loop ? 4 : range.high - range.low)
		expect_frame(&at, begin, scratch, ADDRESS(device), ADDRESS(RIG_SYMBOL(&loaded, 3)));
		ck_assert_uint_eq(rig_log.count, at);
		rig_unload(&loaded);
	}
	rig_device_free(device);
}
END_TEST

/* The scratch of a serial entry can be out of an instruction's reach. */
START_TEST(fields_far_away)
{
	uint64_t far = INT32_MAX - 31, field;

	plan->header.workspace_size = far;
	STEP(plan, SK_STEP_PLAIN, take_number);
	VALUE(plan, SK_I64, 1);
	VALUE(plan, SK_U64, 77, .flags = SK_ARGUMENT_FIELD, .field = 128);
	struct rig_code loaded = rig_load(plan, SK_ENTRY_SERIAL);

	ck_assert_int_eq(rig_call(rig_entry(&loaded), NULL, (void *)(ADDRESS(workspace) - far)), 0);
	memcpy(&field, workspace + 128, sizeof(field));
	ck_assert_uint_eq(field, 77);
	rig_unload(&loaded);
}
END_TEST

/* psABI 3.2.3: more than two words, so it is passed in memory, before the arguments that the registers have no room for
 * … */
struct in_memory {
	uint64_t a;
	void *b;
	uint64_t c;
};

/* … and two, each of which wants a register of its own kind. */
struct in_registers {
	float low, high;
	int16_t small;
	uint32_t wide;
};

static void take_symbols(void *a, struct in_memory b, int64_t c, struct in_registers d, void *e, void *f, void *g,
			 struct in_registers h, void *i, void *j)
{
	RIG_LOG(ADDRESS(a), b.a, ADDRESS(b.b), b.c, (uint64_t)c, bits32(d.low), bits32(d.high), (uint64_t)d.small,
		(uint64_t)d.wide);
	RIG_LOG(ADDRESS(e), ADDRESS(f), ADDRESS(g), bits32(h.low), bits32(h.high), (uint64_t)h.small, (uint64_t)h.wide,
		ADDRESS(i), ADDRESS(j));
}

#define SYMBOL(plan, number, ...) ARGUMENT(plan, .kind = SK_ARGUMENT_SYMBOL, .index = (number), __VA_ARGS__)

#define STRUCT(plan, place, bytes, floats)                                                                             \
	ARGUMENT(plan, .kind = SK_ARGUMENT_SCRATCH, .offset = (place), .size = (bytes), .value = (floats),             \
		 .flags = SK_ARGUMENT_BY_VALUE)
#define AT(place) .flags = SK_ARGUMENT_FIELD, .field = (place)

/* The number of the block comes between constants. */
static void add_in_registers(uint16_t place, float low)
{
	STRUCT(plan, place, 16, 1);
	VALUE(plan, SK_F32, bits32(low), AT(place));
	VALUE(plan, SK_F32, bits32(-0.5f), AT(place + 4));
	VALUE(plan, SK_I16, 0xfffd, AT(place + 8));
	ARGUMENT(plan, .kind = SK_ARGUMENT_EXPRESSION, .dtype = SK_U32, AT(place + 12));
	rig_term(plan, (struct sk_plan_term){.variable = SK_VARIABLE_BLOCK, .factor = 3, .divisor = 1, .addend = 1});
}

START_TEST(symbols_and_structs)
{
	struct rig_device *device;
	struct rig_code loaded;
	unsigned at = 0;

	STEP(plan, SK_STEP_BLOCKS, take_symbols)->blocks = 2;
	SYMBOL(plan, 0);
	STRUCT(plan, 64, sizeof(struct in_memory), 0);
	VALUE(plan, SK_U64, 5, AT(64));
	SYMBOL(plan, 1, AT(72));
	ARGUMENT(plan, .kind = SK_ARGUMENT_EXPRESSION, .dtype = SK_U64, AT(80));
	rig_term(plan, (struct sk_plan_term){.variable = SK_VARIABLE_BLOCK, .factor = 7, .divisor = 1, .addend = 1});
	VALUE(plan, SK_I64, 6);
	add_in_registers(128, 1);
	for (uint32_t i = 2; i < 5; i++)
		SYMBOL(plan, i);
	add_in_registers(192, 2); /* there is a register for floats, and none for integers */
	for (uint32_t i = 5; i < 7; i++)
		SYMBOL(plan, i);
	device = rig_device_new(plan, 1, 0, workspace);
	loaded = rig_load(plan, SK_ENTRY_PARALLEL);
	ck_assert_int_eq(rig_call(rig_entry(&loaded), &device->cores[0][0], NULL), 0);
#define SYMBOL_AT(number) ADDRESS(RIG_SYMBOL(&loaded, number))
	for (uint64_t block = 0; block < 2; block++) {
		uint64_t half = bits32(-0.5f), small = (uint64_t)-3, wide = 3 * block + 3;

		RIG_EXPECT(&at, SYMBOL_AT(0), 5, SYMBOL_AT(1), 7 * block + 7, 6, bits32(1), half, small, wide);
		RIG_EXPECT(&at, SYMBOL_AT(2), SYMBOL_AT(3), SYMBOL_AT(4), bits32(2), half, small, wide, SYMBOL_AT(5),
			   SYMBOL_AT(6));
	}
	rig_unload(&loaded);
	rig_device_free(device);
}
END_TEST

/* ---- blocks ---- */

static void take_block(const struct sk_block *block, void *a, int64_t n)
{
	RIG_LOG(block->index, block->count, ADDRESS(a), (uint64_t)n);
}

static void add_blocks(uint32_t blocks, bool ranges, uint32_t first_core)
{
	struct sk_plan_step *step = STEP(plan, ranges ? SK_STEP_BLOCKS_RANGE : SK_STEP_BLOCKS, take_block);

	step->blocks = blocks;
	if (ranges) {
		step->partition = rig_partition(plan, blocks, 1);
		step->extent = 1000;
	} else {
		step->first_core = first_core;
	}
	ARGUMENT(plan, .kind = SK_ARGUMENT_BLOCK);
	/* Kernels with blocks find their range themselves: the pointer is not advanced, the length is whole. */
	POINTER(plan, SK_SPACE_WORKSPACE, 0, 256, .element_bytes = ranges ? 4 : 0);
	if (ranges)
		LENGTH(plan, SK_I64);
	else
		VALUE(plan, SK_I64, 1000);
}

START_TEST(blocks)
{
	static const uint32_t counts[] = {1, 2, 7, 127, 128, 200}, first_cores[] = {0, 1, 0, 5, 100, 2};
	bool ranges = _i % 2 != 0;
	uint32_t cores = (uint32_t)_i / 2 + 1;

	for (unsigned i = 0; i < 6; i++)
		add_blocks(counts[i], ranges, first_cores[i]);

	struct rig_device *device = rig_device_new(plan, cores, 0, workspace);
	uint32_t calls = 0;

	for (uint32_t core = 0; core < cores; core++) {
		unsigned at = 0;

		rig_log.count = 0;
		ck_assert_int_eq(run_core(device, core), 0);
		for (unsigned i = 0; i < 6; i++) {
			for (uint32_t block = 0; block < counts[i]; block++) {
				bool mine = ranges ? block >= device->ranges[0][core][i].low &&
							     block < device->ranges[0][core][i].high
						   : (first_cores[i] + block) % cores == core;

				if (mine)
					RIG_EXPECT(&at, block, counts[i], ADDRESS(workspace + 256), 1000);
			}
		}
		ck_assert_uint_eq(rig_log.count, at);
		calls += at;
	}
	ck_assert_uint_eq(calls, 1 + 2 + 7 + 127 + 128 + 200);

	unsigned at = 0;

	rig_log.count = 0;
	ck_assert_int_eq(run_serial(NULL), 0);
	for (unsigned i = 0; i < 6; i++) {
		for (uint32_t block = 0; block < counts[i]; block++)
			RIG_EXPECT(&at, block, counts[i], ADDRESS(workspace + 256), 1000);
	}
	rig_device_free(device);
}
END_TEST

/* ---- results of kernels ---- */

static int8_t give_i8(void)
{
	return -2;
}

static uint16_t give_u16(void)
{
	return 0xfffe;
}

static int32_t give_i32(void)
{
	return -3;
}

static int64_t give_i64(void)
{
	return INT64_MIN + 1;
}

static float give_f32(void)
{
	return 1.5f;
}

static double give_f64(void)
{
	return -2.5;
}

/* Each result fills exactly its bytes, also where its address takes a scratch register. */
START_TEST(results)
{
	static const struct {
		void (*function)(void);
		enum sk_dtype dtype;
		uint64_t bits;
	} cases[] = {
		{RIG_FUNCTION(give_i8), SK_I8, 0xfe},
		{RIG_FUNCTION(give_u16), SK_U16, 0xfffe},
		{RIG_FUNCTION(give_i32), SK_I32, 0xfffffffd},
		{RIG_FUNCTION(give_i64), SK_I64, (uint64_t)INT64_MIN + 1},
		{RIG_FUNCTION(give_f32), SK_F32, 0},
		{RIG_FUNCTION(give_f64), SK_F64, 0},
		{RIG_FUNCTION(give_i8), SK_BOOL, 0xfe},
		{RIG_FUNCTION(give_f32), SK_F16, 0}, /* the low half of the register */
	};
	uint64_t memory[2][8], far = (uint64_t)1 << 35;
	void *bindings[] = {memory[0], (void *)(ADDRESS(memory[1]) - far)};

	memset(memory, 0xaa, sizeof(memory));
	for (unsigned binding = 0; binding < 2; binding++) {
		for (unsigned i = 0; i < 8; i++) {
			STEP(plan, SK_STEP_PLAIN, cases[i].function);
			ARGUMENT(plan, .kind = SK_ARGUMENT_RESULT, .dtype = cases[i].dtype, .access = SK_ACCESS_WRITE,
				 .space = SK_SPACE_BINDING, .index = binding, .offset = 8 * i + binding * far);
			ARGUMENT(plan, .kind = SK_ARGUMENT_STATE, .space = SK_SPACE_STATE);
		}
	}
	ck_assert_int_eq(run_serial(bindings), 0);
	for (unsigned i = 0; i < 8; i++) {
		uint64_t expected = 0xaaaaaaaaaaaaaaaa, bits = cases[i].bits;

		if (cases[i].dtype == SK_F32 || cases[i].dtype == SK_F16)
			bits = bits32(1.5f);
		if (cases[i].dtype == SK_F64)
			bits = bits64(-2.5);
		memcpy(&expected, &bits, sk_dtype_size(cases[i].dtype));
		ck_assert_uint_eq(memory[0][i], expected);
		ck_assert_uint_eq(memory[1][i], expected);
	}
}
END_TEST

/* The first status that is not 0 ends the launch, and its task is to blame. */
START_TEST(statuses)
{
	static const int64_t given[] = {0, 0, -7, 3};
	struct rig_device *device;

	for (unsigned i = 0; i < 4; i++)
		add_status(given[i]);
	device = rig_device_new(plan, 1, 0, workspace);
	ck_assert_int_eq(run_core(device, 0), -7);
	ck_assert_uint_eq(device->cores[0][0].failed_task, 2);
	ck_assert_uint_eq(rig_log.count, 3);
	rig_log.count = 0;
	ck_assert_int_eq(run_serial(NULL), -7);
	ck_assert_uint_eq(rig_log.count, 3);
	rig_device_free(device);

	teardown();
	setup();
	add_status(0);
	device = rig_device_new(plan, 1, 0, workspace);
	ck_assert_int_eq(run_core(device, 0), 0);
	ck_assert_uint_eq(device->cores[0][0].failed_task, SK_NO_INDEX);
	rig_device_free(device);
}
END_TEST

/* ---- homes, awaits, publishing ---- */

static void add_status_too(int64_t status)
{
	rig_call_too(plan, RIG_FUNCTION(give_status))->flags = SK_CALL_STATUS;
	VALUE(plan, SK_I64, (uint64_t)status);
}

/* The calls of one step come one after the other, until one fails. */
START_TEST(several_calls)
{
	add_status(0);
	add_status_too(0);
	add_status_too(5);
	add_status(9);

	struct rig_device *device = rig_device_new(plan, 1, 0, workspace);

	ck_assert_int_eq(run_core(device, 0), 5);
	ck_assert_uint_eq(device->cores[0][0].failed_task, 2);
	ck_assert_uint_eq(rig_log.count, 3);
	rig_log.count = 0;
	ck_assert_int_eq(run_serial(NULL), 5);
	ck_assert_uint_eq(rig_log.count, 3);
	rig_device_free(device);
}
END_TEST

static void expect_numbers(uint64_t length)
{
	unsigned at = 0;

	for (uint64_t i = 0; length && i < 3; i++)
		RIG_EXPECT(&at, i ? 99 + i : length);
	ck_assert_uint_eq(rig_log.count, at);
	rig_log.count = 0;
}

/* Each core makes them all for its range, or none of them. */
START_TEST(several_divided_calls)
{
	static const uint64_t lengths[] = {0, 4, 1};
	struct sk_plan_step *step = STEP(plan, SK_STEP_SPLIT, take_number);
	struct rig_device *device;

	step->partition = rig_partition(plan, 5, 4);
	step->extent = 5;
	LENGTH(plan, SK_I64);
	for (uint64_t i = 0; i < 2; i++) {
		rig_call_too(plan, RIG_FUNCTION(take_number));
		VALUE(plan, SK_I64, 100 + i);
	}
	device = rig_device_new(plan, 3, 0, workspace);
	for (uint32_t core = 0; core < 3; core++) {
		ck_assert_int_eq(run_core(device, core), 0);
		expect_numbers(lengths[core]);
	}
	ck_assert_int_eq(run_serial(NULL), 0);
	expect_numbers(5);
	rig_device_free(device);
}
END_TEST

static struct sk_plan_step *add_numbered(uint32_t core_set, uint16_t flags)
{
	struct sk_plan_step *step = STEP(plan, core_set == SK_ALL_CORES ? SK_STEP_BLOCKS : SK_STEP_PLAIN, take_number);

	step->core_set = core_set;
	step->blocks = core_set == SK_ALL_CORES ? MOST_CORES : 0;
	step->flags = flags;
	VALUE(plan, SK_I64, rig_last_call(plan)->task);
	return step;
}

/* Each core runs the steps of its own homes, and publishes those that ask for it. */
START_TEST(homes)
{
	static const uint32_t home_of[] = {0, 0, 1, 1, 2, 0, 2};
	static const uint32_t streams[] = {0, 1, 5};

	for (unsigned i = 0; i < 3; i++)
		rig_home(plan, 0, streams[i]);
	for (unsigned i = 0; i < 7; i++)
		add_numbered(home_of[i], i == 3 || i == 5 ? SK_STEP_PUBLISH : 0);
	for (uint32_t cores = 1; cores <= 4; cores++) {
		struct rig_device *device = rig_device_new(plan, cores, 0, workspace);

		for (uint32_t core = 0; core < cores; core++) {
			uint64_t published = 0;
			unsigned at = 0;

			rig_log.count = 0;
			device->cores[0][core].lanes[0].base = 1000;
			ck_assert_int_eq(run_core(device, core), 0);
			for (unsigned i = 0; i < 7; i++) {
				if (streams[home_of[i]] % cores != core)
					continue;
				RIG_EXPECT(&at, i);
				if (i == 3 || i == 5)
					published = 1000 + i + 1;
			}
			ck_assert_uint_eq(rig_log.count, at);
			ck_assert_uint_eq(rig_progress(device, 0, core), published);
		}
		rig_device_free(device);
	}
}
END_TEST

/* A stand-in for the slow path: it notes its arguments, and does as the test wants. */
static struct {
	unsigned count;
	struct sk_core *core;
	const volatile uint64_t *word;
	uint64_t target, words;
	unsigned abort_at; /* the call that says "aborted", from 1; 0: none */
	struct rig_code *loaded;
} waited;

static int note_await(struct sk_core *core, const volatile uint64_t *word, uint64_t target, uint64_t count)
{
	waited.count++;
	waited.core = core;
	waited.word = word;
	waited.target = target;
	waited.words = count;
	if (waited.loaded)
		rig_check_backtrace(waited.loaded);
	/* Change every register that a function may change. */
	__asm__ volatile("" ::: "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11");
	if (waited.abort_at == waited.count)
		return 1;
	for (uint64_t i = 0; i < count; i++)
		((volatile uint64_t *)(uintptr_t)word)[i * SK_PROGRESS_STRIDE / sizeof(*word)] = target;
	return 0;
}

/* A step awaits another lane's home and then all cores of its own lane. */
static struct rig_device *add_awaits(void)
{
	struct sk_plan_step *first, *second;

	rig_home(plan, 1, 1);
	first = add_numbered(0, SK_STEP_PUBLISH);
	first->lane = 1;
	second = add_numbered(SK_ALL_CORES, SK_STEP_PUBLISH);
	add_numbered(SK_ALL_CORES, SK_STEP_PUBLISH);
	rig_await(plan, first);
	rig_await(plan, second);

	struct rig_device *device = rig_device_new(plan, 3, 2, workspace);

	device->runtime.await = note_await;
	for (unsigned core = 0; core < 3; core++) {
		device->cores[0][core].lanes[0].base = 100;
		device->cores[0][core].lanes[1].base = 70;
	}
	memset(&waited, 0, sizeof(waited));
	return device;
}

START_TEST(awaits_that_need_not_wait)
{
	struct rig_device *device = add_awaits();

	rig_set_progress(device, 1, 1, 71);
	rig_set_progress(device, 0, 0, 101);
	rig_set_progress(device, 0, 2, 105);
	ck_assert_int_eq(run_core(device, 1), 0);
	ck_assert_uint_eq(waited.count, 0);
	ck_assert_uint_eq(rig_progress(device, 0, 1), 102);
	rig_device_free(device);
}
END_TEST

START_TEST(awaits_that_wait)
{
	struct rig_device *device = add_awaits();
	struct rig_code loaded = rig_load(plan, SK_ENTRY_PARALLEL);
	bool all_wait = _i;

	waited.loaded = &loaded;
	rig_set_progress(device, 1, 1, 70);
	rig_set_progress(device, 0, 0, all_wait ? 100 : 101);
	rig_set_progress(device, 0, 2, 100);
	ck_assert_int_eq(rig_call(rig_entry(&loaded), &device->cores[0][1], NULL), 0);
	/* Once for the home, and once for all cores that have not yet got there: from core 0, or core 2. */
	ck_assert_uint_eq(waited.count, 2);
	ck_assert_ptr_eq(waited.core, &device->cores[0][1]);
	ck_assert(waited.word == (const volatile uint64_t *)device->progress[0][all_wait ? 0 : 2]);
	ck_assert_uint_eq(waited.target, 101);
	ck_assert_uint_eq(waited.words, all_wait ? 3 : 1);
	ck_assert_uint_eq(rig_progress(device, 1, 1), 71);
	ck_assert_uint_eq(rig_progress(device, 0, 1), 102);
	rig_unload(&loaded);
	rig_device_free(device);
}
END_TEST

/* An aborted core leaves before the call, publishes nothing more, and reports no failure. */
START_TEST(awaits_that_abort)
{
	struct rig_device *device = add_awaits();
	unsigned at = 0;

	waited.abort_at = 1 + (unsigned)_i;
	ck_assert_int_eq(run_core(device, 1), SK_STATUS_ABORTED);
	ck_assert_uint_eq(waited.count, 1 + (unsigned)_i);
	ck_assert_uint_eq(device->cores[0][1].failed_task, SK_NO_INDEX);
	ck_assert_uint_eq(rig_progress(device, 0, 1), 101);
	/* With 8 blocks on 3 cores, core 1 has 1, 4 and 7 of the first step on this lane. */
	for (int i = 0; i < 3; i++)
		RIG_EXPECT(&at, 1);
	ck_assert_uint_eq(rig_log.count, at);
	rig_device_free(device);
}
END_TEST

/* The fork takes each core to its lane's program. */
START_TEST(lanes)
{
	struct rig_device *device = add_awaits();
	struct rig_code loaded = rig_load(plan, SK_ENTRY_PARALLEL);
	unsigned at = 0;

	ck_assert_uint_eq(loaded.code.symbols.count, 3);
	ck_assert_str_eq(loaded.code.symbols.items[0].name, "launch");
	ck_assert_str_eq(loaded.code.symbols.items[1].name, "launch.cube");
	ck_assert_str_eq(loaded.code.symbols.items[2].name, "launch.vector");

	uint64_t end = 0;

	for (unsigned i = 0; i < 3; i++) {
		ck_assert_uint_eq(loaded.code.symbols.items[i].offset, end);
		end += loaded.code.symbols.items[i].size;
	}
	ck_assert_uint_eq(end, loaded.code.bytes.count);

	device->cores[1][1].lanes[1].base = 500;
	ck_assert_int_eq(rig_call(rig_entry(&loaded), &device->cores[1][1], NULL), 0);
	RIG_EXPECT(&at, 0);
	ck_assert_uint_eq(rig_progress(device, 1, 1), 501);
	ck_assert_int_eq(rig_call(rig_entry(&loaded), &device->cores[1][0], NULL), 0);
	ck_assert_int_eq(rig_call(rig_entry(&loaded), &device->cores[0][0], NULL), 0);
	for (unsigned i = 0; i < 6; i++)
		RIG_EXPECT(&at, 1 + i / 3);
	ck_assert_uint_eq(rig_log.count, at);
	rig_unload(&loaded);
	rig_device_free(device);
}
END_TEST

/* A launch that uses only the second lane needs no fork. */
START_TEST(second_lane_alone)
{
	unsigned at = 0;

	rig_home(plan, 1, 0);
	add_numbered(0, SK_STEP_PUBLISH)->lane = 1;

	struct rig_device *device = rig_device_new(plan, 1, 1, workspace);
	struct rig_code loaded = rig_load(plan, SK_ENTRY_PARALLEL);

	ck_assert_uint_eq(loaded.code.symbols.count, 1);
	device->cores[1][0].lanes[1].base = 40;
	ck_assert_int_eq(rig_call(rig_entry(&loaded), &device->cores[1][0], NULL), 0);
	RIG_EXPECT(&at, 0);
	ck_assert_uint_eq(rig_progress(device, 1, 0), 41);
	rig_unload(&loaded);
	rig_device_free(device);
}
END_TEST

/* The serial entry runs both lanes' steps in the launch's order and needs no core. */
START_TEST(serial_order)
{
	static const uint8_t lanes_of[] = {0, 1, 1, 0, 1};
	struct sk_plan_step *last = NULL;
	unsigned at = 0;

	rig_home(plan, 0, 0);
	rig_home(plan, 1, 0);
	for (unsigned i = 0; i < 5; i++) {
		struct sk_plan_step *step = add_numbered(lanes_of[i], SK_STEP_PUBLISH);

		step->lane = lanes_of[i];
		if (last)
			rig_await(plan, last);
		last = step;
	}
	ck_assert_int_eq(run_serial(NULL), 0);
	for (unsigned i = 0; i < 5; i++)
		RIG_EXPECT(&at, i);
	ck_assert_uint_eq(rig_log.count, at);
}
END_TEST

/* Non-temporal stores are fenced before the step is published, also if no step awaits it. */
START_TEST(fences)
{
	static const uint8_t fence[] = {0x0f, 0xae, 0xf8}, publish[] = {0x48, 0x89, 0x45, 0x00};

	rig_home(plan, 0, 0);
	for (unsigned i = 0; i < 4; i++) {
		bool fenced = i & 1, published = i & 2;

		plan->view.step_count = 0;
		add_numbered(0, (fenced ? SK_STEP_NONTEMPORAL : 0) | (published ? SK_STEP_PUBLISH : 0));

		struct rig_code loaded = rig_load(plan, SK_ENTRY_PARALLEL);
		const struct sk_code *code = &loaded.code;
		uint8_t *fence_at = memmem(code->bytes.items, code->bytes.count, fence, sizeof(fence));
		uint8_t *publish_at = memmem(code->bytes.items, code->bytes.count, publish, sizeof(publish));

		ck_assert((fence_at != NULL) == fenced);
		ck_assert((publish_at != NULL) == published);
		if (fence_at && publish_at)
			ck_assert(fence_at < publish_at);
		rig_unload(&loaded);
	}
}
END_TEST

/* ---- times ---- */

/* A timed step of home 0; one of all cores, which awaits it; a timed one of home 1; one of home 0 without times. */
static struct rig_device *add_timed(void)
{
	struct sk_plan_step *first;

	rig_home(plan, 0, 0);
	rig_home(plan, 0, 1);
	first = add_numbered(0, SK_STEP_PUBLISH | SK_STEP_TIMED);
	add_numbered(SK_ALL_CORES, SK_STEP_TIMED);
	rig_await(plan, first);
	add_numbered(1, SK_STEP_TIMED);
	add_numbered(0, 0);

	struct rig_device *device = rig_device_new(plan, 2, 0, workspace);

	device->runtime.await = note_await;
	memset(&waited, 0, sizeof(waited));
	return device;
}

/* A core notes when it came to each step that it runs, and nothing else: 7 stays. */
START_TEST(times_noted)
{
	static const bool arrives[] = {false, true, false}, comes[2][4] = {{true, true}, {false, true, true}};
	struct rig_device *device = add_timed();

	for (uint32_t core = 0; core < 2; core++) {
		struct sk_times times[4];
		uint64_t last = __builtin_ia32_rdtsc();

		for (unsigned i = 0; i < 4; i++)
			times[i] = (struct sk_times){7, 7, 7};
		device->cores[0][core].times = times;
		ck_assert_int_eq(run_core(device, core), 0);
		for (unsigned i = 0; i < 4; i++) {
			if (!comes[core][i]) {
				ck_assert(times[i].arrived == 7 && times[i].began == 7 && times[i].ended == 7);
				continue;
			}
			if (arrives[i])
				ck_assert(times[i].arrived > last && times[i].arrived < times[i].began);
			else
				ck_assert(times[i].arrived == 7 && times[i].began > last);
			ck_assert_uint_gt(times[i].ended, times[i].began);
			last = times[i].ended;
		}
		ck_assert_uint_gt(__builtin_ia32_rdtsc(), last);
	}
	rig_device_free(device);
}
END_TEST

/* Without a table of times the calls are the same, as they are in the serial entry. */
START_TEST(times_unwanted)
{
	struct rig_device *device = add_timed();
	unsigned at = 0, count;
	struct rig_code loaded = rig_load(plan, SK_ENTRY_PARALLEL);

	ck_assert_int_eq(rig_call_stepping(&loaded, &device->cores[0][0], NULL, &count), 0);
	rig_unload(&loaded);
	RIG_EXPECT(&at, 0);
	for (unsigned i = 0; i < MOST_CORES / 2; i++)
		RIG_EXPECT(&at, 1);
	RIG_EXPECT(&at, 3);
	ck_assert_uint_eq(rig_log.count, at);
	rig_device_free(device);
	rig_log.count = at = 0;
	ck_assert_int_eq(run_serial(NULL), 0);
	RIG_EXPECT(&at, 0);
	for (unsigned i = 0; i < MOST_CORES; i++)
		RIG_EXPECT(&at, 1);
	RIG_EXPECT(&at, 2);
	RIG_EXPECT(&at, 3);
	ck_assert_uint_eq(rig_log.count, at);
}
END_TEST

/* ---- threads ---- */

/* Not atomic: only the awaits order the accesses. */
static uint64_t shared_value;
static uint64_t shared_parts[MOST_CORES];

static void check_and_add(uint64_t expected, uint64_t *errors)
{
	if (shared_value != expected)
		__atomic_add_fetch(errors, 1, __ATOMIC_RELAXED);
	shared_value++;
}

/* A chain of tasks that alternate between two homes. */
START_TEST(threads_chain)
{
	enum { LENGTH_OF_CHAIN = 200, REPEATS = 50 };
	uint64_t errors = 0;
	struct sk_plan_step *last = NULL;

	rig_home(plan, 0, 0);
	rig_home(plan, 0, 1);
	for (unsigned i = 0; i < LENGTH_OF_CHAIN; i++) {
		struct sk_plan_step *step = STEP(plan, SK_STEP_PLAIN, check_and_add);

		step->core_set = i % 2;
		step->flags = SK_STEP_PUBLISH;
		VALUE(plan, SK_U64, i);
		POINTER(plan, SK_SPACE_BINDING, 0, 0);
		if (last)
			rig_await(plan, last);
		last = step;
	}

	struct rig_device *device = rig_device_new(plan, 2, 0, workspace);
	struct rig_code loaded = rig_load(plan, SK_ENTRY_PARALLEL);

	device->bindings[0] = &errors;
	for (unsigned i = 0; i < REPEATS; i++) {
		shared_value = 0;
		ck_assert_int_eq(rig_run(plan, device, rig_entry(&loaded)), 0);
		ck_assert_uint_eq(shared_value, LENGTH_OF_CHAIN);
	}
	ck_assert_uint_eq(errors, 0);
	rig_unload(&loaded);
	rig_device_free(device);
}
END_TEST

/* Every block adds one to its part, then checks that all parts were equal before. */
static void add_part(const struct sk_block *block, uint64_t *errors)
{
	(void)errors;
	shared_parts[block->index]++;
}

static void check_parts(const struct sk_block *block, uint64_t expected, uint64_t *errors)
{
	(void)block;
	for (unsigned i = 0; i < MOST_CORES; i++) {
		if (shared_parts[i] != expected)
			__atomic_add_fetch(errors, 1, __ATOMIC_RELAXED);
	}
}

static struct sk_plan_step *add_phase(void (*function)(void), const struct sk_plan_step *awaited, int expected)
{
	struct sk_plan_step *step = rig_step(plan, SK_STEP_BLOCKS, function);

	step->blocks = MOST_CORES;
	step->flags = SK_STEP_PUBLISH | SK_STEP_NONTEMPORAL;
	ARGUMENT(plan, .kind = SK_ARGUMENT_BLOCK);
	if (expected >= 0)
		VALUE(plan, SK_U64, (uint64_t)expected);
	POINTER(plan, SK_SPACE_BINDING, 0, 0);
	if (awaited)
		rig_await(plan, awaited);
	return step;
}

START_TEST(threads_all)
{
	enum { PHASES = 40, REPEATS = 20 };
	uint64_t errors = 0;
	struct sk_plan_step *last = NULL;

	for (int i = 1; i <= PHASES; i++) {
		last = add_phase(RIG_FUNCTION(add_part), last, -1);
		last = add_phase(RIG_FUNCTION(check_parts), last, i);
	}

	struct rig_device *device = rig_device_new(plan, 3, 0, workspace);
	struct rig_code loaded = rig_load(plan, SK_ENTRY_PARALLEL);

	device->bindings[0] = &errors;
	for (unsigned i = 0; i < REPEATS; i++) {
		memset(shared_parts, 0, sizeof(shared_parts));
		ck_assert_int_eq(rig_run(plan, device, rig_entry(&loaded)), 0);
	}
	ck_assert_uint_eq(errors, 0);
	rig_unload(&loaded);
	rig_device_free(device);
}
END_TEST

/* ---- unwinding ---- */

static void look_back(struct rig_code *loaded)
{
	rig_check_backtrace(loaded);
	RIG_LOG(1);
}

/* From every instruction of both entries' prologues, bodies, epilogues and tails. */
START_TEST(unwinding)
{
	struct rig_device *device = add_awaits();
	unsigned count;

	add_scalars();
	plan->steps[plan->view.step_count - 1].core_set = SK_ALL_CORES;
	failing.fail_at = 0;
	add_tiled_step(rig_partition(plan, 100, 6), &outer_loops[1], &inner_loops[0]);
	device->ranges[0][1][0] = (struct sk_core_range){48, 100};

	struct rig_code loaded = rig_load(plan, SK_ENTRY_PARALLEL);

	ck_assert_int_eq(rig_call_stepping(&loaded, &device->cores[0][1], NULL, &count), 0);
	ck_assert_uint_gt(count, 80);
	rig_unload(&loaded);
	loaded = rig_load(plan, SK_ENTRY_SERIAL);
	ck_assert_int_eq(rig_call_stepping(&loaded, device->bindings, workspace, &count), 0);
	ck_assert_uint_gt(count, 40);
	rig_unload(&loaded);
	rig_device_free(device);
}
END_TEST

START_TEST(unwinding_from_kernels)
{
	struct rig_code loaded;
	void *bindings[] = {&loaded};
	struct rig_device *device;

	STEP(plan, SK_STEP_PLAIN, look_back);
	POINTER(plan, SK_SPACE_BINDING, 0, 0);
	loaded = rig_load(plan, SK_ENTRY_SERIAL);
	ck_assert_int_eq(rig_call(rig_entry(&loaded), bindings, NULL), 0);
	rig_unload(&loaded);
	device = rig_device_new(plan, 1, 0, workspace);
	device->bindings[0] = &loaded;
	loaded = rig_load(plan, SK_ENTRY_PARALLEL);
	ck_assert_int_eq(rig_call(rig_entry(&loaded), &device->cores[0][0], NULL), 0);
	rig_unload(&loaded);
	rig_device_free(device);
	ck_assert_uint_eq(rig_log.count, 2);
}
END_TEST

/* ---- refusals, size ---- */

static const char *refusal(void)
{
	struct sk_code code = {.arena = plan->arena};

	return sk_dispatcher_emit(plan->arena, &plan->view, NULL, 0, SK_ENTRY_PARALLEL, "launch", &code);
}

START_TEST(refusals)
{
	plan->header.machine = 0;
	ck_assert_str_eq(refusal(), "dispatchers for ELF machine 0 are not supported");
	plan->header.machine = 62;
	ck_assert_ptr_null(refusal());
	STEP(plan, SK_STEP_PLAIN, take_number);
	LENGTH(plan, SK_I64);
	ck_assert_ptr_nonnull(strstr(refusal(), "argument 0 is a length, but the task has no divided extent"));
	plan->steps[0].kind = SK_STEP_SPLIT;
	plan->steps[0].partition = rig_partition(plan, 1, 1);
	ck_assert_ptr_null(refusal());
	plan->arguments[0].dtype = SK_F32;
	ck_assert_ptr_nonnull(strstr(refusal(), "is a length of the type f32"));
	plan->arguments[0].dtype = SK_I64;
	plan->calls[0].argument_count = 300;
	ck_assert_ptr_nonnull(strstr(refusal(), "it has 300 arguments; at most 256"));
	plan->calls[0].argument_count = 1;
	plan->steps[0].blocks = UINT32_MAX;
	ck_assert_ptr_nonnull(strstr(refusal(), "exceeds 31 bits"));
	plan->steps[0].blocks = 0;
	plan->steps[0].flags |= SK_STEP_TIMED;
	ck_assert_ptr_null(refusal());
	plan->steps[0].call_count = INT32_MAX / 2;
	ck_assert_ptr_nonnull(strstr(refusal(), "too large for a table of times"));
}
END_TEST

/* A task of a chain costs its arguments and its call, nothing else; jumps are short where they can be. */
START_TEST(size)
{
	struct rig_code one, many;

	add_status(0);
	one = rig_load(plan, SK_ENTRY_SERIAL);
	for (unsigned i = 0; i < 5; i++)
		add_status(1);
	many = rig_load(plan, SK_ENTRY_SERIAL);
	/* mov edi, 1; call; test eax, eax; jne */
	ck_assert_uint_eq(many.code.bytes.count - one.code.bytes.count, 5 * (5 + 5 + 2 + 2));
	rig_unload(&one);
	rig_unload(&many);
}
END_TEST

static Suite *suite(void)
{
	Suite *suite = suite_create("dispatcher");
	TCase *calls = tcase_create("calls"), *order = tcase_create("order"), *frames = tcase_create("frames");

	tcase_add_checked_fixture(calls, setup, teardown);
	tcase_add_test(calls, scalars);
	tcase_add_test(calls, small_integers);
	tcase_add_test(calls, half_floats);
	tcase_add_test(calls, references);
	tcase_add_test(calls, loads);
	tcase_add_test(calls, addresses);
	tcase_add_test(calls, serial_scratch);
	tcase_add_test(calls, split);
	tcase_add_test(calls, expressions_of_ranges);
	tcase_add_test(calls, expressions_of_blocks);
	tcase_add_loop_test(calls, loops, 0, 2 * LOOPS);
	tcase_add_test(calls, loops_that_fail);
	tcase_add_loop_test(calls, fields, 0, 2);
	tcase_add_test(calls, fields_far_away);
	tcase_add_test(calls, symbols_and_structs);
	tcase_add_loop_test(calls, blocks, 0, 10);
	tcase_add_test(calls, results);
	tcase_add_test(calls, statuses);
	tcase_add_test(calls, several_calls);
	tcase_add_test(calls, several_divided_calls);
	suite_add_tcase(suite, calls);

	tcase_add_checked_fixture(order, setup, teardown);
	tcase_set_timeout(order, 60);
	tcase_add_test(order, homes);
	tcase_add_test(order, awaits_that_need_not_wait);
	tcase_add_loop_test(order, awaits_that_wait, 0, 2);
	tcase_add_loop_test(order, awaits_that_abort, 0, 2);
	tcase_add_test(order, lanes);
	tcase_add_test(order, second_lane_alone);
	tcase_add_test(order, serial_order);
	tcase_add_test(order, fences);
	tcase_add_test(order, times_noted);
	tcase_add_test(order, times_unwanted);
	tcase_add_test(order, threads_chain);
	tcase_add_test(order, threads_all);
	suite_add_tcase(suite, order);

	tcase_add_checked_fixture(frames, setup, teardown);
	tcase_set_timeout(frames, 60);
	tcase_add_test(frames, unwinding);
	tcase_add_test(frames, unwinding_from_kernels);
	tcase_add_test(frames, refusals);
	tcase_add_test(frames, size);
	suite_add_tcase(suite, frames);
	return suite;
}

int main(void)
{
	return run_suite(suite());
}
