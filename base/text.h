/* A text that grows as it is printed: a stream into memory. When the system has no more of it, the process ends with a
 * message, as for everything that is in an arena. */
#ifndef SK_TEXT_H
#define SK_TEXT_H

#include <stdio.h>

#include "base/arena.h"

struct sk_text {
	FILE *stream; /* to print to */
	char *bytes; /* once it is closed; NUL-terminated */
	size_t size;
};

void sk_text_open(struct sk_text *text);

/* Closes the stream. The text is in the arena then. */
void sk_text_close(struct sk_arena *arena, struct sk_text *text);

#endif
