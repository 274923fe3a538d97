/* The proof for all sizes, on random plans: what it accepts has no race and no read of other data at any size, by a
 * search of each one, and most of what is sound at each size is accepted. Damaged sections are refused, or mean the
 * same. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "format/plan/dims.h"
#include "format/plan/plan.h"
#include "format/skdims.h"
#include "src/proof/proof.h"
#include "tests/lib/races.h"
#include "tests/lib/sized-plans.h"
#include "tests/lib/suite.h"

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

/* ---- verdicts ---- */

enum verdict { SOUND, UNSOUND, IMPOSSIBLE };

/* By the verifier of one size, for each size. */
static enum verdict verify_each(const struct sized_plan *plan)
{
	enum verdict verdict = SOUND;

	for (uint64_t s = 1; s <= SIZED_S && verdict == SOUND; s++)
		for (uint64_t t = 1; t <= SIZED_T && verdict == SOUND; t++) {
			struct sk_plan_view one;
			char text[256];

			ck_assert(sk_dims_concretise(&plan->dims, &plan->view, (uint64_t[]){s, t}, &one));
			if (!sk_plan_check_all(&one, text, sizeof(text)))
				verdict = IMPOSSIBLE;
			else if (!sk_verify(arena, &diag, &one, "p.sk", NULL, 0, NULL))
				verdict = UNSOUND;
			sk_plan_close(&one);
		}
	return verdict;
}

/* A single row is not in rows: there the verifier of one size may refuse a temporary in rows that shares its bytes. */
static bool has_rows(const struct sk_plan_view *view)
{
	for (uint32_t i = 0; i < view->pattern_count; i++)
		if (view->patterns[i].count)
			return true;
	return false;
}

/* By a search of one size, for several numbers of cores. */
static void search(const struct sk_plan_view *one, uint64_t seed, const uint64_t *sizes)
{
	static const uint32_t many[] = {11, 11};
	char text[256];

	if (!sk_plan_check_all(one, text, sizeof(text)))
		ck_abort_msg("seed %llu, S=%d, T=%d: %s", (unsigned long long)seed, (int)sizes[0], (int)sizes[1], text);
	if (races_exist_up_to(one, 4) || races_exist(one, many))
		ck_abort_msg("seed %llu, S=%d, T=%d: there are races", (unsigned long long)seed, (int)sizes[0],
			     (int)sizes[1]);
	if (reads_astray(one))
		ck_abort_msg("seed %llu, S=%d, T=%d: reads find other data", (unsigned long long)seed, (int)sizes[0],
			     (int)sizes[1]);
}

static void search_each(const struct sized_plan *plan, uint64_t seed)
{
	for (uint64_t s = 1; s <= SIZED_S; s++)
		for (uint64_t t = 1; t <= SIZED_T; t++) {
			struct sk_plan_view one;

			ck_assert(sk_dims_concretise(&plan->dims, &plan->view, (uint64_t[]){s, t}, &one));
			search(&one, seed, (uint64_t[]){s, t});
			sk_plan_close(&one);
		}
}

static bool prove(const struct sized_plan *plan)
{
	return sk_verify(arena, &diag, &plan->view, "p.sk", NULL, 0, NULL) &&
	       sk_verify_accesses_of_sizes(arena, &diag, &plan->view, &plan->dims, "p.sk");
}

/* ---- random plans ---- */

/* SIZED_PLANS and SIZED_FIRST in the environment: more plans, from another seed on. */
static uint64_t setting(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : otherwise;
}

struct counts {
	uint64_t made, proved, tiled, missed; /* tiled: proved, with a tensor in the scratch */
	uint64_t owns; /* proved, with awaits of the cores with a block only */
	uint64_t mutants, refused; /* proved plans in which another step leaves its awaits to those cores */
	bool noisy;
};

/* Let each step in blocks with awaits leave them to the cores with a block: what is still proved has no race at any
 * size. */
static void mutate_awaits(struct counts *counts, const struct sized_plan *plan, uint64_t seed)
{
	struct sk_plan_step *steps = (struct sk_plan_step *)(uintptr_t)plan->view.steps;

	for (uint32_t i = 0; i < plan->view.step_count; i++) {
		if ((steps[i].kind != SK_STEP_BLOCKS && steps[i].kind != SK_STEP_BLOCKS_RANGE) || !steps[i].await_count)
			continue;
		counts->owns += steps[i].flags & SK_STEP_OWN_AWAITS ? 1 : 0;
		if (steps[i].flags & SK_STEP_OWN_AWAITS)
			continue;
		steps[i].flags |= SK_STEP_OWN_AWAITS;
		counts->mutants++;
		if (prove(plan))
			search_each(plan, seed);
		else
			counts->refused++;
		steps[i].flags &= (uint16_t)~SK_STEP_OWN_AWAITS;
		sk_diag_init(&diag, arena);
	}
}

