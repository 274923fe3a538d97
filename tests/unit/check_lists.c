/* Lists of operators of graph-kernel fusion: the default ones by target and level, and the effect of flags on them. */
#include <check.h>
#include <string.h>

#include "base/arena.h"
#include "graph/graph.h"
#include "graph/manager/manager.h"
#include "tests/lib/sink.h"
#include "tests/lib/suite.h"

static struct sk_fusion_flags flags_of(enum sk_fusion_target target)
{
	return (struct sk_fusion_flags){.target = target, .fusion_ops_level = target == SK_TARGET_ASCEND ? 0 : 1};
}

static bool has(const struct sk_fusion_flags *flags, enum sk_list_kind kind, const char *op, const char *origin)
{
	struct sk_graph_node node = {.op = op, .domain = "", .origin = origin};

	return sk_op_list_has(sk_valid_ops(arena, flags, kind), &node);
}

static void add(sk_texts *list, const char *name)
{
	sk_array_push(arena, list, name);
}

/* ---- default lists ---- */

static const struct default_row {
	enum sk_list_kind kind;
	const char *name, *columns;
} default_rows[] = {
#define EXPAND(NAME, COLUMNS)  {SK_LIST_EXPAND, NAME, COLUMNS},
#define CLUSTER(NAME, COLUMNS) {SK_LIST_CLUSTER, NAME, COLUMNS},
#include "tests/unit/default-lists.def"
};

START_TEST(defaults_are_those_of_the_document)
{
	static const enum sk_fusion_target targets[] = {SK_TARGET_ASCEND, SK_TARGET_CPU, SK_TARGET_GPU};
	size_t count = sizeof(default_rows) / sizeof(default_rows[0]);

	ck_assert_uint_eq(count, 83 + 60);
	for (size_t i = 0; i < count; i++)
		for (int t = 0; t < 3; t++) {
			const struct default_row *row = &default_rows[i];
			struct sk_fusion_flags flags = flags_of(targets[t]);
			/* RealDiv is the same operator, and in the list. */
			bool merged = row->kind == SK_LIST_CLUSTER && t == 1 && !strcmp(row->name, "Div");

			ck_assert_msg(has(&flags, row->kind, row->name, NULL) == (row->columns[t] == 'Y' || merged),
				      "%s in column %d", row->name, t);
		}
}
END_TEST

START_TEST(host_expands_nothing_and_clusters_anything)
{
	struct sk_fusion_flags flags = flags_of(SK_TARGET_HOST);

	ck_assert(!has(&flags, SK_LIST_EXPAND, "Gelu", NULL));
	ck_assert(has(&flags, SK_LIST_CLUSTER, "Softmax", NULL));
	ck_assert(has(&flags, SK_LIST_CLUSTER, "MatMul", NULL));
}
END_TEST

START_TEST(levels_decide)
{
	struct sk_fusion_flags flags = flags_of(SK_TARGET_ASCEND);

	ck_assert(!has(&flags, SK_LIST_CLUSTER, "Reshape", NULL));
	ck_assert(!has(&flags, SK_LIST_CLUSTER, "MatMul", NULL));
	ck_assert(!has(&flags, SK_LIST_EXPAND, "Squeeze", NULL));
	flags.fusion_ops_level = 1;
	ck_assert(has(&flags, SK_LIST_CLUSTER, "Reshape", NULL));
	ck_assert(has(&flags, SK_LIST_EXPAND, "Squeeze", NULL));
	flags = flags_of(SK_TARGET_GPU);
	flags.fusion_ops_level = 2;
	ck_assert(has(&flags, SK_LIST_CLUSTER, "ArgMax", NULL));
	flags.fusion_ops_level = 0;
	ck_assert(!has(&flags, SK_LIST_EXPAND, "Softmax", NULL));
	ck_assert(has(&flags, SK_LIST_EXPAND, "LogSoftmax", NULL));
	flags.fusion_ops_level = -1;
	ck_assert(!has(&flags, SK_LIST_EXPAND, "LogSoftmax", NULL));
}
END_TEST

/* ---- flags ---- */

