/* Calls against signatures at all sizes (sized-calls.c), on plans made by hand: a plan whose numbers follow from two
 * sizes as its kernel's signature says is proved. One number that is right at the largest sizes alone is named. */
#include <check.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "format/plan/dims.h"
#include "format/plan/plan.h"
#include "format/skdims.h"
#include "format/skplan.h"
#include "src/proof/forms.h"
#include "src/proof/proof-parts.h"
#include "src/proof/proof.h"
#include "tests/lib/plan-builder.h"
#include "tests/lib/sized-plans.h"
#include "tests/lib/suite.h"

enum { READ = SK_ACCESS_READ, WRITE = SK_ACCESS_WRITE };

#define N(...) ((struct sized_number){__VA_ARGS__})

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

/* ---- plans of one task ---- */

struct build {
	struct plan *plan;
	struct sized_section *section;
	uint64_t s, t; /* the largest sizes */
	size_t tensors, arguments, patterns, loops, terms;
};

static struct build begin(const char *signature, uint64_t s, uint64_t t)
{
	struct build build = {
		.plan = plan_create(arena, 1), .section = sized_section_begin(arena, s, t), .s = s, .t = t};

	plan_signature(build.plan, signature);
	return build;
}

static uint64_t most(const struct build *build, struct sized_number number)
{
	return sized_number_at(number, build->s, build->t);
}

#define PUT(build, table, record, type, field, number)                                                                 \
	sized_section_put((build)->section, (table), (record), offsetof(struct type, field), (number))

static struct sized_number times(struct sized_number a, uint64_t factor)
{
	return N(a.one * factor, a.s * factor, a.t * factor, a.st * factor, a.half * factor, a.less * factor,
		 a.least * factor, a.most * factor);
}

static uint32_t add_tensor(struct build *build, const char *name, enum sk_role role, struct sized_number elements)
{
	uint32_t tensor = plan_tensor(build->plan, name, SK_F32, most(build, elements), role);

	PUT(build, SK_DIMS_TYPES, build->tensors, sk_plan_type, bytes, times(elements, 4));
	PUT(build, SK_DIMS_TYPES, build->tensors++, sk_plan_type, shape, elements);
	return tensor;
}

/* A step of one launch; extent 0: a plain one. */
static void add_step(struct build *build, struct sized_number extent, struct sized_number unit)
{
	plan_launch(build->plan, "sp", SK_LAUNCH_SUPERKERNEL);
	if (!most(build, extent)) {
		plan_plain(build->plan, "task", 0);
		return;
	}
	plan_split(build->plan, "task", most(build, extent), most(build, unit));
	PUT(build, SK_DIMS_STEPS, 0, sk_plan_step, extent, extent);
	PUT(build, SK_DIMS_PARTITIONS, 0, sk_plan_partition, extent, extent);
	PUT(build, SK_DIMS_PARTITIONS, 0, sk_plan_partition, unit, unit);
}

/* Elements of a tensor from an offset on; `each`: those for each element of the step's extent. */
static void add_part(struct build *build, uint32_t tensor, unsigned access, struct sized_number offset,
		     struct sized_number elements, struct sized_number each)
{
	size_t number = build->arguments++;

	plan_part(build->plan, tensor, access, 4 * most(build, offset), 4 * most(build, elements),
		  4 * most(build, each));
	PUT(build, SK_DIMS_ARGUMENTS, number, sk_plan_argument, offset, times(offset, 4));
	PUT(build, SK_DIMS_ARGUMENTS, number, sk_plan_argument, size, times(elements, 4));
	PUT(build, SK_DIMS_ARGUMENTS, number, sk_plan_argument, element_bytes, times(each, 4));
}

static void add_whole(struct build *build, uint32_t tensor, unsigned access, struct sized_number elements,
		      struct sized_number each)
{
	add_part(build, tensor, access, N(0), elements, each);
}

static void add_value(struct build *build, struct sized_number value)
{
	plan_argument(build->plan, (struct sk_plan_argument){
					   .kind = SK_ARGUMENT_VALUE, .dtype = SK_I64, .value = most(build, value)});
	PUT(build, SK_DIMS_ARGUMENTS, build->arguments++, sk_plan_argument, value, value);
}

static void add_length(struct build *build)
{
	plan_argument(build->plan, (struct sk_plan_argument){.kind = SK_ARGUMENT_LENGTH, .dtype = SK_I64});
	build->arguments++;
}

