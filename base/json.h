/* Text for files in JSON (RFC 8259). */
#ifndef SK_JSON_H
#define SK_JSON_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"

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

#endif
