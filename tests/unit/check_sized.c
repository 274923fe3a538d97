/* The proof for all sizes, on random plans: what it accepts has no race and no read of other data at any size, by a
 * search of each one, and most of what is sound at each size is accepted. Also the forms that it compares. */
#include <check.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "format/plan/dims.h"
#include "format/plan/plan.h"
#include "format/skdims.h"
#include "format/skplan.h"
#include "src/proof/forms.h"
#include "src/proof/proof.h"
#include "tests/lib/plan-builder.h"
#include "tests/lib/races.h"
#include "tests/lib/suite.h"

enum { READ = SK_ACCESS_READ, WRITE = SK_ACCESS_WRITE, S_MOST = 4, T_MOST = 2 };

static struct sk_arena *arena;
static struct sk_diag diag;

static void setup(void)
{
	arena = sk_arena_create();
	sk_diag_init(&diag, arena);
}

static void teardown(void)
{
	sk_arena_destroy(arena);
}

static void again(void)
{
	teardown();
	setup();
}

static char *messages(void)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	sk_diag_flush(&diag, "test", 0, stream);
	fclose(stream);

	char *copy = sk_arena_copy(arena, text, size);

	free(text);
	return copy;
}

/* ---- numbers that depend on two sizes ---- */

/* one + s*S + t*T + st*S*T + half*floor(S/2), where S = 1..S_MOST and T = 1..T_MOST. */
struct number {
	uint64_t one, s, t, st, half;
};

static struct number times(struct number a, uint64_t factor)
{
	return (struct number){a.one * factor, a.s * factor, a.t * factor, a.st * factor, a.half * factor};
}

static uint64_t at(struct number a, uint64_t s, uint64_t t)
{
	return a.one + a.s * s + a.t * t + a.st * s * t + a.half * (s / 2);
}

static bool varies(struct number a)
{
	return a.s || a.t || a.st || a.half;
}

/* ---- the section ---- */

struct section {
	struct sk_dims_view view;
	struct sk_dims_dimension dimensions[2];
	SK_ARRAY(struct sk_dims_value) values;
	SK_ARRAY(struct sk_dims_field) fields;
};

static uint32_t put(struct section *section, enum sk_dims_op op, uint32_t a, uint32_t b, uint64_t number)
{
	const struct sk_dims_value value = {.op = (uint8_t)op, .a = a, .b = b, .number = number};

	for (uint32_t i = 0; i < section->values.count; i++)
		if (memcmp(&section->values.items[i], &value, sizeof(value)) == 0)
			return i;
	sk_array_push(arena, &section->values, value);
	return (uint32_t)section->values.count - 1;
}

static uint32_t put_term(struct section *section, uint32_t sum, uint64_t factor, uint32_t value)
{
	uint32_t number = put(section, SK_DIMS_NUMBER, 0, 0, factor);

	return factor ? put(section, SK_DIMS_ADD, sum, put(section, SK_DIMS_MULTIPLY, number, value, 0), 0) : sum;
}

static uint32_t put_number(struct section *section, struct number a)
{
	uint32_t s = put(section, SK_DIMS_DIMENSION, 0, 0, 0), t = put(section, SK_DIMS_DIMENSION, 1, 0, 0);
	uint32_t sum = put(section, SK_DIMS_NUMBER, 0, 0, a.one);

	sum = put_term(section, sum, a.s, s);
	sum = put_term(section, sum, a.t, t);
	sum = put_term(section, sum, a.st, put(section, SK_DIMS_MULTIPLY, s, t, 0));
	return put_term(section, sum, a.half, put(section, SK_DIMS_FLOOR, s, 0, 2));
}

static void put_field(struct section *section, enum sk_dims_table table, size_t record, size_t offset, struct number a)
{
	const struct sk_dims_field field = {.table = (uint16_t)table,
					    .offset = (uint16_t)offset,
					    .record = (uint32_t)record,
					    .value = put_number(section, a)};

	if (varies(a))
		sk_array_push(arena, &section->fields, field);
}

