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
 * Common to the parts of the parser: the text, and the places of its parts. */

/* An expression with a name that is looked up once all parameters are known. */
struct sk_open_expression {
	struct sk_value_expression *expression;
	const char *at;
	uint32_t parameter; /* that it belongs to, or SK_NONE */
};

/* A part of a composed text that comes from the original one. */
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
	const char *extent_at[SK_MAX_PARAMETERS]; /* the first place of the extent's name */
	const char *alias_name[SK_MAX_PARAMETERS], *alias_at[SK_MAX_PARAMETERS];
	const char *parameter_from[SK_MAX_PARAMETERS], *parameter_to[SK_MAX_PARAMETERS]; /* of its text */
	uint32_t layout[SK_MAX_PARAMETERS]; /* the number of the layout after "as", from 1; 0: none */
	const char *layout_at[SK_MAX_PARAMETERS]; /* "as" */
	bool has_layouts; /* a parameter has one */
	const char *result_from; /* "->"; NULL: no result */
	uint32_t frame; /* the number of `frame=`, from 1; 0: none */
	const char *frame_at;
	const char *spread_attribute, *spread_name, *spread_at;
	const char *loop_name[SK_MAX_LOOPS], *loop_at[SK_MAX_LOOPS];
	const char *sides_at; /* `aic` or `aiv`, the last one */
	const char *result_at;
	const char *value_at[SK_MAX_PARAMETERS]; /* the expression after '=' */
	SK_ARRAY(struct sk_open_expression) open;
	SK_ARRAY(struct sk_attribute) conditions;
	/* For a frame's text: the signature that it was made from. */
	struct sk_signature_source *outer;
	SK_ARRAY(struct sk_signature_piece) pieces;
};

