/* Compares a package with its seal, before anything in it has been changed, believed or run. */
#ifndef SK_LOADER_INTEGRITY_H
#define SK_LOADER_INTEGRITY_H

#include "loader/image/image.h"

/* For sk_source: the image is mapped, its symbols can be found. SKRT_BAD_PACKAGE if it is not laid out as the linker
 * does it, if it does not fit its seal, or the seal not the source's public key.
 *
 * Why a seal over the bytes of the segments says what they are used for: the headers that were obeyed are themselves
 * among these bytes. So from the bytes follow their order, where each goes in memory and with which protection, and
 * where the dynamic section and all its tables are; only where they stand in the file is left open, since strip moves
 * them. */
enum skrt_status sk_integrity_check(const struct sk_source *source, const struct sk_image *image,
				    const struct sk_image_file *file);

#endif
