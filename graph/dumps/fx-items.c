/* Items; see dumps-parts.h. Their names are derived from operators as in FX. */
#include "graph/dumps/dumps-parts.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/onnx/onnx.h"

enum { LITERAL_ELEMENTS = 16 };

/* Operators with another name in aten, the same operands and no attributes. npu's names are GE's aliases. */
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

struct sk_fx_names {
	struct sk_arena *arena;
	uint32_t constants; /* items */
	struct sk_map bases; /* names of items, and bases of names */
	SK_ARRAY(uint32_t) numbers; /* by base: the number of names made of it */
	struct sk_map items; /* a node and a value, to the item's name */
	SK_ARRAY(const char *) names;
};

struct maker {
	struct sk_arena *arena;
	const struct sk_op_graph *graph;
	struct sk_fx_items *items;
	struct sk_fx_names *names;
	const uint32_t *uses; /* by value: its uses by nodes */
};

/* ---- names ---- */

struct sk_fx_names *sk_fx_names_create(struct sk_arena *arena)
{
	struct sk_fx_names *names = SK_NEW(arena, struct sk_fx_names);

	names->arena = arena;
	sk_map_init(&names->bases, arena);
	sk_map_init(&names->items, arena);
	return names;
}

/* Return an unused name: "add_tensor", and then "add_tensor_1". */
static const char *new_name(struct sk_fx_names *names, const char *base)
{
	const char *copy = sk_arena_copy(names->arena, base, strlen(base));
	uint32_t new = (uint32_t)names->numbers.count;
	uint32_t place = sk_map_insert(&names->bases, copy, strlen(copy), new);

	if (place == new) {
		sk_array_push(names->arena, &names->numbers, 0);
		return copy;
	}
	return new_name(names, sk_arena_print(names->arena, "%s_%" PRIu32, base, ++names->numbers.items[place]));
}

/* Return the name of the item that the node has for the value; a new one, unless the item has been there before. */
static const char *item_name(struct maker *maker, const char *node, uint32_t value, const char *base)
{
	struct sk_fx_names *names = maker->names;
	const char *key = sk_arena_print(names->arena, "%" PRIu32 " %s", value, node);
	uint32_t new = (uint32_t)names->names.count;
	uint32_t place = sk_map_insert(&names->items, key, strlen(key), new);

	if (place == new)
		sk_array_push(names->arena, &names->names, new_name(names, base));
	return names->names.items[place];
}

char *sk_fx_identifier(struct sk_arena *arena, const char *text)
{
	char *copy = sk_arena_copy(arena, text, strlen(text));

	for (char *at = copy; *at; at++)
		if (!isalnum((unsigned char)*at))
			*at = '_';
	return copy;
}

