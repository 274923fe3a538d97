/* Rules: the errors of their reader, the matches of their patterns, and the replacements. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators.h"
#include "graph/passes/passes.h"
#include "graph/rules/rules-parts.h"
#include "graph/rules/rules.h"
#include "tests/lib/sink.h"
#include "tests/lib/suite.h"

static struct sk_op_graph *graph;
static struct sk_rules rules;
static struct sk_rule_pass rewrite;

static void setup(void)
{
	open_sink();
	graph = sk_graph_create(arena, &diag, "m.onnx");
	memset(&rules, 0, sizeof(rules));
}

static bool read_rules(const char *text)
{
	return sk_rules_parse(arena, &diag, "r.yaml", text, strlen(text), &rules);
}

/* ---- the reader ---- */

#define RULE(PATTERN, REPLACE) "expand:\n- name: a\n  pattern: " PATTERN "\n  replace: " REPLACE "\n"
#define WHERE(CONDITION)                                                                                               \
	"expand:\n- name: a\n  pattern: y = Relu(x)\n  where: " CONDITION "\n  replace: y = Max(x, 0)\n"

static const struct {
	const char *text, *message;
} refused[] = {
	{"rules: []\n", "r.yaml:1:1: unknown key 'rules' in a file of rules"},
	{"expand: 3\n", "r.yaml:1:9: 'expand' must be a list, not '3'"},
	{"expand:\n- pattern: y = Relu(x)\n", "r.yaml:2:3: a rule has no 'name'"},
	{"expand:\n- name: a\n", "r.yaml:2:3: a rule has a 'pattern' and a replacement in 'replace'"},
	{"expand:\n- name: a\n  patern: y = Relu(x)\n",
	 "r.yaml:3:3: unknown key 'patern' in a rule; did you mean 'pattern'?"},
	{RULE("y = Relu(x)", "y = Max(x, 0)") "- name: a\n  pattern: y = Relu(x)\n  replace: y = Max(x, 0)\n",
	 "r.yaml:5:9: there is a rule 'a' already"},
	{RULE("y = Rely(x)", "y = Max(x, 0)"), "r.yaml:3:20: there is no operator 'Rely'; did you mean 'Relu'?"},
	{RULE("y = here:Relu(x)", "y = Max(x, 0)"), "r.yaml:3:25: there is no operator 'Relu' in the domain 'here'"},
	{RULE("y Relu(x)", "y = Max(x, 0)"), "r.yaml:3:14: '=' is expected here, not 'Relu'"},
	{RULE("= Relu(x)", "y = Max(x, 0)"), "r.yaml:3:12: a name is expected here: NAME = OPERATOR(OPERAND, …)"},
	{RULE("y = Relu(x", "y = Max(x, 0)"), "r.yaml:3:22: ',' is expected here, not the end"},
	{RULE("y = Relu(x) z", "y = Max(x, 0)"), "r.yaml:3:24: nothing may follow the ')'"},
	{RULE("y = Relu(*x, z)", "y = Max(z, 0)"), "r.yaml:3:27: *x is the last operand"},
	{RULE("y = Relu(x, alpha=a)", "y = Max(x, 0)"), "r.yaml:3:30: Relu has no attribute 'alpha'"},
	{RULE("y = Relu(x)", "y = Max(z, 0)"), "r.yaml:4:20: there is no 'z' in the rule"},
	{RULE("y = Relu(x)", "z = Max(x, 0)"), "r.yaml:2:3: the replacement makes nothing that the pattern makes"},
	{RULE("y = Relu(x)", "x = Max(x, 0)"), "r.yaml:4:25: there is a 'x' already"},
	{RULE("y = Relu(x)", "y = Add(x)"), "r.yaml:4:22: Add takes 2 to 2 operands, not 1"},
	{RULE("y = Relu(x)", "y = Expand(1, i64([2]))"),
	 "r.yaml:4:23: nothing else determines the type of the constant: f32(NUMBER), or like(VALUE, NUMBER)"},
	{RULE("y = Relu(x)", "y = Max(x, 3 +)"), "r.yaml:4:26: a number, a name or a list is expected here, not ')'"},
	{RULE("y = Relu(x)", "y = Max(x, sqr(3))"), "r.yaml:4:27: there is no function 'sqr'; did you mean 'sqrt'?"},
	{RULE("y = Relu(x)", "y = Max(x, 1z)"), "r.yaml:4:23: '1z' starts no number"},
	{RULE("y = Relu(x)", "y = Max(x, x + 1)"),
	 "r.yaml:4:23: 'x' is a value, not a number: value(x) is the contents of a constant"},
	{RULE("y = Relu(x)", "y = If(x)"),
	 "r.yaml:4:21: If is not an operator of one node: write the nodes that it stands for"},
	{RULE("y = Add(Relu(x), z)", "t = Relu(x)\n  outputs: t"),
	 "r.yaml:5:12: 'outputs' are names that pattern and replacement make"},
	{RULE("y = Relu(x)", "y = Max(x, 0)\n  outputs: [y, y]"), "r.yaml:5:16: 'outputs' have this name already"},
	{RULE("y = Sum(Sum(*r), *r)", "y = Neg(x)"), "r.yaml:3:31: a pattern has one *NAME at most"},
	{RULE("y = Sum(x, *r?)", "y = Neg(x)"),
	 "r.yaml:3:26: *r is any number of values, and none may be: it takes no '?'"},
	{RULE("y = Sum(x, *r)", "y = Sum(x, *r?1)"),
	 "r.yaml:4:26: *r is any number of values, and none may be: it takes no '?'"},
	{RULE("y = Sum(x, *_)", "y = Neg(x)"), "r.yaml:3:25: a name is expected after '*'"},
	{"expand:\n- name: a\n  pattern: ['y = Relu(x)', 'z = Relu(w)']\n  replace: ['y = Max(x, 0)', 'z = Max(w, "
	 "0)']\n",
	 "r.yaml:2:3: a node of the pattern shares no value with the others"},
	{RULE("['t = Relu(x)', []]", "t = Max(x, 0)"), "r.yaml:3:28: none of several lines is none at all"},
	{RULE("[['t = Relu(x)', 't = Rely(x)']]", "t = Max(x, 0)"),
	 "r.yaml:3:38: there is no operator 'Rely'; did you mean 'Relu'?"},
	{RULE("[['t = Relu(x)', 't = Elu(x, alpha=a)']]", "t = Max(x, a)"), "r.yaml:4:23: there is no 'a' in the rule"},
	{"expand:\n- name: a\n  pattern: ['t = Relu(x)', 'y = Relu(t)']\n  replace: y = Max(t, 0)\n",
	 "r.yaml:4:21: 't' goes with the pattern, and no line above makes it"},
	{WHERE("shape(z) == 1"), "r.yaml:4:16: shape is asked of a value of the pattern"},
	{WHERE("rank(x) = 1"), "r.yaml:4:18: nothing may follow the expression"},
	{WHERE("dtype(x) == 'f32"), "r.yaml:4:22: a text has no end: a ' is missing"},
	{WHERE("min(1)"), "r.yaml:4:16: min takes 2 or more operands, not 1"},
	{"expand:\n- name: a\n  pattern: y = Relu(x)\n  let: {x: 1}\n  replace: y = Max(x, 0)\n",
	 "r.yaml:4:9: the rule has this name already"},
	{"expand:\n- name: a\n  pattern: y = Relu(x)\n  compute: f16\n  replace: y = Max(x, 0)\n",
	 "r.yaml:4:12: 'compute' must be f32, not 'f16'"},
};

