/* The table of aliases, and the effect of its rules on attributes; see aliases.def. */
#include "graph/onnx/onnx.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "format/signature/signature.h"
#include "graph/onnx/onnx-parts.h"

struct alias {
	const char *source, *name, *target;
	int64_t version;
	uint32_t outputs;
	const char *rules;
};

static const struct alias aliases[] = {
#define ALIAS(SOURCE, NAME, TARGET, VERSION, OUTPUTS, RULES) {SOURCE, NAME, TARGET, VERSION, OUTPUTS, RULES},
#include "graph/onnx/aliases.def"
#undef ALIAS
};

static const struct alias *find_alias(const char *source, const char *name)
{
	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
		if (!strcmp(aliases[i].name, name) && !strcmp(aliases[i].source, source))
			return &aliases[i];
	return NULL;
}

/* ---- rules ---- */

static size_t find_attribute(const struct sk_onnx_node *node, const char *name)
{
	size_t i = 0;

	while (i < node->attributes.count &&
	       (!node->attributes.items[i].name || strcmp(node->attributes.items[i].name, name)))
		i++;
	return i;
}

static void drop_attribute(struct sk_onnx_node *node, size_t index)
{
	node->attributes.count--;
	memmove(&node->attributes.items[index], &node->attributes.items[index + 1],
		(node->attributes.count - index) * sizeof(*node->attributes.items));
}

static void rename_attribute(struct sk_onnx_node *node, size_t index, const char *name)
{
	struct sk_onnx_attribute *attribute = &node->attributes.items[index];

	if (attribute->type == SK_ONNX_ATTRIBUTE_INTS && !attribute->integers.count)
		drop_attribute(node, index);
	else
		attribute->name = name;
}

/* Compare with a number, or with a text in quotation marks. A number of 0 may be left out in a file. */
static bool has_value(const struct sk_onnx_attribute *attribute, const char *value)
{
	double number = attribute->type == SK_ONNX_ATTRIBUTE_FLOAT ? (double)attribute->f : (double)attribute->i;

	if (*value == '\'')
		return attribute->type == SK_ONNX_ATTRIBUTE_STRING && attribute->s.size == strlen(value) - 2 &&
		       !memcmp(attribute->s.bytes, value + 1, attribute->s.size);
	return (attribute->type == SK_ONNX_ATTRIBUTE_FLOAT || attribute->type == SK_ONNX_ATTRIBUTE_INT) &&
	       number == strtod(value, NULL);
}

static void make_real(struct sk_onnx_attribute *attribute)
{
	if (attribute->type != SK_ONNX_ATTRIBUTE_INT)
		return;
	attribute->type = SK_ONNX_ATTRIBUTE_FLOAT;
	attribute->f = (float)attribute->i;
	attribute->message.present = 0;
}

/* A list with one item becomes a number. */
static void take_item(struct sk_onnx_attribute *attribute, const char *name)
{
	if (attribute->type != SK_ONNX_ATTRIBUTE_INTS || attribute->integers.count != 1)
		return;
	attribute->name = name;
	attribute->type = SK_ONNX_ATTRIBUTE_INT;
	attribute->i = attribute->integers.items[0];
	attribute->message.present = 0;
}

static void count_items(struct sk_onnx_node *node, size_t index, const char *name)
{
	struct sk_onnx_attribute *attribute = &node->attributes.items[index];

	if (attribute->type != SK_ONNX_ATTRIBUTE_INTS)
		return;
	attribute->name = name;
	attribute->type = SK_ONNX_ATTRIBUTE_INT;
	attribute->i = -(int64_t)attribute->integers.count;
	attribute->message.present = 0;
}

/* Set a value from a rule: a text in quotes, a real number with a point, an integer, or a list "[1,2]". */
static void set_value(struct sk_arena *arena, struct sk_onnx_attribute *attribute, const char *value)
{
	attribute->type = SK_ONNX_ATTRIBUTE_INT;
	if (*value == '[') {
		char *end = (char *)(uintptr_t)value;

		attribute->type = SK_ONNX_ATTRIBUTE_INTS;
		while (*end != ']')
			sk_array_push(arena, &attribute->integers, strtoll(end + 1, &end, 10));
	} else if (*value == '\'') {
		attribute->type = SK_ONNX_ATTRIBUTE_STRING;
		attribute->s = (struct sk_onnx_bytes){(const uint8_t *)value + 1, strlen(value) - 2};
	} else if (strchr(value, '.')) {
		attribute->type = SK_ONNX_ATTRIBUTE_FLOAT;
		attribute->f = strtof(value, NULL);
	} else {
		attribute->i = strtoll(value, NULL, 10);
	}
}

