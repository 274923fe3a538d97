/* The grammar of graph-kernel fusion's flags: words, values, defaults, and warnings. */
#include <check.h>
#include <string.h>

#include "base/arena.h"
#include "graph/manager/manager.h"
#include "tests/lib/sink.h"
#include "tests/lib/suite.h"

#define HINT                                                                                                           \
	" is invalid. Valid flag format is \"--key=value\", flags are separated by spaces(e.g. \"--key1=value1 "       \
	"--key2=value2\"). bool flag's value can be implicit, the \"--key\" means \"--key=true\"\n"

static struct sk_fusion_flags read_for(enum sk_fusion_target target, const char *text)
{
	struct sk_flags_text flags_text = {text, {.file = "E", .line = 1, .column = 1}, true};
	struct sk_fusion_flags flags;

	sk_fusion_flags_read(arena, &diag, flags_text, target, &flags);
	return flags;
}

static struct sk_fusion_flags read_flags(const char *text)
{
	return read_for(SK_TARGET_HOST, text);
}

/* The list with commas between its items. */
static const char *joined(const sk_texts *list)
{
	const char *text = "";

	for (size_t i = 0; i < list->count; i++)
		text = sk_arena_print(arena, "%s%s%s", text, i ? "," : "", list->items[i]);
	return text;
}

/* ---- defaults ---- */

START_TEST(defaults)
{
	struct sk_fusion_flags flags = read_flags("");

	ck_assert_uint_eq(flags.opt_level, 2);
	ck_assert(!flags.dump_as_text && !flags.enable_stitch_fusion && flags.enable_recompute_fusion);
	ck_assert(!flags.enable_parallel_fusion && !flags.enable_debug_mode && flags.exact_precision_mode);
	ck_assert_int_eq(flags.reduce_fuse_depth, -1);
	ck_assert_int_eq(flags.composite_op_limit_size, 200);
	ck_assert_int_eq(flags.cpu_refer_thread_num, 8);
	ck_assert_int_eq(flags.fusion_ops_level, 1);
	ck_assert_str_eq(flags.target_os, "linux");
	ck_assert_str_eq(flags.kernel_generator, "AKG");
	ck_assert_str_eq(flags.repository_path, "");
	ck_assert_uint_eq(flags.enable_expand_ops.count, 0);
	ck_assert(!flags.given && !read_flags("--dump_as_text --enable_debug_mode").given);
	ck_assert(read_flags("--dump_as_text --opt_level=2").given);
	ck_assert(!read_flags("--disable_pass=1.3").given && read_flags("--enable_pass=1.3").given);
	flags = read_for(SK_TARGET_ASCEND, "");
	ck_assert_int_eq(flags.fusion_ops_level, 0);
	ck_assert_str_eq(flags.kernel_generator, "DVM");
	expect_messages("");
}
END_TEST

/* opt_level is read first, wherever it is. */
START_TEST(level_decides_defaults)
{
	struct sk_fusion_flags flags = read_flags("--enable_stitch_fusion=off --opt_level=3");

	ck_assert_uint_eq(flags.opt_level, 3);
	ck_assert(!flags.enable_stitch_fusion && flags.enable_parallel_fusion && flags.enable_recompute_fusion);
	flags = read_flags("--opt_level=1");
	ck_assert(!flags.enable_recompute_fusion && !flags.enable_parallel_fusion);
	flags = read_flags("--opt_level=0");
	ck_assert_uint_eq(flags.opt_level, 0);
	expect_messages("");
	flags = read_flags("--opt_level=4");
	ck_assert_uint_eq(flags.opt_level, 3);
	ck_assert(flags.enable_stitch_fusion);
	expect_messages("t: warning: E:1:1: the flag --opt_level=4 is above the highest level; it is 3\n");
	ck_assert_uint_eq(read_flags("--opt_level=-1").opt_level, 2);
	expect_messages("t: warning: E:1:1: the flag --opt_level=-1" HINT);
	ck_assert_uint_eq(read_flags("--opt_level").opt_level, 2);
	expect_messages("t: warning: E:1:1: the flag --opt_level=" HINT);
}
END_TEST

/* ---- words ---- */

