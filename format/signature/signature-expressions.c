/* Expressions; see signature-parts.h. In: tokens. Out: trees of struct sk_value_expression; their names are looked up
 * when all parameters are known. A value may depend on the call only in a form that the plan has: a sum of variables,
 * multiplied and divided by numbers that are fixed when linking. */
#include "format/signature/signature-parts.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "format/convention.h"
#include "format/signature/signature.h"
#include "format/skplan.h"

enum { MOST_PARTS = 64 }; /* the limit bounds the nesting */

static struct sk_value_expression *parse_sum(struct sk_signature_parser *parser);
static struct sk_value_expression *parse_factor(struct sk_signature_parser *parser);

/* ---- parts ---- */

/* Parentheses count as well, since they nest. */
static bool count_part(struct sk_signature_parser *parser)
{
	if (parser->parts++ < MOST_PARTS)
		return true;
	sk_signature_error(parser->source, parser->token.start, "an expression has at most %d parts", MOST_PARTS);
	return false;
}

static struct sk_value_expression *add_part(struct sk_signature_parser *parser, struct sk_value_expression part)
{
	struct sk_value_expression *added;

	if (!count_part(parser))
		return NULL;
	added = SK_NEW(parser->source->arena, struct sk_value_expression);
	*added = part;
	return added;
}

/* Add a part with a name, which is looked up later. */
static struct sk_value_expression *add_open(struct sk_signature_parser *parser, const char *at,
					    struct sk_value_expression part)
{
	struct sk_value_expression *added = add_part(parser, part);

	if (added)
		sk_array_push(parser->source->arena, &parser->source->open,
			      (struct sk_open_expression){added, at, parser->parameter});
	return added;
}

static struct sk_value_expression *refuse_expression(struct sk_signature_parser *parser, const char *wanted)
{
	sk_token_expected(parser, wanted);
	return NULL;
}

/* A number that must be fixed when linking cannot depend on variables of the call. */
static bool is_fixed(struct sk_signature_parser *parser, const char *at, const char *what)
{
	if (!parser->count_of)
		return true;
	sk_signature_error(parser->source, at, "%s is fixed when linking and cannot have '%s'", parser->count_of, what);
	return false;
}

static struct sk_value_expression *parse_number(struct sk_signature_parser *parser)
{
	const char *text = sk_arena_copy(parser->source->arena, parser->token.start, parser->token.length);
	bool hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	struct sk_value_expression number = {.kind = SK_VALUE_NUMBER};
	char *end;

	errno = 0;
	number.number = strtoull(text, &end, hexadecimal ? 16 : 10);
	if (!*end && errno) {
		sk_signature_error(parser->source, parser->token.start, "the number is too large");
		return NULL;
	}
	if (*end) {
		number = (struct sk_value_expression){.kind = SK_VALUE_REAL, .name = text};
		strtod(text, &end);
	}
	if (*end) {
		sk_signature_error(parser->source, parser->token.start, "'%.80s' is not a number", text);
		return NULL;
	}
	sk_token_advance(parser);
	return add_part(parser, number);
}

/* Return the index among the signature's symbols; each parameter has one at most. */
static uint32_t symbol_number(struct sk_signature_parser *parser, const char *name)
{
	struct sk_signature *signature = parser->signature;

	for (uint32_t i = 0; i < signature->symbol_count; i++)
		if (!strcmp(signature->symbols[i], name))
			return i;
	if (signature->symbol_count < SK_MAX_PARAMETERS)
		signature->symbols[signature->symbol_count++] = name;
	return signature->symbol_count - 1;
}

static struct sk_value_expression *parse_symbol(struct sk_signature_parser *parser)
{
	const char *name;

	sk_token_advance(parser);
	if (parser->token.kind != SK_TOKEN_WORD)
		return refuse_expression(parser, "the name of a symbol after '&'");
	name = parser->token.word;
	sk_token_advance(parser);
	return add_part(parser, (struct sk_value_expression){
					.kind = SK_VALUE_SYMBOL, .name = name, .index = symbol_number(parser, name)});
}

/* Parse "block.index", "block.count.y". */
static struct sk_value_expression *parse_block(struct sk_signature_parser *parser)
{
	static const char *const axes[] = {"x", "y", "z"};
	struct sk_value_expression part = {.axis = SK_NONE};
	const char *at = parser->token.start;

