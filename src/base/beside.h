/* Work that a thread does beside what its starter does meanwhile, for what the two do not share anything that either
 * writes. */
#ifndef SK_BESIDE_H
#define SK_BESIDE_H

#include <pthread.h>
#include <stdbool.h>

struct sk_beside {
	pthread_t thread;
	bool started;
	void (*work)(void *context);
	void *context;
};

/* Starts a thread for the work. Where only one may be had, or none is left, it is done before this returns. */
void sk_beside_start(struct sk_beside *beside, unsigned threads, void (*work)(void *context), void *context);

/* Returns when the work is done. */
void sk_beside_wait(struct sk_beside *beside);

#endif
