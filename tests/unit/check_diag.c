/* Check suite for base/diag: the output of a sink: place, text, origins and notes; and for names in JSON. */
#include <check.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"
#include "tests/lib/sink.h"
#include "tests/lib/suite.h"

/* Below the message come the places from which a text was expanded, the nearest first, and then other notes. */
START_TEST(test_origins)
{
	const struct sk_place outer = {.file = "net", .line = 4, .column = 2};
	const struct sk_place inner = {.file = "block", .line = 9, .column = 1, .origin = sk_place_keep(arena, outer)};
	struct sk_place place = {.file = "tile", .line = 3, .column = 7, .origin = sk_place_keep(arena, inner)};

	sk_error(&diag, place, "it is %s", "wrong");
	sk_note(&diag, "it was right");
	expect_messages("t: error: tile:3:7: it is wrong\n"
			">>> expanded from block:9:1\n"
			">>> expanded from net:4:2\n"
			">>> it was right\n");
	sk_warning(&diag, inner, "take care");
	expect_messages("t: warning: block:9:1: take care\n>>> expanded from net:4:2\n");
	ck_assert_uint_eq(diag.errors, 1);
	ck_assert_uint_eq(diag.warnings, 1);
}
END_TEST

START_TEST(test_no_origin)
{
	ck_assert_ptr_null(sk_place_keep(arena, (struct sk_place){0}));
	sk_error(&diag, (struct sk_place){.file = "a", .line = 1, .column = 1}, "here");
	sk_error(&diag, (struct sk_place){.file = "x.o", .section = ".text", .offset = 16}, "there");
	sk_error(&diag, (struct sk_place){0}, "nowhere");
	expect_messages("t: error: a:1:1: here\nt: error: x.o:(.text+0x10): there\nt: error: nowhere\n");
}
END_TEST

/* A muted warning prints no origin either. */
START_TEST(test_muted)
{
	const struct sk_place outer = {.file = "net", .line = 4, .column = 2};
	const struct sk_place place = {.file = "block", .line = 9, .column = 1, .origin = &outer};

	diag.no_warnings = true;
	sk_error(&diag, outer, "wrong");
	sk_warning(&diag, place, "take care");
	expect_messages("t: error: net:4:2: wrong\n");
}
END_TEST

/* Errors of one key are one, with how many things it is about; its notes are its own. A sink that is emptied knows
 * none. */
START_TEST(test_alike)
{
	for (int i = 0; i < 3; i++)
		if (sk_error_alike(&diag, (struct sk_place){.file = "m"}, "conv", i ? "node 'b'" : "node 'a'", "no %d",
				   1))
			sk_note(&diag, "it is so");
	ck_assert(sk_error_alike(&diag, (struct sk_place){0}, "add", "node 'c'", "no 2"));
	ck_assert(!sk_error_alike(&diag, (struct sk_place){0}, "conv", "node 'd'", "no 1"));
	ck_assert_uint_eq(diag.errors, 2);
	expect_messages("t: error: m: node 'a' and 3 more: no 1\n>>> it is so\nt: error: node 'c': no 2\n");
	ck_assert(sk_error_alike(&diag, (struct sk_place){0}, "conv", "node 'd'", "no 1"));
	expect_messages("t: error: node 'd': no 1\n");
}
END_TEST

/* Two errors about several subjects or more become one, the most subjects first, with places that differ and all notes;
 * others stay in their order. */
START_TEST(test_joined)
{
	const struct sk_place model = {.file = "m"}, text = {.file = "m", .line = 4, .column = 2};

	sk_error(&diag, model, "first");
	sk_error_alike(&diag, model, "one", "node 'a'", "no 1");
	sk_diag_join_alike(&diag, model, "nodes", 0);
	ck_assert_uint_eq(diag.errors, 2);
	sk_note(&diag, "it is so");
	for (int i = 0; i < 3; i++)
		sk_error_alike(&diag, text, "three", "node 'b'", "no %d", 3);
	sk_warning(&diag, model, "between");
	sk_error_alike(&diag, (struct sk_place){0}, "two", "node 'c'", "no 2");
	sk_error_alike(&diag, (struct sk_place){0}, "two", "node 'd'", "no 2");
	sk_error_alike(&diag, model, "last", "node 'e'", "no 4");
	sk_error(&diag, model, "end");
	sk_diag_join_alike(&diag, model, "nodes", 3);
	ck_assert_uint_eq(diag.errors, 3);
	sk_note(&diag, "of the end");
	expect_messages("t: error: m: first\n"
			"t: error: m: 7 nodes cannot be linked, for 4 reasons, the most frequent first\n"
			">>> m:4:2: node 'b' and 2 more: no 3\n>>> node 'c' and 1 more: no 2\n>>> node 'a': no 1\n"
			">>>   it is so\n>>> 1 more reason (--error-limit=0 shows all)\n"
			"t: warning: m: between\nt: error: m: end\n>>> of the end\n");
}
END_TEST

/* Messages that are taken back leave no trace: later notes belong to the message before, and later errors are not
 * counted as alike to them. */
START_TEST(test_taken_back)
{
	struct sk_diag before;

	sk_warning(&diag, (struct sk_place){0}, "first");
	before = diag;
	for (int i = 0; i < 1000; i++) {
		const char *key = sk_arena_print(arena, "key %d", i);

		sk_error_alike(&diag, (struct sk_place){0}, key, "a", "alike");
	}
	sk_warning(&diag, (struct sk_place){0}, "second");
	sk_diag_take_back(&diag, &before);
	ck_assert_uint_eq(diag.errors, 0);
	ck_assert_uint_eq(diag.warnings, 1);
	sk_note(&diag, "about the first");
	ck_assert(sk_error_alike(&diag, (struct sk_place){0}, "key 1", "b", "alike"));
	ck_assert(!sk_error_alike(&diag, (struct sk_place){0}, "key 1", "c", "alike"));
	expect_messages("t: warning: first\n>>> about the first\nt: error: b and 1 more: alike\n");
}
END_TEST

/* All suggestions come from here. */
START_TEST(test_suggestions)
{
	static const char *const names[] = {"scale", "scales", "shift"};

	ck_assert_str_eq(sk_did_you_mean(arena, "scalle", names, 3), "; did you mean 'scale'?");
	ck_assert_str_eq(sk_did_you_mean(arena, "scale", names, 1), "");
	ck_assert_str_eq(sk_did_you_mean(arena, "scale", names, 3), "; did you mean 'scales'?");
	ck_assert_str_eq(sk_did_you_mean(arena, "product", names, 3), "");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("diag");
	TCase *tcase = tcase_create("places");

	tcase_add_checked_fixture(tcase, open_sink, close_sink);
	tcase_add_test(tcase, test_origins);
	tcase_add_test(tcase, test_no_origin);
	tcase_add_test(tcase, test_alike);
	tcase_add_test(tcase, test_joined);
	tcase_add_test(tcase, test_muted);
	tcase_add_test(tcase, test_taken_back);
	tcase_add_test(tcase, test_suggestions);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
