/* The signature's grammar, by recursive descent over a few tokens. In: a line of text. Out: struct sk_signature.
 * Conditions on the whole signature (each extent can be bound, a split extent is an outer dimension) are checked in
 * signature-rules.c, after the text has been parsed. */
#include "format/signature/signature.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "format/convention.h"
#include "format/signature/signature-parts.h"
#include "format/skplan.h"

enum {
	MAX_LENGTH = 16384, /* bounds the number of errors */
	MAX_DEPTH = 8, /* of nested structs */
	ADDRESS_BYTES = 8,
};

static const char *const directions[] = {"in", "out", "inout"};
enum { DIRECTIONS = 3 };

/* ---- parameters ---- */

/* C has no single way to pass these types. A known value is passed according to its type, and a field is stored. */
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

/* ---- data that pointers refer to ---- */

static bool parse_parameter(struct sk_signature_parser *parser);

/* Return the bytes of a field, which are also its alignment. */
static uint64_t field_bytes(const struct sk_parameter *field)
{
	return field->kind == SK_PARAMETER_SCALAR ? sk_dtype_size(field->dtype) : ADDRESS_BYTES;
}

/* The layout of a struct so far, as in C: with natural alignment. */
struct layout {
	uint64_t bytes, alignment;
};

static uint64_t round_up(uint64_t bytes, uint64_t alignment)
{
	return (bytes + alignment - 1) / alignment * alignment;
}

/* Return the offset of the next field. */
static uint64_t lay_out(struct layout *layout, uint64_t bytes, uint64_t alignment)
{
	uint64_t offset = round_up(layout->bytes, alignment);

	layout->bytes = offset + bytes;
	layout->alignment = layout->alignment > alignment ? layout->alignment : alignment;
	return offset;
}

/* True for "name {…}" without a '*' after it: a struct inside another one. */
static bool is_part(const struct sk_signature_parser *parser)
{
	struct sk_token token = sk_token_scan(parser, parser->cursor);
	uint32_t open = 0;

	if (parser->token.kind != SK_TOKEN_WORD || sk_token_is_reserved(parser->token.word) ||
	    token.kind != SK_TOKEN_SIGN || *token.start != '{')
		return false;
	do {
		if (token.kind == SK_TOKEN_SIGN)
			open += *token.start == '{' ? 1u : *token.start == '}' ? -1u : 0;
		token = sk_token_scan(parser, token.start + token.length);
	} while (open && token.kind != SK_TOKEN_END);
	return token.kind != SK_TOKEN_SIGN || *token.start != '*';
}

static bool parse_fields(struct sk_signature_parser *parser, uint32_t owner, struct layout *layout);

/* Parse the fields of an inner struct as fields of the outer one. */
static bool parse_part(struct sk_signature_parser *parser, uint32_t owner, struct layout *layout)
{
	struct sk_signature *signature = parser->signature;
	struct layout inner = {.alignment = 1};
	uint32_t first = signature->parameter_count;

	sk_token_advance(parser); /* the name is for readers only */
	if (!parse_fields(parser, owner, &inner))
		return false;

	uint64_t offset = lay_out(layout, inner.bytes, inner.alignment);

	for (uint32_t i = first; i < signature->parameter_count; i++)
		if (signature->parameters[i].owner == owner)
			signature->parameters[i].offset += offset;
	return true;
}

/* Add the elements of "min f32[4] = 0" after the first one, each as a field. */
static bool add_elements(struct sk_signature_parser *parser, uint32_t index, struct layout *layout)
{
	struct sk_signature *signature = parser->signature;
	struct sk_parameter element = signature->parameters[index];
	uint64_t bytes = field_bytes(&element);

	if (element.elements > SK_MAX_PARAMETERS - index) {
		sk_signature_error(parser->source, parser->source->parameter_at[index], "more than %u parameters",
				   SK_MAX_PARAMETERS);
		return false;
	}
	element.repeated = true;
	for (uint64_t i = 1; i < element.elements; i++) {
		uint32_t next = signature->parameter_count++;

		element.offset = lay_out(layout, bytes, bytes);
		signature->parameters[next] = element;
		parser->source->parameter_at[next] = parser->source->parameter_at[index];
		parser->source->value_at[next] = parser->source->value_at[index];
	}
	return true;
}

