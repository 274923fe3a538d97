/* Files: texts that are read, files that are mapped, files and archives that are written whole or not at all, temporary
 * files. */
#ifndef SK_BASE_FILE_H
#define SK_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/arena.h"

struct sk_arena;
struct sk_diag;

/* ==== file.c ====
 *
 * Texts that programs read, and files that they write. Files are first written under temporary names (below), so that a
 * failing program can leave all files unchanged. Other destinations than regular files, such as a terminal or a pipe,
 * are written at once. */

/* Return the whole text of the file, in the sink's arena. `kind` names its kind in messages. NULL after an error: it
 * cannot be read, is too large or has a NUL. */
char *sk_file_read_text(struct sk_diag *diag, const char *path, const char *kind);

/* A part of a file. Gaps between parts are zeros, in a regular file holes. */
struct sk_file_part {
	uint64_t offset;
	const void *bytes;
	uint64_t size;
};

/* A file without a name that already has parts of another file. It is open for reading and writing. */
struct sk_file_draft {
	int descriptor;
	const uint8_t *bytes; /* its mapping, from its start; NULL: none */
	uint64_t start, end; /* all its data is between these */
};

/* True if the bytes are in the draft's mapping. */
bool sk_file_is_drafted(const struct sk_file_draft *draft, const void *bytes);

/* Write a file under a temporary name; sk_files_finish renames it. The mode is restricted by the umask. If all parts in
 * the draft are at their final offsets, the draft becomes the file, if possible. On another file system they are
 * copied, as with NULL. False after an error in the sink. */
bool sk_file_write(struct sk_diag *diag, const char *path, mode_t mode, const struct sk_file_part *parts, size_t count,
		   const struct sk_file_draft *draft);

/* The same for a text; "-" is standard output, and NULL is ignored. */
bool sk_file_write_text(struct sk_diag *diag, const char *path, const void *text, size_t size);

/* Rename all written files to their final names, or none: false after an error in the sink. */
bool sk_files_finish(struct sk_diag *diag);

/* Write and finish one file, independently of others. */
bool sk_file_replace(struct sk_diag *diag, const char *path, mode_t mode, const struct sk_file_part *parts,
		     size_t count);

/* True if both paths are the same name in the same folder, so that writing one file replaces the other. Files that are
 * not regular can take both. */
bool sk_file_same(const char *first, const char *second);

/* ==== mapped.c ====
 *
 * Mapped input files. Mapping costs nothing for parts that are not read, such as most of a library. If a file is
 * truncated meanwhile, however, accesses to the lost bytes raise SIGBUS. From the first mapping on, that ends the
 * program with status 1 and an error that names the file, and unfinished files are removed (below). */

/* Install the handler of SIGBUS, as the first mapping would. A program with libskrt calls this before it opens a
 * device: the system must call libskrt's handler first. That handler treats faults of kernels, and passes on all
 * others. */
void sk_mapped_watch(void);

/* Map the first `size` bytes of a regular file, at least one. NULL with errno. A file that is mapped again, unchanged,
 * has the same bytes, until it has been unmapped as often. Any thread may call both. */
const void *sk_map_file(int descriptor, size_t size, const char *path);
void sk_unmap_file(const void *bytes, size_t size);

/* Return the path of a mapped file that has changed since it was mapped, or NULL. A file that was replaced by another
 * one of its name has not changed. The path is valid as long as the mapping. */
const char *sk_mapped_changed(void);

/* To be called after a system call has failed to access these bytes (EFAULT). If they are in a mapped file, end the
 * program. */
void sk_mapped_touch(const void *bytes, size_t size);

/* Drop the pages of mapped files from this process's memory; they are read again on access. */
void sk_mapped_let_go(void);

/* The same for one file. */
void sk_mapped_let_go_of(const void *bytes, size_t size);

/* ==== tar.c ====
 *
 * Archives in the format of tar: the ustar format of POSIX.1, with extended headers for values that do not fit. The
 * same files give the same archive: no times, no owners. */

/* An archive as the parts of a file, for sk_file_replace. */
struct sk_tar {
	struct sk_arena *arena;
	SK_ARRAY(struct sk_file_part) parts;
	uint64_t size; /* so far */
};

/* Add a file. The bytes must live until the archive has been written. */
void sk_tar_add_file(struct sk_tar *tar, const char *path, const void *bytes, uint64_t size);

void sk_tar_add_folder(struct sk_tar *tar, const char *path);

/* End the archive; no files are added afterwards. */
void sk_tar_finish(struct sk_tar *tar);

/* ==== temporary.c ====
 *
 * Temporary files: a file is written beside the one that it is to replace, on the same file system, so that it can be
 * renamed when it is complete. These functions keep no state and install no handlers, so that libskrt can use them in
 * other programs. Interrupted programs of sklink remove their files by the functions of unfinished.c. */

/* Create a new file beside path, with the mode that the umask gives. Return a descriptor to write to, and its name,
 * which the caller frees; -1 with errno. */
int sk_temporary_create(const char *path, mode_t mode, char **name);

/* Give a temporary name to a file without a name (O_TMPFILE); false with errno if that is not possible. */
bool sk_temporary_link(const char *path, int descriptor, char **name);

/* True for files that are not regular, such as a terminal or a pipe. They are written in place, and never replaced. The
 * same holds for a path like /dev/stdout, which names a descriptor of the process, for any file. */
bool sk_is_special(const char *path);

/* True if both paths lead to the same regular file, by any names: a program that writes the one must not read the
 * other. */
bool sk_is_same(const char *first, const char *second);

/* Open a special file, after flushing standard output. -1 with errno. */
int sk_special_open(const char *path);

/* Close a written stream. False with errno: not all data could be written. */
bool sk_close_written(FILE *stream);

/* ==== unfinished.c ====
 *
 * Files that are being written: each has a temporary name beside the file that it is to replace, until it is complete
 * and renamed. Programs that run or map the old file keep it, and nobody sees an incomplete new one. If a signal ends
 * the program, unfinished files are removed. Needs only the C library, so that skrun can also use it. */

/* Create a new file beside path, with the mode that the umask gives. The first call installs handlers: signals that end
 * programs remove unfinished files, and a file that exceeds the limit of the process gives a write error (EFBIG)
 * instead of a signal. Return a descriptor to write to, which the caller closes; -1 with errno. */
int sk_unfinished_create(const char *path, mode_t mode);

/* The same for a file without a name (O_TMPFILE), which the caller continues to write to. False with errno. */
bool sk_unfinished_link(const char *path, int descriptor);

/* Make a folder that is removed again together with its files. False with errno. */
bool sk_unfinished_make_folder(const char *path);

/* Return the paths of unfinished files and folders one by one, from *at = 0 on; NULL after the last one. */
const char *sk_unfinished_next(int *at);

/* Rename the complete file to path. False with errno: this failed, and the file is removed. */
bool sk_unfinished_finish(const char *path);

/* Remove the unfinished file. */
void sk_unfinished_remove(const char *path);

/* The same with a stream, and also for special files, which are written in place. NULL with errno; false with errno:
 * not all data could be written, and a regular file has been removed. Closes the stream. */
FILE *sk_unfinished_open(const char *path);
bool sk_unfinished_close(FILE *stream, const char *path);

/* Finish or remove all files, in the order in which they were created. If one cannot be renamed, none is left: false,
 * with errno and its path, which the caller frees. */
bool sk_unfinished_finish_all(char **path);
void sk_unfinished_remove_all(void);

/* Remove all files, for a program that is about to end; signal handlers may call it. */
void sk_unfinished_unlink(void);

#endif
