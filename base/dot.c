/* Texts for Graphviz; see text.h. In its strings only the quote is special, but labels also interpret the backslash and
 * entities. */
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
