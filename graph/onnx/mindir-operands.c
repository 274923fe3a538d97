/* The operands of MindSpore's primitives: inputs that are tensors, and constants that are attributes of the operator,
 * or tensors; see mindir.def and onnx-parts.h. */
#include "graph/onnx/onnx-parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"

struct primitive {
	const char *name, *becomes, *operands;
};

static const struct primitive primitives[] = {
#define PRIMITIVE(NAME, BECOMES, OPERANDS) {NAME, BECOMES, OPERANDS},
#include "graph/onnx/mindir.def"
#undef PRIMITIVE
};

static const struct primitive *find_primitive(const char *name)
{
	for (size_t i = 0; i < sizeof(primitives) / sizeof(primitives[0]); i++)
		if (!strcmp(primitives[i].name, name))
			return &primitives[i];
	return NULL;
}

/* MindSpore's numbers of types (TypeId), with those of onnx.proto. */
static const struct {
	int64_t number, element;
} types[] = {{30, 9}, {32, 3},	{33, 5},  {34, 6},  {35, 7}, {37, 2},
	     {38, 4}, {39, 12}, {40, 13}, {42, 10}, {43, 1}, {44, 11}};

enum { ELEMENT_F32 = 1, ELEMENT_I32 = 6, ELEMENT_I64 = 7, ELEMENT_BOOL = 9, ELEMENT_F64 = 11, ELEMENT_HALF = 10 };
enum { ELEMENT_BF16 = 16 };

const char *sk_mindir_new_name(struct sk_mindir_target *target, const char *name)
{
	const char *tried = name;

	for (unsigned number = 2; sk_map_find(&target->names, tried, strlen(tried)) != SK_NONE; number++)
		tried = sk_arena_print(target->arena, "%s_%u", name, number);
	sk_map_insert(&target->names, tried, strlen(tried), 0);
	return tried;
}

/* ---- numbers ---- */

struct number {
	bool real; /* not an integer */
	int64_t integer;
	double value;
};

static bool is_real(const struct sk_mindir_attribute *constant)
{
	return constant->type == SK_MINDIR_FLOAT || constant->type == SK_MINDIR_DOUBLE;
}

/* Read a scalar: in its own field, or as a list of one. Types from UINT8 to INT64, and BOOL, UINT32 and UINT64, have
 * their value in `i`. False: it is no number. */
static bool take_number(const struct sk_mindir_attribute *constant, struct number *number)
{
	const struct sk_onnx_message *message = &constant->message;
	float single;

	*number = (struct number){.real = is_real(constant), .integer = constant->i};
	if (constant->type == SK_MINDIR_FLOAT && !sk_onnx_has(message, SK_MINDIR_F)) {
		if (constant->floats.size != sizeof(single))
			return false;
		memcpy(&single, constant->floats.bytes, sizeof(single));
		number->value = (double)single;
		return true;
	}
	if (constant->type == SK_MINDIR_DOUBLE && !sk_onnx_has(message, SK_MINDIR_D)) {
		if (constant->doubles.size != sizeof(double))
			return false;
		memcpy(&number->value, constant->doubles.bytes, sizeof(double));
		return true;
	}
	if (number->real) {
		number->value = constant->type == SK_MINDIR_FLOAT ? (double)constant->f : constant->d;
		return true;
	}
	if (!(constant->type >= 2 && constant->type <= 7) && constant->type != SK_MINDIR_BOOL && constant->type != 12 &&
	    constant->type != 13)
		return false;
	if (!sk_onnx_has(message, SK_MINDIR_I)) {
		if (constant->integers.count != 1)
			return false;
		number->integer = constant->integers.items[0];
	}
	number->value = (double)number->integer;
	return true;
}

static bool take_text(const struct sk_mindir_attribute *constant, struct sk_onnx_bytes *text)
{
	bool list = !sk_onnx_has(&constant->message, SK_MINDIR_S);

	if (constant->type != SK_MINDIR_STRING || (list && constant->strings.count != 1))
		return false;
	*text = list ? constant->strings.items[0] : constant->s;
	return true;
}

