/* Files of switches: both forms, precedence, and errors. */
#include <check.h>
#include <string.h>

#include "base/arena.h"
#include "graph/manager/manager.h"
#include "tests/lib/sink.h"
#include "tests/lib/suite.h"

static struct sk_switches *parse(const char *text)
{
	struct sk_switches *switches = SK_NEW(arena, struct sk_switches);

	sk_switches_init(switches, arena);
	return sk_switches_parse(arena, &diag, "S", text, strlen(text), switches) ? switches : NULL;
}

static struct sk_switches *accept(const char *text)
{
	struct sk_switches *switches = parse(text);

	expect_messages("");
	ck_assert_ptr_nonnull(switches);
	return switches;
}

static void refuse(const char *text, const char *messages)
{
	ck_assert_ptr_null(parse(text));
	expect_messages(messages);
}

static bool graph(const struct sk_switches *switches, const char *name, bool otherwise)
{
	return sk_switch_is_on(switches, SK_SWITCH_GRAPH, name, otherwise);
}

static bool ub(const struct sk_switches *switches, const char *name, bool otherwise)
{
	return sk_switch_is_on(switches, SK_SWITCH_UB, name, otherwise);
}

START_TEST(named_beats_all)
{
	struct sk_switches *switches = accept("{\"Switch\": {\"GraphFusion\": {\"b\": \"on\", \"ALL\": \"off\"},"
					      " \"UBFusion\": {\"c\": \"off\"}}}");

	ck_assert(!graph(switches, "a", true) && graph(switches, "b", false) && !graph(switches, "c", true));
	/* For the other kind, only the named pass changes; all others keep their default. */
	ck_assert(ub(switches, "a", true) && !ub(switches, "a", false) && !ub(switches, "c", true));
	switches = accept("{Switch: {GraphFusion: {ALL: on, b: off}}}");
	ck_assert(graph(switches, "a", false) && !graph(switches, "b", true) && !ub(switches, "a", false));
	ck_assert(graph(NULL, "a", true) && !graph(NULL, "a", false));
}
END_TEST

START_TEST(exceptions_stay_on)
{
	struct sk_switches *switches = accept("{\"Switch\": {\"GraphFusion\": {\"ALL\": \"off\", \"b\": \"off\"}},"
					      " \"ExceptionalPassOfO1Level\": [\"a\", \"b\"]}");

	ck_assert(graph(switches, "a", false) && graph(switches, "b", true) && !graph(switches, "c", true));
}
END_TEST

START_TEST(lines_are_of_both_kinds)
{
	struct sk_switches *switches = accept("a:off\n\n  b : on \r\nALL:off");

	ck_assert(!graph(switches, "a", true) && !ub(switches, "a", true));
	ck_assert(graph(switches, "b", false) && ub(switches, "b", false));
	ck_assert(!graph(switches, "c", true) && !ub(switches, "c", true));
}
END_TEST

START_TEST(priorities)
{
	struct sk_switches *switches =
		parse("{\"Switch\": {}, \"Priority\": {\"GraphFusion\": {\"Top\": {\"a\": \"0\"},"
		      " \"Main\": {\"b\": 1999}, \"Down\": {\"c\": \"2000\"}}}}");

	ck_assert_ptr_nonnull(switches);
	expect_messages("t: warning: S:1:28: 'Priority' has no effect: passes run in an order that is settled\n");
	ck_assert_ptr_null(parse("{\"Switch\": {}, \"Priority\": {\"UBFusion\": {\"Top\": {\"a\": \"1000\"}}}}"));
	expect_messages("t: error: S:1:55: the priority of pass 'a' must be an integer from 0 to 999, not '1000'\n"
			"t: warning: S:1:28: 'Priority' has no effect: passes run in an order that is settled\n");
}
END_TEST

START_TEST(malformed_json)
{
	refuse("{\"Switch\": {\"GraphFusion\": {\"a\": \"on\", \"a\": \"off\"}}}",
	       "t: error: S:1:40: duplicate key 'a'\n>>> first given at S:1:29\n");
	refuse("{\"Switch\": {\"GraphFusion\": {\"a\": \"onn\"}}}",
	       "t: error: S:1:34: the switch of pass 'a' must be off or on, not 'onn'; did you mean 'on'?\n");
	refuse("{\"Switch\": {\"GraphFusion\": {\"a\": true, \"\": \"on\"}}}",
	       "t: error: S:1:34: the switch of pass 'a' must be off or on, not 'true'\n"
	       "t: error: S:1:40: a pass has no name\n");
	refuse("{\"Switch\": {\"GraphFusion\": [\"a\"]}}",
	       "t: error: S:1:28: the switches of 'GraphFusion' must be a map, not a list\n");
	refuse("{\"Switch\": {\"GraphFussion\": {}}}",
	       "t: error: S:1:13: unknown key 'GraphFussion' in 'Switch'; did you mean 'GraphFusion'?\n");
	refuse("{\"GraphFusion\": {\"a\": \"on\"}}", "t: error: S:1:2: unknown key 'GraphFusion' in the switch file\n"
						     "t: error: S:1:1: the switch file has no 'Switch'\n");
	refuse("{\"Switch\": {}, \"ExceptionalPassOfO1Level\": \"a\"}",
	       "t: error: S:1:44: 'ExceptionalPassOfO1Level' must be a list, not 'a'\n");
	ck_assert_ptr_null(parse("{\"Switch\": {\"GraphFusion\""));
	ck_assert_uint_eq(diag.errors, 10);
}
END_TEST

