/* Tests of numbers that code reads from slots: the code of a plan with the largest numbers makes, with other numbers in
 * the slots, the calls of the static code of these numbers. Fields of all kinds vary, in random plans. */
#include <check.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "format/plan/dims.h"
#include "format/skabi.h"
#include "format/skdims.h"
#include "format/skplan.h"
#include "stubs/dispatcher/dispatcher.h"
#include "tests/lib/dispatcher-rig.h"
#include "tests/lib/random.h"
#include "tests/lib/suite.h"

enum { RANDOM_PLANS = 3000, RANDOM_PARTS = 10, WORKSPACE = 4096 };

static struct rig_plan *plan;
static uint64_t seed;
static uint8_t workspace[WORKSPACE + SCRATCH_BYTES] __attribute__((aligned(64)));

/* A field that varies: a dimension of its own, with a value and a slot. */
static struct {
	uint64_t *places[MOST_SLOTS]; /* in the plan */
	uint64_t now[MOST_SLOTS], most[MOST_SLOTS];
	uint32_t count;
	struct sk_dims header;
	struct sk_dims_dimension dimensions[MOST_SLOTS];
	struct sk_dims_value values[MOST_SLOTS];
	struct sk_dims_field fields[MOST_SLOTS];
	struct sk_dims_slot slots[MOST_SLOTS];
	struct sk_dims_view view;
} sizes;

static void setup(void)
{
	plan = rig_plan_new();
	plan->header.workspace_size = WORKSPACE;
	plan->header.unshared_workspace_size = WORKSPACE;
	rig_log.count = 0;
	memset(&sizes, 0, sizeof(sizes));
}

static void teardown(void)
{
	rig_plan_free(plan);
}

/* ---- the sizes ---- */

/* Let a field of a record vary from `now` to `most`, at least from `least`. */
static void vary(enum sk_dims_table table, const void *records, size_t record_size, void *record, size_t offset,
		 uint64_t least, uint64_t now, uint64_t most)
{
	uint32_t i = sizes.count++;

	ck_assert_uint_lt(i, MOST_SLOTS);
	sizes.places[i] = (void *)((char *)record + offset);
	sizes.now[i] = now;
	sizes.most[i] = most;
	*sizes.places[i] = now;
	sizes.dimensions[i] = (struct sk_dims_dimension){.least = least, .most = most, .multiple = 1, .usual = most};
	sizes.values[i] = (struct sk_dims_value){.op = SK_DIMS_DIMENSION, .a = i};
	sizes.slots[i].value = i;
	sizes.fields[i] = (struct sk_dims_field){
		.table = (uint16_t)table,
		.offset = (uint16_t)offset,
		.record = (uint32_t)((size_t)((char *)record - (const char *)records) / record_size),
		.value = i,
	};
}

#define VARY(table, records, record, field, least, now, most)                                                          \
	vary((table), plan->records, sizeof(*(record)), (record), offsetof(__typeof__(*(record)), field), (least),     \
	     (now), (most))

static int compare_fields(const void *a, const void *b)
{
	const struct sk_dims_field *one = a, *other = b;

	if (one->table != other->table)
		return one->table < other->table ? -1 : 1;
	if (one->record != other->record)
		return one->record < other->record ? -1 : 1;
	return one->offset < other->offset ? -1 : one->offset > other->offset;
}

static void make_view(void)
{
	uint32_t table = 0;

	qsort(sizes.fields, sizes.count, sizeof(*sizes.fields), compare_fields);
	sizes.view = (struct sk_dims_view){.dims = &sizes.header,
					   .dimensions = sizes.dimensions,
					   .values = sizes.values,
					   .fields = sizes.fields,
					   .slots = sizes.slots,
					   .dimension_count = sizes.count,
					   .value_count = sizes.count,
					   .field_count = sizes.count,
					   .slot_count = sizes.count,
					   .most = sizes.most};
	for (uint32_t i = 0; i < sizes.count; i++)
		while (table <= sizes.fields[i].table)
			sizes.view.first_field[table++] = i;
	while (table <= SK_DIMS_TABLE_COUNT)
		sizes.view.first_field[table++] = sizes.count;
}

