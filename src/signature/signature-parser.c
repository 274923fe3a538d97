/* The signature's grammar, by recursive descent over a handful of tokens. Comes in: a line of text. Goes out: struct
 * sk_signature. What follows from the signature as a whole (nothing can bind an extent, a split extent stands inside)
 * is checked in signature-rules.c, when the text has been understood. */
#include "src/signature/signature-parser.h"

#include <ctype.h>
#include <string.h>

#include "src/base/checked.h"
#include "src/signature/signature-parts.h"

enum { MAX_LENGTH = 16384 }; /* so that there are never very many errors */

enum token_kind { TOKEN_END, TOKEN_WORD, TOKEN_NUMBER, TOKEN_ARROW, TOKEN_SIGN };

struct token {
	enum token_kind kind;
	const char *start;
	size_t length;
	const char *word; /* WORD: a copy */
};

struct parser {
	struct sk_signature_source source;
	const char *cursor; /* behind the current token */
	struct token token;
	bool in_brackets;
	struct sk_signature *signature;
};

static const char *const directions[] = {"in", "out", "inout"};
static const char *const parameter_words[] = {"in", "out", "inout", "ref", "block", "scratch"};
enum { DIRECTIONS = 3, PARAMETER_WORDS = 6 };

/* ---- errors ---- */

static const char *found(struct parser *parser)
{
	const struct token *token = &parser->token;

	if (token->kind == TOKEN_END)
		return "the signature ends";
	return sk_arena_print(parser->source.arena, "found '%.*s'", (int)(token->length < 40 ? token->length : 40),
			      token->start);
}

/* Reports "expected <what>, but found …" at the current token. */
static bool expected(struct parser *parser, const char *what)
{
	sk_signature_error(&parser->source, parser->token.start, "expected %s, but %s", what, found(parser));
	return false;
}

/* ---- tokens ---- */

/* Normalised text has a space between words, behind ',' and ';' outside brackets, and around '->'. */
static void append_token(struct parser *parser, const struct token *token)
{
	const struct sk_signature_source *source = &parser->source;
	char last = source->normal_length ? source->normal[source->normal_length - 1] : ' ';
	bool word = token->kind == TOKEN_WORD || token->kind == TOKEN_NUMBER;
	bool after_word = isalnum((unsigned char)last) || last == '_' || last == ']';

	if (token->kind == TOKEN_SIGN)
		parser->in_brackets = *token->start == '[' || (parser->in_brackets && *token->start != ']');
	if ((word && after_word) || (word && last == ',' && !parser->in_brackets) || last == ';' || last == '>' ||
	    token->kind == TOKEN_ARROW)
		sk_signature_append(&parser->source, " ", 1);
	sk_signature_append(&parser->source, token->start, token->length);
}

/* The token at `from`. */
static struct token scan(const char *from)
{
	while (sk_signature_is_blank(*from))
		from++;

	struct token token = {.kind = TOKEN_SIGN, .start = from, .length = 1};

	if (!*from) {
		token.kind = TOKEN_END;
		token.length = 0;
	} else if (from[0] == '-' && from[1] == '>') {
		token.kind = TOKEN_ARROW;
		token.length = 2;
	} else if (sk_signature_is_word_character(*from)) {
		token.kind = isdigit((unsigned char)*from) ? TOKEN_NUMBER : TOKEN_WORD;
		while (sk_signature_is_word_character(from[token.length]))
			token.length++;
	}
	return token;
}

static void read_token(struct parser *parser)
{
	parser->token = scan(parser->cursor);
	parser->cursor = parser->token.start + parser->token.length;
	if (parser->token.kind == TOKEN_WORD)
		parser->token.word = sk_arena_copy(parser->source.arena, parser->token.start, parser->token.length);
}

/* Takes the current token and goes to the next one. */
static void advance(struct parser *parser)
{
	append_token(parser, &parser->token);
	read_token(parser);
}

static bool is_sign(const struct parser *parser, char sign)
{
	return parser->token.kind == TOKEN_SIGN && *parser->token.start == sign;
}

static bool is_word(const struct parser *parser, const char *word)
{
	return parser->token.kind == TOKEN_WORD && !strcmp(parser->token.word, word);
}

/* ---- names, types, numbers ---- */

void sk_dtype_names(const char *names[SK_DTYPE_COUNT - 1])
{
	for (enum sk_dtype type = SK_DTYPE_NONE + 1; type < SK_DTYPE_COUNT; type++)
		names[type - 1] = sk_dtype_name(type);
}