static void try_plan(struct counts *counts, uint64_t seed)
{
	struct sized_program program;
	struct sized_plan plan;

	sized_program_make(&program, seed);
	if (!sized_plan_make(arena, &program, &plan)) {
		sized_plan_close(&plan);
		return;
	}
	counts->made++;
	if (prove(&plan)) {
		counts->proved++;
		counts->tiled += program.scratch != 0;
		if (counts->noisy)
			sized_program_print(&program);
		search_each(&plan, seed);
		ck_assert_msg(has_rows(&plan.view) || verify_each(&plan) == SOUND, "seed %llu: %s",
			      (unsigned long long)seed, messages());
		mutate_awaits(counts, &plan, seed);
	} else {
		char *text = counts->noisy ? messages() : NULL;
		bool missed = verify_each(&plan) == SOUND;

		counts->missed += missed;
		if (missed && counts->noisy) {
			printf("seed %llu is refused though sound: %s", (unsigned long long)seed, text);
			sized_program_print(&program);
		}
	}
	sized_plan_close(&plan);
}

START_TEST(random_plans)
{
	uint64_t plans = setting("SIZED_PLANS", 20000), first = setting("SIZED_FIRST", 0);
	struct counts counts = {.noisy = getenv("SIZED_NOISY") != NULL};

	for (uint64_t seed = first; seed < first + plans; seed++) {
		try_plan(&counts, seed);
		again();
	}
	printf("of %llu plans from %llu, %llu are plans and %llu are proved, %llu with tiles in the scratch; %llu of "
	       "%llu sound ones are refused; %llu steps leave awaits to some cores; of %llu others, %llu may not\n",
	       (unsigned long long)plans, (unsigned long long)first, (unsigned long long)counts.made,
	       (unsigned long long)counts.proved, (unsigned long long)counts.tiled, (unsigned long long)counts.missed,
	       (unsigned long long)(counts.proved + counts.missed), (unsigned long long)counts.owns,
	       (unsigned long long)counts.mutants, (unsigned long long)counts.refused);
	ck_assert_uint_gt(counts.proved, plans / 50);
	ck_assert_uint_gt(counts.tiled, plans / 1000);
	ck_assert_uint_gt(counts.owns, plans / 1000);
	ck_assert_uint_gt(counts.refused, plans / 10000);
	ck_assert_uint_lt(counts.missed, (counts.proved + counts.missed) / 10);
}
END_TEST

/* ---- single programs ---- */

#define S(...) ((struct sized_number){__VA_ARGS__})

enum { READ = SK_ACCESS_READ, WRITE = SK_ACCESS_WRITE };

/* A program with tensors of 48 bytes and a step that writes the output. */
static struct sized_program program_of(uint32_t step_count)
{
	struct sized_program program = {.step_count = step_count};

	for (uint32_t i = 0; i < SIZED_TENSORS; i++) {
		program.offsets[i] = i ? 48 * (i - 1) : 0;
		program.bytes[i] = S(48);
	}
	for (uint32_t i = 0; i < step_count; i++)
		program.steps[i] = (struct sized_step){.kind = SK_STEP_PLAIN,
						       .unit = S(1),
						       .blocks = 1,
						       .access_count = 1,
						       .accesses = {{.tensor = 4, .access = WRITE, .size = S(4)}}};
	return program;
}

/* Prove the program, apart from its largest sizes; return the messages. */
static const char *refusal(const struct sized_program *program)
{
	struct sized_plan plan;
	bool made = sized_plan_make(arena, program, &plan);

	ck_assert(made);

	bool proved = sk_verify_accesses_of_sizes(arena, &diag, &plan.view, &plan.dims, "p.sk");
	const char *text = messages();

	sized_plan_close(&plan);
	sk_diag_init(&diag, arena);
	ck_assert_int_eq(proved, !*text);
	return text;
}

