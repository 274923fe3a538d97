/* Tokens, and the normalised text; see signature-parts.h. */
#include "format/signature/signature-parts.h"

#include <ctype.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/ranges.h"
#include "format/signature/signature.h"
#include "format/skplan.h"

const char *const sk_parameter_words[SK_PARAMETER_WORDS] = {"in", "out", "inout", "ref", "block", "scratch"};

/* ---- errors ---- */

static const char *found(struct sk_signature_parser *parser)
{
	const struct sk_token *token = &parser->token;

	if (token->kind == SK_TOKEN_END)
		return parser->in_attribute ? "the attribute ends" : "the signature ends";
	return sk_arena_print(parser->source->arena, "found '%.*s'", (int)(token->length < 40 ? token->length : 40),
			      token->start);
}

bool sk_token_expected(struct sk_signature_parser *parser, const char *wanted)
{
	sk_signature_error(parser->source, parser->token.start, "expected %s, but %s", wanted, found(parser));
	return false;
}

/* ---- tokens ---- */

/* Normalised text has a space between words, after ',' and ';' outside of brackets, and around '=' and '->'. */
static void append_token(struct sk_signature_parser *parser, const struct sk_token *token)
{
	const struct sk_signature_source *source = parser->source;
	char last = source->normal_length ? source->normal[source->normal_length - 1] : ' ';
	bool word = token->kind == SK_TOKEN_WORD || token->kind == SK_TOKEN_NUMBER;
	bool after_word = isalnum((unsigned char)last) || strchr("_])\'?", last);
	bool brace = token->kind == SK_TOKEN_SIGN && *token->start == '{';

	if (token->kind == SK_TOKEN_SIGN)
		parser->in_brackets = *token->start == '[' || (parser->in_brackets && *token->start != ']');
	if (((word || brace) && after_word) || (word && last == ',' && !parser->in_brackets) || strchr(";>=", last) ||
	    token->kind == SK_TOKEN_ARROW || (token->kind == SK_TOKEN_SIGN && *token->start == '='))
		sk_signature_append(parser->source, " ", 1);
	sk_signature_append(parser->source, token->start, token->length);
}

/* Return the length of a number: "16", "0x1F", "2.5e-3". */
static size_t number_length(const char *from, const char *end)
{
	size_t length = 1;

	while (from + length != end) {
		char c = from[length], last = from[length - 1];
		bool exponent = (last == 'e' || last == 'E') && from[1] != 'x';

		if (!sk_signature_is_word_character(c) && c != '.' && !(exponent && (c == '-' || c == '+')))
			break;
		length++;
	}
	return length;
}

struct sk_token sk_token_scan(const struct sk_signature_parser *parser, const char *from)
{
	while (from != parser->end && sk_signature_is_blank(*from))
		from++;

	struct sk_token token = {.kind = SK_TOKEN_SIGN, .start = from, .length = 1};

	if (from == parser->end || !*from) {
		token.kind = SK_TOKEN_END;
		token.length = 0;
	} else if (from[0] == '-' && from[1] == '>') {
		token.kind = SK_TOKEN_ARROW;
		token.length = 2;
	} else if (from[0] == '\'' && from[1] > ' ' && from[1] <= '~' && from[2] == '\'') {
		token.kind = SK_TOKEN_CHARACTER;
		token.length = 3;
	} else if (isdigit((unsigned char)*from)) {
		token.kind = SK_TOKEN_NUMBER;
		token.length = number_length(from, parser->end);
	} else if (sk_signature_is_word_character(*from)) {
		token.kind = SK_TOKEN_WORD;
		while (from + token.length != parser->end && sk_signature_is_word_character(from[token.length]))
			token.length++;
	}
	return token;
}

void sk_token_read(struct sk_signature_parser *parser)
{
	parser->token = sk_token_scan(parser, parser->cursor);
	parser->cursor = parser->token.start + parser->token.length;
	if (parser->token.kind == SK_TOKEN_WORD)
		parser->token.word = sk_arena_copy(parser->source->arena, parser->token.start, parser->token.length);
}

void sk_token_advance(struct sk_signature_parser *parser)
{
	if (!parser->in_attribute)
		append_token(parser, &parser->token);
	parser->taken = parser->token.start + parser->token.length;
	sk_token_read(parser);
}

bool sk_token_is_sign(const struct sk_signature_parser *parser, char sign)
{
	return parser->token.kind == SK_TOKEN_SIGN && *parser->token.start == sign;
}

bool sk_token_is_word(const struct sk_signature_parser *parser, const char *word)
{
	return parser->token.kind == SK_TOKEN_WORD && !strcmp(parser->token.word, word);
}

