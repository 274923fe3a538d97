/* The graph's building blocks; see graph.h. */
#include "graph/graph.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/ranges.h"
#include "base/sizes.h"
#include "format/convention.h"
#include "format/signature/signature.h"
#include "format/skplan.h"

struct sk_op_graph *sk_graph_create(struct sk_arena *arena, struct sk_diag *diag, const char *file)
{
	struct sk_op_graph *graph = SK_NEW(arena, struct sk_op_graph);

	graph->arena = arena;
	graph->diag = diag;
	graph->file = file;
	graph->name = "";
	sk_map_init(&graph->value_names, arena);
	return graph;
}

uint32_t sk_graph_value(struct sk_op_graph *graph, const char *name)
{
	uint32_t new = (uint32_t)graph->values.count;
	uint32_t value = sk_map_insert(&graph->value_names, name, strlen(name), new);

	if (value == new)
		sk_array_push(
			graph->arena, &graph->values,
			(struct sk_value){
				.name = name, .place = {.file = graph->file}, .node = SK_NONE, .view_of = SK_NONE});
	return value;
}

uint32_t sk_graph_new_value(struct sk_op_graph *graph, const char *base, enum sk_dtype dtype, uint32_t rank,
			    const uint64_t *shape)
{
	const char *name = base;

	for (size_t number = graph->values.count; sk_map_find(&graph->value_names, name, strlen(name)) != SK_NONE;
	     number++)
		name = sk_arena_print(graph->arena, "%s#%zu", base, number);

	uint32_t index = sk_graph_value(graph, name);
	struct sk_value *value = &graph->values.items[index];

	value->dtype = dtype;
	value->shaped = true;
	value->rank = rank;
	if (rank)
		memcpy(value->shape, shape, rank * sizeof(*shape));
	return index;
}

void sk_value_set_shape(struct sk_value *value, const struct sk_value *like)
{
	value->shaped = like->shaped;
	value->rank = like->rank;
	memcpy(value->shape, like->shape, sizeof(value->shape));
	memcpy(value->sizes, like->sizes, sizeof(value->sizes));
}

uint32_t sk_graph_new_like(struct sk_op_graph *graph, const char *base, enum sk_dtype dtype,
			   const struct sk_value *like)
{
	const struct sk_value shape = *like; /* values may move */
	uint32_t index = sk_graph_new_value(graph, base, dtype, shape.rank, shape.shape);

	sk_value_set_shape(&graph->values.items[index], &shape);
	return index;
}

uint32_t sk_graph_new_constant(struct sk_op_graph *graph, const char *base, enum sk_dtype dtype, uint32_t rank,
			       const uint64_t *shape, const void *elements)
{
	uint32_t index = sk_graph_new_value(graph, base, dtype, rank, shape);
	struct sk_value *value = &graph->values.items[index];
	uint64_t bytes = sk_value_elements(value) * sk_dtype_size(dtype);

	value->contents = sk_arena_copy(graph->arena, elements, bytes);
	return index;
}

void sk_graph_make_constant(struct sk_op_graph *graph, uint32_t index, const void *contents)
{
	struct sk_value *value = &graph->values.items[index];

	value->contents = contents;
	value->node = SK_NONE;
	value->view_of = SK_NONE;
}

void sk_graph_redirect(struct sk_op_graph *graph, uint32_t value, uint32_t to)
{
	struct sk_value *from = &graph->values.items[value], *by = &graph->values.items[to];

	from->fixed = by->fixed |= from->fixed;
	from->known = by->known = from->known ? from->known : by->known;
	if (from->contents && !by->contents)
		sk_graph_make_constant(graph, to, from->contents);
	else if (by->contents && !from->contents)
		sk_graph_make_constant(graph, value, by->contents);
}

void sk_graph_make_sequence(struct sk_op_graph *graph, uint32_t value, const sk_graph_sequence *sequence)
{
	if (value == SK_NONE)
		return;
	graph->values.items[value].sequence = sequence;
	graph->values.items[value].node = SK_NONE;
}

uint32_t sk_graph_new_integers(struct sk_op_graph *graph, const char *base, uint64_t count, const int64_t *integers)
{
	return sk_graph_new_constant(graph, base, SK_I64, 1, &count, integers);
}

/* ---- composites ---- */

struct sk_composite_names sk_composite_names(struct sk_arena *arena, const struct sk_op_graph *graph)
{
	struct sk_composite_names names = {.arena = arena};