static int compare_fields(const void *a, const void *b)
{
	const struct sk_dims_field *one = a, *other = b;
	uint64_t left = (uint64_t)one->table << 48 | (uint64_t)one->record << 16 | one->offset;
	uint64_t right = (uint64_t)other->table << 48 | (uint64_t)other->record << 16 | other->offset;

	return (left > right) - (left < right);
}

static const struct sk_dims_view *finish(struct section *section)
{
	section->dimensions[0] = (struct sk_dims_dimension){.least = 1, .most = S_MOST, .multiple = 1, .usual = 1};
	section->dimensions[1] = (struct sk_dims_dimension){.least = 1, .most = T_MOST, .multiple = 1, .usual = 1};
	if (section->fields.count)
		qsort(section->fields.items, section->fields.count, sizeof(*section->fields.items), compare_fields);
	section->view = (struct sk_dims_view){.dimensions = section->dimensions,
					      .values = section->values.items,
					      .fields = section->fields.items,
					      .dimension_count = 2,
					      .value_count = (uint32_t)section->values.count,
					      .field_count = (uint32_t)section->fields.count};
	return &section->view;
}

/* ---- random programs ---- */

enum { MAX_STEPS = 6, MAX_ACCESSES = 3, TENSORS = 5 };

struct access {
	uint32_t tensor;
	unsigned access;
	struct number offset, size, element_bytes;
	struct number width, stride, count; /* count 0: a single row */
};

struct step {
	enum sk_step_kind kind;
	struct number extent;
	uint64_t unit, first_core;
	uint32_t blocks, stream;
	bool awaits[MAX_STEPS];
	bool same_step; /* a further call of the step before it */
	uint32_t access_count;
	struct access accesses[MAX_ACCESSES];
};

struct program {
	uint64_t state;
	uint64_t offsets[TENSORS];
	struct number bytes[TENSORS];
	struct number filled[TENSORS];
	uint32_t step_count;
	struct step steps[MAX_STEPS];
};

static uint32_t below(struct program *program, uint32_t limit)
{
	program->state = program->state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(program->state >> 33) % limit;
}

static struct number pick(struct program *program, const struct number *numbers, uint32_t count)
{
	return numbers[below(program, count)];
}

#define PICK(program, ...)                                                                                             \
	pick((program), (const struct number[]){__VA_ARGS__},                                                          \
	     sizeof((const struct number[]){__VA_ARGS__}) / sizeof(struct number))
#define N(...)                                                                                                         \
	{                                                                                                              \
		__VA_ARGS__                                                                                            \
	}

static struct number random_extent(struct program *program)
{
	return PICK(program, N(0, 1), N(0, 1), N(0, 2), N(1, 1), N(2), N(4), N(0, 0, 0, 1), N(0, 0, 2), N(0, 0, 1),
		    N(1, 0, 0, 0, 1), N(0, 2, 0, 0, 2));
}

static struct number random_offset(struct program *program)
{
	return PICK(program, N(0), N(0), N(0), N(0), N(0, 1), N(2), N(4), N(1, 1), N(0, 0, 0, 1), N(0, 0, 1), N(0, 2),
		    N(0, 0, 0, 0, 1));
}

static void random_rows(struct program *program, struct step *step, struct access *access, bool divided)
{
	access->width = PICK(program, N(1), N(2), N(0, 1), N(0, 0, 1));
	access->count = divided ? step->extent : PICK(program, N(2), N(0, 0, 1), N(0, 1), N(1, 1), N(3));
	access->stride = PICK(program, N(4), N(8), N(0, 1), N(0, 2), N(0, 1, 1), N(2, 1), N(5));
	access->offset = PICK(program, N(0), N(0), N(0, 1), N(2), N(0, 0, 1));
	access->element_bytes = divided ? access->stride : (struct number){0};
}

