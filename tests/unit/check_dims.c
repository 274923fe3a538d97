/* Tests of format/plan/dims.c: values, fields and slots of a section are found; plans of one size have the numbers of
 * that size and pass the checks of plans; each damaged record is refused by a sentence that names it. */
#include "format/plan/dims.h"

#include <check.h>
#include <string.h>

#include "base/arena.h"
#include "tests/lib/plan-builder.h"
#include "tests/lib/random.h"
#include "tests/lib/suite.h"

enum { BATCH, SEQ, DIMENSIONS };
enum { V_BATCH, V_SEQ, V_ROWS, V_FOUR, V_BYTES, V_LESS, V_HALF, V_MIN, V_MAX, VALUES };
enum { F_TYPE_BYTES, F_TYPE_SHAPE, F_STEP, F_SIZE, F_OTHER_SIZE, F_LENGTH, F_PARTITION, FIELDS };
enum { SLOTS = 2 };

/* batch = 1 to 8, seq = 16 to 512 by 16: the largest plan has 4096 rows. */
static struct section {
	struct sk_dims header;
	struct sk_dims_dimension dimensions[DIMENSIONS];
	struct sk_dims_value values[VALUES];
	struct sk_dims_field fields[FIELDS];
	struct sk_dims_slot slots[SLOTS];
	char strings[32];
} section;

static struct sk_plan_view plan;
static struct sk_dims_view dims;
static char error[256];

static struct sk_plan_table table(const void *records, uint32_t count, const struct sk_plan_table *from)
{
	return (struct sk_plan_table){(int32_t)((const char *)records - (const char *)from), count};
}

#define SET_TABLE(name, records, count) section.header.name = table(records, count, &section.header.name)

static void set_string(int32_t *field, uint32_t offset)
{
	*field = (int32_t)(&section.strings[offset] - (const char *)field);
}

/* A section for the plan of make_plan. */
static void make_section(void)
{
	memset(&section, 0, sizeof(section));
	section.header.magic = SK_DIMS_MAGIC;
	section.header.version = SK_DIMS_VERSION;
	section.header.size = sizeof(section);
	SET_TABLE(dimensions, section.dimensions, DIMENSIONS);
	SET_TABLE(values, section.values, VALUES);
	SET_TABLE(fields, section.fields, FIELDS);
	SET_TABLE(slots, section.slots, SLOTS);
	SET_TABLE(strings, section.strings, sizeof(section.strings));
	memcpy(section.strings, "batch\0seq\0step", 15);
	section.dimensions[BATCH] = (struct sk_dims_dimension){.least = 1, .most = 8, .multiple = 1, .usual = 2};
	section.dimensions[SEQ] = (struct sk_dims_dimension){.least = 16, .most = 512, .multiple = 16, .usual = 128};
	set_string(&section.dimensions[BATCH].name, 0);
	set_string(&section.dimensions[SEQ].name, 6);
	section.values[V_BATCH] = (struct sk_dims_value){.op = SK_DIMS_DIMENSION, .a = BATCH};
	section.values[V_SEQ] = (struct sk_dims_value){.op = SK_DIMS_DIMENSION, .a = SEQ};
	section.values[V_ROWS] = (struct sk_dims_value){.op = SK_DIMS_MULTIPLY, .a = V_BATCH, .b = V_SEQ};
	section.values[V_FOUR] = (struct sk_dims_value){.op = SK_DIMS_NUMBER, .number = 4};
	section.values[V_BYTES] = (struct sk_dims_value){.op = SK_DIMS_MULTIPLY, .a = V_ROWS, .b = V_FOUR};
	section.values[V_LESS] = (struct sk_dims_value){.op = SK_DIMS_SUBTRACT, .a = V_SEQ, .number = 16};
	section.values[V_HALF] = (struct sk_dims_value){.op = SK_DIMS_FLOOR, .a = V_LESS, .number = 3};
	section.values[V_MIN] = (struct sk_dims_value){.op = SK_DIMS_MIN, .a = V_HALF, .b = V_BATCH};
	section.values[V_MAX] = (struct sk_dims_value){.op = SK_DIMS_MAX, .a = V_FOUR, .b = V_BATCH};
	section.fields[F_TYPE_BYTES] =
		(struct sk_dims_field){SK_DIMS_TYPES, offsetof(struct sk_plan_type, bytes), 0, V_BYTES, 0};
	section.fields[F_TYPE_SHAPE] =
		(struct sk_dims_field){SK_DIMS_TYPES, offsetof(struct sk_plan_type, shape), 0, V_ROWS, 0};
	section.fields[F_STEP] =
		(struct sk_dims_field){SK_DIMS_STEPS, offsetof(struct sk_plan_step, extent), 0, V_ROWS, 0};
	section.fields[F_SIZE] =
		(struct sk_dims_field){SK_DIMS_ARGUMENTS, offsetof(struct sk_plan_argument, size), 0, V_BYTES, 0};
	section.fields[F_OTHER_SIZE] =
		(struct sk_dims_field){SK_DIMS_ARGUMENTS, offsetof(struct sk_plan_argument, size), 1, V_BYTES, 0};
	section.fields[F_LENGTH] =
		(struct sk_dims_field){SK_DIMS_ARGUMENTS, offsetof(struct sk_plan_argument, value), 2, V_ROWS, 0};
	section.fields[F_PARTITION] =
		(struct sk_dims_field){SK_DIMS_PARTITIONS, offsetof(struct sk_plan_partition, extent), 0, V_ROWS, 0};
	section.slots[0].value = V_ROWS;
	section.slots[1].value = V_LESS;
}

