/* Calls against signatures (calls.h), on plans made by hand: a plan that calls its kernel as the signature says is
 * accepted, and one field that differs is named. plan-mutants.c shows that every field of a plan is checked. */
#include <check.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "format/plan/plan.h"
#include "format/skplan.h"
#include "src/proof/proof-parts.h"
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
	{0, FIELD(size), 3998, "'x' has 3998 bytes, not a whole number of elements"},
	{0, FIELD(size), 2000, "the cores divide the 2000 bytes of 'x' by 4 for each of 1000 elements"},
	{1, FIELD(element_bytes), 0, "the cores divide the 4000 bytes of 'y' by 0"},
	{0, FIELD(value), (uint64_t)64 << 32, "the address of 'x' is displaced by 64 bytes"},
	{1, FIELD(value), (uint64_t)-20480 << 32, "the address of 'y' is displaced by -20480 bytes"},
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

/* A tensor that is absent, and attributes: the address of a list, a number, and one that is computed with. */
static struct sk_plan_view attributed(void)
{
	struct plan *plan = plan_create(arena, 1);
	uint32_t x = plan_tensor(plan, "x", SK_F32, 1000, SK_ROLE_INPUT);
	uint32_t y = plan_tensor(plan, "y", SK_F32, 1000, SK_ROLE_OUTPUT);
	uint32_t list = plan_tensor(plan, "i64[1, 2]", SK_I64, 2, SK_ROLE_CONSTANT);

	plan_signature(plan, "in x f32[n], out y f32[n], in? b f32[n], pads ptr = attr(pads), e f32 = attr(e), k i64 = "
			     "n*attr(k, 2), n i64");
	plan_launch(plan, "sp", SK_LAUNCH_SINGLE);
	plan_plain(plan, "attributed", 0);
	plan_access(plan, x, READ);
	plan_access(plan, y, WRITE);
	add_scalar(plan, SK_ARGUMENT_VALUE, SK_U64, 0);
	plan_access(plan, list, READ);
	add_scalar(plan, SK_ARGUMENT_VALUE, SK_F32, 0x40400000);
	add_scalar(plan, SK_ARGUMENT_VALUE, SK_I64, 5000);
	add_scalar(plan, SK_ARGUMENT_VALUE, SK_I64, 1000);
	return plan_view(plan);
}

static const struct {
	uint32_t argument;
	size_t offset, size;
	uint64_t value;
	const char *message; /* NULL: that is right, too */
} wrong_attributes[] = {
	{2, FIELD(value), 1, "'b' is neither a tensor nor null"},
	{2, FIELD(dtype), SK_I32, "'b' is neither a tensor nor null"},
	{2, FIELD(flags), SK_ARGUMENT_BY_REFERENCE, "'b' is neither a tensor nor null"},
	{2, FIELD(kind), SK_ARGUMENT_LENGTH, "no tensor is passed for 'b'"},
	{3, FIELD(space), SK_SPACE_WORKSPACE, "'pads' is not the address of a constant list"},
	{3, FIELD(dtype), SK_F32, "'pads' is f32 in a tensor of i64"},
	{3, FIELD(dtype), SK_U8, "'pads' is not the address of a constant list"},
	{3, FIELD(kind), SK_ARGUMENT_LOAD, "'pads' is not the address of a constant list"},
	{3, FIELD(kind), SK_ARGUMENT_VALUE, "'pads' is neither a list nor null"},
	{3, FIELD(element_bytes), 8, "'pads' is not the address of a constant list"},
	{3, FIELD(access), READ | WRITE, "'pads' is read and written"},
	{3, FIELD(flags), SK_ARGUMENT_WHOLE, "'pads' is not the address of a constant list"},
	{4, FIELD(value), 7, NULL},
	{4, FIELD(dtype), SK_F64, "'e' is f64"},
	{4, FIELD(kind), SK_ARGUMENT_EXPRESSION, "'e' is not one number"},
	{5, FIELD(dtype), SK_I32, "'k' is i32"},
	{6, FIELD(value), 999, "'x' has 1000 elements, not 999"},
};

START_TEST(attribute_contradicts)
{
	struct sk_plan_view view = attributed();
	char *argument = (char *)&view.arguments[wrong_attributes[_i].argument];

	expect(&view, NULL);
	memcpy(argument + wrong_attributes[_i].offset, &wrong_attributes[_i].value, wrong_attributes[_i].size);
	expect(&view, wrong_attributes[_i].message);
}
END_TEST

/* Sizes belong to no tensor, also where the first one has another type. */
START_TEST(list_of_sizes)
{
	struct sk_plan_view view = attributed();
	struct sk_plan_argument *argument = (struct sk_plan_argument *)(uintptr_t)&view.arguments[3];

	argument->space = SK_SPACE_SIZES;
	argument->offset = argument->tensor = 0;
	expect(&view, NULL);
	argument->dtype = SK_I32;
	expect(&view, "'pads' is not the address of a constant list");
}
END_TEST

/* p {lo f32 = 1, in x f32[n], q {n i64}*}*, v {a f64 = 1, w {b i32 = 2}} by value, and a piece of scratch after them.
 * */
static struct sk_plan_view boxed(void)
{
	static const struct sk_plan_argument scalar = {.kind = SK_ARGUMENT_VALUE, .flags = SK_ARGUMENT_FIELD};
	static const struct sk_plan_argument scratch = {.kind = SK_ARGUMENT_SCRATCH};
	struct plan *plan = plan_create(arena, 1);
	uint32_t y = plan_tensor(plan, "y", SK_F32, 1000, SK_ROLE_OUTPUT);
	uint32_t x = plan_tensor(plan, "x", SK_F32, 1000, SK_ROLE_INPUT);
	struct sk_plan_argument *arguments;
	struct sk_plan_view view;

