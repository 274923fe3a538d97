/* FX texts; see fx.h. An FX graph has a node for each input, constant, call and output of a call that makes several
 * things, and one for what is returned; those are its items here. Small constants, such as shapes, are written where
 * they are used. Names are those that FX makes of operators. */
#include "src/fusion/dumps/fx.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "src/base/json.h"
#include "src/fusion/dumps/forms.h"
#include "src/fusion/onnx/aliases.h"
#include "src/fusion/uses.h"

enum { LITERAL_ELEMENTS = 16 };

/* Operators that aten has under another name, with the same operands and without attributes; npu's names are GE's
 * aliases. */
static const struct {
	const char *op, *target;
} aten[] = {
	{"Abs", "abs.default"},
	{"Add", "add.Tensor"},
	{"Div", "div.Tensor"},
	{"Erf", "erf.default"},
	{"Exp", "exp.default"},
	{"Log", "log.default"},
	{"MatMul", "matmul.default"},
	{"Mul", "mul.Tensor"},
	{"Neg", "neg.default"},
	{"Pow", "pow.Tensor_Tensor"},
	{"Reciprocal", "reciprocal.default"},
	{"Relu", "relu.default"},
	{"Reshape", "reshape.default"},
	{"Sigmoid", "sigmoid.default"},
	{"Sqrt", "sqrt.default"},
	{"Sub", "sub.Tensor"},
	{"Tanh", "tanh.default"},
	{"Where", "where.self"},
};

/* torch's types, as annotations have them and as values of arguments. */
static const struct {
	const char *annotation, *type;
} types[SK_DTYPE_COUNT] = {
	[SK_DTYPE_NONE] = {"?", "None"},	[SK_I8] = {"i8", "torch.int8"},
	[SK_U8] = {"u8", "torch.uint8"},	[SK_I16] = {"i16", "torch.int16"},
	[SK_U16] = {"u16", "torch.uint16"},	[SK_I32] = {"i32", "torch.int32"},
	[SK_U32] = {"u32", "torch.uint32"},	[SK_I64] = {"i64", "torch.int64"},
	[SK_U64] = {"u64", "torch.uint64"},	[SK_F16] = {"f16", "torch.float16"},
	[SK_BF16] = {"bf16", "torch.bfloat16"}, [SK_F32] = {"f32", "torch.float32"},
	[SK_F64] = {"f64", "torch.float64"},	[SK_BOOL] = {"b8", "torch.bool"},
};

enum kind { PLACEHOLDER, CONSTANT, CALL, GETITEM };

struct item {
	enum kind kind;
	const char *name;
	uint32_t node, value; /* CALL: its node, and its value if it makes one thing; otherwise the value */
	const char *target; /* CALL: torch.ops.aten.add.Tensor */
	const char *order; /* CALL: the operands' places among the arguments, a digit each; NULL: as they are */
	uint32_t from, number; /* GETITEM: the item of the call, and which output it is */
	uint32_t users, last; /* items; the last one, SK_NONE: nobody, or what is returned needs it */
};

struct fx {
	struct sk_arena *arena;
	const struct sk_op_graph *graph;
	FILE *stream;
	bool python; /* names have no "%" in front, and texts quotes around them */
	SK_ARRAY(struct item) items;
	uint32_t *made; /* by value: its item; SK_NONE: none */
	const uint32_t *uses; /* by value: by nodes */
	uint32_t constants; /* items */
	struct sk_map names; /* of items, and bases of names */
	SK_ARRAY(uint32_t) numbers; /* by base: how many names it has */
};

/* ---- names ---- */

/* A name that nobody has: "add_tensor", and then "add_tensor_1". */
static const char *new_name(struct fx *fx, const char *base)
{
	uint32_t new = (uint32_t)fx->numbers.count;
	uint32_t place = sk_map_insert(&fx->names, base, strlen(base), new);
	const char *name;

	if (place == new) {
		sk_array_push(fx->arena, &fx->numbers, 0);
		return base;
	}
	name = sk_arena_print(fx->arena, "%s_%" PRIu32, base, ++fx->numbers.items[place]);
	return new_name(fx, name);
}

/* Letters, digits and underscores of the text; of others there are underscores. */
static char *identifier(struct sk_arena *arena, const char *text)
{
	char *copy = sk_arena_copy(arena, text, strlen(text));

	for (char *at = copy; *at; at++)
		if (!isalnum((unsigned char)*at))
			*at = '_';
	return copy;
}

