/* Calls against signatures (calls.h), on plans made by hand: a plan that calls its kernel as the signature says is
 * accepted, and one field that says something else is named. That every field of a plan is looked at, plan-mutants.c
 * shows. */
#include <check.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/diag.h"
#include "src/proof/calls.h"
#include "tests/lib/plan-builder.h"
#include "tests/lib/suite.h"

static struct sk_arena *arena;
static struct sk_diag diag;

enum { READ = SK_ACCESS_READ, WRITE = SK_ACCESS_WRITE };

static void setup(void)
{
	arena = sk_arena_create();
	sk_diag_init(&diag, arena);
}

static void teardown(void)
{
	sk_arena_destroy(arena);
}

/* Refused with a message that has the text, or accepted (NULL). */
static void expect(const struct sk_plan_view *view, const char *message)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	bool sound = sk_calls_check(arena, &diag, view, "p.sk");

	sk_diag_flush(&diag, "test", 0, stream);
	fclose(stream);
	ck_assert_msg(sound == !message, "%s: %s", message ? message : "accepted", text);
	ck_assert_msg(!message || strstr(text, message), "'%s' is not in:\n%s", message, text);
	free(text);
	sk_diag_init(&diag, arena);
}

static void add_scalar(struct plan *plan, enum sk_argument_kind kind, enum sk_dtype dtype, uint64_t value)
{
	plan_argument(plan, (struct sk_plan_argument){.kind = (uint8_t)kind, .dtype = (uint8_t)dtype, .value = value});
}

/* y = factor * x, in units of so many elements. */
static struct sk_plan_view scaled(uint64_t unit)
{
	struct plan *plan = plan_create(arena, 1);
	uint32_t x = plan_tensor(plan, "x", SK_F32, 1000, SK_ROLE_INPUT);
	uint32_t y = plan_tensor(plan, "y", SK_F32, 1000, SK_ROLE_OUTPUT);

	plan_signature(plan, "split=n; in x f32[n], out y f32[n], n i64, factor f32");
	plan_launch(plan, "sp", SK_LAUNCH_SUPERKERNEL);
	plan_split(plan, "scaled", 1000, unit);
	plan_access(plan, x, READ);
	plan_access(plan, y, WRITE);
	add_scalar(plan, SK_ARGUMENT_LENGTH, SK_I64, 0);
	add_scalar(plan, SK_ARGUMENT_VALUE, SK_F32, 0x40400000);
	return plan_view(plan);
}

#define FIELD(name) offsetof(struct sk_plan_argument, name), sizeof(((struct sk_plan_argument *)0)->name)

static const struct {
	uint32_t argument;
	size_t offset, size;
	uint64_t value;
	const char *message;
} wrong_arguments[] = {
	{0, FIELD(kind), SK_ARGUMENT_VALUE, "no tensor is passed for 'x'"},
	{0, FIELD(dtype), SK_I32, "'x' is i32 in a tensor of f32"},
	{0, FIELD(access), WRITE, "'x' is written"},
	{0, FIELD(access), READ | WRITE, "'x' is read and written"},
	{1, FIELD(access), READ, "'y' is read"},
	{0, FIELD(size), 3998, "'x' has 3998 bytes, no whole number of elements"},
	{0, FIELD(size), 2000, "the cores divide the 2000 bytes of 'x' by 4 for each of 1000 elements"},
	{1, FIELD(element_bytes), 0, "the cores divide the 4000 bytes of 'y' by 0"},
	{1, FIELD(index), 0, "'x' and 'y' share bytes, and one of them is written"},
	{2, FIELD(kind), SK_ARGUMENT_VALUE, "'n' is not the number of elements of a call"},
	{2, FIELD(dtype), SK_I32, "'n' is i32"},
	{3, FIELD(kind), SK_ARGUMENT_LENGTH, "'factor' is neither a number"},
	{3, FIELD(dtype), SK_I32, "'factor' is i32"},
	{3, FIELD(flags), SK_ARGUMENT_BY_REFERENCE, "'factor' is passed by reference"},
	{3, FIELD(kind), SK_ARGUMENT_STATE, "'factor' is neither a number"},
};