START_TEST(test_refused)
{
	char expected[300];

	ck_assert(!read_rules(refused[_i].text));
	snprintf(expected, sizeof(expected), "t: error: %s", refused[_i].message);

	char *messages = take_messages(&diag);

	messages[strcspn(messages, "\n")] = 0;
	ck_assert_str_eq(messages, expected);
	free(messages);
	ck_assert_uint_eq(rules.expand.count, _i == 5);
}
END_TEST

/* Deeply nested or long rules are refused before they cost anything. */
START_TEST(test_hostile)
{
	char *text = sk_arena_alloc(arena, 1, 100000);

	strcpy(text, "expand:\n- name: a\n  pattern: y = Relu(x)\n  replace: y = Neg(x)\n  where: ");
	memset(text + strlen(text), '(', 3000);
	ck_assert(!read_rules(text));
	expect_messages("t: error: r.yaml:5:51: expressions nest too deep\n");
	memset(text + strlen(text), '-', 5000);
	ck_assert(!read_rules(text));
	expect_messages("t: error: r.yaml:5:10: a line of a rule has 4096 bytes at most\n");
}
END_TEST

/* As much as doc/reference/rules.md allows, and one more. */
START_TEST(test_limits)
{
	static const struct {
		const char *front, *open, *middle, *close, *behind, *message;
		int most;
	} cases[] = {
		{"y = Relu(x)\n  where: ", "(", "1", ")", "", "expressions nest too deep", 40},
		{"y = Relu(x)\n  where: 1 == ", "[", "1", "]", "", "expressions nest too deep", 40},
		{"y = Sum(x", ", x", "", "", ")", "a node has 64 operands at most", 63},
	};
	const char *text =
		sk_arena_print(arena, "expand:\n- name: a\n  replace: y = Neg(x)\n  pattern: %s", cases[_i / 2].front);
	int count = cases[_i / 2].most + _i % 2;

	for (int i = 0; i < count; i++)
		text = sk_arena_join(arena, text, cases[_i / 2].open);
	text = sk_arena_join(arena, text, cases[_i / 2].middle);
	for (int i = 0; i < count; i++)
		text = sk_arena_join(arena, text, cases[_i / 2].close);
	ck_assert(read_rules(sk_arena_print(arena, "%s%s\n", text, cases[_i / 2].behind)) == !(_i % 2));

	char *messages = take_messages(&diag);

	ck_assert(_i % 2 ? strstr(messages, cases[_i / 2].message) != NULL : !*messages);
	free(messages);
}
END_TEST

START_TEST(test_own_rules)
{
	ck_assert(sk_rules_parse(arena, &diag, "expand.yaml", sk_expand_rules, strlen(sk_expand_rules), &rules));
	expect_messages("");
	ck_assert_uint_gt(rules.expand.count, 70);
}
END_TEST

/* ---- graphs ---- */

static uint32_t input_of(const char *name, enum sk_dtype dtype, uint64_t rows, uint64_t columns)
{
	uint32_t value = sk_graph_value(graph, name);
	struct sk_value *one = &graph->values.items[value];

	one->dtype = dtype;
	one->shaped = one->input = true;
	one->rank = 2;
	one->shape[0] = rows;
	one->shape[1] = columns;
	sk_array_push(arena, &graph->inputs, value);
	return value;
}

/* "Add a b > y": a node, and the values that it takes and makes. */
static struct sk_graph_node *add(const char *text)
{
	char *copy = sk_arena_copy(arena, text, strlen(text)), *word = strtok(copy, " ");
	struct sk_graph_node *node = sk_graph_add_node(graph, word);
	uint32_t index = (uint32_t)graph->nodes.count - 1;
	bool makes = false;

	node->version = 24;
	while ((word = strtok(NULL, " "))) {
		if (!strcmp(word, ">")) {
			makes = true;
			continue;
		}
		uint32_t value = sk_graph_value(graph, word);

		node = &graph->nodes.items[index];
		if (makes) {
			graph->values.items[value].node = index;
			sk_array_push(arena, &node->outputs, value);
		} else {
			sk_array_push(arena, &node->inputs, value);
		}
	}
	return node;
}

static void output(const char *name)
{
	uint32_t value = sk_graph_value(graph, name);

	graph->values.items[value].output = true;
	sk_array_push(arena, &graph->outputs, value);
}

static void apply(const char *text)
{
	ck_assert(read_rules(text));
	ck_assert(sk_graph_infer(graph, NULL, NULL));
	rewrite = (struct sk_rule_pass){.graph = graph, .sets = {&rules.expand, &rules.fuse}, .target = "host"};
	sk_rules_apply(&rewrite);
	expect_messages("");
}

/* Return the graph as text, after the rules: "Mul x x > y; Add y x > z". For small graphs: the text of each node is
 * copied for each node after it. */
static const char *rewritten(const char *text)
{
	const char *result = "";

	apply(text);
	for (size_t n = 0; n < graph->nodes.count; n++) {
		const struct sk_graph_node *node = &graph->nodes.items[n];

		result = sk_arena_print(arena, "%s%s%s", result, n ? "; " : "", node->op);
		for (size_t i = 0; i < node->inputs.count; i++)
			result = sk_arena_print(arena, "%s %s", result,
						sk_node_input(graph, node, i) ? sk_node_input(graph, node, i)->name
									      : "-");
		result = sk_arena_join(arena, result, " >");
		for (size_t i = 0; i < node->outputs.count; i++) {
			const struct sk_value *value = sk_node_output(graph, node, i);

			result = sk_arena_print(arena, "%s %s", result, value ? value->name : "-");
			ck_assert(!value || value->node == n);
		}
		for (size_t i = 0; i < node->inputs.count; i++)
			ck_assert(!sk_node_input(graph, node, i) || sk_node_input(graph, node, i)->node == SK_NONE ||
				  sk_node_input(graph, node, i)->node < n);
	}
	return result;
}

