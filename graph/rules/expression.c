/* The grammar of expressions; see rules-parts.h. Binary operators are parsed by precedence. */
#include "graph/rules/rules-parts.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"

/* ---- words ---- */

static void skip_blanks(struct sk_scanner *scanner)
{
	while (*scanner->at == ' ' || *scanner->at == '\t' || *scanner->at == '\n')
		scanner->at++;
}

struct sk_place sk_scanner_place(struct sk_scanner *scanner)
{
	struct sk_place place = scanner->place;

	skip_blanks(scanner);
	if (scanner->in_line)
		place.column += (uint32_t)(scanner->at - scanner->text);
	return place;
}

bool sk_scanner_error(struct sk_scanner *scanner, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (!scanner->failed)
		sk_error(scanner->diag, sk_scanner_place(scanner), "%s",
			 sk_arena_print_list(scanner->arena, format, args));
	va_end(args);
	scanner->failed = true;
	return false;
}

static bool continues_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

bool sk_scanner_take(struct sk_scanner *scanner, const char *word)
{
	size_t length = strlen(word);

	skip_blanks(scanner);
	if (strncmp(scanner->at, word, length) ||
	    (continues_word(word[length - 1]) && continues_word(scanner->at[length])))
		return false;
	scanner->at += length;
	return true;
}

/* Return the next word, for messages. */
static const char *next_text(struct sk_scanner *scanner)
{
	size_t length = 1;

	if (sk_scanner_at_end(scanner))
		return "the end";
	while (continues_word(*scanner->at) && continues_word(scanner->at[length]) && length < 60)
		length++;
	return sk_arena_print(scanner->arena, "'%s'",
			      sk_arena_escape(scanner->arena, sk_arena_copy(scanner->arena, scanner->at, length)));
}

bool sk_scanner_expect(struct sk_scanner *scanner, const char *word)
{
	return sk_scanner_take(scanner, word) ||
	       sk_scanner_error(scanner, "'%s' is expected here, not %s", word, next_text(scanner));
}

const char *sk_scanner_identifier(struct sk_scanner *scanner)
{
	size_t length = 0;

	skip_blanks(scanner);
	if (!isalpha((unsigned char)*scanner->at) && *scanner->at != '_')
		return NULL;
	while (continues_word(scanner->at[length]))
		length++;
	scanner->at += length;
	return sk_arena_copy(scanner->arena, scanner->at - length, length);
}

bool sk_scanner_at_end(struct sk_scanner *scanner)
{
	skip_blanks(scanner);
	return !*scanner->at;
}

/* ---- parts ---- */

/* Functions, with the least and the most operands. */
static const struct {
	const char *name;
	uint8_t least, most;
	bool of_value;
} functions[] = {
	/* of values */
	{"shape", 1, 1, true},
	{"rank", 1, 1, true},
	{"size", 1, 1, true},
	{"dtype", 1, 1, true},
	{"value", 1, 1, true},
	{"bounds", 1, 1, true},
	{"constant", 1, 1, true},
	{"present", 1, 1, true},
	{"uses", 1, 1, true},
	{"output", 1, 1, true},
	{"float", 1, 1, true},
	{"count", 1, 1, true},
	{"repeats", 1, 1, true},
	{"stream", 1, 1, true},
	{"scope", 1, 1, true},
	{"origin", 1, 1, true},
	/* of numbers */
	{"sqrt", 1, 1, false},
	{"exp", 1, 1, false},
	{"log", 1, 1, false},
	{"abs", 1, 1, false},
	{"floor", 1, 1, false},
	{"min", 2, 8, false},
	{"max", 2, 8, false},
	/* of lists */
	{"sum", 1, 1, false},
	{"product", 1, 1, false},
	{"all", 1, 1, false},
	{"any", 1, 1, false},
	{"length", 1, 1, false},
	{"range", 1, 2, false},
	{"fill", 2, 2, false},
	{"concat", 1, 8, false},
	{"indices", 1, 1, false},
	{"take", 2, 2, false}};

enum { FUNCTIONS = sizeof(functions) / sizeof(functions[0]) };