/* Refused with a message that has the text, or accepted (NULL). */
static void expect(struct build *build, const char *message)
{
	struct sized_plan plan = {.view = plan_view(build->plan)};
	char *text = NULL, error[256];
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	sized_section_finish(build->section, &plan);
	ck_assert_msg(sk_dims_open(plan.section, plan.size, &plan.view, &plan.dims, error, sizeof(error)), "%s", error);
	ck_assert_msg(sk_plan_check_all(&plan.view, error, sizeof(error)), "%s", error);

	bool sound = sk_calls_check(arena, &diag, &plan.view, "p.sk") &&
		     sk_verify_sizes(arena, &diag, &plan.view, &plan.dims, "p.sk");

	sk_diag_flush(&diag, "test", 0, stream);
	fclose(stream);
	ck_assert_msg(sound == !message, "%s: %s", message ? message : "accepted", text);
	ck_assert_msg(!message || strstr(text, message), "'%s' is not in:\n%s", message, text);
	free(text);
	sk_diag_init(&diag, arena);
	sized_plan_close(&plan);
}

/* ---- numbers ---- */

static struct sized_number n_s(uint64_t factor)
{
	return N(0, factor);
}

/* y[m] = sums of x[m,k], where m is S and k is T; wrong: a number that is another one, of those in the list. */
enum { SCALAR_K, SIZE_OF_Y, ROW_OF_X, NOTHING };

static struct build sums(uint64_t s, uint64_t t, int wrong, struct sized_number number)
{
	struct build build = begin("split=m; in x f32[m,k], out y f32[m], m i64, k i64", s, t);
	struct sized_number all = N(0, 0, 0, 1);
	uint32_t x = add_tensor(&build, "x", SK_ROLE_INPUT, all), y = add_tensor(&build, "y", SK_ROLE_OUTPUT, n_s(1));

	add_step(&build, n_s(1), N(1));
	add_whole(&build, x, READ, all, wrong == ROW_OF_X ? number : N(0, 0, 1));
	add_whole(&build, y, WRITE, wrong == SIZE_OF_Y ? number : n_s(1), N(1));
	add_length(&build);
	add_value(&build, wrong == SCALAR_K ? number : N(0, 0, 1));
	return build;
}

START_TEST(scalars_at_all_sizes)
{
	struct build build = sums(100, 40, NOTHING, N(0));

	expect(&build, NULL);
	build = sums(100, 40, SCALAR_K, N(40));
	expect(&build, "'x' has 3900 elements, not 4000");
	build = sums(39, 40, SCALAR_K, N(1, 1)); /* S+1 for T */
	expect(&build, "elements, not");
	build = sums(4, 2, SCALAR_K, N(0, 0, 0, 0, 1)); /* floor(S/2) for T */
	expect(&build, "elements, not");
	build = sums(80, 40, SCALAR_K, N(0, 0, 0, 0, 1));
	expect(&build, "elements, not");
	build = sums(40, 40, SCALAR_K, N(0, 0, 0, 0, 0, 0, 1)); /* min(S,2T) for T */
	expect(&build, "elements, not");
	build = sums(100, 40, ROW_OF_X, N(40));
	expect(&build, "");
}
END_TEST

/* Names the sizes. */
START_TEST(errors_have_sizes)
{
	struct build build = sums(100, 40, SCALAR_K, N(40));

	expect(&build, "at the sizes S=100, T=39");
}
END_TEST

/* An extent that tensors alone determine. */
static struct build squares(struct sized_number a, struct sized_number all, uint64_t s, uint64_t t)
{
	struct build build = begin("in x f32[a,b], in z f32[a], out y f32[b]", s, t);
	uint32_t x = add_tensor(&build, "x", SK_ROLE_INPUT, all), z = add_tensor(&build, "z", SK_ROLE_INPUT, a);
	uint32_t y = add_tensor(&build, "y", SK_ROLE_OUTPUT, N(0, 0, 1));

	add_step(&build, N(0), N(0));
	add_whole(&build, x, READ, all, N(0));
	add_whole(&build, z, READ, a, N(0));
	add_whole(&build, y, WRITE, N(0, 0, 1), N(0));
	return build;
}

