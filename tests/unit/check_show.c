/* skdump's output for plans that sklink never makes: its cost must be in proportion to the plan. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/arena.h"
#include "format/skplan.h"
#include "src/skdump/skdump.h"
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

int main(void)
{
	Suite *suite = suite_create("show");
	TCase *tests = tcase_create("show");

	tcase_add_test(tests, many_awaits);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
