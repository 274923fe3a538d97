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

struct maker {
	struct sk_arena *arena;
	const struct sk_op_graph *graph;
	struct sk_fx_items *items;
	const uint32_t *uses; /* by value: its uses by nodes */
	uint32_t constants; /* items */
	struct sk_map names; /* of items, and bases of names */
	SK_ARRAY(uint32_t) numbers; /* by base: the number of names made of it */
};

/* ---- names ---- */

/* Return an unused name: "add_tensor", and then "add_tensor_1". */
static const char *new_name(struct maker *maker, const char *base)
{
	uint32_t new = (uint32_t)maker->numbers.count;
	uint32_t place = sk_map_insert(&maker->names, base, strlen(base), new);
	const char *name;

	if (place == new) {
		sk_array_push(maker->arena, &maker->numbers, 0);
		return base;
	}
	name = sk_arena_print(maker->arena, "%s_%" PRIu32, base, ++maker->numbers.items[place]);
	return new_name(maker, name);
}

char *sk_fx_identifier(struct sk_arena *arena, const char *text)
{
	char *copy = sk_arena_copy(arena, text, strlen(text));

	for (char *at = copy; *at; at++)
		if (!isalnum((unsigned char)*at))
			*at = '_';
	return copy;
}

/* Return the base of names: "add_tensor" for "add.Tensor". */
static const char *base_of(struct maker *maker, const char *target)
{
	char *base = sk_fx_identifier(maker->arena, target);

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
	item->name = new_name(maker, base_of(maker, name));
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

	if (value == SK_NONE || maker->items->made[value] != SK_NONE || !maker->graph->values.items[value].contents ||
	    sk_fx_literal(maker->arena, &maker->graph->values.items[value]))
		return;
	name = sk_arena_print(maker->arena, "_tensor_constant%" PRIu32, maker->constants++);
	maker->items->made[value] = add_item(
		maker, (struct sk_fx_item){.kind = SK_FX_CONSTANT, .name = new_name(maker, name), .value = value});
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

		if (value == SK_NONE || (several && !maker->uses[value] && !maker->graph->values.items[value].output))
			continue;
		maker->items->made[value] =
			!several ? call
				 : add_item(maker, (struct sk_fx_item){.kind = SK_FX_GETITEM,
								       .name = new_name(maker, "getitem"),
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
				maker, (struct sk_fx_item){
					       .kind = SK_FX_PLACEHOLDER,
					       .name = new_name(maker, sk_arena_print(maker->arena, "arg%zu_1", i)),
					       .value = value});
	}
	for (uint32_t n = 0; n < graph->nodes.count; n++)
		if (sk_node_is_live(graph, &graph->nodes.items[n]))
			add_call(maker, n);
	for (size_t i = 0; i < graph->outputs.count; i++)
		add_constant(maker, graph->outputs.items[i]);
	count_users(maker);
}
struct sk_fx_items *sk_fx_items_make(struct sk_arena *arena, const struct sk_op_graph *graph)
{
	struct maker maker = {.arena = arena, .graph = graph, .items = SK_NEW(arena, struct sk_fx_items)};

	sk_map_init(&maker.names, arena);
	add_items(&maker);
	return maker.items;
}