/* Return the item at that place of a list "to,item,…"; NULL: there is none. */
static const char *list_item(struct sk_arena *arena, const char *list, int64_t place)
{
	size_t length;

	for (list += strcspn(list, ","); *list; list += length) {
		length = strcspn(++list, ",");
		if (!place--)
			return length == 1 && *list == '_' ? NULL : sk_arena_copy(arena, list, length);
	}
	return NULL;
}

static void choose_item(struct sk_arena *arena, struct sk_onnx_attribute *attribute, const char *list)
{
	const char *item = attribute->type == SK_ONNX_ATTRIBUTE_INT && attribute->i >= 0
				   ? list_item(arena, list, attribute->i)
				   : NULL;

	if (!item)
		return;
	attribute->name = sk_arena_copy(arena, list, strcspn(list, ","));
	attribute->message.present = 0;
	set_value(arena, attribute, item);
}

static void add_attribute(struct sk_arena *arena, struct sk_onnx_node *node, const char *name, const char *value)
{
	struct sk_onnx_attribute attribute = {.name = name};

	set_value(arena, &attribute, value);
	sk_array_push(arena, &node->attributes, attribute);
}

/* Reorder the inputs by their numbers, a digit each. The operator has no other inputs. */
static void order_inputs(struct sk_arena *arena, struct sk_onnx_node *node, const char *numbers, size_t count)
{
	size_t given = node->inputs.count, used = 0;
	const char **inputs = SK_NEW_ARRAY(arena, const char *, count);

	for (size_t i = 0; i < count; i++) {
		size_t from = (size_t)(numbers[i] - '0');

		inputs[i] = from < given ? node->inputs.items[from] : "";
		used = *inputs[i] ? i + 1 : used;
	}
	for (size_t i = 0; i < given; i++)
		if (*node->inputs.items[i] && (i > 9 || !memchr(numbers, '0' + (int)i, count)))
			node->stray = i + 1;
	node->inputs.count = 0;
	for (size_t i = 0; i < used; i++)
		sk_array_push(arena, &node->inputs, inputs[i]);
}

/* Apply one word of the rules. */
static void apply_rule(struct sk_arena *arena, struct sk_onnx_node *node, const char *rule, size_t length)
{
	if (*rule == '*')
		return;
	if (*rule == '@') {
		order_inputs(arena, node, rule + 1, length - 1);
		return;
	}

	size_t name_length = strcspn(rule, "=!-~:#?^");
	const char *name = sk_arena_copy(arena, rule, name_length);
	const char *value = sk_arena_copy(arena, rule + name_length + 1, length - name_length - 1);
	size_t index = find_attribute(node, name);
	bool found = index < node->attributes.count;

	if (rule[name_length] == ':' && !found)
		add_attribute(arena, node, name, value);
	else if (rule[name_length] == '=' && found)
		rename_attribute(node, index, value);
	else if (rule[name_length] == '?' && found)
		choose_item(arena, &node->attributes.items[index], value);
	else if (rule[name_length] == '#' && found)
		count_items(node, index, value);
	else if (rule[name_length] == '^' && found)
		take_item(&node->attributes.items[index], value);
	else if (rule[name_length] == '~' && found)
		make_real(&node->attributes.items[index]);
	else if (found && rule[name_length] == '!' && !has_value(&node->attributes.items[index], value))
		node->refused = sk_arena_print(arena, "'%s' must be %s", name, value);
	else if (found && (rule[name_length] == '-' || rule[name_length] == '!'))
		drop_attribute(node, index);
}

/* Set the operator: ONNX's, or that of the domain before the target's colon. */
static void set_operator(struct sk_arena *arena, struct sk_onnx_node *node, const struct alias *alias)
{
	sk_onnx_imports *imports = SK_NEW(arena, sk_onnx_imports);
	const char *colon = strchr(alias->target, ':');

	node->op = colon ? colon + 1 : alias->target;
	node->domain = colon ? sk_arena_copy(arena, alias->target, (size_t)(colon - alias->target)) : "";
	sk_array_push(arena, imports, (struct sk_onnx_import){.domain = node->domain, .version = alias->version});
	node->imports = imports;
}

