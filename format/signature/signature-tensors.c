/* A tensor among the parameters: its direction, name, type, extents and suffixes. */
#include "format/signature/signature-parts.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/ranges.h"
#include "format/signature/signature.h"
#include "format/skplan.h"

/* Parse the name of an extent, or of a distance between rows. */
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

static bool parse_factor(struct sk_signature_parser *parser, struct sk_extent *extent)
{
	const char *at = parser->token.start;
	uint64_t number;

	if (parser->token.kind == SK_TOKEN_WORD)
		return add_factor(parser, extent);
	if (parser->token.kind != SK_TOKEN_NUMBER)
		return sk_token_expected(parser, "an extent (a name, a number, or a product such as n*4)");
	if (!sk_token_number(parser, "an extent", &number))
		return false;
	if (sk_mul(extent->constant, number, &extent->constant))
		return true;
	sk_signature_error(parser->source, at, "the number is too large");
	return false;
}

/* Parse a name, an integer, or a product that starts with a name: after a leading integer, ranges of the name would not
 * be contiguous. */
static bool parse_product(struct sk_signature_parser *parser, struct sk_extent *extent)
{
	bool number = parser->token.kind == SK_TOKEN_NUMBER;

	extent->constant = 1;
	if (!parse_factor(parser, extent))
		return false;
	if (number && sk_token_is_sign(parser, '*'))
		return sk_token_expected(parser, "',' or ']' (a product starts with a name: n*4)");
	while (sk_token_is_sign(parser, '*')) {
		sk_token_advance(parser);
		if (!parse_factor(parser, extent))
			return false;
	}
	return true;
}

/* Parse products that are added or subtracted. */
static bool parse_extent(struct sk_signature_parser *parser, struct sk_extent *extent)
{
	bool number = parser->token.kind == SK_TOKEN_NUMBER;

	if (!parse_product(parser, extent))
		return false;
	while (sk_token_is_sign(parser, '+') || sk_token_is_sign(parser, '-')) {
		struct sk_extent *more = SK_NEW(parser->source->arena, struct sk_extent);

		if (number)
			return sk_token_expected(parser, "',' or ']' (a sum starts with a name: n+2)");
		more->subtracted = sk_token_is_sign(parser, '-');
		extent->more = more;
		extent = more;
		sk_token_advance(parser);
		if (!parse_product(parser, extent))
			return false;
	}
	return true;
}

/* Parse ":lda" after a dimension: the dimensions before it count rows that are this many elements apart. */
static bool parse_stride(struct sk_signature_parser *parser, struct sk_parameter *parameter)
{
	uint32_t dimension = parameter->rank - 1;

	if (!sk_token_is_sign(parser, ':'))
		return true;
	if (dimension == 0 || parameter->stride != SK_NONE) {
		sk_signature_error(parser->source, parser->token.start,
				   dimension == 0 ? "':' is the distance between the rows of '%s', so it comes after "
						    "the dimension that rows begin with, and not after the first one"
						  : "the rows of '%s' lie in one kind of distance: one ':' is enough",
				   parameter->name);
		return false;
	}
	sk_token_advance(parser);
	if (parser->token.kind != SK_TOKEN_WORD)
		return sk_token_expected(parser, "a name after ':', for the distance between rows in elements");
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

/* Parse "at -64" after the extents: the function adds 64 bytes to the address that it gets. */
static bool parse_displacement(struct sk_signature_parser *parser, struct sk_parameter *parameter)
{
	const char *at;
	uint64_t bytes;
	bool negative;

	if (!sk_token_is_word(parser, "at"))
		return true;
	sk_token_advance(parser);
	negative = sk_token_is_sign(parser, '-');
	if (negative) {
		sk_signature_append(parser->source, " ", 1);
		sk_token_advance(parser);
	}
	at = parser->token.start;
	if (!sk_token_number(parser, "the bytes from the tensor's address to the one that is passed", &bytes))
		return false;
	if (bytes > INT32_MAX) {
		sk_signature_error(parser->source, at, "the address of '%s' is displaced by at most %d bytes",
				   parameter->name, INT32_MAX);
		return false;
	}
	parameter->displacement = negative ? -(int32_t)bytes : (int32_t)bytes;
	return true;
}

/* Parse "f32[n]+128 at -64 whole": the part after the name. */
static bool parse_description(struct sk_signature_parser *parser, struct sk_parameter *parameter)
{
	if (!sk_token_type(parser, parameter->name, &parameter->dtype) || !parse_extents(parser, parameter))
		return false;
	if (sk_token_is_sign(parser, '+')) {
		sk_token_advance(parser);
		if (!sk_token_number(parser, "the number of bytes after it that may be read", &parameter->over_read))
			return false;
	}
	if (!parse_displacement(parser, parameter))
		return false;
	parameter->whole = sk_token_is_word(parser, "whole");
	if (parameter->whole)
		sk_token_advance(parser);
	return true;
}

/* ---- tables of operands ---- */

/* True for "in x[]", "in x[3]"; in "in x[n]" the type is missing. */
static bool opens_table(const struct sk_signature_parser *parser)
{
	struct sk_token next = sk_token_scan(parser, parser->cursor);

	return sk_token_is_sign(parser, '[') &&
	       (next.kind == SK_TOKEN_NUMBER || (next.kind == SK_TOKEN_SIGN && *next.start == ']'));
}

static bool open_table(struct sk_signature_parser *parser, uint32_t index)
{
	struct sk_signature *signature = parser->signature;

	if (signature->open_table != SK_NONE) {
		sk_signature_error(parser->source, parser->source->parameter_at[index],
				   "'%s' takes any number of tensors already, and one parameter can",
				   signature->parameters[signature->open_table].name);
		return false;
	}
	signature->open_table = index;
	signature->operands_at = parser->source->normal_length;
	return true;
}

/* Without a number, one operand represents all. */
static bool parse_operand_count(struct sk_signature_parser *parser, uint32_t index, uint64_t *count)
{
	const char *at = parser->token.start;

	*count = 1;
	sk_token_advance(parser);
	if (sk_token_is_sign(parser, ']') ? !open_table(parser, index)
					  : !sk_token_number(parser, "how many tensors the table has", count))
		return false;
	if (*count >= SK_MAX_PARAMETERS - index) {
		sk_signature_error(parser->source, at, "more than %u parameters", SK_MAX_PARAMETERS);
		return false;
	}
	return sk_token_sign(parser, ']', "']'");
}

/* Parse "in x[] f32[n]": a struct of tensors that differ only in name. */
static bool parse_operands(struct sk_signature_parser *parser, uint32_t index)
{
	struct sk_signature *signature = parser->signature;
	struct sk_parameter *table = &signature->parameters[index];
	struct sk_parameter operand = *table;
	uint64_t count;

	if (operand.access != SK_ACCESS_READ || operand.optional || parser->depth) {
		sk_signature_error(parser->source, parser->source->parameter_at[index],
				   "a table of tensors is 'in %s[]', and is not a field", operand.name);
		return false;
	}
	if (!parse_operand_count(parser, index, &count) || !parse_description(parser, &operand))
		return false;
	table->kind = SK_PARAMETER_STRUCT;
	table->access = SK_ACCESS_NONE;
	table->operands = (uint32_t)count;
	table->scratch_bytes = count * sizeof(uint64_t);
	operand.owner = index;
	operand.first_operand = index + 1;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t next = signature->parameter_count++;

		operand.name = sk_arena_print(parser->source->arena, "%s[%u]", table->name, i);
		operand.offset = i * sizeof(uint64_t);
		signature->parameters[next] = operand;
		parser->source->parameter_at[next] = parser->source->parameter_at[index];
	}
	return true;
}

