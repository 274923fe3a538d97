/* Text for files in JSON (RFC 8259). */
#ifndef SK_JSON_H
#define SK_JSON_H

#include "arena.h"

/* The text as a JSON string with its quotes, in the arena. Names from files are any bytes; those that are no characters
 * of UTF-8 become U+FFFD. */
const char *sk_json_string(struct sk_arena *arena, const char *text);

#endif