void sk_onnx_apply_rules(struct sk_arena *arena, struct sk_onnx_node *node, const char *rules)
{
	for (size_t length; *rules; rules += length + (rules[length] == ' ')) {
		length = strcspn(rules, " ");
		apply_rule(arena, node, rules, length);
	}
}

bool sk_onnx_translate_alias(struct sk_arena *arena, const char *source, const char *name, struct sk_onnx_node *node)
{
	const struct alias *alias = find_alias(source, name);

	if (!alias)
		return false;
	sk_onnx_apply_rules(arena, node, alias->rules);
	if (node->outputs.count > alias->outputs)
		node->outputs.count = alias->outputs;
	set_operator(arena, node, alias);
	return true;
}

bool sk_onnx_alias_is_elementwise(const char *source, const char *name)
{
	const struct alias *alias = find_alias(source, name);

	return alias && strchr(alias->rules, '*');
}

struct sk_onnx_alias sk_onnx_find_alias(struct sk_arena *arena, const char *source, const char *prefix,
					const char *domain, const char *op)
{
	const char *target = *domain ? sk_arena_print(arena, "%s:%s", domain, op) : op;

	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
		if (!strcmp(aliases[i].target, target) && !strcmp(aliases[i].source, source) &&
		    !strncmp(aliases[i].name, prefix, strlen(prefix)))
			return (struct sk_onnx_alias){aliases[i].name, aliases[i].outputs, aliases[i].rules};
	return (struct sk_onnx_alias){NULL, 0, ""};
}

static bool is_value(const struct sk_attribute *attribute, const char *item)
{
	if (*item == '\'')
		return attribute->kind == SK_ATTRIBUTE_STRING && strlen(attribute->string) + 2 == strlen(item) &&
		       !memcmp(item + 1, attribute->string, strlen(attribute->string));
	return attribute->kind == SK_ATTRIBUTE_INTEGER && attribute->integer == strtoll(item, NULL, 10);
}

/* Return the place of the value in a list "to,item,…"; -1: it is not there. */
static int64_t place_of(struct sk_arena *arena, const char *list, const struct sk_attribute *attribute)
{
	int64_t items = 0;

	for (const char *at = list; *at; at++)
		items += *at == ',';
	for (int64_t place = 0; place < items; place++) {
		const char *item = list_item(arena, list, place);

		if (item && is_value(attribute, item))
			return place;
	}
	return -1;
}

const char *sk_onnx_alias_attribute(struct sk_arena *arena, const char *rules, const struct sk_attribute *attribute,
				    int64_t *place)
{
	*place = -1;
	for (size_t length; *rules; rules += length + (rules[length] == ' ')) {
		const char *word = sk_arena_copy(arena, rules, length = strcspn(rules, " "));
		size_t name = strcspn(word, "=?");
		const char *to = word + name + (word[name] != 0);

		if (!word[name] || strcspn(to, ",") != strlen(attribute->name) ||
		    strncmp(to, attribute->name, strlen(attribute->name)) != 0)
			continue;
		*place = word[name] == '?' ? place_of(arena, to, attribute) : -1;
		return sk_arena_copy(arena, word, name);
	}
	return attribute->name;
}

/* ---- domains ---- */

static void translate_nodes(struct sk_arena *arena, sk_onnx_nodes *nodes)
{
	for (size_t i = 0; i < nodes->count; i++) {
		struct sk_onnx_node *node = &nodes->items[i];
		const char *domain = node->domain ? node->domain : "", *name = node->op;

		for (size_t a = 0; a < node->attributes.count; a++)
			if (node->attributes.items[a].g)
				translate_nodes(arena, &node->attributes.items[a].g->nodes);
		if (name && sk_onnx_translate_alias(arena, strcmp(domain, "torchair") ? domain : "ge", name, node) &&
		    !node->origin)
			node->origin = sk_arena_print(arena, "%s:%s", domain, name);
	}
}

void sk_onnx_translate_domains(struct sk_arena *arena, struct sk_onnx_model *model)
{
	translate_nodes(arena, &model->graph->nodes);
}
