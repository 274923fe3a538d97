/* A YAML document as a tree: what libyaml's events say, minus all that our formats have no use for. Comes in: a file or
 * a text. Goes out: nodes with their places. Nobody behind this file sees anchors, tags, several documents, duplicate
 * keys, deep nesting or characters that are no text. What a scalar means (number, name, null) is for the reader to say
 * (fields.h), and what the document is about nobody knows here. */
#ifndef SK_DOCUMENT_H
#define SK_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"

enum {
	SK_DOCUMENT_MAX_BYTES = 64 << 20,
	SK_DOCUMENT_MAX_NODES = 4 << 20,
	SK_DOCUMENT_MAX_DEPTH = 32, /* libyaml needs 14 s for 100 KB of '[' */
};

/* What is being read. */
struct sk_document {
	struct sk_arena *arena; /* of all that outlives the nodes */
	struct sk_diag *diag;
	const char *file; /* for messages: its path, */
	const char *what; /* and what it is to be: "the manifest" */
	void *owner; /* for the readers of its fields: what they fill */
	struct sk_arena *texts; /* of the texts of nodes, if that is another one: readers copy what they return */
};

enum sk_node_kind { SK_NODE_SCALAR, SK_NODE_LIST, SK_NODE_MAP };

/* There are as many of them as words in the text, so they are small, and stand in the order of the text: behind a list
 * its first item, behind a map its first key, behind a key its value. */
struct sk_node {
	uint32_t line; /* from 1; of the opening quote or bracket, if there is one */
	uint32_t column : 28; /* from 1 */
	enum sk_node_kind kind : 2;
	bool plain : 1; /* SCALAR: written without quotes, so that null can mean null */
	bool in_line : 1; /* SCALAR: its characters stand in the file side by side, as they are */
	union {
		uint32_t length; /* SCALAR: of its text, in bytes */
		uint32_t count; /* LIST, MAP: items or keys */
	};
	uint32_t next; /* so many nodes behind it is the next item or key; 0: there is none */
	const char *text; /* SCALAR: NUL-terminated UTF-8, without NUL inside; others: "" */
};

/* The items of a list, the keys of a map: from the first one to NULL. Scalars have none. */
static inline const struct sk_node *sk_node_first(const struct sk_node *node)
{
	return node->kind != SK_NODE_SCALAR && node->count ? node + 1 : NULL;
}

static inline const struct sk_node *sk_node_next(const struct sk_node *node)
{
	return node->next ? node + node->next : NULL;
}

static inline const struct sk_node *sk_node_value(const struct sk_node *key)
{
	return key + 1;
}

/* The file's bytes, in the scratch arena; of a file that is too large only so many that sk_document_parse sees it. NULL
 * after an error. */
const void *sk_document_read(const struct sk_document *document, struct sk_arena *scratch, size_t *size);

/* Parses the one document in the text. NULL after errors (all that do not stop libyaml are collected). The nodes are in
 * the scratch arena. */
const struct sk_node *sk_document_parse(const struct sk_document *document, struct sk_arena *scratch, const void *text,
					size_t size);

struct sk_place sk_node_place(const struct sk_document *document, const struct sk_node *node);

#endif