/* A task with 4096 rows of an f32 each, their number as a scalar, and the address of both slots. */
static void make_plan(struct sk_arena *arena)
{
	struct plan *built = plan_create(arena, 1);
	uint32_t x = plan_tensor(built, "x", SK_F32, 4096, SK_ROLE_INPUT);
	uint32_t y = plan_tensor(built, "y", SK_F32, 4096, SK_ROLE_OUTPUT);

	plan_launch(built, "net", SK_LAUNCH_SUPERKERNEL);
	plan_split(built, "t", 4096, 64);
	plan_access(built, x, SK_ACCESS_READ);
	plan_access(built, y, SK_ACCESS_WRITE);
	plan_argument(built, (struct sk_plan_argument){.kind = SK_ARGUMENT_VALUE, .dtype = SK_U64, .value = 4096});
	plan_argument(built, (struct sk_plan_argument){.kind = SK_ARGUMENT_POINTER,
						       .dtype = SK_I64,
						       .access = SK_ACCESS_READ,
						       .space = SK_SPACE_SIZES,
						       .size = 16});
	plan = plan_view(built);
	ck_assert_uint_eq(plan.type_count, 2);
}

static bool open_section(void)
{
	memset(error, 0, sizeof(error));
	return sk_dims_open(&section, sizeof(section), &plan, &dims, error, sizeof(error));
}

static struct sk_arena *begin(void)
{
	struct sk_arena *arena = sk_arena_create();

	make_plan(arena);
	make_section();
	return arena;
}

static void end(struct sk_arena *arena)
{
	sk_dims_close(&dims);
	sk_plan_close(&plan);
	sk_arena_destroy(arena);
}

START_TEST(test_values)
{
	struct sk_arena *arena = begin();
	uint64_t values[VALUES];

	ck_assert_msg(open_section(), "%s", error);
	ck_assert_uint_eq(plan.slot_count, SLOTS);
	ck_assert_uint_eq(dims.most[V_BYTES], 16384);
	ck_assert_uint_eq(dims.most[V_HALF], 165);
	sk_dims_evaluate(&dims, (uint64_t[]){3, 32}, values);
	ck_assert_uint_eq(values[V_ROWS], 96);
	ck_assert_uint_eq(values[V_LESS], 16);
	ck_assert_uint_eq(values[V_HALF], 5);
	ck_assert_uint_eq(values[V_MIN], 3);
	ck_assert_uint_eq(values[V_MAX], 4);
	end(arena);
}
END_TEST

