/* The lines of rules; see rules-parts.h. Lines of patterns and of replacements have the same syntax, but different
 * restrictions. */
#include "graph/rules/rules-parts.h"

#include <ctype.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/text.h"
#include "format/skplan.h"
#include "graph/graph.h"
#include "graph/operators/operators.h"
#include "graph/rules/rules.h"

/* ---- names ---- */

uint32_t sk_rule_find_name(const struct sk_rule *rule, const char *text)
{
	for (uint32_t i = 0; i < rule->names.count; i++)
		if (!strcmp(rule->names.items[i].text, text))
			return i;
	return SK_NONE;
}

static uint32_t add_name(struct sk_scanner *scanner, struct sk_rule *rule, const char *text,
			 enum sk_rule_name_kind kind)
{
	sk_array_push(scanner->arena, &rule->names, (struct sk_rule_name){.text = text, .kind = kind});
	return (uint32_t)rule->names.count - 1;
}

static bool is_value(const struct sk_rule *rule, uint32_t name)
{
	return name != SK_NONE && rule->names.items[name].kind < SK_RULE_ATTRIBUTE;
}

bool sk_rule_check_names(struct sk_diag *diag, const struct sk_rule *rule, const struct sk_rule_expression *expression)
{
	bool valid = true;

	if (expression->of_value) {
		const struct sk_rule_expression *operand = expression->operands.items[0];
		uint32_t name =
			operand->kind == SK_RULE_EXPRESSION_NAME ? sk_rule_find_name(rule, operand->text) : SK_NONE;

		if (is_value(rule, name) && rule->names.items[name].kind != SK_RULE_NEW &&
		    (rule->names.items[name].kind == SK_RULE_REST) == !strcmp(expression->text, "count"))
			return true;
		sk_error(diag, operand->place, "%s is asked of %s of the pattern", expression->text,
			 strcmp(expression->text, "count") ? "a value" : "a *rest");
		return false;
	}
	if (expression->kind == SK_RULE_EXPRESSION_NAME && strcmp(expression->text, SK_RULE_TARGET)) {
		uint32_t name = sk_rule_find_name(rule, expression->text);

		valid = name != SK_NONE && !is_value(rule, name);
		if (!valid)
			sk_error(diag, expression->place,
				 name == SK_NONE
					 ? "there is no '%s' in the rule"
					 : "'%s' is a value, not a number: value(%s) is the contents of a constant",
				 expression->text, expression->text);
	}
	for (size_t i = 0; i < expression->operands.count && valid; i++)
		valid = sk_rule_check_names(diag, rule, expression->operands.items[i]);
	return valid;
}

/* ---- operators ---- */

static bool report_unknown(struct sk_scanner *scanner, const char *domain, const char *op)
{
	const char **names = SK_NEW_ARRAY(scanner->arena, const char *, 1024);
	size_t count = 0;

	for (const struct sk_schema *schema; count < 1024 && (schema = sk_schema_at(count)); count++)
		names[count] = schema->op;
	return *domain ? sk_scanner_error(scanner, "there is no operator '%s' in the domain '%s'", op, domain)
		       : sk_scanner_error(scanner, "there is no operator '%s'%s", op,
					  sk_did_you_mean(scanner->arena, op, names, count));
}

/* Parse "Add", "sklink:Slice" or "ai.onnx.preview.training:Adam". Without a domain the operator is ONNX's, or else
 * sklink's own. */
