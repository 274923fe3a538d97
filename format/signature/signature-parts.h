/* The signature's parser in parts: the text that is being parsed, and where in it things stand. */
#ifndef SK_SIGNATURE_PARTS_H
#define SK_SIGNATURE_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/diag.h"
#include "format/signature/signature.h"

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

#endif