static enum sk_dtype find_type(const char *name)
{
	for (enum sk_dtype type = SK_DTYPE_NONE + 1; type < SK_DTYPE_COUNT; type++)
		if (!strcmp(name, sk_dtype_name(type)))
			return type;
	return SK_DTYPE_NONE;
}

/* Words of the grammar cannot be names, so that a forgotten name is found where it is missing. */
static bool is_reserved(const char *word)
{
	return find_type(word) || sk_signature_is_one_of(word, parameter_words, PARAMETER_WORDS);
}

/* A name that this signature gives to something. */
static bool parse_new_name(struct parser *parser, const char *behind, const char **name, const char **at)
{
	if (parser->token.kind != TOKEN_WORD)
		return expected(parser, sk_arena_print(parser->source.arena, "a name behind '%s'", behind));
	if (is_reserved(parser->token.word))
		return expected(parser,
				sk_arena_print(parser->source.arena,
					       "a name behind '%s' (words of the grammar cannot be names)", behind));
	*name = parser->token.word;
	*at = parser->token.start;
	advance(parser);
	return true;
}

static bool parse_type(struct parser *parser, const char *behind, enum sk_dtype *type)
{
	const char *names[SK_DTYPE_COUNT - 1];

	sk_dtype_names(names);
	if (parser->token.kind != TOKEN_WORD)
		return expected(parser, sk_arena_print(parser->source.arena, "a type behind '%s'", behind));
	*type = find_type(parser->token.word);
	if (!*type) {
		const char *near = sk_did_you_mean(parser->source.arena, parser->token.word, names, SK_DTYPE_COUNT - 1);

		sk_signature_error(&parser->source, parser->token.start, "unknown type '%s'%s", parser->token.word,
				   *near ? near : " (there are i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64 bool)");
		return false;
	}
	advance(parser);
	return true;
}

/* C has no single way to pass these. */
static bool check_scalar_type(struct parser *parser, const char *at, enum sk_dtype type, const char *what)
{
	if (type == SK_BOOL)
		sk_signature_error(&parser->source, at,
				   "%s cannot be bool: say u8 for a C _Bool or char, i32 for an int", what);
	else if (type == SK_F16 || type == SK_BF16)
		sk_signature_error(&parser->source, at,
				   "%s cannot be %s: compilers differ in how they pass it; use a tensor of one element",
				   what, sk_dtype_name(type));
	else
		return true;
	return false;
}

static bool parse_number(struct parser *parser, const char *what, uint64_t *value)
{
	const struct token *token = &parser->token;

	if (token->kind != TOKEN_NUMBER)
		return expected(parser, what);
	*value = 0;
	for (size_t i = 0; i < token->length; i++) {
		char c = token->start[i];

		if (!isdigit((unsigned char)c))
			return expected(parser, what);
		if (!sk_mul(*value, 10, value) || !sk_add(*value, (uint64_t)(c - '0'), value) || *value > INT64_MAX) {
			sk_signature_error(&parser->source, token->start, "the number is too large");
			return false;
		}
	}
	if (!*value) {
		sk_signature_error(&parser->source, token->start, "the number must be greater than 0");
		return false;
	}
	advance(parser);
	return true;
}

static bool parse_sign(struct parser *parser, char sign, const char *what)
{
	if (!is_sign(parser, sign))
		return expected(parser, what);
	advance(parser);
	return true;
}

/* ---- parameters ---- */

static bool add_factor(struct parser *parser, struct sk_extent *extent)
{
	struct sk_signature *signature = parser->signature;
	const char *name = parser->token.word;
	uint32_t index = sk_signature_find_extent(signature, name);

	if (is_reserved(name))
		return expected(parser, "the name of an extent (words of the grammar cannot be names)");
	if (extent->name_count == SK_MAX_FACTORS) {
		sk_signature_error(&parser->source, parser->token.start, "a product has at most %u names",
				   SK_MAX_FACTORS);
		return false;
	}
	if (index == SK_NONE) {
		if (signature->extent_count == SK_MAX_PARAMETERS) {
			sk_signature_error(&parser->source, parser->token.start, "more than %u extents",
					   SK_MAX_PARAMETERS);
			return false;
		}
		index = signature->extent_count++;
		signature->extents[index] = name;
		parser->source.extent_at[index] = parser->token.start;
	}
	extent->names[extent->name_count++] = index;
	advance(parser);
	return true;
}

/* A name, an integer, or a product that starts with a name: with an integer in front, ranges of the name would not be
 * contiguous. */