static bool parse_operator(struct sk_scanner *scanner, struct sk_rule_node *node)
{
	struct sk_rule_operator one = {.domain = ""};
	const char *start, *op;

	sk_scanner_place(scanner);
	start = scanner->at;
	while (isalnum((unsigned char)*scanner->at) || *scanner->at == '_' || *scanner->at == '.')
		scanner->at++;
	op = sk_arena_copy(scanner->arena, start, (size_t)(scanner->at - start));
	if (sk_scanner_take(scanner, ":")) {
		one.domain = op;
		op = sk_scanner_identifier(scanner);
	}
	if (!op || !*op)
		return sk_scanner_error(scanner, "an operator is expected here");
	one.schema = sk_schema_find(one.domain, op);
	if (!one.schema && !*one.domain)
		one.schema = sk_schema_find(SK_OWN_DOMAIN, op);
	if (!one.schema)
		return report_unknown(scanner, one.domain, op);
	one.op = *one.schema->op ? one.schema->op : op;
	one.domain = one.schema->domain;
	sk_array_push(scanner->arena, &node->operators, one);
	return true;
}

/* ---- operands ---- */

static bool ends_operand(struct sk_scanner *scanner)
{
	sk_scanner_place(scanner);
	return !*scanner->at || strchr(",)?", *scanner->at);
}

/* Parse the name of a value in a pattern, at its first or a later occurrence. */
static bool take_pattern_name(struct sk_scanner *scanner, struct sk_rule *rule, const char *text,
			      enum sk_rule_name_kind kind, uint32_t *name)
{
	*name = sk_rule_find_name(rule, text);
	if (*name == SK_NONE)
		*name = add_name(scanner, rule, text, kind);
	else if (!is_value(rule, *name) || (rule->names.items[*name].kind == SK_RULE_REST) != (kind == SK_RULE_REST))
		return sk_scanner_error(scanner, "'%s' is something else already", text);
	return true;
}

static bool parse_node(struct sk_scanner *scanner, struct sk_rule *rule, struct sk_rule_node *node, bool pattern);
/* The outputs of a kernel's operator have the types and shapes of the pattern's, since nothing else determines them. */
static bool check_kernel(struct sk_scanner *scanner, const struct sk_rule *rule, const struct sk_rule_node *node)
{
	const struct sk_rule_operator *one = &node->operators.items[0];

	for (size_t i = 0; i < node->outputs.count && !*one->schema->op; i++)
		if (node->outputs.items[i] == SK_NONE || !rule->names.items[node->outputs.items[i]].replaced)
			return sk_scanner_error(
				scanner,
				"only the kernel knows the outputs of %s:%s: they must be outputs of the pattern",
				one->domain, one->op);
	return true;
}

static bool add_node(struct sk_scanner *scanner, struct sk_rule *rule, const struct sk_rule_node *node, bool pattern);

/* Operators start with a capital letter or with a domain; functions do not. */
static bool starts_node(const struct sk_scanner *scanner, const char *text)
{
	return text &&
	       (*scanner->at == ':' || (isupper((unsigned char)*text) && (*scanner->at == '(' || *scanner->at == '|')));
}

/* Parse a node that has the operand as its only output, from the start of its operator. */
static bool parse_nested(struct sk_scanner *scanner, struct sk_rule *rule, const char *start, bool pattern,
			 uint32_t *name)
{
	struct sk_rule_node node = {0};

	scanner->at = start;
	if (!parse_node(scanner, rule, &node, pattern))
		return false;
	*name = add_name(scanner, rule, node.operators.items[0].op, pattern ? SK_RULE_MADE : SK_RULE_NEW);
	/* No file can contain this name, so it is unique. */
	rule->names.items[*name].text = sk_arena_print(scanner->arena, "%s.%u", node.operators.items[0].op, *name);
	sk_array_push(scanner->arena, &node.outputs, *name);
	return add_node(scanner, rule, &node, pattern);
}

/* "*rest?", "*rest?1" */
static bool refuse_optional(struct sk_scanner *scanner, const char *text)
{
	return sk_scanner_error(scanner, "*%s is any number of values, and none may be: it takes no '?'", text);
}

static bool has_rest(const struct sk_rule *rule)
{
	for (uint32_t i = 0; i < rule->names.count; i++)
		if (rule->names.items[i].kind == SK_RULE_REST)
			return true;
	return false;
}