START_TEST(argument_contradicts)
{
	struct sk_plan_view view = scaled(64);
	char *argument = (char *)&view.arguments[wrong_arguments[_i].argument];

	expect(&view, NULL);
	memcpy(argument + wrong_arguments[_i].offset, &wrong_arguments[_i].value, wrong_arguments[_i].size);
	expect(&view, wrong_arguments[_i].message);
	expect(&view, "launch 'sp': the call of task 'scaled' contradicts the signature of kernel 'kernel': ");
	expect(&view, "the signature is: split=n; in x f32[n], out y f32[n], n i64, factor f32");
}
END_TEST

START_TEST(step_contradicts)
{
	struct sk_plan_view view = scaled(64);
	struct sk_plan_step *step = (struct sk_plan_step *)view.steps;

	step->argument_count = 3;
	expect(&view, "it has 3 arguments instead of 4");
	step->argument_count = 4;
	step->flags = SK_STEP_STATUS;
	expect(&view, "flags 0x");
	step->flags = SK_STEP_EARLY_SET;
	expect(&view, "the kernel does not start early by itself");
	step->flags = 0;
	step->kind = SK_STEP_BLOCKS;
	expect(&view, "the step spreads over the cores in another way");
	step->kind = SK_STEP_SPLIT;
	expect(&view, NULL);
}
END_TEST

START_TEST(unit_contradicts)
{
	struct sk_plan_view small = scaled(32), large = scaled(128);

	expect(&small, "its units have 32 elements; multiples of 64 are right");
	expect(&large, "its units of 128 elements are not what it and those agree on that share its tensors");
}
END_TEST

/* Steps of rows of 4 and of 6 elements share a tensor: the least units of equally many bytes are 3 and 2 rows. Where
 * there are none, each has its least one, which is 1. */
START_TEST(units_of_two_steps)
{
	static const struct {
		uint64_t narrow, wide;
		const char *message;
	} units[] = {{3, 2, NULL}, {6, 4, "its units of 6 elements"}, {3, 1, "its units of 3"}, {1, 1, NULL}};
	struct plan *plan = plan_create(arena, 1);
	uint32_t x = plan_tensor(plan, "x", SK_F32, 120, SK_ROLE_INPUT);
	uint32_t y = plan_tensor(plan, "y", SK_F32, 120, SK_ROLE_INOUT);
	uint32_t z = plan_tensor(plan, "z", SK_F32, 120, SK_ROLE_OUTPUT);

	plan_signature(plan, "split=n; in x f32[n,m], out y f32[n,m], n i64");
	plan_launch(plan, "sp", SK_LAUNCH_SUPERKERNEL);
	plan_split(plan, "narrow", 30, units[_i].narrow);
	plan_part(plan, x, READ, 0, 480, 16);
	plan_part(plan, y, WRITE, 0, 480, 16);
	add_scalar(plan, SK_ARGUMENT_LENGTH, SK_I64, 0);
	plan_split(plan, "wide", 20, units[_i].wide);
	plan_part(plan, y, READ, 0, 480, 24);
	plan_part(plan, z, WRITE, 0, 480, 24);
	add_scalar(plan, SK_ARGUMENT_LENGTH, SK_I64, 0);

	struct sk_plan_view view = plan_view(plan);

	expect(&view, units[_i].message);
}
END_TEST

