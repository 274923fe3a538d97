/* The passes of graph-kernel fusion that run: levels, the forms in which flags name a pass, and entries without effect.
 * */
#include <check.h>
#include <string.h>

#include "base/arena.h"
#include "graph/manager/manager.h"
#include "tests/lib/sink.h"
#include "tests/lib/suite.h"

static enum sk_pass_result nothing(struct sk_op_graph *graph, const struct sk_fusion_flags *flags)
{
	(void)graph;
	(void)flags;
	return SK_PASS_UNCHANGED;
}

static const struct sk_graph_pass table[] = {
	{"fusion_group", "swiglu", 0, nothing},	   {"fusion_group", "flash", 0, NULL},
	{"preprocess", "cse", 1, nothing},	   {"cluster", "transpose_matmul", SK_LEVEL_NEVER, nothing},
	{"cluster", "expander", 1, nothing},	   {"cluster", "cluster", 1, nothing},
	{"highlevelopt1", "simplify", 2, nothing}, {"highlevelopt1", "cse", 2, nothing},
	{"combine", "parallel", 3, nothing},	   {0},
};

static sk_pass_choices choose(unsigned level, const char *enable, const char *disable)
{
	struct sk_fusion_flags flags = {.opt_level = level, .place = {.file = "E"}};

	if (enable)
		sk_array_push(arena, &flags.enable_pass, enable);
	if (disable)
		sk_array_push(arena, &flags.disable_pass, disable);
	return sk_passes_choose(arena, &diag, table, &flags);
}

/* Check the enabled passes, given as digits. */
static void expect(sk_pass_choices choices, const char *on)
{
	char text[16] = "", *end = text;

	ck_assert_uint_eq(choices.count, 9);
	for (size_t i = 0; i < choices.count; i++)
		if (choices.items[i].on)
			*end++ = (char)('0' + i);
	ck_assert_str_eq(text, on);
}

START_TEST(levels)
{
	expect(choose(0, NULL, NULL), "01");
	expect(choose(1, NULL, NULL), "01245");
	expect(choose(2, NULL, NULL), "0124567");
	expect(choose(3, NULL, NULL), "01245678");
	expect_messages("");
}
END_TEST

START_TEST(names)
{
	sk_pass_choices choices = choose(2, NULL, NULL);

	ck_assert_str_eq(choices.items[1].name, "fusion_group_1_flash");
	ck_assert_str_eq(choices.items[2].name, "stage0_preprocess_0_cse");
	ck_assert_str_eq(choices.items[5].name, "stage1_cluster_2_cluster");
	ck_assert_str_eq(choices.items[7].name, "stage2_highlevelopt1_1_cse");
	ck_assert_str_eq(choices.items[8].name, "stage5_combine_0_parallel");
}
END_TEST

/* Places are MindSpore's, with gaps for its passes that are absent. */
START_TEST(places)
{
	static const struct sk_graph_pass gaps[] = {
		{"preprocess", "cse", 1, nothing, .gap = 7},
		{"cluster", "transpose_matmul", 1, nothing},
		{"cluster", "expander", 1, nothing, .gap = 2},
		{"cluster", "basic", 1, nothing, .apart = 7},
		{"cluster", "cluster", 1, nothing},
		{"cluster", "eliminate", 1, nothing, .gap = 1},
		{"build", "own", 1, nothing, .apart = 9},
		{0},
	};
	struct sk_fusion_flags flags = {.opt_level = 2, .place = {.file = "E"}};
	sk_pass_choices choices;

	sk_array_push(arena, &flags.disable_pass, "1.3");
	choices = sk_passes_choose(arena, &diag, gaps, &flags);
	ck_assert_str_eq(choices.items[0].name, "stage0_preprocess_7_cse");
	ck_assert_str_eq(choices.items[2].name, "stage1_cluster_3_expander");
	ck_assert_str_eq(choices.items[3].name, "stage1_cluster_7_basic");
	ck_assert_str_eq(choices.items[4].name, "stage1_cluster_4_cluster");
	ck_assert_str_eq(choices.items[5].name, "stage1_cluster_6_eliminate");
	ck_assert_str_eq(choices.items[6].name, "stage6_build_9_own");
	ck_assert(!choices.items[2].on && choices.items[4].on);
	expect_messages("");
}
END_TEST

/* A name that MindSpore has and sklink has not gets another message than a misspelt one, in all forms. */
START_TEST(absent)
{
	static const char *const entries[] = {"6.5", "build.graph_kernel_build", "graph_kernel_build",
					      "stage6_build_5_graph_kernel_build", NULL};

	for (size_t i = 0; entries[i]; i++) {
		expect(choose(2, NULL, entries[i]), "0124567");
		expect_messages(
			sk_arena_print(arena,
				       "t: warning: E: graph kernel pass stage6_build_5_graph_kernel_build is "
				       "MindSpore's, and sklink does not have it: disable_pass=%s changes nothing; "
				       "see sk-passes(5)\n",
				       entries[i]));
	}
	expect(choose(2, "rms_norm_add_quant_fusion", NULL), "0124567");
	expect_messages("t: warning: E: graph kernel pass fusion_group.rms_norm_add_quant_fusion is MindSpore's, and "
			"sklink does "
			"not have it: enable_pass=rms_norm_add_quant_fusion changes nothing; see sk-passes(5)\n");
	expect(choose(2, NULL, "graph_kernel_buil"), "0124567");
	expect_messages("t: warning: E: graph kernel pass disable flag \"graph_kernel_buil\" is not valid!\n");
}
END_TEST

