/* Input files that are mapped. Mapping costs nothing for what is not looked at, as most of a library; but a file that
 * is cut off meanwhile has no bytes any more where there were some, and touching them is a SIGBUS. From the first
 * mapping on that ends the program with an error that names the file, and status 1, without what is unfinished
 * (unfinished.h). */
#ifndef SK_MAPPED_H
#define SK_MAPPED_H

#include <stddef.h>
#include <stdint.h>

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

#endif
