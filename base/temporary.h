/* Temporary files: a file that is written beside the one that it is to replace, on the same file system, so that it can
 * be renamed when it is complete. Nothing here remembers or handles anything, so that libskrt can use it in programs of
 * others; what removes the files of an interrupted program of ours is unfinished.h. */
#ifndef SK_TEMPORARY_H
#define SK_TEMPORARY_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

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

#endif