static bool parse_extent(struct parser *parser, struct sk_extent *extent)
{
	extent->constant = 1;
	if (parser->token.kind == TOKEN_NUMBER) {
		if (!parse_number(parser, "an extent", &extent->constant))
			return false;
		if (is_sign(parser, '*'))
			return expected(parser, "',' or ']' (a product starts with a name: n*4)");
		return true;
	}
	for (;;) {
		uint64_t number;

		if (parser->token.kind == TOKEN_WORD) {
			if (!add_factor(parser, extent))
				return false;
		} else if (parser->token.kind == TOKEN_NUMBER) {
			const char *at = parser->token.start;

			if (!parse_number(parser, "an extent", &number))
				return false;
			if (!sk_mul(extent->constant, number, &extent->constant)) {
				sk_signature_error(&parser->source, at, "the number is too large");
				return false;
			}
		} else {
			return expected(parser, "an extent (a name, a number, or a product such as n*4)");
		}
		if (!is_sign(parser, '*'))
			return true;
		advance(parser);
	}
}

static bool parse_extents(struct parser *parser, struct sk_parameter *parameter)
{
	if (!parse_sign(parser, '[',
			sk_arena_print(parser->source.arena, "'[' with the extents of '%s'", parameter->name)))
		return false;
	for (;;) {
		if (parameter->rank == SK_MAX_RANK) {
			sk_signature_error(&parser->source, parser->token.start, "more than %u dimensions",
					   SK_MAX_RANK);
			return false;
		}
		if (!parse_extent(parser, &parameter->extents[parameter->rank++]))
			return false;
		if (!is_sign(parser, ','))
			return parse_sign(parser, ']', "',', '*' or ']'");
		advance(parser);
	}
}

static bool parse_tensor(struct parser *parser, struct sk_parameter *parameter, uint32_t index)
{
	const char *direction = parser->token.word;

	parameter->kind = SK_PARAMETER_TENSOR;
	parameter->access = !strcmp(direction, "in")	? SK_ACCESS_READ
			    : !strcmp(direction, "out") ? SK_ACCESS_WRITE
							: SK_ACCESS_READ | SK_ACCESS_WRITE;
	advance(parser);
	if (!parse_new_name(parser, direction, &parameter->name, &parser->source.parameter_at[index]))
		return false;
	if (is_sign(parser, '@')) {
		advance(parser);
		if (parser->token.kind != TOKEN_WORD || is_reserved(parser->token.word))
			return expected(parser, "the name of a parameter behind '@'");
		parser->source.alias_name[index] = parser->token.word;
		parser->source.alias_at[index] = parser->token.start;
		advance(parser);
	}
	return parse_type(parser, parameter->name, &parameter->dtype) && parse_extents(parser, parameter);
}

static bool parse_scalar(struct parser *parser, struct sk_parameter *parameter, uint32_t index)
{
	const char *first = parser->token.word, *at = parser->token.start;

	parameter->kind = SK_PARAMETER_SCALAR;
	parameter->by_reference = is_word(parser, "ref");
	if (parameter->by_reference) {
		advance(parser);
		if (!parse_new_name(parser, "ref", &parameter->name, &parser->source.parameter_at[index]))
			return false;
	} else {
		struct token second = scan(parser->cursor), third = scan(second.start + second.length);

		/* "inn x f32": three words are none of the scalars. */
		if (second.kind == TOKEN_WORD && third.kind == TOKEN_WORD && !find_type(first)) {
			sk_signature_error(
				&parser->source, at, "unknown word '%.80s'%s", first,
				sk_did_you_mean(parser->source.arena, first, parameter_words, PARAMETER_WORDS));
			return false;
		}
		if (find_type(first))
			return expected(parser, "a parameter, which is in, out, inout, ref, block, scratch or a name");
		parameter->name = first;
		parser->source.parameter_at[index] = at;
		advance(parser);
	}

	const char *type_at = parser->token.start;

	if (!parse_type(parser, parameter->name, &parameter->dtype))
		return false;
	if (is_sign(parser, '[')) {
		sk_signature_error(&parser->source, at, "a parameter with extents needs in, out or inout in front%s",
				   parameter->by_reference ? ", not ref" : "");
		return false;
	}
	return check_scalar_type(parser, type_at, parameter->dtype, "a scalar");
}

static bool parse_scratch(struct parser *parser, struct sk_parameter *parameter, uint32_t index)
{
	parameter->kind = SK_PARAMETER_SCRATCH;
	advance(parser);
	return parse_new_name(parser, "scratch", &parameter->name, &parser->source.parameter_at[index]) &&
	       parse_sign(parser, '[', "'[' with the number of bytes") &&
	       parse_number(parser, "a number of bytes", &parameter->scratch_bytes) && parse_sign(parser, ']', "']'");
}

