/* The keywords of -z, which say how an image is to be loaded. */
#ifndef SK_KEYWORDS_H
#define SK_KEYWORDS_H

#include "src/command/command.h"

/* Applies one keyword, which stands at the place, to the command. An unknown one, and one that asks for what a package
 * never is, is an error in the sink. */
void sk_keyword_apply(struct sk_diag *diag, struct sk_place place, const char *keyword,
		      struct sk_command_line *command);

#endif