START_TEST(extents_at_all_sizes)
{
	struct build build = squares(n_s(1), N(0, 0, 0, 1), 100, 100);

	expect(&build, NULL);
	build = squares(n_s(2), N(0, 0, 0, 2), 5, 3);
	expect(&build, NULL);
	build = squares(N(100), N(0, 0, 0, 1), 100, 100);
	expect(&build, "elements, not");
	build = squares(N(1, 0, 0, 0, 0, 1), N(0, 0, 0, 1), 100, 100); /* 1 + (S-1) */
	expect(&build, NULL);
	build = squares(N(0, 0, 0, 0, 2), N(0, 0, 0, 1), 100, 100); /* 2*floor(S/2) */
	expect(&build, "elements, not");
}
END_TEST

/* Min and max are looked at for each size, if there are few. */
START_TEST(pieces_are_enumerated)
{
	struct build build = squares(N(0, 0, 0, 0, 0, 0, 1), N(0, 0, 0, 0, 0, 0, 1), 10, 1);

	expect(&build, NULL);
	build = squares(N(0, 0, 0, 0, 0, 0, 1), N(0, 0, 0, 0, 0, 0, 1), 2000, 2000);
	expect(&build, "elements, not"); /* T is not 1 */
	build = squares(N(0, 0, 0, 0, 0, 0, 1), N(0, 0, 0, 0, 0, 0, 1), 2000000, 1);
	expect(&build, "more than 1048576 of them would have to be looked at; narrow their bounds");
}
END_TEST

/* Bytes that are shared at small sizes: x has S elements, and y begins at 8+S or at 2*S, which is less. */
static struct build neighbours(struct sized_number offset)
{
	struct build build = begin("in x f32[n], out y f32[m], n i64, m i64", 10, 2);
	uint32_t tensor = add_tensor(&build, "x", SK_ROLE_INOUT, N(100));

	add_step(&build, N(0), N(0));
	add_part(&build, tensor, READ, N(0), N(16), N(0));
	add_part(&build, tensor, WRITE, offset, N(2), N(0));
	add_value(&build, N(16));
	add_value(&build, N(2));
	return build;
}

START_TEST(shared_bytes)
{
	struct build build = neighbours(N(16, 1));

	expect(&build, NULL);
	build = neighbours(N(0, 2)); /* from 20 on at the largest size */
	expect(&build, "'x' and 'y' share bytes at some sizes, and one of them is written");
}
END_TEST

/* Accesses that are apart at the largest sizes share bytes at others. */
START_TEST(texts_of_shared_bytes)
{
	for (uint64_t place = 15; place <= 16; place++) {
		struct build build = neighbours(N(place));
		struct sk_plan_view view = plan_view(build.plan);
		const struct sk_step_access one = {0, 0, 0, 0}, other = {0, 0, 0, 1};

		ck_assert_str_eq(sk_access_overlap_text(arena, &view, &one, &other),
				 place < 16 ? "bytes [60, 64) of binding 0" : "bytes of binding 0 at some sizes");
	}
}
END_TEST

/* Scratch of the largest sizes is enough for smaller ones. */
static struct build scratch(const char *signature, uint64_t bytes)
{
	struct build build = begin(signature, 100, 2);
	uint32_t x = add_tensor(&build, "x", SK_ROLE_INPUT, n_s(1)),
		 y = add_tensor(&build, "y", SK_ROLE_OUTPUT, n_s(1));

	add_step(&build, N(0), N(0));
	plan_scratch(build.plan, (bytes + 63) / 64 * 64);
	add_whole(&build, x, READ, n_s(1), N(0));
	add_whole(&build, y, WRITE, n_s(1), N(0));
	add_value(&build, n_s(1));
	plan_argument(build.plan, (struct sk_plan_argument){.kind = SK_ARGUMENT_SCRATCH, .size = bytes});
	return build;
}

START_TEST(scratch_at_all_sizes)
{
	struct build build = scratch("in x f32[n], out y f32[n], n i64, scratch s f32[n]", 400);

	expect(&build, NULL);
	build = scratch("in x f32[n], out y f32[n], n i64, scratch s f32[(n+15)/16*16]", 448);
	expect(&build, NULL);
	build = scratch("in x f32[n], out y f32[n], n i64, scratch s f32[200-n]", 400);
	expect(&build, "bytes of scratch");
	build = scratch("in x f32[n], out y f32[n], n i64, scratch s f32[n*(200-n)]", 40000);
	expect(&build, "its numbers cannot be compared at all sizes"); /* there is more at S=100 than next to it */
}
END_TEST