static bool parse_parameter(struct parser *parser)
{
	struct sk_signature *signature = parser->signature;
	uint32_t index = signature->parameter_count;

	if (parser->token.kind != TOKEN_WORD)
		return expected(parser, "a parameter");
	if (index == SK_MAX_PARAMETERS) {
		sk_signature_error(&parser->source, parser->token.start, "more than %u parameters", SK_MAX_PARAMETERS);
		return false;
	}

	struct sk_parameter *parameter = &signature->parameters[index];

	signature->parameter_count++;
	*parameter = (struct sk_parameter){.alias_of = SK_NONE};
	parser->source.parameter_at[index] = parser->token.start;
	if (sk_signature_is_one_of(parser->token.word, directions, DIRECTIONS))
		return parse_tensor(parser, parameter, index);
	if (is_word(parser, "scratch"))
		return parse_scratch(parser, parameter, index);
	if (is_word(parser, "block")) {
		parameter->kind = SK_PARAMETER_BLOCK;
		advance(parser);
		return true;
	}
	return parse_scalar(parser, parameter, index);
}

static bool parse_result(struct parser *parser)
{
	struct sk_signature *signature = parser->signature;

	if (parser->token.kind != TOKEN_ARROW)
		return true;
	advance(parser);
	parser->source.result_at = parser->token.start;
	if (is_word(parser, "status")) {
		signature->returns_status = true;
		advance(parser);
		return true;
	}
	if (!is_word(parser, "out"))
		return expected(parser, "'status' or 'out NAME TYPE' behind '->'");
	advance(parser);
	if (!parse_new_name(parser, "out", &signature->result, &parser->source.result_at))
		return false;

	const char *type_at = parser->token.start;

	return parse_type(parser, signature->result, &signature->result_dtype) &&
	       check_scalar_type(parser, type_at, signature->result_dtype, "a result");
}

/* "split=n, in x …": the ';' is missing. */
static bool check_forgotten_semicolon(struct parser *parser)
{
	struct token next = scan(parser->cursor);

	if (strchr(parser->source.text, ';') || parser->token.kind != TOKEN_WORD ||
	    !sk_signature_is_one_of(parser->token.word, sk_attribute_names, SK_ATTRIBUTES) ||
	    (next.kind == TOKEN_WORD && find_type(sk_arena_copy(parser->source.arena, next.start, next.length))))
		return true;
	sk_signature_error(&parser->source, parser->token.start,
			   "'%s' is an attribute; attributes stand in front of the parameters and end with ';'",
			   parser->token.word);
	return false;
}

static bool parse_text(struct parser *parser)
{
	parser->cursor = sk_signature_parse_attributes(&parser->source, parser->signature);
	read_token(parser);
	if (!check_forgotten_semicolon(parser) || !parse_parameter(parser))
		return false;
	while (is_sign(parser, ',')) {
		advance(parser);
		if (!parse_parameter(parser))
			return false;
	}
	if (!parse_result(parser))
		return false;
	if (parser->token.kind != TOKEN_END)
		return expected(parser, parser->source.result_at ? "the end of the signature" : "',' or '->'");
	return true;
}

/* Moves what was parsed into the arena: there are many signatures, and most are short. */
static void keep(struct sk_arena *arena, struct sk_signature *signature)
{
	struct sk_parameter *parameters = SK_NEW_ARRAY(arena, struct sk_parameter, signature->parameter_count);
	const char **extents = SK_NEW_ARRAY(arena, const char *, signature->extent_count);

	memcpy(parameters, signature->parameters, signature->parameter_count * sizeof(*parameters));
	memcpy(extents, signature->extents, signature->extent_count * sizeof(*extents));
	signature->parameters = parameters;
	signature->extents = extents;
}

static const struct sk_signature *parse(struct sk_signature_source source)
{
	struct parser parser = {.source = source};
	struct sk_parameter parameters[SK_MAX_PARAMETERS];
	const char *extents[SK_MAX_PARAMETERS];
	size_t length = strlen(source.text);

	if (length > MAX_LENGTH) {
		sk_signature_error(&parser.source, source.text, "longer than %d characters", MAX_LENGTH);
		return NULL;
	}

	parser.signature = SK_NEW(source.arena, struct sk_signature);
	parser.signature->spread_extent = SK_NONE;
	parser.signature->parameters = parameters;
	parser.signature->extents = extents;
	parser.source.normal = SK_NEW_ARRAY(source.arena, char, 2 * length + 4);
	if (!parse_text(&parser) || !sk_signature_check_rules(&parser.source, parser.signature))
		return NULL;
	keep(source.arena, parser.signature);
	parser.signature->text = parser.source.normal;
	return parser.source.failed ? NULL : parser.signature;
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