START_TEST(test_queries)
{
	struct sk_arena *arena = begin();

	ck_assert_msg(open_section(), "%s", error);
	ck_assert_uint_eq(sk_dims_find(&dims, "", "seq"), SEQ);
	ck_assert_uint_eq(sk_dims_find(&dims, "", "width"), SK_NO_INDEX);
	ck_assert_uint_eq(sk_dims_find(&dims, "net", "seq"), SK_NO_INDEX);
	ck_assert(sk_dims_takes(&dims.dimensions[SEQ], 32));
	ck_assert(!sk_dims_takes(&dims.dimensions[SEQ], 33));
	ck_assert(!sk_dims_takes(&dims.dimensions[SEQ], 0));
	ck_assert(!sk_dims_takes(&dims.dimensions[SEQ], 528));
	for (uint32_t i = 0; i < FIELDS; i++)
		ck_assert_uint_eq(sk_dims_value_of(&dims, section.fields[i].table, section.fields[i].record,
						   section.fields[i].offset),
				  section.fields[i].value);
	ck_assert_uint_eq(sk_dims_value_of(&dims, SK_DIMS_LOOPS, 0, 0), SK_NO_INDEX);
	ck_assert_uint_eq(sk_dims_value_of(&dims, SK_DIMS_ARGUMENTS, 0, offsetof(struct sk_plan_argument, offset)),
			  SK_NO_INDEX);
	ck_assert_uint_eq(sk_dims_argument_value(&dims, &plan, plan.calls, 2, offsetof(struct sk_plan_argument, value)),
			  V_ROWS);
	ck_assert_uint_eq(sk_dims_slot_of(&dims, V_LESS), 1);
	ck_assert_uint_eq(sk_dims_slot_of(&dims, V_BYTES), SK_NO_INDEX);
	end(arena);
}
END_TEST

START_TEST(test_texts)
{
	static const struct {
		uint32_t value;
		const char *text;
	} texts[] = {{V_BYTES, "batch*seq*4"},
		     {V_LESS, "seq-16"},
		     {V_HALF, "floor((seq-16)/3)"},
		     {V_MIN, "min(floor((seq-16)/3),batch)"},
		     {V_MAX, "max(4,batch)"}};
	struct sk_arena *arena = begin();
	char text[64];

	ck_assert_msg(open_section(), "%s", error);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		sk_dims_value_text(&dims, texts[i].value, text, sizeof(text));
		ck_assert_str_eq(text, texts[i].text);
	}
	sk_dims_value_text(&dims, V_BYTES, text, sizeof("batch*seq*4"));
	ck_assert_str_eq(text, "batch*seq*4");
	sk_dims_value_text(&dims, V_BYTES, text, sizeof("batch*seq*4") - 1);
	ck_assert_str_eq(text, "batch*s…");
	sk_dims_value_text(&dims, V_BYTES, text, 2);
	ck_assert_str_eq(text, "");
	sk_dims_names_text(&dims, NULL, text, sizeof("batch, seq") - 1);
	ck_assert_str_eq(text, "batch,…");
	sk_dims_close(&dims);
	section.strings[3] = '-'; /* "bat-h" would be a difference */
	ck_assert_msg(open_section(), "%s", error);
	sk_dims_value_text(&dims, V_BYTES, text, sizeof(text));
	ck_assert_str_eq(text, "\"bat-h\"*seq*4");
	section.strings[3] = 'c';
	sk_dims_close(&dims);
	for (uint32_t i = 0; i < DIMENSIONS; i++) /* all of one network, "step" */
		set_string(&section.dimensions[i].network, 10);
	ck_assert_msg(open_section(), "%s", error);
	sk_dims_value_text(&dims, V_BYTES, text, sizeof(text));
	ck_assert_str_eq(text, "\"step:batch\"*\"step:seq\"*4");
	end(arena);
}
END_TEST