	plan_signature(plan, "out y f32[n], scratch t[8], p {lo f32 = 1, in x f32[n], q {n i64}*}*, v {a f64 = 1, "
			     "w {b i32 = 2}}");
	plan_launch(plan, "sp", SK_LAUNCH_SINGLE);
	plan_scratch(plan, 256);
	plan_plain(plan, "boxed", 0);
	plan_access(plan, y, WRITE);
	plan_argument(plan, scratch);
	plan_argument(plan, scratch);
	plan_argument(plan, scalar);
	plan_access(plan, x, READ);
	plan_argument(plan, scratch);
	plan_argument(plan, scalar);
	plan_argument(plan, scratch);
	plan_argument(plan, scalar);
	plan_argument(plan, scalar);
	view = plan_view(plan);
	arguments = (struct sk_plan_argument *)view.arguments;
	arguments[1].offset = 192;
	arguments[1].size = 8;
	arguments[2].size = 24;
	arguments[3].dtype = SK_F32;
	arguments[3].value = 0x3f800000;
	arguments[4].flags = SK_ARGUMENT_FIELD;
	arguments[4].field = 8;
	arguments[5] = (struct sk_plan_argument){
		.kind = SK_ARGUMENT_SCRATCH, .offset = 64, .size = 8, .flags = SK_ARGUMENT_FIELD, .field = 16};
	arguments[6].dtype = SK_I64;
	arguments[6].value = 1000;
	arguments[6].field = 64;
	arguments[7] = (struct sk_plan_argument){
		.kind = SK_ARGUMENT_SCRATCH, .offset = 128, .size = 16, .value = 1, .flags = SK_ARGUMENT_BY_VALUE};
	arguments[8].dtype = SK_F64;
	arguments[8].value = 0x3ff0000000000000;
	arguments[8].field = 128;
	arguments[9].dtype = SK_I32;
	arguments[9].value = 2;
	arguments[9].field = 136;
	return view;
}

static const struct {
	uint32_t argument;
	size_t offset, size;
	uint64_t value;
	const char *message;
} wrong_fields[] = {
	{1, FIELD(offset), 0, "'t' is not 8 bytes of scratch at offset 192"},
	{2, FIELD(offset), 64, "'p' is not 24 bytes of scratch at offset 0"},
	{2, FIELD(size), 16, "'p' is not 24 bytes of scratch at offset 0"},
	{2, FIELD(flags), SK_ARGUMENT_FIELD, "'p' is a field"},
	{1, FIELD(flags), SK_ARGUMENT_BY_VALUE, "'t' is passed by value"},
	{2, FIELD(flags), SK_ARGUMENT_BY_VALUE, "'p' is passed by value"},
	{7, FIELD(flags), 0, "'v' is passed by reference"},
	{7, FIELD(value), 0, "parts 0x1 of 'v' are floats, not 0x0"},
	{7, FIELD(size), 24, "'v' is not 16 bytes of scratch at offset 128"},
	{9, FIELD(field), 140, "'b' is stored at byte 140"},
	{3, FIELD(flags), 0, "'lo' is passed"},
	{3, FIELD(field), 4, "'lo' is stored at byte 4"},
	{3, FIELD(value), 0x40000000, "'lo' is not 1"},
	{4, FIELD(field), 16, "'x' is stored at byte 16"},
	{4, FIELD(flags), 0, "'x' is passed"},
	{5, FIELD(offset), 0, "'q' is not 8 bytes of scratch at offset 64"},
	{5, FIELD(field), 8, "'q' is stored at byte 8"},
	{6, FIELD(value), 999, "'y' has 1000 elements, not 999"},
};

START_TEST(field_contradicts)
{
	struct sk_plan_view view = boxed();
	char *argument = (char *)&view.arguments[wrong_fields[_i].argument];

	expect(&view, NULL);
	memcpy(argument + wrong_fields[_i].offset, &wrong_fields[_i].value, wrong_fields[_i].size);
	expect(&view, wrong_fields[_i].message);
}
END_TEST

START_TEST(status_contradicts)
{
	struct plan *plan = plan_create(arena, 1);
	uint32_t x = plan_tensor(plan, "x", SK_F32, 1000, SK_ROLE_INOUT);

	plan_signature(plan, "inout x f32[n], ref info i32, ref k i32 -> status info");
	plan_launch(plan, "sp", SK_LAUNCH_SINGLE);
	plan_plain(plan, "solve", 0);
	plan_access(plan, x, READ | WRITE);
	add_scalar(plan, SK_ARGUMENT_VALUE, SK_I32, 0);
	add_scalar(plan, SK_ARGUMENT_VALUE, SK_I32, 3);

	struct sk_plan_view view = plan_view(plan);
	struct sk_plan_argument *arguments = (struct sk_plan_argument *)view.arguments;

	arguments[1].flags = SK_ARGUMENT_BY_REFERENCE | SK_ARGUMENT_STATUS;
	arguments[2].flags = SK_ARGUMENT_BY_REFERENCE;
	expect(&view, NULL);
	arguments[1].value = 1;
	expect(&view, "'info' is not 0 before the call");
	arguments[1].value = 0;
	arguments[1].flags = SK_ARGUMENT_BY_REFERENCE;
	expect(&view, "'info' is not a status");
	arguments[1].flags = SK_ARGUMENT_BY_REFERENCE | SK_ARGUMENT_STATUS;
	arguments[2].flags = SK_ARGUMENT_BY_REFERENCE | SK_ARGUMENT_STATUS;
	expect(&view, "'k' is a status");
}
END_TEST