/* Return the base of names, as FX makes it: "add" for "add.Tensor" of the model, "add_tensor" for that of a pattern. */
static const char *base_of(struct maker *maker, const struct sk_graph_node *node, const char *target)
{
	char *base = sk_fx_identifier(maker->arena,
				      node->rule ? target : sk_arena_copy(maker->arena, target, strcspn(target, ".")));

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

bool sk_fx_is_cast(const struct sk_graph_node *node)
{
	return !*node->domain && !strcmp(node->op, "Cast");
}

static uint32_t first_output(const struct sk_graph_node *node)
{
	for (size_t i = 0; i < node->outputs.count; i++)
		if (node->outputs.items[i] != SK_NONE)
			return node->outputs.items[i];
	return SK_NONE;
}

/* Set the name of the operator; true if the call has several results. */
static bool name_target(struct maker *maker, const struct sk_graph_node *node, struct sk_fx_item *item)
{
	const struct sk_onnx_alias npu = sk_onnx_find_alias(maker->arena, "ge", "npu_", node->domain, node->op);
	const char *name = find_aten(node);
	const char *space = *node->domain ? sk_fx_identifier(maker->arena, node->domain) : "onnx";

	if (npu.name) {
		space = "npu";
		name = sk_arena_join(maker->arena, npu.name, ".default");
		item->order = *npu.rules == '@' ? npu.rules + 1 : NULL;
	} else if (sk_fx_is_cast(node)) {
		space = "npu";
		name = "_npu_dtype_cast.default";
	} else if (name) {
		space = "aten";
	} else {
		name = sk_arena_join(maker->arena, sk_fx_identifier(maker->arena, node->op), ".default");
	}
	item->rules = npu.rules;
	item->target = sk_arena_print(maker->arena, "torch.ops.%s.%s", space, name);
	/* TorchAir's functions that only change shapes are views when they get names. */
	item->name = item_name(maker, sk_node_name(maker->graph, node), first_output(node),
			       base_of(maker, node, sk_node_is(node, "Reshape") ? "view.default" : name));
	return npu.name ? npu.outputs > 1 : node->outputs.count > 1;
}

/* ---- items ---- */

static uint32_t add_item(struct maker *maker, struct sk_fx_item item)
{
	item.last = SK_NONE;
	sk_array_push(maker->arena, &maker->items->list, item);
	return (uint32_t)maker->items->list.count - 1;
}

const char *sk_fx_real(struct sk_arena *arena, double real, int digits)
{
	const char *text = sk_arena_print(arena, "%.*g", digits, real);

	return strpbrk(text, ".e") ? text : sk_arena_join(arena, text, ".0");
}

const char *sk_fx_literal(struct sk_arena *arena, const struct sk_value *value)
{
	const int64_t *integers;
	uint64_t count;
	double number;
	const char *text = "[";

	if (!value->contents || value->rank > 1 || sk_value_elements(value) > LITERAL_ELEMENTS)
		return NULL;
	if (sk_value_is_float(value))
		return value->rank == 0 && sk_value_number(value, &number) && isfinite(number)
			       ? sk_fx_real(arena, number, value->dtype == SK_F64 ? 17 : 9)
			       : NULL;
	if (!sk_value_integers(arena, value, &count, &integers))
		return NULL;
	if (value->rank == 0)
		return sk_arena_print(arena, "%" PRId64, integers[0]);
	for (uint64_t i = 0; i < count; i++)
		text = sk_arena_print(arena, "%s%s%" PRId64, text, i ? ", " : "", integers[i]);
	return sk_arena_join(arena, text, "]");
}

/* Add a constant before the first node that reads it. */
static void add_constant(struct maker *maker, uint32_t value)
{
	const char *name;
	size_t known;

	if (value == SK_NONE || maker->items->made[value] != SK_NONE || !maker->graph->values.items[value].contents ||
	    sk_fx_literal(maker->arena, &maker->graph->values.items[value]))
		return;
	known = maker->names->names.count;
	name = sk_arena_print(maker->arena, "_tensor_constant%" PRIu32, maker->names->constants);
	name = item_name(maker, "", value, name);
	maker->names->constants += maker->names->names.count > known;
	maker->items->made[value] =
		add_item(maker, (struct sk_fx_item){.kind = SK_FX_CONSTANT, .name = name, .value = value});
}

/* Return the name of a result of a call. In FX all results of a model's call have one, used or not. */
static const char *result_name(struct maker *maker, const struct sk_graph_node *node, const char *call, size_t number)
{
	uint32_t value = node->outputs.items[number];

	return value == SK_NONE && node->rule
		       ? NULL
		       : item_name(maker, sk_arena_print(maker->arena, "%zu %s", number, call), value, "getitem");
}

static void add_call(struct maker *maker, uint32_t number)
{
	const struct sk_graph_node *node = &maker->graph->nodes.items[number];
	struct sk_fx_item item = {.kind = SK_FX_CALL, .node = number, .value = SK_NONE};
	bool several;
	uint32_t call;

	for (size_t i = 0; i < node->inputs.count; i++)
		add_constant(maker, node->inputs.items[i]);
	several = name_target(maker, node, &item);
	if (!several)
		item.value = node->outputs.items[0];
	call = add_item(maker, item);
	for (size_t i = 0; i < node->outputs.count; i++) {
		uint32_t value = node->outputs.items[i];
		const char *name = several ? result_name(maker, node, item.name, i) : NULL;

		if (value == SK_NONE || (several && !maker->uses[value] && !maker->graph->values.items[value].output))
			continue;
		maker->items->made[value] = !several ? call
						     : add_item(maker, (struct sk_fx_item){.kind = SK_FX_GETITEM,
											   .name = name,
											   .value = value,
											   .from = call,
											   .number = (uint32_t)i});
	}
}

/* Count a user of an item once. */
static void add_user(struct maker *maker, uint32_t value, uint32_t user, uint32_t *seen)
{
	uint32_t made = value == SK_NONE ? SK_NONE : maker->items->made[value];

	if (made == SK_NONE || seen[made] == user)
		return;
	seen[made] = user;
	maker->items->list.items[made].users++;
	maker->items->list.items[made].last = user;
}

static void count_users(struct maker *maker)
{
	uint32_t count = (uint32_t)maker->items->list.count;
	uint32_t *seen = SK_NEW_ARRAY(maker->arena, uint32_t, count + 1);

	memset(seen, 0xff, count * sizeof(*seen));
	for (uint32_t i = 0; i < count; i++) {
		struct sk_fx_item *item = &maker->items->list.items[i];

		if (item->kind == SK_FX_GETITEM) {
			maker->items->list.items[item->from].users++;
			maker->items->list.items[item->from].last = i;
		}
		if (item->kind != SK_FX_CALL)
			continue;
		const struct sk_graph_node *node = &maker->graph->nodes.items[item->node];

		for (size_t j = 0; j < node->inputs.count; j++)
			add_user(maker, node->inputs.items[j], i, seen);
	}
	for (size_t i = 0; i < maker->graph->outputs.count; i++)
		add_user(maker, maker->graph->outputs.items[i], count, seen);
}

static void add_items(struct maker *maker)
{
	const struct sk_op_graph *graph = maker->graph;

	maker->uses = sk_graph_count_uses(graph);
	maker->items->made = SK_NEW_ARRAY(maker->arena, uint32_t, graph->values.count + 1);
	memset(maker->items->made, 0xff, graph->values.count * sizeof(*maker->items->made));
	for (size_t i = 0; i < graph->inputs.count; i++) {
		uint32_t value = graph->inputs.items[i];

		if (!graph->values.items[value].contents)
			maker->items->made[value] = add_item(
				maker,
				(struct sk_fx_item){.kind = SK_FX_PLACEHOLDER,
						    .name = item_name(maker, "", value,
								      sk_arena_print(maker->arena, "arg%zu_1", i)),
						    .value = value});
	}
	for (uint32_t n = 0; n < graph->nodes.count; n++)
		if (sk_node_is_live(graph, &graph->nodes.items[n]))
			add_call(maker, n);
	for (size_t i = 0; i < graph->outputs.count; i++)
		add_constant(maker, graph->outputs.items[i]);
	count_users(maker);
}

struct sk_fx_items *sk_fx_items_make(struct sk_arena *arena, const struct sk_op_graph *graph, struct sk_fx_names *names)
{
	struct maker maker = {
		.arena = arena, .graph = graph, .items = SK_NEW(arena, struct sk_fx_items), .names = names};

	add_items(&maker);
	return maker.items;
}