/* "add.Tensor" is called "add_tensor". */
static const char *base_of(struct fx *fx, const char *target)
{
	char *base = identifier(fx->arena, target);

	for (char *at = base; *at; at++)
		*at = (char)tolower((unsigned char)*at);
	return base;
}

/* ---- operators ---- */

static const char *find_aten(const struct sk_graph_node *node)
{
	for (size_t i = 0; i < sizeof(aten) / sizeof(aten[0]); i++)
		if (!*node->domain && !strcmp(aten[i].op, node->op))
			return aten[i].target;
	return NULL;
}

static bool is_cast(const struct sk_graph_node *node)
{
	return !*node->domain && !strcmp(node->op, "Cast");
}

/* Names the operator; true if it makes several things. */
static bool name_target(struct fx *fx, const struct sk_graph_node *node, struct item *item)
{
	const struct sk_onnx_alias npu = sk_onnx_find_alias(fx->arena, "ge", "npu_", node->domain, node->op);
	const char *name = find_aten(node);
	const char *space = *node->domain ? identifier(fx->arena, node->domain) : "onnx";

	if (npu.name) {
		space = "npu";
		name = sk_arena_join(fx->arena, npu.name, ".default");
		item->order = *npu.rules == '@' ? npu.rules + 1 : NULL;
	} else if (is_cast(node)) {
		space = "npu";
		name = "_npu_dtype_cast.default";
	} else if (name) {
		space = "aten";
	} else {
		name = sk_arena_join(fx->arena, identifier(fx->arena, node->op), ".default");
	}
	item->target = sk_arena_print(fx->arena, "torch.ops.%s.%s", space, name);
	item->name = new_name(fx, base_of(fx, name));
	return npu.name ? npu.outputs > 1 : node->outputs.count > 1;
}

/* ---- items ---- */

static uint32_t add_item(struct fx *fx, struct item item)
{
	item.last = SK_NONE;
	sk_array_push(fx->arena, &fx->items, item);
	return (uint32_t)fx->items.count - 1;
}

/* With a point, or an exponent, by which it is no integer. */
static const char *real_text(struct sk_arena *arena, double real, int digits)
{
	const char *text = sk_arena_print(arena, "%.*g", digits, real);

	return strpbrk(text, ".e") ? text : sk_arena_join(arena, text, ".0");
}

/* A number, or a short list of integers, in the arena; NULL: it is something else. */
static const char *literal(struct fx *fx, const struct sk_value *value)
{
	const int64_t *integers;
	uint64_t count;
	double number;
	const char *text = "[";

	if (!value->contents || value->rank > 1 || sk_value_elements(value) > LITERAL_ELEMENTS)
		return NULL;
	if (sk_value_is_float(value))
		return value->rank == 0 && sk_value_number(value, &number) && isfinite(number)
			       ? real_text(fx->arena, number, value->dtype == SK_F64 ? 17 : 9)
			       : NULL;
	if (!sk_value_integers(fx->arena, value, &count, &integers))
		return NULL;
	if (value->rank == 0)
		return sk_arena_print(fx->arena, "%" PRId64, integers[0]);
	for (uint64_t i = 0; i < count; i++)
		text = sk_arena_print(fx->arena, "%s%s%" PRId64, text, i ? ", " : "", integers[i]);
	return sk_arena_join(fx->arena, text, "]");
}

/* Constants stand in front of the first node that reads them. */
static void add_constant(struct fx *fx, uint32_t value)
{
	const char *name;

	if (value == SK_NONE || fx->made[value] != SK_NONE || !fx->graph->values.items[value].contents ||
	    literal(fx, &fx->graph->values.items[value]))
		return;
	name = sk_arena_print(fx->arena, "_tensor_constant%" PRIu32, fx->constants++);
	fx->made[value] = add_item(fx, (struct item){.kind = CONSTANT, .name = new_name(fx, name), .value = value});
}