	sk_token_advance(parser);
	if (!sk_token_sign(parser, '.', "'.index' or '.count' after 'block'"))
		return NULL;
	if (!sk_token_is_word(parser, "index") && !sk_token_is_word(parser, "count"))
		return refuse_expression(parser, "'index' or 'count' after 'block.'");
	part.kind = sk_token_is_word(parser, "index") ? SK_VALUE_BLOCK_INDEX : SK_VALUE_BLOCK_COUNT;
	part.name = part.kind == SK_VALUE_BLOCK_INDEX ? "block.index" : "block.count";
	sk_token_advance(parser);
	if (sk_token_is_sign(parser, '.')) {
		sk_token_advance(parser);
		for (uint32_t axis = 0; axis < 3; axis++)
			if (sk_token_is_word(parser, axes[axis]))
				part.axis = axis;
		if (part.axis == SK_NONE)
			return refuse_expression(parser, "'x', 'y' or 'z'");
		sk_token_advance(parser);
	}
	return is_fixed(parser, at, part.name) ? add_open(parser, at, part) : NULL;
}

/* Parse a number, or null, as the default of an attribute. */
static struct sk_value_expression *parse_default(struct sk_signature_parser *parser)
{
	const char *at = parser->token.start;
	struct sk_value_expression *value = parse_factor(parser);

	if (!value || value->kind == SK_VALUE_NUMBER || value->kind == SK_VALUE_REAL || value->kind == SK_VALUE_NULL ||
	    (value->kind == SK_VALUE_SUBTRACT && value->right->kind == SK_VALUE_NUMBER))
		return value;
	sk_signature_error(parser->source, at, "the default of an attribute is one number, or null for a list");
	return NULL;
}

/* Parse "attr(axis)", "attr(alpha, 0.01)", "attr(pads)". */
static struct sk_value_expression *parse_attribute(struct sk_signature_parser *parser)
{
	struct sk_value_expression part = {.kind = SK_VALUE_ATTRIBUTE};
	const char *at = parser->token.start;

	/* The proof recomputes such numbers from the plan, which has no attributes. */
	if (parser->count_of && !parser->is_cost) {
		sk_signature_error(parser->source, at, "%s follows from extents alone and cannot have 'attr'",
				   parser->count_of);
		return NULL;
	}
	sk_token_advance(parser);
	sk_token_advance(parser);
	if (parser->token.kind != SK_TOKEN_WORD)
		return refuse_expression(parser, "the name of an attribute after 'attr('");
	part.name = parser->token.word;
	/* An attribute that affects only the cost does not make the kernel support it. */
	if (!parser->is_cost &&
	    sk_signature_attribute(parser->source, parser->signature, parser->token.start, part.name) == SK_NONE)
		return NULL;
	sk_token_advance(parser);
	if (sk_token_is_sign(parser, ',')) {
		sk_token_advance(parser);
		part.left = parse_default(parser);
		if (!part.left)
			return NULL;
	}
	return sk_token_sign(parser, ')', part.left ? "')'" : "',' or ')'") ? add_part(parser, part) : NULL;
}

/* Parse "begin(n)", "sizeof(x)", "sizeof(f32)". */
static struct sk_value_expression *parse_function(struct sk_signature_parser *parser, enum sk_value_kind kind)
{
	const char *function = parser->token.word, *function_at = parser->token.start, *name, *at;

	sk_token_advance(parser);
	sk_token_advance(parser);
	if (parser->token.kind != SK_TOKEN_WORD)
		return refuse_expression(parser, sk_arena_print(parser->source->arena, "%s after '%s('",
								kind == SK_VALUE_SIZEOF	    ? "a parameter or a type"
								: kind == SK_VALUE_OPERANDS ? "a table of tensors"
											    : "an extent",
								function));
	name = parser->token.word;
	at = parser->token.start;
	sk_token_advance(parser);
	if (!sk_token_sign(parser, ')', "')'"))
		return NULL;
	if (kind != SK_VALUE_SIZEOF)
		return kind == SK_VALUE_OPERANDS || is_fixed(parser, function_at, function)
			       ? add_open(parser, at, (struct sk_value_expression){.kind = kind, .name = name})
			       : NULL;
	if (sk_token_find_type(name))
		return add_part(parser,
				(struct sk_value_expression){.kind = SK_VALUE_NUMBER,
							     .number = sk_dtype_size(sk_token_find_type(name))});
	return add_open(parser, at, (struct sk_value_expression){.kind = kind, .name = name});
}