/* Let the plan have the present numbers and no sizes, or the largest ones. */
static void set_numbers(bool largest)
{
	for (uint32_t i = 0; i < sizes.count; i++)
		*sizes.places[i] = largest ? sizes.most[i] : sizes.now[i];
	make_view();
	plan->dims = largest ? &sizes.view : NULL;
}

/* ---- kernels ---- */

static uint64_t take_wide(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g,
			  uint64_t h, uint64_t i, uint64_t j)
{
	RIG_LOG(a, b, c, d, e, f, g, h, i, j);
	return a ^ 3 * b ^ 5 * c;
}

static void take_narrow(int32_t a, uint32_t b, int32_t c, uint32_t d, int32_t e, uint32_t f, int32_t g, uint32_t h,
			int32_t i, uint32_t j)
{
	RIG_LOG((uint64_t)a, b, (uint64_t)c, d, (uint64_t)e, f, (uint64_t)g, h, (uint64_t)i, j);
}

static void take_short(int32_t a, uint32_t b, int32_t c, uint32_t d, int32_t e, uint32_t f, int32_t g, uint32_t h,
		       int32_t i, uint32_t j)
{
	take_narrow(a, b, c, d, e, f, g, h, i, j);
}

static void take_references(const uint64_t *a, const uint64_t *b, const uint64_t *c, const uint64_t *d,
			    const uint64_t *e, const uint64_t *f, const uint64_t *g, const uint64_t *h,
			    const uint64_t *i, const uint64_t *j)
{
	RIG_LOG(*a, *b, *c, *d, *e, *f, *g, *h, *i, *j);
}

/* Five fields of the scratch, the last one a table of three addresses. */
static void take_fields(const uint64_t *fields)
{
	RIG_LOG(fields[0], fields[1] & UINT32_MAX, fields[2], fields[3], fields[4], fields[5], fields[6]);
}

/* ---- random plans ---- */

static uint64_t number(uint64_t limit)
{
	return random_below(&seed, (uint32_t)limit);
}

static bool sometimes(void)
{
	return number(2) && sizes.count < MOST_SLOTS - 6;
}

/* Return a number of one of several widths. */
static uint64_t any_number(uint64_t limit)
{
	return 1 + number(number(2) ? limit : 9);
}

#define SOMETIMES_VARY(table, records, record, field, limit)                                                           \
	do {                                                                                                           \
		if (sometimes()) {                                                                                     \
			uint64_t now_ = any_number(limit);                                                             \
			VARY(table, records, record, field, 0, now_, now_ + number(limit));                            \
		}                                                                                                      \
	} while (0)

/* Sets of variables that calls of a step have. */
struct variables {
	uint8_t items[SK_VARIABLE_COUNT];
	uint32_t count;
};

static struct variables variables_of(const struct sk_plan_step *step)
{
	struct variables variables = {.count = 0};
	uint32_t loops = rig_last_call(plan)->loop_count;

	if (step->kind == SK_STEP_SPLIT) {
		variables.items[variables.count++] = SK_VARIABLE_BEGIN;
		variables.items[variables.count++] = SK_VARIABLE_SIZE;
	}
	if (loops == 2) {
		variables.items[variables.count++] = SK_VARIABLE_INNER_BEGIN;
		variables.items[variables.count++] = SK_VARIABLE_INNER_SIZE;
	}
	if (step->kind == SK_STEP_BLOCKS || step->kind == SK_STEP_BLOCKS_RANGE)
		variables.items[variables.count++] = SK_VARIABLE_BLOCK;
	return variables;
}

static struct sk_plan_argument *add(struct sk_plan_argument argument)
{
	rig_argument(plan, argument);
	return &plan->arguments[plan->view.argument_count - 1];
}