static void add_call(struct fx *fx, uint32_t number)
{
	const struct sk_graph_node *node = &fx->graph->nodes.items[number];
	struct item item = {.kind = CALL, .node = number, .value = SK_NONE};
	bool several;
	uint32_t call;

	for (size_t i = 0; i < node->inputs.count; i++)
		add_constant(fx, node->inputs.items[i]);
	several = name_target(fx, node, &item);
	if (!several)
		item.value = node->outputs.items[0];
	call = add_item(fx, item);
	for (size_t i = 0; i < node->outputs.count; i++) {
		uint32_t value = node->outputs.items[i];

		if (value == SK_NONE || (several && !fx->uses[value] && !fx->graph->values.items[value].output))
			continue;
		fx->made[value] = !several ? call
					   : add_item(fx, (struct item){.kind = GETITEM,
									.name = new_name(fx, "getitem"),
									.value = value,
									.from = call,
									.number = (uint32_t)i});
	}
}

/* By whom items are needed: each counts once. */
static void add_user(struct fx *fx, uint32_t value, uint32_t user, uint32_t *seen)
{
	uint32_t made = value == SK_NONE ? SK_NONE : fx->made[value];

	if (made == SK_NONE || seen[made] == user)
		return;
	seen[made] = user;
	fx->items.items[made].users++;
	fx->items.items[made].last = user;
}

static void count_users(struct fx *fx)
{
	uint32_t count = (uint32_t)fx->items.count;
	uint32_t *seen = SK_NEW_ARRAY(fx->arena, uint32_t, count + 1);

	memset(seen, 0xff, count * sizeof(*seen));
	for (uint32_t i = 0; i < count; i++) {
		struct item *item = &fx->items.items[i];

		if (item->kind == GETITEM) {
			fx->items.items[item->from].users++;
			fx->items.items[item->from].last = i;
		}
		if (item->kind != CALL)
			continue;
		const struct sk_graph_node *node = &fx->graph->nodes.items[item->node];

		for (size_t j = 0; j < node->inputs.count; j++)
			add_user(fx, node->inputs.items[j], i, seen);
	}
	for (size_t i = 0; i < fx->graph->outputs.count; i++)
		add_user(fx, fx->graph->outputs.items[i], count, seen);
}

static void add_items(struct fx *fx)
{
	const struct sk_op_graph *graph = fx->graph;

	fx->uses = sk_graph_count_uses(graph);
	fx->made = SK_NEW_ARRAY(fx->arena, uint32_t, graph->values.count + 1);
	memset(fx->made, 0xff, graph->values.count * sizeof(*fx->made));
	for (size_t i = 0; i < graph->inputs.count; i++) {
		uint32_t value = graph->inputs.items[i];

		if (!graph->values.items[value].contents)
			fx->made[value] = add_item(
				fx, (struct item){.kind = PLACEHOLDER,
						  .name = new_name(fx, sk_arena_print(fx->arena, "arg%zu_1", i)),
						  .value = value});
	}
	for (uint32_t n = 0; n < graph->nodes.count; n++)
		if (sk_node_is_live(graph, &graph->nodes.items[n]))
			add_call(fx, n);
	for (size_t i = 0; i < graph->outputs.count; i++)
		add_constant(fx, graph->outputs.items[i]);
	count_users(fx);
}

/* ---- what both texts have ---- */

static void print_operand(struct fx *fx, uint32_t value)
{
	uint32_t made = value == SK_NONE ? SK_NONE : fx->made[value];
	const char *text = value == SK_NONE ? "None" : literal(fx, &fx->graph->values.items[value]);

	if (made != SK_NONE)
		fprintf(fx->stream, "%s%s", fx->python ? "" : "%", fx->items.items[made].name);
	else
		fputs(text ? text : "None", fx->stream);
}

/* Where the operand is among the arguments of the name that the operator has. */
static size_t place_of(const struct item *item, size_t operand)
{
	return item->order ? (size_t)(item->order[operand] - '0') : operand;
}

/* Absent ones at the end are not said. */
static void print_operands(struct fx *fx, const struct item *item)
{
	const struct sk_graph_node *node = &fx->graph->nodes.items[item->node];
	uint32_t *arguments = SK_NEW_ARRAY(fx->arena, uint32_t, node->inputs.count + 10);
	size_t count = 0;

	memset(arguments, 0xff, (node->inputs.count + 10) * sizeof(*arguments));
	for (size_t i = 0; i < node->inputs.count; i++) {
		size_t place = place_of(item, i);

		if (node->inputs.items[i] == SK_NONE)
			continue;
		arguments[place] = node->inputs.items[i];
		count = place >= count ? place + 1 : count;
	}
	for (size_t i = 0; i < count; i++) {
		fputs(i ? ", " : "", fx->stream);
		print_operand(fx, arguments[i]);
	}
	if (is_cast(node))
		fprintf(fx->stream, ", %s", types[sk_dtype_of_number(sk_node_integer(node, "to", 0))].type);
}