/* A scalar in a tensor, of which no later bytes are read. */
START_TEST(element_contradicts)
{
	static const struct sk_plan_pattern pattern = {.over_read = 64};
	struct plan *plan = plan_create(arena, 1);
	uint32_t x = plan_tensor(plan, "x", SK_F32, 1000, SK_ROLE_INOUT);
	uint32_t factor = plan_tensor(plan, "factor", SK_F32, 1, SK_ROLE_INPUT);

	plan_signature(plan, "inout x f32[n], ref factor f32");
	plan_launch(plan, "sp", SK_LAUNCH_SINGLE);
	plan_plain(plan, "scale", 0);
	plan_access(plan, x, READ | WRITE);
	plan_access(plan, factor, READ);

	struct sk_plan_view view = plan_view(plan);

	view.patterns = &pattern;
	view.pattern_count = 1;
	expect(&view, NULL);
	((struct sk_plan_argument *)view.arguments)[1].value = 1;
	expect(&view, "'factor' is one element, but has a pattern");
}
END_TEST

START_TEST(step_contradicts)
{
	struct sk_plan_view view = scaled(64);
	struct sk_plan_step *step = (struct sk_plan_step *)view.steps;

	struct sk_plan_call *call = (struct sk_plan_call *)view.calls;

	call->argument_count = 3;
	expect(&view, "it has 3 arguments instead of 4");
	call->argument_count = 4;
	call->flags = SK_CALL_STATUS;
	expect(&view, "its return value is a status");
	call->flags = 0;
	step->flags = SK_STEP_NONTEMPORAL;
	expect(&view, "flags 0x");
	step->flags = SK_STEP_EARLY_SET;
	expect(&view, "the kernel does not start early by itself");
	step->flags = 0;
	step->kind = SK_STEP_BLOCKS;
	expect(&view, "the step is distributed over the cores differently");
	step->kind = SK_STEP_SPLIT;
	expect(&view, NULL);
}
END_TEST

/* ---- loops and expressions ---- */

/* The records that a call has besides, and the call. */
struct tiled {
	struct sk_plan_view view;
	struct sk_plan_loop loops[2];
	struct sk_plan_term terms[4];
	struct sk_plan_pattern pattern;
	struct sk_plan_argument *arguments;
};

/* y = x + 1 for 1000 rows of 8, in tiles of 6 by 4. */
static struct tiled *tiled(void)
{
	struct plan *plan = plan_create(arena, 1);
	struct tiled *tiled = SK_NEW(arena, struct tiled);
	uint32_t x = plan_tensor(plan, "x", SK_F32, 8000, SK_ROLE_INPUT);
	uint32_t y = plan_tensor(plan, "y", SK_F32, 8000, SK_ROLE_OUTPUT);

	plan_signature(
		plan,
		"tile=m:6,n:4; in x f32[m,n] whole, out y f32[m,n], m i64, columns u64 = 4*end(n)-4*begin(n), at i32 = "
		"n*begin(m)/2+(begin(m)+3)/5");
	plan_launch(plan, "sp", SK_LAUNCH_SUPERKERNEL);
	plan_split(plan, "tiled", 1000, 6);
	plan_access(plan, x, READ);
	plan_access(plan, y, WRITE);
	add_scalar(plan, SK_ARGUMENT_EXPRESSION, SK_I64, 0);
	add_scalar(plan, SK_ARGUMENT_EXPRESSION, SK_U64, 0);
	add_scalar(plan, SK_ARGUMENT_EXPRESSION, SK_I32, 0);
	tiled->view = plan_view(plan);

	struct sk_plan_call *call = (struct sk_plan_call *)tiled->view.calls;

	tiled->arguments = (struct sk_plan_argument *)tiled->view.arguments;
	tiled->loops[0] = (struct sk_plan_loop){1000, 6};
	tiled->loops[1] = (struct sk_plan_loop){8, 4};
	call->loop_count = 2;
	tiled->terms[0] = (struct sk_plan_term){SK_VARIABLE_SIZE, .factor = 1, .divisor = 1};
	tiled->terms[1] = (struct sk_plan_term){SK_VARIABLE_INNER_SIZE, .factor = 4, .divisor = 1};
	tiled->terms[2] = (struct sk_plan_term){SK_VARIABLE_BEGIN, .factor = 4, .divisor = 1};
	tiled->terms[3] = (struct sk_plan_term){SK_VARIABLE_BEGIN, .factor = 1, .addend = 3, .divisor = 5};
	tiled->pattern.inner_bytes = 4;
	for (uint32_t i = 0; i < 2; i++)
		tiled->arguments[i].value = 1;
	for (uint32_t i = 0; i < 3; i++) {
		tiled->arguments[2 + i].index = i;
		tiled->arguments[2 + i].size = i == 2 ? 2 : 1;
	}
	tiled->arguments[0].flags = SK_ARGUMENT_WHOLE;
	tiled->view.loops = tiled->loops;
	tiled->view.terms = tiled->terms;
	tiled->view.patterns = &tiled->pattern;
	tiled->view.pattern_count = 1;
	return tiled;
}

