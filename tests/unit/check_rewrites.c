/* Tests of graph/rewrites/: small graphs as text, and the graphs that passes leave. Statements are one of
 *
 *   in NAME TYPE SHAPE          const NAME TYPE SHAPE ELEMENT…          out NAME…
 *   NAME… = OP INPUT… [KEY=INTEGER] [KEY=[INTEGER,…]] [@SCOPE] [#STREAM]
 *
 * and the remaining graph is printed with constants as their elements: "y=Add(x,{1,2}); z=Transpose(y)[1,0]". */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/manager/manager.h"
#include "graph/passes/passes.h"
#include "graph/rewrites/rewrites.h"
#include "tests/lib/sink.h"
#include "tests/lib/suite.h"

static struct sk_op_graph *graph;
static struct sk_fusion_flags flags;

static void set_up(void)
{
	open_sink();
	graph = sk_graph_create(arena, &diag, "graph");
	flags = (struct sk_fusion_flags){.opt_level = 2, .exact_precision_mode = true};
}

static void tear_down(void)
{
	expect_messages("");
	close_sink();
}

/* ---- graphs as text ---- */

static char *next_word(void)
{
	return strtok(NULL, " ");
}

static uint32_t new_value(void)
{
	uint32_t index = sk_graph_value(graph, sk_arena_print(arena, "%s", next_word()));
	struct sk_value *value = &graph->values.items[index];
	const char *type = next_word();

	while (strcmp(sk_dtype_name(value->dtype), type))
		value->dtype++;
	value->shaped = true;
	for (char *shape = next_word(), *end = shape; *end && strcmp(shape, "-"); shape = end + 1)
		value->shape[value->rank++] = strtoull(shape, &end, 10);
	return index;
}

static void read_constant(void)
{
	uint32_t index = new_value();
	struct sk_value *value = &graph->values.items[index];
	uint32_t size = sk_dtype_size(value->dtype);
	uint8_t *elements = SK_NEW_ARRAY(arena, uint8_t, sk_value_bytes(value) + 8);
	const char *word = "0", *next;

	for (uint64_t i = 0; i < sk_value_elements(value); i++) {
		word = (next = next_word()) ? next : word;

		float single = strtof(word, NULL);
		int64_t integer = strtoll(word, NULL, 0);

		memcpy(elements + i * size, value->dtype == SK_F32 ? (void *)&single : &integer, size);
	}
	value->contents = elements;
}

static void read_attribute(struct sk_graph_node *node, const char *name, char *text)
{
	int64_t *list = SK_NEW_ARRAY(arena, int64_t, 8);
	size_t count = 0;

	if (*text != '[') {
		sk_node_set_integer(graph, node, name, strtoll(text, NULL, 10));
		return;
	}
	for (; *text && *text != ']'; text += strcspn(text + 1, ",]") + 1)
		list[count++] = strtoll(text + 1, NULL, 10);
	sk_array_push(
		arena, &node->attributes,
		(struct sk_attribute){.name = name, .kind = SK_ATTRIBUTE_INTEGERS, .integers = list, .count = count});
}

static void read_node(const char *first)
{
	uint32_t outputs[4], count = 0;
	struct sk_graph_node *node;
	char *word, *equals;

	for (outputs[count++] = sk_graph_value(graph, first); strcmp(word = next_word(), "=");)
		outputs[count++] = sk_graph_value(graph, word);
	word = next_word();
	node = sk_graph_add_node(graph, strchr(word, ':') ? strchr(word, ':') + 1 : word);
	node->domain = strchr(word, ':') ? "sklink" : "";
	node->version = 20;
	for (uint32_t i = 0; i < count; i++) {
		sk_array_push(arena, &node->outputs, outputs[i]);
		graph->values.items[outputs[i]].node = (uint32_t)graph->nodes.count - 1;
	}
	while ((word = next_word())) {
		equals = strchr(word, '=');
		if (*word == '@')
			node->scope = word + 1;
		else if (*word == '#')
			node->stream = (uint32_t)strtoul(word + 1, NULL, 10);
		else if (equals)
			*equals = '\0', read_attribute(node, word, equals + 1);
		else
			sk_array_push(arena, &node->inputs, strcmp(word, "_") ? sk_graph_value(graph, word) : SK_NONE);
	}
}

static void read_statement(char *statement)
{
	const char *word = strtok(statement, " ");

	if (!strcmp(word, "in")) {
		uint32_t value = new_value();

		graph->values.items[value].input = true;
		sk_array_push(arena, &graph->inputs, value);
	} else if (!strcmp(word, "const")) {
		read_constant();
	} else if (!strcmp(word, "out")) {
		while ((word = next_word())) {
			uint32_t value = sk_graph_value(graph, word);

			graph->values.items[value].output = true;
			sk_array_push(arena, &graph->outputs, value);
		}
	} else {
		read_node(word);
	}
}

static void read_graph(const char *text)
{
	while (*text) {
		size_t length = strcspn(text, ";");
		char *statement = sk_arena_copy(arena, text, length);

		read_statement(statement);
		text += length + strspn(text + length, "; ");
	}
	ck_assert_msg(sk_graph_infer(graph, NULL, NULL), "the graph cannot be inferred");
}