static void add_term(struct variables variables)
{
	rig_term(plan, (struct sk_plan_term){.variable = variables.items[number(variables.count)],
					     .factor = (int64_t)any_number(1u << 31) * (number(4) ? 1 : -1),
					     .addend = number(3) ? 0 : any_number(1000),
					     .divisor = number(2) ? 1 : any_number(100),
					     .modulus = number(2) ? 0 : any_number(100)});

	struct sk_plan_term *term = &plan->terms[plan->view.term_count - 1];

	SOMETIMES_VARY(SK_DIMS_TERMS, terms, term, factor, UINT32_MAX);
	SOMETIMES_VARY(SK_DIMS_TERMS, terms, term, addend, 1000);
	SOMETIMES_VARY(SK_DIMS_TERMS, terms, term, divisor, 100);
	SOMETIMES_VARY(SK_DIMS_TERMS, terms, term, modulus, 100);
}

static void add_scalar(const struct sk_plan_step *step, const enum sk_dtype types[2], uint32_t at, uint16_t flags)
{
	struct variables variables = variables_of(step);
	bool divides = step->kind == SK_STEP_SPLIT || step->kind == SK_STEP_BLOCKS_RANGE;
	uint64_t limit = sk_dtype_size(types[0]) == 1 ? 100 : 30000;
	uint8_t dtype = (uint8_t)types[at % 2];
	struct sk_plan_argument *argument;

	if (divides && number(3) == 0 && sk_dtype_size(types[0]) >= 4) {
		add((struct sk_plan_argument){.kind = SK_ARGUMENT_LENGTH, .dtype = dtype, .flags = flags});
		return;
	}
	if (number(2)) {
		argument = add((struct sk_plan_argument){
			.kind = SK_ARGUMENT_VALUE, .dtype = dtype, .value = any_number(limit), .flags = flags});
		SOMETIMES_VARY(SK_DIMS_ARGUMENTS, arguments, argument, value, limit);
		return;
	}
	argument = add((struct sk_plan_argument){
		.kind = SK_ARGUMENT_EXPRESSION, .dtype = dtype, .value = any_number(limit), .flags = flags});
	SOMETIMES_VARY(SK_DIMS_ARGUMENTS, arguments, argument, value, limit);
	for (uint64_t terms = variables.count ? number(3) : 0; terms--;)
		add_term(variables);
}

static void add_pointer(const struct sk_plan_step *step)
{
	static const enum sk_space spaces[] = {SK_SPACE_BINDING, SK_SPACE_WORKSPACE, SK_SPACE_SIZES, SK_SPACE_SCRATCH};
	enum sk_space space = spaces[number(step->tile ? 4 : 3)];
	struct sk_plan_argument *argument = add((struct sk_plan_argument){
		.kind = SK_ARGUMENT_POINTER,
		.access = SK_ACCESS_READ,
		.dtype = SK_F32,
		.space = (uint8_t)space,
		.index = space == SK_SPACE_BINDING ? (uint32_t)number(MOST_BINDINGS) : 0,
		.offset = any_number(1000),
		.size = 8,
		.flags = number(8) ? 0 : SK_ARGUMENT_WHOLE,
	});

	if (space == SK_SPACE_SIZES)
		return;
	if (number(3) == 0) /* a displacement */
		argument->value = (number(2) ? any_number(1 << 16) : -any_number(INT32_MAX)) << 32;
	SOMETIMES_VARY(SK_DIMS_ARGUMENTS, arguments, argument, offset, UINT32_MAX);
	if (step->kind != SK_STEP_SPLIT || number(4) == 0)
		return;
	argument->element_bytes = any_number(100);
	SOMETIMES_VARY(SK_DIMS_ARGUMENTS, arguments, argument, element_bytes, 1000);
	if (rig_last_call(plan)->loop_count < 2 || number(2))
		return;
	rig_pattern(plan, (struct sk_plan_pattern){.inner_bytes = any_number(1000)});
	SOMETIMES_VARY(SK_DIMS_PATTERNS, patterns, &plan->patterns[plan->view.pattern_count - 1], inner_bytes, 1000);
}

/* From memory that has other numbers everywhere. */
static void add_load(void)
{
	struct sk_plan_argument *argument = add((struct sk_plan_argument){.kind = SK_ARGUMENT_LOAD,
									  .dtype = SK_U64,
									  .space = SK_SPACE_WORKSPACE,
									  .offset = number(WORKSPACE / 2)});

	SOMETIMES_VARY(SK_DIMS_ARGUMENTS, arguments, argument, offset, WORKSPACE / 4);
}

