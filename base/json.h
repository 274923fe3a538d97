/* JSON: writing texts, and checking them. */
#ifndef SK_BASE_JSON_H
#define SK_BASE_JSON_H

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

/* Print a member of an object, "name": "text" or null, or "name": 7, after the separator `comma`. */
void sk_json_put_text(struct sk_arena *arena, FILE *stream, const char *comma, const char *name, const char *text);
void sk_json_put_number(FILE *stream, const char *comma, const char *name, uint64_t number);

/* If the bytes are JSON, turn pairs of escapes for one character beyond U+FFFF ("\\ud83d\\ude00") into one escape as in
 * YAML ("\\U0001f600"). Blanks after the string keep all other positions. Other texts are unchanged. */
void sk_json_join_surrogates(char *text, size_t size);

/* ==== json-check.c ====
 *
 * A check whether a text is JSON (RFC 8259), without storing anything. */

/* Return the position at which the text ceases to be one value in JSON, in UTF-8, with blanks around it; NULL: it is
 * valid. Lists and objects may be nested 64 deep. */
const char *sk_json_find_error(const char *text);

#endif
