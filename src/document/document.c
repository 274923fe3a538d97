/* Texts that are documents: what is read, and what of it libyaml shall see; see document.h. */
#include "config.h"

#include "src/document/document.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "src/base/json.h"
#include "src/document/builder.h"

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

/* There are no tags, so %TAG is refused before libyaml, which compares each one with all others, comes to it: in
 * front of the document, or behind the end of a document ("..."). */
static bool refuse_tag_directive(const struct sk_document *document, const char *text, size_t size)
{
	const char *line = text, *end = text + size;
	bool between = true; /* documents */

	if (size >= strlen(BYTE_ORDER_MARK) && !memcmp(line, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)))
		line += strlen(BYTE_ORDER_MARK);
	for (uint32_t number = 1; line < end; number++) {
		const char *next = memchr(line, '\n', (size_t)(end - line)), *first = line;
		const char *line_end = next ? next : end;

		while (first < line_end && (*first == ' ' || *first == '\t' || *first == '\r'))
			first++;
		if (between && line_end - first >= 4 && !memcmp(first, "%TAG", 4)) {
			sk_error(document->diag,
				 (struct sk_place){.file = document->file,
						   .line = number,
						   .column = (uint32_t)(first - line) + 1},
				 "tags are not accepted (%%TAG)");
			return true;
		}
		if (line_end - line >= 3 && !memcmp(line, "...", 3))
			between = true;
		else if (first < line_end && *first != '%' && *first != '#')
			between = false;
		line = line_end + 1;
	}
	return false;
}

static bool may_have_surrogates(const char *text, size_t size)
{
	const char *end = text + size;

	for (const char *at = text; (at = memchr(at, '\\', (size_t)(end - at))); at++)
		if (end - at >= 3 && at[1] == 'u' && (at[2] == 'd' || at[2] == 'D'))
			return true;
	return false;
}

/* What JSON has and YAML has not: a character beyond U+FFFF as two escapes. */
static const char *accept_json(struct sk_arena *scratch, const char *text, size_t size)
{
	char *copy;

	if (!may_have_surrogates(text, size))
		return text;
	copy = sk_arena_alloc(scratch, size, 1);
	memcpy(copy, text, size);
	sk_json_join_surrogates(copy, size);
	return copy;
}

const void *sk_document_read(const struct sk_document *document, struct sk_arena *scratch, size_t *size)
{
	/* One byte more than allowed is enough for sk_document_parse to see that the file is too large. */
	enum { FIRST = 64 << 10, LIMIT = SK_DOCUMENT_MAX_BYTES + 1 };
	FILE *file = fopen(document->file, "rb");
	struct sk_place place = {.file = document->file};

	if (!file) {
		sk_error(document->diag, place, "cannot open %s: %s", document->what, strerror(errno));
		return NULL;
	}

	size_t capacity = FIRST;
	char *text = sk_arena_alloc(scratch, capacity, 1);

	*size = 0;
	for (size_t count; (count = fread(text + *size, 1, capacity - *size, file)) > 0;) {
		*size += count;
		if (*size == LIMIT)
			break;
		if (*size < capacity)
			continue;
		capacity = capacity * 4 < LIMIT ? capacity * 4 : LIMIT;

		char *larger = sk_arena_alloc(scratch, capacity, 1);

		memcpy(larger, text, *size);
		text = larger;
	}

	bool failed = ferror(file);
	int reason = errno;

	fclose(file);
	if (failed)
		sk_error(document->diag, place, "cannot read %s: %s", document->what, strerror(reason));
	return failed ? NULL : text;
}

const struct sk_node *sk_document_parse(const struct sk_document *document, struct sk_arena *scratch, const void *text,
					size_t size)
{
	enum { LONG = 128 << 10 }; /* what takes so much longer than starting a thread */
	const struct sk_node *root = NULL;
	struct sk_document_nodes nodes;

	if (size > SK_DOCUMENT_MAX_BYTES) {
		sk_error(document->diag, (struct sk_place){.file = document->file}, "%s is larger than 64 MiB",
			 document->what);
		return NULL;
	}
	if (refuse_tag_directive(document, text, size))
		return NULL;
	text = accept_json(scratch, text, size);
	if (document->threads > 1 && size >= LONG)
		root = sk_document_build_halves(document, scratch, text, size);
	return root || !sk_document_build(document, scratch, text, size, sk_document_room(size), &nodes)
		       ? root
		       : nodes.list.items;
}