/* True if the outputs of an earlier line are the values of that name, and no node of the pattern reads them yet. */
static bool is_made_rest(const struct sk_rule *rule, const char *text)
{
	uint32_t name = sk_rule_find_name(rule, text);
	bool made = name != SK_NONE && rule->names.items[name].made;

	for (size_t n = 0; n < rule->pattern.count && made; n++)
		for (size_t i = 0; i < rule->pattern.items[n].inputs.count; i++)
			made &= rule->pattern.items[n].inputs.items[i].name != name;
	return made;
}

static bool parse_pattern_operand(struct sk_scanner *scanner, struct sk_rule *rule, struct sk_rule_operand *operand)
{
	bool rest = sk_scanner_take(scanner, "*");
	const char *before = scanner->at, *text = sk_scanner_identifier(scanner);

	if (!rest && starts_node(scanner, text))
		return parse_nested(scanner, rule, before, true, &operand->name);
	if (rest && (!text || !strcmp(text, "_") || !ends_operand(scanner)))
		return sk_scanner_error(scanner, "a name is expected after '*'");
	if (rest && has_rest(rule) && !is_made_rest(rule, text))
		return sk_scanner_error(scanner, "a pattern has one *NAME at most");
	if (!text || !ends_operand(scanner)) {
		scanner->at = before;
		operand->constant = sk_expression_parse(scanner);
		return operand->constant && sk_rule_check_names(scanner->diag, rule, operand->constant);
	}
	if (!strcmp(text, "_"))
		return true;
	if (!take_pattern_name(scanner, rule, text, rest ? SK_RULE_REST : SK_RULE_INPUT, &operand->name))
		return false;
	if (!sk_scanner_take(scanner, "?"))
		return true;
	rule->names.items[operand->name].optional = true;
	return !rest || refuse_optional(scanner, text);
}

enum sk_dtype sk_rule_find_dtype(const char *text)
{
	for (uint32_t i = 1; sk_dtype_size((enum sk_dtype)i); i++)
		if (!strcmp(sk_dtype_name((enum sk_dtype)i), text))
			return (enum sk_dtype)i;
	return SK_DTYPE_NONE;
}

/* Parse the name of an input of the pattern, or of an output of an earlier line. */
static bool take_known_name(struct sk_scanner *scanner, const struct sk_rule *rule, const char *text, uint32_t *name)
{
	const struct sk_rule_name *known;

	*name = sk_rule_find_name(rule, text);
	if (!is_value(rule, *name))
		return sk_scanner_error(scanner, "there is no value '%s' here", text);
	known = &rule->names.items[*name];
	if (known->kind == SK_RULE_MADE && !known->replaced)
		return sk_scanner_error(scanner, "'%s' goes with the pattern, and no line above makes it", text);
	return true;
}

static bool parse_constant(struct sk_scanner *scanner, const struct sk_rule *rule, struct sk_rule_operand *operand)
{
	operand->constant = sk_expression_parse(scanner);
	return operand->constant && sk_rule_check_names(scanner->diag, rule, operand->constant);
}

/* f32(0.5), i64([0, 1]), like(x, 1) */
static bool parse_typed(struct sk_scanner *scanner, const struct sk_rule *rule, const char *text,
			struct sk_rule_operand *operand)
{
	operand->dtype = sk_rule_find_dtype(text);
	if (operand->dtype == SK_DTYPE_NONE) {
		const char *name = sk_scanner_identifier(scanner);

		operand->like = name ? sk_rule_find_name(rule, name) : SK_NONE;
		if (!is_value(rule, operand->like) || rule->names.items[operand->like].kind == SK_RULE_NEW ||
		    rule->names.items[operand->like].kind == SK_RULE_REST)
			return sk_scanner_error(scanner, "like takes a value of the pattern, and a number");
		if (!sk_scanner_expect(scanner, ","))
			return false;
	}
	return parse_constant(scanner, rule, operand) && sk_scanner_expect(scanner, ")");
}

