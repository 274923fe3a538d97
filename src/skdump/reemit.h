/* The second half of skdump --verify: that the code of a package is what its plan says. Every dispatcher is made again
 * from the plan and compared with the bytes in the file, so what is shown, what has been proved and what runs cannot
 * differ. */
#ifndef SK_REEMIT_H
#define SK_REEMIT_H

#include "src/skdump/package-file.h"

/* Compares all entries, and the dynamic symbols that name them; false after errors in the sink. */
bool sk_reemit_compare(struct sk_diag *diag, const struct sk_package_file *file);

#endif