START_TEST(spaces_separate)
{
	struct sk_fusion_flags flags = read_flags("   --dump_as_text    --enable_debug_mode=on  ");

	ck_assert(flags.dump_as_text && flags.enable_debug_mode);
	expect_messages("");
	flags = read_flags("--dump_as_text\t--enable_debug_mode");
	ck_assert(!flags.dump_as_text && !flags.enable_debug_mode);
	expect_messages("t: warning: E:1:1: unknown flag: dump_as_text\\x09--enable_debug_mode\n"
			">>> the flags listed above are invalid; for valid flags, see sk-fusion-flags(5)\n");
}
END_TEST

START_TEST(bad_words_are_left_out)
{
	struct sk_fusion_flags flags =
		read_flags("dump_as_text -- - --opt_level= --online --enable_pass=a=b --opt_level=1");

	ck_assert(!flags.dump_as_text);
	ck_assert_uint_eq(flags.opt_level, 1); /* the one that is invalid does not count */
	ck_assert_uint_eq(flags.enable_pass.count, 0);
	expect_messages("t: warning: E:1:1: the flag 'dump_as_text'" HINT "t: warning: E:1:14: the flag '--'" HINT
			"t: warning: E:1:17: the flag '-'" HINT "t: warning: E:1:19: the flag '--opt_level='" HINT
			"t: warning: E:1:41: the flag '--enable_pass=a=b'" HINT
			"t: warning: E:1:32: unknown flag: online\n"
			">>> the flags listed above are invalid; for valid flags, see sk-fusion-flags(5)\n");
}
END_TEST

/* A key is never empty: a leading "=" belongs to it. */
START_TEST(equals_in_front)
{
	read_flags("--=x");
	expect_messages("t: warning: E:1:1: unknown flag: =x\n"
			">>> the flags listed above are invalid; for valid flags, see sk-fusion-flags(5)\n");
	read_flags("--=x=1");
	expect_messages("t: warning: E:1:1: unknown flag: =x\n"
			">>> the flags listed above are invalid; for valid flags, see sk-fusion-flags(5)\n");
	read_flags("--=");
	expect_messages("t: warning: E:1:1: unknown flag: =\n"
			">>> the flags listed above are invalid; for valid flags, see sk-fusion-flags(5)\n");
}
END_TEST

START_TEST(first_of_repeated_ones_stays)
{
	struct sk_fusion_flags flags = read_flags("--opt_level=1 --dump_as_text=x --opt_level=3 --dump_as_text");

	ck_assert_uint_eq(flags.opt_level, 1);
	ck_assert(!flags.dump_as_text);
	expect_messages("t: warning: E:1:32: the flag 'opt_level' is repeated\n"
			"t: warning: E:1:46: the flag 'dump_as_text' is repeated\n"
			"t: warning: E:1:15: the flag --dump_as_text=x" HINT);
}
END_TEST

START_TEST(unknown_flags)
{
	ck_assert(!read_flags("--opt_levle=1 --enable_expand_op=Square --nonsense").given);
	expect_messages("t: warning: E:1:1: unknown flag: opt_levle; did you mean 'opt_level'?\n"
			"t: warning: E:1:15: unknown flag: enable_expand_op; did you mean 'enable_expand_ops'?\n"
			"t: warning: E:1:41: unknown flag: nonsense\n"
			">>> the flags listed above are invalid; for valid flags, see sk-fusion-flags(5)\n");
	read_flags("--Dump_as_text");
	expect_messages("t: warning: E:1:1: unknown flag: Dump_as_text; did you mean 'dump_as_text'?\n"
			">>> the flags listed above are invalid; for valid flags, see sk-fusion-flags(5)\n");
}
END_TEST

/* ---- values ---- */