/* Parse a parameter that is stored in the struct. */
static bool parse_field(struct sk_signature_parser *parser, uint32_t owner, struct layout *layout)
{
	struct sk_signature *signature = parser->signature;
	uint32_t index = signature->parameter_count;
	const char *at = parser->token.start;

	if (is_part(parser))
		return parse_part(parser, owner, layout);
	if (!parse_parameter(parser))
		return false;

	struct sk_parameter *field = &signature->parameters[index];
	uint64_t bytes = field_bytes(field);

	if (field->kind == SK_PARAMETER_BLOCK || field->by_reference) {
		sk_signature_error(parser->source, at,
				   "a field cannot be '%s'; it is a value, a tensor, a struct or a pointer to one",
				   field->by_reference ? "ref" : "block");
		return false;
	}
	field->owner = owner;
	field->offset = lay_out(layout, bytes, bytes);
	return add_elements(parser, index, layout);
}

/* Parse "{lo f32 = 0, in x f32[n]}". */
static bool parse_fields(struct sk_signature_parser *parser, uint32_t owner, struct layout *layout)
{
	if (parser->depth == MAX_DEPTH) {
		sk_signature_error(parser->source, parser->token.start, "more than %d structs, one in another",
				   MAX_DEPTH);
		return false;
	}
	parser->depth++;
	do {
		sk_token_advance(parser);
		if (!parse_field(parser, owner, layout))
			return false;
	} while (sk_token_is_sign(parser, ','));
	parser->depth--;
	layout->bytes = round_up(layout->bytes, layout->alignment);
	return sk_token_sign(parser, '}', "',' or '}'");
}

/* Return bits for the parts of 8 bytes of a struct by value that hold only floats. */
static uint64_t find_float_parts(const struct sk_signature *signature, uint32_t index)
{
	uint64_t floats = 0, others = 0;

	for (uint32_t i = index + 1; i < signature->parameter_count; i++) {
		const struct sk_parameter *field = &signature->parameters[i];
		bool is_float = field->kind == SK_PARAMETER_SCALAR && sk_dtype_is_float(field->dtype);
		uint64_t part = field->owner == index && field->offset < 512 ? (uint64_t)1 << field->offset / 8 : 0;

		floats |= is_float ? part : 0;
		others |= is_float ? 0 : part;
	}
	return floats & ~others;
}

/* Parse "{…}*", or "{…}" by value. */
static bool parse_struct(struct sk_signature_parser *parser, uint32_t index)
{
	struct sk_parameter *parameter = &parser->signature->parameters[index];
	struct layout layout = {.alignment = 1};

	parameter->kind = SK_PARAMETER_STRUCT;
	if (!parse_fields(parser, index, &layout))
		return false;
	parameter->scratch_bytes = layout.bytes;
	parameter->by_value = !sk_token_is_sign(parser, '*');
	if (parameter->by_value)
		parameter->float_parts = find_float_parts(parser->signature, index);
	else
		sk_token_advance(parser);
	return true;
}

/* Parse "ptr[m] of in x f32[m,k] by 4*k": the addresses of m rows. */
static bool parse_table(struct sk_signature_parser *parser, uint32_t index)
{
	struct sk_signature *signature = parser->signature;
	const char *name = signature->parameters[index].name;
	const struct sk_value_expression *count, *stride = NULL;
	uint32_t field = signature->parameter_count;

	signature->parameters[index].kind = SK_PARAMETER_STRUCT;
	signature->parameters[index].pointer = false;
	signature->parameters[index].dtype = SK_DTYPE_NONE;
	sk_token_advance(parser);
	if (!sk_signature_parse_count(parser, sk_arena_print(parser->source->arena, "the table '%s'", name), &count) ||
	    !sk_token_sign(parser, ']', "']'"))
		return false;
	if (!sk_token_is_word(parser, "of"))
		return sk_token_expected(parser, "'of' and the tensor that the addresses lead into");
	sk_token_advance(parser);
	if (parser->token.kind != SK_TOKEN_WORD || !sk_signature_is_one_of(parser->token.word, directions, DIRECTIONS))
		return sk_token_expected(parser, "'in', 'out' or 'inout', since a table leads into a tensor");
	if (!parse_parameter(parser))
		return false;
	if (signature->parameters[field].optional || signature->parameters[field].operands ||
	    parser->source->layout[field]) {
		sk_signature_error(parser->source, parser->source->parameter_from[field],
				   "the tensor that a table leads into is %s",
				   signature->parameters[field].optional   ? "never absent"
				   : signature->parameters[field].operands ? "one"
									   : "passed as addresses, without 'as'");
		return false;
	}
	if (sk_token_is_word(parser, "by")) {
		sk_token_advance(parser);
		if (!sk_signature_parse_count(parser, "the distance of two addresses", &stride))
			return false;
	}
	signature->parameters[field].owner = index;
	signature->parameters[field].table_count = count;
	signature->parameters[field].table_stride = stride;
	return true;
}