static void random_access(struct program *program, struct step *step, struct access *access)
{
	bool divides = step->kind != SK_STEP_PLAIN;
	unsigned kind = below(program, 8);
	bool divided = divides && (kind > 3 || below(program, 4));
	uint64_t bytes = below(program, 3) ? 1 : 2;

	*access = (struct access){.tensor = below(program, TENSORS), .access = kind > 3 ? WRITE : READ};
	access->offset = random_offset(program);
	if (below(program, 8) == 0) {
		random_rows(program, step, access, divided);
		return;
	}
	access->element_bytes = divided ? (struct number){bytes} : (struct number){0};
	access->size = divided ? times(step->extent, bytes)
			       : PICK(program, N(0, 1), N(1), N(2), N(4), N(0, 2), N(0, 0, 1), N(0, 0, 0, 1));
}

static void random_step(struct program *program, uint32_t number)
{
	struct step *step = &program->steps[number];
	const struct step *before = number ? step - 1 : NULL;
	uint32_t kind = below(program, 8);

	step->kind = kind < 2 ? SK_STEP_PLAIN : kind == 2 ? SK_STEP_BLOCKS_RANGE : SK_STEP_SPLIT;
	step->extent = random_extent(program);
	step->unit = 1 + (below(program, 3) == 0);
	step->first_core = below(program, 4) == 0;
	step->blocks = 2 + below(program, 2);
	step->stream = below(program, 2);
	step->same_step = before && before->kind == SK_STEP_SPLIT && below(program, 5) == 0;
	if (step->same_step) {
		step->kind = before->kind;
		step->extent = before->extent;
	}
	for (uint32_t i = 0; i < number; i++)
		step->awaits[i] = below(program, 3) == 0;
	step->access_count = 1 + below(program, 2);
	for (uint32_t i = 0; i < step->access_count; i++)
		random_access(program, step, &step->accesses[i]);
}

static void random_program(struct program *program, uint64_t seed)
{
	*program = (struct program){.state = seed * 0x9e3779b97f4a7c15u + 1};
	for (uint32_t i = 0; i < TENSORS; i++) {
		program->offsets[i] = 16 * below(program, 4);
		program->bytes[i] =
			PICK(program, N(48), N(48), N(48), N(48), N(0, 0, 0, 6), N(0, 12), N(0, 0, 24), N(16, 8));
		program->filled[i] = below(program, 8)	 ? program->bytes[i]
				     : below(program, 2) ? PICK(program, N(8), N(0, 4), N(0, 0, 0, 2), N(4, 1))
							 : (struct number){0};
	}
	program->step_count = 2 + below(program, MAX_STEPS - 1);
	for (uint32_t i = 0; i < program->step_count; i++)
		random_step(program, i);
}

/* ---- plans of programs ---- */

static const char *const names[TENSORS] = {"x", "t", "u", "v", "y"};

/* A plan of these sizes; section: receives its fields, if not NULL, for the largest sizes. */
struct making {
	struct plan *plan;
	struct section *section;
	uint64_t s, t;
	size_t arguments, patterns;
};

static uint32_t make_tensor(struct making *making, const struct program *program, uint32_t number)
{
	uint64_t bytes = at(program->bytes[number], making->s, making->t);
	uint32_t tensor = number == 0 ? plan_tensor(making->plan, names[0], SK_U8, bytes, SK_ROLE_INOUT)
			  : number == TENSORS - 1
				  ? plan_tensor(making->plan, names[number], SK_U8, bytes, SK_ROLE_OUTPUT)
				  : plan_temporary(making->plan, names[number], SK_U8, bytes, program->offsets[number]);

	if (making->section) {
		put_field(making->section, SK_DIMS_TYPES, tensor, offsetof(struct sk_plan_type, bytes),
			  program->bytes[number]);
		put_field(making->section, SK_DIMS_TYPES, tensor, offsetof(struct sk_plan_type, shape),
			  program->bytes[number]);
	}
	return tensor;
}