static void refuse(const struct sized_program *program, const char *part)
{
	const char *text = refusal(program);

	ck_assert_msg(strstr(text, part), "'%s' is not '%s'", text, part);
}

static void accept(const struct sized_program *program)
{
	ck_assert_str_eq(refusal(program), "");
}

static struct sized_step split(struct sized_number extent)
{
	return (struct sized_step){.kind = SK_STEP_SPLIT, .extent = extent, .unit = S(1)};
}

/* Rows of x, as many as elements, S+3 bytes apart. */
static void add_rows(struct sized_step *step, unsigned access, uint64_t offset, struct sized_number width)
{
	step->accesses[step->access_count++] = (struct sized_access){.access = access,
								     .offset = S(offset),
								     .width = width,
								     .stride = S(3, 1),
								     .count = step->extent,
								     .element_bytes = S(3, 1)};
}

/* A step in blocks on cores 1 to 3 awaits the writer of bytes that a later step reads if S is 1. */
static struct sized_program resting(bool owns, uint64_t first_core, uint32_t blocks)
{
	struct sized_program program = program_of(4);

	program.steps[0] = split(S(4));
	program.steps[0].access_count = 1;
	program.steps[0].accesses[0] =
		(struct sized_access){.tensor = 1, .access = WRITE, .size = S(4), .element_bytes = S(1)};
	program.filled[1] = S(48);
	for (uint32_t i = 1; i < 3; i++) {
		program.steps[i].kind = SK_STEP_BLOCKS;
		program.steps[i].owns = i == 2 || owns;
		program.steps[i].accesses[0].access = READ;
		program.steps[i].accesses[0].tensor = i == 1 ? 0 : 1;
	}
	program.steps[1].blocks = 3;
	program.steps[1].first_core = 1;
	program.steps[1].awaits[0] = true;
	program.steps[2].blocks = blocks;
	program.steps[2].first_core = first_core;
	program.steps[2].accesses[0].offset = (struct sized_number){.less = 4};
	return program;
}

/* The awaits of cores 1 to 3 tell nothing to others, where a step rests on them at smaller sizes only. */
START_TEST(own_awaits_tell_no_others)
{
	static const struct {
		uint64_t first_core;
		uint32_t blocks;
		bool sound;
	} cases[] = {{1, 3, true}, {2, 2, true}, {3, 1, true}, {0, 2, false}, {2, 3, false}, {0, 5, false}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (int owns = 0; owns < 2; owns++) {
			struct sized_program program = resting(owns, cases[i].first_core, cases[i].blocks);
			struct sized_plan plan;

			ck_assert(sized_plan_make(arena, &program, &plan));
			ck_assert_msg(sk_verify(arena, &diag, &plan.view, "p.sk", NULL, 0, NULL), "%s", messages());
			sized_plan_close(&plan);
			if (!owns || cases[i].sound)
				accept(&program);
			else
				refuse(&program, "nothing orders task 'split'");
			again();
		}
}
END_TEST

/* The second write has no byte at all sizes, and does not hide the first one from the third. Neighbours are on the same
 * core, but not the first one and the third one. */
START_TEST(writes_replace_at_all_sizes)
{
	struct sized_program program = program_of(3);

	for (uint32_t i = 0; i < 3; i++)
		program.steps[i] = split(S(2));
	add_rows(&program.steps[0], WRITE, 0, S(1));
	add_rows(&program.steps[1], WRITE, 1, S(1));
	add_rows(&program.steps[2], WRITE, 2, S(2, 1));
	refuse(&program, "nothing orders task 'split'");
	program.steps[2].awaits[0] = true;
	accept(&program);
}
END_TEST

/* The numbers of elements are equal at the largest sizes alone, or not at some others. */
START_TEST(cores_are_equal_at_all_sizes)
{
	static const struct sized_number others[] = {
		{4}, {0, 0, 2}, {0, 0, 0, 0, 2}, {0, 0, 0, 0, 0, 0, 1}, {1, 0, 0, 0, 0, 1}};

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		struct sized_program program = program_of(2);

		/* S units of two elements, and units of one element of two bytes: two partitions */
		program.steps[0] = split(S(0, 2));
		program.steps[0].unit = S(2);
		program.steps[1] = split(others[i]);
		for (uint32_t k = 0; k < 2; k++) {
			struct sized_number size = others[i];

			size = (struct sized_number){2 * size.one,  2 * size.s,	   2 * size.t,	   2 * size.st,
						     2 * size.half, 2 * size.less, 2 * size.least, 2 * size.most};
			program.steps[k].access_count = 1;
			program.steps[k].accesses[0] = (struct sized_access){
				.access = k ? READ : WRITE, .size = k ? size : S(0, 2), .element_bytes = S(1 + k)};
		}
		if (i + 1 == sizeof(others) / sizeof(*others))
			accept(&program); /* 1 + (S-1) */
		else
			refuse(&program, "nothing orders task 'split'");
	}
}
END_TEST