#define JOIN RULE("['s = Add(a, b)', 'y = Relu(s)']", "y = Max(a, b)")

START_TEST(test_one_node)
{
	input_of("x", SK_F32, 2, 3);
	add("Sigmoid x > s")->name = "the node";
	add("Relu s > y");
	output("y");
	ck_assert_str_eq(rewritten(RULE("y = Sigmoid(x)", "y = Exp(Neg(x))")),
			 "Neg x > the node/Neg.2; Exp the node/Neg.2 > s; Relu s > y");
	ck_assert_str_eq(graph->nodes.items[0].origin, "Sigmoid");
	ck_assert_str_eq(graph->nodes.items[1].name, "the node/y");
	ck_assert_uint_eq(rewrite.replaced, 1);
}
END_TEST

START_TEST(test_several_nodes)
{
	input_of("x", SK_F32, 2, 3);
	input_of("w", SK_F32, 2, 3);
	add("Add x w > s");
	add("Neg x > n");
	add("Relu s > y");
	output("y");
	output("n");
	ck_assert_str_eq(rewritten(JOIN), "Neg x > n; Max x w > y");
}
END_TEST

/* Nodes that go with the pattern may have no other user, not be an output, and not be in another stream or scope. */
START_TEST(test_near_misses)
{
	input_of("x", SK_F32, 2, 3);
	input_of("w", SK_F32, 2, 3);
	add("Add x w > s");
	add("Relu s > y")->stream = _i == 2;
	if (_i == 3)
		graph->nodes.items[0].scope = "one";
	if (_i == 0)
		add("Neg s > n");
	if (_i == 1)
		output("s");
	output("y");
	ck_assert_str_eq(rewritten(JOIN), _i == 0   ? "Add x w > s; Relu s > y; Neg s > n"
					  : _i == 4 ? "Max x w > y"
						    : "Add x w > s; Relu s > y");
	ck_assert_uint_eq(rewrite.replaced, _i == 4);
}
END_TEST

/* No match across a write: a value read after the last node of the pattern must be the value that its nodes have read.
 * A write before the pattern, after it, or to a tensor that it does not read does not matter. */
START_TEST(test_writes)
{
	static const char *const cases[][2] = {
		{"Add p x > s; sklink:Assign p w > n; Relu s > y", "Add p x > s; Assign p w > n; Relu s > y"},
		{"sklink:Assign p w > n; Add p x > s; Relu s > y", "Assign p w > n; Max p x > y"},
		{"Add p x > s; Relu s > y; sklink:AssignAdd p w > n", "Max p x > y; AssignAdd p w > n"},
		{"Add x x > s; sklink:AssignAdd p w > n; Relu s > y", "AssignAdd p w > n; Max x x > y"},
		{"Add p x > s; sklink:Assign w p > n; Relu s > y", "Assign w p > n; Max p x > y"},
		/* p=n is a state: its maker writes there */
		{"Add p x > s; Mul p w > n; Relu s > y", "Add p x > s; Mul p w > n; Relu s > y"},
		{"Mul p w > n; Add p x > s; Relu s > y", "Mul p w > n; Max p x > y"},
		{"Add x w > s; Mul p w > n; Relu s > y", "Mul p w > n; Max x w > y"},
	};
	char *text = sk_arena_copy(arena, cases[_i][0], strlen(cases[_i][0])), *rest = text, *line;

	input_of("p", SK_F32, 2, 3);
	input_of("x", SK_F32, 2, 3);
	input_of("w", SK_F32, 2, 3);
	for (line = strtok_r(text, ";", &rest); line; line = strtok_r(NULL, ";", &rest)) {
		bool own = strstr(line, "sklink:");
		struct sk_graph_node *node = add(own ? strchr(line, ':') + 1 : line);

		node->domain = own ? "sklink" : node->domain;
	}
	if (_i >= 5)
		sk_array_push(arena, &graph->states,
			      (struct sk_graph_state){sk_graph_value(graph, "p"), sk_graph_value(graph, "n"), "p=n"});
	output("y");
	output("n");
	ck_assert_str_eq(rewritten(JOIN), cases[_i][1]);
	if (!rewrite.replaced)
		ck_assert_str_eq(rewrite.refusals.items[0].reason, "'p' is written to between its nodes");
}
END_TEST

/* A value that the replacement also makes may have other users, which then come after it. */
START_TEST(test_users_between)
{
	input_of("x", SK_F32, 2, 3);
	input_of("w", SK_F32, 2, 3);
	add("Add x w > s");
	add("Neg s > n");
	add("Relu s > y");
	output("y");
	output("n");
	ck_assert_str_eq(rewritten(RULE("['s = Add(a, b)', 'y = Relu(s)']", "['s = Add(b, a)', 'y = Max(s, b)']")),
			 "Add w x > s; Neg s > n; Max s w > y");
}
END_TEST

/* A node between the nodes of a pattern cannot be both after the replacement and before it. */
START_TEST(test_not_convex)
{
	input_of("x", SK_F32, 2, 3);
	input_of("w", SK_F32, 2, 3);
	add("Add x w > s");
	add("Neg s > n");
	add("Mul s n > y");
	output("y");
	ck_assert_str_eq(rewritten(RULE("['s = Add(a, b)', 'y = Mul(s, c)']", "['s = Add(b, a)', 'y = Mul(c, s)']")),
			 "Add x w > s; Neg s > n; Mul s n > y");
	ck_assert_uint_eq(rewrite.refusals.count, 1);
	ck_assert_str_eq(rewrite.refusals.items[0].reason, "something between its nodes depends on them");
}
END_TEST

/* Two pairs, each of which is replaced by itself. The replacement of the later pair needs the b that one node of the
 * other pair makes, and makes the p that the other node needs. */
START_TEST(test_not_convex_any_more)
{
	input_of("x", SK_F32, 3, 3);
	input_of("z", SK_F32, 3, 3);
	input_of("v", SK_F32, 3, 3);
	input_of("w", SK_F32, 3, 3);
	add("MatMul x v > p");
	add("Relu p > n");
	add("MatMul z w > m");
	add("Neg m > b");
	add("MatMul n w > y");
	add("MatMul b v > q");
	output("y");
	output("q");
	ck_assert_str_eq(rewritten(RULE("['p = MatMul(a, w)', 'q = MatMul(b, w)']",
					"['c = Concat(a, b, axis=0)', 'm = MatMul(c, w)', 'p, q = Split(m, axis=0, "
					"num_outputs=2)']")),
			 "MatMul z w > m; Neg m > b; Concat x b > q/c; MatMul q/c v > q/m; Split q/m > p q; "
			 "Relu p > n; MatMul n w > y");
	ck_assert_uint_eq(rewrite.replaced, 1);
	ck_assert_str_eq(rewrite.refusals.items[0].reason, "something between its nodes depends on them");
}
END_TEST

