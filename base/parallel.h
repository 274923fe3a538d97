/* Loops in several threads. */
#ifndef SK_PARALLEL_H
#define SK_PARALLEL_H

#include <stddef.h>

/* Calls body for parts of 0 to count, in as many threads as are allowed; returns when all are done. */
void sk_parallel(unsigned threads, size_t count, void (*body)(void *context, size_t first, size_t end), void *context);

#endif