static void add_result(void)
{
	struct sk_plan_argument *argument = add((struct sk_plan_argument){.kind = SK_ARGUMENT_RESULT,
									  .dtype = SK_U64,
									  .access = SK_ACCESS_WRITE,
									  .space = SK_SPACE_WORKSPACE,
									  .offset = number(WORKSPACE / 2),
									  .size = 8});

	SOMETIMES_VARY(SK_DIMS_ARGUMENTS, arguments, argument, offset, WORKSPACE / 4);
}

static void add_fields(const struct sk_plan_step *step)
{
	const enum sk_dtype types[] = {SK_U64, SK_I64}, narrow[] = {SK_U32, SK_I32};
	struct sk_plan_pattern *pattern;

	add((struct sk_plan_argument){.kind = SK_ARGUMENT_SCRATCH, .size = 64});
	for (uint16_t i = 0; i < 4; i++) {
		add_scalar(step, i == 1 ? narrow : types, i, SK_ARGUMENT_FIELD);
		plan->arguments[plan->view.argument_count - 1].field = 8 * i;
	}
	add((struct sk_plan_argument){.kind = SK_ARGUMENT_POINTER,
				      .access = SK_ACCESS_READ,
				      .dtype = SK_F32,
				      .space = SK_SPACE_BINDING,
				      .size = 8,
				      .flags = SK_ARGUMENT_FIELD,
				      .field = 32});
	rig_pattern(plan, (struct sk_plan_pattern){.table_count = 3, .table_stride = any_number(UINT32_MAX)});
	pattern = &plan->patterns[plan->view.pattern_count - 1];
	SOMETIMES_VARY(SK_DIMS_PATTERNS, patterns, pattern, table_stride, UINT32_MAX);
}

static void add_arguments(const struct sk_plan_step *step, uint64_t kernel)
{
	static const enum sk_dtype types[][2] = {
		{SK_U64, SK_I64}, {SK_I32, SK_U32}, {SK_I16, SK_U16}, {SK_U64, SK_U64}};

	for (uint32_t i = 0; i < 10; i++) {
		uint64_t kind = kernel ? 3 : number(6);

		if (kind == 0)
			add_pointer(step);
		else if (kind == 1)
			add_load();
		else
			add_scalar(step, types[kernel], i, kernel == 3 ? SK_ARGUMENT_BY_REFERENCE : 0);
	}
	if (kernel == 0)
		add_result();
}

static void add_loops(struct sk_plan_step *step, uint64_t unit)
{
	struct sk_plan_loop *loop = &plan->loops[plan->view.loop_count];
	uint64_t count = number(3), scale = rig_last_call(plan)->scale;

	if (count == 0)
		return;
	rig_loop(plan, step->extent * scale, unit);
	if (sizes.count && sizes.places[sizes.count - 1] == &step->extent)
		VARY(SK_DIMS_LOOPS, loops, loop, extent, 0, step->extent * scale, sizes.most[sizes.count - 1] * scale);
	if (count == 1)
		return;
	rig_loop(plan, any_number(9), any_number(4));
	SOMETIMES_VARY(SK_DIMS_LOOPS, loops, loop + 1, extent, 9);
}

static void add_step(void)
{
	static const enum sk_step_kind kinds[] = {SK_STEP_PLAIN, SK_STEP_BLOCKS, SK_STEP_BLOCKS_RANGE, SK_STEP_SPLIT,
						  SK_STEP_SPLIT};
	void (*const kernels[])(void) = {RIG_FUNCTION(take_wide), RIG_FUNCTION(take_narrow), RIG_FUNCTION(take_short),
					 RIG_FUNCTION(take_references), RIG_FUNCTION(take_fields)};
	enum { FIELDS = 4 };
	uint64_t kernel = number(5), unit = any_number(4);
	enum sk_step_kind kind = kinds[number(5)];
	struct sk_plan_step *step = rig_step(plan, kind, kernels[kernel]);

	if (kind == SK_STEP_BLOCKS || kind == SK_STEP_BLOCKS_RANGE)
		step->blocks = 1 + (uint32_t)number(4);
	if (kind == SK_STEP_BLOCKS_RANGE || kind == SK_STEP_SPLIT) {
		step->extent = any_number(12);
		step->partition = rig_partition(plan, kind == SK_STEP_SPLIT ? step->extent : step->blocks,
						kind == SK_STEP_SPLIT ? unit : 1);
		SOMETIMES_VARY(SK_DIMS_STEPS, steps, step, extent, 12);
		plan->partitions[step->partition].extent = kind == SK_STEP_SPLIT ? step->extent : step->blocks;
	}
	if (kind == SK_STEP_SPLIT && number(3) == 0) {
		step->tile = unit * any_number(3);
		rig_last_call(plan)->scale = any_number(3);
	}
	if (kind == SK_STEP_SPLIT)
		add_loops(step, unit * rig_last_call(plan)->scale);
	if (kernel == FIELDS)
		add_fields(step);
	else
		add_arguments(step, kernel);
}

