/* Texts in files for Graphviz. */
#ifndef SK_DOT_H
#define SK_DOT_H

#include <stdio.h>

/* What stands between the quotes of a string, so that a label shows the text: as people may see it (escape.h), with
 * backslashes, quotes and what would begin an entity of HTML escaped. */
void sk_dot_print(const char *text, FILE *stream);

#endif
