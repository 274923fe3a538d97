/* The parser of protobuf's text format (protobuf.dev, "Text Format Language Specification"); see onnx-parts.h. */
#include "graph/onnx/onnx-parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"

/* The depth as in wire.c; the most characters of a number. */
enum { MAX_DEPTH = 100, MAX_NUMBER = 64 };

enum token { END, WORD, NUMBER, STRING, SIGN };

struct parser {
	struct sk_diag *diag;
	const char *path;
	const struct sk_onnx_message *outer; /* the message with this text; NULL: a file */
	const char *inside; /* of a text in a file: its name for messages */
	const uint8_t *at, *end; /* after the token */
	const uint8_t *line_start;
	uint32_t line;
	enum token token;
	const uint8_t *start; /* of the token */
	size_t length;
	struct sk_onnx_bytes string; /* of a STRING: its bytes, with a NUL appended */
};

static bool parse_message(struct parser *parser, const struct sk_onnx_type *type, void *message, uint8_t close,
			  unsigned depth);

static uint32_t column_of(const struct parser *parser)
{
	return (uint32_t)(parser->start - parser->line_start + 1);
}

static bool refuse_text(struct parser *parser, const char *wrong)
{
	struct sk_place place = {.file = parser->path, .line = parser->line, .column = column_of(parser)};

	if (!parser->outer) {
		sk_error(parser->diag, place, "%s", wrong);
		return false;
	}
	place.line = parser->outer->line;
	place.column = parser->outer->column;
	sk_error(parser->diag, place, "in the text of %s, line %" PRIu32 ", column %" PRIu32 ": %s", parser->inside,
		 parser->line, column_of(parser), wrong);
	return false;
}

static const char *token_text(const struct parser *parser)
{
	if (parser->token == END)
		return "the end of the file";
	return sk_arena_print(parser->diag->arena, parser->token == STRING ? "%.*s" : "'%.*s'",
			      parser->length < 40 ? (int)parser->length : 40, (const char *)parser->start);
}

static bool expected(struct parser *parser, const char *what)
{
	return refuse_text(
		parser, sk_arena_print(parser->diag->arena, "%s is expected here, not %s", what, token_text(parser)));
}

/* ---- tokens ---- */