/* Plans of each size have the numbers of the size, and pass the checks of launches. */
START_TEST(test_concretise)
{
	struct sk_arena *arena = begin();
	struct sk_plan_view one;

	ck_assert_msg(open_section(), "%s", error);
	for (uint64_t batch = 1; batch <= 8; batch++)
		for (uint64_t seq = 16; seq <= 512; seq += 16) {
			uint64_t rows = batch * seq;

			ck_assert(sk_dims_concretise(&dims, &plan, (uint64_t[]){batch, seq}, &one));
			ck_assert_uint_eq(one.types[0].bytes, 4 * rows);
			ck_assert_uint_eq(one.types[0].shape[0], rows);
			ck_assert_uint_eq(one.steps[0].extent, rows);
			ck_assert_uint_eq(one.arguments[0].size, 4 * rows);
			ck_assert_uint_eq(one.arguments[2].value, rows);
			ck_assert_uint_eq(one.partitions[0].extent, rows);
			ck_assert_str_eq(sk_plan_string(&one.tasks[0].name), "t");
			ck_assert_msg(sk_plan_check_launch(&one, 0, error, sizeof(error)), "%s", error);
			sk_plan_close(&one);
		}
	ck_assert_uint_eq(plan.types[0].bytes, 16384);
	end(arena);
}
END_TEST

/* A size of 0 leaves steps without calls, which plans of packages may not have. */
START_TEST(test_empty)
{
	struct sk_arena *arena = begin();
	struct sk_plan_view one;

	section.dimensions[BATCH].least = 0;
	ck_assert_msg(open_section(), "%s", error);
	ck_assert(sk_dims_concretise(&dims, &plan, (uint64_t[]){0, 16}, &one));
	ck_assert_uint_eq(one.steps[0].extent, 0);
	ck_assert_uint_eq(one.arguments[0].access, SK_ACCESS_NONE);
	ck_assert_msg(sk_plan_check_all(&one, error, sizeof(error)), "%s", error);
	sk_plan_close(&one);
	end(arena);
}
END_TEST

/* A plan that uses slots without sizes is refused. */
START_TEST(test_without_section)
{
	struct sk_arena *arena = begin();

	ck_assert(!sk_plan_check_launch(&plan, 0, error, sizeof(error)));
	ck_assert_str_eq(error, "plan: launch 0: step 0: argument 3: 16 bytes at offset 0 are not sizes: there are 0 "
				"of 8 bytes");
	ck_assert_msg(open_section(), "%s", error);
	ck_assert_msg(sk_plan_check_launch(&plan, 0, error, sizeof(error)), "%s", error);
	end(arena);
}
END_TEST

