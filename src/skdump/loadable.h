/* Whether libskrt would load a package. The proof reads a package through its section headers, the loader through its
 * segments and dynamic section: both must find the same. */
#ifndef SK_LOADABLE_H
#define SK_LOADABLE_H

#include "src/skdump/package-file.h"

/* False after an error in the sink. Nothing of the package is run. Objects of sklink -r are not loaded: true. */
bool sk_loadable_check(struct sk_diag *diag, const struct sk_package_file *file);

#endif
