/* Shared by the files of this room: options and response files. */
#ifndef SK_SRC_COMMAND_COMMAND_PARTS_H
#define SK_SRC_COMMAND_COMMAND_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/diag.h"

struct sk_arena;
struct sk_command_line;

/* ==== keywords.c ====
 *
 * The keywords of -z, which say how an image is to be loaded. */

/* Applies one keyword, which stands at the place, to the command. An unknown one, and one that asks for what a package
 * never is, is an error in the sink. */
void sk_keyword_apply(struct sk_diag *diag, struct sk_place place, const char *keyword,
		      struct sk_command_line *command);

/* ==== option.c ====
 *
 * The options of the command line, as a table: how each is spelled, and what it does. In: a word. Out: the option that
 * it is, or one that may have been meant. */

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
	const char *value; /* its name in --help; "[=N]": it may be left out; NULL: the option takes none */
	const char *text; /* of --help, line by line; NULL: the option is not shown */
	unsigned minimum, maximum; /* of numbers */
	const struct sk_option_value *values; /* of what is accepted; NULL: any */
	const char *refusal; /* of SK_OPTION_REFUSE */
	bool about_model; /* it is an error where no model is linked */
};

enum sk_option_arity { SK_OPTION_NO_VALUE, SK_OPTION_OPTIONAL_VALUE, SK_OPTION_VALUE };

enum sk_option_arity sk_option_arity(const struct sk_option *option);

/* The option of a word that starts with a dash, or NULL. *value is what stands in the word itself, or NULL. */
const struct sk_option *sk_option_find(const char *word, const char **value);

/* As users write it. */
const char *sk_option_spelling(struct sk_arena *arena, const struct sk_option *option);

/* "; did you mean '--output'?" about a word that is no option, or "". */
const char *sk_option_suggest(struct sk_arena *arena, const char *word);

/* ==== response.c ====
 *
 * Response files: an argument "@FILE" stands for the words in FILE, which may name further ones. */

/* Each with its place in a response file, whose origin is the word that named the file, if that stood in one, too.
 * Words of the command line itself have no place. */
typedef SK_ARRAY(struct sk_name) sk_words;

/* All words behind the program's name; `files` gets the response files' paths. What cannot be read is an error in the
 * sink. */
sk_words sk_response_expand(struct sk_arena *arena, struct sk_diag *diag, int argc, char **argv, sk_texts *files);

#endif
