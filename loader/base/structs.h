/* The structs of skrt.h, which begin with their size: of one that the caller has made, the library may know fewer
 * fields or more. All of them are copied here, `known` being the size of the library's own. Names are those of the
 * struct. */
#ifndef SK_LOADER_STRUCTS_H
#define SK_LOADER_STRUCTS_H

#include "loader/skrt.h"

/* Reads the caller's struct into `own`, whose size is `known` afterwards; fields that the caller's lacks are 0.
 * SKRT_INVALID_ARGUMENT: the size is impossible, or the caller has set a field that the library does not know. */
enum skrt_status sk_struct_read(const char *name, const void *theirs, void *own, size_t known);

/* Fills the caller's struct from `own`, and sets its size to the bytes that have been filled. Errors as above; then it
 * is as it was. */
enum skrt_status sk_struct_write(const char *name, const void *own, size_t known, void *theirs);

#endif