	sk_map_init(&names.places, arena);
	for (size_t i = 0; graph && i < graph->composites.count; i++)
		sk_composite_names_add(&names, graph->composites.items[i].name);
	return names;
}

const char *sk_composite_names_add(struct sk_composite_names *names, const char *name)
{
	const char *base = name;
	uint32_t next = (uint32_t)names->last.count;
	uint32_t place = sk_map_insert(&names->places, base, strlen(base), next);

	while (sk_map_insert(&names->places, name, strlen(name), next) != next)
		name = sk_arena_print(names->arena, "%s_%u", base, ++names->last.items[place]);
	sk_array_push(names->arena, &names->last, 1);
	return name;
}

/* ---- nodes ---- */

struct sk_graph_node *sk_graph_add_node(struct sk_op_graph *graph, const char *op)
{
	sk_array_push(graph->arena, &graph->nodes,
		      (struct sk_graph_node){.name = "", .place = {.file = graph->file}, .op = op, .domain = ""});
	return &graph->nodes.items[graph->nodes.count - 1];
}

static struct sk_value *find_value(const struct sk_op_graph *graph, const uint32_t *values, size_t count, size_t number)
{
	return number < count && values[number] != SK_NONE ? &graph->values.items[values[number]] : NULL;
}

struct sk_value *sk_node_input(const struct sk_op_graph *graph, const struct sk_graph_node *node, size_t number)
{
	return find_value(graph, node->inputs.items, node->inputs.count, number);
}

struct sk_value *sk_node_output(const struct sk_op_graph *graph, const struct sk_graph_node *node, size_t number)
{
	return find_value(graph, node->outputs.items, node->outputs.count, number);
}

uint32_t sk_value_root(const struct sk_op_graph *graph, uint32_t value)
{
	while (value != SK_NONE && graph->values.items[value].view_of != SK_NONE)
		value = graph->values.items[value].view_of;
	return value;
}

uint64_t sk_value_offset(const struct sk_op_graph *graph, uint32_t value)
{
	uint64_t offset = 0;

	for (; value != SK_NONE && graph->values.items[value].view_of != SK_NONE;
	     value = graph->values.items[value].view_of)
		offset += graph->values.items[value].view_offset;
	return offset;
}

bool sk_node_is_live(const struct sk_op_graph *graph, const struct sk_graph_node *node)
{
	for (size_t i = 0; i < node->outputs.count; i++)
		if (node->outputs.items[i] != SK_NONE && !graph->values.items[node->outputs.items[i]].contents)
			return !node->removed;
	return false;
}

bool sk_node_is(const struct sk_graph_node *node, const char *op)
{
	const char *colon = strchr(op, ':');

	if (!colon)
		return !*node->domain && !strcmp(node->op, op);
	return !strcmp(node->op, colon + 1) && !strcmp(node->domain, SK_OWN_DOMAIN);
}

bool sk_node_is_one_of(const struct sk_graph_node *node, const char *const *ops)
{
	for (; *ops; ops++)
		if (sk_node_is(node, *ops))
			return true;
	return false;
}

bool sk_node_is_commutative(const struct sk_graph_node *node)
{
	static const char *const ops[] = {"Add", "Mul", "And", "Or", "Xor", "Equal", "sklink:NotEqual", NULL};

	return node->inputs.count == 2 && sk_node_is_one_of(node, ops);
}

bool sk_node_is_of_ge(const struct sk_graph_node *node)
{
	return node->origin && !strncmp(node->origin, "ge:", 3);
}

bool sk_node_same_scope(const struct sk_graph_node *a, const struct sk_graph_node *b)
{
	return a->stream == b->stream && a->cube_cores == b->cube_cores && a->vector_cores == b->vector_cores &&
	       (a->scope ? b->scope && !strcmp(a->scope, b->scope) : !b->scope);
}

uint64_t sk_value_elements(const struct sk_value *value)
{
	uint64_t elements = 1;

	for (uint32_t i = 0; i < value->rank; i++)
		elements *= value->shape[i];
	return elements;
}

uint64_t sk_value_bytes(const struct sk_value *value)
{
	return sk_value_elements(value) * sk_dtype_size(value->dtype);
}

const char *sk_partial_shape_text(struct sk_arena *arena, uint32_t rank, const uint64_t *shape)
{
	const char *text = "[";

	for (uint32_t i = 0; i < rank; i++)
		text = shape[i] == SK_UNKNOWN ? sk_arena_print(arena, "%s%s?", text, i ? ", " : "")
					      : sk_arena_print(arena, "%s%s%" PRIu64, text, i ? ", " : "", shape[i]);
	return sk_arena_join(arena, text, "]");
}

