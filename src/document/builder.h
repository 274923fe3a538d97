/* Between the files of this room: from a text that has been looked through to its nodes. */
#ifndef SK_BUILDER_H
#define SK_BUILDER_H

#include "src/document/document.h"

/* Of a text, in the scratch arena; the first one is the root. */
struct sk_document_nodes {
	SK_ARRAY(struct sk_node) list;
	uint32_t lines; /* that end in the text */
	bool ended; /* "..." ends the document, perhaps in front of others */
};

/* Room for the nodes of most texts of that size. */
static inline size_t sk_document_room(size_t size)
{
	return size / 6 + 1;
}

/* There is room for so many nodes at first. False after errors. */
bool sk_document_build(const struct sk_document *document, struct sk_arena *scratch, const char *text, size_t size,
		       size_t room, struct sk_document_nodes *nodes);

/* The same in two threads. NULL: that cannot be done, or there are errors, and the other one tells. */
const struct sk_node *sk_document_build_halves(const struct sk_document *document, struct sk_arena *scratch,
					       const char *text, size_t size);

#endif
