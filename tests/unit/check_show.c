/* skdump's output for plans that sklink never makes: its cost must be in proportion to the plan. */
#include <check.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"
#include "format/plan/dims-forms.h"
#include "format/plan/dims.h"
#include "format/plan/plan.h"
#include "format/skdims.h"
#include "format/skplan.h"
#include "src/skdump/skdump.h"
#include "tests/lib/messages.h"
#include "tests/lib/plan-builder.h"
#include "tests/lib/suite.h"

enum { AWAITS = 20000, MEMORY = 512 << 20 };

/* One step that awaits many: joined by copying, its line took 4.7 GB. */
START_TEST(many_awaits)
{
	struct sk_arena *arena = sk_arena_create();
	struct plan *plan = plan_create(arena, 1);
	struct rlimit limit = {MEMORY, MEMORY};
	struct sk_package_file file = {.path = "p.sk"};
	uint32_t first;
	char *text;
	size_t size;

	plan_launch(plan, "l", SK_LAUNCH_SUPERKERNEL);
	first = plan_plain(plan, "earlier", 0);
	plan_plain(plan, "later", 1);
	for (int i = 0; i < AWAITS; i++)
		plan_await(plan, first);
	file.plan = plan_view(plan);
	struct sk_show show = {.arena = arena, .file = &file, .stream = open_memstream(&text, &size)};

#ifndef SANITIZED /* they take terabytes of addresses for themselves */
	ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
#else
	(void)limit;
#endif
	sk_show_steps(&show);
	fclose(show.stream);
	ck_assert_uint_ge(size, AWAITS * sizeof("earlier,"));
	ck_assert_uint_le(size, 2 * AWAITS * sizeof("earlier,"));
	free(text);
	sk_arena_destroy(arena);
}
END_TEST

/* ---- sizes ---- */

/* seq = 16..512 by 16, and its rows of 8 elements. */
static struct {
	struct sk_dims header;
	struct sk_dims_dimension dimensions[1];
	struct sk_dims_value values[5];
	struct sk_dims_field fields[7];
	struct sk_dims_slot slots[1];
	char strings[4];
} sizes;

enum { V_SEQ, V_EIGHT, V_ELEMENTS, V_FOUR, V_BYTES };

static struct sk_plan_table table_at(const void *records, uint32_t count, const struct sk_plan_table *from)
{
	return (struct sk_plan_table){(int32_t)((const char *)records - (const char *)from), count};
}

#define SET_TABLE(name, records, count) sizes.header.name = table_at(records, count, &sizes.header.name)

static void make_sizes(void)
{
	const struct sk_dims_field fields[] = {
		{SK_DIMS_TYPES, offsetof(struct sk_plan_type, bytes), 0, V_BYTES, 0},
		{SK_DIMS_TYPES, offsetof(struct sk_plan_type, shape), 0, V_ELEMENTS, 0},
		{SK_DIMS_TYPES, offsetof(struct sk_plan_type, bytes), 1, V_BYTES, 0},
		{SK_DIMS_STEPS, offsetof(struct sk_plan_step, extent), 0, V_ELEMENTS, 0},
		{SK_DIMS_ARGUMENTS, offsetof(struct sk_plan_argument, size), 0, V_BYTES, 0},
		{SK_DIMS_ARGUMENTS, offsetof(struct sk_plan_argument, size), 1, V_BYTES, 0},
		{SK_DIMS_PARTITIONS, offsetof(struct sk_plan_partition, extent), 0, V_ELEMENTS, 0},
	};

	sizes.header = (struct sk_dims){.magic = SK_DIMS_MAGIC, .version = SK_DIMS_VERSION, .size = sizeof(sizes)};
	SET_TABLE(dimensions, sizes.dimensions, 1);
	SET_TABLE(values, sizes.values, 5);
	SET_TABLE(fields, sizes.fields, 7);
	SET_TABLE(slots, sizes.slots, 1);
	SET_TABLE(strings, sizes.strings, sizeof(sizes.strings));
	memcpy(sizes.strings, "seq", 4);
	sizes.dimensions[0] = (struct sk_dims_dimension){.least = 16, .most = 512, .multiple = 16, .usual = 128};
	sizes.dimensions[0].name = (int32_t)(sizes.strings - (char *)&sizes.dimensions[0].name);
	sizes.values[V_SEQ] = (struct sk_dims_value){.op = SK_DIMS_DIMENSION};
	sizes.values[V_EIGHT] = (struct sk_dims_value){.op = SK_DIMS_NUMBER, .number = 8};
	sizes.values[V_ELEMENTS] = (struct sk_dims_value){.op = SK_DIMS_MULTIPLY, .a = V_EIGHT, .b = V_SEQ};
	sizes.values[V_FOUR] = (struct sk_dims_value){.op = SK_DIMS_NUMBER, .number = 4};
	sizes.values[V_BYTES] = (struct sk_dims_value){.op = SK_DIMS_MULTIPLY, .a = V_FOUR, .b = V_ELEMENTS};
	memcpy(sizes.fields, fields, sizeof(fields));
}

