/* JSON: writing texts and documents, and checking texts. */
#ifndef SK_BASE_JSON_H
#define SK_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct sk_arena;

/* ==== json.c ====
 *
 * Text for files in JSON (RFC 8259). */

/* Return the text as a JSON string with its quotes, in the arena. Names from files may have any bytes; those that are
 * not UTF-8 become U+FFFD. */
const char *sk_json_string(struct sk_arena *arena, const char *text);

/* If the bytes are JSON, turn pairs of escapes for one character beyond U+FFFF ("\\ud83d\\ude00") into one escape as in
 * YAML ("\\U0001f600"). Blanks after the string keep all other positions. Other texts are unchanged. */
void sk_json_join_surrogates(char *text, size_t size);

/* ==== json-writer.c ====
 *
 * A writer of JSON that keeps the commas, the ends and the lines, and escapes each string and key as sk_json_string.
 * The caller gives the stream and the form, and afterwards asks the stream for errors. The writer needs nothing but the
 * C library, so that the runtime can also use it. */

enum sk_json_layout {
	SK_JSON_LINE, /* all items in one line */
	SK_JSON_LINES, /* each item on a line of its own, and the end also */
	SK_JSON_LINES_BETWEEN, /* a new line after each comma, and no other */
};

enum { SK_JSON_DEEPEST = 8 };

struct sk_json {
	FILE *stream;
	unsigned indent; /* spaces at the start of a line for each SK_JSON_LINES around it */
	bool compact; /* no spaces after commas and colons */

	/* The writer's own, which begins as 0. */
	unsigned depth; /* objects and lists that have begun and not ended */
	unsigned lines; /* SK_JSON_LINES among them */
	struct sk_json_level {
		char end; /* the closing bracket */
		enum sk_json_layout layout;
		bool filled; /* it has an item */
	} levels[SK_JSON_DEEPEST];
};

/* The key of each value is its name in the object around it; NULL in a list, and for the whole text. */
void sk_json_begin_object(struct sk_json *json, const char *key, enum sk_json_layout layout);
void sk_json_begin_list(struct sk_json *json, const char *key, enum sk_json_layout layout);

/* End the object or list that has begun last. */
void sk_json_end(struct sk_json *json);

/* The text is any bytes; NULL is null. */
void sk_json_put_string(struct sk_json *json, const char *key, const char *text);

void sk_json_put_number(struct sk_json *json, const char *key, uint64_t number);
void sk_json_put_bool(struct sk_json *json, const char *key, bool value);

/* Return the stream, to which the caller writes the value next: a number in another form, or a text that is JSON
 * already. */
FILE *sk_json_put_value(struct sk_json *json, const char *key);

/* ==== json-check.c ====
 *
 * A check whether a text is JSON (RFC 8259), without storing anything. */

/* Return the position at which the text ceases to be one value in JSON, in UTF-8, with blanks around it; NULL: it is
 * valid. Lists and objects may be nested 64 deep. */
const char *sk_json_find_error(const char *text);

#endif