/* Only launches of its own call an unfusible kernel. */
START_TEST(unfusible_contradicts)
{
	static const struct {
		enum sk_launch_kind kind;
		const char *message;
	} launches[] = {{SK_LAUNCH_SINGLE, NULL},
			{SK_LAUNCH_TASK, NULL},
			{SK_LAUNCH_SUPERKERNEL, "an unfusible kernel is part of a superkernel"}};
	struct plan *plan = plan_create(arena, 1);
	uint32_t x = plan_tensor(plan, "x", SK_F32, 12, SK_ROLE_INPUT);

	plan_signature(plan, "unfusible; in x f32[n]");
	plan_launch(plan, "sp", launches[_i].kind);
	plan_plain(plan, "alone", 0);
	plan_access(plan, x, READ);

	struct sk_plan_view view = plan_view(plan);

	expect(&view, launches[_i].message);
}
END_TEST

/* x[n,m] and y[m], with n by value. */
START_TEST(extent_contradicts)
{
	static const struct {
		uint64_t rows, width;
		const char *message;
	} calls[] = {{3, 4, NULL}, {3, 5, "'y' has 5 elements, not 4"}, {5, 4, "'x' has 12 elements, not 20"}};
	struct plan *plan = plan_create(arena, 1);
	uint32_t x = plan_tensor(plan, "x", SK_F32, 12, SK_ROLE_INPUT);
	uint32_t y = plan_tensor(plan, "y", SK_F32, calls[_i].width, SK_ROLE_OUTPUT);

	plan_signature(plan, "in x f32[n,m], out y f32[m], n i64");
	plan_launch(plan, "sp", SK_LAUNCH_SUPERKERNEL);
	plan_plain(plan, "sum", 0);
	plan_access(plan, x, READ);
	plan_access(plan, y, WRITE);
	add_scalar(plan, SK_ARGUMENT_VALUE, SK_I64, calls[_i].rows);

	struct sk_plan_view view = plan_view(plan);

	expect(&view, calls[_i].message);
}
END_TEST

/* Hidden state is the same in all calls of a kernel, and reentrant kernels have none. */
START_TEST(state_contradicts)
{
	struct plan *plan = plan_create(arena, 1);
	uint32_t x = plan_tensor(plan, "x", SK_F32, 12, SK_ROLE_INPUT);

	plan_signature(plan, _i ? "reentrant; in x f32[n]" : "in x f32[n]");
	plan_launch(plan, "sp", SK_LAUNCH_SUPERKERNEL);
	for (uint32_t i = 0; i < 2; i++) {
		plan_plain(plan, i ? "second" : "first", 0);
		plan_access(plan, x, READ);
		plan_state(plan, i);
	}

	struct sk_plan_view view = plan_view(plan);

	expect(&view, _i ? "it has 2 arguments instead of 1" : "hidden state is not that of the call of task 'first'");
}
END_TEST

START_TEST(kernel_contradicts)
{
	struct sk_plan_view view = scaled(64);
	struct sk_plan_kernel *kernel = (struct sk_plan_kernel *)view.kernels;

	kernel->early = SK_STEP_EARLY_SET;
	expect(&view, "the record of kernel 'kernel' contradicts its signature, which starts early in another way");
	kernel->early = 0;
	kernel->vector_code_size = 4;
	expect(&view, "which has no vector side");
	kernel->vector_code_size = 0;
	memcpy((char *)sk_plan_string(&kernel->signature), "split=m", 7);
	expect(&view, "nothing can bind extent 'm'");
	memcpy((char *)sk_plan_string(&kernel->signature), "       ", 7);
	expect(&view, "signature, column");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("calls");
	TCase *tcase = tcase_create("calls");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, argument_contradicts, 0, sizeof(wrong_arguments) / sizeof(wrong_arguments[0]));
	tcase_add_test(tcase, step_contradicts);
	tcase_add_test(tcase, unit_contradicts);
	tcase_add_loop_test(tcase, units_of_two_steps, 0, 4);
	tcase_add_loop_test(tcase, unfusible_contradicts, 0, 3);
	tcase_add_loop_test(tcase, extent_contradicts, 0, 3);
	tcase_add_loop_test(tcase, state_contradicts, 0, 2);
	tcase_add_test(tcase, kernel_contradicts);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
