/* Texts that programs read, and files that they write: these first under temporary names (unfinished.h), so that a
 * program that fails can leave all as it was. What is no regular file, such as a terminal or a pipe, is written at
 * once. */
#ifndef SK_FILE_H
#define SK_FILE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/diag.h"

/* The whole text of the file, which is a WHAT, in the sink's arena; NULL after an error: it cannot be read, is too
 * large or has a NUL. */
char *sk_file_read_text(struct sk_diag *diag, const char *path, const char *what);

/* A part of a file. What no part covers is zeros, in a regular file a hole. */
struct sk_file_part {
	uint64_t offset;
	const void *bytes;
	uint64_t size;
};

/* A file without a name that has parts of another one already. It is open for reading and writing. */
struct sk_file_draft {
	int descriptor;
	const uint8_t *bytes; /* where it is mapped, from its start; NULL: there is none */
	uint64_t start, end; /* only between these there is anything */
};

/* Whether the bytes are in what the draft has. */
bool sk_file_is_drafted(const struct sk_file_draft *draft, const void *bytes);

/* Writes what sk_files_finish makes the file, under a name of its own. The mode is narrowed by the umask. If all parts
 * that are in the draft are at their offsets there, it becomes the file, if it can: on another file system they are
 * copied, as with NULL. False after an error in the sink. */
bool sk_file_write(struct sk_diag *diag, const char *path, mode_t mode, const struct sk_file_part *parts, size_t count,
		   const struct sk_file_draft *draft);

/* The same for a text; "-" is standard output, and NULL nowhere. */
bool sk_file_write_text(struct sk_diag *diag, const char *path, const void *text, size_t size);

/* All files that have been written replace those of their names, or none does: false after an error in the sink. */
bool sk_files_finish(struct sk_diag *diag);

/* Writes and finishes one file, whatever becomes of the others. */
bool sk_file_replace(struct sk_diag *diag, const char *path, mode_t mode, const struct sk_file_part *parts,
		     size_t count);

/* True if both paths are the same name in the same folder, so that writing one file replaces the other. What is no
 * regular file takes both. */
bool sk_file_same(const char *first, const char *second);

#endif