static void print_real(struct fx *fx, double real)
{
	if (isfinite(real))
		fputs(real_text(fx->arena, real, 9), fx->stream);
	else
		fprintf(fx->stream, "float('%s')", isnan(real) ? "nan" : real > 0 ? "inf" : "-inf");
}

/* A list of nodes has a line for each, so the ends of lines within one are escaped there, too. */
static void print_text(struct fx *fx, const char *text)
{
	fputs(fx->python ? sk_json_string(fx->arena, text) : sk_arena_escape(fx->arena, text), fx->stream);
}

static void print_attribute(struct fx *fx, const struct sk_attribute *attribute)
{
	bool list = attribute->kind >= SK_ATTRIBUTE_INTEGERS;
	bool mask = attribute->kind == SK_ATTRIBUTE_INTEGERS && !strcmp(attribute->name, "output_mask");
	size_t count = list ? attribute->count : 1;

	fputs(list ? "[" : "", fx->stream);
	for (size_t i = 0; i < count; i++) {
		fputs(i ? ", " : "", fx->stream);
		if (mask) /* the one list of bools that TorchAir's functions take */
			fputs(attribute->integers[i] ? "True" : "False", fx->stream);
		else if (attribute->kind == SK_ATTRIBUTE_INTEGER || attribute->kind == SK_ATTRIBUTE_INTEGERS)
			fprintf(fx->stream, "%" PRId64, list ? attribute->integers[i] : attribute->integer);
		else if (attribute->kind == SK_ATTRIBUTE_REAL || attribute->kind == SK_ATTRIBUTE_REALS)
			print_real(fx, list ? attribute->reals[i] : attribute->real);
		else
			print_text(fx, list ? attribute->strings[i] : attribute->string);
	}
	fputs(list ? "]" : "", fx->stream);
}

/* "k = v", each behind the separator. Tensors and graphs are too large for a line. */
static void print_attributes(struct fx *fx, const struct sk_graph_node *node, const char *separator, const char *is)
{
	const char *first = separator;

	for (size_t i = 0; i < node->attributes.count; i++) {
		if (is_cast(node) && !strcmp(node->attributes.items[i].name, "to"))
			continue;
		fprintf(fx->stream, "%s%s%s", first, identifier(fx->arena, node->attributes.items[i].name), is);
		print_attribute(fx, &node->attributes.items[i]);
		first = ", ";
	}
	for (size_t i = 0; i < node->tensors.count; i++, first = ", ")
		fprintf(fx->stream, "%s%s%s...", first, identifier(fx->arena, node->tensors.items[i].name), is);
	for (size_t i = 0; i < node->graphs.count; i++, first = ", ")
		fprintf(fx->stream, "%s%s%s...", first, identifier(fx->arena, node->graphs.items[i].name), is);
}

/* By its name alone, in a list of nodes, too. */
static void print_returned(struct fx *fx, uint32_t value)
{
	if (fx->made[value] != SK_NONE)
		fputs(fx->items.items[fx->made[value]].name, fx->stream);
	else
		print_operand(fx, value);
}

static void print_return(struct fx *fx, const char *indent)
{
	const struct sk_op_graph *graph = fx->graph;

	fprintf(fx->stream, "%sreturn (", indent);
	for (size_t i = 0; i < graph->outputs.count; i++) {
		fputs(i ? ", " : "", fx->stream);
		print_returned(fx, graph->outputs.items[i]);
	}
	fputs(graph->outputs.count == 1 ? ",)\n" : ")\n", fx->stream);
}

/* ---- Python ---- */

static void print_annotated(struct fx *fx, const struct item *item)
{
	const struct sk_value *value = item->value == SK_NONE ? NULL : &fx->graph->values.items[item->value];

	fputs(item->name, fx->stream);
	if (value)
		fprintf(fx->stream, ": \"%s%s\"", types[value->dtype].annotation,
			sk_partial_shape_text(fx->arena, value->rank, value->shape));
}