static uint64_t rows_size(const struct access *access, uint64_t s, uint64_t t)
{
	return (at(access->count, s, t) - 1) * at(access->stride, s, t) + at(access->width, s, t);
}

static void put_rows(struct making *making, const struct access *access)
{
	struct section *section = making->section;
	struct sk_dims_field size = {.table = SK_DIMS_ARGUMENTS,
				     .offset = offsetof(struct sk_plan_argument, size),
				     .record = (uint32_t)making->arguments};
	uint32_t count = put(section, SK_DIMS_SUBTRACT, put_number(section, access->count), 0, 1);

	size.value = put(section, SK_DIMS_MULTIPLY, count, put_number(section, access->stride), 0);
	size.value = put(section, SK_DIMS_ADD, size.value, put_number(section, access->width), 0);
	sk_array_push(arena, &section->fields, size);
	put_field(section, SK_DIMS_PATTERNS, making->patterns, offsetof(struct sk_plan_pattern, width), access->width);
	put_field(section, SK_DIMS_PATTERNS, making->patterns, offsetof(struct sk_plan_pattern, stride),
		  access->stride);
	put_field(section, SK_DIMS_PATTERNS, making->patterns, offsetof(struct sk_plan_pattern, count), access->count);
}

static void make_access(struct making *making, const struct access *access)
{
	uint64_t s = making->s, t = making->t;
	bool in_rows = at(access->count, s, t) != 0;

	plan_part(making->plan, access->tensor, access->access, at(access->offset, s, t),
		  in_rows ? rows_size(access, s, t) : at(access->size, s, t), at(access->element_bytes, s, t));
	if (in_rows)
		plan_pattern(making->plan, (struct sk_plan_pattern){.width = at(access->width, s, t),
								    .stride = at(access->stride, s, t),
								    .count = at(access->count, s, t)});
	if (making->section) {
		put_field(making->section, SK_DIMS_ARGUMENTS, making->arguments,
			  offsetof(struct sk_plan_argument, element_bytes), access->element_bytes);
		if (in_rows)
			put_rows(making, access);
		else
			put_field(making->section, SK_DIMS_ARGUMENTS, making->arguments,
				  offsetof(struct sk_plan_argument, size), access->size);
	}
	making->patterns += in_rows;
	making->arguments++;
}

static void put_offset(struct making *making, const struct program *program, const struct access *access)
{
	struct number offset = access->offset;

	if (access->tensor != 0 && access->tensor != TENSORS - 1)
		offset.one += program->offsets[access->tensor];
	if (making->section)
		put_field(making->section, SK_DIMS_ARGUMENTS, making->arguments,
			  offsetof(struct sk_plan_argument, offset), offset);
}

static uint32_t add_step(struct making *making, const struct step *step)
{
	uint64_t extent = at(step->extent, making->s, making->t);

	switch (step->kind) {
	case SK_STEP_SPLIT:
		return plan_split_by_blocks(making->plan, "split",
					    (struct sk_plan_partition){.extent = extent,
								       .unit = step->unit,
								       .first_core = step->first_core});
	case SK_STEP_BLOCKS_RANGE:
		return plan_blocks_range(making->plan, "range", extent, step->blocks);
	default:
		return plan_plain(making->plan, "plain", step->stream);
	}
}

static uint32_t make_step(struct making *making, const struct step *step)
{
	uint32_t index = add_step(making, step);

	if (making->section && step->kind != SK_STEP_PLAIN)
		put_field(making->section, SK_DIMS_STEPS, index, offsetof(struct sk_plan_step, extent), step->extent);
	return index;
}