/* A block without elements may write nothing. */
START_TEST(empty_blocks_write_nothing)
{
	struct sized_program program = program_of(2);

	program.steps[0].kind = SK_STEP_BLOCKS_RANGE;
	program.steps[0].extent = S(0, 1);
	program.steps[1].accesses[0].access = READ;
	program.steps[1].awaits[0] = true;
	accept(&program);
	program.steps[0].extent = S(0, 0, 0, 0, 1);
	refuse(&program, "at some sizes it reads bytes that no task before it has written");
}
END_TEST

START_TEST(once_is_for_all_sizes)
{
	struct sized_program program = program_of(1);

	program.once = S(4);
	accept(&program);
	program.once = S(0, 1);
	refuse(&program, "task 'once': it runs once, but depends on sizes");
	program.lists = true;
	refuse(&program, "task 'once': it runs once, but depends on sizes");
}
END_TEST

START_TEST(loops_fit_at_all_sizes)
{
	struct sized_program program = program_of(1);
	static const char sentence[] = "its loops do not go through its elements in whole tiles";

	program.steps[0] = split(S(0, 1));
	program.steps[0].tile = 1;
	program.steps[0].loop = S(0, 1);
	program.steps[0].inner = S(0, 1);
	accept(&program);
	program.steps[0].loop = S(1, 0, 0, 0, 0, 1);
	accept(&program);
	program.steps[0].loop = S(4);
	refuse(&program, sentence);
	program.steps[0].loop = S(0, 1);
	program.steps[0].inner = S(0, 0, 0, 0, 1);
	refuse(&program, sentence);
	program.steps[0].inner = S(0, 1);
	program.steps[0].unit = S(0, 0, 1);
	program.steps[0].tile = 2;
	refuse(&program, sentence);
}
END_TEST

START_TEST(tiles_are_whole_units)
{
	struct sized_program program = program_of(1);

	program.steps[0] = split(S(0, 1));
	program.steps[0].group = 4;
	program.steps[0].unit = S(2);
	accept(&program);
	program.steps[0].unit = S(0, 1);
	refuse(&program, "its extent is not the one that the cores divide");
}
END_TEST

/* Two calls of a step in tiles of 4 elements of 16 bytes, which the first one writes and the second one reads. */
START_TEST(tiles_have_one_place)
{
	static const char other[] = "its tile has another place or size";
	static const char part[] = "it does not divide all of its tensor, of which tiles are in the scratch";
	struct sized_program program = program_of(2);

	program.scratch = 512;
	program.offsets[SIZED_TILED] = 64;
	program.bytes[SIZED_TILED] = S(0, 16);
	for (int i = 0; i < 2; i++) {
		program.steps[i] = split(S(0, 1));
		program.steps[i].group = 4;
		program.steps[i].unit = S(4);
		program.steps[i].same_step = i;
		program.steps[i].access_count = 1;
		program.steps[i].accesses[0] = (struct sized_access){
			.tensor = SIZED_TILED, .access = i ? READ : WRITE, .size = S(0, 16), .element_bytes = S(16)};
	}
	accept(&program);
	program.moved = S(0, 16);
	refuse(&program, other);
	program.moved = S(0);
	program.steps[1].accesses[0].element_bytes = S(0, 4);
	refuse(&program, other);
	program.steps[1].accesses[0].element_bytes = S(16);
	program.steps[1].accesses[0].size = S(64);
	refuse(&program, part);
	program.bytes[SIZED_TILED] = S(64);
	refuse(&program, part);
}
END_TEST

START_TEST(shapes_fit_at_all_sizes)
{
	struct sized_program program = program_of(1);
	struct sized_access *access = &program.steps[0].accesses[0];

	program.bytes[4] = S(0, 12);
	access->shaped = true;
	accept(&program);
	access->size = S(0, 1);
	accept(&program);
	access->width = S(2);
	access->stride = S(0, 1);
	access->count = S(0, 0, 2);
	refuse(&program, "its rows are not those of its bytes"); /* S may be 1 */
	access->stride = S(1, 1);
	accept(&program);
	access->width = S(0, 0, 0, 0, 1);
	accept(&program); /* of no bytes where S is 1 */
}
END_TEST