static struct sk_value_expression *parse_word(struct sk_signature_parser *parser)
{
	static const struct {
		const char *word;
		enum sk_value_kind kind;
		bool function;
	} words[] = {
		{"begin", SK_VALUE_BEGIN, true},   {"end", SK_VALUE_END, true},	       {"size", SK_VALUE_SIZE, true},
		{"sizeof", SK_VALUE_SIZEOF, true}, {"count", SK_VALUE_OPERANDS, true}, {"inf", SK_VALUE_REAL, false},
		{"nan", SK_VALUE_REAL, false},	   {"null", SK_VALUE_NULL, false},
	};
	const struct sk_token token = parser->token, next = sk_token_scan(parser, parser->cursor);
	bool called = next.kind == SK_TOKEN_SIGN && *next.start == '(';

	if (sk_token_is_word(parser, "block"))
		return parse_block(parser);
	if (sk_token_is_word(parser, "attr") && called)
		return parse_attribute(parser);
	if (sk_token_is_word(parser, "core")) {
		sk_signature_error(parser->source, token.start,
				   "there is no 'core.index': results must not depend on which core runs a call, or on "
				   "how many there are; say block.index");
		return NULL;
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!sk_token_is_word(parser, words[i].word) || words[i].function != called)
			continue;
		if (called)
			return parse_function(parser, words[i].kind);
		sk_token_advance(parser);
		return add_part(parser, (struct sk_value_expression){.kind = words[i].kind, .name = token.word});
	}
	if (sk_token_is_reserved(token.word))
		return refuse_expression(parser, "a value (words of the grammar cannot be names)");
	if (called) {
		sk_signature_error(parser->source, token.start,
				   "there is no '%.80s(…)'; there are begin, end, size, sizeof, count and attr",
				   token.word);
		return NULL;
	}
	sk_token_advance(parser);
	return add_open(parser, token.start, (struct sk_value_expression){.kind = SK_VALUE_EXTENT, .name = token.word});
}

static struct sk_value_expression *parse_primary(struct sk_signature_parser *parser)
{
	struct sk_value_expression *inner;

	if (parser->token.kind == SK_TOKEN_NUMBER)
		return parse_number(parser);
	if (parser->token.kind == SK_TOKEN_WORD)
		return parse_word(parser);
	if (parser->token.kind == SK_TOKEN_CHARACTER) {
		uint64_t character = (unsigned char)parser->token.start[1];

		sk_token_advance(parser);
		return add_part(parser, (struct sk_value_expression){.kind = SK_VALUE_NUMBER, .number = character});
	}
	if (sk_token_is_sign(parser, '&'))
		return parse_symbol(parser);
	if (!sk_token_is_sign(parser, '('))
		return refuse_expression(parser,
					 sk_token_is_sign(parser, '\'') ? "one character between quotes" : "a value");
	if (!count_part(parser))
		return NULL;
	sk_token_advance(parser);
	inner = parse_sum(parser);
	return inner && sk_token_sign(parser, ')', "')', '+', '-', '*' or '/'") ? inner : NULL;
}

/* ---- operators ---- */

/* Floats and addresses cannot be operands. */
static bool check_operand(struct sk_signature_parser *parser, const char *at, const struct sk_value_expression *operand)
{
	if (operand->kind == SK_VALUE_ATTRIBUTE && operand->left)
		operand = operand->left;
	if (operand->kind != SK_VALUE_REAL && operand->kind != SK_VALUE_NULL && operand->kind != SK_VALUE_SYMBOL)
		return true;
	sk_signature_error(parser->source, at, "'%s%s' stands by itself; only whole numbers are computed with",
			   operand->kind == SK_VALUE_SYMBOL ? "&" : "", operand->name);
	return false;
}