/* Report an error at a character of the text. */
void sk_signature_error(struct sk_signature_source *source, const char *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

void sk_signature_append(struct sk_signature_source *source, const char *text, size_t length);

bool sk_signature_is_blank(char c);
bool sk_signature_is_word_character(char c);

/* Return the index of the attribute among those that the signature mentions; SK_NONE, with an error, if there are too
 * many. */
uint32_t sk_signature_attribute(struct sk_signature_source *source, struct sk_signature *signature, const char *at,
				const char *name);

/* True if the word is among the words. */
bool sk_signature_is_one_of(const char *word, const char *const *words, size_t count);

/* The names of all attributes. */
enum { SK_ATTRIBUTES = 21 };
extern const char *const sk_attribute_names[SK_ATTRIBUTES];

/* Read the attributes before the ';', if there is one. Return the start of the parameters; NULL if the ';' is between
 * parameters, which makes further parsing useless. All other errors are reported. */
const char *sk_signature_parse_attributes(struct sk_signature_source *source, struct sk_signature *signature);

/* Return the ';' after the attributes; NULL: there are none. */
const char *sk_signature_attributes_end(const struct sk_signature_source *source);

/* Look up the names in expressions, and check that their values are available. All errors are reported. */
void sk_signature_resolve_expressions(struct sk_signature_source *source, struct sk_signature *signature);

/* Resolve y@x and the extent of split= and blocks=, and check the conditions on the whole signature. All errors are
 * reported; false if there was one. */
bool sk_signature_check_rules(struct sk_signature_source *source, struct sk_signature *signature);

/* ==== signature-tokens.c ====
 *
 * The tokens of a signature's parameters. Parsers inspect the token at the cursor, and consume it with
 * sk_token_advance, which appends it to the normalised text. Unexpected tokens are reported with sk_token_expected. All
 * parsing functions return false after an error. */

/* A NUMBER begins with a digit: 16, 0x10, 1.5e-3. A CHARACTER is in quotes: 'T'. */
enum sk_token_kind { SK_TOKEN_END, SK_TOKEN_WORD, SK_TOKEN_NUMBER, SK_TOKEN_CHARACTER, SK_TOKEN_ARROW, SK_TOKEN_SIGN };

struct sk_token {
	enum sk_token_kind kind;
	const char *start;
	size_t length;
	const char *word; /* WORD: a copy */
};

struct sk_signature_parser {
	struct sk_signature_source *source;
	const char *cursor; /* after the current token */
	const char *end; /* the end of the text for the parser; NULL: that of the whole text */
	const char *taken; /* after the last consumed token */
	struct sk_token token;
	bool in_brackets;
	uint32_t depth; /* of structs around the cursor */
	bool in_attribute; /* the normalised text copies it verbatim */
	/* The current expression: */
	uint32_t parts;
	uint32_t parameter; /* that it belongs to; otherwise SK_NONE */
	const char *count_of; /* the meaning of a number that is fixed when linking; otherwise NULL */
	bool is_cost; /* a cost of a task, which the plan's calls do not depend on */
	struct sk_signature *signature;
};

/* Read the token at the cursor, without consuming the current one. */
void sk_token_read(struct sk_signature_parser *parser);

/* Consume the current token, and read the next one. */
void sk_token_advance(struct sk_signature_parser *parser);

/* Return the token at `from`. */
struct sk_token sk_token_scan(const struct sk_signature_parser *parser, const char *from);

bool sk_token_is_sign(const struct sk_signature_parser *parser, char sign);
bool sk_token_is_word(const struct sk_signature_parser *parser, const char *word);

/* Reports "expected <wanted>, but found …" at the current token. */
bool sk_token_expected(struct sk_signature_parser *parser, const char *wanted);

/* Consume the sign; `wanted` is its description in messages. */
bool sk_token_sign(struct sk_signature_parser *parser, char sign, const char *wanted);

/* Parse an integer greater than 0. */
bool sk_token_number(struct sk_signature_parser *parser, const char *wanted, uint64_t *value);

/* Parse a name that the signature defines. */
bool sk_token_new_name(struct sk_signature_parser *parser, const char *after, const char **name, const char **at);

/* Parse an element type. */
bool sk_token_type(struct sk_signature_parser *parser, const char *after, enum sk_dtype *type);

/* Return the element type of that name, or SK_DTYPE_NONE. */
enum sk_dtype sk_token_find_type(const char *name);

/* Return the equivalent of C's type of that name, for copied prototypes; NULL: unknown. */
const char *sk_find_type_of_c(const char *name);

/* True for words of the grammar. They cannot be names, so that a missing name is reported at its place. */
bool sk_token_is_reserved(const char *word);

enum { SK_PARAMETER_WORDS = 6 };
extern const char *const sk_parameter_words[SK_PARAMETER_WORDS];

/* ==== signature-expressions.c ====
 *
 * Expressions in signatures: values that do not come from the task. */

/* Parse the expression at the cursor, for a value of that type (pointer: an address) that belongs to parameter number
 * `parameter` or a part of it. False after an error. Names are looked up later (sk_signature_resolve_expressions). */
bool sk_signature_parse_value(struct sk_signature_parser *parser, enum sk_dtype dtype, bool pointer, uint32_t parameter,
			      const struct sk_value_expression **value);

/* The same for a count that is fixed when linking: a number, extents, and their arithmetic. `of` is the counted thing
 * in messages. */
bool sk_signature_parse_count(struct sk_signature_parser *parser, const char *of,
			      const struct sk_value_expression **value);

/* ==== signature-frames.c ====
 *
 * Frames and layouts: the conventions of compilers for passing tensors to kernels without a C prototype. A signature
 * with `frame=NAME` lists tensors and scalars, and `as NAME` after a tensor is the same for this one. Both are expanded
 * to the text of a signature with structs, which is parsed in its place. */

enum { SK_FRAMES = 11, SK_LAYOUTS = 7 };
extern const char *const sk_frame_names[SK_FRAMES], *const sk_layout_names[SK_LAYOUTS];

/* Expand the signature: without the attribute and "as", and with structs in place of its parameters. Errors in the
 * resulting source are reported at the places that its parts come from. NULL after an error. */
struct sk_signature_source *sk_signature_expand(struct sk_signature_source *source,
						const struct sk_signature *signature);

/* ==== signature-tensors.c ====
 *
 * Tensors among the parameters of a signature. */

/* Parse a tensor from its direction on; `index` is the parameter's number. */
bool sk_signature_parse_tensor(struct sk_signature_parser *parser, struct sk_parameter *parameter, uint32_t index);

#endif