/* The search for nodes in between takes a bounded number of steps, here one for each operand. */
START_TEST(test_too_much_between)
{
	uint32_t count = _i ? 210 : 190;

	input_of("v0", SK_F32, 2, 3);
	add("Exp v0 > e");
	output("e");
	for (uint32_t i = 0; i < count; i++) {
		const char *text = "Sum";

		for (int operand = 0; operand < 50; operand++)
			text = sk_arena_print(arena, "%s v%u", text, i);
		add(sk_arena_print(arena, "%s > v%u", text, i + 1));
	}
	add(sk_arena_print(arena, "Sub v%u v0 > y", count));
	output("y");
	apply(RULE("['e = Exp(x)', 'y = Sub(z, x)']", "['e = Exp(x)', 'y = Max(z, x)']"));
	ck_assert_uint_eq(rewrite.replaced, !_i);
	if (_i)
		ck_assert_str_eq(rewrite.refusals.items[0].reason, "too many nodes stand between its own");
}
END_TEST

/* Operands of a sum or a product may be in either order: of the anchor, further up, and in the search for users; also
 * if one order fits the node and only the other one fits the rest, or the conditions. Operands of a difference may not.
 * */
static const struct {
	const char *rule, *nodes[4], *expected;
} orders[] = {
	{RULE("['m = Mul(x, 0.5)', 'y = Add(m, w)']", "y = Max(x, w)"),
	 {"Mul half x > m", "Add w m > y"},
	 "Max x w > y"},
	{RULE("['m = Mul(x, 0.5)', 'y = Sub(m, w)']", "y = Max(x, w)"),
	 {"Mul half x > m", "Sub w m > y"},
	 "Mul half x > m; Sub w m > y"},
	{RULE("['e = Exp(a)', 'y = Add(e, b)']", "y = Max(a, b)"),
	 {"Exp x > a", "Exp w > b", "Add a b > y"},
	 "Exp w > b; Max x b > y"},
	{RULE("['n = Neg(b)', 'e = Exp(n)', 'f = Exp(a)', 'y = Add(f, e)']", "y = Max(a, b)"),
	 {"Neg x > n", "Exp n > e", "Exp w > f", "Add e f > y"},
	 "Max w x > y"},
	{RULE("y = Add(a, b)\n  where: constant(b)", "y = Max(a, b)"), {"Add half x > y"}, "Max x half > y"},
	{RULE("y = Add(a, b)\n  let: {c: constant(b)}\n  where: c", "y = Max(a, b)"),
	 {"Add half x > y"},
	 "Max x half > y"},
	{RULE("['a = Exp(x)', 'b = Add(x, 0.5)']\n  outputs: [a, b]", "['a = Neg(x)', 'b = Abs(x)']"),
	 {"Exp x > y", "Add half x > z"},
	 "Neg x > y; Abs x > z"},
	{RULE("['m = Mul(x, x)', 'y = Add(m, x)']", "y = Abs(x)"), {"Mul w w > m", "Add w m > y"}, "Abs w > y"},
};

START_TEST(test_either_order)
{
	input_of("x", SK_F32, 2, 3);
	input_of("w", SK_F32, 2, 3);
	sk_graph_new_constant(graph, "half", SK_F32, 0, NULL, &(const float){0.5F});
	for (size_t n = 0; n < 4 && orders[_i].nodes[n]; n++)
		add(orders[_i].nodes[n]);
	output("y");
	if (_i == 6)
		output("z");
	ck_assert_str_eq(rewritten(orders[_i].rule), orders[_i].expected);
}
END_TEST

/* A line of a pattern that is a list stands for one of its items: 8 rules in all here. Inputs of the other items are
 * absent. */
START_TEST(test_either_line)
{
	static const char *const inner[] = {"Mul x x > s", "Pow x two > s"};
	static const char *const scaled[] = {"Neg s > p", "Mul s w > p", "Div s w > p", "Sub s w > p"};

	input_of("x", SK_F32, 2, 3);
	input_of("w", SK_F32, 2, 3);
	sk_graph_new_constant(graph, "two", SK_F32, 0, NULL, &(const float){2});
	add(inner[_i / 4]);
	add(scaled[_i % 4]);
	add("Exp p > y");
	output("y");
	ck_assert_str_eq(rewritten("expand:\n- name: a\n  pattern:\n  - ['s = Pow(a, 2)', 's = Mul(a, a)']\n"
				   "  - [p = Neg(s), 'p = Mul(s, c)', 'p = Div(s, d)', 'p = Sub(s, b)']\n"
				   "  - y = Exp(p)\n  where: not present(b)\n"
				   "  let: {m: present(c), e: present(d)}\n  replace: y = Clip(a, c, d)\n"),
			 _i % 4 == 0   ? "Clip x - - > y"
			 : _i % 4 == 1 ? "Clip x w - > y"
			 : _i % 4 == 2 ? "Clip x - w > y"
			 : _i == 3     ? "Mul x x > s; Sub s w > p; Exp p > y"
				       : "Pow x two > s; Sub s w > p; Exp p > y");
}
END_TEST

/* Orders that all fail are as many as there are, up to a limit. */
START_TEST(test_too_many_orders)
{
	const char *lines = "'s16 = Exp(x)'";

	input_of("x", SK_F32, 2, 3);
	input_of("z", SK_F32, 2, 3);
	add("Exp x > s16");
	for (uint32_t i = 16; i--;) {
		const char *to = i ? sk_arena_print(arena, "s%u", i) : "y";

		add(sk_arena_print(arena, "Mul x z > w%u", i));
		add(sk_arena_print(arena, "Add s%u w%u > %s", i + 1, i, to));
		lines = sk_arena_print(arena, "%s, '%s = Add(s%u, Mul(a%u, b%u))'", lines, to, i + 1, i, i);
	}
	output("y");
	rewritten(sk_arena_print(
		arena, "expand:\n- name: a\n  pattern: [%s]\n  where: rank(x) == 3\n  replace: y = Neg(x)\n", lines));
	ck_assert_uint_eq(rewrite.replaced, 0);
	ck_assert_str_eq(rewrite.refusals.items[0].reason, "there are too many ways to find it");
	ck_assert_uint_le(rewrite.steps, 16 * 10100);
}
END_TEST

