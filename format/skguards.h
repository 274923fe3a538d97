/* Undefined symbols that are used otherwise than by calls (sklink --unresolved-symbols=trap). Each has a guard: an
 * address in the middle of some pages that no segment has, between the package's code and its data. All numbers are
 * little-endian. */
#ifndef SK_GUARDS_H
#define SK_GUARDS_H

#include <stdint.h>

enum {
	SK_GUARDS_VERSION = 1,
	SK_GUARD_SIZE = 65536, /* bytes of a guard, with the symbol in its middle: code also reads before it */
};

/* A package's list of guards, at the dynamic symbol sk_guards, aligned to 8. */
struct sk_guards {
	uint32_t version;
	uint32_t count;
	int64_t first; /* the place of the first guard, after which the others follow: the distance from this struct */
	int32_t names[]; /* of guards: the place of a string in .sk.traps, as the distance from this struct */
};

#endif
