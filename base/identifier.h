/* Identifiers of C out of names that are any text, one to one: what tasks and tensors are called in symbols and macros.
 */
#ifndef SK_IDENTIFIER_H
#define SK_IDENTIFIER_H

#include "base/arena.h"

/* Letters, digits and underscores of the name stay. _xHH, with two upper-case hexadecimal digits, stands for each other
 * byte, for a digit at the beginning, and for an underscore in front of what would look like this; so different names
 * have different identifiers. The name itself, or in the arena. */
const char *sk_identifier(struct sk_arena *arena, const char *name);

#endif
