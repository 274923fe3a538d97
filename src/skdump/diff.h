/* skdump --diff: what is different in two packages' plans. */
#ifndef SK_DIFF_H
#define SK_DIFF_H

#include <stdio.h>

#include "src/skdump/package-file.h"

/* Prints a line for each binding, launch, kernel and task that only one of them has ("-" the first, "+" the second),
 * and for each of their properties that differs. True if there was any. */
bool sk_diff_print(struct sk_arena *arena, const struct sk_package_file *first, const struct sk_package_file *second,
		   FILE *stream);

#endif