static void make_filling(struct making *making, const struct program *program)
{
	plan_launch(making->plan, "fill", SK_LAUNCH_SUPERKERNEL);
	plan_plain(making->plan, "fill", 0);
	for (uint32_t i = 0; i < TENSORS; i++) {
		const struct access access = {.tensor = i, .access = WRITE, .size = program->filled[i]};

		if (at(access.size, making->s, making->t) == 0)
			continue;
		put_offset(making, program, &access);
		make_access(making, &access);
	}
}

/* Steps with equal extents at the largest sizes share a partition, which gets the value of the first of them: the proof
 * must find out that it is not that of another one. */
static void put_partitions(const struct making *making, const struct program *program, const struct sk_plan_view *view,
			   const uint32_t *steps)
{
	bool seen[MAX_STEPS] = {false};

	for (uint32_t i = 0; i < program->step_count; i++) {
		uint32_t partition = view->steps[steps[i]].partition;

		if (program->steps[i].kind == SK_STEP_SPLIT && !seen[partition])
			put_field(making->section, SK_DIMS_PARTITIONS, partition,
				  offsetof(struct sk_plan_partition, extent), program->steps[i].extent);
		if (partition != SK_NO_INDEX)
			seen[partition] = true;
	}
}

static struct sk_plan_view make(const struct program *program, uint64_t s, uint64_t t, struct section *section)
{
	struct making making = {.plan = plan_create(arena, 1), .section = section, .s = s, .t = t};
	uint32_t steps[MAX_STEPS];

	for (uint32_t i = 0; i < TENSORS; i++)
		make_tensor(&making, program, i);
	make_filling(&making, program);
	plan_launch(making.plan, "run", SK_LAUNCH_SUPERKERNEL);
	plan_follow(making.plan, 0);
	for (uint32_t i = 0; i < program->step_count; i++) {
		const struct step *step = &program->steps[i];

		if (step->same_step)
			plan_call(making.plan, "more");
		steps[i] = step->same_step ? steps[i - 1] : make_step(&making, step);
		for (uint32_t a = 0; a < step->access_count; a++) {
			put_offset(&making, program, &step->accesses[a]);
			make_access(&making, &step->accesses[a]);
		}
		for (uint32_t j = 0; j < i && !step->same_step; j++)
			if (step->awaits[j] && steps[j] != steps[i])
				plan_await(making.plan, steps[j]);
	}

	struct sk_plan_view view = plan_view(making.plan);

	if (section)
		put_partitions(&making, program, &view, steps);
	return view;
}

/* ---- verdicts ---- */

enum verdict { SOUND, UNSOUND, IMPOSSIBLE };

/* By the verifier of one size, for each size. */
static enum verdict verify_each(const struct program *program)
{
	for (uint64_t s = 1; s <= S_MOST; s++)
		for (uint64_t t = 1; t <= T_MOST; t++) {
			struct sk_plan_view view = make(program, s, t, NULL);
			char text[256];

			if (!sk_plan_check_all(&view, text, sizeof(text)))
				return IMPOSSIBLE;
			if (!sk_verify(arena, &diag, &view, "p.sk", NULL, 0, NULL))
				return UNSOUND;
		}
	return SOUND;
}

/* A single row is not in rows: there the verifier of one size may refuse a temporary in rows that shares its bytes. */
static bool has_rows(const struct program *program)
{
	for (uint32_t i = 0; i < program->step_count; i++)
		for (uint32_t a = 0; a < program->steps[i].access_count; a++)
			if (at(program->steps[i].accesses[a].count, 1, 1))
				return true;
	return false;
}