/* ---- and back ---- */

static void print_value(FILE *stream, uint32_t index)
{
	const struct sk_value *value = index == SK_NONE ? NULL : &graph->values.items[index];
	const int64_t *integers;
	uint64_t count;
	double number;

	if (!value)
		fputc('_', stream);
	else if (!value->contents || sk_value_elements(value) > 8)
		fputs(value->name, stream);
	else if (sk_value_number(value, &number))
		fprintf(stream, value->rank ? "{%g}" : "%g", number);
	else if (sk_value_integers(arena, value, &count, &integers))
		for (uint64_t i = 0; i < count; i++)
			fprintf(stream, "%s%lld%s", i ? "," : "{", (long long)integers[i], i + 1 == count ? "}" : "");
	else
		for (uint64_t i = 0; i < sk_value_elements(value); i++)
			fprintf(stream, "%s%g%s", i ? "," : "{", (double)((const float *)value->contents)[i],
				i + 1 == sk_value_elements(value) ? "}" : "");
}

static void print_node(FILE *stream, const struct sk_graph_node *node)
{
	size_t count;
	const int64_t *perm = sk_node_integers(node, "perm", &count);

	for (size_t i = 0; i < node->outputs.count; i++) {
		fputs(i ? "," : "", stream);
		print_value(stream, node->outputs.items[i]);
	}
	fprintf(stream, "=%s(", node->op);
	for (size_t i = 0; i < node->inputs.count; i++) {
		fputs(i ? "," : "", stream);
		print_value(stream, node->inputs.items[i]);
	}
	fputc(')', stream);
	for (size_t i = 0; i < count; i++)
		fprintf(stream, "%s%lld%s", i ? "," : "[", (long long)perm[i], i + 1 == count ? "]" : "");
	for (size_t i = 0; i < node->attributes.count; i++)
		if (node->attributes.items[i].kind == SK_ATTRIBUTE_INTEGER && node->attributes.items[i].integer)
			fprintf(stream, "%s%lld", node->attributes.items[i].name,
				(long long)node->attributes.items[i].integer);
}

static char *left(void)
{
	static char text[4096];
	FILE *stream = fmemopen(text, sizeof(text), "w");
	bool some = false;

	for (size_t n = 0; n < graph->nodes.count; n++) {
		if (graph->nodes.items[n].removed)
			continue;
		fputs(some ? "; " : "", stream);
		print_node(stream, &graph->nodes.items[n]);
		some = true;
	}
	fclose(stream);
	return text;
}

typedef enum sk_pass_result pass(struct sk_op_graph *, const struct sk_fusion_flags *);

/* Check the graph that the pass leaves, that the pass returns whether it has changed anything, and that a second run
 * changes nothing. */
static void check_pass(pass *run, const char *text, const char *expected)
{
	char before[4096];

	graph = sk_graph_create(arena, &diag, "graph");
	read_graph(text);
	strcpy(before, left());

	enum sk_pass_result result = run(graph, &flags);

	ck_assert_str_eq(left(), expected);
	ck_assert_int_eq(result, strcmp(before, expected) ? SK_PASS_CHANGED : SK_PASS_UNCHANGED);
	for (size_t n = 0; n < graph->nodes.count; n++)
		for (size_t o = 0; o < graph->nodes.items[n].outputs.count && !graph->nodes.items[n].removed; o++)
			if (sk_node_output(graph, &graph->nodes.items[n], o))
				ck_assert_uint_eq(sk_node_output(graph, &graph->nodes.items[n], o)->node, n);
	run(graph, &flags);
	ck_assert_str_eq(left(), expected);
}

/* ---- arithmetic_simplify ---- */

/* One rule: a graph that it changes, the result, and a similar graph that stays as it is. */
struct rule {
	const char *id;
	const char *text, *expected;
	const char *miss;
};

#define MATRIX "in x f32 2x3; out y; "
#define WHOLE  "in x i32 2x3; out y; "