/* Outputs that 'outputs' leaves out go with the pattern, even if the replacement makes a value of that name. */
START_TEST(test_outputs)
{
	const char *text = sk_arena_print(
		arena, RULE("['t = Tanh(x)', 'g = Gelu(t)']", "['t = Tanh(x)', 'g = Relu(t)']\n  outputs: %s"),
		_i == 1 ? "[g, t]" : "g");

	input_of("x", SK_F32, 2, 3);
	add("Tanh x > t");
	add("Gelu t > g");
	if (_i != 2)
		add("Neg t > n");
	output("g");
	if (_i != 2)
		output("n");
	ck_assert_str_eq(rewritten(text), _i == 0   ? "Tanh x > t; Gelu t > g; Neg t > n"
					  : _i == 1 ? "Tanh x > t; Relu t > g; Neg t > n"
						    : "Tanh x > g/t; Relu g/t > g");
}
END_TEST

/* A value may be called as expressions call the target. */
START_TEST(test_value_named_target)
{
	input_of("x", SK_F32, 2, 3);
	add("Relu x > y");
	output("y");
	ck_assert_str_eq(
		rewritten(RULE("y = Relu(target)", "y = Neg(target)\n  where: target == 'host' and rank(target) == 2")),
		"Neg x > y");
}
END_TEST

/* A bound of Clip that is not constant stays a bound, and an absent bound stays absent. */
START_TEST(test_clip)
{
	const float six = 6;

	input_of("x", SK_F32, 2, 3);
	graph->values.items[input_of("low", SK_F32, 1, 1)].rank = 0;
	sk_graph_new_constant(graph, "six", SK_F32, 0, NULL, &six);
	add("Clip x low six > y");
	if (!_i)
		graph->nodes.items[0].inputs.items[1] = SK_NONE;
	output("y");
	ck_assert_str_eq(rewritten(sk_expand_rules), _i ? "Clip x low six > y" : "Min x number > y");
}
END_TEST

/* The smallest integer has no absolute value. */
START_TEST(test_shrink)
{
	struct sk_graph_node *node;

	input_of("x", _i ? SK_F32 : SK_I32, 2, 3);
	node = add("Shrink x > y");
	sk_array_push(arena, &node->attributes,
		      (struct sk_attribute){.name = "lambd", .kind = SK_ATTRIBUTE_REAL, .real = 2});
	output("y");
	ck_assert_str_eq(rewritten(sk_expand_rules), _i ? "Abs x > y/Abs.3; Greater y/Abs.3 number > y/Greater.4; "
							  "Where y/Greater.4 x number#5 > y"
							: "Shrink x > y");
}
END_TEST

/* A name that occurs twice is one value. */
START_TEST(test_repeated)
{
	input_of("x", SK_F32, 2, 3);
	input_of("w", SK_F32, 2, 3);
	add("Mul x x > y");
	add("Mul x w > z");
	output("y");
	output("z");
	ck_assert_str_eq(rewritten(RULE("y = Mul(a, a)", "y = Square(a)")), "Square x > y; Mul x w > z");
}
END_TEST

/* Two nodes that share an input alone are found through its users. */
START_TEST(test_sisters)
{
	input_of("x", SK_F32, 2, 3);
	add("Exp x > e");
	add("Tanh x > t");
	add("Neg x > n");
	output("e");
	output("t");
	output("n");
	ck_assert_str_eq(rewritten(RULE("['e = Exp(x)', 'n = Neg(x)']", "['e = Exp(x)', 'n = Sub(like(x, 0), x)']")),
			 "Tanh x > t; Exp x > e; Sub number x > n");
}
END_TEST

/* Attributes: a value, a default, a name that conditions know; attributes that the pattern does not name keep their
 * value. */
START_TEST(test_attributes)
{
	static const struct {
		const char *rule, *result;
	} cases[] = {
		{RULE("y = LeakyRelu(x, alpha=0.5)", "y = Neg(x)"), "Neg x > y; LeakyRelu x > z"},
		{RULE("y = LeakyRelu(x)", "y = Neg(x)"), "LeakyRelu x > y; Neg x > z"},
		{RULE("y = LeakyRelu(x, alpha=*)", "y = Neg(x)"), "Neg x > y; Neg x > z"},
		{RULE("y = LeakyRelu(x, alpha=a)", "y = Elu(x, alpha=a * 2)\n  where: a > 0.25"),
		 "Elu x > y; LeakyRelu x > z"},
		{RULE("y = LeakyRelu(x, alpha=a?3)", "y = Neg(x)\n  where: a == 3"), "LeakyRelu x > y; Neg x > z"},
	};

	input_of("x", SK_F32, 2, 3);
	struct sk_graph_node *node = add("LeakyRelu x > y");

	sk_array_push(arena, &node->attributes,
		      (struct sk_attribute){.name = "alpha", .kind = SK_ATTRIBUTE_REAL, .real = 0.5});
	add("LeakyRelu x > z");
	output("y");
	output("z");
	ck_assert_str_eq(rewritten(cases[_i].rule), cases[_i].result);
	if (_i == 3)
		ck_assert(sk_node_real(&graph->nodes.items[0], "alpha", 0) == 1);
}
END_TEST

/* Conditions, each true of [2, 3] f32 and false of something near it. */
START_TEST(test_conditions)
{
	static const char *const conditions[][2] = {
		{"dtype(x) == 'f32'", "dtype(x) == 'f16'"},
		{"rank(x) == 2 and not float(y) == 0", "rank(x) == 3"},
		{"shape(x) == [2, 3]", "shape(x) == [2, 4]"},
		{"shape(x)[-1] == 3", "shape(x)[2] == 3"},
		{"size(x) == product(shape(x))", "size(x) != sum([1, 2, 3])"},
		{"uses(x) == 1", "uses(x) == 2"},
		{"output(y)", "output(x)"},
		{"constant(x) == 0", "value(x) == 0"},
		{"concat([1], range(2, 4), fill(2, 7)) == [1, 2, 3, 7, 7]", "length([1, 2]) == 3"},
		{"take(shape(x), indices(shape(x) != 2)) == 3", "any([0, 0])"},
		{"min(4, 3, 5) == 3 and max([1, 9], 5) == [5, 9]", "all([1, 0])"},
		{"(-1 + 4) % 4 == 3 and -7 % 4 == 1", "2 - 3 - 4 == 3"},
		{"1 + 2 * 3 == 7 and (1 if rank(x) == 2 else 0)", "0 if rank(x) == 2 else 1"},
		{"floor(sqrt(abs(-17))) == 4 and exp(log(1)) == 1", "1 == 2 or 3 < 3 or 3 > 3"},
		{"present(x) and 3 <= 3 and 3 >= 3", "not present(x)"},
		{"target == 'host'", "target == 'cpu'"},
		{"n == 6", "n == 5"},
		{"stream(y) == 2", "stream(x) != 2"},
		{"scope(y) == 'part'", "scope(y) == ''"},
	};
	const char *text =
		sk_arena_print(arena,
			       "expand:\n- name: a\n  pattern: y = Relu(x)\n  let: {n: size(x)}\n  where: %s\n"
			       "  replace: y = Max(x, 0)\n",
			       conditions[_i / 2][_i % 2]);

	input_of("x", SK_F32, 2, 3);
	struct sk_graph_node *node = add("Relu x > y");

	node->stream = 2;
	node->scope = "part";
	output("y");
	ck_assert_str_eq(rewritten(text), _i % 2 ? "Relu x > y" : "Max x number > y");
}
END_TEST

