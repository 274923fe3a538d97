/* Reading a document's nodes into fields of what it describes: what is expected of a value is said once, here, and so
 * are the words of the errors. Every reader returns false after it has put an error into the sink. `what` and `name`
 * say in messages whose value it is: "the role of tensor", "x"; name may be NULL. */
#ifndef SK_FIELDS_H
#define SK_FIELDS_H

#include "base/document.h"

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