static const struct rule exact[] = {
	{"1.1", WHOLE "const c i32 - 0; y = Add c x", "y=Identity(x)", MATRIX "const c f32 - 0; y = Add c x"},
	{"1.1", MATRIX "const c f32 3 -0; y = Add x c", "y=Identity(x)", WHOLE "const c i32 5x2x3 0; y = Add x c"},
	{"1.4", WHOLE "n = Neg x; y = Add n x", "y=Expand(0,{2,3})", MATRIX "n = Neg x; y = Add n x"},
	{"1.7", MATRIX "const c f32 - 0; s = Sub x c; y = Abs s", "y=Abs(x)", MATRIX "const c f32 - 0; y = Sub c x"},
	{"1.8", MATRIX "const c f32 3 1 2 -3; y = Sub x c", "y=Add(x,{-1,-2,3})",
	 "in x u32 2; out y; const c u32 - 1; y = Sub x c"},
	{"1.15", MATRIX "const c f32 - 1; p = Pow x c; y = Abs p", "y=Abs(x)", MATRIX "const c f32 - 1; y = Pow c x"},
	{"1.23", "in c bool 2x3; " MATRIX "s = Where c x x; y = Abs s", "y=Abs(x)",
	 "in c bool 5x2x3; " MATRIX "s = Where c x x; y = Abs s"},
	{"1.24", MATRIX "a = Neg x; b = Neg a; y = Abs b", "y=Abs(x)", MATRIX "a = Neg x; b = Abs a; y = Neg b"},
	{"2.1", MATRIX "const c f32 1 1; m = Mul c x; y = Abs m", "y=Abs(x)", MATRIX "const c f32 - 2; y = Mul c x"},
	{"2.1", "in x f16 2; out y; const c f16 - 0x3c00; m = Mul c x; y = Abs m", "y=Abs(x)",
	 "in x f16 2; out y; const c f16 - 0x3c01; y = Mul c x"},
	{"2.1", "in x bf16 2; out y; const c bf16 - 0x3f80; m = Mul c x; y = Abs m", "y=Abs(x)",
	 "in x bf16 2; out y; const c bf16 - 0x3c00; y = Mul c x"},
	{"1.42", MATRIX "const c f32 - 3; n = Neg x; y = Mul n c", "y=Mul(x,-3)",
	 MATRIX "out n; const c f32 - 3; n = Neg x; y = Mul n c"},
	{"1.43", WHOLE "const c i32 - 1; m = Div x c; y = Abs m", "y=Abs(x)", WHOLE "const c i32 - 1; y = Div c x"},
	{"2.2", MATRIX "const c f32 - 1; y = Div c x", "y=Reciprocal(x)", WHOLE "const c i32 - 1; y = Div c x"},
	{"1.52", MATRIX "const c f32 - 3; n = Neg x; y = Div n c", "y=Div(x,-3)",
	 WHOLE "const c i32 - 3; n = Neg x; y = Div n c"},
	{"1.70", "in z f32 3; " MATRIX "e = Equal x z; y = Not e", "y=NotEqual(x,z)",
	 "in z f32 3; " MATRIX "e = Less x z; y = Not e"},
	{"1.70", "in z i32 3; " WHOLE "e = Less x z; y = Not e", "y=GreaterOrEqual(x,z)",
	 "in z i32 3; out e; " WHOLE "e = Less x z; y = Not e"},
	{"1.79", MATRIX "a = Cast x to=1; y = Abs a", "y=Abs(x)", MATRIX "a = Cast x to=11; y = Abs a"},
	{"1.55", WHOLE "const o i64 1 1; const p i64 1 0; a = ReduceSum x o keepdims=0; y = ReduceSum a p keepdims=0",
	 "y=ReduceSum(x,{0,1})noop_with_empty_axes1",
	 MATRIX "const o i64 1 1; const p i64 1 0; a = ReduceSum x o keepdims=0; y = ReduceSum a p keepdims=0"},
	{"1.57",
	 "in x i32 2x3x4; out y; const o i64 1 1; const p i64 1 -1; a = ReduceMax x o; y = ReduceMax a p keepdims=1",
	 "y=ReduceMax(x,{1,2})keepdims1noop_with_empty_axes1",
	 "in x i32 2x3x4; out y; const o i64 1 1; const p i64 1 -1; a = ReduceMax x o; y = ReduceMin a p"},
	{"1.56",
	 "in x i32 2x3x4; out y; const o i64 1 1; const p i64 1 1; a = ReduceMin x o keepdims=0; y = ReduceMin a p "
	 "keepdims=0",
	 "y=ReduceMin(x,{1,2})noop_with_empty_axes1",
	 "in x i32 2x3x4; out y; const o i64 1 1; const p i64 1 0; a = ReduceMin x o keepdims=1; y = ReduceMin a p "
	 "keepdims=0"},
	{"1.58", WHOLE "const o i64 1 1; n = Neg x; y = ReduceSum n o keepdims=0", "y#4=ReduceSum(x,{1}); y=Neg(y#4)",
	 MATRIX "const o i64 1 1; n = Neg x; y = ReduceSum n o keepdims=0"},
	{"1.66", "in x f32 1x3; out z; y = Transpose x perm=[1,0]; z = Abs y", "y=Reshape(x,{3,1})allowzero1; z=Abs(y)",
	 "in x f32 2x3; out z; y = Transpose x perm=[1,0]; z = Abs y"},
	{"1.67", MATRIX "const s i64 1 6; const t i64 2 3 2; a = Reshape x s; y = Reshape a t",
	 "y=Reshape(x,{3,2})allowzero1", MATRIX "out a; const s i64 1 6; a = Reshape x s; y = Abs a"},
	{"1.67", MATRIX "const s i64 1 0; a = Unsqueeze x s; b = Squeeze a s; y = Abs b", "y=Abs(x)",
	 MATRIX "const s i64 1 0; a = Unsqueeze x s; y = Abs a"},
	{"1.69", MATRIX "const s i64 1 0; const e i64 1 9; a = Slice x s e; y = Abs a", "y=Abs(x)",
	 MATRIX "const s i64 1 2; const e i64 1 -9; const t i64 1 -1; const a i64 1 0; y = Slice x s e a t"},
	{"1.76", "in x i32 2x1; out y; const o i64 1 1; y = ReduceSum x o", "y=Reshape(x,{2,1})allowzero1",
	 "in x f32 2x1; out y; const o i64 1 1; y = ReduceSum x o"},
	{"1.78", "in x f32 2x1; out y; const o i64 1 1; y = ReduceMax x o keepdims=0", "y=Reshape(x,{2})allowzero1",
	 "in x f32 2x1; out y; const o i64 1 0; y = ReduceMax x o"},
	{"1.77", "in x f32 2x1; out y; const o i64 1 1; y = ReduceMin x o keepdims=0", "y=Reshape(x,{2})allowzero1",
	 "in x f32 2x1; out y; const o i64 1 1; y = ReduceMean x o"},
	{"1.80", "in x f32 2x3x4; out y; a = Transpose x perm=[1,0,2]; y = Transpose a perm=[0,2,1]",
	 "y=Transpose(x)[1,2,0]",
	 "in x f32 2x3x4; out y a; a = Transpose x perm=[1,0,2]; y = Transpose a perm=[0,2,1]"},
	{"1.80",
	 "in x f32 2x3x4; out y a; const p i64 3 1 2 -3; a = Transpose x perm=[2,0,1]; b = sklink:Transpose a p; y = "
	 "Abs b",
	 "a=Transpose(x)[2,0,1]; y=Abs(x)", "in x f32 2x3; out y; a = Transpose x perm=[1,0]; y = Abs a"},
};

