/* Response files: an argument "@FILE" stands for the words in FILE, which may name further ones. */
#ifndef SK_RESPONSE_H
#define SK_RESPONSE_H

#include "src/command/command.h"

/* Each with its place in a response file, whose origin is the word that named the file, if that stood in one, too.
 * Words of the command line itself have no place. */
typedef SK_ARRAY(struct sk_name) sk_words;

/* All words behind the program's name; `files` gets the response files' paths. What cannot be read is an error in the
 * sink. */
sk_words sk_response_expand(struct sk_arena *arena, struct sk_diag *diag, int argc, char **argv, sk_texts *files);

#endif
