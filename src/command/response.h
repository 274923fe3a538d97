/* Response files: an argument "@FILE" stands for the words in FILE, which may name further ones. */
#ifndef SK_RESPONSE_H
#define SK_RESPONSE_H

#include "src/command/command.h"

typedef SK_ARRAY(char *) sk_words;

/* All words behind the program's name; `files` gets the response files' paths. What cannot be read is an error in the
 * sink. */
sk_words sk_response_expand(struct sk_arena *arena, struct sk_diag *diag, int argc, char **argv, sk_texts *files);

#endif