START_TEST(test_exact)
{
	const struct rule *rule = &exact[_i];

	check_pass(sk_pass_arithmetic_simplify, rule->text, rule->expected);
	graph = sk_graph_create(arena, &diag, "graph");
	read_graph(rule->miss);
	ck_assert_int_eq(sk_pass_arithmetic_simplify(graph, &flags), SK_PASS_UNCHANGED);

	/* Alone it does the same, except for the effects of other rules on its result. */
	sk_array_push(arena, &flags.enable_simplify_exprs_only, "1.67");
	sk_array_push(arena, &flags.enable_simplify_exprs_only, "1.66");
	sk_array_push(arena, &flags.enable_simplify_exprs_only, rule->id);
	check_pass(sk_pass_arithmetic_simplify, rule->text, rule->expected);

	memset(&flags.enable_simplify_exprs_only, 0, sizeof(flags.enable_simplify_exprs_only));
	sk_array_push(arena, &flags.disable_simplify_exprs, rule->id);
	sk_array_push(arena, &flags.disable_simplify_exprs, "1.8"); /* which would make another way to the same */
	graph = sk_graph_create(arena, &diag, "graph");
	read_graph(rule->text);
	sk_pass_arithmetic_simplify(graph, &flags);
	ck_assert_str_ne(left(), rule->expected);
}
END_TEST

/* Rules that change bits are applied only on request: all of them, or by name. */
static const struct rule rounding[] = {
	{"1.1", MATRIX "const c f32 - 0; a = Add c x; y = Abs a", "y=Abs(x)", NULL},
	{"1.4", MATRIX "n = Neg x; y = Add n x", "y=Expand(0,{2,3})", NULL},
	{"1.18", MATRIX "const c f32 - -1; y = Pow x c", "y=Reciprocal(x)", NULL},
	{"1.23", "in c bool 2; out y; const k f32 2 3 4; s = Where c k k; y = Abs s", "y=Abs({3,4})", NULL},
	{"1.70", "in z f32 3; " MATRIX "e = Less x z; y = Not e", "y=GreaterOrEqual(x,z)", NULL},
	{"1.18", "in x f32 2; out y; const c i8 - -1; y = Pow x c", "y=Reciprocal(x)", NULL},
	{"1.55", MATRIX "const o i64 1 1; const p i64 1 0; a = ReduceSum x o keepdims=0; y = ReduceSum a p keepdims=0",
	 "y=ReduceSum(x,{0,1})noop_with_empty_axes1", NULL},
	{"1.58", MATRIX "const o i64 1 1; n = Neg x; y = ReduceSum n o keepdims=0", "y#4=ReduceSum(x,{1}); y=Neg(y#4)",
	 NULL},
	{"1.76", "in x f32 2x1; out y; const o i64 1 1; y = ReduceSum x o", "y=Reshape(x,{2,1})allowzero1", NULL},
};

START_TEST(test_rounding)
{
	const struct rule *rule = &rounding[_i];

	graph = sk_graph_create(arena, &diag, "graph");
	read_graph(rule->text);
	ck_assert_int_eq(sk_pass_arithmetic_simplify(graph, &flags), SK_PASS_UNCHANGED);
	sk_array_push(arena, &flags.enable_simplify_exprs_only, rule->id);
	check_pass(sk_pass_arithmetic_simplify, rule->text, rule->expected);
	memset(&flags.enable_simplify_exprs_only, 0, sizeof(flags.enable_simplify_exprs_only));
	flags.exact_precision_mode = false;
	check_pass(sk_pass_arithmetic_simplify, rule->text, rule->expected);
}
END_TEST