/* Structs and tables are passed by a pointer without "ref", since that pointer has no address. */
static bool check_pointed_once(struct sk_signature_parser *parser, const struct sk_parameter *parameter, const char *at)
{
	if (parameter->by_reference)
		sk_signature_error(parser->source, at, "'ref' is for scalars; '%s' is passed by a pointer without it",
				   parameter->name);
	return !parameter->by_reference;
}

/* The address of a symbol has no address either, except in a struct. */
static bool check_symbol_once(struct sk_signature_parser *parser, const struct sk_parameter *parameter, const char *at)
{
	bool bad = parameter->by_reference && parameter->value->kind == SK_VALUE_SYMBOL;

	if (bad)
		sk_signature_error(parser->source, at,
				   "'&%s' is passed without 'ref'; a pointer to it is a struct: {%s ptr = &%s}*",
				   parameter->value->name, parameter->name, parameter->value->name);
	return !bad;
}

/* Return the equivalent of a word of other languages, or the nearest word. */
static const char *word_meant(struct sk_arena *arena, const char *word)
{
	static const char *const words[][2] = {{"input", "in"}, {"output", "out"}, {"const", "in"}};
	const char *near;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(word, words[i][0]))
			return sk_arena_print(arena, "; did you mean '%s'?", words[i][1]);
	near = sk_did_you_mean(arena, word, sk_parameter_words, SK_PARAMETER_WORDS);
	return *near ? near : " (there are in, out, inout, ref, block and scratch)";
}

/* Parse "ref n", "n". */
static bool parse_scalar_name(struct sk_signature_parser *parser, struct sk_parameter *parameter, uint32_t index)
{
	const char *first = parser->token.word, *at = parser->token.start;

	parameter->by_reference = sk_token_is_word(parser, "ref");
	if (parameter->by_reference) {
		sk_token_advance(parser);
		return sk_token_new_name(parser, "ref", &parameter->name, &parser->source->parameter_at[index]);
	}

	struct sk_token second = sk_token_scan(parser, parser->cursor),
			third = sk_token_scan(parser, second.start + second.length);

	/* "inn x f32": three words in a row are not a scalar. */
	if (second.kind == SK_TOKEN_WORD && third.kind == SK_TOKEN_WORD && !sk_token_find_type(first) &&
	    !sk_token_find_type(sk_arena_copy(parser->source->arena, second.start, second.length))) {
		sk_signature_error(parser->source, at, "unknown word '%.80s'%s", first,
				   word_meant(parser->source->arena, first));
		return false;
	}
	if (sk_token_find_type(first))
		return sk_token_expected(parser, "a parameter, which is in, out, inout, ref, block, scratch or a name");
	parameter->name = first;
	parser->source->parameter_at[index] = at;
	sk_token_advance(parser);
	return true;
}

/* Parse "[4]": a field that is several scalars of one value. */
static bool parse_element_count(struct sk_signature_parser *parser, struct sk_parameter *parameter)
{
	struct sk_token next = sk_token_scan(parser, parser->cursor);

	if (!sk_token_is_sign(parser, '[') || next.kind != SK_TOKEN_NUMBER || parser->depth == 0 ||
	    parameter->by_reference)
		return true;
	sk_token_advance(parser);
	return sk_token_number(parser, "a number of elements", &parameter->elements) &&
	       sk_token_sign(parser, ']', "']'");
}