/* ---- comparison ---- */

static void fill_workspace(void)
{
	for (size_t i = 0; i < sizeof(workspace); i++)
		workspace[i] = (uint8_t)(i * 37);
}

/* Run both entries, on three cores and serially. */
static void run(struct rig_device *device)
{
	struct rig_code parallel = rig_load(plan, SK_ENTRY_PARALLEL), serial = rig_load(plan, SK_ENTRY_SERIAL);

	fill_workspace();
	rig_log.count = 0;
	for (uint32_t core = 0; core < device->counts[0]; core++)
		ck_assert_int_eq(rig_call(rig_entry(&parallel), &device->cores[0][core], NULL), 0);
	ck_assert_int_eq(rig_call(rig_entry(&serial), device->bindings, workspace), 0);
	rig_unload(&parallel);
	rig_unload(&serial);
}

/* Run the code of the largest plan as at the present sizes. */
static void run_sized(struct rig_device *device)
{
	set_numbers(true);
	for (uint32_t i = 0; i < sizes.count; i++)
		device->bindings[MOST_BINDINGS + i] = (void *)(uintptr_t)sizes.now[i];
	run(device);
}

static void check_same(uint64_t at)
{
	struct rig_device *device = rig_device_new(plan, 1 + (uint32_t)number(3), 0, workspace);
	struct rig_log wanted;
	uint8_t left[sizeof(workspace)];

	for (uint32_t i = 0; i < MOST_BINDINGS; i++)
		device->bindings[i] = (void *)(uintptr_t)(0x10000000000 * (i + 1));
	set_numbers(false);
	run(device);
	wanted = rig_log;
	memcpy(left, workspace, sizeof(left));
	run_sized(device);
	ck_assert_msg(wanted.count == rig_log.count, "plan %lu: %u calls, expected %u", (unsigned long)at,
		      rig_log.count, wanted.count);
	for (unsigned i = 0; i < wanted.count; i++)
		for (unsigned j = 0; j < wanted.calls[i].count; j++)
			ck_assert_msg(wanted.calls[i].values[j] == rig_log.calls[i].values[j],
				      "plan %lu: call %u, value %u: 0x%llx, expected 0x%llx", (unsigned long)at, i, j,
				      (unsigned long long)rig_log.calls[i].values[j],
				      (unsigned long long)wanted.calls[i].values[j]);
	ck_assert_mem_eq(left, workspace, sizeof(left));
	rig_device_free(device);
}

START_TEST(random_plans)
{
	for (uint64_t at = (uint64_t)_i; at < RANDOM_PLANS; at += RANDOM_PARTS) {
		setup();
		seed = at;
		for (uint64_t steps = 1 + number(3); steps--;)
			add_step();
		check_same(at);
		teardown();
	}
}
END_TEST

/* ---- chosen plans ---- */

static struct sk_plan_argument *add_value(uint64_t value)
{
	return add((struct sk_plan_argument){.kind = SK_ARGUMENT_VALUE, .dtype = SK_U64, .value = value});
}

static struct sk_plan_argument *add_written(uint64_t bytes)
{
	return add((struct sk_plan_argument){.kind = SK_ARGUMENT_POINTER,
					     .dtype = SK_F32,
					     .access = SK_ACCESS_WRITE,
					     .space = SK_SPACE_BINDING,
					     .size = bytes});
}

