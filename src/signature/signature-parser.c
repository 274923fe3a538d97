/* The signature's grammar, by recursive descent over a handful of tokens. Comes in: a line of text. Goes out: struct
 * sk_signature. What follows from the signature as a whole (nothing can bind an extent, a split extent stands inside)
 * is checked in signature-rules.c, when the text has been understood. */
#include "src/signature/signature-parser.h"

#include <ctype.h>
#include <string.h>

#include "src/base/checked.h"
#include "src/signature/signature-expressions.h"
#include "src/signature/signature-parts.h"
#include "src/signature/signature-tokens.h"

enum { MAX_LENGTH = 16384 }; /* so that there are never very many errors */

static const char *const directions[] = {"in", "out", "inout"};
enum { DIRECTIONS = 3 };

/* ---- parameters ---- */

/* C has no single way to pass these. One whose value is known is passed as its type says. */
static bool check_scalar_type(struct sk_signature_parser *parser, const char *at, enum sk_dtype type, bool has_value,
			      const char *what)
{
	if (type == SK_BOOL)
		sk_signature_error(parser->source, at,
				   "%s cannot be bool: say u8 for a C _Bool or char, i32 for an int", what);
	else if ((type == SK_F16 || type == SK_BF16) && !has_value)
		sk_signature_error(parser->source, at,
				   "%s cannot be %s: compilers differ in how they pass it; use a tensor of one element",
				   what, sk_dtype_name(type));
	else
		return true;
	return false;
}

/* The name of an extent, or of how far rows lie apart, at the cursor. */
static bool add_extent(struct sk_signature_parser *parser, uint32_t *number)
{
	struct sk_signature *signature = parser->signature;
	const char *name = parser->token.word;
	uint32_t index = sk_signature_find_extent(signature, name);

	if (sk_token_is_reserved(name))
		return sk_token_expected(parser, "the name of an extent (words of the grammar cannot be names)");
	if (index == SK_NONE) {
		if (signature->extent_count == SK_MAX_PARAMETERS) {
			sk_signature_error(parser->source, parser->token.start, "more than %u extents",
					   SK_MAX_PARAMETERS);
			return false;
		}
		index = signature->extent_count++;
		signature->extents[index] = name;
		parser->source->extent_at[index] = parser->token.start;
	}
	*number = index;
	sk_token_advance(parser);
	return true;
}

static bool add_factor(struct sk_signature_parser *parser, struct sk_extent *extent)
{
	if (extent->name_count == SK_MAX_FACTORS) {
		sk_signature_error(parser->source, parser->token.start, "a product has at most %u names",
				   SK_MAX_FACTORS);
		return false;
	}
	return add_extent(parser, &extent->names[extent->name_count++]);
}

/* A name, an integer, or a product that starts with a name: with an integer in front, ranges of the name would not be
 * contiguous. */
static bool parse_extent(struct sk_signature_parser *parser, struct sk_extent *extent)
{
	extent->constant = 1;
	if (parser->token.kind == SK_TOKEN_NUMBER) {
		if (!sk_token_number(parser, "an extent", &extent->constant))
			return false;
		if (sk_token_is_sign(parser, '*'))
			return sk_token_expected(parser, "',' or ']' (a product starts with a name: n*4)");
		return true;
	}
	for (;;) {
		uint64_t number;

		if (parser->token.kind == SK_TOKEN_WORD) {
			if (!add_factor(parser, extent))
				return false;
		} else if (parser->token.kind == SK_TOKEN_NUMBER) {
			const char *at = parser->token.start;

			if (!sk_token_number(parser, "an extent", &number))
				return false;
			if (!sk_mul(extent->constant, number, &extent->constant)) {
				sk_signature_error(parser->source, at, "the number is too large");
				return false;
			}
		} else {
			return sk_token_expected(parser, "an extent (a name, a number, or a product such as n*4)");
		}
		if (!sk_token_is_sign(parser, '*'))
			return true;
		sk_token_advance(parser);
	}
}