/* The first rule that fits is applied; its result is not matched again. */
START_TEST(test_order)
{
	input_of("x", SK_F32, 2, 3);
	add("Relu x > y");
	output("y");
	ck_assert_str_eq(rewritten("expand:\n"
				   "- {name: a, pattern: y = Relu(x), where: rank(x) == 3, replace: y = Neg(x)}\n"
				   "- name: b\n  pattern: y = Relu(x)\n  variants:\n  - where: dtype(x) == 'f16'\n"
				   "    replace: y = Exp(x)\n  - replace: y = Relu(Relu(x))\n"
				   "- {name: c, pattern: y = Relu(x), replace: y = Neg(x)}\n"),
			 "Relu x > y/Relu.2; Relu y/Relu.2 > y");
}
END_TEST

/* A replacement must not have another type or shape, and must be computable. */
START_TEST(test_misfits)
{
	static const struct {
		const char *replace, *reason;
	} cases[] = {
		{"y = Greater(x, 0)", "'y' would be bool [2, 3], and is f32 [2, 3]"},
		{"y = ReduceSum(x)", "'y' would be f32 [1, 1], and is f32 [2, 3]"},
		{"y = Reshape(x, i64([4, 2]))", NULL},
		{"y = Max(x, sqrt(-1) > 0 or 1e300)", NULL},
		{"y = Expand(x, x)", NULL},
		{"y = Elu(x, alpha=[1, 2])", "attribute 'alpha' is one number"},
		{"y = Softmax(x, axis=0.5)", "attribute 'axis' is not an integer"},
		{"y = Max(x, shape(x)[7])", "a list has no such item"},
	};
	const char *text = sk_arena_print(arena, RULE("y = Relu(x)", "%s"), cases[_i].replace);

	input_of("x", SK_F32, 2, 3);
	add("Relu x > y");
	output("y");
	ck_assert_str_eq(rewritten(text), _i == 3 ? "Max x number > y" : "Relu x > y");
	ck_assert_uint_eq(rewrite.refusals.count, _i != 3);
	if (cases[_i].reason)
		ck_assert_str_eq(rewrite.refusals.items[0].reason, cases[_i].reason);
}
END_TEST

/* Half-precision values are computed as f32, and others as they are. */
START_TEST(test_compute)
{
	enum sk_dtype dtype = _i ? SK_F64 : SK_BF16;

	input_of("x", dtype, 2, 3);
	add("Sigmoid x > y");
	output("y");
	ck_assert_str_eq(rewritten(RULE("y = Sigmoid(x)", "y = Mul(x, Add(x, 1))\n  compute: f32")),
			 _i ? "Add x number > y/Add.2; Mul x y/Add.2 > y"
			    : "Cast x > y/cast; Add y/cast number > y/Add.2; Mul y/cast y/Add.2 > y/y; Cast y/y > y");
	ck_assert_int_eq(graph->values.items[sk_graph_value(graph, "number")].dtype, _i ? SK_F64 : SK_F32);
}
END_TEST

/* Unused outputs of a node are left out; optional operands, and any number of them. */
START_TEST(test_operands)
{
	input_of("x", SK_F32, 2, 3);
	input_of("w", SK_F32, 2, 3);
	add("Sum x w x w > y");
	add("Clip w x > z");
	output("y");
	output("z");
	ck_assert_str_eq(rewritten("expand:\n- {name: a, pattern: 'y = Sum(x, *rest)', where: count(rest) == 3, "
				   "replace: 'y = Mul(x, *rest)'}\n"
				   "- {name: b, pattern: 'y = Clip(x, low?, high?)', where: not present(high), "
				   "replace: 'y = Clip(x, low?1, high?7)'}\n"),
			 "Mul x w > y/fold; Mul y/fold x > y/fold#7; Mul y/fold#7 w > y; Clip w x number > z");
}
END_TEST

/* Constants in patterns are compared as f32. */
START_TEST(test_constants)
{
	const float numbers[2] = {0.1F, 0.2F};

	input_of("x", SK_F32, 2, 3);
	sk_graph_new_constant(graph, "tenth", SK_F32, 0, NULL, &numbers[0]);
	sk_graph_new_constant(graph, "fifth", SK_F32, 0, NULL, &numbers[1]);
	add("Mul x tenth > y");
	add("Mul x fifth > z");
	output("y");
	output("z");
	ck_assert_str_eq(rewritten(RULE("y = Mul(x, 0.1)", "y = Div(x, 10)")), "Div x number > y; Mul x fifth > z");
}
END_TEST

/* An integer that double precision may have rounded is none. */
START_TEST(test_largest_integer)
{
	input_of("x", SK_I64, 2, 3);
	add("Relu x > y");
	add("Neg x > z");
	output("y");
	output("z");
	ck_assert_str_eq(
		rewritten("expand:\n- {name: a, pattern: 'y = Relu(x)', replace: 'y = Sub(x, 9007199254740993)'}\n"
			  "- {name: b, pattern: 'y = Neg(x)', replace: 'y = Sub(x, 9007199254740991)'}\n"),
		"Relu x > y; Sub x number > z");
}
END_TEST

/* Integers are compared as they are: f32 does not know all of them. */
START_TEST(test_integers)
{
	const int32_t numbers[2] = {16777216, 16777217};

	input_of("x", SK_I32, 2, 3);
	sk_graph_new_constant(graph, "even", SK_I32, 0, NULL, &numbers[0]);
	sk_graph_new_constant(graph, "odd", SK_I32, 0, NULL, &numbers[1]);
	add("Mul x even > y");
	add("Mul x odd > z");
	for (int i = 0; i < 2; i++)
		sk_node_set_integer(graph, add(i ? "Mod y x > v" : "Mod y z > w"), "fmod", i);
	output("v");
	output("w");
	ck_assert_str_eq(rewritten("expand:\n- {name: a, pattern: 'y = Mul(x, 16777216)', replace: 'y = Sub(x, 1)'}\n"
				   "- {name: b, pattern: 'y = Mod(a, b, fmod=1 - 1e-9)', replace: 'y = Add(a, b)'}\n"),
			 "Sub x number > y; Mul x odd > z; Mod y z > w; Mod y x > v");
}
END_TEST