/* The largest unsigned integer has the bits of -1. */
START_TEST(test_unsigned)
{
	flags.exact_precision_mode = false;
	check_pass(sk_pass_arithmetic_simplify, "in x f32 2; out y; const c u8 - 255; y = Pow x c", "y=Pow(x,255)");
	check_pass(sk_pass_arithmetic_simplify, "in x u8 2; out y; const c u8 - 1; m = Mul x c; y = Add m x",
		   "y=Add(x,x)");
}
END_TEST

/* On the host a square stays one. */
START_TEST(test_square)
{
	const char *text = MATRIX "const c f32 - 2; y = Pow x c";

	check_pass(sk_pass_arithmetic_simplify, text, "y=Pow(x,2)");
	flags.target = SK_TARGET_ASCEND;
	check_pass(sk_pass_arithmetic_simplify, text, "y=Mul(x,x)");
}
END_TEST

START_TEST(test_lists)
{
	const char *text = MATRIX "const c f32 - 1; a = Mul x c; b = Neg a; d = Neg b; y = Abs d";

	check_pass(sk_pass_arithmetic_simplify, text, "y=Abs(x)");
	sk_array_push(arena, &flags.disable_simplify_exprs, "24"); /* without a set it is the first one */
	check_pass(sk_pass_arithmetic_simplify, text, "b=Neg(x); d=Neg(b); y=Abs(d)");
	sk_array_push(arena, &flags.enable_simplify_exprs_only, "1.24"); /* then the other list has no effect */
	check_pass(sk_pass_arithmetic_simplify, text, "a=Mul(x,1); y=Abs(a)");
	sk_array_push(arena, &flags.disable_simplify_exprs, "3.99");
	sk_simplify_check_names(&diag, &flags);
	expect_messages("t: warning: there is no expression '3.99', which disable_simplify_exprs names\n");
}
END_TEST

/* Nodes in another scope, or in another stream, are not part of a pattern. */
START_TEST(test_scopes)
{
	check_pass(sk_pass_arithmetic_simplify, MATRIX "a = Neg x; y = Neg a @s", "a=Neg(x); y=Neg(a)");
	check_pass(sk_pass_arithmetic_simplify, MATRIX "a = Neg x; y = Neg a #1", "a=Neg(x); y=Neg(a)");
	check_pass(sk_pass_cse, "in x f32 2; out y z; y = Abs x; z = Abs x @s", "y=Abs(x); z=Abs(x)");
	check_pass(sk_pass_cse, "in x f32 2; out y z; y = Abs x; z = Abs x #1", "y=Abs(x); z=Abs(x)");
}
END_TEST

/* A convolution that a normalization takes becomes one with it: nothing between them goes. */
START_TEST(test_looked_at)
{
	const char *text =
		"in x f32 1x1x4x4; in w f32 1x1x3x3; in s f32 1; out y; const o f32 - 1; c = Conv x w; m = Mul c o; "
		"y = BatchNormalization m s s s s";

	check_pass(sk_pass_arithmetic_simplify, text, "c=Conv(x,w); m=Mul(c,1); y=BatchNormalization(m,s,s,s,s)");
}
END_TEST

/* ---- cse ---- */

START_TEST(test_cse)
{
	check_pass(sk_pass_cse, "in x f32 2; in z f32 2; out y; a = Add x z; b = Add z x; y = Mul a b",
		   "a=Add(x,z); y=Mul(a,a)");
	check_pass(sk_pass_cse, "in x f32 2; in z f32 2; out y; a = Sub x z; b = Sub z x; y = Mul a b",
		   "a=Sub(x,z); b=Sub(z,x); y=Mul(a,b)");
	check_pass(
		sk_pass_cse,
		"in x f32 2; out y; const c f32 - 3; const d f32 - 3; a = Add x c; b = Add x d; e = Exp a; f = Exp b; "
		"y = Mul e f",
		"a=Add(x,3); e=Exp(a); y=Mul(e,e)");
	check_pass(sk_pass_cse,
		   "in x f32 2; out y; const c f32 - 0; const d f32 - -0; a = Add x c; b = Add x d; y = Mul a b",
		   "a=Add(x,0); b=Add(x,-0); y=Mul(a,b)");
	check_pass(sk_pass_cse, "in x f32 2x2; out y; a = Softmax x axis=0; b = Softmax x axis=1; y = Mul a b",
		   "a=Softmax(x); b=Softmax(x)axis1; y=Mul(a,b)");
	check_pass(sk_pass_cse, "in x f32 2; out y z; y = Abs x; z = Abs x", "y=Abs(x); z=Identity(y)");
	check_pass(sk_pass_cse, "in x f32 2x2; out y; a = RandomNormalLike x; b = RandomNormalLike x; y = Mul a b",
		   "a=RandomNormalLike(x); b=RandomNormalLike(x); y=Mul(a,b)");
	check_pass(sk_pass_cse,
		   "in x f32 4; out y; const k i64 1 2; a b = TopK x k; c d = TopK x k; e = Add a c; f = Add b d; g = "
		   "Cast f to=1; y = Add e g",
		   "a,b=TopK(x,{2}); e=Add(a,a); f=Add(b,b); g=Cast(f)to1; y=Add(e,g)");
	check_pass(sk_pass_cse, "in x f32 4; out a c; const k i64 1 2; a b = TopK x k; c d = TopK x k",
		   "a,_=TopK(x,{2}); c,_=TopK(x,{2})");
}
END_TEST

