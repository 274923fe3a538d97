/* Growing texts; see text.h. */
#include "config.h"

#include "base/text.h"

#include <stdlib.h>

#include "base/arena.h"

void sk_text_open(struct sk_text *text)
{
	text->bytes = NULL;
	text->stream = open_memstream(&text->bytes, &text->size);
	if (!text->stream)
		sk_out_of_memory();
}

/* Only a lack of memory makes such a stream fail, and then it may have no bytes. */
void sk_text_close(struct sk_arena *arena, struct sk_text *text)
{
	int failed = ferror(text->stream);
	char *bytes;

	if (fclose(text->stream) || failed || !text->bytes)
		sk_out_of_memory();
	bytes = text->bytes;
	text->bytes = sk_arena_copy(arena, bytes, text->size);
	free(bytes);
}
