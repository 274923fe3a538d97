/* Patterns of names, as fnmatch(3) has them: `*`, `?`, `[a-z]`, `[!a-z]`, and `\` in front of one of these. */
#ifndef SK_PATTERN_H
#define SK_PATTERN_H

#include <stdbool.h>

/* True if the pattern is the whole name. It takes no more than length times length steps, of which those at a set take
 * its length. */
bool sk_pattern_matches(const char *pattern, const char *name);

#endif
