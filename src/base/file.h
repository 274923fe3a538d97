/* Files that programs write: to a temporary file beside the target, which is then renamed. Whoever runs or maps the old
 * file keeps it, nobody ever sees half of the new one, and nothing is left behind on failure. */
#ifndef SK_FILE_H
#define SK_FILE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/diag.h"

/* A part of a file. What no part covers stays a hole of zeros. */
struct sk_file_part {
	uint64_t offset;
	const void *bytes;
	uint64_t size;
};

/* Creates the regular file or replaces it; the mode is narrowed by the umask. False after an error in the sink. */
bool sk_file_replace(struct sk_diag *diag, const char *path, mode_t mode, const struct sk_file_part *parts,
		     size_t count);

/* True if both paths are the same name in the same folder, so that writing one file replaces the other. */
bool sk_file_same(const char *first, const char *second);

#endif