START_TEST(loops_contradict)
{
	struct tiled *t = tiled();
	struct sk_plan_call *call = (struct sk_plan_call *)t->view.calls;

	call->loop_count = 1;
	expect(&t->view, "it has 1 loops instead of 2");
	call->loop_count = 2;
	t->loops[1].tile = 5;
	expect(&t->view, "tiles of 'n' have 5 elements");
	t->loops[1].tile = 4;
	t->pattern.inner_bytes = 8;
	expect(&t->view, "the bytes of 'x' have a different layout");
	t->pattern.inner_bytes = 0;
	expect(&t->view, "'x' has an empty pattern");
	t->pattern.inner_bytes = 4;
	t->arguments[1].value = 0;
	expect(&t->view, "the bytes of 'y' have a different layout");
	t->arguments[1].value = 1;
	t->arguments[0].flags = 0;
	expect(&t->view, "'x' is passed from where its part begins");
	t->arguments[0].flags = SK_ARGUMENT_WHOLE;
	t->arguments[1].flags = SK_ARGUMENT_WHOLE;
	expect(&t->view, "'y' is passed whole");
}
END_TEST

#define TERM(name) offsetof(struct sk_plan_term, name), sizeof(((struct sk_plan_term *)0)->name)

static const struct {
	uint32_t term;
	size_t offset, size;
	uint64_t value;
	const char *message;
} wrong_terms[] = {
	{0, TERM(variable), SK_VARIABLE_INNER_SIZE, "'m' is not how long its part is"},
	{0, TERM(factor), 2, "'m' is not how long its part is"},
	{0, TERM(addend), 1, "'m' is not how long its part is"},
	{0, TERM(divisor), 7, "'m' is not how long its part is"},
	{0, TERM(modulus), 6, "'m' is not how long its part is"},
	{1, TERM(variable), SK_VARIABLE_SIZE, "'columns' is not 4*end(n)-4*begin(n)"},
	{1, TERM(factor), 3, "'columns' is not 4*end(n)-4*begin(n)"},
	{2, TERM(variable), SK_VARIABLE_SIZE, "'at' is not n*begin(m)/2+(begin(m)+3)/5"},
	{2, TERM(addend), 1, "'at' is not n*begin(m)/2+(begin(m)+3)/5"},
	{3, TERM(addend), 4, "'at' is not n*begin(m)/2+(begin(m)+3)/5"},
	{3, TERM(divisor), 6, "'at' is not n*begin(m)/2+(begin(m)+3)/5"},
	{3, TERM(modulus), 200, "'at' is not n*begin(m)/2+(begin(m)+3)/5"},
	{3, TERM(factor), 2, "'at' is not n*begin(m)/2+(begin(m)+3)/5"},
	{2, TERM(modulus), 999, "'at' is not n*begin(m)/2+(begin(m)+3)/5"},
};

START_TEST(terms_contradict)
{
	struct tiled *t = tiled();

	expect(&t->view, NULL);
	memcpy((char *)&t->terms[wrong_terms[_i].term] + wrong_terms[_i].offset, &wrong_terms[_i].value,
	       wrong_terms[_i].size);
	expect(&t->view, wrong_terms[_i].message);
}
END_TEST

/* ---- how bytes lie ---- */