static void take_one(uint64_t a)
{
	RIG_LOG(a);
}

static void take_two(uint64_t a, uint64_t b)
{
	RIG_LOG(a, b);
}

/* Run both entries on one core, with the numbers in the slots. */
static void run_at(const uint64_t *now)
{
	struct rig_device *device;

	for (uint32_t i = 0; i < sizes.count; i++)
		sizes.now[i] = now[i];
	device = rig_device_new(plan, 1, 0, workspace);
	run_sized(device);
	rig_device_free(device);
}

/* A plain call, one of blocks and one of a divided extent write nothing; a second tensor may keep them. */
START_TEST(empty_calls)
{
	static const enum sk_step_kind kinds[] = {SK_STEP_PLAIN, SK_STEP_BLOCKS, SK_STEP_BLOCKS_RANGE};
	struct sk_plan_step *step = rig_step(plan, kinds[_i], RIG_FUNCTION(take_two));

	step->blocks = kinds[_i] == SK_STEP_PLAIN ? 0 : 2;
	if (kinds[_i] == SK_STEP_BLOCKS_RANGE)
		step->partition = rig_partition(plan, 2, 1);
	VARY(SK_DIMS_ARGUMENTS, arguments, add_written(8), size, 0, 8, 8);
	VARY(SK_DIMS_ARGUMENTS, arguments, add_written(8), size, 0, 8, 8);
	run_at((uint64_t[]){8, 8});
	ck_assert_uint_eq(rig_log.count, step->blocks ? 4 : 2);
	run_at((uint64_t[]){0, 8});
	ck_assert_uint_eq(rig_log.count, step->blocks ? 4 : 2);
	run_at((uint64_t[]){4, 0});
	ck_assert_uint_eq(rig_log.count, step->blocks ? 4 : 2);
	run_at((uint64_t[]){0, 0});
	ck_assert_uint_eq(rig_log.count, 0);
}
END_TEST

/* A tensor that is always written keeps the call, also without slots for the others. */
START_TEST(calls_that_are_made)
{
	rig_step(plan, SK_STEP_PLAIN, RIG_FUNCTION(take_two));
	VARY(SK_DIMS_ARGUMENTS, arguments, add_written(8), size, 0, 8, 8);
	add_written(8);
	set_numbers(true);
	sizes.view.slot_count = 0;
	struct rig_code loaded = rig_load(plan, SK_ENTRY_SERIAL);
	ck_assert_int_eq(rig_call(rig_entry(&loaded), (void *[MOST_BINDINGS]){NULL}, workspace), 0);
	rig_unload(&loaded);
	ck_assert_uint_eq(rig_log.count, 1);
}
END_TEST

START_TEST(empty_extents)
{
	struct sk_plan_step *step = rig_step(plan, SK_STEP_SPLIT, RIG_FUNCTION(take_two));
	uint32_t loops = (uint32_t)_i;

	step->partition = rig_partition(plan, 8, 4);
	VARY(SK_DIMS_STEPS, steps, step, extent, 0, 8, 8);
	if (loops > 0) {
		rig_loop(plan, 8, 4);
		VARY(SK_DIMS_LOOPS, loops, &plan->loops[0], extent, 0, 8, 8);
	}
	if (loops > 1) {
		rig_loop(plan, 6, 4);
		VARY(SK_DIMS_LOOPS, loops, &plan->loops[1], extent, 0, 6, 6);
	}
	add((struct sk_plan_argument){.kind = SK_ARGUMENT_LENGTH, .dtype = SK_U64});
	add((struct sk_plan_argument){.kind = SK_ARGUMENT_LENGTH, .dtype = SK_U64});
	run_at((uint64_t[]){8, 8, 6});
	ck_assert_uint_eq(rig_log.count, loops == 0 ? 2 : loops == 1 ? 4 : 8);
	plan->partitions[0].extent = 0;
	run_at((uint64_t[]){0, 0, 6});
	ck_assert_uint_eq(rig_log.count, 0);
	plan->partitions[0].extent = 8;
	run_at((uint64_t[]){8, 8, 0});
	ck_assert_uint_eq(rig_log.count, loops == 0 ? 2 : loops == 1 ? 4 : 0);
}
END_TEST

