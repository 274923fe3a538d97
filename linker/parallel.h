/* Loops in several threads. */
#ifndef SK_LINKER_PARALLEL_H
#define SK_LINKER_PARALLEL_H

#include <stddef.h>

struct sk_linker;

/* Calls body for parts of 0 to count, in as many threads as the options allow; returns when all are done. */
void sk_parallel(const struct sk_linker *linker, size_t count, void (*body)(void *context, size_t first, size_t end),
		 void *context);

#endif