/* A call that gets rows of 4 elements of a tensor x, or a table of addresses in it, and a scalar "m" or the block. */
static const struct {
	const char *signature;
	uint64_t rows;
	enum sk_step_kind kind;
	uint64_t unit, tile[2]; /* tile 0: no loop */
	uint64_t element_bytes;
	struct sk_plan_pattern pattern; /* with a table, the tensor is a field */
	const char *message;
} cuts[] = {
	{"align=32 tile=m:2; in x f32[m,4], m i64", 8, SK_STEP_SPLIT, 2, {2}, 16, {0}, NULL},
	{"align=32 each=m; in x f32[m,4]",
	 8,
	 SK_STEP_SPLIT,
	 2,
	 {1},
	 16,
	 {0},
	 "calls get addresses in 'x' that lie 16 bytes apart, not aligned to 32"},
	{"align=16 blocks=m; in x f32[m,4], block", 8, SK_STEP_BLOCKS_RANGE, 0, {0}, 16, {0}, NULL},
	{"align=32 blocks=m; in x f32[m,4], block",
	 8,
	 SK_STEP_BLOCKS_RANGE,
	 0,
	 {0},
	 16,
	 {0},
	 "calls get addresses in 'x' that lie 16 bytes apart, not aligned to 32"},
	{"align=8 tile=m:2,n:2; in x f32[m,n], m i64, n i64",
	 8,
	 SK_STEP_SPLIT,
	 2,
	 {2, 2},
	 16,
	 {.inner_bytes = 4},
	 NULL},
	{"align=16 tile=m:2,n:2; in x f32[m,n], m i64, n i64",
	 8,
	 SK_STEP_SPLIT,
	 2,
	 {2, 2},
	 16,
	 {.inner_bytes = 4},
	 "calls get addresses in 'x' that lie 8 bytes apart, not aligned to 16"},
	{"align=16; p ptr[8] of in x f32[m,4] by 16, m i64",
	 8,
	 SK_STEP_PLAIN,
	 0,
	 {0},
	 0,
	 {.table_count = 8, .table_stride = 16},
	 NULL},
	{"align=32; p ptr[8] of in x f32[m,4] by 16, m i64",
	 8,
	 SK_STEP_PLAIN,
	 0,
	 {0},
	 0,
	 {.table_count = 8, .table_stride = 16},
	 "calls get addresses in 'x' that lie 16 bytes apart, not aligned to 32"},
	{"p ptr[8] of in x f32[m,4], m i64", 8, SK_STEP_PLAIN, 0, {0}, 0, {.table_count = 8, .table_stride = 16}, NULL},
	{"in x f32[4,m], m i64", 8, SK_STEP_PLAIN, 0, {0}, 0, {.rank = 2, .shape = {4, 8}}, NULL},
	{"in x f32[4,m], m i64",
	 8,
	 SK_STEP_PLAIN,
	 0,
	 {0},
	 0,
	 {.rank = 2, .shape = {8, 4}},
	 "dimension 0 of 'x' is 8, not 4"},
	{"p ptr[3] of in x f32[m,4], m i64",
	 8,
	 SK_STEP_PLAIN,
	 0,
	 {0},
	 0,
	 {.table_count = 3, .table_stride = 42},
	 "3 addresses do not divide 'x'"},
	{"p ptr[k] of in x f32[m,k]+1, other i64",
	 8,
	 SK_STEP_PLAIN,
	 0,
	 {0},
	 0,
	 {.over_read = 1},
	 "no addresses in 'x' are passed"},
	{"p ptr[k] of in x f32[m,k], other i64", 8, SK_STEP_PLAIN, 0, {0}, 0, {0}, "no addresses in 'x' are passed"},
	{"tile=m:4; p ptr[3] of in x f32[m,4] by 12, m i64",
	 10,
	 SK_STEP_SPLIT,
	 4,
	 {4},
	 16,
	 {.table_count = 3, .table_stride = 12},
	 NULL},
	{"tile=m:4; p ptr[3] of in x f32[m,4] by 16, m i64",
	 12,
	 SK_STEP_SPLIT,
	 4,
	 {4},
	 16,
	 {.table_count = 3, .table_stride = 16},
	 NULL},
	{"tile=m:4; p ptr[3] of in x f32[m,4] by 16, m i64",
	 10,
	 SK_STEP_SPLIT,
	 4,
	 {4},
	 16,
	 {.table_count = 3, .table_stride = 16},
	 "the last of 3 addresses leads out of the part of 'x' that a call has"},
	{"tile=m:4; p ptr[5] of in x f32[m+4,4] by 16, m i64",
	 12,
	 SK_STEP_SPLIT,
	 4,
	 {4},
	 16,
	 {.halo = 64, .table_count = 5, .table_stride = 16},
	 NULL},
	{"tile=m:4; p ptr[9] of in x f32[m+4,4] by 16, m i64",
	 12,
	 SK_STEP_SPLIT,
	 4,
	 {4},
	 16,
	 {.halo = 64, .table_count = 9, .table_stride = 16},
	 "the last of 9 addresses leads out of the part of 'x' that a call has"},
	{"split=m; in x f32[m+4,4], m i64", 8, SK_STEP_SPLIT, 1, {0}, 16, {.halo = 64}, NULL},
	{"split=m; in x f32[m+4,4], m i64",
	 4,
	 SK_STEP_SPLIT,
	 1,
	 {0},
	 32,
	 {0},
	 "each part of 'x' is 32 bytes for each of 4 elements"},
	{"split=m; in x f32[m,4], m u8", 255, SK_STEP_SPLIT, 1, {0}, 16, {0}, NULL},
	{"split=m; in x f32[m,4], m u8", 256, SK_STEP_SPLIT, 1, {0}, 16, {0}, "'m' cannot be 256"},
};

/* The length of the part, or of the block. */
static void add_length(struct plan *plan, int number)
{
	if (cuts[number].kind == SK_STEP_BLOCKS_RANGE)
		add_scalar(plan, SK_ARGUMENT_BLOCK, SK_DTYPE_NONE, 0);
	else if (cuts[number].kind == SK_STEP_PLAIN)
		add_scalar(plan, SK_ARGUMENT_VALUE, SK_I64, cuts[number].rows);
	else if (!cuts[number].tile[0])
		add_scalar(plan, SK_ARGUMENT_LENGTH, strstr(cuts[number].signature, "u8") ? SK_U8 : SK_I64, 0);
	for (int i = 0; i < 2 && cuts[number].tile[i] > 1; i++)
		plan_argument(plan, (struct sk_plan_argument){.kind = SK_ARGUMENT_EXPRESSION,
							      .dtype = SK_I64,
							      .index = (uint32_t)i,
							      .size = 1});
}

static void add_step(struct plan *plan, int number)
{
	if (cuts[number].kind == SK_STEP_SPLIT)
		plan_split(plan, "cut", cuts[number].rows, cuts[number].unit);
	else if (cuts[number].kind == SK_STEP_BLOCKS_RANGE)
		plan_blocks_range(plan, "cut", cuts[number].rows, 3);
	else
		plan_plain(plan, "cut", 0);
}

