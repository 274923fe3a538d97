/* FX texts; see dumps-parts.h. An FX graph has a node for each item, and one for the returned values. */
#include "graph/dumps/dumps-parts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/map.h"
#include "format/signature/signature.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/onnx/onnx.h"

/* torch's types, as annotations and as arguments. */
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

struct fx {
	struct sk_arena *arena;
	const struct sk_op_graph *graph;
	FILE *stream;
	bool python; /* names have no "%", and texts are in quotes */
	struct sk_fx_items *items;
	const struct sk_graph_node *marked; /* the last node, if its marks have begun and not ended; NULL: none have */
	uint32_t begins, ends; /* of marks */
};

/* ---- common to both texts ---- */

static void print_operand(struct fx *fx, uint32_t value)
{
	uint32_t made = value == SK_NONE ? SK_NONE : fx->items->made[value];
	const char *text = value == SK_NONE ? "None" : sk_fx_literal(fx->arena, &fx->graph->values.items[value]);

	if (made != SK_NONE)
		fprintf(fx->stream, "%s%s", fx->python ? "" : "%", fx->items->list.items[made].name);
	else
		fputs(text ? text : "None", fx->stream);
}

/* Return the position of the operand among the arguments of the named operator. */
static size_t operand_position(const struct sk_fx_item *item, size_t operand)
{
	return item->order ? (size_t)(item->order[operand] - '0') : operand;
}

/* The operands of torch_npu's functions that are given by their names. */
static const struct {
	const char *target;
	size_t positional; /* operands before them */
	const char *names[4];
} keywords[] = {
	{"torch.ops.npu.npu_add_rms_norm_dynamic_quant.default", 3, {"smooth_scale1", "smooth_scale2", "beta"}},
	{"torch.ops.npu.npu_dynamic_quant.default", 1, {"smooth_scales", "group_index"}},
	{"torch.ops.npu.npu_quant_matmul.default", 3, {"offset", "pertoken_scale", "bias"}},
	{"torch.ops.npu.npu_transpose_batchmatmul.default", 2, {"bias", "scale"}},
};

/* Return the name of the argument at that place; NULL: it has none. */
static const char *keyword_of(const struct sk_fx_item *item, size_t place)
{
	for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++)
		if (!strcmp(keywords[i].target, item->target) && place >= keywords[i].positional &&
		    place < keywords[i].positional + sizeof(keywords[i].names) / sizeof(keywords[i].names[0]))
			return keywords[i].names[place - keywords[i].positional];
	return NULL;
}

/* Print the operands with names, after the separator; true if there are any. */
static bool print_keywords(struct fx *fx, const struct sk_fx_item *item, const char *separator, const char *is)
{
	const struct sk_graph_node *node = &fx->graph->nodes.items[item->node];
	bool printed = false;

	for (size_t i = 0; i < node->inputs.count; i++) {
		const char *name = keyword_of(item, operand_position(item, i));

		if (!name || node->inputs.items[i] == SK_NONE)
			continue;
		fprintf(fx->stream, "%s%s%s", printed ? ", " : separator, name, is);
		print_operand(fx, node->inputs.items[i]);
		printed = true;
	}
	return printed;
}

/* Absent operands at the end are left out. Return the number of the others without names. */
static size_t print_operands(struct fx *fx, const struct sk_fx_item *item)
{
	const struct sk_graph_node *node = &fx->graph->nodes.items[item->node];
	uint32_t *arguments = SK_NEW_ARRAY(fx->arena, uint32_t, node->inputs.count + 10);
	size_t count = 0;

	memset(arguments, 0xff, (node->inputs.count + 10) * sizeof(*arguments));
	for (size_t i = 0; i < node->inputs.count; i++) {
		size_t place = operand_position(item, i);

		if (node->inputs.items[i] == SK_NONE || keyword_of(item, place))
			continue;
		arguments[place] = node->inputs.items[i];
		count = place >= count ? place + 1 : count;
	}
	for (size_t i = 0; i < count; i++) {
		fputs(i ? ", " : "", fx->stream);
		print_operand(fx, arguments[i]);
	}
	if (!sk_fx_is_cast(node))
		return count;
	fprintf(fx->stream, ", %s", types[sk_dtype_of_number(sk_node_integer(node, "to", 0))].type);
	return count + 1;
}

