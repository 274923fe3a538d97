/* The name that a misspelt one was meant to be. Needs nothing but the C library, so that the runtime's program can use
 * it, too. */
#ifndef SK_NEAREST_H
#define SK_NEAREST_H

#include <stddef.h>

/* The candidate nearest to the name, the first of equally near ones; NULL if none is near: at most a third of the
 * name's letters differ. */
const char *sk_nearest_name(const char *name, const char *const *candidates, size_t count);

#endif