/* The offset of an operand is in the list relative to its tensor. */
START_TEST(operands)
{
	static struct sk_plan_argument lists[2];

	rig_step(plan, SK_STEP_PLAIN, RIG_FUNCTION(take_one));
	lists[1] = (struct sk_plan_argument){
		.kind = SK_ARGUMENT_POINTER, .dtype = SK_F32, .flags = SK_ARGUMENT_OPERAND, .size = 4};
	vary(SK_DIMS_LISTS, lists, sizeof(*lists), &lists[1], offsetof(struct sk_plan_argument, offset), 0, 16, 400);
	plan->view.lists = lists;
	plan->view.list_count = 2;
	rig_last_call(plan)->list = 1;
	add((struct sk_plan_argument){.kind = SK_ARGUMENT_POINTER,
				      .dtype = SK_F32,
				      .access = SK_ACCESS_READ,
				      .space = SK_SPACE_WORKSPACE,
				      .offset = 1000 + 400,
				      .size = 4});
	run_at((uint64_t[]){16});
	ck_assert_uint_eq(rig_log.count, 2);
	ck_assert_uint_eq(rig_log.calls[0].values[0], (uintptr_t)workspace + 1016);
	ck_assert_uint_eq(rig_log.calls[1].values[0], (uintptr_t)workspace + 1016);
}
END_TEST

START_TEST(constants)
{
	struct rig_code loaded;
	void *bindings[MOST_BINDINGS + 1] = {NULL};

	rig_step(plan, SK_STEP_PLAIN, RIG_FUNCTION(take_one));
	VARY(SK_DIMS_ARGUMENTS, arguments,
	     add((struct sk_plan_argument){
		     .kind = SK_ARGUMENT_POINTER, .dtype = SK_F32, .space = SK_SPACE_CONSTANT, .size = 4}),
	     offset, 0, 8, (uint64_t)1 << 33);
	set_numbers(true);
	bindings[MOST_BINDINGS] = (void *)12345;
	loaded = rig_load(plan, SK_ENTRY_SERIAL);
	ck_assert_int_eq(rig_call(rig_entry(&loaded), bindings, workspace), 0);
	ck_assert_uint_eq(rig_log.calls[0].values[0], (uintptr_t)RIG_CONSTANTS(&loaded) + 12345);
	rig_unload(&loaded);
}
END_TEST

static const char *emit(void)
{
	struct sk_code code = {.arena = plan->arena};

	plan->form.lane_steps[0] = plan->view.step_count;
	return sk_dispatcher_emit(plan->arena, &plan->view, plan->dims, 0, SK_ENTRY_PARALLEL, "launch", &code);
}

START_TEST(refusals)
{
	static const char name[] = "seq";
	const char *reason;

	rig_step(plan, SK_STEP_PLAIN, RIG_FUNCTION(take_one));
	VARY(SK_DIMS_ARGUMENTS, arguments, add_value(7), value, 0, 7, 7);
	set_numbers(true);
	struct {
		struct sk_dims_dimension dimension;
		char name[4];
	} own = {.dimension = sizes.dimensions[0]};
	memcpy(own.name, name, sizeof(name));
	own.dimension.name = (int32_t)(own.name - (char *)&own.dimension.name);
	sizes.view.dimensions = &own.dimension;
	ck_assert_ptr_null(emit());
	sizes.view.slot_count = 0;
	reason = emit();
	ck_assert_ptr_nonnull(reason);
	ck_assert_str_eq(reason, "the code needs the size seq, which has no slot");
	plan->form.kind = SK_LAUNCH_TASK;
	plan->form.flags = SK_LAUNCH_THUNK;
	ck_assert_ptr_null(emit());
	ck_assert(sk_thunk_takes(plan->arena, &plan->view, plan->dims, &plan->launch));
}
END_TEST