static bool parse_replacement_operand(struct sk_scanner *scanner, struct sk_rule *rule, struct sk_rule_operand *operand)
{
	bool rest = sk_scanner_take(scanner, "*");
	const char *before = scanner->at, *text = sk_scanner_identifier(scanner);
	bool typed = text && (sk_rule_find_dtype(text) != SK_DTYPE_NONE || !strcmp(text, "like"));

	if (!rest && starts_node(scanner, text))
		return parse_nested(scanner, rule, before, false, &operand->name);
	if (typed && sk_scanner_take(scanner, "("))
		return parse_typed(scanner, rule, text, operand);
	if (text && ends_operand(scanner) && !strcmp(text, "_") && !rest)
		return true;
	if (rest || (text && ends_operand(scanner) && is_value(rule, sk_rule_find_name(rule, text)))) {
		if (!take_known_name(scanner, rule, text ? text : "", &operand->name))
			return false;
		if ((rule->names.items[operand->name].kind == SK_RULE_REST) != rest)
			return sk_scanner_error(scanner, "'%s' is %s", text,
						rest ? "one value" : "any number of values: *");
		if (!sk_scanner_take(scanner, "?"))
			return true;
		return rest ? refuse_optional(scanner, text) : parse_constant(scanner, rule, operand);
	}
	scanner->at = before;
	return parse_constant(scanner, rule, operand);
}

/* ---- attributes ---- */

static bool check_attribute(struct sk_scanner *scanner, const struct sk_rule_node *node, const char *name)
{
	for (size_t i = 0; i < node->operators.count; i++) {
		const struct sk_schema_attribute *known = node->operators.items[i].schema->attributes;

		while (known && known->name && strcmp(known->name, name))
			known++;
		if (!known || !known->name)
			return sk_scanner_error(scanner, "%s has no attribute '%s'", node->operators.items[i].op, name);
	}
	return true;
}

static bool parse_pattern_attribute(struct sk_scanner *scanner, struct sk_rule *rule,
				    struct sk_rule_attribute *attribute)
{
	const char *before, *text;

	if (sk_scanner_take(scanner, "*"))
		return true;
	before = scanner->at;
	text = sk_scanner_identifier(scanner);
	if (!text || !ends_operand(scanner)) {
		scanner->at = before;
		attribute->value = sk_expression_parse(scanner);
		return attribute->value && sk_rule_check_names(scanner->diag, rule, attribute->value);
	}
	attribute->binds = sk_rule_find_name(rule, text);
	if (attribute->binds == SK_NONE)
		attribute->binds = add_name(scanner, rule, text, SK_RULE_ATTRIBUTE);
	else if (rule->names.items[attribute->binds].kind != SK_RULE_ATTRIBUTE)
		return sk_scanner_error(scanner, "'%s' is something else already", text);
	if (!sk_scanner_take(scanner, "?"))
		return true;
	attribute->otherwise = sk_expression_parse(scanner);
	return attribute->otherwise && sk_rule_check_names(scanner->diag, rule, attribute->otherwise);
}

/* Parse NAME=VALUE; false without an error if the text is something else. */
static bool parse_attribute(struct sk_scanner *scanner, struct sk_rule *rule, struct sk_rule_node *node, bool pattern)
{
	const char *before = scanner->at, *name = sk_scanner_identifier(scanner);
	struct sk_rule_attribute attribute = {.name = name, .binds = SK_NONE};

	if (!name || !sk_scanner_take(scanner, "=") || *scanner->at == '=') {
		scanner->at = before;
		return false;
	}
	if (!check_attribute(scanner, node, name))
		return false;
	if (pattern && !parse_pattern_attribute(scanner, rule, &attribute))
		return false;
	if (!pattern) {
		attribute.value = sk_expression_parse(scanner);
		if (!attribute.value || !sk_rule_check_names(scanner->diag, rule, attribute.value))
			return false;
	}
	sk_array_push(scanner->arena, &node->attributes, attribute);
	return true;
}

/* ---- lines ---- */