static bool parse_scalar(struct sk_signature_parser *parser, struct sk_parameter *parameter, uint32_t index)
{
	const char *at = parser->token.start;

	parameter->kind = SK_PARAMETER_SCALAR;
	if (!parse_scalar_name(parser, parameter, index))
		return false;
	if (sk_token_is_sign(parser, '{'))
		return check_pointed_once(parser, parameter, at) && parse_struct(parser, index);

	const char *type_at = parser->token.start;

	parameter->pointer = sk_token_is_word(parser, "ptr");
	if (parameter->pointer) {
		parameter->dtype = SK_U64;
		sk_token_advance(parser);
		if (sk_token_is_sign(parser, '['))
			return check_pointed_once(parser, parameter, at) && parse_table(parser, index);
	} else if (!sk_token_type(parser, parameter->name, &parameter->dtype) ||
		   !parse_element_count(parser, parameter)) {
		return false;
	}
	if (sk_token_is_sign(parser, '=')) {
		sk_token_advance(parser);
		parser->source->value_at[index] = parser->token.start;
		return check_scalar_type(parser, type_at, parameter->dtype, true, "a scalar") &&
		       sk_signature_parse_value(parser, parameter->dtype, parameter->pointer, index,
						&parameter->value) &&
		       check_symbol_once(parser, parameter, at);
	}
	if (parameter->pointer) {
		sk_token_expected(parser,
				  "'=' after 'ptr' ('= null', '= &SYMBOL' or '= attr(NAME)'), or '[' for a table");
		return false;
	}
	if (sk_token_is_sign(parser, '[')) {
		sk_signature_error(parser->source, at, "a parameter with extents needs in, out or inout in front%s",
				   parameter->by_reference ? ", not ref" : "");
		return false;
	}
	if (sk_token_is_sign(parser, '*')) {
		sk_signature_error(parser->source, parser->token.start,
				   "a pointer to one value is 'ref %s %s', and one to a tensor says in, out or inout",
				   parameter->name, sk_dtype_name(parameter->dtype));
		return false;
	}
	return check_scalar_type(parser, type_at, parameter->dtype, parser->depth > 0, "a scalar");
}

static bool parse_scratch(struct sk_signature_parser *parser, struct sk_parameter *parameter, uint32_t index)
{
	parameter->kind = SK_PARAMETER_SCRATCH;
	sk_token_advance(parser);
	if (!sk_token_new_name(parser, "scratch", &parameter->name, &parser->source->parameter_at[index]))
		return false;
	if (parser->token.kind == SK_TOKEN_WORD && !sk_token_type(parser, parameter->name, &parameter->dtype))
		return false;
	if (!sk_token_sign(parser, '[',
			   parameter->dtype ? "'[' with the number of elements" : "'[' with the number of bytes"))
		return false;

	struct sk_token next = sk_token_scan(parser, parser->cursor);
	bool number = parser->token.kind == SK_TOKEN_NUMBER && next.kind == SK_TOKEN_SIGN && *next.start == ']';

	if (number && !parameter->dtype ? !sk_token_number(parser, "a number of bytes", &parameter->scratch_bytes)
					: !sk_signature_parse_count(parser, parameter->name, &parameter->scratch_count))
		return false;
	return sk_token_sign(parser, ']', "']'");
}

static bool parse_kind(struct sk_signature_parser *parser)
{
	struct sk_signature *signature = parser->signature;
	uint32_t index = signature->parameter_count;

	if (parser->token.kind != SK_TOKEN_WORD)
		return sk_token_expected(parser,
					 sk_token_is_sign(parser, '{') ? "a name before the struct" : "a parameter");
	if (index == SK_MAX_PARAMETERS) {
		sk_signature_error(parser->source, parser->token.start, "more than %u parameters", SK_MAX_PARAMETERS);
		return false;
	}

	struct sk_parameter *parameter = &signature->parameters[index];

	signature->parameter_count++;
	*parameter = (struct sk_parameter){
		.alias_of = SK_NONE, .stride = SK_NONE, .owner = SK_NONE, .first_operand = SK_NONE};
	parser->source->parameter_at[index] = parser->token.start;
	if (sk_signature_is_one_of(parser->token.word, directions, DIRECTIONS))
		return sk_signature_parse_tensor(parser, parameter, index);
	if (sk_token_is_word(parser, "scratch"))
		return parse_scratch(parser, parameter, index);
	if (sk_token_is_word(parser, "block")) {
		parameter->kind = SK_PARAMETER_BLOCK;
		sk_token_advance(parser);
		return true;
	}
	return parse_scalar(parser, parameter, index);
}

static bool parse_parameter(struct sk_signature_parser *parser)
{
	uint32_t index = parser->signature->parameter_count;
	const char *from = parser->token.start;

	if (!parse_kind(parser))
		return false;
	parser->source->parameter_from[index] = from;
	parser->source->parameter_to[index] = parser->taken;
	return true;
}

/* Parse "-> status info": a status that the function leaves in a parameter. */
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
				   "the function leaves a status in a parameter 'ref %.80s i32' or i64 without "
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
	parser->source->result_from = parser->token.start;
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
		return sk_token_expected(parser, "'status' or 'out NAME TYPE' after '->'");
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
			   "'%s' is an attribute; attributes come before the parameters and end with ';'",
			   parser->token.word);
	return false;
}

