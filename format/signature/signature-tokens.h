/* The words and signs of a signature's parameters, for all who parse a part of them: what stands at the cursor is
 * looked at, and taken with sk_token_advance, which writes it into the normalised text. Who expects something else says
 * so with sk_token_expected; all functions that parse return false after an error. */
#ifndef SK_SIGNATURE_TOKENS_H
#define SK_SIGNATURE_TOKENS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/signature/signature-parts.h"
#include "format/signature/signature.h"

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

#endif
