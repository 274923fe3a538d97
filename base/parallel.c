/* A loop with independent iterations, in several threads; see timing.h. */
#include "base/timing.h"

#include <stdatomic.h>

#include "base/map.h"

enum { MOST_THREADS = 64, ROUNDS = 256 /* taken by a thread at a time */ };

struct loop {
	size_t count;
	atomic_size_t next;
	void (*body)(void *context, size_t first, size_t end);
	void *context;
};

static void run_share(void *context)
{
	struct loop *loop = context;

	for (size_t first; (first = atomic_fetch_add(&loop->next, ROUNDS)) < loop->count;) {
		size_t end = loop->count - first < ROUNDS ? loop->count : first + ROUNDS;

		loop->body(loop->context, first, end);
	}
}

void sk_parallel(unsigned threads, size_t count, void (*body)(void *context, size_t first, size_t end), void *context)
{
	struct loop loop = {.count = count, .body = body, .context = context};
	size_t useful = (count + ROUNDS - 1) / ROUNDS, started = 0;
	unsigned most = threads < MOST_THREADS ? threads : MOST_THREADS;
	struct sk_beside others[MOST_THREADS];

	atomic_init(&loop.next, 0);
	while (started + 1 < most && started + 1 < useful)
		sk_beside_start(&others[started++], threads, run_share, &loop);
	run_share(&loop);
	for (size_t i = 0; i < started; i++)
		sk_beside_wait(&others[i]);
}
