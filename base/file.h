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
 * Texts that programs read, and files that they write: these first under temporary names (file.h), so that a
 * program that fails can leave all as it was. What is no regular file, such as a terminal or a pipe, is written at
 * once. */

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

/* ==== mapped.c ====
 *
 * Input files that are mapped. Mapping costs nothing for what is not looked at, as most of a library; but a file that
 * is cut off meanwhile has no bytes any more where there were some, and touching them is a SIGBUS. From the first
 * mapping on that ends the program with an error that names the file, and status 1, without what is unfinished
 * (file.h). */

/* Installs the handler of SIGBUS, which the first mapping does otherwise. A program with libskrt in it calls this
 * before it opens a device: libskrt's handler, which puts right what kernels leave, must be the one that the system
 * calls, and passes on all that is not a kernel's. */
void sk_mapped_watch(void);

/* The first size bytes of a regular file, more than none. NULL with errno. Any thread may call it. */
const void *sk_map_file(int descriptor, size_t size, const char *path);
void sk_unmap_file(const void *bytes, size_t size);

/* The path of a mapped file that is not as it was when it was mapped, or NULL. A file that has been replaced by another
 * one of its name has not changed. What is returned lives as long as the mapping. */
const char *sk_mapped_changed(void);

/* A system call has found (EFAULT) that not all of these bytes are there: if they are a mapped file's, ends the
 * program. */
void sk_mapped_touch(const void *bytes, size_t size);

/* What has been read of mapped files takes no memory of this process any more, until it is read again. */
void sk_mapped_let_go(void);

/* The same of one file. */
void sk_mapped_let_go_of(const void *bytes, size_t size);

/* ==== tar.c ====
 *
 * Archives in the format that tar reads: the ustar format of POSIX.1, with extended headers for what does not fit into
 * it. The same files give the same archive: no times, no owners. */

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

/* ==== temporary.c ====
 *
 * Temporary files: a file that is written beside the one that it is to replace, on the same file system, so that it can
 * be renamed when it is complete. Nothing here remembers or handles anything, so that libskrt can use it in programs of
 * others; what removes the files of an interrupted program of ours is file.h. */

/* Creates a new file beside path, with the mode that the umask gives. Returns a descriptor to write to, and its name,
 * which the caller frees; -1 with errno. */
int sk_temporary_create(const char *path, mode_t mode, char **name);

/* The same for a file without a name (O_TMPFILE), which gets one: false with errno if it cannot be there. */
bool sk_temporary_link(const char *path, int descriptor, char **name);

/* What is no regular file, such as a terminal or a pipe, is written in place, and never replaced. So is what a path
 * like /dev/stdout names: a descriptor that the process has, whatever it is of. */
bool sk_is_special(const char *path);

/* True if both paths lead to one regular file, whatever they call it: who writes the one must not read the other. */
bool sk_is_same(const char *first, const char *second);

/* Opens what sk_is_special tells, behind what standard output has so far. -1 with errno. */
int sk_special_open(const char *path);

/* Closes what has been written to. False with errno: not all of it could be. */
bool sk_close_written(FILE *stream);

/* ==== unfinished.c ====
 *
 * Files that are being written: each stands under a name of its own beside the file that it is to replace, until it is
 * complete and renamed. Whoever runs or maps the old file keeps it, and nobody ever sees half of the new one. What is
 * not finished is removed if a signal ends the program, so that no interruption leaves a temporary file behind. Needs
 * nothing but the C library, so that skrun can use it, too. */

/* Creates a new file beside path, with the mode that the umask gives. From the first one on signals that end programs
 * remove what is not finished, and a file that grows beyond the limit of the process is an error of writing (EFBIG)
 * rather than a signal. Returns a descriptor to write to, which the caller closes; -1 with errno. */
int sk_unfinished_create(const char *path, mode_t mode);

/* The same for a file without a name (O_TMPFILE), which the caller goes on writing to. False with errno. */
bool sk_unfinished_link(const char *path, int descriptor);

/* Makes a folder that is removed again if its files are. False with errno. */
bool sk_unfinished_make_folder(const char *path);

/* The path of one file or folder that is not finished after the other, from *at = 0 on; NULL behind the last one. */
const char *sk_unfinished_next(int *at);

/* The file that is to replace path is complete: renames it. False with errno: it could not be, and is removed. */
bool sk_unfinished_finish(const char *path);

/* It is not going to be. */
void sk_unfinished_remove(const char *path);

/* The same with a stream, and for what is no regular file as well, which is written in place. NULL with errno; false
 * with errno: not all of it could be written, and what there is of a regular file has been removed. Closes the stream.
 */
FILE *sk_unfinished_open(const char *path);
bool sk_unfinished_close(FILE *stream, const char *path);

/* Finishes or removes all files, in the order in which they have been created. If one cannot be renamed, none is left:
 * false, with errno and its path, which the caller frees. */
bool sk_unfinished_finish_all(char **path);
void sk_unfinished_remove_all(void);

/* The same for a program that is about to die; signal handlers may call it. */
void sk_unfinished_unlink(void);

#endif