/* Each change of one number, and the sentence that refuses it. */
static const struct damage {
	void *number;
	size_t size;
	uint64_t value;
	const char *sentence;
} damages[] = {
#define DAMAGE(place, value, sentence)                                                                                 \
	{                                                                                                              \
		&(place), sizeof(place), value, sentence                                                               \
	}
	DAMAGE(section.header.magic, 1, "sizes: they have no magic number"),
	DAMAGE(section.header.version, 9, "sizes: version 9 is not supported (this is 1)"),
	DAMAGE(section.header.size, 8, "sizes: they claim 8 bytes and have"),
	DAMAGE(section.header.size, sizeof(section) + 8, "sizes: they claim"),
	DAMAGE(section.header.dimensions.count, 0, "sizes: it has no dimensions"),
	DAMAGE(section.header.dimensions.count, 65, "sizes: 65 dimensions are more than 64"),
	DAMAGE(section.header.values.count, 1 << 19, "sizes: the table of values (524288 records) lies outside the"),
	DAMAGE(section.header.values.offset, 4, "sizes: the table of values (9 records) lies outside the section"),
	DAMAGE(section.header.values.offset, 180, "sizes: the table of values is not aligned to 8 bytes"),
	DAMAGE(section.header.strings.count, 4, "sizes: the last string has no end"),
	DAMAGE(section.dimensions[SEQ].name, 0, "sizes: dimension 1: the name is missing"),
	DAMAGE(section.dimensions[SEQ].name, 4, "sizes: dimension 1: the name lies outside the strings"),
	DAMAGE(section.dimensions[SEQ].multiple, 0, "sizes: dimension 1: 16 to 512 by 0, usually 128, are not bounds"),
	DAMAGE(section.dimensions[SEQ].least, 17, "sizes: dimension 1: 17 to 512 by 16"),
	DAMAGE(section.dimensions[SEQ].least, 1024, "sizes: dimension 1: 1024 to 512 by 16"),
	DAMAGE(section.dimensions[SEQ].most, 1ull << 31, "sizes: dimension 1: 16 to 2147483648 by 16"),
	DAMAGE(section.dimensions[SEQ].usual, 8, "sizes: dimension 1: 16 to 512 by 16, usually 8"),
	DAMAGE(section.values[V_ROWS].op, SK_DIMS_OP_COUNT, "sizes: value 2: operation 8 is unknown"),
	DAMAGE(section.values[V_ROWS].a, V_ROWS, "sizes: value 2: operand 2 is not an earlier one"),
	DAMAGE(section.values[V_ROWS].b, VALUES, "sizes: value 2: operand 9 is not an earlier one"),
	DAMAGE(section.values[V_SEQ].a, DIMENSIONS, "sizes: value 1: operand 2 is not an earlier one"),
	DAMAGE(section.values[V_SEQ].b, 1, "sizes: value 1: operand 1 is not an earlier one"),
	DAMAGE(section.values[V_ROWS].number, 1, "sizes: value 2: operation 4 has no number"),
	DAMAGE(section.values[V_ROWS].reserved_word, 1, "sizes: value 2: a reserved field is not zero"),
	DAMAGE(section.values[V_HALF].number, 0, "sizes: value 6: it divides by 0"),
	DAMAGE(section.values[V_LESS].number, 17, "sizes: value 5: it is negative at the least sizes"),
	DAMAGE(section.values[V_FOUR].number, 1ull << 63, "sizes: value 3: it is larger than 63 bits at the largest"),
	DAMAGE(section.values[V_FOUR].number, 1ull << 52, "sizes: value 4: it is larger than 63 bits at the largest"),
	DAMAGE(section.values[V_FOUR].number, 8,
	       "sizes: field 0: its record has 16384, and the largest value is 32768"),
	DAMAGE(section.fields[F_STEP].table, SK_DIMS_TABLE_COUNT, "sizes: field 2: table 9 is unknown"),
	DAMAGE(section.fields[F_STEP].record, 1, "sizes: field 2: record 1 is out of range (1 steps)"),
	DAMAGE(section.fields[F_STEP].offset, 0, "sizes: field 2: steps have no number at byte 0 that may vary"),
	DAMAGE(section.fields[F_STEP].value, VALUES, "sizes: field 2: value 9 is out of range (9 values)"),
	DAMAGE(section.fields[F_STEP].reserved, 1, "sizes: field 2: a reserved field is not zero"),
	DAMAGE(section.fields[F_STEP].table, SK_DIMS_LISTS, "sizes: field 2: record 0 is out of range (0 lists)"),
	DAMAGE(section.fields[F_LENGTH].offset, offsetof(struct sk_plan_argument, size),
	       "sizes: field 5: arguments have no number at byte 16 that may vary"),
	DAMAGE(section.fields[F_SIZE].offset, offsetof(struct sk_plan_argument, value),
	       "sizes: field 3: arguments have no number at byte 32 that may vary"),
	DAMAGE(section.fields[F_OTHER_SIZE].record, 0, "sizes: field 4: it does not come after the one before it"),
	DAMAGE(section.slots[1].value, VALUES, "sizes: slot 1: value 9 is out of range (9 values)"),
};