/* ":lda" behind a dimension: those in front of it count rows that lie so many elements apart. */
static bool parse_stride(struct sk_signature_parser *parser, struct sk_parameter *parameter)
{
	uint32_t dimension = parameter->rank - 1;

	if (!sk_token_is_sign(parser, ':'))
		return true;
	if (dimension == 0 || parameter->stride != SK_NONE) {
		sk_signature_error(parser->source, parser->token.start,
				   dimension == 0 ? "':' says how far the rows of '%s' lie apart, so it stands behind "
						    "the dimension that rows begin with, and not behind the first one"
						  : "the rows of '%s' lie in one kind of distance: one ':' is enough",
				   parameter->name);
		return false;
	}
	sk_token_advance(parser);
	if (parser->token.kind != SK_TOKEN_WORD)
		return sk_token_expected(parser, "a name behind ':', of how many elements lie between rows");
	parameter->row_dimension = dimension;
	return add_extent(parser, &parameter->stride);
}

static bool parse_extents(struct sk_signature_parser *parser, struct sk_parameter *parameter)
{
	if (!sk_token_sign(parser, '[',
			   sk_arena_print(parser->source->arena, "'[' with the extents of '%s'", parameter->name)))
		return false;
	for (;;) {
		if (parameter->rank == SK_MAX_RANK) {
			sk_signature_error(parser->source, parser->token.start, "more than %u dimensions", SK_MAX_RANK);
			return false;
		}
		if (!parse_extent(parser, &parameter->extents[parameter->rank++]) || !parse_stride(parser, parameter))
			return false;
		if (!sk_token_is_sign(parser, ','))
			return sk_token_sign(parser, ']', "',', '*' or ']'");
		sk_token_advance(parser);
	}
}

static bool parse_tensor(struct sk_signature_parser *parser, struct sk_parameter *parameter, uint32_t index)
{
	const char *direction = parser->token.word;

	parameter->kind = SK_PARAMETER_TENSOR;
	parameter->access = !strcmp(direction, "in")	? SK_ACCESS_READ
			    : !strcmp(direction, "out") ? SK_ACCESS_WRITE
							: SK_ACCESS_READ | SK_ACCESS_WRITE;
	sk_token_advance(parser);
	if (!sk_token_new_name(parser, direction, &parameter->name, &parser->source->parameter_at[index]))
		return false;
	if (sk_token_is_sign(parser, '@')) {
		sk_token_advance(parser);
		if (parser->token.kind != SK_TOKEN_WORD || sk_token_is_reserved(parser->token.word))
			return sk_token_expected(parser, "the name of a parameter behind '@'");
		parser->source->alias_name[index] = parser->token.word;
		parser->source->alias_at[index] = parser->token.start;
		sk_token_advance(parser);
	}
	if (!sk_token_type(parser, parameter->name, &parameter->dtype) || !parse_extents(parser, parameter))
		return false;
	parameter->whole = sk_token_is_word(parser, "whole");
	if (parameter->whole)
		sk_token_advance(parser);
	return true;
}

static bool parse_scalar(struct sk_signature_parser *parser, struct sk_parameter *parameter, uint32_t index)
{
	const char *first = parser->token.word, *at = parser->token.start;

	parameter->kind = SK_PARAMETER_SCALAR;
	parameter->by_reference = sk_token_is_word(parser, "ref");
	if (parameter->by_reference) {
		sk_token_advance(parser);
		if (!sk_token_new_name(parser, "ref", &parameter->name, &parser->source->parameter_at[index]))
			return false;
	} else {
		struct sk_token second = sk_token_scan(parser, parser->cursor),
				third = sk_token_scan(parser, second.start + second.length);

		/* "inn x f32": three words are none of the scalars. */
		if (second.kind == SK_TOKEN_WORD && third.kind == SK_TOKEN_WORD && !sk_token_find_type(first)) {
			sk_signature_error(
				parser->source, at, "unknown word '%.80s'%s", first,
				sk_did_you_mean(parser->source->arena, first, sk_parameter_words, SK_PARAMETER_WORDS));
			return false;
		}
		if (sk_token_find_type(first))
			return sk_token_expected(parser,
						 "a parameter, which is in, out, inout, ref, block, scratch or a name");
		parameter->name = first;
		parser->source->parameter_at[index] = at;
		sk_token_advance(parser);
	}

	const char *type_at = parser->token.start;

	parameter->pointer = sk_token_is_word(parser, "ptr");
	if (parameter->pointer) {
		parameter->dtype = SK_U64;
		sk_token_advance(parser);
	} else if (!sk_token_type(parser, parameter->name, &parameter->dtype)) {
		return false;
	}
	if (sk_token_is_sign(parser, '=')) {
		sk_token_advance(parser);
		parser->source->value_at[index] = parser->token.start;
		return check_scalar_type(parser, type_at, parameter->dtype, true, "a scalar") &&
		       sk_signature_parse_value(parser, parameter->dtype, parameter->pointer, index, &parameter->value);
	}
	if (parameter->pointer) {
		sk_token_expected(parser, "'=' behind 'ptr': '= null' or '= &SYMBOL'");
		return false;
	}
	if (sk_token_is_sign(parser, '[')) {
		sk_signature_error(parser->source, at, "a parameter with extents needs in, out or inout in front%s",
				   parameter->by_reference ? ", not ref" : "");
		return false;
	}
	return check_scalar_type(parser, type_at, parameter->dtype, false, "a scalar");
}