/* Each number in the code of a thunk keeps a launch from having one. */
START_TEST(thunks)
{
	struct sk_plan_step *step = rig_step(plan, SK_STEP_SPLIT, RIG_FUNCTION(take_wide));
	struct sk_plan_argument *argument;

	step->partition = rig_partition(plan, 8, 4);
	step->extent = 8;
	rig_loop(plan, 8, 4);
	rig_loop(plan, 6, 4);
	if (_i == 0)
		VARY(SK_DIMS_LOOPS, loops, &plan->loops[1], extent, 1, 6, 6);
	argument = add_written(64);
	argument->element_bytes = 8;
	if (_i == 1)
		VARY(SK_DIMS_ARGUMENTS, arguments, argument, element_bytes, 1, 8, 8);
	if (_i == 2)
		VARY(SK_DIMS_ARGUMENTS, arguments, argument, size, 0, 64, 64);
	rig_pattern(plan, (struct sk_plan_pattern){.inner_bytes = 3});
	if (_i == 3)
		VARY(SK_DIMS_PATTERNS, patterns, &plan->patterns[0], inner_bytes, 1, 3, 3);
	argument = add((struct sk_plan_argument){.kind = SK_ARGUMENT_EXPRESSION, .dtype = SK_U64, .value = 5});
	if (_i == 4)
		VARY(SK_DIMS_ARGUMENTS, arguments, argument, value, 1, 5, 5);
	rig_term(plan, (struct sk_plan_term){.variable = SK_VARIABLE_SIZE, .factor = 3, .divisor = 1});
	if (_i == 5)
		VARY(SK_DIMS_TERMS, terms, &plan->terms[0], factor, 1, 3, 3);
	if (_i == 6)
		VARY(SK_DIMS_STEPS, steps, step, extent, 1, 8, 8);
	if (_i == 7)
		VARY(SK_DIMS_ARGUMENTS, arguments, add_value(3), value, 1, 3, 3);
	set_numbers(true);
	plan->form.kind = SK_LAUNCH_TASK;
	plan->form.flags = SK_LAUNCH_THUNK;
	ck_assert(sk_thunk_takes(plan->arena, &plan->view, plan->dims, &plan->launch) == (_i == 7));
	if (_i < 7)
		ck_assert_str_eq(emit(), "the numbers in its thunk vary with the sizes");
	else
		ck_assert_ptr_null(emit());
}
END_TEST

START_TEST(values_that_are_read)
{
	bool reads[MOST_SLOTS] = {false};

	rig_step(plan, SK_STEP_PLAIN, RIG_FUNCTION(take_two));
	VARY(SK_DIMS_ARGUMENTS, arguments, add_value(7), value, 0, 7, 7);
	VARY(SK_DIMS_ARGUMENTS, arguments, add_written(8), size, 0, 8, 8); /* the call may be empty */
	rig_step(plan, SK_STEP_PLAIN, RIG_FUNCTION(take_two));
	VARY(SK_DIMS_ARGUMENTS, arguments, add_value(7), value, 0, 7, 7);
	VARY(SK_DIMS_ARGUMENTS, arguments, add_written(8), size, 4, 8, 8);
	set_numbers(true);
	sizes.view.slot_count = 0;
	ck_assert_ptr_null(sk_dispatcher_read(plan->arena, &plan->view, plan->dims, 0, reads));
	ck_assert(reads[0] && reads[1] && reads[2] && !reads[3]);
}
END_TEST

static Suite *suite(void)
{
	Suite *suite = suite_create("slots");
	TCase *cases = tcase_create("random");

	tcase_set_timeout(cases, 60);
	tcase_add_loop_test(cases, random_plans, 0, RANDOM_PARTS);
	suite_add_tcase(suite, cases);
	cases = tcase_create("chosen");
	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_add_loop_test(cases, empty_calls, 0, 3);
	tcase_add_test(cases, calls_that_are_made);
	tcase_add_loop_test(cases, empty_extents, 0, 3);
	tcase_add_test(cases, operands);
	tcase_add_test(cases, constants);
	tcase_add_test(cases, refusals);
	tcase_add_loop_test(cases, thunks, 0, 8);
	tcase_add_test(cases, values_that_are_read);
	suite_add_tcase(suite, cases);
	return suite;
}

int main(void)
{
	return run_suite(suite());
}