START_TEST(test_damage)
{
	struct sk_arena *arena = begin();

	for (size_t i = 0; i < sizeof(damages) / sizeof(*damages); i++) {
		make_section();
		memcpy(damages[i].number, &damages[i].value, damages[i].size);
		ck_assert_msg(!open_section(), "damage %zu is accepted: %s", i, damages[i].sentence);
		ck_assert_msg(!strncmp(error, damages[i].sentence, strlen(damages[i].sentence)), "damage %zu: %s", i,
			      error);
	}
	end(arena);
}
END_TEST

/* A number that divides is not 0 at any size. */
START_TEST(test_divisors)
{
	struct sk_arena *arena = begin();

	section.fields[F_PARTITION].offset = offsetof(struct sk_plan_partition, unit);
	section.fields[F_PARTITION].value = V_LESS;
	ck_assert(!open_section());
	ck_assert_str_eq(error, "sizes: field 6: partitions cannot have 0 there at the least sizes");
	end(arena);
}
END_TEST

/* Names of networks. */
START_TEST(test_networks)
{
	struct sk_arena *arena = begin();

	set_string(&section.dimensions[SEQ].network, 10);
	ck_assert(!open_section());
	ck_assert_str_eq(error, "sizes: value 2: it depends on dimensions of two networks");
	make_section();
	for (uint32_t i = 0; i < DIMENSIONS; i++)
		section.dimensions[i] = (struct sk_dims_dimension){
			section.dimensions[i].name, section.dimensions[i].network, 16, 4096, 16, 16};
	set_string(&section.dimensions[SEQ].network, 10);
	section.values[V_ROWS] = (struct sk_dims_value){.op = SK_DIMS_DIMENSION, .a = SEQ};
	section.values[V_BYTES].a = V_BATCH;
	section.values[V_MIN].b = V_HALF;
	ck_assert(!open_section());
	ck_assert_str_eq(error, "sizes: field 1: its record depends on dimensions of two networks");
	make_section();
	section.dimensions[SEQ].name = section.dimensions[BATCH].name - (int32_t)sizeof(section.dimensions[0]);
	ck_assert(!open_section());
	ck_assert_str_eq(error, "sizes: dimension 1: 'batch' is also the name of another dimension");
	end(arena);
}
END_TEST

/* Random bytes in a section never crash the reader, and an accepted one can be evaluated and made a plan of a size. */
START_TEST(test_random)
{
	struct sk_arena *arena = begin();
	uint64_t state = 1;
	unsigned accepted = 0;

	for (unsigned i = 0; i < 20000; i++) {
		unsigned changes = 1 + random_below(&state, 3);

		make_section();
		while (changes--)
			((unsigned char *)&section)[random_below(&state, sizeof(section))] ^=
				(unsigned char)(1u << random_below(&state, 8));
		if (open_section()) {
			uint64_t sizes[SK_MAX_DIMENSIONS];
			struct sk_plan_view one;
			char text[32];

			accepted++;
			for (uint32_t d = 0; d < dims.dimension_count; d++)
				sizes[d] = dims.dimensions[d].least;
			ck_assert(sk_dims_concretise(&dims, &plan, sizes, &one));
			for (uint32_t v = 0; v < dims.value_count; v++)
				sk_dims_value_text(&dims, v, text, sizeof(text));
			sk_plan_close(&one);
		}
		sk_dims_close(&dims);
	}
	ck_assert_uint_gt(accepted, 0);
	end(arena);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("dims");
	TCase *cases = tcase_create("dims");

	tcase_add_test(cases, test_values);
	tcase_add_test(cases, test_queries);
	tcase_add_test(cases, test_texts);
	tcase_add_test(cases, test_concretise);
	tcase_add_test(cases, test_empty);
	tcase_add_test(cases, test_without_section);
	tcase_add_test(cases, test_damage);
	tcase_add_test(cases, test_divisors);
	tcase_add_test(cases, test_networks);
	tcase_add_test(cases, test_random);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