static struct sk_rule_expression *new_expression(struct sk_scanner *scanner, enum sk_expression_kind kind,
						 const char *text)
{
	struct sk_rule_expression *expression = SK_NEW(scanner->arena, struct sk_rule_expression);

	if (++scanner->size > SK_RULE_EXPRESSION_MAX_SIZE) {
		sk_scanner_error(scanner, "the rule's expressions have more than %d parts",
				 SK_RULE_EXPRESSION_MAX_SIZE);
		return NULL;
	}
	expression->kind = kind;
	expression->text = text;
	expression->place = sk_scanner_place(scanner);
	return expression;
}

/* Append an operand, unless parsing it or its parent has failed. */
static struct sk_rule_expression *with(struct sk_scanner *scanner, struct sk_rule_expression *expression,
				       struct sk_rule_expression *operand)
{
	if (!expression || !operand)
		return NULL;
	sk_array_push(scanner->arena, &expression->operands, operand);
	return expression;
}

static struct sk_rule_expression *parse_items(struct sk_scanner *scanner, struct sk_rule_expression *expression,
					      const char *end)
{
	bool first = true;

	while (expression && !sk_scanner_take(scanner, end)) {
		if (!first && !sk_scanner_expect(scanner, ","))
			return NULL;
		first = false;
		expression = with(scanner, expression, sk_expression_parse(scanner));
	}
	return expression;
}

static struct sk_rule_expression *parse_number(struct sk_scanner *scanner)
{
	struct sk_rule_expression *expression = new_expression(scanner, SK_RULE_EXPRESSION_NUMBER, NULL);
	char *end;

	if (!expression)
		return NULL;
	expression->number = strtod(scanner->at, &end);
	if (continues_word(*end) || !isfinite(expression->number)) {
		sk_scanner_error(scanner, "%s starts no number", next_text(scanner));
		return NULL;
	}
	scanner->at = end;
	return expression;
}

static struct sk_rule_expression *parse_text(struct sk_scanner *scanner)
{
	struct sk_rule_expression *expression = new_expression(scanner, SK_RULE_EXPRESSION_TEXT, NULL);
	const char *end = strchr(scanner->at + 1, '\'');

	if (!end) {
		sk_scanner_error(scanner, "a text has no end: a ' is missing");
		return NULL;
	}
	if (expression)
		expression->text = sk_arena_copy(scanner->arena, scanner->at + 1, (size_t)(end - scanner->at - 1));
	scanner->at = end + 1;
	return expression;
}

static struct sk_rule_expression *parse_call(struct sk_scanner *scanner, struct sk_rule_expression *call)
{
	size_t i = 0;

	while (i < FUNCTIONS && strcmp(functions[i].name, call->text))
		i++;
	if (i == FUNCTIONS) {
		const char *names[FUNCTIONS];

		for (size_t n = 0; n < FUNCTIONS; n++)
			names[n] = functions[n].name;
		sk_scanner_error(scanner, "there is no function '%s'%s", call->text,
				 sk_did_you_mean(scanner->arena, call->text, names, i));
		return NULL;
	}
	call->kind = SK_RULE_EXPRESSION_CALL;
	call->of_value = functions[i].of_value;
	call = parse_items(scanner, call, ")");
	if (!call || (call->operands.count >= functions[i].least && call->operands.count <= functions[i].most))
		return call;
	sk_scanner_error(scanner, "%s takes %u%s operand%s, not %zu", call->text, functions[i].least,
			 functions[i].most > functions[i].least ? " or more" : "", sk_plural(functions[i].least),
			 call->operands.count);
	return NULL;
}

static struct sk_rule_expression *parse_word(struct sk_scanner *scanner)
{
	struct sk_rule_expression *expression = new_expression(scanner, SK_RULE_EXPRESSION_NAME, NULL);

	if (!expression)
		return NULL;
	expression->text = sk_scanner_identifier(scanner);
	if (!expression->text) {
		sk_scanner_error(scanner, "a number, a name or a list is expected here, not %s", next_text(scanner));
		return NULL;
	}
	if (!strcmp(expression->text, "inf")) {
		expression->kind = SK_RULE_EXPRESSION_NUMBER;
		expression->number = INFINITY;
		return expression;
	}
	return sk_scanner_take(scanner, "(") ? parse_call(scanner, expression) : expression;
}

