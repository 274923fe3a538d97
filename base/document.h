/* YAML as a tree of nodes with places, and the readers of their values. */
#ifndef SK_BASE_DOCUMENT_H
#define SK_BASE_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

struct sk_arena;

/* ==== document.c ====
 *
 * A YAML document as a tree: libyaml's events, without features that the formats here do not use. In: a file or a text.
 * Out: nodes with places. Users of the tree never see anchors, tags, several documents, duplicate keys, deep nesting or
 * characters that are not text. Readers of values (below) decide on the meaning of a scalar (number, name, null). */

enum {
	SK_DOCUMENT_MAX_BYTES = 64 << 20,
	SK_DOCUMENT_MAX_NODES = 4 << 20,
	SK_DOCUMENT_MAX_DEPTH = 32, /* libyaml needs 14 s for 100 KB of '[' */
};

/* A document. */
struct sk_document {
	struct sk_arena *arena; /* for data that outlives the nodes */
	struct sk_diag *diag;
	const char *file; /* for messages: its path, */
	const char *kind; /* and its kind: "the manifest" */
	void *owner; /* for the readers of its fields: their destination */
	struct sk_arena *texts; /* for the texts of nodes, if different: readers copy texts that they return */
};

enum sk_node_kind { SK_NODE_SCALAR, SK_NODE_LIST, SK_NODE_MAP };

/* There are as many nodes as words in the text, so they are small. They are in the order of the text: a list is
 * followed by its first item, a map by its first key, a key by its value. */
struct sk_node {
	uint32_t line; /* from 1; of the opening quote or bracket, if there is one */
	uint32_t column : 28; /* from 1 */
	enum sk_node_kind kind : 2;
	bool plain : 1; /* SCALAR: written without quotes, so that null can mean null */
	bool in_line : 1; /* SCALAR: its characters are adjacent in the file, without escapes */
	union {
		uint32_t length; /* SCALAR: bytes of its text */
		uint32_t count; /* LIST, MAP: items or keys */
	};
	uint32_t next; /* the distance in nodes to the next item or key; 0: none */
	const char *text; /* SCALAR: NUL-terminated UTF-8, without NUL inside; others: "" */
};

/* Return the first item of a list or key of a map; NULL after the last one. Scalars have none. */
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

/* Read the file's bytes into the scratch arena. Of a file that is too large, only enough is read for sk_document_parse
 * to detect it. NULL after an error. */
const void *sk_document_read(const struct sk_document *document, struct sk_arena *scratch, size_t *size);

/* Parse the one document in the text. NULL after errors (all that do not stop libyaml are reported). The nodes are in
 * the scratch arena. */
const struct sk_node *sk_document_parse(const struct sk_document *document, struct sk_arena *scratch, const void *text,
					size_t size);

struct sk_place sk_node_place(const struct sk_document *document, const struct sk_node *node);

/* ==== fields.c ====
 *
 * Readers from a document's nodes to the fields of structs. They define the accepted values, and the words of error
 * messages, in one place. Every reader returns false after reporting an error. `label` and `name` identify the value in
 * messages: "the role of tensor", "x"; name may be NULL. */

/* A key that a map may have, and the reader of its value into the map's target. */
struct sk_field {
	const char *name; /* NULL in the last one, which has the explanation of unknown keys */
	bool required;
	void (*read)(const struct sk_document *document, void *target, const struct sk_node *value);
	size_t keep; /* without `read`: offset of a const struct sk_node * in the target, which gets the value's node */
	/* Return "; it is …" if the unknown key has a meaning elsewhere; otherwise "". */
	const char *(*explain)(const struct sk_document *document, const struct sk_node *key);
};

/* Read a map with known keys, at most 64; unknown and missing ones are errors. False if a required key is missing or
 * the node is not a map; readers report errors in values. */
bool sk_read_fields(const struct sk_document *document, const struct sk_node *node, const char *label, const char *name,
		    const struct sk_field *fields, size_t count, void *target);

/* True if the node is a map (a list), otherwise an error. */
bool sk_expect_map(const struct sk_document *document, const struct sk_node *node, const char *label, const char *name);
bool sk_expect_list(const struct sk_document *document, const struct sk_node *node, const char *label,
		    const char *name);

/* True if the node is of the kind that the reader of that name below accepts, otherwise an error. */
bool sk_expect_text(const struct sk_document *document, const struct sk_node *node, const char *label,
		    const char *name);
bool sk_expect_original(const struct sk_document *document, const struct sk_node *node, const char *label,
			const char *name);
bool sk_expect_identifier(const struct sk_document *document, const struct sk_node *node, const char *label,
			  const char *name);

/* Return the first item of a list, or the node itself if it is a single value without brackets; continue with
 * sk_node_next. *count may be NULL. */
const struct sk_node *sk_node_items(const struct sk_node *node, size_t *count);

/* True for null as in YAML (null, Null, NULL, ~), without quotes. */
bool sk_node_is_null(const struct sk_node *node);

/* Read a text that is not empty: a path, a symbol, options. */
bool sk_read_text(const struct sk_document *document, const struct sk_node *node, const char *label, const char *name,
		  struct sk_name *result);

/* Read a name: at most 255 bytes, no blanks, no control characters, no '='. */
bool sk_read_name(const struct sk_document *document, const struct sk_node *node, const char *label, const char *name,
		  struct sk_name *result);

/* Read a name from a model: at most 255 bytes of UTF-8, no control characters. */
bool sk_read_original(const struct sk_document *document, const struct sk_node *node, const char *label,
		      const char *name, struct sk_name *result);

/* Read a C identifier. */
bool sk_read_identifier(const struct sk_document *document, const struct sk_node *node, const char *label,
			const char *name, struct sk_name *result);

/* Read a decimal integer within [low, high]. */
bool sk_read_integer(const struct sk_document *document, const struct sk_node *node, const char *label,
		     const char *name, uint64_t low, uint64_t high, uint64_t *value);

/* Read one of the choices, as its index. */
bool sk_read_choice(const struct sk_document *document, const struct sk_node *node, const char *label, const char *name,
		    const char *const *choices, size_t count, size_t *index);

/* Read one name or a list of names, each with one of the functions above, into the arena. */
typedef bool sk_name_reader(const struct sk_document *document, const struct sk_node *node, const char *label,
			    const char *name, struct sk_name *result);
struct sk_name *sk_read_names(const struct sk_document *document, const struct sk_node *node, const char *label,
			      sk_name_reader *read, size_t *count);

#endif