START_TEST(booleans)
{
	static const char *const yes[] = {"", "=true", "=True", "=on", "=1"};
	static const char *const no[] = {"=false", "=False", "=off", "=0"};
	static const char *const bad[] = {"=TRUE", "=yes", "=2", "=01", "=t"};

	for (int i = 0; i < 5; i++)
		ck_assert(read_flags(sk_arena_print(arena, "--dump_as_text%s", yes[i])).dump_as_text);
	for (int i = 0; i < 4; i++)
		ck_assert(!read_flags(sk_arena_print(arena, "--exact_precision_mode%s", no[i])).exact_precision_mode);
	expect_messages("");
	for (int i = 0; i < 5; i++) {
		const char *text = sk_arena_print(arena, "--exact_precision_mode%s", bad[i]);

		struct sk_fusion_flags flags = read_flags(text);

		ck_assert(flags.exact_precision_mode && !flags.given);
		expect_messages(sk_arena_print(arena, "t: warning: E:1:1: the flag %s" HINT, text));
	}
}
END_TEST

START_TEST(integers)
{
	static const char *const bad[] = {"",	  "=x",	  "=5x", "=5.0", "=-5", "=99999999999999999999",
					  "=0x5", "=+-5", "=--5"};

	ck_assert_int_eq(read_flags("--composite_op_limit_size=5").composite_op_limit_size, 5);
	ck_assert_int_eq(read_flags("--composite_op_limit_size=+5").composite_op_limit_size, 5);
	ck_assert_int_eq(read_flags("--composite_op_limit_size=0").composite_op_limit_size, 0);
	expect_messages("");
	ck_assert_int_eq(read_flags("--reduce_fuse_depth=-7 -w").reduce_fuse_depth, -7);
	free(take_messages(&diag));
	for (int i = 0; i < 9; i++) {
		ck_assert_int_eq(read_flags(sk_arena_print(arena, "--composite_op_limit_size%s", bad[i]))
					 .composite_op_limit_size,
				 200);
		expect_messages(sk_arena_print(arena, "t: warning: E:1:1: the flag --composite_op_limit_size%s" HINT,
					       *bad[i] ? bad[i] : "="));
	}
}
END_TEST

START_TEST(strings)
{
	struct sk_fusion_flags flags = read_flags("--target_os=windows --cpu_arch");

	ck_assert_str_eq(flags.target_os, "windows");
	ck_assert_str_eq(flags.cpu_arch, "");
	expect_messages(
		"t: warning: E:1:21: the flag --cpu_arch=" HINT
		"t: warning: E:1:1: the flag --target_os has no effect: the machine is that of the objects that are "
		"linked\n"
		"t: warning: E:1:21: the flag --cpu_arch has no effect: the machine is that of the objects that are "
		"linked\n");
}
END_TEST

START_TEST(lists)
{
	struct sk_fusion_flags flags =
		read_flags("--enable_expand_ops=Square --disable_pass=,a,,b.c, --enable_pass=3.1,3.1");

	ck_assert_str_eq(joined(&flags.enable_expand_ops), "Square");
	ck_assert_str_eq(joined(&flags.disable_pass), "a,b.c");
	ck_assert_str_eq(joined(&flags.enable_pass), "3.1,3.1");
	expect_messages("");
	flags = read_flags("--enable_expand_ops --disable_expand_ops=,,");
	ck_assert_uint_eq(flags.enable_expand_ops.count + flags.disable_expand_ops.count, 0);
	expect_messages("t: warning: E:1:1: the flag --enable_expand_ops=" HINT
			"t: warning: E:1:21: the flag --disable_expand_ops=,," HINT);
	ck_assert(!flags.given);
}
END_TEST

/* ---- flags without effect, and the places of texts ---- */

START_TEST(flags_of_passes)
{
	struct sk_fusion_flags flags = read_flags(
		"--enable_simplify_exprs_only=1.0 --disable_simplify_exprs=2.1,2.2 --enable_fusion_pattern_only=reduce "
		"--disable_fusion_pattern=matmul_depth --recompute_increment_threshold=7 "
		"--recompute_peak_threshold=8 --disable_matmul_post_fusion");

	ck_assert_str_eq(joined(&flags.enable_simplify_exprs_only), "1.0");
	ck_assert_str_eq(joined(&flags.disable_simplify_exprs), "2.1,2.2");
	ck_assert_str_eq(joined(&flags.enable_fusion_pattern_only), "reduce");
	ck_assert_str_eq(joined(&flags.disable_fusion_pattern), "matmul_depth");
	ck_assert_int_eq(flags.recompute_increment_threshold, 7);
	ck_assert_int_eq(flags.recompute_peak_threshold, 8);
	ck_assert(flags.disable_matmul_post_fusion);
	expect_messages("");
}
END_TEST