static bool is_tuple(const struct sk_mindir_attribute *constant)
{
	return constant->type == SK_MINDIR_TUPLE || constant->type == SK_MINDIR_TUPLE_LIST;
}

/* ---- tensors ---- */

/* Write the number in the type; false if it cannot represent the number. */
static bool write_number(const struct number *number, int64_t element, uint8_t *bytes)
{
	float single = (float)number->value;
	int32_t small = (int32_t)number->integer;

	switch (element) {
	case ELEMENT_F32:
		memcpy(bytes, &single, sizeof(single));
		return true;
	case ELEMENT_F64:
		memcpy(bytes, &number->value, sizeof(double));
		return true;
	case ELEMENT_I32:
		memcpy(bytes, &small, sizeof(small));
		return !number->real && small == number->integer;
	case ELEMENT_I64:
		memcpy(bytes, &number->integer, sizeof(int64_t));
		return !number->real;
	case ELEMENT_BOOL:
		*bytes = number->integer != 0;
		return !number->real;
	default:
		return false;
	}
}

static size_t size_of(int64_t element)
{
	return element == ELEMENT_BOOL ? 1 : element == ELEMENT_F32 || element == ELEMENT_I32 ? 4 : 8;
}

/* Return the type that a number has by itself. */
static int64_t own_element(const struct sk_mindir_attribute *constant)
{
	return constant->type == SK_MINDIR_FLOAT    ? ELEMENT_F32
	       : constant->type == SK_MINDIR_DOUBLE ? ELEMENT_F64
	       : constant->type == SK_MINDIR_BOOL   ? ELEMENT_BOOL
						    : ELEMENT_I64;
}

/* Return the tensor in a type of 16 bits: a node that converts it. */
static const char *convert(struct sk_mindir_target *target, const char *name, int64_t element)
{
	struct sk_onnx_node node = {.name = name, .op = "Cast", .domain = ""};
	sk_onnx_imports *imports = SK_NEW(target->arena, sk_onnx_imports);
	const char *converted = sk_mindir_new_name(target, name);

	sk_array_push(target->arena, imports, (struct sk_onnx_import){.domain = "", .version = 13});
	node.imports = imports;
	sk_array_push(target->arena, &node.inputs, name);
	sk_array_push(target->arena, &node.outputs, converted);
	sk_array_push(target->arena, &node.attributes,
		      (struct sk_onnx_attribute){.name = "to", .type = SK_ONNX_ATTRIBUTE_INT, .i = element});
	sk_array_push(target->arena, &target->graph->nodes, node);
	return converted;
}

const char *sk_mindir_constant(struct sk_mindir_target *target, const char *name, int64_t element,
			       const struct sk_mindir_attribute *constant)
{
	bool tuple = is_tuple(constant), half = element == ELEMENT_HALF || element == ELEMENT_BF16;
	size_t count = tuple ? constant->values.count : 1;
	const struct sk_mindir_attribute *items = tuple ? constant->values.items : constant;
	int64_t written = half ? ELEMENT_F32 : element ? element : count ? own_element(&items[0]) : ELEMENT_I64;
	struct sk_onnx_tensor tensor = {.element = written, .message.present = 1u << SK_ONNX_TENSOR_RAW};
	uint8_t *bytes = sk_arena_alloc(target->arena, count + 1, size_of(written));

	for (size_t i = 0; i < count; i++) {
		struct number number;

		if (!take_number(&items[i], &number) || !write_number(&number, written, bytes + i * size_of(written)))
			return NULL;
	}
	tensor.name = sk_mindir_new_name(target, name);
	tensor.raw = (struct sk_onnx_bytes){bytes, count * size_of(written)};
	if (tuple)
		sk_array_push(target->arena, &tensor.dimensions, (int64_t)count);
	sk_array_push(target->arena, &target->graph->initializers, tensor);
	return half ? convert(target, tensor.name, element) : tensor.name;
}