/* Units of few elements, as the kernel promises, and their alignment. */
static struct build unit_of(const char *signature, struct sized_number unit, struct sized_number each)
{
	struct build build = begin(signature, 100000, 8);
	struct sized_number all = each.t ? N(0, 0, 0, each.t) : n_s(each.one);
	uint32_t x = add_tensor(&build, "x", SK_ROLE_INPUT, all), y = add_tensor(&build, "y", SK_ROLE_OUTPUT, all);

	add_step(&build, n_s(1), unit);
	add_whole(&build, x, READ, all, each);
	add_whole(&build, y, WRITE, all, each);
	add_length(&build);
	if (strstr(signature, "k i64"))
		add_value(&build, each);
	return build;
}

START_TEST(units_at_all_sizes)
{
	static const char of_elements[] = "split=n; in x f32[n], out y f32[n], n i64";
	static const char of_four[] = "split=n:4; in x f32[n], out y f32[n], n i64";
	static const char aligned[] = "align=64 split=n; in x f32[n,k], out y f32[n,k], n i64, k i64";
	struct build build = unit_of(of_elements, N(64), N(1));

	expect(&build, NULL);
	build = unit_of(of_elements, N(32), N(1));
	expect(&build, "at some sizes its units are not whole or not aligned");
	build = unit_of(of_four, N(4), N(1));
	expect(&build, NULL);
	build = unit_of(of_four, N(2), N(1));
	expect(&build, "at some sizes its units are not whole or not aligned");
	build = unit_of(aligned, N(16), N(0, 0, 1));
	expect(&build, NULL);
	build = unit_of(aligned, N(2), N(0, 0, 1)); /* aligned at T=8 alone */
	expect(&build, "at some sizes its units are not whole or not aligned");
}
END_TEST

/* S rows of T elements in rows of 16, of which there may be one. */
static struct build rows(uint64_t s, bool split, struct sized_number stride)
{
	struct build build = begin(split ? "split=m; in x f32[m,k:ld], out y f32[m,k], m i64, k i64, ld i64"
					 : "in x f32[m,k:ld], out y f32[m,k], m i64, k i64, ld i64",
				   s, 15);
	uint32_t x = add_tensor(&build, "x", SK_ROLE_INPUT, n_s(16));
	uint32_t y = add_tensor(&build, "y", SK_ROLE_OUTPUT, N(0, 0, 0, 1));
	const struct sized_number size = N(0, 0, 1, 0, 0, 16), width = N(0, 0, 4);

	add_step(&build, split ? n_s(1) : N(0), N(1));
	add_whole(&build, x, READ, size, split ? N(16) : N(0));
	plan_pattern(build.plan, (struct sk_plan_pattern){.width = most(&build, width), .stride = 64, .count = s});
	PUT(&build, SK_DIMS_PATTERNS, 0, sk_plan_pattern, width, width);
	PUT(&build, SK_DIMS_PATTERNS, 0, sk_plan_pattern, count, n_s(1));
	add_whole(&build, y, WRITE, N(0, 0, 0, 1), split ? N(0, 0, 1) : N(0));
	if (split)
		add_length(&build);
	else
		add_value(&build, n_s(1));
	add_value(&build, N(0, 0, 1));
	add_value(&build, stride);
	return build;
}

START_TEST(rows_at_all_sizes)
{
	static const uint64_t most_rows[] = {2, 3, 100};

	for (size_t i = 0; i < 6; i++) {
		uint64_t s = most_rows[i / 2];
		struct build build = rows(s, i % 2, N(16));

		expect(&build, NULL);
		build = rows(s, i % 2, N(1, 0, 1));
		expect(&build, "extent 'ld' is");
	}
}
END_TEST