/* Steps are linear in nodes and rules, also where one value has many users. */
static uint64_t steps_of(uint32_t nodes, bool chain)
{
	char text[64];

	open_sink();
	graph = sk_graph_create(arena, &diag, "m.onnx");
	memset(&rules, 0, sizeof(rules));
	input_of("v0", SK_F32, 2, 3);
	for (uint32_t i = 0; i < nodes; i++) {
		snprintf(text, sizeof(text), "Relu v%u > v%u", chain ? i : 0, i + 1);
		add(text);
		snprintf(text, sizeof(text), "v%u", i + 1);
		if (!chain)
			output(text);
	}
	if (chain)
		output(text);
	apply("expand:\n- {name: a, pattern: ['a = Relu(x)', 'b = Relu(a)', 'c = Neg(b)'], replace: c = Neg(x)}\n"
	      "- {name: b, pattern: ['a = Relu(x)', 'b = Exp(x)'], outputs: a, replace: [a = Exp(x), b = Relu(x)]}\n"
	      "- {name: c, pattern: ['a = Relu(x)', 'b = Relu(a)'], where: rank(x) == 3, replace: b = Neg(x)}\n");
	close_sink();
	return rewrite.steps;
}

START_TEST(test_steps)
{
	uint64_t one = steps_of(500, true), two = steps_of(1000, true);

	ck_assert_uint_gt(one, 500);
	ck_assert_uint_le(two, 2 * one + 20);
	/* Each of 12000 nodes may try all of its sisters, up to a limit. */
	ck_assert_uint_le(steps_of(12000, false), 12000UL * 10100);
}
END_TEST

/* ---- sklink's rules that fuse, on graphs of many nodes ---- */

enum graph_kind { LAYERS, SUMS, PRODUCTS, FAN };

static void scalar(const char *name, float number)
{
	const uint32_t index = sk_graph_new_constant(graph, name, SK_F32, 0, NULL, &number);

	ck_assert_str_eq(graph->values.items[index].name, name);
}

/* A layer as an exporter writes it: a normalisation, a product, a Gelu, and the sum with the input. */
static void add_layer(uint32_t number)
{
	static const char *const lines[] = {
		"ReduceMean %1$s axes > m%2$u",	 "Sub %1$s m%2$u > d%2$u",  "Pow d%2$u two > s%2$u",
		"ReduceMean s%2$u axes > v%2$u", "Add v%2$u tiny > w%2$u",  "Sqrt w%2$u > r%2$u",
		"Div d%2$u r%2$u > q%2$u",	 "Mul q%2$u row > t%2$u",   "Add t%2$u row > n%2$u",
		"MatMul n%2$u square > p%2$u",	 "Div p%2$u root > a%2$u",  "Erf a%2$u > e%2$u",
		"Add e%2$u one > f%2$u",	 "Mul p%2$u f%2$u > g%2$u", "Mul g%2$u half > h%2$u",
		"Add h%2$u %1$s > x%3$u",
	};
	const char *from = sk_arena_print(arena, "x%u", number);

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		add(sk_arena_print(arena, lines[i], from, number, number + 1));
}

static void add_constants(void)
{
	static const float numbers[36];

	scalar("one", 1);
	scalar("two", 2);
	scalar("half", 0.5F);
	scalar("tiny", 1e-5F);
	scalar("root", 1.41421356F);
	sk_graph_new_constant(graph, "row", SK_F32, 1, (uint64_t[]){6}, numbers);
	sk_graph_new_constant(graph, "square", SK_F32, 2, (uint64_t[]){6, 6}, numbers);
	sk_graph_new_integers(graph, "axes", 1, (int64_t[]){-1});
}

static void make_graph(enum graph_kind kind, uint32_t count)
{
	open_sink();
	graph = sk_graph_create(arena, &diag, "m.onnx");
	memset(&rules, 0, sizeof(rules));
	input_of("x0", SK_F32, 4, 6);
	add_constants();
	for (uint32_t i = 0; i < count; i++) {
		if (kind == LAYERS)
			add_layer(i);
		else
			add(sk_arena_print(arena, "%s x%u x0 > x%u", kind == SUMS ? "Add" : "Mul", kind == FAN ? 0 : i,
					   i + 1));
		if (kind == FAN)
			output(sk_arena_print(arena, "x%u", i + 1));
	}
	if (kind != FAN)
		output(sk_arena_print(arena, "x%u", count));
}

/* The steps that all of sklink's rules take together. */
static uint64_t own_steps(enum graph_kind kind, uint32_t count, size_t *replaced)
{
	make_graph(kind, count);
	ck_assert(sk_rules_parse(arena, &diag, "onnx.yaml", sk_onnx_rules, strlen(sk_onnx_rules), &rules) &&
		  sk_rules_parse(arena, &diag, "passes.yaml", sk_passes_rules, strlen(sk_passes_rules), &rules) &&
		  sk_rules_parse(arena, &diag, "torchair.yaml", sk_torchair_rules, strlen(sk_torchair_rules), &rules));
	ck_assert(sk_graph_infer(graph, NULL, NULL));
	rewrite = (struct sk_rule_pass){.graph = graph, .sets = {&rules.fuse}, .target = "host"};
	sk_rules_apply(&rewrite);
	expect_messages("");
	*replaced = rewrite.replaced;
	ck_assert_uint_le(rewrite.steps, graph->nodes.count * (uint64_t)(200 + 20 * rules.fuse.count));
	close_sink();
	return rewrite.steps;
}

/* Ten times as many nodes take ten times as many steps, also where all of them are of one operator, or of one value. */
START_TEST(test_own_steps)
{
	uint32_t count = _i == LAYERS ? 20 : 1000;
	size_t few, many;
	uint64_t one = own_steps((enum graph_kind)_i, count, &few);
	uint64_t ten = own_steps((enum graph_kind)_i, 10 * count, &many);

	ck_assert_uint_gt(one, count);
	ck_assert_uint_le(ten, 10 * one + one / 2);
	ck_assert_uint_eq(few, _i == LAYERS ? 2 * count : 0); /* LayerNormalization and Gelu */
	ck_assert_uint_eq(many, 10 * few);
}
END_TEST

/* ---- rules that wait ---- */

static void add_operator(const char *op)
{
	sk_array_push(arena, &graph->nodes, (struct sk_graph_node){.op = op, .domain = ""});
}

/* The rules of sklink's that are read for the operators of the graph. */
static struct sk_rule_list read_waiting(void)
{
	struct sk_rule_list list = {0}, read = {0};