/* ---- damaged sections ---- */

/* One number of the section that may be changed. */
struct damage {
	char *place;
	size_t size;
};

static void *records_of(const struct sk_plan_table *table)
{
	return (char *)(uintptr_t)table + table->offset;
}

/* Return the number of the places of values and fields, and the one of that number. */
static size_t find_damage(struct sk_dims *section, size_t number, struct damage *damage)
{
	struct sk_dims_value *values = records_of(&section->values);
	struct sk_dims_field *fields = records_of(&section->fields);
	size_t count = 0;

#define PLACE(field)                                                                                                   \
	do                                                                                                             \
		if (count++ == number)                                                                                 \
			*damage = (struct damage){(char *)&(field), sizeof(field)};                                    \
	while (0)
	for (uint32_t i = 0; i < section->values.count; i++) {
		PLACE(values[i].op);
		PLACE(values[i].a);
		PLACE(values[i].b);
		PLACE(values[i].number);
	}
	for (uint32_t i = 0; i < section->fields.count; i++) {
		PLACE(fields[i].table);
		PLACE(fields[i].offset);
		PLACE(fields[i].record);
		PLACE(fields[i].value);
	}
#undef PLACE
	return count;
}

/* A damaged section that is read and proved has no race and no read of other data at any size either. */
static bool survives(const struct sized_plan *plan, const struct damage *damage, uint64_t change, uint64_t seed)
{
	struct sized_plan other = *plan;
	char error[256], old[8];
	uint64_t number = 0;
	bool proved = false;

	memcpy(old, damage->place, damage->size);
	memcpy(&number, damage->place, damage->size);
	number += change;
	memcpy(damage->place, &number, damage->size);
	if (sk_dims_open(plan->section, plan->size, &other.view, &other.dims, error, sizeof(error))) {
		proved = sk_verify_accesses_of_sizes(arena, &diag, &other.view, &other.dims, "p.sk");
		if (proved)
			search_each(&other, seed);
	}
	sk_dims_close(&other.dims);
	memcpy(damage->place, old, damage->size);
	return proved;
}

START_TEST(damaged_sections)
{
	static const uint64_t changes[] = {1, UINT64_MAX, 2, 8};
	uint64_t plans = setting("SIZED_DAMAGED", 400), damages = 0, survivors = 0, proved = 0;

	for (uint64_t seed = setting("SIZED_FIRST", 0); proved < plans / 10; seed++) {
		struct sized_program program;
		struct sized_plan plan;
		struct damage damage;

		sized_program_make(&program, seed);
		if (sized_plan_make(arena, &program, &plan) && plan.dims.field_count && prove(&plan)) {
			size_t count = find_damage(plan.section, SIZE_MAX, &damage);

			proved++;
			for (size_t i = 0; i < count * 4; i++) {
				find_damage(plan.section, i / 4, &damage);
				damages++;
				survivors += survives(&plan, &damage, changes[i % 4], seed);
				sk_diag_init(&diag, arena);
			}
		}
		sized_plan_close(&plan);
		again();
	}
	printf("%llu of %llu damaged sections of %llu plans are proved\n", (unsigned long long)survivors,
	       (unsigned long long)damages, (unsigned long long)proved);
	ck_assert_uint_gt(damages, plans);
	ck_assert_uint_lt(survivors, damages / 2);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sized");
	TCase *tcase = tcase_create("sized");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 600);
	tcase_add_test(tcase, own_awaits_tell_no_others);
	tcase_add_test(tcase, writes_replace_at_all_sizes);
	tcase_add_test(tcase, cores_are_equal_at_all_sizes);
	tcase_add_test(tcase, empty_blocks_write_nothing);
	tcase_add_test(tcase, once_is_for_all_sizes);
	tcase_add_test(tcase, loops_fit_at_all_sizes);
	tcase_add_test(tcase, tiles_are_whole_units);
	tcase_add_test(tcase, tiles_have_one_place);
	tcase_add_test(tcase, shapes_fit_at_all_sizes);
	tcase_add_test(tcase, random_plans);
	tcase_add_test(tcase, damaged_sections);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
