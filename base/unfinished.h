/* Files that are being written: each stands under a name of its own beside the file that it is to replace, until it is
 * complete and renamed. Whoever runs or maps the old file keeps it, and nobody ever sees half of the new one. What is
 * not finished is removed if a signal ends the program, so that no interruption leaves a temporary file behind. Needs
 * nothing but the C library, so that skrun can use it, too. */
#ifndef SK_UNFINISHED_H
#define SK_UNFINISHED_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

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