/* ---- attributes ---- */

static bool take_items(struct sk_arena *arena, const struct sk_mindir_attribute *constant,
		       struct sk_onnx_attribute *attribute)
{
	size_t count = constant->values.count;
	float *floats = SK_NEW_ARRAY(arena, float, count + 1);
	struct sk_onnx_bytes text;

	for (size_t i = 0; i < count; i++) {
		const struct sk_mindir_attribute *item = &constant->values.items[i];
		struct number number = {0};

		if (item->type != constant->values.items[0].type)
			return false;
		if (take_text(item, &text)) {
			sk_array_push(arena, &attribute->strings, text);
			continue;
		}
		if (!take_number(item, &number))
			return false;
		floats[i] = (float)number.value;
		sk_array_push(arena, &attribute->integers, number.integer);
	}
	attribute->type = attribute->strings.count ? SK_ONNX_ATTRIBUTE_STRINGS : SK_ONNX_ATTRIBUTE_INTS;
	if (count && is_real(&constant->values.items[0])) {
		attribute->type = SK_ONNX_ATTRIBUTE_FLOATS;
		attribute->floats = (struct sk_onnx_bytes){(const uint8_t *)floats, count * sizeof(float)};
	}
	return true;
}

const char *sk_mindir_take_attribute(struct sk_arena *arena, const char *name,
				     const struct sk_mindir_attribute *constant, struct sk_onnx_node *node)
{
	struct sk_onnx_attribute attribute = {.name = name};
	struct number number;

	if (is_tuple(constant)) {
		if (!take_items(arena, constant, &attribute))
			return sk_arena_print(arena,
					      "'%s' is a tuple of different types, or of other things than numbers "
					      "and texts",
					      name);
	} else if (take_text(constant, &attribute.s)) {
		attribute.type = SK_ONNX_ATTRIBUTE_STRING;
	} else if (take_number(constant, &number)) {
		attribute.type = number.real ? SK_ONNX_ATTRIBUTE_FLOAT : SK_ONNX_ATTRIBUTE_INT;
		attribute.f = (float)number.value;
		attribute.i = number.integer;
	} else {
		return sk_arena_print(arena, "'%s' is neither a number, a text nor a tuple of these", name);
	}
	sk_array_push(arena, &node->attributes, attribute);
	return NULL;
}

/* ---- operands ---- */

/* Return the row of the primitive for the type of its first operand. */
static const struct primitive *find_row(struct sk_arena *arena, const char *op, const struct sk_mindir_binding *items,
					size_t count)
{
	int64_t element = count ? items[0].element : 0;
	bool real =
		element == ELEMENT_F32 || element == ELEMENT_F64 || element == ELEMENT_HALF || element == ELEMENT_BF16;
	const struct primitive *row = real ? find_primitive(sk_arena_join(arena, op, ":float")) : NULL;

	return row ? row : find_primitive(op);
}

struct operands {
	struct sk_mindir_target *target;
	const struct sk_mindir_binding *items;
	size_t count;
	struct sk_onnx_node *node;
};

/* Return the name of an operand that is a tensor, or becomes one; "" for None, NULL: it is none. */
static const char *tensor_of(struct operands *operands, const struct sk_mindir_binding *operand, int64_t element)
{
	switch (operand->kind) {
	case SK_MINDIR_VALUE:
		return operand->name;
	case SK_MINDIR_CONSTANT:
		return sk_mindir_constant(operands->target, operand->name, element, operand->constant);
	case SK_MINDIR_ABSENT:
		return "";
	default:
		return NULL;
	}
}

/* Return the type of another operand that is a tensor; 0: there is none of a known type. */
static int64_t other_element(const struct operands *operands)
{
	for (size_t i = 0; i < operands->count; i++)
		if (operands->items[i].kind == SK_MINDIR_VALUE && operands->items[i].element &&
		    operands->items[i].element != ELEMENT_BOOL)
			return operands->items[i].element;
	return 0;
}

