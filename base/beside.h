/* Work that a thread does beside what its starter does meanwhile, for what the two do not share anything that either
 * writes. A thread that has not begun when its work is awaited is not waited for: on a busy machine that can be longer
 * than the work takes. */
#ifndef SK_BESIDE_H
#define SK_BESIDE_H

struct sk_beside {
	struct sk_beside_work *work; /* NULL: it is done */
};

/* Starts a thread for the work. Where only one may be had, or none is left, it is done before this returns. */
void sk_beside_start(struct sk_beside *beside, unsigned threads, void (*work)(void *context), void *context);

/* Returns when the work is done, if need be by this thread. */
void sk_beside_wait(struct sk_beside *beside);

#endif