START_TEST(test_composites)
{
	read_graph("in x f32 2; out y z; y = Abs x; z = Abs x");
	graph->nodes.items[1].composite = 1;
	ck_assert_int_eq(sk_pass_cse(graph, &flags), SK_PASS_UNCHANGED);
}
END_TEST

/* ---- the others ---- */

START_TEST(test_tidy)
{
	check_pass(sk_pass_eliminate_redundant_output,
		   "in x f32 2x4; in s f32 4; out y; a = Abs x; y m v = LayerNormalization x s; z = Exp m",
		   "y=LayerNormalization(x,s)");
	check_pass(sk_pass_eliminate_redundant_output,
		   "in x f32 2x4; in s f32 4; out y v; y m v = LayerNormalization x s",
		   "y,_,v=LayerNormalization(x,s)");
	check_pass(sk_pass_eliminate_redundant_output, "in x f32 2x4; out y; y = Abs x; z = Exp x", "y=Abs(x)");
	check_pass(sk_pass_axis_normalizer,
		   "in x f32 2x4; out y; const o i64 2 -1 0; a = Softmax x axis=-1; y = ReduceSum a o keepdims=0",
		   "a=Softmax(x)axis1; y=ReduceSum(a,{1,0})");
	check_pass(sk_pass_axis_normalizer, "in x f32 2x4; out y; const o i64 1 1; y = ReduceSum x o keepdims=0",
		   "y=ReduceSum(x,{1})");
}
END_TEST

/* A node with known constants as outputs is not processed, even if it is still in the graph. */
START_TEST(test_constants)
{
	read_graph("in x f32 2; out y; y = Abs x; z = Exp x");
	graph->values.items[sk_graph_value(graph, "z")].contents = "\0\0\0\0\0\0\0\0";
	ck_assert_int_eq(sk_pass_axis_normalizer(graph, &flags), SK_PASS_UNCHANGED);
}
END_TEST

START_TEST(test_transform_op_optimizer)
{
	check_pass(sk_pass_transform_op_optimizer,
		   "in x f32 2x3x4; out y; const c f32 1 2; a = Transpose x perm=[2,0,1]; b = Exp a; d = Mul c b; e = "
		   "Transpose d perm=[1,2,0]; y = Abs e",
		   "b=Exp(x); d=Mul({2},b); y=Abs(d)");
	check_pass(sk_pass_transform_op_optimizer, "in x f32 2x3; out y a; a = Transpose x; b = Exp a; y = Transpose b",
		   "a=Transpose(x); b=Exp(x); y=Identity(b)");
	check_pass(sk_pass_transform_op_optimizer, "in x f32 2x3; out y b; a = Transpose x; b = Exp a; y = Transpose b",
		   "a=Transpose(x); b=Exp(a); y=Transpose(b)");
	check_pass(sk_pass_transform_op_optimizer,
		   "in x f32 2x2; in z f32 2; out y; a = Transpose x; b = Add a z; y = Transpose b",
		   "a=Transpose(x); b=Add(a,z); y=Transpose(b)");
	check_pass(sk_pass_transform_op_optimizer,
		   "in x f32 2x3x4; out y; a = Transpose x perm=[2,0,1]; b = Exp a; y = Transpose b perm=[2,0,1]",
		   "a=Transpose(x)[2,0,1]; b=Exp(a); y=Transpose(b)[2,0,1]");
}
END_TEST

START_TEST(test_reorder_ops)
{
	check_pass(sk_pass_reorder_ops, "in x f32 2x3; out y; a = Transpose x; y = Cast a to=10",
		   "a#3=Cast(x)to10; y=Transpose(a#3)");
}
END_TEST

START_TEST(test_transpose_matmul)
{
	check_pass(sk_pass_transpose_matmul_fusion,
		   "in x f32 5x2x3; in z f32 5x4x3; out y; a = Transpose z perm=[0,2,1]; y = MatMul x a",
		   "y=BatchMatMul(x,z)transpose_b1");
	check_pass(sk_pass_transpose_matmul_fusion,
		   "in x f32 3x2; in z f32 3x4; out y; a = Transpose x; y = MatMul a z",
		   "y=BatchMatMul(x,z)transpose_a1");
	check_pass(sk_pass_transpose_matmul_fusion,
		   "in x f32 5x3x2; in z f32 5x3x4; out y; a = Transpose x perm=[0,2,1]; y = MatMul a z",
		   "a=Transpose(x)[0,2,1]; y=MatMul(a,z)");
	check_pass(sk_pass_transpose_matmul_fusion,
		   "in x f32 2x3; in z f32 3x4x5; out y; a = Transpose z perm=[2,0,1]; y = MatMul x a",
		   "a=Transpose(z)[2,0,1]; y=MatMul(x,a)");
}
END_TEST

/* ---- graph_kernel_recompute ---- */