/* A task's own entry has the numbers of its call in the network. */
START_TEST(entries_at_all_sizes)
{
	for (int wrong = 0; wrong < 2; wrong++) {
		struct build build = sums(100, 40, NOTHING, N(0));

		plan_launch(build.plan, "entry", SK_LAUNCH_TASK);
		plan_entry_step(build.plan, 0);
		PUT(&build, SK_DIMS_STEPS, 1, sk_plan_step, extent, n_s(1));
		PUT(&build, SK_DIMS_PARTITIONS, 1, sk_plan_partition, extent, n_s(1));
		PUT(&build, SK_DIMS_ARGUMENTS, 4, sk_plan_argument, size, N(0, 0, 0, 4));
		PUT(&build, SK_DIMS_ARGUMENTS, 4, sk_plan_argument, element_bytes, N(0, 0, 4));
		PUT(&build, SK_DIMS_ARGUMENTS, 5, sk_plan_argument, size, n_s(4));
		if (!wrong)
			PUT(&build, SK_DIMS_ARGUMENTS, 7, sk_plan_argument, value, N(0, 0, 1));
		expect(&build, wrong ? "task 'task': at some sizes its own entry and its launch call" : NULL);
	}
}
END_TEST

/* Both sides of a mix task get S, or one of them gets the number that is S at the most size only. */
START_TEST(sides_at_all_sizes)
{
	for (int wrong = 0; wrong < 2; wrong++) {
		struct build build = begin("mix; block, n i64", 100, 40);
		struct sized_plan plan = {0};
		struct sk_sized sized = {0};
		char error[256];

		plan_launch(build.plan, "sp", SK_LAUNCH_SUPERKERNEL);
		plan_mix(build.plan, "task", 2, 2);
		add_value(&build, n_s(1));
		plan_mix_arguments(build.plan);
		if (!wrong)
			PUT(&build, SK_DIMS_ARGUMENTS, 1, sk_plan_argument, value, n_s(1));
		plan.view = plan_view(build.plan);
		sized_section_finish(build.section, &plan);
		ck_assert_msg(sk_dims_open(plan.section, plan.size, &plan.view, &plan.dims, error, sizeof(error)), "%s",
			      error);
		sk_sized_init(&sized, arena, &plan.view, &plan.dims);
		sk_sized_entries_check(arena, &diag, &sized, "p.sk");
		ck_assert_uint_eq(diag.errors, (unsigned)wrong);
		sized_plan_close(&plan);
	}
}
END_TEST

/* A kernel gets a list with S and T, or a scalar S; both are sizes of its own network, or of another one. */
START_TEST(networks_have_their_own_sizes)
{
	for (int foreign = 0; foreign < 2; foreign++)
		for (int scalar = 0; scalar < 2; scalar++) {
			struct build build =
				begin("in x f32[n], out y f32[n], pads ptr = attr(pads), factor i64", 100, 40);
			uint32_t x = add_tensor(&build, "x", SK_ROLE_INPUT, N(8));
			uint32_t y = add_tensor(&build, "y", SK_ROLE_OUTPUT, N(8));

			sized_section_add_slot(build.section, N(1));
			sized_section_add_slot(build.section, scalar ? N(5) : N(0, 1));
			sized_section_add_slot(build.section, scalar ? N(7) : N(0, 0, 1));
			if (foreign)
				sized_section_make_foreign(build.section);
			add_step(&build, N(0), N(1));
			add_whole(&build, x, READ, N(8), N(0));
			add_whole(&build, y, WRITE, N(8), N(0));
			plan_argument(build.plan, (struct sk_plan_argument){.kind = SK_ARGUMENT_POINTER,
									    .dtype = SK_I64,
									    .access = READ,
									    .space = SK_SPACE_SIZES,
									    .offset = 8,
									    .size = 16});
			build.arguments++;
			add_value(&build, scalar ? N(0, 1) : N(3));
			expect(&build, foreign ? "task 'task': it reads sizes of another network" : NULL);
		}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sized-calls");
	TCase *tcase = tcase_create("sized-calls");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, scalars_at_all_sizes);
	tcase_add_test(tcase, errors_have_sizes);
	tcase_add_test(tcase, extents_at_all_sizes);
	tcase_add_test(tcase, pieces_are_enumerated);
	tcase_add_test(tcase, shared_bytes);
	tcase_add_test(tcase, texts_of_shared_bytes);
	tcase_add_test(tcase, scratch_at_all_sizes);
	tcase_add_test(tcase, units_at_all_sizes);
	tcase_add_test(tcase, rows_at_all_sizes);
	tcase_add_test(tcase, entries_at_all_sizes);
	tcase_add_test(tcase, sides_at_all_sizes);
	tcase_add_test(tcase, networks_have_their_own_sizes);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