static bool parse_operands(struct sk_scanner *scanner, struct sk_rule *rule, struct sk_rule_node *node, bool pattern)
{
	while (!sk_scanner_take(scanner, ")")) {
		struct sk_rule_operand operand = {.name = SK_NONE, .like = SK_NONE, .place = sk_scanner_place(scanner)};

		if ((node->inputs.count || node->attributes.count) && !sk_scanner_expect(scanner, ","))
			return false;
		if (node->inputs.count + node->attributes.count == SK_RULE_MAX_OPERANDS)
			return sk_scanner_error(scanner, "a node has %d operands at most", SK_RULE_MAX_OPERANDS);
		if (parse_attribute(scanner, rule, node, pattern))
			continue;
		if (scanner->failed)
			return false;
		if (node->attributes.count)
			return sk_scanner_error(scanner, "operands come before attributes");
		if (!(pattern ? parse_pattern_operand : parse_replacement_operand)(scanner, rule, &operand))
			return false;
		sk_array_push(scanner->arena, &node->inputs, operand);
	}
	return true;
}

/* "*pieces = Split(…)": all outputs of the node. */
static bool take_rest(struct sk_scanner *scanner, struct sk_rule *rule, struct sk_rule_node *node, bool pattern,
		      const char *text)
{
	uint32_t name;

	if (!pattern || has_rest(rule) || sk_rule_find_name(rule, text) != SK_NONE)
		return sk_scanner_error(scanner, pattern ? "a pattern has one *NAME at most"
							 : "the outputs of a replacement have a name each");
	name = add_name(scanner, rule, text, SK_RULE_REST);
	rule->names.items[name].made = true;
	sk_array_push(scanner->arena, &node->outputs, name);
	return true;
}

/* Take the name of an output. */
static bool take_output(struct sk_scanner *scanner, struct sk_rule *rule, struct sk_rule_node *node, bool pattern,
			const char *text)
{
	uint32_t name = sk_rule_find_name(rule, text);

	if (*text == '*')
		return take_rest(scanner, rule, node, pattern, text + 1);
	if (!strcmp(text, "_")) {
		sk_array_push(scanner->arena, &node->outputs, SK_NONE);
		return true;
	}
	if (name == SK_NONE) {
		name = add_name(scanner, rule, text, pattern ? SK_RULE_MADE : SK_RULE_NEW);
	} else if (!pattern && rule->names.items[name].kind == SK_RULE_MADE && !rule->names.items[name].replaced) {
		rule->names.items[name].replaced = true;
	} else {
		return sk_scanner_error(scanner, "there is a '%s' already", text);
	}
	sk_array_push(scanner->arena, &node->outputs, name);
	return true;
}

static bool parse_outputs(struct sk_scanner *scanner, sk_texts *outputs)
{
	bool rest = sk_scanner_take(scanner, "*");

	do {
		const char *text = sk_scanner_identifier(scanner);

		if (!text)
			return sk_scanner_error(scanner, "a name is expected here: NAME = OPERATOR(OPERAND, …)");
		if (outputs->count == SK_RULE_MAX_OPERANDS)
			return sk_scanner_error(scanner, "a node has %d outputs at most", SK_RULE_MAX_OPERANDS);
		sk_array_push(scanner->arena, outputs, rest ? sk_arena_join(scanner->arena, "*", text) : text);
	} while (!rest && sk_scanner_take(scanner, ","));
	return sk_scanner_expect(scanner, "=");
}

static bool parse_node(struct sk_scanner *scanner, struct sk_rule *rule, struct sk_rule_node *node, bool pattern)
{
	do
		if (!parse_operator(scanner, node))
			return false;
	while (pattern && sk_scanner_take(scanner, "|"));
	return sk_scanner_expect(scanner, "(") && parse_operands(scanner, rule, node, pattern);
}