static void print_real(struct fx *fx, double real)
{
	if (isfinite(real))
		fputs(sk_fx_real(fx->arena, real, 9), fx->stream);
	else
		fprintf(fx->stream, "float('%s')", isnan(real) ? "nan" : real > 0 ? "inf" : "-inf");
}

/* Each node takes one line, so line ends in a text are escaped in both forms. */
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
		if (mask) /* the only list of bools in TorchAir's functions */
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

/* Print "k = v" for each attribute, after the separator. Tensors and graphs are too large for a line. */
static void print_attributes(struct fx *fx, const struct sk_fx_item *item, const char *separator, const char *is)
{
	const struct sk_graph_node *node = &fx->graph->nodes.items[item->node];
	const char *first = separator;

	for (size_t i = 0; i < node->attributes.count; i++) {
		const struct sk_attribute *attribute = &node->attributes.items[i];
		int64_t place;
		const char *name = sk_onnx_alias_attribute(fx->arena, item->rules, attribute, &place);

		if (sk_fx_is_cast(node) && !strcmp(attribute->name, "to"))
			continue;
		fprintf(fx->stream, "%s%s%s", first, sk_fx_identifier(fx->arena, name), is);
		if (place >= 0)
			fprintf(fx->stream, "%" PRId64, place);
		else
			print_attribute(fx, attribute);
		first = ", ";
	}
	for (size_t i = 0; i < node->tensors.count; i++, first = ", ")
		fprintf(fx->stream, "%s%s%s...", first, sk_fx_identifier(fx->arena, node->tensors.items[i].name), is);
	for (size_t i = 0; i < node->graphs.count; i++, first = ", ")
		fprintf(fx->stream, "%s%s%s...", first, sk_fx_identifier(fx->arena, node->graphs.items[i].name), is);
}