/* "1 2 2": the composites of the nodes, in order. */
static void check_recompute(const char *text, const char *composites, const char *expected)
{
	char *end = NULL;

	graph = sk_graph_create(arena, &diag, "graph");
	read_graph(text);
	graph->composites_hold = true;
	for (size_t i = 0; i < 10; i++)
		sk_array_push(arena, &graph->composites, (struct sk_composite){.name = "composite"});
	for (size_t n = 0; n < graph->nodes.count; n++, composites = end)
		graph->nodes.items[n].composite = (uint32_t)strtoul(composites, &end, 10);

	char *before = sk_arena_print(arena, "%s", left());

	ck_assert_int_eq(sk_pass_graph_kernel_recompute(graph, &flags),
			 strcmp(before, expected) ? SK_PASS_CHANGED : SK_PASS_UNCHANGED);
	ck_assert_str_eq(left(), expected);
	for (size_t n = 0; n < graph->nodes.count; n++)
		ck_assert_uint_eq(sk_node_output(graph, &graph->nodes.items[n], 0)->node, n);
}

START_TEST(test_recompute)
{
	const char *shared = "in x f32 4x4; out b c; a = Abs x; b = Exp a; c = Log a";
	const char *same = "a=Abs(x); b=Exp(a); c=Log(a)";

	flags.enable_recompute_fusion = true;
	check_recompute(shared, "0 1 2", "a#4=Abs(x); b=Exp(a#4); a#5=Abs(x); c=Log(a#5)");
	check_recompute(shared, "1 1 2", "a=Abs(x); b=Exp(a); a#4=Abs(x); c=Log(a#4)");
	check_recompute(shared, "0 1 1", same); /* one composite has it already */
	check_recompute(shared, "0 1 0", same); /* it is stored for another reader */
	check_recompute("in x f32 4x4; out b c a; a = Abs x; b = Exp a; c = Log a", "0 1 2", same);
	check_recompute("in x f32 4x4; out b c; a = Exp x; b = Abs a; c = Log a", "0 1 2",
			"a=Exp(x); b=Abs(a); c=Log(a)"); /* no cheap one */
	check_recompute("in x f32 4x4; in z f32 4x4; out b c; a = Add x z; b = Exp a; c = Log a", "0 1 2",
			"a=Add(x,z); b=Exp(a); c=Log(a)"); /* two are read for one */
	check_recompute("in x f32 4x4; out b c; a = Abs x; b = Exp a @s; c = Log a", "0 1 2", same);
	check_recompute("in x f32 4; out c d; const s i64 2 4 4; a = Expand x s; b = Neg a; c = Exp b; d = Log b",
			"1 1 1 2", "a=Expand(x,{4,4}); b=Neg(a); c=Exp(b); d=Log(b)"); /* its input is not stored */
	check_recompute("in x f32 4x4; out c d e; a = Abs x; b = Neg a; c = Exp a; d = Exp b; e = Log b", "1 1 2 1 2",
			/* a is not stored any more */
			"a=Abs(x); b=Neg(a); a#6=Abs(x); c=Exp(a#6); d=Exp(b); e=Log(b)");
	flags.recompute_increment_threshold = 64;
	flags.recompute_peak_threshold = 64; /* a: outputs are others' memory */
	check_recompute(shared, "0 1 2", "a#4=Abs(x); b=Exp(a#4); a#5=Abs(x); c=Log(a#5)");
	flags.recompute_increment_threshold = 65;
	check_recompute(shared, "0 1 2", same);
	flags.recompute_increment_threshold = 0;
	flags.recompute_peak_threshold = 65;
	check_recompute(shared, "0 1 2", same);
	flags.recompute_peak_threshold = 0;
	flags.enable_recompute_fusion = false;
	check_recompute(shared, "0 1 2", same);
}
END_TEST

/* Values of remaining nodes count towards the peak, constants do not. */
START_TEST(test_peak)
{
	read_graph("in x f32 4x4; out b c e; d = Neg x; a = Abs x; b = Exp a; c = Log a; e = Exp d");
	graph->composites_hold = true;
	for (size_t i = 0; i < 2; i++)
		sk_array_push(arena, &graph->composites, (struct sk_composite){.name = "composite"});
	graph->nodes.items[2].composite = 1;
	graph->nodes.items[3].composite = 2;
	graph->nodes.items[0].removed = graph->nodes.items[4].removed = _i == 1;
	if (_i == 2)
		graph->values.items[sk_graph_value(graph, "d")].contents = "";
	flags.enable_recompute_fusion = true;
	flags.recompute_peak_threshold = 65;
	ck_assert_int_eq(sk_pass_graph_kernel_recompute(graph, &flags), _i ? SK_PASS_UNCHANGED : SK_PASS_CHANGED);
}
END_TEST

/* ---- cost ---- */

enum { MANY = 100000 };

/* Quadratic work on so many nodes would not end before the suite's time is up. */
static void run_all(size_t nodes)
{
	static pass *const passes[] = {
		sk_pass_cse,
		sk_pass_eliminate_redundant_output,
		sk_pass_reorder_ops,
		sk_pass_axis_normalizer,
		sk_pass_arithmetic_simplify,
		sk_pass_transform_op_optimizer,
		sk_pass_transpose_matmul_fusion,
	};
	size_t count = 0;

	for (size_t i = 0; i < sizeof(passes) / sizeof(passes[0]); i++)
		passes[i](graph, &flags);
	for (size_t n = 0; n < graph->nodes.count; n++)
		count += !graph->nodes.items[n].removed;
	ck_assert_uint_eq(count, nodes);
}

