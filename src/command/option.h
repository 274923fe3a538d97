/* The options of the command line, as a table: how each is spelled, and what it does. In: a word. Out: the option that
 * it is, or one that may have been meant. */
#ifndef SK_OPTION_H
#define SK_OPTION_H

#include <stddef.h>

#include "base/arena.h"

/* What an option does with the struct sk_command_line field at `field`. */
enum sk_option_action {
	SK_OPTION_SET_TEXT,
	SK_OPTION_SET_ANY_TEXT, /* which may be empty */
	SK_OPTION_SET_INPUT, /* a text, the path of a file to read */
	SK_OPTION_SET_OUTPUT, /* a text, the path of a file to write */
	SK_OPTION_SET_STANDARD_OUTPUT, /* the text "-", without a value */
	SK_OPTION_SET_OPTIONAL_OUTPUT, /* "" where none follows behind "=" */
	SK_OPTION_SET_REPRODUCTION, /* a text that a reproduction does not repeat */
	SK_OPTION_ADD_TEXT,
	SK_OPTION_ADD_INPUT, /* a text, the path of one more file to read */
	SK_OPTION_ADD_FOLDER, /* a text, the path of a folder to read from */
	SK_OPTION_SET_FLAG,
	SK_OPTION_CLEAR_FLAG,
	SK_OPTION_SET_NUMBER,
	SK_OPTION_SET_THREADS, /* a number, or the default where none follows */
	SK_OPTION_SET_COMPRESSION,
	SK_OPTION_SET_KEYWORD,
	SK_OPTION_SET_COLOUR,
	SK_OPTION_CLEAR_COLOUR,
	SK_OPTION_SET_ICF,
	SK_OPTION_SET_UNRESOLVED,
	SK_OPTION_SET_ISA,
	SK_OPTION_ADD_LIBRARY,
	SK_OPTION_ADD_OVERRIDE, /* of scope options */
	SK_OPTION_BEGIN_WHOLE,
	SK_OPTION_END_WHOLE,
	/* What a package is in any case: */
	SK_OPTION_ACCEPT,
	SK_OPTION_ACCEPT_VALUE,
	SK_OPTION_ACCEPT_OPTIONAL_VALUE,
	/* What a package is not: */
	SK_OPTION_REFUSE,
};

/* A value that changes nothing, or one that asks for what a package is not. */
struct sk_option_value {
	const char *text; /* NULL: the end of the list */
	const char *refusal; /* NULL: it is accepted */
};

struct sk_option {
	const char *name; /* NULL: it has only a letter */
	const char *letter; /* "-o": the value may follow at once; NULL: none */
	enum sk_option_action action;
	size_t field;
	unsigned minimum, maximum; /* of numbers */
	const struct sk_option_value *values; /* of what is accepted; NULL: any */
	const char *refusal; /* of SK_OPTION_REFUSE */
};

enum sk_option_arity { SK_OPTION_NO_VALUE, SK_OPTION_OPTIONAL_VALUE, SK_OPTION_VALUE };

enum sk_option_arity sk_option_arity(const struct sk_option *option);

/* The option of a word that starts with a dash, or NULL. *value is what stands in the word itself, or NULL. */
const struct sk_option *sk_option_find(const char *word, const char **value);

/* As users write it. */
const char *sk_option_spelling(struct sk_arena *arena, const struct sk_option *option);

/* "; did you mean '--output'?" about a word that is no option, or "". */
const char *sk_option_suggest(struct sk_arena *arena, const char *word);

#endif