START_TEST(four_forms)
{
	expect(choose(2, NULL, "1.2"), "012467");
	expect(choose(2, NULL, "cluster.cluster"), "012467");
	expect(choose(2, NULL, "swiglu"), "124567");
	expect(choose(2, NULL, "fusion_group.swiglu"), "124567");
	expect(choose(2, NULL, "simplify"), "012457"); /* no other stage has the name */
	expect(choose(2, NULL, "highlevelopt1.cse"), "012456");
	expect(choose(2, NULL, "2.1"), "012456");
	expect(choose(2, "1.0", NULL), "01234567");
	expect(choose(2, "transpose_matmul", NULL), "01234567");
	expect(choose(0, "cluster.expander", NULL), "014");
	expect(choose(2, "combine.parallel", NULL), "01245678");
	expect(choose(2, NULL, "stage1_cluster_2_cluster"), "012467");
	expect(choose(2, NULL, "fusion_group_0_swiglu"), "124567");
	expect(choose(2, "stage1_cluster_0_transpose_matmul", NULL), "01234567");
	expect_messages("");
}
END_TEST

START_TEST(entries_in_vain)
{
	expect(choose(2, NULL, "cse"), "0124567");
	expect_messages(
		"t: warning: E: graph kernel pass disable flag \"cse\" is not valid!; 2 stages have a pass of that "
		"name: say STAGE.cse\n");
	expect(choose(2, "simplify", NULL), "0124567");
	expect_messages(
		"t: warning: E: graph kernel pass enable flag \"simplify\" is not valid!; the pass is on without "
		"it\n");
	expect(choose(2, NULL, "parallel"), "0124567");
	expect_messages(
		"t: warning: E: graph kernel pass disable flag \"parallel\" is not valid!; the pass is off without "
		"it\n");
	expect(choose(2, NULL, "cluster.expnder"), "0124567");
	expect_messages("t: warning: E: graph kernel pass disable flag \"cluster.expnder\" is not valid!; did you mean "
			"'cluster.expander'?\n");
	expect(choose(2, "1.3", "01.1"), "0124567");
	expect_messages("t: warning: E: graph kernel pass enable flag \"1.3\" is not valid!\n"
			"t: warning: E: graph kernel pass disable flag \"01.1\" is not valid!\n");
	expect(choose(2, NULL, "9.0"), "0124567"); /* the group has no number */
	expect_messages("t: warning: E: graph kernel pass disable flag \"9.0\" is not valid!\n");
}
END_TEST

START_TEST(pass_without_rule)
{
	expect(choose(2, "flash", NULL), "0124567");
	expect_messages(
		"t: warning: E: graph kernel pass fusion_group_1_flash has no rule here, and changes nothing\n");
	expect(choose(2, NULL, "flash"), "024567");
	expect_messages("");
}
END_TEST

/* A pass that is off by its level is only looked for among the enabled ones. */
START_TEST(enabled_and_disabled)
{
	expect(choose(2, "parallel", "parallel"), "01245678");
	expect_messages(
		"t: warning: E: graph kernel pass disable flag \"parallel\" is not valid!; the pass is off without "
		"it\n");
	expect(choose(2, "simplify", "simplify"), "012457");
	expect_messages(
		"t: warning: E: graph kernel pass enable flag \"simplify\" is not valid!; the pass is on without "
		"it\n");
}
END_TEST

START_TEST(entries_that_are_there_twice)
{
	struct sk_fusion_flags flags = {.opt_level = 2, .place = {.file = "E"}};
	static const struct sk_graph_pass twice[] = {
		{"cluster", "a", 0, nothing}, {"cluster", "b", 0, nothing}, {"cluster", "a", 0, nothing}, {0}};
	sk_pass_choices choices;

	sk_array_push(arena, &flags.disable_pass, "nothing");
	sk_array_push(arena, &flags.disable_pass, "cluster.a");
	sk_array_push(arena, &flags.disable_pass, "nothing");
	choices = sk_passes_choose(arena, &diag, twice, &flags);
	ck_assert(!choices.items[0].on && choices.items[1].on && !choices.items[2].on);
	expect_messages("t: warning: E: graph kernel pass disable flag \"nothing\" is not valid!\n"
			"t: warning: E: More than one graph kernel pass disable by cluster.a!\n");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("choose");
	TCase *cases = tcase_create("passes");

	tcase_add_checked_fixture(cases, open_sink, close_sink);
	tcase_add_test(cases, levels);
	tcase_add_test(cases, names);
	tcase_add_test(cases, places);
	tcase_add_test(cases, absent);
	tcase_add_test(cases, four_forms);
	tcase_add_test(cases, entries_in_vain);
	tcase_add_test(cases, pass_without_rule);
	tcase_add_test(cases, enabled_and_disabled);
	tcase_add_test(cases, entries_that_are_there_twice);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