/* Append a node that reads the value, or both; return its output. */
static uint32_t append(const char *op, uint32_t a, uint32_t b)
{
	struct sk_graph_node *node = sk_graph_add_node(graph, op);
	uint32_t to = sk_graph_value(graph, sk_arena_print(arena, "v%zu", graph->nodes.count));

	node->version = 20;
	graph->values.items[to].node = (uint32_t)graph->nodes.count - 1;
	sk_array_push(arena, &node->inputs, a);
	if (b != SK_NONE)
		sk_array_push(arena, &node->inputs, b);
	sk_array_push(arena, &node->outputs, to);
	return to;
}

static void add_output(uint32_t value)
{
	graph->values.items[value].output = true;
	sk_array_push(arena, &graph->outputs, value);
}

START_TEST(test_long_chain)
{
	static const char *const ops[] = {"Transpose", "Neg", "Neg", "Transpose", "Abs", "Identity", "Exp", "Identity"};
	uint32_t value;

	read_graph("in x f32 2x2");
	value = sk_graph_value(graph, "x");
	for (size_t i = 0; i < MANY; i++)
		value = append(ops[i % 8], value, SK_NONE);
	add_output(value);
	ck_assert(sk_graph_infer(graph, NULL, NULL));
	run_all(MANY / 4 + 1); /* the last one is an output */
}
END_TEST

/* Half of them are computed twice. */
START_TEST(test_wide_graph)
{
	uint32_t x, sum;

	read_graph("in x f32 2x2");
	sum = x = sk_graph_value(graph, "x");
	for (size_t i = 0; i < MANY / 4; i++) {
		uint32_t one = append("Neg", x, SK_NONE), other = append("Neg", x, SK_NONE);

		sum = append("Add", append("Mul", one, other), sum);
	}
	add_output(sum);
	ck_assert(sk_graph_infer(graph, NULL, NULL));
	run_all(MANY / 4 + 2);
}
END_TEST

static uint32_t append_to(uint32_t composite, const char *op, uint32_t value)
{
	uint32_t to = append(op, value, SK_NONE);

	graph->nodes.items[graph->values.items[to].node].composite = composite;
	return to;
}

/* One node reads many values that another composite also reads; and many nodes read one value that is not stored. */
START_TEST(test_many_shared)
{
	uint32_t x, inner, sum;
	SK_ARRAY(uint32_t) shared = {NULL, 0, 0};

	read_graph("in x f32 2x2");
	graph->composites_hold = flags.enable_recompute_fusion = true;
	for (size_t i = 0; i < 3; i++)
		sk_array_push(arena, &graph->composites, (struct sk_composite){.name = "composite"});
	x = sk_graph_value(graph, "x");
	inner = append_to(3, "Exp", x);
	for (size_t i = 0; i < MANY / 4; i++) {
		uint32_t stored = append_to(1, "Neg", x), other = append_to(3, "Neg", inner);

		sk_array_push(arena, &shared, stored);
		add_output(append_to(1, "Exp", stored));
		add_output(append_to(1, "Log", other));
		add_output(append_to(2, "Log", other));
	}
	sum = append_to(2, "Sum", shared.items[0]);
	for (size_t i = 1; i < shared.count; i++)
		sk_array_push(arena, &graph->nodes.items[graph->values.items[sum].node].inputs, shared.items[i]);
	add_output(sum);
	ck_assert(sk_graph_infer(graph, NULL, NULL));
	ck_assert_int_eq(sk_pass_graph_kernel_recompute(graph, &flags), SK_PASS_CHANGED);
	ck_assert_uint_eq(graph->nodes.count, MANY / 4 * 6 + 2); /* `other` is computed once, `stored` in both */
}
END_TEST

static Suite *rewrites(void)
{
	Suite *suite = suite_create("rewrites");
	TCase *tests = tcase_create("rewrites");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_loop_test(tests, test_exact, 0, sizeof(exact) / sizeof(exact[0]));
	tcase_add_loop_test(tests, test_rounding, 0, sizeof(rounding) / sizeof(rounding[0]));
	tcase_add_test(tests, test_unsigned);
	tcase_add_test(tests, test_square);
	tcase_add_test(tests, test_lists);
	tcase_add_test(tests, test_scopes);
	tcase_add_test(tests, test_looked_at);
	tcase_add_test(tests, test_cse);
	tcase_add_test(tests, test_composites);
	tcase_add_test(tests, test_tidy);
	tcase_add_test(tests, test_constants);
	tcase_add_test(tests, test_transform_op_optimizer);
	tcase_add_test(tests, test_reorder_ops);
	tcase_add_test(tests, test_transpose_matmul);
	tcase_add_test(tests, test_recompute);
	tcase_add_loop_test(tests, test_peak, 0, 3);
	tcase_add_test(tests, test_long_chain);
	tcase_add_test(tests, test_wide_graph);
	tcase_add_test(tests, test_many_shared);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(void)
{
	return run_suite(rewrites());
}