static const char *add_input(struct operands *operands, const struct sk_mindir_binding *operand, int64_t element)
{
	const char *name = tensor_of(operands, operand, element);

	if (!name)
		return "is not a tensor that sklink can make";
	sk_array_push(operands->target->arena, &operands->node->inputs, name);
	return NULL;
}

/* A tuple of inputs. */
static const char *add_inputs(struct operands *operands, const struct sk_mindir_binding *operand)
{
	const char *wrong = NULL;

	if (operand->kind != SK_MINDIR_ITEMS)
		return "is not a tuple of tensors";
	for (size_t i = 0; i < operand->count && !wrong; i++)
		wrong = add_input(operands, &operand->items[i], 0);
	return wrong;
}

/* Return a constant that is a tuple of the number; a tuple as it is. */
static const struct sk_mindir_attribute *list_of(struct sk_arena *arena, const struct sk_mindir_attribute *constant)
{
	struct sk_mindir_attribute *list = SK_NEW(arena, struct sk_mindir_attribute);

	if (is_tuple(constant))
		return constant;
	list->type = SK_MINDIR_TUPLE;
	sk_array_push(arena, &list->values, *constant);
	return list;
}

/* Return the text of that number in a list with commas; NULL: there is none. */
static const char *word_of(struct sk_arena *arena, const char *words, int64_t number)
{
	for (; number > 0 && words; number--)
		words = strchr(words, ',') ? strchr(words, ',') + 1 : NULL;
	return words && number == 0 ? sk_arena_copy(arena, words, strcspn(words, ",")) : NULL;
}

/* Add the attribute that is one of several texts, or a type. */
static const char *add_numbered(struct operands *operands, const char *name, const char *how,
				const struct sk_mindir_attribute *constant)
{
	struct sk_arena *arena = operands->target->arena;
	struct sk_onnx_attribute attribute = {.name = name, .type = SK_ONNX_ATTRIBUTE_INT};
	struct number number;

	if (!take_number(constant, &number) || number.real)
		return "is not an integer";
	for (size_t i = 0; *how == '#' && i < sizeof(types) / sizeof(types[0]); i++)
		if (types[i].number == number.integer)
			attribute.i = types[i].element;
	if (*how == '@') {
		const char *word = word_of(arena, how + 1, number.integer);

		attribute.type = SK_ONNX_ATTRIBUTE_STRING;
		attribute.s = (struct sk_onnx_bytes){(const uint8_t *)word, word ? strlen(word) : 0};
	}
	if (!attribute.i && !attribute.s.size)
		return sk_arena_print(arena, "is %" PRId64 ", which is none of the numbers that sklink knows there",
				      number.integer);
	sk_array_push(arena, &operands->node->attributes, attribute);
	return NULL;
}

static const char *add_attribute(struct operands *operands, const char *name, const char *how,
				 const struct sk_mindir_binding *operand)
{
	const struct sk_mindir_attribute *constant = operand->constant;

	if (operand->kind == SK_MINDIR_ABSENT)
		return *how == '+' ? "is None, which sklink does not compute; export the model with a number" : NULL;
	if (operand->kind != SK_MINDIR_CONSTANT)
		return "is not a constant number, text or tuple";
	if (*how == '@' || *how == '#')
		return add_numbered(operands, name, how, constant);
	if (*how == '[')
		constant = list_of(operands->target->arena, constant);
	if (*how == '.' && is_tuple(constant)) {
		if (constant->values.count != 1)
			return "is a tuple of several items, where sklink takes one";
		constant = &constant->values.items[0];
	}
	return sk_mindir_take_attribute(operands->target->arena, name, constant, operands->node);
}