/* True if the value depends on variables of the call. */
static bool is_of_call(const struct sk_value_expression *value)
{
	switch (value->kind) {
	case SK_VALUE_BEGIN:
	case SK_VALUE_END:
	case SK_VALUE_SIZE:
	case SK_VALUE_BLOCK_INDEX:
		return true;
	case SK_VALUE_ADD:
	case SK_VALUE_SUBTRACT:
	case SK_VALUE_MULTIPLY:
	case SK_VALUE_DIVIDE:
		return is_of_call(value->left) || is_of_call(value->right);
	default:
		return false;
	}
}

/* The plan supports sums of multiples and quotients of variables, but not products of variables. */
static bool check_form(struct sk_signature_parser *parser, const char *at, const struct sk_value_expression *operation)
{
	bool left = is_of_call(operation->left), right = is_of_call(operation->right);

	if (operation->kind == SK_VALUE_MULTIPLY && left && right)
		sk_signature_error(parser->source, at,
				   "one side of '*' must be fixed when linking: numbers, extents, block.count");
	else if (operation->kind == SK_VALUE_DIVIDE && right)
		sk_signature_error(parser->source, at,
				   "the divisor after '/' must be fixed when linking: numbers, extents, block.count");
	else
		return true;
	return false;
}

static struct sk_value_expression *add_operation(struct sk_signature_parser *parser, const char *at,
						 enum sk_value_kind kind, const struct sk_value_expression *left,
						 const struct sk_value_expression *right)
{
	const struct sk_value_expression operation = {.kind = kind, .left = left, .right = right};

	if (!left || !right || !check_operand(parser, at, left) || !check_operand(parser, at, right) ||
	    !check_form(parser, at, &operation))
		return NULL;
	return add_part(parser, operation);
}

static struct sk_value_expression *parse_factor(struct sk_signature_parser *parser)
{
	const char *at = parser->token.start;
	struct sk_value_expression *factor;

	if (!sk_token_is_sign(parser, '-'))
		return parse_primary(parser);
	sk_token_advance(parser);
	factor = parse_primary(parser);
	if (!factor || factor->kind != SK_VALUE_REAL)
		return add_operation(parser, at, SK_VALUE_SUBTRACT,
				     add_part(parser, (struct sk_value_expression){.kind = SK_VALUE_NUMBER}), factor);
	factor->name = sk_arena_join(parser->source->arena, *factor->name == '-' ? "" : "-",
				     factor->name + (*factor->name == '-'));
	return factor;
}

static struct sk_value_expression *parse_product(struct sk_signature_parser *parser)
{
	struct sk_value_expression *product = parse_factor(parser);

	while (product && (sk_token_is_sign(parser, '*') || sk_token_is_sign(parser, '/'))) {
		const char *at = parser->token.start;

		sk_token_advance(parser);
		product = add_operation(parser, at, *at == '*' ? SK_VALUE_MULTIPLY : SK_VALUE_DIVIDE, product,
					parse_factor(parser));
	}
	return product;
}

static struct sk_value_expression *parse_sum(struct sk_signature_parser *parser)
{
	struct sk_value_expression *sum = parse_product(parser);

	while (sum && (sk_token_is_sign(parser, '+') || sk_token_is_sign(parser, '-'))) {
		const char *at = parser->token.start;

		sk_token_advance(parser);
		sum = add_operation(parser, at, *at == '+' ? SK_VALUE_ADD : SK_VALUE_SUBTRACT, sum,
				    parse_product(parser));
	}
	return sum;
}

/* ---- floats ---- */

/* Return a number, perhaps with '-', as text; NULL: the value is something else. */
static const char *number_text(struct sk_arena *arena, const struct sk_value_expression *value)
{
	bool negative = value->kind == SK_VALUE_SUBTRACT && value->left->kind == SK_VALUE_NUMBER &&
			value->left->number == 0 && value->right->kind == SK_VALUE_NUMBER;
	const struct sk_value_expression *number = negative ? value->right : value;

	if (value->kind == SK_VALUE_REAL)
		return value->name;
	return number->kind == SK_VALUE_NUMBER
		       ? sk_arena_print(arena, "%s%" PRIu64, negative ? "-" : "", number->number)
		       : NULL;
}

