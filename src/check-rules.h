/* --check-rules: whether what takes a pattern's place computes the same. */
#ifndef SK_CHECK_RULES_H
#define SK_CHECK_RULES_H

#include "src/outputs/outputs.h"

/* Makes of each rule in the file, and of each of its variants, the pattern and its replacement, computes both from
 * random values with the kernels of the link, and compares. All differences are errors; rules that cannot be checked
 * are warned of. Prints how many have been. */
void sk_check_rules(struct sk_link *link, const char *file);

#endif
