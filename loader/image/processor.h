/* Whether this processor can run a package, asked before the first of its instructions, which may be a constructor's.
 */
#ifndef SK_LOADER_PROCESSOR_H
#define SK_LOADER_PROCESSOR_H

#include "loader/image/image.h"

/* The image is mapped and relocated; nothing of the plan has been checked. A package without a plan needs nothing.
 * SKRT_UNSUPPORTED: it needs what the processor does not have; SKRT_BAD_PACKAGE: so it says, but its plan is damaged.
 */
enum skrt_status sk_processor_check(const char *path, const struct sk_image *image);

#endif
