/* Operators of GE that are several of ONNX's, or take as inputs what ONNX has as attributes; see kinds.def.
 *
 * Each node of such a kind becomes a call of a function made for it, which functions.c replaces by its nodes. */
#include "graph/onnx/onnx-parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "graph/onnx/onnx.h"

struct kind {
	const char *name, *inputs, *outputs, *rules, *body;
};

static const struct kind kinds[] = {
#define KIND(NAME, INPUTS, OUTPUTS, RULES, BODY) {NAME, INPUTS, OUTPUTS, RULES, BODY},
#include "graph/onnx/kinds.def"
#undef KIND
};

enum { MOST_NUMBERS = 64, MOST_OUTPUTS = 1024 };

static const struct kind *find_kind(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	return NULL;
}

bool sk_onnx_is_kind(const char *name)
{
	return find_kind(name);
}

bool sk_onnx_kind_is_elementwise(const char *name)
{
	const struct kind *kind = find_kind(name);

	return kind && *kind->rules == '*';
}

/* The making of a function. The body of the kind is correct; `wrong` is about the node. */
struct making {
	struct sk_arena *arena;
	const struct sk_map *makers; /* of the graph: the node of a value */
	const struct sk_onnx_graph *graph;
	struct sk_onnx_node *call;
	const struct kind *kind;
	struct sk_onnx_function *function;
	const char *at; /* in the body */
	size_t items; /* of each list of inputs */
	size_t number; /* of the output, in a statement for each of them */
	size_t made; /* names of values */
	bool skipping; /* the side of a condition that does not hold */
	const char *wrong; /* NULL: nothing */
};

static const char *parse_expression(struct making *making, const char *target);

static void refuse(struct making *making, const char *wrong)
{
	if (!making->skipping && !making->wrong)
		making->wrong = wrong;
}

static struct sk_onnx_attribute *find_attribute(const struct sk_onnx_node *node, const char *name)
{
	for (size_t i = 0; i < node->attributes.count; i++)
		if (node->attributes.items[i].name && !strcmp(node->attributes.items[i].name, name))
			return &node->attributes.items[i];
	return NULL;
}

/* ---- constants as attributes ---- */

static struct sk_onnx_tensor *find_tensor(const struct making *making, const char *name)
{
	static const char *const copies[] = {"Cast", "Identity", "Reshape", "Squeeze", "Unsqueeze"};

	for (size_t steps = 0; steps < 8; steps++) {
		uint32_t number = sk_map_find(making->makers, name, strlen(name));
		const struct sk_onnx_node *node = NULL;
		const struct sk_onnx_attribute *value;
		bool copy = false;

		if (number == SK_NONE)
			break;
		if (number >= making->graph->nodes.count)
			return &making->graph->initializers.items[number - making->graph->nodes.count];
		node = &making->graph->nodes.items[number];
		value = node->op && !strcmp(node->op, "Constant") ? find_attribute(node, "value") : NULL;
		if (value)
			return value->t;
		for (size_t i = 0; i < sizeof(copies) / sizeof(copies[0]); i++)
			copy |= node->op && !strcmp(node->op, copies[i]);
		if (!copy || !node->inputs.count)
			break;
		name = node->inputs.items[0];
	}
	return NULL;
}

/* Return the number of elements, which are integers; SIZE_MAX: it has others, or too many. */
static size_t read_integers(const struct sk_onnx_tensor *tensor, int64_t numbers[MOST_NUMBERS])
{
	size_t size = tensor->element == 6 ? 4 : tensor->element == 7 ? 8 : 0, count = 1;

	for (size_t i = 0; i < tensor->dimensions.count; i++) {
		if (tensor->dimensions.items[i] < 0 || tensor->dimensions.items[i] > MOST_NUMBERS)
			return SIZE_MAX;
		count *= (size_t)tensor->dimensions.items[i];
		if (count > MOST_NUMBERS)
			return SIZE_MAX;
	}
	if (!size || tensor->location == SK_ONNX_EXTERNAL)
		return SIZE_MAX;
	if (size == 4 && tensor->integers32.count == count)
		memcpy(numbers, count ? tensor->integers32.items : numbers, count * sizeof(*numbers));
	else if (size == 8 && tensor->integers64.count == count)
		memcpy(numbers, count ? tensor->integers64.items : numbers, count * sizeof(*numbers));
	else if (tensor->raw.size == count * size)
		for (size_t i = 0; i < count; i++) {
			int32_t number;

			if (size == 8) {
				memcpy(&numbers[i], tensor->raw.bytes + i * size, size);
				continue;
			}
			memcpy(&number, tensor->raw.bytes + i * size, size);
			numbers[i] = number;
		}
	else
		return SIZE_MAX;
	return count;
}