const char *sk_value_shape_text(struct sk_arena *arena, const struct sk_value *value)
{
	const char *text = "[";

	for (uint32_t i = 0; i < value->rank; i++) {
		const char *size = value->shape[i] == SK_UNKNOWN ? "?"
				   : value->sizes[i]		 ? sk_size_text(arena, value->sizes[i])
								 : sk_arena_print(arena, "%" PRIu64, value->shape[i]);

		text = sk_arena_print(arena, "%s%s%s", text, i ? ", " : "", size);
	}
	return sk_arena_join(arena, text, "]");
}

bool sk_shape_is_countable(enum sk_dtype dtype, uint32_t rank, const uint64_t *shape)
{
	uint64_t bytes = sk_dtype_size(dtype);

	for (uint32_t i = 0; i < rank; i++)
		if (shape[i] && shape[i] != SK_UNKNOWN && (!sk_mul(bytes, shape[i], &bytes) || bytes > INT64_MAX))
			return false;
	return true;
}

bool sk_value_admits(const struct sk_value *value, uint32_t rank, const uint64_t *shape)
{
	if (!value->shaped)
		return true;
	if (value->rank != rank)
		return false;
	for (uint32_t i = 0; i < rank; i++)
		if (value->shape[i] != SK_UNKNOWN && value->shape[i] != shape[i])
			return false;
	return true;
}

bool sk_value_is_float(const struct sk_value *value)
{
	return sk_dtype_is_float(value->dtype);
}

bool sk_value_is_static(const struct sk_value *value)
{
	bool known = value->dtype != SK_DTYPE_NONE && value->shaped;

	for (uint32_t i = 0; known && i < value->rank; i++)
		known = value->shape[i] != SK_UNKNOWN;
	return known;
}

/* ---- constants ---- */

static bool read_integer(enum sk_dtype dtype, const uint8_t *element, int64_t *integer)
{
	union {
		int8_t i8;
		int16_t i16;
		int32_t i32;
		int64_t i64;
		uint64_t bits;
	} number = {.bits = 0};

	memcpy(&number, element, sk_dtype_size(dtype)); /* little-endian, as packages are */
	switch (dtype) {
	case SK_I8:
		*integer = number.i8;
		return true;
	case SK_I16:
		*integer = number.i16;
		return true;
	case SK_I32:
		*integer = number.i32;
		return true;
	case SK_I64:
	case SK_U8:
	case SK_U16:
	case SK_U32:
	case SK_U64:
	case SK_BOOL:
		*integer = number.i64;
		return true;
	default:
		return false;
	}
}

static double half_number(uint32_t bits)
{
	uint32_t exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
	double number = exponent ? ldexp(fraction | 0x400, (int)exponent - 25) : ldexp(fraction, -24);

	if (exponent == 0x1f)
		number = fraction ? NAN : INFINITY;
	return bits >> 15 ? -number : number;
}

double sk_element_number(enum sk_dtype dtype, const void *element)
{
	int64_t integer = 0;
	uint32_t bits = 0;
	double real;
	float single;

	switch (dtype) {
	case SK_F64:
		memcpy(&real, element, sizeof(real));
		return real;
	case SK_F32:
		memcpy(&single, element, sizeof(single));
		return (double)single;
	case SK_BF16:
		memcpy((uint8_t *)&bits + 2, element, 2);
		memcpy(&single, &bits, sizeof(single));
		return (double)single;
	case SK_F16:
		memcpy(&bits, element, 2);
		return half_number(bits);
	default:
		read_integer(dtype, element, &integer);
		return dtype == SK_U64 ? (double)(uint64_t)integer : (double)integer;
	}
}

bool sk_value_same_extent(const struct sk_value *one, const struct sk_value *other, uint32_t d)
{
	return one->shape[d] == other->shape[d] && one->sizes[d] == other->sizes[d];
}

const void *sk_value_known(const struct sk_value *value)
{
	return value->contents ? value->contents : value->known;
}

bool sk_value_integers(struct sk_arena *arena, const struct sk_value *value, uint64_t *count, const int64_t **integers)
{
	const uint8_t *elements = sk_value_known(value);

	if (!elements || !sk_value_is_static(value))
		return false;
	*count = sk_value_elements(value);

	int64_t *list = SK_NEW_ARRAY(arena, int64_t, *count + 1);

	*integers = list;
	for (uint64_t i = 0; i < *count; i++)
		if (!read_integer(value->dtype, elements + i * sk_dtype_size(value->dtype), &list[i]) ||
		    (value->dtype == SK_U64 && list[i] < 0))
			return false;
	return true;
}

