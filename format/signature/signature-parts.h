/* Shared by the files of this room: the parser of signatures, its tokens and parts, and the frames of compilers. */
#ifndef SK_FORMAT_SIGNATURE_SIGNATURE_PARTS_H
#define SK_FORMAT_SIGNATURE_SIGNATURE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "format/signature/signature.h"
#include "format/skplan.h"

struct sk_arena;

/* ==== signature-parts.c ====
 *
 * The signature's parser in parts: the text that is being parsed, and where in it things stand. */

/* An expression that names something, which is looked up once all parameters are known. */
struct sk_open_expression {
	struct sk_value_expression *expression;
	const char *at;
	uint32_t parameter; /* that it is for, or SK_NONE */
};

/* Of a text that has been put together: bytes that stand in the one that it was made from. */
struct sk_signature_piece {
	size_t at, length;
	const char *original;
};

struct sk_signature_source {
	struct sk_arena *arena;
	struct sk_diag *diag;
	struct sk_place place;
	bool folded; /* columns of the text are not columns of the file */
	const char *text;
	bool failed;
	char *normal; /* the normalised text so far: three times the text's length is always enough */
	size_t normal_length;
	/* Pointers into the text, for messages. */
	const char *parameter_at[SK_MAX_PARAMETERS];
	const char *extent_at[SK_MAX_PARAMETERS]; /* where the extent's name stands first */
	const char *alias_name[SK_MAX_PARAMETERS], *alias_at[SK_MAX_PARAMETERS];
	const char *parameter_from[SK_MAX_PARAMETERS], *parameter_to[SK_MAX_PARAMETERS]; /* of its text */
	const char *result_from; /* "->"; NULL: there is no result */
	uint32_t frame; /* `frame=`: its number from 1; 0: there is none */
	const char *frame_at;
	const char *spread_attribute, *spread_name, *spread_at;
	const char *loop_name[SK_MAX_LOOPS], *loop_at[SK_MAX_LOOPS];
	const char *sides_at; /* `aic` or `aiv`, the last one */
	const char *result_at;
	const char *value_at[SK_MAX_PARAMETERS]; /* the expression behind '=' */
	SK_ARRAY(struct sk_open_expression) open;
	SK_ARRAY(struct sk_attribute) conditions;
	/* Of a frame's text: the signature that it was made from. */
	struct sk_signature_source *outer;
	SK_ARRAY(struct sk_signature_piece) pieces;
};