static struct sk_rule_expression *parse_primary(struct sk_scanner *scanner)
{
	struct sk_rule_expression *expression;

	skip_blanks(scanner);
	if (isdigit((unsigned char)*scanner->at) || *scanner->at == '.')
		return parse_number(scanner);
	if (*scanner->at == '\'')
		return parse_text(scanner);
	if (sk_scanner_take(scanner, "["))
		return parse_items(scanner, new_expression(scanner, SK_RULE_EXPRESSION_LIST, NULL), "]");
	if (!sk_scanner_take(scanner, "("))
		return parse_word(scanner);
	expression = sk_expression_parse(scanner);
	return expression && sk_scanner_expect(scanner, ")") ? expression : NULL;
}

static struct sk_rule_expression *parse_unary(struct sk_scanner *scanner)
{
	struct sk_rule_expression *expression;

	if (sk_scanner_take(scanner, "-"))
		return with(scanner, new_expression(scanner, SK_RULE_EXPRESSION_UNARY, "-"), parse_unary(scanner));
	expression = parse_primary(scanner);
	while (expression && sk_scanner_take(scanner, "[")) {
		expression =
			with(scanner, with(scanner, new_expression(scanner, SK_RULE_EXPRESSION_ITEM, NULL), expression),
			     sk_expression_parse(scanner));
		if (!expression || !sk_scanner_expect(scanner, "]"))
			return NULL;
	}
	return expression;
}

/* Operators by precedence. Longer ones stand before their prefixes. */
static const char *const operators[][7] = {
	{"or"}, {"and"}, {"==", "!=", "<=", ">=", "<", ">"}, {"+", "-"}, {"*", "/", "%"}};

enum { LEVELS = sizeof(operators) / sizeof(operators[0]), COMPARISON = 2 };

static const char *take_operator(struct sk_scanner *scanner, unsigned level)
{
	for (size_t i = 0; operators[level][i]; i++)
		if (sk_scanner_take(scanner, operators[level][i]))
			return operators[level][i];
	return NULL;
}

static struct sk_rule_expression *parse_binary(struct sk_scanner *scanner, unsigned level);

static struct sk_rule_expression *parse_deeper(struct sk_scanner *scanner, unsigned level)
{
	struct sk_rule_expression *expression = NULL;

	if (++scanner->depth > (SK_RULE_EXPRESSION_MAX_DEPTH + 1) * (LEVELS + 1))
		sk_scanner_error(scanner, "expressions nest too deep");
	else if (level == LEVELS)
		expression = parse_unary(scanner);
	else if (level == COMPARISON && sk_scanner_take(scanner, "not"))
		expression = with(scanner, new_expression(scanner, SK_RULE_EXPRESSION_UNARY, "not"),
				  parse_deeper(scanner, COMPARISON));
	else
		expression = parse_binary(scanner, level);
	scanner->depth--;
	return expression;
}

static struct sk_rule_expression *parse_binary(struct sk_scanner *scanner, unsigned level)
{
	struct sk_rule_expression *left = parse_deeper(scanner, level + 1);
	const char *word;

	while (left && (word = take_operator(scanner, level))) {
		struct sk_rule_expression *both =
			with(scanner, new_expression(scanner, SK_RULE_EXPRESSION_BINARY, word), left);

		left = with(scanner, both, parse_deeper(scanner, level + 1));
	}
	return left;
}

struct sk_rule_expression *sk_expression_parse(struct sk_scanner *scanner)
{
	struct sk_rule_expression *expression = parse_deeper(scanner, 0), *choice;

	if (!expression || !sk_scanner_take(scanner, "if"))
		return expression;
	choice = new_expression(scanner, SK_RULE_EXPRESSION_CHOICE, NULL);
	choice = with(scanner, choice, parse_deeper(scanner, 0));
	choice = with(scanner, choice, expression);
	if (!choice || !sk_scanner_expect(scanner, "else"))
		return NULL;
	return with(scanner, choice, sk_expression_parse(scanner));
}