const void *sk_elements_of_reals(struct sk_arena *arena, enum sk_dtype dtype, uint64_t count, const double *reals)
{
	float *singles;

	if (dtype == SK_F64)
		return reals;
	singles = SK_NEW_ARRAY(arena, float, count + 1);
	for (uint64_t i = 0; i < count; i++)
		singles[i] = (float)reals[i];
	return singles;
}

bool sk_value_number(const struct sk_value *value, double *number)
{
	const void *element = sk_value_known(value);

	if (!element || !sk_value_is_static(value) || sk_value_elements(value) != 1 || value->dtype == SK_F16 ||
	    value->dtype == SK_BF16)
		return false;
	*number = sk_element_number(value->dtype, element);
	return true;
}

bool sk_constant_is(const struct sk_value *value, double number)
{
	uint64_t bits, elements = sk_value_elements(value);
	uint32_t size = sk_dtype_size(value->dtype);

	if (!value->contents || !elements || !sk_real_bits(number, value->dtype, &bits))
		return false;
	for (uint64_t i = 0; i < elements; i++)
		if (memcmp((const uint8_t *)value->contents + i * size, &bits, size))
			return false; /* little-endian, as packages are */
	return true;
}

enum sk_dtype sk_dtype_of_number(int64_t number)
{
	static const enum sk_dtype dtypes[] = {
		[1] = SK_F32,  [2] = SK_U8,   [3] = SK_I8,   [4] = SK_U16,  [5] = SK_I16,  [6] = SK_I32,  [7] = SK_I64,
		[9] = SK_BOOL, [10] = SK_F16, [11] = SK_F64, [12] = SK_U32, [13] = SK_U64, [16] = SK_BF16};

	return number > 0 && number < (int64_t)(sizeof(dtypes) / sizeof(dtypes[0])) ? dtypes[number] : SK_DTYPE_NONE;
}

/* ---- attributes ---- */

const struct sk_attribute *sk_node_attribute(const struct sk_graph_node *node, const char *name)
{
	for (size_t i = 0; i < node->attributes.count; i++)
		if (!strcmp(node->attributes.items[i].name, name))
			return &node->attributes.items[i];
	return NULL;
}

int64_t sk_node_integer(const struct sk_graph_node *node, const char *name, int64_t otherwise)
{
	const struct sk_attribute *attribute = sk_node_attribute(node, name);

	return attribute && attribute->kind == SK_ATTRIBUTE_INTEGER ? attribute->integer : otherwise;
}

double sk_node_real(const struct sk_graph_node *node, const char *name, double otherwise)
{
	const struct sk_attribute *attribute = sk_node_attribute(node, name);

	return attribute && attribute->kind == SK_ATTRIBUTE_REAL ? attribute->real : otherwise;
}

const char *sk_node_string(const struct sk_graph_node *node, const char *name, const char *otherwise)
{
	const struct sk_attribute *attribute = sk_node_attribute(node, name);

	return attribute && attribute->kind == SK_ATTRIBUTE_STRING ? attribute->string : otherwise;
}

const int64_t *sk_node_integers(const struct sk_graph_node *node, const char *name, size_t *count)
{
	const struct sk_attribute *attribute = sk_node_attribute(node, name);

	*count = attribute && attribute->kind == SK_ATTRIBUTE_INTEGERS ? attribute->count : 0;
	return attribute && attribute->kind == SK_ATTRIBUTE_INTEGERS ? attribute->integers : NULL;
}

void sk_node_set_attribute(struct sk_op_graph *graph, struct sk_graph_node *node, struct sk_attribute attribute)
{
	for (size_t i = 0; i < node->attributes.count; i++) {
		if (strcmp(node->attributes.items[i].name, attribute.name))
			continue;
		node->attributes.items[i] = attribute;
		return;
	}
	sk_array_push(graph->arena, &node->attributes, attribute);
}

const struct sk_attribute *sk_node_note(const struct sk_graph_node *node, const char *name)
{
	for (size_t i = 0; i < node->notes.count; i++)
		if (!strcmp(node->notes.items[i].name, name))
			return &node->notes.items[i];
	return NULL;
}

int64_t sk_node_note_integer(const struct sk_graph_node *node, const char *name, int64_t otherwise)
{
	const struct sk_attribute *note = sk_node_note(node, name);

	return note && note->kind == SK_ATTRIBUTE_INTEGER ? note->integer : otherwise;
}

