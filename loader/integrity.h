/* Compares a package with its seal, before anything in it has been changed, believed or run. */
#ifndef SK_LOADER_INTEGRITY_H
#define SK_LOADER_INTEGRITY_H

#include "loader/image.h"

/* For sk_source: the image is mapped, its symbols can be found. SKRT_BAD_PACKAGE if it does not fit its seal, or the
 * seal not the source's public key. */
enum skrt_status sk_integrity_check(const struct sk_source *source, const struct sk_image *image, int file,
				    uint64_t file_size);

#endif