/* Make an input an attribute of the call: a number, or a list. */
static void take_constant(struct making *making, const char *name, size_t input, bool list)
{
	struct sk_onnx_attribute attribute = {.name = name,
					      .type = list ? SK_ONNX_ATTRIBUTE_INTS : SK_ONNX_ATTRIBUTE_INT};
	const char *value = input < making->call->inputs.count ? making->call->inputs.items[input] : "";
	const struct sk_onnx_tensor *tensor = *value ? find_tensor(making, value) : NULL;
	int64_t numbers[MOST_NUMBERS];
	size_t count = tensor ? read_integers(tensor, numbers) : SIZE_MAX;

	if (!*value)
		return;
	if (count == SIZE_MAX || (!list && count != 1)) {
		refuse(making,
		       sk_arena_print(making->arena, "its input %zu ('%s') has to be %s that are known when linking",
				      input, name, list ? "integers" : "one integer"));
		return;
	}
	attribute.i = list ? 0 : numbers[0];
	for (size_t i = 0; i < count && list; i++)
		sk_array_push(making->arena, &attribute.integers, numbers[i]);
	sk_array_push(making->arena, &making->call->attributes, attribute);
	making->call->inputs.items[input] = "";
}

/* ---- tokens of the body ---- */

static void skip_blanks(struct making *making)
{
	making->at += strspn(making->at, " ");
}

static bool take(struct making *making, char sign)
{
	skip_blanks(making);
	if (*making->at != sign)
		return false;
	making->at++;
	return true;
}