START_TEST(no_effect_is_said_once)
{
	struct sk_fusion_flags flags = read_flags("--online_tuning=1 --online_tuning=2 --target_os=linux");

	ck_assert_int_eq(flags.online_tuning, 1);
	ck_assert_str_eq(flags.target_os, "linux");
	expect_messages(
		"t: warning: E:1:19: the flag 'online_tuning' is repeated\n"
		"t: warning: E:1:1: the flag --online_tuning has no effect: kernels are compiled before they are "
		"linked, and nothing tunes them\n"
		"t: warning: E:1:37: the flag --target_os has no effect: the machine is that of the objects that are "
		"linked\n");
}
END_TEST

START_TEST(each_without_effect_says_why)
{
	static const char *const without[][2] = {
#define NO_EFFECT(name, reason) {#name, reason},
#include "graph/manager/no-effect.def"
#undef NO_EFFECT
	};
	const char *expected = "", *text = "";
	size_t count = sizeof(without) / sizeof(without[0]);

	for (size_t i = 0; i < count; i++)
		text = sk_arena_print(arena, "%s --%s=1", text, without[i][0]);
	for (size_t i = 0; i < count; i++)
		expected =
			sk_arena_print(arena, "%st: warning: E:1:%d: the flag --%s has no effect: %s\n", expected,
				       (int)(strstr(text, sk_arena_print(arena, " --%s=", without[i][0])) - text) + 2,
				       without[i][0], without[i][1]);
	ck_assert(!read_flags(text).given);
	expect_messages(expected);
	ck_assert_uint_gt(count, 20);
}
END_TEST

START_TEST(text_of_several_lines)
{
	struct sk_flags_text text = {"--opt_level=1  --x", {.file = "m.yaml", .line = 7, .column = 9}, false};
	struct sk_fusion_flags flags;

	sk_fusion_flags_read(arena, &diag, text, SK_TARGET_HOST, &flags);
	ck_assert_uint_eq(flags.opt_level, 1);
	expect_messages("t: warning: m.yaml:7:9: unknown flag: x\n"
			">>> the flags listed above are invalid; for valid flags, see sk-fusion-flags(5)\n");
}
END_TEST

START_TEST(all_flags_as_json)
{
	struct sk_fusion_flags flags = read_flags("--opt_level=1 --enable_pass=a,b\"c --dump_as_text");
	const char *json = sk_fusion_flags_json(arena, &flags);

	ck_assert_ptr_eq(strstr(json, "{\"opt_level\": 1, \"dump_as_text\": true, \"enable_stitch_fusion\": false, "),
			 json);
	ck_assert_ptr_nonnull(strstr(json, ", \"reduce_fuse_depth\": -1, "));
	ck_assert_ptr_nonnull(strstr(json, ", \"target_os\": \"linux\", "));
	ck_assert_ptr_nonnull(strstr(json, ", \"enable_pass\": [\"a\", \"b\\\"c\"], \"disable_pass\": [], "));
	ck_assert_str_eq(json + strlen(json) - strlen("\"disable_fusion_pattern\": []}"),
			 "\"disable_fusion_pattern\": []}");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("flags");
	TCase *cases = tcase_create("texts");

	tcase_add_checked_fixture(cases, open_sink, close_sink);
	tcase_add_test(cases, defaults);
	tcase_add_test(cases, level_decides_defaults);
	tcase_add_test(cases, spaces_separate);
	tcase_add_test(cases, bad_words_are_left_out);
	tcase_add_test(cases, equals_in_front);
	tcase_add_test(cases, first_of_repeated_ones_stays);
	tcase_add_test(cases, unknown_flags);
	tcase_add_test(cases, booleans);
	tcase_add_test(cases, integers);
	tcase_add_test(cases, strings);
	tcase_add_test(cases, lists);
	tcase_add_test(cases, flags_of_passes);
	tcase_add_test(cases, no_effect_is_said_once);
	tcase_add_test(cases, each_without_effect_says_why);
	tcase_add_test(cases, text_of_several_lines);
	tcase_add_test(cases, all_flags_as_json);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