static struct sk_package_file sized_file(struct sk_arena *arena)
{
	struct plan *plan = plan_create(arena, 1);
	uint32_t x = plan_tensor(plan, "x", SK_F32, 4096, SK_ROLE_INPUT);
	uint32_t y = plan_tensor(plan, "y", SK_F32, 4096, SK_ROLE_OUTPUT);
	struct sk_package_file file = {.path = "p.sk"};
	char error[256] = "";

	plan_launch(plan, "net", SK_LAUNCH_SUPERKERNEL);
	plan_split(plan, "t", 4096, 64);
	plan_access(plan, x, SK_ACCESS_READ);
	plan_access(plan, y, SK_ACCESS_WRITE);
	file.plan = plan_view(plan);
	make_sizes();
	ck_assert_msg(sk_dims_open(&sizes, sizeof(sizes), &file.plan, &file.dims, error, sizeof(error)), "%s", error);
	return file;
}

static void expect_output(struct sk_arena *arena, const struct sk_package_file *file,
			  void (*section)(const struct sk_show *show), const char *part)
{
	char *text;
	size_t size;
	struct sk_show show = {.arena = arena, .file = file, .stream = open_memstream(&text, &size)};

	section(&show);
	fclose(show.stream);
	ck_assert_msg(strstr(text, part) != NULL, "'%s' is not in: %s", part, text);
	free(text);
}

START_TEST(sizes_that_vary)
{
	struct sk_arena *arena = sk_arena_create();
	struct sk_package_file file = sized_file(arena);

	file.forms = sk_forms_make(arena, &file.dims);
	expect_output(arena, &file, sk_show_summary,
		      "at usual sizes    8192 bytes bound, 0 bytes of the workspace used, ");
	expect_output(arena, &file, sk_show_summary, "16..512, multiples of 16, usually 128");
	expect_output(arena, &file, sk_show_bindings, "[8*seq]");
	expect_output(arena, &file, sk_show_bindings, "32*seq");
	expect_output(arena, &file, sk_show_steps, "split 8*seq in units of 64");
	sk_dims_close(&file.dims);
	sk_plan_close(&file.plan);
	sk_arena_destroy(arena);
}
END_TEST

static bool choose(struct sk_arena *arena, struct sk_package_file *file, const char *text, const char *error)
{
	struct sk_diag diag;
	sk_texts texts = {0};
	char *messages;
	bool chosen;

	sk_diag_init(&diag, arena);
	sk_array_push(arena, &texts, text);
	chosen = sk_package_file_choose(&diag, file, &texts);
	messages = take_messages(&diag);
	ck_assert_msg(strstr(messages, error) != NULL, "'%s' is not in: %s", error, messages);
	free(messages);
	return chosen;
}

START_TEST(sizes_that_are_chosen)
{
	struct sk_arena *arena = sk_arena_create();
	struct sk_package_file file = sized_file(arena);

	ck_assert(!choose(arena, &file, "seq=513", "seq is 513; package 'p.sk' takes 16..512, multiples of 16"));
	ck_assert(!choose(arena, &file, "seq=24", "seq is 24; package"));
	ck_assert(!choose(arena, &file, "seq=", "--dim seq=: NAME=SIZE is expected"));
	ck_assert(!choose(arena, &file, "seq=16x", "NAME=SIZE is expected"));
	ck_assert(!choose(arena, &file, "batch=3", "--dim batch=3: package 'p.sk' has no such dimension; it has seq"));
	ck_assert(choose(arena, &file, "seq=32", ""));
	expect_output(arena, &file, sk_show_bindings, "[256]");
	expect_output(arena, &file, sk_show_bindings, "1024");
	expect_output(arena, &file, sk_show_steps, "split 256 in 4 units of 64");
	ck_assert(!choose(arena, &file, "seq=32", "the sizes of this package do not vary"));
	sk_plan_close(&file.plan);
	sk_arena_destroy(arena);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("show");
	TCase *tests = tcase_create("show");

	tcase_add_test(tests, many_awaits);
	tcase_add_test(tests, sizes_that_vary);
	tcase_add_test(tests, sizes_that_are_chosen);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
