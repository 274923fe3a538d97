/* Modules on a device: what is made of a mapped package, and its constructors and destructors. */
#ifndef SK_LOADER_MODULES_H
#define SK_LOADER_MODULES_H

#include <stdint.h>

#include "loader/image/image.h"
#include "loader/skrt.h"

/* Makes a module of an image and its plan of `size` bytes at `plan` (NULL: not found), which is checked. Path, a copy
 * that free() can take, and image become the module's, also on failure: then both are freed. */
enum skrt_status sk_module_make(struct skrt_device *device, char *path, const struct sk_image *image, const void *plan,
				uint64_t size, struct skrt_module **result);

/* Runs the package's constructors, unless that has been done: before anything else of it runs. If they fail, so does
 * every later call. construct.c. */
enum skrt_status sk_module_construct(struct skrt_module *module);

/* Runs the destructors, if the constructors have run. */
void sk_module_destruct(struct skrt_module *module);

#endif