/* An operand that must have one value. */
static const char *check_value(const char *value, const struct sk_mindir_binding *operand)
{
	struct number number;

	if (operand->kind == SK_MINDIR_ABSENT)
		return NULL;
	if (*value && operand->kind == SK_MINDIR_CONSTANT && take_number(operand->constant, &number) &&
	    number.value == strtod(value, NULL))
		return NULL;
	return *value ? "has a value that sklink does not compute" : "is not None, which sklink does not compute";
}

static const char *take_operand(struct operands *operands, const char *word, size_t length,
				const struct sk_mindir_binding *operand)
{
	struct sk_arena *arena = operands->target->arena;
	size_t name_length = strcspn(word, " =!^*[");
	const char *name = sk_arena_copy(arena, word, name_length);
	const char *how = sk_arena_copy(arena, word + name_length, length - name_length);
	struct sk_mindir_binding list = *operand;
	const char *wrong;

	if (*how == '=')
		wrong = add_attribute(operands, name, how + 1, operand);
	else if (*how == '!')
		wrong = check_value(how + 1, operand);
	else if (*how == '*')
		wrong = add_inputs(operands, operand);
	else if (*how == '^')
		wrong = add_input(operands, operand, other_element(operands));
	else {
		if (*how == '[' && operand->kind == SK_MINDIR_CONSTANT)
			list.constant = list_of(arena, operand->constant);
		wrong = add_input(operands, &list, 0);
	}
	return wrong ? sk_arena_print(arena, "its operand '%s' %s", name, wrong) : NULL;
}

/* A primitive that is not in the table. */
static const char *take_tensors(struct operands *operands)
{
	for (size_t i = 0; i < operands->count; i++) {
		if (operands->items[i].kind == SK_MINDIR_CONSTANT)
			return sk_arena_print(
				operands->target->arena,
				"its operand %zu is a constant that is not a tensor, and sklink does not know "
				"this primitive's operands",
				i);
		if (add_input(operands, &operands->items[i], 0))
			return sk_arena_print(operands->target->arena, "its operand %zu is not a tensor", i);
	}
	return NULL;
}

const char *sk_mindir_take_operands(struct sk_mindir_target *target, const char *op,
				    const struct sk_mindir_binding *items, size_t count, struct sk_onnx_node *node)
{
	struct operands operands = {target, items, count, node};
	const struct primitive *primitive = find_row(target->arena, op, items, count);
	const char *word = primitive ? primitive->operands : "", *wrong = NULL;
	size_t taken = 0;

	node->op = primitive ? primitive->becomes : op;
	if (!primitive)
		return take_tensors(&operands);
	for (size_t length; *word && taken < count && !wrong; word += length + (word[length] == ' ')) {
		length = strcspn(word, " ");
		wrong = take_operand(&operands, word, length, &items[taken++]);
	}
	if (!wrong && taken < count)
		return sk_arena_print(target->arena, "it has %zu operands, and sklink knows %zu", count, taken);
	while (!wrong && node->inputs.count && !*node->inputs.items[node->inputs.count - 1])
		node->inputs.count--;
	return wrong;
}

static bool has_attribute(const struct sk_onnx_node *node, const char *name)
{
	for (size_t i = 0; i < node->attributes.count; i++)
		if (!strcmp(node->attributes.items[i].name, name))
			return true;
	return false;
}

const char *sk_mindir_check_operands(struct sk_arena *arena, const char *op, const struct sk_mindir_binding *items,
				     size_t count, const struct sk_onnx_node *node)
{
	const struct primitive *primitive = find_row(arena, op, items, count);
	const char *word = primitive ? primitive->operands : "";

	for (size_t number = 0, length; *word; word += length + (word[length] == ' ')) {
		const char *name = sk_arena_copy(arena, word, strcspn(word, " =!^*["));

		length = strcspn(word, " ");
		if (number++ >= count && !has_attribute(node, name))
			return sk_arena_print(arena, "it has %zu operands, and '%s' is missing", count, name);
	}
	return NULL;
}
