/* JSON: texts of it, and a check of such a text. */
#ifndef SK_BASE_JSON_H
#define SK_BASE_JSON_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct sk_arena;

/* ==== json.c ====
 *
 * Text for files in JSON (RFC 8259). */

/* The text as a JSON string with its quotes, in the arena. Names from files are any bytes; those that are no characters
 * of UTF-8 become U+FFFD. */
const char *sk_json_string(struct sk_arena *arena, const char *text);

/* Members of objects: "name": "text" or null, and "name": 7, behind what separates them from what is in front. */
void sk_json_put_text(struct sk_arena *arena, FILE *stream, const char *comma, const char *name, const char *text);
void sk_json_put_number(FILE *stream, const char *comma, const char *name, uint64_t number);

/* If the bytes are a text in JSON, pairs of escapes that stand for one character beyond U+FFFF ("\\ud83d\\ude00")
 * become one escape as YAML has it ("\\U0001f600"), and blanks behind the string make up for its length: all else keeps
 * its place. Any other text stays as it is. */
void sk_json_join_surrogates(char *text, size_t size);

/* ==== json-check.c ====
 *
 * Whether a text is JSON (RFC 8259), of which nothing is kept. */

/* Where the text stops being one value in JSON, in UTF-8, with blanks around it; NULL: nowhere. Lists and objects lie
 * at most 64 deep in each other. */
const char *sk_json_find_error(const char *text);

#endif
