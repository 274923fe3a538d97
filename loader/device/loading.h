/* From a mapped package to a module on a device. */
#ifndef SK_LOADER_LOADING_H
#define SK_LOADER_LOADING_H

#include <stdint.h>

#include "loader/image/image.h"
#include "loader/skrt.h"

/* Makes a module of an image and its plan of `size` bytes at `plan` (NULL: not found), which is checked. Path, a copy
 * that free() can take, and image become the module's, also on failure: then both are freed. */
enum skrt_status sk_module_make(struct skrt_device *device, char *path, const struct sk_image *image, const void *plan,
				uint64_t size, struct skrt_module **result);

#endif