static bool settle_float(struct sk_signature_parser *parser, const char *at, enum sk_dtype dtype,
			 struct sk_value_expression *value)
{
	const char *text = number_text(parser->source->arena, value);
	struct sk_number number = {.kind = SK_NUMBER_REAL, .text = text};
	uint64_t bits;

	if (!text) {
		sk_signature_error(parser->source, at, "a value of type %s is one number: -1.5, inf, nan",
				   sk_dtype_name(dtype));
		return false;
	}
	number.real = strtod(text, NULL);
	if ((isinf(number.real) && !strstr(text, "inf")) || !sk_number_bits(&number, dtype, &bits)) {
		sk_signature_error(parser->source, at, "'%.80s' is too %s for %s", text,
				   fabs(number.real) > 1 ? "large" : "small", sk_dtype_name(dtype));
		return false;
	}
	*value = (struct sk_value_expression){.kind = SK_VALUE_REAL, .name = text, .number = bits, .text = value->text};
	return true;
}

/* ---- values ---- */

static bool settle_type(struct sk_signature_parser *parser, const char *at, enum sk_dtype dtype, bool pointer,
			struct sk_value_expression *value);

/* The kind of an attribute is known with the task. */
static bool settle_attribute(struct sk_signature_parser *parser, const char *at, enum sk_dtype dtype, bool pointer,
			     struct sk_value_expression *value)
{
	struct sk_value_expression *other;

	if (!value->left)
		return true;
	other = SK_NEW(parser->source->arena, struct sk_value_expression);
	*other = *value->left;
	other->text = value->text;
	value->left = other;
	return settle_type(parser, at, dtype, pointer, other);
}

static bool settle_type(struct sk_signature_parser *parser, const char *at, enum sk_dtype dtype, bool pointer,
			struct sk_value_expression *value)
{
	bool address = value->kind == SK_VALUE_NULL || value->kind == SK_VALUE_SYMBOL;

	if (value->kind == SK_VALUE_ATTRIBUTE)
		return settle_attribute(parser, at, dtype, pointer, value);
	if (pointer != address)
		sk_signature_error(parser->source, at, "a %s cannot be '%.80s'%s",
				   pointer ? "pointer" : sk_dtype_name(dtype), value->text,
				   pointer ? ", but 'null', '&SYMBOL' or 'attr(NAME)'" : ", which is a pointer (ptr)");
	else if (!pointer && sk_dtype_is_float(dtype))
		return settle_float(parser, at, dtype, value);
	else if (value->kind == SK_VALUE_REAL)
		sk_signature_error(parser->source, at, "'%.80s' cannot be %s", value->text, sk_dtype_name(dtype));
	else
		return true;
	return false;
}

static struct sk_value_expression *parse_whole(struct sk_signature_parser *parser)
{
	const char *at = parser->token.start;
	struct sk_value_expression *value;

	parser->parts = 0;
	value = parse_sum(parser);
	if (value)
		value->text = sk_arena_copy(parser->source->arena, at, (size_t)(parser->taken - at));
	return value;
}

bool sk_signature_parse_value(struct sk_signature_parser *parser, enum sk_dtype dtype, bool pointer, uint32_t parameter,
			      const struct sk_value_expression **value)
{
	const char *at = parser->token.start;
	struct sk_value_expression *parsed;

	parser->count_of = NULL;
	parser->parameter = parameter;
	*value = parsed = parse_whole(parser);
	return parsed && settle_type(parser, at, dtype, pointer, parsed);
}

bool sk_signature_parse_count(struct sk_signature_parser *parser, const char *of,
			      const struct sk_value_expression **value)
{
	const char *at = parser->token.start;
	struct sk_value_expression *parsed;

	parser->count_of = of;
	parser->parameter = SK_NONE;
	*value = parsed = parse_whole(parser);
	return parsed && settle_type(parser, at, SK_U64, false, parsed);
}

/* ---- names ---- */

