/* YAML as a tree of nodes with their places, and the readers of their values. */
#ifndef SK_BASE_DOCUMENT_H
#define SK_BASE_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

struct sk_arena;

/* ==== document.c ====
 *
 * A YAML document as a tree: what libyaml's events say, minus all that our formats have no use for. Comes in: a file or
 * a text. Goes out: nodes with their places. Nobody behind this file sees anchors, tags, several documents, duplicate
 * keys, deep nesting or characters that are no text. What a scalar means (number, name, null) is for the reader to say
 * (document.h), and what the document is about nobody knows here. */

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

/* ==== fields.c ====
 *
 * Reading a document's nodes into fields of what it describes: what is expected of a value is said once, here, and so
 * are the words of the errors. Every reader returns false after it has put an error into the sink. `what` and `name`
 * say in messages whose value it is: "the role of tensor", "x"; name may be NULL. */

/* One key that a map may have, and who reads its value into the map's target. */
struct sk_field {
	const char *name; /* NULL, the last one: not a key, but what to say of unknown ones */
	bool required;
	void (*read)(const struct sk_document *document, void *target, const struct sk_node *value);
	size_t keep; /* without read: offset of a const struct sk_node * in the target, which gets the value's node */
	/* "; it is …", if the unknown key means something elsewhere; or "". */
	const char *(*explain)(const struct sk_document *document, const struct sk_node *key);
};

/* Reads a map with known keys; unknown and missing ones are errors. False if one of the required keys is missing or the
 * node is no map; errors in values are the readers' own. */
bool sk_read_fields(const struct sk_document *document, const struct sk_node *node, const char *what, const char *name,
		    const struct sk_field *fields, size_t count, void *target);

/* True if the node is a map (a list), else an error. */
bool sk_expect_map(const struct sk_document *document, const struct sk_node *node, const char *what, const char *name);
bool sk_expect_list(const struct sk_document *document, const struct sk_node *node, const char *what, const char *name);

/* True if the node is what the reader of that name below reads, else an error. */
bool sk_expect_text(const struct sk_document *document, const struct sk_node *node, const char *what, const char *name);
bool sk_expect_original(const struct sk_document *document, const struct sk_node *node, const char *what,
			const char *name);
bool sk_expect_identifier(const struct sk_document *document, const struct sk_node *node, const char *what,
			  const char *name);

/* The items of a list, or the node itself where one value may stand without brackets; then ->next. *count may be NULL.
 */
const struct sk_node *sk_node_items(const struct sk_node *node, size_t *count);

/* null as YAML spells it (null, Null, NULL, ~), without quotes. */
bool sk_node_is_null(const struct sk_node *node);

/* A text that is not empty: a path, a symbol, options. */
bool sk_read_text(const struct sk_document *document, const struct sk_node *node, const char *what, const char *name,
		  struct sk_name *result);

/* A name of something: at most 255 bytes, no blanks, no control characters, no '='. */
bool sk_read_name(const struct sk_document *document, const struct sk_node *node, const char *what, const char *name,
		  struct sk_name *result);

/* A name that comes from a model: at most 255 bytes of UTF-8, no control characters. */
bool sk_read_original(const struct sk_document *document, const struct sk_node *node, const char *what,
		      const char *name, struct sk_name *result);

/* A C identifier. */
bool sk_read_identifier(const struct sk_document *document, const struct sk_node *node, const char *what,
			const char *name, struct sk_name *result);

/* A decimal integer within [low, high]. */
bool sk_read_integer(const struct sk_document *document, const struct sk_node *node, const char *what, const char *name,
		     uint64_t low, uint64_t high, uint64_t *value);

/* One of the choices, as its index. */
bool sk_read_choice(const struct sk_document *document, const struct sk_node *node, const char *what, const char *name,
		    const char *const *choices, size_t count, size_t *index);

/* One name or a list of them, each read by one of the functions above. In the arena. */
typedef bool sk_name_reader(const struct sk_document *document, const struct sk_node *node, const char *what,
			    const char *name, struct sk_name *result);
struct sk_name *sk_read_names(const struct sk_document *document, const struct sk_node *node, const char *what,
			      sk_name_reader *read, size_t *count);

#endif