/* ---- names, types, numbers ---- */

void sk_dtype_names(const char *names[SK_DTYPE_COUNT - 1])
{
	for (enum sk_dtype type = SK_DTYPE_NONE + 1; type < SK_DTYPE_COUNT; type++)
		names[type - 1] = sk_dtype_name(type);
}

enum sk_dtype sk_token_find_type(const char *name)
{
	for (enum sk_dtype type = SK_DTYPE_NONE + 1; type < SK_DTYPE_COUNT; type++)
		if (!strcmp(name, sk_dtype_name(type)))
			return type;
	return SK_DTYPE_NONE;
}

bool sk_token_is_reserved(const char *word)
{
	return sk_token_find_type(word) || sk_signature_is_one_of(word, sk_parameter_words, SK_PARAMETER_WORDS);
}

bool sk_token_new_name(struct sk_signature_parser *parser, const char *after, const char **name, const char **at)
{
	if (parser->token.kind != SK_TOKEN_WORD)
		return sk_token_expected(parser, sk_arena_print(parser->source->arena, "a name after '%s'", after));
	if (sk_token_is_reserved(parser->token.word))
		return sk_token_expected(parser, sk_arena_print(parser->source->arena, "a name after '%s' (%s)", after,
								sk_token_find_type(parser->token.word)
									? "it comes before the type"
									: "words of the grammar cannot be names"));
	*name = parser->token.word;
	*at = parser->token.start;
	sk_token_advance(parser);
	return true;
}

const char *sk_find_type_of_c(const char *name)
{
	static const struct {
		const char *there, *here;
	} types[] = {
		{"float", "f32"},   {"double", "f64"},	 {"char", "i8"},     {"short", "i16"},
		{"int", "i32"},	    {"unsigned", "u32"}, {"long", "i64"},    {"size_t", "u64"},
		{"int8_t", "i8"},   {"uint8_t", "u8"},	 {"int16_t", "i16"}, {"uint16_t", "u16"},
		{"int32_t", "i32"}, {"uint32_t", "u32"}, {"int64_t", "i64"}, {"uint64_t", "u64"},
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(name, types[i].there))
			return types[i].here;
	return NULL;
}

/* "float x": C has the type first. */
static bool is_c_order(const char *name)
{
	return sk_find_type_of_c(name) || !strcmp(name, "const") || !strcmp(name, "ptr");
}

bool sk_token_type(struct sk_signature_parser *parser, const char *after, enum sk_dtype *type)
{
	const char *names[SK_DTYPE_COUNT - 1];

	sk_dtype_names(names);
	if (parser->token.kind != SK_TOKEN_WORD)
		return sk_token_expected(parser, sk_arena_print(parser->source->arena, "a type after '%s'", after));
	*type = sk_token_find_type(parser->token.word);
	if (!*type) {
		const char *near =
			sk_did_you_mean(parser->source->arena, parser->token.word, names, SK_DTYPE_COUNT - 1);
		const char *here = sk_find_type_of_c(parser->token.word);

		if (!*near && is_c_order(after))
			near = "; a name comes before its type: 'in x f32[n]', 'n i64', 'p ptr = null'";
		else if (here)
			near = sk_arena_print(parser->source->arena, "; C's is %s here", here);
		sk_signature_error(parser->source, parser->token.start, "unknown type '%s'%s", parser->token.word,
				   *near ? near : " (there are i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64 bool)");
		return false;
	}
	sk_token_advance(parser);
	return true;
}

bool sk_token_number(struct sk_signature_parser *parser, const char *wanted, uint64_t *value)
{
	const struct sk_token *token = &parser->token;

	if (token->kind != SK_TOKEN_NUMBER)
		return sk_token_expected(parser, wanted);
	*value = 0;
	for (size_t i = 0; i < token->length; i++) {
		char c = token->start[i];

		if (!isdigit((unsigned char)c))
			return sk_token_expected(parser, wanted);
		if (!sk_mul(*value, 10, value) || !sk_add(*value, (uint64_t)(c - '0'), value) || *value > INT64_MAX) {
			sk_signature_error(parser->source, token->start, "the number is too large");
			return false;
		}
	}
	if (!*value) {
		sk_signature_error(parser->source, token->start, "the number must be greater than 0");
		return false;
	}
	sk_token_advance(parser);
	return true;
}

bool sk_token_sign(struct sk_signature_parser *parser, char sign, const char *wanted)
{
	if (!sk_token_is_sign(parser, sign))
		return sk_token_expected(parser, wanted);
	sk_token_advance(parser);
	return true;
}