	ck_assert(sk_rule_texts_list(arena, &diag, "onnx", sk_onnx_rules, &list) &&
		  sk_rule_texts_list(arena, &diag, "passes", sk_passes_rules, &list) &&
		  sk_rule_texts_list(arena, &diag, "torchair", sk_torchair_rules, &list) &&
		  sk_rule_texts_read(graph, &list, &read));
	return read;
}

/* All rules, in their order, if the graph has all operators; none if it has one with which no rule begins. */
START_TEST(test_waiting_rules_are_read)
{
	struct sk_rule_list read;

	ck_assert(sk_rules_parse(arena, &diag, "onnx.yaml", sk_onnx_rules, strlen(sk_onnx_rules), &rules) &&
		  sk_rules_parse(arena, &diag, "passes.yaml", sk_passes_rules, strlen(sk_passes_rules), &rules) &&
		  sk_rules_parse(arena, &diag, "torchair.yaml", sk_torchair_rules, strlen(sk_torchair_rules), &rules));
	add_operator("Neg");
	ck_assert_uint_eq(read_waiting().count, 0);
	for (size_t i = 0; sk_schema_at(i); i++)
		add_operator(sk_schema_at(i)->op);
	read = read_waiting();
	ck_assert_uint_eq(read.count, rules.fuse.count);
	for (size_t i = 0; i < read.count; i++) {
		ck_assert_str_eq(read.items[i].name, rules.fuse.items[i].name);
		ck_assert_str_eq(sk_place_text(arena, read.items[i].place),
				 sk_place_text(arena, rules.fuse.items[i].place));
		ck_assert_uint_eq(read.items[i].pattern.count, rules.fuse.items[i].pattern.count);
		ck_assert(read.items[i].set);
	}
}
END_TEST

/* The operators of its pattern are enough for each of them. */
START_TEST(test_waiting_rules_are_not_missed)
{
	ck_assert(sk_rules_parse(arena, &diag, "onnx.yaml", sk_onnx_rules, strlen(sk_onnx_rules), &rules) &&
		  sk_rules_parse(arena, &diag, "passes.yaml", sk_passes_rules, strlen(sk_passes_rules), &rules) &&
		  sk_rules_parse(arena, &diag, "torchair.yaml", sk_torchair_rules, strlen(sk_torchair_rules), &rules));
	for (size_t r = 0; r < rules.fuse.count; r += 7) {
		const struct sk_rule *rule = &rules.fuse.items[r];
		struct sk_rule_list read;
		bool found = false;

		graph->nodes.count = 0;
		for (size_t n = 0; n < rule->pattern.count; n++) {
			size_t last = rule->pattern.items[n].operators.count - 1;

			add_operator(rule->pattern.items[n].operators.items[r % 2 ? 0 : last].op);
		}
		read = read_waiting();
		for (size_t i = 0; i < read.count; i++)
			found |= !strcmp(read.items[i].name, rule->name);
		ck_assert_msg(found, "%s", rule->name);
		ck_assert_uint_lt(read.count, rules.fuse.count);
	}
}
END_TEST

/* One operator of each group, and one of several lines. */
START_TEST(test_what_rules_wait_for)
{
	static const struct {
		const char *pattern;
		size_t count;
	} cases[] = {
		{"y = Relu(Neg(x))", 1},
		{"y = Relu(Abs(x))", 0},
		{"y = Abs|Relu(x)", 1},
		{"y = Relu|Abs( Abs|Neg(x) )", 1},
		{"y = Abs|Exp(Relu(x))", 0},
		{"[t = Abs(x), y = Relu(t)]", 0},
		{"[[t = Abs(x), t = Neg(x)], y = Relu(t)]", 1},
		{"[[t = Abs(x), t = Exp(x)], y = Relu(t)]", 0},
	};

	add_operator("Relu");
	add_operator("Neg");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sk_rule_list list = {0}, read = {0};
		const char *text = sk_arena_print(arena, "fuse:\n- name: a\n  pattern: %s\n  replace: y = Sqrt(x)\n",
						  cases[i].pattern);

		ck_assert(sk_rule_texts_list(arena, &diag, "w", text, &list));
		ck_assert(sk_rule_texts_read(graph, &list, &read));
		ck_assert_msg(!read.count == !cases[i].count, "%s", cases[i].pattern);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("rules");
	TCase *rest = tcase_create("rules"), *steps = tcase_create("steps");

	tcase_add_checked_fixture(rest, setup, close_sink);
	tcase_add_loop_test(rest, test_refused, 0, sizeof(refused) / sizeof(refused[0]));
	tcase_add_test(rest, test_hostile);
	tcase_add_loop_test(rest, test_limits, 0, 6);
	tcase_add_test(rest, test_own_rules);
	tcase_add_test(rest, test_one_node);
	tcase_add_test(rest, test_several_nodes);
	tcase_add_loop_test(rest, test_near_misses, 0, 5);
	tcase_add_loop_test(rest, test_writes, 0, 8);
	tcase_add_test(rest, test_users_between);
	tcase_add_test(rest, test_not_convex);
	tcase_add_test(rest, test_not_convex_any_more);
	tcase_add_loop_test(rest, test_too_much_between, 0, 2);
	tcase_add_loop_test(rest, test_outputs, 0, 3);
	tcase_add_loop_test(rest, test_either_order, 0, sizeof(orders) / sizeof(orders[0]));
	tcase_add_test(rest, test_too_many_orders);
	tcase_add_loop_test(rest, test_either_line, 0, 8);
	tcase_add_test(rest, test_value_named_target);
	tcase_add_loop_test(rest, test_clip, 0, 2);
	tcase_add_loop_test(rest, test_shrink, 0, 2);
	tcase_add_test(rest, test_repeated);
	tcase_add_test(rest, test_sisters);
	tcase_add_loop_test(rest, test_attributes, 0, 5);
	tcase_add_loop_test(rest, test_conditions, 0, 38);
	tcase_add_test(rest, test_order);
	tcase_add_loop_test(rest, test_misfits, 0, 8);
	tcase_add_loop_test(rest, test_compute, 0, 2);
	tcase_add_test(rest, test_operands);
	tcase_add_test(rest, test_constants);
	tcase_add_test(rest, test_integers);
	tcase_add_test(rest, test_largest_integer);
	tcase_add_test(steps, test_steps);
	tcase_add_test(rest, test_waiting_rules_are_read);
	tcase_add_test(rest, test_waiting_rules_are_not_missed);
	tcase_add_test(rest, test_what_rules_wait_for);
	tcase_add_loop_test(steps, test_own_steps, LAYERS, FAN + 1);
	tcase_set_timeout(steps, 120);
	suite_add_tcase(suite, rest);
	suite_add_tcase(suite, steps);
	return run_suite(suite);
}