static const char *take_name(struct making *making)
{
	size_t length;

	skip_blanks(making);
	length = strspn(making->at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:");
	making->at += length;
	return sk_arena_copy(making->arena, making->at - length, length);
}

static const char *take_quoted(struct making *making)
{
	size_t length = strcspn(making->at, "'");
	const char *text = sk_arena_copy(making->arena, making->at, length);

	making->at += length + 1;
	return text;
}

/* ---- nodes ---- */

static const char *new_name(struct making *making)
{
	return sk_arena_print(making->arena, "t%zu", making->made++);
}

static struct sk_onnx_node new_node(struct making *making, const char *op)
{
	const char *colon = strchr(op, ':');

	return (struct sk_onnx_node){.op = colon ? colon + 1 : op,
				     .domain = colon ? sk_arena_copy(making->arena, op, (size_t)(colon - op)) : ""};
}

/* Add the node, and return its output. */
static const char *add_node(struct making *making, struct sk_onnx_node *node, const char *target)
{
	const char *output = target ? target : new_name(making);

	if (!node->outputs.count)
		sk_array_push(making->arena, &node->outputs, output);
	if (!making->skipping)
		sk_array_push(making->arena, &making->function->nodes, *node);
	return output;
}

/* Add a constant, and after "~" its conversion to the type of another value. */
static const char *add_constant(struct making *making, struct sk_onnx_attribute value, const char *target)
{
	struct sk_onnx_node node = new_node(making, "Constant"), cast = new_node(making, "CastLike");
	const char *output, *name;

	value.message.present = 0;
	value.name = value.type == SK_ONNX_ATTRIBUTE_INT     ? "value_int"
		     : value.type == SK_ONNX_ATTRIBUTE_FLOAT ? "value_float"
		     : value.type == SK_ONNX_ATTRIBUTE_INTS  ? "value_ints"
							     : "value_floats";
	sk_array_push(making->arena, &node.attributes, value);
	if (!take(making, '~'))
		return add_node(making, &node, target);
	output = add_node(making, &node, NULL);
	sk_array_push(making->arena, &cast.inputs, output);
	name = take_name(making);
	if (take(making, '@'))
		name = sk_arena_print(making->arena, "%s%zu", name, making->number);
	sk_array_push(making->arena, &cast.inputs, name);
	return add_node(making, &cast, target);
}

/* ---- values ---- */

static struct sk_onnx_attribute integer(int64_t number)
{
	return (struct sk_onnx_attribute){.type = SK_ONNX_ATTRIBUTE_INT, .i = number};
}

static struct sk_onnx_attribute parse_number(struct making *making)
{
	char *end;
	size_t length = strspn(making->at, "-0123456789");
	struct sk_onnx_attribute attribute = integer(strtoll(making->at, &end, 10));

	if (making->at[length] == '.' || making->at[length] == 'e') {
		attribute.type = SK_ONNX_ATTRIBUTE_FLOAT;
		attribute.f = strtof(making->at, &end);
	}
	making->at = end;
	return attribute;
}

/* Keep some items of a list: "$pads[0,2,1,3]". */
static void pick_items(struct making *making, const char *name, struct sk_onnx_attribute *list)
{
	struct sk_onnx_attribute picked = *list;

	memset(&picked.integers, 0, sizeof(picked.integers));
	while (!take(making, ']')) {
		size_t item = (size_t)parse_number(making).i;

		if (list->type != SK_ONNX_ATTRIBUTE_INTS || item >= list->integers.count)
			refuse(making,
			       sk_arena_print(making->arena, "attribute '%s' has fewer items than it needs", name));
		else
			sk_array_push(making->arena, &picked.integers, list->integers.items[item]);
		take(making, ',');
	}
	picked.i = picked.integers.count == 1 ? picked.integers.items[0] : 0;
	*list = picked;
}

/* After "$": an attribute of the call; "!": 1 for 0, and 0 for others; "#": minus the number of items. Without the
 * attribute the type is SK_ONNX_UNDEFINED. */
static struct sk_onnx_attribute parse_attribute(struct making *making, char sign)
{
	const char *name = take_name(making);
	const struct sk_onnx_attribute *given = find_attribute(making->call, name);
	struct sk_onnx_attribute attribute = given ? *given : (struct sk_onnx_attribute){.name = name};

	if (sign == '#')
		return integer(given ? -(int64_t)given->integers.count : 0);
	if (sign == '!')
		return integer(!given || !given->i);
	if (take(making, '['))
		pick_items(making, name, &attribute);
	if (take(making, '+'))
		attribute.i += parse_number(making).i;
	return attribute;
}

static struct sk_onnx_attribute parse_value(struct making *making)
{
	struct sk_onnx_attribute list = {.type = SK_ONNX_ATTRIBUTE_INTS};
	const char *text;

	skip_blanks(making);
	if (strchr("$!#", *making->at))
		return parse_attribute(making, *making->at++);
	if (take(making, '\'')) {
		text = take_quoted(making);
		return (struct sk_onnx_attribute){.type = SK_ONNX_ATTRIBUTE_STRING,
						  .s = {(const uint8_t *)text, strlen(text)}};
	}
	if (!take(making, '['))
		return parse_number(making);
	while (!take(making, ']')) {
		struct sk_onnx_attribute item = parse_value(making);

		sk_array_push(making->arena, &list.integers, item.i);
		take(making, ',');
	}
	return list;
}

/* ---- expressions ---- */

static bool has_input(const struct making *making, const char *name)
{
	for (size_t i = 0; i < making->function->inputs.count; i++)
		if (!strcmp(making->function->inputs.items[i], name))
			return i < making->call->inputs.count && *making->call->inputs.items[i];
	return false;
}

/* "?input", "?$attribute" (not 0), "?$attribute=number" or "?$attribute='text'". */
static bool parse_condition(struct making *making)
{
	struct sk_onnx_attribute attribute, other;

	if (!take(making, '$'))
		return has_input(making, take_name(making));
	attribute = parse_attribute(making, '$');
	if (!take(making, '='))
		return attribute.i || attribute.f != 0;
	other = parse_value(making);
	if (other.type == SK_ONNX_ATTRIBUTE_STRING)
		return attribute.s.size == other.s.size && !memcmp(attribute.s.bytes, other.s.bytes, other.s.size);
	return attribute.type == SK_ONNX_ATTRIBUTE_FLOAT ? (double)attribute.f == (double)other.i
							 : attribute.i == other.i;
}

/* "?condition(one, other)". */
static const char *parse_choice(struct making *making, const char *target)
{
	bool outer = making->skipping, holds = parse_condition(making);
	const char *one, *other;

	take(making, '(');
	making->skipping = outer || !holds;
	one = parse_expression(making, target);
	take(making, ',');
	making->skipping = outer || holds;
	other = parse_expression(making, target);
	making->skipping = outer;
	take(making, ')');
	return holds ? one : other;
}

/* Add an operand: an expression, or all items of a list ("x*"). */
static void parse_operand(struct making *making, struct sk_onnx_node *node)
{
	const char *start = making->at, *name = take_name(making);

	if (*name && take(making, '*')) {
		for (size_t i = 0; i < making->items; i++)
			sk_array_push(making->arena, &node->inputs, sk_arena_print(making->arena, "%s%zu", name, i));
		return;
	}
	making->at = start;
	sk_array_push(making->arena, &node->inputs, parse_expression(making, NULL));
}

/* After the operator: "(operand, …, attribute=value, …)". */
static void parse_operands(struct making *making, struct sk_onnx_node *node)
{
	while (!take(making, ')')) {
		const char *start = making->at, *name = take_name(making);

		if (*name && take(making, '=')) {
			struct sk_onnx_attribute attribute = parse_value(making);

			attribute.name = name;
			if (attribute.type != SK_ONNX_UNDEFINED)
				sk_array_push(making->arena, &node->attributes, attribute);
		} else {
			making->at = start;
			skip_blanks(making);
			parse_operand(making, node);
		}
		take(making, ',');
	}
	while (node->inputs.count && !*node->inputs.items[node->inputs.count - 1])
		node->inputs.count--;
}

static const char *copied(struct making *making, const char *name, const char *target)
{
	struct sk_onnx_node node = new_node(making, "Identity");

	if (!target)
		return name;
	sk_array_push(making->arena, &node.inputs, name);
	return add_node(making, &node, target);
}

/* Return the name of the result: `target`, if there is one. "_" is an absent operand, "x@" the item of a list for the
 * output of the statement, and "@" the number of that output. */
static const char *parse_expression(struct making *making, const char *target)
{
	const char *name;
	struct sk_onnx_node node;

	skip_blanks(making);
	if (take(making, '?'))
		return parse_choice(making, target);
	if (take(making, '%')) {
		name = take_name(making);
		refuse(making, sk_arena_print(making->arena,
					      "attribute '%s' has a value with which it computes something that sklink "
					      "does not",
					      name));
		return "";
	}
	if (take(making, '@'))
		return add_constant(making, integer((int64_t)making->number), target);
	if (*making->at && strchr("$!#['-0123456789", *making->at)) {
		struct sk_onnx_attribute value = parse_value(making);

		if (value.type == SK_ONNX_UNDEFINED)
			refuse(making, sk_arena_print(making->arena, "attribute '%s' is missing", value.name));
		return add_constant(making, value, target);
	}
	name = take_name(making);
	if (take(making, '@'))
		return copied(making, sk_arena_print(making->arena, "%s%zu", name, making->number), target);
	if (!strcmp(name, "_"))
		return "";
	if (!take(making, '('))
		return copied(making, name, target);
	node = new_node(making, name);
	parse_operands(making, &node);
	return add_node(making, &node, target);
}

/* ---- statements ---- */

/* "a, b = Operator(…)" or "a* = Operator(…)": one node with several outputs. */
static void parse_several(struct making *making, const char *first, bool list)
{
	struct sk_onnx_node node = {.op = ""}, head;

	for (size_t i = 0; i < making->call->outputs.count && list; i++)
		sk_array_push(making->arena, &node.outputs, sk_arena_print(making->arena, "%s%zu", first, i));
	if (!list)
		sk_array_push(making->arena, &node.outputs, first);
	while (!take(making, '=')) {
		take(making, ',');
		sk_array_push(making->arena, &node.outputs, take_name(making));
	}
	head = new_node(making, take_name(making));
	node.op = head.op;
	node.domain = head.domain;
	take(making, '(');
	parse_operands(making, &node);
	add_node(making, &node, NULL);
}

static void parse_statement(struct making *making)
{
	const char *name = take_name(making), *start;

	if (take(making, '*')) {
		parse_several(making, name, true);
	} else if (take(making, '@')) { /* one statement for each output */
		take(making, '=');
		start = making->at;
		for (making->number = 0; making->number < making->call->outputs.count; making->number++) {
			making->at = start;
			parse_expression(making, sk_arena_print(making->arena, "%s%zu", name, making->number));
		}
		if (!making->call->outputs.count)
			making->at += strcspn(making->at, ";");
	} else if (take(making, '=')) {
		parse_expression(making, name);
	} else {
		parse_several(making, name, false);
	}
}

/* ---- operands of the call ---- */

static size_t count_words(const char *words, bool lists)
{
	size_t count = 0;

	for (; *words; words += strcspn(words, " "), words += *words == ' ')
		count += (words[strcspn(words, " ") - 1] == '*') == lists;
	return count;
}

/* Name the inputs: "x" is one, "x*" a list, "x!" one that has to be an integer, "x#" one that has to be a list of
 * integers. */
static void name_inputs(struct making *making)
{
	const char *words = making->kind->inputs;
	size_t lists = count_words(words, true), single = count_words(words, false), given = making->call->inputs.count;

	making->items = lists && given > single ? (given - single) / lists : 0;
	if (lists ? given < single || (given - single) % lists || given == single : given > single)
		refuse(making, sk_arena_print(making->arena, "it has %zu inputs, and the operator has %s%zu", given,
					      lists ? "lists and " : "", single));
	while (*words) {
		size_t length = strcspn(words, " ");
		char mark = words[length - 1];
		const char *name = sk_arena_copy(making->arena, words,
						 mark == '*' || mark == '!' || mark == '#' ? length - 1 : length);

		for (size_t i = 0; mark == '*' && i < making->items; i++)
			sk_array_push(making->arena, &making->function->inputs,
				      sk_arena_print(making->arena, "%s%zu", name, i));
		if (mark != '*')
			sk_array_push(making->arena, &making->function->inputs, name);
		if (mark == '!' || mark == '#')
			take_constant(making, name, making->function->inputs.count - 1, mark == '#');
		words += length + (words[length] == ' ');
	}
}

static void name_outputs(struct making *making)
{
	const char *words = making->kind->outputs;
	size_t length = strcspn(words, " "), count = making->call->outputs.count;

	if (words[length - 1] == '*') {
		if (count > MOST_OUTPUTS)
			refuse(making, "it has more than 1024 outputs");
		for (size_t i = 0; i < count && count <= MOST_OUTPUTS; i++)
			sk_array_push(making->arena, &making->function->outputs,
				      sk_arena_print(making->arena, "%.*s%zu", (int)length - 1, words, i));
		return;
	}
	for (; *words; words += length, words += *words == ' ') {
		length = strcspn(words, " ");
		sk_array_push(making->arena, &making->function->outputs, sk_arena_copy(making->arena, words, length));
	}
	if (count > making->function->outputs.count)
		making->call->outputs.count = making->function->outputs.count; /* GE's nodes may have more */
}

static bool is_used(const struct kind *kind, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = kind->body; length && (at = strstr(at, name)); at += length)
		if (at > kind->body && strchr("$!#", at[-1]) &&
		    !strspn(at + length, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"))
			return true;
	return false;
}

/* Refuse attributes that neither the rules nor the body of the kind have. GE's nodes may have others. */
static void check_attributes(struct making *making)
{
	bool ge = making->call->origin && !strncmp(making->call->origin, "ge:", 3);

	if (making->call->refused)
		refuse(making, sk_arena_print(making->arena, "attribute %s", making->call->refused));
	for (size_t i = 0; i < making->call->attributes.count; i++) {
		const char *name = making->call->attributes.items[i].name;

		if (!name || *name == '_' || !strcmp(name, SK_ONNX_STREAM) || ge || is_used(making->kind, name))
			continue;
		refuse(making, sk_arena_print(making->arena,
					      "the operator has no attribute '%s', or not with that value", name));
	}
}

/* Make the function of a call, and let the call refer to it. */
static void make_function(struct sk_onnx_model *model, struct making *making)
{
	struct sk_onnx_function function = {.translated = true};

	making->function = &function;
	function.domain = making->call->domain;
	function.name = making->call->op;
	function.overload = sk_arena_print(making->arena, "%zu", model->functions.count);
	sk_array_push(making->arena, &function.imports, ((struct sk_onnx_import){.domain = "", .version = 24}));
	sk_array_push(making->arena, &function.imports, ((struct sk_onnx_import){.domain = "sklink", .version = 1}));
	sk_onnx_apply_rules(making->arena, making->call, making->kind->rules);
	name_inputs(making);
	name_outputs(making);
	check_attributes(making);
	making->at = making->kind->body;
	while (*making->at && !making->wrong) {
		parse_statement(making);
		take(making, ';');
		skip_blanks(making);
	}
	making->call->wrong = making->wrong;
	if (making->wrong)
		return;
	making->call->overload = function.overload;
	sk_array_push(making->arena, &model->functions, function);
}

/* ---- graphs ---- */

static void add_makers(struct sk_map *makers, const struct sk_onnx_graph *graph)
{
	for (uint32_t i = 0; i < graph->nodes.count; i++)
		for (size_t j = 0; j < graph->nodes.items[i].outputs.count; j++)
			sk_map_insert(makers, graph->nodes.items[i].outputs.items[j],
				      strlen(graph->nodes.items[i].outputs.items[j]), i);
	for (uint32_t i = 0; i < graph->initializers.count; i++)
		if (graph->initializers.items[i].name)
			sk_map_insert(makers, graph->initializers.items[i].name,
				      strlen(graph->initializers.items[i].name), (uint32_t)graph->nodes.count + i);
}

static void translate_graph(struct sk_arena *arena, struct sk_onnx_model *model, struct sk_onnx_graph *graph)
{
	struct sk_map makers;

	sk_map_init(&makers, arena);
	add_makers(&makers, graph);
	for (size_t i = 0; i < graph->nodes.count; i++) {
		struct sk_onnx_node *node = &graph->nodes.items[i];
		const char *domain = node->domain ? node->domain : "";
		const struct kind *kind = node->op ? find_kind(node->op) : NULL;
		struct making making = {.arena = arena, .makers = &makers, .graph = graph, .call = node, .kind = kind};

		for (size_t a = 0; a < node->attributes.count; a++)
			if (node->attributes.items[a].g)
				translate_graph(arena, model, node->attributes.items[a].g);
		if (!kind || node->overload || (strcmp(domain, "ge") && strcmp(domain, "torchair")))
			continue;
		if (!node->origin)
			node->origin = sk_arena_print(arena, "%s:%s", domain, node->op);
		make_function(model, &making);
	}
	sk_map_release(&makers);
}

void sk_onnx_translate_kinds(struct sk_arena *arena, struct sk_onnx_model *model)
{
	for (size_t i = 0; i < model->functions.count; i++)
		if (model->functions.items[i].domain && (!strcmp(model->functions.items[i].domain, "ge") ||
							 !strcmp(model->functions.items[i].domain, "torchair")))
			return; /* the model has operators of its own under such names */
	translate_graph(arena, model, model->graph);
}