static bool is_letter(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

static void skip_space(struct parser *parser)
{
	for (; parser->at < parser->end; parser->at++) {
		if (*parser->at == '#')
			while (parser->at + 1 < parser->end && parser->at[1] != '\n')
				parser->at++;
		else if (*parser->at == '\n') {
			parser->line++;
			parser->line_start = parser->at + 1;
		} else if (!strchr(" \t\r\v\f", *parser->at) || !*parser->at)
			return;
	}
}

static int hexadecimal(uint8_t c)
{
	return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Return the byte of an escape, and move `at` from after the backslash to after the escape. -1: invalid. */
static int take_escape(struct parser *parser)
{
	static const char letters[] = "abfnrtv\\'\"?", meanings[] = "\a\b\f\n\r\t\v\\'\"?";
	const char *letter;
	int value = 0, digits = 0;
	uint8_t c = parser->at < parser->end ? *parser->at++ : 0;

	if (c >= '0' && c <= '7') {
		for (value = c - '0', digits = 1;
		     digits < 3 && parser->at < parser->end && *parser->at >= '0' && *parser->at <= '7'; digits++)
			value = 8 * value + *parser->at++ - '0';
		return value < 256 ? value : -1;
	}
	if (c == 'x' || c == 'X') {
		for (; digits < 2 && parser->at < parser->end && hexadecimal(*parser->at) >= 0; digits++)
			value = 16 * value + hexadecimal(*parser->at++);
		return digits ? value : -1;
	}
	letter = c ? strchr(letters, c) : NULL;
	return letter ? (uint8_t)meanings[letter - letters] : -1;
}

/* Append the bytes of a string to `to`. */
static bool take_string(struct parser *parser, uint8_t **to)
{
	uint8_t quote = *parser->at++;

	for (; parser->at < parser->end && *parser->at != quote && *parser->at != '\n'; (*to)++) {
		int c = *parser->at++;

		if (c == '\\')
			c = take_escape(parser);
		if (c < 0)
			return refuse_text(parser, "the text has an escape that does not exist");
		**to = (uint8_t)c;
	}
	if (parser->at == parser->end || *parser->at != quote)
		return refuse_text(parser, "the text has no end on its line");
	parser->at++;
	return true;
}

/* Return an upper bound of the bytes in adjacent strings. */
static size_t strings_size(const struct parser *parser)
{
	struct parser probe = *parser;
	size_t size = 0;

	while (probe.at < probe.end && (*probe.at == '"' || *probe.at == '\'')) {
		uint8_t quote = *probe.at++;

		for (; probe.at < probe.end && *probe.at != quote && *probe.at != '\n'; probe.at++, size++)
			probe.at += *probe.at == '\\' && probe.at + 1 < probe.end;
		probe.at += probe.at < probe.end;
		skip_space(&probe);
	}
	return size;
}

/* Join adjacent strings. */
static bool take_strings(struct parser *parser)
{
	uint8_t *bytes = sk_arena_alloc(parser->diag->arena, strings_size(parser) + 1, 1), *to = bytes;

	parser->token = STRING;
	while (parser->at < parser->end && (*parser->at == '"' || *parser->at == '\'')) {
		if (!take_string(parser, &to))
			return false;
		parser->length = (size_t)(parser->at - parser->start);
		skip_space(parser);
	}
	parser->string = (struct sk_onnx_bytes){bytes, (size_t)(to - bytes)};
	return true;
}

/* A token that looks like a number is parsed when its value is needed. */
static bool starts_number(const struct parser *parser)
{
	uint8_t c = *parser->at, next = parser->at + 1 < parser->end ? parser->at[1] : 0;

	return is_digit(c) || c == '-' || c == '+' || (c == '.' && is_digit(next));
}

static void take_number(struct parser *parser)
{
	parser->token = NUMBER;
	for (parser->at++; parser->at < parser->end; parser->at++) {
		uint8_t c = *parser->at, before = parser->at[-1];

		if (!is_letter(c) && !is_digit(c) && c != '.' &&
		    !((c == '-' || c == '+') && (before == 'e' || before == 'E')))
			break;
	}
	parser->length = (size_t)(parser->at - parser->start);
}

static bool advance(struct parser *parser)
{
	skip_space(parser);
	parser->start = parser->at;
	parser->length = parser->at < parser->end;
	if (parser->at == parser->end) {
		parser->token = END;
		return true;
	}
	if (*parser->at == '"' || *parser->at == '\'')
		return take_strings(parser);
	if (starts_number(parser)) {
		take_number(parser);
		return true;
	}
	parser->token = is_letter(*parser->at) ? WORD : SIGN;
	do
		parser->at++;
	while (parser->token == WORD && parser->at < parser->end && (is_letter(*parser->at) || is_digit(*parser->at)));
	parser->length = (size_t)(parser->at - parser->start);
	return true;
}

static bool at_sign(const struct parser *parser, uint8_t sign)
{
	return parser->token == SIGN && *parser->start == sign;
}

static bool at_word(const struct parser *parser, const char *word)
{
	return parser->token == WORD && parser->length == strlen(word) && !memcmp(parser->start, word, parser->length);
}

/* ---- values ---- */

/* Copy the token with a NUL appended; false if it is too long for a number. */
static bool copy_token(const struct parser *parser, char text[MAX_NUMBER])
{
	if (parser->length >= MAX_NUMBER)
		return false;
	memcpy(text, parser->start, parser->length);
	text[parser->length] = '\0';
	return true;
}

static bool parse_integer(struct parser *parser, const struct sk_onnx_field *field, int64_t *integer)
{
	char text[MAX_NUMBER], *end;

	for (int64_t i = 0; parser->token == WORD && field->words && field->words[i]; i++) {
		if (!at_word(parser, field->words[i]))
			continue;
		*integer = i;
		return advance(parser);
	}
	if (parser->token != NUMBER || !copy_token(parser, text))
		return expected(parser, field->words ? "a word of the enum, or its number," : "a whole number");
	errno = 0;
	/* uint64_data has numbers of 64 bits without a sign. */
	*integer = text[0] == '-' ? strtoll(text, &end, 0) : (int64_t)strtoull(text, &end, 0);
	if (*end || errno || text[0] == '+')
		return expected(parser, "a whole number of 64 bits");
	return advance(parser);
}

/* Parse a number in C's syntax, perhaps with an f appended. inf and nan are words, or follow a minus. */
static bool parse_real(struct parser *parser, double *number, float *single)
{
	char text[MAX_NUMBER], *end;

	if ((parser->token != NUMBER && parser->token != WORD) || !copy_token(parser, text))
		return expected(parser, "a number");
	if (is_digit((uint8_t)text[0]) && parser->length > 1 && (text[1] == 'x' || text[1] == 'X'))
		return expected(parser, "a decimal number");
	*single = strtof(text, &end);
	*number = strtod(text, &end);
	if (end != text && (*end == 'f' || *end == 'F') && parser->token == NUMBER)
		end++;
	if (*end)
		return expected(parser, "a number");
	return advance(parser);
}

static bool parse_string(struct parser *parser, const struct sk_onnx_field *field, void *to)
{
	if (parser->token != STRING)
		return expected(parser, "a text in quotes");
	if (field->kind == SK_ONNX_BYTES)
		*(struct sk_onnx_bytes *)to = parser->string;
	else if (memchr(parser->string.bytes, 0, parser->string.size))
		return refuse_text(parser, "a name has a NUL");
	else
		*(const char **)to = (const char *)parser->string.bytes;
	return advance(parser);
}

/* "{" fields "}", or with < and >. */
static bool parse_braces(struct parser *parser, const struct sk_onnx_type *type, void *message, unsigned depth)
{
	uint8_t close = at_sign(parser, '{') ? '}' : '>';

	if (!at_sign(parser, '{') && !at_sign(parser, '<'))
		return expected(parser, "{");
	if (depth >= MAX_DEPTH)
		return refuse_text(parser, "messages lie in one another more than 100 times");
	return advance(parser) && parse_message(parser, type, message, close, depth + 1) && advance(parser);
}

/* Skip a field that is not needed, of any type. */
static bool skip_value(struct parser *parser)
{
	size_t open = 0;

	do {
		if (parser->token == END)
			return expected(parser, "a value");
		if (parser->token == SIGN && strchr("{[<", *parser->start))
			open++;
		else if (parser->token == SIGN && strchr("}]>", *parser->start) && open-- == 0)
			return expected(parser, "a value");
		if (!advance(parser))
			return false;
	} while (open);
	return true;
}

static bool parse_value(struct parser *parser, const struct sk_onnx_field *field, void *to, unsigned depth)
{
	double number;
	float single;

	switch (field->kind) {
	case SK_ONNX_INTEGER:
		return parse_integer(parser, field, to);
	case SK_ONNX_FLOAT:
		return parse_real(parser, &number, to);
	case SK_ONNX_DOUBLE:
		return parse_real(parser, to, &single);
	case SK_ONNX_STRING:
	case SK_ONNX_BYTES:
		return parse_string(parser, field, to);
	case SK_ONNX_MESSAGE:
		((struct sk_onnx_message *)to)->line = parser->outer ? parser->outer->line : parser->line;
		((struct sk_onnx_message *)to)->column = parser->outer ? parser->outer->column : column_of(parser);
		return parse_braces(parser, field->type, to, depth);
	case SK_ONNX_IGNORED:
		return skip_value(parser);
	}
	return true;
}

/* ---- lists ---- */

/* The capacity doubles. It follows from the count, so it is not stored. */
static void append_real(struct sk_arena *arena, struct sk_onnx_bytes *reals, const void *real, size_t size)
{
	size_t count = reals->size / size;
	uint8_t *bytes = (uint8_t *)(uintptr_t)reals->bytes; /* made here, and therefore writable */

	if (!(count & (count - 1))) {
		uint8_t *larger = sk_arena_alloc(arena, count ? 2 * count : 1, size);

		if (count)
			memcpy(larger, bytes, reals->size);
		sk_arena_release(arena, bytes, reals->size);
		reals->bytes = bytes = larger;
	}
	memcpy(bytes + reals->size, real, size);
	reals->size += size;
}

/* Append a zeroed item to the list. */
static void *add_item(struct sk_arena *arena, const struct sk_onnx_field *field, void *list_of_any)
{
	SK_ARRAY(char) *list = list_of_any;
	size_t size = sk_onnx_item_size(field);

	if (list->count >= list->capacity)
		list->items = sk_array_reserve(arena, list->items, list->count, &list->capacity, size);
	memset(list->items + list->count * size, 0, size);
	return list->items + list->count++ * size;
}

static bool parse_item(struct parser *parser, const struct sk_onnx_field *field, void *list, unsigned depth)
{
	struct sk_arena *arena = parser->diag->arena;
	double number;
	float single;

	if (field->kind == SK_ONNX_IGNORED)
		return skip_value(parser);
	if (field->kind != SK_ONNX_FLOAT && field->kind != SK_ONNX_DOUBLE)
		return parse_value(parser, field, add_item(arena, field, list), depth);
	if (!parse_real(parser, &number, &single))
		return false;
	if (field->kind == SK_ONNX_FLOAT)
		append_real(arena, list, &single, sizeof(single));
	else
		append_real(arena, list, &number, sizeof(number));
	return true;
}

/* Parse a value, or several in brackets. */
static bool parse_list(struct parser *parser, const struct sk_onnx_field *field, void *list, unsigned depth)
{
	if (!at_sign(parser, '[') || field->kind == SK_ONNX_IGNORED)
		return parse_item(parser, field, list, depth);
	if (!advance(parser))
		return false;
	while (!at_sign(parser, ']')) {
		if (!parse_item(parser, field, list, depth))
			return false;
		if (at_sign(parser, ',')) {
			if (!advance(parser))
				return false;
		} else if (!at_sign(parser, ']')) {
			return expected(parser, "] or a comma");
		}
	}
	return advance(parser);
}

/* ---- fields ---- */

static const char *name_of_field(const void *context, uint32_t index)
{
	return ((const struct sk_onnx_type *)context)->fields[index].name;
}

static bool unknown_field(struct parser *parser, const struct sk_onnx_type *type)
{
	struct sk_arena *arena = parser->diag->arena;
	const char *name = sk_arena_copy(arena, (const char *)parser->start, parser->length < 63 ? parser->length : 63);
	const char *near = sk_nearest_of(name, type->count, name_of_field, type);

	return refuse_text(parser, sk_arena_print(arena, "%s has no field '%s'%s%s%s", type->name, name,
						  near ? "; did you mean '" : "", near ? near : "", near ? "'?" : ""));
}

static bool parse_field(struct parser *parser, const struct sk_onnx_type *type, char *message, unsigned depth)
{
	struct sk_onnx_message *head = (struct sk_onnx_message *)(void *)message;
	const struct sk_onnx_field *field = type->fields;
	void *to;

	if (parser->token != WORD)
		return expected(parser, "the name of a field");
	while (field < type->fields + type->count && !at_word(parser, field->name))
		field++;
	if (field == type->fields + type->count)
		return unknown_field(parser, type);

	uint32_t bit = 1u << (field - type->fields);

	if (!field->repeated && head->present & bit)
		return refuse_text(parser, sk_arena_print(parser->diag->arena, "%s has one field '%s' only", type->name,
							  field->name));
	head->present |= bit;
	if (!advance(parser))
		return false;
	if (at_sign(parser, ':')) {
		if (!advance(parser))
			return false;
	} else if (!at_sign(parser, '{') && !at_sign(parser, '<')) {
		return expected(parser, "a colon");
	}
	to = message + field->offset;
	if (field->repeated)
		return parse_list(parser, field, to, depth);
	if (field->kind == SK_ONNX_MESSAGE)
		to = *(void **)to = sk_arena_alloc(parser->diag->arena, 1, field->type->size);
	return parse_value(parser, field, to, depth);
}

/* Parse fields up to the closing sign, which is not consumed; 0: up to the end. */
static bool parse_message(struct parser *parser, const struct sk_onnx_type *type, void *message, uint8_t close,
			  unsigned depth)
{
	while (close ? !at_sign(parser, close) : parser->token != END) {
		if (parser->token == END)
			return expected(parser, close == '}' ? "}" : ">");
		if (!parse_field(parser, type, message, depth))
			return false;
		if ((at_sign(parser, ',') || at_sign(parser, ';')) && !advance(parser))
			return false;
	}
	return true;
}

static struct parser parser_of(struct sk_diag *diag, const char *path, struct sk_onnx_bytes text)
{
	return (struct parser){.diag = diag,
			       .path = path,
			       .at = text.bytes,
			       .end = text.bytes + text.size,
			       .line_start = text.bytes,
			       .line = 1,
			       .start = text.bytes};
}

struct sk_onnx_model *sk_onnx_parse(struct sk_diag *diag, const char *path, struct sk_onnx_bytes text)
{
	struct parser parser = parser_of(diag, path, text);
	struct sk_onnx_model *model = SK_NEW(diag->arena, struct sk_onnx_model);

	if (!advance(&parser))
		return NULL;
	if (at_sign(&parser, '<')) {
		refuse_text(
			&parser,
			"this is ONNX's own syntax for people, which sklink does not read; onnx.save_model writes it "
			"in another one if the name of the file ends in .onnx or .textproto");
		return NULL;
	}
	return parse_message(&parser, &sk_onnx_model_type, model, 0, 0) ? model : NULL;
}

bool sk_onnx_parse_inner(struct sk_diag *diag, const char *path, const struct sk_onnx_message *outer,
			 const char *inside, const struct sk_onnx_type *type, void *message, struct sk_onnx_bytes text)
{
	struct parser parser = parser_of(diag, path, text);

	parser.outer = outer;
	parser.inside = inside;
	return advance(&parser) && parse_message(&parser, type, message, 0, 0);
}

/* True before a word and a brace. */
static bool opens(struct parser *parser, const char *word)
{
	skip_space(parser);
	if (parser->at == parser->end || !is_letter(*parser->at) || !advance(parser) || !at_word(parser, word))
		return false;
	skip_space(parser);
	return parser->at < parser->end && *parser->at == '{';
}

/* Skip `name: "text"`. False, without a change, if there is none. */
static bool skip_name(struct parser *parser)
{
	struct parser probe = *parser;
	const uint8_t *end;

	skip_space(&probe);
	if (probe.at == probe.end || !is_letter(*probe.at) || !advance(&probe) || !at_word(&probe, "name"))
		return false;
	skip_space(&probe);
	if (probe.at == probe.end || *probe.at++ != ':')
		return false;
	skip_space(&probe);
	if (probe.at == probe.end || *probe.at != '"')
		return false;
	end = memchr(probe.at + 1, '"', (size_t)(probe.end - probe.at - 1));
	if (end)
		*parser = (struct parser){.at = end + 1, .end = parser->end, .line_start = end + 1, .line = 1};
	return end;
}

bool sk_onnx_looks_graph_def(struct sk_onnx_bytes bytes)
{
	struct parser parser = parser_of(NULL, NULL, bytes), node = parser;

	return opens(&node, "node") || (skip_name(&parser), opens(&parser, "op"));
}

/* A manifest may also begin with "graph:", but not followed by a brace. */
bool sk_onnx_looks_textual(struct sk_onnx_bytes bytes)
{
	static const char *const begins[] = {"ir_version", "producer_name", "opset_import", "graph"};
	struct parser parser = parser_of(NULL, NULL, bytes);
	bool found = false, message = false;

	skip_space(&parser);
	if (parser.at == parser.end || !is_letter(*parser.at) || !advance(&parser))
		return false;
	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]) && !found; i++) {
		found = at_word(&parser, begins[i]);
		message = i >= 2;
	}
	if (!found)
		return false;
	skip_space(&parser);
	if (parser.at < parser.end && *parser.at == ':') {
		parser.at++;
		if (!message)
			return true;
		skip_space(&parser);
	}
	return message && parser.at < parser.end && (*parser.at == '{' || *parser.at == '<');
}