START_TEST(cut_contradicts)
{
	const uint64_t rows = cuts[_i].rows, halo = strstr(cuts[_i].signature, "m+4") ? 4 : 0;
	const struct sk_plan_loop loops[] = {{rows, cuts[_i].tile[0]}, {4, cuts[_i].tile[1]}};
	static const struct sk_plan_term terms[] = {{SK_VARIABLE_SIZE, .factor = 1, .divisor = 1},
						    {SK_VARIABLE_INNER_SIZE, .factor = 1, .divisor = 1}};
	static const struct sk_plan_pattern none;
	struct plan *plan = plan_create(arena, 1);
	uint32_t x = plan_tensor(plan, "x", SK_F32, 4 * (rows + halo), SK_ROLE_INPUT);
	bool table = strstr(cuts[_i].signature, "ptr[");

	plan_signature(plan, cuts[_i].signature);
	plan_launch(plan, "sp", SK_LAUNCH_SUPERKERNEL);
	add_step(plan, _i);
	if (table)
		plan_argument(plan, (struct sk_plan_argument){.kind = SK_ARGUMENT_SCRATCH,
							      .size = 8 * cuts[_i].pattern.table_count});
	plan_part(plan, x, READ, 0, 16 * (rows + halo), cuts[_i].element_bytes);
	add_length(plan, _i);

	struct sk_plan_view view = plan_view(plan);
	struct sk_plan_argument *argument = (struct sk_plan_argument *)&view.arguments[table ? 1 : 0];

	argument->value = memcmp(&cuts[_i].pattern, &none, sizeof(none)) ? 1 : 0;
	argument->flags = table ? SK_ARGUMENT_FIELD : 0;
	((struct sk_plan_call *)view.calls)->loop_count = !!cuts[_i].tile[0] + !!cuts[_i].tile[1];
	view.loops = loops;
	view.terms = terms;
	view.patterns = &cuts[_i].pattern;
	view.pattern_count = 1;
	expect(&view, cuts[_i].message);
}
END_TEST

START_TEST(unit_contradicts)
{
	struct sk_plan_view small = scaled(32), large = scaled(128);

	expect(&small, "its units have 32 elements, not a multiple of 64");
	expect(&large, "its units of 128 elements are not those that it and the steps sharing its tensors require");
}
END_TEST

/* Steps of rows of 4 and of 6 elements share a tensor: the least units of equally many bytes are 3 and 2 rows. Without
 * such units each step has its least one, which is 1. */
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

/* If a kernel's signature says so, parts are multiples of 6 elements; an entry of its own needs no larger ones. */
START_TEST(units_of_signatures_contradict)
{
	static const struct {
		enum sk_launch_kind kind;
		uint64_t unit;
		const char *message;
	} units[] = {
		{SK_LAUNCH_TASK, 6, NULL},
		{SK_LAUNCH_TASK, 1, "its units have 1 elements, not 6"},
		{SK_LAUNCH_TASK, 12, "its units have 12 elements, not 6"},
		{SK_LAUNCH_SUPERKERNEL, 6, NULL},
		{SK_LAUNCH_SUPERKERNEL, 4, "its units have 4 elements, not a multiple of 6"},
	};
	struct plan *plan = plan_create(arena, 1);
	uint32_t x = plan_tensor(plan, "x", SK_F32, 120, SK_ROLE_INPUT);

	plan_signature(plan, "split=n:6; in x f32[n,m], n i64");
	plan_launch(plan, "sp", units[_i].kind);
	plan_split(plan, "rows", 30, units[_i].unit);
	plan_part(plan, x, READ, 0, 480, 16);
	add_scalar(plan, SK_ARGUMENT_LENGTH, SK_I64, 0);

	struct sk_plan_view view = plan_view(plan);

	expect(&view, units[_i].message);
}
END_TEST

/* y@x is for one tensor; two of them must not lie on the same bytes, though the kernel could be called so. */
START_TEST(aliases_contradict)
{
	struct plan *plan = plan_create(arena, 1);
	uint32_t x = plan_temporary(plan, "x", SK_F32, 12, 0), y = plan_temporary(plan, "y", SK_F32, 12, 0);
	uint32_t arguments[][2] = {{x, x}, {x, y}};

	plan_signature(plan, "in x f32[n], out y@x f32[n]");
	plan_launch(plan, "sp", SK_LAUNCH_SUPERKERNEL);
	plan_plain(plan, "alone", 0);
	plan_access(plan, arguments[_i][0], READ);
	plan_access(plan, arguments[_i][1], WRITE);

	struct sk_plan_view view = plan_view(plan);

	expect(&view, _i ? "'x' and 'y' share bytes, and one of them is written" : NULL);
}
END_TEST

/* An untiled kernel is called for all of a core's part. */
START_TEST(untiled_contradicts)
{
	struct plan *plan = plan_create(arena, 1);
	uint32_t x = plan_tensor(plan, "x", SK_F32, 120, SK_ROLE_INPUT);

	plan_signature(plan, "split=n untiled; in x f32[n,m], n i64");
	plan_launch(plan, "sp", SK_LAUNCH_SUPERKERNEL);
	plan_split(plan, "rows", 30, 1);
	plan_part(plan, x, READ, 0, 480, 16);
	add_scalar(plan, SK_ARGUMENT_LENGTH, SK_I64, 0);

	struct sk_plan_view view = plan_view(plan);

	((struct sk_plan_step *)view.steps)[0].tile = (uint64_t)_i;

	expect(&view, _i ? "an untiled kernel is part of a tile group" : NULL);
}
END_TEST