/* Check the number of operands. An operator of two inputs may have more, which are folded from the left. */
static bool check_count(struct sk_scanner *scanner, const struct sk_rule *rule, const struct sk_rule_node *node)
{
	const struct sk_schema *schema = node->operators.items[0].schema;
	size_t count = node->inputs.count;

	for (size_t i = 0; i < count; i++)
		if (node->inputs.items[i].name != SK_NONE &&
		    rule->names.items[node->inputs.items[i].name].kind == SK_RULE_REST)
			return true;
	if (count < schema->min_inputs || (schema->max_inputs != SK_VARIADIC && count > schema->max_inputs))
		return sk_scanner_error(scanner, "%s takes %u to %u operand%s, not %zu", schema->op, schema->min_inputs,
					schema->max_inputs, sk_plural(schema->max_inputs), count);
	if (node->outputs.count > schema->max_outputs)
		return sk_scanner_error(scanner, "%s makes %u value%s at most", schema->op, schema->max_outputs,
					sk_plural(schema->max_outputs));
	return true;
}

/* A number without a type has the type of a value among the other operands. */
static bool check_types(struct sk_diag *diag, const struct sk_rule_node *node)
{
	bool typed = false;

	for (size_t i = 0; i < node->inputs.count; i++)
		typed |= node->inputs.items[i].name != SK_NONE && !node->inputs.items[i].constant;
	for (size_t i = 0; i < node->inputs.count; i++) {
		const struct sk_rule_operand *operand = &node->inputs.items[i];

		if (typed || !operand->constant || operand->dtype != SK_DTYPE_NONE || operand->like != SK_NONE)
			continue;
		sk_error(diag, operand->place,
			 "nothing else determines the type of the constant: f32(NUMBER), or like(VALUE, NUMBER)");
		return false;
	}
	return true;
}

static bool add_node(struct sk_scanner *scanner, struct sk_rule *rule, const struct sk_rule_node *node, bool pattern)
{
	const struct sk_schema *schema = node->operators.items[0].schema;

	for (size_t i = 0; i + 1 < node->inputs.count; i++)
		if (node->inputs.items[i].name != SK_NONE &&
		    rule->names.items[node->inputs.items[i].name].kind == SK_RULE_REST)
			return sk_scanner_error(scanner, "*%s is the last operand",
						rule->names.items[node->inputs.items[i].name].text);
	if ((pattern ? rule->pattern.count : rule->replacement.count) == SK_RULE_MAX_NODES)
		return sk_scanner_error(scanner, "a rule has %d nodes at most", SK_RULE_MAX_NODES);
	if (pattern) {
		sk_array_push(scanner->arena, &rule->pattern, *node);
		return true;
	}
	if (!check_count(scanner, rule, node) || !check_types(scanner->diag, node) ||
	    !check_kernel(scanner, rule, node))
		return false;
	if (!schema->infer && (schema->expand || !schema->upgrade)) /* FillV2 is another name of Expand */
		return sk_scanner_error(scanner,
					"%s is not an operator of one node: write the nodes that it stands for",
					node->operators.items[0].op);
	sk_array_push(scanner->arena, &rule->replacement, *node);
	return true;
}

/* The names of a line's outputs are known after it only, since a node does not take its own outputs. */
static bool parse_line(struct sk_scanner *scanner, struct sk_rule *rule, bool pattern)
{
	struct sk_rule_node node = {0};
	sk_texts outputs = {0};

	if (!parse_outputs(scanner, &outputs) || !parse_node(scanner, rule, &node, pattern))
		return false;
	if (!sk_scanner_at_end(scanner))
		return sk_scanner_error(scanner, "nothing may follow the ')'");
	for (size_t i = 0; i < outputs.count; i++)
		if (!take_output(scanner, rule, &node, pattern, outputs.items[i]))
			return false;
	return add_node(scanner, rule, &node, pattern);
}

bool sk_rule_parse_pattern(struct sk_scanner *scanner, struct sk_rule *rule)
{
	return parse_line(scanner, rule, true);
}

bool sk_rule_parse_replacement(struct sk_scanner *scanner, struct sk_rule *rule)
{
	return parse_line(scanner, rule, false);
}