static bool parse_scratch(struct sk_signature_parser *parser, struct sk_parameter *parameter, uint32_t index)
{
	parameter->kind = SK_PARAMETER_SCRATCH;
	sk_token_advance(parser);
	return sk_token_new_name(parser, "scratch", &parameter->name, &parser->source->parameter_at[index]) &&
	       sk_token_sign(parser, '[', "'[' with the number of bytes") &&
	       sk_token_number(parser, "a number of bytes", &parameter->scratch_bytes) &&
	       sk_token_sign(parser, ']', "']'");
}

static bool parse_parameter(struct sk_signature_parser *parser)
{
	struct sk_signature *signature = parser->signature;
	uint32_t index = signature->parameter_count;

	if (parser->token.kind != SK_TOKEN_WORD)
		return sk_token_expected(parser, "a parameter");
	if (index == SK_MAX_PARAMETERS) {
		sk_signature_error(parser->source, parser->token.start, "more than %u parameters", SK_MAX_PARAMETERS);
		return false;
	}

	struct sk_parameter *parameter = &signature->parameters[index];

	signature->parameter_count++;
	*parameter = (struct sk_parameter){.alias_of = SK_NONE, .stride = SK_NONE};
	parser->source->parameter_at[index] = parser->token.start;
	if (sk_signature_is_one_of(parser->token.word, directions, DIRECTIONS))
		return parse_tensor(parser, parameter, index);
	if (sk_token_is_word(parser, "scratch"))
		return parse_scratch(parser, parameter, index);
	if (sk_token_is_word(parser, "block")) {
		parameter->kind = SK_PARAMETER_BLOCK;
		sk_token_advance(parser);
		return true;
	}
	return parse_scalar(parser, parameter, index);
}

/* "-> status info": what the function leaves in a parameter. */
static bool parse_status_name(struct sk_signature_parser *parser)
{
	struct sk_signature *signature = parser->signature;
	const char *name = parser->token.word;

	signature->status = sk_signature_find_parameter(signature, name);

	const struct sk_parameter *parameter =
		signature->status == SK_NONE ? NULL : &signature->parameters[signature->status];

	if (!parameter || parameter->kind != SK_PARAMETER_SCALAR || !parameter->by_reference ||
	    sk_signature_find_extent(signature, name) != SK_NONE ||
	    (parameter->dtype != SK_I32 && parameter->dtype != SK_I64) || parameter->value) {
		sk_signature_error(parser->source, parser->token.start,
				   "a status is what the function leaves in a parameter 'ref %.80s i32' or i64 without "
				   "a value",
				   name);
		return false;
	}
	sk_token_advance(parser);
	return true;
}

static bool parse_result(struct sk_signature_parser *parser)
{
	struct sk_signature *signature = parser->signature;

	if (parser->token.kind != SK_TOKEN_ARROW)
		return true;
	sk_token_advance(parser);
	parser->source->result_at = parser->token.start;
	if (sk_token_is_word(parser, "status")) {
		sk_token_advance(parser);
		if (parser->token.kind == SK_TOKEN_WORD)
			return parse_status_name(parser);
		signature->returns_status = true;
		return true;
	}
	if (!sk_token_is_word(parser, "out"))
		return sk_token_expected(parser, "'status' or 'out NAME TYPE' behind '->'");
	sk_token_advance(parser);
	if (!sk_token_new_name(parser, "out", &signature->result, &parser->source->result_at))
		return false;

	const char *type_at = parser->token.start;

	return sk_token_type(parser, signature->result, &signature->result_dtype) &&
	       check_scalar_type(parser, type_at, signature->result_dtype, false, "a result");
}