START_TEST(lists_combine)
{
	struct sk_fusion_flags flags = flags_of(SK_TARGET_CPU);

	add(&flags.enable_expand_ops, "Softmax");
	add(&flags.enable_expand_ops, "Erf");
	add(&flags.disable_expand_ops, "Square");
	add(&flags.disable_expand_ops, "Erf");
	ck_assert(has(&flags, SK_LIST_EXPAND, "Softmax", NULL));
	ck_assert(has(&flags, SK_LIST_EXPAND, "Tile", NULL));
	ck_assert(!has(&flags, SK_LIST_EXPAND, "Square", NULL));
	ck_assert(!has(&flags, SK_LIST_EXPAND, "Erf", NULL)); /* disabling beats enabling */
	ck_assert(!has(&flags, SK_LIST_CLUSTER, "Softmax", NULL)); /* the other list */

	add(&flags.enable_expand_ops_only, "Square");
	ck_assert(has(&flags, SK_LIST_EXPAND, "Square", NULL)); /* it ignores the flag that disables it */
	ck_assert(!has(&flags, SK_LIST_EXPAND, "Softmax", NULL));
	ck_assert(!has(&flags, SK_LIST_EXPAND, "Tile", NULL));
	ck_assert(has(&flags, SK_LIST_CLUSTER, "Add", NULL));

	add(&flags.enable_cluster_ops, "MatMul");
	ck_assert(has(&flags, SK_LIST_CLUSTER, "MatMul", NULL));
	add(&flags.enable_cluster_ops_only, "Mul");
	ck_assert(has(&flags, SK_LIST_CLUSTER, "Mul", NULL));
	ck_assert(!has(&flags, SK_LIST_CLUSTER, "Add", NULL));
	ck_assert(!has(&flags, SK_LIST_CLUSTER, "MatMul", NULL));
}
END_TEST

START_TEST(host_can_be_disabled)
{
	struct sk_fusion_flags flags = flags_of(SK_TARGET_HOST);

	add(&flags.disable_cluster_ops, "Softmax");
	ck_assert(!has(&flags, SK_LIST_CLUSTER, "Softmax", NULL));
	ck_assert(has(&flags, SK_LIST_CLUSTER, "Add", NULL));
}
END_TEST

/* ---- names ---- */

START_TEST(any_vocabulary_names_an_operator)
{
	struct sk_fusion_flags flags = flags_of(SK_TARGET_GPU);

	ck_assert(has(&flags, SK_LIST_EXPAND, "Relu", NULL)); /* the list has ReLU */
	ck_assert(has(&flags, SK_LIST_CLUSTER, "Where", NULL)); /* Select */
	ck_assert(has(&flags, SK_LIST_CLUSTER, "Or", "mindspore:LogicalOr"));
	add(&flags.disable_expand_ops, "Relu");
	ck_assert(!has(&flags, SK_LIST_EXPAND, "Relu", "mindspore:ReLU"));
	add(&flags.disable_cluster_ops, "SelectV2"); /* GE's name */
	ck_assert(!has(&flags, SK_LIST_CLUSTER, "Where", NULL));
	add(&flags.enable_cluster_ops, "SplitV"); /* not an alias, but the operator that the node comes from */
	ck_assert(has(&flags, SK_LIST_CLUSTER, "Split", "ge:SplitV"));
	ck_assert(!has(&flags, SK_LIST_CLUSTER, "Split", NULL));
	add(&flags.disable_cluster_ops, "add"); /* letters count */
	ck_assert(has(&flags, SK_LIST_CLUSTER, "Add", NULL));
	/* A function of the model that contains the node is not a vocabulary. */
	ck_assert(!has(&flags, SK_LIST_EXPAND, "Conv", "Softmax"));
}
END_TEST

START_TEST(unknown_names_are_warned_of)
{
	struct sk_fusion_flags flags = flags_of(SK_TARGET_CPU);

	flags.place.file = "--fusion-flags";
	add(&flags.enable_expand_ops, "Softmx");
	add(&flags.enable_expand_ops, "ReLU");
	add(&flags.disable_cluster_ops, "Nonsense");
	add(&flags.enable_cluster_ops_only, "Where");
	sk_lists_check_names(arena, &diag, &flags);
	expect_messages("t: warning: --fusion-flags: unknown operator 'Softmx' in the flag enable_expand_ops; did "
			"you mean 'Softmax'?\n"
			"t: warning: --fusion-flags: unknown operator 'Nonsense' in the flag disable_cluster_ops\n");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lists");
	TCase *cases = tcase_create("operators");

	tcase_add_checked_fixture(cases, open_sink, close_sink);
	tcase_add_test(cases, defaults_are_those_of_the_document);
	tcase_add_test(cases, host_expands_nothing_and_clusters_anything);
	tcase_add_test(cases, levels_decide);
	tcase_add_test(cases, lists_combine);
	tcase_add_test(cases, host_can_be_disabled);
	tcase_add_test(cases, any_vocabulary_names_an_operator);
	tcase_add_test(cases, unknown_names_are_warned_of);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
