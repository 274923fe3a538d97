/* Shared by the files of this directory: options and response files. */
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
 * The keywords of -z, which concern the loading of an image. */

/* Apply one keyword, which has the given place, to the command. Report an error if it is unknown, or asks for a
 * property that packages never have. */
void sk_keyword_apply(struct sk_diag *diag, struct sk_place place, const char *keyword,
		      struct sk_command_line *command);

/* ==== option.c ====
 *
 * The options of the command line, as a table: their spelling and their effect. Input: a word. Output: its option, or a
 * suggestion. */

/* The effect of an option on the struct sk_command_line field at `field`. */
enum sk_option_action {
	SK_OPTION_SET_TEXT,
	SK_OPTION_SET_ANY_TEXT, /* may be empty */
	SK_OPTION_SET_INPUT, /* a text, the path of a file to read */
	SK_OPTION_SET_OUTPUT, /* a text, the path of a file to write */
	SK_OPTION_SET_STANDARD_OUTPUT, /* the text "-", without a value */
	SK_OPTION_SET_OPTIONAL_OUTPUT, /* "" if no "=" follows */
	SK_OPTION_SET_REPRODUCTION, /* a text that a reproduction does not repeat */
	SK_OPTION_ADD_TEXT,
	SK_OPTION_ADD_INPUT, /* a text, the path of one more file to read */
	SK_OPTION_ADD_FOLDER, /* a text, the path of a folder to read from */
	SK_OPTION_SET_FLAG,
	SK_OPTION_CLEAR_FLAG,
	SK_OPTION_SET_NUMBER,
	SK_OPTION_SET_THREADS, /* a number, or the default if none follows */
	SK_OPTION_SET_COMPRESSION,
	SK_OPTION_SET_KEYWORD,
	SK_OPTION_SET_COLOUR,
	SK_OPTION_CLEAR_COLOUR,
	SK_OPTION_SET_ICF,
	SK_OPTION_SET_UNRESOLVED,
	SK_OPTION_SET_ISOLATED, /* all objects, or one more pattern */
	SK_OPTION_SET_ISA,
	SK_OPTION_ADD_LIBRARY,
	SK_OPTION_ADD_OVERRIDE, /* for scope options */
	SK_OPTION_BEGIN_WHOLE,
	SK_OPTION_END_WHOLE,
	/* Properties that every package has: */
	SK_OPTION_ACCEPT,
	/* Properties that no package has: */
	SK_OPTION_REFUSE,
};

/* A value that changes nothing, or one that asks for a property that packages do not have. */
struct sk_option_value {
	const char *text; /* NULL: the end of the list */
	const char *refusal; /* NULL: accepted */
};

struct sk_option {
	const char *name; /* NULL: it only has a letter */
	const char *letter; /* "-o": the value may follow directly; NULL: none */
	enum sk_option_action action;
	size_t field;
	const char *value; /* its name in --help; "[=N]": optional; NULL: the option takes none */
	const char *text; /* for --help, line by line; NULL: the option is not shown */
	unsigned minimum, maximum; /* of numbers */
	const struct sk_option_value *values; /* accepted values; NULL: any */
	const char *refusal; /* for SK_OPTION_REFUSE */
	bool about_model; /* an error if no model is linked */
};

enum sk_option_arity { SK_OPTION_NO_VALUE, SK_OPTION_OPTIONAL_VALUE, SK_OPTION_VALUE };

enum sk_option_arity sk_option_arity(const struct sk_option *option);

/* Return the option for a word that starts with a dash, or NULL. *value is the value within the word, or NULL. */
const struct sk_option *sk_option_find(const char *word, const char **value);

/* Return the option as users write it. */
const char *sk_option_spelling(struct sk_arena *arena, const struct sk_option *option);

/* Return "; did you mean '--output'?" for a word that matches no option, or "". */
const char *sk_option_suggest(struct sk_arena *arena, const char *word);

/* ==== response.c ====
 *
 * Response files: an argument "@FILE" stands for the words in FILE, which may name further ones. */

/* Each word has its place in a response file. The place's origin is the word that named the file, if a response file
 * contained that word as well. Words of the command line itself have no place. */
typedef SK_ARRAY(struct sk_name) sk_words;

/* Return all words after the program's name; `files` receives the response files' paths. Report files that cannot be
 * read to the sink. */
sk_words sk_response_expand(struct sk_arena *arena, struct sk_diag *diag, int argc, char **argv, sk_texts *files);

#endif