/* Print a returned value by its name alone, also in the list of nodes. */
static void print_returned(struct fx *fx, uint32_t value)
{
	if (fx->items->made[value] != SK_NONE)
		fputs(fx->items->list.items[fx->items->made[value]].name, fx->stream);
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

/* ---- marks ---- */

enum { MOST_MARKS = 5 };

/* The marks of a node, as TorchAir has them. */
struct marks {
	const char *names[MOST_MARKS], *values[MOST_MARKS];
	size_t count;
};

static void add_mark(struct marks *marks, const char *name, const char *value)
{
	marks->names[marks->count] = name;
	marks->values[marks->count++] = value;
}

static struct marks find_marks(const struct fx *fx, const struct sk_graph_node *node)
{
	struct marks marks = {.count = 0};

	if (node->scope) {
		add_mark(&marks, "_super_kernel_scope", node->scope);
		add_mark(&marks, "_super_kernel_options", node->scope_options ? node->scope_options : "");
	}
	if (node->stream)
		add_mark(&marks, "_user_stream_label", sk_arena_print(fx->arena, "%" PRIu32, node->stream));
	if (node->cube_cores || node->vector_cores) {
		add_mark(&marks, "_op_aicore_num", sk_arena_print(fx->arena, "%" PRIu32, node->cube_cores));
		add_mark(&marks, "_op_vectorcore_num", sk_arena_print(fx->arena, "%" PRIu32, node->vector_cores));
	}
	return marks;
}

static void print_texts(struct fx *fx, const char *const *texts, size_t count)
{
	putc('[', fx->stream);
	for (size_t i = 0; i < count; i++) {
		fputs(i ? ", " : "", fx->stream);
		if (fx->python && !strpbrk(texts[i], "'\\"))
			fprintf(fx->stream, "'%s'", sk_arena_escape(fx->arena, texts[i]));
		else
			print_text(fx, texts[i]);
	}
	putc(']', fx->stream);
}

/* Print a call of torch.ops.air. It has no result. */
static void print_mark(struct fx *fx, const char *call, uint32_t number, const struct marks *marks)
{
	const char *name = number ? sk_arena_print(fx->arena, "%s_%" PRIu32, call, number) : call;

	fprintf(fx->stream,
		fx->python ? "        %s = torch.ops.air.%s.default("
			   : "    %%%s : [num_users=0] = call_function[target=torch.ops.air.%s.default](args = (",
		name, call);
	if (marks) {
		print_texts(fx, marks->names, marks->count);
		fputs(", ", fx->stream);
		print_texts(fx, marks->values, marks->count);
	}
	if (fx->python)
		fprintf(fx->stream, ");  %s = None\n", name);
	else
		fputs("), kwargs = {})\n", fx->stream);
}

/* Begin the marks of the item's node, unless they are those of the node before it, and end those of that; without an
 * item, only end them. */
static void print_marks(struct fx *fx, const struct sk_fx_item *item)
{
	bool called = item && (item->kind == SK_FX_CALL || item->kind == SK_FX_GETITEM);
	const struct sk_graph_node *node =
		called ? &fx->graph->nodes.items[item->kind == SK_FX_CALL ? item->node
							  : fx->items->list.items[item->from].node]
		       : NULL;
	struct marks marks;

	if ((item && !called) || (node && fx->marked && sk_node_same_scope(node, fx->marked)))
		return;
	if (fx->marked)
		print_mark(fx, "scope_exit", fx->ends++, NULL);
	fx->marked = NULL;
	if (!node)
		return;
	marks = find_marks(fx, node);
	if (!marks.count)
		return;
	print_mark(fx, "scope_enter", fx->begins++, &marks);
	fx->marked = node;
}

/* ---- Python ---- */

static void print_annotated(struct fx *fx, const struct sk_fx_item *item)
{
	const struct sk_value *value = item->value == SK_NONE ? NULL : &fx->graph->values.items[item->value];

	fputs(item->name, fx->stream);
	if (value)
		fprintf(fx->stream, ": \"%s%s\"", types[value->dtype].annotation,
			sk_value_shape_text(fx->arena, value));
}

/* Print the items that are no longer needed. Inputs and returned values stay. */
static void print_ends(struct fx *fx, uint32_t number)
{
	const struct sk_fx_item *item = &fx->items->list.items[number];
	const struct sk_graph_node *node = &fx->graph->nodes.items[item->node];
	size_t count = item->kind == SK_FX_CALL ? node->inputs.count : item->kind == SK_FX_GETITEM;
	const char *separator = ";  ";
	bool ended = false;

	for (size_t i = 0; i < count; i++) {
		uint32_t value = item->kind == SK_FX_CALL ? node->inputs.items[i] : SK_NONE;
		uint32_t made = item->kind == SK_FX_GETITEM ? item->from
				: value == SK_NONE	    ? SK_NONE
							    : fx->items->made[value];

		if (made == SK_NONE || fx->items->list.items[made].last != number)
			continue;
		fx->items->list.items[made].last = SK_NONE; /* once, even if it is two operands */
		fprintf(fx->stream, "%s%s = ", separator, fx->items->list.items[made].name);
		separator = "";
		ended = true;
	}
	if (!item->users && item->kind != SK_FX_PLACEHOLDER) {
		fprintf(fx->stream, "%s%s = ", separator, item->name);
		ended = true;
	}
	fputs(ended ? "None\n" : "\n", fx->stream);
}

static void print_statement(struct fx *fx, uint32_t number)
{
	const struct sk_fx_item *item = &fx->items->list.items[number];
	const struct sk_graph_node *node = &fx->graph->nodes.items[item->node];

	fputs("        ", fx->stream);
	print_annotated(fx, item);
	if (item->kind == SK_FX_CONSTANT) {
		fprintf(fx->stream, " = self.%s", item->name);
	} else if (item->kind == SK_FX_GETITEM) {
		fprintf(fx->stream, " = %s[%" PRIu32 "]", fx->items->list.items[item->from].name, item->number);
	} else {
		fprintf(fx->stream, " = %s(", item->target);
		print_operands(fx, item);
		print_keywords(fx, item, ", ", " = ");
		print_attributes(fx, item, node->inputs.count ? ", " : "", " = ");
		putc(')', fx->stream);
	}
	print_ends(fx, number);
}

static struct fx begin_fx(const struct sk_op_graph *graph, struct sk_fx_names *names, bool python, FILE *stream)
{
	struct sk_arena *arena = sk_arena_create();

	return (struct fx){.arena = arena,
			   .graph = graph,
			   .stream = stream,
			   .python = python,
			   .items = sk_fx_items_make(arena, graph, names)};
}

void sk_dump_fx_python(const struct sk_op_graph *graph, struct sk_fx_names *names, FILE *stream)
{
	struct fx fx = begin_fx(graph, names, true, stream);

	fputs("class GraphModule(torch.nn.Module):\n    def forward(self", stream);
	for (size_t i = 0; i < fx.items->list.count && fx.items->list.items[i].kind == SK_FX_PLACEHOLDER; i++) {
		fputs(", ", stream);
		print_annotated(&fx, &fx.items->list.items[i]);
	}
	fputs("):\n        # No stacktrace found for following nodes\n", stream);
	for (uint32_t i = 0; i < fx.items->list.count; i++) {
		if (fx.items->list.items[i].kind == SK_FX_PLACEHOLDER)
			continue;
		print_marks(&fx, &fx.items->list.items[i]);
		print_statement(&fx, i);
	}
	print_marks(&fx, NULL);
	print_return(&fx, "        ");
	sk_arena_destroy(fx.arena);
}

/* ---- the list of nodes ---- */

static void print_line(struct fx *fx, const struct sk_fx_item *item)
{
	fprintf(fx->stream, "    %%%s : [num_users=%" PRIu32 "] = ", item->name, item->users);
	switch (item->kind) {
	case SK_FX_PLACEHOLDER:
		fprintf(fx->stream, "placeholder[target=%s]\n", item->name);
		break;
	case SK_FX_CONSTANT:
		fprintf(fx->stream, "get_attr[target=%s]\n", item->name);
		break;
	case SK_FX_GETITEM:
		fprintf(fx->stream, "call_function[target=operator.getitem](args = (%%%s, %" PRIu32 "), kwargs = {})\n",
			fx->items->list.items[item->from].name, item->number);
		break;
	case SK_FX_CALL:
		fprintf(fx->stream, "call_function[target=%s](args = (", item->target);
		fputs(print_operands(fx, item) == 1 ? ",), kwargs = {" : "), kwargs = {", fx->stream);
		print_attributes(fx, item, print_keywords(fx, item, "", ": ") ? ", " : "", ": ");
		fputs("})\n", fx->stream);
		break;
	}
}

void sk_dump_fx_graph(const struct sk_op_graph *graph, struct sk_fx_names *names, FILE *stream)
{
	struct fx fx = begin_fx(graph, names, false, stream);

	fputs("graph():\n", stream);
	for (size_t i = 0; i < fx.items->list.count; i++) {
		print_marks(&fx, &fx.items->list.items[i]);
		print_line(&fx, &fx.items->list.items[i]);
	}
	print_marks(&fx, NULL);
	print_return(&fx, "    ");
	sk_arena_destroy(fx.arena);
}
