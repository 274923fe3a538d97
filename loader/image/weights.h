/* Constants in a file of their own: from a mapped package to the file beside it, mapped where the package expects it.
 */
#ifndef SK_LOADER_WEIGHTS_H
#define SK_LOADER_WEIGHTS_H

#include "loader/image/image.h"

/* Maps the file, or reads it, if the source is to be copied, into image->weights, which is reserved. Nothing to do if
 * the package has none. Checked are the file's header, which says whose constants it has, and its size; their bytes
 * only sk_weights_check looks at. SKRT_CANNOT_READ: the file is not there, or cannot be read; SKRT_BAD_PACKAGE: it is
 * none, is another package's, or is cut off, or the package contradicts itself. */
enum skrt_status sk_weights_open(const struct sk_source *source, uint64_t page, const struct sk_image *image);

/* Whether the bytes are those that were linked. */
enum skrt_status sk_weights_check(const struct sk_source *source, const struct sk_image *image);

#endif