void sk_node_set_note(struct sk_op_graph *graph, struct sk_graph_node *node, const char *name, int64_t integer)
{
	const struct sk_attribute note = {
		.name = name, .place = node->place, .kind = SK_ATTRIBUTE_INTEGER, .integer = integer};

	for (size_t i = 0; i < node->notes.count; i++) {
		if (strcmp(node->notes.items[i].name, name))
			continue;
		node->notes.items[i] = note;
		return;
	}
	sk_array_push(graph->arena, &node->notes, note);
}

void sk_node_set_integer(struct sk_op_graph *graph, struct sk_graph_node *node, const char *name, int64_t integer)
{
	sk_node_set_attribute(
		graph, node,
		(struct sk_attribute){
			.name = name, .place = node->place, .kind = SK_ATTRIBUTE_INTEGER, .integer = integer});
}

void sk_node_remove_attribute(struct sk_graph_node *node, const char *name)
{
	size_t kept = 0;

	for (size_t i = 0; i < node->attributes.count; i++)
		if (strcmp(node->attributes.items[i].name, name))
			node->attributes.items[kept++] = node->attributes.items[i];
	node->attributes.count = kept;
}

static const char *const kind_names[] = {
	[SK_ATTRIBUTE_INTEGER] = "an integer",	    [SK_ATTRIBUTE_REAL] = "a number",
	[SK_ATTRIBUTE_STRING] = "a text",	    [SK_ATTRIBUTE_INTEGERS] = "a list of integers",
	[SK_ATTRIBUTE_REALS] = "a list of numbers", [SK_ATTRIBUTE_STRINGS] = "a list of texts",
};

bool sk_node_check_kind(struct sk_op_graph *graph, const struct sk_graph_node *node, const struct sk_attribute *given,
			enum sk_attribute_kind kind)
{
	if (given->kind == kind)
		return true;
	sk_node_error(graph, node, "attribute '%s' is %s, not %s", given->name, kind_names[kind],
		      kind_names[given->kind]);
	return false;
}

bool sk_node_drop_attribute(struct sk_op_graph *graph, struct sk_graph_node *node, const char *name,
			    enum sk_attribute_kind kind)
{
	const struct sk_attribute *given = sk_node_attribute(node, name);

	if (given && !sk_node_check_kind(graph, node, given, kind))
		return false;
	sk_node_remove_attribute(node, name);
	return true;
}

void sk_node_make_list(struct sk_op_graph *graph, struct sk_graph_node *node, const char *name)
{
	for (size_t i = 0; i < node->attributes.count; i++) {
		struct sk_attribute *attribute = &node->attributes.items[i];
		int64_t *list;

		if (strcmp(attribute->name, name) || attribute->kind != SK_ATTRIBUTE_INTEGER)
			continue;
		list = SK_NEW(graph->arena, int64_t);
		*list = attribute->integer;
		attribute->kind = SK_ATTRIBUTE_INTEGERS;
		attribute->integers = list;
		attribute->count = 1;
	}
}

void sk_node_take_integers(struct sk_op_graph *graph, struct sk_graph_node *node, const char *name)
{
	size_t count;
	const int64_t *integers = sk_node_integers(node, name, &count);
	const struct sk_attribute *given = sk_node_attribute(node, name);
	uint32_t value;

	if (given && !sk_node_check_kind(graph, node, given, SK_ATTRIBUTE_INTEGERS))
		sk_node_remove_attribute(node, name);
	if (!integers)
		return;
	value = sk_graph_new_integers(graph, name, count, integers);
	sk_array_push(graph->arena, &node->inputs, value);
	sk_node_remove_attribute(node, name);
}

/* ---- messages ---- */

const char *sk_node_name(const struct sk_op_graph *graph, const struct sk_graph_node *node)
{
	for (size_t i = 0; i < node->outputs.count && !*node->name; i++)
		if (sk_node_output(graph, node, i))
			return sk_node_output(graph, node, i)->name;
	return node->name;
}

bool sk_node_error(struct sk_op_graph *graph, const struct sk_graph_node *node, const char *format, ...)
{
	const char *op = node->origin ? node->origin : node->op, *text;
	va_list args;

	va_start(args, format);
	text = sk_arena_print_list(graph->arena, format, args);
	va_end(args);
	return sk_error_alike(graph->diag, node->place, sk_arena_print(graph->arena, "%s: %s", op, text),
			      sk_arena_print(graph->arena, "node '%s' (%s)", sk_node_name(graph, node), op), "%s",
			      text);
}