/* x[n,m] and y[m], with n by value. */
START_TEST(extent_contradicts)
{
	static const struct {
		uint64_t rows, width;
		const char *message;
	} calls[] = {{3, 4, NULL}, {3, 5, "'x' has 12 elements, not 15"}, {5, 4, "'x' has 12 elements, not 20"}};
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

/* Only the shape of a view tells these apart: all of x[3,5,4], two columns of it, or its first row as bytes. */
START_TEST(shape_contradicts)
{
	static const struct {
		const char *signature;
		uint64_t value, size;
		enum sk_dtype dtype;
		struct sk_plan_pattern pattern;
		const char *message;
	} views[] = {
		{"in x f32[m,k], q i64 = 100*m+k", 1504, 240, SK_F32, {0}, NULL},
		{"in x f32[m,k], q i64 = 100*m+k", 1505, 240, SK_F32, {0}, "'q' is not 100*m+k"},
		{"in x f32[l,m,k], q i64 = 100*l+10*m+k", 354, 240, SK_F32, {0}, NULL},
		{"in x f32[l,m,k], q i64 = 100*l+10*m+k", 3514, 240, SK_F32, {0}, "'q' is not 100*l+10*m+k"},
		{"in x f32[l,m,k], q i64 = 100*l+10*m+k", 134, 48, SK_F32, {0}, NULL},
		{"in x f32[m+2,k], q i64 = 100*m+k", 1304, 240, SK_F32, {0}, NULL},
		{"in x f32[m+2,k], q i64 = 100*m+k", 1504, 240, SK_F32, {0}, "'q' is not 100*m+k"},
		{"in x f32[m,k:lda], q i64 = 100*m+k",
		 1502,
		 232,
		 SK_F32,
		 {.width = 8, .stride = 16, .count = 15},
		 NULL},
		{"in x f32[m,k:lda], q i64 = 100*m+k",
		 1002,
		 232,
		 SK_F32,
		 {.width = 8, .stride = 16, .count = 15},
		 "'q' is not 100*m+k"},
		{"in x f32[l,m:lda,k], q i64 = 100*l+10*m+k",
		 324,
		 192,
		 SK_F32,
		 {.width = 32, .stride = 80, .count = 3},
		 NULL},
		{"in x u8[m,k], q i64 = 100*m+k", 516, 80, SK_U8, {0}, NULL},
		{"in x u8[m,k], q i64 = 100*m+k", 504, 80, SK_U8, {0}, "'q' is not 100*m+k"},
		{"in x f32[10,6], q i64 = 1", 1, 240, SK_F32, {0}, "dimension 0 of 'x' is 15, not 10"},
		{"in x f32[a,b,c,d], q i64 = 1", 1, 240, SK_F32, {0}, "nothing tells extent 'a'"},
	};
	struct plan *plan = plan_create(arena, 1);
	uint32_t x = plan_tensor(plan, "x", SK_F32, 60, SK_ROLE_INPUT);

	plan_signature(plan, views[_i].signature);
	plan_launch(plan, "sp", SK_LAUNCH_SUPERKERNEL);
	plan_plain(plan, "look", 0);
	plan_part(plan, x, READ, 0, views[_i].size, 0);
	add_scalar(plan, SK_ARGUMENT_VALUE, SK_I64, views[_i].value);

	struct sk_plan_view view = plan_view(plan);
	struct sk_plan_tensor *tensor = (struct sk_plan_tensor *)&view.tensors[x];
	struct sk_plan_argument *argument = (struct sk_plan_argument *)view.arguments;

	plan_type(tensor)->rank = 3;
	memcpy(plan_type(tensor)->shape, (uint64_t[]){3, 5, 4}, 3 * sizeof(uint64_t));
	argument->dtype = (uint8_t)views[_i].dtype;
	argument->value = views[_i].pattern.count ? 1 : 0;
	view.patterns = &views[_i].pattern;
	view.pattern_count = 1;
	expect(&view, views[_i].message);
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

/* The cores that a launch takes on the device. On a host they follow from the launch alone, elsewhere also from the
 * device's cores. */
static const struct {
	const char *device;
	uint32_t device_cores;
	uint64_t extent; /* of a split kernel in the launch, and in one of its own that takes `own` cores */
	uint32_t limit, cores, own;
	const char *message;
} device_cores[] = {
	{"host", 0, 1000, 0, SK_ALL_CORES, SK_ALL_CORES, NULL},
	{"host", 0, 1000, 4, 4, SK_ALL_CORES, NULL},
	{"host", 0, 1000, 0, 16, SK_ALL_CORES, "it takes 16 cores of lane 'core' of device host, and all cores by"},
	{"host", 0, 1000, 4, SK_ALL_CORES, SK_ALL_CORES,
	 "it takes all cores of lane 'core' of device host, and 4 cores by"},
	{"host", 8, 1000, 0, SK_ALL_CORES, SK_ALL_CORES, "device host cannot have 8 cores in lane 'core'"},
	{"other", 64, 1000, 0, 16, 16, NULL}, /* as many as there are units of 64 */
	{"other", 8, 1000, 0, 8, 8, NULL}, /* as many as the device has */
	{"other", 64, 1000, 4, 4, 16, NULL},
	{"other", 64, 1000, 0, 8, 16, "launch 'sp': it takes 8 cores of lane 'core' of device other, and 16 cores by"},
	{"other", 64, 1000, 0, 17, 17, "it takes 17 cores of lane 'core' of device other, and 16 cores by"},
	{"other", 64, 1000, 0, 8, 8, "it takes 8 cores of lane 'core' of device other, and 16 cores by"},
	{"other", 8, 1000, 0, 16, 16, "it takes 16 cores of lane 'core' of device other, and 8 cores by"},
	{"other", 64, 1000, 4, 5, 16, "it takes 5 cores of lane 'core' of device other, and 4 cores by"},
	{"other", 64, 1000, 4, 3, 16, "it takes 3 cores of lane 'core' of device other, and 4 cores by"},
	{"other", 64, 64, 0, 0, 1, "it takes 0 cores of lane 'core' of device other, and 1 core by"},
	{"other", 0, 1000, 0, 0, 0, "device other cannot have 0 cores in lane 'core'"},
};

START_TEST(device_cores_contradict)
{
	struct plan *plan = plan_create(arena, 1);
	uint32_t x = plan_tensor(plan, "x", SK_F32, device_cores[_i].extent, SK_ROLE_INOUT);

	plan_device(plan, device_cores[_i].device, device_cores[_i].device_cores, 0);
	plan_signature(plan, "split=n; inout x f32[n], n i64");
	for (int i = 0; i < 2; i++) {
		plan_launch(plan, i ? "own" : "sp", i ? SK_LAUNCH_TASK : SK_LAUNCH_SUPERKERNEL);
		if (i == 0) {
			plan_split(plan, "t", device_cores[_i].extent, 64);
			plan_access(plan, x, READ | WRITE);
			add_scalar(plan, SK_ARGUMENT_LENGTH, SK_I64, 0);
		} else {
			plan_entry_step(plan, 0);
		}
		plan_device_cores(plan, i ? device_cores[_i].own : device_cores[_i].cores, 0);
	}

	struct sk_plan_view view = plan_view(plan);

	plan_form(view.launches)->lane_cores[0] = device_cores[_i].limit;
	expect(&view, device_cores[_i].message);
}
END_TEST

/* Groups of a cube core and one or two vector cores, on a device with 24 and 48. */
static const struct {
	uint32_t cube, vector; /* blocks */
	uint32_t first; /* core, of the cube blocks */
	uint32_t cube_limit, vector_limit;
	uint32_t cubes, vectors; /* cores */
	uint32_t lane, follows; /* SK_NO_INDEX: right */
} groups[] = {
	{3, 2, 0, 0, 0, 3, 3, SK_NO_INDEX, 0},
	{3, 4, 0, 0, 0, 3, 6, SK_NO_INDEX, 0},
	{3, 9, 0, 0, 0, 5, 10, SK_NO_INDEX, 0},
	{100, 100, 0, 0, 0, 24, 48, SK_NO_INDEX, 0},
	{3, 2, 0, 0, 0, 3, 2, 1, 3},
	{3, 4, 0, 0, 0, 4, 6, 0, 3},
	{100, 100, 0, 0, 0, 24, 47, 1, 48},
	{1, 13, 1, 0, 0, 24, 24, SK_NO_INDEX, 0}, /* it has all cube cores, since it does not begin at the first one */
	{1, 13, 1, 3, 0, 3, 24, SK_NO_INDEX, 0},
	{1, 13, 1, 3, 4, 3, 4, SK_NO_INDEX, 0},
	{1, 13, 1, 3, 0, 3, 13, 1, 24},
	{1, 13, 1, 3, 0, 2, 24, 0, 3},
};

START_TEST(groups_contradict)
{
	struct plan *plan = plan_create(arena, 2);

	plan_device(plan, "other", 24, 48);
	plan_launch(plan, "both", SK_LAUNCH_SUPERKERNEL);
	plan_blocks(plan, "cube", groups[_i].cube);
	plan_lane(plan, 1);
	plan_blocks(plan, "vector", groups[_i].vector);
	plan_device_cores(plan, groups[_i].cubes, groups[_i].vectors);

	struct sk_plan_view view = plan_view(plan);

	((struct sk_plan_step *)view.steps)->first_core = groups[_i].first;
	plan_form(view.launches)->lane_cores[0] = groups[_i].cube_limit;
	plan_form(view.launches)->lane_cores[1] = groups[_i].vector_limit;

	struct sk_wrong_cores wrong = sk_device_cores_check(&view, (uint64_t[]){1, 1});

	ck_assert_uint_eq(wrong.launch, groups[_i].lane == SK_NO_INDEX ? SK_NO_INDEX : 0);
	if (wrong.launch != SK_NO_INDEX) {
		ck_assert_uint_eq(wrong.lane, groups[_i].lane);
		ck_assert_uint_eq(wrong.follows, groups[_i].follows);
	}
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
	tcase_add_test(tcase, list_of_sizes);
	tcase_add_loop_test(tcase, attribute_contradicts, 0, sizeof(wrong_attributes) / sizeof(wrong_attributes[0]));
	tcase_add_loop_test(tcase, argument_contradicts, 0, sizeof(wrong_arguments) / sizeof(wrong_arguments[0]));
	tcase_add_loop_test(tcase, field_contradicts, 0, sizeof(wrong_fields) / sizeof(wrong_fields[0]));
	tcase_add_test(tcase, status_contradicts);
	tcase_add_test(tcase, element_contradicts);
	tcase_add_test(tcase, step_contradicts);
	tcase_add_test(tcase, loops_contradict);
	tcase_add_loop_test(tcase, terms_contradict, 0, sizeof(wrong_terms) / sizeof(wrong_terms[0]));
	tcase_add_loop_test(tcase, cut_contradicts, 0, sizeof(cuts) / sizeof(cuts[0]));
	tcase_add_test(tcase, unit_contradicts);
	tcase_add_loop_test(tcase, units_of_two_steps, 0, 4);
	tcase_add_loop_test(tcase, device_cores_contradict, 0, sizeof(device_cores) / sizeof(device_cores[0]));
	tcase_add_loop_test(tcase, groups_contradict, 0, sizeof(groups) / sizeof(groups[0]));
	tcase_add_loop_test(tcase, unfusible_contradicts, 0, 3);
	tcase_add_loop_test(tcase, units_of_signatures_contradict, 0, 5);
	tcase_add_loop_test(tcase, untiled_contradicts, 0, 2);
	tcase_add_loop_test(tcase, aliases_contradict, 0, 2);
	tcase_add_loop_test(tcase, extent_contradicts, 0, 3);
	tcase_add_loop_test(tcase, shape_contradicts, 0, 14);
	tcase_add_loop_test(tcase, state_contradicts, 0, 2);
	tcase_add_test(tcase, kernel_contradicts);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