static void resolve_extent(struct sk_signature_source *source, const struct sk_signature *signature,
			   const struct sk_open_expression *open)
{
	struct sk_value_expression *expression = open->expression;

	expression->index = sk_signature_find_extent(signature, expression->name);
	if (expression->index == SK_NONE)
		sk_signature_error(
			source, open->at, "no tensor has an extent '%s'%s", expression->name,
			sk_did_you_mean(source->arena, expression->name, signature->extents, signature->extent_count));
	else if (expression->kind != SK_VALUE_EXTENT && !sk_signature_divides(signature, expression->index))
		sk_signature_error(source, open->at,
				   "extent '%s' is not divided, so no call has a part of it; '%s' alone is all of it",
				   expression->name, expression->name);
}

/* The size of a whole parameter; that of a part follows from the size of the part. */
static void resolve_sizeof(struct sk_signature_source *source, const struct sk_signature *signature,
			   const struct sk_open_expression *open)
{
	struct sk_value_expression *expression = open->expression;

	expression->index = sk_signature_find_parameter(signature, expression->name);
	if (expression->index != SK_NONE && signature->parameters[expression->index].operands) {
		sk_signature_error(source, open->at,
				   "'%s' is a table of tensors; the bytes of each follow from its extents",
				   expression->name);
		return;
	}
	if (expression->index == SK_NONE || signature->parameters[expression->index].kind == SK_PARAMETER_STRUCT) {
		const char *here = sk_find_type_of_c(expression->name);

		sk_signature_error(source, open->at, "no parameter or type '%s'%s", expression->name,
				   here ? sk_arena_print(source->arena, "; C's is %s here", here) : "");
		return;
	}
	if (signature->parameters[expression->index].optional)
		sk_signature_error(source, open->at, "'%s' may be absent, and has no bytes then", expression->name);
	for (uint32_t e = 0; e < signature->extent_count; e++)
		if (sk_signature_divides(signature, e) &&
		    sk_parameter_has_extent(&signature->parameters[expression->index], e))
			sk_signature_error(source, open->at,
					   "the bytes of '%s' are divided with '%s'; say those of a part with "
					   "size(%s)",
					   expression->name, signature->extents[e], signature->extents[e]);
}

/* The number is known from here on. */
static void resolve_operands(struct sk_signature_source *source, const struct sk_signature *signature,
			     const struct sk_open_expression *open)
{
	uint32_t table = sk_signature_find_parameter(signature, open->expression->name);

	if (table == SK_NONE || !signature->parameters[table].operands) {
		sk_signature_error(source, open->at, "'%s' is not a table of tensors, as 'in %s[]' is one",
				   open->expression->name, open->expression->name);
		return;
	}
	open->expression->kind = SK_VALUE_NUMBER;
	open->expression->number = signature->parameters[table].operands;
}

static void resolve_block(struct sk_signature_source *source, const struct sk_signature *signature,
			  const struct sk_open_expression *open)
{
	const struct sk_value_expression *expression = open->expression;

	if (!sk_signature_has_blocks(signature))
		sk_signature_error(source, open->at, "'%s' needs the attribute 'blocks', 'blocks=NAME' or 'grid=…'",
				   expression->name);
	else if (signature->lane == SK_LANE_MIX && expression->kind == SK_VALUE_BLOCK_COUNT)
		sk_signature_error(source, open->at,
				   "the sides of a 'mix' kernel may have different numbers of blocks; it gets its own "
				   "with 'block'");
	else if (expression->axis != SK_NONE && expression->axis >= signature->grid_rank)
		sk_signature_error(source, open->at,
				   signature->grid_rank ? "'%s' has only %u axes, as 'grid=…' says"
							: "'%s' has '.x', '.y' and '.z' only with 'grid=…'",
				   expression->name, signature->grid_rank);
}

void sk_signature_resolve_expressions(struct sk_signature_source *source, struct sk_signature *signature)
{
	for (size_t i = 0; i < source->open.count; i++) {
		const struct sk_open_expression *open = &source->open.items[i];

		switch (open->expression->kind) {
		case SK_VALUE_SIZEOF:
			resolve_sizeof(source, signature, open);
			break;
		case SK_VALUE_OPERANDS:
			resolve_operands(source, signature, open);
			break;
		case SK_VALUE_BLOCK_INDEX:
		case SK_VALUE_BLOCK_COUNT:
			resolve_block(source, signature, open);
			break;
		default:
			resolve_extent(source, signature, open);
			break;
		}
	}
}