START_TEST(malformed_lines)
{
	refuse("a:on\nb\n\na:off\nc: of\n:on\n",
	       "t: error: S:2:1: the line 'b' has no ':'; it should be PASS:on or PASS:off\n"
	       "t: error: S:4:1: pass 'a' has two switches\n>>> first given at S:1:1\n"
	       "t: error: S:5:4: the switch of pass 'c' must be on or off, not 'of'\n"
	       "t: error: S:6:1: a pass has no name\n");
	refuse("", "t: error: S: the switch file is empty\n");
	refuse(" \n\t\n", "t: error: S: the switch file is empty\n");
	ck_assert(!sk_switches_parse(arena, &diag, "S", "a:on\0", 5, accept("a:on")));
	expect_messages("t: error: S: not a text file: a NUL character stands in it\n");
}
END_TEST

START_TEST(names)
{
	sk_texts known[SK_SWITCH_KINDS] = {{0}};
	struct sk_switches *switches =
		accept("{\"Switch\": {\"GraphFusion\": {\"ALL\": \"on\", \"swiglu\": \"on\", \"swigluu\": \"on\","
		       " \"virtual\": \"on\"}, \"UBFusion\": {\"virtual\": \"on\", \"x\": \"off\"}},"
		       " \"ExceptionalPassOfO1Level\": [\"virtuel\"]}");

	sk_array_push(arena, &known[SK_SWITCH_GRAPH], "swiglu");
	sk_array_push(arena, &known[SK_SWITCH_UB], "virtual");
	sk_switches_check_names(&diag, switches, known);
	expect_messages(
		"t: warning: S:1:58: unknown pass 'swigluu' of GraphFusion; its switch changes nothing; did you mean "
		"'swiglu'?\n"
		"t: warning: S:1:75: unknown pass 'virtual' of GraphFusion; its switch changes nothing; it is one of "
		"UBFusion\n"
		"t: warning: S:1:123: unknown pass 'x' of UBFusion; its switch changes nothing\n"
		"t: warning: S:1:166: unknown pass 'virtuel'; its switch changes nothing; did you mean 'virtual'?\n");
	sk_switches_check_names(&diag, accept("swiglu:on\nvirtual:off\nALL:on"), known);
	sk_switches_check_names(&diag, NULL, known);
	expect_messages("");
}
END_TEST

/* ---- beside levels and flags ---- */

static enum sk_pass_result nothing(struct sk_op_graph *op_graph, const struct sk_fusion_flags *flags)
{
	(void)op_graph;
	(void)flags;
	return SK_PASS_UNCHANGED;
}

static const struct sk_graph_pass table[] = {
	{"fusion_group", "a", 0, nothing},
	{"preprocess", "cse", 1, nothing},
	{"cluster", "never", SK_LEVEL_NEVER, nothing},
	{"split", "cse", 1, nothing},
	{0},
};

/* Passes that are on, by place. */
static void expect_on(const char *text, const char *enable, const char *disable, const char *on)
{
	struct sk_fusion_flags flags = {.opt_level = 0, .place = {.file = "E"}, .switches = accept(text)};
	sk_pass_choices choices;
	char found[8] = "", *end = found;

	if (enable)
		sk_array_push(arena, &flags.enable_pass, enable);
	if (disable)
		sk_array_push(arena, &flags.disable_pass, disable);
	choices = sk_passes_choose(arena, &diag, table, &flags);
	for (size_t i = 0; i < choices.count; i++)
		if (choices.items[i].on)
			*end++ = (char)('0' + i);
	ck_assert_str_eq(found, on);
	expect_messages("");
}

START_TEST(levels_and_flags)
{
	expect_on("other:on", NULL, NULL, "0"); /* as the level has it */
	expect_on("a:off\nnever:on\ncse:on", NULL, NULL, "123");
	expect_on("ALL:on", NULL, NULL, "0123");
	expect_on("ALL:off", NULL, NULL, "");
	/* Flags that name a pass beat the file. */
	expect_on("ALL:off", "split.cse", NULL, "3");
	expect_on("a:off", "a", NULL, "0");
	expect_on("cse:on", NULL, "0.0", "03");
	expect_on("{Switch: {}, ExceptionalPassOfO1Level: [a, cse]}", NULL, "split.cse", "01");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("switches");
	TCase *test_case = tcase_create("switches");

	tcase_add_checked_fixture(test_case, open_sink, close_sink);
	tcase_add_test(test_case, named_beats_all);
	tcase_add_test(test_case, exceptions_stay_on);
	tcase_add_test(test_case, lines_are_of_both_kinds);
	tcase_add_test(test_case, priorities);
	tcase_add_test(test_case, malformed_json);
	tcase_add_test(test_case, malformed_lines);
	tcase_add_test(test_case, names);
	tcase_add_test(test_case, levels_and_flags);
	suite_add_tcase(suite, test_case);
	return run_suite(suite);
}