static bool parse_text(struct sk_signature_parser *parser)
{
	parser->cursor = sk_signature_parse_attributes(parser->source, parser->signature);
	if (!parser->cursor)
		return false;
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

/* Copy the parsed parts to the arena: there are many signatures, most of them short. */
static void keep_signature(struct sk_arena *arena, struct sk_signature *signature)
{
	struct sk_parameter *parameters = SK_NEW_ARRAY(arena, struct sk_parameter, signature->parameter_count);
	const char **extents = SK_NEW_ARRAY(arena, const char *, signature->extent_count);

	const char **symbols = SK_NEW_ARRAY(arena, const char *, signature->symbol_count);
	const char **attributes = SK_NEW_ARRAY(arena, const char *, signature->attribute_count);

	memcpy(parameters, signature->parameters, signature->parameter_count * sizeof(*parameters));
	memcpy(symbols, signature->symbols, signature->symbol_count * sizeof(*symbols));
	memcpy(extents, signature->extents, signature->extent_count * sizeof(*extents));
	memcpy(attributes, signature->attributes, signature->attribute_count * sizeof(*attributes));
	signature->parameters = parameters;
	signature->extents = extents;
	signature->symbols = symbols;
	signature->attributes = attributes;
	if (signature->open_table != SK_NONE)
		signature->of_operands = SK_NEW_ARRAY(arena, const struct sk_signature *, SK_MAX_PARAMETERS + 1);
}

static const struct sk_signature *parse(struct sk_signature_source source);

/* Parse the text of the frame or of layouts, but keep the signature's text as written. */
static const struct sk_signature *parse_frame(struct sk_signature_source *source, const struct sk_signature *written)
{
	struct sk_signature_source *expanded = sk_signature_expand(source, written);
	const struct sk_signature *parsed = expanded ? parse(*expanded) : NULL;
	struct sk_signature *signature;

	if (!parsed)
		return NULL;
	signature = SK_NEW(source->arena, struct sk_signature);
	*signature = *parsed;
	signature->text = source->normal;
	signature->operands_at = written->operands_at;
	signature->frame = source->frame ? sk_frame_names[source->frame - 1] : NULL;
	return signature;
}

static const struct sk_signature *parse(struct sk_signature_source source)
{
	struct sk_signature_parser parser = {.source = &source};
	struct sk_parameter parameters[SK_MAX_PARAMETERS];
	const char *extents[SK_MAX_PARAMETERS], *symbols[SK_MAX_PARAMETERS], *attributes[SK_MAX_ATTRIBUTES];
	size_t length = strlen(source.text);

	if (length > MAX_LENGTH && !source.outer) {
		sk_signature_error(parser.source, source.text, "longer than %d characters", MAX_LENGTH);
		return NULL;
	}

	parser.signature = SK_NEW(source.arena, struct sk_signature);
	parser.signature->spread_extent = SK_NONE;
	parser.signature->parameters = parameters;
	parser.signature->extents = extents;
	parser.signature->symbols = symbols;
	parser.signature->attributes = attributes;
	parser.signature->status = SK_NONE;
	parser.signature->open_table = SK_NONE;
	parser.source->normal = SK_NEW_ARRAY(source.arena, char, 3 * length + 4);
	if (!parse_text(&parser))
		return NULL;
	if ((source.frame || source.has_layouts) && !source.outer)
		return source.failed ? NULL : parse_frame(&source, parser.signature);
	if (!sk_signature_check_rules(parser.source, parser.signature))
		return NULL;
	parser.signature->conditions = source.conditions.items;
	parser.signature->condition_count = (uint32_t)source.conditions.count;
	keep_signature(source.arena, parser.signature);
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

uint32_t sk_signature_most_operands(const struct sk_signature *signature)
{
	return SK_MAX_PARAMETERS - (signature->parameter_count - 1);
}

const struct sk_signature *sk_signature_of_operands(struct sk_arena *arena, struct sk_diag *diag, struct sk_place place,
						    const struct sk_signature *open, uint32_t operands)
{
	const struct sk_signature **known = &open->of_operands[operands];
	const struct sk_signature *parsed;
	struct sk_signature *signature;

	if (*known)
		return *known;
	parsed = sk_signature_parse_folded(arena, diag, place,
					   sk_arena_print(arena, "%.*s%u%s", (int)open->operands_at, open->text,
							  operands, open->text + open->operands_at));
	if (!parsed)
		return NULL;
	signature = SK_NEW(arena, struct sk_signature);
	*signature = *parsed;
	signature->open = open;
	return *known = signature;
}