/* "split=n, in x …": the ';' is missing. */
static bool check_forgotten_semicolon(struct sk_signature_parser *parser)
{
	struct sk_token next = sk_token_scan(parser, parser->cursor);

	if (sk_signature_attributes_end(parser->source) || parser->token.kind != SK_TOKEN_WORD ||
	    !sk_signature_is_one_of(parser->token.word, sk_attribute_names, SK_ATTRIBUTES) ||
	    (next.kind == SK_TOKEN_WORD &&
	     sk_token_find_type(sk_arena_copy(parser->source->arena, next.start, next.length))))
		return true;
	sk_signature_error(parser->source, parser->token.start,
			   "'%s' is an attribute; attributes stand in front of the parameters and end with ';'",
			   parser->token.word);
	return false;
}

static bool parse_text(struct sk_signature_parser *parser)
{
	parser->cursor = sk_signature_parse_attributes(parser->source, parser->signature);
	sk_token_read(parser);
	if (!check_forgotten_semicolon(parser) || !parse_parameter(parser))
		return false;
	while (sk_token_is_sign(parser, ',')) {
		sk_token_advance(parser);
		if (!parse_parameter(parser))
			return false;
	}
	if (!parse_result(parser))
		return false;
	if (parser->token.kind != SK_TOKEN_END)
		return sk_token_expected(parser,
					 parser->source->result_at ? "the end of the signature" : "',' or '->'");
	return true;
}

/* Moves what was parsed into the arena: there are many signatures, and most are short. */
static void keep(struct sk_arena *arena, struct sk_signature *signature)
{
	struct sk_parameter *parameters = SK_NEW_ARRAY(arena, struct sk_parameter, signature->parameter_count);
	const char **extents = SK_NEW_ARRAY(arena, const char *, signature->extent_count);

	const char **symbols = SK_NEW_ARRAY(arena, const char *, signature->symbol_count);

	memcpy(parameters, signature->parameters, signature->parameter_count * sizeof(*parameters));
	memcpy(symbols, signature->symbols, signature->symbol_count * sizeof(*symbols));
	memcpy(extents, signature->extents, signature->extent_count * sizeof(*extents));
	signature->parameters = parameters;
	signature->extents = extents;
	signature->symbols = symbols;
}

static const struct sk_signature *parse(struct sk_signature_source source)
{
	struct sk_signature_parser parser = {.source = &source};
	struct sk_parameter parameters[SK_MAX_PARAMETERS];
	const char *extents[SK_MAX_PARAMETERS], *symbols[SK_MAX_PARAMETERS];
	size_t length = strlen(source.text);

	if (length > MAX_LENGTH) {
		sk_signature_error(parser.source, source.text, "longer than %d characters", MAX_LENGTH);
		return NULL;
	}

	parser.signature = SK_NEW(source.arena, struct sk_signature);
	parser.signature->spread_extent = SK_NONE;
	parser.signature->parameters = parameters;
	parser.signature->extents = extents;
	parser.signature->symbols = symbols;
	parser.signature->status = SK_NONE;
	parser.source->normal = SK_NEW_ARRAY(source.arena, char, 3 * length + 4);
	if (!parse_text(&parser) || !sk_signature_check_rules(parser.source, parser.signature))
		return NULL;
	keep(source.arena, parser.signature);
	parser.signature->text = parser.source->normal;
	return parser.source->failed ? NULL : parser.signature;
}

const struct sk_signature *sk_signature_parse(struct sk_arena *arena, struct sk_diag *diag, struct sk_place place,
					      const char *text)
{
	return parse((struct sk_signature_source){.arena = arena, .diag = diag, .place = place, .text = text});
}

const struct sk_signature *sk_signature_parse_folded(struct sk_arena *arena, struct sk_diag *diag,
						     struct sk_place place, const char *text)
{
	return parse((struct sk_signature_source){
		.arena = arena, .diag = diag, .place = place, .text = text, .folded = true});
}
