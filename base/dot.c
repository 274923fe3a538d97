/* Texts for Graphviz; see text.h. In a string of its language only the quote has a meaning, but in labels the backslash
 * and entities have one, too. */
#include "base/text.h"

#include <stdlib.h>

#include "base/arena.h"

void sk_dot_print(const char *text, FILE *stream)
{
	size_t size = sk_escape(NULL, 0, text) + 1;
	char *escaped = malloc(size);

	if (!escaped)
		sk_out_of_memory();
	sk_escape(escaped, size, text);
	for (const char *end = escaped; *end; end++)
		if (*end == '&')
			fputs("&amp;", stream);
		else
			fprintf(stream, *end == '"' || *end == '\\' ? "\\%c" : "%c", *end);
	free(escaped);
}