/* An error at a character of the text. */
void sk_signature_error(struct sk_signature_source *source, const char *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

void sk_signature_append(struct sk_signature_source *source, const char *text, size_t length);

bool sk_signature_is_blank(char c);
bool sk_signature_is_word_character(char c);

/* The attribute's number among those of the task that the signature says something of; SK_NONE, with an error: there
 * are too many. */
uint32_t sk_signature_attribute(struct sk_signature_source *source, struct sk_signature *signature, const char *at,
				const char *name);

/* True if the word is among the words. */
bool sk_signature_is_one_of(const char *word, const char *const *words, size_t count);

/* The names of all attributes. */
enum { SK_ATTRIBUTES = 21 };
extern const char *const sk_attribute_names[SK_ATTRIBUTES];

/* Reads the attributes in front of the ';', if there is one. Returns where the parameters begin; NULL: the ';'
 * stands between parameters, so that nothing else makes sense. All other errors are collected. */
const char *sk_signature_parse_attributes(struct sk_signature_source *source, struct sk_signature *signature);

/* Where the ';' behind the attributes is; NULL: there are none. */
const char *sk_signature_attributes_end(const struct sk_signature_source *source);

/* Looks up what expressions name, and checks that it can be had. All errors are collected. */
void sk_signature_resolve_expressions(struct sk_signature_source *source, struct sk_signature *signature);

/* Resolves y@x and the extent of split= and blocks=, and checks what concerns the whole signature. All errors are
 * collected; false if there was one. */
bool sk_signature_check_rules(struct sk_signature_source *source, struct sk_signature *signature);

/* ==== signature-tokens.c ====
 *
 * The words and signs of a signature's parameters, for all who parse a part of them: what stands at the cursor is
 * looked at, and taken with sk_token_advance, which writes it into the normalised text. Who expects something else says
 * so with sk_token_expected; all functions that parse return false after an error. */

/* A NUMBER begins with a digit: 16, 0x10, 1.5e-3. A CHARACTER is one between quotes: 'T'. */
enum sk_token_kind { SK_TOKEN_END, SK_TOKEN_WORD, SK_TOKEN_NUMBER, SK_TOKEN_CHARACTER, SK_TOKEN_ARROW, SK_TOKEN_SIGN };

struct sk_token {
	enum sk_token_kind kind;
	const char *start;
	size_t length;
	const char *word; /* WORD: a copy */
};

struct sk_signature_parser {
	struct sk_signature_source *source;
	const char *cursor; /* behind the current token */
	const char *end; /* there is nothing from here on; NULL: up to the end of the text */
	const char *taken; /* behind the last token that was taken */
	struct sk_token token;
	bool in_brackets;
	uint32_t depth; /* of structs around the cursor */
	bool in_attribute; /* the normalised text has it as it stands */
	/* Of the expression at hand: */
	uint32_t parts;
	uint32_t parameter; /* that it is for; else SK_NONE */
	const char *count_of; /* what it is a number of, which is fixed when linking; else NULL */
	bool is_cost; /* it says what a task costs: nothing that the plan's calls have to agree with */
	struct sk_signature *signature;
};

/* Reads the token at the cursor without taking the current one. */
void sk_token_read(struct sk_signature_parser *parser);

/* Takes the current token and goes to the next one. */
void sk_token_advance(struct sk_signature_parser *parser);

/* The token at `from`. */
struct sk_token sk_token_scan(const struct sk_signature_parser *parser, const char *from);

bool sk_token_is_sign(const struct sk_signature_parser *parser, char sign);
bool sk_token_is_word(const struct sk_signature_parser *parser, const char *word);

/* Reports "expected <what>, but found …" at the current token. */
bool sk_token_expected(struct sk_signature_parser *parser, const char *what);

/* Takes the sign; `what` is for the message if it is not there. */
bool sk_token_sign(struct sk_signature_parser *parser, char sign, const char *what);

/* A whole number greater than 0. */
bool sk_token_number(struct sk_signature_parser *parser, const char *what, uint64_t *value);

/* A name that this signature gives to something. */
bool sk_token_new_name(struct sk_signature_parser *parser, const char *behind, const char **name, const char **at);

/* An element type. */
bool sk_token_type(struct sk_signature_parser *parser, const char *behind, enum sk_dtype *type);

/* The element type of that name, or SK_DTYPE_NONE. */
enum sk_dtype sk_token_find_type(const char *name);

/* What C's type of that name is called here, for who has copied a prototype; NULL: it is none of them. */
const char *sk_find_type_of_c(const char *name);

/* Words of the grammar cannot be names, so that a forgotten name is found where it is missing. */
bool sk_token_is_reserved(const char *word);

enum { SK_PARAMETER_WORDS = 6 };
extern const char *const sk_parameter_words[SK_PARAMETER_WORDS];

/* ==== signature-expressions.c ====
 *
 * Expressions in signatures: what a value is, where it does not come from the task. */

/* The expression at the cursor, for a value of that type (pointer: an address) that parameter number `parameter` or a
 * part of it has. False after an error. Names are looked up later (sk_signature_resolve_expressions). */
bool sk_signature_parse_value(struct sk_signature_parser *parser, enum sk_dtype dtype, bool pointer, uint32_t parameter,
			      const struct sk_value_expression **value);

/* The same for a number of something, which is fixed when linking: a number, extents, and their arithmetic. `of` says
 * for messages what it is a number of. */
bool sk_signature_parse_count(struct sk_signature_parser *parser, const char *of,
			      const struct sk_value_expression **value);

/* ==== signature-frames.c ====
 *
 * Frames: how compilers pass tensors whose kernels have no C prototype. A signature with `frame=NAME` lists tensors and
 * scalars; what comes in as that goes out as the text of a signature that has the structs, which is parsed in its
 * place. */

enum { SK_FRAMES = 6 };
extern const char *const sk_frame_names[SK_FRAMES];

/* The same signature without the attribute's effect, with structs in place of its parameters: a source for the parser
 * whose errors stand at the places that its parts come from. NULL after an error. `number` is that of the frame. */
struct sk_signature_source *sk_signature_expand(struct sk_signature_source *source,
						const struct sk_signature *signature, uint32_t number);

/* ==== signature-tensors.c ====
 *
 * Tensors among the parameters of a signature. */

/* Parses a tensor from its direction on; `index` is the parameter's number. */
bool sk_signature_parse_tensor(struct sk_signature_parser *parser, struct sk_parameter *parameter, uint32_t index);

#endif
