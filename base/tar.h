/* Archives in the format that tar reads: the ustar format of POSIX.1, with extended headers for what does not fit into
 * it. The same files give the same archive: no times, no owners. */
#ifndef SK_TAR_H
#define SK_TAR_H

#include "base/file.h"

/* An archive as the parts of a file, for sk_file_replace. */
struct sk_tar {
	struct sk_arena *arena;
	SK_ARRAY(struct sk_file_part) parts;
	uint64_t size; /* so far */
};

/* The bytes must live until the archive has been written. */
void sk_tar_add_file(struct sk_tar *tar, const char *path, const void *bytes, uint64_t size);

void sk_tar_add_folder(struct sk_tar *tar, const char *path);

/* Nothing is added behind. */
void sk_tar_finish(struct sk_tar *tar);

#endif
