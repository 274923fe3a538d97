/* Returns the text that a sink of diagnostics would print, for tests that compare it. */
#ifndef SK_TESTS_MESSAGES_H
#define SK_TESTS_MESSAGES_H

#include <stdio.h>
#include <stdlib.h>

#include "base/diag.h"

/* Empty the sink. The caller frees the text. */
static inline char *take_messages(struct sk_diag *diag)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	sk_diag_flush(diag, "t", 0, stream);
	fclose(stream);
	return text;
}

#endif