/* By a search, for each size and several numbers of cores. */
static void search_each(const struct program *program, uint64_t seed)
{
	static const uint32_t many[] = {11, 11};

	for (uint64_t s = 1; s <= S_MOST; s++)
		for (uint64_t t = 1; t <= T_MOST; t++) {
			struct sk_plan_view view = make(program, s, t, NULL);
			char text[256];

			ck_assert_msg(sk_plan_check_all(&view, text, sizeof(text)), "seed %llu, S=%d, T=%d: %s",
				      (unsigned long long)seed, (int)s, (int)t, text);
			ck_assert_msg(!races_exist_up_to(&view, 4) && !races_exist(&view, many),
				      "seed %llu, S=%d, T=%d: there are races", (unsigned long long)seed, (int)s,
				      (int)t);
			ck_assert_msg(!reads_astray(&view), "seed %llu, S=%d, T=%d: reads find other data",
				      (unsigned long long)seed, (int)s, (int)t);
		}
}

static bool prove(const struct program *program)
{
	struct section section = {0};
	struct sk_plan_view view = make(program, S_MOST, T_MOST, &section);
	const struct sk_dims_view *dims = finish(&section);

	return sk_verify(arena, &diag, &view, "p.sk", NULL, 0, NULL) &&
	       sk_verify_sizes(arena, &diag, &view, dims, "p.sk");
}

static void print_number(const char *name, struct number a)
{
	printf(" %s=%d+%dS+%dT+%dST+%dfloor(S/2)", name, (int)a.one, (int)a.s, (int)a.t, (int)a.st, (int)a.half);
}

static void print_program(const struct program *program)
{
	for (uint32_t i = 0; i < TENSORS; i++) {
		printf("  %s at %d", names[i], (int)program->offsets[i]);
		print_number("bytes", program->bytes[i]);
		print_number("filled", program->filled[i]);
		printf("\n");
	}
	for (uint32_t i = 0; i < program->step_count; i++) {
		const struct step *step = &program->steps[i];

		printf("  step %d%s", (int)step->kind, step->same_step ? " (same)" : "");
		print_number("extent", step->extent);
		printf("\n");
		for (uint32_t a = 0; a < step->access_count; a++) {
			const struct access *access = &step->accesses[a];

			printf("    %s %s", access->access == WRITE ? "write" : "read", names[access->tensor]);
			print_number("offset", access->offset);
			print_number("size", access->size);
			print_number("width", access->width);
			print_number("stride", access->stride);
			print_number("count", access->count);
			printf("\n");
		}
	}
}

/* SIZED_PLANS and SIZED_FIRST in the environment: more plans, from another seed on. */
static uint64_t setting(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : otherwise;
}

START_TEST(random_plans)
{
	uint64_t plans = setting("SIZED_PLANS", 20000), first = setting("SIZED_FIRST", 0), proved = 0, sound = 0,
		 missed = 0;
	bool noisy = getenv("SIZED_NOISY") != NULL;

	for (uint64_t seed = first; seed < first + plans; seed++) {
		struct program program;
		bool accepted;

		random_program(&program, seed);
		accepted = prove(&program);
		if (accepted) {
			if (noisy)
				print_program(&program);
			search_each(&program, seed);
			ck_assert_msg(has_rows(&program) || verify_each(&program) == SOUND, "seed %llu: %s",
				      (unsigned long long)seed, messages());
		}
		proved += accepted;
		if (!accepted) {
			char *text = noisy ? messages() : NULL;

			if (verify_each(&program) == SOUND) {
				missed++;
				if (noisy) {
					printf("seed %llu is refused though sound: %s", (unsigned long long)seed, text);
					print_program(&program);
				}
			}
		}
		again();
	}
	sound = proved + missed;
	printf("of %llu plans from %llu, %llu are proved; %llu of %llu sound ones are refused\n",
	       (unsigned long long)plans, (unsigned long long)first, (unsigned long long)proved,
	       (unsigned long long)missed, (unsigned long long)sound);
	ck_assert_uint_gt(proved, plans / 50);
	ck_assert_uint_lt(missed, sound / 10);
}

int main(void)
{
	Suite *suite = suite_create("sized");
	TCase *tcase = tcase_create("sized");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 600);
	tcase_add_test(tcase, random_plans);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