/* ---- layouts ---- */

static bool report_unknown_layout(struct sk_signature_parser *parser)
{
	const char *word = parser->token.word;

	if (parser->token.kind != SK_TOKEN_WORD)
		return sk_token_expected(parser, "a layout after 'as' (memref, gfortran, gsl, halide, dltensor, cfi or "
						 "flang)");
	sk_signature_error(parser->source, parser->token.start, "'%.80s' is not a layout%s", word,
			   sk_did_you_mean(parser->source->arena, word, sk_layout_names, SK_LAYOUTS));
	return false;
}

/* Parse "as memref". */
static bool parse_layout(struct sk_signature_parser *parser, uint32_t index)
{
	struct sk_signature_source *source = parser->source;
	const char *at = parser->token.start;

	if (!sk_token_is_word(parser, "as"))
		return true;
	sk_token_advance(parser);
	for (uint32_t i = 0; parser->token.kind == SK_TOKEN_WORD && i < SK_LAYOUTS; i++)
		if (!strcmp(parser->token.word, sk_layout_names[i]))
			source->layout[index] = i + 1;
	if (!source->layout[index])
		return report_unknown_layout(parser);
	if (parser->depth) {
		sk_signature_error(source, at, "'as' is for parameters, and not for fields of a struct");
		return false;
	}
	source->layout_at[index] = at;
	source->has_layouts = true;
	sk_token_advance(parser);
	return true;
}

bool sk_signature_parse_tensor(struct sk_signature_parser *parser, struct sk_parameter *parameter, uint32_t index)
{
	const char *direction = parser->token.word;

	parameter->kind = SK_PARAMETER_TENSOR;
	parameter->access = !strcmp(direction, "in")	? SK_ACCESS_READ
			    : !strcmp(direction, "out") ? SK_ACCESS_WRITE
							: SK_ACCESS_READ | SK_ACCESS_WRITE;
	sk_token_advance(parser);
	parameter->optional = sk_token_is_sign(parser, '?');
	if (parameter->optional)
		sk_token_advance(parser);
	if (!sk_token_new_name(parser, direction, &parameter->name, &parser->source->parameter_at[index]))
		return false;
	if (opens_table(parser))
		return parse_operands(parser, index);
	if (sk_token_is_sign(parser, '@')) {
		sk_token_advance(parser);
		if (parser->token.kind != SK_TOKEN_WORD || sk_token_is_reserved(parser->token.word))
			return sk_token_expected(parser, "the name of a parameter after '@'");
		parser->source->alias_name[index] = parser->token.word;
		parser->source->alias_at[index] = parser->token.start;
		sk_token_advance(parser);
	}
	return parse_description(parser, parameter) && parse_layout(parser, index);
}