/* What nobody needs any more: inputs live on, and so does what is returned. */
static void print_ends(struct fx *fx, uint32_t number)
{
	const struct item *item = &fx->items.items[number];
	const struct sk_graph_node *node = &fx->graph->nodes.items[item->node];
	size_t count = item->kind == CALL ? node->inputs.count : item->kind == GETITEM;
	const char *separator = ";  ";
	bool ended = false;

	for (size_t i = 0; i < count; i++) {
		uint32_t value = item->kind == CALL ? node->inputs.items[i] : SK_NONE;
		uint32_t made = item->kind == GETITEM ? item->from : value == SK_NONE ? SK_NONE : fx->made[value];

		if (made == SK_NONE || fx->items.items[made].last != number)
			continue;
		fx->items.items[made].last = SK_NONE; /* it ends once, though it may be two operands */
		fprintf(fx->stream, "%s%s = ", separator, fx->items.items[made].name);
		separator = "";
		ended = true;
	}
	if (!item->users && item->kind != PLACEHOLDER) {
		fprintf(fx->stream, "%s%s = ", separator, item->name);
		ended = true;
	}
	fputs(ended ? "None\n" : "\n", fx->stream);
}

static void print_statement(struct fx *fx, uint32_t number)
{
	const struct item *item = &fx->items.items[number];
	const struct sk_graph_node *node = &fx->graph->nodes.items[item->node];

	fputs("        ", fx->stream);
	print_annotated(fx, item);
	if (item->kind == CONSTANT) {
		fprintf(fx->stream, " = self.%s", item->name);
	} else if (item->kind == GETITEM) {
		fprintf(fx->stream, " = %s[%" PRIu32 "]", fx->items.items[item->from].name, item->number);
	} else {
		fprintf(fx->stream, " = %s(", item->target);
		print_operands(fx, item);
		print_attributes(fx, node, node->inputs.count ? ", " : "", " = ");
		putc(')', fx->stream);
	}
	print_ends(fx, number);
}

static struct fx *begin(const struct sk_op_graph *graph, bool python, FILE *stream)
{
	struct sk_arena *arena = sk_arena_create();
	struct fx *fx = SK_NEW(arena, struct fx);

	*fx = (struct fx){.arena = arena, .graph = graph, .stream = stream, .python = python};
	sk_map_init(&fx->names, arena);
	add_items(fx);
	return fx;
}

void sk_dump_fx_python(const struct sk_op_graph *graph, FILE *stream)
{
	struct fx *fx = begin(graph, true, stream);

	fputs("class GraphModule(torch.nn.Module):\n    def forward(self", stream);
	for (size_t i = 0; i < fx->items.count && fx->items.items[i].kind == PLACEHOLDER; i++) {
		fputs(", ", stream);
		print_annotated(fx, &fx->items.items[i]);
	}
	fputs("):\n        # No stacktrace found for following nodes\n", stream);
	for (uint32_t i = 0; i < fx->items.count; i++)
		if (fx->items.items[i].kind != PLACEHOLDER)
			print_statement(fx, i);
	print_return(fx, "        ");
	sk_arena_destroy(fx->arena);
}

/* ---- the list of nodes ---- */

static void print_line(struct fx *fx, const struct item *item)
{
	const struct sk_graph_node *node = &fx->graph->nodes.items[item->node];

	fprintf(fx->stream, "    %%%s : [num_users=%" PRIu32 "] = ", item->name, item->users);
	switch (item->kind) {
	case PLACEHOLDER:
		fprintf(fx->stream, "placeholder[target=%s]\n", item->name);
		break;
	case CONSTANT:
		fprintf(fx->stream, "get_attr[target=%s]\n", item->name);
		break;
	case GETITEM:
		fprintf(fx->stream, "call_function[target=operator.getitem](args = (%%%s, %" PRIu32 "), kwargs = {})\n",
			fx->items.items[item->from].name, item->number);
		break;
	case CALL:
		fprintf(fx->stream, "call_function[target=%s](args = (", item->target);
		print_operands(fx, item);
		fputs(node->inputs.count == 1 && !is_cast(node) ? ",), kwargs = {" : "), kwargs = {", fx->stream);
		print_attributes(fx, node, "", ": ");
		fputs("})\n", fx->stream);
		break;
	}
}

void sk_dump_fx_graph(const struct sk_op_graph *graph, FILE *stream)
{
	struct fx *fx = begin(graph, false, stream);

	fputs("graph():\n", stream);
	for (size_t i = 0; i < fx->items.count; i++)
		print_line(fx, &fx->items.items[i]);
	print_return(fx, "    ");
	sk_arena_destroy(fx->arena);
}
